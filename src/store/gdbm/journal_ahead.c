/* The journal's thread: it prepares the next segment, and repeats what failed for lack of space.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/journal_parts.h"

/* Interval of attempts on a full disk. */
#define RETRY_MILLISECONDS 200

size_t journal_largest(const struct journal *journal)
{
	size_t size = journal->options.segment_bytes;

	if (size == 0)
		return SEGMENT_LARGEST;
	return size < SEGMENT_LEAST ? SEGMENT_LEAST : size;
}

/* Reuses the segment `spare` (0: none) if possible, else makes one. */
static bool segment_get(const struct journal *journal, uint64_t spare, size_t size,
			struct segment *segment, bool *is_broken)
{
	if (spare != 0 && segment_reuse(&journal->options, spare, size, segment, is_broken))
		return true;
	return !*is_broken && segment_make(&journal->options, size, segment, is_broken);
}

void journal_log_room(const struct journal *journal)
{
	log_event(LOG_LEVEL_NOTICE, "journal_has_room", "directory", journal->options.directory,
		  "consequence", "writes go on", NULL);
}

/* Called with the lock held, which it releases meanwhile. */
static void make_ahead(struct journal *journal)
{
	size_t size = journal->ahead_size, whole = journal_largest(journal);
	uint64_t spare = segments_take(&journal->spares);
	struct segment segment;
	bool is_made, is_broken = false;
	int error;

	if (size < journal->least_size)
		size = journal->least_size;
	pthread_mutex_unlock(&journal->lock);
	is_made = segment_get(journal, spare, size, &segment, &is_broken);
	error = errno;
	if (is_broken)
		journal_fail(journal, SEGMENT_AHEAD, error);
	pthread_mutex_lock(&journal->lock);
	if (is_made) {
		if (journal->ahead_error != 0)
			journal_log_room(journal);
		journal->ahead = segment;
		journal->ahead_error = 0;
		journal->ahead_size = 2 * size < whole ? 2 * size : whole;
		journal->least_size = 0;
	} else {
		if (journal->ahead_error == 0)
			log_event(LOG_LEVEL_WARNING, "journal_no_room", "directory",
				  journal->options.directory, "error", strerror(error),
				  "consequence",
				  "writes are refused once the present segment is full; they go on "
				  "when there is room",
				  NULL);
		journal->ahead_error = error;
		journal->least_size = 0;
		/* A smaller one may fit. */
		if (journal->ahead_size > SEGMENT_FIRST)
			journal->ahead_size /= 2;
	}
	pthread_cond_broadcast(&journal->room);
}

static bool ahead_is_too_small(const struct journal *journal)
{
	return journal->ahead.file >= 0 && !journal->is_beginning && !journal->ahead.is_named &&
	       journal->least_size > journal->ahead.size;
}

void *journal_thread(void *context)
{
	struct journal *journal = context;

	segment_forget(&journal->options);
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
			clock_wait(&journal->work, &journal->lock, RETRY_MILLISECONDS);
		else if (journal->ahead.file >= 0 && !ahead_is_too_small(journal))
			pthread_cond_wait(&journal->work, &journal->lock);
	}
	pthread_mutex_unlock(&journal->lock);
	return NULL;
}
