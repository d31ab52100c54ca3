/* The parts of a store as check, stat and backup open them: of one moment, without changing
 * anything. Included by inspect.c and backup.c only.
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
	struct stack_file **files; /* as in the manifest; NULL: could not be opened, and why: */
	struct fault *faults;
	struct journal_options journal;
	struct journal_end end;
};

/* False: there is no store, or its manifest or journal cannot be read. Damage is described in
 * *inspection. */
bool inspection_open(const char *directory, const struct file_system *files,
		     struct inspection *inspection, struct fault *fault);
void inspection_close(struct inspection *inspection);

#endif
