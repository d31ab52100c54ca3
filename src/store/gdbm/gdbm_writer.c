/* Writes everything in order, except that the header, which comes first, is written last.
 *
 * A bucket of b bits contains all hashes with the same first b bits: a range whose size is a power
 * of two and whose start is a multiple of that size. The places of keys wait until there is one
 * more than fits into a bucket. Then the next bucket is known: it takes the largest range that
 * starts where the previous one ended and has no more keys than fit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/gdbm_writer.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/encode.h"
#include "base/memory.h"
#include "store/gdbm/entry_key.h"
#include "store/gdbm/gdbm_format.h"

/* Maximum bits of a bucket: libgdbm refuses a directory of 2 GB. */
#define BITS_MOST 27
#define BLOCK 4096
/* The smallest directory that libgdbm accepts is one block. */
#define BITS_LEAST (sizeof(off_t) == 8 ? 9u : 10u)

#define PLACES ((BLOCK - sizeof(struct gdbm_bucket_head)) / sizeof(struct gdbm_place))

struct bucket {
	struct gdbm_bucket_head head;
	struct gdbm_place places[PLACES];
};

static_assert(sizeof(struct bucket) <= BLOCK, "a bucket is a block");
static_assert(sizeof(off_t) << BITS_LEAST == BLOCK, "the smallest directory is a block");

struct written_bucket {
	off_t at;
	unsigned bits;
};

struct gdbm_writer {
	struct block_writer out;
	struct written_bucket *directory;
	size_t n_directory;
	size_t directory_capacity;
	unsigned bits; /* maximum of all buckets */
	uint64_t next; /* the first hash without a bucket */
	size_t n_waiting;
	/* places that are not in a bucket yet, ordered by hash */
	struct gdbm_place waiting[PLACES + 1];
};

struct gdbm_writer *gdbm_writer_open(const struct file_system *files, int file)
{
	struct gdbm_writer *writer = memory_check(malloc(sizeof *writer));

	/* The place of the header is left as zeros until the header is written. */
	*writer = (struct gdbm_writer){ .out = { .files = files, .file = file, .size = BLOCK } };
	return writer;
}

void gdbm_writer_close(struct gdbm_writer *writer)
{
	if (writer == NULL)
		return;
	free(writer->out.sums);
	free(writer->directory);
	free(writer);
}

/* ---- buckets ---- */

/* Writes the next bucket; all keys of its range are waiting. */
static bool bucket_write(struct gdbm_writer *writer, bool *is_broken)
{
	unsigned bits = 0;
	struct bucket bucket;
	uint64_t range;
	size_t n;

	while (writer->next % (UINT64_C(1) << (GDBM_HASH_BITS - bits)) != 0)
		bits++;
	for (;; bits++) {
		if (bits > BITS_MOST) {
			errno = EOVERFLOW;
			return false;
		}
		range = UINT64_C(1) << (GDBM_HASH_BITS - bits);
		/* The waiting places in the range. */
		n = writer->n_waiting;
		while (n > 0 && (uint64_t)writer->waiting[n - 1].hash >= writer->next + range)
			n--;
		if (n <= PLACES)
			break;
	}

	memset(&bucket, 0, sizeof bucket);
	bucket.head.bits = (int)bits;
	bucket.head.count = (int)n;
	for (size_t i = 0; i < PLACES; i++)
		bucket.places[i].hash = -1;
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)writer->waiting[i].hash % PLACES;

		while (bucket.places[at].hash != -1)
			at = (at + 1) % PLACES;
		bucket.places[at] = writer->waiting[i];
	}
	writer->next += range;
	writer->n_waiting -= n;
	memmove(writer->waiting, writer->waiting + n,
		writer->n_waiting * sizeof writer->waiting[0]);
	if (!block_pad(&writer->out, BLOCK, is_broken))
		return false;

	writer->directory = memory_room(writer->directory, writer->n_directory + 1,
					&writer->directory_capacity, sizeof *writer->directory);
	writer->directory[writer->n_directory++] = (struct written_bucket){ (off_t)writer->out.size,
									    bits };
	if (bits > writer->bits)
		writer->bits = bits;

	return block_append(&writer->out, &bucket, sizeof bucket, is_broken) &&
	       block_pad(&writer->out, BLOCK, is_broken);
}

bool gdbm_writer_add(struct gdbm_writer *writer, struct slice key, struct slice head,
		     struct slice value, bool *is_broken)
{
	struct gdbm_place *place = &writer->waiting[writer->n_waiting];

	*place = (struct gdbm_place){ .hash = (int)entry_key_order(key),
				      .at = (off_t)writer->out.size,
				      .key_size = (int)key.size,
				      .value_size = (int)(head.size + value.size) };
	memcpy(place->key_start, key.data, key.size < GDBM_KEY_START ? key.size : GDBM_KEY_START);
	assert((uint64_t)place->hash >= writer->next);
	assert(writer->n_waiting == 0 || place->hash >= place[-1].hash);
	writer->n_waiting++;
	if (!block_append(&writer->out, key.data, key.size, is_broken) ||
	    !block_append(&writer->out, head.data, head.size, is_broken) ||
	    !block_append(&writer->out, value.data, value.size, is_broken))
		return false;
	while (writer->n_waiting > PLACES)
		if (!bucket_write(writer, is_broken))
			return false;
	return true;
}

/* ---- the end ---- */

bool gdbm_writer_end(struct gdbm_writer *writer, const struct block_writer **written,
		     bool *is_broken)
{
	struct block_writer *out = &writer->out;
	struct gdbm_header header;
	off_t directory;
	size_t size;

	while (writer->next >> GDBM_HASH_BITS == 0)
		if (!bucket_write(writer, is_broken))
			return false;
	if (writer->bits < BITS_LEAST)
		writer->bits = BITS_LEAST;
	directory = (off_t)writer->out.size;
	*written = &writer->out;
	for (size_t i = 0; i < writer->n_directory; i++) {
		const struct written_bucket *bucket = &writer->directory[i];

		for (uint32_t n = UINT32_C(1) << (writer->bits - bucket->bits); n > 0; n--)
			if (!block_append(&writer->out, &bucket->at, sizeof bucket->at, is_broken))
				return false;
	}
	if (!block_append(out, NULL, BLOCK, is_broken) || !block_pad(out, BLOCK, is_broken) ||
	    !block_end(out))
		return false;

	/* The header changes the checksum of the first block. */
	header = (struct gdbm_header){
		.magic = GDBM_MAGIC,
		.block_size = BLOCK,
		.directory = directory,
		.directory_size = (int)(sizeof(off_t) << writer->bits),
		.directory_bits = (int)writer->bits,
		.bucket_size = BLOCK,
		.bucket_places = (int)PLACES,
		.end = (off_t)out->size,
		.free_most = (int)((BLOCK - offsetof(struct gdbm_header, free)) /
				   sizeof(struct gdbm_free_place)),
	};
	size = out->size < STACK_BLOCK ? (size_t)out->size : STACK_BLOCK;
	if (!file_read_all(out->files, out->file, out->block, size, 0))
		return false;
	memcpy(out->block, &header, sizeof header);
	encode_32(out->sums, checksum(0, out->block, size));
	return file_write_all(out->files, out->file, out->block, BLOCK, 0) &&
	       file_sync(out->files, out->file, is_broken);
}
