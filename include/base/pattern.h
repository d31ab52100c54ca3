/* PCRE2 behind a small door: patterns are compiled once, JIT-compiled, shared by all threads; match
 * data is kept per thread. Always anchored at both ends. Never built from what a client sends.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

struct pattern;

/* `expression` is ours: one that does not compile is our mistake, and the process aborts with its
 * text. UTF is off: texts are matched as bytes. */
struct pattern *pattern_open(const char *expression);
void pattern_close(struct pattern *pattern);

/* The most captures that pattern_match fills. */
#define PATTERN_CAPTURES 8

struct match {
	const char *mark; /* the name of the last (*MARK:name), or NULL; lives with the pattern */
	size_t n; /* captures that are set, numbered from 0 */
	struct slice captures[PATTERN_CAPTURES]; /* borrowed from the subject */
};

/* Whether the whole subject matches; fills *match (which may be NULL) if it does. */
bool pattern_match(const struct pattern *pattern, struct slice subject, struct match *match);

#endif
