#!/bin/sh
# Runs the fuzz targets on the inputs in tests/data/corpus.
set -u
source=${SOURCE_DIR:-$(dirname "$0")/../..}
for target in accounts body journal json request token; do
	"tests/fuzz/fuzz_$target" "$source/tests/data/corpus/$target"/* || {
		echo "tests/fuzz/corpus.sh: the target $target failed" >&2
		exit 1
	}
done
