/* One line an event to stderr: level, event, key=value pairs; values are quoted where they need it,
 * control characters escaped, so that a client can never forge a line. One write(2) a line. No
 * secret is ever passed in. Where the journal of systemd reads stderr, the level stands in front of the
 * line in its way, too (sd-daemon(3)). Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_INFO };

/* A pair list ends with NULL: log_event(LOG_LEVEL_ERROR, "store_write", "file", path, "error",
 * strerror(n), NULL). All values are terminated texts; a NULL value skips its pair. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

/* What stands in front of a line of this level where the journal reads stderr, "<3>"; else nothing. For
 * lines that are no events. */
const char *log_prefix(enum log_level level);

/* A number as text for a pair: LOG_NUMBER(n) lives to the end of the block it stands in. */
#define LOG_NUMBER_SIZE 24
const char *log_number(char text[LOG_NUMBER_SIZE], long long value);
#define LOG_NUMBER(value) log_number((char[LOG_NUMBER_SIZE]){ 0 }, (long long)(value))

#endif
