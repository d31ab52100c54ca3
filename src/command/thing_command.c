/* See command/thing_command.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/thing_command.h"

#include "command/table.h"

static bool act(struct service_client *client, enum thing_action action, const char *path,
		struct service_reply *answer, struct fault *fault)
{
	json_t *body;

	if (action == THING_DELETE)
		return service_client_delete(client, path, fault);
	if (action == THING_SHOW)
		return service_client_get(client, path, answer, fault);
	body = arena_json(client->arena, json_pack("{s:b}", "enabled", action == THING_ENABLE));
	return service_client_post(client, path, body, answer, fault);
}

int thing_command(const struct command *command, int argc, char **argv, enum thing_action action,
		  thing_path *path_of, const char *const *columns)
{
	struct client_options options = { 0 };
	const char *operand = NULL, *path = NULL;
	const struct option_row rows[] = { JSON_ROW(&options.wants_json), CLIENT_ROWS(&options) };
	/* A deletion prints nothing, so it has no --json, the first row. */
	const size_t first = action == THING_DELETE ? 1 : 0;
	const int status = options_parse(
		command, rows + first, sizeof rows / sizeof rows[0] - first, argc, argv, &operand);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	struct service_reply answer;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(command, &options, &client, &fault) &&
		  (path = path_of(&client, operand, &fault)) != NULL &&
		  act(&client, action, path, &answer, &fault);
	if (is_done && action != THING_DELETE)
		table_print_answer(&answer, action == THING_SHOW ? NULL : columns,
				   options.wants_json);
	return service_client_close(&client, is_done, &fault);
}
