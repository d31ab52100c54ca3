/* Writing a whole GDBM file at once. libgdbm has no bulk load: a file that is filled by gdbm_store
 * has each bucket written once for every record in it, and each record takes a dozen system calls.
 * Here the records come in the order of GDBM's hash, so each bucket is complete when the next
 * begins, and the file is written from front to back, once. libgdbm takes it for one of its own.
 *
 * It writes through the file layer, so a full disk and a broken one are found here as everywhere
 * else.
 *
 * The file, in blocks of 4 KB (the structures are in store/gdbm/gdbm_format.h):
 *
 *  - the header: where the directory is, how large everything is, and that no place is free;
 *  - records, a key and its value one behind the other, and behind the records of a bucket the
 *    bucket, at the start of a block;
 *  - the directory;
 *  - a block of zeros, since libgdbm takes no directory at the very end.
 *
 * Threads: one at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_GDBM_WRITER_H
#define STORE_GDBM_GDBM_WRITER_H

#include <stdint.h>

#include "base/slice.h"
#include "store/gdbm/file.h"

struct gdbm_writer;

/* file: empty, open for reading too, and the caller's, who closes it after the writer. */
struct gdbm_writer *gdbm_writer_open(const struct file_system *files, int file);
/* NULL is fine. */
void gdbm_writer_close(struct gdbm_writer *writer);

/* A record of two pieces of value. Keys come in the order of entry_key_order, each once. False and
 * errno: the file is good for nothing then; *is_broken as in file_sync. EOVERFLOW: there are more
 * keys than a bucket has places (166) whose hashes begin with the same 27 bits, which GDBM cannot
 * hold. */
bool gdbm_writer_add(struct gdbm_writer *writer, struct slice key, struct slice head,
		     struct slice value, bool *is_broken);

/* What was written: the size, and the checksums of the blocks (store/gdbm/block_writer.h), which
 * live as long as the writer. */
struct gdbm_written {
	uint64_t size;
	const char *sums;
	size_t n_sums;
};

/* No more records: the file is whole and on disk when true. False: as above. */
bool gdbm_writer_end(struct gdbm_writer *writer, struct gdbm_written *written, bool *is_broken);

#endif
