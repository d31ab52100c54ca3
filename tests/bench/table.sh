# The table of `make bench`. Read by tests/bench/bench.sh.
# shellcheck shell=sh disable=SC2015,SC2034,SC2154

operations='get_role:32 list10:32 list100:32 create:1 create:32 update_role:8 room:32 room_codes:8
	token:32 mix:32'
chosen=
for operation in $operations; do
	case ${only:-$operation} in
	"$operation" | "${operation%:*}") chosen="$chosen $operation" ;;
	esac
done
[ -n "$chosen" ] || wrong "there is no operation $only"

progress "Filling in $templates templates ..."
fill ours "$templates"
serve_store ours
nginx_for_store ours
serve_bare

# How many bytes each operation is answered with.
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
	token) api ours /v2/token -d "{\"code\":\"$(head -n 1 "$scratch/ours.codes")\"}" ;;
	esac | wc -c
}
bytes=
for operation in get_role list10 list100 create update_role room room_codes token; do
	bytes="$bytes $operation=$(bytes_of $operation)"
done

# The size of the answer to an operation; `mix` has several.
answer_size()
{
	for one in $bytes; do
		[ "${one%=*}" != "$1" ] || say "${one#*=}"
	done
}

# measure OPERATION CONNECTIONS: one round of one operation; a line each into $scratch/runs.
measure()
{
	sizes_of_answers=$bytes
	run bare ours "$1" "$2" "$seconds"
	sizes_of_answers=
	echo "$1:$2 bare $rate $median $late" >>"$scratch/runs"
	if is_write "$1"; then
		rate=$("$programs/disk" "$scratch" "$2" "$(answer_size "$1")" "$seconds") ||
			fail 'the disk'
		echo "$1:$2 disk $rate - -" >>"$scratch/runs"
		[ "$1" != room_codes ] || make_rooms ours "$write_seconds"
		watch_memory ours
		run ours ours "$1" "$2" "$write_seconds"
		unwatch_memory
	else
		run ours ours "$1" "$2" "$seconds"
	fi
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

# figure OPERATION WHO FIELD: the median over the rounds.
figure()
{
	awk -v o="$1" -v w="$2" -v f="$3" '$1 == o && $2 == w { print $f }' "$scratch/runs" | middle
}

printf 'operation\tconnections\tbytes\ta second\tbare\tratio\tmedian ms\tp99 ms\tbare p99\tdisk\tceiling\tof it\n' \
	>"$scratch/table"
for operation in $chosen; do
	ours=$(figure "$operation" ours 3) bare=$(figure "$operation" bare 3)
	disk=- ceiling=- of_ceiling=-
	if is_write "${operation%:*}"; then
		disk=$(figure "$operation" disk 3)
		ceiling=$(calculate "1 / (1 / $bare + 1 / $disk)" %.0f)
		of_ceiling=$(calculate "$ours / $ceiling")
	fi
	size=$(answer_size "${operation%:*}")
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(name_of "${operation%:*}")" \
		"${operation#*:}" "${size:--}" "$ours" "$bare" "$(calculate "$ours / $bare")" \
		"$(figure "$operation" ours 4)" "$(figure "$operation" ours 5)" \
		"$(figure "$operation" bare 5)" "$disk" "$ceiling" "$of_ceiling" >>"$scratch/table"
done
cp "$scratch/table" "$results" || fail "cannot write $results"
say
lay_out "$scratch/table"
say
machine
say "$(date +%Y-%m-%d), $rounds rounds of $seconds s each, writes $write_seconds s, $templates templates." \
	"bare: a libfcgi responder that only answers as many bytes. disk: as many writers that append" \
	"as many bytes to a file and wait for them; ceiling: 1 / (1 / bare + 1 / disk)."
[ ! -s "$scratch/ours.memory" ] ||
	say "Private memory of the responder while writing: at most" \
		"$(calculate "$(cat "$scratch/ours.memory") / 1024" %.1f) MB." \
		"Meanwhile $(metric ours files_written_total) files were written, $(metric ours files_merged_total) merged."
