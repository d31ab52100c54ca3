/* anteroom openapi: prints the document of GET /v2/openapi.json, indented.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "command/command.h"
#include "command/options.h"
#include "service/openapi.h"
#include "service/routes.h"

int command_openapi(const struct command *command, int argc, char **argv)
{
	int status = options_parse(command, NULL, 0, argc, argv, NULL);
	struct arena *arena;

	if (status != OPTIONS_GO)
		return status;
	arena = arena_open();
	(void)json_dumpf(openapi_document(arena, routes), stdout,
			 JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	printf("\n");
	arena_close(arena);
	return command_printed(command);
}
