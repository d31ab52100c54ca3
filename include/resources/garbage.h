/* Children of rooms, templates and webhooks that are deleted: codes, deleted roles, deliveries. A
 * deletion removes a bounded number of them; where more are left, a record says so, and each later
 * call that makes a room or deletes a room, template or webhook of the account removes some more,
 * until the record goes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_GARBAGE_H
#define RESOURCES_GARBAGE_H

#include "records/record.h"
#include "resources/call.h"

/* So many children are removed at once. */
#define GARBAGE_AT_ONCE 192

/* In stored records: a number never gets another meaning. */
enum garbage_of { GARBAGE_ROOM, GARBAGE_TEMPLATE, GARBAGE_WEBHOOK };

struct garbage {
	struct store_record stored; /* its id is that of what was deleted */
	enum garbage_of of;
};
extern const struct record_table garbage_table;

/* The room, template or webhook is deleted now: removes some of its children. */
bool garbage_add(struct call *call, enum garbage_of of, const struct id *id, struct fault *fault);
/* Whether it was deleted and has children left. */
bool garbage_has(struct call *call, const struct id *id, bool *has, struct fault *fault);
/* Removes all that is left of what had this id: a room or template of it is about to be made, or
 * deleted. */
bool garbage_finish(struct call *call, const struct id *id, struct fault *fault);
/* Removes some of what is left in the account. */
bool garbage_collect(struct call *call, struct fault *fault);

#endif
