/* The mark of an unfinished load: a file in the data directory with the IDs of accounts whose
 * records may be in the store although they are not in the accounts file. It is on the disk before
 * the first of these records, and is removed when all of them are visible or removed. An
 * interrupted load leaves it behind, so the next load knows what to remove.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_LOAD_MARK_H
#define COMMAND_LOAD_MARK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "transfer/transfer.h"

struct load_mark {
	const char *directory; /* borrowed */
	char *path;
	int file; /* -1 if this load has not created the file */
	FILE *former; /* the mark of an earlier load; NULL if none was found */
	uint64_t accounts; /* number of accounts in it */
	/* Only for a database, which stores the mark itself. */
	struct store_load *load;
	struct arena *arena;
	struct buffer text;
};

/* Opens a mark without creating its file. Every open mark must be closed. */
void load_mark_open(struct load_mark *mark, const char *directory);
/* Closes the mark and keeps the file. */
void load_mark_close(struct load_mark *mark);

/* Creates the file. */
bool load_mark_make(struct load_mark *mark, struct fault *fault);
/* Adds the accounts read since the last call. They are on the disk when it returns. */
bool load_mark_name(struct load_mark *mark, const struct transfer_input *input,
		    struct fault *fault);
bool load_mark_remove(const struct load_mark *mark, struct fault *fault);

/* Finds the mark of an earlier load. */
bool load_mark_find(struct load_mark *mark, bool *is_there, struct fault *fault);
/* Reads the next account in it. Returns false at the end and after a fault. */
bool load_mark_next(const struct load_mark *mark, struct id *account, struct fault *fault);

#endif
