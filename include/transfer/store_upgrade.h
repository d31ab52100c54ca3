/* Converts the records of a store to those of this program (records/upgrade.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_STORE_UPGRADE_H
#define TRANSFER_STORE_UPGRADE_H

#include "records/upgrade.h"

/* Receives the progress; the caller's struct begins with it. */
struct store_upgrade_watch {
	/* Called from time to time, and at the end. NULL is allowed. */
	void (*progress)(struct store_upgrade_watch *watch, uint64_t done, uint64_t all);
};

/* Counts the records that must be converted. number: that of the form of the store. */
bool store_upgrade_count(struct store *store, const struct record_upgrades *upgrades,
			 unsigned number, uint64_t *count, struct fault *fault);
/* Converts all of them, in transactions of bounded size. When it returns true, everything is
 * durable. Nobody else may use the store, and after a fault it must be given up: some records are
 * converted, and others are not. */
bool store_upgrade_records(struct store *store, const struct record_upgrades *upgrades,
			   unsigned number, struct store_upgrade_watch *watch, struct fault *fault);

#endif
