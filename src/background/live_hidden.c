/* See live_hidden.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/live_hidden.h"

#include "background/media_client.h"
#include "base/clock.h"
#include "base/counter.h"
#include "resources/media/media_join.h"
#include "resources/recordings/job_merge.h"

/* Milliseconds after which those who could not be removed are looked for again. */
#define AGAIN_AFTER 2000

/* A request for each who is to be removed. */
struct hidden_removal {
	struct pending_request pending; /* first, so that it is the same object */
	struct id room;
	struct asking asking;
	struct asked asked[HIDDEN_MOST];
};

/* Somebody who has gone meanwhile is as good as removed. */
static bool take_removal(struct live_watch *watch, struct pending_request *pending)
{
	struct hidden_removal *removal = (struct hidden_removal *)pending;
	struct watched_backend *backend = watched_backend_of(watch, &pending->account,
							     &removal->asking.backend);
	bool are_gone = true;

	if (backend != NULL)
		COUNTER_LOWER(backend->acting, pending->counted);
	for (size_t i = 0; i < removal->asking.count; i++) {
		const struct asked *asked = &removal->asked[i];

		are_gone = are_gone && asked->end == ASKED_ANSWERED &&
			   (asked->outcome.status == 200 || asked->outcome.status == 404);
	}
	if (!are_gone)
		watched_survey_soon(watched_room_of(watch, &pending->account,
						    &removal->asking.backend, &removal->room),
				    clock_monotonic() + AGAIN_AFTER);
	pending_close(pending);
	return true;
}

/* Leaves a request for each that must not be there. */
static bool find_strays(struct call *call, const struct watched_room *room,
			const struct server_hidden *hidden, struct hidden_removal *removal,
			struct fault *fault)
{
	const struct slice name = id_as_text(call->arena, &room->room);
	struct slice strays[HIDDEN_MOST];
	const struct backend *backend;
	struct server server;
	struct media media;
	size_t n = 0;
	bool is_stray;

	removal->asking.count = 0;
	for (size_t i = 0; i < hidden->count && i < HIDDEN_MOST; i++) {
		if (!job_participant_is_stray(call, &room->room, hidden->identities[i], &is_stray,
					      fault))
			return false;
		if (is_stray)
			strays[n++] = hidden->identities[i];
	}
	if (n == 0)
		return true;
	if (!media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	backend = media_backend(&media, &room->backend);
	if (backend == NULL)
		return true;
	server = backend_server(call, backend);
	for (size_t i = 0; i < n; i++)
		server_remove_person(call->arena, &server, call->now / 1000, name, strays[i],
				     &removal->asked[i].request);
	removal->asking.count = n;
	return true;
}

void hidden_check(struct live_watch *watch, const struct watched_room *room,
		  const struct server_hidden *hidden)
{
	struct watched_backend *backend = watched_backend_of(watch, &room->account, &room->backend);
	struct fault fault = FAULT_INITIAL;
	struct hidden_removal *removal;
	struct arena *before;

	if (hidden->count == 0 || backend == NULL || watch->environment->live != LIVE_ON)
		return;
	removal = (struct hidden_removal *)pending_open(watch, &room->account, WORK_ENFORCE,
							sizeof *removal);
	removal->pending.take = take_removal;
	removal->pending.asking = &removal->asking;
	removal->room = room->room;
	removal->asking = (struct asking){
		.account = room->account,
		.backend = room->backend,
		.rank = ASKED_TO_ENFORCE,
		.room = room->room,
		.asked = removal->asked,
	};
	before = arena_use_for_json(removal->pending.arena);
	{
		TRANSACT run = transact_begin(&watch->work, STORE_READ, removal->pending.arena,
					      &room->account, &fault);

		while (transact_again(&run))
			run.is_done = find_strays(&run.call, room, hidden, removal, &fault);
		if (!run.is_done)
			removal->asking.count = 0;
	}
	(void)arena_use_for_json(before);
	if (removal->asking.count == 0) {
		removal->pending.asking = NULL;
		pending_close(&removal->pending);
		return;
	}
	removal->pending.counted = removal->asking.count;
	backend->acting += removal->pending.counted;
	pending_send(&removal->pending);
}
