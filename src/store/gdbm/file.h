/* The file operations of the durable driver: a const struct of functions. Tests replace it to
 * record calls (power failures) or to make the n-th call fail (full and broken disks); a
 * replacement begins with `struct file_system`, and each function gets it.
 *
 * Results are those of the system calls of the same name: -1 and errno, or short counts. EINTR is
 * retried, except for a sync. Descriptors are close-on-exec.
 *
 * Written bytes are durable after fdatasync or fsync of the file; a created, renamed or removed
 * name is durable after sync_directory. libgdbm, with which `check` counts entries, does not use
 * this layer.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_FILE_H
#define STORE_GDBM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct file_system {
	int (*open)(const struct file_system *files, const char *path, int flags, mode_t mode);
	int (*close)(const struct file_system *files, int file);
	ssize_t (*pread)(const struct file_system *files, int file, void *bytes, size_t size,
			 off_t offset);
	ssize_t (*pwrite)(const struct file_system *files, int file, const void *bytes, size_t size,
			  off_t offset);
	/* fallocate(2) of the first `size` bytes. On EOPNOTSUPP a full disk is noticed while zeros
	 * are written. */
	int (*allocate)(const struct file_system *files, int file, off_t size);
	int (*ftruncate)(const struct file_system *files, int file, off_t size);
	int (*fdatasync)(const struct file_system *files, int file);
	int (*fsync)(const struct file_system *files, int file);
	/* Starts writing this range to the disk and waits for it (sync_file_range(2), if
	 * available). The range is durable only after a sync, which then takes less time. */
	int (*write_out)(const struct file_system *files, int file, off_t offset, off_t size);
	int (*size)(const struct file_system *files, int file, off_t *size);
	/* flock(2); close releases the lock. */
	int (*lock)(const struct file_system *files, int file, int operation);
	/* Whether the path leads to this open file. */
	bool (*is_named)(const struct file_system *files, int file, const char *path);
	/* A shared read-only mapping of the first `size` bytes (more than 0), or NULL and errno. It
	 * outlives the descriptor. is_scattered: reads are random (madvise(2), MADV_RANDOM). */
	const void *(*map)(const struct file_system *files, int file, size_t size,
			   bool is_scattered);
	void (*unmap)(const struct file_system *files, const void *mapping, size_t size);
	/* Announces that this range will be read soon (posix_fadvise(2)). */
	void (*will_need)(const struct file_system *files, int file, off_t offset, off_t size);

	int (*rename)(const struct file_system *files, const char *from, const char *to);
	/* renameat2(2) with RENAME_EXCHANGE, which not every file system can do (EINVAL, ENOSYS or
	 * EPERM). */
	int (*exchange)(const struct file_system *files, const char *one, const char *other);
	int (*link)(const struct file_system *files, const char *from, const char *to);
	int (*unlink)(const struct file_system *files, const char *path);
	int (*mkdir)(const struct file_system *files, const char *path, mode_t mode);
	int (*rmdir)(const struct file_system *files, const char *path);
	int (*sync_directory)(const struct file_system *files, const char *path);
	/* Returns all names except "." and "..", in any order, one after the other, each with a
	 * zero after it, and an empty name at the end; from malloc. NULL and errno on failure. */
	char *(*list)(const struct file_system *files, const char *path);
};

/* Returns the name after this one in a list; empty at the end. */
static inline const char *file_next_name(const char *name)
{
	return name + strlen(name) + 1;
}

extern const struct file_system file_system_posix;

/* Writes or reads all bytes, or returns false and errno. The end of the file is EIO. */
bool file_write_all(const struct file_system *files, int file, const void *bytes, size_t size,
		    off_t offset);
bool file_read_all(const struct file_system *files, int file, void *bytes, size_t size,
		   off_t offset);

/* Closes the file without changing errno, and returns `result`. */
bool file_close(const struct file_system *files, int file, bool result);

/* Reads a whole file into memory from malloc, which is not NULL even if the file is empty. False
 * and errno on failure; EFBIG if the file has more than `most` bytes. */
bool file_read_whole(const struct file_system *files, const char *path, size_t most, char **bytes,
		     size_t *size);

/* Maps a whole file. files->unmap ends the mapping, which is NULL if the file is empty. False and
 * errno on failure. */
bool file_map_whole(const struct file_system *files, const char *path, const char **mapping,
		    size_t *size);

/* Parses the name of a file: the prefix, then sixteen lower-case hexadecimal digits. Returns the
 * rest of the name, or NULL. */
const char *file_name_number(const char *name, const char *prefix, uint64_t *number);

/* Whether an operation that failed with this errno may succeed later: no space, descriptors or
 * memory. */
bool file_error_is_transient(int error);

/* Calls fsync. On failure, *is_broken is set if the sync must never be repeated, because the kernel
 * may have dropped the dirty pages and reports that only once. */
bool file_sync(const struct file_system *files, int file, bool *is_broken);
bool file_sync_directory(const struct file_system *files, const char *path, bool *is_broken);

/* Background writes are written out in pieces of this size, because a sync of the journal waits for
 * all writes queued before it. */
#define FILE_PIECE ((size_t)256 << 10)
/* Writes out a range of the file; *is_broken as in file_sync. */
bool file_write_out(const struct file_system *files, int file, off_t offset, off_t size,
		    bool *is_broken);

/* Replaces the file at `path` with these bytes: writes `path`.new, syncs and renames it, and syncs
 * the directory. False and errno on failure: *is_broken as in file_sync; *is_replaced tells whether
 * the new file is in place but not yet durable, so that file_sync_directory must be repeated. */
bool file_replace(const struct file_system *files, const char *directory, const char *path,
		  const void *bytes, size_t size, bool *is_replaced, bool *is_broken);

#endif
