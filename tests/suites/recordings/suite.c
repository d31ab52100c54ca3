/* See kit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>

#include "database.h"
#include "fast_disk.h"
#include "kit.h"

int main(void)
{
	Suite *suite = suite_create("recordings");
	TCase *const merge = tcase_create("merge"), *const reports = tcase_create("reports");
	TCase *const database = tcase_create("database");
	const char *lacks = database_start();
	int status;

	suite_add_tcase(suite, merge);
	suite_add_tcase(suite, reports);
	tcase_set_timeout(reports, 60);
	add_merge(merge);
	add_reports(reports, false);
	if (lacks == NULL) {
		suite_add_tcase(suite, database);
		tcase_set_timeout(database, 120);
		add_reports(database, true);
	} else {
		fprintf(stderr, "not over a database: %s\n", lacks);
	}
	fast_disk();
	status = suite_run(suite);
	if (lacks == NULL)
		database_stop();
	return status;
}
