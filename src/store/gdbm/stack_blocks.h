/* The state of each 64 KB block of a stack file, one byte a block: whether it has been compared
 * with its checksum since the file was opened, and the result. A refused block stays refused. All
 * readers of a file share one array (store/gdbm/stack_file.c): a request need not verify a block
 * again that the scrub has verified.
 *
 * Threads: any. Two may verify the same block, with the same result.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STACK_BLOCKS_H
#define STORE_GDBM_STACK_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/gdbm/block_writer.h"

enum block_state { BLOCK_UNKNOWN, BLOCK_RIGHT, BLOCK_REFUSED };

struct stack_blocks {
	atomic_uchar *states; /* the owner's memory; zero means BLOCK_UNKNOWN */
	atomic_bool has_refused; /* whether any block is BLOCK_REFUSED */
};

static inline enum block_state block_state(const struct stack_blocks *blocks, uint64_t block)
{
	return (enum block_state)atomic_load_explicit(&blocks->states[block], memory_order_acquire);
}

static inline bool blocks_have_refused(const struct stack_blocks *blocks)
{
	return atomic_load_explicit(&blocks->has_refused, memory_order_acquire);
}

/* Marks a block as verified, unless it is refused. */
void block_believe(struct stack_blocks *blocks, uint64_t block);
/* Refuses a block. False if it was refused before. */
bool block_refuse(struct stack_blocks *blocks, uint64_t block);

/* Returns whether the block at this offset can be read and has the checksum; `end` is the end of
 * the file's blocks. The block is read from the file (twice if the first read fails) and not
 * through a mapping, where a read error would be a signal. */
bool block_agrees(const struct file_system *files, int file, uint64_t at, uint64_t end,
		  uint32_t expected);

#endif
