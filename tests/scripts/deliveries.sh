#!/bin/sh
# Responders are killed while they deliver webhooks: one with a data directory, and two with one database.
# Every event reaches the receiver under one ID, and nothing stays pending.
#
#     deliveries.sh [KILLS]       as many kills of each; default: 4
set -u
test=tests/scripts/deliveries.sh
beside=tests/tools/hook_receiver.mjs
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/database.sh"
for needed in node nginx spawn-fcgi curl jq; do
	have $needed || { say "needs $needed" && exit 77; }
done
become_ordinary "$@"
make_scratch
unset ANTEROOM_URL ANTEROOM_TOKEN
"$program" room list 2>libraries
! grep -q 'built without libcurl' libraries || { say 'this build has no libcurl' && exit 77; }
kills=${1-4}
# Events created, or deliveries received, between two kills.
between=5
# Seconds until everything must have arrived.
patience=90
# Deliveries in one second, with a schedule of short delays.
options='--webhook-allow-http --webhook-allow-private --webhook-schedule 0s,1s,1s,1s,1s,1s,1s,1s'

# api METHOD PATH [BODY]: fails if there is no response.
api()
{
	printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl -sSf --config - --max-time 20 -X "$1" ${3+-d "$3"} "$base$2" 2>>curl.errors
}

# Prints the ID and the number of each event of a created object, and the ID of the object.
entries()
{
	after=0
	while :; do
		page=$(api GET "/v2/events?limit=100&type=room.created&after=$after") || continue
		say "$page" | jq -r '.data[] | "\(.id) \(.seq) \(.data.id)"'
		last=$(say "$page" | jq -r .last)
		[ "$last" != "$after" ] || return 0
		after=$last
	done
}

# start NAME OPTION...: starts a responder behind NAME.sock, with the store given by the options.
start()
{
	name=$1
	shift
	rm -f "$name.responder" "$name.sock"
	# shellcheck disable=SC2086
	spawn-fcgi -s "$scratch/$name.sock" -M 0600 -P "$scratch/$name.responder" -- \
		"$program" serve $options "$@" >>"$scratch/$name.log" 2>&1 || fail 'spawn-fcgi'
}

# Creates rooms with each service in turn, as long as only a few events wait to be delivered.
make_rooms()
{
	operation='{"method":"POST","path":"/v2/rooms","body":{}}'
	while [ ! -e enough ]; do
		for base in $bases; do
			[ $(($(lines made) - $(lines taken))) -lt 50 ] || { sleep 0.1 && continue; }
			api POST /v2/bulk "{\"operations\":[$operation,$operation,$operation]}" |
				jq -r '.results[]?.body.id // empty'
		done
	done
}

lines()
{
	wc -l <"$1"
}

# Waits until the writer of a file has added lines to it.
more_lines()
{
	wanted=$(($(lines "$1") + between))
	timeout 60 sh -c "until [ \$(wc -l <'$1') -ge $wanted ]; do sleep 0.05; done" ||
		fail "no new lines in $1"
}

# begin_deliveries: starts a receiver, and creates a webhook for it.
begin_deliveries()
{
	# Otherwise the port of the last receiver could be read before the new one has written its own.
	rm -f enough port
	: >arrived
	: >taken
	: >made
	node "$source/tests/tools/hook_receiver.mjs" arrived taken >port 2>receiver.log &
	echo $! >receiver.pid
	note "$scratch/receiver.pid" TERM
	timeout 20 sh -c 'until [ -s port ]; do sleep 0.02; done' || fail 'the receiver does not start'
	api POST /v2/templates '{"default":true}' >template.json || fail 'POST /v2/templates'
	api POST /v2/webhooks "{\"url\":\"http://127.0.0.1:$(cat port)/\",\"events\":[\"room.*\"]}" \
		>webhook.json || fail 'POST /v2/webhooks'
	make_rooms >>made &
	writer=$!
}

# All created objects have their events, and these have arrived. Events may appear after some seconds.
have_arrived()
{
	entries >logged
	cut -d ' ' -f 3 logged | sort | comm -13 - acknowledged >missing
	sort -u taken >delivered
	cut -d ' ' -f 1,2 logged | sort | comm -3 - delivered >undelivered
	[ ! -s missing ] && [ ! -s undelivered ]
}

# no_more STATE: waits until no delivery is in this state.
no_more()
{
	tries=0
	until api GET "/v2/webhooks/$(jq -r .id webhook.json)/deliveries?state=$1" >left &&
		[ "$(jq '.data // [] | length' left)" = 0 ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || fail "$1: $(cat left)"
		sleep 0.1
	done
}

# Sends a delivery again through each service, also through the one that does not send the events.
send_again()
{
	list=/v2/webhooks/$(jq -r .id webhook.json)/deliveries
	event=$(api GET "$list?state=delivered" | jq -r '.data[0].event_id')
	for base in $bases; do
		wanted=$(($(grep -c "^$event " arrived) + 1))
		api POST "$list/$event/retry" | jq -e '.state == "pending"' >sent || fail 'it is not sent again'
		timeout 20 sh -c "until [ \$(grep -c '^$event ' arrived) -ge $wanted ]; do sleep 0.02; done" ||
			fail "$event is not sent again"
		no_more pending
	done
}

# Everything has arrived, each event under one ID, and no delivery is pending.
finish_deliveries()
{
	: >enough
	wait $writer
	sort made >acknowledged
	latest=$(($(date +%s) + patience))
	until have_arrived; do
		[ "$(date +%s)" -lt $latest ] ||
			fail "without an entry: $(head missing); not delivered: $(head undelivered)"
		sleep 0.5
	done
	sort -u arrived | cut -d ' ' -f 2 | sort | uniq -d >twice
	[ ! -s twice ] || fail "entries with two ids: $(cat twice)"
	no_more pending
	no_more failed
	send_again
	say "$1: $kills kills, $(lines logged) entries, $(lines arrived) deliveries, $(lines taken) of them taken"
	end TERM receiver.pid
}

# ---- one responder ----

make_account one
start one --data "$scratch/one" --wait
note "$scratch/one.responder" TERM
start_nginx one
bases=$base
begin_deliveries
killed=0
while [ $killed -lt "$kills" ]; do
	more_lines arrived
	kill -s KILL "$(cat one.responder)"
	start one --data "$scratch/one" --wait
	killed=$((killed + 1))
done
finish_deliveries 'a data directory'
end TERM one.responder
"$program" check --data "$scratch/one" >checked 2>&1 || fail "check: $(cat checked)"

# ---- two responders over a database ----

(find_postgresql) || exit 0
start_database
make_shared_store
for name in two three; do
	start "$name" --store "$database" --threads 4
	note "$scratch/$name.responder" TERM
	start_nginx "$name"
	[ "$name" = three ] || first=$base
done
bases="$first $base"
begin_deliveries
killed=0
name=two
while [ $killed -lt "$kills" ]; do
	# The sending responder is among them; after it is killed, the other one takes over 10 s later.
	[ $((killed % 10)) != 0 ] || more_lines arrived
	more_lines made
	kill -s KILL "$(cat "$name.responder")"
	start "$name" --store "$database" --threads 4
	killed=$((killed + 1))
	[ $((killed % 3)) = 0 ] || { [ "$name" = two ] && name=three || name=two; }
done
finish_deliveries 'a database'
end TERM two.responder
end TERM three.responder
"$program" check --store "$database" >checked 2>&1 || fail "check: $(cat checked)"
exit 0
