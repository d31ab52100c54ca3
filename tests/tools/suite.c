/* Runs a suite.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "suite.h"

#define MARKS 300

/* What UBSan finds in a build of tests/run is an illegal instruction; AddressSanitizer prints its
 * line, also for who runs a suite by hand. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "handle_sigill=1";
}

void suite_mark(const char *file, int line)
{
	static atomic_int marks;

	if (atomic_load_explicit(&marks, memory_order_relaxed) >= MARKS)
		return;
	atomic_fetch_add_explicit(&marks, 1, memory_order_relaxed);
	(_mark_point)(file, line);
}

int suite_run_apart(struct Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int suite_run(struct Suite *suite)
{
	setenv("CK_FORK", "no", 0);
	return suite_run_apart(suite);
}

bool suite_draws(size_t n)
{
	const char *one_of = getenv("ONE_OF"), *seed = getenv("SEED");
	const unsigned long rows = one_of == NULL ? 0 : strtoul(one_of, NULL, 10);

	return rows <= 1 || (n + (seed == NULL ? 0 : strtoul(seed, NULL, 10))) % rows == 0;
}
