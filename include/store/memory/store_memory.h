/* The driver for tests: a sorted array in memory. What is committed is pending until store_flush;
 * nothing outlives store_close.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_MEMORY_STORE_MEMORY_H
#define STORE_MEMORY_STORE_MEMORY_H

#include "store/store.h"

struct store *store_memory_open(void);

#endif
