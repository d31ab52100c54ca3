/* Replaces a data directory as a whole, for `restore` and `load --replace`. The new contents are
 * written into a directory next to it, which then takes its name by one rename(2): at every moment
 * the name leads to the old contents or to the new contents.
 *
 * Meanwhile the old directory is locked, so that no service uses it and no command changes its
 * accounts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_REPLACEMENT_H
#define COMMAND_REPLACEMENT_H

#include <limits.h>
#include <stdbool.h>

#include "base/fault.h"
#include "command/command.h"
#include "command/process.h"

struct replacement {
	char path[PATH_MAX]; /* absolute, without links */
	char staged[PATH_MAX]; /* where the new contents are written; empty if not created */
	char former[PATH_MAX]; /* where the old contents are kept; empty if there were none */
	bool is_there; /* the directory exists */
	bool is_empty;
	struct identity owner; /* owner of the directory; if there is none, the caller sets it */
	mode_t mode;
	int store_lock, accounts_lock; /* -1 if not held */
};

#define REPLACEMENT_INITIAL ((struct replacement){ .store_lock = -1, .accounts_lock = -1 })

#define REPLACE_ROW(to) \
	{ \
		"replace", NULL, \
			"replaces what is in DIR; keeps the old contents next to it, in DIR.before-TIME", \
			TO_SWITCH(to) \
	}

/* Examines the directory, which need not exist, and locks it. replaces: it may have contents.
 * FAULT_BAD_REQUEST if it has contents and `replaces` is false, if its contents are not those of a
 * data directory, or if it cannot be replaced by a rename; FAULT_UNAVAILABLE if it is in use.
 * replacement_end must be called in any case. */
bool replacement_begin(struct replacement *replacement, const char *path, bool replaces,
		       struct fault *fault);
/* Creates the directory `staged` with mode 0700. owner: NULL for the current user. */
bool replacement_stage(struct replacement *replacement, const struct identity *owner,
		       struct fault *fault);
/* Gives everything in `staged` its owner and mode, and puts it in place durably. Sets `former`. */
bool replacement_finish(struct replacement *replacement, struct fault *fault);
/* Prints where the old contents are. */
void replacement_report(const struct replacement *replacement);
/* Releases the locks. */
void replacement_end(struct replacement *replacement);

#endif
