/* See resources/stored/revocations.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/revocations.h"

#include "records/kinds.h"
#include "resources/stored/media_record.h"
#include "rules/media_rules.h"

/* Milliseconds for which a revocation is kept after the last token has expired. */
#define KEPT_LONGER ((int64_t)60 * 60 * 1000)

static bool put_revocation(struct call *call, struct revocation *revocation, struct fault *fault)
{
	int64_t now = call->now;

	revocation->until += KEPT_LONGER;
	return (revocation->stored.value.data != NULL ||
		store_new_id(call->transaction, &kind_revocation, call->environment->clock, &now,
			     &revocation->stored.id, fault)) &&
	       record_put(&revocation_table, call->transaction, revocation, fault);
}

bool revocation_add(struct call *call, const struct id *room, struct slice entry,
		    enum leave_cause cause, struct slice reason, struct fault *fault)
{
	int64_t seconds = call->environment->join_seconds;
	struct revocation revocation;
	struct media media;

	if (entry.size == 0)
		return true;
	if (!record_get_named(&revocation_table, call->transaction, entry, STORE_TO_CHANGE,
			      &revocation, fault) ||
	    !media_load(call, STORE_TO_SHOW, &media, fault))
		return false;
	/* It is kept as long as a token of the account that was made by now may be valid. */
	for (size_t i = 0; i < media.backend_count; i++) {
		if (media.backends[i].ttl > seconds)
			seconds = media.backends[i].ttl;
	}
	revocation.until = call->now + seconds * 1000;
	revocation.name = entry;
	revocation.room = *room;
	revocation.cause = cause;
	revocation.reason = text_cut(reason, LIVE_REASON_MOST);
	return put_revocation(call, &revocation, fault);
}

/* Which tokens there are would have to be read: it is kept as long as any may be valid. */
bool revocation_add_room(struct call *call, const struct id *room, struct fault *fault)
{
	const int64_t seconds = call->environment->join_seconds > BACKEND_TTL_MOST
					? call->environment->join_seconds
					: BACKEND_TTL_MOST;
	struct revocation revocation = {
		.name = id_as_text(call->arena, room),
		.room = *room,
		.cause = LEAVE_ENDED,
		.reason = SLICE(""),
		.until = call->now + seconds * 1000,
	};

	return call->environment->live == LIVE_OFF || put_revocation(call, &revocation, fault);
}

bool revocation_find(struct call *call, struct slice entry, struct revocation *revocation,
		     bool *is_there, struct fault *fault)
{
	*is_there = false;
	if (entry.size == 0 || entry.size > STORE_NAME_MAX)
		return true;
	if (!record_get_named(&revocation_table, call->transaction, entry, STORE_TO_SHOW,
			      revocation, fault))
		return false;
	*is_there = revocation->stored.value.data != NULL && revocation->until > call->now;
	return true;
}

bool revocation_has_room(struct call *call, const struct id *room, bool *is_there,
			 struct fault *fault)
{
	struct revocation revocation;

	return revocation_find(call, id_as_text(call->arena, room), &revocation, is_there, fault);
}

/* ---- what was given ---- */

static bool given_get(struct call *call, const struct live *live, bool is_entry,
		      struct slice person, enum store_reading reading, struct given_role *given,
		      struct fault *fault)
{
	const struct id id = given_role_id(&live->session, is_entry, person);

	*given = (struct given_role){ .role = SLICE(""), .consent_text = SLICE("") };
	if (person.size > 0 &&
	    !record_get(&given_role_table, call->transaction, &id, reading, given, fault))
		return false;
	given->stored.id = id;
	given->stored.parent = live->session;
	return true;
}

bool given_find(struct call *call, const struct live *live, struct slice entry,
		struct slice user_id, struct given *given, struct fault *fault)
{
	struct given_role found;

	*given = (struct given){ .consent_text = SLICE("") };
	if (live->stored.value.data == NULL || !live->has_given)
		return true;
	if (!given_get(call, live, true, entry, STORE_TO_SHOW, &found, fault))
		return false;
	if (found.has_consent) {
		given->has_consent = true;
		given->consented = found.consented;
		given->consent_text = found.consent_text;
	}
	if (found.role.size == 0 &&
	    !given_get(call, live, false, user_id, STORE_TO_SHOW, &found, fault))
		return false;
	if (found.role.size > 0)
		given->role = found.role;
	return true;
}

static bool given_role_put(struct call *call, const struct live *live, bool is_entry,
			   struct slice person, struct slice role, struct fault *fault)
{
	struct given_role given;

	if (person.size == 0)
		return true;
	if (!given_get(call, live, is_entry, person, STORE_TO_CHANGE, &given, fault))
		return false;
	given.role = role;
	return record_put(&given_role_table, call->transaction, &given, fault);
}

bool given_role_set(struct call *call, struct live *live, struct slice entry, struct slice user_id,
		    struct slice role, struct fault *fault)
{
	live->has_given = true;
	return given_role_put(call, live, true, entry, role, fault) &&
	       given_role_put(call, live, false, user_id, role, fault);
}

bool given_consent_set(struct call *call, struct live *live, struct slice entry, int64_t consented,
		       struct slice consent_text, struct fault *fault)
{
	struct given_role given;

	if (entry.size == 0)
		return true;
	live->has_given = true;
	if (!given_get(call, live, true, entry, STORE_TO_CHANGE, &given, fault))
		return false;
	given.has_consent = true;
	given.consented = consented;
	given.consent_text = consented == 0 ? SLICE("") : consent_text;
	return record_put(&given_role_table, call->transaction, &given, fault);
}
