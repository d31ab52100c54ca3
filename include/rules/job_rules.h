/* Recordings, streams and their files in responses; the service writes these itself (job_answer.h),
 * the tables document them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_JOB_RULES_H
#define RULES_JOB_RULES_H

#include "schema/schema.h"

/* A recording; in a list, without its assets; for somebody inside, its first members alone. */
extern const struct shape recording_shape;
extern const struct shape listed_recording_shape;
extern const struct shape recording_inside_shape;
/* The same for streams. */
extern const struct shape live_stream_shape, listed_live_stream_shape;
extern const struct shape external_stream_shape, listed_external_stream_shape;
/* A file that a recording made; in the response of its recording, without what that has. */
extern const struct shape recording_asset_shape;

#endif
