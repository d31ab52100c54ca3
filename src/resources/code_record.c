/* See resources/code_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_record.h"

#include "resources/packed.h"

/* 1 had no due roles. */
#define VERSION 2
#define CAPACITY_INITIAL 8

/* ---- the stored form ---- */

enum code_flag { CODE_ENABLED = 1 << 0, CODE_LOST = 1 << 1 };

static struct slice letters_of(const struct code *code)
{
	return (struct slice){ code->letters, CODE_TEXT_SIZE - 1 };
}

bool codes_put(struct call *call, const struct room_codes *codes, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);

	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, codes->was_asked, 1);
	packed_put_number(&value, codes->last_seen, 4);
	packed_put_number(&value, codes->lost_count, 4);
	for (size_t i = 0; i < codes->lost_count; i++)
		packed_put_text(&value, codes->lost_names[i]);
	packed_put_number(&value, codes->count, 4);
	for (size_t i = 0; i < codes->count; i++) {
		const struct code *code = &codes->codes[i];

		buffer_append(&value, letters_of(code));
		packed_put_number(&value,
				  (code->is_enabled ? (unsigned)CODE_ENABLED : 0) |
					  (code->is_lost ? (unsigned)CODE_LOST : 0),
				  1);
		packed_put_number(&value, code->role, 4);
		packed_put_number(&value, (uint64_t)code->created, 8);
		packed_put_number(&value, (uint64_t)code->updated, 8);
	}
	packed_put_number(&value, codes->due_count, 4);
	for (size_t i = 0; i < codes->due_count; i++) {
		packed_put_number(&value, codes->due[i].identity, 4);
		packed_put_number(&value, (uint64_t)codes->due[i].since, 8);
	}
	if (value.size > STORE_VALUE_MAX)
		return fault_detail(fault, FAULT_TOO_LARGE,
				    "the codes of the room, former ones too, would take %zu bytes, "
				    "more than %zu",
				    value.size, STORE_VALUE_MAX);
	return store_put(call->transaction, STORE_ROOM_CODES,
			 account_key(call->arena, &call->account, id_slice(&codes->room)),
			 buffer_slice(&value), fault);
}

static void decode_code(struct packed *reader, struct code *code)
{
	uint64_t flags;

	for (size_t i = 0; i + 1 < CODE_TEXT_SIZE; i++)
		code->letters[i] = (char)packed_number(reader, 1);
	code->letters[CODE_TEXT_SIZE - 1] = '\0';
	flags = packed_number(reader, 1);
	code->is_enabled = (flags & CODE_ENABLED) != 0;
	code->is_lost = (flags & CODE_LOST) != 0;
	code->role = (uint32_t)packed_number(reader, 4);
	code->created = (int64_t)packed_number(reader, 8);
	code->updated = (int64_t)packed_number(reader, 8);
}

static bool decode_due(struct call *call, struct packed *reader, struct room_codes *codes)
{
	codes->due_count = packed_number(reader, 4);
	if (codes->due_count > reader->rest.size)
		return false;
	codes->due = arena_alloc(call->arena, (codes->due_count + 1) * sizeof *codes->due);
	for (size_t i = 0; i < codes->due_count; i++) {
		codes->due[i].identity = (uint32_t)packed_number(reader, 4);
		codes->due[i].since = (int64_t)packed_number(reader, 8);
	}
	return true;
}

static bool decode(struct call *call, struct packed *reader, struct room_codes *codes)
{
	uint64_t version = packed_number(reader, 1);

	codes->was_asked = packed_number(reader, 1) != 0;
	codes->last_seen = (uint32_t)packed_number(reader, 4);
	codes->lost_count = packed_number(reader, 4);
	if (codes->lost_count > reader->rest.size)
		return false;
	codes->lost_capacity = codes->lost_count + 1;
	codes->lost_names = arena_alloc(call->arena,
					codes->lost_capacity * sizeof *codes->lost_names);
	for (size_t i = 0; i < codes->lost_count; i++)
		codes->lost_names[i] = packed_text(reader);
	codes->count = packed_number(reader, 4);
	if (codes->count > reader->rest.size)
		return false;
	codes->capacity = codes->count + CAPACITY_INITIAL;
	codes->codes = arena_alloc(call->arena, codes->capacity * sizeof *codes->codes);
	for (size_t i = 0; i < codes->count; i++) {
		decode_code(reader, &codes->codes[i]);
		if (codes->codes[i].is_lost && codes->codes[i].role >= codes->lost_count)
			return false;
	}
	if (version > 1 && !decode_due(call, reader, codes))
		return false;
	return version >= 1 && version <= VERSION && packed_ended(reader);
}

bool codes_load(struct call *call, const struct id *room, struct room_codes *codes,
		struct fault *fault)
{
	struct slice key = account_key(call->arena, &call->account, id_slice(room));
	struct slice value;
	struct packed reader;

	*codes = (struct room_codes){ .room = *room };
	if (!store_get(call->transaction, STORE_ROOM_CODES, key, &value, fault))
		return false;
	if (value.data == NULL)
		return true;
	reader = (struct packed){ .rest = value };
	if (!decode(call, &reader, codes))
		return packed_damaged("codes of a room", key, fault);
	return true;
}

/* The items, or a copy of them, with room for one more. */
static void *with_room(struct call *call, void *items, size_t count, size_t *capacity, size_t size)
{
	void *larger;

	if (count < *capacity)
		return items;
	*capacity = *capacity * 2 + CAPACITY_INITIAL;
	larger = arena_alloc(call->arena, *capacity * size);
	if (count > 0)
		memcpy(larger, items, count * size);
	return larger;
}

struct code *codes_append(struct call *call, struct room_codes *codes)
{
	codes->codes = with_room(call, codes->codes, codes->count, &codes->capacity,
				 sizeof *codes->codes);
	return &codes->codes[codes->count++];
}

static void note_lost(struct room_codes *codes, size_t index)
{
	struct slice name = codes->lost_names[index];

	if (json_object_setn_new(codes->lost_indexes, name.data, name.size,
				 json_integer((json_int_t)index)) != 0)
		abort();
}

uint32_t codes_lost_index(struct call *call, struct room_codes *codes, struct slice name)
{
	const json_t *index;

	if (codes->lost_indexes == NULL) {
		codes->lost_indexes = arena_json(call->arena, json_object());
		for (size_t i = 0; i < codes->lost_count; i++)
			note_lost(codes, i);
	}
	index = json_object_getn(codes->lost_indexes, name.data, name.size);
	if (index != NULL)
		return (uint32_t)json_integer_value(index);
	codes->lost_names = with_room(call, codes->lost_names, codes->lost_count,
				      &codes->lost_capacity, sizeof *codes->lost_names);
	codes->lost_names[codes->lost_count] = name;
	note_lost(codes, codes->lost_count);
	return (uint32_t)codes->lost_count++;
}

void codes_forget_names(struct call *call, struct room_codes *codes)
{
	struct slice *names = codes->lost_names;
	size_t n = codes->lost_count;
	uint32_t *places = arena_alloc(call->arena, (n + 1) * sizeof *places);

	memset(places, 0xff, n * sizeof *places);
	codes->lost_count = 0;
	codes->lost_indexes = NULL;
	codes->lost_names = arena_alloc(call->arena, codes->lost_capacity * sizeof *names);
	for (size_t i = 0; i < codes->count; i++) {
		struct code *code = &codes->codes[i];

		if (!code->is_lost)
			continue;
		if (places[code->role] == UINT32_MAX) {
			places[code->role] = (uint32_t)codes->lost_count;
			codes->lost_names[codes->lost_count++] = names[code->role];
		}
		code->role = places[code->role];
	}
}

size_t codes_index(const struct room_codes *codes, struct slice letters)
{
	size_t i = 0;

	while (i < codes->count && !slice_equal(letters_of(&codes->codes[i]), letters))
		i++;
	return i;
}

/* ---- from a code to its room ---- */

bool code_find(struct call *call, struct slice letters, struct id *account, struct id *room,
	       bool *is_there, struct fault *fault)
{
	struct slice value;
	struct packed reader;

	*is_there = false;
	if (!code_is_well_formed(letters))
		return true;
	if (!store_get(call->transaction, STORE_CODE, letters, &value, fault))
		return false;
	*is_there = value.data != NULL;
	if (!*is_there)
		return true;
	reader = (struct packed){ .rest = value };
	*account = packed_id(&reader);
	*room = packed_id(&reader);
	if (!packed_ended(&reader))
		return packed_damaged("code", SLICE(""), fault); /* codes stay out of the log */
	return true;
}

bool code_put_place(struct call *call, struct slice letters, const struct id *room,
		    struct fault *fault)
{
	struct buffer place = BUFFER_INITIAL(call->arena);

	packed_put_id(&place, &call->account);
	packed_put_id(&place, room);
	return store_put(call->transaction, STORE_CODE, letters, buffer_slice(&place), fault);
}

bool code_remove_place(struct call *call, struct slice letters, struct fault *fault)
{
	return store_remove(call->transaction, STORE_CODE, letters, fault);
}

bool codes_remove_all(struct call *call, const struct id *room, struct fault *fault)
{
	struct room_codes codes;

	if (!codes_load(call, room, &codes, fault))
		return false;
	for (size_t i = 0; i < codes.count; i++) {
		if (!code_remove_place(call, letters_of(&codes.codes[i]), fault))
			return false;
	}
	return store_remove(call->transaction, STORE_ROOM_CODES,
			    account_key(call->arena, &call->account, id_slice(room)), fault);
}
