#!/bin/sh
# Importing from 100ms: the output of fetch-100ms from a stand-in for 100ms (tests/tools/public_service.mjs)
# is imported through nginx, and links with the old codes continue to work.
set -u
test=tests/scripts/import.sh
beside=tests/tools/public_service.mjs
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
for tool in node nginx spawn-fcgi curl; do
	have $tool || left_out "$tool is not installed"
done
become_ordinary
make_scratch
management=public.management-token

# ---- the public service ----

node "$source/tests/tools/public_service.mjs" $management >port 2>public.log &
echo $! >public.pid
note "$scratch/public.pid" TERM
timeout 20 sh -c 'until [ -s port ]; do :; done' || fail 'the stand-in does not start'
public=http://127.0.0.1:$(cat port)

# ---- fetch-100ms ----

# Records all arguments of curl: the token must not be among them.
mkdir bin && real=$(command -v curl) || exit 1
{
	echo '#!/bin/sh'
	echo "printf '%s\\n' \"\$*\" >>'$scratch/arguments'"
	echo "exec '$real' \"\$@\""
} >bin/curl
chmod +x bin/curl

# With lower limits, so that endless lists end soon.
script=$scratch/fetch-100ms
sed 's/^pages_most=10000$/pages_most=40/; s/^wait_most=3600$/wait_most=4/; s/^objects_most=10000$/objects_most=300/' \
	"$source/packaging/import/fetch-100ms" >"$script"

fetch()
{
	PATH="$scratch/bin:$PATH" timeout 300 sh "$script" "$@" 2>fetch.log
}

refuses()
{
	wanted=$1
	shift
	fetch "$@" && fail "fetch-100ms $*: it succeeds"
	grep -q "$wanted" fetch.log || fail "fetch-100ms $*: $(cat fetch.log)"
}

mkdir one two || exit 1
refuses 'no token: set' --base "$public" one
refuses 'cannot read nothing' --base "$public" --token-file nothing one
refuses 'usage:' --other
refuses 'not an http or https URL' --base ftp://x one
refuses 'nowhere is not a directory' --base "$public" nowhere
MANAGEMENT_TOKEN='a b' refuses 'characters other than' --base "$public" one
MANAGEMENT_TOKEN=wrong refuses 'does not accept the token: Token validation error' --base "$public" one

# A response that is not a list is an error on any page, and so are an endless list and an endless delay.
while read -r way wanted; do
	MANAGEMENT_TOKEN=$management-$way refuses "$wanted" --base "$public" one
done <<'END'
page GET /v2/templates, page 1: the response is not a list
empty GET /v2/templates, page 1: the response is not a list
object GET /v2/templates, page 1: the response is not a list
array GET /v2/templates, page 1: the response is not a list
string GET /v2/templates, page 1: the response is not a list
data-object GET /v2/templates, page 1: the response is not a list
data-text GET /v2/templates, page 1: the response is not a list
data-number GET /v2/templates, page 1: the response is not a list
data-false GET /v2/templates, page 1: the response is not a list
data-items GET /v2/templates, page 1: the response is not a list
data-lists GET /v2/templates, page 1: the response is not a list
data-twice GET /v2/templates, page 1: the response is not a list
data-deep GET /v2/templates, page 1: the response is not a list
cut GET /v2/templates, page 1: the response is not a list
two GET /v2/templates, page 1: the response is not a list
trailing GET /v2/templates, page 1: the response is not a list
crossed GET /v2/templates, page 1: the response is not a list
third-page GET /v2/templates, page 3: the response is not a list
third-object GET /v2/templates, page 3: the response is not a list
third-no-last GET /v2/templates, page 3: .* continues, but does not say where
repeated GET /v2/templates, page 2: .* where an earlier page ended
circle GET /v2/templates, page 4: .* where an earlier page ended
endless GET /v2/templates: more than 40 pages
later GET /v2/templates: .* asks to wait for longer than 4 seconds
again-later GET /v2/templates: .* asks to wait for longer than 4 seconds
much-later GET /v2/templates: .* asks to wait for longer than 4 seconds
END
[ -z "$(ls -A one)" ] || fail "a failure leaves files: $(ls -A one)"

# Full pages are followed, whatever limit they report.
while read -r way number; do
	MANAGEMENT_TOKEN=$management-$way fetch --base "$public" one || fail "$way: $(cat fetch.log)"
	grep -q "templates: $number\$" fetch.log || fail "$way: $(cat fetch.log)"
	rm one/*
done <<'END'
no-limit 60
too-high 300
END

echo $management >token.file
fetch --base "$public/" --token-file token.file one || fail "fetch-100ms: $(cat fetch.log)"
for line in 'templates: 130' 'rooms: 150' 'room codes: 565' 'not return, such as disabled rooms: 5'; do
	grep -q "$line" fetch.log || fail "it does not say: $line: $(cat fetch.log)"
done
grep -q $management arguments && fail 'the token is an argument of curl'
# A second time, over what an earlier run has left.
cp one/import-* two && : >two/import-0001.json && : >two/import-0099.json || exit 1
MANAGEMENT_TOKEN=$management fetch --base="$public" two || fail "fetch-100ms: $(cat fetch.log)"
diff -r one two >/dev/null || fail 'the files differ when it is run again'
[ -e two/import-0002.json ] || fail 'everything is in one file'
for file in one/import-*.json; do
	[ "$(wc -c <"$file")" -le 1048576 ] || fail "$file is too large"
	node -e '
		const body = JSON.parse(require("fs").readFileSync(process.argv[1]));

		if (Object.values(body).flat().length > 300) process.exit(1);
	' "$file" || fail "$file is not JSON, or has too many objects"
done

# ---- what the manual says ----

# Runs the display after the comment `import`, with the stand-in as 100ms.
sed -n '/^\.\\" import/,/^\.Ed/{/^\./d;s/\\(aq/'"'"'/g;s/\\-/-/g;s/\\e/\\/g;s|/usr/share/anteroom/||;p;}' \
	"$source/packaging/man/anteroom-fetch-100ms.1" >manual.script
[ -s manual.script ] || fail 'the manual has no example'
{
	echo '#!/bin/sh'
	echo "exec sh '$source/packaging/import/fetch-100ms' --base '$public' \"\$@\""
} >bin/fetch-100ms
chmod +x bin/fetch-100ms
start_responder manual
start_nginx manual
PATH="$scratch/bin:$PATH" MANAGEMENT_TOKEN=$management BASE=$base TOKEN=$token \
	sh -eu manual.script >manual.answers 2>manual.errors || fail "the example: $(cat manual.errors)"
grep -q '"rooms":{"created":149,' manual.answers || fail "the example: $(cat manual.answers)"
end_all

# ---- the import ----

start_responder service
start_nginx service

# sum MEMBER KIND: prints the sum over all responses.
sum()
{
	node -e '
		const [member, kind, ...files] = process.argv.slice(1);
		const read = (file) => JSON.parse(require("fs").readFileSync(file));

		console.log(files.map((file) => read(file)[kind][member] ?? 0).reduce((a, b) => a + b, 0));
	' "$1" "$2" answer-*.json
}

import_all()
{
	rm -f answer-*.json
	for file in one/import-*.json; do
		status=$(curl -s -o "answer-${file##*/import-}" -w '%{http_code}' -H "Authorization: Bearer $token" \
			--data-binary "@$file" "$base/v2/import?skip_invalid=true")
		[ "$status" = 200 ] || fail "$file: status $status: $(cat "answer-${file##*/import-}")"
	done
}

import_all
while read -r member kind number; do
	[ "$(sum "$member" "$kind")" = "$number" ] ||
		fail "$kind $member: $(sum "$member" "$kind"), not $number"
done <<'END'
created templates 130
created rooms 149
created room_codes 562
updated rooms 0
length skipped 4
END
import_all
while read -r member kind number; do
	[ "$(sum "$member" "$kind")" = "$number" ] ||
		fail "again: $kind $member: $(sum "$member" "$kind"), not $number"
done <<'END'
created templates 0
updated templates 130
created rooms 0
updated rooms 149
created room_codes 0
updated room_codes 562
END

# exchange CODE: prints the status, and writes the response to $scratch/joined.
exchange()
{
	curl -s -o joined -w '%{http_code}' -d "{\"code\":\"$1\"}" "$base/v2/token"
}

# From the rooms 13 and 15: enabled and disabled codes, a code of a deleted role, and a code of a
# disabled room.
while read -r code wanted role; do
	[ "$(exchange "$code")" = "$wanted" ] || fail "$code: $(cat joined)"
	[ -z "$role" ] || grep -q "\"role\":\"$role\"" joined || fail "$code: $(cat joined)"
done <<'END'
naa-uaa-old 200 host
naa-naaa-new 200 guest
paa-paaa-new 403
zmb-zmba-new 403
aaa-haa-old 404
END
curl -s -H "Authorization: Bearer $token" "$base/v2/rooms?limit=100&before=2022-06-29T17:00:00Z" >rooms.json
node -e '
	const { data } = JSON.parse(require("fs").readFileSync("rooms.json"));
	const ids = data.map(({ id }) => id);

	if (data.length !== 19 || ids.join() !== [...ids].sort().reverse().join()) process.exit(1);
	if (data.some(({ created_at, updated_at }) => created_at !== updated_at)) process.exit(1);
' || fail "the list of rooms: $(cut -c 1-400 rooms.json)"
"$program" check --data "$scratch/service" >check.log 2>&1 || fail "check: $(cat check.log)"
