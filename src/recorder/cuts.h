/* The list of cuts: which media of which part belongs into the recording. Parts are in the order of
 * epoch and number. What lies in an excluded span (a pause, everything after the stop) is left out,
 * and so is what a later part has too: two recorders may have recorded at the same time for some
 * seconds. Parts that are shorter than a second are left out as a whole, but not what was recorded
 * between two pauses.
 *
 * All times are of the service's clock, in milliseconds since 1970. Pure functions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_CUTS_H
#define RECORDER_CUTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define CUTS_PART_LEAST 1000 /* milliseconds of media */
/* A shorter piece cannot be cut out. */
#define CUTS_PIECE_LEAST 200
/* Shorter gaps are not told: the times of chunks are not more exact. */
#define CUTS_GAP_LEAST 100

/* A chunk of a part. It begins where the one before it ends, unless there was a pause between. */
struct chunk {
	int64_t at; /* time of its end */
	int64_t media_ms; /* media of the part up to its end */
};

struct part_media {
	const struct chunk *chunks;
	size_t count;
	bool has_pauses; /* a pause is why it begins, or ends */
};

struct span {
	int64_t from, to;
};

struct piece {
	size_t part; /* index of the part */
	int64_t from_ms, to_ms; /* media of the part */
	int64_t began, ended; /* the times of both */
	bool is_whole; /* the part's only piece, from its beginning to its end */
};

struct gap {
	int64_t at_ms; /* position in the file */
	int64_t missing_ms;
};

/* Returns the pieces in their order, in the arena. excluded: sorted in place. */
size_t cuts_make(struct arena *arena, const struct part_media *parts, size_t n,
		 struct span *excluded, size_t excluded_count, struct piece **pieces);

/* Returns the gaps between n pieces that are joined to one file, in the arena. */
size_t cuts_gaps(struct arena *arena, const struct piece *pieces, size_t n, struct gap **gaps);

/* Returns how long the pieces are together, in milliseconds. */
int64_t cuts_length(const struct piece *pieces, size_t n);

/* Returns whether a time lies in one of the spans. */
bool cuts_is_excluded(const struct span *spans, size_t n, int64_t time);

#endif
