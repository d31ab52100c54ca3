#!/bin/sh
# nginx/quickstart as a user would use it: two instances at a time, its output pasted into a shell, a
# second start that finds the data and the codes of the first, crashes, and usage errors. With BRIEF=yes,
# one start, with the program in ANTEROOM and the pages beside it, and its output pasted into a shell.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
PATH=$PATH:/usr/sbin
scratch=$(mktemp -d) || exit 1
trap 'for name in one two three four closed/six seven; do
		quickstart --stop --data "$scratch/$name" >/dev/null 2>&1
	done
	rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP

# A copy of what is needed, in which the program is newer than its sources.
if [ -n "${BRIEF-}" ]; then
	mkdir -p "$scratch/tree/build" && chmod 755 "$scratch" "$scratch/tree" &&
		cp -R configure.ac Makefile.am m4 include src web nginx packaging "$scratch/tree" &&
		cp -R "${ANTEROOM%/*}/web" "$scratch/tree/build" &&
		cp "$ANTEROOM" "$scratch/tree/build" && cd "$scratch/tree" || exit 1
fi

quickstart()
{
	sh nginx/quickstart "$@"
}

fail()
{
	echo "tests/scripts/quickstart.sh: $*" >&2
	exit 1
}

# Starts it with a data directory on a free port. Sets port; writes its output to the file DATA.printed.
start()
{
	directory=$1
	shift
	port=$(($$ % 20000 + 20000))
	until quickstart --detach --port $port --data "$directory" "$@" >"$directory.printed" 2>&1; do
		grep -q 'is in use' "$directory.printed" || fail "$(cat "$directory.printed")"
		port=$((port + 1))
		[ $port -lt 60000 ] || fail 'no port is free'
	done
}

# Wrong arguments of --with-livekit are rejected before anything is built: here there is nothing to build. An
# expected text and the arguments, a row a case.
mkdir "$scratch/bare" && cp -R nginx "$scratch/bare" || exit 1
long=0123456789abcdef0123456789abcdef
rejects()
{
	(cd "$scratch/bare" && sh nginx/quickstart "$@" >"$scratch/other" 2>&1)
	[ $? = 2 ] && grep -qF -- "$text" "$scratch/other" || fail "$*: $(cat "$scratch/other"), not $text"
	[ "$(ls "$scratch/bare")" = nginx ] || fail "$*: it makes $(ls "$scratch/bare")"
}
while IFS='|' read -r text url key secret rest; do
	# shellcheck disable=SC2086
	rejects --with-livekit "$url" "$key" $secret $rest
done <<END
needs URL, KEY and SECRET|ws://127.0.0.1:7880|key
needs URL, KEY and SECRET|ws://127.0.0.1:7880||$long
needs URL, KEY and SECRET||key|$long
needs URL, KEY and SECRET|ws://127.0.0.1:7880|key|--port|8081
URL must be a ws or wss URL|http://127.0.0.1:7880|key|$long
URL must be a ws or wss URL|127.0.0.1:7880|key|$long
URL must be a ws or wss URL|ws://|key|$long
URL must be a ws or wss URL|ws://127.0.0.1:0|key|$long
URL must be a ws or wss URL|ws://127.0.0.1:65536|key|$long
URL must be a ws or wss URL|ws://127.0.0.1:7880/?x|key|$long
URL must be a ws or wss URL|ws://127.0.0.1:7880#x|key|$long
URL must be a ws or wss URL|ws://user@127.0.0.1:7880|key|$long
URL must be a ws or wss URL|ws://127.0.0.1:7880/"|key|$long
URL must be a ws or wss URL|ws://127.0.0.1: 7880|key|$long
KEY must have 1 to 128|ws://127.0.0.1:7880|k"|$long
KEY must have 1 to 128|ws://127.0.0.1:7880|$long$long$long$long$long|$long
SECRET must not have quotes|ws://127.0.0.1:7880|key|"$long
SECRET must have 32 to 512 characters, got 6.|ws://127.0.0.1:7880|devkey|secret
SECRET must have 32 to 512 characters, got 31.|wss://[::1]:7880/rtc|key|${long%f}
SECRET must have 32 to 512 characters, got 544|ws://127.0.0.1:7880|key|$(printf "$long%.0s" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)
END
# With a secret that is too short, it prints two lines to paste, with a new key each time and the other arguments.
text='are public'
rejects --port 8081 --with-livekit ws://127.0.0.1:7880 devkey secret --data 'my data'
pasted=$(sed -n 's/^livekit-server --dev --keys "anteroom: \([0-9a-f]\{48\}\)" >livekit.log 2>&1 &$/\1/p' "$scratch/other")
tail -n 1 "$scratch/other" | grep -qx "sh nginx/quickstart --with-livekit ws://127.0.0.1:7880 anteroom $pasted --port 8081 --data 'my data'" ||
	fail "devkey: $(cat "$scratch/other")"
rejects --with-livekit ws://127.0.0.1:7880 devkey secret
! grep -q "$pasted" "$scratch/other" || fail "the same key twice: $pasted"

start "$scratch/one"
first=$port
codes=$(grep -E '^    [a-z]+: [a-z]{3}-[a-z]{4}-[a-z]{3}' "$scratch/one.printed")
[ "$(echo "$codes" | grep -c .)" = 3 ] || fail "no three codes: $codes"
[ "$(stat -c %a "$scratch/one/quickstart.env")" = 600 ] || fail 'quickstart.env can be read by all'
[ "$(grep -cE '^(BASE_URL|(ACCESS_KEY|SECRET)(_B)?|MANAGEMENT_TOKEN)=.' \
	"$scratch/one/quickstart.env")" = 6 ] || fail 'quickstart.env is not complete'
grep -E '^(curl |MANAGEMENT_TOKEN=)' "$scratch/one.printed" >"$scratch/calls"
[ "$(grep -c . "$scratch/calls")" = 6 ] || fail 'not five requests to paste and the line for the token'
[ "$(grep -c eyJ "$scratch/one.printed")" = 1 ] || fail 'the token is not printed exactly once'
sed 's/^curl /curl -sS --fail-with-body /; s/$/ || exit 1/' "$scratch/calls" >"$scratch/checked"
sh "$scratch/checked" >"$scratch/answers" 2>&1 || fail "pasted: $(cat "$scratch/answers")"

for page in console 'join page'; do
	address=$(sed -n "s/^  $page *\(http.*\)/\1/p" "$scratch/one.printed")
	curl -sS "$address" | grep -q '<!doctype html>' || fail "$page: no page at $address"
done
# Without a media server it says so, and what gives one, with a key of its own each time.
grep -q '^There is no media server yet' "$scratch/one.printed" || fail 'the missing media server is not named'
grep -qE "^sh nginx/quickstart --with-livekit ws://[^ ]+ anteroom [0-9a-f]{48} --detach --port $port --data [^ ]+\$" \
	"$scratch/one.printed" || fail 'no command that adds a media server'

[ -z "${BRIEF-}" ] || exit 0

start "$scratch/two" --no-sample
second=$port
grep -E '^(curl |MANAGEMENT_TOKEN=)' "$scratch/two.printed" |
	sed 's/^curl /curl -sS --fail-with-body /; s/$/ || exit 1/' >"$scratch/checked"
sh "$scratch/checked" >"$scratch/answers" 2>&1 || fail "pasted: $(cat "$scratch/answers")"
quickstart --detach --port "$first" --data "$scratch/three" >"$scratch/busy" 2>&1 &&
	fail 'a port in use was accepted'
[ "$(grep -c . "$scratch/busy")" = 1 ] || fail "a busy port: $(cat "$scratch/busy")"
quickstart --detach --port "$first" --data "$scratch/one" >/dev/null 2>&1 &&
	fail 'it started twice with the same data'

kill -9 "$(cat "$scratch/two/nginx/nginx.pid")"
quickstart --stop --data "$scratch/two" >/dev/null || fail 'it cannot be stopped after a crash'
# A program that reads its output does not wait for the service to stop.
printed=$(timeout 100 sh nginx/quickstart --detach --port "$second" --data "$scratch/two" 2>&1) ||
	fail "after a crash: $printed"

# A responder that crashes is restarted, and the log says so; after --stop it is not.
crash()
{
	serving=$(grep -c ' serving ' "$scratch/one/anteroom.log")
	kill -9 "$(sed 's/.* //' "$scratch/one/responder-1.lock")"
	tries=0
	until [ "$(grep -c ' serving ' "$scratch/one/anteroom.log")" -gt "$serving" ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || fail "it is not restarted: $(tail "$scratch/one/anteroom.log")"
		sleep 0.1
	done
}
crash
grep -q ' error responder_ended number=1 status=137 effect="it is restarted"' "$scratch/one/anteroom.log" ||
	fail "the log does not say that the responder crashed: $(cat "$scratch/one/anteroom.log")"
token=$(sed -n 's/^MANAGEMENT_TOKEN=//p' "$scratch/one/quickstart.env")
curl -sS --fail-with-body -H "Authorization: Bearer $token" "http://127.0.0.1:$first/v2/templates" >"$scratch/answers" ||
	fail "after a crash: $(cat "$scratch/answers")"
# A responder that can no longer start is given up.
mv "$scratch/one/store" "$scratch/one/away"
kill -9 "$(sed 's/.* //' "$scratch/one/responder-1.lock")"
tries=0
until flock -n "$scratch/one/responder-1.lock" true; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || fail "it is restarted forever: $(tail "$scratch/one/anteroom.log")"
	sleep 0.1
done
[ "$(grep -c ' responder_ended .*restarted"' "$scratch/one/anteroom.log")" = 5 ] &&
	tail -n 1 "$scratch/one/anteroom.log" | grep -q 'is not restarted"$' ||
	fail "it is not given up: $(tail "$scratch/one/anteroom.log")"
mv "$scratch/one/away" "$scratch/one/store"

quickstart --stop --data "$scratch/one" >/dev/null || fail 'it cannot be stopped'
grep -q 'is not restarted"$' "$scratch/one/anteroom.log" || fail 'it was started after --stop'
curl -s -o /dev/null "http://127.0.0.1:$first/" && fail 'nginx runs although it was stopped'
start "$scratch/one"
again=$(grep -E '^ .*[a-z]{3}-[a-z]{4}-[a-z]{3}' "$scratch/one.printed")
for code in $(echo "$codes" | sed 's/.* //'); do
	case $again in
	*"$code"*) ;;
	*) fail "the code $code is lost: $again" ;;
	esac
done

quickstart --port nine >/dev/null 2>&1
[ $? = 2 ] || fail 'an invalid port'
quickstart --help >/dev/null || fail '--help'

plant_links()
{
	mkdir "$scratch/root" "$scratch/root/folder"
	names=$(cd "$scratch/four" && find . -name program -prune -o ! -path './store/*' ! -path './nginx/web/*' \
		! -path './nginx/temporary/*' -type f -print && cd nginx && find . -maxdepth 2 -type d -path '*/*' |
		sed 's|^\.|./nginx|')
	for name in $names ./quickstart.lock ./quickstart.env.new ./responder.lock ./responder-1.lock ./ready \
		./nginx ./program ./program/nginx/quickstart ./program/nginx/prepare.sh; do
		target=$scratch/root/file
		[ ! -d "$scratch/four/$name" ] || target=$scratch/root/folder
		echo precious >"$scratch/root/file"
		chmod 600 "$scratch/root/file"
		touch -d 2020-01-01 "$scratch/root/file" "$scratch/root/folder"
		find "$scratch/root" -printf '%p %U %G %m %s %T@ %l\n' >"$scratch/before"
		as_user sh -c 'cd "$1" && mv "$2" kept 2>/dev/null; ln -s "$3" "$2"' - "$scratch/four" "$name" "$target"
		timeout 100 sh nginx/quickstart --detach --port "$port" --data "$scratch/four" >"$scratch/other" 2>&1
		timeout 100 sh nginx/quickstart --stop --data "$scratch/four" >"$scratch/other" 2>&1
		find "$scratch/root" -printf '%p %U %G %m %s %T@ %l\n' >"$scratch/after"
		cmp -s "$scratch/before" "$scratch/after" ||
			fail "a link at $name: $(cat "$scratch/after" "$scratch/other")"
		[ "$(cat "$scratch/root/file")" = precious ] || fail "a link at $name: $(cat "$scratch/root/file")"
		as_user sh -c 'cd "$1" && rm -rf "$2" && { [ ! -e kept ] || mv kept "$2"; }' - "$scratch/four" "$name"
	done
	# The same with programs of that user: root runs none of them.
	as_user sh -c 'cd "$1" && echo "id -u >>ran" >program/nginx/prepare.sh && echo "id -u >>ran" >quickstart.env &&
		cp program/nginx/prepare.sh program/nginx/quickstart' - "$scratch/four"
	quickstart --detach --port "$port" --data "$scratch/four" >"$scratch/other" 2>&1
	quickstart --stop --data "$scratch/four" >"$scratch/other" 2>&1
	! grep -qx 0 "$scratch/four/ran" 2>/dev/null || fail "root ran a program of the user nobody"
}

# Root and a user alternate with the same data. (The user must be able to read the source.)
as_user()
{
	setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@" </dev/null
}
if [ "$(id -u)" = 0 ] && as_user test -r "$PWD/nginx/quickstart" && as_user test -x "$PWD/build/anteroom"; then
	chmod 755 "$scratch"
	# With a group that its owner does not belong to.
	install -d -o nobody -g 0 "$scratch/four"
	mkdir -m 700 "$scratch/closed"
	as_user sh nginx/quickstart --detach --port "$port" --data "$scratch/closed" >"$scratch/other" 2>&1 &&
		fail 'a user started in a directory of root'
	grep -q 'which belongs to root; choose another' "$scratch/other" || fail "a user: $(cat "$scratch/other")"
	start "$scratch/four"
	as_user sh nginx/quickstart --detach --port 1 --data "$scratch/four" >"$scratch/other" 2>&1 &&
		fail 'a user started it although root runs it'
	grep -q 'already running with' "$scratch/other" || fail "a user: $(cat "$scratch/other")"
	[ "$(grep -c . "$scratch/other")" = 1 ] || fail "a user: $(cat "$scratch/other")"
	quickstart --stop --data "$scratch/four" >/dev/null || fail 'root cannot stop it'
	as_user sh nginx/quickstart --detach --port "$port" --data "$scratch/four" >"$scratch/other" 2>&1 ||
		fail "a user after root: $(cat "$scratch/other")"
	quickstart --stop --data "$scratch/four" >/dev/null || fail 'root cannot stop it after a user started it'

	# The directory belongs to the user nobody, who puts links with every name that is written or
	# read there. Their targets do not change, whether root's quickstart starts or reports an error.
	plant_links
	# A directory that only root can enter.
	start "$scratch/closed/six"
	quickstart --stop --data "$scratch/closed/six" >/dev/null || fail 'it cannot be stopped where only root can enter'
fi

start "$scratch/three" --serve-option --access-log --serve-option=--threads --serve-option 3
grep -q 'path=/v2/templates' "$scratch/three/anteroom.log" || fail '--serve-option: no access log'
quickstart --stop --data "$scratch/three" >/dev/null || fail 'it cannot be stopped with options'

# A LiveKit server, whose secret is not left in a file; a second start changes it. The links lead to the call.
# with_livekit PORT: starts it, unless livekit-client cannot be had here.
with_livekit()
{
	start "$scratch/seven" --no-sample --with-livekit "ws://127.0.0.1:$1" key 0123456789abcdef0123456789abcdef
}
if grep -q 'name="livekit-client" content="/' build/web/join.html || npm view livekit-client version >/dev/null 2>&1; then
	with_livekit 7880
	quickstart --stop --data "$scratch/seven" >/dev/null || fail 'it cannot be stopped with LiveKit'
	with_livekit 7881
	curl -sS -H "Authorization: Bearer $(sed -n 's/^MANAGEMENT_TOKEN=//p' "$scratch/seven/quickstart.env")" \
		"http://127.0.0.1:$port/v2/backends" | grep -q '"default":true' || fail 'LiveKit is not the default'
	[ ! -e "$scratch/seven/livekit.json" ] || fail 'the secret of LiveKit is left in a file'
	for role in host guest; do
		link=$(sed -n "s/^  call, $role *\(http.*\)/\1/p" "$scratch/seven.printed")
		curl -sS "$link" | grep -q 'name="livekit-client" content="/' || fail "$link: no call"
		curl -sS "${link%/join/*}/v2/join/${link##*/}" | grep -q '"call":"livekit"' || fail "$link does not lead to a call"
		curl -sS -d "{\"code\":\"${link##*/}\"}" "${link%/join/*}/v2/token" | grep -q '"url":"ws://127.0.0.1:7881"' ||
			fail "$link: the second address of LiveKit does not count"
	done
	quickstart --stop --data "$scratch/seven" >/dev/null || fail 'it cannot be stopped with LiveKit'
else
	echo 'tests/scripts/quickstart.sh: left out: livekit-client cannot be downloaded'
fi

# Two responders with a separate database.
programs=
for postgres in /usr/lib/postgresql/*/bin/postgres; do
	[ ! -x "$postgres" ] || programs=${postgres%/*}
done
as_ordinary()
{
	if [ "$(id -u)" = 0 ]; then
		as_user "$@"
	else
		"$@"
	fi
}
if [ -n "$programs" ]; then
	chmod 755 "$scratch"
	mkdir -m 755 "$scratch/database"
	[ "$(id -u)" != 0 ] || chown nobody "$scratch/database"
	as_ordinary "$programs/initdb" -D "$scratch/database/data" -U postgres -A trust --no-sync \
		>"$scratch/database.log" 2>&1 || fail "initdb: $(tail -n 3 "$scratch/database.log")"
	# Over TCP without TLS, about which each command prints a warning.
	database=$(($$ % 20000 + 40000))
	until as_ordinary "$programs/pg_ctl" -D "$scratch/database/data" -w -l "$scratch/database/log" \
		-o "-k $scratch/database -c listen_addresses=127.0.0.1 -p $database -c fsync=off" start \
		>"$scratch/database.log" 2>&1; do
		grep -q 'already in use' "$scratch/database/log" ||
			fail "postgres: $(tail -n 3 "$scratch/database.log")"
		database=$((database + 1))
		[ $database -lt 65536 ] || fail 'no port is free for postgres'
	done
	trap 'for name in one two three four five seven; do
			quickstart --stop --data "$scratch/$name" >/dev/null 2>&1
		done
		as_ordinary "$programs/pg_ctl" -D "$scratch/database/data" -m immediate stop >/dev/null 2>&1
		rm -rf "$scratch"' EXIT
	start "$scratch/five" --store "postgresql://postgres@127.0.0.1:$database/postgres" --responders 2
	grep -qE '^MANAGEMENT_TOKEN=eyJ[^ ]*$' "$scratch/five/quickstart.env" || fail 'no token'
	[ "$(grep -c ' serving ' "$scratch/five/anteroom.log")" = 2 ] || fail 'no two responders'
	grep -E '^(curl |MANAGEMENT_TOKEN=)' "$scratch/five.printed" |
		sed 's/^curl /curl -sS --fail-with-body /; s/$/ || exit 1/' >"$scratch/checked"
	sh "$scratch/checked" >"$scratch/answers" 2>&1 || fail "pasted: $(cat "$scratch/answers")"
	quickstart --stop --data "$scratch/five" >/dev/null || fail 'two responders cannot be stopped'
fi
