# Functions of nginx/quickstart for the LiveKit of --call and --with-livekit: find it, or get or build it, before
# anything else is built; write its configuration; run it.
#
# In the data directory, livekit/ has the program if it was built, downloaded or copied (livekit-server, and in
# origin what it was made from), its configuration with the key (livekit.yaml) and its log. With --call-servers, the
# second server has livekit-2.yaml and livekit-2.log, and so on; each has ports and a secret of its own.
# shellcheck shell=sh

livekit_scratch=
livekit_way=
livekit_supervisors= # NAME:PID of each server
livekit_version=$(sed -n 's|^require github.com/livekit/livekit-server v||p' packaging/livekit/go.mod 2>/dev/null)

# ---- arguments ----

# check_livekit_options: checks how the options of --call go together.
check_livekit_options()
{
	if [ "$call" = no ]; then
		[ -z "$livekit_from$livekit_sum$call_servers$call_address" ] ||
			wrong_use '--livekit-from, --livekit-sha256, --call-servers and --call-address need --call'
		return
	fi
	call_servers=${call_servers:-1}
	case $call_servers in
	[1-9]) ;;
	*) wrong_use "--call-servers must be from 1 to 9, got $(word "$call_servers")" ;;
	esac
	[ -z "$livekit_url" ] ||
		wrong_use '--call starts a LiveKit and --with-livekit uses one that runs already; use only one of them'
	[ -z "$livekit_from$livekit_sum" ] || { [ -n "$livekit_from" ] && [ -n "$livekit_sum" ]; } ||
		wrong_use '--livekit-from and --livekit-sha256 need each other'
	case $livekit_sum in
	*[!0-9A-Fa-f]*) flaw=yes ;;
	*) flaw= ;;
	esac
	[ -z "$livekit_sum" ] || [ "$flaw${#livekit_sum}" = 64 ] ||
		wrong_use "--livekit-sha256 must have 64 hexadecimal digits, got $(word "$livekit_sum")"
	livekit_sum=$(printf %s "$livekit_sum" | tr A-F a-f)
}

# check_livekit [ARGUMENT...]: checks the arguments of --with-livekit by the rules of the service.
check_livekit()
{
	flaw=
	name='[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]'
	case $livekit_url in
	*[!!-~]* | *[\"\\]*) flaw=yes ;;
	esac
	printf '%s\n' "$livekit_url" | grep -qE "^[Ww][Ss]{1,2}://($name)(:[1-9][0-9]{0,4})?(/[^?#@]*)?\$" || flaw=yes
	livekit_port=$(printf '%s\n' "$livekit_url" | sed -nE "s#^[^/]*//($name):([0-9]+)(/.*)?\$#\2#p")
	[ -z "$flaw" ] && [ "${livekit_port:-1}" -le 65535 ] && [ ${#livekit_url} -le 2048 ] ||
		wrong_use "--with-livekit: URL must be a ws or wss URL such as ws://127.0.0.1:7880, without query, fragment or" \
			"user info, got $(word "$livekit_url")"
	case $livekit_key in
	*[[:cntrl:]\"\\]*) flaw=yes ;;
	esac
	[ -z "$flaw" ] && [ ${#livekit_key} -le 128 ] || wrong_use '--with-livekit: KEY must have 1 to 128' \
		"characters, without quotes, backslashes and control characters, got $(word "$livekit_key")"
	case $livekit_secret in
	*[[:cntrl:]\"\\]*)
		wrong_use '--with-livekit: SECRET must not have quotes, backslashes or control characters'
		;;
	esac
	if [ ${#livekit_secret} -lt 32 ]; then
		cat >&2 <<END
quickstart: --with-livekit: SECRET must have 32 to 512 characters, got ${#livekit_secret}. (devkey and secret of
\`livekit-server --dev\` are public.) Stop LiveKit, then start it with a new key, and this with the same key:

$(livekit_lines "$@")
END
		exit 2
	fi
	[ ${#livekit_secret} -le 512 ] ||
		wrong_use "--with-livekit: SECRET must have 32 to 512 characters, got ${#livekit_secret}"
}

# livekit_lines [ARGUMENT...]: prints two lines to paste that start a LiveKit with a new key, and this with that
# key and the other arguments.
livekit_lines()
{
	new_secret=$(new_livekit_secret)
	printf 'livekit-server --dev --keys "anteroom: %s" >livekit.log 2>&1 &\n' "$new_secret"
	printf 'sh nginx/quickstart --with-livekit ws://127.0.0.1:7880 anteroom %s' "$new_secret"
	other_words "$@"
}

# other_words [ARGUMENT...]: ends a line to paste with the arguments that are not about LiveKit.
other_words()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--call) ;;
		--with-livekit) shift 3 ;;
		*) printf ' %s' "$(word "$1")" ;;
		esac
		shift
	done
	echo
}

new_livekit_secret()
{
	od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n'
}

# ---- a LiveKit that runs already ----

# Prints the bytes of hexadecimal digits, each exclusive or a number.
bytes_of()
{
	for byte in $(printf %s "$1" | sed 's/../& /g'); do
		# shellcheck disable=SC2059
		printf "\\$(printf %03o $((0x$byte ^ $2)))"
	done
}

# hmac KEY: prints the HMAC-SHA256 of standard input in base64url. No program has the key among its arguments.
hmac()
{
	key=$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')
	[ ${#key} -le 128 ] || key=$(printf %s "$1" | sha256sum | cut -c 1-64)
	while [ ${#key} -lt 128 ]; do
		key=${key}00
	done
	inner=$({ bytes_of "$key" 0x36 && cat; } | sha256sum | cut -c 1-64)
	outer=$({ bytes_of "$key" 0x5c && bytes_of "$inner" 0; } | sha256sum | cut -c 1-64)
	bytes_of "$outer" 0 | base64url
}

base64url()
{
	base64 | tr '+/' '-_' | tr -d '=\n'
}

# Finds out whether the LiveKit of --with-livekit answers and knows the key, by asking for a room that does not exist.
check_running_livekit()
{
	now=$(date +%s)
	message=$(printf '{"alg":"HS256","typ":"JWT"}' | base64url).$(
		printf '{"iss":"%s","nbf":%d,"exp":%d,"video":{"roomList":true}}' "$livekit_key" $((now - 30)) $((now + 60)) |
			base64url)
	livekit_token=$message.$(printf %s "$message" | hmac "$livekit_secret")
	answer=$(printf 'header = "Authorization: Bearer %s"\n' "$livekit_token" |
		curl --config - -sS --max-time 10 --write-out '\n%{http_code}' -H 'Content-Type: application/json' \
			-d '{"names":["none"]}' \
			"$(printf %s "$livekit_url" | sed 's|^[Ww][Ss]|http|; s|/$||')/twirp/livekit.RoomService/ListRooms" 2>&1) ||
		die "LiveKit does not answer at $livekit_url: $(say "$answer" | sed -n 's/^curl: ([0-9]*) //p')"
	case $answer in
	*'"rooms":'*200) ;;
	*'invalid API key'*401) die "the LiveKit at $livekit_url does not have the key $livekit_key" ;;
	*'signature is invalid'*401) die "the LiveKit at $livekit_url has another secret for the key $livekit_key" ;;
	*401) die "the LiveKit at $livekit_url rejects the key: $(say "$answer" | head -n 1)" ;;
	*) die "what answers at $livekit_url is not a LiveKit (status $(say "$answer" | tail -n 1))" ;;
	esac
}

# ---- a LiveKit of its own: before anything is built ----

# as_owner COMMAND...: runs the command in the data directory. Root trusts nothing in there, so root runs it as the
# owner of the directory.
as_owner()
{
	(
		cd "$data" 2>/dev/null || exit 1
		[ "$(id -u)" != 0 ] || set -- setpriv --reuid="$(stat -c %u .)" --regid="$(stat -c %g .)" --clear-groups "$@"
		exec timeout 60 "$@"
	)
}

# True if there is a Go that can build LiveKit.
has_go()
{
	minor=$(GOTOOLCHAIN=local go version 2>/dev/null | sed -n 's/^go version go1\.\([0-9]*\).*/\1/p')
	[ "${minor:-0}" -ge 24 ]
}

# Finds the LiveKit server to run, and all that a call needs, or exits with what is missing. Sets livekit_server, or
# livekit_way to download or build, and livekit_origin to a text that is another one if it is to be made anew.
plan_call()
{
	addresses=$(hostname -I 2>/dev/null)
	# The first one.
	# shellcheck disable=SC2086
	[ -n "$call_address" ] || { set -- $addresses && call_address=${1:-127.0.0.1}; }
	case " 127.0.0.1 $addresses " in
	*" $call_address "*) ;;
	*) die "--call-address $call_address is not an address of this machine, which has: $(say "127.0.0.1 $addresses")" ;;
	esac
	has_livekit_client || command -v npm >/dev/null ||
		die 'npm is missing, which gets livekit-client for the calls; on Debian, as root: apt-get install npm'

	livekit_origin=
	kept=$(as_owner cat livekit/origin 2>/dev/null) && as_owner test -x livekit/livekit-server || kept=
	built="module $livekit_version $(sha256sum <"$source/packaging/livekit/go.sum" 2>/dev/null)"
	if [ -n "${LIVEKIT_SERVER-}" ]; then
		livekit_server=$(from_start "$LIVEKIT_SERVER")
		[ -f "$livekit_server" ] && [ -x "$livekit_server" ] || die "LIVEKIT_SERVER is not a program: $LIVEKIT_SERVER"
	elif livekit_server=$(command -v livekit-server); then
		[ -z "$livekit_from" ] || say "LiveKit is $livekit_server, so nothing is taken from $livekit_from"
	elif [ -n "$livekit_from" ]; then
		livekit_origin="sha256 $livekit_sum"
		[ "$kept" = "$livekit_origin" ] || livekit_way=download
	elif [ -n "$kept" ] && { [ "$kept" = "$built" ] || ! has_go; }; then
		livekit_origin=$kept
	elif has_go; then
		livekit_origin=$built
		livekit_way=build
	else
		die "--call needs a LiveKit server, and there is neither livekit-server nor Go 1.24 or newer to build it. One of:
  as root: apt-get install golang-go   (Debian 13 and newer; it is built once, in some minutes)
  sh nginx/quickstart --call --livekit-from FILE_OR_URL --livekit-sha256 SUM   (a release of LiveKit for Linux)
  LIVEKIT_SERVER=/path/to/livekit-server sh nginx/quickstart --call"
	fi
	[ -n "$livekit_server$livekit_way" ] || livekit_server=./livekit/livekit-server
	case $livekit_from in
	*://*) ;;
	*) download_livekit ;;
	esac
}

# Prints a path that is relative to the caller's directory as an absolute one.
from_start()
{
	case $1 in
	/*) say "$1" ;;
	*) say "$start/$1" ;;
	esac
}

# Downloads the LiveKit server into a scratch directory, if that is the way, and it has not been done.
download_livekit()
{
	[ "$livekit_way" = download ] && [ -z "$livekit_scratch" ] || return 0
	livekit_scratch=$(mktemp -d) || exit 1
	case $livekit_from in
	*://*)
		with_progress "Getting $livekit_from" "$livekit_scratch/log" \
			curl -fsSL --max-time 900 -o "$livekit_scratch/taken" "$livekit_from" ||
			die "cannot get $livekit_from: $(sed -n 's/^curl: ([0-9]*) //p' "$livekit_scratch/log")"
		;;
	*) cp "$(from_start "$livekit_from")" "$livekit_scratch/taken" 2>/dev/null || die "cannot read $livekit_from" ;;
	esac
	sum=$(sha256sum <"$livekit_scratch/taken")
	[ "${sum%% *}" = "$livekit_sum" ] ||
		die "$livekit_from has another SHA-256 than the given one, so it is not used: ${sum%% *}"
	livekit_server=$livekit_scratch/livekit-server
	# A release is an archive.
	if tar -tzf "$livekit_scratch/taken" >/dev/null 2>&1; then
		tar -xzf "$livekit_scratch/taken" -C "$livekit_scratch" livekit-server 2>/dev/null ||
			die "$livekit_from does not contain livekit-server"
	else
		mv "$livekit_scratch/taken" "$livekit_server"
	fi
	chmod 755 "$livekit_server"
}

# Builds the LiveKit server in a scratch directory, if that is the way.
build_livekit()
{
	[ "$livekit_way" = build ] || return 0
	livekit_scratch=$(mktemp -d) || exit 1
	livekit_server=$livekit_scratch/livekit-server
	with_progress "Building LiveKit $livekit_version (once, in some minutes)" "$livekit_scratch/log" make_livekit_server ||
		die "LiveKit cannot be built: $(
			grep -m 1 -iE 'dial|error|denied|no space|cannot|missing|mismatch' "$livekit_scratch/log" ||
				tail -n 1 "$livekit_scratch/log")"
}

make_livekit_server()
{
	(cd "$source/packaging/livekit" && GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0 go build -v -mod=readonly -trimpath \
		-buildvcs=false -ldflags '-s -w' -o "$livekit_server" github.com/livekit/livekit-server/cmd/server)
}

# Copies the LiveKit server into the data directory if it was made, or if the owner of the data cannot run it. Then
# livekit_server is relative to that directory.
place_livekit()
{
	if [ -z "$livekit_scratch" ]; then
		case $livekit_server in
		./*) return ;;
		esac
		! as_owner test -x "$livekit_server" || return 0
		livekit_origin="copy of $livekit_server"
	fi
	# shellcheck disable=SC2016
	as_owner sh -c 'umask 077 && mkdir -p livekit && cd livekit && rm -f livekit-server.new origin &&
		cat >livekit-server.new && chmod 700 livekit-server.new && mv -fT livekit-server.new livekit-server &&
		printf "%s\n" "$1" >origin' - "$livekit_origin" <"$livekit_server" || die "cannot write to $data/livekit"
	livekit_server=./livekit/livekit-server
	leave_nothing
}

# ---- a LiveKit of its own: in the data directory ----

# free_port tcp|udp FROM: prints the first port from there on which nothing is bound.
free_port()
{
	awk -v kind="$1" -v from="$2" '
		FNR > 1 && (kind == "udp" || $4 == "0A") { used[substr($2, index($2, ":") + 1)] = 1 }
		END {
			for (port = from; port < from + 1000 && port < 65536; port++)
				if (!(sprintf("%04X", port) in used)) {
					print port
					exit
				}
		}' "/proc/net/$1" "/proc/net/${1}6" 2>/dev/null
}

# Chooses the ports and the key of the server $livekit: those of the former start if they are free, else the first from
# next_tcp and next_udp on, behind which those of the next server come. Sets livekit_url, livekit_key and livekit_secret.
choose_livekit()
{
	livekit_port=$(free_port tcp "$(livekit_value port $next_tcp)")
	media_tcp=$(free_port tcp "$(livekit_value tcp_port $((next_tcp + 1)))")
	[ "$media_tcp" != "$livekit_port" ] || media_tcp=$(free_port tcp $((livekit_port + 1)))
	media_udp=$(free_port udp "$(livekit_value udp_port $next_udp)")
	[ -n "$livekit_port" ] && [ -n "$media_tcp" ] && [ -n "$media_udp" ] ||
		die 'no ports are free for LiveKit, from 7880 on'
	next_tcp=$(((livekit_port > media_tcp ? livekit_port : media_tcp) + 1))
	next_udp=$((media_udp + 1))
	livekit_url=ws://127.0.0.1:$livekit_port
	livekit_key=anteroom
	livekit_secret=$(livekit_value anteroom)
	[ ${#livekit_secret} -ge 32 ] || livekit_secret=$(new_livekit_secret)
}

# livekit_value NAME [DEFAULT]: prints a value of the former configuration.
livekit_value()
{
	value=$(sed -n "s/^ *$1: //p" "livekit/$livekit.yaml" 2>/dev/null)
	say "${value:-${2-}}"
}

# write_livekit EVENTS_URL: writes the configuration of the server $livekit. Media is on the loopback address and on one
# address of the machine. The server needs no STUN server to know its address.
write_livekit()
{
	case $call_address in
	*:*) addresses="127.0.0.0/8, \"$call_address/128\"" ;;
	*) addresses="127.0.0.0/8, $call_address/32" ;;
	esac
	mkdir -p livekit && rm -f "livekit/$livekit.yaml.new"
	(set -C && cat >"livekit/$livekit.yaml.new") <<END || die "cannot write $data/livekit/$livekit.yaml"
port: $livekit_port
bind_addresses: [127.0.0.1]
rtc:
    tcp_port: $media_tcp
    udp_port: $media_udp
    use_external_ip: false
    use_ice_lite: true
    enable_loopback_candidate: true
    ips:
        includes: [$addresses]
keys:
    $livekit_key: $livekit_secret
logging:
    level: warn
# Anteroom creates the rooms, so nobody gets into one that has ended: see anteroom-livekit(7).
room:
    auto_create: false
    enable_remote_unmute: true
# Tells Anteroom who is inside: see anteroom-live(7).
webhook:
    api_key: $livekit_key
    urls:
        - $1
    filter_params:
        exclude_events: [track_published, track_unpublished]
    resource_url_notifier:
        max_age: 10m
        max_depth: 5000
END
	mv -fT "livekit/$livekit.yaml.new" "livekit/$livekit.yaml" || exit 1
}

# Replaces this shell by the server $livekit.
livekit_in_place()
{
	become "$livekit_server" --config "livekit/$livekit.yaml"
}

# Starts the server $livekit, and returns when it answers.
start_livekit()
{
	rm -f "livekit/$livekit.ready"
	exec 7>"$livekit.lock"
	flock -n 7 || exit 1
	(supervise "$livekit.lock" "livekit/$livekit.ready" "livekit_ended name=$livekit" livekit_in_place \
		"livekit/$livekit.log") </dev/null >>anteroom.log 2>&1 9>&- &
	livekit_supervisors="$livekit_supervisors $livekit:$!"
	exec 7>&-
	tries=0
	until curl -sf -o /dev/null --max-time 5 "http://127.0.0.1:$livekit_port/"; do
		is_locked "$livekit.lock" ||
			die "LiveKit exited: $(tail -n 1 "livekit/$livekit.log") (see $data/livekit/$livekit.log)"
		tries=$((tries + 1))
		[ $tries -lt 300 ] || die "LiveKit is not ready after 30 seconds; see $data/livekit/$livekit.log"
		sleep 0.1
	done
	: >"livekit/$livekit.ready"
}

# Adds the servers to the account, several of them as a pool, and starts them. A pool of an earlier start remains if
# there is one server now. They start one after the other, so that each finds the ports of those before it in use. Sets
# call_backend, which the template for the calls names, and call_media, which says where they are.
start_livekits()
{
	remove_livekits $((call_servers + 1))
	call_backend=livekit
	call_media=
	# LiveKit's own, the media over TCP behind the first.
	next_tcp=7880
	next_udp=7882
	number=1
	while [ $number -le "$call_servers" ]; do
		livekit=livekit-$number
		fields=
		[ $number != 1 ] || { livekit=livekit && fields=',"default":true'; }
		[ "$call_servers" = 1 ] || fields="$fields,\"pool\":\"livekits\""
		choose_livekit
		add_livekit $livekit "$fields"
		case $answer in
		*'"pool":"livekits"'*) call_backend=livekits ;;
		esac
		write_livekit "$(say "$answer" | sed -n 's/.*"events_url":"\([^"]*\)".*/\1/p')"
		start_livekit
		call_media="$call_media  LiveKit    $livekit_url, media on port $media_udp (UDP) and $media_tcp of 127.0.0.1 and $call_address
"
		number=$((number + 1))
	done
}

# True if all servers run that were started.
livekits_run()
{
	for supervisor in $livekit_supervisors; do
		is_locked "${supervisor%:*}.lock" || return 1
	done
}
