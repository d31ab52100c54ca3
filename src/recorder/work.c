/* See recorder/work.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"

/* All of these in milliseconds. */
#define FAILURES_APART 60000 /* a later failure is the first again */
#define LOST_ASKS_EVERY 4000 /* whether the room is at another media server by now */
#define ORDER_PATIENCE 2000 /* then a part begins with the order of the last one */
#define PAUSE_PATIENCE 5000
#define STOP_PATIENCE 10000
#define END_PATIENCE 2000
#define PART_LONGEST (3 * 3600000)
#define PART_BYTES_MOST ((int64_t)2 << 30)
#define KEPT_FOR (7 * 24 * 3600000LL)
#define PUT_PAUSE (10 * 60000) /* then the service may have credentials again */
#define CHUNK_MOST ((size_t)16 << 20)
/* Events of one Chromium in a round; the others are served in between. */
#define EVENTS_MOST 64

static const int64_t part_pauses[] = { 0, 1000, 3000, 10000, 30000 };
#define FAILURES_MOST (sizeof part_pauses / sizeof part_pauses[0] + 1)

static int64_t service_time(const struct work_stand *stand)
{
	return clock_now(&clock_system) + stand->clock_offset;
}

void work_set_error(struct work *work, struct slice text)
{
	const struct slice shown = text_first((struct slice){ text.data, text_utf8_size(text) },
					      REPORT_ERROR_MOST);

	(void)snprintf(work->error, sizeof work->error, "%.*s", (int)shown.size,
		       shown.data == NULL ? "" : shown.data);
}

void work_set_state(struct work_stand *stand, struct work *work, enum work_state state)
{
	if (work->state == state)
		return;
	work->state = state;
	stand->has_changed = true;
	log_event(state == WORK_BROKEN ? LOG_LEVEL_ERROR : LOG_LEVEL_NOTICE, "recorder_work",
		  "account", work->account, "job", work->job, "state", work_state_name(state),
		  "part", LOG_NUMBER(work->part), "seconds", LOG_NUMBER(work->recorded_ms / 1000),
		  "error", work->error[0] == '\0' ? NULL : work->error, NULL);
}

/* ---- what is streamed ---- */

/* Begins to stream, if the order is one of a stream. A work that cannot is broken. */
static void begin_cast(struct work_stand *stand, struct work *work, const json_t *order)
{
	struct fault fault = FAULT_INITIAL;

	if (work->cast != NULL || !order_streams(order))
		return;
	work->drops_media = !order_keeps_file(order);
	if (cast_open(&stand->casts, order, work->epoch, stand->arena, &work->cast, &fault))
		return;
	work_set_error(work, slice_of(fault_reason(&fault)));
	work_set_state(stand, work, WORK_BROKEN);
}

/* After a restart, the order that was kept has what a stop needs: the playlist. */
static void take_up_cast(struct work_stand *stand, struct work *work)
{
	const char *path = arena_text(stand->arena, "%s/order.json", work->folder);
	json_t *order = json_text_read_stored(stand->arena, small_file_read(stand->arena, path),
					      NULL);

	if (!json_is_true(json_object_get(order, "streams")))
		return;
	work->drops_media = !order_keeps_file(order);
	if (json_is_object(json_object_get(order, "hls")))
		begin_cast(stand, work, order);
}

/* Streams end with the lease, since another recorder may go on with them; files do not. */
static void step_cast(struct work_stand *stand, struct work *work)
{
	if (work->cast == NULL)
		return;
	if (clock_monotonic() - stand->answered_at >= stand->lease_ms)
		cast_hold(work->cast, "the service does not answer");
	else if (work->state == WORK_BROKEN)
		cast_hold(work->cast, "the recording is broken");
	else if (work->was_listed && !work->is_listed)
		cast_hold(work->cast, "the service does not want the stream");
	else if (cast_step(work->cast, stand->arena, service_time(stand)))
		stand->has_changed = true;
}

/* ---- what was recorded before ---- */

static void add_gap(struct work *work, int64_t missing)
{
	if (missing < CUTS_GAP_LEAST)
		return;
	work->gaps = memory_room(work->gaps, work->gaps_count + 1, &work->gaps_capacity,
				 sizeof *work->gaps);
	work->gaps[work->gaps_count++] = (struct gap){ work->recorded_ms, missing };
}

static void read_former_parts(struct work_stand *stand, struct work *work)
{
	struct kept_part *parts;
	struct fault fault = FAULT_INITIAL;
	size_t n;

	if (!parts_read(stand->arena, work->folder, &parts, &n, &fault))
		work_set_error(work, slice_of(fault_reason(&fault)));
	for (size_t i = 0; i < n; i++) {
		const struct part_media *media = &parts[i].media;
		const struct chunk *last;

		work->bytes += parts[i].bytes;
		if (media->count == 0)
			continue;
		last = &media->chunks[media->count - 1];
		if (work->media_at > 0)
			add_gap(work,
				media->chunks[0].at - media->chunks[0].media_ms - work->media_at);
		work->recorded_ms += last->media_ms;
		work->former_ms += parts[i].epoch < work->epoch ? last->media_ms : 0;
		work->media_at = last->at;
		work->has_media = work->has_media || parts[i].epoch == work->epoch;
		if (parts[i].epoch == work->epoch) {
			work->part = parts[i].run;
			work->file_number = parts[i].number;
		}
	}
	work->files_count = joined_files(&stand->folder, work->account, work->job, work->files);
	take_up_cast(stand, work);
}

struct work *work_open(struct work_stand *stand, const char *account, const char *job,
		       int64_t epoch)
{
	struct work *work = memory_check(calloc(1, sizeof *work));

	work->epoch = epoch;
	work->file.media = work->file.log = -1;
	work->want = WANT_STOP;
	work->chat = chat_open();
	(void)snprintf(work->account, sizeof work->account, "%s", account);
	(void)snprintf(work->job, sizeof work->job, "%s", job);
	folder_of_job(&stand->folder, account, job, work->folder);
	read_former_parts(stand, work);
	if (work->files_count > 0) {
		work->state = WORK_SENDING;
		work->needs_put = true;
	} else if (work->has_media) {
		work->state = WORK_RUNNING;
	}
	return work;
}

/* Ends Chromium and the file of the part. */
static void close_part(struct work_stand *stand, struct work *work)
{
	chromium_close(&stand->children, work->chromium);
	work->chromium = NULL;
	part_close(&work->file);
	if (work->cast != NULL)
		cast_end_part(work->cast);
	work->phase = PHASE_NONE;
	work->is_inside = work->is_lost = false;
	work->people = 0;
	work->pause_call = 0;
	work->order_asked_at = 0;
}

void work_close(struct work_stand *stand, struct work *work)
{
	close_part(stand, work);
	cast_close(work->cast);
	json_decref(work->order);
	json_decref(work->put);
	free(work->gaps);
	free(work->media_url);
	chat_close(work->chat);
	free(work);
}

void work_sends_later(struct work *work, int64_t pause, struct slice why)
{
	work_set_error(work, why);
	work->send_failures++;
	work->send_at = clock_monotonic() + pause;
	json_decref(work->put);
	work->put = NULL;
}

void work_forget_parts(const struct work_stand *stand, const struct work *work, bool erases)
{
	const char *relative = work->order == NULL ? NULL : order_folder(work->order);
	char path[FOLDER_PATH_SIZE];
	struct arena *arena = arena_open();
	struct kept_part *parts;
	struct fault fault = FAULT_INITIAL;
	const int64_t now = clock_now(&clock_system);
	size_t n;
	bool is_old = parts_read(arena, work->folder, &parts, &n, &fault);

	for (size_t i = 0; i < n; i++)
		is_old = is_old && parts[i].modified < now - KEPT_FOR;
	/* The folder of the parts knows where the files are, so it goes last; the service may have
	 * deleted it. */
	if (erases && (joined_path(&stand->folder, work->account, work->job, "", path) ||
		       (relative != NULL && snprintf(path, sizeof path, "%s/%s", stand->folder.path,
						     relative) < (int)sizeof path)))
		folder_remove(path);
	if (erases || is_old || work->files_count > 0 || work->drops_media)
		folder_remove(work->folder);
	arena_close(arena);
}

/* ---- what the service wants ---- */

static const char *media_url_of(const json_t *order)
{
	return json_string_value(json_object_get(json_object_get(order, "join"), "url"));
}

/* Returns true if the page is at another media server than where the room is now. */
static bool is_elsewhere(const struct work *work)
{
	const char *url = media_url_of(work->order);

	return url != NULL && work->media_url != NULL && strcmp(url, work->media_url) != 0;
}

static void take_order(struct work_stand *stand, struct work *work, const json_t *order,
		       int64_t rev)
{
	const json_t *look = json_object_get(work->order, "look");
	const bool is_new_look = !json_equal(look, json_object_get(order, "look"));
	struct buffer call = BUFFER_INITIAL(stand->arena);

	json_decref(work->order);
	work->order = memory_check(json_deep_copy(order));
	work->order_heard_at = clock_monotonic();
	work->needs_order = work->needs_fresh_order = false;
	work->rev = rev;
	begin_cast(stand, work, order);
	if (work->phase != PHASE_RECORDING)
		return;
	if (is_elsewhere(work)) {
		log_event(LOG_LEVEL_NOTICE, "recorder_part", "account", work->account, "job",
			  work->job, "part", LOG_NUMBER(work->part), "effect",
			  "the next part is at another media server", NULL);
		work_end_part(work);
		return;
	}
	if (!is_new_look)
		return;
	buffer_append_text(&call, "anteroom_look(");
	buffer_append_json(&call, json_object_get(work->order, "look"));
	buffer_append(&call, (struct slice){ ")", 2 });
	(void)chromium_call(work->chromium, call.data);
}

/* Without a list, the files stay in the folder; an empty one means that they have to wait. */
static void take_put(struct work_stand *stand, struct work *work, const json_t *put)
{
	work->put_asked = 0;
	work->needs_put = false;
	if (put == NULL) {
		work->error[0] = '\0';
		work_set_state(stand, work, WORK_DONE);
		return;
	}
	if (json_array_size(put) == 0) {
		work_sends_later(work, PUT_PAUSE,
				 SLICE("the service has no credentials for the storage any more"));
		stand->has_changed = true;
		return;
	}
	json_decref(work->put);
	work->put = memory_check(json_deep_copy(put));
	work->put_heard_at = clock_monotonic();
}

void work_obey(struct work_stand *stand, struct work *work, const struct wanted *wanted)
{
	work->is_listed = work->was_listed = true;
	work->inside = wanted->inside;
	if (wanted->epoch != work->epoch) {
		close_part(stand, work);
		cast_close(work->cast);
		work->cast = NULL;
		work->epoch = wanted->epoch;
		work->former_ms = work->recorded_ms;
		work->part = work->file_number = 0;
		work->has_media = work->has_no_space = false;
		work->failures = 0;
		work->next_at = 0;
		if (work->state != WORK_SENDING && work->state != WORK_DONE)
			work_set_state(stand, work, WORK_OPENING);
		stand->has_changed = true;
	}
	if (work->want != wanted->want) {
		work->want = wanted->want;
		/* Joining goes by the order of the stop, which has the times. */
		if (work->want == WANT_STOP)
			work->needs_fresh_order = work->needs_order = stand->has_changed = true;
	}
	if (wanted->order != NULL)
		take_order(stand, work, wanted->order, wanted->rev);
	else if (wanted->rev > work->rev && !work->needs_order)
		work->needs_order = stand->has_changed = true;
	if (work->state == WORK_SENDING && work->put_asked > 0)
		take_put(stand, work, wanted->put);
}

void work_unlisted(struct work *work)
{
	work->is_listed = false;
}

/* Returns whether no more media is wanted. */
static bool is_to_stop(const struct work_stand *stand, const struct work *work)
{
	return work->want == WANT_STOP || !work->is_listed || work->has_no_space ||
	       (work->order != NULL && service_time(stand) >= order_until(work->order));
}

/* ---- the beginning of a part ---- */

static void part_failed(struct work_stand *stand, struct work *work, struct slice why)
{
	const int64_t now = clock_monotonic();

	if (now - work->part_began > FAILURES_APART)
		work->failures = 0;
	work->failures++;
	work_set_error(work, why);
	log_event(LOG_LEVEL_WARNING, "recorder_part", "account", work->account, "job", work->job,
		  "part", LOG_NUMBER(work->part), "chunks", LOG_NUMBER(work->file.chunks), "error",
		  work->error, NULL);
	close_part(stand, work);
	stand->has_changed = true;
	/* An address stays as it is. */
	if (work->failures >= FAILURES_MOST || slice_is(why, CHROMIUM_NOT_ALLOWED)) {
		work_set_state(stand, work, WORK_BROKEN);
		return;
	}
	work->next_at = now + part_pauses[work->failures - 1];
}

/* Keeps the order beside the parts, for whoever joins them after a crash. */
static bool keep_order(struct work_stand *stand, const struct work *work, struct fault *fault)
{
	char path[PART_PATH_SIZE];

	(void)snprintf(path, sizeof path, "%s/order.json", work->folder);
	if (mkdir(work->folder, 0770) != 0 && errno != EEXIST)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot create %s",
				   work->folder);
	return small_file_write(
		path, order_kept(stand->arena, work->order, stand->options->name, work->epoch),
		fault);
}

static void begin_part(struct work_stand *stand, struct work *work)
{
	const char *page = json_string_value(json_object_get(work->order, "page"));
	const json_t *look = json_object_get(work->order, "look");
	const char *url = stand->page != NULL
				  ? stand->page
				  : arena_text(stand->arena, "%s%s", stand->options->url, page);
	struct slice host;
	unsigned port;
	struct chromium_options options = {
		.program = stand->options->chromium,
		.page = url,
		.media_host = order_media_host(stand->arena, work->order),
		.hosts = stand->options->hosts,
		.media_ranges = &stand->options->media_ranges,
		.width = json_integer_value(json_object_get(look, "width")),
		.height = json_integer_value(json_object_get(look, "height")),
		.profile = arena_text(stand->arena, "%s/%u", stand->profiles,
				      ++stand->profiles_made),
	};
	struct fault fault = FAULT_INITIAL;

	work->part_began = work->phase_began = work->chunk_heard = clock_monotonic();
	work->part_offset = stand->clock_offset;
	work->pause_asked = work->want == WANT_PAUSE;
	work->pause_holds = work->has_resumed = false;
	work->part++;
	work->file_number++;
	work->file.chunks = 0;
	if (stand->page == NULL &&
	    text_url_split_port(text_url_authority(slice_of(url)), &host, &port))
		options.page_host = arena_copy(stand->arena, host).data;
	if (!keep_order(stand, work, &fault) ||
	    !part_open(&work->file, work->folder, work->epoch, &work->file_number, &fault) ||
	    !chromium_open(&stand->children, &options, &work->chromium, &fault)) {
		part_failed(stand, work, slice_of(fault_reason(&fault)));
		return;
	}
	work->file.drops_media = work->drops_media;
	work->file.run = work->part;
	work->phase = PHASE_LOADING;
	work_set_state(stand, work,
		       work->has_media ? (work->pause_asked ? WORK_PAUSED : WORK_RUNNING)
				       : WORK_OPENING);
}

/* ---- what the page says ---- */

static int64_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void take_loaded(struct work_stand *stand, struct work *work)
{
	struct buffer call = BUFFER_INITIAL(stand->arena);

	if (work->phase != PHASE_LOADING)
		return;
	work->phase = PHASE_RECORDING;
	free(work->media_url);
	work->media_url = media_url_of(work->order) == NULL
				  ? NULL
				  : memory_check(strdup(media_url_of(work->order)));
	buffer_append_text(&call, "anteroom_start({\"join\":");
	buffer_append_json(&call, json_object_get(work->order, "join"));
	buffer_append_text(&call, ",\"look\":");
	buffer_append_json(&call, json_object_get(work->order, "look"));
	buffer_append_text(&call, work->pause_asked ? ",\"paused\":true})" : ",\"paused\":false})");
	buffer_append_byte(&call, '\0');
	(void)chromium_call(work->chromium, call.data);
}

static void take_joined(struct work_stand *stand, struct work *work)
{
	work->is_inside = true;
	if (work->pause_asked && work->pause_call == 0) {
		work->pause_holds = true;
		work_set_state(stand, work, WORK_PAUSED);
	}
}

static void take_chunk(struct work_stand *stand, struct work *work, const json_t *said)
{
	const int64_t at = number_of(said, "at") + work->part_offset;
	const int64_t media_ms = number_of(said, "media_ms");
	struct fault fault = FAULT_INITIAL;
	int64_t free_bytes, total_bytes, added;
	struct slice bytes;

	if (work->has_resumed && work->file.chunks > 0 && number_of(said, "n") == 0) {
		part_close(&work->file);
		work->file_number++;
		if (!part_open(&work->file, work->folder, work->epoch, &work->file_number,
			       &fault)) {
			part_failed(stand, work, slice_of(fault_reason(&fault)));
			return;
		}
		work->file.run = work->part;
	}
	added = media_ms - work->file.media_ms;
	if (number_of(said, "n") != work->file.chunks) {
		part_failed(stand, work, SLICE("a chunk is missing"));
		return;
	}
	if (added < 0 || at <= 0 ||
	    !text_base64_decode(stand->arena, text_of_json(json_object_get(said, "data")),
				&bytes) ||
	    bytes.size > CHUNK_MOST) {
		part_failed(stand, work, SLICE("a chunk cannot be read"));
		return;
	}
	if (!part_append(&work->file, bytes, at, media_ms, service_time(stand), &fault)) {
		/* Of all reasons this one does not pass by itself. */
		work->has_no_space = folder_space(&stand->folder, &free_bytes, &total_bytes) &&
				     free_bytes < (int64_t)CHUNK_MOST;
		part_failed(stand, work,
			    work->has_no_space ? SLICE("no space left")
					       : slice_of(fault_reason(&fault)));
		return;
	}
	if (work->media_at > 0 && (work->file.chunks == 1 || work->has_resumed))
		add_gap(work, at - added - work->media_at);
	work->has_resumed = false;
	if (work->cast != NULL)
		cast_feed(work->cast, &(struct cast_chunk){ .bytes = bytes,
							    .is_first = work->file.chunks == 1,
							    .at = at,
							    .media_ms = media_ms,
							    .before_ms = media_ms - added });
	work->recorded_ms += added;
	work->media_at = at;
	work->bytes += work->drops_media ? 0 : (int64_t)bytes.size;
	work->chunk_heard = clock_monotonic();
	work->has_media = true;
	if (work->file.chunks == 1 && work->phase == PHASE_RECORDING) {
		work->error[0] = '\0';
		stand->has_changed = true;
	}
	/* A stream runs once somebody can see it. */
	if (work->state == WORK_OPENING && (work->cast == NULL || cast_is_seen(work->cast)))
		work_set_state(stand, work, WORK_RUNNING);
	if (work->phase == PHASE_RECORDING &&
	    (work->file.media_ms >= PART_LONGEST || work->file.bytes >= PART_BYTES_MOST))
		work_end_part(work);
}

/* Keeps a message of the chat, unless people were told that nothing is kept now. */
static void take_chat(struct work *work, const json_t *said)
{
	const int64_t sent_at = number_of(said, "sent_at") + work->part_offset;
	enum chat_kept kept;

	if (work->pause_asked || work->phase >= PHASE_LEAVING)
		return;
	kept = chat_keep(work->chat, work->folder, work->order, work->epoch, said, sent_at);
	if (kept <= CHAT_NOT_WANTED || kept == work->chat_kept)
		return;
	work->chat_kept = kept;
	log_event(LOG_LEVEL_WARNING, "recorder_chat", "account", work->account, "job", work->job,
		  "error",
		  kept == CHAT_FULL	     ? "the chat is too large"
		  : kept == CHAT_SENDER_FULL ? "somebody has written too much"
					     : strerror(errno),
		  "effect", "what is written is not kept", NULL);
}

static void take_away(struct work_stand *stand, struct work *work, struct slice reason)
{
	if (slice_is(reason, "closed")) {
		close_part(stand, work);
		work->inside = 0;
		if (!is_to_stop(stand, work))
			work_set_state(stand, work, WORK_WAITING);
		return;
	}
	work->needs_fresh_order = slice_is(reason, "removed");
	part_failed(stand, work,
		    slice_of(arena_text(stand->arena, "the page left the room: %.*s",
					(int)reason.size, reason.data == NULL ? "" : reason.data)));
}

static void take_stopped(struct work *work, int64_t n)
{
	if (n != work->file.chunks)
		log_event(LOG_LEVEL_WARNING, "recorder_part", "account", work->account, "job",
			  work->job, "part", LOG_NUMBER(work->part), "chunks",
			  LOG_NUMBER(work->file.chunks), "error", "the page sent more chunks",
			  NULL);
	chromium_ask_end(work->chromium);
	work->phase = PHASE_LEAVING;
	work->phase_began = clock_monotonic();
}

static void take_said(struct work_stand *stand, struct work *work, struct slice text)
{
	json_t *said = json_text_read_stored(stand->arena, text, NULL);
	const struct slice type = text_of_json(json_object_get(said, "type"));
	struct slice why;

	if (slice_is(type, "loaded")) {
		take_loaded(stand, work);
	} else if (slice_is(type, "joined")) {
		take_joined(stand, work);
	} else if (slice_is(type, "chunk")) {
		take_chunk(stand, work, said);
	} else if (slice_is(type, "people")) {
		work->people = number_of(said, "n") < 0 ? 0 : number_of(said, "n");
	} else if (slice_is(type, "lost")) {
		work->is_lost = json_is_true(json_object_get(said, "yes"));
	} else if (slice_is(type, "chat")) {
		take_chat(work, said);
	} else if (slice_is(type, "fps")) {
		const json_t *look = json_object_get(work->order, "look");
		const double fps = json_number_value(json_object_get(said, "fps"));

		if (fps * 5 < (double)number_of(look, "fps") * 4)
			log_event(LOG_LEVEL_WARNING, "recorder_slow", "account", work->account,
				  "job", work->job, "fps", LOG_NUMBER((int64_t)fps), "effect",
				  "the machine is too busy for smooth pictures", NULL);
	} else if (slice_is(type, "away") && work->phase != PHASE_LEAVING) {
		take_away(stand, work, text_of_json(json_object_get(said, "reason")));
	} else if (slice_is(type, "stopped") && work->phase == PHASE_ENDING) {
		take_stopped(work, number_of(said, "n"));
	} else if (slice_is(type, "failed") && work->phase < PHASE_ENDING) {
		why = text_of_json(json_object_get(said, "text"));
		part_failed(stand, work, why.size > 0 ? why : SLICE("the page failed"));
	}
}

static void take_returned(struct work_stand *stand, struct work *work,
			  const struct chromium_news *news)
{
	if (news->is_error && work->phase == PHASE_RECORDING) {
		part_failed(stand, work, SLICE("the page failed"));
		return;
	}
	if (news->number != work->pause_call || work->pause_call == 0)
		return;
	work->pause_call = 0;
	work->pause_holds = work->pause_asked;
	work->chunk_heard = clock_monotonic();
	work->has_resumed = !work->pause_asked;
	if (work->state == WORK_RUNNING || work->state == WORK_PAUSED)
		work_set_state(stand, work, work->pause_asked ? WORK_PAUSED : WORK_RUNNING);
}

/* ---- the course of a part ---- */

void work_end_part(struct work *work)
{
	if (work->phase >= PHASE_ENDING || work->phase == PHASE_NONE)
		return;
	/* A page that has not loaded has nothing to send. */
	if (work->phase == PHASE_LOADING)
		chromium_ask_end(work->chromium);
	else
		(void)chromium_call(work->chromium, "anteroom_stop()");
	work->phase = work->phase == PHASE_LOADING ? PHASE_LEAVING : PHASE_ENDING;
	work->phase_began = clock_monotonic();
}

/* Ends a part that hangs. */
static void watch_part(struct work_stand *stand, struct work *work)
{
	const struct recorder_options *options = stand->options;
	const int64_t now = clock_monotonic(), silent = now - work->chunk_heard;

	if (work->phase == PHASE_ENDING || work->phase == PHASE_LEAVING) {
		if (now - work->phase_began >=
		    (work->phase == PHASE_ENDING ? STOP_PATIENCE : END_PATIENCE))
			close_part(stand, work);
		return;
	}
	if (work->pause_call != 0) {
		if (now - work->pause_asked_at >= PAUSE_PATIENCE)
			part_failed(stand, work, SLICE("the page does not pause"));
		return;
	}
	if (work->pause_holds)
		return;
	if (work->file.chunks == 0 && silent >= options->opening * 1000)
		part_failed(stand, work,
			    slice_of(arena_text(stand->arena, "no media for %lld s after the start",
						(long long)options->opening)));
	else if (work->file.chunks > 0 && silent >= options->silence * 1000)
		part_failed(stand, work,
			    slice_of(arena_text(stand->arena, "no media for %lld s",
						(long long)options->silence)));
}

/* Has the page pause or go on, as it is wanted. */
static void ask_pause(struct work *work)
{
	const bool pauses = work->want == WANT_PAUSE;

	if (work->phase != PHASE_RECORDING || !work->is_inside || work->pause_call != 0 ||
	    pauses == work->pause_asked)
		return;
	work->pause_asked = pauses;
	work->pause_holds = false;
	work->pause_asked_at = clock_monotonic();
	work->pause_call = chromium_call(work->chromium,
					 pauses ? "anteroom_pause(true)" : "anteroom_pause(false)");
}

/* Asks again and again where the room is: it leaves a media server that is down. */
static void ask_where(struct work_stand *stand, struct work *work)
{
	const int64_t now = clock_monotonic();

	if (work->phase != PHASE_RECORDING || !work->is_lost || work->needs_order ||
	    now - work->order_asked_at < LOST_ASKS_EVERY)
		return;
	work->order_asked_at = now;
	work->needs_order = stand->has_changed = true;
}

static void step_part(struct work_stand *stand, struct work *work)
{
	for (int i = 0; i < EVENTS_MOST && work->chromium != NULL; i++) {
		const struct arena_mark mark = arena_mark(stand->arena);
		const struct chromium_news news = chromium_next(work->chromium, stand->arena);
		const bool is_last = news.event == CHROMIUM_NOTHING;

		if (news.event == CHROMIUM_SAYS)
			take_said(stand, work, news.text);
		else if (news.event == CHROMIUM_RETURNED)
			take_returned(stand, work, &news);
		else if (news.event == CHROMIUM_GONE && work->phase >= PHASE_ENDING)
			close_part(stand, work);
		else if (news.event == CHROMIUM_GONE)
			part_failed(stand, work, news.text);
		/* A chunk takes several times its size. */
		arena_release(stand->arena, &mark);
		if (is_last)
			break;
	}
	if (work->chromium != NULL)
		watch_part(stand, work);
	if (work->chromium == NULL)
		return;
	ask_where(stand, work);
	if (stand->is_ending || is_to_stop(stand, work))
		work_end_part(work);
	else
		ask_pause(work);
}

/* ---- between parts ---- */

/* Begins the next part when it is due, its order is there, and somebody is inside: the hidden
 * participant would make a room anew that has ended. */
static void begin_next_part(struct work_stand *stand, struct work *work)
{
	const int64_t now = clock_monotonic();

	if (work->inside == 0) {
		work_set_state(stand, work, WORK_WAITING);
		return;
	}
	if (now < work->next_at)
		return;
	/* Without a page, the media server was not there: the next order may have one. */
	if (work->order_asked_at == 0 || (!work->needs_order && !order_has_page(work->order) &&
					  now - work->order_asked_at >= ORDER_PATIENCE)) {
		work->order_asked_at = now;
		work->needs_order = stand->has_changed = true;
	}
	if (work->order_heard_at > 0 && order_has_page(work->order) &&
	    (work->order_heard_at >= work->order_asked_at ||
	     (!work->needs_fresh_order && now - work->order_asked_at >= ORDER_PATIENCE)))
		begin_part(stand, work);
}

static void step_between(struct work_stand *stand, struct work *work)
{
	if (!work->was_listed || stand->is_ending)
		return;
	if (work->state == WORK_JOINING || work->state == WORK_SENDING || work->state == WORK_DONE)
		return;
	if (is_to_stop(stand, work)) {
		work_set_state(stand, work, WORK_STOPPING);
		/* Joining needs what the service says of the end. */
		if (work->want != WANT_STOP || !work->is_listed || work->needs_fresh_order)
			return;
		if (work->cast != NULL &&
		    !cast_finish(work->cast, stand->arena, service_time(stand)))
			return;
		if (work->drops_media)
			work_set_state(stand, work, WORK_DONE);
		else if (order_has_folder(work->order))
			work_set_state(stand, work, WORK_JOINING);
		return;
	}
	if (work->state == WORK_BROKEN)
		return;
	if (work->state == WORK_STOPPING)
		work_set_state(stand, work, work->has_media ? WORK_RUNNING : WORK_OPENING);
	begin_next_part(stand, work);
}

void work_step(struct work_stand *stand, struct work *work)
{
	step_cast(stand, work);
	if (work->phase != PHASE_NONE)
		step_part(stand, work);
	if (work->phase == PHASE_NONE)
		step_between(stand, work);
	else if (is_to_stop(stand, work) && work->state < WORK_STOPPING)
		work_set_state(stand, work, WORK_STOPPING);
}

/* ---- the report ---- */

bool work_fills_slot(const struct work *work)
{
	return work->state <= WORK_STOPPING;
}

struct work_news work_tell(const struct work *work)
{
	struct work_news news = {
		.account = work->account,
		.job = work->job,
		.epoch = work->epoch,
		.part = work->part,
		.people = work->people,
		.state = work->state,
		.media_at = work->media_at,
		.recorded_ms = work->recorded_ms - work->former_ms,
		.gaps = work->gaps,
		.gaps_count = work->gaps_count,
		.files = work->files,
		.files_count = work->files_count,
		.error = work->error[0] != '\0' || work->cast == NULL ? work->error
								      : cast_error(work->cast),
		.needs_order = work->needs_order,
		.needs_put = work->state == WORK_SENDING && work->needs_put,
	};

	if (work->cast != NULL)
		news.outputs_count = cast_outputs(work->cast, news.outputs);
	return news;
}
