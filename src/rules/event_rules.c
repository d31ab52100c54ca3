/* See rules/event_rules.h. The service writes events itself; these tables only document them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/event_rules.h"

#include "rules/import_rules.h"

/* clang-format off */

static const struct field actor_fields[] = {
	{ "kind", ONE_OF("token", "key", "session", "code", "cli", "service"), FLAGS(FIELD_REQUIRED),
	  DOC("How the caller was identified.") },
	{ "id",   TEXT(any_text), FLAGS(FIELD_REQUIRED),
	  DOC("The jti of a token, the ID of an API key, or the hash of a code; may be empty.") },
};
const struct shape event_actor_shape = {
	"EventActor", FIELDS(actor_fields), .doc = "Who made the change.",
};

static const struct field pointer_row = { .name = NULL, .kind = KIND_TEXT, .text = &any_text };

static const struct field stream_file_fields[] = {
	{ "recording_path", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Where the file is.") },
	{ "duration",       INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("s"), DOC("How long it plays, rounded down.") },
	{ "size",           INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Its size in bytes.") },
	{ "max_width",      INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("px"), DOC("Width of the picture.") },
	{ "max_height",     INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("px"), DOC("Height of the picture.") },
	{ "recording_presigned_url", TEXT(any_text), IN_FORMAT("uri"), DOC("A link, in webhooks and analytics alone.") },
};
static const struct shape stream_file_shape = {
	"StreamFile", FIELDS(stream_file_fields), .doc = "The file of a live stream.",
};
static const struct field stream_file_item = { .name = NULL, OBJECT(stream_file_shape) };

static const struct field data_fields[] = {
	{ "kind",        TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("room"), DOC("Kind of the object.") },
	{ "id",          TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("6925c84100000000000000b1"),
	  DOC("Its identifier.") },
	{ "name",        TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("monday"), DOC("Its name.") },
	{ "changed",     LIST_OF(pointer_row), FLAGS(FIELD_REQUIRED),
	  DOC("JSON Pointers of the fields that changed, the first 100; never their values.") },
	{ "template_id", TEXT(any_text), DOC("Template of the object.") },
	{ "room_id",     TEXT(any_text), DOC("Room of the object.") },
	{ "role",        TEXT(any_text), DOC("Name of the role.") },
	{ "old_role",    TEXT(any_text), DOC("Previous name of the role, for role.renamed.") },
	{ "user_id",     TEXT(any_text), DOC("User ID of the person.") },
	{ "code_hash",   TEXT(any_text), DOC("HMAC-SHA256 of a code, with a key of the account.") },
	{ "reason",      TEXT(any_text),
	  DOC("Why a join was rejected; why a peer left, in the words of 100ms; or what the person who ended a "
	      "room or banned somebody wrote; for room.moved, down or drained.") },
	{ "to",          TEXT(any_text), DOC("The media server where the room is now, for room.moved; from is the former one.") },
	{ "message",     TEXT(any_text),
	  DOC("What is wrong with a media server, for backend.down; what the person who removed a peer wrote.") },
	{ "room_name",   TEXT(any_text), EXAMPLE("monday"), DOC("Name of the room when the session opened.") },
	{ "session_id",  TEXT(any_text), DOC("Session of the object.") },
	{ "session_started_at", TEXT(time_text), DOC("When the first peer of the session joined.") },
	{ "session_stopped_at", TEXT(time_text), DOC("When the last peer of the session left.") },
	{ "session_duration", INTEGER(0, UNLIMITED), UNIT("s"),
	  DOC("How long the session lasted, rounded down.") },
	{ "peer_id",     TEXT(any_text), IN_FORMAT("uuid"), DOC("Identifier of the peer, a UUID.") },
	{ "user_name",   TEXT(any_text), DOC("Name of the person.") },
	{ "user_data",   TEXT(any_text),
	  DOC("Metadata of the person; empty if it has more than 256 bytes.") },
	{ "joined_at",   TEXT(time_text), DOC("When the peer joined.") },
	{ "left_at",     TEXT(time_text), DOC("When the peer left.") },
	{ "duration",    INTEGER(0, UNLIMITED), UNIT("s"),
	  DOC("How long the peer stayed, rounded down.") },
	{ "cause",       TEXT(any_text), EXAMPLE("left"),
	  DOC("Why a peer left, more exactly than reason: left, other_device, removed, ended, signal, sip, "
	      "media, server, unseen; there may be more.") },
	{ "type",        TEXT(any_text), EXAMPLE("regular"), DOC("regular, or sip for a phone.") },
	{ "error_message", TEXT(any_text), DOC("Why a peer could not join, for peer.join.failure.") },
	{ "previous_role", TEXT(any_text), DOC("Role of the peer before the change.") },
	{ "role_changed_at", TEXT(time_text), DOC("When the role of the peer changed.") },
	{ "role_change_requested_by", TEXT(any_text), IN_FORMAT("uuid"),
	  DOC("Peer that changed the role; absent if a management token did.") },
	{ "beam_id",     TEXT(any_text), DOC("The recording or stream, as 100ms names it.") },
	{ "job_id",      TEXT(any_text), DOC("The recording or stream.") },
	{ "recording_id", TEXT(any_text), DOC("The file of a recording.") },
	{ "recording_enabled", BOOLEAN(), DOC("Whether a file is made.") },
	{ "recording_vod_playlist_enabled", BOOLEAN(), DOC("Whether a live stream is recorded along (hls_vod).") },
	{ "recording_single_file_per_layer_enabled", BOOLEAN(), DOC("Whether a live stream is recorded along.") },
	{ "recording_single_files", LIST_OF(stream_file_item), DOC("Files of a live stream, at most one.") },
	{ "url",         TEXT(any_text), IN_FORMAT("uri"), DOC("Address of the playlist of a live stream; empty without --public-url.") },
	{ "recording_path", TEXT(any_text), DOC("Where the file is; empty for one of the chat alone.") },
	{ "chat_recording_path", TEXT(any_text), DOC("Where the file of the chat is, or empty.") },
	{ "size",        INTEGER(0, UNLIMITED), DOC("Size of the file in bytes.") },
	{ "max_width",   INTEGER(0, UNLIMITED), UNIT("px"), DOC("Width of the picture.") },
	{ "max_height",  INTEGER(0, UNLIMITED), UNIT("px"), DOC("Height of the picture.") },
	{ "meeting_url", TEXT(any_text), DOC("As it was sent when the recording was started.") },
	{ "rtmp",        LIST_OF(pointer_row), DOC("Masked addresses of an external stream.") },
	{ "metadata_id", TEXT(any_text), DOC("Always empty.") },
	{ "metadata_timestamp", TEXT(any_text), DOC("Always empty.") },
	{ "start_delay", INTEGER(0, UNLIMITED), UNIT("s"), DOC("From the start to the first media.") },
	{ "state_name",  TEXT(any_text), DOC("started, stopped or failed.") },
	{ "state_timestamp", TEXT(any_text), DOC("When that was.") },
	{ "created_at",  TEXT(time_text), DOC("When the recording was started.") },
	{ "started_at",  TEXT(time_text), DOC("When what is recorded begins.") },
	{ "stopped_at",  TEXT(time_text), DOC("When what is recorded ends.") },
	{ "error_code",  INTEGER(0, UNLIMITED), DOC("Always 500.") },
	{ "error_type",  TEXT(any_text), EXAMPLE("NO_RECORDER"), DOC("What kind of failure it was.") },
	{ "asset",       TEXT(any_text), DOC("The file that was deleted; empty if there was no record of it.") },
	{ "path",        TEXT(any_text), DOC("Where the file was.") },
	{ "outcome",     TEXT(any_text), EXAMPLE("deleted"), DOC("deleted, or not found if the file was gone already.") },
	{ "lock_room",   BOOLEAN(), DOC("Whether the room was disabled when it was ended.") },
	{ "source",      TEXT(any_text), DOC("Who ended the room: api or peer.") },
	{ "count",       INTEGER(0, UNLIMITED), DOC("Number of codes that one request created for all roles.") },
	{ "templates",   OBJECT(import_count_shape), DOC("Numbers of templates, for account.imported.") },
	{ "rooms",       OBJECT(import_count_shape), DOC("Numbers of rooms, for account.imported.") },
	{ "room_codes",  OBJECT(import_count_shape), DOC("Numbers of codes, for account.imported.") },
};
static const struct shape data_shape = {
	"EventData", FIELDS(data_fields), .doc = "The object that was changed.",
};

static const struct field event_fields[] = {
	{ "seq",        INTEGER(1, UNLIMITED), FLAGS(FIELD_REQUIRED),
	  DOC("Number of the event: starts at 1 and increases by 1.") },
	{ "id",         TEXT(any_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uuid"),
	  EXAMPLE("0195d3a0-5f6e-7c3b-8a53-2f1d4d7c9e01"), DOC("A UUID.") },
	{ "type",       TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("room.created"), DOC("Event type, such as room.created.") },
	{ "timestamp",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("Time of the change, with milliseconds.") },
	{ "actor",      OBJECT(event_actor_shape), FLAGS(FIELD_REQUIRED), DOC("Who made the change.") },
	{ "request_id", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("X-Request-Id of the request.") },
	{ "data",       OBJECT(data_shape), FLAGS(FIELD_REQUIRED), DOC("What changed.") },
};
const struct shape event_shape = {
	"Event", FIELDS(event_fields), .doc = "An event of the event log: one change.",
};

static const struct field analytics_event_fields[] = {
	{ "version",    TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("2.0"), DOC("Always 2.0.") },
	{ "id",         TEXT(any_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uuid"),
	  EXAMPLE("0195d3a0-5f6e-7c3b-8a53-2f1d4d7c9e01"), DOC("A UUID.") },
	{ "account_id", TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("6925c84100000000000000a1"), DOC("The account.") },
	{ "app_id",     TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("6925c84100000000000000a1"), DOC("The account, too.") },
	{ "timestamp",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("Time of the event, with milliseconds.") },
	{ "type",       TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("peer.join.success"), DOC("Event type.") },
	{ "data",       OBJECT(data_shape), FLAGS(FIELD_REQUIRED), DOC("The same as in a webhook.") },
};
static const struct shape analytics_event_shape = {
	"AnalyticsEvent", FIELDS(analytics_event_fields), .doc = "An event of a room, as 100ms returns it.",
};
static const struct field analytics_event_item = { .name = NULL, OBJECT(analytics_event_shape) };
static const struct field analytics_fields[] = {
	{ "limit",  INTEGER(1, 100), FLAGS(FIELD_REQUIRED), DOC("Items per response.") },
	{ "total",  INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("How many events match now.") },
	{ "events", LIST_OF(analytics_event_item), FLAGS(FIELD_REQUIRED), DOC("Events, oldest first.") },
	{ "next",   TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("117"),
	  DOC("Where to continue; empty at the end of the event log.") },
	{ "last",   TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("117"), DOC("The same as `next`.") },
};
const struct shape analytics_shape = {
	"Analytics", FIELDS(analytics_fields), .doc = "Events of a room.",
};

/* clang-format on */
