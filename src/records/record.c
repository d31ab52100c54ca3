/* See records/record.h. The recursion is as deep as the tables are nested.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/record.h"

#include <assert.h>
#include <endian.h>

#include "base/json_text.h"
#include "base/text.h"

static void *member_at(const struct member *member, void *record)
{
	return (char *)record + member->offset;
}

static const void *member_value(const struct member *member, const void *record)
{
	return (const char *)record + member->offset;
}

static size_t item_count(const struct member *member, const void *record)
{
	return *(const size_t *)((const char *)record + member->count);
}

/* Returns the first item of a list or an array. */
static char *items_of(const struct member *member, const void *record)
{
	const void *at = member_value(member, record);

	return member->kind == MEMBER_LIST ? *(char *const *)at : (char *)(uintptr_t)at;
}

static inline uint64_t number_get(size_t width, const void *at)
{
	switch (width) {
	case 8:
		return *(const uint64_t *)at;
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	}
	return *(const uint32_t *)at;
}

static inline void number_set(size_t width, void *at, uint64_t value)
{
	switch (width) {
	case 8:
		*(uint64_t *)at = value;
		return;
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		return;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		return;
	}
	*(uint32_t *)at = (uint32_t)value;
}

static bool is_stored(const struct record_table *table, const struct member *member,
		      const void *record)
{
	return member->when == 0 ||
	       (member->when != NOT_STORED &&
		(*(const unsigned *)((const char *)record + table->set) & member->when) != 0);
}

/* ---- rows ---- */

const struct member *record_owner(const struct record_table *table)
{
	for (size_t i = 0; i < table->keys; i++) {
		if (table->members[i].relation != NULL)
			return &table->members[i];
	}
	return NULL;
}

int64_t record_end(const struct record_table *table, const void *record)
{
	int64_t end = 0;

	for (size_t i = table->keys; i < table->member_count; i++) {
		const struct member *member = &table->members[i];

		if (member->holds_end && record_number(member, record) != 0)
			return 0;
		if (member->is_end)
			end = (int64_t)record_number(member, record) *
			      (member->kind == MEMBER_SECONDS ? 1000 : 1);
	}
	return end;
}

const struct member *record_member(const struct record_table *table, const char *name)
{
	for (size_t i = 0; i < table->member_count; i++) {
		if (strcmp(table->members[i].name, name) == 0)
			return &table->members[i];
	}
	return NULL;
}

const struct id *record_id(const struct member *member, const void *record)
{
	return member_value(member, record);
}

uint64_t record_number(const struct member *member, const void *record)
{
	return number_get(member->width, member_value(member, record));
}

void record_set_number(const struct member *member, void *record, uint64_t number)
{
	number_set(member->width, member_at(member, record), number);
}

size_t record_items(const struct member *list, const void *record, const char **items)
{
	*items = items_of(list, record);
	return item_count(list, record);
}

/* ---- reading bytes ---- */

struct reader {
	const char *at, *end;
	struct slice whole; /* the text of the row with MEMBER_WHOLE */
	struct arena *arena;
	unsigned version;
	bool is_short; /* the value is too short or invalid; nothing more is read */
};

static struct slice take_bytes(struct reader *reader, size_t size)
{
	const struct slice bytes = { reader->at, size };

	if (size > (size_t)(reader->end - reader->at)) {
		reader->is_short = true;
		reader->at = reader->end;
		return (struct slice){ "", 0 };
	}
	reader->at += size;
	return bytes;
}

static uint64_t take_last_number(struct reader *reader, size_t bytes)
{
	const struct slice text = take_bytes(reader, bytes);
	uint64_t value = 0;

	memcpy(&value, text.data, text.size);
	return le64toh(value);
}

/* Reads eight bytes at once and masks them, because most numbers have eight bytes left. */
static inline uint64_t take_number(struct reader *reader, size_t bytes)
{
	uint64_t value;

	if (reader->end - reader->at < (ptrdiff_t)sizeof value)
		return take_last_number(reader, bytes);
	memcpy(&value, reader->at, sizeof value);
	reader->at += bytes;
	return le64toh(value) & (UINT64_MAX >> (64 - 8 * bytes));
}

/* Signed numbers wrap, so one comparison is enough. */
static inline bool is_in_range(const struct member *member, uint64_t number)
{
	return number - (uint64_t)member->least <= (uint64_t)member->most - (uint64_t)member->least;
}

/* True if the member's bytes are preceded by their number. */
static inline bool is_text(const struct member *member)
{
	return member->kind >= MEMBER_TEXT && member->kind <= MEMBER_JSON;
}

static void read_members(const struct record_table *table, struct reader *reader, void *record);

static void read_items(const struct member *member, struct reader *reader, void *record)
{
	const uint64_t count = take_number(reader, member->bytes);
	const size_t size = member->items->size;
	char *items = member_at(member, record);

	if (count > (uint64_t)(reader->end - reader->at) || count > (uint64_t)member->most) {
		reader->is_short = true;
		return;
	}
	if (member->kind == MEMBER_LIST) {
		items = arena_zero(reader->arena, ((size_t)count + 1) * size);
		*(char **)member_at(member, record) = items;
	}
	for (size_t i = 0; i < count && !reader->is_short; i++)
		read_members(member->items, reader, items + i * size);
	*(size_t *)((char *)record + member->count) = (size_t)count;
}

/* Sets a part of reader->whole, whose offset and size are in `place`. */
static inline void set_part(struct reader *reader, uint64_t place, struct slice *text)
{
	const size_t offset = (size_t)(place & UINT32_MAX), size = (size_t)(place >> 32);

	if (offset > reader->whole.size || size > reader->whole.size - offset)
		reader->is_short = true;
	else
		*text = (struct slice){ reader->whole.data + offset, size };
}

/* Most members are plain numbers, texts or parts with at least eight bytes left to read, so these
 * cases come first and call no function. Whoever reads a record may rely on the ranges of its
 * numbers. */
static void read_members(const struct record_table *table, struct reader *reader, void *record)
{
	const struct member *const end = table->members + table->member_count;
	const unsigned *set = (const unsigned *)((const char *)record + table->set);
	const char *const last = reader->end;
	const unsigned version = reader->version;
	const char *next = reader->at; /* reader->at is behind, except in what is called */
	struct slice bytes;
	uint64_t value;

	for (const struct member *member = table->members + table->keys; member < end; member++) {
		void *at = (char *)record + member->offset;
		const size_t left = (size_t)(last - next);

		if (member->since > version)
			continue;
		if (member->when != 0) {
			if (member->when == NOT_STORED)
				continue;
			if (*set == 0)
				break; /* those with `when` come last */
			if ((*set & member->when) == 0)
				continue;
		}
		if (left >= sizeof value) {
			memcpy(&value, next, sizeof value);
			value = le64toh(value);
			if (member->plain != 0) {
				next += member->plain;
				if (member->plain == 8) {
					*(uint64_t *)at = value;
				} else if (member->plain == 4) {
					value = (uint32_t)value;
					*(uint32_t *)at = (uint32_t)value;
				} else {
					value = (uint8_t)value;
					*(uint8_t *)at = (uint8_t)value;
				}
				if (!is_in_range(member, value))
					reader->is_short = true;
				continue;
			}
			if (member->kind == MEMBER_PART) {
				next += sizeof value;
				set_part(reader, value, at);
				continue;
			}
			if (is_text(member) && (uint32_t)value <= left - 4) {
				bytes = (struct slice){ next + 4, (uint32_t)value };
				next = bytes.data + bytes.size;
				*(struct slice *)at = bytes;
				if ((member->flags & MEMBER_WHOLE) != 0)
					reader->whole = bytes;
				continue;
			}
		}
		reader->at = next;
		switch (member->kind) {
		case MEMBER_KEY:
		case MEMBER_PARENT:
		case MEMBER_SWITCH:
		case MEMBER_NAME:
			break;
		case MEMBER_NUMBER:
		case MEMBER_TIME:
		case MEMBER_SECONDS:
		case MEMBER_ETAG:
		case MEMBER_BOOLEAN:
		case MEMBER_CHOICE:
			value = take_number(reader, member->bytes);
			if (is_in_range(member, value))
				number_set(member->width, at, value);
			else
				reader->is_short = true;
			break;
		case MEMBER_ID:
		case MEMBER_FIXED:
			bytes = take_bytes(reader, member->bytes);
			memcpy(at, bytes.data, bytes.size);
			break;
		case MEMBER_TEXT:
		case MEMBER_BYTES:
		case MEMBER_JSON:
			bytes = take_bytes(reader, (size_t)take_number(reader, 4));
			*(struct slice *)at = bytes;
			if ((member->flags & MEMBER_WHOLE) != 0)
				reader->whole = bytes;
			break;
		case MEMBER_PART:
			reader->is_short = true; /* it has eight bytes */
			break;
		case MEMBER_LIST:
		case MEMBER_ARRAY:
			read_items(member, reader, record);
			break;
		}
		next = reader->at;
	}
	reader->at = next;
}

bool record_unpack(const struct record_table *table, struct arena *arena, struct slice value,
		   void *record)
{
	struct reader reader = {
		.at = value.data,
		.end = value.data + value.size,
		.arena = arena,
	};

	if (!table->is_bare) {
		reader.version = (unsigned)take_number(&reader, 1);
		if (reader.version < RECORD_VERSION || reader.version > record_version(table))
			return false;
	}
	read_members(table, &reader, record);
	return !reader.is_short && reader.at == reader.end;
}

bool record_first_text(const struct record_table *table, struct slice value, struct slice *text)
{
	const struct member *first = &table->members[table->keys];
	struct reader reader = { .at = value.data, .end = value.data + value.size };
	const uint64_t version = take_number(&reader, 1);
	const bool is_right = version >= RECORD_VERSION && version <= record_version(table);

	assert(is_text(first) && first->since <= RECORD_VERSION && !table->is_bare);
	*text = take_bytes(&reader, (size_t)take_number(&reader, 4));
	return is_right && !reader.is_short;
}

/* Reads the key and the value in the struct store_record of a record that is zero apart from it. */
static bool record_read_value(const struct record_table *table, struct arena *arena, void *record,
			      struct fault *fault)
{
	const struct store_record *stored = (const void *)((char *)record + table->stored);
	const struct member *member = table->members;

	for (size_t i = 0; i < table->keys; i++, member++) {
		void *at = (char *)record + member->offset;

		if (member->kind == MEMBER_KEY)
			*(struct id *)at = stored->id;
		else if (member->kind == MEMBER_PARENT)
			*(struct id *)at = stored->parent;
		else if (member->kind == MEMBER_NAME)
			*(struct slice *)at = stored->name;
		else
			*(bool *)at = stored->is_on != ((member->flags & MEMBER_OFF) != 0);
	}

	if (stored->value.data == NULL) {
		member = table->members + table->member_count;
		/* Each list gets room for one item. Lists are the last members. */
		while (member > table->members && (--member)->kind == MEMBER_LIST)
			*(char **)member_at(member, record) = arena_zero(arena,
									 member->items->size);
		return true;
	}
	if (record_unpack(table, arena, stored->value, record))
		return true;
	if (!table->is_bare && stored->value.size > 0 &&
	    (unsigned char)stored->value.data[0] > record_version(table))
		return fault_set(fault, FAULT_DAMAGED,
				 "The %s was written by a newer version of Anteroom",
				 table->kind->name);
	return record_damaged(table->kind->name, &stored->id, fault);
}

bool record_read(const struct record_table *table, struct arena *arena,
		 const struct store_record *stored, void *record, struct fault *fault)
{
	memset(record, 0, table->size);
	*(struct store_record *)((char *)record + table->stored) = *stored;
	return record_read_value(table, arena, record, fault);
}

bool record_get(const struct record_table *table, struct transaction *transaction,
		const struct id *id, enum store_reading reading, void *record, struct fault *fault)
{
	struct store_record *stored = (void *)((char *)record + table->stored);
	const struct id wanted = *id; /* `id` may point into the record, which is cleared */

	memset(record, 0, table->size);
	if (!store_get(transaction, table->kind, &wanted, reading, stored, fault))
		return false;
	stored->id = wanted;
	return record_read_value(table, transaction->arena, record, fault);
}

bool record_get_named(const struct record_table *table, struct transaction *transaction,
		      struct slice name, enum store_reading reading, void *record,
		      struct fault *fault)
{
	struct store_record *stored = (void *)((char *)record + table->stored);

	memset(record, 0, table->size);
	return store_get_named(transaction, table->kind, name, reading, stored, fault) &&
	       record_read_value(table, transaction->arena, record, fault);
}

bool record_damaged(const char *what, const struct id *key, struct fault *fault)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(key, text);
	return fault_cause(fault, FAULT_DAMAGED, 0, "%s with the key %s cannot be read", what,
			   text);
}

bool record_missing(const char *what, const struct id *key, struct fault *fault)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(key, text);
	return fault_cause(fault, FAULT_DAMAGED, 0,
			   "%s with the key %s is missing, although another record refers to it",
			   what, text);
}

/* ---- a record into bytes ---- */

static inline void number_put(struct buffer *value, uint64_t number, size_t bytes)
{
	const uint64_t little = htole64(number);

	assert(bytes == 8 || number >> (8 * bytes) == 0);
	memcpy(buffer_reserve(value, sizeof little), &little, sizeof little);
	value->size += bytes;
}

static void put_members(const struct record_table *table, const void *record, struct slice whole,
			struct buffer *value)
{
	const struct member *const end = table->members + table->member_count;
	const unsigned *set = (const unsigned *)((const char *)record + table->set);

	for (const struct member *member = table->members + table->keys; member < end; member++) {
		const void *at = (const char *)record + member->offset;
		const struct slice *text = at;

		if (member->when != 0) {
			if (member->when == NOT_STORED)
				continue;
			if (*set == 0)
				break; /* those with `when` come last */
			if ((*set & member->when) == 0)
				continue;
		}
		if (member->plain != 0) {
			number_put(value, number_get(member->plain, at), member->plain);
			continue;
		}
		switch (member->kind) {
		case MEMBER_KEY:
		case MEMBER_PARENT:
		case MEMBER_SWITCH:
		case MEMBER_NAME:
			break;
		case MEMBER_NUMBER:
		case MEMBER_TIME:
		case MEMBER_SECONDS:
		case MEMBER_ETAG:
		case MEMBER_BOOLEAN:
		case MEMBER_CHOICE:
			number_put(value, number_get(member->width, at), member->bytes);
			break;
		case MEMBER_ID:
		case MEMBER_FIXED:
			buffer_append(value, (struct slice){ at, member->bytes });
			break;
		case MEMBER_TEXT:
		case MEMBER_BYTES:
		case MEMBER_JSON:
			number_put(value, text->size, 4);
			buffer_append(value, *text);
			if ((member->flags & MEMBER_WHOLE) != 0)
				whole = *text;
			break;
		case MEMBER_PART:
			assert(text->size == 0 ||
			       (text->data >= whole.data &&
				text->data + text->size <= whole.data + whole.size));
			number_put(value, text->size == 0 ? 0 : (uint64_t)(text->data - whole.data),
				   4);
			number_put(value, text->size, 4);
			break;
		case MEMBER_LIST:
		case MEMBER_ARRAY:
			number_put(value, item_count(member, record), member->bytes);
			for (size_t i = 0; i < item_count(member, record); i++)
				put_members(member->items,
					    items_of(member, record) + i * member->items->size,
					    whole, value);
			break;
		}
	}
}

void record_pack(const struct record_table *table, const void *record, struct buffer *value)
{
	if (!table->is_bare)
		number_put(value, record_version(table), 1);
	put_members(table, record, SLICE(""), value);
}

struct store_record record_key(const struct record_table *table, const void *record)
{
	const struct member *member = table->members;
	struct store_record key = { .is_on = false };

	for (size_t i = 0; i < table->keys; i++, member++) {
		const void *at = (const char *)record + member->offset;

		if (member->kind == MEMBER_KEY)
			key.id = *(const struct id *)at;
		else if (member->kind == MEMBER_PARENT)
			key.parent = *(const struct id *)at;
		else if (member->kind == MEMBER_NAME)
			key.name = *(const struct slice *)at;
		else
			key.is_on = *(const bool *)at != ((member->flags & MEMBER_OFF) != 0);
	}
	if (table->kind->has_ends)
		key.ends = record_end(table, record);
	return key;
}

bool record_put(const struct record_table *table, struct transaction *transaction,
		const void *record, struct fault *fault)
{
	const struct store_record *former = (const void *)((const char *)record + table->stored);
	struct buffer value = BUFFER_INITIAL(transaction->arena);
	struct store_record stored = record_key(table, record);

	record_pack(table, record, &value);
	stored.value = buffer_slice(&value);
	return store_put(transaction, table->kind, &stored,
			 former->value.data == NULL ? NULL : former, fault);
}

/* ---- writing JSON ---- */

static bool member_is_zero(const struct member *member, const void *record)
{
	static const struct id zero = { { 0 } };
	const void *at = member_value(member, record);

	switch (member->kind) {
	case MEMBER_KEY:
	case MEMBER_PARENT:
	case MEMBER_ID:
		return id_compare(at, &zero) == 0;
	case MEMBER_NAME:
	case MEMBER_TEXT:
	case MEMBER_BYTES:
	case MEMBER_JSON:
	case MEMBER_PART:
		return ((const struct slice *)at)->size == 0;
	case MEMBER_LIST:
	case MEMBER_ARRAY:
		return item_count(member, record) == 0;
	case MEMBER_FIXED:
		return false;
	case MEMBER_SWITCH:
	case MEMBER_BOOLEAN:
	case MEMBER_CHOICE:
	case MEMBER_NUMBER:
	case MEMBER_TIME:
	case MEMBER_SECONDS:
	case MEMBER_ETAG:
		break;
	}
	return number_get(member->width, at) == 0;
}

static bool is_dumped(const struct member *member)
{
	return (member->flags & MEMBER_DERIVED) == 0 && member->kind != MEMBER_ETAG;
}

static void print_member(const struct member *member, const void *record, struct json_writer *text)
{
	const void *at = member_value(member, record);
	const struct slice *bytes = at;
	const char *name = member->name;

	switch (member->kind) {
	case MEMBER_KEY:
	case MEMBER_PARENT:
	case MEMBER_ID:
		writer_plain(text, name, id_as_text(text->text.arena, at));
		break;
	case MEMBER_SWITCH:
	case MEMBER_BOOLEAN:
		writer_flag(text, name, *(const bool *)at);
		break;
	case MEMBER_NUMBER:
		writer_integer(text, name, (int64_t)number_get(member->width, at));
		break;
	case MEMBER_CHOICE:
		writer_text(text, name, slice_of(member->names[number_get(member->width, at)]));
		break;
	case MEMBER_TIME:
		writer_time_milliseconds(text, name, (int64_t)number_get(member->width, at));
		break;
	case MEMBER_SECONDS:
		writer_time(text, name, (int64_t)number_get(member->width, at) * 1000);
		break;
	case MEMBER_NAME:
	case MEMBER_TEXT:
		writer_text(text, name, *bytes);
		break;
	case MEMBER_FIXED:
		writer_plain(text, name,
			     text_base64url(text->text.arena, (struct slice){ at, member->bytes }));
		break;
	case MEMBER_BYTES:
		writer_plain(text, name, text_base64url(text->text.arena, *bytes));
		break;
	case MEMBER_JSON:
	case MEMBER_PART:
		writer_json(text, name, *bytes);
		break;
	case MEMBER_LIST:
	case MEMBER_ARRAY:
		writer_open(text, name, '[');
		for (size_t i = 0; i < item_count(member, record); i++)
			record_print(member->items,
				     items_of(member, record) + i * member->items->size, NULL,
				     text);
		writer_close(text, ']');
		break;
	case MEMBER_ETAG:
		break;
	}
}

void record_print(const struct record_table *table, const void *record, const char *name,
		  struct json_writer *text)
{
	writer_open(text, name, '{');
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];

		if (is_dumped(member) &&
		    (member->when == NOT_STORED || is_stored(table, member, record)) &&
		    ((member->flags & MEMBER_ABSENT) == 0 || !member_is_zero(member, record)))
			print_member(member, record, text);
	}
	writer_close(text, '}');
}

/* ---- reading JSON ---- */

/* The state of record_scan. */
struct scan {
	struct findings *findings;
	uint64_t etag;
};

static const char *member_pointer(struct findings *findings, const char *pointer, const char *name)
{
	return arena_text(findings->arena, "%s/%s", pointer, name);
}

static bool scan_bytes(struct findings *findings, const struct member *member, struct slice text,
		       void *at)
{
	struct slice bytes;

	if (!text_base64url_decode(findings->arena, text, &bytes) ||
	    (member->kind == MEMBER_FIXED && bytes.size != member->bytes))
		return false;
	if (member->kind == MEMBER_FIXED)
		memcpy(at, bytes.data, bytes.size);
	else
		*(struct slice *)at = bytes;
	return true;
}

static void scan_items(struct scan *scan, const struct member *member, const json_t *list,
		       const char *pointer, void *record)
{
	const size_t count = json_array_size(list), size = member->items->size;
	char *items = member_at(member, record);

	if (count > (uint64_t)member->most) {
		findings_add(scan->findings, pointer, "must have at most %lld items",
			     (long long)member->most);
		return;
	}
	if (member->kind == MEMBER_LIST) {
		items = arena_zero(scan->findings->arena, (count + 1) * size);
		*(char **)member_at(member, record) = items;
	}
	for (size_t i = 0; i < count && !findings_are_full(scan->findings); i++)
		record_scan(member->items, json_array_get(list, i),
			    arena_text(scan->findings->arena, "%s/%zu", pointer, i), scan->etag,
			    items + i * size, scan->findings);
	*(size_t *)((char *)record + member->count) = count;
}

/* Sets the member and returns NULL, or returns what the value must be. */
static const char *scan_value(struct scan *scan, const struct member *member, const json_t *value,
			      const char *pointer, void *record)
{
	void *at = member_at(member, record);
	const struct slice text = text_of_json(value);
	struct buffer json = BUFFER_INITIAL(scan->findings->arena);
	int64_t time;

	switch (member->kind) {
	case MEMBER_KEY:
	case MEMBER_PARENT:
	case MEMBER_ID:
		return id_parse(text, at) ? NULL : "must be an ID";
	case MEMBER_SWITCH:
	case MEMBER_BOOLEAN:
		number_set(member->width, at, json_is_true(value));
		return json_is_boolean(value) ? NULL : "must be true or false";
	case MEMBER_NUMBER:
		number_set(member->width, at, (uint64_t)json_integer_value(value));
		return json_is_integer(value) && json_integer_value(value) >= member->least &&
				       json_integer_value(value) <= member->most
			       ? NULL
			       : arena_text(scan->findings->arena,
					    "must be an integer from %lld to %lld",
					    (long long)member->least, (long long)member->most);
	case MEMBER_CHOICE:
		for (uint64_t i = 0; i <= (uint64_t)member->most; i++) {
			if (slice_is(text, member->names[i])) {
				number_set(member->width, at, i);
				return NULL;
			}
		}
		return "must be one of the allowed values";
	case MEMBER_TIME:
	case MEMBER_SECONDS:
		if (!text_time_parse(text, &time) || time < 0)
			return "must be a time since 1970";
		number_set(member->width, at,
			   (uint64_t)(member->kind == MEMBER_TIME ? time : time / 1000));
		return NULL;
	case MEMBER_NAME:
	case MEMBER_TEXT:
		*(struct slice *)at = text;
		return text.data != NULL ? NULL : "must be a string";
	case MEMBER_FIXED:
	case MEMBER_BYTES:
		return text.data != NULL && scan_bytes(scan->findings, member, text, at)
			       ? NULL
			       : "must be base64url";
	case MEMBER_JSON:
	case MEMBER_PART:
		if (!json_is_object(value))
			return "must be an object";
		buffer_append_json(&json, value);
		*(struct slice *)at = buffer_slice(&json);
		return NULL;
	case MEMBER_LIST:
	case MEMBER_ARRAY:
		if (!json_is_array(value))
			return "must be a list";
		scan_items(scan, member, value, pointer, record);
		return NULL;
	case MEMBER_ETAG:
		break;
	}
	return NULL;
}

void record_scan(const struct record_table *table, const json_t *object, const char *pointer,
		 uint64_t etag, void *record, struct findings *findings)
{
	struct scan scan = { findings, etag };
	size_t known = 0;
	const char *name;
	json_t *other;

	if (!json_is_object(object)) {
		findings_add(findings, pointer, "must be an object");
		return;
	}
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		const json_t *value = json_object_get(object, member->name);
		const char *place, *sentence;

		if (member->kind == MEMBER_ETAG)
			number_set(member->width, member_at(member, record), etag);
		if (!is_dumped(member))
			continue;
		place = value == NULL && ((member->when != 0 && member->when != NOT_STORED) ||
					  (member->flags & MEMBER_ABSENT) != 0)
				? NULL
				: member_pointer(findings, pointer, member->name);
		if (value == NULL && place != NULL)
			findings_add(findings, place, "is required");
		if (value == NULL)
			continue;
		known++;
		sentence = scan_value(&scan, member, value, place, record);
		if (sentence != NULL)
			findings_add(findings, place, "%s", sentence);
		if (member->when != 0 && member->when != NOT_STORED)
			*(unsigned *)((char *)record + table->set) |= member->when;
	}
	if (known == json_object_size(object))
		return;

	/* Some members have no row. */
	json_object_foreach((json_t *)(uintptr_t)object, name, other) {
		size_t i = 0;

		while (i < table->member_count && (!is_dumped(&table->members[i]) ||
						   strcmp(table->members[i].name, name) != 0))
			i++;
		if (i == table->member_count)
			findings_add(findings, pointer, "has an unknown member");
	}
}

/* ---- checking ---- */

static const char *flaw_of(const struct member *member, const void *record,
			   struct findings *findings)
{
	const struct slice *text = member_value(member, record);

	switch (member->kind) {
	case MEMBER_NUMBER:
		return is_in_range(member, number_get(member->width, member_value(member, record)))
			       ? NULL
			       : arena_text(findings->arena, "must be from %lld to %lld",
					    (long long)member->least, (long long)member->most);
	case MEMBER_NAME:
	case MEMBER_TEXT:
		if (!text_is_utf8(*text))
			return "must be UTF-8";
		/* fall through */
	case MEMBER_BYTES:
	case MEMBER_JSON:
		if (text->size < (size_t)member->least || text->size > (size_t)member->most)
			return arena_text(findings->arena, "must have %lld to %lld bytes",
					  (long long)member->least, (long long)member->most);
		if (member->kind != MEMBER_JSON)
			return NULL;
		/* fall through */
	case MEMBER_PART:
		return ((member->flags & MEMBER_ABSENT) != 0 && text->size == 0) ||
				       json_text_read_stored(findings->arena, *text, NULL) != NULL
			       ? NULL
			       : "is not JSON";
	case MEMBER_KEY:
	case MEMBER_PARENT:
	case MEMBER_SWITCH:
	case MEMBER_BOOLEAN:
	case MEMBER_TIME:
	case MEMBER_SECONDS:
	case MEMBER_ETAG:
	case MEMBER_CHOICE:
	case MEMBER_ID:
	case MEMBER_FIXED:
	case MEMBER_LIST:
	case MEMBER_ARRAY:
		break;
	}
	return NULL;
}

void record_verify(const struct record_table *table, const void *record, const char *pointer,
		   bool is_whole, struct findings *findings)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		const char *flaw = NULL;

		assert(member->plain == 0 || member->plain == member->width);
		assert((member->kind <= MEMBER_NAME) == (i < table->keys));
		if (is_whole ? member->when == NOT_STORED : (member->flags & MEMBER_DERIVED) != 0)
			continue;
		if (member->when == NOT_STORED || is_stored(table, member, record))
			flaw = flaw_of(member, record, findings);
		if (flaw != NULL)
			findings_add(findings, member_pointer(findings, pointer, member->name),
				     "%s", flaw);
		if (member->kind != MEMBER_LIST && member->kind != MEMBER_ARRAY)
			continue;
		for (size_t j = 0; j < item_count(member, record); j++)
			record_verify(
				member->items, items_of(member, record) + j * member->items->size,
				arena_text(findings->arena, "%s/%s/%zu", pointer, member->name, j),
				is_whole, findings);
	}
}
