/* The check of a recorder, see recorder/recorder.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/recorder.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "delivery/sender.h"
#include "delivery/stream_sender.h"
#include "recorder/loop.h"
#include "recorder/test_page.h"

/* No recorder has such a name. */
#define NAME ".check"
/* Account and job of the test picture. */
#define ACCOUNT "000000000000000000000000"
#define TEST_MS 5000
#define TEST_PATIENCE 90000
#define CLOCK_MOST 5000
#define SPACE_LEAST ((int64_t)2 << 30)
#define WIDTH 640
#define HEIGHT 360
#define FPS 25

typedef void tell_finding(const struct recorder_finding *finding);

static bool well(tell_finding *tell, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool ill(tell_finding *tell, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool well(tell_finding *tell, const char *format, ...)
{
	struct recorder_finding finding = { .is_well = true };
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(finding.sentence, sizeof finding.sentence, format, arguments);
	va_end(arguments);
	tell(&finding);
	return true;
}

static bool ill(tell_finding *tell, const char *remedy, const char *format, ...)
{
	struct recorder_finding finding = { .is_well = false };
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(finding.sentence, sizeof finding.sentence, format, arguments);
	va_end(arguments);
	(void)snprintf(finding.remedy, sizeof finding.remedy, "%s", remedy);
	tell(&finding);
	return false;
}

/* ---- the folder ---- */

static bool check_folder(const struct loop *loop, tell_finding *tell)
{
	const struct folder *folder = &loop->stand.folder;
	int64_t free_bytes = 0, total_bytes = 0;

	(void)folder_space(folder, &free_bytes, &total_bytes);
	if (free_bytes < SPACE_LEAST)
		return ill(tell, "Make room: below 2 GiB no recording begins.",
			   "The folder %s has only %lld MiB left.", folder->path,
			   (long long)(free_bytes >> 20));
	return well(tell, "The folder %s has the id %s and %lld GiB left.", folder->path,
		    folder->id, (long long)(free_bytes >> 30));
}

/* ---- the service ---- */

/* Sends a report that has no members: the service checks the key and rejects the rest, so nothing
 * changes. */
static bool ask_service(const struct recorder_options *options, struct outcome *outcome,
			int64_t *asked_at)
{
	const struct sender_options sender_options = {
		.purpose = &sender_of_reports,
		.allows_http = true,
		.allows_private = true,
	};
	struct arena *arena = arena_open();
	const struct delivery delivery = {
		.url = slice_of(arena_text(arena, "%s/v2/recorders/%s/report", options->url,
					   options->name)),
		.headers = slice_of(arena_text(
			arena, "Authorization: Bearer %s\nContent-Type: application/json",
			options->key)),
		.body = SLICE("{}"),
		.answer_most = 65536,
	};
	struct fault fault = FAULT_INITIAL;
	enum sender_result result = SENDER_NOTHING;
	struct sender *sender = NULL;

	if (sender_open(&sender_options, &sender, &fault) && sender_give(sender, &delivery)) {
		while (result == SENDER_NOTHING) {
			struct pollfd polled = { sender_descriptor(sender), POLLIN, 0 };

			(void)poll(&polled, 1, 1000);
			result = sender_take(sender, outcome);
		}
	}
	*asked_at = clock_now(&clock_system);
	sender_close(sender);
	arena_close(arena);
	return result == SENDER_OUTCOME;
}

static bool check_service(const struct recorder_options *options, tell_finding *tell)
{
	struct outcome outcome = { .number = 0 };
	int64_t asked_at, apart;

	if (!sender_is_built())
		return ill(tell, "Build it with libcurl.", "This program has no libcurl.");
	if (!ask_service(options, &outcome, &asked_at))
		return ill(tell, "Run the check again.", "The process that sends reports ended.");
	free(outcome.answer);
	if (outcome.status == 0)
		return ill(tell, "Check --url, and that the service runs.",
			   "The service does not answer at %s: %s.", options->url, outcome.error);
	if (outcome.status == 401)
		return ill(tell, "Add the recorder with: anteroom recorder add NAME",
			   "The service at %s does not know the key of %s.", options->url,
			   options->name);
	if (outcome.status != 400)
		return ill(tell, "Check --url: it is the address of a service of this version.",
			   "What answers at %s is not a service with recorders (status %d).",
			   options->url, outcome.status);
	apart = outcome.date == 0 ? 0 : asked_at - outcome.date * 1000 - 500;
	if (apart > CLOCK_MOST || apart < -CLOCK_MOST)
		return ill(tell, "Let a service such as chrony set the clocks of both machines.",
			   "The clock of this machine is %lld s apart from that of the service.",
			   (long long)(apart / 1000));
	return well(tell, "The service at %s answers and knows the key of %s.", options->url,
		    options->name);
}

/* ---- external streams ---- */

static bool check_streams(tell_finding *tell)
{
	if (!stream_sender_is_built())
		return ill(tell, "Build it with librtmp, or start no external streams.",
			   "This program has no librtmp: it sends no external streams (RTMP).");
	return well(tell, "External streams can be sent (RTMP).");
}

/* ---- the test picture ---- */

static const char *remedy_for(const char *error)
{
	if (strstr(error, "sandbox") != NULL)
		return "Run the recorder as an ordinary user, and allow Chromium user namespaces: "
		       "sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu "
		       "kernel.apparmor_restrict_unprivileged_userns=0.";
	if (strstr(error, "H.264") != NULL)
		return "Use Debian's Chromium with libopenh264: apt-get install "
		       "chromium-headless-shell.";
	return "Look at the messages above; if the machine is slow, use --opening and --silence.";
}

/* Records the picture for some seconds, then joins it. Returns its work when it is done, or NULL;
 * *error says why. */
static struct work *record_test(struct loop *loop, const char *job, const char **error)
{
	const int64_t began = clock_monotonic();
	struct wanted wanted = { .account = ACCOUNT, .epoch = 1, .inside = 1, .want = WANT_RUN };
	struct answer answer = { .works = &wanted, .works_count = 1 };
	struct arena *arena = arena_open();
	struct work *work = NULL;

	(void)snprintf(wanted.job, sizeof wanted.job, "%s", job);
	wanted.order = arena_json(
		arena, json_pack("{s:s, s:{}, s:{s:i,s:i,s:i,s:i,s:i}, s:s}", "page", "/test",
				 "join", "look", "width", WIDTH, "height", HEIGHT, "fps", FPS,
				 "video_kbps", 600, "audio_kbps", 96, "dir",
				 arena_text(arena, "incoming/%s-%s/done", ACCOUNT, job)));
	*error = "it took too long";
	while (clock_monotonic() - began < TEST_PATIENCE && !loop->stand.is_ending) {
		loop_obey(loop, &answer);
		loop_round(loop, -1, 100);
		work = loop_find(loop, ACCOUNT, job);
		if (work->recorded_ms >= TEST_MS)
			wanted.want = WANT_STOP;
		if (work->state == WORK_SENDING || work->state == WORK_DONE)
			break;
		/* The second part would not do better. */
		if (work->error[0] != '\0' && work->failures + work->join_failures > 0) {
			*error = work->error;
			break;
		}
	}
	arena_close(arena);
	return work != NULL && work->files_count > 0 ? work : NULL;
}

/* Removes the test picture, and those of checks that were killed. */
static void drop_tests(struct loop *loop)
{
	while (loop->first != NULL) {
		struct wanted drop = { .want = WANT_DROP, .erases = true };
		const struct answer answer = { .works = &drop, .works_count = 1 };

		memcpy(drop.account, loop->first->account, sizeof drop.account);
		memcpy(drop.job, loop->first->job, sizeof drop.job);
		loop_obey(loop, &answer);
	}
}

static bool check_recording(struct loop *loop, tell_finding *tell)
{
	struct arena *arena = arena_open();
	const struct id id = id_random(&clock_system);
	const struct recorded_file *file;
	char job[ID_TEXT_SIZE + 1];
	const char *error;
	struct work *work;
	bool is_well;

	id_print(&id, job);
	drop_tests(loop);
	loop->stand.page = test_page_url(arena);
	work = record_test(loop, job, &error);
	file = work == NULL ? NULL : &work->files[0];
	if (file == NULL)
		is_well = ill(tell, remedy_for(error), "A test picture was not recorded: %s.",
			      error);
	else if (file->duration_ms < TEST_MS * 9 / 10 || file->width != WIDTH ||
		 file->height != HEIGHT)
		is_well = ill(tell, "Run the check again when the machine is less busy.",
			      "The test picture has %lld ms and %lldx%lld.",
			      (long long)file->duration_ms, (long long)file->width,
			      (long long)file->height);
	else
		is_well = well(
			tell,
			"Chromium runs with its sandbox and encodes H.264: a test picture of "
			"%lld.%lld s was recorded and joined (%lld KiB).",
			(long long)(file->duration_ms / 1000),
			(long long)(file->duration_ms / 100 % 10), (long long)(file->bytes >> 10));
	drop_tests(loop);
	arena_close(arena);
	return is_well;
}

bool recorder_check(const struct recorder_options *options, tell_finding *tell)
{
	struct recorder_options own = *options;
	struct fault fault = FAULT_INITIAL;
	struct loop loop;
	bool is_well;

	own.name = NAME;
	if (loop_open(&loop, &own, &fault)) {
		well(tell, "Chromium is %s, ffmpeg is %s.", own.chromium, own.ffmpeg);
		is_well = check_folder(&loop, tell);
		is_well = check_service(options, tell) && is_well;
		is_well = check_streams(tell) && is_well;
		is_well = check_recording(&loop, tell) && is_well;
	} else {
		is_well = ill(tell, "", "%s.", fault_reason(&fault));
	}
	loop_close(&loop);
	return is_well;
}
