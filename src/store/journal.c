/* Writing the journal.
 *
 * Two locks: `lock` guards what the writer, the flusher and the thread that writes ahead share, and
 * is held for moments only; `is_flushing` is the right to write and sync, taken without waiting by
 * whoever finds it free. Records wait in `pending`; the flusher takes them all at once (they are in
 * `writing` then) and writes them as one group, or as two where a segment ends.
 *
 * Room is counted so that what was promised is there: every record counts as if it were a group by
 * itself, and a record is let in when everything that waits and the record fit either into what is
 * left of the current segment or into the next one, which is already on the disk.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/journal_format.h"
#include "store/journal_records.h"
#include "store/journal_segment.h"

#define SEGMENT_FIRST ((size_t)1 << 20)
#define SEGMENT_LARGEST ((size_t)32 << 20)
#define SEGMENT_LEAST ((size_t)4096)
/* What an ordinary transaction may take, and how much may wait for the disk. */
#define ORDINARY ((size_t)512 << 10)
#define PENDING_MOST ((size_t)4 << 20)
/* How long until room is looked for again. */
#define RETRY_MILLISECONDS 200
#define RETRY_AFTER_SECONDS 5

struct journal {
	struct journal_options options;
	pthread_t thread;
	_Atomic uint64_t durable;
	atomic_bool has_failed;
	atomic_bool is_flushing;

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

	struct records writing; /* the flusher's */

	struct histogram syncs; /* for the figures alone, like the bytes */
	_Atomic uint64_t written;
};

enum store_state journal_state(const struct journal *journal, uint64_t number)
{
	/* In this order: what became durable before the failure is durable. */
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
		  "consequence", "nothing is written any more until restart", NULL);
	pthread_mutex_lock(&journal->lock);
	pthread_cond_broadcast(&journal->room);
	pthread_cond_broadcast(&journal->work);
	pthread_mutex_unlock(&journal->lock);
}

/* Writing ahead. */

static void wait_a_moment(struct journal *journal)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += RETRY_MILLISECONDS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&journal->work, &journal->lock, &until);
}

static size_t largest(const struct journal *journal)
{
	size_t size = journal->options.segment_bytes;

	if (size == 0)
		return SEGMENT_LARGEST;
	return size < SEGMENT_LEAST ? SEGMENT_LEAST : size;
}

/* With the lock held, which it lets go of meanwhile. */
static void make_ahead(struct journal *journal)
{
	size_t size = journal->ahead_size, whole = largest(journal);
	struct segment segment;
	bool is_made, is_broken = false;
	int error;

	if (size < journal->least_size)
		size = journal->least_size;
	pthread_mutex_unlock(&journal->lock);
	is_made = segment_make(&journal->options, size, &segment, &is_broken);
	error = errno;
	if (is_broken)
		journal_fail(journal, SEGMENT_AHEAD, error);
	pthread_mutex_lock(&journal->lock);
	if (is_made) {
		journal->ahead = segment;
		journal->ahead_error = 0;
		journal->ahead_size = 2 * size < whole ? 2 * size : whole;
		journal->least_size = 0;
	} else {
		if (journal->ahead_error == 0)
			log_event(LOG_LEVEL_WARNING, "journal_no_room", "directory",
				  journal->options.directory, "error", strerror(error), NULL);
		journal->ahead_error = error;
		journal->least_size = 0;
		/* Where there is no room for a large one, there may be for a small one. */
		if (journal->ahead_size > SEGMENT_FIRST)
			journal->ahead_size /= 2;
	}
	pthread_cond_broadcast(&journal->room);
}

static bool ahead_is_too_small(const struct journal *journal)
{
	return journal->ahead.file >= 0 && !journal->is_beginning &&
	       journal->least_size > journal->ahead.size;
}

static void *journal_thread(void *context)
{
	struct journal *journal = context;

	pthread_mutex_lock(&journal->lock);
	while (!journal->is_closing) {
		if (journal_has_failed(journal)) {
			pthread_cond_wait(&journal->work, &journal->lock);
			continue;
		}
		if (ahead_is_too_small(journal))
			segment_discard(&journal->options, &journal->ahead);
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
			wait_a_moment(journal);
		else if (journal->ahead.file >= 0 && !ahead_is_too_small(journal))
			pthread_cond_wait(&journal->work, &journal->lock);
	}
	pthread_mutex_unlock(&journal->lock);
	return NULL;
}

/* Letting transactions in. */

static bool fits(const struct journal *journal, size_t size)
{
	size += journal->accounted;
	return size <= journal->current.size - journal->current.used ||
	       (journal->ahead.file >= 0 && size <= journal->ahead.size - journal->ahead.used);
}

static bool refuse(struct journal *journal, struct fault *fault)
{
	int error = journal->ahead_error != 0 ? journal->ahead_error : journal->write_error;

	pthread_mutex_unlock(&journal->lock);
	if (journal_has_failed(journal))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "a sync of the disk failed; restart to write again");
	fault_cause(fault, FAULT_UNAVAILABLE, error, "no room for the journal in %s",
		    journal->options.directory);
	fault->retry_after = RETRY_AFTER_SECONDS;
	return false;
}

static bool cannot_go_on(const struct journal *journal)
{
	return journal_has_failed(journal) || journal->ahead_error != 0 ||
	       journal->write_error != 0;
}

/* Waits until a record of this size fits and no more than `most` waits; with the lock held, which
 * refuse lets go of. Whoever waits does what can be done: it flushes when nobody else does. */
static bool make_room(struct journal *journal, size_t size, size_t most, struct fault *fault)
{
	while (journal_has_failed(journal) || journal->write_error != 0 ||
	       journal->accounted > most || !fits(journal, size)) {
		if (cannot_go_on(journal))
			return refuse(journal, fault);
		if (journal->accounted > 0 && !atomic_load(&journal->is_flushing)) {
			pthread_mutex_unlock(&journal->lock);
			journal_flush(journal);
			pthread_mutex_lock(&journal->lock);
			continue;
		}
		if (journal->accounted == 0 && journal->ahead.file >= 0) {
			journal->least_size = size + SEGMENT_HEAD;
			pthread_cond_signal(&journal->work);
		}
		pthread_cond_wait(&journal->room, &journal->lock);
	}
	return true;
}

bool journal_admit(struct journal *journal, struct fault *fault)
{
	size_t ordinary = largest(journal) / 2 < ORDINARY ? largest(journal) / 2 : ORDINARY;

	pthread_mutex_lock(&journal->lock);
	if (!make_room(journal, ordinary, PENDING_MOST, fault))
		return false;
	pthread_mutex_unlock(&journal->lock);
	return true;
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

bool journal_reserve(struct journal *journal, const struct change *changes, size_t n,
		     struct fault *fault)
{
	size_t size = record_padded(records_size(changes, n)) + GROUP_HEAD;

	if (size > SEGMENT_MOST / 2)
		return fault_cause(fault, FAULT_TOO_LARGE, 0, "a transaction of %zu bytes", size);
	pthread_mutex_lock(&journal->lock);
	if (!make_room(journal, size, SIZE_MAX, fault))
		return false;
	journal->accounted += size;
	pthread_mutex_unlock(&journal->lock);
	return true;
}

void journal_append(struct journal *journal, uint64_t number, const struct change *changes,
		    size_t n)
{
	pthread_mutex_lock(&journal->lock);
	assert(number == journal->appended + 1);
	records_add(&journal->pending, number, changes, n);
	journal->appended = number;
	pthread_mutex_unlock(&journal->lock);
}

/* Flushing: what follows runs with is_flushing held, so `writing`, `current` and a segment that is
 * being begun have one owner; what others read of them changes under the lock. */

/* Always false. What may pass is tried again by the journal's thread; all else is a fail stop: a
 * write that failed may have written. */
static bool write_failed(struct journal *journal, const char *what, int error, bool is_broken)
{
	if (is_broken || !file_error_passes(error)) {
		journal_fail(journal, what, error);
		return false;
	}
	pthread_mutex_lock(&journal->lock);
	if (journal->write_error == 0)
		log_event(LOG_LEVEL_WARNING, "journal_no_room", "file", what, "error",
			  strerror(error), NULL);
	journal->write_error = error;
	pthread_cond_signal(&journal->work);
	pthread_mutex_unlock(&journal->lock);
	return false;
}

/* Goes over to the segment ahead; false when there is none yet or it could not be begun. */
static bool segment_change(struct journal *journal)
{
	struct segment next, old;
	bool is_begun, is_broken = false;
	int error;

	pthread_mutex_lock(&journal->lock);
	next = journal->ahead;
	journal->is_beginning = next.file >= 0;
	pthread_mutex_unlock(&journal->lock);
	if (next.file < 0)
		return false;
	is_begun = segment_begin(&journal->options, &next, journal_durable(journal) + 1,
				 &is_broken);
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
	if (old.file >= 0)
		journal->options.files->close(journal->options.files, old.file);
	return true;
}

static bool part_write(struct journal *journal, const struct part *part)
{
	const struct journal_options *options = &journal->options;
	struct records *records = &journal->writing;
	struct segment *segment = &journal->current;
	char path[PATH_MAX];
	const char *group;
	int64_t started;

	segment_path(options, segment, path);
	group = records_group(records, part, &options->installation, journal_durable(journal));
	if (!file_write_all(options->files, segment->file, group, GROUP_HEAD + part->size,
			    (off_t)segment->used))
		return write_failed(journal, path, errno, false);
	started = clock_microseconds();
	if (options->files->fdatasync(options->files, segment->file) < 0)
		return write_failed(journal, path, errno, true);
	atomic_store(&journal->durable, part->last);
	histogram_add(&journal->syncs, (uint64_t)(clock_microseconds() - started));
	atomic_fetch_add_explicit(&journal->written, GROUP_HEAD + part->size, memory_order_relaxed);
	records->done += part->size;
	pthread_mutex_lock(&journal->lock);
	segment->used += GROUP_HEAD + part->size;
	journal->accounted -= part->size + part->n * GROUP_HEAD;
	journal->write_error = 0;
	pthread_mutex_unlock(&journal->lock);
	return true;
}

static void flush_once(struct journal *journal)
{
	struct records *writing = &journal->writing;

	pthread_mutex_lock(&journal->lock);
	if (writing->size == 0) {
		struct records empty = *writing;

		*writing = journal->pending;
		journal->pending = empty;
	}
	pthread_mutex_unlock(&journal->lock);
	while (writing->done < writing->size && !journal_has_failed(journal)) {
		struct part part = records_that_fit(writing,
						    journal->current.size - journal->current.used);

		if (part.n == 0 ? !segment_change(journal) : !part_write(journal, &part))
			return;
	}
	if (!journal_has_failed(journal))
		records_clear(writing);
}

bool journal_flush(struct journal *journal)
{
	if (atomic_exchange(&journal->is_flushing, true))
		return false;
	if (!journal_has_failed(journal))
		flush_once(journal);
	atomic_store(&journal->is_flushing, false);
	pthread_mutex_lock(&journal->lock);
	pthread_cond_broadcast(&journal->room);
	pthread_mutex_unlock(&journal->lock);
	return true;
}

bool journal_flush_to(struct journal *journal, uint64_t number)
{
	while (journal_state(journal, number) == STORE_PENDING) {
		bool was_flushed = journal_flush(journal);

		pthread_mutex_lock(&journal->lock);
		/* Whoever flushes tells when it has ended; while there is no room for what is being
		 * written, the journal's thread does. */
		if (journal_state(journal, number) == STORE_PENDING &&
		    (journal->write_error != 0 ||
		     (!was_flushed && atomic_load(&journal->is_flushing))))
			pthread_cond_wait(&journal->room, &journal->lock);
		pthread_mutex_unlock(&journal->lock);
	}
	return journal_state(journal, number) == STORE_DURABLE;
}

void journal_drop(struct journal *journal, uint64_t base)
{
	struct segment oldest = { .file = -1, .is_named = true };

	for (;;) {
		pthread_mutex_lock(&journal->lock);
		bool is_dropped = segments_take_below(&journal->segments, base, &oldest.first);
		pthread_mutex_unlock(&journal->lock);
		if (!is_dropped)
			return;
		segment_remove(&journal->options, &oldest);
	}
}

static void conditions_open(struct journal *journal)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&journal->lock, NULL);
	pthread_cond_init(&journal->room, NULL);
	pthread_cond_init(&journal->work, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void journal_free(struct journal *journal)
{
	const struct file_system *files = journal->options.files;

	segment_discard(&journal->options, &journal->ahead);
	if (journal->current.file >= 0)
		files->close(files, journal->current.file);
	pthread_cond_destroy(&journal->work);
	pthread_cond_destroy(&journal->room);
	pthread_mutex_destroy(&journal->lock);
	free(journal->segments.first);
	records_free(&journal->pending);
	records_free(&journal->writing);
	free(journal);
}

bool journal_open(const struct journal_options *options, const struct journal_end *end,
		  struct journal **journal, struct fault *fault)
{
	struct journal *opened = calloc(1, sizeof *opened);
	int error;

	if (opened == NULL)
		abort();
	opened->options = *options;
	opened->current = SEGMENT_NONE;
	opened->ahead = SEGMENT_NONE;
	opened->ahead_size = SEGMENT_FIRST < largest(opened) ? SEGMENT_FIRST : largest(opened);
	opened->appended = end->last;
	atomic_init(&opened->durable, end->last);
	conditions_open(opened);
	if (!segments_take_over(options, end, &opened->segments, fault)) {
		journal_free(opened);
		return false;
	}
	error = pthread_create(&opened->thread, NULL, journal_thread, opened);
	if (error != 0) {
		journal_free(opened);
		return fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot start a thread");
	}
	*journal = opened;
	return true;
}

void journal_close(struct journal *journal)
{
	if (journal == NULL)
		return;
	journal_flush(journal);
	pthread_mutex_lock(&journal->lock);
	journal->is_closing = true;
	pthread_cond_signal(&journal->work);
	pthread_mutex_unlock(&journal->lock);
	pthread_join(journal->thread, NULL);
	journal_free(journal);
}
