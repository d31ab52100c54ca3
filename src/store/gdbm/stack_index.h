/* The index file of a GDBM file, with the parts that GDBM does not provide:
 *
 *  - All keys in the order of entry_key_compare, with the sizes of their values, so that files can
 *    be merged as streams, and a merge notices when GDBM has lost an entry.
 *  - A Bloom filter (about ten bits a key, one cache line for each key), which recognises most
 *    absent keys without reading GDBM. A range of keys would not help, because keys are ordered by
 *    hash.
 *  - CRC32C of each 64 KB block of the GDBM file and of the index itself.
 *
 * The index is mapped for reading, so its memory belongs to the page cache.
 *
 * Bytes, little-endian: 0 magic (8), 8 version (4), 12 size of a block (4), 16 installation (16),
 * 32 id, 40 entries, 48 removals, 56 size of the keys, 64 offset of the filter, 72 lines of the
 * filter, 80 size of the GDBM file, 88 offset of its checksums, 96 size of the body, which begins
 * at 4096 (8 each), 104 checksum of the body's checksums (4), zeros, 252 checksum of the head (4).
 * The body: keys, filter, checksums of the GDBM file. After it the checksums of the body's own
 * blocks. A key: size (2), put 1 or removal 2 (1), zero (1), size of the value (4), the entry key.
 *
 * Threads: any for an index, one for a cursor or a build.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STACK_INDEX_H
#define STORE_GDBM_STACK_INDEX_H

#include "store/gdbm/block_writer.h"
#include "store/gdbm/stack.h"

/* The size of the head, and of a line of the filter, which is a cache line. */
#define INDEX_HEAD ((size_t)4096)
#define FILTER_LINE ((size_t)64)

#define STACK_PUT 1
#define STACK_REMOVAL 2

struct stack_index;
struct index_build;

/* FAULT_UNAVAILABLE with a cause if the index is missing, damaged, foreign, or of another
 * format. */
bool stack_index_open(const struct stack_place *place, const struct stack_info *info,
		      struct stack_index **index, struct fault *fault);
/* NULL is allowed. */
void stack_index_close(struct stack_index *index);

/* Returns false if no key with this hash is in the file, provided that *block of the body is
 * verified. */
bool stack_index_may_have(const struct stack_index *index, uint64_t hash, uint64_t *block);

/* Return the number of blocks of the GDBM file and of the index's body, and the checksum of a
 * block. */
uint64_t stack_index_gdbm_blocks(const struct stack_index *index);
uint64_t stack_index_body_blocks(const struct stack_index *index);
uint32_t stack_index_gdbm_checksum(const struct stack_index *index, uint64_t block);
/* Reads a block of the body from the file and compares it with its checksum. */
bool stack_index_body_is_right(const struct stack_index *index, uint64_t block);

/* A cursor over the keys. It verifies each block before use. */
struct index_cursor {
	const struct stack_index *index;
	size_t at;
	uint64_t verified; /* blocks verified so far */
};

struct index_entry {
	struct slice key; /* an entry key; lives as long as the index */
	uint32_t order;
	uint32_t value_size;
	bool is_removal;
};

struct index_cursor index_cursor_start(const struct stack_index *index);
/* Reads the next key; *is_there is false at the end. A fault means that the index is damaged. */
bool index_cursor_next(struct index_cursor *cursor, struct index_entry *entry, bool *is_there,
		       struct fault *fault);

/* Writes an index, as `.index.new`. */
bool index_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_entries,
		       struct index_build **build, struct fault *fault);
bool index_build_add(struct index_build *build, struct slice key, uint32_t value_size,
		     bool is_removal, bool *is_broken, struct fault *fault);
/* Completes and syncs the file. gdbm: the finished GDBM file. Sets all of *info except bytes and
 * superseded. *is_broken as in file_sync. */
bool index_build_end(struct index_build *build, const struct block_writer *gdbm,
		     struct stack_info *info, bool *is_broken, struct fault *fault);
/* Frees the build; the file stays. */
void index_build_close(struct index_build *build);

#endif
