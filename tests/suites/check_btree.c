/* The ordered indexes: random sequences of insertions, removals and walks, compared with a plain
 * model; an empty tree leaves no nodes behind; damaged nodes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/btree.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/encode.h"
#include "directory.h"
#include "fast_disk.h"
#include "scratch.h"
#include "store/gdbm/entries.h"
#include "suite.h"

static const struct btree tree = { "test", 4 };

/* The keys that may be in the tree, in order, and the value of each; 0 for a key that is not in the
 * tree. */
struct model {
	struct slice *keys;
	unsigned *values;
	size_t n;
};

static int compare_keys(const void *a, const void *b)
{
	return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Makes keys of 1 to `longest` bytes, many of which share prefixes. */
static struct model model_make(uint64_t *seed, size_t n, size_t longest)
{
	struct model model = { calloc(n, sizeof *model.keys), calloc(n, sizeof *model.values), 0 };
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t size = 1 + chance_below(seed, longest);
		char *key = malloc(size);

		for (size_t j = 0; j < size; j++)
			key[j] = (char)("\0ab\xff"[chance_below(seed, 4)] + (char)(j == size - 1));
		model.keys[i] = (struct slice){ key, size };
	}
	qsort(model.keys, n, sizeof *model.keys, compare_keys);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && slice_equal(model.keys[kept - 1], model.keys[i]))
			free((void *)(uintptr_t)model.keys[i].data);
		else
			model.keys[kept++] = model.keys[i];
	}
	model.n = kept;
	return model;
}

static void model_free(struct model *model)
{
	for (size_t i = 0; i < model->n; i++)
		free((void *)(uintptr_t)model->keys[i].data);
	free(model->keys);
	free(model->values);
}

static struct transaction *begin(struct store *store, enum store_access access)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	ck_assert(store_begin(store, access, scratch.arena, &transaction, &fault));
	return transaction;
}

static void end(struct store *store, struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_reset(scratch.arena);
}

static void set(struct transaction *transaction, struct model *model, size_t i, unsigned value)
{
	struct fault fault = FAULT_INITIAL;
	const struct slice bytes = { (const char *)&value, sizeof value };

	model->values[i] = value;
	if (value == 0)
		ck_assert(btree_remove(transaction, &tree, model->keys[i], &fault));
	else
		ck_assert(btree_put(transaction, &tree, model->keys[i], bytes, &fault));
}

static void is_value(const struct model *model, size_t i, struct slice value)
{
	ck_assert_uint_eq(value.size, sizeof model->values[i]);
	ck_assert_mem_eq(value.data, &model->values[i], value.size);
}

/* Walks in one direction, starting at the key `from`. */
static void check_walk(struct transaction *transaction, const struct model *model, size_t from,
		       bool goes_back, size_t most)
{
	struct fault fault = FAULT_INITIAL;
	struct btree_cursor cursor;
	struct slice key, value;
	size_t i = from;

	ck_assert(btree_seek(&cursor, transaction, &tree, model->keys[from], goes_back, &fault));
	for (;;) {
		if (goes_back)
			for (; i > 0 && model->values[i - 1] == 0; i--)
				;
		else
			for (; i < model->n && model->values[i] == 0; i++)
				;
		ck_assert(btree_at(&cursor, &key, &value, &fault));
		if (i == (goes_back ? 0 : model->n)) {
			ck_assert_ptr_null(key.data);
			return;
		}
		ck_assert(slice_equal(key, model->keys[goes_back ? i - 1 : i]));
		is_value(model, goes_back ? i - 1 : i, value);
		if (most-- == 0)
			return;
		i = goes_back ? i - 1 : i + 1;
		ck_assert(btree_step(&cursor, &fault));
	}
}

static void check_gets(struct transaction *transaction, const struct model *model, uint64_t *seed,
		       size_t n)
{
	struct fault fault = FAULT_INITIAL;
	struct slice value;

	while (n-- > 0) {
		size_t i = chance_below(seed, model->n);

		ck_assert(btree_get(transaction, &tree, model->keys[i], &value, &fault));
		if (model->values[i] == 0)
			ck_assert_ptr_null(value.data);
		else
			is_value(model, i, value);
	}
}

/* Checks that each node in the store is sound, and that all of them together have `n` keys. */
static size_t check_nodes(struct store *store, size_t *nodes)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction = begin(store, STORE_READ);
	char name[sizeof tree.name + 4];
	struct btree_checked checked;
	struct slice key, value;
	size_t keys = 0;

	*nodes = 0;
	memcpy(name, tree.name, tree.name_size);
	for (unsigned number = 0; number < 20000; number++) {
		for (unsigned i = 0; i < 4; i++)
			name[tree.name_size + i] = (char)(number >> 8 * i & 0xff);
		ck_assert(entry_get(transaction, STORE_INDEX,
				    (struct slice){ name, tree.name_size + 4 }, &value, &fault));
		if (value.data == NULL)
			continue;
		++*nodes;
		ck_assert_msg(btree_check(transaction, (struct slice){ name, tree.name_size + 4 },
					  &checked, &fault),
			      "%s", fault.cause);
		ck_assert_uint_eq(checked.tree.name_size, tree.name_size);
		for (; btree_checked_next(&checked, &key, &value); keys++)
			ck_assert_uint_gt(key.size, 0);
	}
	store_abandon(transaction);
	arena_reset(scratch.arena);
	return keys;
}

static size_t model_count(const struct model *model)
{
	size_t n = 0;

	for (size_t i = 0; i < model->n; i++)
		n += model->values[i] != 0;
	return n;
}

static const struct {
	size_t keys, longest, steps;
} mixes[] = {
	{ 50, 4, 500 },
	{ 3000, 12, 6000 },
	{ 20000, 40, 30000 },
	{ 2000, BTREE_KEY_MAX, 6000 },
};

/* The tree grows, changes and shrinks; each of the three phases ends with a complete comparison. */
START_TEST(tree_agrees_with_a_sorted_array)
{
	uint64_t seed = 20261123 + (uint64_t)_i;
	struct model model = model_make(&seed, mixes[_i].keys, mixes[_i].longest);
	struct store *store = scratch_store();

	for (unsigned phase = 0; phase < 3; phase++) {
		const unsigned removals[] = { 10, 50, 90 }; /* percent */
		struct transaction *transaction = begin(store, STORE_WRITE);
		size_t nodes;

		for (size_t i = 0; i < mixes[_i].steps; i++) {
			const bool removes = chance_below(&seed, 100) < removals[phase];

			set(transaction, &model, chance_below(&seed, model.n),
			    removes ? 0 : 1 + (unsigned)i);
			if (i % 100 == 99) {
				check_walk(transaction, &model, chance_below(&seed, model.n),
					   i % 200 == 99, 50);
				end(store, transaction);
				transaction = begin(store, STORE_WRITE);
			}
		}
		check_gets(transaction, &model, &seed, 500);
		check_walk(transaction, &model, 0, false, SIZE_MAX);
		check_walk(transaction, &model, model.n - 1, true, SIZE_MAX);
		end(store, transaction);
		ck_assert_uint_eq(check_nodes(store, &nodes), model_count(&model));
	}
	store_close(store);
	model_free(&model);
}
END_TEST

/* Inserts keys in ascending, descending or random order; then removes all keys in random order,
 * after which no node must remain. */
START_TEST(an_empty_tree_leaves_no_nodes)
{
	uint64_t seed = 7 + (uint64_t)_i;
	struct model model = model_make(&seed, 4000, 30);
	struct store *store = scratch_store();
	struct transaction *transaction = begin(store, STORE_WRITE);
	size_t nodes;

	for (size_t i = 0; i < model.n; i++) {
		set(transaction, &model, _i == 0 ? i : model.n - 1 - i, 1 + (unsigned)i);
		if (i % 256 == 255) {
			end(store, transaction);
			transaction = begin(store, STORE_WRITE);
		}
	}
	end(store, transaction);
	ck_assert_uint_eq(check_nodes(store, &nodes), model.n);
	/* Ascending keys fill their leaves: under 1.2 KB per leaf of at most 1 KB. */
	if (_i == 0)
		ck_assert_uint_lt(nodes, model.n * 30 / 800);
	transaction = begin(store, STORE_WRITE);
	for (size_t left = model.n; left > 0;) {
		size_t i = chance_below(&seed, model.n);

		while (model.values[i] == 0)
			i = (i + 1) % model.n;
		set(transaction, &model, i, 0);
		left--;
		if (left % 256 > 1)
			continue;
		end(store, transaction);
		/* A tree with one key consists of a leaf. */
		if (left == 1) {
			ck_assert_uint_eq(check_nodes(store, &nodes), 1);
			ck_assert_uint_eq(nodes, 1);
		}
		transaction = begin(store, STORE_WRITE);
	}
	end(store, transaction);
	ck_assert_uint_eq(check_nodes(store, &nodes), 0);
	ck_assert_uint_eq(nodes, 0);
	store_close(store);
	model_free(&model);
}
END_TEST

/* Returns false if the walk finds damage. */
static bool walk_passes(struct transaction *transaction, bool goes_back)
{
	struct fault fault = FAULT_INITIAL;
	struct btree_cursor cursor;
	struct slice key = { NULL, 0 }, value;
	const struct slice start = goes_back ? SLICE("\xff\xff\xff\xff") : SLICE("");
	bool passes = btree_seek(&cursor, transaction, &tree, start, goes_back, &fault);

	while (passes && (passes = btree_at(&cursor, &key, &value, &fault)) && key.data != NULL)
		passes = btree_step(&cursor, &fault);
	ck_assert(passes || fault.kind == FAULT_DAMAGED);
	return passes;
}

/* Changes the tree until a change finds damage. Returns false if one did. */
static bool changes_pass(struct transaction *transaction, const struct model *model, uint64_t *seed)
{
	for (unsigned n = 0; n < 300; n++) {
		const struct slice key = model->keys[chance_below(seed, model->n)];
		struct fault fault = FAULT_INITIAL;

		if (n % 2 == 0 ? btree_remove(transaction, &tree, key, &fault)
			       : btree_put(transaction, &tree, key, SLICE("changed"), &fault))
			continue;
		ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
		return false;
	}
	return true;
}

/* Removes, truncates or changes any byte of a node: the tree must report a fault or return the
 * right value, and must not crash. */
START_TEST(damaged_nodes_are_noticed)
{
	uint64_t seed = 99;
	struct model model = model_make(&seed, 400, 20);
	struct store *store = scratch_store();
	struct transaction *transaction = begin(store, STORE_WRITE);
	char name[] = "test\0\0\0\0";
	const struct slice root = { name, 8 };
	struct slice value, got;
	unsigned refused = 0;

	for (size_t i = 0; i < model.n; i++)
		set(transaction, &model, i, 1 + (unsigned)i);
	end(store, transaction);
	for (size_t at = 0; at < 200; at++) {
		struct fault fault = FAULT_INITIAL;
		char *bytes;

		transaction = begin(store, STORE_WRITE);
		ck_assert(entry_get(transaction, STORE_INDEX, root, &value, &fault));
		bytes = arena_alloc(scratch.arena, value.size);
		memcpy(bytes, value.data, value.size);
		bytes[at % value.size] ^= (char)(1 << at % 8);
		if (at % 7 == 0)
			value.size -= at % value.size;
		ck_assert(entry_put(transaction, STORE_INDEX, root,
				    (struct slice){ bytes, value.size }, &fault));
		for (size_t i = 0; i < model.n; i += 10) {
			struct fault each = FAULT_INITIAL;

			if (!btree_get(transaction, &tree, model.keys[i], &got, &each)) {
				ck_assert_int_eq(each.kind, FAULT_DAMAGED);
				refused++;
			}
		}
		refused += !walk_passes(transaction, at % 2 == 0);
		refused += !changes_pass(transaction, &model, &seed);
		store_abandon(transaction);
		arena_reset(scratch.arena);
	}
	ck_assert_uint_gt(refused, 100);
	store_close(store);
	model_free(&model);
}
END_TEST

/* Handmade nodes. Each repeats one entry `count` times. */
static const struct {
	unsigned level, count, key_size, value_size,
		size; /* size 0: computed from the other members */
} impossible_nodes[] = {
	{ 0, 400, 100, 20, 0 }, /* overlapping entries, which no node could hold separately */
	{ 0, 1, BTREE_KEY_MAX + 1, 20, 0 },
	{ 0, 1, 100, BTREE_VALUE_MAX + 1, 0 },
	{ 0, 1, 100, 20, 1100 },
	{ 1, 1, 0, 3, 0 }, /* lacks the number of its child */
};

START_TEST(impossible_nodes_are_refused)
{
	const unsigned count = impossible_nodes[_i].count;
	const unsigned key_size = impossible_nodes[_i].key_size;
	const size_t at = 7 + 2 * (size_t)count;
	const size_t size = at + 2 + key_size + impossible_nodes[_i].value_size;
	char name[] = "test\0\0\0\0", bytes[4096];
	struct store *store = scratch_store();
	struct transaction *transaction = begin(store, STORE_WRITE);
	struct fault fault = FAULT_INITIAL;

	memset(bytes, 'x', sizeof bytes);
	bytes[0] = (char)impossible_nodes[_i].level;
	encode_32(bytes + 1, 7);
	encode_16(bytes + 5, (uint16_t)count);
	for (unsigned n = 0; n < count; n++)
		encode_16(bytes + 7 + 2 * (size_t)n, (uint16_t)at);
	bytes[at] = (char)key_size;
	bytes[at + 1 + key_size] = (char)impossible_nodes[_i].value_size;
	ck_assert(entry_put(transaction, STORE_INDEX, (struct slice){ name, 8 },
			    (struct slice){ bytes, impossible_nodes[_i].size > 0
							   ? impossible_nodes[_i].size
							   : size },
			    &fault));
	ck_assert(!btree_remove(transaction, &tree, (struct slice){ bytes + at + 1, key_size },
				&fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	ck_assert(count > 1 || !walk_passes(transaction, false));
	store_abandon(transaction);
	store_close(store);
}
END_TEST

/* A leaf whose keys are not in ascending order, and which must be split between two of them. */
START_TEST(a_leaf_out_of_order_is_not_split)
{
	char name[] = "test\0\0\0\0", bytes[4096], added[BTREE_KEY_MAX];
	const size_t count = 6, key_size = BTREE_KEY_MAX;
	struct store *store = scratch_store();
	struct transaction *transaction = begin(store, STORE_WRITE);
	struct fault fault = FAULT_INITIAL;
	size_t at = 7 + 2 * count;

	memset(bytes, 'x', sizeof bytes);
	memset(added, 'w', sizeof added);
	bytes[0] = 0;
	encode_32(bytes + 1, 7);
	encode_16(bytes + 5, (uint16_t)count);
	for (size_t n = 0; n < count; n++) {
		encode_16(bytes + 7 + 2 * n, (uint16_t)at);
		bytes[at] = (char)key_size;
		bytes[at + 1 + key_size] = 1;
		at += 1 + key_size + 1 + 1;
	}
	ck_assert(entry_put(transaction, STORE_INDEX, (struct slice){ name, 8 },
			    (struct slice){ bytes, at }, &fault));
	for (char c = 'a'; c < 'c' && fault.kind == FAULT_NONE; c++) {
		added[0] = c;
		(void)btree_put(transaction, &tree, (struct slice){ added, key_size }, SLICE("v"),
				&fault);
	}
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	store_abandon(transaction);
	store_close(store);
}
END_TEST

/* Names that no record may have. Code that reads such a record may write it again, or look for its
 * place in a tree. */
START_TEST(a_record_with_an_impossible_name_is_refused)
{
	static const unsigned char sizes[] = { 0, STORE_NAME_MAX + 1, UINT8_MAX };
	static const struct store_kind kind = {
		.letter = 'z',
		.name = "thing",
		.naming = STORE_NAME_IN_ACCOUNT,
	};
	const char key[1 + 2 * ID_SIZE] = { 'z' };
	char bytes[512] = { 0 };
	struct store *store = scratch_store();
	struct store_record record;

	for (int i = 0; i < ROWS(sizes); i++) {
		struct transaction *transaction = begin(store, STORE_WRITE);
		struct fault fault = FAULT_INITIAL;

		bytes[1] = (char)sizes[i];
		ck_assert(entry_put(transaction, STORE_RECORD, (struct slice){ key, sizeof key },
				    (struct slice){ bytes, sizeof bytes }, &fault));
		ck_assert(!store_get(transaction, &kind, &(struct id){ { 0 } }, STORE_TO_CHANGE,
				     &record, &fault));
		ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
		store_abandon(transaction);
	}
	store_close(store);
}
END_TEST

static void put_inner_node(struct transaction *transaction, char number, char level, char child)
{
	const char key[] = { 't', 'e', 's', 't', number, 0, 0, 0 };
	const char bytes[] = { level, 9, 0, 0, 0, 1, 0, 9, 0, 0, 4, child, 0, 0, 0 };
	struct fault fault = FAULT_INITIAL;

	ck_assert(entry_put(transaction, STORE_INDEX, (struct slice){ key, sizeof key },
			    (struct slice){ bytes, sizeof bytes }, &fault));
}

/* The check of a node ends even if a node below it is its own child. */
START_TEST(node_that_is_its_own_child_is_refused)
{
	const struct slice key = { "test\1\0\0\0", 8 };
	struct store *store = scratch_store();
	struct transaction *transaction = begin(store, STORE_WRITE);
	struct fault fault = FAULT_INITIAL;
	struct btree_checked checked;

	put_inner_node(transaction, 1, 2, 2);
	put_inner_node(transaction, 2, 1, 2);
	ck_assert(!btree_check(transaction, key, &checked, &fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	store_abandon(transaction);
	store_close(store);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("btree");
	TCase *tests = tcase_create("btree");

	tcase_add_checked_fixture(tests, scratch_open, scratch_close);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, tree_agrees_with_a_sorted_array, 0,
			    sizeof mixes / sizeof mixes[0]);
	tcase_add_loop_test(tests, an_empty_tree_leaves_no_nodes, 0, 2);
	tcase_add_test(tests, damaged_nodes_are_noticed);
	tcase_add_loop_test(tests, impossible_nodes_are_refused, 0, ROWS(impossible_nodes));
	tcase_add_test(tests, a_leaf_out_of_order_is_not_split);
	tcase_add_test(tests, a_record_with_an_impossible_name_is_refused);
	tcase_add_test(tests, node_that_is_its_own_child_is_refused);
	suite_add_tcase(suite, tests);
	fast_disk();
	return suite_run(suite);
}
