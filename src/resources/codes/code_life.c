/* See resources/codes/code_life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/code_life.h"

#include "resources/stored/code_words.h"
#include "resources/stored/deleted_role.h"
#include "resources/garbage.h"
#include "records/kinds.h"
#include "resources/stored/media_record.h"
#include "records/record.h"

/* Rooms that one request visits to resolve references to deleted roles. */
#define ROOMS_VISITED 8

/* ---- a room with its codes ---- */

bool room_subject_load(struct call *call, enum store_reading reading, struct room_subject *subject,
		       struct fault *fault)
{
	return template_load(call, &subject->room.template_id, &subject->template, fault) &&
	       codes_load(call, &subject->room.id, reading, &subject->codes, fault);
}

static bool load_room_and_codes(struct call *call, const struct load *load, struct fault *fault)
{
	const enum store_reading reading = load_reading(call, load);
	struct room_subject *subject = arena_alloc(call->arena, sizeof *subject);

	call->subject = subject;
	return room_load_by_id(call, call->parameters[0], reading, &subject->room, fault) &&
	       codes_load(call, &subject->room.id, reading, &subject->codes, fault);
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	return load_room_and_codes(call, load, fault) &&
	       template_load(call, &call->subject->room.template_id, &call->subject->template,
			     fault);
}

/* The first request for a room is the most frequent one. */
static bool load_to_create(struct call *call, const struct load *load, struct fault *fault)
{
	if (!load_room_and_codes(call, load, fault))
		return false;
	if (!call->subject->codes.was_asked && !call_is_writing(call))
		return call_write_instead(call);
	return template_load(call, &call->subject->room.template_id, &call->subject->template,
			     fault);
}

static const struct read reads_of_path[] = {
	READ_BY_ID(kind_room),
	READ_PARENT(kind_template),
	READ_BY_ID(kind_codes),
	READS_END,
};
const struct loading load_subject = { .load = load_of_path, .reads = reads_of_path };
const struct loading load_codes_of_roles = { .load = load_to_create, .reads = reads_of_path };

bool room_subject_of_code(struct call *call, const struct code *code, enum store_reading reading,
			  struct room_subject *subject, bool *is_there, struct fault *fault)
{
	bool is_garbage;

	if (!room_find(call, &code->room, reading, &subject->room, is_there, fault))
		return false;
	if (*is_there)
		return room_subject_load(call, reading, subject, fault);
	return garbage_has(call, &kind_room, &code->room, &is_garbage, fault) &&
	       (is_garbage || record_missing("room", &code->room, fault));
}

bool codes_next(struct call *call, const struct id *room, struct code_walk *walk,
		const struct code **code, struct fault *fault)
{
	*code = NULL;
	while (walk->next == walk->page.count) {
		if (walk->page.is_last)
			return true;
		if (!codes_page(call, room, &walk->page, fault))
			return false;
		walk->next = 0;
	}
	*code = &walk->page.codes[walk->next++];
	return true;
}

/* ---- what a code shows ---- */

bool code_show(struct call *call, const struct room_codes *codes, const struct code *code,
	       const struct template_record *template, struct shown_code *shown,
	       struct fault *fault)
{
	const struct code_group *group = codes_group(codes, code->group);
	const struct template_role *role;
	struct deleted_role deleted;

	*shown = (struct shown_code){ .created = code->created, .updated = code->updated };
	if (code->is_former) {
		shown->role = code->role;
		return true;
	}
	if (group == NULL)
		return codes_group_missing(codes, fault);
	if (group->identity == 0) {
		shown->role = group->lost_role;
		if (code->is_enabled)
			shown->updated = group->lost_at;
		return true;
	}
	role = template_live_role(template, group->identity);
	if (role != NULL) {
		shown->role = role->name;
		shown->has_role = true;
		shown->is_enabled = code->is_enabled;
		return true;
	}
	if (!deleted_role_load(call, &template->id, group->identity, &deleted, fault))
		return false;
	shown->role = deleted.name;
	if (code->is_enabled)
		shown->updated = deleted.deleted / 1000;
	return true;
}

const char *code_state(const struct code *code, const struct shown_code *shown, int64_t now)
{
	const struct code_terms *terms = &code->terms;

	if (!shown->has_role)
		return "role_deleted";
	if (!shown->is_enabled)
		return "disabled";
	if ((terms->set & CODE_EXPIRES_AT) != 0 && now / 1000 >= terms->expires_at)
		return "expired";
	if ((terms->set & CODE_MAX_USES) != 0 && terms->uses >= terms->max_uses)
		return "used_up";
	if ((terms->set & CODE_NOT_BEFORE) != 0 && now / 1000 < terms->not_before)
		return "not_yet_valid";
	return "active";
}

struct code_count codes_of_role(const struct room_codes *codes, uint32_t identity)
{
	for (size_t i = 0; i < codes->group_count; i++) {
		const struct code_group *group = &codes->groups[i];

		if (group->identity == identity)
			return (struct code_count){ group->count, group->enabled, group->others };
	}
	return (struct code_count){ 0, 0, 0 };
}

struct code_count codes_count(const struct room_codes *codes,
			      const struct template_record *template)
{
	struct code_count sum = { 0, 0, 0 };

	for (size_t i = 0; i < template->role_count; i++) {
		struct code_count count = codes_of_role(codes, template->roles[i].identity);

		sum.plain += count.plain;
		sum.enabled += count.enabled;
		sum.others += count.others;
	}
	return sum;
}

/* ---- limits ---- */

bool codes_refuse_count(struct fault *fault, const char *message, const char *what, int most)
{
	return fault_explain(fault, FAULT_CONFLICT, message,
			     "the room already has the maximum of %d %s", most, what);
}

bool codes_check_count(const struct room_subject *subject, const struct code *former,
		       const struct code *code, struct fault *fault)
{
	const struct code_count count = codes_count(&subject->codes, &subject->template);
	const bool is_plain = code_is_plain(code);
	const bool was_plain = former != NULL && code_is_plain(former);

	if (is_plain && !was_plain && count.plain >= CODES_MOST)
		return codes_refuse_count(fault, "Too many codes", "codes", CODES_MOST);
	if (!is_plain && (former == NULL || was_plain) && count.others >= CODES_OTHERS_MOST)
		return codes_refuse_count(fault, "Too many codes", "codes that are not plain",
					  CODES_OTHERS_MOST);
	if (is_plain && code->is_enabled && !(was_plain && former->is_enabled) &&
	    count.enabled >= CODES_ENABLED_MOST)
		return codes_refuse_count(fault, "Too many enabled codes", "enabled codes",
					  CODES_ENABLED_MOST);
	return true;
}

/* ---- creating and replacing codes ---- */

struct slice codes_draw_letters(struct call *call)
{
	char drawn[CODE_TEXT_SIZE];

	code_make(call->environment->clock, drawn);
	return arena_copy(call->arena, slice_of(drawn));
}

bool codes_add(struct call *call, struct room_codes *codes, uint32_t identity, int64_t created,
	       struct code *code, struct fault *fault)
{
	call->run.codes_made++;
	code->is_enabled = true;
	code->created = code->updated = created;
	if (code->letters.data == NULL)
		code->letters = codes_draw_letters(call);
	return codes_put_new(call, codes, identity, code, fault);
}

bool codes_put_new(struct call *call, struct room_codes *codes, uint32_t identity,
		   struct code *code, struct fault *fault)
{
	code->room = codes->room;
	code->place = id_lowest(0, ++codes->last_place);
	if (!code->is_former)
		code->group = codes_group_of(call, codes, identity)->number;
	return codes_count_added(codes, code, fault) && code_put(call, code, fault);
}

bool codes_replace(struct call *call, struct room_codes *codes, const struct code *former,
		   const struct code *code, struct fault *fault)
{
	return codes_count_removed(codes, former, fault) && codes_count_added(codes, code, fault) &&
	       code_put(call, code, fault);
}

bool codes_remove(struct call *call, struct room_codes *codes, const struct code *code,
		  struct fault *fault)
{
	return codes_count_removed(codes, code, fault) && code_remove(call, code, fault);
}

/* ---- due codes ---- */

/* Returns the role with the lowest identity above this one, or NULL. Identities rise in the order
 * in which roles were added, unlike the order of roles in the template. */
static const struct template_role *next_added(const struct template_record *template,
					      uint32_t identity)
{
	const struct template_role *next = NULL;

	for (size_t i = 0; i < template->role_count; i++) {
		const struct template_role *role = &template->roles[i];

		if (role->identity > identity && (next == NULL || role->identity < next->identity))
			next = role;
	}
	return next;
}

bool codes_are_due(const struct room_codes *codes, const struct template_record *template)
{
	for (size_t i = 0; i < codes->due_count; i++) {
		if (template_live_role(template, codes->due[i].identity) != NULL)
			return true;
	}
	return codes->was_asked && next_added(template, codes->last_seen) != NULL;
}

bool codes_due_is_right(const struct room_codes *codes, size_t index)
{
	const uint32_t identity = codes->due[index].identity;

	for (size_t i = 0; i < index; i++) {
		if (codes->due[i].identity == identity)
			return false;
	}
	return codes->was_asked && identity <= codes->last_seen &&
	       codes_of_role(codes, identity).plain == 0;
}

/* Sets codes->due to all due roles of the template, in the order in which they became due. */
static void gather_due(struct call *call, struct room_codes *codes,
		       const struct template_record *template)
{
	size_t most = codes->due_count + template->role_count + 1;
	struct due_role *due = arena_alloc(call->arena, most * sizeof *due);
	const struct template_role *role;
	size_t n = 0;

	for (size_t i = 0; i < codes->due_count; i++) {
		if (template_live_role(template, codes->due[i].identity) != NULL)
			due[n++] = codes->due[i];
	}
	while (codes->was_asked && (role = next_added(template, codes->last_seen)) != NULL) {
		due[n++] = (struct due_role){ role->identity, role->added / 1000 };
		codes->last_seen = role->identity;
	}
	codes->last_seen = template->last_identity;
	codes->due = due;
	codes->due_count = n;
}

bool codes_make_due(struct call *call, struct room_codes *codes,
		    const struct template_record *template, struct fault *fault)
{
	gather_due(call, codes, template);
	for (size_t i = 0; i < codes->due_count; i++) {
		struct code code = { .is_former = false };

		if (!codes_add(call, codes, codes->due[i].identity, codes->due[i].since, &code,
			       fault))
			return false;
	}
	codes->due_count = 0;
	return true;
}

/* ---- former codes ---- */

static void lose_group(struct code_group *group, struct slice role, int64_t at)
{
	group->identity = 0;
	group->lost_role = role;
	group->lost_at = at;
}

/* Turns groups of roles that the template no longer has into groups of lost roles. */
static bool lose_deleted(struct call *call, struct room_codes *codes,
			 const struct template_record *template, bool *are_lost,
			 struct fault *fault)
{
	struct deleted_role deleted;

	*are_lost = false;
	for (size_t i = 0; i < codes->group_count; i++) {
		struct code_group *group = &codes->groups[i];

		if (group->identity == 0 || template_live_role(template, group->identity) != NULL)
			continue;
		if (!deleted_role_load(call, &template->id, group->identity, &deleted, fault))
			return false;
		lose_group(group, deleted.name, deleted.deleted / 1000);
		*are_lost = true;
	}
	return true;
}

/* Makes codes of lost roles former ones. Visits the codes in a circle, some with each write, while
 * any code belongs to a lost role. */
static bool settle_codes(struct call *call, struct room_codes *codes, struct fault *fault)
{
	struct code_page page = {
		.side = STORE_ON,
		.after = codes->settled,
		.most = CODES_SETTLED_AT_ONCE,
	};
	uint64_t lost = 0;

	for (size_t i = 0; i < codes->group_count; i++) {
		if (codes->groups[i].identity == 0)
			lost += (uint64_t)codes->groups[i].count + codes->groups[i].others;
	}
	if (lost == 0)
		return true;
	if (!codes_page(call, &codes->room, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		struct code *code = &page.codes[i];
		const struct code former = *code;
		const struct code_group *group = codes_group(codes, code->group);

		if (group == NULL)
			return codes_group_missing(codes, fault);
		if (group->identity != 0)
			continue;
		if (code->is_enabled)
			code->updated = group->lost_at;
		code->is_enabled = false;
		code->is_former = true;
		code->role = group->lost_role;
		if (!codes_replace(call, codes, &former, code, fault))
			return false;
	}
	codes->settled = page.is_last ? 0 : page.after;
	return true;
}

/* Returns how many of these former codes this write removes. */
static uint32_t too_many(uint32_t former)
{
	const uint32_t n = former > CODES_FORMER_MOST ? former - CODES_FORMER_MOST : 0;

	return n < CODES_SETTLED_AT_ONCE ? n : CODES_SETTLED_AT_ONCE;
}

/* Plain and other codes have separate limits, but are read in one order. */
static bool remove_oldest_former(struct call *call, struct room_codes *codes, struct fault *fault)
{
	uint32_t plain = too_many(codes->former_count), others = too_many(codes->former_others);
	struct code_walk walk = { .page = { .side = STORE_OFF, .most = plain + others } };
	const struct code *code;

	while (plain + others > 0) {
		uint32_t *left;

		if (!codes_next(call, &codes->room, &walk, &code, fault))
			return false;
		if (code == NULL)
			break;
		walk.page.most = CODES_SETTLED_AT_ONCE;
		left = code_is_plain(code) ? &plain : &others;
		if (*left == 0)
			continue;
		if (!codes_remove(call, codes, code, fault))
			return false;
		--*left;
	}
	return true;
}

bool codes_store(struct call *call, struct room_codes *codes,
		 const struct template_record *template, struct fault *fault)
{
	bool are_lost;
	size_t n = 0;

	if (!lose_deleted(call, codes, template, &are_lost, fault) ||
	    !settle_codes(call, codes, fault) || !remove_oldest_former(call, codes, fault))
		return false;
	for (size_t i = 0; i < codes->group_count; i++) {
		if (codes->groups[i].count + codes->groups[i].others > 0)
			codes->groups[n++] = codes->groups[i];
	}
	codes->group_count = n;
	return codes_put(call, codes, fault);
}

bool codes_resolve_some(struct call *call, struct template_record *record, struct fault *fault)
{
	struct deleted_roles *deleted = &record->deleted;
	static const struct id no_room = { { 0 } };
	struct store_record rooms[ROOMS_VISITED];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &record->id,
		.above = id_compare(&deleted->last_room, &no_room) == 0 ? NULL
									: &deleted->last_room,
		.records = rooms,
		.most = ROOMS_VISITED,
	};
	struct room_codes codes;
	size_t removed;
	bool are_lost;

	if (deleted->count <= DELETED_ROLES_KEPT)
		return true;
	if (deleted->round_began == 0)
		deleted->round_began = call->now;
	if (!store_page(call->transaction, &kind_room, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!codes_load(call, &rooms[i].id, STORE_TO_CHANGE, &codes, fault) ||
		    !lose_deleted(call, &codes, record, &are_lost, fault) ||
		    (are_lost && !codes_put(call, &codes, fault)))
			return false;
	}
	if (page.is_last) {
		if (!deleted_roles_remove(call, &record->id, deleted->round_began,
					  DELETED_ROLES_AT_ONCE, &removed, fault))
			return false;
		deleted->count -= (uint32_t)removed;
		/* A later request visits the first room of the next round. */
		deleted->round_began = call->now + 1;
		deleted->last_room = (struct id){ { 0 } };
	} else {
		deleted->last_room = page.records[page.count - 1].id;
	}
	return true;
}

/* ---- moving a room ---- */

bool codes_move(struct call *call, const struct id *room, const struct template_record *from,
		const struct template_record *to, struct fault *fault)
{
	const struct template_role *role;
	struct room_codes codes;
	struct due_role *due;
	size_t index, n = 0;
	bool are_lost;

	if (!codes_load(call, room, STORE_TO_CHANGE, &codes, fault) ||
	    !lose_deleted(call, &codes, from, &are_lost, fault))
		return false;
	gather_due(call, &codes, from);

	for (size_t i = 0; i < codes.group_count; i++) {
		struct code_group *group = &codes.groups[i];

		role = template_live_role(from, group->identity);
		if (role == NULL)
			continue;
		index = template_role_index(to, role->name);
		if (index < to->role_count)
			group->identity = to->roles[index].identity;
		else
			lose_group(group, role->name, call->now / 1000);
	}

	/* A due role stays due if both templates have a role of that name; new roles become due
	 * now. */
	due = arena_alloc(call->arena, (codes.due_count + to->role_count + 1) * sizeof *due);
	for (size_t i = 0; i < codes.due_count; i++) {
		role = template_live_role(from, codes.due[i].identity);
		index = role == NULL ? to->role_count : template_role_index(to, role->name);
		if (index < to->role_count)
			due[n++] = (struct due_role){ to->roles[index].identity,
						      codes.due[i].since };
	}
	for (size_t i = 0; codes.was_asked && i < to->role_count; i++) {
		if (template_role_index(from, to->roles[i].name) == from->role_count)
			due[n++] = (struct due_role){ to->roles[i].identity, call->now / 1000 };
	}
	codes.due = due;
	codes.due_count = n;
	codes.last_seen = to->last_identity;
	return codes_store(call, &codes, to, fault);
}
