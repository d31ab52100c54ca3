/* anteroom room, peer, door, code, key, ban, session and usage: requests to a running service, one
 * row each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/id.h"
#include "base/text.h"
#include "command/command.h"
#include "command/service_client.h"
#include "command/table.h"
#include "resources/codes/qr.h"
#include "rules/room_code_rules.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const room_columns[] = {
	"id", "enabled", "template", "opens_at", "closes_at", "name", NULL,
};
static const char *const code_columns[] = {
	"code", "role",	    "enabled", "state", "expires_at",
	"uses", "max_uses", "user_id", "label", NULL,
};
static const char *const key_columns[] = {
	"id", "name", "scopes", "expires_at", "created_at", NULL,
};
static const char *const ban_columns[] = {
	"id", "user_id", "code_hash", "room_id", "expires_at", "reason", NULL,
};
static const char *const peer_columns[] = {
	"id", "joined_at", "role", "user_id", "name", NULL,
};
static const char *const changed_peer_columns[] = {
	"id", "joined_at", "role", "user_id", "name", "not_enforced", "door", NULL,
};
static const char *const done_columns[] = { "message", NULL };
static const char *const muted_columns[] = { "message", "muted", "missed", NULL };
static const char *const removed_columns[] = { "message", "not_enforced", "door", NULL };
static const char *const waiting_columns[] = {
	"id", "since", "role", "user_id", "name", NULL,
};
static const char *const admitted_columns[] = { "admitted", NULL };
static const char *const decided_columns[] = { "id", "state", "name", NULL };
static const char *const session_columns[] = {
	"id", "room_id", "active", "peer_count", "created_at", "updated_at", NULL,
};
static const char *const stay_columns[] = {
	"joined_at", "left_at", "role", "user_id", "name", NULL,
};
static const char *const day_columns[] = {
	"day", "sessions", "peers", "minutes", "peak", NULL,
};

/* ---- the rows ---- */

#define SENT_MOST 9

/* A member of the body, or of the query of a list, and the source of its value: an option, a
 * constant, or otherwise the operand at the same position after those of the path. */
struct sent {
	const char *name;
	struct option_row option;
	const char *constant; /* true, false or a text; for a switch, the value if it is given */
	bool is_list; /* its value is a comma-separated list, */
	const char *word; /* unless it is this word; may be NULL */
};

/* clang-format off */
#define OPERAND                            .option = { .name = NULL }
#define TEXT_OPTION(word, takes, does)     .option = { word, takes, does, .kind = OPTION_TEXT }
#define DURATION_OPTION(word, takes, does) \
	.option = { word, takes, does, .kind = OPTION_DURATION, .least = 1 }
#define SWITCH_OPTION(word, does)          .option = { word, NULL, does, .kind = OPTION_SWITCH }
#define ON                                 .constant = "true"
#define OFF                                .constant = "false"

static const struct client_command {
	const char *name; /* name of the command */
	enum service_method method;
	/* Operands stand in braces, in order. {ROOM}, an ID or a name, is replaced by the ID. */
	const char *path;
	const char *const *columns; /* NULL prints all members, and nothing for a deletion */
	bool is_list; /* the list may have several pages */
	const char *list; /* a member of the response: `columns` are those of its items */
	bool is_text; /* the response is not JSON */
	const char *secret; /* a member of the response that the server never shows again */
	struct sent sent[SENT_MOST + 1];
} client_commands[] = {
	{ "room add", SERVICE_CREATE, "/v2/rooms", room_columns, .sent = {
		{ "name", OPERAND },
		{ "template_id", TEXT_OPTION("template", "ID", "the ID of a template (default: the account's default template)") },
		{ "title", TEXT_OPTION("title", "TITLE", "what people see in place of the name") },
		{ "description", TEXT_OPTION("description", "TEXT", "what the room is for") },
		{ "opens_at", TEXT_OPTION("opens-at", "TIME", "such as 2026-11-23T09:00:00Z; nobody can join before") },
		{ "closes_at", TEXT_OPTION("closes-at", "TIME", "nobody can join from this time on") } } },
	{ "room list", SERVICE_GET, "/v2/rooms", room_columns, .is_list = true, .sent = {
		{ "enabled", SWITCH_OPTION("enabled", "only enabled rooms"), ON },
		{ "enabled", SWITCH_OPTION("disabled", "only disabled rooms"), OFF },
		{ "name", TEXT_OPTION("name", "NAME", "only the room of this name") } } },
	{ "room show", SERVICE_GET, "/v2/rooms/{ROOM}", .columns = NULL },
	{ "room enable", SERVICE_POST, "/v2/rooms/{ROOM}", room_columns, .sent = { { "enabled", ON } } },
	{ "room disable", SERVICE_POST, "/v2/rooms/{ROOM}", room_columns, .sent = { { "enabled", OFF } } },
	{ "room end", SERVICE_POST, "/v2/active-rooms/{ROOM}/end-room", done_columns, .sent = {
		{ "reason", TEXT_OPTION("reason", "TEXT", "what the people inside are told") },
		{ "lock", SWITCH_OPTION("lock", "also disables the room, so that nobody can join"), ON } } },
	{ "room mute", SERVICE_POST, "/v2/active-rooms/{ROOM}/mute", muted_columns, .sent = {
		{ "type", OPERAND },
		{ "role", TEXT_OPTION("role", "ROLE", "only people with this role") },
		{ "hold", SWITCH_OPTION("hold", "also keeps them muted, until the session closes"), ON },
		{ "hold", SWITCH_OPTION("free", "lets them unmute themselves again, and mutes nobody"), OFF } } },

	{ "peer list", SERVICE_GET, "/v2/active-rooms/{ROOM}/peers", peer_columns, .list = "peers", .sent = {
		{ "role", TEXT_OPTION("role", "ROLE", "only people with this role") },
		{ "user_id", TEXT_OPTION("user-id", "ID", "only the person with this user ID") } } },
	{ "peer role", SERVICE_POST, "/v2/active-rooms/{ROOM}/peers/{PEER}", changed_peer_columns, .sent = {
		{ "role", OPERAND },
		{ "door", SWITCH_OPTION("ask", "has whoever comes by the person's code wait until the session closes"), .constant = "ask" } } },
	{ "peer mute", SERVICE_POST, "/v2/active-rooms/{ROOM}/peers/{PEER}/mute", done_columns, .sent = {
		{ "type", OPERAND }, { "mute", ON } } },
	{ "peer unmute", SERVICE_POST, "/v2/active-rooms/{ROOM}/peers/{PEER}/mute", done_columns, .sent = {
		{ "type", OPERAND }, { "mute", OFF } } },
	{ "peer remove", SERVICE_POST, "/v2/active-rooms/{ROOM}/remove-peers", removed_columns, .sent = {
		{ "peer_id", OPERAND },
		{ "reason", TEXT_OPTION("reason", "TEXT", "what the person is told") },
		{ "ban", SWITCH_OPTION("ban", "also bans the person from the room, until the ban is lifted"), ON },
		{ "ban", DURATION_OPTION("ban-for", "DURATION", "also bans the person from the room for so long, such as 90s, 15m or 7d") },
		{ "door", SWITCH_OPTION("ask", "has whoever comes by the person's code wait until the session closes"), .constant = "ask" } } },

	{ "door list", SERVICE_GET, "/v2/active-rooms/{ROOM}/tickets", waiting_columns, .list = "tickets" },
	{ "door admit", SERVICE_POST, "/v2/active-rooms/{ROOM}/tickets", admitted_columns, .sent = {
		{ "admit", OPERAND, .is_list = true, .word = "all" } } },
	{ "door deny", SERVICE_POST, "/v2/active-rooms/{ROOM}/tickets/{TICKET}", decided_columns, .sent = {
		{ "state", .constant = "denied" },
		{ "reason", TEXT_OPTION("reason", "TEXT", "what the person is told") } } },

	{ "code add", SERVICE_POST, "/v2/room-codes/room/{ROOM}/role/{ROLE}", code_columns, .sent = {
		{ "expires_in", DURATION_OPTION("expires-in", "DURATION", "how long it is valid, such as 90s, 15m or 7d") },
		{ "expires_at", TEXT_OPTION("expires-at", "TIME", "when it expires, such as 2026-11-23T09:00:00Z") },
		{ "not_before", TEXT_OPTION("not-before", "TIME", "when it becomes valid") },
		{ "max_uses", .option = { "max-uses", "N", "how many times it can be used", OPTION_NUMBER, .least = 1, .most = USES_MOST } },
		{ "user_id", TEXT_OPTION("user-id", "ID", "the user ID of the person it is for") },
		{ "name", TEXT_OPTION("name", "NAME", "the display name of that person") },
		{ "label", TEXT_OPTION("label", "TEXT", "a label, to filter lists by") },
		{ "admission", TEXT_OPTION("admission", "open|ask", "whether people wait until somebody lets them in (default: as for the role)") },
		{ "code", TEXT_OPTION("code", "WORDS", "a custom code in place of a random one") } } },
	{ "code list", SERVICE_GET, "/v2/room-codes/room/{ROOM}", code_columns, .is_list = true, .sent = {
		{ "state", TEXT_OPTION("state", "STATE", "active, disabled, expired, used_up, not_yet_valid, role_deleted") },
		{ "role", TEXT_OPTION("role", "ROLE", "only codes for this role") },
		{ "user_id", TEXT_OPTION("user-id", "ID", "only codes for this person") },
		{ "label", TEXT_OPTION("label", "TEXT", "only codes with this label") } } },
	{ "code show", SERVICE_GET, "/v2/room-codes/code/{CODE}", .columns = NULL },
	{ "code enable", SERVICE_POST, "/v2/room-codes/code/{CODE}", code_columns, .sent = { { "enabled", ON } } },
	{ "code disable", SERVICE_POST, "/v2/room-codes/code/{CODE}", code_columns, .sent = { { "enabled", OFF } } },
	{ "code rotate", SERVICE_POST, "/v2/room-codes/room/{ROOM}/role/{ROLE}/rotate", code_columns, .sent = {
		{ "grace_seconds", DURATION_OPTION("grace", "DURATION", "how long the current codes stay valid (default: not at all)") } } },
	{ "code delete", SERVICE_DELETE, "/v2/room-codes/code/{CODE}", .columns = NULL },

	{ "key add", SERVICE_POST, "/v2/keys", .secret = "key", .sent = {
		{ "name", OPERAND },
		{ "scopes", OPERAND, .is_list = true },
		{ "expires_at", TEXT_OPTION("expires-at", "TIME", "when it expires, such as 2026-11-23T09:00:00Z") } } },
	{ "key list", SERVICE_GET, "/v2/keys", key_columns, .is_list = true },
	{ "key remove", SERVICE_DELETE, "/v2/keys/{KEY}", .columns = NULL },

	{ "ban add", SERVICE_POST, "/v2/bans", ban_columns, .sent = {
		{ "user_id", TEXT_OPTION("user-id", "ID", "the user ID of the person") },
		{ "code", TEXT_OPTION("code", "CODE", "a code in place of a person; it is disabled, too") },
		{ "room_id", TEXT_OPTION("room", "ID", "the ID of a room (default: all rooms of the account)") },
		{ "expires_in", DURATION_OPTION("expires-in", "DURATION", "how long it lasts, such as 90s, 15m or 7d (default: until it is lifted)") },
		{ "expires_at", TEXT_OPTION("expires-at", "TIME", "when it ends, such as 2026-11-23T09:00:00Z") },
		{ "reason", TEXT_OPTION("reason", "TEXT", "why, for administrators") } } },
	{ "ban list", SERVICE_GET, "/v2/bans", ban_columns, .is_list = true, .sent = {
		{ "user_id", TEXT_OPTION("user-id", "ID", "only bans of this person") },
		{ "room_id", TEXT_OPTION("room", "ID", "only bans from this room, without those from all rooms") } } },
	{ "ban remove", SERVICE_DELETE, "/v2/bans/{BAN}", .columns = NULL },

	{ "session list", SERVICE_GET, "/v2/sessions", session_columns, .is_list = true, .sent = {
		{ "active", SWITCH_OPTION("active", "only sessions that are open"), ON },
		{ "active", SWITCH_OPTION("closed", "only sessions that are closed"), OFF },
		{ "room_id", TEXT_OPTION("room", "ID", "only sessions of this room") },
		{ "after", TEXT_OPTION("after", "TIME", "only sessions that began then or later, such as 2026-11-23") },
		{ "before", TEXT_OPTION("before", "TIME", "only sessions that began then or earlier") } } },
	{ "session show", SERVICE_GET, "/v2/sessions/{SESSION}", stay_columns, .list = "peers" },
	{ "session attendance", SERVICE_GET, "/v2/sessions/{SESSION}/attendance.csv", .is_text = true, .sent = {
		{ "timezone", TEXT_OPTION("timezone", "ZONE", "the time zone of the times, such as Europe/Berlin (default: UTC)") },
		{ "separator", TEXT_OPTION("separator", "CHARACTER", "what separates the cells: a comma (default), a semicolon or a tab") } } },
	{ "usage", SERVICE_GET, "/v2/usage", day_columns, .list = "data", .sent = {
		{ "after", TEXT_OPTION("after", "DAY", "the first day, such as 2026-11-01 (default: 29 days before the last)") },
		{ "before", TEXT_OPTION("before", "DAY", "the last day (default: today)") } } },
};
/* clang-format on */

/* ---- options ---- */

/* What the command line says about a member. */
struct said {
	const char *text;
	int64_t seconds;
	unsigned number;
	bool is_given;
};

static struct option_row option_to(const struct sent *sent, struct said *said)
{
	struct option_row option = sent->option;

	if (option.kind == OPTION_SWITCH)
		option.value.is_given = &said->is_given;
	else if (option.kind == OPTION_DURATION)
		option.value.seconds = &said->seconds;
	else if (option.kind == OPTION_NUMBER)
		option.value.number = &said->number;
	else
		option.value.text = &said->text;
	return option;
}

static bool is_operand(const struct sent *sent)
{
	return sent->constant == NULL && sent->option.name == NULL;
}

static bool is_sent(const struct service_member *member)
{
	return member->text != NULL || member->number != 0;
}

static struct service_member member_said(const struct sent *sent, const struct said *said,
					 const char *operand)
{
	struct service_member member = { .name = sent->name, .text = said->text };

	member.number = said->seconds != 0 ? said->seconds : said->number;
	if (sent->constant != NULL && (said->is_given || sent->option.name == NULL))
		member.text = sent->constant;
	if (is_operand(sent))
		member.text = operand;
	return member;
}

/* ---- calls ---- */

/* Returns the ID of a room. room: an ID, or a name, which is looked up. Returns NULL with a fault
 * if the room does not exist. */
static const char *id_of_room(struct service_client *client, const char *room, struct fault *fault)
{
	/* The smallest limit that the API accepts. */
	const struct service_member query[] = { { "name", .text = room },
						{ "limit", .number = 10 } };
	struct service_reply answer;
	struct id ignored;
	const char *id;

	if (id_parse(slice_of(room), &ignored))
		return room;
	if (!service_client_call(client, SERVICE_GET,
				 service_client_query(client, "/v2/rooms", query, COUNT(query)),
				 NULL, &answer, fault))
		return NULL;
	id = json_string_value(
		json_object_get(json_array_get(json_object_get(answer.json, "data"), 0), "id"));
	if (id == NULL)
		fault_set(fault, FAULT_NOT_FOUND, "no room is named \"%s\"", room);
	return id;
}

/* Returns the path of a row with its operands filled in. Returns NULL with a fault if the room does
 * not exist. */
static const char *path_with(struct service_client *client, const char *path,
			     const char *const *operands, struct fault *fault)
{
	struct buffer text = BUFFER_INITIAL(client->arena);
	struct slice rest = slice_of(path);

	for (;;) {
		const char *operand;

		buffer_append(&text, text_split(rest, '{', &rest));
		if (rest.data == NULL)
			break;
		operand = *operands++;
		if (slice_is(text_split(rest, '}', &rest), "ROOM"))
			operand = id_of_room(client, operand, fault);
		if (operand == NULL)
			return NULL;
		text_encode(&text, slice_of(operand));
	}
	buffer_append_byte(&text, '\0');
	return text.data;
}

static json_t *json_of_member(const struct sent *sent, const struct service_member *member)
{
	struct slice rest;
	json_t *list;

	if (member->text == NULL)
		return json_integer(member->number);
	if (sent->constant != NULL && slice_is(slice_of(sent->constant), "true"))
		return json_true();
	if (sent->constant != NULL && slice_is(slice_of(sent->constant), "false"))
		return json_false();
	if (!sent->is_list || (sent->word != NULL && strcmp(member->text, sent->word) == 0))
		return json_string(member->text);
	list = json_array();
	rest = slice_of(member->text);
	while (rest.size > 0) {
		const struct slice item = text_split(rest, ',', &rest);

		array_put(list, json_stringn(item.data, item.size));
	}
	return list;
}

static bool call_and_print(struct service_client *client, const struct client_command *row,
			   const char *path, const struct service_member *members,
			   struct fault *fault)
{
	const bool has_body = row->method == SERVICE_POST || row->method == SERVICE_CREATE;
	struct service_reply answer = { .status = 0 };
	json_t *body = has_body ? arena_json(client->arena, json_object()) : NULL;

	for (size_t i = 0; has_body && row->sent[i].name != NULL; i++) {
		const struct service_member *member = &members[i];

		if (member->text != NULL && !text_is_utf8(slice_of(member->text)))
			return fault_cause(fault, FAULT_BAD_REQUEST, 0, "the %s %s not UTF-8",
					   member->name, row->sent[i].is_list ? "are" : "is");
		if (is_sent(member))
			object_put(body, member->name, json_of_member(&row->sent[i], member));
	}
	if (!service_client_call(client, row->method, path, body, &answer, fault)) {
		/* "Precondition failed" does not help users who set no precondition. */
		if (row->method == SERVICE_CREATE && answer.status == 412 &&
		    members[0].text != NULL) {
			*fault = FAULT_INITIAL;
			fault_set(fault, FAULT_CONFLICT, "a room named \"%s\" already exists",
				  members[0].text);
		}
		return false;
	}
	if (row->is_text)
		table_print_text(client, answer.body);
	else if (row->list != NULL)
		table_print_with_list(client, &answer, row->list, row->columns);
	else if (row->method != SERVICE_DELETE)
		table_print_answer(client, &answer, row->columns);
	if (row->secret != NULL && json_object_get(answer.json, row->secret) != NULL)
		command_remark(client->command,
			       "the %s is not shown again; store it in a safe place", row->secret);
	return true;
}

/* ---- the commands ---- */

int command_client(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const struct client_command *row = client_commands;
	const char *operands[SENT_MOST] = { NULL };
	struct said said[SENT_MOST] = { { .text = NULL } };
	struct service_member members[SENT_MOST];
	unsigned most = 0;
	const struct option_row common[] = {
		LIMIT_ROW(&most),
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	struct option_row options[SENT_MOST + COUNT(common)];
	struct fault fault = FAULT_INITIAL;
	const char *path = NULL;
	size_t n = 0, sent, first;
	bool is_done;
	int status;

	while (strcmp(row->name, command->name) != 0)
		row++;
	for (sent = 0; row->sent[sent].name != NULL; sent++)
		if (row->sent[sent].option.name != NULL)
			options[n++] = option_to(&row->sent[sent], &said[sent]);
	/* Only a list has --limit. What prints nothing, or a text, has no --json. */
	first = row->is_list ? 0 : row->method == SERVICE_DELETE || row->is_text ? 2 : 1;
	memcpy(&options[n], &common[first], sizeof common - first * sizeof common[0]);
	status = options_parse(command, options, n + COUNT(common) - first, argc, argv, operands);
	if (status != OPTIONS_GO)
		return status;
	/* The operands of the path come first. */
	first = 0;
	for (const char *at = row->path; *at != '\0'; at++)
		first += *at == '{';
	for (size_t i = 0; i < sent; i++) {
		members[i] = member_said(&row->sent[i], &said[i],
					 is_operand(&row->sent[i]) ? operands[first + i] : NULL);
		if (i > 0 && strcmp(members[i].name, members[i - 1].name) == 0 &&
		    is_sent(&members[i]) && is_sent(&members[i - 1])) {
			command_complain(command, "--%s and --%s cannot be combined",
					 row->sent[i - 1].option.name, row->sent[i].option.name);
			return EXIT_WRONG_USE;
		}
	}
	client.takes_text = row->is_text;
	/* The media server does what such a command asks for. */
	client.acts = row->method == SERVICE_POST &&
		      slice_begins(slice_of(row->path), SLICE("/v2/active-rooms/"));
	is_done = service_client_open(&client, &fault) &&
		  (path = path_with(&client, row->path, operands, &fault)) != NULL;
	if (is_done && row->method == SERVICE_GET)
		path = service_client_query(&client, path, members, sent);
	is_done = is_done &&
		  (row->is_list ? table_print_list(&client, path, most, row->columns, &fault)
				: call_and_print(&client, row, path, members, &fault));
	return service_client_close(&client, is_done, &fault);
}

/* Prints the link, and its QR code above it if that is wanted. */
static bool print_link(struct service_client *client, const json_t *code, bool wants_qr,
		       struct fault *fault)
{
	const char *link = json_string_value(json_object_get(code, "join_url"));
	struct slice lines = SLICE(""), shown;

	if (link == NULL)
		return fault_cause(
			fault, FAULT_INTERNAL, 0,
			"the server does not support join links; it is older than this program");
	if (wants_qr && !qr_is_there())
		return fault_cause(
			fault, FAULT_INTERNAL, 0,
			"QR codes are not available: this program was built without libqrencode");
	if (wants_qr && !qr_lines(client->arena, slice_of(link), &lines))
		return fault_cause(fault, FAULT_INTERNAL, 0, "the link is too long for a QR code");
	shown = text_visible(client->arena, slice_of(link));
	printf("%.*s%.*s\n", (int)lines.size, lines.data, (int)shown.size, shown.data);
	return true;
}

int command_code_link(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *code = NULL, *path = NULL;
	bool wants_qr = false;
	const struct option_row rows[] = {
		{ "qr", NULL, "also shows the link as a QR code", TO_SWITCH(&wants_qr) },
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &code);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  (path = path_with(&client, "/v2/room-codes/code/{CODE}?view=link", &code,
				    &fault)) != NULL &&
		  service_client_call(&client, SERVICE_GET, path, NULL, &answer, &fault) &&
		  print_link(&client, answer.json, wants_qr, &fault);
	return service_client_close(&client, is_done, &fault);
}
