#!/bin/sh
# How fast it is (`make bench`): the main operations over a private nginx, beside a bare libfcgi
# responder that answers the same number of bytes behind the same nginx and does nothing else. Rounds
# are interleaved, medians are told, and ratios are of one run. Prints a table; RESULTS names a file for
# the same as TSV. ROUNDS (3), SECONDS_EACH (2) and TEMPLATES (1000) can be set; BARE is the bare
# responder. Everything is made in a temporary directory of TMPDIR: its disk is the one measured.
set -u
test=tests/bench/http.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/servers.sh"
for needed in nginx spawn-fcgi wrk jq curl; do
	have $needed || { say "needs $needed" && exit 77; }
done
bare=${BARE:?names the bare responder}
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-2}
templates=${TEMPLATES:-1000}
operations='get_role:32 list10:32 list100:32 create:1 create:32 update_role:8 room:32 room_codes:8 token:32'

# Root does not serve; the numbers are the same for anybody.
if [ "$(id -u)" = 0 ]; then
	place=$(mktemp -d) || exit 1
	trap 'rm -rf "$place"' EXIT
	mkdir -p "$place/source/tests/bench" "$place/temporary"
	cp -R "$source/nginx" "$place/source"
	cp "$source/tests/servers.sh" "$place/source/tests"
	cp "$source"/tests/bench/*.sh "$source"/tests/bench/*.lua "$place/source/tests/bench"
	cp "$program" "$place/anteroom" && cp "$bare" "$place/bare" && chmod -R a+rX "$place" &&
		chmod 1777 "$place/temporary" || exit 1
	env HOME="$place/temporary" TMPDIR="$place/temporary" ANTEROOM="$place/anteroom" \
		BARE="$place/bare" SOURCE_DIR="$place/source" RESULTS="$place/temporary/results" \
		setpriv --reuid="$(id -u nobody)" --regid="$(id -g nobody)" --clear-groups \
		sh "$place/source/$test"
	status=$?
	[ $status != 0 ] || [ -z "${RESULTS-}" ] || cp "$place/temporary/results" "$RESULTS"
	exit $status
fi
make_scratch
start_responder ours
# Joining is limited by address, and here all calls come from one.
start_nginx ours '/limit_req zone=/d; s/access_log @ACCESS_LOG@.*/access_log off;/'
ours=$base
spawn-fcgi -s "$scratch/bare.sock" -M 0600 -P "$scratch/bare.pid" -- "$bare" >"$scratch/bare.log" 2>&1 ||
	fail 'the bare responder does not start'
note "$scratch/bare.pid" TERM
start_nginx bare 's/access_log @ACCESS_LOG@.*/access_log off;/'
beside=$base
TOKEN=$token IDS=$scratch/ids ROOMS=$scratch/rooms CODES=$scratch/codes
export TOKEN IDS ROOMS CODES
: >"$IDS" >"$ROOMS" >"$CODES"

api()
{
	printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl --config - -sS --fail-with-body --max-time 10 "$@" || fail "$*"
}

# run URL OPERATION CONNECTIONS SIZE SECONDS: sets rate, median, late and errors.
run()
{
	threads=2
	[ "$3" != 1 ] || threads=1
	serial=$((${serial-0} + 1))
	line=$(OPERATION=$2 SIZE=$4 TAG=bench$serial wrk -t$threads -c"$3" -d"$5"s \
		-s "$source/tests/bench/operations.lua" "$1" | grep '^RESULT') || fail "wrk: $2"
	# shellcheck disable=SC2086
	set -- $line
	rate=$2 median=$3 late=$4 errors=$5
}

say "Preparing $templates templates ..." >&2
run "$ours" create 8 '' 1
start=
while [ "$(wc -l <"$IDS")" -lt "$templates" ]; do
	page=$(api "$ours/v2/templates?limit=100&start=$start")
	[ "$(printf %s "$page" | jq '.data | length')" = 100 ] || break
	printf %s "$page" | jq -r '.data[].id' >>"$IDS"
	start=$(tail -n 1 "$IDS")
done
# The last must have a full page behind it.
head -n -100 "$IDS" >"$IDS.kept" && mv "$IDS.kept" "$IDS"
[ "$(wc -l <"$IDS")" -ge 100 ] || fail 'too few templates were made in a second'
head -n 50 "$IDS" | while read -r id; do
	room=$(api -d "{\"template_id\":\"$id\"}" "$ours/v2/rooms" | jq -r .id)
	echo "$room" >>"$ROOMS"
	api -X POST "$ours/v2/room-codes/room/$room" | jq -r '.data[].code' >>"$CODES"
done

size_of()
{
	id=$(head -n 1 "$IDS")
	case $1 in
	get_role) api "$ours/v2/templates/$id/roles/host" ;;
	list10) api "$ours/v2/templates?limit=10&start=$id" ;;
	list100) api "$ours/v2/templates?limit=100&start=$(tail -n 1 "$IDS")" ;;
	create) api "$ours/v2/templates/$id" ;;
	update_role) api "$ours/v2/templates/$id/roles/viewer" ;;
	room) api "$ours/v2/rooms/$(head -n 1 "$ROOMS")" ;;
	room_codes) api "$ours/v2/room-codes/room/$(head -n 1 "$ROOMS")" ;;
	token) api -d "{\"code\":\"$(head -n 1 "$CODES")\"}" "$ours/v2/token" ;;
	esac | wc -c
}

: >"$scratch/runs"
round=1
while [ $round -le "$rounds" ]; do
	for operation in $operations; do
		name=${operation%:*} connections=${operation#*:}
		size=$(size_of "$name")
		say "round $round of $rounds: $name, $connections connections" >&2
		run "$beside" "$name" "$connections" "$size" "$seconds"
		echo "$operation bare $rate $median $late $errors $size" >>"$scratch/runs"
		run "$ours" "$name" "$connections" '' "$seconds"
		echo "$operation ours $rate $median $late $errors $size" >>"$scratch/runs"
		[ "$errors" = 0 ] || fail "$name: $errors answers were errors"
	done
	round=$((round + 1))
done

# middle OPERATION WHO FIELD: the median over the rounds.
middle()
{
	awk -v o="$1" -v w="$2" -v f="$3" '$1 == o && $2 == w { print $f }' "$scratch/runs" | sort -n |
		awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

printf 'operation\tconnections\tbytes\tper second\tbare\tratio\tmedian ms\tp99 ms\tbare p99 ms\n' >"$scratch/table"
for operation in $operations; do
	mine=$(middle "$operation" ours 3) limit=$(middle "$operation" bare 3)
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "${operation%:*}" "${operation#*:}" \
		"$(middle "$operation" ours 7)" "$mine" "$limit" \
		"$(awk "BEGIN { printf \"%.2f\", $mine / $limit }")" "$(middle "$operation" ours 4)" \
		"$(middle "$operation" ours 5)" "$(middle "$operation" bare 5)" >>"$scratch/table"
done
[ -z "${RESULTS-}" ] || cp "$scratch/table" "$RESULTS" || fail "cannot write $RESULTS"
awk -F '\t' '{ printf "%-12s %11s %7s %11s %8s %6s %10s %8s %12s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }' "$scratch/table"
