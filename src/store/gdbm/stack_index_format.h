/* What writing and reading an index share: sizes, and where the filter keeps a key.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STACK_INDEX_FORMAT_H
#define STORE_GDBM_STACK_INDEX_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_MAGIC "AnteIndx"
#define INDEX_VERSION 2
#define INDEX_HEAD ((size_t)4096)
#define KEY_HEAD ((size_t)8)

/* A line is what the processor fetches at once; seven of its 512 bits stand for a key. With ten
 * bits a key, some 15 of 1,000 keys that are not there look as if they were. */
#define FILTER_LINE ((size_t)64)
#define FILTER_BITS 7
#define FILTER_BITS_A_KEY 10

static inline uint64_t filter_line(uint64_t hash, uint64_t lines)
{
	return (hash >> 32) * lines >> 32;
}

/* The i-th of the key's bits in its line. */
static inline unsigned filter_bit(uint64_t hash, unsigned i)
{
	uint64_t mixed = hash * 0x9e3779b97f4a7c15;

	return (unsigned)(mixed >> (1 + 9 * i)) & 511;
}

#endif
