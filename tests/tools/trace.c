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

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static bool name_find(const struct trace *trace, size_t directory, const char *name, size_t *index)
{
	for (*index = 0; *index < trace->names_n; ++*index) {
		if (trace->names[*index].directory == directory &&
		    strcmp(trace->names[*index].name, name) == 0)
			return true;
	}
	return false;
}

static void name_set(struct trace *trace, size_t directory, const char *name, size_t file)
{
	size_t index;

	if (!name_find(trace, directory, name, &index)) {
		trace->names = checked(
			realloc(trace->names, (trace->names_n + 1) * sizeof trace->names[0]));
		trace->names[trace->names_n++] = (struct trace_name){
			.directory = directory,
			.name = checked(strdup(name)),
		};
	}
	trace->names[index].file = file;
}

static void name_forget(struct trace *trace, size_t directory, const char *name)
{
	size_t index;

	if (!name_find(trace, directory, name, &index))
		return;
	free(trace->names[index].name);
	trace->names[index] = trace->names[--trace->names_n];
}

/* Finds the file or directory that a path leads to now. */
static bool trace_find(const struct trace *trace, const char *path, size_t *file)
{
	char parent[512];
	size_t index, directory;

	if (name_find(trace, TRACE_NO_FILE, path, &index)) {
		*file = trace->names[index].file;
		return true;
	}
	snprintf(parent, sizeof parent, "%.*s", (int)(name_in(path) - path), path);
	if (parent[0] == '\0')
		return false;
	parent[strlen(parent) - 1] = '\0';
	if (!trace_find(trace, parent, &directory) ||
	    !name_find(trace, directory, name_in(path), &index))
		return false;
	*file = trace->names[index].file;
	return true;
}

/* Returns the directory in which a path is; one that the trace does not know is from before it. */
static size_t directory_of_path(struct trace *trace, const char *path)
{
	char parent[512];
	size_t directory;

	if (name_in(path) == path)
		abort();
	snprintf(parent, sizeof parent, "%.*s", (int)(name_in(path) - path) - 1, path);
	if (!trace_find(trace, parent, &directory)) {
		directory = trace->files++;
		name_set(trace, TRACE_NO_FILE, parent, directory);
	}
	return directory;
}

/* Adds an event about names in one directory. */
static struct event *trace_add_names(struct trace *trace, enum event_kind kind, const char *path,
				     const char *to)
{
	struct event event = {
		.kind = kind,
		.directory = directory_of_path(trace, path),
		.path = checked(strdup(path)),
		.to = to == NULL ? NULL : checked(strdup(to)),
	};

	if (to != NULL && directory_of_path(trace, to) != event.directory)
		abort();
	return trace_add(trace, event);
}

/* Does to the names what the event has done. */
static void names_follow(struct trace *names, const struct event *event)
{
	const char *name = name_in(event->path);

	if (event->kind == EVENT_UNLINK) {
		name_forget(names, event->directory, name);
	} else if (event->kind == EVENT_RENAME) {
		name_set(names, event->directory, name_in(event->to), event->file);
		name_forget(names, event->directory, name);
	} else if (event->kind == EVENT_EXCHANGE) {
		name_set(names, event->directory, name_in(event->to), event->file);
		name_set(names, event->directory, name, event->other);
	} else {
		name_set(names, event->directory, name, event->file);
	}
}

/* Adds a new file or directory. */
static size_t trace_make(struct trace *trace, enum event_kind kind, const char *path)
{
	struct event *event = trace_add_names(trace, kind, path, NULL);

	event->file = trace->files++;
	names_follow(trace, event);
	return event->file;
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
	size_t *file = &trace->file_of[call->file];

	if (call->is_new) {
		*file = trace_make(trace, EVENT_MAKE, call->path);
	} else if (!trace_find(trace, call->path, file)) {
		*file = TRACE_NO_FILE;
	} else if (call->flags & O_TRUNC) {
		trace_add(trace, (struct event){ .kind = EVENT_RESIZE, .file = *file });
	}
}

/* A change of names that exist. */
static void trace_names(struct trace *trace, enum event_kind kind, const struct file_call *call)
{
	/* A link is about its new name. */
	struct event *event = trace_add_names(trace, kind,
					      kind == EVENT_LINK ? call->to : call->path,
					      kind == EVENT_LINK ? NULL : call->to);

	if (!trace_find(trace, call->path, &event->file) ||
	    (kind == EVENT_EXCHANGE && !trace_find(trace, call->to, &event->other)))
		abort();
	names_follow(trace, event);
}

static void trace_call(struct trace *trace, const struct file_call *call)
{
	size_t file;

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
		trace_names(trace, EVENT_RENAME, call);
		break;
	case FILE_EXCHANGE:
		trace_names(trace, EVENT_EXCHANGE, call);
		break;
	case FILE_LINK:
		trace_names(trace, EVENT_LINK, call);
		break;
	case FILE_UNLINK:
	case FILE_RMDIR:
		trace_names(trace, EVENT_UNLINK, call);
		break;
	case FILE_MKDIR:
		trace_make(trace, EVENT_DIRECTORY, call->path);
		break;
	case FILE_SYNC_DIRECTORY:
		if (trace_find(trace, call->path, &file))
			trace_add(trace, (struct event){ .kind = EVENT_SYNC_NAMES,
							 .file = file,
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
	return call->operation == FILE_EXCHANGE ? trace->exchange_error : 0;
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
	for (size_t i = 0; i < trace->names_n; i++)
		free(trace->names[i].name);
	free(trace->names);
	free(trace->events);
	pthread_mutex_destroy(&trace->lock);
	free(trace);
}

void trace_import(struct trace *trace, const char *directory)
{
	char *names = checked(file_system_posix.list(&file_system_posix, directory));
	const size_t made = trace_make(trace, EVENT_DIRECTORY, directory);

	for (const char *name = names; *name != '\0'; name = file_next_name(name)) {
		char path[512];
		size_t bytes_size, file;
		char *bytes;

		snprintf(path, sizeof path, "%s/%s", directory, name);
		bytes = file_bytes(path, &bytes_size);
		if (bytes == NULL)
			abort();
		file = trace_make(trace, EVENT_MAKE, path);
		trace_write(trace, file, bytes, bytes_size, 0);
		trace_add(
			trace,
			(struct event){ .kind = EVENT_SYNC_FILE, .file = file, .since = trace->n });
		free(bytes);
	}
	free(names);
	trace_add(trace,
		  (struct event){ .kind = EVENT_SYNC_NAMES, .since = trace->n, .file = made });
	trace_add(trace, (struct event){ .kind = EVENT_SYNC_NAMES,
					 .since = trace->n,
					 .file = directory_of_path(trace, directory) });
	trace->imported = trace->n;
}

static bool is_about_names(const struct event *event)
{
	switch (event->kind) {
	case EVENT_MAKE:
	case EVENT_DIRECTORY:
	case EVENT_LINK:
	case EVENT_RENAME:
	case EVENT_EXCHANGE:
	case EVENT_UNLINK:
		return true;
	case EVENT_SYNC_NAMES:
	case EVENT_WRITE:
	case EVENT_RESIZE:
	case EVENT_SYNC_FILE:
	case EVENT_SENT:
	case EVENT_DURABLE:
		break;
	}
	return false;
}

static bool is_covered_by(const struct event *event, const struct event *sync)
{
	if (is_about_names(event))
		return sync->kind == EVENT_SYNC_NAMES && event->directory == sync->file;
	if (event->kind == EVENT_WRITE || event->kind == EVENT_RESIZE)
		return sync->kind == EVENT_SYNC_FILE && event->file == sync->file;
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
			  struct trace *view)
{
	for (size_t i = 0; i < end; i++) {
		const struct event *event = &trace->events[i];

		if (is_about_names(event) && (event->covered < end || name_is_kept(cut, seed)))
			names_follow(view, event);
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

static bool is_directory(const struct trace *trace, size_t file)
{
	for (size_t i = 0; i < trace->n; i++) {
		if (trace->events[i].file == file && trace->events[i].kind == EVENT_DIRECTORY)
			return true;
	}
	return false;
}

/* Writes what is in a directory of the trace, as the view has it. */
static void directory_put(const struct trace *trace, const struct trace *view,
			  const struct rebuilt *files, size_t directory, const char *to)
{
	if (mkdir(to, 0700) < 0)
		abort();
	for (size_t i = 0; i < view->names_n; i++) {
		const struct trace_name *name = &view->names[i];
		char path[512];

		if (name->directory != directory)
			continue;
		snprintf(path, sizeof path, "%s/%s", to, name->name);
		if (is_directory(trace, name->file))
			directory_put(trace, view, files, name->file, path);
		else
			file_put(path, files[name->file].bytes, files[name->file].size);
	}
}

void trace_rebuild(const struct trace *trace, size_t end, enum cut cut, uint64_t *seed,
		   const char *from, const char *to)
{
	struct rebuilt *files = rebuild_files(trace, end, cut, seed);
	struct trace *view = trace_start();
	size_t directory;
	bool is_there;

	if (!trace_find(trace, from, &directory))
		abort();
	rebuild_names(trace, end, cut, seed, view);
	/* One from before the trace stays. */
	is_there = !is_directory(trace, directory);
	for (size_t i = 0; i < view->names_n; i++)
		is_there = is_there || view->names[i].file == directory;
	if (is_there)
		directory_put(trace, view, files, directory, to);
	trace_free(view);
	for (size_t i = 0; i <= trace->files; i++)
		free(files[i].bytes);
	free(files);
}
