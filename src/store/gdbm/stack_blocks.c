/* See store/gdbm/stack_blocks.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/stack_blocks.h"

#include <stdlib.h>

#include "base/checksum.h"
#include "base/memory.h"

void block_believe(struct stack_blocks *blocks, uint64_t block)
{
	unsigned char unknown = BLOCK_UNKNOWN;

	atomic_compare_exchange_strong(&blocks->states[block], &unknown, BLOCK_RIGHT);
}

bool block_refuse(struct stack_blocks *blocks, uint64_t block)
{
	const bool is_new = atomic_exchange(&blocks->states[block], BLOCK_REFUSED) != BLOCK_REFUSED;

	atomic_store(&blocks->has_refused, true);
	return is_new;
}

bool block_agrees(const struct file_system *files, int file, uint64_t at, uint64_t end,
		  uint32_t expected)
{
	const size_t size = end - at < STACK_BLOCK ? (size_t)(end - at) : STACK_BLOCK;
	char *bytes = memory_check(malloc(size));
	bool is_right = file_read_all(files, file, bytes, size, (off_t)at);

	/* Refusing a block is final, so a read that fails is tried once more. */
	if (!is_right)
		is_right = file_read_all(files, file, bytes, size, (off_t)at);
	is_right = is_right && checksum(0, bytes, size) == expected;
	free(bytes);
	return is_right;
}
