#!/bin/sh
# Runs the fuzz targets on the inputs in tests/corpus.
set -u
source=${SOURCE_DIR:-$(dirname "$0")/..}
for target in accounts body journal json request token; do
	"tests/fuzz_$target" "$source/tests/corpus/$target"/* || {
		echo "tests/corpus.sh: the target $target failed" >&2
		exit 1
	}
done
