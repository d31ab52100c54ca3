# Functions for tests/bench/table.sh and tests/bench/scaling.sh: responders with filled stores, runs of
# wrk, the memory of a process, medians. tests/bench/bench.sh sources this file.
# shellcheck shell=sh disable=SC2015,SC2034,SC2154

# Prints progress for the user.
progress()
{
	say "$*" >&2
}

# ---- responders ----

# fill NAME TEMPLATES: creates a data directory NAME with an account and this many templates. NAME.ids
# and NAME.codes contain a sample of its IDs and codes.
fill()
{
	mkdir "$scratch/$1" &&
		"$programs/requests" fill "$scratch/$1" "$2" >"$scratch/$1.made" || fail "cannot fill $1"
	sed -n 's/^template //p' "$scratch/$1.made" >"$scratch/$1.ids"
	sed -n 's/^code //p' "$scratch/$1.made" >"$scratch/$1.codes"
	head -n 8 "$scratch/$1.ids" >"$scratch/$1.hot"
	# For the bare responder, which ignores it.
	say 000000000000000000000000 >"$scratch/$1.rooms"
	"$program" token bench --data "$scratch/$1" >"$scratch/$1.token" || fail 'token'
}

# serve NAME PROGRAM [ARGUMENT...]: starts the program on the socket NAME.sock.
serve()
{
	served=$1
	shift
	rm -f "$scratch/$served.sock"
	spawn-fcgi -s "$scratch/$served.sock" -M 0600 -P "$scratch/$served.responder" -- "$@" \
		>>"$scratch/$served.log" 2>&1 || fail "spawn-fcgi: $(cat "$scratch/$served.log")"
	note "$scratch/$served.responder" TERM
}

# serve_store NAME: starts the program with a filled data directory or the database.
serve_store()
{
	if [ -n "$store" ]; then
		serve "$1" "$program" serve --store "$database"
	else
		serve "$1" "$program" serve --data "$scratch/$1"
	fi
}

# Loads the data of the directory NAME into a new database, next to a database for pgbench.
fill_database()
{
	durable=on
	start_database
	[ -z "$standby" ] || start_standby
	{
		"$program" store create --store "$database" &&
			"$program" dump "$scratch/$1" --output "$scratch/dump" &&
			"$program" load --store "$database" "$scratch/dump" &&
			sql 'CREATE DATABASE pgbench' &&
			pgbench -i -q -s 10 -h "$scratch/database" -U postgres pgbench &&
			sql 'VACUUM ANALYZE' && sql CHECKPOINT && rm "$scratch/dump"
	} >"$scratch/fill.log" 2>&1 || fail 'the database cannot be filled'
}

# run_pgbench CONNECTIONS SECONDS OPTION: prints transactions per second; -S selects a row, -N updates
# one.
run_pgbench()
{
	pgbench -n -M prepared "$3" -c "$1" -j "$1" -T "$2" -h "$scratch/database" -U postgres \
		pgbench 2>"$scratch/pgbench.log" | sed -n 's/^tps = \([0-9]*\).*/\1/p'
}

# The site as shipped, except for the limit on join requests per address: here all requests come from one
# address.
nginx_for_store()
{
	start_nginx "$1" '/^[[:space:]]*limit_req zone=/d'
	echo "$base" >"$scratch/$1.url"
}

# The bare responder and its nginx.
serve_bare()
{
	serve bare "$programs/bare"
	site=$source/tests/bench/bare.conf.in
	start_nginx bare
	site=
	echo "$base" >"$scratch/bare.url"
}

# api NAME PATH [ARGUMENT...]: runs curl with a token for the store NAME.
api()
{
	url=$(cat "$scratch/$1.url")$2
	who=$1
	shift 2
	printf 'header = "Authorization: Bearer %s"\n' "$(cat "$scratch/$who.token")" |
		curl --config - -sS --fail-with-body --max-time 30 "$@" "$url" || fail "$url"
}

# ---- runs ----

# run WHO STORE OPERATION CONNECTIONS SECONDS: runs wrk with an operation on the site WHO, with the IDs
# of STORE: sets rate (per second), median and late (the 99th percentile), in milliseconds.
# $sizes_of_answers applies to the bare responder; $collect names a file for the IDs of created objects.
run()
{
	threads=2
	[ "$4" != 1 ] || threads=1
	ids=$2.ids operation=$3
	[ "$3" != hot ] || ids=$2.hot operation=update_role
	serial=$((${serial-0} + 1))
	line=$(OPERATION=$operation THREADS=$threads TAG=bench$$x$serial TOKEN=$(cat "$scratch/$2.token") \
		IDS=$scratch/$ids ROOMS=$scratch/$2.rooms CODES=$scratch/$2.codes \
		SIZES=${sizes_of_answers-} ${collect:+env COLLECT="$collect"} \
		wrk -t$threads -c"$4" -d"$5"s --timeout 30s -s "$source/tests/bench/operations.lua" \
		"$(cat "$scratch/$1.url")" | grep '^RESULT') || fail "wrk: $3"
	asked=$1
	# shellcheck disable=SC2086
	set -- "$3" $line
	rate=$3 median=$4 late=$5
	[ "$6" = 0 ] || fail "$1: $6 answers were errors, at $asked"
	[ "$7" = 0 ] || fail "$1: all rooms were used up"
	[ "$rate" -gt 0 ] || fail "$1: no responses"
}

# make_rooms STORE SECONDS: creates rooms without codes, more than room_codes uses in this time.
make_rooms()
{
	rm -f "$scratch/$1.rooms.new"
	collect=$scratch/$1.rooms.new
	run "$1" "$1" room 32 $(($2 + $2 / 2 + 1))
	collect=
	mv "$scratch/$1.rooms.new" "$scratch/$1.rooms"
}

is_write()
{
	case $1 in
	create | update_role | hot | room | room_codes) return 0 ;;
	*) return 1 ;;
	esac
}

# metric NAME METRIC: prints a metric of the responder.
metric()
{
	curl -s "$(cat "$scratch/$1.url")/metrics" |
		awk -v name="anteroom_$2" '$1 == name { print $2 }'
}

# Prints the private memory of a process, in KB.
memory_of()
{
	while read -r word value _; do
		[ "$word" != RssAnon: ] || say "$value"
	done <"/proc/$(cat "$scratch/$1.responder")/status"
}

# watch_memory NAME: records the maximum memory, checked ten times a second, until it is stopped; then
# $scratch/NAME.memory contains it.
watch_memory()
{
	rm -f "$scratch/watch.end"
	while [ ! -e "$scratch/watch.end" ]; do
		now=$(memory_of "$1")
		most=$(cat "$scratch/$1.memory" 2>/dev/null || say 0)
		[ "${now:-0}" -le "$most" ] || say "$now" >"$scratch/$1.memory"
		sleep 0.1
	done &
	watcher=$!
}

unwatch_memory()
{
	: >"$scratch/watch.end"
	wait "$watcher"
}

# ---- tables ----

# Prints the median of numbers, one per line.
middle()
{
	sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# calculate EXPRESSION [FORMAT]
calculate()
{
	awk "BEGIN { printf \"${2:-%.2f}\", $1 }"
}

name_of()
{
	case $1 in
	get_role) say 'get one role' ;;
	list10) say 'list of 10' ;;
	list100) say 'list of 100' ;;
	create) say 'create a template' ;;
	update_role) say 'update a role' ;;
	hot) say 'update one of 8' ;;
	room) say 'create a room' ;;
	room_codes) say 'codes of a new room' ;;
	token) say 'exchange a code' ;;
	token_HS256) say 'a code, and LiveKit' ;;
	token_ES256) say 'a code, and ES256' ;;
	token_RS256) say 'a code, and RS256' ;;
	mix) say 'mix, 95 % reads' ;;
	esac
}

# Prints a description of the machine.
machine()
{
	say "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores that the load" \
		"generator shares, Linux $(uname -r), $(df -P -T "$scratch" | awk 'NR == 2 { print $2 }')," \
		"$(nginx -v 2>&1 | sed 's|.*: ||')"
}

# lay_out FILE: prints a tab-separated table for people: the first column left-aligned, the others
# right-aligned.
lay_out()
{
	awk -F '\t' '
	{
		for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i
			if (length($i) > width[i])
				width[i] = length($i)
		}
		columns = NF
	}
	END {
		for (row = 1; row <= NR; row++) {
			line = sprintf("%-" width[1] "s", cell[row, 1])
			for (i = 2; i <= columns; i++)
				line = line sprintf("  %" width[i] "s", cell[row, i])
			print line
		}
	}' "$1"
}
