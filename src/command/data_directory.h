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

/* The functions below take the URL of a database in the place of a path too; such a store is made
 * by `store create` alone, and has no owner. */

/* For commands, as process_check_directory. *owner: of the directory. */
bool data_directory_check(const char *path, bool is_written, struct identity *owner,
			  struct fault *fault);
/* Whether a directory has nothing in it but a file system's own lost+found. FAULT_BAD_REQUEST when
 * it cannot be read. */
bool data_directory_is_empty(const char *path, bool *is_empty, struct fault *fault);
/* FAULT_BAD_REQUEST for the URL of a database, with which the command can do nothing. */
bool data_directory_is_one(const char *path, struct fault *fault);
/* FAULT_BAD_REQUEST when a directory has contents, but neither accounts nor a store among them. */
bool data_directory_is_ours(const char *path, struct fault *fault);
/* FAULT_BAD_REQUEST when `path`, which need not exist, lies in the directory or is the
 * directory. */
bool data_directory_is_apart(const char *directory, const char *path, struct fault *fault);
/* Changes the user and group of the process if it is root and another user owns the directory. */
bool data_directory_become(const struct identity *owner, struct fault *fault);

/* Prints a warning if users other than its owner have access to the accounts file, or can replace
 * it. */
void data_directory_warn(const struct command *command, const char *path);

/* The path of the store; the caller frees it. */
char *data_directory_store(const char *path);
/* FAULT_BAD_REQUEST when there is no store, or the process cannot reach it. Only the next two
 * functions create a missing store: an empty directory may be an unmounted volume. */
bool data_directory_has_store(const char *path, struct fault *fault);
/* Creates an empty store as the owner of the directory; root becomes that user for good.
 * FAULT_CONFLICT when there is a store, FAULT_UNAVAILABLE for a user other than root and the
 * owner. */
bool data_directory_create_store(const char *path, struct fault *fault);
/* Creates an empty store, as above, in a directory with neither accounts nor a store. Does nothing
 * when there is a store. Accounts without a store: as data_directory_has_store. */
bool data_directory_prepare(const char *path, bool *was_made, struct fault *fault);
/* Opens the store of a command with `options` (directory and readers are filled here). Fails as
 * data_directory_has_store does; when not read-only, also with FAULT_UNAVAILABLE and the pid of the
 * process that has the store open. */
bool data_directory_open_store(const char *path, struct store_options options, struct store **store,
			       struct fault *fault);

#endif
