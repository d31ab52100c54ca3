/* anteroom room add, list, show, enable, disable: calls of a live service.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/text.h"
#include "command/command.h"
#include "command/room_lookup.h"
#include "command/service_client.h"
#include "command/table.h"
#include "command/thing_command.h"

static const char *const columns[] = {
	"id", "enabled", "template", "opens_at", "closes_at", "name", NULL,
};

int command_room_add(const struct command *command, int argc, char **argv)
{
	struct client_options options = { 0 };
	const char *name = NULL, *template_id = NULL, *description = NULL;
	const char *opens_at = NULL, *closes_at = NULL;
	const struct option_row rows[] = {
		{ "template", "ID", "of a template; else the account's default template",
		  TO_TEXT(&template_id) },
		{ "description", "TEXT", "what the room is for", TO_TEXT(&description) },
		{ "opens-at", "TIME", "as in 2026-11-23T09:00:00Z; nobody can join before",
		  TO_TEXT(&opens_at) },
		{ "closes-at", "TIME", "nobody can join from this time on", TO_TEXT(&closes_at) },
		JSON_ROW(&options.wants_json),
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	struct service_reply answer = { .status = 0 };
	const json_t *body = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	/* clang-format off */
	const struct service_member members[] = {
		{ "name", .text = name },
		{ "template_id", .text = template_id },
		{ "description", .text = description },
		{ "opens_at", .text = opens_at },
		{ "closes_at", .text = closes_at },
	};
	/* clang-format on */

	is_done = service_client_open(command, &options, &client, &fault) &&
		  (body = service_client_body(&client, members, sizeof members / sizeof members[0],
					      &fault)) != NULL &&
		  service_client_create(&client, "/v2/rooms", body, &answer, &fault);
	/* "Precondition failed" is of no use to who asked for no precondition. */
	if (!is_done && answer.status == 412 && name != NULL) {
		fault = FAULT_INITIAL;
		fault_set(&fault, FAULT_CONFLICT, "there is a room named \"%s\" already", name);
	}
	if (is_done)
		table_print_answer(&answer, columns, options.wants_json);
	return service_client_close(&client, is_done, &fault);
}

/* ---- list ---- */

int command_room_list(const struct command *command, int argc, char **argv)
{
	struct client_options options = { 0 };
	bool is_enabled = false, is_disabled = false;
	const char *name = NULL;
	unsigned most = 0;
	const struct option_row rows[] = {
		{ "enabled", NULL, "only enabled rooms", TO_SWITCH(&is_enabled) },
		{ "disabled", NULL, "only disabled rooms", TO_SWITCH(&is_disabled) },
		{ "name", "NAME", "only the room of this name", TO_TEXT(&name) },
		LIMIT_ROW(&most),
		JSON_ROW(&options.wants_json),
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	struct buffer path;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	if (is_enabled && is_disabled) {
		command_complain(command, "--enabled and --disabled exclude each other");
		return EXIT_WRONG_USE;
	}
	is_done = service_client_open(command, &options, &client, &fault);
	if (is_done) {
		path = BUFFER_INITIAL(client.arena);
		buffer_append_text(&path, "/v2/rooms");
		text_append_parameter(&path, "name", name);
		text_append_parameter(&path, "enabled",
				      is_enabled    ? "true"
				      : is_disabled ? "false"
						    : NULL);
		buffer_append_byte(&path, '\0');
		is_done = table_print_list(&client, path.data, most, columns, options.wants_json,
					   &fault);
	}
	return service_client_close(&client, is_done, &fault);
}

/* ---- show, enable, disable ---- */

static const char *path_of(struct service_client *client, const char *room, struct fault *fault)
{
	return room_path(client, "/v2/rooms/", room, "", fault);
}

int command_room_show(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_SHOW, path_of, columns);
}

int command_room_enable(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_ENABLE, path_of, columns);
}

int command_room_disable(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_DISABLE, path_of, columns);
}
