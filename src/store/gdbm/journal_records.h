/* A buffer of journal records in the format of the file. A journal record is the log record of one
 * transaction, not a record of the store's interface.
 *
 * Threads: callers lock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_RECORDS_H
#define STORE_GDBM_JOURNAL_RECORDS_H

#include "store/gdbm/entry_key.h"

/* Complete records after a gap of SEGMENT_BLOCK + GROUP_HEAD bytes, with SEGMENT_BLOCK spare bytes
 * at the end. */
struct journal_records {
	char *bytes;
	size_t size;
	size_t capacity;
	size_t done; /* bytes already on disk, including the gap */
};

/* The size of a record of these changes, without padding. */
size_t journal_records_size(const struct change *changes, size_t n);

void journal_records_add(struct journal_records *records, uint64_t number,
			 const struct change *changes, size_t n);
/* Empties the buffer. */
void journal_records_clear(struct journal_records *records);
void journal_records_free(struct journal_records *records);

/* Consecutive records that are written together. */
struct record_group {
	size_t size;
	size_t n;
	uint64_t first;
	uint64_t last;
};

/* Returns the records after `done` that fit into `room` bytes together with a group head. */
struct record_group journal_records_that_fit(const struct journal_records *records, size_t room);

/* Where a group will be written: offset and size of the segment. */
struct group_place {
	size_t used;
	size_t size;
	const char *block; /* the used bytes of the block at `used` */
};

/* The bytes to write for a group, and where. */
struct group_span {
	char *bytes;
	size_t size;
	size_t offset;
	size_t used; /* used bytes of the segment, including the group */
	const char *block; /* the contents of the block at `used` */
};

/* Builds the bytes of a group, in whole blocks: the first block begins with its existing contents,
 * and the last one is filled up with zeros, unless other records follow or the segment ends. The
 * added bytes overwrite bytes of the buffer that are already written, the gap, or the spare bytes
 * at the end. */
struct group_span journal_records_group(struct journal_records *records,
					const struct record_group *group,
					const struct installation *installation, uint64_t durable,
					const struct group_place *place);

#endif
