/* anteroom backup: a copy of a data directory, of a running service or of none, that can be served as
 * it is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "call/accounts.h"
#include "call/accounts_file.h"
#include "edge/command.h"
#include "edge/data_directory.h"
#include "edge/options.h"
#include "edge/progress.h"
#include "store/inspect.h"

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
		names++; /* . and .. are always there */
	closedir(directory);
	if (names > 2)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s is not empty; name a directory that is not there yet", path);
	return true;
}

/* The accounts after the store, so that whoever has records in the copy is in its accounts file. */
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
		(void)rmdir(store_copy); /* empty, when it is the store that could not be copied */
	roster_close(roster);
	arena_close(arena);
	free(store_copy);
	free(store);
	return is_copied;
}

int command_backup(const struct command *command, int argc, char **argv)
{
	const char *directories[2];
	enum options_result result = options_parse(command, NULL, 0, argc, argv, directories);
	struct fault fault = FAULT_INITIAL;
	struct progress progress;
	struct identity owner;
	bool was_made = false, is_copied;

	if (result != OPTIONS_GO)
		return options_status(result);
	if (!data_directory_check(directories[0], &owner, &fault) ||
	    !data_directory_has_store(directories[0], &fault) ||
	    !process_make_directory(directories[1], geteuid() == 0 ? &owner : NULL, &was_made,
				    &fault) ||
	    !check_empty(directories[1], &fault) || !data_directory_become(&owner, &fault))
		return command_failed(command, &fault);
	progress_begin(&progress, command, "bytes copied");
	is_copied = copy(directories[0], directories[1], &progress, &fault);
	progress_end(&progress);
	if (is_copied)
		return EXIT_SUCCESS;
	if (was_made)
		(void)rmdir(directories[1]);
	return command_failed(command, &fault);
}
