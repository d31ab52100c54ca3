/* Opening, closing and admission of transactions. journal_parts.h describes the shared state.
 *
 * Room is reserved for a record before it is appended. Each record is counted as a group of its own, and there is
 * room if it and everything pending fit either into the rest of the current segment or into the next one,
 * which is already allocated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/journal.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/journal_parts.h"

/* Bytes of an ordinary transaction, and of what may be pending. */
#define ORDINARY ((size_t)512 << 10)
#define PENDING_MOST ((size_t)4 << 20)
#define RETRY_AFTER_SECONDS 5
/* While a segment is filled, one or two others are dropped. */
#define SPARES_MOST 2

enum store_state journal_state(const struct journal *journal, uint64_t number)
{
	/* Read before the durable number: what became durable before the failure is durable. */
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

static bool fits(const struct journal *journal, size_t size)
{
	size += journal->reserved;
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

/* Waits until a record of this size fits and at most `most` bytes are pending; pending records are
 * flushed by the waiting thread. Called with the lock held; refuse releases it. */
static bool make_room(struct journal *journal, size_t size, size_t most, struct fault *fault)
{
	while (journal_has_failed(journal) || journal->write_error != 0 ||
	       journal->reserved > most || !fits(journal, size)) {
		if (cannot_go_on(journal))
			return refuse(journal, fault);
		if (journal->reserved > 0) {
			pthread_mutex_unlock(&journal->lock);
			journal_flush(journal);
			pthread_mutex_lock(&journal->lock);
			continue;
		}
		if (journal->ahead.file >= 0) {
			journal->least_size = size + SEGMENT_HEAD;
			pthread_cond_signal(&journal->work);
		}
		pthread_cond_wait(&journal->room, &journal->lock);
	}
	return true;
}

bool journal_admit(struct journal *journal, struct fault *fault)
{
	size_t ordinary = journal_largest(journal) / 2 < ORDINARY ? journal_largest(journal) / 2
								  : ORDINARY;

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
	size_t size = record_padded(journal_records_size(changes, n)) + GROUP_HEAD;

	if (size > SEGMENT_MOST / 2)
		return fault_cause(fault, FAULT_TOO_LARGE, 0, "a transaction of %zu bytes", size);
	pthread_mutex_lock(&journal->lock);
	if (!make_room(journal, size, SIZE_MAX, fault))
		return false;
	journal->reserved += size;
	pthread_mutex_unlock(&journal->lock);
	return true;
}

void journal_append(struct journal *journal, uint64_t number, const struct change *changes,
		    size_t n)
{
	pthread_mutex_lock(&journal->lock);
	assert(number == journal->appended + 1);
	journal_records_add(&journal->pending, number, changes, n);
	journal->appended = number;
	pthread_mutex_unlock(&journal->lock);
}

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

static void journal_free(struct journal *journal)
{
	const struct file_system *files = journal->options.files;

	/* A named segment stays although it is empty: the mark may name it. */
	if (journal->ahead.is_named && journal->ahead.file >= 0)
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

/* Marks the end as segments_take_over will leave it, before that truncates or removes the last
 * segment. */
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
	if (!options->has_mark &&
	    !mark_create(options->files, options->directory, &options->installation, &journal->mark,
			 &is_broken, fault))
		return false;
	journal->mark_file = mark_open(options->files, options->directory);
	if (journal->mark_file >= 0 &&
	    (!options->has_mark || mark_write(options->files, journal->mark_file,
					      &options->installation, &journal->mark, &is_broken)))
		return true;
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s/" MARK_NAME,
			   options->directory);
}

/* Written to both slots, so that damage to one does not bring back an older mark. If it fails, the
 * end is not clean, as after a kill. */
static void mark_clean(struct journal *journal)
{
	const struct journal_options *options = &journal->options;
	bool is_broken = false;

	if (journal_has_failed(journal) || journal_durable(journal) != journal->appended)
		return;
	journal->mark.durable = journal->appended;
	journal->mark.is_clean = true;
	if (journal->current.file >= 0) {
		journal->mark.newest = journal->current.first;
		journal->mark.size = journal->current.used;
	}
	for (int i = 0; i < 2; i++) {
		if (!mark_write(options->files, journal->mark_file, &options->installation,
				&journal->mark, &is_broken))
			log_event(LOG_LEVEL_WARNING, "journal_not_marked", "directory",
				  options->directory, "error", strerror(errno), "consequence",
				  "the next start finds a journal that was not closed", NULL);
	}
}

bool journal_open(const struct journal_options *options, const struct journal_end *end,
		  struct journal **journal, struct fault *fault)
{
	struct journal *opened = memory_check(calloc(1, sizeof *opened));
	int error;

	opened->options = *options;
	opened->current = SEGMENT_NONE;
	opened->ahead = SEGMENT_NONE;
	opened->mark_file = -1;
	opened->ahead_size = SEGMENT_FIRST < journal_largest(opened) ? SEGMENT_FIRST
								     : journal_largest(opened);
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
	journal_remove_spares(journal);
	mark_clean(journal);
	journal_free(journal);
}
