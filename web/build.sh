#!/bin/sh
# Makes the pages as a web server serves them: sh web/build.sh SOURCE TARGET
#
# The files of SOURCE (the folder of this script) go to TARGET/web/VERSION, where VERSION is a hash of all
# of them: a browser may keep what has such an address for ever. The two pages, TARGET/console.html and
# TARGET/join.html, name the files with it, and name those beforehand that a page needs at once. Each file
# has a compressed one beside it.
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
files=$(find console join lib style icons.svg mark.svg -type f ! -name '.*' | sort)
# shellcheck disable=SC2086
version=$(sha256sum $files console.html.in join.html.in | sha256sum | cut -c 1-10)
cd - >/dev/null

# imports FILE: the modules that it imports at once, from the top of SOURCE.
imports()
{
	sed -n 's/^\(import .*\|} \)\{0,1\}from "\(.*\)";$/\2/p; s/^import "\(.*\)";$/\1/p' "$from/$1" |
		sed -e "s|^\./|${1%/*}/|" -e 's|^\.\./||'
}

# preloads FILE: lines for a page, of all modules that come with this one.
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

rm -rf "$to/web" "$to/console.html" "$to/join.html"
mkdir -p "$to"
for file in $files; do
	mkdir -p "$to/web/$version/$(dirname "$file")"
	cp "$from/$file" "$to/web/$version/$file"
done
for page in console join; do
	preloads $page/main.js >"$to/preloads"
	sed -e "/^@PRELOADS@$/{" -e "r $to/preloads" -e 'd' -e '}' "$from/$page.html.in" |
		sed "s|@VERSION@|$version|g" >"$to/$page.html"
	rm "$to/preloads"
done
find "$to" -type f ! -name '*.gz' -exec chmod 644 {} + -exec gzip -9knf {} +
