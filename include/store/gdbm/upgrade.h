/* Upgrades of the durable driver. The records are converted in a second directory beside the store,
 * which shares its stack files; when all of them are, the two exchange their names. So a process
 * that is killed at any moment leaves the earlier store or the upgraded one, and the next attempt
 * begins anew. The earlier store is kept until the next upgrade.
 *
 *     DIR/store           the store
 *     DIR/store.upgrade   is being upgraded; removed at the next attempt
 *     DIR/store.former    as it was before the last upgrade
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_UPGRADE_H
#define STORE_GDBM_UPGRADE_H

#include "store/gdbm/store_gdbm.h"

struct store_gdbm_upgrade;

/* Puts the upgraded store in its place, if an upgrade was killed while no directory was there.
 * *is_unfinished tells whether something else is left of an upgrade that was killed, which
 * store_gdbm_upgrade_begin ends. Takes no lock. Of the options, the directory, the files and the
 * form count. */
bool store_gdbm_upgrade_recover(const struct store_options *options, bool *is_unfinished,
				struct fault *fault);
/* Locks the store, waiting as the options say, makes the second directory and opens it with them.
 * FAULT_UNAVAILABLE if another process uses the store. If the store is already of this form when it
 * is locked, *store is NULL. *number is that of its form. *upgrade must be ended even after a
 * fault. */
bool store_gdbm_upgrade_begin(const struct store_options *options,
			      struct store_gdbm_upgrade **upgrade, struct store **store,
			      unsigned *number, struct fault *fault);
/* Closes the upgraded store, whose changes must be durable, gives it the form, and puts it in the
 * place of the earlier one. */
bool store_gdbm_upgrade_finish(struct store_gdbm_upgrade *upgrade, struct fault *fault);
/* Unlocks the store. */
void store_gdbm_upgrade_end(struct store_gdbm_upgrade *upgrade);

#endif
