/* anteroom dump: writes accounts and everything they own as JSON lines (transfer/transfer.h), as
 * they were at one moment. The directory may be in use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "base/memory.h"
#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "command/progress.h"
#include "command/salvage.h"
#include "transfer/transfer.h"

struct dumping {
	struct transfer_output output;
	const struct command *command;
	const char *directory;
	const char *account; /* NULL for all accounts */
	const char *path; /* NULL for standard output */
	FILE *file;
	bool is_salvage;
	uint64_t lost; /* number of objects left out */
	struct progress progress;
};

static bool write_dump_line(struct transfer_output *output, struct slice line, struct fault *fault)
{
	struct dumping *dumping = (struct dumping *)output;

	if (fwrite(line.data, 1, line.size, dumping->file) != line.size ||
	    putc('\n', dumping->file) == EOF)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write the dump");
	progress_show(&dumping->progress,
		      transfer_count(&output->counts, &template_kind) +
			      transfer_count(&output->counts, &room_kind),
		      0);
	return true;
}

static void report_lost(struct transfer_output *output, const char *what, const char *why)
{
	struct dumping *dumping = (struct dumping *)output;

	progress_end(&dumping->progress);
	command_complain(dumping->command, "lost: %s: %s", what, why);
	dumping->lost++;
}

static void report_lost_file(void *context, const char *file, const char *what)
{
	struct dumping *dumping = context;

	report_lost(&dumping->output, file, what);
}

/* The store is opened first, so that every account with records in it is in the accounts file. */
static bool dump_all(struct dumping *dumping, struct fault *fault)
{
	const struct store_options options = {
		.is_read_only = true,
		.salvage = dumping->is_salvage ? report_lost_file : NULL,
		.salvage_context = dumping,
	};
	const struct account *only = NULL;
	struct store *store = NULL;
	struct roster *roster = NULL;
	struct snapshot snapshot;
	bool is_dumped;

	if (dumping->is_salvage)
		dumping->output.lost = report_lost;
	progress_begin(&dumping->progress, dumping->command, "templates and rooms written");
	is_dumped = data_directory_open_store(dumping->directory, options, &store, fault) &&
		    accounts_list(dumping->directory, &roster, fault) &&
		    (dumping->account == NULL ||
		     (only = accounts_find(roster, dumping->account, fault)) != NULL) &&
		    snapshot_open(store, &clock_system, &snapshot, fault);
	if (is_dumped) {
		is_dumped = transfer_write(&snapshot, roster, only, &dumping->output, fault);
		snapshot_close(&snapshot);
	}
	roster_close(roster);
	store_close(store);
	progress_end(&dumping->progress);
	return is_dumped;
}

bool salvage_dump(const struct command *command, const char *directory, FILE *file, uint64_t *lost,
		  struct fault *fault)
{
	struct dumping dumping = {
		.output.line = write_dump_line,
		.command = command,
		.directory = directory,
		.file = file,
		.is_salvage = true,
	};
	bool is_dumped = dump_all(&dumping, fault);

	*lost = dumping.lost;
	if (is_dumped && (fflush(file) != 0 || ferror(file) != 0))
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write the dump");
	return is_dumped;
}

/* ---- output ---- */

static bool open_output(struct dumping *dumping, struct fault *fault)
{
	int file;

	dumping->file = stdout;
	if (dumping->path == NULL)
		return true;
	file = open(dumping->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, errno,
			errno == EEXIST
				? "--output %s already exists; choose another file or remove it"
				: "cannot create --output %s",
			dumping->path);
	dumping->file = memory_check(fdopen(file, "w"));
	return true;
}

int command_dump(const struct command *command, int argc, char **argv)
{
	struct dumping dumping = { .output.line = write_dump_line, .command = command };
	const struct option_row rows[] = {
		DATA_ROW(&dumping.directory),
		{ "account", "ACCOUNT", "only this account (name, ID or access key)",
		  TO_TEXT(&dumping.account) },
		{ "output", "FILE",
		  "the file to write, readable only by its owner (default: standard output)",
		  TO_TEXT(&dumping.path) },
		{ "salvage", NULL,
		  "for a damaged store: writes what can be read, reports what cannot, and exits "
		  "with 3",
		  TO_SWITCH(&dumping.is_salvage) },
	};
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	char name[PROCESS_NAME_SIZE];
	struct account account;
	struct identity owner;
	bool is_dumped, is_written;

	if (status != OPTIONS_GO)
		return status;
	/* The account is looked up first, so that a mistyped name leaves no file behind. */
	if (!data_directory_check(dumping.directory, false, &owner, &fault) ||
	    (dumping.account != NULL &&
	     !accounts_get(dumping.directory, dumping.account, &account, &fault)) ||
	    !open_output(&dumping, &fault))
		return command_failed(command, &fault);
	explicit_bzero(&account, sizeof account);
	is_dumped = data_directory_become(&owner, &fault) && dump_all(&dumping, &fault);
	is_written = fflush(dumping.file) == 0 && ferror(dumping.file) == 0 &&
		     (dumping.path == NULL || fsync(fileno(dumping.file)) == 0);
	if (!is_written)
		fault_cause(&fault, FAULT_UNAVAILABLE, errno, "cannot write the dump");
	if (dumping.path != NULL)
		(void)fclose(dumping.file);
	is_dumped = is_written && is_dumped;
	if (is_dumped && dumping.lost > 0)
		command_complain(
			command,
			"%llu objects were lost; the dump has all others and can be loaded",
			(unsigned long long)dumping.lost);
	if (is_dumped)
		return dumping.lost > 0 ? EXIT_LOST : EXIT_SUCCESS;
	/* The process may have dropped root privileges since it created the file. */
	if (dumping.path != NULL && unlink(dumping.path) != 0)
		command_complain(
			command,
			"--output %s is incomplete and could not be removed by %s: %s; remove it "
			"yourself",
			dumping.path, process_user_name(geteuid(), name), strerror(errno));
	status = command_failed(command, &fault);
	if (fault.kind == FAULT_DAMAGED && !dumping.is_salvage)
		command_complain(
			command,
			"use --salvage to write what can be read; anteroom check shows what is "
			"damaged");
	return status;
}
