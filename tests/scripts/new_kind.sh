#!/bin/sh
# tests/tools/new-kind and tests/tools/new-rule: in a copy of the tree, each writes one, for a kind with a parent
# and one without. The copy then passes the tests of layers and layout; the suites of the records and of the
# rules are built with it and pass. Only what depends on the lists of kinds is compiled; everything else comes
# from this build.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/../..}" && pwd) || exit 1
build=$(cd "$(dirname "${ANTEROOM:-$source/build/anteroom}")" && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
copy=$scratch/copy

fail()
{
	echo "$*"
	[ ! -e "$scratch/log" ] || cat "$scratch/log"
	exit 1
}

[ -e "$build/tests/tools/libtests.a" ] || { echo 'needs a build with check' && exit 77; }
mkdir -p "$copy/tests" &&
	cp -R "$source/src" "$source/include" "$source/packaging" "$source/web" "$source/nginx" \
		"$source/m4" "$source/Makefile.am" \
		"$source/.clang-format" "$copy" && cp -R "$source/tests/cases" "$copy/tests" || exit 1
(cd "$source/tests" && find suites tools scripts bench fuzz gdb \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -path 'tools/new-*' \) |
	while read -r file; do mkdir -p "$copy/tests/${file%/*}" && cp "$file" "$copy/tests/$file" || exit 1; done) || exit 1

# ---- what is written ----

new()
{
	sh "$copy/tests/tools/$1" "$2" "$3" ${4+"$4"} ${5+"$5"} ${6+"$6"} >"$scratch/log" 2>&1
}
for parent in room template session ban; do
	new new-kind ${parent}_note $parent || fail "new-kind ${parent}_note $parent"
done
new new-kind room_memo_note room OUTLIVES end || fail 'new-kind room_memo_note room OUTLIVES end'
new new-kind late_note template DIES end || fail 'new-kind late_note template DIES end'
new new-kind memo account || fail 'new-kind memo account'
new new-rule room_fields greeting_seconds 'INTEGER(1, 60)' 5 'How long the "greeting" is shown.' ||
	fail 'new-rule'
# What cannot be is refused, and changes nothing.
before=$(find "$copy" -type f -exec cksum {} + | cksum)
while IFS='|' read -r words says; do
	# shellcheck disable=SC2086
	new $words && fail "accepted: $words"
	grep -qF -e "$says" "$scratch/log" || fail "$words: does not say: $says"
done <<END
new-kind memo account|there is a kind memo
new-kind room account|there is a kind room
new-kind Note room|usage:
new-kind note room LIVES|usage:
new-kind note moon|is no kind that a dump has
new-kind note door|is no kind that a dump has
new-kind note codes|has no pages
new-kind note usage|nothing removes what belongs to a usage
new-rule room_fields created_at TEXT(any_text) Doc.|room_fields has created_at already
new-rule rooms_fields other TEXT(any_text) Doc.|there is no table rooms_fields
new-rule answer_fields other TEXT(any_text) Doc.|several files have a table
new-rule room_fields other text Doc.|text is no kind
END
[ "$before" = "$(find "$copy" -type f -exec cksum {} + | cksum)" ] || fail 'a refusal changed the tree'
rm -f "$scratch/log"

# ---- what is built ----

# Files that format.sh has looked at in this build need not be looked at again.
mkdir "$scratch/tests" && { [ ! -e "$build/tests/format.stamp" ] || cp "$build/tests/format.stamp" "$scratch/tests"; } ||
	exit 1
try()
{
	ANTEROOM=$scratch/anteroom SOURCE_DIR=$copy sh "$copy/tests/scripts/$1.sh" >"$scratch/log" 2>&1
}
try layers || fail 'layers.sh'
try format
case $? in
0)
	# It has noted what passed, and looks at a file that changes.
	cp "$copy/src/base/id.c" "$scratch/id.c" && echo 'int  x;' >>"$copy/src/base/id.c"
	! try format && grep -q 'src/base/id\.c' "$scratch/log" || fail 'format.sh does not see a change'
	cp "$scratch/id.c" "$copy/src/base/id.c" && try format || fail 'format.sh, again'
	;;
77) ;;
*) fail 'format.sh' ;;
esac

. "$source/tests/tools/again.sh"
again_begin "$copy" -O0 || fail 'make does not print its variables'

# program SUITE FILE...: builds a suite of the copy with these files of the copy.
program()
{
	suite=$1
	shift
	# shellcheck disable=SC2046
	again "$suite" $(cd "$copy" && find tests/suites -name "$suite.c" -o -path "tests/suites/${suite#check_}/*.c") "$@" \
		>"$scratch/log" 2>&1 || fail "$suite"
}

# run SUITE CASE [ARGUMENT]: runs one test case of the suite.
run()
{
	SOURCE_DIR=$copy CK_RUN_CASE=$2 "$scratch/$1" ${3+"$3"} >"$scratch/log" 2>&1 || fail "$1, $2"
}

program check_rules src/rules/room_rules.c
run check_rules rows
# A field that is in the table is stored and returned.
cat >"$copy/tests/cases/rooms/greeting.case" <<'END'
case a new field
	use template
	POST /v2/rooms
	> {"template_id":"$tid","greeting_seconds":7}
	= 200
	save rid /id
	/greeting_seconds == 7
	GET /v2/rooms/$rid
	= 200
	/greeting_seconds == 7
	PATCH /v2/rooms/$rid
	> {"greeting_seconds":8}
	= 200
	/greeting_seconds == 8
	POST /v2/rooms
	> {"template_id":"$tid","greeting_seconds":61}
	refused /greeting_seconds 60
END
program check_service src/rules/room_rules.c
run check_service rooms/greeting memory
kinds="$(cd "$copy" && find src/resources -name '*_note.c' -o -name memo.c)
$(cd "$copy" && grep -rlE '\b(RECORD_)?KINDS\b|EACH_KIND|transfer/transfer\.h' src --include='*.c' | grep -v '^src/command/')"
# shellcheck disable=SC2086
program check_transfer $kinds
run check_transfer whole
# shellcheck disable=SC2086
program check_kinds $kinds
run check_kinds kinds
