/* Writes an index: keys are written as they are added, in whole blocks with their checksums; the
 * filter stays in memory until the last key is added; the head is written last.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/encode.h"
#include "base/memory.h"
#include "store/gdbm/stack_index.h"
#include "store/gdbm/stack_index_format.h"

struct index_build {
	struct stack_place place;
	uint64_t id;
	char path[PATH_MAX];
	bool is_done;
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
		fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot make %s", begun->path);
		begun->is_done = true;
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

static bool pad_append(struct index_build *build, bool *is_broken)
{
	size_t over = (INDEX_HEAD + build->body.size) % FILTER_LINE;

	return over == 0 || block_append(&build->body, NULL, FILTER_LINE - over, is_broken);
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

bool index_build_end(struct index_build *build, const struct gdbm_written *gdbm,
		     struct stack_info *info, bool *is_broken, struct fault *fault)
{
	const struct file_system *files = build->place.files;
	size_t keys_size = build->body.size, filter;

	info->id = build->id;
	info->entries = build->entries;
	info->removals = build->removals;
	info->gdbm_size = gdbm->size;
	if (!pad_append(build, is_broken))
		return failed(build, fault);
	filter = INDEX_HEAD + build->body.size;
	if (!block_append(&build->body, build->filter, build->filter_lines * FILTER_LINE,
			  is_broken) ||
	    !block_append(&build->body, gdbm->sums, 4 * gdbm->n_sums, is_broken) ||
	    !block_end(&build->body) ||
	    !file_write_all(files, build->body.file, build->body.sums, 4 * build->body.n_sums,
			    (off_t)(INDEX_HEAD + build->body.size)) ||
	    !head_write(build, keys_size, filter, info) ||
	    !file_sync(files, build->body.file, is_broken))
		return failed(build, fault);
	build->is_done = true;
	return true;
}

void index_build_close(struct index_build *build)
{
	const struct file_system *files = build->place.files;

	if (build->body.file >= 0)
		files->close(files, build->body.file);
	if (!build->is_done)
		files->unlink(files, build->path);
	free(build->filter);
	free(build->body.sums);
	free(build);
}
