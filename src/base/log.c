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

static void add_quoted(struct line *line, struct slice value)
{
	bool shows_high_bytes = text_is_utf8(value);
	char escape[5];
	int size;

	/* U+0080 to U+009F (0xc2 and one more byte) are control characters that terminals
	 * obey. */
	for (size_t i = 0; i + 1 < value.size; i++)
		if ((unsigned char)value.data[i] == 0xc2 && (unsigned char)value.data[i + 1] < 0xa0)
			shows_high_bytes = false;
	add_bytes(line, SLICE("\""));
	for (size_t i = 0; i < value.size; i++) {
		unsigned char byte = (unsigned char)value.data[i];
		bool shows = byte >= 0x80 ? shows_high_bytes : byte >= ' ' && byte != 0x7f;

		if (shows && byte != '"' && byte != '\\') {
			add_bytes(line, (struct slice){ value.data + i, 1 });
			continue;
		}
		if (byte == '"' || byte == '\\')
			size = snprintf(escape, sizeof escape, "\\%c", byte);
		else if (byte == '\n')
			size = snprintf(escape, sizeof escape, "\\n");
		else
			size = snprintf(escape, sizeof escape, "\\x%02x", byte);
		add_bytes(line, (struct slice){ escape, (size_t)size });
	}
	add_bytes(line, SLICE("\""));
}

const char *log_prefix(enum log_level level)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char text[2 * LOG_NUMBER_SIZE];
	struct stat there;

	/* The journal reads stderr if it is the socket that JOURNAL_STREAM names by device and
	 * inode (systemd.exec(5)). This is checked for every line, which costs less than the write
	 * and needs no state. */
	if (stream == NULL || fstat(STDERR_FILENO, &there) != 0)
		return "";
	(void)snprintf(text, sizeof text, "%llu:%llu", (unsigned long long)there.st_dev,
		       (unsigned long long)there.st_ino);
	return strcmp(text, stream) == 0 ? levels[level].prefix : "";
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
		bool needs_quotes;

		if (value == NULL)
			continue;
		needs_quotes = *value == '\0';
		for (const char *at = value; *at != '\0' && !needs_quotes; at++)
			needs_quotes = *at <= ' ' || *at >= 0x7f || *at == '"' || *at == '\\' ||
				       *at == '=';
		add_bytes(&line, SLICE(" "));
		add_bytes(&line, slice_of(key));
		add_bytes(&line, SLICE("="));
		if (needs_quotes)
			add_quoted(&line, slice_of(value));
		else
			add_bytes(&line, slice_of(value));
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
