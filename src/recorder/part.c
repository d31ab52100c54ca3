/* See recorder/part.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/part.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/text.h"

#define LOG_MOST ((off_t)16 << 20)

void part_path(const char *folder, int64_t epoch, int64_t number, const char *suffix,
	       char path[PART_PATH_SIZE])
{
	(void)snprintf(path, PART_PATH_SIZE, "%s/e%lldp%lld%s", folder, (long long)epoch,
		       (long long)number, suffix);
}

bool part_open(struct part *part, const char *folder, int64_t epoch, int64_t *number,
	       struct fault *fault)
{
	char path[PART_PATH_SIZE];

	*part = (struct part){ .media = -1, .log = -1 };
	do {
		part_path(folder, epoch, *number, ".mkv", path);
		part->media = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	} while (part->media < 0 && errno == EEXIST && ++*number < INT32_MAX);
	if (part->media < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
	part_path(folder, epoch, *number, ".log", path);
	part->log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	if (part->log >= 0 && directory_sync(folder))
		return true;
	fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", path);
	part_close(part);
	return false;
}

bool part_append(struct part *part, struct slice bytes, int64_t at, int64_t media_ms,
		 int64_t written, struct fault *fault)
{
	struct slice rest = part->drops_media ? (struct slice){ NULL, 0 } : bytes;
	struct stat status;
	char line[128];
	int size;
	bool is_written = true;

	/* A file without a name goes with its descriptor, and writing says nothing. */
	if (fstat(part->media, &status) == 0 && status.st_nlink == 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "the folder of the recording was deleted");

	while (is_written && rest.size > 0) {
		const ssize_t n = write(part->media, rest.data, rest.size);

		if (n > 0)
			rest = (struct slice){ rest.data + n, rest.size - (size_t)n };
		else
			is_written = n < 0 && errno == EINTR;
	}
	if (!is_written || (!part->drops_media && fdatasync(part->media) != 0)) {
		fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write the recording");
		(void)!ftruncate(part->media, (off_t)part->bytes);
		return false;
	}
	size = snprintf(line, sizeof line, "%lld %lld %lld %zu %lld %lld\n",
			(long long)part->chunks, (long long)at, (long long)written, bytes.size,
			(long long)media_ms, (long long)part->run);
	/* What is joined goes by the lines, so they are as safe as the media. */
	(void)!write(part->log, line, (size_t)size);
	if (!part->drops_media)
		(void)fdatasync(part->log);
	part->chunks++;
	part->bytes += part->drops_media ? 0 : (int64_t)bytes.size;
	part->media_ms = media_ms;
	part->last_at = at;
	return true;
}

void part_close(struct part *part)
{
	if (part->media >= 0)
		close(part->media);
	if (part->log >= 0)
		close(part->log);
	part->media = part->log = -1;
}

/* ---- the parts in a folder ---- */

/* Reads a line of a log. Lines of former versions do not say the run. */
static bool read_chunk(struct slice line, struct chunk *chunk, int64_t *run)
{
	int64_t values[5];

	for (size_t i = 0; i < 5; i++) {
		if (line.data == NULL || !text_integer(text_split(line, ' ', &line), &values[i]))
			return false;
	}
	*chunk = (struct chunk){ .at = values[1], .media_ms = values[4] };
	return line.data == NULL || text_integer(line, run);
}

static bool read_log(struct arena *arena, const char *path, struct kept_part *part,
		     struct fault *fault)
{
	const int file = regular_file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	size_t capacity = 0, count = 0;
	struct chunk *chunks = NULL;
	struct slice rest = { NULL, 0 };
	struct stat status;

	if (file < 0 && errno != ENOENT)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s", path);
	if (file >= 0 && fstat(file, &status) == 0 && status.st_size <= LOG_MOST) {
		char *text = arena_alloc(arena, (size_t)status.st_size + 1);
		const ssize_t got = read(file, text, (size_t)status.st_size);

		if (got < 0) {
			fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);
			close(file);
			return false;
		}
		rest = (struct slice){ text, (size_t)got };
	}
	if (file >= 0)
		close(file);
	/* A line without its end is torn. */
	while (rest.data != NULL && memchr(rest.data, '\n', rest.size) != NULL) {
		const int64_t before = count == 0 ? 0 : chunks[count - 1].media_ms;
		struct chunk chunk;

		if (!read_chunk(text_split(rest, '\n', &rest), &chunk, &part->run) ||
		    chunk.media_ms < before)
			break;
		chunks = arena_room(arena, chunks, count + 1, &capacity, sizeof *chunks);
		chunks[count++] = chunk;
	}
	part->media = (struct part_media){ .chunks = chunks, .count = count };
	return true;
}

/* Reads a name such as e2p13.mkv. */
static bool read_part_name(const char *name, int64_t *epoch, int64_t *number)
{
	struct slice rest, first;

	if (name[0] != 'e' || !slice_ends(slice_of(name), SLICE(".mkv")))
		return false;
	first = text_split((struct slice){ name + 1, strlen(name) - 5 }, 'p', &rest);
	return rest.data != NULL && text_integer(first, epoch) && text_integer(rest, number) &&
	       *epoch >= 0 && *number >= 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct kept_part *one = a, *other = b;

	if (one->epoch != other->epoch)
		return one->epoch < other->epoch ? -1 : 1;
	return (one->number > other->number) - (one->number < other->number);
}

bool parts_read(struct arena *arena, const char *folder, struct kept_part **parts, size_t *n,
		struct fault *fault)
{
	DIR *directory = opendir(folder);
	bool is_read = directory != NULL || errno == ENOENT;
	size_t capacity = 0;
	struct dirent *entry;

	*parts = NULL;
	*n = 0;
	if (!is_read)
		fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot open %s", folder);
	while (is_read && directory != NULL && (errno = 0, entry = readdir(directory)) != NULL) {
		struct kept_part part = { .epoch = 0 };
		char path[PART_PATH_SIZE];
		struct stat status;

		if (!read_part_name(entry->d_name, &part.epoch, &part.number))
			continue;
		part_path(folder, part.epoch, part.number, ".mkv", path);
		if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
			continue;
		part.bytes = (int64_t)status.st_size;
		part.modified = (int64_t)status.st_mtime * 1000;
		part_path(folder, part.epoch, part.number, ".log", path);
		part.run = part.number;
		is_read = read_log(arena, path, &part, fault);
		*parts = arena_room(arena, *parts, *n + 1, &capacity, sizeof part);
		(*parts)[(*n)++] = part;
	}
	if (is_read && directory != NULL && errno != 0)
		is_read = fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", folder);
	if (directory != NULL)
		closedir(directory);
	if (*n > 0)
		qsort(*parts, *n, sizeof **parts, compare_parts);
	for (size_t i = 1; i < *n; i++) {
		struct kept_part *one = &(*parts)[i - 1], *next = &(*parts)[i];

		if (one->epoch == next->epoch && one->run == next->run)
			one->media.has_pauses = next->media.has_pauses = true;
	}
	return is_read;
}
