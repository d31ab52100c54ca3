/* The hooked file layer: each function describes the call, calls `before`, performs the call, and
 * calls `after`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "file_hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct file_system *const real = &file_system_posix;

static struct file_hooks *hooks_of(const struct file_system *files)
{
	/* Made by file_hooks_start, and therefore not const. */
	return (struct file_hooks *)(size_t)files;
}

static bool is_let_through(const struct file_system *files, struct file_call *call)
{
	struct file_hooks *hooks = hooks_of(files);
	int error = hooks->before == NULL ? 0 : hooks->before(hooks, call);

	if (error == 0)
		return true;
	call->error = error;
	if (hooks->after != NULL)
		hooks->after(hooks, call);
	errno = error;
	return false;
}

/* Returns `result`, with the errno that belongs to it. */
static long done(const struct file_system *files, struct file_call *call, long result)
{
	struct file_hooks *hooks = hooks_of(files);

	call->error = result < 0 ? errno : 0;
	if (hooks->after != NULL)
		hooks->after(hooks, call);
	errno = call->error;
	return result;
}

static struct file_call call_on_path(enum file_operation operation, const char *path)
{
	return (struct file_call){ .operation = operation, .path = path, .file = -1 };
}

static struct file_call call_on_file(const struct file_system *files, enum file_operation operation,
				     int file, char path[256])
{
	struct file_hooks *hooks = hooks_of(files);

	if (file < 0 || file >= FILE_HOOKS_FILES)
		abort();
	pthread_mutex_lock(&hooks->lock);
	memcpy(path, hooks->paths[file], sizeof hooks->paths[file]);
	pthread_mutex_unlock(&hooks->lock);
	return (struct file_call){ .operation = operation, .path = path, .file = file };
}

static int hooked_open(const struct file_system *files, const char *path, int flags, mode_t mode)
{
	struct file_hooks *hooks = hooks_of(files);
	struct file_call call = call_on_path(FILE_OPEN, path);
	int file;

	call.flags = flags;
	if (!is_let_through(files, &call))
		return -1;
	call.is_new = (flags & O_CREAT) != 0 && access(path, F_OK) < 0;
	file = real->open(real, path, flags, mode);
	call.file = file;
	if (file >= FILE_HOOKS_FILES || strlen(path) >= sizeof hooks->paths[0])
		abort();
	if (file >= 0) {
		pthread_mutex_lock(&hooks->lock);
		snprintf(hooks->paths[file], sizeof hooks->paths[file], "%s", path);
		pthread_mutex_unlock(&hooks->lock);
	}
	return (int)done(files, &call, file);
}

/* A close that fails closes the file nevertheless. */
static int hooked_close(const struct file_system *files, int file)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_CLOSE, file, path);
	bool is_fine = is_let_through(files, &call);
	int result = real->close(real, file);

	if (!is_fine) {
		errno = call.error;
		return -1;
	}
	return (int)done(files, &call, result);
}

static ssize_t hooked_pread(const struct file_system *files, int file, void *bytes, size_t size,
			    off_t offset)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_PREAD, file, path);

	call.size = size;
	call.offset = offset;
	if (!is_let_through(files, &call))
		return -1;
	return done(files, &call, real->pread(real, file, bytes, call.size, offset));
}

static ssize_t hooked_pwrite(const struct file_system *files, int file, const void *bytes,
			     size_t size, off_t offset)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_PWRITE, file, path);

	call.bytes = bytes;
	call.size = size;
	call.offset = offset;
	if (!is_let_through(files, &call))
		return -1;
	return done(files, &call, real->pwrite(real, file, bytes, call.size, offset));
}

static int hooked_allocate(const struct file_system *files, int file, off_t size)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_ALLOCATE, file, path);

	call.size = (size_t)size;
	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->allocate(real, file, size));
}

static int hooked_ftruncate(const struct file_system *files, int file, off_t size)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_FTRUNCATE, file, path);

	call.size = (size_t)size;
	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->ftruncate(real, file, size));
}

static int hooked_fdatasync(const struct file_system *files, int file)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_FDATASYNC, file, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, hooks_of(files)->is_fast ? 0 : real->fdatasync(real, file));
}

static int hooked_fsync(const struct file_system *files, int file)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_FSYNC, file, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, hooks_of(files)->is_fast ? 0 : real->fsync(real, file));
}

static int hooked_write_out(const struct file_system *files, int file, off_t offset, off_t size)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_WRITE_OUT, file, path);

	call.offset = offset;
	call.size = (size_t)size;
	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call,
			 hooks_of(files)->is_fast ? 0 : real->write_out(real, file, offset, size));
}

static int hooked_size(const struct file_system *files, int file, off_t *size)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_GET_SIZE, file, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->size(real, file, size));
}

static int hooked_lock(const struct file_system *files, int file, int operation)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_LOCK, file, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->lock(real, file, operation));
}

static void hooked_will_need(const struct file_system *files, int file, off_t offset, off_t size)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_WILL_NEED, file, path);

	call.offset = offset;
	call.size = (size_t)size;
	if (!is_let_through(files, &call))
		return;
	real->will_need(real, file, offset, size);
	(void)done(files, &call, 0);
}

static const void *hooked_map(const struct file_system *files, int file, size_t size,
			      bool is_scattered)
{
	char path[256];
	struct file_call call = call_on_file(files, FILE_MAP, file, path);
	const void *mapping;

	call.size = size;
	call.is_scattered = is_scattered;
	if (!is_let_through(files, &call))
		return NULL;
	mapping = real->map(real, file, size, is_scattered);
	return done(files, &call, mapping == NULL ? -1 : 0) < 0 ? NULL : mapping;
}

static void hooked_unmap(const struct file_system *files, const void *mapping, size_t size)
{
	(void)files;
	real->unmap(real, mapping, size);
}

static int hooked_rename(const struct file_system *files, const char *from, const char *to)
{
	struct file_hooks *hooks = hooks_of(files);
	struct file_call call = call_on_path(FILE_RENAME, from);
	int result;

	call.to = to;
	if (!is_let_through(files, &call))
		return -1;
	result = real->rename(real, from, to);
	pthread_mutex_lock(&hooks->lock);
	for (int i = 0; i < FILE_HOOKS_FILES && result == 0; i++) {
		if (strcmp(hooks->paths[i], from) == 0)
			snprintf(hooks->paths[i], sizeof hooks->paths[i], "%s", to);
	}
	pthread_mutex_unlock(&hooks->lock);
	return (int)done(files, &call, result);
}

static int hooked_exchange(const struct file_system *files, const char *one, const char *other)
{
	struct file_call call = call_on_path(FILE_EXCHANGE, one);

	call.to = other;
	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->exchange(real, one, other));
}

static int hooked_link(const struct file_system *files, const char *from, const char *to)
{
	struct file_call call = call_on_path(FILE_LINK, from);

	call.to = to;
	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->link(real, from, to));
}

static int hooked_unlink(const struct file_system *files, const char *path)
{
	struct file_call call = call_on_path(FILE_UNLINK, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->unlink(real, path));
}

static int hooked_mkdir(const struct file_system *files, const char *path, mode_t mode)
{
	struct file_call call = call_on_path(FILE_MKDIR, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->mkdir(real, path, mode));
}

static int hooked_rmdir(const struct file_system *files, const char *path)
{
	struct file_call call = call_on_path(FILE_RMDIR, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call, real->rmdir(real, path));
}

static int hooked_sync_directory(const struct file_system *files, const char *path)
{
	struct file_call call = call_on_path(FILE_SYNC_DIRECTORY, path);

	if (!is_let_through(files, &call))
		return -1;
	return (int)done(files, &call,
			 hooks_of(files)->is_fast ? 0 : real->sync_directory(real, path));
}

static char *hooked_list(const struct file_system *files, const char *path)
{
	struct file_call call = call_on_path(FILE_LIST, path);
	char *names;

	if (!is_let_through(files, &call))
		return NULL;
	names = real->list(real, path);
	(void)done(files, &call, names == NULL ? -1 : 0);
	return names;
}

void file_hooks_start(struct file_hooks *hooks)
{
	memset(hooks, 0, sizeof *hooks);
	pthread_mutex_init(&hooks->lock, NULL);
	hooks->files = (struct file_system){
		.open = hooked_open,
		.close = hooked_close,
		.pread = hooked_pread,
		.pwrite = hooked_pwrite,
		.allocate = hooked_allocate,
		.ftruncate = hooked_ftruncate,
		.fdatasync = hooked_fdatasync,
		.fsync = hooked_fsync,
		.write_out = hooked_write_out,
		.size = hooked_size,
		.lock = hooked_lock,
		.is_named = file_system_posix.is_named,
		.map = hooked_map,
		.will_need = hooked_will_need,
		.unmap = hooked_unmap,
		.rename = hooked_rename,
		.exchange = hooked_exchange,
		.link = hooked_link,
		.unlink = hooked_unlink,
		.mkdir = hooked_mkdir,
		.rmdir = hooked_rmdir,
		.sync_directory = hooked_sync_directory,
		.list = hooked_list,
	};
}

const char *file_operation_name(enum file_operation operation)
{
	static const char *const names[FILE_OPERATION_COUNT] = {
		[FILE_OPEN] = "open",		[FILE_CLOSE] = "close",
		[FILE_PREAD] = "pread",		[FILE_PWRITE] = "pwrite",
		[FILE_ALLOCATE] = "allocate",	[FILE_FTRUNCATE] = "ftruncate",
		[FILE_FDATASYNC] = "fdatasync", [FILE_FSYNC] = "fsync",
		[FILE_WRITE_OUT] = "write_out", [FILE_GET_SIZE] = "size",
		[FILE_LOCK] = "lock",		[FILE_MAP] = "map",
		[FILE_RENAME] = "rename",	[FILE_EXCHANGE] = "exchange",
		[FILE_LINK] = "link",		[FILE_UNLINK] = "unlink",
		[FILE_MKDIR] = "mkdir",		[FILE_RMDIR] = "rmdir",
		[FILE_LIST] = "list",		[FILE_SYNC_DIRECTORY] = "sync_directory",
		[FILE_WILL_NEED] = "will_need",
	};

	return names[operation];
}
