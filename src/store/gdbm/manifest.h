/* The manifest lists what a store consists of. It is one small file, `manifest`, which is replaced
 * as a whole: the installation, the stack files from the newest to the oldest, and the number of
 * the last transaction that they contain completely; later transactions are in the journal. A new
 * store gets its manifest right after the journal's mark and before any segment or stack file. A
 * directory with segments or stack files but no manifest is therefore damaged.
 *
 * Bytes, little-endian: 0 magic (8), 8 number of the form (4), 12 count of files (4), 16
 * installation (16), 32 number (8), 40 the id of the next file (8), 48 size of the form (4), 52
 * zero (4); from 56 on 64 bytes a file: id, entries, removals, bytes, superseded, size of the GDBM
 * file, size of the index (8 each), checksum of the index's head (4), zero (4); then the form of
 * the records (struct store_form); last the CRC32C of all before (4).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_MANIFEST_H
#define STORE_GDBM_MANIFEST_H

#include "store/gdbm/stack.h"

#define MANIFEST_NAME "manifest"

struct manifest {
	struct installation installation;
	uint64_t number;
	uint64_t next_id;
	struct stack_info *files; /* newest first; from malloc */
	size_t n;
	unsigned form_number;
	char *form; /* from malloc; NULL if there is none, as tests have it */
	size_t form_size;
	/* after a failed manifest_read: it is not damaged, but of another program */
	bool is_refused;
};

/* Reads the manifest; *is_there is false if there is none. FAULT_UNAVAILABLE if it cannot be read,
 * is damaged, or the number of its form is above this one, or below STORE_FORM_FIRST: then nothing
 * else is known of it. Whether the program can read the records is for the caller to find out. */
bool manifest_read(const struct file_system *files, const char *directory, unsigned most_number,
		   struct manifest *manifest, bool *is_there, struct fault *fault);
/* Compare the form of a manifest: see store_form_check and store_form_accept. */
bool manifest_check(const struct manifest *manifest, const char *directory,
		    const struct store_form *form, bool *is_earlier, bool *is_to_be_upgraded,
		    struct fault *fault);
bool manifest_accept(const struct manifest *manifest, const char *directory,
		     const struct store_form *form, bool *is_earlier, struct fault *fault);
/* Writes and syncs the manifest; *is_replaced and *is_broken as in file_replace. */
bool manifest_write(const struct file_system *files, const char *directory,
		    const struct manifest *manifest, bool *is_replaced, bool *is_broken,
		    struct fault *fault);
/* Returns a copy in which one file (or none, for NULL) replaces `n` files starting at index
 * `first`. */
struct manifest manifest_merged(const struct manifest *manifest, size_t first, size_t n,
				const struct stack_info *info);
/* Replaces the form by this number and a copy of this text. */
void manifest_set_form(struct manifest *manifest, unsigned number, struct slice form);
void manifest_free(struct manifest *manifest);

#endif
