/* Live rooms: what becomes of the news that media servers tell (resources/live/live_merge.h), over
 * a store in memory and over a durable one.
 *
 * News are written as scripts: words that are carried out one after the other, each a call of its
 * own. The records of a room are compared as a text. A stay has a short name, such as `a`; times
 * are milliseconds since the script began.
 *
 *     join:a        an event: a is inside           room:2     a later room of the media server;
 *                                                              8 and 9 were made at the same time
 *     leave:a=sip   an event, with its cause        late:3000  events are told so much later
 *     look:a,b      the media server lists a and b  name:x     people have this name from now on
 *     listed:a,b    the same, and names the room    server:2   another media server tells
 *     ended         an event: the room has ended    known:a    a joins now, which nobody tells yet
 *     failed:a      an event: a did not get in      timeless:a nobody knows when a joined
 *     order:a=full  a is to be put out, and why     out:a      it was put out
 *     grace         20 s without anybody are over   delete     the room is deleted
 *     ( )           the events are told together    +5000      so much later
 *     a/host#e      the stay a, with its role and the entry of its token
 *     join:a=x      a is a stay of the person x, whose user_id and name are x; else they are a
 *     ending        a call has the room ended
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "accounts/token.h"
#include "background/door_watch.h"
#include "background/join_log.h"
#include "base/digest.h"
#include "directory.h"
#include "fast_disk.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/bans/bans.h"
#include "resources/door/door_polls.h"
#include "resources/events/audit_record.h"
#include "resources/events/webhook_record.h"
#include "resources/garbage.h"
#include "resources/joining/misses.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_events.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_names.h"
#include "resources/live/stay_limits.h"
#include "resources/media/backend_health.h"
#include "resources/record_kind.h"
#include "service/service.h"
#include "store/gdbm/store_gdbm.h"
#include "store_memory.h"
#include "suite.h"

/* ---- the world ---- */

#define MIDDAY ((int64_t)1800014400000) /* 12:00 UTC */
#define HOUR ((int64_t)60 * 60 * 1000)
#define GRACE 20000
#define SERVERS 2

static int64_t now;

static int64_t stand_now(const struct clock *clock)
{
	(void)clock;
	return now;
}

static void stand_random(const struct clock *clock, void *bytes, size_t size)
{
	(void)clock;
	clock_random(&clock_system, bytes, size);
}

static const struct clock stand_clock = { stand_now, stand_random };

static struct store *open_memory(const char *directory)
{
	(void)directory;
	return store_memory_open();
}

static struct store *open_gdbm(const char *directory)
{
	char path[4200];
	const struct store_options options = { .directory = path, .readers = 2, .creates = true };
	struct fault fault = FAULT_INITIAL;
	struct store *store;

	(void)snprintf(path, sizeof path, "%s/store", directory);
	ck_assert_msg(store_gdbm_open(&options, &store, &fault), "%s", fault.cause);
	return store;
}

static struct store *(*const drivers[])(const char *directory) = { open_memory, open_gdbm };

/* One account with a template and two media servers. */
static struct {
	char *directory;
	struct environment environment;
	struct service *service;
	struct arena *arena; /* of the test */
	struct id account;
	struct id servers[SERVERS];
} stand;

static char *ask(enum method method, const char *path, const char *body)
{
	struct store *store = stand.environment.store;
	struct arena *arena = arena_open();
	struct call call = { .arena = arena };
	struct buffer header = BUFFER_INITIAL(arena), text = BUFFER_INITIAL(stand.arena);
	const struct roster *roster = accounts_current(stand.environment.accounts);
	struct fault fault = FAULT_INITIAL;

	buffer_append_text(&header, "Bearer ");
	buffer_append(&header,
		      token_sign_management(arena, &stand_clock, roster_by_name(roster, SLICE("a")),
					    now, 3600));
	accounts_release(stand.environment.accounts, roster);
	call.request = (struct request){
		.method = method,
		.uri = slice_of(path),
		.body = slice_of(body),
		.authorization = buffer_slice(&header),
		.address = SLICE("192.0.2.1"),
	};
	service_answer(stand.service, &call);
	ck_assert(store_wait(store, call.answer.awaited, &fault));
	for (size_t i = 0; i < call.answer.part_count; i++)
		buffer_append(&text, call.answer.parts[i]);
	ck_assert_msg(call.answer.status / 100 == 2, "%s: %d %.*s", path, call.answer.status,
		      (int)text.size, text.data);
	buffer_append_byte(&text, '\0');
	arena_close(arena);
	return text.data;
}

/* Creates an object and returns its id. */
static struct id create(const char *path, const char *body)
{
	const char *place = strstr(ask(METHOD_POST, path, body), "\"id\":\"");
	struct id id;

	ck_assert_ptr_nonnull(place);
	ck_assert(id_parse((struct slice){ place + 6, 24 }, &id));
	return id;
}

static void set_setting(const char *name, const char *value)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert_msg(
		accounts_set(stand.directory, "a", slice_of(name), slice_of(value), NULL, &fault),
		"%s", fault.cause);
	accounts_close(stand.environment.accounts);
	ck_assert(accounts_open(stand.directory, &stand.environment.accounts, &fault));
	service_close(stand.service);
	stand.service = service_open(&stand.environment);
}

static void set_up(void)
{
	struct fault fault = FAULT_INITIAL;
	struct account account;

	now = MIDDAY;
	stand.arena = arena_open();
	stand.directory = directory_make();
	stand.environment = (struct environment){
		.session_keep = INT64_MAX / 2,
		.clock = &stand_clock,
		.misses = misses_open(&stand_clock),
		.door_polls = door_polls_open(DOOR_MOST),
		.join_seconds = 3600,
	};
	ck_assert(accounts_add(stand.directory, &stand_clock, "a", &account, &fault));
	stand.account = account.id;
	ck_assert(accounts_open(stand.directory, &stand.environment.accounts, &fault));
}

static void open_stand(int driver)
{
	stand.environment.store = drivers[driver](stand.directory);
	stand.service = service_open(&stand.environment);
	(void)create("/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
	for (int i = 0; i < SERVERS; i++)
		stand.servers[i] =
			create("/v2/backends",
			       arena_text(stand.arena,
					  "{\"name\":\"s%d\",\"type\":\"livekit\",\"url\":"
					  "\"wss://lk.example.org\",\"config\":{\"api_key\":\"k\","
					  "\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}",
					  i));
}

static void tear_down(void)
{
	service_close(stand.service);
	store_close(stand.environment.store);
	accounts_close(stand.environment.accounts);
	door_polls_close(stand.environment.door_polls);
	misses_close(stand.environment.misses);
	directory_remove(stand.directory);
	arena_close(stand.arena);
}

/* ---- calls without a request ---- */

static void begin(struct call *call)
{
	struct fault fault = FAULT_INITIAL;

	*call = (struct call){
		.environment = &stand.environment,
		.arena = arena_open(),
		.account = stand.account,
		.actor.kind = ACTOR_SERVICE,
		.now = now,
	};
	arena_set_limit(call->arena, CALL_ALONE_MEMORY_MOST);
	ck_assert(store_begin(stand.environment.store, STORE_WRITE, call->arena, &call->transaction,
			      &fault));
	call_set_account(call);
	call_draw_etag(call);
}

static void commit(struct call *call)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert_msg(audit_write(call, &fault), "%s", fault.cause);
	ck_assert_msg(store_commit(call->transaction, &number, &fault), "%s", fault.cause);
	arena_close(call->arena);
}

static void abandon(struct call *call)
{
	store_abandon(call->transaction);
	arena_close(call->arena);
}

/* ---- scripts ---- */

#define STAYS_MOST 1000

/* A stay of a script. */
struct known {
	struct slice name;
	struct slice person, role, entry; /* as first told */
	int64_t joined;
};

struct script {
	const char *at; /* where it is run, for messages */
	struct id room;
	struct id first_room; /* whose stays have the same names and the same ids */
	int64_t begun;
	struct known stays[STAYS_MOST];
	size_t stay_count;
	/* What words have set. */
	unsigned server, server_room;
	int64_t late;
	struct slice name; /* data NULL: that of the stay */
	enum name_origin origin;
	bool is_batch; /* events are told together */
	struct news batch[STAYS_MOST];
	size_t batch_count;
	/* Results of the last word that tells news, and the last event before it. */
	struct merging told;
	uint64_t seq;
};

static struct script *script_open(const char *at)
{
	struct script *script = arena_zero(stand.arena, sizeof *script);

	script->at = at;
	script->room = script->first_room = create("/v2/rooms", "{}");
	now += HOUR;
	script->begun = now;
	script->server_room = 1;
	return script;
}

/* A stay belongs to one script, as the ids of a media server are never used again. */
static struct slice stay_id(const struct script *script, struct slice name)
{
	return slice_of(arena_text(stand.arena, "PA_%s_%.*s",
				   id_as_text(stand.arena, &script->first_room).data,
				   (int)name.size, name.data));
}

/* Returns the stay of a word such as a/host#e. */
static struct known *find_known(struct script *script, struct slice word)
{
	struct slice role, entry, name, person;
	size_t i = 0;

	word = text_split(word, '#', &entry);
	word = text_split(word, '/', &role);
	name = text_split(word, '=', &person);
	while (i < script->stay_count && !slice_equal(script->stays[i].name, name))
		i++;
	ck_assert_uint_lt(i, STAYS_MOST);
	if (i == script->stay_count)
		script->stays[script->stay_count++] = (struct known){
			.name = name,
			.person = person.data == NULL ? name : person,
			.role = role.data == NULL ? SLICE("") : role,
			.entry = entry.data == NULL ? SLICE("") : entry,
			.joined = now - script->late,
		};
	return &script->stays[i];
}

static struct server_room server_room_of(const struct script *script)
{
	return (struct server_room){
		.name = id_as_text(stand.arena, &script->room),
		.id = slice_of(arena_text(stand.arena, "RM_%u", script->server_room)),
		.created = script->begun + (script->server_room == 9 ? 8 : script->server_room),
	};
}

static struct news news_of(struct script *script, enum news_type type, struct slice word)
{
	struct news news = { .type = type, .time = now - script->late };
	const struct known *known;

	news.room = server_room_of(script);
	if (type == NEWS_ENDED)
		return news;
	known = find_known(script, word);
	news.person = (struct server_person){
		.stay = stay_id(script, known->name),
		.identity = known->name,
		.user_id = known->person,
		.role = known->role,
		.entry = known->entry,
		.code = SLICE("c0de"),
		.name = script->name.data != NULL ? script->name : known->person,
		.metadata = script->name,
		.name_origin = script->origin,
		.joined = known->joined,
	};
	if (news.person.metadata.data == NULL)
		news.person.metadata = SLICE("");
	return news;
}

static void merge(struct script *script, struct merging *merging)
{
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	merging->room = script->room;
	merging->backend = stand.servers[script->server];
	ck_assert_msg(live_merge(&call, merging, &fault), "%s: %s", script->at,
		      fault_reason(&fault));
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	ck_assert_int_eq(merging->is_live, live.stored.value.data != NULL);
	ck_assert_uint_eq(merging->inside, live_peers(&live));
	ck_assert_int_eq(merging->empty_since, merging->inside == 0 ? live.left : 0);
	script->told = *merging;
	script->told.failed = NULL;
	for (const struct told_once *told = merging->failed; told != NULL; told = told->next) {
		struct told_once *kept = arena_alloc(stand.arena, sizeof *kept);

		*kept = (struct told_once){ script->told.failed,
					    arena_copy(stand.arena, told->data) };
		script->told.failed = kept;
	}
	commit(&call);
}

static void tell(struct script *script, const struct news *news)
{
	struct merging merging = { .news = news, .count = 1 };

	ck_assert_uint_lt(script->batch_count, STAYS_MOST);
	if (script->is_batch)
		script->batch[script->batch_count++] = *news;
	else
		merge(script, &merging);
}

/* names_room: whether the list of rooms is known, too. */
static bool look_once(struct script *script, struct slice people, bool names_room)
{
	struct news news[STAYS_MOST];
	struct merging merging = { .news = news, .is_look = true, .looked = now - script->late };

	for (struct slice rest = people, word; rest.data != NULL && people.size > 0;) {
		word = text_split(rest, ',', &rest);
		news[merging.count] = news_of(script, NEWS_LISTED, word);
		if (!names_room)
			news[merging.count].room = (struct server_room){ .name = SLICE("") };
		merging.count++;
	}
	merge(script, &merging);
	return merging.needs_room;
}

static void say_listed(struct script *script, struct slice people)
{
	ck_assert(!look_once(script, people, true));
}

/* Looks as the service does: the list of people names no room, so the rooms are asked for if
 * somebody is new. */
static void say_look(struct script *script, struct slice people)
{
	bool looks_again;

	if (!look_once(script, people, false))
		return;
	looks_again = script->told.looks_again;
	say_listed(script, people);
	script->told.looks_again = script->told.looks_again || looks_again;
}

/* ---- words ---- */

static void say_join(struct script *script, struct slice word)
{
	const struct news news = news_of(script, NEWS_JOINED, word);

	tell(script, &news);
}

static void say_leave(struct script *script, struct slice word)
{
	struct slice cause;
	struct news news = news_of(script, NEWS_LEFT, text_split(word, '=', &cause));

	while (cause.data != NULL && !slice_is(cause, leave_cause_names[news.cause]))
		ck_assert_int_lt(++news.cause, LEAVE_CAUSES);
	tell(script, &news);
}

static void say_ended(struct script *script, struct slice word)
{
	const struct news news = news_of(script, NEWS_ENDED, word);

	tell(script, &news);
}

static void say_failed(struct script *script, struct slice word)
{
	const struct news news = news_of(script, NEWS_NOT_CONNECTED, word);

	tell(script, &news);
}

static void say_room(struct script *script, struct slice word)
{
	script->server_room = (unsigned)(word.data[0] - '0');
}

static void say_server(struct script *script, struct slice word)
{
	script->server = (unsigned)(word.data[0] - '1');
	ck_assert_uint_lt(script->server, SERVERS);
}

static int64_t number_of(struct slice word)
{
	int64_t number;

	ck_assert_msg(text_integer(word, &number), "%.*s", (int)word.size, word.data);
	return number;
}

static void say_late(struct script *script, struct slice word)
{
	script->late = number_of(word);
}

/* Of a name, _ is a blank, and what precedes an exclamation mark says where it comes from. */
static void say_name(struct script *script, struct slice word)
{
	char *name = arena_alloc(stand.arena, word.size + 1);
	const char *mark = memchr(word.data, '!', word.size);

	script->origin = NAME_CHOSEN;
	if (mark != NULL) {
		script->origin = *word.data == 'g' ? NAME_GIVEN : NAME_COUNTED;
		word.size -= (size_t)(mark + 1 - word.data);
		word.data = mark + 1;
	}
	for (size_t i = 0; i < word.size; i++)
		name[i] = word.data[i] == '_' ? ' ' : word.data[i];
	script->name = (struct slice){ name, word.size };
}

static void say_known(struct script *script, struct slice word)
{
	(void)find_known(script, word);
}

static void say_timeless(struct script *script, struct slice word)
{
	find_known(script, word)->joined = 0;
}

static void say_together(struct script *script, struct slice word)
{
	(void)word;
	script->is_batch = true;
	script->batch_count = 0;
}

static void say_all(struct script *script, struct slice word)
{
	struct merging merging = { .news = script->batch, .count = script->batch_count };

	(void)word;
	script->is_batch = false;
	merge(script, &merging);
}

/* Begins a call, and loads the peer of the stay. */
static void begin_with_peer(const struct script *script, struct slice word, struct call *call,
			    struct peer *peer)
{
	struct fault fault = FAULT_INITIAL;
	char uuid[UUID_TEXT_SIZE];

	begin(call);
	peer_uuid(&stand.servers[script->server], stay_id(script, word), 0, uuid);
	ck_assert(record_get_named(&peer_table, call->transaction,
				   arena_copy(call->arena, slice_of(uuid)), STORE_TO_CHANGE, peer,
				   &fault));
	ck_assert_ptr_nonnull(peer->stored.value.data);
}

static void say_order(struct script *script, struct slice word)
{
	struct fault fault = FAULT_INITIAL;
	enum leave_cause order = LEAVE_LEFT;
	struct slice cause;
	struct peer peer;
	struct call call;

	begin_with_peer(script, text_split(word, '=', &cause), &call, &peer);
	while (!slice_is(cause, leave_cause_names[order]))
		ck_assert_int_lt(++order, LEAVE_CAUSES);
	ck_assert(live_order_out(&call, &script->room, &peer, order, SLICE("why"), &fault));
	commit(&call);
}

static void say_out(struct script *script, struct slice word)
{
	struct fault fault = FAULT_INITIAL;
	struct peer peer;
	struct call call;

	begin_with_peer(script, word, &call, &peer);
	ck_assert(live_put_out(&call, &script->room, peer.uuid, &fault));
	commit(&call);
}

static void say_ending(struct script *script, struct slice word)
{
	const struct ending ending = { .room = script->room, .reason = SLICE("") };
	struct fault fault = FAULT_INITIAL;
	struct call call;

	(void)word;
	begin(&call);
	ck_assert(live_order_end(&call, &ending, &fault));
	commit(&call);
}

static void say_delete(struct script *script, struct slice word)
{
	(void)word;
	(void)ask(METHOD_DELETE,
		  arena_text(stand.arena, "/v2/rooms/%s",
			     id_as_text(stand.arena, &script->room).data),
		  "");
}

static void say_grace(struct script *script, struct slice word)
{
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;
	bool is_closed;

	(void)word;
	begin(&call);
	ck_assert(live_close_empty(&call, &script->room, GRACE, &is_closed, &fault));
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	script->told.is_live = live.stored.value.data != NULL;
	ck_assert(!is_closed || !script->told.is_live);
	commit(&call);
}

static void say_pause(struct script *script, struct slice word)
{
	(void)script;
	now += number_of(word);
}

static const struct {
	const char *begins;
	void (*say)(struct script *script, struct slice word);
} words[] = {
	/* clang-format off */
	{ "join:", say_join }, { "leave:", say_leave }, { "look:", say_look },
	{ "listed:", say_listed }, { "ended", say_ended }, { "ending", say_ending }, { "failed:", say_failed },
	{ "known:", say_known }, { "timeless:", say_timeless }, { "grace", say_grace },
	{ "room:", say_room }, { "server:", say_server }, { "late:", say_late },
	{ "name:", say_name }, { "delete", say_delete }, { "+", say_pause },
	{ "(", say_together }, { ")", say_all }, { "order:", say_order }, { "out:", say_out },
	/* clang-format on */
};

static void say(struct script *script, const char *text)
{
	for (struct slice rest = slice_of(text), word; rest.data != NULL && rest.size > 0;) {
		const struct slice whole = word = text_split(rest, ' ', &rest);
		int i = 0;

		while (i < ROWS(words) && !slice_begins(word, slice_of(words[i].begins)))
			i++;
		ck_assert_msg(i < ROWS(words), "no word: %.*s", (int)whole.size, whole.data);
		word.data += strlen(words[i].begins);
		word.size -= strlen(words[i].begins);
		words[i].say(script, word);
	}
}

/* ---- what is stored ---- */

static void check_one(const struct script *script, struct call *call,
		      const struct record_kind *kind, const void *record)
{
	struct fault fault = FAULT_INITIAL;
	struct findings findings;

	findings_open(&findings, call->arena);
	ck_assert_msg(record_check(call, kind, record, true, &findings, &fault) &&
			      findings_result(&findings, &fault),
		      "%s: %s: %s", script->at, kind->table->kind->name,
		      fault.details != NULL ? json_string_value(json_array_get(fault.details, 0))
					    : fault_reason(&fault));
}

/* Appends the name of the stay, with an apostrophe for each time that it was declared gone. */
static void append_stay(const struct script *script, const struct peer *peer, struct buffer *text)
{
	for (size_t i = 0; i < script->stay_count; i++) {
		const struct slice stay = stay_id(script, script->stays[i].name);
		char uuid[UUID_TEXT_SIZE];

		if (!slice_equal(stay, peer->stay))
			continue;
		buffer_append(text, script->stays[i].name);
		for (unsigned again = 0; again < 9; again++) {
			for (int server = 0; server < SERVERS; server++) {
				peer_uuid(&stand.servers[server], stay, again, uuid);
				if (slice_is(peer->uuid, uuid))
					return;
			}
			buffer_append_byte(text, '\'');
		}
	}
	ck_abort_msg("%s: unknown stay", script->at);
}

static void append_time(const struct script *script, int64_t time, struct buffer *text)
{
	buffer_append_integer(text, time - script->begun);
}

static void append_peer(const struct script *script, const struct peer *peer, struct buffer *text)
{
	const size_t from = text->size + 1;
	struct slice name;

	buffer_append_byte(text, ' ');
	append_stay(script, peer, text);
	name = text_trim((struct slice){ text->data + from, text->size - from }, "'");
	if (!slice_equal(name, peer->name)) {
		buffer_append_byte(text, '(');
		buffer_append(text, peer->name);
		buffer_append_byte(text, ')');
	}
	buffer_append_byte(text, '@');
	append_time(script, peer->joined, text);
	if (peer->is_inside)
		return;
	ck_assert_int_eq(peer->missed, 0);
	buffer_append_byte(text, '-');
	append_time(script, peer->left, text);
	buffer_append_byte(text, '=');
	buffer_append_text(text, leave_cause_names[peer->cause]);
}

struct shown_peer {
	int64_t joined;
	const char *text;
};

static int compare_shown(const void *first, const void *second)
{
	const struct shown_peer *a = first, *b = second;

	if (a->joined != b->joined)
		return a->joined < b->joined ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* Peers that joined at the same time are in the order of digests, here in that of their names. */
static void append_peers(const struct script *script, struct call *call,
			 const struct peer_page *page, struct buffer *text)
{
	struct shown_peer *shown = arena_zero(stand.arena, (page->count + 1) * sizeof *shown);

	for (size_t i = 0; i < page->count; i++) {
		struct buffer one = BUFFER_INITIAL(stand.arena);

		check_one(script, call, &peer_kind, &page->peers[i]);
		ck_assert(i == 0 || page->peers[i - 1].joined <= page->peers[i].joined);
		append_peer(script, &page->peers[i], &one);
		buffer_append_byte(&one, '\0');
		shown[i] = (struct shown_peer){ page->peers[i].joined, one.data };
	}
	qsort(shown, page->count, sizeof *shown, compare_shown);
	for (size_t i = 0; i < page->count; i++)
		buffer_append_text(text, shown[i].text);
}

/* Expects the record of the room in session to be that of the session. */
static void check_live(const struct script *script, struct call *call,
		       const struct session *session, uint64_t inside)
{
	struct fault fault = FAULT_INITIAL;
	struct live live;

	ck_assert(live_load(call, &script->room, STORE_TO_CHANGE, &live, &fault));
	ck_assert_int_eq(session->is_active,
			 live.stored.value.data != NULL &&
				 id_compare(&live.session, &session->stored.id) == 0);
	if (!session->is_active)
		return;
	check_one(script, call, &live_kind, &live);
	ck_assert_uint_eq(live_peers(&live), inside);
	ck_assert_int_eq(id_compare(&live.backend, &session->backend), 0);
	ck_assert(slice_equal(live.server_room, session->server_room));
}

/* Returns the sessions of the room, oldest first: [open 1 CREATED-UPDATED PEERS]. A peer is
 * NAME@JOINED, followed by -LEFT=CAUSE. */
static const char *stored(const struct script *script)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct store_record records[9];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &script->room,
		.records = records,
		.most = ROWS(records),
	};
	struct usage_now used;
	struct call call;

	begin(&call);
	ck_assert(store_page(call.transaction, &kind_session, &page, &fault));
	ck_assert(page.is_last);
	for (size_t i = 0; i < page.count; i++) {
		struct peer_page peers = { .most = 10 * STAYS_MOST };
		struct session session;
		uint64_t inside = 0;

		ck_assert(session_load(&call, &records[i].id, STORE_TO_CHANGE, &session, &fault));
		check_one(script, &call, &session_kind, &session);
		ck_assert_msg(peers_read(&call, &records[i].id, &peers, &fault), "%s: %s",
			      script->at, fault_reason(&fault));
		ck_assert_uint_eq(session.peer_count, peers.count);
		buffer_append_text(&text, session.is_active ? "[open " : "[closed ");
		buffer_append(&text, (struct slice){ session.server_room.data + 3,
						     session.server_room.size - 3 });
		buffer_append_byte(&text, ' ');
		append_time(script, session.created, &text);
		buffer_append_byte(&text, '-');
		append_time(script, session.updated, &text);
		append_peers(script, &call, &peers, &text);
		for (size_t j = 0; j < peers.count; j++)
			inside += peers.peers[j].is_inside;
		check_live(script, &call, &session, inside);
		buffer_append_text(&text, i + 1 < page.count ? "] " : "]");
	}
	ck_assert(record_get(&usage_now_table, call.transaction, &kind_only_id, STORE_TO_CHANGE,
			     &used, &fault));
	check_one(script, &call, &usage_now_kind, &used);
	abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

static uint64_t last_seq(void)
{
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;
	struct call call;

	begin(&call);
	ck_assert(audit_state_load(call.transaction, STORE_TO_CHANGE, &state, &fault));
	abandon(&call);
	return state.last;
}

/* Returns the events of live rooms after the number: "open join", and so on. data: the contents of
 * the last one, unless that is NULL. */
static const char *events_since(uint64_t seq, const char **data)
{
	static const char *const names[LIVE_CHANGES] = {
		[LIVE_JOINED] = "join",
		[LIVE_LEFT] = "leave",
		[LIVE_OPENED] = "open",
		[LIVE_CLOSED] = "close",
	};
	const uint64_t last = last_seq();
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct audit_entry entry;
	struct call call;

	begin(&call);
	while (++seq <= last) {
		ck_assert(audit_read(call.transaction, seq, 1, &entry, &fault));
		for (size_t i = 0; i < LIVE_CHANGES; i++) {
			if (!slice_is(entry.type, live_change_types[i]))
				continue;
			buffer_append_text(&text, text.size > 0 ? " " : "");
			buffer_append_text(&text, names[i]);
			ck_assert(slice_is(entry.actor, "{\"kind\":\"service\",\"id\":\"\"}"));
			if (data != NULL)
				*data = arena_copy(stand.arena, entry.data).data;
		}
	}
	abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

/* ---- what becomes of news ---- */

/* a is inside, b has left, or was declared gone; a was listed last at 8000. Then a leaves, too. */
#define LEFT "room:2 join:a +1000 join:b +1000 leave:b"
#define GONE "room:2 join:a +1000 join:b +1000 look:a,b +1000 look:a +5000 look:a"
#define CLOSED " +1000 leave:a +20000 grace"
/* a was inside, and c, of which nobody has told. */
#define ENDED "join:a +500 known:c +500 ended"
/* Both were listed at 2000; it is 3000. */
#define SEEN "join:a +1000 join:b +1000 look:a,b +1000"

static const struct {
	const char *before; /* what was told already */
	const char *news;
	const char *stored;
	/* The events of the news; then `told`: webhooks are told of a failure; `soon`: the room is
	 * to be looked at; `again`: it is to be looked at again. */
	const char *events;
} news_rows[] = {
	/* clang-format off */
	/* ---- an event tells of a join ---- */
	{ "", "join:a", "[open 1 0-0 a@0]", "open join" },
	{ "join:a +1000", "join:b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "room:2 join:a +1000", "room:3 join:b",
	  "[closed 2 0-0 a@0-0=unseen] [open 3 1000-1000 b@1000]", "leave close open join soon" },
	{ "room:2 join:a +1000", "room:1 join:b", "[open 2 0-0 a@0]", "" },
	{ "room:8 join:a +1000", "room:9 join:b", "[open 8 0-0 a@0]", "" },
	/* inside */
	{ "join:a +1000", "name:x join:a", "[open 1 0-0 a(x)@0]", "" },
	{ "join:a +1000", "room:2 name:x join:a", "[open 1 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 name:x join:a", "[open 2 0-0 a@0]", "" },
	/* left */
	{ LEFT, "name:x join:b", "[open 2 0-2000 a@0 b(x)@1000-2000=left]", "" },
	{ LEFT, "room:3 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "room:1 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT CLOSED, "name:x join:b", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "" },
	/* declared gone */
	{ GONE, "name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "soon" },
	{ GONE, "room:3 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "soon" },
	{ GONE, "room:1 name:x join:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "soon" },
	{ GONE CLOSED, "name:x join:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen]",
	  "soon" },

	/* ---- a look lists somebody ---- */
	{ "", "look:a", "[open 1 0-0 a@0]", "open join" },
	{ "", "listed:a,b", "[open 1 0-0 a@0 b@0]", "open join join" },
	{ "", "look:", "", "" },
	{ "join:a +1000", "look:a,b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "join:a +1000", "listed:a,b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "room:2 join:a +1000", "room:3 look:b",
	  "[closed 2 0-0 a@0-0=unseen] [open 3 1000-1000 b@1000]",
	  "leave close open join soon again" },
	{ "room:2 join:a +1000", "room:1 listed:a,b", "[open 2 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 look:a,b", "[open 2 0-0 a@0]", "" },
	/* inside */
	{ "join:a +1000", "name:x look:a", "[open 1 0-0 a(x)@0]", "" },
	{ "join:a +1000", "name:x listed:a", "[open 1 0-0 a(x)@0]", "" },
	{ "join:a +1000", "room:2 name:x listed:a", "[open 1 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 name:x listed:a", "[open 2 0-0 a@0]", "" },
	/* inside until another room of the media server takes the place of theirs */
	{ "join:a +1000", "room:2 name:x listed:b,a",
	  "[closed 1 0-0 a@0-0=unseen] [open 2 1000-1000 b(x)@1000]", "leave close open join soon" },
	{ "join:a +1000", "room:2 name:x listed:a,b",
	  "[closed 1 0-0 a@0-0=unseen] [open 2 1000-1000 b(x)@1000]", "leave close open join soon" },
	/* left */
	{ LEFT, "name:x listed:a,b", "[open 2 0-2000 a(x)@0 b(x)@1000-2000=left]", "" },
	{ LEFT, "room:3 name:x listed:a,b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "room:1 name:x listed:a,b", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT CLOSED, "name:x listed:b", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "" },
	/* declared gone */
	{ GONE, "listed:a,b", "[open 2 0-2000 a@0 b'@1000 b@1000-2000=unseen]", "join" },
	{ GONE, "look:a,b", "[open 2 0-2000 a@0 b'@1000 b@1000-2000=unseen]", "join" },
	{ GONE, "room:3 listed:b", "[open 3 0-8000 a@0-8000=unseen b'@1000 b@1000-2000=unseen]",
	  "leave join soon" },
	{ GONE " +60000", "room:3 listed:c",
	  "[closed 2 0-8000 a@0-8000=unseen b@1000-2000=unseen] [open 3 68000-68000 c@68000]",
	  "leave close open join soon" },
	{ GONE, "name:x room:1 listed:a,b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE CLOSED, "look:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen] "
	  "[open 2 1000-1000 b'@1000]", "open join" },
	/* declared gone once more, and back again; then it leaves */
	{ GONE " look:a,b +1000 look:a +5000 look:a", "look:a,b",
	  "[open 2 0-8000 a@0 b''@1000 b'@1000-8000=unseen b@1000-2000=unseen]", "join" },
	{ GONE " look:a,b +1000", "leave:b", "[open 2 0-9000 a@0 b'@1000-9000=left "
	  "b@1000-2000=unseen]", "leave" },
	{ GONE " look:a,b +1000", "join:b", "[open 2 0-2000 a@0 b'@1000 b@1000-2000=unseen]", "" },

	/* ---- the media server was restarted: somebody of the session comes to a newer room
	 * ---- */
	{ "join:a +1000 join:b +1000", "room:2 join:c=a", "[open 2 0-2000 a@0-0=unseen "
	  "b@1000-1000=unseen c(a)@2000]", "leave leave join soon" },
	{ "join:a#e +1000", "room:2 join:b#e", "[open 2 0-1000 a@0-0=unseen b@1000]",
	  "leave join soon" },
	{ "join:a#e +1000", "room:2 listed:x,b#e", "[open 2 0-1000 a@0-0=unseen b@1000 x@1000]",
	  "leave join join soon" },
	{ "join:a +1000", "room:2 look:x,c=a", "[open 2 0-1000 a@0-0=unseen c(a)@1000 x@1000]",
	  "leave join join soon again" },
	{ "join:a +1000", "( room:2 join:x join:c=a )",
	  "[open 2 0-1000 a@0-0=unseen c(a)@1000 x@1000]", "leave join join soon" },
	/* as a look saw the session last, or somebody who left; whoever left comes back, too */
	{ "join:a +1000 look:a +60000", "room:2 join:c=a", "[open 2 0-61000 a@0-1000=unseen "
	  "c(a)@61000]", "leave join soon" },
	{ "join:a +1000 look:a +60001", "room:2 join:c=a", "[closed 1 0-1000 a@0-1000=unseen] "
	  "[open 2 61001-61001 c(a)@61001]", "leave close open join soon" },
	{ "join:a join:b +1000 leave:a +60000", "room:2 join:c=a", "[open 2 0-61000 a@0-1000=left "
	  "b@0-0=unseen c(a)@61000]", "leave join soon" },
	{ "join:a join:b +1000 leave:a=server leave:b=server +19000", "room:2 join:c=a",
	  "[open 2 0-20000 a@0-1000=server b@0-1000=server c(a)@20000]", "join soon" },
	/* looks have missed everybody: the session waits for 60 s, from when they were last seen */
	{ SEEN " look: +5000 look: +20000 grace", "room:2 join:c=a",
	  "[open 2 0-28000 a@0-2000=unseen b@1000-2000=unseen c(a)@28000]", "join soon" },
	{ SEEN " look: +5000 look: +54000", "grace",
	  "[closed 1 0-2000 a@0-2000=unseen b@1000-2000=unseen]", "close" },
	{ SEEN " look: +5000 look: +53999", "grace",
	  "[open 1 0-2000 a@0-2000=unseen b@1000-2000=unseen]", "" },
	{ SEEN " leave:a look: +5000 look: +20000", "grace",
	  "[closed 1 0-3000 a@0-3000=left b@1000-2000=unseen]", "close" },
	/* somebody else comes, an older room, another session, or the room was ended */
	{ "join:a#e +1000", "room:2 join:b#f", "[closed 1 0-0 a@0-0=unseen] [open 2 1000-1000 b@1000]",
	  "leave close open join soon" },
	{ "room:2 join:a#e +1000", "room:1 join:b#e", "[open 2 0-0 a@0]", "" },
	{ "join:a#e +1000 ended", "room:2 join:b#e", "[closed 1 0-1000 a@0-1000=ended] "
	  "[open 2 1000-1000 b@1000]", "open join" },
	{ "join:a#e +1000 ending", "room:2 join:b#e", "[closed 1 0-0 a@0-0=unseen] "
	  "[open 2 1000-1000 b@1000]", "leave close open join soon" },
	{ "join:a#e +1000 delete", "room:2 join:b#e", "[closed 1 0-0 a@0-0=unseen]",
	  "leave close soon" },
	/* what the former room tells late */
	{ "join:a#e join:d +1000 room:2 join:b#e +1000",
	  "room:1 leave:a leave:d ended join:a join:x leave:x look:a,b",
	  "[open 2 0-1000 a@0-0=unseen d@0-0=unseen b@1000]", "" },

	/* ---- an event tells of a leave ---- */
	{ "join:a +500 known:b +500", "leave:b", "[open 1 0-1000 a@0 b@500-1000=left]",
	  "join leave soon" },
	{ "room:2 join:a +1000", "room:3 leave:b", "[open 2 0-0 a@0]", "" },
	/* of a session that has closed: within 60 s, of the same room of the media server */
	{ ENDED " +60000", "leave:c", "[closed 1 0-1000 a@0-1000=ended c@500-1000=left]",
	  "join leave" },
	{ ENDED " +60001", "leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED, "late:500 leave:c=sip", "[closed 1 0-1000 a@0-1000=ended c@500-500=sip]",
	  "join leave" },
	{ ENDED " +1000", "leave:d", "[closed 1 0-1000 a@0-1000=ended d@1000-1000=left]",
	  "join leave" },
	{ ENDED, "room:2 leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED, "server:2 leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED " room:2 join:b +1000", "room:1 leave:c",
	  "[closed 1 0-1000 a@0-1000=ended c@500-1000=left] [open 2 1000-1000 b@1000]",
	  "join leave" },
	{ ENDED " room:2 join:b +1000 ended", "room:1 leave:c",
	  "[closed 1 0-1000 a@0-1000=ended c@500-1000=left] [closed 2 1000-2000 b@1000-2000=ended]",
	  "join leave" },
	{ ENDED " +1000 join:b +1000 ended", "leave:c",
	  "[closed 1 0-1000 a@0-1000=ended] "
	  "[closed 1 2000-3000 c@500-3000=left b@2000-3000=ended]", "join leave" },
	{ "room:2 join:b +1000", "room:1 leave:c", "[open 2 0-0 b@0]", "" },
	{ "", "leave:a", "", "" },
	/* inside */
	{ "join:a +1000", "leave:a", "[open 1 0-1000 a@0-1000=left]", "leave" },
	{ "join:a +1000", "leave:a=other_device", "[open 1 0-1000 a@0-1000=other_device]", "leave" },
	{ "join:a +1000", "room:2 leave:a=server", "[open 1 0-1000 a@0-1000=server]", "leave" },
	{ "room:2 join:a +1000", "room:1 leave:a=media", "[open 2 0-1000 a@0-1000=media]", "leave" },
	{ "join:a +5000", "late:2000 leave:a", "[open 1 0-3000 a@0-3000=left]", "leave" },
	{ "join:a +1000", "late:2000 leave:a", "[open 1 0-0 a@0-0=left]", "leave" },
	/* left */
	{ LEFT, "name:x leave:b=sip", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "name:x room:3 leave:b=sip", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT, "name:x room:1 leave:b=sip", "[open 2 0-2000 a@0 b@1000-2000=left]", "" },
	{ LEFT CLOSED, "name:x leave:b=sip", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "" },
	{ ENDED, "leave:a", "[closed 1 0-1000 a@0-1000=ended]", "" },
	/* declared gone */
	{ GONE, "name:x leave:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE, "name:x room:3 leave:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE, "name:x room:1 leave:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "" },
	{ GONE CLOSED, "name:x leave:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen]", "" },

	/* ---- an event tells that the room has ended ---- */
	{ "join:a +5000", "ended", "[closed 1 0-5000 a@0-5000=ended]", "leave close" },
	{ "join:a +5001", "ended", "[closed 1 0-0 a@0-0=unseen]", "leave close" },
	{ "join:a +4000 join:b +3000", "ended", "[closed 1 0-7000 a@0-0=unseen b@4000-7000=ended]",
	  "leave leave close" },
	{ "join:a +9000 look:a +5000", "ended", "[closed 1 0-14000 a@0-14000=ended]", "leave close" },
	{ "join:a +9000 look:a +5001", "ended", "[closed 1 0-9000 a@0-9000=unseen]", "leave close" },
	{ "join:a +1000 look: +4000", "ended", "[closed 1 0-5000 a@0-5000=ended]", "leave close" },
	{ "join:a +2000 look: +4000", "ended", "[closed 1 0-0 a@0-0=unseen]", "leave close" },
	{ "join:a +3000", "late:1000 ended", "[closed 1 0-2000 a@0-2000=ended]", "leave close" },
	{ "join:a +3000 look:a", "late:1000 ended", "[closed 1 0-2000 a@0-2000=ended]",
	  "leave close" },
	{ "join:a +1000 leave:a +1000", "ended", "[closed 1 0-1000 a@0-1000=left]", "close" },
	{ "room:2 join:a +1000", "room:3 ended", "[open 2 0-0 a@0]", "" },
	{ "room:2 join:a +1000", "room:1 ended", "[open 2 0-0 a@0]", "" },
	{ "", "ended", "", "" },
	{ ENDED " +1000", "ended", "[closed 1 0-1000 a@0-1000=ended]", "" },

	/* ---- an event tells that somebody did not get in ---- */
	{ "", "failed:b", "", "told" },
	{ LEFT, "failed:c", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:3 failed:c", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:1 failed:c", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "failed:a", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:3 failed:a", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:1 failed:a", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "failed:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:3 failed:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT, "room:1 failed:b", "[open 2 0-2000 a@0 b@1000-2000=left]", "told" },
	{ LEFT CLOSED, "failed:b", "[closed 2 0-3000 a@0-3000=left b@1000-2000=left]", "told" },
	{ GONE, "failed:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "told" },
	{ GONE, "room:3 failed:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "told" },
	{ GONE, "room:1 failed:b", "[open 2 0-2000 a@0 b@1000-2000=unseen]", "told" },
	{ GONE CLOSED, "failed:b", "[closed 2 0-9000 a@0-9000=left b@1000-2000=unseen]", "told" },

	/* ---- a look does not list somebody ---- */
	{ SEEN, "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +4999", "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +5000", "look:a", "[open 1 0-2000 a@0 b@1000-2000=unseen]", "leave" },
	{ SEEN " look:a +1000 look:a +4000", "look:a", "[open 1 0-2000 a@0 b@1000-2000=unseen]",
	  "leave" },
	{ SEEN " look: +5000", "look:", "[open 1 0-2000 a@0-2000=unseen b@1000-2000=unseen]",
	  "leave leave" },
	/* never listed, only heard of */
	{ "join:a +1000 join:b +1000 look:a +5000", "look:a",
	  "[open 1 0-1000 a@0 b@1000-1000=unseen]", "leave" },
	/* listed, or heard of, in between */
	{ SEEN " look:a +1000 look:a,b +4000", "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +1000 look:a,b +4000 look:a +5000", "look:a",
	  "[open 1 0-4000 a@0 b@1000-4000=unseen]", "leave" },
	{ SEEN " look:a +1000 join:b +4000", "look:a", "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +1000 join:b +4000 look:a +5000", "look:a",
	  "[open 1 0-4000 a@0 b@1000-4000=unseen]", "leave" },
	/* an event, or an answer, from before they were missing */
	{ SEEN " look:a +1000 late:3000 join:b late:0 +4000", "look:a",
	  "[open 1 0-2000 a@0 b@1000-2000=unseen]", "leave" },
	{ SEEN " look:a +1000 late:1500 look:a,b late:0 +4000", "look:a",
	  "[open 1 0-2500 a@0 b@1000-2500=unseen]", "leave" },
	{ SEEN " look:a +2000 look:a +500 late:3000 look:a,b late:0 +2500", "look:a",
	  "[open 1 0-2500 a@0 b@1000-2500=unseen]", "leave" },
	/* an event from between two looks that miss them */
	{ SEEN " look:a +1000 look:a +1000 late:1500 join:b late:0 +3500", "look:a",
	  "[open 1 0-1000 a@0 b@1000]", "again" },
	{ SEEN " look:a +1000 look:a +1000 late:1500 join:b late:0 +4000", "look:a",
	  "[open 1 0-3500 a@0 b@1000-3500=unseen]", "leave" },
	/* a look that was sent before they were known does not count, neither as one that saw nor
	 * as one that missed them */
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +1000", "ended",
	  "[closed 1 0-7000 a@0-7000=ended b@1000-1500=unseen]", "leave leave close" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +4000 look:a +5000",
	  "look:a", "[open 1 0-1500 a@0 b@1000-1500=unseen]", "leave" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +4000", "look:a",
	  "[open 1 0-1000 a@0 b@1000]", "again" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 join:b late:0 +1000 look:a,b +5001",
	  "ended", "[closed 1 0-7000 a@0-7000=unseen b@1000-7000=unseen]", "leave leave close" },
	{ "join:a +1000 known:b +3000 look:a +2000 late:4500 listed:a,b late:0 +4000", "ended",
	  "[closed 1 0-4000 a@0-4000=unseen b@1000-1500=unseen]", "leave leave close" },
	/* the look was sent before they came, or before another one */
	{ "join:a +3000 join:b", "late:1000 look:a", "[open 1 0-3000 a@0 b@3000]", "" },
	{ SEEN " look:a,b", "late:500 look:a", "[open 1 0-1000 a@0 b@1000]", "" },
	{ SEEN " look:a +5000 look:a,b", "late:2500 look:a", "[open 1 0-1000 a@0 b@1000]", "" },

	/* ---- nobody is inside ---- */
	{ "join:a +1000 leave:a +19999", "grace", "[open 1 0-1000 a@0-1000=left]", "" },
	{ "join:a +1000 leave:a +20000", "grace", "[closed 1 0-1000 a@0-1000=left]", "close" },
	{ "join:a +1000 leave:a +10000 join:b +10000", "grace",
	  "[open 1 0-11000 a@0-1000=left b@11000]", "" },
	{ "join:a +1000 leave:a +19000 join:b", "leave:b +19000 grace",
	  "[open 1 0-20000 a@0-1000=left b@20000-20000=left]", "leave" },
	{ "join:a +1000 leave:a +20000 grace", "join:b",
	  "[closed 1 0-1000 a@0-1000=left] [open 1 21000-21000 b@21000]", "open join" },
	{ "join:a +1000 leave:a +15000 leave:b +6000", "grace",
	  "[open 1 0-16000 a@0-1000=left b@16000-16000=left]", "" },
	{ "", "grace", "", "" },

	/* ---- another media server ---- */
	{ "join:a +1000", "server:2 join:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 join:a", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 room:2 listed:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 server:2 look: +5000", "look:", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 leave:a", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 ended", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000", "server:2 failed:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 ended", "server:2 join:a",
	  "[closed 1 0-1000 a@0-1000=ended] [open 1 0-0 a@0]", "open join" },

	/* ---- a room that was deleted ---- */
	{ "delete", "join:a", "", "" },
	{ "delete", "look:a", "", "" },
	{ "delete", "failed:a", "", "" },
	{ "join:a +1000 delete", "join:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "look:a,b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "failed:a", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "leave:a", "[open 1 0-1000 a@0-1000=left]", "leave" },
	{ "join:a +1000 delete", "leave:b", "[open 1 0-0 a@0]", "" },
	{ "join:a +1000 delete", "ended", "[closed 1 0-1000 a@0-1000=ended]", "leave close" },
	{ "join:a +1000 delete look: +5000", "look:", "[open 1 0-0 a@0-0=unseen]", "leave" },
	{ "join:a +1000 delete", "room:2 join:b", "[closed 1 0-0 a@0-0=unseen]", "leave close soon" },
	{ "join:a +1000 delete", "room:2 listed:b,c", "[closed 1 0-0 a@0-0=unseen]",
	  "leave close soon" },
	{ "join:a +1000 leave:a delete +20000", "grace", "[closed 1 0-1000 a@0-1000=left]", "close" },
	{ ENDED " delete", "leave:c", "[closed 1 0-1000 a@0-1000=ended]", "" },
	{ ENDED " room:2 join:b delete", "room:1 leave:c",
	  "[closed 1 0-1000 a@0-1000=ended] [open 2 1000-1000 b@1000]", "" },

	/* ---- nothing comes of it, although sessions of these rooms closed a moment ago ---- */
	{ "room:1 join:p ended room:3 join:q ended room:2 join:r ended join:a +1000 join:b +1000 leave:b join:c "
	  "+1000 look:a,c +1000 look:a +5000 look:a",
	  "name:x leave:b leave:c join:c room:1 join:u join:a join:b join:c leave:b leave:c listed:u "
	  "listed:a listed:b listed:c ended room:3 join:a join:b join:c leave:u leave:b leave:c "
	  "listed:a listed:b ended",
	  "[closed 1 0-0 p@0-0=ended] [closed 3 0-0 q@0-0=ended] [closed 2 0-0 r@0-0=ended] "
	  "[open 2 0-3000 a@0 b@1000-2000=left c@2000-3000=unseen]", "" },

	/* ---- times ---- */
	{ "known:a +1000 join:b +1000", "join:a", "[open 1 1000-1000 a@0 b@1000]", "join" },
	{ "known:a +1000", "join:a", "[open 1 0-0 a@0]", "open join" },
	{ "+1000 late:-500 known:a late:0", "join:a", "[open 1 1000-1000 a@1000]", "open join" },
	{ "timeless:a +1000", "join:a", "[open 1 1000-1000 a@1000]", "open join" },
	{ "join:a +1000 timeless:b", "look:a,b", "[open 1 0-1000 a@0 b@1000]", "join" },
	{ "join:a +1000 join:b +1000 leave:a +1000", "join:c +1000 leave:b",
	  "[open 1 0-4000 a@0-2000=left b@1000-4000=left c@3000]", "join leave" },

	/* ---- several events in one transaction ---- */
	{ "", "( join:a join:a leave:a join:a leave:a )", "[open 1 0-0 a@0-0=left]",
	  "open join leave" },
	{ "", "( leave:b join:a )", "[open 1 0-0 a@0]", "open join" },
	{ "", "( join:a leave:b )", "[open 1 0-0 a@0 b@0-0=left]", "open join join leave soon" },
	{ "", "( join:a ended )", "[closed 1 0-0 a@0-0=ended]", "open join leave close" },
	{ "", "( join:a ended leave:b ended )", "[closed 1 0-0 a@0-0=ended b@0-0=left]",
	  "open join leave close join leave" },
	{ "", "( join:a room:2 join:b room:1 leave:c )",
	  "[closed 1 0-0 a@0-0=unseen c@0-0=left] [open 2 0-0 b@0]",
	  "open join leave close open join join leave soon" },
	{ "join:a +1000", "( leave:a ended room:2 join:b )",
	  "[closed 1 0-1000 a@0-1000=left] [open 2 1000-1000 b@1000]", "leave close open join" },
	{ "join:a +1000", "( room:2 join:b room:3 join:c )",
	  "[closed 1 0-0 a@0-0=unseen] [closed 2 1000-1000 b@1000-1000=unseen] "
	  "[open 3 1000-1000 c@1000]", "leave close open join leave close open join soon" },
	/* clang-format on */
};

static void run_row(int i)
{
	struct script *script = script_open(arena_text(stand.arena, "row %d: %s, %s", i,
						       news_rows[i].before, news_rows[i].news));
	const char *events, *is;

	say(script, news_rows[i].before);
	script->seq = last_seq();
	script->told = (struct merging){ .failed = NULL };
	say(script, news_rows[i].news);
	is = stored(script);
	ck_assert_msg(strcmp(is, news_rows[i].stored) == 0, "%s:\n%s, not\n%s", script->at, is,
		      news_rows[i].stored);
	events = events_since(script->seq, NULL);
	if (script->told.failed != NULL)
		events = arena_text(stand.arena, "%s%stold", events, events[0] == '\0' ? "" : " ");
	if (script->told.looks_soon)
		events = arena_text(stand.arena, "%s%ssoon", events, events[0] == '\0' ? "" : " ");
	if (script->told.looks_again)
		events = arena_text(stand.arena, "%s%sagain", events, events[0] == '\0' ? "" : " ");
	ck_assert_msg(strcmp(events, news_rows[i].events) == 0, "%s: %s, not %s", script->at,
		      events, news_rows[i].events);
}

START_TEST(news_become_records)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(news_rows); i++)
		run_row(i);
}
END_TEST

static void expect(const struct script *script, const char *expected)
{
	const char *is = stored(script);

	ck_assert_msg(strcmp(is, expected) == 0, "%s:\n%s, not\n%s", script->at, is, expected);
}

/* What another room has while a is inside. */
static const struct {
	const char *news;
	const char *stored;
} elsewhere[] = {
	{ "join:a", "" },
	{ "listed:a", "" },
	{ "leave:a", "" },
	{ "join:z ended", "[closed 1 0-0 z@0-0=ended]" },
	{ "join:a", "[closed 1 0-0 z@0-0=ended]" },
	{ "listed:a", "[closed 1 0-0 z@0-0=ended]" },
	{ "leave:a", "[closed 1 0-0 z@0-0=ended]" },
	{ "join:b", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b@0]" },
	{ "name:x join:a", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b@0]" },
	{ "leave:a", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b@0]" },
	{ "look:a,b", "[closed 1 0-0 z@0-0=ended] [open 1 0-0 b(x)@0]" },
};

/* A media server that tells of one stay in two rooms is wrong, or moved the person. */
START_TEST(a_stay_is_in_one_room)
{
	struct script *one, *other;

	open_stand(_i);
	one = script_open("one room");
	say(one, "join:a");
	other = script_open("another room");
	other->first_room = one->room;
	for (int i = 0; i < ROWS(elsewhere); i++) {
		say(other, elsewhere[i].news);
		expect(other, elsewhere[i].stored);
		ck_assert(other->told.failed == NULL);
	}
	say(other, "failed:a");
	ck_assert_ptr_nonnull(other->told.failed);
	now -= HOUR;
	expect(one, "[open 1 0-0 a@0]");
	say(one, "+1000 look: +5000 look:");
	expect(one, "[open 1 0-0 a@0-0=unseen]");
	now += HOUR;
	say(other, "look:a,b");
	expect(other, "[closed 1 0-0 z@0-0=ended] [open 1 0-0 a'(x)@0 b(x)@0]");
}
END_TEST

/* ---- roles ---- */

/* Returns the roles of those inside, in the order of the record. */
static const char *roles_of(const struct script *script)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	for (size_t i = 0; i < live.role_count; i++) {
		buffer_append_text(&text, i > 0 ? " " : "");
		buffer_append(&text, live.roles[i].name);
		buffer_append_byte(&text, '=');
		buffer_append_integer(&text, (json_int_t)live.roles[i].count);
	}
	abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

static const struct {
	const char *news;
	const char *roles;
} role_rows[] = {
	{ "join:a/host join:b/guest join:c/host", "host=2 guest=1" },
	{ "join:a join:b/guest", "=1 guest=1" },
	{ "join:a/host join:b/guest leave:a", "guest=1" },
	{ "join:a/host leave:b/guest", "host=1" },
	{ "join:a/host join:a/host look:a/host", "host=1" },
	{ "join:a/host join:b/guest join:c/host ended", "" },
	{ "join:a/host +1000 room:2 join:b/guest", "guest=1" },
	{ "join:a/host join:b/guest +1000 look:a +5000 look:a", "host=1" },
	{ "join:a/host join:b/guest +1000 look:a +5000 look:a look:a,b", "host=1 guest=1" },
};

START_TEST(roles_are_counted)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(role_rows); i++) {
		struct script *script = script_open(role_rows[i].news);

		say(script, role_rows[i].news);
		(void)stored(script);
		ck_assert_msg(strcmp(roles_of(script), role_rows[i].roles) == 0, "%s: %s",
			      script->at, roles_of(script));
	}
}
END_TEST

#define MANY (LIVE_ROLES_MOST + 5)

/* Says a word for each of many stays, s0 with the role r0 and so on, as one batch. */
static void say_many(struct script *script, const char *word, int first, int end)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);

	buffer_append_text(&text, "(");
	for (int i = first; i < end; i++)
		buffer_append_text(&text, arena_text(stand.arena, " %s:s%d/r%d", word, i, i));
	buffer_append_text(&text, " )");
	buffer_append_byte(&text, '\0');
	say(script, text.data);
}

START_TEST(people_beyond_so_many_roles_have_none)
{
	struct script *script;

	open_stand(_i);
	script = script_open("many roles");
	say_many(script, "join", 0, LIVE_ROLES_MOST);
	ck_assert_ptr_null(strstr(roles_of(script), " ="));
	say_many(script, "join", LIVE_ROLES_MOST, MANY);
	ck_assert_ptr_nonnull(strstr(roles_of(script), " =5"));
	(void)stored(script);
	/* A place for one more role; whoever is counted without a role stays so. */
	say_many(script, "leave", 0, 2);
	say(script, "join:t/r201 join:u/r3 join:v/x");
	ck_assert_ptr_nonnull(strstr(roles_of(script), "r3=2"));
	ck_assert_ptr_nonnull(strstr(roles_of(script), "=6 r201=1"));
	ck_assert_uint_eq(script->told.inside, MANY + 1);
	(void)stored(script);
	say_many(script, "leave", 2, MANY - 1);
	(void)stored(script);
	ck_assert_uint_eq(script->told.inside, 4);
	say(script, "leave:t leave:u leave:v leave:s204 look:");
	ck_assert_str_eq(roles_of(script), "");
}
END_TEST

static size_t count_of_room(const struct id *room, const struct store_kind *kind)
{
	struct store_record records[2 * GARBAGE_AT_ONCE];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = room,
		.records = records,
		.most = ROWS(records),
	};
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin(&call);
	ck_assert(store_page(call.transaction, kind, &page, &fault));
	abandon(&call);
	return page.count;
}

/* ---- people by their entry ---- */

/* Returns the stays of an entry that are known to be inside. */
static const char *inside_of(const struct script *script, const char *entry)
{
	const struct id id = inside_id(&script->room, slice_of(entry));
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct inside inside;
	struct peer peer;
	struct call call;

	begin(&call);
	ck_assert(
		record_get(&inside_table, call.transaction, &id, STORE_TO_CHANGE, &inside, &fault));
	if (inside.stored.value.data != NULL) {
		check_one(script, &call, &inside_kind, &inside);
		ck_assert_uint_gt(inside.stay_count, 0);
		ck_assert_int_eq(id_compare(&inside.stored.parent, &script->room), 0);
	}
	for (size_t i = 0; i < inside.stay_count; i++) {
		ck_assert(record_get_named(&peer_table, call.transaction, inside.stays[i].uuid,
					   STORE_TO_SHOW, &peer, &fault));
		buffer_append_text(&text, i > 0 ? " " : "");
		append_stay(script, &peer, &text);
	}
	abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

static const struct {
	const char *news;
	const char *inside; /* by the entry e */
} entry_rows[] = {
	{ "join:a", "" },
	{ "join:a#e", "a" },
	{ "join:a#e join:b#f join:c", "a" },
	{ "join:a#e join:b#e", "a b" },
	{ "join:a#e join:b#e leave:b", "a" },
	{ "join:a#e join:b#e leave:a", "b" },
	{ "join:a#e join:b#e leave:a leave:b", "" },
	{ "join:a#e join:b#e ended", "" },
	{ "join:a#e join:b#e +1000 look:a +5000 look:a", "a" },
	{ "join:a#e +1000 look: +5000 look: look:a", "a'" },
	{ "join:b leave:a#e", "" },
	{ "join:a#e +1000 room:2 join:b#e", "b" },
	{ "join:a#e leave:a +20000 grace", "" },
	{ "join:a#e join:b#e join:c#e join:d#e join:f#e", "b c d f" },
	{ "join:a#e join:b#e join:c#e join:d#e join:f#e leave:a leave:c", "b d f" },
};

START_TEST(people_are_found_by_their_entry)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(entry_rows); i++) {
		struct script *script = script_open(entry_rows[i].news);

		say(script, entry_rows[i].news);
		(void)stored(script);
		ck_assert_msg(strcmp(inside_of(script, "e"), entry_rows[i].inside) == 0, "%s: %s",
			      script->at, inside_of(script, "e"));
		say(script, "+1000 look: +5000 look: +20000 grace");
		ck_assert_str_eq(inside_of(script, "e"), "");
	}
}
END_TEST

/* Two rooms that have people with the same entry do not disturb each other. */
static const struct {
	const char *one, *other; /* what the rooms hear, one after the other */
	const char *in_one, *in_other; /* who has the entry e there */
} shared_entries[] = {
	{ "join:a#e", "join:b#e", "a", "b" },
	{ "join:a#e", "server:2 join:b#e", "a", "b" },
	{ "join:a#e join:c#e", "join:b#e join:c#e leave:b", "a c", "c" },
	{ "join:a#e", "join:b#e leave:b", "a", "" },
	{ "join:a#e", "join:b#e ended", "a", "" },
};

START_TEST(rooms_may_share_an_entry)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(shared_entries); i++) {
		struct script *one = script_open(shared_entries[i].one), *other;

		say(one, shared_entries[i].one);
		other = script_open(shared_entries[i].other);
		say(other, shared_entries[i].other);
		ck_assert_str_eq(inside_of(one, "e"), shared_entries[i].in_one);
		ck_assert_str_eq(inside_of(other, "e"), shared_entries[i].in_other);
		say(one, "ended");
		ck_assert_str_eq(inside_of(one, "e"), "");
		ck_assert_str_eq(inside_of(other, "e"), shared_entries[i].in_other);
		say(other, "ended");
		ck_assert_str_eq(inside_of(other, "e"), "");
	}
}
END_TEST

/* A former program listed people by their entry alone. */
static void list_formerly(const struct script *script, const char *entry)
{
	const struct id id = inside_id(&script->room, slice_of(entry));
	unsigned char digest[DIGEST_SIZE];
	struct fault fault = FAULT_INITIAL;
	struct inside inside, former;
	struct call call;

	begin(&call);
	ck_assert(
		record_get(&inside_table, call.transaction, &id, STORE_TO_CHANGE, &inside, &fault));
	ck_assert_ptr_nonnull(inside.stored.value.data);
	former = inside;
	former.stored.value = (struct slice){ NULL, 0 };
	digest_sha256(slice_of(entry), digest);
	memcpy(former.stored.id.bytes, digest, ID_SIZE);
	ck_assert(store_remove(call.transaction, &kind_inside, &inside.stored, &fault));
	ck_assert(record_put(&inside_table, call.transaction, &former, &fault));
	commit(&call);
}

/* Returns the stay that a call from inside finds by the entry. */
static const char *found_by(const struct script *script, const char *entry)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct peer peer;
	struct call call;
	bool is_there;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_SHOW, &live, &fault));
	ck_assert(live_find_entry(&call, &live, slice_of(entry), &peer, &is_there, &fault));
	if (is_there)
		append_stay(script, &peer, &text);
	abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

START_TEST(people_of_a_former_program_are_found)
{
	struct script *script, *other;

	open_stand(_i);
	script = script_open("formerly listed");
	say(script, "join:a#e");
	list_formerly(script, "e");
	ck_assert_str_eq(found_by(script, "e"), "a");
	other = script_open("another room");
	say(other, "join:z");
	ck_assert_str_eq(found_by(other, "e"), "");
	say(script, "join:b#e");
	ck_assert_str_eq(found_by(script, "e"), "b");
	say(script, "leave:b");
	ck_assert_str_eq(found_by(script, "e"), "a");
	say(script, "leave:a");
	ck_assert_str_eq(found_by(script, "e"), "");
	/* Nothing is left. */
	ck_assert_uint_eq(count_of_room(&script->room, &kind_inside), 0);
}
END_TEST

/* ---- names ---- */

/* Returns the names of those inside. An exclamation mark follows a name that the media server is to
 * be told. */
static const char *names_of(const struct script *script)
{
	struct peer_page page = { .side = STORE_ON, .most = 9 };
	struct buffer text = BUFFER_INITIAL(stand.arena);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_SHOW, &live, &fault));
	ck_assert(live.stored.value.data == NULL ||
		  peers_read(&call, &live.session, &page, &fault));
	for (size_t i = 0; i < page.count; i++) {
		const struct peer *peer = &page.peers[i];

		buffer_append_text(&text, i > 0 ? ", " : "");
		append_stay(script, peer, &text);
		buffer_append_byte(&text, ' ');
		buffer_append(&text, peer->name);
		if (peer->new_name.size == 0)
			continue;
		ck_assert(peer->is_strange && slice_equal(peer->new_name, peer->name));
		buffer_append_byte(&text, '!');
	}
	abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

static void check_names(const struct script *script)
{
	struct store_record records[9];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &script->room,
		.records = records,
		.most = ROWS(records),
	};
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin(&call);
	ck_assert(store_page(call.transaction, &kind_shown_name, &page, &fault));
	for (size_t i = 0; i < page.count; i++) {
		struct shown_name name;

		ck_assert(record_read(&shown_name_table, call.arena, &records[i], &name, &fault));
		check_one(script, &call, &shown_name_kind, &name);
	}
	abandon(&call);
}

/* Each stay joins a millisecond after the one before. */
static const struct {
	const char *news;
	const char *names;
	bool judges;
} name_rows[] = {
	{ "name:Anna join:a#e", "a Anna", false },
	{ "name:Anna join:a#e +1 join:b#f", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f +1 join:c#g", "a Anna, b Anna (2)!, c Anna (3)!", true },
	/* The same after NFKC and folding, with blanks as one, and without what is not visible. */
	{ "name:Anna join:a#e +1 name:aNNA join:b#f", "a Anna, b aNNA (2)!", true },
	{ "name:A_B join:a#e +1 name:_a__b join:b#f", "a A B, b  a  b (2)!", true },
	{ "name:Anna join:a#e +1 name:\xef\xbc\xa1"
	  "n\xe2\x80\x8b"
	  "n\xe2\x81\xa0"
	  "a join:b#f",
	  "a Anna, b \xef\xbc\xa1"
	  "n\xe2\x80\x8b"
	  "n\xe2\x81\xa0"
	  "a (2)!",
	  true },
	{ "name:Stra\xc3\x9f"
	  "e join:a#e +1 name:STRASSE join:b#f",
	  "a Stra\xc3\x9f"
	  "e, b STRASSE (2)!",
	  true },
	{ "name:\xd0\x90"
	  "\xd0\xbd"
	  "\xd0\xbd"
	  "\xd0\xb0"
	  " join:a#e +1 name:\xd0\xb0"
	  "\xd0\x9d"
	  "\xd0\x9d"
	  "\xd0\x90"
	  " join:b#f",
	  "a \xd0\x90"
	  "\xd0\xbd"
	  "\xd0\xbd"
	  "\xd0\xb0"
	  ", b \xd0\xb0"
	  "\xd0\x9d"
	  "\xd0\x9d"
	  "\xd0\x90"
	  " (2)!",
	  true },
	{ "name:Zo\xc3\xab"
	  " join:a#e +1 name:zoe\xcc\x88"
	  " join:b#f",
	  "a Zo\xc3\xab"
	  ", b zoe\xcc\x88"
	  " (2)!",
	  true },
	{ "name:Anna join:a#e +1 name:An_na join:b#f", "a Anna, b An na", false },
	/* One's own stays do not count. */
	{ "name:Anna join:a#e +1 join:b#e", "a Anna, b Anna", false },
	{ "name:Anna join:a#e +1 join:b#f +1 join:c#f", "a Anna, b Anna (2)!, c Anna (2)!", true },
	/* Names that a code or the account gives stay, and guests get the number. */
	{ "name:Anna join:a#e +1 name:g!Anna join:b#f", "a Anna (2)!, b Anna", true },
	{ "name:g!Anna join:a#e +1 join:b#f", "a Anna, b Anna", false },
	{ "name:g!Anna join:a#e +1 name:Anna join:b#f", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f +1 name:g!anna join:c#g",
	  "a Anna (3)!, b Anna (2)!, c anna", true },
	/* Nobody whom this service did not let in is called otherwise. */
	{ "name:Anna join:a +1 join:b", "a Anna, b Anna", false },
	{ "name:Anna join:a +1 join:b#e", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a +1 name:g!Anna join:b#e", "a Anna, b Anna", false },
	/* What is told later. */
	{ "name:Anna join:a#e +1 join:b#f +1 join:b", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f +1 name:Anna_(2) join:b", "a Anna, b Anna (2)", false },
	{ "name:Anna join:a#e +1 name:Bob join:b#f +1 name:Anna join:b", "a Anna, b Anna (2)!",
	  true },
	{ "name:Anna join:a#e +1 name:Bob join:b#f +1 name:Eve join:b", "a Anna, b Eve", false },
	{ "name:Anna join:a#e +1 join:b#f +1 look:a,b", "a Anna, b Anna (2)!", true },
	{ "name:Anna join:a#e +1 join:b#f leave:a +1 look:b", "b Anna", true },
	{ "name:Anna join:a#e +1 join:b#f leave:a +1 join:c#g", "b Anna (2)!, c Anna", false },
	{ "name:Anna join:a#e +1 join:b#f +1 join:c#g leave:b +1 join:d#h",
	  "a Anna, c Anna (3)!, d Anna (2)!", true },
	{ "name:Anna join:a#e +1 name:g!Bob join:b#f +1 name:g!Anna look:b,a",
	  "a Anna (2)!, b Anna", true },
	/* Numbers. */
	{ "name:Anna_(2) join:a#e +1 name:Anna join:b#f +1 join:c#g",
	  "a Anna (2), b Anna, c Anna (3)!", true },
	{ "name:Anna_(2) join:a#e +1 join:b#f", "a Anna (2), b Anna (3)!", true },
	{ "name:Anna_(1) join:a#e +1 join:b#f", "a Anna (1), b Anna (1) (2)!", true },
	{ "name:Anna_(02) join:a#e +1 name:Anna_(2) join:b#f", "a Anna (02), b Anna (2)", false },
	{ "name:(2) join:a#e +1 join:b#f", "a (2), b (2) (2)!", true },
	{ "name:Eltern_1 join:a#e +1 join:b#f", "a Eltern 1, b Eltern 1 (2)!", true },
	{ "name:c!guest_1 join:a#e +1 join:b#f +1 join:c#g", "a guest 1, b guest 2!, c guest 3!",
	  true },
	{ "name:c!guest_1 join:a#e +1 join:b#f +1 join:b", "a guest 1, b guest 2!", true },
	{ "name:guest_1 join:a#e +1 name:c!guest_1 join:b#f", "a guest 1, b guest 2!", true },
	{ "name:c!guest join:a#e +1 join:b#f", "a guest, b guest (2)!", true },
	{ "name: join:a#e +1 join:b#f", "a , b ", false },
	{ "name:Anna join:a#e +1000 room:2 join:b#e +1 join:c#f", "b Anna, c Anna (2)!", true },
};

START_TEST(no_two_people_have_one_name)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(name_rows); i++) {
		struct script *script = script_open(name_rows[i].news);

		say(script, name_rows[i].news);
		ck_assert_msg(strcmp(names_of(script), name_rows[i].names) == 0, "%s: %s",
			      script->at, names_of(script));
		ck_assert_msg((script->told.judges == JUDGE_EVERYBODY) == name_rows[i].judges, "%s",
			      script->at);
		check_names(script);
		(void)stored(script);
		say(script, "+1000 look: +5000 look: +20000 grace");
		ck_assert_uint_eq(count_of_room(&script->room, &kind_shown_name), 0);
	}
}
END_TEST

/* A former program stored people without the record of their name: the next look makes it. */
START_TEST(names_of_a_former_program_are_taken)
{
	struct fault fault = FAULT_INITIAL;
	struct script *script;
	struct peer peer;
	struct call call;

	open_stand(_i);
	script = script_open("formerly named");
	say(script, "name:Anna join:a#e +1");
	begin_with_peer(script, SLICE("a"), &call, &peer);
	ck_assert(names_release(&call, &peer, &fault) &&
		  record_put(&peer_table, call.transaction, &peer, &fault));
	commit(&call);
	ck_assert_uint_eq(count_of_room(&script->room, &kind_shown_name), 0);
	say(script, "look:a +1 join:b#f");
	ck_assert_str_eq(names_of(script), "a Anna, b Anna (2)!");
	say(script, "leave:a leave:b");
	ck_assert_uint_eq(count_of_room(&script->room, &kind_shown_name), 0);
}
END_TEST

/* Many have one name: the first numbers that are free are found in a few reads, then those after
 * the last one. */
START_TEST(a_crowd_may_have_one_name)
{
	struct script *script;
	struct name_wish wish = { .name = SLICE("guest"), .origin = NAME_COUNTED };
	struct fault fault = FAULT_INITIAL;
	struct slice shown;
	struct call call;

	open_stand(_i);
	script = script_open("many guests");
	script->name = SLICE("guest 1");
	script->origin = NAME_COUNTED;
	for (int i = 0; i < 70; i++)
		say(script, arena_text(stand.arena, "join:s%d#e%d", i, i));
	wish.room = &script->room;
	wish.entry = SLICE("e");
	begin(&call);
	ck_assert(names_find(&call, &wish, &shown, &fault));
	ck_assert_msg(slice_is(shown, "guest 71"), "%.*s", (int)shown.size, shown.data);
	wish.name = SLICE("Guest 3");
	wish.origin = NAME_CHOSEN;
	ck_assert(names_find(&call, &wish, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3 (2)"));
	wish.entry = SLICE("e2");
	ck_assert(names_find(&call, &wish, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3"));
	wish.entry = SLICE("e");
	wish.user_id = SLICE("s2");
	ck_assert(names_find(&call, &wish, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3"));
	wish.user_id = SLICE("s3");
	wish.origin = NAME_GIVEN;
	ck_assert(names_find(&call, &wish, &shown, &fault));
	ck_assert(slice_is(shown, "Guest 3"));
	abandon(&call);
	script->name = SLICE("guest 999999");
	say(script, "join:last#last");
	begin(&call);
	wish = (struct name_wish){ .room = &script->room,
				   .name = SLICE("guest"),
				   .origin = NAME_COUNTED,
				   .entry = SLICE("e") };
	ck_assert(names_find(&call, &wish, &shown, &fault));
	ck_assert(slice_begins(shown, SLICE("guest ")) && !slice_is(shown, "guest 1000000"));
	abandon(&call);
	(void)stored(script);
}
END_TEST

/* ---- records of a former program ---- */

/* Returns the table without the members that were added. */
static struct record_table former_table(const struct record_table *table)
{
	struct member *members = arena_zero(stand.arena, table->member_count * sizeof *members);
	struct record_table former = *table;

	former.version = 0;
	former.members = members;
	former.member_count = 0;
	for (size_t i = 0; i < table->member_count; i++) {
		struct member *member = &members[former.member_count];
		struct record_table *items;

		if (table->members[i].since != 0)
			continue;
		*member = table->members[i];
		former.member_count++;
		if (member->items == NULL)
			continue;
		items = arena_zero(stand.arena, sizeof *items);
		*items = former_table(member->items);
		member->items = items;
	}
	return former;
}

/* Expects a record that was written with `one` to be read with `other`, or not. */
static void *repacked(const struct record_table *one, const struct record_table *other,
		      const void *record, bool is_read)
{
	struct buffer value = BUFFER_INITIAL(stand.arena);
	void *read = arena_zero(stand.arena, other->size);

	record_pack(one, record, &value);
	ck_assert_int_eq(record_unpack(other, stand.arena, buffer_slice(&value), read), is_read);
	return read;
}

START_TEST(records_of_a_former_program_are_read)
{
	const struct record_table former_live = former_table(&live_table),
				  former_peer = former_table(&peer_table),
				  former_healths = former_table(&backend_healths_table),
				  former_session = former_table(&session_table),
				  former_room = former_table(&room_table);
	struct live_role role = { .name = SLICE("host"), .count = 3 };
	struct live live = { .left = 5, .left_unseen = true, .roles = &role, .role_count = 1 };
	struct peer peer = {
		.stay = SLICE("PA_1"),
		.seen = 5,
		.order_last = true,
		.name_origin = NAME_GIVEN,
		.new_name = SLICE("Ada (2)"),
		.name_id = { { 1 } },
	};
	struct backend_health list[] = {
		{ .is_up = true, .since = 7, .message = SLICE("x"), .never_answered = true },
		{ .is_up = false, .since = 8, .message = SLICE("y"), .ahead = 9 },
	};
	struct backend_healths healths = { .backends = list, .count = 2 };
	struct session session = { .room_name = SLICE("r"), .peer_count = 7, .title = SLICE("T") };
	struct room_record room = { .name = SLICE("r"), .closes_at = 7, .title = SLICE("T") };
	const struct backend_healths *read;
	const struct session *session_read;
	const struct room_record *room_read;
	const struct live *live_read;
	const struct peer *peer_read;

	live_read = repacked(&former_live, &live_table, &live, true);
	ck_assert(live_read->left == 5 && !live_read->left_unseen && live_read->role_count == 1);
	ck_assert(live_read->roles[0].count == 3 && slice_is(live_read->roles[0].name, "host"));
	peer_read = repacked(&former_peer, &peer_table, &peer, true);
	ck_assert(peer_read->seen == 5 && !peer_read->order_last);
	ck_assert(peer_read->name_origin == NAME_CHOSEN && peer_read->new_name.size == 0);
	ck_assert_int_eq(id_compare(&peer_read->name_id, &kind_only_id), 0);
	ck_assert(slice_is(peer_read->stay, "PA_1"));
	read = repacked(&former_healths, &backend_healths_table, &healths, true);
	ck_assert(read->count == 2 && read->backends[0].since == 7 && read->backends[1].ahead == 9);
	/* Whether they have ever answered is not known: they are asked as if they had. */
	ck_assert(!read->backends[0].never_answered && !read->backends[1].never_answered);
	session_read = repacked(&former_session, &session_table, &session, true);
	ck_assert(session_read->peer_count == 7 && session_read->title.size == 0);
	session_read = repacked(&session_table, &session_table, session_read, true);
	ck_assert(slice_is(session_read->room_name, "r") && session_read->title.size == 0);
	room_read = repacked(&former_room, &room_table, &room, true);
	ck_assert(room_read->closes_at == 7 && room_read->title.size == 0);
	room_read = repacked(&room_table, &room_table, &room, true);
	ck_assert(slice_is(room_read->name, "r") && slice_is(room_read->title, "T"));
	live_read = repacked(&live_table, &live_table, &live, true);
	ck_assert(live_read->left_unseen && live_read->roles[0].count == 3);
	(void)repacked(&live_table, &former_live, &live, false);
	(void)repacked(&peer_table, &former_peer, &peer, false);
	(void)repacked(&session_table, &former_session, &session, false);
	(void)repacked(&room_table, &former_room, &room, false);
	(void)repacked(&backend_healths_table, &former_healths, &healths, false);
}
END_TEST

/* ---- whether a media server has ever answered ---- */

static const struct {
	/* What happens, a letter each: it is asked and is Up or Down, it sends an Event, its Keys
	 * or its Address change. */
	const char *happens;
	bool has_answered;
	const char *state;
	int last_event; /* the number of the letter; -1: none */
} health_rows[] = {
	{ "", false, "unknown", -1 },	 { "D", false, "down", -1 },
	{ "DD", false, "down", -1 },	 { "U", true, "up", -1 },
	{ "UD", true, "down", -1 },	 { "E", true, "unknown", 0 },
	{ "EE", true, "unknown", 1 },	 { "ED", true, "down", 0 },
	{ "EU", true, "up", 0 },	 { "DE", true, "down", 1 },
	{ "DEU", true, "up", 1 },	 { "UK", true, "unknown", -1 },
	{ "UKD", true, "down", -1 },	 { "DK", false, "unknown", -1 },
	{ "DKD", false, "down", -1 },	 { "UA", false, "unknown", -1 },
	{ "UAD", false, "down", -1 },	 { "EA", false, "unknown", -1 },
	{ "UEDAE", true, "unknown", 4 }, { "EK", true, "unknown", -1 },
	{ "EUDEKDE", true, "down", 6 },
};

/* number: seconds since 1970. */
static void happen(const struct backend *backend, char what, int number)
{
	struct server_verdict verdict = { .is_up = what == 'U' };
	struct fault fault = FAULT_INITIAL;
	struct call call;

	(void)snprintf(verdict.message, sizeof verdict.message, "%s", what == 'D' ? "refused" : "");
	begin(&call);
	if (what == 'U' || what == 'D')
		ck_assert(backend_health_note(&call, backend, &verdict, &fault));
	else if (what == 'E')
		ck_assert(backend_health_hear(&call, &backend->id, number * 1000, &fault));
	else
		ck_assert(backend_health_forget(&call, &backend->id, what == 'K', &fault));
	commit(&call);
	store_flush(stand.environment.store);
}

START_TEST(a_media_server_has_answered_or_not)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(health_rows); i++) {
		const char *expected = arena_text(stand.arena, "\"state\":\"%s\"",
						  health_rows[i].state);
		const struct backend backend = { .id = stand.servers[0], .name = SLICE("s0") };
		struct fault fault = FAULT_INITIAL;
		struct backend_healths healths;
		const char *shown;
		struct call call;

		happen(&backend, 'A', 0);
		/* Another one does not matter. */
		happen(&(const struct backend){ .id = stand.servers[1], .name = SLICE("s1") }, 'U',
		       0);
		for (const char *at = health_rows[i].happens; *at != '\0'; at++)
			happen(&backend, *at, 1 + (int)(at - health_rows[i].happens));
		begin(&call);
		ck_assert(backend_healths_load(&call, STORE_TO_SHOW, &healths, &fault));
		ck_assert_msg(backend_has_answered(&healths, &backend.id) ==
				      health_rows[i].has_answered,
			      "%s", health_rows[i].happens);
		abandon(&call);
		shown = ask(METHOD_GET,
			    arena_text(stand.arena, "/v2/backends/%s",
				       id_as_text(stand.arena, &backend.id).data),
			    "");
		ck_assert_msg(strstr(shown, expected) != NULL, "%s: %s", health_rows[i].happens,
			      shown);
		expected = health_rows[i].last_event < 0
				   ? "\"last_event_at\":null"
				   : arena_text(stand.arena,
						"\"last_event_at\":\"1970-01-01T00:00:0%dZ\"",
						1 + health_rows[i].last_event);
		ck_assert_msg(strstr(shown, expected) != NULL, "%s: %s", health_rows[i].happens,
			      shown);
	}
}
END_TEST

/* ---- events ---- */

/* Returns the peer of the stay, which was declared gone so often before; if there is none, a peer
 * with nothing but the public id. */
static struct peer get_peer(const struct script *script, struct call *call, struct slice name,
			    unsigned again)
{
	struct fault fault = FAULT_INITIAL;
	char uuid[UUID_TEXT_SIZE];
	struct peer peer;

	peer_uuid(&stand.servers[0], stay_id(script, name), again, uuid);
	ck_assert(record_get_named(&peer_table, call->transaction, slice_of(uuid), STORE_TO_SHOW,
				   &peer, &fault));
	peer.uuid = arena_copy(call->arena, slice_of(uuid));
	return peer;
}

static struct peer find_peer(const struct script *script, const char *name)
{
	struct fault fault = FAULT_INITIAL;
	struct peer peer, copy;
	struct call call;

	begin(&call);
	copy = peer = get_peer(script, &call, slice_of(name), 0);
	copy.uuid = arena_copy(stand.arena, peer.uuid);
	if (peer.stored.value.data != NULL) {
		peer.stored.name = copy.uuid;
		peer.stored.value = arena_copy(stand.arena, peer.stored.value);
		ck_assert(record_read(&peer_table, NULL, &peer.stored, &copy, &fault));
	}
	abandon(&call);
	return copy;
}

static struct peer peer_of(const struct script *script, const char *name)
{
	const struct peer peer = find_peer(script, name);

	ck_assert_ptr_nonnull(peer.stored.value.data);
	return peer;
}

/* What stands for the ids and the name of a room in the texts of event_rows. */
struct placeholder {
	const char *text;
	const char *value;
};

/* Returns the members of an event as NAME=VALUE. Times are relative to the script. */
static const char *shown_event(const struct script *script, const char *data)
{
	const char *room = id_as_text(stand.arena, &script->room).data;
	json_t *document = json_loads(
		ask(METHOD_GET, arena_text(stand.arena, "/v2/rooms/%s", room), ""), 0, NULL);
	json_t *event = json_loads(data, 0, NULL), *value;
	const struct peer peer = find_peer(script, "a");
	const struct placeholder placeholders[] = {
		{ "ROOM", room },
		{ "NAME", json_string_value(json_object_get(document, "name")) },
		{ "TEMPLATE", json_string_value(json_object_get(document, "template_id")) },
		{ "SESSION", id_as_text(stand.arena, &peer.stored.parent).data },
		{ "PEER", arena_copy(stand.arena, peer.uuid).data },
	};
	struct buffer text = BUFFER_INITIAL(stand.arena);
	const char *name;
	int64_t time;

	ck_assert_msg(event != NULL, "%s", data);
	json_object_foreach(event, name, value) {
		const char *shown =
			json_is_string(value)
				? json_string_value(value)
				: arena_copy(stand.arena, json_as_text(stand.arena, value)).data;

		for (int i = 0; i < ROWS(placeholders); i++) {
			if (strcmp(shown, placeholders[i].value) == 0)
				shown = placeholders[i].text;
		}
		if (strlen(shown) == 24 && text_time_parse(slice_of(shown), &time))
			shown = arena_text(stand.arena, "%lld", (long long)(time - script->begun));
		buffer_append_text(&text, text.size > 0 ? " " : "");
		buffer_append_text(&text, arena_text(stand.arena, "%s=%s", name, shown));
	}
	json_decref(document);
	json_decref(event);
	buffer_append_byte(&text, '\0');
	return text.data;
}

#define OF_SESSION \
	" changed=[] room_id=ROOM room_name=NAME session_id=SESSION template_id=TEMPLATE " \
	"session_started_at=0"
#define OF_PEER(user, name, metadata) \
	"kind=peer id=PEER name=" name OF_SESSION " peer_id=PEER user_id=" user " user_name=" name \
	" user_data=" metadata " role=host joined_at=0 type=regular"

static const struct {
	const char *sessions; /* the setting */
	const char *news;
	const char *event; /* the last one */
} event_rows[] = {
	{ "on", "name:x join:a/host", OF_PEER("a", "x", "x") },
	{ "on", "name:x join:a/host +61999 leave:a",
	  OF_PEER("a", "x", "x") " left_at=61999 duration=61 reason=client request cause=left "
				 "message=" },
	{ "on", "name:x join:a/host failed:a",
	  OF_PEER("a", "x", "x") " error_message=network disconnection" },
	{ "on", "join:a/host +61999 leave:a +20000 grace",
	  "kind=session id=SESSION name=NAME" OF_SESSION
	  " session_stopped_at=61999 session_duration=61" },
	/* without a session */
	{ "on", "name:x failed:a/host",
	  "kind=peer id=PEER name=x changed=[] room_id=ROOM room_name=NAME session_id= "
	  "template_id=TEMPLATE session_started_at= peer_id=PEER user_id=a user_name=x user_data=x "
	  "role=host joined_at=0 type=regular error_message=network disconnection" },
	{ "off", "name:x join:a/host", OF_PEER("", "", "") },
	{ "off", "name:x join:a/host +61999 leave:a=removed",
	  OF_PEER("", "", "") " left_at=61999 duration=61 reason=peer kicked cause=removed "
			      "message=" },
	{ "off", "name:x join:a/host failed:a",
	  OF_PEER("", "", "") " error_message=network disconnection" },
};

START_TEST(events_have_their_members)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(event_rows); i++) {
		struct script *script;
		const char *data = NULL;
		uint64_t seq;

		set_setting("sessions", event_rows[i].sessions);
		script = script_open(event_rows[i].news);
		seq = last_seq();
		say(script, event_rows[i].news);
		(void)events_since(seq, &data);
		if (script->told.failed != NULL)
			data = arena_copy(stand.arena, script->told.failed->data).data;
		ck_assert_msg(strcmp(shown_event(script, data), event_rows[i].event) == 0,
			      "%s:\n%s, not\n%s", script->at, shown_event(script, data),
			      event_rows[i].event);
	}
}
END_TEST

static const struct {
	const char *news, *cause, *reason, *message;
} reasons[] = {
	/* clang-format off */
	{ "leave:a=left", "left", "client request", "" },
	{ "leave:a=other_device", "other_device", "client request", "" },
	{ "leave:a=removed", "removed", "peer kicked", "" },
	{ "leave:a=ended", "ended", "peer kicked", "" },
	{ "leave:a=signal", "signal", "websocket closed", "" },
	{ "leave:a=sip", "sip", "websocket closed", "" },
	{ "leave:a=media", "media", "ice connection state closed", "" },
	{ "leave:a=server", "server", "server removed peer", "" },
	{ "leave:a=unseen", "unseen", "server removed peer", "" },
	/* The media server does not know why this service puts people out. */
	{ "order:a=removed out:a", "removed", "peer kicked", "why" },
	{ "order:a=banned out:a", "banned", "peer kicked", "why" },
	{ "order:a=full out:a", "full", "peer kicked", "why" },
	{ "order:a=not_admitted out:a", "not_admitted", "peer kicked", "why" },
	{ "order:a=full leave:a=removed out:a", "full", "peer kicked", "why" },
	{ "order:a=full out:a leave:a=removed", "full", "peer kicked", "why" },
	{ "order:a=full leave:a=left out:a", "left", "client request", "" },
	{ "order:a=full +5000 look: +5000 look: out:a", "unseen", "server removed peer", "" },
	/* clang-format on */
};

START_TEST(a_cause_has_a_reason)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(reasons); i++) {
		struct script *script = script_open(reasons[i].news);
		const uint64_t seq = last_seq();
		const char *data;

		say(script, "join:a");
		say(script, reasons[i].news);
		(void)events_since(seq, &data);
		ck_assert_msg(strstr(data, arena_text(stand.arena,
						      "\"reason\":\"%s\",\"cause\":\"%s\","
						      "\"message\":\"%s\"",
						      reasons[i].reason, reasons[i].cause,
						      reasons[i].message)) != NULL,
			      "%s: %s", script->at, data);
	}
}
END_TEST

/* Long names are cut, and long metadata is in no event. */
START_TEST(long_texts_are_cut)
{
	char name[1000];
	struct script *script;
	const char *data;
	struct peer peer;

	open_stand(_i);
	script = script_open("long texts");
	/* Two bytes a character, after one of one byte. */
	name[0] = 'n';
	for (size_t i = 1; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	script->name = (struct slice){ name, LIVE_NAME_MOST + 201 };
	say(script, "join:a");
	peer = peer_of(script, "a");
	ck_assert_uint_eq(peer.name.size, LIVE_NAME_MOST - 1);
	ck_assert_uint_eq(peer.metadata.size, LIVE_NAME_MOST + 201);
	(void)events_since(0, &data);
	ck_assert_ptr_nonnull(strstr(data, "\"user_data\":\"\""));
	script->name.size = 256 - 1;
	say(script, "join:b");
	(void)events_since(0, &data);
	ck_assert_ptr_null(strstr(data, "\"user_data\":\"\""));
}
END_TEST

/* ---- settings ---- */

/* A record has nothing that names the person: while the stay lasts, what calls judge by, afterwards
 * not even that. */
START_TEST(anonymous_accounts_keep_no_names)
{
	struct script *script;
	struct peer peer;

	open_stand(_i);
	script = script_open("anonymous");
	say(script, "name:x join:a/host#e");
	set_setting("sessions", "off");
	say(script, "+1000 name:y join:a join:b/host#f");
	expect(script, "[open 1 0-1000 a(y)@0 b()@1000]");
	say(script, "name:Y join:b");
	peer = peer_of(script, "b");
	/* The name is not kept, but the media server is to be told another one. */
	ck_assert(slice_is(peer.new_name, "Y (2)"));
	say(script, "name:y_(2) join:b name:y");
	peer = peer_of(script, "b");
	ck_assert_uint_eq(peer.new_name.size, 0);
	ck_assert(slice_is(peer.user_id, "b") && slice_is(peer.role, "host") &&
		  slice_is(peer.entry, "f") && slice_is(peer.code, "c0de") &&
		  slice_is(peer.identity, "b"));
	ck_assert(peer.is_anonymous && peer.name.size == 0 && peer.metadata.size == 0);
	ck_assert_str_eq(inside_of(script, "f"), "b");
	say(script, "look:a,b");
	expect(script, "[open 1 0-1000 a(y)@0 b()@1000]");
	say(script, "+1000 leave:a leave:b leave:c");
	expect(script, "[open 1 0-2000 a(y)@0-2000=left b()@1000-2000=left c()@2000-2000=left]");
	ck_assert_str_eq(inside_of(script, "f"), "");
	for (int i = 0; i < 2; i++) {
		peer = peer_of(script, i == 0 ? "b" : "c");
		ck_assert_uint_eq(peer.user_id.size + peer.entry.size + peer.code.size +
					  peer.identity.size + peer.name.size + peer.metadata.size,
				  0);
	}
	ck_assert(slice_is(peer_of(script, "a").user_id, "a"));
	set_setting("sessions", "on");
	say(script, "name:z look:b join:d");
	expect(script, "[open 1 0-2000 a(y)@0-2000=left b()@1000-2000=left c()@2000-2000=left "
		       "d(z)@2000]");
}
END_TEST

/* Gives the account one webhook, which chooses these events, given as lines. */
static void set_webhook(const char *events, bool is_enabled)
{
	struct fault fault = FAULT_INITIAL;
	struct webhooks webhooks;
	struct call call;

	begin(&call);
	ck_assert(webhooks_load(call.transaction, STORE_TO_CHANGE, &webhooks, &fault));
	ck_assert_uint_eq(webhooks.count, 1);
	webhooks.items[0].events = slice_of(events);
	webhooks.items[0].is_enabled = is_enabled;
	ck_assert(webhooks_put(call.transaction, &webhooks, &fault));
	commit(&call);
}

static const struct {
	const char *setting;
	const char *chosen; /* by a webhook */
	bool is_disabled; /* the webhook */
	const char *events;
} log_rows[] = {
	{ "on", "room.*", false, "open join leave close" },
	{ "off", "room.*", false, "open close" },
	{ "off", "peer.join.success", false, "open join close" },
	{ "off", "room.*\npeer.leave.success", false, "open leave close" },
	{ "off", "peer.*", false, "open join leave close" },
	{ "off", "*", false, "open join leave close" },
	{ "off", "room.*\nsession.open.success", false, "open close" },
	{ "off", "*", true, "open close" },
};

START_TEST(an_account_chooses_what_is_logged)
{
	open_stand(_i);
	(void)create("/v2/webhooks", "{\"url\":\"https://h.example\"}");
	for (int i = 0; i < ROWS(log_rows); i++) {
		struct script *script;
		uint64_t seq;

		set_setting("live_log", log_rows[i].setting);
		set_webhook(log_rows[i].chosen, !log_rows[i].is_disabled);
		script = script_open("live_log");
		seq = last_seq();
		say(script, "join:a leave:a +20000 grace");
		ck_assert_msg(strcmp(events_since(seq, NULL), log_rows[i].events) == 0,
			      "row %d: %s", i, events_since(seq, NULL));
		expect(script, "[closed 1 0-0 a@0-0=left]");
	}
}
END_TEST

/* ---- usage ---- */

#define DAY USAGE_DAY

/* Returns "SESSIONS PEERS MILLISECONDS PEAK" of the day that is so many days after the first one,
 * or "none". */
static const char *used(int64_t day)
{
	const struct id id = usage_id(MIDDAY / DAY + day);
	struct fault fault = FAULT_INITIAL;
	struct usage usage;
	struct call call;

	begin(&call);
	ck_assert(record_get(&usage_table, call.transaction, &id, STORE_TO_SHOW, &usage, &fault));
	abandon(&call);
	if (usage.stored.value.data == NULL)
		return "none";
	return arena_text(stand.arena, "%llu %llu %llu %llu", (unsigned long long)usage.sessions,
			  (unsigned long long)usage.peers, (unsigned long long)usage.milliseconds,
			  (unsigned long long)usage.peak);
}

/* The script begins at 23:00 of the first day. 3600000 is midnight. */
static const struct {
	const char *news;
	const char *used[3]; /* on the first days */
} usage_rows[] = {
	{ "", { "none", "none", "none" } },
	{ "join:a +1000 leave:a", { "1 1 1000 1", "none", "none" } },
	{ "join:a join:b +1000 leave:a +1000 join:c leave:b leave:c",
	  { "1 3 3000 2", "none", "none" } },
	{ "join:a join:a look:a +1000 look: +5000 look: look:a leave:a leave:a",
	  { "1 2 6000 1", "none", "none" } },
	/* Minutes count at the end of the stay; at midnight those inside are inside. */
	{ "join:a join:b +3599999 leave:a +1 leave:b",
	  { "1 2 3599999 2", "0 0 3600000 1", "none" } },
	{ "join:a join:b +3600000 join:c leave:a leave:b +1000 leave:c +20000 grace join:d",
	  { "1 2 0 2", "1 2 7201000 3", "none" } },
	{ "join:a join:b +3600000 +1000 leave:a +86400000 leave:b",
	  { "1 2 0 2", "0 0 3601000 2", "0 0 90001000 1" } },
	/* Told after midnight, of the day before. */
	{ "join:a known:b +3599000 +1000 late:1000 leave:a leave:b",
	  { "1 2 7198000 1", "0 0 0 1", "none" } },
	{ "known:c +3599000 +2000 join:a join:b late:3000 leave:c",
	  { "0 1 3598000 0", "1 2 0 2", "none" } },
	/* Closed sessions, and those of which is heard late, count as any. */
	{ "join:a +1000 ended +1000 leave:b join:c", { "2 3 1000 1", "none", "none" } },
	{ "join:a +1000 room:2 join:b +1000 ended", { "2 2 1000 1", "none", "none" } },
	{ "( join:a leave:a join:b leave:b join:c join:d )", { "1 4 0 2", "none", "none" } },
};

START_TEST(usage_is_counted_by_day)
{
	const int64_t begun = MIDDAY + 11 * HOUR;

	open_stand(_i);
	for (int i = 0; i < ROWS(usage_rows); i++) {
		struct script *script;

		if (i > 0) {
			tear_down();
			set_up();
			open_stand(_i);
		}
		now = begun - HOUR;
		script = script_open(usage_rows[i].news);
		say(script, usage_rows[i].news);
		(void)stored(script);
		for (int64_t day = 0; day < 3; day++)
			ck_assert_msg(strcmp(used(day), usage_rows[i].used[day]) == 0,
				      "%s: day %lld: %s", script->at, (long long)day, used(day));
	}
}
END_TEST

/* Two rooms are in use at once. */
START_TEST(a_peak_is_of_all_rooms)
{
	struct script *one, *other;

	open_stand(_i);
	one = script_open("one");
	other = script_open("other");
	say(one, "join:a join:b");
	say(other, "join:c leave:c join:d");
	say(one, "leave:a leave:b join:e");
	(void)stored(one);
	ck_assert_str_eq(used(0), "2 5 0 3");
}
END_TEST

START_TEST(old_usage_is_dropped)
{
	struct script *script;

	open_stand(_i);
	script = script_open("old usage");
	say(script, "join:a");
	for (int day = 1; day < 6; day++) {
		now += DAY;
		say(script, arena_text(stand.arena, "join:d%d", day));
	}
	ck_assert_str_ne(used(0), "none");
	/* 400 days and today are kept; a few old days are dropped with each new one. */
	now = MIDDAY + 400 * DAY;
	say(script, "join:b");
	ck_assert_str_ne(used(0), "none");
	now += 2 * DAY;
	say(script, "join:c");
	ck_assert_str_eq(used(0), "none");
	ck_assert_str_eq(used(1), "none");
	ck_assert_str_ne(used(2), "none");
	now += 4 * DAY;
	say(script, "join:e");
	ck_assert_str_eq(used(5), "none");
	ck_assert_str_ne(used(400), "none");
}
END_TEST

/* ---- bans ---- */

/* Digits of two hashes of codes that begin alike, and of another one. */
#define HASH_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HASH_B "0123456789abcdee0123456789abcdef0123456789abcdef0123456789abcdef"
#define FIRST_OF_A "0123456789abcdef"

/* Bans are created in this order; the room is that of the row, 0 for every room. */
static const struct {
	const char *user_id, *code_hash;
	int room;
	int64_t seconds; /* 0: for ever */
} banned[] = {
	{ "in-one", "", 1, 0 },	      { "everywhere", "", 0, 0 }, { "", HASH_A, 2, 0 },
	{ "for-a-while", "", 0, 60 }, { "both", "", 1, 60 },	  { "both", "", 0, 0 },
};

static const struct {
	int room;
	const char *user_id, *code;
	int64_t after; /* seconds after the bans were created */
	int found; /* index in `banned`; -1: none */
} findings[] = {
	{ 1, "in-one", "", 0, 0 },
	{ 2, "in-one", "", 0, -1 },
	{ 1, "in-on", "", 0, -1 },
	{ 1, "", "", 0, -1 },
	{ 1, "everywhere", "", 0, 1 },
	{ 2, "everywhere", "", 0, 1 },
	{ 2, "somebody", HASH_A, 0, 2 },
	{ 2, "", FIRST_OF_A, 0, 2 },
	{ 1, "somebody", HASH_A, 0, -1 },
	{ 2, "somebody", HASH_B, 0, -1 },
	{ 2, "somebody", "0123456789abcde", 0, -1 },
	/* A user_id is no code. */
	{ 2, HASH_A, "", 0, -1 },
	{ 1, "for-a-while", "", 59, 3 },
	{ 1, "for-a-while", "", 60, -1 },
	{ 1, "both", "", 59, 4 },
	{ 1, "both", "", 60, 5 },
	{ 2, "in-one", HASH_A, 0, 2 },
};

static struct ban_terms terms_of(int row, const struct id *rooms)
{
	struct ban_terms terms = {
		.user_id = slice_of(banned[row].user_id),
		.code_hash = slice_of(banned[row].code_hash),
	};

	if (banned[row].room > 0)
		terms.room = rooms[banned[row].room - 1];
	if (banned[row].seconds > 0)
		terms.expires_at = now / 1000 + banned[row].seconds;
	return terms;
}

START_TEST(bans_are_found)
{
	struct fault fault = FAULT_INITIAL;
	struct id rooms[2], ids[ROWS(banned)];
	struct ban ban;
	struct call call;
	bool is_there;

	open_stand(_i);
	rooms[0] = create("/v2/rooms", "{}");
	rooms[1] = create("/v2/rooms", "{}");
	begin(&call);
	ck_assert(ban_find(&call, &rooms[0], SLICE("in-one"), SLICE(HASH_A), &ban, &is_there,
			   &fault));
	ck_assert(!is_there);
	for (int row = 0; row < ROWS(banned); row++) {
		const struct ban_terms terms = terms_of(row, rooms);

		ck_assert(ban_add(&call, &terms, &ban, &fault));
		ids[row] = ban.stored.id;
	}
	commit(&call);
	for (int row = 0; row < ROWS(findings); row++) {
		begin(&call);
		call.now = now + findings[row].after * 1000;
		ck_assert(ban_find(&call, &rooms[findings[row].room - 1],
				   slice_of(findings[row].user_id), slice_of(findings[row].code),
				   &ban, &is_there, &fault));
		ck_assert_msg(is_there == (findings[row].found >= 0), "row %d", row);
		ck_assert_msg(!is_there ||
				      id_compare(&ban.stored.id, &ids[findings[row].found]) == 0,
			      "row %d: another ban", row);
		abandon(&call);
	}
}
END_TEST

/* Returns how many bans are stored, counted, and noted with an end. */
static const char *bans_stored(void)
{
	struct store_record records[300];
	struct store_page bans = { .records = records, .most = 300 };
	struct store_page ends = { .records = records, .most = 300 };
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	begin(&call);
	ck_assert(store_page(call.transaction, &kind_ban, &bans, &fault) &&
		  store_page(call.transaction, &kind_ban_end, &ends, &fault) &&
		  media_load(&call, STORE_TO_SHOW, &media, &fault));
	abandon(&call);
	return arena_text(stand.arena, "%zu %u %zu", bans.count, (unsigned)media.ban_count,
			  ends.count);
}

static void ban(const char *user_id, const struct id *room, int64_t seconds)
{
	const char *in = room == NULL ? ""
				      : arena_text(stand.arena, ",\"room_id\":\"%s\"",
						   id_as_text(stand.arena, room).data);

	(void)ask(METHOD_POST, "/v2/bans",
		  seconds == 0
			  ? arena_text(stand.arena, "{\"user_id\":\"%s\"%s}", user_id, in)
			  : arena_text(stand.arena, "{\"user_id\":\"%s\"%s,\"expires_in\":%lld}",
				       user_id, in, (long long)seconds));
}

static void drop_bans(void)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin(&call);
	ck_assert(bans_drop(&call, &fault));
	commit(&call);
}

/* At most sixteen at a time, the ones that expired first. */
START_TEST(expired_bans_are_dropped)
{
	open_stand(_i);
	ban("for-ever", NULL, 0);
	for (int i = 0; i < 20; i++)
		ban(arena_text(stand.arena, "user-%d", i), NULL, 100 - i);
	ban("longer", NULL, 200);
	/* A ban again moves the end; a ban that has expired is another one. */
	ban("moved", NULL, 50);
	ban("moved", NULL, 300);
	ck_assert_str_eq(bans_stored(), "23 23 22");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "23 23 22");
	now += 81000;
	drop_bans();
	ck_assert_str_eq(bans_stored(), "22 22 21");
	now += 19000;
	ban("user-0", NULL, 0);
	ck_assert_str_eq(bans_stored(), "22 22 20");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "6 6 4");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "4 4 2");
	drop_bans();
	ck_assert_str_eq(bans_stored(), "4 4 2");
}
END_TEST

/* More than a deletion removes at once; the next call that creates a room removes the others. */
START_TEST(bans_go_with_their_room)
{
	struct id room, other;

	open_stand(_i);
	room = create("/v2/rooms", "{}");
	other = create("/v2/rooms", "{}");
	for (int i = 0; i < GARBAGE_AT_ONCE + 8; i++)
		ban(arena_text(stand.arena, "user-%d", i), &room, i < 2 ? 60 : 0);
	ban("user-1", &other, 0);
	ban("user-1", NULL, 60);
	(void)ask(METHOD_DELETE,
		  arena_text(stand.arena, "/v2/rooms/%s", id_as_text(stand.arena, &room).data), "");
	ck_assert_str_eq(bans_stored(), "10 10 1");
	(void)create("/v2/rooms", "{}");
	ck_assert_str_eq(bans_stored(), "2 2 1");
}
END_TEST

static void set_ban_count(uint32_t count)
{
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	begin(&call);
	ck_assert(media_load(&call, STORE_TO_CHANGE, &media, &fault));
	media.ban_count = count;
	ck_assert(media_put(&call, &media, &fault));
	commit(&call);
}

START_TEST(an_account_has_so_many_bans)
{
	const struct ban_terms terms = { .user_id = SLICE("one-more"), .code_hash = SLICE("") };
	struct fault fault = FAULT_INITIAL;
	struct ban added;
	struct call call;

	open_stand(_i);
	ban("first", NULL, 60);
	set_ban_count(BANS_MOST);
	begin(&call);
	ck_assert(!ban_add(&call, &terms, &added, &fault));
	ck_assert_int_eq(fault.kind, FAULT_CONFLICT);
	ck_assert_str_eq(fault.message, "Too many bans");
	abandon(&call);
	/* One that exists is not one more. */
	ban("first", NULL, 50);
	/* Expired bans make room. */
	now += 50000;
	ban("one-more", NULL, 0);
	ck_assert_str_eq(bans_stored(), "1 100000 0");
}
END_TEST

/* ---- many ---- */

START_TEST(a_deleted_media_server_closes_its_sessions)
{
	struct script *scripts[70], *other, *empty;
	struct fault fault = FAULT_INITIAL;
	struct call call;

	open_stand(_i);
	for (int i = 0; i < ROWS(scripts); i++) {
		scripts[i] = script_open("deleted media server");
		say(scripts[i], "join:a +1000 join:b +1000 look:a");
	}
	other = script_open("other media server");
	say(other, "server:2 join:a");
	empty = script_open("empty");
	say(empty, "join:a leave:a");
	begin(&call);
	ck_assert(live_close_backend(&call, &stand.servers[0], &fault));
	commit(&call);
	now = other->begun;
	expect(other, "[open 1 0-0 a@0]");
	expect(empty, "[closed 1 0-0 a@0-0=left]");
	for (int i = 0; i < ROWS(scripts); i++)
		expect(scripts[i], "[closed 1 0-2000 a@0-2000=unseen b@1000-1000=unseen]");
}
END_TEST

START_TEST(a_session_of_many_closes_at_once)
{
	struct script *script;
	const char *events;
	struct peer peer;
	uint64_t seq;
	size_t leaves = 0;

	open_stand(_i);
	script = script_open("many");
	say_many(script, "join", 0, 150);
	seq = last_seq();
	say(script, "+1000 ended");
	(void)stored(script);
	events = events_since(seq, NULL);
	for (const char *at = events; (at = strstr(at, "leave ")) != NULL; at++)
		leaves++;
	ck_assert_uint_eq(leaves, 150);
	ck_assert_str_eq(events + strlen(events) - 6, " close");
	peer = peer_of(script, "s149");
	ck_assert(!peer.is_inside && peer.left == now && peer.cause == LEAVE_ENDED);
}
END_TEST

/* ---- steps ---- */

/* Memory of a transaction of the watch. */
#define STEP_MEMORY ((size_t)16 << 20)
#define CROWD 900

/* How a session comes to its end. */
enum way { BY_EVENT, BY_ANOTHER_ROOM, BY_A_CALL, BY_ITS_SERVER, WAYS };

/* Does the first step of a way, or tells the news again, in a transaction with little memory. */
static void end_somehow(struct script *script, enum way way)
{
	struct news news = news_of(script, way == BY_EVENT ? NEWS_ENDED : NEWS_JOINED, SLICE("z"));
	struct merging merging = {
		.room = script->room, .backend = stand.servers[0], .news = &news, .count = 1
	};
	struct fault fault = FAULT_INITIAL;
	bool is_done = false;
	struct call call;

	begin(&call);
	arena_set_limit(call.arena, STEP_MEMORY);
	switch (way) {
	case BY_EVENT:
	case BY_ANOTHER_ROOM:
		is_done = live_merge(&call, &merging, &fault);
		break;
	case BY_A_CALL:
		is_done = live_end(&call, &script->room, &fault);
		break;
	case BY_ITS_SERVER:
		is_done = live_close_backend(&call, &stand.servers[0], &fault);
		break;
	case WAYS:
		break;
	}
	ck_assert_msg(is_done, "%s", fault_reason(&fault));
	commit(&call);
}

/* Returns how many people are inside; -1 if no session is open. */
static int64_t inside_now(const struct script *script)
{
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;
	int64_t n = -1;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	if (live.stored.value.data != NULL)
		n = (int64_t)live_peers(&live);
	abandon(&call);
	return n;
}

static bool take_step(const struct script *script)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;
	bool is_closing;

	begin(&call);
	arena_set_limit(call.arena, STEP_MEMORY);
	ck_assert_msg(live_close_on(&call, &script->room, false, &is_closing, &fault), "%s",
		      fault_reason(&fault));
	commit(&call);
	return is_closing;
}

static unsigned events_of(const char *events, const char *name)
{
	unsigned n = 0;

	for (const char *at = events; (at = strstr(at, name)) != NULL; at++)
		n++;
	return n;
}

/* A session that is too large for one transaction: the steps are durable, and what is told again
 * between them changes nothing. */
START_TEST(a_large_session_closes_in_steps)
{
	static char metadata[LIVE_METADATA_MOST + 1];

	memset(metadata, 'm', sizeof metadata - 1);
	open_stand(_i % ROWS(drivers));
	for (enum way way = 0; way < WAYS; way++) {
		struct script *script = script_open("large");
		int64_t before = CROWD, inside;
		const char *events;
		uint64_t seq;

		script->name = slice_of(metadata);
		say_many(script, "join", 0, CROWD);
		script->name = (struct slice){ NULL, 0 };
		seq = last_seq();
		now += 1000;
		script->server_room += way == BY_ANOTHER_ROOM;
		do {
			end_somehow(script, way);
			inside = inside_now(script);
			/* Nobody else gets in meanwhile. */
			ck_assert_int_lt(inside, before);
			ck_assert_int_ge(inside, before - 400);
			before = inside;
			ck_assert(!take_step(script) || inside_now(script) < before);
			inside = inside_now(script);
			before = inside < 0 ? before : inside;
		} while (inside > 1);
		if (way == BY_ANOTHER_ROOM && inside < 0)
			end_somehow(script, way);
		events = events_since(seq, NULL);
		ck_assert_uint_eq(events_of(events, "leave"), CROWD);
		ck_assert_uint_eq(events_of(events, "close"), 1);
		ck_assert_uint_eq(events_of(events, "open"), way == BY_ANOTHER_ROOM);
		ck_assert_int_eq(inside_now(script), way == BY_ANOTHER_ROOM ? 1 : -1);
		say(script, "ended");
	}
}
END_TEST

/* Merges a look in steps, each in a transaction of its own. Returns how many there were. */
static unsigned look_in_steps(struct script *script, int first, int end)
{
	struct merging merging = { .room = script->room, .backend = stand.servers[0] };
	struct news *news = arena_zero(stand.arena, (size_t)(end - first) * sizeof *news);
	unsigned steps = 0;

	for (int i = first; i < end; i++)
		news[i - first] = news_of(script, NEWS_LISTED,
					  slice_of(arena_text(stand.arena, "s%d/r%d", i, i)));
	merging.news = news;
	merging.count = (size_t)(end - first);
	merging.is_look = true;
	merging.looked = now;
	merging.steps = live_look_steps(stand.arena, news, merging.count);
	while (!live_look_is_merged(merging.steps)) {
		merge(script, &merging);
		ck_assert_uint_lt(++steps, 100);
	}
	return steps;
}

START_TEST(a_large_look_is_merged_in_steps)
{
	struct script *script;
	uint64_t seq;

	open_stand(_i);
	script = script_open("look");
	ck_assert_uint_gt(look_in_steps(script, 0, 600), 5);
	ck_assert_int_eq(inside_now(script), 600);
	now += 1000;
	seq = last_seq();
	ck_assert_uint_gt(look_in_steps(script, 0, 600), 1);
	ck_assert_str_eq(events_since(seq, NULL), "");
	/* Half of them are missing, twice. */
	now += 1000;
	(void)look_in_steps(script, 300, 700);
	ck_assert_int_eq(inside_now(script), 700);
	now += LIVE_MISSED_FOR;
	(void)look_in_steps(script, 300, 700);
	ck_assert_int_eq(inside_now(script), 400);
	ck_assert_uint_eq(events_of(events_since(seq, NULL), "leave"), 300);
	(void)stored(script);
}
END_TEST

/* Stays that are stored in a minute of an account that may have 100. */
static const struct {
	int rooms, people; /* in each of the rooms */
	const char *entry; /* of each of them; NULL: different ones */
	int64_t later; /* milliseconds between two people of a room */
	unsigned stored[3]; /* in each of the rooms */
} limited[] = {
	{ 1, 40, NULL, 0, { 40 } },
	{ 1, 80, NULL, 0, { 50 } },
	{ 3, 80, NULL, 0, { 50, 25, 12 } },
	{ 1, 40, "e", 0, { STAYS_OF_ENTRY } },
	{ 2, 20, "e", 0, { 20, STAYS_OF_ENTRY - 20 } },
	{ 1, 80, NULL, 1000, { 50 + 20 } },
};

START_TEST(so_many_stays_are_stored_in_a_minute)
{
	struct stay_limits *limits = stay_limits_open(100);
	const struct id account = { { 1 } };
	int64_t time = 0;
	uint64_t refused = 0;

	for (unsigned char room = 0; room < limited[_i].rooms; room++) {
		const struct id id = { { 2, room } };
		unsigned n = 0;

		for (int i = 0; i < limited[_i].people; i++) {
			char own[16];

			(void)snprintf(own, sizeof own, "%d/%d", room, i);
			n += stay_limits_take(
				limits, &account, &id,
				slice_of(limited[_i].entry != NULL ? limited[_i].entry : own),
				time);
			time += limited[_i].later;
		}
		ck_assert_uint_eq(n, limited[_i].stored[room]);
		refused += (uint64_t)limited[_i].people - n;
	}
	ck_assert_uint_eq(stay_limits_refused(limits), refused);
	stay_limits_close(limits);
}
END_TEST

/* Who is over the limit is stored in the next minute, those who joined first, first; but who must
 * not be inside is stored, and so judged, at once. */
START_TEST(who_is_over_the_limit_is_stored_later)
{
	struct script *script;

	open_stand(_i);
	stand.environment.stay_limits = stay_limits_open(8);
	script = script_open("limit");
	now = script->begun = now + 60000 - now % 60000;
	ban("x", NULL, 60);
	say(script, "join:a +1 join:b +1 join:c +1 join:d +1");
	expect(script, "[open 1 0-3 a@0 b@1 c@2 d@3]");
	say(script, "join:e +1 join:x#f +1 listed:a,b,c,d,g,e,x#f");
	ck_assert(script->told.is_over);
	expect(script, "[open 1 0-5 a@0 b@1 c@2 d@3 x@5]");
	ck_assert_int_eq(script->told.judges, JUDGE_EVERYBODY);
	say(script, "+60000 listed:a,b,c,d,g,e,x#f");
	ck_assert(!script->told.is_over);
	expect(script, "[open 1 0-6 a@0 b@1 c@2 d@3 e@4 x@5 g@6]");
	stay_limits_close(stand.environment.stay_limits);
	stand.environment.stay_limits = NULL;
}
END_TEST

/* ---- doors ---- */

/* Returns a text of an answer that begins with these words. */
static const char *text_after(const char *answer, const char *before)
{
	const char *place = strstr(answer, before);

	ck_assert_msg(place != NULL, "%s: %s", before, answer);
	place += strlen(before);
	return arena_text(stand.arena, "%.*s", (int)strcspn(place, "\""), place);
}

/* Makes a room whose guests wait, and returns the code of its guests. */
static const char *make_door(struct id *room)
{
	struct id template = create("/v2/templates", "{\"name\":\"door\",\"roles\":{\"host\":{},"
						     "\"guest\":{\"admission\":\"ask\"}}}");

	*room = create("/v2/rooms", arena_text(stand.arena, "{\"template_id\":\"%s\"}",
					       id_as_text(stand.arena, &template).data));
	return text_after(ask(METHOD_POST,
			      arena_text(stand.arena, "/v2/room-codes/room/%s/role/guest",
					 id_as_text(stand.arena, room).data),
			      "{}"),
			  "\"code\":\"");
}

/* The same, and sets terms of the code. */
static const char *make_door_with(struct id *room, const char *terms)
{
	const char *code = make_door(room);

	(void)ask(METHOD_PATCH, arena_text(stand.arena, "/v2/room-codes/code/%s", code), terms);
	return code;
}

/* Somebody knocks. Returns the path of the ticket. */
static const char *knock(const char *code)
{
	return arena_text(
		stand.arena, "/v2/tickets/%s",
		text_after(ask(METHOD_POST, "/v2/token",
			       arena_text(stand.arena, "{\"code\":\"%s\",\"wait\":true}", code)),
			   "\"ticket\":\""));
}

static void admit_all(const struct id *room)
{
	(void)ask(METHOD_POST,
		  arena_text(stand.arena, "/v2/active-rooms/%s/tickets",
			     id_as_text(stand.arena, room).data),
		  "{\"admit\":\"all\"}");
}

/* Returns how many events of this type are in the log. */
static unsigned events_logged(const char *type)
{
	const char *place = ask(METHOD_GET,
				arena_text(stand.arena, "/v2/events?limit=100&type=%s", type), "");
	unsigned count = 0;

	for (; (place = strstr(place, "\"type\":")) != NULL; place++)
		count++;
	return count;
}

static unsigned joins_logged(void)
{
	join_log_write(stand.environment.joins, &stand.environment);
	return events_logged("join.*");
}

static void watch_doors(void)
{
	struct door_watch *watch = door_watch_open(&stand.environment);

	door_watch_round(watch);
	door_watch_close(watch);
}

/* Returns what is stored of a ticket; polled 0 if there is nothing. */
static struct door_ticket stored_ticket(const char *path)
{
	struct door_ticket ticket = { .polled = 0 };
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin(&call);
	ck_assert(record_get_named(&door_ticket_table, call.transaction,
				   door_ticket_name(stand.arena, slice_of(strrchr(path, '/') + 1)),
				   STORE_TO_SHOW, &ticket, &fault));
	abandon(&call);
	return ticket;
}

static const struct {
	const char *setting;
	const char *terms; /* of the code */
	unsigned logged;
	enum door_ticket_state at_once; /* what the exchange itself stores */
} exchange_rows[] = {
	{ "off", "{}", 0, DOOR_WAITING },
	{ "on", "{}", 1, DOOR_WAITING },
	{ "off", "{\"max_uses\":1}", 0, DOOR_TAKEN },
	{ "on", "{\"max_uses\":1}", 1, DOOR_TAKEN },
};

START_TEST(a_ticket_is_exchanged_once)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(exchange_rows); i++) {
		const char *code, *ticket, *first;
		unsigned before, admitted;
		struct id room;

		stand.environment.joins = join_log_open();
		set_setting("log_joins", exchange_rows[i].setting);
		before = joins_logged();
		admitted = events_logged("peer.admitted");
		code = make_door_with(&room, exchange_rows[i].terms);
		ticket = knock(code);
		admit_all(&room);
		first = ask(METHOD_GET, ticket, "");
		ck_assert_ptr_nonnull(strstr(first, "\"token\":\""));
		ck_assert_int_eq(stored_ticket(ticket).state, exchange_rows[i].at_once);
		for (int again = 0; again < 3; again++) {
			now += 1500;
			ck_assert_str_eq(ask(METHOD_GET, ticket, ""), first);
			if (again > 0)
				watch_doors();
		}
		ck_assert_int_eq(stored_ticket(ticket).state, DOOR_TAKEN);
		ck_assert_uint_eq(joins_logged() - before, exchange_rows[i].logged);
		ck_assert_uint_eq(events_logged("peer.admitted") - admitted, 1);
		join_log_close(stand.environment.joins);
		stand.environment.joins = NULL;
	}
}
END_TEST

/* What happens to a ticket between its exchange and the moment in which that is written: the event
 * comes once, and a place at the door is free at once. */
static const struct {
	const char *what; /* the method; PATCH disables the code, POST knocks again */
	const char *terms; /* of the code */
	bool is_removed;
} exchanged_rows[] = {
	{ "GET", "{}", false },
	{ "DELETE", "{}", true },
	{ "PATCH", "{}", false },
	{ "POST", "{\"user_id\":\"u\"}", false },
};

START_TEST(what_was_exchanged_is_written)
{
	open_stand(_i);
	for (int i = 0; i < ROWS(exchanged_rows); i++) {
		static const unsigned char digest[DIGEST_SIZE];
		const char *what = exchanged_rows[i].what, *code, *ticket;
		unsigned admitted = events_logged("peer.admitted");
		unsigned denied = events_logged("peer.denied");
		struct door_ticket stored;
		struct door_figures figures;
		struct id room;

		code = make_door_with(&room, exchanged_rows[i].terms);
		ticket = knock(code);
		admit_all(&room);
		ck_assert_ptr_nonnull(strstr(ask(METHOD_GET, ticket, ""), "admitted"));
		if (strcmp(what, "DELETE") == 0)
			(void)ask(METHOD_DELETE, ticket, "");
		if (strcmp(what, "POST") == 0)
			ck_assert_ptr_nonnull(strstr(ask(METHOD_GET, knock(code), ""), "waiting"));
		if (strcmp(what, "PATCH") == 0) {
			(void)ask(METHOD_PATCH,
				  arena_text(stand.arena, "/v2/room-codes/code/%s", code),
				  "{\"enabled\":false}");
			ck_assert_ptr_nonnull(strstr(ask(METHOD_GET, ticket, ""), "denied"));
			/* Another process has exchanged it before, and writes that only now. */
			stored = stored_ticket(ticket);
			stored.name = door_ticket_name(stand.arena,
						       slice_of(strrchr(ticket, '/') + 1));
			(void)door_polls_note(stand.environment.door_polls, &stand.account, &stored,
					      digest, false, now);
			door_polls_take(stand.environment.door_polls, stored.name, now);
		}
		watch_doors();
		ck_assert_uint_eq(events_logged("peer.admitted") - admitted, 1);
		ck_assert_uint_eq(events_logged("peer.denied") - denied,
				  strcmp(what, "PATCH") == 0);
		door_polls_figures(stand.environment.door_polls, &figures);
		ck_assert_uint_eq(figures.waiting, strcmp(what, "POST") == 0);
		ck_assert(strcmp(what, "PATCH") != 0 || stored_ticket(ticket).state == DOOR_DENIED);
		ck_assert(exchanged_rows[i].is_removed ==
			  (stored_ticket(ticket).stored.value.data == NULL));
	}
}
END_TEST

static bool door_is_stored(const struct id *room)
{
	struct fault fault = FAULT_INITIAL;
	struct call call;
	struct door door;

	begin(&call);
	ck_assert(door_load(&call, room, STORE_TO_SHOW, &door, &fault));
	abandon(&call);
	return door.stored.value.data != NULL;
}

START_TEST(polls_are_stored_some_time_later)
{
	const char *ticket;
	int64_t knocked;
	struct id room;

	open_stand(_i);
	ticket = knock(make_door(&room));
	knocked = stored_ticket(ticket).polled;
	for (int i = 1; i <= 3; i++) {
		now = knocked + i * DOOR_WRITES_AFTER / 2 - 1;
		(void)ask(METHOD_GET, ticket, "");
		watch_doors();
		ck_assert_int_eq(stored_ticket(ticket).polled, i < 3 ? knocked : now);
	}
}
END_TEST

START_TEST(tickets_lapse)
{
	struct door_figures figures;
	const char *ticket;
	struct id room;

	open_stand(_i);
	ticket = knock(make_door(&room));
	ck_assert(door_is_stored(&room));
	now += DOOR_LAPSES + DOOR_WRITES_AFTER + 1000;
	watch_doors();
	ck_assert_ptr_null(stored_ticket(ticket).stored.value.data);
	ck_assert(!door_is_stored(&room));
	door_polls_figures(stand.environment.door_polls, &figures);
	ck_assert_uint_eq(figures.waiting, 0);
	ck_assert_uint_eq(figures.ends[DOOR_END_LAPSED], 1);
}
END_TEST

/* The list has the first hundred; `count` is how many wait in all. */
START_TEST(the_list_ends_after_a_hundred)
{
	const char *code, *place;
	unsigned listed = 0;
	struct id room;

	open_stand(_i);
	code = make_door(&room);
	for (int i = 0; i < 103; i++)
		(void)knock(code);
	place = ask(METHOD_GET,
		    arena_text(stand.arena, "/v2/active-rooms/%s/tickets",
			       id_as_text(stand.arena, &room).data),
		    "");
	ck_assert_ptr_nonnull(strstr(place, "\"count\":103,\"denied\":[]}"));
	for (; (place = strstr(place, "\"since\":")) != NULL; place++)
		listed++;
	ck_assert_uint_eq(listed, 100);
}
END_TEST

/* More than a deletion removes at once. */
START_TEST(doors_go_with_their_room)
{
	const char *code;
	struct id room;

	open_stand(_i);
	code = make_door(&room);
	for (int i = 0; i < GARBAGE_AT_ONCE + 8; i++)
		(void)knock(code);
	(void)ask(METHOD_PATCH, arena_text(stand.arena, "/v2/room-codes/code/%s", code),
		  "{\"user_id\":\"u\"}");
	(void)knock(code);
	ck_assert_uint_eq(count_of_room(&room, &kind_door_ticket), GARBAGE_AT_ONCE + 9);
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 1);
	(void)ask(METHOD_DELETE,
		  arena_text(stand.arena, "/v2/rooms/%s", id_as_text(stand.arena, &room).data), "");
	ck_assert(door_is_stored(&room));
	for (int i = 0; i < 3; i++)
		(void)create("/v2/rooms", "{}");
	ck_assert_uint_eq(count_of_room(&room, &kind_door_ticket), 0);
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 0);
	ck_assert(!door_is_stored(&room));
}
END_TEST

/* A denial is found by browser, by name and address, and by code and address. */
START_TEST(denials_go_with_the_last_ticket)
{
	const char *code, *tickets;
	struct id room;

	open_stand(_i);
	code = make_door(&room);
	(void)ask(METHOD_POST, "/v2/token",
		  arena_text(stand.arena,
			     "{\"code\":\"%s\",\"wait\":true,\"name\":\"Ada\","
			     "\"browser\":\"n7Yt0sV4bQzK1rXwE5aPdg\"}",
			     code));
	tickets = arena_text(stand.arena, "/v2/active-rooms/%s/tickets",
			     id_as_text(stand.arena, &room).data);
	(void)ask(METHOD_POST,
		  arena_text(stand.arena, "%s/%s", tickets,
			     text_after(ask(METHOD_GET, tickets, ""), "\"id\":\"")),
		  "{\"state\":\"denied\"}");
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 3);
	now += DOOR_DENIES_FOR + 1000;
	watch_doors();
	ck_assert_uint_eq(count_of_room(&room, &kind_visitor), 0);
	ck_assert_uint_eq(count_of_room(&room, &kind_door_ticket), 0);
	ck_assert(!door_is_stored(&room));
}
END_TEST

/* Returns the name of a person's ticket. */
static struct slice name_of(unsigned person)
{
	return door_ticket_name(stand.arena, slice_of(arena_text(stand.arena, "%u", person)));
}

/* Somebody knocks in the room from an address. */
static enum door_limit enter(struct door_polls *polls, const struct id *room, unsigned person,
			     unsigned address, bool is_known)
{
	struct door_ticket of = {
		.name = name_of(person),
		.room = *room,
		.polled = now,
		.is_known = is_known,
	};
	unsigned char digest[DIGEST_SIZE];

	door_address(slice_of(arena_text(stand.arena, "192.0.2.%u", address)), digest);
	return door_polls_enter(polls, &stand.account, &of, digest);
}

START_TEST(so_many_people_wait)
{
	struct door_polls *polls = door_polls_open(DOOR_ADDRESS_MOST);
	const struct id room = id_random(&stand_clock), other = id_random(&stand_clock);
	unsigned person = 0;

	open_stand(0);
	/* From one address; one who knocks again is no further person. */
	while (person < DOOR_ADDRESS_MOST)
		ck_assert_int_eq(enter(polls, &room, person++, 1, true), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 1, true), DOOR_ADDRESS_IS_FULL);
	ck_assert_int_eq(enter(polls, &room, 0, 1, true), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &other, person++, 1, true), DOOR_FITS);
	/* By one code, of everybody or of one person. */
	for (unsigned i = 0; i < DOOR_CODE_MOST; i++)
		ck_assert_int_eq(enter(polls, &room, person++, 2 + i / DOOR_ADDRESS_MOST, false),
				 DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 100, false), DOOR_CODE_IS_FULL);
	ck_assert_int_eq(enter(polls, &other, person++, 100, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 100, true), DOOR_FITS);
	/* Who was let in has left both queues: the first from the address, and by the code. */
	door_polls_take(polls, name_of(0), now);
	ck_assert_int_eq(enter(polls, &room, ++person, 1, true), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, ++person, 1, true), DOOR_ADDRESS_IS_FULL);
	door_polls_take(polls, name_of(DOOR_ADDRESS_MOST + 1), now);
	ck_assert_int_eq(enter(polls, &room, ++person, 100, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, ++person, 100, false), DOOR_CODE_IS_FULL);
	door_polls_close(polls);
}
END_TEST

/* A decision, also one of another process, takes a ticket out of the count; asking for it again
 * does not bring it back. */
static void admit_first(struct door_polls *polls, const struct id *room)
{
	(void)room;
	door_polls_admit(polls, name_of(0));
}

static void admit_everybody(struct door_polls *polls, const struct id *room)
{
	const struct id until = { { 0 } };

	door_polls_admit_all(polls, &stand.account, room, &until, now);
}

static void admit_in_another_room(struct door_polls *polls, const struct id *room)
{
	const struct id other = id_random(&stand_clock);

	admit_everybody(polls, &other);
	(void)room;
}

static void ask_for_first(struct door_polls *polls, const struct id *room)
{
	const struct door_ticket ticket = { .name = name_of(0), .room = *room };
	unsigned char digest[DIGEST_SIZE];

	door_address(SLICE("192.0.2.1"), digest);
	for (int i = 0; i < 2; i++)
		(void)door_polls_note(polls, &stand.account, &ticket, digest, i > 0, now);
	(void)door_polls_note(polls, &stand.account, &ticket, digest, false, now);
}

static const struct {
	void (*decide)(struct door_polls *polls, const struct id *room);
	unsigned places; /* afterwards */
} decided_tickets[] = {
	{ admit_first, 1 },
	{ admit_everybody, 5 },
	{ admit_in_another_room, 0 },
	{ ask_for_first, 1 },
};

START_TEST(decided_tickets_do_not_count)
{
	struct door_polls *polls = door_polls_open(5);
	const struct id room = id_random(&stand_clock);
	unsigned person = 0;

	open_stand(0);
	while (person < 5)
		ck_assert_int_eq(enter(polls, &room, person++, 1, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 1, false), DOOR_ADDRESS_IS_FULL);
	decided_tickets[_i].decide(polls, &room);
	for (unsigned i = 0; i < decided_tickets[_i].places; i++)
		ck_assert_int_eq(enter(polls, &room, person++, 1, false), DOOR_FITS);
	ck_assert_int_eq(enter(polls, &room, person, 1, false), DOOR_ADDRESS_IS_FULL);
	door_polls_close(polls);
}
END_TEST

/* A door keeps the newest denials that still hold, the oldest first. */
START_TEST(the_newest_denials_are_kept)
{
	struct call call = { .arena = arena_open() };
	struct door door = { .denial_count = 0 };
	const size_t first = 50;

	for (size_t i = 0; i < first + DOOR_DENIED_MOST; i++) {
		call.now = (int64_t)i;
		door_add_denial(&call, &door, &(struct id){ { (unsigned char)i } });
	}
	ck_assert_uint_eq(door.denial_count, DOOR_DENIED_MOST);
	for (size_t i = 0; i < DOOR_DENIED_MOST; i++)
		ck_assert_uint_eq(door.denials[i].ticket.bytes[0], first + i);
	call.now = (int64_t)first + DOOR_DENIES_FOR + 9;
	door_add_denial(&call, &door, &(struct id){ { 255 } });
	ck_assert_uint_eq(door.denial_count, DOOR_DENIED_MOST - 10 + 1);
	ck_assert_uint_eq(door.denials[0].ticket.bytes[0], first + 10);
	ck_assert_int_eq(door.denials[door.denial_count - 1].until, call.now + DOOR_DENIES_FOR);
	arena_close(call.arena);
}
END_TEST

/* The times at which everybody was admitted: of many, the oldest become the later. */
START_TEST(the_last_times_of_admission_are_kept)
{
	struct door_polls *polls = door_polls_open(5);
	const unsigned count = DOOR_ADMISSIONS_MOST + 3;
	struct door_ticket ticket = { .room = id_random(&stand_clock) };
	struct id until = { { 0 } };

	open_stand(0);
	for (unsigned i = 1; i <= count; i++) {
		until.bytes[ID_SIZE - 1] = (unsigned char)(10 * i);
		for (int j = 0; j < 2; j++)
			door_polls_admit_all(polls, &stand.account, &ticket.room, &until,
					     1000 * (int64_t)i + j);
	}
	for (unsigned i = 1; i <= count; i++) {
		ticket.id.bytes[ID_SIZE - 1] = (unsigned char)(10 * i - 5);
		ck_assert_int_eq(door_polls_admitted_at(polls, &stand.account, &ticket, &until, 1),
				 1000 * (int64_t)(i > 3 ? i : 4));
	}
	/* Another process has admitted more. */
	until.bytes[ID_SIZE - 1]++;
	ticket.id = until;
	for (int64_t i = 0; i < 2; i++)
		ck_assert_int_eq(
			door_polls_admitted_at(polls, &stand.account, &ticket, &until, 90000 + i),
			90000);
	door_polls_close(polls);
}
END_TEST

/* ---- media servers by their id alone ---- */

/* Begins a call of another account. */
static void begin_as(struct call *call, const struct id *account)
{
	begin(call);
	call->account = *account;
	call_set_account(call);
}

/* Returns the account to which the id of a media server leads; zeros if it leads nowhere. */
static struct id account_of(const struct id *server)
{
	struct backend_account found;
	struct fault fault = FAULT_INITIAL;
	struct call call;

	begin_as(&call, &audit_no_account);
	ck_assert(record_get(&backend_account_table, call.transaction, server, STORE_TO_SHOW,
			     &found, &fault));
	abandon(&call);
	return found.account;
}

START_TEST(a_media_server_is_of_one_account)
{
	const struct id other = id_random(&stand_clock), server = id_random(&stand_clock);
	struct fault fault = FAULT_INITIAL;
	struct call call;
	struct id found;

	open_stand(_i);
	for (int i = 0; i < 2; i++) {
		begin(&call);
		ck_assert(backend_account_put(&call, &server, &fault));
		ck_assert_int_eq(id_compare(&call.transaction->account, &stand.account), 0);
		commit(&call);
		found = account_of(&server);
		ck_assert_int_eq(id_compare(&found, &stand.account), 0);
	}
	/* Another account is to draw another id, and does not remove what is not its own. */
	begin_as(&call, &other);
	ck_assert(!backend_account_put(&call, &server, &fault));
	ck_assert_int_eq(fault.kind, FAULT_AGAIN);
	ck_assert_int_eq(id_compare(&call.transaction->account, &other), 0);
	abandon(&call);
	fault = FAULT_INITIAL;
	begin_as(&call, &other);
	ck_assert(backend_account_remove(&call, &server, &fault));
	ck_assert_int_eq(id_compare(&call.transaction->account, &other), 0);
	commit(&call);
	found = account_of(&server);
	ck_assert_int_eq(id_compare(&found, &stand.account), 0);
	begin(&call);
	ck_assert(backend_account_remove(&call, &server, &fault));
	commit(&call);
	found = account_of(&server);
	ck_assert_int_eq(id_compare(&found, &kind_only_id), 0);
	begin_as(&call, &other);
	ck_assert(backend_account_put(&call, &server, &fault));
	commit(&call);
	found = account_of(&server);
	ck_assert_int_eq(id_compare(&found, &other), 0);
}
END_TEST

/* ---- meetings at random ---- */

#define RUNS 10
#define MEETINGS 20
#define STEPS 14
#define PENDING_MOST 400

/* An event that is on its way. */
struct pending {
	struct news news;
	int64_t due;
};

/* A room of a media server, and the events that it sends. */
struct simulation {
	struct script *script;
	uint64_t seed;
	bool are_inside[STAYS_MOST]; /* by the index of the stay in the script */
	bool were_listed[STAYS_MOST];
	bool are_late[STAYS_MOST]; /* an event arrives in a later meeting */
	int64_t left[STAYS_MOST];
	struct pending pending[PENDING_MOST];
	size_t pending_count;
	struct news delivered[PENDING_MOST]; /* in this meeting */
	size_t delivered_count;
};

static bool happens(struct simulation *simulation, unsigned percent)
{
	return chance_below(&simulation->seed, 100) < percent;
}

static void post(struct simulation *simulation, const struct news *news, int64_t most)
{
	ck_assert_uint_lt(simulation->pending_count, PENDING_MOST);
	simulation->pending[simulation->pending_count++] = (struct pending){
		.news = *news,
		.due = now + (int64_t)chance_below(&simulation->seed, (uint64_t)most),
	};
}

/* Half of the events are lost; some come twice, or in the next meeting. */
static void send_event(struct simulation *simulation, enum news_type type, size_t stay)
{
	struct script *script = simulation->script;
	const struct news news = news_of(script, type,
					 type == NEWS_ENDED ? SLICE("") : script->stays[stay].name);

	if (happens(simulation, 50))
		return;
	post(simulation, &news, 3000);
	if (happens(simulation, 20))
		post(simulation, &news, 10000);
	if (type != NEWS_ENDED && happens(simulation, 10)) {
		simulation->are_late[stay] = true;
		post(simulation, &news, 1);
		simulation->pending[simulation->pending_count - 1].due += 100000;
	}
}

/* Tells what has arrived, in a random order, as one batch or one by one. */
static void deliver(struct simulation *simulation)
{
	struct news batch[PENDING_MOST];
	struct merging merging = { .news = batch };
	const bool is_batch = happens(simulation, 50);

	for (size_t i = 0; i < simulation->pending_count;) {
		struct pending *pending = &simulation->pending[i];

		if (pending->due > now) {
			i++;
			continue;
		}
		batch[merging.count++] = pending->news;
		*pending = simulation->pending[--simulation->pending_count];
	}
	for (size_t i = 0; i < merging.count; i++) {
		const size_t j = i + chance_below(&simulation->seed, merging.count - i);
		const struct news news = batch[j];

		batch[j] = batch[i];
		batch[i] = news;
		if (simulation->delivered_count < PENDING_MOST)
			simulation->delivered[simulation->delivered_count++] = news;
		if (!is_batch)
			tell(simulation->script, &news);
	}
	if (is_batch && merging.count > 0)
		merge(simulation->script, &merging);
}

static struct slice list_people(struct simulation *simulation)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);

	for (size_t i = 0; i < simulation->script->stay_count; i++) {
		if (!simulation->are_inside[i])
			continue;
		buffer_append_text(&text, text.size > 0 ? "," : "");
		buffer_append(&text, simulation->script->stays[i].name);
		simulation->were_listed[i] = true;
	}
	return buffer_slice(&text);
}

static void simulate_join(struct simulation *simulation)
{
	struct script *script = simulation->script;
	const size_t stay = script->stay_count;

	(void)find_known(script, slice_of(arena_text(stand.arena, "s%zu", stay)));
	simulation->are_inside[stay] = true;
	send_event(simulation, NEWS_JOINED, stay);
}

static void simulate_leave(struct simulation *simulation, size_t stay)
{
	if (!simulation->are_inside[stay])
		return;
	simulation->are_inside[stay] = false;
	simulation->left[stay] = now;
	send_event(simulation, NEWS_LEFT, stay);
}

static void simulate_end(struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->script->stay_count; i++)
		simulate_leave(simulation, i);
	send_event(simulation, NEWS_ENDED, 0);
}

static size_t count_inside(const struct simulation *simulation)
{
	size_t inside = 0;

	for (size_t i = 0; i < simulation->script->stay_count; i++)
		inside += simulation->are_inside[i];
	return inside;
}

static void look_twice(struct simulation *simulation)
{
	say_look(simulation->script, list_people(simulation));
	now += 6000;
	say_look(simulation->script, list_people(simulation));
}

/* The answer to a look that was sent at this time arrives. */
static void look_late(struct simulation *simulation, struct slice list, int64_t looked)
{
	simulation->script->late = now - looked;
	say_look(simulation->script, list);
	simulation->script->late = 0;
}

/* Expects those to be inside of whom this is true, each once. */
static void expect_truth(struct simulation *simulation)
{
	const struct script *script = simulation->script;
	const size_t inside = count_inside(simulation);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	ck_assert_uint_eq(live_peers(&live), inside);
	ck_assert(inside == 0 || live.stored.value.data != NULL);
	for (size_t i = 0; i < script->stay_count; i++) {
		const struct slice name = script->stays[i].name;
		const struct peer peer = get_peer(script, &call, name, 0);
		const int64_t off = peer.left - simulation->left[i];

		ck_assert(peer.stored.value.data != NULL || !simulation->were_listed[i]);
		ck_assert_int_eq(peer.stored.value.data != NULL && peer.is_inside,
				 simulation->are_inside[i]);
		ck_assert_ptr_null(get_peer(script, &call, name, 1).stored.value.data);
		if (peer.stored.value.data == NULL)
			continue;
		/* Nobody joins a session that has closed. */
		ck_assert_int_le(peer.joined, script->stays[i].joined);
		ck_assert(peer.joined == script->stays[i].joined || peer.joined == peer.left);
		ck_assert(peer.is_inside || simulation->are_late[i] ||
			  (-35000 <= off && off <= 35000));
	}
	abandon(&call);
}

static void simulate_meeting(struct simulation *simulation)
{
	struct script *script = simulation->script;
	struct slice list = SLICE("");
	int64_t listed = 0;

	script->server_room++;
	simulation->delivered_count = 0;
	for (int step = 0; step < STEPS; step++) {
		now += 1 + (int64_t)chance_below(&simulation->seed, 4000);
		if (listed != 0)
			look_late(simulation, list, listed);
		listed = 0;
		if (happens(simulation, 60))
			simulate_join(simulation);
		if (happens(simulation, 50) && script->stay_count > 0)
			simulate_leave(simulation,
				       chance_below(&simulation->seed, script->stay_count));
		if (happens(simulation, 20)) {
			list = list_people(simulation);
			if (happens(simulation, 50))
				listed = now; /* the answer arrives after other news */
			else
				say_look(script, list);
		}
		deliver(simulation);
	}
	if (listed != 0)
		look_late(simulation, list, listed);
	if (happens(simulation, 50))
		simulate_end(simulation);
	now += 15000;
	deliver(simulation);
	look_twice(simulation);
	expect_truth(simulation);
	/* All of it arrives once more. */
	for (size_t i = simulation->delivered_count; i-- > 0;)
		tell(script, &simulation->delivered[i]);
	look_twice(simulation);
	expect_truth(simulation);
	for (size_t i = 0; i < script->stay_count; i++)
		simulate_leave(simulation, i);
	now += 5000;
	deliver(simulation);
	look_twice(simulation);
	expect_truth(simulation);
	say(script, "+60000 grace");
	ck_assert(!script->told.is_live);
}

/* Each record has had its events once, and nothing else has. */
static void expect_each_event_once(const struct script *script, uint64_t seq)
{
	const uint64_t last = last_seq();
	struct store_record records[10 * MEETINGS];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &script->room,
		.records = records,
		.most = ROWS(records),
	};
	struct fault fault = FAULT_INITIAL;
	size_t peers = 0, events[LIVE_CHANGES] = { 0 };
	struct call call;
	json_t *seen = json_object();

	begin(&call);
	ck_assert(store_page(call.transaction, &kind_session, &page, &fault));
	ck_assert(page.is_last);
	for (size_t i = 0; i < page.count; i++) {
		struct peer_page of_session = { .most = STAYS_MOST };
		struct session session;

		ck_assert(session_load(&call, &records[i].id, STORE_TO_CHANGE, &session, &fault));
		ck_assert(!session.is_active);
		check_one(script, &call, &session_kind, &session);
		ck_assert(peers_read(&call, &records[i].id, &of_session, &fault));
		peers += of_session.count;
	}
	while (++seq <= last) {
		struct audit_entry entry;
		json_t *data;
		const char *id;

		ck_assert(audit_read(call.transaction, seq, 1, &entry, &fault));
		data = json_loadb(entry.data.data, entry.data.size, 0, NULL);
		id = arena_text(stand.arena, "%.*s %s", (int)entry.type.size, entry.type.data,
				json_string_value(json_object_get(data, "id")));
		ck_assert_msg(json_object_get(seen, id) == NULL, "%s", id);
		json_object_set_new(seen, id, json_true());
		for (size_t i = 0; i < LIVE_CHANGES; i++)
			events[i] += slice_is(entry.type, live_change_types[i]);
		json_decref(data);
	}
	abandon(&call);
	json_decref(seen);
	ck_assert_uint_eq(events[LIVE_JOINED], peers);
	ck_assert_uint_eq(events[LIVE_LEFT], peers);
	ck_assert_uint_eq(events[LIVE_OPENED], page.count);
	ck_assert_uint_eq(events[LIVE_CLOSED], page.count);
}

/* Whatever is lost, doubled, late or told in another order: after two looks the records are right.
 * Meetings follow each other in one room; events of one arrive in the next, too. */
START_TEST(records_become_what_is_true)
{
	struct simulation *simulation;
	uint64_t seq;

	open_stand(_i % ROWS(drivers));
	simulation = arena_zero(stand.arena, sizeof *simulation);
	simulation->script = script_open(arena_text(stand.arena, "run %d", _i));
	simulation->seed = (uint64_t)_i + 1;
	seq = last_seq();
	for (int i = 0; i < MEETINGS; i++)
		simulate_meeting(simulation);
	now += 200000;
	deliver(simulation);
	look_twice(simulation);
	expect_truth(simulation);
	say(simulation->script, "+20000 grace");
	expect_each_event_once(simulation->script, seq);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("live");
	TCase *news = tcase_create("news");
	TCase *records = tcase_create("records");
	TCase *doors = tcase_create("doors");
	TCase *meetings = tcase_create("meetings");

	tcase_add_checked_fixture(news, set_up, tear_down);
	tcase_add_loop_test(news, news_become_records, 0, ROWS(drivers));
	tcase_add_loop_test(news, a_stay_is_in_one_room, 0, ROWS(drivers));
	suite_add_tcase(suite, news);
	tcase_add_checked_fixture(records, set_up, tear_down);
	tcase_set_timeout(records, 60);
	tcase_add_loop_test(records, roles_are_counted, 0, ROWS(drivers));
	tcase_add_loop_test(records, people_beyond_so_many_roles_have_none, 0, ROWS(drivers));
	tcase_add_loop_test(records, people_are_found_by_their_entry, 0, ROWS(drivers));
	tcase_add_loop_test(records, rooms_may_share_an_entry, 0, ROWS(drivers));
	tcase_add_loop_test(records, people_of_a_former_program_are_found, 0, ROWS(drivers));
	tcase_add_loop_test(records, no_two_people_have_one_name, 0, ROWS(drivers));
	tcase_add_loop_test(records, names_of_a_former_program_are_taken, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_crowd_may_have_one_name, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_media_server_has_answered_or_not, 0, ROWS(drivers));
	tcase_add_test(records, records_of_a_former_program_are_read);
	tcase_add_loop_test(records, events_have_their_members, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_cause_has_a_reason, 0, ROWS(drivers));
	tcase_add_loop_test(records, long_texts_are_cut, 0, ROWS(drivers));
	tcase_add_loop_test(records, anonymous_accounts_keep_no_names, 0, ROWS(drivers));
	tcase_add_loop_test(records, an_account_chooses_what_is_logged, 0, ROWS(drivers));
	tcase_add_loop_test(records, usage_is_counted_by_day, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_peak_is_of_all_rooms, 0, ROWS(drivers));
	tcase_add_loop_test(records, old_usage_is_dropped, 0, ROWS(drivers));
	tcase_add_loop_test(records, bans_are_found, 0, ROWS(drivers));
	tcase_add_loop_test(records, expired_bans_are_dropped, 0, ROWS(drivers));
	tcase_add_loop_test(records, bans_go_with_their_room, 0, ROWS(drivers));
	tcase_add_loop_test(records, an_account_has_so_many_bans, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_deleted_media_server_closes_its_sessions, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_session_of_many_closes_at_once, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_large_session_closes_in_steps, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_large_look_is_merged_in_steps, 0, ROWS(drivers));
	tcase_add_loop_test(records, so_many_stays_are_stored_in_a_minute, 0, ROWS(limited));
	tcase_add_loop_test(records, who_is_over_the_limit_is_stored_later, 0, ROWS(drivers));
	tcase_add_loop_test(records, a_media_server_is_of_one_account, 0, ROWS(drivers));
	suite_add_tcase(suite, records);
	tcase_add_checked_fixture(doors, set_up, tear_down);
	tcase_add_loop_test(doors, what_was_exchanged_is_written, 0, ROWS(drivers));
	tcase_add_loop_test(doors, a_ticket_is_exchanged_once, 0, ROWS(drivers));
	tcase_add_loop_test(doors, polls_are_stored_some_time_later, 0, ROWS(drivers));
	tcase_add_loop_test(doors, tickets_lapse, 0, ROWS(drivers));
	tcase_add_loop_test(doors, the_list_ends_after_a_hundred, 0, ROWS(drivers));
	tcase_add_loop_test(doors, doors_go_with_their_room, 0, ROWS(drivers));
	tcase_add_loop_test(doors, denials_go_with_the_last_ticket, 0, ROWS(drivers));
	tcase_add_test(doors, so_many_people_wait);
	tcase_add_loop_test(doors, decided_tickets_do_not_count, 0, ROWS(decided_tickets));
	tcase_add_test(doors, the_last_times_of_admission_are_kept);
	tcase_add_test(doors, the_newest_denials_are_kept);
	suite_add_tcase(suite, doors);
	tcase_add_checked_fixture(meetings, set_up, tear_down);
	tcase_add_loop_test(meetings, records_become_what_is_true, 0, RUNS);
	suite_add_tcase(suite, meetings);
	return suite;
}

int main(void)
{
	fast_disk();
	return suite_run(suite());
}
