/* See scratch.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "scratch.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory.h"
#include "store/gdbm/file.h"
#include "store/gdbm/journal_mark.h"
#include "store/gdbm/manifest.h"
#include "store/gdbm/entries.h"

struct scratch scratch;

void scratch_open(void)
{
	scratch.directory = directory_make();
	snprintf(scratch.path, sizeof scratch.path, "%s/store", scratch.directory);
	scratch.arena = arena_open();
}

void scratch_close(void)
{
	arena_close(scratch.arena);
	directory_remove(scratch.directory);
}

bool scratch_try_store(struct store_options options, struct store **store, struct fault *fault)
{
	options.directory = scratch.path;
	options.readers = 2;
	options.creates = true;
	*fault = FAULT_INITIAL;
	return store_gdbm_open(&options, store, fault);
}

struct store *scratch_store_with(struct store_options options)
{
	struct store *store;
	struct fault fault;

	if (!scratch_try_store(options, &store, &fault))
		ck_abort_msg("%s: %s", fault.message, fault.cause);
	return store;
}

struct store *scratch_store(void)
{
	return scratch_store_with((struct store_options){ .directory = NULL });
}

void scratch_refused(const char *what)
{
	struct store *store;
	struct fault fault;

	ck_assert(!scratch_try_store((struct store_options){ .directory = NULL }, &store, &fault));
	ck_assert_int_eq(fault.kind, FAULT_UNAVAILABLE);
	ck_assert_msg(strstr(fault.cause, what) != NULL, "\"%s\" is not in \"%s\"", what,
		      fault.cause);
}

struct slice scratch_key(unsigned n)
{
	return slice_of(arena_text(scratch.arena, "key %u", n));
}

bool scratch_try_put(struct store *store, unsigned n, size_t size, uint64_t *number,
		     struct fault *fault)
{
	struct transaction *transaction;
	char *value = arena_zero(scratch.arena, size + 32);

	*fault = FAULT_INITIAL;
	snprintf(value, size + 32, "value %u", n);
	return store_begin(store, STORE_WRITE, scratch.arena, &transaction, fault) &&
	       entry_put(transaction, STORE_RECORD, scratch_key(n),
			 (struct slice){ value, size + 32 }, fault) &&
	       store_commit(transaction, number, fault);
}

uint64_t scratch_put(struct store *store, unsigned n, size_t size)
{
	struct fault fault;
	uint64_t number;

	if (!scratch_try_put(store, n, size, &number, &fault))
		ck_abort_msg("%s: %s", fault.message, fault.cause);
	return number;
}

void scratch_put_durable(struct store *store, unsigned n, size_t size)
{
	uint64_t number = scratch_put(store, n, size);
	struct fault fault = FAULT_INITIAL;

	ck_assert(store_wait(store, number, &fault));
}

bool scratch_try_get(struct store *store, unsigned n, struct slice *value, struct fault *fault)
{
	struct transaction *transaction;
	bool is_read;

	*fault = FAULT_INITIAL;
	ck_assert(store_begin(store, STORE_READ, scratch.arena, &transaction, fault));
	is_read = entry_get(transaction, STORE_RECORD, scratch_key(n), value, fault);
	store_abandon(transaction);
	return is_read;
}

bool scratch_has(struct store *store, unsigned n)
{
	struct slice value;
	struct fault fault;

	if (!scratch_try_get(store, n, &value, &fault))
		ck_abort_msg("%s: %s", fault.message, fault.cause);
	if (value.data == NULL)
		return false;
	ck_assert(slice_is(slice_of(value.data), arena_text(scratch.arena, "value %u", n)));
	return true;
}

char *scratch_name(const char *prefix, const char *suffix)
{
	DIR *names = opendir(scratch.path);
	struct dirent *entry;
	char *found = NULL;

	ck_assert_ptr_nonnull(names);
	while ((entry = readdir(names)) != NULL) {
		size_t size = strlen(entry->d_name), end = strlen(suffix);

		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && size >= end &&
		    strcmp(entry->d_name + size - end, suffix) == 0 &&
		    (found == NULL || strcmp(entry->d_name, found) < 0))
			found = arena_text(scratch.arena, "%s", entry->d_name);
	}
	closedir(names);
	return found;
}

char *scratch_newest(const char *prefix)
{
	DIR *names = opendir(scratch.path);
	struct dirent *entry;
	char *found = NULL;

	ck_assert_ptr_nonnull(names);
	while ((entry = readdir(names)) != NULL) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
		    (found == NULL || strcmp(entry->d_name, found) > 0))
			found = arena_text(scratch.arena, "%s", entry->d_name);
	}
	closedir(names);
	ck_assert_ptr_nonnull(found);
	return arena_text(scratch.arena, "%s/%s", scratch.path, found);
}

char *scratch_file(const char *prefix, const char *suffix)
{
	const char *name = scratch_name(prefix, suffix);

	ck_assert_ptr_nonnull(name);
	return arena_text(scratch.arena, "%s/%s", scratch.path, name);
}

off_t file_size(const char *file)
{
	struct stat status;

	ck_assert_int_eq(stat(file, &status), 0);
	return status.st_size;
}

void file_overwrite(const char *file, off_t at, const void *bytes, size_t size)
{
	int opened = open(file, O_WRONLY);

	ck_assert_int_ge(opened, 0);
	ck_assert_int_eq(pwrite(opened, bytes, size, at), (ssize_t)size);
	close(opened);
}

void file_flip(const char *file, off_t at)
{
	int opened = open(file, O_RDWR);
	char byte;

	ck_assert_int_eq(pread(opened, &byte, 1, at), 1);
	byte = (char)(byte ^ 0x10);
	ck_assert_int_eq(pwrite(opened, &byte, 1, at), 1);
	close(opened);
}

void scratch_kill(struct store *store)
{
	const char *path = arena_text(scratch.arena, "%s/" MARK_NAME, scratch.path);
	char *bytes;
	size_t size;

	ck_assert(file_read_whole(&file_system_posix, path, 4096, &bytes, &size));
	store_close(store);
	file_overwrite(path, 0, bytes, size);
	free(bytes);
}

void scratch_close_and_find(struct store *store, unsigned n)
{
	store_close(store);
	store = scratch_store();
	while (n-- > 0)
		ck_assert(scratch_has(store, n));
	store_close(store);
}

off_t scratch_place(const char *file, const char *text)
{
	size_t size = (size_t)file_size(file), wanted = strlen(text) + 1, i;
	char *bytes = malloc(size);
	int opened = open(file, O_RDONLY);
	off_t found = -1;

	ck_assert_int_eq(read(opened, bytes, size), (ssize_t)size);
	close(opened);
	for (i = 0; i + wanted <= size && found < 0; i++)
		if (memcmp(bytes + i, text, wanted) == 0)
			found = (off_t)i;
	free(bytes);
	ck_assert_int_ge(found, 0);
	return found;
}

void scratch_make_stack(unsigned n)
{
	struct store *store = scratch_store();

	for (unsigned i = 0; i < n; i++)
		scratch_put(store, i, 200);
	ck_assert(store_gdbm_settle(store, true));
	store_close(store);
}

static unsigned damages;

static void count_damage(void *context, const char *file, const char *what)
{
	ck_assert_ptr_eq(context, &damages);
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_gt(strlen(what), 0);
	damages++;
}

struct store_check scratch_check(const struct file_system *files)
{
	const struct store_watch watch = { .context = &damages, .damage = count_damage };
	struct fault fault = FAULT_INITIAL;
	struct store_check check;

	damages = 0;
	if (!store_gdbm_check(scratch.path, files, &watch, &check, &fault))
		ck_abort_msg("%s", fault.cause);
	ck_assert_uint_eq(check.damages, damages);
	return check;
}
