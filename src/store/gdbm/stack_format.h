/* Formats that reading and writing a stack file share: the stamp and the head of a value.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STACK_FORMAT_H
#define STORE_GDBM_STACK_FORMAT_H

#include "base/checksum.h"
#include "base/encode.h"
#include "store/gdbm/stack.h"

#define VALUE_HEAD ((size_t)8)
#define VALUE_FORMAT 1

#define STAMP_MAGIC "AnteStck"
#define STAMP_VERSION 1
#define STAMP_SIZE 40
/* No entry has this key: keys of entries have at least nine bytes. */
#define STAMP_KEY ((struct slice){ "", 1 })

static inline void stamp_write(const struct stack_place *place, uint64_t id, char stamp[STAMP_SIZE])
{
	memset(stamp, 0, STAMP_SIZE);
	memcpy(stamp, STAMP_MAGIC, 8);
	encode_32(stamp + 8, STAMP_VERSION);
	memcpy(stamp + 16, place->installation.bytes, INSTALLATION_SIZE);
	encode_64(stamp + 32, id);
}

/* value includes its head. */
static inline uint32_t value_checksum(struct slice key, const char *value, size_t size)
{
	return checksum(checksum(0, key.data, key.size), value + 4, size - 4);
}

/* kind: STACK_PUT or STACK_REMOVAL. */
static inline void value_head_write(char head[VALUE_HEAD], char kind, struct slice key,
				    struct slice value)
{
	memset(head, 0, VALUE_HEAD);
	head[4] = VALUE_FORMAT;
	head[5] = kind;
	encode_32(head, checksum(value_checksum(key, head, VALUE_HEAD), value.data, value.size));
}

#endif
