/* anteroom account delete: removes an account and everything that it owns.
 *
 * The account is disabled first, its records are removed in transactions of bounded size, and it
 * leaves the accounts file last: after an interruption it is there, disabled, with what is not
 * removed yet, and the command can be run again. A store in a directory is locked meanwhile, so the
 * service has to be stopped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/progress.h"
#include "command/removal.h"

struct deleting {
	const struct command *command;
	const char *directory;
	const char *which;
	bool is_forced;
	char name[ACCOUNT_NAME_MOST + 1];
	struct progress progress;
};

static bool check_account(struct deleting *deleting, struct id *id, struct fault *fault)
{
	const struct account *account;
	struct roster *roster;
	bool is_allowed;

	if (!accounts_list(deleting->directory, &roster, fault))
		return false;
	account = accounts_find(roster, deleting->which, fault);
	is_allowed = account != NULL && (!account->is_enabled || deleting->is_forced);
	if (account != NULL && !is_allowed)
		fault_set(fault, FAULT_CONFLICT,
			  "the account \"%s\" is enabled: see that nobody needs it, and disable it "
			  "first (anteroom account disable), or say --force",
			  account->name);
	if (is_allowed) {
		*id = account->id;
		memcpy(deleting->name, account->name, sizeof deleting->name);
	}
	roster_close(roster);
	return is_allowed;
}

static bool remove_records(struct deleting *deleting, struct store *store, const struct id *id,
			   struct fault *fault)
{
	struct removal removal = {
		.store = store,
		.arena = arena_open(),
		.account = *id,
		.progress = &deleting->progress,
	};
	bool is_removed;

	progress_begin(&deleting->progress, deleting->command, "transactions of removals");
	is_removed = removal_run(&removal, fault) && store_wait(store, removal.last, fault);
	progress_end(&deleting->progress);
	arena_close(removal.arena);
	return is_removed;
}

static bool delete_account(struct deleting *deleting, struct fault *fault)
{
	struct store *store = NULL;
	struct identity owner;
	struct id id;
	bool is_deleted;

	if (!data_directory_check(deleting->directory, true, &owner, fault) ||
	    !data_directory_become(&owner, fault) || !check_account(deleting, &id, fault) ||
	    !data_directory_open_store(deleting->directory, (struct store_options){ 0 }, &store,
				       fault))
		return false;
	is_deleted = accounts_set_enabled(deleting->directory, deleting->which, false, NULL,
					  fault) &&
		     remove_records(deleting, store, &id, fault) &&
		     accounts_remove(deleting->directory, &id, fault);
	store_close(store);
	return is_deleted;
}

int command_account_delete(const struct command *command, int argc, char **argv)
{
	struct deleting deleting = { .command = command };
	const struct option_row rows[] = {
		DATA_ROW(&deleting.directory),
		{ "force", NULL, "also an account that is enabled",
		  TO_SWITCH(&deleting.is_forced) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &deleting.which);
	struct fault fault = FAULT_INITIAL;

	if (status != OPTIONS_GO)
		return status;
	if (!delete_account(&deleting, &fault))
		return command_failed(command, &fault);
	fprintf(stderr, "The account \"%s\" and everything that it owned are removed.\n",
		deleting.name);
	return EXIT_SUCCESS;
}
