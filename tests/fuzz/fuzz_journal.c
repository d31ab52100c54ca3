/* The replay of a journal. The input is one or two segments; the first byte says whether their
 * checksums are corrected first, so that the code after the checks is reached. Visited changes must
 * be in order and within the store's limits, and reported damage must be in a segment.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/gdbm/journal.h"
#include "store/gdbm/journal_format.h"

#define SEGMENTS 2
#define FIRST_FILE 3
#define SIZE_MOST ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const char *data, size_t size);

struct segment_bytes {
	char *bytes;
	size_t size;
	char name[SEGMENT_NAME_SIZE];
};

/* A read-only directory with segments, in memory. */
struct memory_files {
	struct file_system files;
	struct segment_bytes segments[SEGMENTS];
	size_t n;
};

struct visited {
	uint64_t base;
	uint64_t last;
};

static const struct memory_files *memory_of(const struct file_system *files)
{
	return (const struct memory_files *)(const void *)files;
}

static int memory_open(const struct file_system *files, const char *path, int flags, mode_t mode)
{
	const struct memory_files *memory = memory_of(files);
	const char *name = strrchr(path, '/');

	(void)flags;
	(void)mode;
	for (size_t i = 0; name != NULL && i < memory->n; i++)
		if (strcmp(memory->segments[i].name, name + 1) == 0)
			return FIRST_FILE + (int)i;
	errno = ENOENT;
	return -1;
}

static int memory_close(const struct file_system *files, int file)
{
	(void)files;
	(void)file;
	return 0;
}

/* Returns a copy of exactly the file's size, so that any read beyond it is noticed. */
static const void *memory_map(const struct file_system *files, int file, size_t size,
			      bool is_scattered)
{
	const struct segment_bytes *segment = &memory_of(files)->segments[file - FIRST_FILE];
	char *copy = malloc(size);

	(void)is_scattered;
	if (copy == NULL || size > segment->size)
		abort();
	memcpy(copy, segment->bytes, size);
	return copy;
}

static void memory_unmap(const struct file_system *files, const void *mapping, size_t size)
{
	(void)files;
	(void)size;
	free((void *)(uintptr_t)mapping);
}

static int memory_size(const struct file_system *files, int file, off_t *size)
{
	*size = (off_t)memory_of(files)->segments[file - FIRST_FILE].size;
	return 0;
}

static char *memory_list(const struct file_system *files, const char *path)
{
	const struct memory_files *memory = memory_of(files);
	char *names = calloc(1, memory->n * sizeof memory->segments[0].name + 1), *end = names;

	(void)path;
	if (names == NULL)
		abort();
	for (size_t i = 0; i < memory->n; i++)
		end = stpcpy(end, memory->segments[i].name) + 1;
	return names;
}

/* ---- the input ---- */

static void mend_records(char *bytes, size_t size)
{
	size_t at = 0;

	while (size - at >= RECORD_HEAD) {
		size_t record = decode_32(bytes + at);

		if (record < RECORD_HEAD || record > size - at)
			return;
		encode_32(bytes + at + 4, record_checksum(bytes + at, record));
		at += record_padded(record);
		if (at > size)
			return;
	}
}

static void mend(const struct journal_options *options, struct segment_bytes *segment)
{
	char *bytes = segment->bytes;
	size_t at = SEGMENT_HEAD;

	if (segment->size < SEGMENT_HEAD)
		return;
	memcpy(bytes, SEGMENT_MAGIC, 8);
	encode_32(bytes + 8, JOURNAL_VERSION);
	memcpy(bytes + 16, options->installation.bytes, INSTALLATION_SIZE);
	encode_32(bytes + 60, checksum(0, bytes, 60));
	while (segment->size - at >= GROUP_HEAD && decode_32(bytes + at) == GROUP_MAGIC) {
		size_t left = decode_32(bytes + at + 8);

		encode_32(bytes + at + 4, group_head_checksum(&options->installation, bytes + at));
		at += GROUP_HEAD;
		if (left > segment->size - at)
			left = segment->size - at;
		mend_records(bytes + at, left);
		at += left;
	}
}

/* Names a segment by the first number in its head. */
static void take_segment(struct memory_files *memory, const char *data, size_t size)
{
	struct segment_bytes *segment = &memory->segments[memory->n++];
	uint64_t first;

	segment->bytes = malloc(size + 1);
	if (segment->bytes == NULL)
		abort();
	memcpy(segment->bytes, data, size);
	segment->size = size;
	first = size < SEGMENT_HEAD ? memory->n : decode_64(data + 32);
	segment_name(first, segment->name);
}

static void visit(void *context, uint64_t number, const struct change *change)
{
	struct visited *visited = context;

	if (number <= visited->base || number < visited->last ||
	    change->table >= STORE_TABLE_COUNT || change->key.size > STORE_KEY_MAX)
		abort();
	visited->last = number;
}

static void replay(const struct journal_options *options, uint64_t base)
{
	struct visited visited = { .base = base };
	struct fault fault = FAULT_INITIAL;
	struct journal_end end;

	if (journal_replay(options, base, visit, &visited, &end, &fault)) {
		/* Damage below `base` is reported too, although files have those transactions. */
		if (end.last < visited.last || end.last < base || end.last == UINT64_MAX ||
		    (end.is_damaged && end.last > base && end.durable <= end.last))
			abort();
	} else if (fault.cause[0] == '\0') {
		abort();
	}
	journal_end_free(&end);
}

int LLVMFuzzerTestOneInput(const char *data, size_t size)
{
	struct memory_files memory = {
		.files = {
			.open = memory_open,
			.close = memory_close,
			.map = memory_map,
	.unmap = memory_unmap,
			.size = memory_size,
			.list = memory_list,
		},
	};
	struct journal_options options = { .files = &memory.files, .directory = "/nowhere" };
	size_t cut;

	if (size < 4 || size > SIZE_MOST)
		return 0;
	memset(options.installation.bytes, 'i', INSTALLATION_SIZE);
	cut = decode_16(data + 2);
	if (cut > size - 4)
		cut = size - 4;
	take_segment(&memory, data + 4, cut);
	if (cut < size - 4)
		take_segment(&memory, data + 4 + cut, size - 4 - cut);
	for (size_t i = 0; i < memory.n && (data[0] & 1) != 0; i++)
		mend(&options, &memory.segments[i]);
	replay(&options, (unsigned char)data[1]);
	for (size_t i = 0; i < memory.n; i++)
		free(memory.segments[i].bytes);
	return 0;
}
