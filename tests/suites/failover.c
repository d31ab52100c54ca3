/* Kills processes under load that share one database: responders, then the database's primary. Each
 * responder is a process whose threads write and read through service_answer, as clients would. In
 * memory shared with the parent, each writer notes what it is about to write and how that was
 * answered. The test checks:
 *
 *     - acknowledged writes are present exactly once;
 *     - rejected writes are absent; the outcome is unknown only if the response says so, or after a kill;
 *     - a reader never sees part of a write, nor a state older than what was acknowledged before it asked.
 *
 *     failover [-r KILLS] [-p KILLS] [-s SEED]
 *
 * -r: this many responders are killed (with SIGKILL) and restarted. -p: this many primaries are
 * killed with all their processes, while a synchronous standby has everything they acknowledged.
 * The standby becomes the primary and gets a new standby.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "database.h"
#include "directory.h"
#include "world.h"

#define RESPONDERS 2
#define WRITERS 4 /* per responder */
#define READERS 2
#define ALL_WRITERS (RESPONDERS * WRITERS)
#define WRITES_MOST (1u << 20)
#define ROLES 3 /* of each writer's template: a, b and c */
#define PROGRESS 5 /* acknowledged writes of each writer between two kills */
#define PATIENCE 120000 /* milliseconds without progress */
#define PAGE 100
#define TEXT_MOST 200

enum writing {
	NOT_SENT,
	SENT, /* not answered, or with an unknown outcome */
	REFUSED,
	ACKNOWLEDGED
};

struct ledger {
	char template_id[32];
	atomic_uint sent, acknowledged; /* the last number of each */
	atomic_uint done; /* acknowledged writes */
	_Atomic unsigned char updates[WRITES_MOST], rooms[WRITES_MOST], codes[WRITES_MOST],
		locks[WRITES_MOST], bans[WRITES_MOST];
};

static struct shared {
	struct ledger ledgers[ALL_WRITERS];
	atomic_bool is_ending;
	atomic_uint reads, unknown;
} * shared;

static struct account account;
static struct world responder;
static const char *url;

static void open_responder(void)
{
	const struct world_options options = {
		.store = WORLD_POSTGRES,
		.postgres = { .url = url, .connections = 16 },
		.environment.live = LIVE_ON,
	};

	world_open(&responder, &options);
}

static _Noreturn void wrong(const char *what, unsigned writer, unsigned number, const char *text)
{
	(void)fprintf(stderr, "failover: %s: writer %u, number %u: %s\n", what, writer, number,
		      text);
	_exit(EXIT_FAILURE);
}

static json_t *object_of(const struct reply *reply)
{
	return json_loads(reply->text, 0, NULL);
}

/* ---- writing ---- */

static struct reply post(struct arena *arena, const char *path, const char *body)
{
	return world_ask(&responder, arena, &account,
			 strstr(path, "/v2/templates/") == path ? METHOD_PATCH : METHOD_POST, path,
			 body);
}

/* Writes once, and notes before and after what is known about the write. */
static bool write_once(struct arena *arena, unsigned writer, unsigned number,
		       _Atomic unsigned char *outcome, const char *path, const char *body,
		       struct reply *reply)
{
	atomic_store(outcome, SENT);
	*reply = post(arena, path, body);
	if (reply->status == 200) {
		atomic_store(outcome, ACKNOWLEDGED);
		atomic_fetch_add(&shared->ledgers[writer].done, 1);
		return true;
	}
	if (reply->status != 503 || reply->retry_after.size == 0)
		wrong("answered with another status", writer, number, reply->text);
	if (strstr(reply->text, "not known") != NULL)
		atomic_fetch_add(&shared->unknown, 1);
	else
		atomic_store(outcome, REFUSED);
	return false;
}

/* Makes a room, and its codes or, of every other one, which then shows no codes, locks it. */
static void make_room(struct arena *arena, unsigned writer, unsigned number)
{
	struct ledger *ledger = &shared->ledgers[writer];
	const char *body = arena_text(arena, "{\"template_id\":\"%s\",\"description\":\"%u %u\"}",
				      ledger->template_id, writer, number);
	struct reply reply;
	json_t *room;
	const char *id;

	if (!write_once(arena, writer, number, &ledger->rooms[number], "/v2/rooms", body, &reply))
		return;
	room = object_of(&reply);
	id = json_string_value(json_object_get(room, "id"));
	if (number % 2 == 0)
		(void)write_once(arena, writer, number, &ledger->locks[number],
				 arena_text(arena, "/v2/active-rooms/%s/end-room", id),
				 "{\"lock\":true}", &reply);
	else
		(void)write_once(arena, writer, number, &ledger->codes[number],
				 arena_text(arena, "/v2/room-codes/room/%s", id), "{}", &reply);
	json_decref(room);
}

static void ban(struct arena *arena, unsigned writer, unsigned number)
{
	struct reply reply;

	(void)write_once(arena, writer, number, &shared->ledgers[writer].bans[number], "/v2/bans",
			 arena_text(arena, "{\"user_id\":\"%u %u\"}", writer, number), &reply);
}

static void update(struct arena *arena, unsigned writer, unsigned number)
{
	struct ledger *ledger = &shared->ledgers[writer];
	const char *path = arena_text(arena, "/v2/templates/%s", ledger->template_id);
	const char *body = arena_text(arena,
				      "{\"roles\":{\"a\":{\"maxPeerCount\":%u},"
				      "\"b\":{\"maxPeerCount\":%u}}}",
				      number, number);
	struct reply reply;

	atomic_store(&ledger->sent, number);
	if (write_once(arena, writer, number, &ledger->updates[number], path, body, &reply))
		atomic_store(&ledger->acknowledged, number);
}

static void *write_on(void *which)
{
	const unsigned writer = *(const unsigned *)which;
	struct arena *arena = arena_open();
	unsigned number = atomic_load(&shared->ledgers[writer].sent) + 1;

	for (; number < WRITES_MOST && !atomic_load(&shared->is_ending); number++) {
		update(arena, writer, number);
		make_room(arena, writer, number);
		/* An account has at most 100,000 bans. */
		if (number % 2 == 0)
			ban(arena, writer, number);
		arena_reset(arena);
	}
	arena_close(arena);
	return NULL;
}

/* ---- reading ---- */

/* Returns NULL if the database is unavailable, or the room is locked. */
static json_t *get(struct arena *arena, const char *path)
{
	const struct reply reply = world_ask(&responder, arena, &account, METHOD_GET, path, NULL);

	if (reply.status == 503 || reply.status == 403)
		return NULL;
	if (reply.status != 200)
		wrong("cannot be read", 0, (unsigned)reply.status, path);
	return object_of(&reply);
}

static unsigned count_of(const json_t *template, const char *role)
{
	const json_t *roles = json_object_get(template, "roles");

	return (unsigned)json_integer_value(
		json_object_get(json_object_get(roles, role), "maxPeerCount"));
}

/* Checks that the last update is complete, was not rejected, and is not older than what was
 * acknowledged. */
static void check_update(struct arena *arena, unsigned writer)
{
	struct ledger *ledger = &shared->ledgers[writer];
	const unsigned acknowledged = atomic_load(&ledger->acknowledged);
	json_t *template = get(arena, arena_text(arena, "/v2/templates/%s", ledger->template_id));
	const unsigned a = count_of(template, "a"), b = count_of(template, "b");

	if (template == NULL)
		return;
	if (a != b)
		wrong("half an update", writer, a, "");
	if (a < acknowledged)
		wrong("an update is lost", writer, acknowledged, "");
	if (a > atomic_load(&ledger->sent) || atomic_load(&ledger->updates[a]) == REFUSED)
		wrong("a rejected update was stored", writer, a, "");
	json_decref(template);
}

/* Counts the codes of a room, which has either none or those of all roles. */
static size_t count_codes(struct arena *arena, const char *room, unsigned writer, unsigned number)
{
	json_t *codes = get(arena, arena_text(arena, "/v2/room-codes/room/%s", room));
	const size_t n = json_array_size(json_object_get(codes, "data"));

	if (codes != NULL && n != 0 && n != ROLES)
		wrong("half the codes of a room", writer, number, room);
	json_decref(codes);
	return n;
}

static void check_newest_room(struct arena *arena, unsigned writer)
{
	const struct ledger *ledger = &shared->ledgers[writer];
	json_t *rooms = get(
		arena, arena_text(arena, "/v2/rooms?template_id=%s&limit=10", ledger->template_id));
	const json_t *room = json_array_get(json_object_get(rooms, "data"), 0);

	if (room != NULL)
		(void)count_codes(arena, json_string_value(json_object_get(room, "id")), writer, 0);
	json_decref(rooms);
}

static void *read_on(void *which)
{
	uint64_t seed = *(const unsigned *)which;
	struct arena *arena = arena_open();

	while (!atomic_load(&shared->is_ending)) {
		const unsigned writer = (unsigned)chance_below(&seed, ALL_WRITERS);

		check_update(arena, writer);
		check_newest_room(arena, writer);
		atomic_fetch_add(&shared->reads, 1);
		arena_reset(arena);
	}
	arena_close(arena);
	return NULL;
}

/* ---- responders ---- */

static _Noreturn void live(unsigned which)
{
	static unsigned numbers[WRITERS + READERS];
	pthread_t threads[WRITERS + READERS];

	open_responder();
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		numbers[i] = which * WRITERS + i;
		if (pthread_create(&threads[i], NULL, i < WRITERS ? write_on : read_on,
				   &numbers[i]) != 0)
			abort();
	}
	for (unsigned i = 0; i < WRITERS + READERS; i++)
		(void)pthread_join(threads[i], NULL);
	world_close(&responder);
	_exit(EXIT_SUCCESS);
}

static pid_t start(unsigned which)
{
	const pid_t parent = getpid();
	const pid_t child = fork();

	if (child < 0)
		abort();
	if (child == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
			_exit(EXIT_FAILURE);
		live(which);
	}
	return child;
}

/* Waits until these writers have made progress, and a moment longer. Returns false if one exited or
 * there is no progress. */
static bool await_progress(const pid_t *responders, unsigned first, unsigned n, uint64_t *seed)
{
	const int64_t until = clock_monotonic() + PATIENCE;
	unsigned before[ALL_WRITERS];

	for (unsigned i = first; i < first + n; i++)
		before[i] = atomic_load(&shared->ledgers[i].done);
	for (unsigned i = first; i < first + n; i++) {
		while (atomic_load(&shared->ledgers[i].done) < before[i] + PROGRESS) {
			for (unsigned k = 0; k < RESPONDERS; k++) {
				if (waitpid(responders[k], NULL, WNOHANG) != 0)
					return false;
			}
			if (clock_monotonic() > until)
				wrong("no progress", i, before[i], "");
			(void)poll(NULL, 0, 5);
		}
	}
	(void)poll(NULL, 0, (int)chance_below(seed, 150));
	return true;
}

static bool kill_responders(pid_t *responders, unsigned kills, uint64_t *seed)
{
	for (unsigned n = 0; n < kills; n++) {
		const unsigned which = (unsigned)chance_below(seed, RESPONDERS);
		int status = 0;

		if (!await_progress(responders, which * WRITERS, WRITERS, seed))
			return false;
		kill(responders[which], SIGKILL);
		if (waitpid(responders[which], &status, 0) < 0 || !WIFSIGNALED(status))
			return false;
		responders[which] = start(which);
	}
	return true;
}

static bool kill_primaries(pid_t *responders, unsigned kills, uint64_t *seed)
{
	int64_t longest = 0;

	for (unsigned n = 0; n < kills; n++) {
		int64_t confirmed;

		if (!await_progress(responders, 0, ALL_WRITERS, seed))
			return false;
		database_fail_over();
		database_add_standby();
		confirmed = clock_monotonic();
		if (!await_progress(responders, 0, ALL_WRITERS, seed))
			return false;
		if (clock_monotonic() - confirmed > longest)
			longest = clock_monotonic() - confirmed;
	}
	if (kills > 0)
		printf("%u primaries killed; all writers continued %lld ms after a standby confirmed "
		       "commits again, at the latest\n",
		       kills, (long long)longest);
	return true;
}

/* ---- the final check ---- */

/* How often each object of a kind was found. */
struct found {
	unsigned char times[ALL_WRITERS][WRITES_MOST];
};

/* Notes an object by its text, which names writer and number. */
static void note(struct found *found, const char *text, unsigned *writer, unsigned *number)
{
	char *end;

	*writer = (unsigned)strtoul(text, &end, 10);
	*number = (unsigned)strtoul(end, NULL, 10);
	if (*writer >= ALL_WRITERS || *number >= WRITES_MOST ||
	    found->times[*writer][*number]++ > 0)
		wrong("created twice", *writer, *number, text);
}

/* Compares what is stored with how the write was answered. */
static void check_outcome(unsigned char outcome, bool is_stored, const char *what, unsigned writer,
			  unsigned number)
{
	if (outcome == ACKNOWLEDGED && !is_stored)
		wrong("lost", writer, number, what);
	if ((outcome == REFUSED || outcome == NOT_SENT) && is_stored)
		wrong("rejected and stored", writer, number, what);
}

static void note_room(const json_t *room, struct found *found, struct arena *arena)
{
	const char *id = json_string_value(json_object_get(room, "id"));
	const struct ledger *ledger;
	unsigned writer, number;

	note(found, json_string_value(json_object_get(room, "description")), &writer, &number);
	ledger = &shared->ledgers[writer];
	check_outcome(atomic_load(&ledger->codes[number]),
		      count_codes(arena, id, writer, number) == ROLES, "codes", writer, number);
	check_outcome(atomic_load(&ledger->locks[number]),
		      json_is_false(json_object_get(room, "enabled")), "a lock", writer, number);
}

static void note_ban(const json_t *ban, struct found *found, struct arena *arena)
{
	unsigned writer, number;

	(void)arena;
	note(found, json_string_value(json_object_get(ban, "user_id")), &writer, &number);
}

/* Notes all objects of a list. */
static unsigned note_all(struct arena *arena, const char *path, struct found *found,
			 void (*note_one)(const json_t *one, struct found *found,
					  struct arena *arena))
{
	char start_at[64] = "";
	unsigned count = 0;
	size_t n;

	do {
		json_t *page = get(arena, arena_text(arena, "%s?limit=%d%s", path, PAGE, start_at));
		const json_t *list = json_object_get(page, "data"), *one;
		size_t i;

		json_array_foreach(list, i, one)
			note_one(one, found, arena);
		n = json_array_size(list);
		count += (unsigned)n;
		(void)snprintf(start_at, sizeof start_at, "&start=%s",
			       json_string_value(json_object_get(page, "last")));
		json_decref(page);
		arena_reset(arena);
	} while (n == PAGE);
	return count;
}

/* Compares the rooms and bans that exist with the responses. */
static void check_lists(struct arena *arena, unsigned *rooms, unsigned *bans)
{
	struct found *found_rooms = calloc(1, sizeof *found_rooms);
	struct found *found_bans = calloc(1, sizeof *found_bans);

	if (found_rooms == NULL || found_bans == NULL)
		abort();
	*rooms = note_all(arena, "/v2/rooms", found_rooms, note_room);
	*bans = note_all(arena, "/v2/bans", found_bans, note_ban);
	for (unsigned writer = 0; writer < ALL_WRITERS; writer++) {
		const struct ledger *ledger = &shared->ledgers[writer];

		for (unsigned number = 0; number < WRITES_MOST; number++) {
			check_outcome(atomic_load(&ledger->rooms[number]),
				      found_rooms->times[writer][number] > 0, "a room", writer,
				      number);
			check_outcome(atomic_load(&ledger->bans[number]),
				      found_bans->times[writer][number] > 0, "a ban", writer,
				      number);
		}
	}
	free(found_rooms);
	free(found_bans);
}

static void check_all(void)
{
	struct arena *arena = arena_open();
	unsigned acknowledged = 0, rooms, bans;

	open_responder();
	for (unsigned writer = 0; writer < ALL_WRITERS; writer++) {
		acknowledged += atomic_load(&shared->ledgers[writer].done);
		check_update(arena, writer);
	}
	check_lists(arena, &rooms, &bans);
	printf("%u writes acknowledged, %u with an unknown outcome; %u rooms, %u bans; %u reads\n",
	       acknowledged, atomic_load(&shared->unknown), rooms, bans,
	       atomic_load(&shared->reads));
	world_close(&responder);
	arena_close(arena);
}

static void prepare(void)
{
	struct arena *arena = arena_open();

	open_responder();
	for (unsigned i = 0; i < ALL_WRITERS; i++) {
		const struct reply reply = post(arena, "/v2/templates",
						"{\"roles\":{\"a\":{},\"b\":{},\"c\":{}}}");
		json_t *template = object_of(&reply);
		const char *id = json_string_value(json_object_get(template, "id"));

		if (reply.status != 200 || id == NULL)
			wrong("no template", i, (unsigned)reply.status, reply.text);
		(void)snprintf(shared->ledgers[i].template_id,
			       sizeof shared->ledgers[i].template_id, "%s", id);
		json_decref(template);
	}
	world_close(&responder);
	arena_close(arena);
}

static bool run(unsigned responder_kills, unsigned primary_kills, uint64_t seed)
{
	pid_t responders[RESPONDERS];
	bool is_right;

	prepare();
	for (unsigned i = 0; i < RESPONDERS; i++)
		responders[i] = start(i);
	is_right = kill_responders(responders, responder_kills, &seed);
	if (is_right && primary_kills > 0)
		database_add_standby();
	is_right = is_right && kill_primaries(responders, primary_kills, &seed);
	atomic_store(&shared->is_ending, true);
	for (unsigned i = 0; i < RESPONDERS; i++) {
		int status = 0;

		/* The responder may have exited earlier, which was noticed. */
		if (waitpid(responders[i], &status, 0) == responders[i] && status != 0)
			is_right = false;
	}
	if (is_right)
		check_all();
	return is_right;
}

static bool number_of(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

int main(int argc, char **argv)
{
	uint64_t responder_kills = 6, primary_kills = 1, seed = (uint64_t)time(NULL);
	struct fault fault = FAULT_INITIAL;
	const char *none;
	char *one;
	bool is_right;

	for (int option; (option = getopt(argc, argv, "r:p:s:")) != -1;) {
		if (option == '?' || !number_of(optarg, option == 'r'	? &responder_kills
							: option == 'p' ? &primary_kills
									: &seed)) {
			(void)fprintf(stderr, "usage: failover [-r KILLS] [-p KILLS] [-s SEED]\n");
			return EXIT_FAILURE;
		}
	}
	none = database_start();
	if (none != NULL) {
		printf("%s\n", none);
		return 77;
	}
	printf("seed %llu\n", (unsigned long long)seed);
	(void)fflush(stdout);
	json_object_seed(0);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		abort();
	one = database_store();
	if (!accounts_add(one, &clock_system, "a", &account, &fault))
		wrong("no account", 0, 0, fault.cause);
	url = database_url_of_both(one);
	free(one);
	is_right = run((unsigned)responder_kills, (unsigned)primary_kills, seed);
	free((char *)(size_t)url);
	database_stop();
	return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
