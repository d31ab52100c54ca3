/* Writing a file of the stack: the GDBM file and its index side by side, into names that end in
 * `.new`, renamed when both are on disk.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "store/stack_format.h"
#include "store/stack_handle.h"
#include "store/stack_index.h"

/* What is synced at once: a group of the journal may have to wait behind it. */
#define SYNC_BYTES ((uint64_t)2 << 20)
/* What GDBM and the index take beside key and value. */
#define RECORD_OVERHEAD (VALUE_HEAD + 24 + 8)

struct stack_build {
	struct stack_place place;
	uint64_t id;
	char path[PATH_MAX]; /* ends in .new */
	struct gdbm_file_info *handle;
	struct index_build *index;
	char *value; /* the head, then the value */
	size_t capacity;
	uint64_t bytes;
	uint64_t unsynced;
};

uint64_t stack_record_bytes(size_t key_size, size_t value_size)
{
	return key_size + key_size + value_size + RECORD_OVERHEAD;
}

static bool build_failed(const struct stack_build *build, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", build->path);
}

static bool build_open(struct stack_build *build, struct fault *fault)
{
	char stamp[STAMP_SIZE];

	if (build->place.files->object_begin(build->place.files, build->path) < 0)
		return build_failed(build, fault);
	build->handle = handle_make(build->path, fault);
	stamp_write(&build->place, build->id, stamp);
	return build->handle != NULL &&
	       handle_store(build->handle, STAMP_KEY, (struct slice){ stamp, sizeof stamp }, fault);
}

bool stack_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_records,
		       struct stack_build **build, struct fault *fault)
{
	struct stack_build *begun = malloc(sizeof *begun);
	char name[STACK_NAME_SIZE];

	if (begun == NULL)
		abort();
	*begun = (struct stack_build){ .place = *place, .id = id };
	stack_gdbm_name(id, name);
	stack_path(place, name, ".new", begun->path);
	if (!index_build_begin(place, id, most_records, &begun->index, fault) ||
	    !build_open(begun, fault)) {
		stack_build_abandon(begun);
		return false;
	}
	*build = begun;
	return true;
}

static void value_write(struct stack_build *build, struct slice key, struct slice value)
{
	size_t size = VALUE_HEAD + value.size;

	if (size > build->capacity) {
		free(build->value);
		build->capacity = 2 * size;
		build->value = malloc(build->capacity);
		if (build->value == NULL)
			abort();
	}
	memset(build->value, 0, VALUE_HEAD);
	build->value[4] = VALUE_FORMAT;
	build->value[5] = value.data == NULL ? STACK_REMOVAL : STACK_PUT;
	if (value.size > 0)
		memcpy(build->value + VALUE_HEAD, value.data, value.size);
	encode_32(build->value, value_checksum(key, build->value, size));
}

bool stack_build_add(struct stack_build *build, struct slice key, struct slice value,
		     bool *is_broken, struct fault *fault)
{
	value_write(build, key, value);
	if (!handle_store(build->handle, key,
			  (struct slice){ build->value, VALUE_HEAD + value.size }, fault))
		return false;
	build->bytes += stack_record_bytes(key.size, value.size);
	build->unsynced += key.size + value.size;
	if (build->unsynced >= SYNC_BYTES) {
		build->unsynced = 0;
		if (!handle_sync(build->handle, is_broken, fault))
			return false;
	}
	return index_build_add(build->index, key, (uint32_t)value.size, value.data == NULL, fault);
}

static bool gdbm_finish(struct stack_build *build, bool *is_broken, struct fault *fault)
{
	struct gdbm_file_info *handle = build->handle;

	if (!handle_sync(handle, is_broken, fault))
		return false;
	build->handle = NULL;
	return handle_close(handle) || build_failed(build, fault);
}

static bool files_finish(struct stack_build *build, struct stack_info *info, bool *is_broken,
			 struct fault *fault)
{
	const struct file_system *files = build->place.files;
	int gdbm = files->open(files, build->path, O_RDWR, 0);
	bool is_done;

	if (gdbm < 0)
		return build_failed(build, fault);
	is_done = (file_sync(files, gdbm, is_broken) &&
		   files->object_end(files, build->path) == 0) ||
		  build_failed(build, fault);
	is_done = is_done && index_build_end(build->index, gdbm, info, is_broken, fault);
	files->close(files, gdbm);
	return is_done;
}

static bool names_finish(struct stack_build *build, struct fault *fault)
{
	const struct file_system *files = build->place.files;
	char name[STACK_NAME_SIZE], from[PATH_MAX], to[PATH_MAX];

	stack_index_name(build->id, name);
	stack_path(&build->place, name, ".new", from);
	stack_path(&build->place, name, "", to);
	if (files->rename(files, from, to) < 0)
		return build_failed(build, fault);
	stack_gdbm_name(build->id, name);
	stack_path(&build->place, name, "", to);
	return files->rename(files, build->path, to) == 0 || build_failed(build, fault);
}

bool stack_build_end(struct stack_build *build, struct stack_info *info, bool *is_broken,
		     struct fault *fault)
{
	*info = (struct stack_info){ .bytes = build->bytes };
	if (!gdbm_finish(build, is_broken, fault) || !files_finish(build, info, is_broken, fault) ||
	    !names_finish(build, fault)) {
		stack_build_abandon(build);
		return false;
	}
	index_build_close(build->index);
	free(build->value);
	free(build);
	return true;
}

/* Whatever of it is there, under whichever name. */
void stack_build_abandon(struct stack_build *build)
{
	const struct file_system *files = build->place.files;
	char name[STACK_NAME_SIZE], path[PATH_MAX];

	if (build->handle != NULL)
		handle_close(build->handle);
	files->unlink(files, build->path);
	if (build->index != NULL)
		index_build_close(build->index);
	stack_index_name(build->id, name);
	stack_path(&build->place, name, ".new", path);
	files->unlink(files, path);
	stack_remove(&build->place, build->id);
	free(build->value);
	free(build);
}
