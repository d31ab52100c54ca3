/* The names of stack files, and writing one: the GDBM file and its index get names that end in
 * `.new`, and are renamed when both are on the disk.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/gdbm/gdbm_writer.h"
#include "store/gdbm/stack_format.h"
#include "store/gdbm/stack_index.h"

#define PREFIX "stack-"
/* Bytes that GDBM and the index add to key and value. */
#define ENTRY_OVERHEAD (VALUE_HEAD + 24 + 8)

struct stack_build {
	struct stack_place place;
	uint64_t id;
	char path[PATH_MAX]; /* ends in .new */
	int file; /* -1 if there is none */
	struct gdbm_writer *writer;
	struct index_build *index;
	bool is_stamped; /* the stamp has been written, at its place in the order */
	uint64_t bytes;
};

void stack_gdbm_name(uint64_t id, char name[STACK_NAME_SIZE])
{
	snprintf(name, STACK_NAME_SIZE, PREFIX "%016llx.gdbm", (unsigned long long)id);
}

void stack_index_name(uint64_t id, char name[STACK_NAME_SIZE])
{
	snprintf(name, STACK_NAME_SIZE, PREFIX "%016llx.index", (unsigned long long)id);
}

void stack_path(const struct stack_place *place, uint64_t id, const char *ending,
		char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" PREFIX "%016llx%s", place->directory, (unsigned long long)id,
		 ending);
}

bool stack_name_parse(const char *name, uint64_t *id, bool *is_unfinished)
{
	static const char *const endings[] = { ".gdbm", ".index", ".gdbm.new", ".index.new" };
	const char *rest = file_name_number(name, PREFIX, id);

	for (size_t i = 0; rest != NULL && i < sizeof endings / sizeof *endings; i++)
		if (strcmp(rest, endings[i]) == 0) {
			*is_unfinished = i >= 2;
			return true;
		}
	return false;
}

uint64_t stack_entry_bytes(size_t key_size, size_t value_size)
{
	return key_size + key_size + value_size + ENTRY_OVERHEAD;
}

static bool build_failed(const struct stack_build *build, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot write %s", build->path);
}

static bool build_open(struct stack_build *build, struct fault *fault)
{
	const struct file_system *files = build->place.files;

	build->file = files->open(files, build->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (build->file < 0)
		return build_failed(build, fault);
	build->writer = gdbm_writer_open(files, build->file);
	return true;
}

bool stack_build_begin(const struct stack_place *place, uint64_t id, uint64_t most_entries,
		       struct stack_build **build, struct fault *fault)
{
	struct stack_build *begun = memory_check(malloc(sizeof *begun));

	*begun = (struct stack_build){ .place = *place, .id = id, .file = -1 };
	stack_path(place, id, ".gdbm.new", begun->path);
	if (!index_build_begin(place, id, most_entries, &begun->index, fault) ||
	    !build_open(begun, fault)) {
		stack_build_abandon(begun);
		return false;
	}
	*build = begun;
	return true;
}

static bool stamp_add(struct stack_build *build, bool *is_broken)
{
	char stamp[STAMP_SIZE];

	build->is_stamped = true;
	stamp_write(&build->place, build->id, stamp);
	return gdbm_writer_add(build->writer, STAMP_KEY, (struct slice){ stamp, sizeof stamp },
			       SLICE(""), is_broken);
}

bool stack_build_add(struct stack_build *build, struct slice key, struct slice value,
		     bool *is_broken, struct fault *fault)
{
	const bool stamp_is_next = !build->is_stamped &&
				   entry_key_order(key) >= entry_key_order(STAMP_KEY);
	char head[VALUE_HEAD];

	value_head_write(head, value.data == NULL ? STACK_REMOVAL : STACK_PUT, key, value);
	if ((stamp_is_next && !stamp_add(build, is_broken)) ||
	    !gdbm_writer_add(build->writer, key, (struct slice){ head, sizeof head }, value,
			     is_broken))
		return build_failed(build, fault);
	build->bytes += stack_entry_bytes(key.size, value.size);
	return index_build_add(build->index, key, (uint32_t)value.size, value.data == NULL,
			       is_broken, fault);
}

static void build_free(struct stack_build *build)
{
	gdbm_writer_close(build->writer);
	if (build->file >= 0)
		build->place.files->close(build->place.files, build->file);
	if (build->index != NULL)
		index_build_close(build->index);
	free(build);
}

bool stack_build_end(struct stack_build *build, struct stack_info *info, bool *is_broken,
		     struct fault *fault)
{
	const struct file_system *files = build->place.files;
	const struct block_writer *written = NULL;
	char from[PATH_MAX], index[PATH_MAX], gdbm[PATH_MAX];
	bool is_done;

	*info = (struct stack_info){ .bytes = build->bytes };
	is_done = ((build->is_stamped || stamp_add(build, is_broken)) &&
		   gdbm_writer_end(build->writer, &written, is_broken)) ||
		  build_failed(build, fault);
	is_done = is_done && index_build_end(build->index, written, info, is_broken, fault);

	stack_path(&build->place, build->id, ".index.new", from);
	stack_path(&build->place, build->id, ".index", index);
	stack_path(&build->place, build->id, ".gdbm", gdbm);
	is_done = is_done && ((files->rename(files, from, index) == 0 &&
			       files->rename(files, build->path, gdbm) == 0) ||
			      build_failed(build, fault));
	if (!is_done) {
		stack_build_abandon(build);
		return false;
	}
	build_free(build);
	return true;
}

/* Removes the files under all names that they may have by now. */
void stack_build_abandon(struct stack_build *build)
{
	const struct file_system *files = build->place.files;
	char path[PATH_MAX];

	files->unlink(files, build->path);
	stack_path(&build->place, build->id, ".index.new", path);
	files->unlink(files, path);
	stack_remove(&build->place, build->id);
	build_free(build);
}
