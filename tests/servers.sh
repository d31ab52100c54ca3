# Web servers for tests, each with a configuration, files and free ports of its own. To be read by a
# script that has set $test, its name. Everything lies in $scratch, which is removed at the end with
# whatever was started; a server that the machine lacks is no failure.
# shellcheck shell=sh disable=SC2034

PATH=$PATH:/usr/sbin:/sbin
export PATH
umask 022
source=$(cd "${SOURCE_DIR:-$(dirname "$0")/..}" && pwd) || exit 1
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
	say "$(dirname "$program")/tests/${helper:?}"
}

have()
{
	command -v "$1" >/dev/null
}

# Root does not serve: then everything is done by nobody, with copies that nobody can read; among them
# are $helper, a program that a test may have beside it, and $beside, a file of the tree.
become_ordinary()
{
	[ "$(id -u)" = 0 ] || return 0
	have setpriv || { say "needs setpriv to stop being root" && exit 77; }
	place=$(mktemp -d) || exit 1
	trap 'rm -rf "$place"' EXIT
	mkdir "$place/source" "$place/source/tests" "$place/tests" "$place/temporary" || exit 1
	cp -R "$source/nginx" "$source/packaging" "$source/web" "$place/source" &&
		cp "$source"/tests/servers.sh "$source"/tests/database.sh "$source/${test:?}" "$place/source/tests" &&
		{ [ -z "${beside-}" ] || cp "$source/$beside" "$place/source/$beside"; } &&
		cp "$program" "$place/anteroom" &&
		{ [ -z "${helper-}" ] || cp "$(helper_path)" "$place/tests"; } &&
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

# The next port at which nobody answers (7 is curl's word for that).
next_port()
{
	while :; do
		port=$((port + 1))
		[ $port -lt 60000 ] || fail 'no port is free'
		curl -s -o /dev/null --max-time 2 "http://127.0.0.1:$port/"
		[ $? != 7 ] || return 0
	done
}

# start_on_port COMMAND...: runs it with the next free port in $port until it does not say that the
# port is taken after all. It makes its configuration, and comes back when the server listens.
start_on_port()
{
	next_port
	until "$@" >"$scratch/start.log" 2>&1; do
		grep -qi 'in use' "$scratch/start.log" || fail "$1: $(cat "$scratch/start.log")"
		next_port
	done
	base=http://127.0.0.1:$port
}

# Notes a process, by the file with its pid, to be ended with a signal.
note()
{
	pids="$2 $1 $pids"
}

# end SIGNAL FILE: ends one and waits until it is gone.
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

# start_responder NAME [OPTION...]: a responder with data of its own in NAME/, behind the socket
# NAME.sock, which spawn-fcgi keeps for it. Sets token.
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

# start_nginx NAME [SED-SCRIPT]: the site of the tree, or the one that $site names, before the socket
# NAME.sock, changed by a script for sed, on a port of its own.
start_nginx()
{
	mkdir -p "$scratch/nginx-$1/temporary"
	cp -f "$source/nginx/nginx.conf" "$scratch/nginx-$1/nginx.conf" || exit 1
	start_on_port try_nginx "$@"
	note "$scratch/nginx-$1/nginx.pid" QUIT
}

# fill_in FROM TO NAME [SED-SCRIPT]: a part of the site. The script may leave the places @LISTEN@,
# @PORT@ and @NEXT_PORT@.
fill_in()
{
	sed -e "${4-}" -e "s|@LISTEN@|127.0.0.1:$port|" -e "s|@SOCKET@|$scratch/$3.sock|" \
		-e "s|@PORT@|$port|; s|@NEXT_PORT@|$((port + 1))|" \
		-e 's|@ACCESS_LOG@|access.log|' -e 's|@PARTS@/||' -e "s|@PAGES@|$scratch/pages|" "$1" >"$2"
}

# A script for sed that makes the installed site one with TLS, as its comment says, with the certificate
# and the key in $scratch: HTTPS on the port of 127.0.0.1, HTTP on that of 127.0.0.4, metrics on that of
# 127.0.0.3.
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

# The pages for a browser, where the site for nginx has them in tests.
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

# fetch_proof FOLDER: copies a folder of tests with what it needs from npm to $PROOF. By whoever started the
# test, before root is given up.
fetch_proof()
{
	for tool in node npm nginx spawn-fcgi curl; do
		have $tool || left_out "there is no $tool"
	done
	proof=$(mktemp -d) || exit 1
	trap 'rm -rf "$proof"' EXIT
	trap 'exit 1' INT TERM HUP
	cp "$source/tests/$1"/*.* "$proof" || exit 1
	if ! (cd "$proof" && npm ci --prefer-offline --ignore-scripts --no-audit --no-fund \
		--fetch-retries=0 --fetch-timeout=20000 >npm.log 2>&1); then
		# What is wrong with our own two files is no reason to leave the test out.
		grep -E 'EUSAGE|EJSONPARSE|EINTEGRITY' "$proof/npm.log" >&2 && exit 1
		left_out "npm: $(grep -m 1 -i error "$proof/npm.log")"
	fi
	chmod -R a+rX "$proof"
	PROOF=$proof
	export PROOF
}
