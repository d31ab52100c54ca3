/* Records by example, and new IDs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "kit.h"

/* ---- by example ---- */

START_TEST(a_record_is_returned_as_it_was_put)
{
	char longest[STORE_NAME_MAX];
	struct slice names[] = {
		SLICE("a"),
		SLICE("\xff\xfe"),
		SLICE("with\0zero"),
		{ longest, sizeof longest },
		{ longest, sizeof longest - 1 },
	};
	struct transaction *transaction;

	memset(longest, 'n', sizeof longest);
	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	for (int k = 0; k < ROWS(kinds); k++) {
		for (int n = 0; n < ROWS(names); n++) {
			struct store_record record = record_of((uint64_t)n + 1, NULL);
			struct store_record stored;

			record.name = names[n];
			record.is_on = n % 2 == 0;
			ck_assert_ptr_null(get(transaction, kinds[k], &record).value.data);
			put_right(transaction, kinds[k], &record);
			stored = get(transaction, kinds[k], &record);
			ck_assert(is_same(kinds[k], &record, &stored));
			ck_assert_int_eq(id_compare(&stored.account, &account), 0);
			record.value = SLICE("another");
			record.is_on = !record.is_on;
			record.parent = id_of(1, 2);
			put_right(transaction, kinds[k], &record);
			stored = get(transaction, kinds[k], &record);
			ck_assert(is_same(kinds[k], &record, &stored));
		}
	}
	commit(transaction);
	transaction = begin(STORE_WRITE);
	for (int k = 0; k < ROWS(kinds); k++) {
		for (int n = 0; n < ROWS(names); n++) {
			struct store_record record = record_of((uint64_t)n + 1, NULL);

			record.name = names[n];
			drop(transaction, kinds[k], &record);
			ck_assert_ptr_null(get(transaction, kinds[k], &record).value.data);
		}
	}
	commit(transaction);
}
END_TEST

/* Puts a record whose name is taken, and abandons the transaction. */
static void put_conflicts(struct transaction *transaction, const struct store_kind *kind,
			  const struct store_record *record, const struct store_record *former)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	if (!store_put(transaction, kind, record, former, &fault))
		store_abandon(transaction);
	else
		ck_assert(!store_commit(transaction, &number, &fault));
	ck_assert_int_eq(fault.kind, FAULT_AGAIN);
}

START_TEST(names_are_unique)
{
	const struct store_kind *const with_names[] = { &whole, &named, &global };
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	for (int k = 0; k < ROWS(with_names); k++) {
		const struct store_kind *kind = with_names[k];
		struct store_record one = record_of(1, "one"), two = record_of(2, "two");
		struct store_record former, found, renamed = one;

		transaction = begin(STORE_WRITE);
		put_right(transaction, kind, &one);
		put_right(transaction, kind, &two);
		former = get(transaction, kind, &one);
		commit(transaction);
		/* A new record, and a renamed record. */
		transaction = begin(STORE_WRITE);
		two.id = id_of(1000, 3);
		put_conflicts(transaction, kind, &two, NULL);
		if (kind->naming == STORE_NAME_ANYWHERE) {
			account = (struct id){ "account two" };
			transaction = begin(STORE_WRITE);
			put_conflicts(transaction, kind, &one, NULL);
			transaction = begin(STORE_READ);
			found = get(transaction, kind, &one);
			account = (struct id){ "account one" };
			ck_assert_int_eq(id_compare(&found.account, &account), 0);
			store_abandon(transaction);
			continue;
		}
		transaction = begin(STORE_WRITE);
		renamed.name = SLICE("two");
		put_conflicts(transaction, kind, &renamed, &former);
		/* A rename frees the old name, a removal frees the name. */
		transaction = begin(STORE_WRITE);
		renamed.name = SLICE("three");
		put_right(transaction, kind, &renamed);
		ck_assert(store_get_named(transaction, kind, SLICE("one"), STORE_TO_SHOW, &found,
					  &fault));
		ck_assert_ptr_null(found.value.data);
		two.name = SLICE("one");
		put_right(transaction, kind, &two);
		drop(transaction, kind, &two);
		ck_assert(store_get_named(transaction, kind, SLICE("three"), STORE_TO_CHANGE,
					  &found, &fault));
		ck_assert(is_same(kind, &found, &renamed));
		ck_assert(store_get_named(transaction, kind, SLICE("one"), STORE_TO_SHOW, &found,
					  &fault));
		ck_assert_ptr_null(found.value.data);
		commit(transaction);
	}
}
END_TEST

/* Records of all kinds, more than the PostgreSQL driver sends in one message. */
START_TEST(many_records_are_as_they_were_put)
{
	static const char names[20][2] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
					   "k", "l", "m", "n", "o", "p", "q", "r", "s", "t" };
	struct store_record records[ROWS(names)], stored;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	for (int i = 0; i < ROWS(names); i++) {
		records[i] = record_of((uint64_t)i + 1, names[i]);
		records[i].is_on = i % 3 == 0;
		records[i].value = slice_of(names[i]);
		ck_assert(
			store_put(transaction, kinds[i % ROWS(kinds)], &records[i], NULL, &fault));
	}
	commit(transaction);
	transaction = begin(STORE_READ);
	for (int i = 0; i < ROWS(names); i++) {
		stored = get(transaction, kinds[i % ROWS(kinds)], &records[i]);
		ck_assert(is_same(kinds[i % ROWS(kinds)], &records[i], &stored));
	}
	store_abandon(transaction);
}
END_TEST

static void put_numbered(const struct store_kind *kind, uint64_t count)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (uint64_t i = 1; i <= count; i++) {
		const struct store_record record = record_of(i, "");

		put_right(transaction, kind, &record);
	}
	commit(transaction);
}

/* One transaction removes many records; another transaction has already removed the last of
 * them. */
START_TEST(a_removed_record_is_not_removed_again)
{
	static const uint64_t counts[] = { 1, 2, 3, 4, 5, 20, 300 };
	struct transaction *slow, *fast;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	store = drivers[_i].open(directory);
	for (int c = 0; drivers[_i].is_shared && c < ROWS(counts); c++) {
		const struct store_record last = record_of(counts[c], "");
		bool is_right = true;

		put_numbered(&plain, counts[c]);
		slow = begin(STORE_WRITE);
		for (uint64_t i = 1; i <= counts[c]; i++) {
			const struct store_record record = record_of(i, "");

			ck_assert_ptr_nonnull(get(slow, &plain, &record).value.data);
		}
		fast = begin(STORE_WRITE);
		drop(fast, &plain, &last);
		commit(fast);
		for (uint64_t i = 1; is_right && i <= counts[c]; i++) {
			const struct store_record record = record_of(i, ""),
						  former = get(slow, &plain, &record);

			is_right = store_remove(slow, &plain, &former, &fault);
		}
		if (!is_right)
			store_abandon(slow);
		else
			is_right = store_commit(slow, &number, &fault);
		ck_assert(!is_right);
		ck_assert_int_eq(fault.kind, FAULT_AGAIN);
		fault = FAULT_INITIAL;
		slow = begin(STORE_WRITE);
		for (uint64_t i = 1; i < counts[c]; i++) {
			const struct store_record record = record_of(i, "");

			drop(slow, &plain, &record);
		}
		commit(slow);
	}
}
END_TEST

START_TEST(accounts_and_kinds_do_not_mix)
{
	struct store_record record = record_of(1, "one"), found;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_page page = { .records = &found, .most = 1 };
	bool has_children;

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &record);
	commit(transaction);
	transaction = begin(STORE_READ);
	ck_assert_ptr_null(get(transaction, &named, &record).value.data);
	ck_assert(store_has_children(transaction, &child, &record.parent, &has_children, &fault));
	ck_assert(!has_children);
	ck_assert(store_has_children(transaction, &whole, &record.parent, &has_children, &fault));
	ck_assert(has_children);
	ck_assert(store_page(transaction, &named, &page, &fault));
	ck_assert_uint_eq(page.count, 0);
	store_abandon(transaction);
	account = (struct id){ "account two" };
	transaction = begin(STORE_READ);
	ck_assert_ptr_null(get(transaction, &whole, &record).value.data);
	ck_assert(store_get_named(transaction, &whole, record.name, STORE_TO_SHOW, &found, &fault));
	ck_assert_ptr_null(found.value.data);
	ck_assert(store_has_children(transaction, &whole, &record.parent, &has_children, &fault));
	ck_assert(!has_children);
	ck_assert(store_page(transaction, &whole, &page, &fault));
	ck_assert(page.count == 0 && page.is_last);
	store_abandon(transaction);
}
END_TEST

/* Each transaction sees the state at its beginning and its own changes. */
START_TEST(each_transaction_sees_its_state)
{
	struct store_record record = record_of(1, "one");
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction, *before, *pending;
	uint64_t first, second;

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &record);
	ck_assert(store_commit(transaction, &first, &fault));
	before = begin(STORE_READ);
	ck_assert_uint_ge(store_seen(before), 0);
	if (store_state(store, first) == STORE_PENDING)
		ck_assert_ptr_null(get(before, &whole, &record).value.data);
	/* A WRITE transaction sees pending writes, and a rejection based on them waits for them. */
	pending = begin(STORE_WRITE);
	ck_assert_ptr_nonnull(get(pending, &whole, &record).value.data);
	ck_assert_uint_eq(store_seen(pending), first);
	ck_assert(store_commit(pending, &second, &fault));
	ck_assert_uint_eq(second, first);
	ck_assert(store_wait(store, first, &fault));
	transaction = begin(STORE_WRITE);
	record.value = SLICE("changed");
	put_right(transaction, &whole, &record);
	ck_assert(slice_is(get(transaction, &whole, &record).value, "changed"));
	store_abandon(transaction);
	transaction = begin(STORE_READ);
	ck_assert(slice_is(get(transaction, &whole, &record).value, "value"));
	store_abandon(transaction);
	store_abandon(before);
	ck_assert(store_can_write(store));
}
END_TEST

/* ---- new ids ---- */

static struct id new_id(struct transaction *transaction, int64_t *now)
{
	struct fault fault = FAULT_INITIAL;
	struct id id;

	ck_assert(store_new_id(transaction, &named, &ticking, now, &id, &fault));
	return id;
}

static const struct {
	int64_t now; /* milliseconds */
	uint64_t foreign; /* number of an ID put earlier, in second 20; 0 for none */
	bool is_abandoned;
	int64_t then;
	uint32_t seconds;
	uint64_t number;
} id_rows[] = {
	{ 5000, 0, false, 5000, 5, 1 },
	{ 5400, 0, false, 5400, 5, 2 },
	{ 4000, 0, false, 5400, 5, 3 }, /* the clock was set back */
	{ 9000, 0, true, 9000, 9, 4 },
	{ 6000, 0, false, 6000, 6, 4 }, /* the abandoned one does not count */
	{ 7000, 50, false, 20000, 20, 51 },
	{ 7000, ID_NUMBER_MAX, false, 21000, 21, 52 }, /* imported: a random number */
	{ ID_TIME_MAX + 5000, 0, false, ID_TIME_MAX, UINT32_MAX, 53 },
	{ 1000, 0, false, ID_TIME_MAX, UINT32_MAX, 54 },
};

START_TEST(new_ids_rise)
{
	store = drivers[_i].open(directory);
	for (int row = 0; row < ROWS(id_rows) && !drivers[_i].is_shared; row++) {
		struct transaction *transaction = begin(STORE_WRITE);
		struct store_record record = record_of(1, "foreign");
		int64_t now = id_rows[row].now;
		char name[24];

		(void)snprintf(name, sizeof name, "%d", row);
		if (id_rows[row].foreign != 0) {
			record.id = id_of(20, id_rows[row].foreign);
			put_right(transaction, &named, &record);
			drop(transaction, &named, &record);
		}
		record.id = new_id(transaction, &now);
		record.name = slice_of(name);
		ck_assert_int_eq(now, id_rows[row].then);
		ck_assert_uint_eq(id_seconds(&record.id), id_rows[row].seconds);
		ck_assert_uint_eq(id_number(&record.id), id_rows[row].number);
		put_right(transaction, &named, &record);
		/* An ID is never reused, even if the newest record is removed. */
		drop(transaction, &named, &record);
		if (id_rows[row].is_abandoned)
			store_abandon(transaction);
		else
			commit(transaction);
	}
}
END_TEST

/* Each new ID is above all existing ones, and no number is used twice. */
START_TEST(new_ids_are_above_the_others)
{
	struct id newest = { { 0 } };
	uint64_t numbers = 0;

	store = drivers[_i].open(directory);
	for (int row = 0; row < ROWS(id_rows); row++) {
		struct transaction *transaction = begin(STORE_WRITE);
		struct store_record record = record_of(1, arena_text(arena, "foreign %d", row));
		int64_t now = id_rows[row].now;

		if (id_rows[row].foreign != 0) {
			record.id = id_of(20, id_rows[row].foreign);
			put_right(transaction, &named, &record);
			if (id_compare(&record.id, &newest) > 0)
				newest = record.id;
		}
		record.id = new_id(transaction, &now);
		record.name = slice_of(arena_text(arena, "%d", row));
		ck_assert_int_gt(id_compare(&record.id, &newest), 0);
		ck_assert_uint_gt(id_number(&record.id), numbers);
		ck_assert_int_ge(now,
				 id_rows[row].now < ID_TIME_MAX ? id_rows[row].now : ID_TIME_MAX);
		ck_assert_uint_eq(id_seconds(&record.id), (uint64_t)now / 1000);
		put_right(transaction, &named, &record);
		if (id_rows[row].is_abandoned) {
			store_abandon(transaction);
			continue;
		}
		commit(transaction);
		newest = record.id;
		numbers = id_number(&record.id);
	}
}
END_TEST

void add_examples(TCase *drivers_case, int count)
{
	tcase_add_loop_test(drivers_case, a_record_is_returned_as_it_was_put, 0, count);
	tcase_add_loop_test(drivers_case, many_records_are_as_they_were_put, 0, count);
	tcase_add_loop_test(drivers_case, names_are_unique, 0, count);
	tcase_add_loop_test(drivers_case, a_removed_record_is_not_removed_again, 0, count);
	tcase_add_loop_test(drivers_case, accounts_and_kinds_do_not_mix, 0, count);
	tcase_add_loop_test(drivers_case, each_transaction_sees_its_state, 0, count);
	tcase_add_loop_test(drivers_case, new_ids_rise, 0, count);
	tcase_add_loop_test(drivers_case, new_ids_are_above_the_others, 0, count);
}
