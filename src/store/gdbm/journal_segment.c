/* See store/gdbm/journal_segment.h. A segment gets its number as its name only when its zeros and
 * its head are on the disk. A named segment with an invalid head is therefore damaged, not
 * unfinished.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/journal_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/gdbm/journal_format.h"

void segment_path(const struct journal_options *options, uint64_t first, char path[PATH_MAX])
{
	char name[SEGMENT_NAME_SIZE] = SEGMENT_AHEAD;

	if (first > 0)
		segment_name(first, name);
	snprintf(path, PATH_MAX, "%s/%s", options->directory, name);
}

static bool write_zeros(const struct file_system *files, int file, size_t size, bool *is_broken)
{
	static const char zeros[FILE_PIECE];
	size_t at, n;

	if (files->allocate(files, file, (off_t)size) < 0 && errno != EOPNOTSUPP)
		return false;
	for (at = 0; at < size; at += n) {
		n = size - at < sizeof zeros ? size - at : sizeof zeros;
		if (!file_write_all(files, file, zeros, n, (off_t)at) ||
		    !file_write_out(files, file, (off_t)at, (off_t)n, is_broken))
			return false;
	}
	return file_sync(files, file, is_broken);
}

bool segment_make(const struct journal_options *options, size_t size, struct segment *segment,
		  bool *is_broken)
{
	const struct file_system *files = options->files;
	char path[PATH_MAX];
	int error;

	*segment = (struct segment){ .size = size, .used = SEGMENT_HEAD };
	segment_path(options, 0, path);
	segment->file = files->open(files, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (segment->file < 0)
		return false;
	if (write_zeros(files, segment->file, size, is_broken))
		return true;
	error = errno;
	segment_discard(options, segment);
	errno = error;
	return false;
}

/* Renames the segment durably, before any of its bytes change. */
static bool become_ahead(const struct journal_options *options, uint64_t first, bool *is_broken)
{
	const struct file_system *files = options->files;
	int hold = journal_hold(files, options->directory, LOCK_EX | LOCK_NB);
	char from[PATH_MAX], to[PATH_MAX];
	bool is_done;

	if (hold < 0)
		return false;
	segment_path(options, first, from);
	segment_path(options, 0, to);
	is_done = files->rename(files, from, to) == 0 &&
		  file_sync_directory(files, options->directory, is_broken);
	files->close(files, hold);
	return is_done;
}

bool segment_reuse(const struct journal_options *options, uint64_t first, size_t size,
		   struct segment *segment, bool *is_broken)
{
	const struct file_system *files = options->files;
	char path[PATH_MAX];
	off_t there;
	int error;

	*segment = (struct segment){ .size = size, .used = SEGMENT_HEAD };
	segment_path(options, first, path);
	segment->file = files->open(files, path, O_WRONLY, 0);
	if (segment->file >= 0 && files->size(files, segment->file, &there) == 0 &&
	    there == (off_t)size && become_ahead(options, first, is_broken))
		return true;
	error = errno;
	segment_discard(options, segment);
	segment_remove(options, first);
	errno = error;
	return false;
}

bool segment_begin(const struct journal_options *options, struct segment *segment, uint64_t first,
		   char block[], bool *is_broken)
{
	const struct file_system *files = options->files;
	char from[PATH_MAX], to[PATH_MAX];

	memset(block, 0, SEGMENT_BLOCK);
	memcpy(block, SEGMENT_MAGIC, 8);
	encode_32(block + 8, JOURNAL_VERSION);
	memcpy(block + 16, options->installation.bytes, INSTALLATION_SIZE);
	encode_64(block + 32, first);
	encode_32(block + 60, checksum(0, block, 60));
	if (segment->first == 0) {
		segment_path(options, 0, from);
		segment_path(options, first, to);
		if (!file_write_all(files, segment->file, block, SEGMENT_BLOCK, 0) ||
		    !file_sync(files, segment->file, is_broken) ||
		    files->rename(files, from, to) < 0)
			return false;
		segment->first = first;
	}
	return file_sync_directory(files, options->directory, is_broken);
}

void segment_discard(const struct journal_options *options, struct segment *segment)
{
	char path[PATH_MAX];

	if (segment->file < 0)
		return;
	segment_path(options, segment->first, path);
	options->files->close(options->files, segment->file);
	options->files->unlink(options->files, path);
	*segment = SEGMENT_NONE;
}

void segment_remove_prepared(const struct journal_options *options)
{
	char path[PATH_MAX];

	segment_path(options, 0, path);
	options->files->unlink(options->files, path);
}

void segments_add(struct segment_list *list, uint64_t first)
{
	list->first = memory_room(list->first, list->n + 1, &list->capacity, sizeof *list->first);
	list->first[list->n++] = first;
}

uint64_t segments_take(struct segment_list *list)
{
	uint64_t first;

	if (list->n == 0)
		return 0;
	first = list->first[0];
	list->n--;
	memmove(list->first, list->first + 1, list->n * sizeof *list->first);
	return first;
}

uint64_t segments_take_below(struct segment_list *list, uint64_t base)
{
	return list->n < 2 || list->first[1] > base + 1 ? 0 : segments_take(list);
}

void segment_remove(const struct journal_options *options, uint64_t first)
{
	char path[PATH_MAX];

	segment_path(options, first, path);
	if (options->files->unlink(options->files, path) < 0 && errno != ENOENT)
		log_event(LOG_LEVEL_WARNING, "journal_remove", "file", path, "error",
			  strerror(errno), NULL);
}

bool segments_take_over(const struct journal_options *options, const struct journal_end *end,
			struct segment_list *list, struct fault *fault)
{
	const struct file_system *files = options->files;
	char path[PATH_MAX];
	uint64_t last;

	if (end->n == 0)
		return true;
	for (size_t i = 0; i < end->n; i++)
		segments_add(list, end->segments[i]);
	last = end->segments[end->n - 1];
	segment_path(options, last, path);
	if (end->is_torn)
		log_event(LOG_LEVEL_NOTICE, "journal_tail_cut", "file", path, "offset",
			  LOG_NUMBER(end->offset), NULL);
	if (last <= end->last) {
		const int file = files->open(files, path, O_WRONLY, 0);

		return (file >= 0 &&
			file_close(files, file,
				   files->ftruncate(files, file, (off_t)end->offset) == 0 &&
					   files->fsync(files, file) == 0)) ||
		       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot truncate %s", path);
	}
	/* The next segment will have the same name. */
	list->n--;
	return (files->unlink(files, path) == 0 &&
		files->sync_directory(files, options->directory) == 0) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot remove %s", path);
}
