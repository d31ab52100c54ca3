/* See resources/live/live_events.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_events.h"

#include "accounts/accounts.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/events/events.h"
#include "resources/stored/webhook_record.h"

/* Longer metadata is not in an event, in bytes. */
#define USER_DATA_MOST 256

const char *const live_change_types[LIVE_CHANGES] = {
	[LIVE_JOINED] = "peer.join.success",	     [LIVE_LEFT] = "peer.leave.success",
	[LIVE_ROLE_CHANGED] = "role.change.success", [LIVE_OPENED] = "session.open.success",
	[LIVE_CLOSED] = "session.close.success",
};

/* What 100ms calls the cause of a leave. */
static const char *const reasons[LEAVE_CAUSES] = {
	[LEAVE_LEFT] = "client request",
	[LEAVE_OTHER_DEVICE] = "client request",
	[LEAVE_REMOVED] = "peer kicked",
	[LEAVE_ENDED] = "peer kicked",
	[LEAVE_SIGNAL] = "websocket closed",
	[LEAVE_SIP] = "websocket closed",
	[LEAVE_MEDIA] = "ice connection state closed",
	[LEAVE_SERVER] = "server removed peer",
	[LEAVE_UNSEEN] = "server removed peer",
	[LEAVE_BANNED] = "peer kicked",
	[LEAVE_FULL] = "peer kicked",
	[LEAVE_NOT_ADMITTED] = "peer kicked",
	[LEAVE_MOVED] = "server removed peer",
};

/* ---- settings ---- */

static bool is_chosen(const struct webhooks *webhooks, const char *type)
{
	for (size_t i = 0; i < webhooks->count; i++) {
		struct slice events = webhooks->items[i].events;

		while (webhooks->items[i].is_enabled && events.data != NULL) {
			if (event_type_matches(text_split(events, '\n', &events), slice_of(type)))
				return true;
		}
	}
	return false;
}

bool live_settings_load(struct call *call, struct live_settings *settings, struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	const bool logs = account == NULL || account->logs_live;
	struct webhooks webhooks;

	settings->is_anonymous = account != NULL && !account->keeps_people;
	accounts_release(accounts, roster);
	for (size_t i = 0; i < LIVE_CHANGES; i++)
		settings->is_noted[i] = true;
	if (logs)
		return true;
	if (!webhooks_load(call->transaction, STORE_TO_SHOW, &webhooks, fault))
		return false;
	settings->is_noted[LIVE_JOINED] = is_chosen(&webhooks, live_change_types[LIVE_JOINED]);
	settings->is_noted[LIVE_LEFT] = is_chosen(&webhooks, live_change_types[LIVE_LEFT]);
	settings->is_noted[LIVE_ROLE_CHANGED] = is_chosen(&webhooks,
							  live_change_types[LIVE_ROLE_CHANGED]);
	return true;
}

/* ---- events ---- */

/* Returns a time with milliseconds as text. */
static struct slice live_time(struct arena *arena, int64_t time)
{
	char *text = arena_alloc(arena, TEXT_TIME_SIZE);

	text_time_milliseconds(time, text);
	return slice_of(text);
}

static struct slice seconds(struct arena *arena, int64_t milliseconds)
{
	return slice_of(arena_text(arena, "%lld", (long long)(milliseconds / 1000)));
}

static void data_add(struct audit_data *data, size_t *n, const char *name, struct slice value)
{
	data->more[(*n)++] = (struct audit_member){ name, value, false };
}

/* Adds the members that all events have, and returns their number. The session's own are empty if
 * none is open. */
static size_t add_session(struct call *call, const struct session *session, struct audit_data *data)
{
	const bool is_open = id_compare(&session->stored.id, &kind_only_id) != 0;
	size_t n = 0;

	data_add(data, &n, "room_id", id_as_text(call->arena, &session->stored.parent));
	data_add(data, &n, "room_name", session->room_name);
	data_add(data, &n, "session_id",
		 is_open ? id_as_text(call->arena, &session->stored.id) : SLICE(""));
	data_add(data, &n, "template_id", id_as_text(call->arena, &session->template_id));
	data_add(data, &n, "session_started_at",
		 is_open ? live_time(call->arena, session->created) : SLICE(""));
	return n;
}

static size_t add_peer(struct call *call, const struct peer *peer, size_t n,
		       struct audit_data *data)
{
	const bool is_known = !peer->is_anonymous;

	data->kind = "peer";
	data->id = peer->uuid;
	data->name = peer->name;
	data_add(data, &n, "peer_id", peer->uuid);
	data_add(data, &n, "user_id", is_known ? peer->user_id : SLICE(""));
	data_add(data, &n, "user_name", peer->name);
	data_add(data, &n, "user_data",
		 peer->metadata.size <= USER_DATA_MOST ? peer->metadata : SLICE(""));
	data_add(data, &n, "role", peer->role);
	data_add(data, &n, "joined_at", live_time(call->arena, peer->joined));
	return n;
}

static size_t add_peer_with_type(struct call *call, const struct peer *peer, size_t n,
				 struct audit_data *data)
{
	n = add_peer(call, peer, n, data);
	data_add(data, &n, "type", peer->is_by_phone ? SLICE("sip") : SLICE("regular"));
	return n;
}

void live_note_session(struct call *call, const struct session *session, enum live_change change)
{
	struct audit_data data = {
		.kind = "session",
		.id = id_as_text(call->arena, &session->stored.id),
		.name = session->room_name,
	};
	size_t n = add_session(call, session, &data);

	if (change == LIVE_CLOSED) {
		data_add(&data, &n, "session_stopped_at", live_time(call->arena, session->updated));
		data.more[n] = (struct audit_member){
			"session_duration",
			seconds(call->arena, session->updated - session->created),
			true,
		};
	}
	audit_note(call, live_change_types[change], &data);
}

void live_note_joined(struct call *call, const struct live_settings *settings,
		      const struct session *session, const struct peer *peer)
{
	struct audit_data data = { .kind = "peer" };

	if (!settings->is_noted[LIVE_JOINED])
		return;
	(void)add_peer_with_type(call, peer, add_session(call, session, &data), &data);
	audit_note(call, live_change_types[LIVE_JOINED], &data);
}

void live_note_left(struct call *call, const struct live_settings *settings,
		    const struct session *session, const struct peer *peer, struct slice reason,
		    struct slice actor)
{
	struct audit_data data = { .kind = "peer", .actor = actor };
	size_t n;

	if (!settings->is_noted[LIVE_LEFT])
		return;
	n = add_peer_with_type(call, peer, add_session(call, session, &data), &data);
	data_add(&data, &n, "left_at", live_time(call->arena, peer->left));
	data.more[n++] = (struct audit_member){ "duration",
						seconds(call->arena, peer->left - peer->joined),
						true };
	data_add(&data, &n, "reason", slice_of(reasons[peer->cause]));
	data_add(&data, &n, "cause", slice_of(leave_cause_names[peer->cause]));
	data_add(&data, &n, "message", reason);
	audit_note(call, live_change_types[LIVE_LEFT], &data);
}

void live_note_role(struct call *call, const struct live_settings *settings,
		    const struct session *session, const struct peer *peer,
		    const struct live_change_of_role *change)
{
	struct audit_data data = { .kind = "peer" };
	size_t n;

	if (!settings->is_noted[LIVE_ROLE_CHANGED])
		return;
	n = add_peer(call, peer, add_session(call, session, &data), &data);
	data_add(&data, &n, "previous_role", change->former);
	data_add(&data, &n, "role_changed_at", live_time(call->arena, call->now));
	if (change->by.size > 0)
		data_add(&data, &n, "role_change_requested_by", change->by);
	audit_note(call, live_change_types[LIVE_ROLE_CHANGED], &data);
}

void live_note_end(struct call *call, const struct session *session, const struct live *live,
		   const struct peer *by)
{
	const bool is_known = by->stored.value.data != NULL;
	const bool is_named = is_known && !by->is_anonymous;
	struct audit_data data = {
		.kind = "session",
		.id = id_as_text(call->arena, &session->stored.id),
		.name = session->room_name,
		.actor = live->end_actor,
	};
	size_t n = add_session(call, session, &data);

	data_add(&data, &n, "peer_id", live->end_peer);
	data_add(&data, &n, "user_id", is_named ? by->user_id : SLICE(""));
	data_add(&data, &n, "user_name", is_named ? by->name : SLICE(""));
	data_add(&data, &n, "role", is_known ? by->role : SLICE(""));
	data.more[n++] = (struct audit_member){ "lock_room",
						live->end_locks ? SLICE("true") : SLICE("false"),
						true };
	data_add(&data, &n, "reason", live->end_reason);
	data_add(&data, &n, "source", live->end_peer.size > 0 ? SLICE("peer") : SLICE("api"));
	audit_note(call, "room.end.success", &data);
}

struct slice live_failure_data(struct call *call, const struct session *session,
			       const struct peer *peer)
{
	struct audit_data data = { .kind = "peer" };
	size_t n = add_peer_with_type(call, peer, add_session(call, session, &data), &data);

	data_add(&data, &n, "error_message", SLICE("network disconnection"));
	return audit_data_text(call->arena, &data);
}
