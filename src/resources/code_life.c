/* See resources/code_life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_life.h"

#include "resources/buried_role.h"
#include "resources/packed.h"

/* ---- a room with its codes ---- */

bool room_subject_load(struct call *call, struct room_subject *subject, struct fault *fault)
{
	return template_load(call, &subject->room.template_id, &subject->owner, fault) &&
	       codes_load(call, &subject->room.id, &subject->codes, fault);
}

bool room_subject_of_code(struct call *call, const struct id *room, struct slice letters,
			  struct room_subject *subject, size_t *index, struct fault *fault)
{
	if (!room_load(call, room, &subject->room, fault) ||
	    !room_subject_load(call, subject, fault))
		return false;
	*index = codes_index(&subject->codes, letters);
	return *index < subject->codes.count ||
	       packed_missing("a code of the room",
			      account_key(call->arena, &call->account, id_slice(room)), fault);
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
	if (!buried_role_load(call, &owner->id, code->role, &buried, fault))
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

static bool code_is_former(const struct code *code, const struct template_record *owner)
{
	return code->is_lost || template_live_role(owner, code->role) == NULL;
}

size_t codes_count(const struct room_codes *codes, const struct template_record *owner,
		   bool is_enabled)
{
	size_t n = 0;

	for (size_t i = 0; i < codes->count; i++) {
		const struct code *code = &codes->codes[i];

		n += (code->is_enabled || !is_enabled) && !code_is_former(code, owner);
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

/* ---- what is due ---- */

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
	for (size_t i = 0; i < codes->due_count; i++) {
		if (template_live_role(owner, codes->due[i].identity) != NULL)
			return true;
	}
	return codes->was_asked && next_added(owner, codes->last_seen) != NULL;
}

bool codes_due_is_right(const struct room_codes *codes, size_t index)
{
	uint32_t identity = codes->due[index].identity;

	for (size_t i = 0; i < index; i++) {
		if (codes->due[i].identity == identity)
			return false;
	}
	for (size_t i = 0; i < codes->count; i++) {
		if (!codes->codes[i].is_lost && codes->codes[i].role == identity)
			return false;
	}
	return codes->was_asked && identity <= codes->last_seen;
}

/* Names all live roles that are due, in the order in which they became so, and no others. */
static void gather_due(struct call *call, struct room_codes *codes,
		       const struct template_record *owner)
{
	size_t most = codes->due_count + owner->role_count + 1;
	struct due_role *due = arena_alloc(call->arena, most * sizeof *due);
	const struct template_role *role;
	size_t n = 0;

	for (size_t i = 0; i < codes->due_count; i++) {
		if (template_live_role(owner, codes->due[i].identity) != NULL)
			due[n++] = codes->due[i];
	}
	while (codes->was_asked && (role = next_added(owner, codes->last_seen)) != NULL) {
		due[n++] = (struct due_role){ role->identity, role->added / 1000 };
		codes->last_seen = role->identity;
	}
	codes->last_seen = owner->last_identity;
	codes->due = due;
	codes->due_count = n;
}

bool codes_make_due(struct call *call, struct room_codes *codes,
		    const struct template_record *owner, struct fault *fault)
{
	gather_due(call, codes, owner);
	for (size_t i = 0; i < codes->due_count; i++) {
		if (!codes_add(call, codes, codes->due[i].identity, codes->due[i].since, fault))
			return false;
	}
	codes->due_count = 0;
	return true;
}

/* ---- former codes ---- */

/* Its role is gone for good: what it shows is written down. */
static void lose_code(struct call *call, struct room_codes *codes, size_t index,
		      const struct shown_code *shown, int64_t updated)
{
	struct code *code = &codes->codes[index];

	code->updated = updated;
	code->is_enabled = false;
	code->is_lost = true;
	code->role = codes_lost_index(call, codes, shown->role);
}

/* How many of the oldest former codes go now. */
static size_t count_superfluous(const struct room_codes *codes, const struct template_record *owner)
{
	size_t n = codes->count - codes_count(codes, owner, false);

	n = n > CODES_FORMER_MOST ? n - CODES_FORMER_MOST : 0;
	return n < CODES_REMOVED_AT_ONCE ? n : CODES_REMOVED_AT_ONCE;
}

static bool remove_superfluous(struct call *call, struct room_codes *codes,
			       const struct template_record *owner, struct fault *fault)
{
	size_t left = count_superfluous(codes, owner), kept = 0;

	if (left == 0)
		return true;
	for (size_t i = 0; i < codes->count; i++) {
		const struct code *code = &codes->codes[i];

		if (left == 0 || !code_is_former(code, owner)) {
			codes->codes[kept++] = *code;
			continue;
		}
		left--;
		if (!code_remove_place(call, slice_of(code->letters), fault))
			return false;
	}
	codes->count = kept;
	codes_forget_names(call, codes);
	return true;
}

bool codes_store(struct call *call, struct room_codes *codes, const struct template_record *owner,
		 struct fault *fault)
{
	struct shown_code shown;

	if (!remove_superfluous(call, codes, owner, fault))
		return false;
	for (size_t i = 0; i < codes->count; i++) {
		if (codes->codes[i].is_lost || !code_is_former(&codes->codes[i], owner))
			continue;
		if (!code_show(call, codes, i, owner, &shown, fault))
			return false;
		lose_code(call, codes, i, &shown, shown.updated);
	}
	return codes_put(call, codes, fault);
}

/* ---- a room moves ---- */

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
	lose_code(call, codes, index, &shown, shown.is_enabled ? call->now / 1000 : shown.updated);
	return true;
}

/* What was due stays so where both templates have a role of that name; the new roles are due now. */
static void move_due(struct call *call, struct room_codes *codes,
		     const struct template_record *from, const struct template_record *to)
{
	size_t most = codes->due_count + to->role_count + 1;
	struct due_role *due = arena_alloc(call->arena, most * sizeof *due);
	size_t n = 0;

	for (size_t i = 0; i < codes->due_count; i++) {
		const struct template_role *due_role = template_live_role(from,
									  codes->due[i].identity);
		size_t role = due_role == NULL ? to->role_count
					       : template_role_index(to, due_role->name);

		if (role < to->role_count)
			due[n++] = (struct due_role){ to->roles[role].identity,
						      codes->due[i].since };
	}
	for (size_t i = 0; codes->was_asked && i < to->role_count; i++) {
		const struct template_role *role = &to->roles[i];

		if (template_role_index(from, role->name) == from->role_count)
			due[n++] = (struct due_role){ role->identity, call->now / 1000 };
	}
	codes->due = due;
	codes->due_count = n;
	codes->last_seen = to->last_identity;
}

bool codes_move(struct call *call, const struct id *room, const struct template_record *from,
		const struct template_record *to, struct fault *fault)
{
	struct room_codes codes;

	if (!codes_load(call, room, &codes, fault) ||
	    !remove_superfluous(call, &codes, from, fault))
		return false;
	gather_due(call, &codes, from);
	for (size_t i = 0; i < codes.count; i++) {
		if (!move_code(call, &codes, i, from, to, fault))
			return false;
	}
	move_due(call, &codes, from, to);
	return codes_store(call, &codes, to, fault);
}
