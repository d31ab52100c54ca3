/* The accounts file on disk. It does not use the file layer of the store, because it has an owner
 * to keep and only commands write it.
 *
 * A command may run as root in a directory that belongs to the service's user. So no function
 * follows a link at the end of a path, and only files that this process created change their owner.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/accounts_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/memory.h"

#define LOCK_FILE "accounts.lock"
#define NEW_FILE "accounts.json.new"
/* About 700,000 accounts. */
#define SIZE_MOST ((off_t)256 << 20)

char *accounts_file_path(const char *directory, const char *name)
{
	size_t size = strlen(directory) + strlen(name) + 2;
	char *path = memory_check(malloc(size));

	(void)snprintf(path, size, "%s/%s", directory, name);
	return path;
}

/* --- Looking --- */

static struct file_mark mark_of(const struct stat *status)
{
	return (struct file_mark){
		.mode = status->st_mode,
		.links = status->st_nlink,
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = status->st_size,
		.modified = status->st_mtim,
		.changed = status->st_ctim,
	};
}

struct file_mark accounts_file_mark(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return (struct file_mark){ .error = errno };
	return mark_of(&status);
}

struct file_mark accounts_file_mark_open(int file)
{
	struct stat status;

	if (fstat(file, &status) != 0)
		return (struct file_mark){ .error = errno };
	return mark_of(&status);
}

static bool time_equal(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool file_mark_equal(const struct file_mark *a, const struct file_mark *b)
{
	return a->error == b->error && a->mode == b->mode && a->links == b->links &&
	       a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       time_equal(a->modified, b->modified) && time_equal(a->changed, b->changed);
}

bool accounts_file_is_for_others(const char *path, mode_t *mode)
{
	struct stat status;

	if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	*mode = status.st_mode & 07777;
	return (*mode & (S_IRWXG | S_IRWXO)) != 0;
}

bool accounts_directory_is_for_others(const char *directory, mode_t *mode)
{
	struct stat status;

	if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
		return false;
	*mode = status.st_mode & 07777;
	return (*mode & (S_IWGRP | S_IWOTH)) != 0 && (*mode & S_ISVTX) == 0;
}

/* Reports a file that cannot be opened. It may be anything that the owner of the directory put
 * there. */
static bool cannot_open(const char *path, const char *remedy, struct fault *fault)
{
	if (regular_file_is_missing(errno))
		return fault_cause(fault, FAULT_INTERNAL, 0, "%s is not a regular file: %s", path,
				   remedy);
	return fault_cause(fault, FAULT_INTERNAL, errno, "cannot open %s", path);
}

/* --- Reading --- */

/* Takes the mark before reading, so that a change during reading is noticed next time. */
static bool read_accounts_text(const char *path, int file, struct file_mark *mark, char **bytes,
			       struct fault *fault)
{
	struct stat status;
	size_t done = 0;

	if (fstat(file, &status) != 0)
		return fault_cause(fault, FAULT_INTERNAL, errno, "cannot read %s", path);
	if (status.st_size > SIZE_MOST)
		return fault_cause(
			fault, FAULT_INTERNAL, 0,
			"the accounts file %s is larger than %lld bytes; restore it from a backup",
			path, (long long)SIZE_MOST);
	*mark = mark_of(&status);
	*bytes = memory_check(malloc((size_t)status.st_size + 1));
	while (done < (size_t)status.st_size) {
		ssize_t got = read(file, *bytes + done, (size_t)status.st_size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fault_cause(fault, FAULT_INTERNAL, got < 0 ? errno : 0,
					   "cannot read %s", path);
		done += (size_t)got;
	}
	return true;
}

bool accounts_file_read(const char *path, struct roster **roster, struct opened_file *opened,
			struct fault *fault)
{
	struct fault inside = FAULT_INITIAL;
	char *bytes = NULL;

	*roster = NULL;
	opened->file = regular_file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	if (opened->file < 0)
		return cannot_open(path, "restore it from a backup", fault);
	if (read_accounts_text(path, opened->file, &opened->mark, &bytes, fault)) {
		*roster = roster_parse((struct slice){ bytes, (size_t)opened->mark.size }, &inside);
		if (*roster == NULL)
			fault_cause(fault, inside.kind, 0, "%s: %s", path, inside.cause);
	} else {
		close(opened->file);
		opened->file = -1;
	}
	if (bytes != NULL)
		explicit_bzero(bytes, (size_t)opened->mark.size);
	free(bytes);
	return *roster != NULL;
}

/* --- Writing --- */

static bool directory_status(const char *directory, struct stat *status, struct fault *fault)
{
	if (stat(directory, status) != 0)
		return fault_cause(fault, FAULT_INTERNAL, errno, "cannot examine %s", directory);
	if (!S_ISDIR(status->st_mode))
		return fault_cause(fault, FAULT_INTERNAL, ENOTDIR, "cannot use %s", directory);
	return true;
}

/* Changes the owner, unless another user owns the file. If the owner of the directory does not
 * belong to its group, the file keeps another group, which has no rights to the file. */
static bool give_to_directory_owner(int file, const struct stat *directory, const char *path,
				    struct fault *fault)
{
	struct stat status;

	if (fstat(file, &status) != 0)
		return fault_cause(fault, FAULT_INTERNAL, errno, "cannot examine %s", path);
	if (status.st_uid != geteuid() ||
	    (status.st_uid == directory->st_uid && status.st_gid == directory->st_gid))
		return true;
	if (fchown(file, directory->st_uid, directory->st_gid) != 0 &&
	    !(errno == EPERM && status.st_uid == directory->st_uid))
		return fault_cause(fault, FAULT_INTERNAL, errno,
				   "cannot change the owner of %s to that of its directory", path);
	return true;
}

static bool take_turn(int file, const struct stat *directory, const char *path, struct fault *fault)
{
	if (file < 0)
		return cannot_open(path, "remove it", fault);
	if (!give_to_directory_owner(file, directory, path, fault))
		return false;
	while (flock(file, LOCK_EX) != 0)
		if (errno != EINTR)
			return fault_cause(fault, FAULT_INTERNAL, errno, "cannot lock %s", path);
	return true;
}

bool accounts_file_lock(const char *directory, int *lock, struct fault *fault)
{
	struct stat status;

	*lock = -1;
	if (!directory_status(directory, &status, fault))
		return false;

	char *path = accounts_file_path(directory, LOCK_FILE);
	bool is_locked, has_name = false;
	struct stat opened, named;

	do {
		*lock = regular_file_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
		is_locked = take_turn(*lock, &status, path, fault);
		/* The directory may have been replaced in the meantime (anteroom restore). */
		has_name = is_locked && fstat(*lock, &opened) == 0 && lstat(path, &named) == 0 &&
			   opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
		if (!has_name && *lock >= 0) {
			close(*lock);
			*lock = -1;
		}
	} while (is_locked && !has_name);
	free(path);
	return is_locked;
}

static bool write_whole_file(int file, struct slice text)
{
	size_t done = 0;

	while (done < text.size) {
		ssize_t written = write(file, text.data + done, text.size - done);

		if (written < 0 && errno != EINTR)
			return false;
		if (written > 0)
			done += (size_t)written;
	}
	return true;
}

static bool make_new(const char *path, const struct stat *directory, struct slice text,
		     struct fault *fault)
{
	/* We hold the lock, so an existing file is from a command that was killed. */
	if (unlink(path) != 0 && errno != ENOENT)
		return fault_cause(fault, FAULT_INTERNAL, errno, "cannot remove %s", path);

	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (file < 0)
		return fault_cause(fault, FAULT_INTERNAL, errno, "cannot create %s", path);

	/* Owner and mode are set before the secrets are written. */
	bool is_written =
		give_to_directory_owner(file, directory, path, fault) &&
		((fchmod(file, 0600) == 0 && write_whole_file(file, text) && fsync(file) == 0) ||
		 fault_cause(fault, FAULT_INTERNAL, errno, "cannot write %s", path));

	close(file);
	return is_written;
}

bool accounts_file_replace(const char *directory, struct slice text, struct fault *fault)
{
	struct stat status;

	if (!directory_status(directory, &status, fault))
		return false;

	char *path = accounts_file_path(directory, ACCOUNTS_FILE);
	char *new_path = accounts_file_path(directory, NEW_FILE);
	bool is_renamed = make_new(new_path, &status, text, fault) &&
			  (rename(new_path, path) == 0 ||
			   fault_cause(fault, FAULT_INTERNAL, errno, "cannot replace %s", path));

	if (!is_renamed)
		(void)unlink(new_path);
	free(new_path);
	free(path);
	return is_renamed &&
	       (directory_sync(directory) ||
		fault_cause(fault, FAULT_INTERNAL, errno, "cannot sync %s", directory));
}
