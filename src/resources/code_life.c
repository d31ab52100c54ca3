/* See resources/code_life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_life.h"

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

/* ---- making codes ---- */

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
	    !code_put_place(call, slice_of(code.letters), &codes->room, fault))
		return false;
	*codes_append(call, codes) = code;
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

/* ---- a room moves ---- */

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
