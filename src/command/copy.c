/* See command/copy.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/copy.h"

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "accounts/accounts_file.h"
#include "command/data_directory.h"
#include "command/progress.h"
#include "store/gdbm/inspect.h"

static void watch_progress(void *context, uint64_t done, uint64_t all)
{
	progress_show(context, done, all);
}

/* The accounts last, so that an account with records in the copy is in its accounts file. */
bool copy_data(const struct command *command, const char *from, const char *to, struct fault *fault)
{
	struct progress progress;
	const struct store_watch watch = { .context = &progress, .progress = watch_progress };
	char *store = data_directory_store(from);
	char *store_copy = data_directory_store(to);
	struct arena *arena = arena_open();
	struct roster *roster = NULL;
	bool is_copied;

	progress_begin(&progress, command, "bytes copied");
	is_copied = accounts_list(from, &roster, fault) &&
		    store_gdbm_backup(store, store_copy, NULL, &watch, fault) &&
		    accounts_file_replace(to, roster_text(arena, roster->accounts, roster->count),
					  fault);
	progress_end(&progress);
	roster_close(roster);
	arena_close(arena);
	free(store_copy);
	free(store);
	return is_copied;
}

/* nftw has no context of its own. */
static struct {
	unsigned long long files, bytes;
} counted;

static int count_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)path;
	(void)place;
	if (kind != FTW_F)
		return 0;
	counted.files++;
	counted.bytes += (unsigned long long)status->st_size;
	return 0;
}

void copy_tell(const char *verb, const char *from, const char *to)
{
	char name[PROCESS_NAME_SIZE], owner[PROCESS_NAME_SIZE + 32] = "";
	struct stat status;

	counted.files = counted.bytes = 0;
	(void)nftw(to, count_one, 8, FTW_PHYS);
	if (geteuid() == 0 && stat(to, &status) == 0)
		(void)snprintf(owner, sizeof owner, "; they belong to %s%s",
			       process_user_name(status.st_uid, name),
			       status.st_uid == 0 ? ", who cannot serve from them" : "");
	fprintf(stderr, "%s %llu files, %llu bytes, from %s to %s%s.\n", verb, counted.files,
		counted.bytes, from, to, owner);
}
