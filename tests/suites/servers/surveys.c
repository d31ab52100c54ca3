/* Surveys of rooms: who is found inside, who has left, and one of the people inside.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "kit.h"
#include "resources/recordings/job_merge.h"
#include "suite.h"

/* ---- a media server with a room ---- */

START_TEST(a_survey_finds_who_has_joined)
{
	char joined[TEXT_TIME_SIZE];
	const json_t *peer;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	peer = first_peer();
	text_time_milliseconds(kit.people[0].joined, joined);
	ck_assert_str_eq(text_at(peer, "user_id"), "ada");
	ck_assert_str_eq(text_at(peer, "role"), "host");
	ck_assert_str_eq(text_at(peer, "joined_at"), joined);
	ck_assert_uint_eq(events("session.open.success"), 1);
	ck_assert_uint_eq(events("peer.join.success"), 1);
	ck_assert_str_eq(text_at(health_of(backend_path), "state"), "up");
	/* The event, when it comes, reports nothing new. */
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	restart_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	ck_assert_uint_eq(events("peer.*"), 1);
}
END_TEST

/* Somebody who is missing is asked for again 5 s later. */
START_TEST(surveys_find_who_has_left)
{
	const char *path = "/v2/events?type=peer.leave.success", *event;
	int64_t removed;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	kit_people(NULL, NULL);
	removed = clock_monotonic();
	(void)ask(200, METHOD_GET, room_path, NULL); /* has it surveyed */
	(void)ask_until(room_path, "\"peer_count\":0");
	ck_assert(clock_monotonic() - removed >= 5000);
	ck_assert(clock_monotonic() - removed < 12000);
	event = ask_until(path, "peer.leave");
	ck_assert_ptr_nonnull(strstr(event, "\"reason\":\"server removed peer\""));
	ck_assert_ptr_nonnull(strstr(event, "\"cause\":\"unseen\""));
	/* It had not left: it is a new stay. */
	kit_people("PA_1", "e1");
	(void)ask_until(room_path, "\"peer_count\":1");
	ck_assert_uint_eq(events("peer.join.success"), 2);
	/* From inside, its name is still that of the media server. */
	bearer = token_with_entry("e1");
	(void)ask(200, METHOD_GET, arena_text(stand.arena, "%s/peers/PA_1", room_path), NULL);
}
END_TEST

/* Unless somebody of it comes back: then the server was restarted. */
START_TEST(a_room_that_was_made_again_is_another_session)
{
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	kit_room("RM_2", clock_now(&clock_system));
	kit_people(NULL, NULL);
	kit_join("PA_2", "eve", "eve", "e2");
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)ask_until("/v2/sessions?active=false", "\"active\":false");
	(void)ask_until(room_path, "\"peer_count\":1");
	ck_assert_uint_eq(events("session.open.success"), 2);
	ck_assert_uint_eq(events("session.close.success"), 1);
	ck_assert_uint_eq(events("peer.leave.success"), 1);
	kit_people(NULL, NULL);
	kit_room("RM_3", clock_now(&clock_system));
	kit_join("PA_3", "eve", "eve", "e2");
	kit_join("PA_4", "ada#1", "ada", "e1");
	(void)ask_until(room_path, "\"peer_count\":2");
	ck_assert_uint_eq(events("session.open.success"), 2);
	ck_assert_uint_eq(events("session.close.success"), 1);
	ck_assert_uint_eq(events("peer.leave.success"), 2);
	ck_assert_uint_eq(events("peer.join.success"), 4);
}
END_TEST

static const struct {
	enum how how;
	const char *message;
} bad_answers[] = {
	{ HANGS, "timed out" },
	{ TELLS_NONSENSE, "not a LiveKit" },
	{ TELLS_TOO_MUCH, "too many people to list" },
	{ HAS_ANOTHER_KEY, "wrong key" },
	{ FAILS, "status 500" },
};

START_TEST(nobody_leaves_because_a_server_does_not_answer)
{
	int64_t told;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	kit_set(bad_answers[_i].how);
	restart_watch();
	(void)ask_until(backend_path, "\"state\":\"down\"");
	ck_assert_str_eq(text_at(health_of(backend_path), "message"), bad_answers[_i].message);
	ck_assert_uint_eq(events("backend.down"), 1);
	(void)ask_until(room_path, "\"peer_count\":1");
	ck_assert_uint_eq(events("peer.leave.success"), 0);
	/* It is asked again at once when it sends an event. */
	kit_set(ANSWERS);
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	told = clock_monotonic();
	(void)ask_until(backend_path, "\"state\":\"up\"");
	ck_assert(clock_monotonic() - told < 5000);
	ck_assert_uint_eq(events("backend.up"), 1);
	ck_assert_uint_eq(events("peer.*"), 1);
}
END_TEST

/* It had answered before the program was started again. */
START_TEST(a_server_that_was_down_at_the_start_is_asked_every_30_s)
{
	size_t before;

	start_watch();
	(void)ask_until(backend_path, "\"state\":\"up\"");
	kit_set(FAILS);
	ck_assert_str_eq(text_at(test_backend(backend_path), "state"), "down");
	before = receiver_count(stand.receiver);
	restart_watch();
	ck_assert(receiver_wait(stand.receiver, before + 1));
	kit_set(ANSWERS);
	(void)ask_for(backend_path, "\"state\":\"up\"", 45000);
}
END_TEST

/* The media server does not list the room any more, so the records say that it was in session. */
START_TEST(a_room_that_is_gone_at_the_start_is_looked_at)
{
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	stop_watch();
	kit_people(NULL, NULL);
	kit_room("", 0);
	world_restart(&stand);
	start_watch();
	ck_assert_ptr_nonnull(strstr(ask_until("/v2/events?type=peer.leave.success", "peer.leave"),
				     "\"cause\":\"unseen\""));
}
END_TEST

/* ---- one of the people inside ---- */

START_TEST(a_peer_alone_has_its_tracks)
{
	const char *path;
	const json_t *peer, *tracks, *track;
	char joined[TEXT_TIME_SIZE], started[TEXT_TIME_SIZE];

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = peer_path();
	peer = parsed(ask(200, METHOD_GET, path, NULL));
	text_time_milliseconds(kit.people[0].joined, joined);
	text_time_milliseconds(kit.people[0].joined + 1500, started);
	ck_assert_str_eq(text_at(peer, "id"), strrchr(path, '/') + 1);
	ck_assert_str_eq(text_at(peer, "name"), "Ada");
	ck_assert_str_eq(text_at(peer, "metadata"), "m");
	tracks = json_object_get(peer, "tracks");
	ck_assert_uint_eq(json_object_size(tracks), 2);
	track = json_object_get(tracks, "TR_1");
	ck_assert(json_equal(
		track,
		arena_json(stand.arena, json_pack("{s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "id",
						  "TR_1", "stream_id", text_at(peer, "id"), "mute",
						  1, "type", "video", "source", "screen",
						  "started_at", started, "description", ""))));
	/* No track is older than the stay. */
	track = json_object_get(tracks, "TR_2");
	ck_assert_str_eq(text_at(track, "started_at"), joined);
	ck_assert_str_eq(text_at(track, "source"), "regular");
	ck_assert_str_eq(text_at(track, "type"), "audio");
	ck_assert(json_is_false(json_object_get(track, "mute")));
}
END_TEST

static const struct {
	enum how how;
	bool is_gone;
	const char *sid;
	int status;
	const char *answer;
} asked_peers[] = {
	{ ANSWERS, true, NULL, 404, "{\"code\":404,\"message\":\"peer not found\"}" },
	/* The same person, back in another stay. */
	{ ANSWERS, false, "PA_2", 404, "{\"code\":404,\"message\":\"peer not found\"}" },
	{ LACKS_EVERYBODY, false, "PA_1", 404, "{\"code\":404,\"message\":\"peer not found\"}" },
	{ FAILS, false, "PA_1", 502,
	  "{\"code\":502,\"message\":\"The media server does not answer\",\"details\":[\"status 500\"]}" },
	{ HAS_ANOTHER_KEY, false, "PA_1", 502,
	  "{\"code\":502,\"message\":\"The media server does not answer\",\"details\":[\"wrong key\"]}" },
	{ TELLS_NONSENSE, false, "PA_1", 502,
	  "{\"code\":502,\"message\":\"The media server does not answer\",\"details\":[\"not a LiveKit\"]}" },
	{ HANGS, false, "PA_1", 502,
	  "{\"code\":502,\"message\":\"The media server does not answer\",\"details\":[\"timed out\"]}" },
};

START_TEST(a_peer_is_asked_for_at_the_server)
{
	struct call call = { .arena = NULL };
	const char *path;

	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	path = peer_path();
	kit_set(asked_peers[_i].how);
	kit_people(asked_peers[_i].sid, "e1");
	call.arena = arena_open();
	set_request(&call, METHOD_GET, path, NULL);
	carry_out(&call);
	ck_assert_str_eq(body_of(&call), asked_peers[_i].answer);
	ck_assert_int_eq(call.answer.status, asked_peers[_i].status);
	if (call.answer.status == 502)
		ck_assert(slice_is(call_find_header(&call, "Retry-After"), "5"));
	arena_close(call.arena);
}
END_TEST

/* ---- names ---- */

/* Expects the last change of a person at the media server. */
static void expect_name(const char *identity, const char *name, const char *origin)
{
	const int64_t end = clock_monotonic() + 30000;
	const json_t *update;

	do {
		update = await_request(UPDATE);
		ck_assert_msg(clock_monotonic() < end, "%s is not called %s", identity, name);
		(void)poll(NULL, 0, 20);
	} while (json_object_get(update, "name") == NULL ||
		 strcmp(text_at(update, "name"), name) != 0 ||
		 strcmp(text_at(update, "identity"), identity) != 0);
	ck_assert_str_eq(text_at(json_object_get(update, "attributes"), "anteroom.name"), origin);
}

static void kit_call(size_t i, const char *name)
{
	pthread_mutex_lock(&kit.lock);
	(void)snprintf(kit.people[i].name, sizeof kit.people[i].name, "%s", name);
	pthread_mutex_unlock(&kit.lock);
}

/* Two people came with tokens that have the same name. */
START_TEST(who_has_the_name_of_another_gets_a_number)
{
	const char *peers = arena_text(stand.arena, "%s/peers?user_id=eve", room_path);

	kit_join("PA_2", "eve#1", "eve", "e2");
	kit_call(1, "ADA");
	start_watch();
	(void)ask_until(peers, "\"name\":\"ADA (2)\"");
	expect_name("eve#1", "ADA (2)", "");
	/* It is told once. */
	(void)ask(200, METHOD_PATCH, filled("/v2/rooms/ROOM"), "{\"enabled\":false}");
	(void)await_request(END);
	ck_assert_uint_eq(requests_of(UPDATE), 1);
}
END_TEST

/* Eve, who is inside with Ada, is called otherwise. */
static const struct {
	const char *name; /* as sent */
	bool is_inside; /* the caller, who is Eve */
	const char *shown, *origin;
	const char *ada; /* what Ada is called then */
} renamings[] = {
	{ "Bob", true, "Bob", "", "Ada" },
	{ "a\xef\xbc\xa4"
	  "A",
	  true,
	  "a\xef\xbc\xa4"
	  "A (2)",
	  "", "Ada" },
	{ "\\u202eEve\\u2066", true, "Eve", "", "Ada" },
	{ "Bob", false, "Bob", "given", "Ada" },
	{ "\\u202eEve\\u2066", false, "Eve", "given", "Ada" },
	{ "ada", false, "ada", "given", "Ada (2)" },
};

START_TEST(who_takes_the_name_of_another_gets_a_number)
{
	const char *path, *answer;

	kit_join("PA_2", "eve#1", "eve", "e2");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	path = arena_text(stand.arena, "%s/peers/%s", room_path, id_of_peer("eve"));
	if (renamings[_i].is_inside)
		bearer = token_with_entry("e2");
	answer = ask(200, METHOD_POST, path,
		     arena_text(stand.arena, "{\"name\":\"%s\"}", renamings[_i].name));
	ck_assert_str_eq(text_at(parsed(answer), "name"), renamings[_i].shown);
	bearer = NULL;
	if (strcmp(renamings[_i].ada, "Ada") == 0)
		expect_name("eve#1", renamings[_i].shown, renamings[_i].origin);
	else
		expect_name("ada#1", renamings[_i].ada, "");
	(void)ask_until(arena_text(stand.arena, "%s/peers?user_id=eve", room_path),
			arena_text(stand.arena, "\"name\":\"%s\"", renamings[_i].shown));
	(void)ask_until(arena_text(stand.arena, "%s/peers?user_id=ada", room_path),
			arena_text(stand.arena, "\"name\":\"%s\"", renamings[_i].ada));
	(void)ask(400, METHOD_POST, path, "{\"name\":\"\\u200b\"}");
}
END_TEST

/* ---- recorders ---- */

/* Who is listed: a recorder of a job, or somebody else with this identity. */
static const struct listed_hidden {
	const char *identity; /* %s: the id of the job */
	enum job_status status; /* of the job, whose epoch is 2 */
	bool is_elsewhere; /* the job is of another room */
	bool has_media; /* the job, in its epoch */
	bool stays;
} listed_hidden[] = {
	{ "recorder-%s-2", JOB_STARTING, .stays = true },
	{ "recorder-%s-2", JOB_RUNNING, .has_media = true, .stays = true },
	{ "recorder-%s-2", JOB_STOPPING, .has_media = true, .stays = true },
	{ "recorder-%s-2", JOB_POST_PROCESSING, .has_media = true },
	{ "recorder-%s-2", JOB_COMPLETED, .has_media = true },
	{ "recorder-%s-2", JOB_FAILED, .stays = false },
	{ "recorder-%s-2", JOB_RUNNING, .is_elsewhere = true, .has_media = true },
	/* An older epoch stays until the newer one has media; a newer one never was. */
	{ "recorder-%s-1", JOB_RUNNING, .stays = true },
	{ "recorder-%s-1", JOB_RUNNING, .has_media = true },
	{ "recorder-%s-3", JOB_RUNNING, .has_media = true },
	{ "recorder-0123456789abcdef01234567-1", JOB_RUNNING, .stays = false },
	/* These are no recorders of ours. */
	{ "recorder-0123456789abcdef01234567", JOB_RUNNING, .stays = true },
	{ "recorder-0123456789abcdef01234567-x", JOB_RUNNING, .stays = true },
	{ "recorder-0123456789abcdef0123456z-1", JOB_RUNNING, .stays = true },
	{ "EG_1", JOB_RUNNING, .stays = true },
	{ "recorder", JOB_RUNNING, .stays = true },
};

/* Stores a job as it is after a while; returns its id. */
static const char *job_with(const struct listed_hidden *row)
{
	struct job job = { .type = JOB_EXTERNAL,
			   .started_by = SLICE(""),
			   .started_name = SLICE(""),
			   .start_actor = SLICE("{\"kind\":\"service\",\"id\":\"\"}"),
			   .stop_actor = SLICE(""),
			   .room_name = SLICE("r"),
			   .room_title = SLICE(""),
			   .meeting_url = SLICE(""),
			   .destination = SLICE(""),
			   .look = { .width = 1280, .height = 720, .roles = SLICE("") },
			   .most = 3600000,
			   .empty_most = 3600000,
			   .not_enforced = SLICE("[]"),
			   .folder = SLICE("f1") };
	const char *room = row->is_elsewhere
				   ? text_at(parsed(ask(200, METHOD_POST, "/v2/rooms", "{}")), "id")
				   : kit.room;
	struct fault fault = FAULT_INITIAL;
	struct call call;

	ck_assert(id_parse(slice_of(room), &job.stored.parent));
	world_begin(&stand, &stand.account.id, &call);
	ck_assert(job_begin(&call, &job, &fault));
	job.status = row->status;
	job.is_open = row->status < JOB_COMPLETED;
	job.epoch = 2;
	job.heard = row->has_media ? WORK_RUNNING : WORK_OPENING;
	job.recorded = row->has_media ? 1000 : 0;
	job.media = job.started = row->has_media ? job.created : 0;
	ck_assert(job_put(&call, &job, &fault));
	ck_assert(store_wait(stand.environment.store, world_commit(&call), &fault));
	return id_as_text(stand.arena, &job.stored.id).data;
}

static bool server_has(const char *identity)
{
	bool has = false;

	pthread_mutex_lock(&kit.lock);
	for (size_t i = 0; i < kit.count; i++)
		has = has || strcmp(kit.people[i].identity, identity) == 0;
	pthread_mutex_unlock(&kit.lock);
	return has;
}

/* All of them at once, as one survey lists them. */
START_TEST(a_recorder_whose_job_is_over_is_removed)
{
	const char *identities[ROWS(listed_hidden)];
	const int64_t end = clock_monotonic() + 30000;
	size_t removed = 0;

	for (int i = 0; i < ROWS(listed_hidden); i++) {
		const struct listed_hidden *row = &listed_hidden[i];
		const char *hole = strstr(row->identity, "%s");

		identities[i] = hole == NULL ? row->identity
					     : arena_text(stand.arena, "%.*s%s%s",
							  (int)(hole - row->identity),
							  row->identity, job_with(row), hole + 2);
		kit_join(arena_text(stand.arena, "PA_H%d", i), identities[i], "", "");
		(void)snprintf(kit.people[kit.count - 1].permission,
			       sizeof kit.people[0].permission, "{\"hidden\":true}");
		removed += !row->stays;
	}
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	while (requests_of(REMOVE) < removed && clock_monotonic() < end)
		(void)poll(NULL, 0, 20);
	/* A further survey removes nobody else. */
	restart_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	for (int i = 0; i < ROWS(listed_hidden); i++)
		ck_assert_msg(server_has(identities[i]) == listed_hidden[i].stays, "%d: %s", i,
			      identities[i]);
	ck_assert(server_has("ada#1"));
	ck_assert_uint_eq(requests_of(REMOVE), removed);
	ck_assert_uint_eq(events("peer.*"), 1);
}
END_TEST

/* What is done with the room while it is recorded, and what becomes of the recording. */
static const struct {
	const char *before, *behind, *body; /* the path before and behind the id of the room */
	enum job_reason reason; /* JOB_GOES_ON: it goes on */
} recorded_rooms[] = {
	{ "/v2/active-rooms/", "/door", "{\"state\":\"locked\"}", JOB_GOES_ON },
	{ "/v2/active-rooms/", "/door", "{\"state\":\"ask\"}", JOB_GOES_ON },
	{ "/v2/active-rooms/", "/end-room", "{\"lock\":true}", JOB_ROOM_ENDED },
	{ "/v2/active-rooms/", "/end-room", "{}", JOB_ROOM_ENDED },
	{ "/v2/rooms/", "", "{\"enabled\":false}", JOB_ROOM_ENDED },
};

START_TEST(a_recording_ends_with_its_room)
{
	static const struct listed_hidden running = { "", JOB_RUNNING, .has_media = true };
	struct job_turn turn = { .account = stand.account.id };
	const int64_t end = clock_monotonic() + 30000;
	struct fault fault = FAULT_INITIAL;
	struct job job;
	struct call call;

	ck_assert(id_parse(slice_of(job_with(&running)), &turn.job));
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)ask(200, METHOD_POST,
		  arena_text(stand.arena, "%s%s%s", recorded_rooms[_i].before, kit.room,
			     recorded_rooms[_i].behind),
		  recorded_rooms[_i].body);
	/* A room that is disabled is ended by the watch. */
	if (recorded_rooms[_i].reason != JOB_GOES_ON)
		(void)ask_until("/v2/sessions?active=false", "\"active\":false");
	do {
		world_begin(&stand, &stand.account.id, &call);
		ck_assert(job_take_turn(&call, &turn, &fault) &&
			  job_load(&call, &turn.job, STORE_TO_SHOW, &job, &fault));
		ck_assert(store_wait(stand.environment.store, world_commit(&call), &fault));
	} while (job.asked_reason != recorded_rooms[_i].reason && clock_monotonic() < end);
	ck_assert_int_eq(job.asked_reason, recorded_rooms[_i].reason);
	ck_assert_int_eq(job.status >= JOB_STOPPING, recorded_rooms[_i].reason != JOB_GOES_ON);
}
END_TEST

/* A service that only watches removes nobody. */
START_TEST(who_watches_leaves_recorders_alone)
{
	stand.environment.live = LIVE_WATCH;
	kit_join("PA_H", "recorder-0123456789abcdef01234567-1", "", "");
	(void)snprintf(kit.people[1].permission, sizeof kit.people[1].permission,
		       "{\"hidden\":true}");
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":1");
	(void)ask_until("/v2/events?type=peer.join.success", "ada");
	ck_assert_uint_eq(requests_of(REMOVE), 0);
}
END_TEST

void add_surveys(TCase *live, TCase *promises)
{
	tcase_add_test(live, a_survey_finds_who_has_joined);
	tcase_add_test(live, surveys_find_who_has_left);
	tcase_add_test(live, a_room_that_is_gone_at_the_start_is_looked_at);
	tcase_add_loop_test(live, nobody_leaves_because_a_server_does_not_answer, 0,
			    ROWS(bad_answers));
	tcase_add_test(live, a_peer_alone_has_its_tracks);
	tcase_add_loop_test(live, a_peer_is_asked_for_at_the_server, 0, ROWS(asked_peers));
	tcase_add_test(live, who_has_the_name_of_another_gets_a_number);
	tcase_add_loop_test(live, who_takes_the_name_of_another_gets_a_number, 0, ROWS(renamings));
	tcase_add_test(live, a_recorder_whose_job_is_over_is_removed);
	tcase_add_loop_test(live, a_recording_ends_with_its_room, 0, ROWS(recorded_rooms));
	tcase_add_test(live, who_watches_leaves_recorders_alone);
	tcase_add_test(promises, a_room_that_was_made_again_is_another_session);
	tcase_add_test(promises, a_server_that_was_down_at_the_start_is_asked_every_30_s);
}
