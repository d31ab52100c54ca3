/* Log lines:
 *
 *     2026-11-23T14:02:51.120Z error accounts_file path=/var/lib/x error="No such file or directory"
 *
 * Lines for the systemd journal begin with "<3>" instead of the time, which the journal adds. A
 * line is built on the stack and has at most PIPE_BUF bytes, so lines of several threads do not
 * mix. A longer line is truncated and ends with "...".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/slice.h"
#include "base/text.h"

#define ENDING "...\n"

struct line {
	char bytes[PIPE_BUF];
	size_t size;
	bool is_full;
};

static const struct {
	const char *name;
	const char *prefix; /* syslog(3) level in the form that the systemd journal expects */
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", "<3>" },
	[LOG_LEVEL_WARNING] = { "warning", "<4>" },
	[LOG_LEVEL_NOTICE] = { "notice", "<5>" },
	[LOG_LEVEL_INFO] = { "info", "<6>" },
};

static void add_bytes(struct line *line, struct slice bytes)
{
	/* Leaves room for the ending. */
	if (line->is_full || bytes.size > sizeof line->bytes - strlen(ENDING) - line->size) {
		line->is_full = true;
		return;
	}
	memcpy(line->bytes + line->size, bytes.data, bytes.size);
	line->size += bytes.size;
}

static bool byte_is_plain(unsigned char byte)
{
	return byte > ' ' && byte < 0x7f && byte != '"' && byte != '\\' && byte != '=';
}

static bool needs_quotes(struct slice value)
{
	for (size_t i = 0; i < value.size; i++)
		if (!byte_is_plain((unsigned char)value.data[i]))
			return true;
	return value.size == 0;
}

static void add_escaped(struct line *line, unsigned char byte)
{
	char text[5];
	int size;

	if (byte == '"' || byte == '\\')
		size = snprintf(text, sizeof text, "\\%c", byte);
	else if (byte == '\n')
		size = snprintf(text, sizeof text, "\\n");
	else
		size = snprintf(text, sizeof text, "\\x%02x", byte);
	add_bytes(line, (struct slice){ text, (size_t)size });
}

/* Returns true if the bytes above ASCII can be written as they are. U+0080 to U+009F (0xc2 and one
 * more byte) cannot: they are control characters that terminals obey. */
static bool shows_beyond_ascii(struct slice value)
{
	for (size_t i = 0; i + 1 < value.size; i++)
		if ((unsigned char)value.data[i] == 0xc2 && (unsigned char)value.data[i + 1] < 0xa0)
			return false;
	return text_is_utf8(value);
}

static void add_quoted(struct line *line, struct slice value)
{
	bool shows_high_bytes = shows_beyond_ascii(value);

	add_bytes(line, SLICE("\""));
	for (size_t i = 0; i < value.size; i++) {
		unsigned char byte = (unsigned char)value.data[i];
		bool shows = byte >= 0x80 ? shows_high_bytes : byte >= ' ' && byte != 0x7f;

		if (shows && byte != '"' && byte != '\\')
			add_bytes(line, (struct slice){ value.data + i, 1 });
		else
			add_escaped(line, byte);
	}
	add_bytes(line, SLICE("\""));
}

static void add_pair(struct line *line, const char *key, const char *value)
{
	add_bytes(line, SLICE(" "));
	add_bytes(line, slice_of(key));
	add_bytes(line, SLICE("="));
	if (needs_quotes(slice_of(value)))
		add_quoted(line, slice_of(value));
	else
		add_bytes(line, slice_of(value));
}

/* Returns true if stderr is the socket that JOURNAL_STREAM names by device and inode
 * (systemd.exec(5)). This is checked for every line, which costs less than the write and needs no
 * state. */
static bool is_read_by_the_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char text[2 * LOG_NUMBER_SIZE];
	struct stat there;

	if (stream == NULL || fstat(STDERR_FILENO, &there) != 0)
		return false;
	(void)snprintf(text, sizeof text, "%llu:%llu", (unsigned long long)there.st_dev,
		       (unsigned long long)there.st_ino);
	return strcmp(text, stream) == 0;
}

const char *log_prefix(enum log_level level)
{
	return is_read_by_the_journal() ? levels[level].prefix : "";
}

void log_event(enum log_level level, const char *event, ...)
{
	const char *prefix = log_prefix(level), *key, *ending;
	char time[TEXT_TIME_SIZE];
	struct line line;
	va_list pairs;
	ssize_t written;

	line.size = 0;
	line.is_full = false;
	add_bytes(&line, slice_of(prefix));
	if (prefix[0] == '\0') {
		text_time_milliseconds(clock_now(&clock_system), time);
		add_bytes(&line, slice_of(time));
		add_bytes(&line, SLICE(" "));
	}
	add_bytes(&line, slice_of(levels[level].name));
	add_bytes(&line, SLICE(" "));
	add_bytes(&line, slice_of(event));
	va_start(pairs, event);
	while ((key = va_arg(pairs, const char *)) != NULL) {
		const char *value = va_arg(pairs, const char *);

		if (value != NULL)
			add_pair(&line, key, value);
	}
	va_end(pairs);
	ending = line.is_full ? ENDING : "\n";
	memcpy(line.bytes + line.size, ending, strlen(ending));
	line.size += strlen(ending);
	/* A failed write is ignored: there is no other place to report it. */
	do
		written = write(STDERR_FILENO, line.bytes, line.size);
	while (written < 0 && errno == EINTR);
}

const char *log_number(char text[LOG_NUMBER_SIZE], long long value)
{
	(void)snprintf(text, LOG_NUMBER_SIZE, "%lld", value);
	return text;
}

void log_abort(const char *reason, const char *file, int line)
{
	char at[200];

	/* The path is relative to the build directory. */
	while (strncmp(file, "../", 3) == 0)
		file += 3;
	(void)snprintf(at, sizeof at, "%s:%d", file, line);
	log_event(LOG_LEVEL_ERROR, "abort", "reason", reason, "at", at, NULL);
	abort();
}
