/* See rules/start_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/start_rules.h"

#include <string.h>

#include "base/text.h"
#include "rules/list_rules.h"

/* clang-format off */

static schema_rule check_picture, check_addresses;

static const struct text_rule meeting_url_text = {
	.sentence = "must be at most 2048 characters",
	.longest = 2048,
};

static const struct rule resolution_rules[] = {
	{ "pictureSize",
	  "A picture that is at least as wide as high is at most 1080 high; one that is higher than wide is 500 to "
	  "1080 wide and at least 500 high. Odd sizes are rounded down.",
	  check_picture },
	{ NULL, NULL, NULL },
};
static const struct field resolution_fields[] = {
	{ "width",  INTEGER(PICTURE_WIDTH_LEAST, PICTURE_WIDTH_MOST), FLAGS(FIELD_REQUIRED), UNIT("px"),
	  EXAMPLE(1280), DOC("Pixels.") },
	{ "height", INTEGER(PICTURE_HEIGHT_LEAST, UPRIGHT_HEIGHT_MOST), FLAGS(FIELD_REQUIRED), UNIT("px"),
	  EXAMPLE(720), DOC("Pixels.") },
};
static const struct shape resolution_shape = {
	"Resolution", FIELDS(resolution_fields), .rules = resolution_rules, .doc = "The size of a picture.",
};

static const struct field recording_start_fields[] = {
	{ "meeting_url",   TEXT(meeting_url_text), EXAMPLE("https://example.org/join/abc-defg-hij"),
	  DOC("Stored and returned, and opened by nobody: the recorder uses the page of this server.") },
	{ "resolution",    OBJECT(resolution_shape), DOC("Default: the size of the destination, else 1280x720.") },
	{ "destination",   TEXT(destination_name_text), FLAGS(FIELD_ZERO_ABSENT), EXAMPLE("lessons"),
	  DOC("Name of the template's configuration of recordings, or of one of its browserRecordings. Default: the "
	      "former, or the only one of the latter.") },
	{ "audio_only",    BOOLEAN(), DOC("Records no picture.") },
	{ "transcription", KEPT_OBJECT(), DOC("Accepted, and has no effect.") },
	{ "test",          BOOLEAN(),
	  DOC("Records a test picture for ten seconds, although nobody is in the room, and deletes the file.") },
};
const struct shape recording_start_shape = {
	"RecordingStart", FIELDS(recording_start_fields), .doc = "How a room is recorded.",
};

/* ---- streams ---- */

static const struct field live_recording_fields[] = {
	{ "hls_vod",               BOOLEAN(), DOC("Records the stream. Default: hlsVod of the destination.") },
	{ "single_file_per_layer", BOOLEAN(),
	  DOC("Records the stream, too: both make the same file. Default: singleFilePerLayer of the destination.") },
};
static const struct shape live_recording_shape = {
	"LiveStreamRecording", FIELDS(live_recording_fields), .doc = "Whether a live stream is recorded along.",
};
static const struct field live_start_fields[] = {
	{ "meeting_url",   TEXT(meeting_url_text), EXAMPLE("https://example.org/join/abc-defg-hij"),
	  DOC("Stored and returned, and opened by nobody: the recorder uses the page of this server.") },
	{ "recording",     OBJECT(live_recording_shape), DOC("Whether it is recorded along.") },
	{ "destination",   TEXT(destination_name_text), FLAGS(FIELD_ZERO_ABSENT), EXAMPLE("lessons"),
	  DOC("Name of one of the template's hlsDestinations. Default: the only one.") },
	{ "transcription", KEPT_OBJECT(), DOC("Accepted, and has no effect.") },
};
const struct shape live_start_shape = {
	"LiveStreamStart", FIELDS(live_start_fields), .doc = "How a room is streamed to a playlist.",
};

static const struct text_rule stream_address_text = {
	.sentence = STREAM_ADDRESS_SENTENCE,
	.shortest = 1,
	.longest = STREAM_ADDRESS_SIZE_MOST,
	.counts_bytes = true,
};
static const struct field address_item = {
	.name = NULL, TEXT(stream_address_text), FLAGS(FIELD_SECRET), IN_FORMAT("uri"),
	EXAMPLE("rtmp://example.org/live/key"),
};
static const struct rule external_start_rules[] = {
	{ "streamAddresses",
	  "An address has the scheme rtmp or rtmps and a host, and no user info, blanks, control characters, quotes "
	  "or backslashes. What is written as an address is public, or one of serve --stream-allow.",
	  check_addresses },
	{ NULL, NULL, NULL },
};
static const struct field external_start_fields[] = {
	{ "meeting_url", TEXT(meeting_url_text), EXAMPLE("https://example.org/join/abc-defg-hij"),
	  DOC("Stored and returned, and opened by nobody: the recorder uses the page of this server.") },
	{ "rtmp_urls",   LIST_OF(address_item), MOST(STREAM_ADDRESSES_MOST),
	  DOC("Where the stream is sent. Required without a destination that has addresses; not from inside the room.") },
	{ "recording",   BOOLEAN(), DOC("Whether it is recorded along. Default: recordingEnabled of the destination.") },
	{ "resolution",  OBJECT(resolution_shape), DOC("Default: the size of the destination, else 1280x720.") },
	{ "destination", TEXT(destination_name_text), FLAGS(FIELD_ZERO_ABSENT), EXAMPLE("channel"),
	  DOC("Name of one of the template's rtmpDestinations. Default: the only one, if no address is sent.") },
};
const struct shape external_start_shape = {
	"ExternalStreamStart", FIELDS(external_start_fields), .rules = external_start_rules,
	.doc = "Where and how a room is streamed.",
};

/* ---- queries ---- */

#define LIMIT INTEGER(10, 100), DOC("Items per response."), DEFAULT(10)
#define START TEXT(id_text), DOC("Where to continue: `last` of the previous response.")
#define OF_ROOM TEXT(any_text), EXAMPLE("6925c84100000000000000b1"), DOC("Only those of this room.")
#define OF_SESSION TEXT(any_text), EXAMPLE("6925c84100000000000000c1"), DOC("Only those of this session.")

static const struct field recording_list_fields[] = {
	{ "limit",      LIMIT },
	{ "start",      START },
	{ "room_id",    OF_ROOM },
	{ "session_id", OF_SESSION },
	{ "status",     ONE_OF("starting", "running", "stopping", "post_processing", "completed", "failed"),
	  DOC("Only recordings with this status.") },
};
const struct shape recording_list_query = { "RecordingListQuery", FIELDS(recording_list_fields) };

static const struct field stream_list_fields[] = {
	{ "limit",      LIMIT },
	{ "start",      START },
	{ "room_id",    OF_ROOM },
	{ "session_id", OF_SESSION },
	{ "status",     ONE_OF("starting", "running", "stopping", "post_processing", "completed", "failed"),
	  DOC("Only streams with this status.") },
};
const struct shape stream_list_query = { "StreamListQuery", FIELDS(stream_list_fields) };

static const struct field recording_asset_list_fields[] = {
	{ "limit",      LIMIT },
	{ "start",      START },
	{ "room_id",    OF_ROOM },
	{ "session_id", OF_SESSION },
	{ "status",     ONE_OF("completed", "missing"), DOC("Only files with this status.") },
	{ "type",       ONE_OF("room-composite", "chat"), DOC("Only files of this type.") },
	{ "template_id", TEXT(any_text), EXAMPLE("6925c84100000000000000a1"),
	  DOC("Only files of recordings whose room had this template.") },
	{ "after",      TEXT(any_text), FLAGS(FIELD_OFFSET), EXAMPLE("2026-11-23"),
	  DOC("Only files made then or later: an RFC 3339 time or a date (midnight UTC).") },
	{ "before",     TEXT(any_text), FLAGS(FIELD_OFFSET), EXAMPLE("2026-11-24T09:00:00Z"),
	  DOC("Only files made then or earlier: an RFC 3339 time or a date (midnight UTC).") },
};
static const struct rule recording_asset_list_rules[] = {
	{ "times", "after and before are RFC 3339 times or dates (midnight UTC).", rule_check_times },
	{ NULL, NULL, NULL },
};
const struct shape recording_asset_list_query = {
	"RecordingAssetListQuery", FIELDS(recording_asset_list_fields), .rules = recording_asset_list_rules,
};

static const struct field presigned_url_query_fields[] = {
	{ "presign_duration", INTEGER(LINK_SECONDS_LEAST, LINK_SECONDS_MOST), UNIT("s"),
	  DOC("How long the link is valid. Default: presignDuration of the destination, else three days.") },
	{ "inline",           ONE_OF("1", "true"), DOC("Browsers show the file instead of saving it.") },
};
const struct shape presigned_url_query = { "PresignedUrlQuery", FIELDS(presigned_url_query_fields) };

static const struct field presigned_url_fields[] = {
	{ "id",     TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Identifier of the file.") },
	{ "path",   TEXT(some_text), FLAGS(FIELD_REQUIRED),
	  EXAMPLE("file:///6925c84100000000000000a1/6925c84100000000000000b1/6925c84100000000000000d1/recording.mp4"),
	  DOC("Where the file is.") },
	{ "url",    TEXT(some_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uri"), EXAMPLE("https://example.org"),
	  DOC("A link to the file, which needs no token.") },
	{ "expiry", INTEGER(LINK_SECONDS_LEAST, LINK_SECONDS_MOST), FLAGS(FIELD_REQUIRED), UNIT("s"), EXAMPLE(3600),
	  DOC("How many seconds the link is valid.") },
};
const struct shape presigned_url_shape = {
	"PresignedUrl", FIELDS(presigned_url_fields), .doc = "A link to a file.",
};

static const struct field recording_file_query_fields[] = {
	{ "expires",   TEXT(any_text), EXAMPLE("1796040000"), DOC("Until when the link is valid, in seconds since 1970.") },
	{ "signature", TEXT(any_text), DOC("What makes the link valid.") },
	{ "inline",    TEXT(any_text), EXAMPLE("1"), DOC("1 if browsers show the file.") },
};
const struct shape recording_file_query = { "RecordingFileQuery", FIELDS(recording_file_query_fields) };

#define EXAMPLE_PATH \
	EXAMPLE("6925c84100000000000000a1/6925c84100000000000000b1/6925c84100000000000000d1/recording.mp4")
static const struct field finished_file_fields[] = {
	{ "path", TEXT(some_text), FLAGS(FIELD_REQUIRED), EXAMPLE_PATH, DOC("Path of the file in the folder of recordings.") },
};
const struct shape finished_file_shape = {
	"FinishedFile", FIELDS(finished_file_fields), .doc = "A finished file in the folder of recordings.",
};
static const struct field orphan_fields[] = {
	{ "path",       TEXT(some_text), FLAGS(FIELD_REQUIRED), EXAMPLE_PATH, DOC("Path of the file in the folder of recordings.") },
	{ "size",       INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Its size in bytes.") },
	{ "changed_at", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When it was last written.") },
};
const struct shape orphan_shape = {
	"OrphanedFile", FIELDS(orphan_fields), .doc = "A finished file that no record knows.",
};

/* clang-format on */

static void check_picture(struct rule_context *context, const json_t *object)
{
	const json_int_t width = json_integer_value(json_object_get(object, "width"));
	const json_int_t height = json_integer_value(json_object_get(object, "height"));

	/* A side that is missing has a fault of its own. */
	if (width == 0 || height == 0)
		return;
	if (width >= height && height > PICTURE_HEIGHT_MOST)
		schema_fault(context, "/height", "must be from %d to %d, got %" JSON_INTEGER_FORMAT,
			     PICTURE_HEIGHT_LEAST, PICTURE_HEIGHT_MOST, height);
	if (width < height && width > UPRIGHT_WIDTH_MOST)
		schema_fault(
			context, "/width",
			"must be from %d to %d for an upright picture, got %" JSON_INTEGER_FORMAT,
			UPRIGHT_LEAST, UPRIGHT_WIDTH_MOST, width);
	if (width < height && height < UPRIGHT_LEAST)
		schema_fault(
			context, "/height",
			"must be from %d to %d for an upright picture, got %" JSON_INTEGER_FORMAT,
			UPRIGHT_LEAST, UPRIGHT_HEIGHT_MOST, height);
}

/* ---- addresses ---- */

static bool is_of_host(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '.' || byte == '-' || byte == '_';
}

/* An IPv6 address stands in brackets. */
static bool read_host(struct slice text, struct slice *host)
{
	const bool is_six = text.size > 2 && text.data[0] == '[' && text.data[text.size - 1] == ']';

	*host = is_six ? (struct slice){ text.data + 1, text.size - 2 } : text;
	for (size_t i = 0; i < host->size; i++) {
		if (!is_of_host(host->data[i]) && !(is_six && host->data[i] == ':'))
			return false;
	}
	return host->size > 0;
}

bool stream_address_parse(struct slice text, struct stream_address *address)
{
	const struct slice authority = text_url_authority(text);
	const char *const end = text.data + text.size;
	const char *at, *secret;
	struct slice host;
	unsigned port;

	if (text.size > STREAM_ADDRESS_SIZE_MOST || authority.data == NULL ||
	    !(text_begins_ignoring_case(text, SLICE("rtmp://")) ||
	      text_begins_ignoring_case(text, SLICE("rtmps://"))) ||
	    !text_url_split_port(authority, &host, &port) || !read_host(host, &address->host) ||
	    text_has_controls(text))
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (strchr(" \"'\\", text.data[i]) != NULL)
			return false;
	}
	/* Without a path, the query alone is secret. */
	secret = at = authority.data + authority.size;
	for (; at < end && *at != '?' && *at != '#'; at++) {
		if (*at == '/')
			secret = at + 1;
	}
	address->secret = (struct slice){ secret, (size_t)(end - secret) };
	return true;
}

static void check_addresses(struct rule_context *context, const json_t *object)
{
	const json_t *list = json_object_get(object, "rtmp_urls");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		struct stream_address address;

		/* A faulty item was reported already. */
		if (json_is_string(item) && !stream_address_parse(text_of_json(item), &address))
			schema_fault(context, arena_text(rule_arena(context), "/rtmp_urls/%zu", i),
				     "%s", STREAM_ADDRESS_SENTENCE);
	}
}
