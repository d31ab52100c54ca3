/* The state of each 64 KB block of a file of the stack, one byte a block: whether it has been
 * compared with its checksum since the file was opened, and how that ended. A block that was wrong
 * once stays refused. There is one array a file (store/gdbm/stack_file.c), used by all who verify a
 * block and by all who believe one: a block that the slow reader has verified need not be verified
 * again by a request.
 *
 * Threads: any number at once. Two may verify the same block; they find the same.
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
	atomic_uchar *states; /* the owner's memory; zeros are BLOCK_UNKNOWN */
	atomic_bool has_refused; /* is any of them BLOCK_REFUSED? */
};

static inline enum block_state block_state(const struct stack_blocks *blocks, uint64_t block)
{
	return (enum block_state)atomic_load_explicit(&blocks->states[block], memory_order_acquire);
}

static inline bool blocks_have_refused(const struct stack_blocks *blocks)
{
	return atomic_load_explicit(&blocks->has_refused, memory_order_acquire);
}

/* Notes that the block agrees with its checksum. A refused block stays refused. */
void block_believe(struct stack_blocks *blocks, uint64_t block);
/* False: it was refused before. */
bool block_refuse(struct stack_blocks *blocks, uint64_t block);

/* Whether the block at this offset of a file, which ends at `end` at the latest, can be read and
 * has the checksum. It is read from the file, twice if the first time fails, and not through a
 * mapping: where the medium fails, that is an error here and would be a signal there. */
bool block_agrees(const struct file_system *files, int file, uint64_t at, uint64_t end,
		  uint32_t expected);

#endif
