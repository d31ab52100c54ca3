/* Requests without a socket: fills data directories for tests/bench/bench.sh, and runs requests
 * whose instructions it counts.
 *
 *     requests fill DIR TEMPLATES     creates an account "bench" with so many templates, in files, and
 *                                     prints a sample of them: template ID, code CODE
 *     requests journal DIR BYTES      the same, but everything is still in the journal, in so many
 *                                     bytes
 *     requests OPERATION N            makes N requests (get_role, list10, create, update_role, room,
 *                                     room_codes, token; token_HS256, token_ES256, token_RS256 for a
 *                                     room of LiveKit or Galene), each in the function `measured`
 *
 * The environment variable TEMPLATE names the file with the template (tests/bench/template.json),
 * in which NAME stands for the name. With the last form, time and random numbers are the same in
 * each run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "resources/misses.h"
#include "accounts/token.h"
#include "directory.h"
#include "service/service.h"
#include "store/figures.h"
#include "store/gdbm/store_gdbm.h"

/* Writes made durable by one flush, as with this many connections; also used when filling. */
#define GROUP 32
#define GROUP_FILLING 1000
/* The most IDs that are printed, and the most templates for which a room is created. */
#define SPREAD_MOST 20000
#define ROOMS_MOST 500
/* The number of templates stored before instructions are counted. */
#define STORED 1000
/* With overlays this large, filling writes each record less often, or keeps all in the journal. */
#define OVERLAY_FILLING ((size_t)64 << 20)
#define OVERLAY_JOURNAL ((size_t)1 << 30)

struct bench {
	struct environment environment;
	struct service *service;
	struct call call;
	char *template; /* contains NAME, in one line */
	char authorization[TOKEN_MOST];
	uint64_t made; /* templates created */
	uint64_t pending; /* requests since the last flush */
	uint64_t measured;
	bool is_measuring;
};

static _Noreturn void give_up(const char *what, const char *why)
{
	fprintf(stderr, "bench/requests: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void check(bool is_right, const struct fault *fault)
{
	if (!is_right)
		give_up(fault->message, fault->cause);
}

/* ---- repeatable time and random numbers ---- */

struct even_clock {
	struct clock base;
	int64_t now;
	uint64_t seed;
};

/* Callers of a clock get it as const. */
static struct even_clock *even_clock_of(const struct clock *clock)
{
	return (struct even_clock *)(uintptr_t)clock;
}

static int64_t even_now(const struct clock *clock)
{
	return even_clock_of(clock)->now;
}

static void even_random(const struct clock *clock, void *bytes, size_t size)
{
	struct even_clock *even = even_clock_of(clock);
	unsigned char *next = bytes;

	for (size_t i = 0; i < size; i++)
		next[i] = (unsigned char)chance(&even->seed);
}

static struct even_clock even_clock = { { even_now, even_random }, INT64_C(1700000000000), 1 };

/* ---- requests ---- */

/* Reads the template; only the name and the layout will differ from the file. */
static char *read_template(void)
{
	const char *path = getenv("TEMPLATE");
	json_error_t error;
	json_t *root;
	char *text;

	if (path == NULL)
		give_up("TEMPLATE", "is not set");
	root = json_load_file(path, 0, &error);
	text = root == NULL ? NULL : json_dumps(root, JSON_COMPACT);
	if (text == NULL || strstr(text, "NAME") == NULL)
		give_up(path, "is not a template");
	json_decref(root);
	return text;
}

static void bench_open(struct bench *bench, const char *directory, const struct clock *clock,
		       size_t overlay_bytes)
{
	char store[512];
	const struct store_options options = {
		.directory = store,
		.readers = 1,
		.creates = true,
		.overlay_bytes = overlay_bytes,
	};
	struct environment *environment = &bench->environment;
	struct fault fault = FAULT_INITIAL;
	struct account account;
	struct slice token;

	snprintf(store, sizeof store, "%s/store", directory);
	json_object_seed(1);
	bench->template = read_template();
	bench->call.arena = arena_open();
	*environment = (struct environment){
		.clock = clock,
		.tokens = token_memory_open(),
		.misses = misses_open(clock),
		.join_seconds = 3600,
		.live = LIVE_ON,
	};
	check(accounts_add(directory, clock, "bench", &account, &fault) &&
		      accounts_open(directory, &environment->accounts, &fault) &&
		      store_gdbm_open(&options, &environment->store, &fault),
	      &fault);
	bench->service = service_open(environment);
	token = token_sign_management(bench->call.arena, clock, &account, clock_now(clock), 360000);
	snprintf(bench->authorization, sizeof bench->authorization, "Bearer %.*s", (int)token.size,
		 token.data);
}

static void bench_close(struct bench *bench)
{
	service_close(bench->service);
	store_close(bench->environment.store);
	accounts_close(bench->environment.accounts);
	misses_close(bench->environment.misses);
	token_memory_close(bench->environment.tokens);
	arena_close(bench->call.arena);
	free(bench->template);
}

static void flush(struct bench *bench)
{
	uint64_t number = bench->call.answer.awaited;
	struct fault fault = FAULT_INITIAL;

	bench->pending = 0;
	store_flush(bench->environment.store);
	if (number != 0)
		check(store_wait(bench->environment.store, number, &fault), &fault);
}

static void answer(struct bench *bench)
{
	service_answer(bench->service, &bench->call);
	if (bench->call.answer.awaited != 0 &&
	    ++bench->pending >= (bench->is_measuring ? GROUP : GROUP_FILLING))
		flush(bench);
}

static void __attribute__((noinline)) measured(struct bench *bench)
{
	bench->measured++;
	answer(bench);
}

/* uri and body may be in the arena. */
static void ask(struct bench *bench, enum method method, const char *uri, struct slice body)
{
	struct call *call = &bench->call;
	const struct call empty = { .arena = call->arena };

	*call = empty;
	call->request = (struct request){
		.method = method,
		.uri = slice_of(uri),
		.body = body,
		.authorization = slice_of(bench->authorization),
		.request_id = SLICE("2cfae22da5b65ef55a36d1a1ac3e3a5e"),
		.address = SLICE("192.0.2.7"),
	};
	if (bench->is_measuring)
		measured(bench);
	else
		answer(bench);
	if (call->answer.status != 200)
		give_up(uri, "did not return 200");
}

static void create(struct bench *bench)
{
	const char *mark = strstr(bench->template, "NAME");
	char *body;

	arena_reset(bench->call.arena);
	body = arena_text(bench->call.arena, "%.*sfilled-%09llu%s", (int)(mark - bench->template),
			  bench->template, (unsigned long long)bench->made++, mark + 4);
	ask(bench, METHOD_POST, "/v2/templates", slice_of(body));
}

/* Returns the response, which lives as long as the arena's contents. */
static json_t *answer_of(struct bench *bench)
{
	struct answer *answer = &bench->call.answer;
	struct buffer text = BUFFER_INITIAL(bench->call.arena);
	json_t *root;

	for (size_t i = 0; i < answer->part_count; i++)
		buffer_append(&text, answer->parts[i]);
	root = json_loadb(text.data, text.size, 0, NULL);
	if (root == NULL)
		give_up("a response", "is not JSON");
	return arena_json(bench->call.arena, root);
}

static const char *id_of(struct bench *bench)
{
	return json_string_value(json_object_get(answer_of(bench), "id"));
}

/* ---- fill ---- */

/* Creates a room of the newest template, and its codes. */
static void make_codes(struct bench *bench, const char *template)
{
	struct arena *arena = bench->call.arena;
	const char *room;
	size_t i;
	json_t *code;

	ask(bench, METHOD_POST, "/v2/rooms",
	    slice_of(arena_text(arena, "{\"template_id\":\"%s\"}", template)));
	room = id_of(bench);
	/* A request for codes sees only durable data. */
	flush(bench);
	ask(bench, METHOD_POST, arena_text(arena, "/v2/room-codes/room/%s", room), SLICE(""));
	json_array_foreach(json_object_get(answer_of(bench), "data"), i, code)
		printf("code %s\n", json_string_value(json_object_get(code, "code")));
}

/* Prints templates that are followed by a full page, so that each is the start of one. */
static void fill(struct bench *bench, uint64_t templates)
{
	uint64_t step = templates / SPREAD_MOST + 1;
	uint64_t room_step = step * (templates / step / ROOMS_MOST + 1);

	while (bench->made < templates) {
		uint64_t n = bench->made;
		const char *id;

		create(bench);
		if (n % step != 0 || (templates > 200 && n < 100))
			continue;
		id = id_of(bench);
		printf("template %s\n", id);
		if (n % room_step == 0)
			make_codes(bench, id);
	}
	flush(bench);
	if (!store_gdbm_settle(bench->environment.store, false))
		give_up("the store", "cannot continue");
	bench_close(bench);
}

/* Ends without closing anything: what is only in memory is lost, as in a crash. */
static _Noreturn void fill_journal(struct bench *bench, uint64_t bytes)
{
	uint64_t stored = 0;

	while (stored < bytes) {
		create(bench);
		stored += bench->call.answer.size;
	}
	flush(bench);
	_exit(EXIT_SUCCESS);
}

/* ---- requests to be counted ---- */

static void begin_measuring(struct bench *bench)
{
	flush(bench);
	if (!store_gdbm_settle(bench->environment.store, true))
		give_up("the store", "cannot continue");
	bench->is_measuring = true;
}

static void repeat(struct bench *bench, uint64_t n, enum method method, const char *uri,
		   const char *body)
{
	begin_measuring(bench);
	for (uint64_t i = 0; i < n; i++) {
		arena_reset(bench->call.arena);
		ask(bench, method, uri, slice_of(body));
	}
}

/* Creates n rooms of a template and stores their IDs in `rooms`. */
static void make_rooms(struct bench *bench, uint64_t n, const char *body, char (*rooms)[25])
{
	for (uint64_t i = 0; i < n; i++) {
		arena_reset(bench->call.arena);
		ask(bench, METHOD_POST, "/v2/rooms", slice_of(body));
		snprintf(rooms[i], sizeof rooms[i], "%s", id_of(bench));
	}
}

static void count_codes(struct bench *bench, uint64_t n, char (*rooms)[25])
{
	char uri[100];

	begin_measuring(bench);
	for (uint64_t i = 0; i < n; i++) {
		arena_reset(bench->call.arena);
		snprintf(uri, sizeof uri, "/v2/room-codes/room/%s", rooms[i]);
		ask(bench, METHOD_POST, uri, SLICE(""));
	}
}

static void count_joins(struct bench *bench, uint64_t n, const char *room)
{
	const char *code;
	char uri[100], body[100];

	flush(bench); /* a read sees only durable data */
	snprintf(uri, sizeof uri, "/v2/room-codes/room/%s", room);
	ask(bench, METHOD_POST, uri, SLICE(""));
	code = json_string_value(json_object_get(
		json_array_get(json_object_get(answer_of(bench), "data"), 0), "code"));
	snprintf(body, sizeof body, "{\"code\":\"%s\"}", code);
	repeat(bench, n, METHOD_POST, "/v2/token", body);
}

/* Gives the rooms a media server whose tokens are signed with this alg. */
static void add_backend(struct bench *bench, const char *alg)
{
	char body[300];

	if (strcmp(alg, "HS256") == 0) {
		ask(bench, METHOD_POST, "/v2/backends",
		    SLICE("{\"name\":\"b\",\"type\":\"livekit\",\"url\":\"wss://livekit.example.org\","
			  "\"default\":true,\"config\":{\"api_key\":\"key\",\"api_secret\":"
			  "\"0123456789abcdef0123456789abcdef\"}}"));
		return;
	}
	snprintf(body, sizeof body, "{\"alg\":\"%s\"}", alg);
	ask(bench, METHOD_POST, "/v2/signing-keys", slice_of(body));
	snprintf(body, sizeof body,
		 "{\"name\":\"b\",\"type\":\"galene\",\"url\":\"https://galene.example.org/\","
		 "\"default\":true,\"config\":{\"alg\":\"%s\"}}",
		 alg);
	ask(bench, METHOD_POST, "/v2/backends", slice_of(body));
}

static bool run(struct bench *bench, const char *operation, uint64_t n)
{
	char(*rooms)[25] = calloc(n, sizeof *rooms);
	char uri[100], body[100];
	bool is_known = true;

	if (rooms == NULL)
		give_up("memory", "ran out");
	while (bench->made < STORED)
		create(bench);
	snprintf(uri, sizeof uri, "/v2/templates/%s/roles/host", id_of(bench));
	snprintf(body, sizeof body, "{\"template_id\":\"%s\"}", id_of(bench));
	if (strcmp(operation, "get_role") == 0) {
		repeat(bench, n, METHOD_GET, uri, "");
	} else if (strcmp(operation, "list10") == 0) {
		repeat(bench, n, METHOD_GET, "/v2/templates?limit=10", "");
	} else if (strcmp(operation, "update_role") == 0) {
		repeat(bench, n, METHOD_PATCH, uri, "{\"priority\":1}");
	} else if (strcmp(operation, "create") == 0) {
		begin_measuring(bench);
		for (uint64_t i = 0; i < n; i++)
			create(bench);
	} else if (strcmp(operation, "room") == 0) {
		repeat(bench, n, METHOD_POST, "/v2/rooms", body);
	} else if (strcmp(operation, "room_codes") == 0) {
		make_rooms(bench, n, body, rooms);
		count_codes(bench, n, rooms);
	} else if (strcmp(operation, "token") == 0 || strncmp(operation, "token_", 6) == 0) {
		if (operation[5] == '_')
			add_backend(bench, operation + 6);
		make_rooms(bench, 1, body, rooms);
		count_joins(bench, n, rooms[0]);
	} else {
		is_known = false;
	}
	free(rooms);
	return is_known;
}

static bool count(struct bench *bench, const char *operation, uint64_t n)
{
	char *directory = directory_make();
	bool is_known;

	bench_open(bench, directory, &even_clock.base, 0);
	is_known = run(bench, operation, n);
	bench_close(bench);
	directory_remove(directory);
	return is_known;
}

static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	return errno != 0 || *end != '\0' ? 0 : number;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	uint64_t n = argc < 3 ? 0 : number_of(argv[argc - 1]);

	if (n > 0 && argc == 4 && strcmp(argv[1], "fill") == 0) {
		bench_open(&bench, argv[2], &clock_system, OVERLAY_FILLING);
		fill(&bench, n);
		return EXIT_SUCCESS;
	}
	if (n > 0 && argc == 4 && strcmp(argv[1], "journal") == 0) {
		bench_open(&bench, argv[2], &clock_system, OVERLAY_JOURNAL);
		fill_journal(&bench, n);
	}
	if (n > 0 && argc == 3 && count(&bench, argv[1], n))
		return EXIT_SUCCESS;
	fprintf(stderr, "usage: requests fill DIR TEMPLATES | journal DIR BYTES | "
			"get_role|list10|create|update_role|room|room_codes|token|"
			"token_HS256|token_ES256|token_RS256 N\n");
	return EXIT_FAILURE;
}
