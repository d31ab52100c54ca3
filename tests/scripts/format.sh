#!/bin/sh
# Every C file has the layout of .clang-format. Skipped if that tool is not installed.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1

tool=${CLANG_FORMAT-$(command -v clang-format-14 || command -v clang-format)}
case $("${tool:-false}" --version 2>/dev/null) in
*'version 14.'*) ;;
*)
	echo 'clang-format 14 was not found (other versions lay out differently)'
	exit 77
	;;
esac

# Comments, which clang-format does not break, are limited to 100 columns too, except tables and samples.
find src include tests -name '*.[ch]' | while read -r file; do
	expand -t 8 "$file" | awk -v file="$file" '
		length > 100 && /^ *(\/\*|\*)/ && !/^ \*    / { print file ":" NR ": a comment of " length " columns" }'
done | grep . && exit 1

# Prints the places that differ; `clang-format -i FILE` corrects them.
find src include tests -name '*.[ch]' -exec "$tool" --dry-run --Werror {} +
