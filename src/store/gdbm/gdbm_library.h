/* libgdbm's own view of a file: what `check` compares ours with.
 *
 * What makes libgdbm end the process makes a call fail here. Nothing but gdbm_library.c includes
 * gdbm.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_GDBM_LIBRARY_H
#define STORE_GDBM_GDBM_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* How many records libgdbm finds in an open file, which stays the caller's; name: for the fault,
 * FAULT_UNAVAILABLE with what it says. */
bool gdbm_library_count(int file, const char *name, uint64_t *n, struct fault *fault);

#endif
