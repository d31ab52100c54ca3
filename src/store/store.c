/* The store's interface: checks by assert what every caller owes to every driver, keeps what is the
 * same for all of them (whether a transaction changed something, what one that did not answers on
 * commit), and passes the rest on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <assert.h>
#include <time.h>

#include "store/figures.h"

static bool key_is_valid(enum store_table table, struct slice key)
{
	return table < STORE_TABLE_COUNT && key.data != NULL && key.size <= STORE_KEY_MAX;
}

bool store_begin(struct store *store, enum store_access access, struct arena *arena,
		 struct transaction **transaction, struct fault *fault)
{
	if (!store->driver->begin(store, access, arena, transaction, fault))
		return false;
	assert((*transaction)->store == store && (*transaction)->arena == arena);
	assert((*transaction)->access == access && !(*transaction)->has_changes);
	return true;
}

bool store_get(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice *value, struct fault *fault)
{
	assert(key_is_valid(table, key));
	*value = (struct slice){ NULL, 0 };
	return transaction->store->driver->get(transaction, table, key, value, fault);
}

bool store_put(struct transaction *transaction, enum store_table table, struct slice key,
	       struct slice value, struct fault *fault)
{
	assert(transaction->access == STORE_WRITE);
	assert(key_is_valid(table, key));
	assert(value.data != NULL && value.size <= STORE_VALUE_MAX);
	if (!transaction->store->driver->put(transaction, table, key, value, fault))
		return false;
	transaction->has_changes = true;
	return true;
}

bool store_remove(struct transaction *transaction, enum store_table table, struct slice key,
		  struct fault *fault)
{
	assert(transaction->access == STORE_WRITE);
	assert(key_is_valid(table, key));
	if (!transaction->store->driver->remove(transaction, table, key, fault))
		return false;
	transaction->has_changes = true;
	return true;
}

uint64_t store_number(const struct transaction *transaction)
{
	return transaction->number;
}

uint64_t store_seen(const struct transaction *transaction)
{
	return transaction->access == STORE_WRITE ? transaction->number - 1 : transaction->number;
}

bool store_commit(struct transaction *transaction, uint64_t *number, struct fault *fault)
{
	if (!transaction->has_changes) {
		*number = store_seen(transaction);
		store_abandon(transaction);
		return true;
	}
	return transaction->store->driver->commit(transaction, number, fault);
}

void store_abandon(struct transaction *transaction)
{
	transaction->store->driver->abandon(transaction);
}

enum store_state store_state(struct store *store, uint64_t number)
{
	return store->driver->state(store, number);
}

bool store_flush(struct store *store)
{
	return store->driver->flush(store);
}

bool store_wait(struct store *store, uint64_t number, struct fault *fault)
{
	/* About half of what a disk takes for a sync: the thread that is flushing wakes nobody. */
	const struct timespec pause = { .tv_nsec = 50000 };

	for (;;) {
		switch (store_state(store, number)) {
		case STORE_DURABLE:
			return true;
		case STORE_FAILED:
			return fault_set(fault, FAULT_UNAVAILABLE, NULL);
		case STORE_PENDING:
			break;
		}
		if (!store_flush(store))
			nanosleep(&pause, NULL);
	}
}

bool store_can_write(struct store *store)
{
	return store->driver->can_write(store);
}

bool store_figures(struct store *store, struct store_figures *figures)
{
	*figures = (struct store_figures){ .durable = 0 };
	if (store->driver->figures == NULL)
		return false;
	store->driver->figures(store, figures);
	return true;
}

void store_close(struct store *store)
{
	if (store != NULL)
		store->driver->close(store);
}

char store_table_letter(enum store_table table)
{
	static const char letters[] = {
#define STORE_TABLE(name, letter, doc) [STORE_##name] = (letter),
		STORE_TABLES(STORE_TABLE)
#undef STORE_TABLE
	};

	assert(table < STORE_TABLE_COUNT);
	return letters[table];
}

const char *store_table_name(enum store_table table)
{
	static const char *const names[] = {
#define STORE_TABLE(name, letter, doc) [STORE_##name] = #name,
		STORE_TABLES(STORE_TABLE)
#undef STORE_TABLE
	};

	assert(table < STORE_TABLE_COUNT);
	return names[table];
}
