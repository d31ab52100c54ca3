/* Checks what the records of a store say about each other, for `anteroom check` and after a load:
 * each against its rows and what resources/record_kind.h knows of its kind. The store checks its
 * indexes itself (store_gdbm_check_indexes).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_RECORD_FINDINGS_H
#define TRANSFER_RECORD_FINDINGS_H

#include "accounts/roster.h"
#include "resources/record_kind.h"
#include "transfer/survey.h"

/* Gets the findings; the caller's struct begins with it. */
struct record_findings {
	/* kind: its name; key: as text, never a code; problem: a sentence without its end. */
	void (*tell)(struct record_findings *findings, const char *kind, const char *key,
		     const char *problem);
	const struct roster *roster; /* of the accounts file; NULL: it cannot be read */
	json_t *unknown_accounts; /* told already; the caller's to release */
	uint64_t count; /* of what was told */
};

/* Checks one record of the call's account, which was read. Damage that is met on the way is a
 * finding too. */
void record_findings_tell(struct call *call, const struct record_kind *kind, void *record,
			  struct record_findings *findings);
/* The same of a stored record of any account, whose account is looked for too. Releases what it
 * read. */
void record_findings_tell_stored(struct survey *survey, const struct store_kind *kind,
				 const struct store_record *stored,
				 struct record_findings *findings);

#endif
