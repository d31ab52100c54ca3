/* See recorder/recorder.h. The conversation with the service: a report at least every so often, one
 * at a time, by a process of its own (delivery/sender.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "delivery/sender.h"
#include "recorder/loop.h"

#define EVERY_MS 2000 /* before the first response */
#define REFUSED_MS 10000 /* after 401, and other answers that do not pass soon */
#define SOONEST_MS 250 /* between two reports */
#define TOLD_EVERY_MS 60000 /* the log says once in this time that the service does not answer */
#define BUSY_EVERY_MS 5000
#define PROBE_EVERY_MS 60000
/* The first line of /proc/stat. */
#define STAT_BEGINS "cpu "
#define STAT_LINE 512
#define ANSWER_MOST ((size_t)4 << 20)
/* Milliseconds for the last chunks at the end; then for the report that says so. */
#define ENDING_MS 12000
#define LAST_REPORT_MS 2000

/* Processor time of the machine since its start, in ticks. */
struct ticks {
	int64_t idle, all;
};

struct recorder {
	struct loop loop;
	const struct recorder_options *options;
	struct sender_options sender_options;
	struct sender *sender;
	char url[2300], headers[512];

	bool is_under_way; /* a report has no response yet */
	bool has_ended; /* its last report says so */
	bool is_answered; /* the service has answered once */
	int64_t sent_at, next_at, every_ms;
	int64_t told_at; /* that the service does not answer; 0 if it does */
	bool is_able; /* Chromium starts and encodes H.264 */
	int64_t probed_at;
	unsigned turn; /* of the works that fill no slot */

	char stat[STAT_LINE];
	int64_t stat_at;
	double busy;
};

unsigned recorder_slots(void)
{
	cpu_set_t set;
	const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	/* A recording takes up to 0.7 of a core; one is for the others. */
	const int slots = (cores - 1) * 10 / 7;

	return slots < 1 ? 1 : slots > RECORDER_SLOTS_MOST ? RECORDER_SLOTS_MOST : (unsigned)slots;
}

/* ---- how busy the machine is ---- */

static struct ticks read_ticks(const char *line)
{
	const bool is_whole = strncmp(line, STAT_BEGINS, sizeof STAT_BEGINS - 1) == 0;
	const char *at = line + sizeof STAT_BEGINS - 1;
	struct ticks ticks = { 0, 0 };

	/* user, nice, system, idle, iowait, irq, softirq, steal: what others do with a lower
	 * priority gives way to a recording. */
	for (int i = 0; is_whole && i < 8; i++) {
		char *end;
		const long long value = strtoll(at, &end, 10);

		if (end == at)
			break;
		at = end;
		ticks.all += value;
		if (i == 1 || i == 3 || i == 4)
			ticks.idle += value;
	}
	return ticks;
}

double recorder_busy(const char *before, const char *now)
{
	const struct ticks first = read_ticks(before), last = read_ticks(now);
	double busy = 0;

	if (last.all > first.all)
		busy = 1.0 - (double)(last.idle - first.idle) / (double)(last.all - first.all);
	/* Three decimals. */
	return busy < 0 ? 0 : (double)(int)(busy * 1000) / 1000;
}

static void measure_busy(struct recorder *recorder)
{
	const int64_t now = clock_monotonic();
	char line[STAT_LINE] = "";
	FILE *file;

	if (recorder->stat_at != 0 && now - recorder->stat_at < BUSY_EVERY_MS)
		return;
	file = fopen("/proc/stat", "re");
	if (file == NULL || fgets(line, sizeof line, file) == NULL)
		line[0] = '\0';
	if (file != NULL)
		(void)fclose(file);
	if (recorder->stat_at != 0)
		recorder->busy = recorder_busy(recorder->stat, line);
	memcpy(recorder->stat, line, sizeof line);
	recorder->stat_at = now;
}

/* ---- whether it can record ---- */

/* Tries Chromium, until it works once: a recorder that cannot record has no slots. Not while there
 * are works: after a crash they go on at once. */
static void probe_chromium(struct recorder *recorder)
{
	struct work_stand *stand = &recorder->loop.stand;
	const int64_t now = clock_monotonic();
	const char *error = NULL;

	recorder->is_able = recorder->is_able || recorder->loop.first != NULL;
	if (recorder->is_able ||
	    (recorder->probed_at != 0 && now - recorder->probed_at < PROBE_EVERY_MS))
		return;
	recorder->is_able = chromium_encodes(
		&stand->children, recorder->options->chromium,
		arena_text(stand->arena, "%s/%u", stand->profiles, ++stand->profiles_made),
		stand->arena, &error);
	recorder->probed_at = clock_monotonic();
	stand->has_changed = true;
	if (!recorder->is_able)
		log_event(LOG_LEVEL_ERROR, "recorder_unable", "error", error, "effect",
			  "it records nothing; see anteroom record --check", NULL);
	arena_reset(stand->arena);
}

/* ---- reports ---- */

/* Chooses the works of a report: those that fill a slot first, the others in turn. */
static size_t choose_works(struct recorder *recorder, struct work_news news[REPORT_WORKS_MOST],
			   struct work *chosen[REPORT_WORKS_MOST])
{
	size_t n = 0, others = 0, skipped = 0;

	for (struct work *work = recorder->loop.first; work != NULL; work = work->next) {
		if (work_fills_slot(work) && work->was_listed && n < REPORT_WORKS_MOST)
			chosen[n++] = work;
		else
			others++;
	}
	for (int round = 0; round < 2 && others > 0; round++) {
		for (struct work *work = recorder->loop.first; work != NULL; work = work->next) {
			if (work_fills_slot(work) && work->was_listed)
				continue;
			/* The first round begins where the last report ended. */
			if (round == 0 && skipped++ < recorder->turn % others)
				continue;
			for (size_t i = 0; i < n; i++) {
				if (chosen[i] == work)
					round = 2;
			}
			if (n == REPORT_WORKS_MOST || round == 2)
				break;
			chosen[n++] = work;
			recorder->turn++;
		}
	}
	for (size_t i = 0; i < n; i++)
		news[i] = work_tell(chosen[i]);
	return n;
}

static void send_report(struct recorder *recorder)
{
	struct work_news news[REPORT_WORKS_MOST];
	struct work *chosen[REPORT_WORKS_MOST];
	struct folder *folder = &recorder->loop.stand.folder;
	struct report report = {
		.boot = folder->boot,
		.n = ++folder->n,
		.folder = folder->id,
		.slots = recorder->loop.stand.is_ending || !recorder->is_able
				 ? 0
				 : recorder->options->slots,
		.busy = recorder->busy,
		.ends = recorder->has_ended,
		.works = news,
		.works_count = choose_works(recorder, news, chosen),
	};
	struct delivery delivery = {
		.number = (uint64_t)folder->n,
		.url = slice_of(recorder->url),
		.headers = slice_of(recorder->headers),
		.answer_most = ANSWER_MOST,
	};

	(void)folder_space(folder, &report.free_bytes, &report.total_bytes);
	folder_note(folder);
	for (size_t i = 0; i < report.works_count; i++) {
		if (news[i].needs_put)
			chosen[i]->put_asked = folder->n;
	}
	delivery.body = report_write(recorder->loop.arena, &report);
	recorder->loop.stand.has_changed = false;
	recorder->sent_at = clock_monotonic();
	recorder->is_under_way = sender_give(recorder->sender, &delivery);
	recorder->next_at = recorder->sent_at + recorder->every_ms;
	arena_reset(recorder->loop.arena);
}

/* ---- responses ---- */

/* Says once a minute that the service does not answer as it should. */
static void tell_trouble(struct recorder *recorder, int status, const char *error)
{
	const int64_t now = clock_monotonic();

	if (recorder->told_at != 0 && now - recorder->told_at < TOLD_EVERY_MS)
		return;
	recorder->told_at = now;
	log_event(LOG_LEVEL_ERROR, "recorder_service", "status",
		  status == 0 ? NULL : LOG_NUMBER(status), "error", error, "effect",
		  "what is recorded goes on; asking again", NULL);
}

static void take_answer(struct recorder *recorder, struct slice text)
{
	struct loop *loop = &recorder->loop;
	struct fault fault = FAULT_INITIAL;
	const int64_t now = clock_monotonic();
	struct answer answer;

	if (!answer_read(loop->arena, text, &answer, &fault)) {
		tell_trouble(recorder, 200, fault_reason(&fault));
		return;
	}
	if (recorder->told_at != 0 || !recorder->is_answered)
		log_event(LOG_LEVEL_NOTICE, "recorder_service", "status", "200", "effect",
			  "the service answers", NULL);
	recorder->told_at = 0;
	recorder->is_answered = true;
	/* The response was written half-way between. */
	loop->stand.clock_offset = answer.now + (now - recorder->sent_at) / 2 -
				   clock_now(&clock_system);
	if (answer.n > loop->stand.folder.n)
		loop->stand.folder.n = answer.n;
	recorder->every_ms = answer.every_ms;
	loop_obey(loop, &answer);
	recorder->next_at = recorder->sent_at + recorder->every_ms;
}

static void take_outcome(struct recorder *recorder, const struct outcome *outcome)
{
	const struct slice text = { outcome->answer, outcome->answer_size };

	recorder->is_under_way = false;
	if (outcome->failure != SENDER_NO_FAILURE || outcome->status == 0) {
		tell_trouble(recorder, outcome->status, outcome->error);
	} else if (outcome->status == 200) {
		take_answer(recorder, text);
	} else if (outcome->status == 401) {
		tell_trouble(recorder, 401, "the key is not valid; see anteroom recorder add");
		recorder->next_at = clock_monotonic() + REFUSED_MS;
	} else {
		const json_t *json = json_text_read_stored(recorder->loop.arena, text, NULL);
		const char *message = json_string_value(json_object_get(json, "message"));

		tell_trouble(recorder, outcome->status,
			     message == NULL ? "the response is not from Anteroom; check the URL"
					     : message);
		if (outcome->status < 500 && outcome->status != 409)
			recorder->next_at = clock_monotonic() + REFUSED_MS;
	}
	arena_reset(recorder->loop.arena);
}

static void take_outcomes(struct recorder *recorder)
{
	struct outcome outcome;
	enum sender_result result;

	while ((result = sender_take(recorder->sender, &outcome)) != SENDER_NOTHING) {
		if (result == SENDER_LOST) {
			recorder->is_under_way = false;
			continue;
		}
		take_outcome(recorder, &outcome);
		free(outcome.answer);
	}
}

/* ---- the whole ---- */

static bool open_recorder(struct recorder *recorder, struct recorder_options *options,
			  struct fault *fault)
{
	recorder->options = options;
	recorder->every_ms = EVERY_MS;
	recorder->sender_options = (struct sender_options){
		.purpose = &sender_of_reports,
		.allows_http = true,
		.allows_private = true,
	};
	if (!sender_is_built())
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "this command is not available: this program was built without "
				   "libcurl");
	(void)snprintf(recorder->url, sizeof recorder->url, "%s/v2/recorders/%s/report",
		       options->url, options->name);
	(void)snprintf(recorder->headers, sizeof recorder->headers,
		       "Authorization: Bearer %s\nContent-Type: application/json", options->key);
	if (!loop_open(&recorder->loop, options, fault))
		return false;
	/* Its works are there, so it is the same recorder that goes on. */
	if (recorder->loop.first == NULL || recorder->loop.stand.folder.boot[0] == '\0')
		folder_new_boot(&recorder->loop.stand.folder);
	return sender_open(&recorder->sender_options, &recorder->sender, fault);
}

static bool is_over(const struct recorder *recorder, int64_t ending_since)
{
	return ending_since != 0 && (!loop_is_recording(&recorder->loop) ||
				     clock_monotonic() - ending_since >= ENDING_MS);
}

/* Waits for the response to a report. Returns false if none comes in time. */
static bool await_response(struct recorder *recorder, int64_t until)
{
	while (recorder->is_under_way && clock_monotonic() < until) {
		struct pollfd polled = { .fd = sender_descriptor(recorder->sender),
					 .events = POLLIN };

		(void)poll(&polled, 1, SOONEST_MS);
		take_outcomes(recorder);
	}
	return !recorder->is_under_way;
}

/* Says that it ends, so that another process may have the name at once. A service that does not
 * answer is not waited for: the name is free a while later all the same. */
static void report_end(struct recorder *recorder)
{
	const int64_t until = clock_monotonic() + LAST_REPORT_MS;

	if (!recorder->is_answered || recorder->told_at != 0 || !await_response(recorder, until))
		return;
	recorder->has_ended = true;
	send_report(recorder);
	(void)await_response(recorder, until);
}

bool recorder_run(const struct recorder_options *options, struct fault *fault)
{
	struct recorder_options found = *options;
	struct recorder *recorder = memory_check(calloc(1, sizeof *recorder));
	const bool is_open = open_recorder(recorder, &found, fault);
	int64_t ending_since = 0;

	if (is_open)
		log_event(LOG_LEVEL_NOTICE, "recorder_start", "name", options->name, "url",
			  options->url, "folder", recorder->loop.stand.folder.id, "slots",
			  LOG_NUMBER(options->slots), "chromium", found.chromium, NULL);
	while (is_open && !is_over(recorder, ending_since)) {
		const int64_t now = clock_monotonic();
		int64_t due = recorder->next_at;

		measure_busy(recorder);
		probe_chromium(recorder);
		if (recorder->loop.stand.has_changed && due > recorder->sent_at + SOONEST_MS)
			due = recorder->sent_at + SOONEST_MS;
		if (!recorder->is_under_way && now >= due)
			send_report(recorder);
		loop_round(&recorder->loop, sender_descriptor(recorder->sender),
			   recorder->is_under_way ? EVERY_MS : due - now);
		take_outcomes(recorder);
		if (recorder->loop.stand.is_ending && ending_since == 0)
			ending_since = clock_monotonic();
	}
	if (is_open)
		report_end(recorder);
	if (is_open)
		log_event(LOG_LEVEL_NOTICE, "recorder_stop", "name", options->name, NULL);
	sender_close(recorder->sender);
	loop_close(&recorder->loop);
	explicit_bzero(recorder, sizeof *recorder);
	free(recorder);
	return is_open;
}
