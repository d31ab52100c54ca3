/* See records.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/records.h"

#include <assert.h>

#include "base/encode.h"
#include "base/text.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/store_gdbm_parts.h"

/* The first letters of the trees' names. The trees index an account's records of a kind by name, by
 * id (which is the order of creation), by parent and id, and by end and id. */
#define BY_NAME 'n'
#define BY_ID 'm'
#define BY_PARENT 'c'
#define BY_END 'e'

#define SIDES 2
#define COUNTER_SIZE (8 + 8)
#define END_SIZE 8
/* Imported ids have random numbers: numbers above this one are not counted. */
#define NUMBER_COUNTED_MOST (ID_NUMBER_MAX / 2)

static_assert(2 + ID_SIZE <= BTREE_NAME_MAX, "the name of a tree fits");
static_assert(STORE_NAME_MAX <= UINT8_MAX, "the size of a record's name is a byte");

/* ---- keys and values ---- */

static bool is_global(const struct store_kind *kind)
{
	return kind->naming == STORE_NAME_ANYWHERE;
}

enum store_table records_table(const struct store_kind *kind)
{
	return is_global(kind) ? STORE_NAMED : STORE_RECORD;
}

struct key {
	char bytes[1 + 2 * ID_SIZE + STORE_NAME_MAX];
	size_t size;
};

static void key_add(struct key *key, const void *bytes, size_t size)
{
	assert(key->size + size <= sizeof key->bytes);
	if (size > 0)
		memcpy(key->bytes + key->size, bytes, size);
	key->size += size;
}

static struct slice key_slice(const struct key *key)
{
	return (struct slice){ key->bytes, key->size };
}

static void key_by_id(const struct transaction *transaction, const struct store_kind *kind,
		      const struct id *id, struct key *key)
{
	key->bytes[0] = kind->letter;
	memcpy(key->bytes + 1, transaction->account.bytes, ID_SIZE);
	memcpy(key->bytes + 1 + ID_SIZE, id->bytes, ID_SIZE);
	key->size = 1 + 2 * ID_SIZE;
}

static void key_by_name(const struct store_kind *kind, struct slice name, struct key *key)
{
	key->size = 0;
	key_add(key, &kind->letter, 1);
	key_add(key, name.data, name.size);
}

static void key_of(const struct transaction *transaction, const struct store_kind *kind,
		   const struct store_record *record, struct key *key)
{
	if (is_global(kind))
		key_by_name(kind, record->name, key);
	else
		key_by_id(transaction, kind, &record->id, key);
}

static bool damaged(const struct store_kind *kind, struct slice key, const char *how,
		    struct fault *fault)
{
	char text[2 * STORE_KEY_MAX + 1];

	if (is_global(kind))
		return fault_cause(fault, FAULT_DAMAGED, 0, "a %s %s", kind->name, how);
	text_hex(key.data, key.size, text);
	text[2 * key.size] = '\0';
	return fault_cause(fault, FAULT_DAMAGED, 0, "%s %s %s", kind->name, text, how);
}

/* Returns the size of the head, without the name. */
static size_t head_size(const struct store_kind *kind)
{
	return 1 + (kind->has_parent ? (size_t)ID_SIZE : 0) +
	       (kind->has_ends ? (size_t)END_SIZE : 0) +
	       (is_global(kind) ? 2 * (size_t)ID_SIZE : 0);
}

bool record_of_key(const struct store_kind *kind, struct slice key, struct store_record *record)
{
	*record = (struct store_record){ .is_on = false };
	if (key.size < 2 || key.data[0] != kind->letter)
		return false;
	if (is_global(kind)) {
		record->name = (struct slice){ key.data + 1, key.size - 1 };
		return record->name.size <= STORE_NAME_MAX;
	}
	if (key.size != 1 + 2 * (size_t)ID_SIZE)
		return false;
	memcpy(record->account.bytes, key.data + 1, ID_SIZE);
	memcpy(record->id.bytes, key.data + 1 + ID_SIZE, ID_SIZE);
	return true;
}

bool record_of_entry(const struct store_kind *kind, struct slice key, struct slice value,
		     struct store_record *record, struct fault *fault)
{
	const char *at = value.data;
	size_t left = value.size;

	if (!record_of_key(kind, key, record) || left < head_size(kind))
		return damaged(kind, key, "cannot be read", fault);
	record->is_on = *at++ != 0;
	if (kind->has_parent) {
		memcpy(record->parent.bytes, at, ID_SIZE);
		at += ID_SIZE;
	}
	if (kind->has_ends) {
		record->ends = (int64_t)decode_64(at);
		at += END_SIZE;
	}
	if (is_global(kind)) {
		memcpy(record->account.bytes, at, ID_SIZE);
		memcpy(record->id.bytes, at + ID_SIZE, ID_SIZE);
		at += 2 * ID_SIZE;
	}
	left -= head_size(kind);
	if (kind->naming == STORE_NAME_IN_ACCOUNT) {
		if (left == 0 || left - 1 < (unsigned char)*at)
			return damaged(kind, key, "cannot be read", fault);
		record->name = (struct slice){ at + 1, (unsigned char)*at };
		if (record->name.size == 0 || record->name.size > STORE_NAME_MAX)
			return damaged(kind, key, "cannot be read", fault);
		at += 1 + record->name.size;
		left -= 1 + record->name.size;
	}
	record->value = (struct slice){ at, left };
	return true;
}

/* ---- reading ---- */

/* Reads a record. name: for kinds whose key is the name; it must live as long as the record. Other
 * kinds have the name in the value. */
static bool stored_get(struct transaction *transaction, const struct store_kind *kind,
		       const struct key *key, struct slice name, struct store_record *record,
		       struct fault *fault)
{
	struct slice value;
	bool is_read;

	if (!entry_get(transaction, records_table(kind), key_slice(key), &value, fault))
		return false;
	*record = (struct store_record){ .is_on = false };
	if (value.data == NULL)
		return true;
	is_read = record_of_entry(kind, key_slice(key), value, record, fault);
	/* Set even if the record cannot be read, because the key does not live long enough. */
	if (is_global(kind))
		record->name = name;
	return is_read;
}

bool records_get(struct transaction *transaction, const struct store_kind *kind,
		 const struct id *id, enum store_reading reading, struct store_record *record,
		 struct fault *fault)
{
	struct key key;

	(void)reading; /* nothing needs to be locked: there is one writer at a time */
	key_by_id(transaction, kind, id, &key);
	if (!stored_get(transaction, kind, &key, SLICE(""), record, fault))
		return false;
	/* Set even if there is no such record. */
	record->id = *id;
	return true;
}

static struct btree tree_of(const struct transaction *transaction, const struct store_kind *kind,
			    char letter)
{
	struct btree tree = { { letter, kind->letter }, 2 + ID_SIZE };

	memcpy(tree.name + 2, transaction->account.bytes, ID_SIZE);
	return tree;
}

bool records_of_tree(const struct btree *tree, struct id *account, const char **contents)
{
	if (tree->name_size != 2 + ID_SIZE)
		return false;
	memcpy(account->bytes, tree->name + 2, ID_SIZE);
	*contents = tree->name[0] == BY_NAME	 ? "names"
		    : tree->name[0] == BY_ID	 ? "IDs"
		    : tree->name[0] == BY_PARENT ? "children"
		    : tree->name[0] == BY_END	 ? "ends"
						 : NULL;
	return *contents != NULL;
}

/* Reads the record to which an index refers. */
static bool get_indexed(struct transaction *transaction, const struct store_kind *kind,
			const struct id *id, struct slice name, struct store_record *record,
			struct fault *fault)
{
	struct key key;

	if (is_global(kind))
		key_by_name(kind, name, &key);
	else
		key_by_id(transaction, kind, id, &key);
	if (!stored_get(transaction, kind, &key, name, record, fault))
		return false;
	if (record->value.data == NULL)
		return damaged(kind, key_slice(&key), "is missing, although an index refers to it",
			       fault);
	if (is_global(kind) && id_compare(&record->account, &transaction->account) != 0)
		return damaged(kind, key_slice(&key), "belongs to another account", fault);
	return id_compare(&record->id, id) == 0 ||
	       damaged(kind, key_slice(&key), "does not have the ID that an index says", fault);
}

/* Reads the record to which an item of the index of names refers. */
static bool get_name_indexed(struct transaction *transaction, const struct store_kind *kind,
			     struct slice name, struct slice value, struct store_record *record,
			     struct fault *fault)
{
	struct id id;

	if (value.size != ID_SIZE)
		return damaged(kind, name, "has a damaged name", fault);
	memcpy(id.bytes, value.data, ID_SIZE);
	return get_indexed(transaction, kind, &id, name, record, fault) &&
	       (slice_equal(record->name, name) ||
		damaged(kind, id_slice(&id), "does not have the name that the index says", fault));
}

bool records_get_named(struct transaction *transaction, const struct store_kind *kind,
		       struct slice name, enum store_reading reading, struct store_record *record,
		       struct fault *fault)
{
	struct btree tree;
	struct slice value;
	struct key key;

	(void)reading;
	if (is_global(kind)) {
		key_by_name(kind, name, &key);
		return stored_get(transaction, kind, &key, arena_copy(transaction->arena, name),
				  record, fault);
	}
	*record = (struct store_record){ .is_on = false };
	tree = tree_of(transaction, kind, BY_NAME);
	if (!btree_get(transaction, &tree, name, &value, fault))
		return false;
	return value.data == NULL ||
	       get_name_indexed(transaction, kind, name, value, record, fault);
}

/* ---- pages ---- */

/* The keys of a tree with a prefix: one side of the switch, or all. */
struct side {
	struct btree_cursor cursor;
	struct key prefix;
	struct id id; /* id at the cursor */
	struct slice name;
	bool has_next;
};

static void prefix_of(const struct store_kind *kind, const struct id *parent, bool is_on,
		      struct key *prefix)
{
	const char side = (char)is_on;

	prefix->size = 0;
	if (parent != NULL)
		key_add(prefix, parent->bytes, ID_SIZE);
	if (kind->has_switch)
		key_add(prefix, &side, 1);
}

static bool side_read(struct side *side, const struct store_page *page, struct fault *fault)
{
	const struct slice prefix = key_slice(&side->prefix);
	struct slice key;

	if (!btree_at(&side->cursor, &key, &side->name, fault))
		return false;
	side->has_next = key.data != NULL && key.size == prefix.size + ID_SIZE &&
			 slice_begins(key, prefix);
	if (!side->has_next)
		return true;
	memcpy(side->id.bytes, key.data + prefix.size, ID_SIZE);
	if (page->order == STORE_NEWEST_FIRST)
		side->has_next = page->above == NULL || id_compare(&side->id, page->above) > 0;
	else
		side->has_next = page->below == NULL || id_compare(&side->id, page->below) < 0;
	return true;
}

static bool side_open(struct transaction *transaction, const struct btree *tree,
		      const struct store_page *page, struct side *side, struct fault *fault)
{
	/* Above all keys that consist of the prefix and an id. */
	static const char last[ID_SIZE + 1] = {
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
	};
	const bool goes_back = page->order == STORE_NEWEST_FIRST;
	struct key start = side->prefix;

	if (goes_back && page->below != NULL)
		key_add(&start, page->below->bytes, ID_SIZE);
	else if (goes_back)
		key_add(&start, last, sizeof last);
	else if (page->above != NULL) {
		key_add(&start, page->above->bytes, ID_SIZE);
		key_add(&start, "", 1);
	}
	return btree_seek(&side->cursor, transaction, tree, key_slice(&start), goes_back, fault) &&
	       side_read(side, page, fault);
}

/* Returns the side that has the next record, or NULL if there are no more records. */
static struct side *next_side(struct side *sides, size_t n, enum store_order order)
{
	struct side *next = NULL;

	for (size_t i = 0; i < n; i++) {
		int comparison;

		if (!sides[i].has_next)
			continue;
		comparison = next == NULL ? 0 : id_compare(&sides[i].id, &next->id);
		if (next == NULL || (order == STORE_NEWEST_FIRST ? comparison > 0 : comparison < 0))
			next = &sides[i];
	}
	return next;
}

static bool is_of_side(const struct store_kind *kind, const struct store_page *page,
		       const struct side *side, const struct store_record *record)
{
	const size_t size = side->prefix.size;

	return (page->parent == NULL || id_compare(&record->parent, page->parent) == 0) &&
	       (!kind->has_switch || record->is_on == (side->prefix.bytes[size - 1] != 0));
}

static bool page_is_full(const struct store_page *page, size_t bytes)
{
	return page->count == page->most || (page->bytes_most > 0 && bytes > page->bytes_most);
}

static bool page_of_ids(struct transaction *transaction, const struct store_kind *kind,
			struct store_page *page, struct fault *fault)
{
	struct side sides[SIDES], *side;
	const struct btree tree = tree_of(transaction, kind,
					  page->parent != NULL ? BY_PARENT : BY_ID);
	size_t n = 0, bytes = 0;

	for (int is_on = 0; is_on < (kind->has_switch ? SIDES : 1); is_on++) {
		if (page->side != STORE_BOTH_SIDES && (page->side == STORE_ON) != (is_on != 0))
			continue;
		prefix_of(kind, page->parent, is_on != 0, &sides[n].prefix);
		if (!side_open(transaction, &tree, page, &sides[n++], fault))
			return false;
	}
	while ((side = next_side(sides, n, page->order)) != NULL && !page_is_full(page, bytes)) {
		struct store_record *record = &page->records[page->count];

		page->damaged = side->id;
		if (!get_indexed(transaction, kind, &side->id, side->name, record, fault))
			return false;
		if (!is_of_side(kind, page, side, record))
			return damaged(kind, id_slice(&side->id),
				       "is in an index where it does not belong", fault);
		page->damaged = (struct id){ { 0 } };
		page->count++;
		bytes += record->value.size;
		if (!btree_step(&side->cursor, fault) || !side_read(side, page, fault))
			return false;
	}
	page->is_last = side == NULL;
	return true;
}

static bool page_of_names(struct transaction *transaction, const struct store_kind *kind,
			  struct store_page *page, struct fault *fault)
{
	struct btree_cursor cursor;
	const struct btree tree = tree_of(transaction, kind, BY_NAME);
	struct key start = { .size = 0 };
	struct slice name, value;
	size_t bytes = 0;

	if (page->after.size > 0) {
		/* The lowest key above `after`, which may be longer than a name. */
		key_add(&start, page->after.data,
			page->after.size < STORE_NAME_MAX ? page->after.size : STORE_NAME_MAX);
		key_add(&start, "", 1);
	}
	if (page->prefix.size > 0 && page->prefix.size <= STORE_NAME_MAX &&
	    slice_compare(key_slice(&start), page->prefix) < 0) {
		start.size = 0;
		key_add(&start, page->prefix.data, page->prefix.size);
	}
	if (!btree_seek(&cursor, transaction, &tree, key_slice(&start), false, fault))
		return false;
	for (;;) {
		if (!btree_at(&cursor, &name, &value, fault))
			return false;
		page->is_last = name.data == NULL || !slice_begins(name, page->prefix);
		if (page->is_last || page_is_full(page, bytes))
			return true;
		if (!get_name_indexed(transaction, kind, name, value, &page->records[page->count],
				      fault))
			return false;
		bytes += page->records[page->count++].value.size;
		if (!btree_step(&cursor, fault))
			return false;
	}
}

/* Sets the key of a record in the index of ends, or of all that end earlier if id is NULL: the end
 * with its highest byte first. */
static void key_of_end(uint64_t ends, const struct id *id, struct key *key)
{
	char bytes[END_SIZE];

	for (size_t i = 0; i < END_SIZE; i++)
		bytes[i] = (char)(unsigned char)(ends >> 8 * (END_SIZE - 1 - i));
	key->size = 0;
	key_add(key, bytes, sizeof bytes);
	if (id != NULL)
		key_add(key, id->bytes, ID_SIZE);
}

static bool page_of_ends(struct transaction *transaction, const struct store_kind *kind,
			 struct store_page *page, struct fault *fault)
{
	const struct btree tree = tree_of(transaction, kind, BY_END);
	struct btree_cursor cursor;
	struct slice key, value;
	struct key end, own;
	size_t bytes = 0;

	page->is_last = page->until < 0;
	if (page->is_last)
		return true;
	key_of_end((uint64_t)page->until + 1, NULL, &end);
	if (!btree_seek(&cursor, transaction, &tree, SLICE(""), false, fault))
		return false;
	for (;;) {
		struct store_record *record = &page->records[page->count];
		struct id id;

		if (!btree_at(&cursor, &key, &value, fault))
			return false;
		page->is_last = key.data == NULL || key.size != END_SIZE + ID_SIZE ||
				slice_compare(key, key_slice(&end)) >= 0;
		if (page->is_last || page_is_full(page, bytes))
			return true;
		memcpy(id.bytes, key.data + END_SIZE, ID_SIZE);
		if (!get_indexed(transaction, kind, &id, value, record, fault))
			return false;
		key_of_end((uint64_t)record->ends, &id, &own);
		if (!slice_equal(key, key_slice(&own)))
			return damaged(kind, id_slice(&id),
				       "is in an index where it does not belong", fault);
		bytes += record->value.size;
		page->count++;
		if (!btree_step(&cursor, fault))
			return false;
	}
}

bool records_page(struct transaction *transaction, const struct store_kind *kind,
		  struct store_page *page, struct fault *fault)
{
	if (page->order == STORE_BY_END)
		return page_of_ends(transaction, kind, page, fault);
	return page->order == STORE_BY_NAME ? page_of_names(transaction, kind, page, fault)
					    : page_of_ids(transaction, kind, page, fault);
}

bool records_have_children(struct transaction *transaction, const struct store_kind *kind,
			   const struct id *parent, bool *have_children, struct fault *fault)
{
	struct btree_cursor cursor;
	const struct btree tree = tree_of(transaction, kind, BY_PARENT);
	struct slice key, value;

	if (!btree_seek(&cursor, transaction, &tree, id_slice(parent), false, fault) ||
	    !btree_at(&cursor, &key, &value, fault))
		return false;
	*have_children = key.data != NULL && slice_begins(key, id_slice(parent));
	return true;
}

/* ---- new ids ---- */

struct counter {
	uint64_t number;
	int64_t time; /* milliseconds */
};

static bool counter_read(struct transaction *transaction, const struct store_kind *kind,
			 struct key *key, struct counter *counter, struct fault *fault)
{
	struct slice value;

	key->size = 0;
	key_add(key, &kind->letter, 1);
	key_add(key, transaction->account.bytes, ID_SIZE);
	*counter = (struct counter){ 0, 0 };
	if (!entry_get(transaction, STORE_COUNTER, key_slice(key), &value, fault))
		return false;
	if (value.data == NULL)
		return true;
	if (value.size != COUNTER_SIZE)
		return damaged(kind, key_slice(key), "has a damaged counter", fault);
	counter->number = decode_64(value.data);
	counter->time = (int64_t)decode_64(value.data + 8);
	return true;
}

static bool counter_write(struct transaction *transaction, const struct key *key,
			  const struct counter *counter, struct fault *fault)
{
	char value[COUNTER_SIZE];

	encode_64(value, counter->number);
	encode_64(value + 8, (uint64_t)counter->time);
	return entry_put(transaction, STORE_COUNTER, key_slice(key),
			 (struct slice){ value, sizeof value }, fault);
}

bool records_of_counter(struct slice key, struct slice value, struct id *account, uint64_t *number)
{
	if (key.size != 1 + ID_SIZE || value.size != COUNTER_SIZE)
		return false;
	memcpy(account->bytes, key.data + 1, ID_SIZE);
	*number = decode_64(value.data);
	return true;
}

bool records_new_id(struct transaction *transaction, const struct store_kind *kind,
		    const struct clock *clock, int64_t *now, struct id *id, struct fault *fault)
{
	struct counter counter;
	struct key key;
	int64_t time;

	if (!counter_read(transaction, kind, &key, &counter, fault))
		return false;
	if (*now < counter.time)
		*now = counter.time;
	if (*now > ID_TIME_MAX)
		*now = ID_TIME_MAX;
	time = *now;
	counter.number++;
	counter.time = time;
	*id = id_make(clock, (uint32_t)(time / 1000), counter.number);
	gdbm_transaction_of(transaction)->counted =
		(struct counted_id){ kind->letter, transaction->account, *id };
	return counter_write(transaction, &key, &counter, fault);
}

/* Counts the id of a new record, so that new ids are above it. Does nothing for an id that
 * records_new_id has created in this transaction, because it is already counted. */
static bool count_id(struct transaction *transaction, const struct store_kind *kind,
		     const struct id *id, struct fault *fault)
{
	const uint64_t number = id_number(id);
	const bool counts = number <= NUMBER_COUNTED_MOST;
	/* If the number is not counted, only a later second makes new ids higher. */
	const int64_t seconds = (int64_t)id_seconds(id) + (counts ? 0 : 1);
	const struct counted_id *counted = &gdbm_transaction_of(transaction)->counted;
	struct counter counter, before;
	struct key key;

	if (counted->letter == kind->letter && id_compare(id, &counted->id) == 0 &&
	    id_compare(&transaction->account, &counted->account) == 0)
		return true;
	if (!counter_read(transaction, kind, &key, &counter, fault))
		return false;
	before = counter;
	if (seconds > counter.time / 1000)
		counter.time = seconds * 1000;
	if (counts && number > counter.number)
		counter.number = number;
	return (counter.number == before.number && counter.time == before.time) ||
	       counter_write(transaction, &key, &counter, fault);
}

/* ---- writing ---- */

struct place {
	struct key key;
	bool exists;
};

/* Finds the place of the record in the index BY_ID, BY_PARENT or BY_END. There is none if the
 * record is NULL, the kind does not have this index, or the record has no end. */
static void place_of(const struct store_kind *kind, char letter, const struct store_record *record,
		     struct place *place)
{
	place->exists = record != NULL &&
			(letter == BY_ID       ? kind->has_pages
			 : letter == BY_PARENT ? kind->has_parent
					       : kind->has_ends && record->ends != 0);
	if (!place->exists)
		return;
	if (letter == BY_END) {
		key_of_end((uint64_t)record->ends, &record->id, &place->key);
		return;
	}
	prefix_of(kind, letter == BY_ID ? NULL : &record->parent, record->is_on, &place->key);
	key_add(&place->key, record->id.bytes, ID_SIZE);
}

/* Updates an index for a change of a record. `from` is NULL for a new record, `to` for a removed
 * one. */
static bool index_place(struct transaction *transaction, const struct store_kind *kind, char letter,
			const struct store_record *from, const struct store_record *to,
			struct fault *fault)
{
	const struct slice name = is_global(kind) && to != NULL ? to->name
								: (struct slice){ NULL, 0 };
	struct place source, target;
	struct btree tree;
	bool stays;

	place_of(kind, letter, from, &source);
	place_of(kind, letter, to, &target);
	stays = source.exists && target.exists &&
		slice_equal(key_slice(&source.key), key_slice(&target.key));
	/* The value is a name, which may have changed. */
	if (stays && name.size == 0)
		return true;
	tree = tree_of(transaction, kind, letter);
	return (!source.exists || stays ||
		btree_remove(transaction, &tree, key_slice(&source.key), fault)) &&
	       (!target.exists ||
		btree_put(transaction, &tree, key_slice(&target.key), name, fault));
}

/* Updates all indexes. */
static bool index_record(struct transaction *transaction, const struct store_kind *kind,
			 const struct store_record *from, const struct store_record *to,
			 struct fault *fault)
{
	struct btree tree;
	bool is_new;

	if (kind->naming == STORE_NAME_IN_ACCOUNT &&
	    (from == NULL || to == NULL || !slice_equal(from->name, to->name))) {
		tree = tree_of(transaction, kind, BY_NAME);
		if (to != NULL) {
			if (!btree_add(transaction, &tree, to->name, id_slice(&to->id), &is_new,
				       fault))
				return false;
			if (!is_new)
				return fault_set(fault, FAULT_AGAIN, NULL);
		}
		if (from != NULL && !btree_remove(transaction, &tree, from->name, fault))
			return false;
	}
	return index_place(transaction, kind, BY_ID, from, to, fault) &&
	       index_place(transaction, kind, BY_PARENT, from, to, fault) &&
	       (!kind->has_ends || index_place(transaction, kind, BY_END, from, to, fault));
}

/* For kinds whose key is the name: checks that a new name is free, and removes the entry of the old
 * one. `from` is NULL for a new record. */
static bool change_global_name(struct transaction *transaction, const struct store_kind *kind,
			       const struct store_record *from, const struct store_record *to,
			       struct fault *fault)
{
	struct store_record present;
	struct key key;

	if (from != NULL && slice_equal(from->name, to->name))
		return true;
	key_by_name(kind, to->name, &key);
	if (!stored_get(transaction, kind, &key, to->name, &present, fault))
		return false;
	if (present.value.data != NULL)
		return fault_set(fault, FAULT_AGAIN, NULL);
	if (from == NULL)
		return true;
	key_by_name(kind, from->name, &key);
	return entry_remove(transaction, STORE_NAMED, key_slice(&key), fault);
}

bool records_put(struct transaction *transaction, const struct store_kind *kind,
		 const struct store_record *record, const struct store_record *former,
		 struct fault *fault)
{
	const size_t size = head_size(kind) + 1 + record->name.size + record->value.size;
	struct buffer value = BUFFER_INITIAL(transaction->arena);
	char ends[END_SIZE];
	struct key key;

	/* Ids of dumps and imports are not counted yet. */
	if (former == NULL && kind->has_ids && !count_id(transaction, kind, &record->id, fault))
		return false;
	if (is_global(kind) && !change_global_name(transaction, kind, former, record, fault))
		return false;
	if (!index_record(transaction, kind, former, record, fault))
		return false;

	if (!arena_fits(transaction->arena, size))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	(void)buffer_reserve(&value, size);
	buffer_append_byte(&value, (char)record->is_on);
	if (kind->has_parent)
		buffer_append(&value, id_slice(&record->parent));
	if (kind->has_ends) {
		encode_64(ends, (uint64_t)record->ends);
		buffer_append(&value, (struct slice){ ends, sizeof ends });
	}
	if (is_global(kind)) {
		buffer_append(&value, id_slice(&transaction->account));
		buffer_append(&value, id_slice(&record->id));
	}
	if (kind->naming == STORE_NAME_IN_ACCOUNT) {
		buffer_append_byte(&value, (char)record->name.size);
		buffer_append(&value, record->name);
	}
	buffer_append(&value, record->value);
	key_of(transaction, kind, record, &key);
	return entry_change(transaction, records_table(kind), key_slice(&key), buffer_slice(&value),
			    fault);
}

bool records_remove(struct transaction *transaction, const struct store_kind *kind,
		    const struct store_record *record, struct fault *fault)
{
	struct key key;

	key_of(transaction, kind, record, &key);
	return index_record(transaction, kind, record, NULL, fault) &&
	       entry_remove(transaction, records_table(kind), key_slice(&key), fault);
}

/* ---- checking ---- */

static bool check_place(struct transaction *transaction, const struct store_kind *kind, char letter,
			const struct store_record *record, struct fault *fault)
{
	struct place place;
	struct btree tree;
	struct slice value;

	place_of(kind, letter, record, &place);
	if (!place.exists)
		return true;
	tree = tree_of(transaction, kind, letter);
	return btree_get(transaction, &tree, key_slice(&place.key), &value, fault) &&
	       (value.data != NULL ||
		damaged(kind, key_slice(&place.key), "is missing from an index", fault));
}

bool records_check_indexed(struct transaction *transaction, const struct store_kind *kind,
			   const struct store_record *record, struct fault *fault)
{
	const uint64_t number = id_number(&record->id);
	struct counter counter;
	struct store_record named;
	struct key key;

	store_set_account(transaction, &record->account);
	/* New ids must be above this one. */
	if (kind->has_ids) {
		if (!counter_read(transaction, kind, &key, &counter, fault))
			return false;
		if (id_seconds(&record->id) > counter.time / 1000 ||
		    (number > counter.number && number <= NUMBER_COUNTED_MOST))
			return damaged(kind, id_slice(&record->id),
				       "is above the counter of its account", fault);
	}
	if (!check_place(transaction, kind, BY_ID, record, fault) ||
	    !check_place(transaction, kind, BY_PARENT, record, fault) ||
	    !check_place(transaction, kind, BY_END, record, fault))
		return false;
	if (kind->naming != STORE_NAME_IN_ACCOUNT)
		return true;
	if (!records_get_named(transaction, kind, record->name, STORE_TO_SHOW, &named, fault))
		return false;
	if (named.value.data == NULL)
		return damaged(kind, record->name, "is missing from an index", fault);
	return id_compare(&named.id, &record->id) == 0 ||
	       damaged(kind, id_slice(&record->id), "has the name of another record", fault);
}

bool records_check_index(struct transaction *transaction, const struct store_kind *kind,
			 const struct btree *tree, struct slice key, struct slice value,
			 struct fault *fault)
{
	const char letter = tree->name[0];
	struct store_record record;
	struct place place = { .exists = false };
	struct id id;

	if (tree->name_size != 2 + ID_SIZE || key.size < (letter == BY_NAME ? 1 : ID_SIZE))
		return damaged(kind, key, "is a key of an index that is not in use", fault);
	memcpy(transaction->account.bytes, tree->name + 2, ID_SIZE);
	if (letter == BY_NAME)
		return records_get_named(transaction, kind, key, STORE_TO_SHOW, &record, fault);
	memcpy(id.bytes, key.data + key.size - ID_SIZE, ID_SIZE);
	if (!get_indexed(transaction, kind, &id, value, &record, fault))
		return false;
	if (letter == BY_ID || letter == BY_PARENT || letter == BY_END)
		place_of(kind, letter, &record, &place);
	return (place.exists && slice_equal(key_slice(&place.key), key)) ||
	       damaged(kind, key, "is in an index where it does not belong", fault);
}
