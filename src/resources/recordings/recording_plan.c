/* See resources/recordings/recording_plan.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recording_plan.h"

#include <string.h>

#include "base/text.h"
#include "rules/start_rules.h"

#define WIDTH_USUAL 1280
#define HEIGHT_USUAL 720
#define FPS 25
/* Segments in the playlist of a live stream. */
#define WINDOW_USUAL 6
#define WINDOW_LEAST 3
#define WINDOW_MOST 100
#define AUDIO_KBPS 96
/* The bit rate of a picture of the usual size, and its bounds for others. */
#define VIDEO_KBPS_USUAL 1500
#define VIDEO_KBPS_LEAST 400
#define VIDEO_KBPS_MOST 4500

/* Seconds. */
#define DURATION_USUAL (4 * 60 * 60)
#define DURATION_MOST (12 * 60 * 60)
#define PATIENCE_USUAL 300
#define PATIENCE_MOST 3600

/* Sides beyond this are cut before the picture is fitted, so that products stay small. */
#define SIDE_MOST 100000

static void not_enforced_add(struct recording_plan *plan, const char *member)
{
	for (size_t i = 0; i < plan->not_enforced_count; i++) {
		if (strcmp(plan->not_enforced[i], member) == 0)
			return;
	}
	if (plan->not_enforced_count < RECORDING_NOT_ENFORCED_MOST)
		plan->not_enforced[plan->not_enforced_count++] = member;
}

/* ---- the destination ---- */

/* A destination has its members in one object, the configuration of recordings and the destination
 * of a live stream in two. */
struct destination {
	struct slice name; /* data NULL if there is none */
	const json_t *outer, *inner;
};

/* A member of the destination itself, or else of the object in it. */
static const json_t *destination_member(const struct destination *of, const char *name)
{
	const json_t *member = json_object_get(of->outer, name);

	return member != NULL ? member : json_object_get(of->inner, name);
}

/* The configuration of recordings is a destination if it has a recording by a browser which is not
 * switched off. */
static bool config_is_destination(const json_t *config)
{
	const json_t *browser = json_object_get(json_object_get(config, "compositeRecording"),
						"browserComposite");

	return json_is_object(browser) && !json_is_false(json_object_get(browser, "enabled"));
}

static struct destination destination_of_config(const json_t *config)
{
	return (struct destination){
		.name = text_of_json(json_object_get(config, "name")),
		.outer = config,
		.inner = json_object_get(json_object_get(config, "compositeRecording"),
					 "browserComposite"),
	};
}

static const char *const destination_kinds[JOB_TYPES] = {
	[JOB_RECORDING] = "recordings",
	[JOB_LIVE] = "live streams (hlsDestinations)",
	[JOB_EXTERNAL] = "external streams (rtmpDestinations)",
};

static bool destination_find(const struct recording_sources *sources, struct slice name,
			     struct destination *found, struct fault *fault)
{
	json_t *map = sources->destinations, *value;
	const char *key;

	*found = (struct destination){ .name = { NULL, 0 } };
	if (config_is_destination(sources->config)) {
		*found = destination_of_config(sources->config);
		if (name.data == NULL || slice_equal(found->name, name))
			return true;
		*found = (struct destination){ .name = { NULL, 0 } };
	}
	if (name.data == NULL && json_object_size(map) > 1)
		return fault_member(fault, FAULT_INVALID_BODY, NULL, "/destination",
				    "is required, because the template has several");
	json_object_foreach(map, key, value) {
		if (name.data == NULL || slice_is(name, key)) {
			*found = (struct destination){
				slice_of(key),
				value,
				sources->type == JOB_LIVE ? json_object_get(value, "recording")
							  : NULL,
			};
			return true;
		}
	}
	return name.data == NULL ||
	       fault_member(fault, FAULT_INVALID_BODY, NULL, "/destination",
			    "must be a destination of the room's template for %s, got \"%.*s\"",
			    destination_kinds[sources->type], (int)text_cut(name, 64).size,
			    name.data);
}

bool recording_plan_role(const struct recording_sources *sources, struct slice destination,
			 struct slice *role)
{
	const struct destination config = destination_of_config(sources->config);
	struct destination found = { .outer = NULL };
	const char *key;
	json_t *value;

	if (config_is_destination(sources->config) &&
	    (slice_equal(config.name, destination) ||
	     (config.name.size == 0 && destination.size == 0)))
		found = config;
	json_object_foreach(sources->destinations, key, value) {
		if (found.outer == NULL && slice_is(destination, key))
			found = (struct destination){ slice_of(key), value, NULL };
	}
	*role = text_of_json(destination_member(&found, "role"));
	if (role->data == NULL)
		*role = SLICE("");
	return found.outer != NULL;
}

struct slice recording_plan_starting(const struct recording_sources *sources)
{
	struct slice first = { NULL, 0 };
	struct destination config;
	const char *key;
	json_t *value;

	if (config_is_destination(sources->config)) {
		config = destination_of_config(sources->config);
		if (json_is_true(destination_member(&config, "autoStart")))
			first = config.name;
	}
	json_object_foreach(sources->destinations, key, value) {
		if (json_is_true(json_object_get(value, "autoStart")) &&
		    (first.data == NULL || slice_compare(slice_of(key), first) < 0))
			first = slice_of(key);
	}
	return first;
}

/* ---- the picture ---- */

static int64_t between(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Fits a size into what can be recorded: it keeps its proportions as far as the bounds allow. */
static void picture_fit(int64_t *width, int64_t *height)
{
	const bool is_upright = *height > *width;
	const int64_t width_least = is_upright ? UPRIGHT_LEAST : PICTURE_WIDTH_LEAST;
	const int64_t width_most = is_upright ? UPRIGHT_WIDTH_MOST : PICTURE_WIDTH_MOST;
	const int64_t height_least = is_upright ? UPRIGHT_LEAST : PICTURE_HEIGHT_LEAST;
	const int64_t height_most = is_upright ? UPRIGHT_HEIGHT_MOST : PICTURE_HEIGHT_MOST;
	const int64_t w = between(*width, 1, SIDE_MOST), h = between(*height, 1, SIDE_MOST);

	*width = w;
	*height = h;
	if (*width > width_most) {
		*width = width_most;
		*height = h * width_most / w;
	}
	if (*height > height_most) {
		*height = height_most;
		*width = w * height_most / h;
	}
	if (*width < width_least) {
		*width = width_least;
		*height = h * width_least / w;
	}
	if (*height < height_least) {
		*height = height_least;
		*width = w * height_least / h;
	}
	*width = between(*width, width_least, width_most) & ~(int64_t)1;
	*height = between(*height, height_least, height_most) & ~(int64_t)1;
}

static void plan_picture(struct recording_plan *plan, const struct destination *destination,
			 const json_t *resolution)
{
	int64_t width = WIDTH_USUAL, height = HEIGHT_USUAL;
	int64_t sent_width = json_integer_value(json_object_get(resolution, "width"));
	int64_t sent_height = json_integer_value(json_object_get(resolution, "height"));

	if (sent_width > 0 && sent_height > 0) {
		/* The rules of the body have checked them. */
		width = sent_width & ~(int64_t)1;
		height = sent_height & ~(int64_t)1;
	} else {
		sent_width = json_integer_value(destination_member(destination, "width"));
		sent_height = json_integer_value(destination_member(destination, "height"));
		if (sent_width > 0 && sent_height > 0) {
			width = sent_width;
			height = sent_height;
			picture_fit(&width, &height);
		}
		if (sent_width > 0 && width != (sent_width & ~(int64_t)1))
			not_enforced_add(plan, "width");
		if (sent_height > 0 && height != (sent_height & ~(int64_t)1))
			not_enforced_add(plan, "height");
	}
	plan->width = (uint32_t)width;
	plan->height = (uint32_t)height;
	plan->fps = FPS;
	plan->video_kbps = (uint32_t)between(width * height * VIDEO_KBPS_USUAL /
						     ((int64_t)WIDTH_USUAL * HEIGHT_USUAL),
					     VIDEO_KBPS_LEAST, VIDEO_KBPS_MOST);
	plan->audio_kbps = AUDIO_KBPS;
}

/* ---- streams ---- */

/* A member of a body, or else a member of the destination. */
static bool plan_flag(const json_t *sent, const json_t *member)
{
	return sent != NULL ? json_is_true(sent) : json_is_true(member);
}

static void plan_live(struct recording_plan *plan, const struct destination *destination,
		      const json_t *body)
{
	const json_t *of = destination->outer, *sent = json_object_get(body, "recording");
	const json_t *recording = json_object_get(of, "recording");
	const json_t *layers = json_object_get(of, "layers"), *layer = json_array_get(layers, 0);
	const json_int_t window = json_integer_value(json_object_get(of, "numPlaylistSegments"));
	const json_int_t fps = json_integer_value(json_object_get(of, "videoFrameRate"));
	static const char *const unknown[] = { "enableMetadataInsertion", "enableStaticUrl" };

	plan->window = (uint32_t)between(window > 0 ? window : WINDOW_USUAL, WINDOW_LEAST,
					 WINDOW_MOST);
	if (window > WINDOW_MOST)
		not_enforced_add(plan, "numPlaylistSegments");
	plan->has_vod = plan_flag(json_object_get(sent, "hls_vod"),
				  json_object_get(recording, "hlsVod"));
	plan->has_single_file = plan_flag(json_object_get(sent, "single_file_per_layer"),
					  json_object_get(recording, "singleFilePerLayer"));
	/* There is one layer, whose bit rates follow from its size; and a file instead of a
	 * playlist of what was recorded. */
	if (json_array_size(layers) > 1 || json_object_get(layer, "videoBitrate") != NULL ||
	    json_object_get(layer, "audioBitrate") != NULL ||
	    json_array_size(json_object_get(recording, "layers")) > 0)
		not_enforced_add(plan, "layers");
	if (plan->has_vod)
		not_enforced_add(plan, "room-vod");
	if (slice_is(text_of_json(json_object_get(of, "playlistType")), "event"))
		not_enforced_add(plan, "playlistType");
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
		if (json_is_true(json_object_get(of, unknown[i])))
			not_enforced_add(plan, unknown[i]);
	}
	if (fps != 0 && fps != FPS)
		not_enforced_add(plan, "videoFrameRate");
	if (json_object_size(json_object_get(recording, "thumbnails")) > 0)
		not_enforced_add(plan, "thumbnails");
	if (json_is_true(json_object_get(recording, "enableZipUpload")))
		not_enforced_add(plan, "enableZipUpload");
}

static bool plan_external(struct recording_plan *plan, const struct destination *destination,
			  const json_t *body, struct fault *fault)
{
	const json_t *sent = json_object_get(body, "rtmp_urls");
	const json_t *of = json_object_get(destination->outer, "rtmpUrls");

	plan->are_addresses_sent = json_array_size(sent) > 0;
	plan->addresses = plan->are_addresses_sent ? sent : of;
	plan->has_recording = plan_flag(json_object_get(body, "recording"),
					json_object_get(destination->outer, "recordingEnabled"));
	if (json_array_size(plan->addresses) == 0)
		return fault_member(
			fault, FAULT_INVALID_BODY, NULL, "/rtmp_urls", "is required, because %s",
			destination->name.data != NULL ? "the destination has no address"
						       : "the template has no destination");
	for (size_t i = 0; !plan->are_addresses_sent && i < json_array_size(of); i++) {
		struct stream_address address;

		if (!stream_address_parse(text_of_json(json_array_get(of, i)), &address))
			return fault_member(fault, FAULT_INVALID_BODY, NULL, "/destination",
					    "has something in rtmpUrls that is no rtmp or rtmps "
					    "URL: number %zu",
					    i + 1);
	}
	return true;
}

/* ---- all ---- */

/* Returns a member of the destination in seconds, held to its bounds. */
static uint32_t plan_seconds(struct recording_plan *plan, const struct destination *destination,
			     const char *name, int64_t least, int64_t most, int64_t usual)
{
	const json_t *member = destination_member(destination, name);
	const int64_t sent = json_integer_value(member);

	if (!json_is_integer(member))
		return (uint32_t)usual;
	if (sent != between(sent, least, most))
		not_enforced_add(plan, name);
	return (uint32_t)between(sent, least, most);
}

/* Sets whom a recording for people with this role hears. */
static void plan_roles(struct recording_plan *plan, json_t *subscriptions, struct slice role)
{
	const char *name;
	json_t *subscribed;

	if (role.size == 0)
		return;
	json_object_foreach(subscriptions, name, subscribed) {
		if (slice_is(role, name)) {
			plan->roles = subscribed;
			return;
		}
	}
	/* The role of a destination need not exist. */
	not_enforced_add(plan, "role");
}

static bool is_switched_on(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(json_object_get(object, name), "enabled"));
}

bool recording_plan_make(struct arena *arena, const struct recording_sources *sources,
			 const json_t *body, struct recording_plan *plan, struct fault *fault)
{
	const json_t *transcription = json_object_get(body, "transcription");
	const struct slice name = text_of_json(json_object_get(body, "destination"));
	struct destination destination = { .name = { NULL, 0 } }, picture;

	*plan = (struct recording_plan){
		.audio_only = json_is_true(json_object_get(body, "audio_only")),
	};
	/* Whoever sends addresses needs no destination. */
	if ((name.data != NULL || json_array_size(json_object_get(body, "rtmp_urls")) == 0) &&
	    !destination_find(sources, name, &destination, fault))
		return false;
	plan->destination = destination.name.data == NULL ? SLICE("")
							  : arena_copy(arena, destination.name);
	plan->starts_by_itself = json_is_true(destination_member(&destination, "autoStart"));
	picture = destination;
	if (sources->type == JOB_LIVE) {
		plan_live(plan, &destination, body);
		picture.outer = json_array_get(json_object_get(destination.outer, "layers"), 0);
		picture.inner = NULL;
	} else if (sources->type == JOB_EXTERNAL &&
		   !plan_external(plan, &destination, body, fault)) {
		return false;
	}
	plan_picture(plan, &picture, json_object_get(body, "resolution"));
	/* 0 is what many clients send for a value that they do not set. */
	plan->duration_most = json_integer_value(destination_member(&destination, "maxDuration")) ==
					      0
				      ? DURATION_USUAL
				      : plan_seconds(plan, &destination, "maxDuration", 1,
						     DURATION_MOST, DURATION_USUAL);
	plan->patience = plan_seconds(plan, &destination, "autoStopTimeout", 0, PATIENCE_MOST,
				      PATIENCE_USUAL);
	plan->link_seconds = plan_seconds(plan, &destination, "presignDuration", LINK_SECONDS_LEAST,
					  LINK_SECONDS_MOST, LINK_SECONDS_USUAL);
	plan_roles(plan, sources->subscriptions,
		   text_of_json(destination_member(&destination, "role")));
	if (json_object_size(destination_member(&destination, "thumbnails")) > 0)
		not_enforced_add(plan, "thumbnails");
	if (is_switched_on(json_object_get(destination.outer, "compositeRecording"),
			   "customComposite"))
		not_enforced_add(plan, "customComposite");
	if (is_switched_on(destination.outer, "trackRecording"))
		not_enforced_add(plan, "trackRecording");
	if (is_switched_on(destination.outer, "streamRecording"))
		not_enforced_add(plan, "streamRecording");
	if (transcription != NULL && !json_is_false(json_object_get(transcription, "enabled")))
		not_enforced_add(plan, "transcription");
	return true;
}
