/* The journal: the only copy of what was acknowledged until a file of the stack holds it.
 *
 * The mark (store/gdbm/journal_mark.h) says where it ends. It is written when a segment is begun,
 * at a clean stop, and when the journal is opened.
 *
 * It is a row of segments, `journal-` and sixteen hex digits, the number of the first transaction
 * in it. A segment has a head, then groups one behind the other, then what was there before: zeros,
 * or groups with smaller numbers. A group is what one fdatasync made durable: a head (how many
 * bytes, the first number, up to which number everything was durable when it was written) and whole
 * records. A record is one transaction: size, CRC32C of everything behind it, number, the changes.
 * journal_format.h has the places of the bytes.
 *
 * Segments are written ahead with zeros and synced, as `journal.new`, by a thread of the journal,
 * the first 1 MB, each next twice as large up to the largest; a segment is only begun (head, fsync,
 * rename, fsync of the directory) when the one before is full, and everything before it is durable
 * then. So a full disk shows in journal_admit and journal_reserve, before anything is acknowledged,
 * and a commit is one write into space that is there and one fdatasync. What is written is whole
 * blocks: the first again, with what it has, and the last up to its end with zeros. Else the system
 * would have to read what was written ahead, once it no longer remembers that, before each write.
 *
 * A segment of the largest size that is not needed any more may become `journal.new` instead of
 * zeros: where much is written, each byte goes to the disk once here, not twice. Numbers only rise,
 * so nothing that was in it can be taken for what comes next. Two such spares are kept, until the
 * journal is closed or room is short, under the names they had; whoever reads a live directory sees
 * to it by a lock that none is taken (journal_hold).
 *
 * After a failed fdatasync nothing is tried again: nothing can be written until restart, and what
 * was pending is STORE_FAILED. A write that fails because there is no room after all (a filesystem
 * that does not overwrite in place) is repeated until there is; what waits for it stays pending.
 *
 * Threads: journal_admit, journal_flush, journal_flush_to, journal_state and the other questions
 * from any; journal_reserve, journal_append from the one writer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_JOURNAL_H
#define STORE_GDBM_JOURNAL_H

#include "store/figures.h"
#include "store/gdbm/file.h"
#include "store/gdbm/journal_mark.h"
#include "store/gdbm/record.h"

struct journal;

struct journal_options {
	const struct file_system *files;
	const char *directory;
	struct installation installation;
	size_t segment_bytes; /* the largest segment; 0: 32 MB */
	bool is_anothers; /* a process may have it open: journal_replay holds the directory */
	bool has_mark; /* there has to be a mark of its end (store/gdbm/journal_mark.h) */
};

/* What journal_replay found, and what journal_open goes on from. */
struct journal_end {
	uint64_t last; /* the last whole transaction */
	uint64_t *segments; /* first numbers of the segments there are, oldest first */
	size_t n;
	size_t superfluous; /* of them, so many first ones were not looked at */
	/* Where reading stopped in the last segment, from where on journal_open cuts it off, and
	 * whether a group was begun there: a torn tail. */
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

/* Gives every change of every whole transaction above `base`, in order. */
typedef void journal_visit(void *context, uint64_t number, const struct change *change);

/* Locks a directory as flock(2) does: whoever reads the journal of a live one locks it LOCK_SH, so
 * that no segment of it is reused meanwhile; what is open stays what it was. Waits for a moment
 * only. Gives a descriptor, whose closing ends it, or -1 and errno. */
int journal_hold(const struct file_system *files, const char *directory, int operation);

/* Reads the journal of a directory from the number `base` on; changes nothing. False only when it
 * cannot be read (a cause is set) or has a segment that is not ours to read; damage is no fault
 * here: it is in *end, and what comes before it has been visited. Segments whose successor starts
 * at or below base + 1 are not looked at. */
bool journal_replay(const struct journal_options *options, uint64_t base, journal_visit *visit,
		    void *context, struct journal_end *end, struct fault *fault);

/* Frees what *end holds. */
void journal_end_free(struct journal_end *end);

/* Whether a name in the directory is a segment's; gives its first number. */
bool journal_segment_name(const char *name, uint64_t *first);

/* Describes the damage in one sentence, without a full stop. */
void journal_end_describe(const struct journal_end *end, char text[static JOURNAL_TEXT_SIZE]);

/* Goes on after what journal_replay found undamaged: marks the end, cuts off the tail and syncs the
 * cut, removes a last segment with nothing in it, starts the thread. A full disk is no fault here,
 * but where there is no mark yet. */
bool journal_open(const struct journal_options *options, const struct journal_end *end,
		  struct journal **journal, struct fault *fault);
/* Flushes once, ends the thread, marks a clean end if everything is durable, closes. NULL is fine. */
void journal_close(struct journal *journal);

/* Whether a transaction of ordinary size (half a segment, at most 1 MB) may begin. Waits while room
 * is being made, flushes when too much is pending; never called with the writer mutex held.
 * FAULT_UNAVAILABLE: no room can be had (retry_after 5), or writing has failed for good. */
bool journal_admit(struct journal *journal, struct fault *fault);

/* Makes sure that there is room for a record of these changes; then journal_append cannot fail.
 * Only a record larger than the ordinary ever waits here. */
bool journal_reserve(struct journal *journal, const struct change *changes, size_t n,
		     struct fault *fault);
/* The transaction is pending from here on. number: one more than the last. */
void journal_append(struct journal *journal, uint64_t number, const struct change *changes,
		    size_t n);

/* As store_flush. */
void journal_flush(struct journal *journal);
/* Waits until the number is not pending any more. False: it will never be durable. */
bool journal_flush_to(struct journal *journal, uint64_t number);

/* Without a lock. */
enum store_state journal_state(const struct journal *journal, uint64_t number);
uint64_t journal_durable(const struct journal *journal);
bool journal_can_write(struct journal *journal);

/* Fills in what is the journal's. */
void journal_figures(struct journal *journal, struct store_figures *figures);

/* Fail stop for writes, with one line in the log. Whoever had a failed sync calls it; `what` is the
 * file or directory concerned. */
void journal_fail(struct journal *journal, const char *what, int error);
bool journal_has_failed(const struct journal *journal);

/* Nothing of the segments whose successor starts at or below base + 1 is needed: a manifest that is
 * on disk says that files hold everything up to base. They are removed, but for the spares. */
void journal_drop(struct journal *journal, uint64_t base);
/* Whoever has no room for a file has it from them. */
void journal_remove_spares(struct journal *journal);

#endif
