/* GDBM, as far as the stack needs it: handles for reading a file. (Files are written whole, by
 * store/gdbm_writer.h.) Nothing but stack.c includes gdbm.h.
 *
 * GDBM's rules that are kept here: the cache of a handle is bounded; no locks of GDBM's (the store has
 * its own, and its files are immutable); what makes GDBM end the process makes a call fail. Two threads
 * never use one handle at a time: that is the callers' business.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_STACK_HANDLE_H
#define STORE_STACK_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/slice.h"

/* GDBM's own structure; a pointer to it is its GDBM_FILE. */
struct gdbm_file_info;

/* NULL and a fault when it cannot be opened. */
struct gdbm_file_info *handle_open(const char *path, struct fault *fault);

/* FAILED: it could not be read now; DAMAGED: the file is not what was written. Both with a fault. */
enum handle_answer { HANDLE_FOUND, HANDLE_ABSENT, HANDLE_FAILED, HANDLE_DAMAGED };

/* The value is from malloc, to be freed by the caller. */
enum handle_answer handle_fetch(struct gdbm_file_info *handle, struct slice key,
				struct slice *value, struct fault *fault);
/* How many records there are. */
enum handle_answer handle_count(struct gdbm_file_info *handle, uint64_t *n, struct fault *fault);

/* After some errors a handle answers nothing any more, and can only be closed. */
bool handle_is_usable(struct gdbm_file_info *handle);
void handle_close(struct gdbm_file_info *handle);

#endif
