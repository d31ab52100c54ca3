/* See rules/job_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/job_rules.h"

#include "rules/text_rules.h"

/* clang-format off */

#define TIME_OR_NULL TEXT(time_text), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE)
#define STATUS ONE_OF("starting", "running", "stopping", "post_processing", "completed", "failed"), \
	FLAGS(FIELD_REQUIRED)
#define JOB_TYPE ONE_OF("recording", "live", "external"), FLAGS(FIELD_REQUIRED)

/* ---- files ---- */

static const struct field gap_fields[] = {
	{ "at_ms",      INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("ms"), DOC("Where it is, from the start of the file.") },
	{ "missing_ms", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("ms"), DOC("How much of the call is missing there.") },
};
static const struct shape gap_shape = {
	"RecordingGap", FIELDS(gap_fields), .doc = "What is missing in a file.",
};
static const struct field gap_item = { .name = NULL, OBJECT(gap_shape) };
static const struct field size_fields[] = {
	{ "height", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("px"), DOC("Height in pixels.") },
	{ "width",  INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("px"), DOC("Width in pixels.") },
};
static const struct shape size_shape = {
	"RecordingSize", FIELDS(size_fields), .doc = "The size of the picture.",
};
static const struct field metadata_fields[] = {
	{ "resolution", OBJECT(size_shape), DOC("The size of the picture; absent if there is only sound.") },
	{ "gaps",       LIST_OF(gap_item), DOC("What is missing: while nothing could be recorded, and in pauses.") },
};
static const struct shape metadata_shape = {
	"RecordingMetadata", FIELDS(metadata_fields), .doc = "What is known about a file.",
};

static const struct field thumbnail_item = { .name = NULL, .kind = KIND_TEXT, .text = &any_text };
#define OWN_MEMBERS_OF_AN_ASSET \
	{ "type",       ONE_OF("room-composite", "chat"), FLAGS(FIELD_REQUIRED), DOC("What the file has: the call, or what was written in it.") }, \
	{ "path",       TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("file:///6925c84100000000000000a1/6925c84100000000000000b1/6925c84100000000000000c1/recording.mp4"), \
	  DOC("Where it is: file:/// with its path in the folder of recordings.") }, \
	{ "thumbnails", LIST_OF(thumbnail_item), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE), DOC("Always null.") }, \
	{ "metadata",   OBJECT(metadata_shape), FLAGS(FIELD_REQUIRED), DOC("What is known about the file.") }, \
	{ "duration",   INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("s"), DOC("How long it plays, rounded down.") }, \
	{ "size",       INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Its size in bytes.") }, \
	{ "status",     ONE_OF("completed", "missing"), FLAGS(FIELD_REQUIRED), DOC("missing if the file was not found in its folder.") }, \
	{ "created_at", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When it was finished.") }

static const struct field asset_fields[] = {
	{ "id",         TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Asset identifier.") },
	{ "job_id",     TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("The recording.") },
	{ "room_id",    TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("The room.") },
	{ "session_id", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("The session in which the recording began.") },
	OWN_MEMBERS_OF_AN_ASSET,
};
const struct shape recording_asset_shape = {
	"RecordingAsset", FIELDS(asset_fields), .doc = "A file that a recording made.",
};
static const struct field own_asset_fields[] = {
	{ "id", TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Asset identifier.") },
	OWN_MEMBERS_OF_AN_ASSET,
};
static const struct shape own_asset_shape = {
	"AssetOfRecording", FIELDS(own_asset_fields), .doc = "A file of the recording.",
};

/* ---- recordings ---- */

static const struct field asset_item = { .name = NULL, OBJECT(own_asset_shape) };
static const struct field text_item = { .name = NULL, .kind = KIND_TEXT, .text = &any_text };

#define BEGINNING_OF_A_JOB \
	{ "id",          TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Recording identifier.") }, \
	{ "room_id",     TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("The room.") }, \
	{ "session_id",  TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("The session in which it began; empty if there was none.") }, \
	{ "status",      STATUS, DOC("How far it is.") }, \
	{ "created_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When it was started.") }, \
	{ "started_at",  TIME_OR_NULL, DOC("When what is recorded begins; null before.") }, \
	{ "updated_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the recording last changed.") }, \
	{ "stopped_at",  TIME_OR_NULL, DOC("When it was stopped, and then when what is recorded ends; null before.") }, \
	{ "meeting_url", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("As it was sent; nobody opens it.") }
#define MORE_OF_A_JOB \
	{ "destination", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the destination in the template, or empty.") }, \
	{ "started_by",  TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("The peer who started it, or empty.") }, \
	{ "stopped_by",  TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("The peer who stopped it, or empty.") }, \
	{ "asset_types", LIST_OF(text_item), FLAGS(FIELD_REQUIRED), DOC("What files it makes.") }
#define FIRST_MEMBERS_OF_A_JOB BEGINNING_OF_A_JOB, MORE_OF_A_JOB
#define OUR_MEMBERS_OF_A_JOB \
	{ "type",              JOB_TYPE, DOC("What kind of job it is.") }, \
	{ "room_name",         TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the room at the start.") }, \
	{ "paused",            BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether a pause was asked for.") }, \
	{ "interrupted_since", TIME_OR_NULL, DOC("Since when nothing is recorded although it should be; null otherwise.") }, \
	{ "reason",            TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("client request"), DOC("Why it ended; empty before.") }, \
	{ "error",             TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("What went wrong, as a sentence; else empty.") }, \
	{ "recorded_seconds",  INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("s"), DOC("How much was recorded so far, rounded down.") }, \
	{ "gaps",              INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("How often it went on after a pause, or after it was interrupted.") }, \
	{ "not_enforced",      LIST_OF(text_item), FLAGS(FIELD_REQUIRED), DOC("What was asked for, and is not done or was limited.") }

static const struct field recording_fields[] = {
	FIRST_MEMBERS_OF_A_JOB,
	{ "recording_assets", LIST_OF(asset_item), FLAGS(FIELD_REQUIRED), DOC("Its files, once there are any.") },
	OUR_MEMBERS_OF_A_JOB,
};
const struct shape recording_shape = {
	"RoomRecording", FIELDS(recording_fields), .doc = "A recording of a room.",
};
static const struct field listed_recording_fields[] = { FIRST_MEMBERS_OF_A_JOB, OUR_MEMBERS_OF_A_JOB };
const struct shape listed_recording_shape = {
	"ListedRecording", FIELDS(listed_recording_fields), .doc = "A recording in a list.",
};

static const struct field inside_fields[] = {
	{ "id",         TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Recording identifier.") },
	{ "room_id",    TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("The room.") },
	{ "type",       JOB_TYPE, DOC("Always recording here.") },
	{ "status",     STATUS, DOC("How far it is.") },
	{ "paused",     BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether a pause was asked for.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When it was started.") },
	{ "started_at", TIME_OR_NULL, DOC("When what is recorded begins; null before.") },
	{ "stopped_at", TIME_OR_NULL, DOC("When it was stopped; null before.") },
	{ "started_by", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("The peer who started it, or empty.") },
	{ "reason",     TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Why it ended; empty before.") },
	{ "error",      TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("What went wrong, as a sentence; else empty.") },
};
const struct shape recording_inside_shape = {
	"RecordingInside", FIELDS(inside_fields), .doc = "A recording, for somebody inside the room.",
};

/* ---- streams ---- */

static const struct field playback_fields[] = {
	{ "url", TEXT(any_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uri"),
	  EXAMPLE("https://example.org/live/hZk2m0cVQ1yJw5nT3rXb7A/live.m3u8"),
	  DOC("The playlist; it is there once the stream is running, and for an hour after its end.") },
};
static const struct shape playback_shape = {
	"LiveStreamPlayback", FIELDS(playback_fields), .doc = "Where a live stream is played.",
};
static const struct field live_recording_fields[] = {
	{ "hls_vod",               BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether it is recorded along.") },
	{ "single_file_per_layer", BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether it is recorded along; both make the same file.") },
};
static const struct shape live_recording_shape = {
	"LiveStreamRecorded", FIELDS(live_recording_fields), .doc = "Whether a live stream is recorded along.",
};
#define ASSETS { "recording_assets", LIST_OF(asset_item), FLAGS(FIELD_REQUIRED), DOC("Its files, once there are any.") }
#define NO_ASSETS { "recording_assets", LIST_OF(asset_item), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE), DOC("Always null in lists.") }
#define MEMBERS_OF_A_LIVE_STREAM \
	{ "playback",  OBJECT(playback_shape), FLAGS(FIELD_REQUIRED), DOC("Where it is played.") }, \
	{ "recording", OBJECT(live_recording_shape), FLAGS(FIELD_REQUIRED), DOC("Whether it is recorded along.") }

static const struct field live_stream_fields[] = {
	BEGINNING_OF_A_JOB, MEMBERS_OF_A_LIVE_STREAM, MORE_OF_A_JOB, ASSETS, OUR_MEMBERS_OF_A_JOB,
};
const struct shape live_stream_shape = {
	"LiveStream", FIELDS(live_stream_fields), .doc = "A live stream of a room.",
};
static const struct field listed_live_stream_fields[] = {
	BEGINNING_OF_A_JOB, MEMBERS_OF_A_LIVE_STREAM, MORE_OF_A_JOB, NO_ASSETS, OUR_MEMBERS_OF_A_JOB,
};
const struct shape listed_live_stream_shape = {
	"ListedLiveStream", FIELDS(listed_live_stream_fields), .doc = "A live stream in a list.",
};

static const struct field output_fields[] = {
	{ "url",   TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("rtmp://example.org/live/{abc...xyz}"), DOC("The address, masked.") },
	{ "state", ONE_OF("connecting", "live", "failed"), FLAGS(FIELD_REQUIRED),
	  DOC("failed once it was given up; connecting also between two tries.") },
	{ "since", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the state began.") },
	{ "error", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("What went wrong last, or empty.") },
};
static const struct shape output_shape = {
	"StreamOutput", FIELDS(output_fields), .doc = "One of the servers that a stream is sent to.",
};
static const struct field output_item = { .name = NULL, OBJECT(output_shape) };
#define MEMBERS_OF_AN_EXTERNAL_STREAM \
	{ "rtmp_urls",  LIST_OF(text_item), FLAGS(FIELD_REQUIRED), \
	  DOC("Where it is sent; masked, except addresses of the body in the response to the start.") }, \
	{ "recording",  BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether it is recorded along.") }, \
	{ "resolution", OBJECT(size_shape), FLAGS(FIELD_REQUIRED), DOC("The size of the picture.") }
#define OUTPUTS { "outputs", LIST_OF(output_item), FLAGS(FIELD_REQUIRED), DOC("How far each address is.") }

static const struct field external_stream_fields[] = {
	BEGINNING_OF_A_JOB, MEMBERS_OF_AN_EXTERNAL_STREAM, MORE_OF_A_JOB, ASSETS, OUR_MEMBERS_OF_A_JOB, OUTPUTS,
};
const struct shape external_stream_shape = {
	"ExternalStream", FIELDS(external_stream_fields), .doc = "A stream of a room to RTMP servers.",
};
static const struct field listed_external_stream_fields[] = {
	BEGINNING_OF_A_JOB, MEMBERS_OF_AN_EXTERNAL_STREAM, MORE_OF_A_JOB, NO_ASSETS, OUR_MEMBERS_OF_A_JOB, OUTPUTS,
};
const struct shape listed_external_stream_shape = {
	"ListedExternalStream", FIELDS(listed_external_stream_fields), .doc = "An external stream in a list.",
};
