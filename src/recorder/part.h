/* A part of a recording: Matroska as MediaRecorder writes it, chunk by chunk, and a log with a line
 * for each chunk: its number, the time of its end, the time at which it was written, its bytes, the
 * media of the part up to its end, and the run of Chromium that it is of: a run has another file
 * after each pause. Whatever is killed, both end with a whole chunk or with a
 * torn one, and play up to there. Times are of the service's clock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_PART_H
#define RECORDER_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "recorder/cuts.h"

struct part {
	int media, log; /* -1 if they are not open */
	bool drops_media; /* only the log is written */
	int64_t run; /* which run of Chromium it is of; set by the caller */
	int64_t chunks, bytes, media_ms;
	int64_t last_at; /* time of the end of the last chunk */
};

/* Makes a new part. *number: in, the first number that may be free; out, that of the part.
 * FAULT_UNAVAILABLE if it cannot be made. */
bool part_open(struct part *part, const char *folder, int64_t epoch, int64_t *number,
	       struct fault *fault);

/* Appends a chunk, and returns when it is on the disk. If it cannot be written, or the file is
 * deleted, the part ends with the chunk before. written: the time. */
bool part_append(struct part *part, struct slice bytes, int64_t at, int64_t media_ms,
		 int64_t written, struct fault *fault);

void part_close(struct part *part);

/* A part as it lies in the folder. */
struct kept_part {
	int64_t epoch, number;
	int64_t run; /* its number, if the log does not say it */
	int64_t bytes;
	int64_t modified; /* time, by the clock of this machine */
	struct part_media media;
};

/* Reads the parts of a folder in their order, with their chunks, in the arena. Without a folder
 * there are none, and a part without a log has no chunks; whatever else cannot be read sets
 * FAULT_UNAVAILABLE, because it may be read later. */
bool parts_read(struct arena *arena, const char *folder, struct kept_part **parts, size_t *n,
		struct fault *fault);

/* Writes the path of a file of a part. suffix: ".mkv". */
#define PART_PATH_SIZE 4160
void part_path(const char *folder, int64_t epoch, int64_t number, const char *suffix,
	       char path[PART_PATH_SIZE]);

#endif
