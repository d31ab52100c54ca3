/* What this process remembers of media servers that people cannot reach: that it asks a server
 * whether it is there, and what it found when it last did (resources/media/placing_down.h); and the
 * numbers for /metrics.
 *
 * Any thread. NULL is allowed in place of the memory: then each call asks for itself, and nothing
 * is counted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_FAILURES_H
#define RESOURCES_MEDIA_FAILURES_H

#include "resources/asking.h"

/* Milliseconds for which what a question found is the answer to others. */
#define PRESENCE_LASTS 1000

struct failures;

struct failures *failures_open(void);
void failures_close(struct failures *failures);

/* Notes that this process asks the backend, or, unless it is PRESENCE_UNKNOWN, what it found. */
void failures_note(const struct call *call, const struct id *backend, enum presence presence);
/* Returns what this process has found in the last PRESENCE_LASTS. */
enum presence failures_presence(const struct call *call, const struct id *backend);
/* Returns what became of a question that was asked at this time. */
enum own_question {
	QUESTION_OF_OTHERS, /* by another process */
	QUESTION_ASKED,
	QUESTION_ANSWERED
};
enum own_question failures_question(const struct call *call, const struct id *backend,
				    int64_t time);

/* Counts what the call has done, now that it is committed (call->run): the rooms that it moved, and
 * the person who cannot reach a media server. */
void failures_after_commit(const struct call *call);

/* For /metrics: how often people could not connect to a media server, by its name, which two
 * accounts may use, and which is empty for all beyond the first 1,000; and how many rooms were
 * moved. The array and its names are in the arena. */
struct failed_backend {
	struct slice name;
	uint64_t count;
};
struct failed_backend *failures_read(struct failures *failures, struct arena *arena, size_t *n);
void failures_read_moved(struct failures *failures, uint64_t moved[MOVE_REASONS]);

#endif
