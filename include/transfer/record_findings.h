/* Checks the records of a store, for `anteroom check` and after a load: each record against its
 * rows and against what resources/record_kind.h requires of its kind. The store checks its indexes
 * itself (store_gdbm_check_indexes).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_RECORD_FINDINGS_H
#define TRANSFER_RECORD_FINDINGS_H

#include "accounts/roster.h"
#include "resources/record_kind.h"
#include "transfer/snapshot.h"

/* Receives the findings; the caller's struct begins with it. */
struct record_findings {
	/* kind: its name; key: as text, never a code; problem: a sentence without a full stop. */
	void (*report)(struct record_findings *findings, const char *kind, const char *key,
		       const char *problem);
	const struct roster *roster; /* of the accounts file; NULL if that cannot be read */
	json_t *unknown_accounts; /* reported accounts; the caller releases it */
	uint64_t count; /* number of reported findings */
};

/* Checks a record of the call's account. Reports damage that it meets as a finding too. */
void record_findings_report(struct call *call, const struct record_kind *kind, void *record,
			    struct record_findings *findings);
/* Does the same for a stored record of any account, and checks that the account exists. Releases
 * the values that it read. */
void record_findings_report_stored(struct snapshot *snapshot, const struct store_kind *kind,
				   const struct store_record *stored,
				   struct record_findings *findings);

#endif
