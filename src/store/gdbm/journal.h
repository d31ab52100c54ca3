/* The write-ahead journal. It has the only copy of acknowledged changes until a file of the stack
 * has them.
 *
 * The journal is a sequence of segments, files named `journal-` and the number of their first
 * transaction in sixteen hex digits. A segment has a head, then groups, then unused space: zeros,
 * or groups with smaller numbers. A group is what one fdatasync made durable: a head (size, first
 * number, the number that was durable when it was written) and whole records. A record is one
 * transaction: size, CRC32C, number, changes. journal_format.h has the offsets. journal_mark.h
 * keeps the end of the journal on record: at the beginning of a segment, at a clean stop, and when
 * the journal is opened.
 *
 * A thread writes the next segment ahead with zeros, as `journal.new`: 1 MB, then twice as much
 * each time, up to the largest size. A segment begins (head, fsync, rename, fsync of the directory)
 * when the one before is full and durable. So a full disk is noticed by journal_admit and
 * journal_reserve, before anything is acknowledged, and a commit is one write into allocated space
 * and one fdatasync. Whole blocks are written, because otherwise the kernel has to read the block
 * first.
 *
 * A segment of the largest size that is no longer needed is used again as `journal.new`, so that
 * each byte is written once. Numbers rise, so its old groups are recognized. Two such spares are
 * kept until the journal is closed or the disk is full. A reader of a live directory prevents the
 * reuse by a lock (journal_hold).
 *
 * A failed fdatasync is never repeated: nothing is written until the next start, and pending
 * numbers are STORE_FAILED. A write that fails for lack of space is repeated; its numbers stay
 * pending.
 *
 * Threads: any, except journal_reserve and journal_append, which are called by the one writer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_H
#define STORE_GDBM_JOURNAL_H

#include "store/figures.h"
#include "store/gdbm/file.h"
#include "store/gdbm/journal_mark.h"
#include "store/gdbm/entry_key.h"

struct journal;

struct journal_options {
	const struct file_system *files;
	const char *directory;
	struct installation installation;
	size_t segment_bytes; /* the largest segment; 0: 32 MB */
	bool is_anothers; /* another process may have it open: journal_replay locks the directory */
	bool has_mark; /* there has to be a mark of its end (store/gdbm/journal_mark.h) */
};

/* The end of a journal, found by journal_replay; journal_open continues there. */
struct journal_end {
	uint64_t last; /* the last whole transaction */
	uint64_t *segments; /* first numbers of the segments there are, oldest first */
	size_t n;
	size_t superfluous; /* how many of the first ones are not needed, and were not read */
	/* Where the last segment ends; journal_open truncates it there. Whether an incomplete group
	 * follows: a torn tail. */
	uint64_t offset;
	bool is_torn;
	struct journal_mark mark; /* as it was read; zeros where there is none */
	/* Damage: this number is not whole, though `durable` says that it was once; or the newest
	 * segment, which the mark names, is missing, or its file is shorter than it was. */
	bool is_damaged;
	bool is_missing;
	uint64_t damaged_number;
	uint64_t damaged_segment;
	uint64_t damaged_offset;
	uint64_t durable;
};

#define JOURNAL_TEXT_SIZE 200

/* Called for each change of each whole transaction above `base`, in order; may be NULL. */
typedef void journal_visit(void *context, uint64_t number, const struct change *change);

/* Locks a directory by flock(2). A reader of a live directory holds LOCK_SH, so that no segment is
 * used again while it reads. Waits for a moment at most. Returns a descriptor, whose closing
 * releases the lock, or -1 and errno. */
int journal_hold(const struct file_system *files, const char *directory, int operation);

/* Reads the journal of a directory above the number `base`, without changing it. False when it
 * cannot be read or a segment has a foreign format. Damage is not a fault: it is in *end, and the
 * changes before it have been visited. Segments whose successor starts at or below base + 1 are
 * not read. */
bool journal_replay(const struct journal_options *options, uint64_t base, journal_visit *visit,
		    void *context, struct journal_end *end, struct fault *fault);

/* Frees what *end holds. */
void journal_end_free(struct journal_end *end);

/* Whether a name in the directory is a segment's; gives its first number. */
bool journal_segment_name(const char *name, uint64_t *first);

/* Describes the damage in one sentence, without a full stop. */
void journal_end_describe(const struct journal_end *end, char text[static JOURNAL_TEXT_SIZE]);

/* Continues an undamaged journal: marks its end, truncates the torn tail and syncs, removes an
 * empty last segment, starts the thread. A full disk is a fault only where there is no mark yet. */
bool journal_open(const struct journal_options *options, const struct journal_end *end,
		  struct journal **journal, struct fault *fault);
/* Flushes once, ends the thread, marks a clean end if everything is durable, closes. NULL is fine. */
void journal_close(struct journal *journal);

/* Whether a transaction of ordinary size (half a segment, at most 1 MB) may begin. Waits for the
 * next segment, and flushes when too much is pending. Not to be called with the writer mutex held.
 * FAULT_UNAVAILABLE: the disk is full (retry_after 5), or writing has failed for good. */
bool journal_admit(struct journal *journal, struct fault *fault);

/* Reserves space for a record of these changes, so that journal_append cannot fail. Waits only for
 * a record above the ordinary size. */
bool journal_reserve(struct journal *journal, const struct change *changes, size_t n,
		     struct fault *fault);
/* Appends the record: the transaction is pending. number: one more than the last. */
void journal_append(struct journal *journal, uint64_t number, const struct change *changes,
		    size_t n);

/* As store_flush. */
void journal_flush(struct journal *journal);
/* Waits until the number is durable. False: it never will be. */
bool journal_flush_to(struct journal *journal, uint64_t number);

/* Without a lock. */
enum store_state journal_state(const struct journal *journal, uint64_t number);
uint64_t journal_durable(const struct journal *journal);
bool journal_can_write(struct journal *journal);

/* Sets the figures of the journal. */
void journal_figures(struct journal *journal, struct store_figures *figures);

/* Stops writing for good after a failed sync, with one line in the log; `what` is the file or
 * directory. */
void journal_fail(struct journal *journal, const char *what, int error);
bool journal_has_failed(const struct journal *journal);

/* Removes the segments whose successor starts at or below base + 1, except the spares: a synced
 * manifest says that files have everything up to base. */
void journal_drop(struct journal *journal, uint64_t base);
/* Makes space on a full disk. */
void journal_remove_spares(struct journal *journal);

#endif
