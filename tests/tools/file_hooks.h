/* A file layer that does what the system's own layer does, and calls a hook before and after each
 * operation. The tests of power cuts, full disks and kills use it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FILE_HOOKS_H
#define TESTS_FILE_HOOKS_H

#include <limits.h>
#include <pthread.h>

#include "store/gdbm/file.h"

enum file_operation {
	FILE_OPEN,
	FILE_CLOSE,
	FILE_PREAD,
	FILE_PWRITE,
	FILE_ALLOCATE,
	FILE_FTRUNCATE,
	FILE_FDATASYNC,
	FILE_FSYNC,
	FILE_WRITE_OUT,
	FILE_GET_SIZE,
	FILE_LOCK,
	FILE_MAP,
	FILE_WILL_NEED,
	FILE_RENAME,
	FILE_EXCHANGE,
	FILE_LINK,
	FILE_UNLINK,
	FILE_MKDIR,
	FILE_RMDIR,
	FILE_SYNC_DIRECTORY,
	FILE_LIST,
	FILE_OPERATION_COUNT
};

struct file_call {
	enum file_operation operation;
	const char *path; /* path under which the file was opened, or to which it was renamed */
	const char *to; /* of rename, exchange and link */
	int file; /* -1 if none */
	int flags; /* of open */
	const void *bytes; /* of pwrite */
	size_t size; /* of the bytes; for allocate and ftruncate, of the file */
	off_t offset;
	bool is_new; /* after open: the file was created */
	bool is_scattered; /* of map */
	int error; /* set after the call: 0 or errno */
};

#define FILE_HOOKS_FILES 1024

struct file_hooks {
	struct file_system files;
	/* Returns 0, or the errno with which the operation fails without being performed. It may
	 * lower `size`, for a short read or write. NULL if there is no hook. */
	int (*before)(struct file_hooks *hooks, struct file_call *call);
	/* NULL if there is no hook. */
	void (*after)(struct file_hooks *hooks, const struct file_call *call);
	void *context;
	bool is_fast; /* skips syncs, for tests in which the machine does not stop */
	pthread_mutex_t lock;
	char paths[FILE_HOOKS_FILES][256]; /* by descriptor */
};

/* Makes *hooks a layer without hooks. */
void file_hooks_start(struct file_hooks *hooks);

/* Returns "pwrite" and the like. */
const char *file_operation_name(enum file_operation operation);

#endif
