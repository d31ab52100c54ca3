#!/bin/sh
# choose.sh CHANGED TIMES: prints the jobs of tests/run --changed for the files whose names are in the file
# CHANGED, one a line. Lines: `program PATH` must be built; `job NAME COMMAND`, separated by tabs, as in
# tests/run; `left TEXT` says what did not fit into $SECONDS_MOST (default 60) of processor. Exit status 1: the table
# does not know a source, so anything could break.
#
# Which suites and which files of cases run a source is in tests/data/coverage (tests/tools/coverage.sh). Those that run
# most of its lines for their time are chosen first, for each changed source in turn. TIMES has what a job took, as tests/run keeps it.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
awk -v most="${SECONDS_MOST:-60}" '
	function program(path) {
		if (!(path in programs)) {
			programs[path] = 1
			print "program " path
		}
	}
	function job(name, command) {
		if (!(name in jobs)) {
			jobs[name] = 1
			print "job\t" name "\t" command
		}
	}
	function script(name) {
		job(name, "sh $SOURCE_DIR/tests/scripts/" name ".sh")
	}
	# A suite, or one case of it: SUITE.CASE.
	function suite(name,   parts) {
		split(name, parts, ".")
		program("tests/suites/" parts[1])
		job(name, (parts[2] == "" ? "" : "CK_RUN_CASE=" parts[2] " ") "tests/suites/" parts[1])
	}
	FILENAME ~ /coverage$/ {
		for (i = 2; i <= NF; i++)
			runs[$1, i - 1] = $i
		count[$1] = NF - 1
		next
	}
	FILENAME == ARGV[3] { took[$1] = $3; next }
	/^src\/.*\.c$/ {
		if ($0 in count)
			sources[++n_sources] = $0
		else
			unknown = unknown " " $0
	}
	/^tests\/cases\/.*\.case$/ {
		name = $0
		gsub(/^tests\/cases\/|\.case$/, "", name)
		cases = cases name " "
		wired = wired name " "
	}
	/^tests\/suites\/[^\/]*\.c$/ {
		name = $0
		gsub(/.*\/|\.c$/, "", name)
		suite(name)
	}
	/^tests\/suites\/[^\/]*\/.*\.[ch]$/ {
		split($0, parts, "/")
		suite("check_" parts[3])
	}
	/^tests\/scripts\/.*\.sh$/ {
		name = $0
		gsub(/.*\/|\.sh$/, "", name)
		script(name)
	}
	/^(web|tests\/web)\// { script("web") }
	/^nginx\// {
		script("site")
		script("operation")
		job("quickstart", "BRIEF=yes sh $SOURCE_DIR/tests/scripts/quickstart.sh")
	}
	/^(packaging\/man\/|README$|CONTRIBUTING$|ChangeLog$)/ { script("manual") }
	/^packaging\/(debian|systemd|container)/ { script("packaging") }
	/^packaging\/completion/ { script("completion") }
	/^tests\/data\/alerts/ { script("monitoring") }
	END {
		if (unknown != "") {
			print "No test is known to run" unknown " (`sh tests/run --all coverage` finds out): the usual tests." >"/dev/stderr"
			exit 1
		}
		script("layers")
		script("format")
		script("spelling")
		for (row = 1; n_sources > 0 && !is_over; row++) {
			is_over = 1
			for (i = 1; i <= n_sources; i++) {
				if (row > count[sources[i]])
					continue
				is_over = 0
				split(runs[sources[i], row], parts, ":")
				name = parts[1]
				if (name in chosen)
					continue
				chosen[name] = 1
				seconds = name ~ /\// ? parts[3] * 4 : name in took ? took[name] : parts[3]
				if (spent + seconds > most) {
					skipped = skipped " " name
					continue
				}
				spent += seconds
				if (name ~ /\//)
					cases = cases name " "
				else
					suite(name)
			}
		}
		if (cases != "") {
			program("tests/suites/check_service")
			job("cases", "FILES=\"" cases "\" tests/suites/check_service memory+again")
		}
		if (wired != "") {
			program("tests/suites/end_to_end")
			job("end_to_end", "FILES=\"" wired "\" tests/suites/end_to_end gdbm")
		}
		if (skipped != "")
			print "left these run the changed sources too:" skipped
	}' tests/data/coverage "$1" "$2"
