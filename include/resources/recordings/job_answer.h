/* How responses and events show jobs and assets (rules/job_rules.h documents them).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_JOB_ANSWER_H
#define RESOURCES_RECORDINGS_JOB_ANSWER_H

#include "base/json_writer.h"
#include "resources/stored/job_record.h"

/* Writes the members of a job into an object that is open. assets: of the job; NULL in a list,
 * which leaves the member out (recordings) or has null (streams). urls: the addresses of an
 * external stream as they were sent; NULL to mask them. */
void job_write(struct call *call, struct json_writer *body, const struct job *job,
	       const struct asset *assets, size_t asset_count, const struct slice *urls);
/* Writes those members that somebody inside the room sees. */
void job_write_inside(struct call *call, struct json_writer *body, const struct job *job);
/* Returns the address of the playlist of a live stream. */
struct slice job_live_url(struct call *call, const struct job *job);
/* Writes the members of an asset into an object that is open. is_inside_job: without those that the
 * job around it has. */
void asset_write(struct call *call, struct json_writer *body, const struct asset *asset,
		 bool is_inside_job);
/* Returns `file:///RELATIVE`. */
struct slice asset_path_text(struct arena *arena, const struct asset *asset);

#endif
