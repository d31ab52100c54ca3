/*  Two writers and a lister at the same time, over the wire (tests/tools/wire.h), with checks of
 * every response: no update is lost under If-Match, no name is taken twice, no code of a deleted
 * role can be used, two simultaneous requests for a room's codes return the same codes, and no
 * list misses or repeats an item. Skipped if there is no nginx.
 *
 *     race [SECONDS]
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "directory.h"
#include "database.h"
#include "wire.h"

#define WRITERS 2
#define SECONDS 3
#define ROUNDS_LEAST 3
#define KEPT 35 /* objects that are never deleted: three and a half pages */
#define PAGE 10
#define NAMES_MOST 100000
#define NAMES_A_ROOM 50 /* after this many names, codes are those of a new room */
#define ID_SIZE_MOST 32
#define FINDINGS_SHOWN 20

/* A document with a number that is incremented under If-Match. */
struct counted {
	char path[96];
	const char *member;
	long begun_at;
	atomic_long updates;
};

struct kept {
	const char *path; /* path of the list */
	const char *member; /* member that identifies an item */
	char ids[KEPT][ID_SIZE_MOST]; /* in the order of the list */
};

struct race {
	const struct wire *wire;
	int64_t end; /* in the time of clock_monotonic */
	char template_id[ID_SIZE_MOST];
	struct counted counted[2];
	struct kept templates, rooms, codes;
	char codes_path[64];
	atomic_uint tickets; /* for names: each is tried twice */
	pthread_mutex_t mutex;
	char winners[NAMES_MOST][ID_SIZE_MOST]; /* the room that has the name */
	char hosts[NAMES_MOST / NAMES_A_ROOM + 1][ID_SIZE_MOST]; /* the first code of each room */
	atomic_uint findings, refused, dead_codes, walks, items;
};

/* One thread and its own connection. */
struct client {
	struct wire wire;
	struct race *race;
	unsigned number;
	uint64_t seed;
	unsigned place; /* index of the current room for codes */
	char codes_room[ID_SIZE_MOST];
	unsigned addresses;
	/* The last response. */
	json_t *body;
	char etag[128];
};

static void found(struct race *race, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void found(struct race *race, const char *format, ...)
{
	va_list arguments;

	if (atomic_fetch_add(&race->findings, 1) >= FINDINGS_SHOWN)
		return;
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/* ---- requests ---- */

static void take_answer(struct client *client, struct case_answer *answer)
{
	json_decref(client->body);
	client->body = answer->body_length == 0
			       ? NULL
			       : json_loadb(answer->body, answer->body_length, 0, NULL);
	*client->etag = '\0';
	for (size_t i = 0; i < answer->n_headers; i++) {
		if (strcasecmp(answer->names[i], "ETag") == 0)
			(void)snprintf(client->etag, sizeof client->etag, "%s", answer->values[i]);
		free(answer->names[i]);
		free(answer->values[i]);
	}
	free(answer->body);
}

/* Returns the status. condition: the name of a header with the value `value`, or NULL. */
static int ask(struct client *client, const char *method, const char *path, const char *body,
	       const char *condition, const char *value)
{
	struct case_request request = { .method = method, .target = path, .body = body };
	struct case_answer answer = { .status = 0 };
	char authorization[sizeof client->wire.transport.a.token + 16];
	char from[32], problem[256];

	(void)snprintf(authorization, sizeof authorization, "Bearer %s",
		       client->wire.transport.a.token);
	request.headers[request.n_headers++] = (struct case_header){ "Authorization",
								     authorization };
	if (condition != NULL)
		request.headers[request.n_headers++] = (struct case_header){ condition, value };
	request.body_length = body == NULL ? 0 : strlen(body);
	/* Joining is limited per address. */
	(void)snprintf(from, sizeof from, "127.%u.%u.1", client->number + 1,
		       client->addresses % 200);
	request.from = from;
	if (!client->wire.transport.send(&client->wire.transport, &request, &answer, problem))
		found(client->race, "%s %s: %s", method, path, problem);
	take_answer(client, &answer);
	return answer.status;
}

static int get(struct client *client, const char *path)
{
	return ask(client, "GET", path, NULL, NULL, NULL);
}

static void take_text(const struct client *client, const char *member, char text[ID_SIZE_MOST])
{
	const char *got = json_string_value(json_object_get(client->body, member));

	(void)snprintf(text, ID_SIZE_MOST, "%s", got == NULL ? "" : got);
}

/* Makes a request that must succeed; copies the text `member` of the response to `text`. */
static bool done(struct client *client, const char *method, const char *path, const char *body,
		 const char *member, char text[ID_SIZE_MOST])
{
	int status = ask(client, method, path, body, NULL, NULL);

	if (status != 200 && status != 204) {
		found(client->race, "%s %s: %d", method, path, status);
		return false;
	}
	if (member != NULL)
		take_text(client, member, text);
	return true;
}

/* ---- the writers ---- */

static void count_up(struct client *client, struct counted *counted)
{
	char body[96];
	char etag[sizeof client->etag];
	json_int_t n;
	int status = get(client, counted->path);

	if (status != 200) {
		found(client->race, "GET %s: %d", counted->path, status);
		return;
	}
	n = json_integer_value(json_object_get(client->body, counted->member)) + 1;
	memcpy(etag, client->etag, sizeof etag);
	(void)snprintf(body, sizeof body, "{\"%s\":%lld}", counted->member, (long long)n);
	status = ask(client, "PATCH", counted->path, body, "If-Match", etag);
	if (status == 412) {
		atomic_fetch_add(&client->race->refused, 1);
	} else if (status != 200 ||
		   json_integer_value(json_object_get(client->body, counted->member)) != n) {
		found(client->race, "PATCH %s: %d, not %lld", counted->path, status, (long long)n);
	} else {
		atomic_fetch_add(&counted->updates, 1);
	}
}

/* Every name is tried twice, mostly once by each writer: every second one by creating a room, the
 * others by renaming a new room. Names are never released. */
static void take_name(struct client *client)
{
	struct race *race = client->race;
	unsigned number = atomic_fetch_add(&race->tickets, 1) / 2;
	char body[128], path[96] = "/v2/rooms", id[ID_SIZE_MOST];
	bool makes = number % 2 == 0;
	int status;

	if (number >= NAMES_MOST)
		return;
	(void)snprintf(body, sizeof body, "{\"template_id\":\"%s\"}", race->template_id);
	if (!makes && !done(client, "POST", path, body, "id", id))
		return;
	if (!makes)
		(void)snprintf(path, sizeof path, "/v2/rooms/%s", id);
	(void)snprintf(body, sizeof body, "{\"name\":\"name-%u\",\"template_id\":\"%s\"}", number,
		       race->template_id);
	status = ask(client, "POST", path, body, makes ? "If-None-Match" : NULL, "*");
	if (status != 200) {
		if (status != (makes ? 412 : 409))
			found(race, "name-%u: %d", number, status);
		return;
	}
	pthread_mutex_lock(&race->mutex);
	if (*race->winners[number] != '\0')
		found(race, "name-%u was taken twice", number);
	take_text(client, "id", race->winners[number]);
	pthread_mutex_unlock(&race->mutex);
}

/* Moves on to the next room for codes if it is time: both writers create it, by name, and request
 * its codes. */
static bool enter_room(struct client *client)
{
	struct race *race = client->race;
	unsigned place = atomic_load(&race->tickets) / 2 / NAMES_A_ROOM;
	char body[128], path[96];
	const char *host;

	if (*client->codes_room != '\0' && client->place == place)
		return true;
	client->place = place;
	(void)snprintf(body, sizeof body, "{\"name\":\"codes-%u\",\"template_id\":\"%s\"}", place,
		       race->template_id);
	if (!done(client, "POST", "/v2/rooms", body, "id", client->codes_room))
		return false;
	(void)snprintf(path, sizeof path, "/v2/room-codes/room/%s", client->codes_room);
	if (!done(client, "POST", path, NULL, NULL, NULL))
		return false;
	host = json_string_value(
		json_object_get(json_array_get(json_object_get(client->body, "data"), 0), "code"));
	pthread_mutex_lock(&race->mutex);
	if (*race->hosts[place] == '\0' && host != NULL)
		(void)snprintf(race->hosts[place], ID_SIZE_MOST, "%s", host);
	if (host == NULL || strcmp(race->hosts[place], host) != 0)
		found(race, "the two writers got different codes for all roles");
	pthread_mutex_unlock(&race->mutex);
	return true;
}

static void check_dead(struct client *client, const char *code)
{
	char path[96], body[96];

	(void)snprintf(path, sizeof path, "/v2/room-codes/code/%s", code);
	if (get(client, path) != 200 || !json_is_false(json_object_get(client->body, "enabled")))
		found(client->race, "a deleted role's code is enabled");
	if (ask(client, "POST", path, "{\"enabled\":true}", NULL, NULL) != 403)
		found(client->race, "a deleted role's code was enabled");
	(void)snprintf(body, sizeof body, "{\"code\":\"%s\"}", code);
	client->addresses++;
	if (ask(client, "POST", "/v2/token", body, NULL, NULL) != 403)
		found(client->race, "a deleted role's code was exchanged");
	atomic_fetch_add(&client->race->dead_codes, 1);
}

/* Adds a role, which gets its code automatically, and deletes it. */
static void live_role(struct client *client)
{
	char role[160], list[160];
	char code[ID_SIZE_MOST] = "";
	const json_t *data;
	const char *text;

	if (!enter_room(client))
		return;
	(void)snprintf(role, sizeof role, "/v2/templates/%s/roles/role-%u",
		       client->race->template_id, client->number);
	(void)snprintf(list, sizeof list, "/v2/room-codes/room/%s?role=role-%u&enabled=true",
		       client->codes_room, client->number);
	if (!done(client, "POST", role, "{}", NULL, NULL) ||
	    !done(client, "GET", list, NULL, NULL, NULL))
		return;
	data = json_object_get(client->body, "data");
	text = json_string_value(json_object_get(json_array_get(data, 0), "code"));
	if (json_array_size(data) != 1 || text == NULL)
		found(client->race, "a new role has %zu codes", json_array_size(data));
	else
		(void)snprintf(code, sizeof code, "%s", text);
	if (done(client, "DELETE", role, NULL, NULL, NULL) && *code != '\0')
		check_dead(client, code);
}

/* Creates and deletes objects, so that lists change while they are read. */
static void come_and_go(struct client *client)
{
	char template_id[ID_SIZE_MOST], room[ID_SIZE_MOST], path[96], body[96];

	(void)snprintf(body, sizeof body, "{\"template_id\":\"%s\"}", client->race->template_id);
	if (!done(client, "POST", "/v2/templates", "{}", "id", template_id) ||
	    !done(client, "POST", "/v2/rooms", body, "id", room) ||
	    chance_below(&client->seed, 10) > 6)
		return;
	(void)snprintf(path, sizeof path, "/v2/templates/%s", template_id);
	(void)done(client, "DELETE", path, NULL, NULL, NULL);
	(void)snprintf(path, sizeof path, "/v2/rooms/%s", room);
	(void)done(client, "DELETE", path, NULL, NULL, NULL);
}

/* Ensures that a slow machine completes some rounds, too. */
static bool goes_on(const struct race *race, unsigned rounds)
{
	return (clock_monotonic() < race->end || rounds < ROUNDS_LEAST) &&
	       atomic_load(&race->findings) < FINDINGS_SHOWN;
}

static void *write_on(void *context)
{
	struct client *client = context;

	for (unsigned rounds = 0; goes_on(client->race, rounds); rounds++) {
		for (size_t i = 0; i < 2; i++)
			count_up(client, &client->race->counted[i]);
		take_name(client);
		live_role(client);
		come_and_go(client);
	}
	return NULL;
}

/* ---- the lister ---- */

/* Reads one page and returns its number of items; counts the kept ones among them in *n. */
static size_t look_at_page(struct client *client, const struct kept *kept, json_t *seen, size_t *n)
{
	const json_t *data = json_object_get(client->body, "data");
	const json_t *item;
	size_t i;

	json_array_foreach(data, i, item) {
		const char *id = json_string_value(json_object_get(item, kept->member));

		if (id == NULL || json_object_get(seen, id) != NULL) {
			found(client->race, "%s repeats %s", kept->path, id == NULL ? "" : id);
			continue;
		}
		(void)json_object_set_new(seen, id, json_true());
		if (*n < KEPT && strcmp(id, kept->ids[*n]) == 0)
			++*n;
	}
	return json_array_size(data);
}

/* Reads a whole list: it must contain all kept objects in their order, and no item twice. */
static void walk(struct client *client, const struct kept *kept)
{
	json_t *seen = json_object();
	char path[160], start[ID_SIZE_MOST] = "";
	size_t n = 0, count = PAGE;

	while (count == PAGE && atomic_load(&client->race->findings) < FINDINGS_SHOWN) {
		(void)snprintf(path, sizeof path, "%s?limit=%d&start=%s", kept->path, PAGE, start);
		if (!done(client, "GET", path, NULL, "last", start))
			break;
		count = look_at_page(client, kept, seen, &n);
	}
	if (n < KEPT)
		found(client->race, "%s: %s is missing", kept->path, kept->ids[n]);
	atomic_fetch_add(&client->race->walks, 1);
	atomic_fetch_add(&client->race->items, (unsigned)json_object_size(seen));
	json_decref(seen);
}

static void *list_on(void *context)
{
	struct client *client = context;
	struct race *race = client->race;

	for (unsigned rounds = 0; goes_on(race, rounds); rounds++) {
		walk(client, &race->templates);
		walk(client, &race->rooms);
		walk(client, &race->codes);
	}
	return NULL;
}

/* ---- set-up and final check ---- */

static void client_open(struct client *client, struct race *race, unsigned number)
{
	*client = (struct client){
		.wire = *race->wire,
		.race = race,
		.number = number,
		.seed = number,
	};
	client->wire.curl = NULL;
}

static void client_close(struct client *client)
{
	curl_easy_cleanup(client->wire.curl);
	json_decref(client->body);
}

/* Lists are in descending order of age: newest first; codes are oldest first. */
static bool prepare(struct client *client)
{
	struct race *race = client->race;
	char room[ID_SIZE_MOST], body[96], path[96];

	if (!done(client, "POST", "/v2/templates", "{\"roles\":{\"host\":{\"maxPeerCount\":1}}}",
		  "id", race->template_id))
		return false;
	(void)snprintf(body, sizeof body, "{\"template_id\":\"%s\",\"max_duration_seconds\":120}",
		       race->template_id);
	if (!done(client, "POST", "/v2/rooms", body, "id", room))
		return false;
	(void)snprintf(race->counted[0].path, sizeof race->counted[0].path,
		       "/v2/templates/%s/roles/host", race->template_id);
	race->counted[0].member = "maxPeerCount";
	race->counted[0].begun_at = 1;
	(void)snprintf(race->counted[1].path, sizeof race->counted[1].path, "/v2/rooms/%s", room);
	race->counted[1].member = "max_duration_seconds";
	race->counted[1].begun_at = 120;
	(void)snprintf(race->codes_path, sizeof race->codes_path, "/v2/room-codes/room/%s", room);
	race->templates.path = "/v2/templates";
	race->rooms.path = "/v2/rooms";
	race->templates.member = race->rooms.member = "id";
	race->codes.path = race->codes_path;
	race->codes.member = "code";
	(void)snprintf(path, sizeof path, "%s/role/host", race->codes_path);
	for (size_t i = 0; i < KEPT; i++) {
		if (!done(client, "POST", "/v2/templates", "{}", "id",
			  race->templates.ids[KEPT - 1 - i]) ||
		    !done(client, "POST", "/v2/rooms", body, "id", race->rooms.ids[KEPT - 1 - i]) ||
		    !done(client, "POST", path, NULL, "code", race->codes.ids[i]))
			return false;
	}
	return done(client, "POST", race->codes_path, NULL, NULL, NULL);
}

static void check_end(struct client *client)
{
	struct race *race = client->race;
	unsigned names = (atomic_load(&race->tickets) + 1) / 2;
	char path[96], id[ID_SIZE_MOST];

	for (size_t i = 0; i < 2; i++) {
		const struct counted *counted = &race->counted[i];
		long updates = atomic_load(&counted->updates), n;

		(void)done(client, "GET", counted->path, NULL, NULL, NULL);
		n = (long)json_integer_value(json_object_get(client->body, counted->member));
		if (n != counted->begun_at + updates || updates == 0)
			found(race, "%s: %ld updates, and it counts %ld", counted->path, updates,
			      n - counted->begun_at);
	}
	for (unsigned i = 0; i < names && i < NAMES_MOST; i++) {
		if (*race->winners[i] == '\0')
			found(race, "name-%u was free, and nobody got it", i);
		(void)snprintf(path, sizeof path, "/v2/rooms?name=NAME-%u", i);
		(void)done(client, "GET", path, NULL, "last", id);
		if (strcmp(id, race->winners[i]) != 0)
			found(race, "name-%u is not its winner's", i);
	}
	walk(client, &race->templates);
	walk(client, &race->rooms);
	walk(client, &race->codes);
	printf("%ld and %ld updates, %u refused; %u names; %u codes of deleted roles; %u walks over "
	       "%u items\n",
	       atomic_load(&race->counted[0].updates), atomic_load(&race->counted[1].updates),
	       atomic_load(&race->refused), names, atomic_load(&race->dead_codes),
	       atomic_load(&race->walks), atomic_load(&race->items));
	if (names == 0 || atomic_load(&race->dead_codes) == 0)
		found(race, "nothing was done");
}

static void run(struct race *race, long seconds)
{
	struct client clients[WRITERS + 1], first;
	pthread_t threads[WRITERS + 1];
	bool is_ready;

	client_open(&first, race, WRITERS + 1);
	is_ready = prepare(&first);
	for (unsigned i = 0; i <= WRITERS; i++)
		client_open(&clients[i], race, i);
	race->end = clock_monotonic() + seconds * 1000;
	for (unsigned i = 0; is_ready && i <= WRITERS; i++) {
		if (pthread_create(&threads[i], NULL, i < WRITERS ? write_on : list_on,
				   &clients[i]) != 0)
			abort();
	}
	for (unsigned i = 0; i <= WRITERS; i++) {
		if (is_ready)
			(void)pthread_join(threads[i], NULL);
		client_close(&clients[i]);
	}
	if (is_ready)
		check_end(&first);
	client_close(&first);
}

static int race_for(long seconds)
{
	struct race *race = calloc(1, sizeof *race);
	struct wire wire;
	int status = wire_begin(&wire);

	if (race == NULL)
		abort();
	if (status != EXIT_SUCCESS) {
		free(race);
		return status;
	}
	race->wire = &wire;
	pthread_mutex_init(&race->mutex, NULL);
	run(race, seconds);
	if (atomic_load(&race->findings) > 0)
		status = EXIT_FAILURE;
	if (!wire_end(&wire))
		status = EXIT_FAILURE;
	pthread_mutex_destroy(&race->mutex);
	free(race);
	return status;
}

/* Runs with a directory, and then with two responders and one database. */
int main(int argc, char **argv)
{
	const long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS;
	int status = race_for(seconds), status_shared;

	if (status == WIRE_SKIPPED || !wire_use_database())
		return status;
	puts("The same, by two responders over PostgreSQL:");
	status_shared = race_for(seconds);
	database_stop();
	return status == EXIT_SUCCESS ? status_shared : status;
}
