#!/bin/sh
# nginx/quickstart as a user would use it: two instances at a time, its output pasted into a shell, a
# second start that finds the data and the codes of the first, crashes, and usage errors. With BRIEF=yes,
# one start, with the program in ANTEROOM and the pages beside it, and its output pasted into a shell.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/../..}" || exit 1
PATH=$PATH:/usr/sbin
scratch=$(mktemp -d) || exit 1
stand_in=
trap 'for name in one two three four closed/six seven eight; do
		quickstart --stop --data "$scratch/$name" >/dev/null 2>&1
	done
	[ -z "$stand_in" ] || kill "$stand_in"
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

# Prints the text of a member of JSON.
say_of()
{
	printf '%s\n' "$2" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

# Starts it with a data directory on a free port. Sets port; writes its output to the file DATA.printed.
start()
{
	directory=$1
	shift
	port=$(($$ % 20000 + 20000))
	until quickstart --detach --port $port --data "$directory" "$@" >"$directory.printed" 2>&1; do
		grep -q "port $port is in use" "$directory.printed" || fail "$(cat "$directory.printed")"
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

# The programs of this machine without npm, Go and LiveKit, to which the rows below add some.
mkdir "$scratch/path" && chmod 755 "$scratch" || exit 1
for folder in /sbin /bin /usr/sbin /usr/bin; do
	ln -sf "$folder"/* "$scratch/path"
done
rm -f "$scratch/path/npm" "$scratch/path/go" "$scratch/path/livekit-server"
cat >"$scratch/npm" <<'END'
#!/bin/sh
exit 1
END
# A Go whose version is in the file go.version, and which builds the LiveKit below unless go.error has a text.
cat >"$scratch/go" <<END
#!/bin/sh
if [ "\$1" = version ]; then
	echo "go version go\$(cat "$scratch/go.version") linux/amd64"
	exit
fi
echo "\$PWD \$*" >>"$scratch/go.calls"
cat "$scratch/go.error" >&2 && exit 1
while [ "\$1" != -o ]; do
	shift
done
cp "$scratch/livekit-server" "\$2"
END
# In place of LiveKit: an nginx that answers at the port of the configuration.
cat >"$scratch/livekit-server" <<END
#!/bin/sh
[ "\$1" = --config ] || exit 1
folder=\$(mktemp -d "$scratch/stand-in/XXXXXX") || exit 1
cat >"\$folder/nginx.conf" <<CONF
daemon off;
master_process off;
pid \$folder/pid;
error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path \$folder/body;
	proxy_temp_path \$folder/proxy;
	fastcgi_temp_path \$folder/fastcgi;
	uwsgi_temp_path \$folder/uwsgi;
	scgi_temp_path \$folder/scgi;
	server {
		listen 127.0.0.1:\$(sed -n 's/^port: //p' "\$2");
		location / { return 200 '{"rooms":[]}'; }
		location /key/ { return 401 'invalid API key'; }
		location /secret/ { return 401 'token signature is invalid: signature is invalid'; }
		location /clock/ { return 401 'token is expired'; }
		location /other/ { return 404 'no such page'; }
	}
}
CONF
cd "\$folder"
PATH=\$PATH:/usr/sbin
exec nginx -p "\$folder" -c nginx.conf -e stderr
END
mkdir -m 1777 "$scratch/stand-in"
chmod 755 "$scratch/npm" "$scratch/go" "$scratch/livekit-server"
echo 1.25.1 >"$scratch/go.version"
sum=$(sha256sum <"$scratch/livekit-server")
sum=${sum%% *}

# refuses STATUS TEXT PROGRAMS ARGUMENT...: with these programs beside those of the machine, it ends with the status
# and the text, and leaves nothing.
refuses()
{
	wanted=$1
	text=$2
	programs=$3
	shift 3
	for name in $programs; do
		ln -s "$scratch/$name" "$scratch/path"
	done
	(cd "$scratch/bare" && PATH=$scratch/path sh nginx/quickstart --data "$scratch/none" "$@" >"$scratch/other" 2>&1)
	[ $? = "$wanted" ] && grep -qF -- "$text" "$scratch/other" || fail "$*: $(cat "$scratch/other"), not $text"
	[ "$(ls "$scratch/bare")" = nginx ] && [ ! -e "$scratch/none" ] || fail "$*: it makes $(ls -R "$scratch/bare" "$scratch/none")"
	for name in $programs; do
		rm "$scratch/path/$name"
	done
}
while IFS='|' read -r status text programs words; do
	# shellcheck disable=SC2086
	refuses "$status" "$text" "$programs" $words
done <<END
2|use only one of them||--call --with-livekit ws://127.0.0.1:7880 key $long
2|need --call||--livekit-from $scratch/livekit-server --livekit-sha256 $sum
2|need --call||--call-address 127.0.0.1
2|need --call||--call-servers 2
2|must be from 1 to 9, got 0||--call --call-servers 0
2|must be from 1 to 9, got 10||--call --call-servers 10
2|must be from 1 to 9, got two||--call --call-servers=two
2|use it with --call||--record
2|--record-option needs --record||--record-option --slots
2|need each other||--call --livekit-from $scratch/livekit-server
2|need each other||--call --livekit-sha256 $sum
2|must have 64 hexadecimal digits||--call --livekit-from $scratch/livekit-server --livekit-sha256 ${sum%?}
2|must have 64 hexadecimal digits||--call --livekit-from $scratch/livekit-server --livekit-sha256 ${sum%?}g
1|npm is missing, which gets livekit-client||--call
1|npm is missing, which gets livekit-client||--with-livekit ws://127.0.0.1:1 key $long
1|203.0.113.9 is not an address of this machine|npm go|--call --call-address 203.0.113.9
1|--call needs a LiveKit server|npm|--call
1|has another SHA-256 than the given one|npm|--call --livekit-from $scratch/go --livekit-sha256 $sum
1|cannot read $scratch/absent|npm|--call --livekit-from $scratch/absent --livekit-sha256 $sum
END
for version in 1.23.9 1.3 0.25; do
	echo $version >"$scratch/go.version"
	refuses 1 '--call needs a LiveKit server' 'npm go' --call
	[ "$(grep -cE '^  .*(golang-go|--livekit-from FILE|LIVEKIT_SERVER=)' "$scratch/other")" = 3 ] || fail "Go $version: $(cat "$scratch/other")"
done
echo 1.25.1 >"$scratch/go.version"
LIVEKIT_SERVER=$scratch/absent
export LIVEKIT_SERVER
refuses 1 'LIVEKIT_SERVER is not a program' npm --call
unset LIVEKIT_SERVER

# What takes long shows that it works: here without a terminal, by lines with the end of the log.
(
	. nginx/prepare.sh
	progress_every=1
	# It works until the line is there that says so.
	# shellcheck disable=SC2016
	with_progress Working "$scratch/log" timeout 60 \
		sh -c 'echo at it; until grep -q "^Working ... [0-9]* s  at it" "$1"; do sleep 0.1; done; exit 3' - "$scratch/other"
) >"$scratch/other" 2>&1
[ $? = 3 ] && [ "$(head -n 1 "$scratch/other")" = 'Working ...' ] || fail "what takes long: $(cat "$scratch/other")"

# The tokens for LiveKit are signed without any program for it.
while IFS='|' read -r key message signature; do
	# shellcheck disable=SC2016
	[ "$(sh -c '. nginx/call.sh; printf %s "$2" | hmac "$1"' - "$key" "$message")" = "$signature" ] ||
		fail "the signature of $message with a key of ${#key} characters"
done <<END
Jefe|what do ya want for nothing?|W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM
$(printf 'k%.0s' $(seq 64))|a|VV6TGinSnt88UUc8dUVhAKScwj1s2QuOaLCIfv5q3HI
$(printf 'k%.0s' $(seq 65))|b|ULBzVgH89duedJuNAEzi6T5cF8HkYdtu7v3evjzYkQY
$(printf 'x%.0s' $(seq 200))|c|A5SjVIC36Mezev3qxglvktQJ3wqxPp1BFQbrUNGVJh8
END

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

# The first port that is free is not one on which somebody listens.
[ "$(sh -c '. nginx/call.sh; free_port tcp "$1"' - "$first")" -gt "$first" ] || fail "port $first is free"

# Starts a LiveKit, or several, beside it. It needs livekit-client, so this part is for the copy, which gets another file
# for it.
call()
{
	start "$scratch/eight" --call "$@"
	livekit_port=$(sed -n 's/^port: //p' "$scratch/eight/livekit/livekit.yaml")
	curl -sf -o /dev/null "http://127.0.0.1:$livekit_port" || fail 'LiveKit does not run'
}
# The same data with three LiveKits: a pool, in which the rooms of the calls are. --stop stops all.
pool()
{
	call --call-servers 3
	[ "$(grep -c '^  LiveKit ' "$scratch/eight.printed")" = 3 ] || fail "three servers: $(cat "$scratch/eight.printed")"
	ports=
	for name in livekit livekit-2 livekit-3; do
		livekit_port=$(sed -n 's/^port: //p' "$scratch/eight/livekit/$name.yaml")
		ports="$ports $livekit_port"
		curl -sf -o /dev/null "http://127.0.0.1:$livekit_port" || fail "$name does not run"
		backend=$(get "/v2/backends?name=$name")
		case $backend in
		*"\"url\":\"ws://127.0.0.1:$livekit_port\""*'"create_rooms":true'*'"pool":"livekits"'*) ;;
		*) fail "$name: $backend" ;;
		esac
		grep -qF -- "- $(say_of events_url "$backend")" "$scratch/eight/livekit/$name.yaml" || fail "$name: its webhook"
	done
	[ "$(cat "$scratch"/eight/livekit/*.yaml | grep -E '^(port| *(tcp_port|udp_port|anteroom)):' | sort -u | wc -l)" = 12 ] ||
		fail "the servers share a port or a secret: $(cat "$scratch"/eight/livekit/*.yaml)"
	get '/v2/templates?name=calls' | grep -q '"backend":"livekits"' || fail "the template: $(get '/v2/templates?name=calls')"
	link=$(sed -n 's/^  call, host *\(http.*\)/\1/p' "$scratch/eight.printed")
	answer=$(curl -sS -d "{\"code\":\"${link##*/}\"}" "${link%/join/*}/v2/token")
	case " $ports " in
	*" $(printf '%s\n' "$answer" | sed -n 's|.*"url":"ws://127.0.0.1:\([0-9]*\)".*|\1|p') "*) ;;
	*) fail "the room is on none of the servers: $answer" ;;
	esac
	quickstart --stop --data "$scratch/eight" >/dev/null || fail 'it cannot be stopped with three servers'
	for livekit_port in $ports; do
		curl -s -o /dev/null "http://127.0.0.1:$livekit_port" && fail "a LiveKit runs although it was stopped: $livekit_port of$ports"
	done
}
if [ -n "${BRIEF-}" ]; then
	mkdir -p "$scratch/client/dist" && echo client >"$scratch/client/dist/livekit-client.umd.js" || exit 1
	digest=$(sha256sum <"$scratch/client/dist/livekit-client.umd.js")
	sed -i "s/^file_sha256=.*/file_sha256=${digest%% *}/" packaging/get-livekit-client
	sh packaging/get-livekit-client --from "$scratch/client" --pages build/web >"$scratch/other" || fail "$(cat "$scratch/other")"
	ln -s "$scratch/go" "$scratch/path"
	PATH=$scratch/path
	# What goes wrong before it runs leaves nothing.
	echo 'go: example.org: dial tcp: lookup example.org: no such host' >"$scratch/go.error"
	quickstart --call --data "$scratch/eight" --port "$first" >"$scratch/other" 2>&1 && fail 'a port in use was accepted'
	grep -q "port $first is in use" "$scratch/other" && [ ! -e "$scratch/go.calls" ] || fail "a busy port: $(cat "$scratch/other")"
	quickstart --call --data "$scratch/eight" --port $((first + 1)) >"$scratch/other" 2>&1 && fail 'no network: it starts'
	grep -q 'LiveKit cannot be built: go: example.org: dial tcp' "$scratch/other" || fail "no network: $(cat "$scratch/other")"
	[ ! -e "$scratch/eight" ] || fail "no network: it leaves $(ls -R "$scratch/eight")"
	rm "$scratch/go.error" "$scratch/go.calls"

	call
	for role in host member; do
		link=$(sed -n "s/^  call, $role *\(http.*\)/\1/p" "$scratch/eight.printed")
		answer=$(curl -sS "${link%/join/*}/v2/join/${link##*/}")
		case $answer in
		*'"title":"First call"'*'"call":"livekit"'*) ;;
		*) fail "$role: $link: $answer" ;;
		esac
		[ $role = host ] || case $answer in
		*'"admission":"ask"'*) ;;
		*) fail "a member comes in without knocking: $answer" ;;
		esac
	done
	token=$(sed -n 's/^MANAGEMENT_TOKEN=//p' "$scratch/eight/quickstart.env")
	get()
	{
		curl -sS --fail-with-body -H "Authorization: Bearer $token" "http://127.0.0.1:$port$1"
	}
	backend=$(get /v2/backends)
	case $backend in
	*"\"url\":\"ws://127.0.0.1:$livekit_port\""*'"default":true'*'"create_rooms":true'*) ;;
	*) fail "the media server: $backend" ;;
	esac
	get /v2/rooms | grep -q '"title":"Second call"' || fail "the rooms: $(get /v2/rooms)"
	[ "$(stat -c %a "$scratch/eight/livekit/livekit.yaml")" = 600 ] || fail 'the key of LiveKit can be read by all'
	for line in 'auto_create: false' 'resource_url_notifier:' "- $(say_of events_url "$backend")" '127.0.0.0/8'; do
		grep -qF -- "$line" "$scratch/eight/livekit/livekit.yaml" || fail "LiveKit's configuration has no $line"
	done
	secret=$(sed -n 's/^    anteroom: //p' "$scratch/eight/livekit/livekit.yaml")
	[ ${#secret} = 48 ] && ! grep -q "$secret" "$scratch/eight.printed" || fail "the secret of LiveKit: $secret"
	# It is restarted after a crash, and built once; a second start has the same key.
	kill -9 "$(sed 's/.* //' "$scratch/eight/livekit.lock")"
	tries=0
	until grep -q ' error livekit_ended name=livekit status=137 effect="it is restarted"' "$scratch/eight/anteroom.log" &&
		curl -sf -o /dev/null "http://127.0.0.1:$livekit_port"; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || fail "LiveKit is not restarted: $(tail "$scratch/eight/anteroom.log")"
		sleep 0.1
	done
	quickstart --stop --data "$scratch/eight" >/dev/null || fail 'it cannot be stopped with --call'
	curl -s -o /dev/null "http://127.0.0.1:$livekit_port" && fail 'LiveKit runs although it was stopped'
	call
	[ "$(sed -n 's/^    anteroom: //p' "$scratch/eight/livekit/livekit.yaml")" = "$secret" ] || fail 'another key'
	quickstart --stop --data "$scratch/eight" >/dev/null || fail 'it cannot be stopped with --call'
	pool
	call
	[ "$(get /v2/backends | grep -o '"pool":"livekits"' | wc -l)" = 1 ] || fail "the pool with one server: $(get /v2/backends)"
	[ "$(wc -l <"$scratch/go.calls")" = 1 ] || fail "LiveKit is built again: $(cat "$scratch/go.calls")"
	grep -q '^[^ ]*/packaging/livekit build .*github.com/livekit/livekit-server/cmd/server$' "$scratch/go.calls" ||
		fail "Go: $(cat "$scratch/go.calls")"
	# A LiveKit that runs is asked before anything is built.
	while IFS='|' read -r text path; do
		quickstart --with-livekit "ws://127.0.0.1:$livekit_port$path" key "$long" --data "$scratch/nine" >"$scratch/other" 2>&1
		[ $? = 1 ] && grep -qF "$text" "$scratch/other" && [ ! -e "$scratch/nine" ] || fail "$path: $(cat "$scratch/other")"
	done <<-END
		does not have the key key|/key/
		has another secret for the key key|/secret/
		rejects the key: token is expired|/clock/
		is not a LiveKit (status 404)|/other/
	END
	quickstart --stop --data "$scratch/eight" >/dev/null || fail 'it cannot be stopped with --call'
	quickstart --with-livekit "ws://127.0.0.1:$livekit_port" key "$long" --data "$scratch/nine" >"$scratch/other" 2>&1
	[ $? = 1 ] && grep -q 'LiveKit does not answer at' "$scratch/other" && [ ! -e "$scratch/nine" ] ||
		fail "no LiveKit: $(cat "$scratch/other")"
	# A release is an archive, and its digest is checked. (The program in PATH would come first.)
	rm "$scratch/path/go"
	tar -C "$scratch" -czf "$scratch/release.tar.gz" livekit-server || exit 1
	sum=$(sha256sum <"$scratch/release.tar.gz")
	rm -r "$scratch/eight/livekit"
	start "$scratch/eight" --call --livekit-from "$scratch/release.tar.gz" --livekit-sha256 "${sum%% *}"
	grep -q "^sha256 ${sum%% *}\$" "$scratch/eight/livekit/origin" || fail "the release: $(cat "$scratch/eight/livekit/origin")"
	quickstart --stop --data "$scratch/eight" >/dev/null || fail 'it cannot be stopped with a release'
	exit 0
fi

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
	echo "port: $1" >"$scratch/port"
	[ -z "$stand_in" ] || kill "$stand_in"
	sh "$scratch/livekit-server" --config "$scratch/port" >"$scratch/other" 2>&1 &
	stand_in=$!
	start "$scratch/seven" --no-sample --with-livekit "ws://127.0.0.1:$1" key 0123456789abcdef0123456789abcdef
}
if grep -q 'name="livekit-client" content="/' build/web/join.html || npm view livekit-client version >/dev/null 2>&1; then
	livekit=$(sh -c '. nginx/call.sh; free_port tcp "$1"' - $(($$ % 20000 + 10000)))
	with_livekit "$livekit"
	quickstart --stop --data "$scratch/seven" >/dev/null || fail 'it cannot be stopped with LiveKit'
	livekit=$(sh -c '. nginx/call.sh; free_port tcp "$1"' - $((livekit + 1)))
	with_livekit "$livekit"
	curl -sS -H "Authorization: Bearer $(sed -n 's/^MANAGEMENT_TOKEN=//p' "$scratch/seven/quickstart.env")" \
		"http://127.0.0.1:$port/v2/backends" | grep -q '"default":true' || fail 'LiveKit is not the default'
	[ ! -e "$scratch/seven/livekit.json" ] || fail 'the secret of LiveKit is left in a file'
	for role in host guest; do
		link=$(sed -n "s/^  call, $role *\(http.*\)/\1/p" "$scratch/seven.printed")
		curl -sS "$link" | grep -q 'name="livekit-client" content="/' || fail "$link: no call"
		curl -sS "${link%/join/*}/v2/join/${link##*/}" | grep -q '"call":"livekit"' || fail "$link does not lead to a call"
		curl -sS -d "{\"code\":\"${link##*/}\"}" "${link%/join/*}/v2/token" | grep -q "\"url\":\"ws://127.0.0.1:$livekit\"" ||
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
