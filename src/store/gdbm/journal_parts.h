/* The state of the journal, shared by journal.c, journal_ahead.c and journal_flush.c only.
 *
 * Two locks: `flushing` is held while a group is written and synced; `lock`, taken after it,
 * protects the members that writers, the flushing thread and the journal's thread share, and is
 * never held during a system call that may block. Records wait in `pending`; a flush moves all of
 * them to `writing` and writes them as one group, or as two at the end of a segment.
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
	pthread_cond_t room; /* there is room, a flush ended, or an attempt failed */
	pthread_cond_t work; /* for the journal's thread */
	struct segment current;
	struct segment ahead; /* file -1: being prepared */
	size_t ahead_size; /* of the next one to be prepared */
	size_t least_size; /* a waiting record needs this size */
	size_t reserved; /* bytes that are pending or being written */
	int ahead_error; /* errno, if no segment could be prepared */
	int write_error; /* errno, if the current group could not be written */
	bool is_beginning; /* a flush is making `ahead` the current segment */
	bool is_closing;
	bool has_stopped_retrying; /* see journal_stop_retrying */
	uint64_t appended; /* the last number appended */
	struct journal_records pending;
	struct segment_list segments;
	struct segment_list spares; /* no longer needed, not yet renamed */

	/* Protected by `flushing`, also before and after all threads. */
	int mark_file;
	struct journal_mark mark; /* as last written */

	struct journal_records writing; /* protected by `flushing`, like `block` */
	char block[SEGMENT_BLOCK]; /* of `current`, where its next group begins */

	struct histogram syncs; /* for the figures, like `written` */
	_Atomic uint64_t written;
};

/* The size of the largest segment. */
size_t journal_largest(const struct journal *journal);
/* Logs that there is room again. */
void journal_log_room(const struct journal *journal);
/* The journal's thread; context: the struct journal. */
void *journal_thread(void *context);

#endif
