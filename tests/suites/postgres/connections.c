/* Connections that are cut, refused or frozen, and servers that are refused or unavailable.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "records/kinds.h"
#include "relay.h"
#include "resources/audit_record.h"
#include "resources/record_kind.h"
#include "responders.h"
#include "store/figures.h"
#include "suite.h"

/* ---- cuts ---- */

/* Runs a create and an update with the connection cut after the n-th byte, for every n: each
 * returns success and is carried out once. */
START_TEST(a_cut_connection_loses_nothing)
{
	const enum relay_side side = (enum relay_side)_i;
	const size_t step = getenv("EVERY_BYTE") != NULL ? 1 : 61;
	const char *id;
	bool was_cut = true;
	struct reply reply;

	for (size_t n = 1; was_cut; n += step) {
		const char *name = arena_text(kept, "cut %zu", n);
		const char *body = arena_text(kept, "{\"name\":\"%s\"}", name);
		const char *list = arena_text(kept, "/v2/templates?name=cut%%20%zu", n);

		relay_cut_after(side, n);
		reply = ask(&one, METHOD_POST, "/v2/templates", body);
		id = member_of(&reply, "id");
		reply = ask(&one, METHOD_POST, arena_text(kept, "/v2/templates/%s/roles/host", id),
			    arena_text(kept, "{\"priority\":%d}", (int)(n % 5) + 1));
		was_cut = relay_has_cut();
		ck_assert_msg(reply.status == 200, "after %zu: %d %s", n, reply.status, reply.text);
		reply = ask(&two, METHOD_GET, list, NULL);
		ck_assert_msg(strstr(reply.text, id) != NULL, "after %zu: %s", n, reply.text);
		reply = ask(&two, METHOD_GET, arena_text(kept, "/v2/templates/%s/roles/host", id),
			    NULL);
		ck_assert_msg(strstr(reply.text,
				     arena_text(kept, "\"priority\":%d", (int)(n % 5) + 1)) != NULL,
			      "after %zu: %s", n, reply.text);
	}
}
END_TEST

/* ---- connecting ---- */

/* Behaves like a paused pooler. */
START_TEST(a_login_without_a_response_is_no_connection)
{
	const struct store_postgres_options options = { .url = relayed };
	struct fault fault = FAULT_INITIAL;
	const int64_t start = clock_monotonic();
	struct store *store;

	relay_hold(1);
	ck_assert(!store_postgres_open(&options, &store, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert_int_lt(clock_monotonic() - start, LOST_AFTER);
	relay_let_go();
	fault = FAULT_INITIAL;
	ck_assert_msg(store_postgres_open(&options, &store, &fault), "%s", fault.cause);
	store_close(store);
}
END_TEST

static uint64_t connects_of(const struct world *responder)
{
	struct store_figures figures = { 0 };

	store_figures(responder->environment.store, &figures);
	return figures.connects;
}

#define HELD 3

static void take(const struct world *responder, struct transaction *held[HELD])
{
	struct fault fault = FAULT_INITIAL;

	for (int i = 0; i < HELD; i++)
		ck_assert_msg(store_begin(responder->environment.store, STORE_READ, kept, &held[i],
					  &fault),
			      "%s", fault_reason(&fault));
}

static void give(struct transaction *held[HELD])
{
	for (int i = 0; i < HELD; i++)
		store_abandon(held[i]);
}

static void *ask_for_templates(void *context)
{
	struct arena *arena = arena_open();

	*(int *)context =
		world_ask(&one, arena, &account, METHOD_GET, "/v2/templates", NULL).status;
	arena_close(arena);
	return NULL;
}

/* A call that finds all connections in use waits for one; other calls are not affected. */
START_TEST(the_store_works_without_a_refused_connection)
{
	struct transaction *held[HELD];
	uint64_t connects;
	pthread_t asking;
	int status;

	take(&one, held);
	/* The watch has its connection. */
	while (connects_of(&one) < HELD + 1)
		sched_yield();
	connects = connects_of(&one);
	relay_refuse(true);
	ck_assert_int_eq(pthread_create(&asking, NULL, ask_for_templates, &status), 0);
	while (relay_refused() == 0)
		sched_yield();
	for (int i = 0; i < HELD; i++) {
		store_abandon(held[i]);
		ck_assert_int_eq(ask(&one, METHOD_POST, "/v2/templates", "{}").status, 200);
		ck_assert_int_eq(ask(&one, METHOD_GET, "/readyz", NULL).status, 200);
	}
	ck_assert_int_eq(pthread_join(asking, NULL), 0);
	ck_assert_int_eq(status, 200);
	take(&one, held);
	give(held);
	ck_assert_uint_eq(connects_of(&one), connects);
}
END_TEST

/* In milliseconds; the watch may be about to connect. */
#define CLOSED_WITHIN 5000

START_TEST(a_store_with_a_frozen_database_can_be_closed)
{
	struct transaction *held[HELD];
	int64_t start;

	take(&one, held);
	give(held);
	relay_hold(0);
	start = clock_monotonic();
	world_close(&one);
	ck_assert_int_lt(clock_monotonic() - start, CLOSED_WITHIN);
	relay_let_go();
	open_responder(&one, relayed, 0);
}
END_TEST

START_TEST(a_closed_store_leaves_no_slots)
{
	const char *none = "SELECT 1 / (count(*) = 0)::int FROM session";
	struct transaction *held[HELD];

	take(&one, held);
	give(held);
	ck_assert(!database_execute(url, none));
	world_close(&one);
	world_close(&two);
	ck_assert(database_execute(url, none));
	open_responder(&one, relayed, 0);
	open_responder(&two, url, 0);
}
END_TEST

/* What the server answers about synchronous_commit. */
static const struct {
	const char *body; /* of a function */
	enum fault_kind kind;
} commits[] = {
	{ "SELECT text 'on'", FAULT_NONE },
	{ "SELECT NULL::text", FAULT_NONE }, /* a server without this setting */
	{ "SELECT text 'off'", FAULT_BAD_REQUEST },
	{ "SELECT (1 / 0)::text", FAULT_UNAVAILABLE },
};

START_TEST(a_server_that_may_lose_commits_is_refused)
{
	const char *before_the_system = arena_text(kept, "%s,pg_catalog", url);

	for (int i = 0; i < ROWS(commits); i++) {
		struct fault fault = FAULT_INITIAL;
		struct store_postgres_version version;

		ck_assert(database_execute(
			url, arena_text(kept,
					"CREATE OR REPLACE FUNCTION current_setting(text, boolean)"
					" RETURNS text LANGUAGE sql AS $$ %s $$",
					commits[i].body)));
		(void)store_postgres_renew(before_the_system, NULL, &version, &fault);
		ck_assert_msg(fault.kind == commits[i].kind, "row %d: %s", i, fault.cause);
	}
}
END_TEST

static const struct {
	const char *mode;
	bool is_refused;
} poolers[] = { { "session", false }, { "transaction", true }, { "statement", true } };

/* Both creating a store and opening one report it. */
START_TEST(a_pooler_that_lends_sessions_is_refused_by_name)
{
	struct fault faults[2] = { FAULT_INITIAL, FAULT_INITIAL };
	struct store_postgres_options over = { .connections = 2 };
	char *host = database_start_pooler(poolers[_i].mode), *pooled;
	struct store *store;
	bool was_made;

	if (host == NULL) {
		printf("left out: a pooler (PgBouncer is not installed)\n");
		return;
	}
	pooled = database_url_over(url, host);
	over.url = pooled;
	(void)store_postgres_create(pooled, NULL, &was_made, &faults[0]);
	if (store_postgres_open(&over, &store, &faults[1]))
		store_close(store);
	database_stop_pooler();
	free(pooled);
	free(host);
	for (size_t i = 0; i < ROWS(faults); i++) {
		if (poolers[_i].is_refused) {
			ck_assert_int_eq(faults[i].kind, FAULT_BAD_REQUEST);
			ck_assert_ptr_nonnull(strstr(faults[i].cause, "PgBouncer"));
			ck_assert_ptr_nonnull(strstr(faults[i].cause, "pool_mode = session"));
		} else {
			ck_assert_msg(faults[i].kind == FAULT_NONE, "%s", faults[i].cause);
		}
	}
}
END_TEST

/* The scheme of any URL may be in upper case. */
START_TEST(the_scheme_may_be_in_upper_case)
{
	const char *upper = arena_text(kept, "PostgreSQL%s", strchr(url, ':'));
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	ck_assert(store_postgres_is_url(upper));
	ck_assert_msg(store_postgres_create(upper, NULL, &was_made, &fault), "%s", fault.cause);
	ck_assert(!was_made);
}
END_TEST

START_TEST(a_read_only_database_is_refused_in_plain_words)
{
	const char *read_only = arena_text(kept, "%s%%20-cdefault_transaction_read_only%%3Don",
					   url);
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	ck_assert(!store_postgres_create(read_only, NULL, &was_made, &fault));
	ck_assert_msg(strstr(fault.cause, "is read-only") != NULL, "%s", fault.cause);
	ck_assert_ptr_nonnull(strstr(fault.cause, "default_transaction_read_only"));
	ck_assert_ptr_nonnull(strstr(fault.cause, "standby"));
}
END_TEST

/* ---- the form ---- */

/* What a change of the table installation makes of the store. "$" is the form of this program. */
static const struct {
	const char *sql;
	const char *says; /* NULL: it opens */
} written_by[] = {
	{ "form = $", NULL },
	{ "version = 1", "by an unreleased version of Anteroom; dump with that one" },
	{ "version = 2", "by an unreleased version of Anteroom; dump with that one" },
	{ "version = 3", "by an unreleased version of Anteroom; dump with that one" },
	{ "version = 4", "by an unreleased version of Anteroom; dump with that one" },
	{ "version = 5", "by an unreleased version of Anteroom; dump with that one" },
	{ "version = 6", "by an unreleased version of Anteroom; dump with that one" },
	{ "version = 8", "by a newer version of Anteroom" },
	{ "version = 99", "by a newer version of Anteroom" },
	{ "form = ''", "by an unreleased version of Anteroom; dump with that one" },
	{ "form = '\\xff'", "by an unreleased version of Anteroom; dump with that one" },
	{ "form = $ || ' 0=1:00000000'", "by a newer version of Anteroom" },
	{ "form = 's=99:00000000'", "by a newer version of Anteroom" },
	{ "form = 's=1:00000000'", "by an unreleased version of Anteroom; dump with that one" },
	/* Without the last kind. */
	{ "form = substring($ from 1 for length($) - length(' y=3:00000000'))", NULL },
};

/* Sets the row, in which "$" stands for the form. */
static void set_installation(const char *sql)
{
	const struct slice form = record_form.text(kept);
	const char *text = arena_text(kept, "'%.*s'::bytea", (int)form.size, form.data);
	struct buffer set = BUFFER_INITIAL(kept);

	buffer_append_text(&set, "UPDATE installation SET ");
	for (; *sql != '\0'; sql++) {
		if (*sql == '$')
			buffer_append_text(&set, text);
		else
			buffer_append_byte(&set, *sql);
	}
	buffer_append_byte(&set, '\0');
	ck_assert(database_execute(url, set.data));
}

static bool keeps_form(void)
{
	const struct slice form = record_form.text(kept);

	return database_execute(url, arena_text(kept,
						"SELECT 1 / count(*) FROM installation WHERE"
						" form = '%.*s'::bytea",
						(int)form.size, form.data));
}

/* Nothing changes a form but a program that has more; reading alone does not. */
START_TEST(the_form_says_whether_a_database_can_be_used)
{
	struct store_postgres_options options = {
		.url = url,
		.connections = 1,
		.form = &record_form,
		.is_read_only = true,
	};
	struct store *store;
	unsigned number;
	bool is_kept;

	set_installation(written_by[_i].sql);
	is_kept = keeps_form();
	for (int i = 0; i < 2; i++, options.is_read_only = false) {
		struct fault fault = FAULT_INITIAL, checked = FAULT_INITIAL;
		const bool is_open = store_postgres_open(&options, &store, &fault);

		ck_assert_int_eq(keeps_form(), is_kept || (is_open && !options.is_read_only));
		ck_assert_int_eq(store_postgres_check_form(url, &record_form, &number, &checked),
				 is_open);
		ck_assert_str_eq(checked.cause, fault.cause);
		if (is_open)
			store_close(store);
		ck_assert_msg(is_open == (written_by[_i].says == NULL), "%s", fault.cause);
		ck_assert_msg(is_open || strstr(fault.cause, written_by[_i].says) != NULL, "%s",
			      fault.cause);
	}
}
END_TEST

/* The tables as programs before the first form have made them. */
START_TEST(tables_without_a_form_are_of_an_unreleased_version)
{
	struct store_postgres_version version;
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	ck_assert(database_execute(url, "ALTER TABLE installation DROP COLUMN form;"
					"UPDATE installation SET version = 1"));
	ck_assert(!store_postgres_renew(url, &record_form, &version, &fault));
	ck_assert_str_eq(fault.cause, "the data in the database was written by an unreleased "
				      "version of Anteroom; dump with that one");
	fault = FAULT_INITIAL;
	ck_assert(!store_postgres_create(url, &record_form, &was_made, &fault));
	ck_assert_ptr_nonnull(strstr(fault.cause, "by an unreleased version"));
}
END_TEST

START_TEST(an_upgrade_renews_an_earlier_form)
{
	struct store_postgres_version version;

	set_installation("form = substring($ from 1 for length($) - length(' y=3:00000000'))");
	for (int i = 1; i >= 0; i--) {
		struct fault fault = FAULT_INITIAL;

		ck_assert(store_postgres_renew(url, &record_form, &version, &fault));
		ck_assert_int_eq(version.is_renewed, i == 1);
		ck_assert(keeps_form());
	}
}
END_TEST

/* A responder of a newer version starts beside these two, which only stores more: the form of the
 * database is its own from then on, and records may be of a later version of their table. The two
 * go on, on new connections, too; they cannot read such a record, and would not start again. */
static const struct {
	const struct store_kind *kind;
	const char *path, *member;
} newer_records[] = {
	{ &kind_ban, "/v2/bans", "user_id" },
	{ &kind_room, "/v2/rooms", "name" },
};

/* Stores a record as a newer version does: with a higher number, and something behind the rest. */
static void store_newer(const struct store_kind *kind, const char *id)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_record record;
	uint64_t number;
	struct id key;
	char *value;

	ck_assert(id_parse(slice_of(id), &key));
	ck_assert(store_begin(two.environment.store, STORE_WRITE, kept, &transaction, &fault));
	store_set_account(transaction, &account.id);
	ck_assert(store_get(transaction, kind, &key, STORE_TO_CHANGE, &record, &fault));
	value = arena_zero(kept, record.value.size + 1);
	memcpy(value, record.value.data, record.value.size);
	value[0]++;
	record.value = (struct slice){ value, record.value.size + 1 };
	ck_assert(store_put(transaction, kind, &record, &record, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
}

START_TEST(responders_go_on_beside_one_of_a_newer_version)
{
	const char *path = newer_records[_i].path, *member = newer_records[_i].member;
	const struct store_postgres_options again = { .url = url,
						      .form = &record_form,
						      .connections = 1 };
	struct fault fault = FAULT_INITIAL;
	const char *newer, *own, *other;
	struct store *store;
	struct reply reply;
	int64_t start;

	(void)make(&one, "/v2/templates", "{\"name\":\"t\",\"default\":true}");
	own = make(&one, path, arena_text(kept, "{\"%s\":\"%s\"}", member, "first"));
	newer = make(&one, path, arena_text(kept, "{\"%s\":\"%s\"}", member, "second"));
	set_installation("form = $ || ' 0=1:00000000'");
	store_newer(newer_records[_i].kind, newer);
	relay_cut_all();
	start = clock_monotonic();
	do {
		reply = ask(&one, METHOD_GET, arena_text(kept, "%s/%s", path, own), NULL);
	} while (reply.status == 503 && clock_monotonic() - start < 20000);
	ck_assert_msg(reply.status == 200, "%d %s", reply.status, reply.text);
	other = make(&one, path, arena_text(kept, "{\"%s\":\"%s\"}", member, "third"));
	reply = ask(&two, METHOD_GET, arena_text(kept, "%s/%s", path, other), NULL);
	ck_assert_msg(reply.status == 200, "%d %s", reply.status, reply.text);
	/* The record, and a list that has it. */
	for (int i = 0; i < 2; i++) {
		reply = ask(&two, METHOD_GET,
			    i == 0 ? arena_text(kept, "%s/%s", path, newer) : path, NULL);
		ck_assert_msg(reply.status == 503 && strstr(reply.text, "written by a newer version"
									" of Anteroom") != NULL,
			      "%d %s", reply.status, reply.text);
	}
	ck_assert(!store_postgres_open(&again, &store, &fault));
	ck_assert_msg(strstr(fault.cause, "by a newer version of Anteroom") != NULL, "%s",
		      fault.cause);
}
END_TEST

/* ---- the server is unavailable ---- */

void set_up_server(void)
{
	ck_assert_ptr_null(database_start());
	set_up();
}

void tear_down_server(void)
{
	tear_down();
	database_stop();
}

START_TEST(without_the_database_calls_fail_immediately)
{
	const char *id = make(&one, "/v2/templates", "{\"name\":\"before\"}");
	const char *path = arena_text(kept, "/v2/templates/%s", id);
	struct reply reply;
	int64_t start;

	database_kill();
	/* The first call notices. */
	for (int i = 0; i < 3; i++) {
		start = clock_monotonic();
		reply = ask(&one, i == 1 ? METHOD_POST : METHOD_GET,
			    i == 1 ? "/v2/templates" : path, "{}");
		ck_assert_msg(reply.status == 503 && reply.retry_after.size > 0, "%d %s",
			      reply.status, reply.text);
		ck_assert_int_lt(clock_monotonic() - start, 3000);
	}
	ck_assert_int_eq(ask(&one, METHOD_GET, "/readyz", NULL).status, 503);
	ck_assert_int_eq(ask(&one, METHOD_GET, "/healthz", NULL).status, 200);
	database_restart();
	start = clock_monotonic();
	do {
		reply = ask(&one, METHOD_GET, path, NULL);
	} while (reply.status == 503 && clock_monotonic() - start < 20000);
	ck_assert_int_eq(reply.status, 200);
	ck_assert_int_eq(ask(&one, METHOD_POST, "/v2/templates", "{}").status, 200);
	ck_assert_int_eq(ask(&one, METHOD_GET, "/readyz", NULL).status, 200);
}
END_TEST

/* How the database becomes read-only: for the sessions that there are, or only for new ones, as
 * after a failover. */
static const char *const read_only_ways[][2] = {
	{ "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()" },
	{ "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',"
	  " current_database()); END $$",
	  "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
	  " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()" },
};
static const char *const writable_again[] = {
	"ALTER SYSTEM RESET default_transaction_read_only",
	("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only',"
	 " current_database()); END $$"),
	"SELECT pg_reload_conf()",
};

/* No response says that the database does not respond, or that the outcome is unknown. */
START_TEST(a_read_only_database_is_told_as_that)
{
	const char *id = make(&two, "/v2/templates", "{\"name\":\"before\"}");
	const char *path = arena_text(kept, "/v2/templates/%s", id);
	const char *writing = arena_text(kept, "%s%%20-cdefault_transaction_read_only%%3Doff", url);
	const char *said = "\"details\":[\"the database is read-only\"]";
	const int64_t until = clock_monotonic() + 20000;
	struct reply reply = { .status = 0 };

	for (int i = 0; i < 2; i++)
		ck_assert(database_execute(writing, read_only_ways[_i][i]));
	/* Those that have noticed fail, then all. */
	for (int told = 0, i = 0; told < 8; i++) {
		const int64_t start = clock_monotonic();

		switch (i % 4) {
		case 0:
			reply = ask(&two, METHOD_POST, "/v2/templates", "{}");
			break;
		case 1:
			reply = ask(&two, METHOD_PATCH, path, "{\"description\":\"x\"}");
			break;
		case 2:
			reply = ask(&two, METHOD_GET, path, NULL);
			break;
		case 3:
			reply = ask(&two, METHOD_GET, "/readyz", NULL);
			break;
		}
		ck_assert_int_lt(clock_monotonic() - start, 3000);
		ck_assert_msg(reply.status == 200 || strstr(reply.text, said) != NULL, "%s",
			      reply.text);
		told = reply.status == 503 ? told + 1 : 0;
		ck_assert_msg(clock_monotonic() < until, "%d %s", reply.status, reply.text);
	}
	for (int i = 0; i < ROWS(writable_again); i++)
		ck_assert(database_execute(writing, writable_again[i]));
	do {
		reply = ask(&two, METHOD_POST, "/v2/templates", "{}");
		ck_assert_msg(clock_monotonic() < until + 20000, "%d %s", reply.status, reply.text);
	} while (reply.status != 200);
}
END_TEST

/* ---- connecting ---- */

/* The watch asks for the size when it begins. */
START_TEST(the_size_of_the_database_is_known)
{
	const int64_t until = clock_monotonic() + FLIGHTS_WITHIN;
	struct store_figures figures = { 0 };

	while (figures.disk_bytes == 0 && clock_monotonic() < until) {
		store_figures(two.environment.store, &figures);
		(void)poll(NULL, 0, 10);
	}
	ck_assert_uint_gt(figures.disk_bytes, 100000);
}
END_TEST

void add_connections(TCase *calls, TCase *away)
{
	tcase_add_test(calls, the_size_of_the_database_is_known);
	tcase_add_loop_test(calls, a_cut_connection_loses_nothing, 0, 2);
	tcase_add_test(calls, a_login_without_a_response_is_no_connection);
	tcase_add_test(calls, the_store_works_without_a_refused_connection);
	tcase_add_test(calls, a_store_with_a_frozen_database_can_be_closed);
	tcase_add_test(calls, a_closed_store_leaves_no_slots);
	tcase_add_test(calls, a_server_that_may_lose_commits_is_refused);
	tcase_add_loop_test(calls, a_pooler_that_lends_sessions_is_refused_by_name, 0,
			    ROWS(poolers));
	tcase_add_test(calls, the_scheme_may_be_in_upper_case);
	tcase_add_test(calls, a_read_only_database_is_refused_in_plain_words);
	tcase_add_loop_test(calls, the_form_says_whether_a_database_can_be_used, 0,
			    ROWS(written_by));
	tcase_add_test(calls, tables_without_a_form_are_of_an_unreleased_version);
	tcase_add_test(calls, an_upgrade_renews_an_earlier_form);
	tcase_add_loop_test(calls, responders_go_on_beside_one_of_a_newer_version, 0,
			    ROWS(newer_records));
	tcase_add_test(away, without_the_database_calls_fail_immediately);
	tcase_add_loop_test(away, a_read_only_database_is_told_as_that, 0, ROWS(read_only_ways));
}
