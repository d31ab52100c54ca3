/* The plan of a recording: which destination, which picture, which times. One row per case.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "resources/recordings/recording_plan.h"
#include "rules/start_rules.h"
#include "suite.h"

static struct arena *arena;

static void set_up(void)
{
	schema_verify(&recording_start_shape);
	arena = arena_open();
}

static void tear_down(void)
{
	arena_close(arena);
}

/* Quotes are written as ' in these tables. */
static json_t *parse(const char *text)
{
	char *quoted;
	json_t *value;

	if (text == NULL)
		return NULL;
	quoted = arena_text(arena, "%s", text);
	for (char *at = quoted; *at != '\0'; at++)
		*at = *at == '\'' ? '"' : *at;
	value = json_loads(quoted, 0, NULL);
	ck_assert_msg(value != NULL, "%s", text);
	return arena_json(arena, value);
}

#define CONFIG(members, browser) \
	"{'name':'school','role':'host'" members \
	",'compositeRecording':{'browserComposite':{" browser "}}}"

/* Writes what a plan says: "destination WxH@fps video/audio duration patience link", its roles, and
 * what is not enforced. */
static const char *shown(const struct recording_plan *plan)
{
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append_text(&text, arena_text(arena, "%.*s %ux%u@%u %u/%u %u %u %u",
					     (int)plan->destination.size, plan->destination.data,
					     plan->width, plan->height, plan->fps, plan->video_kbps,
					     plan->audio_kbps, plan->duration_most, plan->patience,
					     plan->link_seconds));
	if (plan->audio_only)
		buffer_append_text(&text, " audio");
	if (plan->starts_by_itself)
		buffer_append_text(&text, " starts");
	for (size_t i = 0; i < json_array_size(plan->roles); i++)
		buffer_append_text(&text,
				   arena_text(arena, " +%s",
					      json_string_value(json_array_get(plan->roles, i))));
	if (plan->roles != NULL && json_array_size(plan->roles) == 0)
		buffer_append_text(&text, " +nobody");
	for (size_t i = 0; i < plan->not_enforced_count; i++)
		buffer_append_text(&text, arena_text(arena, " !%s", plan->not_enforced[i]));
	buffer_append_byte(&text, '\0');
	return text.data;
}

#define USUAL "1280x720@25 1500/96"
#define TIMES " 14400 300 259200"

/* clang-format off */
static const struct planned {
	const char *config, *map, *body, *plan;
} planned[] = {
	/* the destination */
	{ NULL, NULL, NULL, " " USUAL TIMES },
	{ NULL, "{}", "{}", " " USUAL TIMES },
	{ NULL, "{'a':{}}", "{}", "a " USUAL TIMES },
	{ NULL, "{'a':{},'b':{}}", "{'destination':'b'}", "b " USUAL TIMES },
	{ NULL, "{'a':{},'b':{}}", "{}", "/destination: is required, because the template has several" },
	{ NULL, "{'a':{}}", "{'destination':'x'}",
	  "/destination: must be a destination of the room's template for recordings, got \"x\"" },
	{ CONFIG("", ""), "{'a':{},'b':{}}", "{}", "school " USUAL TIMES " +host +guest" },
	{ CONFIG("", "'enabled':true"), NULL, "{'destination':'school'}", "school " USUAL TIMES " +host +guest" },
	{ CONFIG("", "'enabled':false"), NULL, "{}", " " USUAL TIMES },
	{ CONFIG("", "'enabled':false"), NULL, "{'destination':'school'}",
	  "/destination: must be a destination of the room's template for recordings, got \"school\"" },
	{ CONFIG("", "'enabled':false"), "{'a':{}}", "{}", "a " USUAL TIMES },
	{ CONFIG("", "'enabled':false"), "{'school':{}}", "{'destination':'school'}", "school " USUAL TIMES },
	{ CONFIG("", ""), "{'a':{}}", "{'destination':'a'}", "a " USUAL TIMES },
	{ CONFIG("", ""), "{'school':{'width':640,'height':480}}", "{}", "school " USUAL TIMES " +host +guest" },
	{ "{'name':'school','role':'host','streamRecording':{'enabled':true}}", NULL, "{}", " " USUAL TIMES },
	{ NULL, "{'a':{'autoStart':true}}", NULL, "a " USUAL TIMES " starts" },
	/* the picture */
	{ NULL, NULL, "{'resolution':{'width':1920,'height':1080}}", " 1920x1080@25 3375/96" TIMES },
	{ NULL, NULL, "{'resolution':{'width':501,'height':481}}", " 500x480@25 400/96" TIMES },
	{ NULL, NULL, "{'resolution':{'width':1080,'height':1920}}", " 1080x1920@25 3375/96" TIMES },
	{ NULL, "{'a':{'width':640,'height':480}}", "{}", "a 640x480@25 500/96" TIMES },
	{ NULL, "{'a':{'width':641,'height':481}}", "{}", "a 640x480@25 500/96" TIMES },
	{ NULL, "{'a':{'width':640,'height':480}}", "{'resolution':{'width':800,'height':600}}",
	  "a 800x600@25 781/96" TIMES },
	{ NULL, "{'a':{'width':3840,'height':2160}}", "{}", "a 1920x1080@25 3375/96" TIMES " !width !height" },
	{ NULL, "{'a':{'width':320,'height':240}}", "{}", "a 640x480@25 500/96" TIMES " !width !height" },
	{ NULL, "{'a':{'width':2000,'height':100}}", "{}", "a 1920x480@25 1500/96" TIMES " !width !height" },
	{ NULL, "{'a':{'width':100,'height':2000}}", "{}", "a 500x1920@25 1562/96" TIMES " !width !height" },
	{ NULL, "{'a':{'width':1080,'height':2160}}", "{}", "a 960x1920@25 3000/96" TIMES " !width !height" },
	{ NULL, "{'a':{'width':9223372036854775807,'height':9223372036854775807}}", "{}",
	  "a 1080x1080@25 1898/96" TIMES " !width !height" },
	{ NULL, "{'a':{'width':1920}}", "{}", "a " USUAL TIMES " !width" },
	{ NULL, "{'a':{'height':720}}", "{}", "a " USUAL TIMES },
	{ NULL, "{'a':{'width':0,'height':0}}", "{}", "a " USUAL TIMES },
	{ CONFIG("", "'width':800,'height':600"), NULL, "{}", "school 800x600@25 781/96" TIMES " +host +guest" },
	{ NULL, NULL, "{'audio_only':true}", " " USUAL TIMES " audio" },
	/* the times */
	{ NULL, "{'a':{'maxDuration':60,'autoStopTimeout':0,'presignDuration':60}}", "{}", "a " USUAL " 60 0 60" },
	{ NULL, "{'a':{'maxDuration':43200,'autoStopTimeout':3600,'presignDuration':604800}}", "{}",
	  "a " USUAL " 43200 3600 604800" },
	{ NULL, "{'a':{'maxDuration':43201,'autoStopTimeout':3601,'presignDuration':604801}}", "{}",
	  "a " USUAL " 43200 3600 604800 !maxDuration !autoStopTimeout !presignDuration" },
	{ NULL, "{'a':{'maxDuration':0,'presignDuration':59}}", "{}", "a " USUAL " 14400 300 60 !presignDuration" },
	{ CONFIG(",'maxDuration':90,'presignDuration':70", "'autoStopTimeout':80,'autoStart':true"), NULL, "{}",
	  "school " USUAL " 90 80 70 starts +host +guest" },
	/* whom it hears, and what has no effect */
	{ NULL, "{'a':{'role':'guest'}}", "{}", "a " USUAL TIMES " +nobody" },
	{ NULL, "{'a':{'role':'host'}}", "{}", "a " USUAL TIMES " +host +guest" },
	{ NULL, "{'a':{'role':''}}", "{}", "a " USUAL TIMES },
	{ NULL, "{'a':{'role':'gone'}}", "{}", "a " USUAL TIMES " !role" },
	{ NULL, "{'a':{'thumbnails':{'width':1}}}", "{}", "a " USUAL TIMES " !thumbnails" },
	{ NULL, "{'a':{'thumbnails':{}}}", "{}", "a " USUAL TIMES },
	{ CONFIG(",'trackRecording':{'enabled':true},'streamRecording':{'enabled':true}", ""), NULL, "{}",
	  "school " USUAL TIMES " +host +guest !trackRecording !streamRecording" },
	{ "{'name':'s','role':'host','compositeRecording':{'browserComposite':{},'customComposite':{'enabled':true}}}",
	  NULL, "{}", "s " USUAL TIMES " +host +guest !customComposite" },
	{ NULL, NULL, "{'transcription':{}}", " " USUAL TIMES " !transcription" },
	{ NULL, NULL, "{'transcription':{'enabled':false}}", " " USUAL TIMES },
};
/* clang-format on */

START_TEST(a_plan_follows_the_body_and_the_template)
{
	const struct planned *row = &planned[_i];
	const struct recording_sources sources = {
		.config = parse(row->config),
		.destinations = parse(row->map),
		.subscriptions = parse("{'host':['host','guest'],'guest':[]}"),
	};
	struct fault fault = FAULT_INITIAL;
	struct recording_plan plan;

	if (recording_plan_make(arena, &sources, parse(row->body), &plan, &fault))
		ck_assert_str_eq(shown(&plan), row->plan);
	else
		ck_assert_str_eq(fault.detail, row->plan);
}
END_TEST

/* clang-format off */
static const struct starting {
	const char *config, *map, *name;
} starting[] = {
	{ NULL, NULL, NULL },
	{ NULL, "{'a':{}}", NULL },
	{ NULL, "{'a':{'autoStart':false}}", NULL },
	{ NULL, "{'b':{'autoStart':true},'a':{'autoStart':true}}", "a" },
	{ CONFIG("", "'autoStart':true"), "{'z':{'autoStart':true}}", "school" },
	{ CONFIG("", "'autoStart':true"), "{'a':{'autoStart':true}}", "a" },
	{ CONFIG("", "'autoStart':true,'enabled':false"), NULL, NULL },
};
/* clang-format on */

START_TEST(the_first_destination_by_name_starts_by_itself)
{
	const struct starting *row = &starting[_i];
	const struct recording_sources sources = {
		.config = parse(row->config),
		.destinations = parse(row->map),
	};
	const struct slice name = recording_plan_starting(&sources);

	ck_assert_int_eq(name.data == NULL, row->name == NULL);
	ck_assert(row->name == NULL || slice_is(name, row->name));
}
END_TEST

/* Bodies that a start refuses, and the detail of the fault; NULL if it takes them. */
/* clang-format off */
static const struct body {
	const char *body, *detail;
} bodies[] = {
	{ "{}", NULL },
	{ "{'meeting_url':'test_meeting_id'}", NULL },
	{ "{'meeting_url':5}", "/meeting_url: must be a string, got 5" },
	{ "{'resolution':{'width':500,'height':480}}", NULL },
	{ "{'resolution':{'width':500,'height':500}}", NULL },
	{ "{'resolution':{'width':1080,'height':1080}}", NULL },
	{ "{'resolution':{'width':500,'height':1920}}", NULL },
	{ "{'resolution':{'width':1920,'height':480}}", NULL },
	{ "{'resolution':{'width':499,'height':480}}", "/resolution/width: must be from 500 to 1920, got 499" },
	{ "{'resolution':{'width':10000,'height':480}}", "/resolution/width: must be from 500 to 1920, got 10000" },
	{ "{'resolution':{'width':500,'height':479}}", "/resolution/height: must be from 480 to 1920, got 479" },
	{ "{'resolution':{'width':1920,'height':1081}}", "/resolution/height: must be from 480 to 1080, got 1081" },
	{ "{'resolution':{'width':1081,'height':1920}}",
	  "/resolution/width: must be from 500 to 1080 for an upright picture, got 1081" },
	{ "{'resolution':{'width':1280}}", "/resolution/height: is required" },
	{ "{'resolution':{'width':1280.5,'height':720}}", "/resolution/width: must be an integer, got 1280.5" },
	{ "{'destination':7}", "/destination: must be a string, got 7" },
	{ "{'audio_only':'yes'}", "/audio_only: must be a boolean, got \"yes\"" },
	{ "{'transcription':5}", "/transcription: must be an object, got a number" },
};
/* clang-format on */

START_TEST(a_start_checks_its_body)
{
	const struct body *row = &bodies[_i];
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	bool is_taken;

	findings_open(&findings, arena);
	is_taken = schema_check(&recording_start_shape, parse(row->body), SCHEMA_WHOLE, false,
				&findings, &fault);
	ck_assert_int_eq(is_taken, row->detail == NULL);
	if (row->detail != NULL)
		ck_assert_str_eq(json_string_value(json_array_get(fault.details, 0)), row->detail);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording_plan");
	TCase *tcase = tcase_create("plan");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, a_plan_follows_the_body_and_the_template, 0, ROWS(planned));
	tcase_add_loop_test(tcase, the_first_destination_by_name_starts_by_itself, 0,
			    ROWS(starting));
	tcase_add_loop_test(tcase, a_start_checks_its_body, 0, ROWS(bodies));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
