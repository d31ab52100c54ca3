/* DIR/accounts.json as a file: seen, read, locked, replaced. What it means is accounts/accounts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_ACCOUNTS_FILE_H
#define ACCOUNTS_ACCOUNTS_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/slice.h"
#include "accounts/roster.h"

/* The path of a file of the directory; the caller frees it. */
char *accounts_file_path(const char *directory, const char *name);
#define ACCOUNTS_FILE "accounts.json"

/* What tells one state of the file from another. Times alone do not: two changes may fall in one
 * tick of the file system's clock. A replaced file has another inode number, as long as the one it
 * is compared with is kept open; and that one has lost a name, which it shows too. */
struct file_mark {
	int error; /* of stat(2); 0: there is a file, and the rest is its */
	nlink_t links;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct timespec changed;
};

struct file_mark accounts_file_look(const char *path);
/* Of one that is open. While that has the mark that it had under its name, it still has its name, for a
 * file that is renamed or removed, or over which another is renamed, is changed by that: so no path has
 * to be walked. */
struct file_mark accounts_file_look_open(int file);
bool file_mark_equal(const struct file_mark *a, const struct file_mark *b);

/* Whether others than the owner of the file may read or write it; *mode is its mode then. */
bool accounts_file_is_for_others(const char *path, mode_t *mode);

struct opened_file {
	int file; /* -1: it could not be opened, or not be read */
	struct file_mark mark;
};

/* On success the caller owns *roster, and closes opened->file. When the file was read but is not an
 * accounts file, it is left open too, although the result is false. */
bool accounts_file_read(const char *path, struct roster **roster, struct opened_file *opened,
			struct fault *fault);

/* Waits for its turn. *lock is closed to let go of it. */
bool accounts_file_lock(const char *directory, int *lock, struct fault *fault);
/* With the lock held: when it returns true, the text is on disk under its name. */
bool accounts_file_replace(const char *directory, struct slice text, struct fault *fault);

#endif
