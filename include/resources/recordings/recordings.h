/* Handlers of jobs (resources/stored/job_record.h): recordings, live streams and external streams,
 * as the row of the route says (job_type); and of the files that they made (assets).
 *
 * A caller is a program with a management token or an API key; or somebody inside the room, whose
 * role may start such jobs, with a join token. The latter sees fewer members, and reads without
 * being inside.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDINGS_H
#define RESOURCES_RECORDINGS_RECORDINGS_H

#include "resources/reads.h"
#include "resources/stored/job_record.h"

/* What a path names, for call->recording. */
extern const struct loading load_recording;
extern const struct loading load_recording_asset;
/* The caller who reads: a program, or the holder of a join token whose role may record. */
extern const struct loading load_recording_reader;
extern const struct loading load_recordings, load_recording_assets;

/* /v2/recordings, /v2/live-streams, /v2/external-streams */
handler recording_start;
handler recordings_stop, recordings_pause, recordings_resume; /* by room */
handler recording_stop;
handler recording_join;
handler recordings_list;
handler recording_get;
handler external_streams_stop; /* by room */
/* What 100ms offers for streams, and Anteroom does not: 409. */
handler stream_cannot;

/* /v2/recording-assets */
handler recording_assets_list;
handler recording_assets_get;
handler recording_assets_sign;
handler recording_assets_delete;
handler recording_assets_adopt;
handler recording_assets_purge;
handler recording_orphans_list;

/* /v2/recording-files */
handler recording_files_get;

#endif
