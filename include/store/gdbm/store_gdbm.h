/* The durable driver: journal, overlays in memory, a stack of immutable GDBM files.
 *
 * The way of the data. A commit puts its changes into the overlay, in memory, and its record among
 * the pending ones of the journal. A flush writes all pending records as one group and waits for the
 * disk once (fdatasync); then they are durable, visible to readers, and may be answered. When the
 * overlay is full it is frozen, another takes its place, and a thread turns it into a GDBM file that
 * is written once and only read from then on; another thread merges such files. The manifest says
 * which files there are and up to which number they hold everything; the journal is needed from the
 * next number on, and is removed below. A read looks into the overlays, newest first, then into the
 * files, newest first.
 *
 * The promises.
 *
 *  - Nothing acknowledged is lost. Until a file that holds it and the manifest that names that file
 *    are on disk, the journal has it; a GDBM file that is being written is never the only copy of
 *    anything. Killing the process at any moment, or cutting the power, loses what was pending, as
 *    whole transactions, and nothing else.
 *  - Nobody reads what is not durable, but the next WRITE transaction, whose own number is higher.
 *  - The disk may become full at any moment: then WRITE transactions are refused before they begin
 *    (FAULT_UNAVAILABLE, retry_after 5), reads go on, and writing goes on by itself when there is
 *    room. Journal space is written ahead, so that what was let in has its room.
 *  - A sync that failed is never tried again (the kernel may have dropped what it could not write):
 *    nothing is written until restart, what was pending is STORE_FAILED, one line is in the log.
 *  - What is damaged is not answered. Values carry a checksum that every read verifies; the 64 KB
 *    blocks of each file have checksums that a slow reader behind and store_gdbm_check verify. That a
 *    file does not have a key is believed, and an older file asked, only when the blocks that say so
 *    have been verified since the file was opened; a request verifies those that are not yet. The
 *    journal tells a torn tail (cut off) from damage to what was acknowledged (refused at start,
 *    with segment and offset) by what comes behind it. Damage to the very last group that was
 *    written cannot be told from a tail torn by a power cut: nothing comes behind it.
 *  - A medium that fails under a mapped file kills the process (SIGBUS); store_gdbm_watch_medium
 *    makes one line of it. Crash and stop use the same path: opening replays the journal.
 *  - One process owns a directory: a lock on the file `lock`, which holds its pid.
 *
 * In the directory: lock, manifest, journal-N, stack-N.gdbm, stack-N.index, and what is being made,
 * whose names end in .new and which is removed at start. Other names are left alone.
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
	/* Where there is no store, an empty one is made, and its directory (0700); else that is a fault. */
	bool creates;
	/* Read-only, for `dump --salvage`: told of a damaged journal (file, sentence), which is then
	 * read up to the damage instead of being refused. NULL: it is refused. */
	void (*salvage)(void *context, const char *file, const char *what);
	void *salvage_context;
};

/* Whether the directory holds a store, or parts of one. A directory that is missing or empty does not,
 * nor one with no more than a creation leaves that was cut off. FAULT_UNAVAILABLE: it cannot be read. */
bool store_gdbm_find(const char *directory, bool *is_there, struct fault *fault);

/* Opens; replays the journal. Faults: FAULT_UNAVAILABLE with a cause that names the file
 * and says what to do. A full disk is no fault: reading works. A directory can be opened read-only
 * while another process owns it: it shows what was in it at that moment, and is for one thread. */
bool store_gdbm_open(const struct store_options *options, struct store **store,
		     struct fault *fault);

/* For tests and benchmarks: freezes the overlay, waits until everything durable is in files and no
 * merge is due, or, when asked to, until one file holds everything. False: it cannot get on. */
bool store_gdbm_settle(struct store *store, bool is_all_merged);

/* Reads all files against their checksums now, as the slow reader does; false when one is damaged. */
bool store_gdbm_verify(struct store *store);

/* Makes SIGBUS a fail stop: one line to stderr, exit status 1. For main, before the first thread. */
void store_gdbm_watch_medium(void);

#endif
