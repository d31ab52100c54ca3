#!/bin/sh
# The pretty printers of tests/gdb print what tests/tools/printed.c contains, and a request in process can be
# stopped, as src/README, DEBUGGING, says. Skipped if gdb is not installed or may not run programs.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/../..}" && pwd) || exit 1
build=$(cd "$(dirname "${ANTEROOM:-$source/build/anteroom}")" && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP

command -v gdb >/dev/null || { echo 'needs gdb' && exit 77; }
gdb -nx -batch -ex 'python print("has python")' 2>&1 | grep -qx 'has python' ||
	{ echo 'needs a gdb with Python' && exit 77; }
gdb -nx -batch -ex run true 2>&1 | grep -q 'exited normally' ||
	{ echo 'gdb may not run programs here' && exit 77; }

# LeakSanitizer cannot work in a process that is traced.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}:detect_leaks=0
LC_ALL=C.UTF-8
export ASAN_OPTIONS LC_ALL

# debug PROGRAM COMMAND...: runs the program in gdb with the printers, and writes what it prints to said.
debug()
{
	one=$1
	shift
	printf '%s\n' "$@" >"$scratch/commands"
	timeout 300 gdb -nx -batch -x "$source/tests/gdb/printers.py" -x "$scratch/commands" "$one" \
		</dev/null >"$scratch/said" 2>&1
}

fail()
{
	echo "$*"
	cat "$scratch/said"
	exit 1
}

# What gdb shows of these does not depend on how the build was optimised.
. "$source/tests/tools/again.sh"
{ again_begin "$source" -O0 -g2 && again printed tests/tools/printed.c src/base/arena.c; } >"$scratch/said" 2>&1 ||
	fail 'cannot build tests/tools/printed.c'

# ---- the printers: an expression and what is printed for it ----

digits=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
list=$(seq -s ', ' 0 19)
cat >"$scratch/expected" <<END
printed_slice = "a \"quoted\" é\x0a\x01\xff"
printed_absent = absent
printed_long = "$digits$digits${digits}01234567"... (256 bytes)
printed_buffer = "grows"
printed_id = 6925c84100000000b1000000
printed_fault = FAULT_NOT_FOUND, message "Room not found", detail "no room 7", details [$list, ... (25 items)]
printed_no_fault = FAULT_NONE
*printed_arena = 1808 of 67108864 bytes in 1 blocks, 1 adopted
printed_json = {"name": "monday", "size": -12, "ratio": 0.5, "enabled": true, "none": null, "items": [1, {"deep": "value"}], "empty": {}}
*printed_json = {"name": "monday", "size": -12, "ratio": 0.5, "enabled": true, "none": null, "items": [1, {"deep": "value"}], "empty": {}}
printed_list = [$list, ... (25 items)]
printed_no_json = NULL
END
set -- 'break printed_are_set' run
while IFS= read -r line; do
	set -- "$@" "print ${line%% = *}"
done <"$scratch/expected"
debug "$scratch/printed" "$@" kill
sed -n 's/^\$[0-9]* = //p' "$scratch/said" >"$scratch/printed"
sed 's/^[^=]* = //' "$scratch/expected" >"$scratch/values"
diff "$scratch/values" "$scratch/printed" || fail 'the values are printed otherwise'

# ---- one request, stopped in the transaction that it runs in ----

[ -e "$build/tests/tools/libtests.a" ] || { echo 'left out: a request in process (needs check)' && exit 0; }
again check_service tests/suites/check_service.c src/service/run.c src/resources/call.c >"$scratch/said" 2>&1 ||
	fail 'cannot build check_service'
# All cases of the file, the first one first, whatever is drawn elsewhere.
unset ONE_OF PART FILES
CK_FORK=no CK_RUN_CASE=templates/create SOURCE_DIR=$source
export CK_FORK CK_RUN_CASE SOURCE_DIR
debug "$scratch/check_service" 'set args memory' 'set breakpoint pending off' 'break fault_set' 'break run_once' run backtrace \
	request 'print $call->request.uri' kill
grep -q '^Breakpoint 2, run_once' "$scratch/said" || fail 'the request did not stop in run_once'
printf '%s\n' 'METHOD_POST "/v2/templates"' 'body {}' '$1 = "/v2/templates"' | while read -r line; do
	grep -qxF "$line" "$scratch/said" || fail "does not print: $line"
done || exit 1
for function in run_call service_answer a_case_passes; do
	grep -qE "^#[0-9]+ .*$function" "$scratch/said" || fail "the stack has no $function"
done
