/* The durable driver: a write-ahead journal, overlays in memory, and a stack of immutable GDBM
 * files.
 *
 * A commit puts its changes into the current overlay and its record into the journal's buffer. A
 * flush writes all buffered records as one group with one fdatasync; then they are durable, and
 * visible to readers. A full overlay is frozen, and a background thread writes it to a new GDBM
 * file; another thread merges such files. The manifest has the list of files and the number up to
 * which they hold everything; the journal is needed from the next number on. A read looks into the
 * overlays and then into the files, newest first.
 *
 * Guarantees:
 *
 *  - Nothing acknowledged is lost. A change stays in the journal until a synced file has it and a
 *    synced manifest names that file. A kill or a power failure loses pending transactions only,
 *    each as a whole.
 *  - Pending changes are visible to WRITE transactions only.
 *  - When the disk is full, WRITE transactions are refused before they begin (FAULT_UNAVAILABLE),
 *    reads go on, and writes resume when there is room. One that was admitted and finds none at its
 *    commit, because others came first, is refused then, whole.
 *  - A failed sync is never repeated, since the kernel may have dropped the pages: writing stops
 *    until the next start, and pending transactions are STORE_FAILED.
 *  - Damaged data is not returned. Values have checksums, which each read verifies; 64 KB blocks of
 *    the files have checksums, which a background thread and store_gdbm_check verify. A file's
 *    answer that it lacks a key is believed only if the blocks on which it is based have been
 *    verified since the file was opened.
 *  - A torn tail of the journal, which a power failure leaves, is truncated; other damage is
 *    refused at start with segment and offset. journal.mark (store/gdbm/journal_mark.h) tells them
 *    apart.
 *  - A read error in a mapped file raises SIGBUS, which store_gdbm_watch_medium turns into a line
 *    in the log and exit. Opening after a crash and after a clean stop is the same: the journal is
 *    replayed.
 *  - One process owns a directory: it locks the file `lock`, which has its pid.
 *
 * Files in the directory: lock, manifest, journal.mark, journal-N, stack-N.gdbm, stack-N.index, and
 * unfinished files, whose names end in .new and which are removed at start. Other names are
 * ignored.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STORE_GDBM_H
#define STORE_GDBM_STORE_GDBM_H

#include "store/store.h"

struct file_system; /* store/gdbm/file.h */

struct store_options {
	const char *directory; /* DIR/store */
	const struct file_system *files; /* NULL: file_system_posix */
	unsigned readers; /* the most threads that read at the same time */
	/* Milliseconds to wait for the process that owns the directory. */
	unsigned wait;
	/* Called while waiting; true ends it. NULL: never. */
	bool (*gives_up)(void);
	/* Limits, for tests; 0: the default. */
	size_t overlay_bytes; /* size at which an overlay is frozen; 12 MB */
	size_t segment_bytes; /* the largest journal segment; 32 MB */
	bool is_read_only; /* check, stat, dump: takes no lock and changes nothing */
	/* Makes an empty store, and its directory (0700), if there is none. */
	bool creates;
	/* Read-only, for `dump --salvage`: gets a damaged journal's file and a sentence, and the
	 * journal is read up to the damage. NULL: a damaged journal is refused. */
	void (*salvage)(void *context, const char *file, const char *what);
	void *salvage_context;
};

/* Whether the directory holds a store or parts of one: not if it is missing or empty, or if a
 * creation was interrupted. FAULT_UNAVAILABLE: it cannot be read. */
bool store_gdbm_find(const char *directory, bool *is_there, struct fault *fault);

/* Takes the lock that a process holds which has the store open, without opening it.
 * FAULT_UNAVAILABLE with the pid of that process. Closing *lock releases it. */
bool store_gdbm_lock(const char *directory, int *lock, struct fault *fault);

/* Opens a store and replays its journal. FAULT_UNAVAILABLE with a cause that names the file and the
 * remedy. A full disk is no fault: reading works. A directory can be opened read-only while another
 * process owns it: it shows its contents of that moment, to one thread. */
bool store_gdbm_open(const struct store_options *options, struct store **store,
		     struct fault *fault);

/* For tests and benchmarks: freezes the overlay and waits until everything is in files and no merge
 * is due; is_all_merged: until one file holds everything. False: the threads cannot continue. */
bool store_gdbm_settle(struct store *store, bool is_all_merged);

/* Makes SIGBUS write a line to stderr and exit with status 1. Called by main before the first
 * thread. */
void store_gdbm_watch_medium(void);

#endif
