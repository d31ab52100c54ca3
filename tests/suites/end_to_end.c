/*  The cases of tests/cases over the wire (tests/tools/wire.h): with a directory, and with a
 * database that two responders share in turn. Skipped if there is no nginx.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "database.h"
#include "wire.h"

static int run(void)
{
	struct wire wire;
	int status = wire_begin(&wire);

	if (status != EXIT_SUCCESS)
		return status;
	status = case_main(&wire.transport);
	return wire_end(&wire) ? status : EXIT_FAILURE;
}

int main(void)
{
	int status = run(), status_database = EXIT_SUCCESS;

	if (status == WIRE_SKIPPED || !wire_use_database())
		return status;
	puts("The same, by two responders over PostgreSQL:");
	status_database = run();
	database_stop();
	return status == EXIT_SUCCESS ? status_database : status;
}
