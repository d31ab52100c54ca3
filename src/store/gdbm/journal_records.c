/* See store/gdbm/journal_records.h; journal_format.h has the offsets.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/journal_records.h"

#include <stdlib.h>

#include "base/memory.h"
#include "store/gdbm/journal_format.h"

/* Buffers larger than this are freed after use. */
#define KEPT_MOST ((size_t)1 << 20)

size_t journal_records_size(const struct change *changes, size_t n)
{
	size_t size = RECORD_HEAD;

	for (size_t i = 0; i < n; i++)
		size += CHANGE_HEAD + changes[i].key.size + changes[i].value.size;
	return size;
}

void journal_records_add(struct journal_records *records, uint64_t number,
			 const struct change *changes, size_t n)
{
	const size_t size = journal_records_size(changes, n);
	char *record, *to;

	if (records->size == 0)
		records->size = records->done = SEGMENT_BLOCK + GROUP_HEAD;
	records->bytes = memory_room(records->bytes,
				     records->size + record_padded(size) + SEGMENT_BLOCK,
				     &records->capacity, 1);

	record = records->bytes + records->size;
	encode_32(record, (uint32_t)size);
	encode_64(record + 8, number);
	encode_32(record + 16, (uint32_t)n);
	encode_32(record + 20, 0);
	to = record + RECORD_HEAD;
	for (size_t i = 0; i < n; i++) {
		const struct change *change = &changes[i];

		to[0] = change->value.data == NULL ? CHANGE_REMOVE : CHANGE_PUT;
		to[1] = store_table_letter(change->table);
		encode_16(to + 2, (uint16_t)change->key.size);
		encode_32(to + 4, (uint32_t)change->value.size);
		to += CHANGE_HEAD;
		if (change->key.size > 0)
			memcpy(to, change->key.data, change->key.size);
		to += change->key.size;
		if (change->value.size > 0)
			memcpy(to, change->value.data, change->value.size);
		to += change->value.size;
	}
	memset(to, 0, record_padded(size) - size);
	encode_32(record + 4, record_checksum(record, size));
	records->size += record_padded(size);
}

void journal_records_clear(struct journal_records *records)
{
	if (records->capacity > KEPT_MOST)
		journal_records_free(records);
	records->size = 0;
	records->done = 0;
}

void journal_records_free(struct journal_records *records)
{
	free(records->bytes);
	*records = (struct journal_records){ .bytes = NULL };
}

struct record_group journal_records_that_fit(const struct journal_records *records, size_t room)
{
	struct record_group group = { 0 };
	const char *bytes = records->bytes;
	size_t at = records->done;

	while (at < records->size) {
		size_t size = record_padded(decode_32(bytes + at));

		if (GROUP_HEAD + group.size + size > room)
			break;
		group.last = decode_64(bytes + at + 8);
		if (group.n == 0)
			group.first = group.last;
		group.size += size;
		group.n++;
		at += size;
	}
	return group;
}

struct group_span journal_records_group(struct journal_records *records,
					const struct record_group *group,
					const struct installation *installation, uint64_t durable,
					const struct group_place *place)
{
	char *head = records->bytes + records->done - GROUP_HEAD, *end;
	size_t before = place->used % SEGMENT_BLOCK;
	size_t used = place->used + GROUP_HEAD + group->size;
	size_t padding = (SEGMENT_BLOCK - used % SEGMENT_BLOCK) % SEGMENT_BLOCK;
	struct group_span span = { .bytes = head - before,
				   .offset = place->used - before,
				   .used = used };

	encode_32(head, GROUP_MAGIC);
	encode_32(head + 8, (uint32_t)group->size);
	encode_32(head + 12, 0);
	encode_64(head + 16, group->first);
	encode_64(head + 24, durable);
	encode_32(head + 4, group_head_checksum(installation, head));
	end = head + GROUP_HEAD + group->size;
	if (end < records->bytes + records->size || padding > place->size - used)
		padding = 0;
	memcpy(span.bytes, place->block, before);
	memset(end, 0, padding);
	span.size = (size_t)(end - span.bytes) + padding;
	span.block = end - used % SEGMENT_BLOCK;
	return span;
}
