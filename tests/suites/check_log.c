/* The event log below its endpoints: how many old entries a write drops, and that a damaged log
 * does not keep other accounts from getting their entries.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "accounts/accounts.h"
#include "directory.h"
#include "fast_disk.h"
#include "resources/audit_record.h"
#include "background/join_log.h"
#include "records/kinds.h"
#include "scratch.h"
#include "background/account_watch.h"
#include "store_memory.h"
#include "suite.h"
#include "transfer/transfer.h"

#define ACCOUNTS 2

static struct {
	struct arena *arena;
	char *directory;
	struct account accounts[ACCOUNTS];
	struct environment environment;
	struct lease *lease;
} stand;

static void set_up_over(struct store *store)
{
	static const char *const names[ACCOUNTS] = { "a", "b" };
	struct fault fault = FAULT_INITIAL;

	stand.arena = arena_open();
	stand.directory = directory_make();
	stand.environment = (struct environment){ .clock = &clock_system };
	for (size_t i = 0; i < ACCOUNTS; i++)
		ck_assert(accounts_add(stand.directory, &clock_system, names[i], &stand.accounts[i],
				       &fault));
	ck_assert(accounts_open(stand.directory, &stand.environment.accounts, &fault));
	stand.environment.store = store;
	stand.environment.joins = join_log_open();
}

static void tear_down_over(void)
{
	join_log_close(stand.environment.joins);
	store_close(stand.environment.store);
	accounts_close(stand.environment.accounts);
	directory_remove(stand.directory);
	arena_close(stand.arena);
}

static void set_up(void)
{
	set_up_over(store_memory_open());
	stand.lease = lease_open(stand.environment.store, &clock_system);
}

static void tear_down(void)
{
	lease_close(stand.lease);
	tear_down_over();
}

static void set_up_durable(void)
{
	scratch_open();
	set_up_over(scratch_store());
}

static void tear_down_durable(void)
{
	tear_down_over();
	scratch_close();
}

static struct transaction *begin(enum store_access access, size_t account)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	ck_assert(store_begin(stand.environment.store, access, stand.arena, &transaction, &fault));
	store_set_account(transaction, &stand.accounts[account].id);
	return transaction;
}

static void commit(struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_commit(transaction, &number, &fault));
	store_flush(stand.environment.store);
}

static struct audit_state state_of(size_t account)
{
	struct transaction *transaction = begin(STORE_READ, account);
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;

	ck_assert_msg(audit_state_load(transaction, STORE_TO_SHOW, &state, &fault), "%s",
		      fault_reason(&fault));
	store_abandon(transaction);
	return state;
}

/* Damages the record that says how far the account's log goes. */
static void damage(size_t account)
{
	struct transaction *transaction = begin(STORE_WRITE, account);
	const struct store_record record = { .value = SLICE("damaged") };
	struct store_record stored;
	struct fault fault = FAULT_INITIAL;

	ck_assert(
		store_get(transaction, &kind_audit, &record.id, STORE_TO_CHANGE, &stored, &fault) &&
		store_put(transaction, &kind_audit, &record,
			  stored.value.data == NULL ? NULL : &stored, &fault));
	commit(transaction);
}

/* ---- dropping ---- */

#define OLD 300
#define KEPT 1000

static void append(size_t n, int64_t now)
{
	struct transaction *transaction = begin(STORE_WRITE, 0);
	const struct audit_times times = { now, KEPT };
	struct audit_entry *entries = arena_zero(stand.arena, n * sizeof *entries);
	struct fault fault = FAULT_INITIAL;

	for (size_t i = 0; i < n; i++)
		entries[i] = (struct audit_entry){ .time = now,
						   .id = SLICE("id"),
						   .type = SLICE("room.created"),
						   .actor = SLICE("{}"),
						   .request_id = SLICE(""),
						   .data = SLICE("{}") };
	ck_assert(audit_append(transaction, &times, entries, n, &fault));
	commit(transaction);
}

/* However many entries a write adds, the log does not grow while it contains old ones. */
static const struct {
	size_t added;
	uint64_t first;
} droppings[] = {
	{ 1, 5 },
	{ 2, 6 },
	{ 100, 104 },
	{ OLD, OLD + 1 },
};

START_TEST(a_write_drops_old_entries)
{
	append(OLD, KEPT);
	append(droppings[_i].added, 3 * KEPT);
	ck_assert_uint_eq(state_of(0).first, droppings[_i].first);
	ck_assert_uint_eq(state_of(0).last, OLD + droppings[_i].added);
}
END_TEST

/* ---- damaged entries ---- */

#define ENTRIES 12

/* Appends entries with the numbers 1 to ENTRIES; at 3 * KEPT, those before `young` are old. */
static void append_entries(unsigned young)
{
	struct transaction *transaction = begin(STORE_WRITE, 0);
	static struct audit_entry entries[ENTRIES];
	static char ids[ENTRIES][16];
	struct fault fault = FAULT_INITIAL;

	for (unsigned i = 0; i < ENTRIES; i++) {
		const int size = snprintf(ids[i], sizeof ids[i], "entry %u", i + 1);

		/* The size includes the NUL, so that scratch_place finds it. */
		entries[i] = (struct audit_entry){ .time = i + 1 < young ? KEPT : 3 * KEPT,
						   .id = { ids[i], (size_t)size + 1 },
						   .type = SLICE("room.created"),
						   .actor = SLICE("{}"),
						   .request_id = SLICE(""),
						   .data = SLICE("{}") };
	}
	ck_assert(audit_append(transaction, &(struct audit_times){ KEPT, 0 }, entries, ENTRIES,
			       &fault));
	commit(transaction);
}

/* Flips one bit of each of these entries in the file that contains them. */
static void damage_entries(unsigned from, unsigned to)
{
	char *file, name[16];

	ck_assert(store_gdbm_settle(stand.environment.store, true));
	store_close(stand.environment.store);
	file = scratch_file("stack-", ".gdbm");
	for (unsigned seq = from; seq <= to; seq++) {
		(void)snprintf(name, sizeof name, "entry %u", seq);
		file_flip(file, scratch_place(file, name));
	}
	stand.environment.store = scratch_store();
}

static bool can_be_read(uint64_t seq)
{
	struct transaction *transaction = begin(STORE_READ, 0);
	struct audit_entry entry;
	struct fault fault = FAULT_INITIAL;
	const bool is_read = audit_read(transaction, seq, 1, &entry, &fault);

	ck_assert(is_read || fault.kind == FAULT_DAMAGED);
	store_abandon(transaction);
	return is_read;
}

/* Each write adds one entry, which is young, and drops up to four. An unreadable entry counts as
 * old as the next readable one, which is searched for among a few entries. firsts: the number of
 * the oldest entry after each write. */
static const struct {
	unsigned young, from, to;
	uint64_t firsts[3];
} damages[] = {
	{ ENTRIES + 1, 1, 1, { 5, 9, 13 } },
	{ ENTRIES + 1, 3, 3, { 5, 9, 13 } },
	{ ENTRIES + 1, 5, 5, { 5, 9, 13 } },
	{ ENTRIES + 1, 4, 6, { 5, 9, 13 } },
	{ ENTRIES + 1, 1, ENTRIES, { 5, 6, 6 } },
	{ ENTRIES + 1, ENTRIES, ENTRIES, { 5, 9, 12 } },
	{ 4, 3, 3, { 3, 3, 3 } },
	{ 4, 4, 4, { 4, 4, 4 } },
	{ 4, 3, 5, { 3, 3, 3 } },
};

START_TEST(damaged_old_entries_are_dropped)
{
	append_entries(damages[_i].young);
	damage_entries(damages[_i].from, damages[_i].to);
	for (unsigned i = 0; i < ROWS(damages[_i].firsts); i++) {
		append(1, 3 * KEPT);
		ck_assert_uint_eq(state_of(0).first, damages[_i].firsts[i]);
		ck_assert_uint_eq(state_of(0).last, ENTRIES + 1 + i);
	}
	for (uint64_t seq = state_of(0).first; seq <= state_of(0).last; seq++)
		ck_assert_int_eq(can_be_read(seq), seq < damages[_i].from || seq > damages[_i].to);
}
END_TEST

/* Removing an account removes all its records, including its damaged entries. */
START_TEST(damaged_entries_are_removed_with_their_account)
{
	bool is_empty = false;

	append_entries(damages[_i].young);
	damage_entries(damages[_i].from, damages[_i].to);
	while (!is_empty) {
		struct call call = {
			.environment = &stand.environment,
			.arena = stand.arena,
			.account = stand.accounts[0].id,
			.transaction = begin(STORE_WRITE, 0),
		};
		struct fault fault = FAULT_INITIAL;

		ck_assert_msg(transfer_remove_some(&call, &is_empty, &fault), "%s",
			      fault_reason(&fault));
		commit(call.transaction);
	}
	ck_assert_uint_eq(state_of(0).last, 0);
}
END_TEST

/* ---- joins that cannot be stored ---- */

static void add_join(size_t account)
{
	const struct joining joining = {
		.account = stand.accounts[account].id,
		.room_name = SLICE("room"),
		.role = SLICE("role"),
		.user_id = SLICE("user"),
		.code = SLICE("abc-defg-hij"),
		.request_id = SLICE(""),
		.time = clock_now(&clock_system),
	};

	join_log_add(stand.environment.joins, &joining);
}

/* Counts a join while the store is called, and fails because the disk is full. */
static bool begin_in_vain(struct store *store, enum store_access access, struct arena *arena,
			  struct transaction **transaction, struct fault *fault)
{
	(void)store;
	(void)access;
	(void)arena;
	(void)transaction;
	add_join(0);
	return fault_set(fault, FAULT_UNAVAILABLE, NULL);
}

static void flush_nothing(struct store *store)
{
	(void)store;
}

START_TEST(pending_joins_are_limited)
{
	static const struct store_driver driver = { .begin = begin_in_vain,
						    .flush = flush_nothing };
	struct store full = { .driver = &driver };
	struct environment environment = stand.environment;

	environment.store = &full;
	for (size_t i = 0; i < JOIN_LOG_MOST; i++)
		add_join(0);
	for (size_t i = 0; i < 3; i++)
		join_log_write(stand.environment.joins, &environment);
	ck_assert_uint_eq(join_log_dropped(stand.environment.joins), 3);
	join_log_write(stand.environment.joins, &stand.environment);
	ck_assert_uint_eq(state_of(0).last, JOIN_LOG_MOST);
	add_join(0);
	ck_assert_uint_eq(join_log_dropped(stand.environment.joins), 3);
}
END_TEST

/* ---- damage ---- */

START_TEST(a_damaged_log_does_not_stop_joins_of_others)
{
	const size_t damaged = (size_t)_i, other = ACCOUNTS - 1 - damaged;

	damage(damaged);
	add_join(damaged);
	add_join(other);
	join_log_write(stand.environment.joins, &stand.environment);
	ck_assert_uint_eq(state_of(other).last, 1);
}
END_TEST

START_TEST(a_damaged_log_does_not_stop_changes_of_others)
{
	const size_t damaged = (size_t)_i, other = ACCOUNTS - 1 - damaged;
	struct account_watch *watch = account_watch_open(&stand.environment);
	struct fault fault = FAULT_INITIAL;

	account_watch_compare(watch, stand.lease);
	damage(damaged);
	for (size_t i = 0; i < ACCOUNTS; i++)
		ck_assert(accounts_set_enabled(stand.directory, stand.accounts[i].name, false, NULL,
					       &fault));
	account_watch_compare(watch, stand.lease);
	account_watch_close(watch);
	ck_assert_uint_eq(state_of(other).last, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, a_write_drops_old_entries, 0, ROWS(droppings));
	tcase_add_test(tcase, pending_joins_are_limited);
	tcase_add_loop_test(tcase, a_damaged_log_does_not_stop_joins_of_others, 0, ACCOUNTS);
	tcase_add_loop_test(tcase, a_damaged_log_does_not_stop_changes_of_others, 0, ACCOUNTS);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("damaged entries");
	tcase_add_checked_fixture(tcase, set_up_durable, tear_down_durable);
	tcase_add_loop_test(tcase, damaged_old_entries_are_dropped, 0, ROWS(damages));
	tcase_add_loop_test(tcase, damaged_entries_are_removed_with_their_account, 0,
			    ROWS(damages));
	suite_add_tcase(suite, tcase);
	fast_disk();
	return suite_run(suite);
}
