/* anteroom load: loads a dump into a directory that no process uses, all or nothing.
 *
 * The dump is read line by line and stored in transactions of bounded size, so that neither memory
 * nor transactions grow with it. None of it is visible yet: its accounts are not in the accounts
 * file, so their tokens are rejected and their codes are unknown. When everything is durable in the
 * store, one rename replaces the accounts file and makes everything visible.
 *
 * After an error (a faulty line, a full disk, a name that has been taken) the records are removed.
 * If the process is killed, a mark remains (command/load_mark.h): the next load first removes the
 * records of the accounts in it, unless the accounts file has them; in that case the load was
 * complete and only the mark is removed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "base/memory.h"
#include "command/again.h"
#include "command/child.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "command/load_mark.h"
#include "command/options.h"
#include "command/progress.h"
#include "command/removal.h"
#include "command/replacement.h"
#include "command/salvage.h"
#include "store/postgres/store_postgres.h"
#include "transfer/transfer.h"

/* A transaction is committed at either limit. */
#define BATCH_BYTES ((size_t)2 << 20)
#define BATCH_LINES 256

struct loading {
	const struct command *command;
	const char *directory;
	FILE *file;
	struct store *store;
	struct roster *present;
	struct transfer_input input;
	struct arena *arena;
	struct transaction *transaction; /* NULL if none is open */
	/* The lines of the transaction, which are read again if the store asks for it. */
	struct transfer_input batch_mark; /* the position before the first of them */
	char *text; /* from malloc; contains secrets */
	size_t text_size, text_capacity;
	size_t line_ends[BATCH_LINES];
	size_t batch_lines;
	uint64_t last; /* number of the last transaction */
	uint64_t line_number;
	struct load_mark mark;
	struct progress progress;
};

/* ---- removing records ---- */

/* Removes the records of an account, unless it is in the accounts file. */
static bool remove_account(struct loading *loading, const struct roster *roster,
			   const struct id *account, struct fault *fault)
{
	struct removal removal = {
		.is_of_load = true,
		.store = loading->store,
		.arena = loading->arena,
		.account = *account,
		.last = loading->last,
	};
	bool is_removed = roster_by_id(roster, account) != NULL || removal_run(&removal, fault);

	loading->last = removal.last;
	return is_removed;
}

static bool remove_read(struct loading *loading, struct fault *fault)
{
	const struct transfer_input *input = &loading->input;
	struct roster *roster;
	bool is_removed = accounts_list(loading->directory, &roster, fault);

	for (uint64_t i = 0; is_removed && i < input->counts.accounts; i++)
		is_removed = remove_account(loading, roster, &input->accounts[i].id, fault);
	roster_close(roster);
	return is_removed && store_wait(loading->store, loading->last, fault) &&
	       load_mark_remove(&loading->mark, fault);
}

/* Removes the records of an interrupted load. */
static bool clear_former(struct loading *loading, struct fault *fault)
{
	struct id account;
	bool is_there;

	if (!load_mark_find(&loading->mark, &is_there, fault))
		return false;
	if (!is_there)
		return true;
	command_remark(loading->command, "removing what an interrupted load left behind");
	while (load_mark_next(&loading->mark, &account, fault))
		if (!remove_account(loading, loading->present, &account, fault))
			return false;
	return fault->kind == FAULT_NONE && store_wait(loading->store, loading->last, fault) &&
	       load_mark_remove(&loading->mark, fault);
}

/* ---- lines ---- */

/* Appends a line to the batch. *is_there is false at the end. */
static bool next_dump_line(struct loading *loading, bool *is_there, struct fault *fault)
{
	size_t begin = loading->text_size;
	int byte = 0;

	while (loading->text_size - begin < TRANSFER_LINE_MOST &&
	       (byte = getc_unlocked(loading->file)) != EOF && byte != '\n') {
		loading->text = memory_room_secret(loading->text, loading->text_size + 1,
						   &loading->text_capacity, 1);
		loading->text[loading->text_size++] = (char)byte;
	}
	if (ferror(loading->file) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read the dump");
	*is_there = loading->text_size > begin || byte != EOF;
	if (!*is_there)
		return true;
	loading->line_number++;
	loading->line_ends[loading->batch_lines++] = loading->text_size;
	if (loading->text_size - begin == TRANSFER_LINE_MOST)
		return fault_set(fault, FAULT_CONFLICT, "is longer than a dump line can be");
	return true;
}

/* ---- batches ---- */

static bool read_kept(struct loading *loading, size_t line, struct fault *fault)
{
	size_t begin = line == 0 ? 0 : loading->line_ends[line - 1];

	findings_open(&loading->input.call.findings, loading->arena);
	return transfer_read_line(
		&loading->input,
		(struct slice){ loading->text + begin, loading->line_ends[line] - begin }, fault);
}

/* A step (command/again.h): reads all lines of the batch in a transaction of their own. */
static bool read_batch_again(struct loading *loading, struct fault *fault)
{
	struct call *call = &loading->input.call;
	const uint64_t newest = loading->line_number;

	if (loading->transaction != NULL)
		store_abandon(loading->transaction);
	loading->transaction = NULL;
	transfer_input_back(&loading->input, &loading->batch_mark);
	arena_reset(loading->arena);
	if (!store_begin(loading->store, STORE_WRITE, loading->arena, &loading->transaction, fault))
		return false;
	call->arena = loading->arena;
	call->transaction = loading->transaction;
	for (size_t i = 0; i < loading->batch_lines; i++) {
		loading->line_number = newest - loading->batch_lines + 1 + i;
		if (!read_kept(loading, i, fault))
			break;
	}
	if (fault->kind == FAULT_AGAIN)
		loading->line_number = newest;
	return fault->kind == FAULT_NONE;
}

static bool end_batch(struct loading *loading, struct fault *fault)
{
	struct again again = { .fault = fault };
	struct transaction *transaction;

	if (loading->transaction == NULL)
		return true;
	while (again_try(&again)) {
		again.is_done = (again.runs == 1 || read_batch_again(loading, fault)) &&
				load_mark_name(&loading->mark, &loading->input, fault);
		if (!again.is_done)
			continue;
		transaction = loading->transaction;
		loading->transaction = NULL;
		again.is_done = store_commit(transaction, &loading->last, fault);
	}
	if (!again.is_done)
		return false;
	loading->batch_lines = 0;
	loading->text_size = 0;
	return true;
}

static bool read_dump_line(struct loading *loading, struct fault *fault)
{
	const bool is_first = loading->batch_lines == 1;
	struct again again = { .fault = fault };

	if (is_first)
		loading->batch_mark = loading->input;
	while (again_try(&again))
		again.is_done = is_first || again.runs > 1
					? read_batch_again(loading, fault)
					: read_kept(loading, loading->batch_lines - 1, fault);
	if (!again.is_done)
		return false;
	progress_show(&loading->progress, loading->line_number, 0);
	if (loading->batch_lines < BATCH_LINES && arena_used(loading->arena) < BATCH_BYTES)
		return true;
	return end_batch(loading, fault);
}

static bool read_dump(struct loading *loading, struct fault *fault)
{
	bool is_there = true;

	while (is_there) {
		if (!next_dump_line(loading, &is_there, fault) ||
		    (is_there && !read_dump_line(loading, fault)))
			return false;
	}
	return transfer_read_end(&loading->input, fault) && end_batch(loading, fault) &&
	       store_wait(loading->store, loading->last, fault);
}

/* ---- loading ---- */

/* Returns whether the failure came after the accounts file was replaced. */
static bool is_load_visible(const struct loading *loading, const struct fault *why)
{
	const struct transfer_input *input = &loading->input;
	struct fault unused = FAULT_INITIAL;
	struct roster *roster = NULL;
	bool is_there = input->has_ended && input->counts.accounts > 0 &&
			why->kind != FAULT_CONFLICT &&
			accounts_list(loading->directory, &roster, &unused) &&
			roster_by_id(roster, &input->accounts[0].id) != NULL;

	roster_close(roster);
	return is_there;
}

static void give_up_load(struct loading *loading, const struct fault *why)
{
	const char *sentence = fault_reason(why);
	struct fault fault = FAULT_INITIAL;

	progress_end(&loading->progress);
	if (loading->line_number == 0)
		command_complain(loading->command, "%s", sentence);
	else
		command_complain(loading->command, "line %llu: %s%s%s",
				 (unsigned long long)loading->line_number, sentence,
				 why->detail[0] != '\0' ? ": " : "", why->detail);
	command_print_details(why);
	if (is_load_visible(loading, why)) {
		command_complain(loading->command,
				 "everything was loaded, but a power failure could still undo it");
		return;
	}
	if (loading->transaction != NULL)
		store_abandon(loading->transaction);
	loading->transaction = NULL;
	if (loading->mark.file < 0)
		return;
	if (remove_read(loading, &fault))
		command_complain(loading->command, "nothing was loaded");
	else
		command_complain(
			loading->command,
			"nothing was loaded; records already written are still in the store, "
			"invisible, and the next load removes them (%s)",
			fault_reason(&fault));
}

/* Prints a finding, up to FINDINGS_FAULT_MOST of them. */
static void print_finding(struct record_findings *findings, const char *kind, const char *key,
			  const char *problem)
{
	if (findings->count <= FINDINGS_FAULT_MOST)
		fprintf(stderr, "  %s %s: %s\n", kind, key, problem);
}

static int load_dump(struct loading *loading)
{
	const struct transfer_input *input = &loading->input;
	struct record_findings findings = { .report = print_finding };
	struct fault fault = FAULT_INITIAL;
	struct snapshot snapshot;
	bool was_made, is_loaded;

	if (!data_directory_prepare(loading->directory, &was_made, &fault) ||
	    !data_directory_open_store(loading->directory, (struct store_options){ 0 },
				       &loading->store, &fault) ||
	    !accounts_list(loading->directory, &loading->present, &fault) ||
	    !clear_former(loading, &fault))
		return command_failed(loading->command, &fault);
	transfer_input_open(&loading->input, loading->store, &clock_system, loading->present);
	progress_begin(&loading->progress, loading->command, "lines loaded");
	is_loaded = load_mark_make(&loading->mark, &fault) && read_dump(loading, &fault);
	if (is_loaded) {
		loading->line_number = 0;
		progress_end(&loading->progress);
		is_loaded = snapshot_open(loading->store, &clock_system, &snapshot, &fault);
	}
	if (is_loaded) {
		/* What the lines say about each other, when all of them are in the store. */
		is_loaded = transfer_verify(&snapshot, input, &findings, &fault);
		snapshot_close(&snapshot);
	}
	is_loaded = is_loaded && accounts_restore(loading->directory, input->accounts,
						  (size_t)input->counts.accounts, &fault);
	if (!is_loaded) {
		give_up_load(loading, &fault);
		return EXIT_FAILURE;
	}
	progress_end(&loading->progress);
	if (!load_mark_remove(&loading->mark, &fault))
		return command_failed(loading->command, &fault);
	fprintf(stderr, "Loaded %llu accounts, %llu templates, %llu rooms.\n",
		(unsigned long long)input->counts.accounts,
		(unsigned long long)transfer_count(&input->counts, &template_kind),
		(unsigned long long)transfer_count(&input->counts, &room_kind));
	return EXIT_SUCCESS;
}

int salvage_load(const struct command *command, const char *directory, FILE *file)
{
	struct loading loading = {
		.command = command,
		.directory = directory,
		.file = file,
		.arena = arena_open(),
	};
	int status;

	arena_set_limit(loading.arena, SNAPSHOT_ARENA_MOST);
	load_mark_open(&loading.mark, directory);
	status = load_dump(&loading);
	if (loading.input.taken != NULL)
		transfer_input_close(&loading.input);
	store_close(loading.store);
	roster_close(loading.present);
	arena_close(loading.arena);
	load_mark_close(&loading.mark);
	if (loading.text_capacity > 0)
		explicit_bzero(loading.text, loading.text_capacity);
	free(loading.text);
	return status;
}

/* ---- the command ---- */

/* Loads into the existing directory. */
static int load_into(const struct command *command, const char *directory, FILE *file)
{
	struct fault fault = FAULT_INITIAL;
	struct identity owner;
	bool was_made = false;
	int status;

	if ((!store_postgres_is_url(directory) &&
	     !process_make_directory(directory, NULL, &was_made, &fault)) ||
	    !data_directory_check(directory, true, &owner, &fault) ||
	    !data_directory_is_ours(directory, &fault) || !data_directory_become(&owner, &fault))
		return command_failed(command, &fault);
	status = salvage_load(command, directory, file);
	if (status != EXIT_SUCCESS && was_made)
		child_remove_tree(command, directory, NULL, false);
	return status;
}

struct replacing {
	const struct command *command;
	const struct replacement *replacement;
	FILE *file;
};

/* Runs in the child. */
static int load_staged(void *context)
{
	const struct replacing *replacing = context;
	const struct replacement *replacement = replacing->replacement;
	struct fault fault = FAULT_INITIAL;

	if (!data_directory_become(&replacement->owner, &fault))
		return command_failed(replacing->command, &fault);
	return salvage_load(replacing->command, replacement->staged, replacing->file);
}

static int load_and_replace(const struct command *command, const char *directory, FILE *file)
{
	struct replacement replacement = REPLACEMENT_INITIAL;
	struct replacing replacing = { command, &replacement, file };
	const struct identity *owner = geteuid() == 0 ? &replacement.owner : NULL;
	struct fault fault = FAULT_INITIAL;
	int status = EXIT_FAILURE;

	child_hold_signals();
	if (replacement_begin(&replacement, directory, true, &fault) &&
	    replacement_stage(&replacement, owner, &fault))
		status = child_run(command, load_staged, &replacing);
	if (status == EXIT_SUCCESS && replacement_finish(&replacement, &fault))
		replacement_report(&replacement);
	if (fault.kind != FAULT_NONE)
		status = command_failed(command, &fault);
	if (replacement.staged[0] != '\0')
		child_remove_tree(command, replacement.staged, owner, false);
	replacement_end(&replacement);
	return status;
}

int command_load(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const char *path; /* NULL for standard input */
	bool replaces = false;
	const struct option_row rows[] = {
		DATA_ROW(&directory),
		REPLACE_ROW(&replaces),
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, &path);
	struct fault fault = FAULT_INITIAL;
	FILE *file;

	if (status != OPTIONS_GO)
		return status;
	if (replaces && !data_directory_is_one(directory, &fault))
		return command_failed(command, &fault);
	file = path == NULL ? stdin : fopen(path, "re");
	if (file == NULL) {
		fault_cause(&fault, FAULT_BAD_REQUEST, errno, "cannot open %s", path);
		return command_failed(command, &fault);
	}
	status = replaces ? load_and_replace(command, directory, file)
			  : load_into(command, directory, file);
	if (path != NULL)
		(void)fclose(file);
	return status;
}
