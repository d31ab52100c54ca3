/* anteroom key add, list, remove: calls of a live service.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "command/command.h"
#include "command/service_client.h"
#include "command/table.h"
#include "command/thing_command.h"

static const char *const columns[] = { "id", "name", "scopes", "expires_at", "created_at", NULL };

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
	struct client_options options = { 0 };
	const char *operands[2] = { NULL }; /* NAME, SCOPES */
	const char *expires_at = NULL;
	const struct option_row rows[] = {
		{ "expires-at", "TIME", "until when it is valid, as in 2026-11-23T09:00:00Z",
		  TO_TEXT(&expires_at) },
		JSON_ROW(&options.wants_json),
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	struct service_reply answer;
	json_t *body = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	/* clang-format off */
	const struct service_member members[] = {
		{ "name", .text = operands[0] },
		{ "expires_at", .text = expires_at },
	};
	/* clang-format on */

	is_done = service_client_open(command, &options, &client, &fault) &&
		  (body = service_client_body(&client, members, sizeof members / sizeof members[0],
					      &fault)) != NULL &&
		  put_scopes(body, operands[1], &fault) &&
		  service_client_post(&client, "/v2/keys", body, &answer, &fault);
	if (is_done)
		table_print_answer(&answer, NULL, options.wants_json);
	if (is_done && json_object_get(answer.json, "key") != NULL)
		command_remark(command, "the key is shown only now: keep it safe");
	return service_client_close(&client, is_done, &fault);
}

int command_key_list(const struct command *command, int argc, char **argv)
{
	struct client_options options = { 0 };
	unsigned most = 0;
	const struct option_row rows[] = {
		LIMIT_ROW(&most),
		JSON_ROW(&options.wants_json),
		CLIENT_ROWS(&options),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);
	struct fault fault = FAULT_INITIAL;
	struct service_client client;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(command, &options, &client, &fault) &&
		  table_print_list(&client, "/v2/keys", most, columns, options.wants_json, &fault);
	return service_client_close(&client, is_done, &fault);
}

static const char *key_path(struct service_client *client, const char *id, struct fault *fault)
{
	(void)fault;
	return service_client_path(client, "/v2/keys/", id, "");
}

int command_key_remove(const struct command *command, int argc, char **argv)
{
	return thing_command(command, argc, argv, THING_DELETE, key_path, NULL);
}
