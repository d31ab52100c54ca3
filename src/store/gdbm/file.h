/* Every file operation of the durable store goes through this layer: a const struct of functions,
 * so that a test can put another one in its place that records (power cuts) or fails at the n-th
 * call (full disks, broken disks). Whoever replaces it embeds `struct file_system` first; each
 * function gets the layer it was called on.
 *
 * Results are those of the system calls of the same name: -1 and errno, or short counts. Nothing is
 * retried here but EINTR, and that not of a sync. Paths are whole (directory, '/', name).
 * Descriptors are close-on-exec.
 *
 * What a layer must know about the order of calls: what was written to a file is on disk after
 * fdatasync or fsync of it, a new, renamed or removed name after sync_directory of its directory;
 * nothing earlier is relied upon. What `check` has libgdbm count is not read through this layer.
 *
 * Threads: any number at once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_FILE_H
#define STORE_GDBM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct file_system {
	int (*open)(const struct file_system *files, const char *path, int flags, mode_t mode);
	int (*close)(const struct file_system *files, int file);
	ssize_t (*pread)(const struct file_system *files, int file, void *bytes, size_t size,
			 off_t offset);
	ssize_t (*pwrite)(const struct file_system *files, int file, const void *bytes, size_t size,
			  off_t offset);
	/* fallocate(2) of the first `size` bytes; it may fail with EOPNOTSUPP, which only means
	 * that a full disk shows later, while zeros are written. */
	int (*allocate)(const struct file_system *files, int file, off_t size);
	int (*ftruncate)(const struct file_system *files, int file, off_t size);
	int (*fdatasync)(const struct file_system *files, int file);
	int (*fsync)(const struct file_system *files, int file);
	/* Sends this part to the disk and waits for it, but not until it would survive a power cut:
	 * only a sync does that, which then has less to wait for. sync_file_range(2) where there is
	 * one. */
	int (*write_out)(const struct file_system *files, int file, off_t offset, off_t size);
	int (*size)(const struct file_system *files, int file, off_t *size);
	/* flock(2); let go by close. */
	int (*lock)(const struct file_system *files, int file, int operation);
	/* A shared mapping for reading of the first `size` bytes (more than 0), or NULL and errno.
	 * It outlives the descriptor. is_scattered: what will be read lies here and there, and the
	 * system is not to read what is around it too (madvise(2), MADV_RANDOM). */
	const void *(*map)(const struct file_system *files, int file, size_t size,
			   bool is_scattered);
	void (*unmap)(const struct file_system *files, const void *mapping, size_t size);
	/* This part will be read soon (posix_fadvise(2)); makes no difference but in time. */
	void (*will_need)(const struct file_system *files, int file, off_t offset, off_t size);

	int (*rename)(const struct file_system *files, const char *from, const char *to);
	int (*unlink)(const struct file_system *files, const char *path);
	int (*mkdir)(const struct file_system *files, const char *path, mode_t mode);
	int (*sync_directory)(const struct file_system *files, const char *path);
	/* Calls visit with each name but "." and "..", in any order, until it says false. */
	int (*list)(const struct file_system *files, const char *path,
		    bool (*visit)(void *context, const char *name), void *context);
};

extern const struct file_system file_system_posix;

/* All bytes, or false and errno: short counts are gone on with. For reading, the end of the file is
 * EIO: nobody here reads what ought not to be there. */
bool file_write_all(const struct file_system *files, int file, const void *bytes, size_t size,
		    off_t offset);
bool file_read_all(const struct file_system *files, int file, void *bytes, size_t size,
		   off_t offset);

/* The whole file in one piece from malloc (never NULL on success, also when it is empty), or false
 * and errno; one of more than `most` bytes is EFBIG. */
bool file_read_whole(const struct file_system *files, const char *path, size_t most, char **bytes,
		     size_t *size);

/* A mapping of the whole file, for files->unmap, or false and errno. NULL when it is empty. */
bool file_map_whole(const struct file_system *files, const char *path, const char **mapping,
		    size_t *size);

/* Whether an operation that failed with this errno may well succeed later, nothing being lost:
 * no room on the disk, no descriptors, no memory. */
bool file_error_passes(int error);

/* fsync. False: *is_broken is set when the sync itself failed in a way that must never be retried
 * (the kernel may have dropped what was not written, and say so only once). */
bool file_sync(const struct file_system *files, int file, bool *is_broken);
bool file_sync_directory(const struct file_system *files, const char *path, bool *is_broken);

/* Who writes much beside the journal writes it out in pieces of this size: a sync of the journal
 * waits behind all that is on its way to the disk by then, and a disk takes its time for a large
 * sync. */
#define FILE_PIECE ((size_t)256 << 10)
/* Like file_sync. */
bool file_write_out(const struct file_system *files, int file, off_t offset, off_t size,
		    bool *is_broken);

/* Replaces the file at `path` by these bytes: written beside as `path`.new, fsync, rename, fsync of
 * the directory. False and errno: *is_broken as in file_sync; *is_replaced tells whether the new
 * file is there, but may be gone after a power cut (file_sync_directory is left to be done). */
bool file_replace(const struct file_system *files, const char *directory, const char *path,
		  const void *bytes, size_t size, bool *is_replaced, bool *is_broken);

#endif
