/* Traces: recording, and rebuilding the directory after a cut.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"

#define SECTOR 512

/* Where this thread's sync of a directory began. */
static _Thread_local size_t names_since;

static void *checked(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static struct event *trace_add(struct trace *trace, struct event event)
{
	if (trace->n == trace->capacity) {
		trace->capacity = trace->capacity == 0 ? 1024 : 2 * trace->capacity;
		trace->events =
			checked(realloc(trace->events, trace->capacity * sizeof trace->events[0]));
	}
	event.covered = SIZE_MAX;
	trace->events[trace->n] = event;
	return &trace->events[trace->n++];
}

static bool trace_find(const struct trace *trace, const char *path, size_t *name)
{
	for (*name = 0; *name < trace->names_n; ++*name) {
		if (strcmp(trace->names[*name].path, path) == 0)
			return true;
	}
	return false;
}

static void trace_name(struct trace *trace, const char *path, size_t file)
{
	size_t name;

	if (!trace_find(trace, path, &name)) {
		trace->names = checked(
			realloc(trace->names, (trace->names_n + 1) * sizeof trace->names[0]));
		trace->names[trace->names_n++].path = checked(strdup(path));
	}
	trace->names[name].file = file;
}

static void trace_forget(struct trace *trace, const char *path)
{
	size_t name;

	if (!trace_find(trace, path, &name))
		return;
	free(trace->names[name].path);
	trace->names[name] = trace->names[--trace->names_n];
}

static size_t trace_make(struct trace *trace, const char *path)
{
	trace_name(trace, path, trace->files);
	trace_add(trace, (struct event){ .kind = EVENT_MAKE,
					 .file = trace->files,
					 .path = checked(strdup(path)) });
	return trace->files++;
}

static void trace_write(struct trace *trace, size_t file, const void *bytes, size_t size,
			size_t offset)
{
	struct event *event = trace_add(
		trace, (struct event){
			       .kind = EVENT_WRITE, .file = file, .size = size, .offset = offset });

	event->bytes = checked(malloc(size + 1));
	memcpy(event->bytes, bytes, size);
}

/* Returns the contents of a file, or NULL. */
static char *file_bytes(const char *path, size_t *size)
{
	char *bytes;

	return file_read_whole(&file_system_posix, path, (size_t)1 << 30, &bytes, size) ? bytes
											: NULL;
}

static void trace_open(struct trace *trace, const struct file_call *call)
{
	size_t name;

	if (call->is_new) {
		trace->file_of[call->file] = trace_make(trace, call->path);
	} else if (trace_find(trace, call->path, &name)) {
		trace->file_of[call->file] = trace->names[name].file;
		if (call->flags & O_TRUNC)
			trace_add(trace, (struct event){ .kind = EVENT_RESIZE,
							 .file = trace->names[name].file });
	} else {
		trace->file_of[call->file] = TRACE_NO_FILE;
	}
}

static void trace_call(struct trace *trace, const struct file_call *call)
{
	size_t name;

	switch (call->operation) {
	case FILE_OPEN:
		trace_open(trace, call);
		break;
	case FILE_PWRITE:
		trace_write(trace, trace->file_of[call->file], call->bytes, call->size,
			    (size_t)call->offset);
		break;
	case FILE_ALLOCATE:
	case FILE_FTRUNCATE:
		trace_add(trace, (struct event){ .kind = EVENT_RESIZE,
						 .file = trace->file_of[call->file],
						 .size = call->size });
		break;
	case FILE_FDATASYNC:
	case FILE_FSYNC:
		trace_add(trace, (struct event){ .kind = EVENT_SYNC_FILE,
						 .file = trace->file_of[call->file],
						 .since = trace->since_of[call->file] });
		break;
	case FILE_RENAME:
		if (!trace_find(trace, call->path, &name))
			abort();
		trace_add(trace, (struct event){ .kind = EVENT_RENAME,
						 .file = trace->names[name].file,
						 .path = checked(strdup(call->path)),
						 .to = checked(strdup(call->to)) });
		trace_name(trace, call->to, trace->names[name].file);
		trace_forget(trace, call->path);
		break;
	case FILE_UNLINK:
		trace_add(trace, (struct event){ .kind = EVENT_UNLINK,
						 .path = checked(strdup(call->path)) });
		trace_forget(trace, call->path);
		break;
	case FILE_MKDIR:
		trace_add(trace, (struct event){ .kind = EVENT_DIRECTORY,
						 .path = checked(strdup(call->path)) });
		break;
	case FILE_SYNC_DIRECTORY:
		trace_add(trace, (struct event){ .kind = EVENT_SYNC_NAMES,
						 .path = checked(strdup(call->path)),
						 .since = names_since });
		break;
	case FILE_CLOSE:
	case FILE_PREAD:
	case FILE_GET_SIZE:
	case FILE_LOCK:
	case FILE_WRITE_OUT:
	case FILE_MAP:
	case FILE_WILL_NEED:
	case FILE_LIST:
	case FILE_OPERATION_COUNT:
		break;
	}
}

static int record_before(struct file_hooks *hooks, struct file_call *call)
{
	struct trace *trace = hooks->context;

	pthread_mutex_lock(&trace->lock);
	if (call->operation == FILE_FDATASYNC || call->operation == FILE_FSYNC)
		trace->since_of[call->file] = trace->n;
	if (call->operation == FILE_SYNC_DIRECTORY)
		names_since = trace->n;
	pthread_mutex_unlock(&trace->lock);
	return 0;
}

static void record_after(struct file_hooks *hooks, const struct file_call *call)
{
	struct trace *trace = hooks->context;

	if (call->error != 0)
		return;
	pthread_mutex_lock(&trace->lock);
	trace_call(trace, call);
	pthread_mutex_unlock(&trace->lock);
}

void trace_number(struct trace *trace, enum event_kind kind, uint64_t number)
{
	pthread_mutex_lock(&trace->lock);
	trace_add(trace, (struct event){ .kind = kind, .number = number });
	pthread_mutex_unlock(&trace->lock);
}

struct trace *trace_start(void)
{
	struct trace *trace = checked(calloc(1, sizeof *trace));

	pthread_mutex_init(&trace->lock, NULL);
	file_hooks_start(&trace->hooks);
	trace->hooks.is_fast = true;
	trace->hooks.before = record_before;
	trace->hooks.after = record_after;
	trace->hooks.context = trace;
	return trace;
}

void trace_free(struct trace *trace)
{
	for (size_t i = 0; i < trace->n; i++) {
		free(trace->events[i].path);
		free(trace->events[i].to);
		free(trace->events[i].bytes);
	}
	while (trace->names_n > 0)
		trace_forget(trace, trace->names[0].path);
	free(trace->names);
	free(trace->events);
	pthread_mutex_destroy(&trace->lock);
	free(trace);
}

void trace_import(struct trace *trace, const char *directory)
{
	const size_t size = (size_t)(strrchr(directory, '/') - directory);
	char *names = checked(file_system_posix.list(&file_system_posix, directory));

	trace_add(trace,
		  (struct event){ .kind = EVENT_DIRECTORY, .path = checked(strdup(directory)) });
	for (const char *name = names; *name != '\0'; name = file_next_name(name)) {
		char path[512];
		size_t bytes_size, file;
		char *bytes;

		snprintf(path, sizeof path, "%s/%s", directory, name);
		bytes = file_bytes(path, &bytes_size);
		if (bytes == NULL)
			abort();
		file = trace_make(trace, path);
		trace_write(trace, file, bytes, bytes_size, 0);
		trace_add(
			trace,
			(struct event){ .kind = EVENT_SYNC_FILE, .file = file, .since = trace->n });
		free(bytes);
	}
	free(names);
	trace_add(trace, (struct event){ .kind = EVENT_SYNC_NAMES,
					 .since = trace->n,
					 .path = checked(strdup(directory)) });
	trace_add(trace, (struct event){ .kind = EVENT_SYNC_NAMES,
					 .since = trace->n,
					 .path = checked(strndup(directory, size)) });
	trace->imported = trace->n;
}

/* Returns true if the path is in the directory. */
static bool is_in(const char *path, const char *directory)
{
	const size_t size = strlen(directory);

	return strncmp(path, directory, size) == 0 && path[size] == '/' &&
	       strchr(path + size + 1, '/') == NULL;
}

static bool is_covered_by(const struct event *event, const struct event *sync)
{
	switch (event->kind) {
	case EVENT_MAKE:
	case EVENT_DIRECTORY:
	case EVENT_RENAME:
	case EVENT_UNLINK:
		return sync->kind == EVENT_SYNC_NAMES && is_in(event->path, sync->path);
	case EVENT_WRITE:
	case EVENT_RESIZE:
		return sync->kind == EVENT_SYNC_FILE && event->file == sync->file;
	case EVENT_SYNC_NAMES:
	case EVENT_SYNC_FILE:
	case EVENT_SENT:
	case EVENT_DURABLE:
		break;
	}
	return false;
}

void trace_finish(struct trace *trace)
{
	for (size_t n = 0; n < trace->n; n++) {
		const struct event *sync = &trace->events[n];

		if (sync->kind != EVENT_SYNC_NAMES && sync->kind != EVENT_SYNC_FILE)
			continue;
		for (size_t i = 0; i < sync->since; i++) {
			struct event *event = &trace->events[i];

			if (event->covered == SIZE_MAX && is_covered_by(event, sync))
				event->covered = n;
		}
	}
}

struct rebuilt {
	char *bytes;
	size_t size;
	size_t capacity;
};

static bool data_is_kept(enum cut cut, uint64_t *seed)
{
	switch (cut) {
	case CUT_ALL:
	case CUT_DATA_ONLY:
		return true;
	case CUT_NOTHING:
	case CUT_NAMES_ONLY:
		return false;
	case CUT_ANYTHING:
	case CUT_COUNT:
		break;
	}
	return chance_below(seed, 2) == 0;
}

static bool name_is_kept(enum cut cut, uint64_t *seed)
{
	switch (cut) {
	case CUT_ALL:
	case CUT_NAMES_ONLY:
		return true;
	case CUT_NOTHING:
	case CUT_DATA_ONLY:
		return false;
	case CUT_ANYTHING:
	case CUT_COUNT:
		break;
	}
	return chance_below(seed, 2) == 0;
}

static void rebuilt_resize(struct rebuilt *file, size_t size)
{
	if (size > file->capacity) {
		file->capacity = 2 * size;
		file->bytes = checked(realloc(file->bytes, file->capacity));
	}
	if (size > file->size)
		memset(file->bytes + file->size, 0, size - file->size);
	file->size = size;
}

static void rebuilt_write(struct rebuilt *file, const char *bytes, size_t size, size_t offset)
{
	if (offset + size > file->size)
		rebuilt_resize(file, offset + size);
	if (size > 0)
		memcpy(file->bytes + offset, bytes, size);
}

/* Tears a write that no sync covers: decides for each of its sectors separately. */
static void rebuilt_tear(struct rebuilt *file, const struct event *event, enum cut cut,
			 uint64_t *seed)
{
	for (size_t done = 0; done < event->size;) {
		const size_t at = event->offset + done;
		const size_t left = event->size - done;
		const size_t sector = SECTOR - at % SECTOR;
		const size_t size = sector < left ? sector : left;

		if (data_is_kept(cut, seed))
			rebuilt_write(file, event->bytes + done, size, at);
		done += size;
	}
}

/* Returns the contents of each file after a cut before the event `end`. */
static struct rebuilt *rebuild_files(const struct trace *trace, size_t end, enum cut cut,
				     uint64_t *seed)
{
	struct rebuilt *files = checked(calloc(trace->files + 1, sizeof *files));

	for (size_t i = 0; i < end; i++) {
		const struct event *event = &trace->events[i];
		const bool is_durable = event->covered < end;
		struct rebuilt *file =
			&files[event->file == TRACE_NO_FILE ? trace->files : event->file];

		if (event->kind == EVENT_WRITE && is_durable)
			rebuilt_write(file, event->bytes, event->size, event->offset);
		else if (event->kind == EVENT_WRITE)
			rebuilt_tear(file, event, cut, seed);
		else if (event->kind == EVENT_RESIZE && (is_durable || data_is_kept(cut, seed)))
			rebuilt_resize(file, event->size);
	}
	return files;
}

/* Determines the names after the cut; `view` must contain nothing else. */
static void rebuild_names(const struct trace *trace, size_t end, enum cut cut, uint64_t *seed,
			  struct trace *view, bool *has_directory, const char *directory)
{
	*has_directory = false;
	for (size_t i = 0; i < end; i++) {
		const struct event *event = &trace->events[i];

		if (event->kind != EVENT_MAKE && event->kind != EVENT_DIRECTORY &&
		    event->kind != EVENT_RENAME && event->kind != EVENT_UNLINK)
			continue;
		if (event->covered >= end && !name_is_kept(cut, seed))
			continue;
		if (event->kind == EVENT_DIRECTORY && strcmp(event->path, directory) == 0) {
			*has_directory = true;
		} else if (event->kind == EVENT_MAKE) {
			trace_name(view, event->path, event->file);
		} else if (event->kind == EVENT_RENAME) {
			trace_name(view, event->to, event->file);
			trace_forget(view, event->path);
		} else if (event->kind == EVENT_UNLINK) {
			trace_forget(view, event->path);
		}
	}
}

static void file_put(const char *path, const char *bytes, size_t size)
{
	const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (file < 0 || (size > 0 && !file_write_all(&file_system_posix, file, bytes, size, 0))) {
		perror(path);
		abort();
	}
	close(file);
}

void trace_rebuild(const struct trace *trace, size_t end, enum cut cut, uint64_t *seed,
		   const char *from, const char *to)
{
	struct rebuilt *files = rebuild_files(trace, end, cut, seed);
	struct trace *view = trace_start();
	bool has_directory;

	rebuild_names(trace, end, cut, seed, view, &has_directory, from);
	if (has_directory && mkdir(to, 0700) < 0)
		abort();
	for (size_t i = 0; i < view->names_n && has_directory; i++) {
		const struct rebuilt *file = &files[view->names[i].file];
		char path[512];

		if (!is_in(view->names[i].path, from))
			continue;
		snprintf(path, sizeof path, "%s/%s", to, view->names[i].path + strlen(from) + 1);
		file_put(path, file->bytes, file->size);
	}
	trace_free(view);
	for (size_t i = 0; i <= trace->files; i++)
		free(files[i].bytes);
	free(files);
}
