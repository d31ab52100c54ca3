/* Sizes of an index file, and the position of a key in the filter.
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

/* A line is a cache line; a key sets seven of its 512 bits. With ten bits a key, about 15 of 1,000
 * absent keys pass the filter. */
#define FILTER_LINE ((size_t)64)
#define FILTER_BITS 7
#define FILTER_BITS_A_KEY 10

static inline uint64_t filter_line(uint64_t hash, uint64_t lines)
{
	return (hash >> 32) * lines >> 32;
}

/* The i-th bit of the key in its line. */
static inline unsigned filter_bit(uint64_t hash, unsigned i)
{
	uint64_t mixed = hash * 0x9e3779b97f4a7c15;

	return (unsigned)(mixed >> (1 + 9 * i)) & 511;
}

#endif
