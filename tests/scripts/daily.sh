#!/bin/sh
# The commands for rooms and codes of a running service, through a real nginx: their output and exit
# statuses, where they find the service and the token, lists of several pages, and repeated requests. A
# second nginx in front causes the faults that the files in faults/ ask for.
set -u
test=tests/scripts/daily.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
for needed in nginx spawn-fcgi curl jq openssl; do
	have $needed || { say "needs $needed" && exit 77; }
done
become_ordinary
make_scratch
unset ANTEROOM_URL ANTEROOM_TOKEN XDG_CONFIG_HOME
unset http_proxy https_proxy all_proxy no_proxy HTTPS_PROXY ALL_PROXY NO_PROXY
HOME=$scratch/home
export HOME
mkdir home faults front front/temporary || exit 1
"$program" room list 2>err
! grep -q 'built without libcurl' err || { say 'this build has no libcurl' && exit 77; }

# ---- what is checked ----

# run STATUS ARGUMENT...
run()
{
	expected_status=$1
	shift
	timeout 120 "$program" "$@" >out 2>err </dev/null
	status=$?
	[ $status = "$expected_status" ] || fail "$*: status $status: $(cat out err)"
}

# IDs, generated codes and times, and therefore the widths of their columns, differ from run to run.
same()
{
	sed -E 's/[0-9a-f]{24}/ID/g; s/\b[a-z]{3}-[a-z]{4}-[a-z]{3}\b/CODE/g
		s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/g; s/  +/  /g'
}

# must_be WHAT GOT: compares GOT with standard input.
must_be()
{
	cat >expected
	same <"$2" >got
	cmp -s expected got || fail "$1: it is

$(cat got)

and not

$(cat expected)"
}

# prints ARGUMENT...: the command prints what is on standard input, and nothing on stderr.
prints()
{
	run 0 "$@" </dev/null
	must_be "$*" out
	[ ! -s err ] || fail "$* says $(cat err)"
}

# refuses STATUS ARGUMENT...: the command prints what is on standard input on stderr, and nothing on
# stdout.
refuses()
{
	run "$@" </dev/null
	must_be "$*" err
	[ ! -s out ] || fail "$* prints $(cat out)"
}

# ---- the servers ----

# Control characters that a terminal would obey, as JSON escapes, and as allowed unescaped in a JSON
# string.
controls=$(printf '\177\302\233')
hostile=$(for member in id name code role state template user_id label key join_url scopes '\u001b'; do
	printf '%s' ",\"$member\":\"x\u001b]0;\u0007${controls}m\""
done)
hostile="{${hostile#,}}"

try_front()
{
	cat >front/nginx.conf <<-END
		pid front/nginx.pid;
		events { }
		http {
			client_body_temp_path front/temporary/body;
			proxy_temp_path front/temporary/proxy;
			fastcgi_temp_path front/temporary/fastcgi;
			scgi_temp_path front/temporary/scgi;
			uwsgi_temp_path front/temporary/uwsgi;
			log_format key '\$request_method \$http_idempotency_key';
			access_log front/keys key;
			server {
				listen 127.0.0.1:$port;
				listen 127.0.0.1:$((port + 1)) ssl;
				ssl_certificate $scratch/certificate.pem;
				ssl_certificate_key $scratch/key.pem;
				set \$page "\$arg_limit";
				error_page 418 = @cut;
				location / {
					if (-f $scratch/faults/busy) {
						add_header Retry-After 2 always;
						return 503 '{"code":503,"message":"Busy"}';
					}
					if (-f $scratch/faults/busy-long) {
						add_header Retry-After 11 always;
						return 503 '{"code":503,"message":"Busy"}';
					}
					if (-f $scratch/faults/under-way) {
						add_header Retry-After 3 always;
						return 409 '{"code":409,"message":"Under way"}';
					}
					if (-f $scratch/faults/silent) { return 444; }
					if (-f $scratch/faults/moved) {
						return 308 https://elsewhere.example\$request_uri;
					}
					if (-f $scratch/faults/page) { return 200 '<html>'; }
					if (-f $scratch/faults/error-page) { return 404 '<html>'; }
					if (-f $scratch/faults/controls) {
						return 400 '{"message":"a\\u001b[1mb","details":["/\\u009b\\u000a"]}';
					}
					if (-f $scratch/faults/terminal) {
						return 200 '{"data":[$hostile],"last":"x",${hostile#?}';
					}
					if (-f $scratch/faults/terminal-moved) {
						add_header Location "https://a$controls" always;
						return 399 '{}';
					}
					if (-f $scratch/faults/too-long) { set \$page "\$page, too long"; }
					if (\$page = '100, too long') {
						return 413 '{"code":413,"message":"Too long"}';
					}
					if (-f $scratch/faults/cut) { return 418; }
					proxy_pass $service;
				}
				# The request arrives, and its response is lost.
				location @cut {
					mirror /mirrored;
					proxy_pass http://127.0.0.1:1;
				}
				location = /mirrored {
					internal;
					access_log off;
					proxy_pass $service\$request_uri;
				}
			}
			# Two LiveKits without people.
			server {
				listen 127.0.0.1:$((port + 2));
				listen 127.0.0.1:$((port + 3));
				location = /twirp/livekit.RoomService/ListRooms { return 200 '{"rooms":[]}'; }
				location / { return 200 '{}'; }
			}
		}
	END
	nginx -p "$scratch/" -c front/nginx.conf -e front/error.log
}

make_certificate
start_responder daily --media-allow 127.0.0.1/32
start_nginx daily
service=$base
start_on_port try_front
note front/nginx.pid QUIT
front=$base
front_tls=https://127.0.0.1:$((port + 1))
printf 'header = "Authorization: Bearer %s"\n' "$token" >curl.conf
template=$(curl --config curl.conf -sS "$service/v2/templates" \
	-d '{"name":"lessons","default":true,"roles":{"host":{},"guest of honour":{}}}' | jq -r .id)
ANTEROOM_URL=$service
ANTEROOM_TOKEN=$token
export ANTEROOM_URL ANTEROOM_TOKEN

# ---- rooms ----

prints room list <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
END
prints room list --json <<'END'
[]
END
prints room add lesson-1 <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
ID  true  lessons  -  -  lesson-1
END
prints room add lesson-2 --template "$template" --title 'Lesson 2: Übung' --description 'For two' \
	--opens-at 2036-11-23T09:00:00Z --closes-at 2036-11-23T11:00:00+01:00 <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
ID  true  lessons  TIME  TIME  lesson-2
END
run 0 room add --json
[ "$(jq -r .enabled out)" = true ] || fail "room add --json: $(cat out)"
id=$(jq -r .id out)
curl --config curl.conf -sS "$service/v2/rooms/$id" >direct
say >>direct
for room in "$id" "$(jq -r .name out)"; do
	run 0 room show "$room" --json
	cmp -s out direct || fail "room show --json: $(cat out), unlike the response: $(cat direct)"
done
run 0 room show LESSON-2
same <out >got
while read -r line; do
	grep -qxF "$line" got || fail "room show lacks $line: $(cat out)"
done <<'END'
MEMBER  VALUE
id  ID
name  lesson-2
enabled  true
description  For two
title  Lesson 2: Übung
recording_info  {"enabled":false}
opens_at  TIME
END
prints room disable lesson-1 <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
ID  false  lessons  -  -  lesson-1
END
prints room list --disabled <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
ID  false  lessons  -  -  lesson-1
END
prints room enable lesson-1 <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
ID  true  lessons  -  -  lesson-1
END
run 0 room disable "$id"
prints room list --enabled <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
ID  true  lessons  TIME  TIME  lesson-2
ID  true  lessons  -  -  lesson-1
END
prints room list --enabled --limit 1 <<'END'
ID  ENABLED  TEMPLATE  OPENS AT  CLOSES AT  NAME
ID  true  lessons  TIME  TIME  lesson-2
END
run 0 room list --name Lesson-2 --json
[ "$(jq -r '.[].name' out)" = lesson-2 ] || fail "room list --name: $(cat out)"

# ---- codes ----

# Compared exactly, including spaces.
run 0 code add lesson-1 'guest of honour' --code open-day-2036 --max-uses 3 --user-id 'zoë/1' \
	--label "$(printf 'red\033[31m\302\233')" --expires-at 2036-11-23T12:00:00Z
cat >expected <<'END'
CODE           ROLE             ENABLED  STATE   EXPIRES AT            USES  MAX USES  USER ID  LABEL
open-day-2036  guest of honour  true     active  2036-11-23T12:00:00Z  0     3         zoë/1    red\x1b[31m\xc2\x9b
END
cmp -s expected out || fail "code add: $(cat out)"
prints code add lesson-1 host --expires-in 2h --max-uses 1 <<'END'
CODE  ROLE  ENABLED  STATE  EXPIRES AT  USES  MAX USES  USER ID  LABEL
CODE  host  true  active  TIME  0  1  -  -
END
code=$(sed -n '2s/ .*//p' out)
run 0 code show "$code" --json
[ "$(jq '(.expires_at | fromdate) - (.created_at | fromdate)' out)" = 7200 ] ||
	fail "--expires-in: $(cat out)"
prints code add lesson-1 host --not-before 2036-11-23T08:00:00Z --name 'Zoë & Co' --label red --code zoes-code <<'END'
CODE  ROLE  ENABLED  STATE  EXPIRES AT  USES  MAX USES  USER ID  LABEL
zoes-code  host  true  not_yet_valid  -  -  -  -  red
END
run 0 code show zoes-code
[ "$(sed -n 's/^name  *//p' out)" = 'Zoë & Co' ] || fail "code show: $(cat out)"
# The link, and the QR code, which is read back if a reader is installed: the half blocks become a
# picture with 4 dots per module (Netpbm's PBM, in which 1 is black).
prints code link zoes-code <<END
$ANTEROOM_URL/join/zoes-code
END
run 0 code link zoes-code --qr
[ "$(tail -n 1 out)" = "$ANTEROOM_URL/join/zoes-code" ] || fail "code link --qr: $(cat out)"
sed '$d' out >qr
qr_picture()
{
	awk '
	function row(text, i, j, line) {
		line = ""
		for (i = 1; i <= length(text); i++)
			for (j = 0; j < 4; j++)
				line = line substr(text, i, 1) " "
		return line
	}
	{
		upper = lower = $0
		gsub(/ /, "1", upper); gsub(/█|▀/, "0", upper); gsub(/▄/, "1", upper)
		gsub(/ /, "1", lower); gsub(/█|▄/, "0", lower); gsub(/▀/, "1", lower)
		upper = row(upper); lower = row(lower)
		for (j = 0; j < 4; j++) rows[n++] = upper
		for (j = 0; j < 4; j++) rows[n++] = lower
		if (length(upper) / 2 > width) width = length(upper) / 2
	}
	END {
		print "P1"; print width, n
		for (i = 0; i < n; i++) print rows[i]
	}' qr
}
qr_picture >qr.pbm
if have zbarimg; then
	zbarimg -q --raw qr.pbm >read 2>err || fail "the QR code cannot be read: $(cat qr)"
	[ "$(cat read)" = "$ANTEROOM_URL/join/zoes-code" ] || fail "the QR code says $(cat read)"
fi
prints code disable open-day-2036 <<'END'
CODE  ROLE  ENABLED  STATE  EXPIRES AT  USES  MAX USES  USER ID  LABEL
open-day-2036  guest of honour  false  disabled  TIME  0  3  zoë/1  red\x1b[31m\xc2\x9b
END
prints code enable open-day-2036 <<'END'
CODE  ROLE  ENABLED  STATE  EXPIRES AT  USES  MAX USES  USER ID  LABEL
open-day-2036  guest of honour  true  active  TIME  0  3  zoë/1  red\x1b[31m\xc2\x9b
END
prints code rotate lesson-1 host <<'END'
CODE  ROLE  ENABLED  STATE  EXPIRES AT  USES  MAX USES  USER ID  LABEL
CODE  host  true  -  -  -  -  -  -
END
prints code rotate lesson-1 host --grace 1h <<'END'
CODE  ROLE  ENABLED  STATE  EXPIRES AT  USES  MAX USES  USER ID  LABEL
CODE  host  true  -  -  -  -  -  -
END
prints code list lesson-1 --role host <<'END'
CODE  ROLE  ENABLED  STATE  EXPIRES AT  USES  MAX USES  USER ID  LABEL
CODE  host  true  active  TIME  0  1  -  -
zoes-code  host  true  not_yet_valid  -  -  -  -  red
CODE  host  true  active  TIME  -  -  -  -
CODE  host  true  -  -  -  -  -  -
END
while read -r filter value expected_codes; do
	run 0 code list lesson-1 "$filter" "$value" --json
	[ "$(jq -r '.[].code' out)" = "$expected_codes" ] || fail "code list $filter $value: $(cat out)"
done <<'END'
--state not_yet_valid zoes-code
--label red zoes-code
--user-id zoë/1 open-day-2036
END
prints code delete zoes-code <<'END'
END

# ---- rejected requests ----

refuses 1 code delete zoes-code <<'END'
anteroom code delete: 404 Room code not found
END
refuses 1 room add lesson-1 <<'END'
anteroom room add: a room named "lesson-1" already exists
END
refuses 1 room add 'no blank' --opens-at noon <<'END'
anteroom room add: 400 Invalid body param
  /name: must be 1 to 128 characters out of a-z A-Z 0-9 - . _ :, got "no blank"
  /opens_at: must be a time such as TIME
END
refuses 1 room show lesson-9 <<'END'
anteroom room show: no room is named "lesson-9"
END
refuses 1 room show 000000000000000000000000 <<'END'
anteroom room show: 404 Room not found
END
# Addresses of a stream are read from a file, or from standard input, because others see command lines.
printf 'rtmp://a.example/app/key\n\n' >addresses
refuses 1 stream external start lesson-1 --addresses addresses <<'END'
anteroom stream external start: 409 This media server's calls cannot be recorded
END
printf 'rtmp://127.0.0.1/app/key\n' >addresses
refuses 1 stream external start lesson-1 --addresses addresses <<'END'
anteroom stream external start: 400 Invalid body param
  /rtmp_urls/0: address not allowed
END
refuses 2 stream external start lesson-1 --addresses /nowhere <<'END'
anteroom stream external start: cannot open /nowhere: No such file or directory
END
refuses 1 stream live show 000000000000000000000000 <<'END'
anteroom stream live show: 404 live stream not found
END
refuses 1 code add lesson-1 nobody <<'END'
anteroom code add: 404 Role not found
END
refuses 1 code add lesson-1 host --expires-in 1h --expires-at 2036-11-23T12:00:00Z <<'END'
anteroom code add: 400 Invalid body param
  /expires_in: not together with expires_at
END
refuses 1 code add lesson-1 host --code open-day-2036 <<'END'
anteroom code add: 409 Room code already exists
END
refuses 1 code list lesson-1 --state asleep <<'END'
anteroom code list: 400 Invalid query parameter
  state: must be one of role_deleted, disabled, expired, used_up, not_yet_valid, active, got "asleep"
END
refuses 1 code rotate lesson-1 host --grace 8d <<'END'
anteroom code rotate: 400 Invalid body param
  /grace_seconds: must be from 0 to 604800, got 691200
END
refuses 1 code show 'a/b c' <<'END'
anteroom code show: 400 The path must be valid percent-encoded UTF-8 without NUL or an encoded slash
END
refuses 2 room list --enabled --disabled <<'END'
anteroom room list: --enabled and --disabled cannot be combined
END
refuses 2 room add --description "$(printf '\377')" <<'END'
anteroom room add: the description is not UTF-8
END
refuses 2 code add lesson-1 <<'END'
anteroom code add: ROLE is missing; see anteroom code add --help
END
refuses 2 code add lesson-1 host --max-uses 0 <<'END'
anteroom code add: --max-uses must be a whole number from 1 to 1000000: got "0"
END

# ---- keys ----

prints key list <<'END'
ID  NAME  SCOPES  EXPIRES AT  CREATED AT
END
run 0 key add ci rooms:read,codes:write --expires-at 2036-11-23T12:00:00Z --json
[ "$(jq -c '[.name, .scopes, .expires_at]' out)" = '["ci",["rooms:read","codes:write"],"2036-11-23T12:00:00Z"]' ] ||
	fail "key add: $(cat out)"
grep -q 'the key is not shown again' err || fail "key add says $(cat err)"
id=$(jq -r .id out)
(umask 077 && jq -r .key out >ci.key)
run 0 room list --token-file ci.key
refuses 1 room add --token-file ci.key <<'END'
anteroom room add: 403 Insufficient scope
  needs rooms:write
END
prints key list <<'END'
ID  NAME  SCOPES  EXPIRES AT  CREATED AT
ID  ci  ["rooms:read","codes:write"]  TIME  TIME
END
prints key remove "$id" </dev/null
refuses 1 room list --token-file ci.key <<'END'
anteroom room list: 401 Token validation error
  invalid key
END
refuses 1 key remove "$id" <<'END'
anteroom key remove: 404 API key not found
END
refuses 1 key add ci rooms <<'END'
anteroom key add: 400 Invalid body param
  /scopes/0: must be one of templates:read, templates:write, rooms:read, rooms:write, codes:read, codes:write, events:read, webhooks:write, backends:write, keys:write, live:read, live:write, sessions:read, sessions:write, bans:read, bans:write, tickets:write, recordings:read, recordings:write, got "rooms"
END
refuses 2 key add ci <<'END'
anteroom key add: SCOPES is missing; see anteroom key add --help
END

# ---- the door ----

prints door list lesson-1 <<'END'
MEMBER  VALUE
count  0
state  null
denied  []

ID  SINCE  ROLE  USER ID  NAME
END
run 0 code add lesson-1 host --admission ask --json
asking=$(jq -r .code out)
knock()
{
	curl -sS -o knocked "$service/v2/token" -d '{"code":"'"$asking"'","user_id":"'"$1"'","wait":true}' || fail 'knock'
}
knock ada
knock eve
prints door list lesson-1 <<'END'
MEMBER  VALUE
count  2
state  null
denied  []

ID  SINCE  ROLE  USER ID  NAME
ID  TIME  host  ada  ""
ID  TIME  host  eve  ""
END
run 0 door list lesson-1 --json
ada=$(jq -r '.tickets[0].id' out)
prints door deny lesson-1 "$ada" --reason 'This is a private lesson.' <<'END'
ID  STATE  NAME
ID  denied  ""
END
refuses 1 door deny lesson-1 000000000000000000000000 <<'END'
anteroom door deny: 404 ticket not found
END
prints door admit lesson-1 "$ada,000000000000000000000000" <<'END'
ADMITTED
0
END
prints door denied lesson-1 <<'END'
MEMBER  VALUE
tickets  [{"id":"ID","name":"","user_id":"eve","role":"host","since":"TIME"}]
count  1
state  null

ID  UNTIL  ROLE  USER ID  NAME
ID  TIME  host  ada  ""
END
prints door allow lesson-1 "$ada" <<'END'
ID  STATE  NAME
ID  admitted  ""
END
prints door set lesson-1 locked <<'END'
STATE  WAS
locked  null
END
prints door set lesson-1 roles <<'END'
STATE  WAS
null  -
END
refuses 1 door set lesson-1 shut <<'END'
anteroom door set: 400 Invalid body param
  /state: must be one of open, ask, locked, got "shut"
END
prints door admit lesson-1 all <<'END'
ADMITTED
1
END
run 0 code delete "$asking"

# ---- bans ----

prints ban list <<'END'
ID  USER ID  CODE HASH  ROOM ID  EXPIRES AT  REASON
END
run 0 room show lesson-1 --json
id=$(jq -r .id out)
run 0 ban add --user-id mallory --room "$id" --reason noise --json
ban=$(jq -r .id out)
[ "$(jq -c '[.user_id, .reason, .room_id == "'"$id"'"]' out)" = '["mallory","noise",true]' ] || fail "ban add: $(cat out)"
prints ban add --user-id mallory --expires-in 1h <<'END'
ID  USER ID  CODE HASH  ROOM ID  EXPIRES AT  REASON
ID  mallory  -  -  TIME  ""
END
prints ban list --room "$id" <<'END'
ID  USER ID  CODE HASH  ROOM ID  EXPIRES AT  REASON
ID  mallory  -  ID  -  noise
END
prints ban list --user-id mallory <<'END'
ID  USER ID  CODE HASH  ROOM ID  EXPIRES AT  REASON
ID  mallory  -  -  TIME  ""
ID  mallory  -  ID  -  noise
END
prints ban remove "$ban" </dev/null
refuses 1 ban remove "$ban" <<'END'
anteroom ban remove: 404 Ban not found
END
refuses 1 ban add --room "$id" <<'END'
anteroom ban add: 400 Invalid body param
  /user_id: is required unless code is sent
END
refuses 1 ban add --code abc-defg-hij <<'END'
anteroom ban add: 400 Invalid body param
  /code: no such code
END

# ---- sessions ----

prints session list <<'END'
ID  ROOM ID  ACTIVE  PEER COUNT  CREATED AT  UPDATED AT
END
prints usage <<'END'
MEMBER  VALUE
now  {"sessions":0,"peers":0}

DAY  SESSIONS  PEERS  MINUTES  PEAK
END
secret=$(openssl rand -hex 20)
curl --config curl.conf -sS -o backend "$service/v2/backends" \
	-d '{"type":"livekit","name":"here","url":"wss://127.0.0.1:1","config":{"api_key":"key","api_secret":"'"$secret"'"}}'
events=$service/v2/backends/$(jq -r .id backend)/events
run 0 room show lesson-1 --json
id=$(jq -r .id out)
made=$(date +%s)000

# about EVENT [PA_DIGIT MORE]: an event about a room of the media server, perhaps of a person there.
about()
{
	printf '{"event":"%s","createdAt":"%s","room":{"sid":"RM_1","name":"%s","creationTimeMs":"%s"}' \
		"$1" "$(date +%s)" "$id" "$made"
	[ $# = 1 ] || printf ',"participant":{"sid":"%s","state":"ACTIVE","joinedAtMs":"%s",%s}' "$2" "${made%?}${2#PA_}" "$3"
	printf '}'
}

# hears EVENT...: the service accepts the event.
hears()
{
	status=$(about "$@" | tell key "$secret" "$events")
	[ "$status" = 204 ] || fail "$1: status $status: $(cat told.answer)"
}

# sessions_are WORDS OPTION...: waits until the list has these words.
sessions_are()
{
	words=$1
	shift
	waited=0
	until run 0 session list "$@" && same <out | grep -qF "$words"; do
		waited=$((waited + 1))
		[ $waited -lt 100 ] || fail "session list $*: $(cat out)"
		sleep 0.1
	done
}

hears participant_joined PA_1 '"identity":"u1","name":"Zoë","attributes":{"role":"host"}'
hears participant_joined PA_2 '"identity":"u2","name":"=Bob, \u001b[31m","attributes":{"role":"guest"}'
sessions_are 'ID  ID  true  2  TIME  TIME' --active
session=$(sed -n '2s/ .*//p' out)

# ---- people inside ----

# The address of this media server is one that nothing may connect to: what is written before it is asked
# is written all the same.
# people_are OPTION...: the list is what is on standard input.
people_are()
{
	run 0 peer list lesson-1 "$@"
	sed -E 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} /PEER /' out >people
	must_be "the people inside $*" people
}

people_are <<'END'
ID  JOINED AT  ROLE  USER ID  NAME
PEER  TIME  host  u1  Zoë
PEER  TIME  guest  u2  =Bob, \x1b[31m
END
people_are --role host <<'END'
ID  JOINED AT  ROLE  USER ID  NAME
PEER  TIME  host  u1  Zoë
END
run 0 peer list "$id" --user-id u2 --json
peer=$(jq -r '.peers | keys[]' out)
# asks ARGUMENT...: the media server would have to be asked, once.
asks()
{
	run 1 "$@"
	[ "$(head -n 1 err)" = "anteroom $1 $2: 502 The media server does not answer" ] || fail "$*: $(cat err)"
}

asks room mute lesson-1 video --role host
asks room mute lesson-1 audio --hold
grep -qF 'people are held' err || fail "room mute --hold: $(cat err)"
asks room mute lesson-1 audio --free
asks peer mute lesson-1 "$peer" audio
asks peer unmute lesson-1 "$peer" screen
asks peer role lesson-1 "$peer" host
asks peer hand lesson-1 "$peer" up
asks peer lower lesson-1 --role host
asks peer remove lesson-1 "$peer" --reason noise --ban-for 1h
grep -qF 'the person is banned' err || fail "peer remove: $(cat err)"
run 0 ban list --user-id u2 --room "$id"
must_be 'the ban of peer remove' out <<'END'
ID  USER ID  CODE HASH  ROOM ID  EXPIRES AT  REASON
ID  u2  -  ID  TIME  noise
END
asks peer remove lesson-1 "$peer" --ban
refuses 1 peer mute lesson-1 "$peer" sideways <<'END'
anteroom peer mute: 400 Invalid body param
  /type: must be one of audio, video, screen, got "sideways"
END
refuses 1 room mute lesson-1 screen --role host <<'END'
anteroom room mute: 400 Invalid body param
  /type: must be one of audio, video, got "screen"
END
refuses 1 peer hand lesson-1 "$peer" sideways <<'END'
anteroom peer hand: 400 Invalid body param
  /hand: must be a boolean, got "sideways"
END
refuses 1 peer role lesson-1 "$peer" nobody <<'END'
anteroom peer role: 400 Invalid body param
  /role: must be a role of the room's template, got "nobody"
END
refuses 1 peer remove lesson-1 x <<'END'
anteroom peer remove: 404 peer not found
END
refuses 2 peer remove lesson-1 "$peer" --ban --ban-for 1h <<'END'
anteroom peer remove: --ban and --ban-for cannot be combined
END
asks room end lesson-1 --reason over --lock
grep -qF 'the room is locked' err || fail "room end: $(cat err)"
run 0 room show lesson-1
grep -q '^enabled  *false$' out || fail "room end --lock: $(cat out)"
run 0 room enable lesson-1
hears room_finished
sessions_are 'ID  ID  false  2  TIME  TIME' --closed --room "$id"
prints session list --active <<'END'
ID  ROOM ID  ACTIVE  PEER COUNT  CREATED AT  UPDATED AT
END
prints session list --after 2036-11-23 <<'END'
ID  ROOM ID  ACTIVE  PEER COUNT  CREATED AT  UPDATED AT
END
run 0 session show "$session"
[ "$(sed -n 's/^peer_count  *//p' out)" = 2 ] || fail "session show: $(cat out)"
sed '1,/^$/d' out >people
must_be 'the people of session show' people <<'END'
JOINED AT  LEFT AT  ROLE  USER ID  NAME
TIME  TIME  host  u1  Zoë
TIME  TIME  guest  u2  =Bob, \x1b[31m
END
run 0 session show "$session" --json
[ "$(jq -c '[.active, (.peers | map(.user_id))]' out)" = '[false,["u1","u2"]]' ] || fail "session show --json: $(cat out)"
run 0 session attendance "$session"
[ "$(head -c 3 out | od -An -tx1 | tr -d ' ')" = efbbbf ] || fail 'session attendance: no byte order mark'
tail -c +4 out | sed 's/,0\.[0-9],/,0.0,/; s/20..-..-.. ..:..:../TIME/g' >people
must_be 'session attendance' people <<'END'
user_id,name,role,first_joined_at (UTC),last_left_at (UTC),minutes,stays,consented_at (UTC)
u1,Zoë,host,TIME,TIME,0.0,1,
u2,"'=Bob,  [31m",guest,TIME,TIME,0.0,1,
END
run 0 session attendance "$session" --separator ';' --timezone Asia/Kathmandu
tail -c +4 out | head -n 1 >people
must_be 'session attendance with other times' people <<'END'
user_id;name;role;first_joined_at (Asia/Kathmandu);last_left_at (Asia/Kathmandu);minutes;stays;consented_at (Asia/Kathmandu)
END
refuses 1 session attendance "$session" --timezone Asia/Nowhere <<'END'
anteroom session attendance: 400 Invalid query parameter
  timezone: must be a time zone that the server knows, such as Europe/Berlin, got "Asia/Nowhere"
END
run 0 usage
sed '1,/^$/d; s/20..-..-../DATE/; s/0\.[0-9]/0/' out >days
must_be 'the days of usage' days <<'END'
DAY  SESSIONS  PEERS  MINUTES  PEAK
DATE  1  2  0  2
END
run 0 usage --before 2026-01-31 --after 2026-01-01 --json
[ "$(jq -c . out)" = '{"now":{"sessions":0,"peers":0},"data":[]}' ] || fail "usage --json: $(cat out)"
refuses 1 usage --after yesterday <<'END'
anteroom usage: 400 Invalid query parameter
  after: must be a date such as 2026-11-23, got "yesterday"
END
refuses 1 usage --after 2020-01-01 <<'END'
anteroom usage: 400 Invalid query parameter
  after: must be at most 399 days before the last day
END
refuses 1 session show x <<'END'
anteroom session show: 404 session not found
END
refuses 2 session list --active --closed <<'END'
anteroom session list: --active and --closed cannot be combined
END

# ---- media servers ----

livekit=ws://127.0.0.1:$((port + 2))
other_livekit=ws://127.0.0.1:$((port + 3))
printf '# of both\n\n  api_key=key\napi_secret=%s\n' "$secret" >secrets
prints backend add first livekit "$livekit" pool=calls weight=2 region=eu --secrets secrets <<END
ID  NAME  TYPE  DEFAULT  POOL  WEIGHT  REGION  DRAINING  URL
ID  first  livekit  false  calls  2  eu  false  $livekit
END
prints backend add second livekit "$other_livekit" pool=calls api_key=key --secrets secrets <<END
ID  NAME  TYPE  DEFAULT  POOL  WEIGHT  REGION  DRAINING  URL
ID  second  livekit  false  calls  100  -  false  $other_livekit
END
prints backend list <<END
ID  NAME  TYPE  DEFAULT  POOL  WEIGHT  REGION  DRAINING  URL
ID  second  livekit  false  calls  100  -  false  $other_livekit
ID  first  livekit  false  calls  2  eu  false  $livekit
ID  here  livekit  false  -  -  -  -  wss://127.0.0.1:1
END
prints backend set first weight=100 region= <<END
ID  NAME  TYPE  DEFAULT  POOL  WEIGHT  REGION  DRAINING  URL
ID  first  livekit  false  calls  100  -  false  $livekit
END
run 0 backend set second room_admin=true --json
[ "$(jq -c '[.name, .config.room_admin, .weight]' out)" = '["second",true,100]' ] || fail "backend set: $(cat out)"
first=$(curl --config curl.conf -sS "$service/v2/backends?name=first" | jq -r '.data[0].id')
say "api_secret=$secret" | timeout 120 "$program" backend set "$first" "url=$livekit/" --secrets - >out 2>err ||
	fail "backend set by ID: $(cat err)"
run 0 backend test first --json
[ "$(jq -c '[.state, .message]' out)" = '["up",""]' ] || fail "backend test: $(cat out)"
run 0 backend test second
run 1 backend test here
grep -qE '^STATE +MILLISECONDS +MESSAGE$' out && grep -q ^down out || fail "backend test of one that is down: $(cat out err)"

# A room at the first one is moved, and the other one has it from then on.
calls=$(curl --config curl.conf -sS "$service/v2/templates" \
	-d '{"name":"calls","settings":{"backend":"calls"},"roles":{"host":{}}}' | jq -r .id)
run 0 backend drain second
run 0 room add call --template "$calls"
run 0 code add call host --code code-of-call
# is_at NAME: the code is exchanged, for this media server.
is_at()
{
	curl -sS -o exchanged "$service/v2/token" -d '{"code":"code-of-call","user_id":"ada"}' || fail 'an exchange'
	[ "$(jq -r .join.backend exchanged)" = "$1" ] || fail "the call is not at the $1: $(cat exchanged)"
}
is_at first
refuses 1 backend drain first --move <<'END'
anteroom backend drain: 409 No other server
  pool calls has none that is up and not draining
END
prints backend undrain second <<END
ID  NAME  TYPE  DEFAULT  POOL  WEIGHT  REGION  DRAINING  URL
ID  second  livekit  false  calls  100  -  false  $other_livekit
END
run 0 backend drain first --move --wait
[ "$(tail -n 1 out)" = '0 rooms, 0 people' ] || fail "backend drain: $(cat out)"
is_at second
prints backend drain first <<'END'
0 rooms, 0 people
END
prints backend move first <<'END'
ROOMS
0
END
prints backend move first --json <<'END'
{"rooms":0}
END
run 0 backend undrain first --json
[ "$(jq .draining out)" = false ] || fail "backend undrain: $(cat out)"

prints backend remove first </dev/null
refuses 1 backend remove second <<'END'
anteroom backend remove: 409 Backend is in use
END
for command in set test drain undrain move remove; do
	refuses 1 backend $command first <<-END
		anteroom backend $command: no backend is named "first"
	END
	refuses 1 backend $command "$first" <<-END
		anteroom backend $command: 404 Backend not found
	END
done
refuses 1 backend move second <<'END'
anteroom backend move: 409 Backend is not draining
END
refuses 1 backend add second livekit "$livekit" --secrets secrets <<'END'
anteroom backend add: 409 Overwrite error
END
refuses 1 backend set second weight=heavy region=EU <<'END'
anteroom backend set: 400 Invalid body param
  /weight: must be an integer, got "heavy"
  /region: must be one of in, us, eu, got "EU"
END
refuses 1 backend set second url=wss://elsewhere.example <<'END'
anteroom backend set: 400 Invalid body param
  /config/api_secret: must be sent again when the address changes
END
refuses 2 backend add third livekit "$livekit" api_key=key "api_secret=$secret" <<'END'
anteroom backend add: api_secret is a secret, which others could see on the command line; use --secrets FILE
END
refuses 2 backend add third livekit "$livekit" weight <<'END'
anteroom backend add: "weight" is not MEMBER=VALUE
END
refuses 2 backend add third livekit "$(printf '\377')" <<'END'
anteroom backend add: the url is not UTF-8
END
refuses 2 backend set second --secrets /nowhere <<'END'
anteroom backend set: cannot open /nowhere: No such file or directory
END
say nonsense >secrets
refuses 2 backend set second --secrets secrets <<'END'
anteroom backend set: a line of the file is not MEMBER=VALUE
END

# ---- lists of several pages ----

curl --config curl.conf -sS -o /dev/null -d '{}' "$service/v2/rooms?[1-121]" || fail 'no rooms'
for asked in : '--limit 1' '--limit 99' '--limit 100' '--limit 101' '--limit 125' '--limit 1000'; do
	# shellcheck disable=SC2086
	run 0 room list --json ${asked#:}
	want=${asked#--limit }
	case $want in : | 1000) want=125 ;; esac
	[ "$(jq -c '[length, (map(.id) | unique | length), map(.id) == (map(.id) | sort | reverse)]' out)" = \
		"[$want,$want,true]" ] || fail "room list $asked: $(jq length out)"
done
run 0 room list
[ "$(wc -l <out)" = 126 ] || fail 'room list'

# ---- faults between the command and the service ----

: >faults/too-long
run 0 room list --json --url "$front/"
rm faults/too-long
[ "$(jq length out)" = 125 ] || fail "long pages: $(jq length out)"

# logged N: waits until N requests are logged; nginx may log them after the client has disconnected.
logged()
{
	waited=0
	until [ "$(wc -l <front/keys)" -ge "$1" ]; do
		waited=$((waited + 1))
		[ $waited -lt 100 ] || return 1
		sleep 0.1
	done
}

# passes FAULT SAID ARGUMENT...: the command first fails because of the fault, reports it, and then
# succeeds without the fault. Each attempt has the same idempotency key.
passes()
{
	fault=$1
	said=$2
	shift 2
	: >"faults/$fault"
	: >front/keys
	: >err
	timeout 120 "$program" "$@" --url "$front" >out 2>err </dev/null &
	pid=$!
	until grep -q retrying err; do
		kill -0 $pid 2>/dev/null || fail "$fault: $* does not retry: $(cat err)"
		sleep 0.1
	done
	rm "faults/$fault"
	wait $pid || fail "$fault: $* fails: $(cat err)"
	grep -qxF "anteroom $1 $2: $said" err || fail "$fault: $* says $(cat err)"
	logged 2 && [ "$(sort -u front/keys | wc -l)" = 1 ] ||
		fail "$fault: the keys are $(cat front/keys)"
}

passes busy 'the server responds with 503; retrying in 2 s' room add during-503
passes under-way 'the server responds with 409; retrying in 3 s' room add during-409
passes silent 'no response: Empty reply from server; retrying in 1 s' room list
grep -qx 'GET -' front/keys || fail "a key with GET: $(cat front/keys)"
run 0 room show lesson-1 --json
id=$(jq -r .id out)
# Here the first attempt is carried out, so the second one succeeds only because the response was stored.
passes cut 'the server responds with 502; retrying in 1 s' room add while-cut
passes cut 'the server responds with 502; retrying in 1 s' code add "$id" host --label cut
run 0 code list "$id" --label cut --json
[ "$(jq length out)" = 1 ] || fail "created twice: $(cat out)"
code=$(jq -r '.[0].code' out)
passes cut 'the server responds with 502; retrying in 1 s' code delete "$code"
# The media server does not let anybody in, so this is repeated, too.
passes cut 'the server responds with 502; retrying in 1 s' door admit "$id" all
refuses 1 code link "$code" <<'END'
anteroom code link: 404 Room code not found
END
refuses 1 code show "$code" <<'END'
anteroom code show: 404 Room code not found
END

# fails FAULT TRIES ARGUMENT...: the command fails and prints what is on standard input.
fails()
{
	fault=$1
	tries=$2
	shift 2
	: >"faults/$fault"
	: >front/keys
	refuses 1 "$@" --url "$front"
	rm "faults/$fault"
	logged "$tries" && [ "$(wc -l <front/keys)" = "$tries" ] || fail "$fault: $* tried $(wc -l <front/keys) times"
}

fails under-way 3 room add x <<'END'
anteroom room add: the server responds with 409; retrying in 3 s
anteroom room add: the server responds with 409; retrying in 3 s
anteroom room add: 409 Under way
END
fails silent 3 room add x <<'END'
anteroom room add: no response: Empty reply from server; retrying in 1 s
anteroom room add: no response: Empty reply from server; retrying in 2 s
anteroom room add: no response: Empty reply from server
END
fails busy-long 1 code list "$id" <<'END'
anteroom code list: 503 Busy
END
fails moved 1 room show "$id" <<'END'
anteroom room show: 308, redirect to https://elsewhere.example/v2/rooms/ID; redirects are not followed because they would pass on the token
END
fails page 1 room list <<'END'
anteroom room list: 200, but the response is not a JSON object; check the URL
END
fails error-page 1 room list <<'END'
anteroom room list: 404, and the response is not from Anteroom; check the URL
END
fails controls 1 room list <<'END'
anteroom room list: 400 a\x1b[1mb
  /\xc2\x9b\x0a
END
# No control characters reach the terminal, and the JSON is the same JSON.
: >faults/terminal
for command in "room list" "room show $id" "code list $id" "code show $code" "code link $code" "key list" \
	"code add $id host" "code rotate $id host" "room disable $id" "key add x rooms:read" "ban add" "ban list" "session list" \
	"session show x" usage "peer list $id" "peer role $id y z"; do
	run 0 $command --url "$front"
	grep -qF 'x\x1b]0;' out || fail "$command: does not show what it leaves out: $(cat out)"
	[ -z "$(LC_ALL=C tr -d '\12\40-\176' <out)" ] || fail "$command: control characters: $(od -c out)"
	[ "$command" = "code link $code" ] || {
		run 0 $command --url "$front" --json
		[ -z "$(LC_ALL=C tr -d '\11\12\40-\176' <out)" ] || fail "$command --json: $(od -c out)"
		[ "$(jq -c '[.. | .name? // empty | select(length != 9)]' out)" = '[]' ] || fail "$command --json: $(cat out)"
	}
done
rm faults/terminal
: >faults/terminal-moved
run 1 room list --url "$front"
[ -z "$(LC_ALL=C tr -d '\12\40-\176' <err)" ] || fail "an address in a redirect: $(od -c err)"
rm faults/terminal-moved
run 1 room list --url http://127.0.0.1:1
[ "$(grep -c 'no response: .*; retrying in [12] s$' err)" = 2 ] && [ "$(wc -l <err)" = 3 ] ||
	fail "no server: $(cat err)"
run 1 room list --url "$front_tls"
grep -q '^anteroom room list: no response: .*certificate' err && [ "$(wc -l <err)" = 1 ] ||
	fail "a certificate that is not trusted: $(cat err)"

# ---- where service and token are found ----

unset ANTEROOM_URL ANTEROOM_TOKEN
XDG_CONFIG_HOME=$scratch/xdg
export XDG_CONFIG_HOME
mkdir -p xdg/anteroom home/.config/anteroom || exit 1
umask 077
say "$token" >good
say wrong >bad
printf '%s\r\n' "$token" >xdg/anteroom/good
missing='anteroom room list: no server URL: use --url URL, set ANTEROOM_URL, or add the line url = URL to ~/.config/anteroom/client.conf'
run 2 room list
say "$missing" | must_be 'no URL' err
run 2 room list --url "$service"
grep -q 'no token: use --token-file FILE, set ANTEROOM_TOKEN, or' err || fail "no token: $(cat err)"

# found CONFIGURATION ENVIRONMENT ARGUMENT...: all other places are wrong, so the command fails if it
# uses them.
found()
{
	# shellcheck disable=SC2059
	printf "$1" >xdg/anteroom/client.conf
	environment=$2
	shift 2
	# shellcheck disable=SC2086
	env $environment timeout 120 "$program" room list --limit 1 --json "$@" >out 2>err </dev/null
	status=$?
	[ $status = 0 ] && [ "$(jq length out)" = 1 ] || fail "$environment $*: status $status: $(cat err)"
}

wrong='url = ftp://x\ntoken = wrong\n'
found "$wrong" 'ANTEROOM_URL=ftp://x ANTEROOM_TOKEN=wrong' --url "$service" --token-file good
found "$wrong" "ANTEROOM_URL=$service ANTEROOM_TOKEN=$token"
found "$wrong" "ANTEROOM_URL=$service ANTEROOM_TOKEN=wrong" --token-file good
found "url = $service\ntoken = $token\n" ''
found "url = $service\ntoken = $token\n" 'ANTEROOM_URL= ANTEROOM_TOKEN='
found "# mine\n\n  url=$service/ \r\n\ttoken-file = $scratch/good" ''
found "url = $service\ntoken-file = good\n" ''
found "url = ftp://x\ntoken-file = good\n" "ANTEROOM_URL=$service"
found "url = $service\ntoken = wrong\n" "ANTEROOM_TOKEN=$token"
found 'nonsense' "ANTEROOM_URL=$service ANTEROOM_TOKEN=$token"
mkfifo pipe || exit 1
cat good >pipe &
chmod 644 pipe
found '' "ANTEROOM_URL=$service" --token-file pipe
wait

# not_found CONFIGURATION WORDS ARGUMENT...: a usage error.
not_found()
{
	# shellcheck disable=SC2059
	printf "$1" >xdg/anteroom/client.conf
	words=$2
	shift 2
	run 2 room list "$@"
	grep -qF "$words" err || fail "$words is missing: $(cat err)"
	! grep -q "$token" err || fail "it shows the token: $(cat err)"
}

not_found 'url = http://x\nnonsense\n' 'client.conf, line 2: expected url = URL, token-file = FILE'
not_found 'url =\n' 'client.conf, line 1: expected url'
not_found "= $token\n" 'client.conf, line 1: expected url'
not_found 'url = http://x\ntoken-file = none\n' "cannot open $scratch/xdg/anteroom/none: No such file"
not_found 'token = a b\n' 'does not contain a token: it must be a single word' --url "$service"
not_found '' "none: No such file" --token-file none
not_found '' 'must start with https:// or http://, got "x"' --url x --token-file good
not_found '' 'the URL must have a port from 1 to 65535, if any: got "http://x:65536"' --url http://x:65536 --token-file good
not_found '' 'must not include /v2: got "HTTP://x/v2"' --url HTTP://x/v2 --token-file good
not_found '' 'the URL must have a scheme and a host' --url "http://user@x" --token-file good
not_found '' 'the URL must have a scheme and a host' --url "http://x/?y" --token-file good
not_found '' 'the URL must have a scheme and a host' --url "http://" --token-file good
not_found '' 'must not include /v2: got "http://x/v2/"' --url "http://x/v2/" --token-file good
not_found '' 'takes a file name, not a token' --url "$service" --token-file "$token"
: >empty
not_found '' "empty has no token" --token-file empty
printf 'a\nX-Other: b\n' >two-lines
not_found '' "two-lines does not contain a token: it must be a single word" --token-file two-lines
head -c 70000 /dev/zero | tr '\0' x >large
not_found '' "cannot read large: File too large" --token-file large

# Token files that other users can read.
chmod 640 good
not_found '' 'good contains a token but other users can read it (mode 0640); run: chmod 600' --url "$service" --token-file good
chmod 600 good
say "token = $token" >xdg/anteroom/client.conf
chmod 604 xdg/anteroom/client.conf
run 2 room list --url "$service"
grep -q 'client.conf contains a token but other users can read it (mode 0604)' err || fail "604: $(cat err)"
say "token-file = good" >xdg/anteroom/client.conf
run 0 room list --url "$service" --limit 1

# Without XDG_CONFIG_HOME, or if it is relative, the file is below HOME.
printf 'url = %s\ntoken-file = %s\n' "$service" "$scratch/good" >home/.config/anteroom/client.conf
XDG_CONFIG_HOME=xdg
run 0 room list --limit 1
unset XDG_CONFIG_HOME
run 0 room list --limit 1
HOME=
run 2 room list
say "$missing" | must_be 'no HOME' err

! grep -rq "$token" daily.log front nginx-daily || fail 'a log has the token'
exit 0
