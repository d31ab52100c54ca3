/* The folder of the recordings (anteroom-record(8), FILES): the mark that makes it one, the state
 * of this recorder, and the folders of the parts.
 *
 *     DIR/.anteroom                        the id of the folder
 *     DIR/incoming/.boot-NAME              boot and number of the last report, and a lock
 *     DIR/incoming/ACCOUNT-JOB/            the parts of a recording until it is joined
 *     DIR/ACCOUNT/ROOM/JOB/recording.mp4   the finished recording
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_FOLDER_H
#define RECORDER_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/id.h"
#include "recorder/contract.h"

#define FOLDER_ID_MOST 64

struct folder {
	const char *path;
	char id[FOLDER_ID_MOST + 1];
	int lock; /* the file .boot-NAME; -1 if it is not open */
	char boot[REPORT_BOOT_SIZE];
	int64_t n; /* of the last report */
};

/* Opens the folder: reads its mark, or makes it with a new id; makes incoming/. */
bool folder_open(struct folder *folder, const char *path, struct fault *fault);
/* Takes the lock of this name, and reads boot and n. Fails if another process has it. */
bool folder_lock(struct folder *folder, const char *name, struct fault *fault);
/* Begins a new boot. */
void folder_new_boot(struct folder *folder);
/* Writes boot and n, without waiting for the disk: a number that is lost is found again by the next
 * response. */
void folder_note(const struct folder *folder);
void folder_close(struct folder *folder);

bool folder_space(const struct folder *folder, int64_t *free_bytes, int64_t *total_bytes);

/* Writes the path of the folder of a job's parts. */
#define FOLDER_PATH_SIZE 4096
void folder_of_job(const struct folder *folder, const char *account, const char *job,
		   char path[FOLDER_PATH_SIZE]);
/* Makes a folder and those above it, below the folder of the recordings. relative: as in an order.
 */
bool folder_make(const struct folder *folder, const char *relative, struct fault *fault);

/* A job that has a folder of parts, which this recorder has written last. */
struct leftover {
	char account[ID_TEXT_SIZE + 1], job[ID_TEXT_SIZE + 1];
	int64_t epoch;
};

/* Returns the jobs whose parts were written by the recorder of this name, in the arena. */
size_t folder_leftovers(const struct folder *folder, struct arena *arena, const char *name,
			struct leftover **leftovers);

/* Removes a folder with all that is in it, without following links. */
void folder_remove(const char *path);

/* Writes a small file at once: under another name, synced, then renamed. */
bool small_file_write(const char *path, struct slice text, struct fault *fault);
/* Returns what a file has, in the arena; data is NULL if there is none or it is over a megabyte. */
struct slice small_file_read(struct arena *arena, const char *path);
/* Waits until a file is on the disk, gives it the mode of a finished recording, and renames it. */
bool file_publish(const char *from, const char *to, struct fault *fault);

#endif
