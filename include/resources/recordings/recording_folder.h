/* The folder in which finished recordings lie (`serve --recordings`), as the service uses it: it
 * opens files and removes them, and never writes one. Names are relative to the folder, and every
 * step to a file is taken without following a symbolic link, because recorders and administrators
 * may put anything there.
 *
 *     FOLDER/.anteroom              the id of the folder, made by `anteroom record`
 *     FOLDER/ACCOUNT/ROOM/JOB/...   finished files
 *     FOLDER/incoming/ACCOUNT-JOB/  parts of a job that are not joined yet
 *     FOLDER/live/KEY/              a live stream
 *
 * Nothing is ever removed in a folder without an id. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_FOLDER_H
#define RESOURCES_RECORDINGS_RECORDING_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

#define FOLDER_ID_MOST 64

/* Returns true for names of a-z A-Z 0-9 . _ - with single slashes between, of which none begins
 * with a dot. */
bool folder_path_is_right(struct slice path);

/* Reads the id of the folder at this path. Returns false if it has none, or none that is right. */
bool folder_read_id(const char *folder, char id[FOLDER_ID_MOST + 1]);

/* What became of a file. */
enum folder_result {
	FOLDER_DONE,
	FOLDER_NOT_THERE, /* there is no such file, or it is no regular file */
	FOLDER_FAILED /* the folder has no id, or another one; or the system refused: `why` */
};

/* Finds a regular file, and its size in bytes and its time of change in milliseconds since 1970. */
struct folder_file {
	uint64_t size;
	int64_t changed;
};
enum folder_result folder_find(const char *folder, struct slice path, struct folder_file *file);

/* Removes a file, and then the folders above it that are empty. id: the folder must have it. *why:
 * a constant, or a text of the system, if the result is FOLDER_FAILED. */
enum folder_result folder_remove_file(const char *folder, struct slice id, struct slice path,
				      const char **why);

/* Removes the files of a folder below, at most FOLDER_AT_ONCE, and the folder if it is empty then.
 * *is_left: it is not. */
#define FOLDER_AT_ONCE 100
enum folder_result folder_empty(const char *folder, struct slice id, struct slice path,
				bool *is_left, const char **why);

/* Lists what is in a folder below, in the order of names: folders if `are_folders`, else regular
 * files. path: empty for the folder itself. Names that are not right, as those that begin with a
 * dot, are left out. There is nothing in a folder that does not exist. The names live in the
 * arena. */
void folder_list(struct arena *arena, const char *folder, struct slice path, bool are_folders,
		 struct slice **names, size_t *n);

#endif
