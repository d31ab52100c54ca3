#!/bin/sh
# Anteroom behind each web server in the README, with the example sites of the tree, all as an ordinary
# user: nginx with spawn-fcgi, nginx with TLS and HTTP/2, lighttpd and mod_fcgid, which start the program
# themselves, and Apache's mod_proxy_fcgi. For each, the test creates and reads a template, and checks
# what web servers often get wrong. A web server that is not installed is named and skipped.
set -u
test=tests/scripts/front_ends.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
become_ordinary
make_scratch
make_pages
modules=/usr/lib/apache2/modules
missing=
for needed in nginx spawn-fcgi openssl lighttpd apache2; do
	have $needed || missing="$missing $needed"
done
for needed in proxy_fcgi fcgid; do
	[ -e $modules/mod_$needed.so ] || missing="$missing mod_$needed"
done

# ---- requests that each web server must pass on ----

# call METHOD PATH [ARGUMENT...]: prints the status, a space and the body; writes the headers to headers.
call()
{
	method=$1
	path=$2
	shift 2
	: >body
	printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl --config - -sS --max-time 120 --path-as-is -X "$method" -D headers -o body \
			-w '%{http_code} ' "$@" "$base$path" 2>&1
	cat body
}

expect()
{
	what=$1
	pattern=$2
	shift 2
	answer=$(call "$@")
	# shellcheck disable=SC2254
	case $answer in
	$pattern) ;;
	*) fail "$front_end: $what: $(say "$answer" | head -c 300)" ;;
	esac
}

header()
{
	tr -d '\r' <headers | sed -n "s/^$1: *//Ip"
}

# Prints N bytes of JSON, most of them in an unknown field.
body_of()
{
	printf '{"x":"%*s"}' $(($1 - 8)) ''
}

# Prints N letters.
letters()
{
	printf "%$1s" '' | tr ' ' x
}

# What the examples for Apache, lighttpd and shared hosting say in this test about frames; the nginx of the tests
# says nothing.
embedding='https://app.example.org https://other.example.org:8443'
embed="/frame[-_]ancestors.*'none'/s|'none'\\(\"*\\)\$|$embedding\\1|"

# check_rights PAGE: the console connects to nothing else, uses no device and is in no frame. The join page, which shows
# calls, may connect to others and use devices, without TLS only if it has none itself, and be in frames of the sites
# above. Both play recordings, which may be on other servers. The recorder connects as the join page does, and has a
# worker.
check_rights()
{
	ancestors="'none'"
	devices='camera=(), microphone=(), display-capture=(), geolocation=()'
	sources=" https: wss: http: ws:"
	case $base in
	https:*) sources=" https: wss:" ;;
	esac
	types="'none'"
	more=" media-src 'self' https:;"
	case $1 in
	/join*)
		case $front_end in
		nginx*) ;;
		*) ancestors=$embedding ;;
		esac
		devices='camera=(self), microphone=(self), display-capture=(self), screen-wake-lock=(self), fullscreen=(self), geolocation=()'
		;;
	/record*)
		types=anteroom-worker
		more=" worker-src 'self';"
		;;
	/watch*)
		sources=
		more=" media-src 'self' blob:;"
		devices='camera=(), microphone=(), display-capture=(), screen-wake-lock=(self), fullscreen=(self), geolocation=()'
		;;
	*) sources= ;;
	esac
	case "$(header Content-Security-Policy)" in
	*"script-src 'self';"*"trusted-types $types") ;;
	*) fail "$front_end: $1: $(cat headers)" ;;
	esac
	case "$(header Content-Security-Policy)" in
	*" img-src 'self';$more connect-src 'self'$sources; "*) ;;
	*) fail "$front_end: $1: $(header Content-Security-Policy)" ;;
	esac
	case "$(header Content-Security-Policy)" in
	*"; frame-ancestors $ancestors; "*) ;;
	*) fail "$front_end: $1: not in frames of $ancestors: $(header Content-Security-Policy)" ;;
	esac
	[ -z "$(header X-Frame-Options)" ] || fail "$front_end: $1: X-Frame-Options: $(header X-Frame-Options)"
	[ "$(header Permissions-Policy)" = "$devices" ] || fail "$front_end: $1: $(header Permissions-Policy)"
}

# Checks the pages for browsers.
check_pages()
{
	expect 'the way to the console' '302 *' GET /
	[ "$(header Location | sed 's|^https\{0,1\}://[^/]*||')" = /console/ ] ||
		fail "$front_end: / leads to $(header Location)"
	for page in /console /console/ /console/rooms /record /record/ /watch /watch/AbCdEfGhIjKlMnOpQrStUv /join /join/abc-defg-hij /join/own-words; do
		expect "$page" '200 <!doctype html>*' GET "$page"
		case $(header Content-Type) in
		text/html*) ;;
		*) fail "$front_end: $page is $(header Content-Type)" ;;
		esac
		check_rights "$page"
		[ "$(header Cache-Control)" = no-cache ] || fail "$front_end: $page: $(header Cache-Control)"
	done
	grep -q 'join/main.js' body || fail "$front_end: /join is not the join page"
	script=$(sed -n 's|.*src="\(/web/[^"]*\)".*|\1|p' body)
	expect 'a script' '200 *SPDX-*' GET "$script"
	case $(header Content-Type) in
	text/javascript*) ;;
	*) fail "$front_end: $script is $(header Content-Type)" ;;
	esac
	case $(header Cache-Control) in
	*immutable) ;;
	*) fail "$front_end: $script: $(header Cache-Control)" ;;
	esac
	expect 'no script' '404 *' GET "${script%.js}"
	case $front_end in
	nginx*) check_pages_of_nginx ;;
	esac
}

# Pages are read-only, and their responses have a request ID like all others.
check_pages_of_nginx()
{
	for page in / /console/ /record/ /watch/x /join/abc-defg-hij "$script"; do
		expect "$page with an id" '[23]0[02] *' GET "$page" -H 'X-Request-Id: the-client.2'
		[ "$(header X-Request-Id)" = the-client.2 ] ||
			fail "$front_end: $page: X-Request-Id is $(header X-Request-Id)"
	done
	for page in /console /console/ /console/rooms/x /record/ /watch/x /join/abc-defg-hij "$script"; do
		expect "POST of $page" '405 {"code":405,*' POST "$page" -d '{}'
		[ "$(header Allow)" = 'GET, HEAD' ] ||
			fail "$front_end: POST of $page allows $(header Allow)"
	done
}

check()
{
	front_end=$1
	say "$front_end"
	expect 'making a template' '200 {"id":"*' POST /v2/templates -d '{"name":"made","roles":{"host":{}}}'
	id=$(sed -n 's/^{"id":"\([0-9a-f]*\)".*/\1/p' body)
	expect 'reading it' "200 {\"id\":\"$id\",\"name\":\"made\",*" GET "/v2/templates/$id" \
		-H 'X-Request-Id: the-client.1'
	[ "$(header X-Request-Id)" = the-client.1 ] || fail "$front_end: X-Request-Id is missing"
	etag=$(header ETag)
	expect '304' '304 ' GET "/v2/templates/$id" -H "If-None-Match: $etag"
	expect '412' '412 {"code":412,*' PATCH "/v2/templates/$id" -d '{}' -H 'If-Match: "none"'
	expect 'If-Match' '200 *' PATCH "/v2/templates/$id" -d '{"settings":{"region":"eu"}}' \
		-H "If-Match: $etag"
	[ "$(header ETag)" != "$etag" ] || fail "$front_end: the ETag did not change"
	expect 'a role with a space' '200 {"name":"stage left",*' \
		POST "/v2/templates/$id/roles/stage%20left" -d '{}'
	expect 'a role like a file' '200 {"name":"stage.inc",*' \
		POST "/v2/templates/$id/roles/stage.inc" -d '{}'
	expect 'an encoded slash' '400 {"code":400,*' GET "/v2/templates/$id/roles/a%2Fb"
	expect 'an encoded question mark' '404 *Role not found*' GET "/v2/templates/$id/roles/a%3Fb"
	expect 'a control character' '404 *Role not found*' GET "/v2/templates/$id/roles/a%01b"
	expect 'dots' '404 *Role not found*' GET "/v2/templates/$id/roles/..."
	expect 'two slashes' '404 {"code":404,*' GET "/v2//templates"
	expect 'a query' '200 {"limit":100,*"name":"made"*' GET '/v2/templates?limit=100&name=made'
	expect 'an error with details' '400 *"details":*/roles/host/priority*' \
		POST /v2/templates -d '{"roles":{"host":{"priority":9}}}'
	expect 'a body in pieces' '200 {"id":*' POST /v2/templates -H 'Transfer-Encoding: chunked' \
		-d '{"name":"pieces"}'
	body_of 262144 >large
	expect 'a large body' '200 *' POST /v2/templates --data-binary @large
	[ "$(header X-Unknown-Fields)" = /x ] || fail "$front_end: X-Unknown-Fields is missing"
	body_of 262145 >large
	expect 'a body that is too large' '413 *' POST /v2/templates --data-binary @large
	expect 'a body too large in pieces' '413 *' POST /v2/templates --data-binary @large \
		-H 'Transfer-Encoding: chunked'
	body_of 8193 >small
	expect 'a body too large for joining' '413 *' POST /v2/token --data-binary @small
	[ "$(header Access-Control-Allow-Origin)" = '*' ] || fail "$front_end: no CORS with 413"
	# Otherwise the responder rejects these, after it has checked the token.
	case $front_end in
	nginx*)
		for path in /v2/token/join /v2/session; do
			expect "$path with too large a body" '413 *' POST $path --data-binary @small
		done
		;;
	esac
	# The web servers handle larger headers differently.
	case $front_end in
	shared*) long=8000 together='200 *' ;;
	Apache*) long=16000 together='200 *' ;;
	*HTTP/2) long=16000 together='curl: *' ;; # the connection ends
	*) long=16000 together='431 *' ;;
	esac
	expect 'a long address' '404 {"code":404,*' GET "/v2/templates/$id/x?$(letters $long)"
	long=$(letters $long)
	expect 'a long header' '200 *' GET "/v2/templates/$id" -H "X-Long: $long"
	expect 'long headers together' "$together" GET "/v2/templates/$id" -H "X-1: $long" \
		-H "X-2: $long" -H "X-3: $long" -H "X-4: $long" -H "X-5: $long" -H "X-6: $long"
	expect 'deleting it' '204 ' DELETE "/v2/templates/$id"
	expect 'deleting it again' '404 {"code":404,*' DELETE "/v2/templates/$id"
	token=wrong expect 'a wrong token' '401 {"code":401,*' GET /v2/templates
	case $(header WWW-Authenticate) in
	Bearer*) ;;
	*) fail "$front_end: WWW-Authenticate is missing" ;;
	esac
	case $front_end in
	shared* | *HTTP/2) expect 'the metrics' '404 *' GET /metrics ;;
	*) expect 'the metrics' '200 *anteroom*' GET /metrics ;;
	esac
	for path in /metrics /metrics/ '/metrics?x' /%6detrics //metrics /v2/../metrics /healthz /readyz; do
		expect "$path from elsewhere" '40[34] *' GET "$path" --interface 127.0.0.2
	done
	expect 'public keys' '200 {"keys":\[\]}' GET /v2/jwks/0123456789abcdef01234567.json
	[ "$(header Cache-Control)" = 'public, max-age=300' ] || [ "$front_end" = lighttpd ] ||
		fail "$front_end: public keys: Cache-Control is $(header Cache-Control)"
	[ "$(header Access-Control-Allow-Origin)" = '*' ] || fail "$front_end: public keys: no CORS"
	expect 'joining' '404 {"code":404,*' POST /v2/token -d '{"code":"abc-defg-hij"}'
	[ "$(header Access-Control-Allow-Origin)" = '*' ] || fail "$front_end: no CORS"
	expect 'a code' '404 {"code":404,*' GET /v2/room-codes/code/abc-defg-hij
	expect 'a code with too large a body' '413 *' POST /v2/room-codes/code/abc-defg-hij \
		--data-binary @large
	expect 'the same in pieces' '413 *' POST /v2/room-codes/code/abc-defg-hij \
		--data-binary @large -H 'Transfer-Encoding: chunked'
	check_pages
}

# check_proxy: behind a proxy at 127.0.0.1, what X-Forwarded-Proto says decides how links begin and where the join page
# may connect, if X-Forwarded-For gave the client's address; from any other address it says nothing.
check_proxy()
{
	expect 'a template' '200 *' POST /v2/templates -d '{"name":"proxy","default":true,"roles":{"host":{}}}'
	expect 'a room' '200 *' POST /v2/rooms -d '{"name":"proxy"}'
	room=$(sed -n 's/^{"id":"\([0-9a-f]*\)".*/\1/p' body)
	expect 'its codes' '200 *' POST "/v2/room-codes/room/$room" -d ''
	while IFS='|' read -r from address proto scheme; do
		set -- --interface "$from"
		[ -z "$address" ] || set -- "$@" -H "X-Forwarded-For: $address"
		[ -z "$proto" ] || set -- "$@" -H "X-Forwarded-Proto: $proto"
		what="from $from, X-Forwarded-For: $address, X-Forwarded-Proto: $proto"
		expect "$what" "200 *\"join_url\":\"$scheme://*" GET "/v2/room-codes/room/$room?view=link" "$@"
		expect "$what" '200 *' GET /join/x "$@"
		sources=' http: ws:'
		[ $scheme = http ] || sources=
		case "$(header Content-Security-Policy)" in
		*" media-src 'self' https:; connect-src 'self' https: wss:$sources; "*) ;;
		*) fail "$front_end: $what: $(header Content-Security-Policy)" ;;
		esac
	done <<END
127.0.0.1|||http
127.0.0.1|192.0.2.1||http
127.0.0.1|192.0.2.1|https|https
127.0.0.1|192.0.2.1|http|http
127.0.0.1||https|http
127.0.0.2|192.0.2.1|https|http
127.0.0.2||https|http
END
}

# check_recordings: the file of a recording is sent by the web server itself, and only by a link to it. The file
# has no record at first.
check_recordings()
{
	expect 'the account' '200 *' GET /v2/session
	account=$(sed -n 's/.*"account":{"id":"\([0-9a-f]*\)".*/\1/p' body)
	path=$account/6925c84100000000000000b1/6925c84100000000000000d1/recording.mp4
	mkdir -p "$scratch/recordings/${path%/*}" && printf 'id-of-the-folder\n' >"$scratch/recordings/.anteroom" || exit 1
	printf 0123456789 >"$scratch/recordings/$path" || exit 1
	expect 'adopting a file' '200 {"id":*' POST /v2/recording-assets -d "{\"path\":\"$path\"}"
	asset=$(sed -n 's/^{"id":"\([0-9a-f]*\)".*/\1/p' body)
	expect 'its link' '200 *' GET "/v2/recording-assets/$asset/presigned-url"
	link=$(sed -n 's|.*"url":"[^"]*\(/v2/recording-files/[^"]*\)".*|\1|p' body)
	expect 'the file' '200 0123456789' GET "$link"
	for line in 'Content-Type: video/mp4' 'Content-Security-Policy: sandbox' 'Cache-Control: private' \
		'X-Content-Type-Options: nosniff' 'Content-Length: 10'; do
		tr -d '\r' <headers | grep -qix "$line" || fail "$front_end: a recording lacks $line: $(cat headers)"
	done
	grep -qi '^Content-Disposition: attachment; filename=' headers || fail "$front_end: $(cat headers)"
	grep -qi 'sendfile\|accel\|recordings/' headers && fail "$front_end: shows where the file is: $(cat headers)"
	[ "$(grep -ci '^content-security-policy:' headers)" = 1 ] || fail "$front_end: $(cat headers)"
	expect 'a part of the file' '206 234' GET "$link" -H 'Range: bytes=2-4'
	expect 'a changed link' '403 {"code":403,*' GET "${link}0"
	expect 'the folder itself' '40[34] *' GET "/anteroom-recordings/$path"
	mv "$scratch/recordings/$path" "$scratch/recordings/$path.real" &&
		ln -s "recording.mp4.real" "$scratch/recordings/$path" || exit 1
	expect 'a symbolic link' '404 *' GET "$link"
	rm -rf "$scratch/recordings/$account"
	signature=${link#*signature=}
}

# live_has LINE...: checks headers of the last response.
live_has()
{
	for line; do
		tr -d '\r' <headers | grep -qix "$line" || fail "$front_end: a live stream lacks $line: $(cat headers)"
	done
	[ "$(grep -ci '^access-control-allow-origin:' headers)" = 1 ] || fail "$front_end: $(cat headers)"
}

# check_live: the web server itself serves live streams, to pages of any origin, and no other file of the folder.
check_live()
{
	key=hZk2m0cVQ1yJw5nT3rXb7A
	folder=$scratch/recordings/live/$key
	mkdir -p "$folder" && printf '#EXTM3U\n' >"$folder/live.m3u8" && printf segment >"$folder/1-17.ts" &&
		printf '{}' >"$folder/info.json" && printf secret >"$folder/other.ts" &&
		printf secret >"$folder/live.m3u8.new" || exit 1
	expect 'a playlist' '200 #EXTM3U*' GET "/live/$key/live.m3u8"
	live_has 'Content-Type: application/vnd.apple.mpegurl.*' 'Cache-Control: no-cache' 'Access-Control-Allow-Origin: \*' \
		'X-Content-Type-Options: nosniff' 'Cross-Origin-Resource-Policy: cross-origin'
	expect 'its times' '200 {}' GET "/live/$key/info.json"
	live_has 'Content-Type: application/json.*' 'Cache-Control: no-cache' 'Access-Control-Allow-Origin: \*'
	expect 'a segment' '200 segment' GET "/live/$key/1-17.ts?x=1"
	live_has 'Content-Type: video/mp2t.*' 'Cache-Control: public, max-age=31536000, immutable' \
		'Access-Control-Allow-Origin: \*'
	expect 'a part of a segment' '206 egm' GET "/live/$key/1-17.ts" -H 'Range: bytes=1-3'
	for path in "$key/other.ts" "$key/live.m3u8.new" "$key/" "$key" '' "$key/2-1.ts" "${key}x/live.m3u8" \
		"$key/../$key/live.m3u8x" '../.anteroom' "$key/..%2f..%2f.anteroom" 'a/live.m3u8'; do
		expect "no $path" '40[0-9] *' GET "/live/$path"
		case $(cat body) in
		*secret* | *id-of-the-folder*) fail "$front_end: serves /live/$path" ;;
		esac
	done
	expect 'no such stream' '404 *' GET /live/0000000000000000000000/live.m3u8
	live_has 'Access-Control-Allow-Origin: \*'
	expect 'no such name' '404 *' GET "/live/$key/other.ts"
	live_has 'Access-Control-Allow-Origin: \*'
	mv "$folder/1-17.ts" "$folder/secret" && ln -s secret "$folder/1-17.ts" || exit 1
	expect 'a symbolic link' '40[34] *' GET "/live/$key/1-17.ts"
	rm -rf "$folder"
}

# logs_no_signature LOG...: checks that the logs do not contain the signature of the last link.
logs_no_signature()
{
	grep -q "$signature" "$@" && fail "$front_end: logs the signature of a link"
}

# logs_no_code LOG...: checks that the logs contain no codes, because a code is enough to join.
logs_no_code()
{
	cat "$@" >all.logs || fail "$front_end: no log"
	[ -s all.logs ] || fail "$front_end: the logs are empty"
	grep abc-defg-hij all.logs && fail "$front_end: logs codes"
	grep hZk2m0cVQ1yJw5nT3rXb7A all.logs && fail "$front_end: logs the key of a live stream"
}

# ---- nginx ----

if have nginx && have spawn-fcgi; then
	start_responder nginx --recordings "$scratch/recordings"
	start_nginx nginx
	check 'nginx with spawn-fcgi'
	check_recordings
	check_live

	# The installed site with the TLS lines that are comments in it.
	if have openssl; then
		make_certificate
		end QUIT nginx-nginx/nginx.pid
		site=$source/packaging/nginx/site.conf.in
		start_nginx nginx "$(with_tls)"
		site=
		base=https://127.0.0.1:$port
		CURL_CA_BUNDLE=$scratch/certificate.pem
		export CURL_CA_BUNDLE
		check 'nginx with TLS and HTTP/2'
		body_of 262145 >large
		expect 'the page of 413' '413 {"code":413,*' POST /v2/templates --data-binary @large
		unset CURL_CA_BUNDLE
		[ "$(curl -sS --http2 --cacert certificate.pem -o /dev/null -w '%{http_version}' \
			"$base/v2/templates")" = 2 ] || fail 'no HTTP/2'
		curl -sS --tls-max 1.1 --cacert certificate.pem "$base/" >/dev/null 2>&1 &&
			fail 'TLS 1.1 is accepted'
	fi
	end_all
	logs_no_code nginx-nginx/*.log nginx.log
	logs_no_signature nginx-nginx/*.log nginx.log
fi

# ---- lighttpd, which starts the program itself ----

try_lighttpd()
{
	{
		# Settings of Debian's own file that the site must override.
		cat <<'END'
server.modules = ( "mod_access" )
url.access-deny = ( "~", ".inc" )
server.http-parseopts = (
	"url-normalize-unreserved" => "enable",
	"url-normalize-required" => "enable",
	"url-ctrls-reject" => "enable",
	"url-path-2f-decode" => "enable",
	"url-path-dotseg-remove" => "enable"
)
END
		printf 'server.document-root = "%s"\nserver.bind = "127.0.0.1"\nserver.port = %s\n' \
			"$scratch/empty" "$port"
		printf 'server.pid-file = "%s"\nserver.errorlog = "%s"\n' \
			"$scratch/lighttpd.pid" "$scratch/lighttpd.log"
		printf 'accesslog.filename = "%s"\nserver.upload-dirs = ( "%s" )\n' \
			"$scratch/lighttpd-access.log" "$scratch"
		sed -e "s|/var/lib/anteroom-recordings|$scratch/recordings|" \
			-e "s|/var/lib/anteroom\"|$scratch/lighttpd --recordings $scratch/recordings\"|" \
			-e "s|/usr/bin/anteroom|$program|" \
			-e "s|/run/lighttpd|$scratch|; s|/usr/share/anteroom/lighttpd|$scratch|" -e "$embed" \
			"$source/packaging/examples/lighttpd.conf"
		cat <<'END'
server.modules += ( "mod_extforward" )
extforward.forwarder = ( "127.0.0.1" => "trust" )
END
	} >lighttpd.conf
	sed "s|@PAGES@|$scratch/pages|; s|@RECORDINGS@|$scratch/recordings|" "$source/packaging/lighttpd/server.conf.in" >server.conf
	lighttpd -f lighttpd.conf
}

mkdir empty || exit 1
if have lighttpd; then
	make_account lighttpd
	start_on_port try_lighttpd
	note "$scratch/lighttpd.pid" TERM
	check lighttpd
	check_recordings
	check_live
	check_proxy
	grep -q /v2 lighttpd-access.log && fail 'lighttpd logs paths'
	end_all
	logs_no_code lighttpd*.log
	logs_no_signature lighttpd*.log
fi

# ---- Apache ----

# The configuration of the server for an ordinary user; the site follows.
apache_own_part()
{
	printf 'ServerRoot "%s"\nPidFile apache.pid\nErrorLog apache.log\nMutex file:%s\n' \
		"$scratch" "$scratch"
	printf 'Listen 127.0.0.1:%s\nServerName localhost\nDocumentRoot "%s"\n' \
		"$port" "$scratch/empty"
	printf 'DefaultRuntimeDir "%s"\nStartServers 1\nMinSpareThreads 1\nThreadsPerChild 8\n' \
		"$scratch"
	printf 'MaxRequestWorkers 16\nServerLimit 2\n'
	for module in mpm_event authz_core authz_host headers reqtimeout "$@"; do
		printf 'LoadModule %s_module %s/mod_%s.so\n' "$module" "$modules" "$module"
	done
}

try_proxy_fcgi()
{
	{
		# shellcheck disable=SC2086
		apache_own_part alias mime proxy proxy_fcgi remoteip $xsendfile
		printf 'RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1\n'
		printf 'Define APACHE_LOG_DIR "%s"\nTypesConfig /dev/null\n' "$scratch"
		sed -e "s|\\*:80|127.0.0.1:$port|; s|/run/anteroom/anteroom.sock|$scratch/apache.sock|" \
			-e "s|/usr/share/anteroom/apache|$scratch|" -e "$embed" "$source/packaging/examples/apache.conf"
	} >apache.conf
	sed "s|@PAGES@|$scratch/pages|; s|@RECORDINGS@|$scratch/recordings|" "$source/packaging/apache/server.conf.in" >server.conf
	apache2 -f "$scratch/apache.conf" -k start
}

if have apache2 && have spawn-fcgi && [ -e $modules/mod_proxy_fcgi.so ]; then
	xsendfile=
	[ ! -e $modules/mod_xsendfile.so ] || xsendfile=xsendfile
	start_responder apache --recordings "$scratch/recordings"
	start_on_port try_proxy_fcgi
	note "$scratch/apache.pid" TERM
	check 'Apache with mod_proxy_fcgi'
	[ -z "$xsendfile" ] || check_recordings
	check_live
	check_proxy
	body_of 262145 >large
	expect 'an error of its own' '413 {"code":413,*' POST /v2/templates --data-binary @large
	case $(header Content-Type) in
	application/json*) ;;
	*) fail "Apache's own errors are $(header Content-Type)" ;;
	esac
	grep -q /v2 anteroom.log && fail 'Apache logs paths'
	end_all
	logs_no_code anteroom.log apache.log
	[ -z "$xsendfile" ] || logs_no_signature anteroom.log apache.log
fi

# ---- shared hosting: all in a home directory, .htaccess, and what the host has to set ----

try_fcgid()
{
	{
		apache_own_part mime rewrite fcgid
		cat <<END
FcgidIPCDir "$scratch/fcgid"
FcgidProcessTableFile "$scratch/fcgid/table"
FcgidInitialEnv HOME "$scratch/home"
FcgidMaxProcessesPerClass $1
FcgidMaxRequestLen 1048576
FcgidSpawnScoreUpLimit 100
TypesConfig /dev/null
<Directory "$scratch/home/public_html">
	AllowOverride All
	Require all granted
</Directory>
<VirtualHost 127.0.0.1:$port>
	DocumentRoot "$scratch/home/public_html"
	AllowEncodedSlashes NoDecode
	MergeSlashes Off
</VirtualHost>
END
	} >apache.conf
	apache2 -f "$scratch/apache.conf" -k start
}

if have apache2 && [ -e $modules/mod_fcgid.so ]; then
	mkdir -p home/bin home/public_html fcgid || exit 1
	cp "$program" home/bin/anteroom &&
		cp "$source/packaging/examples/shared-hosting/anteroom.fcgi" home/public_html &&
		sed "/Header always edit/{$embed
		}" "$source/packaging/examples/shared-hosting/htaccess" >home/public_html/.htaccess &&
		cp -R pages/. home/public_html && chmod 755 home/public_html/anteroom.fcgi || exit 1
	make_account home/anteroom
	start_on_port try_fcgid 1
	note "$scratch/apache.pid" TERM
	check 'shared hosting with mod_fcgid'
	end_all
	logs_no_code apache.log

	# If the host allows more processes, the additional ones exit with a reason, and the first one
	# continues.
	start_on_port try_fcgid 4
	note "$scratch/apache.pid" TERM
	expect 'the first' '200 *' GET /v2/templates
	printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl --config - -sS --max-time 120 --parallel --parallel-immediate -o many \
			"$base/v2/templates?[1-40]" >/dev/null 2>&1
	grep -q 'anteroom serve: .*process [0-9]' apache.log || fail 'no second process, or no reason'
	expect 'the first, again' '200 *' GET /v2/templates
	end_all
fi

[ -z "$missing" ] || { say "left out: web servers that need$missing" && exit 77; }
