/* The tables of the interface: every range at and beyond both ends, every choice, every named rule
 * and every default, as anteroom-api(7) states them. One row per case; the numbers are repeated
 * here on purpose.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <inttypes.h>

#include "base/text.h"
#include "rules/destination_rules.h"
#include "rules/list_rules.h"
#include "rules/recording_rules.h"
#include "rules/role_rules.h"
#include "rules/room_code_rules.h"
#include "rules/room_rules.h"
#include "rules/template_rules.h"
#include "schema/describe.h"
#include "suite.h"

static struct arena *arena;

static const struct shape *const shapes[] = {
	&role_shape,	     &template_shape,	  &settings_shape,	&destinations_shape,
	&recordings_shape,   &upload_shape,	  &upload_info_shape,	&recording_info_shape,
	&room_shape,	     &room_code_shape,	  &code_switch_shape,	&code_enabled_shape,
	&join_shape,	     &token_answer_shape, &template_list_query, &room_list_query,
	&backend_list_query, &code_list_query,
};

static void set_up(void)
{
	for (size_t i = 0; i < ROWS(shapes); i++)
		schema_verify(shapes[i]);
	arena = arena_open();
}

static void tear_down(void)
{
	arena_close(arena);
}

static json_t *parse(const char *text)
{
	json_t *body;
	struct fault fault = FAULT_INITIAL;

	ck_assert_msg(schema_parse(arena, slice_of(text), &body, &fault), "%s: %s", text,
		      fault.detail);
	return body;
}

/* Returns the details of a fault, one per line; "" if there is no fault. */
static const char *faults_of(const struct shape *shape, enum schema_mode mode, const char *body)
{
	struct buffer buffer = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	size_t i;
	json_t *line;

	findings_open(&findings, arena);
	(void)schema_check(shape, parse(body), mode, true, &findings, &fault);
	json_array_foreach(fault.details, i, line) {
		buffer_append_text(&buffer, i == 0 ? "" : "\n");
		buffer_append_text(&buffer, json_string_value(line));
	}
	buffer_append_byte(&buffer, '\0');
	return buffer.data;
}

/* Returns the body with its @ replaced by `value`. */
static const char *with(const char *body, const char *value)
{
	struct buffer text = BUFFER_INITIAL(arena);

	for (; *body != '\0'; body++) {
		if (*body == '@')
			buffer_append_text(&text, value);
		else
			buffer_append_byte(&text, *body);
	}
	buffer_append_byte(&text, '\0');
	return text.data;
}

static const char *written(const struct shape *shape, const json_t *document)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	document_write(shape, document, (struct slice){ 0 }, false, &buffer);
	buffer_append_byte(&buffer, '\0');
	return buffer.data;
}

/* ---- tables ---- */

START_TEST(every_default_obeys_its_own_row)
{
	schema_verify(shapes[_i]);
}
END_TEST

/* ---- ranges ---- */

#define NO_MOST INT64_MAX

/* clang-format off */
static const struct {
	const struct shape *shape;
	const char *body, *pointer;
	int64_t least, most;
} range_cases[] = {
	{ &role_shape, "{\"priority\":@}", "/priority", 1, 5 },
	{ &role_shape, "{\"maxPeerCount\":@}", "/maxPeerCount", -1, NO_MOST },
	{ &role_shape, "{\"publishParams\":{\"audio\":{\"bitRate\":@}}}",
	  "/publishParams/audio/bitRate", 16, 128 },
	{ &role_shape, "{\"publishParams\":{\"video\":{\"bitRate\":@}}}",
	  "/publishParams/video/bitRate", 30, 2000 },
	{ &role_shape, "{\"publishParams\":{\"video\":{\"frameRate\":@}}}",
	  "/publishParams/video/frameRate", 1, 30 },
	{ &role_shape, "{\"publishParams\":{\"video\":{\"height\":@}}}",
	  "/publishParams/video/height", 50, 1080 },
	{ &role_shape, "{\"publishParams\":{\"video\":{\"width\":@}}}",
	  "/publishParams/video/width", 50, 1920 },
	{ &role_shape, "{\"publishParams\":{\"screen\":{\"bitRate\":@}}}",
	  "/publishParams/screen/bitRate", 500, NO_MOST },
	{ &role_shape, "{\"publishParams\":{\"screen\":{\"frameRate\":@}}}",
	  "/publishParams/screen/frameRate", 1, 30 },
	{ &role_shape, "{\"publishParams\":{\"screen\":{\"height\":@}}}",
	  "/publishParams/screen/height", 270, 1080 },
	{ &role_shape, "{\"publishParams\":{\"screen\":{\"width\":@}}}",
	  "/publishParams/screen/width", 480, 1920 },
	{ &role_shape,
	  "{\"publishParams\":{\"simulcast\":{\"video\":{\"layers\":[{\"rid\":\"f\","
	  "\"scaleResolutionDownBy\":1,\"maxFramerate\":10,\"maxBitrate\":@}]}}}}",
	  "/publishParams/simulcast/video/layers/0/maxBitrate", 0, 2000 },
	{ &role_shape,
	  "{\"publishParams\":{\"simulcast\":{\"screen\":{\"layers\":[{\"rid\":\"f\","
	  "\"scaleResolutionDownBy\":1,\"maxFramerate\":@}]}}}}",
	  "/publishParams/simulcast/screen/layers/0/maxFramerate", 1, 30 },
	{ &role_shape,
	  "{\"publishParams\":{\"simulcast\":{\"video\":{\"layers\":[{\"rid\":\"f\","
	  "\"scaleResolutionDownBy\":1,\"maxFramerate\":1},{\"rid\":\"h\",\"maxFramerate\":1,"
	  "\"scaleResolutionDownBy\":@}]}}}}",
	  "/publishParams/simulcast/video/layers/1/scaleResolutionDownBy", 2, 12 },
	{ &role_shape, "{\"subscribeParams\":{\"maxSubsBitRate\":@}}",
	  "/subscribeParams/maxSubsBitRate", 0, NO_MOST },
	{ &role_shape, "{\"subscribeParams\":{\"subscribeDegradation\":{\"packetLossThreshold\":@}}}",
	  "/subscribeParams/subscribeDegradation/packetLossThreshold", 1, 100 },
	{ &role_shape,
	  "{\"subscribeParams\":{\"subscribeDegradation\":{\"degradeGracePeriodSeconds\":@}}}",
	  "/subscribeParams/subscribeDegradation/degradeGracePeriodSeconds", 1, 10 },
	{ &role_shape,
	  "{\"subscribeParams\":{\"subscribeDegradation\":{\"recoverGracePeriodSeconds\":@}}}",
	  "/subscribeParams/subscribeDegradation/recoverGracePeriodSeconds", 1, 10 },
	{ &settings_shape, "{\"recordingRules\":{\"keepDays\":@}}", "/recordingRules/keepDays", 1, 3650 },
	{ &settings_shape, "{\"roomState\":{\"messageInterval\":@}}",
	  "/roomState/messageInterval", 5, 3600 },
	{ &destinations_shape, "{\"browserRecordings\":{\"a\":{\"width\":@}}}",
	  "/browserRecordings/a/width", 0, NO_MOST },
	{ &destinations_shape, "{\"browserRecordings\":{\"a\":{\"height\":@}}}",
	  "/browserRecordings/a/height", 0, NO_MOST },
	{ &destinations_shape, "{\"browserRecordings\":{\"a\":{\"maxDuration\":@}}}",
	  "/browserRecordings/a/maxDuration", 0, NO_MOST },
	{ &destinations_shape, "{\"browserRecordings\":{\"a\":{\"presignDuration\":@}}}",
	  "/browserRecordings/a/presignDuration", 0, NO_MOST },
	{ &destinations_shape, "{\"browserRecordings\":{\"a\":{\"thumbnails\":{\"width\":@}}}}",
	  "/browserRecordings/a/thumbnails/width", 0, NO_MOST },
	{ &destinations_shape, "{\"browserRecordings\":{\"a\":{\"thumbnails\":{\"height\":@}}}}",
	  "/browserRecordings/a/thumbnails/height", 0, NO_MOST },
	{ &destinations_shape, "{\"rtmpDestinations\":{\"a\":{\"width\":@}}}",
	  "/rtmpDestinations/a/width", 0, NO_MOST },
	{ &destinations_shape, "{\"rtmpDestinations\":{\"a\":{\"height\":@}}}",
	  "/rtmpDestinations/a/height", 0, NO_MOST },
	{ &destinations_shape, "{\"rtmpDestinations\":{\"a\":{\"maxDuration\":@}}}",
	  "/rtmpDestinations/a/maxDuration", 0, NO_MOST },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"maxDuration\":@}}}",
	  "/hlsDestinations/a/maxDuration", 0, NO_MOST },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"videoFrameRate\":@}}}",
	  "/hlsDestinations/a/videoFrameRate", 0, NO_MOST },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"numPlaylistSegments\":@}}}",
	  "/hlsDestinations/a/numPlaylistSegments", 3, 150 },
	{ &destinations_shape,
	  "{\"hlsDestinations\":{\"a\":{\"playlistType\":\"event\",\"numPlaylistSegments\":@}}}",
	  "/hlsDestinations/a/numPlaylistSegments", 3, 150 },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"layers\":[{\"width\":@}]}}}",
	  "/hlsDestinations/a/layers/0/width", 144, 1920 },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"layers\":[{\"height\":@}]}}}",
	  "/hlsDestinations/a/layers/0/height", 144, 1920 },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"layers\":[{\"videoBitrate\":@}]}}}",
	  "/hlsDestinations/a/layers/0/videoBitrate", 1, NO_MOST },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"layers\":[{\"audioBitrate\":@}]}}}",
	  "/hlsDestinations/a/layers/0/audioBitrate", 1, NO_MOST },
	{ &destinations_shape,
	  "{\"hlsDestinations\":{\"a\":{\"recording\":{\"layers\":[{\"width\":@}]}}}}",
	  "/hlsDestinations/a/recording/layers/0/width", 144, 1920 },
	{ &destinations_shape,
	  "{\"hlsDestinations\":{\"a\":{\"recording\":{\"presignDuration\":@}}}}",
	  "/hlsDestinations/a/recording/presignDuration", 0, NO_MOST },
	{ &destinations_shape,
	  "{\"hlsDestinations\":{\"a\":{\"recording\":{\"thumbnails\":{\"width\":@}}}}}",
	  "/hlsDestinations/a/recording/thumbnails/width", 0, NO_MOST },
	{ &destinations_shape,
	  "{\"hlsDestinations\":{\"a\":{\"recording\":{\"thumbnails\":{\"height\":@}}}}}",
	  "/hlsDestinations/a/recording/thumbnails/height", 0, NO_MOST },
	{ &destinations_shape,
	  "{\"hlsDestinations\":{\"a\":{\"recording\":{\"thumbnails\":{\"fps\":@}}}}}",
	  "/hlsDestinations/a/recording/thumbnails/fps", 0, NO_MOST },
	{ &destinations_shape,
	  "{\"hlsDestinations\":{\"a\":{\"recording\":{\"thumbnails\":{\"offsets\":[1,@]}}}}}",
	  "/hlsDestinations/a/recording/thumbnails/offsets/1", 0, NO_MOST },
	{ &recordings_shape, "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"maxDuration\":@}]}",
	  "/0/maxDuration", 0, NO_MOST },
	{ &recordings_shape, "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"presignDuration\":@}]}",
	  "/0/presignDuration", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"thumbnails\":{\"width\":@}}]}",
	  "/0/thumbnails/width", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"thumbnails\":{\"height\":@}}]}",
	  "/0/thumbnails/height", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"thumbnails\":{\"fps\":@}}]}",
	  "/0/thumbnails/fps", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"streamRecording\":{\"width\":@}}]}",
	  "/0/streamRecording/width", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"streamRecording\":{\"height\":@}}]}",
	  "/0/streamRecording/height", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"compositeRecording\":{"
	  "\"browserComposite\":{\"autoStopTimeout\":@}}}]}",
	  "/0/compositeRecording/browserComposite/autoStopTimeout", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"compositeRecording\":{"
	  "\"browserComposite\":{\"width\":@}}}]}",
	  "/0/compositeRecording/browserComposite/width", 0, NO_MOST },
	{ &recordings_shape,
	  "{\"recordings\":[{\"name\":\"a\",\"role\":\"b\",\"compositeRecording\":{"
	  "\"browserComposite\":{\"height\":@}}}]}",
	  "/0/compositeRecording/browserComposite/height", 0, NO_MOST },
	{ &room_shape, "{\"large_room\":true,\"size\":@}", "/size", 0, 20000 },
	{ &room_shape, "{\"size\":@}", "/size", 0, 2500 },
	{ &room_shape, "{\"max_duration_seconds\":@}", "/max_duration_seconds", 120, 43200 },
};
/* clang-format on */

static void try_number(int row, int64_t number, bool is_accepted)
{
	const char *value = arena_text(arena, "%" PRId64, number);
	const char *faults = faults_of(range_cases[row].shape, SCHEMA_WHOLE,
				       with(range_cases[row].body, value));
	const char *start = arena_text(arena, "%s: must be ", range_cases[row].pointer);

	if (is_accepted)
		ck_assert_str_eq(faults, "");
	else
		ck_assert_msg(strncmp(faults, start, strlen(start)) == 0 &&
				      strchr(faults, '\n') == NULL,
			      "%s with %s: %s", range_cases[row].pointer, value, faults);
}

START_TEST(a_range_is_checked_at_both_ends)
{
	/* Sides of layers are even, intervals are multiples of 5. */
	int64_t most = range_cases[_i].most;

	try_number(_i, range_cases[_i].least, true);
	try_number(_i, most, true);
	if (strstr(range_cases[_i].pointer, "scaleResolutionDownBy") == NULL)
		try_number(_i, range_cases[_i].least - 1, false);
	else
		try_number(_i, 0, false);
	if (most != NO_MOST)
		try_number(_i, most + 1, false);
}
END_TEST

/* ---- choices ---- */

/* clang-format off */
static const struct {
	const struct shape *shape;
	const char *body, *pointer;
	const char *choices[5];
} choice_cases[] = {
	{ &role_shape, "{\"publishParams\":{\"audio\":{\"codec\":@}}}",
	  "/publishParams/audio/codec", { "opus" } },
	{ &role_shape, "{\"publishParams\":{\"video\":{\"codec\":@}}}",
	  "/publishParams/video/codec", { "vp8" } },
	{ &role_shape, "{\"publishParams\":{\"screen\":{\"codec\":@}}}",
	  "/publishParams/screen/codec", { "vp8" } },
	{ &role_shape, "{\"publishParams\":{\"allowed\":[@]}}", "/publishParams/allowed/0",
	  { "audio", "video", "screen", "simulcast" } },
	{ &settings_shape, "{\"region\":@}", "/region", { "in", "us", "eu", "auto" } },
	{ &settings_shape,
	  "{\"recording\":{\"upload\":{\"location\":\"b\",\"prefix\":\"\",\"type\":@}}}",
	  "/recording/upload/type", { "s3", "gs", "oss", "azure" } },
	{ &destinations_shape, "{\"hlsDestinations\":{\"a\":{\"playlistType\":@}}}",
	  "/hlsDestinations/a/playlistType", { "event", "live" } },
	{ &room_shape, "{\"region\":@}", "/region", { "in", "us", "eu", "auto" } },
	{ &room_shape,
	  "{\"recording_info\":{\"upload_info\":{\"location\":\"b\",\"type\":@}}}",
	  "/recording_info/upload_info/type", { "s3", "gs", "oss", "azure" } },
};
/* clang-format on */

START_TEST(a_choice_is_checked)
{
	static const char *const wrong[] = { "\"x\"", "\" \"", "1", "true", "[]", "\"OPUS\"" };

	for (size_t i = 0; i < 5 && choice_cases[_i].choices[i] != NULL; i++) {
		const char *value = arena_text(arena, "\"%s\"", choice_cases[_i].choices[i]);

		ck_assert_str_eq(faults_of(choice_cases[_i].shape, SCHEMA_WHOLE,
					   with(choice_cases[_i].body, value)),
				 "");
	}
	for (size_t i = 0; i < ROWS(wrong); i++) {
		const char *faults = faults_of(choice_cases[_i].shape, SCHEMA_WHOLE,
					       with(choice_cases[_i].body, wrong[i]));
		const char *start = arena_text(arena, "%s: must be ", choice_cases[_i].pointer);

		ck_assert_msg(strncmp(faults, start, strlen(start)) == 0, "%s", faults);
	}
}
END_TEST

/* ---- texts ---- */

#define TEN "aaaaaaaaaa"
#define SIXTY TEN TEN TEN TEN TEN TEN
#define HUNDRED SIXTY TEN TEN TEN TEN

/* clang-format off */
static const struct {
	const struct text_rule *rule;
	const char *text;
	bool obeys;
} text_cases[] = {
	{ &name_text, "a", true },
	{ &name_text, "azAZ09 -._:", true },
	{ &name_text, HUNDRED TEN TEN "12345678", true },
	{ &name_text, HUNDRED TEN TEN "123456789", false },
	{ &name_text, "", false },
	{ &name_text, " a", false },
	{ &name_text, "a ", false },
	{ &name_text, " ", false },
	{ &name_text, "a/b", false },
	{ &name_text, "a<b", false },
	{ &name_text, "a,b", false },
	{ &name_text, "\xc3\xa4", false },
	{ &name_text, "a\nb", false },
	{ &role_name_text, "a b:c-d.e_f", true },
	{ &role_name_text, SIXTY "1234", true },
	{ &role_name_text, SIXTY "12345", false },
	{ &role_name_text, "", false },
	{ &role_name_text, "a ", false },
	{ &role_name_text, " a", false },
	{ &role_name_text, "a>b", false },
	{ &destination_name_text, "<a b>", true },
	{ &destination_name_text, " a ", true },
	{ &destination_name_text, SIXTY "<><>", true },
	{ &destination_name_text, SIXTY "<><>1", false },
	{ &destination_name_text, "", false },
	{ &destination_name_text, "a=b", false },
	{ &room_name_text, "a", true },
	{ &room_name_text, "azAZ09-._:", true },
	{ &room_name_text, HUNDRED TEN TEN "12345678", true },
	{ &room_name_text, HUNDRED TEN TEN "123456789", false },
	{ &room_name_text, "a b", false },
	{ &room_name_text, "", false },
	{ &room_name_text, "a@b", false },
	{ &id_text, "0123456789abcdef01234567", true },
	{ &id_text, "0123456789ABCDEF01234567", false },
	{ &id_text, "0123456789abcdef0123456", false },
	{ &id_text, "0123456789abcdef012345678", false },
	{ &id_text, "g123456789abcdef01234567", false },
	{ &some_text, "", false },
	{ &some_text, " ", true },
	{ &any_text, "", true },
};
/* clang-format on */

START_TEST(a_text_rule_is_checked)
{
	ck_assert_int_eq(schema_text_obeys(text_cases[_i].rule, slice_of(text_cases[_i].text)),
			 text_cases[_i].obeys);
}
END_TEST

/* ---- whole bodies ---- */

#define LAYER(rid, scale) \
	"{\"rid\":\"" rid "\",\"scaleResolutionDownBy\":" scale ",\"maxFramerate\":25}"
#define SIMULCAST(layers) \
	"{\"publishParams\":{\"simulcast\":{\"video\":{\"layers\":[" layers "]}}}}"
#define SIMULCAST_AT "/publishParams/simulcast/video/layers/"
#define HLS(members) "{\"hlsDestinations\":{\"a\":{" members "}}}"
#define HLS_AT "/hlsDestinations/a"
#define UPLOAD(members) "{\"recording\":{\"upload\":{" members "}}}"
#define UPLOAD_AT "/recording/upload"
#define ROOM_UPLOAD(members) "{\"recording_info\":{\"upload_info\":{" members "}}}"
#define ROOM_UPLOAD_AT "/recording_info/upload_info"

/* clang-format off */
static const struct body_case {
	const struct shape *shape;
	const char *body;
	const char *faults;		/* NULL if there are no faults */
	enum schema_mode mode;
} body_cases[] = {
	/* roles */
	{ .shape = &role_shape, "{\"publishParams\":{\"allowed\":[]}}" },
	{ .shape = &role_shape, "{\"publishParams\":{\"allowed\":[\"audio\",\"audio\"]}}",
	  "/publishParams/allowed/1: must not repeat an earlier item, got \"audio\"" },
	{ .shape = &role_shape, "{\"subscribeParams\":{\"subscribeToRoles\":[\"a\",\"b\"]}}" },
	{ .shape = &role_shape, "{\"subscribeParams\":{\"subscribeToRoles\":[]}}" },
	{ .shape = &role_shape, "{\"subscribeParams\":{\"subscribeToRoles\":[\"a\",\"a\"]}}",
	  "/subscribeParams/subscribeToRoles/1: must not repeat an earlier item, got \"a\"" },
	{ .shape = &role_shape, "{\"subscribeParams\":{\"subscribeToRoles\":[\"a\",1]}}",
	  "/subscribeParams/subscribeToRoles/1: must be a string, got 1" },
	{ .shape = &role_shape, "{\"permissions\":{\"endRoom\":true,\"removeOthers\":true,"
	  "\"mute\":true,\"unmute\":true,\"changeRole\":true,\"sendRoomState\":true,"
	  "\"browserRecording\":false,\"rtmpStreaming\":false,\"hlsStreaming\":false,"
	  "\"pollRead\":true,\"pollWrite\":false}}" },
	{ .shape = &role_shape, "{\"permissions\":{\"mute\":0,\"pollRead\":\"yes\"}}",
	  "/permissions/mute: must be a boolean, got 0\n"
	  "/permissions/pollRead: must be a boolean, got \"yes\"" },
	{ .shape = &role_shape, "{\"name\":\"host \"}",
	  "/name: must be 1 to 64 characters out of a-z A-Z 0-9 space - . _ : and neither start nor end with a "
	  "space, got \"host \"" },
	{ .shape = &role_shape, "{\"name\":null}", "/name: cannot be removed", SCHEMA_PATCH },
	{ .shape = &role_shape, "{\"publishParams\":{\"video\":{\"bitRate\":9000}}}",
	  "/publishParams/video/bitRate: must be from 30 to 2000, got 9000" },

	/* simulcast */
	{ .shape = &role_shape, "{\"publishParams\":{\"simulcast\":{}}}" },
	{ .shape = &role_shape, "{\"publishParams\":{\"simulcast\":{\"video\":{},\"screen\":{}}}}" },
	{ .shape = &role_shape, SIMULCAST("") },
	{ .shape = &role_shape, SIMULCAST(LAYER("f", "1")) },
	{ .shape = &role_shape, SIMULCAST(LAYER("f", "1.0") "," LAYER("q", "1.1")) },
	{ .shape = &role_shape,
	  SIMULCAST(LAYER("f", "1") "," LAYER("h", "2.5") "," LAYER("q", "12")) },
	{ .shape = &role_shape, SIMULCAST(LAYER("h", "1")),
	  SIMULCAST_AT "0/rid: must be f in the first layer, got \"h\"" },
	{ .shape = &role_shape, SIMULCAST(LAYER("f", "2")),
	  SIMULCAST_AT "0/scaleResolutionDownBy: must be 1 in the first layer, got 2" },
	{ .shape = &role_shape, SIMULCAST(LAYER("f", "1") "," LAYER("f", "2")),
	  SIMULCAST_AT "1/rid: must come after \"f\" in the order f, h, q, got \"f\"" },
	{ .shape = &role_shape,
	  SIMULCAST(LAYER("f", "1") "," LAYER("q", "2") "," LAYER("h", "4")),
	  SIMULCAST_AT "2/rid: must come after \"q\" in the order f, h, q, got \"h\"" },
	{ .shape = &role_shape,
	  SIMULCAST(LAYER("f", "1") "," LAYER("h", "1") "," LAYER("q", "0.5")),
	  SIMULCAST_AT "1/scaleResolutionDownBy: must be greater than 1, the value of the previous layer, got 1\n"
	  SIMULCAST_AT "2/scaleResolutionDownBy: must be from 1 to 12, got 0.5" },
	{ .shape = &role_shape,
	  SIMULCAST(LAYER("f", "1") "," LAYER("h", "4") "," LAYER("q", "4")),
	  SIMULCAST_AT "2/scaleResolutionDownBy: must be greater than 4, the value of the previous layer, got 4" },
	{ .shape = &role_shape,
	  SIMULCAST(LAYER("f", "1") "," LAYER("h", "2") "," LAYER("q", "3") "," LAYER("q", "4")),
	  "/publishParams/simulcast/video/layers: must have at most 3 items, got 4\n"
	  SIMULCAST_AT "3/rid: must come after \"q\" in the order f, h, q, got \"q\"" },
	{ .shape = &role_shape, SIMULCAST("{}"),
	  SIMULCAST_AT "0/rid: is required\n"
	  SIMULCAST_AT "0/scaleResolutionDownBy: is required\n"
	  SIMULCAST_AT "0/maxFramerate: is required" },
	{ .shape = &role_shape,
	  "{\"publishParams\":{\"simulcast\":{\"screen\":{\"layers\":[" LAYER("q", "1") "]}}}}",
	  "/publishParams/simulcast/screen/layers/0/rid: must be f in the first layer, got \"q\"" },

	/* templates */
	{ .shape = &template_shape, "{\"id\":1,\"_id\":2,\"customerId\":3,\"customer\":4,"
	  "\"createdAt\":5,\"updatedAt\":6,\"settings\":{\"retry\":7},\"default\":true}" },
	{ .shape = &template_shape, "{\"default\":\"true\"}",
	  "/default: must be a boolean, got \"true\"" },
	{ .shape = &template_shape, "{\"name\":\" \"}",
	  "/name: must be 1 to 128 characters out of a-z A-Z 0-9 space - . _ : and neither start nor end with a "
	  "space, got \" \"" },
	{ .shape = &template_shape, "{\"name\":\"\"}" },
	{ .shape = &template_shape, "{\"name\":null,\"roles\":{\"a\":null}}",
	  "/name: cannot be removed", SCHEMA_PATCH },
	{ .shape = &template_shape, "{\"roles\":{\"host\":{\"name\":\"host\"},\"guest\":{}}}" },
	{ .shape = &template_shape, "{\"roles\":{\"host\":{\"name\":\"guest\"}}}",
	  "/roles/host/name: must equal its key, got \"guest\"" },
	{ .shape = &template_shape, "{\"roles\":{\"a/b\":{}}}",
	  "/roles/a~1b: the key must be 1 to 64 characters out of a-z A-Z 0-9 space - . _ : and neither start nor "
	  "end with a space" },
	{ .shape = &template_shape, "{\"roles\":[1]}", "/roles: must be an object, got an array" },
	{ .shape = &template_shape,
	  "{\"roles\":{\"host\":{\"publishParams\":{\"video\":{\"bitRate\":9000}}}},\"name\":5}",
	  "/roles/host/publishParams/video/bitRate: must be from 30 to 2000, got 9000\n"
	  "/name: must be a string, got 5" },

	/* settings */
	{ .shape = &settings_shape, "{\"recording\":null,\"roomState\":{},\"retry\":{\"x\":1}}" },
	{ .shape = &settings_shape, "{\"roomState\":{\"messageInterval\":12}}",
	  "/roomState/messageInterval: must be a multiple of 5 from 5 to 3600, got 12" },
	{ .shape = &settings_shape, UPLOAD("") },
	{ .shape = &settings_shape, UPLOAD("\"options\":{}"),
	  UPLOAD_AT "/type: is required\n" UPLOAD_AT "/location: is required\n"
	  UPLOAD_AT "/prefix: is required" },
	{ .shape = &settings_shape,
	  UPLOAD("\"type\":\"s3\",\"location\":\"b\",\"prefix\":\"\",\"options\":{}") },
	{ .shape = &settings_shape,
	  UPLOAD("\"type\":\"s3\",\"location\":\"\",\"prefix\":\"\",\"options\":{\"region\":1}"),
	  UPLOAD_AT "/location: must not be empty\n"
	  UPLOAD_AT "/options/region: must be a string, got a number" },
	{ .shape = &settings_shape,
	  UPLOAD("\"type\":\"s3\",\"location\":\"b\",\"prefix\":\"p\",\"credentials\":{}"),
	  UPLOAD_AT "/credentials/key: is required\n" UPLOAD_AT "/credentials/secretKey: is required" },
	{ .shape = &settings_shape,
	  UPLOAD("\"type\":\"s3\",\"location\":\"b\",\"prefix\":\"p\",\"credentials\":"
		 "{\"key\":\"\",\"secretKey\":17}"),
	  UPLOAD_AT "/credentials/key: must not be empty\n"
	  UPLOAD_AT "/credentials/secretKey: must be a string, got a number" },
	{ .shape = &settings_shape, "{\"recording\":{\"upload\":\"geheim\"}}",
	  UPLOAD_AT ": must be an object, got a string" },
	{ .shape = &settings_shape, UPLOAD("\"credentials\":{\"key\":\"k\"}"),
	  UPLOAD_AT "/credentials/secretKey: is required", SCHEMA_PATCH },
	{ .shape = &settings_shape, UPLOAD("\"prefix\":\"q\""), .mode = SCHEMA_PATCH },

	/* destinations */
	{ .shape = &destinations_shape,
	  "{\"browserRecordings\":{\"<a b>\":{\"name\":\"<a b>\",\"role\":\"\"}},"
	  "\"rtmpDestinations\":{},\"hlsDestinations\":{\"b\":{}}}" },
	{ .shape = &destinations_shape, "{\"rtmpDestinations\":{\"a=b\":{}}}",
	  "/rtmpDestinations/a=b: the key must be 1 to 64 characters out of a-z A-Z 0-9 space - . _ : < >" },
	{ .shape = &destinations_shape, "{\"rtmpDestinations\":{\"a\":{\"name\":\"b\"}}}",
	  "/rtmpDestinations/a/name: must equal its key, got \"b\"" },
	{ .shape = &destinations_shape,
	  "{\"rtmpDestinations\":{\"a\":{\"rtmpUrls\":[\"rtmp://x/y\",\"key\",\"key\"]}}}" },
	{ .shape = &destinations_shape,
	  "{\"rtmpDestinations\":{\"a\":{\"rtmpUrls\":[\"1\",\"2\",\"3\",\"4\"]}}}",
	  "/rtmpDestinations/a/rtmpUrls: must have at most 3 items, got 4" },
	{ .shape = &destinations_shape,
	  "{\"rtmpDestinations\":{\"a\":{\"rtmpUrls\":[\"\",7]}}}",
	  "/rtmpDestinations/a/rtmpUrls/0: must be 1 to 2048 bytes\n"
	  "/rtmpDestinations/a/rtmpUrls/1: must be a string, got a number" },
	{ .shape = &destinations_shape, HLS("\"name\":null"),
	  HLS_AT "/name: cannot be removed", SCHEMA_PATCH },

	/* layers: sides */
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":1920,\"height\":1080}]") },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":1080,\"height\":1920}]") },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":192,\"height\":144}]") },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":190,\"height\":144}]"),
	  HLS_AT "/layers/0/width: must be at least 192 for the longer side, got 190" },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":144,\"height\":190}]"),
	  HLS_AT "/layers/0/height: must be at least 192 for the longer side, got 190" },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":1082,\"height\":1082}]"),
	  HLS_AT "/layers/0/height: must be at most 1080 for the shorter side, got 1082" },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":1082,\"height\":1920}]"),
	  HLS_AT "/layers/0/width: must be at most 1080 for the shorter side, got 1082" },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":1920},{\"height\":1920}]") },
	{ .shape = &destinations_shape, HLS("\"layers\":[{\"width\":721},{\"height\":142}]"),
	  HLS_AT "/layers/0/width: must be a multiple of 2 from 144 to 1920, got 721\n"
	  HLS_AT "/layers/1/height: must be a multiple of 2 from 144 to 1920, got 142" },
	/* order */
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":1280,\"height\":720},{\"width\":720,\"height\":1280}]") },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":1280,\"height\":720},{},{\"width\":1282,\"height\":720}]"),
	  HLS_AT "/layers/2/width: width x height must not exceed the 921600 of an earlier "
	  "layer, got 923040" },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":640,\"height\":360},{\"width\":1920},"
	      "{\"width\":320,\"height\":240}]") },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"videoBitrate\":500},{\"videoBitrate\":500},{\"audioBitrate\":900},"
	      "{\"videoBitrate\":501}]"),
	  HLS_AT "/layers/3/videoBitrate: videoBitrate must not exceed the 500 of an earlier "
	  "layer, got 501" },
	{ .shape = &destinations_shape,
	  HLS("\"recording\":{\"layers\":[{\"videoBitrate\":500},{\"videoBitrate\":600}]}"),
	  HLS_AT "/recording/layers/1/videoBitrate: videoBitrate must not exceed the 500 of an "
	  "earlier layer, got 600" },
	/* subset */
	{ .shape = &destinations_shape,
	  HLS("\"recording\":{\"layers\":[{\"width\":640}]},\"layers\":[]") },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":1280,\"height\":720},{\"width\":640}],"
	      "\"recording\":{\"layers\":[{\"height\":720},{\"height\":200}]}") },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":1280,\"height\":720},{\"width\":640,\"height\":360}],"
	      "\"recording\":{\"layers\":[{\"width\":640,\"videoBitrate\":3},{\"width\":320}]}"),
	  HLS_AT "/recording/layers/1: must match one of the layers of the destination" },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":1280,\"height\":720}],"
	      "\"recording\":{\"layers\":[{\"width\":1280,\"height\":640}]}"),
	  HLS_AT "/recording/layers/0: must match one of the layers of the destination" },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":1280,\"height\":720},{}],"
	      "\"recording\":{\"layers\":[{\"width\":1920,\"height\":1080}]}") },
	{ .shape = &destinations_shape,
	  HLS("\"layers\":[{\"width\":1281}],\"recording\":{\"layers\":[{\"width\":640}]}"),
	  HLS_AT "/layers/0/width: must be a multiple of 2 from 144 to 1920, got 1281" },
	{ .shape = &destinations_shape,
	  HLS("\"recording\":{\"hlsVod\":true,\"singleFilePerLayer\":true,\"enableZipUpload\":true,"
	      "\"thumbnails\":{\"enabled\":true,\"offsets\":[]}},\"enableMetadataInsertion\":true,"
	      "\"enableStaticUrl\":false") },

	/* rooms */
	{ .shape = &room_shape, "{\"id\":1,\"customer_id\":2,\"customer\":3,\"template\":4,"
	  "\"created_at\":5,\"updated_at\":6}" },
	{ .shape = &room_shape, "{\"name\":\"a b\"}",
	  "/name: must be 1 to 128 characters out of a-z A-Z 0-9 - . _ :, got \"a b\"" },
	{ .shape = &room_shape, "{\"size\":2501}",
	  "/size: must be from 0 to 2500 unless large_room is true, got 2501" },
	{ .shape = &room_shape, "{\"size\":2501,\"large_room\":false}",
	  "/size: must be from 0 to 2500 unless large_room is true, got 2501" },
	{ .shape = &room_shape, "{\"size\":20000}", .mode = SCHEMA_PARTIAL },
	{ .shape = &room_shape, "{\"size\":20001}",
	  "/size: must be from 0 to 20000, got 20001", SCHEMA_PARTIAL },
	{ .shape = &room_shape, "{\"recording_source_template\":false,\"recording_info\":{\"enabled\":1}}",
	  "/recording_info/enabled: must be a boolean, got 1", SCHEMA_PARTIAL },
	{ .shape = &room_shape, ROOM_UPLOAD(""), .mode = SCHEMA_PARTIAL },
	{ .shape = &room_shape, ROOM_UPLOAD("\"options\":{}"),
	  ROOM_UPLOAD_AT "/type: is required\n" ROOM_UPLOAD_AT "/location: is required",
	  SCHEMA_PARTIAL },
	{ .shape = &room_shape,
	  ROOM_UPLOAD("\"type\":\"gs\",\"location\":\"b\",\"credentials\":{\"key\":\"k\","
		      "\"secretKey\":\"s\"}"),
	  ROOM_UPLOAD_AT "/credentials/secretKey: is not a known field\n"
	  ROOM_UPLOAD_AT "/credentials/secret: is required", SCHEMA_PARTIAL },
	{ .shape = &room_shape,
	  ROOM_UPLOAD("\"type\":\"gs\",\"location\":\"b\",\"prefix\":\"\",\"options\":{\"region\":"
		      "\"r\"},\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}") },

	/* room codes and joining */
	{ .shape = &code_switch_shape, "{}", "/code: is required\n/enabled: is required" },
	{ .shape = &code_switch_shape, "{\"enabled\":1,\"code\":\"x\"}",
	  "/enabled: must be a boolean, got 1" },
	{ .shape = &code_switch_shape, "{\"code\":\"x\",\"enabled\":true,\"room_id\":1,\"role\":2,"
	  "\"created_at\":3,\"updated_at\":4}" },
	{ .shape = &code_enabled_shape, "{}", "/enabled: is required" },
	{ .shape = &code_enabled_shape, "{\"enabled\":null}", "/enabled: is required" },
	{ .shape = &code_enabled_shape, "{\"enabled\":false,\"code\":7}" },
	{ .shape = &join_shape, "{\"user_id\":\"u\"}", "/code: is required" },
	{ .shape = &join_shape, "{\"code\":\"\",\"user_id\":\"\"}" },
	{ .shape = &join_shape, "{\"code\":5}", "/code: must be a string, got 5" },
	{ .shape = &join_shape,
	  "{\"code\":\"x\",\"user_id\":\"" HUNDRED HUNDRED TEN TEN TEN TEN TEN "123456\"}" },
	{ .shape = &join_shape,
	  "{\"code\":\"x\",\"user_id\":\"" HUNDRED HUNDRED TEN TEN TEN TEN TEN "1234567\"}",
	  "/user_id: must be at most 256 characters, got \"" SIXTY "aaaa\"..." },
};
/* clang-format on */

START_TEST(a_body_is_accepted_or_rejected)
{
	const struct body_case *row = &body_cases[_i];

	ck_assert_str_eq(faults_of(row->shape, row->mode, row->body),
			 row->faults == NULL ? "" : row->faults);
}
END_TEST

START_TEST(a_list_of_layers_has_at_most_a_hundred)
{
	for (size_t n = 100; n <= 101; n++) {
		struct buffer text = BUFFER_INITIAL(arena);

		for (size_t i = 0; i < n; i++)
			buffer_append_text(&text, i == 0 ? "{}" : ",{}");
		buffer_append_byte(&text, '\0');
		ck_assert_str_eq(faults_of(&destinations_shape, SCHEMA_WHOLE,
					   with(HLS("\"layers\":[@]"), text.data)),
				 n == 100 ? ""
					  : HLS_AT "/layers: must have at most 100 items, got 101");
	}
}
END_TEST

/* A list that is too long is reported as such and not compared with the other list. */
START_TEST(layers_beyond_a_hundred_are_not_compared)
{
	for (size_t n = 100; n <= 101; n++) {
		struct buffer text = BUFFER_INITIAL(arena);

		for (size_t i = 0; i < n; i++)
			buffer_append_text(&text, i == 0 ? "{\"width\":144}" : ",{\"width\":144}");
		buffer_append_byte(&text, '\0');
		ck_assert_str_eq(
			faults_of(
				&destinations_shape, SCHEMA_WHOLE,
				with(HLS("\"layers\":[@],\"recording\":{\"layers\":[{\"width\":146}]}"),
				     text.data)),
			n == 100 ? HLS_AT "/recording/layers/0: must match one of the "
					  "layers of the destination"
				 : HLS_AT "/layers: must have at most 100 items, got 101");
	}
}
END_TEST

START_TEST(a_template_may_have_100_roles_and_1024_characters_of_description)
{
	for (size_t n = 100; n <= 101; n++) {
		struct buffer text = BUFFER_INITIAL(arena);

		buffer_append_text(&text, "{\"roles\":{");
		for (size_t i = 0; i < n; i++)
			buffer_append_text(
				&text, arena_text(arena, "%s\"r%zu\":{}", i == 0 ? "" : ",", i));
		buffer_append_text(&text, "}}");
		buffer_append_byte(&text, '\0');
		ck_assert_str_eq(faults_of(&template_shape, SCHEMA_WHOLE, text.data),
				 n == 100 ? "" : "/roles: must have at most 100 entries, got 101");
	}
	for (size_t n = 1024; n <= 1025; n++) {
		struct buffer text = BUFFER_INITIAL(arena);

		buffer_append_text(&text, "{\"description\":\"");
		for (size_t i = 0; i < n; i++)
			buffer_append_text(&text, "\xc3\xa4");
		buffer_append_text(&text, "\"}");
		buffer_append_byte(&text, '\0');

		const char *faults = faults_of(&room_shape, SCHEMA_WHOLE, text.data);

		ck_assert_int_eq(faults[0] == '\0', n == 1024);
	}
	for (size_t n = 2048; n <= 2049; n++) {
		char url[2050];

		memset(url, 'u', n);
		url[n] = '\0';

		const char *faults = faults_of(&destinations_shape, SCHEMA_WHOLE,
					       with("{\"rtmpDestinations\":{\"a\":{\"rtmpUrls\":"
						    "[\"@\"]}}}",
						    url));

		ck_assert_int_eq(faults[0] == '\0', n == 2048);
	}
}
END_TEST

START_TEST(a_region_as_the_only_fault_sets_the_message)
{
	static const struct {
		const char *body, *message;
	} rows[] = {
		{ "{\"region\":\"mars\"}", "Error: region not supported" },
		{ "{\"region\":5}", "Error: region not supported" },
		{ "{\"region\":\"mars\",\"size\":-1}", "Invalid body param" },
		{ "{\"size\":-1,\"region\":\"mars\"}", "Invalid body param" },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct fault fault = FAULT_INITIAL;
		struct findings findings;

		findings_open(&findings, arena);
		ck_assert(!schema_check(&room_shape, parse(rows[i].body), SCHEMA_PARTIAL, false,
					&findings, &fault));
		ck_assert_str_eq(fault.message, rows[i].message);
		ck_assert_uint_eq(json_array_size(fault.details), findings.fault_count);
	}
}
END_TEST

START_TEST(the_size_of_a_room_is_checked_after_merging)
{
	static const struct {
		const char *body, *document, *fault;
	} rows[] = {
		{ "{\"size\":5000}", "{\"size\":5000,\"large_room\":true}", NULL },
		{ "{\"size\":5000}", "{\"size\":5000}",
		  "/size: must be from 0 to 2500 unless large_room is true, got 5000" },
		{ "{\"large_room\":false}", "{\"size\":5000,\"large_room\":false}",
		  "/large_room: must be true while size, now 5000, is over 2500" },
		{ "{\"large_room\":false}", "{\"size\":2500,\"large_room\":false}", NULL },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct fault fault = FAULT_INITIAL;
		struct findings findings;

		findings_open(&findings, arena);
		ck_assert(schema_check(&room_shape, parse(rows[i].body), SCHEMA_PARTIAL, false,
				       &findings, &fault));
		ck_assert_int_eq(
			document_finish(&room_shape, parse(rows[i].document), &findings, &fault),
			rows[i].fault == NULL);
		if (rows[i].fault != NULL)
			ck_assert_str_eq(json_string_value(json_array_get(fault.details, 0)),
					 rows[i].fault);
	}
}
END_TEST

/* ---- responses ---- */

#define PUBLISH_AUDIO "\"audio\":{\"bitRate\":32,\"codec\":\"opus\"}"
#define PUBLISH_VIDEO \
	"\"video\":{\"bitRate\":256,\"codec\":\"vp8\",\"frameRate\":25,\"height\":180,\"width\":320}"
#define PUBLISH_SCREEN \
	"\"screen\":{\"bitRate\":1024,\"codec\":\"vp8\",\"frameRate\":10,\"height\":720,\"width\":1280}"
#define PUBLISH_REST PUBLISH_AUDIO "," PUBLISH_VIDEO "," PUBLISH_SCREEN
#define PUBLISH "\"publishParams\":{\"allowed\":[\"audio\",\"video\",\"screen\"]," PUBLISH_REST "}"
#define PERMISSIONS_REST "\"browserRecording\":true,\"rtmpStreaming\":true,\"hlsStreaming\":true"
#define PERMISSIONS \
	"\"permissions\":{\"endRoom\":false,\"removeOthers\":false,\"mute\":false,\"unmute\":false," \
	"\"changeRole\":false,\"sendRoomState\":false," PERMISSIONS_REST "}"
#define ROLE_REST \
	"\"subscribeParams\":{\"maxSubsBitRate\":3200}," PERMISSIONS \
	",\"priority\":1,\"maxPeerCount\":0}"
#define SETTINGS \
	"{\"region\":\"auto\",\"recording\":null,\"roomState\":{\"messageInterval\":5," \
	"\"sendPeerList\":false,\"stopRoomStateOnJoin\":true,\"enabled\":false},\"retry\":{}}"

/* clang-format off */
static const struct {
	const struct shape *shape;
	const char *document, *expected;
} answer_cases[] = {
	{ &role_shape, "{}", "{" PUBLISH "," ROLE_REST },
	{ &role_shape, "{\"name\":\"host\",\"publishParams\":{\"allowed\":[\"audio\"]}}",
	  "{\"name\":\"host\",\"publishParams\":{\"allowed\":[\"audio\"]," PUBLISH_REST "},"
	  ROLE_REST },
	{ &role_shape, "{\"publishParams\":{\"simulcast\":{\"video\":{\"layers\":[{\"maxFramerate\":25,"
	  "\"scaleResolutionDownBy\":1.0,\"rid\":\"f\"}]},\"screen\":{}}},\"permissions\":{"
	  "\"pollWrite\":true,\"endRoom\":true},\"subscribeParams\":{\"subscribeDegradation\":"
	  "{\"packetLossThreshold\":25},\"subscribeToRoles\":[\"b\",\"a\"]},\"priority\":2,"
	  "\"maxPeerCount\":-1}",
	  "{\"publishParams\":{\"allowed\":[\"audio\",\"video\",\"screen\"]," PUBLISH_REST
	  ",\"simulcast\":{\"video\":{\"layers\":[{\"rid\":\"f\",\"scaleResolutionDownBy\":1,"
	  "\"maxBitrate\":0,\"maxFramerate\":25}]},\"screen\":{}}},\"subscribeParams\":{"
	  "\"subscribeToRoles\":[\"b\",\"a\"],\"maxSubsBitRate\":3200,\"subscribeDegradation\":"
	  "{\"packetLossThreshold\":25,\"degradeGracePeriodSeconds\":1,"
	  "\"recoverGracePeriodSeconds\":4}},\"permissions\":{\"endRoom\":true,"
	  "\"removeOthers\":false,\"mute\":false,\"unmute\":false,\"changeRole\":false,"
	  "\"sendRoomState\":false," PERMISSIONS_REST ",\"pollWrite\":true},\"priority\":2,"
	  "\"maxPeerCount\":-1}" },
	{ &role_shape, "{\"subscribeParams\":{\"subscribeDegradation\":{}}}",
	  "{" PUBLISH ",\"subscribeParams\":{\"maxSubsBitRate\":3200,\"subscribeDegradation\":"
	  "{\"packetLossThreshold\":50,\"degradeGracePeriodSeconds\":1,"
	  "\"recoverGracePeriodSeconds\":4}}," PERMISSIONS ",\"priority\":1,\"maxPeerCount\":0}" },
	{ &settings_shape, "{}", SETTINGS },
	{ &settings_shape, "{\"recording\":{},\"roomState\":{\"messageInterval\":10},\"region\":\"eu\"}",
	  "{\"region\":\"eu\",\"recording\":{\"enabled\":false},\"roomState\":{\"messageInterval\":10,"
	  "\"sendPeerList\":false,\"stopRoomStateOnJoin\":true,\"enabled\":false},\"retry\":{}}" },
	{ &settings_shape, UPLOAD("\"prefix\":\"\",\"type\":\"s3\",\"location\":\"b\",\"options\":{},"
	  "\"credentials\":{\"key\":\"k\",\"secretKey\":\"s\"}"),
	  "{\"region\":\"auto\",\"recording\":{\"enabled\":false,\"upload\":{\"type\":\"s3\","
	  "\"location\":\"b\",\"prefix\":\"\",\"options\":{}}},\"roomState\":{\"messageInterval\":5,"
	  "\"sendPeerList\":false,\"stopRoomStateOnJoin\":true,\"enabled\":false},\"retry\":{}}" },
	{ &template_shape, "{\"customer\":\"c\",\"_id\":\"i\",\"updatedAt\":\"u\",\"createdAt\":\"t\","
	  "\"customerId\":\"c\",\"name\":\"n\",\"id\":\"i\",\"default\":true,\"roles\":{\"z\":{},"
	  "\"a\":{\"name\":\"a\"}}}",
	  "{\"id\":\"i\",\"name\":\"n\",\"customerId\":\"c\",\"roles\":{\"z\":{\"name\":\"z\","
	  PUBLISH "," ROLE_REST ",\"a\":{\"name\":\"a\"," PUBLISH "," ROLE_REST "},\"settings\":"
	  SETTINGS ",\"destinations\":{},\"createdAt\":\"t\",\"updatedAt\":\"u\",\"_id\":\"i\","
	  "\"customer\":\"c\"}" },
	{ &destinations_shape, "{}", "{}" },
	{ &destinations_shape, "{\"hlsDestinations\":{\"b\":{\"playlistType\":\"live\"},\"a\":"
	  "{\"playlistType\":\"event\",\"layers\":[{},{\"width\":640}]},\"c\":{\"playlistType\":"
	  "\"live\",\"numPlaylistSegments\":3},\"d\":{\"numPlaylistSegments\":12}},"
	  "\"browserRecordings\":{\"x\":{\"role\":\"r\",\"thumbnails\":{}}},\"rtmpDestinations\":{}}",
	  "{\"browserRecordings\":{\"x\":{\"name\":\"x\",\"thumbnails\":{}}},\"rtmpDestinations\":{},"
	  "\"hlsDestinations\":{\"b\":{\"name\":\"b\",\"playlistType\":\"live\","
	  "\"numPlaylistSegments\":5},\"a\":{\"name\":\"a\",\"layers\":[{},{\"width\":640}],"
	  "\"playlistType\":\"event\"},\"c\":{\"name\":\"c\",\"playlistType\":\"live\","
	  "\"numPlaylistSegments\":3},\"d\":{\"name\":\"d\",\"numPlaylistSegments\":12}}}" },
	{ &room_shape, "{}", "{\"enabled\":true,\"description\":\"\",\"large_room\":false}" },
	{ &room_shape, "{\"customer\":\"c\",\"updated_at\":\"u\",\"created_at\":\"t\","
	  "\"max_duration_seconds\":120,\"size\":5,\"large_room\":true,\"region\":\"eu\","
	  "\"template\":\"tn\",\"template_id\":\"ti\",\"recording_info\":{\"enabled\":true,"
	  "\"upload_info\":{\"credentials\":{\"key\":\"k\",\"secret\":\"s\"},\"type\":\"s3\","
	  "\"location\":\"l\"}},\"recording_source_template\":false,\"customer_id\":\"c\","
	  "\"description\":\"d\",\"enabled\":false,\"name\":\"n\",\"id\":\"i\"}",
	  "{\"id\":\"i\",\"name\":\"n\",\"enabled\":false,\"description\":\"d\",\"customer_id\":\"c\","
	  "\"recording_source_template\":false,\"recording_info\":{\"enabled\":true,\"upload_info\":"
	  "{\"type\":\"s3\",\"location\":\"l\"}},\"template_id\":\"ti\",\"template\":\"tn\","
	  "\"region\":\"eu\",\"large_room\":true,\"size\":5,\"max_duration_seconds\":120,"
	  "\"created_at\":\"t\",\"updated_at\":\"u\",\"customer\":\"c\"}" },
	{ &recording_info_shape, "{}", "{\"enabled\":false}" },
	{ &room_code_shape, "{\"updated_at\":\"u\",\"created_at\":\"t\",\"enabled\":true,\"role\":\"r\","
	  "\"room_id\":\"i\",\"code\":\"c\"}",
	  "{\"code\":\"c\",\"room_id\":\"i\",\"role\":\"r\",\"enabled\":true,\"created_at\":\"t\","
	  "\"updated_at\":\"u\"}" },
	{ &token_answer_shape, "{\"expires_at\":\"e\",\"user_id\":\"u\",\"role\":\"r\",\"room_id\":"
	  "\"i\",\"token\":\"t\"}",
	  "{\"token\":\"t\",\"room_id\":\"i\",\"role\":\"r\",\"user_id\":\"u\",\"expires_at\":\"e\"}" },
};
/* clang-format on */

START_TEST(a_response_has_its_defaults_and_its_order)
{
	ck_assert_str_eq(written(answer_cases[_i].shape, parse(answer_cases[_i].document)),
			 answer_cases[_i].expected);
}
END_TEST

START_TEST(credentials_are_echoed_to_the_request_that_supplied_them)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	document_write(&upload_shape,
		       parse("{\"type\":\"s3\",\"location\":\"b\",\"prefix\":\"\",\"credentials\":"
			     "{\"secretKey\":\"s\",\"key\":\"k\"}}"),
		       (struct slice){ 0 }, true, &buffer);
	ck_assert(slice_is(buffer_slice(&buffer),
			   "{\"type\":\"s3\",\"location\":\"b\",\"prefix\":\"\",\"credentials\":"
			   "{\"key\":\"k\",\"secretKey\":\"s\"}}"));
}
END_TEST

START_TEST(the_hidden_members_are_write_only)
{
	static const struct {
		const struct shape *shape;
		const char *document, *hidden;
	} rows[] = {
		{ &settings_shape,
		  UPLOAD("\"type\":\"s3\",\"credentials\":{\"key\":\"k\",\"secretKey\":\"s\"}"),
		  UPLOAD("\"credentials\":{\"key\":\"k\",\"secretKey\":\"s\"}") },
		{ &destinations_shape,
		  "{\"browserRecordings\":{\"a\":{\"width\":1,\"role\":\"r\"},\"b\":{}}}",
		  "{\"browserRecordings\":{\"a\":{\"role\":\"r\"}}}" },
		{ &room_shape,
		  ROOM_UPLOAD("\"type\":\"s3\",\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}"),
		  ROOM_UPLOAD("\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}") },
		{ &template_shape, "{\"default\":true,\"name\":\"n\"}", "{\"default\":true}" },
		{ &role_shape, "{\"name\":\"n\"}", "{}" },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct buffer buffer = BUFFER_INITIAL(arena);

		buffer_append_json(&buffer,
				   document_hidden(arena, rows[i].shape, parse(rows[i].document)));
		buffer_append_byte(&buffer, '\0');
		ck_assert_str_eq(buffer.data, rows[i].hidden);
	}
}
END_TEST

/* ---- the OpenAPI schemas ---- */

static const char *text_of(const json_t *value)
{
	struct buffer buffer = BUFFER_INITIAL(arena);

	ck_assert_ptr_nonnull(value);
	buffer_append_json(&buffer, value);
	buffer_append_byte(&buffer, '\0');
	return buffer.data;
}

#define REFERENCE(name) "{\"$ref\":\"#/components/schemas/" name "\"}"

/* clang-format off */
static const struct {
	const char *component, *member, *expected;	/* expected: NULL if no such member */
} description_cases[] = {
	{ "PublishVideoInput", "bitRate",
	  "{\"description\":\"Bitrate in kbps. Default: 256.\",\"x-default\":256,\"x-unit\":\"kbps"
	  "\",\"type\":\"integer\",\"format\":\"int64\",\"minimum\":30,\"maximum\":2000}" },
	{ "PublishVideo", "bitRate",
	  "{\"description\":\"Bitrate in kbps.\",\"x-unit\":\"kbps\",\"type\":\"integer\",\"format"
	  "\":\"int64\",\"minimum\":30,\"maximum\":2000}" },
	{ "PublishVideoPatch", "codec",
	  "{\"description\":\"Video codec. null restores the default: \\\"vp8\\\".\",\"x-default\":"
	  "\"vp8\",\"anyOf\":[{\"type\":\"string\",\"enum\":[\"vp8\"]},{\"type\":\"null\"}]}" },
	{ "RoomStateInput", "messageInterval",
	  "{\"description\":\"How often a page asks who is inside; the join page at most every 10 "
	  "seconds. Default: 5.\",\"x-default"
	  "\":5,\"x-unit\":\"s\",\"type\":\"integer\",\"format\":\"int64\",\"minimum\":5,\"maximum"
	  "\":3600,\"multipleOf\":5}" },
	{ "SimulcastLayerInput", "scaleResolutionDownBy",
	  "{\"description\":\"Divisor of width and height.\",\"type\":\"number\",\"format"
	  "\":\"double\",\"minimum\":1,\"maximum\":12}" },
	{ "SimulcastLayersPatch", "layers",
	  "{\"description\":\"Layers, the largest first. null removes it.\",\"anyOf\":[{\"type\":\"array\","
	  "\"items\":" REFERENCE("SimulcastLayerInput") ",\"maxItems\":3},{\"type\":\"null\"}]}" },
	{ "SubscribeParamsInput", "subscribeDegradation",
	  "{\"description\":\"Settings for poor connections.\",\"$ref\":\"#/components/schemas/S"
	  "ubscribeDegradationInput\"}" },
	{ "Settings", "recording",
	  "{\"description\":\"How rooms are recorded.\",\"anyOf\":[" REFERENCE("Recording")
	  ",{\"type\":\"null\"}]}" },
	{ "Settings", "roomState",
	  "{\"description\":\"Whether people are told who is inside before they join.\",\"$ref\":\"#/components/schemas/Ro"
	  "omState\"}" },
	{ "UploadPatch", "credentials",
	  "{\"description\":\"Only the response to the request that sent them contains them. null remove"
	  "s it.\",\"writeOnly\":true,\"anyOf\":[" REFERENCE("UploadCredentialsInput")
	  ",{\"type\":\"null\"}]}" },
	{ "Upload", "credentials",
	  "{\"description\":\"Only the response to the request that sent them contains them.\",\"$ref\":"
	  "\"#/components/schemas/UploadCredentials\"}" },
	{ "RtmpDestinationInput", "rtmpUrls",
	  "{\"description\":\"RTMP URLs to broadcast to.\",\"type\":\"array\",\"items\":{\"type\":"
	  "\"string\",\"minLength\":1,\"maxLength\":2048,\"x-maxBytes\":2048,\"format\":\"uri\"},\""
	  "maxItems\":3}" },
	{ "TemplateInput", "createdAt", NULL },
	{ "TemplateInput", "roles",
	  "{\"description\":\"Roles by name. Default: {}.\",\"x-default\":{},\"type\":\"object"
	  "\",\"propertyNames\":{\"type\":\"string\",\"pattern\":\"^[a-zA-Z0-9._:-]([a-zA-Z0-9 ._:-"
	  "]*[a-zA-Z0-9._:-])?$\",\"minLength\":1,\"maxLength\":64},\"additionalProperties\":"
	  REFERENCE("RoleInput") ",\"maxProperties\":100}" },
	{ "TemplatePatch", "name",
	  "{\"description\":\"Unique template name. Default: a version 4 UUID. "
	  "\\\"\\\" counts as not sent.\","
	  "\"type\":\"string\",\"pattern\":\"^[a-zA-Z0-9._:-]([a-zA-Z0-9 ._:-]*[a-zA-Z0-9._:-])?$\","
	  "\"minLength\":1,\"maxLength\":128}" },
	{ "Template", "default", NULL },
	{ "BrowserRecording", "role", NULL },
	{ "HlsLayerInput", "width",
	  "{\"description\":\"Pixels.\",\"x-unit\":\"px\",\"type\":\"integer\",\"format\":\"int64\""
	  ",\"minimum\":144,\"maximum\":1920,\"multipleOf\":2}" },
};
/* clang-format on */

static json_t *components(void)
{
	json_t *all = arena_json(arena, json_object());

	for (enum describe_form form = DESCRIBE_ANSWER; form <= DESCRIBE_PATCH; form++) {
		describe_components(all, &template_shape, form);
		describe_components(all, &room_shape, form);
	}
	return all;
}

START_TEST(a_row_is_documented)
{
	const json_t *component = json_object_get(components(), description_cases[_i].component);
	const json_t *properties = json_object_get(component, "properties");
	const json_t *member = json_object_get(properties, description_cases[_i].member);

	ck_assert_ptr_nonnull(properties);
	if (description_cases[_i].expected == NULL)
		ck_assert_ptr_null(member);
	else
		ck_assert_str_eq(text_of(member), description_cases[_i].expected);
}
END_TEST

START_TEST(required_members_are_documented)
{
	static const struct {
		const char *component, *required; /* NULL if none is required */
	} rows[] = {
		{ "SimulcastLayerInput", "[\"rid\",\"scaleResolutionDownBy\",\"maxFramerate\"]" },
		{ "SimulcastLayer",
		  "[\"rid\",\"scaleResolutionDownBy\",\"maxBitrate\",\"maxFramerate\"]" },
		{ "Role", "[\"name\",\"publishParams\",\"subscribeParams\",\"permissions\","
			  "\"priority\",\"maxPeerCount\"]" },
		{ "RoleInput", NULL },
		{ "UploadPatch", NULL },
		{ "UploadInput", "[\"type\",\"location\",\"prefix\"]" },
		{ "Upload", "[\"type\",\"location\",\"prefix\"]" },
		{ "HlsDestination", "[\"name\"]" },
		{ "Settings", "[\"region\",\"recording\",\"roomState\",\"retry\"]" },
	};
	const json_t *all = components();

	for (size_t i = 0; i < ROWS(rows); i++) {
		const json_t *required = json_object_get(json_object_get(all, rows[i].component),
							 "required");

		if (rows[i].required == NULL)
			ck_assert_ptr_null(required);
		else
			ck_assert_str_eq(text_of(required), rows[i].required);
	}
}
END_TEST

START_TEST(every_reference_resolves_and_every_rule_is_listed)
{
	static const char prefix[] = "#/components/schemas/";
	const json_t *all = components();
	size_t found = 0;

	for (const char *at = text_of(all); (at = strstr(at, prefix)) != NULL; found++) {
		at += sizeof prefix - 1;
		ck_assert_ptr_nonnull(json_object_get(
			all, arena_text(arena, "%.*s", (int)strcspn(at, "\""), at)));
	}
	ck_assert_uint_gt(found, 50);
	ck_assert_str_eq(
		text_of(json_object_get(json_object_get(all, "RoomInput"), "x-rules")),
		"[{\"name\":\"roomSize\",\"description\":\"size is at most 2500 unless "
		"large_room is true.\"},{\"name\":\"roomWindow\",\"description\":\"closes_at "
		"is later than opens_at.\"}]");
}
END_TEST

START_TEST(parameters_are_documented)
{
	const json_t *parameters = describe_parameters(arena, &code_list_query);

	ck_assert_str_eq(
		text_of(json_array_get(parameters, 0)),
		"{\"name\":\"limit\",\"in\":\"query\",\"description\":\"Items per "
		"response. Default: 20.\",\"schema\":{\"x-default\":20,\"type\":\"integer\","
		"\"format\":\"int64\",\"minimum\":10,\"maximum\":100},\"example\":20}");
	ck_assert_uint_eq(json_array_size(parameters), 8);
	ck_assert_str_eq(
		text_of(arena_json(arena, describe_reference(&role_shape, DESCRIBE_PATCH))),
		REFERENCE("RolePatch"));
}
END_TEST

/* ---- queries ---- */

/* clang-format off */
static const struct {
	const struct shape *shape;
	const char *query, *expected;	/* expected: the values as JSON, or the faults */
} query_cases[] = {
	{ &template_list_query, "", "{\"limit\":10}" },
	{ &template_list_query, "limit=10", "{\"limit\":10}" },
	{ &template_list_query, "limit=100&name=a+b&default=false&start=",
	  "{\"limit\":100,\"name\":\"a b\",\"default\":false}" },
	{ &template_list_query, "limit=9", "limit: must be from 10 to 100, got 9" },
	{ &template_list_query, "limit=101", "limit: must be from 10 to 100, got 101" },
	{ &template_list_query, "limit=x", "limit: must be an integer, got \"x\"" },
	{ &template_list_query, "start=0123456789abcdef01234567",
	  "{\"start\":\"0123456789abcdef01234567\",\"limit\":10}" },
	{ &template_list_query, "start=x",
	  "start: must be an ID (24 lower-case hex digits), got \"x\"" },
	{ &template_list_query, "default=yes", "default: must be true or false, got \"yes\"" },
	{ &template_list_query, "name=a&name=a", "name: must not be given twice" },
	{ &room_list_query, "enabled=true&template_id=none&after=2026-01-31&before="
	  "2026-01-31T12%3A00%3A00%2B01%3A00&name=x",
	  "{\"enabled\":true,\"template_id\":\"none\",\"after\":\"2026-01-31\",\"before\":"
	  "\"2026-01-31T12:00:00+01:00\",\"name\":\"x\",\"limit\":10}" },
	{ &room_list_query, "after=&before=", "{\"limit\":10}" },
	{ &room_list_query, "before=2026-13-01&after=noon&limit=5&enabled=TRUE",
	  "limit: must be from 10 to 100, got 5\nenabled: must be true or false, got \"TRUE\"\n"
	  "after: must be an RFC 3339 time or a date, got \"noon\"\n"
	  "before: must be an RFC 3339 time or a date, got \"2026-13-01\"" },
	{ &code_list_query, "", "{\"limit\":20}" },
	{ &code_list_query, "limit=10&start=abc-defg-hij&role=a%2Fb&enabled=false",
	  "{\"limit\":10,\"start\":\"abc-defg-hij\",\"role\":\"a/b\",\"enabled\":false}" },
	{ &code_list_query, "limit=101", "limit: must be from 10 to 100, got 101" },
};
/* clang-format on */

START_TEST(a_query_is_accepted_or_rejected)
{
	struct buffer buffer = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;
	json_t *query, *line;
	size_t i;

	if (schema_query(arena, query_cases[_i].shape, slice_of(query_cases[_i].query), &query,
			 &fault))
		buffer_append_json(&buffer, query);
	json_array_foreach(fault.details, i, line) {
		buffer_append_text(&buffer, i == 0 ? "" : "\n");
		buffer_append_text(&buffer, json_string_value(line));
	}
	buffer_append_byte(&buffer, '\0');
	ck_assert_str_eq(buffer.data, query_cases[_i].expected);
}
END_TEST

static Suite *rules_suite(void)
{
	Suite *suite = suite_create("rules");
	TCase *rows = tcase_create("rows");
	TCase *bodies = tcase_create("bodies");
	TCase *answers = tcase_create("answers");

	tcase_add_checked_fixture(rows, set_up, tear_down);
	tcase_add_loop_test(rows, every_default_obeys_its_own_row, 0, ROWS(shapes));
	tcase_add_loop_test(rows, a_range_is_checked_at_both_ends, 0, ROWS(range_cases));
	tcase_add_loop_test(rows, a_choice_is_checked, 0, ROWS(choice_cases));
	tcase_add_loop_test(rows, a_text_rule_is_checked, 0, ROWS(text_cases));
	suite_add_tcase(suite, rows);

	tcase_add_checked_fixture(bodies, set_up, tear_down);
	tcase_add_loop_test(bodies, a_body_is_accepted_or_rejected, 0, ROWS(body_cases));
	tcase_add_test(bodies, a_list_of_layers_has_at_most_a_hundred);
	tcase_add_test(bodies, layers_beyond_a_hundred_are_not_compared);
	tcase_add_test(bodies, a_template_may_have_100_roles_and_1024_characters_of_description);
	tcase_add_test(bodies, a_region_as_the_only_fault_sets_the_message);
	tcase_add_test(bodies, the_size_of_a_room_is_checked_after_merging);
	tcase_add_loop_test(bodies, a_query_is_accepted_or_rejected, 0, ROWS(query_cases));
	suite_add_tcase(suite, bodies);

	tcase_add_checked_fixture(answers, set_up, tear_down);
	tcase_add_loop_test(answers, a_response_has_its_defaults_and_its_order, 0,
			    ROWS(answer_cases));
	tcase_add_test(answers, credentials_are_echoed_to_the_request_that_supplied_them);
	tcase_add_test(answers, the_hidden_members_are_write_only);
	tcase_add_loop_test(answers, a_row_is_documented, 0, ROWS(description_cases));
	tcase_add_test(answers, required_members_are_documented);
	tcase_add_test(answers, every_reference_resolves_and_every_rule_is_listed);
	tcase_add_test(answers, parameters_are_documented);
	suite_add_tcase(suite, answers);
	return suite;
}

int main(void)
{
	return suite_run(rules_suite());
}
