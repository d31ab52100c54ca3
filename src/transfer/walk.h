/* Visits all records of an account, for the dump, the check after a load and the removal: in the
 * order of the kinds in resources/record_kind.c, children after their parent. It keeps one page of
 * values at a time in the arena of the call, so memory does not grow with the account.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_WALK_H
#define TRANSFER_WALK_H

#include "records/kinds.h"
#include "resources/record_kind.h"
#include "transfer/salvage_keys.h"

struct walk;
/* record: the struct of the kind's table, which the visit may change. *descends is true before; the
 * visit sets it to false to skip the record's children. Returns false to end the walk. */
typedef bool walk_visit(struct walk *walk, const struct record_kind *kind, void *record,
			bool *descends, struct fault *fault);
/* Called when a record, or a list of records of the kind (id NULL), cannot be read. Returns true to
 * continue without it. */
typedef bool walk_lost(struct walk *walk, const struct record_kind *kind, const struct id *id,
		       const struct fault *why, struct fault *fault);

struct walk {
	struct call *call;
	walk_visit *visit;
	walk_lost *lost; /* NULL: what cannot be read ends the walk */
	bool is_dump; /* skips kinds that are not in a dump */
	bool is_upwards; /* visits children before their parent, and ignores `descends` */
	struct salvage_keys *keys; /* NULL: records are found by lists */
};

/* Visits the records of the call's account. */
bool walk_account(struct walk *walk, struct fault *fault);

#endif
