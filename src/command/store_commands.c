/* anteroom store create; check and stat, which inspect a data directory, in use or not,
 * without locks or changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "accounts/accounts_file.h"
#include "base/memory.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/progress.h"
#include "transfer/folder_findings.h"
#include "transfer/record_findings.h"
#include "records/kinds.h"
#include "store/gdbm/inspect.h"
#include "store/postgres/store_postgres.h"

/* ---- store create ---- */

int command_store_create(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const struct option_row rows[] = { DATA_ROW(&directory) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	if (status != OPTIONS_GO)
		return status;
	if (store_postgres_is_url(directory)) {
		if (!store_postgres_create(directory, &record_form, &was_made, &fault))
			return command_failed(command, &fault);
		if (!was_made)
			command_remark(command,
				       "the database already has a store; nothing was changed");
		return EXIT_SUCCESS;
	}
	if (!process_make_directory(directory, NULL, &was_made, &fault) ||
	    !data_directory_create_store(directory, &fault))
		return command_failed(command, &fault);
	if (was_made)
		command_remark(command, "created the directory %s", directory);
	return EXIT_SUCCESS;
}

/* ---- check ---- */

static bool begin_reading(const char *directory, struct fault *fault)
{
	struct identity owner;

	return data_directory_check(directory, false, &owner, fault) &&
	       data_directory_become(&owner, fault) && data_directory_has_store(directory, fault) &&
	       data_directory_check_form(directory, false, fault);
}

/* Findings are printed immediately, because there may be any number of them. */
struct checking {
	struct record_findings findings;
	const char *directory;
	const struct command *command;
	struct progress progress;
	bool wants_json;
	uint64_t found;
	uint64_t records, all; /* number of records checked, and in total */
	struct store_check files;
	struct snapshot *snapshot;
	const char *recordings; /* the folder of recordings, which is compared; or NULL */
};

/* Prints a finding about `file`, or about `table` and `key`. */
static void print_finding(struct checking *checking, const char *file, const char *table,
			  const char *key, const char *problem)
{
	json_t *finding;

	progress_end(&checking->progress);
	if (!checking->wants_json) {
		if (file != NULL)
			printf("%s: %s\n", file, problem);
		else
			printf("table %s, key %s: %s\n", table, key, problem);
		checking->found++;
		return;
	}
	finding = memory_check(file != NULL
				       ? json_pack("{s:s, s:s}", "file", file, "problem", problem)
				       : json_pack("{s:s, s:s, s:s}", "kind", table, "key", key,
						   "problem", problem));
	printf(checking->found++ == 0 ? "\n    " : ",\n    ");
	(void)json_dumpf(finding, stdout, 0);
	json_decref(finding);
}

static void print_file(void *context, const char *file, const char *what)
{
	struct checking *checking = context;

	print_finding(checking, file, NULL, NULL, what);
}

static void print_record(struct record_findings *findings, const char *kind, const char *key,
			 const char *problem)
{
	struct checking *checking = (struct checking *)findings;

	print_finding(checking, NULL, kind, key, problem);
}

static void show_progress(void *context, uint64_t done, uint64_t all)
{
	struct checking *checking = context;

	progress_show(&checking->progress, done, all);
}

static bool check_files(struct checking *checking, struct fault *fault)
{
	const struct store_watch watch = {
		.context = checking,
		.damage = print_file,
		.progress = show_progress,
	};
	char *store = data_directory_store(checking->directory);
	bool is_checked;

	progress_begin(&checking->progress, checking->command, "bytes verified");
	is_checked = store_gdbm_check(store, NULL, &watch, &checking->files, fault);
	progress_end(&checking->progress);
	free(store);
	return is_checked;
}

static void print_index(void *context, const char *problem)
{
	print_finding(context, "store", NULL, NULL, problem);
}

static bool check_kinds(struct checking *checking, struct fault *fault)
{
	struct transaction *transaction = checking->snapshot->call.transaction;
	uint64_t counts[KINDS];
	struct store_record record;

	if (!store_count(transaction, all_kinds, KINDS, counts, fault))
		return false;
	for (int i = 0; i < KINDS; i++)
		checking->all += counts[i];
	for (int i = 0; i < KINDS; i++) {
		struct store_walk walk = store_walk_all(transaction, all_kinds[i], fault);

		while (store_next(&walk, &record)) {
			record_findings_report_stored(checking->snapshot, all_kinds[i], &record,
						      &checking->findings);
			progress_show(&checking->progress, ++checking->records, checking->all);
		}
	}
	if (fault->kind != FAULT_NONE)
		return false;
	/* A database checks its indexes itself. */
	if (store_postgres_is_url(checking->directory))
		return true;
	return store_gdbm_check_indexes(transaction, all_kinds, KINDS, print_index, checking,
					fault);
}

static const struct store_options read_only = { .is_read_only = true };

/* Checks the records. The store is opened before the accounts file is read, so that every account
 * with records in it is in the file. A fault that prevents checking the records is a finding. */
static void check_records(struct checking *checking)
{
	struct fault fault = FAULT_INITIAL, no_accounts = FAULT_INITIAL;
	struct store *store = NULL;
	struct roster *roster = NULL;
	struct snapshot snapshot;

	progress_begin(&checking->progress, checking->command, "records checked");
	if (data_directory_open_store(checking->directory, read_only, &store, &fault) &&
	    snapshot_open(store, &clock_system, &snapshot, &fault)) {
		if (!accounts_list(checking->directory, &roster, &no_accounts))
			print_finding(checking, ACCOUNTS_FILE, NULL, NULL,
				      fault_reason(&no_accounts));
		checking->findings.roster = roster;
		checking->snapshot = &snapshot;
		(void)(check_kinds(checking, &fault) &&
		       (checking->recordings == NULL ||
			folder_findings(&snapshot, checking->recordings, print_file, checking,
					&fault)));
		snapshot_close(&snapshot);
	}
	progress_end(&checking->progress);
	if (fault.kind != FAULT_NONE)
		print_finding(checking, "store", NULL, NULL, fault_reason(&fault));
	json_decref(checking->findings.unknown_accounts);
	roster_close(roster);
	store_close(store);
}

/* ---- check --journal ---- */

struct journal_table {
	bool wants_json;
	char segment[40]; /* of the last change */
	json_int_t transaction;
};

static const char *text_member(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static json_int_t number_member(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void print_change(void *context, const json_t *change)
{
	struct journal_table *table = context;
	const char *segment = text_member(change, "segment");
	const json_int_t transaction = number_member(change, "transaction");
	const char *kind = text_member(change, "kind"), *tree = text_member(change, "tree");
	const char *id = text_member(change, "id");
	const char *account = text_member(change, "account");
	const char *parent = text_member(change, "parent");
	const json_t *name = json_object_get(change, "name");

	if (table->wants_json) {
		(void)json_dumpf(change, stdout, JSON_COMPACT);
		printf("\n");
		return;
	}
	if (strcmp(segment, table->segment) != 0) {
		printf("%s\n", segment);
		(void)snprintf(table->segment, sizeof table->segment, "%s", segment);
	}
	if (transaction != table->transaction)
		printf("  transaction %lld at %lld%s\n", (long long)transaction,
		       (long long)number_member(change, "offset"),
		       json_is_true(json_object_get(change, "in_files")) ? ", in files" : "");
	table->transaction = transaction;
	printf("    %-6s  ", text_member(change, "change"));

	/* What the change is about: "room 69... of account 69..., parent 69..., "monday"". */
	kind = kind != NULL ? kind : "unknown kind";
	if (tree != NULL)
		printf("index of %s, %s, node %lld", tree, kind,
		       (long long)number_member(change, "node"));
	else if (json_object_get(change, "number") != NULL)
		printf("counter, %s, number %lld", kind,
		       (long long)number_member(change, "number"));
	else
		printf("%s, %s%s%s", text_member(change, "table"), kind, id != NULL ? " " : "",
		       id != NULL ? id : "");
	if (account != NULL)
		printf(", account %s", account);
	if (parent != NULL)
		printf(", parent %s", parent);
	if (json_object_get(change, "switch") != NULL)
		printf(", %s", json_is_true(json_object_get(change, "switch")) ? "on" : "off");
	if (name != NULL) {
		printf(", ");
		(void)json_dumpf(name, stdout, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	}
	if (json_object_get(change, "damaged") != NULL)
		printf(", malformed");
	if (json_object_get(change, "bytes") != NULL)
		printf(", %lld bytes", (long long)number_member(change, "bytes"));
	printf("\n");
}

/* Prints the journal instead of checking everything. */
static int print_journal(const struct command *command, const char *directory, bool wants_json)
{
	struct journal_table table = { .wants_json = wants_json };
	struct fault fault = FAULT_INITIAL;
	struct store_journal journal;
	char *store;
	bool is_printed;
	int status;

	store = data_directory_store(directory);
	is_printed = store_gdbm_journal(store, NULL, all_kinds, KINDS, print_change, &table,
					&journal, &fault);
	free(store);
	if (!is_printed)
		return command_failed(command, &fault);
	if (!wants_json)
		printf("%llu transactions in %llu segments; the files have %llu of them.\n",
		       (unsigned long long)journal.transactions,
		       (unsigned long long)journal.segments, (unsigned long long)journal.in_files);
	if (journal.is_damaged)
		command_complain(command,
				 "the journal is damaged after this; anteroom check says where");
	status = command_printed(command);
	return journal.is_damaged ? EXIT_FAILURE : status;
}

/* ---- the command ---- */

int command_check(const struct command *command, int argc, char **argv)
{
	struct checking checking = { .findings.report = print_record, .command = command };
	bool wants_journal = false;
	const struct option_row rows[] = {
		DATA_ROW(&checking.directory),
		{ "journal", NULL,
		  "prints the changes in the journal, without their values, and checks nothing else",
		  TO_SWITCH(&wants_journal) },
		{ "files", "FOLDER",
		  "also compares the records with this folder of recordings (serve --recordings)",
		  TO_TEXT(&checking.recordings) },
		JSON_ROW(&checking.wants_json),
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;

	if (status != OPTIONS_GO)
		return status;
	if (wants_journal && store_postgres_is_url(checking.directory)) {
		command_complain(command, "a database has no journal of Anteroom");
		return EXIT_WRONG_USE;
	}
	if (!begin_reading(checking.directory, &fault))
		return command_failed(command, &fault);
	data_directory_warn(command, checking.directory);
	if (wants_journal)
		return print_journal(command, checking.directory, checking.wants_json);
	if (checking.wants_json)
		printf("{\n  \"findings\": [");
	if (store_postgres_is_url(checking.directory) || check_files(&checking, &fault))
		check_records(&checking);
	else
		print_finding(&checking, "store", NULL, NULL, fault_reason(&fault));
	if (checking.wants_json)
		printf("%s],\n  \"files\": %llu,\n  \"blocks\": %llu,\n  \"transactions\": %llu,\n"
		       "  \"last_transaction\": %llu,\n  \"records\": %llu,\n  \"damaged\": %s\n}\n",
		       checking.found > 0 ? "\n  " : "", (unsigned long long)checking.files.files,
		       (unsigned long long)checking.files.blocks,
		       (unsigned long long)checking.files.transactions,
		       (unsigned long long)checking.files.last,
		       (unsigned long long)checking.records, checking.found > 0 ? "true" : "false");
	else if (checking.found == 0)
		printf("No damage: %llu files with %llu blocks, %llu transactions of the journal, "
		       "%llu records.\n",
		       (unsigned long long)checking.files.files,
		       (unsigned long long)checking.files.blocks,
		       (unsigned long long)checking.files.transactions,
		       (unsigned long long)checking.records);
	status = command_printed(command);
	return checking.found > 0 ? EXIT_FAILURE : status;
}

/* ---- stat ---- */

struct figures {
	struct store_stat store;
	uint64_t accounts;
	uint64_t counts[KINDS];
};

static uint64_t counted_of(const struct figures *figures, const struct store_kind *kind)
{
	size_t i = 0;

	while (all_kinds[i] != kind)
		i++;
	return figures->counts[i];
}

static void print_figure(const char *name, uint64_t figure)
{
	printf("%-20s %20llu\n", name, (unsigned long long)figure);
}

/* Other kinds are only in the JSON output. */
static void print_figures(const struct figures *figures)
{
	const struct store_stat *store = &figures->store;

	print_figure("accounts", figures->accounts);
	print_figure("templates", counted_of(figures, &kind_template));
	print_figure("rooms", counted_of(figures, &kind_room));
	print_figure("codes", counted_of(figures, &kind_code));
	print_figure("last transaction", store->last);
	print_figure("journal segments", store->journal_segments);
	print_figure("journal bytes", store->journal_bytes);
	print_figure("files", store->n_files);
	print_figure("files bytes", store->stack_bytes);
	print_figure("superfluous bytes", store->superfluous_bytes);
	if (store->n_files > 0)
		printf("\n%-16s  %12s  %12s  %14s\n", "FILE, NEWEST FIRST", "RECORDS", "REMOVALS",
		       "BYTES");
	for (size_t i = 0; i < store->n_files; i++) {
		const struct store_stat_file *file = &store->files[i];

		printf("%016llx    %12llu  %12llu  %14llu\n", (unsigned long long)file->id,
		       (unsigned long long)file->entries, (unsigned long long)file->removals,
		       (unsigned long long)file->bytes);
	}
}

static void print_figures_json(const struct figures *figures)
{
	const struct store_stat *store = &figures->store;
	json_t *records = json_object(), *files = json_array(), *object;

	for (int i = 0; i < KINDS; i++)
		object_put(records, all_kinds[i]->name,
			   json_integer((json_int_t)figures->counts[i]));
	for (size_t i = 0; i < store->n_files; i++) {
		const struct store_stat_file *file = &store->files[i];
		char name[17];

		(void)snprintf(name, sizeof name, "%016llx", (unsigned long long)file->id);
		array_put(files,
			  json_pack("{s:s, s:I, s:I, s:I}", "id", name, "records",
				    (json_int_t)file->entries, "removals",
				    (json_int_t)file->removals, "bytes", (json_int_t)file->bytes));
	}
	object = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I}, s:I, s:I, s:o, s:o}", "accounts",
		(json_int_t)figures->accounts, "templates",
		(json_int_t)counted_of(figures, &kind_template), "rooms",
		(json_int_t)counted_of(figures, &kind_room), "codes",
		(json_int_t)counted_of(figures, &kind_code), "last_transaction",
		(json_int_t)store->last, "journal", "segments", (json_int_t)store->journal_segments,
		"bytes", (json_int_t)store->journal_bytes, "files_bytes",
		(json_int_t)store->stack_bytes, "superfluous_bytes",
		(json_int_t)store->superfluous_bytes, "records", records, "files", files);
	(void)json_dumpf(memory_check(object), stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(object);
}

int command_stat(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	bool wants_json = false;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		JSON_ROW(&wants_json),
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	struct figures figures = { .accounts = 0 };
	struct transaction *transaction;
	struct roster *roster = NULL;
	struct store *store = NULL;
	struct arena *arena;
	bool is_gathered;
	char *path;

	if (status != OPTIONS_GO)
		return status;
	if (!begin_reading(directory, &fault))
		return command_failed(command, &fault);
	path = data_directory_store(directory);
	arena = arena_open();
	is_gathered = accounts_list(directory, &roster, &fault) &&
		      data_directory_open_store(directory, read_only, &store, &fault) &&
		      store_begin(store, STORE_READ, arena, &transaction, &fault);
	if (is_gathered) {
		figures.accounts = roster->count;
		is_gathered = store_count(transaction, all_kinds, KINDS, figures.counts, &fault);
		store_abandon(transaction);
	}
	store_close(store);
	is_gathered = is_gathered && (store_postgres_is_url(directory) ||
				      store_gdbm_stat(path, NULL, &figures.store, &fault));
	roster_close(roster);
	arena_close(arena);
	free(path);
	if (!is_gathered)
		return command_failed(command, &fault);

	if (wants_json)
		print_figures_json(&figures);
	else
		print_figures(&figures);
	free(figures.store.files);
	return command_printed(command);
}
