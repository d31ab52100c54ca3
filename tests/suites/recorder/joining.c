/* Joining parts that ffmpeg has made, with the streams in either order, as MediaRecorder writes
 * them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "directory.h"
#include "kit.h"
#include "recorder/joiner.h"
#include "suite.h"

#define BEGAN INT64_C(1764500000000)

static struct {
	struct arena *arena;
	char *directory;
	struct folder folder;
	struct children children;
	struct recorded_file files[FILES_MOST];
	size_t files_count;
} join;

static char *media_directory;

/* Once for all tests, which have processes of their own. */
static void make_media_directory(void)
{
	media_directory = directory_make();
}

static void remove_media(void)
{
	directory_remove(media_directory);
}

static void set_up(void)
{
	struct fault fault = FAULT_INITIAL;
	char path[FOLDER_PATH_SIZE];

	join.arena = arena_open();
	join.directory = directory_make();
	join.children = (struct children){ NULL };
	ck_assert(folder_open(&join.folder, join.directory, &fault));
	folder_of_job(&join.folder, ACCOUNT, JOB, path);
	ck_assert_int_eq(mkdir(path, 0770), 0);
}

static void tear_down(void)
{
	folder_close(&join.folder);
	directory_remove(join.directory);
	arena_close(join.arena);
}

/* Media that were made once: of so many seconds and this height, with the sound first or not. They
 * are in a directory of the suite. */
static const char *media_of(int seconds, int height, bool sound_first)
{
	static char path[FOLDER_PATH_SIZE + 64];
	size_t size;

	(void)snprintf(path, sizeof path, "%s/%ds%dp%d.mkv", media_directory, seconds, height,
		       sound_first);
	if (access(path, R_OK) == 0)
		return path;
	free(output_of(
		&size,
		"ffmpeg -nostdin -v error -f lavfi -i testsrc=size=320x%d:rate=25:duration=%d "
		"-f lavfi -i sine=duration=%d -map %s -map %s -c:v libx264 -preset ultrafast "
		"-bf 0 -g 50 -c:a libopus -f matroska '%s'",
		height, seconds, seconds, sound_first ? "1:a" : "0:v", sound_first ? "0:v" : "1:a",
		path));
	return path;
}

/* Makes a part of some seconds with 25 pictures a second, and its log. */
static void make_part(int number, int seconds, int64_t began, int height, bool sound_first)
{
	char folder[FOLDER_PATH_SIZE], path[FOLDER_PATH_SIZE + 32];
	size_t size;
	FILE *log;

	folder_of_job(&join.folder, ACCOUNT, JOB, folder);
	free(output_of(&size, "cp '%s' '%s/e1p%d.mkv'", media_of(seconds, height, sound_first),
		       folder, number));
	(void)snprintf(path, sizeof path, "%s/e1p%d.log", folder, number);
	log = fopen(path, "w");
	ck_assert_ptr_nonnull(log);
	for (int i = 0; i < seconds; i++)
		(void)fprintf(log, "%d %lld %lld 1000 %d\n", i, (long long)(began + 1000 * (i + 1)),
			      (long long)(began + 1000 * (i + 1)), 1000 * (i + 1));
	(void)fclose(log);
}

/* Makes a part that was killed before its first chunk. */
static void make_empty_part(int number)
{
	char folder[FOLDER_PATH_SIZE], path[FOLDER_PATH_SIZE + 32];
	FILE *file;

	folder_of_job(&join.folder, ACCOUNT, JOB, folder);
	(void)snprintf(path, sizeof path, "%s/e1p%d.mkv", folder, number);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	(void)fclose(file);
}

static json_t *order_with(const char *stopped_at, const char *pauses)
{
	json_t *order = json_pack("{s:s, s:{s:i, s:b}}", "dir", FOLDER_OF_JOB, "look", "audio_kbps",
				  96, "chat", 1);

	if (stopped_at != NULL)
		object_put(order, "stopped_at", json_string(stopped_at));
	if (pauses != NULL)
		object_put(order, "pauses", json_loads(pauses, 0, NULL));
	return order;
}

/* Joins, and reads which files there are. */
static enum join_progress join_all(json_t *order, struct fault *fault)
{
	struct join_task task = {
		.folder = &join.folder,
		.account = ACCOUNT,
		.job = JOB,
		.order = order,
		.ffmpeg = "ffmpeg",
		.ffprobe = "ffprobe",
	};
	enum join_progress progress = JOIN_WORKS;
	struct joiner *joiner;

	if (!joiner_begin(&join.children, &task, &joiner, fault))
		return JOIN_FAILED;
	while (progress == JOIN_WORKS) {
		struct pollfd polled = { joiner_descriptor(joiner), POLLIN, 0 };

		(void)poll(&polled, 1, 20);
		children_reap(&join.children);
		progress = joiner_step(joiner, fault);
	}
	joiner_close(joiner);
	join.files_count = joined_files(&join.folder, ACCOUNT, JOB, join.files);
	return progress;
}

static int64_t pictures_of_file(const char *name)
{
	char path[FOLDER_PATH_SIZE + 128];

	(void)snprintf(path, sizeof path, "%s/" FOLDER_OF_JOB "/%s", join.directory, name);
	return pictures_of(path);
}

/* clang-format off */
static const struct {
	const char *name;
	int second_height;
	const char *stopped_at, *pauses;
	size_t files;
	int64_t least_ms, most_ms; /* of the first file */
	int64_t pictures; /* of all files, at least */
} joins[] = {
	{ "both parts", 180, NULL, NULL, 1, 7900, 8200, 198 },
	/* The second part begins ten seconds after the first. */
	{ "stopped within the second", 180, "2025-11-30T10:53:32.000Z", NULL, 1, 5900, 6200, 148 },
	{ "stopped within the first", 180, "2025-11-30T10:53:22.000Z", NULL, 1, 1900, 2200, 49 },
	/* The picture after a pause begins with a key frame: up to 2 s are still. */
	{ "a pause within the first", 180, NULL,
	  "[{\"from\":\"2025-11-30T10:53:21.000Z\",\"to\":\"2025-11-30T10:53:22.000Z\"}]",
	  1, 6900, 7200, 170 },
	{ "a pause that did not end", 180, NULL,
	  "[{\"from\":\"2025-11-30T10:53:23.000Z\",\"to\":null}]", 1, 2900, 3200, 74 },
	{ "another size", 240, NULL, NULL, 2, 3900, 4200, 198 },
};
/* clang-format on */

START_TEST(parts_become_files)
{
	json_t *order = order_with(joins[_i].stopped_at, joins[_i].pauses);
	struct fault fault = FAULT_INITIAL;
	int64_t pictures = 0;
	enum join_progress progress;

	make_part(1, 4, BEGAN, 180, false);
	make_part(2, 4, BEGAN + 10000, joins[_i].second_height, true);
	make_empty_part(3);
	progress = join_all(order, &fault);
	ck_assert_msg(progress == JOIN_DONE, "%s: %s", joins[_i].name, fault_reason(&fault));
	ck_assert_uint_eq(join.files_count, joins[_i].files);
	for (size_t i = 0; i < join.files_count; i++)
		pictures += pictures_of_file(join.files[i].name);
	ck_assert_msg(pictures >= joins[_i].pictures, "%s: %lld pictures", joins[_i].name,
		      (long long)pictures);
	ck_assert_msg(join.files[0].duration_ms >= joins[_i].least_ms &&
			      join.files[0].duration_ms <= joins[_i].most_ms,
		      "%s: %lld ms", joins[_i].name, (long long)join.files[0].duration_ms);
	json_decref(order);
}
END_TEST

/* clang-format off */
static const struct {
	const char *name;
	const char *streams; /* of the short part; NULL: it is torn */
	bool is_alone;
	int64_t least_ms, most_ms; /* 0: nothing was recorded */
} shorts[] = {
	{ "sound and picture", "-map 0:v -map 1:a", false, 8350, 8700 },
	{ "no sound", "-map 0:v", false, 7900, 8200 },
	{ "no picture", "-map 1:a", false, 7900, 8200 },
	{ "torn", NULL, false, 7900, 8200 },
	{ "torn, and nothing else", NULL, true, 0, 0 },
};
/* clang-format on */

/* Half a second between two pauses is joined, unless something is missing in it. */
START_TEST(what_is_short_is_joined_if_it_is_whole)
{
	json_t *order = order_with(NULL, NULL);
	char folder[FOLDER_PATH_SIZE], path[FOLDER_PATH_SIZE + 96];
	struct fault fault = FAULT_INITIAL;
	enum join_progress progress;
	size_t size;
	FILE *file;

	folder_of_job(&join.folder, ACCOUNT, JOB, folder);
	if (!shorts[_i].is_alone) {
		make_part(1, 4, BEGAN, 180, false);
		make_part(3, 4, BEGAN + 10000, 180, true);
	}
	(void)snprintf(path, sizeof path, "%s/e1p2.mkv", folder);
	if (shorts[_i].streams != NULL)
		free(output_of(&size,
			       "ffmpeg -nostdin -v error -i '%s' -i '%s' %s -t 0.5 -c copy "
			       "-f matroska '%s'",
			       media_of(4, 180, false), media_of(4, 180, false), shorts[_i].streams,
			       path));
	else {
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		(void)fputs("\x1a\x45\xdf\xa3", file);
		(void)fclose(file);
	}
	/* It is of the run of the first part. */
	(void)snprintf(path, sizeof path, "%s/e1p2.log", folder);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	(void)fprintf(file, "0 %lld %lld 1000 500 1\n", (long long)(BEGAN + 7500),
		      (long long)(BEGAN + 7500));
	(void)fclose(file);
	if (shorts[_i].is_alone) {
		(void)snprintf(path, sizeof path,
			       "cd '%s' && cp e1p2.mkv e1p3.mkv && "
			       "cp e1p2.log e1p3.log",
			       folder);
		ck_assert_int_eq(system(path), 0);
	}
	progress = join_all(order, &fault);
	if (shorts[_i].is_alone) {
		ck_assert_int_eq(progress, JOIN_FAILED);
		ck_assert_int_eq(fault.kind, FAULT_NOT_FOUND);
	} else {
		ck_assert_msg(progress == JOIN_DONE, "%s: %s", shorts[_i].name,
			      fault_reason(&fault));
		ck_assert_uint_eq(join.files_count, 1);
		ck_assert_msg(join.files[0].duration_ms >= shorts[_i].least_ms &&
				      join.files[0].duration_ms <= shorts[_i].most_ms,
			      "%s: %lld ms", shorts[_i].name, (long long)join.files[0].duration_ms);
	}
	json_decref(order);
}
END_TEST

/* The chat is a file too, without what was written during a pause. */
START_TEST(a_chat_is_kept_without_pauses)
{
	json_t *order = order_with(
		NULL,
		"[{\"from\":\"2025-11-30T10:53:21.000Z\",\"to\":\"2025-11-30T10:53:22.000Z\"}]");
	char folder[FOLDER_PATH_SIZE], path[FOLDER_PATH_SIZE + 128];
	struct fault fault = FAULT_INITIAL;
	struct slice text;
	FILE *file;

	make_part(1, 4, BEGAN, 180, false);
	folder_of_job(&join.folder, ACCOUNT, JOB, folder);
	(void)snprintf(path, sizeof path, "%s/chat.jsonl", folder);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < 3; i++)
		(void)fprintf(
			file,
			"{\"peer_id\":\"p\",\"name\":\"=1\",\"user_id\":\"u\",\"roles\":\"host\","
			"\"sent_at\":%lld,\"kind\":\"chat\",\"message\":\"line, %d\"}\n",
			(long long)(BEGAN + 500 + 1000 * i), i);
	(void)fputs("{\"torn\":", file);
	(void)fclose(file);
	ck_assert_int_eq(join_all(order, &fault), JOIN_DONE);
	ck_assert_uint_eq(join.files_count, 2);
	ck_assert_str_eq(join.files[1].name, "chat.csv");
	(void)snprintf(path, sizeof path, "%s/" FOLDER_OF_JOB "/chat.csv", join.directory);
	text = small_file_read(join.arena, path);
	ck_assert_ptr_nonnull(text.data);
	ck_assert_int_eq((int)text.size, (int)join.files[1].bytes);
	ck_assert_str_eq(
		arena_copy(join.arena, text).data,
		"\xef\xbb\xbfSenderPeerID,SenderName,SenderUserID,Roles,SentAt,Type,Message\r\n"
		"p,'=1,u,host,2025-11-30T10:53:20.500Z,chat,\"line, 0\"\r\n"
		"p,'=1,u,host,2025-11-30T10:53:22.500Z,chat,\"line, 2\"\r\n");
	json_decref(order);
}
END_TEST

/* The web server's user reads finished files by the folder's access control list, and no parts. */
START_TEST(files_take_over_who_may_read_them)
{
	json_t *order = order_with(NULL, NULL);
	struct fault fault = FAULT_INITIAL;
	char *list;
	size_t size;

	/* A file system may have no such lists. */
	if (!has_program("setfacl") ||
	    system(arena_text(join.arena, "setfacl -d -m u:65534:r-x '%s' 2>/dev/null",
			      join.directory)) != 0) {
		json_decref(order);
		return;
	}
	make_part(1, 2, BEGAN, 180, false);
	ck_assert_int_eq(join_all(order, &fault), JOIN_DONE);
	list = output_of(&size, "getfacl -cpn '%s/" FOLDER_OF_JOB "/recording.mp4'",
			 join.directory);
	ck_assert_ptr_nonnull(strstr(list, "user:65534:r-x"));
	ck_assert_ptr_nonnull(strstr(list, "mask::r--"));
	ck_assert_ptr_nonnull(strstr(list, "other::---"));
	free(list);
	json_decref(order);
}
END_TEST

/* A part whose log says more than its file has is not joined as if it were whole. */
START_TEST(missing_media_is_noticed)
{
	json_t *order = order_with(NULL, NULL);
	char folder[FOLDER_PATH_SIZE], path[FOLDER_PATH_SIZE + 128];
	struct fault fault = FAULT_INITIAL;
	struct stat status;

	make_part(1, 4, BEGAN, 180, false);
	folder_of_job(&join.folder, ACCOUNT, JOB, folder);
	(void)snprintf(path, sizeof path, "%s/e1p1.mkv", folder);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(truncate(path, status.st_size / 2), 0);
	ck_assert_int_eq(join_all(order, &fault), JOIN_FAILED);
	ck_assert_ptr_nonnull(strstr(fault_reason(&fault), " of 4000 ms"));
	ck_assert_int_eq(access(path, R_OK), 0);
	json_decref(order);
}
END_TEST

/* Whichever program is killed, joining fails, and another time it ends well. */
START_TEST(a_killed_join_is_done_again)
{
	json_t *order = order_with(NULL, NULL);
	struct join_task task = {
		.folder = &join.folder,
		.account = ACCOUNT,
		.job = JOB,
		.order = order,
		.ffmpeg = "ffmpeg",
		.ffprobe = "ffprobe",
	};
	int started = 0;

	make_part(1, 2, BEGAN, 180, false);
	make_part(2, 2, BEGAN + 5000, 180, true);
	/* Two parts are counted, copied and counted, then joined and counted. */
	for (int killed = 0; killed < 8; killed++) {
		struct fault fault = FAULT_INITIAL;
		enum join_progress progress = JOIN_WORKS;
		const struct child *former = NULL;
		struct joiner *joiner;
		pid_t pid = 0;

		ck_assert(joiner_begin(&join.children, &task, &joiner, &fault));
		for (started = -1; progress == JOIN_WORKS;) {
			struct pollfd polled = { joiner_descriptor(joiner), POLLIN, 0 };

			(void)poll(&polled, 1, 20);
			children_reap(&join.children);
			progress = joiner_step(joiner, &fault);
			former = join.children.first;
			if (former == NULL || former->pid == pid)
				continue;
			pid = former->pid;
			if (++started == killed)
				ck_assert_int_eq(kill(pid, SIGKILL), 0);
		}
		joiner_close(joiner);
		ck_assert_msg(progress == JOIN_FAILED, "killed %d", killed);
		ck_assert_ptr_nonnull(strstr(fault_reason(&fault), "was ended by signal 9"));
	}
	ck_assert_int_eq(join_all(order, &(struct fault){ .kind = FAULT_NONE }), JOIN_DONE);
	ck_assert_int_ge(pictures_of_file("recording.mp4"), 99);
	json_decref(order);
}
END_TEST

START_TEST(nothing_is_not_joined)
{
	json_t *order = order_with(NULL, NULL);
	struct fault fault = FAULT_INITIAL;

	ck_assert_int_eq(join_all(order, &fault), JOIN_FAILED);
	ck_assert_int_eq(fault.kind, FAULT_NOT_FOUND);
	json_decref(order);
}
END_TEST

TCase *recorder_joining(void)
{
	TCase *joining = tcase_create("joining");

	tcase_set_timeout(joining, 120);
	tcase_add_unchecked_fixture(joining, make_media_directory, remove_media);
	tcase_add_checked_fixture(joining, set_up, tear_down);
	tcase_add_loop_test(joining, parts_become_files, 0, ROWS(joins));
	tcase_add_loop_test(joining, what_is_short_is_joined_if_it_is_whole, 0, ROWS(shorts));
	tcase_add_test(joining, a_chat_is_kept_without_pauses);
	tcase_add_test(joining, files_take_over_who_may_read_them);
	tcase_add_test(joining, missing_media_is_noticed);
	tcase_add_test(joining, a_killed_join_is_done_again);
	tcase_add_test(joining, nothing_is_not_joined);
	return joining;
}
