#!/bin/sh
# Completion in bash and zsh: every command and option in the help is offered, and nothing else, and
# values are completed by kind. The functions are called as the shells call them.
set -u
test=tests/scripts/completion.sh
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/../..}" && pwd) || exit 1
program=${ANTEROOM:-$source/build/anteroom}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
cd "$scratch" || exit 1
mkdir bin things things/directory && ln -s "$program" bin/anteroom && : >things/file || exit 1
PATH=$scratch/bin:$PATH
left_out=

fail()
{
	echo "$test: $*" >&2
	exit 1
}

# offered WORD...: prints what the shell in $shell offers for the last word, one per line.
offered()
{
	case $shell in
	bash) bash ./ask.bash "$source/packaging/completion/bash/anteroom" "$@" ;;
	zsh) zsh -f ./ask.zsh "$source/packaging/completion/zsh/_anteroom" "$@" ;;
	esac 2>errors | sort
	[ ! -s errors ] || fail "$shell: $*: $(cat errors)"
}

cat >ask.bash <<'END'
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { :; }
_anteroom
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
END

# These replace functions of zsh's completion system and print their arguments: options and operands as
# specifications, from which the names are taken.
cat >ask.zsh <<'END'
_call_program() { shift; "$@" }
_describe() { print -l -- ${${(P)@[-1]}%%:*} }
_arguments() {
	local spec
	for spec in "${@:#-s}"; do
		case $spec in
		(--*) [[ $words[CURRENT] == -* ]] && print -r -- ${${spec%%\[*}%%=*} ;;
		(<->:*) [[ $words[CURRENT] != -* ]] && print -r -- "operand $spec" ;;
		esac
		[[ $words[CURRENT-1] == --* && $spec == $words[CURRENT-1]=* ]] && print -r -- "value ${spec##*:}"
	done
	return 0
}
local file=$1
shift
words=("$@")
CURRENT=$#words
source $file
END

# expect WHAT EXPECTED WORD...
expect()
{
	what=$1
	expected=$(printf '%s\n' "$2" | sort)
	shift 2
	got=$(offered "$@")
	[ "$got" = "$expected" ] || fail "$shell: $what: offered
$got
not
$expected"
}

anteroom --help | sed -n 's/^  anteroom \([a-z-]*\( [a-z][a-z]*\)\{0,2\}\) .*/\1/p' >commands
[ "$(grep -cxE 'serve|account add|token|load' commands)" = 4 ] || fail "the help: $(cat commands)"

check()
{
	expect 'the commands' "$(sed 's/ .*//' commands | sort -u; echo --help; echo --version)" anteroom ''
	while read -r first second; do
		[ -z "$second" ] ||
			expect "after $first" "$(sed -n "s/^$first \([^ ]*\).*/\1/p" commands | sort -u
				[ $shell = zsh ] || echo --help)" anteroom "$first" ''
		middle=${second% *}
		[ "$middle" = "$second" ] ||
			expect "after $first $middle" "$(sed -n "s/^$first $middle //p" commands
				[ $shell = zsh ] || echo --help)" anteroom "$first" "$middle" ''
		# shellcheck disable=SC2086
		options=$(anteroom $first $second --help | grep -oE '^  --[a-z-]+' | tr -d ' ')
		echo "$options" | grep -qx -e --help || fail "$first $second: no --help in the help"
		# shellcheck disable=SC2086
		expect "the options of $first $second" "$options" anteroom $first $second --
	done <commands
	expect 'no such command' '' anteroom frobnicate ''
	expect 'nor such' '' anteroom account frobnicate ''
}

shell=bash
if command -v bash >/dev/null; then
	check
	expect 'a beginning' serve anteroom ser
	expect 'the beginning of an option' --data anteroom serve --da
	expect 'a directory' things/directory anteroom serve --data things/
	expect 'with =' things/directory anteroom serve --data = things/
	expect 'a file' "$(printf 'things/directory\nthings/file')" anteroom serve --listen things/
	expect 'a user' root anteroom serve --data things --user roo
	expect 'an operand' things/directory anteroom check things/
	expect 'the second operand' "$(printf 'things/directory\nthings/file')" \
		anteroom load things things/
	expect 'no third one' '' anteroom load things things/file things/
	expect 'a number' '' anteroom serve --threads ''
	expect 'a choice' "$(printf 'off\nwatch\non')" anteroom serve --live ''
	expect 'a choice that has begun' watch anteroom serve --live = w
	expect 'a choice of several words' not_yet_valid anteroom code list lesson --state n
else
	left_out="$left_out bash"
fi

shell=zsh
if command -v zsh >/dev/null; then
	check
	operand='operand 1::DIR:_files -/'
	expect 'a directory' "$(printf '%s\nvalue _files -/' "$operand")" anteroom serve --data ''
	expect 'a file' "$(printf '%s\nvalue _files' "$operand")" anteroom serve --listen ''
	expect 'a choice' "$(printf '%s\nvalue (off watch on)' "$operand")" anteroom serve --live ''
	expect 'a choice of several words' \
		"$(printf '%s\nvalue (role_deleted disabled expired used_up not_yet_valid active)' 'operand 1:ROOM: ')" \
		anteroom code list --state ''
	expect 'operands' "$(printf '%s\noperand 2::FILE:_files' "$operand")" \
		anteroom load ''
else
	left_out="$left_out zsh"
fi
[ -z "$left_out" ] || { echo "not installed:$left_out" && exit 77; }
