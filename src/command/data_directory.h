/* The data directory as commands use it: accounts.json, and the store in store/.
 *
 * A command run by root works as the owner of the directory, so that the service's user owns all
 * files it creates. That user must be able to reach the directory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_DATA_DIRECTORY_H
#define COMMAND_DATA_DIRECTORY_H

#include <stdbool.h>

#include "base/fault.h"
#include "command/command.h"
#include "command/process.h"
#include "store/gdbm/store_gdbm.h"

/* The functions below also accept the URL of a database in place of a path. Only `store create`
 * creates such a store, and it has no owner. */

/* Checks the directory for a command, like process_check_directory. *owner: its owner. */
bool data_directory_check(const char *path, bool is_written, struct identity *owner,
			  struct fault *fault);
/* Finds out whether a directory is empty, except for the file system's own lost+found.
 * FAULT_BAD_REQUEST if it cannot be read. */
bool data_directory_is_empty(const char *path, bool *is_empty, struct fault *fault);
/* FAULT_BAD_REQUEST for the URL of a database, on which the command does not work. */
bool data_directory_is_one(const char *path, struct fault *fault);
/* FAULT_BAD_REQUEST if a directory has contents, but neither accounts nor a store among them. */
bool data_directory_is_ours(const char *path, struct fault *fault);
/* FAULT_BAD_REQUEST if `path`, which need not exist, is the directory or inside it. */
bool data_directory_is_apart(const char *directory, const char *path, struct fault *fault);
/* Compares the form of the stored data with that of this program (struct store_form), for commands
 * that do not open the store. FAULT_UNAVAILABLE if this program cannot read the data, or could only
 * after an upgrade and may_be_earlier is false. Does not find out whether there is a store, or
 * whether it is sound. */
bool data_directory_check_form(const char *path, bool may_be_earlier, struct fault *fault);
/* Changes the user and group of the process if it is root and another user owns the directory. */
bool data_directory_become(const struct identity *owner, struct fault *fault);

/* Warns if users other than the owner can access the accounts file, or replace it. */
void data_directory_warn(const struct command *command, const char *path);

/* Returns the path of the store; the caller frees it. */
char *data_directory_store(const char *path);
/* FAULT_BAD_REQUEST if there is no store, or if the process cannot reach it. Only the next two
 * functions create a missing store, because an empty directory may be a volume that is not
 * mounted. */
bool data_directory_has_store(const char *path, struct fault *fault);
/* Creates an empty store as the owner of the directory; root permanently becomes that user.
 * FAULT_CONFLICT if there is a store, FAULT_UNAVAILABLE for a user other than root and the
 * owner. */
bool data_directory_create_store(const char *path, struct fault *fault);
/* Creates an empty store, as above, in a directory with neither accounts nor a store. Does nothing
 * if there is a store. If there are accounts but no store, fails like data_directory_has_store. */
bool data_directory_prepare(const char *path, bool *was_made, struct fault *fault);
/* Opens the store for a command with `options` (directory and readers are filled in here). Fails
 * like data_directory_has_store; if not read-only, also with FAULT_UNAVAILABLE and the process ID
 * of the process that uses the store. */
bool data_directory_open_store(const char *path, struct store_options options, struct store **store,
			       struct fault *fault);

#endif
