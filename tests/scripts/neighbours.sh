#!/bin/sh
# Eight neighbours that send the most expensive requests as fast as they get responses delay a normal client no
# more than eight neighbours that request one template each. With a real nginx, one client reads a template 200
# times a second, alternately next to eight ordinary neighbours and next to eight neighbours of each kind below. For each kind the lowest of the 99th percentiles counts, because other work on the machine can only add
# to it. It may be three times that of the ordinary neighbours, or 2 ms if that is more: half a tick of the
# kernel, for which a thread may have to wait for another one.
#
# If hundreds of megabytes per second are transferred, nginx and the kernel alone delay other clients. So
# neighbours with large responses are compared with neighbours that get a file of the same size from nginx, and
# neighbours that send 240 KB per request with neighbours that send as much to a path that does not exist: a
# normal client may wait twice as long as next to these. nginx itself rejects most join requests, a hundred
# thousand per second, and uses as much processor time for them as for the file, so the neighbours that send
# them are compared with the file too.
#
# The neighbours have their own account and address, and run when the processors have nothing else to do, as if
# they were on other machines.
#
#     sh tests/scripts/neighbours.sh [KIND...]    only these kinds
#
# Environment: FORMER, the number of codes of deleted roles in the neighbours' room (2000); ROUNDS (3);
# SECONDS_EACH (4).
set -u
test=tests/scripts/neighbours.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
for needed in nginx spawn-fcgi curl wrk chrt jq; do
	have $needed || { say "needs $needed" && exit 77; }
done
former=${FORMER:-2000}
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-4}
wanted=$*
become_ordinary "$@"
make_scratch
start_responder neighbours
start_nginx neighbours
printf 'header = "Authorization: Bearer %s"\n' "$token" >good
"$program" account add other --data "$scratch/neighbours" >/dev/null || fail 'account add'
other=$("$program" token other --data "$scratch/neighbours") || fail 'token'
printf 'header = "Authorization: Bearer %s"\n' "$other" >other

# as WHO METHOD PATH [BODY-FILE]: sends a request that must succeed, and prints the response.
as()
{
	curl --config "$1" -sS --fail-with-body --max-time 600 -X "$2" \
		${4+-H 'Content-Type: application/json' --data-binary "@$4"} "$base$3" ||
		fail "$2 $3 by $1"
}

# names N PREFIX: prints a JSON object with N empty objects.
names()
{
	jq -nc --arg prefix "$2" "[range($1) | {(\$prefix + tostring): {}}] | add"
}

# The template of the normal client, and the data of the ordinary neighbours.
echo '{"name":"good","roles":{"host":{},"guest":{}}}' >small
good_id=$(as good POST /v2/templates small | jq -r .id)
ordinary_id=$(as other POST /v2/templates small | jq -r .id)

# A room with many codes of deleted roles. A hundred roles are created and deleted at a time.
names 100 first >hundred.1
names 100 second >hundred.2
for n in 1 2; do
	jq -c '{name: "changing", roles: .}' hundred.$n >changing.$n
done
changing_id=$(as other POST /v2/templates changing.1 | jq -r .id)
printf '{"name":"changing","template_id":"%s"}' "$changing_id" >room
room=$(as other POST /v2/rooms room | jq -r .id)
as other POST "/v2/room-codes/room/$room" >/dev/null
made=0
while [ $made -lt "$former" ]; do
	for n in 2 1; do
		as other POST "/v2/templates/$changing_id" changing.$n >/dev/null
	done
	as other GET "/v2/room-codes/room/$room?limit=10" >/dev/null
	made=$((made + 200))
done
code=$(as other POST "/v2/room-codes/room/$room" | jq -r '.data[0].code')
printf '{"template_id":"%s"}' "$changing_id" >move.1
printf '{"template_id":"%s"}' "$ordinary_id" >move.2
printf '{"code":"%s"}' "$code" >join
printf '{"code":"%s","enabled":true}' "$code" >enable

# Templates of the maximum size: a hundred of them are a response of 50 MB.
jq -nc '{roles: (reduce range(100) as $n ({}; . + {("role\($n)"): {subscribeParams:
	{subscribeToRoles: [range(99) | "role\(.)"]}}}))}' >large
largest=$(wc -c <large)
i=0
while [ $i -lt 100 ]; do
	as other POST /v2/templates large >/dev/null
	i=$((i + 1))
done

# Such a page as a file.
mkdir -p "$scratch/pages/web"
as other GET "/v2/templates?limit=10" >"$scratch/pages/web/page"

# Bodies that are expensive to reject.
jq -nc '{roles: {r: {subscribeParams: {subscribeToRoles: [range(110000) | 1]}}}}' >faults
jq -nc '{name: "unknown", ("x" * 240000): 1}' >unknown
awk 'BEGIN { while (i++ < 100000) printf "["; printf "\n" }' >deep
awk 'BEGIN { printf "{\"name\":\""; while (i++ < 40000) printf "\\ud83d"; printf "\"}\n" }' >surrogates
awk 'BEGIN { printf "{\"name\":\"a\""; while (i++ < 15000) printf ",\"m%d\":%d", i, i; printf "}\n" }' >members
awk 'BEGIN { printf "{\"priority\":"; while (i++ < 240000) printf "9"; printf "}\n" }' >digits

cat >neighbour.lua <<'END'
-- BODIES: files that are sent in turn, from the environment; METHOD and BEARER too.
local bodies, n = {}, 0
for name in (os.getenv "BODIES"):gmatch "%S+" do
	bodies[#bodies + 1] = io.open(name):read "a*"
end
wrk.method = os.getenv "METHOD"
wrk.headers.Authorization = "Bearer " .. os.getenv "BEARER"
if #bodies > 0 then
	wrk.headers["Content-Type"] = "application/json"
end
function request()
	n = n + 1
	return wrk.format(nil, nil, nil, bodies[n % math.max(#bodies, 1) + 1])
end
END

# kind NAME METHOD PATH [BODY-FILE...]: a kind of neighbour of the table below.
kind()
{
	name=$1
	METHOD=$2
	path=$3
	shift 3
	BODIES=$*
	BEARER=$other
	export METHOD BODIES BEARER
	case " $wanted " in
	'  ' | *" $name "*) ;;
	*)
		case $name in
		ordinary | file | body) ;;
		*) return 0 ;;
		esac
		;;
	esac
	timeout 600 chrt -i 0 wrk -t1 -c8 -d"$((seconds + 1))s" --timeout 60s -s neighbour.lua \
		"$base$path" >"wrk.$name" 2>&1 &
	neighbours=$!
	curl --config good -sS --max-time 600 --rate 200/s -o /dev/null \
		-w '%{http_code} %{time_starttransfer}\n' \
		"$base/v2/templates/$good_id?[1-$((seconds * 200))]" >durations 2>&1
	wait $neighbours || fail "$name: $(cat "wrk.$name")"
	grep -v '^200 ' durations | head -n 3 | grep . && fail "$name: the normal client was not served"
	grep -q '^Requests/sec: *0\.00' "wrk.$name" && fail "$name: the neighbours did nothing"
	awk '{ print int($2 * 1000000) }' durations | sort -n |
		awk '{ all[NR] = $1 } END { print all[int(NR * 0.5)], all[int(NR * 0.99)] }' >>"times.$name"
	[ "$round" != 1 ] || kinds="$kinds $name"
}

turn()
{
	kind ordinary GET "/v2/templates/$ordinary_id"
	kind file GET /web/page
	kind body POST /v2/nothing digits
	kind page GET "/v2/templates?limit=100"
	kind small-page GET "/v2/templates?limit=10"
	kind codes GET "/v2/room-codes/room/$room?limit=10"
	kind all-codes POST "/v2/room-codes/room/$room"
	kind code GET "/v2/room-codes/code/$code"
	kind enable POST /v2/room-codes/code enable
	kind join POST /v2/token join
	kind move POST "/v2/rooms/$room" move.1 move.2
	kind change POST "/v2/templates/$changing_id" changing.1 changing.2
	kind large POST "/v2/templates/$changing_id" large changing.1
	kind faults POST /v2/templates faults
	kind unknown POST /v2/templates unknown
	kind deep POST /v2/templates deep
	kind surrogates POST /v2/templates surrogates
	kind members POST /v2/templates members
	kind digits POST /v2/templates digits
}

say "a large template takes $largest bytes to create"
kinds=
round=1
while [ $round -le "$rounds" ]; do
	turn
	round=$((round + 1))
done

# lowest COLUMN NAME
lowest()
{
	cut -d' ' -f"$1" "times.$2" | sort -n | head -n 1
}

limit=$((3 * $(lowest 2 ordinary)))
[ $limit -ge 2000 ] || limit=2000
# twice NAME: prints twice its 99th percentile, or the limit for all if that is more.
twice()
{
	double=$(($(lowest 2 "$1") * 2))
	[ $double -gt $limit ] || double=$limit
	echo $double
}

bad=
for name in $kinds; do
	say "$name: median $(lowest 1 "$name"), 99th percentile $(lowest 2 "$name") microseconds," \
		"$(sed -n 's/^Requests.sec: *//p' "wrk.$name") requests a second," \
		"$(sed -n 's/^ *Non-2xx.*: *//p' "wrk.$name" | grep . || echo 0) rejected"
	case $name in
	file | body) ;;
	join | small-page | all-codes) [ "$(lowest 2 "$name")" -le "$(twice file)" ] || bad="$bad $name" ;;
	faults | unknown | deep | surrogates | members | digits)
		[ "$(lowest 2 "$name")" -le "$(twice body)" ] || bad="$bad $name"
		;;
	*) [ "$(lowest 2 "$name")" -le $limit ] || bad="$bad $name" ;;
	esac
done
[ -z "$bad" ] || fail "the normal client was delayed:$bad"
