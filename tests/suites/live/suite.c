/* The suite of live rooms; see script.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "fast_disk.h"
#include "script.h"
#include "suite.h"

int main(void)
{
	Suite *suite = suite_create("live");
	TCase *const cases[] = {
		tcase_create("news"),	  tcase_create("records"), tcase_create("doors"),
		tcase_create("meetings"), tcase_create("entry"),
	};

	for (int i = 0; i < ROWS(cases); i++) {
		tcase_add_checked_fixture(cases[i], set_up, tear_down);
		suite_add_tcase(suite, cases[i]);
	}
	tcase_set_timeout(cases[1], 60);
	add_reports(cases[0]);
	add_places(cases[0]);
	add_records(cases[1]);
	add_names(cases[1]);
	add_events(cases[1]);
	add_doors(cases[2]);
	add_meetings(cases[3]);
	add_entry_rules(cases[4]);
	fast_disk();
	return suite_run(suite);
}
