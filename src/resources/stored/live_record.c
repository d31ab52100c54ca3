/* See resources/stored/live_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/live_record.h"

#include <string.h>

#include "base/digest.h"
#include "records/kinds.h"
#include "resources/audit_record.h"

const char *const leave_cause_names[LEAVE_CAUSES] = {
	[LEAVE_LEFT] = "left",	     [LEAVE_OTHER_DEVICE] = "other_device",
	[LEAVE_REMOVED] = "removed", [LEAVE_ENDED] = "ended",
	[LEAVE_SIGNAL] = "signal",   [LEAVE_SIP] = "sip",
	[LEAVE_MEDIA] = "media",     [LEAVE_SERVER] = "server",
	[LEAVE_UNSEEN] = "unseen",   [LEAVE_BANNED] = "banned",
	[LEAVE_FULL] = "full",	     [LEAVE_NOT_ADMITTED] = "not_admitted",
	[LEAVE_MOVED] = "moved",
};

static const char *const name_origin_names[NAME_ORIGINS] = {
	[NAME_CHOSEN] = "chosen",
	[NAME_GIVEN] = "given",
	[NAME_COUNTED] = "counted",
};

const char *const held_source_names[HELD_SOURCES] = {
	[HELD_AUDIO] = "audio",
	[HELD_VIDEO] = "video",
};

/* ---- tables ---- */

static const struct member role_members[] = {
	{ "name", AS_TEXT(0, LIVE_ROLE_MOST), AT(struct live_role, name) },
	{ "count", AS_NUMBER(4, 1, UINT32_MAX), AT(struct live_role, count) },
};
static const struct record_table role_table = { ITEMS(struct live_role, role_members) };

static const struct member hold_members[] = {
	{ "type", AS_CHOICE(HELD_SOURCES - 1, held_source_names), AT(struct hold, source) },
	{ "role", AS_TEXT(0, LIVE_ROLE_MOST), MARKED(MEMBER_ABSENT), AT(struct hold, role) },
	{ "freed", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct hold, is_freed) },
};
static const struct record_table hold_table = { ITEMS(struct hold, hold_members) };

static const struct member live_members[] = {
	{ "room_id", AS_KEY_OF(room, OUTLIVES), AT(struct live, stored.id) },
	{ "session_id", AS_ID, AT(struct live, session) },
	{ "backend_id", AS_REFERENCE(media, REFUSES, ITEM_OF(backends)), AT(struct live, backend) },
	{ "server_room", AS_TEXT(0, LIVE_ID_MOST), AT(struct live, server_room) },
	{ "server_created_at", AS_TIME, AT(struct live, server_created) },
	{ "heard_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct live, received) },
	{ "looked_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct live, surveyed) },
	{ "left_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct live, left) },
	{ "ending_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct live, ending) },
	{ "end_reason", AS_TEXT(0, LIVE_REASON_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct live, end_reason) },
	{ "end_actor", AS_JSON(LIVE_ACTOR_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct live, end_actor) },
	{ "end_peer", AS_TEXT(0, UUID_TEXT_SIZE), MARKED(MEMBER_ABSENT),
	  AT(struct live, end_peer) },
	{ "end_locks", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct live, end_locks) },
	{ "given", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct live, has_given) },
	{ "left_unseen", AS_BOOLEAN, SINCE(2), MARKED(MEMBER_ABSENT),
	  AT(struct live, left_unseen) },
	{ "closing_at", AS_TIME, SINCE(2), MARKED(MEMBER_ABSENT), AT(struct live, closing) },
	{ "ended_at", AS_TIME, SINCE(2), MARKED(MEMBER_ABSENT), AT(struct live, ended) },
	{ "door", AS_BOOLEAN, SINCE(3), MARKED(MEMBER_DERIVED), AT(struct live, has_door) },
	{ "locked", AS_BOOLEAN, SINCE(3), MARKED(MEMBER_DERIVED), AT(struct live, is_locked) },
	{ "roles", AS_LIST(struct live, role_count, LIVE_ROLES_MOST + 1, role_table),
	  MARKED(MEMBER_DERIVED), AT(struct live, roles) },
	{ "moves_to_id", AS_ID, SINCE(4), MARKED(MEMBER_DERIVED), AT(struct live, moves_to) },
	{ "moved_at", AS_TIME, SINCE(4), MARKED(MEMBER_DERIVED), AT(struct live, moved) },
	{ "holds", AS_LIST(struct live, hold_count, HOLDS_MOST, hold_table), SINCE(3),
	  MARKED(MEMBER_ABSENT), AT(struct live, holds) },
};
const struct record_table live_table = {
	RECORD(struct live, live_members, 1, &kind_live),
	VERSION(4),
};

static const struct member session_members[] = {
	{ "id", AS_KEY, AT(struct session, stored.id) },
	{ "room_id", AS_PARENT_OF(room, OUTLIVES), AT(struct session, stored.parent) },
	{ "active", AS_SWITCH, AT(struct session, is_active) },
	{ "template_id", AS_ID, AT(struct session, template_id) },
	{ "backend_id", AS_ID, AT(struct session, backend) },
	{ "room_name", AS_TEXT(0, STORE_NAME_MAX), AT(struct session, room_name) },
	{ "server_room", AS_TEXT(0, LIVE_ID_MOST), AT(struct session, server_room) },
	{ "created_at", AS_TIME, AT(struct session, created) },
	{ "updated_at", AS_TIME, AT(struct session, updated) },
	{ "closed_at", AS_TIME, AS_END, MARKED(MEMBER_ABSENT), AT(struct session, closed) },
	{ "peer_count", AS_NUMBER(8, 0, UNLIMITED), MARKED(MEMBER_DERIVED),
	  AT(struct session, peer_count) },
	{ "title", AS_TEXT(0, LIVE_NAME_MOST), SINCE(2), MARKED(MEMBER_ABSENT),
	  AT(struct session, title) },
	{ "asset_count", AS_NUMBER(8, 0, UNLIMITED), SINCE(3), HOLDS_END, MARKED(MEMBER_DERIVED),
	  AT(struct session, asset_count) },
	{ "was_ended", AS_BOOLEAN, SINCE(3), MARKED(MEMBER_ABSENT), AT(struct session, was_ended) },
};
const struct record_table session_table = {
	RECORD(struct session, session_members, 3, &kind_session),
	VERSION(3),
};

static const struct member peer_members[] = {
	{ "key", AS_KEY, MARKED(MEMBER_DERIVED), AT(struct peer, stored.id) },
	{ "session_id", AS_PARENT_OF(session, DIES, COUNTED(session, peer_count)),
	  AT(struct peer, stored.parent) },
	{ "inside", AS_SWITCH, AT(struct peer, is_inside) },
	{ "id", AS_NAME, AT(struct peer, uuid) },
	{ "anonymous", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct peer, is_anonymous) },
	{ "by_phone", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct peer, is_by_phone) },
	{ "stay", AS_TEXT(0, LIVE_ID_MOST), AT(struct peer, stay) },
	{ "identity", AS_TEXT(0, LIVE_ID_MOST), AT(struct peer, identity) },
	{ "entry", AS_TEXT(0, LIVE_ID_MOST), MARKED(MEMBER_ABSENT), AT(struct peer, entry) },
	{ "code", AS_TEXT(0, LIVE_ID_MOST), MARKED(MEMBER_ABSENT), AT(struct peer, code) },
	{ "name", AS_TEXT(0, LIVE_NAME_MOST), AT(struct peer, name) },
	{ "user_id", AS_TEXT(0, LIVE_NAME_MOST), AT(struct peer, user_id) },
	{ "role", AS_TEXT(0, LIVE_ROLE_MOST), AT(struct peer, role) },
	{ "metadata", AS_TEXT(0, LIVE_METADATA_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct peer, metadata) },
	{ "joined_at", AS_TIME, AT(struct peer, joined) },
	{ "left_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct peer, left) },
	{ "seen_at", AS_TIME, AT(struct peer, seen) },
	{ "missed_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct peer, missed) },
	{ "cause", AS_CHOICE(LEAVE_CAUSES - 1, leave_cause_names), AT(struct peer, cause) },
	{ "order", AS_CHOICE(LEAVE_CAUSES - 1, leave_cause_names), MARKED(MEMBER_ABSENT),
	  AT(struct peer, order) },
	{ "order_reason", AS_TEXT(0, LIVE_REASON_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct peer, order_reason) },
	{ "order_actor", AS_JSON(LIVE_ACTOR_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct peer, order_actor) },
	{ "strange", AS_BOOLEAN, MARKED(MEMBER_ABSENT), AT(struct peer, is_strange) },
	{ "order_last", AS_BOOLEAN, SINCE(2), MARKED(MEMBER_ABSENT), AT(struct peer, order_last) },
	{ "name_origin", AS_CHOICE(NAME_ORIGINS - 1, name_origin_names), SINCE(3),
	  MARKED(MEMBER_ABSENT), AT(struct peer, name_origin) },
	{ "new_name", AS_TEXT(0, LIVE_NAME_MOST), SINCE(3), MARKED(MEMBER_ABSENT),
	  AT(struct peer, new_name) },
	{ "name_id", AS_ID, SINCE(3), MARKED(MEMBER_DERIVED), AT(struct peer, name_id) },
	{ "rights", AS_NUMBER(4, 0, RIGHTS_END - 1), SINCE(4), MARKED(MEMBER_DERIVED),
	  AT(struct peer, rights) },
	{ "consented_at", AS_TIME, SINCE(5), MARKED(MEMBER_ABSENT), AT(struct peer, consented) },
	{ "consent_withdrawn_at", AS_TIME, SINCE(5), MARKED(MEMBER_ABSENT),
	  AT(struct peer, withdrawn) },
	{ "consent_text", AS_TEXT(0, LIVE_CONSENT_MOST), SINCE(5), MARKED(MEMBER_ABSENT),
	  AT(struct peer, consent_text) },
};
const struct record_table peer_table = {
	RECORD(struct peer, peer_members, 4, &kind_peer),
	VERSION(5),
};

static const struct member stay_members[] = {
	{ "peer_id", AS_TEXT(1, STORE_NAME_MAX), AT(struct inside_stay, uuid) },
};
static const struct record_table stay_table = { ITEMS(struct inside_stay, stay_members) };
static const struct member inside_members[] = {
	{ "key", AS_KEY, AT(struct inside, stored.id) },
	{ "room_id", AS_PARENT_OF(live, OUTLIVES), AT(struct inside, stored.parent) },
	{ "entry", AS_TEXT(1, LIVE_ID_MOST), AT(struct inside, entry) },
	{ "stays", AS_LIST(struct inside, stay_count, INSIDE_MOST, stay_table),
	  AT(struct inside, stays) },
};
const struct record_table inside_table = { RECORD(struct inside, inside_members, 2, &kind_inside) };

static const struct member named_members[] = {
	{ "peer_id", AS_TEXT(1, STORE_NAME_MAX), AT(struct named_stay, uuid) },
	{ "entry", AS_TEXT(0, LIVE_ID_MOST), AT(struct named_stay, entry) },
	{ "user_id", AS_TEXT(0, LIVE_NAME_MOST), AT(struct named_stay, user_id) },
	{ "origin", AS_CHOICE(NAME_ORIGINS - 1, name_origin_names), AT(struct named_stay, origin) },
};
static const struct record_table named_table = { ITEMS(struct named_stay, named_members) };
static const struct member shown_name_members[] = {
	{ "key", AS_KEY, AT(struct shown_name, stored.id) },
	{ "room_id", AS_PARENT_OF(live, OUTLIVES), AT(struct shown_name, stored.parent) },
	{ "count", AS_NUMBER(8, 1, UNLIMITED), AT(struct shown_name, count) },
	{ "stays", AS_LIST(struct shown_name, stay_count, NAMED_MOST, named_table),
	  AT(struct shown_name, stays) },
};
const struct record_table shown_name_table = {
	RECORD(struct shown_name, shown_name_members, 2, &kind_shown_name),
};

static const struct member revocation_members[] = {
	{ "id", AS_KEY, AT(struct revocation, stored.id) },
	{ "name", AS_NAME, AT(struct revocation, name) },
	{ "room_id", AS_ID, AT(struct revocation, room) },
	{ "cause", AS_CHOICE(LEAVE_CAUSES - 1, leave_cause_names), AT(struct revocation, cause) },
	{ "reason", AS_TEXT(0, LIVE_REASON_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct revocation, reason) },
	{ "until", AS_TIME, AS_END, AT(struct revocation, until) },
};
const struct record_table revocation_table = {
	RECORD(struct revocation, revocation_members, 2, &kind_revocation),
};

static const struct member given_role_members[] = {
	{ "key", AS_KEY, AT(struct given_role, stored.id) },
	{ "session_id", AS_PARENT_OF(session, DIES), AT(struct given_role, stored.parent) },
	{ "role", AS_TEXT(0, LIVE_ROLE_MOST), AT(struct given_role, role) },
	{ "has_consent", AS_BOOLEAN, SINCE(2), MARKED(MEMBER_ABSENT),
	  AT(struct given_role, has_consent) },
	{ "consented_at", AS_TIME, SINCE(2), MARKED(MEMBER_ABSENT),
	  AT(struct given_role, consented) },
	{ "consent_text", AS_TEXT(0, LIVE_CONSENT_MOST), SINCE(2), MARKED(MEMBER_ABSENT),
	  AT(struct given_role, consent_text) },
};
const struct record_table given_role_table = {
	RECORD(struct given_role, given_role_members, 2, &kind_given_role),
	VERSION(2),
};

static const struct member usage_members[] = {
	{ "key", AS_KEY, MARKED(MEMBER_DERIVED), AT(struct usage, stored.id) },
	{ "day", AS_NUMBER(8, 0, TEXT_TIME_LAST / USAGE_DAY), IN_A_DUMP_ALONE,
	  AT(struct usage, day) },
	{ "sessions", AS_NUMBER(8, 0, UNLIMITED), AT(struct usage, sessions) },
	{ "peers", AS_NUMBER(8, 0, UNLIMITED), AT(struct usage, peers) },
	{ "milliseconds", AS_NUMBER(8, 0, UNLIMITED), AT(struct usage, milliseconds) },
	{ "peak", AS_NUMBER(8, 0, UNLIMITED), AT(struct usage, peak) },
};
const struct record_table usage_table = { RECORD(struct usage, usage_members, 1, &kind_usage) };

static const struct member usage_now_members[] = {
	{ "sessions", AS_NUMBER(8, 0, UNLIMITED), AT(struct usage_now, sessions) },
	{ "peers", AS_NUMBER(8, 0, UNLIMITED), AT(struct usage_now, peers) },
};
const struct record_table usage_now_table = {
	RECORD(struct usage_now, usage_now_members, 0, &kind_usage_now),
};

static const struct member account_members[] = {
	{ "backend_id", AS_KEY, AT(struct backend_account, stored.id) },
	{ "account_id", AS_ID, AT(struct backend_account, account) },
};
const struct record_table backend_account_table = {
	RECORD(struct backend_account, account_members, 1, &kind_backend_account),
};

/* ---- ids ---- */

int64_t peer_consent(const struct peer *peer)
{
	return peer->withdrawn == 0 ? peer->consented : 0;
}

void peer_write_consent(struct json_writer *body, const struct peer *peer)
{
	if (peer->consented == 0 || peer->is_anonymous)
		return;
	writer_time_milliseconds(body, "consented_at", peer->consented);
	if (peer->consent_text.size > 0)
		writer_text(body, "consent_text", peer->consent_text);
	if (peer->withdrawn != 0)
		writer_time_milliseconds(body, "consent_withdrawn_at", peer->withdrawn);
}

struct slice consent_as_text(struct arena *arena, int64_t consented)
{
	return consented == 0 ? SLICE("")
			      : slice_of(arena_text(arena, "%lld", (long long)(consented / 1000)));
}

bool peer_has_known_user(const struct peer *peer)
{
	unsigned char digest[DIGEST_SIZE];
	char text[2 * DIGEST_SIZE];

	if (peer->user_id.size == 0 || slice_equal(peer->identity, peer->user_id))
		return peer->user_id.size > 0;
	/* Of a longer one, the identity is the hash (media/livekit.c). */
	digest_sha256(peer->user_id, digest);
	text_hex(digest, sizeof digest, text);
	return slice_equal(peer->identity, (struct slice){ text, sizeof text });
}

struct id peer_id(int64_t joined, struct slice uuid)
{
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	digest_sha256(uuid, digest);
	id_begin(&id, joined);
	memcpy(id.bytes + 6, digest, ID_SIZE - 6);
	return id;
}

struct id inside_id(const struct id *room, struct slice entry)
{
	char bytes[ID_SIZE + LIVE_ID_MOST];
	const size_t size = entry.size < LIVE_ID_MOST ? entry.size : LIVE_ID_MOST;
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	memcpy(bytes, room->bytes, ID_SIZE);
	memcpy(bytes + ID_SIZE, entry.data, size);
	digest_sha256((struct slice){ bytes, ID_SIZE + size }, digest);
	memcpy(id.bytes, digest, ID_SIZE);
	return id;
}

struct id given_role_id(const struct id *session, bool is_entry, struct slice person)
{
	char bytes[ID_SIZE + 1 + LIVE_NAME_MOST];
	const size_t size = person.size < LIVE_NAME_MOST ? person.size : LIVE_NAME_MOST;
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	memcpy(bytes, session->bytes, ID_SIZE);
	bytes[ID_SIZE] = is_entry ? 'e' : 'u';
	memcpy(bytes + ID_SIZE + 1, person.data, size);
	digest_sha256((struct slice){ bytes, ID_SIZE + 1 + size }, digest);
	memcpy(id.bytes, digest, ID_SIZE);
	return id;
}

struct id usage_id(int64_t day)
{
	struct id id = { { 0 } };

	id_begin(&id, day);
	return id;
}

int64_t usage_day(const struct id *id)
{
	int64_t day = 0;

	for (size_t byte = 0; byte < 6; byte++)
		day = day << 8 | id->bytes[byte];
	return day;
}

/* ---- reading ---- */

bool live_is_moved(const struct live *live)
{
	return id_compare(&live->moves_to, &kind_only_id) != 0;
}

const struct id *live_backend(const struct live *live)
{
	return live_is_moved(live) ? &live->moves_to : &live->backend;
}

/* A session that goes back to where its people still are goes on there. */
bool live_note_move(struct call *call, const struct id *room, const struct id *to,
		    struct fault *fault)
{
	struct live live;

	if (!live_load(call, room, STORE_TO_CHANGE, &live, fault))
		return false;
	if (live.stored.value.data == NULL || id_compare(live_backend(&live), to) == 0)
		return true;
	live.moves_to = id_compare(&live.backend, to) == 0 ? kind_only_id : *to;
	live.moved = call->now;
	return record_put(&live_table, call->transaction, &live, fault);
}

uint64_t live_peers(const struct live *live)
{
	uint64_t n = 0;

	for (size_t i = 0; i < live->role_count; i++)
		n += live->roles[i].count;
	return n;
}

uint64_t live_peers_with(const struct live *live, struct slice role)
{
	size_t i = 0;

	while (i < live->role_count && !slice_equal(live->roles[i].name, role))
		i++;
	return i < live->role_count ? live->roles[i].count : 0;
}

bool live_has_peer(const struct live *live, const struct peer *peer)
{
	return live->stored.value.data != NULL && peer->stored.value.data != NULL &&
	       peer->is_inside && id_compare(&peer->stored.parent, &live->session) == 0;
}

void live_count(struct arena *arena, struct live *live, struct slice role, bool comes)
{
	size_t i = 0, nameless = live->role_count;
	struct live_role *roles;

	for (; i < live->role_count && !slice_equal(live->roles[i].name, role); i++) {
		if (live->roles[i].name.size == 0)
			nameless = i;
	}
	if (i == live->role_count && (!comes || live->role_count >= LIVE_ROLES_MOST)) {
		i = nameless;
		role = SLICE("");
	}
	if (i == live->role_count) {
		if (!comes)
			return;
		roles = arena_alloc(arena, (live->role_count + 1) * sizeof *roles);
		if (live->role_count > 0)
			memcpy(roles, live->roles, live->role_count * sizeof *roles);
		live->roles = roles;
		live->roles[live->role_count++] = (struct live_role){ .name = role };
	}
	if (comes) {
		live->roles[i].count++;
	} else if (--live->roles[i].count == 0) {
		live->role_count--;
		memmove(&live->roles[i], &live->roles[i + 1],
			(live->role_count - i) * sizeof *live->roles);
	}
}

bool live_load(struct call *call, const struct id *room, enum store_reading reading,
	       struct live *live, struct fault *fault)
{
	return record_get(&live_table, call->transaction, room, reading, live, fault);
}

bool live_load_followed(struct call *call, const struct id *room, struct live *live,
			struct fault *fault)
{
	if (!live_load(call, room, STORE_TO_SHOW, live, fault))
		return false;
	if (call->environment->live == LIVE_OFF)
		live->stored.value.data = NULL;
	return true;
}

bool session_load(struct call *call, const struct id *id, enum store_reading reading,
		  struct session *session, struct fault *fault)
{
	return record_get(&session_table, call->transaction, id, reading, session, fault);
}

bool peers_read(struct call *call, const struct id *session, struct peer_page *page,
		struct fault *fault)
{
	struct store_page records = {
		.order = STORE_OLDEST_FIRST,
		.side = page->side,
		.parent = session,
		.above = page->after,
		.records = arena_alloc(call->arena, page->most * sizeof *records.records),
		.most = page->most,
		.bytes_most = page->bytes_most,
	};

	if (!store_page(call->transaction, &kind_peer, &records, fault))
		return false;
	page->peers = arena_alloc(call->arena, (records.count + 1) * sizeof *page->peers);
	page->count = records.count;
	page->is_last = records.is_last;
	for (size_t i = 0; i < records.count; i++) {
		if (!record_read(&peer_table, NULL, &records.records[i], &page->peers[i], fault))
			return false;
	}
	return true;
}

bool inside_find_former(struct call *call, const struct id *room, struct slice entry,
			enum store_reading reading, struct inside *inside, struct fault *fault)
{
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	/* The id before rooms were part of it. Such records last until these people leave. */
	digest_sha256(entry, digest);
	memcpy(id.bytes, digest, ID_SIZE);
	if (!record_get(&inside_table, call->transaction, &id, reading, inside, fault))
		return false;
	if (inside->stored.value.data != NULL && id_compare(&inside->stored.parent, room) != 0)
		*inside = (struct inside){ .stay_count = 0 };
	return true;
}

bool inside_find(struct call *call, const struct id *room, struct slice entry,
		 enum store_reading reading, struct inside *inside, struct fault *fault)
{
	const struct id id = inside_id(room, entry);

	if (!record_get(&inside_table, call->transaction, &id, reading, inside, fault))
		return false;
	return inside->stored.value.data != NULL ||
	       inside_find_former(call, room, entry, reading, inside, fault);
}

bool live_find_entry(struct call *call, const struct live *live, struct slice entry,
		     struct peer *peer, bool *is_there, struct fault *fault)
{
	struct inside inside;

	*is_there = false;
	if (entry.size == 0 || live->stored.value.data == NULL)
		return true;
	if (!inside_find(call, &live->stored.id, entry, STORE_TO_SHOW, &inside, fault))
		return false;
	if (inside.stored.value.data == NULL || inside.stay_count == 0 ||
	    !slice_equal(inside.entry, entry))
		return true;
	if (!record_get_named(&peer_table, call->transaction,
			      inside.stays[inside.stay_count - 1].uuid, STORE_TO_SHOW, peer, fault))
		return false;
	*is_there = live_has_peer(live, peer);
	return true;
}

struct store_walk peers_walk(struct call *call, const struct id *session, enum store_side side,
			     bool keeps, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST,
					 .side = side,
					 .parent = session };

	return store_walk_pages(call->transaction, &kind_peer, &page, keeps, fault);
}

bool peers_next(struct store_walk *walk, struct peer *peer)
{
	struct store_record record;

	return store_next(walk, &record) &&
	       record_read(&peer_table, NULL, &record, peer, walk->fault);
}

/* ---- backends by their id alone ---- */

static bool backend_account_get(struct call *call, const struct id *backend,
				struct backend_account *found, struct fault *fault)
{
	store_set_account(call->transaction, &audit_no_account);
	return record_get(&backend_account_table, call->transaction, backend, STORE_TO_CHANGE,
			  found, fault);
}

bool backend_account_put(struct call *call, const struct id *backend, struct fault *fault)
{
	struct backend_account found;
	bool is_done = backend_account_get(call, backend, &found, fault);

	if (is_done && found.stored.value.data != NULL &&
	    id_compare(&found.account, &call->account) != 0)
		is_done = fault_set(fault, FAULT_AGAIN, NULL);
	if (is_done && found.stored.value.data == NULL) {
		found.stored.id = *backend;
		found.account = call->account;
		is_done = record_put(&backend_account_table, call->transaction, &found, fault);
	}
	store_set_account(call->transaction, &call->account);
	return is_done;
}

bool backend_account_remove(struct call *call, const struct id *backend, struct fault *fault)
{
	struct backend_account found;
	bool is_done = backend_account_get(call, backend, &found, fault);

	if (is_done && found.stored.value.data != NULL &&
	    id_compare(&found.account, &call->account) == 0)
		is_done = store_remove(call->transaction, &kind_backend_account, &found.stored,
				       fault);
	store_set_account(call->transaction, &call->account);
	return is_done;
}
