/* Pages compared with a plain model, and walks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kit.h"
#include "store_failing.h"

/* ---- pages compared with a plain model ---- */

#define MADE 30

static struct store_record made[MADE];

/* Makes records of two parents, three in four enabled, with names of one to three letters. */
static void make_all(const struct store_kind *kind)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (unsigned i = 0; i < MADE; i++) {
		char *name = arena_text(arena, "%c%.*s", 'a' + (int)(i * 7 % 26), (int)(i % 3),
					"xy");

		made[i] = record_of(10 * i + 10, name);
		made[i].parent = id_of(1, 1 + i % 2);
		made[i].is_on = i % 4 != 0;
		/* Some have no end, and some the same. */
		made[i].ends = kind->has_ends ? i * 7 % 10 * 1000 : 0;
		made[i].value = slice_of(arena_text(arena, "%0*u", (int)(i % 5 + 1) * 10, i));
		put_right(transaction, kind, &made[i]);
	}
	commit(transaction);
}

static bool model_wants(const struct store_kind *kind, const struct store_page *page,
			const struct store_record *record)
{
	if (page->order == STORE_BY_NAME)
		return record->name.size >= page->prefix.size &&
		       memcmp(record->name.data, page->prefix.data, page->prefix.size) == 0 &&
		       (page->after.size == 0 || slice_compare(record->name, page->after) > 0);
	if (page->order == STORE_BY_END)
		return record->ends != 0 && record->ends <= page->until;
	return (page->parent == NULL || id_compare(page->parent, &record->parent) == 0) &&
	       (!kind->has_switch || page->side == STORE_BOTH_SIDES ||
		record->is_on == (page->side == STORE_ON)) &&
	       (page->above == NULL || id_compare(&record->id, page->above) > 0) &&
	       (page->below == NULL || id_compare(&record->id, page->below) < 0);
}

/* Returns true if a comes before b. */
static bool model_before(enum store_order order, const struct store_record *a,
			 const struct store_record *b)
{
	if (order == STORE_BY_NAME)
		return slice_compare(a->name, b->name) < 0;
	if (order == STORE_BY_END && a->ends != b->ends)
		return a->ends < b->ends;
	return order == STORE_NEWEST_FIRST ? id_compare(&a->id, &b->id) > 0
					   : id_compare(&a->id, &b->id) < 0;
}

/* Returns the model's record after `last` (the first one if NULL), or NULL. */
static const struct store_record *model_next(const struct store_kind *kind,
					     const struct store_page *page,
					     const struct store_record *last)
{
	const struct store_record *next = NULL;

	for (unsigned i = 0; i < MADE; i++) {
		if (model_wants(kind, page, &made[i]) &&
		    (last == NULL || model_before(page->order, last, &made[i])) &&
		    (next == NULL || model_before(page->order, &made[i], next)))
			next = &made[i];
	}
	return next;
}

static void check_page(struct transaction *transaction, const struct store_kind *kind,
		       struct store_page page)
{
	struct store_record records[MADE + 1];
	const struct store_record *expected = NULL;
	struct fault fault = FAULT_INITIAL;
	size_t bytes = 0;

	page.records = records;
	ck_assert_msg(store_page(transaction, kind, &page, &fault), "%s", fault.cause);
	for (size_t i = 0; i < page.count; i++) {
		expected = model_next(kind, &page, expected);
		ck_assert_ptr_nonnull(expected);
		ck_assert(is_same(kind, &records[i], expected));
		/* The page ends after the record that exceeds the limit. */
		ck_assert(page.bytes_most == 0 || bytes <= page.bytes_most);
		bytes += records[i].value.size;
	}
	expected = model_next(kind, &page, expected);
	ck_assert_int_eq(page.is_last, expected == NULL);
	ck_assert(page.is_last || page.count == page.most ||
		  (page.bytes_most > 0 && bytes > page.bytes_most));
}

START_TEST(pages_agree_with_a_plain_model)
{
	static const unsigned bounds[] = { 0, 1, 9, 10, 105, 150, 300, 301, 1000 };
	static const size_t mosts[] = { 1, 4, MADE, MADE + 1 };
	const struct store_kind *const with_pages[] = { &whole, &named, &global, &child };
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	for (int k = 0; k < ROWS(with_pages); k++) {
		const struct store_kind *kind = with_pages[k];

		make_all(kind);
		transaction = begin(STORE_READ);
		for (unsigned mix = 0; mix < 2 * 3 * 4 * 9 * 9 * 4; mix++) {
			const struct id parents[] = {
				{ { 0 } }, id_of(1, 1), id_of(1, 2), id_of(9, 9)
			};
			const unsigned parent = mix / 6 % 4, most = mix / 24 % 4;
			const struct id above = id_of(1000, bounds[mix / 96 % 9]);
			const struct id below = id_of(1000, bounds[mix / 864 % 9]);
			struct store_page page = {
				.order = mix % 2 == 0 ? STORE_NEWEST_FIRST : STORE_OLDEST_FIRST,
				.side = (enum store_side)(mix / 2 % 3),
				.parent = parent == 0 ? NULL : &parents[parent],
				.above = mix / 96 % 9 == 0 ? NULL : &above,
				.below = mix / 864 % 9 == 0 ? NULL : &below,
				.most = mosts[most],
				.bytes_most = mix % 7 == 0 ? 100 : 0,
			};

			if ((page.parent == NULL && !kind->has_pages) ||
			    (page.parent != NULL && !kind->has_parent) ||
			    (page.side != STORE_BOTH_SIDES && !kind->has_switch))
				continue;
			check_page(transaction, kind, page);
		}
		store_abandon(transaction);
		arena_reset(arena);
	}
}
END_TEST

START_TEST(names_are_in_order)
{
	static const char *const texts[] = { "", "a", "b", "bx", "bxy", "c", "zz", "\xff" };
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	make_all(&named);
	transaction = begin(STORE_READ);
	for (unsigned mix = 0; mix < 8 * 8 * 3; mix++) {
		check_page(transaction, &named,
			   (struct store_page){
				   .order = STORE_BY_NAME,
				   .prefix = slice_of(texts[mix % 8]),
				   .after = slice_of(texts[mix / 8 % 8]),
				   .most = mix / 64 == 0 ? 3 : MADE,
				   .bytes_most = mix / 64 == 2 ? 40 : 0,
			   });
	}
	store_abandon(transaction);
}
END_TEST

START_TEST(ends_are_in_order)
{
	static const int64_t times[] = { -1, 0, 999, 1000, 4000, 8999, 9000, INT64_MAX };
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	make_all(&whole);
	/* One loses its end, and one gets another; one is gone. */
	transaction = begin(STORE_WRITE);
	for (unsigned i = 1; i < 4; i++) {
		struct store_record former = get(transaction, &whole, &made[i]);
		struct fault fault = FAULT_INITIAL;

		made[i].ends = i == 1 ? 0 : i == 2 ? 8500 : made[i].ends;
		ck_assert(i == 3 ? store_remove(transaction, &whole, &former, &fault)
				 : store_put(transaction, &whole, &made[i], &former, &fault));
	}
	made[3].ends = 0;
	for (int is_read = 0; is_read < 2; is_read++) {
		for (unsigned mix = 0; mix < ROWS(times) * 3; mix++)
			check_page(transaction, &whole,
				   (struct store_page){
					   .order = STORE_BY_END,
					   .until = times[mix / 3],
					   .most = mix % 3 == 0 ? 3 : MADE,
					   .bytes_most = mix % 3 == 2 ? 40 : 0,
				   });
		if (is_read == 0) {
			commit(transaction);
			transaction = begin(STORE_READ);
		}
	}
	store_abandon(transaction);
}
END_TEST

/* Adds names of the form b00017. */
static void add_names(unsigned first, unsigned last)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (unsigned i = first; i < last; i++) {
		struct store_record record = record_of(i + 1, arena_text(arena, "b%05u", i));

		record.value = SLICE("value");
		put_right(transaction, &named, &record);
	}
	commit(transaction);
}

/* Returns the thread's processor time, in nanoseconds. */
static int64_t time_of_pages(void)
{
	struct timespec from, to;
	struct transaction *transaction = begin(STORE_READ);

	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from), 0);
	for (unsigned i = 0; i < 500; i++) {
		struct store_record records[5];
		struct fault fault = FAULT_INITIAL;
		struct store_page page = {
			.order = STORE_BY_NAME,
			.prefix = SLICE("b0"),
			.after = SLICE("b00010"),
			.most = 5,
			.records = records,
		};

		ck_assert_msg(store_page(transaction, &named, &page, &fault), "%s", fault.cause);
		ck_assert_uint_eq(page.count, 5);
		ck_assert(slice_is(records[0].name, "b00011"));
	}
	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to), 0);
	store_abandon(transaction);
	return (to.tv_sec - from.tv_sec) * 1000000000 + (to.tv_nsec - from.tv_nsec);
}

/* The same with two hundred times as many names; a tree is then a few levels deeper. */
START_TEST(a_page_of_names_costs_what_it_contains)
{
	int64_t of_few;

	store = open_gdbm(directory);
	add_names(0, 40);
	of_few = time_of_pages();
	add_names(40, 8000);
	ck_assert_int_lt(time_of_pages(), 20 * of_few);
}
END_TEST

START_TEST(several_records_are_returned_in_order)
{
	struct store_record records[4];
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	store = drivers[_i].open(directory);
	make_all(&named);

	const struct id ids[] = { made[5].id, id_of(1, 999), made[2].id, made[5].id };

	transaction = begin(STORE_READ);
	ck_assert(store_get_several(transaction, &named, NULL, ids, 4, records, &fault));
	ck_assert(is_same(&named, &records[0], &made[5]) && is_same(&named, &records[2], &made[2]));
	ck_assert(is_same(&named, &records[3], &made[5]));
	ck_assert_ptr_null(records[1].value.data);
	store_abandon(transaction);
}
END_TEST

/* Walks through 1,000 records in pages of 7; between two pages, one record is added and one is
 * removed. */
START_TEST(a_walk_returns_each_remaining_record_once)
{
	struct store_record records[7];
	struct id last;
	unsigned seen[1000] = { 0 }, added = 0;
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_page page = { .records = records, .most = ROWS(records) };

	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	for (unsigned i = 0; i < 1000; i++) {
		struct store_record record = record_of(10 * i + 10, arena_text(arena, "n%u", i));

		record.is_on = i % 3 == 0;
		put_right(transaction, &whole, &record);
	}
	commit(transaction);
	do {
		struct store_record record = record_of(10 * (added * 37 % 1000) + 10, NULL);

		arena_reset(arena);
		transaction = begin(STORE_READ);
		ck_assert(store_page(transaction, &whole, &page, &fault));
		for (size_t i = 0; i < page.count; i++) {
			const uint64_t number = id_number(&records[i].id);

			if (number % 10 == 0)
				seen[number / 10 - 1]++;
			last = records[i].id;
		}
		page.below = &last;
		store_abandon(transaction);
		transaction = begin(STORE_WRITE);
		if (seen[added * 37 % 1000] == 0) {
			drop(transaction, &whole, &record);
			seen[added * 37 % 1000] = 1;
		}
		record = record_of(10 * (added * 41 % 1000) + 15, arena_text(arena, "m%u", added));
		put_right(transaction, &whole, &record);
		added++;
		commit(transaction);
	} while (!page.is_last);
	for (unsigned i = 0; i < 1000; i++)
		ck_assert_uint_eq(seen[i], 1);
}
END_TEST

/* ---- walks ---- */

/* More than a walk reads at once, in pages or from a database. */
#define WALKED 300

static const struct id second_account = { "account two" };

/* Puts records of a kind: half of them into each of two accounts, and below two parents. Every
 * seventh is removed again. */
static void put_walked(const struct store_kind *kind)
{
	struct transaction *transaction = begin(STORE_WRITE);

	for (unsigned i = 0; i < 2 * WALKED; i++) {
		struct store_record record = record_of(i, arena_text(arena, "n%04u", i));

		store_set_account(transaction, i % 2 == 0 ? &account : &second_account);
		record.parent = id_of(1, i / 2 % 2);
		record.value = slice_of(arena_text(arena, "value %u", i));
		put_right(transaction, kind, &record);
	}
	commit(transaction);
	transaction = begin(STORE_WRITE);
	for (unsigned i = 0; i < 2 * WALKED; i += 7) {
		struct store_record record = record_of(i, arena_text(arena, "n%04u", i));

		store_set_account(transaction, i % 2 == 0 ? &account : &second_account);
		drop(transaction, kind, &record);
	}
	commit(transaction);
}

static const struct {
	enum store_access access;
	enum store_order order;
	bool keeps;
	bool is_of_parent;
	unsigned above, below; /* 0 for no bound */
	unsigned leaves_after; /* 0 if it goes to the end */
} page_walks[] = {
	{ STORE_READ, STORE_OLDEST_FIRST, false, false, 0, 0, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, false, false, 0, 0, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, true, false, 0, 0, 0 },
	{ STORE_WRITE, STORE_OLDEST_FIRST, false, false, 0, 0, 0 },
	{ STORE_READ, STORE_OLDEST_FIRST, false, true, 0, 0, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, false, false, 20, 550, 0 },
	{ STORE_READ, STORE_NEWEST_FIRST, false, false, 0, 2, 0 }, /* none */
	{ STORE_READ, STORE_OLDEST_FIRST, false, false, 0, 0, STORE_WALK_AT_ONCE },
	{ STORE_READ, STORE_OLDEST_FIRST, false, false, 0, 0, STORE_WALK_AT_ONCE + 1 },
};

/* Returns the number of the record of the account that comes after `last`, or -1. */
static int walked_next(size_t row, int last)
{
	const int step = page_walks[row].order == STORE_OLDEST_FIRST ? 2 : -2;

	for (int i = last + step; i >= 0 && i < 2 * WALKED; i += step) {
		if (i % 7 != 0 && (!page_walks[row].is_of_parent || i / 2 % 2 == 1) &&
		    (page_walks[row].above == 0 || i > (int)page_walks[row].above) &&
		    (page_walks[row].below == 0 || i < (int)page_walks[row].below))
			return i;
	}
	return -1;
}

START_TEST(a_walk_through_pages_reads_their_records)
{
	store = drivers[_i].open(directory);
	put_walked(&whole);
	for (size_t row = 0; row < ROWS(page_walks); row++) {
		const struct id parent = id_of(1, 1), above = id_of(1000, page_walks[row].above),
				below = id_of(1000, page_walks[row].below);
		const struct store_page page = {
			.order = page_walks[row].order,
			.parent = page_walks[row].is_of_parent ? &parent : NULL,
			.above = page_walks[row].above > 0 ? &above : NULL,
			.below = page_walks[row].below > 0 ? &below : NULL,
		};
		struct transaction *transaction = begin(page_walks[row].access);
		const size_t used = arena_used(arena);
		struct fault fault = FAULT_INITIAL;
		struct store_walk walk = store_walk_pages(transaction, &whole, &page,
							  page_walks[row].keeps, &fault);
		int number = page.order == STORE_OLDEST_FIRST ? -2 : 2 * WALKED;
		struct store_record record, first = { .value = { NULL, 0 } };
		unsigned count = 0;

		while (store_next(&walk, &record)) {
			number = walked_next(row, number);
			ck_assert_int_eq((int)id_number(&record.id), number);
			ck_assert(slice_is(record.value, arena_text(arena, "value %d", number)));
			if (count++ == 0)
				first = record;
			if (count == page_walks[row].leaves_after)
				break;
		}
		ck_assert_int_eq(fault.kind, FAULT_NONE);
		if (page_walks[row].leaves_after > 0) {
			ck_assert_uint_eq(count, page_walks[row].leaves_after);
		} else {
			ck_assert_int_eq(walked_next(row, number), -1);
			ck_assert(!store_next(&walk, &record));
			if (page_walks[row].access == STORE_READ && !page_walks[row].keeps)
				ck_assert_uint_eq(arena_used(arena), used);
		}
		if (page_walks[row].keeps)
			ck_assert(slice_is(first.value, arena_text(arena, "value %d",
								   (int)id_number(&first.id))));
		store_abandon(transaction);
		arena_reset(arena);
	}
}
END_TEST

/* Counts all records, while another walk over the same is open, and the transaction is used. */
static void walk_over(const struct store_kind *kind, bool has_values)
{
	const bool is_named = kind->naming == STORE_NAME_ANYWHERE;
	struct transaction *transaction = begin(STORE_READ);
	struct store_walk (*const start)(struct transaction *, const struct store_kind *,
					 struct fault *) = has_values ? store_walk_all
								      : store_walk_keys;
	struct fault fault = FAULT_INITIAL;
	struct store_walk walk = start(transaction, kind, &fault);
	struct store_walk second = start(transaction, kind, &fault);
	unsigned seen[2 * WALKED] = { 0 };
	struct store_record record, other, whole_record;

	while (store_next(&walk, &record)) {
		const struct id *owner;
		unsigned number;

		ck_assert(store_next(&second, &other));
		number = is_named ? (unsigned)strtoul(record.name.data + 1, NULL, 10)
				  : (unsigned)id_number(&record.id);
		owner = number % 2 == 0 ? &account : &second_account;
		ck_assert_uint_lt(number, 2 * WALKED);
		seen[number]++;
		store_set_account(transaction, owner);
		whole_record = get(transaction, kind, &record);
		ck_assert(slice_is(whole_record.value, arena_text(arena, "value %u", number)));
		if (has_values)
			ck_assert(is_same(kind, &record, &whole_record));
		else
			ck_assert_ptr_null(record.value.data);
		if (has_values || !is_named)
			ck_assert_int_eq(id_compare(&record.account, owner), 0);
	}
	ck_assert(!store_next(&walk, &record) && !store_next(&second, &record));
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	for (unsigned i = 0; i < 2 * WALKED; i++)
		ck_assert_uint_eq(seen[i], i % 7 != 0);
	store_abandon(transaction);
}

START_TEST(a_walk_over_everything_reads_each_record_once)
{
	const struct store_kind *const walked[] = { &whole, &global, &plain };

	store = drivers[_i].open(directory);
	for (size_t i = 0; i < ROWS(walked); i++) {
		put_walked(walked[i]);
		walk_over(walked[i], false);
		walk_over(walked[i], true);
	}
}
END_TEST

/* What a walk holds is freed with its transaction, which the leak checker sees. */
START_TEST(a_walk_may_be_left)
{
	const unsigned after[] = { 0, 1, WALKED };
	struct store_record record;
	uint64_t number;

	store = drivers[_i].open(directory);
	put_walked(&whole);
	for (size_t i = 0; i < 2 * ROWS(after); i++) {
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction = begin(STORE_READ);
		struct store_walk walks[3];

		for (size_t j = 0; j < ROWS(walks); j++) {
			walks[j] = (j == 1 ? store_walk_keys : store_walk_all)(transaction, &whole,
									       &fault);
			for (unsigned n = 0; n < after[i / 2]; n++)
				ck_assert(store_next(&walks[j], &record));
		}
		while (store_next(&walks[1], &record))
			;
		ck_assert_int_eq(fault.kind, FAULT_NONE);
		ck_assert_ptr_nonnull(transaction->cursors);
		if (i % 2 == 0)
			store_abandon(transaction);
		else
			ck_assert(store_commit(transaction, &number, &fault));
		ck_assert_ptr_null(transaction->cursors);
	}
}
END_TEST

/* A page is one call, and so is each record of a walk over everything. */
static const struct {
	unsigned fails_at; /* counted from the first one of the walk */
	unsigned pages_read, all_read; /* records */
} failing_walks[] = {
	{ 1, 0, 0 },
	{ 2, STORE_WALK_AT_ONCE, 1 },
	{ 3, 2 * STORE_WALK_AT_ONCE, 2 },
	{ 100, 257, 99 },
};

START_TEST(a_fault_ends_a_walk)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct store_record record;

	store = open_failing(directory);
	put_walked(&whole);
	for (size_t i = 0; i < 2 * ROWS(failing_walks); i++) {
		const unsigned n = failing_walks[i / 2].fails_at;
		const bool is_of_pages = i % 2 == 0;
		const unsigned expected = is_of_pages ? failing_walks[i / 2].pages_read
						      : failing_walks[i / 2].all_read;
		struct transaction *transaction = begin(STORE_READ);
		struct fault fault = FAULT_INITIAL;
		struct store_walk walk = is_of_pages ? store_walk_pages(transaction, &whole, &page,
									false, &fault)
						     : store_walk_all(transaction, &whole, &fault);
		unsigned count = 0;

		store_failing_at(store, n);
		while (store_next(&walk, &record))
			count++;
		ck_assert_uint_eq(count, expected);
		ck_assert_int_eq(fault.kind,
				 is_of_pages && n == 100 ? FAULT_NONE : FAULT_UNAVAILABLE);
		ck_assert_uint_eq(store_failing_calls(store), is_of_pages && n == 100 ? 3 : n);
		ck_assert(!store_next(&walk, &record));
		store_abandon(transaction);
		store_failing_at(store, 0);
	}
}
END_TEST

/* A loop that goes on after a fault of its own ends too. */
START_TEST(a_fault_of_the_loop_ends_a_walk)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };

	store = drivers[_i].open(directory);
	put_walked(&whole);
	for (int is_of_pages = 0; is_of_pages < 2; is_of_pages++) {
		struct transaction *transaction = begin(STORE_READ);
		struct fault fault = FAULT_INITIAL;
		struct store_walk walk = is_of_pages ? store_walk_pages(transaction, &whole, &page,
									true, &fault)
						     : store_walk_all(transaction, &whole, &fault);
		struct store_record record;
		unsigned count = 0;

		while (store_next(&walk, &record))
			if (++count == 5)
				(void)fault_set(&fault, FAULT_GONE, NULL);
		ck_assert_uint_eq(count, 5);
		ck_assert_int_eq(fault.kind, FAULT_GONE);
		store_abandon(transaction);
	}
}
END_TEST

void add_pages(TCase *drivers_case, int count)
{
	tcase_add_loop_test(drivers_case, pages_agree_with_a_plain_model, 0, count);
	tcase_add_loop_test(drivers_case, names_are_in_order, 0, count);
	tcase_add_loop_test(drivers_case, ends_are_in_order, 0, count);
	tcase_add_test(drivers_case, a_page_of_names_costs_what_it_contains);
	tcase_add_loop_test(drivers_case, several_records_are_returned_in_order, 0, count);
	tcase_add_loop_test(drivers_case, a_walk_returns_each_remaining_record_once, 0, count);
	tcase_add_loop_test(drivers_case, a_walk_through_pages_reads_their_records, 0, count);
	tcase_add_loop_test(drivers_case, a_walk_over_everything_reads_each_record_once, 0, count);
	tcase_add_loop_test(drivers_case, a_walk_may_be_left, 0, count);
	tcase_add_test(drivers_case, a_fault_ends_a_walk);
	tcase_add_loop_test(drivers_case, a_fault_of_the_loop_ends_a_walk, 0, count);
}
