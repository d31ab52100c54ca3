/* Runs work in a child process, so that the command can clean up whatever happens to the work: the
 * child may drop root privileges for good, fail, or be ended by a signal.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_CHILD_H
#define COMMAND_CHILD_H

#include "command/command.h"
#include "command/process.h"

/* From now on SIGINT, SIGTERM and SIGHUP end only children. Must be called before the first step
 * that needs a clean-up. */
void child_hold_signals(void);

/* Runs `work` in a child process and returns the exit status that it returned. SIGINT, SIGTERM and
 * SIGHUP end the child and not the caller. If any signal ended the child, the status is
 * EXIT_FAILURE and a message says so. Must be called before the first thread. */
int child_run(const struct command *command, int (*work)(void *context), void *context);

/* Removes a directory and everything in it. owner: the user who may have written into it (root
 * works as that user there), NULL for the current user. keeps: removes only the contents. */
void child_remove_tree(const struct command *command, const char *path,
		       const struct identity *owner, bool keeps);

#endif
