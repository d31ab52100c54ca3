/* Takes events from media servers. A media server repeats only what is answered with 5xx or 429, so
 * once an event is known to be from it, the answer is never another 4xx: what nobody needs is
 * answered like the rest, and counted. The answer does not wait for the records: the event is in
 * memory, and a survey finds what a crash has lost.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_rooms.h"

#include "records/kinds.h"
#include "resources/audit_record.h"
#include "resources/live/live_queue.h"
#include "resources/stored/live_record.h"
#include "resources/live/server_rooms.h"
#include "resources/stored/media_record.h"

/* Seconds after which a media server may try again. */
#define RETRY_AFTER 1

static bool refuse_event(struct call *call, struct fault *fault)
{
	if (call->environment->live_queue != NULL)
		live_queue_count(call->environment->live_queue, RECEIVED_REFUSED);
	return fault_detail(fault, FAULT_UNAUTHORIZED,
			    "the event is not signed with the key of this backend");
}

bool live_receive(struct call *call, struct fault *fault)
{
	struct live_queue *queue = call->environment->live_queue;
	const int64_t now = clock_now(call->environment->clock);
	struct backend_account found;
	const struct backend *backend;
	struct server_event event;
	struct server server;
	struct media media;
	struct id id, room;

	if (call->environment->live == LIVE_OFF || queue == NULL)
		return call_answer_nothing(call);
	if (call->request.body_is_too_large || call->request.body.size > CALL_BODY_MOST)
		return fault_detail(fault, FAULT_TOO_LARGE, "the maximum body size is %zu bytes",
				    CALL_BODY_MOST);

	/* The backend of the path, in whatever account, says which account it is. */
	if (!id_parse(call->parameters[0], &id))
		return refuse_event(call, fault);
	store_set_account(call->transaction, &audit_no_account);
	if (!record_get(&backend_account_table, call->transaction, &id, STORE_TO_SHOW, &found,
			fault))
		return false;
	if (found.stored.value.data == NULL)
		return refuse_event(call, fault);
	call->account = found.account;
	call_set_account(call);
	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	backend = media_backend(&media, &id);
	if (backend == NULL || !server_can(backend->type, SERVER_LIST))
		return refuse_event(call, fault);
	server = backend_server(call, backend);
	if (!server_signed_event(call->arena, &server, now / 1000, call->request.authorization,
				 call->request.body) ||
	    !call_account_is_enabled(call))
		return refuse_event(call, fault);

	if (!server_read_event(call->arena, &server, call->request.body, &event) ||
	    !id_parse(event.room.name, &room)) {
		live_queue_count(queue, RECEIVED_IGNORED);
		live_queue_note_contact(queue, &call->account, &backend->id);
		return call_answer_nothing(call);
	}
	if (event.type == SERVER_ROOM_ENDED)
		server_rooms_remove(
			call->environment->server_rooms,
			&(const struct server_room_key){ call->account, backend->id, room });
	if (live_queue_add(queue, &call->account, &backend->id, backend->pool.size > 0, &room,
			   &event, now))
		return call_answer_nothing(call);
	fault_set(fault, FAULT_SERVER_BUSY, "Too many events are waiting");
	fault->retry_after = RETRY_AFTER;
	return false;
}
