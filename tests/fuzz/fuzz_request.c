/* Requests through the router and the service, with a store in memory. An input is up to eight
 * requests, separated by the byte 0x00; each has a method (one byte), the URL and, separated by
 * newlines, If-Match, If-None-Match, Prefer, X-Request-Id and the body. The bytes 0x01 to 0x03
 * stand for the ID of an existing template, of an existing room, and for an existing room code.
 * Every response must be complete and well-formed, and none may be a 500. In every other new input,
 * a request is added or replaced by one for some route, generated from its tables (along.h). The
 * store, time and random numbers start anew for each input, so that its result does not depend on
 * earlier inputs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "along.h"
#include "accounts/accounts.h"
#include "service/metrics.h"
#include "resources/misses.h"
#include "accounts/token.h"
#include "directory.h"
#include "service/routes.h"
#include "service/service.h"
#include "store_memory.h"
#include "store_failing.h"
#include "suite.h"

#define REQUESTS_MOST 8
#define REQUEST_FIELDS 6 /* of a request, after the method */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const char *data, size_t size);
size_t LLVMFuzzerMutate(unsigned char *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t most, unsigned seed);

static struct accounts *accounts;
static char *directory;
static char authorization[1024];

/* ---- time and random numbers that are the same for each input ---- */

#define START INT64_C(1700000000000)

struct counted_clock {
	struct clock clock;
	int64_t now; /* advances with each call */
	uint64_t seed;
};

static struct counted_clock counted;

static int64_t counted_now(const struct clock *clock)
{
	(void)clock;
	return counted.now++;
}

static void counted_random(const struct clock *clock, void *bytes, size_t size)
{
	unsigned char *place = bytes;

	(void)clock;
	for (size_t i = 0; i < size; i++)
		place[i] = (unsigned char)chance(&counted.seed);
}

static void remove_directory(void)
{
	accounts_close(accounts);
	directory_remove(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct account account;
	struct slice token;

	(void)argc;
	(void)argv;
	json_object_seed(1);
	counted = (struct counted_clock){
		.clock = { .now = counted_now, .random = counted_random },
		.now = START,
	};
	directory = directory_make();
	if (!accounts_add(directory, &counted.clock, "fuzz", &account, &fault) ||
	    !accounts_open(directory, &accounts, &fault))
		abort();
	token = token_sign_management(arena, &counted.clock, &account, START, 7 * 24 * 3600);
	snprintf(authorization, sizeof authorization, "Bearer %.*s", (int)token.size, token.data);
	arena_close(arena);
	atexit(remove_directory);
	return 0;
}

/* ---- the service ---- */

struct stand {
	struct environment environment;
	struct service *service;
	char known[3][ID_TEXT_SIZE + 1]; /* template, room, code */
	char address[16]; /* of the client; differs for each input, as each has few misses */
};

static void settle(struct stand *stand, struct call *call)
{
	uint64_t number = call->answer.awaited;

	while (number != 0 && store_state(stand->environment.store, number) == STORE_PENDING)
		store_flush(stand->environment.store);
	if (number != 0)
		service_settle(call, store_state(stand->environment.store, number));
}

static struct slice body_of(struct arena *arena, const struct answer *answer)
{
	struct buffer body = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < answer->part_count; i++)
		buffer_append(&body, answer->parts[i]);
	return buffer_slice(&body);
}

static json_t *ask(struct stand *stand, struct arena *arena, const char *uri, const char *body)
{
	struct call call = {
		.arena = arena,
		.request = {
			.method = METHOD_POST,
			.uri = slice_of(uri),
			.body = slice_of(body),
			.authorization = slice_of(authorization),
		},
	};
	struct slice text;

	service_answer(stand->service, &call);
	settle(stand, &call);
	text = body_of(arena, &call.answer);
	if (call.answer.status != 200)
		abort();
	return arena_json(arena, json_loadb(text.data, text.size, 0, NULL));
}

static void know(char known[ID_TEXT_SIZE + 1], const json_t *value)
{
	snprintf(known, ID_TEXT_SIZE + 1, "%s", json_string_value(value));
}

/* Creates a template with two roles, which is the default, and a room with codes. */
static void furnish(struct stand *stand)
{
	struct arena *arena = arena_open();
	json_t *codes;

	know(stand->known[0], json_object_get(ask(stand, arena, "/v2/templates",
						  "{\"name\":\"t\",\"default\":true,"
						  "\"roles\":{\"a\":{},\"b\":{}}}"),
					      "id"));
	know(stand->known[1],
	     json_object_get(ask(stand, arena, "/v2/rooms", "{\"name\":\"r\"}"), "id"));
	codes = ask(stand, arena, arena_text(arena, "/v2/room-codes/room/%s", stand->known[1]), "");
	know(stand->known[2],
	     json_object_get(json_array_get(json_object_get(codes, "data"), 0), "code"));
	arena_close(arena);
}

static void stand_open(struct stand *stand)
{
	stand->environment = (struct environment){
		.clock = &counted.clock,
		.store = store_failing_open(store_memory_open()),
		.accounts = accounts,
		.misses = misses_open(&counted.clock),
		.metrics = metrics_open(routes),
		.join_seconds = 3600,
	};
	stand->service = service_open(&stand->environment);
}

/* Resets everything except the misses, which are counted by address. */
static void stand_renew(struct stand *stand, unsigned input)
{
	store_failing_renew(stand->environment.store, store_memory_open());
	counted.now = START;
	counted.seed = 1;
	furnish(stand);
	snprintf(stand->address, sizeof stand->address, "10.%u.%u.%u", input >> 16 & 255,
		 input >> 8 & 255, input & 255);
}

/* ---- one request ---- */

static struct slice expand(const struct stand *stand, struct arena *arena, struct slice text)
{
	struct buffer whole = BUFFER_INITIAL(arena);

	if (text.size == 0)
		return (struct slice){ "", 0 };
	for (size_t i = 0; i < text.size; i++) {
		unsigned char byte = (unsigned char)text.data[i];

		if (byte >= 1 && byte <= 3)
			buffer_append_text(&whole, stand->known[byte - 1]);
		else
			buffer_append_byte(&whole, (char)byte);
	}
	return buffer_slice(&whole);
}

/* An empty header was not sent; nginx lets no line break through. */
static struct slice header_of(struct slice text)
{
	if (text.size == 0 || memchr(text.data, '\r', text.size) != NULL)
		return (struct slice){ NULL, 0 };
	return text;
}

static void check_answer(struct arena *arena, const struct call *call)
{
	const struct answer *answer = &call->answer;
	struct slice body = body_of(arena, answer);
	bool is_json = true;

	if (answer->status < 200 || answer->status == 500 || answer->status > 503)
		abort();
	for (size_t i = 0; i < answer->header_count; i++) {
		struct slice value = answer->headers[i].value;

		if (value.size > 2048 || memchr(value.data, '\r', value.size) != NULL ||
		    memchr(value.data, '\n', value.size) != NULL)
			abort();
		if (strcmp(answer->headers[i].name, "Content-Type") == 0)
			is_json = slice_begins(value, SLICE("application/j"));
	}
	if (body.size != answer->size)
		abort();
	if (body.size > 0 && is_json &&
	    arena_json(arena, json_loadb(body.data, body.size, JSON_REJECT_DUPLICATES, NULL)) ==
		    NULL)
		abort();
}

static void request(struct stand *stand, struct slice text)
{
	struct arena *arena = arena_open();
	struct call call = { .arena = arena };
	struct slice fields[REQUEST_FIELDS] = { { 0 } };

	call.request.method = (enum method)((unsigned char)text.data[0] % (METHOD_OTHER + 1));
	text.data++;
	text.size--;
	for (size_t i = 0; i < REQUEST_FIELDS; i++) {
		const char *end = i + 1 == REQUEST_FIELDS || text.size == 0
					  ? NULL
					  : memchr(text.data, '\n', text.size);
		size_t size = end == NULL ? text.size : (size_t)(end - text.data);

		fields[i] = expand(stand, arena, (struct slice){ text.data, size });
		if (end != NULL)
			size++;
		text.data += size;
		text.size -= size;
	}
	call.request.uri = fields[0];
	call.request.authorization = slice_of(authorization);
	call.request.if_match = header_of(fields[1]);
	call.request.if_none_match = header_of(fields[2]);
	call.request.prefer = header_of(fields[3]);
	call.request.request_id = header_of(fields[4]);
	call.request.body = fields[5];
	call.request.address = slice_of(stand->address);
	service_answer(stand->service, &call);
	settle(stand, &call);
	check_answer(arena, &call);
	metrics_count(stand->environment.metrics, &call, 1);
	arena_close(arena);
}

int LLVMFuzzerTestOneInput(const char *data, size_t size)
{
	static struct stand stand;
	static unsigned inputs;

	if (size > 65536)
		return 0;
	if (stand.service == NULL)
		stand_open(&stand);
	stand_renew(&stand, inputs++);
	for (size_t n = 0; n < REQUESTS_MOST && size > 0; n++) {
		const char *end = memchr(data, '\0', size);
		size_t length = end == NULL ? size : (size_t)(end - data);

		if (length > 0)
			request(&stand, (struct slice){ data, length });
		if (end != NULL)
			length++;
		data += length;
		size -= length;
	}
	return 0;
}

/* ---- new inputs ---- */

/* Appends one of the headers, which is mostly empty. */
static void put_header(struct buffer *text, uint64_t *seed)
{
	static const char *const headers[] = {
		"*", "W/\"1\"", "\"1\"", "\"2\", \"x\"", "handling=strict", "abc.1"
	};

	if (chance_below(seed, 8) == 0)
		buffer_append_text(text, headers[chance_below(seed, ROWS(headers))]);
	buffer_append_byte(text, '\n');
}

/* Appends the route's path, with one of the three known IDs, or a name, for each parameter. */
static void put_path(struct buffer *text, const char *path, uint64_t *seed)
{
	for (const char *at = path; *at != '\0'; at++) {
		if (*at != '{') {
			buffer_append_byte(text, *at);
			continue;
		}
		if (strncmp(at, "{role", 5) == 0 || chance_below(seed, 16) == 0)
			buffer_append_text(text, along_name(seed));
		else if (strncmp(at, "{template", 9) == 0)
			buffer_append_byte(text, 1);
		else
			buffer_append_byte(text, strncmp(at, "{room", 5) == 0 ? 2 : 3);
		at = strchr(at, '}');
	}
}

static void put_request(struct buffer *text, uint64_t *seed)
{
	const struct route *route = routes;
	size_t count = 0;

	while (routes[count].path != NULL)
		count++;
	route += chance_below(seed, count);
	/* Another number for the same method, which is never 0. */
	buffer_append_byte(text, (char)(route->method + METHOD_OTHER + 1));
	put_path(text, route->path, seed);
	if (route->query != NULL) {
		buffer_append_byte(text, '?');
		along_query(text, route->query, seed);
	}
	buffer_append_byte(text, '\n');
	for (size_t i = 0; i < REQUEST_FIELDS - 2; i++)
		put_header(text, seed);
	if (route->method != METHOD_GET)
		along_shape(text, route->body, seed);
}

/* Appends a text, with the bytes for known values in place of their escapes. */
static void put_known(struct buffer *text, struct slice made)
{
	for (size_t i = 0; i < made.size; i++) {
		if (made.size - i >= 6 && memcmp(made.data + i, "\\u000", 5) == 0 &&
		    strchr("123", made.data[i + 5]) != NULL) {
			buffer_append_byte(text, (char)(made.data[i + 5] - '0'));
			i += 5;
		} else {
			buffer_append_byte(text, made.data[i]);
		}
	}
}

size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t most, unsigned seed)
{
	uint64_t state = seed;
	struct arena *arena;
	struct buffer made = { 0 }, text = { 0 };
	size_t keep;

	if (chance_below(&state, 2) == 0)
		return LLVMFuzzerMutate(data, size, most);
	arena = arena_open();
	made.arena = text.arena = arena;
	/* Everything before it stays, up to the end of one of the requests. */
	keep = size == 0 ? 0 : chance_below(&state, size + 1);
	while (keep > 0 && keep < size && data[keep - 1] != '\0')
		keep++;
	if (keep > 0 && keep == size && data[size - 1] != '\0')
		buffer_append_byte(&text, '\0');
	put_request(&made, &state);
	put_known(&text, buffer_slice(&made));
	if (text.size > most - keep)
		text.size = most - keep;
	memcpy(data + keep, text.data, text.size);
	size = keep + text.size;
	arena_close(arena);
	return size;
}
