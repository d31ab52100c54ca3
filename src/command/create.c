/* anteroom store create: creates an empty store in a new data directory, or in one that lost its
 * store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"
#include "store/postgres/store_postgres.h"

static int create_in_database(const struct command *command, const char *url)
{
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	if (!store_postgres_create(url, &was_made, &fault))
		return command_failed(command, &fault);
	if (!was_made)
		command_remark(command, "the database has a store already; nothing was changed");
	return EXIT_SUCCESS;
}

int command_store_upgrade(const struct command *command, int argc, char **argv)
{
	const char *url = NULL;
	const struct option_row rows[] = { STORE_ROW(&url) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	int version;

	if (status != OPTIONS_GO)
		return status;
	if (url == NULL) {
		command_complain(command, "--store is missing: a data directory needs no upgrade");
		return EXIT_WRONG_USE;
	}
	if (!store_postgres_upgrade(url, &version, &fault))
		return command_failed(command, &fault);
	command_remark(command, "the store has version %d, the newest; nothing was changed",
		       version);
	return EXIT_SUCCESS;
}

int command_store_create(const struct command *command, int argc, char **argv)
{
	const char *directory = NULL;
	const struct option_row rows[] = { DATA_ROW(&directory) };
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	if (status != OPTIONS_GO)
		return status;
	if (store_postgres_is_url(directory))
		return create_in_database(command, directory);
	if (!process_make_directory(directory, NULL, &was_made, &fault) ||
	    !data_directory_create_store(directory, &fault))
		return command_failed(command, &fault);
	if (was_made)
		command_remark(command, "made the directory %s", directory);
	return EXIT_SUCCESS;
}
