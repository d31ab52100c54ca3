/* anteroom store create: creates an empty store in a new data directory, or in one that lost its
 * store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "command/command.h"
#include "command/data_directory.h"
#include "command/options.h"

int command_store_create(const struct command *command, int argc, char **argv)
{
	const char *directory;
	enum options_result result = options_parse(command, NULL, 0, argc, argv, &directory);
	struct fault fault = FAULT_INITIAL;
	bool was_made;

	if (result != OPTIONS_GO)
		return options_status(result);
	if (!process_make_directory(directory, NULL, &was_made, &fault) ||
	    !data_directory_create_store(directory, &fault))
		return command_failed(command, &fault);
	if (was_made)
		command_remark(command, "made the directory %s", directory);
	return EXIT_SUCCESS;
}
