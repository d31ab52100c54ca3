/* anteroom backup: copies a data directory, in use or not, to one that can be served.
 *
 * The work is done in a child process, as the owner of the data when root runs it; what it leaves
 * after a failure is removed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/child.h"
#include "command/command.h"
#include "command/copy.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/salvage.h"

struct backing_up {
	const struct command *command;
	const char *from;
	const char *to;
	bool is_salvage;
	struct identity owner; /* of `from` */
};

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
	*file = memory_check(fdopen(opened, "w+"));
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
	if (status != EXIT_SUCCESS || lost == 0)
		return status;
	command_complain(command, "%llu things were lost, %s has all others",
			 (unsigned long long)lost, to);
	return EXIT_LOST;
}

/* ---- the command ---- */

static bool can_write(const struct backing_up *backup, struct fault *fault)
{
	char name[PROCESS_NAME_SIZE];

	return access(backup->to, R_OK | W_OK | X_OK) == 0 ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno,
			   "%s cannot be written by %s, who owns %s and makes the copy: name a "
			   "directory that is not there yet, in a place that this user can reach",
			   backup->to, process_user_name(geteuid(), name), backup->from);
}

/* In the child. */
static int make_copy(void *context)
{
	const struct backing_up *backup = context;
	struct fault fault = FAULT_INITIAL;

	if (!data_directory_become(&backup->owner, &fault) || !can_write(backup, &fault))
		return command_failed(backup->command, &fault);
	if (backup->is_salvage)
		return salvage(backup->command, backup->from, backup->to);
	if (!copy_data(backup->command, backup->from, backup->to, &fault))
		return command_failed(backup->command, &fault);
	return EXIT_SUCCESS;
}

static bool check_empty(const char *path, struct fault *fault)
{
	bool is_empty;

	if (!data_directory_is_empty(path, &is_empty, fault))
		return false;
	return is_empty ||
	       fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "%s is not empty; name a directory that is not there yet", path);
}

int command_backup(const struct command *command, int argc, char **argv)
{
	struct backing_up backup = { .command = command };
	const struct option_row rows[] = {
		DIRECTORY_ROW(&backup.from),
		{ "salvage", NULL,
		  "of a damaged store, makes a new one of all that can be read; tells what cannot, "
		  "and ends with status 3",
		  TO_SWITCH(&backup.is_salvage) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &backup.to);
	struct fault fault = FAULT_INITIAL;
	const struct identity *owner = geteuid() == 0 ? &backup.owner : NULL;
	bool was_made = false;

	if (status != OPTIONS_GO)
		return status;
	child_hold_signals();
	if (!data_directory_is_one(backup.from, &fault) ||
	    !data_directory_is_one(backup.to, &fault) ||
	    !data_directory_check(backup.from, false, &backup.owner, &fault) ||
	    !data_directory_has_store(backup.from, &fault) ||
	    !data_directory_is_apart(backup.from, backup.to, &fault) ||
	    !process_make_directory(backup.to, owner, &was_made, &fault) ||
	    !check_empty(backup.to, &fault))
		return command_failed(command, &fault);
	status = child_run(command, make_copy, &backup);
	if (status == EXIT_SUCCESS || status == EXIT_LOST)
		copy_tell("Copied", backup.from, backup.to);
	else
		child_remove_tree(command, backup.to, owner, !was_made);
	return status;
}
