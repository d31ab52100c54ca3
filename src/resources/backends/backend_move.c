/* Moves the rooms of a media server that is taken out of its pool on purpose. The call only notes
 * that; the watch moves them, some each second (background/live_places.h), so that a service that
 * is started again goes on. Before that it counts them, in as many transactions as that takes,
 * which only read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/backends/backends.h"

#include "base/json_writer.h"
#include "resources/audit.h"
#include "resources/media/placing.h"

/* Refuses if no other server of the pool is up and not draining. */
static bool has_other(struct call *call, struct fault *fault)
{
	const struct backend *backend = call->backend, *other = NULL;
	const struct place_request request = {
		.media = call->media,
		.pool = backend->pool,
		.not_at = &backend->id,
		.not_count = 1,
		.must_be_up = true,
	};

	if (backend->pool.size == 0)
		return fault_explain(fault, FAULT_CONFLICT, "No other server", "it is in no pool");
	if (!placing_choose(call, &request, &other, fault))
		return false;
	return other != NULL || fault_explain(fault, FAULT_CONFLICT, "No other server",
					      "pool %.*s has none that is up and not draining",
					      (int)backend->pool.size, backend->pool.data);
}

bool backends_move(struct call *call, struct fault *fault)
{
	struct backend *backend = call->backend;
	struct placed_rooms page = { .after = call->step.after };
	unsigned rooms = call->step.notes; /* those that were counted */
	struct json_writer answer = writer_begin(call->arena, false);

	if (!backend->is_draining)
		return fault_set(fault, FAULT_CONFLICT, "Backend is not draining");
	if (call->environment->live == LIVE_OFF)
		return fault_detail(fault, FAULT_CANNOT, "--live off");
	/* The watch finds out for each room where it is to be. */
	if (!call->step.is_next && !has_other(call, fault))
		return false;
	if (!placed_rooms_read(call, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++)
		rooms += page.rooms[i].backend != NULL &&
			 id_compare(page.rooms[i].backend, &backend->id) == 0;
	if (!page.is_last) {
		call->run.goes_on = true;
		call->run.step = (struct call_step){
			.is_next = true,
			.after = page.after,
			.notes = rooms,
		};
		return true;
	}
	if (backend->moved_by.size == 0) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		backend->moved_by = audit_caller_text(call);
		if (!media_put(call, call->media, fault))
			return false;
	}
	writer_integer(&answer, "rooms", rooms);
	if (!call_answer(call, writer_end(&answer)))
		return false;
	call->answer.status = 202;
	return true;
}
