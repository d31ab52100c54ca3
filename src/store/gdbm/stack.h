/* One file of the stack: an immutable GDBM file of records, and beside it its index
 * (store/gdbm/stack_index.h). Names: `stack-`, sixteen hex digits, `.gdbm` and `.index`.
 *
 * A record's key in GDBM is the record key (store/gdbm/record.h); its value begins with eight
 * bytes: CRC32C of the key and of all that follows (4), format (1), put 1 or removal 2 (1), zero
 * (2). One more record, under a key that no table has, names the installation and the file.
 *
 * Files are written from front to back (store/gdbm/gdbm_writer.h), and read in one mapping
 * (store/gdbm/gdbm_reader.h): both without libgdbm, whose files they are nevertheless; `check` has
 * it count the records (store/gdbm/gdbm_library.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STACK_H
#define STORE_GDBM_STACK_H

#include "store/gdbm/file.h"
#include "store/gdbm/record.h"

struct stack_file;
struct stack_build;

/* Where files are, and whose. */
struct stack_place {
	const struct file_system *files;
	const char *directory;
	struct installation installation;
	bool is_read_only; /* nothing is ever removed */
	_Atomic uint64_t *checksum_failures; /* counted here, unless NULL */
};

/* What the manifest says of a file. Bytes are those of keys and values with their heads. */
struct stack_info {
	uint64_t id;
	uint64_t records; /* puts and removals */
	uint64_t removals;
	uint64_t bytes;
	uint64_t superseded; /* bytes of records in older files that this file's make superfluous */
	uint64_t gdbm_size; /* of the two files on the disk */
	uint64_t index_size;
	uint32_t index_checksum; /* of the index's head */
};

/* Bytes that a record of so large a key and value counts. */
uint64_t stack_record_bytes(size_t key_size, size_t value_size);

/* Names within the directory. */
#define STACK_NAME_SIZE 32
void stack_gdbm_name(uint64_t id, char name[STACK_NAME_SIZE]);
void stack_index_name(uint64_t id, char name[STACK_NAME_SIZE]);
/* Whether a name is one of these (or of a build that was not finished, which ends in `.new`). */
bool stack_name_parse(const char *name, uint64_t *id, bool *is_half_made);

/* Opens one that the manifest names, and looks whether it is the one: sizes, heads, the record that
 * names it. FAULT_UNAVAILABLE with a cause. The caller holds it once. */
bool stack_file_open(const struct stack_place *place, const struct stack_info *info,
		     struct stack_file **file, struct fault *fault);
void stack_file_hold(struct stack_file *file);
/* The last holder closes it, and removes it when stack_file_retire was called. */
void stack_file_let_go(struct stack_file *file);
void stack_file_retire(struct stack_file *file);
/* Removes the two files of an id that nobody has open. */
void stack_remove(const struct stack_place *place, uint64_t id);

const struct stack_info *stack_file_info(const struct stack_file *file);
const struct stack_index *stack_file_index(const struct stack_file *file);

/* Once a file was found damaged, nothing that depends on it is answered any more: it is refused. */
void stack_file_damage(struct stack_file *file, const char *what);
bool stack_file_is_damaged(const struct stack_file *file);
/* Also when all that was found are blocks of the GDBM file: what does not need them is answered. */
bool stack_file_is_not_whole(const struct stack_file *file);
/* Also when all that was found is a value with a wrong checksum: the others are answered. */
bool stack_file_has_damage(const struct stack_file *file);

/* *is_there: whether the file says something of the key; *value is in the arena then, or data NULL
 * for a removal. A value rests on its own checksum; that there is none rests on the checksums of
 * the blocks that were looked at, which are verified here if that has not been done since the file
 * was opened (store/gdbm/stack_blocks.h). FAULT_DAMAGED when the file is damaged, or a block that
 * it needs, or the value's checksum is wrong: that is logged, with the key of a value.
 * FAULT_TOO_LARGE when the arena is full. */
bool stack_file_get(struct stack_file *file, const struct record_key *key, struct arena *arena,
		    struct slice *value, bool *is_there, struct fault *fault);

/* The key may be asked for in a moment: of a large file, what that needs first is fetched
 * meanwhile. */
void stack_file_expect(const struct stack_file *file, const struct record_key *key);
/* Whoever gets records one after the other, in their order (record_key_order), says so before each:
 * what comes next is read from the disk meanwhile, in pieces of FILE_PIECE. Else a page is read at
 * a time, as is right for what is looked for here and there. *ahead: how far that has got; 0 at
 * first. */
void stack_file_read_on(const struct stack_file *file, uint32_t order, uint64_t *ahead);

/* Compares one 64 KB block of the index or of the GDBM file with its checksum, also one that was
 * verified before; blocks are numbered through both from 0. *is_last: there are no more. A right
 * one need not be verified by a request any more. A wrong one is logged; what needs it is refused
 * from then on, and all of the file when it is the index's. */
bool stack_file_verify_block(struct stack_file *file, uint64_t block, bool *is_last,
			     struct fault *fault);
/* How many records libgdbm says there are, the one that names the file not counted. */
bool stack_file_count(struct stack_file *file, uint64_t *n, struct fault *fault);

/* A file that is being written: records in the order of record_key_compare, then _end; _abandon
 * removes what there is. most_records: no more than these will come. */
bool stack_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_records,
		       struct stack_build **build, struct fault *fault);
bool stack_build_add(struct stack_build *build, struct slice key, struct slice value,
		     bool *is_broken, struct fault *fault);
/* Both files are whole, on disk, and bear their names (which sync_directory has still to follow).
 * Ends the build, whatever it answers; *is_broken as in file_sync. */
bool stack_build_end(struct stack_build *build, struct stack_info *info, bool *is_broken,
		     struct fault *fault);
void stack_build_abandon(struct stack_build *build);

#endif
