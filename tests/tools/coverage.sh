#!/bin/sh
# coverage.sh BUILD JOBS: finds out which suites and which files of cases run which source, and writes
# tests/data/coverage: a line for each source, with NAME:LINES:SECONDS for each of the tests that run many lines of it
# in a short time of processor, the best first. BUILD was built with --coverage; JOBS has the suites, a name, a tab and a
# command a line. A test that fails has run lines too: it has its place in the table, but the exit status is 1.
# coverage.sh BUILD NAME COMMAND runs one of them, and prints its lines: SOURCE LINES NAME SECONDS.
set -u
cd "$(dirname "$0")/../.." || exit 1
export SOURCE_DIR="$PWD" CK_TIMEOUT_MULTIPLIER=20
build=$(cd "$1" && pwd) || exit 1
ANTEROOM=$build/anteroom
export ANTEROOM
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if [ $# = 3 ]; then
	# The counts of each test have a place of their own, so several run at the same time.
	mkdir "$work/counts" && (cd "$build" && find src -name '*.gcno' -exec cp --parents -t "$work/counts" {} +) || exit 1
	GCOV_PREFIX=$work/counts
	GCOV_PREFIX_STRIP=$(echo "$build" | tr -cd / | wc -c)
	export GCOV_PREFIX GCOV_PREFIX_STRIP
	status=0
	(cd "$build" && sh -c "$3") >"$work/log" 2>&1 </dev/null || {
		status=1
		echo "$2 failed:" && tail -n 20 "$work/log"
	} >&2
	times >"$work/times"
	cd "$work/counts" || exit 1
	find src -name '*.gcda' -exec gcov -n {} + 2>/dev/null |
		awk -v name="$2" -v seconds="$(tail -n 1 "$work/times" | awk -F '[ms ]+' '{ printf "%.1f", $1 * 60 + $2 + $3 * 60 + $4 }')" '
			/^File / { split($0, parts, "\047"); file = parts[2]; sub(/.*\/src\//, "src/", file) }
			/^Lines executed:/ && file ~ /^src\/.*\.c$/ {
				split($0, parts, /[:% ]+/)
				lines = int(parts[3] * parts[5] / 100 + 0.5)
				if (lines > 0)
					print file, lines, name, seconds
				file = ""
			}' >"$work/lines"
	# In one write: what several processes write in pieces gets mixed up.
	cat "$work/lines"
	exit $status
fi

{
	cat "$2"
	find tests/cases -name '*.case' | sed 's|^tests/cases/||; s|\.case$||' | sort |
		awk '{ printf "%s\tFILES=%s tests/suites/check_service memory+again\n", $1, $1 }'
} | tr '\t\n' '\0\0' | xargs -0 -n 2 -P "$(($(nproc) + 4))" sh tests/tools/coverage.sh "$build" >"$work/found"
status=$?
awk '{ printf "%.3f %s\n", $2 / (20 + $4), $0 }' "$work/found" | sort -k 2,2 -k 1,1rn | awk '
	$2 != source {
		printf "%s%s", source == "" ? "" : "\n", source = $2
		n = 0
	}
	n++ < 12 { printf " %s:%d:%s", $4, $3, $5 }
	END { print "" }' >tests/data/coverage
[ $status = 0 ]
