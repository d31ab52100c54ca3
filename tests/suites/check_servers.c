/* What Anteroom asks media servers: the requests that arrive at a server, what its answers mean,
 * calls that wait for them (resources/asking.h), and looks at rooms (background/live_watch.h). The
 * server is a receiver; the requests are made by the real sender process. The program is named by
 * $ANTEROOM, else ./anteroom.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "accounts/token.h"
#include "background/lease.h"
#include "background/live_watch.h"
#include "background/media_client.h"
#include "background/media_queue.h"
#include "base/digest.h"
#include "base/json_writer.h"
#include "base/jwt.h"
#include "base/log.h"
#include "base/text.h"
#include "delivery/sender.h"
#include "directory.h"
#include "fast_disk.h"
#include "receiver.h"
#include "resources/door/door_polls.h"
#include "resources/joining/misses.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_queue.h"
#include "resources/live/live_record.h"
#include "resources/live/made_rooms.h"
#include "resources/live/revocations.h"
#include "service/service.h"
#include "store/gdbm/store_gdbm.h"
#include "suite.h"

#define SECRET "0123456789abcdef0123456789abcdef"
#define PATIENCE 1000 /* milliseconds per request */

static struct {
	struct arena *arena;
	char *directory;
	struct account account;
	struct environment environment;
	struct sender_options options;
	struct sender *sender;
	struct service *service;
	struct receiver *receiver;
} stand;

static void set_up(void)
{
	const char *program = getenv("ANTEROOM");
	struct store_options options = { .readers = 64, .creates = true };
	struct fault fault = FAULT_INITIAL;
	char path[PATH_MAX];

	stand.arena = arena_open();
	stand.directory = directory_make();
	(void)snprintf(path, sizeof path, "%s/store", stand.directory);
	options.directory = path;
	stand.options = (struct sender_options){
		.purpose = &sender_of_media,
		.allows_http = true,
		.patience = PATIENCE,
		.program = program != NULL ? program : "./anteroom",
	};
	ck_assert(address_ranges_read(SLICE("127.0.0.1"), &stand.options.ranges));
	ck_assert_msg(
		sender_open(&stand.options, &stand.sender, &fault) &&
			accounts_add(stand.directory, &clock_system, "a", &stand.account, &fault) &&
			accounts_open(stand.directory, &stand.environment.accounts, &fault) &&
			store_gdbm_open(&options, &stand.environment.store, &fault),
		"%s", fault_reason(&fault));
	stand.environment.clock = &clock_system;
	stand.environment.tokens = token_memory_open();
	stand.environment.misses = misses_open(&clock_system);
	stand.environment.door_polls = door_polls_open(DOOR_ADDRESS_MOST);
	stand.environment.join_seconds = 3600;
	stand.environment.live = LIVE_ON;
	stand.environment.live_queue = live_queue_open();
	stand.environment.made_rooms = made_rooms_open();
	stand.environment.session_grace = 20000;
	stand.environment.session_keep = (int64_t)3600 * 1000;
	stand.environment.media_client = media_client_open(stand.sender);
	stand.service = service_open(&stand.environment);
	stand.receiver = receiver_open();
}

static void tear_down(void)
{
	service_close(stand.service);
	media_client_close(stand.environment.media_client);
	sender_close(stand.sender);
	receiver_close(stand.receiver);
	store_close(stand.environment.store);
	accounts_close(stand.environment.accounts);
	token_memory_close(stand.environment.tokens);
	door_polls_close(stand.environment.door_polls);
	misses_close(stand.environment.misses);
	live_queue_close(stand.environment.live_queue);
	made_rooms_close(stand.environment.made_rooms);
	directory_remove(stand.directory);
	arena_close(stand.arena);
}

/* ---- calls ---- */

/* A call whose media server is being asked. */
struct wait {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended;
};

static void end_wait(void *context, struct asking *asking)
{
	struct wait *wait = context;

	ck_assert(asking->is_done);
	pthread_mutex_lock(&wait->lock);
	wait->has_ended = true;
	pthread_cond_signal(&wait->ended);
	pthread_mutex_unlock(&wait->lock);
}

/* Does with a call what the edge does. */
/* Whether the requests of calls find no place at the media server. */
static bool has_no_place;

static void carry_out(struct call *call)
{
	struct fault fault = FAULT_INITIAL;

	for (;;) {
		struct wait wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };

		ck_assert(service_answer(stand.service, call));
		ck_assert(store_wait(stand.environment.store, call->answer.awaited, &fault));
		if (!call_is_asking(call))
			return;
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

/* What calls send as Authorization; NULL: a management token. */
static const char *bearer;

static void set_request(struct call *call, enum method method, const char *path, const char *body)
{
	struct buffer header = BUFFER_INITIAL(call->arena);

	buffer_append_text(&header, "Bearer ");
	if (bearer != NULL)
		buffer_append_text(&header, bearer);
	else
		buffer_append(&header,
			      token_sign_management(call->arena, &clock_system, &stand.account,
						    clock_now(&clock_system), 3600));
	call->request = (struct request){
		.method = method,
		.uri = slice_of(path),
		.body = slice_of(body == NULL ? "" : body),
		.authorization = buffer_slice(&header),
		.address = SLICE("192.0.2.1"),
	};
}

static const char *body_of(const struct call *call)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);

	for (size_t i = 0; i < call->answer.part_count; i++)
		buffer_append(&text, call->answer.parts[i]);
	buffer_append_byte(&text, '\0');
	return text.data;
}

/* key: an Idempotency-Key, or NULL. Returns the response. */
static const char *ask_with(const char *key, int status, enum method method, const char *path,
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

static const char *ask(int status, enum method method, const char *path, const char *body)
{
	return ask_with(NULL, status, method, path, body);
}

/* Returns a copy in which `part` is replaced once. */
static struct slice replaced(struct slice text, const char *part, const char *by)
{
	const char *at = strstr(arena_copy(stand.arena, text).data, part);

	return at == NULL ? text
			  : slice_of(arena_text(
				    stand.arena, "%.*s%s%s",
				    (int)(strlen(arena_copy(stand.arena, text).data) - strlen(at)),
				    text.data, by, at + strlen(part)));
}

static json_t *parsed(const char *text)
{
	json_t *value = arena_json(stand.arena, json_loads(text, 0, NULL));

	ck_assert_ptr_nonnull(value);
	return value;
}

static const char *text_at(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* Creates a LiveKit at this URL; returns the path of the backend. */
static const char *make_backend(const char *url)
{
	const char *body = arena_text(stand.arena,
				      "{\"name\":\"l\",\"type\":\"livekit\",\"url\":\"%s\","
				      "\"config\":{\"api_key\":\"the_key\",\"api_secret\":\"" SECRET
				      "\"}}",
				      url);

	return arena_text(stand.arena, "/v2/backends/%s",
			  text_at(parsed(ask(200, METHOD_POST, "/v2/backends", body)), "id"));
}

static const char *url_of(const char *path)
{
	return arena_text(stand.arena, "ws://127.0.0.1:%u%s", receiver_port(stand.receiver), path);
}

static json_t *test_backend(const char *backend)
{
	return parsed(ask(200, METHOD_POST, arena_text(stand.arena, "%s/test", backend), NULL));
}

static const json_t *health_of(const char *backend)
{
	return json_object_get(parsed(ask(200, METHOD_GET, backend, NULL)), "health");
}

/* ---- what arrives ---- */

static struct slice decoded(struct slice text)
{
	struct slice bytes;

	ck_assert(text_base64url_decode(stand.arena, text, &bytes));
	return bytes;
}

START_TEST(a_request_has_a_token_with_one_grant)
{
	const char *backend = make_backend(url_of("/below"));
	const struct received *received;
	unsigned char mac[DIGEST_SIZE];
	struct slice token, header, claims, signature, rest;
	json_t *payload;
	char value[2000];
	json_int_t end;

	receiver_respond(stand.receiver, "HTTP/1.1 200 OK\r\n", "{\"rooms\":[]}");
	(void)test_backend(backend);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
	received = receiver_request(stand.receiver, 0);
	ck_assert_str_eq(received->path, "/below/twirp/livekit.RoomService/ListRooms");
	ck_assert_str_eq(received->body, "{\"names\":[\"none\"]}");
	ck_assert(received_header(received, "Content-Type", value, sizeof value));
	ck_assert_str_eq(value, "application/json");
	ck_assert(received_header(received, "Authorization", value, sizeof value));
	ck_assert_int_eq(strncmp(value, "Bearer ", 7), 0);
	token = slice_of(value + 7);
	header = text_split(token, '.', &rest);
	claims = text_split(rest, '.', &signature);
	digest_hmac_sha256(SLICE(SECRET),
			   (struct slice){ token.data, header.size + 1 + claims.size }, mac);
	ck_assert(slice_equal(decoded(signature), (struct slice){ (const char *)mac, sizeof mac }));
	payload = parsed(
		arena_text(stand.arena, "%.*s", (int)decoded(claims).size, decoded(claims).data));
	ck_assert_str_eq(text_at(payload, "iss"), "the_key");
	end = json_integer_value(json_object_get(payload, "exp"));
	ck_assert(end > time(NULL) + 50 && end <= time(NULL) + 60);
	ck_assert(json_equal(json_object_get(payload, "video"), parsed("{\"roomList\":true}")));
	ck_assert_ptr_null(strstr(ask(200, METHOD_GET, backend, NULL), SECRET));
}
END_TEST

/* ---- what an answer means ---- */

static const struct {
	const char *head, *body; /* of the answer */
	const char *state, *message; /* message: how it begins */
} answers[] = {
	{ "HTTP/1.1 200 OK\r\n", "{\"rooms\":[]}", "up", "" },
	{ "HTTP/1.1 200 OK\r\n", "{\"rooms\":[{\"sid\":\"RM_1\",\"name\":\"none\"}]}", "up", "" },
	{ "HTTP/1.1 200 OK\r\nDate: Fri, 27 Nov 2020 10:00:00 GMT\r\n", "{\"rooms\":[]}", "up",
	  "clock differs by " },
	{ "HTTP/1.1 200 OK\r\nDate: soon\r\n", "{\"rooms\":[]}", "up", "" },
	{ "HTTP/1.1 401 Unauthorized\r\n", "invalid API key", "down", "wrong key" },
	{ "HTTP/1.1 401 Unauthorized\r\nDate: Fri, 27 Nov 2020 10:00:00 GMT\r\n", "", "down",
	  "clock differs by " },
	{ "HTTP/1.1 200 OK\r\n", "", "down", "not a LiveKit" },
	{ "HTTP/1.1 200 OK\r\n", "{}", "down", "not a LiveKit" },
	{ "HTTP/1.1 200 OK\r\n", "{\"rooms\":{}}", "down", "not a LiveKit" },
	{ "HTTP/1.1 200 OK\r\n", "{\"rooms\":[]", "down", "not a LiveKit" },
	{ "HTTP/1.1 200 OK\r\n", "<html>{\"rooms\":[]}</html>", "down", "not a LiveKit" },
	{ "HTTP/1.1 404 Not Found\r\n", "{\"code\":\"bad_route\"}", "down", "status 404" },
	{ "HTTP/1.1 302 Found\r\nLocation: /204\r\n", "", "down", "status 302" },
	{ "HTTP/1.1 503 Unavailable\r\n", "{\"rooms\":[]}", "down", "status 503" },
};

START_TEST(an_answer_says_whether_the_server_is_up)
{
	const char *backend = make_backend(url_of(""));
	const json_t *health;
	json_t *answer;

	receiver_respond(stand.receiver, answers[_i].head, answers[_i].body);
	answer = test_backend(backend);
	ck_assert_str_eq(text_at(answer, "state"), answers[_i].state);
	ck_assert_msg(strncmp(text_at(answer, "message"), answers[_i].message,
			      strlen(answers[_i].message)) == 0 &&
			      (answers[_i].message[0] == '\0') ==
				      (text_at(answer, "message")[0] == '\0'),
		      "%s", text_at(answer, "message"));
	ck_assert(json_is_null(json_object_get(answer, "version")));
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
	health = health_of(backend);
	ck_assert_str_eq(text_at(health, "state"), answers[_i].state);
	ck_assert_str_eq(text_at(health, "message"), text_at(answer, "message"));
}
END_TEST

static const struct {
	const char *url, *message;
} failures[] = {
	{ "ws://x.invalid", "no such name" },		{ "ws://127.0.0.1:1", "refused" },
	{ "ws://127.0.0.2:1", "address not allowed" },	{ "ws://[::1]:1", "address not allowed" },
	{ "ws://10.0.0.1", "address not allowed" },	{ "ws://127.0.0.1:%u/close", "refused" },
	{ "ws://127.0.0.1:%u/other", "not a LiveKit" }, { "ws://127.0.0.1:%u/held", "timed out" },
};

START_TEST(a_failure_has_its_sentence)
{
	char url[100];
	json_t *answer;

/* At most one %u. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(url, sizeof url, failures[_i].url, receiver_port(stand.receiver));
#pragma GCC diagnostic pop
	answer = test_backend(make_backend(url));
	ck_assert_str_eq(text_at(answer, "state"), "down");
	ck_assert_str_eq(text_at(answer, "message"), failures[_i].message);
}
END_TEST

/* ---- what is kept ---- */

static size_t events(const char *type)
{
	const char *path = arena_text(stand.arena, "/v2/events?type=%s&limit=100", type);

	return json_array_size(json_object_get(parsed(ask(200, METHOD_GET, path, NULL)), "data"));
}

START_TEST(only_changes_are_events)
{
	static const struct {
		const char *head;
		size_t ups, downs;
	} steps[] = {
		{ "HTTP/1.1 200 OK\r\n", 0, 0 },    { "HTTP/1.1 200 OK\r\n", 0, 0 },
		{ "HTTP/1.1 500 Error\r\n", 0, 1 }, { "HTTP/1.1 502 Error\r\n", 0, 1 },
		{ "HTTP/1.1 200 OK\r\n", 1, 1 },    { "HTTP/1.1 401 Unauthorized\r\n", 1, 2 },
	};
	const char *backend = make_backend(url_of(""));
	const char *body = "{\"api_url\":\"http://127.0.0.1:1\"}";

	ck_assert_str_eq(text_at(health_of(backend), "state"), "unknown");
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		receiver_respond(stand.receiver, steps[i].head, "{\"rooms\":[]}");
		(void)test_backend(backend);
		ck_assert_uint_eq(events("backend.up"), steps[i].ups);
		ck_assert_uint_eq(events("backend.down"), steps[i].downs);
	}
	ck_assert_str_eq(text_at(health_of(backend), "message"), "wrong key");
	/* Another name changes nothing; another server is not known. */
	(void)ask(200, METHOD_PATCH, backend, "{\"name\":\"m\",\"ttl\":60}");
	ck_assert_str_eq(text_at(health_of(backend), "state"), "down");
	ck_assert_ptr_nonnull(strstr(ask(400, METHOD_PATCH, backend, body),
				     "/config/api_secret: must be sent again"));
	body = "{\"api_url\":\"http://127.0.0.1:1\",\"config\":{\"api_secret\":\"" SECRET "\"}}";
	(void)ask(200, METHOD_PATCH, backend, body);
	ck_assert_str_eq(text_at(health_of(backend), "state"), "unknown");
	ck_assert_str_eq(text_at(test_backend(backend), "message"), "refused");
	(void)ask(204, METHOD_DELETE, backend, NULL);
}
END_TEST

START_TEST(a_validated_test_asks_nothing)
{
	const char *backend = make_backend(url_of(""));
	const char *path = arena_text(stand.arena, "%s/test", backend);

	ck_assert_str_eq(
		ask(200, METHOD_POST, arena_text(stand.arena, "%s?validate_only=true", path), NULL),
		"{\"valid\":true}");
	ck_assert_uint_eq(receiver_count(stand.receiver), 0);
	ck_assert_str_eq(text_at(health_of(backend), "state"), "unknown");
	(void)ask(404, METHOD_POST, "/v2/backends/000000000000000000000000/test", NULL);
	ck_assert_uint_eq(receiver_count(stand.receiver), 0);
}
END_TEST

START_TEST(other_servers_cannot_be_asked)
{
	const char *body = "{\"name\":\"j\",\"type\":\"janus\",\"url\":\"ws://127.0.0.1\","
			   "\"config\":{\"secret\":\"s\"}}";
	const json_t *backend = parsed(ask(200, METHOD_POST, "/v2/backends", body));
	const char *path = arena_text(stand.arena, "/v2/backends/%s/test", text_at(backend, "id"));

	ck_assert_uint_eq(json_array_size(json_object_get(backend, "capabilities")), 0);
	ck_assert_str_eq(ask(501, METHOD_POST, path, NULL),
			 "{\"code\":501,\"message\":\"The media server cannot do this\","
			 "\"details\":[\"list\"]}");
}
END_TEST

START_TEST(a_repeated_request_asks_once)
{
	const char *backend = make_backend(url_of(""));
	const char *path = arena_text(stand.arena, "%s/test", backend), *first;

	receiver_respond(stand.receiver, "HTTP/1.1 200 OK\r\n", "{\"rooms\":[]}");
	first = ask_with("one", 200, METHOD_POST, path, NULL);
	ck_assert_str_eq(ask_with("one", 200, METHOD_POST, path, NULL), first);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
	(void)ask_with("two", 200, METHOD_POST, path, NULL);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
}
END_TEST

START_TEST(tests_have_a_limit)
{
	const char *backend = make_backend(url_of(""));
	const char *path = arena_text(stand.arena, "%s/test", backend);

	for (int i = 0; i < MISSES_TESTS_MOST; i++)
		(void)ask(200, METHOD_POST, path, NULL);
	(void)ask(429, METHOD_POST, path, NULL);
	ck_assert_uint_eq(receiver_count(stand.receiver), MISSES_TESTS_MOST);
}
END_TEST

/* ---- many at once ---- */

/* Requests without a call. */
struct look {
	struct asking asking;
	struct asked asked;
	struct wait wait;
};

static void begin_look(struct look *look, unsigned account, unsigned backend, const char *path,
		       struct slice room)
{
	*look = (struct look){
		.asking = {
			.account = { { (unsigned char)(account + 1) } },
			.backend = { { (unsigned char)(backend + 1) } },
			.asked = &look->asked,
			.count = 1,
		},
		.asked.request = {
			.url = slice_of(arena_text(stand.arena, "http%s", url_of(path) + 2)),
			.headers = SLICE("X-Own: 1"),
			.body = SLICE("{}"),
			.is_once = room.size > 0,
			.room = room,
		},
		.wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false },
	};
	media_client_ask(stand.environment.media_client, &look->asking, end_wait, &look->wait);
}

/* The same for somebody in a room, or for a moderator of it. */
static void begin_ranked(struct look *look, enum asked_rank rank, const char *person,
			 unsigned parts, const char *path)
{
	*look = (struct look){
		.asking = {
			.account = { { 1 } },
			.backend = { { 1 } },
			.rank = rank,
			.person = slice_of(person),
			.asked = &look->asked,
			.count = 1,
		},
		.asked.parts = parts,
		.asked.request = {
			.url = slice_of(arena_text(stand.arena, "http%s", url_of(path) + 2)),
			.headers = SLICE("X-Own: 1"),
			.body = slice_of(arena_text(stand.arena, "%s%u", person, parts)),
			.is_once = parts != 0,
			.room = parts != 0 ? SLICE("r") : SLICE(""),
		},
		.wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false },
	};
	media_client_ask(stand.environment.media_client, &look->asking, end_wait, &look->wait);
}

static void end_look(struct look *look)
{
	pthread_mutex_lock(&look->wait.lock);
	while (!look->wait.has_ended)
		pthread_cond_wait(&look->wait.ended, &look->wait.lock);
	pthread_mutex_unlock(&look->wait.lock);
	media_client_forget(&look->asking);
}

/* Of one account: to one media server 8 at once, in all 32. Those who wait longer than 2 s are not
 * made, and other accounts are served at once. */
START_TEST(one_server_or_account_holds_nobody_up)
{
	static struct look looks[60], other;
	struct media_figures figures;
	size_t busy = 0;

	for (unsigned i = 0; i < 60; i++)
		begin_look(&looks[i], 0, i < 20 ? 0 : i, "/held", SLICE(""));
	ck_assert(receiver_wait(stand.receiver, 32));
	begin_look(&other, 1, 0, "/200", SLICE(""));
	end_look(&other);
	ck_assert_int_eq(other.asked.end, ASKED_ANSWERED);
	ck_assert_int_eq(other.asked.outcome.status, 200);
	ck_assert_uint_eq(receiver_most_at_once(stand.receiver), 32);
	for (unsigned i = 0; i < 60; i++) {
		end_look(&looks[i]);
		busy += looks[i].asked.end == ASKED_BUSY;
		ck_assert(looks[i].asked.end == ASKED_BUSY ||
			  looks[i].asked.outcome.failure == SENDER_TIMED_OUT);
	}
	media_client_figures(stand.environment.media_client, &figures);
	ck_assert_uint_eq(figures.ended[ASKED_BUSY], busy);
	ck_assert_uint_eq(figures.waiting + figures.under_way, 0);
	ck_assert_uint_eq(figures.ended[ASKED_ANSWERED], 61 - busy);
}
END_TEST

/* Calls that change something in the same room go out one after another. */
START_TEST(one_room_is_changed_by_one_call_at_a_time)
{
	static struct look first, second, other;

	begin_look(&first, 0, 0, "/held", SLICE("r"));
	ck_assert(receiver_wait(stand.receiver, 1));
	begin_look(&second, 0, 0, "/200", SLICE("r"));
	begin_look(&other, 0, 0, "/200", SLICE("s"));
	end_look(&other);
	ck_assert_int_eq(other.asked.end, ASKED_ANSWERED);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
	end_look(&first);
	end_look(&second);
	ck_assert_int_eq(first.asked.outcome.failure, SENDER_TIMED_OUT);
	ck_assert_uint_eq(receiver_count(stand.receiver), 3);
	ck_assert_int_eq(second.asked.outcome.status, 200);
}
END_TEST

/* Requests by account, room and rank, in the order in which they come and in which they are made if
 * none ends. */
static const struct {
	const char *asked, *made;
} queues[] = {
	{ "1a2 1a1 1a3 1a0", "1a0 1a1 1a2 1a3" },
	{ "1a1 1a1 1b1 1a1 1b1", "1a1 1b1 1a1 1b1 1a1" },
	{ "1a0 1a0 1a0 2a3 2a3", "1a0 2a3 1a0 2a3 1a0" },
	{ "1a3 1b3 1c3 1d3 1e3 1a2", "1a2 1b3 1c3 1d3 1e3" },
	{ "1a1 1b1 1c1 1d1 1e1 1f1 1g1 1h1 1a0 1b0 1c0", "1a0 1b0 1c0 1d1 1e1 1f1 1g1 1h1" },
};

START_TEST(requests_have_an_order)
{
	struct media_queue *queue = media_queue_open();
	struct asking askings[16];
	struct asked asked[16], *taken[16], *each;
	struct slice rest = slice_of(queues[_i].asked);
	struct buffer text = BUFFER_INITIAL(stand.arena);
	size_t n = 0, made = 0;
	bool is_late;

	for (; rest.data != NULL; n++) {
		const struct slice word = text_split(rest, ' ', &rest);

		askings[n] = (struct asking){ .rank = (enum asked_rank)(word.data[2] - '0') };
		askings[n].account.bytes[0] = (unsigned char)word.data[0];
		askings[n].room.bytes[0] = (unsigned char)word.data[1];
		asked[n] = (struct asked){ .of = &askings[n], .until = 1000 };
		ck_assert_int_eq(media_queue_add(queue, &asked[n], false, 0), QUEUE_WAITS);
	}
	ck_assert_ptr_null(media_queue_take(queue, false, 1, &is_late));
	while ((each = media_queue_take(queue, true, 1, &is_late)) != NULL) {
		ck_assert(!is_late);
		buffer_append_text(&text, made == 0 ? "" : " ");
		buffer_append_byte(&text, (char)each->of->account.bytes[0]);
		buffer_append_byte(&text, (char)each->of->room.bytes[0]);
		buffer_append_byte(&text, (char)('0' + each->of->rank));
		taken[made++] = each;
	}
	ck_assert_msg(slice_is(buffer_slice(&text), queues[_i].made), "%.*s", (int)text.size,
		      text.data);
	ck_assert_uint_eq(media_queue_waiting(queue), n - made);
	for (size_t i = 0; i < made; i++)
		media_queue_end(queue, taken[i]);
	/* The others have waited for too long. */
	for (; made < n; made++) {
		ck_assert_ptr_nonnull(media_queue_take(queue, true, 1000, &is_late));
		ck_assert(is_late);
	}
	media_queue_close(queue);
}
END_TEST

/* How many requests of each rank to one media server are under way at most. */
static const struct {
	enum asked_rank rank;
	size_t most;
} places[] = {
	{ ASKED_TO_JUDGE, 8 },
	{ ASKED_TO_MANAGE, 6 },
	{ ASKED_TO_LOOK, 6 },
	{ ASKED_FOR_ONESELF, 4 },
};

START_TEST(moderators_find_a_place)
{
	static struct look looks[10], moderator;
	const enum asked_rank rank = places[_i].rank;

	for (unsigned i = 0; i < 10; i++)
		begin_ranked(&looks[i], rank, arena_text(stand.arena, "p%u", i),
			     rank == ASKED_FOR_ONESELF ? ASKED_PART_NAME : 0, "/held");
	ck_assert(receiver_wait(stand.receiver, places[_i].most));
	begin_ranked(&moderator, ASKED_TO_JUDGE, "", 0, "/200");
	if (rank != ASKED_TO_JUDGE) {
		end_look(&moderator);
		ck_assert_int_eq(moderator.asked.outcome.status, 200);
		ck_assert_uint_eq(receiver_most_at_once(stand.receiver), places[_i].most);
	}
	receiver_release(stand.receiver);
	if (rank == ASKED_TO_JUDGE)
		end_look(&moderator);
	for (unsigned i = 0; i < 10; i++)
		end_look(&looks[i]);
	ck_assert_uint_le(receiver_most_at_once(stand.receiver), 8);
}
END_TEST

/* Changes that people make of themselves, each by who makes it and what it sets, in the order in
 * which they are asked for. The first one is under way meanwhile. */
static const struct {
	const char *changes; /* such as a3: a sets name (1) and metadata (2) */
	const char *arrive; /* what the media server gets, in this order, after the first */
} own_changes[] = {
	{ "a1 a1 a1 a1", "a1" }, { "a1 b1 a2", "b1 a2" },	{ "a1 a1 a2 a1", "a1 a2" },
	{ "a1 a1 a2 a3", "a3" }, { "a1 a3 a1 a2", "a3 a1 a2" },
};

/* Returns the number of requests after the first one, and their bodies. */
static const char *arrived_after_first(void)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);

	for (size_t i = 1; i < receiver_count(stand.receiver); i++) {
		if (i > 1)
			buffer_append_byte(&text, ' ');
		buffer_append_text(&text, receiver_request(stand.receiver, i)->body);
	}
	buffer_append_byte(&text, '\0');
	return text.data;
}

START_TEST(the_last_change_of_oneself_counts)
{
	static struct look looks[8];
	const int64_t begun = clock_monotonic();
	struct slice rest = slice_of(own_changes[_i].changes);
	unsigned n = 0;

	while (rest.data != NULL) {
		const struct slice change = text_split(rest, ' ', &rest);

		begin_ranked(&looks[n], ASKED_FOR_ONESELF,
			     arena_text(stand.arena, "%c", change.data[0]),
			     (unsigned)(change.data[1] - '0'), n == 0 ? "/held" : "/204");
		if (n++ == 0)
			ck_assert(receiver_wait(stand.receiver, 1));
	}
	receiver_release(stand.receiver);
	for (unsigned i = 0; i < n; i++) {
		end_look(&looks[i]);
		ck_assert_int_eq(looks[i].asked.end, ASKED_ANSWERED);
		ck_assert_int_eq(looks[i].asked.outcome.status, i == 0 ? 200 : 204);
	}
	ck_assert_str_eq(arrived_after_first(), own_changes[_i].arrive);
	/* Five in a second. */
	ck_assert_int_ge(clock_monotonic() - begun, 200);
}
END_TEST

/* A change that comes late, because its call waited elsewhere, does not undo a later one. */
START_TEST(a_change_that_was_overtaken_is_not_made)
{
	static struct look later, earlier;

	begin_ranked(&later, ASKED_FOR_ONESELF, "a", ASKED_PART_METADATA, "/204");
	end_look(&later);
	later.asking.came = 5;
	for (unsigned i = 0; i < 2; i++) {
		earlier = later;
		earlier.asking.came = i == 0 ? 5 : 4;
		earlier.asked = (struct asked){ .request = later.asked.request,
						.parts = ASKED_PART_METADATA };
		earlier.asking.asked = &earlier.asked;
		earlier.wait.has_ended = false;
		media_client_ask(stand.environment.media_client, &earlier.asking, end_wait,
				 &earlier.wait);
		end_look(&earlier);
		ck_assert_int_eq(earlier.asked.end, i == 0 ? ASKED_ANSWERED : ASKED_REPLACED);
	}
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
}
END_TEST

/* Returns the sender process, which any thread may have started. */
static pid_t child(void)
{
	char text[32] = "";
	glob_t tasks;

	ck_assert_int_eq(glob("/proc/self/task/*/children", 0, NULL, &tasks), 0);
	for (size_t i = 0; i < tasks.gl_pathc && text[0] == '\0'; i++) {
		FILE *file = fopen(tasks.gl_pathv[i], "re");

		ck_assert_ptr_nonnull(file);
		(void)fgets(text, sizeof text, file);
		fclose(file);
	}
	globfree(&tasks);
	ck_assert_str_ne(text, "");
	return (pid_t)strtol(text, NULL, 10);
}

/* Requests that are too large for a message, by a byte or by far. */
static const size_t too_large[] = { SENDER_BYTES_MOST + 1, 4 * SENDER_BYTES_MOST };

START_TEST(a_large_request_ends_no_process)
{
	static struct look large, other;
	const pid_t before = child();
	char *body = arena_alloc(stand.arena, too_large[_i]);

	memset(body, 'x', too_large[_i]);
	large = (struct look){
		.asking = { .account = { { 1 } }, .asked = &large.asked, .count = 1 },
		.asked.request = {
			.url = slice_of(arena_text(stand.arena, "http%s", url_of("/200") + 2)),
			.body = { body, too_large[_i] },
			.is_once = true,
		},
		.wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false },
	};
	media_client_ask(stand.environment.media_client, &large.asking, end_wait, &large.wait);
	end_look(&large);
	ck_assert_int_eq(large.asked.end, ASKED_TOO_LARGE);
	begin_look(&other, 1, 0, "/200", SLICE(""));
	end_look(&other);
	ck_assert_int_eq(other.asked.outcome.status, 200);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
	ck_assert_int_eq(child(), before);
}
END_TEST

/* What only reads is sent once more; what changes something is not. */
START_TEST(a_lost_process_is_replaced)
{
	static struct look reads, changes;

	begin_look(&reads, 0, 0, "/held", SLICE(""));
	begin_look(&changes, 0, 0, "/held", SLICE("x"));
	ck_assert(receiver_wait(stand.receiver, 2));
	ck_assert_int_eq(kill(child(), SIGKILL), 0);
	end_look(&changes);
	ck_assert_int_eq(changes.asked.end, ASKED_LOST);
	ck_assert(changes.asked.outcome.was_sent);
	ck_assert(receiver_wait(stand.receiver, 3));
	receiver_release(stand.receiver);
	end_look(&reads);
	ck_assert_int_eq(reads.asked.end, ASKED_ANSWERED);
	ck_assert_int_eq(reads.asked.outcome.status, 200);
	ck_assert_uint_eq(receiver_count(stand.receiver), 3);
}
END_TEST

/* If the process ends each time, nothing is known of the media server. */
START_TEST(a_lost_test_says_nothing_about_the_server)
{
	const char *backend = make_backend(url_of("/held"));
	struct wait wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct call call = { .arena = arena_open() };

	set_request(&call, METHOD_POST, arena_text(stand.arena, "%s/test", backend), NULL);
	ck_assert(service_answer(stand.service, &call));
	ck_assert(call_is_asking(&call));
	service_ask(&call, end_wait, &wait);
	for (size_t i = 1; i <= 2; i++) {
		ck_assert(receiver_wait(stand.receiver, i));
		ck_assert_int_eq(kill(child(), SIGKILL), 0);
	}
	pthread_mutex_lock(&wait.lock);
	while (!wait.has_ended)
		pthread_cond_wait(&wait.ended, &wait.lock);
	pthread_mutex_unlock(&wait.lock);
	ck_assert(service_answer(stand.service, &call));
	ck_assert_int_eq(call.answer.status, 503);
	arena_close(call.arena);
	ck_assert_str_eq(text_at(health_of(backend), "state"), "unknown");
}
END_TEST

/* ---- a media server with a room ---- */

enum how {
	ANSWERS,
	HANGS,
	TELLS_NONSENSE,
	TELLS_TOO_MUCH,
	HAS_ANOTHER_KEY,
	FAILS,
	LACKS_EVERYBODY,
	UNMUTES, /* answers, and is configured so */
	LOSES_ACTS /* answers who is there, and does not say whether it did something */
};
#define PEOPLE_MOST 300

/* What the media server has. The receiver reads it in its own thread. */
static struct {
	pthread_mutex_t lock;
	enum how how;
	char room[25], sid[32];
	json_int_t created; /* milliseconds */
	struct {
		const char *sid, *identity, *user_id, *entry;
		const char *code; /* or NULL */
		char role[32], name[64];
		char permission[200]; /* JSON; empty: the server does not say */
		json_int_t joined;
	} people[PEOPLE_MOST];
	size_t count;
	size_t removed, left_before_ada; /* people: in all; before Ada */
	const char *tracks; /* of everybody, as JSON; NULL: some */
} kit = { .lock = PTHREAD_MUTEX_INITIALIZER };

static json_t *person_of(size_t i)
{
	json_t *permission = json_loads(kit.people[i].permission, 0, NULL);

	json_t *tracks = kit.tracks == NULL ? NULL : json_loads(kit.tracks, 0, NULL);
	json_t *person = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:I, s:{s:s, s:s, s:s, s:s*}, s:["
		"{s:s, s:s, s:s, s:b, s:{s:I}}, {s:s, s:s, s:s, s:{s:I}}, {s:s, s:s}], "
		"s:o*}",
		"sid", kit.people[i].sid, "identity", kit.people[i].identity, "state", "ACTIVE",
		"name", kit.people[i].name, "metadata", "m", "joined_at_ms", kit.people[i].joined,
		"attributes", "user_id", kit.people[i].user_id, "role", kit.people[i].role, "entry",
		kit.people[i].entry, "code", kit.people[i].code, "tracks", "sid", "TR_1", "type",
		"VIDEO", "source", "SCREEN_SHARE", "muted", 1, "version", "unix_micro",
		(kit.people[i].joined + 1500) * 1000, "sid", "TR_2", "type", "AUDIO", "source",
		"MICROPHONE", "version", "unix_micro", (kit.people[i].joined - 1500) * 1000, "sid",
		"TR_3", "type", "DATA", "permission", permission);
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

static json_t *answer_of(const char *method, const json_t *body, int *status)
{
	const char *room = json_string_value(json_object_get(body, "room"));
	const char *identity = json_string_value(json_object_get(body, "identity"));
	json_t *people;

	if (strcmp(method, "ListRooms") == 0)
		return rooms_named(json_object_get(body, "names"));
	if (strcmp(method, "ListParticipants") == 0) {
		people = json_array();
		for (size_t i = 0; i < kit.count && strcmp(room, kit.room) == 0; i++)
			(void)json_array_append_new(people, person_of(i));
		return json_pack("{s:o}", "participants", people);
	}
	if (strcmp(method, "SendData") == 0)
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
		text = malloc(((size_t)17 << 20) + 1);
		ck_assert_ptr_nonnull(text);
		memset(text, ' ', (size_t)17 << 20);
		memcpy(text, "{\"rooms\":[],\"participants\":[]}", 30);
		text[(size_t)17 << 20] = '\0';
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

static void kit_set(enum how how)
{
	pthread_mutex_lock(&kit.lock);
	kit.how = how;
	pthread_mutex_unlock(&kit.lock);
}

/* Somebody joins the room. The media server knows people by their user_id if that is certain. */
static void kit_join(const char *sid, const char *identity, const char *user_id, const char *entry)
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
	kit.people[kit.count].permission[0] = '\0';
	kit.people[kit.count].joined = clock_now(&clock_system) - 60000 + (json_int_t)kit.count;
	kit.count++;
	pthread_mutex_unlock(&kit.lock);
}

/* Replaces the people of the room by this one. NULL: nobody is inside. */
static void kit_people(const char *sid, const char *entry)
{
	pthread_mutex_lock(&kit.lock);
	kit.count = 0;
	pthread_mutex_unlock(&kit.lock);
	if (sid != NULL)
		kit_join(sid, "ada#1", "ada", entry);
}

static void kit_room(const char *sid, json_int_t created)
{
	pthread_mutex_lock(&kit.lock);
	(void)snprintf(kit.sid, sizeof kit.sid, "%s", sid);
	kit.created = created;
	pthread_mutex_unlock(&kit.lock);
}

static struct lease *lease;
static struct live_watch *watch;

static void start_watch(void)
{
	lease = lease_open(stand.environment.store, &clock_system);
	watch = live_watch_open(&stand.environment, lease);
}

static void stop_watch(void)
{
	live_watch_end(watch);
	media_client_close(stand.environment.media_client);
	live_watch_close(watch);
	lease_close(lease);
	watch = NULL;
}

/* The program starts again, so all media servers are looked at. */
static void restart_watch(void)
{
	struct fault fault = FAULT_INITIAL;

	stop_watch();
	sender_close(stand.sender);
	ck_assert(sender_open(&stand.options, &stand.sender, &fault));
	service_close(stand.service);
	stand.environment.media_client = media_client_open(stand.sender);
	stand.service = service_open(&stand.environment);
	start_watch();
}

static const char *backend, *room; /* paths */

static void set_up_kit(void)
{
	const json_t *made;

	set_up();
	bearer = NULL;
	kit.tracks = NULL;
	kit.removed = kit.left_before_ada = 0;
	kit_set(ANSWERS);
	receiver_serve(stand.receiver, serve_kit, NULL);
	backend = make_backend(url_of(""));
	(void)ask(200, METHOD_PATCH, backend, "{\"default\":true}");
	(void)ask(
		200, METHOD_POST, "/v2/templates",
		"{\"default\":true,\"roles\":{\"guest\":{},\"host\":{\"permissions\":{\"sendRoomState\":true,\"mute\":true,\"endRoom\":true}}}}");
	made = parsed(ask(200, METHOD_POST, "/v2/rooms", "{}"));
	(void)snprintf(kit.room, sizeof kit.room, "%s", text_at(made, "id"));
	room = arena_text(stand.arena, "/v2/active-rooms/%s", kit.room);
	kit_room("RM_1", clock_now(&clock_system) - 120000);
	kit_people("PA_1", "e1");
}

static void tear_down_kit(void)
{
	if (watch != NULL) {
		stop_watch();
		stand.environment.media_client = NULL;
	}
	tear_down();
}

/* Asks until the response contains the text, at most so many milliseconds. Returns the response. */
static const char *ask_for(const char *path, const char *text, int64_t most)
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

static const char *ask_until(const char *path, const char *text)
{
	return ask_for(path, text, 30000);
}

/* Returns the first peer of the first session. */
static const json_t *first_peer(void)
{
	const json_t *list = parsed(ask(200, METHOD_GET, "/v2/sessions", NULL));
	const json_t *session = json_array_get(json_object_get(list, "data"), 0);

	return json_object_iter_value(json_object_iter(json_object_get(session, "peers")));
}

/* Sends an event of the media server; authorization NULL: signed. */
static int tell(const char *authorization, const char *event)
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
		.uri = slice_of(arena_text(call.arena, "%s/events", backend)),
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

static const char *joined_event(const char *sid)
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

/* Returns a join token that was made so many seconds ago. */
static const char *token_made(const char *entry, int64_t ago)
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

static const char *token_with_entry(const char *entry)
{
	return token_made(entry, 0);
}

START_TEST(a_look_finds_who_has_joined)
{
	char joined[TEXT_TIME_SIZE];
	const json_t *peer;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	peer = first_peer();
	text_time_milliseconds(kit.people[0].joined, joined);
	ck_assert_str_eq(text_at(peer, "user_id"), "ada");
	ck_assert_str_eq(text_at(peer, "role"), "host");
	ck_assert_str_eq(text_at(peer, "joined_at"), joined);
	ck_assert_uint_eq(events("session.open.success"), 1);
	ck_assert_uint_eq(events("peer.join.success"), 1);
	ck_assert_str_eq(text_at(health_of(backend), "state"), "up");
	/* The event, when it comes, tells nothing new. */
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	restart_watch();
	(void)ask_until(room, "\"peer_count\":1");
	ck_assert_uint_eq(events("peer.*"), 1);
}
END_TEST

/* Somebody who is missing is asked for again 5 s later. */
START_TEST(looks_find_who_has_left)
{
	const char *path = "/v2/events?type=peer.leave.success", *event;
	int64_t removed;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	kit_people(NULL, NULL);
	removed = clock_monotonic();
	(void)ask(200, METHOD_GET, room, NULL); /* has it looked at */
	(void)ask_until(room, "\"peer_count\":0");
	ck_assert(clock_monotonic() - removed >= 5000);
	ck_assert(clock_monotonic() - removed < 12000);
	event = ask_until(path, "peer.leave");
	ck_assert_ptr_nonnull(strstr(event, "\"reason\":\"server removed peer\""));
	ck_assert_ptr_nonnull(strstr(event, "\"cause\":\"unseen\""));
	/* It had not left: it is a new stay. */
	kit_people("PA_1", "e1");
	(void)ask_until(room, "\"peer_count\":1");
	ck_assert_uint_eq(events("peer.join.success"), 2);
	/* From inside, its name is still that of the media server. */
	bearer = token_with_entry("e1");
	(void)ask(200, METHOD_GET, arena_text(stand.arena, "%s/peers/PA_1", room), NULL);
}
END_TEST

/* Unless somebody of it comes back: then the server was restarted. */
START_TEST(a_room_that_was_made_again_is_another_session)
{
	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	kit_room("RM_2", clock_now(&clock_system));
	kit_people(NULL, NULL);
	kit_join("PA_2", "eve", "eve", "e2");
	(void)ask_until(room, "\"peer_count\":1");
	(void)ask_until("/v2/sessions?active=false", "\"active\":false");
	(void)ask_until(room, "\"peer_count\":1");
	ck_assert_uint_eq(events("session.open.success"), 2);
	ck_assert_uint_eq(events("session.close.success"), 1);
	ck_assert_uint_eq(events("peer.leave.success"), 1);
	kit_people(NULL, NULL);
	kit_room("RM_3", clock_now(&clock_system));
	kit_join("PA_3", "eve", "eve", "e2");
	kit_join("PA_4", "ada#1", "ada", "e1");
	(void)ask_until(room, "\"peer_count\":2");
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
	(void)ask_until(room, "\"peer_count\":1");
	kit_set(bad_answers[_i].how);
	restart_watch();
	(void)ask_until(backend, "\"state\":\"down\"");
	ck_assert_str_eq(text_at(health_of(backend), "message"), bad_answers[_i].message);
	ck_assert_uint_eq(events("backend.down"), 1);
	(void)ask_until(room, "\"peer_count\":1");
	ck_assert_uint_eq(events("peer.leave.success"), 0);
	/* It is asked again at once when it tells something. */
	kit_set(ANSWERS);
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	told = clock_monotonic();
	(void)ask_until(backend, "\"state\":\"up\"");
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
	(void)ask_until(backend, "\"state\":\"up\"");
	kit_set(FAILS);
	ck_assert_str_eq(text_at(test_backend(backend), "state"), "down");
	before = receiver_count(stand.receiver);
	restart_watch();
	ck_assert(receiver_wait(stand.receiver, before + 1));
	kit_set(ANSWERS);
	(void)ask_for(backend, "\"state\":\"up\"", 45000);
}
END_TEST

/* ---- one of the people inside ---- */

static const char *peer_path(void)
{
	return arena_text(stand.arena, "%s/peers/%s", room, text_at(first_peer(), "id"));
}

START_TEST(a_peer_alone_has_its_tracks)
{
	const char *path;
	const json_t *peer, *tracks, *track;
	char joined[TEXT_TIME_SIZE], started[TEXT_TIME_SIZE];

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
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
	(void)ask_until(room, "\"peer_count\":1");
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

/* ---- acting ---- */

/* Returns the last request with this method that arrived, or NULL. */
static const json_t *last_request(const char *method)
{
	for (size_t i = receiver_count(stand.receiver); i-- > 0;) {
		const struct received *received = receiver_request(stand.receiver, i);

		if (strcmp(strrchr(received->path, '/') + 1, method) == 0)
			return parsed(received->body);
	}
	return NULL;
}

static size_t requests_of(const char *method)
{
	size_t n = 0;

	for (size_t i = receiver_count(stand.receiver); i-- > 0;)
		n += strcmp(strrchr(receiver_request(stand.receiver, i)->path, '/') + 1, method) ==
		     0;
	return n;
}

#define GONE "{\"code\":404,\"message\":\"peer not found\"}"

#define MUTED "{\"message\":\"peer mute request submitted\"}"
#define NO_TRACK "{\"code\":404,\"message\":\"peer has no such track\"}"

static const struct {
	const char *body;
	enum how how;
	bool is_inside; /* the caller; its role may mute, not unmute */
	int status;
	const char *text; /* in the response */
	const char *track; /* that was muted; NULL: nothing was */
} mutes[] = {
	{ "{\"type\":\"audio\",\"mute\":true}", ANSWERS, false, 200, MUTED, "TR_2" },
	{ "{\"type\":\"screen\",\"mute\":true}", ANSWERS, false, 200, MUTED, "TR_1" },
	{ "{\"type\":\"video\",\"mute\":true}", ANSWERS, false, 404, NO_TRACK, NULL },
	{ "{\"type\":\"audio\",\"mute\":false}", UNMUTES, false, 200, MUTED, "TR_2" },
	{ "{\"type\":\"audio\",\"mute\":false}", ANSWERS, false, 501,
	  "[\"unmute: room.enable_remote_unmute is off\"]", "TR_2" },
	{ "{\"type\":\"audio\",\"mute\":true}", ANSWERS, true, 200, MUTED, "TR_2" },
	{ "{\"type\":\"audio\",\"mute\":false}", UNMUTES, true, 403, "Missing permission unmute",
	  NULL },
	{ "{\"type\":\"audio\",\"mute\":true}", LACKS_EVERYBODY, false, 404, GONE, NULL },
	{ "{\"type\":\"audio\",\"mute\":true}", FAILS, false, 502, "status 500", NULL },
	{ "{\"type\":\"audio\",\"mute\":true}", LOSES_ACTS, false, 504, "It may have been done",
	  "TR_2" },
	{ "{\"type\":\"data\",\"mute\":true}", ANSWERS, false, 400, "/type", NULL },
	{ "{\"type\":\"audio\"}", ANSWERS, false, 400, "/mute", NULL },
	{ "{\"mute\":true}", ANSWERS, false, 400, "/type", NULL },
};

START_TEST(tracks_are_muted_or_calls_refused)
{
	const bool is_muted = strstr(mutes[_i].body, "true") != NULL;
	const json_t *arrived;
	const char *path;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/mute", peer_path());
	kit_set(mutes[_i].how);
	if (mutes[_i].is_inside)
		bearer = token_with_entry("e1");
	ck_assert_ptr_nonnull(
		strstr(ask(mutes[_i].status, METHOD_POST, path, mutes[_i].body), mutes[_i].text));
	arrived = last_request("MutePublishedTrack");
	ck_assert_int_eq(arrived != NULL, mutes[_i].track != NULL);
	if (arrived == NULL)
		return;
	ck_assert_str_eq(text_at(arrived, "track_sid"), mutes[_i].track);
	ck_assert_str_eq(text_at(arrived, "room"), kit.room);
	ck_assert_str_eq(text_at(arrived, "identity"), "ada#1");
	ck_assert_int_eq(json_is_true(json_object_get(arrived, "muted")), is_muted);
}
END_TEST

/* Of several tracks, the first of each kind is muted: all of the kind are muted nevertheless. */
#define MANY_TRACKS \
	"[{\"sid\":\"TR_1\",\"type\":\"AUDIO\",\"source\":\"MICROPHONE\",\"muted\":true}," \
	"{\"sid\":\"TR_2\",\"type\":\"VIDEO\",\"source\":\"CAMERA\",\"muted\":true}," \
	"{\"sid\":\"TR_3\",\"type\":\"VIDEO\",\"source\":\"SCREEN_SHARE\",\"muted\":true}," \
	"{\"sid\":\"TR_4\",\"type\":\"AUDIO\",\"source\":\"MICROPHONE\"}," \
	"{\"sid\":\"TR_5\",\"type\":\"AUDIO\",\"source\":\"SCREEN_SHARE_AUDIO\"}," \
	"{\"sid\":\"TR_6\",\"type\":\"AUDIO\",\"source\":\"UNKNOWN\"}," \
	"{\"sid\":\"TR_7\",\"type\":\"AUDIO\"}," \
	"{\"sid\":\"TR_8\",\"type\":\"VIDEO\",\"source\":\"CAMERA\"}," \
	"{\"sid\":\"TR_9\",\"type\":\"DATA\"}]"
static const struct {
	const char *type, *tracks;
} muted_together[] = {
	{ "audio", "TR_1 TR_4 TR_6 TR_7" },
	{ "video", "TR_2 TR_8" },
	{ "screen", "TR_3 TR_5" },
};

START_TEST(all_tracks_of_a_kind_are_muted)
{
	struct buffer tracks = BUFFER_INITIAL(stand.arena);

	kit.tracks = MANY_TRACKS;
	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/mute", peer_path()),
		  arena_text(stand.arena, "{\"type\":\"%s\",\"mute\":true}",
			     muted_together[_i].type));
	for (size_t i = 1; i < 10; i++) {
		const char *sid = arena_text(stand.arena, "TR_%zu", i);

		for (size_t j = 0; j < receiver_count(stand.receiver); j++) {
			const struct received *received = receiver_request(stand.receiver, j);

			if (strstr(received->path, "/MutePublishedTrack") == NULL ||
			    strcmp(text_at(parsed(received->body), "track_sid"), sid) != 0)
				continue;
			buffer_append_text(&tracks, tracks.size > 0 ? " " : "");
			buffer_append_text(&tracks, sid);
		}
	}
	ck_assert_msg(slice_is(buffer_slice(&tracks), muted_together[_i].tracks), "%.*s",
		      (int)tracks.size, tracks.data);
}
END_TEST

#define REMOVED "{\"message\":\"peer remove request submitted\"}"
#define ENDED "{\"message\":\"session is ending\"}"
#define REMOVE "RemoveParticipant"
#define END "DeleteRoom"

/* In a body, PEER stands for the one who is inside. */
#define UPDATE "UpdateParticipant"

/* In a call or a body, PEER stands for the one who is inside. */
static const struct {
	const char *call, *body;
	enum how how;
	bool is_inside; /* the caller; its role may end the room, not remove others */
	int status;
	const char *text; /* in the response */
	const char *method; /* the request that acts; NULL: there is none */
	const char *event; /* in the log, or NULL */
} acts[] = {
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"reason\":\"why\"}", ANSWERS, false, 200, REMOVED,
	  REMOVE, "\"reason\":\"peer kicked\",\"cause\":\"removed\",\"message\":\"why\"" },
	{ "remove-peers", "{\"role\":\"host\"}", ANSWERS, false, 200, REMOVED, REMOVE,
	  "\"cause\":\"removed\",\"message\":\"\"" },
	{ "remove-peers", "{\"role\":\"guest\"}", ANSWERS, false, 200, REMOVED, NULL, NULL },
	/* A peer wins over a role. */
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"role\":\"king\"}", ANSWERS, false, 200, REMOVED,
	  REMOVE, "\"cause\":\"removed\"" },
	{ "remove-peers", "{\"role\":\"king\"}", ANSWERS, false, 400,
	  "/role: must be a role of the room's template, got \\\"king\\\"", NULL, NULL },
	{ "remove-peers", "{}", ANSWERS, false, 400, "/peer_id: is required unless role is sent",
	  NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"\",\"role\":\"\"}", ANSWERS, false, 400, "/peer_id", NULL,
	  NULL },
	{ "remove-peers", "{\"peer_id\":\"x\"}", ANSWERS, false, 404, GONE, NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", ANSWERS, true, 403,
	  "Missing permission removeOthers", NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", LACKS_EVERYBODY, false, 404, GONE, NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", FAILS, false, 502, "status 500", NULL, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", LOSES_ACTS, false, 504, "It may have been done",
	  REMOVE, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", ANSWERS, false, 200,
	  "\"role\":\"guest\",\"joined_at\"", UPDATE, "\"role\":\"guest\",\"joined_at\"" },
	{ "peers/PEER", "{\"name\":\"Eve\",\"metadata\":\"\"}", ANSWERS, false, 200,
	  "\"name\":\"Eve\",\"user_id\":\"ada\",\"metadata\":\"\"", UPDATE, NULL },
	{ "peers/PEER", "{\"metadata\":\"x\"}", ANSWERS, true, 200, "\"metadata\":\"x\"", UPDATE,
	  NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", ANSWERS, true, 403, "Missing permission changeRole",
	  NULL, NULL },
	{ "peers/PEER", "{\"role\":\"king\"}", ANSWERS, false, 400,
	  "/role: must be a role of the room's template, got \\\"king\\\"", NULL, NULL },
	{ "peers/PEER", "{\"name\":\"\"}", ANSWERS, false, 400,
	  "/role: is required unless name or metadata is sent", NULL, NULL },
	{ "peers/x", "{\"name\":\"Eve\"}", ANSWERS, false, 404, GONE, NULL, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", LACKS_EVERYBODY, false, 404, GONE, NULL, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", FAILS, false, 502, "status 500", NULL, NULL },
	{ "peers/PEER", "{\"role\":\"guest\"}", LOSES_ACTS, false, 504, "It may have been done",
	  UPDATE, NULL },
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"ban\":true}", ANSWERS, false, 200,
	  "\"not_enforced\":[\"ban\"]}", REMOVE, "\"cause\":\"removed\"" },
	{ "remove-peers", "{\"peer_id\":\"PEER\",\"ban\":0}", ANSWERS, false, 400,
	  "/ban: must be a boolean or 1 to 315360000 seconds", NULL, NULL },
	{ "end-room", "{}", ANSWERS, false, 200, ENDED, END,
	  "\"lock_room\":false,\"reason\":\"\",\"source\":\"api\"" },
	{ "end-room", "{\"reason\":\"why\"}", ANSWERS, false, 200, ENDED, END,
	  "\"reason\":\"peer kicked\",\"cause\":\"ended\",\"message\":\"why\"" },
	{ "end-room", "{\"lock\":true}", ANSWERS, true, 200, ENDED, END,
	  "\"role\":\"host\",\"lock_room\":true,\"reason\":\"\",\"source\":\"peer\"" },
	{ "end-room", "{\"lock\":true}", ANSWERS, false, 200, ENDED, END,
	  "\"changed\":[\"/enabled\"]" },
	{ "end-room", "{}", LACKS_EVERYBODY, false, 200, ENDED, END, "\"source\":\"api\"" },
	{ "end-room", "{}", FAILS, false, 502, "[\"status 500\"]", END, NULL },
	{ "end-room", "{\"lock\":true}", FAILS, false, 502,
	  "[\"status 500\",\"the room is locked\"]", END, "\"changed\":[\"/enabled\"]" },
	{ "end-room", "{\"lock\":true}", LOSES_ACTS, false, 504, "[\"the room is locked\"]", END,
	  "\"changed\":[\"/enabled\"]" },
	{ "end-room", "{\"lock\":1}", ANSWERS, false, 400, "/lock", NULL, NULL },
};

START_TEST(people_are_put_out_or_calls_refused)
{
	const bool is_done = acts[_i].status == 200 && acts[_i].method != NULL &&
			     strcmp(acts[_i].method, UPDATE) != 0;
	const json_t *told;
	struct slice body;
	const char *path;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/%s", room, acts[_i].call);
	if (strstr(path, "PEER") != NULL)
		path = arena_copy(stand.arena,
				  replaced(slice_of(path), "PEER", text_at(first_peer(), "id")))
			       .data;
	body = slice_of(acts[_i].body);
	if (strstr(acts[_i].body, "PEER") != NULL)
		body = replaced(body, "PEER", text_at(first_peer(), "id"));
	kit_set(acts[_i].how);
	if (acts[_i].is_inside)
		bearer = token_with_entry("e1");
	ck_assert_ptr_nonnull(
		strstr(ask(acts[_i].status, METHOD_POST, path, arena_copy(stand.arena, body).data),
		       acts[_i].text));
	bearer = NULL;
	ck_assert_int_eq(last_request(REMOVE) != NULL || last_request(END) != NULL ||
				 last_request(UPDATE) != NULL,
			 acts[_i].method != NULL);
	if (acts[_i].method != NULL)
		ck_assert_ptr_nonnull(last_request(acts[_i].method));
	if (acts[_i].event != NULL)
		(void)ask_until("/v2/events?limit=100", acts[_i].event);
	if (!is_done)
		return;
	/* They were told why. */
	told = last_request("SendData");
	ck_assert_str_eq(text_at(told, "topic"), "anteroom");
	ck_assert_uint_eq(json_array_size(json_object_get(told, "destination_identities")), 1);
	ck_assert_uint_eq(events("peer.leave.success"), 1);
	ck_assert_uint_eq(events("session.close.success"), strcmp(acts[_i].method, END) == 0);
	ck_assert_uint_eq(events("room.end.success"), strcmp(acts[_i].method, END) == 0);
}
END_TEST

/* After the call, which is not about the people, somebody may not be inside any more, or not as
 * before. In a path, ROOM and TEMPLATE stand for their ids. */
static const struct {
	enum method method;
	const char *path, *body;
	const char *act; /* of the media server, or NULL */
	const char *says; /* its last request */
	const char *told; /* what the person is told; NULL: nothing */
	const char *event; /* in the log, or NULL */
} judged[] = {
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"enabled\":false}", END, "ROOM",
	  "{\"type\":\"ended\",\"cause\":\"disabled\",\"reason\":\"\"}",
	  "\"lock_room\":false,\"reason\":\"disabled\",\"source\":\"api\"" },
	{ METHOD_DELETE, "/v2/rooms/ROOM", NULL, END, "ROOM",
	  "{\"type\":\"ended\",\"cause\":\"ended\",\"reason\":\"\"}",
	  "\"cause\":\"ended\",\"message\":\"deleted\"" },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"opens_at\":\"2990-01-01T00:00:00Z\"}", END, "ROOM",
	  "{\"type\":\"ended\",\"cause\":\"closed\",\"reason\":\"\"}",
	  "\"cause\":\"ended\",\"message\":\"closed\"" },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"max_duration_seconds\":120}", NULL, NULL, NULL,
	  NULL },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"name\":\"x\"}", NULL, NULL, NULL, NULL },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"size\":3}", NULL, NULL, NULL, NULL },
	{ METHOD_PATCH, "/v2/rooms/ROOM", "{\"size\":2}", REMOVE, "\"eve\"",
	  "{\"type\":\"removed\",\"cause\":\"full\",\"reason\":\"\"}",
	  "\"reason\":\"peer kicked\",\"cause\":\"full\",\"message\":\"\"" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/host", "{\"maxPeerCount\":2}", REMOVE,
	  "\"eve\"", "{\"type\":\"removed\",\"cause\":\"full\",\"reason\":\"\"}",
	  "\"cause\":\"full\"" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/host", "{\"maxPeerCount\":-1}", REMOVE, "",
	  "{\"type\":\"removed\",\"cause\":\"not_admitted\",\"reason\":\"\"}",
	  "\"cause\":\"not_admitted\"" },
	{ METHOD_DELETE, "/v2/templates/TEMPLATE/roles/host", NULL, REMOVE, "",
	  "{\"type\":\"removed\",\"cause\":\"not_admitted\",\"reason\":\"\"}",
	  "\"cause\":\"not_admitted\"" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/host", "{\"name\":\"chief\"}", UPDATE,
	  "\"role\":\"chief\"", NULL, NULL },
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"eve\"}", REMOVE, "\"eve\"",
	  "{\"type\":\"removed\",\"cause\":\"banned\",\"reason\":\"\"}",
	  "\"cause\":\"banned\",\"message\":\"\"" },
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"eve\",\"room_id\":\"ROOM\"}", REMOVE, "\"eve\"",
	  "{\"type\":\"removed\",\"cause\":\"banned\",\"reason\":\"\"}", "\"cause\":\"banned\"" },
	/* Whom another service let in, like an operator's own client, is not put out. */
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"guard\"}", NULL, NULL, NULL, NULL },
};

static const char *filled(const char *text)
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

/* Waits until the media server has got this request, at most 30 s. */
static const json_t *await_request(const char *method)
{
	const int64_t end = clock_monotonic() + 30000;

	while (last_request(method) == NULL) {
		ck_assert_msg(clock_monotonic() < end, "no %s", method);
		(void)poll(NULL, 0, 20);
	}
	return last_request(method);
}

/* Events, of those that are needed and of others; and whether they are the media server's. */
static const struct {
	bool joins;
	const char *event, *authorization;
	bool counts;
} last_events[] = {
	{ true, NULL, NULL, true },
	{ false, "{\"event\":\"track_published\",\"room\":{\"sid\":\"RM_1\",\"name\":\"x\"}}", NULL,
	  true },
	{ false, "{\"event\":\"room_started\"}", "nonsense", false },
};

START_TEST(the_last_event_has_its_time)
{
	const int64_t end = clock_monotonic() + 30000;
	const json_t *last = NULL;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	ck_assert(json_is_null(
		json_object_get(parsed(ask(200, METHOD_GET, backend, NULL)), "last_event_at")));
	ck_assert_int_eq(tell(last_events[_i].authorization,
			      last_events[_i].joins ? joined_event("PA_1") : last_events[_i].event),
			 last_events[_i].counts ? 204 : 401);
	/* A later change shows that it was not counted. */
	if (!last_events[_i].counts) {
		(void)ask(204, METHOD_DELETE, arena_text(stand.arena, "/v2/rooms/%s", kit.room),
			  NULL);
		(void)await_request(END);
		ck_assert(json_is_null(json_object_get(parsed(ask(200, METHOD_GET, backend, NULL)),
						       "last_event_at")));
		return;
	}
	do {
		ck_assert_msg(clock_monotonic() < end, "no event");
		last = json_object_get(parsed(ask(200, METHOD_GET, backend, NULL)),
				       "last_event_at");
	} while (json_is_null(last));
	ck_assert_ptr_nonnull(strchr(json_string_value(last), 'Z'));
}
END_TEST

START_TEST(who_may_not_be_inside_is_put_out)
{
	const char *says;
	const json_t *told;

	kit_join("PA_2", "eve", "eve", "e2");
	kit_join("PA_3", "guard", "guard", "");
	start_watch();
	(void)ask_until(room, "\"peer_count\":3");
	(void)ask(judged[_i].method == METHOD_DELETE ? 204 : 200, judged[_i].method,
		  filled(judged[_i].path),
		  judged[_i].body == NULL ? NULL : filled(judged[_i].body));
	if (judged[_i].act == NULL) {
		/* A later change shows that this one has been judged. */
		(void)ask(200, METHOD_PATCH, filled("/v2/rooms/ROOM"), "{\"enabled\":false}");
		(void)await_request(END);
		ck_assert_ptr_null(last_request(REMOVE));
		ck_assert_ptr_null(last_request(UPDATE));
		return;
	}
	says = json_dumps(await_request(judged[_i].act), JSON_COMPACT);
	ck_assert_msg(strstr(says, filled(judged[_i].says)) != NULL, "%s", says);
	free((char *)says);
	if (judged[_i].event != NULL)
		(void)ask_until("/v2/events?limit=100", judged[_i].event);
	ck_assert_ptr_null(strcmp(judged[_i].act, END) == 0 ? last_request(REMOVE)
							    : last_request(END));
	told = last_request("SendData");
	ck_assert_int_eq(told != NULL, judged[_i].told != NULL);
	if (told != NULL)
		ck_assert_str_eq(
			text_at(told, "data"),
			arena_copy(stand.arena, text_base64(stand.arena, slice_of(judged[_i].told)))
				.data);
}
END_TEST

/* Waits until so many people should have been put out for 10 s. */
static void await_overdue(uint64_t n)
{
	const int64_t end = clock_monotonic() + 30000;
	struct live_figures figures;

	do {
		ck_assert_msg(clock_monotonic() < end, "%llu", (unsigned long long)n);
		(void)poll(NULL, 0, 20);
		live_watch_figures(watch, &figures);
	} while (figures.overdue_removals != n);
}

/* The watch finds the server while it puts somebody out there, who is banned. The server does not
 * say for a while whether it was done. */
START_TEST(acts_at_a_new_server_are_not_held_up)
{
	int64_t begun;

	kit_room("", 0);
	kit_people(NULL, NULL);
	start_watch();
	stand.options.patience = 3000;
	restart_watch();
	(void)ask_until(backend, "\"state\":\"up\"");
	(void)ask(200, METHOD_POST, "/v2/bans", "{\"user_id\":\"ada\"}");
	kit_room("RM_1", clock_now(&clock_system) - 120000);
	kit_people("PA_1", "e1");
	kit_set(LOSES_ACTS);
	(void)ask(200, METHOD_PATCH, backend, "{\"name\":\"former\"}");
	backend = make_backend(url_of("/new"));
	begun = clock_monotonic();
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	(void)await_request(REMOVE);
	await_overdue(1);
	ck_assert_int_ge(clock_monotonic() - begun, 10000);
	kit_set(ANSWERS);
	(void)ask_until(room, "\"peer_count\":0");
	await_overdue(0);
}
END_TEST

/* Returns true if the media server was asked to put out Ada. */
static bool ada_is_put_out(void)
{
	for (size_t i = receiver_count(stand.receiver); i-- > 0;) {
		const struct received *received = receiver_request(stand.receiver, i);

		if (strcmp(strrchr(received->path, '/') + 1, REMOVE) == 0 &&
		    strcmp(text_at(parsed(received->body), "identity"), "ada#1") == 0)
			return true;
	}
	return false;
}

/* Ada puts out all hosts, of whom she is one: by the call, or, where the media server does not say
 * whether it has put out the others, by the service. */
START_TEST(the_caller_is_put_out_last)
{
	static const struct {
		enum how how;
		int status;
	} rows[] = { { ANSWERS, 200 }, { LOSES_ACTS, 504 } };

	kit_join("PA_2", "eve", "eve", "e2");
	kit_join("PA_3", "bob", "bob", "e3");
	start_watch();
	(void)ask_until(room, "\"peer_count\":3");
	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/host"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_set(rows[_i].how);
	bearer = token_with_entry("e1");
	(void)ask(rows[_i].status, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room),
		  "{\"role\":\"host\"}");
	bearer = NULL;
	ck_assert_int_eq(ada_is_put_out(), rows[_i].status == 200);
	kit_set(ANSWERS);
	(void)ask_until(room, "\"peer_count\":0");
	ck_assert_uint_eq(events("peer.leave.success"), 3);
	ck_assert_str_eq(text_at(last_request(REMOVE), "identity"), "ada#1");
	pthread_mutex_lock(&kit.lock);
	ck_assert_uint_eq(kit.left_before_ada, 2);
	pthread_mutex_unlock(&kit.lock);
}
END_TEST

/* A token may have the role, and rights that the role does not have. The role host may do all. */
#define ALL_SOURCES "[\"MICROPHONE\",\"CAMERA\",\"SCREEN_SHARE\",\"SCREEN_SHARE_AUDIO\"]"
static const struct {
	const char *permission;
	bool is_right;
} permissions[] = {
	{ "", true },
	{ "{\"can_subscribe\":true,\"can_publish\":true}", true },
	{ "{\"can_subscribe\":true,\"can_publish\":true,\"can_publish_sources\":" ALL_SOURCES "}",
	  true },
	{ "{\"can_subscribe\":true,\"can_publish\":true,\"can_publish_sources\":[\"CAMERA\"]}",
	  false },
	{ "{\"can_subscribe\":true,\"can_publish\":false}", false },
	{ "{\"can_subscribe\":false,\"can_publish\":true}", false },
};

START_TEST(who_has_other_rights_gets_those_of_the_role)
{
	const json_t *update;

	(void)snprintf(kit.people[0].permission, sizeof kit.people[0].permission, "%s",
		       permissions[_i].permission);
	start_watch();
	if (!permissions[_i].is_right) {
		update = await_request(UPDATE);
		ck_assert(json_is_true(
			json_object_get(json_object_get(update, "permission"), "can_publish")));
	} else {
		(void)ask_until(room, "\"peer_count\":1");
	}
	/* A later change shows that this has been judged. */
	(void)ask(200, METHOD_PATCH, filled("/v2/rooms/ROOM"), "{\"enabled\":false}");
	(void)await_request(END);
	ck_assert_uint_eq(requests_of(UPDATE), !permissions[_i].is_right);
}
END_TEST

/* What callers may do. Ada, with the entry e1, is one of them; Eve is inside, too. */
enum caller_kind {
	MANAGES,
	HAS_KEY, /* with the scope in `of` */
	IS_INSIDE, /* with the permission in `of`; the token says that the role is host */
	WAS_REMOVED,
	IS_ELSEWHERE, /* has a token of another room */
	IS_NOT_THERE /* has a token, perhaps of somebody else, and is not inside */
};

static const struct {
	enum method method;
	const char *path, *body; /* EVE and ADA stand for their ids */
} questions[] = {
	{ METHOD_GET, "", NULL },
	{ METHOD_GET, "/peers/EVE", NULL },
	{ METHOD_GET, "/me", NULL },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"role\":\"guest\"}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"role\":\"host\"}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"name\":\"x\"}" },
	{ METHOD_POST, "/peers/EVE?validate_only=true", "{\"metadata\":\"x\"}" },
	{ METHOD_POST, "/peers/ADA?validate_only=true", "{\"name\":\"x\",\"metadata\":\"x\"}" },
	{ METHOD_POST, "/peers/EVE/mute?validate_only=true", "{\"type\":\"audio\",\"mute\":true}" },
	{ METHOD_POST, "/peers/EVE/mute?validate_only=true",
	  "{\"type\":\"audio\",\"mute\":false}" },
	{ METHOD_POST, "/send-message?validate_only=true", "{\"message\":\"x\"}" },
	{ METHOD_POST, "/remove-peers?validate_only=true", "{\"peer_id\":\"EVE\"}" },
	{ METHOD_POST, "/remove-peers?validate_only=true", "{\"role\":\"host\",\"ban\":true}" },
	{ METHOD_POST, "/end-room?validate_only=true", "{}" },
	{ METHOD_POST, "/end-room?validate_only=true", "{\"lock\":true}" },
	{ METHOD_GET, "/tickets", NULL },
	{ METHOD_POST, "/tickets?validate_only=true", "{\"admit\":\"all\"}" },
};

/* The first digits of the statuses, in the order of the questions; 4 is 403. Nobody inside can
 * give others a power that they lack themselves: host has some. */
static const struct {
	enum caller_kind kind;
	const char *of, *statuses;
} askers[] = {
	{ MANAGES, NULL, "22422222222222222" },
	{ HAS_KEY, "live:write", "22422222222222244" },
	{ HAS_KEY, "live:read", "22444444444444444" },
	{ HAS_KEY, "rooms:write", "44444444444444444" },
	{ HAS_KEY, "tickets:write", "44444444444444422" },
	{ IS_INSIDE, "pollRead", "44244442444444444" },
	{ IS_INSIDE, "sendRoomState", "22244442444444444" },
	{ IS_INSIDE, "changeRole", "44224442444444444" },
	{ IS_INSIDE, "mute", "44244442244444444" },
	{ IS_INSIDE, "unmute", "44244442424444444" },
	{ IS_INSIDE, "removeOthers", "44244442444224422" },
	{ IS_INSIDE, "endRoom", "44244442444442244" },
	{ WAS_REMOVED, NULL, "44444444444444444" },
	{ IS_ELSEWHERE, NULL, "44444444444444444" },
	{ IS_NOT_THERE, NULL, "44444444444444444" },
};

static const char *with_ids(const char *text, const char *ada, const char *eve)
{
	struct slice all = slice_of(text);

	if (strstr(text, "ADA") != NULL)
		all = replaced(all, "ADA", ada);
	if (strstr(text, "EVE") != NULL)
		all = replaced(all, "EVE", eve);
	return arena_copy(stand.arena, all).data;
}

static const char *id_of_peer(const char *user_id)
{
	const char *list = ask(200, METHOD_GET,
			       arena_text(stand.arena, "%s/peers?user_id=%s", room, user_id), NULL);
	const json_t *peers = json_object_get(parsed(list), "peers");

	ck_assert_uint_eq(json_object_size(peers), 1);
	return json_object_iter_key(json_object_iter((json_t *)peers));
}

static void become(enum caller_kind kind, const char *of, const char *ada)
{
	switch (kind) {
	case MANAGES:
		break;
	case HAS_KEY:
		bearer =
			text_at(parsed(ask(200, METHOD_POST, "/v2/keys",
					   arena_text(stand.arena,
						      "{\"name\":\"k\",\"scopes\":[\"%s\"]}", of))),
				"key");
		break;
	case IS_INSIDE:
		bearer = token_with_entry("e1");
		break;
	case WAS_REMOVED:
		(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room),
			  arena_text(stand.arena, "{\"peer_id\":\"%s\"}", ada));
		bearer = token_with_entry("e1");
		break;
	case IS_ELSEWHERE:
		bearer = token_with_entry("e1");
		break;
	case IS_NOT_THERE:
		bearer = token_made("e9", 60);
		break;
	}
}

/* Uses up what the person may call in this second, and waits for the next one. */
static void await_budget(void)
{
	const int64_t end = clock_monotonic() + 30000;
	bool was_refused = false;
	int status = 429;

	while (!was_refused || status == 429) {
		struct call call = { .arena = arena_open() };

		ck_assert(clock_monotonic() < end);
		set_request(&call, METHOD_GET, arena_text(call.arena, "%s/tickets", room), NULL);
		carry_out(&call);
		status = call.answer.status;
		was_refused = was_refused || status == 429;
		(void)poll(NULL, 0, status == 429 ? 20 : 0);
		arena_close(call.arena);
	}
}

START_TEST(callers_do_what_they_may)
{
	const enum caller_kind kind = askers[_i].kind;
	const char *ada, *eve, *other;

	kit_join("PA_2", "eve", "eve", "e2");
	if (kind == IS_INSIDE) {
		(void)ask(
			200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/one"),
			arena_text(stand.arena, "{\"permissions\":{\"%s\":true}}", askers[_i].of));
		(void)snprintf(kit.people[0].role, sizeof kit.people[0].role, "one");
	}
	other = text_at(parsed(ask(200, METHOD_POST, "/v2/rooms", "{}")), "id");
	start_watch();
	(void)ask_until(room, "\"peer_count\":2");
	ada = id_of_peer("ada");
	eve = id_of_peer("eve");
	become(kind, askers[_i].of, ada);
	if (kind == IS_ELSEWHERE)
		room = arena_text(stand.arena, "/v2/active-rooms/%s", other);
	ck_assert_uint_eq(strlen(askers[_i].statuses), ROWS(questions));
	for (int i = 0; i < ROWS(questions); i++) {
		const char *path = arena_text(stand.arena, "%s%s", room,
					      with_ids(questions[i].path, ada, eve));
		const char *body = questions[i].body == NULL
					   ? NULL
					   : with_ids(questions[i].body, ada, eve);

		/* A person may call ten times in a second. */
		if (kind >= IS_INSIDE && kind != IS_ELSEWHERE && i % 8 == 7)
			await_budget();
		(void)ask(askers[_i].statuses[i] == '2' ? 200 : 403, questions[i].method, path,
			  body);
	}
	bearer = NULL;
	ck_assert_ptr_null(last_request(UPDATE));
	ck_assert_ptr_null(last_request(END));
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
	const char *peers = arena_text(stand.arena, "%s/peers?user_id=eve", room);

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
	(void)ask_until(room, "\"peer_count\":2");
	path = arena_text(stand.arena, "%s/peers/%s", room, id_of_peer("eve"));
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
	(void)ask_until(arena_text(stand.arena, "%s/peers?user_id=eve", room),
			arena_text(stand.arena, "\"name\":\"%s\"", renamings[_i].shown));
	(void)ask_until(arena_text(stand.arena, "%s/peers?user_id=ada", room),
			arena_text(stand.arena, "\"name\":\"%s\"", renamings[_i].ada));
	(void)ask(400, METHOD_POST, path, "{\"name\":\"\\u200b\"}");
}
END_TEST

/* ---- the door ---- */

/* Makes a code of the room that asks at the door. */
static const char *make_asking_code(void)
{
	return text_at(
		parsed(ask(200, METHOD_POST,
			   arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest", kit.room),
			   "{\"admission\":\"ask\"}")),
		"code");
}

static void knock(const char *code)
{
	(void)ask(202, METHOD_POST, "/v2/token",
		  arena_text(stand.arena, "{\"code\":\"%s\",\"wait\":true}", code));
}

/* Waits until the media server was asked to send this many messages; returns the last one. */
static const char *await_messages(size_t n)
{
	const int64_t end = clock_monotonic() + 30000;
	struct slice text;

	while (requests_of("SendData") < n) {
		ck_assert_msg(clock_monotonic() < end, "no message");
		(void)poll(NULL, 0, 20);
	}
	ck_assert(text_base64_decode(stand.arena,
				     slice_of(text_at(last_request("SendData"), "data")), &text));
	return arena_copy(stand.arena, text).data;
}

/* Only those inside who may decide about it, and at most once in a second. */
START_TEST(moderators_are_told_who_waits)
{
	const char *code = make_asking_code();
	int64_t first;

	(void)ask(200, METHOD_POST, filled("/v2/templates/TEMPLATE/roles/guard"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_join("PA_2", "eve", "eve", "e2");
	(void)snprintf(kit.people[1].role, sizeof kit.people[1].role, "guard");
	start_watch();
	(void)ask_until(room, "\"peer_count\":2");
	knock(code);
	ck_assert_str_eq(await_messages(1), "{\"type\":\"waiting\",\"count\":1}");
	first = clock_monotonic();
	ck_assert_str_eq(text_at(last_request("SendData"), "topic"), "anteroom");
	ck_assert(json_equal(json_object_get(last_request("SendData"), "destination_identities"),
			     parsed("[\"eve\"]")));
	for (int i = 0; i < 3; i++)
		knock(code);
	ck_assert_str_eq(await_messages(2), "{\"type\":\"waiting\",\"count\":4}");
	ck_assert_int_ge(clock_monotonic() - first, 800);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/tickets", room),
		  "{\"admit\":\"all\"}");
	ck_assert_str_eq(await_messages(3), "{\"type\":\"waiting\",\"count\":0}");
}
END_TEST

/* Changes of a template, and who is to hear that what their role may do has changed. Ada is a host,
 * Eve a guest. */
static const struct {
	enum method method;
	const char *path, *body;
	const char *told; /* their identities; NULL: nobody */
} role_changes[] = {
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest", "{\"permissions\":{\"mute\":true}}",
	  "[\"eve\"]" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest",
	  "{\"publishParams\":{\"video\":{\"bitRate\":300}}}", "[\"eve\"]" },
	{ METHOD_POST, "/v2/templates/TEMPLATE/roles/guest",
	  "{\"publishParams\":{\"allowed\":[\"audio\"]}}", "[\"eve\"]" },
	{ METHOD_POST, "/v2/templates/TEMPLATE/roles/guest",
	  "{\"name\":\"visitor\",\"permissions\":{\"mute\":true}}", "[\"eve\"]" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE",
	  "{\"roles\":{\"host\":{\"permissions\":{\"unmute\":true}}}}", "[\"ada#1\"]" },
	{ METHOD_POST, "/v2/templates/TEMPLATE",
	  "{\"roles\":{\"guest\":{\"permissions\":{\"mute\":true}},\"host\":{}}}",
	  "[\"ada#1\",\"eve\"]" },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest", "{\"priority\":3}", NULL },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/roles/guest", "{\"permissions\":{\"mute\":false}}",
	  NULL },
	{ METHOD_POST, "/v2/templates/TEMPLATE/roles/other", "{\"permissions\":{\"mute\":true}}",
	  NULL },
	{ METHOD_PATCH, "/v2/templates/TEMPLATE/settings", "{\"region\":\"eu\"}", NULL },
};

START_TEST(people_are_told_that_their_role_has_changed)
{
	int64_t changed;

	kit_join("PA_2", "eve", "eve", "e2");
	(void)snprintf(kit.people[1].role, sizeof kit.people[1].role, "guest");
	start_watch();
	(void)ask_until(room, "\"peer_count\":2");
	changed = clock_monotonic();
	(void)ask(200, role_changes[_i].method, filled(role_changes[_i].path),
		  role_changes[_i].body);
	if (role_changes[_i].told != NULL) {
		ck_assert_str_eq(await_messages(1), "{\"type\":\"role\"}");
		ck_assert_int_le(clock_monotonic() - changed, 2000);
		ck_assert_str_eq(text_at(last_request("SendData"), "topic"), "anteroom");
		ck_assert(json_equal(
			json_object_get(last_request("SendData"), "destination_identities"),
			parsed(role_changes[_i].told)));
		return;
	}
	/* A later change shows that nobody was told. */
	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/host"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	ck_assert_str_eq(await_messages(1), "{\"type\":\"role\"}");
	ck_assert(json_equal(json_object_get(last_request("SendData"), "destination_identities"),
			     parsed("[\"ada#1\"]")));
}
END_TEST

/* At most once in a second, for all that has changed meanwhile; in rooms of other templates
 * never. */
START_TEST(many_changes_of_roles_are_few_messages)
{
	/* The first template of the list is the newest. */
	const char *own_role = filled("/v2/templates/TEMPLATE/roles/host");
	const json_t *other = parsed(ask(200, METHOD_POST, "/v2/templates",
					 "{\"name\":\"other\",\"roles\":{\"host\":{}}}"));
	const char *other_role = arena_text(stand.arena, "/v2/templates/%s/roles/host",
					    text_at(other, "id"));
	static const char *const changes[] = { "{\"permissions\":{\"unmute\":true}}",
					       "{\"permissions\":{\"unmute\":false}}" };
	int64_t first;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	(void)ask(200, METHOD_PATCH, own_role, changes[0]);
	(void)await_messages(1);
	first = clock_monotonic();
	for (int i = 0; i < 100; i++) {
		(void)ask(200, METHOD_PATCH, own_role, changes[i % 2]);
		(void)ask(200, METHOD_PATCH, other_role, changes[1 - i % 2]);
	}
	ck_assert_str_eq(await_messages(2), "{\"type\":\"role\"}");
	ck_assert_int_ge(clock_monotonic() - first, 800);
	/* Nobody inside has the role of the other template. */
	(void)ask(200, METHOD_PATCH, other_role, changes[0]);
	(void)ask(200, METHOD_PATCH, own_role,
		  "{\"permissions\":{\"unmute\":false,\"mute\":false}}");
	(void)await_messages(3);
	ck_assert_uint_eq(requests_of("SendData"), 3);
}
END_TEST

/* Roles that wait to be told of: too many of them mean all roles of a template, or all. */
static const struct {
	unsigned templates, roles; /* of each, added in turn */
	size_t count;
	bool are_all;
} told_sets[] = {
	{ 1, 1, 1, false },
	{ 1, TOLD_ROLES_MOST, TOLD_ROLES_MOST, false },
	{ 1, TOLD_ROLES_MOST + 1, 1, false },
	{ TOLD_ROLES_MOST, 1, TOLD_ROLES_MOST, false },
	{ TOLD_ROLES_MOST / 2, 3, TOLD_ROLES_MOST, false },
	{ TOLD_ROLES_MOST + 1, 1, TOLD_ROLES_MOST, true },
};

START_TEST(no_role_that_has_changed_is_forgotten)
{
	struct told_roles told = { .count = 0 };

	for (unsigned role = 1; role <= told_sets[_i].roles; role++) {
		for (unsigned i = 0; i < told_sets[_i].templates; i++) {
			const struct told_role added = { { { 1, (unsigned char)i } }, role };

			ck_assert(!told_roles_have(&told, &(struct id){ { 2 } }, role) ||
				  told.are_all);
			told_roles_add(&told, &added);
			told_roles_add(&told, &added);
		}
	}
	for (unsigned role = 1; role <= told_sets[_i].roles; role++) {
		for (unsigned i = 0; i < told_sets[_i].templates; i++)
			ck_assert(told_roles_have(&told, &(struct id){ { 1, (unsigned char)i } },
						  role));
	}
	ck_assert_uint_eq(told.count, told_sets[_i].count);
	ck_assert_int_eq(told.are_all, told_sets[_i].are_all);
}
END_TEST

/* Somebody is put out who came by a code that anybody may use: whoever comes by it waits, until the
 * session closes. */
static const struct {
	const char *more; /* of the body */
	bool is_known; /* the account set the user_id */
	const char *answer; /* of its end */
	bool asks;
} put_out_to_ask[] = {
	{ "", false, "submitted\"}", false },
	{ ",\"door\":\"ask\"", false, "submitted\",\"door\":\"ask\"}", true },
	{ ",\"door\":\"\"", false, "submitted\"}", false },
	{ ",\"door\":\"ask\",\"ban\":true", false,
	  "submitted\",\"not_enforced\":[\"ban\"],\"door\":\"ask\"}", true },
	{ ",\"door\":\"ask\",\"ban\":true", true, "submitted\"}", false },
};

START_TEST(whoever_comes_by_the_code_asks)
{
	const char *path = arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest", kit.room);
	const char *code = text_at(parsed(ask(200, METHOD_POST, path, "{}")), "code");
	const char *shown = arena_text(stand.arena, "/v2/room-codes/code/%s", code);
	const char *hash = text_at(
		parsed(ask(200, METHOD_GET, arena_text(stand.arena, "%s?view=link", shown), NULL)),
		"code_hash");
	const char *body = arena_text(stand.arena, "{\"code\":\"%s\"}", code);
	struct slice answer;

	kit_join("PA_2", "eve", put_out_to_ask[_i].is_known ? "eve" : "another", "e2");
	kit.people[1].code = arena_text(stand.arena, "%.16s", hash);
	start_watch();
	(void)ask_until(room, "\"peer_count\":2");
	answer =
		slice_of(ask(200, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room),
			     arena_text(stand.arena, "{\"peer_id\":\"%s\"%s}",
					id_of_peer(put_out_to_ask[_i].is_known ? "eve" : "another"),
					put_out_to_ask[_i].more)));
	ck_assert_msg(slice_ends(answer, slice_of(put_out_to_ask[_i].answer)), "%s", answer.data);
	(void)ask(put_out_to_ask[_i].asks ? 403 : 200, METHOD_POST, "/v2/token", body);
	ck_assert_ptr_null(strstr(ask(200, METHOD_GET, shown, NULL), "admission"));
	/* Changing the code does not let people in. */
	(void)ask(200, METHOD_PATCH, shown, "{\"admission\":\"open\"}");
	(void)ask(put_out_to_ask[_i].asks ? 403 : 200, METHOD_POST, "/v2/token", body);
	kit_people(NULL, NULL);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room), "{}");
	(void)ask(200, METHOD_POST, "/v2/token", body);
}
END_TEST

/* Eve is banned twice, while the media server puts nobody out. What comes from inside only
 * grows. */
enum banner {
	MANAGEMENT,
	MANAGEMENT_REMOVES, /* by remove-peers */
	MODERATOR
};

static const struct {
	enum banner first;
	const char *first_ban; /* seconds; true: for ever */
	enum banner second;
	const char *second_ban;
	int64_t seconds; /* 0: for ever */
	bool is_second_reason;
} bans_again[] = {
	{ MANAGEMENT, "true", MODERATOR, "1", 0, false },
	{ MANAGEMENT, "600", MODERATOR, "1", 600, false },
	{ MANAGEMENT, "60", MODERATOR, "600", 600, false },
	{ MANAGEMENT, "60", MODERATOR, "true", 0, false },
	{ MANAGEMENT_REMOVES, "true", MODERATOR, "1", 0, false },
	{ MANAGEMENT_REMOVES, "600", MODERATOR, "60", 600, false },
	{ MODERATOR, "true", MODERATOR, "60", 0, true },
	{ MODERATOR, "600", MODERATOR, "60", 600, true },
	{ MODERATOR, "60", MODERATOR, "600", 600, true },
	{ MODERATOR, "60", MODERATOR, "true", 0, true },
	{ MODERATOR, "600", MODERATOR, "false", 600, false },
	/* The management decides anew. */
	{ MODERATOR, "600", MANAGEMENT, "60", 60, true },
	{ MODERATOR, "60", MANAGEMENT, "true", 60, true }, /* no end was sent */
	{ MODERATOR, "true", MANAGEMENT_REMOVES, "60", 60, true },
	{ MANAGEMENT, "60", MANAGEMENT_REMOVES, "true", 0, true },
};

static void ban_eve(enum banner by, const char *ban, const char *reason)
{
	const char *body = arena_text(stand.arena,
				      "{\"peer_id\":\"%s\",\"ban\":%s,\"reason\":\"%s\"}",
				      id_of_peer("eve"), ban, reason);

	if (by == MANAGEMENT) {
		body = arena_text(stand.arena,
				  "{\"user_id\":\"eve\",\"room_id\":\"%s\",\"reason\":\"%s\"%s}",
				  kit.room, reason,
				  strcmp(ban, "true") == 0
					  ? ""
					  : arena_text(stand.arena, ",\"expires_in\":%s", ban));
		(void)ask(200, METHOD_POST, "/v2/bans", body);
		return;
	}
	if (by == MODERATOR)
		bearer = token_with_entry("e1");
	(void)ask(502, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room), body);
	bearer = NULL;
}

START_TEST(moderators_only_extend_bans)
{
	const json_t *bans, *ban;
	const char *end;
	int64_t time = 0, begin;

	(void)ask(200, METHOD_PATCH, filled("/v2/templates/TEMPLATE/roles/host"),
		  "{\"permissions\":{\"removeOthers\":true}}");
	kit_join("PA_2", "eve", "eve", "e2");
	start_watch();
	(void)ask_until(room, "\"peer_count\":2");
	kit_set(FAILS);
	begin = clock_now(&clock_system) / 1000;
	ban_eve(bans_again[_i].first, bans_again[_i].first_ban, "first");
	ban_eve(bans_again[_i].second, bans_again[_i].second_ban, "second");
	bans = json_object_get(parsed(ask(200, METHOD_GET, "/v2/bans?user_id=eve", NULL)), "data");
	ck_assert_uint_eq(json_array_size(bans), 1);
	ban = json_array_get(bans, 0);
	end = text_at(ban, "expires_at");
	ck_assert_int_eq(end != NULL, bans_again[_i].seconds != 0);
	if (end != NULL) {
		ck_assert(text_time_parse_seconds(slice_of(end), &time));
		ck_assert_int_ge(time, begin + bans_again[_i].seconds);
		ck_assert_int_lt(time, begin + bans_again[_i].seconds + 50);
	}
	ck_assert_str_eq(text_at(ban, "reason"),
			 bans_again[_i].is_second_reason ? "second" : "first");
	ck_assert_str_eq(text_at(json_object_get(ban, "created_by"), "kind"),
			 bans_again[_i].first == MODERATOR ? "code" : "token");
}
END_TEST

/* The ban is written, and the service carries it out later. */
START_TEST(a_ban_needs_no_place_at_the_server)
{
	const bool bans = _i > 0;

	kit_join("PA_2", "eve", "eve", "e2");
	start_watch();
	(void)ask_until(room, "\"peer_count\":2");
	has_no_place = true;
	(void)ask(bans ? 200 : 503, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room),
		  arena_text(stand.arena, "{\"peer_id\":\"%s\",\"ban\":%s}", id_of_peer("eve"),
			     bans ? "true" : "false"));
	has_no_place = false;
	ck_assert_int_eq(strstr(ask(200, METHOD_GET, "/v2/bans", NULL), "\"eve\"") != NULL, bans);
	if (bans)
		(void)await_request(REMOVE);
}
END_TEST

/* With the same token, the person is put out again, and so is whoever is banned, or comes to a
 * deleted room. */
START_TEST(who_was_put_out_does_not_come_back)
{
	const char *path = arena_text(stand.arena, "%s/remove-peers", room);
	struct slice body = SLICE("{\"peer_id\":\"PEER\",\"reason\":\"why\"}");

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	body = replaced(body, "PEER", text_at(first_peer(), "id"));
	(void)ask(200, METHOD_POST, path, arena_copy(stand.arena, body).data);
	kit_people("PA_2", "e1");
	ck_assert_int_eq(tell(NULL, joined_event("PA_2")), 204);
	while (events("peer.leave.success") < 2)
		(void)poll(NULL, 0, 20);
	ck_assert_uint_eq(kit.count, 0);
	/* A ban is found when somebody comes in; the room has been judged since it was made. */
	(void)ask(200, METHOD_POST, "/v2/bans", "{\"user_id\":\"ada\"}");
	kit_people("PA_4", "e4");
	ck_assert_int_eq(tell(NULL, joined_event("PA_4")), 204);
	(void)ask_until("/v2/events?limit=100", "\"cause\":\"banned\"");
	ck_assert_uint_eq(kit.count, 0);
	(void)ask(204, METHOD_DELETE, filled("/v2/rooms/ROOM"), NULL);
	(void)await_request(END);
	kit_room("RM_2", clock_now(&clock_system));
	kit_people("PA_3", "e9");
	ck_assert_int_eq(tell(NULL, joined_event("PA_3")), 204);
	while (requests_of(END) < 2)
		(void)poll(NULL, 0, 20);
}
END_TEST

/* Acts that ask the media server twice, and the response that is kept. */
static const struct {
	const char *call, *body, *response;
} kept_acts[] = {
	{ "remove-peers", "{\"peer_id\":\"PEER\"}", REMOVED },
	{ "end-room", "{\"lock\":true}", ENDED },
};

START_TEST(an_act_with_a_key_is_done_once)
{
	const char *path = arena_text(stand.arena, "%s/%s", room, kept_acts[_i].call);
	const char *body;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	body = arena_copy(stand.arena, replaced(slice_of(kept_acts[_i].body), "PEER",
						text_at(first_peer(), "id")))
		       .data;
	for (unsigned i = 0; i < 2; i++)
		ck_assert_str_eq(ask_with("key", 200, METHOD_POST, path, body),
				 kept_acts[_i].response);
	ck_assert_uint_eq(events("peer.leave.success"), 1);
}
END_TEST

/* An operator's own program is not one of the roles: with another name, it may do what it did. */
START_TEST(rights_without_a_role_stay)
{
	static const char *const roles[] = { "elsewhere", "host" };
	const json_t *update;
	const char *path;

	(void)snprintf(kit.people[0].role, sizeof kit.people[0].role, "%s", roles[_i]);
	kit.people[0].entry = "";
	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/peers/%s", room, text_at(first_peer(), "id"));
	(void)ask(200, METHOD_POST, path, "{\"name\":\"Recorder\"}");
	update = last_request(UPDATE);
	ck_assert_str_eq(text_at(update, "name"), "Recorder");
	ck_assert_int_eq(json_object_get(update, "permission") != NULL, _i == 1);
	ck_assert_int_eq(json_object_get(update, "attributes") != NULL, _i == 1);
}
END_TEST

/* A room can be locked also while nobody is inside, and is disabled only once. */
START_TEST(an_empty_room_is_locked)
{
	const char *path = arena_text(stand.arena, "%s/end-room", room);

	kit_people(NULL, NULL);
	ck_assert_ptr_nonnull(strstr(ask(404, METHOD_POST, path, "{}"), "session not found"));
	for (unsigned i = 0; i < 2; i++)
		ck_assert_str_eq(ask(200, METHOD_POST, path, "{\"lock\":true}"), ENDED);
	ck_assert_uint_eq(events("room.updated"), 1);
	ck_assert_ptr_nonnull(
		strstr(ask(404, METHOD_POST, "/v2/active-rooms/x/end-room", "{\"lock\":true}"),
		       "room not found"));
}
END_TEST

#define SENT "{\"message\":\"message sent\"}"

/* In a body, PEER stands for the one who is inside, and LONG for 4,096 bytes. */
static const struct {
	const char *body;
	enum how how;
	int status;
	const char *text; /* in the response */
	const char *topic; /* of what arrived; NULL: nothing did */
	const char *data; /* its base64, or NULL */
} messages[] = {
	{ "{\"message\":\"hello\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"type\":\"news\",\"role\":\"\",\"peer_id\":\"\"}", ANSWERS, 200,
	  SENT, "news", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"role\":\"host\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	/* Nobody has this role. */
	{ "{\"message\":\"hello\",\"role\":\"guest\"}", ANSWERS, 200, SENT, NULL, NULL },
	{ "{\"message\":\"hello\",\"role\":\"king\"}", ANSWERS, 400,
	  "must be a role of the room's template", NULL, NULL },
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"peerId\":\"PEER\"}", ANSWERS, 200, SENT, "chat", "aGVsbG8=" },
	/* A peer wins over a role. */
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\",\"role\":\"king\"}", ANSWERS, 200, SENT,
	  "chat", "aGVsbG8=" },
	{ "{\"message\":\"hello\",\"peer_id\":\"x\"}", ANSWERS, 404, GONE, NULL, NULL },
	{ "{\"message\":\"LONG\"}", ANSWERS, 200, SENT, "chat", NULL },
	{ "{\"message\":\"LONGx\"}", ANSWERS, 400, "must be 1 to 4096 bytes", NULL, NULL },
	{ "{\"message\":\"\"}", ANSWERS, 400, "must be 1 to 4096 bytes", NULL, NULL },
	{ "{}", ANSWERS, 400, "/message", NULL, NULL },
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\"}", LACKS_EVERYBODY, 404, GONE, NULL, NULL },
	{ "{\"message\":\"hello\",\"peer_id\":\"PEER\"}", HANGS, 502, "timed out", NULL, NULL },
	{ "{\"message\":\"hello\"}", LACKS_EVERYBODY, 404, "session not found", "chat", NULL },
	{ "{\"message\":\"hello\"}", FAILS, 502, "status 500", "chat", NULL },
	{ "{\"message\":\"hello\"}", HAS_ANOTHER_KEY, 502, "wrong key", "chat", NULL },
	/* It may have arrived. */
	{ "{\"message\":\"hello\"}", HANGS, 504, "It may have been done", "chat", NULL },
	{ "{\"message\":\"hello\"}", TELLS_NONSENSE, 504, "It may have been done", "chat", NULL },
};

START_TEST(messages_arrive_or_are_refused)
{
	char *long_text = arena_zero(stand.arena, 4096 + 1);
	const json_t *arrived;
	struct slice body;
	const char *path;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/send-message", room);
	memset(long_text, 'a', 4096);
	body = replaced(slice_of(messages[_i].body), "PEER", text_at(first_peer(), "id"));
	body = replaced(body, "LONG", long_text);
	kit_set(messages[_i].how);
	ck_assert_ptr_nonnull(strstr(
		ask(messages[_i].status, METHOD_POST, path, arena_copy(stand.arena, body).data),
		messages[_i].text));
	arrived = last_request("SendData");
	ck_assert_int_eq(arrived != NULL, messages[_i].topic != NULL);
	if (arrived == NULL)
		return;
	ck_assert_str_eq(text_at(arrived, "topic"), messages[_i].topic);
	ck_assert_str_eq(text_at(arrived, "room"), kit.room);
	ck_assert_str_eq(text_at(arrived, "kind"), "RELIABLE");
	/* Without identities it would go to everybody. */
	ck_assert_uint_eq(json_array_size(json_object_get(arrived, "destination_identities")), 1);
	if (messages[_i].data != NULL)
		ck_assert_str_eq(text_at(arrived, "data"), messages[_i].data);
}
END_TEST

/* A message is split by what is sent: each of these characters has six bytes in JSON. */
START_TEST(a_message_to_long_identities_is_split)
{
	char *long_text = arena_zero(stand.arena, 200 + 1);
	size_t told = 0;

	memset(long_text, '\1', 200);
	for (size_t i = 1; i < PEOPLE_MOST; i++)
		kit_join(arena_text(stand.arena, "PA_more_%zu", i),
			 arena_text(stand.arena, "%zu%s", i, long_text), "", "");
	start_watch();
	(void)ask_until(room, arena_text(stand.arena, "\"peer_count\":%d", PEOPLE_MOST));
	ck_assert_str_eq(ask(200, METHOD_POST, arena_text(stand.arena, "%s/send-message", room),
			     "{\"message\":\"hello\"}"),
			 SENT);
	for (size_t i = 0; i < receiver_count(stand.receiver); i++) {
		const struct received *received = receiver_request(stand.receiver, i);

		if (strstr(received->path, "SendData") == NULL)
			continue;
		ck_assert_uint_le(strlen(received->body), SENDER_BYTES_MOST);
		told += json_array_size(
			json_object_get(parsed(received->body), "destination_identities"));
	}
	ck_assert_uint_eq(told, PEOPLE_MOST);
	ck_assert_str_eq(ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room), "{}"),
			 ENDED);
}
END_TEST

START_TEST(nothing_is_changed_by_a_service_that_watches)
{
	const char *path;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	service_close(stand.service);
	stand.environment.live = LIVE_WATCH;
	stand.service = service_open(&stand.environment);
	path = arena_text(stand.arena, "%s/send-message", room);
	ck_assert_ptr_nonnull(strstr(
		ask(501, METHOD_POST, path, "{\"message\":\"hello\"}"),
		"{\"code\":501,\"message\":\"The media server cannot do this\",\"details\":[\"--live watch\"]}"));
	ck_assert_ptr_null(last_request("SendData"));
}
END_TEST

/* ---- from inside, before anything was heard ---- */

static const struct {
	enum how how;
	const char *entry;
	const char *path; /* below the room */
	int status;
	const char *text; /* in the response */
	size_t requests;
} insiders[] = {
	{ ANSWERS, "e1", "", 200, "\"peer_count\":1", 2 },
	{ ANSWERS, "e1", "/peers", 200, "\"user_id\":\"ada\"", 2 },
	{ ANSWERS, "e1", "/me", 200, "\"user_id\":\"ada\"", 2 },
	{ ANSWERS, "e1", "/peers/PA_1", 200, "\"TR_1\"", 3 },
	{ ANSWERS, "e1", "/peers/PA_2", 404, "peer not found", 2 },
	{ ANSWERS, "e2", "", 403, "Not in the room", 2 },
	{ ANSWERS, "e2", "/peers", 403, "Not in the room", 2 },
	{ ANSWERS, "e2", "/me", 403, "Not in the room", 2 },
	{ ANSWERS, "e2", "/peers/PA_1", 403, "Not in the room", 2 },
	{ ANSWERS, "", "/me", 403, "Not in the room", 0 },
	{ FAILS, "e1", "/me", 403, "Not in the room", 2 },
	{ HAS_ANOTHER_KEY, "e1", "", 403, "Not in the room", 2 },
	{ TELLS_NONSENSE, "e1", "/peers/PA_1", 403, "Not in the room", 2 },
	{ HANGS, "e1", "/me", 403, "Not in the room", 2 },
	{ ANSWERS, "e1", "/peers/PA_1/mute", 200, MUTED, 4 },
	{ ANSWERS, "e2", "/peers/PA_1/mute", 403, "Not in the room", 2 },
};

/* The room is looked at, and the call waits for it. */
START_TEST(a_person_whose_event_is_late_is_found)
{
	const char *path = arena_text(stand.arena, "%s%s", room, insiders[_i].path), *body;
	struct wait wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct call call = { .arena = arena_open() };
	struct fault fault = FAULT_INITIAL;
	const size_t before = receiver_count(stand.receiver);
	const bool mutes_somebody = strstr(path, "/mute") != NULL;

	kit_set(insiders[_i].how);
	bearer = token_with_entry(insiders[_i].entry);
	set_request(&call, mutes_somebody ? METHOD_POST : METHOD_GET, path,
		    mutes_somebody ? "{\"type\":\"audio\",\"mute\":true}" : NULL);
	ck_assert(service_answer(stand.service, &call));
	ck_assert_int_eq(call_is_asking(&call), insiders[_i].requests > 0);
	for (unsigned rounds = 0; call_is_asking(&call); rounds++) {
		ck_assert_uint_lt(rounds, 3);
		wait.has_ended = false;
		service_ask(&call, end_wait, &wait);
		pthread_mutex_lock(&wait.lock);
		while (!wait.has_ended)
			pthread_cond_wait(&wait.ended, &wait.lock);
		pthread_mutex_unlock(&wait.lock);
		ck_assert(service_answer(stand.service, &call));
	}
	ck_assert(store_wait(stand.environment.store, call.answer.awaited, &fault));
	body = body_of(&call);
	ck_assert_msg(strstr(body, insiders[_i].text) != NULL, "%s", body);
	ck_assert_int_eq(call.answer.status, insiders[_i].status);
	ck_assert_uint_eq(receiver_count(stand.receiver) - before, insiders[_i].requests);
	arena_close(call.arena);
}
END_TEST

/* A call that is under way. */
struct parked_call {
	struct call call;
	struct wait wait;
};

/* Until when it waits for another call with its key, by clock_monotonic; 0: as long as it may. */
static int64_t parked_until;

static void park(struct parked_call *parked, enum method method, const char *path, const char *body,
		 const char *key)
{
	*parked = (struct parked_call){
		.call = { .arena = arena_open(), .claims_until = parked_until },
		.wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false },
	};
	set_request(&parked->call, method, path, body);
	if (key != NULL)
		parked->call.request.idempotency_key = slice_of(key);
	ck_assert(service_answer(stand.service, &parked->call));
	if (call_is_asking(&parked->call))
		service_ask(&parked->call, end_wait, &parked->wait);
}

static bool parked_has_ended(struct parked_call *parked)
{
	bool has_ended;

	pthread_mutex_lock(&parked->wait.lock);
	has_ended = parked->wait.has_ended;
	pthread_mutex_unlock(&parked->wait.lock);
	return has_ended;
}

/* Goes on with the call when the media server has answered. */
static void parked_go_on(struct parked_call *parked)
{
	struct fault fault = FAULT_INITIAL;

	pthread_mutex_lock(&parked->wait.lock);
	while (!parked->wait.has_ended)
		pthread_cond_wait(&parked->wait.ended, &parked->wait.lock);
	parked->wait.has_ended = false;
	pthread_mutex_unlock(&parked->wait.lock);
	ck_assert(service_answer(stand.service, &parked->call));
	ck_assert(store_wait(stand.environment.store, parked->call.answer.awaited, &fault));
	if (call_is_asking(&parked->call))
		service_ask(&parked->call, end_wait, &parked->wait);
}

/* Goes on with the call until it is answered; returns its status. */
static int unpark(struct parked_call *parked, const char **body)
{
	int status;

	while (parked->call.asking != NULL)
		parked_go_on(parked);
	status = parked->call.answer.status;
	*body = body_of(&parked->call);
	arena_close(parked->call.arena);
	return status;
}

/* However many ask, the room is looked at once in a second, and one call reads what was answered.
 * Each finds itself, whether or not the one that looked is inside. */
START_TEST(people_outside_share_one_look)
{
	static struct parked_call calls[20];
	const char *path = arena_text(stand.arena, "%s/me", room), *body;

	kit_join("PA_2", "eve#1", "eve", "e2");
	/* The media server answers when all have asked. */
	pthread_mutex_lock(&kit.lock);
	for (unsigned i = 0; i < 20; i++) {
		bearer = token_with_entry(arena_text(stand.arena, "e%u", (i + 9) % 20));
		park(&calls[i], METHOD_GET, path, NULL, NULL);
		ck_assert(call_is_asking(&calls[i].call));
	}
	pthread_mutex_unlock(&kit.lock);
	for (unsigned i = 0; i < 20; i++) {
		const unsigned entry = (i + 9) % 20;

		ck_assert_int_eq(unpark(&calls[i], &body), entry == 1 || entry == 2 ? 200 : 403);
		ck_assert_ptr_nonnull(strstr(body, entry == 1	? "\"ada\""
						   : entry == 2 ? "\"eve\""
								: "Not in the room"));
	}
	ck_assert_uint_eq(requests_of("ListParticipants"), 1);
	ck_assert_uint_eq(requests_of("ListRooms"), 1);
	/* The next one looks a second later. */
	bearer = token_with_entry("e9");
	(void)ask(403, METHOD_GET, path, NULL);
	ck_assert_uint_eq(requests_of("ListParticipants"), 2);
}
END_TEST

#define LONG_ENTRY "0123456789abcdef0123456789abcdef"

static const struct {
	int64_t age; /* of the token, in seconds */
	bool joins; /* by /v2/token/join */
	const char *path;
	size_t looks;
} on_the_way[] = {
	{ 0, false, "/me", 1 },		 { 29, false, "/me", 1 },      { 32, false, "/me", 0 },
	{ 32, true, "/me", 1 },		 { 32, false, "", 0 },	       { 32, false, "/peers", 0 },
	{ 32, false, "/peers/PA_1", 0 }, { 32, false, "/tickets", 0 }, { 32, true, "/tickets", 1 },
};

/* Somebody with an old token is not in the room, and nobody looks. */
START_TEST(who_may_have_the_room_looked_at)
{
	/* A token is valid from 10 s before it is made. */
	bearer = token_made(LONG_ENTRY, on_the_way[_i].age - 10);
	if (on_the_way[_i].joins)
		(void)ask(200, METHOD_POST, "/v2/token/join", "{}");
	(void)ask(403, METHOD_GET, arena_text(stand.arena, "%s%s", room, on_the_way[_i].path),
		  NULL);
	ck_assert_uint_eq(requests_of("ListParticipants"), on_the_way[_i].looks);
	if (on_the_way[_i].looks > 0)
		kit_people("PA_1", LONG_ENTRY);
}
END_TEST

/* ---- changes of oneself ---- */

/* The order in which eight calls come, and in which they get as far as to ask for the change. */
static const struct {
	const char *order;
	size_t updates; /* at most */
} own_orders[] = {
	{ "12345678", 2 },
	{ "87654321", 1 },
	{ "18273645", 2 },
};

/* All are answered with 200, and the value that was sent last counts. */
START_TEST(the_last_value_of_oneself_wins)
{
	static struct parked_call calls[8];
	const char *order = own_orders[_i].order, *body;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	bearer = token_with_entry("e1");
	for (int i = 0; i < ROWS(calls); i++) {
		park(&calls[i], METHOD_POST, arena_text(stand.arena, "%s/peers/PA_1", room),
		     arena_text(stand.arena, "{\"metadata\":\"v%c\"}", order[i]), NULL);
		calls[i].call.started = order[i];
	}
	/* The person has been looked up for all of them. */
	for (int i = 0; i < ROWS(calls); i++)
		parked_go_on(&calls[i]);
	for (int i = 0; i < ROWS(calls); i++)
		ck_assert_int_eq(unpark(&calls[i], &body), 200);
	ck_assert_uint_ge(own_orders[_i].updates, requests_of(UPDATE));
	ck_assert_str_eq(text_at(last_request(UPDATE), "metadata"), "v8");
	bearer = NULL;
	ck_assert_ptr_nonnull(strstr(
		ask(200, METHOD_GET, arena_text(stand.arena, "%s/peers", room), NULL), "\"v8\""));
}
END_TEST

/* ---- two calls at once ---- */

/* Two calls with the same Idempotency-Key; the second one comes while the first asks. */
static const struct {
	enum how how; /* of the first */
	const char *first, *second; /* bodies */
	int status, second_status;
	size_t sent;
} doubles[] = {
	{ ANSWERS, "{\"message\":\"a\"}", "{\"message\":\"a\"}", 200, 200, 1 },
	{ ANSWERS, "{\"message\":\"a\"}", "{\"message\":\"b\"}", 200, 422, 1 },
	/* What has failed is not kept. */
	{ FAILS, "{\"message\":\"a\"}", "{\"message\":\"a\"}", 502, 200, 2 },
};

START_TEST(two_calls_with_a_key_are_one)
{
	static struct parked_call first, seconds[3];
	const char *path, *body, *again;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/send-message", room);
	kit_set(doubles[_i].how);
	park(&first, METHOD_POST, path, doubles[_i].first, "key");
	ck_assert_ptr_nonnull(first.call.asking);
	for (size_t i = 0; i < ROWS(seconds); i++)
		park(&seconds[i], METHOD_POST, path, doubles[_i].second, "key");
	while (!parked_has_ended(&first))
		(void)poll(NULL, 0, 5);
	for (size_t i = 0; i < ROWS(seconds) && doubles[_i].second_status != 422; i++)
		ck_assert(!parked_has_ended(&seconds[i]));
	ck_assert_uint_eq(requests_of("SendData"), 1);
	kit_set(ANSWERS);
	ck_assert_int_eq(unpark(&first, &body), doubles[_i].status);
	for (size_t i = 0; i < ROWS(seconds); i++) {
		ck_assert_int_eq(unpark(&seconds[i], &again), doubles[_i].second_status);
		if (doubles[_i].second_status == 200)
			ck_assert_str_eq(again, SENT);
	}
	ck_assert_uint_eq(requests_of("SendData"), doubles[_i].sent);
}
END_TEST

START_TEST(nobody_waits_for_ever_for_a_key)
{
	static struct parked_call first, second;
	const char *path, *body;

	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	path = arena_text(stand.arena, "%s/send-message", room);
	/* The media server answers when the second call has waited for too long. */
	pthread_mutex_lock(&kit.lock);
	park(&first, METHOD_POST, path, "{\"message\":\"a\"}", "key");
	parked_until = clock_monotonic() + 50;
	park(&second, METHOD_POST, path, "{\"message\":\"a\"}", "key");
	ck_assert_int_eq(unpark(&second, &body), 409);
	pthread_mutex_unlock(&kit.lock);
	ck_assert_ptr_nonnull(strstr(body, "A request with this Idempotency-Key is under way"));
	ck_assert_int_eq(unpark(&first, &body), 200);
	parked_until = 0;
	ck_assert_str_eq(ask_with("key", 200, METHOD_POST, path, "{\"message\":\"a\"}"), SENT);
	ck_assert_uint_eq(requests_of("SendData"), 1);
}
END_TEST

/* ---- events ---- */

/* Queues events of this backend until one has to wait. Returns how many did not. */
static size_t fill_queue(const struct id *account, const struct id *id)
{
	struct server_event event = { .type = SERVER_JOINED };
	size_t n = 0;

	event.room = (struct server_room){ .name = SLICE("x"), .id = SLICE("RM_1") };
	event.person = (struct server_person){ .stay = SLICE("PA_1") };
	while (live_queue_hear(stand.environment.live_queue, account, id, id, &event, 1))
		n++;
	return n;
}

/* Who tells much leaves places to others: to the account's other backends, and to other
 * accounts. */
START_TEST(too_many_events_are_told_again)
{
	const struct id ids[] = { { { 1 } }, { { 2 } }, { { 3 } } };
	struct live_queue_figures figures;
	struct heard *heard;
	size_t all, n;

	all = fill_queue(&stand.account.id, &ids[0]);
	ck_assert_uint_eq(all, LIVE_QUEUE_MOST / 2 / 4 * 3);
	n = fill_queue(&stand.account.id, &ids[1]);
	ck_assert_uint_ge(n, LIVE_QUEUE_SHARE);
	all += n;
	/* Other accounts fill the rest. */
	for (unsigned char i = 0; i < 40; i++) {
		const struct id other = { { 9, i } };

		n = fill_queue(&other, &ids[2]);
		ck_assert(n >= LIVE_QUEUE_SHARE || all + n == LIVE_QUEUE_MOST);
		all += n;
	}
	ck_assert_uint_eq(all, LIVE_QUEUE_MOST);
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 503);
	ck_assert_int_eq(tell("x", joined_event("PA_1")), 401);
	/* What nobody needs does not wait. */
	ck_assert_int_eq(tell(NULL, "{\"event\":\"track_published\"}"), 204);
	live_queue_figures(stand.environment.live_queue, &figures);
	ck_assert_uint_eq(figures.ends[HEARD_TOO_MANY], 43);
	ck_assert_uint_eq(figures.ends[HEARD_REFUSED], 1);
	ck_assert_uint_eq(figures.ends[HEARD_IGNORED], 1);
	/* They count until they are merged. */
	heard = live_queue_take(stand.environment.live_queue).heard;
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 503);
	while (heard != NULL) {
		struct heard *next = heard->next;

		live_queue_forget(stand.environment.live_queue, &heard->account, &heard->backend,
				  1);
		free(heard);
		heard = next;
	}
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
}
END_TEST

/* What is wanted of rooms is never lost: of one it is kept once, of too many it is wanted of
 * all. */
START_TEST(what_is_wanted_of_rooms_is_kept)
{
	struct live_queue *queue = stand.environment.live_queue;
	const struct id all = { { 0 } }, backend_id = { { 7 } }, other = { { 8 } };
	unsigned wants = 0;
	size_t n = 0;
	struct queued_room *next;

	for (unsigned i = 0; i < 30000; i++) {
		const struct id id = { { 1, (unsigned char)(i >> 8), (unsigned char)i } };

		live_queue_look(queue, &stand.account.id, &backend_id, &id);
		if (i % 2 == 0)
			live_queue_judge(queue, &stand.account.id, &id);
		live_queue_judge(queue, &other, &backend_id);
	}
	for (struct queued_room *one = live_queue_take(queue).rooms; one != NULL; one = next) {
		next = one->next;
		n++;
		if (id_compare(&one->account, &other) == 0)
			ck_assert(one->wants == ROOM_JUDGE &&
				  id_compare(&one->room, &backend_id) == 0);
		else if (id_compare(&one->room, &all) == 0)
			wants = one->wants;
		else
			ck_assert_int_eq(id_compare(&one->backend, &backend_id), 0);
		queued_room_free(one);
	}
	ck_assert_uint_eq(n, LIVE_QUEUE_ROOMS + 2);
	ck_assert_uint_eq(wants, ROOM_LOOK | ROOM_JUDGE);
}
END_TEST

/* Damages the record of a room in session. */
static void damage_live(void)
{
	struct call call = { .environment = &stand.environment, .arena = arena_open() };
	struct fault fault = FAULT_INITIAL;
	struct live live;
	uint64_t number;
	struct id id;

	ck_assert(id_parse(slice_of(kit.room), &id));
	ck_assert(store_begin(stand.environment.store, STORE_WRITE, call.arena, &call.transaction,
			      &fault));
	store_set_account(call.transaction, &stand.account.id);
	ck_assert(live_load(&call, &id, STORE_TO_CHANGE, &live, &fault));
	live.closing = INT64_MAX;
	ck_assert(record_put(&live_table, call.transaction, &live, &fault) &&
		  store_commit(call.transaction, &number, &fault));
	arena_close(call.arena);
	store_flush(stand.environment.store);
}

#define HOSTS 1300

/* Has a crowd in the room, by the records: the media server has only the last one. */
static void make_crowd(struct call *call)
{
	struct news *news = arena_zero(call->arena, HOSTS * sizeof *news);
	struct merging merging = { .news = news, .count = HOSTS, .is_look = true };
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(id_parse(slice_of(kit.room), &merging.room) &&
		  id_parse(slice_of(strrchr(backend, '/') + 1), &merging.backend));
	for (int i = 0; i < HOSTS; i++) {
		const bool is_last = i == HOSTS - 1;
		const struct slice name = slice_of(arena_text(call->arena, "n%d", i));

		news[i].type = NEWS_LISTED;
		news[i].time = call->now;
		news[i].room = (struct server_room){ SLICE("x"), slice_of(kit.sid), kit.created };
		news[i].person = (struct server_person){
			.stay = is_last ? SLICE("PA_1") : name,
			.identity = is_last ? SLICE("ada#1") : name,
			.user_id = name,
			.role = SLICE("host"),
			.entry = name,
			.code = SLICE(""),
			.name = name,
			.metadata = SLICE(""),
			.joined = call->now - 60000 + i,
		};
	}
	ck_assert_msg(live_merge(call, &merging, &fault), "%s", fault_reason(&fault));
	ck_assert(store_commit(call->transaction, &number, &fault));
	store_flush(stand.environment.store);
}

struct removed_ones {
	struct call *call;
	size_t ordered, revoked;
};

static bool count_removed(void *context, const struct peer *peer)
{
	struct removed_ones *removed = context;
	struct fault fault = FAULT_INITIAL;
	struct revocation revocation;
	bool is_revoked;

	removed->ordered += peer->order == LEAVE_REMOVED;
	ck_assert(revocation_find(removed->call, peer->entry, &revocation, &is_revoked, &fault));
	removed->revoked += is_revoked;
	return true;
}

/* More people than one transaction takes: when the answer comes, all of their entries are dead. */
START_TEST(a_role_of_many_is_put_out)
{
	struct call call = {
		.environment = &stand.environment,
		.arena = arena_open(),
		.account = stand.account.id,
		.actor.kind = ACTOR_SERVICE,
		.now = clock_now(&clock_system),
	};
	struct removed_ones removed = { .call = &call };
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct id id;

	arena_set_limit(call.arena, (size_t)512 << 20);
	ck_assert(store_begin(stand.environment.store, STORE_WRITE, call.arena, &call.transaction,
			      &fault));
	call_set_account(&call);
	call_draw_etag(&call);
	make_crowd(&call);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room),
		  "{\"role\":\"host\",\"reason\":\"r\"}");
	store_flush(stand.environment.store);
	ck_assert(id_parse(slice_of(kit.room), &id));
	ck_assert(store_begin(stand.environment.store, STORE_READ, call.arena, &call.transaction,
			      &fault));
	call_set_account(&call);
	ck_assert(live_load(&call, &id, STORE_TO_SHOW, &live, &fault) &&
		  peers_each(&call, &live.session, STORE_ON, count_removed, &removed, &fault));
	ck_assert_uint_eq(removed.ordered, HOSTS);
	ck_assert_uint_eq(removed.revoked, HOSTS);
	store_abandon(call.transaction);
	arena_close(call.arena);
}
END_TEST

/* An event that cannot be stored does not hold up others, and is told of. */
START_TEST(an_event_that_cannot_be_stored_is_set_aside)
{
	const char *other = text_at(parsed(ask(200, METHOD_POST, "/v2/rooms", "{}")), "id");
	struct live_queue_figures figures = { .waiting = 1 };
	char former[25];

	start_watch();
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	(void)ask_until(room, "\"peer_count\":1");
	damage_live();
	ck_assert_int_eq(tell(NULL, joined_event("PA_2")), 204);
	(void)snprintf(former, sizeof former, "%s", kit.room);
	(void)snprintf(kit.room, sizeof kit.room, "%s", other);
	ck_assert_int_eq(tell(NULL, joined_event("PA_3")), 204);
	(void)ask_until(arena_text(stand.arena, "/v2/active-rooms/%s", other), "\"peer_count\":1");
	(void)snprintf(kit.room, sizeof kit.room, "%s", former);
	(void)ask_until(backend, "an event could not be stored");
	while (figures.waiting > 0 || figures.set_aside == 0) {
		live_queue_figures(stand.environment.live_queue, &figures);
		(void)poll(NULL, 0, 10);
	}
	ck_assert_uint_eq(figures.set_aside, 1);
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, "/metrics", NULL),
				     "anteroom_live_events_set_aside_total 1"));
}
END_TEST

/* The key of the server, and what it keeps secret about a room. */
START_TEST(secrets_are_not_logged)
{
	static const char *const paths[] = { "/v2/sessions", "/v2/events?limit=100",
					     "/v2/backends" };
	const int errors = dup(STDERR_FILENO);
	FILE *log = tmpfile();
	char line[4096];

	ck_assert_ptr_nonnull(log);
	ck_assert_int_ge(dup2(fileno(log), STDERR_FILENO), 0);
	log_event(LOG_LEVEL_NOTICE, "begun", NULL);
	start_watch();
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	ck_assert_int_eq(tell(SECRET, joined_event("PA_1")), 401);
	(void)ask_until(room, "\"peer_count\":1");
	kit_set(TELLS_NONSENSE);
	(void)ask(502, METHOD_GET, peer_path(), NULL);
	kit_set(LACKS_EVERYBODY);
	(void)ask(404, METHOD_GET, peer_path(), NULL);
	restart_watch();
	(void)ask_until(backend, "\"state\":\"down\"");
	stop_watch();
	stand.environment.media_client = NULL;
	ck_assert_int_ge(dup2(errors, STDERR_FILENO), 0);
	close(errors);
	rewind(log);
	while (fgets(line, sizeof line, log) != NULL)
		ck_assert_msg(strstr(line, "hidden") == NULL && strstr(line, SECRET) == NULL, "%s",
			      line);
	ck_assert(ftell(log) > 0);
	fclose(log);
	for (size_t i = 0; i < ROWS(paths); i++)
		ck_assert_ptr_null(strstr(ask(200, METHOD_GET, paths[i], NULL), "hidden"));
}
END_TEST

START_TEST(with_live_off_events_are_not_read)
{
	struct live_queue_figures figures;

	service_close(stand.service);
	stand.environment.live = LIVE_OFF;
	stand.service = service_open(&stand.environment);
	ck_assert_int_eq(tell("x", joined_event("PA_1")), 204);
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	live_queue_figures(stand.environment.live_queue, &figures);
	ck_assert_uint_eq(figures.waiting, 0);
	ck_assert_uint_eq(figures.ends[HEARD_REFUSED] + figures.ends[HEARD_IGNORED], 0);
	ck_assert_ptr_nonnull(strstr(ask(404, METHOD_GET, room, NULL), "session not found"));
}
END_TEST

/* ---- rooms that do not make themselves ---- */

/* Creates a code of the room for a guest, with these terms. */
static const char *make_code(const char *terms)
{
	const char *path = arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest", kit.room);

	return text_at(parsed(ask(200, METHOD_POST, path, terms)), "code");
}

static const char *exchange_body(const char *code)
{
	return arena_text(stand.arena, "{\"code\":\"%s\"}", code);
}

static const char *exchange(int status, const char *code)
{
	return ask(status, METHOD_POST, "/v2/token", exchange_body(code));
}

/* Returns the number of requests to make a room. */
static size_t made_count(void)
{
	size_t n = 0;

	for (size_t i = receiver_count(stand.receiver); i-- > 0;)
		n += strstr(receiver_request(stand.receiver, i)->path, "/CreateRoom") != NULL;
	return n;
}

static void set_up_making(void)
{
	const json_t *made;

	set_up_kit();
	(void)ask(200, METHOD_PATCH, backend, "{\"config\":{\"create_rooms\":true}}");
	made = parsed(ask(200, METHOD_POST, arena_text(stand.arena, "/v2/rooms/%s", kit.room),
			  "{\"size\":20}"));
	(void)ask(
		200, METHOD_PATCH,
		arena_text(stand.arena, "/v2/templates/%s/settings", text_at(made, "template_id")),
		"{\"agents\":[{\"agentName\":\"helper\",\"metadata\":\"m\"}]}");
}

START_TEST(a_room_is_made_before_somebody_joins)
{
	const char *code = make_code("{\"max_uses\":9}"), *used_up = make_code("{\"max_uses\":1}");
	const char *token, *path;

	(void)ask(200, METHOD_POST, "/v2/token?validate_only=true", exchange_body(code));
	(void)ask(200, METHOD_GET, arena_text(stand.arena, "/v2/join/%s", code), NULL);
	path = arena_text(stand.arena, "/v2/room-codes/code/%s", code);
	(void)ask(200, METHOD_PATCH, path, "{\"enabled\":false}");
	(void)exchange(403, code);
	(void)ask(200, METHOD_PATCH, path, "{\"enabled\":true}");
	ck_assert_uint_eq(receiver_count(stand.receiver), 0);
	token = text_at(parsed(exchange(200, code)), "token");
	ck_assert_uint_eq(made_count(), 1);
	ck_assert_str_eq(receiver_request(stand.receiver, 0)->body,
			 arena_text(stand.arena,
				    "{\"name\":\"%s\",\"max_participants\":20,\"agents\":["
				    "{\"agent_name\":\"helper\",\"metadata\":\"m\"}]}",
				    kit.room));
	/* The room is there now. */
	(void)exchange(200, used_up);
	(void)exchange(403, used_up);
	bearer = token;
	(void)ask(200, METHOD_POST, "/v2/token/join", "{}");
	bearer = NULL;
	ck_assert_uint_eq(made_count(), 1);
	ck_assert_int_eq(json_integer_value(
				 json_object_get(parsed(ask(200, METHOD_GET, path, NULL)), "uses")),
			 1);
}
END_TEST

/* The same at LiveKit's token endpoint, with what the person asks for. */
START_TEST(a_room_is_made_with_the_agents_asked_for)
{
	const char *path = arena_text(stand.arena, "/v2/livekit/%s", make_code("{}"));

	(void)ask(403, METHOD_POST, path,
		  "{\"room_config\":{\"agents\":[{\"agent_name\":\"spy\"}]}}");
	ck_assert_uint_eq(made_count(), 0);
	(void)ask(
		201, METHOD_POST, path,
		"{\"room_config\":{\"agents\":[{\"agent_name\":\"helper\",\"deployment\":\"d\"}]}}");
	ck_assert_str_eq(receiver_request(stand.receiver, 0)->body,
			 arena_text(stand.arena,
				    "{\"name\":\"%s\",\"max_participants\":20,\"agents\":["
				    "{\"agent_name\":\"helper\",\"metadata\":\"m\","
				    "\"deployment\":\"d\"}]}",
				    kit.room));
	(void)ask(201, METHOD_POST, path, "{}");
	ck_assert_uint_eq(made_count(), 1);
}
END_TEST

/* The same for a token that the account signs. */
START_TEST(a_token_of_the_account_makes_the_room_too)
{
	const char *token = token_with_entry("0123456789abcdef0123456789abcdef");

	for (size_t i = 0; i < 2; i++) {
		bearer = token;
		(void)ask(200, METHOD_POST, "/v2/token/join", "{}");
		bearer = NULL;
		ck_assert_uint_eq(made_count(), 1);
	}
}
END_TEST

START_TEST(a_room_that_has_ended_is_made_again)
{
	const char *code = make_code("{}"), *event;
	int64_t ended;

	(void)exchange(200, code);
	event = arena_text(
		stand.arena,
		"{\"event\":\"room_finished\",\"room\":{\"sid\":\"RM_1\",\"name\":\"%s\"},"
		"\"created_at\":%lld}",
		kit.room, (long long)(clock_now(&clock_system) / 1000));
	ck_assert_int_eq(tell(NULL, event), 204);
	(void)exchange(200, code);
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 2);
	/* By a call. */
	start_watch();
	(void)ask_until(room, "\"peer_count\":1");
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 2);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/end-room", room), "{}");
	/* A room that is made in the millisecond in which it ended may have been made before. */
	ended = clock_now(&clock_system);
	while (clock_now(&clock_system) <= ended)
		(void)poll(NULL, 0, 1);
	(void)exchange(200, code);
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 3);
}
END_TEST

static const struct {
	enum how how;
	const char *message;
} unmade[] = {
	{ FAILS, "status 500" },	   { HANGS, "timed out" },
	{ HAS_ANOTHER_KEY, "wrong key" },  { TELLS_NONSENSE, "not a LiveKit" },
	{ LACKS_EVERYBODY, "status 503" },
};

START_TEST(nobody_joins_a_room_that_could_not_be_made)
{
	const char *code = make_code("{\"max_uses\":1}"), *answer;
	const char *path = arena_text(stand.arena, "/v2/room-codes/code/%s", code);

	kit_set(unmade[_i].how);
	answer = exchange(502, code);
	ck_assert_msg(strstr(answer, unmade[_i].message) != NULL, "%s", answer);
	ck_assert_int_eq(json_integer_value(
				 json_object_get(parsed(ask(200, METHOD_GET, path, NULL)), "uses")),
			 0);
	kit_set(ANSWERS);
	(void)exchange(200, code);
	ck_assert_uint_eq(made_count(), 2);
}
END_TEST

#define CROWD 40

/* They come while the room is being made, and one when it is made, but nobody has read so. */
START_TEST(a_crowd_makes_a_room_once)
{
	const char *body = exchange_body(make_code("{}"));
	struct call calls[CROWD];
	struct wait waits[CROWD];

	pthread_mutex_lock(&kit.lock);
	for (size_t i = 0; i < CROWD; i++) {
		calls[i] = (struct call){ .arena = arena_open() };
		waits[i] = (struct wait){ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
					  false };
		set_request(&calls[i], METHOD_POST, "/v2/token", body);
		ck_assert(service_answer(stand.service, &calls[i]));
		ck_assert(call_is_asking(&calls[i]));
		if (i < CROWD - 1)
			service_ask(&calls[i], end_wait, &waits[i]);
	}
	pthread_mutex_unlock(&kit.lock);
	for (size_t i = 0; i < CROWD; i++) {
		if (i == CROWD - 1)
			service_ask(&calls[i], end_wait, &waits[i]);
		pthread_mutex_lock(&waits[i].lock);
		while (!waits[i].has_ended)
			pthread_cond_wait(&waits[i].ended, &waits[i].lock);
		pthread_mutex_unlock(&waits[i].lock);
	}
	for (size_t i = CROWD; i-- > 0;) {
		ck_assert(service_answer(stand.service, &calls[i]));
		ck_assert_int_eq(calls[i].answer.status, 200);
		arena_close(calls[i].arena);
	}
	ck_assert_uint_eq(made_count(), 1);
}
END_TEST

/* Without --live on, nothing is done at a media server, and it does not hold limits itself. */
START_TEST(only_a_service_that_acts_makes_rooms_and_holds_limits)
{
	static const enum live_mode modes[] = { LIVE_OFF, LIVE_WATCH, LIVE_ON };
	const char *code = make_code("{}"), *template, *answer;

	template = text_at(
		json_array_get(json_object_get(parsed(ask(200, METHOD_GET, "/v2/templates", NULL)),
					       "data"),
			       0),
		"id");
	(void)ask(200, METHOD_PATCH,
		  arena_text(stand.arena, "/v2/templates/%s/roles/guest", template),
		  "{\"maxPeerCount\":5}");
	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		service_close(stand.service);
		stand.environment.live = modes[i];
		stand.service = service_open(&stand.environment);
		answer = exchange(200, code);
		ck_assert_int_eq(strstr(answer, "\"not_enforced\":[\"max_peers\"]") != NULL,
				 modes[i] != LIVE_ON);
		ck_assert_uint_eq(made_count(), modes[i] == LIVE_ON);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("servers");
	TCase *asked = tcase_create("asked"), *live = tcase_create("live");
	TCase *inside = tcase_create("inside"), *making = tcase_create("making");
	TCase *promises = tcase_create("promises");

	tcase_set_timeout(asked, 60);
	tcase_add_checked_fixture(asked, set_up, tear_down);
	tcase_add_test(asked, a_request_has_a_token_with_one_grant);
	tcase_add_loop_test(asked, an_answer_says_whether_the_server_is_up, 0, ROWS(answers));
	tcase_add_loop_test(asked, a_failure_has_its_sentence, 0, ROWS(failures));
	tcase_add_test(asked, only_changes_are_events);
	tcase_add_test(asked, a_validated_test_asks_nothing);
	tcase_add_test(asked, other_servers_cannot_be_asked);
	tcase_add_test(asked, a_repeated_request_asks_once);
	tcase_add_test(asked, tests_have_a_limit);
	tcase_add_test(asked, one_server_or_account_holds_nobody_up);
	tcase_add_test(asked, one_room_is_changed_by_one_call_at_a_time);
	tcase_add_loop_test(asked, requests_have_an_order, 0, ROWS(queues));
	tcase_add_loop_test(asked, moderators_find_a_place, 0, ROWS(places));
	tcase_add_loop_test(asked, the_last_change_of_oneself_counts, 0, ROWS(own_changes));
	tcase_add_test(asked, a_change_that_was_overtaken_is_not_made);
	tcase_add_loop_test(asked, a_large_request_ends_no_process, 0, ROWS(too_large));
	tcase_add_test(asked, a_lost_process_is_replaced);
	tcase_add_test(asked, a_lost_test_says_nothing_about_the_server);
	tcase_set_timeout(live, 60);
	tcase_add_checked_fixture(live, set_up_kit, tear_down_kit);
	tcase_add_test(live, a_look_finds_who_has_joined);
	tcase_add_loop_test(live, the_last_event_has_its_time, 0, ROWS(last_events));
	tcase_add_test(live, looks_find_who_has_left);
	tcase_add_loop_test(live, nobody_leaves_because_a_server_does_not_answer, 0,
			    ROWS(bad_answers));
	tcase_add_test(live, a_peer_alone_has_its_tracks);
	tcase_add_loop_test(live, a_peer_is_asked_for_at_the_server, 0, ROWS(asked_peers));
	tcase_add_loop_test(live, tracks_are_muted_or_calls_refused, 0, ROWS(mutes));
	tcase_add_loop_test(live, all_tracks_of_a_kind_are_muted, 0, ROWS(muted_together));
	tcase_add_loop_test(live, people_are_put_out_or_calls_refused, 0, ROWS(acts));
	tcase_add_test(live, who_has_the_name_of_another_gets_a_number);
	tcase_add_loop_test(live, who_takes_the_name_of_another_gets_a_number, 0, ROWS(renamings));
	tcase_add_loop_test(live, rights_without_a_role_stay, 0, 2);
	tcase_add_loop_test(live, who_may_not_be_inside_is_put_out, 0, ROWS(judged));
	tcase_add_test(live, who_was_put_out_does_not_come_back);
	tcase_add_loop_test(live, who_has_other_rights_gets_those_of_the_role, 0,
			    ROWS(permissions));
	tcase_add_test(live, moderators_are_told_who_waits);
	tcase_add_loop_test(live, people_are_told_that_their_role_has_changed, 0,
			    ROWS(role_changes));
	tcase_add_test(live, many_changes_of_roles_are_few_messages);
	tcase_add_loop_test(live, no_role_that_has_changed_is_forgotten, 0, ROWS(told_sets));
	tcase_add_loop_test(live, whoever_comes_by_the_code_asks, 0, ROWS(put_out_to_ask));
	tcase_add_loop_test(live, moderators_only_extend_bans, 0, ROWS(bans_again));
	tcase_add_loop_test(live, a_ban_needs_no_place_at_the_server, 0, 2);
	tcase_add_loop_test(live, an_act_with_a_key_is_done_once, 0, ROWS(kept_acts));
	tcase_add_test(live, an_empty_room_is_locked);
	tcase_add_loop_test(live, messages_arrive_or_are_refused, 0, ROWS(messages));
	tcase_add_test(live, nothing_is_changed_by_a_service_that_watches);
	tcase_add_loop_test(live, a_person_whose_event_is_late_is_found, 0, ROWS(insiders));
	tcase_add_test(live, too_many_events_are_told_again);
	tcase_add_test(live, what_is_wanted_of_rooms_is_kept);
	tcase_add_test(live, an_event_that_cannot_be_stored_is_set_aside);
	tcase_add_test(live, a_role_of_many_is_put_out);
	tcase_add_test(live, secrets_are_not_logged);
	tcase_add_test(live, with_live_off_events_are_not_read);
	tcase_set_timeout(promises, 60);
	tcase_add_checked_fixture(promises, set_up_kit, tear_down_kit);
	tcase_add_test(promises, a_room_that_was_made_again_is_another_session);
	tcase_add_test(promises, a_server_that_was_down_at_the_start_is_asked_every_30_s);
	tcase_add_test(promises, acts_at_a_new_server_are_not_held_up);
	tcase_add_loop_test(promises, the_caller_is_put_out_last, 0, 2);
	tcase_set_timeout(making, 60);
	tcase_add_checked_fixture(inside, set_up_kit, tear_down_kit);
	tcase_add_loop_test(inside, callers_do_what_they_may, 0, ROWS(askers));
	tcase_add_test(inside, people_outside_share_one_look);
	tcase_add_loop_test(inside, who_may_have_the_room_looked_at, 0, ROWS(on_the_way));
	tcase_add_loop_test(inside, the_last_value_of_oneself_wins, 0, ROWS(own_orders));
	tcase_add_loop_test(inside, two_calls_with_a_key_are_one, 0, ROWS(doubles));
	tcase_add_test(inside, nobody_waits_for_ever_for_a_key);
	tcase_add_test(inside, a_message_to_long_identities_is_split);
	suite_add_tcase(suite, inside);
	tcase_add_checked_fixture(making, set_up_making, tear_down_kit);
	tcase_add_test(making, a_room_is_made_before_somebody_joins);
	tcase_add_test(making, a_token_of_the_account_makes_the_room_too);
	tcase_add_test(making, a_room_is_made_with_the_agents_asked_for);
	tcase_add_test(making, a_room_that_has_ended_is_made_again);
	tcase_add_loop_test(making, nobody_joins_a_room_that_could_not_be_made, 0, ROWS(unmade));
	tcase_add_test(making, a_crowd_makes_a_room_once);
	tcase_add_test(making, only_a_service_that_acts_makes_rooms_and_holds_limits);
	if (sender_is_built()) {
		suite_add_tcase(suite, asked);
		suite_add_tcase(suite, making);
		suite_add_tcase(suite, live);
		suite_add_tcase(suite, promises);
	}
	fast_disk();
	return suite_run(suite);
}
