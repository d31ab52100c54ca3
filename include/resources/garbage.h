/* Children of rooms and templates that are deleted: codes and deleted roles. A deletion removes a
 * bounded number of them; where more are left, a record says so, and each later call that makes a
 * room or deletes a room or template of the account removes some more, until the record goes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_GARBAGE_H
#define RESOURCES_GARBAGE_H

#include "resources/call.h"

enum garbage_of { GARBAGE_ROOM, GARBAGE_TEMPLATE };

/* The room or template is deleted now: removes some of its children. */
bool garbage_add(struct call *call, enum garbage_of of, const struct id *id, struct fault *fault);
/* Whether it was deleted and has children left. */
bool garbage_has(struct call *call, const struct id *id, bool *has, struct fault *fault);
/* What garbage_collect reads, and, unless it is NULL, garbage_add of a room. */
struct expected;
void garbage_expect(struct expected *expected, const struct id *room);
/* Removes some of what is left in the account. */
bool garbage_collect(struct call *call, struct fault *fault);

#endif
