/* anteroom restore: puts a copy of a backup in the place of a data directory, or where none is yet.
 *
 * Root reads the backup with root's rights and writes into a directory that no other user can enter;
 * the copy is given to its owner before it is put in place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/child.h"
#include "command/command.h"
#include "command/copy.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/replacement.h"

struct restoring {
	const struct command *command;
	const char *backup;
	const char *to;
};

/* In the child. */
static int make_copy(void *context)
{
	const struct restoring *restoring = context;
	struct fault fault = FAULT_INITIAL;

	if (!copy_data(restoring->command, restoring->backup, restoring->to, &fault))
		return command_failed(restoring->command, &fault);
	return EXIT_SUCCESS;
}

/* Says it of a backup; what a data directory needs would be other advice. */
static bool check_backup(const char *backup, struct fault *fault)
{
	char *store = data_directory_store(backup);
	struct stat status;
	bool has_store = stat(store, &status) == 0 || errno != ENOENT;

	free(store);
	if (stat(backup, &status) != 0 && errno == ENOENT)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "the backup %s is not there",
				   backup);
	return has_store ||
	       fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "%s is no backup, it has no store: name a directory that anteroom "
			   "backup made",
			   backup);
}

/* Without a directory, the owner of the backup owns the copy that root makes. */
static bool begin(const char *backup, const char *directory, bool replaces,
		  struct replacement *replacement, struct fault *fault)
{
	struct identity owner;

	if (!data_directory_is_one(backup, fault) || !data_directory_is_one(directory, fault) ||
	    !check_backup(backup, fault) || !data_directory_check(backup, false, &owner, fault) ||
	    !data_directory_has_store(backup, fault) ||
	    !data_directory_is_apart(directory, backup, fault) ||
	    !data_directory_is_apart(backup, directory, fault) ||
	    !replacement_begin(replacement, directory, replaces, fault))
		return false;
	if (!replacement->is_there && geteuid() == 0)
		replacement->owner = owner;
	return replacement_stage(replacement, NULL, fault);
}

static int restore(const struct command *command, const char *backup, const char *directory,
		   struct replacement *replacement)
{
	struct restoring restoring = {
		.command = command,
		.backup = backup,
		.to = replacement->staged,
	};
	struct fault fault = FAULT_INITIAL;
	int status = child_run(command, make_copy, &restoring);

	if (status != EXIT_SUCCESS)
		return status;
	if (!replacement_finish(replacement, &fault))
		return command_failed(command, &fault);
	copy_tell("Restored", backup, directory);
	replacement_tell(replacement);
	return EXIT_SUCCESS;
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

	if (status != OPTIONS_GO)
		return status;
	child_hold_signals();
	if (begin(backup, directory, replaces, &replacement, &fault))
		status = restore(command, backup, directory, &replacement);
	else
		status = command_failed(command, &fault);
	if (replacement.staged[0] != '\0')
		child_remove_tree(command, replacement.staged, NULL, false);
	replacement_end(&replacement);
	return status;
}
