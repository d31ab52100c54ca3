/* See store/gdbm_reader.h. Structures are copied out of the bytes before they are looked at: nothing says
 * that a damaged file has them where they are aligned.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm_reader.h"

#include <stdlib.h>
#include <string.h>

#include "store/gdbm_format.h"
#include "store/record.h"

/* A negative place, which only a damaged file has, is a huge one here, and outside too. */
static bool is_inside(const struct gdbm_reader *reader, uint64_t at, uint64_t size)
{
	return at <= reader->file.size && size <= reader->file.size - at;
}

#define PIECE_BITS 16

void gdbm_reader_close(struct gdbm_reader *reader)
{
	free(atomic_load(&reader->refused));
}

/* Once it is there, it stays. */
static atomic_uchar *refused_make(struct gdbm_reader *reader)
{
	atomic_uchar *made = calloc((reader->file.size >> PIECE_BITS) + 1, sizeof *made);
	atomic_uchar *former = NULL;

	if (made == NULL)
		abort();
	if (atomic_compare_exchange_strong(&reader->refused, &former, made))
		return made;
	free(made);
	return former;
}

bool gdbm_reader_refuse(struct gdbm_reader *reader, uint64_t at, uint64_t size)
{
	atomic_uchar *refused = atomic_load(&reader->refused);
	bool is_new = false;

	if (refused == NULL)
		refused = refused_make(reader);
	for (uint64_t piece = at >> PIECE_BITS; piece <= (at + size - 1) >> PIECE_BITS; piece++)
		is_new = atomic_exchange(&refused[piece], 1) == 0 || is_new;
	return is_new;
}

bool gdbm_reader_refuses(const struct gdbm_reader *reader)
{
	return atomic_load_explicit(&reader->refused, memory_order_relaxed) != NULL;
}

/* The bytes are inside the file, and there is at least one. */
static bool is_refused(const struct gdbm_reader *reader, uint64_t at, uint64_t size)
{
	const atomic_uchar *refused = atomic_load_explicit(&reader->refused, memory_order_acquire);

	if (refused == NULL)
		return false;
	for (uint64_t piece = at >> PIECE_BITS; piece <= (at + size - 1) >> PIECE_BITS; piece++) {
		if (atomic_load(&refused[piece]) != 0)
			return true;
	}
	return false;
}

bool gdbm_reader_open(struct gdbm_reader *reader, struct slice file)
{
	struct gdbm_header header;

	*reader = (struct gdbm_reader){ .file = file };
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

/* Where the directory has the place of the bucket. */
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

/* The places of the bucket that a key of this hash is in; NULL when the file does not have it. */
static const char *places_of(const struct gdbm_reader *reader, uint32_t hash)
{
	const size_t bucket = gdbm_reader_bucket(reader, hash);

	return bucket == 0 ? NULL : reader->file.data + bucket + sizeof(struct gdbm_bucket_head);
}

/* Whether the record at the place has the key; *value is what stands behind it. */
static enum gdbm_answer record_look(const struct gdbm_reader *reader,
				    const struct gdbm_place *place, struct slice key,
				    struct slice *value)
{
	const char *record;

	if (place->key_size < 0 || place->value_size < 0 ||
	    !is_inside(reader, (uint64_t)place->at,
		       (uint64_t)place->key_size + (uint64_t)place->value_size))
		return GDBM_DAMAGED;
	if (is_refused(reader, (uint64_t)place->at,
		       (uint64_t)place->key_size + (uint64_t)place->value_size + 1))
		return GDBM_REFUSED;
	record = reader->file.data + place->at;
	/* Most records reach into another page, which is looked for at the same time as the first. */
	__builtin_prefetch(record + place->key_size + place->value_size);
	if ((size_t)place->key_size != key.size || memcmp(record, key.data, key.size) != 0)
		return GDBM_ABSENT;
	*value = (struct slice){ record + key.size, (size_t)place->value_size };
	return GDBM_FOUND;
}

void gdbm_reader_expect(const struct gdbm_reader *reader, struct slice key)
{
	const uint32_t hash = record_key_order(key);
	const char *places = places_of(reader, hash);

	if (places != NULL)
		__builtin_prefetch(places +
				   hash % reader->bucket_places * sizeof(struct gdbm_place));
}

enum gdbm_answer gdbm_reader_find(const struct gdbm_reader *reader, struct slice key,
				  struct slice *value)
{
	const uint32_t hash = record_key_order(key);
	const char *places = places_of(reader, hash);
	size_t at = hash % reader->bucket_places;

	if (is_refused(reader, entry_of(reader, hash), sizeof(off_t)))
		return GDBM_REFUSED;
	if (places == NULL)
		return GDBM_DAMAGED;
	if (is_refused(reader, (uint64_t)(places - reader->file.data), reader->bucket_size))
		return GDBM_REFUSED;
	for (size_t n = reader->bucket_places; n > 0; n--) {
		enum gdbm_answer answer = GDBM_ABSENT;
		struct gdbm_place place;

		memcpy(&place, places + at * sizeof place, sizeof place);
		if (place.hash == -1)
			return GDBM_ABSENT;
		if ((uint32_t)place.hash == hash)
			answer = record_look(reader, &place, key, value);
		if (answer != GDBM_ABSENT)
			return answer;
		at = at + 1 < reader->bucket_places ? at + 1 : 0;
	}
	return GDBM_ABSENT;
}
