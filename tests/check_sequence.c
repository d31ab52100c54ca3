/* Ordered lists of ids: against a plain sorted array under any mix of adding, removing and walking;
 * their cost in store calls; damaged nodes; a store that fails at each call.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/sequence.h"

#include <check.h>
#include <stdlib.h>

#include "directory.h"
#include "store/memory/store_memory.h"
#include "store_failing.h"
#include "suite.h"

static struct store *store; /* a failing one over one in memory */
static struct arena *arena;

static void setup(void)
{
	store = store_failing_open(store_memory_open());
	arena = arena_open();
}

static void teardown(void)
{
	arena_close(arena);
	store_close(store);
}

static struct transaction *begin(void)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	return transaction;
}

static void commit(struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_commit(transaction, &number, &fault));
}

/* An id whose last three bytes are a function of the others. */
static struct id id_of(uint32_t seconds, uint64_t number)
{
	struct id id;

	for (size_t i = 0; i < 4; i++)
		id.bytes[i] = (unsigned char)(seconds >> (24 - 8 * i));
	for (size_t i = 0; i < 5; i++)
		id.bytes[4 + i] = (unsigned char)(number >> (32 - 8 * i));
	for (size_t i = 9; i < ID_SIZE; i++)
		id.bytes[i] = (unsigned char)(number * 7 + i);
	return id;
}

static void add(struct transaction *transaction, const char *list, struct id id)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(sequence_add(transaction, slice_of(list), &id, &fault));
}

static void drop(struct transaction *transaction, const char *list, struct id id)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(sequence_remove(transaction, slice_of(list), &id, &fault));
}

/* The ids that may be in the list, by age, and whether they are: the list, done plainly. */
struct model {
	struct id *ids;
	bool *is_there;
	size_t n;
};

/* Ids as an account makes them: numbers with gaps of any size up to `stride`, seconds that often
 * stand still. */
static struct model model_make(uint64_t *seed, size_t n, uint64_t stride)
{
	struct model model = { calloc(n, sizeof *model.ids), calloc(n, sizeof *model.is_there), n };
	uint64_t number = chance_below(seed, 70);
	uint32_t seconds = 1700000000;

	for (size_t i = 0; i < n && number <= ID_NUMBER_MAX; i++) {
		model.ids[i] = id_of(seconds, number);
		number += 1 + chance_below(seed, 1 + chance_below(seed, stride));
		if (chance_below(seed, 3) == 0)
			seconds += (uint32_t)chance_below(seed, 5);
		model.n = i + 1;
	}
	return model;
}

static void model_free(struct model *model)
{
	free(model->ids);
	free(model->is_there);
}

/* Any 12 bytes as a bound: ids that are or were there, their neighbours, the time of one with the
 * number of another, noise. */
static struct id bound_make(uint64_t *seed, const struct model *model)
{
	struct id bound = model->ids[chance_below(seed, model->n)];
	const struct id other = model->ids[chance_below(seed, model->n)];

	switch (chance_below(seed, 6)) {
	case 0:
		break;
	case 1:
		memcpy(bound.bytes, other.bytes, 4);
		break;
	case 2:
		bound = id_of(id_seconds(&bound) + (uint32_t)chance_below(seed, 3) - 1,
			      chance(seed) & ID_NUMBER_MAX);
		break;
	case 3:
		bound.bytes[4 + chance_below(seed, 8)] ^= (unsigned char)(1
									  << chance_below(seed, 8));
		break;
	case 4:
		bound = id_of(id_seconds(&bound), id_number(&bound) ^ chance_below(seed, 4));
		break;
	default:
		for (size_t i = 0; i < ID_SIZE; i++)
			bound.bytes[i] = (unsigned char)chance(seed);
	}
	return bound;
}

/* Walks `steps` ids, and beyond the end twice, beside the model. */
static void expect_walk(struct transaction *transaction, const char *list,
			const struct model *model, const struct id *bound, size_t steps)
{
	struct sequence_walk walk;
	size_t place = model->n;

	sequence_start(&walk, transaction, slice_of(list), bound);
	for (size_t step = 0; step < steps; step++) {
		struct fault fault = FAULT_INITIAL;
		struct id id;
		bool is_there;

		while (place > 0 &&
		       (!model->is_there[place - 1] ||
			(bound != NULL && id_compare(&model->ids[place - 1], bound) >= 0)))
			place--;
		store_failing_at(store, 0);
		ck_assert(sequence_next(&walk, &id, &is_there, &fault));
		ck_assert_int_eq(is_there, place > 0);
		/* At worst a look at the bound's leaf, down to another, up again to the root, and down
		 * the next branch. */
		ck_assert_uint_le(store_failing_calls(store), 1 + 7 + 6 + 6);
		if (place == 0)
			break;
		place--;
		ck_assert_mem_eq(id.bytes, model->ids[place].bytes, ID_SIZE);
	}
}

struct mix {
	size_t ids;
	uint64_t stride;
	unsigned adds_in_100;
};

static const struct mix mixes[] = {
	{ 400, 1, 50 },
	{ 400, 3, 30 },
	{ 2000, 2, 60 },
	{ 300, 64, 50 },
	{ 300, 200, 25 },
	{ 300, 1 << 12, 50 },
	{ 300, 1 << 18, 40 },
	{ 300, 1 << 24, 50 },
	{ 200, UINT64_C(1) << 30, 50 },
	{ 200, UINT64_C(1) << 33, 30 },
	{ 100, UINT64_C(1) << 36, 50 },
	{ 60, UINT64_C(1) << 38, 10 },
	{ 3, 1, 50 },
};

START_TEST(same_as_a_sorted_array)
{
	const struct mix *mix = &mixes[_i];
	uint64_t seed = (uint64_t)_i;
	struct model model = model_make(&seed, mix->ids, mix->stride);

	for (unsigned round = 0; round < 80; round++) {
		struct transaction *transaction = begin();

		for (unsigned i = 0; i < 20; i++) {
			const size_t at = chance_below(&seed, model.n);

			model.is_there[at] = chance_below(&seed, 100) < mix->adds_in_100;
			if (model.is_there[at])
				add(transaction, "list", model.ids[at]);
			else
				drop(transaction, "list", model.ids[at]);
		}
		for (unsigned i = 0; i < 12; i++) {
			const struct id bound = bound_make(&seed, &model);

			expect_walk(transaction, "list", &model, &bound, 1 + model.n / 20);
		}
		expect_walk(transaction, "list", &model, NULL, round % 40 == 0 ? SIZE_MAX : 3);
		commit(transaction);
		arena_reset(arena);
	}

	/* Emptied, it leaves no node behind: the next list would else be built on them. */
	struct transaction *transaction = begin();
	for (size_t i = 0; i < model.n; i++) {
		model.is_there[i] = false;
		drop(transaction, "list", model.ids[i]);
	}
	expect_walk(transaction, "list", &model, NULL, 1);
	expect_walk(transaction, "list", &model, &model.ids[model.n - 1], 1);
	commit(transaction);
	model_free(&model);
}
END_TEST

/* Late comers: an old id may be added after a younger one of the same leaf or node, and be looked
 * for by a time between the two. */
START_TEST(finds_by_time_what_was_added_late)
{
	struct transaction *transaction = begin();
	const struct id old = id_of(90, 5);
	const struct id young = id_of(100, 100);
	const struct id bound = id_of(95, 3);
	struct sequence_walk walk;
	struct fault fault = FAULT_INITIAL;
	struct id id;
	bool is_there;

	add(transaction, "list", young);
	add(transaction, "list", old);
	sequence_start(&walk, transaction, SLICE("list"), &bound);
	ck_assert(sequence_next(&walk, &id, &is_there, &fault));
	ck_assert(is_there);
	ck_assert_mem_eq(id.bytes, old.bytes, ID_SIZE);
	ck_assert(sequence_next(&walk, &id, &is_there, &fault));
	ck_assert(!is_there);
	ck_assert(sequence_next(&walk, &id, &is_there, &fault));
	ck_assert(!is_there);
	store_abandon(transaction);
}
END_TEST

START_TEST(adding_twice_and_removing_nothing_change_nothing)
{
	struct transaction *transaction = begin();

	drop(transaction, "list", id_of(1, 1));
	ck_assert(!transaction->has_changes);
	add(transaction, "list", id_of(1, 1));
	commit(transaction);
	transaction = begin();
	add(transaction, "list", id_of(1, 1));
	drop(transaction, "list", id_of(1, 2));
	drop(transaction, "list", id_of(9, 1000));
	ck_assert(!transaction->has_changes);
	store_abandon(transaction);
}
END_TEST

START_TEST(lists_do_not_mix)
{
	static const char *const lists[] = {
		"a",
		"ab",
		"abc",
		"b",
		"a-list-whose-name-is-as-long-as-one-can-be-64-bytes-and-no-more-",
	};
	struct transaction *transaction = begin();

	ck_assert_uint_eq(strlen(lists[4]), SEQUENCE_LIST_MAX);
	for (size_t i = 0; i < ROWS(lists); i++)
		add(transaction, lists[i], id_of(1, i));
	for (size_t i = 0; i < ROWS(lists); i++) {
		struct id id = id_of(1, i);
		bool is_there = true;

		expect_walk(transaction, lists[i], &(struct model){ &id, &is_there, 1 }, NULL, 2);
	}
	store_abandon(transaction);
}
END_TEST

/* 10,000 ids in a row. */
static void fill(void)
{
	struct transaction *transaction = begin();

	for (uint64_t number = 0; number < 10000; number++)
		add(transaction, "list", id_of((uint32_t)(number / 10), number));
	commit(transaction);
}

START_TEST(a_page_of_100_is_a_few_gets)
{
	const struct id bound = id_of((uint32_t)_i * 100, (uint64_t)_i * 1000);
	struct sequence_walk walk;
	struct transaction *transaction;

	fill();
	transaction = begin();
	store_failing_at(store, 0);
	sequence_start(&walk, transaction, SLICE("list"), &bound);
	for (unsigned i = 0; i < 100; i++) {
		struct fault fault = FAULT_INITIAL;
		struct id id;
		bool is_there;

		ck_assert(sequence_next(&walk, &id, &is_there, &fault));
		ck_assert(is_there);
	}
	/* The bound's leaf, the way down when nothing in it is below the bound, or nothing is not, then two
	 * or three more leaves, each with the node above it. */
	ck_assert_uint_le(store_failing_calls(store),
			  (_i * 1000 % 64 == 0 || _i == 10 ? 1 + 7 : 1) + 3 * 2 + 2);
	store_abandon(transaction);
}
END_TEST

START_TEST(adding_and_removing_write_one_leaf)
{
	struct transaction *transaction;

	fill();
	transaction = begin();
	store_failing_at(store, 0);
	add(transaction, "list", id_of(1000, 10000));
	ck_assert_uint_eq(store_failing_calls(store), 2);
	store_failing_at(store, 0);
	drop(transaction, "list", id_of(500, 5003));
	ck_assert_uint_eq(store_failing_calls(store), 2);
	store_abandon(transaction);
}
END_TEST

/* Level (0: leaf) and index of a node, and what stands there instead; NULL: nothing. A list of
 * 10,000 has 157 leaves below 3 nodes. */
struct damage {
	unsigned level;
	unsigned index;
	struct slice value;
};

static const struct damage damages[] = {
	{ 0, 50, { NULL, 0 } },
	{ 0, 50, { "", 0 } },
	{ 0, 50, { "too short", 9 } },
	{ 0, 50, { "\0\0\0\1\0\0\0\0\7abc", 12 } }, /* of another leaf */
	{ 0,
	  50,
	  { "\0\0\1\x40\0\0\0\x0c\x82..."
	    "\0\0\1\x40\0\0\0\x0c\x81...",
	    24 } }, /* not ascending */
	{ 1, 0, { NULL, 0 } },
	{ 1, 0, { "\0\0\0\1", 4 } },
	{ 1, 0, { "\0\0\0\0\0\0\0\3\0\0\0\1", 12 } }, /* a child without its seconds */
	{ 1, 0, { "\0\0\0\0\0\0\0\0", 8 } },
	{ 3, 0, { NULL, 0 } },
	{ 6, 0, { "\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0", 16 } }, /* a child that is not there */
	{ 6, 0, { "\0\0\0\0\0\1\0\1\0\0\0\0\0\0\0\1", 16 } }, /* beyond all numbers */
	{ 6, 0, { "?", 1 } },
};

START_TEST(damage_is_told_from_the_end)
{
	const struct damage *damage = &damages[_i];
	const char key[] = { 'l', 'i', 's', 't', (char)damage->level,
			     0,	  0,   0,   0,	 (char)damage->index };
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct sequence_walk walk;
	struct id id;
	bool is_there = true;
	bool is_fine = true;

	fill();
	transaction = begin();
	if (damage->value.data == NULL)
		store_remove(transaction, STORE_SEQUENCE, (struct slice){ key, sizeof key },
			     &fault);
	else
		store_put(transaction, STORE_SEQUENCE, (struct slice){ key, sizeof key },
			  damage->value, &fault);
	sequence_start(&walk, transaction, SLICE("list"), NULL);
	while (is_fine && is_there)
		is_fine = sequence_next(&walk, &id, &is_there, &fault);
	ck_assert(!is_fine);
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	ck_assert_ptr_nonnull(strstr(fault.cause, "6c697374"));
	store_abandon(transaction);
}
END_TEST

/* One of everything that a list can do; false at the first fault. */
static bool exercise(struct fault *fault)
{
	const struct id first = id_of(1, 100);
	const struct id second = id_of(2, UINT64_C(1) << 37);
	const struct id bound = id_of(1, 200);
	struct transaction *transaction;
	struct sequence_walk walk;
	struct id id;
	bool is_there;
	bool is_done;
	uint64_t number;

	if (!store_begin(store, STORE_WRITE, arena, &transaction, fault))
		return false;
	is_done = sequence_add(transaction, SLICE("list"), &first, fault) &&
		  sequence_add(transaction, SLICE("list"), &second, fault);
	sequence_start(&walk, transaction, SLICE("list"), NULL);
	for (unsigned i = 0; i < 3; i++)
		is_done = is_done && sequence_next(&walk, &id, &is_there, fault);
	sequence_start(&walk, transaction, SLICE("list"), &bound);
	is_done = is_done && sequence_next(&walk, &id, &is_there, fault) && is_there &&
		  sequence_remove(transaction, SLICE("list"), &first, fault) &&
		  sequence_remove(transaction, SLICE("list"), &second, fault);
	if (!is_done) {
		store_abandon(transaction);
		return false;
	}
	return store_commit(transaction, &number, fault);
}

START_TEST(every_failing_call_is_reported)
{
	struct fault fault = FAULT_INITIAL;
	unsigned calls;

	store_failing_at(store, 0);
	ck_assert(exercise(&fault));
	calls = store_failing_calls(store);
	ck_assert_uint_gt(calls, 60);
	for (unsigned n = 1; n <= calls; n++) {
		fault = FAULT_INITIAL;
		store_failing_at(store, n);
		ck_assert(!exercise(&fault));
		ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
		ck_assert_uint_eq(store_failing_calls(store), n);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sequence");
	TCase *tcase = tcase_create("sequence");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, same_as_a_sorted_array, 0, ROWS(mixes));
	tcase_add_test(tcase, finds_by_time_what_was_added_late);
	tcase_add_test(tcase, adding_twice_and_removing_nothing_change_nothing);
	tcase_add_test(tcase, lists_do_not_mix);
	tcase_add_loop_test(tcase, a_page_of_100_is_a_few_gets, 1, 11);
	tcase_add_test(tcase, adding_and_removing_write_one_leaf);
	tcase_add_loop_test(tcase, damage_is_told_from_the_end, 0, ROWS(damages));
	tcase_add_test(tcase, every_failing_call_is_reported);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
