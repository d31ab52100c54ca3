/* The suite of dumps, loads and checks; see life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdlib.h>

#include "fast_disk.h"
#include "fast_keys.h"
#include "life.h"
#include "suite.h"

/* Adds a case that can run alone and lives its own life. */
static TCase *case_with_life(Suite *suite, const char *name, double seconds)
{
	TCase *made = tcase_create(name);

	tcase_add_unchecked_fixture(made, set_up_life, tear_down_life);
	tcase_add_checked_fixture(made, set_up, tear_down);
	tcase_set_timeout(made, seconds);
	suite_add_tcase(suite, made);
	return made;
}

/* The longest tests have cases of their own, so that they can run at the same time. */
int main(void)
{
	Suite *suite = suite_create("transfer");
	TCase *transfer = case_with_life(suite, "transfer", 30);
	TCase *refused = case_with_life(suite, "refused", 60);
	TCase *damaged = case_with_life(suite, "damaged", 240);
	TCase *saved = case_with_life(suite, "saved", 240);
	TCase *check = case_with_life(suite, "check", 240);
	TCase *texts = case_with_life(suite, "texts", 120);
	TCase *kept = case_with_life(suite, "kept", 120);
	TCase *older_texts = case_with_life(suite, "older", 60);
	TCase *every = case_with_life(suite, "every", 120);
	TCase *large = case_with_life(suite, "large", 120);
	TCase *behind = case_with_life(suite, "behind", 60);
	TCase *upgrades = case_with_life(suite, "upgrades", 240);
	TCase *released = tcase_create("released");
	/* Only for tests/tools/keep-data, and so no job of tests/run. */
	const char *const keep = "keep";
	TCase *made = getenv("KEEP_DATA") == NULL ? NULL : case_with_life(suite, keep, 60);
	/* What tests/scripts/new_kind.sh runs. */
	TCase *whole = case_with_life(suite, "whole", 60);

	add_moves(whole, transfer, kept);
	add_refused(refused, transfer, older_texts);
	add_damaged(damaged, check, saved, texts);
	add_kinds(whole);
	add_rows(check, kept, behind);
	add_whole(every, large);
	add_upgrades(upgrades);
	add_kept(made, released);
	tcase_set_timeout(released, 60);
	suite_add_tcase(suite, released);
	fast_disk();
	fast_keys();
	return suite_run(suite);
}
