#!/bin/sh
# Tests the console and the join page in Chromium, against the program behind nginx, with the scripts of
# tests/web. Needs Chromium, Node and the npm packages of tests/web/package.json; skipped without them.
# WEB=all runs all groups, which takes minutes, instead of the most important ones; WEB=live runs those of rooms in
# session, WEB=call those of the call and its door, WEB=rest the others, and WEB=NAME,... the groups of the first two
# with these names, as in the scripts (standing_still). PICTURES=DIRECTORY stores a picture of each page there;
# pictures_of_calls makes those of the call. BROWSER=firefox, with WEB, runs them in Firefox, the one of Debian or
# FIREFOX; checks that speak Chromium's own protocol, or choose a theme or a touch screen, fail there, as does the
# level of a microphone without a sound card.
set -u
test=tests/scripts/web.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"

# Programs that end after seconds: optimising them, and collecting garbage early or in threads, takes longer than it
# saves.
quickly='--no-opt --max-semi-space-size=64 --single-threaded-gc'

prove()
{
	make_scratch
	make_pages
	start_responder service --media-allow 127.0.0.0/8
	start_nginx service
	printed=$("$program" account rotate test --data "$scratch/service" 2>&1) || fail "rotate: $printed"
	ACCESS_KEY=$(say "$printed" | sed -n 's/^access_key: *//p')
	SECRET=$(say "$printed" | sed -n 's/^secret: *//p')
	# The rooms of this account have no media server; people who join its rooms go to this address.
	for option in operator=on "client_url=$base/healthz-client"; do
		"$program" account set test "$option" --data "$scratch/service" >/dev/null || fail 'account set'
	done
	TOKEN=$token
	BASE_URL=$base
	make_certificate
	ln -s service.sock "$scratch/secure.sock"
	start_nginx secure "s|listen @LISTEN@;|listen @LISTEN@ ssl; ssl_certificate $scratch/certificate.pem; ssl_certificate_key $scratch/key.pem;|"
	SECURE_URL=https://127.0.0.1:$port
	DATA=$scratch/service
	ANTEROOM=$program
	WEB_SOURCE=$source/web
	export WEB_SOURCE ACCESS_KEY SECRET TOKEN BASE_URL SECURE_URL DATA ANTEROOM
	timeout 1800 node "$PROOF/prove.js" "${WEB:-brief}" || fail 'checks of the pages failed'
}

if [ -n "${PROOF-}" ]; then
	prove
	exit 0
fi
# Many people have BROWSER in their environment: make check and tests/run do not follow it.
[ -n "${WEB-}" ] || BROWSER=
if [ "${BROWSER-}" = firefox ]; then
	: "${FIREFOX:=/usr/bin/firefox-esr}"
	export FIREFOX
	have "$FIREFOX" || left_out "there is no $FIREFOX"
else
	have chromium || left_out 'there is no chromium'
fi
fetch_proof web
cp -R "$source/tests/cases/samples" "$PROOF" && chmod -R a+rX "$PROOF/samples" || exit 1
# The types, if the scripts have changed since they were right. The declarations of the compiler itself are not ours.
stamp=types
. "$source/tests/tools/stamp.sh"
types=$(cd "$source" && find web tests/scripts/web.sh tests/web/package-lock.json -type f -exec sha256sum {} + |
	sort | checksum)
[ -z "$(echo "$types" | not_passed)" ] ||
	node $quickly "$PROOF/node_modules/typescript/bin/tsc" --skipLibCheck -p "$source/web" || exit 1
echo "$types" | note_passed
(
	become_ordinary
	prove
)
