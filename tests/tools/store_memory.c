/* The driver for tests: for each kind an array of versions, sorted by record and by the number of
 * the transaction that wrote the version; a removal is a version without a value. A WRITE
 * transaction puts its versions into the arrays immediately: no other transaction sees its number
 * before it is durable, and abandoning the transaction removes its versions. Versions are kept
 * until the store is closed. There are no indexes: names and pages are found by reading all records
 * of the kind and the account.
 *
 * `writer` is locked from the beginning to the end of a WRITE transaction; `lock` while an array or
 * one of the two numbers is used, and never while waiting for `writer`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store_memory.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

struct version {
	char letter;
	bool is_global; /* the key is the name; otherwise account and ID */
	bool is_counter; /* counts the IDs of account and kind */
	bool is_removal;
	bool is_on;
	struct id account, id, parent;
	int64_t ends;
	uint64_t number;
	/* Of its record and of its name, to tell most others apart quickly; 0 in a key. */
	uint64_t hash, name_hash;
	size_t name_size, value_size;
	char bytes[]; /* the name, followed by the value */
};

struct array {
	struct version **versions;
	size_t n;
	size_t capacity;
};

struct store_memory {
	struct store store;
	pthread_mutex_t writer;
	pthread_mutex_t lock;
	struct array arrays[UCHAR_MAX + 1]; /* by the letter of the kind */
	uint64_t newest; /* last committed transaction */
	atomic_uint_least64_t durable;
};

/* The highest number that counts if a record brings its own ID: imported IDs have random
 * numbers. */
#define NUMBER_COUNTED_MOST (ID_NUMBER_MAX / 2)

struct counter {
	uint64_t number;
	int64_t time; /* milliseconds */
};

static struct store_memory *memory_of(struct store *store)
{
	return (struct store_memory *)store;
}

static struct slice name_of(const struct version *version)
{
	return (struct slice){ version->bytes, version->name_size };
}

static struct array *array_of(struct store_memory *memory, char letter)
{
	return &memory->arrays[(unsigned char)letter];
}

/* Compares two versions of one kind by record, without regard to the number. */
static int compare_records(const struct version *a, const struct version *b)
{
	int order = a->is_counter - b->is_counter;

	if (order == 0 && a->is_global)
		return slice_compare(name_of(a), name_of(b));
	if (order == 0)
		order = id_compare(&a->account, &b->account);
	return order != 0 ? order : id_compare(&a->id, &b->id);
}

/* Returns the number of versions at or before this one. */
static size_t place_of(const struct array *array, const struct version *version)
{
	size_t low = 0, high = array->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = compare_records(array->versions[middle], version);

		if (order < 0 || (order == 0 && array->versions[middle]->number <= version->number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#define HASH_INITIAL UINT64_C(0xcbf29ce484222325)

/* FNV-1a. */
static uint64_t hash_further(uint64_t hash, struct slice bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		hash = (hash ^ (unsigned char)bytes.data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_of(const struct version *version)
{
	if (version->is_global)
		return version->name_hash;
	return hash_further(hash_further(HASH_INITIAL, id_slice(&version->account)),
			    id_slice(&version->id));
}

static struct version *version_make(struct transaction *transaction, const struct store_kind *kind,
				    const struct store_record *record)
{
	const struct slice name = kind->naming == STORE_NO_NAME ? (struct slice){ NULL, 0 }
								: record->name;
	struct version *version =
		memory_check(calloc(1, sizeof *version + name.size + record->value.size));

	version->letter = kind->letter;
	version->is_global = kind->naming == STORE_NAME_ANYWHERE;
	version->account = transaction->account;
	version->id = record->id;
	version->parent = record->parent;
	version->is_on = record->is_on;
	version->ends = record->ends;
	version->number = transaction->number;
	version->name_size = name.size;
	version->value_size = record->value.size;
	if (name.size > 0)
		memcpy(version->bytes, name.data, name.size);
	if (record->value.size > 0)
		memcpy(version->bytes + version->name_size, record->value.data, record->value.size);
	version->name_hash = hash_further(HASH_INITIAL, name);
	version->hash = hash_of(version);
	return version;
}

/* Puts a version into an array, in place of an earlier version of the record by the same
 * transaction. Requires the lock. */
static void insert(struct array *array, struct version *version)
{
	size_t place = place_of(array, version);

	if (place > 0 && array->versions[place - 1]->number == version->number &&
	    compare_records(array->versions[place - 1], version) == 0) {
		free(array->versions[place - 1]);
		array->versions[place - 1] = version;
		return;
	}
	if (array->n == array->capacity) {
		array->capacity = array->capacity == 0 ? 64 : array->capacity * 2;
		array->versions = memory_check(
			realloc(array->versions, array->capacity * sizeof(struct version *)));
	}
	memmove(&array->versions[place + 1], &array->versions[place],
		(array->n - place) * sizeof(struct version *));
	array->versions[place] = version;
	array->n++;
}

static void write_version(struct transaction *transaction, struct version *version)
{
	struct store_memory *memory = memory_of(transaction->store);

	pthread_mutex_lock(&memory->lock);
	insert(array_of(memory, version->letter), version);
	pthread_mutex_unlock(&memory->lock);
}

/* Returns the version of a record that the transaction sees, or NULL if there is no such record. */
static const struct version *find(struct transaction *transaction, const struct version *wanted)
{
	struct store_memory *memory = memory_of(transaction->store);
	const struct array *array = array_of(memory, wanted->letter);
	const struct version *version = NULL;
	size_t place;

	pthread_mutex_lock(&memory->lock);
	place = place_of(array, wanted);
	if (place > 0 && compare_records(array->versions[place - 1], wanted) == 0)
		version = array->versions[place - 1];
	pthread_mutex_unlock(&memory->lock);
	/* A version that a transaction can see does not change until the store is closed. */
	return version == NULL || version->is_removal ? NULL : version;
}

static bool give(struct arena *arena, const struct version *version, struct store_record *record,
		 struct fault *fault)
{
	*record = (struct store_record){ .is_on = false };
	if (version == NULL)
		return true;
	if (!arena_fits(arena, version->name_size + version->value_size + 2))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	record->account = version->account;
	record->id = version->id;
	record->parent = version->parent;
	record->is_on = version->is_on;
	record->ends = version->ends;
	record->name = arena_copy(arena, name_of(version));
	record->value = arena_copy(
		arena, (struct slice){ version->bytes + version->name_size, version->value_size });
	return true;
}

/* Returns all records of a kind that the transaction sees, in the order of their keys; the
 * caller frees the array. Only those of the account, unless that is NULL or the keys are names. */
static const struct version **all_of(struct transaction *transaction, const struct store_kind *kind,
				     const struct id *account, size_t *n)
{
	struct store_memory *memory = memory_of(transaction->store);
	const bool is_global = kind->naming == STORE_NAME_ANYWHERE || account == NULL;
	const struct version lowest = {
		.letter = kind->letter,
		.is_global = kind->naming == STORE_NAME_ANYWHERE,
		.account = is_global ? (struct id){ .bytes = { 0 } } : *account,
	};
	const struct version **found = NULL, *visible = NULL;
	const struct array *array = array_of(memory, kind->letter);
	size_t begin, end;

	*n = 0;
	pthread_mutex_lock(&memory->lock);
	begin = place_of(array, &lowest);
	for (end = begin; end < array->n; end++) {
		const struct version *version = array->versions[end];

		if (version->is_counter ||
		    (!is_global && id_compare(&version->account, &lowest.account) != 0))
			break;
	}
	found = memory_check(malloc((end - begin + 1) * sizeof(const struct version *)));
	for (size_t i = begin; i <= end; i++) {
		const struct version *version = i < end ? array->versions[i] : NULL;

		if (visible != NULL && (version == NULL || visible->hash != version->hash ||
					compare_records(visible, version) != 0)) {
			if (!visible->is_removal)
				found[(*n)++] = visible;
			visible = NULL;
		}
		if (version != NULL && version->number <= transaction->number)
			visible = version;
	}
	pthread_mutex_unlock(&memory->lock);
	return found;
}

static bool memory_begin(struct store *store, enum store_access access, struct arena *arena,
			 struct transaction **transaction, struct fault *fault)
{
	struct store_memory *memory = memory_of(store);
	struct transaction *begun = arena_alloc(arena, sizeof *begun);

	(void)fault;
	*begun = (struct transaction){ .store = store, .arena = arena, .access = access };
	if (access == STORE_WRITE)
		pthread_mutex_lock(&memory->writer);
	/* Only the writer changes the newest number. */
	begun->number = access == STORE_WRITE ? memory->newest + 1 : atomic_load(&memory->durable);
	*transaction = begun;
	return true;
}

static bool memory_get(struct transaction *transaction, const struct store_kind *kind,
		       const struct id *id, enum store_reading reading, struct store_record *record,
		       struct fault *fault)
{
	const struct version wanted = {
		.letter = kind->letter,
		.account = transaction->account,
		.id = *id,
		.number = transaction->number,
	};

	(void)reading;
	return give(transaction->arena, find(transaction, &wanted), record, fault);
}

/* True if no later version of the same record, which the transaction sees, comes after it. Requires
 * the lock. */
static bool is_latest(const struct transaction *transaction, const struct array *array, size_t i)
{
	return i + 1 == array->n || array->versions[i + 1]->number > transaction->number ||
	       compare_records(array->versions[i], array->versions[i + 1]) != 0;
}

static const struct version *find_named(struct transaction *transaction,
					const struct store_kind *kind, struct slice name)
{
	struct store_memory *memory = memory_of(transaction->store);
	const struct array *array = array_of(memory, kind->letter);
	const struct store_record wanted = { .name = name };
	const uint64_t hash = hash_further(HASH_INITIAL, name);
	const struct version *found = NULL;

	if (kind->naming == STORE_NAME_ANYWHERE) {
		struct version *key = version_make(transaction, kind, &wanted);

		found = find(transaction, key);
		free(key);
		return found;
	}
	pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i < array->n && found == NULL; i++) {
		const struct version *version = array->versions[i];

		if (version->name_hash == hash && slice_equal(name_of(version), name) &&
		    !version->is_counter && !version->is_removal &&
		    version->number <= transaction->number &&
		    id_compare(&version->account, &transaction->account) == 0 &&
		    is_latest(transaction, array, i))
			found = version;
	}
	pthread_mutex_unlock(&memory->lock);
	return found;
}

static bool memory_get_named(struct transaction *transaction, const struct store_kind *kind,
			     struct slice name, enum store_reading reading,
			     struct store_record *record, struct fault *fault)
{
	(void)reading;
	return give(transaction->arena, find_named(transaction, kind, name), record, fault);
}

/* ---- pages ---- */

static bool is_wanted(const struct transaction *transaction, const struct store_page *page,
		      const struct version *version)
{
	const struct slice name = name_of(version);

	if (id_compare(&version->account, &transaction->account) != 0)
		return false;
	if (page->order == STORE_BY_END)
		return version->ends != 0 && version->ends <= page->until;
	if (page->order == STORE_BY_NAME)
		return slice_begins(name, page->prefix) &&
		       (page->after.size == 0 || slice_compare(name, page->after) > 0);
	return (page->parent == NULL || id_compare(&version->parent, page->parent) == 0) &&
	       (page->side == STORE_BOTH_SIDES || version->is_on == (page->side == STORE_ON)) &&
	       (page->above == NULL || id_compare(&version->id, page->above) > 0) &&
	       (page->below == NULL || id_compare(&version->id, page->below) < 0);
}

static int newest_first(const void *a, const void *b)
{
	const struct version *const *first = a, *const *second = b;

	return id_compare(&(*second)->id, &(*first)->id);
}

static int oldest_first(const void *a, const void *b)
{
	return newest_first(b, a);
}

static int by_name(const void *a, const void *b)
{
	const struct version *const *first = a, *const *second = b;

	return slice_compare(name_of(*first), name_of(*second));
}

static int by_end(const void *a, const void *b)
{
	const struct version *const *first = a, *const *second = b;

	return (*first)->ends != (*second)->ends ? ((*first)->ends > (*second)->ends ? 1 : -1)
						 : oldest_first(a, b);
}

static bool memory_page(struct transaction *transaction, const struct store_kind *kind,
			struct store_page *page, struct fault *fault)
{
	int (*const orders[])(const void *, const void *) = {
		[STORE_NEWEST_FIRST] = newest_first,
		[STORE_OLDEST_FIRST] = oldest_first,
		[STORE_BY_NAME] = by_name,
		[STORE_BY_END] = by_end,
	};
	const struct version **versions;
	size_t all, n = 0, bytes = 0;
	bool is_given = true;

	versions = all_of(transaction, kind, &transaction->account, &all);
	for (size_t i = 0; i < all; i++) {
		if (is_wanted(transaction, page, versions[i]))
			versions[n++] = versions[i];
	}
	if (n > 0)
		qsort(versions, n, sizeof *versions, orders[page->order]);
	while (is_given && page->count < n && page->count < page->most &&
	       (page->bytes_most == 0 || bytes <= page->bytes_most)) {
		struct store_record *record = &page->records[page->count];

		is_given = give(transaction->arena, versions[page->count], record, fault);
		bytes += record->value.size;
		page->count += is_given;
	}
	page->is_last = page->count == n;
	free(versions);
	return is_given;
}

static bool memory_has_children(struct transaction *transaction, const struct store_kind *kind,
				const struct id *parent, bool *has_children, struct fault *fault)
{
	struct store_record record;
	struct store_page page = { .parent = parent, .records = &record, .most = 1 };

	if (!memory_page(transaction, kind, &page, fault))
		return false;
	*has_children = page.count > 0;
	return true;
}

struct walk {
	struct store_cursor cursor;
	bool is_named;
	bool has_values;
	const struct version **versions; /* from malloc */
	size_t count, at;
	struct arena *arena; /* holds the record */
};

static struct store_cursor *memory_walk(struct transaction *transaction,
					const struct store_kind *kind, bool has_values)
{
	struct walk *walk = memory_check(calloc(1, sizeof *walk));

	walk->is_named = kind->naming == STORE_NAME_ANYWHERE;
	walk->has_values = has_values;
	walk->versions = all_of(transaction, kind, NULL, &walk->count);
	walk->arena = arena_open();
	store_cursor_add(&walk->cursor, transaction);
	return &walk->cursor;
}

static bool memory_next(struct store_cursor *cursor, struct store_record *record,
			struct fault *fault)
{
	struct walk *walk = (struct walk *)cursor;
	struct store_record whole;

	if (walk->at == walk->count)
		return false;
	arena_reset(walk->arena);
	if (!give(walk->arena, walk->versions[walk->at++], &whole, fault))
		return false;
	if (walk->has_values)
		*record = whole;
	else if (walk->is_named)
		*record = (struct store_record){ .name = whole.name };
	else
		*record = (struct store_record){ .account = whole.account, .id = whole.id };
	return true;
}

static void memory_end_walk(struct store_cursor *cursor)
{
	struct walk *walk = (struct walk *)cursor;

	arena_close(walk->arena);
	free(walk->versions);
	free(walk);
}

/* ---- new ids ---- */

static struct version counter_key(const struct transaction *transaction,
				  const struct store_kind *kind)
{
	return (struct version){
		.letter = kind->letter,
		.is_counter = true,
		.account = transaction->account,
		.number = transaction->number,
	};
}

static struct counter counter_read(struct transaction *transaction, const struct store_kind *kind)
{
	const struct version wanted = counter_key(transaction, kind);
	const struct version *version = find(transaction, &wanted);
	struct counter counter = { 0, 0 };

	if (version != NULL)
		memcpy(&counter, version->bytes, sizeof counter);
	return counter;
}

static void counter_write(struct transaction *transaction, const struct store_kind *kind,
			  const struct counter *counter)
{
	struct version *version = memory_check(calloc(1, sizeof *version + sizeof *counter));

	*version = counter_key(transaction, kind);
	memcpy(version->bytes, counter, sizeof *counter);
	write_version(transaction, version);
}

static bool memory_new_id(struct transaction *transaction, const struct store_kind *kind,
			  const struct clock *clock, int64_t *now, struct id *id,
			  struct fault *fault)
{
	struct counter counter = counter_read(transaction, kind);

	(void)fault;
	if (*now < counter.time)
		*now = counter.time;
	if (*now > ID_TIME_MAX)
		*now = ID_TIME_MAX;
	counter.time = *now;
	counter.number++;
	*id = id_make(clock, (uint32_t)(*now / 1000), counter.number);
	counter_write(transaction, kind, &counter);
	return true;
}

static void count_id(struct transaction *transaction, const struct store_kind *kind,
		     const struct id *id)
{
	const bool counts = id_number(id) <= NUMBER_COUNTED_MOST;
	/* New IDs begin with the next second if only that makes them higher. */
	const int64_t seconds = (int64_t)id_seconds(id) + (counts ? 0 : 1);
	struct counter counter = counter_read(transaction, kind);

	if (seconds > counter.time / 1000)
		counter.time = seconds * 1000;
	if (counts && id_number(id) > counter.number)
		counter.number = id_number(id);
	counter_write(transaction, kind, &counter);
}

/* ---- writing ---- */

static bool memory_remove(struct transaction *transaction, const struct store_kind *kind,
			  const struct store_record *record, struct fault *fault)
{
	struct version *version = version_make(transaction, kind, record);

	(void)fault;
	version->is_removal = true;
	write_version(transaction, version);
	return true;
}

static bool memory_put(struct transaction *transaction, const struct store_kind *kind,
		       const struct store_record *record, const struct store_record *former,
		       struct fault *fault)
{
	const bool is_renamed = kind->naming != STORE_NO_NAME &&
				(former == NULL || !slice_equal(former->name, record->name));

	if (is_renamed && find_named(transaction, kind, record->name) != NULL)
		return fault_set(fault, FAULT_AGAIN, NULL);
	if (former == NULL && kind->has_ids)
		count_id(transaction, kind, &record->id);
	if (is_renamed && former != NULL && kind->naming == STORE_NAME_ANYWHERE)
		(void)memory_remove(transaction, kind, former, fault);
	write_version(transaction, version_make(transaction, kind, record));
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

/* Removes the versions that a transaction wrote. */
static void forget(struct array *array, uint64_t number)
{
	size_t kept = 0;

	for (size_t i = 0; i < array->n; i++) {
		if (array->versions[i]->number == number)
			free(array->versions[i]);
		else
			array->versions[kept++] = array->versions[i];
	}
	array->n = kept;
}

static void memory_abandon(struct transaction *transaction)
{
	struct store_memory *memory = memory_of(transaction->store);

	if (transaction->access == STORE_READ)
		return;
	pthread_mutex_lock(&memory->lock);
	for (size_t i = 0; i <= UCHAR_MAX; i++)
		forget(&memory->arrays[i], transaction->number);
	pthread_mutex_unlock(&memory->lock);
	pthread_mutex_unlock(&memory->writer);
}

static enum store_state memory_state(struct store *store, uint64_t number)
{
	return number <= atomic_load(&memory_of(store)->durable) ? STORE_DURABLE : STORE_PENDING;
}

static void memory_flush(struct store *store)
{
	struct store_memory *memory = memory_of(store);

	pthread_mutex_lock(&memory->lock);
	atomic_store(&memory->durable, memory->newest);
	pthread_mutex_unlock(&memory->lock);
}

static bool memory_can_write(struct store *store)
{
	(void)store;
	return true;
}

static void memory_close(struct store *store)
{
	struct store_memory *memory = memory_of(store);

	for (size_t i = 0; i <= UCHAR_MAX; i++) {
		for (size_t n = 0; n < memory->arrays[i].n; n++)
			free(memory->arrays[i].versions[n]);
		free(memory->arrays[i].versions);
	}
	pthread_mutex_destroy(&memory->lock);
	pthread_mutex_destroy(&memory->writer);
	free(memory);
}

static const struct store_driver memory_driver = {
	.name = "memory",
	.begin = memory_begin,
	.get = memory_get,
	.get_named = memory_get_named,
	.page = memory_page,
	.has_children = memory_has_children,
	.walk = memory_walk,
	.next = memory_next,
	.end_walk = memory_end_walk,
	.new_id = memory_new_id,
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
	struct store_memory *memory = memory_check(calloc(1, sizeof *memory));

	memory->store.driver = &memory_driver;
	pthread_mutex_init(&memory->writer, NULL);
	pthread_mutex_init(&memory->lock, NULL);
	atomic_init(&memory->durable, 0);
	return &memory->store;
}
