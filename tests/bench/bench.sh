#!/bin/sh
# Performance (`make bench`): the main operations through a private nginx with the site of this tree,
# compared in the same run with a bare libfcgi responder that returns as many bytes behind a bare nginx.
# --help lists the options, including the cost of more stored data (--scaling), the instructions per
# request (--instructions), and the table with a temporary PostgreSQL (--store). All data is in a
# directory of TMPDIR, whose disk is measured. PROGRAMS names the directory of the programs that this
# script uses.
set -u
test=tests/bench/bench.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
programs=${PROGRAMS:-$(dirname "$program")/tests/bench}
what=table
rounds=5
seconds=2
write_seconds=
only=
templates=1000
sizes='1000 100000 1000000'
results=
store=
standby=

usage()
{
	cat <<END
Usage: make bench BENCH='OPTION...'

  --rounds N         rounds, whose median is printed (default: 5)
  --seconds N        seconds per operation and round (default: 2)
  --write-seconds N  seconds per write; from 20 on, the figures include new files and merges
  --only OPERATION   get_role, list10, list100, create, update_role, room, room_codes, token,
                     token_HS256 (with LiveKit), mix, or hot (with --store); OPERATION:N only with N connections
  --templates N      stored templates (default: 1000)
  --store postgresql uses a temporary PostgreSQL, compared with pgbench in place of the bare disk
  --standby          with --store: adds a synchronous standby on the same disk
  --scaling          measures instead how costs grow with the stored data, the memory and the start
  --sizes 'N N N'    with --scaling: numbers of templates (default: 1000, 100000 and 1000000)
  --instructions     counts instead the instructions per request (valgrind)
  --results FILE     file for the table as TSV (default: bench.tsv, bench-scaling.tsv or
                     bench-instructions.tsv)
END
}

wrong()
{
	say "bench: $*" >&2
	usage >&2
	exit 2
}

# Prints the value of an option that needs a number, or several.
numbers()
{
	case ${2:-none} in
	*[!0-9\ ]*) wrong "$1 wants a number" ;;
	esac
}

while [ $# -gt 0 ]; do
	case $1 in
	--rounds) numbers "$1" "${2-}" && rounds=$2 && shift ;;
	--seconds) numbers "$1" "${2-}" && seconds=$2 && shift ;;
	--write-seconds) numbers "$1" "${2-}" && write_seconds=$2 && shift ;;
	--templates) numbers "$1" "${2-}" && templates=$2 && shift ;;
	--sizes) numbers "$1" "${2-}" && sizes=$2 && shift ;;
	--only) only=${2:?wants an operation} && shift ;;
	--results) results=${2:?wants a file} && shift ;;
	--store)
		[ "${2-}" = postgresql ] || wrong '--store wants: postgresql'
		store=$2
		shift
		;;
	--standby) standby=yes ;;
	--table | --scaling | --instructions) what=${1#--} ;;
	--help) usage && exit 0 ;;
	*) wrong "there is no option $1" ;;
	esac
	shift
done
write_seconds=${write_seconds:-$seconds}
[ "$what" = table ] || [ -z "$store" ] || wrong "--store does not go with --$what"
[ -z "$standby" ] || [ -n "$store" ] || wrong '--standby wants --store'
case $what in
table) needs="nginx spawn-fcgi wrk curl${store:+ pgbench}" && results=${results:-bench.tsv} ;;
scaling) needs='nginx spawn-fcgi wrk curl' && results=${results:-bench-scaling.tsv} ;;
instructions) needs=valgrind && results=${results:-bench-instructions.tsv} ;;
esac
for needed in $needs; do
	have "$needed" || { say "needs $needed, which is not installed" && exit 77; }
done

# Root cannot serve; the numbers are the same for any user.
if [ "$(id -u)" = 0 ]; then
	have setpriv || { say "needs setpriv to stop being root" && exit 77; }
	place=$(mktemp -d) || exit 1
	trap 'rm -rf "$place"' EXIT
	for folder in source/tests/bench source/tests/tools programs temporary; do
		mkdir -p "$place/$folder" || exit 1
	done
	cp -R "$source/nginx" "$place/source" &&
		cp "$source"/tests/tools/*.sh "$place/source/tests/tools" &&
		cp "$source"/tests/bench/*.* "$place/source/tests/bench" &&
		cp "$program" "$place/anteroom" || exit 1
	for one in bare disk requests start; do
		cp "$programs/$one" "$place/programs" || exit 1
	done
	chmod -R a+rX "$place" && chmod 1777 "$place/temporary" || exit 1
	env HOME="$place/temporary" TMPDIR="$place/temporary" ANTEROOM="$place/anteroom" \
		PROGRAMS="$place/programs" SOURCE_DIR="$place/source" \
		setpriv --reuid="$(id -u nobody)" --regid="$(id -g nobody)" --clear-groups \
		sh "$place/source/$test" --rounds "$rounds" --seconds "$seconds" \
		--write-seconds "$write_seconds" --templates "$templates" --sizes "$sizes" \
		${only:+--only "$only"} ${store:+--store "$store"} ${standby:+--standby} "--$what" --results "$place/temporary/results"
	status=$?
	[ $status != 0 ] || cp "$place/temporary/results" "$results" || status=1
	exit $status
fi
case $results in
/*) ;;
*) results=$PWD/$results ;;
esac
make_scratch
TEMPLATE=$source/tests/bench/template.json
export TEMPLATE
. "$source/tests/bench/measure.sh"
. "$source/tests/tools/database.sh"
# shellcheck source=/dev/null
. "$source/tests/bench/$what.sh"
