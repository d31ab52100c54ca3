/* The format of a journal segment. Numbers are little-endian; sizes in bytes are in parentheses.
 *
 *   segment  0 magic, 8 version (4), 12 zero (4), 16 installation (16), 32 first number (8),
 *            40 zero (20), 60 CRC32C of bytes 0 to 59 (4); groups from 64 on
 *   group    0 magic (4), 4 CRC32C of the installation and bytes 8 to 31 (4),
 *            8 size of the records in bytes (4), 12 zero (4), 16 first number (8),
 *            24 the number up to which everything was durable (8); records from 32 on
 *   record   0 size with this head, without padding (4), 4 CRC32C of the size and of bytes 8 to
 *            the end (4), 8 number (8), 16 count of changes (4), 20 zero (4); changes from 24 on;
 *            zeros up to a multiple of 8
 *   change   0 put 1, removal 2 (1), 1 letter of the table (1), 2 size of the key (2),
 *            4 size of the value (4); key, value
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_FORMAT_H
#define STORE_GDBM_JOURNAL_FORMAT_H

#include <stdio.h>

#include "base/checksum.h"
#include "base/encode.h"
#include "store/gdbm/entry_key.h"

#define JOURNAL_VERSION 1
#define SEGMENT_MAGIC "AnteJrnl"
#define SEGMENT_HEAD ((size_t)64)
#define SEGMENT_NAME_SIZE 25
#define SEGMENT_AHEAD "journal.new"
/* Writes are multiples of this size (store/gdbm/journal.h). */
#define SEGMENT_BLOCK ((size_t)4096)
/* Maximum size of a segment: a record above the ordinary size gets a segment of its own. */
#define SEGMENT_MOST ((size_t)1 << 31)

#define GROUP_MAGIC 0x7047724aU
#define GROUP_HEAD ((size_t)32)
#define RECORD_HEAD ((size_t)24)
#define CHANGE_HEAD ((size_t)8)
#define CHANGE_PUT 1
#define CHANGE_REMOVE 2

static inline void segment_name(uint64_t first, char name[SEGMENT_NAME_SIZE])
{
	(void)snprintf(name, SEGMENT_NAME_SIZE, "journal-%016llx", (unsigned long long)first);
}

static inline size_t record_padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static inline uint32_t group_head_checksum(const struct installation *installation,
					   const char *head)
{
	uint32_t sum = checksum(0, installation->bytes, sizeof installation->bytes);

	return checksum(sum, head + 8, GROUP_HEAD - 8);
}

static inline uint32_t record_checksum(const char *record, size_t size)
{
	return checksum(checksum(0, record, 4), record + 8, size - 8);
}

#endif
