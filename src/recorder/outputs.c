/* See recorder/outputs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"

/* All of these in milliseconds. */
#define CONNECT_MS 25000
#define HANGS_MS 10000
/* A server may take a stream and then end it, so a connection counts once it has held so long. */
#define SETTLES_MS 2000
#define STEADY_MS 60000 /* a connection that held so long was a good one */

#define WAITING_MOST ((size_t)4 << 20) /* bytes; some 20 s */
#define FILE_HEADER_SIZE 13

static const int64_t output_pauses[] = { 1000, 3000, 10000, 30000 };
#define PAUSES (sizeof output_pauses / sizeof output_pauses[0])

/* ---- tags ---- */

enum flv_type { FLV_AUDIO = 8, FLV_VIDEO = 9, FLV_SCRIPT = 18 };

struct flv_tag {
	struct flv_tag *next;
	size_t size;
	bool is_key;
	char bytes[];
};

static struct flv_tag *tag_copy(const struct flv_tag *tag)
{
	struct flv_tag *copy = memory_check(malloc(sizeof *copy + tag->size));

	memcpy(copy, tag, sizeof *tag + tag->size);
	copy->next = NULL;
	return copy;
}

static void set_time(struct flv_tag *tag, int64_t time)
{
	const uint32_t value = (uint32_t)(time < 0 ? 0 : time);

	tag->bytes[4] = (char)(value >> 16);
	tag->bytes[5] = (char)(value >> 8);
	tag->bytes[6] = (char)value;
	tag->bytes[7] = (char)(value >> 24);
}

static int64_t time_of(const char *bytes)
{
	const unsigned char *at = (const unsigned char *)bytes + 4;

	return (int64_t)((uint32_t)at[3] << 24 | (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 |
			 at[2]);
}

/* Returns which of the headers a tag is, or -1. */
static int header_of(const char *bytes, size_t size)
{
	const char *body = bytes + FLV_HEADER_SIZE;

	if (bytes[0] == FLV_SCRIPT)
		return 0;
	if (size < FLV_HEADER_SIZE + 2 + FLV_TRAILER_SIZE || body[1] != 0)
		return -1;
	/* H.264, and AAC: the second byte says whether it is their header. */
	if (bytes[0] == FLV_VIDEO && (body[0] & 0x0f) == 7)
		return 1;
	return bytes[0] == FLV_AUDIO && ((unsigned char)body[0] >> 4) == 10 ? 2 : -1;
}

/* ---- the queue of an output ---- */

static void free_tags(struct flv_tag *tag)
{
	while (tag != NULL) {
		struct flv_tag *next = tag->next;

		free(tag);
		tag = next;
	}
}

static void append_tag(struct output *output, const struct flv_tag *tag)
{
	struct flv_tag *copy = tag_copy(tag);

	/* The metadata has no time of its own. */
	set_time(copy, tag->bytes[0] == FLV_SCRIPT ? 0 : time_of(tag->bytes) - output->base_ms);
	if (output->first == NULL) {
		output->first = copy;
		output->moved_at = clock_monotonic();
	} else {
		output->last->next = copy;
	}
	output->last = copy;
	output->waiting += copy->size;
}

/* Drops what waits, but for a tag of which a part has been sent. */
static void drop_waiting(struct output *output)
{
	struct flv_tag *begun = output->sent > 0 ? output->first : NULL;

	free_tags(begun != NULL ? begun->next : output->first);
	if (begun != NULL)
		begun->next = NULL;
	output->first = output->last = begun;
	output->waiting = begun == NULL ? 0 : begun->size;
	output->wants_key = true;
}

/* Writes what the process takes. Returns false if it is gone. */
static bool write_waiting(struct output *output)
{
	while (output->first != NULL) {
		struct flv_tag *tag = output->first;
		const ssize_t n = write(output->input, tag->bytes + output->sent,
					tag->size - output->sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		output->moved_at = clock_monotonic();
		output->sent += (size_t)n;
		if (output->sent < tag->size)
			continue;
		output->first = tag->next;
		output->waiting -= tag->size;
		output->sent = 0;
		free(tag);
	}
	output->last = NULL;
	return true;
}

static void give_tag(struct outputs *outputs, struct output *output, const struct flv_tag *tag)
{
	if (!output->is_live)
		return;
	if (output->waiting > WAITING_MOST)
		drop_waiting(output);
	if (output->wants_key) {
		if (!tag->is_key)
			return;
		if (output->base_ms < 0)
			output->base_ms = time_of(tag->bytes);
		for (size_t i = 0; i < FLV_HEADERS; i++) {
			struct flv_tag *header = outputs->flv.headers[i];

			if (header == NULL)
				continue;
			set_time(header, time_of(tag->bytes));
			append_tag(output, header);
		}
		output->wants_key = false;
	}
	append_tag(output, tag);
}

/* ---- FLV ---- */

static void take_tag(struct outputs *outputs, const char *bytes, size_t size)
{
	struct flv *flv = &outputs->flv;
	struct flv_tag *tag = memory_check(malloc(sizeof *tag + size));
	const int header = header_of(bytes, size);

	*tag = (struct flv_tag){ .size = size };
	memcpy(tag->bytes, bytes, size);
	if (header >= 0) {
		free(flv->headers[header]);
		flv->headers[header] = tag;
		flv->has_video = flv->has_video || header == 1;
		return;
	}
	/* Without a picture, each sound is a beginning. */
	tag->is_key = bytes[0] == FLV_VIDEO ? (bytes[FLV_HEADER_SIZE] & 0xf0) == 0x10
					    : !flv->has_video;
	flv->last_ms = time_of(bytes) + flv->offset_ms;
	flv->last_at = clock_monotonic();
	set_time(tag, flv->last_ms);
	for (size_t i = 0; i < outputs->count; i++)
		give_tag(outputs, &outputs->all[i], tag);
	free(tag);
	outputs->is_flowing = true;
}

bool outputs_take(struct outputs *outputs, struct slice bytes)
{
	struct flv *flv = &outputs->flv;
	size_t at = 0;

	flv->bytes = memory_room(flv->bytes, flv->size + bytes.size, &flv->capacity, 1);
	memcpy(flv->bytes + flv->size, bytes.data, bytes.size);
	flv->size += bytes.size;
	if (!flv->has_begun) {
		if (flv->size < FILE_HEADER_SIZE)
			return true;
		if (memcmp(flv->bytes, "FLV", 3) != 0)
			return false;
		flv->has_begun = true;
		at = FILE_HEADER_SIZE;
	}
	while (flv->size - at >= FLV_HEADER_SIZE) {
		const unsigned char *head = (const unsigned char *)flv->bytes + at;
		const size_t size = FLV_HEADER_SIZE +
				    ((size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3]) +
				    FLV_TRAILER_SIZE;

		if (flv->size - at < size)
			break;
		take_tag(outputs, flv->bytes + at, size);
		at += size;
	}
	flv->size -= at;
	memmove(flv->bytes, flv->bytes + at, flv->size);
	return true;
}

static void forget_headers(struct flv *flv)
{
	for (size_t i = 0; i < FLV_HEADERS; i++) {
		free(flv->headers[i]);
		flv->headers[i] = NULL;
	}
}

void outputs_begin(struct outputs *outputs)
{
	struct flv *flv = &outputs->flv;

	forget_headers(flv);
	flv->size = 0;
	flv->has_begun = flv->has_video = false;
	/* Connections that are there go on: their time is that which has passed. */
	if (flv->last_at != 0)
		flv->offset_ms = flv->last_ms + clock_monotonic() - flv->last_at;
	for (size_t i = 0; i < outputs->count; i++)
		outputs->all[i].wants_key = true;
}

void outputs_pause(struct outputs *outputs)
{
	outputs->is_flowing = false;
}

/* ---- addresses ---- */

void outputs_mask(const char *url, char masked[STREAM_URL_MOST + 1])
{
	const char *scheme = strstr(url, "://");
	const char *path = strchr(scheme == NULL ? url : scheme + 3, '/');
	size_t begin = path == NULL ? strlen(url) : (size_t)(path - url) + strcspn(path, "?#");
	struct slice key;

	while (path != NULL && url + begin > path && url[begin - 1] != '/')
		begin--;
	key = slice_of(url + begin);
	if (key.size >= 12)
		(void)snprintf(masked, STREAM_URL_MOST + 1, "%.*s{%.3s...%s}", (int)begin, url,
			       key.data, key.data + key.size - 3);
	else
		(void)snprintf(masked, STREAM_URL_MOST + 1, "%.*s{...}", (int)begin, url);
}

static void set_output_state(struct output *output, enum output_state state, int64_t now)
{
	const char *error = output->news.error[0] == '\0' ? NULL : output->news.error;

	if (output->news.state == state)
		return;
	output->news.state = state;
	output->news.since = now;
	if (state == OUTPUT_FAILED)
		log_event(LOG_LEVEL_ERROR, "recorder_output", "url", output->news.url, "state",
			  "failed", "error", error, NULL);
	else
		log_event(LOG_LEVEL_NOTICE, "recorder_output", "url", output->news.url, "state",
			  state == OUTPUT_LIVE ? "live" : "connecting", "error", error, NULL);
}

void outputs_open(struct outputs *outputs, const json_t *order, const struct address_ranges *ranges,
		  int64_t now)
{
	const json_t *urls = json_object_get(order, "urls");
	const int64_t give_up = json_integer_value(json_object_get(order, "give_up_ms"));

	*outputs = (struct outputs){ .give_up_ms = give_up > 0 ? give_up : 600000,
				     .ranges = ranges };
	for (size_t i = 0; i < json_array_size(urls) && i < OUTPUTS_MOST; i++) {
		struct output *output = &outputs->all[outputs->count++];
		const char *url =
			json_string_value(json_object_get(json_array_get(urls, i), "url"));

		(void)snprintf(output->url, sizeof output->url, "%s", url == NULL ? "" : url);
		outputs_mask(output->url, output->news.url);
		output->news.since = now;
		output->says.descriptor = output->input = -1;
		output->without_since = clock_monotonic();
	}
}

/* ---- connections ---- */

/* Ends the process of an output. */
static void disconnect(struct children *children, struct output *output)
{
	if (output->input >= 0)
		close(output->input);
	output->input = -1;
	child_end(children, &output->child);
	tail_close(&output->says);
	free_tags(output->first);
	output->first = output->last = NULL;
	output->waiting = output->sent = 0;
	output->is_live = false;
}

/* The program is this one, with nothing of the environment but the authorities of TLS. */
static int prepare_sender(void *context, const char **arguments)
{
	const char *file = getenv("SSL_CERT_FILE"), *folder = getenv("SSL_CERT_DIR");
	char *kept_file = file == NULL ? NULL : strdup(file);
	char *kept_folder = folder == NULL ? NULL : strdup(folder);

	(void)context;
	(void)arguments;
	if (clearenv() != 0 || (kept_file != NULL && setenv("SSL_CERT_FILE", kept_file, 1) != 0) ||
	    (kept_folder != NULL && setenv("SSL_CERT_DIR", kept_folder, 1) != 0))
		return EXIT_FAILURE;
	return 0;
}

static void connect_output(struct children *children, const struct outputs *outputs,
			   struct output *output)
{
	const char *const arguments[] = { "/proc/self/exe", STREAM_SENDER, NULL };
	struct stream_target *target = memory_check(calloc(1, sizeof *target));
	struct child_start start = {
		.arguments = arguments,
		.descriptors = { -1, -1, -1, -1, -1 },
		.prepare = prepare_sender,
	};
	struct fault fault = FAULT_INITIAL;
	int in[2] = { -1, -1 };

	output->began_at = output->moved_at = clock_monotonic();
	start.descriptors[1] = tail_open(&output->says);
	memcpy(target->url, output->url, sizeof target->url);
	target->ranges = *outputs->ranges;
	if (start.descriptors[1] >= 0 && pipe2(in, O_CLOEXEC) == 0) {
		start.descriptors[0] = in[0];
		/* The pipe is empty, and its size that of sixteen pages at least. */
		(void)!write(in[1], target, sizeof *target);
		output->input = descriptor_unblocked(in[1]);
		if (!child_start(children, &output->child, &start, &fault))
			disconnect(children, output);
		close(in[0]);
	}
	if (start.descriptors[1] >= 0)
		close(start.descriptors[1]);
	explicit_bzero(target, sizeof *target);
	free(target);
	output->wants_key = true;
	output->base_ms = -1;
}

/* A connection is over, or there was none: the next one is due later, or never. */
static void output_failed(struct children *children, const struct outputs *outputs,
			  struct output *output, const char *why, int64_t now)
{
	const int64_t at = clock_monotonic();

	if (output->news.state == OUTPUT_LIVE)
		output->without_since = at;
	if (output->is_live && at - output->began_at >= STEADY_MS)
		output->failures = 0;
	disconnect(children, output);
	(void)snprintf(output->news.error, sizeof output->news.error, "%s", why);
	output->next_at = at +
			  output_pauses[output->failures < PAUSES ? output->failures : PAUSES - 1];
	output->failures++;
	set_output_state(output,
			 at - output->without_since >= outputs->give_up_ms ? OUTPUT_FAILED
									   : OUTPUT_CONNECTING,
			 now);
	if (output->news.state == OUTPUT_FAILED)
		explicit_bzero(output->url, sizeof output->url);
}

/* Hears what the process says. Returns whether it goes on. */
static bool hear_output(struct output *output, int64_t now)
{
	const bool goes_on = tail_read(&output->says);
	static const char live[] = STREAM_LIVE "\n";

	if (!output->is_live && output->says.size >= sizeof live - 1 &&
	    memcmp(output->says.bytes, live, sizeof live - 1) == 0) {
		output->is_live = output->wants_key = true;
		output->began_at = output->moved_at = clock_monotonic();
	}
	if (output->is_live && output->news.state == OUTPUT_CONNECTING &&
	    clock_monotonic() - output->began_at >= SETTLES_MS) {
		output->news.error[0] = '\0';
		set_output_state(output, OUTPUT_LIVE, now);
	}
	return goes_on;
}

static void step_output(struct children *children, struct outputs *outputs, struct output *output,
			int64_t now)
{
	const int64_t at = clock_monotonic();
	char line[TAIL_SIZE + 1];
	const char *why = NULL;

	if (output->news.state == OUTPUT_FAILED)
		return;
	if (output->input < 0) {
		/* Without media there is nothing to send, and nobody is to blame. */
		if (!outputs->is_flowing)
			output->without_since = at;
		else if (at >= output->next_at)
			connect_output(children, outputs, output);
		return;
	}
	if (!hear_output(output, now)) {
		why = tail_line(&output->says, line);
		if (why[0] == '\0' || strcmp(why, STREAM_LIVE) == 0)
			why = "the connection ended";
	} else if (!output->is_live && at - output->began_at >= CONNECT_MS) {
		why = "the server does not answer";
	} else if (!write_waiting(output)) {
		/* It says why in a moment. */
		drop_waiting(output);
	} else if (output->first != NULL && at - output->moved_at >= HANGS_MS) {
		why = "the server takes no data";
	}
	if (why != NULL)
		output_failed(children, outputs, output, why, now);
}

bool outputs_step(struct children *children, struct outputs *outputs, int64_t now)
{
	bool has_changed = false;

	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->all[i];
		const enum output_state state = output->news.state;

		step_output(children, outputs, output, now);
		has_changed = has_changed || output->news.state != state;
	}
	return has_changed;
}

bool outputs_finish(struct outputs *outputs)
{
	bool is_over = true;

	outputs->is_flowing = false;
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->all[i];

		if (output->input >= 0 &&
		    (!output->is_live || !write_waiting(output) || output->first == NULL)) {
			close(output->input);
			output->input = -1;
		}
		is_over = is_over && (output->child.pid == 0 || output->child.is_ended);
	}
	return is_over;
}

void outputs_hold(struct children *children, struct outputs *outputs, bool is_over)
{
	for (size_t i = 0; i < outputs->count; i++) {
		struct output *output = &outputs->all[i];

		if (output->input < 0)
			continue;
		disconnect(children, output);
		output->next_at = 0;
		if (output->news.state == OUTPUT_LIVE && !is_over)
			output->news.state = OUTPUT_CONNECTING;
	}
	outputs->is_flowing = false;
}

void outputs_close(struct children *children, struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		disconnect(children, &outputs->all[i]);
	forget_headers(&outputs->flv);
	free(outputs->flv.bytes);
	explicit_bzero(outputs, sizeof *outputs);
}

size_t outputs_descriptors(const struct outputs *outputs, int descriptors[OUTPUTS_MOST])
{
	size_t n = 0;

	for (size_t i = 0; i < outputs->count; i++) {
		if (outputs->all[i].says.descriptor >= 0)
			descriptors[n++] = outputs->all[i].says.descriptor;
	}
	return n;
}
