/* See resources/recordings/recording_folder.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recording_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

/* The file with the id of a folder. */
#define MARKER ".anteroom"
/* Bytes of a path, and folders above a file. */
#define PATH_MOST 1024
#define STEPS_MOST 8

static bool is_name_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

bool folder_path_is_right(struct slice path)
{
	char before = '/';

	if (path.size == 0 || path.size > PATH_MOST)
		return false;
	for (size_t i = 0; i < path.size; i++) {
		const char byte = path.data[i];

		if (byte == '/' ? before == '/' : !is_name_byte(byte))
			return false;
		if (byte == '.' && before == '/')
			return false;
		before = byte;
	}
	return before != '/';
}

/* ---- steps ---- */

static int open_again(int folder, const char *name, int flags)
{
	int file;

	do
		file = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
	while (file < 0 && errno == EINTR);
	return file;
}

/* The folder itself may be reached by a link. */
static int open_top(const char *folder)
{
	int top;

	do
		top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (top < 0 && errno == EINTR);
	return top;
}

/* The folders from the top to the one that a path ends in, opened one after the other. */
struct steps {
	int folders[STEPS_MOST + 1]; /* the top first */
	size_t count;
	char names[STEPS_MOST + 1]
		  [PATH_MOST + 1]; /* of each in the one before; of the top, empty */
	char last[PATH_MOST + 1]; /* what remains of the path */
};

static void steps_close(struct steps *steps)
{
	while (steps->count > 0)
		close(steps->folders[--steps->count]);
	free(steps);
}

static void copy_name(char to[PATH_MOST + 1], struct slice name)
{
	memcpy(to, name.data, name.size);
	to[name.size] = '\0';
}

/* Opens the folders above the last name of the path. Returns NULL and sets errno on failure. */
static struct steps *steps_open(const char *folder, struct slice path)
{
	struct steps *steps;
	int top;

	if (folder == NULL || !folder_path_is_right(path)) {
		errno = ENOENT;
		return NULL;
	}
	top = open_top(folder);
	if (top < 0)
		return NULL;
	steps = memory_check(malloc(sizeof *steps));
	steps->folders[0] = top;
	steps->count = 1;
	for (;;) {
		struct slice rest;
		const struct slice name = text_split(path, '/', &rest);
		int next;

		if (rest.data == NULL) {
			copy_name(steps->last, name);
			return steps;
		}
		copy_name(steps->names[steps->count], name);
		next = steps->count > STEPS_MOST
			       ? -1
			       : open_again(steps->folders[steps->count - 1],
					    steps->names[steps->count], O_RDONLY | O_DIRECTORY);
		if (next < 0) {
			const int error = steps->count > STEPS_MOST ? ENOENT : errno;

			steps_close(steps);
			errno = error;
			return NULL;
		}
		steps->folders[steps->count++] = next;
		path = rest;
	}
}

static int steps_end(const struct steps *steps)
{
	return steps->folders[steps->count - 1];
}

/* Returns true if this errno means that there is no such file: also a link, or a file in the place
 * of a folder. */
static bool is_missing(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

/* ---- the id ---- */

static bool read_id(int top, char id[FOLDER_ID_MOST + 1])
{
	const int file = open_again(top, MARKER, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	char text[FOLDER_ID_MOST + 2];
	struct stat status;
	ssize_t n = -1;

	if (file < 0)
		return false;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
		do
			n = read(file, text, sizeof text);
		while (n < 0 && errno == EINTR);
	close(file);
	if (n > 0 && text[n - 1] == '\n')
		n--;
	if (n <= 0 || n > FOLDER_ID_MOST)
		return false;
	for (ssize_t i = 0; i < n; i++) {
		if (!is_name_byte(text[i]) || text[i] == '.')
			return false;
	}
	memcpy(id, text, (size_t)n);
	id[n] = '\0';
	return true;
}

bool folder_read_id(const char *folder, char id[FOLDER_ID_MOST + 1])
{
	const int top = folder == NULL ? -1 : open_top(folder);
	const bool is_read = top >= 0 && read_id(top, id);

	if (top >= 0)
		close(top);
	return is_read;
}

/* ---- finding ---- */

static bool stat_regular(int folder, const char *name, struct stat *status)
{
	if (fstatat(folder, name, status, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if (S_ISREG(status->st_mode))
		return true;
	errno = ENOENT;
	return false;
}

enum folder_result folder_find(const char *folder, struct slice path, struct folder_file *file)
{
	struct steps *steps = steps_open(folder, path);
	struct stat status;
	bool is_there;
	int error;

	if (steps == NULL)
		return is_missing(errno) ? FOLDER_NOT_THERE : FOLDER_FAILED;
	is_there = stat_regular(steps_end(steps), steps->last, &status);
	error = errno;
	steps_close(steps);
	if (!is_there)
		return is_missing(error) ? FOLDER_NOT_THERE : FOLDER_FAILED;
	file->size = (uint64_t)status.st_size;
	file->changed = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
	return FOLDER_DONE;
}

/* ---- removing ---- */

/* Opens the folders of a path in a folder that has this id. */
static enum folder_result open_to_remove(const char *folder, struct slice id, struct slice path,
					 struct steps **steps, const char **why)
{
	char own[FOLDER_ID_MOST + 1];

	*steps = steps_open(folder, path);
	if (*steps == NULL && is_missing(errno)) {
		/* If the folder itself is missing, it may only be unmounted. */
		const bool has_id = folder_read_id(folder, own);

		*why = "the folder has no id";
		return has_id && slice_is(id, own) ? FOLDER_NOT_THERE : FOLDER_FAILED;
	}
	if (*steps == NULL) {
		*why = strerror(errno);
		return FOLDER_FAILED;
	}
	if (!read_id((*steps)->folders[0], own))
		*why = "the folder has no id";
	else if (!slice_is(id, own))
		*why = "the folder has another id";
	else
		return FOLDER_DONE;
	steps_close(*steps);
	return FOLDER_FAILED;
}

/* Removes the folders of the path that are empty, the deepest first, but not the top. */
static void remove_empty_steps(const struct steps *steps)
{
	for (size_t i = steps->count; i-- > 1;) {
		if (unlinkat(steps->folders[i - 1], steps->names[i], AT_REMOVEDIR) != 0)
			return;
	}
}

enum folder_result folder_remove_file(const char *folder, struct slice id, struct slice path,
				      const char **why)
{
	struct steps *steps;
	struct stat status;
	enum folder_result result = open_to_remove(folder, id, path, &steps, why);

	if (result != FOLDER_DONE)
		return result;
	if (!stat_regular(steps_end(steps), steps->last, &status) ||
	    unlinkat(steps_end(steps), steps->last, 0) != 0) {
		*why = strerror(errno);
		result = is_missing(errno) ? FOLDER_NOT_THERE : FOLDER_FAILED;
	}
	if (result != FOLDER_FAILED)
		remove_empty_steps(steps);
	steps_close(steps);
	return result;
}

enum folder_result folder_empty(const char *folder, struct slice id, struct slice path,
				bool *is_left, const char **why)
{
	struct steps *steps;
	enum folder_result result = open_to_remove(folder, id, path, &steps, why);
	unsigned count = 0;
	struct dirent *entry;
	DIR *entries;
	int file;

	*is_left = false;
	if (result != FOLDER_DONE)
		return result;
	file = open_again(steps_end(steps), steps->last, O_RDONLY | O_DIRECTORY);
	entries = file < 0 ? NULL : fdopendir(file);
	if (entries == NULL) {
		*why = strerror(errno);
		result = is_missing(errno) ? FOLDER_NOT_THERE : FOLDER_FAILED;
		if (file >= 0)
			close(file);
		steps_close(steps);
		return result;
	}
	while (!*is_left && (entry = readdir(entries)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		*is_left = count++ == FOLDER_AT_ONCE;
		if (!*is_left && unlinkat(file, entry->d_name, 0) != 0 && errno != ENOENT) {
			*why = strerror(errno);
			result = FOLDER_FAILED;
			break;
		}
	}
	closedir(entries);
	if (!*is_left && result == FOLDER_DONE &&
	    unlinkat(steps_end(steps), steps->last, AT_REMOVEDIR) != 0 && !is_missing(errno)) {
		*why = strerror(errno);
		result = FOLDER_FAILED;
	}
	steps_close(steps);
	return result;
}

/* ---- lists ---- */

static int compare_names(const void *first, const void *second)
{
	return slice_compare(*(const struct slice *)first, *(const struct slice *)second);
}

/* Returns true for a folder, or else for a regular file. */
static bool is_of_type(int folder, const char *name, bool is_folder)
{
	struct stat status;

	return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (is_folder ? S_ISDIR(status.st_mode) : S_ISREG(status.st_mode));
}

/* Opens the folder of this path, or returns -1. */
static int open_folder(const char *folder, struct slice path)
{
	struct steps *steps;
	int file;

	if (path.size == 0)
		return folder == NULL ? -1 : open_top(folder);
	steps = steps_open(folder, path);
	if (steps == NULL)
		return -1;
	file = open_again(steps_end(steps), steps->last, O_RDONLY | O_DIRECTORY);
	steps_close(steps);
	return file;
}

void folder_list(struct arena *arena, const char *folder, struct slice path, bool are_folders,
		 struct slice **names, size_t *n)
{
	const int file = open_folder(folder, path);
	DIR *entries = file < 0 ? NULL : fdopendir(file);
	size_t capacity = 0;
	struct dirent *entry;

	*names = NULL;
	*n = 0;
	if (entries == NULL) {
		if (file >= 0)
			close(file);
		return;
	}
	while ((entry = readdir(entries)) != NULL) {
		const struct slice name = slice_of(entry->d_name);

		if (!folder_path_is_right(name) || !is_of_type(file, entry->d_name, are_folders))
			continue;
		if (*n == capacity) {
			struct slice *larger;

			capacity = capacity == 0 ? 64 : 2 * capacity;
			larger = arena_alloc(arena, capacity * sizeof *larger);
			if (*n > 0)
				memcpy(larger, *names, *n * sizeof *larger);
			*names = larger;
		}
		(*names)[(*n)++] = arena_copy(arena, name);
	}
	closedir(entries);
	if (*n > 0)
		qsort(*names, *n, sizeof **names, compare_names);
}
