/* Regular expressions: PCRE2 patterns that are compiled once (with JIT), shared by all threads and
 * always anchored at both ends. Match data is per thread. Never build a pattern from client text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

struct pattern;

/* Compiles an expression. One that does not compile is a programming error: the process prints it
 * and aborts. UTF mode is off; texts are matched as bytes. */
struct pattern *pattern_open(const char *expression);
void pattern_close(struct pattern *pattern);

/* The largest number of captures that pattern_match fills. */
#define PATTERN_CAPTURES 8

struct match {
	const char *mark; /* name of the last (*MARK:name), or NULL; owned by the pattern */
	size_t n; /* number of captures, numbered from 0 */
	struct slice captures[PATTERN_CAPTURES]; /* borrowed from the subject */
};

/* Returns true if the whole subject matches, and then fills *match (which may be NULL). */
bool pattern_match(const struct pattern *pattern, struct slice subject, struct match *match);

#endif
