# A PostgreSQL server for shell tests: in $scratch/database, on a unix socket alone. To be read after
# tests/servers.sh, when the script is an ordinary user's. Sets $database, the URL of it.
# shellcheck shell=sh disable=SC2034,SC2154

# The directory of PostgreSQL's programs; the test is skipped when there is none.
find_postgresql()
{
	for postgres in /usr/lib/postgresql/*/bin/postgres; do
		[ ! -x "$postgres" ] || programs=${postgres%/*}
	done
	[ -n "${programs-}" ] || { say 'needs PostgreSQL' && exit 77; }
	"$program" store upgrade --store 'postgresql:///none?host=/nonexistent' 2>&1 |
		grep -q 'this build has no' && { say 'this build has no PostgreSQL' && exit 77; }
	:
}

start_database()
{
	find_postgresql
	mkdir "$scratch/database" || exit 1
	"$programs/initdb" -D "$scratch/database/data" -U postgres -A trust -E UTF8 --locale=C \
		--no-sync >"$scratch/initdb.log" 2>&1 || fail initdb
	serve_database
	database="postgresql:///postgres?host=$scratch/database&user=postgres"
}

serve_database()
{
	"$programs/postgres" -D "$scratch/database/data" -k "$scratch/database" \
		-c listen_addresses= -c fsync=off -c max_connections=100 \
		>>"$scratch/postgres.log" 2>&1 &
	echo $! >"$scratch/postgres.pid"
	note "$scratch/postgres.pid" INT
	until "$programs/pg_isready" -q -h "$scratch/database"; do
		kill -0 "$(cat "$scratch/postgres.pid")" || fail postgres
	done
}

sql()
{
	"$programs/psql" -qXAt -d "$database" -c "$1"
}
