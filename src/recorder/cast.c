/* See recorder/cast.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/cast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "delivery/stream_sender.h"
#include "recorder/feed.h"
#include "recorder/outputs.h"
#include "recorder/playlist.h"

/* Limits of what an order may say. */
#define SEGMENT_LEAST 500
#define SEGMENT_MOST 10000
#define WINDOW_LEAST 3
/* The header of a part is never larger. */
#define HEADER_MOST ((size_t)64 << 10)
/* Milliseconds that ffmpeg and the outputs may take to end. */
#define FINISH_MS 8000
#define READ_MOST 65536

static const int64_t feed_pauses[] = { 0, 1000, 3000, 10000, 30000 };
#define FEED_PAUSES (sizeof feed_pauses / sizeof feed_pauses[0])
#define FEED_STEADY_MS 60000

struct cast {
	const struct cast_stand *stand;
	bool has_playlist, has_outputs, is_audio_only;
	int64_t audio_kbps;
	struct playlist playlist;
	struct outputs outputs;
	char error[TAIL_SIZE + 64];

	/* The part. */
	char *header; /* up to its first cluster */
	size_t header_size;
	struct feed feed;
	int64_t feed_began, feed_began_ms; /* when, and the media of the part before it */
	unsigned failures;
	int64_t next_at;
	int64_t last_at, last_ms; /* of the newest chunk */
	bool is_new_feed; /* none of its segments is in the playlist */
	char line[256]; /* what ffmpeg says of segments, up to the end of a line */
	size_t line_size;

	int64_t finishing_since; /* 0 if it does not finish */
	bool is_held, is_over;
};

static void cast_failed(struct cast *cast, const char *why)
{
	(void)snprintf(cast->error, sizeof cast->error, "%.*s", (int)sizeof cast->error - 1, why);
	log_event(LOG_LEVEL_WARNING, "recorder_stream", "error", cast->error, "effect",
		  "the recording goes on; the stream begins again", NULL);
}

/* ---- the order ---- */

bool cast_open(const struct cast_stand *stand, const json_t *order, int64_t epoch,
	       struct arena *arena, struct cast **opened, struct fault *fault)
{
	const json_t *hls = json_object_get(order, "hls"), *look = json_object_get(order, "look");
	const json_t *rtmp = json_object_get(order, "rtmp");
	const char *key = json_string_value(json_object_get(hls, "key"));
	const char *title = json_string_value(json_object_get(hls, "title"));
	const int64_t segment_ms = json_integer_value(json_object_get(hls, "segment_ms"));
	const int64_t window = json_integer_value(json_object_get(hls, "window"));
	struct cast *cast;

	if (hls != NULL &&
	    (!playlist_key_is_right(key) || segment_ms < SEGMENT_LEAST ||
	     segment_ms > SEGMENT_MOST || window < WINDOW_LEAST || window > PLAYLIST_WINDOW_MOST))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "the order has a playlist that cannot be made");
	if (rtmp != NULL && !stream_sender_is_built())
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "this recorder was built without librtmp");
	cast = memory_check(calloc(1, sizeof *cast));
	cast->stand = stand;
	cast->feed.input = cast->feed.output = cast->feed.says.descriptor = -1;
	cast->is_audio_only = json_is_true(json_object_get(look, "audio_only"));
	cast->audio_kbps = json_integer_value(json_object_get(look, "audio_kbps"));
	cast->has_playlist = hls != NULL;
	cast->has_outputs = rtmp != NULL;
	if (cast->has_outputs)
		outputs_open(&cast->outputs, rtmp, stand->ranges, clock_now(&clock_system));
	if (cast->has_playlist) {
		cast->playlist.segment_ms = segment_ms;
		cast->playlist.window = (size_t)window;
		(void)snprintf(cast->playlist.title, sizeof cast->playlist.title, "%s",
			       title == NULL ? "" : title);
		/* Not through the middle of a character. */
		cast->playlist.title[text_utf8_size(slice_of(cast->playlist.title))] = '\0';
		if (!playlist_open(&cast->playlist, stand->folder, key, epoch, arena, fault)) {
			cast_close(cast);
			return false;
		}
	}
	*opened = cast;
	return true;
}

void cast_close(struct cast *cast)
{
	if (cast == NULL)
		return;
	feed_close(cast->stand->children, &cast->feed);
	if (cast->has_outputs)
		outputs_close(cast->stand->children, &cast->outputs);
	free(cast->header);
	free(cast);
}

/* ---- ffmpeg ---- */

static void close_feed(struct cast *cast)
{
	feed_close(cast->stand->children, &cast->feed);
	cast->line_size = 0;
	if (cast->has_outputs)
		outputs_pause(&cast->outputs);
}

/* Starts ffmpeg, which gets the header of the part first. */
static bool start_feed(struct cast *cast)
{
	const char *directory = NULL, *arguments[40];
	char rate[32], seconds[32], number[32], name[SEGMENT_NAME_SIZE];
	struct fault fault = FAULT_INITIAL;
	size_t n = 0;

	(void)snprintf(rate, sizeof rate, "%lldk",
		       (long long)(cast->audio_kbps > 0 ? cast->audio_kbps : 96));
	/* The sound is where the picture is: what is missing becomes silence. */
	if (!cast->is_audio_only) {
		arguments[n++] = "-map";
		arguments[n++] = "0:v:0";
		arguments[n++] = "-c:v";
		arguments[n++] = "copy";
	}
	arguments[n++] = "-map";
	arguments[n++] = "0:a:0";
	arguments[n++] = "-c:a";
	arguments[n++] = "aac";
	arguments[n++] = "-b:a";
	arguments[n++] = rate;
	arguments[n++] = "-af";
	arguments[n++] = "aresample=async=1000";
	arguments[n++] = "-flush_packets";
	arguments[n++] = "1";
	arguments[n++] = "-protocol_whitelist";
	arguments[n++] = "pipe,file";
	if (cast->has_playlist) {
		/* A segment ends at the next key frame after this time. */
		const int64_t least = cast->playlist.segment_ms * (cast->is_audio_only ? 4 : 3) / 4;

		directory = cast->playlist.folder;
		(void)snprintf(seconds, sizeof seconds, "%lld.%03lld", (long long)(least / 1000),
			       (long long)(least % 1000));
		(void)snprintf(number, sizeof number, "%lld",
			       (long long)playlist_next(&cast->playlist));
		(void)snprintf(name, sizeof name, "%lld-%%d.ts", (long long)cast->playlist.epoch);
		arguments[n++] = "-f";
		arguments[n++] = "segment";
		arguments[n++] = "-segment_time";
		arguments[n++] = seconds;
		arguments[n++] = "-segment_format";
		arguments[n++] = "mpegts";
		/* The counters of packets go on from one segment to the next: to a player, others
		 * mean that packets were lost. */
		arguments[n++] = "-individual_header_trailer";
		arguments[n++] = "0";
		arguments[n++] = "-segment_list_type";
		arguments[n++] = "csv";
		arguments[n++] = "-segment_list";
		arguments[n++] = "pipe:1";
		arguments[n++] = "-segment_start_number";
		arguments[n++] = number;
		arguments[n++] = name;
	} else {
		arguments[n++] = "-f";
		arguments[n++] = "flv";
		arguments[n++] = "-flvflags";
		arguments[n++] = "no_duration_filesize";
		arguments[n++] = "pipe:1";
	}
	arguments[n] = NULL;
	if (!feed_open(cast->stand->children, &cast->feed, cast->stand->ffmpeg, arguments,
		       directory, &fault)) {
		cast_failed(cast, fault_reason(&fault));
		return false;
	}
	cast->feed_began = clock_monotonic();
	cast->is_new_feed = true;
	if (cast->has_outputs)
		outputs_begin(&cast->outputs);
	feed_add(&cast->feed, (struct slice){ cast->header, cast->header_size });
	return true;
}

void cast_feed(struct cast *cast, const struct cast_chunk *chunk)
{
	struct slice bytes = chunk->bytes;

	if (chunk->is_first) {
		const size_t size = feed_header_size(bytes);

		close_feed(cast);
		free(cast->header);
		cast->header = NULL;
		cast->header_size = 0;
		cast->next_at = 0;
		if (size > 0 && size <= HEADER_MOST) {
			cast->header = memory_check(malloc(size));
			memcpy(cast->header, bytes.data, size);
			cast->header_size = size;
		}
	}
	cast->last_at = chunk->at;
	cast->last_ms = chunk->media_ms;
	if (!feed_is_open(&cast->feed)) {
		bytes = feed_from_cluster(bytes);
		if (cast->header_size == 0 || bytes.data == NULL || cast->is_held ||
		    cast->is_over || cast->finishing_since != 0 ||
		    clock_monotonic() < cast->next_at || !start_feed(cast))
			return;
		cast->feed_began_ms = chunk->before_ms;
	}
	feed_add(&cast->feed, bytes);
}

void cast_end_part(struct cast *cast)
{
	if (feed_is_open(&cast->feed))
		feed_end(&cast->feed);
}

static void feed_failed(struct cast *cast, const char *why)
{
	const int64_t now = clock_monotonic();
	char line[TAIL_SIZE + 1], text[2 * TAIL_SIZE];
	const char *said = tail_line(&cast->feed.says, line);

	if (now - cast->feed_began > FEED_STEADY_MS)
		cast->failures = 0;
	(void)snprintf(text, sizeof text, "the stream: %s%s%s", why, said[0] == '\0' ? "" : ": ",
		       said);
	cast_failed(cast, text);
	close_feed(cast);
	cast->next_at =
		now + feed_pauses[cast->failures < FEED_PAUSES ? cast->failures : FEED_PAUSES - 1];
	cast->failures++;
}

/* ---- what ffmpeg writes ---- */

/* Reads seconds such as 12.345678 as milliseconds. */
static bool read_seconds(struct slice text, int64_t *milliseconds)
{
	char copy[32], *end;
	double seconds;

	if (text.size == 0 || text.size >= sizeof copy)
		return false;
	memcpy(copy, text.data, text.size);
	copy[text.size] = '\0';
	seconds = strtod(copy, &end);
	if (*end != '\0' || !(seconds >= 0 && seconds < 1e9))
		return false;
	*milliseconds = (int64_t)(seconds * 1000 + 0.5);
	return true;
}

/* Takes a line of ffmpeg's list: name, beginning and end of a segment that is complete. */
static void take_segment(struct cast *cast, struct slice line, struct arena *arena)
{
	struct segment segment = { .is_discontinuous = cast->is_new_feed &&
						       (cast->playlist.count > 0 ||
							cast->playlist.sequence > 0) };
	struct fault fault = FAULT_INITIAL;
	struct slice rest;
	const struct slice name = text_split(line, ',', &rest);
	int64_t from, to;

	if (name.size == 0 || name.size >= sizeof segment.name || rest.data == NULL ||
	    !read_seconds(text_split(rest, ',', &rest), &from) || rest.data == NULL ||
	    !read_seconds(rest, &to) || to <= from)
		return;
	memcpy(segment.name, name.data, name.size);
	segment.duration_ms = to - from;
	segment.began_at = cast->last_at - (cast->last_ms - cast->feed_began_ms - from);
	if (!playlist_add(&cast->playlist, &segment, arena, &fault)) {
		feed_failed(cast, fault_reason(&fault));
		/* The other recorder has it; this one does not try again. */
		cast->is_over = fault.kind == FAULT_CONFLICT;
		return;
	}
	cast->is_new_feed = false;
	cast->error[0] = '\0';
}

static void take_lines(struct cast *cast, struct slice bytes, struct arena *arena)
{
	for (size_t i = 0; i < bytes.size && feed_is_open(&cast->feed); i++) {
		if (bytes.data[i] != '\n') {
			if (cast->line_size < sizeof cast->line)
				cast->line[cast->line_size++] = bytes.data[i];
			continue;
		}
		take_segment(cast, (struct slice){ cast->line, cast->line_size }, arena);
		cast->line_size = 0;
	}
}

/* Reads what ffmpeg has written. */
static void read_feed(struct cast *cast, struct arena *arena)
{
	char *bytes = arena_alloc(arena, READ_MOST);

	while (feed_is_open(&cast->feed)) {
		const ssize_t got = read(cast->feed.output, bytes, READ_MOST);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		if (cast->has_playlist)
			take_lines(cast, (struct slice){ bytes, (size_t)got }, arena);
		else if (!outputs_take(&cast->outputs, (struct slice){ bytes, (size_t)got }))
			feed_failed(cast, "ffmpeg writes no FLV");
	}
}

bool cast_step(struct cast *cast, struct arena *arena, int64_t now)
{
	const bool was_seen = cast_is_seen(cast);
	char why[TAIL_SIZE + 1];
	bool has_changed = false;

	cast->is_held = false;
	if (feed_is_open(&cast->feed)) {
		const bool goes_on = feed_step(&cast->feed, why);

		/* Also what it wrote before it ended. */
		read_feed(cast, arena);
		if (!goes_on && feed_is_open(&cast->feed)) {
			if (why[0] != '\0')
				feed_failed(cast, why);
			else
				close_feed(cast);
		}
	}
	if (cast->has_outputs && cast->finishing_since == 0)
		has_changed = outputs_step(cast->stand->children, &cast->outputs, now);
	return has_changed || was_seen != cast_is_seen(cast);
}

void cast_hold(struct cast *cast, const char *why)
{
	cast->is_held = true;
	if (feed_is_open(&cast->feed))
		cast_failed(cast, why);
	close_feed(cast);
	if (cast->has_outputs)
		outputs_hold(cast->stand->children, &cast->outputs, false);
}

/* ---- the end ---- */

bool cast_finish(struct cast *cast, struct arena *arena, int64_t now)
{
	const int64_t at = clock_monotonic();
	struct fault fault = FAULT_INITIAL;

	if (cast->finishing_since == 0)
		cast->finishing_since = at;
	cast_end_part(cast);
	if (at - cast->finishing_since < FINISH_MS &&
	    (feed_is_open(&cast->feed) || (cast->has_outputs && !outputs_finish(&cast->outputs))))
		return false;
	close_feed(cast);
	if (cast->has_outputs)
		outputs_hold(cast->stand->children, &cast->outputs, true);
	if (cast->has_playlist && !cast->is_over &&
	    !playlist_end(&cast->playlist, now, arena, &fault))
		cast_failed(cast, fault_reason(&fault));
	cast->is_over = true;
	return true;
}

/* ---- what is told ---- */

bool cast_is_seen(const struct cast *cast)
{
	return !cast->has_playlist || cast->playlist.count > 0;
}

const char *cast_error(const struct cast *cast)
{
	return cast->error;
}

size_t cast_outputs(const struct cast *cast, const struct output_news *outputs[OUTPUTS_MOST])
{
	if (!cast->has_outputs)
		return 0;
	for (size_t i = 0; i < cast->outputs.count; i++)
		outputs[i] = &cast->outputs.all[i].news;
	return cast->outputs.count;
}

size_t cast_descriptors(const struct cast *cast, int descriptors[CAST_DESCRIPTORS])
{
	size_t n = 0;

	if (feed_is_open(&cast->feed)) {
		descriptors[n++] = cast->feed.output;
		descriptors[n++] = cast->feed.says.descriptor;
	}
	return n + (cast->has_outputs ? outputs_descriptors(&cast->outputs, descriptors + n) : 0);
}
