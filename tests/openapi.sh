#!/bin/sh
# The OpenAPI document against a validator and against the program behind nginx: tests/openapi says
# how. Needs Node and, from npm, what tests/openapi/package.json names; left out where these cannot be
# had.
set -u
test=tests/openapi.sh
. "${SOURCE_DIR:-$(dirname "$0")/..}/tests/servers.sh"

left_out()
{
	say "$test: left out: $*"
	exit 77
}

# Fetched by whoever started this, before root is given up. Sets proof, the folder to run in.
fetch()
{
	for tool in node npm nginx spawn-fcgi curl; do
		have $tool || left_out "there is no $tool"
	done
	proof=$(mktemp -d) || exit 1
	trap 'rm -rf "$proof"' EXIT
	trap 'exit 1' INT TERM HUP
	cp "$source"/tests/openapi/*.js* "$proof" || exit 1
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

prove()
{
	make_scratch
	start_responder service
	start_nginx service
	"$program" account add other --data "$scratch/service" >/dev/null 2>&1 || fail 'account add'
	TOKEN=$token
	TOKEN_B=$("$program" token other --data "$scratch/service") || fail 'token'
	BASE_URL=$base
	PRINTED=$scratch/printed.json
	"$program" openapi >"$PRINTED" || fail 'it is not printed'
	export TOKEN TOKEN_B BASE_URL PRINTED
	timeout 900 node "$PROOF/prove.js" || fail 'the document and the program differ'
}

if [ -n "${PROOF-}" ]; then
	prove
	exit 0
fi
fetch
(
	become_ordinary
	prove
)
