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

/* FAULT_BAD_REQUEST if the user or group does not exist. */
bool process_find_user(const char *name, struct identity *identity, struct fault *fault);
bool process_find_group(const char *name, gid_t *group, struct fault *fault);

/* Writes the name of a user for messages: "anteroom", or "user 1001" if the ID has no name. Returns
 * `name`, and leaves errno unchanged. */
#define PROCESS_NAME_SIZE 64
const char *process_user_name(uid_t user, char name[PROCESS_NAME_SIZE]);

/* Permanently changes to that user, with only that user's group, and verifies that root privileges
 * cannot be regained. Disables core dumps again, because the change may have enabled them. */
bool process_become(const struct identity *identity, struct fault *fault);

/* Disables core dumps, because the process holds secrets. main calls it for every command. */
bool process_forbid_core(void);

/* Keeps up to four megabytes of freed memory per thread. By default glibc returns memory beyond 128
 * KB, and a template with 100 new roles needs two megabytes. A call that maps and unmaps memory
 * makes other threads wait at their page faults. */
void process_keep_memory(void);

/* Must be called before the first request: when glibc first shrinks the heap of a thread it reads a
 * file in /proc. After this call the process opens only files in the data directory. */
bool process_try_memory(struct fault *fault);

/* Sets the umask and no_new_privs, raises the limit of open files to its maximum, and disables core
 * dumps. Must be called after process_become, which undoes some of this. */
bool process_harden(struct fault *fault);

/* Creates a directory with mode 0700 unless it exists; *was_made tells whether it was created. Its
 * parent must exist. owner: NULL for the current user. */
bool process_make_directory(const char *path, const struct identity *owner, bool *was_made,
			    struct fault *fault);

/* Checks that a directory can be used: FAULT_BAD_REQUEST if it is not a directory or cannot be
 * reached, FAULT_UNAVAILABLE if the process cannot read it or, with is_written, cannot write it.
 * remedy: what to do if another user owns it; the end of the sentence, such as "; use sudo", or
 * "". */
bool process_check_directory(const char *path, bool is_written, const char *remedy,
			     struct fault *fault);

#endif
