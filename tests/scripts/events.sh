#!/bin/sh
# The event log with real responders: events of joins and of changes to accounts by the command line,
# killed processes, and two responders with one database, of which one is killed. Every acknowledged
# change has its event, no number is missing, and anteroom check finds no damage.
set -u
test=tests/scripts/events.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/database.sh"
for needed in nginx spawn-fcgi curl jq; do
	have $needed || { say "needs $needed" && exit 77; }
done
become_ordinary
make_scratch

# api METHOD PATH [BODY]
api()
{
	printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl -sS --config - --max-time 20 -X "$1" ${3+-d "$3"} "$base$2"
}

# Prints the types of all events, in order, with a jq filter for each.
entries()
{
	after=0
	while :; do
		page=$(api GET "/v2/events?limit=100&after=$after") || return 1
		say "$page" | jq -r ".last, (.data[] | $1)" >page
		read -r last <page
		tail -n +2 page
		[ "$last" != "$after" ] || return 0
		after=$last
	done
}

# await N FILTER PATTERN: waits until N events match; events may appear two seconds late.
await()
{
	tries=0
	until [ "$(entries "$2" | grep -c -- "$3")" = "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || fail "not $1 entries $3: $(entries "$2")"
		sleep 0.3
	done
}

no_gaps()
{
	entries .seq >numbers
	seq 1 "$(wc -l <numbers)" | cmp -s - numbers || fail "numbers of entries: $(tr '\n' ' ' <numbers)"
}

# ---- one responder ----

start_responder one
start_nginx one
make_room()
{
	template=$(api POST /v2/templates '{"name":"t","roles":{"host":{}}}' | jq -r .id)
	room=$(api POST /v2/rooms "{\"name\":\"r\",\"template_id\":\"$template\"}" | jq -r .id)
	code=$(api POST "/v2/room-codes/room/$room" | jq -r '.data[0].code')
}
make_room

# Joins are logged only if the account enables it.
curl -sS -o /dev/null -d "{\"code\":\"$code\"}" "$base/v2/token"
"$program" account set test log_joins=on --data "$scratch/one" >/dev/null || fail 'account set'
curl -sS -o /dev/null -d "{\"code\":\"$code\",\"user_id\":\"ann\"}" "$base/v2/token"
api PATCH "/v2/room-codes/code/$code" '{"enabled":false}' >/dev/null
for _ in 1 2 3; do
	curl -sS -o /dev/null -d "{\"code\":\"$code\",\"user_id\":\"ann\"}" "$base/v2/token"
done
await 1 '[.type,.actor.kind,.data.kind,.data.user_id,.data.role] | @csv' \
	'"join.granted","code","join","ann","host"'
await 1 '[.type,.data.reason] | @csv' '"join.refused","disabled"'
# A rejection names the person who tried to join, not the person the code is for.
own=$(api POST "/v2/room-codes/room/$room/role/host" '{"user_id":"bob"}' | jq -r .code)
curl -sS -o /dev/null -d "{\"code\":\"$own\",\"user_id\":\"eve\"}" "$base/v2/token"
await 1 '[.type,.data.reason,.data.user_id] | @csv' '"join.refused","other_user","eve"'
[ "$(entries 'select(.type == "join.granted") | .data.code_hash')" = \
	"$(entries 'select(.type == "room_code.updated") | .data.code_hash')" ] ||
	fail 'a join does not name its code as the change of the code does'
entries . | grep -q "$code" && fail 'the log has a code'

# Changes by the command line are noticed while the service runs, and only once.
"$program" account disable test --data "$scratch/one" 2>/dev/null || fail 'account disable'
sleep_for_watch()
{
	# The thread checks every second; no request can show it while the account is disabled.
	tries=0
	until grep -q 'account.disabled' dumped 2>/dev/null || [ $tries = 100 ]; do
		"$program" dump --data "$scratch/one" >dumped 2>/dev/null
		tries=$((tries + 1))
		sleep 0.3
	done
}
sleep_for_watch
"$program" account enable test --data "$scratch/one" 2>/dev/null || fail 'account enable'
"$program" account rotate test --data "$scratch/one" >/dev/null 2>&1 || fail 'account rotate'
await 1 '[.type,.actor.kind,.request_id] | @csv' '"account.disabled","cli",""'
await 1 .type account.enabled
await 1 .type account.secret_rotated
no_gaps

# The same for changes to an account before the first check.
"$program" account add second --data "$scratch/one" >second || fail 'account add'
"$program" account rotate second --data "$scratch/one" >/dev/null || fail 'account rotate'
of_first=$token
token=$("$program" token second --data "$scratch/one") || fail 'token'
await 1 '[.type,.actor.kind] | @csv' '"account.secret_rotated","cli"'
token=$of_first

# ---- killed, again and again ----

: >made
for round in 1 2 3 4 ${FULL:+5 6 7 8}; do
	(
		n=0
		while [ $n -lt 200 ]; do
			n=$((n + 1))
			api POST /v2/templates "{\"name\":\"k$round.$n\"}" 2>/dev/null |
				jq -r '.id // empty' 2>/dev/null
		done
	) >>made &
	writer=$!
	lines=$(wc -l <made)
	until [ "$(wc -l <made)" -gt "$((lines + 5))" ]; do
		kill -0 $writer 2>/dev/null || break
		sleep 0.02
	done
	kill -s KILL "$(cat one.responder)"
	kill $writer 2>/dev/null
	wait $writer 2>/dev/null
	rm -f one.responder one.sock
	spawn-fcgi -s "$scratch/one.sock" -M 0600 -P "$scratch/one.responder" -- \
		"$program" serve --data "$scratch/one" --wait >>"$scratch/one.log" 2>&1 ||
		fail 'spawn-fcgi'
	until [ "$(api GET /v2/events 2>/dev/null | jq -r .limit 2>/dev/null)" = 10 ]; do sleep 0.05; done
done
no_gaps
entries 'select(.type == "template.created") | .data.id' | sort >logged
sort made >acknowledged
[ -s acknowledged ] || fail 'nothing was made'
comm -13 logged acknowledged >missing
[ ! -s missing ] || fail "changes without an entry: $(cat missing)"
uniq -d logged >twice
[ ! -s twice ] || fail "changes with two entries: $(cat twice)"
end TERM one.responder
"$program" check --data "$scratch/one" >checked 2>&1 || fail "check: $(cat checked)"

# ---- two responders over a database ----

(find_postgresql) || exit 0
start_database
make_shared_store
start_shared()
{
	spawn-fcgi -s "$scratch/$1.sock" -M 0600 -P "$scratch/$1.responder" -- \
		"$program" serve --store "$database" --threads 4 >>"$scratch/$1.log" 2>&1 ||
		fail 'spawn-fcgi'
	note "$scratch/$1.responder" TERM
}
start_shared two
start_nginx two
bases=$base
start_shared three
start_nginx three
bases="$bases $base"
for base in $bases $bases $bases; do
	api POST /v2/templates '{}' | jq -r '.id // empty'
done >made
await 6 .type template.created
no_gaps
# One of them has the lease; when it is killed, the other one continues the numbering.
kill -s KILL "$(cat two.responder)"
for _ in 1 2 3; do
	api POST /v2/templates '{}' | jq -r '.id // empty'
done >>made
await 9 .type template.created
entries '.data.id' | sort >logged
sort made | cmp -s - logged || fail 'the log has other changes than were made'
no_gaps
"$program" dump --store "$database" >dumped 2>/dev/null || fail dump
[ "$(grep -c '^{"event"' dumped)" = 9 ] || fail 'the dump has other entries'
"$program" check --store "$database" >checked 2>&1 || fail "check: $(cat checked)"
exit 0
