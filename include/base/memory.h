/* Memory outside of arenas: a check of what malloc(3) and the like return, and arrays that grow.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdlib.h>

#include "base/log.h"

/* Returns `memory`; aborts when it is NULL, since memory is exhausted then. */
static inline void *memory_check(void *memory)
{
	if (memory == NULL)
		ABORT("no memory");
	return memory;
}

/* Returns `items`, of `size` bytes each, with room for one more than `count`; moved when there was
 * none. items NULL, *capacity 0: none yet. */
static inline void *memory_room(void *items, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return items;
	*capacity = 2 * *capacity + 8;
	return memory_check(realloc(items, *capacity * size));
}

#endif
