/* Finding records in a GDBM file that lies in memory and does not change
 * (store/gdbm/gdbm_format.h).
 *
 * libgdbm would do it too, and read the same files. But it copies for each record the bucket (4 KB)
 * and the record, before it copies the value for its caller, and has a copy of the directory and a
 * mapping for each thread that reads: that was two fifths of what a list costs. Here nothing is
 * copied, and all threads share one mapping.
 *
 * The bytes are not trusted: whatever they say, nothing outside them is looked at. A damaged file
 * may give a wrong value: its owner has a checksum of each. It may also seem not to have a key. So
 * that a key is absent is answered only when all blocks that this rests on have been verified:
 * those of the header, of the directory's entry, of the bucket, and of each record with the same
 * hash and another key.
 *
 * Threads: any number at once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_GDBM_READER_H
#define STORE_GDBM_GDBM_READER_H

#include "base/slice.h"
#include "store/gdbm/stack_blocks.h"

struct gdbm_reader {
	struct slice file;
	size_t directory;
	unsigned directory_bits;
	size_t bucket_size;
	size_t bucket_places;
	const struct stack_blocks *blocks;
	uint64_t first_block; /* the number in them of the file's first */
};

/* The bytes and the states of their blocks stay the caller's, and where they are. False: it is no
 * GDBM file of this machine's kind. */
bool gdbm_reader_open(struct gdbm_reader *reader, struct slice file,
		      const struct stack_blocks *blocks, uint64_t first_block);

/* The key will be looked for in a moment: its place in the bucket is fetched from memory meanwhile. */
void gdbm_reader_expect(const struct gdbm_reader *reader, struct slice key);

/* The place of the bucket that a key of this order (entry_key_order) would be in, behind whose
 * records it lies in a file of gdbm_writer's; 0: the file does not have it. */
size_t gdbm_reader_bucket(const struct gdbm_reader *reader, uint32_t order);

enum gdbm_answer { GDBM_FOUND, GDBM_ABSENT, GDBM_DAMAGED, GDBM_REFUSED, GDBM_UNVERIFIED };

/* FOUND: *value is in the file's bytes; the caller compares its checksum, so a damaged block beside
 * it does not matter. DAMAGED: the file refers to bytes that it does not have, although the blocks
 * that say so are right. REFUSED: the key was not found, and a block that this depends on is
 * damaged. UNVERIFIED: the key was not found, and the state of *block, which this depends on, is
 * unknown; the caller verifies it and asks again. */
enum gdbm_answer gdbm_reader_find(const struct gdbm_reader *reader, struct slice key,
				  struct slice *value, uint64_t *block);

#endif
