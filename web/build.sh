#!/bin/sh
# Builds the pages that a web server serves: sh web/build.sh SOURCE TARGET
#
# Copies the files of SOURCE (the folder of this script) to TARGET/web/VERSION. VERSION is a hash of all
# files, so browsers can cache these addresses for ever. The pages, TARGET/console.html, TARGET/join.html, for live
# streams TARGET/watch.html and, for the recorder, TARGET/record.html, link to the files and preload the modules that they need immediately. Scripts are
# served without their comments, but with the same lines. Next to each file is a compressed copy.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
[ $# = 2 ] || {
	echo "usage: sh web/build.sh SOURCE TARGET" >&2
	exit 2
}
from=$1
to=$2
LC_ALL=C
export LC_ALL

cd "$from"
files=$(find call console join lib record style watch icons.svg mark.svg -type f ! -name '.*' | sort)
# shellcheck disable=SC2086
version=$(sha256sum $files console.html.in join.html.in record.html.in watch.html.in build.sh | sha256sum | cut -c 1-10)
cd - >/dev/null

# imports FILE: prints the modules that FILE imports statically, as paths below SOURCE.
imports()
{
	sed -n 's/^\(import .*\|} \)\{0,1\}from "\(.*\)";$/\2/p; s/^import "\(.*\)";$/\1/p' "$from/$1" |
		sed -e "s|^\./|${1%/*}/|" -e 's|^\.\./||'
}

# preloads FILE: prints the preload links for all modules that FILE imports, directly or not.
preloads()
{
	known=$1
	next=$1
	while [ -n "$next" ]; do
		found=$(for file in $next; do imports "$file"; done | sort -u)
		next=
		for file in $found; do
			case " $known " in
			*" $file "*) ;;
			*)
				known="$known $file"
				next="$next $file"
				;;
			esac
		done
	done
	for file in $known; do
		[ "$file" = "$1" ] || echo "<link rel=\"modulepreload\" href=\"/web/@VERSION@/$file\">"
	done
}

# uncommented FILE: prints a script without comments, except for its licence. A comment is a line of its own, or
# one that ends in the line in which it begins.
uncommented()
{
	sed -e 's|/\*\*[^*]*\*/ \{0,1\}||g' "$1" |
		sed -e '/^[[:space:]]*\/\*\*/,/\*\/$/s/.*//' -e '/SPDX-/!s/^[[:space:]]*\/\/.*//'
}

rm -rf "$to/web" "$to/console.html" "$to/join.html" "$to/record.html" "$to/watch.html"
mkdir -p "$to"
for file in $files; do
	mkdir -p "$to/web/$version/$(dirname "$file")"
	case $file in
	*.js) uncommented "$from/$file" >"$to/web/$version/$file" ;;
	*) cp "$from/$file" "$to/web/$version/$file" ;;
	esac
done
for page in console join record watch; do
	preloads $page/main.js >"$to/preloads"
	sed -e "/^@PRELOADS@$/{" -e "r $to/preloads" -e 'd' -e '}' "$from/$page.html.in" |
		sed "s|@VERSION@|$version|g" >"$to/$page.html"
	rm "$to/preloads"
done
find "$to" -type f ! -name '*.gz' -exec chmod 644 {} + -exec gzip -9knf {} +
