/* Sequences of file operations that several parts of the driver need.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool file_write_all(const struct file_system *files, int file, const void *bytes, size_t size,
		    off_t offset)
{
	const char *from = bytes;

	while (size > 0) {
		ssize_t n = files->pwrite(files, file, from, size, offset);

		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return false;
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
		ssize_t n = files->pread(files, file, to, size, offset);

		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return false;
		to += n;
		size -= (size_t)n;
		offset += n;
	}
	return true;
}

bool file_close(const struct file_system *files, int file, bool result)
{
	const int error = errno;

	files->close(files, file);
	errno = error;
	return result;
}

bool file_read_whole(const struct file_system *files, const char *path, size_t most, char **bytes,
		     size_t *size)
{
	const int file = files->open(files, path, O_RDONLY, 0);
	bool is_read;
	off_t whole;

	if (file < 0)
		return false;
	is_read = files->size(files, file, &whole) >= 0;
	if (is_read && (uint64_t)whole > most) {
		errno = EFBIG;
		is_read = false;
	}
	if (is_read) {
		*size = (size_t)whole;
		*bytes = memory_check(malloc(*size + 1));
		is_read = file_read_all(files, file, *bytes, *size, 0);
		if (!is_read)
			free(*bytes);
	}
	return file_close(files, file, is_read);
}

bool file_map_whole(const struct file_system *files, const char *path, const char **mapping,
		    size_t *size)
{
	const int file = files->open(files, path, O_RDONLY, 0);
	bool is_mapped;
	off_t whole;

	if (file < 0)
		return false;
	*mapping = NULL;
	is_mapped = files->size(files, file, &whole) >= 0;
	if (is_mapped) {
		*size = (size_t)whole;
		if (*size > 0)
			*mapping = files->map(files, file, *size, false);
		is_mapped = *size == 0 || *mapping != NULL;
	}
	return file_close(files, file, is_mapped);
}

const char *file_name_number(const char *name, const char *prefix, uint64_t *number)
{
	static const char digits[] = "0123456789abcdef";
	const size_t size = strlen(prefix);

	if (strncmp(name, prefix, size) != 0 || strspn(name + size, digits) < 16)
		return NULL;
	*number = 0;
	for (size_t i = 0; i < 16; i++)
		*number = *number << 4 | (uint64_t)(strchr(digits, name[size + i]) - digits);
	return name + size + 16;
}

bool file_error_is_transient(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EMFILE ||
	       error == ENFILE || error == ENOMEM;
}

/* Returns whether a sync succeeded; sets *is_broken unless the sync may be repeated. */
static bool synced(int result, bool *is_broken)
{
	if (result != 0 && !file_error_is_transient(errno))
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

bool file_replace(const struct file_system *files, const char *directory, const char *path,
		  const void *bytes, size_t size, bool *is_replaced, bool *is_broken)
{
	char new_path[PATH_MAX];
	bool is_written;
	int file, error;

	*is_replaced = false;
	if (snprintf(new_path, sizeof new_path, "%s.new", path) >= (int)sizeof new_path) {
		errno = ENAMETOOLONG;
		return false;
	}
	file = files->open(files, new_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	is_written = file >= 0 && file_close(files, file,
					     file_write_all(files, file, bytes, size, 0) &&
						     file_sync(files, file, is_broken));
	if (!is_written || files->rename(files, new_path, path) < 0) {
		error = errno;
		files->unlink(files, new_path);
		errno = error;
		return false;
	}
	*is_replaced = true;
	return file_sync_directory(files, directory, is_broken);
}
