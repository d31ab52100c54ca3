/* A trace of everything that a store does to its files, and the directory as a power cut at any
 * moment might leave it.
 *
 * After a cut, a file contains everything written before its last successful sync began; of later
 * writes, any mixture of whole sectors, everything or nothing. Of the names (created, renamed,
 * removed), everything before the last sync of their directory began is there, and any part of the
 * rest. An operation is recorded when it is done, so that an operation in progress in another
 * thread never counts as covered by a sync.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TRACE_H
#define TESTS_TRACE_H

#include <stdint.h>

#include "file_hooks.h"

enum event_kind {
	EVENT_MAKE, /* a name for a new file */
	EVENT_DIRECTORY, /* a name for a new directory */
	EVENT_LINK, /* another name for a file */
	EVENT_RENAME,
	EVENT_EXCHANGE,
	EVENT_UNLINK, /* also of a directory */
	EVENT_SYNC_NAMES,
	EVENT_WRITE,
	EVENT_RESIZE,
	EVENT_SYNC_FILE,
	EVENT_SENT, /* a transaction is about to be committed */
	EVENT_DURABLE /* the transaction was acknowledged */
};

/* The file of events without a recorded file: a directory, or a file from before the trace. */
#define TRACE_NO_FILE SIZE_MAX

struct event {
	enum event_kind kind;
	size_t file; /* index of the file or directory, in the order of creation */
	size_t other; /* index of the one that `to` was before an exchange */
	size_t directory; /* index of the directory that has the names */
	char *path;
	char *to; /* of a rename or an exchange */
	char *bytes;
	size_t size;
	size_t offset;
	size_t since; /* of syncs: they cover the events before this one */
	size_t covered; /* the sync that covers it; SIZE_MAX if none */
	uint64_t number; /* of a transaction */
};

struct trace_name {
	size_t directory; /* index; TRACE_NO_FILE for directories from before the trace */
	char *name; /* in the directory; the whole path of a directory from before the trace */
	size_t file;
};

struct trace {
	pthread_mutex_t lock;
	struct event *events;
	size_t n;
	size_t capacity;
	size_t imported; /* number of events that no cut affects */
	size_t files; /* and directories */
	struct trace_name *names; /* the names after the last event */
	size_t names_n;
	size_t file_of[FILE_HOOKS_FILES]; /* by descriptor */
	size_t since_of[FILE_HOOKS_FILES];
	int exchange_error; /* what a file system says that cannot exchange names; 0 for nothing */
	struct file_hooks hooks;
};

/* Starts a trace; hooks.files is the layer that records. */
struct trace *trace_start(void);
/* Records what is in the directory already as durable; must be called first, for each directory. */
void trace_import(struct trace *trace, const char *directory);
/* Records EVENT_SENT or EVENT_DURABLE, from any thread. */
void trace_number(struct trace *trace, enum event_kind kind, uint64_t number);
/* Ends the recording; must be called before the first trace_rebuild. */
void trace_finish(struct trace *trace);
void trace_free(struct trace *trace);

/* The ways of a cut: what no sync covers is present, absent, or decided piece by piece. */
enum cut { CUT_ALL, CUT_NOTHING, CUT_NAMES_ONLY, CUT_DATA_ONLY, CUT_ANYTHING, CUT_COUNT };

/* Writes the directory `from` of the trace with what is in it, as it may be after a cut before the
 * event `end`, to `to`, which must not exist yet. Does not create `to` if the directory itself is
 * lost. `from`: its path after the last event. */
void trace_rebuild(const struct trace *trace, size_t end, enum cut cut, uint64_t *seed,
		   const char *from, const char *to);

#endif
