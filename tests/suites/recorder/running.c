/* A recorder with a Chromium, a stand-in for the service, and a page that flashes and beeps.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "kit.h"
#include "recorder/part.h"
#include "suite.h"

static struct stand_in stand_in;
static struct recorder_process recorder;

static void set_up(void)
{
	stand_in_open(&stand_in);
	recorder_prepare(&recorder);
}

static void tear_down(void)
{
	recorder_remove(&recorder);
	stand_in_close(&stand_in);
}

#define HOUR 3600000

/* Returns when the first file of the first epoch begins, by the service's clock. */
static int64_t part_begins(void)
{
	struct kept_part *parts;
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	char path[4200];
	int64_t begin;
	size_t n;

	(void)snprintf(path, sizeof path, "%s/incoming/" ACCOUNT "-" JOB, recorder.folder);
	ck_assert(parts_read(arena, path, &parts, &n, &fault));
	ck_assert(n > 0 && parts[0].media.count > 0);
	begin = parts[0].media.chunks[0].at - parts[0].media.chunks[0].media_ms;
	arena_close(arena);
	return begin;
}

/* How a recording went, until it is stopped. */
struct course {
	bool is_seamless; /* nothing is missing from the first media to the stop */
	/* Position in the file from which on no flash is missing; -1: one may be, as where a part
	 * was killed. */
	int64_t whole_from;
};

/* On a busy machine a flash, or a picture, may be late. Where one is missing, the next is further
 * away. */
#define FLASH_MISSING 400

/* Stops, and checks the one file: its length is that of all parts, and all their pictures are
 * there. */
static void stop_and_check_file(const struct course *course)
{
	const int64_t begins = part_begins();
	char path[4200];
	struct heard heard;
	int64_t beeps, apart, still, pictures, most_ms;

	stand_in_want(&stand_in, "stop");
	heard = stand_in_wait(&stand_in, "done", 1, 1);
	ck_assert_uint_eq(heard.files, 1);
	ck_assert_int_eq(heard.file_width, 640);
	/* What came behind the stop is cut out. */
	most_ms = course->is_seamless ? stand_in.stopped_at - begins : heard.recorded_ms;
	ck_assert_int_ge(heard.file_ms, most_ms - (course->is_seamless ? 400 : 4000));
	ck_assert_int_le(heard.file_ms, most_ms + 200);
	(void)snprintf(path, sizeof path, "%s/" FOLDER_OF_JOB "/recording.mp4", recorder.folder);
	ck_assert_int_eq(access(path, R_OK), 0);
	pictures = pictures_of(path);
	ck_assert_msg(pictures * 1000 >= heard.file_ms * 10, "%lld pictures in %lld ms",
		      (long long)pictures, (long long)heard.file_ms);
	apart = beeps_to_flashes(path, 0, 7, &beeps);
	/* The first beep of a part comes after up to 2 s. */
	ck_assert_int_ge(beeps, 2);
	ck_assert_msg(apart <= 150, "%lld ms from beep to flash", (long long)apart);
	/* The picture does not stand still behind a cut until the next key frame. */
	if (course->whole_from >= 0) {
		apart = beeps_to_flashes(path, course->whole_from, 10, &beeps);
		still = picture_stands_still(path, course->whole_from);
		ck_assert_msg(apart <= FLASH_MISSING && still <= FLASH_MISSING,
			      "behind %lld ms, %lld ms from beep to flash, %lld ms without a "
			      "picture",
			      (long long)course->whole_from, (long long)apart, (long long)still);
	}

	stand_in_want(&stand_in, "drop");
	(void)stand_in_wait(&stand_in, "", 0, 0);
	(void)snprintf(path, sizeof path, "%s/incoming/" ACCOUNT "-" JOB, recorder.folder);
	ck_assert_int_ne(access(path, F_OK), 0);
}

/* A recorder that ends leaves no profile. */
static void check_scratch(void)
{
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/scratch", recorder.directory);
	ck_assert_int_eq(rmdir(path), 0);
}

/* Everything is killed once while it records: Chromium, then, after a pause, the recorder, which
 * goes on with the same boot and the next part. Its clock is an hour slow: that changes nothing. */
START_TEST(whatever_is_killed_there_is_one_file)
{
	struct heard before, after;
	pid_t chromium;

	stand_in.ahead = HOUR;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	before = stand_in_wait(&stand_in, "running", 1, 2500);
	chromium = recorder_chromium(&recorder);
	ck_assert_int_gt(chromium, 0);
	ck_assert_int_eq(kill(chromium, SIGKILL), 0);
	before = stand_in_wait(&stand_in, "running", 2, before.recorded_ms + 2500);
	stand_in_want(&stand_in, "pause");
	before = stand_in_wait(&stand_in, "paused", 2, before.recorded_ms);
	stand_in_want(&stand_in, "run");
	before = stand_in_wait(&stand_in, "running", 2, before.recorded_ms + 2500);
	recorder_signal(&recorder, SIGKILL);
	recorder_start(&recorder, &stand_in);
	after = stand_in_wait(&stand_in, "running", 3, before.recorded_ms + 2500);
	/* After the pause there was another file, but no other part. */
	ck_assert_int_eq(after.part, 3);
	ck_assert_str_eq(after.boot, before.boot);
	ck_assert_int_gt(after.n, before.n);
	ck_assert_int_ge(after.gaps, 3);
	stop_and_check_file(&(const struct course){ .whole_from = -1 });
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

/* A pause takes no media, and an outage of the service stops nothing. The clock of the recorder is
 * an hour fast. */
START_TEST(a_pause_is_cut_out_and_an_outage_is_not)
{
	struct heard before, after;
	int64_t resumed_ms;

	stand_in.ahead = -HOUR;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "running", 1, 1500);
	stand_in_want(&stand_in, "pause");
	before = stand_in_wait(&stand_in, "paused", 1, 1);
	(void)receiver_wait(stand_in.receiver, receiver_count(stand_in.receiver) + 4);
	after = stand_in_wait(&stand_in, "paused", 1, 1);
	ck_assert_int_le(after.recorded_ms, before.recorded_ms + 1200);
	stand_in_want(&stand_in, "run");
	before = stand_in_wait(&stand_in, "running", 1, after.recorded_ms + 1500);
	stand_in_answer(&stand_in, 503);
	(void)receiver_wait(stand_in.receiver, receiver_count(stand_in.receiver) + 6);
	stand_in_answer(&stand_in, 200);
	after = stand_in_wait(&stand_in, "running", 1, before.recorded_ms + 1500);
	ck_assert_int_eq(after.part, 1);
	resumed_ms = stand_in.paused_from - part_begins();
	ck_assert_int_ge(resumed_ms, 1000);
	stop_and_check_file(&(const struct course){ .whole_from = resumed_ms });
	/* The recorder ends well while it records, too; the part is whole. */
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

/* A job that the service does not list is not recorded, its parts stay, and it is told. */
START_TEST(an_unlisted_work_stops_and_stays)
{
	char path[4200];
	struct heard heard;

	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "running", 1, 1500);
	stand_in_want(&stand_in, NULL);
	heard = stand_in_wait(&stand_in, "stopping", 1, 1);
	ck_assert_uint_eq(heard.works, 1);
	(void)snprintf(path, sizeof path, "%s/incoming/" ACCOUNT "-" JOB "/e1p1.mkv",
		       recorder.folder);
	stand_in_want(&stand_in, "drop");
	(void)stand_in_wait(&stand_in, "", 0, 0);
	ck_assert_int_eq(access(path, R_OK), 0);
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

/* Nobody is inside: no Chromium, until somebody is. */
START_TEST(nobody_inside_is_waited_for)
{
	stand_in.inside = 0;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "waiting", 0, 0);
	ck_assert_int_eq(recorder_chromium(&recorder), 0);
	pthread_mutex_lock(&stand_in.lock);
	stand_in.inside = 1;
	pthread_mutex_unlock(&stand_in.lock);
	(void)stand_in_wait(&stand_in, "running", 1, 1);
	/* It ends while it records. */
	recorder_signal(&recorder, SIGTERM);
	check_scratch();
}
END_TEST

/* clang-format off */
static const struct {
	int64_t ahead; /* of the service */
	const char *first, *second; /* seconds by which the clocks of the recorders are ahead */
} clocks[] = {
	{ -HOUR, NULL, NULL },
	{ 0, NULL, "3600" },
	{ HOUR, "3600", "-3600" },
};
/* clang-format on */

/* Another recorder of the folder takes over, while the first one, to which nobody answers, goes on.
 * What both have is in the file once, and the parts of both are joined, whatever their clocks say.
 */
START_TEST(another_recorder_takes_over)
{
	struct heard before;

	if (!suite_draws((size_t)_i))
		return;
	stand_in.ahead = clocks[_i].ahead;
	recorder.clock_ahead = clocks[_i].first;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	before = stand_in_wait(&stand_in, "running", 1, 1500);
	pthread_mutex_lock(&stand_in.lock);
	stand_in.epoch = 2;
	stand_in.unheard = "/recorders/test/";
	pthread_mutex_unlock(&stand_in.lock);
	recorder.former = recorder.pid;
	recorder.name = "other";
	recorder.clock_ahead = clocks[_i].second;
	recorder_start(&recorder, &stand_in);
	before = stand_in_wait(&stand_in, "running", 1, before.recorded_ms + 1500);
	ck_assert_int_eq(kill(recorder.former, SIGKILL), 0);
	ck_assert_int_eq(waitpid(recorder.former, NULL, 0), recorder.former);
	recorder.former = 0;
	(void)stand_in_wait(&stand_in, "running", 1, before.recorded_ms + 2500);
	stop_and_check_file(&(const struct course){ .is_seamless = true });
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

#define SAY(text) "anteroom(JSON.stringify(" text "));"
#define PAGE(start) \
	"<!doctype html><script>window.anteroom_start = () => {" start \
	"};" SAY("{type: 'loaded'}") "</script>"
#define CHUNK(n, data) SAY("{type: 'chunk', n: " n ", at: 1, media_ms: 1, data: '" data "'}")

/* clang-format off */
static const struct {
	const char *page;
	const char *error; /* NULL: the work waits */
} failures[] = {
	{ PAGE(CHUNK("0", "AAAA") CHUNK("2", "AAAA")), "a chunk is missing" },
	{ PAGE(CHUNK("0", "?")), "a chunk cannot be read" },
	{ PAGE(SAY("{type: 'failed', text: 'no sound'}")), "no sound" },
	{ PAGE(SAY("{type: 'away', reason: 'lost'}")), "the page left the room: lost" },
	{ PAGE("throw new Error('secret')"), "the page failed" },
	{ "nothing", "no media for 3 s after the start" },
	/* A room that has ended is not joined by itself, because that would make it anew. */
	{ PAGE(SAY("{type: 'joined'}") SAY("{type: 'away', reason: 'closed'}")), NULL },
};
/* clang-format on */

START_TEST(a_part_that_fails_says_why)
{
	stand_in.page = failures[_i].page;
	recorder.opening = "3s";
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	if (failures[_i].error != NULL)
		stand_in_wait_error(&stand_in, failures[_i].error);
	else
		(void)stand_in_wait(&stand_in, "waiting", 1, 0);
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

/* When nothing comes from the media server any more, the recorder asks where the room is. If it is
 * at another one, the next part is there. */
START_TEST(a_room_is_followed_to_another_media_server)
{
	stand_in.page = PAGE(SAY("{type: 'joined'}") CHUNK(
		"0",
		"AAAA") "let n = 0;"
			"setInterval(() => {" CHUNK(
				"++n",
				"AAAA") "}, 500);"
					"window.anteroom_stop = () => {" SAY("{type: 'stopped', n: n + 1}") "};" SAY(
						"{type: 'lost', yes: true}"));
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "running", 1, 1);
	pthread_mutex_lock(&stand_in.lock);
	stand_in.media = "ws://127.0.0.1:10/";
	pthread_mutex_unlock(&stand_in.lock);
	(void)stand_in_wait(&stand_in, "running", 2, 1);
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

/* The address of the media server is that of an account. */
START_TEST(a_media_server_inside_is_not_reached)
{
	recorder.media_allow = "127.0.0.2";
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "broken", 1, 0);
	ck_assert_str_eq(stand_in.heard.error, "address not allowed");
	recorder_signal(&recorder, SIGTERM);
}
END_TEST

/* Of two processes of a name with a folder, one runs; and it says when it ends. */
START_TEST(a_second_process_of_a_name_ends)
{
	struct recorder_process second;
	int status;

	recorder_start(&recorder, &stand_in);
	ck_assert(receiver_wait(stand_in.receiver, 1));
	second = recorder;
	recorder_start(&second, &stand_in);
	ck_assert_int_eq(waitpid(second.pid, &status, 0), second.pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	ck_assert(!stand_in.heard.ends);
	recorder_signal(&recorder, SIGTERM);
	ck_assert(stand_in.heard.ends);
}
END_TEST

/* A recorder that cannot record has no slots. */
START_TEST(without_a_chromium_there_are_no_slots)
{
	recorder_start(&recorder, &stand_in);
	stand_in_wait_slots(&stand_in, 1);
	recorder_signal(&recorder, SIGTERM);
	/* It has none either when it ends. */
	pthread_mutex_lock(&stand_in.lock);
	stand_in.heard.reports = 0;
	pthread_mutex_unlock(&stand_in.lock);
	recorder.chromium = "/bin/false";
	recorder_start(&recorder, &stand_in);
	stand_in_wait_slots(&stand_in, 0);
	recorder_signal(&recorder, SIGTERM);
	check_scratch();
}
END_TEST

TCase *recorder_running(void)
{
	TCase *running = tcase_create("running");

	tcase_set_timeout(running, 300);
	tcase_add_checked_fixture(running, set_up, tear_down);
	tcase_add_test(running, whatever_is_killed_there_is_one_file);
	tcase_add_test(running, a_pause_is_cut_out_and_an_outage_is_not);
	tcase_add_test(running, an_unlisted_work_stops_and_stays);
	tcase_add_test(running, nobody_inside_is_waited_for);
	tcase_add_test(running, a_room_is_followed_to_another_media_server);
	tcase_add_loop_test(running, another_recorder_takes_over, 0, ROWS(clocks));
	tcase_add_loop_test(running, a_part_that_fails_says_why, 0, ROWS(failures));
	tcase_add_test(running, a_media_server_inside_is_not_reached);
	tcase_add_test(running, without_a_chromium_there_are_no_slots);
	tcase_add_test(running, a_second_process_of_a_name_ends);
	return running;
}
