/* anteroom backend add, set, test, drain, undrain, move and remove: the media servers of an
 * account, by their names. backend list is a row in client_commands.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "command/command.h"
#include "command/service_client.h"
#include "command/table.h"
#include "rules/media_rules.h"

static const char *const backend_columns[] = {
	"id", "name", "type", "default", "pool", "weight", "region", "draining", "url", NULL,
};
static const char *const test_columns[] = { "state", "milliseconds", "message", NULL };
static const char *const moved_columns[] = { "rooms", NULL };

#define BACKENDS "/v2/backends"
/* Bytes of a line of a file with secrets. */
#define LINE_MOST 4096
#define EXAMPLE_SECRET "api_secret=..."

/* Members of a command line, after the other operands. */
#define OPERANDS_BEFORE 3
struct backend_words {
	const char *operands[OPERANDS_BEFORE + OPERANDS_REPEATED_MOST + 1];
	const char *secrets; /* the file, or NULL */
};

#define SECRETS_ROW(to) \
	{ \
		"secrets", "FILE", \
			"a file with lines such as " EXAMPLE_SECRET " (- for standard input)", \
			TO_TEXT(to) \
	}

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

/* Adds what the words say, after so many operands, and the file with secrets. */
static bool add_members(struct service_client *client, const struct backend_words *words,
			size_t before, json_t *body, struct fault *fault)
{
	for (size_t i = before; words->operands[i] != NULL; i++) {
		if (!add_member(client, slice_of(words->operands[i]), false, body, fault))
			return false;
	}
	return words->secrets == NULL || add_secrets(client, words->secrets, body, fault);
}

/* ---- calls ---- */

/* Returns the path of a backend, which may be an ID or a name, with this behind it; NULL with a
 * fault if it does not exist. */
static const char *path_of(struct service_client *client, const char *name, const char *behind,
			   struct fault *fault)
{
	struct service_list list = service_client_list(client, BACKENDS, 0, fault);
	const char *path = NULL;
	const json_t *item;
	struct id ignored;

	if (id_parse(slice_of(name), &ignored))
		return arena_text(client->arena, BACKENDS "/%s%s", name, behind);
	while (path == NULL && (item = service_client_next(&list)) != NULL) {
		const char *other = json_string_value(json_object_get(item, "name"));
		const char *id = json_string_value(json_object_get(item, "id"));

		if (other != NULL && id != NULL && strcmp(other, name) == 0)
			path = arena_text(client->arena, BACKENDS "/%s%s", id, behind);
	}
	if (path == NULL && fault->kind == FAULT_NONE)
		fault_set(fault, FAULT_NOT_FOUND, "no backend is named \"%s\"", name);
	return path;
}

int command_backend_add(const struct command *command, int argc, char **argv)
{
	static const char *const members[] = { "name", "type", "url" };
	struct service_client client = { .command = command };
	struct backend_words words = { .secrets = NULL };
	const struct option_row rows[] = {
		SECRETS_ROW(&words.secrets),
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, words.operands);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	json_t *body;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault);
	body = is_done ? arena_json(client.arena, json_object()) : NULL;
	for (size_t i = 0; is_done && i < OPERANDS_BEFORE; i++) {
		is_done = text_is_utf8(slice_of(words.operands[i])) ||
			  fault_cause(&fault, FAULT_BAD_REQUEST, 0, "the %s is not UTF-8",
				      members[i]);
		if (is_done)
			object_put(body, members[i], json_string(words.operands[i]));
	}
	is_done = is_done && add_members(&client, &words, OPERANDS_BEFORE, body, &fault) &&
		  service_client_call(&client, METHOD_POST, BACKENDS, body, &answer, &fault);
	if (is_done)
		table_print_answer(&client, &answer, backend_columns);
	return service_client_close(&client, is_done, &fault);
}

int command_backend_set(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	struct backend_words words = { .secrets = NULL };
	const struct option_row rows[] = {
		SECRETS_ROW(&words.secrets),
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, words.operands);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	const char *path = NULL;
	json_t *body;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault);
	body = is_done ? arena_json(client.arena, json_object()) : NULL;
	is_done = is_done && add_members(&client, &words, 1, body, &fault) &&
		  (path = path_of(&client, words.operands[0], "", &fault)) != NULL &&
		  service_client_call(&client, METHOD_PATCH, path, body, &answer, &fault);
	if (is_done)
		table_print_answer(&client, &answer, backend_columns);
	return service_client_close(&client, is_done, &fault);
}

int command_backend_test(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *name = NULL, *path = NULL, *state;
	const struct option_row rows[] = {
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	bool is_done, is_up = true;
	int closed;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  (path = path_of(&client, name, "/test", &fault)) != NULL &&
		  service_client_call(&client, METHOD_POST, path,
				      arena_json(client.arena, json_object()), &answer, &fault);
	if (is_done) {
		state = json_string_value(json_object_get(answer.json, "state"));
		is_up = state != NULL && strcmp(state, "up") == 0;
		table_print_answer(&client, &answer, test_columns);
	}
	closed = service_client_close(&client, is_done, &fault);
	return closed == EXIT_SUCCESS && !is_up ? EXIT_FAILURE : closed;
}

int command_backend_remove(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *name = NULL, *path = NULL;
	const struct option_row rows[] = { CLIENT_ROWS(&client) };
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  (path = path_of(&client, name, "", &fault)) != NULL &&
		  service_client_call(&client, METHOD_DELETE, path, NULL, &answer, &fault);
	return service_client_close(&client, is_done, &fault);
}

/* ---- draining ---- */

static int64_t load_of(const struct service_reply *answer, const char *member)
{
	return json_integer_value(json_object_get(json_object_get(answer->json, "load"), member));
}

/* Says what is left on the server, where that has changed; with `waits` until it is empty. */
static bool show_progress(struct service_client *client, const char *path, bool waits,
			  struct fault *fault)
{
	int64_t rooms = -1, people = -1;

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
		if (!waits || (rooms == 0 && people == 0))
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
	is_done = is_done && (path = path_of(&client, name, "", &fault)) != NULL &&
		  service_client_call(&client, METHOD_PATCH, path, body, &answer, &fault) &&
		  (!moves ||
		   service_client_call(&client, METHOD_POST,
				       arena_text(client.arena, "%s/move", path),
				       arena_json(client.arena, json_object()), &answer, &fault)) &&
		  show_progress(&client, path, waits, &fault);
	return service_client_close(&client, is_done, &fault);
}

int command_backend_undrain(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *name = NULL, *path = NULL;
	const struct option_row rows[] = {
		JSON_ROW(&client.wants_json),
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
		object_put(body, "draining", json_false());
	is_done = is_done && (path = path_of(&client, name, "", &fault)) != NULL &&
		  service_client_call(&client, METHOD_PATCH, path, body, &answer, &fault);
	if (is_done)
		table_print_answer(&client, &answer, backend_columns);
	return service_client_close(&client, is_done, &fault);
}

int command_backend_move(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *name = NULL, *path = NULL;
	const struct option_row rows[] = {
		JSON_ROW(&client.wants_json),
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &name);
	struct fault fault = FAULT_INITIAL;
	struct service_reply answer;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  (path = path_of(&client, name, "/move", &fault)) != NULL &&
		  service_client_call(&client, METHOD_POST, path,
				      arena_json(client.arena, json_object()), &answer, &fault);
	if (is_done)
		table_print_answer(&client, &answer, moved_columns);
	return service_client_close(&client, is_done, &fault);
}
