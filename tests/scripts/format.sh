#!/bin/sh
# Every C file has the layout of .clang-format. Files that have not changed since they passed in this build
# are not looked at again.
#
# clang-format 14 is needed, because each version lays out differently. Debian 12 has it as the package
# clang-format-14; for other systems, `pipx install clang-format==14.0.6` installs the same version. Without
# it, the test is skipped.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
stamp=format
. tests/tools/stamp.sh

tool=${CLANG_FORMAT-}
[ -n "$tool" ] || tool=$(command -v clang-format-14 || command -v clang-format)
version=$("${tool:-false}" --version 2>/dev/null | sed -n 's/.*clang-format version //p')
case $version in
14.*) ;;
*)
	echo "needs clang-format 14${version:+ (this is $version)}, because each version lays out differently:" \
		"apt-get install clang-format-14 (Debian 12), or pipx install clang-format==14.0.6"
	exit 77
	;;
esac

# Each line is the checksum of a file, its name, and the checksum of what all files depend on.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
common=$({ echo "$version" && cat .clang-format tests/scripts/format.sh; } | checksum)
find src include tests -name '*.[ch]' -exec sha256sum {} + | sed "s/\$/ $common/" >"$scratch/files"
not_passed <"$scratch/files" | sed 's/^[^ ]*  \(.*\) [^ ]*$/\1/' >"$scratch/new"

# Comments, which clang-format does not break, are limited to 100 columns too, except tables and samples.
xargs -r awk '
	function expanded(line,   parts, n, i, out) {
		n = split(line, parts, "\t")
		out = parts[1]
		for (i = 2; i <= n; i++)
			out = sprintf("%s%" 8 - length(out) % 8 "s%s", out, "", parts[i])
		return out
	}
	/^[ \t]*(\/\*|\*)/ && !/^ \*    / {
		columns = length(expanded($0))
		if (columns > 100)
			print FILENAME ":" FNR ": a comment of " columns " columns"
	}' <"$scratch/new" | grep . && exit 1

# Prints the places that differ; `clang-format -i FILE` corrects them.
xargs -r "$tool" --dry-run --Werror <"$scratch/new" || exit 1
note_passed <"$scratch/files"
