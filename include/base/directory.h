/* Directories: syncing their entries, finding the directory of a path, and opening what others may
 * have put there under the name of a file. The store uses store/gdbm/file.h instead. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Waits until the entries of the directory are on the disk. False with errno. */
bool directory_sync(const char *path);

/* The directory part of a path: "." without a slash, slashes at the end ignored; terminated. */
void directory_of(const char *path, char directory[PATH_MAX]);

/* open(2) of a regular file, close-on-exec. Does not wait for the other end of a FIFO or for a
 * device: -1 and errno ENXIO for everything that is not a regular file, EISDIR for a directory,
 * ELOOP for a link if the flags have O_NOFOLLOW. */
int regular_file_open(const char *path, int flags, mode_t mode);
/* True for an errno of regular_file_open that says that there is something else. */
bool regular_file_is_missing(int error);

#endif
