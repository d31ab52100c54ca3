/* `anteroom backup` copies a data directory, in use or not, to a directory that can be served.
 * `anteroom restore` replaces a data directory with a copy of a backup, or creates it.
 *
 * A child process does the work; after a failure, its leftovers are removed. If root runs it, a
 * backup is made as the owner of the data. A restore reads the backup as root and writes into a
 * directory that no other user can enter; the copy is given to its owner before it is put in place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "accounts/accounts_file.h"
#include "base/clock.h"
#include "base/memory.h"
#include "command/child.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/progress.h"
#include "command/replacement.h"
#include "command/salvage.h"
#include "store/gdbm/inspect.h"

struct copying {
	const struct command *command;
	const char *from;
	const char *to; /* an empty directory */
	/* Only for a backup. */
	bool is_salvage;
	struct identity owner; /* the owner of `from` */
};

/* ---- copying ---- */

static void watch_progress(void *context, uint64_t done, uint64_t all)
{
	progress_show(context, done, all);
}

/* Copies accounts and store, durably, and verifies all checksums. The accounts are copied last, so
 * that an account with records in the copy is in its accounts file. Runs in the child. */
static int copy_all(void *context)
{
	const struct copying *copying = context;
	struct progress progress;
	const struct store_watch watch = { .context = &progress, .progress = watch_progress };
	char *store = data_directory_store(copying->from);
	char *store_copy = data_directory_store(copying->to);
	struct arena *arena = arena_open();
	struct roster *roster = NULL;
	struct fault fault = FAULT_INITIAL;
	bool is_copied;

	progress_begin(&progress, copying->command, "bytes copied");
	is_copied = accounts_list(copying->from, &roster, &fault) &&
		    store_gdbm_backup(store, store_copy, NULL, &watch, &fault) &&
		    accounts_file_replace(copying->to,
					  roster_text(arena, roster->accounts, roster->count,
						      roster->recorders, roster->recorder_count),
					  &fault);
	progress_end(&progress);
	roster_close(roster);
	arena_close(arena);
	free(store_copy);
	free(store);
	return is_copied ? EXIT_SUCCESS : command_failed(copying->command, &fault);
}

/* Global, because nftw passes no context. */
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

/* Prints how much was copied from `from` to `to`: "Copied 7 files, 81920 bytes, from ...". verb:
 * the first word. */
static void report_copied(const char *verb, const char *from, const char *to)
{
	char name[PROCESS_NAME_SIZE], owner[PROCESS_NAME_SIZE + 32] = "";
	struct stat status;

	(void)nftw(to, count_one, 8, FTW_PHYS);
	if (geteuid() == 0 && stat(to, &status) == 0)
		(void)snprintf(owner, sizeof owner, "; they belong to %s%s",
			       process_user_name(status.st_uid, name),
			       status.st_uid == 0 ? ", who cannot serve from them" : "");
	fprintf(stderr, "%s %llu files, %llu bytes, from %s to %s%s.\n", verb, counted.files,
		counted.bytes, from, to, owner);
}

/* ---- backup ---- */

/* Copies a damaged store. Returns the exit status. */
static int salvage_copy(const struct copying *copying)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t lost = 0;
	char path[PATH_MAX];
	FILE *file;
	int status, opened;

	/* The dump contains all secrets, so its file is unlinked immediately. */
	(void)snprintf(path, sizeof path, "%s/salvage.dump", copying->to);
	opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (opened < 0 || unlink(path) != 0) {
		fault_cause(&fault, FAULT_UNAVAILABLE, errno, "cannot create %s", path);
		return command_failed(copying->command, &fault);
	}
	file = memory_check(fdopen(opened, "w+"));
	if (!salvage_dump(copying->command, copying->from, file, &lost, &fault)) {
		(void)fclose(file);
		return command_failed(copying->command, &fault);
	}
	rewind(file);
	status = salvage_load(copying->command, copying->to, file);
	(void)fclose(file);
	if (status != EXIT_SUCCESS || lost == 0)
		return status;
	command_complain(copying->command, "%llu objects were lost; %s has all others",
			 (unsigned long long)lost, copying->to);
	return EXIT_LOST;
}

/* Runs in the child. */
static int back_up(void *context)
{
	const struct copying *copying = context;
	struct fault fault = FAULT_INITIAL;
	char name[PROCESS_NAME_SIZE], *store;
	int status;

	if (!data_directory_become(&copying->owner, &fault) ||
	    !data_directory_check_form(copying->from, true, &fault))
		return command_failed(copying->command, &fault);
	if (access(copying->to, R_OK | W_OK | X_OK) != 0) {
		fault_cause(
			&fault, FAULT_UNAVAILABLE, errno,
			"the copy is made as %s, the owner of %s, who cannot write %s; choose a "
			"directory that does not exist yet, in a place this user can reach",
			process_user_name(geteuid(), name), copying->from, copying->to);
		return command_failed(copying->command, &fault);
	}
	if (copying->is_salvage)
		return salvage_copy(copying);
	status = copy_all(context);
	if (status != EXIT_SUCCESS)
		return status;
	/* A data directory that cannot be written can still be copied. */
	store = data_directory_store(copying->from);
	if (!store_gdbm_note_backup(store, NULL, clock_now(&clock_system) / 1000, &fault))
		command_complain(copying->command,
				 "the copy is complete, but the service cannot show its age: %s",
				 fault_reason(&fault));
	free(store);
	return EXIT_SUCCESS;
}

int command_backup(const struct command *command, int argc, char **argv)
{
	struct copying copying = { .command = command };
	const struct option_row rows[] = {
		DIRECTORY_ROW(&copying.from),
		{ "salvage", NULL,
		  "for a damaged store: creates a new one from what can be read, reports what cannot, "
		  "and exits with 3",
		  TO_SWITCH(&copying.is_salvage) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &copying.to);
	struct fault fault = FAULT_INITIAL;
	const struct identity *owner = geteuid() == 0 ? &copying.owner : NULL;
	bool was_made = false, is_empty = false;

	if (status != OPTIONS_GO)
		return status;
	child_hold_signals();
	if (!data_directory_is_one(copying.from, &fault) ||
	    !data_directory_is_one(copying.to, &fault) ||
	    !data_directory_check(copying.from, false, &copying.owner, &fault) ||
	    !data_directory_has_store(copying.from, &fault) ||
	    !data_directory_is_apart(copying.from, copying.to, &fault) ||
	    !process_make_directory(copying.to, owner, &was_made, &fault) ||
	    !data_directory_is_empty(copying.to, &is_empty, &fault))
		return command_failed(command, &fault);
	if (!is_empty) {
		fault_cause(&fault, FAULT_BAD_REQUEST, 0,
			    "%s is not empty; choose a directory that does not exist yet",
			    copying.to);
		return command_failed(command, &fault);
	}
	status = child_run(command, back_up, &copying);
	if (status == EXIT_SUCCESS || status == EXIT_LOST)
		report_copied("Copied", copying.from, copying.to);
	else
		child_remove_tree(command, copying.to, owner, !was_made);
	return status;
}

/* ---- restore ---- */

/* If there is no directory yet, the owner of the backup will own the copy that root makes. */
static bool begin_restore(const char *backup, const char *directory, bool replaces,
			  struct replacement *replacement, struct fault *fault)
{
	struct identity owner;
	struct stat status;
	bool has_store;
	char *store;

	if (!data_directory_is_one(backup, fault) || !data_directory_is_one(directory, fault))
		return false;
	/* The advice of data_directory_check would not fit a directory that is not a backup. */
	store = data_directory_store(backup);
	has_store = stat(store, &status) == 0 || errno != ENOENT;
	free(store);
	if (stat(backup, &status) != 0 && errno == ENOENT)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "the backup %s does not exist",
				   backup);
	if (!has_store)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"%s is not a backup (it has no store); give a directory created by "
			"anteroom backup",
			backup);
	if (!data_directory_check(backup, false, &owner, fault) ||
	    !data_directory_has_store(backup, fault) ||
	    !data_directory_check_form(backup, true, fault) ||
	    !data_directory_is_apart(directory, backup, fault) ||
	    !data_directory_is_apart(backup, directory, fault) ||
	    !replacement_begin(replacement, directory, replaces, fault))
		return false;
	if (!replacement->is_there && geteuid() == 0)
		replacement->owner = owner;
	return replacement_stage(replacement, NULL, fault);
}

int command_restore(const struct command *command, int argc, char **argv)
{
	const char *backup;
	const char *directory = NULL;
	bool replaces = false;
	const struct option_row rows[] = {
		DIRECTORY_ROW(&directory),
		REPLACE_ROW(&replaces),
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &backup);
	struct fault fault = FAULT_INITIAL;
	struct replacement replacement = REPLACEMENT_INITIAL;
	struct copying copying = { .command = command };

	if (status != OPTIONS_GO)
		return status;
	child_hold_signals();
	if (!begin_restore(backup, directory, replaces, &replacement, &fault)) {
		status = command_failed(command, &fault);
	} else {
		copying.from = backup;
		copying.to = replacement.staged;
		status = child_run(command, copy_all, &copying);
		if (status == EXIT_SUCCESS && !replacement_finish(&replacement, &fault)) {
			status = command_failed(command, &fault);
		} else if (status == EXIT_SUCCESS) {
			report_copied("Restored", backup, directory);
			replacement_report(&replacement);
		}
	}
	if (replacement.staged[0] != '\0')
		child_remove_tree(command, replacement.staged, NULL, false);
	replacement_end(&replacement);
	return status;
}
