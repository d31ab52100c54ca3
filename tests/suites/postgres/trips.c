/* How many round trips each call takes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "records/kinds.h"
#include "relay.h"
#include "resources/audit_record.h"
#include "resources/live/live_merge.h"
#include "resources/stored/job_record.h"
#include "responders.h"
#include "service/routes.h"
#include "suite.h"

/* The first connection reads the tables, the second one runs calls. */
#define CALLS 1

#define ROOM_WITH_CODES(ref) \
	"{\"method\":\"POST\",\"path\":\"/v2/rooms\",\"ref\":\"" ref "\"}," \
	"{\"method\":\"POST\",\"path\":\"/v2/room-codes/room/{" ref "}\"}"
#define LIVEKIT \
	"{\"name\":\"b\",\"type\":\"livekit\",\"url\":\"wss://h\",\"default\":true,\"config\":{" \
	"\"api_key\":\"k\",\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}"

static const struct {
	enum method method;
	/* May contain $t, $r, $c, $s and $l: template, room, code, spare room, the code's letters;
	 * may end with an Idempotency-Key. */
	const char *path;
	const char *body;
	int status;
	unsigned flights;
} trips[] = {
	{ METHOD_GET, "/v2/templates/$t", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates/$t/roles/host", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates/$t/settings", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates/$t/recordings", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?limit=100", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?name=one", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?default=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?name_prefix=o&default=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?name_prefix=o&start=a", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?q=o", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?view=summary", NULL, 200, 1 },
	{ METHOD_GET, "/v2/templates?view=summary&name=one", NULL, 200, 1 },
	{ METHOD_GET, "/v2/template-summaries", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms/$r", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?enabled=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?template_id=$t", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?name=room", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?name_prefix=ro", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?q=ro&enabled=true", NULL, 200, 1 },
	{ METHOD_GET, "/v2/rooms?name_prefix=ro&enabled=true&start=A", NULL, 200, 1 },
	{ METHOD_GET, "/v2/room-codes/room/$r", NULL, 200, 1 },
	{ METHOD_POST, "/v2/room-codes/room/$r", "{}", 200, 1 },
	{ METHOD_GET, "/v2/room-codes/code/$c", NULL, 200, 1 },
	/* The account's first exchange creates the key for the hashes of codes. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 1 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"abc-defg-hij\"}", 404, 1 },
	/* Ten letters, which may be a custom code or three groups. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"abcdefghij\"}", 404, 1 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$l\"}", 200, 1 },
	{ METHOD_POST, "/v2/livekit/$l", "{}", 409, 1 },
	{ METHOD_GET, "/v2/join/$l", NULL, 200, 1 },
	{ METHOD_GET, "/v2/join/$c", NULL, 200, 1 },
	{ METHOD_GET, "/v2/backends", NULL, 200, 1 },
	/* How far the log goes, all its entries, and the end of the snapshot. */
	{ METHOD_GET, "/v2/events?limit=100", NULL, 200, 3 },
	{ METHOD_GET, "/v2/events?type=no.thing", NULL, 200, 3 },
	{ METHOD_GET, "/v2/events?before=0&limit=100", NULL, 200, 3 },
	/* Whether another account has the new ID is known only when there is an ID. */
	{ METHOD_POST, "/v2/backends", LIVEKIT, 200, 3 },
	/* For a media server that says who is inside, an exchange reads whether somebody has the
	 * name. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 2 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"name\":\"Ada\"}", 200, 2 },
	/* Only after reading the room is it known that who is inside matters; reading that takes a
	 * snapshot. */
	{ METHOD_PATCH, "/v2/rooms/$r", "{\"size\":5}", 200, 2 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 5 },
	{ METHOD_PATCH, "/v2/rooms/$r", "{\"size\":0}", 200, 2 },
	/* A ban's person or code is found by a name, which nothing announces. */
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"m\",\"room_id\":\"$r\"}", 200, 3 },
	{ METHOD_POST, "/v2/bans", "{\"user_id\":\"m\",\"room_id\":\"$r\",\"reason\":\"x\"}", 200,
	  3 },
	{ METHOD_GET, "/v2/bans", NULL, 200, 1 },
	{ METHOD_GET, "/v2/bans?room_id=$r", NULL, 200, 1 },
	{ METHOD_GET, "/v2/bans?user_id=m", NULL, 200, 1 },
	{ METHOD_GET, "/v2/bans/000000000000000000000001", NULL, 404, 1 },
	{ METHOD_DELETE, "/v2/bans/000000000000000000000001", NULL, 404, 2 },
	/* Only the code says that people wait. Each run of an exchange also looks for bans. */
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"admission\":\"ask\"}", 200, 2 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 403, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"wait\":true}", 202, 6 },
	{ METHOD_GET, "/v2/active-rooms/$r/tickets", NULL, 200, 5 },
	{ METHOD_GET, "/v2/tickets/$k", NULL, 200, 1 },
	{ METHOD_POST, "/v2/active-rooms/$r/tickets", "{\"admit\":\"all\"}", 200, 2 },
	/* Only the ticket and its door say that it is exchanged, and the media record that there
	 * are bans. */
	{ METHOD_GET, "/v2/tickets/$k", NULL, 200, 4 },
	{ METHOD_GET, "/v2/tickets/$k", NULL, 200, 4 },
	{ METHOD_GET, "/v2/tickets/0123456789012345678901234567890123456789012", NULL, 404, 1 },
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"admission\":null}", 200, 2 },
	/* With bans, an exchange reads once more. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"user_id\":\"a\"}", 200, 3 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\",\"user_id\":\"m\"}", 403, 2 },
	{ METHOD_GET, "/v2/join/$c", NULL, 200, 1 },
	{ METHOD_GET, "/v2/signing-keys", NULL, 200, 1 },
	{ METHOD_POST, "/v2/signing-keys", "{\"alg\":\"ES256\"}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/code", "{\"code\":\"$c\",\"enabled\":false}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/code", "{\"code\":\"$c\",\"enabled\":true}", 200, 2 },
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"label\":\"x\"}", 200, 2 },
	{ METHOD_PATCH, "/v2/room-codes/code/$c", "{\"max_uses\":2}", 200, 2 },
	/* Only after reading the code is it known that it counts uses, and then the bans are read
	 * again. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 6 },
	{ METHOD_GET, "/v2/room-codes/room/$r?state=active", NULL, 200, 1 },
	{ METHOD_POST, "/v2/room-codes/room/$r/role/host", "{\"expires_in\":60}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/room/$r/role/host", "{\"code\":\"own-words\"}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/room/$r/role/host/rotate", "{}", 200, 3 },
	{ METHOD_DELETE, "/v2/room-codes/code/$c", NULL, 204, 2 },
	{ METHOD_POST, "/v2/rooms key", "{\"name\":\"keyed\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms/$r other-key", "{\"description\":\"x\"}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t/settings settings-key", "{}", 200, 2 },
	{ METHOD_POST, "/v2/bulk",
	  "{\"operations\":[" ROOM_WITH_CODES("a") "," ROOM_WITH_CODES("b") "]}", 200, 7 },
	{ METHOD_POST, "/v2/bulk",
	  "{\"operations\":[" ROOM_WITH_CODES("a") "," ROOM_WITH_CODES("b") "," ROOM_WITH_CODES(
		  "c") "]}",
	  200, 7 },
	{ METHOD_POST, "/v2/templates", "{\"name\":\"two\"}", 200, 2 },
	{ METHOD_POST, "/v2/templates", "{\"name\":\"one\",\"roles\":{\"host\":{}}}", 200, 2 },
	{ METHOD_POST, "/v2/templates", "{}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t", "{\"name\":\"one\",\"default\":true}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t/recordings", "[{\"name\":\"a\",\"role\":\"host\"}]", 200,
	  2 },
	{ METHOD_POST, "/v2/templates/$t/roles/host", "{}", 200, 2 },
	{ METHOD_POST, "/v2/templates/$t/roles/new", "{}", 200, 2 },
	{ METHOD_DELETE, "/v2/templates/$t/roles/new", NULL, 204, 2 },
	{ METHOD_PATCH, "/v2/templates/$t", "{\"name\":\"other\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms", "{\"name\":\"another\",\"template_id\":\"$t\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms", "{\"name\":\"third\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms", "{\"name\":\"third\",\"description\":\"x\"}", 200, 2 },
	{ METHOD_POST, "/v2/rooms/$r", "{\"enabled\":true}", 200, 2 },
	{ METHOD_POST, "/v2/rooms/$r", "{\"name\":\"renamed\"}", 200, 2 },
	{ METHOD_POST, "/v2/room-codes/room/$s", "{}", 200, 3 },
	{ METHOD_POST, "/v2/room-codes/room/$s/role/host", "{}", 200, 2 },
	/* With bans, those from the room are read. */
	{ METHOD_DELETE, "/v2/rooms/$s", NULL, 204, 3 },
};

static struct reply ask_with_key(enum method method, const char *path, const char *body)
{
	const char *space = strchr(path, ' ');
	const size_t size = space == NULL ? strlen(path) : (size_t)(space - path);

	struct request request = world_request(&one, kept, &account, method, path, body);

	request.uri.size = size;
	if (space != NULL)
		request.idempotency_key = slice_of(space + 1);
	return world_send(&one, kept, &request);
}

/* Does what a thread of the service does. */
static void number_entries(void)
{
	const struct audit_times times = { .now = clock_now(&clock_system) };
	struct audit_numbering numbering = { .left_count = 0 };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_begin(two.environment.store, STORE_WRITE, kept, &transaction, &fault));
	ck_assert(audit_number(transaction, &times, &numbering, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
}

/* Returns the number of round trips since `before`. Waits for the expected number and for the
 * response to the last one, because a snapshot ends after the response, and what the server still
 * has to send would be counted with the next call. */
static unsigned flights_since(unsigned before, unsigned expected)
{
	const int64_t until = clock_monotonic() + FLIGHTS_WITHIN;

	while ((relay_flights(CALLS) - before < expected || relay_awaits(CALLS)) &&
	       clock_monotonic() < until)
		sched_yield();
	return relay_flights(CALLS) - before;
}

START_TEST(calls_take_the_expected_number_of_round_trips)
{
	const char *values[VALUES] = { "", "", "", "", "", "" };
	struct reply reply;
	unsigned before, flights;

	values[0] =
		make(&one, "/v2/templates",
		     "{\"name\":\"one\",\"roles\":{\"host\":{},\"guest\":{}},\"default\":true}");
	values[1] = make(&one, "/v2/rooms", "{\"name\":\"room\"}");
	values[3] = make(&one, "/v2/rooms", "{\"name\":\"spare\"}");
	reply = ask(&one, METHOD_POST, filled_in("/v2/room-codes/room/$r", values), "{}");
	ck_assert_msg(reply.status == 200, "%s", reply.text);
	values[2] =
		arena_copy(kept, (struct slice){ strstr(reply.text, "\"code\":\"") + 8, 12 }).data;
	values[4] = arena_text(kept, "%.3s%.4s%.3s", values[2], values[2] + 4, values[2] + 9);
	number_entries();
	for (int i = 0; i < ROWS(trips); i++) {
		before = relay_flights(CALLS);
		reply = ask_with_key(trips[i].method, filled_in(trips[i].path, values),
				     filled_in(trips[i].body, values));
		ck_assert_msg(reply.status == trips[i].status, "row %d: %d %s", i, reply.status,
			      reply.text);
		if (strstr(reply.text, "\"ticket\":") != NULL)
			values[5] = member_of(&reply, "ticket");
		flights = flights_since(before, trips[i].flights);
		ck_assert_msg(flights == trips[i].flights, "row %d, %s %s: %u round trips", i,
			      method_name(trips[i].method), trips[i].path, flights);
	}
}
END_TEST

/* Somebody who asks to be let in would wait for the record of the door, so a worker does not handle
 * the call to its end; others are answered at once. */
START_TEST(applicants_wait_outside_the_workers)
{
	static const char *const waits[] = { "false", "true" };
	const char *room, *code;
	struct reply reply;

	make(&one, "/v2/templates",
	     "{\"roles\":{\"guest\":{\"admission\":\"ask\"}},\"default\":true}");
	room = make(&one, "/v2/rooms", "{}");
	reply = ask(&one, METHOD_POST, arena_text(kept, "/v2/room-codes/room/%s/role/guest", room),
		    "{}");
	code = member_of(&reply, "code");
	for (int i = 0; i < ROWS(waits); i++) {
		struct call call = {
			.arena = kept,
			.may_be_deferred = true,
			.request = world_request(
				&one, kept, NULL, METHOD_POST, "/v2/token",
				arena_text(kept, "{\"code\":\"%s\",\"wait\":%s}", code, waits[i])),
		};

		ck_assert(service_answer(one.service, &call) == (i == 0));
		ck_assert(call.is_serial == (i == 1));
		ck_assert(i == 0 || service_answer(one.service, &call));
		ck_assert_int_eq(call.answer.status, i == 0 ? 403 : 202);
	}
}
END_TEST

/* Reports a person who joined, as a media server does. */
static void join_room(const char *backend, const char *room, const char *stay)
{
	struct report report = {
		.type = REPORT_JOINED,
		.room = { .name = slice_of(room), .id = SLICE("RM_1"), .created = 1 },
		.person = { .stay = slice_of(stay), .identity = slice_of(stay), .joined = 1000 },
		.time = clock_now(&clock_system),
	};
	struct merging merging = { .reports = &report, .count = 1 };
	struct fault fault = FAULT_INITIAL;
	struct call call;

	report.person.name = report.person.user_id = report.person.role = report.person.metadata =
		report.person.entry = report.person.code = slice_of(stay);
	ck_assert(id_parse(slice_of(room), &merging.room) &&
		  id_parse(slice_of(backend), &merging.backend));
	world_begin(&two, &account.id, &call);
	ck_assert(live_merge(&call, &merging, &fault));
	(void)world_commit(&call);
}

/* Which session a live room has, and which sessions a list has, is known only when the room or the
 * list has been read. What is read after that is read in a snapshot, whose end is a round trip,
 * too. */
static const struct {
	enum method method;
	const char *path; /* with $t, $r, $c and $l: session, room, codes of a host and a guest */
	int status;
	unsigned flights;
} live_trips[] = {
	{ METHOD_GET, "/v2/active-rooms/$r", 200, 5 },
	{ METHOD_GET, "/v2/active-rooms/$r/peers", 200, 4 },
	{ METHOD_GET, "/v2/active-rooms/$r/peers?role=a", 200, 4 },
	{ METHOD_GET, "/v2/active-rooms/$r/peers/x", 404, 4 },
	/* A code shows who is inside, if it is to. */
	{ METHOD_GET, "/v2/join/$c", 200, 6 },
	{ METHOD_GET, "/v2/join/$l", 200, 1 },
	{ METHOD_GET, "/v2/active-rooms/$s", 404, 1 },
	{ METHOD_GET, "/v2/active-rooms/000000000000000000000001", 404, 1 },
	{ METHOD_GET, "/v2/active-rooms/$r/me", 403, 0 },
	{ METHOD_GET, "/v2/sessions/$t", 200, 1 },
	{ METHOD_GET, "/v2/sessions/$t/peers", 200, 1 },
	{ METHOD_GET, "/v2/sessions/$t/attendance.csv", 200, 1 },
	{ METHOD_GET, "/v2/sessions", 200, 4 },
	{ METHOD_GET, "/v2/sessions?active=false", 200, 1 },
	{ METHOD_GET, "/v2/sessions?room_id=$s", 200, 1 },
	{ METHOD_GET, "/v2/usage", 200, 1 },
	{ METHOD_GET, "/v2/usage?after=2026-01-01&before=2026-01-31", 200, 1 },
	{ METHOD_DELETE, "/v2/sessions/$t", 409, 2 },
	{ METHOD_DELETE, "/v2/sessions/000000000000000000000001", 404, 2 },
};

static const char *code_of_role(const char *room, const char *role)
{
	const struct reply reply =
		ask(&one, METHOD_POST,
		    arena_text(kept, "/v2/room-codes/room/%s/role/%s", room, role), "{}");

	return member_of(&reply, "code");
}

START_TEST(calls_about_live_rooms_take_the_expected_number_of_round_trips)
{
	const char *values[VALUES] = { "", "", "", "", "", "" };
	const char *backend = make(&one, "/v2/backends", LIVEKIT);
	struct fault fault = FAULT_INITIAL;
	struct secret secret;
	struct reply reply;
	unsigned before, flights;

	make(&one, "/v2/templates",
	     "{\"name\":\"one\",\"roles\":{\"host\":{\"permissions\":{\"sendRoomState\":true}},"
	     "\"guest\":{}},\"settings\":{\"roomState\":{\"enabled\":true}},\"default\":true}");
	values[1] = make(&one, "/v2/rooms", "{\"name\":\"room\"}");
	values[3] = make(&one, "/v2/rooms", "{\"name\":\"spare\"}");
	values[2] = code_of_role(values[1], "host");
	values[4] = code_of_role(values[1], "guest");
	join_room(backend, values[1], "a");
	join_room(backend, values[1], "b");
	before = relay_flights(CALLS);
	reply = ask(&one, METHOD_GET, "/v2/sessions", NULL);
	ck_assert_uint_eq(flights_since(before, 4), 4);
	ck_assert_msg(strstr(reply.text, "\"id\":\"") != NULL, "%s", reply.text);
	values[0] =
		arena_copy(kept, (struct slice){ strstr(reply.text, "\"id\":\"") + 6, 24 }).data;
	/* With a recorder, a code also says whether the room is recorded. Accounts that have
	 * changed are read by the next request. */
	ck_assert_msg(accounts_add_recorder(one.options.postgres.url, &clock_system, "r1", NULL,
					    &secret, &fault),
		      "%s: %s", fault.message, fault.cause);
	ask(&one, METHOD_GET, "/v2/rooms", NULL);
	for (int i = 0; i < ROWS(live_trips); i++) {
		before = relay_flights(CALLS);
		reply = ask(&one, live_trips[i].method, filled_in(live_trips[i].path, values),
			    NULL);
		ck_assert_msg(reply.status == live_trips[i].status, "row %d: %d %s", i,
			      reply.status, reply.text);
		flights = flights_since(before, live_trips[i].flights);
		ck_assert_msg(flights == live_trips[i].flights, "row %d, %s %s: %u round trips", i,
			      method_name(live_trips[i].method), live_trips[i].path, flights);
	}
}
END_TEST

/* Where the files of a room go, without and with the credentials. */
#define STORAGE \
	"\"type\":\"s3\",\"location\":\"lessons\",\"prefix\":\"\",\"options\":{\"region\":\"eu-west-3\"}"
#define RECORDED \
	"{\"name\":\"recorded\",\"roles\":{\"host\":{\"permissions\":{\"endRoom\":true," \
	"\"removeOthers\":true,\"mute\":true,\"changeRole\":true}}},\"settings\":{\"recording\":{" \
	"\"upload\":{" STORAGE ",\"credentials\":{\"key\":\"k\",\"secretKey\":\"s\"}}}}}"

/* Makes a recording that has ended, with a file in the folder or, with a storage, an object.
 * Returns the id of the file. */
static const char *record_room(const char *template, const char *room, const char *storage)
{
	struct job job = { .status = JOB_COMPLETED,
			   .room_name = SLICE("recorded"),
			   .folder = slice_of(storage[0] == '\0' ? "f1" : "") };
	struct asset asset = { .session = kind_only_id,
			       .type = ASSET_ROOM_COMPOSITE,
			       .path = SLICE("a/b/c/recording.mp4"),
			       .folder = job.folder,
			       .storage = slice_of(storage),
			       .title = SLICE("Recorded"),
			       .size = 5,
			       .presign_seconds = 600 };
	struct fault fault = FAULT_INITIAL;
	struct call call;
	int64_t now;

	world_begin(&two, &account.id, &call);
	now = job.created = job.updated = job.ended = asset.created = asset.recorded_at = call.now;
	ck_assert(id_parse(slice_of(room), &job.stored.parent) &&
		  id_parse(slice_of(template), &job.template_id) &&
		  store_new_id(call.transaction, &kind_job, &clock_system, &now, &job.stored.id,
			       &fault));
	asset.room = job.stored.parent;
	asset.template_id = job.template_id;
	job.name = id_as_text(kept, &job.stored.id);
	ck_assert_msg(job_put(&call, &job, &fault) &&
			      job_load(&call, &job.stored.id, STORE_TO_CHANGE, &job, &fault) &&
			      asset_add(&call, &job, &asset, &fault) &&
			      job_put(&call, &job, &fault),
		      "%s", fault_reason(&fault));
	(void)world_commit(&call);
	return id_as_text(kept, &asset.stored.id).data;
}

#define NO_TICKET "0123456789012345678901234567890123456789012"
#define NOTHING "000000000000000000000001"
#define BACKEND_AGAIN \
	"{\"name\":\"b\",\"type\":\"livekit\",\"url\":\"wss://h\",\"default\":true,\"config\":{" \
	"\"api_key\":\"k\"}}"

#define BACKEND_IN_POOL(name) \
	"{\"name\":\"" name \
	"\",\"type\":\"livekit\",\"url\":\"wss://h\",\"pool\":\"p\",\"default\":true,\"config\":{" \
	"\"api_key\":\"k\",\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}"

/* The other routes. The room is in session, with one peer; no media
 * server can be asked. */
static const struct {
	enum method method;
	const char *path; /* as in `trips`, also with the letters that rows set */
	const char *body;
	int status; /* 0: any */
	unsigned flights;
	const char *sets; /* letter and member: the letter stands for that member of the response */
	char bearer; /* letter of a token that is sent in place of the account's */
} more_trips[] = {
	{ METHOD_GET, "/v2/templates/$t/destinations", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/templates/$t/destinations", "{}", 200, 2, NULL, 0 },
	{ METHOD_PATCH, "/v2/templates/$t/destinations", "{}", 200, 2, NULL, 0 },
	{ METHOD_PATCH, "/v2/templates/$t/settings", "{\"region\":\"eu\"}", 200, 2, NULL, 0 },
	{ METHOD_GET, "/v2/templates/$t/roles", NULL, 200, 1, NULL, 0 },
	{ METHOD_PATCH, "/v2/templates/$t/roles/host", "{\"priority\":2}", 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/templates", "{\"name\":\"gone\"}", 200, 2, "x id", 0 },
	{ METHOD_DELETE, "/v2/templates/$x", NULL, 204, 3, NULL, 0 },
	{ METHOD_GET, "/v2/room-summaries", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/room-codes/code/$c", "{\"enabled\":true}", 200, 2, NULL, 0 },
	/* A build may have no QR codes. */
	{ METHOD_GET, "/v2/room-codes/code/$c/qr", NULL, 0, 1, NULL, 0 },
	{ METHOD_POST, "/v2/import", "{\"templates\":[{\"name\":\"imported\"}]}", 200, 5, NULL, 0 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 2, "j token", 0 },
	{ METHOD_POST, "/v2/token/join", "{}", 200, 2, NULL, 'j' },
	/* A consent is kept in the session: the call reads, and then writes. */
	{ METHOD_PATCH, "/v2/templates/$t/settings", "{\"recordingRules\":{\"consent\":\"asked\"}}",
	  200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/token/join", "{\"consent\":true}", 200, 5, NULL, 'j' },
	{ METHOD_POST, "/v2/token/join", "{\"consent\":true}", 200, 5, NULL, 'j' },
	{ METHOD_PATCH, "/v2/templates/$t/settings", "{\"recordingRules\":null}", 200, 2, NULL, 0 },
	{ METHOD_DELETE, "/v2/tickets/" NO_TICKET, NULL, 404, 2, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/tickets/" NOTHING, "{\"state\":\"denied\"}", 404, 3,
	  NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/peers/$p", "{\"name\":\"x\"}", 501, 6, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/peers/$p/mute", "{\"type\":\"audio\",\"mute\":true}",
	  501, 5, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/mute", "{\"type\":\"audio\",\"hold\":true}", 501, 4,
	  NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/lower-hands", "{}", 501, 4, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/send-message", "{\"message\":\"x\"}", 501, 4, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/remove-peers", "{\"peer_id\":\"$p\"}", 501, 4, NULL,
	  0 },
	{ METHOD_POST, "/v2/active-rooms/$r/end-room", "{}", 501, 3, NULL, 0 },
	{ METHOD_POST, "/v2/templates/$t/settings/test", NULL, 409, 1, NULL, 0 },
	/* There is no folder, and no recording. */
	{ METHOD_POST, "/v2/recordings/room/$r/start", "{}", 409, 7, NULL, 0 },
	{ METHOD_POST, "/v2/recordings/room/$r/stop", "{}", 404, 3, NULL, 0 },
	{ METHOD_POST, "/v2/recordings/room/$r/pause", "{}", 404, 3, NULL, 0 },
	{ METHOD_POST, "/v2/recordings/room/$r/resume", "{}", 404, 3, NULL, 0 },
	{ METHOD_POST, "/v2/recordings/" NOTHING "/stop", "{}", 404, 2, NULL, 0 },
	{ METHOD_POST, "/v2/recordings/" NOTHING "/join", NULL, 404, 2, NULL, 0 },
	{ METHOD_GET, "/v2/recordings", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/recordings?room_id=$r", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/recordings/" NOTHING, NULL, 404, 1, NULL, 0 },
	{ METHOD_GET, "/v2/recording-assets", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/recording-assets/" NOTHING, NULL, 404, 1, NULL, 0 },
	{ METHOD_GET, "/v2/recording-assets/" NOTHING "/presigned-url", NULL, 404, 1, NULL, 0 },
	/* The object's recording, room and template say who signs for its storage. */
	{ METHOD_GET, "/v2/recording-assets/$a/presigned-url", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/recording-assets/$o/presigned-url", NULL, 200, 6, NULL, 0 },
	{ METHOD_DELETE, "/v2/recording-assets/" NOTHING, NULL, 404, 2, NULL, 0 },
	{ METHOD_POST, "/v2/recording-assets", "{\"path\":\"x\"}", 400, 0, NULL, 0 },
	{ METHOD_POST, "/v2/recording-assets/purge", "{\"path\":\"x\"}", 400, 0, NULL, 0 },
	{ METHOD_GET, "/v2/recording-assets/orphans", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/v2/recording-files/$u/" NOTHING, NULL, 403, 0, NULL, 0 },
	{ METHOD_POST, "/v2/live-streams/room/$r/start", "{}", 409, 7, NULL, 0 },
	{ METHOD_POST, "/v2/live-streams/room/$r/stop", "{}", 404, 3, NULL, 0 },
	{ METHOD_POST, "/v2/live-streams/" NOTHING "/stop", "{}", 404, 2, NULL, 0 },
	{ METHOD_POST, "/v2/live-streams/" NOTHING "/timed-metadata", "{}", 404, 1, NULL, 0 },
	{ METHOD_POST, "/v2/live-streams/" NOTHING "/pause-recording", "{}", 404, 1, NULL, 0 },
	{ METHOD_POST, "/v2/live-streams/" NOTHING "/resume-recording", "{}", 404, 1, NULL, 0 },
	{ METHOD_GET, "/v2/live-streams", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/live-streams/" NOTHING, NULL, 404, 1, NULL, 0 },
	{ METHOD_POST, "/v2/external-streams/room/$r/start",
	  "{\"rtmp_urls\":[\"rtmp://a.example/b\"]}", 409, 7, NULL, 0 },
	{ METHOD_POST, "/v2/external-streams/room/$r/stop", "{}", 404, 3, NULL, 0 },
	{ METHOD_POST, "/v2/external-streams/" NOTHING "/stop", "{}", 404, 2, NULL, 0 },
	{ METHOD_GET, "/v2/external-streams", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/external-streams/" NOTHING, NULL, 404, 1, NULL, 0 },
	{ METHOD_GET, "/v2/analytics/events?room_id=$r", NULL, 200, 2, NULL, 0 },
	{ METHOD_GET, "/v2/join/$c/recordings", NULL, 403, 1, NULL, 0 },
	{ METHOD_GET, "/v2/join/$c/recordings/" NOTHING "/presigned-url", NULL, 403, 1, NULL, 0 },
	/* The room has two recordings, whose files are read together. */
	{ METHOD_GET, "/v2/join/$h/recordings", NULL, 200, 3, NULL, 0 },
	{ METHOD_GET, "/v2/join/$h/recordings/" NOTHING "/presigned-url", NULL, 404, 4, NULL, 0 },
	{ METHOD_GET, "/v2/join/$h/recordings/$a/presigned-url", NULL, 200, 4, NULL, 0 },
	{ METHOD_GET, "/v2/join/$h/recordings/$o/presigned-url", NULL, 200, 5, NULL, 0 },
	{ METHOD_GET, "/v2/recorders", NULL, 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/recorders/a/report", "{}", 401, 0, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/door", "{\"state\":\"ask\"}", 200, 3, NULL, 0 },
	/* Those inside may come back. */
	{ METHOD_POST, "/v2/active-rooms/$r/door", "{\"state\":\"locked\"}", 200, 5, NULL, 0 },
	{ METHOD_POST, "/v2/active-rooms/$r/door", "{\"state\":\"locked\"}", 200, 2, NULL, 0 },
	/* Only the codes of the room say that the door matters. */
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 403, 3, NULL, 0 },
	{ METHOD_POST, "/v2/token/join", "{}", 403, 6, NULL, 'j' },
	{ METHOD_POST, "/v2/active-rooms/$r/door", "{\"state\":null}", 200, 3, NULL, 0 },
	{ METHOD_GET, "/v2/backends/$b", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b", BACKEND_AGAIN, 200, 2, NULL, 0 },
	{ METHOD_PATCH, "/v2/backends/$b", "{\"ttl\":90}", 200, 2, NULL, 0 },
	/* In a pool, the loads of its servers are read, and an exchange reads where the room is. */
	{ METHOD_PATCH, "/v2/backends/$b", "{\"pool\":\"p\"}", 200, 3, NULL, 0 },
	{ METHOD_GET, "/v2/backends/$b", NULL, 200, 2, NULL, 0 },
	{ METHOD_GET, "/v2/backends", NULL, 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b", BACKEND_IN_POOL("again"), 200, 3, NULL, 0 },
	{ METHOD_POST, "/v2/backends", BACKEND_IN_POOL("other"), 200, 4, NULL, 0 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 9, NULL, 0 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$c\"}", 200, 4, NULL, 0 },
	{ METHOD_GET, "/v2/rooms/$r", NULL, 200, 5, NULL, 0 },
	/* A room that is nowhere is placed by the health and the loads of the servers. */
	{ METHOD_POST, "/v2/rooms", "{\"name\":\"nowhere\"}", 200, 2, "x id", 0 },
	{ METHOD_POST, "/v2/room-codes/room/$x/role/host", "{}", 200, 2, "y code", 0 },
	{ METHOD_POST, "/v2/token", "{\"code\":\"$y\"}", 200, 8, NULL, 0 },
	{ METHOD_GET, "/v2/active-rooms/$r", NULL, 200, 8, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b/test", "{}", 501, 1, NULL, 0 },
	/* Where there is another server is read first, then the rooms in a snapshot, then both
	 * once more to write. */
	{ METHOD_POST, "/v2/backends/$b/move", NULL, 409, 1, NULL, 0 },
	{ METHOD_PATCH, "/v2/backends/$b", "{\"draining\":true}", 200, 3, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b/move", NULL, 202, 13, NULL, 0 },
	{ METHOD_POST, "/v2/backends/$b/events", "{}", 204, 0, NULL, 0 },
	/* The session of the room closes, and who is inside leaves. */
	{ METHOD_DELETE, "/v2/backends/$b", NULL, 204, 15, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks", "{\"url\":\"https://a.example/\"}", 200, 5, "w id", 0 },
	{ METHOD_GET, "/v2/webhooks", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/webhooks/$w", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w", "{\"url\":\"https://b.example/\"}", 200, 3, NULL, 0 },
	{ METHOD_PATCH, "/v2/webhooks/$w", "{\"description\":\"x\"}", 200, 3, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w/rotate", "{}", 200, 3, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w/test", "{}", 200, 2, NULL, 0 },
	{ METHOD_GET, "/v2/webhooks/$w/deliveries", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/webhooks/$w/deliveries/" NOTHING "/retry", "{}", 404, 3, NULL, 0 },
	{ METHOD_DELETE, "/v2/webhooks/$w", NULL, 204, 5, NULL, 0 },
	{ METHOD_POST, "/v2/signing-keys", "{\"alg\":\"EdDSA\"}", 200, 2, NULL, 0 },
	{ METHOD_POST, "/v2/signing-keys", "{\"alg\":\"EdDSA\"}", 200, 2, "d kid", 0 },
	{ METHOD_GET, "/v2/signing-keys/$d", NULL, 200, 1, NULL, 0 },
	{ METHOD_POST, "/v2/signing-keys/$d/activate", "{}", 200, 2, NULL, 0 },
	{ METHOD_DELETE, "/v2/signing-keys/$d", NULL, 204, 2, NULL, 0 },
	{ METHOD_POST, "/v2/keys", "{\"name\":\"a\",\"scopes\":[\"rooms:read\"]}", 200, 2, "n id",
	  0 },
	{ METHOD_GET, "/v2/keys", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/keys/$n", NULL, 200, 1, NULL, 0 },
	{ METHOD_PATCH, "/v2/keys/$n", "{\"name\":\"b\"}", 200, 2, NULL, 0 },
	{ METHOD_DELETE, "/v2/keys/$n", NULL, 204, 2, NULL, 0 },
	{ METHOD_GET, "/v2/jwks/$u.json", NULL, 200, 1, NULL, 0 },
	{ METHOD_GET, "/v2/jwks/$u/0000.pem", NULL, 404, 1, NULL, 0 },
	{ METHOD_GET, "/v2/session", NULL, 200, 1, NULL, 0 },
	{ METHOD_DELETE, "/v2/session", NULL, 204, 1, NULL, 0 },
	{ METHOD_GET, "/v2/service/metrics", NULL, 403, 1, NULL, 0 },
	{ METHOD_GET, "/v2/service/history", NULL, 403, 1, NULL, 0 },
	{ METHOD_GET, "/v2/openapi.json", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/healthz", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/readyz", NULL, 200, 0, NULL, 0 },
	{ METHOD_GET, "/metrics", NULL, 200, 0, NULL, 0 },
};

static size_t place_of(char letter)
{
	return (size_t)(strchr(letters, letter) - letters);
}

static struct reply ask_with_bearer(enum method method, const char *path, const char *body,
				    const char *token)
{
	struct request request = world_request(&one, kept, NULL, method, path, body);

	request.authorization = slice_of(arena_text(kept, "Bearer %s", token));
	return world_send(&one, kept, &request);
}

START_TEST(other_calls_take_the_expected_number_of_round_trips)
{
	const char *values[VALUES] = { NULL };
	struct buffer wrong = BUFFER_INITIAL(kept);
	struct reply reply;
	const char *recorded, *room;
	unsigned before, flights;

	recorded = make(&one, "/v2/templates", RECORDED);
	room = make(&one, "/v2/rooms",
		    arena_text(kept, "{\"name\":\"recorded\",\"template_id\":\"%s\"}", recorded));
	values[place_of('a')] = record_room(recorded, room, "");
	values[place_of('o')] = record_room(recorded, room, "{" STORAGE "}");
	reply = ask(&one, METHOD_POST, arena_text(kept, "/v2/room-codes/room/%s/role/host", room),
		    "{}");
	values[place_of('h')] = member_of(&reply, "code");
	values[place_of('u')] = account.id_text;
	values[place_of('b')] = make(&one, "/v2/backends", LIVEKIT);
	values[place_of('t')] = make(&one, "/v2/templates",
				     "{\"name\":\"one\",\"roles\":{\"host\":{}},\"default\":true}");
	values[place_of('r')] = make(&one, "/v2/rooms", "{\"name\":\"room\"}");
	reply = ask(&one, METHOD_POST, filled_in("/v2/room-codes/room/$r/role/host", values), "{}");
	values[place_of('c')] = member_of(&reply, "code");
	join_room(values[place_of('b')], values[place_of('r')], "a");
	before = relay_flights(CALLS);
	reply = ask(&one, METHOD_GET, filled_in("/v2/active-rooms/$r/peers", values), NULL);
	ck_assert_uint_eq(flights_since(before, 4), 4);
	ck_assert_msg(strstr(reply.text, "\"id\":\"") != NULL, "%s", reply.text);
	values[place_of('p')] =
		arena_copy(kept, (struct slice){ strstr(reply.text, "\"id\":\"") + 6, 36 }).data;
	for (int i = 0; i < ROWS(more_trips); i++) {
		const char *path = filled_in(more_trips[i].path, values);
		const char *body = filled_in(more_trips[i].body, values);
		const char *sets = more_trips[i].sets;

		before = relay_flights(CALLS);
		reply = more_trips[i].bearer == 0
				? ask(&one, more_trips[i].method, path, body)
				: ask_with_bearer(more_trips[i].method, path, body,
						  values[place_of(more_trips[i].bearer)]);
		flights = flights_since(before, more_trips[i].flights);
		if ((more_trips[i].status != 0 && reply.status != more_trips[i].status) ||
		    flights != more_trips[i].flights)
			buffer_append_text(&wrong,
					   arena_text(kept, "\n%s %s: %d, %u round trips %.200s",
						      method_name(more_trips[i].method), path,
						      reply.status, flights, reply.text));
		if (sets != NULL && reply.status == 200)
			values[place_of(sets[0])] = member_of(&reply, sets + 2);
	}
	buffer_append_byte(&wrong, '\0');
	ck_assert_msg(wrong.size == 1, "unexpected:%s", wrong.data);
}
END_TEST

/* Returns true if a row's path, without query and key, is one of the route. */
static bool is_of_route(const struct route *route, enum method method, const char *path)
{
	const char *at = route->path;
	const size_t size = strcspn(path, "? ");
	const char *const end = path + size;

	if (method != route->method)
		return false;
	while (*at != '\0' && path < end) {
		if (*at != '{') {
			if (*at++ != *path++)
				return false;
			continue;
		}
		at = strchr(at, '}') + 1;
		while (path < end && *path != '/' && *path != *at)
			path++;
	}
	return *at == '\0' && path == end;
}

/* Returns true if the path is that of a route without parameters, which then is meant. */
static bool is_plain(enum method method, const char *path)
{
	for (const struct route *route = routes; route->path != NULL; route++) {
		if (strchr(route->path, '{') == NULL && is_of_route(route, method, path))
			return true;
	}
	return false;
}

/* The fewest and the most round trips of a route, in all rows. */
struct seen_trips {
	unsigned from, to;
	bool is_there;
};

static void see_row(struct seen_trips *seen, const struct route *route, enum method method,
		    const char *path, unsigned flights)
{
	if (!is_of_route(route, method, path) ||
	    (strchr(route->path, '{') != NULL && is_plain(method, path)))
		return;
	if (!seen->is_there || flights < seen->from)
		seen->from = flights;
	if (!seen->is_there || flights > seen->to)
		seen->to = flights;
	seen->is_there = true;
}

/* The calls above compare these numbers with what the database counts. */
START_TEST(each_route_with_a_store_says_its_round_trips)
{
	struct buffer wrong = BUFFER_INITIAL(kept);

	for (const struct route *route = routes; route->path != NULL; route++) {
		struct seen_trips seen = { .is_there = false };

		for (int i = 0; i < ROWS(trips); i++)
			see_row(&seen, route, trips[i].method, trips[i].path, trips[i].flights);
		for (int i = 0; i < ROWS(live_trips); i++)
			see_row(&seen, route, live_trips[i].method, live_trips[i].path,
				live_trips[i].flights);
		for (int i = 0; i < ROWS(more_trips); i++)
			see_row(&seen, route, more_trips[i].method, more_trips[i].path,
				more_trips[i].flights);
		if (route->access == ROUTE_STATELESS
			    ? route->trips_from == 0 && route->trips_to == 0
			    : seen.is_there && route->trips_from == seen.from &&
				      route->trips_to == seen.to)
			continue;
		buffer_append_text(&wrong,
				   arena_text(kept, "\n%s: TRIPS(%u, %u)%s", route->name, seen.from,
					      seen.to, seen.is_there ? "" : ", no call"));
	}
	buffer_append_byte(&wrong, '\0');
	ck_assert_msg(wrong.size == 1, "the rows of these routes say something else:%s",
		      wrong.data);
}
END_TEST

/* The order in which calls lock (src/README). */
START_TEST(routes_load_in_the_order_of_locks)
{
	static const struct store_kind *const order[] = {
		&kind_template, &kind_room, &kind_codes, &kind_code,	&kind_webhooks, &kind_key,
		&kind_media,	&kind_ban,  &kind_door,	 &kind_session, &kind_job,
	};

	for (const struct route *route = routes; route->path != NULL; route++) {
		int last = 0;

		for (const struct load *load = route->loads; load != NULL && load->what != NULL;
		     load++) {
			const struct store_kind *kind = load->what->reads->kind;
			int place = 0;

			if (kind == NULL || load->reading == STORE_TO_SHOW)
				continue;
			while (place < ROWS(order) && order[place] != kind)
				place++;
			ck_assert_msg(place < ROWS(order) && place >= last, "%s: %s", route->name,
				      kind->name);
			last = place;
		}
	}
}
END_TEST

/* One in sixteen also looks for expired responses. */
START_TEST(calls_with_a_key_take_two_round_trips)
{
	unsigned before;

	make(&one, "/v2/templates", "{\"name\":\"one\",\"roles\":{},\"default\":true}");
	for (int i = 0; i < 80; i++) {
		char path[40];
		struct reply reply;

		(void)snprintf(path, sizeof path, "/v2/rooms key-%d", i);
		before = relay_flights(CALLS);
		reply = ask_with_key(METHOD_POST, path, "{}");
		ck_assert_msg(reply.status == 200, "call %d: %s", i, reply.text);
		ck_assert_msg(relay_flights(CALLS) - before == 2, "call %d: %u round trips", i,
			      relay_flights(CALLS) - before);
	}
}
END_TEST

void add_trips(TCase *calls, TCase *routes_case)
{
	tcase_add_test(calls, calls_take_the_expected_number_of_round_trips);
	tcase_add_test(calls, calls_about_live_rooms_take_the_expected_number_of_round_trips);
	tcase_add_test(calls, calls_with_a_key_take_two_round_trips);
	tcase_add_test(calls, applicants_wait_outside_the_workers);
	tcase_add_test(routes_case, other_calls_take_the_expected_number_of_round_trips);
	tcase_add_test(routes_case, routes_load_in_the_order_of_locks);
	tcase_add_test(routes_case, each_route_with_a_store_says_its_round_trips);
}
