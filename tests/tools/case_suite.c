/*
 * The cases as a Check suite. The list is read before the suite runs, so that a mistake in a file
 * is reported once. Each file is a test case of Check (CK_RUN_CASE=templates/names runs only that
 * file); each case, or each row of its table, is a test.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* Check passes only an index to a test, so the list and the transport are static. */
static struct case_list *cases;
static struct transport *means;

START_TEST(a_case_passes)
{
	char *report = case_run(cases, (size_t)_i, means);
	char text[3000];

	if (report != NULL) {
		snprintf(text, sizeof text, "%s", report);
		free(report);
		ck_abort_msg("%.300s%s", case_list_name(cases, (size_t)_i), text);
	}
}
END_TEST

static void begin_file(void)
{
	if (means->renew != NULL)
		means->renew(means);
}

static Suite *suite_of(const struct case_list *list, const char *name)
{
	Suite *suite = suite_create(name);

	for (size_t n = 0; n < case_list_count(list);) {
		const char *file = case_list_file(list, n);
		TCase *test = tcase_create(file);
		size_t first = n;

		while (n < case_list_count(list) && strcmp(case_list_file(list, n), file) == 0)
			n++;
		tcase_set_timeout(test, 60);
		tcase_add_unchecked_fixture(test, begin_file, NULL);
		tcase_add_loop_test(test, a_case_passes, (int)first, (int)n);
		suite_add_tcase(suite, test);
	}
	return suite;
}

int case_main(struct transport *transport, const struct case_choice *choice)
{
	const char *source = getenv("SOURCE_DIR");
	char folder[4096];
	int status;

	snprintf(folder, sizeof folder, "%s/tests/cases", source == NULL ? "." : source);
	cases = case_list_open(folder, transport, choice);
	means = transport;
	if (cases == NULL)
		return EXIT_FAILURE;
	/* The cases share the service and its store, which a process for each case would not. */
	setenv("CK_FORK", "no", 1);
	status = suite_run(suite_of(cases, transport->name));
	case_list_close(cases);
	return status;
}
