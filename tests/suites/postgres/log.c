/* The event log, which one responder at a time numbers, and the lease for that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "background/join_log.h"
#include "background/keeper.h"
#include "database.h"
#include "records/kinds.h"
#include "resources/audit_record.h"
#include "responders.h"
#include "suite.h"

#define NUMBERED_WITHIN 20000

/* Entries of the account are queued; if is_damaged is set, its log cannot be read. */
static void enqueue(struct store *store, const struct id *of, size_t n, bool is_damaged)
{
	struct audit_entry *entries = arena_zero(kept, n * sizeof *entries);
	const struct store_record state = { .value = SLICE("damaged") };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	for (size_t i = 0; i < n; i++)
		entries[i] = (struct audit_entry){
			.time = 1,
			.id = SLICE("id"),
			.type = SLICE("room.created"),
			.actor = SLICE("{}"),
			.request_id = SLICE(""),
			.data = SLICE("{}"),
		};
	ck_assert(store_begin(store, STORE_WRITE, kept, &transaction, &fault));
	store_set_account(transaction, of);
	ck_assert(audit_enqueue(transaction, &clock_system, entries, n, clock_now(&clock_system),
				&fault));
	ck_assert(!is_damaged || store_put(transaction, &kind_audit, &state, NULL, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
}

START_TEST(a_damaged_log_does_not_delay_others)
{
	struct environment *environment = &two.environment;
	struct lease *lease = lease_open(environment->store, &clock_system);
	const int64_t until = clock_monotonic() + NUMBERED_WITHIN;
	struct fault fault = FAULT_INITIAL;
	struct keeper *keeper;
	bool is_numbered = false;

	/* More events than are numbered in one step. */
	enqueue(environment->store, &account.id, AUDIT_READ_MOST + 1, true);
	ck_assert(accounts_add(url, &clock_system, "other", &account, &fault));
	ck_assert_int_eq(ask(&two, METHOD_POST, "/v2/templates", "{}").status, 200);
	environment->joins = join_log_open();
	keeper = keeper_open(environment, lease);
	while (!is_numbered && clock_monotonic() < until)
		is_numbered = strstr(ask(&two, METHOD_GET, "/v2/events", NULL).text,
				     "template.created") != NULL;
	keeper_close(keeper);
	join_log_close(environment->joins);
	lease_close(lease);
	ck_assert(is_numbered);
}
END_TEST

static uint64_t last_of(struct store *store, const struct id *of)
{
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;

	ck_assert(store_begin(store, STORE_READ, arena, &transaction, &fault));
	store_set_account(transaction, of);
	ck_assert(audit_state_load(transaction, STORE_TO_SHOW, &state, &fault));
	store_abandon(transaction);
	arena_close(arena);
	return state.last;
}

#define QUEUED (2 * AUDIT_READ_MOST)

/* Queued entries with a wrong checksum, by the number in bytes 6 and 7 of their IDs. */
static const struct {
	const char *which;
	uint64_t numbered; /* of QUEUED */
} queue_damages[] = {
	{ "number = 0", QUEUED - 1 },	  { "number IN (1, 2, 300)", QUEUED - 3 },
	{ "number = 255", QUEUED - 1 },	  { "number = 511", QUEUED - 1 },
	{ "number < 256", QUEUED - 256 },
};

START_TEST(a_damaged_entry_does_not_delay_others)
{
	struct environment *environment = &two.environment;
	const int64_t until = clock_monotonic() + NUMBERED_WITHIN;
	const uint64_t expected = queue_damages[_i].numbered;
	struct keeper *keeper;
	struct lease *lease;
	uint64_t last = 0;

	enqueue(environment->store, &account.id, QUEUED, false);
	ck_assert(database_execute(
		url,
		arena_text(kept,
			   "WITH queued AS (SELECT id, get_byte(id, 6) * 256 + get_byte(id, 7) AS "
			   "number FROM record WHERE kind = ascii('q')) "
			   "UPDATE record SET checksum = checksum + 1 FROM queued "
			   "WHERE kind = ascii('q') AND record.id = queued.id AND %s",
			   queue_damages[_i].which)));
	lease = lease_open(environment->store, &clock_system);
	environment->joins = join_log_open();
	keeper = keeper_open(environment, lease);
	while (last < expected && clock_monotonic() < until)
		last = last_of(environment->store, &account.id);
	keeper_close(keeper);
	join_log_close(environment->joins);
	lease_close(lease);
	ck_assert_uint_eq(last_of(environment->store, &account.id), expected);
}
END_TEST

/* Far more than can be numbered before the keeper stops. */
#define BACKLOG 20000

START_TEST(the_keeper_stops_despite_a_backlog)
{
	struct environment *environment = &two.environment;
	struct lease *lease = lease_open(environment->store, &clock_system);

	enqueue(environment->store, &account.id, BACKLOG, false);
	environment->joins = join_log_open();
	keeper_close(keeper_open(environment, lease));
	join_log_close(environment->joins);
	lease_close(lease);
	ck_assert_uint_lt(last_of(environment->store, &account.id), BACKLOG);
}
END_TEST

/* An entry with a wrong checksum is dropped like others when it is old. */
START_TEST(an_old_damaged_entry_is_dropped)
{
	const struct audit_times early = { 1, 0 }, late = { 1000, 10 };
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;

	for (unsigned i = 0; i < 2; i++) {
		struct transaction *transaction;
		struct audit_entry entries[3];
		uint64_t number;

		for (size_t j = 0; j < 3; j++)
			entries[j] = (struct audit_entry){
				.time = i == 0 ? early.now : late.now,
				.id = SLICE("id"),
				.type = SLICE("room.created"),
				.actor = SLICE("{}"),
				.request_id = SLICE(""),
				.data = SLICE("{}"),
			};
		ck_assert(store_begin(one.environment.store, STORE_WRITE, kept, &transaction,
				      &fault));
		store_set_account(transaction, &account.id);
		ck_assert_msg(
			audit_append(transaction, i == 0 ? &early : &late, entries, 3, &fault) &&
				audit_state_load(transaction, STORE_TO_SHOW, &state, &fault) &&
				store_commit(transaction, &number, &fault),
			"%s", fault_reason(&fault));
		ck_assert(database_execute(url,
					   "UPDATE record SET checksum = checksum + 1 "
					   "WHERE kind = ascii('e') AND get_byte(id, 11) = 2"));
	}
	ck_assert_uint_eq(state.first, 4);
	ck_assert_uint_eq(state.last, 6);
}
END_TEST

/* Milliseconds within which another responder takes over the work of one that stops. */
#define TAKEN_WITHIN 1500

START_TEST(a_released_lease_is_taken_soon)
{
	struct lease *former = lease_open(one.environment.store, &clock_system);
	struct lease *next = lease_open(two.environment.store, &clock_system);
	int64_t since;

	ck_assert(lease_hold(former));
	ck_assert(!lease_hold(next));
	since = clock_monotonic();
	lease_close(former);
	while (!lease_hold(next) && clock_monotonic() - since < 2 * LEASE_LASTS)
		continue;
	ck_assert_int_lt(clock_monotonic() - since, TAKEN_WITHIN);
	lease_close(next);
}
END_TEST

void add_log(TCase *calls)
{
	tcase_add_test(calls, a_damaged_log_does_not_delay_others);
	tcase_add_loop_test(calls, a_damaged_entry_does_not_delay_others, 0, ROWS(queue_damages));
	tcase_add_test(calls, the_keeper_stops_despite_a_backlog);
	tcase_add_test(calls, an_old_damaged_entry_is_dropped);
	tcase_add_test(calls, a_released_lease_is_taken_soon);
}
