/* The durable driver: a write-ahead journal, overlays in memory, and a stack of immutable GDBM
 * files.
 *
 * A commit puts its changes into the current overlay and its record into the journal's buffer. A
 * flush writes all buffered records as one group with one fdatasync; then they are durable, and
 * visible to readers. A full overlay is frozen, and a background thread writes it to a new GDBM
 * file; another thread merges such files. The manifest lists the files and has the number of the
 * last transaction that they contain completely; the journal is needed from the next number on. A
 * read looks into the overlays and then into the files, newest first.
 *
 * Guarantees:
 *
 *  - Nothing acknowledged is lost. A change stays in the journal until a synced file contains it
 *    and a synced manifest names that file. A kill or a power failure loses only pending
 *    transactions, each as a whole.
 *  - Pending changes are visible only to WRITE transactions.
 *  - When the disk is full, WRITE transactions are rejected before they begin (FAULT_UNAVAILABLE),
 *    reads continue, and writes resume when there is space. If a transaction was admitted but
 *    others have used up the space before it commits, the commit fails as a whole.
 *  - A failed sync is never repeated, because the kernel may have dropped the pages: writing stops
 *    until the next start, and pending transactions become STORE_FAILED.
 *  - Damaged data is not returned. Values have checksums, which each read verifies; 64 KB blocks of
 *    the files have checksums, which a background thread and store_gdbm_check verify. That a file
 *    does not have a key is believed only if the blocks from which this follows have been verified
 *    since the file was opened.
 *  - A torn tail of the journal, which a power failure leaves, is truncated. With any other damage
 *    the store does not open, and the fault names segment and offset. journal.mark
 *    (store/gdbm/journal_mark.h) tells the two apart.
 *  - A read error in a mapped file raises SIGBUS, for which store_gdbm_watch_medium writes a log
 *    line and exits. Opening the store is the same after a crash and after a clean stop: the
 *    journal is replayed.
 *  - One process owns a directory: it locks the file `lock`, which contains its pid.
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
	const struct file_system *files; /* NULL for file_system_posix */
	unsigned readers; /* maximum number of threads that read at the same time */
	/* Milliseconds to wait for the process that owns the directory. */
	unsigned wait;
	/* Called while waiting; returns true to stop waiting. NULL to wait for the whole time. */
	bool (*gives_up)(void);
	/* The form of the records; NULL for tests, which keep whatever form there is. */
	const struct store_form *form;
	/* Opens a store that is to be upgraded (store/gdbm/upgrade.h) and leaves its form as it
	 * is. */
	bool is_upgrade;
	/* Limits, for tests; 0 for the default. */
	size_t overlay_bytes; /* size at which an overlay is frozen; default 12 MB */
	size_t segment_bytes; /* size of the largest journal segment; default 32 MB */
	bool is_read_only; /* for check, stat and dump: takes no lock and changes nothing */
	/* Creates an empty store, and its directory (0700), if there is none. */
	bool creates;
	/* For `dump --salvage`, read-only: called with the file of a damaged journal and a sentence
	 * about the damage; the journal is then read up to the damage. If NULL, a store with a
	 * damaged journal does not open. */
	void (*salvage)(void *context, const char *file, const char *what);
	void *salvage_context;
};

/* Finds out whether the directory contains a store or parts of one: *is_there is false if it does
 * not exist or is empty, or if a creation was interrupted. FAULT_UNAVAILABLE if it cannot be
 * read. */
bool store_gdbm_find(const char *directory, bool *is_there, struct fault *fault);

/* Compares the form of a store with that of the program, for commands that do not open the store.
 * False only if the program cannot read the data, not even after an upgrade; a store that is
 * missing or damaged is for others to find. Sets the number of its form (that of the program if
 * there is no store), which is lower than that of the program if it must be upgraded. */
bool store_gdbm_check_form(const char *directory, const struct store_form *form, unsigned *number,
			   struct fault *fault);

/* Takes the lock of the process that has the store open, without opening the store.
 * FAULT_UNAVAILABLE, with the pid, if another process has the lock. Closing *lock releases it. */
bool store_gdbm_lock(const char *directory, int *lock, struct fault *fault);
/* Does the same with the directory, the files, and the time to wait of these options. */
bool store_gdbm_lock_for(const struct store_options *options, int *lock, struct fault *fault);

/* Opens a store and replays its journal. FAULT_UNAVAILABLE with a cause that names the file and the
 * remedy. A full disk is not a fault, because reading works. A directory that another process owns
 * can be opened read-only: the store then shows its contents of that moment, to one thread. */
bool store_gdbm_open(const struct store_options *options, struct store **store,
		     struct fault *fault);

/* For tests and benchmarks: freezes the overlay and waits until everything is in files and no merge
 * is due, or, with is_all_merged, until one file contains everything. Returns false if the threads
 * cannot continue. */
bool store_gdbm_settle(struct store *store, bool is_all_merged);

/* Makes SIGBUS write a line to stderr and exit with status 1. main calls it before it starts the
 * first thread. */
void store_gdbm_watch_medium(void);

#endif
