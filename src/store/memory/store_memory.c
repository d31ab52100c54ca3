/* The driver for tests: one array of pointers to versions, sorted by table, key and the number of
 * the transaction that wrote the version; a removal is a version without a value. A WRITE
 * transaction puts its versions straight into the array: nobody else sees a number that is not
 * durable, and abandoning takes them out again. Versions are kept until the store is closed.
 *
 * `writer` is held from the begin to the end of a WRITE transaction, `lock` only while the array or
 * one of the two numbers is touched, and never while waiting for `writer`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/memory/store_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct version {
	enum store_table table;
	uint64_t number;
	bool is_removal;
	size_t key_size;
	size_t value_size;
	char bytes[]; /* the key, then the value */
};

struct store_memory {
	struct store store;
	pthread_mutex_t writer;
	pthread_mutex_t lock;
	struct version **versions;
	size_t n;
	size_t capacity;
	uint64_t newest; /* the last committed transaction */
	atomic_uint_least64_t durable;
};

static struct store_memory *memory_of(struct store *store)
{
	return (struct store_memory *)store;
}

static void *memory_checked(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static int version_compare(const struct version *version, enum store_table table, struct slice key)
{
	const size_t common = version->key_size < key.size ? version->key_size : key.size;
	int order;

	if (version->table != table)
		return version->table < table ? -1 : 1;
	order = common == 0 ? 0 : memcmp(version->bytes, key.data, common);
	if (order != 0)
		return order;
	return (version->key_size > key.size) - (version->key_size < key.size);
}

/* How many versions stand at or before (table, key, number). The one before that place is the
 * newest that a transaction of this number sees, if it is of this key at all. */
static size_t version_place(const struct store_memory *memory, enum store_table table,
			    struct slice key, uint64_t number)
{
	size_t low = 0;
	size_t high = memory->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = version_compare(memory->versions[middle], table, key);

		if (order < 0 || (order == 0 && memory->versions[middle]->number <= number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool memory_begin(struct store *store, enum store_access access, struct arena *arena,
			 struct transaction **transaction, struct fault *fault)
{
	struct store_memory *memory = memory_of(store);

	(void)fault;
	*transaction = arena_zero(arena, sizeof **transaction);
	(*transaction)->store = store;
	(*transaction)->arena = arena;
	(*transaction)->access = access;
	if (access == STORE_WRITE) {
		pthread_mutex_lock(&memory->writer);
		pthread_mutex_lock(&memory->lock);
		(*transaction)->number = memory->newest + 1;
		pthread_mutex_unlock(&memory->lock);
	} else {
		(*transaction)->number = atomic_load(&memory->durable);
	}
	return true;
}

static bool memory_get(struct transaction *transaction, enum store_table table, struct slice key,
		       struct slice *value, struct fault *fault)
{
	struct store_memory *memory = memory_of(transaction->store);
	const struct version *version = NULL;
	size_t place;

	pthread_mutex_lock(&memory->lock);
	place = version_place(memory, table, key, transaction->number);
	if (place > 0 && version_compare(memory->versions[place - 1], table, key) == 0)
		version = memory->versions[place - 1];
	pthread_mutex_unlock(&memory->lock);

	/* A version that somebody can see stays as it is until the store is closed. */
	if (version == NULL || version->is_removal)
		return true;
	if (!arena_fits(transaction->arena, version->value_size + 1))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	*value = arena_copy(transaction->arena, (struct slice){ version->bytes + version->key_size,
								version->value_size });
	return true;
}

static void memory_insert(struct store_memory *memory, size_t place, struct version *version)
{
	if (memory->n == memory->capacity) {
		memory->capacity = memory->capacity == 0 ? 64 : memory->capacity * 2;
		memory->versions = memory_checked(
			realloc(memory->versions, memory->capacity * sizeof memory->versions[0]));
	}
	memmove(&memory->versions[place + 1], &memory->versions[place],
		(memory->n - place) * sizeof memory->versions[0]);
	memory->versions[place] = version;
	memory->n++;
}

/* `value` with data NULL is a removal. */
static void memory_write(struct transaction *transaction, enum store_table table, struct slice key,
			 struct slice value)
{
	struct store_memory *memory = memory_of(transaction->store);
	struct version *version = memory_checked(malloc(sizeof *version + key.size + value.size));
	size_t place;

	version->table = table;
	version->number = transaction->number;
	version->is_removal = value.data == NULL;
	version->key_size = key.size;
	version->value_size = value.size;
	if (key.size > 0)
		memcpy(version->bytes, key.data, key.size);
	if (value.size > 0)
		memcpy(version->bytes + key.size, value.data, value.size);

	pthread_mutex_lock(&memory->lock);
	place = version_place(memory, table, key, transaction->number);
	if (place > 0 && memory->versions[place - 1]->number == transaction->number &&
	    version_compare(memory->versions[place - 1], table, key) == 0) {
		free(memory->versions[place - 1]);
		memory->versions[place - 1] = version;
	} else {
		memory_insert(memory, place, version);
	}
	pthread_mutex_unlock(&memory->lock);
}

static bool memory_put(struct transaction *transaction, enum store_table table, struct slice key,
		       struct slice value, struct fault *fault)
{
	(void)fault;
	memory_write(transaction, table, key, value);
	return true;
}

static bool memory_remove(struct transaction *transaction, enum store_table table, struct slice key,
			  struct fault *fault)
{
	(void)fault;
	memory_write(transaction, table, key, (struct slice){ NULL, 0 });
	return true;
}

static bool memory_commit(struct transaction *transaction, uint64_t *number, struct fault *fault)
{
	struct store_memory *memory = memory_of(transaction->store);

	(void)fault;
	pthread_mutex_lock(&memory->lock);
	memory->newest = transaction->number;
	pthread_mutex_unlock(&memory->lock);
	*number = transaction->number;
	pthread_mutex_unlock(&memory->writer);
	return true;
}

static void memory_abandon(struct transaction *transaction)
{
	struct store_memory *memory = memory_of(transaction->store);
	size_t kept = 0;

	if (transaction->access == STORE_READ)
		return;
	pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i < memory->n && transaction->has_changes; i++) {
		if (memory->versions[i]->number == transaction->number)
			free(memory->versions[i]);
		else
			memory->versions[kept++] = memory->versions[i];
	}
	if (transaction->has_changes)
		memory->n = kept;
	pthread_mutex_unlock(&memory->lock);
	pthread_mutex_unlock(&memory->writer);
}

static enum store_state memory_state(struct store *store, uint64_t number)
{
	return number <= atomic_load(&memory_of(store)->durable) ? STORE_DURABLE : STORE_PENDING;
}

static bool memory_flush(struct store *store)
{
	struct store_memory *memory = memory_of(store);

	pthread_mutex_lock(&memory->lock);
	atomic_store(&memory->durable, memory->newest);
	pthread_mutex_unlock(&memory->lock);
	return true;
}

static bool memory_can_write(struct store *store)
{
	(void)store;
	return true;
}

static void memory_close(struct store *store)
{
	struct store_memory *memory = memory_of(store);

	for (size_t i = 0; i < memory->n; i++)
		free(memory->versions[i]);
	free(memory->versions);
	pthread_mutex_destroy(&memory->lock);
	pthread_mutex_destroy(&memory->writer);
	free(memory);
}

static const struct store_driver memory_driver = {
	.name = "memory",
	.begin = memory_begin,
	.get = memory_get,
	.put = memory_put,
	.remove = memory_remove,
	.commit = memory_commit,
	.abandon = memory_abandon,
	.state = memory_state,
	.flush = memory_flush,
	.can_write = memory_can_write,
	.close = memory_close,
};

struct store *store_memory_open(void)
{
	struct store_memory *memory = memory_checked(calloc(1, sizeof *memory));

	memory->store.driver = &memory_driver;
	pthread_mutex_init(&memory->writer, NULL);
	pthread_mutex_init(&memory->lock, NULL);
	atomic_init(&memory->durable, 0);
	return &memory->store;
}
