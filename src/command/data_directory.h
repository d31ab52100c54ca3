/* The data directory as commands use it: accounts.json, and the store in store/.
 *
 * A command that root runs does its work as the owner of the directory, so that everything it makes
 * there belongs to the service's user, too. That user has to be able to reach the directory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_DATA_DIRECTORY_H
#define COMMAND_DATA_DIRECTORY_H

#include <stdbool.h>

#include "base/fault.h"
#include "command/command.h"
#include "command/process.h"
#include "store/store.h"

/* FAULT_BAD_REQUEST when there is no such directory. */
bool data_directory_check(const char *path, struct identity *owner, struct fault *fault);
/* Does nothing unless root runs and another owns the directory. */
bool data_directory_become(const struct identity *owner, struct fault *fault);

/* Remarks that others than its owner may use the accounts file, if so. */
void data_directory_warn(const struct command *command, const char *path);

/* The path of the store in it; from malloc. */
char *data_directory_store(const char *path);
/* FAULT_BAD_REQUEST when there is none, or the process cannot reach it. No command makes a missing store
 * unless it says so below: an empty directory may be where a volume was not mounted. */
bool data_directory_has_store(const char *path, struct fault *fault);
/* Makes an empty store as the owner of the directory, whom root becomes for good. FAULT_CONFLICT when
 * there is a store, FAULT_UNAVAILABLE when neither root nor the owner runs. */
bool data_directory_create_store(const char *path, struct fault *fault);
/* Makes an empty store, as above, in a directory that has neither accounts nor a store. Does nothing
 * when there is a store. Accounts without a store: as data_directory_has_store. */
bool data_directory_prepare(const char *path, bool *was_made, struct fault *fault);
/* Fails as data_directory_has_store does, and when not read-only with FAULT_UNAVAILABLE and the pid of
 * the process that has the store open. */
bool data_directory_open_store(const char *path, bool is_read_only, struct store **store,
			       struct fault *fault);
/* Read-only; `salvage` as in struct store_options. */
bool data_directory_open_damaged(const char *path,
				 void (*salvage)(void *context, const char *file, const char *what),
				 void *context, struct store **store, struct fault *fault);

#endif
