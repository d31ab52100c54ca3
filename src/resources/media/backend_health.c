/* See resources/media/backend_health.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media/backend_health.h"

#include <stdlib.h>

#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/record_kind.h"

static const struct member health_members[] = {
	{ "backend", AS_ID, AT(struct backend_health, backend) },
	{ "up", AS_BOOLEAN, AT(struct backend_health, is_up) },
	{ "since", AS_TIME, AT(struct backend_health, since) },
	{ "message", AS_TEXT(0, sizeof((struct server_verdict *)0)->message),
	  AT(struct backend_health, message) },
	{ "ahead", AS_NUMBER(8, -TEXT_TIME_LAST, TEXT_TIME_LAST),
	  AT(struct backend_health, ahead) },
	{ "never_answered", AS_BOOLEAN, SINCE(2), AT(struct backend_health, never_answered) },
	{ "last_event_at", AS_TIME, SINCE(3), AT(struct backend_health, last_event) },
	{ "questioned_at", AS_TIME, SINCE(4), AT(struct backend_health, questioned) },
	{ "found_at", AS_TIME, SINCE(4), AT(struct backend_health, found) },
	{ "there", AS_BOOLEAN, SINCE(4), AT(struct backend_health, was_there) },
};
static const struct record_table health_table = { ITEMS(struct backend_health, health_members) };

static const struct member healths_members[] = {
	{ "backends", AS_LIST(struct backend_healths, count, BACKENDS_MOST, health_table),
	  AT(struct backend_healths, backends) },
};
const struct record_table backend_healths_table = {
	RECORD(struct backend_healths, healths_members, 0, &kind_backend_healths),
	VERSION(4),
};
const struct record_kind backend_healths_kind = {
	.table = &backend_healths_table,
	.order = RECORD_ONE,
};

bool backend_healths_load(struct call *call, enum store_reading reading,
			  struct backend_healths *healths, struct fault *fault)
{
	return record_get(&backend_healths_table, call->transaction, &kind_only_id, reading,
			  healths, fault);
}

static struct backend_health *find_health(const struct backend_healths *healths,
					  const struct id *backend)
{
	for (size_t i = 0; i < healths->count; i++) {
		if (id_compare(&healths->backends[i].backend, backend) == 0)
			return &healths->backends[i];
	}
	return NULL;
}

const struct backend_health *backend_health_of(const struct backend_healths *healths,
					       const struct id *backend)
{
	const struct backend_health *health = find_health(healths, backend);

	return health != NULL && health->since != 0 ? health : NULL;
}

const struct backend_health *backend_questioned(const struct backend_healths *healths,
						const struct id *backend)
{
	return find_health(healths, backend);
}

bool backend_has_answered(const struct backend_healths *healths, const struct id *backend)
{
	const struct backend_health *health = find_health(healths, backend);

	return health != NULL && !health->never_answered;
}

int64_t backend_last_event(const struct backend_healths *healths, const struct id *backend)
{
	const struct backend_health *health = find_health(healths, backend);

	return health == NULL ? 0 : health->last_event;
}

int64_t backend_time(const struct backend_health *health, int64_t time, int64_t now)
{
	const int64_t here = health == NULL ? time : time - health->ahead * 1000;

	return here < now ? here : now;
}

static struct backend_health *health_add(struct backend_healths *healths, const struct id *backend)
{
	struct backend_health *health = &healths->backends[healths->count++];

	*health = (struct backend_health){ .backend = *backend, .message = SLICE("") };
	return health;
}

bool backend_health_note(struct call *call, const struct backend *backend,
			 const struct server_verdict *verdict, struct fault *fault)
{
	const struct slice message = arena_copy(call->arena, slice_of(verdict->message));
	struct backend_healths healths;
	struct backend_health *health;
	const bool is_trusted = verdict->ahead >= -CLOCK_TRUSTED && verdict->ahead <= CLOCK_TRUSTED;
	const int64_t ahead = is_trusted ? 0 : verdict->ahead;
	bool changes = true;

	if (!backend_healths_load(call, STORE_TO_CHANGE, &healths, fault))
		return false;
	health = find_health(&healths, &backend->id);
	if (health == NULL) {
		health = health_add(&healths, &backend->id);
		health->never_answered = true;
	} else if (health->since != 0) {
		changes = health->is_up != verdict->is_up;
		/* A difference of one second may be that of the same clock. */
		if (!changes && slice_equal(health->message, message) &&
		    (!verdict->is_up || llabs(health->ahead - ahead) <= 1))
			return true;
	}

	if (changes && (!verdict->is_up || health->since != 0)) {
		const struct audit_data data = {
			.kind = "backend",
			.id = id_as_text(call->arena, &backend->id),
			.name = backend->name,
			.more = { { "message", slice_of(verdict->message), false } },
		};

		audit_note(call, verdict->is_up ? "backend.up" : "backend.down", &data);
	}
	if (changes)
		health->since = call->now;
	health->is_up = verdict->is_up;
	health->message = message;
	/* A server that does not answer still has the clock that it had. */
	if (verdict->is_up) {
		health->ahead = ahead;
		health->never_answered = false;
	}
	return record_put(&backend_healths_table, call->transaction, &healths, fault);
}

bool backend_health_note_event(struct call *call, const struct id *backend, int64_t time,
			       struct fault *fault)
{
	struct backend_healths healths;
	struct backend_health *health;

	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	if (backend_has_answered(&healths, backend) &&
	    backend_last_event(&healths, backend) >= time)
		return true;
	if (!backend_healths_load(call, STORE_TO_CHANGE, &healths, fault))
		return false;
	health = find_health(&healths, backend);
	if (health == NULL)
		health = health_add(&healths, backend);
	health->never_answered = false;
	if (health->last_event < time)
		health->last_event = time;
	return record_put(&backend_healths_table, call->transaction, &healths, fault);
}

bool backend_health_note_question(struct call *call, struct backend_healths *healths,
				  const struct id *backend, enum presence found,
				  struct fault *fault)
{
	struct backend_health *health = find_health(healths, backend);

	if (health == NULL) {
		health = health_add(healths, backend);
		health->never_answered = true;
	}
	if (found == PRESENCE_UNKNOWN) {
		health->questioned = call->now;
	} else {
		health->found = call->now;
		health->was_there = found == PRESENCE_ANSWERS;
	}
	return record_put(&backend_healths_table, call->transaction, healths, fault);
}

bool backend_health_remove(struct call *call, const struct id *backend, bool is_same,
			   struct fault *fault)
{
	struct backend_healths healths;
	struct backend_health *health;

	if (!backend_healths_load(call, STORE_TO_CHANGE, &healths, fault))
		return false;
	health = find_health(&healths, backend);
	if (health == NULL)
		return true;
	if (is_same)
		*health = (struct backend_health){
			.backend = *backend,
			.message = SLICE(""),
			.never_answered = health->never_answered,
		};
	else
		*health = healths.backends[--healths.count];
	return record_put(&backend_healths_table, call->transaction, &healths, fault);
}
