/* Reads an index through one mapping; only verifying reads the file (store/gdbm/stack_blocks.h).
 * Writing: keys are written as they are added, in whole blocks with their checksums; the filter
 * stays in memory until the last key is added; the head is written last.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/stack_index.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/encode.h"
#include "base/memory.h"
#include "store/gdbm/stack_blocks.h"

#define INDEX_MAGIC "AnteIndx"
#define INDEX_VERSION 2
#define KEY_HEAD ((size_t)8)

/* A key sets seven of the 512 bits of its line. With ten bits a key, about 15 of 1,000 absent keys
 * pass the filter. */
#define FILTER_BITS 7
#define FILTER_BITS_A_KEY 10

static_assert(INDEX_HEAD % FILTER_LINE == 0, "the filter is padded within the body");

struct stack_index {
	const struct file_system *files;
	int opened;
	const char *bytes; /* the mapping */
	size_t size;
	size_t keys_size;
	size_t filter; /* offset */
	uint64_t filter_lines;
	const char *gdbm_sums;
	uint64_t gdbm_blocks;
	size_t body_size;
	uint64_t body_blocks;
	const char *body_sums;
};

static uint64_t filter_line(uint64_t hash, uint64_t lines)
{
	return (hash >> 32) * lines >> 32;
}

/* Returns the i-th bit of the key in its line. */
static unsigned filter_bit(uint64_t hash, unsigned i)
{
	uint64_t mixed = hash * 0x9e3779b97f4a7c15;

	return (unsigned)(mixed >> (1 + 9 * i)) & 511;
}

static bool damaged(const char *path, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, 0,
			   "%s is damaged; see DATA DAMAGE in anteroom-serve(8)", path);
}

static bool index_check(struct stack_index *index, const struct stack_place *place,
			const struct stack_info *info, const char *path, struct fault *fault)
{
	const char *head = index->bytes;
	uint64_t body, filter, lines, sums, blocks, body_blocks;

	if (memcmp(head, INDEX_MAGIC, 8) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s is not a store index", path);
	if (decode_32(head + 8) != INDEX_VERSION)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s has format %lu; this program reads format %d", path,
				   (unsigned long)decode_32(head + 8), INDEX_VERSION);
	if (checksum(0, head, 252) != decode_32(head + 252))
		return damaged(path, fault);
	if (memcmp(head + 16, place->installation.bytes, INSTALLATION_SIZE) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s belongs to another installation", path);
	if (decode_64(head + 32) != info->id || decode_32(head + 252) != info->index_checksum)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s does not match the manifest",
				   path);

	/* The offsets of the parts may contradict neither each other nor the manifest. */
	body = decode_64(head + 96);
	filter = decode_64(head + 64);
	lines = decode_64(head + 72);
	sums = decode_64(head + 88);
	blocks = (info->gdbm_size + STACK_BLOCK - 1) / STACK_BLOCK;
	body_blocks = (body + STACK_BLOCK - 1) / STACK_BLOCK;
	if (decode_64(head + 40) != info->entries || decode_64(head + 48) != info->removals ||
	    decode_64(head + 80) != info->gdbm_size || body > index->size ||
	    index->size != INDEX_HEAD + body + 4 * body_blocks || decode_64(head + 56) > body ||
	    lines == 0 || lines > body / FILTER_LINE || filter > index->size ||
	    sums > index->size ||
	    filter != (INDEX_HEAD + decode_64(head + 56) + FILTER_LINE - 1) / FILTER_LINE *
			      FILTER_LINE ||
	    sums != filter + lines * FILTER_LINE || sums + 4 * blocks != INDEX_HEAD + body)
		return damaged(path, fault);
	index->keys_size = decode_64(head + 56);
	index->filter = filter;
	index->filter_lines = lines;
	index->gdbm_sums = index->bytes + sums;
	index->gdbm_blocks = blocks;
	index->body_size = body;
	index->body_blocks = body_blocks;
	index->body_sums = index->bytes + INDEX_HEAD + body;
	return checksum(0, index->body_sums, 4 * body_blocks) == decode_32(head + 104) ||
	       damaged(path, fault);
}

static bool map_whole(struct stack_index *index, const struct stack_info *info, const char *path,
		      struct fault *fault)
{
	const struct file_system *files = index->files;
	off_t size;

	index->opened = files->open(files, path, O_RDONLY, 0);
	if (index->opened < 0 || files->size(files, index->opened, &size) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);
	if ((uint64_t)size != info->index_size || (size_t)size < INDEX_HEAD)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s has %lld bytes, but the manifest says %llu", path,
				   (long long)size, (unsigned long long)info->index_size);
	index->bytes = files->map(files, index->opened, index->size, false);
	return index->bytes != NULL ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);
}

bool stack_index_open(const struct stack_place *place, const struct stack_info *info,
		      struct stack_index **index, struct fault *fault)
{
	char path[PATH_MAX];
	struct stack_index *opened = memory_check(malloc(sizeof *opened));

	*opened = (struct stack_index){ .files = place->files,
					.opened = -1,
					.size = info->index_size };
	stack_path(place, info->id, ".index", path);
	if (!map_whole(opened, info, path, fault) ||
	    !index_check(opened, place, info, path, fault)) {
		stack_index_close(opened);
		return false;
	}
	*index = opened;
	return true;
}

void stack_index_close(struct stack_index *index)
{
	if (index == NULL)
		return;
	if (index->bytes != NULL)
		index->files->unmap(index->files, index->bytes, index->size);
	if (index->opened >= 0)
		index->files->close(index->files, index->opened);
	free(index);
}

bool stack_index_may_have(const struct stack_index *index, uint64_t hash, uint64_t *block)
{
	const size_t at = index->filter + filter_line(hash, index->filter_lines) * FILTER_LINE;
	const unsigned char *line = (const unsigned char *)index->bytes + at;

	*block = (at - INDEX_HEAD) / STACK_BLOCK;
	for (unsigned i = 0; i < FILTER_BITS; i++) {
		unsigned bit = filter_bit(hash, i);

		if ((line[bit / 8] & 1u << bit % 8) == 0)
			return false;
	}
	return true;
}

uint64_t stack_index_gdbm_blocks(const struct stack_index *index)
{
	return index->gdbm_blocks;
}

uint64_t stack_index_body_blocks(const struct stack_index *index)
{
	return index->body_blocks;
}

uint32_t stack_index_gdbm_checksum(const struct stack_index *index, uint64_t block)
{
	return decode_32(index->gdbm_sums + 4 * block);
}

bool stack_index_body_is_right(const struct stack_index *index, uint64_t block)
{
	return block_agrees(index->files, index->opened, INDEX_HEAD + block * STACK_BLOCK,
			    INDEX_HEAD + index->body_size, decode_32(index->body_sums + 4 * block));
}

struct index_cursor index_cursor_start(const struct stack_index *index)
{
	return (struct index_cursor){ .index = index };
}

static bool verify_to(struct index_cursor *cursor, size_t end)
{
	while (cursor->verified * STACK_BLOCK < end) {
		if (!stack_index_body_is_right(cursor->index, cursor->verified))
			return false;
		cursor->verified++;
	}
	return true;
}

bool index_cursor_next(struct index_cursor *cursor, struct index_entry *entry, bool *is_there,
		       struct fault *fault)
{
	const struct stack_index *index = cursor->index;
	const char *bytes = index->bytes + INDEX_HEAD + cursor->at;
	size_t left = index->keys_size - cursor->at, key_size;

	*is_there = left > 0;
	if (left == 0)
		return true;
	if (left < KEY_HEAD || !verify_to(cursor, cursor->at + KEY_HEAD))
		return fault_cause(fault, FAULT_DAMAGED, 0, "an index is damaged");
	key_size = decode_16(bytes);
	if (key_size > left - KEY_HEAD || key_size > ENTRY_KEY_MAX ||
	    !verify_to(cursor, cursor->at + KEY_HEAD + key_size))
		return fault_cause(fault, FAULT_DAMAGED, 0, "an index is damaged");
	entry->key = (struct slice){ bytes + KEY_HEAD, key_size };
	entry->order = entry_key_order(entry->key);
	entry->is_removal = bytes[2] == STACK_REMOVAL;
	entry->value_size = decode_32(bytes + 4);
	cursor->at += KEY_HEAD + key_size;
	return true;
}

/* ---- writing ---- */

struct index_build {
	struct stack_place place;
	uint64_t id;
	char path[PATH_MAX];
	unsigned char *filter;
	uint64_t filter_lines;
	uint64_t entries;
	uint64_t removals;
	struct block_writer body;
};

bool index_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_entries,
		       struct index_build **build, struct fault *fault)
{
	const struct file_system *files = place->files;
	struct index_build *begun = memory_check(malloc(sizeof *begun));
	uint64_t lines = most_entries * FILTER_BITS_A_KEY / (8 * FILTER_LINE) + 1;

	*begun = (struct index_build){ .place = *place,
				       .id = id,
				       .filter_lines = lines,
				       .body = { .files = files, .start = INDEX_HEAD } };
	stack_path(place, id, ".index.new", begun->path);
	begun->filter = memory_check(calloc(lines, FILTER_LINE));
	begun->body.file = files->open(files, begun->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (begun->body.file < 0) {
		fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot create %s", begun->path);
		index_build_close(begun);
		return false;
	}
	*build = begun;
	return true;
}

static bool failed(const struct index_build *build, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", build->path);
}

bool index_build_add(struct index_build *build, struct slice key, uint32_t value_size,
		     bool is_removal, bool *is_broken, struct fault *fault)
{
	uint64_t hash = entry_key_hash(key);
	unsigned char *line = build->filter + filter_line(hash, build->filter_lines) * FILTER_LINE;
	char head[KEY_HEAD] = { 0 };

	for (unsigned i = 0; i < FILTER_BITS; i++) {
		unsigned bit = filter_bit(hash, i);

		line[bit / 8] = (unsigned char)(line[bit / 8] | 1u << bit % 8);
	}
	encode_16(head, (uint16_t)key.size);
	head[2] = is_removal ? STACK_REMOVAL : STACK_PUT;
	encode_32(head + 4, value_size);
	build->entries++;
	build->removals += is_removal;
	return (block_append(&build->body, head, sizeof head, is_broken) &&
		block_append(&build->body, key.data, key.size, is_broken)) ||
	       failed(build, fault);
}

static bool head_write(struct index_build *build, size_t keys_size, size_t filter,
		       struct stack_info *info)
{
	char head[INDEX_HEAD] = INDEX_MAGIC;

	encode_32(head + 8, INDEX_VERSION);
	encode_32(head + 12, (uint32_t)STACK_BLOCK);
	memcpy(head + 16, build->place.installation.bytes, INSTALLATION_SIZE);
	encode_64(head + 32, build->id);
	encode_64(head + 40, build->entries);
	encode_64(head + 48, build->removals);
	encode_64(head + 56, keys_size);
	encode_64(head + 64, filter);
	encode_64(head + 72, build->filter_lines);
	encode_64(head + 80, info->gdbm_size);
	encode_64(head + 88, filter + build->filter_lines * FILTER_LINE);
	encode_64(head + 96, build->body.size);
	encode_32(head + 104, checksum(0, build->body.sums, 4 * build->body.n_sums));
	info->index_checksum = checksum(0, head, 252);
	encode_32(head + 252, info->index_checksum);
	info->index_size = INDEX_HEAD + build->body.size + 4 * build->body.n_sums;
	return file_write_all(build->place.files, build->body.file, head, sizeof head, 0);
}

bool index_build_end(struct index_build *build, const struct block_writer *gdbm,
		     struct stack_info *info, bool *is_broken, struct fault *fault)
{
	const struct file_system *files = build->place.files;
	size_t keys_size = build->body.size, filter;

	info->id = build->id;
	info->entries = build->entries;
	info->removals = build->removals;
	info->gdbm_size = gdbm->size;
	if (!block_pad(&build->body, FILTER_LINE, is_broken))
		return failed(build, fault);
	filter = INDEX_HEAD + build->body.size;
	return (block_append(&build->body, build->filter, build->filter_lines * FILTER_LINE,
			     is_broken) &&
		block_append(&build->body, gdbm->sums, 4 * gdbm->n_sums, is_broken) &&
		block_end(&build->body) &&
		file_write_all(files, build->body.file, build->body.sums, 4 * build->body.n_sums,
			       (off_t)(INDEX_HEAD + build->body.size)) &&
		head_write(build, keys_size, filter, info) &&
		file_sync(files, build->body.file, is_broken)) ||
	       failed(build, fault);
}

void index_build_close(struct index_build *build)
{
	if (build->body.file >= 0)
		build->body.files->close(build->body.files, build->body.file);
	free(build->filter);
	free(build->body.sums);
	free(build);
}
