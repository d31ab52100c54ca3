#!/bin/sh
# Clients that generators create from the OpenAPI document compile and do an hour's work, with the
# program behind nginx: tests/clients describes it. Needs Node and the npm packages in
# tests/clients/package.json; skipped if they cannot be installed.
set -u
test=tests/scripts/clients.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"

prove()
{
	make_scratch
	start_responder service
	start_nginx service
	TOKEN=$token
	BASE_URL=$base
	export TOKEN BASE_URL
	for client in openapi-typescript orval hey-api; do
		timeout 120 node "$PROOF/out/$client.js" || fail "$client does not do its work"
	done
}

# make_client COMMAND...: generates a client, quietly unless that fails.
make_client()
{
	made=$(cd "$PROOF" && timeout 120 node "node_modules/$1" "$2" "$3" 2>&1) || fail "$1: $made"
}

if [ -n "${PROOF-}" ]; then
	prove
	exit 0
fi
fetch_proof clients
scratch=$PROOF
"$program" openapi >"$PROOF/printed.json" || fail 'the document is not printed'
make_client openapi-typescript/bin/cli.js printed.json --output=types/schema.ts
make_client orval/dist/bin/orval.js --config orval.config.cjs
make_client @hey-api/openapi-ts/bin/run.js -f openapi-ts.config.mjs
(cd "$PROOF" && node node_modules/typescript/bin/tsc -p .) || fail 'a client does not compile'
chmod -R a+rX "$PROOF"
(
	become_ordinary
	prove
)
