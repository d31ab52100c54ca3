/* All records of a kind, in portions, inside the snapshot of a READ transaction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/store_postgres_parts.h"

#define PORTION 256

static void add_portion(struct postgres_transaction *own, const struct store_kind *kind,
			bool wants_values, const struct store_record *after, size_t *result)
{
	const bool is_named = kind->naming == STORE_NAME_ANYWHERE;
	struct parameters parameters = PARAMETERS_INITIAL;

	parameters_number(&parameters, (unsigned char)kind->letter, 2);
	if (is_named) {
		parameters_bytes(&parameters, after->name.data != NULL ? after->name : SLICE(""));
	} else if (after->value.data == NULL) {
		parameters_bytes(&parameters, SLICE(""));
		parameters_bytes(&parameters, SLICE(""));
	} else {
		parameters_id(&parameters, &after->account);
		parameters_id(&parameters, &after->id);
	}
	parameters_number(&parameters, PORTION, 8);
	if (is_named)
		*result = rows_add(own, wants_values ? WALK_NAMED : WALK_NAMED_KEYS, &parameters);
	else
		*result = rows_add(own, wants_values ? WALK : WALK_KEYS, &parameters);
}

static bool read_key(struct arena *arena, const struct wire *wire, size_t result, size_t row,
		     bool is_named, struct store_record *record, struct fault *fault)
{
	const struct slice first = wire_bytes(wire, result, row, 0);
	struct slice second;

	*record = (struct store_record){ .is_on = false };
	if (is_named) {
		record->name = arena_copy(arena, first);
		return true;
	}
	second = wire_bytes(wire, result, row, 1);
	if (first.size != ID_SIZE || second.size != ID_SIZE)
		return fault_cause(fault, FAULT_DAMAGED, 0, "a record has a damaged key");
	memcpy(record->account.bytes, first.data, ID_SIZE);
	memcpy(record->id.bytes, second.data, ID_SIZE);
	return true;
}

/* The visitor may use the transaction, so the records of a portion are copied first. */
static bool walk_portion(struct postgres_transaction *own, const struct store_kind *kind,
			 bool wants_values, struct arena *arena, struct store_record *records,
			 size_t *n, struct fault *fault)
{
	const struct store_record after = *n > 0 ? records[*n - 1]
						 : (struct store_record){ .is_on = false };
	size_t result;
	char letter;

	add_portion(own, kind, wants_values, &after, &result);
	if (!rows_fly(own, fault))
		return false;
	arena_reset(arena);
	*n = wire_rows(own->wire, result);
	for (size_t i = 0; i < *n; i++) {
		if (wants_values
			    ? !rows_read(arena, own->wire, result, i, &letter, &records[i], fault)
			    : !read_key(arena, own->wire, result, i,
					kind->naming == STORE_NAME_ANYWHERE, &records[i], fault))
			return false;
	}
	return true;
}

static bool walk(struct transaction *transaction, const struct store_kind *kind, bool wants_values,
		 store_visit *visit, void *context, struct fault *fault)
{
	struct postgres_transaction *own = (struct postgres_transaction *)transaction;
	struct store_record records[PORTION];
	struct arena *arena = arena_open();
	bool goes_on = true;
	size_t n = 0;

	arena_set_limit(arena, SIZE_MAX);
	do {
		goes_on = walk_portion(own, kind, wants_values, arena, records, &n, fault);
		for (size_t i = 0; goes_on && i < n; i++) {
			goes_on = visit(context, &records[i], fault);
			/* A place to go on after, also where no value was read. */
			if (records[i].value.data == NULL)
				records[i].value = SLICE("key");
		}
	} while (goes_on && n == PORTION);
	arena_close(arena);
	return goes_on;
}

bool rows_walk(struct transaction *transaction, const struct store_kind *kind, store_visit *visit,
	       void *context, struct fault *fault)
{
	return walk(transaction, kind, true, visit, context, fault);
}

bool rows_walk_keys(struct transaction *transaction, const struct store_kind *kind,
		    store_visit *visit, void *context, struct fault *fault)
{
	return walk(transaction, kind, false, visit, context, fault);
}

bool rows_count(struct transaction *transaction, const struct store_kind *const *kinds, size_t n,
		uint64_t *counts, struct fault *fault)
{
	struct postgres_transaction *own = (struct postgres_transaction *)transaction;
	struct parameters parameters;
	size_t first = 0, result;

	for (size_t i = 0; i < n; i++) {
		parameters = PARAMETERS_INITIAL;
		parameters_number(&parameters, (unsigned char)kinds[i]->letter, 2);
		result = rows_add(own,
				  kinds[i]->naming == STORE_NAME_ANYWHERE ? COUNT_NAMED : COUNT,
				  &parameters);
		first = i == 0 ? result : first;
	}
	if (!rows_fly(own, fault))
		return false;
	for (size_t i = 0; i < n; i++)
		counts[i] = wire_number(own->wire, first + i, 0, 0);
	return true;
}
