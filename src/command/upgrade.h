/* Upgrades the data of an earlier version, in a directory or a database. `serve` does so when it
 * starts, if that takes little time; `anteroom store upgrade` does it whenever it is told to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_UPGRADE_H
#define COMMAND_UPGRADE_H

#include "resources/record_kind.h"
#include "transfer/store_upgrade.h"

/* Records that `serve` converts at most, which takes less than a minute: 12,000 a second were
 * converted in a directory, and 6,000 in a database, on two busy cores with sanitizers. */
#define UPGRADE_AT_START 300000

struct upgrade_order {
	const char *path; /* the data directory, or the URL of the database */
	const struct record_upgrades *upgrades;
	const struct store_form *form;
	unsigned wait; /* milliseconds to wait for the process that uses the directory */
	bool (*gives_up)(void); /* called while waiting; NULL for never */
	uint64_t most; /* refuses to convert more records than these; 0 for no limit */
	struct store_upgrade_watch *watch;
};

struct upgrade_outcome {
	bool was_done; /* false if the data had the form of the program */
	uint64_t records; /* that were converted */
};

/* Ends what an upgrade that was killed has left, converts the records if there are earlier ones,
 * and gives the data the form of the program. After a fault the data are as before. */
bool upgrade_data(const struct upgrade_order *order, struct upgrade_outcome *outcome,
		  struct fault *fault);
/* Puts a store in its place if an upgrade was killed while there was none. */
bool upgrade_recover(const char *path, const struct store_form *form, bool *is_unfinished,
		     struct fault *fault);

#endif
