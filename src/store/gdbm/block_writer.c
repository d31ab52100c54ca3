/* See store/gdbm/block_writer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/block_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/encode.h"
#include "base/memory.h"

/* Writes the block, which holds the last `size` bytes. */
static bool block_write(struct block_writer *writer, size_t size)
{
	const off_t at = (off_t)(writer->start + writer->size - size);

	writer->sums = memory_room(writer->sums, 4 * (writer->n_sums + 1), &writer->sums_capacity,
				   1);
	encode_32(writer->sums + 4 * writer->n_sums, checksum(0, writer->block, size));
	writer->n_sums++;
	return file_write_all(writer->files, writer->file, writer->block, size, at);
}

bool block_append(struct block_writer *writer, const void *bytes, size_t size, bool *is_broken)
{
	const char *from = bytes;

	while (size > 0) {
		size_t in_block = (size_t)(writer->size % STACK_BLOCK);
		size_t n = STACK_BLOCK - in_block;
		uint64_t sent = writer->sent;

		if (n > size)
			n = size;
		if (from == NULL) {
			memset(writer->block + in_block, 0, n);
		} else {
			memcpy(writer->block + in_block, from, n);
			from += n;
		}
		writer->size += n;
		size -= n;
		if (in_block + n < STACK_BLOCK)
			continue;
		if (!block_write(writer, STACK_BLOCK))
			return false;
		if (writer->size - sent < FILE_PIECE)
			continue;
		writer->sent = writer->size;
		if (!file_write_out(writer->files, writer->file, (off_t)(writer->start + sent),
				    (off_t)(writer->size - sent), is_broken))
			return false;
	}
	return true;
}

bool block_pad(struct block_writer *writer, size_t multiple, bool *is_broken)
{
	const size_t over = (size_t)(writer->size % multiple);

	return over == 0 || block_append(writer, NULL, multiple - over, is_broken);
}

bool block_end(struct block_writer *writer)
{
	size_t in_block = (size_t)(writer->size % STACK_BLOCK);

	return in_block == 0 || block_write(writer, in_block);
}
