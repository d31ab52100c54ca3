/* The names of files that browsers save.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_FILE_NAME_H
#define RESOURCES_FILE_NAME_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* "attendance Mathematics 2026-11-23.csv": the words before the name, with a space at their end, or
 * empty; the name, as people are shown it; and what stands behind it. */
struct file_name {
	const char *before;
	struct slice name;
	struct slice day;
	const char *suffix; /* ".csv" */
	bool is_inline; /* browsers show the file if they can */
};

/* Returns the value of Content-Disposition: the name in ASCII, and as RFC 8187 writes other
 * characters. Characters that file systems reject, or that programs take for a path, become _. */
struct slice file_name_header(struct arena *arena, const struct file_name *file);

#endif
