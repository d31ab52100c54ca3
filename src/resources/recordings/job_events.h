/* The events of jobs, with the members that 100ms' have (anteroom-api(7), EVENT LOG).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_JOB_EVENTS_H
#define RESOURCES_RECORDINGS_JOB_EVENTS_H

#include "resources/recordings/job_merge.h"

/* Notes the events of these acts; the job is as it is after them. outputs: those that were given
 * up, a bit for each. assets: those that were made. */
bool job_note(struct call *call, const struct job *job, unsigned acts, unsigned outputs,
	      const struct asset *assets, size_t asset_count, struct fault *fault);
/* Notes that a job could not be started by itself: beam.failure or hls.failure without a job. */
bool job_note_unstarted(struct call *call, const struct job *job, struct slice error,
			struct fault *fault);

#endif
