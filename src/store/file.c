/* The system's own file operations, and the few sequences of them that must be right in one place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_AT_MOST ((size_t)1 << 30)

static int plain_open(const struct file_system *files, const char *path, int flags, mode_t mode)
{
	int file;

	(void)files;
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

/* Not repeated after EINTR: what a sync that did not succeed has done is not known. */
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

/* Without it, all waits for the sync. */
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
	/* The cast takes away a const that map put on: munmap does not write. */
	munmap((void *)(size_t)mapping, size);
}

static int plain_rename(const struct file_system *files, const char *from, const char *to)
{
	(void)files;
	return rename(from, to);
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

static int plain_sync_directory(const struct file_system *files, const char *path)
{
	int directory = plain_open(files, path, O_RDONLY | O_DIRECTORY, 0);
	int result, error;

	if (directory < 0)
		return -1;
	result = fsync(directory);
	error = errno;
	close(directory);
	errno = error;
	return result;
}

static int plain_list(const struct file_system *files, const char *path,
		      bool (*visit)(void *context, const char *name), void *context)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int error;

	(void)files;
	if (directory == NULL)
		return -1;
	for (;;) {
		errno = 0;
		entry = readdir(directory);
		if (entry == NULL)
			break;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (!visit(context, entry->d_name))
			break;
	}
	error = entry == NULL ? errno : 0;
	closedir(directory);
	errno = error;
	return error == 0 ? 0 : -1;
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
	.map = plain_map,
	.unmap = plain_unmap,
	.will_need = plain_will_need,
	.rename = plain_rename,
	.unlink = plain_unlink,
	.mkdir = plain_mkdir,
	.sync_directory = plain_sync_directory,
	.list = plain_list,
};

bool file_write_all(const struct file_system *files, int file, const void *bytes, size_t size,
		    off_t offset)
{
	const char *from = bytes;

	while (size > 0) {
		ssize_t n = files->pwrite(files, file, from, size, offset);

		if (n < 0)
			return false;
		if (n == 0) {
			errno = EIO;
			return false;
		}
		from += n;
		size -= (size_t)n;
		offset += n;
	}
	return true;
}

bool file_read_all(const struct file_system *files, int file, void *bytes, size_t size,
		   off_t offset)
{
	char *to = bytes;

	while (size > 0) {
		ssize_t n = files->pread(files, file, to, size < READ_AT_MOST ? size : READ_AT_MOST,
					 offset);

		if (n < 0)
			return false;
		if (n == 0) {
			errno = EIO;
			return false;
		}
		to += n;
		size -= (size_t)n;
		offset += n;
	}
	return true;
}

static bool read_open_file(const struct file_system *files, int file, size_t most, char **bytes,
			   size_t *size)
{
	off_t whole;

	if (files->size(files, file, &whole) < 0)
		return false;
	if ((uint64_t)whole > most) {
		errno = EFBIG;
		return false;
	}
	*size = (size_t)whole;
	*bytes = malloc(*size + 1);
	if (*bytes == NULL)
		return false;
	if (file_read_all(files, file, *bytes, *size, 0))
		return true;
	free(*bytes);
	*bytes = NULL;
	return false;
}

bool file_read_whole(const struct file_system *files, const char *path, size_t most, char **bytes,
		     size_t *size)
{
	int file = files->open(files, path, O_RDONLY, 0);
	bool is_read;
	int error;

	if (file < 0)
		return false;
	is_read = read_open_file(files, file, most, bytes, size);
	error = errno;
	files->close(files, file);
	errno = error;
	return is_read;
}

static bool map_open_file(const struct file_system *files, int file, const char **mapping,
			  size_t *size)
{
	off_t whole;

	*mapping = NULL;
	if (files->size(files, file, &whole) < 0)
		return false;
	*size = (size_t)whole;
	if (*size > 0)
		*mapping = files->map(files, file, *size, false);
	return *size == 0 || *mapping != NULL;
}

bool file_map_whole(const struct file_system *files, const char *path, const char **mapping,
		    size_t *size)
{
	int file = files->open(files, path, O_RDONLY, 0);
	bool is_mapped;
	int error;

	if (file < 0)
		return false;
	is_mapped = map_open_file(files, file, mapping, size);
	error = errno;
	files->close(files, file);
	errno = error;
	return is_mapped;
}

bool file_error_passes(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE ||
	       error == ENOMEM;
}

/* What a sync said: whether it was done, and if not, whether it may be tried again. */
static bool synced(int result, bool *is_broken)
{
	if (result != 0 && !file_error_passes(errno))
		*is_broken = true;
	return result == 0;
}

bool file_sync(const struct file_system *files, int file, bool *is_broken)
{
	return synced(files->fsync(files, file), is_broken);
}

bool file_write_out(const struct file_system *files, int file, off_t offset, off_t size,
		    bool *is_broken)
{
	return synced(files->write_out(files, file, offset, size), is_broken);
}

bool file_sync_directory(const struct file_system *files, const char *path, bool *is_broken)
{
	return synced(files->sync_directory(files, path), is_broken);
}

static bool write_new_file(const struct file_system *files, const char *path, const void *bytes,
			   size_t size, bool *is_broken)
{
	int file = files->open(files, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool is_written;
	int error;

	if (file < 0)
		return false;
	is_written = file_write_all(files, file, bytes, size, 0) &&
		     file_sync(files, file, is_broken);
	error = errno;
	files->close(files, file);
	errno = error;
	return is_written;
}

bool file_replace(const struct file_system *files, const char *directory, const char *path,
		  const void *bytes, size_t size, bool *is_replaced, bool *is_broken)
{
	char beside[PATH_MAX];
	int error;

	*is_replaced = false;
	if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (!write_new_file(files, beside, bytes, size, is_broken) ||
	    files->rename(files, beside, path) < 0) {
		error = errno;
		files->unlink(files, beside);
		errno = error;
		return false;
	}
	*is_replaced = true;
	return file_sync_directory(files, directory, is_broken);
}
