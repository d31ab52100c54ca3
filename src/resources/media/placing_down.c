/* See resources/media/placing_down.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media/placing_down.h"

#include <stdlib.h>
#include <string.h>

#include "records/kinds.h"
#include "resources/asking.h"
#include "resources/media/failures.h"
#include "resources/stored/live_record.h"

/* Milliseconds: for which the word of a witness is kept, since a person counts once in it for
 * /metrics; after which a word that is repeated is stored again. */
#define WITNESS_KEPT 60000
#define WITNESS_RENEWED 10000
/* For which a question may be under way; for which what the last one found counts where another
 * process asks again. */
#define UNDER_WAY_MOST (QUESTION_LASTS + 1000)
#define FOUND_COUNTS (UNDER_WAY_MOST + 2 * PRESENCE_LASTS)
/* People inside who are read at once. */
#define INSIDE_AT_ONCE 64

/* ---- the question ---- */

static void ask_whether_there(struct call *call, const struct backend *backend)
{
	const struct server server = backend_server(call, backend);
	json_t *names = arena_json(call->arena, json_array());
	struct asking *asking = call_ask(call, &backend->id, 1);

	/* A room that nobody has: the answer is short. */
	array_put(names, json_string("none"));
	asking->rank = ASKED_TO_ENFORCE;
	asking->is_question = true;
	asking->ends_within = QUESTION_LASTS;
	server_list_rooms(call->arena, &server, call->now / 1000, names, &asking->asked[0].request);
	asking->asked[0].request.is_shared = true;
}

static bool is_within(int64_t time, int64_t now, int64_t milliseconds)
{
	/* The clock may have been set back. */
	return llabs(now - time) < milliseconds;
}

/* What is known of whether a backend is there. */
struct question {
	enum presence presence;
	bool was_asked; /* the call itself has asked, so it does not ask again */
	bool is_under_way; /* somebody asks now, since `since` */
	int64_t since;
};

static struct question find_question(const struct call *call, const struct backend_healths *healths,
				     const struct backend *backend)
{
	const struct backend_health *health = backend_questioned(healths, &backend->id);
	const struct asking *asking = call->asking;
	struct question question = { .presence = PRESENCE_UNKNOWN };
	enum own_question own;

	if (asking != NULL && asking->is_done &&
	    id_compare(&asking->questioned, &backend->id) == 0) {
		question.presence = asking->presence;
		question.was_asked = true;
		return question;
	}
	question.presence = failures_presence(call, &backend->id);
	if (health == NULL || question.presence != PRESENCE_UNKNOWN)
		return question;
	own = failures_question(call, &backend->id, health->questioned);
	/* The clock of another process may be another one. */
	question.since = health->questioned;
	question.is_under_way = own != QUESTION_ANSWERED &&
				is_within(health->questioned, call->now, UNDER_WAY_MOST) &&
				(health->found < health->questioned ||
				 !is_within(health->found, call->now, UNDER_WAY_MOST));
	if (is_within(health->found, call->now, PRESENCE_LASTS) ||
	    (question.is_under_way && is_within(health->found, call->now, FOUND_COUNTS) &&
	     own == QUESTION_OF_OTHERS))
		question.presence = health->was_there ? PRESENCE_ANSWERS : PRESENCE_SILENT;
	return question;
}

static bool has_been_answered(const struct call *call, const struct backend_healths *healths,
			      const struct backend *backend)
{
	const struct backend_health *health = backend_questioned(healths, &backend->id);

	return health != NULL && health->found >= health->questioned &&
	       is_within(health->found, call->now, PRESENCE_LASTS);
}

/* Takes over what the request of this call has found, and stores it for others, unless one who
 * shared the request has. */
static bool take_answer(struct call *call, const struct backend *backend,
			struct backend_healths *healths, struct fault *fault)
{
	struct asking *asking = call->asking;
	const struct asked *asked;

	if (asking == NULL || !asking->is_done || !asking->is_question ||
	    id_compare(&asking->backend, &backend->id) != 0)
		return true;
	asked = &asking->asked[0];
	asking->questioned = backend->id;
	asking->presence = asked->end != ASKED_ANSWERED ? PRESENCE_UNKNOWN
			   : asked->outcome.status != 0 ? PRESENCE_ANSWERS
							: PRESENCE_SILENT;
	if (asking->presence == PRESENCE_UNKNOWN)
		return true;
	failures_note(call, &backend->id, asking->presence);
	return has_been_answered(call, healths, backend) ||
	       (backend_healths_load(call, STORE_TO_CHANGE, healths, fault) &&
		(has_been_answered(call, healths, backend) ||
		 backend_health_note_question(call, healths, &backend->id, asking->presence,
					      fault)));
}

/* Asks whether the backend is there, unless that is known, or another process does so. */
static bool ask_for_all(struct call *call, const struct backend *backend,
			struct backend_healths *healths, struct question *question,
			bool *is_waiting, struct fault *fault)
{
	if (!question->is_under_way) {
		if (!call_is_writing(call))
			return call_write_instead(call);
		/* Somebody else may have asked since. */
		if (!backend_healths_load(call, STORE_TO_CHANGE, healths, fault))
			return false;
		*question = find_question(call, healths, backend);
		if (question->presence != PRESENCE_UNKNOWN)
			return true;
	}
	if (!question->is_under_way) {
		if (!backend_health_note_question(call, healths, &backend->id, PRESENCE_UNKNOWN,
						  fault))
			return false;
		question->since = call->now;
		failures_note(call, &backend->id, PRESENCE_UNKNOWN);
	}
	*is_waiting = failures_question(call, &backend->id, question->since) == QUESTION_ASKED;
	if (*is_waiting)
		ask_whether_there(call, backend);
	return true;
}

/* Stores what the question of this call has found, if it is new. */
static bool note_health(struct call *call, const struct backend *backend,
			const struct backend_health *health, struct fault *fault)
{
	const bool is_up = health == NULL || health->is_up;
	const struct server server = backend_server(call, backend);
	struct server_verdict verdict;
	struct server_room *rooms;
	size_t count;

	if (call->asking == NULL || !call->asking->is_question ||
	    id_compare(&call->asking->backend, &backend->id) != 0)
		return true;
	server_read_rooms(call->arena, &server, call->now / 1000, &call->asking->asked[0].outcome,
			  &verdict, &rooms, &count);
	return verdict.is_up == is_up || backend_health_note(call, backend, &verdict, fault);
}

/* ---- witnesses ---- */

static int compare_witnesses(const void *a, const void *b)
{
	return memcmp(((const struct witness *)a)->entry, ((const struct witness *)b)->entry,
		      WITNESS_SIZE);
}

static struct witness witness_of(struct slice entry, int64_t now)
{
	struct witness witness = { .said = now };
	unsigned char digest[DIGEST_SIZE];

	digest_sha256(entry, digest);
	memcpy(witness.entry, digest, WITNESS_SIZE);
	return witness;
}

/* Stores that the person says so of the present place, and forgets old words. *is_new: the person
 * has not said so lately. */
static bool note_witness(struct call *call, struct placing *placing, struct slice entry,
			 bool *is_new, struct fault *fault)
{
	const struct witness own = witness_of(entry, call->now);
	struct place *place = &placing->place;
	struct witness *witnesses;
	size_t n = 0;

	for (size_t i = 0; i < place->witness_count; i++) {
		if (compare_witnesses(&place->witnesses[i], &own) != 0 ||
		    !is_within(place->witnesses[i].said, call->now, WITNESS_KEPT))
			continue;
		*is_new = false;
		if (is_within(place->witnesses[i].said, call->now, WITNESS_RENEWED))
			return true;
	}
	witnesses = arena_alloc(call->arena, (place->witness_count + 1) * sizeof *witnesses);
	for (size_t i = 0; i < place->witness_count; i++) {
		if (is_within(place->witnesses[i].said, call->now, WITNESS_KEPT) &&
		    compare_witnesses(&place->witnesses[i], &own) != 0)
			witnesses[n++] = place->witnesses[i];
	}
	if (n < WITNESSES_MOST)
		witnesses[n++] = own;
	place->witnesses = witnesses;
	place->witness_count = n;
	return record_put(&place_table, call->transaction, place, fault);
}

/* Finds out whether enough of those inside say so, or nobody is inside. It reads as many people as
 * have said so, and one more who have not. */
static bool people_agree(struct call *call, const struct placing *placing, bool *agree,
			 struct fault *fault)
{
	const struct place *place = &placing->place;
	const bool is_of_place = id_compare(&place->backend, &placing->backend->id) == 0;
	struct witness *witnesses = arena_alloc(call->arena,
						(place->witness_count + 1) * sizeof *witnesses);
	size_t n = 0, said = 0, silent = 0;
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &placing->room,
		.most = INSIDE_AT_ONCE,
	};
	struct live live;

	*agree = false;
	for (size_t i = 0; is_of_place && i < place->witness_count; i++) {
		if (is_within(place->witnesses[i].said, call->now, WITNESS_LASTS))
			witnesses[n++] = place->witnesses[i];
	}
	qsort(witnesses, n, sizeof *witnesses, compare_witnesses);
	if (!live_load(call, &placing->room, STORE_TO_SHOW, &live, fault))
		return false;
	/* After a move, the session follows when somebody comes to the new place. */
	if (live.stored.value.data == NULL ||
	    id_compare(&live.backend, &placing->backend->id) != 0 || n >= WITNESSES_MOST) {
		*agree = true;
		return true;
	}
	while (!page.is_last && silent <= n) {
		page.records = arena_alloc(call->arena, page.most * sizeof *page.records);
		if (!store_page(call->transaction, &kind_inside, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			struct witness person;
			struct inside inside;

			if (!record_read(&inside_table, call->arena, &page.records[i], &inside,
					 fault))
				return false;
			person = witness_of(inside.entry, 0);
			if (bsearch(&person, witnesses, n, sizeof *witnesses, compare_witnesses) !=
			    NULL)
				said++;
			else
				silent++;
		}
		if (page.count > 0)
			page.above = &page.records[page.count - 1].id;
	}
	*agree = said >= silent;
	return true;
}

/* ---- the judgement ---- */

/* Chooses another server that is up. A later round of the call, which has had the room made there,
 * stays with the choice; if that one refused, there may be a third one. */
static bool choose_other(struct call *call, const struct placing *placing,
			 const struct place_wish *wish, const struct backend **other,
			 struct fault *fault)
{
	const struct backend *made_at = wish->made_at;
	const bool was_chosen = made_at != NULL && made_at != placing->backend;
	struct id not_at[2] = { placing->backend->id };
	struct place_request request = {
		.media = placing->media,
		.pool = placing->pool,
		.room = placing->room,
		.not_at = not_at,
		.not_count = 1,
		.must_be_up = true,
		.may_drain = true,
	};

	*other = NULL;
	if (!was_chosen || wish->is_refused) {
		if (was_chosen)
			not_at[request.not_count++] = made_at->id;
		request.region = placing_region(call, wish->room, wish->template);
		if (!placing_choose(call, &request, other, fault))
			return false;
	}
	if (*other == NULL && was_chosen)
		*other = made_at;
	return true;
}

bool placing_leave(struct call *call, struct placing *placing, const struct leave_request *request,
		   bool *is_waiting, struct fault *fault)
{
	const struct backend *at = placing->backend;
	const bool is_said = request->failed.size > 0 && slice_equal(request->failed, at->name);
	const struct backend_health *health;
	const struct backend *other;
	struct backend_healths healths;
	struct question question;
	bool agree, is_down_long, is_new = true;

	*is_waiting = false;
	if (call->environment->media_client == NULL || call->validates_only ||
	    !backend_is_watched(call, at))
		return true;
	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault) ||
	    !take_answer(call, at, &healths, fault))
		return false;
	health = backend_health_of(&healths, &at->id);
	is_down_long = health != NULL && !health->is_up &&
		       call->now - health->since >= DOWN_MOVES_AFTER;
	question = find_question(call, &healths, at);

	/* Without a word, a room moves only from a server that is known to be down. */
	if (!is_said && !question.was_asked) {
		if (health == NULL || health->is_up ||
		    call->now - backend_last_event(&healths, &at->id) < DOWN_WITHOUT_EVENT)
			return true;
		if (!is_down_long && (!people_agree(call, placing, &agree, fault) || !agree))
			return fault->kind == FAULT_NONE;
	}
	if (question.presence == PRESENCE_UNKNOWN && !question.was_asked) {
		if (!ask_for_all(call, at, &healths, &question, is_waiting, fault))
			return false;
		if (*is_waiting || call->run.wants_write)
			return true;
		health = backend_health_of(&healths, &at->id);
	}
	if (!call_is_writing(call))
		return call_write_instead(call);

	/* Somebody else may have moved it since. */
	if (!placing_lock(call, placing, fault))
		return false;
	if (placing->backend != at)
		return placing->backend != NULL || fault_set(fault, FAULT_AGAIN, NULL);
	if (is_said && request->entry.size > 0 &&
	    (!placing_keep(call, placing, call->now / 1000, fault) ||
	     !note_witness(call, placing, request->entry, &is_new, fault)))
		return false;
	if (is_said && is_new)
		call->run.failed = at->name;
	if (question.presence == PRESENCE_ANSWERS)
		return note_health(call, at, health, fault);
	if (question.presence == PRESENCE_UNKNOWN ||
	    call->now - backend_last_event(&healths, &at->id) < DOWN_WITHOUT_EVENT)
		return true;
	if (!note_health(call, at, health, fault))
		return false;

	if (placing->place.moved_down != 0 &&
	    is_within(placing->place.moved_down, call->now, MOVED_AT_MOST_EVERY))
		return true;
	if (!people_agree(call, placing, &agree, fault) || !(agree || is_down_long))
		return fault->kind == FAULT_NONE;
	if (!choose_other(call, placing, request->wish, &other, fault))
		return false;
	if (other == NULL)
		return true;
	placing->leaving = request->wish->room;
	placing->former = at;
	placing->backend = other;
	return true;
}
