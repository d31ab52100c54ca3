/* Inspects a durable store, for the commands `check`, `stat`, `backup` and `dump`. Another process
 * may be using the directory; it is not delayed, and nothing in the directory is changed, except by
 * store_gdbm_note_backup. If `files` is NULL, the system's own file operations are used.
 *
 * The contents of a live directory are read as of one moment near the start: all files are opened
 * first, and if the manifest has changed in the meantime, they are opened again. After twenty
 * attempts, the last fault is returned.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_INSPECT_H
#define STORE_GDBM_INSPECT_H

#include <jansson.h>

#include "store/store.h"

struct file_system;

/* Callbacks; each may be NULL. */
struct store_watch {
	void *context;
	/* Reports damage: the file's name in the directory, and a sentence without a full stop. */
	void (*damage)(void *context, const char *file, const char *what);
	/* Reports the bytes done from time to time, and at the end with done == all. */
	void (*progress)(void *context, uint64_t done, uint64_t all);
};

struct store_check {
	uint64_t files; /* files in the stack */
	uint64_t records; /* records in these files, including removals */
	uint64_t blocks; /* blocks whose checksum was verified */
	uint64_t transactions; /* transactions in the journal that are not in files yet */
	uint64_t last; /* number of the last complete transaction */
	uint64_t damages; /* calls of `damage` */
};

/* Verifies every checksum and reads every entry. Damage is not a fault: it is reported and counted.
 * Returns false if the check was not possible (no store, no permission). The indexes of records are
 * checked by store_gdbm_check_indexes. */
bool store_gdbm_check(const char *directory, const struct file_system *files,
		      const struct store_watch *watch, struct store_check *check,
		      struct fault *fault);

/* Gets a change of a transaction in the journal, in the order in which the changes were made:
 *
 *     {"segment":"journal-0000000000000001", "offset":96, "transaction":1, "in_files":false,
 *      "change":"put" or "remove", "table":"record", "counter" or "index", "kind":"room", ...}
 *
 * `in_files` tells whether the files contain the transaction already. `kind` is null if it is not
 * one of the given kinds. What follows is what the key says (account, ID, tree, node) and, of a
 * put, parent, switch, name, and the size of the value in bytes. Names that are unique in the store
 * are left out, because they may be secrets; so are all values. `damaged` is true if key or value
 * is malformed. The object is borrowed. */
typedef void store_journal_visit(void *context, const json_t *change);

/* What store_gdbm_journal has found. */
struct store_journal {
	uint64_t transactions; /* complete ones in the journal, with those that files have */
	uint64_t in_files;
	uint64_t segments; /* that contain them */
	bool is_damaged; /* the journal ends too early: see store_gdbm_check */
};

/* Visits each change in the journal. A damaged journal is visited up to the damage. */
bool store_gdbm_journal(const char *directory, const struct file_system *files,
			const struct store_kind *const *kinds, size_t n, store_journal_visit *visit,
			void *context, struct store_journal *journal, struct fault *fault);

/* A file in the stack. */
struct store_stat_file {
	uint64_t id;
	uint64_t entries; /* puts and removals */
	uint64_t removals;
	uint64_t bytes; /* bytes on the disk, including the index file */
};

struct store_stat {
	struct store_stat_file *files; /* newest first; from malloc */
	size_t n_files;
	uint64_t last; /* number of the last transaction */
	uint64_t journal_segments;
	uint64_t journal_bytes; /* on the disk, including unused space */
	uint64_t stack_bytes; /* on the disk, including indexes */
	uint64_t superfluous_bytes; /* the part of these that a merge would free */
};

bool store_gdbm_stat(const char *directory, const struct file_system *files,
		     struct store_stat *stat, struct fault *fault);

/* Copies a store to the new directory `to`: all files, and the journal up to the last complete
 * transaction. Everything is synced, and the files are verified by their checksums. The copy has
 * everything that was acknowledged before the call. If copying fails, the contents of `to` are
 * removed, but not the directory itself. */
bool store_gdbm_backup(const char *directory, const char *to, const struct file_system *files,
		       const struct store_watch *watch, struct fault *fault);

/* Like store_gdbm_backup, for a store that no process uses: the two directories share the stack
 * files, which never change, if the file system has second names for files. Does not verify
 * them. */
bool store_gdbm_link(const char *directory, const char *to, const struct file_system *files,
		     struct fault *fault);

/* Notes in the directory that a backup of it has ended, for the figures of the process that uses it
 * (store_figures). A backup does not contain this. seconds: the time since 1970. */
bool store_gdbm_note_backup(const char *directory, const struct file_system *files, int64_t seconds,
			    struct fault *fault);
/* Returns that time, or 0 if it is unknown. */
int64_t store_gdbm_backup_time(const char *directory, const struct file_system *files);

/* Verifies the indexes: that each node is reachable from its root, that keys are in order, that
 * each key leads to a record, and that each record is in the indexes of its kind. Calls `report`
 * for each problem, with a sentence without a full stop. Returns false if something could not be
 * read. */
typedef void store_report(void *context, const char *problem);
bool store_gdbm_check_indexes(struct transaction *transaction,
			      const struct store_kind *const *kinds, size_t n, store_report *report,
			      void *context, struct fault *fault);

#endif
