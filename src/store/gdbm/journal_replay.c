/* Reads a journal: every complete transaction in order, and the end.
 *
 * The journal ends at the first record that is not valid. After it there may be zeros, groups of a
 * reused segment (with smaller numbers), or an incomplete group that was being written when the
 * power failed (a torn tail, which was never acknowledged). Or the record was acknowledged and is
 * damaged. Every group and every segment records up to which number everything was durable when it
 * was written. If a group or segment after the end says that the missing number was durable, there
 * is damage. Damage to the very last group cannot be distinguished from a torn tail.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/memory.h"
#include "store/gdbm/journal.h"
#include "store/gdbm/journal_format.h"
#include "store/gdbm/journal_segment.h"

struct reading {
	const struct journal_options *options;
	uint64_t base;
	journal_visit *visit;
	void *context;
	struct journal_end *end;
	uint64_t next; /* the expected number */
	uint64_t newest_size; /* bytes of the segment that the mark names */
	struct change *changes; /* of the current record, from malloc */
	size_t capacity;
};

bool journal_segment_name(const char *name, uint64_t *first)
{
	const char *rest = file_name_number(name, "journal-", first);

	/* There is no transaction 0. */
	return rest != NULL && *rest == '\0' && *first > 0;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

void journal_end_free(struct journal_end *end)
{
	free(end->segments);
	end->segments = NULL;
	end->n = end->capacity = 0;
}

static void note_damage(struct reading *reading, uint64_t segment, uint64_t offset,
			uint64_t durable)
{
	struct journal_end *end = reading->end;

	if (end->is_damaged && end->durable >= durable)
		return;
	if (!end->is_damaged) {
		end->damaged_number = reading->next;
		end->damaged_segment = segment;
		end->damaged_offset = offset;
	}
	end->is_damaged = true;
	end->durable = durable;
}

static bool read_changes(struct reading *reading, const char *record, size_t size, size_t n)
{
	size_t at = RECORD_HEAD;

	if (n > (size - RECORD_HEAD) / CHANGE_HEAD)
		return false;
	reading->changes = memory_room(reading->changes, n, &reading->capacity,
				       sizeof *reading->changes);
	for (size_t i = 0; i < n; i++) {
		struct change *change = &reading->changes[i];
		const char *head = record + at;
		size_t key_size, value_size;

		if (size - at < CHANGE_HEAD)
			return false;
		key_size = decode_16(head + 2);
		value_size = decode_32(head + 4);
		if (key_size > STORE_KEY_MAX || key_size > size - at - CHANGE_HEAD ||
		    value_size > size - at - CHANGE_HEAD - key_size)
			return false;
		if (!store_table_find(head[1], &change->table) ||
		    (head[0] != CHANGE_PUT && head[0] != CHANGE_REMOVE))
			return false;
		change->key = (struct slice){ head + CHANGE_HEAD, key_size };
		change->value = (struct slice){ NULL, 0 };
		if (head[0] == CHANGE_PUT)
			change->value = (struct slice){ head + CHANGE_HEAD + key_size, value_size };
		at += CHANGE_HEAD + key_size + value_size;
	}
	return at == size;
}

/* Reads a complete record at the start of `bytes` and visits its changes. Returns its padded size,
 * or 0 if it is not valid. */
static size_t read_record(struct reading *reading, const char *bytes, size_t size)
{
	size_t record_size, n;
	uint64_t number;

	if (size < RECORD_HEAD)
		return 0;
	record_size = decode_32(bytes);
	number = decode_64(bytes + 8);
	n = decode_32(bytes + 16);
	if (record_size < RECORD_HEAD || record_padded(record_size) > size ||
	    number != reading->next ||
	    record_checksum(bytes, record_size) != decode_32(bytes + 4) ||
	    !read_changes(reading, bytes, record_size, n))
		return 0;
	if (reading->visit != NULL && number > reading->base)
		for (size_t i = 0; i < n; i++)
			reading->visit(reading->context, number, &reading->changes[i]);
	reading->next++;
	return record_padded(record_size);
}

static bool is_group_head(const struct reading *reading, const char *bytes, size_t size)
{
	return size >= GROUP_HEAD && decode_32(bytes) == GROUP_MAGIC &&
	       decode_32(bytes + 4) == group_head_checksum(&reading->options->installation, bytes);
}

/* Reads the groups; returns the offset of the first invalid byte. */
static size_t read_groups(struct reading *reading, const char *bytes, size_t size)
{
	size_t at = SEGMENT_HEAD;

	while (is_group_head(reading, bytes + at, size - at) &&
	       decode_64(bytes + at + 16) == reading->next) {
		size_t left = decode_32(bytes + at + 8);

		/* The complete records of a truncated group are kept. */
		if (left > size - at - GROUP_HEAD)
			left = size - at - GROUP_HEAD;
		at += GROUP_HEAD;
		while (left > 0) {
			size_t n;

			reading->end->visited_offset = at;
			n = read_record(reading, bytes + at, left);
			if (n == 0) {
				reading->end->is_torn = true;
				return at;
			}
			at += n;
			left -= n;
		}
	}
	return at;
}

static bool is_zero(const char *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Looks for a torn tail, and for groups after the end that record a higher durable number. */
static void check_after_end(struct reading *reading, uint64_t segment, const char *bytes,
			    size_t size, size_t from)
{
	const size_t left = (SEGMENT_BLOCK - from % SEGMENT_BLOCK) % SEGMENT_BLOCK;
	size_t at;

	reading->end->offset = from;
	/* If the rest of the block is not all zeros, the block was written only in part. */
	if (!is_zero(bytes + from, left < size - from ? left : size - from))
		reading->end->is_torn = true;
	if (is_zero(bytes + from, size - from))
		return;
	for (at = record_padded(from); at < size; at += 8) {
		if (!is_group_head(reading, bytes + at, size - at))
			continue;
		if (decode_64(bytes + at + 24) >= reading->next)
			note_damage(reading, segment, from, decode_64(bytes + at + 24));
	}
}

static bool check_head(const struct reading *reading, uint64_t first, const char *bytes,
		       size_t size, const char *path, struct fault *fault)
{
	if (size < SEGMENT_HEAD || memcmp(bytes, SEGMENT_MAGIC, 8) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "%s is not a journal segment",
				   path);
	if (decode_32(bytes + 8) != JOURNAL_VERSION)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s has format %lu; this program reads format %d", path,
				   (unsigned long)decode_32(bytes + 8), JOURNAL_VERSION);
	if (checksum(0, bytes, 60) != decode_32(bytes + 60) || decode_64(bytes + 32) != first)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0, "the head of %s is damaged", path);
	if (memcmp(bytes + 16, reading->options->installation.bytes, INSTALLATION_SIZE) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s belongs to another installation", path);
	return true;
}

/* Reads a segment. Its existence proves that everything before its first number was durable. */
static bool read_segment(struct reading *reading, uint64_t first, struct fault *fault)
{
	const struct file_system *files = reading->options->files;
	char path[PATH_MAX];
	const char *bytes;
	bool is_segment;
	size_t size;

	segment_path(reading->options, first, path);
	if (!file_map_whole(files, path, &bytes, &size))
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot read %s", path);
	is_segment = check_head(reading, first, bytes, size, path, fault);
	if (first == reading->end->mark.newest)
		reading->newest_size = size;
	if (is_segment) {
		reading->end->is_torn = false; /* applies to the last segment only */
		reading->end->visited_segment = first;
		if (first > reading->next)
			note_damage(reading, first, 0, first - 1);
		check_after_end(reading, first, bytes, size,
				reading->end->is_damaged ? SEGMENT_HEAD
							 : read_groups(reading, bytes, size));
	}
	if (size > 0)
		files->unmap(files, bytes, size);
	return is_segment;
}

/* Compares the journal with the mark. The segment that the mark names must exist, because a power
 * failure does not remove it. */
static void compare_mark(struct reading *reading)
{
	struct journal_end *end = reading->end;
	const struct journal_mark *mark = &end->mark;
	const bool is_newer = end->n > 0 && end->segments[end->n - 1] > mark->newest;

	if (mark->newest != 0 && !is_newer && reading->newest_size == 0) {
		note_damage(reading, mark->newest, 0, mark->durable);
		end->is_missing = true;
	} else if (mark->newest != 0 && !is_newer && reading->newest_size < mark->size) {
		note_damage(reading, mark->newest, reading->newest_size, mark->durable);
	}
	if (end->last < mark->durable)
		note_damage(reading, mark->newest, end->offset, mark->durable);
}

int journal_hold(const struct file_system *files, const char *directory, int operation)
{
	const int hold = files->open(files, directory, O_RDONLY | O_DIRECTORY, 0);

	if (hold < 0 || files->lock(files, hold, operation) == 0)
		return hold;
	file_close(files, hold, false);
	return -1;
}

static bool read_directory(struct reading *reading, struct fault *fault)
{
	const struct journal_options *options = reading->options;
	struct journal_end *end = reading->end;
	char *names = options->files->list(options->files, options->directory);
	uint64_t first;
	size_t i = 0;

	if (names == NULL)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot list %s",
				   options->directory);
	for (const char *name = names; *name != '\0'; name = file_next_name(name)) {
		if (!journal_segment_name(name, &first))
			continue;
		end->segments = memory_room(end->segments, end->n + 1, &end->capacity,
					    sizeof *end->segments);
		end->segments[end->n++] = first;
	}
	free(names);
	if (end->n > 0)
		qsort(end->segments, end->n, sizeof *end->segments, compare_numbers);

	while (i + 1 < end->n && end->segments[i + 1] <= reading->base + 1)
		i++;
	/* If the first segment starts at or below base, it is read from its start, without visiting
	 * changes up to base. If it starts above base + 1, that is damage (read_segment). */
	if (i < end->n && end->segments[i] <= reading->base)
		reading->next = end->segments[i];
	end->superfluous = i;
	for (; i < end->n; i++)
		if (!read_segment(reading, end->segments[i], fault))
			return false;
	end->last = reading->next - 1;
	/* If the journal ends before the last number in files, its last segment is from an earlier
	 * time, and new records continue after the files' number. */
	if (end->last < reading->base)
		end->last = reading->base;
	compare_mark(reading);
	return true;
}

void journal_end_describe(const struct journal_end *end, char text[static JOURNAL_TEXT_SIZE])
{
	if (end->is_missing)
		snprintf(text, JOURNAL_TEXT_SIZE,
			 "it is missing: transactions from %llu on may be lost, %llu was durable",
			 (unsigned long long)end->damaged_number, (unsigned long long)end->durable);
	else if (end->durable < end->damaged_number)
		snprintf(
			text, JOURNAL_TEXT_SIZE,
			"it ends at %llu, and had %llu bytes: transactions from %llu on may be lost",
			(unsigned long long)end->damaged_offset, (unsigned long long)end->mark.size,
			(unsigned long long)end->damaged_number);
	else
		snprintf(text, JOURNAL_TEXT_SIZE,
			 "transaction %llu cannot be read at offset %llu, though %llu was durable",
			 (unsigned long long)end->damaged_number,
			 (unsigned long long)end->damaged_offset, (unsigned long long)end->durable);
}

bool journal_replay(const struct journal_options *options, uint64_t base, journal_visit *visit,
		    void *context, struct journal_end *end, struct fault *fault)
{
	struct reading reading = { .options = options,
				   .base = base,
				   .visit = visit,
				   .context = context,
				   .end = end,
				   .next = base + 1 };
	int hold = -1;
	bool is_read;

	*end = (struct journal_end){ .last = base };
	/* The mark is read first: a live journal may grow afterwards, but everything that is marked
	 * exists. */
	if (options->has_mark && !mark_read(options->files, options->directory,
					    &options->installation, &end->mark, fault))
		return false;
	if (options->is_live) {
		hold = journal_hold(options->files, options->directory, LOCK_SH);
		if (hold < 0)
			return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot lock %s",
					   options->directory);
	}
	is_read = read_directory(&reading, fault);
	if (hold >= 0)
		options->files->close(options->files, hold);
	free(reading.changes);
	return is_read;
}
