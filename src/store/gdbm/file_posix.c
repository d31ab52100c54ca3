/* The file operations by system calls.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/memory.h"
#include "store/gdbm/file.h"

static int plain_open(const struct file_system *files, const char *path, int flags, mode_t mode)
{
	int file;

	(void)files;
	/* A command of root may work in a directory of the service's user. */
	if ((flags & O_DIRECTORY) == 0)
		return regular_file_open(path, flags | O_NOFOLLOW, mode);
	do
		file = open(path, flags | O_CLOEXEC, mode);
	while (file < 0 && errno == EINTR);
	return file;
}

static int plain_close(const struct file_system *files, int file)
{
	(void)files;
	return close(file);
}

static ssize_t plain_pread(const struct file_system *files, int file, void *bytes, size_t size,
			   off_t offset)
{
	ssize_t n;

	(void)files;
	do
		n = pread(file, bytes, size, offset);
	while (n < 0 && errno == EINTR);
	return n;
}

static ssize_t plain_pwrite(const struct file_system *files, int file, const void *bytes,
			    size_t size, off_t offset)
{
	ssize_t n;

	(void)files;
	do
		n = pwrite(file, bytes, size, offset);
	while (n < 0 && errno == EINTR);
	return n;
}

static int plain_allocate(const struct file_system *files, int file, off_t size)
{
	int result;

	(void)files;
	do
		result = fallocate(file, 0, 0, size);
	while (result < 0 && errno == EINTR);
	return result;
}

static int plain_ftruncate(const struct file_system *files, int file, off_t size)
{
	int result;

	(void)files;
	do
		result = ftruncate(file, size);
	while (result < 0 && errno == EINTR);
	return result;
}

/* Not repeated after EINTR: the effect of an interrupted sync is unknown. */
static int plain_fdatasync(const struct file_system *files, int file)
{
	(void)files;
	return fdatasync(file);
}

static int plain_fsync(const struct file_system *files, int file)
{
	(void)files;
	return fsync(file);
}

/* Without this system call, the later sync does all the work. */
static int plain_write_out(const struct file_system *files, int file, off_t offset, off_t size)
{
	(void)files;
	if (sync_file_range(file, offset, size,
			    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				    SYNC_FILE_RANGE_WAIT_AFTER) == 0)
		return 0;
	return errno == ENOSYS ? 0 : -1;
}

static int plain_size(const struct file_system *files, int file, off_t *size)
{
	struct stat status;

	(void)files;
	if (fstat(file, &status) < 0)
		return -1;
	*size = status.st_size;
	return 0;
}

static int plain_lock(const struct file_system *files, int file, int operation)
{
	int result;

	(void)files;
	do
		result = flock(file, operation);
	while (result < 0 && errno == EINTR);
	return result;
}

static bool plain_is_named(const struct file_system *files, int file, const char *path)
{
	struct stat opened, named;

	(void)files;
	return fstat(file, &opened) == 0 && stat(path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static const void *plain_map(const struct file_system *files, int file, size_t size,
			     bool is_scattered)
{
	void *mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);

	(void)files;
	if (mapping == MAP_FAILED)
		return NULL;
	if (is_scattered)
		(void)madvise(mapping, size, MADV_RANDOM);
	return mapping;
}

static void plain_will_need(const struct file_system *files, int file, off_t offset, off_t size)
{
	(void)files;
	(void)posix_fadvise(file, offset, size, POSIX_FADV_WILLNEED);
}

static void plain_unmap(const struct file_system *files, const void *mapping, size_t size)
{
	(void)files;
	/* The cast removes the const that map added: munmap does not write. */
	munmap((void *)(size_t)mapping, size);
}

static int plain_rename(const struct file_system *files, const char *from, const char *to)
{
	(void)files;
	return rename(from, to);
}

static int plain_exchange(const struct file_system *files, const char *one, const char *other)
{
	(void)files;
	return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

static int plain_link(const struct file_system *files, const char *from, const char *to)
{
	(void)files;
	return link(from, to);
}

static int plain_unlink(const struct file_system *files, const char *path)
{
	(void)files;
	return unlink(path);
}

static int plain_mkdir(const struct file_system *files, const char *path, mode_t mode)
{
	(void)files;
	return mkdir(path, mode);
}

static int plain_rmdir(const struct file_system *files, const char *path)
{
	(void)files;
	return rmdir(path);
}

static int plain_sync_directory(const struct file_system *files, const char *path)
{
	(void)files;
	return directory_sync(path) ? 0 : -1;
}

static char *plain_list(const struct file_system *files, const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	size_t n = 0, capacity = 0;
	char *names = NULL;
	int error;

	(void)files;
	if (directory == NULL)
		return NULL;
	for (errno = 0; (entry = readdir(directory)) != NULL; errno = 0) {
		const size_t size = strlen(entry->d_name) + 1;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		names = memory_room(names, n + size, &capacity, 1);
		memcpy(names + n, entry->d_name, size);
		n += size;
	}
	error = errno;
	closedir(directory);
	names = memory_room(names, n + 1, &capacity, 1);
	names[n] = '\0';
	if (error == 0)
		return names;
	free(names);
	errno = error;
	return NULL;
}

const struct file_system file_system_posix = {
	.open = plain_open,
	.close = plain_close,
	.pread = plain_pread,
	.pwrite = plain_pwrite,
	.allocate = plain_allocate,
	.ftruncate = plain_ftruncate,
	.fdatasync = plain_fdatasync,
	.fsync = plain_fsync,
	.write_out = plain_write_out,
	.size = plain_size,
	.lock = plain_lock,
	.is_named = plain_is_named,
	.map = plain_map,
	.unmap = plain_unmap,
	.will_need = plain_will_need,
	.rename = plain_rename,
	.exchange = plain_exchange,
	.link = plain_link,
	.unlink = plain_unlink,
	.mkdir = plain_mkdir,
	.rmdir = plain_rmdir,
	.sync_directory = plain_sync_directory,
	.list = plain_list,
};
