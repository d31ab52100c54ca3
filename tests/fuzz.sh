#!/bin/sh
# Fuzzing, in a build directory that was configured with --enable-fuzzers (built with `make fuzzers`):
#
#     sh tests/fuzz.sh DIRECTORY SECONDS [TARGET...]    each target for so long
#     sh tests/fuzz.sh DIRECTORY --long [TARGET...]     each until ten minutes found no new edge, at
#                                                       least twenty minutes
#
# A target begins with the seeds in tests/corpus and with what earlier runs left in DIRECTORY/corpus,
# where it adds to. What it finds, a crash or an input that takes 20 seconds, is DIRECTORY/found-*, ends
# the target and fails.
set -u
[ $# -ge 2 ] || {
	sed -n 's/^#     //p' "$0" >&2
	exit 2
}
directory=$(cd "$1" && pwd) || exit 1
length=$2
shift 2
cd "${SOURCE_DIR:-$(dirname "$0")/..}" || exit 1
[ $# -gt 0 ] || set -- accounts body journal json request token

# run TARGET SECONDS: the log goes to DIRECTORY/fuzz-TARGET.log.
run()
{
	mkdir -p "$directory/corpus/$1"
	"$directory/tests/fuzz_$1" -max_total_time="$2" -timeout=20 -max_len=8192 \
		-artifact_prefix="$directory/found-$1-" "$directory/corpus/$1" "tests/corpus/$1" \
		>"$directory/fuzz-$1.log" 2>&1 && return
	echo "$1: failed" >&2
	tail -n 60 "$directory/fuzz-$1.log" >&2
	exit 1
}

# edges TARGET WORD: of the last run, when it had read the corpus (INITED) and at its end (DONE).
edges()
{
	sed -n "s/^#[0-9]*[[:space:]]*$2 *cov: \([0-9]*\) .*/\1/p" "$directory/fuzz-$1.log" | tail -n 1
}

# At least twenty minutes: the first ten begin with seeds and always find more.
run_long()
{
	minutes=10
	run "$1" 600
	while :; do
		run "$1" 600
		minutes=$((minutes + 10))
		echo "$1: $minutes minutes, $(edges "$1" INITED) edges and then $(edges "$1" DONE)"
		[ "$(edges "$1" INITED)" -lt "$(edges "$1" DONE)" ] || return 0
	done
}

for target in "$@"; do
	case $length in
	--long) run_long "$target" ;;
	*) run "$target" "$length" ;;
	esac
done
