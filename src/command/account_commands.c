/* anteroom account add, list, disable, enable, set, rotate, delete; anteroom token. They read or
 * change the accounts file; a running service notices changes by itself.
 *
 * Secrets are written to standard output only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "accounts/accounts.h"
#include "accounts/token.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/process.h"
#include "command/progress.h"
#include "command/removal.h"
#include "store/postgres/store_postgres.h"

#define DEFAULT_TOKEN_SECONDS ((int64_t)24 * 60 * 60)

static bool use_directory(const struct command *command, const char *directory, bool is_written,
			  struct fault *fault)
{
	struct identity owner;

	if (!data_directory_check(directory, is_written, &owner, fault))
		return false;
	data_directory_warn(command, directory);
	return true;
}

/* The first account of a new installation creates the directory and the store. The store is created
 * first: if the process ends in between, the next call finds a store without accounts and
 * continues. */
static bool prepare_directory(const struct command *command, const char *directory,
			      struct fault *fault)
{
	bool was_made, store_was_made;

	if (store_postgres_is_url(directory))
		return true;
	if (!process_make_directory(directory, NULL, &was_made, fault) ||
	    !use_directory(command, directory, true, fault) ||
	    !data_directory_prepare(directory, &store_was_made, fault))
		return false;
	if (was_made)
		command_remark(command, "made the directory %s", directory);
	else if (store_was_made)
		command_remark(command, "made an empty store in %s", directory);
	return true;
}

/* With its youngest secret. */
static void print_account(const struct account *account, const char *sentence)
{
	printf("id: %s\nname: %s\naccess_key: %s\nsecret: %s\n", account->id_text, account->name,
	       account->access_key_text, account->secrets[account->secret_count - 1].text);
	fprintf(stderr, "%s\n", sentence);
}

int command_account_add(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *name = NULL;
	const struct option_row rows[] = { DATA_ROW(&directory) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct account account;

	if (status != OPTIONS_GO)
		return status;
	if (!prepare_directory(command, directory, &fault) ||
	    !accounts_add(directory, &clock_system, name, &account, &fault))
		return command_failed(command, &fault);
	print_account(&account, "The secret is shown only now: keep it safe.");
	explicit_bzero(&account, sizeof account);
	return command_printed(command);
}

/* ---- list ---- */

static void print_table(const struct roster *roster, const char *directory)
{
	char time[TEXT_TIME_SIZE];

	if (roster->count == 0) {
		fprintf(stderr,
			"There are no accounts in %s; anteroom account add NAME makes one.\n",
			store_postgres_is_url(directory) ? "the database" : directory);
		return;
	}
	printf("%-24s  %-24s  %-8s  %-7s  %-20s  %s\n", "ID", "ACCESS KEY", "STATE", "SECRETS",
	       "MADE", "NAME");
	for (size_t i = 0; i < roster->count; i++) {
		const struct account *account = &roster->accounts[i];

		text_time_seconds(account->created_at, time);
		printf("%-24s  %-24s  %-8s  %-7zu  %-20s  %s%s%s%s%s\n", account->id_text,
		       account->access_key_text, account->is_enabled ? "enabled" : "disabled",
		       account->secret_count, time, account->name,
		       account->is_operator ? "  operator=on" : "",
		       account->logs_joins ? "  log_joins=on" : "",
		       account->client_url[0] != '\0' ? "  client_url=" : "", account->client_url);
	}
}

static void print_json(const struct roster *roster)
{
	json_t *list = json_array();
	char time[TEXT_TIME_SIZE];

	for (size_t i = 0; i < roster->count; i++) {
		const struct account *account = &roster->accounts[i];

		json_t *object;

		text_time_milliseconds(account->created_at, time);
		object = json_pack("{s:s, s:s, s:s, s:b, s:I, s:s}", "id", account->id_text, "name",
				   account->name, "access_key", account->access_key_text, "enabled",
				   account->is_enabled, "secrets",
				   (json_int_t)account->secret_count, "created_at", time);
		account_put_settings(account, object);
		array_put(list, object);
	}
	(void)json_dumpf(list, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(list);
}

int command_account_list(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	bool wants_json = false;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		JSON_ROW(&wants_json),
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	struct roster *roster;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, false, &fault) ||
	    !accounts_list(directory, &roster, &fault))
		return command_failed(command, &fault);
	if (wants_json)
		print_json(roster);
	else
		print_table(roster, directory);
	roster_close(roster);
	return command_printed(command);
}

/* ---- disable, enable ---- */

static int set_enabled(const struct command *command, int argc, char **argv, bool is_enabled)
{
	const char *directory = NULL;
	const char *which = NULL;
	const struct option_row rows[] = { DATA_ROW(&directory) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, &which);
	struct fault fault = FAULT_INITIAL;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, true, &fault) ||
	    !accounts_set_enabled(directory, which, is_enabled, NULL, &fault))
		return command_failed(command, &fault);
	return EXIT_SUCCESS;
}

int command_account_disable(const struct command *command, int argc, char **argv)
{
	return set_enabled(command, argc, argv, false);
}

int command_account_enable(const struct command *command, int argc, char **argv)
{
	return set_enabled(command, argc, argv, true);
}

/* ---- set ---- */

int command_account_set(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *operands[2] = { NULL }; /* ACCOUNT, NAME=VALUE */
	const struct option_row rows[] = { DATA_ROW(&directory) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	struct slice name, value;

	if (status != OPTIONS_GO)
		return status;
	name = text_split(slice_of(operands[1]), '=', &value);
	if (value.data == NULL) {
		command_complain(command,
				 "\"%s\" has no =: say operator=on, for example; NAME= without "
				 "a value unsets client_url",
				 operands[1]);
		return EXIT_WRONG_USE;
	}
	if (!use_directory(command, directory, true, &fault) ||
	    !accounts_set(directory, operands[0], name, value, NULL, &fault))
		return command_failed(command, &fault);
	return EXIT_SUCCESS;
}

/* ---- rotate ---- */

int command_account_rotate(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *which = NULL;
	bool is_finish = false;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		{ "finish", NULL, "retires the older of two secrets", TO_SWITCH(&is_finish) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &which);
	struct fault fault = FAULT_INITIAL;
	struct account account;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, true, &fault))
		return command_failed(command, &fault);
	if (is_finish) {
		if (!accounts_finish(directory, which, NULL, &fault))
			return command_failed(command, &fault);
		return EXIT_SUCCESS;
	}
	if (!accounts_rotate(directory, &clock_system, which, &account, &fault))
		return command_failed(command, &fault);
	print_account(
		&account,
		"The new secret is shown only now: keep it safe. Both secrets are valid until "
		"account rotate --finish retires the older one.");
	explicit_bzero(&account, sizeof account);
	return command_printed(command);
}

/* ---- delete ---- */

/* The account is disabled first, its records are removed in transactions of bounded size, and the
 * account leaves the accounts file last. So after an interruption the account is still there,
 * disabled, with the records that are not removed yet, and the command can be run again. A store in
 * a directory is locked meanwhile, so the service has to be stopped. */
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

/* ---- token ---- */

static int print_token(const struct command *command, const struct account *account,
		       int64_t seconds)
{
	struct arena *arena = arena_open();
	struct slice token = token_sign_management(arena, &clock_system, account,
						   clock_now(&clock_system), seconds);

	printf("%.*s\n", (int)token.size, token.data);
	arena_close(arena);
	return command_printed(command);
}

int command_token(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *which = NULL;
	int64_t seconds = DEFAULT_TOKEN_SECONDS;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		{ "ttl", "DURATION", "how long it is valid: 90s, 15m, 24h, 7d; 24h if not given",
		  TO_DURATION(&seconds) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &which);
	struct fault fault = FAULT_INITIAL;
	const struct account *account;
	struct roster *roster;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, false, &fault) ||
	    !accounts_list(directory, &roster, &fault))
		return command_failed(command, &fault);
	account = accounts_find(roster, which, &fault);
	if (account != NULL && !account->is_enabled)
		fault_cause(&fault, FAULT_CONFLICT, 0,
			    "the account \"%s\" is disabled, so no token of it is accepted; "
			    "anteroom account enable makes it usable again",
			    account->name);
	status = fault.kind == FAULT_NONE ? print_token(command, account, seconds)
					  : command_failed(command, &fault);
	roster_close(roster);
	return status;
}
