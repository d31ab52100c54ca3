/* Walks over all records of a kind, in portions, inside the snapshot of a READ transaction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/rows_parts.h"

#include <stdlib.h>

#include "base/memory.h"

#define PORTION 256

struct walk {
	struct store_cursor cursor;
	const struct store_kind *kind;
	bool has_values;
	struct arena *arena; /* holds the records of the portion */
	struct store_record records[PORTION];
	size_t count, at;
	bool is_last;
};

static bool read_row_key(struct arena *arena, const struct wire *wire, size_t result, size_t row,
			 bool is_named, struct store_record *record, struct fault *fault)
{
	const struct slice first = wire_bytes(wire, result, row, 0);

	*record = (struct store_record){ .is_on = false };
	if (is_named) {
		record->name = arena_copy(arena, first);
		return true;
	}
	return (rows_copy_id(first, &record->account) &&
		rows_copy_id(wire_bytes(wire, result, row, 1), &record->id)) ||
	       fault_cause(fault, FAULT_DAMAGED, 0, "a record has a damaged key");
}

/* Copies all records of the portion, because the caller may use the transaction between them. */
static bool read_portion(struct walk *walk, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(walk->cursor.transaction);
	const struct store_record *last = walk->count > 0 ? &walk->records[walk->count - 1] : NULL;
	struct parameters parameters = PARAMETERS_INITIAL;
	enum statement statement;
	size_t result;
	char letter;

	rows_add_kind(&parameters, walk->kind);
	if (rows_are_named(walk->kind)) {
		statement = walk->has_values ? WALK_NAMED : WALK_NAMED_KEYS;
		parameters_bytes(&parameters, last != NULL ? last->name : SLICE(""));
	} else {
		statement = walk->has_values ? WALK : WALK_KEYS;
		parameters_bytes(&parameters, last != NULL ? id_slice(&last->account) : SLICE(""));
		parameters_bytes(&parameters, last != NULL ? id_slice(&last->id) : SLICE(""));
	}
	parameters_number(&parameters, PORTION, 8);
	result = rows_add(own, statement, &parameters);
	if (!rows_fly(own, fault))
		return false;
	arena_reset(walk->arena);
	walk->at = 0;
	walk->count = wire_rows(own->wire, result);
	walk->is_last = walk->count < PORTION;
	for (size_t i = 0; i < walk->count; i++) {
		if (walk->has_values
			    ? !rows_read(walk->arena, own->wire, result, i, &letter,
					 &walk->records[i], fault)
			    : !read_row_key(walk->arena, own->wire, result, i,
					    rows_are_named(walk->kind), &walk->records[i], fault))
			return false;
	}
	return true;
}

struct store_cursor *rows_walk(struct transaction *transaction, const struct store_kind *kind,
			       bool has_values)
{
	struct walk *walk = memory_check(calloc(1, sizeof *walk));

	walk->kind = kind;
	walk->has_values = has_values;
	walk->arena = arena_open();
	arena_set_limit(walk->arena, SIZE_MAX);
	store_cursor_add(&walk->cursor, transaction);
	return &walk->cursor;
}

bool rows_next(struct store_cursor *cursor, struct store_record *record, struct fault *fault)
{
	struct walk *walk = (struct walk *)cursor;

	while (walk->at == walk->count)
		if (walk->is_last || !read_portion(walk, fault))
			return false;
	*record = walk->records[walk->at++];
	return true;
}

void rows_end_walk(struct store_cursor *cursor)
{
	struct walk *walk = (struct walk *)cursor;

	arena_close(walk->arena);
	free(walk);
}

bool rows_count(struct transaction *transaction, const struct store_kind *const *kinds, size_t n,
		uint64_t *counts, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	size_t end = 0; /* index after the last count in the flight */

	for (size_t i = 0; i < n; i++) {
		struct parameters parameters = PARAMETERS_INITIAL;

		rows_add_kind(&parameters, kinds[i]);
		end = rows_add(own, rows_are_named(kinds[i]) ? COUNT_NAMED : COUNT, &parameters) +
		      1;
	}
	if (!rows_fly(own, fault))
		return false;
	for (size_t i = 0; i < n; i++)
		counts[i] = wire_number(own->wire, end - n + i, 0, 0);
	return true;
}
