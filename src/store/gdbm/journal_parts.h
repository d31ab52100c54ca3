/* The journal from inside: what its parts (journal.c, journal_ahead.c, journal_flush.c) share.
 * Nobody else includes this.
 *
 * Two locks: `flushing` is held while a group is written and synced; `lock`, taken after it, guards
 * the members that writers, the flushing thread and the thread that writes ahead share, and is
 * never held during a system call that may wait. Records wait in `pending`; a flush takes all of
 * them (they are in `writing` then) and writes them as one group, or as two where a segment ends.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_PARTS_H
#define STORE_GDBM_JOURNAL_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/gdbm/journal.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/journal_records.h"
#include "store/gdbm/journal_segment.h"

#define SEGMENT_FIRST ((size_t)1 << 20)
#define SEGMENT_LARGEST ((size_t)32 << 20)
#define SEGMENT_LEAST ((size_t)4096)

struct journal {
	struct journal_options options;
	pthread_t thread;
	_Atomic uint64_t durable;
	atomic_bool has_failed;
	pthread_mutex_t flushing;

	pthread_mutex_t lock;
	pthread_cond_t room; /* room was made, a flush ended, or an attempt failed */
	pthread_cond_t work; /* for the thread that writes ahead */
	struct segment current;
	struct segment ahead; /* file -1: being made */
	size_t ahead_size; /* of the one to be made */
	size_t least_size; /* a record waits that needs this much */
	size_t accounted; /* what waits or is being written */
	int ahead_error; /* why there is no segment ahead; 0: none known */
	int write_error; /* why the current group waits; 0: it does not */
	bool is_beginning; /* the flusher is about to make `ahead` the current one */
	bool is_closing;
	uint64_t appended; /* the last number in pending or before */
	struct records pending;
	struct segment_list segments;
	struct segment_list spares; /* dropped; their names are still there */

	/* The flusher's, and of who opens and closes. */
	int mark_file;
	struct journal_mark mark; /* as it was written last */

	struct records writing; /* the flusher's, like the block */
	char block[SEGMENT_BLOCK]; /* of `current`, the one that its next group begins in */

	struct histogram syncs; /* for the figures alone, like the bytes */
	_Atomic uint64_t written;
};

/* The size of the largest segment. */
size_t journal_largest(const struct journal *journal);
/* After a line that there was no room. */
void journal_tell_room(const struct journal *journal);
/* What the thread that writes ahead runs, with the journal as its context. */
void *journal_thread(void *context);

#endif
