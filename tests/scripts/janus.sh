#!/bin/sh
# Codes lead into a real room: Janus, and two Chromium browsers that see each other. tests/janus
# describes it. Needs Janus and Chromium from Debian, Node, the npm packages in tests/janus/package.json,
# and a separate network (unshare); skipped if these are not available.
set -u
test=tests/scripts/janus.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"

# Chromium does not offer loopback addresses to a peer; this address exists only in the separate network.
address=192.0.2.1
random()
{
	head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}
secret=$(random)
room_secret=$(random)

begin_network()
{
	ip link set lo up && ip link add media type veth peer name peer &&
		ip address add $address/24 dev media && ip link set media up && ip link set peer up
}

# configure_janus ROOM...: configures Janus as in the example.
configure_janus()
{
	example=$source/packaging/examples/media/janus
	mkdir janus || exit 1
	sed "s|/etc/janus|$scratch/janus|; s|\"SECRET\"|\"$secret\"|; s|\"ADMIN_SECRET\"|\"$(random)\"|" \
		"$example/janus.jcfg" >janus/janus.jcfg &&
		sed "s|127.0.0.1|$address|" "$example/janus.transport.websockets.jcfg" \
			>janus/janus.transport.websockets.jcfg || exit 1
	for room; do
		sed "s|\"ROOM_SECRET\"|\"$room_secret\"|; s|\"ADMIN_KEY\"|\"$(random)\"|; s|ROOM\>|$room|" \
			"$example/janus.plugin.videoroom.jcfg"
	done | awk '/^general/ { skips = seen++ } !skips; /^}/ { skips = 0 }' >janus/janus.plugin.videoroom.jcfg
}

start_janus()
{
	configure_janus "$@"
	# Unlike what tests/run builds, Janus needs GnuTLS.
	env -u GNUTLS_NO_IMPLICIT_INIT janus -F "$scratch/janus" -C janus/janus.jcfg >janus.log 2>&1 &
	echo $! >janus.pid
	note "$scratch/janus.pid" INT
	until curl -s -o /dev/null "http://$address:8188/"; do
		kill -0 "$(cat janus.pid)" || fail "janus"
	done
}

# ask PATH BODY FILTER: prints the part of the response that FILTER selects.
ask()
{
	curl -sS -H "Authorization: Bearer $token" -d "$2" "$base$1" >answer || fail "$1"
	jq -er "$3" answer || fail "$1: $(cat answer)"
}

# The service with its data, and the codes of two rooms.
prepare()
{
	ask /v2/backends "$(jq -n --arg url "ws://$address:8188/" --arg secret "$secret" \
		'{name: "janus", type: "janus", url: $url, default: true, config: {secret: $secret}}')" .id
	ask /v2/templates '{"default": true, "roles": {
		"host": {"publishParams": {"allowed": ["audio", "video"]}},
		"guest": {"publishParams": {"allowed": []}, "subscribeParams": {"subscribeToRoles": ["host"]}}}}' .id
	room=$(ask /v2/rooms '{}' .id)
	other=$(ask /v2/rooms '{}' .id)
	CODES=$(jq -n --arg host "$(ask "/v2/room-codes/room/$room/role/host" '{}' .code)" \
		--arg guest "$(ask "/v2/room-codes/room/$room/role/guest" '{}' .code)" \
		--arg other "$(ask "/v2/room-codes/room/$other/role/guest" '{}' .code)" \
		'{host: $host, guest: $guest, other: $other}')
}

prove()
{
	make_scratch
	start_responder service
	start_nginx service
	prepare >/dev/null
	start_janus "$room" "$other"
	mkdir recordings || exit 1
	BASE_URL=$base SECRET=$secret ROOM_SECRET=$room_secret RECORDINGS=$scratch/recordings
	export CODES BASE_URL SECRET ROOM_SECRET RECORDINGS
	timeout 120 node "$PROOF/prove.js" || fail 'the rooms'
}

own_network="unshare --user --map-current-user --keep-caps --net"
if [ -n "${IN_OWN_NETWORK-}" ]; then
	begin_network || fail 'the network'
	prove
	exit 0
fi
if [ -n "${PROOF-}" ]; then
	IN_OWN_NETWORK=yes exec $own_network sh "$0"
fi
for tool in janus chromium ip unshare jq; do
	have $tool || left_out "$tool is not installed"
done
$own_network true 2>/dev/null || left_out 'unshare cannot create a network here'
fetch_proof janus
(
	become_ordinary
	IN_OWN_NETWORK=yes exec $own_network sh "$0"
)
