/* Live rooms, sessions and usage in a dump, and how they are checked (resources/record_kind.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"
#include "resources/live/live_names.h"
#include "resources/stored/media_record.h"
#include "resources/stored/room_record.h"
#include "resources/record_check.h"

/* ---- sessions ---- */

/* Adds a finding for each rule of the session alone. */
static void check_session_alone(const struct session *session, struct findings *findings)
{
	if (session->is_active == (session->closed != 0))
		findings_add(findings, "/closed_at", "does not match active");
	if (session->updated < session->created)
		findings_add(findings, "/updated_at", "must not be before created_at");
}

/* An active session and the room in session need each other: a dump that lacks one of them leaves
 * out the other, so that it can be loaded. */
static bool session_record_check(struct call *call, const void *record, struct findings *findings,
				 struct fault *fault)
{
	const struct session *session = record;
	struct fault flaws = FAULT_INITIAL;
	struct findings own;
	struct live live;
	bool refers;

	check_session_alone(session, findings);
	if (!session->is_active)
		return true;
	if (!live_load(call, &session->stored.parent, STORE_TO_SHOW, &live, fault))
		return false;
	findings_open(&own, call->arena);
	record_verify(&live_table, &live, "", false, &own);
	if (!record_check_relations(call, &live_table, &live, &refers, &own, fault))
		return false;
	if (live.stored.value.data == NULL || id_compare(&live.session, &session->stored.id) != 0 ||
	    !findings_result(&own, &flaws))
		findings_add(findings, "/active", "its room is not in session, or cannot be");
	return true;
}

static int64_t session_kept(const struct call *call)
{
	return call->environment->session_keep;
}

const struct record_kind session_kind = {
	.table = &session_table,
	.line = "session",
	.order = RECORD_PAGES,
	.kept = session_kept,
	.check = session_record_check,
};

/* ---- peers ---- */

static bool peer_load(struct call *call, void *record, const char *pointer,
		      struct findings *findings, struct fault *fault)
{
	struct peer *peer = record;

	(void)call;
	(void)pointer;
	(void)findings;
	(void)fault;
	peer->stored.id = peer_id(peer->joined, peer->uuid);
	return true;
}

/* Stores the peer, and what follows from it: those inside by their entry and by their name, and
 * their number by role. */
static bool peer_put_loaded(struct call *call, void *record, struct fault *fault)
{
	struct peer *peer = record;
	struct session session;
	struct live live;

	if (!session_load(call, &peer->stored.parent, STORE_TO_SHOW, &session, fault))
		return false;
	if (!peer->is_inside)
		return record_put(&peer_table, call->transaction, peer, fault);
	if (!names_restore(call, &session.stored.parent, peer, fault) ||
	    !record_put(&peer_table, call->transaction, peer, fault) ||
	    !inside_add(call, &session.stored.parent, peer, fault))
		return false;
	if (!session.is_active)
		return true;

	/* The room in session has its own line later (live_load_dumped). */
	if (!live_load(call, &session.stored.parent, STORE_TO_CHANGE, &live, fault))
		return false;
	live.stored.id = session.stored.parent;
	live.session = session.stored.id;
	live_count(call->arena, &live, peer->role, true);
	return record_put(&live_table, call->transaction, &live, fault);
}

static bool peer_record_check(struct call *call, const void *record, struct findings *findings,
			      struct fault *fault)
{
	const struct peer *peer = record;
	const struct id key = peer_id(peer->joined, peer->uuid);
	struct session session;

	if (peer->is_inside == (peer->left != 0))
		findings_add(findings, "/left_at", "does not match inside");
	if (peer->left != 0 && peer->left < peer->joined)
		findings_add(findings, "/left_at", "must not be before joined_at");
	if (id_compare(&key, &peer->stored.id) != 0)
		findings_add(findings, "/joined_at", "does not match its key");
	if (!session_load(call, &peer->stored.parent, STORE_TO_SHOW, &session, fault))
		return false;
	if (peer->is_inside && session.stored.value.data != NULL && !session.is_active)
		findings_add(findings, "/inside", "its session is not active");
	return true;
}

const struct record_kind peer_kind = {
	.table = &peer_table,
	.line = "peer",
	.order = RECORD_CHILDREN,
	.load = peer_load,
	.put = peer_put_loaded,
	.check = peer_record_check,
};

static bool inside_record_check(struct call *call, const void *record, struct findings *findings,
				struct fault *fault)
{
	const struct inside *inside = record;
	struct peer peer;

	for (size_t i = 0; i < inside->stay_count; i++) {
		if (!record_get_named(&peer_table, call->transaction, inside->stays[i].uuid,
				      STORE_TO_SHOW, &peer, fault))
			return false;
		if (peer.stored.value.data == NULL || !peer.is_inside ||
		    !slice_equal(peer.entry, inside->entry))
			findings_add(findings, "/stays", "one of them is not inside");
	}
	return true;
}

const struct record_kind inside_kind = {
	.table = &inside_table,
	.order = RECORD_CHILDREN,
	.check = inside_record_check,
};

static bool shown_name_check(struct call *call, const void *record, struct findings *findings,
			     struct fault *fault)
{
	const struct shown_name *name = record;
	struct peer peer;

	if (name->count < name->stay_count)
		findings_add(findings, "/count", "must be at least the number of stays");
	for (size_t i = 0; i < name->stay_count; i++) {
		if (!record_get_named(&peer_table, call->transaction, name->stays[i].uuid,
				      STORE_TO_SHOW, &peer, fault))
			return false;
		if (peer.stored.value.data == NULL || !peer.is_inside ||
		    id_compare(&peer.name_id, &name->stored.id) != 0)
			findings_add(findings, "/stays", "one of them has another name");
	}
	return true;
}

const struct record_kind shown_name_kind = {
	.table = &shown_name_table,
	.order = RECORD_CHILDREN,
	.check = shown_name_check,
};

/* ---- rooms in session ---- */

/* Takes the numbers by role, which those inside have left (peer_put_loaded). Only they leave a
 * record without a backend. */
static bool live_load_dumped(struct call *call, void *record, const char *pointer,
			     struct findings *findings, struct fault *fault)
{
	struct live *live = record, counted;

	if (!live_load(call, &live->stored.id, STORE_TO_CHANGE, &counted, fault))
		return false;
	if (id_compare(&counted.backend, &kind_only_id) != 0)
		findings_add(findings, pointer, "already exists");
	live->stored = counted.stored;
	live->roles = counted.roles;
	live->role_count = counted.role_count;
	return true;
}

/* A dump has no places: a room of a pool is where its session is. Its record says that it has a
 * place to be shown. */
static bool note_place(struct call *call, const struct live *live, struct fault *fault)
{
	const struct backend *backend;
	struct room_record room;
	struct media media;
	bool is_there;

	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	backend = media_backend(&media, &live->backend);
	if (backend == NULL || backend->pool.size == 0)
		return true;
	if (!room_find(call, &live->stored.id, STORE_TO_CHANGE, &room, &is_there, fault))
		return false;
	room.was_placed = true;
	return !is_there || room_put(call, &room, fault);
}

/* Stores the room in session, and what the account's rooms have now. */
static bool live_put_loaded(struct call *call, void *record, struct fault *fault)
{
	const struct live *live = record;
	struct usage_now used;

	if (!record_get(&usage_now_table, call->transaction, &kind_only_id, STORE_TO_CHANGE, &used,
			fault))
		return false;
	used.sessions++;
	used.peers += live_peers(live);
	return record_put(&usage_now_table, call->transaction, &used, fault) &&
	       record_put(&live_table, call->transaction, live, fault) &&
	       note_place(call, live, fault);
}

static bool live_record_check(struct call *call, const void *record, struct findings *findings,
			      struct fault *fault)
{
	const struct live *live = record;
	struct fault flaws = FAULT_INITIAL;
	struct session session;
	struct findings own;

	if (!session_load(call, &live->session, STORE_TO_SHOW, &session, fault))
		return false;
	findings_open(&own, call->arena);
	record_verify(&session_table, &session, "", false, &own);
	check_session_alone(&session, &own);
	if (session.stored.value.data == NULL || !session.is_active ||
	    id_compare(&session.stored.parent, &live->stored.id) != 0 ||
	    !findings_result(&own, &flaws))
		findings_add(findings, "/session_id", "is not an active session of the room");
	return true;
}

static bool live_derive(struct call *call, const void *record, struct findings *findings,
			struct fault *fault)
{
	const struct live *live = record;
	const struct store_page page = { .order = STORE_OLDEST_FIRST,
					 .side = STORE_ON,
					 .parent = &live->session };
	struct store_walk walk = store_walk_pages(call->transaction, &kind_peer, &page, false,
						  fault);
	struct store_record stored;
	struct usage_now used;
	uint64_t inside = 0;

	while (store_next(&walk, &stored))
		inside++;
	if (fault->kind != FAULT_NONE || !record_get(&usage_now_table, call->transaction,
						     &kind_only_id, STORE_TO_SHOW, &used, fault))
		return false;
	if (inside != live_peers(live))
		findings_add(findings, "/roles", "do not match the number of people inside");
	if (used.stored.value.data == NULL)
		findings_add(findings, "", "is not counted: the record of use now does not exist");
	return true;
}

const struct record_kind live_kind = {
	.table = &live_table,
	.line = "live",
	.order = RECORD_PAGES,
	.may_be_there = true,
	.load = live_load_dumped,
	.put = live_put_loaded,
	.check = live_record_check,
	.derive = live_derive,
};

/* ---- decisions that last ---- */

const struct record_kind given_role_kind = {
	.table = &given_role_table,
	.line = "given_role",
	.order = RECORD_CHILDREN,
};

const struct record_kind revocation_kind = {
	.table = &revocation_table,
	.line = "revocation",
	.order = RECORD_PAGES,
};

/* ---- usage ---- */

static bool usage_now_derive(struct call *call, const void *record, struct findings *findings,
			     struct fault *fault)
{
	const struct usage_now *now = record;
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct store_walk walk = store_walk_pages(call->transaction, &kind_live, &page, false,
						  fault);
	struct store_record stored;
	uint64_t sessions = 0, peers = 0;
	struct live live;

	while (store_next(&walk, &stored)) {
		if (!record_read(&live_table, call->arena, &stored, &live, fault))
			return false;
		sessions++;
		peers += live_peers(&live);
	}
	if (fault->kind != FAULT_NONE)
		return false;
	if (sessions != now->sessions)
		findings_add(findings, "/sessions", "does not match the number of active sessions");
	if (peers != now->peers)
		findings_add(findings, "/peers", "does not match the number of people inside");
	return true;
}

const struct record_kind usage_now_kind = {
	.table = &usage_now_table,
	.order = RECORD_ONE,
	.derive = usage_now_derive,
};

static void usage_print(struct call *call, void *record)
{
	struct usage *usage = record;

	(void)call;
	usage->day = usage_day(&usage->stored.id);
}

static bool usage_load(struct call *call, void *record, const char *pointer,
		       struct findings *findings, struct fault *fault)
{
	struct usage *usage = record;

	(void)call;
	(void)pointer;
	(void)findings;
	(void)fault;
	usage->stored.id = usage_id(usage->day);
	return true;
}

const struct record_kind usage_kind = {
	.table = &usage_table,
	.line = "usage",
	.order = RECORD_PAGES,
	.print = usage_print,
	.load = usage_load,
};

/* ---- backends by their id alone ---- */

/* The record belongs to no account, so the account's media servers are loaded as those of another
 * call. */
static bool backend_account_check(struct call *call, const void *record, struct findings *findings,
				  struct fault *fault)
{
	const struct backend_account *found = record;
	const struct id account = call->account;
	struct media media;
	bool is_read;

	store_set_account(call->transaction, &found->account);
	is_read = media_load(call, STORE_TO_SHOW, &media, fault);
	store_set_account(call->transaction, &account);
	if (is_read && media_backend(&media, &found->stored.id) == NULL)
		findings_add(findings, "/account_id", "is of an account without this backend");
	return is_read;
}

const struct record_kind backend_account_kind = {
	.table = &backend_account_table,
	.order = RECORD_UNLISTED,
	.is_of_no_account = true,
	.check = backend_account_check,
};
