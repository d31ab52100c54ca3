/* Syncs that return at once, for suites in which no machine stops: a sync changes nothing that a
 * process can see, and some disks take 10 ms for it. The files of the accounts are synced without
 * the layer of file_hooks.h, which does the same for a store alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FAST_DISK_H
#define TESTS_FAST_DISK_H

#include <stdbool.h>

/* From now on, syncs of this process and of its forks wait for no disk. They still fail if the file
 * is not open. Called before the first thread. */
void fast_disk(void);

/* Notes from now on for which files fdatasync is called, the first four, and their sizes; for a
 * process of one thread. */
void fast_disk_note(void);
/* Returns whether a file was synced since then, with the size that it has now. */
bool fast_disk_has_synced(const char *path);

#endif
