#!/bin/sh
# Fuzzing, in a build directory that was configured with --enable-fuzzers (built with `make fuzzers`):
#
#     sh tests/fuzz/fuzz.sh DIRECTORY SECONDS [TARGET...]    runs each target for this time
#     sh tests/fuzz/fuzz.sh DIRECTORY --long [TARGET...]     runs each target until it has found no new
#                                                            edge for ten minutes, but at least for
#                                                            twenty minutes
#
# A target begins with the seeds in tests/data/corpus and with the inputs in DIRECTORY/corpus, which
# earlier runs have added and to which it adds. A crash, or an input that takes 20 seconds, is written to
# DIRECTORY/found-*, stops the target and is a failure.
set -u
[ $# -ge 2 ] || {
	sed -n 's/^#     //p' "$0" >&2
	exit 2
}
directory=$(cd "$1" && pwd) || exit 1
length=$2
shift 2
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
[ $# -gt 0 ] || set -- accounts body journal json request token

# run TARGET SECONDS: writes the log to DIRECTORY/fuzz-TARGET.log. Targets that create data from the
# tables begin with long inputs. Leaks are checked at the end, not after each input that keeps memory, as
# a store does: that took four fifths of the time.
run()
{
	mkdir -p "$directory/corpus/$1"
	case $1 in
	body | request) growing=0 ;;
	*) growing=100 ;;
	esac
	"$directory/tests/fuzz/fuzz_$1" -max_total_time="$2" -timeout=20 -max_len=8192 -len_control=$growing \
		-detect_leaks=0 -artifact_prefix="$directory/found-$1-" \
		"$directory/corpus/$1" "tests/data/corpus/$1" >"$directory/fuzz-$1.log" 2>&1 && return
	echo "$1: failed" >&2
	tail -n 60 "$directory/fuzz-$1.log" >&2
	exit 1
}

# edges TARGET: prints the total number of edges at the end of the last run.
edges()
{
	sed -n 's/^#[0-9]*[[:space:]]*DONE *cov: \([0-9]*\) .*/\1/p' "$directory/fuzz-$1.log" | tail -n 1
}

# Edges that an earlier run found are not new, although some of them depend on the order of inputs and
# take a while to be found again.
run_long()
{
	run "$1" 600
	minutes=10
	before=0
	while [ "$(edges "$1")" -gt $before ]; do
		before=$(edges "$1")
		run "$1" 600
		minutes=$((minutes + 10))
		echo "$1: $minutes minutes, $before edges and then $(edges "$1")"
	done
}

for target in "$@"; do
	case $length in
	--long) run_long "$target" ;;
	*) run "$target" "$length" ;;
	esac
done
