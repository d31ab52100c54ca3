/* Counts the entries of a file with libgdbm, for `check`. An error at which libgdbm would end the
 * process makes the call fail.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_GDBM_LIBRARY_H
#define STORE_GDBM_GDBM_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Counts the keys of an open file; the descriptor stays the caller's. `name` is for the fault,
 * FAULT_UNAVAILABLE with libgdbm's message. */
bool gdbm_library_count(int file, const char *name, uint64_t *n, struct fault *fault);

#endif
