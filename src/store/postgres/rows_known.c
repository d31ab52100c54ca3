/* The records that a transaction has read, and its own changes. See store/postgres/rows_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <endian.h>
#include <string.h>

#include "base/checksum.h"
#include "store/postgres/rows_parts.h"

/* ---- indexes ---- */

static size_t key_list_of(char letter, struct slice key)
{
	return checksum((unsigned char)letter, key.data, key.size) % KEY_INDEX_LISTS;
}

void key_index_add(struct key_index *index, struct arena *arena, char letter, struct slice key,
		   void *item)
{
	struct key_entry *entry = arena_alloc(arena, sizeof *entry);
	const struct key_entry **list = &index->lists[key_list_of(letter, key)];

	*entry = (struct key_entry){ .next = *list, .item = item };
	*list = entry;
}

const struct key_entry *key_index_find(const struct key_index *index, char letter, struct slice key)
{
	return index->lists[key_list_of(letter, key)];
}

/* ---- rows ---- */

uint32_t rows_checksum(char letter, const struct store_record *record, bool has_parent,
		       bool has_switch)
{
	const char head[] = {
		letter,
		(char)(has_switch ? record->is_on : 2),
		(char)has_parent,
		(char)(unsigned char)record->name.size,
	};
	uint32_t sum = checksum(0, head, sizeof head);

	sum = checksum(sum, record->account.bytes, ID_SIZE);
	sum = checksum(sum, record->id.bytes, ID_SIZE);
	if (has_parent)
		sum = checksum(sum, record->parent.bytes, ID_SIZE);
	if (record->ends != 0)
		sum = checksum(sum, (const char *)&(uint64_t){ htole64((uint64_t)record->ends) },
			       sizeof(uint64_t));
	if (record->name.size > 0)
		sum = checksum(sum, record->name.data, record->name.size);
	return checksum(sum, record->value.data, record->value.size);
}

bool rows_damaged(char letter, const struct id *id, const char *how, struct fault *fault)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	return fault_cause(fault, FAULT_DAMAGED, 0, "the record %c %s %s", letter, text, how);
}

bool rows_copy_id(struct slice bytes, struct id *id)
{
	if (bytes.data == NULL || bytes.size != ID_SIZE)
		return false;
	memcpy(id->bytes, bytes.data, ID_SIZE);
	return true;
}

bool rows_read(struct arena *arena, const struct wire *wire, size_t result, size_t row,
	       char *letter, struct store_record *record, struct fault *fault)
{
	const struct slice name = wire_bytes(wire, result, row, COLUMN_NAME);
	const struct slice value = wire_bytes(wire, result, row, COLUMN_VALUE);
	const struct slice parent = wire_bytes(wire, result, row, COLUMN_PARENT);
	const struct slice is_on = wire_bytes(wire, result, row, COLUMN_IS_ON);
	const bool has_parent = parent.data != NULL, has_switch = is_on.data != NULL;

	*letter = (char)(unsigned char)wire_number(wire, result, row, COLUMN_KIND);
	*record = (struct store_record){ .is_on = has_switch && is_on.data[0] != 0 };
	if (!rows_copy_id(wire_bytes(wire, result, row, COLUMN_ACCOUNT), &record->account) ||
	    !rows_copy_id(wire_bytes(wire, result, row, COLUMN_ID), &record->id) ||
	    (has_parent && !rows_copy_id(parent, &record->parent)) || name.size > STORE_NAME_MAX)
		return rows_damaged(*letter, &record->id, "cannot be read", fault);
	if (!arena_fits(arena, name.size + value.size + 2))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	if (wire_bytes(wire, result, row, COLUMN_ENDS).data != NULL)
		record->ends = (int64_t)wire_number(wire, result, row, COLUMN_ENDS);
	if (name.data != NULL)
		record->name = arena_copy(arena, name);
	record->value = arena_copy(arena, value);
	return rows_checksum(*letter, record, has_parent, has_switch) ==
		       (uint32_t)wire_number(wire, result, row, COLUMN_CHECKSUM) ||
	       rows_damaged(*letter, &record->id, "has a wrong checksum", fault);
}

static struct known *add_known(struct postgres_transaction *own, char letter,
			       const struct store_record *record)
{
	struct known *known = arena_zero(own->base.arena, sizeof *known);

	known->letter = letter;
	known->record = *record;
	own->known = known;
	return known;
}

static void known_index_id(struct postgres_transaction *own, struct known *known)
{
	key_index_add(&own->known_ids, own->base.arena, known->letter, id_slice(&known->record.id),
		      known);
}

static void known_index_name(struct postgres_transaction *own, struct known *known)
{
	key_index_add(&own->known_names, own->base.arena, known->letter, known->record.name, known);
}

void known_add_absent(struct postgres_transaction *own, const struct store_kind *kind,
		      const struct id *id, struct slice name)
{
	const struct store_record absent = { .account = own->base.account };
	struct known *known = add_known(own, kind->letter, &absent);

	known->is_absent = true;
	if (id != NULL) {
		known->record.id = *id;
		known_index_id(own, known);
	} else {
		known->record.name = arena_copy(own->base.arena, name);
		known_index_name(own, known);
	}
}

bool known_take_rows(struct postgres_transaction *own, size_t result, bool are_locked,
		     struct fault *fault)
{
	const size_t rows = wire_rows(own->wire, result);
	struct store_record record;
	struct known *known;
	char letter;

	for (size_t i = 0; i < rows; i++) {
		if (wire_bytes(own->wire, result, i, COLUMN_KIND).data == NULL)
			continue;
		if (!rows_read(own->base.arena, own->wire, result, i, &letter, &record, fault))
			return false;
		known = add_known(own, letter, &record);
		known->is_locked = are_locked;
		known_index_id(own, known);
		if (record.name.data != NULL)
			known_index_name(own, known);
	}
	return true;
}

bool rows_are_own(const struct postgres_transaction *own, const struct id *account)
{
	return id_compare(account, &own->base.account) == 0;
}

static bool serves(const struct known *known, const struct store_kind *kind,
		   enum store_reading reading)
{
	return known->letter == kind->letter &&
	       (reading != STORE_TO_CHANGE || known->is_locked || known->is_absent);
}

const struct known *known_by_id(const struct postgres_transaction *own,
				const struct store_kind *kind, const struct id *id,
				enum store_reading reading)
{
	const struct key_entry *entry = key_index_find(&own->known_ids, kind->letter, id_slice(id));

	for (; entry != NULL; entry = entry->next) {
		const struct known *known = entry->item;

		if (serves(known, kind, reading) && id_compare(&known->record.id, id) == 0 &&
		    rows_are_own(own, &known->record.account))
			return known;
	}
	return NULL;
}

const struct known *known_by_name(const struct postgres_transaction *own,
				  const struct store_kind *kind, struct slice name,
				  enum store_reading reading)
{
	const struct key_entry *entry = key_index_find(&own->known_names, kind->letter, name);

	for (; entry != NULL; entry = entry->next) {
		const struct known *known = entry->item;

		if (serves(known, kind, reading) && slice_equal(known->record.name, name) &&
		    (rows_are_named(kind) || rows_are_own(own, &known->record.account)))
			return known;
	}
	return NULL;
}

/* ---- our own changes ---- */

bool change_is_of(const struct postgres_transaction *own, const struct store_kind *kind,
		  const struct change *change)
{
	return change->kind->letter == kind->letter &&
	       (rows_are_named(kind) || rows_are_own(own, &change->record.account));
}

/* Compares the keys. For a named kind, also finds the change that gave up the name. */
static bool has_key(const struct change *change, const struct store_record *record)
{
	if (!rows_are_named(change->kind))
		return id_compare(&change->record.id, &record->id) == 0;
	return slice_equal(change->record.name, record->name) ||
	       slice_equal(change->former_name, record->name);
}

const struct change *change_of(const struct postgres_transaction *own,
			       const struct store_kind *kind, const struct store_record *record)
{
	const struct key_entry *entry =
		rows_are_named(kind)
			? key_index_find(&own->changed_names, kind->letter, record->name)
			: key_index_find(&own->changed_ids, kind->letter, id_slice(&record->id));

	for (; entry != NULL; entry = entry->next) {
		const struct change *change = entry->item;

		if (change_is_of(own, kind, change) && has_key(change, record))
			return change;
	}
	return NULL;
}

bool rows_are_new(const struct postgres_transaction *own, const struct store_kind *kind,
		  const struct id *id)
{
	const struct key_entry *entry;

	if (kind == NULL || id == NULL)
		return false;
	entry = key_index_find(&own->changed_ids, kind->letter, id_slice(id));
	for (; entry != NULL; entry = entry->next) {
		const struct change *change = entry->item;

		if (change_is_of(own, kind, change) && change->is_insertion &&
		    id_compare(&change->record.id, id) == 0)
			return true;
	}
	return false;
}
