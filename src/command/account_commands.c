/* anteroom account add, list, disable, enable, set, rotate, delete; anteroom recorder add, list,
 * remove; anteroom token. They read or change the accounts file; a running service notices changes
 * by itself.
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

	if (!data_directory_check(directory, is_written, &owner, fault) ||
	    !data_directory_check_form(directory, true, fault))
		return false;
	data_directory_warn(command, directory);
	return true;
}

/* For the first account of a new installation, creates the directory and the store. The store is
 * created first: if the process ends in between, the next call finds a store without accounts and
 * continues. */
static bool prepare_directory(const struct command *command, const char *directory,
			      struct fault *fault)
{
	bool was_made, store_was_made;

	if (store_postgres_is_url(directory))
		return data_directory_check_form(directory, true, fault);
	if (!process_make_directory(directory, NULL, &was_made, fault) ||
	    !use_directory(command, directory, true, fault) ||
	    !data_directory_prepare(directory, &store_was_made, fault))
		return false;
	if (was_made)
		command_remark(command, "created the directory %s", directory);
	else if (store_was_made)
		command_remark(command, "created an empty store in %s", directory);
	return true;
}

/* Prints an account with its newest secret. */
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
	print_account(&account, "The secret is not shown again. Store it in a safe place.");
	explicit_bzero(&account, sizeof account);
	return command_printed(command);
}

/* ---- list ---- */

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
	char limits[64], time[TEXT_TIME_SIZE];

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, false, &fault) ||
	    !accounts_list(directory, &roster, &fault))
		return command_failed(command, &fault);
	if (wants_json) {
		json_t *list = json_array();

		for (size_t i = 0; i < roster->count; i++)
			array_put(list, account_summary(&roster->accounts[i]));
		(void)json_dumpf(list, stdout, JSON_INDENT(2));
		printf("\n");
		json_decref(list);
	} else if (roster->count == 0) {
		fprintf(stderr,
			"There are no accounts in %s. Create one with: anteroom account add NAME\n",
			store_postgres_is_url(directory) ? "the database" : directory);
	} else {
		printf("%-24s  %-24s  %-8s  %-7s  %-20s  %s\n", "ID", "ACCESS KEY", "STATE",
		       "SECRETS", "MADE", "NAME");
		for (size_t i = 0; i < roster->count; i++) {
			const struct account *account = &roster->accounts[i];

			text_time_seconds(account->created_at, time);
			limits[0] = '\0';
			if (account->recordings != ACCOUNT_RECORDINGS_USUAL)
				(void)snprintf(limits, sizeof limits, "  recordings=%lld",
					       (long long)account->recordings);
			if (account->recordings_gb != 0)
				(void)snprintf(
					limits + strlen(limits), sizeof limits - strlen(limits),
					"  recordings_gb=%lld", (long long)account->recordings_gb);
			printf("%-24s  %-24s  %-8s  %-7zu  %-20s  %s%s%s%s%s%s%s%s%s%s\n",
			       account->id_text, account->access_key_text,
			       account->is_enabled ? "enabled" : "disabled", account->secret_count,
			       time, account->name, account->is_operator ? "  operator=on" : "",
			       account->logs_joins ? "  log_joins=on" : "",
			       account->keeps_people ? "" : "  sessions=off",
			       account->logs_live ? "" : "  live_log=off",
			       account->client_url[0] != '\0' ? "  client_url=" : "",
			       account->client_url, account->embed[0] != '\0' ? "  embed=" : "",
			       account->embed, limits);
		}
	}
	roster_close(roster);
	return command_printed(command);
}

/* ---- disable, enable ---- */

int command_account_switch(const struct command *command, int argc, char **argv)
{
	const bool is_enabled = strcmp(command->name, "account enable") == 0;
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
		command_complain(
			command,
			"\"%s\" has no =; write NAME=VALUE, such as operator=on, or client_url= "
			"to unset it",
			operands[1]);
		return EXIT_WRONG_USE;
	}
	if (!use_directory(command, directory, true, &fault) ||
	    !accounts_set(directory, operands[0], name, value, NULL, &fault))
		return command_failed(command, &fault);
	return EXIT_SUCCESS;
}

/* ---- recorders ---- */

int command_recorder_add(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL, *accounts = NULL;
	const char *name = NULL;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		{ "account", "ACCOUNT,...", "makes recordings of these accounts alone",
		  TO_TEXT(&accounts) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct secret secret;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, true, &fault) ||
	    !accounts_add_recorder(directory, &clock_system, name, accounts, &secret, &fault))
		return command_failed(command, &fault);
	printf("%s.%s\n", name, secret.text);
	fprintf(stderr, "This key is not shown again. Put it into a file for anteroom record.\n");
	explicit_bzero(&secret, sizeof secret);
	return command_printed(command);
}

int command_recorder_list(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const struct option_row rows[] = { DATA_ROW(&directory) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	char time[TEXT_TIME_SIZE];
	struct roster *roster;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, false, &fault) ||
	    !accounts_list(directory, &roster, &fault))
		return command_failed(command, &fault);
	printf("%-20s  %-24s  %s\n", "MADE", "NAME", "ACCOUNTS");
	for (size_t i = 0; i < roster->recorder_count; i++) {
		const struct recorder_key *key = &roster->recorders[i];

		text_time_seconds(key->created_at, time);
		printf("%-20s  %-24s  %s", time, key->name, key->account_count == 0 ? "all" : "");
		for (size_t j = 0; j < key->account_count; j++) {
			const struct account *account = roster_by_id(roster, &key->accounts[j]);
			char id[ID_TEXT_SIZE + 1];

			id_print(&key->accounts[j], id);
			printf("%s%s", j > 0 ? "," : "", account != NULL ? account->name : id);
		}
		printf("\n");
	}
	roster_close(roster);
	return command_printed(command);
}

int command_recorder_remove(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *name = NULL;
	const struct option_row rows[] = { DATA_ROW(&directory) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, true, &fault) ||
	    !accounts_remove_recorder(directory, name, &fault))
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
		"The new secret is not shown again. Both secrets are valid until you run account "
		"rotate --finish.");
	explicit_bzero(&account, sizeof account);
	return command_printed(command);
}

/* ---- delete ---- */

static bool remove_owned(const struct command *command, struct store *store,
			 const struct id *account, struct fault *fault)
{
	struct progress progress;
	struct removal removal = {
		.store = store,
		.arena = arena_open(),
		.account = *account,
		.progress = &progress,
	};
	bool is_removed;

	progress_begin(&progress, command, "transactions of removals");
	is_removed = removal_run(&removal, fault) && store_wait(store, removal.last, fault);
	progress_end(&progress);
	arena_close(removal.arena);
	return is_removed;
}

/* Disables the account first, then removes its records in transactions of bounded size, and removes
 * the account from the accounts file last. So after an interruption the account still exists,
 * disabled, with the records that have not been removed yet, and the command can be run again. A
 * store in a directory stays locked throughout, so the service must be stopped. */
int command_account_delete(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *which = NULL;
	bool is_forced = false;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		{ "force", NULL, "deletes the account even if it is enabled",
		  TO_SWITCH(&is_forced) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &which);
	struct fault fault = FAULT_INITIAL;
	struct store *store = NULL;
	struct identity owner;
	struct account account;
	bool is_deleted;

	if (status != OPTIONS_GO)
		return status;
	if (!data_directory_check(directory, true, &owner, &fault) ||
	    !data_directory_become(&owner, &fault) ||
	    !accounts_get(directory, which, &account, &fault))
		return command_failed(command, &fault);
	explicit_bzero(account.secrets, sizeof account.secrets);
	if (account.is_enabled && !is_forced)
		fault_set(
			&fault, FAULT_CONFLICT,
			"the account \"%s\" is enabled; make sure that it is no longer needed and "
			"disable it first (anteroom account disable), or use --force",
			account.name);
	is_deleted = fault.kind == FAULT_NONE &&
		     data_directory_open_store(directory, (struct store_options){ 0 }, &store,
					       &fault) &&
		     accounts_set_enabled(directory, which, false, NULL, &fault) &&
		     remove_owned(command, store, &account.id, &fault) &&
		     accounts_remove(directory, &account.id, &fault);
	store_close(store);
	if (!is_deleted)
		return command_failed(command, &fault);
	fprintf(stderr, "Deleted the account \"%s\" and everything it owned.\n", account.name);
	return EXIT_SUCCESS;
}

/* ---- token ---- */

int command_token(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *which = NULL;
	int64_t seconds = DEFAULT_TOKEN_SECONDS;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		{ "ttl", "DURATION", "how long it is valid, such as 90s, 15m or 7d (default: 24h)",
		  TO_DURATION(&seconds) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &which);
	struct fault fault = FAULT_INITIAL;
	struct account account;
	struct arena *arena;
	struct slice token;

	if (status != OPTIONS_GO)
		return status;
	if (!use_directory(command, directory, false, &fault) ||
	    !accounts_get(directory, which, &account, &fault))
		return command_failed(command, &fault);
	if (!account.is_enabled) {
		fault_cause(&fault, FAULT_CONFLICT, 0,
			    "the account \"%s\" is disabled, so its tokens are rejected; enable it "
			    "with anteroom account enable",
			    account.name);
		explicit_bzero(&account, sizeof account);
		return command_failed(command, &fault);
	}
	arena = arena_open();
	token = token_sign_management(arena, &clock_system, &account, clock_now(&clock_system),
				      seconds);
	printf("%.*s\n", (int)token.size, token.data);
	arena_close(arena);
	explicit_bzero(&account, sizeof account);
	return command_printed(command);
}
