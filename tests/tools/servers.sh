# Web servers for tests, each with its own configuration, files and free ports. A script sources this
# file after it has set $test to its name. Everything is in $scratch, which is deleted at the end, after
# all started servers have been stopped. A server that is not installed is not a failure.
# shellcheck shell=sh disable=SC2034

PATH=$PATH:/usr/sbin:/sbin
export PATH
umask 022
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/../..}" && pwd) || exit 1
program=${ANTEROOM:-$source/build/anteroom}
pids=
site=

say()
{
	printf '%s\n' "$*"
}

fail()
{
	say "${test:?}: $*" >&2
	for log in "$scratch"/*.log; do
		[ ! -s "$log" ] || { say "---- $log" && tail -n 20 "$log"; } >&2
	done
	exit 1
}

helper_path()
{
	say "$(dirname "$program")/tests/tools/${helper:?}"
}

have()
{
	command -v "$1" >/dev/null
}

# Root cannot serve, so the user nobody does everything, with copies that nobody can read. These include
# $helper, a program that a test may need, and $beside, a file of the tree.
become_ordinary()
{
	[ "$(id -u)" = 0 ] || return 0
	have setpriv || { say "needs setpriv to stop being root" && exit 77; }
	place=$(mktemp -d) || exit 1
	trap 'rm -rf "$place"' EXIT
	for folder in source/tests/data source/tests/scripts source/tests/tools tests/tools temporary; do
		mkdir -p "$place/$folder" || exit 1
	done
	cp -R "$source/nginx" "$source/packaging" "$source/web" "$place/source" &&
		cp "$source"/tests/tools/*.sh "$place/source/tests/tools" &&
		cp "$source/${test:?}" "$place/source/$test" &&
		{ [ -z "${beside-}" ] || cp "$source/$beside" "$place/source/$beside"; } &&
		cp "$program" "$place/anteroom" &&
		{ [ -z "${helper-}" ] || cp "$(helper_path)" "$place/tests/tools"; } &&
		chmod -R a+rX "$place" && chmod 1777 "$place/temporary" || exit 1
	user=$(id -u nobody) || exit 1
	(cd "$place" && exec env HOME="$place/temporary" TMPDIR="$place/temporary" \
		ANTEROOM="$place/anteroom" SOURCE_DIR="$place/source" \
		setpriv --reuid="$user" --regid="$(id -g nobody)" --clear-groups \
		sh "$place/source/$test" "$@")
	exit
}

make_scratch()
{
	scratch=$(mktemp -d) || exit 1
	trap 'end_all; rm -rf "$scratch"' EXIT
	trap 'exit 1' INT TERM HUP
	port=$(($$ % 20000 + 20000))
	cd "$scratch" || exit 1
}

# Finds the next port on which nothing listens (curl then exits with 7).
next_port()
{
	while :; do
		port=$((port + 1))
		[ $port -lt 60000 ] || fail 'no port is free'
		curl -s -o /dev/null --max-time 2 "http://127.0.0.1:$port/"
		[ $? != 7 ] || return 0
	done
}

# start_on_port COMMAND...: runs the command with the next free port in $port, and again if it reports
# that the port is in use after all. The command writes its configuration, and returns when the server
# listens.
start_on_port()
{
	next_port
	until "$@" >"$scratch/start.log" 2>&1; do
		grep -qi 'in use' "$scratch/start.log" || fail "$1: $(cat "$scratch/start.log")"
		next_port
	done
	base=http://127.0.0.1:$port
}

# Registers a process, by the file with its pid, to be stopped with a signal.
note()
{
	pids="$2 $1 $pids"
}

# end SIGNAL FILE: stops a process and waits until it has exited.
end()
{
	[ -s "$2" ] || return 0
	pid=$(cat "$2")
	if kill -s "$1" "$pid" 2>/dev/null; then
		timeout 120 tail --pid="$pid" -s 0.05 -f /dev/null || kill -s KILL "$pid"
	fi
	rm -f "$2"
}

end_all()
{
	# shellcheck disable=SC2086
	set -- $pids
	while [ $# -gt 0 ]; do
		end "$1" "$2"
		shift 2
	done
	pids=
}

# start_responder NAME [OPTION...]: starts a responder with its own data in NAME/, behind the socket
# NAME.sock, which spawn-fcgi holds. Sets token.
start_responder()
{
	make_account "$1"
	responder=$1
	shift
	spawn-fcgi -s "$scratch/$responder.sock" -M 0600 -P "$scratch/$responder.responder" -- \
		"$program" serve --data "$scratch/$responder" "$@" >"$scratch/$responder.log" 2>&1 ||
		fail "spawn-fcgi: $(cat "$scratch/$responder.log")"
	note "$scratch/$responder.responder" TERM
}

make_account()
{
	"$program" account add test --data "$scratch/$1" >/dev/null 2>"$scratch/$1.log" ||
		fail "account add: $(cat "$scratch/$1.log")"
	token=$("$program" token test --data "$scratch/$1") || fail 'token'
}

# tell KEY SECRET URL: sends standard input to the events URL of a backend, signed as LiveKit does. Prints
# the status of the response.
tell()
{
	cat >told.body
	told=$(printf '{"alg":"HS256"}' | base64_url).$(printf '{"iss":"%s","exp":%d,"sha256":"%s"}' "$1" \
		$(($(date +%s) + 300)) "$(openssl dgst -sha256 -binary <told.body | openssl base64 -A)" | base64_url)
	told=$told.$(printf %s "$told" | openssl dgst -sha256 -hmac "$2" -binary | base64_url)
	curl -sS -o told.answer -w '%{http_code}' -H "Authorization: $told" \
		-H 'Content-Type: application/webhook+json' --data-binary @told.body "$3"
}

base64_url()
{
	openssl base64 -A | tr '+/' '-_' | tr -d =
}

# start_nginx NAME [SED-SCRIPT]: starts nginx on a free port with the site of the tree, or the site in
# $site, for the socket NAME.sock. A sed script can change the site.
start_nginx()
{
	mkdir -p "$scratch/nginx-$1/temporary"
	cp -f "$source/nginx/nginx.conf" "$scratch/nginx-$1/nginx.conf" || exit 1
	start_on_port try_nginx "$@"
	note "$scratch/nginx-$1/nginx.pid" QUIT
}

# fill_in FROM TO NAME [SED-SCRIPT]: writes a part of the site. The script can contain @LISTEN@, @PORT@
# and @NEXT_PORT@.
fill_in()
{
	sed -e "${4-}" -e "s|@LISTEN@|127.0.0.1:$port|" -e "s|@SOCKET@|$scratch/$3.sock|" \
		-e "s|@PORT@|$port|; s|@NEXT_PORT@|$((port + 1))|" \
		-e 's|@ACCESS_LOG@|access.log|' -e 's|@PARTS@/||' -e "s|@PAGES@|$scratch/pages|" \
		-e "s|@RECORDINGS@|$scratch/recordings|" "$1" >"$2"
}

# A sed script that enables TLS in the installed site, as its comment describes, with the certificate and
# the key in $scratch: HTTPS on the port of 127.0.0.1, HTTP on the port of 127.0.0.4, metrics on the port
# of 127.0.0.3.
with_tls()
{
	cat <<END
/without TLS$/d
s/^\([[:space:]]*\)#\([^ ]\)/\1\2/
/listen \[/d
s|listen 80;|listen 127.0.0.4:@PORT@;|
s|listen 443|listen @LISTEN@|
s|listen 127.0.0.1:9765|listen 127.0.0.3:@PORT@|
s|/etc/ssl/certs/anteroom.pem|$scratch/certificate.pem|
s|/etc/ssl/private/anteroom.key|$scratch/key.pem|
s|/var/www/html|$scratch/www|
END
}

# Builds the pages for browsers, where the site for nginx has them in tests.
make_pages()
{
	sh "$source/web/build.sh" "$source/web" "$scratch/pages" || fail 'the pages'
}

make_certificate()
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
		-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
		-keyout "$scratch/key.pem" -out "$scratch/certificate.pem" 2>"$scratch/openssl.log" ||
		fail 'openssl'
}

try_nginx()
{
	for part in http operation server site; do
		fill_in "$source/nginx/$part.conf.in" "$scratch/nginx-$1/$part.conf" "$@" || return 1
	done
	[ -z "$site" ] || fill_in "$site" "$scratch/nginx-$1/site.conf" "$@" || return 1
	nginx -p "$scratch/nginx-$1/" -c nginx.conf -e error.log
}

left_out()
{
	say "$test: left out: $*"
	exit 77
}

# fetch_proof FOLDER: copies a folder of tests, with the npm packages it needs, to $PROOF. The user who
# started the test does this, before root privileges are dropped.
fetch_proof()
{
	for tool in node npm nginx spawn-fcgi curl; do
		have $tool || left_out "$tool is not installed"
	done
	proof=$(mktemp -d) || exit 1
	trap 'rm -rf "$proof"' EXIT
	trap 'exit 1' INT TERM HUP
	cp "$source/tests/$1"/*.* "$proof" || exit 1
	if ! (cd "$proof" && npm ci --prefer-offline --ignore-scripts --no-audit --no-fund \
		--fetch-retries=0 --fetch-timeout=20000 >npm.log 2>&1); then
		# Errors in our own two files are no reason to skip the test.
		grep -E 'EUSAGE|EJSONPARSE|EINTEGRITY' "$proof/npm.log" >&2 && exit 1
		left_out "npm: $(grep -m 1 -i error "$proof/npm.log")"
	fi
	chmod -R a+rX "$proof"
	PROOF=$proof
	export PROOF
}
