/* Finds what a transaction remembers by the letter of its kind and a key: an id or a name. A few
 * records are in as many lists, and 10,000 of a bulk in lists of some hundred.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_POSTGRES_KEY_INDEX_H
#define STORE_POSTGRES_KEY_INDEX_H

#include "base/arena.h"

#define KEY_INDEX_LISTS 64

struct key_entry {
	const struct key_entry *next;
	void *item;
};

/* Zero: empty. */
struct key_index {
	const struct key_entry *lists[KEY_INDEX_LISTS];
};

/* The key is not kept. */
void key_index_add(struct key_index *index, struct arena *arena, char letter, struct slice key,
		   void *item);
/* The newest first, with others among them: the caller compares. NULL: none. */
const struct key_entry *key_index_find(const struct key_index *index, char letter,
				       struct slice key);

#endif
