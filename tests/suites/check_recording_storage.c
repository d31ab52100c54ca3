/* Recordings in object storage: where their files go, the addresses that a recorder gets, links,
 * what is deleted, and the test of a template's storage. With a stand-in for the storage, which
 * computes each signature anew.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounts/accounts.h"
#include "background/file_watch.h"
#include "background/media_client.h"
#include "base/text.h"
#include "bucket_server.h"
#include "delivery/bucket.h"
#include "directory.h"
#include "records/kinds.h"
#include "resources/recordings/job_links.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recording_start.h"
#include "resources/stored/gone_file.h"
#include "service/service.h"
#include "suite.h"
#include "transfer/transfer.h"
#include "world.h"

#define HOUR ((int64_t)3600000)

static struct world world;
static struct fault fault;
static struct bucket_server *storage;
static struct recordings recordings;
static const char *template_id, *room_id;
static struct id job_id;
static char key[200];
static unsigned reports;

/* ---- the service ---- */

static void open_parts(struct world *opened)
{
	recordings = (struct recordings){ .folder = NULL, .times = RECORDING_TIMES };
	opened->environment.recordings = &recordings;
	opened->environment.uploads_in_clear = true;
	opened->environment.media_client = media_client_open(opened->sender);
}

static void close_parts(struct world *opened)
{
	media_client_close(opened->environment.media_client);
}

static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *text(const char *format, ...)
{
	char bytes[20000];
	va_list values;

	va_start(values, format);
	ck_assert_int_lt(vsnprintf(bytes, sizeof bytes, format, values), (int)sizeof bytes);
	va_end(values);
	return arena_text(world.arena, "%s", bytes);
}

struct wait {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended;
};

static void end_wait(void *context, struct asking *asking)
{
	struct wait *wait = context;

	(void)asking;
	pthread_mutex_lock(&wait->lock);
	wait->has_ended = true;
	pthread_cond_signal(&wait->ended);
	pthread_mutex_unlock(&wait->lock);
}

/* Makes a call, which may ask the storage, and returns the body of its response. */
static const char *ask(int status, enum method method, const char *path, const char *body)
{
	struct call call = { .arena = arena_open() };
	const char *answer;

	call.request = world_request(&world, call.arena, &world.account, method, path, body);
	world_answer(&world, &call);
	while (call_is_asking(&call)) {
		struct wait wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };

		service_ask(&call, end_wait, &wait);
		pthread_mutex_lock(&wait.lock);
		while (!wait.has_ended)
			pthread_cond_wait(&wait.ended, &wait.lock);
		pthread_mutex_unlock(&wait.lock);
		world_answer(&world, &call);
	}
	answer = text("%s", world_body(world.arena, &call));
	ck_assert_msg(call.answer.status == status, "%s: %d %s", path, call.answer.status, answer);
	/* Only the request that sent it gets it back. */
	if (body == NULL || strstr(body, BUCKET_SERVER_SECRET) == NULL)
		ck_assert_ptr_null(strstr(answer, BUCKET_SERVER_SECRET));
	arena_close(call.arena);
	return answer;
}

static const char *upload_text(const char *prefix, const char *secret_name, const char *secret)
{
	return text("{\"type\":\"s3\",\"location\":\"" BUCKET_SERVER_BUCKET
		    "\",\"prefix\":\"%s\",\"options\":{\"region\":\"" BUCKET_SERVER_REGION
		    "\",\"endpoint\":\"%s\"},\"credentials\":{\"key\":\"" BUCKET_SERVER_KEY
		    "\",\"%s\":\"%s\"}}",
		    prefix, bucket_server_endpoint(storage), secret_name, secret);
}

static void set_template(const char *secret)
{
	ask(200, METHOD_PATCH, text("/v2/templates/%s/settings", template_id),
	    text("{\"recording\":{\"upload\":%s}}", upload_text("/a b/", "secretKey", secret)));
}

static void set_up(void)
{
	struct world_options options = {
		.store = WORLD_GDBM,
		.environment = { .live = LIVE_ON, .session_keep = 24 * HOUR },
		.sender = { .purpose = &sender_of_media, .patience = 2000 },
		.parts_open = open_parts,
		.parts_close = close_parts,
	};
	struct secret secret;

	fault = FAULT_INITIAL;
	reports = 0;
	storage = bucket_server_open();
	options.begins = (int64_t)time(NULL) * 1000;
	options.stands = true;
	ck_assert(address_ranges_read(SLICE("127.0.0.1"), &options.sender.storage_ranges));
	world_open(&world, &options);
	ck_assert(accounts_add_recorder(world.directory, &world.clock.clock, "r1", NULL, &secret,
					&fault));
	(void)snprintf(key, sizeof key, "Bearer r1.%s", secret.text);
	template_id = world_member(&world,
				   ask(200, METHOD_POST, "/v2/templates",
				       "{\"name\":\"lesson\",\"roles\":{\"host\":{}}}"),
				   "id");
	room_id =
		world_member(&world,
			     ask(200, METHOD_POST, "/v2/rooms",
				 text("{\"name\":\"maths\",\"template_id\":\"%s\"}", template_id)),
			     "id");
	set_template(BUCKET_SERVER_SECRET);
}

static void tear_down(void)
{
	world_close(&world);
	bucket_server_close(storage);
}

static void move(int64_t milliseconds)
{
	world_move(&world, milliseconds);
	bucket_server_move(storage, milliseconds / 1000);
}

static void commit(struct call *call)
{
	ck_assert(store_wait(world.environment.store, world_commit(call), &fault));
}

/* ---- the test of the storage ---- */

/* clang-format off */
static const struct {
	enum bucket_mood mood;
	const char *secret, *state, *message;
} tests[] = {
	{ BUCKET_WELL, BUCKET_SERVER_SECRET, "up", "" },
	{ BUCKET_WELL, "another", "down", "The storage answered 403: SignatureDoesNotMatch." },
	{ BUCKET_REFUSES, BUCKET_SERVER_SECRET, "down", "The storage answered 403: AccessDenied." },
	{ BUCKET_MISSING, BUCKET_SERVER_SECRET, "down", "The storage answered 404: NoSuchBucket." },
	{ BUCKET_FAILS, BUCKET_SERVER_SECRET, "down", "The storage answered 500." },
	{ BUCKET_HANGS, BUCKET_SERVER_SECRET, "down", "The storage did not answer: timed out." },
	{ BUCKET_LATE, BUCKET_SERVER_SECRET, "down", "The storage answered 403: RequestTimeTooSkewed; its clock is 86" },
	{ BUCKET_MOVED, BUCKET_SERVER_SECRET, "down", "The storage answered 301: the region or the endpoint is wrong." },
};
/* clang-format on */

START_TEST(a_storage_is_tested)
{
	const char *answer;

	set_template(tests[_i].secret);
	bucket_server_set(storage, tests[_i].mood);
	answer = ask(200, METHOD_POST, text("/v2/templates/%s/settings/test", template_id), NULL);
	ck_assert_str_eq(world_member(&world, answer, "state"), tests[_i].state);
	ck_assert_msg(strncmp(world_member(&world, answer, "message"), tests[_i].message,
			      strlen(tests[_i].message)) == 0,
		      "%s", answer);
	ck_assert_ptr_null(strstr(answer, "secret words"));
	/* Nothing is left, and it was asked once for each step. */
	ck_assert_uint_eq(bucket_server_objects(storage), 0);
	ck_assert_uint_eq(bucket_server_heard(storage).puts, 1);
	ck_assert_uint_eq(bucket_server_heard(storage).deletes,
			  tests[_i].mood == BUCKET_WELL && tests[_i].message[0] == '\0');
}
END_TEST

START_TEST(a_storage_is_tested_ten_times_in_a_minute)
{
	const char *path = text("/v2/templates/%s/settings/test", template_id);

	for (int i = 0; i < 10; i++)
		ask(200, METHOD_POST, path, NULL);
	ask(429, METHOD_POST, path, NULL);
}
END_TEST

/* The address of a storage is an account's word. */
START_TEST(an_address_inside_is_not_asked)
{
	const char *answer;

	ask(200, METHOD_PATCH, text("/v2/templates/%s/settings", template_id),
	    "{\"recording\":{\"upload\":{\"options\":{\"endpoint\":\"http://127.0.0.2:1\"},"
	    "\"credentials\":{\"key\":\"k\",\"secretKey\":\"s\"}}}}");
	answer = ask(200, METHOD_POST, text("/v2/templates/%s/settings/test", template_id), NULL);
	ck_assert_str_eq(world_member(&world, answer, "message"),
			 "The storage did not answer: address not allowed.");
}
END_TEST

/* ---- a recording ---- */

/* What a call that starts a recording does, without the media server. */
static void start(void)
{
	struct template_record template;
	struct room_record room;
	struct live live = { .stored.value.data = NULL };
	const struct recorded_room in = { &room, &template, &live };
	struct job job = { .started_by = SLICE(""),
			   .started_name = SLICE(""),
			   .start_actor = SLICE("{\"kind\":\"service\",\"id\":\"\"}"),
			   .stop_actor = SLICE("") };
	struct slice *urls;
	struct call call;

	world_begin(&world, &world.account.id, &call);
	ck_assert(room_load_by_id(&call, slice_of(room_id), STORE_TO_SHOW, &room, &fault) &&
		  template_load(&call, &room.template_id, &template, &fault));
	ck_assert_msg(job_check_storage(&call, &in, &job, &fault), "%s", fault_reason(&fault));
	ck_assert(recording_fill(&call, &in, NULL, &job, &urls, &fault));
	ck_assert_uint_eq(job.folder.size, 0);
	ck_assert_ptr_null(strstr(arena_copy(world.arena, job.storage).data, "credentials"));
	ck_assert(job_begin(&call, &job, &fault));
	job_id = job.stored.id;
	commit(&call);
}

/* clang-format off */
#define FILES ",\"files\":[{\"name\":\"recording.mp4\",\"bytes\":7,\"duration_ms\":60000,\"width\":1280,\"height\":720}]"
/* clang-format on */

/* Reports the recording in this state; what: what it needs, or NULL. Returns what is wanted. */
static json_t *report(const char *state, const char *what)
{
	char time[TEXT_TIME_SIZE];
	const char *job = id_as_text(world.arena, &job_id).data;
	const bool has_files = strcmp(state, "sending") == 0 || strcmp(state, "done") == 0;
	struct request request;
	struct reply reply;

	text_time_milliseconds(world_now(&world), time);
	request = world_request(
		&world, world.arena, NULL, METHOD_POST, "/v2/recorders/r1/report",
		text("{\"boot\":\"b\",\"n\":%u,\"version\":1,\"folder\":\"far\",\"slots\":4,"
		     "\"free_bytes\":100000000000,\"total_bytes\":200000000000,\"busy\":0.25,"
		     "\"needs\":[%s],\"works\":[%s]}",
		     ++reports,
		     what == NULL ? ""
				  : text("{\"account\":\"%s\",\"job\":\"%s\",\"what\":\"%s\"}",
					 world.account.id_text, job, what),
		     state[0] == '\0' ? ""
				      : text("{\"account\":\"%s\",\"job\":\"%s\",\"epoch\":1,"
					     "\"state\":\"%s\",\"part\":1,\"media_at\":\"%s\","
					     "\"recorded_ms\":60000,\"gaps\":[],\"people\":2%s}",
					     world.account.id_text, job, state, time,
					     has_files ? FILES : "")));
	request.authorization = slice_of(key);
	reply = world_send(&world, world.arena, &request);
	ck_assert_msg(reply.status == 200, "%d %s", reply.status, reply.text);
	ck_assert_ptr_null(strstr(reply.text, BUCKET_SERVER_SECRET));
	return json_array_get(json_object_get(world_json(&world, reply.text), "works"), 0);
}

static struct job job_now(void)
{
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	ck_assert(job_load(&call, &job_id, STORE_TO_CHANGE, &job, &fault));
	job.folder = arena_copy(world.arena, job.folder);
	world_abandon(&call);
	return job;
}

static void stop(void)
{
	bool is_refused;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	ck_assert(job_load(&call, &job_id, STORE_TO_CHANGE, &job, &fault) &&
		  job_stop(&call, &job, SLICE(""), &is_refused, &fault));
	commit(&call);
}

/* Without an object storage, the folder of the service is needed, and its id, which a recorder
 * makes at its start: one that runs already does not. */
/* clang-format off */
static const struct {
	bool has_folder;
	const char *id; /* NULL: no file has one */
	const char *reason, *says; /* NULL: it is taken */
} folders[] = {
	{ false, NULL, "No storage for recordings", "start it with --recordings DIR" },
	{ true, NULL, "No recorder is installed", "has no id: start anteroom record" },
	{ true, "f1\n", NULL, NULL },
};
/* clang-format on */

START_TEST(a_folder_needs_an_id)
{
	struct template_record template;
	struct room_record room;
	const struct recorded_room in = { &room, &template, NULL };
	struct job job = { .type = JOB_RECORDING };
	char *directory = directory_make(), path[4200];
	struct call call;
	bool is_taken;
	FILE *mark;

	ask(200, METHOD_PATCH, text("/v2/templates/%s/settings", template_id),
	    "{\"recording\":null}");
	recordings.folder = folders[_i].has_folder ? directory : NULL;
	(void)snprintf(path, sizeof path, "%s/.anteroom", directory);
	if (folders[_i].id != NULL) {
		mark = fopen(path, "w");
		ck_assert_ptr_nonnull(mark);
		(void)fputs(folders[_i].id, mark);
		(void)fclose(mark);
	}
	world_begin(&world, &world.account.id, &call);
	ck_assert(room_load_by_id(&call, slice_of(room_id), STORE_TO_SHOW, &room, &fault) &&
		  template_load(&call, &room.template_id, &template, &fault));
	is_taken = job_check_storage(&call, &in, &job, &fault);
	ck_assert_int_eq(is_taken, folders[_i].reason == NULL);
	if (!is_taken) {
		ck_assert_str_eq(fault.message, folders[_i].reason);
		ck_assert_ptr_nonnull(strstr(fault.detail, folders[_i].says));
	}
	world_abandon(&call);
	directory_remove(directory);
}
END_TEST

/* A recording whose file is to be sent. */
static void record(void)
{
	start();
	report("", NULL);
	report("running", NULL);
	stop();
	report("joining", NULL);
	report("sending", NULL);
	ck_assert_str_eq(job_status_names[job_now().status], "post_processing");
}

/* Makes a request to the storage as whoever has the address does. Returns its status. */
static int request_storage(const char *url, const char *headers, enum sender_method method)
{
	struct sender_options options = { .purpose = &sender_of_uploads,
					  .program = getenv("ANTEROOM") };
	const struct delivery delivery = { .url = slice_of(url),
					   .headers = slice_of(headers),
					   .method = method,
					   .answer_most = BUCKET_ANSWER_MOST,
					   .is_to_storage = true };
	struct sender *sender;
	struct outcome outcome;

	ck_assert(address_ranges_read(SLICE("127.0.0.1"), &options.storage_ranges));
	ck_assert(sender_open(&options, &sender, &fault) && sender_give(sender, &delivery));
	while (sender_take(sender, &outcome) != SENDER_OUTCOME) {
		struct pollfd polled = { .fd = sender_descriptor(sender), .events = POLLIN };

		(void)poll(&polled, 1, 100);
	}
	sender_close(sender);
	free(outcome.answer);
	return outcome.status;
}

static const char *object_name(const char *prefix)
{
	return text("%s%s/%s/%s/recording.mp4", prefix, world.account.id_text, room_id,
		    id_as_text(world.arena, &job_id).data);
}

static void send_file(void)
{
	const json_t *put = json_array_get(json_object_get(report("sending", "put"), "put"), 0);

	ck_assert_str_eq(json_string_value(json_object_get(put, "name")), "recording.mp4");
	ck_assert_int_eq(request_storage(json_string_value(json_object_get(put, "url")),
					 "Content-Type: video/mp4", SENDER_PUT),
			 200);
}

static const char *asset_of_job(void)
{
	const json_t *data = json_object_get(
		world_json(&world, ask(200, METHOD_GET, "/v2/recording-assets", NULL)), "data");

	ck_assert_uint_eq(json_array_size(data), 1);
	return text("%s", json_string_value(json_object_get(json_array_get(data, 0), "id")));
}

START_TEST(a_recording_goes_to_the_storage)
{
	const char *asset, *answer, *url;
	uint64_t sum;

	record();
	/* The parts are in the folder of whoever took it. */
	ck_assert(slice_is(job_now().folder, "far"));
	/* It asks for an order, and gets no address unasked. */
	ck_assert_ptr_null(json_object_get(report("sending", NULL), "put"));
	ck_assert_ptr_null(json_object_get(report("sending", "order"), "put"));
	send_file();
	ck_assert_int_eq(bucket_server_object(storage, object_name("a%20b/"), &sum), 0);
	answer = json_string_value(json_object_get(report("done", NULL), "want"));
	ck_assert_str_eq(answer, "drop");
	/* What was sent goes from the folder. */
	ck_assert(json_is_true(json_object_get(report("done", NULL), "erase")));
	ck_assert_str_eq(job_status_names[job_now().status], "completed");

	asset = asset_of_job();
	answer = ask(200, METHOD_GET, text("/v2/recording-assets/%s", asset), NULL);
	ck_assert_str_eq(world_member(&world, answer, "path"),
			 text("s3://" BUCKET_SERVER_BUCKET "/%s", object_name("a b/")));
	ck_assert_str_eq(world_member(&world, answer, "status"), "completed");
	answer = ask(200, METHOD_GET,
		     text("/v2/recording-assets/%s/presigned-url?presign_duration=60", asset),
		     NULL);
	url = world_member(&world, answer, "url");
	ck_assert_int_eq(request_storage(url, "", SENDER_BY_BODY), 200);
	ck_assert_ptr_nonnull(strstr(url, "response-content-disposition=attachment%3B%20"));
	ck_assert_ptr_nonnull(strstr(url, "X-Amz-Expires=60&"));
	/* Nobody can make it another link. */
	ck_assert_int_eq(request_storage(text("%s&x=1", url), "", SENDER_BY_BODY), 403);
	ck_assert_int_eq(request_storage(url, "", SENDER_DELETE), 403);
	answer = ask(200, METHOD_GET,
		     text("/v2/recording-assets/%s/presigned-url?inline=true", asset), NULL);
	url = world_member(&world, answer, "url");
	ck_assert_ptr_nonnull(strstr(url, "response-content-disposition=inline%3B%20"));
	ck_assert_int_eq(request_storage(url, "", SENDER_BY_BODY), 200);
	move(61000);
	ck_assert_uint_eq(bucket_server_heard(storage).badly_signed, 2);
}
END_TEST

/* A link is not one of the service's own, which it would refuse. */
START_TEST(an_object_is_no_file_of_the_service)
{
	struct request request;

	record();
	send_file();
	report("done", NULL);
	request = world_request(&world, world.arena, NULL, METHOD_GET,
				text("/v2/recording-files/%s/%s?expires=9999999999&signature=%064d",
				     world.account.id_text, asset_of_job(), 0),
				NULL);
	ck_assert_int_eq(world_send(&world, world.arena, &request).status, 403);
}
END_TEST

/* ---- credentials ---- */

/* What is done between the start and the request for an address, and whether there is one. */
/* clang-format off */
static const struct {
	const char *path, *body; /* TEMPLATE, ROOM; UPLOAD is the same with another secret and prefix */
	int status;
	bool has_address;
} changes[] = {
	{ "/v2/rooms/ROOM", "{\"title\":\"another\"}", 200, true },
	{ "/v2/templates/TEMPLATE/settings", "{\"recording\":{\"upload\":{\"prefix\":\"other\"}}}", 200, true },
	{ "/v2/templates/TEMPLATE/settings", "{\"recording\":null}", 200, false },
	{ "/v2/templates/TEMPLATE/settings", "{\"recording\":{\"upload\":{\"location\":\"other\"}}}", 200, false },
	{ "/v2/templates/TEMPLATE/settings", "{\"recording\":{\"upload\":{\"options\":{\"endpoint\":\"https://a.example\"}}}}", 200, false },
	/* Files of an earlier start go where they were to go. */
	{ "/v2/rooms/ROOM", "{\"recording_info\":{\"enabled\":true,\"upload_info\":{\"type\":\"gs\",\"location\":\"other\",\"credentials\":{\"key\":\"k\",\"secret\":\"s\"}}}}", 200, true },
};
/* clang-format on */

START_TEST(credentials_are_those_of_now)
{
	const json_t *wanted;
	const char *path = changes[_i].path;

	record();
	path = strstr(path, "ROOM") != NULL ? text("/v2/rooms/%s", room_id)
					    : text("/v2/templates/%s/settings", template_id);
	ask(changes[_i].status, METHOD_PATCH, path, changes[_i].body);
	wanted = report("sending", "put");
	ck_assert(json_is_array(json_object_get(wanted, "put")));
	ck_assert_uint_eq(json_array_size(json_object_get(wanted, "put")), changes[_i].has_address);
	if (changes[_i].has_address) {
		uint64_t sum;

		send_file();
		ck_assert_int_eq(bucket_server_object(storage, object_name("a%20b/"), &sum), 0);
	}
}
END_TEST

/* A rotated secret counts for what is there already. */
START_TEST(a_rotated_secret_counts_at_once)
{
	const char *url, *path;

	set_template("the former one");
	record();
	ck_assert_int_eq(
		request_storage(
			json_string_value(json_object_get(
				json_array_get(json_object_get(report("sending", "put"), "put"), 0),
				"url")),
			"", SENDER_PUT),
		403);
	set_template(BUCKET_SERVER_SECRET);
	send_file();
	report("done", NULL);
	path = text("/v2/recording-assets/%s/presigned-url", asset_of_job());
	url = world_member(&world, ask(200, METHOD_GET, path, NULL), "url");
	ck_assert_int_eq(request_storage(url, "", SENDER_BY_BODY), 200);
	ask(200, METHOD_PATCH, text("/v2/templates/%s/settings", template_id),
	    "{\"recording\":null}");
	ck_assert_ptr_nonnull(strstr(ask(409, METHOD_GET, path, NULL), "has credentials"));
}
END_TEST

/* The upload of a room has other names than that of a template, and goes first. */
START_TEST(a_room_has_its_own_storage)
{
	uint64_t sum;

	set_template("of no use");
	ask(200, METHOD_PATCH, text("/v2/rooms/%s", room_id),
	    text("{\"recording_source_template\":false,\"recording_info\":{\"enabled\":true,"
		 "\"upload_info\":%s}}",
		 upload_text("of/room", "secret", BUCKET_SERVER_SECRET)));
	record();
	send_file();
	ck_assert_int_eq(bucket_server_object(storage, object_name("of/room/"), &sum), 0);
}
END_TEST

/* ---- an end without the file ---- */

static void look_at_job(void)
{
	struct job_turn turn = { .account = world.account.id, .job = job_id };
	struct call call;

	world_begin(&world, &world.account.id, &call);
	ck_assert(job_take_turn(&call, &turn, &fault));
	commit(&call);
}

START_TEST(what_cannot_be_sent_fails_after_a_day_and_is_saved_once)
{
	struct job job;

	record();
	/* Its recorder goes on to report. */
	move(24 * HOUR - 10000);
	report("sending", "put");
	look_at_job();
	ck_assert_str_eq(job_status_names[job_now().status], "post_processing");
	move(11000);
	look_at_job();
	job = job_now();
	ck_assert_str_eq(job_status_names[job.status], "failed");
	ck_assert_str_eq(job_failure_name(job.reason), "UPLOAD_ERROR");
	/* It stays where it is, and is told for seven days. */
	ck_assert_str_eq(json_string_value(json_object_get(report("sending", NULL), "want")),
			 "stop");
	move(6 * 24 * HOUR);
	send_file();
	report("done", NULL);
	job = job_now();
	ck_assert_str_eq(job_status_names[job.status], "completed");
	ck_assert_uint_eq(job.asset_count, 1);
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, "/v2/recording-assets", NULL), "s3://"));
}
END_TEST

START_TEST(after_seven_days_it_is_erased)
{
	const json_t *wanted;

	record();
	move(24 * HOUR + 1000);
	look_at_job();
	move(7 * 24 * HOUR);
	wanted = report("sending", "put");
	ck_assert_str_eq(json_string_value(json_object_get(wanted, "want")), "drop");
	ck_assert(json_is_true(json_object_get(wanted, "erase")));
	ck_assert_ptr_null(json_object_get(wanted, "put"));
}
END_TEST

/* ---- deleting ---- */

static struct file_watch *files;

/* Rounds of the keeper, until the storage has been asked so often and has answered. */
static void watch_files(size_t deletes)
{
	(void)file_watch_round(files);
	for (int i = 0; i < 3000 && bucket_server_heard(storage).deletes < deletes; i++) {
		(void)poll(NULL, 0, 5);
		(void)file_watch_round(files);
	}
	ck_assert_uint_eq(bucket_server_heard(storage).deletes, deletes);
}

static const json_t *deleted_event(void)
{
	const json_t *data;

	for (int i = 0; i < 2000; i++) {
		data = json_object_get(
			world_json(&world,
				   ask(200, METHOD_GET,
				       "/v2/events?type=recording.deleted&limit=100", NULL)),
			"data");
		if (json_array_size(data) > 0)
			return json_object_get(json_array_get(data, 0), "data");
		(void)poll(NULL, 0, 5);
		(void)file_watch_round(files);
	}
	ck_abort_msg("no event");
	return NULL;
}

static size_t notes(void)
{
	struct gone_file *gone;
	struct call call;
	size_t n;

	world_begin(&world, &kind_only_id, &call);
	call.now += 365 * 24 * HOUR;
	ck_assert(gone_files_due(&call, 16, &gone, &n, &fault));
	world_abandon(&call);
	return n;
}

/* clang-format off */
static const struct {
	enum bucket_mood mood;
	bool has_credentials;
	const char *outcome; /* NULL: it is asked again */
} deletions[] = {
	{ BUCKET_WELL, true, "deleted" },
	{ BUCKET_MISSING, true, "not found" },
	{ BUCKET_FAILS, true, NULL },
	{ BUCKET_REFUSES, true, NULL },
	{ BUCKET_WELL, false, "no credentials" },
};
/* clang-format on */

START_TEST(an_object_is_deleted_and_logged)
{
	const bool asks = deletions[_i].has_credentials;
	const char *asset;
	const json_t *event;

	record();
	send_file();
	report("done", NULL);
	asset = asset_of_job();
	files = file_watch_open(&world.environment);
	bucket_server_set(storage, deletions[_i].mood);
	if (!asks)
		ask(200, METHOD_PATCH, text("/v2/templates/%s/settings", template_id),
		    "{\"recording\":null}");
	ask(204, METHOD_DELETE, text("/v2/recording-assets/%s", asset), NULL);
	ask(404, METHOD_GET, text("/v2/recording-assets/%s", asset), NULL);
	/* The note has what it needs, whatever becomes of the template. */
	if (asks)
		ask(200, METHOD_PATCH, text("/v2/templates/%s/settings", template_id),
		    "{\"recording\":null}");
	watch_files(asks ? 1 : 0);
	if (deletions[_i].outcome == NULL) {
		(void)poll(NULL, 0, 200);
		(void)file_watch_round(files);
		ck_assert_uint_eq(notes(), 1);
		bucket_server_set(storage, BUCKET_WELL);
		move(599000);
		watch_files(1);
		move(2000);
		watch_files(2);
	}
	event = deleted_event();
	ck_assert_str_eq(json_string_value(json_object_get(event, "outcome")),
			 deletions[_i].outcome != NULL ? deletions[_i].outcome : "deleted");
	ck_assert_str_eq(json_string_value(json_object_get(event, "cause")), "request");
	ck_assert_str_eq(json_string_value(json_object_get(event, "path")),
			 text("s3://" BUCKET_SERVER_BUCKET "/%s", object_name("a b/")));
	ck_assert_uint_eq(notes(), 0);
	ck_assert_uint_eq(bucket_server_objects(storage),
			  deletions[_i].mood == BUCKET_MISSING || !asks);
	media_client_close(world.environment.media_client);
	world.environment.media_client = NULL;
	file_watch_close(files);
}
END_TEST

/* A deleted account takes its objects along, as long as it has their credentials. */
START_TEST(a_deleted_account_leaves_no_object)
{
	struct call call;
	bool is_empty = false;

	record();
	send_file();
	report("done", NULL);
	ck_assert_uint_eq(bucket_server_objects(storage), 1);
	ck_assert(accounts_set_enabled(world.directory, "a", false, NULL, &fault) &&
		  accounts_remove(world.directory, &world.account.id, &fault));
	while (!is_empty) {
		world_begin(&world, &world.account.id, &call);
		ck_assert(transfer_remove_some(&call, &is_empty, &fault));
		commit(&call);
	}
	files = file_watch_open(&world.environment);
	watch_files(1);
	for (int i = 0; i < 2000 && notes() > 0; i++) {
		(void)poll(NULL, 0, 5);
		(void)file_watch_round(files);
	}
	ck_assert_uint_eq(notes(), 0);
	ck_assert_uint_eq(bucket_server_objects(storage), 0);
	media_client_close(world.environment.media_client);
	world.environment.media_client = NULL;
	file_watch_close(files);
}
END_TEST

/* ---- webhooks ---- */

START_TEST(a_webhook_has_a_link_to_the_object)
{
	struct slice linked;
	struct call call;

	record();
	send_file();
	report("done", NULL);
	world.environment.public_url = "https://a.example";
	world_begin(&world, &world.account.id, &call);
	ck_assert(job_event_links(&call, SLICE("beam.recording.success"),
				  slice_of(text("{\"recording_id\":\"%s\"}", asset_of_job())),
				  &linked, &fault));
	ck_assert_ptr_nonnull(
		strstr(arena_copy(world.arena, linked).data,
		       text("\"recording_presigned_url\":\"%s/", bucket_server_endpoint(storage))));
	world_abandon(&call);
	world.environment.public_url = NULL;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording_storage");
	TCase *all = tcase_create("storage");

	if (!sender_is_built())
		return EXIT_SUCCESS;
	tcase_set_timeout(all, 60);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, a_storage_is_tested, 0, ROWS(tests));
	tcase_add_test(all, a_storage_is_tested_ten_times_in_a_minute);
	tcase_add_test(all, an_address_inside_is_not_asked);
	tcase_add_loop_test(all, a_folder_needs_an_id, 0, ROWS(folders));
	tcase_add_test(all, a_recording_goes_to_the_storage);
	tcase_add_test(all, an_object_is_no_file_of_the_service);
	tcase_add_loop_test(all, credentials_are_those_of_now, 0, ROWS(changes));
	tcase_add_test(all, a_rotated_secret_counts_at_once);
	tcase_add_test(all, a_room_has_its_own_storage);
	tcase_add_test(all, what_cannot_be_sent_fails_after_a_day_and_is_saved_once);
	tcase_add_test(all, after_seven_days_it_is_erased);
	tcase_add_loop_test(all, an_object_is_deleted_and_logged, 0, ROWS(deletions));
	tcase_add_test(all, a_deleted_account_leaves_no_object);
	tcase_add_test(all, a_webhook_has_a_link_to_the_object);
	suite_add_tcase(suite, all);
	return suite_run_apart(suite);
}
