/* Numbered transactions: each puts or removes a few of a small set of keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "numbered.h"

#include "directory.h"
#include "store/gdbm/entries.h"

#define KEYS 40
#define TOUCHED 3
#define VALUE_MAX 600

static struct slice value_of(uint64_t number, const struct history *history,
			     char bytes[VALUE_MAX + 8])
{
	const bool is_second = number > history->cuts[0];
	const bool is_third = number > history->cuts[1];
	uint64_t seed = number * 4 + is_second + 2u * is_third;
	const size_t size = 8 + chance_below(&seed, VALUE_MAX - 8);

	memcpy(bytes, &number, 8);
	for (size_t i = 8; i < size; i += 8) {
		const uint64_t drawn = chance(&seed);

		memcpy(bytes + i, &drawn, 8);
	}
	return (struct slice){ bytes, size };
}

/* Returns the i-th key that a transaction changes; sets *is_removal if it removes the key. */
static uint64_t key_of(uint64_t number, unsigned i, bool *is_removal)
{
	uint64_t seed = number * TOUCHED + i;
	const uint64_t drawn = chance(&seed);

	*is_removal = drawn / KEYS % 4 == 0;
	return drawn % KEYS;
}

static enum store_table table_of(uint64_t key)
{
	return (enum store_table)(key % STORE_TABLE_COUNT);
}

bool numbered_begin(struct store *store, struct arena *arena, const struct history *history,
		    struct transaction **transaction, struct fault *fault)
{
	char bytes[VALUE_MAX + 8];
	bool is_done = true;

	if (!store_begin(store, STORE_WRITE, arena, transaction, fault))
		return false;
	for (unsigned i = 0; i < TOUCHED && is_done; i++) {
		const uint64_t number = (*transaction)->number;
		bool is_removal;
		const uint64_t key = key_of(number, i, &is_removal);
		const struct slice name = { (const char *)&key, sizeof key };

		is_done = is_removal ? entry_remove(*transaction, table_of(key), name, fault)
				     : entry_put(*transaction, table_of(key), name,
						 value_of(number, history, bytes), fault);
	}
	if (!is_done)
		store_abandon(*transaction);
	return is_done;
}

/* Returns the expected value of a key in the state of this number. */
static struct slice expected_of(uint64_t key, uint64_t number, const struct history *history,
				char bytes[VALUE_MAX + 8])
{
	for (; number > 0; number--) {
		for (unsigned i = TOUCHED; i-- > 0;) {
			bool is_removal;

			if (key_of(number, i, &is_removal) != key)
				continue;
			return is_removal ? (struct slice){ NULL, 0 }
					  : value_of(number, history, bytes);
		}
	}
	return (struct slice){ NULL, 0 };
}

const char *numbered_wrong(struct transaction *transaction, const struct history *history,
			   struct fault *fault)
{
	for (uint64_t key = 0; key < KEYS; key++) {
		char bytes[VALUE_MAX + 8];
		const struct slice expected = expected_of(key, store_seen(transaction), history,
							  bytes);
		struct slice value;

		if (!entry_get(transaction, table_of(key),
			       (struct slice){ (const char *)&key, sizeof key }, &value, fault))
			return "a key cannot be read";
		if ((value.data == NULL) != (expected.data == NULL) ||
		    !slice_equal(value, expected))
			return "a key does not have the expected value";
	}
	return NULL;
}
