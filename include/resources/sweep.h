/* Removes records that have come to their end: those of kinds with a row AS_END (records/record.h),
 * after the time for which the kind keeps them (resources/record_kind.h). What belongs to them is
 * removed with them, and they are no longer counted.
 *
 * Each call takes a bounded number of records. The caller (background/live_watch.c) makes each call
 * in a transaction of its own, so that others can write in between.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_SWEEP_H
#define RESOURCES_SWEEP_H

#include "resources/record_kind.h"

/* Records of a kind that one call removes. */
#define SWEPT_AT_ONCE 16

/* Removes some records of the kind in the account; *n is their number. */
bool sweep_kind(struct call *call, const struct record_kind *kind, size_t *n, struct fault *fault);
/* Removes some of all kinds, and of what is left of deleted records. *is_last: no more are due. */
bool sweep_account(struct call *call, bool *is_last, struct fault *fault);

#endif
