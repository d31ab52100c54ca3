/* The suite of media servers; see kit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "delivery/sender.h"
#include "fast_disk.h"
#include "kit.h"
#include "suite.h"

int main(void)
{
	Suite *suite = suite_create("servers");
	TCase *asked = tcase_create("asked"), *live = tcase_create("live");
	TCase *inside = tcase_create("inside"), *making = tcase_create("making");
	TCase *promises = tcase_create("promises"), *holds = tcase_create("holds");
	TCase *consent = tcase_create("consent"), *deaths = tcase_create("deaths");
	TCase *pools = tcase_create("pools"), *placing = tcase_create("placing");
	TCase *moved = tcase_create("moved");

	tcase_set_timeout(asked, 60);
	tcase_set_timeout(live, 60);
	tcase_set_timeout(promises, 60);
	tcase_set_timeout(making, 60);
	tcase_set_timeout(holds, 60);
	tcase_set_timeout(consent, 60);
	tcase_set_timeout(deaths, 60);
	tcase_set_timeout(pools, 60);
	tcase_set_timeout(moved, 60);
	tcase_set_timeout(placing, 60);
	tcase_add_checked_fixture(asked, set_up, tear_down);
	tcase_add_checked_fixture(live, set_up_kit, tear_down_kit);
	tcase_add_checked_fixture(promises, set_up_kit, tear_down_kit);
	tcase_add_checked_fixture(inside, set_up_kit, tear_down_kit);
	tcase_add_checked_fixture(holds, set_up_kit, tear_down_kit);
	tcase_add_checked_fixture(consent, set_up_kit, tear_down_kit);
	tcase_add_checked_fixture(making, set_up_making, tear_down_kit);
	tcase_add_checked_fixture(pools, set_up, tear_down_kit);
	tcase_add_checked_fixture(moved, set_up, tear_down_kit);
	tcase_add_checked_fixture(placing, set_up_kit, tear_down_kit);
	add_asked(asked);
	add_surveys(live, promises);
	add_acts(live, promises, inside);
	add_door(live, inside);
	add_holds(holds);
	add_inside(live, inside);
	add_events(live);
	add_making(making);
	add_consent(consent);
	add_deaths(deaths);
	add_pools(pools, moved);
	add_placing(placing);
	suite_add_tcase(suite, inside);
	if (sender_is_built()) {
		suite_add_tcase(suite, asked);
		suite_add_tcase(suite, making);
		suite_add_tcase(suite, live);
		suite_add_tcase(suite, promises);
		suite_add_tcase(suite, holds);
		suite_add_tcase(suite, consent);
		suite_add_tcase(suite, deaths);
		suite_add_tcase(suite, pools);
		suite_add_tcase(suite, moved);
		suite_add_tcase(suite, placing);
	}
	fast_disk();
	return suite_run(suite);
}
