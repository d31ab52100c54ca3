/* The journal while it is being written: admission, flushing, and the thread that prepares
 * segments.
 *
 * There are two locks. `flushing` is held while a group is written and synced. `lock`, taken after
 * it, protects the members that writers, the flushing thread and the journal's thread share; it is
 * never held during a system call that may block. Records wait in `pending`; a flush moves all of
 * them to `writing` and writes them as one group, or as two at the end of a segment.
 *
 * Space is reserved for a record before it is appended. Each record is counted as a group of its
 * own. There is space if the record and everything pending fit either into the rest of the current
 * segment or into the next segment, which is already allocated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/journal.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/journal_records.h"
#include "store/gdbm/journal_segment.h"

#define SEGMENT_FIRST ((size_t)1 << 20)
#define SEGMENT_LARGEST ((size_t)32 << 20)
#define SEGMENT_LEAST ((size_t)4096)
/* Maximum bytes of an ordinary transaction, and of pending records. */
#define ORDINARY ((size_t)512 << 10)
#define PENDING_MOST ((size_t)4 << 20)
/* Segments that are kept for reuse: while a segment is filled, one or two others are dropped. */
#define SPARES_MOST 2
/* Interval of retries when the disk is full. */
#define RETRY_MILLISECONDS 200
/* A failed flush returns after this time, or earlier if there may be space, because its thread may
 * have other requests to serve. */
#define ROOM_MILLISECONDS 5

struct journal {
	struct journal_options options;
	pthread_t thread;
	_Atomic uint64_t durable;
	atomic_bool has_failed;
	pthread_mutex_t flushing;

	pthread_mutex_t lock;
	/* signalled when there may be space, a flush ended, or an attempt failed */
	pthread_cond_t room;
	pthread_cond_t work; /* for the journal's thread */
	struct segment current;
	struct segment ahead; /* file is -1 while it is being prepared */
	size_t ahead_size; /* size of the next one to be prepared */
	size_t least_size; /* minimum size that a waiting record needs */
	size_t reserved; /* bytes that are pending, being written, or promised */
	size_t promised; /* the part of these for a record that is not appended yet */
	int ahead_error; /* errno, if no segment could be prepared */
	int write_error; /* errno, if the current group could not be written */
	bool is_beginning; /* a flush is making `ahead` the current segment */
	bool is_closing;
	bool has_stopped_retrying; /* see journal_stop_retrying */
	uint64_t appended; /* the last number appended */
	struct journal_records pending;
	struct segment_list segments;
	struct segment_list spares; /* no longer needed, not yet renamed */

	/* Protected by `flushing`; used without it only while there is no other thread. */
	int mark_file;
	struct journal_mark mark; /* as last written */

	struct journal_records writing; /* protected by `flushing`, as is `block` */
	/* contents of `current` at the place where its next group begins */
	char block[SEGMENT_BLOCK];

	struct histogram syncs; /* for the figures, as is `written` */
	_Atomic uint64_t written;
};

enum store_state journal_state(const struct journal *journal, uint64_t number)
{
	/* Read before the durable number: everything that became durable before the failure is
	 * durable. */
	bool has_failed = atomic_load_explicit(&journal->has_failed, memory_order_acquire);

	if (journal_durable(journal) >= number)
		return STORE_DURABLE;
	return has_failed ? STORE_FAILED : STORE_PENDING;
}

uint64_t journal_durable(const struct journal *journal)
{
	return atomic_load(&journal->durable);
}

bool journal_has_failed(const struct journal *journal)
{
	return atomic_load_explicit(&journal->has_failed, memory_order_acquire);
}

void journal_fail(struct journal *journal, const char *what, int error)
{
	if (atomic_exchange(&journal->has_failed, true))
		return;
	log_event(LOG_LEVEL_ERROR, "store_failed", "file", what, "error", strerror(error),
		  "consequence", "writes are rejected until restart", NULL);
	pthread_mutex_lock(&journal->lock);
	pthread_cond_broadcast(&journal->room);
	pthread_cond_broadcast(&journal->work);
	pthread_mutex_unlock(&journal->lock);
}

static void log_room(const struct journal *journal)
{
	log_event(LOG_LEVEL_NOTICE, "journal_has_room", "directory", journal->options.directory,
		  "consequence", "writes are accepted again", NULL);
}

/* ---- flushing ---- */

/* journal_flush takes the mutex `flushing`; the static functions in this part run with it held. It
 * protects `writing`, `current` and a segment that is being begun. Members that other threads read
 * are changed only with `lock` held, too. */

/* Handles a failed write, and returns false. The journal's thread retries after transient errors;
 * all other errors stop writing, because a failed write may have written something. */
static bool write_failed(struct journal *journal, const char *what, int error, bool is_broken)
{
	if (is_broken || !file_error_is_transient(error)) {
		journal_fail(journal, what, error);
		return false;
	}
	pthread_mutex_lock(&journal->lock);
	if (journal->write_error == 0)
		log_event(LOG_LEVEL_WARNING, "journal_no_room", "file", what, "error",
			  strerror(error), "consequence",
			  "writes are rejected until there is space", NULL);
	journal->write_error = error;
	pthread_cond_signal(&journal->work);
	pthread_mutex_unlock(&journal->lock);
	return false;
}

/* Calls write_failed for the current segment. */
static bool segment_failed(struct journal *journal, int error, bool is_broken)
{
	char path[PATH_MAX];

	segment_path(&journal->options, journal->current.first, path);
	return write_failed(journal, path, error, is_broken);
}

/* Makes the prepared segment the current one. False if none is prepared yet or an operation
 * failed. */
static bool segment_change(struct journal *journal)
{
	struct segment next, old;
	char block[SEGMENT_BLOCK];
	bool is_begun, is_broken = false;
	int error;

	pthread_mutex_lock(&journal->lock);
	next = journal->ahead;
	journal->is_beginning = next.file >= 0;
	pthread_mutex_unlock(&journal->lock);
	if (next.file < 0)
		return false;
	is_begun = segment_begin(&journal->options, &next, journal_durable(journal) + 1, block,
				 &is_broken);
	if (is_begun) {
		/* The newest segment is marked before anything in it is acknowledged. */
		struct journal_mark mark = journal->mark;

		mark.newest = next.first;
		mark.size = next.size;
		mark.durable = journal_durable(journal);
		mark.is_clean = false;
		is_begun = mark_write(journal->options.files, journal->mark_file,
				      &journal->options.installation, &mark, &is_broken);
		if (is_begun)
			journal->mark = mark;
	}
	error = errno;
	pthread_mutex_lock(&journal->lock);
	journal->is_beginning = false;
	journal->ahead = next;
	old = journal->current;
	if (is_begun) {
		journal->current = next;
		journal->ahead.file = -1;
		segments_add(&journal->segments, next.first);
		pthread_cond_signal(&journal->work);
	}
	pthread_mutex_unlock(&journal->lock);
	if (!is_begun)
		return write_failed(journal, SEGMENT_AHEAD, error, is_broken);
	memcpy(journal->block, block, sizeof block);
	if (old.file >= 0)
		journal->options.files->close(journal->options.files, old.file);
	return true;
}

static bool group_write(struct journal *journal, const struct record_group *group)
{
	const struct journal_options *options = &journal->options;
	const struct segment *segment = &journal->current;
	const struct group_place place = { segment->used, segment->size, journal->block };
	struct group_span span;
	bool had_no_room;
	int64_t started;

	span = journal_records_group(&journal->writing, group, &options->installation,
				     journal_durable(journal), &place);
	if (!file_write_all(options->files, segment->file, span.bytes, span.size,
			    (off_t)span.offset))
		return segment_failed(journal, errno, false);
	started = clock_microseconds();
	if (options->files->fdatasync(options->files, segment->file) < 0)
		return segment_failed(journal, errno, true);
	atomic_store(&journal->durable, group->last); /* from here on the responses may be sent */
	histogram_add(&journal->syncs, (uint64_t)(clock_microseconds() - started));

	atomic_fetch_add_explicit(&journal->written, GROUP_HEAD + group->size,
				  memory_order_relaxed);
	journal->writing.done += group->size;
	memcpy(journal->block, span.block, span.used % SEGMENT_BLOCK);
	pthread_mutex_lock(&journal->lock);
	journal->current.used = span.used;
	/* Each record has reserved a head of its own. */
	journal->reserved -= group->size + group->n * GROUP_HEAD;
	had_no_room = journal->write_error != 0;
	journal->write_error = 0;
	pthread_mutex_unlock(&journal->lock);
	if (had_no_room)
		log_room(journal);
	return true;
}

/* Writes `writing`. False if some of it could not be written; that part stays there. */
static bool write_all(struct journal *journal)
{
	struct journal_records *writing = &journal->writing;

	while (writing->done < writing->size) {
		struct record_group group = journal_records_that_fit(
			writing, journal->current.size - journal->current.used);

		/* If no record fits, the next segment begins. */
		if (journal_has_failed(journal) ||
		    !(group.n == 0 ? segment_change(journal) : group_write(journal, &group)))
			return false;
	}
	journal_records_clear(writing);
	return true;
}

void journal_flush(struct journal *journal)
{
	struct journal_records empty;
	bool has_rest;
	int error = 0; /* errno if nothing is retried */

	pthread_mutex_lock(&journal->flushing);
	/* Writes what the last flush left, and then everything appended since. */
	if (!journal_has_failed(journal) && write_all(journal)) {
		pthread_mutex_lock(&journal->lock);
		empty = journal->writing;
		journal->writing = journal->pending;
		journal->pending = empty;
		pthread_mutex_unlock(&journal->lock);
		(void)write_all(journal);
	}
	has_rest = journal->writing.size > 0 && !journal_has_failed(journal);
	pthread_mutex_unlock(&journal->flushing);
	pthread_mutex_lock(&journal->lock);
	pthread_cond_broadcast(&journal->room);
	if (has_rest && journal->has_stopped_retrying)
		error = journal->write_error != 0 ? journal->write_error : journal->ahead_error;
	/* The caller tries again when there may be space. */
	if (has_rest && error == 0)
		clock_wait(&journal->room, &journal->lock, ROOM_MILLISECONDS);
	pthread_mutex_unlock(&journal->lock);
	if (error != 0)
		journal_fail(journal, journal->options.directory, error);
}

void journal_stop_retrying(struct journal *journal)
{
	pthread_mutex_lock(&journal->lock);
	journal->has_stopped_retrying = true;
	pthread_mutex_unlock(&journal->lock);
}

bool journal_flush_to(struct journal *journal, uint64_t number)
{
	while (journal_state(journal, number) == STORE_PENDING)
		journal_flush(journal);
	return journal_state(journal, number) == STORE_DURABLE;
}

/* ---- the journal's thread ---- */

/* Reuses a spare segment if possible, otherwise makes a new one. Called with the lock held, which
 * it releases in the meantime. */
static void make_ahead(struct journal *journal)
{
	const struct journal_options *options = &journal->options;
	size_t size = journal->ahead_size, whole = options->segment_bytes;
	uint64_t spare = segments_take(&journal->spares);
	struct segment segment;
	bool is_made, is_broken = false;
	int error;

	if (size < journal->least_size)
		size = journal->least_size;
	pthread_mutex_unlock(&journal->lock);
	is_made = (spare != 0 && segment_reuse(options, spare, size, &segment, &is_broken)) ||
		  (!is_broken && segment_make(options, size, &segment, &is_broken));
	error = errno;
	if (is_broken)
		journal_fail(journal, SEGMENT_AHEAD, error);
	pthread_mutex_lock(&journal->lock);
	if (is_made) {
		if (journal->ahead_error != 0)
			log_room(journal);
		journal->ahead = segment;
		journal->ahead_error = 0;
		journal->ahead_size = 2 * size < whole ? 2 * size : whole;
	} else {
		if (journal->ahead_error == 0)
			log_event(LOG_LEVEL_WARNING, "journal_no_room", "directory",
				  options->directory, "error", strerror(error), "consequence",
				  "writes will be rejected when the current segment is full, until "
				  "there is space",
				  NULL);
		journal->ahead_error = error;
		/* A smaller one may fit. */
		if (journal->ahead_size > SEGMENT_FIRST)
			journal->ahead_size /= 2;
	}
	journal->least_size = 0;
	pthread_cond_broadcast(&journal->room);
}

/* Returns whether everything reserved fits into the current segment. Then `ahead` is not needed and
 * can be replaced by a larger one. */
static bool current_has_all(const struct journal *journal)
{
	return journal->reserved <= journal->current.size - journal->current.used;
}

static bool ahead_is_too_small(const struct journal *journal)
{
	return journal->ahead.file >= 0 && !journal->is_beginning && journal->ahead.first == 0 &&
	       journal->least_size > journal->ahead.size && current_has_all(journal);
}

static void *run_thread(void *context)
{
	struct journal *journal = context;

	segment_remove_prepared(&journal->options);
	pthread_mutex_lock(&journal->lock);
	while (!journal->is_closing) {
		if (journal_has_failed(journal)) {
			pthread_cond_wait(&journal->work, &journal->lock);
			continue;
		}
		if (ahead_is_too_small(journal)) {
			struct segment small = journal->ahead;

			journal->ahead = SEGMENT_NONE;
			/* Removing a file takes a while. */
			pthread_mutex_unlock(&journal->lock);
			segment_discard(&journal->options, &small);
			pthread_mutex_lock(&journal->lock);
		}
		if (journal->ahead.file < 0)
			make_ahead(journal);
		if (journal->write_error != 0) {
			pthread_mutex_unlock(&journal->lock);
			journal_flush(journal);
			pthread_mutex_lock(&journal->lock);
		}
		if (journal->is_closing)
			break;
		if (journal->ahead_error != 0 || journal->write_error != 0)
			clock_wait(&journal->work, &journal->lock, RETRY_MILLISECONDS);
		else if (journal->ahead.file >= 0 && !ahead_is_too_small(journal))
			pthread_cond_wait(&journal->work, &journal->lock);
	}
	pthread_mutex_unlock(&journal->lock);
	return NULL;
}

/* ---- admission ---- */

static bool fits(const struct journal *journal, size_t size)
{
	size += journal->reserved;
	return size <= journal->current.size - journal->current.used ||
	       (journal->ahead.file >= 0 && size <= journal->ahead.size - journal->ahead.used);
}

/* Returns whether the prepared segment is too small for a record of this size, even if all records
 * before it were flushed. */
static bool needs_larger(const struct journal *journal, size_t size)
{
	return journal->ahead.file >= 0 && size > journal->ahead.size - journal->ahead.used &&
	       current_has_all(journal);
}

/* Called with the lock held. */
static bool unlock_and_refuse(struct journal *journal, struct fault *fault)
{
	int error = journal->ahead_error != 0 ? journal->ahead_error : journal->write_error;

	pthread_mutex_unlock(&journal->lock);
	if (journal_has_failed(journal))
		return fault_cause(
			fault, FAULT_UNAVAILABLE, 0,
			"a write failed (see store_failed in the log); restart the service to accept "
			"writes again");
	return fault_cause(fault, FAULT_UNAVAILABLE, error, "no space for the journal in %s",
			   journal->options.directory);
}

static bool cannot_go_on(const struct journal *journal)
{
	return journal_has_failed(journal) || journal->ahead_error != 0 ||
	       journal->write_error != 0;
}

/* Waits until a record of this size fits and at most `most` bytes are pending, then reserves
 * `reserved` bytes. The waiting thread flushes pending records. Promised records cannot be flushed;
 * waiting for them in a loop would take the processor from the thread that is about to append
 * them. */
static bool make_room(struct journal *journal, size_t size, size_t most, size_t reserved,
		      struct fault *fault)
{
	pthread_mutex_lock(&journal->lock);
	while (journal_has_failed(journal) || journal->write_error != 0 ||
	       journal->reserved - journal->promised > most || !fits(journal, size)) {
		if (cannot_go_on(journal))
			return unlock_and_refuse(journal, fault);
		if (needs_larger(journal, size)) {
			/* Requests a segment that has space for this record after everything
			 * reserved, and extra space, into which others may write while the
			 * segment is being made. */
			const size_t wanted = size + journal->reserved + SEGMENT_HEAD +
					      journal->options.segment_bytes / 8;

			if (journal->least_size < wanted)
				journal->least_size = wanted;
			pthread_cond_signal(&journal->work);
		} else if (journal->reserved > journal->promised) {
			pthread_mutex_unlock(&journal->lock);
			journal_flush(journal);
			pthread_mutex_lock(&journal->lock);
			continue;
		}
		pthread_cond_wait(&journal->room, &journal->lock);
	}
	journal->reserved += reserved;
	journal->promised += reserved;
	pthread_mutex_unlock(&journal->lock);
	return true;
}

bool journal_admit(struct journal *journal, struct fault *fault)
{
	const size_t half = journal->options.segment_bytes / 2;

	return make_room(journal, half < ORDINARY ? half : ORDINARY, PENDING_MOST, 0, fault);
}

bool journal_can_write(struct journal *journal)
{
	bool can_write;

	pthread_mutex_lock(&journal->lock);
	can_write = !cannot_go_on(journal);
	pthread_mutex_unlock(&journal->lock);
	return can_write;
}

void journal_figures(struct journal *journal, struct store_figures *figures)
{
	figures->durable = journal_durable(journal);
	figures->journal_bytes = atomic_load(&journal->written);
	histogram_read(&journal->syncs, &figures->journal_syncs);
	pthread_mutex_lock(&journal->lock);
	figures->journal_segments = journal->segments.n;
	pthread_mutex_unlock(&journal->lock);
}

/* Returns the size of a record and of a group head. */
static size_t size_to_reserve(const struct change *changes, size_t n)
{
	return record_padded(journal_records_size(changes, n)) + GROUP_HEAD;
}

bool journal_fits(struct journal *journal, const struct change *changes, size_t n)
{
	const size_t size = size_to_reserve(changes, n);
	bool is_so;

	pthread_mutex_lock(&journal->lock);
	is_so = fits(journal, size);
	pthread_mutex_unlock(&journal->lock);
	return is_so;
}

bool journal_prepare(struct journal *journal, const struct change *changes, size_t n,
		     struct fault *fault)
{
	const size_t size = size_to_reserve(changes, n);

	return size > SEGMENT_MOST / 2 || make_room(journal, size, SIZE_MAX, 0, fault);
}

bool journal_reserve(struct journal *journal, const struct change *changes, size_t n,
		     struct fault *fault)
{
	const size_t size = size_to_reserve(changes, n);

	if (size > SEGMENT_MOST / 2)
		return fault_cause(fault, FAULT_TOO_LARGE, 0, "a transaction of %zu bytes", size);
	return make_room(journal, size, SIZE_MAX, size, fault);
}

void journal_append(struct journal *journal, uint64_t number, const struct change *changes,
		    size_t n)
{
	pthread_mutex_lock(&journal->lock);
	assert(number == journal->appended + 1);
	journal_records_add(&journal->pending, number, changes, n);
	journal->appended = number;
	journal->promised = 0;
	pthread_cond_broadcast(&journal->room);
	pthread_mutex_unlock(&journal->lock);
}

/* ---- removing segments ---- */

/* Removes the oldest spares until `most` are left. */
static void remove_spares(struct journal *journal, size_t most)
{
	pthread_mutex_lock(&journal->lock);
	while (journal->spares.n > most) {
		uint64_t first = segments_take(&journal->spares);

		pthread_mutex_unlock(&journal->lock);
		segment_remove(&journal->options, first);
		pthread_mutex_lock(&journal->lock);
	}
	pthread_mutex_unlock(&journal->lock);
}

void journal_drop(struct journal *journal, uint64_t base)
{
	uint64_t first;

	pthread_mutex_lock(&journal->lock);
	while ((first = segments_take_below(&journal->segments, base)) != 0)
		segments_add(&journal->spares, first);
	pthread_mutex_unlock(&journal->lock);
	remove_spares(journal, SPARES_MOST);
}

void journal_remove_spares(struct journal *journal)
{
	remove_spares(journal, 0);
}

/* ---- opening and closing ---- */

static void journal_free(struct journal *journal)
{
	const struct file_system *files = journal->options.files;

	/* A named segment is kept even if it is empty, because the mark may name it. */
	if (journal->ahead.first > 0 && journal->ahead.file >= 0)
		files->close(files, journal->ahead.file);
	else
		segment_discard(&journal->options, &journal->ahead);
	if (journal->current.file >= 0)
		files->close(files, journal->current.file);
	if (journal->mark_file >= 0)
		files->close(files, journal->mark_file);
	pthread_cond_destroy(&journal->work);
	pthread_cond_destroy(&journal->room);
	pthread_mutex_destroy(&journal->flushing);
	pthread_mutex_destroy(&journal->lock);
	free(journal->segments.first);
	free(journal->spares.first);
	journal_records_free(&journal->pending);
	journal_records_free(&journal->writing);
	free(journal);
}

/* Marks the end of the journal as segments_take_over will leave it, before that function truncates
 * or removes the last segment. */
static bool mark_found(struct journal *journal, const struct journal_end *end, struct fault *fault)
{
	const struct journal_options *options = &journal->options;
	const bool is_kept = end->n > 0 && end->segments[end->n - 1] <= end->last;
	const size_t n = is_kept || end->n == 0 ? end->n : end->n - 1;
	bool is_broken = false;

	journal->mark = end->mark;
	journal->mark.newest = n == 0 ? 0 : end->segments[n - 1];
	journal->mark.size = is_kept ? end->offset : 0;
	journal->mark.durable = end->last;
	journal->mark.is_clean = false;
	journal->mark_file = mark_open(options->files, options->directory);
	return (journal->mark_file >= 0 &&
		mark_write(options->files, journal->mark_file, &options->installation,
			   &journal->mark, &is_broken)) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s/" MARK_NAME,
			   options->directory);
}

bool journal_open(const struct journal_options *options, const struct journal_end *end,
		  struct journal **journal, struct fault *fault)
{
	struct journal *opened = memory_check(calloc(1, sizeof *opened));
	int error;

	opened->options = *options;
	if (options->segment_bytes == 0)
		opened->options.segment_bytes = SEGMENT_LARGEST;
	else if (options->segment_bytes < SEGMENT_LEAST)
		opened->options.segment_bytes = SEGMENT_LEAST;
	opened->current = SEGMENT_NONE;
	opened->ahead = SEGMENT_NONE;
	opened->mark_file = -1;
	opened->ahead_size = opened->options.segment_bytes;
	if (opened->ahead_size > SEGMENT_FIRST)
		opened->ahead_size = SEGMENT_FIRST;
	opened->appended = end->last;
	atomic_init(&opened->durable, end->last);
	pthread_mutex_init(&opened->lock, NULL);
	clock_condition_init(&opened->room);
	pthread_mutex_init(&opened->flushing, NULL);
	clock_condition_init(&opened->work);
	if (!mark_found(opened, end, fault) ||
	    !segments_take_over(options, end, &opened->segments, fault)) {
		journal_free(opened);
		return false;
	}
	error = pthread_create(&opened->thread, NULL, run_thread, opened);
	if (error != 0) {
		journal_free(opened);
		return fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot start a thread");
	}
	*journal = opened;
	return true;
}

void journal_close(struct journal *journal)
{
	const struct journal_options *options;
	bool is_clean, is_broken = false;

	if (journal == NULL)
		return;
	journal_flush(journal);
	pthread_mutex_lock(&journal->lock);
	journal->is_closing = true;
	pthread_cond_signal(&journal->work);
	pthread_mutex_unlock(&journal->lock);
	pthread_join(journal->thread, NULL);
	journal_remove_spares(journal);

	/* A clean end is marked in both slots, so that damage to one does not bring back an older
	 * mark. If this fails, the end is not clean, as after a kill. */
	options = &journal->options;
	is_clean = !journal_has_failed(journal) && journal_durable(journal) == journal->appended;
	if (is_clean) {
		journal->mark.durable = journal->appended;
		journal->mark.is_clean = true;
	}
	if (is_clean && journal->current.file >= 0) {
		journal->mark.newest = journal->current.first;
		journal->mark.size = journal->current.used;
	}
	for (int i = 0; is_clean && i < 2; i++) {
		if (!mark_write(options->files, journal->mark_file, &options->installation,
				&journal->mark, &is_broken))
			log_event(LOG_LEVEL_WARNING, "journal_not_marked", "directory",
				  options->directory, "error", strerror(errno), "consequence",
				  "the journal was not closed cleanly", NULL);
	}
	journal_free(journal);
}
