/* See store/gdbm/gdbm_reader.h. Structures are copied before use, because in a damaged file they
 * may be unaligned.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/gdbm_reader.h"

#include <string.h>

#include "store/gdbm/entry_key.h"
#include "store/gdbm/gdbm_format.h"

/* A negative offset becomes a huge one and is therefore outside, too. */
static bool is_inside(const struct gdbm_reader *reader, uint64_t at, uint64_t size)
{
	return at <= reader->file.size && size <= reader->file.size - at;
}

/* Returns `answer` if all blocks with these bytes, on which it is based, are verified. Otherwise
 * returns GDBM_UNVERIFIED or GDBM_REFUSED and sets *block to the block concerned. The bytes must be
 * inside the file. */
static inline enum gdbm_answer answer_if_verified(const struct gdbm_reader *reader, uint64_t at,
						  uint64_t size, enum gdbm_answer answer,
						  uint64_t *block)
{
	const uint64_t first = reader->first_block + at / STACK_BLOCK;
	const uint64_t last = reader->first_block + (at + size - (size > 0)) / STACK_BLOCK;

	for (uint64_t i = first; i <= last && answer != GDBM_REFUSED; i++) {
		const enum block_state state = block_state(reader->blocks, i);

		if (state == BLOCK_RIGHT)
			continue;
		answer = state == BLOCK_REFUSED ? GDBM_REFUSED : GDBM_UNVERIFIED;
		*block = i;
	}
	return answer;
}

bool gdbm_reader_open(struct gdbm_reader *reader, struct slice file,
		      const struct stack_blocks *blocks, uint64_t first_block)
{
	struct gdbm_header header;

	*reader =
		(struct gdbm_reader){ .file = file, .blocks = blocks, .first_block = first_block };
	if (file.size < sizeof header)
		return false;
	memcpy(&header, file.data, sizeof header);
	if (header.magic != GDBM_MAGIC || header.directory_bits < 1 ||
	    header.directory_bits >= GDBM_HASH_BITS || header.bucket_places < 1 ||
	    (size_t)header.bucket_size < sizeof(struct gdbm_bucket_head) ||
	    (size_t)header.bucket_places >
		    ((size_t)header.bucket_size - sizeof(struct gdbm_bucket_head)) /
			    sizeof(struct gdbm_place))
		return false;
	reader->directory = (size_t)header.directory;
	reader->directory_bits = (unsigned)header.directory_bits;
	reader->bucket_size = (size_t)header.bucket_size;
	reader->bucket_places = (size_t)header.bucket_places;
	return is_inside(reader, (uint64_t)header.directory,
			 (uint64_t)sizeof(off_t) << reader->directory_bits);
}

/* Returns the offset of the directory entry for this hash. */
static size_t entry_of(const struct gdbm_reader *reader, uint32_t order)
{
	return reader->directory +
	       (order >> (GDBM_HASH_BITS - reader->directory_bits)) * sizeof(off_t);
}

size_t gdbm_reader_bucket(const struct gdbm_reader *reader, uint32_t order)
{
	off_t at;

	memcpy(&at, reader->file.data + entry_of(reader, order), sizeof at);
	return is_inside(reader, (uint64_t)at, reader->bucket_size) ? (size_t)at : 0;
}

/* Compares the key at the place; *value is the value that follows it. A different key is believed
 * only if its block is verified. */
static enum gdbm_answer entry_read(const struct gdbm_reader *reader, const struct gdbm_place *place,
				   struct slice key, struct slice *value, uint64_t *block)
{
	const uint64_t size = (uint64_t)place->key_size + (uint64_t)place->value_size;
	const char *bytes;

	if (place->key_size < 0 || place->value_size < 0 ||
	    !is_inside(reader, (uint64_t)place->at, size))
		return GDBM_DAMAGED;
	bytes = reader->file.data + place->at;
	if ((size_t)place->key_size != key.size || memcmp(bytes, key.data, key.size) != 0)
		return answer_if_verified(reader, (uint64_t)place->at, (uint64_t)place->key_size,
					  GDBM_ABSENT, block);
	*value = (struct slice){ bytes + key.size, (size_t)place->value_size };
	return GDBM_FOUND;
}

/* bucket: offset of the bucket. */
static enum gdbm_answer bucket_search(const struct gdbm_reader *reader, size_t bucket,
				      uint32_t hash, struct slice key, struct slice *value,
				      uint64_t *block)
{
	const char *places = reader->file.data + bucket + sizeof(struct gdbm_bucket_head);
	size_t at = hash % reader->bucket_places;

	for (size_t n = reader->bucket_places; n > 0; n--) {
		enum gdbm_answer answer = GDBM_ABSENT;
		struct gdbm_place place;

		memcpy(&place, places + at * sizeof place, sizeof place);
		if (place.hash == -1)
			return GDBM_ABSENT;
		if ((uint32_t)place.hash == hash)
			answer = entry_read(reader, &place, key, value, block);
		if (answer != GDBM_ABSENT)
			return answer;
		at = at + 1 < reader->bucket_places ? at + 1 : 0;
	}
	return GDBM_ABSENT;
}

enum gdbm_answer gdbm_reader_find(const struct gdbm_reader *reader, struct slice key,
				  struct slice *value, uint64_t *block)
{
	const uint32_t hash = entry_key_order(key);
	const size_t bucket = gdbm_reader_bucket(reader, hash);
	enum gdbm_answer answer = GDBM_DAMAGED;

	if (bucket != 0)
		answer = bucket_search(reader, bucket, hash, key, value, block);
	if (answer == GDBM_FOUND)
		return answer;
	/* If several blocks are unknown, *block is one of them; the caller verifies it and searches
	 * again. */
	answer = answer_if_verified(reader, 0, sizeof(struct gdbm_header), answer, block);
	answer = answer_if_verified(reader, entry_of(reader, hash), sizeof(off_t), answer, block);
	if (bucket == 0)
		return answer;
	return answer_if_verified(reader, bucket, reader->bucket_size, answer, block);
}
