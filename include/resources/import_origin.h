/* The id and the times of creation and change of an imported object.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_IMPORT_ORIGIN_H
#define RESOURCES_IMPORT_ORIGIN_H

#include "resources/call.h"

struct import_origin {
	bool has_id;
	struct id id;
	int64_t created; /* milliseconds since 1970; default: the time in the id, or now */
	bool has_updated; /* a time of change was sent, perhaps only as "same as creation": */
	bool is_updated;
	int64_t updated;
};

/* Reads them from the body of the call. created, updated: the names of the members. */
struct import_origin import_origin(const struct call *call, const char *created,
				   const char *updated);

/* Returns the time of change of an object that was created at `created`. */
int64_t import_updated(const struct import_origin *origin, int64_t created);

/* Prepares an object to be stored as a new one: draws an id for the time `created` if it has none,
 * or else removes what is left of a deleted object with its id. */
bool import_take_id(struct call *call, const struct store_kind *kind, struct import_origin *origin,
		    struct fault *fault);

#endif
