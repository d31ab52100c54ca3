/* Directories: syncing their entries and finding the directory of a path. The store uses
 * store/gdbm/file.h instead. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>

/* Waits until the entries of the directory are on the disk. False with errno. */
bool directory_sync(const char *path);

/* The directory part of a path: "." without a slash, slashes at the end ignored; terminated. */
void directory_of(const char *path, char directory[PATH_MAX]);

#endif
