/* Flushing: writes pending records and makes them durable. The functions of journal.h take the mutex
 * `flushing`, and all others here run with it held. It protects `writing`, `current` and a segment that is
 * being begun. Members that other threads read are changed with `lock` held, too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/journal_parts.h"

/* A flush that failed returns after this time, or when there may be room, because its thread may
 * have other requests to serve. */
#define ROOM_MILLISECONDS 5

/* Returns false. Errors that may pass are retried by the journal's thread; all others stop writing,
 * since a failed write may have written. */
static bool write_failed(struct journal *journal, const char *what, int error, bool is_broken)
{
	if (is_broken || !file_error_passes(error)) {
		journal_fail(journal, what, error);
		return false;
	}
	pthread_mutex_lock(&journal->lock);
	if (journal->write_error == 0)
		log_event(LOG_LEVEL_WARNING, "journal_no_room", "file", what, "error",
			  strerror(error), "consequence",
			  "writes are refused; they go on when there is room", NULL);
	journal->write_error = error;
	pthread_cond_signal(&journal->work);
	pthread_mutex_unlock(&journal->lock);
	return false;
}

/* The same for the current segment. */
static bool segment_failed(struct journal *journal, int error, bool is_broken)
{
	char path[PATH_MAX];

	segment_path(&journal->options, &journal->current, path);
	return write_failed(journal, path, error, is_broken);
}

/* Marks the newest segment before anything in it is acknowledged. */
static bool mark_newest(struct journal *journal, const struct segment *newest, bool *is_broken)
{
	struct journal_mark mark = journal->mark;

	mark.newest = newest->first;
	mark.size = newest->size;
	mark.durable = journal_durable(journal);
	mark.is_clean = false;
	if (!mark_write(journal->options.files, journal->mark_file, &journal->options.installation,
			&mark, is_broken))
		return false;
	journal->mark = mark;
	return true;
}

/* Makes the prepared segment the current one. False: there is none yet, or it failed. */
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
				 &is_broken) &&
		   mark_newest(journal, &next, &is_broken);
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

static bool part_write(struct journal *journal, const struct part *part)
{
	const struct journal_options *options = &journal->options;
	struct journal_records *records = &journal->writing;
	struct segment *segment = &journal->current;
	const struct group_place place = { segment->used, segment->size, journal->block };
	struct group_span span;
	bool had_no_room;
	int64_t started;

	span = journal_records_group(records, part, &options->installation,
				     journal_durable(journal), &place);
	if (!file_write_all(options->files, segment->file, span.bytes, span.size,
			    (off_t)span.offset))
		return segment_failed(journal, errno, false);
	started = clock_microseconds();
	if (options->files->fdatasync(options->files, segment->file) < 0)
		return segment_failed(journal, errno, true);
	atomic_store(&journal->durable, part->last);
	histogram_add(&journal->syncs, (uint64_t)(clock_microseconds() - started));
	atomic_fetch_add_explicit(&journal->written, GROUP_HEAD + part->size, memory_order_relaxed);
	records->done += part->size;
	memcpy(journal->block, span.block, span.used % SEGMENT_BLOCK);
	pthread_mutex_lock(&journal->lock);
	segment->used = span.used;
	journal->reserved -= part->size + part->n * GROUP_HEAD;
	had_no_room = journal->write_error != 0;
	journal->write_error = 0;
	pthread_mutex_unlock(&journal->lock);
	if (had_no_room)
		journal_log_room(journal);
	return true;
}

/* Whether everything that was pending is written; otherwise it is tried again. */
static bool flush_once(struct journal *journal)
{
	struct journal_records *writing = &journal->writing;

	pthread_mutex_lock(&journal->lock);
	if (writing->size == 0) {
		struct journal_records empty = *writing;

		*writing = journal->pending;
		journal->pending = empty;
	}
	pthread_mutex_unlock(&journal->lock);
	while (writing->done < writing->size && !journal_has_failed(journal)) {
		struct part part = journal_records_that_fit(writing, journal->current.size -
									     journal->current.used);

		if (part.n == 0 ? !segment_change(journal) : !part_write(journal, &part))
			return false;
	}
	if (!journal_has_failed(journal))
		journal_records_clear(writing);
	return true;
}

/* The errno because of which nothing is tried again; 0: none. Called with the lock held. */
static int error_for_good(const struct journal *journal)
{
	if (!journal->has_stopped_retrying)
		return 0;
	return journal->write_error != 0 ? journal->write_error : journal->ahead_error;
}

void journal_flush(struct journal *journal)
{
	bool is_done;
	int error;

	pthread_mutex_lock(&journal->flushing);
	is_done = journal_has_failed(journal) || flush_once(journal);
	pthread_mutex_unlock(&journal->flushing);
	pthread_mutex_lock(&journal->lock);
	pthread_cond_broadcast(&journal->room);
	error = is_done ? 0 : error_for_good(journal);
	if (!is_done && error == 0 && !journal_has_failed(journal))
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
