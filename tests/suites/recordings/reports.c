/* What recorders report, and what they are told: refused reports, the way of a recording from its
 * start to its file, two recorders, several accounts, and restarts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "background/file_watch.h"
#include "background/job_watch.h"
#include "base/text.h"
#include "database.h"
#include "directory.h"
#include "kit.h"
#include "records/kinds.h"
#include "resources/media/placing.h"
#include "resources/recordings/job_links.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/job_outputs.h"
#include "resources/recordings/recording_automatic.h"
#include "resources/stored/gone_file.h"
#include "resources/sweep.h"
#include "transfer/transfer.h"
#include "world.h"

#define BODY_MOST 100000

static struct world world;
static struct fault fault;
static char *url; /* of the database; NULL without one */
static const char *accounts_at; /* the directory of the accounts, or the database */
/* What is started: a stream, and whether it is recorded along. */
static enum job_type starts_type;
static bool starts_file;
static bool starts_tests; /* what is started is `anteroom recording test` */

/* A recorder, as it is at the moment. */
struct client {
	const char *name, *boot, *folder;
	char key[200];
	unsigned n;
	const char *works; /* JSON */
	const char *needs;
	unsigned slots;
	bool ends; /* the report is its last one */
	const struct world *at; /* the service to which it reports; NULL for the first one */
};

static void client_begin(struct client *client, const char *name, const char *boot,
			 const char *folder, const char *accounts)
{
	struct secret secret;

	*client = (struct client){
		.name = name, .boot = boot, .folder = folder, .works = "", .needs = "", .slots = 4
	};
	ck_assert(accounts_add_recorder(accounts_at, &world.clock.clock, name, accounts, &secret,
					&fault));
	(void)snprintf(client->key, sizeof client->key, "Bearer %s.%s", name, secret.text);
}

static struct reply send_body(const struct client *client, const char *body)
{
	const struct world *at = client->at != NULL ? client->at : &world;
	struct request request = world_request(
		at, world.arena, NULL, METHOD_POST,
		arena_text(world.arena, "/v2/recorders/%s/report", client->name), body);

	request.authorization = slice_of(client->key);
	return world_send(at, world.arena, &request);
}

static const char *body_of(struct client *client)
{
	return arena_text(world.arena,
			  "{\"boot\":\"%s\",\"n\":%u,\"version\":1,\"folder\":\"%s\",\"slots\":%u,"
			  "\"free_bytes\":100000000000,\"total_bytes\":200000000000,\"busy\":0.25,"
			  "%s\"needs\":[%s],\"works\":[%s]}",
			  client->boot, ++client->n, client->folder, client->slots,
			  client->ends ? "\"ends\":true," : "", client->needs, client->works);
}

/* Sends a report, and returns the answer. */
static json_t *report(struct client *client)
{
	const struct reply reply = send_body(client, body_of(client));

	ck_assert_msg(reply.status == 200, "%d %s", reply.status, reply.text);
	return world_json(&world, reply.text);
}

static json_t *work_at(json_t *answer, size_t i)
{
	return json_array_get(json_object_get(answer, "works"), i);
}

static size_t work_count(json_t *answer)
{
	return json_array_size(json_object_get(answer, "works"));
}

static const char *text_at(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	ck_assert_msg(text != NULL, "%s", name);
	return text;
}

/* Writes a work as a recorder reports it: what the service named, and a state. media: the time of
 * the last media by its clock. */
static const char *work_text_at(const struct id *account, const struct id *job, unsigned epoch,
				const char *state, int64_t recorded, int64_t media,
				const char *more)
{
	char time[TEXT_TIME_SIZE] = "", of[ID_TEXT_SIZE + 1], in[ID_TEXT_SIZE + 1];

	id_print(account, in);
	id_print(job, of);
	text_time_milliseconds(media, time);
	return arena_text(world.arena,
			  "{\"account\":\"%s\",\"job\":\"%s\",\"epoch\":%u,\"state\":\"%s\","
			  "\"part\":1,\"media_at\":%s%s%s,\"recorded_ms\":%lld,\"gaps\":[],"
			  "\"people\":2%s}",
			  in, of, epoch, state, recorded > 0 ? "\"" : "",
			  recorded > 0 ? time : "null", recorded > 0 ? "\"" : "",
			  (long long)recorded, more);
}

static const char *work_text(const struct id *account, const struct id *job, unsigned epoch,
			     const char *state, int64_t recorded, const char *more)
{
	return work_text_at(account, job, epoch, state, recorded, world_now(&world), more);
}

/* Writes what a recorder needs to have the order of a job. */
static const char *order_needed(const struct id *job)
{
	return arena_text(world.arena, "{\"account\":\"%s\",\"job\":\"%s\",\"what\":\"order\"}",
			  world.account.id_text, id_as_text(world.arena, job).data);
}

/* ---- the service, over files or a database, which then has a second one ---- */

static void open_service(struct world *service, const char *database)
{
	const struct world_options options = {
		.store = database != NULL ? WORLD_POSTGRES : WORLD_GDBM,
		.postgres = { .url = database, .connections = 2, .uses_callers_clock = true },
		.begins = 1800000000000,
		.stands = true,
		.environment = { .live = LIVE_ON },
	};

	world_open(service, &options);
}

static void set_up(void)
{
	fault = FAULT_INITIAL;
	starts_type = JOB_RECORDING;
	starts_file = false;
	open_service(&world, NULL);
	accounts_at = world.directory;
}

static void tear_down(void)
{
	world_close(&world);
}

static void set_up_database(void)
{
	fault = FAULT_INITIAL;
	starts_type = JOB_RECORDING;
	starts_file = false;
	url = database_store();
	open_service(&world, url);
	accounts_at = url;
}

static void tear_down_database(void)
{
	world_close(&world);
	free(url);
	url = NULL;
}

/* Readers see only what is durable. */
static void commit(struct call *call)
{
	ck_assert(store_wait(world.environment.store, world_commit(call), &fault));
}

/* ---- jobs ---- */

#define LIVE_KEY "hZk2m0cVQ1yJw5nT3rXb7A"
#define ADDRESS "rtmp://a.example/app/abcdefghijklmno?token=seen"
#define ADDRESS_2 "rtmps://b.example:443/x/short-1"

/* Makes a room of the account, and starts a recording in it. */
static struct id start_of(const struct account *account, const char *room, const char *folder)
{
	struct job job = { .started_by = SLICE(""),
			   .started_name = SLICE(""),
			   .start_actor = SLICE("{\"kind\":\"service\",\"id\":\"\"}"),
			   .stop_actor = SLICE(""),
			   .room_title = SLICE(""),
			   .meeting_url = SLICE(""),
			   .destination = SLICE(""),
			   .look = { .width = 1280,
				     .height = 720,
				     .fps = 25,
				     .video_kbps = 1500,
				     .audio_kbps = 96,
				     .roles = SLICE("") },
			   .most = 3600000,
			   .empty_most = 3600000,
			   .presign_seconds = 3600,
			   .is_test = starts_tests,
			   .type = starts_type,
			   .has_recording = starts_file && starts_type == JOB_EXTERNAL,
			   .has_vod = starts_file && starts_type == JOB_LIVE,
			   .live_key = starts_type == JOB_LIVE ? SLICE(LIVE_KEY) : SLICE(""),
			   .live_window = 6,
			   .not_enforced = SLICE("[]") };
	struct reply made;
	struct call call;

	made = world_ask(&world, world.arena, account, METHOD_POST, "/v2/templates",
			 "{\"name\":\"lesson\",\"roles\":{\"host\":{}}}");
	ck_assert_msg(made.status == 200, "%s", made.text);
	made = world_ask(&world, world.arena, account, METHOD_POST, "/v2/rooms",
			 arena_text(world.arena, "{\"name\":\"%s\",\"template_id\":\"%s\"}", room,
				    world_member(&world, made.text, "id")));
	ck_assert_msg(made.status == 200, "%s", made.text);
	ck_assert(id_parse(slice_of(world_member(&world, made.text, "id")), &job.stored.parent));
	job.room_name = slice_of(room);
	job.folder = slice_of(folder);
	world_begin(&world, &account->id, &call);
	if (starts_type == JOB_EXTERNAL)
		ck_assert(job_outputs_fill(
			&call, world_json(&world, "[\"" ADDRESS "\",\"" ADDRESS_2 "\"]"), &job));
	ck_assert(job_begin(&call, &job, &fault));
	commit(&call);
	return job.stored.id;
}

static struct id start(const char *room)
{
	return start_of(&world.account, room, "f1");
}

static struct job job_of(const struct account *account, const struct id *id)
{
	struct call call;
	struct job job;

	world_begin(&world, &account->id, &call);
	ck_assert(job_load(&call, id, STORE_TO_CHANGE, &job, &fault));
	ck_assert_ptr_nonnull(job.stored.value.data);
	world_abandon(&call);
	return job;
}

static const char *status_of(const struct id *id)
{
	return job_status_names[job_of(&world.account, id).status];
}

static uint64_t recorded_of(const struct id *id)
{
	const struct job job = job_of(&world.account, id);

	return job_recorded(&job);
}

/* Stops, pauses or resumes as a call does. */
static void call_job(const struct id *id, bool (*what)(struct call *, struct job *, struct slice,
						       bool *, struct fault *))
{
	struct call call;
	struct job job;
	bool is_refused;

	world_begin(&world, &world.account.id, &call);
	ck_assert(job_load(&call, id, STORE_TO_CHANGE, &job, &fault) &&
		  what(&call, &job, SLICE(""), &is_refused, &fault));
	ck_assert(!is_refused);
	commit(&call);
}

/* What the watch does with a job that is due. */
static struct job_turn turn_of(const struct account *account, const struct id *id,
			       struct job_turn turn)
{
	struct call call;

	turn.account = account->id;
	turn.job = *id;
	world_begin(&world, &account->id, &call);
	ck_assert(job_take_turn(&call, &turn, &fault));
	commit(&call);
	return turn;
}

/* Works that are due are looked at, until none is. */
static void watch(void)
{
	bool is_last = false;

	while (!is_last) {
		struct work *works, due[16];
		struct call call;
		size_t n;

		world_begin(&world, &kind_only_id, &call);
		ck_assert(works_due(&call, world_now(&world), 16, &works, &n, &is_last, &fault));
		memcpy(due, works, n * sizeof *due);
		world_abandon(&call);
		for (size_t i = 0; i < n; i++) {
			struct job_turn turn = { .created = due[i].created };
			const struct account account = { .id = due[i].account };

			turn_of(&account, &due[i].job, turn);
		}
		ck_assert(n < 16 || !is_last);
	}
}

static struct jobs counts(void)
{
	struct call call;
	struct jobs jobs;

	world_begin(&world, &world.account.id, &call);
	ck_assert(jobs_load(&call, STORE_TO_SHOW, &jobs, &fault));
	world_abandon(&call);
	return jobs;
}

/* Returns how many events of this type the log of the account has. */
static size_t events(const struct account *account, const char *type)
{
	const struct reply reply =
		world_ask(&world, world.arena, account, METHOD_GET,
			  arena_text(world.arena, "/v2/events?type=%s&limit=100", type), NULL);

	ck_assert_msg(reply.status == 200, "%s", reply.text);
	return json_array_size(json_object_get(world_json(&world, reply.text), "data"));
}

/* A database numbers events later, in a thread that these tests do not have. */
static void expect_events(const struct account *account, const char *type, size_t n)
{
	if (url == NULL)
		ck_assert_uint_eq(events(account, type), n);
}

/* ---- refused ---- */

/* clang-format off */
#define HEAD "{\"boot\":\"b\",\"n\":1,\"version\":1,\"folder\":\"f1\",\"slots\":1,\"free_bytes\":1,\"total_bytes\":2,\"busy\":0.5,"
#define WORK(members) HEAD "\"works\":[{\"account\":\"0123456789abcdef01234567\",\"job\":\"0123456789abcdef01234567\",\"epoch\":1," members "}]}"
#define STATE(state) "\"state\":\"" state "\",\"part\":1,\"recorded_ms\":0,\"gaps\":[],\"people\":0"
static const struct refused {
	const char *body, *says;
	int status;
} refused[] = {
	{ "", "", 400 },
	{ "[]", "", 400 },
	{ "{", "", 400 },
	{ "{}", "/boot: is required", 400 },
	{ HEAD "\"works\":[]}", "every_ms", 200 },
	{ HEAD "\"works\":[],\"later\":1}", "every_ms", 200 },
	{ HEAD "\"works\":1}", "/works", 400 },
	{ "{\"boot\":\"b c\",\"n\":1,\"version\":1,\"folder\":\"f1\",\"slots\":1,\"free_bytes\":1,\"total_bytes\":2,\"busy\":0.5,\"works\":[]}", "/boot", 400 },
	{ "{\"boot\":\"b\",\"n\":0,\"version\":1,\"folder\":\"f1\",\"slots\":1,\"free_bytes\":1,\"total_bytes\":2,\"busy\":0.5,\"works\":[]}", "/n", 400 },
	{ "{\"boot\":\"b\",\"n\":1,\"version\":2,\"folder\":\"f1\",\"slots\":1,\"free_bytes\":1,\"total_bytes\":2,\"busy\":0.5,\"works\":[]}", "This recorder is too new", 409 },
	{ "{\"boot\":\"b\",\"n\":1,\"version\":1,\"folder\":\"../f\",\"slots\":1,\"free_bytes\":1,\"total_bytes\":2,\"busy\":0.5,\"works\":[]}", "/folder", 400 },
	{ "{\"boot\":\"b\",\"n\":1,\"version\":1,\"folder\":\"f1\",\"slots\":17,\"free_bytes\":1,\"total_bytes\":2,\"busy\":0.5,\"works\":[]}", "/slots", 400 },
	{ "{\"boot\":\"b\",\"n\":1,\"version\":1,\"folder\":\"f1\",\"slots\":1,\"free_bytes\":-1,\"total_bytes\":2,\"busy\":0.5,\"works\":[]}", "/free_bytes", 400 },
	{ "{\"boot\":\"b\",\"n\":1,\"version\":1,\"folder\":\"f1\",\"slots\":1,\"free_bytes\":1,\"total_bytes\":2,\"busy\":1.5,\"works\":[]}", "/busy", 400 },
	{ HEAD "\"works\":[],\"ends\":1}", "/ends", 400 },
	{ HEAD "\"works\":[],\"ends\":false}", "every_ms", 200 },
	{ HEAD "\"works\":[],\"needs\":[{\"account\":\"0123456789abcdef01234567\",\"job\":\"0123456789abcdef01234567\",\"what\":\"all\"}]}", "/needs/0/what", 400 },
	{ WORK(STATE("running")), "\"want\":\"drop\",\"erase\":true", 200 },
	{ WORK(STATE("idle")), "/works/0/state", 400 },
	{ WORK(STATE("running") ",\"media_at\":\"soon\""), "/works/0/media_at", 400 },
	{ WORK(STATE("running") ",\"media_at\":null"), "drop", 200 },
	{ WORK("\"state\":\"running\",\"part\":1,\"recorded_ms\":-1,\"gaps\":[],\"people\":0"), "/works/0/recorded_ms", 400 },
	{ WORK("\"state\":\"running\",\"part\":1,\"recorded_ms\":1,\"gaps\":[{\"at_ms\":1}],\"people\":0"), "/works/0/gaps/0/missing_ms", 400 },
	{ WORK(STATE("done")), "/works/0/files", 400 },
	{ WORK(STATE("done") ",\"files\":[]"), "drop", 200 },
	{ WORK(STATE("done") ",\"files\":[{\"name\":\"recording.mp4\",\"bytes\":1}]"), "/works/0/files/0/duration_ms", 400 },
	{ WORK(STATE("done") ",\"files\":[{\"name\":\"recording-1.mp4\",\"bytes\":1,\"duration_ms\":1,\"width\":1,\"height\":1}]"), "/works/0/files/0/name", 400 },
	{ WORK(STATE("done") ",\"files\":[{\"name\":\"recording-17.mp4\",\"bytes\":1,\"duration_ms\":1,\"width\":1,\"height\":1}]"), "/works/0/files/0/name", 400 },
	{ WORK(STATE("done") ",\"files\":[{\"name\":\"../recording.mp4\",\"bytes\":1,\"duration_ms\":1,\"width\":1,\"height\":1}]"), "/works/0/files/0/name", 400 },
	{ WORK(STATE("done") ",\"files\":[{\"name\":\"recording-16.mp4\",\"bytes\":1,\"duration_ms\":1,\"width\":0,\"height\":0}]"), "drop", 200 },
	{ WORK(STATE("done") ",\"files\":[{\"name\":\"chat.csv\",\"bytes\":1},{\"name\":\"chat.csv\",\"bytes\":1}]"), "chat.csv twice", 400 },
	{ WORK(STATE("running") ",\"outputs\":[{\"url\":\"x\",\"state\":\"live\",\"since\":null,\"error\":\"\"}]"), "drop", 200 },
	{ WORK(STATE("running") ",\"outputs\":[{\"state\":\"dead\"}]"), "/works/0/outputs/0/state", 400 },
	{ WORK(STATE("running") ",\"outputs\":[{\"url\":\"x\"}]"), "/works/0/outputs/0/state: is required", 400 },
	{ WORK(STATE("running") ",\"outputs\":[{\"state\":\"live\"},{\"state\":\"live\"},{\"state\":\"live\"},{\"state\":\"live\"},{\"state\":\"live\"},{\"state\":\"live\"}]"), "/works/0/outputs", 400 },
	{ HEAD "\"works\":[{\"account\":\"0123456789abcdef01234567\",\"job\":\"0123456789abcdef01234567\",\"epoch\":1," STATE("running") "},{\"account\":\"0123456789abcdef01234567\",\"job\":\"0123456789abcdef01234567\",\"epoch\":2," STATE("running") "}]}", "has a job twice", 400 },
};
/* clang-format on */

START_TEST(each_member_of_a_report_is_checked)
{
	struct client client;
	struct reply reply;

	client_begin(&client, "r1", "b", "f1", NULL);
	reply = send_body(&client, refused[_i].body);
	ck_assert_msg(reply.status == refused[_i].status &&
			      strstr(reply.text, refused[_i].says) != NULL,
		      "%s: %d %s", refused[_i].body, reply.status, reply.text);
}
END_TEST

/* clang-format off */
static const struct {
	const char *key; /* %s: the right secret */
	int status;
} keys[] = {
	{ "Bearer r1.%s", 200 },
	{ "bearer r1.%s", 200 },
	{ "Bearer r2.%s", 401 },
	{ "Bearer %s", 401 },
	{ "Basic r1.%s", 401 },
	{ "Bearer r1.%sx", 401 },
	{ "Bearer r1.", 401 },
	{ "Bearer", 401 },
	{ "", 401 },
};
/* clang-format on */

START_TEST(a_report_needs_the_key_of_its_recorder)
{
	struct client client, other;

	client_begin(&client, "r1", "b", "f1", NULL);
	client_begin(&other, "r2", "b", "f1", NULL);
	for (int i = 0; i < ROWS(keys); i++) {
		const char *secret = strchr(client.key, '.') + 1, *hole = strstr(keys[i].key, "%s");
		struct client with = client;

		with.n = (unsigned)i;
		(void)snprintf(with.key, sizeof with.key, "%.*s%s%s",
			       hole != NULL ? (int)(hole - keys[i].key) : 100, keys[i].key,
			       hole != NULL ? secret : "", hole != NULL ? hole + 2 : "");
		ck_assert_msg(send_body(&with, body_of(&with)).status == keys[i].status, "%s",
			      keys[i].key);
	}
	/* A key that was removed is no key any more. */
	ck_assert(accounts_remove_recorder(accounts_at, "r1", &fault));
	ck_assert_int_eq(send_body(&client, body_of(&client)).status, 401);
	ck_assert_int_eq(send_body(&other, body_of(&other)).status, 200);
}
END_TEST

START_TEST(a_report_that_is_too_large_is_refused)
{
	char *body = arena_alloc(world.arena, BODY_MOST + 1);
	struct client client;

	memset(body, ' ', BODY_MOST);
	body[BODY_MOST] = '\0';
	client_begin(&client, "r1", "b", "f1", NULL);
	ck_assert_int_eq(send_body(&client, body).status, 413);
}
END_TEST

START_TEST(a_second_process_of_a_name_waits_for_the_first_to_be_silent)
{
	struct client first, second;

	client_begin(&first, "r1", "first", "f1", NULL);
	second = first;
	second.boot = "second";
	report(&first);
	world_move(&world, 14000);
	ck_assert_int_eq(send_body(&second, body_of(&second)).status, 409);
	report(&first);
	world_move(&world, 15000);
	report(&second);
	ck_assert_int_eq(send_body(&first, body_of(&first)).status, 409);
}
END_TEST

/* Whoever reads must know at once, over another service too. A late report of the process that has
 * ended takes the name back no more. */
START_TEST(a_recorder_that_ends_frees_its_name)
{
	struct client first, second;

	client_begin(&first, "r1", "first", "f1", NULL);
	second = first;
	second.boot = "second";
	start("one");
	first.slots = 0;
	report(&first);
	world_move(&world, 1000);
	ck_assert_int_eq(send_body(&second, body_of(&second)).status, 409);
	/* It takes nothing any more. */
	first.slots = 4;
	first.ends = true;
	ck_assert_uint_eq(work_count(report(&first)), 0);
	ck_assert_ptr_nonnull(strstr(
		world_ask(&world, world.arena, &world.account, METHOD_GET, "/v2/recorders", NULL)
			.text,
		"\"state\":\"lost\""));
	world_move(&world, 7000);
	first.n = 0;
	first.ends = false;
	report(&first);
	ck_assert_uint_eq(work_count(report(&second)), 1);
	ck_assert_int_eq(send_body(&first, body_of(&first)).status, 409);
	/* One that goes on with its works after a start is no second process. */
	second.ends = true;
	report(&second);
	second.ends = false;
	report(&second);
	first.boot = "third";
	ck_assert_int_eq(send_body(&first, body_of(&first)).status, 409);
}
END_TEST

/* ---- the way of a recording ---- */

#define FILES \
	",\"files\":[{\"name\":\"recording.mp4\",\"bytes\":5000,\"duration_ms\":61000,\"width\":1280,\"height\":720}]"

START_TEST(a_recording_goes_from_its_start_to_its_file)
{
	const struct id *account = &world.account.id;
	struct client client;
	json_t *answer;
	struct jobs jobs;
	struct id job;

	client_begin(&client, "r1", "b", "f1", NULL);
	answer = report(&client);
	ck_assert_uint_eq(work_count(answer), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(answer, "every_ms")), 2000);
	job = start("one");
	answer = report(&client);
	ck_assert_uint_eq(work_count(answer), 1);
	ck_assert_str_eq(text_at(work_at(answer, 0), "want"), "run");
	ck_assert_int_eq(json_integer_value(json_object_get(work_at(answer, 0), "epoch")), 1);
	ck_assert_ptr_null(json_object_get(work_at(answer, 0), "order"));

	client.needs = order_needed(&job);
	client.works = work_text(account, &job, 1, "opening", 0, "");
	answer = report(&client);
	ck_assert_str_eq(text_at(json_object_get(work_at(answer, 0), "order"), "page"), "/record/");
	client.needs = "";
	ck_assert_str_eq(status_of(&job), "starting");

	world_move(&world, 2000);
	client.works = work_text(account, &job, 1, "running", 1000, "");
	report(&client);
	ck_assert_str_eq(status_of(&job), "running");
	ck_assert_int_eq(job_of(&world.account, &job).started, world_now(&world) - 1000);
	expect_events(&world.account, "beam.started.success", 1);
	ck_assert_uint_eq(counts().counts[JOB_RECORDING][JOB_RUNNING], 1);

	call_job(&job, job_pause);
	client.works = work_text(account, &job, 1, "running", 1500, "");
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "pause");
	ck_assert(!job_of(&world.account, &job).shows_pause);
	client.works = work_text(account, &job, 1, "paused", 1600, "");
	report(&client);
	ck_assert(job_of(&world.account, &job).shows_pause);
	call_job(&job, job_resume);
	client.works = work_text(account, &job, 1, "running", 2600, "");
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "run");
	expect_events(&world.account, "recording.paused", 1);
	expect_events(&world.account, "recording.resumed", 1);

	call_job(&job, job_stop);
	expect_events(&world.account, "beam.stopped.success", 1);
	client.works = work_text(account, &job, 1, "stopping", 61000, "");
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "stop");
	ck_assert_str_eq(status_of(&job), "stopping");
	client.works = work_text(account, &job, 1, "joining", 61000, "");
	report(&client);
	ck_assert_str_eq(status_of(&job), "post_processing");
	jobs = counts();
	ck_assert_uint_eq(jobs.running, 0);
	ck_assert_uint_eq(jobs.open, 1);
	client.works = work_text(account, &job, 1, "done", 61000, FILES);
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "drop");
	/* The same once more changes nothing. */
	report(&client);
	ck_assert_str_eq(status_of(&job), "completed");
	ck_assert_uint_eq(job_of(&world.account, &job).asset_count, 1);
	expect_events(&world.account, "beam.recording.success", 1);
	jobs = counts();
	ck_assert_uint_eq(jobs.open, 0);
	ck_assert_uint_eq(jobs.bytes, 5000);
	client.works = "";
	ck_assert_uint_eq(work_count(report(&client)), 0);
}
END_TEST

/* Places the room, which an exchange does, or moves it. */
static void put_room(const struct id *room, const char *backend, bool moves)
{
	struct room_record record;
	struct media media;
	struct place place;
	struct call call;
	bool is_there;

	world_begin(&world, &world.account.id, &call);
	ck_assert(media_load(&call, STORE_TO_SHOW, &media, &fault) &&
		  room_find(&call, room, STORE_TO_SHOW, &record, &is_there, &fault) &&
		  place_load(&call, room, STORE_TO_CHANGE, &place, &fault));
	place.until = world_now(&world) / 1000 + 3600;
	if (moves) {
		ck_assert(placing_move(
			&call, &record, &place, media_backend(&media, &place.backend),
			media_backend_named(&media, slice_of(backend)), MOVE_DRAINED, &fault));
	} else {
		place.backend = media_backend_named(&media, slice_of(backend))->id;
		place.since = world_now(&world);
		ck_assert(record_put(&place_table, call.transaction, &place, &fault));
	}
	commit(&call);
}

/* Returns the URL of the media server in the order, or NULL. */
static const char *ordered_url(struct client *client)
{
	const json_t *order = json_object_get(work_at(report(client), 0), "order");
	const json_t *join = json_object_get(order, "join");

	ck_assert_ptr_nonnull(order);
	return json_string_value(json_object_get(join, "url"));
}

/* A room of a pool is recorded where it is, and after it was moved there. */
START_TEST(a_recorder_follows_a_room_that_is_moved)
{
	struct client client;
	struct id job, room;

	for (int i = 1; i <= 2; i++)
		(void)world_expect(
			&world, 200, METHOD_POST, "/v2/backends",
			arena_text(
				world.arena,
				"{\"name\":\"s%d\",\"type\":\"livekit\",\"url\":\"wss://s%d.example\","
				"\"pool\":\"p\",\"default\":%s,\"config\":{\"api_key\":\"k\","
				"\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}",
				i, i, i == 1 ? "true" : "false"));
	client_begin(&client, "r1", "b", "f1", NULL);
	(void)report(&client);
	job = start("one");
	room = job_of(&world.account, &job).stored.parent;
	(void)report(&client);
	client.needs = order_needed(&job);
	client.works = work_text(&world.account.id, &job, 1, "waiting", 0, "");
	/* It is nowhere yet. */
	ck_assert_ptr_null(ordered_url(&client));
	put_room(&room, "s2", false);
	ck_assert_str_eq(ordered_url(&client), "wss://s2.example");
	put_room(&room, "s1", true);
	ck_assert_str_eq(ordered_url(&client), "wss://s1.example");
}
END_TEST

/* Sets the word of the rules of the template. */
static void ask_for_consent(const char *word)
{
	const json_t *list = world_json(
		&world, world_expect(&world, 200, METHOD_GET, "/v2/templates?name=lesson", NULL));

	(void)world_expect(
		&world, 200, METHOD_PATCH,
		arena_text(world.arena, "/v2/templates/%s/settings",
			   text_at(json_array_get(json_object_get(list, "data"), 0), "id")),
		arena_text(world.arena, "{\"recordingRules\":{\"consent\":\"%s\"}}", word));
}

static const char *consent_of(const json_t *work)
{
	return text_at(json_object_get(json_object_get(work, "order"), "look"), "consent");
}

START_TEST(the_order_has_the_rules_of_now)
{
	const struct id *account = &world.account.id;
	struct client client;
	json_t *work;
	json_int_t rev;
	struct id job;

	client_begin(&client, "r1", "b", "f1", NULL);
	report(&client);
	job = start("one");
	/* Before anybody has taken it. */
	ask_for_consent("asked");
	work = work_at(report(&client), 0);
	client.needs = order_needed(&job);
	client.works = work_text(account, &job, 1, "running", 1000, "");
	work = work_at(report(&client), 0);
	ck_assert_str_eq(consent_of(work), "asked");
	rev = json_integer_value(json_object_get(work, "rev"));
	work = work_at(report(&client), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(work, "rev")), rev);

	/* While it runs: the next answer says so. */
	ask_for_consent("required");
	work = work_at(report(&client), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(work, "rev")), rev + 1);
	ck_assert_str_eq(consent_of(work), "required");
	work = work_at(report(&client), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(work, "rev")), rev + 1);

	/* And what is joined stays as it is. */
	call_job(&job, job_stop);
	client.works = work_text(account, &job, 1, "joining", 9000, "");
	work = work_at(report(&client), 0);
	rev = json_integer_value(json_object_get(work, "rev"));
	ask_for_consent("notice");
	work = work_at(report(&client), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(work, "rev")), rev);
}
END_TEST

/* clang-format off */
#define FILE_OF(name, ms) "{\"name\":\"" name "\",\"bytes\":1,\"duration_ms\":" #ms ",\"width\":1280,\"height\":720}"
#define GAP(at, missing) "{\"at_ms\":" #at ",\"missing_ms\":" #missing "}"
static const struct {
	const char *gaps, *files;
	const char *of_first, *of_second; /* what the answer says */
} gap_rows[] = {
	{ "", FILE_OF("recording.mp4", 6000), "", NULL },
	{ GAP(1000, 500) "," GAP(7000, 600), FILE_OF("recording.mp4", 6000), GAP(1000, 500) "," GAP(7000, 600), NULL },
	{ GAP(1000, 500) "," GAP(7000, 600), FILE_OF("recording.mp4", 6000) "," FILE_OF("recording-2.mp4", 4000), GAP(1000, 500), GAP(1000, 600) },
	{ GAP(5999, 500) "," GAP(6000, 600), FILE_OF("recording.mp4", 6000) "," FILE_OF("recording-2.mp4", 4000), GAP(5999, 500), GAP(0, 600) },
	{ GAP(11000, 600), FILE_OF("recording.mp4", 6000) "," FILE_OF("recording-2.mp4", 4000), "", GAP(5000, 600) },
	{ GAP(7000, 600), FILE_OF("recording.mp4", 6000) ",{\"name\":\"chat.csv\",\"bytes\":1}," FILE_OF("recording-2.mp4", 4000), "", GAP(1000, 600) },
	/* Sound alone has no metadata. */
	{ GAP(1000, 500), "{\"name\":\"recording.mp4\",\"bytes\":1,\"duration_ms\":6000,\"width\":0,\"height\":0}", NULL, NULL },
};
/* clang-format on */

static const char *gaps_of(const struct id *job, size_t i)
{
	const json_t *assets = json_object_get(
		world_json(&world, world_expect(&world, 200, METHOD_GET,
						arena_text(world.arena, "/v2/recordings/%s",
							   id_as_text(world.arena, job).data),
						NULL)),
		"recording_assets");
	char *text = json_dumps(
		json_object_get(json_object_get(json_array_get(assets, i), "metadata"), "gaps"),
		JSON_COMPACT);
	const char *gaps = text == NULL ? "" : arena_text(world.arena, "%s", text);

	free(text);
	return gaps;
}

/* Puts gaps into a work, which has none. */
static const char *with_gaps(const char *work, const char *gaps)
{
	const char *at = strstr(work, "\"gaps\":[") + strlen("\"gaps\":[");

	return arena_text(world.arena, "%.*s%s%s", (int)(at - work), work, gaps, at);
}

START_TEST(each_gap_is_in_the_file_in_which_it_lies)
{
	const char *of[] = { gap_rows[_i].of_first, gap_rows[_i].of_second };
	struct client client;
	struct id job;

	client_begin(&client, "r1", "b", "f1", NULL);
	job = start("one");
	report(&client);
	client.works = work_text(&world.account.id, &job, 1, "running", 1000, "");
	report(&client);
	call_job(&job, job_stop);
	client.works = work_text(&world.account.id, &job, 1, "done", 10000,
				 arena_text(world.arena, ",\"files\":[%s]", gap_rows[_i].files));
	client.works = with_gaps(client.works, gap_rows[_i].gaps);
	report(&client);
	ck_assert_str_eq(status_of(&job), "completed");
	for (int i = 0; i < ROWS(of); i++)
		ck_assert_str_eq(gaps_of(&job, (size_t)i),
				 of[i] == NULL ? "" : arena_text(world.arena, "[%s]", of[i]));
}
END_TEST

START_TEST(nobody_takes_it_and_it_fails)
{
	const struct id job = start("one");

	world_move(&world, 59000);
	watch();
	ck_assert_str_eq(status_of(&job), "starting");
	world_move(&world, 1000);
	watch();
	ck_assert_str_eq(status_of(&job), "failed");
	ck_assert_int_eq(job_of(&world.account, &job).reason, JOB_NO_RECORDER);
	expect_events(&world.account, "beam.failure", 1);
	ck_assert_uint_eq(counts().open + counts().running + counts().waiting, 0);
	/* Its room is free again. */
	world_move(&world, 1000);
	watch();
}
END_TEST

/* ---- streams ---- */

/* Returns the answer to a report that asks for the order of a job. */
static json_t *order_of(struct client *client, const struct id *job)
{
	json_t *order;

	client->needs = order_needed(job);
	order = json_object_get(work_at(report(client), 0), "order");
	client->needs = "";
	return order;
}

/* Returns whether a response, an event or what is stored has this text. */
static bool shows(const char *path, const char *text)
{
	const struct reply reply = world_ask(&world, world.arena, &world.account, METHOD_GET, path,
					     NULL);

	ck_assert_msg(reply.status == 200, "%s", reply.text);
	return strstr(reply.text, text) != NULL;
}

static size_t gone_files(int64_t after)
{
	struct gone_file *files;
	struct call call;
	size_t n;

	world_move(&world, after);
	world_begin(&world, &kind_only_id, &call);
	ck_assert(gone_files_due(&call, 10, &files, &n, &fault));
	if (n > 0) {
		ck_assert(slice_is(files[0].path, "live/" LIVE_KEY) && files[0].is_folder &&
			  slice_is(files[0].folder, "f1"));
		ck_assert(slice_is(slice_of(gone_cause_names[files[0].cause]), "retention"));
	}
	world_abandon(&call);
	return n;
}

START_TEST(a_live_stream_goes_from_its_start_to_an_hour_after_its_end)
{
	struct client client;
	json_t *order, *hls;
	struct id job;

	starts_type = JOB_LIVE;
	starts_file = _i == 1;
	client_begin(&client, "r1", "b", "f1", NULL);
	job = start("one");
	report(&client);
	order = order_of(&client, &job);
	hls = json_object_get(order, "hls");
	ck_assert_str_eq(text_at(hls, "key"), LIVE_KEY);
	ck_assert_str_eq(text_at(hls, "title"), "one");
	ck_assert_int_eq(json_integer_value(json_object_get(hls, "segment_ms")), 2000);
	ck_assert_int_eq(json_integer_value(json_object_get(hls, "window")), 6);
	ck_assert_ptr_null(json_object_get(order, "rtmp"));
	ck_assert_int_eq(json_is_true(json_object_get(order, "file")), starts_file);
	client.works = work_text(&world.account.id, &job, 1, "running", 1000, "");
	report(&client);
	ck_assert_str_eq(status_of(&job), "running");
	expect_events(&world.account, "hls.started.success", 1);
	expect_events(&world.account, "beam.*", 0);
	call_job(&job, job_stop);
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "stop");
	/* Whoever takes over must know the playlist that it is to end. */
	ck_assert_ptr_nonnull(json_object_get(order_of(&client, &job), "hls"));
	expect_events(&world.account, "hls.stopped.success", 1);
	client.works = work_text(&world.account.id, &job, 1, "done", 2000,
				 starts_file ? FILES : ",\"files\":[]");
	report(&client);
	ck_assert_str_eq(status_of(&job), "completed");
	ck_assert_uint_eq(job_of(&world.account, &job).asset_count, starts_file ? 1 : 0);
	expect_events(&world.account, "hls.recording.success", starts_file ? 1 : 0);
	ck_assert_uint_eq(counts().open + counts().running, 0);
	ck_assert_uint_eq(gone_files(3600000 - 60000), 0);
	ck_assert_uint_eq(gone_files(60000), 1);
}
END_TEST

#define OUTPUTS(first, second, error) \
	",\"outputs\":[{\"state\":\"" first "\",\"error\":\"" error "\"},{\"state\":\"" second \
	"\"}]"

/* Returns whether the addresses of a job can be opened. */
static bool opens_addresses(const struct id *id)
{
	struct slice urls[JOB_OUTPUTS_MOST];
	struct call call;
	struct job job;
	bool opens;

	world_begin(&world, &world.account.id, &call);
	ck_assert(job_load(&call, id, STORE_TO_SHOW, &job, &fault));
	opens = job_outputs_open(&call, &job, urls);
	world_abandon(&call);
	return opens;
}

START_TEST(an_external_stream_shows_its_addresses_to_its_recorder_alone)
{
	static const char *const secrets[] = { "abcdefghijklmno", "token=seen", "short-1" };
	const struct id *account = &world.account.id;
	struct client client, other;
	json_t *order, *urls;
	const char *path;
	char id[ID_TEXT_SIZE + 1];
	struct id job;

	starts_type = JOB_EXTERNAL;
	client_begin(&client, "r1", "b", "f2", NULL);
	client_begin(&other, "r2", "b2", "f3", NULL);
	/* Any recorder may take it, and go on with it. */
	job = start_of(&world.account, "one", "");
	report(&client);
	order = order_of(&client, &job);
	urls = json_object_get(json_object_get(order, "rtmp"), "urls");
	ck_assert_uint_eq(json_array_size(urls), 2);
	ck_assert_str_eq(text_at(json_array_get(urls, 0), "url"), ADDRESS);
	ck_assert_str_eq(text_at(json_array_get(urls, 1), "url"), ADDRESS_2);
	ck_assert_int_eq(
		json_integer_value(json_object_get(json_object_get(order, "rtmp"), "give_up_ms")),
		600000);
	ck_assert(json_is_false(json_object_get(order, "file")));
	ck_assert_ptr_null(json_object_get(order, "hls"));
	/* Only who asks gets them, and nobody else. */
	client.works = work_text(
		account, &job, 1, "running", 1000,
		OUTPUTS("connecting", "live", "no answer from " ADDRESS " or abcdefghijklmno"));
	ck_assert_ptr_null(json_object_get(work_at(report(&client), 0), "order"));
	ck_assert_ptr_null(order_of(&other, &job));
	id_print(&job, id);
	path = arena_text(world.arena, "/v2/external-streams/%s", id);
	ck_assert(shows(path, "no answer from rtmp://a.example/app/{abc...een} or {...}"));
	ck_assert(shows(path, "\"state\":\"live\""));
	client.works = work_text(account, &job, 1, "running", 2000,
				 OUTPUTS("failed", "live", "no answer") ",\"error\":\"short-1\"");
	report(&client);
	ck_assert(shows(path, "\"error\":\"{...}\""));
	ck_assert(shows(path, "\"state\":\"failed\""));
	expect_events(&world.account, "beam.failure", 1);
	ck_assert_str_eq(status_of(&job), "running");
	ck_assert(opens_addresses(&job));

	/* It is lost, and another one takes it, of another folder. */
	world_move(&world, 16000);
	watch();
	report(&other);
	ck_assert_uint_eq(job_of(&world.account, &job).epoch, 2);
	ck_assert_ptr_null(order_of(&client, &job));
	urls = json_object_get(json_object_get(order_of(&other, &job), "rtmp"), "urls");
	ck_assert(json_is_true(json_object_get(json_array_get(urls, 0), "given_up")));
	ck_assert_ptr_null(json_object_get(json_array_get(urls, 1), "given_up"));

	for (int i = 0; i < ROWS(secrets); i++) {
		ck_assert(!shows(path, secrets[i]));
		ck_assert(!shows("/v2/external-streams", secrets[i]));
		ck_assert(!shows("/v2/events?limit=100", secrets[i]));
	}
	call_job(&job, job_stop);
	ck_assert_ptr_null(json_object_get(order_of(&other, &job), "rtmp"));
	other.works = work_text(account, &job, 2, "done", 1000, ",\"files\":[]");
	report(&other);
	ck_assert_str_eq(status_of(&job), "completed");
	ck_assert(!opens_addresses(&job));
	expect_events(&world.account, "beam.stopped.success", 1);
	expect_events(&world.account, "beam.recording.success", 0);
	expect_events(&world.account, "hls.*", 0);
}
END_TEST

START_TEST(an_external_stream_whose_outputs_are_all_given_up_keeps_its_file)
{
	struct client client;
	struct id job;

	starts_type = JOB_EXTERNAL;
	starts_file = _i == 1;
	client_begin(&client, "r1", "b", "f1", NULL);
	job = start_of(&world.account, "one", starts_file ? "f1" : "");
	report(&client);
	client.works = work_text(&world.account.id, &job, 1, "running", 1000,
				 OUTPUTS("failed", "failed", "no answer"));
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"),
			 starts_file ? "stop" : "drop");
	ck_assert_str_eq(status_of(&job), "failed");
	ck_assert_int_eq(job_of(&world.account, &job).reason, JOB_MAX_RETRIES);
	/* One for each output, and one for the stream. */
	expect_events(&world.account, "beam.failure", 3);
	client.works = work_text(&world.account.id, &job, 1, "done", 1000,
				 starts_file ? FILES : ",\"files\":[]");
	report(&client);
	ck_assert_str_eq(status_of(&job), starts_file ? "completed" : "failed");
	ck_assert_uint_eq(job_of(&world.account, &job).asset_count, starts_file ? 1 : 0);
}
END_TEST

START_TEST(an_external_stream_whose_keys_are_lost_fails)
{
	struct client client;
	struct call call;
	struct job job;
	struct id id;

	starts_type = JOB_EXTERNAL;
	client_begin(&client, "r1", "b", "f1", NULL);
	id = start_of(&world.account, "one", "");
	world_begin(&world, &world.account.id, &call);
	ck_assert(job_load(&call, &id, STORE_TO_CHANGE, &job, &fault));
	job.outputs[1].sealed = SLICE("01234567890123456789012345678901234567890");
	ck_assert(job_put(&call, &job, &fault));
	commit(&call);
	report(&client);
	ck_assert_str_eq(status_of(&id), "failed");
	expect_events(&world.account, "beam.failure", 1);
}
END_TEST

/* ---- two recorders ---- */

START_TEST(another_recorder_of_the_folder_takes_over)
{
	const struct id *account = &world.account.id;
	struct client first, second, elsewhere;
	json_t *answer;
	struct id job;

	client_begin(&first, "r1", "b1", "f1", NULL);
	client_begin(&second, "r2", "b2", "f1", NULL);
	client_begin(&elsewhere, "r3", "b3", "f2", NULL);
	job = start("one");
	/* It belongs to another folder. */
	ck_assert_uint_eq(work_count(report(&elsewhere)), 0);
	ck_assert_uint_eq(work_count(report(&first)), 1);
	ck_assert_uint_eq(work_count(report(&second)), 0);
	world_move(&world, 1000);
	first.works = work_text(account, &job, 1, "running", 800, "");
	report(&first);

	/* It is silent for the length of the lease. */
	world_move(&world, 14000);
	watch();
	ck_assert_uint_eq(work_count(report(&second)), 0);
	ck_assert_uint_eq(work_count(report(&elsewhere)), 0);
	world_move(&world, 2000);
	watch();
	expect_events(&world.account, "recorder.lost", 1);
	ck_assert_uint_eq(work_count(report(&elsewhere)), 0);
	answer = report(&second);
	ck_assert_uint_eq(work_count(answer), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(work_at(answer, 0), "epoch")), 2);
	second.works = work_text(account, &job, 2, "running", 500, "");
	report(&second);

	/* What the first one says in its epoch counts no more, and it is told nothing. */
	first.works = work_text(account, &job, 1, "running", 20000, "");
	ck_assert_uint_eq(work_count(report(&first)), 0);
	ck_assert_uint_eq(recorded_of(&job), 1300);

	call_job(&job, job_stop);
	second.works = work_text(account, &job, 2, "done", 600, FILES);
	report(&second);
	ck_assert_str_eq(status_of(&job), "completed");
	ck_assert_str_eq(text_at(work_at(report(&first), 0), "want"), "drop");
}
END_TEST

/* A recorder corrects its clock by the responses; one that does not changes no more than its own
 * times, within the bounds of the recording. */
START_TEST(a_clock_that_is_an_hour_off_is_held_to_the_recording)
{
	static const int64_t off[] = { -3600000, 3600000 };
	struct client client;
	struct job found;
	struct id job;

	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&client);
	world_move(&world, 5000);
	client.works = work_text_at(&world.account.id, &job, 1, "running", 2000,
				    world_now(&world) + off[_i], "");
	report(&client);
	found = job_of(&world.account, &job);
	ck_assert_int_eq(found.started, off[_i] < 0 ? found.created : world_now(&world) - 2000);
	ck_assert_int_ge(found.media, found.created);
	ck_assert_int_le(found.media, world_now(&world));
	world_move(&world, 1000);
	call_job(&job, job_stop);
	client.works = work_text_at(&world.account.id, &job, 1, "done", 3000,
				    world_now(&world) + off[_i], FILES);
	report(&client);
	found = job_of(&world.account, &job);
	ck_assert_str_eq(job_status_names[found.status], "completed");
	ck_assert_int_ge(found.stopped, found.started);
	ck_assert_int_le(found.stopped, world_now(&world));
}
END_TEST

START_TEST(a_report_that_comes_late_changes_nothing)
{
	const struct id *account = &world.account.id;
	struct client client;
	struct id job;

	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&client);
	client.works = work_text(account, &job, 1, "running", 1000, "");
	for (int i = 0; i < 3; i++)
		report(&client);
	client.n = 2;
	client.works = work_text(account, &job, 1, "broken", 1000, ",\"error\":\"It is gone.\"");
	ck_assert_uint_eq(work_count(report(&client)), 1);
	ck_assert_uint_eq(job_of(&world.account, &job).error.size, 0);
	client.n = 4;
	client.works = work_text(account, &job, 1, "running", 1000, "");
	ck_assert_uint_eq(work_count(report(&client)), 1);
	ck_assert_uint_eq(job_of(&world.account, &job).epoch, 1);
}
END_TEST

START_TEST(the_holder_that_comes_back_in_time_goes_on)
{
	const struct id *account = &world.account.id;
	struct client client;
	struct id job;

	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&client);
	client.works = work_text(account, &job, 1, "running", 800, "");
	report(&client);
	world_move(&world, 60000);
	watch();
	ck_assert_int_ne(job_of(&world.account, &job).lost, 0);
	/* The service was away for longer than the lease; so was the network. */
	world_restart(&world);
	client.works = work_text(account, &job, 1, "running", 60800, "");
	ck_assert_uint_eq(work_count(report(&client)), 1);
	ck_assert_int_eq(job_of(&world.account, &job).lost, 0);
	ck_assert_uint_eq(job_of(&world.account, &job).epoch, 1);
	ck_assert_uint_eq(recorded_of(&job), 60800);
	expect_events(&world.account, "recorder.back", 1);
}
END_TEST

START_TEST(a_broken_work_is_taken_again_by_whoever_is_alone)
{
	const struct id *account = &world.account.id;
	struct client first, second;
	struct id job;

	client_begin(&first, "r1", "b1", "f1", NULL);
	client_begin(&second, "r2", "b2", "f1", NULL);
	second.slots = 0;
	job = start("one");
	report(&first);
	report(&second);
	first.works = work_text(account, &job, 1, "broken", 0, ",\"error\":\"The page is gone.\"");
	/* The second one is there, but takes nothing. */
	ck_assert_uint_eq(work_count(report(&first)), 0);
	first.works = "";
	ck_assert_uint_eq(work_count(report(&first)), 0);
	second.slots = 1;
	ck_assert_uint_eq(work_count(report(&second)), 1);
	second.works = work_text(account, &job, 2, "broken", 0, ",\"error\":\"The page is gone.\"");
	report(&second);
	second.works = "";
	world_move(&world, 20000);
	/* Nobody else has reported lately. */
	ck_assert_uint_eq(work_count(report(&second)), 1);
}
END_TEST

/* ---- several accounts ---- */

START_TEST(each_account_has_its_turn)
{
	struct account other;
	struct client client;
	struct id first, second, third;
	json_t *answer;

	ck_assert(accounts_add(accounts_at, &world.clock.clock, "b", &other, &fault));
	client_begin(&client, "r1", "b1", "f1", NULL);
	client.slots = 16;
	first = start("one");
	second = start("two");
	third = start_of(&other, "three", "f1");
	ck_assert_uint_eq(counts().waiting, 2);
	report(&client); /* the oldest */
	client.works = work_text(&world.account.id, &first, 1, "running", 500, "");
	answer = report(&client);
	ck_assert_uint_eq(work_count(answer), 2);
	ck_assert_int_eq(job_of(&world.account, &second).epoch + job_of(&other, &third).epoch, 1);
	client.works = arena_text(world.arena, "%s,%s",
				  work_text(&world.account.id, &first, 1, "running", 1500, ""),
				  work_text(&other.id, &third, 1, "running", 500, ""));
	answer = report(&client);
	ck_assert_uint_eq(work_count(answer), 3);
	ck_assert_int_eq(job_of(&world.account, &second).epoch, 1);
	ck_assert_uint_eq(counts().waiting, 0);
	/* All three have media now: two accounts, each with its events. */
	client.works = arena_text(world.arena, "%s,%s,%s",
				  work_text(&world.account.id, &first, 1, "running", 2500, ""),
				  work_text(&other.id, &third, 1, "running", 1500, ""),
				  work_text(&world.account.id, &second, 1, "running", 500, ""));
	report(&client);
	expect_events(&world.account, "beam.started.success", 2);
	expect_events(&other, "beam.started.success", 1);
}
END_TEST

#define ACCOUNTS 10
#define JOBS_OF_EACH 20
#define SLOTS 16

/* Returns the account of a work that a recorder has, by its place. */
static int place_of(const struct account *accounts, const json_t *work)
{
	for (int i = 0; i < ACCOUNTS; i++) {
		if (strcmp(accounts[i].id_text, text_at(work, "account")) == 0)
			return i;
	}
	ck_abort_msg("a work of another account");
}

/* Each account has started all that it may, one after another: what is taken goes round. */
START_TEST(who_starts_much_does_not_keep_others_waiting)
{
	struct account accounts[ACCOUNTS] = { world.account };
	struct buffer works = BUFFER_INITIAL(world.arena);
	struct client client;
	int taken[ACCOUNTS] = { 0 };

	for (int i = 0; i < ACCOUNTS; i++) {
		if (i > 0)
			ck_assert(accounts_add(accounts_at, &world.clock.clock,
					       arena_text(world.arena, "b%d", i), &accounts[i],
					       &fault));
		for (int j = 0; j < JOBS_OF_EACH; j++) {
			start_of(&accounts[i], arena_text(world.arena, "room%d", j), "f1");
			world_move(&world, 1);
		}
	}
	client_begin(&client, "r1", "b1", "f1", NULL);
	client.slots = SLOTS;
	for (size_t n = 1; n <= SLOTS; n++) {
		json_t *answer = report(&client), *newest = NULL;
		struct id account, job;

		/* A report takes one. */
		ck_assert_uint_eq(work_count(answer), n);
		for (size_t i = 0; i < n; i++) {
			json_t *work = work_at(answer, i);

			if (works.size == 0 ||
			    memmem(works.data, works.size, text_at(work, "job"), 24) == NULL)
				newest = work;
		}
		ck_assert_ptr_nonnull(newest);
		ck_assert_int_eq(place_of(accounts, newest), (int)(n - 1) % ACCOUNTS);
		ck_assert_int_eq(taken[place_of(accounts, newest)]++, (int)(n - 1) / ACCOUNTS);
		ck_assert(id_parse(slice_of(text_at(newest, "account")), &account) &&
			  id_parse(slice_of(text_at(newest, "job")), &job));
		buffer_append_text(&works, n > 1 ? "," : "");
		buffer_append_text(&works, work_text(&account, &job, 1, "running", 500, ""));
		client.works = arena_copy(world.arena, buffer_slice(&works)).data;
	}
	/* It has no slot left. */
	ck_assert_uint_eq(work_count(report(&client)), SLOTS);
}
END_TEST

START_TEST(a_recorder_serves_its_accounts_alone)
{
	struct account other;
	struct client client;

	ck_assert(accounts_add(accounts_at, &world.clock.clock, "b", &other, &fault));
	client_begin(&client, "r1", "b1", "f1", "b");
	start("one");
	ck_assert_uint_eq(work_count(report(&client)), 0);
	start_of(&other, "two", "f1");
	ck_assert_uint_eq(work_count(report(&client)), 1);
	ck_assert_ptr_nonnull(strstr(world_expect(&world, 200, METHOD_GET, "/v2/recorders", NULL),
				     "\"data\":[]"));
	ck_assert_ptr_nonnull(strstr(
		world_ask(&world, world.arena, &other, METHOD_GET, "/v2/recorders", NULL).text,
		"\"name\":\"r1\",\"state\":\"free\""));
	world_move(&world, 15000);
	ck_assert_ptr_nonnull(strstr(
		world_ask(&world, world.arena, &other, METHOD_GET, "/v2/recorders", NULL).text,
		"\"state\":\"lost\""));
}
END_TEST

START_TEST(a_disabled_account_stops_its_recordings)
{
	const struct id *account = &world.account.id;
	struct client client;
	struct id job;

	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&client);
	client.works = work_text(account, &job, 1, "running", 800, "");
	report(&client);
	ck_assert(accounts_set_enabled(accounts_at, "a", false, NULL, &fault));
	client.works = work_text(account, &job, 1, "running", 1800, "");
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "stop");
	ck_assert_str_eq(status_of(&job), "stopping");
	ck_assert_int_eq(job_of(&world.account, &job).reason, JOB_ROOM_ENDED);
}
END_TEST

/* ---- limits ---- */

START_TEST(a_room_has_one_recording_and_an_account_a_number)
{
	struct job *of_room;
	struct job again;
	struct call call;
	struct id job;
	size_t n;

	ck_assert(accounts_set(accounts_at, "a", SLICE("recordings"), SLICE("1"), NULL, &fault));
	job = start("one");
	again = job_of(&world.account, &job);
	world_begin(&world, &world.account.id, &call);
	ck_assert(!job_check_running(&call, &again, &fault));
	ck_assert_str_eq(fault.message, "A recording is running");
	fault = FAULT_INITIAL;
	ck_assert(!job_check_numbers(&call, &again, &fault));
	ck_assert_str_eq(fault.message, "Too many recordings at once");
	fault = FAULT_INITIAL;
	ck_assert(jobs_of_room(&call, &again.stored.parent, &of_room, &n, &fault));
	ck_assert_uint_eq(n, 1);
	world_abandon(&call);
}
END_TEST

/* Makes a folder of recordings, which the caller removes. */
static char *make_folder(void)
{
	char *folder = directory_make();
	FILE *file = fopen(arena_text(world.arena, "%s/.anteroom", folder), "w");

	ck_assert_ptr_nonnull(file);
	(void)fputs("f1\n", file);
	ck_assert_int_eq(fclose(file), 0);
	return folder;
}

/* ---- participants that must go ---- */

START_TEST(a_recorder_that_says_nothing_is_removed)
{
	const struct id *account = &world.account.id;
	struct job_turn turn = { .since = 1 };
	struct client client;
	struct id job;

	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&client);
	client.works = work_text(account, &job, 1, "running", 800, "");
	report(&client);
	call_job(&job, job_pause);
	world_move(&world, 2000);
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 0);
	world_move(&world, 1000);
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 1);
	ck_assert(!job_of(&world.account, &job).shows_pause);
	/* Until the media server has done it, it is tried again. */
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 1);
	turn.removed_epoch = 1;
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 0);
	ck_assert(job_of(&world.account, &job).shows_pause);
	turn.removed_epoch = 0;

	/* The same with a stop, which is then over. */
	call_job(&job, job_resume);
	call_job(&job, job_stop);
	world_move(&world, 3000);
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 1);
	turn.removed_epoch = 1;
	turn_of(&world.account, &job, turn);
	ck_assert_str_eq(status_of(&job), "post_processing");
}
END_TEST

START_TEST(a_former_participant_goes_when_the_next_has_media)
{
	const struct id *account = &world.account.id;
	struct job_turn turn = { .since = 1 };
	struct client first, second;
	struct id job;

	client_begin(&first, "r1", "b1", "f1", NULL);
	client_begin(&second, "r2", "b2", "f1", NULL);
	job = start("one");
	report(&first);
	first.works = work_text(account, &job, 1, "running", 800, "");
	report(&first);
	world_move(&world, 16000);
	watch();
	report(&second);
	second.works = work_text(account, &job, 2, "opening", 0, "");
	report(&second);
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 0);
	second.works = work_text(account, &job, 2, "running", 500, "");
	report(&second);
	world_move(&world, 9000);
	second.works = work_text(account, &job, 2, "running", 9500, "");
	report(&second);
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 1);
	turn.removed_epoch = 1;
	ck_assert_uint_eq(turn_of(&world.account, &job, turn).removes_epoch, 0);
}
END_TEST

START_TEST(a_test_has_its_room_made_and_ends_by_itself)
{
	const struct id *account = &world.account.id;
	struct job_turn turn = { .since = 1 };
	struct client client;
	json_t *answer;
	struct id job;

	client_begin(&client, "r1", "b1", "f1", NULL);
	starts_tests = true;
	job = start("one");
	starts_tests = false;
	ck_assert(turn_of(&world.account, &job, turn).makes_room);
	ck_assert(turn_of(&world.account, &job, turn).makes_room);
	turn.has_room = true;
	ck_assert(!turn_of(&world.account, &job, turn).makes_room);
	/* A recorder waits where nobody is inside, but not for a test. */
	answer = report(&client);
	ck_assert_int_eq(json_integer_value(json_object_get(work_at(answer, 0), "inside")), 1);
	client.works = work_text(account, &job, 1, "running", 9000, "");
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "run");
	client.works = work_text(account, &job, 1, "running", 10000, "");
	world_move(&world, 8000);
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "stop");
}
END_TEST

/* ---- sessions ---- */

START_TEST(a_session_with_a_file_is_neither_swept_nor_deleted)
{
	struct session session = { .room_name = SLICE("one"),
				   .title = SLICE(""),
				   .server_room = SLICE(""),
				   .created = 1,
				   .updated = 2,
				   .closed = 3 };
	struct asset asset = { .path = SLICE("a/b"),
			       .folder = SLICE("f1"),
			       .title = SLICE(""),
			       .created = 4,
			       .size = 5 };
	const char *path;
	struct call call;
	struct id id;
	struct job job;
	size_t n;

	id = start("one");
	session.stored.parent = job_of(&world.account, &id).stored.parent;
	world_begin(&world, &world.account.id, &call);
	ck_assert(store_new_id(call.transaction, &kind_session, &world.clock.clock,
			       &session.created, &session.stored.id, &fault) &&
		  record_put(&session_table, call.transaction, &session, &fault) &&
		  job_load(&call, &id, STORE_TO_CHANGE, &job, &fault));
	asset.session = session.stored.id;
	ck_assert(asset_add(&call, &job, &asset, &fault) && job_put(&call, &job, &fault));
	path = arena_text(world.arena, "/v2/sessions/%s",
			  id_as_text(world.arena, &session.stored.id).data);
	commit(&call);
	ck_assert_ptr_nonnull(strstr(world_expect(&world, 409, METHOD_DELETE, path, NULL),
				     "Session has recordings"));
	world_begin(&world, &world.account.id, &call);
	ck_assert(sweep_kind(&call, &session_kind, &n, &fault));
	ck_assert_uint_eq(n, 0);
	ck_assert(asset_remove(&call, &asset, &fault));
	commit(&call);
	world_begin(&world, &world.account.id, &call);
	ck_assert(sweep_kind(&call, &session_kind, &n, &fault));
	ck_assert_uint_eq(n, 1);
	commit(&call);
	world_expect(&world, 404, METHOD_DELETE, path, NULL);
}
END_TEST

/* A file that is too old lets its session go; and more jobs than a transaction deals with learn the
 * last rule of their template. */
START_TEST(a_file_that_is_too_old_lets_its_session_go)
{
	char *folder = make_folder();
	struct recordings recordings = { .folder = folder, .times = RECORDING_TIMES };
	const char *template = world_expect(&world, 200, METHOD_POST, "/v2/templates", "{}");
	struct session session = { .room_name = SLICE("one"),
				   .title = SLICE(""),
				   .server_room = SLICE(""),
				   .created = world_now(&world),
				   .updated = world_now(&world),
				   .closed = world_now(&world) };
	struct asset asset = { .path = SLICE("a/b"),
			       .folder = SLICE("f1"),
			       .title = SLICE(""),
			       .created = world_now(&world),
			       .size = 5 };
	struct job job = { .status = JOB_COMPLETED, .room_name = SLICE("one") }, last;
	const char *path, *settings;
	struct file_watch *watch;
	struct call call;

	world.environment.recordings = &recordings;
	path = world_member(&world, template, "id");
	settings = arena_text(world.arena, "/v2/templates/%s/settings", path);
	world_begin(&world, &world.account.id, &call);
	ck_assert(id_parse(slice_of(path), &job.template_id) &&
		  id_parse(SLICE("6925c84100000000000000b1"), &job.stored.parent));
	session.stored.parent = job.stored.parent;
	job.created = job.updated = job.ended = world_now(&world);
	ck_assert(store_new_id(call.transaction, &kind_session, &world.clock.clock,
			       &session.created, &session.stored.id, &fault) &&
		  record_put(&session_table, call.transaction, &session, &fault));
	for (int i = 0; i < 70; i++) {
		last = job;
		ck_assert(store_new_id(call.transaction, &kind_job, &world.clock.clock,
				       &last.created, &last.stored.id, &fault));
		last.name = id_as_text(world.arena, &last.stored.id);
		ck_assert(job_put(&call, &last, &fault));
	}
	asset.session = session.stored.id;
	ck_assert(asset_add(&call, &last, &asset, &fault) && job_put(&call, &last, &fault));
	commit(&call);
	world_expect(&world, 200, METHOD_PATCH, settings, "{\"recordingRules\":{\"keepDays\":2}}");
	world_expect(&world, 204, METHOD_DELETE, arena_text(world.arena, "/v2/templates/%s", path),
		     NULL);
	path = arena_text(world.arena, "/v2/sessions/%s",
			  id_as_text(world.arena, &session.stored.id).data);
	for (int hours = 0; hours <= 48; hours += 24) {
		world_expect(&world, 409, METHOD_DELETE, path, NULL);
		world_move(&world, hours < 48 ? 24 * 3600000 - 1000 : 3000);
		watch = file_watch_open(&world.environment);
		while (file_watch_round(watch))
			;
		file_watch_close(watch);
	}
	world_expect(&world, 204, METHOD_DELETE, path, NULL);
	ck_assert_uint_eq(job_of(&world.account, &last.stored.id).asset_count, 0);
	ck_assert_uint_eq(counts().bytes, 0);
	expect_events(&world.account, "recording.deleted", 1);
	world.environment.recordings = NULL;
	directory_remove(folder);
}
END_TEST

/* ---- files ---- */

START_TEST(a_recording_is_done_only_when_its_file_is_there)
{
	const struct id *account = &world.account.id;
	char *folder = make_folder();
	struct recordings recordings = { .folder = folder, .times = RECORDING_TIMES };
	const char *path = folder;
	struct client client;
	struct id job;

	world.environment.recordings = &recordings;
	world_serve(&world);
	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&client);
	client.works = work_text(account, &job, 1, "running", 800, "");
	report(&client);
	call_job(&job, job_stop);
	client.works = work_text(account, &job, 1, "done", 61000, FILES);
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "stop");
	ck_assert_str_eq(status_of(&job), "post_processing");

	for (int i = 0; i < 3; i++) {
		const struct job in = job_of(&world.account, &job);
		const struct id parts[] = { *account, in.stored.parent, job };

		path = arena_text(world.arena, "%s/%s", path,
				  id_as_text(world.arena, &parts[i]).data);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	path = arena_text(world.arena, "%s/recording.mp4", path);
	ck_assert_int_eq(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	report(&client);
	ck_assert_str_eq(status_of(&job), "post_processing");
	ck_assert_int_eq(truncate(path, 5000), 0);
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "drop");
	ck_assert_str_eq(status_of(&job), "completed");
	world.environment.recordings = NULL;
	world_serve(&world);
	directory_remove(folder);
}
END_TEST

static const struct {
	enum job_status status;
	bool has_parts, has_folder;
	const char *says; /* NULL: it is joined */
} joins[] = {
	{ JOB_FAILED, true, true, NULL },
	{ JOB_FAILED, false, true, "Recording has no parts" },
	{ JOB_FAILED, true, false, "No storage for recordings" },
	{ JOB_RUNNING, true, true, "Recording has not failed" },
	{ JOB_COMPLETED, true, true, "Recording has not failed" },
};

START_TEST(what_is_left_of_a_failed_recording_is_joined)
{
	const struct id *account = &world.account.id;
	char *folder = make_folder();
	struct recordings recordings = { .folder = folder, .times = RECORDING_TIMES };
	struct recordings nowhere = { .folder = NULL, .times = RECORDING_TIMES };
	struct client first, second;
	const char *path, *parts;
	struct jobs jobs;
	json_t *answer;
	struct id job;

	world.environment.recordings = &nowhere;
	world_serve(&world);
	client_begin(&first, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&first);
	first.works = work_text(account, &job, 1, "running", 800, "");
	report(&first);
	if (joins[_i].status != JOB_RUNNING) {
		call_job(&job, job_stop);
		first.works = work_text(account, &job, 1, "joining", 800, "");
		report(&first);
	}
	if (joins[_i].status == JOB_COMPLETED) {
		first.works = work_text(account, &job, 1, "done", 800, FILES);
		report(&first);
	}
	first.works = "";
	if (joins[_i].status == JOB_FAILED) {
		world_move(&world, 24 * 3600000 + 1000);
		watch();
	}
	ck_assert_str_eq(status_of(&job), job_status_names[joins[_i].status]);
	parts = arena_text(world.arena, "%s/incoming", folder);
	ck_assert_int_eq(mkdir(parts, 0700), 0);
	parts = arena_text(world.arena, "%s/%s-%s", parts, world.account.id_text,
			   id_as_text(world.arena, &job).data);
	ck_assert_int_eq(mkdir(parts, 0700), 0);
	path = arena_text(world.arena, "%s/%s", parts,
			  joins[_i].has_parts ? "e1p1.mkv" : "e1p1.log");
	ck_assert_int_eq(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	if (joins[_i].has_folder)
		world.environment.recordings = &recordings;
	world_serve(&world);
	path = arena_text(world.arena, "/v2/recordings/%s/join",
			  id_as_text(world.arena, &job).data);
	if (joins[_i].says != NULL) {
		ck_assert_ptr_nonnull(
			strstr(world_expect(&world, 409, METHOD_POST, path, NULL), joins[_i].says));
		ck_assert_str_eq(status_of(&job), job_status_names[joins[_i].status]);
	} else {
		ck_assert_str_eq(world_member(&world,
					      world_expect(&world, 200, METHOD_POST, path, NULL),
					      "status"),
				 "post_processing");
		ck_assert_ptr_nonnull(strstr(world_expect(&world, 409, METHOD_POST, path, NULL),
					     "Recording has not failed"));
		jobs = counts();
		ck_assert_uint_eq(jobs.open, 1);
		ck_assert_uint_eq(jobs.running, 0);
		ck_assert_uint_eq(jobs.counts[JOB_RECORDING][JOB_POST_PROCESSING], 1);
		world.environment.recordings = &nowhere;
		world_serve(&world);
		client_begin(&second, "r2", "b2", "f1", NULL);
		answer = report(&second);
		ck_assert_uint_eq(work_count(answer), 1);
		ck_assert_str_eq(text_at(work_at(answer, 0), "want"), "stop");
		ck_assert_int_eq(json_integer_value(json_object_get(work_at(answer, 0), "epoch")),
				 2);
		second.works = work_text(account, &job, 2, "done", 800, FILES);
		ck_assert_str_eq(text_at(work_at(report(&second), 0), "want"), "drop");
		ck_assert_str_eq(status_of(&job), "completed");
		ck_assert_uint_eq(job_of(&world.account, &job).asset_count, 1);
		expect_events(&world.account, "beam.recording.success", 1);
		ck_assert_uint_eq(counts().open, 0);
	}
	world.environment.recordings = NULL;
	world_serve(&world);
	directory_remove(folder);
}
END_TEST

/* ---- recordings that start by themselves ---- */

/* A room in session with somebody of each role. */
static struct id meet(const char *template, const char *room, const char *first, const char *second)
{
	const char *backend = world_member(
		&world,
		world_expect(&world, 200, METHOD_POST, "/v2/backends",
			     arena_text(world.arena,
					"{\"name\":\"%s\",\"type\":\"livekit\",\"url\":"
					"\"wss://lk.example\",\"config\":{\"api_key\":\"key\","
					"\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}",
					room)),
		"id");
	const char *made = world_expect(&world, 200, METHOD_POST, "/v2/rooms",
					arena_text(world.arena,
						   "{\"name\":\"%s\",\"template_id\":\"%s\"}", room,
						   world_member(&world, template, "id")));
	struct live_role roles[] = { { slice_of(first), 1 }, { slice_of(second), 1 } };
	struct session session = { .is_active = true,
				   .room_name = slice_of(room),
				   .title = SLICE(""),
				   .server_room = SLICE("RM_1"),
				   .created = world_now(&world),
				   .updated = world_now(&world) };
	struct live live = { .server_room = SLICE("RM_1"),
			     .end_reason = SLICE(""),
			     .end_actor = SLICE(""),
			     .end_peer = SLICE(""),
			     .roles = roles,
			     .role_count = *second != '\0' ? 2 : 1 };
	struct call call;

	world_begin(&world, &world.account.id, &call);
	ck_assert(id_parse(slice_of(world_member(&world, made, "id")), &live.stored.id) &&
		  id_parse(slice_of(backend), &live.backend));
	session.stored.parent = live.stored.id;
	session.backend = live.backend;
	ck_assert(store_new_id(call.transaction, &kind_session, &world.clock.clock,
			       &session.created, &session.stored.id, &fault));
	live.session = session.stored.id;
	ck_assert(record_put(&session_table, call.transaction, &session, &fault) &&
		  record_put(&live_table, call.transaction, &live, &fault));
	commit(&call);
	return live.stored.id;
}

static enum automatic tried_type(const struct id *room, enum job_type type, bool notes)
{
	enum automatic result;
	struct call call;

	world_begin(&world, &world.account.id, &call);
	ck_assert_msg(automatic_start(&call, room, type, notes, &result, &fault), "%s",
		      fault_reason(&fault));
	commit(&call);
	return result;
}

static enum automatic tried(const struct id *room, bool notes)
{
	return tried_type(room, JOB_RECORDING, notes);
}

#define ROLES \
	"\"roles\":{\"host\":{\"permissions\":{\"endRoom\":true,\"removeOthers\":true," \
	"\"mute\":true,\"changeRole\":true}},\"guest\":{}}"

START_TEST(a_room_is_recorded_by_itself_while_somebody_is_inside_who_may_record)
{
	char *folder = make_folder();
	struct recordings recordings = { .folder = folder, .times = RECORDING_TIMES };
	struct client client;
	const char *template;
	struct id room, other;
	struct job running;
	struct call call;

	world.environment.recordings = &recordings;
	template = world_expect(&world, 200, METHOD_POST, "/v2/templates",
				"{\"name\":\"lesson\"," ROLES ",\"destinations\":{"
				"\"browserRecordings\":{\"school\":{\"autoStart\":true}},"
				"\"hlsDestinations\":{\"tv\":{\"autoStart\":true}},"
				"\"rtmpDestinations\":{\"a\":{\"rtmpUrls\":[\"" ADDRESS_2 "\"]},"
				"\"b\":{\"autoStart\":true,\"rtmpUrls\":[\"" ADDRESS "\"]},"
				"\"c\":{\"autoStart\":true}}}}");
	room = meet(template, "one", "guest", "");
	/* A guest may not record. */
	ck_assert_int_eq(tried(&room, true), AUTOMATIC_NOT_WANTED);
	other = meet(template, "two", "guest", "host");
	/* No recorder can take it. */
	ck_assert_int_eq(tried(&other, true), AUTOMATIC_FAILED);
	ck_assert_int_eq(tried(&other, false), AUTOMATIC_FAILED);
	expect_events(&world.account, "beam.failure", 1);
	client_begin(&client, "r1", "b1", "f1", NULL);
	report(&client);
	ck_assert_int_eq(tried(&other, true), AUTOMATIC_STARTED);
	ck_assert_int_eq(tried(&other, true), AUTOMATIC_NOT_WANTED);
	/* Each type is for itself, and the first destination by name counts. */
	ck_assert_int_eq(tried_type(&other, JOB_LIVE, true), AUTOMATIC_STARTED);
	ck_assert_int_eq(tried_type(&other, JOB_LIVE, true), AUTOMATIC_NOT_WANTED);
	ck_assert_int_eq(tried_type(&other, JOB_EXTERNAL, true), AUTOMATIC_STARTED);
	ck_assert_int_eq(tried_type(&other, JOB_EXTERNAL, true), AUTOMATIC_NOT_WANTED);
	ck_assert(shows("/v2/external-streams", "\"destination\":\"b\""));

	/* Somebody stops it, and it does not start again in this session. */
	world_begin(&world, &world.account.id, &call);
	ck_assert(job_find_holding(&call, JOB_RECORDING, &other, STORE_TO_SHOW, &running, &fault));
	ck_assert(running.is_automatic);
	world_abandon(&call);
	world_move(&world, 1000);
	call_job(&running.stored.id, job_stop);
	ck_assert_str_eq(status_of(&running.stored.id), "failed");
	ck_assert_int_eq(tried(&other, true), AUTOMATIC_NOT_WANTED);
	world.environment.recordings = NULL;
	directory_remove(folder);
}
END_TEST

/* ---- settings that change ---- */

/* The consent of people of a session, in milliseconds. */
/* clang-format off */
static const struct {
	const char *entry;
	bool is_inside;
	int64_t consented, withdrawn;
	json_int_t at; /* seconds, in the order; 0: it is not there */
} consents[] = {
	{ "agrees", true, 1800000001000, 0, 0 },
	{ "never", true, 0, 0, 0 },
	{ "withdrew", true, 1800000001000, 1800000007999, 1800000007 },
	/* Whoever agrees again within the second gets the next one, and may withdraw that. */
	{ "later", true, 1800000009000, 1800000008500, 1800000009 },
	{ "before", true, 0, 1800000003000, 1800000003 },
	{ "left", false, 1800000001000, 1800000002000, 1800000002 },
	{ "", true, 1800000001000, 1800000002000, 0 },
};
/* clang-format on */

/* Whoever takes over knows whose consent was withdrawn before. */
START_TEST(an_order_has_what_was_withdrawn)
{
	char *folder = make_folder();
	struct recordings recordings = { .folder = folder, .times = RECORDING_TIMES };
	const char *template =
		world_expect(&world, 200, METHOD_POST, "/v2/templates",
			     "{\"name\":\"lesson\"," ROLES ",\"destinations\":{"
			     "\"browserRecordings\":{\"school\":{\"autoStart\":true}}},"
			     "\"settings\":{\"recordingRules\":{\"consent\":\"asked\"}}}");
	const struct id room = meet(template, "one", "host", "");
	const json_t *list, *one;
	struct client client;
	struct job running;
	struct live live;
	struct call call;
	size_t n = 0, k;

	world.environment.recordings = &recordings;
	world_begin(&world, &world.account.id, &call);
	ck_assert(live_load(&call, &room, STORE_TO_CHANGE, &live, &fault));
	for (int i = 0; i < ROWS(consents); i++) {
		struct peer peer = {
			.stored.parent = live.session,
			.uuid = slice_of(arena_text(world.arena, "uuid-%d", i)),
			.is_inside = consents[i].is_inside,
			.stay = SLICE("PA"),
			.identity = SLICE("identity"),
			.entry = slice_of(consents[i].entry),
			.code = SLICE(""),
			.name = SLICE(""),
			.user_id = SLICE(""),
			.role = SLICE("host"),
			.metadata = SLICE(""),
			.joined = call.now,
			.seen = call.now,
			.left = consents[i].is_inside ? 0 : call.now,
			.order_reason = SLICE(""),
			.order_actor = SLICE(""),
			.new_name = SLICE(""),
			.consented = consents[i].consented,
			.withdrawn = consents[i].withdrawn,
			.consent_text = SLICE(""),
		};

		peer.stored.id = peer_id(peer.joined, peer.uuid);
		ck_assert(record_put(&peer_table, call.transaction, &peer, &fault));
		n += consents[i].at != 0;
	}
	commit(&call);
	client_begin(&client, "r1", "b1", "f1", NULL);
	report(&client);
	ck_assert_int_eq(tried(&room, true), AUTOMATIC_STARTED);
	world_begin(&world, &world.account.id, &call);
	ck_assert(job_find_holding(&call, JOB_RECORDING, &room, STORE_TO_SHOW, &running, &fault));
	world_abandon(&call);
	report(&client);
	client.needs = order_needed(&running.stored.id);
	list = json_object_get(
		json_object_get(json_object_get(work_at(report(&client), 0), "order"), "look"),
		"withdrawn");
	ck_assert_uint_eq(json_array_size(list), n);
	json_array_foreach(list, k, one) {
		int i = 0;

		while (strcmp(consents[i].entry, text_at(one, "entry")) != 0)
			i++;
		ck_assert_int_eq(json_integer_value(json_object_get(one, "at")), consents[i].at);
	}
	world.environment.recordings = NULL;
	directory_remove(folder);
}
END_TEST

/* What is done to the template while it is recorded, one after another; and who is heard then. */
/* clang-format off */
static const struct {
	enum method method;
	const char *path, *body;
	const char *roles; /* JSON; NULL: everybody */
	bool is_other; /* the order is another one */
} looks[] = {
	{ METHOD_PATCH, "/roles/host", "{\"subscribeParams\":{\"subscribeToRoles\":[\"host\"]}}", "[\"host\"]", true },
	{ METHOD_PATCH, "/roles/host", "{\"priority\":3}", "[\"host\"]", false },
	{ METHOD_PATCH, "/roles/guest", "{\"subscribeParams\":{\"subscribeToRoles\":[\"guest\"]}}", "[\"host\"]", false },
	{ METHOD_PATCH, "/roles/host", "{\"name\":\"boss\"}", "[\"boss\"]", true },
	{ METHOD_PATCH, "/destinations", "{\"browserRecordings\":{\"school\":{\"width\":640,\"height\":480,\"maxDuration\":60}}}", "[\"boss\"]", false },
	{ METHOD_PATCH, "/destinations", "{\"browserRecordings\":{\"school\":{\"role\":\"guest\"}}}", "[\"guest\"]", true },
	{ METHOD_PATCH, "/destinations", "{\"browserRecordings\":{\"school\":{\"role\":\"nobody\"}}}", "[\"guest\"]", false },
	{ METHOD_PATCH, "/destinations", "{\"browserRecordings\":{\"school\":{\"role\":null}}}", NULL, true },
	{ METHOD_PATCH, "/destinations", "{\"browserRecordings\":{\"school\":{\"role\":\"guest\"}}}", "[\"guest\"]", true },
	{ METHOD_PATCH, "/destinations", "{\"browserRecordings\":{\"school\":null}}", "[\"guest\"]", false },
	{ METHOD_PATCH, "/settings", "{\"recordingRules\":{\"chat\":true}}", "[\"guest\"]", true },
	{ METHOD_PATCH, "/settings", "{\"recordingRules\":{\"keepDays\":9}}", "[\"guest\"]", false },
	{ METHOD_PATCH, "/settings", "{\"recordingRules\":null}", "[\"guest\"]", true },
};
/* clang-format on */

START_TEST(who_is_recorded_follows_the_template)
{
	char *folder = make_folder();
	struct recordings recordings = { .folder = folder, .times = RECORDING_TIMES };
	struct job running;
	struct client client;
	const char *template;
	json_int_t rev;
	struct call call;
	struct id room;

	world.environment.recordings = &recordings;
	template = world_expect(&world, 200, METHOD_POST, "/v2/templates",
				"{\"name\":\"lesson\"," ROLES ",\"destinations\":{"
				"\"browserRecordings\":{\"school\":{\"role\":\"host\","
				"\"autoStart\":true}}}}");
	room = meet(template, "one", "host", "");
	client_begin(&client, "r1", "b1", "f1", NULL);
	report(&client);
	ck_assert_int_eq(tried(&room, true), AUTOMATIC_STARTED);
	world_begin(&world, &world.account.id, &call);
	ck_assert(job_find_holding(&call, JOB_RECORDING, &room, STORE_TO_SHOW, &running, &fault));
	world_abandon(&call);
	rev = json_integer_value(json_object_get(work_at(report(&client), 0), "rev"));
	client.needs = order_needed(&running.stored.id);
	for (int i = 0; i < ROWS(looks); i++) {
		const json_t *work, *look, *roles;
		json_t *wanted = looks[i].roles == NULL ? NULL : world_json(&world, looks[i].roles);

		(void)world_expect(&world, 200, looks[i].method,
				   arena_text(world.arena, "/v2/templates/%s%s",
					      world_member(&world, template, "id"), looks[i].path),
				   looks[i].body);
		world_move(&world, 1000);
		client.works = work_text(&world.account.id, &running.stored.id, 1, "running",
					 1000 * (i + 1), "");
		work = work_at(report(&client), 0);
		rev += looks[i].is_other;
		ck_assert_msg(json_integer_value(json_object_get(work, "rev")) == rev, "%d: %s: %s",
			      i, looks[i].body, json_as_text(world.arena, work).data);
		look = json_object_get(json_object_get(work, "order"), "look");
		roles = json_object_get(look, "roles");
		ck_assert_msg(wanted == NULL ? roles == NULL : json_equal(roles, wanted), "%d: %s",
			      i, looks[i].body);
		ck_assert_int_eq(json_integer_value(json_object_get(look, "width")), 1280);
	}
	world.environment.recordings = NULL;
	directory_remove(folder);
}
END_TEST

/* What the template says about the chat is in the order and in the recording; and from what the
 * ids of people follow. */
static const struct {
	const char *rules;
	bool has_chat;
} rules_of_chat[] = {
	{ "", false },
	{ ",\"settings\":{\"recordingRules\":{\"chat\":false}}", false },
	{ ",\"settings\":{\"recordingRules\":{\"chat\":true}}", true },
};

START_TEST(the_chat_is_kept_if_the_template_says_so)
{
	char *folder = make_folder();
	struct recordings recordings = { .folder = folder, .times = RECORDING_TIMES };
	const char *template, *shown;
	struct client client;
	json_t *order;
	struct job job;
	struct call call;
	struct live live;
	struct id room;

	world.environment.recordings = &recordings;
	template = world_expect(&world, 200, METHOD_POST, "/v2/templates",
				arena_text(world.arena,
					   "{\"name\":\"lesson\"," ROLES ",\"destinations\":{"
					   "\"browserRecordings\":{\"school\":{"
					   "\"autoStart\":true}}}%s}",
					   rules_of_chat[_i].rules));
	room = meet(template, "one", "host", "");
	world_expect(&world, 200, METHOD_PATCH,
		     arena_text(world.arena, "/v2/templates/%s/settings",
				world_member(&world, template, "id")),
		     "{\"backend\":\"one\"}");
	client_begin(&client, "r1", "b1", "f1", NULL);
	report(&client);
	ck_assert_int_eq(tried(&room, true), AUTOMATIC_STARTED);
	world_begin(&world, &world.account.id, &call);
	ck_assert(job_find_holding(&call, JOB_RECORDING, &room, STORE_TO_SHOW, &job, &fault) &&
		  live_load(&call, &room, STORE_TO_SHOW, &live, &fault));
	world_abandon(&call);
	report(&client);
	client.works = work_text(&world.account.id, &job.stored.id, 1, "opening", 0, "");
	client.needs = order_needed(&job.stored.id);
	order = json_object_get(work_at(report(&client), 0), "order");
	ck_assert_str_eq(text_at(order, "peers"), id_as_text(world.arena, &live.backend).data);
	ck_assert_int_eq(json_is_true(json_object_get(json_object_get(order, "look"), "chat")),
			 rules_of_chat[_i].has_chat);
	shown = world_expect(&world, 200, METHOD_GET,
			     arena_text(world.arena, "/v2/recordings/%s",
					id_as_text(world.arena, &job.stored.id).data),
			     NULL);
	ck_assert_int_eq(strstr(shown, "\"chat\"") != NULL, rules_of_chat[_i].has_chat);
	world.environment.recordings = NULL;
	directory_remove(folder);
}
END_TEST

/* ---- links in webhooks ---- */

static const char *linked(const char *type, const char *data)
{
	struct slice text;
	struct call call;

	world_begin(&world, &world.account.id, &call);
	ck_assert(job_event_links(&call, slice_of(type), slice_of(data), &text, &fault));
	text = arena_copy(world.arena, text);
	world_abandon(&call);
	return text.data;
}

START_TEST(a_webhook_has_a_link_that_the_log_has_not)
{
	struct asset asset = { .path = SLICE("a/b"),
			       .folder = SLICE("f1"),
			       .title = SLICE(""),
			       .created = 4,
			       .presign_seconds = 60,
			       .size = 5 };
	const struct id id = start("one");
	const char *data, *begins;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	ck_assert(job_load(&call, &id, STORE_TO_CHANGE, &job, &fault) &&
		  asset_add(&call, &job, &asset, &fault) && job_put(&call, &job, &fault));
	data = arena_text(world.arena, "{\"recording_id\":\"%s\"}",
			  id_as_text(world.arena, &asset.stored.id).data);
	commit(&call);
	ck_assert_str_eq(linked("beam.stopped.success", data), data);
	ck_assert_ptr_nonnull(strstr(linked("beam.recording.success", data),
				     ",\"recording_presigned_url\":\"\","
				     "\"chat_recording_presigned_url\":\"\"}"));
	world.environment.public_url = "https://a.example";
	begins = arena_text(
		world.arena,
		",\"recording_presigned_url\":\"https://a.example/v2/recording-files/%s/%s"
		"?expires=%lld&",
		world.account.id_text, id_as_text(world.arena, &asset.stored.id).data,
		(long long)(world_now(&world) / 1000 + 60));
	ck_assert_ptr_nonnull(strstr(linked("beam.recording.success", data), begins));
	data = arena_text(world.arena,
			  "{\"recording_id\":\"%s\",\"recording_single_files\":[{\"size\":5}]}",
			  id_as_text(world.arena, &asset.stored.id).data);
	begins = arena_text(world.arena,
			    ",\"recording_single_files\":[{\"size\":5,"
			    "\"recording_presigned_url\":\"https://a.example/v2/recording-files/%s",
			    world.account.id_text);
	ck_assert_ptr_nonnull(strstr(linked("hls.recording.success", data), begins));
	ck_assert_ptr_nonnull(strstr(linked("hls.recording.success", data),
				     ",\"hls_vod_recording_presigned_url\":\"\","
				     "\"chat_recording_presigned_url\":\"\"}"));
	/* One that is gone has none. */
	ck_assert_ptr_nonnull(strstr(
		linked("beam.recording.success", "{\"recording_id\":\"0123456789abcdef01234567\"}"),
		"\"recording_presigned_url\":\"\""));
	world.environment.public_url = NULL;
}
END_TEST

/* ---- an account that is deleted ---- */

START_TEST(a_deleted_account_leaves_no_work)
{
	struct client client;
	struct work *works;
	struct call call;
	bool is_empty = false;
	json_t *answer;
	struct id job;
	size_t n;

	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	start("two");
	report(&client);
	client.works = work_text(&world.account.id, &job, 1, "running", 800, "");
	report(&client);
	ck_assert(accounts_set_enabled(accounts_at, "a", false, NULL, &fault) &&
		  accounts_remove(accounts_at, &world.account.id, &fault));
	while (!is_empty) {
		world_begin(&world, &world.account.id, &call);
		ck_assert(transfer_remove_some(&call, &is_empty, &fault));
		commit(&call);
	}
	answer = report(&client);
	ck_assert_uint_eq(work_count(answer), 1);
	ck_assert_str_eq(text_at(work_at(answer, 0), "want"), "drop");
	ck_assert(json_is_true(json_object_get(work_at(answer, 0), "erase")));
	world_begin(&world, &kind_only_id, &call);
	ck_assert(works_read(&call, &work_queue, 1, &works, &n, &fault));
	ck_assert_uint_eq(n, 0);
	world_abandon(&call);
}
END_TEST

/* ---- the thread that follows the clock ---- */

/* Waits for at most ten seconds. */
static bool comes_to(const struct id *job, const char *status)
{
	for (int i = 0; i < 2000 && strcmp(status_of(job), status) != 0; i++)
		(void)poll(NULL, 0, 5);
	return strcmp(status_of(job), status) == 0;
}

START_TEST(the_watch_looks_at_jobs_that_are_due)
{
	struct lease *lease = lease_open(world.environment.store, &world.clock.clock);
	struct client client;
	struct job_watch *watched;
	struct id first, second;

	client_begin(&client, "r1", "b1", "f1", NULL);
	first = start("one");
	report(&client);
	client.works = work_text(&world.account.id, &first, 1, "running", 800, "");
	report(&client);
	second = start("two");
	world_move(&world, 61000);
	watched = job_watch_open(&world.environment, lease);
	/* Nobody took the second; the first was lost, and has begun anew with this process. */
	ck_assert(comes_to(&second, "failed"));
	ck_assert_str_eq(status_of(&first), "running");
	ck_assert_int_eq(job_of(&world.account, &first).lost, 0);
	world_move(&world, 15000);
	for (int i = 0; i < 2000 && job_of(&world.account, &first).lost == 0; i++)
		(void)poll(NULL, 0, 5);
	ck_assert_int_ne(job_of(&world.account, &first).lost, 0);
	job_watch_end(watched);
	job_watch_close(watched);
	lease_close(lease);
}
END_TEST

/* ---- two services ---- */

START_TEST(two_services_on_one_database_say_the_same)
{
	const struct id *account = &world.account.id;
	struct client client;
	struct world other;
	struct id job;

	open_service(&other, url);
	client_begin(&client, "r1", "b1", "f1", NULL);
	job = start("one");
	report(&client);
	/* Each report goes to the other service than the one before. */
	client.at = &other;
	client.works = work_text(account, &job, 1, "running", 800, "");
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "run");
	ck_assert_str_eq(status_of(&job), "running");
	call_job(&job, job_pause);
	client.works = work_text(account, &job, 1, "paused", 900, "");
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "pause");
	ck_assert(job_of(&world.account, &job).shows_pause);
	client.at = NULL;
	call_job(&job, job_stop);
	client.works = work_text(account, &job, 1, "joining", 900, "");
	report(&client);
	client.at = &other;
	client.works = work_text(account, &job, 1, "done", 900, FILES);
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "drop");
	client.at = NULL;
	ck_assert_str_eq(text_at(work_at(report(&client), 0), "want"), "drop");
	ck_assert_uint_eq(job_of(&world.account, &job).asset_count, 1);
	world_close(&other);
}
END_TEST

#define RECORDERS 3
#define JOBS 12

/* Who has a job, and in which epoch. */
struct holder {
	struct id job;
	int recorder; /* -1 before the first */
	unsigned epoch;
};

/* Notes what an answer gives a recorder; returns the number of works. It has what nobody has, or
 * what the one that is lost had, and that in the next epoch. */
static size_t note_works(json_t *answer, int recorder, int lost, struct holder *holders)
{
	for (size_t i = 0; i < work_count(answer); i++) {
		const json_t *work = work_at(answer, i);
		struct holder *holder = holders;

		while (strcmp(id_as_text(world.arena, &holder->job).data, text_at(work, "job")) !=
		       0)
			ck_assert_int_lt(++holder - holders, JOBS);
		ck_assert_msg(holder->recorder == lost || holder->recorder == recorder,
			      "job %d: %d and %d", (int)(holder - holders), holder->recorder,
			      recorder);
		holder->epoch += holder->recorder != recorder;
		holder->recorder = recorder;
		ck_assert_int_eq(json_integer_value(json_object_get(work, "epoch")), holder->epoch);
	}
	return work_count(answer);
}

/* What the recorder has, as it reports it. */
static const char *works_of(int recorder, const struct holder *holders, int64_t recorded)
{
	struct buffer text = BUFFER_INITIAL(world.arena);

	for (int i = 0; i < JOBS; i++) {
		if (holders[i].recorder != recorder)
			continue;
		buffer_append_text(&text, text.size > 0 ? "," : "");
		buffer_append_text(&text, work_text(&world.account.id, &holders[i].job,
						    holders[i].epoch, "running", recorded, ""));
	}
	buffer_append_byte(&text, '\0');
	return text.data;
}

/* Each reports now here, now there. One of them is lost, and the others have its jobs. */
START_TEST(three_recorders_and_two_services_have_each_job_once)
{
	struct client clients[RECORDERS];
	struct holder holders[JOBS];
	struct world other;
	int lost = -1;

	open_service(&other, url);
	for (int i = 0; i < JOBS; i++)
		holders[i] = (struct holder){ start(arena_text(world.arena, "room%d", i)), -1, 0 };
	for (int i = 0; i < RECORDERS; i++) {
		client_begin(&clients[i], arena_text(world.arena, "r%d", i),
			     arena_text(world.arena, "b%d", i), "f1", NULL);
		clients[i].slots = JOBS / 2;
	}
	for (int second = 0; second < 30; second++) {
		size_t all = 0;

		for (int i = lost + 1; i < RECORDERS; i++) {
			clients[i].at = (second + i) % 2 == 0 ? NULL : &other;
			clients[i].works = works_of(i, holders, 500 + 1000 * second);
			all += note_works(report(&clients[i]), i, lost, holders);
		}
		/* Each report takes one; of the lost ones all are taken once its lease is over. */
		if (second == 5 || second == 29)
			ck_assert_uint_eq(all, JOBS);
		if (second == 5)
			lost = 0;
		world_move(&world, 1000);
		world_move(&other, 1000);
		watch();
	}
	for (int i = 0; i < JOBS; i++) {
		const struct job job = job_of(&world.account, &holders[i].job);

		ck_assert_int_gt(holders[i].recorder, 0);
		ck_assert_uint_eq(job.epoch, holders[i].epoch);
		ck_assert_str_eq(job_status_names[job.status], "running");
	}
	/* It comes back, to either service, and has nothing any more. */
	for (int i = 0; i < 2; i++) {
		clients[0].at = i == 0 ? NULL : &other;
		ck_assert_uint_eq(work_count(report(&clients[0])), 0);
	}
	world_close(&other);
}
END_TEST

void add_reports(TCase *reports, bool on_database)
{
	tcase_add_checked_fixture(reports, on_database ? set_up_database : set_up,
				  on_database ? tear_down_database : tear_down);
	if (on_database) {
		tcase_add_test(reports, two_services_on_one_database_say_the_same);
		tcase_add_test(reports, three_recorders_and_two_services_have_each_job_once);
	} else {
		tcase_add_loop_test(reports, each_member_of_a_report_is_checked, 0, ROWS(refused));
		tcase_add_loop_test(reports, each_gap_is_in_the_file_in_which_it_lies, 0,
				    ROWS(gap_rows));
	}
	tcase_add_test(reports, a_report_needs_the_key_of_its_recorder);
	tcase_add_test(reports, a_report_that_is_too_large_is_refused);
	tcase_add_test(reports, a_second_process_of_a_name_waits_for_the_first_to_be_silent);
	tcase_add_test(reports, a_recorder_that_ends_frees_its_name);
	tcase_add_test(reports, a_recording_goes_from_its_start_to_its_file);
	tcase_add_test(reports, the_order_has_the_rules_of_now);
	tcase_add_test(reports, nobody_takes_it_and_it_fails);
	tcase_add_loop_test(reports, a_live_stream_goes_from_its_start_to_an_hour_after_its_end, 0,
			    2);
	tcase_add_test(reports, an_external_stream_shows_its_addresses_to_its_recorder_alone);
	tcase_add_loop_test(reports,
			    an_external_stream_whose_outputs_are_all_given_up_keeps_its_file, 0, 2);
	tcase_add_test(reports, an_external_stream_whose_keys_are_lost_fails);
	tcase_add_test(reports, another_recorder_of_the_folder_takes_over);
	tcase_add_test(reports, a_report_that_comes_late_changes_nothing);
	tcase_add_loop_test(reports, a_clock_that_is_an_hour_off_is_held_to_the_recording, 0, 2);
	tcase_add_test(reports, the_holder_that_comes_back_in_time_goes_on);
	tcase_add_test(reports, a_broken_work_is_taken_again_by_whoever_is_alone);
	tcase_add_test(reports, each_account_has_its_turn);
	tcase_add_test(reports, who_starts_much_does_not_keep_others_waiting);
	tcase_add_test(reports, a_recorder_serves_its_accounts_alone);
	tcase_add_test(reports, a_disabled_account_stops_its_recordings);
	tcase_add_test(reports, a_recorder_that_says_nothing_is_removed);
	tcase_add_test(reports, a_former_participant_goes_when_the_next_has_media);
	tcase_add_test(reports, a_session_with_a_file_is_neither_swept_nor_deleted);
	tcase_add_test(reports, a_file_that_is_too_old_lets_its_session_go);
	tcase_add_test(reports, a_recording_is_done_only_when_its_file_is_there);
	tcase_add_loop_test(reports, what_is_left_of_a_failed_recording_is_joined, 0, ROWS(joins));
	tcase_add_test(reports,
		       a_room_is_recorded_by_itself_while_somebody_is_inside_who_may_record);
	tcase_add_test(reports, who_is_recorded_follows_the_template);
	tcase_add_test(reports, an_order_has_what_was_withdrawn);
	tcase_add_test(reports, a_test_has_its_room_made_and_ends_by_itself);
	tcase_add_loop_test(reports, the_chat_is_kept_if_the_template_says_so, 0,
			    ROWS(rules_of_chat));
	tcase_add_test(reports, a_recorder_follows_a_room_that_is_moved);
	tcase_add_test(reports, a_webhook_has_a_link_that_the_log_has_not);
	tcase_add_test(reports, a_deleted_account_leaves_no_work);
	tcase_add_test(reports, the_watch_looks_at_jobs_that_are_due);
	tcase_add_test(reports, a_room_has_one_recording_and_an_account_a_number);
}
