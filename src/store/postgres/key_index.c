/* See store/postgres/key_index.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/key_index.h"

#include "base/checksum.h"

static size_t list_of(char letter, struct slice key)
{
	return checksum((unsigned char)letter, key.data, key.size) % KEY_INDEX_LISTS;
}

void key_index_add(struct key_index *index, struct arena *arena, char letter, struct slice key,
		   void *item)
{
	struct key_entry *entry = arena_alloc(arena, sizeof *entry);
	const struct key_entry **list = &index->lists[list_of(letter, key)];

	*entry = (struct key_entry){ .next = *list, .item = item };
	*list = entry;
}

const struct key_entry *key_index_find(const struct key_index *index, char letter, struct slice key)
{
	return index->lists[list_of(letter, key)];
}
