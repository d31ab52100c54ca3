/* Recordings that start by themselves (autoStart of a destination): as long as somebody is inside
 * whose role may start one, the room is recorded; after somebody has stopped it, not again in that
 * session.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_AUTOMATIC_H
#define RESOURCES_RECORDINGS_RECORDING_AUTOMATIC_H

#include "resources/call.h"

enum automatic {
	AUTOMATIC_NOT_WANTED, /* or it is recorded already */
	AUTOMATIC_WANTED, /* in a READ transaction: it is to be started */
	AUTOMATIC_STARTED,
	AUTOMATIC_FAILED /* no recorder can take it now, or something else forbids it */
};

/* Starts the recording of a room in session, if it is to be recorded. *session: that of the room.
 * notes: if it cannot be started, notes beam.failure. */
bool recording_start_automatic(struct call *call, const struct id *room, bool notes,
			       struct id *session, enum automatic *result, struct fault *fault);

#endif
