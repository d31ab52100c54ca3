/* What a work streams while it records: a playlist for players (order.hls), or the same to
 * addresses of RTMP (order.rtmp). One ffmpeg gets the chunks of the part: the picture stays as it
 * is, the sound becomes AAC. Whatever becomes of the stream, the recording goes on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_CAST_H
#define RECORDER_CAST_H

#include "recorder/children.h"
#include "recorder/contract.h"
#include "recorder/folder.h"

struct cast;

/* What a cast needs of its recorder. Must outlive it. */
struct cast_stand {
	struct children *children;
	const struct folder *folder;
	const char *ffmpeg;
	const struct address_ranges *ranges; /* for addresses of RTMP, besides public ones */
};

/* Begins with the order of a stream; nothing starts before the first chunk. FAULT_BAD_REQUEST if
 * the order cannot be carried out. */
bool cast_open(const struct cast_stand *stand, const json_t *order, int64_t epoch,
	       struct arena *arena, struct cast **cast, struct fault *fault);
/* Ends all processes at once. NULL is allowed. */
void cast_close(struct cast *cast);

/* Takes a chunk. at: the end of the chunk by the service's clock; media_ms: the media of the part
 * up to there. */
struct cast_chunk {
	struct slice bytes;
	bool is_first; /* of its part */
	int64_t at, media_ms;
	int64_t before_ms; /* the media of the part before it */
};
void cast_feed(struct cast *cast, const struct cast_chunk *chunk);
/* The part is over. */
void cast_end_part(struct cast *cast);

/* Does what can be done without waiting. now: time of the service's clock. Returns whether a report
 * is due. */
bool cast_step(struct cast *cast, struct arena *arena, int64_t now);
/* Ends the stream until the next step: another recorder may have it. */
void cast_hold(struct cast *cast, const char *why);

/* Sends what there is, and ends the playlist. Returns whether that is done; call it until then. */
bool cast_finish(struct cast *cast, struct arena *arena, int64_t now);

/* Returns whether players see something: a playlist is there, or none is asked for. */
bool cast_is_seen(const struct cast *cast);
/* Returns the newest error, empty if there is none. */
const char *cast_error(const struct cast *cast);
size_t cast_outputs(const struct cast *cast, const struct output_news *outputs[OUTPUTS_MOST]);

/* Returns the number of descriptors that are readable when there may be a step. */
#define CAST_DESCRIPTORS (2 + OUTPUTS_MOST)
size_t cast_descriptors(const struct cast *cast, int descriptors[CAST_DESCRIPTORS]);

#endif
