/* The drivers compared with each other, and faults.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "directory.h"
#include "kit.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/entries.h"
#include "store_failing.h"
#include "store_memory.h"

/* ---- the drivers compared with each other ---- */

#define PLACES 24

/* Runs one step with the same random numbers in each store and appends the result to the text. */
static void step(struct transaction *transaction, uint64_t seed, struct buffer *text)
{
	const struct store_kind *kind = kinds[chance_below(&seed, ROWS(kinds))];
	struct store_record record = record_of(1 + chance_below(&seed, PLACES), NULL), found;
	struct store_record records[PLACES];
	struct fault fault = FAULT_INITIAL;
	const struct id above = id_of(1000, chance_below(&seed, PLACES));
	const struct id below = id_of(1000, chance_below(&seed, PLACES));
	struct store_page page = { .records = records, .most = 1 + chance_below(&seed, 8) };
	unsigned name;
	bool has_children;

	name = (unsigned)chance_below(&seed, 3 * PLACES);
	record.name = slice_of(arena_text(arena, "%c%u", 'a' + (int)(name % 3), name));
	/* IDs are unique, and a record found by its name alone keeps its ID. */
	if (kind->naming == STORE_NAME_ANYWHERE)
		record.id = id_of(1000, 1 + name);
	record.parent = id_of(1, chance_below(&seed, 4));
	record.is_on = chance_below(&seed, 2) == 0;
	record.ends = kind->has_ends ? (int64_t)chance_below(&seed, 8) : 0;
	record.value = slice_of(arena_text(arena, "%0*d", 1 + (int)chance_below(&seed, 300), 1));
	switch (chance_below(&seed, 8)) {
	case 0:
	case 1:
	case 2:
		found = get(transaction, kind, &record);
		if (found.value.data != NULL && id_compare(&found.account, &account) != 0)
			return;
		if (kind->naming == STORE_NAME_IN_ACCOUNT) {
			ck_assert(store_get_named(transaction, kind, record.name, STORE_TO_SHOW,
						  &found, &fault));
			if (found.value.data != NULL && id_compare(&found.id, &record.id) != 0)
				return;
		}
		put_right(transaction, kind, &record);
		return;
	case 3:
		found = get(transaction, kind, &record);
		if (found.value.data != NULL && id_compare(&found.account, &account) == 0)
			drop(transaction, kind, &record);
		return;
	case 4:
		found = get(transaction, kind, &record);
		buffer_append(text, found.value.data == NULL ? SLICE("none") : found.value);
		buffer_append(text, found.name);
		buffer_append_byte(text, (char)('0' + (kind->has_switch && found.is_on)));
		return;
	case 5:
		if (!kind->has_parent)
			return;
		ck_assert(store_has_children(transaction, kind, &record.parent, &has_children,
					     &fault));
		buffer_append_text(text, has_children ? "yes" : "no");
		return;
	default:
		break;
	}
	page.order = (enum store_order)chance_below(&seed, 4);
	page.until = (int64_t)chance_below(&seed, 10);
	page.parent = kind->has_parent && chance_below(&seed, 2) == 0 ? &record.parent : NULL;
	page.above = chance_below(&seed, 2) == 0 ? &above : NULL;
	page.below = chance_below(&seed, 2) == 0 ? &below : NULL;
	page.prefix = chance_below(&seed, 2) == 0 ? SLICE("a") : (struct slice){ NULL, 0 };
	page.after = chance_below(&seed, 2) == 0 ? record.name : (struct slice){ NULL, 0 };
	if (kind->has_switch)
		page.side = (enum store_side)chance_below(&seed, 3);
	if (page.order == STORE_BY_NAME && (kind->naming != STORE_NAME_IN_ACCOUNT ||
					    page.parent != NULL || page.side != STORE_BOTH_SIDES))
		page.order = STORE_OLDEST_FIRST;
	if (page.order == STORE_BY_END &&
	    (!kind->has_ends || page.parent != NULL || page.side != STORE_BOTH_SIDES))
		page.order = STORE_OLDEST_FIRST;
	if (page.parent == NULL && !kind->has_pages)
		return;
	ck_assert_msg(store_page(transaction, kind, &page, &fault), "%s", fault.cause);
	for (size_t i = 0; i < page.count; i++) {
		buffer_append(text, records[i].value);
		buffer_append(text, records[i].name);
	}
	buffer_append_text(text, page.is_last ? "last" : "more");
}

START_TEST(drivers_agree)
{
	uint64_t seed = 20261123 + (uint64_t)_i;
	struct store *stores[] = {
		store_memory_open(),
		open_gdbm(directory),
		has_database ? open_postgres(directory) : store_memory_open(),
	};

	for (unsigned round = 0; round < 300; round++) {
		const uint64_t steps = 1 + chance_below(&seed, 20), from = chance(&seed);
		const bool is_abandoned = chance_below(&seed, 5) == 0;
		const uint64_t end_seed = chance_below(&seed, 40);
		struct buffer texts[ROWS(stores)];

		account = chance_below(&seed, 4) == 0 ? (struct id){ "account two" }
						      : (struct id){ "account one" };
		for (int s = 0; s < ROWS(stores); s++) {
			struct transaction *transaction = begin_in(stores[s], STORE_WRITE);

			texts[s] = BUFFER_INITIAL(arena);
			buffer_append_byte(&texts[s], '.');
			for (uint64_t i = 0; i < steps; i++)
				step(transaction, from + i, &texts[s]);
			if (is_abandoned)
				store_abandon(transaction);
			else
				commit_in(stores[s], transaction);
		}
		for (int s = 1; s < ROWS(stores); s++)
			ck_assert_msg(slice_equal(buffer_slice(&texts[0]), buffer_slice(&texts[s])),
				      "seed %d, round %u, store %d: %.*s, but %.*s", _i, round, s,
				      (int)texts[0].size, texts[0].data, (int)texts[s].size,
				      texts[s].data);
		arena_reset(arena);
		if (end_seed == 0) {
			store_close(stores[1]);
			stores[1] = open_restless(directory);
		}
	}
	for (int s = 0; s < ROWS(stores); s++)
		store_close(stores[s]);
}
END_TEST

/* ---- faults ---- */

/* Makes a sample of all calls; returns false at the first fault. */
static bool sample(struct fault *fault)
{
	const struct store_record kept = record_of(1, "kept");
	struct store_record added = record_of(2, "added"), gone = record_of(3, "gone"), found;
	struct store_page page = { .records = &found, .most = 1 };
	struct transaction *transaction;
	int64_t now = 5000;
	uint64_t number;
	bool has_children;

	if (!store_begin(store, STORE_WRITE, arena, &transaction, fault))
		return false;
	store_set_account(transaction, &account);
	if (!store_get(transaction, &whole, &gone.id, STORE_TO_CHANGE, &gone, fault) ||
	    !store_get_named(transaction, &whole, kept.name, STORE_TO_SHOW, &found, fault) ||
	    !store_page(transaction, &whole, &page, fault) ||
	    !store_has_children(transaction, &whole, &kept.parent, &has_children, fault) ||
	    !store_new_id(transaction, &whole, &ticking, &now, &added.id, fault) ||
	    !store_give_way(transaction, fault) ||
	    !store_put(transaction, &whole, &added, NULL, fault) ||
	    !store_remove(transaction, &whole, &gone, fault)) {
		store_abandon(transaction);
		return false;
	}
	return store_commit(transaction, &number, fault) && store_wait(store, number, fault);
}

START_TEST(a_failed_call_leaves_nothing)
{
	const struct store_record gone = record_of(3, "gone");
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_record found;
	unsigned n = 1;

	store = store_failing_open(drivers[_i].open(directory));
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &gone);
	commit(transaction);
	for (store_failing_at(store, n); !sample(&fault); store_failing_at(store, ++n)) {
		ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
		fault = FAULT_INITIAL;
		store_failing_at(store, 0);
		transaction = begin(STORE_READ);
		ck_assert_ptr_nonnull(get(transaction, &whole, &gone).value.data);
		ck_assert(store_get_named(transaction, &whole, SLICE("added"), STORE_TO_SHOW,
					  &found, &fault));
		ck_assert_ptr_null(found.value.data);
		store_abandon(transaction);
	}
	ck_assert_uint_gt(n, 9);
}
END_TEST

/* An entry of an index, given by the letter of its tree, that disagrees with the records. */
START_TEST(inconsistent_indexes_are_damage)
{
	struct store_record record = record_of(1, "one"), other = record_of(2, "two"), found;
	struct fault fault = FAULT_INITIAL;
	struct store_page page = { .records = &found, .most = 1 };
	struct transaction *transaction;
	struct btree tree = { .name_size = 2 + ID_SIZE };
	char key[1 + ID_SIZE] = { 0 };
	bool is_read;

	store = open_gdbm(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &record);
	put_right(transaction, &whole, &other);
	tree.name[1] = whole.letter;
	memcpy(tree.name + 2, account.bytes, ID_SIZE);
	if (_i < 2) {
		/* A name that leads to a record with another name, or to no record. */
		other.id = _i == 0 ? other.id : id_of(1, 77);
		tree.name[0] = 'n';
		ck_assert(btree_put(transaction, &tree, record.name, id_slice(&other.id), &fault));
		is_read = store_get_named(transaction, &whole, record.name, STORE_TO_SHOW, &found,
					  &fault);
	} else {
		/* A place in the list of the other state (enabled or disabled), or of a record that
		 * does not exist. */
		other.id = _i == 2 ? id_of(1000, 2) : id_of(1, 77);
		memcpy(key + 1, other.id.bytes, ID_SIZE);
		tree.name[0] = 'm';
		ck_assert(btree_put(transaction, &tree, (struct slice){ key, sizeof key },
				    SLICE(""), &fault));
		page.side = STORE_OFF;
		is_read = store_page(transaction, &whole, &page, &fault);
	}
	ck_assert(!is_read);
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	store_abandon(transaction);
}
END_TEST

void add_drivers(TCase *damage, int count)
{
	tcase_add_loop_test(damage, drivers_agree, 0, 6);
	tcase_add_loop_test(damage, a_failed_call_leaves_nothing, 0, count);
	tcase_add_loop_test(damage, inconsistent_indexes_are_damage, 0, 4);
}
