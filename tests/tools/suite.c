/* Runs a suite.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "suite.h"

#include <check.h>
#include <stdlib.h>

int suite_run(struct Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int suite_run_in_one(struct Suite *suite)
{
	setenv("CK_FORK", "no", 0);
	return suite_run(suite);
}
