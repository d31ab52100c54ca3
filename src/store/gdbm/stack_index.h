/* The index beside a GDBM file of the stack: what GDBM cannot give.
 *
 *  - All keys in the order of entry_key_compare, with the sizes of their values, so that files can
 *    be merged as streams, and a merge notices when GDBM has lost sight of a record.
 *  - A filter (a Bloom filter, one cache line a key, some ten bits a key) that tells of most keys
 *    that they are not in this file without asking GDBM. It takes the place of a range of keys:
 *    ids rise, but names, codes and lists do not, and each file would span nearly all of them.
 *  - CRC32C of each 64 KB block of the GDBM file, since GDBM has no checksums, and of the index.
 *
 * It is mapped for reading, so that it takes memory of the system's and not of the process.
 *
 * Bytes, little-endian: 0 magic (8), 8 version (4), 12 size of a block (4), 16 installation (16),
 * 32 id, 40 records, 48 removals, 56 size of the keys, 64 place of the filter, 72 lines of the
 * filter, 80 size of the GDBM file, 88 place of its checksums, 96 size of the body, which begins at
 * 4096 (8 each), 104 checksum of the body's checksums (4), zeros, 252 checksum of the head (4). The
 * body: keys, filter, checksums of the GDBM file. Behind it the checksums of the body's own blocks.
 * A key: size (2), put 1 or removal 2 (1), zero (1), size of the value (4), the entry key.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STACK_INDEX_H
#define STORE_GDBM_STACK_INDEX_H

#include "store/gdbm/block_writer.h"
#include "store/gdbm/gdbm_writer.h"
#include "store/gdbm/stack.h"

#define STACK_PUT 1
#define STACK_REMOVAL 2

struct stack_index;
struct index_build;

/* FAULT_UNAVAILABLE with a cause: missing, damaged, foreign, of another format. */
bool stack_index_open(const struct stack_place *place, const struct stack_info *info,
		      struct stack_index **index, struct fault *fault);
/* NULL is fine. */
void stack_index_close(struct stack_index *index);

/* False: the key with this hash is not in the file, if *block of the body, which says so, is right. */
bool stack_index_may_have(const struct stack_index *index, uint64_t hash, uint64_t *block);

/* Blocks of the GDBM file and of the index's body, and what their checksums are. */
uint64_t stack_index_gdbm_blocks(const struct stack_index *index);
uint64_t stack_index_body_blocks(const struct stack_index *index);
uint32_t stack_index_gdbm_checksum(const struct stack_index *index, uint64_t block);
/* Whether a block of the body, read from the file, agrees with its checksum. */
bool stack_index_body_is_right(const struct stack_index *index, uint64_t block);

/* Going through the keys. Each block is verified before anything in it is believed. */
struct index_cursor {
	const struct stack_index *index;
	size_t at;
	uint64_t verified; /* blocks */
};

struct index_entry {
	struct slice key; /* an entry key; lives as long as the index */
	uint32_t order;
	uint32_t value_size;
	bool is_removal;
};

struct index_cursor index_cursor_start(const struct stack_index *index);
/* *is_there false: the end. A fault: the index is damaged. */
bool index_cursor_next(struct index_cursor *cursor, struct index_entry *entry, bool *is_there,
		       struct fault *fault);

/* Writing one, as `.index.new`. */
bool index_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_entries,
		       struct index_build **build, struct fault *fault);
bool index_build_add(struct index_build *build, struct slice key, uint32_t value_size,
		     bool is_removal, bool *is_broken, struct fault *fault);
/* gdbm: the finished GDBM file. Fills all of *info but bytes and superseded. On disk when true;
 * *is_broken as in file_sync. */
bool index_build_end(struct index_build *build, const struct gdbm_written *gdbm,
		     struct stack_info *info, bool *is_broken, struct fault *fault);
/* Frees; removes the file unless _end has succeeded. */
void index_build_close(struct index_build *build);

#endif
