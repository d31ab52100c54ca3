#!/bin/sh
# What a good client notices of 200 bad connections: nothing, or at most twice the time. A real nginx;
# one client reads a template 200 times a second, alone and beside tests/abuser, which says what the bad
# ones do and how fast. Its 99th percentile may double. So may that of one who asks again at once,
# thousands of times a second, who keeps the processors awake for himself and is served in half the time
# (below a millisecond nothing is measured of him). Alone and beside take turns, five times, and the lowest
# of each are compared: what else the machine does comes and goes, and only adds. Meanwhile a school of
# 200 joins at once.
set -u
test=tests/abuse.sh
. "${SOURCE_DIR:-$(dirname "$0")/..}/tests/servers.sh"
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

# member NAME: of the answer on standard input, the first of that name.
member()
{
	sed -n "s/^[^}]*\"$1\":\"\\([^\"]*\\)\".*/\\1/p"
}

id=$(post /v2/templates '{"name":"good","default":true,"roles":{"host":{}}}' | member id)
room=$(post /v2/rooms '{}' | member id)
code=$(post "/v2/room-codes/room/$room" '' | member code)
[ -n "$code" ] || fail 'no room code'
# Ten large templates make a list of a megabyte, for those who are slow to read it.
i=0
while [ $i -lt 100 ]; do
	roles="${roles+$roles,}\"role$i\":{}"
	i=$((i + 1))
done
while [ $i -lt 110 ]; do
	post /v2/templates "{\"roles\":{$roles}}" >/dev/null
	i=$((i + 1))
done

# percentiles: of the times in microseconds on standard input, the 50th and the 99th.
percentiles()
{
	sort -n | awk '{ all[NR] = $1 } END { print all[int(NR * 0.5)], all[int(NR * 0.99)] }'
}

# ask N [OPTION...]: a good client, so many times.
ask()
{
	n=$1
	shift
	curl --config authorized -sS --max-time 600 "$@" -o /dev/null \
		-w '%{http_code} %{time_starttransfer}\n' "$base/v2/templates/$id?[1-$n]" >durations 2>&1
	grep -v '^200 ' durations | head -n 3 | grep . && fail 'the good client was not served'
	awk '{ print int($2 * 1000000) }' durations | percentiles
}

# measure FILE: both, a line more in FILE and in FILE-hurried.
measure()
{
	ask 500 --rate 200/s >>"$1"
	ask 2000 >>"$1-hurried"
}

# A school behind one address, at nine o'clock.
join()
{
	curl -sS --interface 127.0.0.3 --max-time 120 --parallel --parallel-max 200 \
		-d "{\"code\":\"$code\"}" -o /dev/null -w '%{http_code}\n' "$base/v2/token?[1-200]" \
		>joined 2>&1
	[ "$(grep -c '^200$' joined)" = 200 ] || fail "joining: $(sort joined | uniq -c)"
}

# start_abuse [KIND N]: the bad ones come, and go when descriptor 4 is closed.
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
		[ $tries -lt 4000 ] || fail 'the bad ones do not come'
		sleep 0.05
	done
}

end_abuse()
{
	exec 4>&-
	wait $abuser || fail 'the bad ones failed'
}

# were KIND STATUSES: what a kind was answered, by pattern.
were()
{
	answers=$(sed -n "s/^$1//p" abusers)
	# shellcheck disable=SC2254
	case $answers in
	$2) ;;
	*) fail "$1 were answered$answers" ;;
	esac
}

# They did most of what they meant to; else the good client was not beside them.
were_active()
{
	awk '/^did / { right = 10 * $2 >= 9 * $4 } END { exit !right }' abusers ||
		fail "the bad ones were kept from it: $(grep '^did ' abusers)"
}

# lowest COLUMN FILE
lowest()
{
	cut -d' ' -f"$1" "$2" | sort -n | head -n 1
}

# True when the good client noticed nothing.
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

# From one address so many requests may be under way, and no more; others do not notice.
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
	say 'too few files may be open: the crowd was left out'
fi

# The machine may have had something else to do throughout: then it is tried again.
compare || compare || compare || fail 'the good client noticed'
