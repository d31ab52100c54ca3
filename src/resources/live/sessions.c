/* Sessions, who was in them, and usage. Everything is read from the records; the peers of a session
 * are pages of children, in the order in which they joined.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/sessions.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/time_zone.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/file_name.h"
#include "resources/lists.h"
#include "resources/live/live_merge.h"
#include "rules/live_rules.h"

/* Peers of a page of sessions, divided by its limit. */
#define PEERS_OF_PAGE 20000
/* Bytes of a page of sessions; with the last peers it may be a little more. */
#define SESSIONS_PAGE_MOST ((size_t)6 << 20)
/* Characters of a date. */
#define DATE_SIZE 10

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct id id;

	call->session = arena_zero(call->arena, sizeof *call->session);
	if (id_parse(call->parameters[0], &id) &&
	    !session_load(call, &id, load_reading(call, load), call->session, fault))
		return false;
	return call->session->stored.value.data != NULL ||
	       fault_set(fault, FAULT_NOT_FOUND, "session not found");
}

static const struct read reads_of_path[] = { READ_BY_ID(kind_session), READS_END };
const struct loading load_session = { .load = load_of_path, .reads = reads_of_path };

/* ---- peers ---- */

/* Writes the members of one of the people in a session. */
static void write_peer(struct json_writer *body, const struct peer *peer)
{
	char session[ID_TEXT_SIZE + 1];

	id_print(&peer->stored.parent, session);
	writer_text(body, "id", peer->uuid);
	writer_plain(body, "session_id", slice_of(session));
	writer_text(body, "name", peer->name);
	writer_text(body, "role", peer->role);
	writer_text(body, "user_id", peer->is_anonymous ? SLICE("") : peer->user_id);
	writer_time_milliseconds(body, "joined_at", peer->joined);
	if (!peer->is_inside)
		writer_time_milliseconds(body, "left_at", peer->left);
	peer_write_consent(body, peer);
}

/* ---- sessions ---- */

/* The most of a session that is shown: peers, and bytes. */
struct session_limits {
	size_t peers, bytes;
};

/* Writes a session, but for its last bracket. *is_cut: it has more peers than are shown. */
static bool write_session(struct call *call, const struct session *session,
			  const struct session_limits *most, struct json_writer *body, bool *is_cut,
			  struct fault *fault)
{
	struct store_walk walk = peers_walk(call, &session->stored.id, STORE_BOTH_SIDES, false,
					    fault);
	struct peer peer;
	size_t count = 0;

	*is_cut = false;
	writer_plain(body, "id", id_as_text(call->arena, &session->stored.id));
	writer_plain(body, "room_id", id_as_text(call->arena, &session->stored.parent));
	if (session->title.size > 0)
		writer_text(body, "title", session->title);
	writer_plain(body, "customer_id", slice_of(call->account_text));
	writer_flag(body, "active", session->is_active);
	writer_open(body, "peers", '{');
	while (peers_next(&walk, &peer)) {
		*is_cut = count == most->peers || body->text.size > most->bytes;
		if (*is_cut)
			break;
		count++;
		writer_name(body, peer.uuid);
		writer_open(body, NULL, '{');
		write_peer(body, &peer);
		writer_close(body, '}');
	}
	writer_close(body, '}');
	writer_integer(body, "peer_count", (int64_t)session->peer_count);
	writer_time_milliseconds(body, "created_at", session->created);
	writer_time_milliseconds(body, "updated_at", session->updated);
	return fault->kind == FAULT_NONE;
}

struct session_filter {
	bool has_after, has_before;
	struct id room, above;
	int64_t after, before;
	size_t peers_most;
	size_t size; /* of the sessions so far */
};

static void prepare_sessions(struct call *call)
{
	const struct slice room = call_query_text(call, "room_id");
	const struct slice after = call_query_text(call, "after");
	const struct slice before = call_query_text(call, "before");
	const json_t *active = json_object_get(call->query, "active");
	struct session_filter *filter = arena_zero(call->arena, sizeof *filter);
	struct list *list = list_prepare(call, filter);

	filter->peers_most = PEERS_OF_PAGE / list->limit;
	/* The table of the query has checked the times. */
	filter->has_after = after.data != NULL && text_time_parse_up(after, &filter->after);
	filter->has_before = before.data != NULL && text_time_parse(before, &filter->before);
	if (room.data != NULL) {
		list->has_page = id_parse(room, &filter->room);
		list->page.parent = &filter->room;
	}
	if (active != NULL)
		list->page.side = json_is_true(active) ? STORE_ON : STORE_OFF;
	/* A session is stored after its first peer has joined, so no older id can match. */
	if (filter->has_after && filter->after >= 1000 && filter->after / 1000 <= UINT32_MAX) {
		filter->above = id_lowest((uint32_t)(filter->after / 1000), 0);
		list->page.above = &filter->above;
	}
}

static const struct read reads_of_list[] = { READ_LIST(kind_session, list_first_page), READS_END };
const struct loading load_sessions = { .prepare = prepare_sessions, .reads = reads_of_list };

/* The text is not in the arena of the call while peers are read. */
static bool add_session(struct list *list, const struct session *session, struct fault *fault)
{
	struct session_filter *filter = list->filter;
	struct arena *apart = arena_open();
	struct json_writer body = writer_begin(apart, false);
	const struct session_limits most = {
		.peers = filter->peers_most,
		.bytes = filter->size < SESSIONS_PAGE_MOST ? SESSIONS_PAGE_MOST - filter->size : 0,
	};
	bool is_cut;
	const bool is_shown = write_session(list->call, session, &most, &body, &is_cut, fault);

	if (is_shown) {
		if (is_cut)
			writer_flag(&body, "peers_truncated", true);
		list_add_item(list, &session->stored.id);
		call_part(list->call, arena_copy(list->call->arena, writer_end(&body)));
		filter->size += body.text.size;
	}
	arena_close(apart);
	return is_shown;
}

static bool add_sessions(struct list *list, const struct store_record *records, size_t n,
			 struct fault *fault)
{
	const struct session_filter *filter = list->filter;

	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		struct session session;

		if (!record_read(&session_table, NULL, &records[i], &session, fault))
			return false;
		if ((filter->has_after && session.created < filter->after) ||
		    (filter->has_before && session.created > filter->before))
			continue;
		if (!add_session(list, &session, fault))
			return false;
	}
	return true;
}

bool sessions_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;

	list_open(list);
	return (!list->has_page || list_add_pages(list, &kind_session, add_sessions, fault)) &&
	       list_close(list, fault);
}

bool sessions_get(struct call *call, struct fault *fault)
{
	const struct session_limits most = { .peers = SIZE_MAX, .bytes = CALL_ANSWER_MOST };
	struct arena *apart = arena_open();
	struct json_writer body = writer_begin(apart, false);
	bool is_cut, is_shown = write_session(call, call->session, &most, &body, &is_cut, fault);

	if (is_shown && is_cut)
		is_shown =
			fault_detail(fault, FAULT_TOO_LARGE,
				     "the response would be larger than %zu MB; ask for its peers",
				     CALL_ANSWER_MOST >> 20);
	if (is_shown)
		is_shown = call_answer(call, arena_copy(call->arena, writer_end(&body)));
	arena_close(apart);
	return is_shown;
}

static void prepare_peers(struct call *call)
{
	struct list *list = list_prepare(call, NULL);

	list->page = (struct store_page){
		.order = STORE_OLDEST_FIRST,
		.most = list->limit,
		.bytes_most = CALL_ANSWER_MOST / 2,
	};
	list->has_page = call_query_text(call, "start").data == NULL;
}

static const struct read reads_of_peers[] = {
	{ .kind = &kind_peer,
	  .finding = STORE_FIND_PAGE,
	  .from = READ_PATH,
	  .page = list_first_page },
	READS_END,
};
const struct loading load_session_peers = { .prepare = prepare_peers, .reads = reads_of_peers };

bool session_peers_list(struct call *call, struct fault *fault)
{
	const struct slice start = call_query_text(call, "start");
	const struct session *session = call->session;
	struct list *list = call->list;
	struct peer_page page = {
		.side = STORE_BOTH_SIDES,
		.most = list->page.most,
		.bytes_most = list->page.bytes_most,
	};
	struct peer before;

	list_open(list);
	if (start.data != NULL) {
		if (!record_get_named(&peer_table, call->transaction, start, STORE_TO_SHOW, &before,
				      fault))
			return false;
		if (before.stored.value.data == NULL ||
		    id_compare(&before.stored.parent, &session->stored.id) != 0)
			return fault_member(fault, FAULT_INVALID_QUERY, NULL, "start",
					    "must be a peer of this session");
		page.after = &before.stored.id;
	}
	if (!peers_read(call, &session->stored.id, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		struct json_writer item = writer_begin(call->arena, false);

		list_add(list, page.peers[i].uuid);
		write_peer(&item, &page.peers[i]);
		call_part(call, writer_end(&item));
	}
	return list_close(list, fault);
}

bool sessions_delete(struct call *call, struct fault *fault)
{
	const struct session *session = call->session;
	struct audit_data data = { .kind = "session" };

	if (session->is_active)
		return fault_set(fault, FAULT_CONFLICT, "Session is active");
	if (session->asset_count > 0)
		return fault_explain(fault, FAULT_CONFLICT, "Session has recordings",
				     "delete their files first: there are %llu",
				     (unsigned long long)session->asset_count);
	data.id = id_as_text(call->arena, &session->stored.id);
	data.name = session->room_name;
	data.more[0] = (struct audit_member){ "room_id",
					      id_as_text(call->arena, &session->stored.parent),
					      false };
	data.more[1] = (struct audit_member){ "session_id", data.id, false };
	audit_note(call, "session.deleted", &data);
	return session_remove(call, session, fault) && call_answer_nothing(call);
}

/* ---- attendance ---- */

/* One person of a session. */
struct attendant {
	struct slice user_id; /* the key */
	struct slice name, role; /* of the last stay */
	int64_t first, last; /* joined, left; last: 0 if inside */
	int64_t consented; /* when the person last agreed to be recorded; 0 if never */
	int64_t milliseconds;
	size_t stays;
	struct attendant *next; /* in the order in which they came */
};

struct attendance {
	struct arena *arena; /* not the arena of the call */
	void *tree; /* by user_id (tsearch) */
	struct attendant *attendants, **end;
	int64_t now;
};

/* How the table is written. */
struct table_form {
	char separator;
	struct slice zone_name;
	const struct time_zone *zone;
};

static bool read_form(struct call *call, struct table_form *form, struct fault *fault)
{
	const struct slice separator = call_query_text(call, "separator");
	struct slice shown;

	form->separator = separator.data == NULL ? ',' : *separator.data;
	form->zone_name = call_query_text(call, "timezone");
	if (form->zone_name.data == NULL)
		form->zone_name = SLICE("UTC");
	form->zone = time_zone_read(call->arena, TIME_ZONE_DIRECTORY, form->zone_name);
	if (form->zone != NULL)
		return true;
	shown = text_shown(call->arena, json_object_get(call->query, "timezone"));
	return fault_member(
		fault, FAULT_INVALID_QUERY, NULL, "timezone",
		"must be a time zone that the server knows, such as Europe/Berlin, got %.*s",
		(int)shown.size, shown.data);
}

static int compare_attendants(const void *first, const void *second)
{
	const struct attendant *a = first, *b = second;

	return slice_compare(a->user_id, b->user_id);
}

/* Returns false if it does not fit. */
static bool attend(struct attendance *attendance, const struct peer *peer)
{
	const struct attendant key = {
		.user_id = peer->is_anonymous ? SLICE("") : peer->user_id,
	};
	void *found = tfind(&key, &attendance->tree, compare_attendants);
	struct attendant *attendant;

	if (!arena_fits(attendance->arena, sizeof *attendant + peer->name.size + peer->role.size))
		return false;
	if (found != NULL) {
		attendant = *(struct attendant **)found;
	} else {
		attendant = arena_zero(attendance->arena, sizeof *attendant);
		attendant->user_id = arena_copy(attendance->arena, key.user_id);
		attendant->name = attendant->role = SLICE("");
		attendant->first = peer->joined;
		*attendance->end = attendant;
		attendance->end = &attendant->next;
		(void)tsearch(attendant, &attendance->tree, compare_attendants);
	}
	if (!slice_equal(attendant->name, peer->name))
		attendant->name = arena_copy(attendance->arena, peer->name);
	if (!slice_equal(attendant->role, peer->role))
		attendant->role = arena_copy(attendance->arena, peer->role);
	if (peer->consented > attendant->consented)
		attendant->consented = peer->consented;
	attendant->stays++;
	attendant->milliseconds += (peer->is_inside ? attendance->now : peer->left) - peer->joined;
	if (peer->is_inside || (found != NULL && attendant->last == 0))
		attendant->last = 0;
	else if (peer->left > attendant->last)
		attendant->last = peer->left;
	return true;
}

static void append_time(struct buffer *text, const struct table_form *form, int64_t time)
{
	char shown[TIME_ZONE_TEXT_SIZE];

	if (time == 0)
		return;
	time_zone_print(form->zone, time, shown);
	buffer_append_text(text, shown);
}

/* Appends minutes with one decimal, rounded. */
/* Returns minutes with one decimal. */
static struct slice minutes_of(struct arena *arena, uint64_t milliseconds)
{
	const uint64_t tenths = (milliseconds + 3000) / 6000;

	return slice_of(arena_text(arena, "%llu.%llu", (unsigned long long)(tenths / 10),
				   (unsigned long long)(tenths % 10)));
}

static void free_nothing(void *attendant)
{
	(void)attendant;
}

static struct slice attendance_text(struct call *call, const struct attendance *attendance,
				    const struct table_form *form)
{
	const char *const columns[] = { "user_id",	"name",	   "role",  "first_joined_at",
					"last_left_at", "minutes", "stays", "consented_at" };
	struct buffer text = BUFFER_INITIAL(call->arena);

	buffer_append_text(&text, CSV_MARK);
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		if (i > 0)
			buffer_append_byte(&text, form->separator);
		buffer_append_text(&text, columns[i]);
		if (slice_ends(slice_of(columns[i]), SLICE("_at"))) {
			buffer_append_text(&text, " (");
			buffer_append(&text, form->zone_name);
			buffer_append_byte(&text, ')');
		}
	}
	buffer_append_text(&text, "\r\n");
	for (const struct attendant *one = attendance->attendants; one != NULL; one = one->next) {
		csv_append_cell(&text, one->user_id);
		buffer_append_byte(&text, form->separator);
		csv_append_cell(&text, one->name);
		buffer_append_byte(&text, form->separator);
		csv_append_cell(&text, one->role);
		buffer_append_byte(&text, form->separator);
		append_time(&text, form, one->first);
		buffer_append_byte(&text, form->separator);
		append_time(&text, form, one->last);
		buffer_append_byte(&text, form->separator);
		buffer_append(&text, minutes_of(attendance->arena, (uint64_t)one->milliseconds));
		buffer_append_byte(&text, form->separator);
		buffer_append_integer(&text, (json_int_t)one->stays);
		buffer_append_byte(&text, form->separator);
		append_time(&text, form, one->consented);
		buffer_append_text(&text, "\r\n");
	}
	return buffer_slice(&text);
}

/* Returns the value of Content-Disposition: the file is named by the title or the name of the room,
 * and the date. */
static struct slice attendance_file(struct call *call, const struct session *session,
				    const struct table_form *form)
{
	char day[TIME_ZONE_TEXT_SIZE];
	const struct file_name file = {
		.before = "attendance ",
		.name = session->title.size > 0 ? text_without_bidi(call->arena, session->title)
						: session->room_name,
		.day = { day, DATE_SIZE },
		.suffix = ".csv",
	};

	time_zone_print(form->zone, session->created, day);
	return file_name_header(call->arena, &file);
}

bool sessions_attendance(struct call *call, struct fault *fault)
{
	struct attendance attendance = { .end = &attendance.attendants, .now = call->now };
	struct table_form form;
	const struct session *session = call->session;
	struct store_walk walk;
	struct peer peer;
	bool is_read;

	if (!read_form(call, &form, fault))
		return false;
	if (call_is_anonymous(call))
		return fault_set(fault, FAULT_CONFLICT, "Sessions are anonymous");
	attendance.arena = arena_open();
	walk = peers_walk(call, &session->stored.id, STORE_BOTH_SIDES, false, fault);
	while (peers_next(&walk, &peer))
		if (!attend(&attendance, &peer))
			(void)fault_set(fault, FAULT_TOO_LARGE, NULL);
	is_read = fault->kind == FAULT_NONE;
	tdestroy(attendance.tree, free_nothing);
	if (is_read) {
		call_header(call, "Content-Type", SLICE(ATTENDANCE_TYPE "; charset=utf-8"));
		call_header(call, "Content-Disposition", attendance_file(call, session, &form));
		is_read = call_answer(call, attendance_text(call, &attendance, &form));
	}
	arena_close(attendance.arena);
	return is_read;
}

/* ---- usage ---- */

/* The days that the query asks for. */
struct usage_range {
	int64_t count;
	struct id above, below; /* exclusive bounds of the page */
};

static void prepare_usage(struct call *call)
{
	struct usage_range *range = arena_alloc(call->arena, sizeof *range);
	struct list *list = list_prepare(call, range);
	int64_t first, last;

	/* The table of the query has checked the dates. */
	(void)usage_days(call->query, clock_now(call->environment->clock), &first, &last);
	range->count = last - first + 1;
	range->above = usage_id(first > 0 ? first - 1 : 0);
	range->below = usage_id(last + 1);
	list->page = (struct store_page){
		.order = STORE_OLDEST_FIRST,
		.above = &range->above,
		.below = &range->below,
		.most = USAGE_DAYS_MOST,
	};
}

static const struct read reads_of_usage[] = { READ_LIST(kind_usage, list_first_page), READS_END };
const struct loading load_usage = { .prepare = prepare_usage, .reads = reads_of_usage };

bool usage_get(struct call *call, struct fault *fault)
{
	struct json_writer body = writer_begin(call->arena, false);
	struct store_page *page = &call->list->page;
	const struct usage_range *range = call->list->filter;
	struct usage_now now;

	if (range->count < 1)
		return fault_member(fault, FAULT_INVALID_QUERY, NULL, "after",
				    "must not be later than the last day");
	if (range->count > USAGE_DAYS_MOST)
		return fault_member(fault, FAULT_INVALID_QUERY, NULL, "after",
				    "must be at most %d days before the last day",
				    USAGE_DAYS_MOST - 1);
	page->records = arena_alloc(call->arena, page->most * sizeof *page->records);
	if (!record_get(&usage_now_table, call->transaction, &kind_only_id, STORE_TO_SHOW, &now,
			fault) ||
	    !store_page(call->transaction, &kind_usage, page, fault))
		return false;
	writer_open(&body, "now", '{');
	writer_integer(&body, "sessions", (int64_t)now.sessions);
	writer_integer(&body, "peers", (int64_t)now.peers);
	writer_close(&body, '}');
	writer_open(&body, "data", '[');
	for (size_t i = 0; i < page->count; i++) {
		struct usage usage;
		char day[TEXT_TIME_SIZE];

		if (!record_read(&usage_table, NULL, &page->records[i], &usage, fault))
			return false;
		text_time_seconds(usage_day(&page->records[i].id) * USAGE_DAY, day);
		writer_open(&body, NULL, '{');
		writer_plain(&body, "day", (struct slice){ day, DATE_SIZE });
		writer_integer(&body, "sessions", (int64_t)usage.sessions);
		writer_integer(&body, "peers", (int64_t)usage.peers);
		writer_json(&body, "minutes", minutes_of(call->arena, usage.milliseconds));
		writer_integer(&body, "peak", (int64_t)usage.peak);
		writer_close(&body, '}');
	}
	writer_close(&body, ']');
	return call_answer(call, writer_end(&body));
}
