/* A trace of what a store did to its files, and the directory as a power cut at any moment of it
 * might leave it.
 *
 * What a cut may leave: of a file, everything that was written before its last successful sync
 * began, and of what was written since then any mixture of whole sectors, or all, or nothing; of
 * names (made, renamed, removed), everything before the last sync of their directory began, and any
 * of the rest. An operation is recorded when it is done, so that one that another thread was still
 * at is never taken for covered by a sync.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_TRACE_H
#define TESTS_TRACE_H

#include <stdint.h>

#include "file_hooks.h"

enum event_kind {
	EVENT_MAKE, /* a name for a new file */
	EVENT_DIRECTORY,
	EVENT_RENAME,
	EVENT_UNLINK,
	EVENT_SYNC_NAMES,
	EVENT_WRITE,
	EVENT_RESIZE,
	EVENT_SYNC_FILE,
	EVENT_SENT, /* a transaction was about to be committed */
	EVENT_DURABLE /* it was acknowledged */
};

/* The file of what is not recorded: a directory, a file that was there before. */
#define TRACE_NO_FILE SIZE_MAX

struct event {
	enum event_kind kind;
	size_t file; /* which file, counted from 0 as they were made */
	char *path;
	char *to;
	char *bytes;
	size_t size;
	size_t offset;
	size_t since; /* syncs: they cover the events before this one */
	size_t covered; /* the sync that covers it; SIZE_MAX: none */
	uint64_t number; /* of a transaction */
};

struct trace_name {
	char *path;
	size_t file;
};

struct trace {
	pthread_mutex_t lock;
	struct event *events;
	size_t n;
	size_t capacity;
	size_t imported; /* so many events are no cut's business */
	size_t files;
	struct trace_name *names; /* as they are after the last event */
	size_t names_n;
	size_t file_of[FILE_HOOKS_FILES]; /* by descriptor */
	size_t since_of[FILE_HOOKS_FILES];
	struct file_hooks hooks;
};

/* hooks.files is the layer that records. */
struct trace *trace_start(void);
/* Takes what is in the directory already as durable; before anything else. */
void trace_import(struct trace *trace, const char *directory);
/* EVENT_SENT or EVENT_DURABLE; any thread. */
void trace_number(struct trace *trace, enum event_kind kind, uint64_t number);
/* When all is recorded, before the first trace_rebuild. */
void trace_finish(struct trace *trace);
void trace_free(struct trace *trace);

/* The ways of a cut: what no sync covers is there, is not, or each piece as it comes. */
enum cut { CUT_ALL, CUT_NOTHING, CUT_NAMES_ONLY, CUT_DATA_ONLY, CUT_ANYTHING, CUT_COUNT };

/* Writes the directory `from` of the trace, as it may be after a cut before the event `end`, to
 * `to`, which is not there yet; and is not made when the directory itself is lost. */
void trace_rebuild(const struct trace *trace, size_t end, enum cut cut, uint64_t *seed,
		   const char *from, const char *to);

#endif
