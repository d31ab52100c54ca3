/* Checks what the records of a store say about each other, for `anteroom check`: templates and
 * their parts, rooms and their templates, codes and their rooms, groups and roles, and all of them
 * and the accounts file. The store checks its indexes itself (store_gdbm_check_indexes).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_RECORD_CHECK_H
#define TRANSFER_RECORD_CHECK_H

#include "accounts/roster.h"
#include "transfer/survey.h"

/* Gets the findings; the caller's struct begins with it. */
struct record_findings {
	/* kind: its name; key: as text, never a code; problem: a sentence without its end. */
	void (*tell)(struct record_findings *findings, const char *kind, const char *key,
		     const char *problem);
	const struct roster *roster; /* of the accounts file; NULL: it cannot be read */
	json_t *unknown_accounts; /* told already; the caller's to release */
};

/* Checks one record. Damage that is met on the way is a finding too. Releases what it read. */
void record_check(struct survey *survey, const struct store_kind *kind,
		  const struct store_record *record, struct record_findings *findings);

#endif
