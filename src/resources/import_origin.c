/* See resources/import_origin.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/import_origin.h"

#include "base/text.h"
#include "resources/garbage.h"
#include "rules/import_rules.h"

struct import_origin import_origin(const struct call *call, const char *created,
				   const char *updated)
{
	struct import_origin origin = { .has_updated = call_member(call, updated) != NULL };

	/* Not in the initialiser, which may set the id to zero afterwards. */
	origin.has_id = id_parse(text_of_json(call_member(call, "id")), &origin.id);
	if (!import_time(call->body, created, &origin.created))
		origin.created = origin.has_id ? (int64_t)id_seconds(&origin.id) * 1000 : call->now;
	origin.is_updated = import_time(call->body, updated, &origin.updated);
	return origin;
}

int64_t import_updated(const struct import_origin *origin, int64_t created)
{
	return origin->is_updated ? origin->updated : created;
}

bool import_take_id(struct call *call, const struct store_kind *kind, struct import_origin *origin,
		    struct fault *fault)
{
	struct store_record present;
	struct id made;

	if (origin->has_id)
		return garbage_finish(call, &origin->id, fault);
	/* Lists are in the order of ids, so a new id gets the time of creation. */
	if (!store_new_id(call->transaction, kind, call->environment->clock, &call->now, &made,
			  fault))
		return false;
	do {
		origin->id = id_make(call->environment->clock, (uint32_t)(origin->created / 1000),
				     id_number(&made));
		if (!store_get(call->transaction, kind, &origin->id, STORE_TO_SHOW, &present,
			       fault))
			return false;
	} while (present.value.data != NULL);
	return true;
}
