/* The suite of the driver for PostgreSQL; see responders.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>

#include "database.h"
#include "responders.h"
#include "suite.h"

int main(void)
{
	const char *none = database_start();
	Suite *suite;
	TCase *calls, *routes_case, *away;
	int status;

	if (none != NULL) {
		printf("%s\n", none);
		return 77;
	}
	suite = suite_create("postgres");
	calls = tcase_create("calls");
	routes_case = tcase_create("routes");
	away = tcase_create("away");
	json_object_seed(0);
	tcase_add_checked_fixture(calls, set_up, tear_down);
	tcase_set_timeout(calls, 60);
	tcase_add_checked_fixture(routes_case, set_up, tear_down);
	tcase_set_timeout(routes_case, 60);
	tcase_add_checked_fixture(away, set_up_server, tear_down_server);
	tcase_set_timeout(away, 60);
	add_trips(calls, routes_case);
	add_connections(calls, away);
	add_sharing(calls);
	add_log(calls);
	add_deaths(calls);
	suite_add_tcase(suite, calls);
	suite_add_tcase(suite, routes_case);
	suite_add_tcase(suite, away);
	status = suite_run(suite);
	database_stop();
	return status;
}
