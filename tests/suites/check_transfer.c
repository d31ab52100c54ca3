/*
 * Moves accounts from one store into another (transfer/transfer.h), and tests what `check` finds in
 * a store (transfer/record_findings.h). A world is a data directory with the service and its
 * durable store. A life is a sequence of requests that leaves one of everything: hidden members,
 * deleted and renamed roles, codes of all kinds and codes that are due, rooms that moved to another
 * template. It is lived once for all tests of a case; each test gets a copy of what it left.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "accounts/accounts.h"
#include "resources/templates/default_template.h"
#include "resources/door/door_polls.h"
#include "resources/joining/misses.h"
#include "accounts/token.h"
#include "command/again.h"
#include "command/removal.h"
#include "directory.h"
#include "fast_disk.h"
#include "resources/codes/code_record.h"
#include "resources/codes/code_words.h"
#include "resources/audit.h"
#include "resources/events/audit_record.h"
#include "resources/events/webhook_record.h"
#include "resources/garbage.h"
#include "resources/bans/bans.h"
#include "resources/live/live_merge.h"
#include "resources/live/revocations.h"
#include "resources/media/backend_health.h"
#include "resources/retries/kept_answer.h"
#include "resources/retries/kept_usage.h"
#include "resources/rooms/room_times.h"
#include "rules/transfer_rules.h"
#include "transfer/record_findings.h"
#include "transfer/transfer.h"
#include "service/service.h"
#include "store/gdbm/inspect.h"
#include "records/kinds.h"
#include "store/gdbm/btree.h"
#include "store/gdbm/entries.h"
#include "store/gdbm/store_gdbm.h"
#include "json_agree.h"
#include "store_failing.h"
#include "suite.h"

#define DAY ((int64_t)24 * 60 * 60)
#define OVERLAY_BYTES ((size_t)512 << 10)

/* ---- worlds ---- */

/* The system's clock, and the offset by which a life has moved it. */
struct moved_clock {
	struct clock clock;
	int64_t offset;
};

struct world {
	struct moved_clock clock;
	char *directory;
	char store_directory[4200];
	struct environment environment;
	struct service *service;
};

static struct fault fault;

static int64_t moved_now(const struct clock *clock)
{
	const struct moved_clock *moved = (const struct moved_clock *)(const void *)clock;

	return clock_now(&clock_system) + moved->offset;
}

static void world_open_store(struct world *world, bool is_read_only, struct store **store)
{
	const struct store_options options = {
		.directory = world->store_directory,
		.is_read_only = is_read_only,
		.creates = true,
		/* A walk takes as long as an overlay's table is wide, and checks walk often. */
		.overlay_bytes = OVERLAY_BYTES,
	};

	ck_assert_msg(store_gdbm_open(&options, store, &fault), "%s", fault.cause);
}

/* Opens a world in a directory, which world_close removes. */
static void world_open_in(struct world *world, char *directory, int64_t offset)
{
	*world = (struct world){ .clock = { .clock = clock_system, .offset = offset } };
	world->clock.clock.now = moved_now;
	world->directory = directory;
	(void)snprintf(world->store_directory, sizeof world->store_directory, "%s/store",
		       world->directory);
	world->environment.clock = &world->clock.clock;
	world->environment.join_seconds = DAY;
	world->environment.session_keep = (int64_t)DAY * 1000;
	world->environment.misses = misses_open(world->environment.clock);
	world->environment.door_polls = door_polls_open(DOOR_ADDRESS_MOST);
	ck_assert(accounts_open(world->directory, &world->environment.accounts, &fault));
	world_open_store(world, false, &world->environment.store);
	world->service = service_open(&world->environment);
}

static void world_open(struct world *world)
{
	world_open_in(world, directory_make(), 0);
}

/* Closes the world and returns its directory. */
static char *world_leave(struct world *world)
{
	service_close(world->service);
	store_close(world->environment.store);
	accounts_close(world->environment.accounts);
	door_polls_close(world->environment.door_polls);
	misses_close(world->environment.misses);
	return world->directory;
}

static void world_close(struct world *world)
{
	directory_remove(world_leave(world));
}

/* Reopens the world, as after a restart. */
static void world_reopen(struct world *world)
{
	service_close(world->service);
	store_close(world->environment.store);
	world_open_store(world, false, &world->environment.store);
	world->service = service_open(&world->environment);
}

static struct world one, other;

static void set_up(void)
{
	fault = FAULT_INITIAL;
	world_open(&one);
	world_open(&other);
}

static void tear_down(void)
{
	world_close(&other);
	world_close(&one);
}

/* ---- requests ---- */

static const struct account *account_of(struct world *world, const char *name,
					const struct roster **roster)
{
	*roster = accounts_current(world->environment.accounts);
	return roster_by_name(*roster, slice_of(name));
}

static struct slice token_for(struct world *world, struct arena *arena, const char *name)
{
	const struct roster *roster;
	const struct account *account = account_of(world, name, &roster);
	struct slice token;
	struct buffer header = BUFFER_INITIAL(arena);

	ck_assert_ptr_nonnull(account);
	token = token_sign_management(arena, world->environment.clock, account,
				      clock_now(world->environment.clock), DAY);
	accounts_release(world->environment.accounts, roster);
	buffer_append_text(&header, "Bearer ");
	buffer_append(&header, token);
	return buffer_slice(&header);
}

/* Returns the response's text, which the caller frees; the status comes first unless it is 200 or
 * 204. */
static char *answer_of(struct world *world, const char *name, enum method method, const char *path,
		       const char *body)
{
	struct store *store = world->environment.store;
	struct arena *arena = arena_open();
	struct call call = { .arena = arena };
	struct buffer text = BUFFER_INITIAL(arena);
	struct fault unused = FAULT_INITIAL;
	char *copy;

	call.request = (struct request){
		.method = method,
		.uri = slice_of(path),
		.body = slice_of(body == NULL ? "" : body),
		.authorization = token_for(world, arena, name),
		.address = SLICE("192.0.2.1"),
	};
	service_answer(world->service, &call);
	if (call.answer.awaited != 0)
		ck_assert(store_wait(store, call.answer.awaited, &unused));
	if (call.answer.status / 100 != 2)
		buffer_append_text(&text, arena_text(arena, "%d ", call.answer.status));
	for (size_t i = 0; i < call.answer.part_count; i++)
		buffer_append(&text, call.answer.parts[i]);
	buffer_append_byte(&text, '\0');
	copy = strdup(text.data);
	arena_close(arena);
	return copy;
}

/* Room for an ID or the key ID of a signing key. */
#define NAME_SIZE 44

/* Makes a request that must succeed; copies `id` or `kid` of the response to *id, unless that is
 * NULL. */
static void done(struct world *world, enum method method, const char *body, char *id,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

static void done(struct world *world, enum method method, const char *body, char *id,
		 const char *format, ...)
{
	char path[400];
	va_list arguments;
	char *text;
	json_t *answer;

	va_start(arguments, format);
	(void)vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	text = answer_of(world, "a", method, path, body);
	ck_assert_msg(strchr("{[", text[0]) != NULL, "%s: %s", path, text);
	if (id != NULL) {
		answer = json_loads(text, 0, NULL);
		if (json_object_get(answer, "kid") != NULL)
			memcpy(id, json_string_value(json_object_get(answer, "kid")), NAME_SIZE);
		else
			(void)snprintf(id, 25, "%s",
				       json_string_value(json_object_get(answer, "id")));
		json_decref(answer);
	}
	free(text);
	world->clock.offset += 7000;
}

struct life {
	char one[25], two[25]; /* templates */
	char followed[25], own[25], moved[25], off[25]; /* rooms */
	char livekit[25]; /* the media server of the sessions */
};

static const char *const template_one =
	"{\"name\":\"one\",\"default\":true,\"roles\":{\"host\":{\"priority\":2},\"guest\":{},"
	"\"extra\":{}},\"settings\":{\"region\":\"eu\",\"recording\":{\"enabled\":true,\"upload\":"
	"{\"type\":\"s3\",\"location\":\"bucket\",\"prefix\":\"p\",\"credentials\":{\"key\":\"k1\","
	"\"secretKey\":\"k2\"}}}},\"destinations\":{\"browserRecordings\":{\"rec\":{\"width\":640,"
	"\"role\":\"host\"}},\"hlsDestinations\":{\"h\":{\"playlistType\":\"live\",\"layers\":[{}]}},\"transcriptions\":"
	"{\"t\":null}},\"plugins\":{\"p\":[null,1]}}";
/* An import of template_one, with more segments than other requests can set. */
#define MORE_SEGMENTS \
	"{\"templates\":[{\"id\":\"%s\",\"destinations\":{\"browserRecordings\":{\"rec\":{\"width\":640}}," \
	"\"hlsDestinations\":{\"h\":{\"playlistType\":\"live\",\"numPlaylistSegments\":150,\"layers\":[{}]}}," \
	"\"transcriptions\":{\"t\":null}}}]}"
static const char *const own_recording =
	"{\"name\":\"Own\",\"webhook\":{\"url\":null},\"polls\":[[]],\"size\":5000,\"large_room\":true,\"recording_info\":{\"enabled\":true,"
	"\"upload_info\":{\"type\":\"gs\",\"location\":\"b\",\"prefix\":\"q\",\"credentials\":"
	"{\"key\":\"k3\",\"secret\":\"k4\"}}}}";

static const char *const limited_code =
	"{\"code\":\"own-words\",\"not_before\":\"2020-01-01T00:00:00Z\",\"expires_at\":"
	"\"2990-01-01T00:00:00Z\",\"max_uses\":5,\"user_id\":\"u\",\"name\":\"n\",\"label\":\"\","
	"\"metadata\":{\"b\":\"1\",\"a\":\"\"}}";

static const char *const backend_livekit =
	"{\"name\":\"lk\",\"type\":\"livekit\",\"url\":\"wss://lk.example.org\",\"default\":true,"
	"\"config\":{\"api_key\":\"k\",\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}";
static const char *const backend_galene =
	"{\"name\":\"two\",\"type\":\"galene\",\"url\":\"https://g.example.org/\",\"ttl\":60}";

static void add_accounts(struct world *world)
{
	ck_assert(accounts_add(world->directory, world->environment.clock, "a", NULL, &fault));
	ck_assert(accounts_add(world->directory, world->environment.clock, "b", NULL, &fault));
	ck_assert(accounts_rotate(world->directory, world->environment.clock, "b", NULL, &fault));
	ck_assert(accounts_set_enabled(world->directory, "b", false, NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "a", SLICE("operator"), SLICE("on"), NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "a", SLICE("log_joins"), SLICE("on"), NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "a", SLICE("sessions"), SLICE("off"), NULL, &fault));
	ck_assert(
		accounts_set(world->directory, "b", SLICE("live_log"), SLICE("off"), NULL, &fault));
	ck_assert(accounts_set(world->directory, "b", SLICE("client_url"),
			       SLICE("https://a/#{token}"), NULL, &fault));
}

/* ---- live rooms ---- */

static struct id parsed_id(const char *text)
{
	struct id id;

	ck_assert(id_parse(slice_of(text), &id));
	return id;
}

/* Begins a call of the account a, without a request. */
static void begin_call(struct world *world, struct call *call)
{
	const struct roster *roster;

	*call = (struct call){
		.environment = &world->environment,
		.arena = arena_open(),
		.account = account_of(world, "a", &roster)->id,
		.actor.kind = ACTOR_SERVICE,
		.now = clock_now(world->environment.clock),
	};
	accounts_release(world->environment.accounts, roster);
	ck_assert(store_begin(world->environment.store, STORE_WRITE, call->arena,
			      &call->transaction, &fault));
	call_set_account(call);
}

static void commit_call(struct call *call)
{
	struct store *store = call->environment->store;
	uint64_t number;

	ck_assert(audit_write(call, &fault));
	ck_assert(store_commit(call->transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_close(call->arena);
}

static void abandon_call(struct call *call)
{
	store_abandon(call->transaction);
	arena_close(call->arena);
}

/* News of a media server. */
struct told {
	enum news_type type;
	const char *stay, *role, *entry;
	bool is_by_phone;
};

/* Tells the news one after the other, 7 s apart. */
static void tell_news(struct world *world, const char *room, const char *backend,
		      const struct told *told, size_t count)
{
	struct environment environment = world->environment;

	/* With the settings of now. */
	ck_assert(accounts_open(world->directory, &environment.accounts, &fault));
	for (size_t i = 0; i < count; i++) {
		const int64_t now = clock_now(world->environment.clock);
		const struct news news = {
			.type = told[i].type,
			.room = { slice_of(room), SLICE("RM_1"), 1000 },
			.person = { .stay = slice_of(told[i].stay),
				    .identity = slice_of(told[i].stay),
				    .user_id = SLICE("user"),
				    .role = slice_of(told[i].role),
				    .entry = slice_of(told[i].entry),
				    .code = SLICE("0123456789abcdef"),
				    .name = SLICE("Known"),
				    .metadata = SLICE("data"),
				    .joined = now - 1000,
				    .is_by_phone = told[i].is_by_phone },
			.time = now,
		};
		struct merging merging = {
			.room = parsed_id(room),
			.backend = parsed_id(backend),
			.news = &news,
			.count = 1,
			.is_look = told[i].type == NEWS_LISTED,
			.looked = now,
		};
		struct call call;

		begin_call(world, &call);
		call.environment = &environment;
		ck_assert(live_merge(&call, &merging, &fault));
		/* The tests are the slower, the more records there are. */
		call.run.noted = (struct notes){ .count = 0 };
		commit_call(&call);
		world->clock.offset += 7000;
	}
	accounts_close(environment.accounts);
}

static void set_sessions(struct world *world, const char *value)
{
	ck_assert(accounts_set(world->directory, "a", SLICE("sessions"), slice_of(value), NULL,
			       &fault));
}

/* Notes that somebody and then everybody is put out, which the media server has not done yet, and
 * gives somebody a role. */
static void decide(struct world *world, const char *room)
{
	struct ending ending = { .room = parsed_id(room), .reason = SLICE("over") };
	struct given_role given = { .role = SLICE("speaker") };
	struct peer_page peers = { .side = STORE_ON, .most = 1 };
	struct peer peer;
	struct live in_session;
	struct call call;

	begin_call(world, &call);
	ck_assert(live_load(&call, &ending.room, STORE_TO_CHANGE, &in_session, &fault) &&
		  peers_read(&call, &in_session.session, &peers, &fault));
	ck_assert_uint_eq(peers.count, 1);
	in_session.left_unseen = true;
	ck_assert(record_put(&live_table, call.transaction, &in_session, &fault) &&
		  record_get(&peer_table, call.transaction, &peers.peers[0].stored.id,
			     STORE_TO_CHANGE, &peer, &fault));
	peer.order_last = true;
	peer.name_origin = NAME_GIVEN;
	peer.new_name = SLICE("Ada (2)");
	ck_assert(live_order_out(&call, &ending.room, &peer, LEAVE_FULL, SLICE("why"), &fault) &&
		  revocation_add(&call, &ending.room, SLICE("e1"), LEAVE_REMOVED, SLICE("why"),
				 &fault) &&
		  revocation_add_room(&call, &ending.room, &fault));
	ending.by = &peer;
	ending.locks = true;
	given.stored.parent = in_session.session;
	given.stored.id = given_role_id(&in_session.session, false, SLICE("user"));
	ck_assert(live_order_end(&call, &ending, &fault) &&
		  record_put(&given_role_table, call.transaction, &given, &fault));
	commit_call(&call);
}

/* Leaves a session that has closed and one that is active: somebody is inside twice, others were
 * missing from a look, and some are anonymous. */
static void meet(struct world *world, const char *room, const char *backend)
{
	static const struct told known[] = {
		{ NEWS_JOINED, "PA_1", "speaker", "", false },
		{ NEWS_LEFT, "PA_1", "speaker", "", false },
		{ NEWS_ENDED, "", "", "", false },
		{ NEWS_JOINED, "PA_2", "speaker", "e1", false },
		{ NEWS_JOINED, "PA_3", "speaker", "e1", false },
		{ NEWS_JOINED, "PA_4", "", "e2", true },
		{ NEWS_LISTED, "PA_2", "speaker", "e1", false },
	};
	static const struct told anonymous[] = {
		{ NEWS_JOINED, "PA_5", "listener", "e3", false },
		{ NEWS_JOINED, "PA_6", "listener", "e4", false },
		{ NEWS_LEFT, "PA_6", "listener", "e4", false },
	};

	set_sessions(world, "on");
	tell_news(world, room, backend, known, ROWS(known));
	set_sessions(world, "off");
	tell_news(world, room, backend, anonymous, ROWS(anonymous));
	decide(world, room);
}

/* The role `late` is added last: rooms whose codes were all requested have a code of it due. */
static void live_once(struct world *world, struct life *life)
{
	char body[300], gone[25], made[NAME_SIZE];

	add_accounts(world);
	done(world, METHOD_POST, "{\"alg\":\"ES256\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, "{\"alg\":\"ES256\"}", made, "/v2/signing-keys");
	done(world, METHOD_POST, NULL, NULL, "/v2/signing-keys/%s/activate", made);
	done(world, METHOD_POST, "{\"alg\":\"EdDSA\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, "{\"alg\":\"RS256\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, "{\"alg\":\"RS256\"}", NULL, "/v2/signing-keys");
	done(world, METHOD_POST, backend_livekit, life->livekit, "/v2/backends");
	done(world, METHOD_POST, backend_galene, NULL, "/v2/backends");
	done(world, METHOD_POST, "{\"name\":\"first\",\"scopes\":[\"rooms:read\"]}", NULL,
	     "/v2/keys");
	done(world, METHOD_POST, "{\"name\":\"gone\",\"scopes\":[\"rooms:read\"]}", made,
	     "/v2/keys");
	done(world, METHOD_POST,
	     "{\"name\":\"second\",\"scopes\":[\"keys:write\",\"codes:read\"],\"expires_at\":"
	     "\"2999-01-01T00:00:00Z\"}",
	     NULL, "/v2/keys");
	done(world, METHOD_DELETE, NULL, NULL, "/v2/keys/%s", made);
	done(world, METHOD_POST,
	     "{\"url\":\"https://a.example/h\",\"headers\":{\"X-A\":\"one\"},\"events\":"
	     "[\"room.*\",\"key.created\"]}",
	     made, "/v2/webhooks");
	done(world, METHOD_POST, NULL, NULL, "/v2/webhooks/%s/rotate", made);
	done(world, METHOD_POST, "{\"url\":\"https://b.example\"}", made, "/v2/webhooks");
	done(world, METHOD_DELETE, NULL, NULL, "/v2/webhooks/%s", made);
	done(world, METHOD_POST, "{\"url\":\"https://c.example\",\"enabled\":false}", NULL,
	     "/v2/webhooks");
	done(world, METHOD_POST, template_one, life->one, "/v2/templates");
	done(world, METHOD_POST, "[{\"name\":\"r\",\"role\":\"host\"}]", NULL,
	     "/v2/templates/%s/recordings", life->one);
	(void)snprintf(body, sizeof body, MORE_SEGMENTS, life->one);
	done(world, METHOD_POST, body, NULL, "/v2/import");
	done(world, METHOD_POST, "{\"name\":\"gone\"}", gone, "/v2/templates");
	done(world, METHOD_POST,
	     "{\"name\":\"two\",\"settings\":{\"backend\":\"two\"},"
	     "\"roles\":{\"host\":{\"title\":\"H\\u00e4upter\"},\"only\":{},\"extra\":{}}}",
	     life->two, "/v2/templates");
	done(world, METHOD_DELETE, NULL, NULL, "/v2/templates/%s", gone);
	done(world, METHOD_POST, "{\"name\":\"Followed\",\"title\":\"F\\u00fcr Alice\"}",
	     life->followed, "/v2/rooms");
	done(world, METHOD_POST, own_recording, life->own, "/v2/rooms");
	done(world, METHOD_POST, "{\"name\":\"gone\"}", gone, "/v2/rooms");
	done(world, METHOD_POST, "{\"name\":\"moved\"}", life->moved, "/v2/rooms");
	(void)snprintf(body, sizeof body, "{\"template_id\":\"%s\",\"description\":\"d\"}",
		       life->two);
	done(world, METHOD_POST, body, life->off, "/v2/rooms");
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s", life->followed);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s", life->moved);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s", gone);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s/role/host", life->own);
	done(world, METHOD_POST, NULL, NULL, "/v2/room-codes/room/%s/role/guest", life->own);
	/* Its place in the list stays empty. */
	done(world, METHOD_POST, "{\"code\":\"gone-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/host", life->own);
	done(world, METHOD_DELETE, NULL, NULL, "/v2/room-codes/code/%s", "gone-words");
	done(world, METHOD_POST, limited_code, NULL, "/v2/room-codes/room/%s/role/host", life->own);
	done(world, METHOD_POST, "{\"code\":\"own-words\",\"user_id\":\"u\"}", NULL, "/v2/token");
	done(world, METHOD_POST, "{\"max_uses\":1,\"label\":\"l\"}", NULL,
	     "/v2/room-codes/room/%s/role/guest", life->own);
	done(world, METHOD_POST, "{\"grace_seconds\":1}", NULL,
	     "/v2/room-codes/room/%s/role/host/rotate", life->own);
	done(world, METHOD_POST, "{\"code\":\"gone-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/host", gone);
	done(world, METHOD_PATCH,
	     "{\"opens_at\":\"2020-01-01T00:00:00Z\",\"closes_at\":\"2990-01-01T00:00:00Z\"}", NULL,
	     "/v2/rooms/%s", life->own);
	done(world, METHOD_DELETE, NULL, NULL, "/v2/rooms/%s", gone);
	done(world, METHOD_PATCH, "{\"name\":\"chief\"}", NULL, "/v2/templates/%s/roles/host",
	     life->one);
	done(world, METHOD_DELETE, NULL, NULL, "/v2/templates/%s/roles/guest", life->one);
	done(world, METHOD_PATCH, body, NULL, "/v2/rooms/%s", life->moved);
	done(world, METHOD_PATCH, "{\"enabled\":false}", NULL, "/v2/rooms/%s", life->off);
	/* The text of its template has a warning. */
	done(world, METHOD_POST, "{\"admission\":\"ask\"}", NULL, "/v2/templates/%s/roles/late",
	     life->one);
	meet(world, life->followed, life->livekit);
	(void)snprintf(body, sizeof body, "{\"user_id\":\"m\",\"room_id\":\"%s\"}", life->own);
	done(world, METHOD_POST, body, NULL, "/v2/bans");
	done(world, METHOD_POST,
	     "{\"user_id\":\"m\",\"reason\":\"noise\",\"expires_at\":\"2990-01-01T00:00:00Z\"}",
	     NULL, "/v2/bans");
	done(world, METHOD_POST, "{\"code\":\"banned-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/extra", life->followed);
	done(world, METHOD_POST, "{\"code\":\"banned-words\"}", NULL, "/v2/bans");
	done(world, METHOD_PATCH, "{\"enabled\":true}", NULL, "/v2/room-codes/code/%s",
	     "banned-words");
	done(world, METHOD_POST, "{\"user_id\":\"gone\"}", made, "/v2/bans");
	done(world, METHOD_DELETE, NULL, NULL, "/v2/bans/%s", made);
	done(world, METHOD_POST,
	     "{\"code\":\"waiting-words\",\"user_id\":\"w\",\"admission\":\"ask\"}", NULL,
	     "/v2/room-codes/room/%s/role/extra", life->followed);
	done(world, METHOD_POST, "{\"code\":\"waiting-words\",\"wait\":true}", NULL, "/v2/token");
}

/* What the life left, for all tests of a case. */
static struct {
	struct life life;
	char *directory;
	int64_t ended; /* by its clock */
} left;

/* No thread of the world is left when Check forks. */
static void set_up_life(void)
{
	struct world world;

	fault = FAULT_INITIAL;
	world_open(&world);
	live_once(&world, &left.life);
	left.ended = clock_now(&world.clock.clock);
	left.directory = world_leave(&world);
}

static void tear_down_life(void)
{
	directory_remove(left.directory);
}

/* Makes the world, which is new, one in which the life has just been lived. */
static void live(struct world *world, struct life *life)
{
	world_close(world);
	world_open_in(world, directory_copy(left.directory), left.ended - clock_now(&clock_system));
	*life = left.life;
}

/* The paths whose GET responses are compared, one per line. */
static const char *const shown[] = {
	"/v2/templates?limit=100",
	"/v2/templates?default=true",
	"/v2/rooms?limit=100",
	"/v2/rooms?enabled=false",
	"/v2/templates/%s",
	"/v2/templates/%s/settings",
	"/v2/templates/%s/roles",
	"/v2/templates/%s/destinations",
	"/v2/templates/%s/recordings",
	"/v2/rooms?template_id=%s",
	"/v2/signing-keys",
	"/v2/backends",
	"/v2/keys",
	"/v2/webhooks",
	"/v2/bans",
	"/v2/bans?user_id=m",
};

static void compare_shown(const char *ids[], size_t n)
{
	for (size_t i = 0; i < ROWS(shown); i++) {
		for (size_t j = 0; j < n; j++) {
			struct arena *arena = arena_open();
			const char *place = strstr(shown[i], "%s");
			size_t before = place == NULL ? strlen(shown[i])
						      : (size_t)(place - shown[i]);
			const char *path = arena_text(arena, "%.*s%s%s", (int)before, shown[i],
						      place == NULL ? "" : ids[j],
						      place == NULL ? "" : place + 2);
			char *first = answer_of(&one, "a", METHOD_GET, path, NULL);
			char *second = answer_of(&other, "a", METHOD_GET, path, NULL);

			ck_assert(first[0] == '{' || first[0] == '[');
			ck_assert_msg(strcmp(first, second) == 0, "%s:\n%s\n%s", path, first,
				      second);
			free(first);
			free(second);
			arena_close(arena);
		}
	}
}

/* ---- dumps ---- */

#define LINES_MOST 1200

struct lines {
	struct transfer_output output;
	struct world *busy; /* changes during the dump, or NULL */
	size_t changes;
	char *lines[LINES_MOST];
	size_t count;
	bool is_read_again; /* after each line, all lines of the transaction again */
	bool is_committed; /* each line is its own transaction */
	size_t lost; /* counted by keep_lost */
	char said[1000]; /* what was lost */
};

static bool keep_line(struct transfer_output *output, struct slice line, struct fault *unused)
{
	struct lines *lines = (struct lines *)output;

	(void)unused;
	ck_assert_uint_lt(lines->count, ROWS(lines->lines));
	lines->lines[lines->count] = malloc(line.size + 1);
	ck_assert_ptr_nonnull(lines->lines[lines->count]);
	memcpy(lines->lines[lines->count], line.data, line.size);
	lines->lines[lines->count++][line.size] = '\0';
	if (lines->busy != NULL) {
		char path[40];

		(void)snprintf(path, sizeof path, "{\"name\":\"busy%zu\"}", lines->changes++);
		done(lines->busy, METHOD_POST, path, NULL, "/v2/templates");
		done(lines->busy, METHOD_POST, path, NULL, "/v2/rooms");
		done(lines->busy, METHOD_POST, "{\"name\":\"busy0\"}", NULL, "/v2/templates");
	}
	return true;
}

static void keep_lost(struct transfer_output *output, const char *what, const char *why)
{
	struct lines *lines = (struct lines *)output;
	const size_t size = strlen(lines->said);

	lines->lost++;
	(void)snprintf(lines->said + size, sizeof lines->said - size, "%s: %s\n", what, why);
}

static void free_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i]);
}

/* Dumps over a second opening of the store, while a service has it open, as the command does. */
static bool try_dump(struct world *world, struct lines *lines, struct fault *why)
{
	struct store *store;
	struct roster *roster;
	struct survey survey;
	bool is_dumped;

	lines->output.line = keep_line;
	world_open_store(world, true, &store);
	ck_assert(accounts_list(world->directory, &roster, &fault));
	ck_assert(survey_open(store, &clock_system, &survey, &fault));
	is_dumped = transfer_write(&survey, roster, NULL, &lines->output, why);
	survey_close(&survey);
	roster_close(roster);
	store_close(store);
	return is_dumped;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Dumps the world. Lines of `words` have no particular order, so they are sorted. */
static void dump(struct world *world, struct lines *lines)
{
	static const char words[] = "{\"words\"";
	size_t first = 0, end;

	ck_assert_msg(try_dump(world, lines, &fault), "%s %s", fault.message, fault.cause);
	while (first < lines->count && strncmp(lines->lines[first], words, sizeof words - 1) != 0)
		first++;
	for (end = first;
	     end < lines->count && strncmp(lines->lines[end], words, sizeof words - 1) == 0;)
		end++;
	qsort(&lines->lines[first], end - first, sizeof lines->lines[0], compare_lines);
}

struct saying {
	struct record_findings findings;
	char *said;
};

/* Abandons the transaction and reads its lines again, from `first` to `at`. */
static bool read_again(struct transfer_input *input, const struct transfer_input *mark,
		       const struct lines *lines, size_t first, size_t at, struct fault *why)
{
	bool is_read = true;

	store_abandon(input->call.transaction);
	transfer_input_back(input, mark);
	arena_reset(input->call.arena);
	ck_assert(store_begin(mark->environment.store, STORE_WRITE, input->call.arena,
			      &input->call.transaction, &fault));
	for (size_t i = first; is_read && i <= at; i++) {
		findings_open(&input->call.findings, input->call.arena);
		is_read = transfer_read_line(input, slice_of(lines->lines[i]), why);
	}
	return is_read;
}

/* Commits the lines so far, as at the end of a batch. */
static void commit_lines(struct transfer_input *input, struct transfer_input *mark)
{
	uint64_t number;

	ck_assert(store_commit(input->call.transaction, &number, &fault));
	arena_reset(input->call.arena);
	ck_assert(store_begin(input->environment.store, STORE_WRITE, input->call.arena,
			      &input->call.transaction, &fault));
	*mark = *input;
}

static void say_finding(struct record_findings *findings, const char *kind, const char *key,
			const char *problem)
{
	struct saying *saying = (struct saying *)findings;
	const size_t size = strlen(saying->said);

	(void)snprintf(saying->said + size, 2000 - size, "\n%s %s: %s", kind, key, problem);
}

/* Checks that the loaded records fit together. If they do not, returns false with the findings in
 * *said; the world is then empty again. */
static bool verify(struct world *world, const struct transfer_input *input, char said[2000])
{
	struct saying saying = { .findings.tell = say_finding, .said = said };
	struct fault why = FAULT_INITIAL;
	struct survey survey;
	bool is_right;

	ck_assert(survey_open(world->environment.store, &clock_system, &survey, &fault));
	is_right = transfer_verify(&survey, input, &saying.findings, &why);
	if (!is_right && saying.findings.count == 0)
		(void)snprintf(said, 2000, "%s", fault_reason(&why));
	survey_close(&survey);
	return is_right;
}

/* Loads the lines in one transaction, unless `lines` says otherwise. On a fault, returns false with
 * the line in *at and the details in *said. */
static bool load(struct world *world, const struct lines *lines, size_t *at, char said[2000])
{
	struct store *store = world->environment.store;
	struct transfer_input input, mark;
	struct arena *arena = arena_open();
	struct roster *roster;
	struct fault why = FAULT_INITIAL;
	uint64_t number;
	size_t first = 0; /* first line of the transaction */
	bool is_loaded = true, is_unfit = false;

	said[0] = '\0';
	ck_assert(accounts_list(world->directory, &roster, &fault));
	transfer_input_open(&input, store, &clock_system, roster);
	input.call.arena = arena;
	arena_set_limit(arena, SURVEY_ARENA_MOST);
	ck_assert(store_begin(store, STORE_WRITE, arena, &input.call.transaction, &fault));
	mark = input;
	for (*at = 0; is_loaded && *at < lines->count; ++*at) {
		findings_open(&input.call.findings, arena);
		is_loaded = transfer_read_line(&input, slice_of(lines->lines[*at]), &why) &&
			    (!lines->is_read_again ||
			     read_again(&input, &mark, lines, first, *at, &why));
		if (is_loaded && lines->is_committed) {
			commit_lines(&input, &mark);
			first = *at + 1;
		}
	}
	is_loaded = is_loaded && transfer_read_end(&input, &why);
	if (is_loaded) {
		ck_assert(store_commit(input.call.transaction, &number, &fault));
		ck_assert(store_wait(store, number, &fault));
		is_loaded = verify(world, &input, said);
		if (is_loaded)
			ck_assert(accounts_restore(world->directory, input.accounts,
						   (size_t)input.counts.accounts, &fault));
		else
			is_unfit = true;
	} else {
		store_abandon(input.call.transaction);
		(void)snprintf(said, 2000, "%s %s", why.message, why.detail);
		for (size_t i = 0; i < json_array_size(why.details); i++)
			(void)snprintf(said + strlen(said), 2000 - strlen(said), "\n%s",
				       json_string_value(json_array_get(why.details, i)));
	}
	transfer_input_close(&input);
	roster_close(roster);
	arena_close(arena);
	if (is_unfit) {
		world_close(world);
		world_open(world);
	}
	return is_loaded;
}

static void load_whole(struct world *world, const struct lines *lines)
{
	char said[2000];
	size_t at;

	ck_assert_msg(load(world, lines, &at, said), "line %zu: %s", at, said);
}

/* Compares all lines except the first, which contains the time. */
static void compare_dumps(const struct lines *first, const struct lines *second)
{
	ck_assert_uint_eq(first->count, second->count);
	for (size_t i = 1; i < first->count; i++)
		ck_assert_str_eq(first->lines[i], second->lines[i]);
}

/* Sorts all lines except the first. */
static void sort_lines(struct lines *lines)
{
	qsort(&lines->lines[1], lines->count - 1, sizeof lines->lines[1], compare_lines);
}

/* ---- check ---- */

struct counting {
	struct record_findings findings;
	unsigned count;
	char said[800]; /* text of the last finding */
	struct survey *survey;
	const struct store_kind *kind;
};

static void count_finding(struct record_findings *findings, const char *kind, const char *key,
			  const char *problem)
{
	struct counting *counting = (struct counting *)findings;

	counting->count++;
	ck_assert_msg(problem[0] != ':', "%s", problem);
	(void)snprintf(counting->said, sizeof counting->said, "%s %s: %s", kind, key, problem);
}

static void count_problem(void *context, const char *problem)
{
	count_finding(context, "index", "", problem);
}

static bool look_at(void *context, const struct store_record *record, struct fault *unused)
{
	struct counting *counting = context;

	(void)unused;
	record_findings_tell_stored(counting->survey, counting->kind, record, &counting->findings);
	return true;
}

static struct counting checked(struct world *world)
{
	struct counting counting = { .findings.tell = count_finding };
	struct fault why = FAULT_INITIAL;
	struct roster *roster;
	struct survey survey;

	ck_assert(accounts_list(world->directory, &roster, &fault));
	ck_assert(survey_open(world->environment.store, &clock_system, &survey, &fault));
	counting.findings.roster = roster;
	counting.survey = &survey;
	for (int i = 0; i < KINDS; i++) {
		why = FAULT_INITIAL;
		counting.kind = all_kinds[i];
		if (!store_gdbm_walk(survey.call.transaction, all_kinds[i], look_at, &counting,
				     &why))
			count_problem(&counting, why.cause);
	}
	ck_assert(store_gdbm_check_indexes(survey.call.transaction, all_kinds, KINDS, count_problem,
					   &counting, &fault));
	json_decref(counting.findings.unknown_accounts);
	survey_close(&survey);
	roster_close(roster);
	return counting;
}

static void sound(struct world *world)
{
	struct counting counting = checked(world);

	ck_assert_msg(counting.count == 0, "%u findings, the last: %s", counting.count,
		      counting.said);
}

/* ---- tests of transfer ---- */

static char *text_of_manual(struct arena *arena)
{
	const char *source = getenv("SOURCE_DIR");
	FILE *file = fopen(
		arena_text(arena, "%s/packaging/man/anteroom.1", source != NULL ? source : ".."),
		"r");
	char *text = arena_zero(arena, 1 << 20);

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
	fclose(file);
	return text;
}

/* Returns true if the name is a word of the text. */
static bool has_word(const char *text, const char *end, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
	const size_t size = strlen(name);

	while ((text = strstr(text, name)) != NULL && text < end) {
		if (strchr(letters, text[-1]) == NULL && strchr(letters, text[size]) == NULL)
			return true;
		text += size;
	}
	return false;
}

static void find_members(const char *line, const struct record_table *table, const char *text,
			 const char *end)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];

		if ((member->flags & MEMBER_DERIVED) != 0 || member->kind == MEMBER_ETAG)
			continue;
		ck_assert_msg(has_word(text, end, member->name), "%s: %s", line, member->name);
		if (member->items != NULL)
			find_members(line, member->items, text, end);
	}
}

/* The manual documents each line of a dump, with its members. */
START_TEST(the_manual_has_all_members)
{
	struct arena *arena = arena_open();
	const char *text = strstr(text_of_manual(arena), ".Sh DUMP LINES");

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const char *line = record_kinds[i]->line, *item, *end;

		if (line == NULL)
			continue;
		item = strstr(text, arena_text(arena, "\n.It Li %s\n", line));
		ck_assert_msg(item != NULL, "%s", line);
		end = strstr(item + 1, "\n.It ");
		find_members(line, record_kinds[i]->table, item + 1,
			     end != NULL ? end : strstr(item, "\n.El"));
	}
	arena_close(arena);
}
END_TEST

START_TEST(a_loaded_store_answers_as_before)
{
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct life life;

	live(&one, &life);
	sound(&one);
	dump(&one, &first);
	load_whole(&other, &first);
	dump(&other, &second);
	compare_dumps(&first, &second);
	compare_shown((const char *[]){ life.one, life.two }, 2);
	sound(&other);
	free_lines(&first);
	free_lines(&second);
}
END_TEST

/* Returns the stays in a room that are found by an entry, such as "PA_2 PA_3". */
static const char *stays_of(struct world *world, const char *room, const char *entry,
			    char said[100])
{
	const struct id room_id = parsed_id(room), id = inside_id(&room_id, slice_of(entry));
	struct inside inside;
	struct peer peer;
	struct call call;

	said[0] = '\0';
	begin_call(world, &call);
	ck_assert(record_get(&inside_table, call.transaction, &id, STORE_TO_SHOW, &inside, &fault));
	for (size_t i = 0; i < inside.stay_count; i++) {
		const size_t size = strlen(said);

		ck_assert(record_get_named(&peer_table, call.transaction, inside.stays[i].uuid,
					   STORE_TO_SHOW, &peer, &fault));
		(void)snprintf(said + size, 100 - size, "%s%.*s", i > 0 ? " " : "",
			       (int)peer.stay.size, peer.stay.data);
	}
	abandon_call(&call);
	return said;
}

/* What is not in a dump follows from it: who is found by an entry, what the account has now, the
 * account of a media server. */
START_TEST(live_rooms_go_on_as_before)
{
	static const struct told after[] = {
		{ NEWS_LEFT, "PA_2", "speaker", "e1", false },
		{ NEWS_JOINED, "PA_7", "speaker", "e1", false },
	};
	struct lines dumped = { .count = 0 };
	struct backend_account found;
	struct usage_now used;
	struct live in_session;
	struct life life;
	struct id backend;
	struct call call;
	char said[100];

	live(&one, &life);
	ck_assert_str_eq(stays_of(&one, life.followed, "e1", said), "PA_2 PA_3");
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert_str_eq(stays_of(&other, life.followed, "e1", said), "PA_2 PA_3");
	ck_assert_str_eq(stays_of(&other, life.followed, "e2", said), "PA_4");
	ck_assert_str_eq(stays_of(&other, life.followed, "e3", said), "PA_5");
	ck_assert_str_eq(stays_of(&other, life.followed, "e4", said), "");
	backend = parsed_id(life.livekit);
	begin_call(&other, &call);
	ck_assert(record_get(&usage_now_table, call.transaction, &kind_only_id, STORE_TO_SHOW,
			     &used, &fault));
	ck_assert_uint_eq(used.sessions, 1);
	ck_assert_uint_eq(used.peers, 4);
	store_set_account(call.transaction, &audit_no_account);
	ck_assert(record_get(&backend_account_table, call.transaction, &backend, STORE_TO_SHOW,
			     &found, &fault));
	ck_assert_ptr_nonnull(found.stored.value.data);
	ck_assert_int_eq(id_compare(&found.account, &call.account), 0);
	abandon_call(&call);
	other.clock.offset = one.clock.offset;
	tell_news(&other, life.followed, life.livekit, after, ROWS(after));
	ck_assert_str_eq(stays_of(&other, life.followed, "e1", said), "PA_3 PA_7");
	begin_call(&other, &call);
	backend = parsed_id(life.followed);
	ck_assert(live_load(&call, &backend, STORE_TO_SHOW, &in_session, &fault));
	ck_assert_uint_eq(live_peers(&in_session), 4);
	ck_assert_uint_eq(in_session.role_count, 3);
	abandon_call(&call);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

#define CROWD (2 * GARBAGE_AT_ONCE + 60)

/* Removes the session of the room and some of its peers. */
static void remove_session(struct world *world, const struct id *room)
{
	struct store_record record, stored;
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.parent = room,
		.records = &record,
		.most = 1,
	};
	struct call call;

	begin_call(world, &call);
	ck_assert(store_page(call.transaction, &kind_session, &page, &fault));
	ck_assert_uint_eq(page.count, 1);
	ck_assert(store_get(call.transaction, &kind_session, &record.id, STORE_TO_CHANGE, &stored,
			    &fault));
	ck_assert(store_remove(call.transaction, &kind_session, &stored, &fault));
	ck_assert(garbage_add(&call, GARBAGE_SESSION, &record.id, &fault));
	commit_call(&call);
}

/* Returns how many records of a kind the account has, all accounts together. */
static uint64_t count_records(struct world *world, const struct store_kind *kind)
{
	struct arena *arena = arena_open();
	struct transaction *transaction;
	uint64_t count;

	ck_assert(store_begin(world->environment.store, STORE_READ, arena, &transaction, &fault));
	ck_assert(store_count(transaction, &kind, 1, &count, &fault));
	store_abandon(transaction);
	arena_close(arena);
	return count;
}

/* The peers of a session that is forgotten are removed some at a time; those that are still there
 * are in no dump. */
START_TEST(peers_of_a_forgotten_session_are_removed)
{
	struct lines dumped = { .count = 0 };
	struct news news[CROWD + 1];
	char stays[CROWD][10];
	struct life life;
	struct call call;
	struct merging merging = { .news = news, .count = CROWD + 1 };
	bool is_closing = true;
	uint64_t others;

	live(&one, &life);
	others = count_records(&one, &kind_peer);
	for (size_t i = 0; i < CROWD; i++) {
		(void)snprintf(stays[i], sizeof stays[i], "PB_%zu", i);
		news[i] = (struct news){
			.type = NEWS_JOINED,
			.room.id = SLICE("RM_2"),
			.person = { .stay = slice_of(stays[i]), .joined = 1000 },
			.time = 1000,
		};
	}
	news[CROWD] = (struct news){ .type = NEWS_ENDED, .room.id = SLICE("RM_2"), .time = 2000 };
	merging.room = parsed_id(life.own);
	merging.backend = parsed_id(life.livekit);
	begin_call(&one, &call);
	ck_assert(live_merge(&call, &merging, &fault));
	/* Their events are not wanted here. */
	call.run.noted = (struct notes){ .count = 0 };
	commit_call(&call);
	while (is_closing) {
		begin_call(&one, &call);
		ck_assert(live_close_on(&call, &merging.room, false, &is_closing, &fault));
		call.run.noted = (struct notes){ .count = 0 };
		commit_call(&call);
	}
	ck_assert_uint_eq(count_records(&one, &kind_peer), others + CROWD);
	remove_session(&one, &merging.room);
	ck_assert_uint_eq(count_records(&one, &kind_peer), others + CROWD - GARBAGE_AT_ONCE);
	sound(&one);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert_uint_eq(count_records(&other, &kind_peer), others);
	sound(&other);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(count_records(&one, &kind_garbage), 1);
		begin_call(&one, &call);
		ck_assert(garbage_collect(&call, &fault));
		commit_call(&call);
		sound(&one);
	}
	ck_assert_uint_eq(count_records(&one, &kind_garbage), 0);
	ck_assert_uint_eq(count_records(&one, &kind_peer), others);
	free_lines(&dumped);
}
END_TEST

/* ---- values that are stored as they were sent ---- */

#define TEN_OPEN "[[[[[[[[[["
#define TEN_CLOSE "]]]]]]]]]]"

/* Hostile values, each as an item of an array. The last one has the greatest depth allowed for an
 * item. */
static const char *const hostile[] = {
	"null",
	"1.7976931348623157e308",
	"-1.7976931348623157e308",
	"0.12345678901234566",
	"6267453810119131.2",
	"-9007199254740990.7",
	"4503599627370495.5",
	"9007199254740993.0",
	"9223372036854775807",
	"-9223372036854775808",
	"5e-324",
	"1e-400",
	"-0.0",
	"123456789012345678901234567890e5",
	"\"\\u0001\\\"\\\\\\ud83d\\ude00\\u007f%s%n</script>\"",
	"{\"\":{\"__proto__\":[],\"a/b~c\":\"\"},\"\xc3\xa4\":[{}]}",
	"{\"id\":1,\"credentials\":{\"secret\":null},\"name\":\"\\n\"}",
	"[" TEN_OPEN TEN_OPEN "[[[[[[["
	"]]]]]]]" TEN_CLOSE TEN_CLOSE "]",
};

#define GENERATED 40

struct random {
	uint64_t state;
};

static uint64_t random_below(struct random *random, uint64_t bound)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state % bound;
}

static void append_number(struct random *random, struct buffer *text)
{
	const uint64_t bits = random_below(random, UINT64_MAX);
	double real;

	memcpy(&real, &bits, sizeof real);
	if (random_below(random, 3) == 0 || !(real - real == 0.0))
		buffer_append_text(text, arena_text(text->arena, "%lld", (long long)bits));
	else if (random_below(random, 2) == 0)
		buffer_append_text(text, arena_text(text->arena, "%.17g", real));
	else /* between 2^50 and 2^54, with a fraction */
		buffer_append_text(text, arena_text(text->arena, "%llu.%u",
						    (1ULL << 50) + (unsigned long long)(bits >> 10),
						    (unsigned)random_below(random, 1000)));
}

static void append_value(struct random *random, struct buffer *text, int depth)
{
	static const char *const strings[] = {
		"\"\"",	      "\"\\u0001x\"", "\"\\ud800\\udc00\"", "\"\xf0\x9f\x98\x80\"",
		"\"\\t\\/\"", "true"
	};
	const uint64_t kind = random_below(random, depth == 0 ? 4 : 8);
	const uint64_t count = random_below(random, 4);

	if (kind < 3)
		append_number(random, text);
	else if (kind == 3)
		buffer_append_text(text, strings[random_below(random, ROWS(strings))]);
	else if (kind < 6) {
		buffer_append_byte(text, '[');
		for (uint64_t i = 0; i < count; i++) {
			if (i > 0)
				buffer_append_byte(text, ',');
			append_value(random, text, depth - 1);
		}
		buffer_append_byte(text, ']');
	} else {
		buffer_append_byte(text, '{');
		for (uint64_t i = 0; i < count; i++) {
			buffer_append_text(
				text,
				arena_text(text->arena, "%s\"k%u\\u00%02x\":", i > 0 ? "," : "",
					   (unsigned)i, (unsigned)random_below(random, 256) | 1));
			append_value(random, text, depth - 1);
		}
		buffer_append_byte(text, '}');
	}
}

/* Returns the array with the i-th value: those of the table, then generated values, always the
 * same. */
static const char *hostile_array(struct arena *arena, size_t i)
{
	struct random random = { .state = 0x9e3779b97f4a7c15 + i };
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append_byte(&text, '[');
	if (i < ROWS(hostile))
		buffer_append_text(&text, hostile[i]);
	else
		append_value(&random, &text, 12);
	buffer_append(&text, (struct slice){ "]", 2 });
	return text.data;
}

/* Expects the response to a GET of the path to have this value, given as JSON text, at `member`
 * (below `outer`, unless that is NULL). */
static void expect_kept(struct world *world, const char *path, const char *outer,
			const char *member, const char *sent)
{
	char *text = answer_of(world, "a", METHOD_GET, path, NULL);
	json_t *answer = json_loads(text, 0, NULL), *expected = json_loads(sent, 0, NULL);
	json_t *within = outer == NULL ? answer : json_object_get(answer, outer);
	json_t *kept = json_object_get(within, member);

	ck_assert_msg(expected != NULL, "%s", sent);
	ck_assert_msg(kept != NULL && json_same_value(kept, expected), "%s: %s was sent\n%s", path,
		      sent, text);
	json_decref(expected);
	json_decref(answer);
	free(text);
}

/* Expects the same response from both worlds. */
static void expect_alike(const char *path)
{
	char *first = answer_of(&one, "a", METHOD_GET, path, NULL);
	char *second = answer_of(&other, "a", METHOD_GET, path, NULL);

	ck_assert_int_eq(first[0], '{');
	ck_assert_msg(strcmp(first, second) == 0, "%s:\n%s\n%s", path, first, second);
	free(first);
	free(second);
}

/* Sends the value through every endpoint that accepts it, and then makes a write that reads it
 * back. */
static void send_hostile(struct arena *arena, const char *array, char template[25],
			 char rooms[3][25])
{
	const char *object = arena_text(arena, "{\"o\":%s}", array);
	char *answer;

	/* This has the greatest depth of a body; an item in an object is one level higher. */
	if (strstr(array, "[[[[[[[") != NULL)
		object = arena_text(arena, "{\"o\":%.*s}", (int)strlen(array) - 2, array + 1);
	done(&one, METHOD_POST, "{\"roles\":{\"host\":{}}}", template, "/v2/templates");
	done(&one, METHOD_POST, arena_text(arena, "{\"transcriptions\":%s}", object), NULL,
	     "/v2/templates/%s/destinations", template);
	done(&one, METHOD_PATCH, arena_text(arena, "{\"plugins\":%s}", object), NULL,
	     "/v2/templates/%s", template);
	done(&one, METHOD_PATCH, "{\"settings\":{\"region\":\"us\"}}", NULL, "/v2/templates/%s",
	     template);
	done(&one, METHOD_POST,
	     arena_text(arena, "{\"template_id\":\"%s\",\"polls\":%s,\"webhook\":%s}", template,
			array, object),
	     rooms[0], "/v2/rooms");
	done(&one, METHOD_POST, arena_text(arena, "{\"template_id\":\"%s\"}", template), rooms[1],
	     "/v2/rooms");
	done(&one, METHOD_PATCH, arena_text(arena, "{\"polls\":%s,\"webhook\":%s}", array, object),
	     NULL, "/v2/rooms/%s", rooms[1]);
	/* In the body of a bulk request or import, the value would be too deep. */
	if (strstr(array, "[[[[[[[") != NULL)
		array = "[[]]";
	answer = answer_of(&one, "a", METHOD_POST, "/v2/import",
			   arena_text(arena,
				      "{\"rooms\":[{\"id\":\"5f000000%.16s\",\"name\":\"%s\","
				      "\"template_id\":\"%s\",\"polls\":%s}]}",
				      rooms[0] + 8, rooms[0], template, array));
	ck_assert_msg(answer[0] == '{', "%s", answer);
	free(answer);
	(void)snprintf(rooms[2], sizeof rooms[2], "5f000000%.16s", rooms[0] + 8);
	expect_kept(&one, arena_text(arena, "/v2/rooms/%s", rooms[2]), NULL, "polls", array);
	done(&one, METHOD_POST,
	     arena_text(arena,
			"{\"operations\":[{\"method\":\"PATCH\",\"path\":\"/v2/rooms/%s\",\"body\":"
			"{\"webhook\":{\"o\":%s}}},{\"method\":\"PATCH\",\"path\":\"/v2/rooms/%s\","
			"\"body\":{\"description\":\"b\"}}]}",
			rooms[2], array, rooms[0]),
	     NULL, "/v2/bulk");
	for (size_t i = 0; i < 3; i++)
		done(&one, METHOD_PATCH, "{\"description\":\"d\"}", NULL, "/v2/rooms/%s", rooms[i]);
	expect_kept(&one, arena_text(arena, "/v2/rooms/%s", rooms[2]), "webhook", "o", array);
}

/* Whatever a client may send is returned unchanged, also after the next write, after reopening the
 * store, and after a dump and load; check finds nothing in either store. */
START_TEST(values_are_returned_as_they_were_sent)
{
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct arena *arena = arena_open();
	const char *paths[1000];
	size_t n = 0;

	add_accounts(&one);
	for (size_t i = 0; i < ROWS(hostile) + GENERATED; i++) {
		const char *array = hostile_array(arena, i);
		char template[25], rooms[3][25];

		send_hostile(arena, array, template, rooms);
		for (size_t k = 0; k < 3; k++)
			paths[n++] = arena_text(arena, "/v2/rooms/%s", rooms[k]);
		expect_kept(&one, paths[n - 2], NULL, "polls", array);
		expect_kept(&one, paths[n - 3], NULL, "polls", array);
		paths[n++] = arena_text(arena, "/v2/templates/%s", template);
		paths[n++] = arena_text(arena, "/v2/templates/%s/destinations", template);
		if (i == ROWS(hostile) - 1 || (i + 1) % 12 == 0)
			sound(&one);
	}
	dump(&one, &first);
	load_whole(&other, &first);
	dump(&other, &second);
	compare_dumps(&first, &second);
	sound(&other);
	for (size_t i = 0; i < n; i++)
		expect_alike(paths[i]);
	world_reopen(&one);
	for (size_t i = 0; i < n; i++)
		expect_alike(paths[i]);
	free_lines(&first);
	free_lines(&second);
	arena_close(arena);
}
END_TEST

/* Returns the codes of a room, without the letters of codes created after the dump. */
static json_t *codes_of(struct world *world, const char *room, const struct lines *dumped)
{
	char path[100], *text;
	json_t *list, *code;
	size_t i;

	(void)snprintf(path, sizeof path, "/v2/room-codes/room/%s?limit=100", room);
	text = answer_of(world, "a", METHOD_GET, path, NULL);
	list = json_loads(text, 0, NULL);
	ck_assert_msg(list != NULL, "%s", text);
	(void)json_object_del(list, "last");
	json_array_foreach(json_object_get(list, "data"), i, code) {
		bool is_old = false;

		for (size_t j = 0; j < dumped->count; j++)
			is_old = is_old ||
				 strstr(dumped->lines[j],
					json_string_value(json_object_get(code, "code"))) != NULL;
		if (!is_old)
			(void)json_object_del(code, "code");
	}
	free(text);
	return list;
}

static void compare_codes(const char *room, const struct lines *dumped, size_t count)
{
	json_t *first = codes_of(&one, room, dumped);
	json_t *second = codes_of(&other, room, dumped);

	ck_assert_uint_eq(json_array_size(json_object_get(first, "data")), count);
	ck_assert_msg(json_equal(first, second) == 1, "%s", json_dumps(second, 0));
	json_decref(first);
	json_decref(second);
}

/* Makes the request in both worlds at nearly the same time; times set by it are not compared. */
static void both(enum method method, const char *body, const char *format, const char *id)
{
	char path[200], *first, *second;

	(void)snprintf(path, sizeof path, "%s", format);
	(void)snprintf(path + strlen(path), sizeof path - strlen(path), "%s", id);
	first = answer_of(&one, "a", method, path, body);
	second = answer_of(&other, "a", method, path, body);
	ck_assert_int_eq(first[0], second[0]);
	free(first);
	free(second);
}

/* Leaves events without a number in the queue, as responders do that share a database. */
static void enqueue_events(struct world *world, const char *name, size_t n)
{
	struct arena *arena = arena_open();
	const struct audit_entry entry = {
		.time = clock_now(&clock_system),
		.id = SLICE("3f0c4d3e-8f8c-4ab1-9b5f-2f7f6d1f0a11"),
		.type = SLICE("room.created"),
		.actor = SLICE("{\"type\":\"service\"}"),
		.request_id = SLICE("r"),
		.data = SLICE("{}"),
	};
	const struct roster *roster;
	struct transaction *transaction;
	uint64_t number;

	ck_assert(store_begin(world->environment.store, STORE_WRITE, arena, &transaction, &fault));
	store_set_account(transaction, &account_of(world, name, &roster)->id);
	accounts_release(world->environment.accounts, roster);
	for (size_t i = 0; i < n; i++)
		ck_assert(audit_enqueue(transaction, &clock_system, &entry, 1,
					clock_now(&clock_system) + (int64_t)i, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(world->environment.store, number, &fault));
	arena_close(arena);
}

/* A dump numbers the events that wait for a number, whether their account has a log yet or not. */
START_TEST(queued_events_are_dumped)
{
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct life life;
	char *events;

	live(&one, &life);
	enqueue_events(&one, "a", 3);
	enqueue_events(&one, "b", 2);
	dump(&one, &first);
	load_whole(&other, &first);
	sound(&other);
	dump(&other, &second);
	/* The first dump has them at the end of their account. */
	sort_lines(&first);
	sort_lines(&second);
	compare_dumps(&first, &second);
	events = answer_of(&other, "a", METHOD_GET, "/v2/events?type=room.created&limit=100", NULL);
	ck_assert_ptr_nonnull(strstr(events, "3f0c4d3e-8f8c-4ab1-9b5f-2f7f6d1f0a11"));
	free(events);
	free_lines(&first);
	free_lines(&second);
}
END_TEST

START_TEST(codes_go_on_as_before)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	json_t *first, *second;

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	other.clock.offset = one.clock.offset;
	/* host, guest, extra, one that is banned, and the code for `late`, which is due. */
	compare_codes(life.followed, &dumped, 6);
	/* extra is in both templates; chief and guest were lost; host and only were added by the
	 * move. */
	compare_codes(life.moved, &dumped, 5);
	compare_codes(life.own, &dumped, 5);
	both(METHOD_DELETE, NULL, "/v2/templates/", life.one);
	both(METHOD_PATCH, "{\"roles\":{\"chief\":null,\"guest\":{}}}", "/v2/templates/", life.one);
	first = codes_of(&one, life.followed, &dumped);
	second = codes_of(&other, life.followed, &dumped);
	for (size_t i = 0; i < 5; i++) {
		json_t *a = json_array_get(json_object_get(first, "data"), i);
		json_t *b = json_array_get(json_object_get(second, "data"), i);

		ck_assert_ptr_nonnull(a);
		ck_assert(json_equal(json_object_get(a, "role"), json_object_get(b, "role")) == 1);
		ck_assert(json_equal(json_object_get(a, "enabled"),
				     json_object_get(b, "enabled")) == 1);
		ck_assert_int_eq(json_is_true(json_object_get(a, "enabled")), i >= 2);
	}
	json_decref(first);
	json_decref(second);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

START_TEST(a_dump_shows_one_moment)
{
	struct lines before = { .count = 0 }, busy = { .busy = &one };
	struct life life;

	live(&one, &life);
	dump(&one, &before);
	dump(&one, &busy);
	compare_dumps(&before, &busy);
	ck_assert_uint_eq(busy.changes, busy.count);
	sound(&one);
	load_whole(&other, &busy);
	sound(&other);
	free_lines(&before);
	free_lines(&busy);
}
END_TEST

START_TEST(hidden_members_are_kept)
{
	static const char *const hidden[] = { "\"k1\"", "\"k2\"", "\"k3\"", "\"k4\"",
					      "\"role\":\"host\"" };
	struct lines first = { .count = 0 }, second = { .count = 0 };
	struct life life;

	live(&one, &life);
	dump(&one, &first);
	load_whole(&other, &first);
	/* An upload without credentials keeps stored ones if there are any. */
	done(&other, METHOD_POST,
	     "{\"recording\":{\"upload\":{\"type\":\"s3\",\"location\":\"bucket\",\"prefix\":\"n\"}}}",
	     NULL, "/v2/templates/%s/settings", life.one);
	dump(&other, &second);
	for (size_t i = 0; i < ROWS(hidden); i++) {
		unsigned found = 0;

		for (size_t j = 0; j < second.count; j++)
			found += strstr(second.lines[j], hidden[i]) != NULL &&
				 strncmp(second.lines[j], "{\"event\"", 8) != 0;
		ck_assert_msg(found == 1, "%s", hidden[i]);
	}
	free_lines(&first);
	free_lines(&second);
}
END_TEST

START_TEST(counters_continue)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char first[25], second[25];

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	done(&one, METHOD_POST, "{}", first, "/v2/rooms");
	done(&other, METHOD_POST, "{}", second, "/v2/rooms");
	/* The number in the ID, after eight digits of time. */
	ck_assert_int_eq(memcmp(first + 8, second + 8, 10), 0);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* The times in new IDs do not go back, even if the clock at the new place is behind. */
START_TEST(times_do_not_go_back)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char id[25];

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	other.clock.offset = -1000 * DAY;
	done(&other, METHOD_POST, "{}", id, "/v2/rooms");
	ck_assert_int_ge(strncmp(id, life.off, 8), 0);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* Lists are in the order of IDs, so a new ID never has an earlier second than an older ID, even
 * though its four bytes end in 2106. */
START_TEST(a_clock_beyond_the_ids_hides_nothing)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char id[25];

	live(&one, &life);
	one.clock.offset += (int64_t)UINT32_MAX * 1000;
	for (int i = 0; i < 2; i++) {
		done(&one, METHOD_POST, "{}", id, "/v2/rooms");
		ck_assert_int_eq(strncmp(id, "ffffffff", 8), 0);
		done(&one, METHOD_POST, "{\"name\":\"late\"}", id, "/v2/templates");
		ck_assert_int_eq(strncmp(id, "ffffffff", 8), 0);
		one.clock.offset -= DAY * 1000;
		done(&one, METHOD_DELETE, NULL, NULL, "/v2/templates/%s", id);
	}
	dump(&one, &dumped);
	ck_assert_ptr_nonnull(strstr(dumped.lines[dumped.count - 1], "\"room\":6"));
	load_whole(&other, &dumped);
	sound(&one);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

static size_t line_with(const struct lines *lines, const char *text)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (strstr(lines->lines[i], text) != NULL)
			return i;
	}
	ck_abort_msg("no line contains %s", text);
}

/* See the tests of check. */
struct stored {
	enum store_table table;
	struct slice key, value;
};
static void change(struct world *world, const struct stored *record, struct slice value);

/* Closes the first world and loads the lines into an empty world in its place. */
static void load_anew(const struct lines *lines)
{
	world_close(&one);
	world_open(&one);
	load_whole(&one, lines);
	sound(&one);
}

/* If a code cannot be read, the dump reports it and saves the others. */
START_TEST(other_codes_are_saved_if_one_is_lost)
{
	struct lines whole = { .output.lost = keep_lost }, saved = { .output.lost = keep_lost },
		     first = { .count = 0 }, last = { .count = 0 };
	struct stored lost = { .table = STORE_NAMED };
	char key[14] = "c";
	struct life life;

	live(&one, &life);
	dump(&one, &first);
	dump(&one, &whole);
	ck_assert_uint_eq(whole.lost, 0);
	compare_dumps(&first, &whole);
	memcpy(key + 1, strstr(first.lines[line_with(&first, "{\"code\"")], "\"code\":\"") + 8, 12);
	lost.key = slice_of(key);
	change(&one, &lost, SLICE("s"));
	dump(&one, &saved);
	ck_assert_msg(saved.lost == 1 && strncmp(saved.said, "a room code", 11) == 0, "%s",
		      saved.said);
	ck_assert_uint_eq(saved.count, first.count - 1);
	load_anew(&saved);
	dump(&one, &last);
	compare_dumps(&saved, &last);
	free_lines(&first);
	free_lines(&whole);
	free_lines(&saved);
	free_lines(&last);
}
END_TEST

/* ---- faulty dumps ---- */

static const struct {
	const char *line; /* the first line that contains this */
	const char *from, *to; /* replaced in that line */
	const char *says;
} faulty[] = {
	/* Faults of a single line. */
	{ "{\"dump\"", "\"format\":1", "\"format\":2", "/dump/format: must be" },
	{ "{\"dump\"", "{\"dump\"", "{\"dimp\"", "its beginning is missing" },
	{ "{\"dump\"", "}}", "},\"end\":{\"accounts\":0}}", "a line must have exactly one member" },
	{ "{\"dump\"", "{\"dump\"", "\"dump\"", "Malformed JSON" },
	{ "{\"account\"", "\"name\":\"a\"", "\"name\":\" a\"", "/account/name: must be" },
	{ "{\"account\"", "\"enabled\":", "\"enabbled\":", "/account/enabled: is required" },
	{ "{\"account\"", "\"secret\":\"", "\"secret\":\"!", "/account/secrets/0/secret: must be" },
	{ "{\"account\"", "\"sessions\":false", "\"sessions\":\"off\"",
	  "/account/sessions: must be" },
	{ "{\"account\"", "\"enabled\":", "\"client_url\":\"a\",\"enabled\":",
	  "/account/client_url: must begin with" },
	{ "{\"account\"", "\"created_at\":\"2", "\"created_at\":\"Z",
	  "/account/created_at: must be a time" },
	{ "{\"media\"", "{\"media\"", "{\"medium\"", "/medium: is not a known field" },
	{ "{\"media\"", "\"code_key\":\"", "\"code_key\":\"!",
	  "/media/code_key: must be base64url" },
	{ "{\"media\"", "\"alg\":\"EdDSA\"", "\"alg\":\"ES256\"",
	  "/media/signing_keys/2/private_key: must be a private key for its alg" },
	{ "{\"media\"", "\"retires_at\"", "\"retired_at\"",
	  "/media/signing_keys/0: has an unknown member" },
	{ "{\"media\"", "\"alg\":\"ES256\",", "\"alg\":\"HS256\",",
	  "must be one of the allowed values" },
	{ "\"name\":\"one\"", "\"priority\":2", "\"priority\":9",
	  "/template/roles/chief/priority: must be from 1 to 5" },
	{ "\"name\":\"one\"", "\"name\":\"r\"", "\"name\":\"/\"",
	  "/template/recordings/name: must be 1 to 64" },
	{ "\"name\":\"one\"", "\"name\":\"r\",\"role\":\"chief\"",
	  "\"name\":\"r\",\"role\":\"host\"",
	  "/template/recordings/role: must be a role of the template" },
	{ "\"name\":\"one\"", "\"name\":\"one\"", "\"name\":\"two\"",
	  "another object already has its name" },
	{ "\"name\":\"one\"", "\"name\":\"one\",", "", "/template/name: is required" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":\"1\",",
	  "/template/roles/0/identity: must be an integer" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":0,",
	  "/template/roles/0/identity: must be an integer from 1" },
	{ "\"name\":\"one\"", "\"id\":\"", "\"id\":\"0", "/template/id: must be an ID" },
	{ "{\"template\"", "\"created_at\":\"2", "\"created_at\":\"Z",
	  "/template/created_at: must be a time" },
	{ "{\"template\"", "\"backend\":\"two\"", "\"backend\":\"three\"",
	  "/settings/backend: no such backend" },
	{ "{\"room\"", "\"template_id\":\"", "\"template_id\":\"0",
	  "/room/template_id: must be an ID" },
	{ "{\"room\"", "\"region\":\"", "\"region\":\"x", "/room/document/region: must be one of" },
	{ "{\"room\"", "\"enabled\":false,", "", "/room/document/enabled: is required" },
	{ "\"name\":\"moved\"", "\"name\":\"moved\"", "\"name\":\"FOLLOWED\"",
	  "another object already has its name" },
	{ "\"name\":\"Own\"", "\"size\":5000", "\"size\":50000", "/room/document/size: must be" },
	{ "\"name\":\"Own\"", "\"large_room\":true", "\"large_room\":false",
	  "/room/document/size: must be from 0 to 2500" },
	{ "\"name\":\"Own\"",
	  "\"recording_info\":", "\"recordinginfo\":", "/room/hidden: must have only members" },
	{ "{\"codes\"", "\"groups\":[", "\"x\":[],\"groups\":[", "/codes: has an unknown member" },
	{ "{\"codes\"", "\"asked\":true", "\"asked\":1", "/codes/asked: must be true or false" },
	{ "{\"codes\"", "\"room\":\"", "\"room\":\"000000000000000000000000\",\"x\":\"",
	  "/codes: has an unknown member" },
	{ "own-words", "\"max_uses\":5", "\"max_uses\":0",
	  "/code/max_uses: must be an integer from 1" },
	{ "own-words", "\"code\":\"own-words\"", "\"code\":\"own_words\"", "or a custom code" },
	{ "own-words", "\"group\":", "\"group\":9", "/code/group: must be a group in the line" },
	{ "own-words", "\"metadata\":{", "\"metadata\":[{", "Malformed JSON" },
	{ "\"words\":\"gone-words\"", "gone-words", "gone_words", "or a custom code" },
	{ "{\"words\"", "\"account\":\"", "\"was\":\"", "/words/account: is required" },
	{ "{\"webhooks\"", "\"until\":\"2", "\"until\":\"Z",
	  "former_secrets/0/until: must be a time" },
	{ "{\"webhooks\"", "\"secret\":\"", "\"secret\":\"!", "/secret: must be base64url" },
	{ "{\"key\"", "\"digest\":\"", "\"digest\":\"!", "/key/digest: must be base64url" },
	{ "{\"key\"", "\"scopes\":", "\"scopes\":99999", "/key/scopes: must be an integer from 1" },
	{ "{\"event\"", "\"seq\":1,", "\"seq\":999999,", "/event/seq: must be within" },
	{ "{\"session\"", "\"active\":true", "\"active\":1", "/session/active: must be true" },
	{ "{\"session\"", "\"room_id\":\"", "\"room_id\":\"0", "/session/room_id: must be an ID" },
	{ "{\"peer\"", "\"session_id\":\"6", "\"session_id\":\"5",
	  "belongs to a session that no earlier line contains" },
	{ "{\"peer\"", "\"joined_at\":\"2", "\"joined_at\":\"Z",
	  "/peer/joined_at: must be a time" },
	{ "{\"peer\"", "\"cause\":\"", "\"cause\":\"x", "/peer/cause: must be one of" },
	{ "{\"live\"", "\"backend_id\":\"", "\"backend_id\":\"0",
	  "/live/backend_id: must be an ID" },
	{ "\"user_id\":\"m\",\"created_by\"", "\"room_id\":\"", "\"room_id\":\"0",
	  "/ban/room_id: must be an ID" },
	{ "{\"ban\"", "\"created_by\":{", "\"created_by\":3,\"x\":{",
	  "/ban/created_by: must be an object" },
	{ "\"expires_at\":\"2990-01-01T00:00:00Z\",\"user_id\"", "\"expires_at\":\"2",
	  "\"expires_at\":\"Z", "/ban/expires_at: must be a time" },
	{ "\"expires_at\":\"2990-01-01T00:00:00Z\",\"user_id\"", "\"user_id\"", "\"code_hash\"",
	  "/code_hash: must be the hash of a code" },
	{ "\"expires_at\":\"2990-01-01T00:00:00Z\",\"user_id\"", "\"user_id\":\"m\",", "",
	  "/user_id: a ban has either" },
	{ "{\"usage\"", "\"day\":", "\"day\":-", "/usage/day: must be an integer from 0" },
	{ "{\"event\"", "\"actor\":{", "\"actor\":3,\"x\":{", "/event/actor: must be an object" },
	/* Faults of several lines together. */
	{ "{\"end\"", "\"room\":4", "\"room\":5", "do not match the dump" },
	{ "{\"end\"", "\"media\":1,", "", "do not match the dump" },
	{ "{\"end\"", "\"accounts\":2", "\"accounts\":3", "do not match the dump" },
	{ "{\"media\"", "\"state\":\"next\"", "\"state\":\"active\"",
	  "/signing_keys/4: another key with the same alg is already active" },
	{ "{\"media\"", "\"type\":\"livekit\"", "\"type\":\"jitsi\"",
	  "/backends/0/url: must be an https URL" },
	{ "{\"media\"", "\"api_secret\"", "\"apisecret\"",
	  "/backends/0/config/apisecret: is not a known field" },
	{ "{\"media\"", "\"default\":false", "\"default\":true",
	  "/backends/1: an earlier backend is already the default" },
	{ "{\"media\"", "\"name\":\"lk\"", "\"name\":\"two\"",
	  "/backends/1: an earlier backend has the same name" },
	{ "{\"media\"", "\"last_backend\":2", "\"last_backend\":1",
	  "/backends/1/id: must be newer" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":7,",
	  "/roles/0: has an identity that was never assigned" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":3,",
	  "has the same identity as another role" },
	{ "{\"codes\"", "\"last_identity\":", "\"last_identity\":9",
	  "/last_identity: is of a role that the template never had" },
	{ "\"due_at\"", "\"due_roles\":[{\"identity\":1", "\"due_roles\":[{\"identity\":3",
	  "/due_roles/0: has a code, or cannot be due" },
	{ "\"due_at\"", "\"asked\":true", "\"asked\":false",
	  "/due_roles/0: has a code, or cannot be due" },
	{ "{\"code\"", "\"place\":\"0000000000000000", "\"place\":\"00000000ff000000",
	  "/place: was never assigned" },
	{ "{\"webhooks\"", "\"last\":3", "\"last\":2", "/webhooks/1/id: must be newer" },
	{ "{\"webhooks\"", "https://c", "gopher://c", "/webhooks/1/url: must be an https URL" },
	{ "{\"default_template\"", "\"template_id\":\"",
	  "\"template_id\":\"000000000000000000000000\",\"x\":\"", "has an unknown member" },
	{ "{\"session\"", "\"active\":true", "\"active\":false",
	  "/session_id: is not an active session of the room" },
	{ "\"inside\":true", "\"inside\":true", "\"inside\":false",
	  "/left_at: does not match inside" },
	{ "{\"live\"", "\"backend_id\":\"6", "\"backend_id\":\"5",
	  "/backend_id: its backend does not" },
	{ "{\"end\"", "\"live\":1", "\"live\":2", "do not match the dump" },
	{ "{\"log\"", "\"first\":1,", "\"first\":2,", "/event/seq: must be within" },
};

/* Returns the line with the first `from` replaced by `to`. */
static char *replaced(const char *line, const char *from, const char *to)
{
	const char *place = strstr(line, from);
	size_t size = strlen(line) + strlen(to) + 1;
	char *text = malloc(size);

	ck_assert_msg(place != NULL, "no %s in %s", from, line);
	ck_assert_ptr_nonnull(text);
	(void)snprintf(text, size, "%.*s%s%s", (int)(place - line), line, to, place + strlen(from));
	return text;
}

START_TEST(a_faulty_line_is_refused)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char said[2000], *line;
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	for (int row = 0; row < ROWS(faulty); row++) {
		const size_t faulty_line = line_with(&dumped, faulty[row].line);

		line = dumped.lines[faulty_line];
		dumped.lines[faulty_line] = replaced(line, faulty[row].from, faulty[row].to);
		ck_assert_msg(!load(&other, &dumped, &at, said), "row %d was accepted", row);
		ck_assert_msg(strstr(said, faulty[row].says) != NULL, "row %d, line %zu: %s", row,
			      at, said);
		free(dumped.lines[faulty_line]);
		dumped.lines[faulty_line] = line;
	}
	load_whole(&other, &dumped);
	free_lines(&dumped);
}
END_TEST

/* What an older release has stored, and this one does not take from anybody new. */
static const struct {
	const char *line, *from, *to;
} older[] = {
	{ "own-words", "\"user_id\":\"u\"", "\"user_id\":\"u\\u0001\"" },
	{ "own-words", "\"name\":\"n\"", "\"name\":\"n\\n\"" },
	{ "\"reason\":\"noise\"", "noise", "noi\\tse" },
	{ "{\"key\"", "\"name\":\"", "\"name\":\"\\u001f" },
};

START_TEST(texts_of_an_older_release_are_loaded)
{
	struct lines dumped = { .count = 0 };
	struct life life;

	live(&one, &life);
	dump(&one, &dumped);
	for (int row = 0; row < ROWS(older); row++) {
		char **line = &dumped.lines[line_with(&dumped, older[row].line)];
		char *former = *line;

		*line = replaced(former, older[row].from, older[row].to);
		free(former);
	}
	load_whole(&other, &dumped);
	free_lines(&dumped);
}
END_TEST

/* One line is missing or repeated, or the dump ends before it. */
START_TEST(an_incomplete_dump_is_refused)
{
	struct lines dumped = { .count = 0 }, part;
	struct life life;
	char said[2000];
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	for (size_t i = 0; i < dumped.count; i++) {
		part = dumped;
		part.count = i;
		ck_assert_msg(!load(&other, &part, &at, said), "%zu lines", i);
		part = dumped;
		part.count--;
		memmove(&part.lines[i], &part.lines[i + 1],
			(dumped.count - i - 1) * sizeof part.lines[0]);
		ck_assert_msg(!load(&other, &part, &at, said), "without line %zu", i);
		part = dumped;
		part.count++;
		memmove(&part.lines[i + 1], &part.lines[i],
			(dumped.count - i) * sizeof part.lines[0]);
		ck_assert_msg(!load(&other, &part, &at, said), "line %zu twice", i);
	}
	free_lines(&dumped);
}
END_TEST

START_TEST(accounts_that_exist_are_refused)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char said[2000];
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	ck_assert(!load(&one, &dumped, &at, said));
	ck_assert_msg(strstr(said, "/account/id: an account with this value already exists") !=
			      NULL,
		      "%s", said);
	ck_assert_msg(strstr(said, "/account/name: an account with this value already exists") !=
			      NULL,
		      "%s", said);
	ck_assert(accounts_add(other.directory, &clock_system, "b", NULL, &fault));
	ck_assert(!load(&other, &dumped, &at, said));
	ck_assert_msg(strstr(said, "/account/name: an account with this value already exists") !=
			      NULL,
		      "%s", said);
	free_lines(&dumped);
}
END_TEST

#define CODE_BYTES (1 + 1 + 4 + 8 + 8 + 4 + 1)

/* A code is unique in the whole installation: a code of another account prevents the load, even if
 * it has been deleted. */
static const struct {
	const struct store_kind *kind;
	size_t size; /* of the value */
	const char *words;
} taken[] = {
	/* A version, a flag, a group, two times, an empty role name, and no terms. */
	{ &kind_code, CODE_BYTES, "another object already has its name" },
	{ &kind_words, 1, "is or was a code of another account" },
};

START_TEST(codes_that_are_taken_are_refused)
{
	char value[CODE_BYTES];
	struct lines dumped = { .count = 0 };
	struct life life;
	char said[2000];
	const char *letters;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	uint64_t number;
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	letters = NULL;
	for (size_t i = 0; letters == NULL && i < dumped.count; i++)
		letters = strstr(dumped.lines[i], "\"code\":\"");
	ck_assert_ptr_nonnull(letters);
	letters += strlen("\"code\":\"");
	ck_assert(store_begin(other.environment.store, STORE_WRITE, arena, &transaction, &fault));
	memset(value, 0, sizeof value);
	value[0] = 1;
	ck_assert(store_put(transaction, taken[_i].kind,
			    &(const struct store_record){ .name = { letters, 12 },
							  .value = { value, taken[_i].size } },
			    NULL, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(!load(&other, &dumped, &at, said));
	ck_assert_msg(strstr(said, taken[_i].words) != NULL, "%s", said);
	ck_assert(memmem(said, strlen(said), letters, 12) == NULL);
	free_lines(&dumped);
	arena_close(arena);
}
END_TEST

/* A store that returns FAULT_AGAIN requires this. */
START_TEST(lines_can_be_read_again_in_another_transaction)
{
	struct lines dumped = { .count = 0 }, again = { .count = 0 };
	struct life life;

	live(&one, &life);
	dump(&one, &dumped);
	dumped.is_read_again = true;
	load_whole(&other, &dumped);
	dump(&other, &again);
	ck_assert_uint_eq(dumped.count, again.count);
	/* The first line contains the time of the dump. */
	for (size_t i = 1; i < dumped.count; i++)
		ck_assert_str_eq(dumped.lines[i], again.lines[i]);
	free_lines(&again);
	free_lines(&dumped);
}
END_TEST

static const struct {
	unsigned get; /* which get of a transaction returns FAULT_AGAIN; 0 for its commit */
	unsigned times;
	bool is_done;
} agains[] = {
	{ 0, 1, true },
	{ 0, AGAIN_MOST - 1, true },
	{ 0, AGAIN_MOST, false },
	{ 1, AGAIN_MOST - 1, true },
	{ 3, AGAIN_MOST - 1, true },
	{ 3, AGAIN_MOST, false },
};

START_TEST(a_removal_is_run_again_if_the_store_requires_it)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	struct removal removal = { .arena = arena_open() };
	struct roster *roster;
	struct store *store = store_failing_open(other.environment.store);
	struct fault why = FAULT_INITIAL;

	other.environment.store = store; /* closes both stores */
	removal.store = store;
	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert(accounts_list(other.directory, &roster, &fault));
	removal.account = roster->accounts[0].id;
	store_failing_again(store, agains[_i].get, agains[_i].times);
	ck_assert_int_eq(removal_run(&removal, &why), agains[_i].is_done);
	ck_assert_int_eq(why.kind, agains[_i].is_done ? FAULT_NONE : FAULT_AGAIN);
	/* In both cases the removal can be run again. */
	ck_assert(removal_run(&removal, &fault));
	roster_close(roster);
	free_lines(&dumped);
	arena_close(removal.arena);
}
END_TEST

/* The last numbers stay, so that they are not used again. */
static bool only_counters(void *context, enum store_table table, struct slice key,
			  struct slice value, struct fault *unused)
{
	(void)context;
	(void)value;
	(void)unused;
	/* The codes remain reserved for their account. */
	ck_assert_msg(table == STORE_COUNTER || (table == STORE_NAMED && key.data[0] == 'w'),
		      "%s, %zu bytes", store_table_name(table), key.size);
	return true;
}

START_TEST(an_abandoned_load_leaves_nothing)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct roster *roster;
	uint64_t number = 0;

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert(accounts_list(other.directory, &roster, &fault));
	for (size_t i = 0; i < roster->count; i++) {
		struct call call = { .environment = &other.environment, .arena = arena };
		bool is_empty = false;

		call.account = roster->accounts[i].id;
		/* As after a load that ended between the line of the account and those of its
		 * templates. */
		ck_assert(store_begin(other.environment.store, STORE_WRITE, arena,
				      &call.transaction, &fault));
		call_set_account(&call);
		ck_assert(default_template_set(&call, &roster->accounts[i].id, true, NULL, &fault));
		ck_assert(store_commit(call.transaction, &number, &fault));
		while (!is_empty) {
			ck_assert(store_begin(other.environment.store, STORE_WRITE, arena,
					      &call.transaction, &fault));
			ck_assert(transfer_remove_some(&call, &is_empty, &fault));
			ck_assert(store_commit(call.transaction, &number, &fault));
		}
	}
	ck_assert(store_wait(other.environment.store, number, &fault));
	ck_assert(store_begin(other.environment.store, STORE_READ, arena, &transaction, &fault));
	ck_assert(entries_walk(transaction, false, only_counters, NULL, &fault));
	store_abandon(transaction);
	roster_close(roster);
	free_lines(&dumped);
	arena_close(arena);
}
END_TEST

/* ---- tests of check ---- */

struct collecting {
	struct arena *arena;
	struct stored *records;
	size_t count;
};

#define RECORDS_MOST 1000
#define LISTS 6

static bool collect(void *context, enum store_table table, struct slice key, struct slice value,
		    struct fault *unused)
{
	struct collecting *collecting = context;

	(void)unused;
	ck_assert_uint_lt(collecting->count, RECORDS_MOST);
	collecting->records[collecting->count++] = (struct stored){
		.table = table,
		.key = arena_copy(collecting->arena, key),
		.value = arena_copy(collecting->arena, value),
	};
	return true;
}

static void collect_all(struct world *world, struct collecting *collecting)
{
	struct arena *arena = arena_open();
	struct transaction *transaction;

	collecting->records = arena_zero(collecting->arena,
					 RECORDS_MOST * sizeof *collecting->records);
	ck_assert(store_begin(world->environment.store, STORE_READ, arena, &transaction, &fault));
	ck_assert(entries_walk(transaction, true, collect, collecting, &fault));
	store_abandon(transaction);
	arena_close(arena);
}

/* Replaces the value of a record; removes the record if value.data is NULL. */
static void change(struct world *world, const struct stored *record, struct slice value)
{
	struct store *store = world->environment.store;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	uint64_t number;

	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	ck_assert(value.data == NULL
			  ? entry_remove(transaction, record->table, record->key, &fault)
			  : entry_put(transaction, record->table, record->key, value, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_close(arena);
}

/* Removes each record, or makes it a byte shorter or longer: check notices every change. */
START_TEST(every_damaged_record_is_found)
{
	struct collecting collecting = { .arena = arena_open() };
	struct life life;

	live(&one, &life);
	collect_all(&one, &collecting);
	ck_assert_uint_gt(collecting.count, 25);
	for (size_t i = 0; i < collecting.count; i++) {
		const struct stored *record = &collecting.records[i];
		struct buffer longer = BUFFER_INITIAL(collecting.arena);
		const struct slice values[] = { { NULL, 0 },
						{ record->value.data, record->value.size - 1 },
						{ NULL, 0 } };

		buffer_append(&longer, record->value);
		buffer_append_byte(&longer, 0);
		for (int how = 0; how < 3; how++) {
			struct counting counting;

			/* Nothing refers to the record that names the default template, nor to
			 * custom codes and letters whose code has been removed. */
			if (how == 0 && ((record->table == STORE_RECORD &&
					  record->key.data[0] == kind_default.letter) ||
					 (record->table == STORE_NAMED &&
					  record->key.data[0] == kind_words.letter)))
				continue;
			change(&one, record, how == 2 ? buffer_slice(&longer) : values[how]);
			counting = checked(&one);
			ck_assert_msg(counting.count > 0, "%s, record %zu, change %d",
				      store_table_name(record->table), i, how);
			change(&one, record, record->value);
		}
	}
	sound(&one);
	arena_close(collecting.arena);
}
END_TEST

/* Returns the codes of this room. */
static struct stored *stored_codes(struct collecting *collecting, const char *room)
{
	struct id id;
	size_t i = 0;

	ck_assert(id_parse(slice_of(room), &id));
	while (i < collecting->count &&
	       (collecting->records[i].table != STORE_RECORD ||
		collecting->records[i].key.data[0] != kind_codes.letter ||
		memcmp(collecting->records[i].key.data + 1 + ID_SIZE, id.bytes, ID_SIZE) != 0))
		i++;
	ck_assert_uint_lt(i, collecting->count);
	return &collecting->records[i];
}

/* Returns a copy of the value that ends `shorter` bytes earlier and has one byte changed. */
static struct slice altered(struct arena *arena, struct slice value, size_t shorter, size_t place,
			    char byte)
{
	char *copy = arena_alloc(arena, value.size);

	memcpy(copy, value.data, value.size);
	copy[place] = byte;
	return (struct slice){ copy, value.size - shorter };
}

/* Removes an ID from the index of the account's templates or rooms, or adds it, in both lists
 * (enabled and disabled). */
static void relist(struct world *world, bool is_template, const struct id *id, bool is_added)
{
	struct store *store = world->environment.store;
	struct arena *arena = arena_open();
	const struct roster *roster;
	struct transaction *transaction;
	struct btree tree = { .name = "m", .name_size = 2 + ID_SIZE };
	uint64_t number;

	tree.name[1] = is_template ? kind_template.letter : kind_room.letter;
	memcpy(tree.name + 2, account_of(world, "a", &roster)->id.bytes, ID_SIZE);
	accounts_release(world->environment.accounts, roster);
	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	for (int side = 0; side < 2; side++) {
		char bytes[1 + ID_SIZE] = { (char)side };
		struct slice key = { bytes, sizeof bytes };

		memcpy(bytes + 1, id->bytes, ID_SIZE);
		if (is_template)
			key = (struct slice){ bytes + 1, ID_SIZE };
		ck_assert(is_added ? btree_put(transaction, &tree, key, SLICE(""), &fault)
				   : btree_remove(transaction, &tree, key, &fault));
	}
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_close(arena);
}

/* Makes an ID of this number and second. */
static struct id made_id(uint32_t seconds, uint64_t number)
{
	return id_make(&clock_system, seconds, number);
}

/* Indexes that lack a record, have it in both lists (enabled and disabled), or have one that does
 * not exist. */
START_TEST(a_dump_with_inconsistent_lists_fails)
{
	struct life life;

	live(&one, &life);

	const struct id late_template = made_id(5, 400), late_room = made_id(5, 400);
	const struct {
		bool is_template, is_added;
		struct id id;
		const char *says;
	} rows[] = {
		{ true, false, parsed_id(life.one), "the lists contain 1 templates, but 2 exist" },
		{ false, false, parsed_id(life.own), "the lists contain 3 rooms, but 4 exist" },
		{ false, false, parsed_id(life.off), "the lists contain 3 rooms, but 4 exist" },
		{ false, true, parsed_id(life.own), "where it does not belong" },
		{ true, true, late_template, "is missing, although an index refers to it" },
		{ false, true, late_room, "is missing, although an index refers to it" },
	};
	const struct id *const id = &rows[_i].id;
	struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
	struct fault why = FAULT_INITIAL;

	ck_assert_int_eq(ROWS(rows), LISTS);
	relist(&one, rows[_i].is_template, id, rows[_i].is_added);
	ck_assert_uint_gt(checked(&one).count, 0);
	ck_assert(!try_dump(&one, &dumped, &why));
	ck_assert_msg(strstr(why.cause, rows[_i].says) != NULL, "%s", why.cause);
	ck_assert(try_dump(&one, &saved, &why));
	ck_assert_ptr_nonnull(strstr(saved.lines[saved.count - 1], "\"template\":2,"));
	load_whole(&other, &saved);
	sound(&other);
	free_lines(&saved);
	free_lines(&dumped);
}
END_TEST

/* For each record that is missing or unreadable, everything else is saved and can be loaded. */
START_TEST(a_damaged_store_is_saved_as_far_as_possible)
{
	struct collecting collecting = { .arena = arena_open() };
	struct life life;
	size_t told = 0, drawn = 0;

	live(&one, &life);
	enqueue_events(&one, "a", 1);
	collect_all(&one, &collecting);
	for (size_t i = 0; i < collecting.count; i++) {
		if (!suite_draws(i))
			continue;
		drawn++;

		const struct stored *record = &collecting.records[i];
		const struct slice shorter = { record->value.data, record->value.size - 1 };

		for (int is_gone = 0; is_gone < 2; is_gone++) {
			struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
			struct fault why = FAULT_INITIAL;
			bool is_dumped;

			change(&one, record, is_gone ? (struct slice){ NULL, 0 } : shorter);
			is_dumped = try_dump(&one, &dumped, &why);
			ck_assert_msg(is_dumped || why.kind == FAULT_DAMAGED ||
					      why.kind == FAULT_NOT_FOUND,
				      "%s record %zu: %s %s", store_table_name(record->table), i,
				      why.message, why.cause);
			ck_assert(try_dump(&one, &saved, &why));
			ck_assert_msg(!is_dumped || saved.lost == 0, "%s", saved.said);
			told += saved.lost > 0;
			world_close(&other);
			world_open(&other);
			load_whole(&other, &saved);
			sound(&other);
			free_lines(&dumped);
			free_lines(&saved);
			change(&one, record, record->value);
		}
	}
	ck_assert_uint_gt(told, drawn / 8);
	arena_close(collecting.arena);
}
END_TEST

/* Requests that read stored JSON: everything that templates, rooms, codes, media servers and
 * webhooks can be used for. %s stands for the ID of the object. */
static const struct {
	char kind; /* t: template, r: room, b: backend, w: webhook, -: none */
	enum method method;
	const char *path, *body;
} readers[] = {
	{ 't', METHOD_GET, "/v2/templates/%s", NULL },
	{ 't', METHOD_PATCH, "/v2/templates/%s?validate_only=true",
	  "{\"plugins\":{\"q\":1},\"settings\":{\"region\":\"in\"},\"destinations\":{}}" },
	{ 't', METHOD_POST, "/v2/templates/%s?validate_only=true",
	  "{\"plugins\":{},\"settings\":{\"region\":\"in\"},\"destinations\":{},\"roles\":{}}" },
	{ 't', METHOD_PATCH, "/v2/templates/%s/settings?validate_only=true",
	  "{\"region\":\"in\"}" },
	{ 't', METHOD_PATCH, "/v2/templates/%s/destinations?validate_only=true",
	  "{\"transcriptions\":{}}" },
	{ 't', METHOD_POST, "/v2/templates/%s/roles/chief?validate_only=true", "{\"name\":\"x\"}" },
	{ 't', METHOD_PATCH, "/v2/templates/%s/roles/late?validate_only=true", "{\"priority\":3}" },
	{ 't', METHOD_DELETE, "/v2/templates/%s/roles/late?validate_only=true", NULL },
	{ 'r', METHOD_GET, "/v2/rooms/%s", NULL },
	{ 'r', METHOD_PATCH, "/v2/rooms/%s?validate_only=true",
	  "{\"description\":\"z\",\"polls\":[]}" },
	{ 'r', METHOD_POST, "/v2/rooms/%s?validate_only=true",
	  "{\"recording_info\":{\"upload_info\":{\"type\":\"gs\",\"location\":\"b\"}}}" },
	{ 'r', METHOD_DELETE, "/v2/rooms/%s?validate_only=true", NULL },
	{ 'r', METHOD_POST, "/v2/room-codes/room/%s?validate_only=true", NULL },
	{ '-', METHOD_POST, "/v2/import?validate_only=true",
	  "{\"templates\":[{\"name\":\"one\"}],\"rooms\":[{\"name\":\"Own\",\"polls\":[]}]}" },
	{ '-', METHOD_GET, "/v2/room-codes/code/own-words", NULL },
	{ '-', METHOD_PATCH, "/v2/room-codes/code/own-words?validate_only=true",
	  "{\"label\":\"z\",\"metadata\":{\"z\":\"\"}}" },
	{ '-', METHOD_GET, "/v2/join/own-words", NULL },
	{ '-', METHOD_POST, "/v2/token?validate_only=true", "{\"code\":\"own-words\"}" },
	{ 'b', METHOD_GET, "/v2/backends/%s", NULL },
	{ 'b', METHOD_PATCH, "/v2/backends/%s?validate_only=true", "{\"ttl\":99}" },
	{ 'w', METHOD_GET, "/v2/webhooks/%s", NULL },
	{ 'w', METHOD_PATCH, "/v2/webhooks/%s?validate_only=true", "{\"description\":\"z\"}" },
	{ 'w', METHOD_POST, "/v2/webhooks/%s/test", "{}" },
	{ '-', METHOD_GET, "/v2/events", NULL },
};

/* Gets the ID of the last, and so oldest, item of a list. */
static void last_of(const char *path, char id[25])
{
	char *text = answer_of(&one, "a", METHOD_GET, path, NULL);
	json_t *answer = json_loads(text, 0, NULL), *list = json_object_get(answer, "data");

	ck_assert_uint_gt(json_array_size(list), 0);
	(void)snprintf(id, 25, "%s",
		       json_string_value(json_object_get(
			       json_array_get(list, json_array_size(list) - 1), "id")));
	json_decref(answer);
	free(text);
}

/* Makes all these requests and returns how many reported damage. */
static unsigned ask_all(const struct life *life, const char *backend, const char *webhook)
{
	unsigned damaged = 0;

	for (size_t i = 0; i < ROWS(readers); i++) {
		const char *id = readers[i].kind == 't'	  ? life->one
				 : readers[i].kind == 'r' ? life->own
				 : readers[i].kind == 'b' ? backend
							  : webhook;
		const char *place = strstr(readers[i].path, "%s");
		char path[200], *text;

		(void)snprintf(path, sizeof path, "%.*s%s%s",
			       place == NULL ? 200 : (int)(place - readers[i].path),
			       readers[i].path, place == NULL ? "" : id,
			       place == NULL ? "" : place + 2);
		text = answer_of(&one, "a", readers[i].method, path, readers[i].body);
		/* A GET that returns the stored text begins with the damaged byte. */
		ck_assert_msg(text[0] == '\0' || strchr("{(4\xff", text[0]) != NULL ||
				      strncmp(text, "503 ", 4) == 0,
			      "%s: %s", path, text);
		damaged += strncmp(text, "503 ", 4) == 0;
		free(text);
	}
	return damaged;
}

/* An object with members, or the first piece of a room; bytes of a secret may look like {}. */
static bool begins_json(const char *text, size_t size)
{
	static const char piece[] = "{\"id\":\"";
	json_t *object = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, NULL);
	const bool has_members = json_object_size(object) > 0;

	json_decref(object);
	return has_members || (size >= sizeof piece && memcmp(text, piece, sizeof piece - 1) == 0);
}

/* Damages each stored JSON text in a record with an otherwise right checksum; an older program may
 * have written such a text. Requests report damage unless they do not need the text, check names
 * the record, and a dump fails or leaves the record out. The process never aborts. */
START_TEST(an_unreadable_text_never_aborts_the_process)
{
	struct collecting collecting = { .arena = arena_open() };
	char backend[25], webhook[25];
	unsigned damaged = 0, texts = 0;
	struct life life;

	live(&one, &life);
	last_of("/v2/backends", backend);
	last_of("/v2/webhooks", webhook);
	collect_all(&one, &collecting);
	ck_assert_uint_eq(ask_all(&life, backend, webhook), 0);
	for (size_t i = 0; i < collecting.count; i++) {
		const struct stored *record = &collecting.records[i];

		for (size_t at = 0; at + 1 < record->value.size; at++) {
			const char *const text = record->value.data + at;
			struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
			struct fault why = FAULT_INITIAL;
			struct counting counting;
			bool is_dumped;

			if (!begins_json(text, record->value.size - at))
				continue;
			texts++;
			change(&one, record, altered(collecting.arena, record->value, 0, at, '('));
			damaged += ask_all(&life, backend, webhook);
			counting = checked(&one);
			ck_assert_msg(counting.count > 0, "%s %c: %.60s",
				      store_table_name(record->table), record->key.data[0], text);
			is_dumped = try_dump(&one, &dumped, &why);
			ck_assert_msg(is_dumped || why.kind == FAULT_DAMAGED, "%s %s", why.message,
				      why.cause);
			ck_assert(try_dump(&one, &saved, &why));
			for (size_t k = 0; k < saved.count; k++) {
				json_t *line = json_loads(saved.lines[k], 0, NULL);

				ck_assert_msg(line != NULL, "%s", saved.lines[k]);
				json_decref(line);
			}
			free_lines(&dumped);
			free_lines(&saved);
			change(&one, record, record->value);
		}
	}
	ck_assert_uint_gt(texts, 50);
	ck_assert_uint_gt(damaged, 100);
	ck_assert_uint_eq(ask_all(&life, backend, webhook), 0);
	sound(&one);
	arena_close(collecting.arena);
}
END_TEST

/* ---- values that the rows rule out ---- */

/* Returns whether a value of the member can be above its range (side 1) or below it (side 0). */
static bool can_be_wrong(const struct member *member, int side)
{
	switch (member->kind) {
	case MEMBER_NUMBER:
	case MEMBER_TIME:
	case MEMBER_SECONDS:
	case MEMBER_BOOLEAN:
	case MEMBER_CHOICE:
		if (member->bytes == 8)
			return side == 1 ? member->most < INT64_MAX : member->least > INT64_MIN;
		return side == 1 ? member->most < (INT64_C(1) << 8 * member->bytes) - 1
				 : member->least > 0;
	case MEMBER_TEXT:
	case MEMBER_JSON:
		return side == 1 && (member->flags & MEMBER_WHOLE) == 0;
	case MEMBER_BYTES:
	case MEMBER_LIST:
		return side == 1 && member->most <= UINT8_MAX;
	case MEMBER_KEY:
	case MEMBER_PARENT:
	case MEMBER_SWITCH:
	case MEMBER_NAME:
	case MEMBER_ETAG:
	case MEMBER_ID:
	case MEMBER_FIXED:
	case MEMBER_PART:
	case MEMBER_ARRAY:
		break;
	}
	return false;
}

static size_t *count_of(const struct member *member, void *record)
{
	return (size_t *)(void *)((char *)record + member->count);
}

static void make_wrong(struct arena *arena, const struct member *member, void *record, int side)
{
	void *at = (char *)record + member->offset;
	const int64_t number = side == 1 ? member->most + 1 : member->least - 1;
	const size_t more = (size_t)member->most + 1;

	if (member->kind == MEMBER_TEXT) {
		*(struct slice *)at = SLICE("\xff");
	} else if (member->kind == MEMBER_JSON) {
		*(struct slice *)at = SLICE("(");
	} else if (member->kind == MEMBER_BYTES) {
		*(struct slice *)at = (struct slice){ arena_zero(arena, more), more };
	} else if (member->kind == MEMBER_LIST) {
		*count_of(member, record) = more;
		*(void **)at = arena_zero(arena, more * member->items->size);
	} else if (member->width == 8) {
		*(int64_t *)at = number;
	} else if (member->width == 4) {
		*(uint32_t *)at = (uint32_t)number;
	} else if (member->width == 2) {
		*(uint16_t *)at = (uint16_t)number;
	} else {
		*(uint8_t *)at = (uint8_t)number;
	}
}

/* Makes one member of the record wrong, after skipping others, and returns its name. Of a list,
 * only the first item is made wrong. Returns NULL if there are fewer members. */
static const char *spoil(struct arena *arena, const struct record_table *table, void *record,
			 size_t *skipped)
{
	for (size_t i = table->keys; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		void *at = (char *)record + member->offset;
		const char *spoiled = NULL;

		if (member->when == NOT_STORED ||
		    (member->when != 0 &&
		     (*(unsigned *)(void *)((char *)record + table->set) & member->when) == 0))
			continue;
		for (int side = 0; side < 2; side++) {
			if (!can_be_wrong(member, side) || (*skipped)-- > 0)
				continue;
			make_wrong(arena, member, record, side);
			return member->name;
		}
		if (member->items != NULL && *count_of(member, record) > 0)
			spoiled = spoil(arena, member->items,
					member->kind == MEMBER_LIST ? *(void **)at : at, skipped);
		if (spoiled != NULL)
			return spoiled;
	}
	return NULL;
}

struct longest {
	struct arena *arena;
	struct store_record record;
};

/* Keeps the record with the longest value, which has the most members. */
static bool keep_longest(void *context, const struct store_record *stored, struct fault *unused)
{
	struct longest *longest = context;

	(void)unused;
	if (longest->record.value.data != NULL && stored->value.size <= longest->record.value.size)
		return true;
	longest->record = *stored;
	longest->record.value = arena_copy(longest->arena, stored->value);
	longest->record.name = arena_copy(longest->arena, stored->name);
	return true;
}

/* Replaces the value of a record in the world. */
static void put_value(const struct store_kind *kind, const struct store_record *record,
		      struct slice value)
{
	struct store *store = one.environment.store;
	struct arena *arena = arena_open();
	struct store_record former, changed = *record;
	struct transaction *transaction;
	uint64_t number;

	changed.value = value;
	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	store_set_account(transaction, &record->account);
	ck_assert(kind->naming == STORE_NAME_ANYWHERE
			  ? store_get_named(transaction, kind, record->name, STORE_TO_CHANGE,
					    &former, &fault)
			  : store_get(transaction, kind, &record->id, STORE_TO_CHANGE, &former,
				      &fault));
	ck_assert_ptr_nonnull(former.value.data);
	ck_assert(store_put(transaction, kind, &changed, &former, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_close(arena);
}

/* ---- records that a life does not leave ---- */

static void make_room_times(struct call *call, const struct life *life)
{
	const struct id room = parsed_id(life->own);

	ck_assert(room_times_note(call, &room, 1000, &fault));
}

static void make_delivery(struct call *call, const struct life *life)
{
	struct webhook_delivery delivery = {
		.state = DELIVERY_FAILED,
		.series = 1,
		.seq = 1,
		.event_id = SLICE("3f0c4d3e-8f8c-4ab1-9b5f-2f7f6d1f0a11"),
		.type = SLICE("room.created"),
		.attempts = 1,
		.error = SLICE("refused"),
		.first = 1000,
		.next = 2000,
	};
	struct webhooks webhooks;

	(void)life;
	ck_assert(webhooks_load(call->transaction, STORE_TO_SHOW, &webhooks, &fault));
	delivery.stored.parent = webhooks.items[0].id;
	ck_assert(webhook_delivery_new_id(call->transaction, call->environment->clock,
					  &delivery.stored.id, &fault) &&
		  webhook_delivery_put(call->transaction, &delivery, &fault));
}

static void make_words_asked(struct call *call, const struct life *life)
{
	(void)life;
	call->run.words_asked = 1;
	ck_assert(code_words_store_asked(call, &fault));
}

static void make_kept_answer(struct call *call, const struct life *life)
{
	static const unsigned char fingerprint[DIGEST_SIZE] = { 1 };
	const struct kept_answer none = { .status = 0 };

	(void)life;
	call->answer.status = 200;
	ck_assert(kept_answer_put(call, SLICE("key"), fingerprint, &none, &fault));
}

/* The first stored response that a process counts is added to the record. */
static void make_kept_usage(struct call *call, const struct life *life)
{
	struct environment counting = one.environment;

	counting.kept_usage = kept_usage_open();
	call->environment = &counting;
	make_kept_answer(call, life);
	kept_usage_end(call, true);
	kept_usage_close(counting.kept_usage);
	call->environment = &one.environment;
}

static void make_health(struct call *call, const struct life *life)
{
	const struct backend backend = { .id = parsed_id(life->livekit), .name = SLICE("lk") };
	const struct server_verdict verdict = { .message = "it does not answer" };

	ck_assert(backend_health_note(call, &backend, &verdict, &fault));
}

/* As if a deleted room still had codes. */
static void make_garbage(struct call *call, const struct life *life)
{
	const struct garbage garbage = { .stored.id = made_id(5, 400), .of = GARBAGE_ROOM };

	(void)life;
	ck_assert(record_put(&garbage_table, call->transaction, &garbage, &fault));
}

static const struct {
	const struct record_kind *kind;
	void (*make)(struct call *call, const struct life *life);
} makers[] = {
	{ &room_times_kind, make_room_times },	 { &webhook_delivery_kind, make_delivery },
	{ &words_asked_kind, make_words_asked }, { &kept_answer_kind, make_kept_answer },
	{ &kept_usage_kind, make_kept_usage },	 { &backend_healths_kind, make_health },
	{ &garbage_kind, make_garbage },
};

/* Makes a record of the kind if the life left none. */
static void make_record(const struct record_kind *kind, const struct life *life)
{
	struct call call;

	for (int i = 0; i < ROWS(makers); i++) {
		if (makers[i].kind != kind)
			continue;
		begin_call(&one, &call);
		makers[i].make(&call, life);
		commit_call(&call);
	}
}

/* Gives one member of a record of each kind a value that its row rules out, with a right checksum.
 * Check finds it, a dump names the record or does not need the value, and what is saved can be
 * loaded. Requests report damage, or do not need the value. */
START_TEST(a_value_that_its_row_rules_out_is_found)
{
	const struct record_kind *kind = record_kinds[_i];
	const struct record_table *table = kind->table;
	const char *said = kind == &code_kind ? "a code of" : table->kind->name;
	struct arena *arena = arena_open();
	struct longest longest = { .arena = arena };
	struct transaction *transaction;
	char backend[25], webhook[25];
	struct life life;
	const char *name;

	live(&one, &life);
	make_record(kind, &life);
	enqueue_events(&one, "a", 1);
	last_of("/v2/backends", backend);
	last_of("/v2/webhooks", webhook);
	ck_assert(store_begin(one.environment.store, STORE_READ, arena, &transaction, &fault));
	ck_assert(store_walk(transaction, table->kind, keep_longest, &longest, &fault));
	store_abandon(transaction);
	ck_assert_msg(longest.record.value.data != NULL, "there is no record: %s; see makers",
		      table->kind->name);
	for (size_t n = 0;; n++) {
		struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
		struct fault why = FAULT_INITIAL;
		struct buffer value = BUFFER_INITIAL(arena);
		void *record = arena_zero(arena, table->size);
		size_t skipped = n;
		bool is_dumped;

		ck_assert(record_read(table, arena, &longest.record, record, &fault));
		name = spoil(arena, table, record, &skipped);
		if (name == NULL)
			break;
		if (!suite_draws((size_t)_i + n))
			continue;
		record_pack(table, record, &value);
		put_value(table->kind, &longest.record, buffer_slice(&value));
		(void)ask_all(&life, backend, webhook);
		ck_assert_msg(checked(&one).count > 0, "%s: %s", table->kind->name, name);
		is_dumped = try_dump(&one, &dumped, &why);
		ck_assert_msg(is_dumped || why.kind == FAULT_DAMAGED, "%s", why.message);
		ck_assert(try_dump(&one, &saved, &why));
		ck_assert_msg(is_dumped ? saved.lost == 0 : strstr(saved.said, said) != NULL,
			      "%s: %s", name, saved.said);
		/* What refers to a record that is wrong but can be read is saved without it. */
		if (!record_unpack(table, arena, buffer_slice(&value), record) ||
		    kind == &entry_kind || kind == &queue_kind) {
			world_close(&other);
			world_open(&other);
			load_whole(&other, &saved);
			sound(&other);
		}
		free_lines(&dumped);
		free_lines(&saved);
		put_value(table->kind, &longest.record, longest.record.value);
	}
	sound(&one);
	arena_close(arena);
}
END_TEST

/* The records of the room in session, and of the session before. */
struct live_records {
	struct live live;
	struct session active, closed;
	struct peer inside, left; /* of the active session */
	struct usage_now used;
	struct backend_account backend;
	struct media media;
	struct ban ban; /* of the person m, from every room; it ends */
	struct ban_end end;
};

static void too_many_peers(struct live_records *records)
{
	records->closed.peer_count++;
}

static void too_few_peers(struct live_records *records)
{
	records->active.peer_count--;
}

static void too_many_with_a_role(struct live_records *records)
{
	records->live.roles[0].count++;
}

static void no_roles(struct live_records *records)
{
	records->live.role_count = 0;
}

static void too_many_inside(struct live_records *records)
{
	records->used.peers++;
}

static void too_few_sessions(struct live_records *records)
{
	records->used.sessions = 0;
}

static void another_active_session(struct live_records *records)
{
	records->closed.is_active = true;
	records->closed.closed = 0;
}

static void a_closed_session(struct live_records *records)
{
	records->active.is_active = false;
	records->active.closed = records->active.updated;
}

static void no_time_of_closing(struct live_records *records)
{
	records->closed.closed = 0;
}

static void updated_too_early(struct live_records *records)
{
	records->closed.updated = records->closed.created - 1;
}

static void another_session(struct live_records *records)
{
	records->live.session = records->closed.stored.id;
}

static void no_backend(struct live_records *records)
{
	records->live.backend = records->closed.stored.id;
}

static void inside_and_left(struct live_records *records)
{
	records->inside.left = records->inside.joined;
}

static void left_before(struct live_records *records)
{
	records->left.left = records->left.joined - 1;
}

static void joined_at_another_time(struct live_records *records)
{
	records->left.joined--;
}

static void another_entry(struct live_records *records)
{
	records->inside.entry = SLICE("e9");
}

static void left_again(struct live_records *records)
{
	records->inside.is_inside = false;
	records->inside.left = records->inside.joined;
}

static void another_account(struct live_records *records)
{
	records->backend.account = records->closed.stored.id;
}

static void too_few_bans(struct live_records *records)
{
	records->media.ban_count--;
}

static void uncounted_bans(struct live_records *records)
{
	records->media.ban_count = 0;
}

static void ends_later(struct live_records *records)
{
	records->ban.expires_at++;
}

static void never_ends(struct live_records *records)
{
	records->ban.expires_at = 0;
}

static void end_of_another(struct live_records *records)
{
	records->end.ban = records->closed.stored.id;
}

static void another_name(struct live_records *records)
{
	records->ban.name = SLICE("u");
}

static void bans_nobody(struct live_records *records)
{
	records->ban.user_id = SLICE("");
}

static void bans_two(struct live_records *records)
{
	records->ban.code_hash = SLICE("0123");
}

static const struct {
	void (*alter)(struct live_records *records);
	const char *says;
} wrong_live[] = {
	{ too_many_peers, "/peer_count: does not match" },
	{ too_few_peers, "/peer_count: does not match" },
	{ too_many_with_a_role, "/roles: do not match" },
	{ no_roles, "/roles: do not match" },
	{ too_many_inside, "/peers: does not match" },
	{ too_few_sessions, "/sessions: does not match" },
	{ another_active_session, "/active: its room is not in session" },
	{ a_closed_session, "/session_id: is not an active session" },
	{ no_time_of_closing, "/closed_at: does not match" },
	{ updated_too_early, "/updated_at: must not be before" },
	{ another_session, "/session_id: is not an active session" },
	{ no_backend, "/backend_id: its backend does not exist" },
	{ inside_and_left, "/left_at: does not match inside" },
	{ left_before, "/left_at: must not be before" },
	{ joined_at_another_time, "/joined_at: does not match" },
	{ another_entry, "/stays: one of them is not inside" },
	{ left_again, "/roles: do not match" },
	{ another_account, "/account_id: is of an account without this backend" },
	{ too_few_bans, "/ban_count: does not match" },
	{ uncounted_bans, "is not counted" },
	{ ends_later, "/expires_at: the record of its end is missing" },
	{ ends_later, "/ban_id: is not a ban that ends then" },
	{ never_ends, "/ban_id: is not a ban that ends then" },
	{ end_of_another, "/ban_id: is not a ban that ends then" },
	{ another_name, "its name does not match" },
	{ bans_nobody, "/user_id: a ban has either" },
	{ bans_two, "/user_id: a ban has either" },
};

/* Reads the records, or changes them. */
static void with_live_records(struct call *call, const struct life *life,
			      void (*alter)(struct live_records *records))
{
	const struct id room = parsed_id(life->followed), backend = parsed_id(life->livekit);
	struct transaction *transaction = call->transaction;
	struct store_record record;
	struct store_page page = {
		.side = STORE_OFF,
		.parent = &room,
		.records = &record,
		.most = 1,
	};
	struct peer_page peers = { .most = 20 };
	struct live_records records;
	struct id end;

	ck_assert(live_load(call, &room, STORE_TO_CHANGE, &records.live, &fault));
	ck_assert(session_load(call, &records.live.session, STORE_TO_CHANGE, &records.active,
			       &fault));
	ck_assert(store_page(transaction, &kind_session, &page, &fault));
	ck_assert_uint_eq(page.count, 1);
	ck_assert(session_load(call, &record.id, STORE_TO_CHANGE, &records.closed, &fault));
	ck_assert(peers_read(call, &records.live.session, &peers, &fault));
	for (size_t i = 0; i < peers.count; i++) {
		struct peer *peer = peers.peers[i].is_inside ? &records.inside : &records.left;

		ck_assert(record_get(&peer_table, transaction, &peers.peers[i].stored.id,
				     STORE_TO_CHANGE, peer, &fault));
	}
	ck_assert(record_get(&usage_now_table, transaction, &kind_only_id, STORE_TO_CHANGE,
			     &records.used, &fault));
	ck_assert(media_load(call, STORE_TO_CHANGE, &records.media, &fault));
	ck_assert(record_get_named(&ban_table, transaction,
				   ban_name(call->arena, SLICE("m"), SLICE(""), &kind_only_id),
				   STORE_TO_CHANGE, &records.ban, &fault));
	end = ban_end_id(&records.ban);
	ck_assert(record_get(&ban_end_table, transaction, &end, STORE_TO_CHANGE, &records.end,
			     &fault));
	ck_assert_ptr_nonnull(records.end.stored.value.data);
	store_set_account(transaction, &audit_no_account);
	ck_assert(record_get(&backend_account_table, transaction, &backend, STORE_TO_CHANGE,
			     &records.backend, &fault));
	ck_assert_ptr_nonnull(records.backend.stored.value.data);
	alter(&records);
	ck_assert(record_put(&backend_account_table, transaction, &records.backend, &fault));
	store_set_account(transaction, &call->account);
	ck_assert(record_put(&live_table, transaction, &records.live, &fault) &&
		  record_put(&session_table, transaction, &records.active, &fault) &&
		  record_put(&session_table, transaction, &records.closed, &fault) &&
		  record_put(&peer_table, transaction, &records.inside, &fault) &&
		  record_put(&peer_table, transaction, &records.left, &fault) &&
		  record_put(&usage_now_table, transaction, &records.used, &fault) &&
		  media_put(call, &records.media, &fault) &&
		  record_put(&ban_table, transaction, &records.ban, &fault) &&
		  record_put(&ban_end_table, transaction, &records.end, &fault));
}

struct walking {
	struct survey *survey;
	const struct store_kind *kind;
	struct record_findings *findings;
};

static bool tell_stored(void *context, const struct store_record *record, struct fault *unused)
{
	struct walking *walking = context;

	(void)unused;
	record_findings_tell_stored(walking->survey, walking->kind, record, walking->findings);
	return true;
}

/* The findings are in no particular order. */
static void join_findings(struct record_findings *findings, const char *kind, const char *key,
			  const char *problem)
{
	struct saying *saying = (struct saying *)findings;
	const size_t size = strlen(saying->said);

	(void)key;
	(void)snprintf(saying->said + size, 2000 - size, "%s %s\n", kind, problem);
}

START_TEST(wrong_live_records_are_found)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	struct call call;

	live(&one, &life);
	dump(&one, &dumped);
	for (int row = 0; row < ROWS(wrong_live); row++) {
		char said[2000] = "";
		struct saying saying = { .findings.tell = join_findings, .said = said };
		struct survey survey;

		world_close(&other);
		world_open(&other);
		load_whole(&other, &dumped);
		begin_call(&other, &call);
		with_live_records(&call, &life, wrong_live[row].alter);
		commit_call(&call);
		ck_assert(survey_open(other.environment.store, &clock_system, &survey, &fault));
		for (int i = 0; i < KINDS; i++) {
			struct walking walking = { &survey, all_kinds[i], &saying.findings };

			ck_assert(store_walk(survey.call.transaction, all_kinds[i], tell_stored,
					     &walking, &fault));
		}
		survey_close(&survey);
		ck_assert_msg(strstr(said, wrong_live[row].says) != NULL, "row %d: %s", row, said);
	}
	free_lines(&dumped);
}
END_TEST

START_TEST(wrong_due_roles_are_found)
{
	static const char wrong[] = { 1, 3, 4 };
	struct collecting collecting = { .arena = arena_open() };
	const struct stored *record;
	struct counting counting;
	struct life life;

	live(&one, &life);
	collect_all(&one, &collecting);
	record = stored_codes(&collecting, life.moved);
	ck_assert_int_eq(record->value.data[record->value.size - 12], 2);
	for (int row = 0; row < ROWS(wrong); row++) {
		change(&one, record,
		       altered(collecting.arena, record->value, 0, record->value.size - 12,
			       wrong[row]));
		counting = checked(&one);
		ck_assert_uint_eq(counting.count, 1);
		ck_assert_msg(strstr(counting.said, "/due_roles/1: has a code") != NULL, "%s",
			      counting.said);
	}
	arena_close(collecting.arena);
}
END_TEST

/* Finds entries that refer to nothing, or to a record that does not refer back; no finding shows a
 * code. In a key, A stands for the account. */
static const struct {
	enum store_table table;
	const char *key;
	size_t zeros;
	const char *says;
} strays[] = {
	{ STORE_INDEX, "ntA", 4, "is damaged" },
	{ STORE_INDEX, "nmA", 4, "is damaged" },
	{ STORE_INDEX, "stray", 0, "is damaged" },
	{ STORE_INDEX, "x", 0, "not an index key" },
	{ STORE_NAMED, "cqqq-qqqq-qqq", 0, "cannot be read" },
	{ STORE_RECORD, "mAA", 0, "cannot be read" },
};

START_TEST(stray_entries_are_found)
{
	struct life life;
	struct counting counting;
	struct arena *arena = arena_open();
	const struct roster *roster;
	const struct account *account;

	live(&one, &life);
	account = account_of(&one, "a", &roster);
	for (int row = 0; row < ROWS(strays); row++) {
		struct buffer key = BUFFER_INITIAL(arena);
		struct stored record = { .table = strays[row].table };
		struct collecting before = { .arena = arena };
		struct slice present = { NULL, 0 };

		for (const char *at = strays[row].key; *at != '\0'; at++) {
			if (*at == 'A')
				buffer_append(&key, id_slice(&account->id));
			else
				buffer_append_byte(&key, *at);
		}
		for (size_t i = 0; i < strays[row].zeros; i++)
			buffer_append_byte(&key, 0);
		record.key = buffer_slice(&key);
		collect_all(&one, &before);
		for (size_t i = 0; i < before.count; i++) {
			if (before.records[i].table == record.table &&
			    slice_equal(before.records[i].key, record.key))
				present = before.records[i].value;
		}
		change(&one, &record, SLICE("s"));
		counting = checked(&one);
		ck_assert_msg(counting.count > 0 && strstr(counting.said, strays[row].says) != NULL,
			      "row %d: %u, %s", row, counting.count, counting.said);
		ck_assert_ptr_null(strstr(counting.said, "qqq-"));
		change(&one, &record, present);
	}
	sound(&one);
	accounts_release(one.environment.accounts, roster);
	arena_close(arena);
}
END_TEST

/* ---- whole dumps ---- */

/* Dumps of any length, each line a text from malloc. */
struct heap {
	struct transfer_output output;
	char **lines;
	size_t count, capacity;
	size_t limit; /* of the arenas that the dump and the load use */
};

static bool heap_line(struct transfer_output *output, struct slice line, struct fault *unused)
{
	struct heap *heap = (struct heap *)output;
	char *copy;

	(void)unused;
	if (heap->count == heap->capacity) {
		heap->capacity = 2 * heap->capacity + 1024;
		heap->lines = realloc(heap->lines, heap->capacity * sizeof *heap->lines);
		ck_assert_ptr_nonnull(heap->lines);
	}
	/* strndup(3) of a sanitizer reads beyond the text. */
	copy = malloc(line.size + 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, line.data, line.size);
	copy[line.size] = '\0';
	heap->lines[heap->count++] = copy;
	return true;
}

static void heap_add(struct heap *heap, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT);

	(void)heap_line(&heap->output, slice_of(text), &fault);
	free(text);
	json_decref(line);
}

static void heap_free(struct heap *heap)
{
	for (size_t i = 0; i < heap->count; i++)
		free(heap->lines[i]);
	free(heap->lines);
	*heap = (struct heap){ .limit = heap->limit };
}

/* Writes each line with its members in the same order. */
static void heap_sort_members(struct heap *heap)
{
	for (size_t i = 0; i < heap->count; i++) {
		json_t *line = json_loads(heap->lines[i], 0, NULL);

		free(heap->lines[i]);
		heap->lines[i] = json_dumps(line, JSON_COMPACT | JSON_SORT_KEYS);
		json_decref(line);
	}
}

/* Compares all lines but the first, in any order. */
static void compare_heaps(struct heap *first, struct heap *second)
{
	heap_sort_members(first);
	heap_sort_members(second);
	qsort(&first->lines[1], first->count - 1, sizeof first->lines[1], compare_lines);
	qsort(&second->lines[1], second->count - 1, sizeof second->lines[1], compare_lines);
	for (size_t i = 1; i < first->count && i < second->count; i++)
		ck_assert_str_eq(first->lines[i], second->lines[i]);
	ck_assert_uint_eq(first->count, second->count);
}

static void heap_dump(struct world *world, struct heap *heap, bool is_salvage)
{
	struct fault why = FAULT_INITIAL;
	struct store *store;
	struct roster *roster;
	struct survey survey;

	heap->output.line = heap_line;
	heap->output.lost = is_salvage ? keep_lost : NULL;
	heap->output.keys_most = 100;
	world_open_store(world, true, &store);
	ck_assert(accounts_list(world->directory, &roster, &fault));
	ck_assert(survey_open(store, &clock_system, &survey, &fault));
	if (heap->limit != 0)
		arena_set_limit(survey.call.arena, heap->limit);
	ck_assert_msg(transfer_write(&survey, roster, NULL, &heap->output, &why), "%s",
		      fault_reason(&why));
	survey_close(&survey);
	roster_close(roster);
	store_close(store);
}

static bool is_nothing(const json_t *value)
{
	if (json_is_string(value))
		return json_string_length(value) == 0;
	if (json_is_array(value) || json_is_object(value))
		return json_array_size(value) + json_object_size(value) == 0;
	return value == NULL || json_is_false(value) ||
	       (json_is_integer(value) && json_integer_value(value) == 0);
}

/* Expects that at least one of the objects has each member of the table that a dump has. */
static void expect_members(const char *line, const struct record_table *table,
			   const json_t *objects)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		json_t *items = json_array(), *object;
		bool is_there = false;
		size_t at;

		if ((member->flags & MEMBER_DERIVED) == 0 && member->kind != MEMBER_ETAG) {
			json_array_foreach(objects, at, object) {
				json_t *value = json_object_get(object, member->name);

				is_there = is_there || !is_nothing(value);
				if (member->items != NULL && value != NULL)
					json_array_extend(items, value);
			}
			ck_assert_msg(is_there, "%s: %s", line, member->name);
			if (member->items != NULL)
				expect_members(line, member->items, items);
		}
		json_decref(items);
	}
}

/* Returns the objects of all lines of a kind. */
static json_t *objects_of(const struct heap *heap, const char *kind)
{
	json_t *objects = json_array();

	for (size_t i = 0; i < heap->count; i++) {
		json_t *line = json_loads(heap->lines[i], 0, NULL);

		if (json_object_get(line, kind) != NULL)
			json_array_append(objects, json_object_get(line, kind));
		json_decref(line);
	}
	return objects;
}

/* Members that a life does not have, in the first line with this text. */
static const struct {
	const char *kind, *text, *list; /* list: the members are of its first item; or NULL */
	const char *members;
} filled[] = {
	{ "media", "", "backends", "{\"api_url\":\"https://api.example.org/\"}" },
	{ "template", "", NULL,
	  "{\"round_began\":\"2026-01-01T00:00:00.000Z\",\"last_room\":\"6925c84100000000000000b1\"}" },
	{ "codes", "", NULL, "{\"settled\":1}" },
	{ "codes", "", "groups", "{\"lost_role\":\"r\",\"lost_at\":\"2026-01-01T00:00:00Z\"}" },
	{ "code", "\"uses\":1", NULL,
	  "{\"last_repeats\":1,\"asks_in\":\"6925c84100000000000000b1\"}" },
	{ "log", "", NULL, "{\"watched\":true,\"enabled\":true,\"secrets\":-5}" },
	{ "webhooks", "", "webhooks", "{\"end\":\"failing\",\"description\":\"d\"}" },
	{ "position", "", NULL, "{\"delivered_at\":\"2026-01-01T00:00:00.000Z\"}" },
	{ "peer", "", NULL,
	  "{\"strange\":true,\"order_last\":true,\"name_origin\":\"given\",\"new_name\":\"n\"}" },
	{ "live", "", NULL,
	  "{\"given\":true,\"left_unseen\":true,\"closing_at\":\"2026-01-01T00:00:00.000Z\","
	  "\"ended_at\":\"2026-01-01T00:00:00.000Z\"}" },
};

/* A delivery of the webhook whose position is in a line. */
#define DELIVERY_LINE \
	"{\"delivery\":{\"id\":\"6925c84100000000000000d1\",\"webhook\":\"%s\",\"pending\":true," \
	"\"state\":\"pending\",\"series\":1,\"seq\":2,\"event_id\":\"e\",\"type\":\"room.created\"," \
	"\"attempts\":1,\"status\":500,\"error\":\"status 500\",\"first_at\":" \
	"\"2026-01-01T00:00:00.000Z\",\"next_at\":\"2026-01-01T00:01:00.000Z\"}}"

static bool line_is_of(const char *line, const char *kind, const char *text)
{
	const size_t size = strlen(kind);

	return strncmp(line + 2, kind, size) == 0 && line[2 + size] == '"' &&
	       strstr(line, text) != NULL;
}

/* Returns a dump of a life, in which each member is somewhere other than empty. */
static void dump_everything(struct world *world, struct heap *filling)
{
	bool is_filled[ROWS(filled)] = { false }, has_delivery = false;
	struct heap dumped = { .count = 0 };
	struct life life;

	live(world, &life);
	heap_dump(world, &dumped, false);
	for (size_t i = 0; i < dumped.count; i++) {
		json_t *line = json_loads(dumped.lines[i], 0, NULL);
		const char *kind = json_object_iter_key(json_object_iter(line));
		json_t *object = json_object_get(line, kind);

		for (int row = 0; row < ROWS(filled); row++) {
			json_t *of = object, *members;

			if (is_filled[row] ||
			    !line_is_of(dumped.lines[i], filled[row].kind, filled[row].text))
				continue;
			is_filled[row] = true;
			if (filled[row].list != NULL)
				of = json_array_get(json_object_get(of, filled[row].list), 0);
			members = json_loads(filled[row].members, 0, NULL);
			ck_assert_int_eq(json_object_update(of, members), 0);
			json_decref(members);
		}
		if (strcmp(kind, "end") == 0)
			json_object_set_new(json_object_get(object, "lines"), "delivery",
					    json_integer(has_delivery));
		heap_add(filling, line);
		if (!has_delivery && line_is_of(dumped.lines[i], "position", "")) {
			struct arena *arena = arena_open();
			json_t *position = json_loads(dumped.lines[i], 0, NULL);
			const json_t *id = json_object_get(json_object_get(position, "position"),
							   "id");

			heap_add(filling,
				 json_loads(arena_text(arena, DELIVERY_LINE, json_string_value(id)),
					    0, NULL));
			has_delivery = true;
			json_decref(position);
			arena_close(arena);
		}
	}
	heap_free(&dumped);
}

/* Runs the program, which must succeed. */
static void run_program(const char *command, const char *directory, const char *option,
			const char *path)
{
	const char *named = getenv("ANTEROOM");
	const char *program = named != NULL ? named : "./anteroom";
	const pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (option != NULL)
			(void)execl(program, program, command, option, path, directory,
				    (char *)NULL);
		else
			(void)execl(program, program, command, directory, path, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: %d", command, status);
}

/* By the program itself: this process has verified all tables of the interface, and the program
 * only those that the kinds of records name. */
START_TEST(every_member_is_dumped_and_loaded)
{
	struct heap first = { .count = 0 }, second = { .count = 0 };
	struct arena *arena = arena_open();
	char *directory = directory_make();
	const char *before = arena_text(arena, "%s/before", directory);
	const char *after = arena_text(arena, "%s/after", directory);
	const char *data = arena_text(arena, "%s/data", directory);
	char *line = NULL;
	size_t size = 0;
	ssize_t got;
	FILE *file;

	dump_everything(&one, &first);
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i]->line != NULL) {
			json_t *objects = objects_of(&first, record_kinds[i]->line);

			expect_members(record_kinds[i]->line, record_kinds[i]->table, objects);
			json_decref(objects);
		}
	}
	file = fopen(before, "w");
	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < first.count; i++)
		(void)fprintf(file, "%s\n", first.lines[i]);
	ck_assert_int_eq(fclose(file), 0);
	run_program("load", data, NULL, before);
	run_program("dump", data, "--output", after);
	file = fopen(after, "r");
	ck_assert_ptr_nonnull(file);
	while ((got = getline(&line, &size, file)) > 0)
		(void)heap_line(&second.output, (struct slice){ line, (size_t)got - 1 }, &fault);
	fclose(file);
	free(line);
	compare_heaps(&first, &second);
	heap_free(&first);
	heap_free(&second);
	directory_remove(directory);
	arena_close(arena);
}
END_TEST

/* The memory of a command for values. An account gets so many records of each kind that they need
 * twice as much, but at most GROWN_MOST. */
#define GROWN_LIMIT ((size_t)128 << 10)
#define GROWN_MOST ((size_t)800)

static void set_text(json_t *object, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set_text(json_t *object, const char *name, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	json_object_set_new(object, name, json_string(text));
}

static void add_to(json_t *object, const char *name, size_t n)
{
	json_object_set_new(
		object, name,
		json_integer(json_integer_value(json_object_get(object, name)) + (json_int_t)n));
}

/* Sets another id, with the time of the first one. */
static void set_id(json_t *object, const char *name, size_t i)
{
	char text[25];

	(void)snprintf(text, sizeof text, "%.8s%016zx",
		       json_string_value(json_object_get(object, name)), 1000000 + i);
	json_object_set_new(object, name, json_string(text));
}

/* The last event of the account before it grows. */
static json_int_t last_event;

static void grow_event(json_t *event, size_t i)
{
	json_object_set_new(event, "seq", json_integer(last_event + (json_int_t)i));
}

static void grow_person(json_t *peer, size_t i)
{
	const bool is_inside = json_is_true(json_object_get(peer, "inside"));

	set_text(peer, "id", "%08zx-0000-4000-8000-00000000000%d", i, is_inside);
	set_text(peer, "entry", "entry-%zu", i);
	set_text(peer, "metadata", "%0300zu", i);
}

static void grow_code(json_t *code, size_t i)
{
	char text[13];

	(void)snprintf(text, sizeof text, "abc-%c%c%c%c-xyz", 'a' + (char)(i / 512),
		       'a' + (char)(i / 64 % 8), 'a' + (char)(i / 8 % 8), 'a' + (char)(i % 8));
	json_object_set_new(code, "code", json_string(text));
	set_text(code, "place", "%018zx000000", 1000 + i);
}

static void grow_room(json_t *room, size_t i)
{
	json_t *document = json_object_get(room, "document");

	set_id(room, "id", i);
	json_object_set(document, "id", json_object_get(room, "id"));
	set_text(document, "name", "room-%zu", i);
}

static void grow_deleted_role(json_t *role, size_t i)
{
	add_to(role, "identity", 1000 + i);
}

static void grow_delivery(json_t *delivery, size_t i)
{
	set_id(delivery, "id", i);
}

static void grow_session(json_t *session, size_t i)
{
	set_id(session, "id", i);
}

static void grow_given_role(json_t *given, size_t i)
{
	set_id(given, "key", i);
}

static void grow_revocation(json_t *revocation, size_t i)
{
	set_id(revocation, "id", i);
	set_text(revocation, "name", "entry-%zu", i);
}

static void grow_usage(json_t *usage, size_t i)
{
	json_object_set_new(usage, "day", json_integer((json_int_t)i));
}

static void grow_ban(json_t *ban, size_t i)
{
	set_id(ban, "id", i);
	set_text(ban, "user_id", "user-%zu", i);
}

static void grow_words(json_t *words, size_t i)
{
	set_text(words, "words", "many-words-%zu", i);
}

/* After the first line that has the text, more like it. */
static const struct {
	const char *kind, *text;
	void (*grow)(json_t *object, size_t i);
} grown[] = {
	{ "deleted_role", "", grow_deleted_role },
	{ "room", "\"description\":\"d\"", grow_room },
	{ "code", "\"former\":false", grow_code },
	{ "event", "", grow_event },
	{ "delivery", "", grow_delivery },
	{ "session", "\"active\":false", grow_session },
	{ "peer", "\"inside\":true", grow_person },
	{ "peer", "\"inside\":false", grow_person },
	{ "given_role", "", grow_given_role },
	{ "revocation", "", grow_revocation },
	{ "usage", "", grow_usage },
	{ "ban", "\"user_id\"", grow_ban },
	{ "words", "", grow_words },
};

/* What other lines say about the new ones. */
static void adapt_line(const char *kind, json_t *object, const uint64_t counts[ROWS(grown)])
{
	if (strcmp(kind, "log") == 0) {
		last_event = json_integer_value(json_object_get(object, "last"));
		add_to(object, "last", GROWN_MOST);
	}
	if (strcmp(kind, "codes") == 0)
		add_to(object, "last_place", 1000 + GROWN_MOST);
	for (int row = 0; strcmp(kind, "end") == 0 && row < ROWS(grown); row++)
		add_to(json_object_get(object, "lines"), grown[row].kind, (size_t)counts[row]);
}

static void grow_dump(const struct heap *small, struct heap *large)
{
	uint64_t counts[ROWS(grown)] = { 0 };

	for (size_t i = 0; i < small->count; i++) {
		json_t *line = json_loads(small->lines[i], 0, NULL);
		const char *kind = json_object_iter_key(json_object_iter(line));

		adapt_line(kind, json_object_get(line, kind), counts);
		heap_add(large, line);
		for (int row = 0; row < ROWS(grown); row++) {
			if (counts[row] > 0 ||
			    !line_is_of(small->lines[i], grown[row].kind, grown[row].text))
				continue;
			/* The log of events has no gaps. */
			counts[row] = grown[row].grow == grow_event
					      ? GROWN_MOST
					      : 2 * GROWN_LIMIT / strlen(small->lines[i]);
			if (counts[row] > GROWN_MOST)
				counts[row] = GROWN_MOST;
			for (size_t n = 1; n <= counts[row]; n++) {
				line = json_loads(small->lines[i], 0, NULL);
				grown[row].grow(json_object_get(line, grown[row].kind), n);
				heap_add(large, line);
			}
		}
	}
	for (int row = 0; row < ROWS(grown); row++)
		ck_assert_msg(counts[row] > 0, "%s", grown[row].kind);
}

/* Loads the lines, each in a transaction of its own, and verifies them, as the command does. */
static void heap_load(struct world *world, const struct heap *heap)
{
	struct saying saying = { .findings.tell = say_finding };
	struct store *store = world->environment.store;
	struct arena *arena = arena_open();
	struct transfer_input input, mark;
	struct fault why = FAULT_INITIAL;
	struct survey survey;
	struct roster *roster;
	uint64_t number;
	char said[2000] = "";

	saying.said = said;
	ck_assert(accounts_list(world->directory, &roster, &fault));
	transfer_input_open(&input, store, &clock_system, roster);
	input.call.arena = arena;
	arena_set_limit(arena, heap->limit);
	ck_assert(store_begin(store, STORE_WRITE, arena, &input.call.transaction, &fault));
	for (size_t i = 0; i < heap->count; i++) {
		findings_open(&input.call.findings, arena);
		ck_assert_msg(transfer_read_line(&input, slice_of(heap->lines[i]), &why),
			      "line %zu, %s: %s %s", i, heap->lines[i], fault_reason(&why),
			      json_string_value(json_array_get(why.details, 0)));
		commit_lines(&input, &mark);
	}
	ck_assert(transfer_read_end(&input, &why));
	ck_assert(store_commit(input.call.transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	ck_assert(survey_open(store, &clock_system, &survey, &fault));
	arena_set_limit(survey.call.arena, heap->limit);
	ck_assert_msg(transfer_verify(&survey, &input, &saying.findings, &why), "%s%s",
		      fault_reason(&why), said);
	survey_close(&survey);
	ck_assert(accounts_restore(world->directory, input.accounts, (size_t)input.counts.accounts,
				   &fault));
	transfer_input_close(&input);
	roster_close(roster);
	arena_close(arena);
}

/* The memory of dump, load, check and removal does not grow with the number of records: all values
 * of any kind together do not fit into it. */
START_TEST(memory_does_not_grow_with_the_records)
{
	struct heap small = { .count = 0 }, large = { .limit = GROWN_LIMIT };
	struct heap again = { .limit = GROWN_LIMIT };
	struct counting counting = { .findings.tell = count_finding };
	struct removal removal = { .store = other.environment.store, .arena = arena_open() };
	uint64_t counts[KINDS];
	struct roster *roster;
	struct survey survey;

	dump_everything(&one, &small);
	grow_dump(&small, &large);
	heap_load(&other, &large);
	for (int is_salvage = 0; is_salvage < 2; is_salvage++) {
		heap_dump(&other, &again, is_salvage != 0);
		compare_heaps(&large, &again);
		heap_free(&again);
	}
	ck_assert(accounts_list(other.directory, &roster, &fault));
	ck_assert(survey_open(other.environment.store, &clock_system, &survey, &fault));
	arena_set_limit(survey.call.arena, GROWN_LIMIT);
	counting.findings.roster = roster;
	counting.survey = &survey;
	for (int i = 0; i < KINDS; i++) {
		counting.kind = all_kinds[i];
		ck_assert(store_walk(survey.call.transaction, all_kinds[i], look_at, &counting,
				     &fault));
	}
	ck_assert_msg(counting.count == 0, "%s", counting.said);
	ck_assert(store_gdbm_check_indexes(survey.call.transaction, all_kinds, KINDS, count_problem,
					   &counting, &fault));
	survey_close(&survey);
	for (size_t i = 0; i < roster->count; i++) {
		removal.account = roster->accounts[i].id;
		ck_assert_msg(removal_run(&removal, &fault), "%s", fault_reason(&fault));
	}
	ck_assert(store_wait(other.environment.store, removal.last, &fault));
	ck_assert(survey_open(other.environment.store, &clock_system, &survey, &fault));
	ck_assert(store_count(survey.call.transaction, all_kinds, KINDS, counts, &fault));
	for (int i = 0; i < KINDS; i++)
		ck_assert_msg(counts[i] == 0 || all_kinds[i] == &kind_words, "%s",
			      all_kinds[i]->name);
	survey_close(&survey);
	roster_close(roster);
	arena_close(removal.arena);
	heap_free(&small);
	heap_free(&large);
}
END_TEST

/* Adds a case that can run alone and lives its own life. */
static TCase *case_with_life(Suite *suite, const char *name, double seconds)
{
	TCase *made = tcase_create(name);

	tcase_add_unchecked_fixture(made, set_up_life, tear_down_life);
	tcase_add_checked_fixture(made, set_up, tear_down);
	tcase_set_timeout(made, seconds);
	suite_add_tcase(suite, made);
	return made;
}

/* The longest tests have cases of their own, so that they can run at the same time. */
static Suite *suite(void)
{
	Suite *suite = suite_create("transfer");
	TCase *transfer = case_with_life(suite, "transfer", 30);
	TCase *refused = case_with_life(suite, "refused", 60);
	TCase *damaged = case_with_life(suite, "damaged", 240);
	TCase *saved = case_with_life(suite, "saved", 240);
	TCase *check = case_with_life(suite, "check", 240);
	TCase *texts = case_with_life(suite, "texts", 120);
	TCase *kept = case_with_life(suite, "kept", 120);
	TCase *older_texts = case_with_life(suite, "older", 60);
	TCase *every = case_with_life(suite, "every", 120);
	TCase *large = case_with_life(suite, "large", 120);
	/* What tests/scripts/new_kind.sh runs. */
	TCase *whole = case_with_life(suite, "whole", 60);

	tcase_add_test(whole, the_manual_has_all_members);
	tcase_add_test(whole, a_loaded_store_answers_as_before);
	tcase_add_test(transfer, queued_events_are_dumped);
	tcase_add_test(transfer, codes_go_on_as_before);
	tcase_add_test(transfer, a_dump_shows_one_moment);
	tcase_add_test(transfer, live_rooms_go_on_as_before);
	tcase_add_test(transfer, peers_of_a_forgotten_session_are_removed);
	tcase_add_test(transfer, hidden_members_are_kept);
	tcase_add_test(transfer, counters_continue);
	tcase_add_test(transfer, times_do_not_go_back);
	tcase_add_test(transfer, other_codes_are_saved_if_one_is_lost);
	tcase_add_test(transfer, a_clock_beyond_the_ids_hides_nothing);
	tcase_add_test(refused, a_faulty_line_is_refused);
	tcase_add_test(refused, an_incomplete_dump_is_refused);
	tcase_add_test(transfer, accounts_that_exist_are_refused);
	tcase_add_loop_test(transfer, codes_that_are_taken_are_refused, 0, ROWS(taken));
	tcase_add_test(transfer, an_abandoned_load_leaves_nothing);
	tcase_add_test(transfer, lines_can_be_read_again_in_another_transaction);
	tcase_add_loop_test(transfer, a_removal_is_run_again_if_the_store_requires_it, 0,
			    sizeof agains / sizeof agains[0]);
	tcase_add_test(damaged, every_damaged_record_is_found);
	tcase_add_loop_test(check, a_dump_with_inconsistent_lists_fails, 0, LISTS);
	tcase_add_test(saved, a_damaged_store_is_saved_as_far_as_possible);
	tcase_add_test(check, wrong_live_records_are_found);
	tcase_add_test(check, wrong_due_roles_are_found);
	tcase_add_test(check, stray_entries_are_found);
	tcase_add_test(kept, values_are_returned_as_they_were_sent);
	tcase_add_test(texts, an_unreadable_text_never_aborts_the_process);
	tcase_add_loop_test(kept, a_value_that_its_row_rules_out_is_found, 0, RECORD_KINDS);
	tcase_add_test(older_texts, texts_of_an_older_release_are_loaded);
	tcase_add_test(every, every_member_is_dumped_and_loaded);
	tcase_add_test(large, memory_does_not_grow_with_the_records);
	return suite;
}

int main(void)
{
	fast_disk();
	return suite_run(suite());
}
