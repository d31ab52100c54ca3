/* See transfer/salvage_keys.h. Each kind has a window: its smallest keys after those that were
 * taken, found by going through all keys of the store. The ids of a descending order are stored
 * inverted, so that all keys are compared alike.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/salvage_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A key in a window. */
struct gathered {
	uint64_t account; /* its place in the roster */
	struct id parent, id; /* inverted if they descend */
	char name[CODE_WORDS_MOST + 1];
};

struct window {
	struct gathered *items; /* from malloc, with room for twice `most`; NULL at first */
	size_t count;
	size_t at; /* those before it were taken */
	struct gathered last; /* the last one of the window before */
	bool has_last;
	bool is_cut; /* further keys follow */
};

struct salvage_keys {
	struct snapshot *snapshot;
	const struct roster *roster;
	const struct account *only;
	size_t most;
	salvage_lost *lost;
	void *context;
	struct window windows[RECORD_KINDS]; /* in the order of record_kinds */
	/* Of the window that is being filled. */
	struct window *window;
	const struct record_kind *kind;
};

struct salvage_keys *salvage_keys_open(struct snapshot *snapshot, const struct roster *roster,
				       const struct account *only, size_t most, salvage_lost *lost,
				       void *context)
{
	struct salvage_keys *keys = memory_check(calloc(1, sizeof *keys));

	keys->snapshot = snapshot;
	keys->roster = roster;
	keys->only = only;
	keys->most = most;
	keys->lost = lost;
	keys->context = context;
	return keys;
}

void salvage_keys_close(struct salvage_keys *keys)
{
	if (keys == NULL)
		return;
	for (size_t i = 0; i < RECORD_KINDS; i++)
		free(keys->windows[i].items);
	free(keys);
}

/* ---- the order of a walk ---- */

static struct id in_order(const struct id *id, bool descends)
{
	struct id result = *id;

	for (size_t i = 0; descends && i < ID_SIZE; i++)
		result.bytes[i] = (unsigned char)~result.bytes[i];
	return result;
}

/* Pages of an account are newest first, children oldest first. */
static bool ids_descend(const struct record_kind *kind)
{
	return kind != NULL && kind->order == RECORD_PAGES;
}

static int compare_owners(const struct gathered *a, const struct gathered *b)
{
	if (a->account != b->account)
		return a->account < b->account ? -1 : 1;
	return id_compare(&a->parent, &b->parent);
}

static int compare_gathered(const void *first, const void *second)
{
	const struct gathered *a = first, *b = second;
	const int owners = compare_owners(a, b);

	return owners != 0 ? owners : id_compare(&a->id, &b->id);
}

/* ---- filling a window ---- */

/* Sorts the window, and leaves the smallest keys in it. */
static void cut_window(struct salvage_keys *keys)
{
	struct window *window = keys->window;
	size_t count = 0;

	qsort(window->items, window->count, sizeof *window->items, compare_gathered);
	for (size_t i = 0; i < window->count; i++) {
		if (count == 0 ||
		    compare_gathered(&window->items[count - 1], &window->items[i]) != 0)
			window->items[count++] = window->items[i];
	}
	window->is_cut = window->is_cut || count > keys->most;
	window->count = count < keys->most ? count : keys->most;
}

static bool is_lost(struct salvage_keys *keys, const char *what, const struct fault *why,
		    struct fault *fault)
{
	/* The first window has told it. */
	return keys->window->has_last || keys->lost(keys->context, what, why, fault);
}

/* The parent of a record, and the account of one that is found by its name, are in its value. */
static bool read_owner(struct salvage_keys *keys, const struct store_record *stored,
		       struct store_record *record, struct fault *fault)
{
	struct transaction *transaction = keys->snapshot->call.transaction;
	const struct store_kind *kind = keys->kind->table->kind;

	*record = *stored;
	if (keys->kind->order != RECORD_CHILDREN)
		return true;
	if (kind->naming == STORE_NAME_ANYWHERE)
		return store_get_named(transaction, kind, stored->name, STORE_TO_SHOW, record,
				       fault);
	store_set_account(transaction, &stored->account);
	return store_get(transaction, kind, &stored->id, STORE_TO_SHOW, record, fault);
}

/* Adds the key of a record, unless it is of another account. */
static bool gather_key(struct salvage_keys *keys, const struct store_record *stored,
		       struct fault *fault)
{
	const struct record_kind *kind = keys->kind;
	struct window *window = keys->window;
	struct arena *arena = keys->snapshot->call.transaction->arena;
	struct gathered key = { .account = 0 };
	struct fault own = FAULT_INITIAL;
	const struct account *account;
	struct store_record record;

	arena_reset(arena);
	if (!read_owner(keys, stored, &record, &own))
		return is_lost(keys, arena_text(arena, "a %s", kind->table->kind->name), &own,
			       fault);
	if (kind->order == RECORD_CHILDREN) {
		if (record.value.data == NULL || stored->name.size >= sizeof key.name)
			return true;
		key.parent = in_order(&record.parent, ids_descend(record_kind_above(kind)));
	}
	if (kind->table->kind->naming == STORE_NAME_ANYWHERE) {
		memcpy(key.name, stored->name.data, stored->name.size);
		key.id = record.id;
	} else {
		record.account = stored->account;
		key.id = in_order(&stored->id, ids_descend(kind));
	}
	account = roster_by_id(keys->roster, &record.account);
	if (account == NULL ||
	    (keys->only != NULL && id_compare(&account->id, &keys->only->id) != 0))
		return true;
	key.account = (uint64_t)(account - keys->roster->accounts);
	if (window->has_last && compare_gathered(&key, &window->last) <= 0)
		return true;
	if (window->count == 2 * keys->most)
		cut_window(keys);
	window->items[window->count++] = key;
	return true;
}

/* Goes through the store in an arena of its own, because the walk has records in the call's. */
static bool fill_window(struct salvage_keys *keys, const struct record_kind *kind,
			struct window *window, struct fault *fault)
{
	struct transaction *transaction = keys->snapshot->call.transaction;
	const struct id account = transaction->account;
	struct arena *kept = transaction->arena;
	struct fault own = FAULT_INITIAL;
	struct store_record stored;
	struct store_walk walk;
	bool is_done = true;

	if (window->items == NULL)
		window->items = memory_check(calloc(2 * keys->most, sizeof *window->items));
	else
		window->last = window->items[window->count - 1];
	window->has_last = window->is_cut;
	window->count = window->at = 0;
	window->is_cut = false;
	keys->window = window;
	keys->kind = kind;
	transaction->arena = arena_open();
	walk = store_walk_keys(transaction, kind->table->kind, &own);
	while (is_done && store_next(&walk, &stored))
		is_done = gather_key(keys, &stored, fault);
	if (own.kind != FAULT_NONE)
		is_done = is_lost(keys,
				  arena_text(transaction->arena, "%ss", kind->table->kind->name),
				  &own, fault);
	arena_close(transaction->arena);
	transaction->arena = kept;
	store_set_account(transaction, &account);
	if (window->count > 0)
		cut_window(keys);
	return is_done;
}

bool salvage_keys_next(struct salvage_keys *keys, const struct record_kind *kind,
		       const struct id *account, const struct id *parent, struct salvage_key *key,
		       bool *is_there, struct fault *fault)
{
	const struct account *of = roster_by_id(keys->roster, account);
	struct window *window = keys->windows;
	struct gathered owner;
	int comparison = -1;

	*is_there = false;
	if (of == NULL)
		return true;
	owner.account = (uint64_t)(of - keys->roster->accounts);
	owner.parent = in_order(parent, ids_descend(record_kind_above(kind)));
	for (size_t i = 0; record_kinds[i] != kind; i++)
		window++;
	while (comparison < 0) {
		const struct gathered *item;

		if (window->at == window->count) {
			if (window->items != NULL && !window->is_cut)
				return true;
			if (!fill_window(keys, kind, window, fault))
				return false;
			continue;
		}
		item = &window->items[window->at];
		comparison = compare_owners(item, &owner);
		if (comparison > 0)
			break;
		window->at++;
		key->id = item->name[0] != '\0' ? item->id : in_order(&item->id, ids_descend(kind));
		memcpy(key->name, item->name, sizeof key->name);
	}
	*is_there = comparison == 0;
	return true;
}
