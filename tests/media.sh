#!/bin/sh
# What lets people into the rooms of media servers, recomputed by programs of others: tests/media says
# how. Needs Node and, from npm, what tests/media/package.json names; left out where these cannot be
# had.
set -u
test=tests/media.sh
. "${SOURCE_DIR:-$(dirname "$0")/..}/tests/servers.sh"

prove()
{
	make_scratch
	start_responder service
	start_nginx service
	TOKEN=$token
	BASE_URL=$base
	export TOKEN BASE_URL
	timeout 300 node "$PROOF/prove.js" || fail 'a token is not what it should be'
}

if [ -n "${PROOF-}" ]; then
	prove
	exit 0
fi
fetch_proof media
(
	become_ordinary
	prove
)
