# A PostgreSQL server for shell tests, in $scratch/database, on a Unix socket only. Source it after
# tests/tools/servers.sh, once the script runs as an ordinary user. Sets $database to its URL. Unless
# $durable is set, acknowledged data can be lost if the machine crashes.
# shellcheck shell=sh disable=SC2034,SC2154

# Finds the directory of PostgreSQL's programs; skips the test if there is none.
find_postgresql()
{
	for postgres in /usr/lib/postgresql/*/bin/postgres; do
		[ ! -x "$postgres" ] || postgresql=${postgres%/*}
	done
	[ -n "${postgresql-}" ] || { say 'needs PostgreSQL' && exit 77; }
	"$program" store upgrade --store 'postgresql:///none?host=/nonexistent' 2>&1 |
		grep -q 'built without libpq' && { say 'this build has no PostgreSQL' && exit 77; }
	:
}

start_database()
{
	find_postgresql
	mkdir "$scratch/database" || exit 1
	"$postgresql/initdb" -D "$scratch/database/data" -U postgres -A trust -E UTF8 --locale=C \
		--no-sync >"$scratch/initdb.log" 2>&1 || fail initdb
	serve_database
	database="postgresql:///postgres?host=$scratch/database&user=postgres"
}

serve_database()
{
	"$postgresql/postgres" -D "$scratch/database/data" -k "$scratch/database" \
		-c listen_addresses= -c "fsync=${durable:-off}" -c max_connections=100 \
		>>"$scratch/postgres.log" 2>&1 &
	echo $! >"$scratch/postgres.pid"
	note "$scratch/postgres.pid" INT
	until "$postgresql/pg_isready" -q -h "$scratch/database"; do
		kill -0 "$(cat "$scratch/postgres.pid")" || fail postgres
		sleep 0.02
	done
}

# Creates a store in the database, with an account. Sets token.
make_shared_store()
{
	{
		"$program" store create --store "$database" &&
			"$program" account add test --store "$database"
	} >"$scratch/store.log" 2>&1 || fail "a store in the database: $(cat "$scratch/store.log")"
	token=$("$program" token test --store "$database") || fail token
}

# start_standby: starts a standby, which confirms each commit from then on.
start_standby()
{
	mkdir "$scratch/standby" || exit 1
	"$postgresql/pg_basebackup" -h "$scratch/database" -U postgres -D "$scratch/standby/data" -R \
		-c fast >>"$scratch/postgres.log" 2>&1 || fail pg_basebackup
	"$postgresql/postgres" -D "$scratch/standby/data" -k "$scratch/standby" \
		-c listen_addresses= -c "fsync=${durable:-off}" -c max_connections=100 \
		>>"$scratch/standby.log" 2>&1 &
	echo $! >"$scratch/standby.pid"
	note "$scratch/standby.pid" INT
	sql "ALTER SYSTEM SET synchronous_standby_names = '*'"
	sql 'SELECT pg_reload_conf()' >/dev/null
	until [ "$(sql 'SELECT sync_state FROM pg_stat_replication')" = sync ]; do
		kill -0 "$(cat "$scratch/standby.pid")" || fail 'the standby'
		sleep 0.02
	done
}

sql()
{
	"$postgresql/psql" -qXAt -d "$database" -c "$1"
}
