/* Privileges and limits of the process, and creating the data directory. Main thread, before any
 * other thread.
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

/* The name of a user for messages: "anteroom", or "user 1001" when the number has no name. Returns
 * `name`, and leaves errno as it was. */
#define PROCESS_NAME_SIZE 64
const char *process_user_name(uid_t user, char name[PROCESS_NAME_SIZE]);

/* Changes to that user for good, with its group only, and verifies that root cannot be regained.
 * Forbids core dumps again, since the change may allow them. */
bool process_become(const struct identity *identity, struct fault *fault);

/* Forbids core dumps, since the process holds secrets. Called by main for every command. */
bool process_forbid_core(void);

/* Keeps up to four megabytes of freed memory per thread. By default glibc returns memory beyond 128
 * KB, and a template with 100 new roles needs two megabytes. A call that maps and unmaps memory
 * makes other threads wait at their page faults. */
void process_keep_memory(void);

/* To be called before the first request: when glibc first shrinks the heap of a thread it reads a
 * file in /proc. After this call the process opens files in the data directory only. */
bool process_try_memory(struct fault *fault);

/* Sets the umask, the highest allowed number of open files, no new privileges and no core dumps. To
 * be called after process_become, which undoes some of it. */
bool process_harden(struct fault *fault);

/* Creates a directory with mode 0700 unless it exists; *was_made: it was created. Its parent must
 * exist. owner: NULL for the current user. */
bool process_make_directory(const char *path, const struct identity *owner, bool *was_made,
			    struct fault *fault);

/* FAULT_BAD_REQUEST when it is not a directory or cannot be reached, FAULT_UNAVAILABLE when the
 * process cannot read or, with is_written, write it. remedy: what to do when another user owns it;
 * the end of the sentence, such as "; use sudo", or "". */
bool process_check_directory(const char *path, bool is_written, const char *remedy,
			     struct fault *fault);

#endif
