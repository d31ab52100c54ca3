/* What the process may do: root given up, no new privileges, no core with secrets in it, files that
 * nobody else reads; and the directory that the data lies in. Main's side, before the first thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_PROCESS_H
#define COMMAND_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct identity {
	uid_t user;
	gid_t group;
};

/* FAULT_BAD_REQUEST when there is no such user or group. */
bool process_find_user(const char *name, struct identity *identity, struct fault *fault);
bool process_find_group(const char *name, gid_t *group, struct fault *fault);

/* Becomes that user for good, with no groups but its own, and sees that root cannot come back. The system
 * allows a core again then: it is forbidden once more. */
bool process_become(const struct identity *identity, struct fault *fault);

/* No core: the process holds secrets. For main, whatever the command. */
bool process_forbid_core(void);

/* What a call took stays with the process for the next, up to a megabyte a thread: glibc would let 128 KB
 * go at once, and a list of 100 takes 300 KB, page by page. */
void process_keep_memory(void);

/* Before the first request: the first time that glibc lets the memory of a thread shrink, it reads a file
 * in /proc. Afterwards it never does, and nothing outside the data directory is opened any more. */
bool process_try_memory(struct fault *fault);

/* umask, as many open files as are allowed, no new privileges, no core. After process_become, which
 * undoes some of it. */
bool process_harden(struct fault *fault);

/* Makes the directory, 0700, when it is not there; *was_made says so. owner: NULL leaves it to the
 * one who runs. The directory above has to be there. */
bool process_make_directory(const char *path, const struct identity *owner, bool *was_made,
			    struct fault *fault);

/* FAULT_BAD_REQUEST when this is no directory, FAULT_UNAVAILABLE when the process cannot read it or,
 * with is_written, write in it. */
bool process_check_directory(const char *path, bool is_written, struct fault *fault);

#endif
