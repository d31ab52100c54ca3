/* The service log: one line per event on stderr, with time, level, event and key=value pairs.
 * Values are quoted where needed and control characters escaped, so that a client cannot forge a
 * line. Each line is one write(2). Never pass a secret. If stderr is the systemd journal, which
 * records the time itself, each line begins with its level (sd-daemon(3)) instead of the time. Any
 * thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_INFO };

/* Writes an event with pairs of key and value, terminated texts. The list ends with NULL:
 * log_event(LOG_LEVEL_ERROR, "store_write", "file", path, "error", strerror(n), NULL). A pair whose
 * value is NULL is left out. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));

/* Returns "<3>" and so on if stderr is the systemd journal, else "". For lines that are not
 * events. */
const char *log_prefix(enum log_level level);

/* Ends the process with SIGABRT, for what cannot happen and for exhausted memory; never because of
 * what a client sent or what was stored. Logs the reason and the place: "abort reason=...
 * at=src/base/x.c:12". */
#define ABORT(reason) log_abort((reason), __FILE__, __LINE__)
_Noreturn void log_abort(const char *reason, const char *file, int line);

/* A number as the value of a pair. LOG_NUMBER(n) lives until the end of the enclosing block. */
#define LOG_NUMBER_SIZE 24
const char *log_number(char text[LOG_NUMBER_SIZE], long long value);
#define LOG_NUMBER(value) log_number((char[LOG_NUMBER_SIZE]){ 0 }, (long long)(value))

#endif
