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
 *  - When the disk is full, WRITE transactions are refused before they begin (FAULT_UNAVAILABLE,
 *    retry_after 5), reads go on, and writes resume when there is room. An admitted transaction has
 *    its journal space.
 *  - A failed sync is never repeated, since the kernel may have dropped the pages: writing stops
 *    until the next start, and pending transactions are STORE_FAILED.
 *  - Damaged data is not answered. Values have checksums, which each read verifies; 64 KB blocks of
 *    the files have checksums, which a background reader and store_gdbm_check verify. Before a
 *    file's answer that it lacks a key is believed, the blocks that it rests on have been verified
 *    since the file was opened.
 *  - A torn tail of the journal, which a power failure leaves, is truncated; other damage is
 *    refused at start with segment and offset. journal.mark (store/gdbm/journal_mark.h) tells them
 *    apart.
 *  - A medium that fails under a mapped file raises SIGBUS: store_gdbm_watch_medium turns it into
 *    one log line and exit. Opening after a crash and after a stop is the same: the journal is
 *    replayed.
 *  - One process owns a directory: it holds a lock on the file `lock`, which has its pid.
 *
 * Files in the directory: lock, manifest, journal.mark, journal-N, stack-N.gdbm, stack-N.index, and
 * unfinished ones, whose names end in .new and which are removed at start. Other names are ignored.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_STORE_GDBM_H
#define STORE_GDBM_STORE_GDBM_H

#include "store/store.h"

struct file_system; /* store/gdbm/file.h: the one thin layer over file operations that tests replace */

struct store_options {
	const char *directory; /* DIR/store */
	const struct file_system *files; /* NULL: the system's own */
	unsigned readers; /* threads that will read at the same time, at most */
	/* So long, in milliseconds, another process that owns the directory may take to end. */
	unsigned wait;
	/* Asked now and then while it is waited for: whether that is to end now. NULL: no. */
	bool (*gives_up)(void);
	/* Bounds, for tests; 0: the default. */
	size_t overlay_bytes; /* an overlay of this size is frozen; 12 MB */
	size_t segment_bytes; /* the largest journal segment; 32 MB */
	bool is_read_only; /* check, stat, dump: no lock is taken, nothing changed */
	/* Where there is no store, an empty one is made, and its directory (0700); else that is a
	 * fault. */
	bool creates;
	/* Read-only, for `dump --salvage`: told of a damaged journal (file, sentence), which is
	 * then read up to the damage instead of being refused. NULL: it is refused. */
	void (*salvage)(void *context, const char *file, const char *what);
	void *salvage_context;
};

/* Whether the directory holds a store, or parts of one. A directory that is missing or empty does
 * not, nor one with no more than a creation leaves that was cut off. FAULT_UNAVAILABLE: it cannot
 * be read. */
bool store_gdbm_find(const char *directory, bool *is_there, struct fault *fault);

/* Opens; replays the journal. Faults: FAULT_UNAVAILABLE with a cause that names the file
 * and says what to do. A full disk is no fault: reading works. A directory can be opened read-only
 * while another process owns it: it shows what was in it at that moment, and is for one thread. */
bool store_gdbm_open(const struct store_options *options, struct store **store,
		     struct fault *fault);

/* For tests and benchmarks: freezes the overlay, waits until everything durable is in files and no
 * merge is due, or, when asked to, until one file holds everything. False: it cannot get on. */
bool store_gdbm_settle(struct store *store, bool is_all_merged);

/* Makes SIGBUS a fail stop: one line to stderr, exit status 1. For main, before the first thread. */
void store_gdbm_watch_medium(void);

#endif
