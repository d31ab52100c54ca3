/* Directories: syncing their entries, finding the directory of a path, and opening files in
 * directories where others may have put something else under the same name. The store uses
 * store/gdbm/file.h instead. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Waits until the entries of the directory are on disk. Returns false and sets errno on failure. */
bool directory_sync(const char *path);

/* Copies the directory part of a path: "." if the path has no slash. Trailing slashes are
 * ignored. */
void directory_of(const char *path, char directory[PATH_MAX]);

/* Opens a regular file like open(2), close-on-exec. Does not wait for the other end of a FIFO or
 * for a device. Returns -1 with errno ENXIO if it is not a regular file, EISDIR for a directory,
 * and ELOOP for a symbolic link if the flags include O_NOFOLLOW. */
int regular_file_open(const char *path, int flags, mode_t mode);
/* Returns true if this errno of regular_file_open means that the path is not a regular file. */
bool regular_file_is_missing(int error);

#endif
