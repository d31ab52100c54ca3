/* See script.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/kinds.h"
#include "resources/door/door_polls.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/garbage.h"
#include "resources/live/live_events.h"
#include "resources/media/placing.h"
#include "resources/record_check.h"
#include "script.h"
#include "suite.h"

/* ---- the world ---- */

#define GRACE 20000

struct world stand;
struct id servers[SERVERS];

const enum world_store drivers[] = { WORLD_MEMORY, WORLD_GDBM };

int64_t now(void)
{
	return world_now(&stand);
}

void set_now(int64_t time)
{
	world_move(&stand, time - now());
}

const char *ask(enum method method, const char *path, const char *body)
{
	const struct reply reply = world_ask(&stand, stand.arena, &stand.account, method, path,
					     body);

	ck_assert_msg(reply.status / 100 == 2, "%s: %d %s", path, reply.status, reply.text);
	return reply.text;
}

struct id create(const char *path, const char *body)
{
	const char *text = world_member(&stand, ask(METHOD_POST, path, body), "id");
	struct id id;

	ck_assert(id_parse(slice_of(text), &id));
	return id;
}

void set_setting(const char *name, const char *value)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert_msg(
		accounts_set(stand.directory, "a", slice_of(name), slice_of(value), NULL, &fault),
		"%s", fault.cause);
}

void set_up(void)
{
	world_open(&stand, &(const struct world_options){
				   .begins = MIDDAY,
				   .stands = true,
				   .environment.session_keep = INT64_MAX / 2,
				   .door_most = DOOR_MOST,
			   });
}

void open_stand(int driver)
{
	if (drivers[driver] != stand.options.store) {
		world_stop(&stand);
		stand.options.store = drivers[driver];
		world_start(&stand);
	}
	(void)create("/v2/templates", "{\"default\":true,\"roles\":{\"host\":{}}}");
	for (int i = 0; i < SERVERS; i++)
		servers[i] =
			create("/v2/backends",
			       arena_text(stand.arena,
					  "{\"name\":\"s%d\",\"type\":\"livekit\",\"url\":"
					  "\"wss://lk.example.org\",\"config\":{\"api_key\":\"k\","
					  "\"api_secret\":\"0123456789abcdef0123456789abcdef\"}}",
					  i));
}

void tear_down(void)
{
	world_close(&stand);
}

/* ---- calls without a request ---- */

void begin(struct call *call)
{
	world_begin(&stand, &stand.account.id, call);
}

void commit(struct call *call)
{
	(void)world_commit(call);
}

/* ---- scripts ---- */

struct script *script_open(const char *at)
{
	struct script *script = arena_zero(stand.arena, sizeof *script);

	script->at = at;
	script->room = script->first_room = create("/v2/rooms", "{}");
	world_move(&stand, HOUR);
	script->begun = now();
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

struct known *find_known(struct script *script, struct slice word)
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
			.joined = now() - script->late,
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

struct report report_of(struct script *script, enum report_type type, struct slice word)
{
	struct report report = { .type = type, .time = now() - script->late };
	const struct known *known;

	report.room = server_room_of(script);
	if (type == REPORT_ENDED)
		return report;
	known = find_known(script, word);
	report.person = (struct server_person){
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
	if (report.person.metadata.data == NULL)
		report.person.metadata = SLICE("");
	return report;
}

void merge(struct script *script, struct merging *merging)
{
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	merging->room = script->room;
	merging->backend = servers[script->server];
	merging->is_in_pool = script->is_in_pool;
	ck_assert_msg(live_merge(&call, merging, &fault), "%s: %s", script->at,
		      fault_reason(&fault));
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	ck_assert_int_eq(merging->is_live, live.stored.value.data != NULL);
	ck_assert_uint_eq(merging->inside, live_peers(&live));
	if (live.moved == 0)
		ck_assert_int_eq(merging->empty_since, merging->inside == 0 ? live.left : 0);
	script->told = *merging;
	script->told.failed = NULL;
	for (const struct unlogged_event *event = merging->failed; event != NULL;
	     event = event->next) {
		struct unlogged_event *kept = arena_alloc(stand.arena, sizeof *kept);

		*kept = (struct unlogged_event){ script->told.failed,
						 arena_copy(stand.arena, event->data) };
		script->told.failed = kept;
	}
	commit(&call);
}

void merge_report(struct script *script, const struct report *report)
{
	struct merging merging = { .reports = report, .count = 1 };

	ck_assert_uint_lt(script->batch_count, STAYS_MOST);
	if (script->is_batch)
		script->batch[script->batch_count++] = *report;
	else
		merge(script, &merging);
}

/* names_room: whether the list of rooms is known, too. */
static bool survey_once(struct script *script, struct slice people, bool names_room)
{
	struct report reports[STAYS_MOST];
	struct merging merging = { .reports = reports,
				   .is_survey = true,
				   .surveyed = now() - script->late };

	for (struct slice rest = people, word; rest.data != NULL && people.size > 0;) {
		word = text_split(rest, ',', &rest);
		reports[merging.count] = report_of(script, REPORT_LISTED, word);
		if (!names_room)
			reports[merging.count].room = (struct server_room){ .name = SLICE("") };
		merging.count++;
	}
	merge(script, &merging);
	return merging.needs_room;
}

static void say_listed(struct script *script, struct slice people)
{
	ck_assert(!survey_once(script, people, true));
}

void say_survey(struct script *script, struct slice people)
{
	bool needs_second_survey;

	if (!survey_once(script, people, false))
		return;
	needs_second_survey = script->told.needs_second_survey;
	say_listed(script, people);
	script->told.needs_second_survey = script->told.needs_second_survey || needs_second_survey;
}

/* ---- words ---- */

static void say_join(struct script *script, struct slice word)
{
	const struct report report = report_of(script, REPORT_JOINED, word);

	merge_report(script, &report);
}

static void say_leave(struct script *script, struct slice word)
{
	struct slice cause;
	struct report report = report_of(script, REPORT_LEFT, text_split(word, '=', &cause));

	while (cause.data != NULL && !slice_is(cause, leave_cause_names[report.cause]))
		ck_assert_int_lt(++report.cause, LEAVE_CAUSES);
	merge_report(script, &report);
}

static void say_ended(struct script *script, struct slice word)
{
	const struct report report = report_of(script, REPORT_ENDED, word);

	merge_report(script, &report);
}

static void say_failed(struct script *script, struct slice word)
{
	const struct report report = report_of(script, REPORT_NOT_CONNECTED, word);

	merge_report(script, &report);
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
	struct merging merging = { .reports = script->batch, .count = script->batch_count };

	(void)word;
	script->is_batch = false;
	merge(script, &merging);
}

void begin_with_peer(const struct script *script, struct slice word, struct call *call,
		     struct peer *peer)
{
	struct fault fault = FAULT_INITIAL;
	char uuid[UUID_TEXT_SIZE];

	begin(call);
	uuid_of(&servers[script->server], stay_id(script, word), 0, uuid);
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
	world_move(&stand, number_of(word));
}

static void say_pool(struct script *script, struct slice word)
{
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	(void)word;
	begin(&call);
	ck_assert(media_load(&call, STORE_TO_CHANGE, &media, &fault));
	for (size_t i = 0; i < media.backend_count; i++) {
		media.backends[i].pool = SLICE("p");
		media.backends[i].is_default = i == 0;
	}
	ck_assert(media_put(&call, &media, &fault));
	commit(&call);
	script->is_in_pool = true;
}

static void say_place(struct script *script, struct slice word)
{
	struct fault fault = FAULT_INITIAL;
	struct place place;
	struct call call;

	begin(&call);
	ck_assert(place_load(&call, &script->room, STORE_TO_CHANGE, &place, &fault));
	place.backend = servers[word.data[0] - '1'];
	place.since = now();
	place.until = (now() + HOUR) / 1000;
	ck_assert(record_put(&place_table, call.transaction, &place, &fault));
	commit(&call);
}

static void say_move(struct script *script, struct slice word)
{
	struct fault fault = FAULT_INITIAL;
	struct room_record room;
	struct media media;
	struct place place;
	struct call call;
	bool is_there;

	begin(&call);
	ck_assert(media_load(&call, STORE_TO_SHOW, &media, &fault));
	ck_assert(room_find(&call, &script->room, STORE_TO_SHOW, &room, &is_there, &fault));
	ck_assert(place_load(&call, &script->room, STORE_TO_CHANGE, &place, &fault));
	ck_assert(placing_move(&call, &room, &place, media_backend(&media, &place.backend),
			       media_backend(&media, &servers[word.data[0] - '1']), MOVE_DRAINED,
			       &fault));
	commit(&call);
}

static void say_other(struct script *script, struct slice word)
{
	struct fault fault = FAULT_INITIAL;
	struct media media;
	struct call call;

	(void)script;
	begin(&call);
	ck_assert(media_load(&call, STORE_TO_CHANGE, &media, &fault));
	media_backend(&media, &servers[word.data[0] - '1'])->pool = SLICE("q");
	ck_assert(media_put(&call, &media, &fault));
	commit(&call);
}

static void say_drop(struct script *script, struct slice word)
{
	(void)script;
	(void)ask(METHOD_DELETE,
		  arena_text(stand.arena, "/v2/backends/%s",
			     id_as_text(stand.arena, &servers[word.data[0] - '1']).data),
		  "");
}

static const struct {
	const char *begins;
	void (*say)(struct script *script, struct slice word);
} words[] = {
	/* clang-format off */
	{ "join:", say_join }, { "leave:", say_leave }, { "look:", say_survey },
	{ "listed:", say_listed }, { "ended", say_ended }, { "ending", say_ending }, { "failed:", say_failed },
	{ "known:", say_known }, { "timeless:", say_timeless }, { "grace", say_grace },
	{ "room:", say_room }, { "server:", say_server }, { "late:", say_late },
	{ "name:", say_name }, { "delete", say_delete }, { "+", say_pause },
	{ "(", say_together }, { ")", say_all }, { "order:", say_order }, { "out:", say_out },
	{ "pool", say_pool }, { "place:", say_place }, { "move:", say_move }, { "drop:", say_drop }, { "other:", say_other },
	/* clang-format on */
};

void say(struct script *script, const char *text)
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

void check_one(const struct script *script, struct call *call, const struct record_kind *kind,
	       const void *record)
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

void append_stay(const struct script *script, const struct peer *peer, struct buffer *text)
{
	for (size_t i = 0; i < script->stay_count; i++) {
		const struct slice stay = stay_id(script, script->stays[i].name);
		char uuid[UUID_TEXT_SIZE];

		if (!slice_equal(stay, peer->stay))
			continue;
		buffer_append(text, script->stays[i].name);
		for (unsigned again = 0; again < 9; again++) {
			for (int server = 0; server < SERVERS; server++) {
				uuid_of(&servers[server], stay, again, uuid);
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

const char *stored(const struct script *script)
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
		if (session.server_room.size > 3)
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
	world_abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

uint64_t last_seq(void)
{
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;
	struct call call;

	begin(&call);
	ck_assert(audit_state_load(call.transaction, STORE_TO_CHANGE, &state, &fault));
	world_abandon(&call);
	return state.last;
}

const char *events_since(uint64_t seq, const char **data)
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
	world_abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

void expect(const struct script *script, const char *expected)
{
	const char *is = stored(script);

	ck_assert_msg(strcmp(is, expected) == 0, "%s:\n%s, not\n%s", script->at, is, expected);
}

void run_reports(const struct report_row *rows, int count)
{
	for (int i = 0; i < count; i++) {
		struct script *script = script_open(arena_text(stand.arena, "row %d: %s, %s", i,
							       rows[i].before, rows[i].report));
		const struct merging *told = &script->told;
		const char *is, *events;

		say(script, rows[i].before);
		script->seq = last_seq();
		script->told = (struct merging){ .failed = NULL };
		say(script, rows[i].report);
		is = stored(script);
		ck_assert_msg(strcmp(is, rows[i].stored) == 0, "%s:\n%s, not\n%s", script->at, is,
			      rows[i].stored);
		events = events_since(script->seq, NULL);
		events = arena_text(
			stand.arena, "%s%s%s%s%s", events, told->failed != NULL ? " told" : "",
			told->needs_survey ? " soon" : "",
			told->needs_second_survey ? " again" : "", told->is_stray ? " stray" : "");
		events += events[0] == ' ';
		ck_assert_msg(strcmp(events, rows[i].events) == 0, "%s: %s, not %s", script->at,
			      events, rows[i].events);
	}
}

size_t count_of_room(const struct id *room, const struct store_kind *kind)
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
	world_abandon(&call);
	return page.count;
}

const char *inside_of(const struct script *script, const char *entry)
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
	world_abandon(&call);
	buffer_append_byte(&text, '\0');
	return text.data;
}

struct peer get_peer(const struct script *script, struct call *call, struct slice name,
		     unsigned again)
{
	struct fault fault = FAULT_INITIAL;
	char uuid[UUID_TEXT_SIZE];
	struct peer peer;

	uuid_of(&servers[0], stay_id(script, name), again, uuid);
	ck_assert(record_get_named(&peer_table, call->transaction, slice_of(uuid), STORE_TO_SHOW,
				   &peer, &fault));
	peer.uuid = arena_copy(call->arena, slice_of(uuid));
	return peer;
}

struct peer find_peer(const struct script *script, const char *name)
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
	world_abandon(&call);
	return copy;
}

struct peer peer_of(const struct script *script, const char *name)
{
	const struct peer peer = find_peer(script, name);

	ck_assert_ptr_nonnull(peer.stored.value.data);
	return peer;
}

void ban(const char *user_id, const struct id *room, int64_t seconds)
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
