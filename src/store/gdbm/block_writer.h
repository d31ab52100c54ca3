/* A sequential writer in blocks of 64 KB, which keeps the checksum of each block. The GDBM file and
 * the index of a stack file are written with it.
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
	uint64_t start; /* offset of the first block in the file */
	uint64_t size; /* bytes appended */
	uint64_t sent; /* bytes that have been written out (file_write_out) */
	char *sums; /* CRC32C of each block, 4 bytes, little-endian; freed by the caller */
	size_t n_sums, sums_capacity;
	char block[STACK_BLOCK];
};

/* Appends bytes, or zeros if `bytes` is NULL. False and errno on failure; *is_broken as in
 * file_sync. */
bool block_append(struct block_writer *writer, const void *bytes, size_t size, bool *is_broken);
/* Appends zeros up to a multiple of this size. */
bool block_pad(struct block_writer *writer, size_t multiple, bool *is_broken);
/* Writes the last block, which may be shorter. Nothing can be appended after it. */
bool block_end(struct block_writer *writer);

#endif
