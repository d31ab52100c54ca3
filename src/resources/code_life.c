/* See resources/code_life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_life.h"

#include "resources/packed.h"

#define VERSION 1
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

static bool decode(struct call *call, struct packed *reader, struct room_codes *codes)
{
	bool is_right = packed_number(reader, 1) == VERSION;

	codes->was_asked = packed_number(reader, 1) != 0;
	codes->last_seen = (uint32_t)packed_number(reader, 4);
	codes->lost_count = packed_number(reader, 4);
	if (codes->lost_count > reader->rest.size)
		return false;
	codes->lost_names = arena_alloc(call->arena,
					(codes->lost_count + 1) * sizeof *codes->lost_names);
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
	return is_right && packed_ended(reader);
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

/* ---- what a code shows ---- */

bool code_show(struct call *call, const struct room_codes *codes, size_t index,
	       const struct template_record *owner, struct shown_code *shown, struct fault *fault)
{
	const struct code *code = &codes->codes[index];
	const struct template_role *role;
	struct buried_role buried;

	*shown = (struct shown_code){ .created = code->created, .updated = code->updated };
	if (code->is_lost) {
		shown->role = codes->lost_names[code->role];
		return true;
	}
	role = template_live_role(owner, code->role);
	if (role != NULL) {
		shown->role = role->name;
		shown->has_role = true;
		shown->is_enabled = code->is_enabled;
		return true;
	}
	if (!template_buried_role(call, &owner->id, code->role, &buried, fault))
		return false;
	shown->role = buried.name;
	if (code->is_enabled)
		shown->updated = buried.deleted / 1000;
	return true;
}

size_t codes_oldest_enabled(const struct room_codes *codes, uint32_t identity)
{
	size_t i = 0;

	while (i < codes->count && (codes->codes[i].is_lost || !codes->codes[i].is_enabled ||
				    codes->codes[i].role != identity))
		i++;
	return i;
}

size_t codes_count_enabled(const struct room_codes *codes, const struct template_record *owner)
{
	size_t n = 0;

	for (size_t i = 0; i < codes->count; i++) {
		const struct code *code = &codes->codes[i];

		if (code->is_enabled && !code->is_lost &&
		    template_live_role(owner, code->role) != NULL)
			n++;
	}
	return n;
}

size_t codes_index(const struct room_codes *codes, struct slice letters)
{
	size_t i = 0;

	while (i < codes->count && !slice_equal(letters_of(&codes->codes[i]), letters))
		i++;
	return i;
}

/* ---- making codes ---- */

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

static bool draw_letters(struct call *call, char letters[CODE_TEXT_SIZE], struct fault *fault)
{
	struct id account, room;
	bool is_taken = true;

	while (is_taken) {
		code_make(call->environment->clock, letters);
		if (!code_find(call, slice_of(letters), &account, &room, &is_taken, fault))
			return false;
	}
	return true;
}

static struct code *next_code(struct call *call, struct room_codes *codes)
{
	if (codes->count == codes->capacity) {
		size_t capacity = codes->capacity * 2 + CAPACITY_INITIAL;
		struct code *larger = arena_alloc(call->arena, capacity * sizeof *larger);

		if (codes->count > 0)
			memcpy(larger, codes->codes, codes->count * sizeof *larger);
		codes->codes = larger;
		codes->capacity = capacity;
	}
	return &codes->codes[codes->count++];
}

bool codes_add(struct call *call, struct room_codes *codes, uint32_t identity, int64_t created,
	       struct fault *fault)
{
	struct code code = {
		.is_enabled = true,
		.role = identity,
		.created = created,
		.updated = created,
	};

	if (!draw_letters(call, code.letters, fault) ||
	    !code_put_place(call, letters_of(&code), &codes->room, fault))
		return false;
	*next_code(call, codes) = code;
	return true;
}

/* The role with the lowest identity above this one, or NULL: identities rise in the order in which
 * roles were added, the template's own order does not. */
static const struct template_role *next_added(const struct template_record *owner,
					      uint32_t identity)
{
	const struct template_role *next = NULL;

	for (size_t i = 0; i < owner->role_count; i++) {
		const struct template_role *role = &owner->roles[i];

		if (role->identity > identity && (next == NULL || role->identity < next->identity))
			next = role;
	}
	return next;
}

bool codes_are_due(const struct room_codes *codes, const struct template_record *owner)
{
	return codes->was_asked && next_added(owner, codes->last_seen) != NULL;
}

bool codes_make_due(struct call *call, struct room_codes *codes,
		    const struct template_record *owner, struct fault *fault)
{
	const struct template_role *role;

	while (codes->was_asked && (role = next_added(owner, codes->last_seen)) != NULL) {
		if (!codes_add(call, codes, role->identity, role->added / 1000, fault))
			return false;
		codes->last_seen = role->identity;
	}
	codes->last_seen = owner->last_identity;
	return true;
}

/* ---- a room moves, a room goes ---- */

static uint32_t lost_name_index(struct call *call, struct room_codes *codes, struct slice name)
{
	struct slice *names;
	size_t i = 0;

	while (i < codes->lost_count && !slice_equal(codes->lost_names[i], name))
		i++;
	if (i < codes->lost_count)
		return (uint32_t)i;
	names = arena_alloc(call->arena, (codes->lost_count + 1) * sizeof *names);
	if (codes->lost_count > 0)
		memcpy(names, codes->lost_names, codes->lost_count * sizeof *names);
	names[codes->lost_count] = name;
	codes->lost_names = names;
	return (uint32_t)codes->lost_count++;
}

/* A code keeps its role when both templates have one of that name, else it is lost now. */
static bool move_code(struct call *call, struct room_codes *codes, size_t index,
		      const struct template_record *from, const struct template_record *to,
		      struct fault *fault)
{
	struct code *code = &codes->codes[index];
	struct shown_code shown;
	size_t role;

	if (code->is_lost)
		return true;
	if (!code_show(call, codes, index, from, &shown, fault))
		return false;
	role = template_role_index(to, shown.role);
	if (shown.has_role && role < to->role_count) {
		code->role = to->roles[role].identity;
		return true;
	}
	code->updated = shown.is_enabled ? call->now / 1000 : shown.updated;
	code->is_enabled = false;
	code->is_lost = true;
	code->role = lost_name_index(call, codes, shown.role);
	return true;
}

bool codes_move(struct call *call, const struct id *room, const struct template_record *from,
		const struct template_record *to, struct fault *fault)
{
	struct room_codes codes;

	if (!codes_load(call, room, &codes, fault) || !codes_make_due(call, &codes, from, fault))
		return false;
	for (size_t i = 0; i < codes.count; i++) {
		if (!move_code(call, &codes, i, from, to, fault))
			return false;
	}
	for (size_t i = 0; codes.was_asked && i < to->role_count; i++) {
		const struct template_role *role = &to->roles[i];

		if (template_role_index(from, role->name) == from->role_count &&
		    !codes_add(call, &codes, role->identity, call->now / 1000, fault))
			return false;
	}
	codes.last_seen = to->last_identity;
	return codes_put(call, &codes, fault);
}

bool codes_remove_all(struct call *call, const struct id *room, struct fault *fault)
{
	struct room_codes codes;

	if (!codes_load(call, room, &codes, fault))
		return false;
	for (size_t i = 0; i < codes.count; i++) {
		if (!store_remove(call->transaction, STORE_CODE, letters_of(&codes.codes[i]),
				  fault))
			return false;
	}
	return store_remove(call->transaction, STORE_ROOM_CODES,
			    account_key(call->arena, &call->account, id_slice(room)), fault);
}
