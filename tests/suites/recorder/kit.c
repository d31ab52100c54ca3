/* See kit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kit.h"

#include <fcntl.h>
#include <jansson.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
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
#include "directory.h"
#include "delivery/bucket.h"
#include "recorder/children.h"
#include "recorder/chromium.h"
#include "recorder/test_page.h"

/* Milliseconds. Joining has the lowest priority: while other tests need the processors, 12 seconds
 * of recording have taken more than 2 minutes. */
#define WAIT_MOST 300000
#define SECRET ".0123456789abcdef0123456789abcdef\n"

bool has_program(const char *name)
{
	return program_exists(name);
}

/* ---- the stand-in for the service ---- */

static json_t *time_json(int64_t time)
{
	char text[TEXT_TIME_SIZE];

	text_time_milliseconds(time, text);
	return json_string(text);
}

static void copy_text(char *to, size_t size, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	(void)snprintf(to, size, "%s", text == NULL ? "" : text);
}

static void hear_outputs(struct heard *heard, const json_t *outputs)
{
	heard->outputs = json_array_size(outputs);
	for (size_t i = 0; i < heard->outputs && i < OUTPUTS_MOST; i++) {
		const json_t *one = json_array_get(outputs, i);
		struct heard_output *output = &heard->output[i];

		copy_text(output->url, sizeof output->url, one, "url");
		copy_text(output->state, sizeof output->state, one, "state");
		copy_text(output->error, sizeof output->error, one, "error");
	}
}

static void hear(struct heard *heard, const json_t *report)
{
	const json_t *work = json_array_get(json_object_get(report, "works"), 0);
	const json_t *file = json_array_get(json_object_get(work, "files"), 0);
	const char *state = json_string_value(json_object_get(work, "state"));
	const char *error = json_string_value(json_object_get(work, "error"));

	heard->reports++;
	heard->ends = json_is_true(json_object_get(report, "ends"));
	heard->slots = json_integer_value(json_object_get(report, "slots"));
	heard->n = json_integer_value(json_object_get(report, "n"));
	(void)snprintf(heard->boot, sizeof heard->boot, "%s",
		       json_string_value(json_object_get(report, "boot")));
	(void)snprintf(heard->folder, sizeof heard->folder, "%s",
		       json_string_value(json_object_get(report, "folder")));
	heard->works = json_array_size(json_object_get(report, "works"));
	(void)snprintf(heard->state, sizeof heard->state, "%s", state == NULL ? "" : state);
	(void)snprintf(heard->error, sizeof heard->error, "%s", error == NULL ? "" : error);
	heard->part = json_integer_value(json_object_get(work, "part"));
	heard->recorded_ms = json_integer_value(json_object_get(work, "recorded_ms"));
	heard->gaps = (int64_t)json_array_size(json_object_get(work, "gaps"));
	hear_outputs(heard, json_object_get(work, "outputs"));
	heard->files = json_array_size(json_object_get(work, "files"));
	heard->file_ms = json_integer_value(json_object_get(file, "duration_ms"));
	heard->file_width = json_integer_value(json_object_get(file, "width"));
}

static bool needs(const json_t *report, const char *wanted)
{
	const json_t *list = json_object_get(report, "needs");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *what =
			json_string_value(json_object_get(json_array_get(list, i), "what"));

		if (what != NULL && strcmp(what, wanted) == 0)
			return true;
	}
	return false;
}

static json_t *make_order(const struct stand_in *stand_in)
{
	json_t *order = json_pack(
		"{s:s, s:{s:s,s:s}, s:{s:i,s:i,s:i,s:i,s:i,s:b}, s:s}", "page", "/record/", "join",
		"url", stand_in->media != NULL ? stand_in->media : "ws://127.0.0.1:9/", "token",
		"secret", "look", "width", 640, "height", 360, "fps", 25, "video_kbps", 400,
		"audio_kbps", 96, "chat", 0, "dir", FOLDER_OF_JOB);

	if (stand_in->keeps_nothing)
		json_object_set_new(order, "file", json_false());
	/* A stop has no addresses. */
	if (stand_in->stream != NULL &&
	    (stand_in->stopped_at == 0 || strstr(stand_in->stream, "rtmp") == NULL)) {
		json_t *stream = json_loads(stand_in->stream, 0, NULL);

		json_object_update(order, stream);
		json_decref(stream);
	}
	if (stand_in->stopped_at != 0)
		json_object_set_new(order, "stopped_at", time_json(stand_in->stopped_at));
	if (stand_in->paused_to != 0)
		json_object_set_new(order, "pauses",
				    json_pack("[{s:o,s:o}]", "from",
					      time_json(stand_in->paused_from), "to",
					      time_json(stand_in->paused_to)));
	return order;
}

static int64_t service_now(const struct stand_in *stand_in)
{
	return clock_now(&clock_system) + stand_in->ahead;
}

/* Signs an address for each file of the work, as the service does. */
static json_t *make_put(const struct stand_in *stand_in, const json_t *report)
{
	const json_t *files = json_object_get(json_array_get(json_object_get(report, "works"), 0),
					      "files");
	const struct bucket bucket = {
		.name = SLICE(BUCKET_SERVER_BUCKET),
		.region = SLICE(BUCKET_SERVER_REGION),
		.endpoint = slice_of(stand_in->endpoint != NULL
					     ? stand_in->endpoint
					     : bucket_server_endpoint(stand_in->storage)),
		.key = SLICE(BUCKET_SERVER_KEY),
		.secret = SLICE(BUCKET_SERVER_SECRET),
	};
	struct arena *arena = arena_open();
	json_t *put = json_array();

	for (size_t i = 0; !stand_in->has_no_credentials && i < json_array_size(files); i++) {
		const char *name =
			json_string_value(json_object_get(json_array_get(files, i), "name"));
		const struct slice url =
			bucket_link(arena, &bucket, "PUT",
				    slice_of(arena_text(arena, "%s/%s", FOLDER_OF_JOB, name)),
				    clock_now(&clock_system) / 1000, 600, NULL, 0);

		json_array_append_new(put, json_pack("{s:s, s:s%, s:{s:s}}", "name", name, "url",
						     url.data, url.size, "headers", "Content-Type",
						     "video/mp4"));
	}
	arena_close(arena);
	return put;
}

static char *answer_report(struct stand_in *stand_in, const char *body)
{
	json_t *report = json_loads(body, 0, NULL), *answer, *work;
	char *text;

	hear(&stand_in->heard, report);
	answer = json_pack("{s:o, s:I, s:i, s:I, s:[]}", "now", time_json(service_now(stand_in)),
			   "n", (json_int_t)stand_in->heard.n, "every_ms", 200, "lease_ms",
			   (json_int_t)stand_in->lease_ms, "works");
	if (stand_in->want != NULL) {
		work = json_pack("{s:s, s:s, s:I, s:s, s:I, s:I}", "account", ACCOUNT, "job", JOB,
				 "epoch", (json_int_t)stand_in->epoch, "want", stand_in->want,
				 "rev", (json_int_t)stand_in->rev, "inside",
				 (json_int_t)stand_in->inside);
		if (needs(report, "order"))
			json_object_set_new(work, "order", make_order(stand_in));
		if (needs(report, "put") && stand_in->storage != NULL)
			json_object_set_new(work, "put", make_put(stand_in, report));
		if (stand_in->erases)
			json_object_set_new(work, "erase", json_true());
		json_array_append_new(json_object_get(answer, "works"), work);
	}
	text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	json_decref(report);
	return text;
}

static char *serve_stand_in(void *context, const struct received *received, int *status)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
				   "Connection: close\r\nContent-Length: ";
	struct stand_in *stand_in = context;
	struct slice page = test_page();
	char *text;

	if (stand_in->page != NULL)
		page = slice_of(stand_in->page);
	if (strstr(received->path, "/report") == NULL) {
		const size_t most = sizeof head + page.size + 64;

		text = malloc(most);
		(void)snprintf(text, most, "%s%zu\r\n\r\n%s", head, page.size, page.data);
		return text;
	}
	pthread_mutex_lock(&stand_in->lock);
	*status = stand_in->status;
	if (stand_in->unheard != NULL && strstr(received->path, stand_in->unheard) != NULL)
		*status = 503;
	text = *status == 200 ? answer_report(stand_in, received->body)
			      : strdup("{\"message\":\"not now\"}");
	pthread_cond_broadcast(&stand_in->changed);
	pthread_mutex_unlock(&stand_in->lock);
	return text;
}

void stand_in_open(struct stand_in *stand_in)
{
	*stand_in = (struct stand_in){
		.status = 200, .inside = 2, .rev = 1, .epoch = 1, .lease_ms = 15000
	};
	pthread_mutex_init(&stand_in->lock, NULL);
	clock_condition_init(&stand_in->changed);
	stand_in->receiver = receiver_open();
	receiver_serve(stand_in->receiver, serve_stand_in, stand_in);
}

void stand_in_close(struct stand_in *stand_in)
{
	receiver_close(stand_in->receiver);
	pthread_cond_destroy(&stand_in->changed);
	pthread_mutex_destroy(&stand_in->lock);
}

void stand_in_want(struct stand_in *stand_in, const char *want)
{
	pthread_mutex_lock(&stand_in->lock);
	stand_in->want = want;
	if (want != NULL && strcmp(want, "stop") == 0)
		stand_in->stopped_at = service_now(stand_in);
	if (want != NULL && strcmp(want, "pause") == 0)
		stand_in->paused_from = service_now(stand_in);
	else if (stand_in->paused_from != 0 && stand_in->paused_to == 0)
		stand_in->paused_to = service_now(stand_in);
	pthread_mutex_unlock(&stand_in->lock);
}

void stand_in_answer(struct stand_in *stand_in, int status)
{
	pthread_mutex_lock(&stand_in->lock);
	stand_in->status = status;
	pthread_mutex_unlock(&stand_in->lock);
}

struct heard stand_in_wait(struct stand_in *stand_in, const char *state, int64_t part,
			   int64_t recorded_ms)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	struct heard heard;

	pthread_mutex_lock(&stand_in->lock);
	while ((strcmp(stand_in->heard.state, state) != 0 || stand_in->heard.part < part ||
		stand_in->heard.recorded_ms < recorded_ms) &&
	       clock_monotonic() < until)
		clock_wait(&stand_in->changed, &stand_in->lock, 100);
	heard = stand_in->heard;
	pthread_mutex_unlock(&stand_in->lock);
	ck_assert_msg(strcmp(heard.state, state) == 0 && heard.part >= part &&
			      heard.recorded_ms >= recorded_ms,
		      "%s, part %lld, %lld ms: %s", heard.state, (long long)heard.part,
		      (long long)heard.recorded_ms, heard.error);
	return heard;
}

void stand_in_wait_slots(struct stand_in *stand_in, int64_t slots)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	int64_t heard;

	pthread_mutex_lock(&stand_in->lock);
	while ((stand_in->heard.reports == 0 || stand_in->heard.slots != slots) &&
	       clock_monotonic() < until)
		clock_wait(&stand_in->changed, &stand_in->lock, 100);
	heard = stand_in->heard.reports == 0 ? -1 : stand_in->heard.slots;
	pthread_mutex_unlock(&stand_in->lock);
	ck_assert_int_eq(heard, slots);
}

void stand_in_wait_error(struct stand_in *stand_in, const char *error)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	char heard[sizeof stand_in->heard.error];

	pthread_mutex_lock(&stand_in->lock);
	while (strcmp(stand_in->heard.error, error) != 0 && clock_monotonic() < until)
		clock_wait(&stand_in->changed, &stand_in->lock, 100);
	(void)snprintf(heard, sizeof heard, "%s", stand_in->heard.error);
	pthread_mutex_unlock(&stand_in->lock);
	ck_assert_str_eq(heard, error);
}

void stand_in_wait_output(struct stand_in *stand_in, size_t place, const char *state,
			  const char *error)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	struct heard_output heard;

	pthread_mutex_lock(&stand_in->lock);
	while ((strcmp(stand_in->heard.output[place].state, state) != 0 ||
		(error != NULL && strcmp(stand_in->heard.output[place].error, error) != 0)) &&
	       clock_monotonic() < until)
		clock_wait(&stand_in->changed, &stand_in->lock, 100);
	heard = stand_in->heard.output[place];
	pthread_mutex_unlock(&stand_in->lock);
	ck_assert_str_eq(heard.state, state);
	ck_assert_str_eq(heard.error, error == NULL ? heard.error : error);
}

/* ---- other servers ---- */

int free_port(int *listens)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(one, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(getsockname(one, (struct sockaddr *)&address, &size), 0);
	if (listens != NULL)
		ck_assert_int_eq(listen(*listens = one, 8), 0);
	else
		close(one);
	return ntohs(address.sin_port);
}

/* Runs openssl for one connection: it passes on what comes. */
static pid_t start_openssl(const char *port, int behind, const char *certificate, const char *key)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)behind),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const pid_t pid = fork();

	if (pid == 0) {
		const int one = socket(AF_INET, SOCK_STREAM, 0);

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (connect(one, (struct sockaddr *)&address, sizeof address) != 0)
			(void)poll(NULL, 0, 50);
		(void)dup2(one, STDIN_FILENO);
		(void)dup2(one, STDOUT_FILENO);
		/* It tells each end of a connection as an error. */
		(void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		execlp("openssl", "openssl", "s_server", "-quiet", "-accept", port, "-cert",
		       certificate, "-key", key, "-naccept", "1", (char *)NULL);
		_exit(127);
	}
	return pid;
}

struct side_server tls_start(const struct recorder_process *recorder, int behind, int connections)
{
	struct side_server server = { .port = free_port(NULL) };
	char port[16], certificate[4200], key[4200];
	size_t size;

	(void)snprintf(certificate, sizeof certificate, "%s/tls.pem", recorder->directory);
	(void)snprintf(key, sizeof key, "%s/tls.key", recorder->directory);
	free(output_of(&size,
		       "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "
		       "2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 "
		       "-keyout '%s' -out '%s' 2>&1",
		       key, certificate));
	(void)chmod(certificate, 0644);
	(void)snprintf(port, sizeof port, "%d", server.port);
	server.pid = fork();
	ck_assert_int_ge(server.pid, 0);
	if (server.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < connections; i++)
			(void)waitpid(start_openssl(port, behind, certificate, key), NULL, 0);
		_exit(0);
	}
	return server;
}

void side_server_stop(pid_t pid)
{
	(void)kill(pid, SIGCONT);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* ---- the program ---- */

/* Of the running test: a test that fails ends its process without its fixture. */
static struct recorder_process *prepared;

static void end_prepared(void)
{
	if (prepared != NULL)
		recorder_remove(prepared);
}

void recorder_prepare(struct recorder_process *recorder)
{
	char scratch[4200];

	recorder->directory = directory_make();
	prepared = recorder;
	(void)atexit(end_prepared);
	recorder->name = "test";
	recorder->opening = "100s";
	recorder->media_allow = "127.0.0.1";
	recorder->upload_allow = "127.0.0.1";
	recorder->stream_allow = "127.0.0.1";
	recorder->chromium = chromium_find();
	recorder->clock_ahead = recorder->upload_ca = NULL;
	recorder->pid = recorder->former = 0;
	(void)snprintf(recorder->folder, sizeof recorder->folder, "%s/recordings",
		       recorder->directory);
	ck_assert_int_eq(mkdir(recorder->folder, 0770), 0);
	(void)snprintf(scratch, sizeof scratch, "%s/scratch", recorder->directory);
	ck_assert_int_eq(mkdir(scratch, 0700), 0);
	/* Chromium's sandbox does not work for root. */
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(scratch, NOBODY, NOBODY), 0);
		ck_assert_int_eq(chmod(recorder->directory, 0711), 0);
		ck_assert_int_eq(chown(recorder->folder, NOBODY, NOBODY), 0);
	}
}

/* Gives this process, and what it starts, a wrong clock. */
static void set_clock(const char *ahead)
{
	const char *options = getenv("ASAN_OPTIONS");
	char *clock = realpath("tests/tools/other_clock.so", NULL);
	char asan[1024];

	(void)snprintf(asan, sizeof asan, "%s:verify_asan_link_order=0",
		       options == NULL ? "" : options);
	if (clock == NULL || setenv("LD_PRELOAD", clock, 1) != 0 ||
	    setenv("CLOCK_AHEAD", ahead, 1) != 0 || setenv("ASAN_OPTIONS", asan, 1) != 0)
		_exit(127);
	free(clock);
}

void recorder_start(struct recorder_process *recorder, const struct stand_in *stand_in)
{
	const char *named = getenv("ANTEROOM");
	char url[64], key[4200], log[4200], scratch[4200];
	FILE *file;

	(void)snprintf(url, sizeof url, "http://127.0.0.1:%u/rtc",
		       receiver_port(stand_in->receiver));
	(void)snprintf(key, sizeof key, "%s/key", recorder->directory);
	(void)snprintf(log, sizeof log, "%s/log", recorder->directory);
	(void)snprintf(scratch, sizeof scratch, "%s/scratch", recorder->directory);
	file = fopen(key, "w");
	ck_assert_ptr_nonnull(file);
	(void)fprintf(file, "%s" SECRET, recorder->name);
	(void)fclose(file);
	ck_assert_int_eq(chmod(key, 0600), 0);
	recorder->pid = fork();
	ck_assert_int_ge(recorder->pid, 0);
	if (recorder->pid == 0) {
		const int log_file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

		(void)dup2(log_file, STDERR_FILENO);
		(void)setenv("TMPDIR", scratch, 1);
		if (recorder->clock_ahead != NULL)
			set_clock(recorder->clock_ahead);
		execl(named == NULL ? "./anteroom" : named, "anteroom", "record", "--url", url,
		      "--key-file", key, "--folder", recorder->folder, "--slots", "1",
		      "--media-allow", recorder->media_allow, "--upload-allow",
		      recorder->upload_allow, "--stream-allow", recorder->stream_allow, "--opening",
		      recorder->opening, "--silence", "60s", "--chromium", recorder->chromium,
		      recorder->upload_ca == NULL ? (char *)NULL : "--upload-ca",
		      recorder->upload_ca, (char *)NULL);
		_exit(127);
	}
}

void recorder_signal(struct recorder_process *recorder, int signal_number)
{
	int status;

	ck_assert_int_eq(kill(recorder->pid, signal_number), 0);
	ck_assert_int_eq(waitpid(recorder->pid, &status, 0), recorder->pid);
	recorder->pid = 0;
	if (signal_number != SIGKILL)
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}

/* Returns a child of a process that was started with the debugging pipe; 0 if there is none. */
static pid_t piped_child(pid_t parent)
{
	char path[96], line[4096] = "";
	struct slice rest;
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent,
		       (long)parent);
	file = fopen(path, "r");
	if (file == NULL || fgets(line, sizeof line, file) == NULL)
		line[0] = '\0';
	if (file != NULL)
		(void)fclose(file);
	rest = slice_of(line);
	while (rest.data != NULL && rest.size > 0) {
		int64_t pid;
		char command[4096];
		size_t size;

		if (!text_integer(text_split(rest, ' ', &rest), &pid))
			continue;
		(void)snprintf(path, sizeof path, "/proc/%lld/cmdline", (long long)pid);
		file = fopen(path, "r");
		size = file == NULL ? 0 : fread(command, 1, sizeof command, file);
		if (file != NULL)
			(void)fclose(file);
		if (memmem(command, size, "--remote-debugging-pipe", 23) != NULL)
			return (pid_t)pid;
	}
	return 0;
}

pid_t recorder_chromium(const struct recorder_process *recorder)
{
	const pid_t shell = piped_child(recorder->pid);
	const pid_t chromium = shell == 0 ? 0 : piped_child(shell);

	/* Debian starts it by a shell. */
	return chromium == 0 ? shell : chromium;
}

void recorder_remove(struct recorder_process *recorder)
{
	prepared = NULL;
	for (int i = 0; i < 2; i++) {
		const pid_t pid = i == 0 ? recorder->pid : recorder->former;

		if (pid == 0)
			continue;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	directory_remove(recorder->directory);
}

/* ---- files ---- */

char *output_of(size_t *size, const char *format, ...)
{
	char command[8192], *text = NULL;
	size_t capacity = 0;
	va_list arguments;
	FILE *out;

	va_start(arguments, format);
	(void)vsnprintf(command, sizeof command, format, arguments);
	va_end(arguments);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	*size = 0;
	do {
		capacity += 65536;
		text = realloc(text, capacity + 1);
		ck_assert_ptr_nonnull(text);
		*size += fread(text + *size, 1, capacity - *size, out);
	} while (*size == capacity);
	text[*size] = '\0';
	ck_assert_msg(pclose(out) == 0, "%s", command);
	return text;
}

int64_t pictures_of(const char *path)
{
	size_t size;
	char *text = output_of(&size,
			       "ffprobe -v error -count_packets -select_streams v:0 -show_entries "
			       "stream=nb_read_packets -of csv=p=0 '%s'",
			       path);
	const int64_t pictures = strtoll(text, NULL, 10);

	free(text);
	return pictures;
}

int64_t picture_stands_still(const char *path, int64_t from_ms)
{
	size_t size;
	char *times = output_of(&size,
				"ffprobe -v error -select_streams v:0 -show_entries "
				"packet=pts_time -of csv=p=0 '%s'",
				path);
	int64_t before = -1, longest = 0;

	for (char *at = times, *end; *at != '\0'; at = end + strcspn(end, "0123456789")) {
		const int64_t time = (int64_t)(strtod(at, &end) * 1000);

		if (end == at)
			break;
		if (before >= 0 && time >= from_ms && time - before > longest)
			longest = time - before;
		before = time;
	}
	ck_assert_int_gt(before, from_ms);
	free(times);
	return longest;
}

static int compare_numbers(const void *a, const void *b)
{
	const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

	return (one > other) - (one < other);
}

#define RATE 8000 /* of the sound */
#define PICTURE_MS 20
#define TIMES_MOST 1000

int64_t beeps_to_flashes(const char *path, int64_t from_ms, size_t in_ten, int64_t *beeps)
{
	int64_t flashes[TIMES_MOST], distances[TIMES_MOST];
	size_t pictures, bytes, flashes_count = 0, count = 0;
	char *shown = output_of(
		&pictures, "ffmpeg -v error -i '%s' -vf scale=1:1,format=gray,fps=50 -f rawvideo -",
		path);
	char *heard = output_of(&bytes, "ffmpeg -v error -i '%s' -ac 1 -ar 8000 -f s16le -", path);
	bool is_loud = false;
	size_t silent_since = 0;

	for (size_t i = 1; i < pictures && flashes_count < TIMES_MOST; i++) {
		if ((unsigned char)shown[i] > 120 && (unsigned char)shown[i - 1] <= 120)
			flashes[flashes_count++] = (int64_t)i * PICTURE_MS;
	}
	for (size_t i = 0; i + 1 < bytes && count < TIMES_MOST; i += 2) {
		int16_t sample;

		memcpy(&sample, heard + i, sizeof sample);
		if (sample > -1500 && sample < 1500) {
			is_loud = is_loud && i - silent_since < RATE / 10 * 2;
			continue;
		}
		silent_since = i;
		if (!is_loud) {
			const int64_t at = (int64_t)i / 2 * 1000 / RATE;
			int64_t nearest = INT64_MAX;

			for (size_t k = 0; k < flashes_count; k++) {
				const int64_t apart = llabs(flashes[k] - at);

				nearest = apart < nearest ? apart : nearest;
			}
			if (at >= from_ms)
				distances[count++] = nearest;
		}
		is_loud = true;
	}
	free(shown);
	free(heard);
	*beeps = (int64_t)count;
	if (count == 0)
		return INT64_MAX;
	qsort(distances, count, sizeof distances[0], compare_numbers);
	return distances[(count - 1) * in_ten / 10];
}
