/* Looks up keys in a mapped, immutable GDBM file (store/gdbm/gdbm_format.h).
 *
 * libgdbm reads the same files, but copies the bucket (4 KB), the key and the value for each
 * look-up, and needs a directory and a mapping for each thread, which took 40 % of the time of a
 * list. This reader copies nothing, and all threads share one mapping.
 *
 * The bytes are not trusted, and nothing outside of them is read. In a damaged file a value may be
 * wrong, which its owner notices by its checksum, or a key may seem absent. "Absent" is therefore
 * returned only if all blocks on which it is based are verified: those of the header, the directory
 * entry, the bucket, and each other key with the same hash.
 *
 * Threads: any.
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
	uint64_t first_block; /* the number of the file's first block in `blocks` */
};

/* Opens a GDBM file whose bytes and block states stay the caller's. False if it is not a GDBM file
 * in this machine's format. */
bool gdbm_reader_open(struct gdbm_reader *reader, struct slice file,
		      const struct stack_blocks *blocks, uint64_t first_block);

/* Returns the offset of the bucket for a key of this order (entry_key_order), or 0 if the offset is
 * outside the file. In a file written by gdbm_writer, the keys of a bucket come before it. */
size_t gdbm_reader_bucket(const struct gdbm_reader *reader, uint32_t order);

enum gdbm_answer { GDBM_FOUND, GDBM_ABSENT, GDBM_DAMAGED, GDBM_REFUSED, GDBM_UNVERIFIED };

/* Looks up a key. GDBM_FOUND: *value borrows from the file; the caller verifies the value's
 * checksum, so damaged blocks do not matter. GDBM_DAMAGED: verified blocks refer to bytes outside
 * the file. GDBM_REFUSED: the key was not found, but a block that this is based on is damaged.
 * GDBM_UNVERIFIED: the key was not found, but the state of *block, which this is based on, is
 * unknown; the caller verifies that block and searches again. */
enum gdbm_answer gdbm_reader_find(const struct gdbm_reader *reader, struct slice key,
				  struct slice *value, uint64_t *block);

#endif
