/* See statements.h. The SQL is limited to what PostgreSQL 13, CockroachDB and YugabyteDB have in
 * common: no functions of our own, no advisory locks, and no statement that changes a table twice.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/statements.h"

#include <stddef.h>

/* clang-format off */

#define MILLISECONDS "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
#define COLUMNS "account, kind, id, parent, is_on, name, value, checksum, ends"
#define COLUMNS_OF(table) \
	table ".account, " table ".kind, " table ".id, " table ".parent, " table ".is_on, " \
	table ".name, " table ".value, " table ".checksum, " table ".ends"
#define BY_ID " WHERE account = $1 AND kind = $2 AND id = $3"
#define BY_NAME " WHERE account = $1 AND kind = $2 AND name = $3"
#define OF_CHILD(found) " WHERE c.account = $1 AND c.kind = $2 AND c." found " = $3"
#define OF_NAMED " WHERE c.kind = $1 AND c.name = $2"
#define PARENT(kind) \
	" JOIN record p ON p.account = c.account AND p.kind = " kind " AND p.id = c.parent"
#define TO_CHANGE " FOR NO KEY UPDATE"
/* The generation of the accounts, as a row like those of records, with one additional column. */
#define ROSTER_ROW \
	"SELECT NULL::bytea, NULL::smallint, NULL::bytea, NULL::bytea, NULL::boolean, NULL::bytea, NULL::bytea," \
	" NULL::integer, NULL::bigint, generation FROM roster"
#define FOLLOWED(from, kind) \
	" UNION ALL SELECT " COLUMNS_OF("r") ", NULL FROM " from " c JOIN record r" \
	" ON r.account = c.account AND r.kind = " kind " AND r.id = c.parent"

#define CHAIN \
	"WITH c AS MATERIALIZED (SELECT " COLUMNS " FROM named WHERE kind = $1 AND name = $2)," \
	" p AS MATERIALIZED (SELECT " COLUMNS_OF("p") " FROM c" PARENT("$3") ") " \
	ROSTER_ROW " UNION ALL SELECT " COLUMNS ", NULL FROM c UNION ALL SELECT " COLUMNS ", NULL FROM p" \
	FOLLOWED("p", "$4") FOLLOWED("c", "$5")
#define OWN(kind, id) \
	" JOIN record r ON r.account = c.account AND r.kind = " kind " AND r.id = " id

#define CHAIN_OWN " UNION ALL SELECT " COLUMNS_OF("r") ", NULL FROM c" OWN("$6", "$7")

/* $1 account, $2 kind, $3 and $4 the bounds, $5 the limit, $6 the side or the parent, $7 the
 * side */
#define PAGE_WHERE " WHERE account = $1 AND kind = $2 AND id > $3 AND id < $4"
#define PAGE(from, where, order) \
	"SELECT " COLUMNS " FROM " from PAGE_WHERE where " ORDER BY id " order " LIMIT $5"
#define PAGE_BOTH(from, order) \
	"(" PAGE(from, " AND parent = $6 AND is_on = true", order) ") UNION ALL (" \
	PAGE(from, " AND parent = $6 AND is_on = false", order) ") ORDER BY id " order " LIMIT $5"
#define PAGE_OF_NAMES \
	" FROM record WHERE account = $1 AND kind = $2 AND name > $3" \
	" AND name >= $4 AND ($5 = '\\x'::bytea OR name < $5) ORDER BY name LIMIT $6"
#define PARENTS_OF(where) \
	"SELECT " COLUMNS " FROM record WHERE account = $1 AND kind = $6 AND id IN (SELECT parent FROM (" \
	"SELECT parent FROM record" PAGE_WHERE where " ORDER BY id DESC LIMIT $5) AS page)"

#define WALK_FROM \
	" FROM record WHERE kind = $1 AND (account, id) > ($2, $3) ORDER BY account, id LIMIT $4"
#define WALK_NAMED_FROM " FROM named WHERE kind = $1 AND name > $2 ORDER BY name LIMIT $3"

const struct statement_text statements[STATEMENTS] = {
	[BEGIN_WRITE] = { "BEGIN ISOLATION LEVEL READ COMMITTED", "" },
	[BEGIN_SNAPSHOT] = { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "" },
	[LOCK_BRIEFLY] = { "SET LOCAL lock_timeout = " TEXT_OF(LOCK_BRIEF_MOST), "" },
	[COMMIT] = { "COMMIT", "" },
	[ROLLBACK] = { "ROLLBACK", "" },

	[GET] = { "SELECT " COLUMNS " FROM record" BY_ID, "bsb" },
	[GET_TO_CHANGE] = { "SELECT " COLUMNS " FROM record" BY_ID TO_CHANGE, "bsb" },
	[FIND] = { "SELECT " COLUMNS " FROM record" BY_NAME, "bsb" },
	[FIND_TO_CHANGE] = { "SELECT " COLUMNS " FROM record" BY_NAME TO_CHANGE, "bsb" },
	[NAMED] = { "SELECT " COLUMNS " FROM named WHERE kind = $1 AND name = $2", "sb" },
	[NAMED_TO_CHANGE] = { "SELECT " COLUMNS " FROM named WHERE kind = $1 AND name = $2" TO_CHANGE, "sb" },

	[PARENT_OF_GET] = { "SELECT " COLUMNS_OF("p") " FROM record c" PARENT("$4") OF_CHILD("id"), "bsbs" },
	[PARENT_OF_FIND] = { "SELECT " COLUMNS_OF("p") " FROM record c" PARENT("$4") OF_CHILD("name"), "bsbs" },
	[PARENT_OF_NAMED] = { "SELECT " COLUMNS_OF("p") " FROM named c" PARENT("$3") OF_NAMED, "sbs" },
	[PARENT_OF_NAMED_TO_CHANGE] = { "SELECT " COLUMNS_OF("p") " FROM named c" PARENT("$3") OF_NAMED TO_CHANGE " OF p", "sbs" },
	[GRANDPARENT_OF_NAMED] = { "SELECT " COLUMNS_OF("g") " FROM named c" PARENT("$3")
		" JOIN record g ON g.account = p.account AND g.kind = $4 AND g.id = p.parent" OF_NAMED, "sbss" },
	[CHAIN_OF_NAMED] = { CHAIN, "sbsss" },
	[CHAIN_AND_OWN_OF_NAMED] = { CHAIN CHAIN_OWN, "sbssssb" },
	[CHAIN_AND_SIBLINGS_OF_NAMED] = { CHAIN CHAIN_OWN " UNION ALL (SELECT " COLUMNS_OF("r") ", NULL FROM c"
		" JOIN record r ON r.account = c.account AND r.kind = $8 AND r.parent = c.parent AND r.is_on = true"
		" ORDER BY r.id LIMIT $9)", "sbssssbsl" },
	[OWN_OF_NAMED] = { "SELECT " COLUMNS_OF("r") " FROM named c" OWN("$3", "$4") OF_NAMED, "sbsb" },
	[VALUE_OF_GET] = { "SELECT " COLUMNS_OF("p") " FROM record c JOIN record p ON p.account = c.account"
		" AND p.kind = $4 AND p.id = c.value" OF_CHILD("id"), "bsbs" },

	[PAGE_ALL] = { PAGE("record", "", "DESC"), "bsbbl" },
	[PAGE_ALL_OLDEST] = { PAGE("record", "", "ASC"), "bsbbl" },
	[PAGE_SIDE] = { PAGE("record", " AND is_on = $6", "DESC"), "bsbblo" },
	[PAGE_SIDE_OLDEST] = { PAGE("record", " AND is_on = $6", "ASC"), "bsbblo" },
	[PAGE_CHILDREN] = { PAGE("record", " AND parent = $6 AND is_on IS NULL", "DESC"), "bsbblb" },
	[PAGE_CHILDREN_OLDEST] = { PAGE("record", " AND parent = $6 AND is_on IS NULL", "ASC"), "bsbblb" },
	[PAGE_CHILDREN_SIDE] = { PAGE("record", " AND parent = $6 AND is_on = $7", "DESC"), "bsbblbo" },
	[PAGE_CHILDREN_SIDE_OLDEST] = { PAGE("record", " AND parent = $6 AND is_on = $7", "ASC"), "bsbblbo" },
	[PAGE_CHILDREN_BOTH] = { PAGE_BOTH("record", "DESC"), "bsbblb" },
	[PAGE_CHILDREN_BOTH_OLDEST] = { PAGE_BOTH("record", "ASC"), "bsbblb" },
	[PAGE_NAMED] = { PAGE("named", " AND parent = $6 AND is_on IS NULL", "DESC"), "bsbblb" },
	[PAGE_NAMED_OLDEST] = { PAGE("named", " AND parent = $6 AND is_on IS NULL", "ASC"), "bsbblb" },
	[PAGE_NAMED_SIDE] = { PAGE("named", " AND parent = $6 AND is_on = $7", "DESC"), "bsbblbo" },
	[PAGE_NAMED_SIDE_OLDEST] = { PAGE("named", " AND parent = $6 AND is_on = $7", "ASC"), "bsbblbo" },
	[PAGE_NAMED_BOTH] = { PAGE_BOTH("named", "DESC"), "bsbblb" },
	[PAGE_NAMED_BOTH_OLDEST] = { PAGE_BOTH("named", "ASC"), "bsbblb" },
	/* $3: the previous name; $4, $5: the first name with the prefix, and the first name above
	 * all of these */
	[PAGE_BY_NAME] = { "SELECT " COLUMNS PAGE_OF_NAMES, "bsbbbl" },
	[PAGE_BY_END] = { "SELECT " COLUMNS " FROM record WHERE account = $1 AND kind = $2 AND ends <= $3"
		" ORDER BY ends, id LIMIT $4", "bsll" },
	[PARENTS_OF_PAGE_ALL] = { PARENTS_OF(""), "bsbbls" },
	[PARENTS_OF_PAGE_BY_NAME] = { "SELECT " COLUMNS " FROM record WHERE account = $1 AND kind = $7 AND id IN"
		" (SELECT parent FROM (SELECT parent" PAGE_OF_NAMES ") AS page)", "bsbbbls" },
	[PARENTS_OF_PAGE_SIDE] = { PARENTS_OF(" AND is_on = $7"), "bsbblso" },

	[HAS_CHILDREN] = { "SELECT EXISTS (SELECT 1 FROM record WHERE account = $1 AND kind = $2 AND parent = $3)", "bsb" },
	[HAS_NAMED_CHILDREN] = { "SELECT EXISTS (SELECT 1 FROM named WHERE account = $1 AND kind = $2 AND parent = $3)", "bsb" },
	[LOCK_PARENT] = { "SELECT 1 FROM record" BY_ID " FOR UPDATE", "bsb" },
	[CLOCK] = { "SELECT " MILLISECONDS, "" },
	[NEW_ID] = { "SELECT nextval('number'), " MILLISECONDS ","
		" (SELECT id FROM record WHERE account = $1 AND kind = $2 ORDER BY id DESC LIMIT 1),"
		" (SELECT generation FROM roster)", "bs" },

	[INSERT] = { "INSERT INTO record (" COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", "bsbbobbil" },
	[INSERT_SEVERAL] = { "INSERT INTO record (" COLUMNS ") SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)", "BSBBOBBIL" },
	[UPDATE] = { "UPDATE record SET parent = $4, is_on = $5, name = $6, value = $7, checksum = $8, ends = $9" BY_ID, "bsbbobbil" },
	[DELETE] = { "DELETE FROM record" BY_ID, "bsb" },
	[DELETE_SEVERAL] = { "WITH gone AS (DELETE FROM record WHERE account = $1 AND kind = $2 AND id = ANY($3) RETURNING 1)"
		" SELECT 1 / (CASE WHEN count(*) = $4 THEN 1 ELSE 0 END) FROM gone", "bsBl" },
	[INSERT_NAMED] = { "INSERT INTO named (" COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", "bsbbobbil" },
	[UPDATE_NAMED] = { "UPDATE named SET account = $1, id = $3, parent = $4, is_on = $5, name = $6, value = $7,"
		" checksum = $8, ends = $9 WHERE kind = $2 AND name = $10", "bsbbobbilb" },
	[DELETE_NAMED] = { "DELETE FROM named WHERE kind = $1 AND name = $2", "sb" },
	[GUARD] = { "SELECT 1 / count(*) FROM (SELECT 1 FROM record" BY_ID TO_CHANGE ") AS present", "bsb" },
	[GUARD_NAMED] = { "SELECT 1 / count(*) FROM (SELECT 1 FROM named WHERE kind = $1 AND name = $2"
		" AND account = $3" TO_CHANGE ") AS present", "sbb" },
	[GUARD_PARENT] = { "SELECT 1 / count(*) FROM (SELECT 1 FROM record" BY_ID " FOR KEY SHARE) AS present", "bsb" },

	[SLOT_SET] = { "UPDATE session SET last = CASE WHEN epoch = $2 THEN $3 END, seen = now() WHERE id = $1", "lll" },
	[SLOT_TAKE] = { "UPDATE session SET epoch = epoch + 1, seen = now() WHERE id = $1 RETURNING epoch, last", "l" },
	[SLOT_ADD] = { "INSERT INTO session (id, epoch, last, seen) VALUES ($1, 1, 0, now())", "l" },
	[SLOT_REMOVE] = { "DELETE FROM session WHERE id = $1", "l" },
	[SLOT_REMOVE_OLD] = { "DELETE FROM session WHERE seen < now() - interval '30 days'", "" },

	[INSTALLATION] = { "SELECT program, version FROM installation", "" },
	[VERSION_SHARED] = { "SELECT version FROM installation FOR SHARE", "" },
	[FORM] = { "SELECT form, version FROM installation", "" },
	[FORM_SET] = { "UPDATE installation SET form = $1, version = $2", "bi" },
	/* $2 and $3: the form that was read; another process may have replaced it meanwhile. */
	[FORM_REPLACE] = { "UPDATE installation SET form = $1 WHERE form = $2 AND version = $3", "bbi" },
	[IN_USE] = { "SELECT count(*) FROM session WHERE id <> $1 AND seen > now() - interval '6 seconds'", "l" },
	[VERSION_RAISE] = { "UPDATE installation SET version = $1 WHERE version = $2", "ii" },
	[SLOTS_INVALIDATE] = { "UPDATE session SET epoch = epoch + 1", "" },
	[STANDBY] = { "SELECT coalesce(current_setting('synchronous_standby_names', true), '') <> ''", "" },
	[SIZE] = { "SELECT pg_database_size(current_database())", "" },
	[GENERATION] = { "SELECT generation FROM roster", "" },
	[ROSTER] = { "SELECT generation, text FROM roster", "" },
	[ROSTER_TO_CHANGE] = { "SELECT generation, text FROM roster FOR NO KEY UPDATE", "" },
	[ROSTER_SET] = { "UPDATE roster SET generation = $1, text = $2", "lb" },
	[LOAD_LOCK] = { "SELECT 1 FROM load WHERE item = 1 FOR UPDATE NOWAIT", "" },
	[LOAD_MARKED] = { "SELECT text FROM load WHERE item = 2", "" },
	[LOAD_UNMARK] = { "DELETE FROM load WHERE item = 2", "" },
	[LOAD_MARK] = { "INSERT INTO load (item, text) VALUES (2, $1)", "b" },
	/* $1 kind, $2 and $3 the last record before this portion, $4 the limit */
	[WALK] = { "SELECT " COLUMNS WALK_FROM, "sbbl" },
	[WALK_KEYS] = { "SELECT account, id" WALK_FROM, "sbbl" },
	[WALK_NAMED] = { "SELECT " COLUMNS WALK_NAMED_FROM, "sbl" },
	[WALK_NAMED_KEYS] = { "SELECT name" WALK_NAMED_FROM, "sbl" },
	[COUNT] = { "SELECT count(*) FROM record WHERE kind = $1", "s" },
	[COUNT_NAMED] = { "SELECT count(*) FROM named WHERE kind = $1", "s" },
};

/* A partial index has no rows in which the column is NULL, so each record is only in the indexes
 * that its kind needs. */
const char *const table_commands[] = {
	"CREATE TABLE installation (one boolean PRIMARY KEY CHECK (one), program text NOT NULL,"
	" version integer NOT NULL, form bytea NOT NULL)",
	"CREATE TABLE roster (one boolean PRIMARY KEY CHECK (one), generation bigint NOT NULL,"
	" text bytea NOT NULL)",
	"CREATE SEQUENCE number MAXVALUE 1099511627775 CACHE 1",
	"CREATE TABLE record (account bytea NOT NULL, kind smallint NOT NULL, id bytea NOT NULL,"
	" parent bytea, is_on boolean, name bytea, value bytea NOT NULL, checksum integer NOT NULL,"
	" ends bigint, PRIMARY KEY (account, kind, id)) WITH (fillfactor = 85)",
	"CREATE UNIQUE INDEX record_name ON record (account, kind, name) WHERE name IS NOT NULL",
	"CREATE INDEX record_parent ON record (account, kind, parent, is_on, id) WHERE parent IS NOT NULL",
	"CREATE INDEX record_end ON record (account, kind, ends, id) WHERE ends IS NOT NULL",
	"CREATE INDEX record_side ON record (account, kind, is_on, id) WHERE is_on IS NOT NULL",
	"CREATE TABLE named (account bytea NOT NULL, kind smallint NOT NULL, id bytea NOT NULL,"
	" parent bytea, is_on boolean, name bytea NOT NULL, value bytea NOT NULL,"
	" checksum integer NOT NULL, ends bigint, PRIMARY KEY (kind, name)) WITH (fillfactor = 85)",
	"CREATE INDEX named_parent ON named (account, kind, parent, is_on, id) WHERE parent IS NOT NULL",
	"CREATE TABLE session (id bigint PRIMARY KEY, epoch bigint NOT NULL, last bigint NOT NULL,"
	" seen timestamptz NOT NULL) WITH (fillfactor = 10)",
	"CREATE TABLE load (item integer PRIMARY KEY, text bytea NOT NULL)",
	"INSERT INTO load (item, text) VALUES (1, '\\x')",
	"INSERT INTO roster (one, generation, text) VALUES (true, 1, '\\x')",
	/* version: STORE_FORM_FIRST, until the form is set */
	"INSERT INTO installation (one, program, version, form) VALUES (true, 'anteroom', 7, '\\x')",
	NULL,
};
/* clang-format on */
