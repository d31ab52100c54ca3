/* Visits all records of an account, for the dump, the check after a load and the removal: in the
 * order of the kinds in resources/record_kind.c, children after their parent. It holds one page of
 * values at a time, in the arena of the call, so memory does not grow with the account.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_WALK_H
#define TRANSFER_WALK_H

#include "records/kinds.h"
#include "resources/record_kind.h"

/* Records found by their keys, for a store whose lists may be damaged. */
struct walk_key {
	const struct record_kind *kind;
	struct id account;
	struct id parent; /* RECORD_CHILDREN */
	struct id id;
	char name[CODE_WORDS_MOST + 1]; /* of kinds that are found by name alone; terminated */
};

struct walk_keys {
	struct walk_key *items; /* from malloc, sorted by walk_keys_sort */
	size_t count, capacity;
};

void walk_keys_add(struct walk_keys *keys, const struct walk_key *key);
/* By kind, account and parent; in the order of a dump. Each once. */
void walk_keys_sort(struct walk_keys *keys);

struct walk;
/* record: of the kind's table; it may be changed. *descends, true before: its children follow. Ends
 * the walk by false. */
typedef bool walk_visit(struct walk *walk, const struct record_kind *kind, void *record,
			bool *descends, struct fault *fault);
/* A record, or a list of records of the kind (`id` NULL), cannot be read: true to go on without
 * it. */
typedef bool walk_lost(struct walk *walk, const struct record_kind *kind, const struct id *id,
		       const struct fault *why, struct fault *fault);

struct walk {
	struct call *call;
	walk_visit *visit;
	walk_lost *lost; /* NULL: it ends the walk */
	bool is_dump; /* kinds that no dump has are left out */
	bool is_upwards; /* children come before their parent, and `descends` is of no meaning */
	const struct walk_keys *keys; /* NULL: lists are right */
};

/* Of the call's account. */
bool walk_account(struct walk *walk, struct fault *fault);

#endif
