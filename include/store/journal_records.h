/* Records of a journal in memory, as they will be in the file: gathered, cut into groups, given a
 * head. Used by the journal alone; nothing here locks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_JOURNAL_RECORDS_H
#define STORE_JOURNAL_RECORDS_H

#include "store/record.h"

/* Whole records behind a gap of GROUP_HEAD bytes. */
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

/* The part as a group with its head, GROUP_HEAD + part->size bytes. The head goes into the bytes
 * before its first record, which are the gap or have been written. */
const char *records_group(struct records *records, const struct part *part,
			  const struct installation *installation, uint64_t durable);

#endif
