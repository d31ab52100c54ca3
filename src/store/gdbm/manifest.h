/* The manifest: what the store consists of. One small file, `manifest`, replaced as a whole: the
 * installation, the files of the stack from the newest to the oldest, and the number up to which
 * they hold everything; what comes after it is in the journal. It is the first file that is made,
 * so a directory that has others and no manifest is damaged.
 *
 * The mark of the journal (store/gdbm/journal_mark.h) is made before the manifest is.
 *
 * Bytes, little-endian: 0 magic (8), 8 version (4), 12 how many files (4), 16 installation (16), 32
 * number (8), 40 the id that the next file gets (8); from 48 on 64 a file: id, records, removals,
 * bytes, superseded, size of the GDBM file, size of the index (8 each), checksum of the index's
 * head (4), zero (4); last the CRC32C of all before (4).
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
};

/* *is_there false: there is none. FAULT_UNAVAILABLE: cannot be read, damaged, or of another format. */
bool manifest_read(const struct file_system *files, const char *directory,
		   struct manifest *manifest, bool *is_there, struct fault *fault);
/* On disk when true; else *is_replaced and *is_broken as in file_replace. */
bool manifest_write(const struct file_system *files, const char *directory,
		    const struct manifest *manifest, bool *is_replaced, bool *is_broken,
		    struct fault *fault);
struct manifest manifest_copy(const struct manifest *manifest);
void manifest_free(struct manifest *manifest);

/* The file at hand becomes the newest; n files from the one at `first` on become one (NULL: none). */
void manifest_add(struct manifest *manifest, const struct stack_info *info);
void manifest_merge(struct manifest *manifest, size_t first, size_t n,
		    const struct stack_info *info);

#endif
