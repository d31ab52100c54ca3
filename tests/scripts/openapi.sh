#!/bin/sh
# The OpenAPI document, checked with a validator and against the program behind nginx: tests/openapi
# describes it. Needs Node and the npm packages in tests/openapi/package.json; skipped if they cannot be
# installed.
set -u
test=tests/scripts/openapi.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"

prove()
{
	make_scratch
	start_responder service --log-keep 1s --media-allow 127.0.0.1
	start_nginx service
	"$program" account add other --data "$scratch/service" >/dev/null 2>&1 || fail 'account add'
	"$program" account set other operator=on --data "$scratch/service" || fail 'account set'
	TOKEN=$token
	TOKEN_B=$("$program" token other --data "$scratch/service") || fail 'token'
	BASE_URL=$base
	PRINTED=$scratch/printed.json
	"$program" openapi >"$PRINTED" || fail 'the document is not printed'
	export TOKEN TOKEN_B BASE_URL PRINTED
	timeout 900 node "$PROOF/prove.js" || fail 'the document and the program differ'
}

if [ -n "${PROOF-}" ]; then
	prove
	exit 0
fi
fetch_proof openapi
(
	become_ordinary
	prove
)
