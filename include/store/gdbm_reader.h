/* Finding records in a GDBM file that lies in memory and does not change (store/gdbm_format.h).
 *
 * libgdbm would do it too, and read the same files. But it copies for each record the bucket (4 KB) and
 * the record, before it copies the value for its caller, and has a copy of the directory and a mapping
 * for each thread that reads: that was two fifths of what a list costs. Here nothing is copied, and all
 * threads share one mapping.
 *
 * The bytes are not trusted: whatever they say, nothing outside them is looked at. A damaged file may
 * give a wrong value, or seem not to have a key: its owner has checksums against both, and says which
 * bytes are not to be believed.
 *
 * Threads: any number at once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_READER_H
#define STORE_GDBM_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

struct gdbm_reader {
	struct slice file;
	size_t directory;
	unsigned directory_bits;
	size_t bucket_size;
	size_t bucket_places;
	_Atomic(atomic_uchar *) refused; /* for each piece of the file; NULL while nothing is */
};

/* The bytes stay the caller's, and where they are. False: it is no GDBM file of this machine's kind. */
bool gdbm_reader_open(struct gdbm_reader *reader, struct slice file);
/* When nobody reads any more; also of one that was not opened, but is zero. */
void gdbm_reader_close(struct gdbm_reader *reader);

/* From now on what needs these bytes, of which there is at least one, is refused; rounded up to pieces of
 * 64 KB. False: it was already. */
bool gdbm_reader_refuse(struct gdbm_reader *reader, uint64_t at, uint64_t size);
/* Whether anything is. */
bool gdbm_reader_refuses(const struct gdbm_reader *reader);

/* The key will be looked for in a moment: its place in the bucket is fetched from memory meanwhile. */
void gdbm_reader_expect(const struct gdbm_reader *reader, struct slice key);

/* The place of the bucket that a key of this order (record_key_order) would be in, behind whose records it
 * lies in a file of gdbm_writer's; 0: the file does not have it. */
size_t gdbm_reader_bucket(const struct gdbm_reader *reader, uint32_t order);

enum gdbm_answer { GDBM_FOUND, GDBM_ABSENT, GDBM_DAMAGED, GDBM_REFUSED };

/* *value is in the file's bytes, and set when found. DAMAGED: the file refers to what it does not have.
 * REFUSED: the answer lies, as far as it was come, in what gdbm_reader_refuse has named. */
enum gdbm_answer gdbm_reader_find(const struct gdbm_reader *reader, struct slice key,
				  struct slice *value);

#endif
