/* See kit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/token.h"
#include "background/lease.h"
#include "background/live_watch.h"
#include "background/media_client.h"
#include "base/digest.h"
#include "base/json_writer.h"
#include "base/jwt.h"
#include "base/text.h"
#include "kit.h"
#include "resources/live/live_queue.h"
#include "resources/live/server_rooms.h"
#include "resources/media/placements.h"
#include "resources/media/failures.h"
#include "suite.h"

#define PATIENCE 1000 /* milliseconds per request */

struct world stand;

static void open_parts(struct world *world)
{
	world->environment.live_queue = live_queue_open();
	world->environment.server_rooms = server_rooms_open();
	world->environment.placements = placements_open();
	world->environment.failures = failures_open();
	world->environment.media_client = media_client_open(world->sender);
}

static void close_parts(struct world *world)
{
	media_client_close(world->environment.media_client);
	live_queue_close(world->environment.live_queue);
	server_rooms_close(world->environment.server_rooms);
	placements_close(world->environment.placements);
	failures_close(world->environment.failures);
}

void set_up(void)
{
	struct world_options options = {
		.store = WORLD_GDBM,
		.gdbm.readers = 64,
		.environment = { .live = LIVE_ON,
				 .session_grace = 20000,
				 .session_keep = (int64_t)3600 * 1000 },
		.sender = { .purpose = &sender_of_media,
			    .allows_http = true,
			    .patience = PATIENCE },
		.parts_open = open_parts,
		.parts_close = close_parts,
	};

	ck_assert(address_ranges_read(SLICE("127.0.0.1"), &options.sender.ranges));
	world_open(&stand, &options);
}

void tear_down(void)
{
	world_close(&stand);
}

/* ---- calls ---- */

void end_wait(void *context, struct asking *asking)
{
	struct wait *wait = context;

	ck_assert(asking->is_done);
	pthread_mutex_lock(&wait->lock);
	wait->has_ended = true;
	pthread_cond_signal(&wait->ended);
	pthread_mutex_unlock(&wait->lock);
}

bool has_no_place;

void carry_out(struct call *call)
{
	world_answer(&stand, call);
	carry_on(call);
}

void carry_on(struct call *call)
{
	for (; call_is_asking(call); world_answer(&stand, call)) {
		struct wait wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };

		for (size_t i = 0; has_no_place && i < call->asking->count; i++)
			call->asking->asked[i].end = ASKED_BUSY;
		call->asking->is_done = has_no_place;
		if (has_no_place)
			continue;
		service_ask(call, end_wait, &wait);
		pthread_mutex_lock(&wait.lock);
		while (!wait.has_ended)
			pthread_cond_wait(&wait.ended, &wait.lock);
		pthread_mutex_unlock(&wait.lock);
	}
}

const char *bearer;

void set_request(struct call *call, enum method method, const char *path, const char *body)
{
	call->request = world_request(&stand, call->arena, bearer == NULL ? &stand.account : NULL,
				      method, path, body);
	if (bearer != NULL)
		call->request.authorization =
			slice_of(arena_text(call->arena, "Bearer %s", bearer));
}

const char *body_of(const struct call *call)
{
	return world_body(stand.arena, call);
}

const char *ask_with(const char *key, int status, enum method method, const char *path,
		     const char *body)
{
	struct arena *own = arena_open();
	struct call call = { .arena = own };
	const char *text;

	set_request(&call, method, path, body);
	if (key != NULL)
		call.request.idempotency_key = slice_of(key);
	carry_out(&call);
	text = body_of(&call);
	ck_assert_msg(call.answer.status == status, "%s: %d %s", path, call.answer.status, text);
	arena_close(own);
	return text;
}

const char *ask(int status, enum method method, const char *path, const char *body)
{
	return ask_with(NULL, status, method, path, body);
}

struct slice replaced(struct slice text, const char *part, const char *by)
{
	const char *at = strstr(arena_copy(stand.arena, text).data, part);

	return at == NULL ? text
			  : slice_of(arena_text(
				    stand.arena, "%.*s%s%s",
				    (int)(strlen(arena_copy(stand.arena, text).data) - strlen(at)),
				    text.data, by, at + strlen(part)));
}

json_t *parsed(const char *text)
{
	return world_json(&stand, text);
}

const char *text_at(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

const char *make_backend(const char *url)
{
	const char *body = arena_text(stand.arena,
				      "{\"name\":\"l\",\"type\":\"livekit\",\"url\":\"%s\","
				      "\"config\":{\"api_key\":\"the_key\",\"api_secret\":\"" SECRET
				      "\"}}",
				      url);

	return arena_text(stand.arena, "/v2/backends/%s",
			  text_at(parsed(ask(200, METHOD_POST, "/v2/backends", body)), "id"));
}

const char *url_of(const char *path)
{
	return arena_text(stand.arena, "ws://127.0.0.1:%u%s", receiver_port(stand.receiver), path);
}

json_t *test_backend(const char *backend)
{
	return parsed(ask(200, METHOD_POST, arena_text(stand.arena, "%s/test", backend), NULL));
}

const json_t *health_of(const char *backend)
{
	return json_object_get(parsed(ask(200, METHOD_GET, backend, NULL)), "health");
}

size_t events(const char *type)
{
	const char *path = arena_text(stand.arena, "/v2/events?type=%s&limit=100", type);

	return json_array_size(json_object_get(parsed(ask(200, METHOD_GET, path, NULL)), "data"));
}

/* ---- a media server with a room ---- */

struct kit kit = { .lock = PTHREAD_MUTEX_INITIALIZER };

static json_t *person_of(size_t i)
{
	json_t *permission = json_loads(kit.people[i].permission, 0, NULL);

	json_t *tracks = kit.tracks == NULL ? NULL : json_loads(kit.tracks, 0, NULL);
	json_t *person = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:I, s:{s:s, s:s, s:s, s:s*, s:s*, s:s*}, s:["
		"{s:s, s:s, s:s, s:b, s:{s:I}}, {s:s, s:s, s:s, s:{s:I}}, {s:s, s:s}], "
		"s:o*}",
		"sid", kit.people[i].sid, "identity", kit.people[i].identity, "state", "ACTIVE",
		"name", kit.people[i].name, "metadata", kit.people[i].metadata, "joined_at_ms",
		kit.people[i].joined, "attributes", "user_id", kit.people[i].user_id, "role",
		kit.people[i].role, "entry", kit.people[i].entry, "code", kit.people[i].code,
		"hand", kit.people[i].hand[0] == '\0' ? NULL : kit.people[i].hand, "consent",
		kit.people[i].consent[0] == '\0' ? NULL : kit.people[i].consent, "tracks", "sid",
		"TR_1", "type", "VIDEO", "source", "SCREEN_SHARE", "muted", 1, "version",
		"unix_micro", (kit.people[i].joined + 1500) * 1000, "sid", "TR_2", "type", "AUDIO",
		"source", "MICROPHONE", "version", "unix_micro",
		(kit.people[i].joined - 1500) * 1000, "sid", "TR_3", "type", "DATA", "permission",
		permission);
	if (tracks != NULL)
		(void)json_object_set_new(person, "tracks", tracks);
	return person;
}

static json_t *rooms_named(const json_t *names)
{
	json_t *rooms = json_array();
	bool is_asked = json_array_size(names) == 0 || json_array_size(names) == 1;

	if (json_array_size(names) == 1)
		is_asked = strcmp(json_string_value(json_array_get(names, 0)), kit.room) == 0;
	if (is_asked && kit.sid[0] != '\0')
		(void)json_array_append_new(rooms,
					    json_pack("{s:s, s:s, s:I, s:s}", "sid", kit.sid,
						      "name", kit.room, "creation_time_ms",
						      kit.created, "turn_password", "hidden"));
	return json_pack("{s:o}", "rooms", rooms);
}

static void take_permission(size_t i, const json_t *permission)
{
	char *text = json_dumps(permission, JSON_COMPACT);

	if (text != NULL)
		(void)snprintf(kit.people[i].permission, sizeof kit.people[i].permission, "%s",
			       text);
	free(text);
}

static void take_text(const json_t *text, char *place, size_t size)
{
	if (json_is_string(text))
		(void)snprintf(place, size, "%s", json_string_value(text));
}

static json_t *answer_of(const char *method, const json_t *body, int *status)
{
	const char *room = json_string_value(json_object_get(body, "room"));
	const char *identity = json_string_value(json_object_get(body, "identity"));
	json_t *people;

	if (strcmp(method, "ListRooms") == 0)
		return rooms_named(json_object_get(body, "names"));
	if (strcmp(method, "ListParticipants") == 0) {
		people = json_array();
		for (size_t i = 0; i < kit.count && strcmp(room, kit.room) == 0; i++) {
			json_t *person = person_of(i);

			if (kit.hides_rights)
				(void)json_object_del(person, "permission");
			(void)json_array_append_new(people, person);
		}
		return json_pack("{s:o}", "participants", people);
	}
	if (strcmp(method, "SendData") == 0 || strcmp(method, "validate") == 0)
		return json_object();
	if (strcmp(method, "CreateRoom") == 0)
		return json_pack("{s:s}", "sid", "RM_1");
	if (strcmp(method, "DeleteRoom") == 0) {
		kit.count = 0;
		kit.sid[0] = '\0';
		return json_object();
	}
	if (strcmp(method, "MutePublishedTrack") == 0) {
		if (json_is_true(json_object_get(body, "muted")) || kit.how == UNMUTES)
			return json_pack("{s:n}", "track");
		*status = 412;
		return json_pack("{s:s, s:s}", "code", "failed_precondition", "msg", "hidden");
	}
	for (size_t i = 0; i < kit.count && strcmp(room, kit.room) == 0; i++) {
		const char *role = json_string_value(
			json_object_get(json_object_get(body, "attributes"), "role"));
		const char *name = json_string_value(json_object_get(body, "name"));

		if (strcmp(kit.people[i].identity, identity) != 0)
			continue;
		if (strcmp(method, "RemoveParticipant") == 0) {
			if (strcmp(identity, "ada#1") == 0)
				kit.left_before_ada = kit.removed;
			kit.removed++;
			kit.people[i] = kit.people[--kit.count];
			return json_object();
		}
		if (role != NULL)
			(void)snprintf(kit.people[i].role, sizeof kit.people[i].role, "%s", role);
		if (name != NULL)
			(void)snprintf(kit.people[i].name, sizeof kit.people[i].name, "%s", name);
		take_text(json_object_get(body, "metadata"), kit.people[i].metadata,
			  sizeof kit.people[i].metadata);
		take_text(json_object_get(json_object_get(body, "attributes"), "hand"),
			  kit.people[i].hand, sizeof kit.people[i].hand);
		take_text(json_object_get(json_object_get(body, "attributes"), "consent"),
			  kit.people[i].consent, sizeof kit.people[i].consent);
		take_permission(i, json_object_get(body, "permission"));
		return person_of(i);
	}
	*status = 404;
	return json_pack("{s:s, s:s}", "code", "not_found", "msg", "hidden");
}

static bool is_act(const char *method)
{
	return strcmp(method, "MutePublishedTrack") == 0 ||
	       strcmp(method, "UpdateParticipant") == 0 ||
	       strcmp(method, "RemoveParticipant") == 0 || strcmp(method, "DeleteRoom") == 0;
}

static char *serve_kit(void *context, const struct received *received, int *status)
{
	json_t *body = json_loads(received->body, 0, NULL), *answer = NULL;
	char *text = NULL;

	(void)context;
	pthread_mutex_lock(&kit.lock);
	switch (kit.how) {
	case LOSES_ACTS:
		if (is_act(strrchr(received->path, '/') + 1))
			break;
		/* fall through */
	case ANSWERS:
	case UNMUTES:
		answer = answer_of(strrchr(received->path, '/') + 1, body, status);
		text = json_dumps(answer, JSON_COMPACT);
		break;
	case HANGS:
		break;
	case TELLS_NONSENSE:
		text = strdup("<html>{\"rooms\":[]}</html>");
		break;
	case TELLS_TOO_MUCH:
		text = strdup("HTTP/1.1 200 OK\r\nContent-Length: 17825792\r\n\r\n{\"rooms\":[");
		break;
	case HAS_ANOTHER_KEY:
		*status = 401;
		text = strdup("invalid API key");
		break;
	case FAILS:
		*status = 500;
		text = strdup("{}");
		break;
	case LACKS_EVERYBODY:
		*status = 503;
		text = strdup("{\"code\":\"unavailable\",\"msg\":\"hidden\"}");
		break;
	}
	pthread_mutex_unlock(&kit.lock);
	json_decref(answer);
	json_decref(body);
	return text;
}

void kit_set(enum how how)
{
	pthread_mutex_lock(&kit.lock);
	kit.how = how;
	pthread_mutex_unlock(&kit.lock);
}

void kit_join(const char *sid, const char *identity, const char *user_id, const char *entry)
{
	pthread_mutex_lock(&kit.lock);
	ck_assert_uint_lt(kit.count, PEOPLE_MOST);
	kit.people[kit.count].sid = sid;
	kit.people[kit.count].identity = identity;
	kit.people[kit.count].user_id = user_id;
	kit.people[kit.count].entry = entry;
	kit.people[kit.count].code = NULL;
	(void)snprintf(kit.people[kit.count].role, sizeof kit.people[kit.count].role, "host");
	(void)snprintf(kit.people[kit.count].name, sizeof kit.people[kit.count].name, "%s",
		       strcmp(user_id, "ada") == 0 ? "Ada" : identity);
	kit.people[kit.count].permission[0] = kit.people[kit.count].hand[0] = '\0';
	(void)snprintf(kit.people[kit.count].metadata, sizeof kit.people[kit.count].metadata, "m");
	kit.people[kit.count].joined = clock_now(&clock_system) - 60000 + (json_int_t)kit.count;
	kit.count++;
	pthread_mutex_unlock(&kit.lock);
}

void kit_people(const char *sid, const char *entry)
{
	pthread_mutex_lock(&kit.lock);
	kit.count = 0;
	pthread_mutex_unlock(&kit.lock);
	if (sid != NULL)
		kit_join(sid, "ada#1", "ada", entry);
}

void kit_room(const char *sid, json_int_t created)
{
	pthread_mutex_lock(&kit.lock);
	(void)snprintf(kit.sid, sizeof kit.sid, "%s", sid);
	kit.created = created;
	pthread_mutex_unlock(&kit.lock);
}

static struct lease *lease;
struct live_watch *watch;

void start_watch(void)
{
	lease = lease_open(stand.environment.store, &clock_system);
	watch = live_watch_open(&stand.environment, lease);
}

void stop_watch(void)
{
	live_watch_end(watch);
	media_client_close(stand.environment.media_client);
	stand.environment.media_client = NULL;
	live_watch_close(watch);
	lease_close(lease);
	watch = NULL;
}

void restart_watch(void)
{
	stop_watch();
	world_restart(&stand);
	start_watch();
}

const char *backend_path, *room_path;

void set_up_kit(void)
{
	const json_t *made;

	set_up();
	bearer = NULL;
	kit.tracks = NULL;
	kit.hides_rights = false;
	kit.removed = kit.left_before_ada = 0;
	kit_set(ANSWERS);
	receiver_serve(stand.receiver, serve_kit, NULL);
	backend_path = make_backend(url_of(""));
	(void)ask(200, METHOD_PATCH, backend_path, "{\"default\":true}");
	(void)ask(
		200, METHOD_POST, "/v2/templates",
		"{\"default\":true,\"roles\":{\"guest\":{},\"host\":{\"permissions\":{\"sendRoomState\":true,\"mute\":true,\"endRoom\":true}}}}");
	made = parsed(ask(200, METHOD_POST, "/v2/rooms", "{}"));
	(void)snprintf(kit.room, sizeof kit.room, "%s", text_at(made, "id"));
	room_path = arena_text(stand.arena, "/v2/active-rooms/%s", kit.room);
	kit_room("RM_1", clock_now(&clock_system) - 120000);
	kit_people("PA_1", "e1");
}

void tear_down_kit(void)
{
	if (watch != NULL)
		stop_watch();
	tear_down();
}

const char *ask_for(const char *path, const char *text, int64_t most)
{
	const int64_t end = clock_monotonic() + most;
	const char *body = "";

	while (strstr(body, text) == NULL) {
		struct arena *own = arena_open();
		struct call call = { .arena = own };

		ck_assert_msg(clock_monotonic() < end, "%s: %s", path, body);
		(void)poll(NULL, 0, 20);
		set_request(&call, METHOD_GET, path, NULL);
		carry_out(&call);
		body = body_of(&call);
		arena_close(own);
	}
	return body;
}

const char *ask_until(const char *path, const char *text)
{
	return ask_for(path, text, 30000);
}

/* ---- what was asked and told ---- */

const json_t *first_peer(void)
{
	const json_t *list = parsed(ask(200, METHOD_GET, "/v2/sessions", NULL));
	const json_t *session = json_array_get(json_object_get(list, "data"), 0);

	return json_object_iter_value(json_object_iter(json_object_get(session, "peers")));
}

int tell(const char *authorization, const char *event)
{
	struct call call = { .arena = arena_open() };
	struct json_writer claims = writer_begin(call.arena, true);
	unsigned char digest[DIGEST_SIZE];
	struct slice token;
	int status;

	digest_sha256(slice_of(event), digest);
	writer_text(&claims, "iss", SLICE("the_key"));
	writer_text(&claims, "sha256",
		    text_base64(call.arena, (struct slice){ (const char *)digest, sizeof digest }));
	writer_integer(&claims, "exp", clock_now(&clock_system) / 1000 + 60);
	token = jwt_with_secret(call.arena, (struct slice){ NULL, 0 }, &claims, SLICE(SECRET));
	call.request = (struct request){
		.method = METHOD_POST,
		.uri = slice_of(arena_text(call.arena, "%s/events", backend_path)),
		.body = slice_of(event),
		.authorization = authorization != NULL ? slice_of(authorization) : token,
		.address = SLICE("192.0.2.1"),
	};
	carry_out(&call);
	status = call.answer.status;
	if (status == 503)
		ck_assert(slice_is(call_find_header(&call, "Retry-After"), "1"));
	arena_close(call.arena);
	return status;
}

const char *joined_event(const char *sid)
{
	return arena_text(
		stand.arena,
		"{\"event\":\"participant_joined\",\"room\":{\"sid\":\"%s\",\"name\":\"%s\","
		"\"creation_time_ms\":%lld,\"turn_password\":\"hidden\"},"
		"\"participant\":{\"sid\":\"%s\",\"identity\":\"ada#1\",\"state\":\"ACTIVE\","
		"\"name\":\"Ada\",\"joined_at_ms\":%lld,\"attributes\":{\"user_id\":\"ada\","
		"\"role\":\"host\",\"entry\":\"e1\"}},\"created_at\":%lld}",
		kit.sid, kit.room, (long long)kit.created, sid, (long long)kit.people[0].joined,
		(long long)(clock_now(&clock_system) / 1000));
}

const char *token_made(const char *entry, int64_t ago)
{
	const int64_t now = clock_now(&clock_system);
	const struct token_join join = {
		.room_id = slice_of(kit.room),
		.role = SLICE("host"),
		.user_id = SLICE("ada"),
		.jti = SLICE("j"),
		.entry = slice_of(entry),
	};
	const struct slice token = token_sign_join(stand.arena, &clock_system, &stand.account,
						   &join, now - ago * 1000, now / 1000 + 600);

	return arena_text(stand.arena, "%.*s", (int)token.size, token.data);
}

const char *token_with_entry(const char *entry)
{
	return token_made(entry, 0);
}

const char *peer_path(void)
{
	return arena_text(stand.arena, "%s/peers/%s", room_path, text_at(first_peer(), "id"));
}

const json_t *last_request(const char *method)
{
	for (size_t i = receiver_count(stand.receiver); i-- > 0;) {
		const struct received *received = receiver_request(stand.receiver, i);

		if (strcmp(strrchr(received->path, '/') + 1, method) == 0)
			return parsed(received->body);
	}
	return NULL;
}

size_t requests_of(const char *method)
{
	size_t n = 0;

	for (size_t i = receiver_count(stand.receiver); i-- > 0;)
		n += strcmp(strrchr(receiver_request(stand.receiver, i)->path, '/') + 1, method) ==
		     0;
	return n;
}

const char *filled(const char *text)
{
	const json_t *templates = parsed(ask(200, METHOD_GET, "/v2/templates", NULL));
	const char *template = text_at(json_array_get(json_object_get(templates, "data"), 0), "id");
	struct slice all = slice_of(text);

	if (strstr(text, "ROOM") != NULL)
		all = replaced(all, "ROOM", kit.room);
	if (strstr(text, "TEMPLATE") != NULL)
		all = replaced(all, "TEMPLATE", template);
	return arena_copy(stand.arena, all).data;
}

const json_t *await_request(const char *method)
{
	const int64_t end = clock_monotonic() + 30000;

	while (last_request(method) == NULL) {
		ck_assert_msg(clock_monotonic() < end, "no %s", method);
		(void)poll(NULL, 0, 20);
	}
	return last_request(method);
}

const char *id_of_peer(const char *user_id)
{
	const char *list = ask(200, METHOD_GET,
			       arena_text(stand.arena, "%s/peers?user_id=%s", room_path, user_id),
			       NULL);
	const json_t *peers = json_object_get(parsed(list), "peers");

	ck_assert_uint_eq(json_object_size(peers), 1);
	return json_object_iter_key(json_object_iter((json_t *)peers));
}
