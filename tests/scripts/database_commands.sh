#!/bin/sh
# The commands with --store: creating the tables, accounts, tokens, dump and load in both directions,
# check, stat, and errors.
set -u
test=tests/scripts/database_commands.sh
. "${SOURCE_DIR:-$(dirname "$0")/../..}/tests/tools/servers.sh"
become_ordinary
make_scratch
. "$source/tests/tools/database.sh"
start_database

# refused WORDS COMMAND...: the command fails and prints the words.
refused()
{
	words=$1
	shift
	"$program" "$@" >"$scratch/out.log" 2>&1 && fail "$* did not fail"
	grep -q "$words" "$scratch/out.log" || fail "$* does not say: $words"
}

works()
{
	"$program" "$@" >"$scratch/out.log" 2>&1 || fail "$*"
}

refused 'has no store; create one' serve --listen "$scratch/none.sock" --store "$database"
refused 'has no store; create one' account add one --store "$database"
refused 'must start with postgresql' check --store /tmp
refused 'must not contain a password' check --store 'postgresql://me:secret@localhost/x'
refused 'synchronous_commit is off' store create --store "$database&options=-csynchronous_commit%3Doff"
refused 'the database: ' check --store "postgresql:///postgres?host=$scratch"

works store create --store "$database"
[ ! -s "$scratch/out.log" ] || fail 'store create is not quiet'
works store create --store "$database"
grep -q 'already has a store; nothing was changed' "$scratch/out.log" || fail 'a second create'
works store upgrade --store "$database"

works account add one --store "$database"
refused 'an account named one already exists' account add one --store "$database"
works account list --store "$database" --json
[ "$(grep -c '"access_key"' "$scratch/out.log")" = 1 ] || fail 'account list'
works account rotate one --store "$database"
works account rotate one --finish --store "$database"
works account disable one --store "$database"
refused 'is disabled' token one --store "$database"
works account enable one --store "$database"
works token one --store "$database"

# The data of a directory is loaded into the database and back, and does not change.
"$program" account add two --data "$scratch/data" >/dev/null 2>&1 || fail 'account add'
works dump "$scratch/data" --output "$scratch/first"
works load --store "$database" "$scratch/first"
grep -q 'Loaded 1 accounts' "$scratch/out.log" || fail 'load'
refused 'already exists' load --store "$database" "$scratch/first"
works dump --store "$database" --account two --output "$scratch/second"
# The first line contains the time.
sed 1d "$scratch/first" >"$scratch/first.rest"
sed 1d "$scratch/second" | cmp -s - "$scratch/first.rest" || fail 'the dumps differ'
works load "$scratch/data2" "$scratch/second"
works check --store "$database"

# A room with more codes than a transaction of a load has.
head=$("$program" dump "$scratch/data" --account two 2>/dev/null | head -n 1)
awk -v head="$head" 'BEGIN {
	time = "\"2026-01-01T00:00:00.000Z\""
	id = "6955b9000000000001000000"
	for (secret = "c"; length(secret) < 43;)
		secret = secret "c"
	times = "\"created_at\":" time ",\"updated_at\":" time
	print head
	print "{\"account\":{\"id\":\"" id "\",\"name\":\"many\",\"access_key\":\"" id \
		"\",\"enabled\":false,\"created_at\":" time ",\"secrets\":[{\"secret\":\"" secret \
		"\",\"created_at\":" time "}]}}"
	print "{\"template\":{\"id\":\"" id "\",\"name\":\"t\"," times ",\"last_identity\":1," \
		"\"settings_hidden\":{},\"destinations_hidden\":{},\"settings\":{},\"destinations\":{}," \
		"\"roles\":[{\"identity\":1,\"added_at\":" time ",\"role\":{\"name\":\"host\"}}]}}"
	print "{\"room\":{\"id\":\"" id "\",\"template_id\":\"" id "\"," times ",\"hidden\":{}," \
		"\"document\":{\"name\":\"r\",\"enabled\":true,\"recording_source_template\":true," \
		"\"template_id\":\"" id "\",\"region\":\"eu\"}}}"
	print "{\"codes\":{\"room\":\"" id "\",\"asked\":true,\"last_identity\":1,\"last_place\":2100," \
		"\"last_group\":1,\"groups\":[{\"number\":1,\"identity\":1}],\"due_roles\":[]}}"
	for (i = 0; i < 2100; i++)
		printf "{\"code\":{\"place\":\"00000000%010x000000\",\"room\":\"%s\",\"former\":false," \
			"\"code\":\"zzz-z%c%c%c-zzz\",\"enabled\":false,\"group\":1,\"created_at\":" \
			"\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-01T00:00:00Z\"}}\n", \
			i + 1, id, 97 + i / 676 % 26, 97 + i / 26 % 26, 97 + i % 26
	print "{\"end\":{\"accounts\":1,\"lines\":{\"template\":1,\"room\":1,\"codes\":1,\"code\":2100}}}"
}' >"$scratch/many"
works load --store "$database" "$scratch/many"
works check --store "$database"
works dump --store "$database" --account many --output "$scratch/many.dumped"
[ "$(grep '^{"code":' "$scratch/many" | cksum)" = "$(grep '^{"code":' "$scratch/many.dumped" | cksum)" ] ||
	fail 'dump: the lines of codes'
works load "$scratch/data3" "$scratch/many.dumped"
works dump "$scratch/data3" --output "$scratch/many.again"
sed 1d "$scratch/many.dumped" >"$scratch/many.rest"
sed 1d "$scratch/many.again" | cmp -s - "$scratch/many.rest" || fail 'the dumps of many codes differ'
works account delete many --force --store "$database"
works check --store "$database"
works stat --store "$database" --json
[ "$(sql 'SELECT count(*) FROM load')" = 1 ] || fail 'a load left its mark'

# Deleting an account deletes everything it owns; other accounts stay.
refused 'is enabled' account delete two --store "$database"
works account delete two --force --store "$database"
refused 'no account has the name' token two --store "$database"
works token one --store "$database"
[ "$(sql 'SELECT count(*) FROM record')" = 0 ] || fail 'account delete leaves records'
refused 'specifies the data twice' check --store "$database" --data "$scratch/data"
refused 'this command works on data directories' load --store "$database" --replace "$scratch/second"

# Damage is detected.
sql "INSERT INTO record (account, kind, id, name, value, checksum) VALUES
	('\\x000000000000000000000001', 116, '\\x000000000000000000000002', 'x', 'y', 5)"
"$program" check --store "$database" >"$scratch/out.log" 2>&1 && fail 'check does not find damage'
sql 'DELETE FROM record WHERE checksum = 5'

# A store whose form lacks something, one of another version, and tables of another program.
works store upgrade --store "$database"
grep -q 'nothing was changed' "$scratch/out.log" || fail 'store upgrade: changes something'
sql "UPDATE installation SET form = substring(form from 1 for length(form) - 13)"
works store upgrade --store "$database"
grep -q 'now has the form of this version' "$scratch/out.log" || fail 'store upgrade: renews no form'
for row in '2:an unreleased version of Anteroom; dump with that one' '99:a newer version of Anteroom'; do
	sql "UPDATE installation SET version = ${row%%:*}"
	for command in "serve --listen $scratch/none.sock" 'store create' 'store upgrade' check 'check --json' \
		stat dump "load $scratch/second" 'account list' 'account add x' 'account disable one' 'token one'; do
		# shellcheck disable=SC2086
		"$program" $command --store "$database" >"$scratch/said.out" 2>"$scratch/said.err" </dev/null &&
			fail "$command: accepts ${row#*:}"
		grep -qF "the data in the database was written by ${row#*:}" "$scratch/said.err" &&
			[ "$(wc -l <"$scratch/said.err")" = 1 ] && [ ! -s "$scratch/said.out" ] ||
			fail "$command: does not say in one sentence: ${row#*:}"
	done
done
sql 'CREATE SCHEMA other; CREATE TABLE other.installation (x integer)'
refused 'tables of another program' store create --store "$database&options=-csearch_path%3Dother"
sql 'CREATE SCHEMA third; CREATE TABLE third.record (x integer)'
refused 'tables of another program' store create --store "$database&options=-csearch_path%3Dthird"
