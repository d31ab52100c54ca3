/* What the records of a store say of each other, for `anteroom check`. Every record is looked at on
 * its own and together with what it leads to: templates and rooms with their names, both ways; lists
 * with what they list, both ways and in order; codes with their rooms, both ways; rooms with their
 * templates, codes with their roles; everything with the counters and the accounts file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_RECORD_CHECK_H
#define TRANSFER_RECORD_CHECK_H

#include "accounts/roster.h"
#include "transfer/survey.h"

/* Who is told of findings; embeds this first. */
struct record_findings {
	/* key: as text, never a code; problem: a sentence without its end. */
	void (*tell)(struct record_findings *findings, enum store_table table, const char *key,
		     const char *problem);
	const struct roster *roster; /* of the accounts file; NULL: that cannot be read */
};

/* Looks at one record. Damage met on the way is a finding too. Forgets what it read. */
void record_check(struct survey *survey, enum store_table table, struct slice key,
		  struct slice value, struct record_findings *findings);

#endif
