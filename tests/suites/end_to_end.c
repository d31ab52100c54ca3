/* The cases of tests/cases over the wire (tests/tools/wire.h). The argument is a pass: gdbm, a
 * responder with a directory; postgres, a database that two responders share in turn. Without an
 * argument, both. The environment may choose cases (tests/tools/case.h). Skipped if there is no
 * nginx.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "wire.h"

static int run(void)
{
	const struct case_choice choice = case_choice_read();
	struct wire wire;
	int status = wire_begin(&wire);

	if (status != EXIT_SUCCESS)
		return status;
	status = case_main(&wire.transport, &choice);
	return wire_end(&wire) ? status : EXIT_FAILURE;
}

static int run_over_database(void)
{
	int status = EXIT_SUCCESS;

	if (!wire_use_database())
		return status;
	puts("By two responders over PostgreSQL:");
	status = run();
	database_stop();
	return status;
}

int main(int count, char **arguments)
{
	const char *only = count == 2 ? arguments[1] : "";
	int status = EXIT_SUCCESS;

	if (count > 2 ||
	    (*only != '\0' && strcmp(only, "gdbm") != 0 && strcmp(only, "postgres") != 0)) {
		fprintf(stderr, "usage: end_to_end [gdbm|postgres]\n");
		return EXIT_FAILURE;
	}
	if (strcmp(only, "postgres") != 0)
		status = run();
	if (status == WIRE_SKIPPED || strcmp(only, "gdbm") == 0)
		return status;
	return run_over_database() == EXIT_SUCCESS ? status : EXIT_FAILURE;
}
