/* Memory outside of arenas: a check of what malloc(3) and the like return.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdlib.h>

/* Returns `memory`; aborts when it is NULL, since memory is exhausted then. */
static inline void *memory_check(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

#endif
