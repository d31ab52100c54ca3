/* What check, stat and backup look at: a store's parts of one moment, opened without changing
 * anything. Used by inspect.c and backup.c alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_INSPECTION_H
#define STORE_GDBM_INSPECTION_H

#include "store/gdbm/journal.h"
#include "store/gdbm/manifest.h"
#include "store/gdbm/merge.h"

struct inspection {
	struct stack_place place;
	struct manifest manifest;
	struct stack_file **files; /* as in the manifest; NULL: not to be opened, and why: */
	struct fault *faults;
	struct journal_options journal;
	struct journal_end end;
};

/* False: no store, or one whose manifest or journal cannot be read. Damage is in what it gives. */
bool inspection_open(const char *directory, const struct file_system *files,
		     struct inspection *inspection, struct fault *fault);
void inspection_close(struct inspection *inspection);

#endif
