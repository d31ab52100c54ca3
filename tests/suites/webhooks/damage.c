/* Restarts, damaged records, and commits with an unknown outcome.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <stdio.h>

#include "hooks.h"
#include "records/kinds.h"
#include "scratch.h"
#include "store_failing.h"
#include "suite.h"

/* ---- stopping ---- */

/* The next process delivers what is pending or was never tried, with the same ID. */
START_TEST(a_restart_loses_no_delivery)
{
	const json_t *webhook;

	make_template();
	webhook = make("/flaky/1", ROOMS);
	make_rooms(10);
	expect_deliveries(webhook, "pending", 10);
	make_rooms(10);
	world_stop(&stand);
	move_clock(6000);
	world_start(&stand);
	move_clock(6000);
	ck_assert(receiver_wait(stand.receiver, 40));
	expect_deliveries(webhook, "pending", 0);
	expect_all_rooms(20);
	ck_assert_uint_eq(receiver_count(stand.receiver), 40);
	/* A delivery that failed just before the end, and was not stored, is delivered as a first
	 * attempt and is not listed. */
	ck_assert_uint_ge(json_array_size(deliveries(webhook, "delivered")), 10);
}
END_TEST

/* The event log drops an entry during its delivery: the later entries have been delivered, and a
 * restart does not repeat them. */
START_TEST(a_dropped_entry_causes_no_repeats)
{
	const json_t *webhook;

	make_template();
	webhook = make("/held", ROOMS);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 1));
	ask(200, METHOD_PATCH, path_of(webhook, ""),
	    arena_text(stand.arena, "{\"url\":\"%s\"}", url_of("/200")));
	make_rooms(3);
	expect_delivered(3);
	move_clock(91 * 24 * HOUR);
	make_rooms(1);
	expect_delivered(4);
	world_restart(&stand);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 6));
	for (size_t i = 0; i < 6; i++) {
		for (size_t n = 0; n < i; n++)
			ck_assert_str_ne(receiver_request(stand.receiver, n)->id,
					 receiver_request(stand.receiver, i)->id);
	}
}
END_TEST

/* Puts an account's record in a form that only damage can cause. */
static void put_damaged(struct transaction *transaction, const struct id *account,
			const struct store_kind *kind, const struct store_record *record)
{
	struct fault fault = FAULT_INITIAL;

	store_set_account(transaction, account);
	ck_assert(store_put(transaction, kind, record, NULL, &fault));
}

/* The webhooks of another account, which are read first, are damaged. */
START_TEST(damaged_webhooks_of_another_account_do_no_harm)
{
	static const struct id none = { { 0 } }, first = { { [ID_SIZE - 1] = 1 } };
	struct store_record record = { .id = first, .value = { "\1\0\0\0\0\0\0\0\1", 9 } };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_begin(stand.environment.store, STORE_WRITE, stand.arena, &transaction,
			      &fault));
	put_damaged(transaction, &none, &kind_webhook_account, &record);
	record.id = none;
	put_damaged(transaction, &first, &kind_webhooks, &record);
	ck_assert(store_commit(transaction, &number, &fault) &&
		  store_wait(stand.environment.store, number, &fault));
	make_template();
	make("/200", ROOMS);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 1));
}
END_TEST

static void id_of(const json_t *webhook, struct id *id)
{
	ck_assert(id_parse(slice_of(text_at(webhook, "id")), id));
}

/* Reads the deliveries of a webhook that have not ended. */
static size_t page_of_pending(struct transaction *transaction, const json_t *webhook,
			      struct store_record *records, size_t most)
{
	struct id parent;
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.side = STORE_ON,
		.parent = &parent,
		.records = records,
		.most = most,
	};
	struct fault fault = FAULT_INITIAL;

	id_of(webhook, &parent);
	store_set_account(transaction, &stand.account.id);
	ck_assert(store_page(transaction, &kind_webhook_delivery, &page, &fault));
	return page.count;
}

static bool are_two_pending(const void *webhook)
{
	struct store_record records[2];
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	size_t count;

	ck_assert(store_begin(stand.environment.store, STORE_READ, stand.arena, &transaction,
			      &fault));
	count = page_of_pending(transaction, webhook, records, ROWS(records));
	store_abandon(transaction);
	return count == 2;
}

static struct transaction *begin_write(void)
{
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;

	ck_assert(store_begin(stand.environment.store, STORE_WRITE, stand.arena, &transaction,
			      &fault));
	store_set_account(transaction, &stand.account.id);
	return transaction;
}

/* Cuts the last byte off. */
static void damage(struct transaction *transaction, const struct store_kind *kind,
		   const struct id *id)
{
	struct fault fault = FAULT_INITIAL;
	struct store_record record;

	ck_assert(store_get(transaction, kind, id, STORE_TO_CHANGE, &record, &fault));
	ck_assert_ptr_nonnull(record.value.data);
	record.value.size--;
	ck_assert(store_put(transaction, kind, &record, &record, &fault));
}

static void commit(struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_commit(transaction, &number, &fault) &&
		  store_wait(stand.environment.store, number, &fault));
}

/* Damages the oldest deliveries that have not ended. */
static void damage_deliveries(const json_t *webhook, size_t n)
{
	struct store_record records[AT_ONCE];
	struct transaction *transaction = begin_write();

	ck_assert_uint_eq(page_of_pending(transaction, webhook, records, n), n);
	for (size_t i = 0; i < n; i++)
		damage(transaction, &kind_webhook_delivery, &records[i].id);
	commit(transaction);
}

static void damage_position(const json_t *webhook)
{
	struct transaction *transaction = begin_write();
	struct id id;

	id_of(webhook, &id);
	damage(transaction, &kind_webhook_position, &id);
	commit(transaction);
}

/* The next delivery is stored nevertheless. */
START_TEST(a_damaged_delivery_does_not_stop_the_next)
{
	const json_t *webhook;

	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	damage_deliveries(webhook, 1);
	make_rooms(1);
	ck_assert(wait_until(are_two_pending, webhook));
}
END_TEST

/* `damaged` deliveries and an intact one are repeated. AT_ONCE of them would fill all places of the
 * webhook. */
static const struct {
	size_t damaged;
	const char *path; /* path of the repeated requests */
	uint64_t delivered, failed;
} repeats_of_damaged[] = {
	{ 1, "/200", 2, 0 },
	{ AT_ONCE, "/200", AT_ONCE + 1, 0 },
	{ 1, "/500", 0, 1 },
	{ AT_ONCE, "/500", 0, AT_ONCE },
};

/* The repeated attempt of a damaged delivery is the last one, and does not delay others. */
START_TEST(a_damaged_delivery_is_repeated_once)
{
	const size_t n = repeats_of_damaged[_i].damaged + 1;
	const uint64_t delivered = repeats_of_damaged[_i].delivered;
	struct dispatcher_figures figures;
	const json_t *webhook;

	make_template();
	webhook = make("/500", ROOMS);
	make_rooms((unsigned)n);
	expect_deliveries(webhook, "pending", n);
	damage_deliveries(webhook, n - 1);
	point_to(webhook, repeats_of_damaged[_i].path);
	move_clock(6000);
	expect_ended(2 * n);
	point_to(webhook, "/200");
	move_clock(6 * MINUTE);
	make_rooms(1);
	expect_delivered(delivered > 0 ? delivered + 1 : 2);
	dispatcher_figures(stand.environment.dispatcher, &figures);
	ck_assert_uint_eq(figures.failed, repeats_of_damaged[_i].failed);
	ck_assert(!is_disabled(webhook));
	ck_assert_uint_eq(receiver_count(stand.receiver), 2 * n + (delivered > 0 ? 1 : 2));
}
END_TEST

/* The deliveries of another webhook are stored nevertheless. */
START_TEST(a_damaged_position_does_not_stop_other_webhooks)
{
	const json_t *webhook, *other;

	make_template();
	webhook = make("/200", ROOMS);
	make_rooms(1);
	expect_delivered(1);
	damage_position(webhook);
	other = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(other, "pending", 1);
	expect_delivered(2);
}
END_TEST

enum damage_of { DELIVERY_CUT, DELIVERY_FLIPPED, POSITION_CUT, ACCOUNT_CUT };

/* Two webhooks with three pending deliveries each, followed by a new room. */
static const struct {
	enum damage_of of; /* of the first webhook, except for the flipped bit */
	size_t n; /* damaged deliveries */
	uint64_t repeated; /* repeated deliveries after a restart */
	uint64_t added; /* deliveries of the new room */
} restarts[] = {
	{ DELIVERY_CUT, 1, 5, 2 }, { DELIVERY_CUT, 3, 3, 2 }, { DELIVERY_FLIPPED, 1, 5, 0 },
	{ POSITION_CUT, 0, 3, 1 }, { ACCOUNT_CUT, 0, 6, 2 },
};

/* Flips a bit of the first delivery in the store's file. Only deliveries have the type before the
 * number of attempts. */
static void flip_delivery(void)
{
	char *file;

	(void)snprintf(scratch.path, sizeof scratch.path, "%s", stand.path);
	scratch.arena = stand.arena;
	file = scratch_file("stack-", ".gdbm");
	file_flip(file, scratch_place(file, "room.created\1"));
}

/* Damages the record that says that the account has webhooks. */
static void damage_account(void)
{
	struct transaction *transaction = begin_write();

	store_set_account(transaction, &audit_no_account);
	damage(transaction, &kind_webhook_account, &stand.account.id);
	commit(transaction);
}

/* Damage of one webhook neither prevents other deliveries from being repeated nor stops other
 * webhooks. */
START_TEST(damage_does_not_stop_other_deliveries_after_a_restart)
{
	const json_t *webhooks[2];

	make_template();
	for (size_t i = 0; i < 2; i++)
		webhooks[i] = make("/500", ROOMS);
	make_rooms(3);
	for (size_t i = 0; i < 2; i++)
		expect_deliveries(webhooks[i], "pending", 3);
	for (size_t i = 0; i < 2; i++)
		point_to(webhooks[i], "/200");
	if (restarts[_i].of == DELIVERY_CUT)
		damage_deliveries(webhooks[0], restarts[_i].n);
	else if (restarts[_i].of == POSITION_CUT)
		damage_position(webhooks[0]);
	else if (restarts[_i].of == ACCOUNT_CUT)
		damage_account();
	ck_assert(store_gdbm_settle(stand.environment.store, true));
	world_stop(&stand);
	if (restarts[_i].of == DELIVERY_FLIPPED)
		flip_delivery();
	world_start(&stand);
	move_clock(6000);
	expect_delivered(restarts[_i].repeated);
	if (restarts[_i].added > 0)
		make_rooms(1);
	expect_delivered(restarts[_i].repeated + restarts[_i].added);
}
END_TEST

/* Damages `n` entries of the event log, after the first `before` entries since the entry `last`. */
static void damage_entries(uint64_t last, unsigned before, unsigned n)
{
	struct transaction *transaction = begin_write();

	for (unsigned i = 1; i <= n; i++) {
		const struct id id = audit_id_of(last + before + i);

		damage(transaction, &kind_entry, &id);
	}
	commit(transaction);
}

static uint64_t last_entry(void)
{
	struct transaction *transaction = begin_write();
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;

	ck_assert(audit_state_load(transaction, STORE_TO_SHOW, &state, &fault));
	store_abandon(transaction);
	return state.last;
}

#define ENTRIES 4

static const struct {
	unsigned before, n; /* out of ENTRIES */
} damaged_entries[] = {
	{ 0, 1 },
	{ 1, 2 },
	{ ENTRIES - 1, 1 },
	{ 0, ENTRIES },
};

/* The damaged entries were never sent. */
START_TEST(damaged_entries_do_not_stop_others)
{
	const uint64_t sound = ENTRIES - damaged_entries[_i].n;
	uint64_t last;

	schedule = (struct schedule){ .seconds = { 60, 60 }, .count = 2 };
	make_template();
	make("/200", ROOMS);
	last = last_entry();
	make_rooms(ENTRIES);
	damage_entries(last, damaged_entries[_i].before, damaged_entries[_i].n);
	move_clock(MINUTE + 1000);
	expect_delivered(sound);
	make_rooms(1);
	move_clock(MINUTE + 1000);
	expect_delivered(sound + 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), sound + 1);
}
END_TEST

/* The deliveries of the damaged entries must be repeated; new deliveries are not delayed, and the
 * webhook stays enabled. */
START_TEST(damaged_entries_do_not_delay_repeats)
{
	const unsigned n = damaged_entries[_i].n;
	const json_t *webhook;
	uint64_t last;

	make_template();
	webhook = make("/500", ROOMS);
	last = last_entry();
	make_rooms(ENTRIES);
	expect_deliveries(webhook, "pending", ENTRIES);
	damage_entries(last, damaged_entries[_i].before, n);
	point_to(webhook, "/200");
	move_clock(6000);
	make_rooms(1);
	expect_delivered(ENTRIES - n + 1);
	expect_deliveries(webhook, "failed", n);
	ck_assert_str_eq(text_at(json_array_get(deliveries(webhook, "failed"), 0), "last_error"),
			 "event is damaged");
	ck_assert(!is_disabled(webhook));
}
END_TEST

/* ---- a commit with an unknown outcome ---- */

static bool none_is_unknown(const void *store)
{
	return store_failing_unknown_left(store) == 0;
}

/* The commit after the first or the second attempt. It happened: the delivery is not stored twice,
 * and the attempt is not counted twice. */
START_TEST(a_commit_with_an_unknown_outcome_is_not_repeated)
{
	const json_t *webhook, *delivery;

	stand.options.may_fail = true;
	world_restart(&stand);
	make_template();
	webhook = make("/held/500", ROOMS);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 1));
	for (int i = 0; i < 2; i++) {
		if (i == _i)
			store_failing_unknown(stand.environment.store, 1);
		if (i == 0)
			receiver_release(stand.receiver);
		else
			move_clock(6000);
		ck_assert(wait_until(none_is_unknown, stand.environment.store));
		expect_ended((uint64_t)i + 1);
		expect_deliveries(webhook, "pending", 1);
		delivery = json_array_get(deliveries(webhook, "pending"), 0);
		ck_assert_int_eq(json_integer_value(json_object_get(delivery, "attempts")), i + 1);
	}
	point_to(webhook, "/200");
	move_clock(6 * MINUTE);
	expect_deliveries(webhook, "delivered", 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 3);
}
END_TEST

void add_damage(TCase *sent, TCase *damaged)
{
	tcase_add_test(sent, a_restart_loses_no_delivery);
	tcase_add_test(sent, a_dropped_entry_causes_no_repeats);
	tcase_add_loop_test(damaged, a_commit_with_an_unknown_outcome_is_not_repeated, 0, 2);
	tcase_add_test(damaged, damaged_webhooks_of_another_account_do_no_harm);
	tcase_add_test(damaged, a_damaged_delivery_does_not_stop_the_next);
	tcase_add_loop_test(damaged, a_damaged_delivery_is_repeated_once, 0,
			    ROWS(repeats_of_damaged));
	tcase_add_test(damaged, a_damaged_position_does_not_stop_other_webhooks);
	tcase_add_loop_test(damaged, damage_does_not_stop_other_deliveries_after_a_restart, 0,
			    ROWS(restarts));
	tcase_add_loop_test(damaged, damaged_entries_do_not_stop_others, 0, ROWS(damaged_entries));
	tcase_add_loop_test(damaged, damaged_entries_do_not_delay_repeats, 0,
			    ROWS(damaged_entries));
}
