/* Reads a stack file through one mapping, which all readers share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/gdbm/gdbm_library.h"
#include "store/gdbm/gdbm_reader.h"
#include "store/gdbm/stack_format.h"
#include "store/gdbm/stack_index.h"

struct stack_file {
	struct stack_place place;
	struct stack_info info;
	struct stack_index *index;
	int opened; /* descriptor, for verifying blocks */
	const char *mapping;
	struct gdbm_reader reader;
	struct stack_blocks blocks; /* those of the index's body, then those of the GDBM file */
	uint64_t n_body;
	atomic_uint holders;
	atomic_bool is_retired;
	atomic_bool is_damaged;
	atomic_bool has_damaged_value;
};

/* ---- opening and closing ---- */
static bool file_map(struct stack_file *file, struct fault *fault)
{
	const struct file_system *files = file->place.files;
	const size_t whole = (size_t)file->info.gdbm_size;
	char path[PATH_MAX], stamp[STAMP_SIZE];
	struct slice found;
	uint64_t ignored;
	off_t size;

	stack_path(&file->place, file->info.id, ".gdbm", path);
	file->opened = files->open(files, path, O_RDONLY, 0);
	if (file->opened < 0 || files->size(files, file->opened, &size) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s", path);
	if ((uint64_t)size != file->info.gdbm_size)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s has %lld bytes, but the manifest says %llu", path,
				   (long long)size, (unsigned long long)file->info.gdbm_size);
	file->mapping = whole == 0 ? NULL : files->map(files, file->opened, whole, true);
	if (whole > 0 && file->mapping == NULL)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);

	file->n_body = stack_index_body_blocks(file->index);
	file->blocks.states =
		memory_check(calloc(file->n_body + stack_index_gdbm_blocks(file->index) + 1,
				    sizeof *file->blocks.states));
	if (!gdbm_reader_open(&file->reader, (struct slice){ file->mapping, whole }, &file->blocks,
			      file->n_body))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s is not a GDBM file", path);

	stamp_write(&file->place, file->info.id, stamp);
	if (gdbm_reader_find(&file->reader, STAMP_KEY, &found, &ignored) != GDBM_FOUND ||
	    found.size != STAMP_SIZE || memcmp(found.data, stamp, 8) != 0 ||
	    memcmp(found.data + 16, stamp + 16, STAMP_SIZE - 16) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s does not match the manifest",
				   path);
	return memcmp(found.data, stamp, STAMP_SIZE) == 0 ||
	       fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s has an unsupported format", path);
}

bool stack_file_open(const struct stack_place *place, const struct stack_info *info,
		     struct stack_file **file, struct fault *fault)
{
	struct stack_file *opened = memory_check(malloc(sizeof *opened));

	*opened = (struct stack_file){ .place = *place, .info = *info, .opened = -1, .holders = 1 };
	if (!stack_index_open(place, info, &opened->index, fault) || !file_map(opened, fault)) {
		stack_file_release(opened);
		return false;
	}
	*file = opened;
	return true;
}

void stack_file_hold(struct stack_file *file)
{
	atomic_fetch_add(&file->holders, 1);
}

void stack_remove(const struct stack_place *place, uint64_t id)
{
	const struct file_system *files = place->files;
	char path[PATH_MAX];

	stack_path(place, id, ".gdbm", path);
	files->unlink(files, path);
	stack_path(place, id, ".index", path);
	/* A failure does not matter: no manifest names the file, so the next start removes it. */
	files->unlink(files, path);
}

void stack_file_release(struct stack_file *file)
{
	const struct file_system *files = file->place.files;

	if (atomic_fetch_sub(&file->holders, 1) > 1)
		return;
	if (file->mapping != NULL)
		files->unmap(files, file->mapping, (size_t)file->info.gdbm_size);
	if (file->opened >= 0)
		files->close(files, file->opened);
	stack_index_close(file->index);
	if (atomic_load(&file->is_retired))
		stack_remove(&file->place, file->info.id);
	free(file->blocks.states);
	free(file);
}

void stack_file_retire(struct stack_file *file)
{
	atomic_store(&file->is_retired, true);
}

const struct stack_info *stack_file_info(const struct stack_file *file)
{
	return &file->info;
}

const struct stack_index *stack_file_index(const struct stack_file *file)
{
	return file->index;
}

static void count_failure(const struct stack_file *file)
{
	if (file->place.checksum_failures != NULL)
		atomic_fetch_add(file->place.checksum_failures, 1);
}

static void log_damage(const struct stack_file *file, const char *what, const char *consequence)
{
	char name[STACK_NAME_SIZE];

	count_failure(file);
	stack_gdbm_name(file->info.id, name);
	log_event(LOG_LEVEL_ERROR, "store_file_damaged", "directory", file->place.directory, "file",
		  name, "damage", what, "consequence", consequence, NULL);
}

void stack_file_damage(struct stack_file *file, const char *what)
{
	if (!atomic_exchange(&file->is_damaged, true))
		log_damage(file, what, "requests that need this file fail");
}

bool stack_file_is_damaged(const struct stack_file *file)
{
	return atomic_load_explicit(&file->is_damaged, memory_order_relaxed);
}

bool stack_file_is_not_whole(const struct stack_file *file)
{
	return stack_file_is_damaged(file) || blocks_have_refused(&file->blocks);
}

bool stack_file_has_damage(const struct stack_file *file)
{
	return stack_file_is_not_whole(file) ||
	       atomic_load_explicit(&file->has_damaged_value, memory_order_relaxed);
}

/* ---- verifying ---- */

static bool block_verify(struct stack_file *file, uint64_t block, struct fault *fault)
{
	const bool is_index = block < file->n_body;
	const uint64_t of_gdbm = block - file->n_body;
	bool is_new, is_right;
	char what[80];

	is_right = is_index ? stack_index_body_is_right(file->index, block)
			    : block_agrees(file->place.files, file->opened, of_gdbm * STACK_BLOCK,
					   file->info.gdbm_size,
					   stack_index_gdbm_checksum(file->index, of_gdbm));
	if (is_right) {
		block_believe(&file->blocks, block);
		return true;
	}
	snprintf(what, sizeof what, "wrong checksum of block %llu of the %s",
		 (unsigned long long)(is_index ? block : of_gdbm),
		 is_index ? "index" : "GDBM file");
	is_new = block_refuse(&file->blocks, block);
	if (is_index)
		stack_file_damage(file, what);
	else if (is_new)
		log_damage(file, what, "requests that need this block fail");
	return fault_cause(fault, FAULT_DAMAGED, 0, "stack file %llu: %s",
			   (unsigned long long)file->info.id, what);
}

bool stack_file_verify_block(struct stack_file *file, uint64_t block, bool *is_last,
			     struct fault *fault)
{
	const uint64_t all = file->n_body + stack_index_gdbm_blocks(file->index);

	/* The index comes first because it has the checksums of the GDBM file. */
	assert(block < all);
	*is_last = block + 1 == all;
	return block_verify(file, block, fault);
}

/* ---- reading ---- */

/* Describes a key for logs and faults: its table, and its bytes in hexadecimal digits. Names in
 * STORE_NAMED may be secrets and are left out. */
#define SHOWN_SIZE 200
static void key_show(struct slice entry_key, char shown[SHOWN_SIZE])
{
	enum store_table table;
	struct slice key;
	size_t n;

	if (!entry_key_parse(entry_key, &table, &key)) {
		snprintf(shown, SHOWN_SIZE, "?");
		return;
	}
	n = (size_t)snprintf(shown, SHOWN_SIZE, "%s ", store_table_name(table));
	if (table == STORE_NAMED)
		key.size = 0;
	if (key.size > (SHOWN_SIZE - 1 - n) / 2)
		key.size = (SHOWN_SIZE - 1 - n) / 2;
	text_hex(key.data, key.size, shown + n);
	n += 2 * key.size;
	shown[n] = '\0';
}

static bool value_damaged(struct stack_file *file, struct slice key, struct fault *fault)
{
	char name[STACK_NAME_SIZE], shown[SHOWN_SIZE];

	atomic_store(&file->has_damaged_value, true);
	count_failure(file);
	stack_gdbm_name(file->info.id, name);
	key_show(key, shown);
	log_event(LOG_LEVEL_ERROR, "store_value_damaged", "directory", file->place.directory,
		  "file", name, "key", shown, "consequence",
		  "requests that need this value fail; run anteroom check", NULL);
	return fault_cause(fault, FAULT_DAMAGED, 0, "the value of %s in %s is damaged", shown,
			   name);
}

/* Verifies a value with its head; *value is the part after the head. It is copied into memory of
 * its own, because the arena clears its additional blocks at the end. */
static bool value_take(struct stack_file *file, struct slice key, struct slice found,
		       struct arena *arena, struct slice *value, struct fault *fault)
{
	char *memory;

	/* No value is this large: the size, which has no checksum of its own, is damaged. */
	if (found.size > VALUE_HEAD + STORE_VALUE_MAX + ENTRY_HEAD_MAX)
		return value_damaged(file, key, fault);
	if (!arena_fits(arena, found.size))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	memory = memory_check(malloc(found.size));
	memcpy(memory, found.data, found.size);
	arena_adopt(arena, memory, found.size);
	found.data = memory;
	if (found.size < VALUE_HEAD || found.data[4] != VALUE_FORMAT ||
	    (found.data[5] != STACK_PUT && found.data[5] != STACK_REMOVAL) ||
	    value_checksum(key, found.data, found.size) != decode_32(found.data))
		return value_damaged(file, key, fault);
	*value = (struct slice){ NULL, 0 };
	if (found.data[5] == STACK_PUT)
		*value = (struct slice){ found.data + VALUE_HEAD, found.size - VALUE_HEAD };
	return true;
}

void stack_file_read_ahead(const struct stack_file *file, uint32_t order, uint64_t *ahead)
{
	const struct file_system *files = file->place.files;
	const uint64_t until = gdbm_reader_bucket(&file->reader, order) + 2 * FILE_PIECE;

	while (*ahead < until && *ahead < file->info.gdbm_size) {
		files->will_need(files, file->opened, (off_t)*ahead, FILE_PIECE);
		*ahead += FILE_PIECE;
	}
}

/* Looks up a key in the GDBM file, and verifies unknown blocks until there is a definite answer. */
static bool file_find(struct stack_file *file, struct slice key, struct slice *found,
		      enum gdbm_answer *answer, struct fault *fault)
{
	uint64_t block;

	for (;;) {
		*answer = gdbm_reader_find(&file->reader, key, found, &block);
		if (*answer != GDBM_UNVERIFIED)
			return true;
		if (!block_verify(file, block, fault))
			return false;
	}
}

/* what: the text before "stack file", either "" or "a block of ". */
static bool file_refuse(const struct stack_file *file, const char *what, struct fault *fault)
{
	return fault_cause(fault, FAULT_DAMAGED, 0, "%sstack file %llu is damaged", what,
			   (unsigned long long)file->info.id);
}

bool stack_file_get(struct stack_file *file, struct slice key, struct arena *arena,
		    struct slice *value, bool *is_there, struct fault *fault)
{
	enum gdbm_answer answer;
	struct slice found;
	uint64_t filter_block;

	*is_there = false;
	if (stack_file_is_damaged(file))
		return file_refuse(file, "", fault);
	/* The filter says that the file does not have the key. This is believed only if the
	 * filter's block is verified. */
	if (!stack_index_may_have(file->index, entry_key_hash(key), &filter_block))
		return block_state(&file->blocks, filter_block) == BLOCK_RIGHT ||
		       block_verify(file, filter_block, fault);
	if (!file_find(file, key, &found, &answer, fault))
		return false;
	switch (answer) {
	case GDBM_FOUND:
		*is_there = true;
		return value_take(file, key, found, arena, value, fault);
	case GDBM_ABSENT:
		return true;
	case GDBM_REFUSED:
		return file_refuse(file, "a block of ", fault);
	case GDBM_DAMAGED:
	case GDBM_UNVERIFIED: /* file_find has verified all blocks that it needs */
		break;
	}
	stack_file_damage(file, "it refers to bytes outside the file");
	return file_refuse(file, "", fault);
}

bool stack_file_count(struct stack_file *file, uint64_t *n, struct fault *fault)
{
	char name[STACK_NAME_SIZE];

	stack_gdbm_name(file->info.id, name);
	if (!gdbm_library_count(file->opened, name, n, fault))
		return false;
	*n -= *n > 0;
	return true;
}
