/* Regular expressions: PCRE2 patterns that are compiled once (with JIT), shared by all threads and
 * always anchored at both ends. Match data is per thread. A pattern is never built from client
 * text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

struct pattern;

/* An expression that does not compile is our mistake: the process aborts and prints it. UTF mode is
 * off; texts are matched as bytes. */
struct pattern *pattern_open(const char *expression);
void pattern_close(struct pattern *pattern);

/* The largest number of captures that pattern_match fills. */
#define PATTERN_CAPTURES 8

struct match {
	const char *mark; /* name of the last (*MARK:name), or NULL; lives as long as the pattern */
	size_t n; /* number of captures, which count from 0 */
	struct slice captures[PATTERN_CAPTURES]; /* borrowed from the subject */
};

/* True when the whole subject matches; then fills *match (which may be NULL). */
bool pattern_match(const struct pattern *pattern, struct slice subject, struct match *match);

#endif
