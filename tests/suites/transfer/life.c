/* The worlds of the suite, and the life that leaves one of everything; see life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "directory.h"
#include "life.h"
#include "resources/audit.h"
#include "resources/recordings/job_merge.h"
#include "resources/stored/code_record.h"
#include "resources/stored/media_record.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/stored/revocations.h"
#include "suite.h"

#define OVERLAY_BYTES ((size_t)512 << 10)

/* ---- worlds ---- */

struct fault fault;

/* Opens a world without accounts in a directory, which it takes; NULL for a new one. */
static void open_in(struct world *world, char *directory, int64_t begins)
{
	const struct world_options options = {
		.store = WORLD_GDBM,
		/* A walk takes as long as an overlay's table is wide, and checks walk often. */
		.gdbm.overlay_bytes = OVERLAY_BYTES,
		.directory = directory,
		.is_empty = true,
		.begins = begins,
		.environment = { .join_seconds = DAY, .session_keep = (int64_t)DAY * 1000 },
	};

	world_open(world, &options);
}

void open_new(struct world *world)
{
	open_in(world, NULL, 0);
}

void open_read_only(const struct world *world, struct store **store)
{
	struct store_options options = world->options.gdbm;

	options.is_read_only = true;
	ck_assert_msg(store_gdbm_open(&options, store, &fault), "%s", fault.cause);
}

struct world one, other;

void set_up(void)
{
	fault = FAULT_INITIAL;
	open_new(&one);
	open_new(&other);
}

void tear_down(void)
{
	world_close(&other);
	world_close(&one);
}

/* ---- requests ---- */

char *answer_of(struct world *world, const char *name, enum method method, const char *path,
		const char *body)
{
	struct arena *arena = arena_open();
	struct account account;
	struct reply reply;
	char *copy;

	world_account(world, name, &account);
	reply = world_ask(world, arena, &account, method, path, body);
	copy = strdup(reply.status / 100 == 2
			      ? reply.text
			      : arena_text(arena, "%d %s", reply.status, reply.text));
	arena_close(arena);
	return copy;
}

/* Room for an ID or the key ID of a signing key. */
#define NAME_SIZE 44

void done(struct world *world, enum method method, const char *body, char *id, const char *format,
	  ...)
{
	char path[400];
	va_list arguments;
	char *text;
	json_t *answer;

	va_start(arguments, format);
	(void)vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	text = answer_of(world, "a", method, path, body);
	ck_assert_msg(strchr("{[", text[0]) != NULL, "%s: %s", path, text);
	if (id != NULL) {
		answer = json_loads(text, 0, NULL);
		if (json_object_get(answer, "kid") != NULL)
			memcpy(id, json_string_value(json_object_get(answer, "kid")), NAME_SIZE);
		else
			(void)snprintf(id, 25, "%s",
				       json_string_value(json_object_get(answer, "id")));
		json_decref(answer);
	}
	free(text);
	world->clock.offset += 7000;
}

static const char *const template_one =
	"{\"name\":\"one\",\"default\":true,\"roles\":{\"host\":{\"priority\":2},\"guest\":{},"
	"\"extra\":{}},\"settings\":{\"region\":\"eu\",\"recording\":{\"enabled\":true,\"upload\":"
	"{\"type\":\"s3\",\"location\":\"bucket\",\"prefix\":\"p\",\"credentials\":{\"key\":\"k1\","
	"\"secretKey\":\"k2\"}}},\"recordingRules\":{\"consent\":\"asked\",\"keepDays\":30,"
	"\"chat\":true}},\"destinations\":{\"browserRecordings\":{\"rec\":{\"width\":640,"
	"\"role\":\"host\"}},\"hlsDestinations\":{\"h\":{\"playlistType\":\"live\",\"layers\":[{}]}},\"transcriptions\":"
	"{\"t\":null}},\"plugins\":{\"p\":[null,1]}}";
/* An import of template_one, with more segments than other requests can set. */
#define MORE_SEGMENTS \
	"{\"templates\":[{\"id\":\"%s\",\"destinations\":{\"browserRecordings\":{\"rec\":{\"width\":640}}," \
	"\"hlsDestinations\":{\"h\":{\"playlistType\":\"live\",\"numPlaylistSegments\":150,\"layers\":[{}]}}," \
	"\"transcriptions\":{\"t\":null}}}]}"
static const char *const own_recording =
	"{\"name\":\"Own\",\"webhook\":{\"url\":null},\"polls\":[[]],\"size\":5000,\"large_room\":true,\"recording_info\":{\"enabled\":true,"
	"\"upload_info\":{\"type\":\"gs\",\"location\":\"b\",\"prefix\":\"q\",\"credentials\":"
	"{\"key\":\"k3\",\"secret\":\"k4\"}}}}";

static const char *const limited_code =
	"{\"code\":\"own-words\",\"not_before\":\"2020-01-01T00:00:00Z\",\"expires_at\":"
	"\"2990-01-01T00:00:00Z\",\"max_uses\":5,\"user_id\":\"u\",\"name\":\"n\",\"label\":\"\","
	"\"metadata\":{\"b\":\"1\",\"a\":\"\"}}";

static const char *const backend_livekit =
	"{\"name\":\"lk\",\"type\":\"livekit\",\"url\":\"wss://lk.example.org\",\"default\":true,"
	"\"config\":{\"api_key\":\"k\",\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}";
static const char *const backend_galene =
	"{\"name\":\"two\",\"type\":\"galene\",\"url\":\"https://g.example.org/\",\"ttl\":60}";
static const char *const backends_of_pool[] = {
	"{\"name\":\"leaving\",\"type\":\"livekit\",\"url\":\"wss://a.example.org\",\"pool\":"
	"\"all\",\"weight\":300,\"region\":\"eu\",\"draining\":true,\"config\":{\"api_key\":\"k\","
	"\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}",
	"{\"name\":\"staying\",\"type\":\"livekit\",\"url\":\"wss://b.example.org\",\"pool\":"
	"\"all\",\"config\":{\"api_key\":\"k\","
	"\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}",
};

void add_accounts(struct world *world)
{
	ck_assert(accounts_add(world->directory, world->environment.clock, "a", NULL, &fault));
	ck_assert(accounts_add(world->directory, world->environment.clock, "b", NULL, &fault));
	ck_assert(accounts_rotate(world->directory, world->environment.clock, "b", NULL, &fault));
	ck_assert(accounts_set_enabled(world->directory, "b", false, NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "a", SLICE("operator"), SLICE("on"), NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "a", SLICE("log_joins"), SLICE("on"), NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "a", SLICE("sessions"), SLICE("off"), NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "b", SLICE("live_log"), SLICE("off"), NULL, &fault));
	ck_assert(accounts_set(world->directory, "b", SLICE("embed"),
			       SLICE("https://a,http://localhost:8080"), NULL, &fault));
	ck_assert(accounts_set(world->directory, "b", SLICE("client_url"),
			       SLICE("https://a/#{token}"), NULL, &fault));
}

/* ---- live rooms ---- */

struct id parsed_id(const char *text)
{
	struct id id;

	ck_assert(id_parse(slice_of(text), &id));
	return id;
}

struct id account_id(const struct world *world, const char *name)
{
	struct account account;

	world_account(world, name, &account);
	return account.id;
}

void begin_call(struct world *world, struct call *call)
{
	const struct id account = account_id(world, "a");

	world_begin(world, &account, call);
}

void commit_call(struct call *call)
{
	struct store *store = call->environment->store;

	ck_assert(store_wait(store, world_commit(call), &fault));
}

void merge_reports(struct world *world, const char *room, const char *backend,
		   const struct reported *reported, size_t count)
{
	struct environment environment = world->environment;

	/* With the settings of now. */
	ck_assert(accounts_open(world->directory, &environment.accounts, &fault));
	for (size_t i = 0; i < count; i++) {
		const int64_t now = world_now(world);
		const struct report report = {
			.type = reported[i].type,
			.room = { slice_of(room), SLICE("RM_1"), 1000 },
			.person = { .stay = slice_of(reported[i].stay),
				    .identity = slice_of(reported[i].stay),
				    .user_id = SLICE("user"),
				    .role = slice_of(reported[i].role),
				    .entry = slice_of(reported[i].entry),
				    .code = SLICE("0123456789abcdef"),
				    .name = SLICE("Known"),
				    .metadata = SLICE("data"),
				    .joined = now - 1000,
				    .is_by_phone = reported[i].is_by_phone },
			.time = now,
		};
		struct merging merging = {
			.room = parsed_id(room),
			.backend = parsed_id(backend),
			.reports = &report,
			.count = 1,
			.is_survey = reported[i].type == REPORT_LISTED,
			.surveyed = now,
		};
		struct call call;

		begin_call(world, &call);
		call.environment = &environment;
		ck_assert(live_merge(&call, &merging, &fault));
		/* The tests are the slower, the more records there are. */
		call.run.noted = (struct notes){ .count = 0 };
		commit_call(&call);
		world->clock.offset += 7000;
	}
	accounts_close(environment.accounts);
}

static void set_sessions(struct world *world, const char *value)
{
	ck_assert(accounts_set(world->directory, "a", SLICE("sessions"), slice_of(value), NULL,
			       &fault));
}

/* Notes that somebody and then everybody is put out, which the media server has not done yet, and
 * gives somebody a role. */
static void decide(struct world *world, const char *room)
{
	struct ending ending = { .room = parsed_id(room), .reason = SLICE("over") };
	struct given_role given = { .role = SLICE("speaker"),
				    .has_consent = true,
				    .consented = 1764500000000,
				    .consent_text = SLICE("en-1") };
	struct peer_page peers = { .side = STORE_ON, .most = 1 };
	struct peer peer;
	struct live in_session;
	struct call call;

	begin_call(world, &call);
	ck_assert(live_load(&call, &ending.room, STORE_TO_CHANGE, &in_session, &fault) &&
		  peers_read(&call, &in_session.session, &peers, &fault));
	ck_assert_uint_eq(peers.count, 1);
	in_session.left_unseen = true;
	ck_assert(record_put(&live_table, call.transaction, &in_session, &fault) &&
		  record_get(&peer_table, call.transaction, &peers.peers[0].stored.id,
			     STORE_TO_CHANGE, &peer, &fault));
	peer.order_last = true;
	peer.name_origin = NAME_GIVEN;
	peer.new_name = SLICE("Ada (2)");
	peer.consented = 1764500000000;
	peer.withdrawn = 1764500001234;
	peer.consent_text = SLICE("en-1");
	ck_assert(live_order_out(&call, &ending.room, &peer, LEAVE_FULL, SLICE("why"), &fault) &&
		  revocation_add(&call, &ending.room, SLICE("e1"), LEAVE_REMOVED, SLICE("why"),
				 &fault) &&
		  revocation_add_room(&call, &ending.room, &fault));
	ending.by = &peer;
	ending.locks = true;
	given.stored.parent = in_session.session;
	given.stored.id = given_role_id(&in_session.session, false, SLICE("user"));
	ck_assert(live_order_end(&call, &ending, &fault) &&
		  record_put(&given_role_table, call.transaction, &given, &fault));
	commit_call(&call);
}

/* Leaves a session that has closed and one that is active: somebody is inside twice, others were
 * missing from a survey, and some are anonymous. */
static void meet(struct world *world, const char *room, const char *backend)
{
	static const struct reported known[] = {
		{ REPORT_JOINED, "PA_1", "speaker", "", false },
		{ REPORT_LEFT, "PA_1", "speaker", "", false },
		{ REPORT_ENDED, "", "", "", false },
		{ REPORT_JOINED, "PA_2", "speaker", "e1", false },
		{ REPORT_JOINED, "PA_3", "speaker", "e1", false },
		{ REPORT_JOINED, "PA_4", "", "e2", true },
		{ REPORT_LISTED, "PA_2", "speaker", "e1", false },
	};
	static const struct reported anonymous[] = {
		{ REPORT_JOINED, "PA_5", "listener", "e3", false },
		{ REPORT_JOINED, "PA_6", "listener", "e4", false },
		{ REPORT_LEFT, "PA_6", "listener", "e4", false },
	};

	set_sessions(world, "on");
	merge_reports(world, room, backend, known, ROWS(known));
	set_sessions(world, "off");
	merge_reports(world, room, backend, anonymous, ROWS(anonymous));
	decide(world, room);
}

/* Leaves a recording of the session that is active, with two files, which has every member. */
static void record_session(struct world *world, const char *room)
{
	struct work_file files[] = {
		{ .name = SLICE("recording.mp4"),
		  .bytes = 5000,
		  .duration = 61000,
		  .width = 1280,
		  .height = 720 },
		{ .name = SLICE("chat.csv"), .bytes = 50, .is_chat = true },
	};
	struct asset_gap gap = { 1000, 2000 };
	struct work_report report = { .n = 1,
				      .epoch = 1,
				      .recorder = SLICE("studio"),
				      .boot = SLICE("b"),
				      .folder = SLICE("f1"),
				      .state = WORK_RUNNING,
				      .part = 1,
				      .recorded = 61000,
				      .has_space = true,
				      .error = SLICE("why"),
				      .gaps = &gap,
				      .gap_count = 1,
				      .files = files,
				      .file_count = 2 };
	struct job job = { .room_name = SLICE("Followed"),
			   .room_title = SLICE("title"),
			   .meeting_url = SLICE("https://a.example"),
			   .destination = SLICE("school"),
			   .started_by = SLICE("p1"),
			   .started_name = SLICE("Ada"),
			   .start_actor = SLICE("{\"kind\":\"service\",\"id\":\"\"}"),
			   .is_automatic = true,
			   .is_test = true,
			   .look = { 1280, 720, 25, 1500, 96, true, SLICE("[\"host\"]"),
				     CONSENT_ASKED, true },
			   .most = 1,
			   .empty_most = 1,
			   .presign_seconds = 60,
			   .keep = { 3, 2, 1 },
			   .not_enforced = SLICE("[\"transcription\"]"),
			   .folder = SLICE("f1") };
	struct recording_times times = RECORDING_TIMES;
	const struct job_room inside = { .is_there = true, .inside = 1 };
	struct job_news news = { .peer = SLICE("p2"),
				 .actor = SLICE("{\"kind\":\"service\",\"id\":\"\"}"),
				 .report = &report,
				 .room = &inside,
				 .times = &times };
	static const enum job_news_type told[] = { NEWS_TAKEN, NEWS_REPORT, NEWS_PAUSE, NEWS_RESUME,
						   NEWS_STOP };
	struct store_record oldest;
	struct store_page page = { .order = STORE_OLDEST_FIRST,
				   .side = STORE_OFF,
				   .parent = &job.stored.parent,
				   .records = &oldest,
				   .most = 1 };
	struct session session;
	struct live live;
	struct work work;
	struct call call;
	struct asset *assets;
	struct job failed;
	unsigned acts;
	size_t n;

	begin_call(world, &call);
	ck_assert(id_parse(slice_of(room), &job.stored.parent) &&
		  live_load(&call, &job.stored.parent, STORE_TO_SHOW, &live, &fault));
	job.session = live.session;
	job.template_id = live.session;
	job.pauses = arena_zero(call.arena, 4 * sizeof *job.pauses);
	failed = job;
	report.media = call.now + 61000;
	ck_assert(job_begin(&call, &job, &fault) &&
		  job_load(&call, &job.stored.id, STORE_TO_CHANGE, &job, &fault) &&
		  work_load(&call, &job, STORE_TO_CHANGE, &work, &fault));
	for (int i = 0; i < ROWS(told); i++) {
		news.type = told[i];
		news.now = call.now + 62000;
		news.reason = JOB_CLIENT_REQUEST;
		report.n++;
		ck_assert(job_apply(&call, &job, &work, &news, &acts, &fault));
	}
	news.type = NEWS_REPORT;
	report.n++;
	report.state = WORK_DONE;
	ck_assert(job_apply(&call, &job, &work, &news, &acts, &fault));
	/* Members that only other histories leave. */
	job.error = SLICE("why");
	job.parts_before = 1;
	job.recorded_before = 1;
	job.is_saved = true;
	job.heard_n = job.epoch = job.rev = 1;
	job.storage = SLICE("{\"type\":\"s3\",\"location\":\"lessons\",\"prefix\":\"\"}");
	/* Members of streams. */
	job.live_key = SLICE("hZk2m0cVQ1yJw5nT3rXb7A");
	job.live_window = 6;
	job.has_vod = job.has_single_file = job.has_recording = true;
	job.outputs = arena_zero(call.arena, 2 * sizeof *job.outputs);
	job.outputs[0] = (struct job_output){ .url = SLICE("rtmp://a.example/{...}"),
					      .state = OUTPUT_FAILED,
					      .since = call.now,
					      .error = SLICE("no answer") };
	job.output_count = 1;
	ck_assert(job_put(&call, &job, &fault));

	ck_assert(assets_of_job(&call, &job.stored.id, &assets, &n, &fault));
	ck_assert_uint_eq(n, 2);
	ck_assert(asset_set_missing(&call, &assets[0], true, &fault));
	assets[1].storage = job.storage;
	ck_assert(record_put(&asset_table, call.transaction, &assets[1], &fault));

	/* One without files, which ends; and the session before was ended by a call. */
	news.type = NEWS_FAILED;
	news.error = SLICE("why");
	ck_assert(job_begin(&call, &failed, &fault) &&
		  job_load(&call, &failed.stored.id, STORE_TO_CHANGE, &failed, &fault) &&
		  work_load(&call, &failed, STORE_TO_CHANGE, &work, &fault) &&
		  job_apply(&call, &failed, &work, &news, &acts, &fault));
	ck_assert(store_page(call.transaction, &kind_session, &page, &fault));
	ck_assert_uint_eq(page.count, 1);
	ck_assert(session_load(&call, &oldest.id, STORE_TO_CHANGE, &session, &fault));
	session.was_ended = true;
	ck_assert(record_put(&session_table, call.transaction, &session, &fault));
	commit_call(&call);
}

/* Nobody follows rooms here, so POST /v2/backends/{id}/move cannot be called. */
static void move_rooms(struct world *world, const char *backend)
{
	const struct id id = parsed_id(backend);
	struct media media;
	struct call call;

	begin_call(world, &call);
	ck_assert(media_load(&call, STORE_TO_CHANGE, &media, &fault));
	media_backend(&media, &id)->moved_by = audit_service_text(call.arena);
	ck_assert(media_put(&call, &media, &fault));
	commit_call(&call);
}

/* The role `late` is added last: rooms whose codes were all requested have a code of it due. */
static void live_once(struct world *world, struct life *life)
{
	char body[300], gone[25], made[NAME_SIZE];

	add_accounts(world);
	done(world, METHOD_POST, "{\"alg\":\"ES256\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, "{\"alg\":\"ES256\"}", made, "/v2/signing-keys");
	done(world, METHOD_POST, NULL, NULL, "/v2/signing-keys/%s/activate", made);
	done(world, METHOD_POST, "{\"alg\":\"EdDSA\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, "{\"alg\":\"RS256\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, "{\"alg\":\"RS256\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, backend_livekit, life->livekit, "/v2/backends");
	done(world, METHOD_POST, backend_galene, NULL, "/v2/backends");
	done(world, METHOD_POST, backends_of_pool[1], NULL, "/v2/backends");
	done(world, METHOD_POST, backends_of_pool[0], made, "/v2/backends");
	move_rooms(world, made);
	done(world, METHOD_POST, "{\"name\":\"first\",\"scopes\":[\"rooms:read\"]}", NULL,
	     "/v2/keys");
	done(world, METHOD_POST, "{\"name\":\"gone\",\"scopes\":[\"rooms:read\"]}", made,
	     "/v2/keys");
	done(world, METHOD_POST,
	     "{\"name\":\"second\",\"scopes\":[\"keys:write\",\"codes:read\"],\"expires_at\":"
	     "\"2999-01-01T00:00:00Z\"}",
	     NULL, "/v2/keys");
	done(world, METHOD_DELETE, NULL, NULL, "/v2/keys/%s", made);
	done(world, METHOD_POST,
	     "{\"url\":\"https://a.example/h\",\"headers\":{\"X-A\":\"one\"},\"events\":"
	     "[\"room.*\",\"key.created\"]}",
	     made, "/v2/webhooks");
	done(world, METHOD_POST, NULL, NULL, "/v2/webhooks/%s/rotate", made);
	done(world, METHOD_POST, "{\"url\":\"https://b.example\"}", made, "/v2/webhooks");
	done(world, METHOD_DELETE, NULL, NULL, "/v2/webhooks/%s", made);
	done(world, METHOD_POST, "{\"url\":\"https://c.example\",\"enabled\":false}", NULL,
	     "/v2/webhooks");
	done(world, METHOD_POST, template_one, life->one, "/v2/templates");
	done(world, METHOD_POST, "[{\"name\":\"r\",\"role\":\"host\"}]", NULL,
	     "/v2/templates/%s/recordings", life->one);
	(void)snprintf(body, sizeof body, MORE_SEGMENTS, life->one);
	done(world, METHOD_POST, body, NULL, "/v2/import");
	done(world, METHOD_POST, "{\"name\":\"gone\"}", gone, "/v2/templates");
	done(world, METHOD_POST,
	     "{\"name\":\"two\",\"settings\":{\"backend\":\"two\",\"recordingRules\":{\"keepDays\":30}},"
	     "\"roles\":{\"host\":{\"title\":\"H\\u00e4upter\"},\"only\":{},\"extra\":{}}}",
	     life->two, "/v2/templates");
	done(world, METHOD_PATCH, "{\"recordingRules\":{\"keepDays\":7}}", NULL,
	     "/v2/templates/%s/settings", life->two);
	done(world, METHOD_DELETE, NULL, NULL, "/v2/templates/%s", gone);
	done(world, METHOD_POST, "{\"name\":\"Followed\",\"title\":\"F\\u00fcr Alice\"}",
	     life->followed, "/v2/rooms");
	done(world, METHOD_POST, own_recording, life->own, "/v2/rooms");
	done(world, METHOD_POST, "{\"name\":\"gone\"}", gone, "/v2/rooms");
	done(world, METHOD_POST, "{\"name\":\"moved\"}", life->moved, "/v2/rooms");
	(void)snprintf(body, sizeof body, "{\"template_id\":\"%s\",\"description\":\"d\"}",
		       life->two);
	done(world, METHOD_POST, body, life->off, "/v2/rooms");
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s", life->followed);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s", life->moved);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s", gone);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s/role/host", life->own);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s/role/guest", life->own);
	/* Its place in the list stays empty. */
	done(world, METHOD_POST, "{\"code\":\"gone-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/host", life->own);
	done(world, METHOD_DELETE, NULL, NULL, "/v2/room-codes/code/%s", "gone-words");
	done(world, METHOD_POST, limited_code, NULL, "/v2/room-codes/room/%s/role/host", life->own);
	done(world, METHOD_POST, "{\"code\":\"own-words\",\"user_id\":\"u\"}", NULL, "/v2/token");
	done(world, METHOD_POST, "{\"max_uses\":1,\"label\":\"l\"}", NULL,
	     "/v2/room-codes/room/%s/role/guest", life->own);
	done(world, METHOD_POST, "{\"grace_seconds\":1}", NULL,
	     "/v2/room-codes/room/%s/role/host/rotate", life->own);
	done(world, METHOD_POST, "{\"code\":\"gone-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/host", gone);
	done(world, METHOD_PATCH,
	     "{\"opens_at\":\"2020-01-01T00:00:00Z\",\"closes_at\":\"2990-01-01T00:00:00Z\"}", NULL,
	     "/v2/rooms/%s", life->own);
	done(world, METHOD_DELETE, NULL, NULL, "/v2/rooms/%s", gone);
	done(world, METHOD_PATCH, "{\"name\":\"chief\"}", NULL, "/v2/templates/%s/roles/host",
	     life->one);
	done(world, METHOD_DELETE, NULL, NULL, "/v2/templates/%s/roles/guest", life->one);
	done(world, METHOD_PATCH, body, NULL, "/v2/rooms/%s", life->moved);
	done(world, METHOD_PATCH, "{\"enabled\":false}", NULL, "/v2/rooms/%s", life->off);
	/* The text of its template has a warning. */
	done(world, METHOD_POST, "{\"admission\":\"ask\"}", NULL, "/v2/templates/%s/roles/late",
	     life->one);
	meet(world, life->followed, life->livekit);
	record_session(world, life->followed);
	(void)snprintf(body, sizeof body, "{\"user_id\":\"m\",\"room_id\":\"%s\"}", life->own);
	done(world, METHOD_POST, body, NULL, "/v2/bans");
	done(world, METHOD_POST,
	     "{\"user_id\":\"m\",\"reason\":\"noise\",\"expires_at\":\"2990-01-01T00:00:00Z\"}",
	     NULL, "/v2/bans");
	done(world, METHOD_POST, "{\"code\":\"banned-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/extra", life->followed);
	done(world, METHOD_POST, "{\"code\":\"banned-words\"}", NULL, "/v2/bans");
	done(world, METHOD_PATCH, "{\"enabled\":true}", NULL, "/v2/room-codes/code/%s",
	     "banned-words");
	done(world, METHOD_POST, "{\"user_id\":\"gone\"}", made, "/v2/bans");
	done(world, METHOD_DELETE, NULL, NULL, "/v2/bans/%s", made);
	done(world, METHOD_POST,
	     "{\"code\":\"waiting-words\",\"user_id\":\"w\",\"admission\":\"ask\"}", NULL,
	     "/v2/room-codes/room/%s/role/extra", life->followed);
	done(world, METHOD_POST, "{\"code\":\"waiting-words\",\"wait\":true}", NULL, "/v2/token");
}

/* What the life left, for all tests of a case. */
static struct {
	struct life life;
	char *directory;
	int64_t ended; /* by its clock */
} left;

void set_up_life(void)
{
	struct world world;

	fault = FAULT_INITIAL;
	open_new(&world);
	live_once(&world, &left.life);
	left.ended = world_now(&world);
	left.directory = world_leave(&world);
}

void tear_down_life(void)
{
	directory_remove(left.directory);
}

void live(struct world *world, struct life *life)
{
	world_close(world);
	open_in(world, directory_copy(left.directory), left.ended);
	*life = left.life;
}

void open_left(struct world *world, char *directory)
{
	open_in(world, directory, left.ended);
}

/* The paths whose GET responses are compared, one per line. */
static const char *const shown[] = {
	"/v2/templates?limit=100",
	"/v2/templates?default=true",
	"/v2/rooms?limit=100",
	"/v2/rooms?enabled=false",
	"/v2/templates/%s",
	"/v2/templates/%s/settings",
	"/v2/templates/%s/roles",
	"/v2/templates/%s/destinations",
	"/v2/templates/%s/recordings",
	"/v2/rooms?template_id=%s",
	"/v2/signing-keys",
	"/v2/backends",
	"/v2/keys",
	"/v2/webhooks",
	"/v2/bans",
	"/v2/bans?user_id=m",
};

void compare_shown(const char *ids[], size_t n)
{
	for (size_t i = 0; i < ROWS(shown); i++) {
		for (size_t j = 0; j < n; j++) {
			struct arena *arena = arena_open();
			const char *place = strstr(shown[i], "%s");
			size_t before = place == NULL ? strlen(shown[i])
						      : (size_t)(place - shown[i]);
			const char *path = arena_text(arena, "%.*s%s%s", (int)before, shown[i],
						      place == NULL ? "" : ids[j],
						      place == NULL ? "" : place + 2);
			char *first = answer_of(&one, "a", METHOD_GET, path, NULL);
			char *second = answer_of(&other, "a", METHOD_GET, path, NULL);

			ck_assert(first[0] == '{' || first[0] == '[');
			ck_assert_msg(strcmp(first, second) == 0, "%s:\n%s\n%s", path, first,
				      second);
			free(first);
			free(second);
			arena_close(arena);
		}
	}
}

/* ---- after a life ---- */

void enqueue_events(struct world *world, const char *name, size_t n)
{
	struct arena *arena = arena_open();
	const struct audit_entry entry = {
		.time = clock_now(&clock_system),
		.id = SLICE("3f0c4d3e-8f8c-4ab1-9b5f-2f7f6d1f0a11"),
		.type = SLICE("room.created"),
		.actor = SLICE("{\"type\":\"service\"}"),
		.request_id = SLICE("r"),
		.data = SLICE("{}"),
	};
	const struct id account = account_id(world, name);
	struct transaction *transaction;
	uint64_t number;

	ck_assert(store_begin(world->environment.store, STORE_WRITE, arena, &transaction, &fault));
	store_set_account(transaction, &account);
	for (size_t i = 0; i < n; i++)
		ck_assert(audit_enqueue(transaction, &clock_system, &entry, 1,
					clock_now(&clock_system) + (int64_t)i, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(world->environment.store, number, &fault));
	arena_close(arena);
}

struct id made_id(uint32_t seconds, uint64_t number)
{
	return id_make(&clock_system, seconds, number);
}

/* Requests that read stored JSON: everything that templates, rooms, codes, media servers and
 * webhooks can be used for. %s stands for the ID of the object. */
static const struct {
	char kind; /* t: template, r: room, b: backend, w: webhook, -: none */
	enum method method;
	const char *path, *body;
} readers[] = {
	{ 't', METHOD_GET, "/v2/templates/%s", NULL },
	{ 't', METHOD_PATCH, "/v2/templates/%s?validate_only=true",
	  "{\"plugins\":{\"q\":1},\"settings\":{\"region\":\"in\"},\"destinations\":{}}" },
	{ 't', METHOD_POST, "/v2/templates/%s?validate_only=true",
	  "{\"plugins\":{},\"settings\":{\"region\":\"in\"},\"destinations\":{},\"roles\":{}}" },
	{ 't', METHOD_PATCH, "/v2/templates/%s/settings?validate_only=true",
	  "{\"region\":\"in\"}" },
	{ 't', METHOD_PATCH, "/v2/templates/%s/destinations?validate_only=true",
	  "{\"transcriptions\":{}}" },
	{ 't', METHOD_POST, "/v2/templates/%s/roles/chief?validate_only=true", "{\"name\":\"x\"}" },
	{ 't', METHOD_PATCH, "/v2/templates/%s/roles/late?validate_only=true", "{\"priority\":3}" },
	{ 't', METHOD_DELETE, "/v2/templates/%s/roles/late?validate_only=true", NULL },
	{ 'r', METHOD_GET, "/v2/rooms/%s", NULL },
	{ 'r', METHOD_PATCH, "/v2/rooms/%s?validate_only=true",
	  "{\"description\":\"z\",\"polls\":[]}" },
	{ 'r', METHOD_POST, "/v2/rooms/%s?validate_only=true",
	  "{\"recording_info\":{\"upload_info\":{\"type\":\"gs\",\"location\":\"b\"}}}" },
	{ 'r', METHOD_DELETE, "/v2/rooms/%s?validate_only=true", NULL },
	{ 'r', METHOD_POST, "/v2/room-codes/room/%s?validate_only=true", NULL },
	{ '-', METHOD_POST, "/v2/import?validate_only=true",
	  "{\"templates\":[{\"name\":\"one\"}],\"rooms\":[{\"name\":\"Own\",\"polls\":[]}]}" },
	{ '-', METHOD_GET, "/v2/room-codes/code/own-words", NULL },
	{ '-', METHOD_PATCH, "/v2/room-codes/code/own-words?validate_only=true",
	  "{\"label\":\"z\",\"metadata\":{\"z\":\"\"}}" },
	{ '-', METHOD_GET, "/v2/join/own-words", NULL },
	{ '-', METHOD_POST, "/v2/token?validate_only=true", "{\"code\":\"own-words\"}" },
	{ 'b', METHOD_GET, "/v2/backends/%s", NULL },
	{ 'b', METHOD_PATCH, "/v2/backends/%s?validate_only=true", "{\"ttl\":99}" },
	{ 'w', METHOD_GET, "/v2/webhooks/%s", NULL },
	{ 'w', METHOD_PATCH, "/v2/webhooks/%s?validate_only=true", "{\"description\":\"z\"}" },
	{ 'w', METHOD_POST, "/v2/webhooks/%s/test", "{}" },
	{ '-', METHOD_GET, "/v2/events", NULL },
};

void last_of(const char *path, char id[25])
{
	char *text = answer_of(&one, "a", METHOD_GET, path, NULL);
	json_t *answer = json_loads(text, 0, NULL), *list = json_object_get(answer, "data");

	ck_assert_uint_gt(json_array_size(list), 0);
	(void)snprintf(id, 25, "%s",
		       json_string_value(json_object_get(
			       json_array_get(list, json_array_size(list) - 1), "id")));
	json_decref(answer);
	free(text);
}

char *ask_reader(size_t i, const struct life *life, const char *backend, const char *webhook)
{
	const char *id, *place;
	char path[200];

	if (i >= ROWS(readers))
		return NULL;
	id = readers[i].kind == 't'   ? life->one
	     : readers[i].kind == 'r' ? life->own
	     : readers[i].kind == 'b' ? backend
				      : webhook;
	place = strstr(readers[i].path, "%s");
	(void)snprintf(path, sizeof path, "%.*s%s%s",
		       place == NULL ? 200 : (int)(place - readers[i].path), readers[i].path,
		       place == NULL ? "" : id, place == NULL ? "" : place + 2);
	return answer_of(&one, "a", readers[i].method, path, readers[i].body);
}

unsigned ask_all(const struct life *life, const char *backend, const char *webhook)
{
	unsigned damaged = 0;
	char *text;

	for (size_t i = 0; (text = ask_reader(i, life, backend, webhook)) != NULL; i++) {
		/* A GET that returns the stored text begins with the damaged byte. */
		ck_assert_msg(text[0] == '\0' || strchr("{(4\xff", text[0]) != NULL ||
				      strncmp(text, "503 ", 4) == 0,
			      "%s: %s", readers[i].path, text);
		damaged += strncmp(text, "503 ", 4) == 0;
		free(text);
	}
	return damaged;
}
