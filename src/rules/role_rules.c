/* See rules/role_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/role_rules.h"

#include <string.h>

/* clang-format off */

/* ---- publishParams ---- */

static const struct field publish_audio_fields[] = {
	{ "bitRate", INTEGER(16, 128), DEFAULT(32), UNIT("kbps"), DOC("Bitrate in kbps.") },
	{ "codec",   ONE_OF("opus"), DEFAULT("opus"), DOC("Audio codec.") },
};
static const struct shape publish_audio_shape = {
	"PublishAudio", FIELDS(publish_audio_fields), .doc = "Audio publish parameters.",
};

static const struct field publish_video_fields[] = {
	{ "bitRate",   INTEGER(30, 2000), DEFAULT(256), UNIT("kbps"), DOC("Bitrate in kbps.") },
	{ "codec",     ONE_OF("vp8"), DEFAULT("vp8"), DOC("Video codec.") },
	{ "frameRate", INTEGER(1, 30), DEFAULT(25), UNIT("fps"), DOC("Frames per second.") },
	{ "height",    INTEGER(50, 1080), DEFAULT(180), UNIT("px"), DOC("Pixels.") },
	{ "width",     INTEGER(50, 1920), DEFAULT(320), UNIT("px"), DOC("Pixels.") },
};
static const struct shape publish_video_shape = {
	"PublishVideo", FIELDS(publish_video_fields), .doc = "Video publish parameters.",
};

static const struct field publish_screen_fields[] = {
	{ "bitRate",   INTEGER(500, UNLIMITED), DEFAULT(1024), UNIT("kbps"), DOC("Bitrate in kbps.") },
	{ "codec",     ONE_OF("vp8"), DEFAULT("vp8"), DOC("Video codec.") },
	{ "frameRate", INTEGER(1, 30), DEFAULT(10), UNIT("fps"), DOC("Frames per second.") },
	{ "height",    INTEGER(270, 1080), DEFAULT(720), UNIT("px"), DOC("Pixels.") },
	{ "width",     INTEGER(480, 1920), DEFAULT(1280), UNIT("px"), DOC("Pixels.") },
};
static const struct shape publish_screen_shape = {
	"PublishScreen", FIELDS(publish_screen_fields), .doc = "Screen-share publish parameters.",
};

static const struct field simulcast_layer_fields[] = {
	{ "rid",                   ONE_OF("f", "h", "q"), FLAGS(FIELD_REQUIRED),
	  DOC("Full, half or quarter.") },
	{ "scaleResolutionDownBy", NUMBER(1.0, 12.0), FLAGS(FIELD_REQUIRED),
	  DOC("Divisor of width and height.") },
	{ "maxBitrate",            INTEGER(0, 2000), DEFAULT(0), UNIT("kbps"), DOC("Bitrate in kbps.") },
	{ "maxFramerate",          INTEGER(1, 30), FLAGS(FIELD_REQUIRED),
	  UNIT("fps"), DOC("Frames per second.") },
};
static const struct shape simulcast_layer_shape = {
	"SimulcastLayer", FIELDS(simulcast_layer_fields), .doc = "One layer of a simulcast.",
};
static const struct field simulcast_layer_item = { .name = NULL, OBJECT(simulcast_layer_shape) };

static schema_rule check_rids, check_scales;

static const struct rule simulcast_rules[] = {
	{ "simulcastOrder",
	  "The layers have the rids f, h and q in this order, each at most once, starting with f.",
	  check_rids },
	{ "simulcastScale",
	  "scaleResolutionDownBy is 1 in the first layer and increases with each further layer.",
	  check_scales },
	{ NULL, NULL, NULL },
};

static const struct field simulcast_layers_fields[] = {
	{ "layers", LIST_OF(simulcast_layer_item), MOST(3), DOC("Layers, the largest first.") },
};
static const struct shape simulcast_layers_shape = {
	"SimulcastLayers", FIELDS(simulcast_layers_fields), .rules = simulcast_rules,
	.doc = "The layers of a simulcast, the largest first.",
};

static const struct field simulcast_fields[] = {
	{ "video",  OBJECT(simulcast_layers_shape), DOC("Simulcast of the camera.") },
	{ "screen", OBJECT(simulcast_layers_shape), DOC("Simulcast of a shared screen.") },
};
static const struct shape simulcast_shape = {
	"Simulcast", FIELDS(simulcast_fields), .doc = "Simulcast, returned as it was sent.",
};

static const struct field allowed_item = {
	.name = NULL, ONE_OF("audio", "video", "screen", "simulcast"), COMPONENT("PublishedMedia"),
	DOC("A kind of media that can be published."),
};

static const struct field publish_params_fields[] = {
	{ "allowed",   LIST_OF(allowed_item), FLAGS(FIELD_UNIQUE),
	  DEFAULT(["audio","video","screen"]),
	  DOC("What the role may publish. An empty list means nothing.") },
	{ "audio",     OBJECT(publish_audio_shape), DEFAULT({}), DOC("Audio publish parameters.") },
	{ "video",     OBJECT(publish_video_shape), DEFAULT({}), DOC("Video publish parameters.") },
	{ "screen",    OBJECT(publish_screen_shape), DEFAULT({}), DOC("Screen-share publish parameters.") },
	{ "simulcast", OBJECT(simulcast_shape), DOC("Several layers of one stream.") },
};
const struct shape publish_params_shape = {
	"PublishParams", FIELDS(publish_params_fields), .doc = "What a role publishes.",
};

/* ---- subscribeParams ---- */

static const struct field subscribe_degradation_fields[] = {
	{ "packetLossThreshold",       INTEGER(1, 100), DEFAULT(50), DOC("Lost packets, in percent.") },
	{ "degradeGracePeriodSeconds", INTEGER(1, 10), DEFAULT(1), UNIT("s"), DOC("Time until streams are degraded.") },
	{ "recoverGracePeriodSeconds", INTEGER(1, 10), DEFAULT(4), UNIT("s"), DOC("Time until streams recover.") },
};
static const struct shape subscribe_degradation_shape = {
	"SubscribeDegradation", FIELDS(subscribe_degradation_fields),
	.doc = "Settings for poor connections: what happens if packets are lost.",
};

static const struct field subscribed_role_item = { .name = NULL, TEXT(any_text) };

static const struct field subscribe_params_fields[] = {
	{ "subscribeToRoles",     LIST_OF(subscribed_role_item),
	  FLAGS(FIELD_UNIQUE | FIELD_HIDDEN_DEFAULT),
	  DOC("Roles that can be subscribed to; they need not exist. Default: all roles that the "
	      "template has after the request, in their order.") },
	{ "maxSubsBitRate",       INTEGER(0, UNLIMITED), DEFAULT(3200),
	  UNIT("kbps"), DOC("Maximum subscribable bitrate in kbps.") },
	{ "subscribeDegradation", OBJECT(subscribe_degradation_shape), DOC("Settings for poor connections.") },
};
const struct shape subscribe_params_shape = {
	"SubscribeParams", FIELDS(subscribe_params_fields), .doc = "What a role subscribes to.",
};

/* ---- permissions ---- */

static const struct field permissions_fields[] = {
	{ "endRoom",          BOOLEAN(), DEFAULT(false), DOC("End the room for all.") },
	{ "removeOthers",     BOOLEAN(), DEFAULT(false), DOC("Remove others from the room.") },
	{ "mute",             BOOLEAN(), DEFAULT(false), DOC("Request others to mute.") },
	{ "unmute",           BOOLEAN(), DEFAULT(false), DOC("Request others to unmute.") },
	{ "changeRole",       BOOLEAN(), DEFAULT(false),
	  DOC("Request others to change their role.") },
	{ "sendRoomState",    BOOLEAN(), DEFAULT(false),
	  DOC("See who is inside, before the join and from inside.") },
	{ "browserRecording", BOOLEAN(), DEFAULT(true), DOC("Start and stop browser recording.") },
	{ "rtmpStreaming",    BOOLEAN(), DEFAULT(true), DOC("Start and stop RTMP streaming.") },
	{ "hlsStreaming",     BOOLEAN(), DEFAULT(true), DOC("Start and stop HLS streaming.") },
	{ "pollRead",         BOOLEAN(), DOC("Read polls.") },
	{ "pollWrite",        BOOLEAN(), DOC("Create polls.") },
	{ "joinOutsideWindow", BOOLEAN(),
	  DOC("Join before the room's opens_at and after its closes_at.") },
	{ "chat",             BOOLEAN(),
	  DOC("Send messages, and all else that clients send each other, on LiveKit. Default: true.") },
	{ "moderator",        BOOLEAN(),
	  DOC("Whether the role is a moderator on the media server. Default: true if the role has endRoom, "
	      "removeOthers, mute and changeRole.") },
};
const struct shape permissions_shape = {
	"Permissions", FIELDS(permissions_fields), .doc = "What a role may do.",
};

/* ---- the role ---- */

static const struct field role_fields[] = {
	{ "name",            TEXT(role_name_text), FLAGS(FIELD_KEPT | FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT),
	  DOC("Alias of the role.") },
	{ "title",           TEXT(some_line_64_text), FLAGS(FIELD_CLEARABLE),
	  EXAMPLE("Teacher"), DOC("What people see in place of the name.") },
	{ "publishParams",   OBJECT(publish_params_shape), DEFAULT({}), DOC("What the role publishes.") },
	{ "subscribeParams", OBJECT(subscribe_params_shape), DEFAULT({}), DOC("What the role subscribes to.") },
	{ "permissions",     OBJECT(permissions_shape), DEFAULT({}), DOC("What the role may do.") },
	{ "priority",        INTEGER(1, 5), DEFAULT(1),
	  DOC("Priority when quality is reduced: 1 is the highest, 5 the lowest.") },
	{ "maxPeerCount",    INTEGER(-1, UNLIMITED), DEFAULT(0),
	  DOC("Maximum number of people with this role. 0 means no limit, -1 nobody.") },
	{ "admission",       ADMISSION,
	  DOC("With ask, people wait until somebody lets them in. Default: open.") },
};
const struct shape role_shape = {
	"Role", FIELDS(role_fields), .key_member = "name", .doc = "A role of a template.",
};

/* clang-format on */

/* ---- named rules ---- */

static const char rid_order[] = "fhq";

static const char *layer_pointer(struct rule_context *context, size_t index, const char *name)
{
	return arena_text(rule_arena(context), "/layers/%zu/%s", index, name);
}

static void check_rids(struct rule_context *context, const json_t *object)
{
	const json_t *layers = json_object_get(object, "layers");
	int last = -1;

	for (size_t i = 0; i < json_array_size(layers); i++) {
		const char *rid =
			json_string_value(json_object_get(json_array_get(layers, i), "rid"));
		int place;

		if (rid == NULL)
			continue;
		place = (int)(strchr(rid_order, *rid) - rid_order);
		if (i == 0 && place != 0)
			schema_fault(context, layer_pointer(context, i, "rid"),
				     "must be f in the first layer, got \"%c\"", rid_order[place]);
		else if (place <= last)
			schema_fault(context, layer_pointer(context, i, "rid"),
				     "must come after \"%c\" in the order f, h, q, got \"%c\"",
				     rid_order[last], rid_order[place]);
		last = place;
	}
}

static void check_scales(struct rule_context *context, const json_t *object)
{
	const char *name = "scaleResolutionDownBy";
	const json_t *layers = json_object_get(object, "layers");
	double last = 0.0;

	for (size_t i = 0; i < json_array_size(layers); i++) {
		const json_t *value = json_object_get(json_array_get(layers, i), name);
		double scale = json_number_value(value);

		if (value == NULL)
			continue;
		if (i == 0 && scale > 1.0)
			schema_fault(context, layer_pointer(context, i, name),
				     "must be 1 in the first layer, got %.15g", scale);
		else if (scale <= last)
			schema_fault(
				context, layer_pointer(context, i, name),
				"must be greater than %.15g, the value of the previous layer, got %.15g",
				last, scale);
		last = scale;
	}
}
