/* See journal_list.h. The keys and values are those of records.c and btree.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/journal_list.h"

#include "base/memory.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/records.h"

struct listing {
	const struct journal_list *list;
	const struct journal_end *end;
	uint64_t base;
};

static const struct store_kind *kind_of_letter(const struct journal_list *list, char letter)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->kinds[i]->letter == letter)
			return list->kinds[i];
	return NULL;
}

static void add_id(json_t *object, const char *name, const struct id *id)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	object_put(object, name, json_string(text));
}

/* A name that is unique in the store may be a secret, such as a room code. */
static bool add_record(json_t *object, const struct store_kind *kind, const struct change *change)
{
	const bool is_put = change->value.data != NULL;
	const bool is_secret = kind->naming == STORE_NAME_ANYWHERE;
	struct fault damage = FAULT_INITIAL;
	struct store_record record;
	json_t *name;

	if (is_put ? !record_of_entry(kind, change->key, change->value, &record, &damage)
		   : !record_of_key(kind, change->key, &record))
		return false;
	if (is_put || !is_secret) {
		add_id(object, "account", &record.account);
		add_id(object, "id", &record.id);
	}
	if (is_put && kind->has_parent)
		add_id(object, "parent", &record.parent);
	if (is_put && kind->has_switch)
		object_put(object, "switch", json_boolean(record.is_on));
	if (is_secret || record.name.size == 0)
		return true;
	name = json_stringn(record.name.data, record.name.size);
	if (name != NULL)
		object_put(object, "name", name);
	return name != NULL;
}

static bool add_counter(json_t *object, const struct change *change)
{
	struct id account;
	uint64_t number;

	if (!records_of_counter(change->key, change->value, &account, &number))
		return false;
	add_id(object, "account", &account);
	object_put(object, "number", json_integer((json_int_t)number));
	return true;
}

static bool add_node(json_t *object, const struct listing *listing, const struct change *change)
{
	const struct store_kind *kind;
	const char *contents;
	struct btree tree;
	struct id account;
	uint32_t number;

	if (!btree_of_key(change->key, &tree, &number) ||
	    !records_of_tree(&tree, &account, &contents))
		return false;
	kind = kind_of_letter(listing->list, tree.name[1]);
	object_put(object, "kind", kind != NULL ? json_string(kind->name) : json_null());
	add_id(object, "account", &account);
	object_put(object, "tree", json_string(contents));
	object_put(object, "node", json_integer((json_int_t)number));
	return true;
}

static void list_change(void *context, uint64_t number, const struct change *change)
{
	const struct listing *listing = context;
	static const char *const tables[STORE_TABLE_COUNT] = {
		[STORE_RECORD] = "record",
		[STORE_NAMED] = "record",
		[STORE_COUNTER] = "counter",
		[STORE_INDEX] = "index",
	};
	const struct store_kind *kind = change->key.size > 0
						? kind_of_letter(listing->list, change->key.data[0])
						: NULL;
	char segment[SEGMENT_NAME_SIZE];
	json_t *object = memory_check(json_object());
	bool is_sound = true;

	segment_name(listing->end->visited_segment, segment);
	object_put(object, "segment", json_string(segment));
	object_put(object, "offset", json_integer((json_int_t)listing->end->visited_offset));
	object_put(object, "transaction", json_integer((json_int_t)number));
	object_put(object, "in_files", json_boolean(number <= listing->base));
	object_put(object, "change", json_string(change->value.data != NULL ? "put" : "remove"));
	object_put(object, "table", json_string(tables[change->table]));
	object_put(object, "kind", kind != NULL ? json_string(kind->name) : json_null());
	if (change->table == STORE_INDEX)
		is_sound = add_node(object, listing, change);
	else if (change->table == STORE_COUNTER)
		is_sound = add_counter(object, change);
	else if (kind != NULL)
		is_sound = add_record(object, kind, change);
	if (!is_sound)
		object_put(object, "damaged", json_true());
	if (change->value.data != NULL)
		object_put(object, "bytes", json_integer((json_int_t)change->value.size));
	listing->list->visit(listing->list->context, object);
	json_decref(object);
}

bool journal_list(const struct journal_list *list, const struct journal_options *options,
		  uint64_t base, const struct journal_end *found, struct journal_end *end,
		  struct fault *fault)
{
	struct listing listing = { .list = list, .end = end, .base = base };
	uint64_t from = base;

	if (found->superfluous < found->n && found->segments[found->superfluous] <= base)
		from = found->segments[found->superfluous] - 1;
	return journal_replay(options, from, list_change, &listing, end, fault);
}
