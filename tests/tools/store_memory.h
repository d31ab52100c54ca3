/* The driver for tests: a sorted array in memory. A commit is pending until store_flush; closing
 * the store discards everything.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_STORE_MEMORY_H
#define TESTS_STORE_MEMORY_H

#include "store/store.h"

struct store *store_memory_open(void);

#endif
