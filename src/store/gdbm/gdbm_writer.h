/* Writes a whole GDBM file sequentially. libgdbm has no bulk load: gdbm_store writes a bucket again
 * for each key, with a dozen system calls. Here keys come in the order of GDBM's hash, so each
 * bucket is complete when the next begins. libgdbm accepts the result as its own.
 *
 * The file, in blocks of 4 KB (structures: store/gdbm/gdbm_format.h):
 *
 *  - the header, without reusable space;
 *  - the keys of a bucket, each followed by its value, then the bucket at the start of a block;
 *  - the directory;
 *  - a block of zeros, since libgdbm refuses a directory at the end of the file.
 *
 * Threads: one at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_GDBM_WRITER_H
#define STORE_GDBM_GDBM_WRITER_H

#include "base/slice.h"
#include "store/gdbm/block_writer.h"

struct gdbm_writer;

/* The file is empty and also readable; the caller closes it after the writer. */
struct gdbm_writer *gdbm_writer_open(const struct file_system *files, int file);
/* NULL is allowed. */
void gdbm_writer_close(struct gdbm_writer *writer);

/* Adds a key with a value in two parts. Keys come in the order of entry_key_order, each once. False
 * and errno on failure: the file is unusable; *is_broken as in file_sync. EOVERFLOW if the hashes
 * of more than 166 keys, a full bucket, begin with the same 27 bits, which GDBM cannot store. */
bool gdbm_writer_add(struct gdbm_writer *writer, struct slice key, struct slice head,
		     struct slice value, bool *is_broken);

/* Completes and syncs the file. *written gives its size and the checksums of its blocks, and lives
 * as long as the writer. Failures are as in gdbm_writer_add. */
bool gdbm_writer_end(struct gdbm_writer *writer, const struct block_writer **written,
		     bool *is_broken);

#endif
