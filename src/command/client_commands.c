/* anteroom room, code and key: calls of a live service.
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

/* ---- paths, in the client's arena ---- */

/* NULL and a fault when there is none. */
static const char *id_of_room(struct service_client *client, const char *name, struct fault *fault)
{
	/* The least limit that there is. */
	const struct service_member query[] = { { "name", .text = name },
						{ "limit", .number = 10 } };
	struct service_reply answer;
	const char *id;

	if (!service_client_call(client, SERVICE_GET,
				 service_client_query(client, "/v2/rooms", query, COUNT(query)),
				 NULL, &answer, fault))
		return NULL;
	id = json_string_value(
		json_object_get(json_array_get(json_object_get(answer.json, "data"), 0), "id"));
	if (id == NULL)
		fault_set(fault, FAULT_NOT_FOUND, "there is no room named \"%s\"", name);
	return id;
}

/* The path of a call that names a room: `before`, the room's id, `after`. room: an id, or a name,
 * by which the service is asked. NULL and a fault when there is no such name. */
static const char *room_path(struct service_client *client, const char *before, const char *room,
			     const char *after, struct fault *fault)
{
	struct id ignored;
	const char *id = id_parse(slice_of(room), &ignored) ? room
							    : id_of_room(client, room, fault);

	return id == NULL ? NULL : arena_text(client->arena, "%s%s%s", before, id, after);
}

static const char *path_of_room(struct service_client *client, const char *room,
				struct fault *fault)
{
	return room_path(client, "/v2/rooms/", room, "", fault);
}

static const char *path_of_code(struct service_client *client, const char *code,
				struct fault *fault)
{
	(void)fault;
	return service_client_path(client, "/v2/room-codes/code/", code, "");
}

static const char *path_of_key(struct service_client *client, const char *id, struct fault *fault)
{
	(void)fault;
	return service_client_path(client, "/v2/keys/", id, "");
}

/* ---- show, enable, disable, delete ---- */

enum resource_action { RESOURCE_SHOW, RESOURCE_ENABLE, RESOURCE_DISABLE, RESOURCE_DELETE };

static const struct resource_command {
	const char *command; /* its name */
	enum resource_action action;
	const char *(*path_of)(struct service_client *client, const char *operand,
			       struct fault *fault);
	const char *const *columns; /* NULL: all members are printed; of a deletion nothing is */
} resource_commands[] = {
	{ "room show", RESOURCE_SHOW, path_of_room, NULL },
	{ "room enable", RESOURCE_ENABLE, path_of_room, room_columns },
	{ "room disable", RESOURCE_DISABLE, path_of_room, room_columns },
	{ "code show", RESOURCE_SHOW, path_of_code, NULL },
	{ "code enable", RESOURCE_ENABLE, path_of_code, code_columns },
	{ "code disable", RESOURCE_DISABLE, path_of_code, code_columns },
	{ "code delete", RESOURCE_DELETE, path_of_code, NULL },
	{ "key remove", RESOURCE_DELETE, path_of_key, NULL },
};

static bool act(struct service_client *client, const struct resource_command *resource,
		const char *path, struct fault *fault)
{
	const json_t *body = NULL;
	struct service_reply answer;

	if (resource->action == RESOURCE_DELETE)
		return service_client_call(client, SERVICE_DELETE, path, NULL, &answer, fault);
	if (resource->action != RESOURCE_SHOW)
		body = arena_json(client->arena, json_pack("{s:b}", "enabled",
							   resource->action == RESOURCE_ENABLE));
	if (!service_client_call(client, body == NULL ? SERVICE_GET : SERVICE_POST, path, body,
				 &answer, fault))
		return false;
	table_print_answer(client, &answer, resource->columns);
	return true;
}

int command_resource(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const struct resource_command *resource = resource_commands;
	const char *operand = NULL, *path = NULL;
	const struct option_row rows[] = { JSON_ROW(&client.wants_json), CLIENT_ROWS(&client) };
	struct fault fault = FAULT_INITIAL;
	size_t first;
	bool is_done;
	int status;

	while (strcmp(resource->command, command->name) != 0)
		resource++;
	/* A deletion prints nothing, so it has no --json, the first resource. */
	first = resource->action == RESOURCE_DELETE ? 1 : 0;
	status = options_parse(command, rows + first, COUNT(rows) - first, argc, argv, &operand);
	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  (path = resource->path_of(&client, operand, &fault)) != NULL &&
		  act(&client, resource, path, &fault);
	return service_client_close(&client, is_done, &fault);
}

/* ---- rooms ---- */

int command_room_add(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *name = NULL, *template_id = NULL, *description = NULL;
	const char *opens_at = NULL, *closes_at = NULL;
	const struct option_row rows[] = {
		{ "template", "ID", "of a template; else the account's default template",
		  TO_TEXT(&template_id) },
		{ "description", "TEXT", "what the room is for", TO_TEXT(&description) },
		{ "opens-at", "TIME", "as in 2026-11-23T09:00:00Z; nobody can join before",
		  TO_TEXT(&opens_at) },
		{ "closes-at", "TIME", "nobody can join from this time on", TO_TEXT(&closes_at) },
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer = { .status = 0 };
	const json_t *body = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;

	const struct service_member members[] = {
		{ "name", .text = name },
		{ "template_id", .text = template_id },
		{ "description", .text = description },
		{ "opens_at", .text = opens_at },
		{ "closes_at", .text = closes_at },
	};

	is_done = service_client_open(&client, &fault) &&
		  (body = service_client_body(&client, members, COUNT(members), &fault)) != NULL &&
		  service_client_call(&client, SERVICE_CREATE, "/v2/rooms", body, &answer, &fault);
	/* "Precondition failed" is of no use to who asked for no precondition. */
	if (!is_done && answer.status == 412 && name != NULL) {
		fault = FAULT_INITIAL;
		fault_set(&fault, FAULT_CONFLICT, "there is a room named \"%s\" already", name);
	}
	if (is_done)
		table_print_answer(&client, &answer, room_columns);
	return service_client_close(&client, is_done, &fault);
}

int command_room_list(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	bool is_enabled = false, is_disabled = false;
	const char *name = NULL, *enabled = NULL;
	unsigned most = 0;
	const struct option_row rows[] = {
		{ "enabled", NULL, "only enabled rooms", TO_SWITCH(&is_enabled) },
		{ "disabled", NULL, "only disabled rooms", TO_SWITCH(&is_disabled) },
		{ "name", "NAME", "only the room of this name", TO_TEXT(&name) },
		LIMIT_ROW(&most),
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	if (is_enabled && is_disabled) {
		command_complain(command, "--enabled and --disabled exclude each other");
		return EXIT_WRONG_USE;
	}
	if (is_enabled || is_disabled)
		enabled = is_enabled ? "true" : "false";

	const struct service_member query[] = {
		{ "name", .text = name },
		{ "enabled", .text = enabled },
	};

	is_done = service_client_open(&client, &fault) &&
		  table_print_list(&client,
				   service_client_query(&client, "/v2/rooms", query, COUNT(query)),
				   most, room_columns, &fault);
	return service_client_close(&client, is_done, &fault);
}

/* ---- codes ---- */

/* Posts the members to a role of a room (the operands ROOM and ROLE), and prints the code. */
static bool post_to_role(struct service_client *client, const char *const operands[2],
			 const char *after, const struct service_member *members, size_t n,
			 struct fault *fault)
{
	const json_t *body = service_client_body(client, members, n, fault);
	struct service_reply answer;
	const char *path;

	if (body == NULL)
		return false;
	path = room_path(client, "/v2/room-codes/room/", operands[0],
			 service_client_path(client, "/role/", operands[1], after), fault);
	if (path == NULL || !service_client_call(client, SERVICE_POST, path, body, &answer, fault))
		return false;
	table_print_answer(client, &answer, code_columns);
	return true;
}

int command_code_add(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *operands[2] = { NULL }; /* ROOM, ROLE */
	const char *expires_at = NULL, *not_before = NULL, *user_id = NULL, *name = NULL;
	const char *label = NULL, *code = NULL;
	int64_t expires_in = 0;
	unsigned max_uses = 0;
	const struct option_row rows[] = {
		{ "expires-in", "DURATION", "how long it is valid: 90s, 15m, 24h, 7d",
		  TO_DURATION(&expires_in) },
		{ "expires-at", "TIME", "until when it is valid, as in 2026-11-23T09:00:00Z",
		  TO_TEXT(&expires_at) },
		{ "not-before", "TIME", "from when on it is valid", TO_TEXT(&not_before) },
		{ "max-uses", "N", "how many tokens are given for it",
		  TO_NUMBER(&max_uses, 1, USES_MOST) },
		{ "user-id", "ID", "of the person that it is for", TO_TEXT(&user_id) },
		{ "name", "NAME", "of the person that it is for", TO_TEXT(&name) },
		{ "label", "TEXT", "by which a list can be filtered", TO_TEXT(&label) },
		{ "code", "WORDS", "instead of a random code", TO_TEXT(&code) },
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;

	const struct service_member members[] = {
		{ "code", .text = code },
		{ "not_before", .text = not_before },
		{ "expires_at", .text = expires_at },
		{ "expires_in", .number = expires_in },
		{ "max_uses", .number = max_uses },
		{ "user_id", .text = user_id },
		{ "name", .text = name },
		{ "label", .text = label },
	};

	is_done = service_client_open(&client, &fault) &&
		  post_to_role(&client, operands, "", members, COUNT(members), &fault);
	return service_client_close(&client, is_done, &fault);
}

int command_code_rotate(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *operands[2] = { NULL }; /* ROOM, ROLE */
	struct service_member member = { "grace_seconds", .number = 0 };
	const struct option_row rows[] = {
		{ "grace", "DURATION", "how long the codes before stay valid; else not at all",
		  TO_DURATION(&member.number) },
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  post_to_role(&client, operands, "/rotate", &member, 1, &fault);
	return service_client_close(&client, is_done, &fault);
}

int command_code_list(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *room = NULL, *state = NULL, *role = NULL, *user_id = NULL, *label = NULL;
	const char *path = NULL;
	unsigned most = 0;
	const struct option_row rows[] = {
		{ "state", "STATE",
		  "active, disabled, expired, used_up, not_yet_valid, role_deleted",
		  TO_TEXT(&state) },
		{ "role", "ROLE", "only codes for this role", TO_TEXT(&role) },
		{ "user-id", "ID", "only codes for this person", TO_TEXT(&user_id) },
		{ "label", "TEXT", "only codes with this label", TO_TEXT(&label) },
		LIMIT_ROW(&most),
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &room);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;

	const struct service_member query[] = {
		{ "state", .text = state },
		{ "role", .text = role },
		{ "user_id", .text = user_id },
		{ "label", .text = label },
	};

	is_done = service_client_open(&client, &fault) &&
		  (path = room_path(&client, "/v2/room-codes/room/", room, "", &fault)) != NULL &&
		  table_print_list(&client,
				   service_client_query(&client, path, query, COUNT(query)), most,
				   code_columns, &fault);
	return service_client_close(&client, is_done, &fault);
}

/* The lines of the QR code that shows `link`, or a fault. */
static bool qr_of(struct service_client *client, const char *link, struct slice *lines,
		  struct fault *fault)
{
	if (!qr_is_there())
		return fault_cause(fault, FAULT_INTERNAL, 0,
				   "this build makes no QR codes: it was configured without "
				   "libqrencode");
	return qr_lines(client->arena, slice_of(link), lines) ||
	       fault_cause(fault, FAULT_INTERNAL, 0, "the link is too long for a QR code");
}

int command_code_link(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *code = NULL, *link = NULL;
	struct slice shown = SLICE("");
	bool wants_qr = false;
	const struct option_row rows[] = {
		{ "qr", NULL, "shows the link as a QR code too", TO_SWITCH(&wants_qr) },
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &code);
	struct fault fault = FAULT_INITIAL;
	struct slice lines = SLICE("");
	struct service_reply answer;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  service_client_call(
			  &client, SERVICE_GET,
			  service_client_path(&client, "/v2/room-codes/code/", code, "?view=link"),
			  NULL, &answer, &fault);
	if (is_done) {
		link = json_string_value(json_object_get(answer.json, "join_url"));
		is_done = link != NULL || fault_cause(&fault, FAULT_INTERNAL, 0,
						      "the service gives no links: it is older "
						      "than this program");
	}
	is_done = is_done && (!wants_qr || qr_of(&client, link, &lines, &fault));
	if (is_done) {
		shown = text_visible(client.arena, slice_of(link));
		printf("%.*s%.*s\n", (int)lines.size, lines.data, (int)shown.size, shown.data);
	}
	return service_client_close(&client, is_done, &fault);
}

/* ---- keys ---- */

/* Adds the names, which commas separate. */
static bool put_scopes(json_t *body, const char *names, struct fault *fault)
{
	json_t *scopes = json_array();
	struct slice rest = slice_of(names);

	object_put(body, "scopes", scopes);
	if (!text_is_utf8(rest))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "the scopes are not UTF-8");
	while (rest.size > 0) {
		const struct slice name = text_split(rest, ',', &rest);

		array_put(scopes, json_stringn(name.data, name.size));
	}
	return true;
}

int command_key_add(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *operands[2] = { NULL }; /* NAME, SCOPES */
	const char *expires_at = NULL;
	const struct option_row rows[] = {
		{ "expires-at", "TIME", "until when it is valid, as in 2026-11-23T09:00:00Z",
		  TO_TEXT(&expires_at) },
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	json_t *body = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;

	const struct service_member members[] = {
		{ "name", .text = operands[0] },
		{ "expires_at", .text = expires_at },
	};

	is_done = service_client_open(&client, &fault) &&
		  (body = service_client_body(&client, members, COUNT(members), &fault)) != NULL &&
		  put_scopes(body, operands[1], &fault) &&
		  service_client_call(&client, SERVICE_POST, "/v2/keys", body, &answer, &fault);
	if (is_done)
		table_print_answer(&client, &answer, NULL);
	if (is_done && json_object_get(answer.json, "key") != NULL)
		command_remark(command, "the key is shown only now: keep it safe");
	return service_client_close(&client, is_done, &fault);
}

int command_key_list(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	unsigned most = 0;
	const struct option_row rows[] = {
		LIMIT_ROW(&most),
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  table_print_list(&client, "/v2/keys", most, key_columns, &fault);
	return service_client_close(&client, is_done, &fault);
}
