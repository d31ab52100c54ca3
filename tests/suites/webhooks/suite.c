/* The suite of webhooks; see hooks.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>

#include "fast_disk.h"
#include "hooks.h"
#include "suite.h"

int main(void)
{
	Suite *suite = suite_create("webhooks");
	TCase *calls = tcase_create("calls");
	TCase *sent = tcase_create("deliveries");
	TCase *damaged = tcase_create("damage");

	if (!sender_is_built())
		return 77;
	tcase_add_checked_fixture(calls, set_up, tear_down);
	tcase_add_checked_fixture(sent, set_up, tear_down);
	tcase_add_checked_fixture(damaged, set_up, tear_down);
	tcase_set_timeout(sent, 60);
	tcase_set_timeout(damaged, 60);
	add_endpoints(calls);
	add_deliveries(sent);
	add_once(sent);
	add_damage(sent, damaged);
	suite_add_tcase(suite, calls);
	suite_add_tcase(suite, sent);
	suite_add_tcase(suite, damaged);
	fast_disk();
	return suite_run(suite);
}
