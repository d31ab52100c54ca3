/* See delivery/sender.h: a build without libcurl delivers nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/sender.h"

#include <stdio.h>
#include <stdlib.h>

bool sender_is_built(void)
{
	return false;
}

int sender_run(const char *argument)
{
	fprintf(stderr, "anteroom %s: this build has no libcurl\n", argument);
	return EXIT_FAILURE;
}
