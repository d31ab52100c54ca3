/* What Anteroom asks media servers: the requests that arrive at a server, what its answers mean,
 * and calls that wait for them (resources/asking.h). The server is a receiver; the requests are
 * made by the real sender process. The program is named by $ANTEROOM, else ./anteroom.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounts/accounts.h"
#include "accounts/token.h"
#include "background/media_client.h"
#include "base/digest.h"
#include "base/text.h"
#include "delivery/sender.h"
#include "directory.h"
#include "receiver.h"
#include "resources/joining/misses.h"
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
	misses_close(stand.environment.misses);
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
static void carry_out(struct call *call)
{
	struct wait wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct fault fault = FAULT_INITIAL;

	ck_assert(service_answer(stand.service, call));
	ck_assert(store_wait(stand.environment.store, call->answer.awaited, &fault));
	if (!call_is_asking(call))
		return;
	service_ask(call, end_wait, &wait);
	pthread_mutex_lock(&wait.lock);
	while (!wait.has_ended)
		pthread_cond_wait(&wait.ended, &wait.lock);
	pthread_mutex_unlock(&wait.lock);
	ck_assert(service_answer(stand.service, call));
	ck_assert(store_wait(stand.environment.store, call->answer.awaited, &fault));
}

static void set_request(struct call *call, enum method method, const char *path, const char *body)
{
	struct buffer header = BUFFER_INITIAL(call->arena);

	buffer_append_text(&header, "Bearer ");
	buffer_append(&header, token_sign_management(call->arena, &clock_system, &stand.account,
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
		       bool is_once)
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
			.is_once = is_once,
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
		begin_look(&looks[i], 0, i < 20 ? 0 : i, "/held", false);
	ck_assert(receiver_wait(stand.receiver, 32));
	begin_look(&other, 1, 0, "/200", false);
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

/* What only reads is sent once more; what changes something is not. */
START_TEST(a_lost_process_is_replaced)
{
	static struct look reads, changes;

	begin_look(&reads, 0, 0, "/held", false);
	begin_look(&changes, 0, 0, "/held", true);
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

int main(void)
{
	Suite *suite = suite_create("servers");
	TCase *asked = tcase_create("asked");

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
	tcase_add_test(asked, a_lost_process_is_replaced);
	tcase_add_test(asked, a_lost_test_says_nothing_about_the_server);
	if (sender_is_built())
		suite_add_tcase(suite, asked);
	return suite_run(suite);
}
