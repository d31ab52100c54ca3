/* Compares the folder of recordings with the records, for `anteroom check --files`. It changes
 * nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_FOLDER_FINDINGS_H
#define TRANSFER_FOLDER_FINDINGS_H

#include "transfer/snapshot.h"

/* path: in the folder. problem: a sentence without a full stop. */
typedef void folder_report(void *context, const char *path, const char *problem);

/* Reports each file of a recording that is missing, each finished file that no record knows, and
 * each folder of parts that no recording knows. Fails with FAULT_BAD_REQUEST if the folder has no
 * id, and as the store. */
bool folder_findings(struct snapshot *snapshot, const char *folder, folder_report *report,
		     void *context, struct fault *fault);

#endif
