/* Requests to media servers: what arrives, what their answers mean, and in which order they are
 * made.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "background/media_client.h"
#include "background/media_queue.h"
#include "base/digest.h"
#include "base/text.h"
#include "kit.h"
#include "resources/asking.h"
#include "resources/misses.h"
#include "suite.h"

/* ---- what arrives ---- */

static struct slice decoded(struct slice text)
{
	struct slice bytes;

	ck_assert(text_base64url_decode(stand.arena, text, &bytes));
	return bytes;
}

/* Returns the request to the path with this end. */
static const struct received *request_to(const char *end)
{
	for (size_t i = receiver_count(stand.receiver); i-- > 0;) {
		const struct received *received = receiver_request(stand.receiver, i);
		const size_t length = strlen(received->path);

		if (length >= strlen(end) &&
		    strcmp(received->path + length - strlen(end), end) == 0)
			return received;
	}
	ck_abort_msg("no request to %s", end);
	return NULL;
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
	received = request_to("/ListRooms");
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
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
	health = health_of(backend);
	ck_assert_str_eq(text_at(health, "state"), answers[_i].state);
	ck_assert_str_eq(text_at(health, "message"), text_at(answer, "message"));
}
END_TEST

/* A LiveKit that does not create rooms lets nobody in, unless Anteroom creates them. */
static const struct {
	bool creates; /* config.create_rooms */
	int status;
	const char *validated; /* the answer about a room that does not exist */
	const char *message;
} probes[] = {
	{ false, 404, "requested room does not exist",
	  "room.auto_create is false: set config.create_rooms" },
	{ false, 200, "success", "" },
	{ false, 404, "404 page not found", "" },
	{ false, 500, "requested room does not exist", "" },
	{ true, 404, "requested room does not exist", "" },
};

static char *answer_probe(void *context, const struct received *received, int *status)
{
	const size_t *row = context;

	if (strstr(received->path, "/ListRooms") != NULL)
		return strdup("{\"rooms\":[]}");
	ck_assert_str_eq(received->path, "/rtc/validate");
	ck_assert(slice_begins(slice_of(received->head), SLICE("GET ")));
	*status = probes[*row].status;
	return strdup(probes[*row].validated);
}

START_TEST(a_test_says_whether_rooms_are_created)
{
	const char *backend = make_backend(url_of(""));
	size_t row = (size_t)_i;
	json_t *answer;

	if (probes[_i].creates)
		(void)ask(200, METHOD_PATCH, backend, "{\"config\":{\"create_rooms\":true}}");
	receiver_serve(stand.receiver, answer_probe, &row);
	answer = test_backend(backend);
	ck_assert_str_eq(text_at(answer, "state"), "up");
	ck_assert_str_eq(text_at(answer, "message"), probes[_i].message);
	ck_assert_str_eq(text_at(health_of(backend), "message"), "");
	ck_assert_uint_eq(receiver_count(stand.receiver), probes[_i].creates ? 1 : 2);
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
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
	(void)ask_with("two", 200, METHOD_POST, path, NULL);
	ck_assert_uint_eq(receiver_count(stand.receiver), 4);
}
END_TEST

START_TEST(tests_have_a_limit)
{
	const char *backend = make_backend(url_of(""));
	const char *path = arena_text(stand.arena, "%s/test", backend);

	for (int i = 0; i < MISSES_TESTS_MOST; i++)
		(void)ask(200, METHOD_POST, path, NULL);
	(void)ask(429, METHOD_POST, path, NULL);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2 * MISSES_TESTS_MOST);
}
END_TEST

/* ---- many at once ---- */

/* Requests without a call. */
struct survey {
	struct asking asking;
	struct asked asked;
	struct wait wait;
};

static void begin_survey(struct survey *survey, unsigned account, unsigned backend,
			 const char *path, struct slice room)
{
	*survey = (struct survey){
		.asking = {
			.account = { { (unsigned char)(account + 1) } },
			.backend = { { (unsigned char)(backend + 1) } },
			.asked = &survey->asked,
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
	media_client_ask(stand.environment.media_client, &survey->asking, end_wait, &survey->wait);
}

/* The same for somebody in a room, or for a moderator of it. */
static void begin_ranked(struct survey *survey, enum asked_rank rank, const char *person,
			 unsigned parts, const char *path)
{
	*survey = (struct survey){
		.asking = {
			.account = { { 1 } },
			.backend = { { 1 } },
			.rank = rank,
			.person = slice_of(person),
			.asked = &survey->asked,
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
	media_client_ask(stand.environment.media_client, &survey->asking, end_wait, &survey->wait);
}

static void end_survey(struct survey *survey)
{
	pthread_mutex_lock(&survey->wait.lock);
	while (!survey->wait.has_ended)
		pthread_cond_wait(&survey->wait.ended, &survey->wait.lock);
	pthread_mutex_unlock(&survey->wait.lock);
	media_client_release(&survey->asking);
}

/* Of one account: to one media server 8 at once, in all 32. Those who wait longer than 2 s are not
 * made, and other accounts are served at once. */
START_TEST(one_server_or_account_holds_nobody_up)
{
	static struct survey surveys[60], other;
	struct media_figures figures;
	size_t busy = 0;

	for (unsigned i = 0; i < 60; i++)
		begin_survey(&surveys[i], 0, i < 20 ? 0 : i, "/held", SLICE(""));
	ck_assert(receiver_wait(stand.receiver, 32));
	begin_survey(&other, 1, 0, "/200", SLICE(""));
	end_survey(&other);
	ck_assert_int_eq(other.asked.end, ASKED_ANSWERED);
	ck_assert_int_eq(other.asked.outcome.status, 200);
	ck_assert_uint_eq(receiver_most_at_once(stand.receiver), 32);
	for (unsigned i = 0; i < 60; i++) {
		end_survey(&surveys[i]);
		busy += surveys[i].asked.end == ASKED_BUSY;
		ck_assert(surveys[i].asked.end == ASKED_BUSY ||
			  surveys[i].asked.outcome.failure == SENDER_TIMED_OUT);
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
	static struct survey first, second, other;

	begin_survey(&first, 0, 0, "/held", SLICE("r"));
	ck_assert(receiver_wait(stand.receiver, 1));
	begin_survey(&second, 0, 0, "/200", SLICE("r"));
	begin_survey(&other, 0, 0, "/200", SLICE("s"));
	end_survey(&other);
	ck_assert_int_eq(other.asked.end, ASKED_ANSWERED);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
	end_survey(&first);
	end_survey(&second);
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
	{ ASKED_TO_ENFORCE, 8 },
	{ ASKED_TO_MANAGE, 6 },
	{ ASKED_TO_SURVEY, 6 },
	{ ASKED_FOR_ONESELF, 4 },
};

START_TEST(moderators_find_a_place)
{
	static struct survey surveys[10], moderator;
	const enum asked_rank rank = places[_i].rank;

	for (unsigned i = 0; i < 10; i++)
		begin_ranked(&surveys[i], rank, arena_text(stand.arena, "p%u", i),
			     rank == ASKED_FOR_ONESELF ? ASKED_PART_NAME : 0, "/held");
	ck_assert(receiver_wait(stand.receiver, places[_i].most));
	begin_ranked(&moderator, ASKED_TO_ENFORCE, "", 0, "/200");
	if (rank != ASKED_TO_ENFORCE) {
		end_survey(&moderator);
		ck_assert_int_eq(moderator.asked.outcome.status, 200);
		ck_assert_uint_eq(receiver_most_at_once(stand.receiver), places[_i].most);
	}
	receiver_release(stand.receiver);
	if (rank == ASKED_TO_ENFORCE)
		end_survey(&moderator);
	for (unsigned i = 0; i < 10; i++)
		end_survey(&surveys[i]);
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
	static struct survey surveys[8];
	const int64_t begun = clock_monotonic();
	struct slice rest = slice_of(own_changes[_i].changes);
	unsigned n = 0;

	while (rest.data != NULL) {
		const struct slice change = text_split(rest, ' ', &rest);

		begin_ranked(&surveys[n], ASKED_FOR_ONESELF,
			     arena_text(stand.arena, "%c", change.data[0]),
			     (unsigned)(change.data[1] - '0'), n == 0 ? "/held" : "/204");
		if (n++ == 0)
			ck_assert(receiver_wait(stand.receiver, 1));
	}
	receiver_release(stand.receiver);
	for (unsigned i = 0; i < n; i++) {
		end_survey(&surveys[i]);
		ck_assert_int_eq(surveys[i].asked.end, ASKED_ANSWERED);
		ck_assert_int_eq(surveys[i].asked.outcome.status, i == 0 ? 200 : 204);
	}
	ck_assert_str_eq(arrived_after_first(), own_changes[_i].arrive);
	/* Five in a second. */
	ck_assert_int_ge(clock_monotonic() - begun, 200);
}
END_TEST

/* A change that comes late, because its call waited elsewhere, does not undo a later one. */
START_TEST(a_change_that_was_overtaken_is_not_made)
{
	static struct survey later, earlier;

	begin_ranked(&later, ASKED_FOR_ONESELF, "a", ASKED_PART_METADATA, "/204");
	end_survey(&later);
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
		end_survey(&earlier);
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
		if (fgets(text, sizeof text, file) == NULL)
			text[0] = '\0';
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
	static struct survey large, other;
	const pid_t before = child();
	char *body = arena_alloc(stand.arena, too_large[_i]);

	memset(body, 'x', too_large[_i]);
	large = (struct survey){
		.asking = { .account = { { 1 } }, .asked = &large.asked, .count = 1 },
		.asked.request = {
			.url = slice_of(arena_text(stand.arena, "http%s", url_of("/200") + 2)),
			.body = { body, too_large[_i] },
			.is_once = true,
		},
		.wait = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false },
	};
	media_client_ask(stand.environment.media_client, &large.asking, end_wait, &large.wait);
	end_survey(&large);
	ck_assert_int_eq(large.asked.end, ASKED_TOO_LARGE);
	begin_survey(&other, 1, 0, "/200", SLICE(""));
	end_survey(&other);
	ck_assert_int_eq(other.asked.outcome.status, 200);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
	ck_assert_int_eq(child(), before);
}
END_TEST

/* What only reads is sent once more; what changes something is not. */
START_TEST(a_lost_process_is_replaced)
{
	static struct survey reads, changes;

	begin_survey(&reads, 0, 0, "/held", SLICE(""));
	begin_survey(&changes, 0, 0, "/held", SLICE("x"));
	ck_assert(receiver_wait(stand.receiver, 2));
	ck_assert_int_eq(kill(child(), SIGKILL), 0);
	end_survey(&changes);
	ck_assert_int_eq(changes.asked.end, ASKED_LOST);
	ck_assert(changes.asked.outcome.was_sent);
	ck_assert(receiver_wait(stand.receiver, 3));
	receiver_release(stand.receiver);
	end_survey(&reads);
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
		ck_assert(receiver_wait(stand.receiver, 2 * i));
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

void add_asked(TCase *asked)
{
	tcase_add_test(asked, a_request_has_a_token_with_one_grant);
	tcase_add_loop_test(asked, an_answer_says_whether_the_server_is_up, 0, ROWS(answers));
	tcase_add_loop_test(asked, a_test_says_whether_rooms_are_created, 0, ROWS(probes));
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
}
