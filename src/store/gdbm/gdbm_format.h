/* The structures of a GDBM file, as libgdbm 1.23 writes and reads them. Numbers have the byte order
 * of the machine and the sizes of int and off_t; a libgdbm built with another off_t refuses the
 * magic number.
 *
 * GDBM hashes keys to 31 bits. The directory has 2^directory_bits offsets: entry i is that of the
 * bucket for the hashes whose first bits are i. A bucket of fewer bits has several adjacent
 * directory entries. A bucket is a hash table with linear probing, which starts at hash %
 * bucket_places and ends at an unused place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_GDBM_FORMAT_H
#define STORE_GDBM_GDBM_FORMAT_H

#include <assert.h>
#include <sys/types.h>

#define GDBM_HASH_BITS 31
#define GDBM_KEY_START 4
#define GDBM_BUCKET_FREE 6

static_assert(sizeof(off_t) == 8 || sizeof(off_t) == 4, "libgdbm knows two sizes");
#define GDBM_MAGIC (sizeof(off_t) == 8 ? 0x13579acf : 0x13579acd)

struct gdbm_free_place {
	int size;
	off_t at;
};

/* At the start of the file. */
struct gdbm_header {
	int magic;
	int block_size;
	off_t directory;
	int directory_size; /* in bytes */
	int directory_bits;
	int bucket_size; /* in bytes */
	int bucket_places;
	off_t end; /* of the used bytes */
	/* Reusable space: slots in the header, how many are used, offset of further ones. */
	int free_most;
	int free_count;
	off_t free_next;
	struct gdbm_free_place free[1];
};

/* Where a key and its value are. */
struct gdbm_place {
	int hash; /* -1 if the place is unused */
	char key_start[GDBM_KEY_START];
	off_t at; /* of the key; the value follows it */
	int key_size;
	int value_size;
};

/* Followed by `bucket_places` places. */
struct gdbm_bucket_head {
	int free_count;
	struct gdbm_free_place free[GDBM_BUCKET_FREE];
	int bits;
	int count;
};

#endif
