/* Looking at a durable store from outside, for the commands `check`, `stat`, `backup` and `dump`:
 * of a directory that no process has open, or of a live one, which changes meanwhile. Nothing in it
 * is ever changed, and nobody waits for them. `files` NULL: the system's own.
 *
 * The contents of a live directory are those of one moment near the start: all its files are opened
 * before anything else, so that it does not matter when their names go. A change between the steps
 * of opening is noticed, and opening begun again; when that fails again and again, the fault is the
 * last one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_INSPECT_H
#define STORE_GDBM_INSPECT_H

#include "store/store.h"

struct file_system;

/* Who is told. Either may be NULL. */
struct store_watch {
	void *context;
	/* Something is damaged: the file's name in the directory, and what about it (a sentence
	 * without its end, as in the log). */
	void (*damage)(void *context, const char *file, const char *what);
	/* Called from time to time with the bytes done, at the end with done == all. */
	void (*progress)(void *context, uint64_t done, uint64_t all);
};

struct store_check {
	uint64_t files; /* of the stack */
	uint64_t records; /* in them, removals too; each was read */
	uint64_t blocks; /* whose checksums were verified */
	uint64_t transactions; /* in the journal, and not yet in files */
	uint64_t last; /* the last whole transaction: up to it all can be read */
	uint64_t damages; /* how often `damage` was called */
};

/* Verifies every checksum and reads every record. False when it could not (no store, no
 * permission): then the fault says why. Damage is no fault: it is told, and counted. What the
 * records mean (sequences against what they list) is for whoever opens the store with is_read_only. */
bool store_gdbm_check(const char *directory, const struct file_system *files,
		      const struct store_watch *watch, struct store_check *check,
		      struct fault *fault);

/* A file of the stack. */
struct store_stat_file {
	uint64_t id;
	uint64_t entries; /* puts and removals */
	uint64_t removals;
	uint64_t bytes; /* on the disk, with the index */
};

struct store_stat {
	struct store_stat_file *files; /* newest first; from malloc */
	size_t n_files;
	uint64_t last; /* the last transaction */
	uint64_t journal_segments;
	uint64_t journal_bytes; /* on the disk, what is written ahead included */
	uint64_t stack_bytes; /* on the disk, indexes included */
	uint64_t superfluous_bytes; /* of them, a merge would free */
};

bool store_gdbm_stat(const char *directory, const struct file_system *files,
		     struct store_stat *stat, struct fault *fault);

/* Copies a store to `to`, which must not be there: whole files, the journal up to the last whole
 * transaction, everything synced, and the files read against their checksums. What was acknowledged
 * before the call is in the copy. A copy that fails is removed, but for the directory. */
bool store_gdbm_backup(const char *directory, const char *to, const struct file_system *files,
		       const struct store_watch *watch, struct fault *fault);

/* Calls `visit` for each record of a kind, of all accounts, in no particular order, until it
 * returns false and has set the fault. The record lives until visit returns; visit may use the
 * transaction. For READ transactions. An open transaction keeps the files and overlays that it
 * reads. */
typedef bool store_visit(void *context, const struct store_record *record, struct fault *fault);
bool store_gdbm_walk(struct transaction *transaction, const struct store_kind *kind,
		     store_visit *visit, void *context, struct fault *fault);

/* The same without reading values, also of records whose value is damaged. Set are account and id,
 * or the name for a kind with STORE_NAME_ANYWHERE. */
bool store_gdbm_walk_keys(struct transaction *transaction, const struct store_kind *kind,
			  store_visit *visit, void *context, struct fault *fault);

/* Counts the records of each kind, without reading values. */
bool store_gdbm_count(struct transaction *transaction, const struct store_kind *const *kinds,
		      size_t n, uint64_t *counts, struct fault *fault);

/* Verifies the indexes: that each node can be found from its root, that keys are in order, that
 * each leads to a record and each record is in the indexes of its kind. Calls `tell` for each
 * problem: a sentence without its end. False: not all could be read; then the fault says why. */
typedef void store_tell(void *context, const char *problem);
bool store_gdbm_check_indexes(struct transaction *transaction,
			      const struct store_kind *const *kinds, size_t n, store_tell *tell,
			      void *context, struct fault *fault);

#endif
