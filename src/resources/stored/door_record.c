/* See resources/stored/door_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/door_record.h"

#include <string.h>

#include "base/text.h"
#include "resources/audit.h"
#include "resources/record_kind.h"

/* The largest members in bytes. */
#define TEXT_MOST 1024
#define CODE_MOST 64

const char *const door_state_names[DOOR_STATES] = {
	[DOOR_BY_ROLE] = "by_role",
	[DOOR_OPEN] = "open",
	[DOOR_ASK] = "ask",
	[DOOR_LOCKED] = "locked",
};

static const struct member denial_members[] = {
	{ "ticket", AS_ID, AT(struct door_denial, ticket) },
	{ "until", AS_TIME, AT(struct door_denial, until) },
};
static const struct record_table denial_table = { ITEMS(struct door_denial, denial_members) };

static const struct member door_members[] = {
	{ "room_id", AS_KEY_OF(room, DIES), AT(struct door, stored.id) },
	{ "last", AS_ID, AT(struct door, last) },
	{ "admitted", AS_ID, AT(struct door, admitted) },
	{ "admitted_by", AS_TEXT(0, TEXT_MOST), AT(struct door, admitted_by) },
	{ "waiting", AS_NUMBER(8, 0, UNLIMITED), AT(struct door, waiting) },
	{ "told", AS_TIME, AT(struct door, announced) },
	{ "state", AS_CHOICE(DOOR_LOCKED, door_state_names), SINCE(3), AT(struct door, set.state) },
	{ "was", AS_CHOICE(DOOR_LOCKED, door_state_names), SINCE(3), AT(struct door, set.was) },
	{ "set_in", AS_ID, SINCE(3), AT(struct door, set.session) },
	{ "set_at", AS_TIME, SINCE(3), AT(struct door, set.changed) },
	{ "locked_at", AS_TIME, SINCE(3), AT(struct door, set.locked) },
	{ "unasked_waiting", AS_NUMBER(8, 0, UNLIMITED), SINCE(3),
	  AT(struct door, unasked_waiting) },
	{ "unasked", AS_ID, SINCE(3), AT(struct door, unasked) },
	{ "unasked_by", AS_TEXT(0, TEXT_MOST), SINCE(3), AT(struct door, unasked_by) },
	{ "denials", AS_LIST(struct door, denial_count, DOOR_DENIED_MOST, denial_table), SINCE(2),
	  AT(struct door, denials) },
};
const struct record_table door_table = {
	RECORD(struct door, door_members, 1, &kind_door),
	VERSION(3),
};

static const char *const states[] = {
	[DOOR_WAITING] = "waiting",
	[DOOR_ADMITTED] = "admitted",
	[DOOR_TAKEN] = "taken",
	[DOOR_DENIED] = "denied",
};

static const struct member ticket_members[] = {
	{ "id", AS_KEY, AT(struct door_ticket, id) },
	{ "room_id", AS_PARENT_OF(room, DIES, ONLY_WITH(door)), AT(struct door_ticket, room) },
	{ "ticket", AS_NAME, AT(struct door_ticket, name) },
	{ "state", AS_CHOICE(DOOR_DENIED, states), AT(struct door_ticket, state) },
	{ "since", AS_TIME, AT(struct door_ticket, since) },
	{ "polled_at", AS_TIME, AT(struct door_ticket, polled) },
	{ "taken_at", AS_TIME, AT(struct door_ticket, taken) },
	{ "decided_at", AS_TIME, AT(struct door_ticket, decided) },
	{ "visitor", AS_ID, AT(struct door_ticket, visitor) },
	{ "code_place", AS_ID, AT(struct door_ticket, code_place) },
	{ "code", AS_TEXT(1, CODE_MOST), AT(struct door_ticket, code) },
	{ "known", AS_BOOLEAN, AT(struct door_ticket, is_known) },
	{ "role", AS_TEXT(0, TEXT_MOST), AT(struct door_ticket, role) },
	{ "user_id", AS_TEXT(0, TEXT_MOST), AT(struct door_ticket, user_id) },
	{ "name", AS_TEXT(0, TEXT_MOST), AT(struct door_ticket, user_name) },
	{ "reason", AS_TEXT(0, TEXT_MOST), AT(struct door_ticket, reason) },
	{ "unasked", AS_BOOLEAN, SINCE(2), AT(struct door_ticket, is_unasked) },
	{ "consented_at", AS_TIME, SINCE(3), MARKED(MEMBER_ABSENT),
	  AT(struct door_ticket, consented) },
	{ "consent_text", AS_TEXT(0, LIVE_CONSENT_MOST), SINCE(3), MARKED(MEMBER_ABSENT),
	  AT(struct door_ticket, consent_text) },
};
const struct record_table door_ticket_table = {
	RECORD(struct door_ticket, ticket_members, 3, &kind_door_ticket),
	VERSION(3),
};

static const struct member visitor_members[] = {
	{ "id", AS_KEY, AT(struct visitor, stored.id) },
	{ "room_id", AS_PARENT_OF(room, DIES, ONLY_WITH(door)), AT(struct visitor, stored.parent) },
	{ "ticket", AS_TEXT(0, 2 * DIGEST_SIZE), AT(struct visitor, ticket) },
	{ "denied_until", AS_TIME, AT(struct visitor, denied_until) },
	{ "reason", AS_TEXT(0, TEXT_MOST), AT(struct visitor, reason) },
	{ "passes", AS_TIME, SINCE(2), AT(struct visitor, passes) },
	{ "session", AS_ID, SINCE(2), AT(struct visitor, session) },
};
const struct record_table visitor_table = {
	RECORD(struct visitor, visitor_members, 2, &kind_visitor),
	VERSION(2),
};

const struct record_kind door_kind = {
	.table = &door_table,
	.order = RECORD_PAGES,
};
const struct record_kind door_ticket_kind = {
	.table = &door_ticket_table,
	.order = RECORD_CHILDREN,
};
const struct record_kind visitor_kind = {
	.table = &visitor_table,
	.order = RECORD_CHILDREN,
};

/* ---- names ---- */

struct slice door_ticket_name(struct arena *arena, struct slice ticket)
{
	unsigned char digest[DIGEST_SIZE];
	char *hex = arena_alloc(arena, 2 * sizeof digest);

	digest_sha256(ticket, digest);
	text_hex(digest, sizeof digest, hex);
	return (struct slice){ hex, 2 * sizeof digest };
}

struct id visitor_id(const struct id *room, const struct id *code_place,
		     const unsigned char address[DIGEST_SIZE])
{
	char of[2 * ID_SIZE + DIGEST_SIZE];
	unsigned char digest[DIGEST_SIZE];
	size_t size = 2 * ID_SIZE;
	struct id id;

	memcpy(of, room->bytes, ID_SIZE);
	memcpy(of + ID_SIZE, code_place->bytes, ID_SIZE);
	if (address != NULL) {
		memcpy(of + size, address, DIGEST_SIZE);
		size += DIGEST_SIZE;
	}
	digest_sha256((struct slice){ of, size }, digest);
	memcpy(id.bytes, digest, ID_SIZE);
	return id;
}

static struct id visitor_id_of(struct buffer *of)
{
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	digest_sha256(buffer_slice(of), digest);
	memcpy(id.bytes, digest, ID_SIZE);
	return id;
}

struct id visitor_id_of_browser(struct arena *arena, const struct id *room, struct slice browser)
{
	struct buffer of = BUFFER_INITIAL(arena);

	buffer_append_text(&of, "browser ");
	buffer_append(&of, id_slice(room));
	buffer_append(&of, browser);
	return visitor_id_of(&of);
}

struct id visitor_id_of_name(struct arena *arena, const struct id *room, struct slice name,
			     const unsigned char address[DIGEST_SIZE])
{
	struct buffer of = BUFFER_INITIAL(arena);

	buffer_append_text(&of, "name ");
	buffer_append(&of, id_slice(room));
	buffer_append(&of, (struct slice){ (const char *)address, DIGEST_SIZE });
	buffer_append(&of, text_folded(arena, name));
	return visitor_id_of(&of);
}

struct id visitor_id_of_entry(struct arena *arena, const struct id *room, struct slice entry)
{
	struct buffer of = BUFFER_INITIAL(arena);

	buffer_append_text(&of, "entry ");
	buffer_append(&of, id_slice(room));
	buffer_append(&of, entry);
	return visitor_id_of(&of);
}

struct id visitor_id_of_user(struct arena *arena, const struct id *room, struct slice user_id)
{
	struct buffer of = BUFFER_INITIAL(arena);

	buffer_append_text(&of, "user ");
	buffer_append(&of, id_slice(room));
	buffer_append(&of, text_cut(user_id, LIVE_NAME_MOST));
	return visitor_id_of(&of);
}

/* ---- the door ---- */

/* Merges end the state when its session closes (live_merge.h). */
enum door_state door_state_now(const struct door *door, const struct live *live, int64_t now)
{
	const bool is_live = live->stored.value.data != NULL;
	const bool has_session = id_compare(&door->set.session, &kind_only_id) != 0;

	if (has_session ? is_live && id_compare(&door->set.session, &live->session) == 0
			: is_live || now < door->set.changed + DOOR_SET_FOR)
		return door->set.state;
	return DOOR_BY_ROLE;
}

void door_admit_all(struct door *door, struct slice by)
{
	door->admitted = door->last;
	door->admitted_by = by;
	door->waiting = door->unasked_waiting = 0;
}

void door_count_down(struct door *door, const struct door_ticket *ticket)
{
	if (door->waiting > 0)
		door->waiting--;
	if (ticket->is_unasked && door->unasked_waiting > 0)
		door->unasked_waiting--;
}

void door_set(struct door *door, enum door_state state, const struct live *live, struct slice by,
	      int64_t now)
{
	door->set = (struct door_setting){
		.state = state,
		.was = state == DOOR_LOCKED ? door_state_now(door, live, now) : DOOR_BY_ROLE,
		.changed = now,
		.locked = state == DOOR_LOCKED ? now : 0,
	};
	if (live->stored.value.data != NULL)
		door->set.session = live->session;
	if (state == DOOR_OPEN) {
		door_admit_all(door, by);
	} else if (state == DOOR_BY_ROLE) {
		door->unasked = door->last;
		door->unasked_by = by;
		door->waiting -= door->unasked_waiting;
		door->unasked_waiting = 0;
	}
}

void door_state_write(struct json_writer *body, const char *name, enum door_state state)
{
	if (state == DOOR_BY_ROLE)
		writer_json(body, name, SLICE("null"));
	else
		writer_plain(body, name, slice_of(door_state_names[state]));
}

bool door_has_denials(const struct door *door, int64_t now)
{
	return door->denial_count > 0 && door->denials[door->denial_count - 1].until > now;
}

/* ---- tickets ---- */

bool door_ticket_is_admitted(const struct door *door, const struct door_ticket *ticket)
{
	return ticket->state == DOOR_ADMITTED || ticket->state == DOOR_TAKEN ||
	       (ticket->state == DOOR_WAITING &&
		(id_compare(&ticket->id, &door->admitted) <= 0 ||
		 (ticket->is_unasked && id_compare(&ticket->id, &door->unasked) <= 0)));
}

bool door_ticket_is_waiting(const struct door *door, const struct door_ticket *ticket)
{
	return ticket->state == DOOR_WAITING && !door_ticket_is_admitted(door, ticket);
}

bool door_ticket_has_lapsed(const struct door_ticket *ticket, int64_t polled, int64_t admitted,
			    int64_t now)
{
	const int64_t last = polled != 0 ? polled : ticket->polled + DOOR_WRITES_AFTER;

	if (ticket->state == DOOR_DENIED)
		return now > ticket->decided + DOOR_DENIES_FOR;
	if (ticket->taken != 0)
		return now > ticket->taken + DOOR_TAKEN_FOR;
	return now > last + DOOR_LAPSES && (admitted == 0 || now > admitted + DOOR_ADMITTED_FOR);
}

/* ---- in the store ---- */

bool door_load(struct call *call, const struct id *room, enum store_reading reading,
	       struct door *door, struct fault *fault)
{
	if (!record_get(&door_table, call->transaction, room, reading, door, fault))
		return false;
	door->stored.id = *room;
	if (door->stored.value.data == NULL)
		door->admitted_by = door->unasked_by = SLICE("");
	return true;
}

bool door_put(struct call *call, const struct door *door, struct fault *fault)
{
	return record_put(&door_table, call->transaction, door, fault);
}

void door_add_denial(struct call *call, struct door *door, const struct id *ticket)
{
	struct door_denial *kept = arena_alloc(call->arena, DOOR_DENIED_MOST * sizeof *kept);
	const size_t from = door->denial_count < DOOR_DENIED_MOST ? 0 : 1;
	size_t n = 0;

	for (size_t i = from; i < door->denial_count; i++) {
		if (door->denials[i].until > call->now)
			kept[n++] = door->denials[i];
	}
	kept[n++] = (struct door_denial){ *ticket, call->now + DOOR_DENIES_FOR };
	door->denials = kept;
	door->denial_count = n;
}

static bool door_end_state(struct call *call, struct door *door, struct fault *fault)
{
	static const struct live no_session;

	door_set(door, DOOR_BY_ROLE, &no_session, audit_service_text(call->arena), call->now);
	return door_put(call, door, fault);
}

bool door_settle(struct call *call, struct door *door, const struct live *live, struct fault *fault)
{
	return door->set.state == door_state_now(door, live, call->now) ||
	       door_end_state(call, door, fault);
}

bool door_close_session(struct call *call, const struct id *room, const struct id *session,
			struct fault *fault)
{
	struct door door;

	if (!door_load(call, room, STORE_TO_CHANGE, &door, fault))
		return false;
	if (door.set.state == DOOR_BY_ROLE)
		return true;
	if (id_compare(&door.set.session, session) == 0)
		return door_end_state(call, &door, fault);
	/* It was set before the session, and the hour without one begins. */
	door.set.changed = call->now;
	return door_put(call, &door, fault);
}

/* ---- visitors ---- */

void visitors_expect(struct call *call, const struct id *ids, size_t n)
{
	struct store_expected *expected = arena_zero(call->arena, (n + 1) * sizeof *expected);

	for (size_t i = 0; i < n; i++)
		expected[i] = (struct store_expected){
			.kind = &kind_visitor,
			.finding = STORE_FIND_ID,
			.reading = STORE_TO_CHANGE,
			.id = &ids[i],
		};
	if (n > 0)
		store_expect(call->transaction, STORE_EACH, expected, n);
}

/* ---- through a locked door ---- */

static struct id pass_id(struct call *call, const struct passer *passer)
{
	return passer->user_id.size > 0
		       ? visitor_id_of_user(call->arena, passer->room, passer->user_id)
		       : visitor_id_of_entry(call->arena, passer->room, passer->entry);
}

bool door_finds_pass(struct call *call, const struct door *door, const struct live *live,
		     const struct passer *passer, bool *may_pass, struct fault *fault)
{
	struct visitor visitor;
	struct id id;

	*may_pass = false;
	if (passer->user_id.size == 0 && passer->entry.size == 0)
		return true;
	id = pass_id(call, passer);
	if (!record_get(&visitor_table, call->transaction, &id, STORE_TO_SHOW, &visitor, fault))
		return false;
	*may_pass = visitor.stored.value.data != NULL && visitor.passes != 0 &&
		    visitor.passes == door->set.locked &&
		    (id_compare(&visitor.session, &kind_only_id) == 0 ||
		     (live->stored.value.data != NULL &&
		      id_compare(&visitor.session, &live->session) == 0));
	return true;
}

bool door_give_passes(struct call *call, const struct door *door, const struct passer *passers,
		      size_t n, const struct id *session, struct fault *fault)
{
	struct id *ids = arena_alloc(call->arena, (n + 1) * sizeof *ids);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (passers[i].user_id.size == 0 && passers[i].entry.size == 0)
			continue;
		ids[count++] = pass_id(call, &passers[i]);
	}
	visitors_expect(call, ids, count);
	for (size_t i = 0; i < count; i++) {
		struct visitor visitor;

		if (!record_get(&visitor_table, call->transaction, &ids[i], STORE_TO_CHANGE,
				&visitor, fault))
			return false;
		if (visitor.stored.value.data == NULL)
			visitor.ticket = visitor.reason = SLICE("");
		visitor.stored.id = ids[i];
		visitor.stored.parent = door->stored.id;
		visitor.passes = door->set.locked;
		visitor.session = session != NULL ? *session : kind_only_id;
		if (!record_put(&visitor_table, call->transaction, &visitor, fault))
			return false;
	}
	return true;
}

bool door_ticket_find(struct call *call, const struct id *room, const struct id *id,
		      enum store_reading reading, struct door_ticket *ticket, bool *is_there,
		      struct fault *fault)
{
	struct id before = *id;
	struct store_record record;
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = room,
		.above = &before,
		.records = &record,
		.most = 1,
	};

	*is_there = false;
	if (id_compare(id, &kind_only_id) == 0)
		return true;
	/* The id before this one. */
	for (size_t i = ID_SIZE; i-- > 0 && before.bytes[i]-- == 0;)
		;
	if (!store_page(call->transaction, &kind_door_ticket, &page, fault))
		return false;
	if (page.count == 0 || id_compare(&record.id, id) != 0)
		return true;
	if (!record_get_named(&door_ticket_table, call->transaction, record.name, reading, ticket,
			      fault))
		return false;
	*is_there = ticket->stored.value.data != NULL;
	return true;
}

bool door_ticket_remove(struct call *call, const struct door_ticket *ticket, struct fault *fault)
{
	struct visitor visitor;

	if (!record_get(&visitor_table, call->transaction, &ticket->visitor, STORE_TO_CHANGE,
			&visitor, fault))
		return false;
	return (visitor.stored.value.data == NULL || !slice_equal(visitor.ticket, ticket->name) ||
		store_remove(call->transaction, &kind_visitor, &visitor.stored, fault)) &&
	       store_remove(call->transaction, &kind_door_ticket, &ticket->stored, fault);
}
