/* Moves the rooms of a media server that is taken out of its pool on purpose. The call only notes
 * that; the watch moves them, some each second (background/live_places.h), so that a service that
 * is started again goes on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/backends/backends.h"

#include <stdlib.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/media/placing.h"
#include "resources/stored/live_record.h"

/* Rooms in session at a backend, in the order of their ids. */
struct room_ids {
	struct id *ids;
	size_t count;
};

static bool find_in_session(struct call *call, const struct id *backend, struct room_ids *here,
			    struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct store_walk walk = store_walk_pages(call->transaction, &kind_live, &page, false,
						  fault);
	size_t capacity = 0;
	struct store_record record;
	struct live live;

	while (store_next(&walk, &record)) {
		if (!record_read(&live_table, call->arena, &record, &live, fault))
			return false;
		if (id_compare(live_backend(&live), backend) != 0)
			continue;
		here->ids = memory_room(here->ids, here->count + 1, &capacity, sizeof *here->ids);
		here->ids[here->count++] = record.id;
	}
	return fault->kind == FAULT_NONE;
}

/* Counts the rooms that are at the backend: in session, or placed there. */
static bool count_rooms(struct call *call, const struct id *backend, struct room_ids *here,
			uint64_t *rooms, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST, .parent = backend };
	struct store_record record;
	struct store_walk walk;
	struct place place;

	if (!find_in_session(call, backend, here, fault))
		return false;
	*rooms = here->count;
	walk = store_walk_pages(call->transaction, &kind_place, &page, false, fault);
	while (store_next(&walk, &record)) {
		const size_t at = id_place(&record.id, here->ids, here->count, sizeof *here->ids);

		if (!record_read(&place_table, call->arena, &record, &place, fault))
			return false;
		*rooms += place_holds(call, &place, false) &&
			  (at == here->count || id_compare(&here->ids[at], &record.id) != 0);
	}
	return fault->kind == FAULT_NONE;
}

bool backends_move(struct call *call, struct fault *fault)
{
	struct backend *backend = call->backend;
	const struct place_request request = {
		.media = call->media,
		.pool = backend->pool,
		.not_at = &backend->id,
		.not_count = 1,
		.must_be_up = true,
	};
	struct json_writer answer = writer_begin(call->arena, false);
	const struct backend *other = NULL;
	struct room_ids here = { .ids = NULL };
	uint64_t rooms = 0;
	bool is_counted;

	if (!backend->is_draining)
		return fault_set(fault, FAULT_CONFLICT, "Backend is not draining");
	if (call->environment->live == LIVE_OFF)
		return fault_detail(fault, FAULT_CANNOT, "--live off");
	if (backend->pool.size > 0 && !placing_choose(call, &request, &other, fault))
		return false;
	if (other == NULL)
		return fault_set(fault, FAULT_CONFLICT, "No other server");
	is_counted = count_rooms(call, &backend->id, &here, &rooms, fault);
	free(here.ids);
	if (!is_counted)
		return false;
	if (backend->moved_by.size == 0) {
		backend->moved_by = audit_caller_text(call);
		if (!media_put(call, call->media, fault))
			return false;
	}
	writer_integer(&answer, "rooms", (int64_t)rooms);
	if (!call_answer(call, writer_end(&answer)))
		return false;
	call->answer.status = 202;
	return true;
}
