/* The mark of an unfinished load: a file of the data directory that names the accounts whose records
 * may be in the store although the accounts file does not have them. It is on the disk before the
 * first of these records is, and is removed when they are all visible, or all gone. So a load that
 * ends in the middle leaves it, and the next one knows what to remove.
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
	int file; /* -1: this load has made none */
	uint64_t accounts; /* how many are named in it */
};

/* Makes no file yet. Every one that was opened is closed. */
void load_mark_open(struct load_mark *mark, const char *directory);
/* The file stays as it is. */
void load_mark_close(struct load_mark *mark);

/* A load begins. */
bool load_mark_make(struct load_mark *mark, struct fault *fault);
/* Names the accounts that were read since; when it returns, the disk has them. */
bool load_mark_name(struct load_mark *mark, const struct transfer_input *input,
		    struct fault *fault);
bool load_mark_remove(const struct load_mark *mark, struct fault *fault);

/* What an earlier load left, to be read and closed by load_mark_read; *former NULL: nothing. */
bool load_mark_find(const struct load_mark *mark, FILE **former, struct fault *fault);
typedef bool load_mark_visit(void *context, const struct id *account, struct fault *fault);
/* Calls `visit` for each account that the mark names, until it fails. */
bool load_mark_read(const struct load_mark *mark, FILE *former, load_mark_visit *visit,
		    void *context, struct fault *fault);

#endif
