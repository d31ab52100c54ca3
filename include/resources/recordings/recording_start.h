/* What a recording or a stream that starts is made of: the room, its template, and the body of the
 * start.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_START_H
#define RESOURCES_RECORDINGS_RECORDING_START_H

#include "resources/recordings/job_merge.h"
#include "resources/stored/room_record.h"

/* A room in which a recording is to start; borrowed. */
struct recorded_room {
	const struct room_record *room;
	const struct template_record *template; /* of the room */
	const struct live *live; /* value.data NULL if it is not in session */
};

/* Fills the first part of a job, whose type is set, but started_by, started_name, start_actor and
 * is_automatic. body: of the start (rules/start_rules.h); NULL for none. Sets FAULT_INVALID_BODY at
 * /destination or /rtmp_urls. *urls: the addresses of the body, NULL if it has none. */
bool recording_fill(struct call *call, const struct recorded_room *in, const json_t *body,
		    struct job *job, struct slice **urls, struct fault *fault);
/* Sets what the look of a job has of the template as it is now: who is seen and heard, whether they
 * must have agreed, and whether their chat is kept. What the file is made of, such as its size,
 * stays. *has_changed: the order is another one (NEWS_ORDER). */
bool recording_follow(struct call *call, struct job *job, bool *has_changed, struct fault *fault);
/* Returns the body of a job of this type that starts by itself (autoStart of a destination of the
 * template), or NULL if none does. */
json_t *recording_starting(struct call *call, const struct template_record *template,
			   enum job_type type);

/* The refusals that depend on the room and the account: the media server, the storage, and what the
 * files of the account may fill. A live stream needs the folder of the service, wherever its file
 * goes; an external stream without a file needs nothing. */
bool recording_check_server(struct call *call, const struct recorded_room *in, struct fault *fault);
bool job_check_storage(struct call *call, const struct recorded_room *in, const struct job *job,
		       struct fault *fault);

#endif
