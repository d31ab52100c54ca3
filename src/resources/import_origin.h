/* Where an imported object comes from: its id, and the times that it was made and changed at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_IMPORT_ORIGIN_H
#define RESOURCES_IMPORT_ORIGIN_H

#include "resources/call.h"

struct import_origin {
	bool has_id;
	struct id id;
	int64_t created; /* milliseconds since 1970; not supplied: that of the id, or now */
	bool has_updated; /* it was supplied, if only as that of the creation: */
	bool is_updated;
	int64_t updated;
};

/* Of the body of the call; created, updated: the names of its members. */
struct import_origin import_origin(const struct call *call, const char *created,
				   const char *updated);

/* The time when an object that was made at `created` was changed. */
int64_t import_updated(const struct import_origin *origin, int64_t created);

/* Before the object is stored as a new one: an id of the time `created` where it has none, and
 * nothing is left of what had its id before. */
bool import_take_id(struct call *call, const struct store_kind *kind, struct import_origin *origin,
		    struct fault *fault);

#endif
