#!/bin/sh
# The installed site for nginx: the public server over IPv4 and IPv6, the separate server for metrics and
# health checks, ACME, the same with TLS, the limits for IPv6 clients, what a proxy in front says, what the
# fail2ban filter finds in the log, and the script of the containers that connects LiveKit.
set -u
test=tests/scripts/site.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
for needed in nginx spawn-fcgi curl openssl; do
	have $needed || { say "needs $needed" && exit 77; }
done
become_ordinary
make_scratch
make_pages
site=$source/packaging/nginx/site.conf.in
left_out=

ipv6=yes
grep -qs ' lo$' /proc/net/if_inet6 || ipv6=no
[ $ipv6 = yes ] || left_out="$left_out, IPv6 (this machine has none)"

# The public server uses a port of 127.0.0.1 and ::1, the server for metrics the next port. The site is
# behind a proxy, so that the test can use any client address.
places="s|listen 80;|listen @LISTEN@;|
s|listen \\[::\\]:80;|listen [::1]:@PORT@;|
s|listen 127.0.0.1:9765|listen 127.0.0.1:@NEXT_PORT@|
s|listen \\[::1\\]:9765|listen [::1]:@NEXT_PORT@|
s|/var/www/html|$scratch/www|
s|^.*without TLS\$|&\\
	set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP;|"
[ $ipv6 = yes ] || places="/listen \\[/d
$places"

# The public server lets one site show the join page in a frame.
places="$places
/EMBEDDING/,/}/s|\"'none'\"|\"https://app.example.org\"|"

# expect STATUS URL [ARGUMENT...]: writes the body to body, and the headers to headers.
expect()
{
	status=$1
	url=$2
	shift 2
	: >body
	got=$(curl -sS --max-time 120 --path-as-is -D headers -o body -w '%{http_code}' "$@" "$url" 2>&1)
	# shellcheck disable=SC2254
	case $got in
	$status) ;;
	*) fail "$url: $got, not $status: $(head -c 300 body)" ;;
	esac
}

# check_operation BASE: checks the server for metrics and health checks.
check_operation()
{
	expect 200 "$1/healthz"
	expect 200 "$1/readyz" -H 'Host: rooms.example.org'
	expect 200 "$1/metrics"
	grep -q '^anteroom_store_writable 1$' body || fail "$1/metrics: $(cat body)"
	for path in / /v2/templates /v2/openapi.json /metrics/ //metrics /v2/../metrics/x; do
		expect 404 "$1$path" -H "Authorization: Bearer $token"
		[ "$(cat body)" = '{"code":404,"message":"Not found"}' ] || fail "$1$path: $(cat body)"
	done
}

# check_public BASE: checks that the public server has the API but no metrics, even for this machine.
hidden='/healthz /readyz /metrics /metrics/ /metrics?x /%6detrics //metrics /./metrics /v2/../metrics'
check_public()
{
	expect 200 "$1/v2/templates" -H "Authorization: Bearer $token"
	for path in $hidden; do
		for host in localhost 127.0.0.1 rooms.example.org; do
			expect 404 "$1$path" -H "Host: $host"
			grep -q '^{"code":404,"message":"' body || fail "$1$path: $(cat body)"
		done
	done
}

mkdir -p www/.well-known/acme-challenge && echo answer >www/.well-known/acme-challenge/question || exit 1
check_acme()
{
	expect 200 "$1/.well-known/acme-challenge/question"
	[ "$(cat body)" = answer ] || fail "ACME: $(cat body)"
	expect 404 "$1/.well-known/acme-challenge/other"
}

# check_scheme: what the client used decides how links begin, whether a cookie is only for TLS, and where the join
# page may connect. X-Forwarded-Proto counts where set_real_ip_from replaced the address, and nowhere else. The
# rows have what the client sends; with "own", what counts is whether the site itself has TLS ($tls).
check_scheme()
{
	expect 200 "$base/v2/templates" -H "Authorization: Bearer $token" \
		-d '{"name":"scheme","default":true,"roles":{"host":{}}}'
	expect 200 "$base/v2/rooms" -H "Authorization: Bearer $token" -d '{"name":"scheme"}'
	room=$(sed -n 's/^{"id":"\([0-9a-f]*\)".*/\1/p' body)
	expect 200 "$base/v2/room-codes/room/$room" -H "Authorization: Bearer $token" -X POST
	while IFS='|' read -r from address proto scheme; do
		set -- --interface "$from" -H "Host: rooms.example.org"
		[ -z "$address" ] || set -- "$@" -H "X-Real-IP: $address"
		[ -z "$proto" ] || set -- "$@" -H "X-Forwarded-Proto: $proto"
		case $scheme/$tls in
		own/on) scheme=https ;;
		own/off) scheme=http ;;
		esac
		what="from $from, X-Real-IP: $address, X-Forwarded-Proto: $proto"
		expect 200 "$base/v2/room-codes/room/$room?view=link" "$@" -H "Authorization: Bearer $token"
		grep -q "\"join_url\":\"$scheme://rooms.example.org/join/" body || fail "$what: not $scheme: $(cat body)"
		expect 204 "$base/v2/session" "$@" -H 'Anteroom-Console: 1' -d "{\"token\":\"$token\"}"
		case $scheme in
		https) grep -qi '^set-cookie: __Host-anteroom=.*; Secure;' headers ;;
		http) grep -qi '^set-cookie: anteroom=' headers && ! grep -qi '; Secure' headers ;;
		esac || fail "$what: not $scheme: $(cat headers)"
		expect 200 "$base/join/abc-defg-hij" "$@"
		case $scheme in
		https) grep -q "media-src 'self' https:; connect-src 'self' https: wss:;" headers ;;
		http) grep -q "media-src 'self' https:; connect-src 'self' https: wss: http: ws:;" headers ;;
		esac || fail "$what: not $scheme: $(cat headers)"
	done <<END
127.0.0.1|||own
127.0.0.1|192.0.2.1||own
127.0.0.1|192.0.2.1|https|https
127.0.0.1|192.0.2.1|HTTPS|https
127.0.0.1|192.0.2.1|http|http
127.0.0.1|2001:db8::1|https|https
127.0.0.1|192.0.2.1|https, http|own
127.0.0.1|192.0.2.1|on|own
127.0.0.1||https|own
127.0.0.1||http|own
127.0.0.1|127.0.0.1|https|own
127.0.0.2|192.0.2.1|https|own
127.0.0.2|192.0.2.1|http|own
127.0.0.2||https|own
END
}

# ---- without TLS ----

start_responder site
start_nginx site "$places"
operation=http://127.0.0.1:$((port + 1))
check_public "$base"
check_operation "$operation"
check_acme "$base"
tls=off
check_scheme
expect 200 "$base/join/abc-defg-hij"
grep -q '; frame-ancestors https://app.example.org; ' headers || fail "the join page in a frame: $(cat headers)"
for path in / /console/ /v2/openapi.json; do
	expect '[23]0[02]' "$base$path"
	grep -q "; frame-ancestors 'none'" headers || fail "$path in a frame: $(cat headers)"
done
if [ $ipv6 = yes ]; then
	check_public "http://[::1]:$port"
	check_operation "http://[::1]:$((port + 1))"
	check_acme "http://[::1]:$port"
fi
curl -sS --max-time 5 --interface 127.0.0.1 "http://127.0.0.2:$((port + 1))/metrics" >/dev/null 2>&1 &&
	fail 'the metrics are on another address too'

# ---- the limits count an IPv6 /64 as one client ----

# join ADDRESS N: sends N join requests at once, and prints how many were accepted.
join()
{
	curl -sS --max-time 120 -o /dev/null -w '%{http_code}\n' -d '{}' -H "X-Real-IP: $1" \
		"$base/v2/token?[1-$2]" | grep -c '^400$'
}

# 200 at once are accepted, and 50 more per second.
while read -r first second same; do
	[ "$(join "$first" 1500)" -lt 1500 ] || fail "$first: join requests are not limited"
	let_through=$(join "$second" 250)
	case $same in
	same) [ "$let_through" -lt 200 ] ;;
	other) [ "$let_through" -ge 200 ] ;;
	esac || fail "$second after $first: $let_through of 250 are accepted, but it is the $same client"
done <<'END'
2001:db8::1 2001:db8::ffff:2 same
2001:db8:1:2:3:4:5:6 2001:db8:1:2:ffff:ffff:ffff:ffff same
2001:db8:0:1::1 2001:db8:0:2::1 other
2001:db8:7:1::1 2001:db8:8:1::1 other
2001:db8:0:a:: 2001:db8:0:a:1:: same
192.0.2.1 192.0.2.2 other
192.0.2.3 ::ffff:192.0.2.3 same
::ffff:192.0.2.4 ::ffff:192.0.2.5 other
::1 ::2 same
END

# ---- events of media servers ----

# A media server sends an event again after 503, but not after 429. Bodies that arrive slowly keep requests
# open; each address has a limit of its own.
events=$base/v2/backends/000000000000000000000000/events
head -c 40000 /dev/zero | tr '\0' x >slow
curl -sS --parallel --parallel-immediate --parallel-max 80 --limit-rate 20000 --max-time 120 \
	-H 'X-Real-IP: 192.0.2.1' -H 'Expect:' --data-binary @slow -o /dev/null -w '%{http_code}\n' \
	"$events?[1-80]" >answers 2>curl.log &
pid=$!
tries=0
until [ "$(curl -sS -D headers -o body -w '%{http_code}' -H 'X-Real-IP: 192.0.2.1' -d '{}' "$events")" = 503 ]; do
	tries=$((tries + 1))
	[ $tries -lt 200 ] || fail "80 events at once: $(sort answers | uniq -c)"
	sleep 0.05
done
grep -qi '^retry-after: ' headers && [ "$(cat body)" = '{"code":503,"message":"The service is unavailable"}' ] ||
	fail "too many events: $(cat headers body)"
expect 401 "$events" -H 'X-Real-IP: 192.0.2.2' -d '{}'
expect 200 "$base/v2/templates" -H 'X-Real-IP: 192.0.2.1' -H "Authorization: Bearer $token"
wait $pid
[ "$(grep -c '^401$' answers)" -ge 60 ] && [ "$(grep -cv '^401$\|^503$' answers)" = 0 ] ||
	fail "80 events at once: $(sort answers | uniq -c)"
head -c 300000 /dev/zero | tr '\0' x >large
expect 413 "$events" --data-binary @large
# Backends themselves are not affected.
expect 401 "$base/v2/backends" -d '{}'
expect 401 "$base/v2/backends/000000000000000000000000" -X DELETE
expect 404 "$base/v2/backends/000000000000000000000000/event" -H "Authorization: Bearer $token" -d '{}'

# Pages of other origins can read nginx's errors for live rooms.
expect 413 "$base/v2/active-rooms/x/peers" --data-binary @large
grep -qi '^access-control-allow-origin: \*' headers || fail "an error for another origin: $(cat headers)"

# ---- what connects LiveKit in the containers ----

mkdir bin livekit && ln -s "$program" bin/anteroom || exit 1
connect()
{
	PATH=$scratch/bin:$PATH ANTEROOM_DATA=$scratch/site ANTEROOM_URL=$base LIVEKIT_CONFIG=$scratch/livekit/livekit.yaml \
		ACCOUNT=$1 sh "$source/packaging/container/connect-livekit" >connect.log 2>&1
}
# value NAME: prints a value of LiveKit's configuration.
value()
{
	sed -n "s/^ *$1: *//p" livekit/livekit.yaml
}
connect nobody && fail 'an account that does not exist is connected'
grep -q 'there is no account nobody; create it with: docker compose run --rm anteroom account add nobody' connect.log ||
	fail "an unknown account: $(cat connect.log)"
connect test || fail "connecting LiveKit: $(cat connect.log)"
[ "$(ls livekit)" = livekit.yaml ] && [ "$(stat -c %a livekit/livekit.yaml)" = 600 ] || fail "LiveKit: $(ls -l livekit)"
secret=$(value anteroom)
[ ${#secret} = 48 ] || fail "the secret of LiveKit: $secret"
urls=$(sed -n 's/^ *- //p' livekit/livekit.yaml)
printf '{"event":"room_started","id":"EV_1","createdAt":"%d","room":{"sid":"RM_1","name":"x"}}' "$(date +%s)" >event
[ "$(tell anteroom "$secret" "$urls" <event)" = 204 ] || fail "an event at $urls: $(cat told.answer)"
[ "$(tell anteroom "${secret}0" "$urls" <event)" = 401 ] || fail "an event with another secret: $(cat told.answer)"
expect 200 "$base/v2/backends" -H "Authorization: Bearer $token"
grep -q '"url":"ws://127.0.0.1:7880".*"default":true' body && grep -q '"api_url":"http://livekit:7880"' body ||
	fail "LiveKit is $(cat body)"
for name in livekit nginx; do
	grep -q "^  $name:\$" "$source/packaging/container/compose.yaml" &&
		grep -q ":-http://$name" "$source/packaging/container/connect-livekit" || fail "no container is called $name"
done
# Its ports are published, and its configuration is where it looks for it.
for published in 7880 "$(value tcp_port)" "$(value udp_port)/udp"; do
	grep -qE "^ +- '.*:${published%/udp}:$published'\$" "$source/packaging/container/compose.yaml" ||
		fail "port $published is not published"
done
cp livekit/livekit.yaml before
connect test && cmp -s before livekit/livekit.yaml || fail "connecting twice: $(cat connect.log)"
rm livekit/livekit.yaml
connect test || fail "a new key: $(cat connect.log)"
[ "$(value anteroom)" != "$secret" ] && [ "$(sed -n 's/^ *- //p' livekit/livekit.yaml)" = "$urls" ] ||
	fail "a new key: $(cat livekit/livekit.yaml)"
[ "$(tell anteroom "$(value anteroom)" "$urls" <event)" = 204 ] || fail "an event with the new key: $(cat told.answer)"

# ---- what sets up a LiveKit on this machine ----

setup()
{
	ANTEROOM_URL=$base ANTEROOM_TOKEN=$token "$program" setup-livekit "$@" --config set/livekit.yaml >setup.log 2>&1
}
# Prints the media servers in the response, without what changes by itself.
servers()
{
	sed 's/"health":{[^}]*}//g; s/"last_event_at":[^,]*,//g' body
}
setup
if grep -q 'built without libcurl' setup.log; then
	say 'this build has no libcurl: setup-livekit is left out'
else
	# What is wrong leaves nothing. An expected text and the arguments, a row a case.
	expect 200 "$base/v2/backends" -H "Authorization: Bearer $token"
	servers >before
	while IFS='|' read -r text words; do
		# shellcheck disable=SC2086
		setup $words && fail "setup-livekit $words: $(cat setup.log)"
		grep -qF -- "$text" setup.log || fail "setup-livekit $words: $(cat setup.log), not $text"
		[ ! -e set ] || fail "setup-livekit $words: it leaves $(ls -la set)"
	done <<-END
		URL is missing|
		must be a ws or wss URL|https://livekit.example.org
		/api_url|wss://livekit.example.org --api-url livekit
		--node-ip must be an address|wss://livekit.example.org --node-ip 127.0.0.1]
		cannot open absent|wss://livekit.example.org --token-file absent
	END
	expect 200 "$base/v2/backends" -H "Authorization: Bearer $token"
	servers | cmp -s before - || fail "setup-livekit changed the media servers: $(cat body)"
	setup wss://livekit.example.org --name own --api-url http://127.0.0.1:7880 --node-ip 203.0.113.5 ||
		fail "setup-livekit: $(cat setup.log)"
	grep -q 'Open in the firewall: TCP 443 .* TCP 7881 and UDP 7882' setup.log || fail "setup-livekit: $(cat setup.log)"
	[ "$(ls set)" = livekit.yaml ] && [ "$(stat -c %a set/livekit.yaml)" = 600 ] || fail "setup-livekit: $(ls -l set)"
	for line in 'port: 7880' '    tcp_port: 7881' '    udp_port: 7882' '    node_ip: 203.0.113.5' '    auto_create: false'; do
		grep -qxF "$line" set/livekit.yaml || fail "setup-livekit: no line $line: $(cat set/livekit.yaml)"
	done
	secret=$(sed -n 's/^    anteroom: //p' set/livekit.yaml)
	urls=$(sed -n 's/^ *- //p' set/livekit.yaml)
	[ "$(tell anteroom "$secret" "$urls" <event)" = 204 ] || fail "an event at $urls: $(cat told.answer)"
	expect 200 "$base/v2/backends?name=own" -H "Authorization: Bearer $token"
	grep -q '"url":"wss://livekit.example.org".*"default":true.*"create_rooms":true' body || fail "LiveKit is $(cat body)"
	# The media server that was there is another one.
	expect 200 "$base/v2/backends?name=livekit" -H "Authorization: Bearer $token"
	grep -q '"name":"livekit"' body || fail "the media server that was there is gone: $(cat body)"
	cp set/livekit.yaml before
	setup wss://livekit.example.org --name own && fail 'setup-livekit replaces a configuration'
	grep -q 'already exists; delete it for a new key' setup.log && cmp -s before set/livekit.yaml ||
		fail "setup-livekit twice: $(cat setup.log)"
	rm set/livekit.yaml
	own=$(say "$urls" | sed 's|/events$||')
	expect 200 "$own" -X PATCH -d '{"pool":"meetings","weight":200}' -H "Authorization: Bearer $token"
	setup wss://livekit.example.org --name own || fail "a new key: $(cat setup.log)"
	expect 200 "$own" -H "Authorization: Bearer $token"
	grep -q '"pool":"meetings","weight":200' body && ! grep -q '"api_url"' body ||
		fail "set up again, LiveKit is $(cat body)"
	[ "$(tell anteroom "$(sed -n 's/^    anteroom: //p' set/livekit.yaml)" "$urls" <event)" = 204 ] ||
		fail "an event with the new key: $(cat told.answer)"
	grep -qxF '    use_external_ip: true' set/livekit.yaml || fail "setup-livekit: $(cat set/livekit.yaml)"
	expect 204 "$own" -X DELETE -H "Authorization: Bearer $token"
fi

# ---- what fail2ban finds in the log ----

# call ADDRESS EXPECTED STATUS PATH [ARGUMENT...]: EXPECTED is "found" or "passed".
: >expected
call()
{
	address=$1
	[ "$2" = passed ] || say "$address" >>expected
	status=$3
	path=$4
	shift 4
	expect "$status" "$base$path" -H "X-Real-IP: $address" "$@"
}
call 198.51.100.1 found 401 /v2/templates
call 198.51.100.2 found 401 /v2/rooms -H 'Authorization: Bearer wrong'
call 198.51.100.3 found 401 '/v2/rooms?name=abc-defg-hij' -H "Authorization: Bearer ${token%?????}AAAAA"
call 198.51.100.4 found 401 /v2/templates/000000000000000000000000 -X DELETE
call 198.51.100.5 found 404 /v2/token -d '{"code":"abc-defg-hij"}'
call 198.51.100.6 found 404 /v2/token/ -d '{"code":"abc-defg-hij"}'
call 198.51.100.7 found 404 '/v2/token?x=%20200%20' -d '{"code":"abc-defg-hij"}'
call 2001:db8::8 found 404 /v2/token -d '{"code":"abc-defg-hij"}'
call 2001:db8::9 found 401 /v2/templates
call 198.51.100.11 passed 200 /v2/templates -H "Authorization: Bearer $token"
call 198.51.100.12 passed 404 /v2/templates/000000000000000000000401 -H "Authorization: Bearer $token"
call 198.51.100.13 passed 405 /v2/token
call 198.51.100.14 passed 400 /v2/token -d '{}'
call 198.51.100.15 passed 404 '/%20401%20' -H "Authorization: Bearer $token"
call 198.51.100.16 passed 404 '/x?%0a198.51.100.99%20POST%20/v2/token%20404%20'
call 198.51.100.17 passed 200 /v2/templates -H "Authorization: Bearer $token" \
	-H 'X-Request-Id: 401'
call 198.51.100.19 passed 401 /v2/backends/000000000000000000000000/events -d '{}'
call 198.51.100.20 found 401 /v2/backends/000000000000000000000000/test -d '{}'
call 198.51.100.21 found 404 /v2/livekit/abc-defg-hij -d '{}'
call 198.51.100.18 passed 413 /v2/token --data-binary @large
# nginx writes its log after a second.
tries=0
until grep -E '^(198\.51\.100\.|2001:db8::[89] )' nginx-site/access.log >lines && [ "$(wc -l <lines)" = 20 ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || fail "nginx does not write its log: $(cat lines)"
	sleep 0.1
done
sort -o expected expected

# Like fail2ban, remove the time before the expressions are applied.
filter=$source/packaging/examples/fail2ban/filter.conf
sed -n 's/^failregex = //p; s/^            ^/^/p' "$filter" |
	sed 's/<ADDR>/[0-9a-f.:]+/; s/\\s/ /g; s/\\S/[^ ]/g' >expressions
[ "$(wc -l <expressions)" = 4 ] || fail "the filter: $(cat expressions)"
sed -n 's/^ignoreregex = //p' "$filter" | sed 's/<ADDR>/[0-9a-f.:]+/; s/\\s/ /g' >exceptions
[ "$(wc -l <exceptions)" = 1 ] || fail "the exceptions of the filter: $(cat exceptions)"
sed -E 's/ [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[+-][0-9]{2}:[0-9]{2} / /' lines |
	grep -E -f expressions | grep -vE -f exceptions | sed 's/ .*//' | sort >found
cmp -s expected found || fail "the expressions find $(cat found), not $(cat expected) in $(cat lines)"
if have fail2ban-regex; then
	fail2ban-regex -o ip lines "$filter" >unsorted 2>fail2ban.log || fail 'fail2ban-regex'
	sort unsorted >found
	cmp -s expected found || fail "fail2ban finds $(cat found), not $(cat expected) in $(cat lines)"
	say 'fail2ban has read the log.'
else
	left_out="$left_out, fail2ban itself (fail2ban-regex is not installed)"
fi
end_all

# ---- with TLS ----

make_certificate
start_responder tls
mkdir nginx-tls && cp -R nginx-site/temporary nginx-tls || exit 1
# With the location that the manual has for a load balancer.
start_nginx tls "$(with_tls)
s|^.*ssl_protocols.*|&\\
	set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP;\\
	location = /readyz { allow 127.0.0.1; deny all; fastcgi_pass anteroom; }|"
CURL_CA_BUNDLE=$scratch/certificate.pem
export CURL_CA_BUNDLE
hidden=$(say "$hidden" | sed 's| /readyz||')
check_public "https://127.0.0.1:$port"
expect 200 "https://127.0.0.1:$port/readyz"
expect 403 "https://127.0.0.1:$port/readyz" --interface 127.0.0.2
check_operation "http://127.0.0.3:$port"
base=https://127.0.0.1:$port
expect 200 "$base/join/abc-defg-hij"
grep -q "; frame-ancestors 'none'; " headers || fail "the join page in a frame: $(cat headers)"
tls=on
check_scheme
plain=http://127.0.0.4:$port
check_acme "$plain"
for path in / /v2/templates '/v2/rooms?limit=10&name=a%20b' /metrics /v2/room-codes/code/abc-defg-hij; do
	expect 308 "$plain$path" -H 'Host: rooms.example.org'
	location=$(tr -d '\r' <headers | sed -n 's/^Location: //p')
	[ "$location" = "https://rooms.example.org$path" ] || fail "$path is sent to $location"
done
expect 308 "$plain/v2/token" -d '{"code":"abc-defg-hij"}' -H 'Referer: https://app.example/abc-defg-hij'
end_all
cat nginx-tls/*.log >all.logs
[ -s all.logs ] || fail 'nothing was logged'
grep abc-defg-hij all.logs && fail 'the log has a code'

[ -z "$left_out" ] || { say "left out: ${left_out#, }" && exit 77; }
exit 0
