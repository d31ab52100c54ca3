/* See recorder/contract.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/contract.h"

#include <stdio.h>

#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"

#define VERSION 1
/* Limits for what the service may ask. */
#define EVERY_LEAST 100
#define EVERY_MOST 60000
#define LEASE_MOST 3600000
/* Characters of an output's address; the service goes by its place. */
#define OUTPUT_SHOWN 100

static const char *const state_names[] = {
	[WORK_OPENING] = "opening", [WORK_RUNNING] = "running",	  [WORK_PAUSED] = "paused",
	[WORK_WAITING] = "waiting", [WORK_STOPPING] = "stopping", [WORK_JOINING] = "joining",
	[WORK_SENDING] = "sending", [WORK_DONE] = "done",	  [WORK_BROKEN] = "broken",
};

const char *work_state_name(enum work_state state)
{
	return state_names[state];
}

/* ---- the report ---- */

static void write_need(struct json_writer *writer, const struct work_news *work, const char *what)
{
	writer_open(writer, NULL, '{');
	writer_plain(writer, "account", slice_of(work->account));
	writer_plain(writer, "job", slice_of(work->job));
	writer_plain(writer, "what", slice_of(what));
	writer_close(writer, '}');
}

static void write_files(struct json_writer *writer, const struct work_news *work)
{
	writer_open(writer, "files", '[');
	for (size_t i = 0; i < work->files_count; i++) {
		const struct recorded_file *file = &work->files[i];

		writer_open(writer, NULL, '{');
		writer_plain(writer, "name", slice_of(file->name));
		writer_integer(writer, "bytes", file->bytes);
		if (file->duration_ms > 0) {
			writer_integer(writer, "duration_ms", file->duration_ms);
			writer_integer(writer, "width", file->width);
			writer_integer(writer, "height", file->height);
		}
		writer_close(writer, '}');
	}
	writer_close(writer, ']');
}

static void write_outputs(struct json_writer *writer, const struct work_news *work,
			  bool with_errors)
{
	static const char *const names[] = {
		[OUTPUT_CONNECTING] = "connecting",
		[OUTPUT_LIVE] = "live",
		[OUTPUT_FAILED] = "failed",
	};

	writer_open(writer, "outputs", '[');
	for (size_t i = 0; i < work->outputs_count; i++) {
		const struct output_news *output = work->outputs[i];

		writer_open(writer, NULL, '{');
		writer_text(writer, "url", text_first(slice_of(output->url), OUTPUT_SHOWN));
		writer_plain(writer, "state", slice_of(names[output->state]));
		writer_time_milliseconds(writer, "since", output->since);
		if (with_errors && output->error[0] != '\0')
			writer_text(writer, "error", slice_of(output->error));
		writer_close(writer, '}');
	}
	writer_close(writer, ']');
}

static void write_work(struct json_writer *writer, const struct work_news *work, bool with_gaps,
		       bool with_errors)
{
	const size_t skipped = work->gaps_count > REPORT_GAPS_MOST
				       ? work->gaps_count - REPORT_GAPS_MOST
				       : 0;

	writer_open(writer, NULL, '{');
	writer_plain(writer, "account", slice_of(work->account));
	writer_plain(writer, "job", slice_of(work->job));
	writer_integer(writer, "epoch", work->epoch);
	writer_plain(writer, "state", slice_of(work_state_name(work->state)));
	writer_integer(writer, "part", work->part);
	if (work->media_at > 0)
		writer_time_milliseconds(writer, "media_at", work->media_at);
	else
		writer_value(writer, "media_at", json_null());
	writer_integer(writer, "recorded_ms", work->recorded_ms);
	writer_open(writer, "gaps", '[');
	for (size_t i = skipped; with_gaps && i < work->gaps_count; i++) {
		writer_open(writer, NULL, '{');
		writer_integer(writer, "at_ms", work->gaps[i].at_ms);
		writer_integer(writer, "missing_ms", work->gaps[i].missing_ms);
		writer_close(writer, '}');
	}
	writer_close(writer, ']');
	writer_integer(writer, "people", work->people);
	if (work->outputs_count > 0)
		write_outputs(writer, work, with_errors);
	if (work->state == WORK_SENDING || work->state == WORK_DONE)
		write_files(writer, work);
	if (with_errors && work->error[0] != '\0')
		writer_text(writer, "error", text_first(slice_of(work->error), REPORT_ERROR_MOST));
	writer_close(writer, '}');
}

static struct slice write_once(struct arena *arena, const struct report *report, bool with_gaps,
			       bool with_errors)
{
	struct json_writer writer = writer_begin(arena, false);

	writer_plain(&writer, "boot", slice_of(report->boot));
	writer_integer(&writer, "n", report->n);
	writer_integer(&writer, "version", VERSION);
	writer_plain(&writer, "folder", slice_of(report->folder));
	writer_integer(&writer, "slots", report->slots);
	writer_integer(&writer, "free_bytes", report->free_bytes);
	writer_integer(&writer, "total_bytes", report->total_bytes);
	writer_value(&writer, "busy", arena_json(arena, json_real(report->busy)));
	if (report->ends)
		writer_flag(&writer, "ends", true);
	writer_open(&writer, "needs", '[');
	for (size_t i = 0; i < report->works_count; i++) {
		if (report->works[i].needs_order)
			write_need(&writer, &report->works[i], "order");
		if (report->works[i].needs_put)
			write_need(&writer, &report->works[i], "put");
	}
	writer_close(&writer, ']');
	writer_open(&writer, "works", '[');
	for (size_t i = 0; i < report->works_count; i++)
		write_work(&writer, &report->works[i], with_gaps, with_errors);
	writer_close(&writer, ']');
	return writer_end(&writer);
}

struct slice report_write(struct arena *arena, const struct report *report)
{
	struct slice text = write_once(arena, report, true, true);

	if (text.size > REPORT_MOST)
		text = write_once(arena, report, false, true);
	if (text.size > REPORT_MOST)
		text = write_once(arena, report, false, false);
	return text;
}

/* ---- the response ---- */

static bool read_number(const json_t *object, const char *name, int64_t least, int64_t most,
			int64_t *number)
{
	const json_t *value = json_object_get(object, name);

	*number = json_integer_value(value);
	return json_is_integer(value) && *number >= least && *number <= most;
}

/* Reads an id, of which names of folders are made. */
static bool read_id(const json_t *object, const char *name, char text[ID_TEXT_SIZE + 1])
{
	const struct slice value = text_of_json(json_object_get(object, name));
	struct id id;

	if (!id_parse(value, &id))
		return false;
	id_print(&id, text);
	return true;
}

static bool read_want(const json_t *value, enum work_want *want)
{
	static const char *const names[] = {
		[WANT_RUN] = "run",
		[WANT_PAUSE] = "pause",
		[WANT_STOP] = "stop",
		[WANT_DROP] = "drop",
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (slice_is(text_of_json(value), names[i])) {
			*want = (enum work_want)i;
			return true;
		}
	}
	return false;
}

static bool read_wanted(const json_t *value, struct wanted *work)
{
	const json_t *order = json_object_get(value, "order"), *put = json_object_get(value, "put");

	work->order = json_is_object(order) ? order : NULL;
	work->put = json_is_array(put) ? put : NULL;
	work->erases = json_is_true(json_object_get(value, "erase"));
	/* A work that is dropped has nothing else. */
	return read_id(value, "account", work->account) && read_id(value, "job", work->job) &&
	       read_want(json_object_get(value, "want"), &work->want) &&
	       ((read_number(value, "epoch", 0, INT64_MAX, &work->epoch) &&
		 read_number(value, "rev", 0, INT64_MAX, &work->rev) &&
		 read_number(value, "inside", 0, INT64_MAX, &work->inside)) ||
		work->want == WANT_DROP);
}

bool answer_read(struct arena *arena, struct slice text, struct answer *answer, struct fault *fault)
{
	const json_t *json = json_text_read_stored(arena, text, NULL), *works;

	*answer = (struct answer){ .now = 0 };
	works = json_object_get(json, "works");
	if (json == NULL ||
	    !text_time_parse(text_of_json(json_object_get(json, "now")), &answer->now) ||
	    !read_number(json, "n", 0, INT64_MAX, &answer->n) ||
	    !read_number(json, "every_ms", EVERY_LEAST, EVERY_MOST, &answer->every_ms) ||
	    !read_number(json, "lease_ms", 1, LEASE_MOST, &answer->lease_ms) ||
	    !json_is_array(works))
		return fault_cause(fault, FAULT_INTERNAL, 0,
				   "the response is not that to a recorder; check the URL");
	answer->works_count = json_array_size(works);
	answer->works = arena_zero(arena, (answer->works_count + 1) * sizeof *answer->works);
	for (size_t i = 0; i < answer->works_count; i++) {
		if (!read_wanted(json_array_get(works, i), &answer->works[i]))
			return fault_cause(fault, FAULT_INTERNAL, 0,
					   "the response has a work that cannot be read");
	}
	return true;
}

/* ---- the parts of an order ---- */

bool order_has_page(const json_t *order)
{
	const struct slice page = text_of_json(json_object_get(order, "page"));

	return page.size > 0 && page.data[0] == '/' &&
	       json_is_object(json_object_get(order, "join")) &&
	       json_is_object(json_object_get(order, "look"));
}

const char *order_folder(const json_t *order)
{
	const char *folder = json_string_value(json_object_get(order, "dir"));
	bool is_after_slash = true;

	if (folder == NULL || strlen(folder) > 200)
		return NULL;
	/* Names of letters, digits, _ and -, with single slashes between them. */
	for (const char *at = folder; *at != '\0'; at++) {
		const bool is_slash = *at == '/';

		if ((is_slash && is_after_slash) ||
		    (!is_slash && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789_-",
					 *at) == NULL))
			return NULL;
		is_after_slash = is_slash;
	}
	return is_after_slash ? NULL : folder;
}

bool order_has_folder(const json_t *order)
{
	return order_folder(order) != NULL;
}

static bool order_time(const json_t *value, int64_t *time)
{
	return text_time_parse(text_of_json(value), time);
}

int64_t order_until(const json_t *order)
{
	int64_t until;

	return order_time(json_object_get(order, "until"), &until) ? until : INT64_MAX;
}

size_t order_excluded(struct arena *arena, const json_t *order, struct span **spans)
{
	const json_t *pauses = json_object_get(order, "pauses");
	const size_t most = json_array_size(pauses) + 1;
	size_t n = 0;
	int64_t stopped;

	*spans = arena_alloc(arena, most * sizeof **spans);
	for (size_t i = 0; i < json_array_size(pauses); i++) {
		const json_t *pause = json_array_get(pauses, i);
		struct span span = { 0, INT64_MAX };

		if (!order_time(json_object_get(pause, "from"), &span.from))
			continue;
		(void)order_time(json_object_get(pause, "to"), &span.to);
		(*spans)[n++] = span;
	}
	if (order_time(json_object_get(order, "stopped_at"), &stopped))
		(*spans)[n++] = (struct span){ stopped, INT64_MAX };
	return n;
}

const char *order_media_host(struct arena *arena, const json_t *order)
{
	const json_t *join = json_object_get(order, "join");
	struct slice authority, host;
	unsigned port;

	/* The response of /v2/token/join has it in a member of this name. */
	if (json_is_object(json_object_get(join, "join")))
		join = json_object_get(join, "join");
	authority = text_url_authority(text_of_json(json_object_get(join, "url")));
	if (authority.size == 0 || !text_url_split_port(authority, &host, &port) || host.size == 0)
		return NULL;
	return arena_copy(arena, text_lower(arena, host)).data;
}

bool order_streams(const json_t *order)
{
	return json_is_object(json_object_get(order, "hls")) ||
	       json_is_object(json_object_get(order, "rtmp"));
}

bool order_keeps_file(const json_t *order)
{
	return order_has_folder(order) && !json_is_false(json_object_get(order, "file"));
}

struct slice order_kept(struct arena *arena, const json_t *order, const char *recorder,
			int64_t epoch)
{
	static const char *const kept[] = { "page",	  "look",   "dir",  "until",
					    "stopped_at", "pauses", "file", "hls" };
	struct json_writer writer = writer_begin(arena, false);

	if (order_streams(order))
		writer_value(&writer, "streams", json_true());
	writer_text(&writer, "recorder", slice_of(recorder));
	writer_integer(&writer, "epoch", epoch);
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
		const json_t *value = json_object_get(order, kept[i]);

		if (value != NULL)
			writer_value(&writer, kept[i], value);
	}
	return writer_end(&writer);
}
