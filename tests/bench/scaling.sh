# The cost of the operations as more data is stored, the private memory of the responder, and the time
# from its start to the first response (`make bench-scaling`). The sizes alternate in each round. A store
# of at most 10,000 templates is restored before each run of writes, which would otherwise change its
# size noticeably; larger stores just grow. tests/bench/bench.sh sources this file.
# shellcheck shell=sh disable=SC2015,SC2034,SC2154

# operation:connections:the maximum cost, as a multiple of the smallest store
reads='get_role:32:1.25 list10:32:1.5 list100:32:2 token:32:1.25'
writes='create:32:1.25 room_codes:8:1.25'
put_back_most=10000
journal_bytes=16777216
starts=5
# The default number of runs of writes during which memory is measured, and the time to wait afterwards.
[ "$write_seconds" != "$seconds" ] || write_seconds=20
pause=10

# choose ROW...: prints the requested rows.
choose()
{
	for row in "$@"; do
		name=${row%%:*} rest=${row#*:}
		case ${only:-$name} in
		"$name" | "$name:${rest%:*}") say "$row" ;;
		esac
	done
}
# shellcheck disable=SC2086
reads=$(choose $reads) writes=$(choose $writes) others=$(choose memory start)
[ -n "$reads$writes$others" ] || wrong "there is no operation $only"

smallest=${sizes%% *}
for size in $sizes; do
	progress "Filling in $size templates ..."
	fill "$size" "$size"
	[ "$size" -gt $put_back_most ] || cp -R "$scratch/$size" "$scratch/$size.kept" || exit 1
	serve_store "$size"
	nginx_for_store "$size"
	# Reads the files into the system's cache, and most of them into the process, which maps them,
	# so that the cost of the first access to a page is not measured.
	cat "$scratch/$size/store"/stack-* >/dev/null
	run "$size" "$size" list100 32 $((size / 50000 + 1))
done

put_back()
{
	[ -d "$scratch/$1.kept" ] || return 0
	end TERM "$scratch/$1.responder"
	rm -rf "${scratch:?}/$1"
	cp -R "$scratch/$1.kept" "$scratch/$1" || exit 1
	serve_store "$1"
}

# signal_others SIGNAL TEMPLATES: sends the signal to the responders of the other sizes. They are stopped
# while one is measured: otherwise they would merge recent writes, and use the disk and a processor.
signal_others()
{
	for other in $sizes; do
		[ "$other" = "$2" ] || kill -s "$1" "$(cat "$scratch/$other.responder")" || exit 1
	done
}

: >"$scratch/runs"
# measure ROW...: runs a round of these operations.
measure()
{
	for row in "$@"; do
		name=${row%%:*} rest=${row#*:}
		progress "Round $round of $rounds: $(name_of "$name")"
		for size in $sizes; do
			! is_write "$name" || put_back "$size"
			signal_others STOP "$size"
			[ "$name" != room_codes ] || make_rooms "$size" "$seconds"
			run "$size" "$size" "$name" "${rest%:*}" "$seconds"
			signal_others CONT "$size"
			echo "$name $size $rate" >>"$scratch/runs"
		done
	done
}
for rows in "$reads" "$writes"; do
	round=1
	while [ "$round" -le "$rounds" ]; do
		# shellcheck disable=SC2086
		measure $rows
		round=$((round + 1))
	done
done

# rate_of OPERATION TEMPLATES: prints the median over the rounds.
rate_of()
{
	awk -v o="$1" -v s="$2" '$1 == o && $2 == s { print $3 }' "$scratch/runs" | middle
}

tell_cost()
{
	printf 'operation\tconnections'
	for size in $sizes; do
		printf '\t%s: a second' "$size"
		[ "$size" = "$smallest" ] || printf '\tcost'
	done
	printf '\tat most\n'
	for row in $reads $writes; do
		name=${row%%:*} rest=${row#*:}
		printf '%s\t%s' "$(name_of "$name")" "${rest%:*}"
		for size in $sizes; do
			printf '\t%s' "$(rate_of "$name" "$size")"
			[ "$size" = "$smallest" ] || printf '\t%s' \
				"$(calculate "$(rate_of "$name" "$smallest") / $(rate_of "$name" "$size")")"
		done
		printf '\t%s\n' "${rest#*:}"
	done
}

# ---- memory ----

megabytes()
{
	calculate "$1 / 1024" %.1f
}

tell_memory()
{
	printf 'templates\tcreates a second\tMB while writing\tat most\tMB after\tat most\tfiles written\tmerged\n'
	for size in $sizes; do
		progress "Memory: $size templates, $write_seconds s of creates"
		put_back "$size"
		rm -f "$scratch/$size.memory"
		watch_memory "$size"
		run "$size" "$size" create 32 "$write_seconds"
		unwatch_memory
		sleep $pause
		printf '%s\t%s\t%s\t64\t%s\t24\t%s\t%s\n' "$size" "$rate" \
			"$(megabytes "$(cat "$scratch/$size.memory")")" "$(megabytes "$(memory_of "$size")")" \
			"$(metric "$size" files_written_total)" "$(metric "$size" files_merged_total)"
	done
}

# ---- the start ----

# time_start DIRECTORY: prints the milliseconds to the first response.
time_start()
{
	"$programs/start" "$program" "$1" 2>"$scratch/start.log" || fail "start: $1"
}

tell_start()
{
	printf 'store\tms to the first answer\tat most\n'
	for size in $sizes; do
		progress "Start: $size templates"
		put_back "$size"
		end TERM "$scratch/$size.responder"
		n=0
		while [ $n -lt $starts ]; do
			time_start "$scratch/$size"
			n=$((n + 1))
		done >"$scratch/starts"
		printf '%s templates\t%s\t-\n' "$size" "$(middle <"$scratch/starts")"
	done
	progress 'Start: 16 MB of journal'
	n=0
	while [ $n -lt $starts ]; do
		rm -rf "$scratch/journal" && mkdir "$scratch/journal" &&
			"$programs/requests" journal "$scratch/journal" $journal_bytes || fail 'journal'
		time_start "$scratch/journal"
		n=$((n + 1))
	done >"$scratch/starts"
	printf '16 MB of journal\t%s\t50\n' "$(middle <"$scratch/starts")"
}

: >"$results" || fail "cannot write $results"
# tell TABLE: computes and prints the table, and adds it to the results.
tell()
{
	"tell_$1" >"$scratch/table"
	cat "$scratch/table" >>"$results"
	say
	lay_out "$scratch/table"
}
[ -z "$reads$writes" ] || tell cost
for other in $others; do
	echo >>"$results"
	tell "$other"
done
say
machine
say "$(date +%Y-%m-%d), $rounds rounds of $seconds s each. Memory is private (RssAnon), the most during" \
	"$write_seconds s of creates and what is left $pause s later."
