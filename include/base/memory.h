/* Memory outside arenas: a check of the result of malloc(3) and the like, and arrays that grow.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdlib.h>

#include "base/log.h"

/* Returns `memory`; aborts if it is NULL, because memory is exhausted. */
static inline void *memory_check(void *memory)
{
	if (memory == NULL)
		ABORT("out of memory");
	return memory;
}

/* Returns an array with room for at least one more item than `count`: `items`, reallocated if it
 * was full. Each item has `size` bytes. An empty array is NULL with *capacity 0. */
static inline void *memory_room(void *items, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return items;
	*capacity = 2 * *capacity + 8;
	return memory_check(realloc(items, *capacity * size));
}

#endif
