/* anteroom code add, list, show, link, enable, disable, rotate, delete: calls of a live service.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "command/command.h"
#include "command/room_lookup.h"
#include "command/service_client.h"
#include "command/table.h"
#include "command/thing_command.h"
#include "resources/qr.h"
#include "rules/room_code_rules.h"

static const char *const columns[] = {
	"code", "role",	    "enabled", "state", "expires_at",
	"uses", "max_uses", "user_id", "label", NULL,
};

/* The path of a call for a role of a room, or NULL and a fault. */
static const char *role_path(struct service_client *client, const char *room, const char *role,
			     const char *after, struct fault *fault)
{
	return room_path(client, "/v2/room-codes/room/", room,
			 service_client_path(client, "/role/", role, after), fault);
}

int command_code_add(const struct command *command, int argc, char **argv)
{
	struct client_options options = { 0 };
	const char *operands[2] = { NULL }; /* ROOM, ROLE */
	const char *expires_at = NULL, *not_before = NULL, *user_id = NULL, *name = NULL;
	const char *label = NULL, *code = NULL, *path = NULL;
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
		JSON_ROW(&options.wants_json),
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	struct service_reply answer;
	const json_t *body = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	/* clang-format off */
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
	/* clang-format on */

	is_done = service_client_open(command, &options, &client, &fault) &&
		  (body = service_client_body(&client, members, sizeof members / sizeof members[0],
					      &fault)) != NULL &&
		  (path = role_path(&client, operands[0], operands[1], "", &fault)) != NULL &&
		  service_client_post(&client, path, body, &answer, &fault);
	if (is_done)
		table_print_answer(&answer, columns, options.wants_json);
	return service_client_close(&client, is_done, &fault);
}

int command_code_rotate(const struct command *command, int argc, char **argv)
{
	struct client_options options = { 0 };
	const char *operands[2] = { NULL }; /* ROOM, ROLE */
	const char *path = NULL;
	struct service_member member;
	int64_t grace = 0;
	const struct option_row rows[] = {
		{ "grace", "DURATION", "how long the codes before stay valid; else not at all",
		  TO_DURATION(&grace) },
		JSON_ROW(&options.wants_json),
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	struct service_reply answer;
	const json_t *body = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	member = (struct service_member){ "grace_seconds", .number = grace };
	is_done = service_client_open(command, &options, &client, &fault) &&
		  (body = service_client_body(&client, &member, 1, &fault)) != NULL &&
		  (path = role_path(&client, operands[0], operands[1], "/rotate", &fault)) !=
			  NULL &&
		  service_client_post(&client, path, body, &answer, &fault);
	if (is_done)
		table_print_answer(&answer, columns, options.wants_json);
	return service_client_close(&client, is_done, &fault);
}

/* ---- list ---- */

int command_code_list(const struct command *command, int argc, char **argv)
{
	struct client_options options = { 0 };
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
		JSON_ROW(&options.wants_json),
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &room);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	struct buffer filters;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(command, &options, &client, &fault) &&
		  (path = room_path(&client, "/v2/room-codes/room/", room, "", &fault)) != NULL;
	if (is_done) {
		filters = BUFFER_INITIAL(client.arena);
		buffer_append_text(&filters, path);
		text_append_parameter(&filters, "state", state);
		text_append_parameter(&filters, "role", role);
		text_append_parameter(&filters, "user_id", user_id);
		text_append_parameter(&filters, "label", label);
		buffer_append_byte(&filters, '\0');
		is_done = table_print_list(&client, filters.data, most, columns, options.wants_json,
					   &fault);
	}
	return service_client_close(&client, is_done, &fault);
}

/* ---- one code ---- */

static const char *code_path(struct service_client *client, const char *code, struct fault *fault)
{
	(void)fault;
	return service_client_path(client, "/v2/room-codes/code/", code, "");
}

int command_code_show(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_SHOW, code_path, columns);
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
	struct client_options options = { 0 };
	const char *code = NULL, *link = NULL;
	bool wants_qr = false;
	const struct option_row rows[] = {
		{ "qr", NULL, "shows the link as a QR code too", TO_SWITCH(&wants_qr) },
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &code);
	struct fault fault = FAULT_INITIAL;
	struct slice lines = SLICE("");
	struct service_client client;
	struct service_reply answer;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(command, &options, &client, &fault) &&
		  service_client_get(
			  &client,
			  service_client_path(&client, "/v2/room-codes/code/", code, "?view=link"),
			  &answer, &fault);
	if (is_done) {
		link = json_string_value(json_object_get(answer.json, "join_url"));
		is_done = link != NULL || fault_cause(&fault, FAULT_INTERNAL, 0,
						      "the service gives no links: it is older "
						      "than this program");
	}
	if (is_done && (!wants_qr || qr_of(&client, link, &lines, &fault)))
		printf("%.*s%s\n", (int)lines.size, lines.data, link);
	else
		is_done = false;
	return service_client_close(&client, is_done, &fault);
}

int command_code_enable(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_ENABLE, code_path, columns);
}

int command_code_disable(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_DISABLE, code_path, columns);
}

int command_code_delete(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_DELETE, code_path, NULL);
}
