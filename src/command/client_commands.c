/* anteroom room, peer, door, code, key, ban, backend, session, recording, stream and usage:
 * requests to a running service, one row each. Path, options and their help are those of the route.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "command/command.h"
#include "command/service_client.h"
#include "command/table.h"
#include "resources/codes/qr.h"
#include "service/routes.h"

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
static const char *const test_columns[] = { "state", "milliseconds", "message", NULL };
static const char *const moved_columns[] = { "rooms", NULL };
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
static const char *const denied_columns[] = {
	"id", "until", "role", "user_id", "name", NULL,
};
static const char *const door_columns[] = { "state", "was", NULL };
static const char *const session_columns[] = {
	"id", "room_id", "active", "peer_count", "created_at", "updated_at", NULL,
};
static const char *const stay_columns[] = {
	"joined_at", "left_at", "role", "user_id", "name", NULL,
};
static const char *const recording_columns[] = {
	"id", "status", "paused", "created_at", "recorded_seconds", "reason", "room_name", NULL,
};
static const char *const output_columns[] = { "state", "since", "url", "error", NULL };
static const char *const file_columns[] = {
	"id", "type", "status", "duration", "size", "path", NULL,
};
static const char *const day_columns[] = {
	"day", "sessions", "peers", "minutes", "peak", NULL,
};

/* Bytes of a line of a file with values. */
#define LINE_MOST 4096

/* ---- the rows ---- */

#define SENT_MOST 9

/* A member of the body, or of the query of a route that reads, and the source of its value: the
 * operand at the same position after those of the path, a constant, or otherwise an option. */
struct sent {
	const char *name;
	bool is_operand;
	struct option_row option; /* without help: completed from the member's row in the shape */
	const char *constant; /* true, false or a text; for a switch, the value if it is given */
	bool is_list; /* its value is a comma-separated list, */
	bool is_file; /* it names a file with a value in each line, because values are secret */
	const char *word; /* unless it is this word; may be NULL */
	/* Words that stand for JSON values. */
	struct {
		const char *said, *json;
	} meanings[3];
};

/* clang-format off */
#define OPERAND                            .is_operand = true
#define AS(word)                           .option = { .name = word }
#define TAKES(what)                        .option = { .argument = what }
#define DURATION_OPTION(word, does) \
	.option = { word, "DURATION", does, .kind = OPTION_DURATION, .least = 1 }
#define SWITCH_OPTION(word, does)          .option = { word, NULL, does, .kind = OPTION_SWITCH }
#define ASK_OPTION \
	SWITCH_OPTION("ask", "has whoever comes by the person's code wait until the session closes"), .constant = "ask"
#define ADDRESSES_OPTION \
	.option = { "addresses", "FILE", "a file with an address of an RTMP server in each line", .kind = OPTION_TEXT }
#define ON                                 .constant = "true"
#define OFF                                .constant = "false"

static const struct client_command {
	const char *name; /* name of the command */
	const char *operation; /* name of the route; the operands in its path come first */
	const char *const *columns; /* NULL prints all members, and nothing for a deletion */
	bool creates; /* rejected if an object of that name exists */
	const char *list; /* a member of the response: `columns` are those of its items */
	const char *secret; /* a member of the response that the server never shows again */
	const char *success; /* the command fails unless the response has this state */
	struct sent sent[SENT_MOST + 1];
} client_commands[] = {
	{ "room add", "createRoom", room_columns, .creates = true, .sent = {
		{ "name", OPERAND }, { "template_id", AS("template") }, { .name = "title" }, { .name = "description" },
		{ .name = "opens_at" }, { .name = "closes_at" } } },
	{ "room list", "listRooms", room_columns, .sent = {
		{ "enabled", SWITCH_OPTION("enabled", "only enabled rooms"), ON },
		{ "enabled", SWITCH_OPTION("disabled", "only disabled rooms"), OFF },
		{ .name = "name" } } },
	{ "room show", "getRoom", .columns = NULL },
	{ "room enable", "updateRoom", room_columns, .sent = { { "enabled", ON } } },
	{ "room disable", "updateRoom", room_columns, .sent = { { "enabled", OFF } } },
	{ "room end", "endRoom", done_columns, .sent = {
		{ .name = "reason" },
		{ "lock", SWITCH_OPTION("lock", "also disables the room, so that nobody can join"), ON } } },
	{ "room mute", "mutePeers", muted_columns, .sent = {
		{ "type", OPERAND },
		{ .name = "role" },
		{ "hold", SWITCH_OPTION("hold", "also keeps them muted, until the session closes"), ON },
		{ "hold", SWITCH_OPTION("free", "lets them unmute themselves again, and mutes nobody"), OFF } } },

	{ "peer list", "listActivePeers", peer_columns, .list = "peers", .sent = {
		{ .name = "role" }, { .name = "user_id" } } },
	{ "peer role", "updateActivePeer", changed_peer_columns, .sent = { { "role", OPERAND }, { "door", ASK_OPTION } } },
	{ "peer mute", "mutePeer", done_columns, .sent = { { "type", OPERAND }, { "mute", ON } } },
	{ "peer unmute", "mutePeer", done_columns, .sent = { { "type", OPERAND }, { "mute", OFF } } },
	{ "peer hand", "updateActivePeer", peer_columns, .sent = {
		{ "hand", OPERAND, .meanings = { { "up", "true" }, { "down", "false" } } } } },
	{ "peer lower", "lowerHands", done_columns, .sent = { { .name = "role" } } },
	{ "peer remove", "removePeers", removed_columns, .sent = {
		{ "peer_id", OPERAND },
		{ .name = "reason" },
		{ "ban", SWITCH_OPTION("ban", "also bans the person from the room, until the ban is lifted"), ON },
		{ "ban", DURATION_OPTION("ban-for", "also bans the person from the room for so long, such as 90s, 15m or 7d") },
		{ "door", ASK_OPTION } } },

	{ "door list", "listTickets", waiting_columns, .list = "tickets" },
	{ "door admit", "admitTickets", admitted_columns, .sent = {
		{ "admit", OPERAND, .is_list = true, .word = "all" } } },
	{ "door deny", "decideTicket", decided_columns, .sent = {
		{ "state", .constant = "denied" }, { .name = "reason" } } },
	{ "door denied", "listTickets", denied_columns, .list = "denied" },
	{ "door allow", "decideTicket", decided_columns, .sent = { { "state", .constant = "admitted" } } },
	{ "door set", "setDoor", door_columns, .sent = { { "state", OPERAND, .meanings = { { "roles", "null" } } } } },

	{ "code add", "createRoomCode", code_columns, .sent = {
		{ "expires_in", DURATION_OPTION("expires-in", "how long it is valid, such as 90s, 15m or 7d") },
		{ .name = "expires_at" }, { .name = "not_before" }, { .name = "max_uses" }, { .name = "user_id" },
		{ .name = "name" }, { .name = "label" }, { .name = "admission" }, { .name = "code" } } },
	{ "code list", "listRoomCodes", code_columns, .sent = {
		{ .name = "state" }, { .name = "role" }, { .name = "user_id" }, { .name = "label" } } },
	{ "code show", "getRoomCode", .columns = NULL },
	{ "code enable", "switchRoomCodeNamed", code_columns, .sent = { { "enabled", ON } } },
	{ "code disable", "switchRoomCodeNamed", code_columns, .sent = { { "enabled", OFF } } },
	{ "code rotate", "rotateRoomCode", code_columns, .sent = {
		{ "grace_seconds", DURATION_OPTION("grace", "how long the current codes stay valid (default: not at all)") } } },
	{ "code delete", "deleteRoomCode", .columns = NULL },

	{ "key add", "createKey", .secret = "key", .sent = {
		{ "name", OPERAND }, { "scopes", OPERAND, .is_list = true }, { .name = "expires_at" } } },
	{ "key list", "listKeys", key_columns, .list = NULL },
	{ "key remove", "deleteKey", .columns = NULL },

	{ "ban add", "createBan", ban_columns, .sent = {
		{ .name = "user_id" }, { .name = "code" }, { "room_id", AS("room") },
		{ "expires_in", DURATION_OPTION("expires-in", "how long it lasts, such as 90s, 15m or 7d (default: until it is lifted)") },
		{ .name = "expires_at" }, { .name = "reason" } } },
	{ "ban list", "listBans", ban_columns, .sent = { { .name = "user_id" }, { "room_id", AS("room") } } },
	{ "ban remove", "deleteBan", .columns = NULL },

	{ "backend list", "listBackends", table_backend_columns, .list = NULL },
	{ "backend test", "testBackend", test_columns, .success = "up" },
	{ "backend undrain", "patchBackend", table_backend_columns, .sent = { { "draining", OFF } } },
	{ "backend move", "moveBackendRooms", moved_columns, .list = NULL },
	{ "backend remove", "deleteBackend", .columns = NULL },

	{ "session list", "listLiveSessions", session_columns, .sent = {
		{ "active", SWITCH_OPTION("active", "only sessions that are open"), ON },
		{ "active", SWITCH_OPTION("closed", "only sessions that are closed"), OFF },
		{ "room_id", AS("room") }, { "after", TAKES("TIME") }, { "before", TAKES("TIME") } } },
	{ "session show", "getLiveSession", stay_columns, .list = "peers" },
	{ "session attendance", "getAttendance", .sent = { { .name = "timezone" }, { .name = "separator" } } },
	{ "recording list", "listRoomRecordings", recording_columns, .sent = {
		{ "room_id", AS("room") }, { .name = "status" } } },
	{ "recording show", "getRecording", file_columns, .list = "recording_assets" },
	{ "recording start", "startRecording", recording_columns, .sent = {
		{ .name = "destination" },
		{ "audio_only", SWITCH_OPTION("audio-only", "records no picture"), ON } } },
	{ "recording stop", "stopRecordings", recording_columns, .list = "data" },
	{ "recording pause", "pauseRecordings", recording_columns, .list = "data" },
	{ "recording resume", "resumeRecordings", recording_columns, .list = "data" },
	{ "recording join", "joinRecording", recording_columns, .list = NULL },
	{ "recording adopt", "adoptRecordingFile", file_columns, .sent = { { "path", OPERAND } } },
	{ "stream live start", "startLiveStream", recording_columns, .sent = { { .name = "destination" } } },
	{ "stream live stop", "stopLiveStreams", recording_columns, .list = "data" },
	{ "stream live list", "listLiveStreams", recording_columns, .sent = {
		{ "room_id", AS("room") }, { .name = "status" } } },
	{ "stream live show", "getLiveStream", file_columns, .list = "recording_assets" },
	{ "stream external start", "startExternalStream", output_columns, .list = "outputs", .sent = {
		{ .name = "destination" },
		{ "rtmp_urls", ADDRESSES_OPTION, .is_file = true },
		{ "recording", SWITCH_OPTION("record", "also records what is streamed"), ON } } },
	{ "stream external stop", "stopExternalStreams", recording_columns, .list = "data" },
	{ "stream external list", "listExternalStreams", recording_columns, .sent = {
		{ "room_id", AS("room") }, { .name = "status" } } },
	{ "stream external show", "getExternalStream", output_columns, .list = "outputs" },
	{ "usage", "getUsage", day_columns, .list = "data", .sent = {
		{ "after", TAKES("DAY") }, { "before", TAKES("DAY") } } },
};
/* clang-format on */

/* ---- options ---- */

/* What the command line says about a member, besides the value that is sent, and the texts of its
 * option. */
struct said {
	unsigned number;
	bool is_given;
	char name[32], takes[80], help[160];
};

#define STANDARD "Default: "

/* What the row of a member leaves open is taken from its field: --user-id ID, the first sentence
 * and the default of the field. */
static struct option_row option_to(const struct sent *sent, const struct field *field,
				   struct said *said, struct service_member *member)
{
	const bool is_time = field->kind == KIND_TIME, is_number = field->kind == KIND_INTEGER;
	const char *last = strrchr(field->name, '_'), *standard = strstr(field->doc, STANDARD);
	struct option_row option = sent->option;
	size_t size = 0;

	if (option.help == NULL) {
		(void)snprintf(said->name, sizeof said->name, "%s", field->name);
		for (char *at = said->name; (at = strchr(at, '_')) != NULL;)
			*at = '-';
		last = is_number ? "N" : is_time ? "TIME" : last == NULL ? field->name : last + 1;
		(void)snprintf(said->takes, sizeof said->takes, "%s", last);
		for (char *at = said->takes; *at != '\0'; at++)
			*at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at);
		for (size_t i = 0; field->kind == KIND_CHOICE && field->choices[i] != NULL; i++)
			size += (size_t)snprintf(said->takes + size, sizeof said->takes - size,
						 "%s%s", i == 0 ? "" : "|", field->choices[i]);
		assert(size < sizeof said->takes);
		/* Without the capital and the full stop. */
		size = (size_t)snprintf(said->help, sizeof said->help, "%c%.*s%s",
					field->doc[0] | ' ', (int)strcspn(field->doc, ".;") - 1,
					field->doc + 1,
					is_time ? ", such as 2026-11-23T09:00:00Z" : "");
		assert(size < sizeof said->help);
		if (standard != NULL)
			(void)snprintf(said->help + size, sizeof said->help - size,
				       " (default: %.*s)",
				       (int)strcspn(standard, ".") - (int)strlen(STANDARD),
				       standard + strlen(STANDARD));
		option.name = option.name == NULL ? said->name : option.name;
		option.argument = option.argument == NULL ? said->takes : option.argument;
		option.help = said->help;
		option.kind = is_number ? OPTION_NUMBER : OPTION_TEXT;
		option.least = (unsigned)field->minimum;
		option.most = (unsigned)field->maximum;
	}
	if (option.kind == OPTION_SWITCH)
		option.value.is_given = &said->is_given;
	else if (option.kind == OPTION_DURATION)
		option.value.seconds = &member->number;
	else if (option.kind == OPTION_NUMBER)
		option.value.number = &said->number;
	else
		option.value.text = &member->text;
	return option;
}

static bool is_sent(const struct service_member *member)
{
	return member->text != NULL || member->number != 0;
}

/* ---- calls ---- */

/* Returns the path of a route with its operands filled in; a room or a backend may be an ID or a
 * name. Returns NULL with a fault if the name does not exist. */
static const char *path_with(struct service_client *client, const char *path,
			     const char *const *operands, struct fault *fault)
{
	struct buffer text = BUFFER_INITIAL(client->arena);
	struct slice rest = slice_of(path);

	for (;;) {
		const char *operand;
		struct slice noun;

		buffer_append(&text, text_split(rest, '{', &rest));
		if (rest.data == NULL)
			break;
		operand = *operands++;
		noun = text_split(rest, '}', &rest);
		if (slice_is(noun, "room_id"))
			operand = service_client_id(client, CLIENT_ROOM, operand, fault);
		else if (slice_is(noun, "backend_id"))
			operand = service_client_id(client, CLIENT_BACKEND, operand, fault);
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
	for (size_t i = 0; sent->meanings[i].said != NULL; i++) {
		if (strcmp(member->text, sent->meanings[i].said) == 0)
			return json_loads(sent->meanings[i].json, JSON_DECODE_ANY, NULL);
	}
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

/* Reads the values of a member, one in each line of a file, or of standard input (-). Other users
 * could see them on the command line. */
static json_t *json_of_lines(struct arena *arena, const char *path, struct fault *fault)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	json_t *list = arena_json(arena, json_array());
	char line[LINE_MOST];

	if (file == NULL) {
		fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot open %s", path);
		return NULL;
	}
	while (fgets(line, sizeof line, file) != NULL) {
		const struct slice value = text_trim(slice_of(line), TEXT_BLANKS "\r\n");

		if (value.size > 0)
			array_put(list, json_stringn(value.data, value.size));
	}
	if (ferror(file))
		fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot read %s", path);
	else if (json_array_size(list) == 0)
		fault_cause(fault, FAULT_BAD_REQUEST, 0, "%s has no line", path);
	if (file != stdin)
		fclose(file);
	return fault->kind == FAULT_NONE ? list : NULL;
}

static bool call_and_print(struct service_client *client, const struct client_command *row,
			   const struct route *route, const char *path,
			   const struct service_member *members, struct service_reply *answer,
			   struct fault *fault)
{
	const bool has_body = route->method == METHOD_POST || route->method == METHOD_PATCH;
	json_t *body = has_body ? arena_json(client->arena, json_object()) : NULL;

	for (size_t i = 0; has_body && row->sent[i].name != NULL; i++) {
		const struct service_member *member = &members[i];

		if (member->text != NULL && !text_is_utf8(slice_of(member->text)))
			return fault_cause(fault, FAULT_BAD_REQUEST, 0, "the %s %s not UTF-8",
					   member->name, row->sent[i].is_list ? "are" : "is");
		if (row->sent[i].is_file && member->text != NULL) {
			json_t *lines = json_of_lines(client->arena, member->text, fault);

			if (lines == NULL)
				return false;
			object_put(body, member->name, json_incref(lines));
		} else if (is_sent(member))
			object_put(body, member->name, json_of_member(&row->sent[i], member));
	}
	if (!service_client_call(client, route->method, path, body, answer, fault)) {
		/* "Precondition failed" does not help users who set no precondition. */
		if (row->creates && answer->status == 412 && members[0].text != NULL) {
			*fault = FAULT_INITIAL;
			fault_set(fault, FAULT_CONFLICT, "a room named \"%s\" already exists",
				  members[0].text);
		}
		return false;
	}
	if (client->takes_text)
		table_print_text(client, answer->body);
	else if (row->list != NULL)
		table_print_with_list(client, answer, row->list, row->columns);
	else if (route->method != METHOD_DELETE)
		table_print_answer(client, answer, row->columns);
	if (row->secret != NULL && json_object_get(answer->json, row->secret) != NULL)
		command_remark(client->command,
			       "the %s is not shown again; store it in a safe place", row->secret);
	return true;
}

/* ---- the commands ---- */

int command_client(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const struct client_command *row = client_commands;
	const struct route *route = routes;
	const char *operands[SENT_MOST] = { NULL };
	struct said said[SENT_MOST] = { { .number = 0 } };
	struct service_member members[SENT_MOST] = { { .name = NULL } };
	unsigned most = 0;
	const struct option_row common[] = {
		LIMIT_ROW(&most),
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	struct option_row options[SENT_MOST + COUNT(common)];
	struct service_reply answer = { .status = 0 };
	struct fault fault = FAULT_INITIAL;
	const struct shape *shape;
	const char *path = NULL;
	size_t n = 0, sent, first;
	bool is_done, is_list, fails;
	int status;

	while (strcmp(row->name, command->name) != 0)
		row++;
	while (strcmp(route->name, row->operation) != 0)
		route++;
	shape = route->method == METHOD_GET ? route->query : route->body;
	for (sent = 0; row->sent[sent].name != NULL; sent++) {
		const struct sent *from = &row->sent[sent];

		members[sent].name = from->name;
		if (!from->is_operand && (from->constant == NULL || from->option.name != NULL))
			options[n++] = option_to(from, shape_field(shape, from->name), &said[sent],
						 &members[sent]);
	}
	client.takes_text = route->content_type != NULL;
	client.creates = row->creates;
	client.acts = route->acts;
	is_list = route->is_list && route->method == METHOD_GET;
	/* Only a list has --limit. What prints nothing, or a text, has no --json. */
	first = is_list ? 0 : route->method == METHOD_DELETE || client.takes_text ? 2 : 1;
	memcpy(&options[n], &common[first], sizeof common - first * sizeof common[0]);
	status = options_parse(command, options, n + COUNT(common) - first, argc, argv, operands);
	if (status != OPTIONS_GO)
		return status;
	/* The operands of the path come first. */
	first = 0;
	for (const char *at = route->path; *at != '\0'; at++)
		first += *at == '{';
	for (size_t i = 0; i < sent; i++) {
		const struct sent *from = &row->sent[i];

		if (from->is_operand)
			members[i].text = operands[first + i];
		else if (from->constant != NULL && (said[i].is_given || from->option.name == NULL))
			members[i].text = from->constant;
		if (said[i].number != 0)
			members[i].number = said[i].number;
		if (i > 0 && strcmp(members[i].name, members[i - 1].name) == 0 &&
		    is_sent(&members[i]) && is_sent(&members[i - 1])) {
			command_complain(command, "--%s and --%s cannot be combined",
					 row->sent[i - 1].option.name, row->sent[i].option.name);
			return EXIT_WRONG_USE;
		}
	}
	is_done = service_client_open(&client, &fault) &&
		  (path = path_with(&client, route->path, operands, &fault)) != NULL;
	if (is_done && route->method == METHOD_GET)
		path = service_client_query(&client, path, members, sent);
	is_done = is_done &&
		  (is_list ? table_print_list(&client, path, most, row->columns, &fault)
			   : call_and_print(&client, row, route, path, members, &answer, &fault));
	fails = is_done && row->success != NULL &&
		!slice_is(text_of_json(json_object_get(answer.json, "state")), row->success);
	status = service_client_close(&client, is_done, &fault);
	return status == EXIT_SUCCESS && fails ? EXIT_FAILURE : status;
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
		  (path = path_with(&client, "/v2/room-codes/code/{code}?view=link", &code,
				    &fault)) != NULL &&
		  service_client_call(&client, METHOD_GET, path, NULL, &answer, &fault) &&
		  print_link(&client, answer.json, wants_qr, &fault);
	return service_client_close(&client, is_done, &fault);
}
