#!/bin/sh
# What a normal client notices of 200 misbehaving connections: at most twice the latency. With a real
# nginx, one client reads a template 200 times a second, alone and next to tests/tools/abuser, which
# describes what the misbehaving clients do and how often. The 99th percentile of the client may double. So may the
# 99th percentile of a client that sends its next request immediately, thousands of times a second, which
# keeps the processors awake and is therefore served in half the time (differences below a millisecond do
# not count). Runs alone and next to the abuser alternate, five times, and the lowest values are
# compared, because other work on the machine can only add to them. At the same time, a school of 200
# people joins at once.
set -u
test=tests/scripts/abuse.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
for needed in nginx spawn-fcgi curl mkfifo; do
	have $needed || { say "needs $needed" && exit 77; }
done
helper=abuser
become_ordinary
make_scratch
start_responder abuse
start_nginx abuse
printf 'header = "Authorization: Bearer %s"\n' "$token" >authorized

# post PATH BODY
post()
{
	curl --config authorized -sS --max-time 120 -d "$2" "$base$1" || fail "$1"
}

# member NAME: prints the first value with this name in the response on standard input.
member()
{
	sed -n "s/^[^}]*\"$1\":\"\\([^\"]*\\)\".*/\\1/p"
}

id=$(post /v2/templates '{"name":"good","default":true,"roles":{"host":{}}}' | member id)
room=$(post /v2/rooms '{}' | member id)
code=$(post "/v2/room-codes/room/$room" '' | member code)
[ -n "$code" ] || fail 'no room code'
# Ten large templates make a list of a megabyte, for the clients that read slowly.
i=0
while [ $i -lt 100 ]; do
	roles="${roles+$roles,}\"role$i\":{}"
	i=$((i + 1))
done
while [ $i -lt 110 ]; do
	post /v2/templates "{\"roles\":{$roles}}" >/dev/null
	i=$((i + 1))
done

# percentiles: prints the 50th and the 99th percentile of the times in microseconds on standard input.
percentiles()
{
	sort -n | awk '{ all[NR] = $1 } END { print all[int(NR * 0.5)], all[int(NR * 0.99)] }'
}

# ask N [OPTION...]: a normal client that sends N requests.
ask()
{
	n=$1
	shift
	curl --config authorized -sS --max-time 600 "$@" -o /dev/null \
		-w '%{http_code} %{time_starttransfer}\n' "$base/v2/templates/$id?[1-$n]" >durations 2>&1
	grep -v '^200 ' durations | head -n 3 | grep . && fail 'the normal client was not served'
	awk '{ print int($2 * 1000000) }' durations | percentiles
}

# measure FILE: measures both clients, and adds a line to FILE and to FILE-hurried.
measure()
{
	ask 500 --rate 200/s >>"$1"
	ask 2000 >>"$1-hurried"
}

# A school behind one address, when lessons begin.
join()
{
	curl -sS --interface 127.0.0.3 --max-time 120 --parallel --parallel-max 200 \
		-d "{\"code\":\"$code\"}" -o /dev/null -w '%{http_code}\n' "$base/v2/token?[1-200]" \
		>joined 2>&1
	[ "$(grep -c '^200$' joined)" = 200 ] || fail "joining: $(sort joined | uniq -c)"
}

# start_abuse [KIND N]: starts the misbehaving clients, which exit when descriptor 4 is closed.
start_abuse()
{
	rm -f hold
	mkfifo hold || exit 1
	exec 4<>hold
	: >abusers
	"$(helper_path)" "$port" "$@" <hold >abusers 2>abuser.log 4>&- &
	abuser=$!
	say "$token" >&4
	tries=0
	until grep -q there abusers; do
		tries=$((tries + 1))
		[ $tries -lt 4000 ] || fail 'the misbehaving clients do not connect'
		sleep 0.05
	done
}

end_abuse()
{
	exec 4>&-
	wait $abuser || fail 'the misbehaving clients failed'
}

# were KIND STATUSES: checks the statuses that a kind of client got, by pattern.
were()
{
	answers=$(sed -n "s/^$1//p" abusers)
	# shellcheck disable=SC2254
	case $answers in
	$2) ;;
	*) fail "$1 got$answers" ;;
	esac
}

# Checks that the misbehaving clients sent most of their requests; otherwise the comparison means
# nothing.
were_active()
{
	awk '/^did / { right = 10 * $2 >= 9 * $4 } END { exit !right }' abusers ||
		fail "the misbehaving clients were hindered: $(grep '^did ' abusers)"
}

# lowest COLUMN FILE
lowest()
{
	cut -d' ' -f"$1" "$2" | sort -n | head -n 1
}

# True if the normal client was not affected.
compare()
{
	for what in alone beside; do
		: >$what
		: >$what-hurried
	done
	for round in 1 2 3 4 5; do
		measure alone
		start_abuse
		measure beside
		[ $round != 5 ] || join
		end_abuse
	done
	were_active
	were slow-heads ''
	were slow-bodies ''
	were slow-readers ' 200:*'
	were large-bodies ' 413:*'
	were large-heads ' 431:*'
	were guesses '* 429:*'
	were bad-tokens ' 401:*'
	were bad-bodies ' 400:*'
	cat abusers
	for what in alone beside alone-hurried beside-hurried; do
		say "$what: median $(lowest 1 $what), 99th percentile $(lowest 2 $what) microseconds"
	done
	limit=$(lowest 2 alone-hurried)
	[ "$limit" -ge 1000 ] || limit=1000
	[ "$(lowest 2 beside)" -le $((2 * $(lowest 2 alone))) ] &&
		[ "$(lowest 2 beside-hurried)" -le $((2 * limit)) ]
}

# One address can have that many simultaneous requests and no more; other clients are not affected.
crowd()
{
	start_abuse slow-bodies 1100
	ask 2000 >/dev/null
	end_abuse
	were slow-bodies ' 429:100'
}

# shellcheck disable=SC3045
if ulimit -n 4096 2>/dev/null; then
	crowd
else
	say 'the limit of open files is too low: the crowd was skipped'
fi

# If the machine was busy with other work, the comparison is repeated.
compare || compare || compare || fail 'the normal client was affected'
