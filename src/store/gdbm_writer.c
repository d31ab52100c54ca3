/* Records and buckets go out through one buffer of 64 KB, which is also the unit of the checksums. The
 * first one is kept until the end, when it gets the header.
 *
 * Buckets. GDBM hashes keys to 31 bits; a bucket stands for all hashes that begin with the same so many
 * bits, a range whose size is a power of two and whose start is a multiple of it. The records that have
 * no bucket yet are kept, as what a bucket has of them, until there is one more than a bucket holds;
 * then the largest range that begins where the last ended, and has no more than that, is complete.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm_writer.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/checksum.h"
#include "store/encode.h"
#include "store/record.h"

#define HASH_BITS 31
/* The most that a bucket can have: libgdbm takes no directory of 2 GB. */
#define BITS_MOST 27
#define KEY_START 4
#define BUCKET_FREE 6
#define BLOCK 4096
/* What is synced at once: a group of the journal may have to wait behind it. */
#define SYNC_BYTES ((uint64_t)2 << 20)

/* The file's own structures: int and off_t as libgdbm was built with them. A library with another off_t
 * does not take the magic number. */

struct free_place {
	int size;
	off_t at;
};

struct header {
	int magic;
	int block_size;
	off_t directory;
	int directory_size;
	int directory_bits;
	int bucket_size;
	int bucket_places;
	off_t end; /* of what is used */
	/* Free places: how many the header has room for, how many there are, where there are more. */
	int free_most;
	int free_count;
	off_t free_next;
	struct free_place free[1];
};

struct place {
	int hash; /* -1: none */
	char key_start[KEY_START];
	off_t at; /* of the key, which its value follows */
	int key_size;
	int value_size;
};

struct bucket_head {
	int free_count;
	struct free_place free[BUCKET_FREE];
	int bits;
	int count;
};

#define PLACES ((BLOCK - sizeof(struct bucket_head)) / sizeof(struct place))

struct bucket {
	struct bucket_head head;
	struct place places[PLACES];
};

static_assert(sizeof(struct bucket) <= BLOCK, "a bucket is a block");
static_assert(sizeof(off_t) == 8 || sizeof(off_t) == 4, "libgdbm knows two sizes");

#define MAGIC (sizeof(off_t) == 8 ? 0x13579acf : 0x13579acd)

/* A bucket that was written. */
struct entry {
	off_t at;
	unsigned bits;
};

struct gdbm_writer {
	const struct file_system *files;
	int file;
	uint64_t size; /* of the file, the buffer included */
	uint64_t synced;
	char *first; /* the first 64 KB, once the buffer has been full */
	char *sums;
	size_t n_sums;
	struct entry *directory;
	size_t n_directory;
	size_t directory_capacity;
	unsigned bits; /* the most of a bucket */
	uint64_t next; /* the first hash without a bucket */
	size_t n_waiting;
	struct place waiting[PLACES + 1]; /* records without a bucket, by their hashes */
	char buffer[GDBM_WRITER_SUM_BLOCK];
};

static void *grown(void *memory, size_t size)
{
	memory = realloc(memory, size);
	if (memory == NULL)
		abort();
	return memory;
}

struct gdbm_writer *gdbm_writer_open(const struct file_system *files, int file)
{
	struct gdbm_writer *writer = grown(NULL, sizeof *writer);

	*writer = (struct gdbm_writer){ .files = files, .file = file, .size = BLOCK };
	return writer;
}

void gdbm_writer_close(struct gdbm_writer *writer)
{
	if (writer == NULL)
		return;
	free(writer->first);
	free(writer->sums);
	free(writer->directory);
	free(writer);
}

/* ---- bytes ---- */

static void sum_put(struct gdbm_writer *writer, size_t block, const char *bytes, size_t size)
{
	encode_32(writer->sums + 4 * block, checksum(0, bytes, size));
}

/* The buffer, which holds the `size` bytes before the end of the file. */
static bool buffer_write(struct gdbm_writer *writer, size_t size, bool *is_broken)
{
	const uint64_t at = writer->size - size;

	writer->sums = grown(writer->sums, 4 * (writer->n_sums + 1));
	writer->n_sums++;
	if (at == 0) {
		writer->first = grown(NULL, size);
		memcpy(writer->first, writer->buffer, size);
		return true;
	}
	sum_put(writer, writer->n_sums - 1, writer->buffer, size);
	if (!file_write_all(writer->files, writer->file, writer->buffer, size, (off_t)at))
		return false;
	if (writer->size - writer->synced < SYNC_BYTES)
		return true;
	writer->synced = writer->size;
	return file_sync(writer->files, writer->file, is_broken);
}

/* NULL bytes: zeros. */
static bool append(struct gdbm_writer *writer, const void *bytes, size_t size, bool *is_broken)
{
	const char *from = bytes;

	while (size > 0) {
		size_t in_buffer = (size_t)(writer->size % sizeof writer->buffer);
		size_t n = sizeof writer->buffer - in_buffer;

		if (n > size)
			n = size;
		if (from == NULL) {
			memset(writer->buffer + in_buffer, 0, n);
		} else {
			memcpy(writer->buffer + in_buffer, from, n);
			from += n;
		}
		writer->size += n;
		size -= n;
		if (in_buffer + n == sizeof writer->buffer &&
		    !buffer_write(writer, sizeof writer->buffer, is_broken))
			return false;
	}
	return true;
}

/* To the start of a block. */
static bool align(struct gdbm_writer *writer, bool *is_broken)
{
	size_t over = (size_t)(writer->size % BLOCK);

	return over == 0 || append(writer, NULL, BLOCK - over, is_broken);
}

/* ---- buckets ---- */

/* How many of the records that wait have hashes below `end`. */
static size_t waiting_below(const struct gdbm_writer *writer, uint64_t end)
{
	size_t n = writer->n_waiting;

	while (n > 0 && (uint64_t)writer->waiting[n - 1].hash >= end)
		n--;
	return n;
}

static void bucket_fill(struct bucket *bucket, const struct place *places, size_t n, unsigned bits)
{
	size_t i;

	memset(bucket, 0, sizeof *bucket);
	bucket->head.bits = (int)bits;
	bucket->head.count = (int)n;
	for (i = 0; i < PLACES; i++)
		bucket->places[i].hash = -1;
	for (i = 0; i < n; i++) {
		size_t at = (size_t)places[i].hash % PLACES;

		while (bucket->places[at].hash != -1)
			at = (at + 1) % PLACES;
		bucket->places[at] = places[i];
	}
}

static void directory_add(struct gdbm_writer *writer, unsigned bits)
{
	if (writer->n_directory == writer->directory_capacity) {
		writer->directory_capacity = 2 * writer->directory_capacity + 16;
		writer->directory = grown(writer->directory,
					  writer->directory_capacity * sizeof *writer->directory);
	}
	writer->directory[writer->n_directory++] = (struct entry){ (off_t)writer->size, bits };
	if (bits > writer->bits)
		writer->bits = bits;
}

/* The next bucket, of those that wait; all of the hashes in its range are among them. */
static bool bucket_write(struct gdbm_writer *writer, bool *is_broken)
{
	unsigned bits = 0;
	struct bucket bucket;
	uint64_t range;
	size_t n;

	while (writer->next % (UINT64_C(1) << (HASH_BITS - bits)) != 0)
		bits++;
	for (;; bits++) {
		if (bits > BITS_MOST) {
			errno = EOVERFLOW;
			return false;
		}
		range = UINT64_C(1) << (HASH_BITS - bits);
		n = waiting_below(writer, writer->next + range);
		if (n <= PLACES)
			break;
	}
	bucket_fill(&bucket, writer->waiting, n, bits);
	writer->next += range;
	writer->n_waiting -= n;
	memmove(writer->waiting, writer->waiting + n,
		writer->n_waiting * sizeof writer->waiting[0]);
	if (!align(writer, is_broken))
		return false;
	directory_add(writer, bits);
	return append(writer, &bucket, sizeof bucket, is_broken) &&
	       append(writer, NULL, BLOCK - sizeof bucket, is_broken);
}

bool gdbm_writer_add(struct gdbm_writer *writer, struct slice key, struct slice head,
		     struct slice value, bool *is_broken)
{
	struct place *place = &writer->waiting[writer->n_waiting];

	*place = (struct place){ .hash = (int)record_key_order(key),
				 .at = (off_t)writer->size,
				 .key_size = (int)key.size,
				 .value_size = (int)(head.size + value.size) };
	memcpy(place->key_start, key.data, key.size < KEY_START ? key.size : KEY_START);
	assert((uint64_t)place->hash >= writer->next);
	assert(writer->n_waiting == 0 || place->hash >= place[-1].hash);
	writer->n_waiting++;
	if (!append(writer, key.data, key.size, is_broken) ||
	    !append(writer, head.data, head.size, is_broken) ||
	    !append(writer, value.data, value.size, is_broken))
		return false;
	while (writer->n_waiting > PLACES)
		if (!bucket_write(writer, is_broken))
			return false;
	return true;
}

/* ---- the end ---- */

/* So many bits has the least directory that libgdbm takes: at least a block. */
static unsigned least_bits(void)
{
	unsigned bits = 3;

	while (sizeof(off_t) << bits < BLOCK)
		bits++;
	return bits;
}

static bool directory_write(struct gdbm_writer *writer, bool *is_broken)
{
	for (size_t i = 0; i < writer->n_directory; i++) {
		const struct entry *entry = &writer->directory[i];

		for (uint32_t n = UINT32_C(1) << (writer->bits - entry->bits); n > 0; n--)
			if (!append(writer, &entry->at, sizeof entry->at, is_broken))
				return false;
	}
	return append(writer, NULL, BLOCK, is_broken) && align(writer, is_broken);
}

static bool header_write(struct gdbm_writer *writer, off_t directory)
{
	const size_t size = writer->size < sizeof writer->buffer ? (size_t)writer->size
								 : sizeof writer->buffer;
	const struct header header = {
		.magic = MAGIC,
		.block_size = BLOCK,
		.directory = directory,
		.directory_size = (int)(sizeof(off_t) << writer->bits),
		.directory_bits = (int)writer->bits,
		.bucket_size = BLOCK,
		.bucket_places = (int)PLACES,
		.end = (off_t)writer->size,
		.free_most =
			(int)((BLOCK - offsetof(struct header, free)) / sizeof(struct free_place)),
	};

	memcpy(writer->first, &header, sizeof header);
	sum_put(writer, 0, writer->first, size);
	return file_write_all(writer->files, writer->file, writer->first, size, 0);
}

bool gdbm_writer_end(struct gdbm_writer *writer, struct gdbm_written *written, bool *is_broken)
{
	off_t directory;
	size_t rest;

	while (writer->next >> HASH_BITS == 0)
		if (!bucket_write(writer, is_broken))
			return false;
	if (writer->bits < least_bits())
		writer->bits = least_bits();
	directory = (off_t)writer->size;
	if (!directory_write(writer, is_broken))
		return false;
	rest = (size_t)(writer->size % sizeof writer->buffer);
	if ((rest > 0 && !buffer_write(writer, rest, is_broken)) ||
	    !header_write(writer, directory) || !file_sync(writer->files, writer->file, is_broken))
		return false;
	*written = (struct gdbm_written){ .size = writer->size,
					  .sums = writer->sums,
					  .n_sums = writer->n_sums };
	return true;
}
