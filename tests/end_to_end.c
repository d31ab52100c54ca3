/*
 * The cases of tests/cases over the wire (tests/wire.h). Left out where there is no nginx.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "wire.h"

int main(void)
{
	struct wire wire;
	int status = wire_begin(&wire);

	if (status != EXIT_SUCCESS)
		return status;
	status = case_main(&wire.transport);
	return wire_end(&wire) ? status : EXIT_FAILURE;
}
