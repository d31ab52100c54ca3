/* Bytes that go into a file one behind the other, in blocks of 64 KB, of each of which the checksum
 * is kept: what the two files of the stack are written with.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_BLOCK_WRITER_H
#define STORE_GDBM_BLOCK_WRITER_H

#include <stdint.h>

#include "store/gdbm/file.h"

#define STACK_BLOCK ((size_t)64 << 10)

struct block_writer {
	const struct file_system *files;
	int file; /* the caller's */
	uint64_t start; /* where in the file the first block is */
	uint64_t size; /* bytes behind it, those that are not written yet included */
	uint64_t sent; /* of them, how many were written out (file_write_out) */
	char *sums; /* CRC32C of each block, 4 bytes, little-endian; from malloc, the caller's to free */
	size_t n_sums;
	char block[STACK_BLOCK];
};

/* bytes NULL: zeros. False and errno: it could not be written; *is_broken as in file_sync. */
bool block_append(struct block_writer *writer, const void *bytes, size_t size, bool *is_broken);
/* Writes the last block, which may be shorter; nothing can be appended behind it. */
bool block_end(struct block_writer *writer);

#endif
