/* The write-ahead journal. It has the only copy of acknowledged changes until a stack file contains
 * them.
 *
 * The journal is a sequence of segments: files named `journal-` and the number of their first
 * transaction in sixteen hex digits. A segment consists of a head, groups, and unused space, which
 * contains zeros or old groups with smaller numbers. A group is what one fdatasync made durable: a
 * head (size, first number, the number that was durable when it was written) and complete records.
 * A record is one transaction: size, CRC32C, number, changes. journal_format.h has the offsets.
 * journal_mark.h records the end of the journal at the beginning of a segment, at a clean stop, and
 * when the journal is opened.
 *
 * A thread prepares the next segment with zeros, as `journal.new`: first 1 MB, then twice as much
 * each time, up to the largest size. A segment begins (head, fsync, rename, fsync of the directory)
 * when the previous one is full and durable. A full disk is therefore noticed by journal_admit and
 * journal_reserve, before anything is acknowledged, and a commit is one write into allocated space
 * and one fdatasync. Writes are whole blocks, because otherwise the kernel would have to read the
 * block first.
 *
 * When a segment of the largest size is no longer needed, it is reused as `journal.new`, so that
 * its blocks need not be written with zeros again. Numbers rise, so its old groups are recognised.
 * Two such spares are kept until the journal is closed or the disk is full. A reader of a live
 * directory prevents the reuse by a lock (journal_hold).
 *
 * A failed fdatasync is never repeated: nothing is written until the next start, and pending
 * numbers become STORE_FAILED. A write that fails for lack of space is retried; its numbers stay
 * pending.
 *
 * Threads: any, except journal_reserve and journal_append, which are called by the one writer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_H
#define STORE_GDBM_JOURNAL_H

#include "store/figures.h"
#include "store/gdbm/entry_key.h"
#include "store/gdbm/file.h"
#include "store/gdbm/journal_mark.h"

struct journal;

struct journal_options {
	const struct file_system *files;
	const char *directory;
	struct installation installation;
	size_t segment_bytes; /* size of the largest segment; 0 for 32 MB */
	bool is_live; /* another process may be writing: journal_replay locks the directory */
	bool has_mark; /* the mark of its end must exist (store/gdbm/journal_mark.h) */
};

/* The end of a journal, found by journal_replay; journal_open continues there. */
struct journal_end {
	uint64_t last; /* number of the last complete transaction */
	uint64_t *segments; /* first numbers, oldest first */
	size_t n, capacity;
	/* number of the oldest of these that are not needed and were not read */
	size_t superfluous;
	/* The offset at which the last segment ends, and whether an incomplete group, a torn tail,
	 * follows. journal_open truncates it. */
	uint64_t offset;
	bool is_torn;
	struct journal_mark mark; /* as read; zeros if there is none */
	/* is_damaged: transaction `damaged_number` cannot be read although `durable` was durable.
	 * is_missing: the newest segment, which the mark names, does not exist. */
	bool is_damaged;
	bool is_missing;
	uint64_t damaged_number;
	uint64_t damaged_segment;
	uint64_t damaged_offset;
	uint64_t durable;
	/* While a change is visited: the segment of its record, by its first number, and where the
	 * record is in it. */
	uint64_t visited_segment;
	uint64_t visited_offset;
};

#define JOURNAL_TEXT_SIZE 200

/* Called for each change of each complete transaction above `base`, in order. May be NULL. */
typedef void journal_visit(void *context, uint64_t number, const struct change *change);

/* Locks a directory by flock(2). A reader of a live directory holds LOCK_SH, so that no segment is
 * reused while it reads. Blocks for a moment at most. Returns a descriptor, whose closing releases
 * the lock, or -1 and errno. */
int journal_hold(const struct file_system *files, const char *directory, int operation);

/* Reads the journal above the number `base`, without changing it. Segments whose successor starts
 * at or below base + 1 are not read. False if a segment cannot be read or has an unknown format.
 * Damage is not a fault: *end describes it, and the changes before it have been visited. */
bool journal_replay(const struct journal_options *options, uint64_t base, journal_visit *visit,
		    void *context, struct journal_end *end, struct fault *fault);

/* Frees what *end holds. */
void journal_end_free(struct journal_end *end);

/* Returns whether a name is that of a segment; *first is its first number. */
bool journal_segment_name(const char *name, uint64_t *first);

/* Describes the damage in one sentence, without a full stop. */
void journal_end_describe(const struct journal_end *end, char text[static JOURNAL_TEXT_SIZE]);

/* Continues an undamaged journal: writes the mark, truncates the torn tail, removes an empty last
 * segment, and starts the thread. The mark file must exist. A full disk is not a fault. */
bool journal_open(const struct journal_options *options, const struct journal_end *end,
		  struct journal **journal, struct fault *fault);
/* Flushes once, ends the thread, and marks a clean end if everything is durable. NULL is
 * allowed. */
void journal_close(struct journal *journal);

/* Waits until there is space for a transaction of ordinary size (half a segment, at most 512 KB):
 * waits for the next segment, or flushes when too much is pending. Does not reserve the space: if
 * several transactions are admitted at the same time, the later ones may have to wait in
 * journal_reserve. The caller must not hold the turn to write. FAULT_UNAVAILABLE if the disk is
 * full, or if a write has failed and must not be repeated. */
bool journal_admit(struct journal *journal, struct fault *fault);

/* Returns whether a record of these changes would fit now. */
bool journal_fits(struct journal *journal, const struct change *changes, size_t n);
/* Waits until the record would fit, for example while a larger segment is created; others may
 * append in the meantime. Does not reserve the space. Faults as in journal_admit. The caller must
 * not hold the turn to write. */
bool journal_prepare(struct journal *journal, const struct change *changes, size_t n,
		     struct fault *fault);
/* Reserves space for a record of these changes, so that journal_append cannot fail. Waits and
 * flushes if there is no space, because the record exceeds the ordinary size or others came first.
 * Faults as in journal_admit. */
bool journal_reserve(struct journal *journal, const struct change *changes, size_t n,
		     struct fault *fault);
/* Appends the record, which is then pending. number: the previous one + 1. */
void journal_append(struct journal *journal, uint64_t number, const struct change *changes,
		    size_t n);

/* See store_flush. */
void journal_flush(struct journal *journal);
/* See store_stop_retrying. */
void journal_stop_retrying(struct journal *journal);
/* Flushes until the number is durable. False if it has failed. */
bool journal_flush_to(struct journal *journal, uint64_t number);

/* The first two take no lock. */
enum store_state journal_state(const struct journal *journal, uint64_t number);
uint64_t journal_durable(const struct journal *journal);
bool journal_can_write(struct journal *journal);

/* Sets the figures of the journal. */
void journal_figures(struct journal *journal, struct store_figures *figures);

/* Permanently stops writing, after a write or sync that must not be repeated, and logs this. `what`
 * is the file or directory. */
void journal_fail(struct journal *journal, const char *what, int error);
bool journal_has_failed(const struct journal *journal);

/* Removes all but two of the segments whose successor starts at or below base + 1. Called when a
 * synced manifest says that files contain everything up to base. */
void journal_drop(struct journal *journal, uint64_t base);
/* Removes the two spares, when the disk is full. */
void journal_remove_spares(struct journal *journal);

#endif
