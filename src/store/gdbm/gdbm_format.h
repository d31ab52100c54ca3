/* The structures of a GDBM file, as libgdbm 1.23 writes and reads them: what
 * store/gdbm/gdbm_writer.h makes and store/gdbm/gdbm_reader.h looks at. Numbers have the byte order
 * and the sizes of this machine: int, and off_t as libgdbm was built with it; a library with
 * another off_t does not take the magic number.
 *
 * GDBM hashes keys to 31 bits. The directory has, for each value of a hash's first `directory_bits`
 * bits, where the bucket is of the records whose hashes begin so; one of fewer bits stands there
 * several times. A bucket is a hash table of records' places, with open addressing: a record is
 * looked for from the hash's remainder on, around, until a place that has none.
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
	off_t end; /* of what is used */
	/* Free places: how many the header has room for, how many there are, where there are more. */
	int free_most;
	int free_count;
	off_t free_next;
	struct gdbm_free_place free[1];
};

/* Where a record is. */
struct gdbm_place {
	int hash; /* -1: none */
	char key_start[GDBM_KEY_START];
	off_t at; /* of the key, which its value follows */
	int key_size;
	int value_size;
};

/* `bucket_places` places follow it. */
struct gdbm_bucket_head {
	int free_count;
	struct gdbm_free_place free[GDBM_BUCKET_FREE];
	int bits;
	int count;
};

#endif
