/* Ordered lists of ids, kept in the store's table SEQUENCE (GDBM has no order, and none is asked of
 * it). A list is a trie over the number in the id, 64 children a node, of a fixed height of 7: a
 * leaf holds the up to 64 ids of its range of numbers; an inner node holds a bit for each child that
 * is not empty and the lowest seconds of the ids put below that child since it was last empty, so
 * that a place can be found by a whole id, also by one that was never given out. Adding or removing
 * an id writes one leaf of at most 768 bytes, and an inner node only when a child becomes or ceases
 * to be empty, or when an id comes late that is the lowest below it.
 *
 * Ids of one list must have numbers and seconds that rise together (base/id.h).
 *
 * `list` is the name of the list, at most 64 bytes, chosen by the resource.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_SEQUENCE_H
#define STORE_SEQUENCE_H

#include "base/id.h"
#include "store/store.h"

#define SEQUENCE_LIST_MAX 64

/* Adding what is there, or removing what is not, changes nothing. */
bool sequence_add(struct transaction *transaction, struct slice list, const struct id *id,
		  struct fault *fault);
bool sequence_remove(struct transaction *transaction, struct slice list, const struct id *id,
		     struct fault *fault);

/* One record of the table SEQUENCE, for `check`: *list is the name of its list, the ids are those of a
 * leaf (none otherwise); both borrowed from the key and from the arena. FAULT_DAMAGED with a
 * cause when it is no node, when a child that it names is not there, or when no node names it. */
struct sequence_node {
	struct slice list;
	bool is_root;
	const struct id *ids;
	size_t count;
};

bool sequence_look(struct transaction *transaction, struct slice key, struct sequence_node *node,
		   struct fault *fault);

/* A walk from newest to oldest. It sees the transaction's state; it keeps the leaf it stands on, so
 * a step costs a store_get only now and then. Do not change the list during a walk. */
struct sequence_walk {
	struct transaction *transaction;
	struct slice list;
	struct id bound; /* the walk continues strictly below this id */
	bool is_bounded; /* false: from the newest */
	struct slice leaf; /* the leaf at hand, or data NULL */
	uint64_t leaf_number; /* the first number of its range */
};

/* before: exclusive bound, any 12 bytes; NULL starts at the newest. */
void sequence_start(struct sequence_walk *walk, struct transaction *transaction, struct slice list,
		    const struct id *before);
/* *is_there false: the end. */
bool sequence_next(struct sequence_walk *walk, struct id *id, bool *is_there, struct fault *fault);

#endif
