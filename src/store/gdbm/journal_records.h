/* Records of a journal in memory, as they will be in the file: gathered, cut into groups, given a
 * head. Used by the journal alone; nothing here locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_RECORDS_H
#define STORE_GDBM_JOURNAL_RECORDS_H

#include "store/gdbm/entry_key.h"

/* Whole records behind a gap of SEGMENT_BLOCK and GROUP_HEAD bytes; there is room for SEGMENT_BLOCK
 * more behind them. */
struct records {
	char *bytes;
	size_t size;
	size_t capacity;
	size_t done; /* bytes that are on disk already, the gap included */
};

/* Bytes of a record of these changes, without padding. */
size_t records_size(const struct change *changes, size_t n);

void records_add(struct records *records, uint64_t number, const struct change *changes, size_t n);
/* Empties; a buffer that had to grow much is given back. */
void records_clear(struct records *records);
void records_free(struct records *records);

/* The records that fit into so much room: their bytes, how many, the last number. */
struct part {
	size_t size;
	size_t n;
	uint64_t first;
	uint64_t last;
};

/* Of those that are not done. */
struct part records_that_fit(const struct records *records, size_t room);

/* Where in a segment of `size` bytes a group goes, and what is there already. */
struct group_place {
	size_t used;
	size_t size;
	const char *block; /* the block that `used` is in, as far as it is used */
};

/* What is written for a group: `used` and the end of the group are within. */
struct group_span {
	char *bytes;
	size_t size;
	size_t offset;
	size_t used; /* of the segment, with the group */
	const char *block; /* the block that `used` is in */
};

/* The part as a group with its head, in whole blocks: behind what its first block has already, and
 * with zeros up to the end of its last, but for a part that others follow and the end of the
 * segment. What is added goes into the bytes before the part's first record, which are the gap or
 * have been written, and behind its last. */
struct group_span records_group(struct records *records, const struct part *part,
				const struct installation *installation, uint64_t durable,
				const struct group_place *place);

#endif
