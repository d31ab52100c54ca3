/* DIR/accounts.json as a file: detecting changes, reading, locking, replacing. See
 * accounts/accounts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_ACCOUNTS_FILE_H
#define ACCOUNTS_ACCOUNTS_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/slice.h"
#include "accounts/roster.h"

/* Returns the path of a file in the directory. The caller frees it. */
char *accounts_file_path(const char *directory, const char *name);
#define ACCOUNTS_FILE "accounts.json"

/* Identifies a state of the file. Times are not enough, because two changes may fall into one tick
 * of the file system's clock. A replaced file has another inode number as long as the old file is
 * kept open, and the old file has fewer links. */
struct file_mark {
	int error; /* errno of stat(2); 0 if the file exists and the other members are set */
	mode_t mode;
	nlink_t links;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct timespec changed;
};

struct file_mark accounts_file_mark(const char *path);
/* Returns the mark of an open file. While it is unchanged, the file still has its name, because
 * renaming, removing or replacing it changes the mark; so no path lookup is needed. */
struct file_mark accounts_file_mark_open(int file);
bool file_mark_equal(const struct file_mark *a, const struct file_mark *b);

/* Returns true if users other than the owner may read or write the file, and sets *mode. */
bool accounts_file_is_for_others(const char *path, mode_t *mode);
/* Returns true if users other than the owner may replace the files in the directory, because they
 * may write to it and it has no sticky bit. Sets *mode. */
bool accounts_directory_is_for_others(const char *directory, mode_t *mode);

struct opened_file {
	int file; /* -1 if it could not be opened or read */
	struct file_mark mark;
};

/* Reads the file. On success the caller owns *roster and closes opened->file. If the file was read
 * but is not an accounts file, returns false with opened->file open. */
bool accounts_file_read(const char *path, struct roster **roster, struct opened_file *opened,
			struct fault *fault);

/* Waits for the lock. To release it, close *lock. */
bool accounts_file_lock(const char *directory, int *lock, struct fault *fault);
/* Replaces the file; the caller holds the lock. Returns true when the text is on disk under its
 * name. */
bool accounts_file_replace(const char *directory, struct slice text, struct fault *fault);

#endif
