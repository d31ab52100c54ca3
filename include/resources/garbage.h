/* Removes the children of deleted rooms, templates, webhooks and sessions: codes, bans, tickets,
 * deleted roles, deliveries, peers.
 * A deletion removes a bounded number of children. If more are left, a record notes that, and each
 * later call that creates a room or deletes a room, template or webhook of the account removes some
 * more; after the last child the record is removed too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_GARBAGE_H
#define RESOURCES_GARBAGE_H

#include "records/record.h"
#include "resources/call.h"

/* Children that one call removes. */
#define GARBAGE_AT_ONCE 192

/* In stored records: a number never gets another meaning. */
enum garbage_of { GARBAGE_ROOM, GARBAGE_TEMPLATE, GARBAGE_WEBHOOK, GARBAGE_SESSION };

struct garbage {
	struct store_record stored; /* its id is the id of the deleted object */
	enum garbage_of of;
};
extern const struct record_table garbage_table;

/* Removes some children of an object that is being deleted. */
bool garbage_add(struct call *call, enum garbage_of of, const struct id *id, struct fault *fault);
/* Sets *has to true if a deleted object had this id and still has children. */
bool garbage_has(struct call *call, const struct id *id, bool *has, struct fault *fault);
/* Removes all remaining children of a deleted object with this id, because a room or template with
 * the id is about to be created or deleted. */
bool garbage_finish(struct call *call, const struct id *id, struct fault *fault);
/* Removes some of the remaining children in the account. */
bool garbage_collect(struct call *call, struct fault *fault);

#endif
