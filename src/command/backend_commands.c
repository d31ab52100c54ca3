/* anteroom backend add, set and drain, which are more than one request with options. The other
 * commands for media servers are rows in client_commands.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "command/command.h"
#include "command/service_client.h"
#include "command/table.h"
#include "rules/media_rules.h"

#define BACKENDS "/v2/backends"
/* Bytes of a line of a file with secrets. */
#define LINE_MOST 4096
#define EXAMPLE_SECRET "api_secret=..."

/* The operands of backend add before MEMBER=VALUE. */
static const char *const first_members[] = { "name", "type", "url" };
#define FIRST_MEMBERS (sizeof first_members / sizeof first_members[0])

/* ---- members ---- */

static json_t *value_of(const struct field *field, struct slice text)
{
	int64_t number;

	if (text.size == 0)
		return json_null();
	if (field != NULL && field->kind == KIND_BOOLEAN &&
	    (slice_is(text, "true") || slice_is(text, "false")))
		return json_boolean(slice_is(text, "true"));
	if (field != NULL && field->kind == KIND_INTEGER && text_integer(text, &number))
		return json_integer(number);
	return json_stringn(text.data, text.size);
}

/* Adds MEMBER=VALUE to the body: to config, unless it is a member of the backend itself. */
static bool add_member(struct service_client *client, struct slice word, bool is_of_file,
		       json_t *body, struct fault *fault)
{
	const struct shape *settings = shape_field(&backend_shape, "config")->shape;
	const char *equals = memchr(word.data, '=', word.size);
	const struct field *field;
	struct slice value;
	const char *name;
	json_t *config;

	if (!text_is_utf8(word))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "a value is not UTF-8");
	if (equals == NULL || equals == word.data)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   is_of_file ? "a line of the file is not MEMBER=VALUE"
					      : "\"%.*s\" is not MEMBER=VALUE",
				   (int)word.size, word.data);
	name = arena_text(client->arena, "%.*s", (int)(equals - word.data), word.data);
	value = (struct slice){ equals + 1, word.size - (size_t)(equals + 1 - word.data) };
	if (!is_of_file && backend_member_is_secret(name))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s is a secret, which others could see on the command line; "
				   "use --secrets FILE",
				   name);
	field = strcmp(name, "config") == 0 ? NULL : shape_field(&backend_shape, name);
	if (field != NULL) {
		object_put(body, name, value_of(field, value));
		return true;
	}
	config = json_object_get(body, "config");
	if (config == NULL) {
		config = json_object();
		object_put(body, "config", config);
	}
	object_put(config, name, value_of(shape_field(settings, name), value));
	return true;
}

static bool add_secrets(struct service_client *client, const char *path, json_t *body,
			struct fault *fault)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char line[LINE_MOST];
	bool is_done = true;

	if (file == NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot open %s", path);
	while (is_done && fgets(line, sizeof line, file) != NULL) {
		const struct slice word = text_trim(slice_of(line), TEXT_BLANKS "\r\n");

		if (word.size > 0 && word.data[0] != '#')
			is_done = add_member(client, arena_copy(client->arena, word), true, body,
					     fault);
	}
	if (is_done && ferror(file))
		is_done = fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot read %s", path);
	if (file != stdin)
		fclose(file);
	return is_done;
}

/* ---- the commands ---- */

/* Returns the path of a backend, which may be an ID or a name; NULL with a fault if it does not
 * exist. */
static const char *backend_path(struct service_client *client, const char *backend,
				struct fault *fault)
{
	const char *id = service_client_id(client, CLIENT_BACKEND, backend, fault);

	return id == NULL ? NULL : arena_text(client->arena, BACKENDS "/%s", id);
}

/* anteroom backend add NAME TYPE URL [MEMBER=VALUE]..., and set NAME [MEMBER=VALUE]... */
int command_backend_write(const struct command *command, int argc, char **argv)
{
	const bool adds = strcmp(command->name, "backend add") == 0;
	const size_t before = adds ? FIRST_MEMBERS : 1;
	const char *operands[FIRST_MEMBERS + OPERANDS_REPEATED_MOST + 1] = { NULL };
	struct service_client client = { .command = command };
	const char *path = BACKENDS, *secrets = NULL;
	const struct option_row rows[] = {
		{ "secrets", "FILE",
		  "a file with lines such as " EXAMPLE_SECRET " (- for standard input)",
		  TO_TEXT(&secrets) },
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, operands);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	json_t *body;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault);
	body = is_done ? arena_json(client.arena, json_object()) : NULL;
	for (size_t i = 0; is_done && adds && i < FIRST_MEMBERS; i++) {
		is_done = text_is_utf8(slice_of(operands[i])) ||
			  fault_cause(&fault, FAULT_BAD_REQUEST, 0, "the %s is not UTF-8",
				      first_members[i]);
		if (is_done)
			object_put(body, first_members[i], json_string(operands[i]));
	}
	for (size_t i = before; is_done && operands[i] != NULL; i++)
		is_done = add_member(&client, slice_of(operands[i]), false, body, &fault);
	is_done = is_done && (secrets == NULL || add_secrets(&client, secrets, body, &fault)) &&
		  (adds || (path = backend_path(&client, operands[0], &fault)) != NULL) &&
		  service_client_call(&client, adds ? METHOD_POST : METHOD_PATCH, path, body,
				      &answer, &fault);
	if (is_done)
		table_print_answer(&client, &answer, table_backend_columns);
	return service_client_close(&client, is_done, &fault);
}

static int64_t load_of(const struct service_reply *answer, const char *member)
{
	return json_integer_value(json_object_get(json_object_get(answer->json, "load"), member));
}

/* The service counts every two seconds, and what it shows may be from before a room was placed: a
 * server is empty if it is shown so for this long. Milliseconds. */
#define EMPTY_FOR 5000

/* Says what is left on the server, where that has changed; with `waits` until it is empty. */
static bool show_progress(struct service_client *client, const char *path, bool waits,
			  struct fault *fault)
{
	int64_t rooms = -1, people = -1, emptied = 0;

	for (;;) {
		const struct arena_mark mark = arena_mark(client->arena);
		struct service_reply answer;

		if (!service_client_call(client, METHOD_GET, path, NULL, &answer, fault))
			return false;
		if (load_of(&answer, "rooms") != rooms || load_of(&answer, "people") != people) {
			rooms = load_of(&answer, "rooms");
			people = load_of(&answer, "people");
			printf("%lld %s, %lld %s\n", (long long)rooms,
			       rooms == 1 ? "room" : "rooms", (long long)people,
			       people == 1 ? "person" : "people");
			(void)fflush(stdout);
		}
		arena_release(client->arena, &mark);
		if (rooms > 0 || people > 0)
			emptied = 0;
		else if (emptied == 0)
			emptied = clock_monotonic();
		if (!waits || (emptied != 0 && clock_monotonic() - emptied >= EMPTY_FOR))
			return true;
		(void)poll(NULL, 0, 1000);
	}
}

int command_backend_drain(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *name = NULL, *path = NULL;
	bool moves = false, waits = false;
	const struct option_row rows[] = {
		{ "move", NULL, "also moves its rooms to other servers of its pool",
		  TO_SWITCH(&moves) },
		{ "wait", NULL, "shows what is left, and ends when it is empty",
		  TO_SWITCH(&waits) },
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	json_t *body;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault);
	body = is_done ? arena_json(client.arena, json_object()) : NULL;
	if (is_done)
		object_put(body, "draining", json_true());
	is_done = is_done && (path = backend_path(&client, name, &fault)) != NULL &&
		  service_client_call(&client, METHOD_PATCH, path, body, &answer, &fault) &&
		  (!moves ||
		   service_client_call(&client, METHOD_POST,
				       arena_text(client.arena, "%s/move", path),
				       arena_json(client.arena, json_object()), &answer, &fault)) &&
		  show_progress(&client, path, waits, &fault);
	return service_client_close(&client, is_done, &fault);
}
