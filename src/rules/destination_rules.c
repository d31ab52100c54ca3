/* See rules/destination_rules.h. Responses contain only the fields that were sent, so all rows
 * except one have no default.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/destination_rules.h"

#include "base/json_text.h"

/* clang-format off */

/* Sizes, durations, offsets, frame rates. */
#define AMOUNT() INTEGER(0, UNLIMITED)
#define STARTS_BY_ITSELF \
	{ "autoStart",       BOOLEAN(), DOC("Starts with the session.") }, \
	{ "autoStopTimeout", AMOUNT(), UNIT("s"), DOC("Seconds after the last person has left until it stops.") }
#define DESTINATION_NAME TEXT(destination_name_text), FLAGS(FIELD_KEPT), \
	DOC("Equals the key; filled in if it is not sent.")

/* ---- browser recordings ---- */

static const struct field browser_thumbnails_fields[] = {
	{ "width",  AMOUNT(), UNIT("px"), DOC("Pixels.") },
	{ "height", AMOUNT(), UNIT("px"), DOC("Pixels.") },
};
static const struct shape browser_thumbnails_shape = {
	"BrowserThumbnails", FIELDS(browser_thumbnails_fields), .doc = "The size of thumbnails.",
};

static const struct field browser_recording_fields[] = {
	{ "name",            DESTINATION_NAME },
	{ "width",           AMOUNT(), UNIT("px"), DOC("Pixels of the recorded screen.") },
	{ "height",          AMOUNT(), UNIT("px"), DOC("Pixels of the recorded screen.") },
	{ "maxDuration",     AMOUNT(), UNIT("s"), DOC("Maximum recording duration in seconds.") },
	{ "thumbnails",      OBJECT(browser_thumbnails_shape), DOC("The size of thumbnails.") },
	{ "presignDuration", AMOUNT(), UNIT("s"), DOC("Validity of pre-signed URLs in seconds.") },
	{ "role",            TEXT(any_text), FLAGS(FIELD_WRITE_ONLY),
	  DOC("Name of a role, which need not exist.") },
	STARTS_BY_ITSELF,
};
static const struct shape browser_recording_shape = {
	"BrowserRecording", FIELDS(browser_recording_fields), .key_member = "name",
	.doc = "A browser recording destination.",
};
static const struct field browser_recording_item = {
	.name = NULL, OBJECT(browser_recording_shape),
};

/* ---- RTMP ---- */

/* RTMP URLs contain secret stream keys. */
static const struct field rtmp_url_item = {
	.name = NULL, TEXT(url_text), FLAGS(FIELD_SECRET), IN_FORMAT("uri"),
	EXAMPLE("rtmp://example.org/live/key"),
};

static const struct field rtmp_destination_fields[] = {
	{ "name",             DESTINATION_NAME },
	{ "width",            AMOUNT(), UNIT("px"), DOC("Pixels.") },
	{ "height",           AMOUNT(), UNIT("px"), DOC("Pixels.") },
	{ "maxDuration",      AMOUNT(), UNIT("s"), DOC("Maximum duration in seconds.") },
	{ "rtmpUrls",         LIST_OF(rtmp_url_item), MOST(3), DOC("RTMP URLs to broadcast to.") },
	{ "recordingEnabled", BOOLEAN(), DOC("Requests recording. Has no effect on streaming.") },
	STARTS_BY_ITSELF,
};
static const struct shape rtmp_destination_shape = {
	"RtmpDestination", FIELDS(rtmp_destination_fields), .key_member = "name",
	.doc = "An RTMP destination.",
};
static const struct field rtmp_destination_item = { .name = NULL, OBJECT(rtmp_destination_shape) };

/* ---- HLS ---- */

static schema_rule check_sides, check_order, check_subset;

#define SHORTER_SIDE_MOST 1080
#define LONGER_SIDE_LEAST 192
#define SIDE() INTEGER_STEP(144, 1920, 2)

static const struct rule hls_layer_rules[] = {
	{ "layerSides",
	  "If both sides are given, the shorter is at most 1080 and the longer at least 192.",
	  check_sides },
	{ NULL, NULL, NULL },
};
static const struct field hls_layer_fields[] = {
	{ "width",        SIDE(), UNIT("px"), DOC("Pixels.") },
	{ "height",       SIDE(), UNIT("px"), DOC("Pixels.") },
	{ "videoBitrate", INTEGER(1, UNLIMITED), UNIT("kbps"), DOC("Bitrate in kbps.") },
	{ "audioBitrate", INTEGER(1, UNLIMITED), UNIT("kbps"), DOC("Bitrate in kbps.") },
};
static const struct shape hls_layer_shape = {
	"HlsLayer", FIELDS(hls_layer_fields), .rules = hls_layer_rules,
	.doc = "A layer. The encoder chooses the values that are not given.",
};
static const struct field hls_layer_item = { .name = NULL, OBJECT(hls_layer_shape) };

/* The 100ms API sets no limit; this one bounds the work of comparing layers. */
#define HLS_LAYERS_MOST 100
#define HLS_LAYERS LIST_OF(hls_layer_item), MOST(HLS_LAYERS_MOST)

static const struct field hls_thumbnails_offset_item = { .name = NULL, AMOUNT() };

static const struct field hls_thumbnails_fields[] = {
	{ "enabled", BOOLEAN(), DOC("Whether thumbnails are created.") },
	{ "width",   AMOUNT(), UNIT("px"), DOC("Pixels.") },
	{ "height",  AMOUNT(), UNIT("px"), DOC("Pixels.") },
	{ "offsets", LIST_OF(hls_thumbnails_offset_item), DOC("Times of thumbnails.") },
	{ "fps",     AMOUNT(), UNIT("fps"), DOC("Frames per second.") },
};
static const struct shape hls_thumbnails_shape = {
	"HlsThumbnails", FIELDS(hls_thumbnails_fields), .doc = "Thumbnails of a recording.",
};

#define LAYER_ORDER \
	{ "layerOrder", \
	  "Neither width x height nor videoBitrate of a layer exceeds that of the nearest earlier " \
	  "layer that has it.", \
	  check_order }

static const struct rule hls_recording_rules[] = { LAYER_ORDER, { NULL, NULL, NULL } };

static const struct field hls_recording_fields[] = {
	{ "hlsVod",             BOOLEAN(), DOC("Enables video on demand.") },
	{ "singleFilePerLayer", BOOLEAN(), DOC("One mp4 file per HLS layer.") },
	{ "layers",             HLS_LAYERS, DOC("Default: all layers of the destination.") },
	{ "thumbnails",         OBJECT(hls_thumbnails_shape), DOC("Thumbnails of the recording.") },
	{ "presignDuration",    AMOUNT(), UNIT("s"), DOC("Validity of pre-signed URLs in seconds.") },
	{ "enableZipUpload",    BOOLEAN(), DOC("Uploads the recording as a ZIP.") },
};
static const struct shape hls_recording_shape = {
	"HlsRecording", FIELDS(hls_recording_fields), .rules = hls_recording_rules,
	.doc = "The recording of an HLS stream.",
};

static const struct rule hls_destination_rules[] = {
	LAYER_ORDER,
	{ "layerSubset",
	  "Each of recording.layers matches one of layers in every field that both have. If layers "
	  "is not given, any list is accepted.",
	  check_subset },
	{ NULL, NULL, NULL },
};
static const struct field hls_destination_fields[] = {
	{ "name",                    DESTINATION_NAME },
	{ "maxDuration",             AMOUNT(), UNIT("s"), DOC("Maximum duration in seconds.") },
	{ "layers",                  HLS_LAYERS, DOC("Layers in descending order.") },
	{ "playlistType",            ONE_OF("event", "live"), DOC("Whether the playlist keeps all segments (event) or the last ones (live).") },
	{ "numPlaylistSegments",     INTEGER(3, 150), USUALLY_MOST(12), FLAGS(FIELD_ZERO_ABSENT),
	  DEFAULT_WHEN("playlistType", "live", 5),
	  DOC("Used, and filled in, only if playlistType is live. More than 12 only in an import, "
	      "or if that is the stored value.") },
	{ "videoFrameRate",          AMOUNT(), UNIT("fps"), DOC("Frames per second.") },
	{ "enableMetadataInsertion", BOOLEAN(), DOC("Allows metadata in the stream.") },
	{ "enableStaticUrl",         BOOLEAN(), DOC("Keeps the URL of the stream the same.") },
	{ "recording",               OBJECT(hls_recording_shape), DOC("How the stream is recorded.") },
	STARTS_BY_ITSELF,
};
static const struct shape hls_destination_shape = {
	"HlsDestination", FIELDS(hls_destination_fields), .rules = hls_destination_rules,
	.key_member = "name", .doc = "An HLS destination.",
};
static const struct field hls_destination_item = { .name = NULL, OBJECT(hls_destination_shape) };

/* ---- all three ---- */

/* A template nests its destinations two levels deep, and can be sent as one body. */
#define TRANSCRIPTIONS_LEVELS (JSON_TEXT_DEPTH - 2)

static const struct field destinations_fields[] = {
	{ "browserRecordings", MAP_OF(destination_name_text, browser_recording_item),
	  DOC("Browser recordings by name.") },
	{ "rtmpDestinations",  MAP_OF(destination_name_text, rtmp_destination_item),
	  DOC("RTMP destinations by name.") },
	{ "hlsDestinations",   MAP_OF(destination_name_text, hls_destination_item),
	  DOC("HLS destinations by name.") },
	{ "transcriptions",    KEPT_OBJECT(), DEEPEST(TRANSCRIPTIONS_LEVELS), DOC("Stored and returned unchanged.") },
};
const struct shape destinations_shape = {
	"Destinations", FIELDS(destinations_fields), .doc = "The destinations of a template.",
};

/* ---- recordings ---- */

static const struct field browser_composite_fields[] = {
	{ "enabled",         BOOLEAN(), DOC("Whether it is recorded.") },
	STARTS_BY_ITSELF,
	{ "width",           AMOUNT(), UNIT("px"), DOC("Pixels of the recorded screen.") },
	{ "height",          AMOUNT(), UNIT("px"), DOC("Pixels of the recorded screen.") },
};
static const struct shape browser_composite_shape = {
	"BrowserComposite", FIELDS(browser_composite_fields), .doc = "A recording of the screen.",
};

static const struct field switch_fields[] = {
	{ "enabled", BOOLEAN(), DOC("Whether it is recorded.") },
};
static const struct shape switch_shape = {
	"RecordingSwitch", FIELDS(switch_fields), .doc = "A kind of recording with no other field.",
};

static const struct field composite_recording_fields[] = {
	{ "browserComposite", OBJECT(browser_composite_shape), DOC("Recording by a browser.") },
	{ "customComposite",  OBJECT(switch_shape), DOC("Recording without a browser.") },
};
static const struct shape composite_recording_shape = {
	"CompositeRecording", FIELDS(composite_recording_fields),
	.doc = "One recording of the whole room.",
};

static const struct field stream_recording_fields[] = {
	{ "enabled", BOOLEAN(), DOC("Whether it is recorded.") },
	{ "width",   AMOUNT(), UNIT("px"), DOC("Pixels.") },
	{ "height",  AMOUNT(), UNIT("px"), DOC("Pixels.") },
};
static const struct shape stream_recording_shape = {
	"StreamRecording", FIELDS(stream_recording_fields), .doc = "A recording of each person.",
};

static const struct field recording_config_fields[] = {
	{ "name",               TEXT(destination_name_text), FLAGS(FIELD_REQUIRED),
	  EXAMPLE("default"), DOC("Identifies the configuration.") },
	{ "role",               TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("host"),
	  DOC("Name of a role of the template.") },
	{ "maxDuration",        AMOUNT(), UNIT("s"), DOC("Maximum recording duration in seconds.") },
	{ "presignDuration",    AMOUNT(), UNIT("s"), DOC("Validity of pre-signed URLs in seconds.") },
	{ "thumbnails",         OBJECT(hls_thumbnails_shape), DOC("Thumbnails of the recording.") },
	{ "compositeRecording", OBJECT(composite_recording_shape),
	  DOC("One recording of the whole room.") },
	{ "trackRecording",     OBJECT(switch_shape), DOC("A recording of each track.") },
	{ "streamRecording",    OBJECT(stream_recording_shape), DOC("A recording of each person.") },
};
const struct shape recording_config_shape = {
	"RecordingConfig", FIELDS(recording_config_fields),
	.doc = "How rooms are recorded; of the kinds, only browserComposite has an effect.",
};
static const struct field recording_config_item = { .name = NULL, OBJECT(recording_config_shape) };

static const struct field recordings_fields[] = {
	{ "recordings", LIST_OF(recording_config_item), MOST(1), FLAGS(FIELD_BARE),
	  DOC("The configuration of recordings, if there is one.") },
};
const struct shape recordings_shape = { "Recordings", FIELDS(recordings_fields) };

/* clang-format on */

/* ---- named rules ---- */

static void check_sides(struct rule_context *context, const json_t *object)
{
	json_int_t width = json_integer_value(json_object_get(object, "width"));
	json_int_t height = json_integer_value(json_object_get(object, "height"));
	json_int_t shorter = width < height ? width : height;
	json_int_t longer = width < height ? height : width;

	if (width == 0 || height == 0)
		return;
	if (shorter > SHORTER_SIDE_MOST)
		schema_fault(context, width < height ? "/width" : "/height",
			     "must be at most %d for the shorter side, got %" JSON_INTEGER_FORMAT,
			     SHORTER_SIDE_MOST, shorter);
	if (longer < LONGER_SIDE_LEAST)
		schema_fault(context, width < height ? "/height" : "/width",
			     "must be at least %d for the longer side, got %" JSON_INTEGER_FORMAT,
			     LONGER_SIDE_LEAST, longer);
}

/* Reports a value that exceeds *last, the value of the nearest earlier layer that has one (0 if
 * none has). */
static void check_descends(struct rule_context *context, size_t index, const char *name,
			   const char *what, json_int_t value, json_int_t *last)
{
	if (value == 0)
		return;
	if (*last != 0 && value > *last)
		schema_fault(context,
			     arena_text(rule_arena(context), "/layers/%zu/%s", index, name),
			     "%s must not exceed the %" JSON_INTEGER_FORMAT
			     " of an earlier layer, got %" JSON_INTEGER_FORMAT,
			     what, *last, value);
	*last = value;
}

static void check_order(struct rule_context *context, const json_t *object)
{
	const json_t *layers = json_object_get(object, "layers");
	json_int_t last_resolution = 0, last_bitrate = 0;

	for (size_t i = 0; i < json_array_size(layers); i++) {
		const json_t *layer = json_array_get(layers, i);
		/* width x height, or 0 if the layer lacks one of them. */
		const json_int_t resolution = json_integer_value(json_object_get(layer, "width")) *
					      json_integer_value(json_object_get(layer, "height"));

		check_descends(context, i, "width", "width x height", resolution, &last_resolution);
		check_descends(context, i, "videoBitrate", "videoBitrate",
			       json_integer_value(json_object_get(layer, "videoBitrate")),
			       &last_bitrate);
	}
}

/* The fields of a layer; 0 for a field that is not given. A faulty layer (null) was reported
 * already; it has no fields, so it matches any other layer. */
struct layer {
	json_int_t values[sizeof hls_layer_fields / sizeof hls_layer_fields[0]];
};

static struct layer layer_of(const json_t *object)
{
	struct layer layer;

	for (size_t i = 0; i < hls_layer_shape.field_count; i++)
		layer.values[i] =
			json_integer_value(json_object_get(object, hls_layer_fields[i].name));
	return layer;
}

static bool layers_agree(const struct layer *a, const struct layer *b)
{
	for (size_t i = 0; i < hls_layer_shape.field_count; i++) {
		if (a->values[i] != 0 && b->values[i] != 0 && a->values[i] != b->values[i])
			return false;
	}
	return true;
}

static void check_subset(struct rule_context *context, const json_t *object)
{
	const json_t *layers = json_object_get(object, "layers");
	const json_t *recorded = json_object_get(json_object_get(object, "recording"), "layers");
	const size_t count = json_array_size(layers);
	struct layer destination[HLS_LAYERS_MOST];

	/* Every layer is compared with every other one. A list that is too long was reported
	 * already. */
	if (count == 0 || count > HLS_LAYERS_MOST || json_array_size(recorded) > HLS_LAYERS_MOST)
		return;
	for (size_t i = 0; i < count; i++)
		destination[i] = layer_of(json_array_get(layers, i));
	for (size_t i = 0; i < json_array_size(recorded); i++) {
		const struct layer layer = layer_of(json_array_get(recorded, i));
		size_t match = 0;

		while (match < count && !layers_agree(&layer, &destination[match]))
			match++;
		if (match == count)
			schema_fault(context,
				     arena_text(rule_arena(context), "/recording/layers/%zu", i),
				     "must match one of the layers of the destination");
	}
}
