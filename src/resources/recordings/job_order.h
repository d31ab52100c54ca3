/* The order of a job: what its recorder needs to carry it out (anteroom-api(7), RECORDERS).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_JOB_ORDER_H
#define RESOURCES_RECORDINGS_JOB_ORDER_H

#include "base/json_writer.h"
#include "media/server.h"
#include "resources/recordings/job_merge.h"

/* Returns the identity of a job's recorder in its room: recorder-JOB-EPOCH. */
#define JOB_IDENTITY_PREFIX "recorder-"
struct slice job_identity(struct arena *arena, const struct job *job, uint32_t epoch);
/* Returns true once the holder has media: from then on, it alone has to be in the room. */
bool job_has_media(const struct job *job);
/* The LiveKit that the room of a job uses. */
struct job_server {
	struct id backend;
	struct access_server access;
	struct server server; /* as it is asked */
	int64_t ttl; /* seconds for which access is given */
};
/* *is_there is false if the room is gone, or has no LiveKit any more. */
bool job_server(struct call *call, const struct job *job, struct job_server *found, bool *is_there,
		struct fault *fault);
/* Writes the member `order`. Without `join` for a job that has stopped, or if its room or its media
 * server is gone. */
bool job_order_write(struct call *call, const struct job *job, struct json_writer *body,
		     struct fault *fault);

#endif
