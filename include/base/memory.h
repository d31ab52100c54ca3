/* Memory outside arenas: a check of the result of malloc(3) and the like, and arrays that grow.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Returns `memory`; aborts if it is NULL, because memory is exhausted. */
static inline void *memory_check(void *memory)
{
	if (memory == NULL)
		ABORT("out of memory");
	return memory;
}

/* Returns the capacity of the array that replaces a full one, for at least `wanted` items. */
static inline size_t memory_larger(size_t capacity, size_t wanted)
{
	return 2 * capacity + 8 < wanted ? wanted : 2 * capacity + 8;
}

/* Returns an array with room for `wanted` items: `items`, reallocated if it has room for fewer.
 * Each item has `size` bytes. An empty array is NULL with *capacity 0. For arrays in an arena:
 * arena_room. */
static inline void *memory_room(void *items, size_t wanted, size_t *capacity, size_t size)
{
	if (wanted <= *capacity)
		return items;
	*capacity = memory_larger(*capacity, wanted);
	return memory_check(realloc(items, *capacity * size));
}

/* The same for an array with secrets: clears it before it is freed. */
static inline void *memory_room_secret(void *items, size_t wanted, size_t *capacity, size_t size)
{
	const size_t former = *capacity * size;
	void *larger;

	if (wanted <= *capacity)
		return items;
	*capacity = memory_larger(*capacity, wanted);
	larger = memory_check(malloc(*capacity * size));
	if (former > 0) {
		memcpy(larger, items, former);
		explicit_bzero(items, former);
	}
	free(items);
	return larger;
}

#endif
