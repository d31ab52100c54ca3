/* anteroom backup: copies a data directory, in use or not, to one that can be served.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "accounts/accounts_file.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/progress.h"
#include "command/salvage.h"
#include "store/gdbm/inspect.h"

static void watch_progress(void *context, uint64_t done, uint64_t all)
{
	progress_show(context, done, all);
}

static bool check_empty(const char *path, struct fault *fault)
{
	DIR *directory = opendir(path);
	size_t names = 0;

	if (directory == NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot use %s", path);
	while (names <= 2 && readdir(directory) != NULL)
		names++; /* includes . and .. */
	closedir(directory);
	if (names > 2)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s is not empty; name a directory that is not there yet", path);
	return true;
}

/* The accounts last, so that an account with records in the copy is in its accounts file. */
static bool copy(const char *from, const char *to, struct progress *progress, struct fault *fault)
{
	const struct store_watch watch = { .context = progress, .progress = watch_progress };
	char *store = data_directory_store(from);
	char *store_copy = data_directory_store(to);
	struct arena *arena = arena_open();
	struct roster *roster = NULL;
	bool is_copied = accounts_list(from, &roster, fault) &&
			 store_gdbm_backup(store, store_copy, NULL, &watch, fault) &&
			 accounts_file_replace(
				 to, roster_text(arena, roster->accounts, roster->count), fault);

	if (!is_copied)
		(void)rmdir(store_copy); /* only if empty: the store could not be copied */
	roster_close(roster);
	arena_close(arena);
	free(store_copy);
	free(store);
	return is_copied;
}

/* ---- of a damaged store ---- */

/* The dump contains all secrets, so its file is unlinked at once. */
static bool open_dump(const char *directory, FILE **file, struct fault *fault)
{
	char path[PATH_MAX];
	int opened;

	(void)snprintf(path, sizeof path, "%s/salvage.dump", directory);
	opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (opened < 0 || unlink(path) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot make %s", path);
	*file = fdopen(opened, "w+");
	if (*file == NULL)
		abort();
	return true;
}

/* Returns the exit status. */
static int salvage(const struct command *command, const char *from, const char *to)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t lost = 0;
	FILE *file = NULL;
	int status;

	if (!open_dump(to, &file, &fault))
		return command_failed(command, &fault);
	if (!salvage_dump(command, from, file, &lost, &fault)) {
		(void)fclose(file);
		return command_failed(command, &fault);
	}
	rewind(file);
	status = salvage_load(command, to, file);
	(void)fclose(file);
	if (status != EXIT_SUCCESS) {
		command_complain(command, "%s is not whole, remove it", to);
		return status;
	}
	if (lost == 0)
		return EXIT_SUCCESS;
	command_complain(command, "%llu things were lost, %s has all others",
			 (unsigned long long)lost, to);
	return EXIT_LOST;
}

int command_backup(const struct command *command, int argc, char **argv)
{
	const char *directories[2];
	bool is_salvage = false;
	const struct option_row rows[] = {
		{ "salvage", NULL,
		  "of a damaged store, makes a new one of all that can be read; tells what cannot, "
		  "and ends with status 3",
		  TO_SWITCH(&is_salvage) },
	};
	enum options_result result = options_parse(command, rows, 1, argc, argv, directories);
	struct fault fault = FAULT_INITIAL;
	struct progress progress;
	struct identity owner;
	bool was_made = false, is_copied;
	int status;

	if (result != OPTIONS_GO)
		return options_status(result);
	if (!data_directory_check(directories[0], &owner, &fault) ||
	    !data_directory_has_store(directories[0], &fault) ||
	    !process_make_directory(directories[1], geteuid() == 0 ? &owner : NULL, &was_made,
				    &fault) ||
	    !check_empty(directories[1], &fault) || !data_directory_become(&owner, &fault))
		return command_failed(command, &fault);
	if (is_salvage) {
		status = salvage(command, directories[0], directories[1]);
		if (status != EXIT_SUCCESS && status != EXIT_LOST && was_made)
			(void)rmdir(directories[1]); /* fails once a load has begun */
		return status;
	}
	progress_begin(&progress, command, "bytes copied");
	is_copied = copy(directories[0], directories[1], &progress, &fault);
	progress_end(&progress);
	if (is_copied)
		return EXIT_SUCCESS;
	if (was_made)
		(void)rmdir(directories[1]);
	return command_failed(command, &fault);
}
