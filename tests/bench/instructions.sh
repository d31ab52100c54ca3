# The instructions per request without a socket: router, token, store and response. callgrind counts
# them, so that they are reproducible to one percent. tests/bench/bench.sh sources this file.
# shellcheck shell=sh disable=SC2154

n=500
printf 'operation\tinstructions a request\n' >"$scratch/table"
for operation in get_role list10 create update_role room room_codes token token_HS256 token_ES256 \
	token_RS256; do
	progress "Counting: $(name_of $operation)"
	valgrind --tool=callgrind --toggle-collect='measured*' --callgrind-out-file=/dev/null \
		"$programs/requests" $operation $n >"$scratch/count.log" 2>&1 || fail "$operation"
	sum=$(sed -n 's/.*Collected : //p' "$scratch/count.log")
	printf '%s\t%s\n' "$(name_of $operation)" "$(calculate "${sum:?} / $n" %.0f)" >>"$scratch/table"
done
cp "$scratch/table" "$results" || fail "cannot write $results"
lay_out "$scratch/table"
