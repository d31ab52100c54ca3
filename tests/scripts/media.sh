#!/bin/sh
# The tokens and links for media servers, recomputed by other programs: tests/media describes it. Needs
# Node and the npm packages in tests/media/package.json; skipped if they cannot be installed.
set -u
test=tests/scripts/media.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"

prove()
{
	make_scratch
	start_responder service
	start_nginx service
	TOKEN=$token
	BASE_URL=$base
	export TOKEN BASE_URL
	timeout 300 node "$PROOF/prove.js" || fail 'a token is wrong'
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
