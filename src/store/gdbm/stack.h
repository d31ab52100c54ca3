/* A stack file: an immutable GDBM file of entries, with its index (store/gdbm/stack_index.h).
 * Names: `stack-`, sixteen hex digits, `.gdbm` and `.index`.
 *
 * The key in GDBM is the entry key (store/gdbm/entry_key.h). The value begins with eight bytes:
 * CRC32C of the key and the rest of the value (4), format (1), put 1 or removal 2 (1), zero (2).
 * One more key, the stamp, names the installation and the file.
 *
 * Files are written sequentially (store/gdbm/gdbm_writer.h) and read through a mapping
 * (store/gdbm/gdbm_reader.h), both without libgdbm; `check` counts the entries with libgdbm
 * (store/gdbm/gdbm_library.h).
 *
 * Threads: any for a file, one for a build.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STACK_H
#define STORE_GDBM_STACK_H

#include <limits.h>

#include "store/gdbm/entry_key.h"
#include "store/gdbm/file.h"

struct stack_file;
struct stack_build;

/* The directory of the files, and their installation. */
struct stack_place {
	const struct file_system *files;
	const char *directory;
	struct installation installation;
	_Atomic uint64_t *checksum_failures; /* incremented, unless NULL */
};

/* What the manifest says about a file. Bytes are those of keys and values with their heads. */
struct stack_info {
	uint64_t id;
	uint64_t entries; /* puts and removals */
	uint64_t removals;
	uint64_t bytes;
	uint64_t superseded; /* bytes of entries in older files that this file hides */
	uint64_t gdbm_size; /* on the disk */
	uint64_t index_size;
	uint32_t index_checksum; /* of the index's head */
};

/* Returns the bytes of an entry with a key and a value of these sizes. */
uint64_t stack_entry_bytes(size_t key_size, size_t value_size);

/* File names. */
#define STACK_NAME_SIZE 32
void stack_gdbm_name(uint64_t id, char name[STACK_NAME_SIZE]);
void stack_index_name(uint64_t id, char name[STACK_NAME_SIZE]);
/* Builds the path of a file. ending: ".gdbm" or ".index", followed by ".new" while the file is
 * being written. */
void stack_path(const struct stack_place *place, uint64_t id, const char *ending,
		char path[PATH_MAX]);
/* Returns whether a name is that of a stack file; *is_unfinished tells whether it ends in
 * `.new`. */
bool stack_name_parse(const char *name, uint64_t *id, bool *is_unfinished);

/* Opens a file listed in the manifest and verifies its sizes, heads and stamp. FAULT_UNAVAILABLE
 * with a cause. The caller gets one reference. */
bool stack_file_open(const struct stack_place *place, const struct stack_info *info,
		     struct stack_file **file, struct fault *fault);
void stack_file_hold(struct stack_file *file);
/* Releases a reference; the last one closes the file, and removes it after stack_file_retire. */
void stack_file_release(struct stack_file *file);
void stack_file_retire(struct stack_file *file);
/* Removes the two files of an id, which are not open. */
void stack_remove(const struct stack_place *place, uint64_t id);

const struct stack_info *stack_file_info(const struct stack_file *file);
const struct stack_index *stack_file_index(const struct stack_file *file);

/* Marks the file as damaged: from then on, reads that need it fail. */
void stack_file_damage(struct stack_file *file, const char *what);
bool stack_file_is_damaged(const struct stack_file *file);
/* Also true if only blocks of the GDBM file are damaged; reads that do not need them continue. */
bool stack_file_is_not_whole(const struct stack_file *file);
/* Also true if only a value has a wrong checksum; reads that do not need it continue. */
bool stack_file_has_damage(const struct stack_file *file);

/* Looks up a key. *is_there tells whether the file has it; *value is in the arena, or has data NULL
 * for a removal. A value has its own checksum. "Absent" is believed only if the blocks that were
 * read have been verified since the file was opened; if necessary, they are verified now
 * (store/gdbm/stack_blocks.h). FAULT_DAMAGED, logged with the key, if the file, a block or the
 * value is damaged. FAULT_TOO_LARGE if the arena is full. */
bool stack_file_get(struct stack_file *file, struct slice key, struct arena *arena,
		    struct slice *value, bool *is_there, struct fault *fault);

/* Read-ahead for reads in the order of entry_key_order: called before each of them, it makes the
 * kernel read the next FILE_PIECE. *ahead is the progress, 0 at first. */
void stack_file_read_ahead(const struct stack_file *file, uint32_t order, uint64_t *ahead);

/* Verifies a 64 KB block, even if it was verified before. Blocks are numbered from 0: those of the
 * index, then those of the GDBM file. *is_last tells whether it is the last one. A damaged block is
 * logged, and reads of keys that are not found because of it fail; a damaged block of the index
 * damages the whole file. */
bool stack_file_verify_block(struct stack_file *file, uint64_t block, bool *is_last,
			     struct fault *fault);
/* Counts the entries with libgdbm, without the stamp. */
bool stack_file_count(struct stack_file *file, uint64_t *n, struct fault *fault);

/* Writes a file: entries in the order of entry_key_compare, then stack_build_end or
 * stack_build_abandon, which removes the unfinished files. most_entries: an upper bound. */
bool stack_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_entries,
		       struct stack_build **build, struct fault *fault);
bool stack_build_add(struct stack_build *build, struct slice key, struct slice value,
		     bool *is_broken, struct fault *fault);
/* Completes, syncs and renames both files; the caller syncs the directory. Ends the build in any
 * case; *is_broken as in file_sync. */
bool stack_build_end(struct stack_build *build, struct stack_info *info, bool *is_broken,
		     struct fault *fault);
void stack_build_abandon(struct stack_build *build);

#endif
