/* The calls of room codes. Those that name a room refuse in this order: room not found, room
 * disabled, role not found. Calls that show the codes of a room begin reading, and run again as a
 * write when there is a code to make.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/room_codes.h"

#include "base/text.h"
#include "resources/code_life.h"
#include "resources/expected.h"
#include "resources/lists.h"
#include "resources/packed.h"
#include "resources/room_record.h"
#include "rules/room_code_rules.h"

/* Codes read at once where it is not known how many are needed. */
#define CODES_AT_ONCE 16

/* ---- what a call reads ---- */

/* The room that the path names, its template and codes, and, with `most`, the first page of them. */
static void expect_room(struct call *call, enum store_side side, size_t most)
{
	const enum store_reading reading = call_reading(call);
	struct expected expected;
	struct store_page page = { .order = STORE_OLDEST_FIRST, .side = side, .most = most };
	struct id id;

	if (!expected_open(call, &expected))
		return;
	if (!room_expect_named(&expected, call->parameters[0], reading, &id))
		return;
	expected_get(&expected, &kind_codes, &id, reading);
	page.parent = &id;
	if (most > 0)
		expected_page(&expected, &kind_code, &page);
	expected_tell(&expected);
}

/* ---- loading ---- */

/* The room that the path names, enabled. */
static bool load_room(struct call *call, struct room_subject *subject, struct fault *fault)
{
	if (!room_load_named(call, call->parameters[0], call_reading(call), &subject->room, fault))
		return false;
	return subject->room.is_enabled || fault_set(fault, FAULT_FORBIDDEN, "Room is disabled");
}

/* ---- answers ---- */

static void append_member(struct buffer *text, const char *name, struct slice value)
{
	buffer_append_text(text, name);
	buffer_append_string(text, value);
}

/* The members of room_code_shape, in its order. */
static struct slice code_text(struct call *call, const struct code *code,
			      const struct shown_code *shown)
{
	char room[ID_TEXT_SIZE + 1], created[TEXT_TIME_SIZE], updated[TEXT_TIME_SIZE];
	struct buffer text = BUFFER_INITIAL(call->arena);

	id_print(&code->room, room);
	text_time_seconds(shown->created * 1000, created);
	text_time_seconds(shown->updated * 1000, updated);
	append_member(&text, "{\"code\":", slice_of(code->letters));
	append_member(&text, ",\"room_id\":", slice_of(room));
	append_member(&text, ",\"role\":", shown->role);
	buffer_append_text(&text, shown->is_enabled ? ",\"enabled\":true" : ",\"enabled\":false");
	append_member(&text, ",\"created_at\":", slice_of(created));
	append_member(&text, ",\"updated_at\":", slice_of(updated));
	buffer_append_byte(&text, '}');
	return buffer_slice(&text);
}

static bool answer_code(struct call *call, const struct room_subject *subject,
			const struct code *code, struct fault *fault)
{
	struct shown_code shown;

	return code_show(call, &subject->codes, code, &subject->owner, &shown, fault) &&
	       call_answer(call, code_text(call, code, &shown));
}

/* ---- making ---- */

static bool lacks_a_code(const struct room_subject *subject)
{
	for (size_t i = 0; i < subject->owner.role_count; i++) {
		if (codes_of_role(&subject->codes, subject->owner.roles[i].identity, true) == 0)
			return true;
	}
	return !subject->codes.was_asked || codes_are_due(&subject->codes, &subject->owner);
}

static bool make_lacking(struct call *call, struct room_subject *subject, struct fault *fault)
{
	struct room_codes *codes = &subject->codes;
	struct code code;

	if (!codes_make_due(call, codes, &subject->owner, fault))
		return false;
	for (size_t i = 0; i < subject->owner.role_count; i++) {
		uint32_t identity = subject->owner.roles[i].identity;

		if (codes_of_role(codes, identity, true) == 0 &&
		    !codes_add(call, codes, identity, call->now / 1000, &code, fault))
			return false;
	}
	codes->was_asked = true;
	return codes_store(call, codes, &subject->owner, fault);
}

/* The text of the oldest enabled code of each role, in template order; there is one. */
static bool gather_oldest(struct call *call, const struct room_subject *subject,
			  struct slice *texts, struct fault *fault)
{
	const struct template_record *owner = &subject->owner;
	struct code_page page = { .side = STORE_ON, .most = CODES_AT_ONCE };
	size_t left = owner->role_count;
	struct shown_code shown;

	while (left > 0) {
		if (!codes_page(call, &subject->room.id, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct code *code = &page.codes[i];
			size_t role;

			if (!code->is_enabled)
				continue;
			if (!code_show(call, &subject->codes, code, owner, &shown, fault))
				return false;
			role = shown.has_role ? template_role_index(owner, shown.role)
					      : owner->role_count;
			if (role == owner->role_count || texts[role].data != NULL)
				continue;
			texts[role] = code_text(call, code, &shown);
			left--;
		}
		if (left > 0 && page.is_last)
			return packed_missing("an enabled code of the room",
					      id_slice(&subject->room.id), fault);
		if (left > 0)
			page.after = &page.codes[page.count - 1].place;
	}
	return true;
}

bool room_codes_create_all(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct slice *texts;

	expect_room(call, STORE_ON, CODES_AT_ONCE);
	if (!load_room(call, &subject, fault) ||
	    !codes_load(call, &subject.room.id, call_reading(call), &subject.codes, fault))
		return false;
	/* The first call for a room is the most frequent one, and always makes codes. */
	if (!subject.codes.was_asked && !call_is_writing(call))
		return call_write_instead(call);
	if (!template_load(call, &subject.room.template_id, STORE_TO_SHOW, &subject.owner, fault))
		return false;
	if (lacks_a_code(&subject)) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		if (!make_lacking(call, &subject, fault))
			return false;
	}
	texts = arena_zero(call->arena, (subject.owner.role_count + 1) * sizeof *texts);
	if (!gather_oldest(call, &subject, texts, fault))
		return false;
	call_answer(call, SLICE("{\"data\":["));
	for (size_t i = 0; i < subject.owner.role_count; i++) {
		if (i > 0)
			call_part(call, SLICE(","));
		call_part(call, texts[i]);
	}
	call_part(call, SLICE("]}"));
	return true;
}

static bool check_enabled_count(const struct room_subject *subject, struct fault *fault)
{
	if (codes_count(&subject->codes, &subject->owner, true) >= CODES_ENABLED_MOST)
		return fault_set(fault, FAULT_CONFLICT, "the room has %d enabled codes, the most",
				 CODES_ENABLED_MOST);
	return true;
}

bool room_codes_create(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct code code;
	size_t role;

	expect_room(call, STORE_BOTH_SIDES, 0);
	if (!load_room(call, &subject, fault) ||
	    !room_subject_load(call, STORE_TO_CHANGE, &subject, fault))
		return false;
	role = template_role_index(&subject.owner, call->parameters[1]);
	if (role == subject.owner.role_count)
		return fault_set(fault, FAULT_NOT_FOUND, "role not found");
	if (!codes_make_due(call, &subject.codes, &subject.owner, fault))
		return false;
	if (codes_count(&subject.codes, &subject.owner, false) >= CODES_MOST)
		return fault_set(fault, FAULT_CONFLICT, "the room has %d codes, the most",
				 CODES_MOST);
	return check_enabled_count(&subject, fault) &&
	       codes_add(call, &subject.codes, subject.owner.roles[role].identity, call->now / 1000,
			 &code, fault) &&
	       codes_store(call, &subject.codes, &subject.owner, fault) &&
	       answer_code(call, &subject, &code, fault);
}

/* ---- the list ---- */

/* *after: the place of `start`; *is_bounded false: there is no `start`. */
static bool place_of_start(struct call *call, const struct room_subject *subject, struct id *after,
			   bool *is_bounded, struct fault *fault)
{
	struct slice start = call_query_text(call, "start");
	struct id account;
	struct code code;
	bool is_there;

	*is_bounded = start.data != NULL;
	if (!*is_bounded)
		return true;
	if (!code_find(call, start, STORE_TO_SHOW, &code, &account, &is_there, fault))
		return false;
	if (!is_there || id_compare(&account, &call->account) != 0 ||
	    id_compare(&code.room, &subject->room.id) != 0)
		return fault_detail(fault, FAULT_INVALID_QUERY,
				    "start: must be a code of this room");
	*after = code.place;
	return true;
}

/* The codes that the query asks for. */
struct listing {
	struct list list;
	const json_t *enabled; /* NULL: both */
	struct slice role; /* data NULL: any */
	bool shows_role; /* the template has the role, or a code of the room shows it */
	bool is_bounded;
	struct id after;
};

static bool add_code(struct call *call, const struct room_subject *subject, const struct code *code,
		     struct listing *listing, struct fault *fault)
{
	struct shown_code shown;
	bool is_of_role;

	if (!code_show(call, &subject->codes, code, &subject->owner, &shown, fault))
		return false;
	is_of_role = listing->role.data == NULL || slice_equal(listing->role, shown.role);
	listing->shows_role = listing->shows_role || is_of_role;
	if (!is_of_role ||
	    (listing->is_bounded && id_compare(&code->place, &listing->after) <= 0) ||
	    (listing->enabled != NULL && json_is_true(listing->enabled) != shown.is_enabled))
		return true;
	list_add(&listing->list, arena_copy(call->arena, slice_of(code->letters)));
	call_part(call, code_text(call, code, &shown));
	return true;
}

/* Adds codes until the page is full. Only when it is not known whether any code shows the role, the
 * codes before the page are looked at too. Former codes are never enabled. */
static bool add_codes(struct call *call, const struct room_subject *subject,
		      struct listing *listing, struct fault *fault)
{
	const bool is_enabled = json_is_true(listing->enabled);
	struct code_page page = {
		.side = is_enabled && listing->shows_role ? STORE_ON : STORE_BOTH_SIDES,
		.after = listing->is_bounded && listing->shows_role ? &listing->after : NULL,
		.most = listing->list.limit,
	};

	do {
		if (!codes_page(call, &subject->room.id, &page, fault))
			return false;
		for (size_t i = 0; i < page.count && !list_is_full(&listing->list); i++) {
			if (!add_code(call, subject, &page.codes[i], listing, fault))
				return false;
		}
		if (page.count > 0)
			page.after = &page.codes[page.count - 1].place;
	} while (!page.is_last && !list_is_full(&listing->list));
	return true;
}

/* The first page is known when no other one has to be looked for. */
static void expect_list(struct call *call, const struct listing *listing)
{
	const size_t limit = (size_t)json_integer_value(json_object_get(call->query, "limit"));
	const bool is_first = json_object_get(call->query, "start") == NULL &&
			      listing->role.data == NULL;

	expect_room(call, json_is_true(listing->enabled) ? STORE_ON : STORE_BOTH_SIDES,
		    is_first ? limit : 0);
}

bool room_codes_list(struct call *call, struct fault *fault)
{
	struct listing listing = {
		.enabled = json_object_get(call->query, "enabled"),
		.role = call_query_text(call, "role"),
	};
	struct room_subject subject;

	expect_list(call, &listing);
	if (!room_load_named(call, call->parameters[0], call_reading(call), &subject.room, fault) ||
	    !room_subject_load(call, call_reading(call), &subject, fault))
		return false;
	if (codes_are_due(&subject.codes, &subject.owner) && subject.room.is_enabled) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		if (!codes_make_due(call, &subject.codes, &subject.owner, fault) ||
		    !codes_store(call, &subject.codes, &subject.owner, fault))
			return false;
	}
	if (!place_of_start(call, &subject, &listing.after, &listing.is_bounded, fault))
		return false;
	if (!subject.room.is_enabled)
		return fault_set(fault, FAULT_FORBIDDEN, "Room is disabled");
	list_begin(call, &listing.list);
	listing.shows_role = listing.role.data == NULL ||
			     template_role_index(&subject.owner, listing.role) <
				     subject.owner.role_count;
	if (!add_codes(call, &subject, &listing, fault))
		return false;
	if (!listing.shows_role)
		return fault_set(fault, FAULT_NOT_FOUND, "role not found");
	return list_close(&listing.list, fault);
}

/* ---- by code ---- */

/* Another account's code, and one of a deleted room, counts as unknown. */
static bool load_by_code(struct call *call, struct slice letters, struct room_subject *subject,
			 struct code *code, struct fault *fault)
{
	struct id account;
	bool is_there;

	code_expect(call, letters);
	if (!code_find(call, letters, call_reading(call), code, &account, &is_there, fault))
		return false;
	is_there = is_there && id_compare(&account, &call->account) == 0;
	if (is_there &&
	    !room_subject_of_code(call, code, call_reading(call), subject, &is_there, fault))
		return false;
	return is_there || fault_set(fault, FAULT_NOT_FOUND, "room code not found");
}

bool room_codes_get(struct call *call, struct fault *fault)
{
	struct room_subject subject;
	struct code code;

	return load_by_code(call, call->parameters[0], &subject, &code, fault) &&
	       answer_code(call, &subject, &code, fault);
}

static bool switch_code(struct call *call, struct slice letters, struct fault *fault)
{
	bool enables = json_is_true(call_member(call, "enabled"));
	struct room_subject subject;
	struct shown_code shown;
	struct code code;

	if (!load_by_code(call, letters, &subject, &code, fault) ||
	    !code_show(call, &subject.codes, &code, &subject.owner, &shown, fault))
		return false;
	if (enables && !shown.has_role)
		return fault_set(fault, FAULT_FORBIDDEN, "the role of this code was deleted");
	if (enables == shown.is_enabled)
		return answer_code(call, &subject, &code, fault);
	/* Due codes count among the enabled ones. */
	if (enables && (!codes_make_due(call, &subject.codes, &subject.owner, fault) ||
			!check_enabled_count(&subject, fault)))
		return false;
	return codes_switch(call, &subject.codes, &code, enables, fault) &&
	       codes_store(call, &subject.codes, &subject.owner, fault) &&
	       answer_code(call, &subject, &code, fault);
}

bool room_codes_switch(struct call *call, struct fault *fault)
{
	return switch_code(call, text_of_json(call_member(call, "code")), fault);
}

bool room_codes_switch_named(struct call *call, struct fault *fault)
{
	return switch_code(call, call->parameters[0], fault);
}
