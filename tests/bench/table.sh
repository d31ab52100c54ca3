# The table of `make bench`. tests/bench/bench.sh sources this file.
# shellcheck shell=sh disable=SC2015,SC2034,SC2154

operations='get_role:32 list10:32 list100:32 create:1 create:32 update_role:8 room:32 room_codes:8
	token:32 token_HS256:32 mix:32'
[ -z "$store" ] || operations='get_role:8 get_role:32 list10:32 list100:32 token:8 token:32 create:8
	create:32 update_role:8 update_role:32 hot:32 room:32 room_codes:8 token_HS256:32'
chosen=
for operation in $operations; do
	case ${only:-$operation} in
	"$operation" | "${operation%:*}") chosen="$chosen $operation" ;;
	esac
done
[ -n "$chosen" ] || wrong "there is no operation $only"

progress "Filling in $templates templates ..."
fill ours "$templates"
[ -z "$store" ] || fill_database ours
serve_store ours
nginx_for_store ours
serve_bare

# A LiveKit server, which is the media server of all rooms while it is the default.
secret=$(od -An -tx1 -N 24 /dev/urandom | tr -d ' \n')
livekit=$(api ours /v2/backends -d "{\"name\":\"livekit\",\"type\":\"livekit\",\"url\":\"wss://a.example\",
	\"config\":{\"api_key\":\"bench\",\"api_secret\":\"$secret\"}}" | sed 's/.*"id":"\([^"]*\)".*/\1/')
set_default()
{
	api ours "/v2/backends/$livekit" -X PATCH -d "{\"default\":$1}" >/dev/null
}

# The size of each operation's response in bytes.
bytes_of()
{
	id=$(head -n 1 "$scratch/ours.ids")
	case $1 in
	get_role) api ours "/v2/templates/$id/roles/host" ;;
	list10) api ours "/v2/templates?limit=10&start=$id" ;;
	list100) api ours "/v2/templates?limit=100&start=$(tail -n 1 "$scratch/ours.ids")" ;;
	create) api ours "/v2/templates/$id" ;;
	update_role) api ours "/v2/templates/$id/roles/viewer" ;;
	room) api ours /v2/rooms -d "{\"template_id\":\"$id\"}" ;;
	room_codes)
		room=$(api ours /v2/rooms -d "{\"template_id\":\"$id\"}" |
			sed 's/.*"id":"\([^"]*\)".*/\1/')
		api ours "/v2/room-codes/room/$room" -X POST
		;;
	token | token_HS256) api ours /v2/token -d "{\"code\":\"$(head -n 1 "$scratch/ours.codes")\"}" ;;
	esac | wc -c
}
bytes="hot=$(bytes_of update_role)"
for operation in get_role list10 list100 create update_role room room_codes token; do
	bytes="$bytes $operation=$(bytes_of $operation)"
done
set_default true
bytes="$bytes token_HS256=$(bytes_of token_HS256)"
set_default false

# Prints the size of the response to an operation; `mix` has several.
answer_size()
{
	for one in $bytes; do
		[ "${one%=*}" != "$1" ] || say "${one#*=}"
	done
}

# Prints the fraction of pgbench transactions that an operation should reach, if it reads more than one
# row.
part_of()
{
	case $1 in
	list10) say 0.26 ;;
	list100) say 0.04 ;;
	token | token_HS256) say 0.40 ;;
	*) say 1 ;;
	esac
}

# below OPERATION CONNECTIONS: prints the rate of the layer below us, per second; - if there is none.
below()
{
	if [ -n "$store" ] && is_write "$1"; then
		run_pgbench "$2" "$seconds" -N
	elif [ -n "$store" ]; then
		run_pgbench "$2" "$seconds" -S
	elif is_write "$1"; then
		"$programs/disk" "$scratch" "$2" "$(answer_size "$1")" "$seconds"
	else
		say -
	fi
}

# measure OPERATION CONNECTIONS: runs one round of one operation; adds a line for each to $scratch/runs.
measure()
{
	sizes_of_answers=$bytes
	run bare ours "$1" "$2" "$seconds"
	sizes_of_answers=
	echo "$1:$2 bare $rate $median $late" >>"$scratch/runs"
	rate=$(below "$1" "$2") || fail 'the layer below'
	[ -n "$rate" ] || fail 'pgbench'
	echo "$1:$2 below $rate - -" >>"$scratch/runs"
	[ "$1" != room_codes ] || make_rooms ours "$write_seconds"
	[ "$1" != token_HS256 ] || set_default true
	if is_write "$1"; then
		watch_memory ours
		run ours ours "$1" "$2" "$write_seconds"
		unwatch_memory
	else
		run ours ours "$1" "$2" "$seconds"
	fi
	[ "$1" != token_HS256 ] || set_default false
	echo "$1:$2 ours $rate $median $late" >>"$scratch/runs"
}

: >"$scratch/runs"
round=1
while [ "$round" -le "$rounds" ]; do
	for operation in $chosen; do
		progress "Round $round of $rounds: $(name_of "${operation%:*}"), ${operation#*:} connections"
		measure "${operation%:*}" "${operation#*:}"
	done
	round=$((round + 1))
done

# figure OPERATION WHO FIELD: prints the median over the rounds.
figure()
{
	awk -v o="$1" -v w="$2" -v f="$3" '$1 == o && $2 == w { print $f }' "$scratch/runs" | middle
}

below=disk
[ -z "$store" ] || below=pgbench
printf 'operation\tconnections\tbytes\tper second\tbare\tratio\tmedian ms\tp99 ms\tbare p99\t%s\tceiling\tof it\n' \
	$below >"$scratch/table"
for operation in $chosen; do
	ours=$(figure "$operation" ours 3) bare=$(figure "$operation" bare 3)
	below=$(figure "$operation" below 3) ceiling=- of_ceiling=-
	if [ "$below" != - ]; then
		part=$(part_of "${operation%:*}")
		ceiling=$(calculate "1 / (1 / $bare + 1 / ($below * $part))" %.0f)
		of_ceiling=$(calculate "$ours / $ceiling")
	fi
	size=$(answer_size "${operation%:*}")
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(name_of "${operation%:*}")" \
		"${operation#*:}" "${size:--}" "$ours" "$bare" "$(calculate "$ours / $bare")" \
		"$(figure "$operation" ours 4)" "$(figure "$operation" ours 5)" \
		"$(figure "$operation" bare 5)" "$below" "$ceiling" "$of_ceiling" >>"$scratch/table"
done
cp "$scratch/table" "$results" || fail "cannot write $results"
say
lay_out "$scratch/table"
say
machine
if [ -n "$store" ]; then
	below_is="pgbench: so many of its transactions, -S for reads and -N for writes, prepared; ceiling: 1 / (1 /
		bare + 1 / (k pgbench)), where k is 0.26 for 10, 0.04 for 100 items of a list, 0.40 for a code,
		else 1. $("$postgresql/postgres" --version), ${standby:+with a synchronous standby, }fsync on."
else
	below_is='disk: as many writers that append as many bytes to a file and wait for them; ceiling: 1 / (1 /
		bare + 1 / disk).'
fi
# shellcheck disable=SC2086
say "$(date +%Y-%m-%d), $rounds rounds of $seconds s each, writes $write_seconds s, $templates templates." \
	"bare: a libfcgi responder that only answers as many bytes." $below_is
[ -n "$store" ] || [ ! -s "$scratch/ours.memory" ] ||
	say "Private memory of the responder while writing: at most" \
		"$(calculate "$(cat "$scratch/ours.memory") / 1024" %.1f) MB." \
		"Meanwhile $(metric ours files_written_total) files were written, $(metric ours files_merged_total) merged."
