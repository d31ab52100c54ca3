/* What a new kind of records, a new route and a new event need beyond their code: a place in the
 * manual, words in the console, and a test. Each table here has either the place or the reason why
 * there is none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <ftw.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "resources/record_kind.h"
#include "service/routes.h"
#include "suite.h"

static struct arena *arena;

static void set_up(void)
{
	arena = arena_open();
}

static void tear_down(void)
{
	arena_close(arena);
}

/* ---- files of the tree ---- */

static const char *path_of(const char *name)
{
	const char *source = getenv("SOURCE_DIR");

	return arena_text(arena, "%s/%s", source != NULL ? source : "..", name);
}

/* nftw has no context. */
static struct buffer gathered;
static const char *gathered_suffix;

static void append_file(struct buffer *text, const char *path)
{
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t n;

	ck_assert_msg(file != NULL, "%s", path);
	while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
		buffer_append(text, (struct slice){ bytes, n });
	fclose(file);
}

static int gather(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)place;
	if (type == FTW_F && slice_ends(slice_of(path), slice_of(gathered_suffix)))
		append_file(&gathered, path);
	return 0;
}

/* Returns all files below a folder whose names end in the suffix, one after the other. Functions of
 * strings are not for this: AddressSanitizer then reads it to its end each time. */
static struct slice text_below(const char *folder, const char *suffix)
{
	const struct buffer empty = BUFFER_INITIAL(arena);

	gathered = empty;
	gathered_suffix = suffix;
	ck_assert_int_eq(nftw(path_of(folder), gather, 16, FTW_PHYS), 0);
	ck_assert_msg(gathered.size > 0, "%s/*%s", folder, suffix);
	return buffer_slice(&gathered);
}

static const char *text_of(const char *name)
{
	struct buffer text = BUFFER_INITIAL(arena);

	append_file(&text, path_of(name));
	buffer_append_byte(&text, '\0');
	return text.data;
}

/* Returns the part of a text from `begin` to `end`, or to its own end. */
static const char *part_of(const char *text, const char *begin, const char *end)
{
	const char *from = strstr(text, begin), *to;

	ck_assert_msg(from != NULL, "%s", begin);
	from += strlen(begin);
	to = strstr(from, end);
	return arena_copy(arena,
			  (struct slice){ from, to == NULL ? strlen(from) : (size_t)(to - from) })
		.data;
}

static const char *section_of(const char *page, const char *name)
{
	return part_of(text_of(arena_text(arena, "packaging/man/%s", page)),
		       arena_text(arena, "\n.Sh %s\n", name), "\n.Sh ");
}

/* ---- routes ---- */

/* Returns true if a path is one of the route. A parameter of the route is any text without a slash;
 * a part of the path that begins with $, as in a case, stands for one. */
static bool is_of_route(const struct route *route, struct slice method, struct slice path)
{
	struct slice rest = slice_of(route->path), own, other;

	if (!slice_is(method, method_name(route->method)))
		return false;
	while (rest.data != NULL && path.data != NULL) {
		own = text_split(rest, '/', &rest);
		other = text_split(path, '/', &path);
		if (memchr(own.data, '{', own.size) != NULL) {
			const char *after = strrchr(arena_copy(arena, own).data, '}') + 1;

			if (other.size == 0 || !slice_ends(other, slice_of(after)))
				return false;
		} else if (!slice_equal(own, other)) {
			return false;
		}
	}
	return rest.data == NULL && path.data == NULL;
}

/* The endpoints of anteroom-api(7), as words: GET /v2/rooms/{} */
static size_t endpoints_of(const char *section, const char *endpoints[], size_t most)
{
	size_t count = 0;

	for (const char *at = section; (at = strstr(at, "\n.It Li ")) != NULL; at++) {
		struct slice line = { at + 8, strcspn(at + 8, "\n") }, word;
		struct slice methods[8];
		struct buffer path = BUFFER_INITIAL(arena);
		bool is_argument = false;
		size_t n = 0;

		while (line.data != NULL) {
			word = text_split(line, ' ', &line);
			/* The next column of a table. */
			if (slice_is(word, "Ta"))
				break;
			if (slice_is(word, ",") || slice_is(word, "Ns") || slice_is(word, "Li"))
				continue;
			if (path.size == 0 && word.data[0] != '/') {
				ck_assert_uint_lt(n, ROWS(methods));
				methods[n++] = word;
			} else if (slice_is(word, "Ar")) {
				is_argument = true;
			} else if (is_argument) {
				buffer_append_text(&path, "{}");
				is_argument = false;
			} else {
				for (size_t i = 0; i < word.size; i++) {
					if (word.data[i] != '\\')
						buffer_append_byte(&path, word.data[i]);
				}
			}
		}
		for (size_t i = 0; i < n; i++) {
			ck_assert_uint_lt(count, most);
			endpoints[count++] = arena_text(arena, "%.*s %.*s", (int)methods[i].size,
							methods[i].data, (int)path.size, path.data);
		}
	}
	return count;
}

static bool is_endpoint_of(const struct route *route, const char *endpoint)
{
	struct slice path, method = text_split(slice_of(endpoint), ' ', &path);

	return is_of_route(route, method, path);
}

/* Each route that is part of the interface is in the list of endpoints, and nothing else is. */
START_TEST(each_route_is_in_the_manual)
{
	const char *endpoints[200];
	const size_t count = endpoints_of(section_of("anteroom-api.7", "ENDPOINTS"), endpoints,
					  ROWS(endpoints));

	for (const struct route *route = routes; route->path != NULL; route++) {
		bool is_there = route->is_internal;

		for (size_t i = 0; i < count; i++)
			is_there = is_there || is_endpoint_of(route, endpoints[i]);
		ck_assert_msg(is_there, "anteroom-api(7), ENDPOINTS, lacks %s %s",
			      method_name(route->method), route->path);
	}
	for (size_t i = 0; i < count; i++) {
		const struct route *route = routes;

		while (route->path != NULL && !is_endpoint_of(route, endpoints[i]))
			route++;
		ck_assert_msg(route->path != NULL, "anteroom-api(7), ENDPOINTS: %s is no route",
			      endpoints[i]);
	}
}
END_TEST

#define CALLS_OF_100MS 77

/* The manual says of each call of 100ms whether it is here, and that is so. */
START_TEST(each_call_of_100ms_is_here_or_not_as_the_manual_says)
{
	const char *table = part_of(section_of("anteroom-api.7", "USING 100MS CLIENTS"),
				    ".It Sy Call Ta Sy Here", "\n.El");
	const char *at = table, *calls[CALLS_OF_100MS + 1];
	const size_t count = endpoints_of(table, calls, ROWS(calls));

	ck_assert_uint_eq(count, CALLS_OF_100MS);
	for (size_t i = 0; i < count; i++) {
		const struct route *route = routes;
		const char *here;

		at = strstr(at, "\n.It Li ") + 1;
		here = strstr(at, " Ta ");
		ck_assert(here != NULL && here < at + strcspn(at, "\n"));
		while (route->path != NULL && !is_endpoint_of(route, calls[i]))
			route++;
		ck_assert_msg((route->path != NULL) == (strncmp(here, " Ta yes", 7) == 0),
			      "anteroom-api(7), USING 100MS CLIENTS: %s is%s here", calls[i],
			      route->path != NULL ? "" : " not");
	}
}
END_TEST

#define HEALTH "tests/suites/check_health.c"
#define ACTS "tests/suites/servers/acts.c"
#define ENDPOINTS "tests/suites/webhooks/endpoints.c"
#define DELIVERIES "tests/suites/webhooks/deliveries.c"

/* Routes that no case calls, the test that does, and what it says. */
static const struct {
	const char *name, *test, *says;
} tested_elsewhere[] = {
	{ "listWebhooks", ENDPOINTS, "METHOD_GET, \"/v2/webhooks\"" },
	{ "getWebhook", ENDPOINTS, "METHOD_GET, path, NULL" },
	{ "replaceWebhook", ENDPOINTS, "METHOD_POST, path, body" },
	{ "patchWebhook", ENDPOINTS, "METHOD_PATCH, path, \"" },
	{ "deleteWebhook", ENDPOINTS, "METHOD_DELETE, path, NULL" },
	{ "rotateWebhookSecret", "tests/suites/webhooks/once.c", "\"/rotate\"" },
	{ "testWebhook", DELIVERIES, "\"/test\"" },
	{ "listWebhookDeliveries", DELIVERIES, "\"/deliveries\"" },
	{ "retryWebhookDelivery", DELIVERIES, "/retry\"" },
	{ "updateActivePeer", ACTS, "\"/peers/EVE?" },
	{ "mutePeer", ACTS, "\"%s/mute\"" },
	{ "removePeers", ACTS, "\"remove-peers\"" },
	{ "endRoom", ACTS, "\"end-room\"" },
	{ "sendMessage", "tests/suites/servers/door.c", "send-message\"" },
	{ "getServiceMetrics", "tests/cases/tokens/sessions.case", "| metrics |" },
	{ "getServiceHistory", "tests/cases/tokens/sessions.case", "| history |" },
	{ "welcome", HEALTH, "METHOD_GET, \"/\")" },
	{ "live", HEALTH, "METHOD_GET, \"/healthz\")" },
	{ "ready", HEALTH, "METHOD_GET, \"/readyz\")" },
	{ "metrics", HEALTH, "METHOD_GET, \"/metrics\")" },
};

static bool has_case(const struct route *route, struct slice cases)
{
	while (cases.data != NULL) {
		struct slice line = text_trim(text_split(cases, '\n', &cases), " \t|"), path;
		const struct slice method = text_split(line, ' ', &path);

		if (path.data == NULL)
			continue;
		path = text_trim(path, " \t|");
		if (path.size == 0 || path.data[0] != '/')
			continue;
		path = text_split(path, ' ', &(struct slice){ NULL, 0 });
		path = text_split(path, '?', &(struct slice){ NULL, 0 });
		if (is_of_route(route, method, path))
			return true;
	}
	return false;
}

/* Each route is called by a case, or by the test that is named here. */
START_TEST(each_route_has_a_case)
{
	const struct slice cases = text_below("tests/cases", ".case");
	struct buffer missing = BUFFER_INITIAL(arena);

	for (const struct route *route = routes; route->path != NULL; route++) {
		const bool has = has_case(route, cases);
		size_t i = 0;

		while (i < ROWS(tested_elsewhere) &&
		       strcmp(tested_elsewhere[i].name, route->name) != 0)
			i++;
		if (i == ROWS(tested_elsewhere)) {
			if (!has)
				buffer_append_text(&missing, arena_text(arena, " %s", route->name));
			continue;
		}
		ck_assert_msg(!has, "a case calls %s: no row is needed", route->name);
		ck_assert_msg(strstr(text_of(tested_elsewhere[i].test), tested_elsewhere[i].says) !=
				      NULL,
			      "%s: %s says nothing of %s", route->name, tested_elsewhere[i].test,
			      tested_elsewhere[i].says);
	}
	buffer_append_byte(&missing, '\0');
	ck_assert_msg(missing.size == 1, "no case calls%s", missing.data);
}
END_TEST

/* ---- kinds of records ---- */

/* How a caller sees the kind: the route that returns or makes its records, whose place in the
 * manual and whose case are tested above; or why no caller does. */
static const struct {
	const struct record_kind *kind;
	const char *route;
	const char *reason;
} seen[] = {
	{ &media_kind, "listBackends", NULL },
	{ &keys_kind, NULL, "counts the API keys of an account" },
	{ &key_kind, "getKey", NULL },
	{ &template_kind, "getTemplate", NULL },
	{ &role_kind, NULL, "a deleted role, whose codes stay disabled" },
	{ &default_kind, "listTemplates", NULL },
	{ &room_kind, "getRoom", NULL },
	{ &codes_kind, "listRoomCodes", NULL },
	{ &code_kind, "getRoomCode", NULL },
	{ &room_times_kind, NULL, "speeds up the search by time" },
	{ &audit_kind, NULL, "the range of the event log" },
	{ &entry_kind, "listEvents", NULL },
	{ &webhooks_kind, "listWebhooks", NULL },
	{ &webhook_position_kind, NULL, "how far a webhook has got" },
	{ &webhook_delivery_kind, "listWebhookDeliveries", NULL },
	{ &session_kind, "getLiveSession", NULL },
	{ &peer_kind, "listLiveSessionPeers", NULL },
	{ &live_kind, "getActiveRoom", NULL },
	{ &job_kind, NULL, "a recording, which getRecording returns" },
	{ &asset_kind, NULL, "a file of a recording, which getRecordingAsset returns" },
	{ &given_role_kind, "updateActivePeer", NULL },
	{ &revocation_kind, "removePeers", NULL },
	{ &usage_kind, "getUsage", NULL },
	{ &ban_kind, "getBan", NULL },
	{ &words_kind, NULL, "reserves a code for its account" },
	{ &words_asked_kind, NULL, "limits requests for taken codes" },
	{ &kept_answer_kind, NULL, "is returned to a request with the same Idempotency-Key" },
	{ &kept_usage_kind, NULL, "counts the stored responses" },
	{ &garbage_kind, NULL, "what still has to be removed" },
	{ &backend_healths_kind, "getBackend", NULL },
	{ &place_kind, "getRoom", NULL },
	{ &backend_load_kind, "getBackend", NULL },
	{ &inside_kind, NULL, "finds a person inside by the entry" },
	{ &shown_name_kind, NULL, "finds people inside by the name" },
	{ &usage_now_kind, "getUsage", NULL },
	{ &door_kind, "listTickets", NULL },
	{ &door_ticket_kind, "getTicket", NULL },
	{ &visitor_kind, NULL, "who was denied" },
	{ &jobs_kind, NULL, "limits the recordings of an account" },
	{ &recorder_kind, NULL, "a recorder, which belongs to no account" },
	{ &work_kind, NULL, "which recorder makes which recording" },
	{ &gone_file_kind, NULL, "a file that is to be deleted at once" },
	{ &backend_account_kind, NULL, "finds the account of a media server" },
	{ &webhook_account_kind, NULL, "finds the accounts with webhooks" },
	{ &queue_kind, NULL, "events that wait for their number" },
};

START_TEST(each_kind_is_seen_or_says_why_not)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct route *route = routes;
		size_t row = 0;

		while (row < ROWS(seen) && seen[row].kind != record_kinds[i])
			row++;
		ck_assert_msg(row < ROWS(seen), "%s has no row",
			      record_kinds[i]->table->kind->name);
		ck_assert((seen[row].route == NULL) == (seen[row].reason != NULL));
		while (seen[row].route != NULL && route->path != NULL &&
		       strcmp(route->name, seen[row].route) != 0)
			route++;
		ck_assert_msg(route->path != NULL, "%s is no route", seen[row].route);
	}
	ck_assert_int_eq(ROWS(seen), RECORD_KINDS);
}
END_TEST

/* ---- what a kind belongs to ---- */

#define KIND_NAMED(name_) #name_,
/* clang-format off */
static const char *const kind_names[] = { EACH_KIND(KIND_NAMED) };
/* clang-format on */

static const char *name_of(const struct store_kind *kind)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (all_kinds[i] == kind)
			return kind_names[i];
	}
	return "?";
}

/* Returns the line of src/README: the words of the row, as they are written there. */
static const char *words_of(const char *kind, const struct member *member)
{
	static const char *const fates[] = {
		[RELATION_DIES] = "DIES",
		[RELATION_REFUSES] = "REFUSES",
		[RELATION_OUTLIVES] = "OUTLIVES",
	};
	const struct relation *relation = member->relation;
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append_text(&text, arena_text(arena, "  %-17s %-12s %s, %s", kind, member->name,
					     name_of(relation->of), fates[relation->fate]));
	if (relation->may_be_none)
		buffer_append_text(&text, ", OR_NONE");
	if (relation->list != NULL)
		buffer_append_text(&text, arena_text(arena, ", %s(%s)",
						     relation->is_by_name ? "BY_NAME" : "ITEM_OF",
						     relation->list));
	if (relation->other_list != NULL)
		buffer_append_text(&text, arena_text(arena, ", OR_OF(%s)", relation->other_list));
	if (relation->counted_in != NULL)
		buffer_append_text(&text,
				   arena_text(arena, ", COUNTED(%s, %s)",
					      name_of(relation->counted_in), relation->counted));
	if (relation->only_with != NULL)
		buffer_append_text(
			&text, arena_text(arena, ", ONLY_WITH(%s)", name_of(relation->only_with)));
	buffer_append_text(&text, "\n");
	buffer_append_byte(&text, '\0');
	return text.data;
}

START_TEST(what_kinds_belong_to_and_when_they_end_is_in_the_readme)
{
	const char *readme = text_of("src/README");
	struct buffer missing = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct record_table *table = record_kinds[i]->table;

		for (size_t j = 0; j < table->member_count; j++) {
			const char *words;

			if (table->members[j].is_end &&
			    strstr(readme, arena_text(arena, "  %-17s %s", kind_names[i],
						      table->members[j].name)) == NULL)
				buffer_append_text(&missing, arena_text(arena, "the end of %s\n",
									kind_names[i]));
			if (table->members[j].relation == NULL)
				continue;
			words = words_of(kind_names[i], &table->members[j]);
			if (strstr(readme, words) == NULL)
				buffer_append_text(&missing, words);
		}
	}
	buffer_append_byte(&missing, '\0');
	ck_assert_msg(missing.size == 1, "src/README lacks\n%s", missing.data);
}
END_TEST

/* Each line of a dump is in the manual (its members: check_transfer), and no other. */
START_TEST(each_kind_with_a_line_is_in_the_manual)
{
	const char *section = section_of("anteroom.1", "DUMP LINES");
	const char *others[] = { "dump", "account", "end" };

	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const char *line = record_kinds[i]->line;

		ck_assert_msg(line == NULL || strstr(section, arena_text(arena, "\n.It Li %s\n",
									 line)) != NULL,
			      "anteroom(1), DUMP LINES, lacks %s", line);
	}
	for (const char *at = section; (at = strstr(at, "\n.It Li ")) != NULL; at++) {
		const struct slice name = { at + 8, strcspn(at + 8, "\n") };
		bool is_known = false;

		for (size_t i = 0; i < RECORD_KINDS; i++)
			is_known = is_known || (record_kinds[i]->line != NULL &&
						slice_is(name, record_kinds[i]->line));
		for (size_t i = 0; i < ROWS(others); i++)
			is_known = is_known || slice_is(name, others[i]);
		ck_assert_msg(is_known, "anteroom(1), DUMP LINES: %.*s is no line", (int)name.size,
			      name.data);
	}
}
END_TEST

static void check_later_rows(const struct record_kind *kind, const struct record_table *table)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];

		ck_assert_msg(member->since == 0 || member->when != 0 ||
				      (member->flags & (MEMBER_ABSENT | MEMBER_DERIVED)) != 0,
			      "%s: dumps of earlier versions lack %s", kind->line, member->name);
		if (member->items != NULL)
			check_later_rows(kind, member->items);
	}
}

/* What a kind got later, dumps do not have that are of an earlier form. */
START_TEST(earlier_dumps_lack_what_came_later)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i]->line != NULL)
			check_later_rows(record_kinds[i], record_kinds[i]->table);
	}
}
END_TEST

/* ---- events ---- */

#define TYPES_MOST 200

/* Literals in the sources that look like the type of an event. */
static const char *const no_types[] = {
	"accounts.json",
	"accounts.json.new",
	"accounts.lock",
	"backup.mark",
	"chat.csv",
	"chat.jsonl",
	"destinations.transcriptions",
	"janus.plugin.videoroom",
	"info.json",
	"joined.json",
	"join.link",
	"join.token",
	"join.url",
	"journal.mark",
	"journal.new",
	"load.unfinished",
	"publish.audio",
	"publish.screen",
	"publish.video",
};

/* What a type says by its last word; an event with any other has words in the console. */
static const char *const plain_verbs[] = {
	"activated", "created", "deleted", "disabled", "enabled",	 "granted",
	"imported",  "refused", "renamed", "rotated",  "secret_rotated", "updated",
};

/* Events that only webhooks get, so the console does not show them. */
static const char *const only_sent[] = { "peer.join.failure", "webhook.test" };

static bool is_among(const char *const list[], size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], text) == 0)
			return true;
	}
	return false;
}

static bool is_type(struct slice text)
{
	size_t stops = 0;

	for (size_t i = 0; i < text.size; i++) {
		const char letter = text.data[i];

		if (letter == '.' && i > 0 && i + 1 < text.size && text.data[i - 1] != '.')
			stops++;
		else if (letter != '_' && (letter < 'a' || letter > 'z'))
			return false;
	}
	return stops > 0;
}

/* Returns the number of types in the sources, each once: literals of words with full stops. */
static size_t types_of_events(const char *types[TYPES_MOST])
{
	struct slice rest = text_below("src", ".c");
	size_t count = 0;

	while (rest.data != NULL) {
		const struct slice text = text_split(rest, '"', &rest);
		const char *type;

		if (!is_type(text))
			continue;
		type = arena_copy(arena, text).data;
		if (is_among(no_types, ROWS(no_types), type) || is_among(types, count, type))
			continue;
		ck_assert_uint_lt(count, TYPES_MOST);
		types[count++] = type;
	}
	return count;
}

/* Returns true if a list of the section has the type: as .It Li ban and .Li .created, or whole. */
static bool is_in_section(const char *section, const char *type)
{
	const char *rest = strchr(type, '.');
	regex_t head, own, whole;
	bool is_there;

	ck_assert_int_eq(regcomp(&whole, arena_text(arena, "\n\\.It Li (.* , )?%s( ,.*)?\n", type),
				 REG_EXTENDED),
			 0);
	ck_assert_int_eq(
		regcomp(&head,
			arena_text(arena, "^(.* , )?%.*s( ,.*)?\n", (int)(rest - type), type),
			REG_EXTENDED),
		0);
	ck_assert_int_eq(regcomp(&own, arena_text(arena, " \\%s( |\n)", rest), REG_EXTENDED), 0);
	is_there = regexec(&whole, section, 0, NULL, 0) == 0;
	for (const char *at = section; !is_there && (at = strstr(at, "\n.It Li ")) != NULL;) {
		const char *next = strstr(at + 8, "\n.It ");
		const char *item = arena_text(arena, "%.*s",
					      next == NULL ? 4000 : (int)(next - at - 7), at + 8);
		const char *body = strchr(item, '\n');

		at += 8;
		is_there = body != NULL &&
			   regexec(&head, arena_text(arena, "%.*s", (int)(body - item + 1), item),
				   0, NULL, 0) == 0 &&
			   regexec(&own, body, 0, NULL, 0) == 0;
	}
	regfree(&whole);
	regfree(&head);
	regfree(&own);
	return is_there;
}

START_TEST(each_event_is_in_the_manual)
{
	const char *section = section_of("anteroom-api.7", "EVENT LOG"), *types[TYPES_MOST];
	const size_t count = types_of_events(types);

	ck_assert_uint_gt(count, 40);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(strcmp(types[i], "webhook.test") == 0 ||
				      is_in_section(section, types[i]),
			      "anteroom-api(7), EVENT LOG, lacks %s", types[i]);
}
END_TEST

START_TEST(each_event_has_words_in_the_console)
{
	const char *source = text_of("web/console/events.js"), *types[TYPES_MOST];
	const char *filters = part_of(source, "const TYPES = [", "\n];");
	const char *symbols = part_of(source, "const SYMBOLS = {", "\n};");
	const char *words = part_of(source, "const WORDS = {", "\n};");
	const size_t count = types_of_events(types);

	for (size_t i = 0; i < count; i++) {
		const char *verb = strrchr(types[i], '.') + 1;
		const int size = (int)strcspn(types[i], ".");

		if (is_among(only_sent, ROWS(only_sent), types[i]))
			continue;
		ck_assert_msg(strstr(filters,
				     arena_text(arena, "[\"%.*s.*\", \"", size, types[i])) != NULL,
			      "TYPES has no filter for %s", types[i]);
		ck_assert_msg(strstr(symbols, arena_text(arena, "\t%.*s: \"", size, types[i])) !=
				      NULL,
			      "SYMBOLS has no symbol for %s", types[i]);
		ck_assert_msg(is_among(plain_verbs, ROWS(plain_verbs), verb) ||
				      strstr(words, arena_text(arena, "\t\"%s\": ", types[i])) !=
					      NULL,
			      "WORDS has no words for %s", types[i]);
	}
}
END_TEST

START_TEST(each_event_has_a_test)
{
	const struct slice texts[] = {
		text_below("tests/cases", ".case"),
		text_below("tests/suites", ".c"),
		text_below("tests/scripts", ".sh"),
	};
	struct buffer missing = BUFFER_INITIAL(arena);
	const char *types[TYPES_MOST];
	const size_t count = types_of_events(types);

	for (size_t i = 0; i < count; i++) {
		bool is_there = false;

		for (size_t j = 0; j < ROWS(texts); j++)
			is_there = is_there || memmem(texts[j].data, texts[j].size, types[i],
						      strlen(types[i])) != NULL;
		if (!is_there)
			buffer_append_text(&missing, arena_text(arena, " %s", types[i]));
	}
	buffer_append_byte(&missing, '\0');
	ck_assert_msg(missing.size == 1, "no test names%s", missing.data);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kinds");
	TCase *tcase = tcase_create("kinds");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, each_route_is_in_the_manual);
	tcase_add_test(tcase, each_call_of_100ms_is_here_or_not_as_the_manual_says);
	tcase_add_test(tcase, each_route_has_a_case);
	tcase_add_test(tcase, each_kind_is_seen_or_says_why_not);
	tcase_add_test(tcase, what_kinds_belong_to_and_when_they_end_is_in_the_readme);
	tcase_add_test(tcase, each_kind_with_a_line_is_in_the_manual);
	tcase_add_test(tcase, earlier_dumps_lack_what_came_later);
	tcase_add_test(tcase, each_event_is_in_the_manual);
	tcase_add_test(tcase, each_event_has_words_in_the_console);
	tcase_add_test(tcase, each_event_has_a_test);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
