/* See kit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "fast_disk.h"
#include "kit.h"

int main(void)
{
	Suite *suite = suite_create("recordings");
	TCase *const merge = tcase_create("merge"), *const reports = tcase_create("reports");

	suite_add_tcase(suite, merge);
	suite_add_tcase(suite, reports);
	tcase_set_timeout(reports, 60);
	add_merge(merge);
	add_reports(reports);
	fast_disk();
	return suite_run(suite);
}
