/* The loop of a recorder without its service: the works, the processes, joining. What the service
 * wants comes from the caller.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_LOOP_H
#define RECORDER_LOOP_H

#include "recorder/upload.h"

struct loop {
	struct work_stand stand;
	struct work *first;
	struct joiner *joiner; /* of the work that is being joined, or NULL */
	struct work *joined;
	struct uploads *uploads;
	int signals; /* signalfd(2) */
	struct arena *arena; /* for one round; also stand.arena */
};

/* Opens the folder, finds the programs, makes the folder of the profiles, and takes up the works
 * whose parts are there. *options: gets the programs that were found. */
bool loop_open(struct loop *loop, struct recorder_options *options, struct fault *fault);
/* Ends all processes. */
void loop_close(struct loop *loop);

/* Waits until something happens, at most for some milliseconds, and does what can be done.
 * descriptor: one more to wait for, or -1. */
void loop_round(struct loop *loop, int descriptor, int64_t milliseconds);

/* Does what the service wants. arena: of the answer. */
void loop_obey(struct loop *loop, const struct answer *answer);

struct work *loop_find(const struct loop *loop, const char *account, const char *job);
/* Returns whether a part is open. */
bool loop_is_recording(const struct loop *loop);

#endif
