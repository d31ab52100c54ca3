/* An ffmpeg that gets the chunks of a part as they come, and makes a stream of them. It reads and
 * writes pipes and files, nothing else.
 *
 * What it has not taken waits in memory. An ffmpeg that takes nothing for too long is ended, and so
 * holds up neither the recording nor other streams; another one begins with the header of the part
 * and goes on with the next cluster.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_FEED_H
#define RECORDER_FEED_H

#include <stdint.h>

#include "recorder/children.h"

/* Bytes that wait to be written. */
struct waiting {
	char *bytes;
	size_t begin, end, capacity;
};

void waiting_add(struct waiting *waiting, struct slice bytes);
/* Writes what can be written without waiting. Returns the number of bytes, or -1 if the reader is
 * gone. */
int64_t waiting_write(struct waiting *waiting, int descriptor);
void waiting_free(struct waiting *waiting);

struct feed {
	struct child child;
	struct tail says; /* what it says of errors */
	int input, output; /* -1 if they are not open */
	struct waiting waiting;
	bool is_ending; /* the input is closed when nothing waits */
	int64_t moved_at; /* when it last took something (clock_monotonic) */
};

/* Starts ffmpeg. arguments: between the options of the input and the end. directory: in which it
 * writes files. */
bool feed_open(struct children *children, struct feed *feed, const char *ffmpeg,
	       const char *const *arguments, const char *directory, struct fault *fault);
/* Ends it at once. Does nothing if it is not open. */
void feed_close(struct children *children, struct feed *feed);
/* Returns whether there is one, also one that has ended and not been closed. */
bool feed_is_open(const struct feed *feed);

/* Takes the bytes of a chunk, and writes when it can. */
void feed_add(struct feed *feed, struct slice bytes);
/* Ends the input once all has been written. */
void feed_end(struct feed *feed);
/* Writes what can be written. Returns false if the feed has to be closed: it has ended, or it
 * hangs. `why`: the reason; empty for an end that was asked for. */
bool feed_step(struct feed *feed, char why[TAIL_SIZE + 1]);

/* Returns the size of the header of a part, up to its first cluster, or 0 if there is none. */
size_t feed_header_size(struct slice bytes);
/* Returns what begins with the first cluster; data is NULL if none begins here. */
struct slice feed_from_cluster(struct slice bytes);

#endif
