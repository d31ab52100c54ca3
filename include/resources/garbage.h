/* Removes what belongs to a record that is removed: records whose row says that they die with it
 * (records/record.h). A removal takes a bounded number of them. If more are left, a record notes
 * that, and each later call that creates a room or deletes a room, template or webhook of the
 * account removes some more; after the last one, that record is removed too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_GARBAGE_H
#define RESOURCES_GARBAGE_H

#include "records/record.h"
#include "resources/call.h"
#include "resources/record_kind.h"

/* Records of a kind that one call removes. */
#define GARBAGE_AT_ONCE 192

struct garbage {
	struct store_record stored; /* its id is the id of the deleted record, or of the item */
	unsigned char of; /* the letter of its kind */
};
extern const struct record_table garbage_table;

/* Sets FAULT_CONFLICT if records belong to this one that refuse its removal. The store removes it
 * only if it was asked for these. */
bool garbage_check_refusals(struct call *call, const struct store_kind *of, const struct id *id,
			    struct fault *fault);
/* Removes some of what belongs to a record, or to an item of a list in the account's record of the
 * kind, that is about to be removed; first checks that nothing refuses. */
bool garbage_add(struct call *call, const struct store_kind *of, const struct id *id,
		 struct fault *fault);
/* Sets *has to true if a deleted record of this kind had this id and something that belongs to it
 * is left. */
bool garbage_has(struct call *call, const struct store_kind *of, const struct id *id, bool *has,
		 struct fault *fault);
/* Removes everything that is left of a deleted record with this id, because a room or template with
 * the id is about to be created or deleted. */
bool garbage_finish(struct call *call, const struct id *id, struct fault *fault);
/* Removes some of what is left in the account. */
bool garbage_collect(struct call *call, struct fault *fault);

/* Counts n records that are removed, where their row says that they are counted, unless that goes
 * with them. */
bool garbage_count_removed(struct call *call, const struct relation *relation, uint64_t n,
			   struct fault *fault);
/* Removes a record alone, in whatever way it comes to its end: runs `removed` of its kind first. */
bool garbage_remove_record(struct call *call, const struct record_kind *kind,
			   const struct store_record *stored, struct fault *fault);

#endif
