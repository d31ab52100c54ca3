#!/bin/sh
# The layout of every C file is the one of .clang-format. Skipped where that tool is not installed.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/..}" || exit 1

tool=${CLANG_FORMAT-$(command -v clang-format-14 || command -v clang-format)}
case $("${tool:-false}" --version 2>/dev/null) in
*'version 14.'*) ;;
*)
	echo 'clang-format 14 was not found (other versions lay out differently)'
	exit 77
	;;
esac

# Comments, which that tool does not break, have 100 columns as well, but for tables and samples.
find src include tests -name '*.[ch]' | while read -r file; do
	expand -t 8 "$file" | awk -v file="$file" '
		length > 100 && /^ *(\/\*|\*)/ && !/^ \*    / { print file ":" NR ": a comment of " length " columns" }'
done | grep . && exit 1

# Prints the places that differ; `clang-format -i FILE` sets them right.
find src include tests -name '*.[ch]' -exec "$tool" --dry-run --Werror {} +
