/* A file layer that does what the system's own does, and calls a hook before and after each
 * operation: what the tests of power cuts, full disks and kills are made of.
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
	FILE_UNLINK,
	FILE_MKDIR,
	FILE_SYNC_DIRECTORY,
	FILE_LIST,
	FILE_OPERATION_COUNT
};

struct file_call {
	enum file_operation operation;
	const char *path; /* of an open file: the one it was opened under, or renamed to */
	const char *to; /* rename */
	int file; /* -1: none */
	int flags; /* open */
	const void *bytes; /* pwrite */
	size_t size; /* pread, pwrite, write_out, will_need; allocate, ftruncate: of the file */
	off_t offset;
	bool is_new; /* after open: it was made */
	bool is_scattered; /* map */
	int error; /* after: 0 or errno */
};

#define FILE_HOOKS_FILES 1024

struct file_hooks {
	struct file_system files;
	/* 0, or the errno that the operation fails with without being done. `size` may be made
	 * smaller: a short read or write. NULL: none. */
	int (*before)(struct file_hooks *hooks, struct file_call *call);
	/* NULL: none. */
	void (*after)(struct file_hooks *hooks, const struct file_call *call);
	void *context;
	bool is_fast; /* syncs are not done: the machine is not going to stop */
	pthread_mutex_t lock;
	char paths[FILE_HOOKS_FILES][256]; /* by descriptor */
};

/* Makes *hooks a layer without hooks. */
void file_hooks_start(struct file_hooks *hooks);

/* "pwrite" and the like. */
const char *file_operation_name(enum file_operation operation);

#endif
