#!/bin/sh
# coverage.sh BUILD: finds out which suites and which files of cases run which source, and writes
# tests/data/coverage: a line for each source, with NAME:LINES:SECONDS for each of the tests that run most lines of
# it, the most first. BUILD was built with --coverage.
set -u
cd "$(dirname "$0")/../.." || exit 1
export SOURCE_DIR="$PWD" CK_TIMEOUT_MULTIPLIER=20
build=$(cd "$1" && pwd) || exit 1
ANTEROOM=$build/anteroom
export ANTEROOM
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
cd "$build" || exit 1

# look NAME COMMAND...: runs a test, and adds the sources that it ran.
look()
{
	name=$1
	shift
	find . -name '*.gcda' -delete
	began=$(date +%s.%N)
	"$@" >"$found.log" 2>&1 || { echo "$name failed:" && tail -n 20 "$found.log" && exit 1; }
	find src -name '*.gcda' -exec gcov -n {} + 2>/dev/null |
		awk -v name="$name" -v seconds="$(echo "$(date +%s.%N) $began" | awk '{ printf "%.1f", $1 - $2 }')" '
			/^File / { split($0, parts, "\047"); file = parts[2]; sub(/.*\/src\//, "src/", file) }
			/^Lines executed:/ && file ~ /^src\/.*\.c$/ {
				split($0, parts, /[:% ]+/)
				lines = int(parts[3] * parts[5] / 100 + 0.5)
				if (lines > 0)
					print file, lines, name, seconds
				file = ""
			}' >>"$found"
}

for suite in $(make -s print-list LIST=suites) $(make -s print-list LIST=driver_suites); do
	[ "$suite" = tests/suites/check_service ] || look "${suite##*/}" "$suite"
done
for file in $(cd "$SOURCE_DIR/tests/cases" && find . -name '*.case' | sed 's|^\./||; s|\.case$||' | sort); do
	look "$file" env FILES="$file" tests/suites/check_service memory+again
done
rm -f "$found.log"
sort -k 1,1 -k 2,2rn "$found" | awk '
	$1 != source {
		printf "%s%s", source == "" ? "" : "\n", source = $1
		n = 0
	}
	n++ < 12 { printf " %s:%d:%s", $3, $2, $4 }
	END { print "" }' >"$SOURCE_DIR/tests/data/coverage"
