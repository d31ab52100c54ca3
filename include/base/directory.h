/* Directories, so that the names in them are still there after a power cut. The store reaches its own
 * through store/gdbm/file.h.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

/* Waits until the names in it are on the disk. False with errno. */
bool directory_sync(const char *path);

/* The directory that a path names something in ("." without a slash, and slashes at its end do not
 * count); terminated. */
void directory_of(const char *path, char directory[PATH_MAX]);

#endif
