/* Looks after the folder of recordings, in the thread of the keeper: deletes the files that are to
 * be deleted (resources/stored/gone_file.h) and logs each as `recording.deleted`; once in
 * `sweep` finds out which files of recordings are missing, and which parts of recordings that have
 * ended lie around. It deletes nothing that no record names. A round takes a bounded number of
 * steps.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_FILE_WATCH_H
#define BACKGROUND_FILE_WATCH_H

#include "resources/environment.h"

struct file_watch;

/* The environment is borrowed. */
struct file_watch *file_watch_open(const struct environment *environment);
/* NULL is allowed. */
void file_watch_close(struct file_watch *watch);

/* Returns true if more is to be done at once. Only the holder of the lease may call it. */
bool file_watch_round(struct file_watch *watch);

#endif
