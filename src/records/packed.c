/* See records/packed.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/packed.h"

#include <assert.h>
#include <endian.h>

void packed_put_number(struct buffer *record, uint64_t value, size_t bytes)
{
	uint64_t little = htole64(value);

	assert(bytes >= 1 && bytes <= sizeof little);
	assert(bytes == sizeof little || value >> (8 * bytes) == 0);
	memcpy(buffer_reserve(record, sizeof little), &little, sizeof little);
	record->size += bytes;
}

void packed_put_text(struct buffer *record, struct slice text)
{
	packed_put_number(record, text.size, 4);
	buffer_append(record, text);
}

void packed_put_id(struct buffer *record, const struct id *id)
{
	buffer_append(record, id_slice(id));
}

bool packed_store(struct transaction *transaction, const struct store_kind *kind,
		  struct store_record *record, const struct buffer *value,
		  const struct store_record *former, struct fault *fault)
{
	const bool is_new = former == NULL || former->value.data == NULL;

	record->value = buffer_slice(value);
	return store_put(transaction, kind, record, is_new ? NULL : former, fault);
}

static struct slice take(struct packed *record, size_t size)
{
	struct slice taken = { record->rest.data, size };

	if (record->is_short || record->rest.size < size) {
		record->is_short = true;
		return (struct slice){ "", 0 };
	}
	record->rest.data += size;
	record->rest.size -= size;
	return taken;
}

/* At least eight bytes follow most numbers: these are read at once, and masked. */
uint64_t packed_number(struct packed *record, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)record->rest.data;
	uint64_t value = 0;

	if (!record->is_short && record->rest.size >= sizeof value) {
		memcpy(&value, at, sizeof value);
		value = le64toh(value) & (UINT64_MAX >> (64 - 8 * bytes));
		record->rest.data += bytes;
		record->rest.size -= bytes;
		return value;
	}
	at = (const unsigned char *)take(record, bytes).data;
	for (size_t i = 0; !record->is_short && i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

struct slice packed_text(struct packed *record)
{
	return take(record, packed_number(record, 4));
}

struct id packed_id(struct packed *record)
{
	struct slice text = take(record, ID_SIZE);
	struct id id = { { 0 } };

	if (text.size == ID_SIZE)
		memcpy(id.bytes, text.data, ID_SIZE);
	return id;
}

struct slice packed_bytes(struct packed *record, size_t size)
{
	return take(record, size);
}

void packed_skip(struct packed *record, size_t bytes)
{
	(void)take(record, bytes);
}

bool packed_ended(const struct packed *record)
{
	return !record->is_short && record->rest.size == 0;
}

bool packed_close(const struct packed *record, const char *what, const struct id *key,
		  struct fault *fault)
{
	return packed_ended(record) || packed_damaged(what, key, fault);
}

bool packed_damaged(const char *what, const struct id *key, struct fault *fault)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(key, text);
	return fault_cause(fault, FAULT_DAMAGED, 0, "%s with the key %s cannot be read", what,
			   text);
}

bool packed_missing(const char *what, const struct id *key, struct fault *fault)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(key, text);
	return fault_cause(fault, FAULT_DAMAGED, 0,
			   "%s with the key %s is missing: another record refers to it", what,
			   text);
}
