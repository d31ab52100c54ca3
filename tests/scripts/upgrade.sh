#!/bin/sh
# An upgrade of the program under load loses nothing. This script holds a listening socket, as systemd
# would; behind a real nginx, clients create templates without a pause. Meanwhile one process after the
# other is started with --wait, and the previous one is stopped. Every response must be 200, and all
# acknowledged templates must exist. HANDOVERS sets the number of handovers (default: 5).
set -u
test=tests/scripts/upgrade.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
for needed in nginx spawn-fcgi curl; do
	have $needed || { say "needs $needed" && exit 77; }
done
handovers=${HANDOVERS:-5}

# Starts this script again with spawn-fcgi, with the socket as standard input.
if [ "${1-}" != held ]; then
	become_ordinary
	make_scratch
	spawn-fcgi -n -s "$scratch/upgrade.sock" -M 0600 -- \
		/usr/bin/env SCRATCH="$scratch" sh "$source/$test" held
	exit
fi
scratch=${SCRATCH:?}
exec 3<&0
cd "$scratch" || exit 1
port=$(($$ % 20000 + 20000))
trap end_all EXIT
trap 'exit 1' INT TERM HUP

# serve N [OPTION]: starts the N-th process.
serve()
{
	number=$1
	shift
	"$program" serve --data "$scratch/upgrade" "$@" <&3 >"$scratch/upgrade-$number.log" 2>&1 &
	echo $! >"responder-$number"
	note "$scratch/responder-$number" TERM
}

# load N: a client that creates templates until the file `enough` exists.
load()
{
	while [ ! -e enough ]; do
		printf 'header = "Authorization: Bearer %s"\n' "$token" |
			curl --config - -sS --max-time 120 -d '{}' -o /dev/null -w '%{http_code}\n' \
				"$base/v2/templates?[1-200]" 3<&-
	done >"statuses-$1" 2>&1
}

count()
{
	cat statuses-* | grep -c "$@"
}

make_account upgrade
serve 0
start_nginx upgrade
for client in 1 2 3 4; do
	load $client &
	clients="${clients-} $!"
done

# The next handover begins when the new process has answered requests.
i=0
while [ $i -lt "$handovers" ]; do
	seen=$(count '^200$')
	tries=0
	until [ "$(count '^200$')" -gt $((seen + 20)) ]; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || fail "no answers after $i handovers"
		sleep 0.1
	done
	serve $((i + 1)) --wait
	end TERM "$scratch/responder-$i"
	i=$((i + 1))
done
seen=$(count '^200$')
until [ "$(count '^200$')" -gt "$seen" ]; do sleep 0.1; done
: >enough
# shellcheck disable=SC2086
wait $clients

made=$(count '^200$')
lost=$(count -v '^200$')
say "$handovers handovers, $made templates created, $lost requests lost"
[ "$lost" = 0 ] || fail "$(cat statuses-* | sort | uniq -c)"
there=$("$program" stat "$scratch/upgrade" | sed -n 's/^templates *//p')
[ "$there" = "$made" ] || fail "$made were acknowledged, $there exist"
grep -L 'notice stopped' "$scratch"/upgrade-*.log | grep -v "upgrade-$handovers.log" &&
	fail 'one did not end in good order'
exit 0
