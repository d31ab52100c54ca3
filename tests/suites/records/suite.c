/* See kit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "database.h"
#include "fast_disk.h"
#include "kit.h"

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *all = tcase_create("drivers"), *some = tcase_create("damage"),
	      *form = tcase_create("form");
	const char *no_database = database_start();
	const int count = DRIVERS - (no_database == NULL ? 0 : 1);
	int status;

	has_database = no_database == NULL;
	if (!has_database)
		printf("without PostgreSQL: %s\n", no_database);
	tcase_add_checked_fixture(all, setup, teardown);
	tcase_set_timeout(all, 60);
	add_examples(all, count);
	add_pages(all, count);
	add_threads(all, count);
	suite_add_tcase(suite, all);
	tcase_add_checked_fixture(some, setup, teardown);
	tcase_set_timeout(some, 60);
	add_drivers(some, count);
	suite_add_tcase(suite, some);
	tcase_add_checked_fixture(form, setup, teardown);
	add_form(form);
	suite_add_tcase(suite, form);
	fast_disk();
	status = suite_run(suite);
	if (has_database)
		database_stop();
	return status;
}
