/* Walks over all records of a kind, in portions, inside the snapshot of a READ transaction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/rows_parts.h"

#define PORTION 256

/* Adds a statement for the next portion. after: the last record before it, or NULL at the start. */
static size_t add_portion(struct postgres_transaction *own, const struct store_kind *kind,
			  bool wants_values, const struct store_record *after)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	rows_add_kind(&parameters, kind);
	if (rows_are_named(kind)) {
		parameters_bytes(&parameters, after != NULL ? after->name : SLICE(""));
		parameters_number(&parameters, PORTION, 8);
		return rows_add(own, wants_values ? WALK_NAMED : WALK_NAMED_KEYS, &parameters);
	}
	parameters_bytes(&parameters, after != NULL ? id_slice(&after->account) : SLICE(""));
	parameters_bytes(&parameters, after != NULL ? id_slice(&after->id) : SLICE(""));
	parameters_number(&parameters, PORTION, 8);
	return rows_add(own, wants_values ? WALK : WALK_KEYS, &parameters);
}

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

/* Copies the records of a portion first, because the visitor may use the transaction. */
static bool walk_portion(struct postgres_transaction *own, const struct store_kind *kind,
			 bool wants_values, struct arena *arena, struct store_record *records,
			 size_t *n, struct fault *fault)
{
	const struct store_record *after = *n > 0 ? &records[*n - 1] : NULL;
	const size_t result = add_portion(own, kind, wants_values, after);
	char letter;

	if (!rows_fly(own, fault))
		return false;
	arena_reset(arena);
	*n = wire_rows(own->wire, result);
	for (size_t i = 0; i < *n; i++) {
		if (wants_values
			    ? !rows_read(arena, own->wire, result, i, &letter, &records[i], fault)
			    : !read_row_key(arena, own->wire, result, i, rows_are_named(kind),
					    &records[i], fault))
			return false;
	}
	return true;
}

static bool walk_rows(struct transaction *transaction, const struct store_kind *kind,
		      bool wants_values, store_visit *visit, void *context, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	struct store_record records[PORTION];
	struct arena *arena = arena_open();
	bool goes_on;
	size_t n = 0;

	arena_set_limit(arena, SIZE_MAX);
	do {
		goes_on = walk_portion(own, kind, wants_values, arena, records, &n, fault);
		for (size_t i = 0; goes_on && i < n; i++)
			goes_on = visit(context, &records[i], fault);
	} while (goes_on && n == PORTION);
	arena_close(arena);
	return goes_on;
}

bool rows_walk(struct transaction *transaction, const struct store_kind *kind, store_visit *visit,
	       void *context, struct fault *fault)
{
	return walk_rows(transaction, kind, true, visit, context, fault);
}

bool rows_walk_keys(struct transaction *transaction, const struct store_kind *kind,
		    store_visit *visit, void *context, struct fault *fault)
{
	return walk_rows(transaction, kind, false, visit, context, fault);
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
