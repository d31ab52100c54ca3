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

/* The path of a file in the directory; the caller frees it. */
char *accounts_file_path(const char *directory, const char *name);
#define ACCOUNTS_FILE "accounts.json"

/* Identifies a state of the file. Times are not enough: two changes may fall into one tick of the
 * file system's clock. A replaced file differs in its inode number, provided the old file is kept
 * open, and the old file shows a smaller number of links. */
struct file_mark {
	int error; /* of stat(2); 0: the file exists and the other members are set */
	nlink_t links;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct timespec changed;
};

struct file_mark accounts_file_look(const char *path);
/* The mark of an open file. While it is unchanged the file still has its name, since renaming,
 * removing or replacing it changes the mark; so no path lookup is needed. */
struct file_mark accounts_file_look_open(int file);
bool file_mark_equal(const struct file_mark *a, const struct file_mark *b);

/* True when users other than the owner may read or write the file; sets *mode. */
bool accounts_file_is_for_others(const char *path, mode_t *mode);
/* True when users other than the owner may replace the files in the directory: they may write to
 * it, and it has no sticky bit. Sets *mode. */
bool accounts_directory_is_for_others(const char *directory, mode_t *mode);

struct opened_file {
	int file; /* -1: it could not be opened or read */
	struct file_mark mark;
};

/* On success the caller owns *roster and closes opened->file. If the file was read but is not an
 * accounts file, the result is false and opened->file is open. */
bool accounts_file_read(const char *path, struct roster **roster, struct opened_file *opened,
			struct fault *fault);

/* Waits for the lock. Closing *lock releases it. */
bool accounts_file_lock(const char *directory, int *lock, struct fault *fault);
/* The caller holds the lock. True: the text is on the disk under its name. */
bool accounts_file_replace(const char *directory, struct slice text, struct fault *fault);

#endif
