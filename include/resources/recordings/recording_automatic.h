/* Recordings and streams that start by themselves (autoStart of a destination): as long as somebody
 * is inside whose role may start one, the room is recorded or streamed; after somebody has stopped
 * that, not again in that session. Each type is for itself; what runs already counts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_AUTOMATIC_H
#define RESOURCES_RECORDINGS_RECORDING_AUTOMATIC_H

#include "resources/stored/job_record.h"

/* What is to be started in a room. */
struct wanted_jobs {
	struct id session; /* of the room; zero if it is not in session */
	json_t *bodies[JOB_TYPES]; /* by type; NULL if none is to be started */
};

enum automatic {
	AUTOMATIC_NOT_WANTED, /* any more */
	AUTOMATIC_STARTED,
	AUTOMATIC_FAILED /* no recorder can take it now, or something else forbids it */
};

/* Finds out what is to be started in a room. */
bool automatic_find(struct call *call, const struct id *room, struct wanted_jobs *wanted,
		    struct fault *fault);
/* Starts it, if it is still to be started. notes: if it cannot be started, notes beam.failure or
 * hls.failure. */
bool automatic_start(struct call *call, const struct id *room, enum job_type type, bool notes,
		     enum automatic *result, struct fault *fault);

#endif
