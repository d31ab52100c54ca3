/* A recorder that streams what it records: to a playlist, and to receivers of RTMP, which are
 * nginx's, some of them dead.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "delivery/stream_sender.h"
#include "kit.h"
#include "recorder/outputs.h"
#include "recorder/playlist.h"
#include "suite.h"

#define KEY "AbCdEfGhIjKlMnOpQrStUv"
#define HLS \
	"{\"hls\": {\"key\": \"" KEY "\", \"segment_ms\": 2000, \"window\": 6, \"title\": " \
	"\"Lesson \\\"1\\\"\"}}"
#define HLS_OF_THREE "{\"hls\": {\"key\": \"" KEY "\", \"segment_ms\": 2000, \"window\": 3}}"
#define RTMP_MODULE "/usr/lib/nginx/modules/ngx_rtmp_module.so"
#define WAIT_MOST 120000

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

/* ---- masks ---- */

/* clang-format off */
static const struct {
	const char *url, *masked;
} masks[] = {
	{ "rtmp://a.example.com/live2/abcd-efgh-ijkl", "rtmp://a.example.com/live2/{abc...jkl}" },
	{ "rtmps://b.example.com:443/rtmp/FB-1?s_bl=1&a=/b", "rtmps://b.example.com:443/rtmp/{FB-...=/b}" },
	{ "rtmp://a.example.com/live/short", "rtmp://a.example.com/live/{...}" },
	{ "rtmp://a.example.com/", "rtmp://a.example.com/{...}" },
	{ "rtmp://a.example.com", "rtmp://a.example.com{...}" },
};
/* clang-format on */

START_TEST(a_key_is_masked)
{
	char masked[STREAM_URL_MOST + 1];

	outputs_mask(masks[_i].url, masked);
	ck_assert_str_eq(masked, masks[_i].masked);
}
END_TEST

/* ---- the playlist ---- */

static struct playlist *read_playlist(struct arena *arena)
{
	struct playlist *playlist = arena_zero(arena, sizeof *playlist);

	playlist_read(playlist,
		      small_file_read(arena, arena_text(arena, "%s/live/" KEY "/live.m3u8",
							recorder.folder)));
	return playlist;
}

/* Waits until the playlist has had so many segments. */
static struct playlist *wait_for_segments(struct arena *arena, int64_t n)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	struct playlist *playlist;

	do {
		(void)poll(NULL, 0, 50);
		playlist = read_playlist(arena);
	} while (playlist->sequence + (int64_t)playlist->count < n && clock_monotonic() < until);
	ck_assert_int_ge(playlist->sequence + (int64_t)playlist->count, n);
	return playlist;
}

static size_t discontinuities_of(const struct playlist *playlist)
{
	size_t n = (size_t)playlist->discontinuities;

	for (size_t i = 0; i < playlist->count; i++)
		n += playlist->segments[i].is_discontinuous;
	return n;
}

/* Waits until what is in the list goes on behind so many discontinuities. */
static const struct playlist *wait_for_discontinuities(struct arena *arena, size_t n)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	const struct playlist *playlist = read_playlist(arena);

	while (discontinuities_of(playlist) < n && clock_monotonic() < until)
		playlist = wait_for_segments(arena,
					     playlist->sequence + (int64_t)playlist->count + 1);
	ck_assert_uint_eq(discontinuities_of(playlist), n);
	return playlist;
}

/* Each segment that the list names is there, begins with a key frame, has sound, and is as long as
 * the list says. */
static void check_segments(struct arena *arena, const struct playlist *playlist)
{
	for (size_t i = 0; i < playlist->count; i++) {
		const struct segment *segment = &playlist->segments[i];
		size_t size;
		char *text = output_of(&size,
				       "ffprobe -v error -show_entries packet=codec_type,flags -of "
				       "csv=p=0 '%s/live/" KEY "/%s'",
				       recorder.folder, segment->name);
		const char *video = strstr(text, "video,K");

		ck_assert_ptr_eq(video, strstr(text, "video,"));
		ck_assert_ptr_nonnull(video);
		ck_assert_ptr_nonnull(strstr(text, "audio,"));
		free(text);
		ck_assert_msg(segment->duration_ms > 0 && segment->duration_ms < 8000, "%lld ms",
			      (long long)segment->duration_ms);
		(void)arena;
	}
}

/* A player reads the whole list, and takes no packet for a damaged one. */
static void check_played(void)
{
	size_t size;
	char *text = output_of(&size,
			       "ffmpeg -v warning -nostdin -i '%s/live/" KEY
			       "/live.m3u8' -map 0 -c copy -f null - 2>&1",
			       recorder.folder);

	ck_assert_msg(size == 0, "%s", text);
	free(text);
}

/* Returns the number of segments that are older than half a minute. */
static long old_segments(void)
{
	size_t size;
	char *text = output_of(&size, "find '%s/live/" KEY "' -name '*.ts' -mmin +0.5 | wc -l",
			       recorder.folder);
	const long n = strtol(text, NULL, 10);

	free(text);
	return n;
}

/* Chromium is killed, then the recorder, and another one takes over: the playlist goes on, with a
 * discontinuity each time, and no name comes twice. The stop ends it. */
START_TEST(a_playlist_goes_on_whatever_is_killed)
{
	struct arena *arena = arena_open();
	const struct playlist *playlist;
	struct heard heard;
	const char *about;
	int64_t taken_over, length = 0;

	arena_set_limit(arena, SIZE_MAX);
	stand_in.stream = HLS;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	(void)stand_in_wait(&stand_in, "running", 1, 1);
	playlist = read_playlist(arena);
	ck_assert_uint_ge(playlist->count, 1);
	ck_assert_str_eq(playlist->segments[0].name, "1-0.ts");
	playlist = wait_for_segments(arena, 3);
	ck_assert_uint_eq(discontinuities_of(playlist), 0);
	check_segments(arena, playlist);
	ck_assert_int_eq(kill(recorder_chromium(&recorder), SIGKILL), 0);
	(void)wait_for_discontinuities(arena, 1);

	recorder_signal(&recorder, SIGKILL);
	recorder_start(&recorder, &stand_in);
	playlist = wait_for_discontinuities(arena, 2);
	ck_assert_int_eq(strncmp(playlist->segments[playlist->count - 1].name, "1-", 2), 0);
	recorder_signal(&recorder, SIGKILL);
	taken_over = clock_monotonic();
	pthread_mutex_lock(&stand_in.lock);
	stand_in.epoch = 2;
	pthread_mutex_unlock(&stand_in.lock);
	recorder.name = "other";
	recorder_start(&recorder, &stand_in);
	playlist = wait_for_discontinuities(arena, 3);
	/* With the lease of 15 s, players wait at most 25 s. */
	ck_assert_int_le(clock_monotonic() - taken_over, 40000);
	ck_assert_str_eq(playlist->segments[playlist->count - 1].name, "2-0.ts");
	playlist = wait_for_segments(arena, playlist->sequence + (int64_t)playlist->count + 3);
	ck_assert_uint_ge(playlist->count, 6);
	ck_assert(!playlist->is_ended);
	check_segments(arena, playlist);

	stand_in_want(&stand_in, "stop");
	heard = stand_in_wait(&stand_in, "done", 1, 1);
	ck_assert_uint_eq(heard.files, 1);
	playlist = read_playlist(arena);
	ck_assert(playlist->is_ended);
	for (size_t i = 0; i < playlist->count; i++)
		length += playlist->segments[i].duration_ms;
	ck_assert_int_ge(
		pictures_of(arena_text(arena, "%s/live/" KEY "/live.m3u8", recorder.folder)) * 1000,
		length * 10);
	about = small_file_read(arena,
				arena_text(arena, "%s/live/" KEY "/info.json", recorder.folder))
			.data;
	ck_assert_ptr_nonnull(strstr(about, "\"title\":\"Lesson \\\"1\\\"\""));
	ck_assert_ptr_nonnull(strstr(about, "\"ended_at\":\"2"));
	recorder_signal(&recorder, SIGTERM);
	arena_close(arena);
}
END_TEST

static int compare_delays(const void *a, const void *b)
{
	const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

	return (one > other) - (one < other);
}

/* A player is three segments behind: measured is how long ago that was, each time that a segment
 * appears. Old segments go. */
START_TEST(players_are_seconds_behind_and_the_folder_stays_small)
{
	struct arena *arena = arena_open();
	const int64_t began = clock_monotonic();
	int64_t delays[64];
	size_t n = 0;

	arena_set_limit(arena, SIZE_MAX);
	stand_in.stream = HLS_OF_THREE;
	stand_in.keeps_nothing = true;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	(void)wait_for_segments(arena, 3);
	while (n < sizeof delays / sizeof delays[0] && clock_monotonic() - began < 45000) {
		const struct playlist *playlist = read_playlist(arena);

		playlist = wait_for_segments(arena,
					     playlist->sequence + (int64_t)playlist->count + 1);
		delays[n++] = clock_now(&clock_system) -
			      playlist->segments[playlist->count - 3].began_at;
	}
	qsort(delays, n, sizeof delays[0], compare_delays);
	printf("behind: median %lld ms, p95 %lld ms; old segments: %ld\n", (long long)delays[n / 2],
	       (long long)delays[n * 95 / 100], old_segments());
	ck_assert_int_le(delays[n * 95 / 100], 12000);
	ck_assert_int_ge(delays[0], 2000);
	/* They are kept for 10 s besides the time of two playlists. */
	ck_assert_int_eq(old_segments(), 0);
	stand_in_want(&stand_in, "stop");
	ck_assert_uint_eq(stand_in_wait(&stand_in, "done", 1, 1).files, 0);
	check_played();
	stand_in_want(&stand_in, "drop");
	(void)stand_in_wait(&stand_in, "", 0, 0);
	ck_assert_int_ne(
		access(arena_text(arena, "%s/incoming/" ACCOUNT "-" JOB, recorder.folder), F_OK),
		0);
	recorder_signal(&recorder, SIGTERM);
	arena_close(arena);
}
END_TEST

/* The lease is over: another recorder may stream. The recording goes on, and so does the stream
 * once the service answers. */
START_TEST(a_stream_ends_with_the_lease_and_the_recording_does_not)
{
	struct arena *arena = arena_open();
	const struct playlist *before, *after;
	struct heard heard;

	arena_set_limit(arena, SIZE_MAX);
	stand_in.stream = HLS;
	stand_in.lease_ms = 1000;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	heard = stand_in_wait(&stand_in, "running", 1, 1);
	stand_in_answer(&stand_in, 503);
	/* Reports go on, each 200 ms at least. */
	(void)receiver_wait(stand_in.receiver, receiver_count(stand_in.receiver) + 10);
	before = read_playlist(arena);
	(void)receiver_wait(stand_in.receiver, receiver_count(stand_in.receiver) + 25);
	after = read_playlist(arena);
	ck_assert_int_eq(after->sequence + (int64_t)after->count,
			 before->sequence + (int64_t)before->count);
	stand_in_answer(&stand_in, 200);
	heard = stand_in_wait(&stand_in, "running", 1, heard.recorded_ms + 4000);
	ck_assert_int_eq(heard.part, 1);
	(void)wait_for_discontinuities(arena, 1);
	stand_in_want(&stand_in, "stop");
	(void)stand_in_wait(&stand_in, "done", 1, 1);
	recorder_signal(&recorder, SIGTERM);
	arena_close(arena);
}
END_TEST

/* ---- addresses of RTMP ---- */

static struct side_server start_nginx(void)
{
	struct side_server server = { .port = free_port(NULL) };
	char path[4200], folder[4200];
	FILE *file;

	(void)snprintf(folder, sizeof folder, "%s/taken", recorder.directory);
	(void)mkdir(folder, 0777);
	(void)snprintf(path, sizeof path, "%s/nginx.conf", recorder.directory);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	(void)fprintf(
		file,
		"load_module " RTMP_MODULE ";\ndaemon off;\nmaster_process off;\n"
		"error_log %s/nginx.log;\npid %s/nginx.pid;\nevents {}\n"
		"rtmp { access_log off; server { listen 127.0.0.1:%d; application live { live on; "
		"record all; record_path %s; record_unique on; } application closed { live on; "
		"deny publish all; } } }\n",
		recorder.directory, recorder.directory, server.port, folder);
	(void)fclose(file);
	server.pid = fork();
	ck_assert_int_ge(server.pid, 0);
	if (server.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("nginx", "nginx", "-c", path, (char *)NULL);
		_exit(127);
	}
	return server;
}

/* Passes on what comes to a connection, with little room for what waits. */
static void pass_on(int listening, int behind)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)behind),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char bytes[4096];

	for (;;) {
		const int one = accept(listening, NULL, NULL);
		const int other = socket(AF_INET, SOCK_STREAM, 0);
		struct pollfd polled[2] = { { one, POLLIN, 0 }, { other, POLLIN, 0 } };
		bool goes_on = connect(other, (struct sockaddr *)&address, sizeof address) == 0;

		while (goes_on && poll(polled, 2, -1) > 0) {
			for (int i = 0; i < 2 && goes_on; i++) {
				const ssize_t got = polled[i].revents == 0
							    ? -1
							    : read(polled[i].fd, bytes,
								   sizeof bytes);

				if (polled[i].revents != 0)
					goes_on = got > 0 && write(polled[1 - i].fd, bytes,
								   (size_t)got) == got;
			}
		}
		close(one);
		close(other);
	}
}

static struct side_server start_relay(int behind)
{
	const int little = 4096;
	int listening;
	struct side_server server = { .port = free_port(&listening) };

	ck_assert_int_eq(setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
	server.pid = fork();
	ck_assert_int_ge(server.pid, 0);
	if (server.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		pass_on(listening, behind);
	}
	close(listening);
	return server;
}

/* Checks what a receiver has: picture and sound, as long as they should be. */
static void check_taken(const char *key, double least)
{
	size_t size;
	char *text = output_of(&size,
			       "cd '%s/taken' && for file in %s-*.flv; do ffprobe -v error "
			       "-show_entries packet=pts_time -select_streams v -of csv=p=0 "
			       "\"$file\"; done | tr -d , && ffprobe -v error -show_entries "
			       "stream=codec_name -of csv=p=0 %s-*.flv",
			       recorder.directory, key, key);
	double first = -1, last = 0, longest = 0;
	char *rest = text;

	ck_assert_ptr_nonnull(strstr(text, "h264"));
	ck_assert_ptr_nonnull(strstr(text, "aac"));
	for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
		char *end;
		const double time = strtod(line, &end);

		if (end == line || *end != '\0')
			continue;
		if (first < 0)
			first = time;
		if (time > first && last > 0 && time - last > longest)
			longest = time - last;
		last = time;
	}
	free(text);
	printf("%s: %.1f s, longest gap %.1f s\n", key, last - first, longest);
	ck_assert_msg(last - first >= least, "%f s", last - first);
}

/* Five outputs at once: one is live, one behind TLS, one refuses, one never answers, one is not
 * allowed. The live one loses nothing, also while Chromium begins again; and one that hangs begins
 * again. Nothing is kept. */
START_TEST(dead_outputs_do_not_hold_up_live_ones)
{
	const struct side_server nginx = start_nginx(), tls = tls_start(&recorder, nginx.port, 1);
	char stream[1024], path[4200];
	struct heard heard;
	struct stat status;
	int silent = -1;
	const int silent_port = free_port(&silent), refusing = free_port(NULL);

	(void)snprintf(stream, sizeof stream,
		       "{\"rtmp\": {\"give_up_ms\": 9000, \"urls\": ["
		       "{\"url\": \"rtmp://127.0.0.1:%d/live/one\"},"
		       "{\"url\": \"rtmps://localhost:%d/live/two?abcdefghijkl\"},"
		       "{\"url\": \"rtmp://127.0.0.1:%d/live/three\"},"
		       "{\"url\": \"rtmp://127.0.0.1:%d/live/four\"},"
		       "{\"url\": \"rtmp://127.0.0.2:%d/live/five\"}]}}",
		       nginx.port, tls.port, refusing, silent_port, nginx.port);
	stand_in.stream = stream;
	stand_in.keeps_nothing = true;
	(void)snprintf(path, sizeof path, "%s/tls.pem", recorder.directory);
	(void)setenv("SSL_CERT_FILE", path, 1);
	/* ::1 is not allowed, but 127.0.0.1 is. */
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	stand_in_wait_output(&stand_in, 0, "live", "");
	stand_in_wait_output(&stand_in, 1, "live", "");
	stand_in_wait_output(&stand_in, 2, "connecting", "cannot connect: Connection refused");
	stand_in_wait_output(&stand_in, 4, "connecting", STREAM_NOT_ALLOWED);
	(void)stand_in_wait(&stand_in, "running", 1, 7000);
	ck_assert_int_eq(kill(recorder_chromium(&recorder), SIGKILL), 0);
	stand_in_wait_output(&stand_in, 2, "failed", "cannot connect: Connection refused");
	stand_in_wait_output(&stand_in, 4, "failed", STREAM_NOT_ALLOWED);
	stand_in_wait_output(&stand_in, 3, "failed", NULL);
	heard = stand_in_wait(&stand_in, "running", 2, 12000);
	ck_assert_uint_eq(heard.outputs, 5);
	ck_assert_str_eq(heard.output[0].state, "live");
	ck_assert_str_eq(heard.output[1].state, "live");
	ck_assert_ptr_nonnull(strstr(heard.output[1].url, "/live/{two...jkl}"));
	(void)snprintf(path, sizeof path, "%s/incoming/" ACCOUNT "-" JOB "/e1p1.mkv",
		       recorder.folder);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(status.st_size, 0);
	stand_in_want(&stand_in, "stop");
	ck_assert_uint_eq(stand_in_wait(&stand_in, "done", 1, 1).files, 0);
	recorder_signal(&recorder, SIGTERM);
	check_taken("one", 10);
	check_taken("two", 10);
	(void)unsetenv("SSL_CERT_FILE");
	side_server_stop(tls.pid);
	side_server_stop(nginx.pid);
	close(silent);
}
END_TEST

/* A server that takes a stream and ends the connection at once, as nginx does with one that it does
 * not allow: it is given up like one that does not answer. */
START_TEST(a_server_that_refuses_after_it_agreed_is_given_up)
{
	const struct side_server nginx = start_nginx();
	char stream[512];

	(void)snprintf(stream, sizeof stream,
		       "{\"rtmp\": {\"give_up_ms\": 9000, \"urls\": ["
		       "{\"url\": \"rtmp://127.0.0.1:%d/closed/one\"}, "
		       "{\"url\": \"rtmp://127.0.0.1:%d/live/two\"}]}}",
		       nginx.port, nginx.port);
	stand_in.stream = stream;
	stand_in.keeps_nothing = true;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	stand_in_wait_output(&stand_in, 1, "live", "");
	stand_in_wait_output(&stand_in, 0, "failed", "the server ended the connection");
	stand_in_want(&stand_in, "stop");
	(void)stand_in_wait(&stand_in, "done", 1, 1);
	recorder_signal(&recorder, SIGTERM);
	side_server_stop(nginx.pid);
}
END_TEST

/* A server that takes nothing any more: the output says so, begins again, and is live again once
 * the server is. The recording loses nothing. */
START_TEST(an_output_that_hangs_begins_again)
{
	const struct side_server nginx = start_nginx(), relay = start_relay(nginx.port);
	const struct side_server tls = tls_start(&recorder, nginx.port, 9);
	char stream[512], path[4200];
	struct heard heard;

	(void)snprintf(stream, sizeof stream,
		       "{\"rtmp\": {\"give_up_ms\": 600000, \"urls\": ["
		       "{\"url\": \"rtmp://127.0.0.1:%d/live/one\"}, "
		       "{\"url\": \"rtmps://localhost:%d/live/two\"}]}}",
		       relay.port, tls.port);
	stand_in.stream = stream;
	stand_in_want(&stand_in, "run");
	recorder_start(&recorder, &stand_in);
	stand_in_wait_output(&stand_in, 0, "live", "");
	/* Nobody vouches for its certificate. */
	stand_in_wait_output(&stand_in, 1, "connecting",
			     "the certificate is not valid: self-signed certificate");
	ck_assert_int_eq(kill(relay.pid, SIGSTOP), 0);
	/* The recorder notices that, before its process gives up because the connection broke. */
	stand_in_wait_output(&stand_in, 0, "connecting", "the server takes no data");
	ck_assert_int_eq(kill(relay.pid, SIGCONT), 0);
	stand_in_wait_output(&stand_in, 0, "live", "");
	heard = stand_in_wait(&stand_in, "running", 1, 1);
	ck_assert_int_eq(heard.part, 1);
	stand_in_want(&stand_in, "stop");
	heard = stand_in_wait(&stand_in, "done", 1, 1);
	ck_assert_uint_eq(heard.files, 1);
	(void)snprintf(path, sizeof path, "%s/" FOLDER_OF_JOB "/recording.mp4", recorder.folder);
	ck_assert_int_ge(pictures_of(path) * 1000, heard.file_ms * 10);
	recorder_signal(&recorder, SIGTERM);
	side_server_stop(relay.pid);
	side_server_stop(tls.pid);
	side_server_stop(nginx.pid);
}
END_TEST

TCase *recorder_streams(void)
{
	TCase *streams = tcase_create("streams");

	tcase_set_timeout(streams, 400);
	tcase_add_checked_fixture(streams, set_up, tear_down);
	tcase_add_loop_test(streams, a_key_is_masked, 0, ROWS(masks));
	tcase_add_test(streams, a_playlist_goes_on_whatever_is_killed);
	tcase_add_test(streams, players_are_seconds_behind_and_the_folder_stays_small);
	tcase_add_test(streams, a_stream_ends_with_the_lease_and_the_recording_does_not);
	return streams;
}

TCase *recorder_outputs(void)
{
	TCase *outputs = tcase_create("outputs");

	tcase_set_timeout(outputs, 400);
	tcase_add_checked_fixture(outputs, set_up, tear_down);
	if (stream_sender_is_built() && access(RTMP_MODULE, R_OK) == 0) {
		tcase_add_test(outputs, dead_outputs_do_not_hold_up_live_ones);
		tcase_add_test(outputs, a_server_that_refuses_after_it_agreed_is_given_up);
		tcase_add_test(outputs, an_output_that_hangs_begins_again);
	} else {
		puts("left out: outputs (need librtmp and libnginx-mod-rtmp)");
	}
	return outputs;
}
