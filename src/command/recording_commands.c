/* anteroom recording link, download, delete, purge and test, which make more than one request to a
 * running service. The other commands of recordings are rows in client_commands.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "command/command.h"
#include "command/service_client.h"
#include "rules/start_rules.h"

/* A test of the whole way: a look every second, so many times. */
#define TEST_LOOKS 180

static bool get(struct service_client *client, const char *path, struct service_reply *answer,
		struct fault *fault)
{
	return service_client_call(client, METHOD_GET, path, NULL, answer, fault);
}

/* Returns the path of a recording, or of one of its files, with this behind it. */
static const char *path_of(struct service_client *client, const char *before, const char *id,
			   const char *behind)
{
	struct buffer path = BUFFER_INITIAL(client->arena);

	buffer_append_text(&path, before);
	text_encode(&path, slice_of(id));
	buffer_append_text(&path, behind);
	buffer_append_byte(&path, '\0');
	return path.data;
}

#define RECORDINGS "/v2/recordings/"
#define ASSETS "/v2/recording-assets/"

static const char *member_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text == NULL ? "" : text;
}

/* Returns the files of a recording; NULL with a fault if there are none. */
static const json_t *files_of(struct service_client *client, const char *recording,
			      struct fault *fault)
{
	struct service_reply answer;
	const json_t *files;

	if (!get(client, path_of(client, RECORDINGS, recording, ""), &answer, fault))
		return NULL;
	files = json_object_get(answer.json, "recording_assets");
	if (json_array_size(files) > 0)
		return files;
	fault_set(fault, FAULT_NOT_FOUND, "the recording has no files; its status is %s",
		  member_of(answer.json, "status"));
	return NULL;
}

/* Returns the first file with the picture and sound of a recording, or else the first one. */
static const json_t *main_file(const json_t *files)
{
	for (size_t i = 0; i < json_array_size(files); i++) {
		if (strcmp(member_of(json_array_get(files, i), "type"), "room-composite") == 0)
			return json_array_get(files, i);
	}
	return json_array_get(files, 0);
}

/* Returns a link to a file; NULL with a fault if there is none. seconds: 0 for the usual time. */
static const char *link_to(struct service_client *client, const json_t *file, unsigned seconds,
			   struct fault *fault)
{
	const struct service_member query = { "presign_duration", .number = seconds };
	const char *path = path_of(client, ASSETS, member_of(file, "id"), "/presigned-url");
	struct service_reply answer;

	if (!get(client, service_client_query(client, path, &query, 1), &answer, fault))
		return NULL;
	return member_of(answer.json, "url");
}

/* ---- link ---- */

/* Prints the links to all files, that to the main one last. */
static bool print_links(struct service_client *client, const char *recording, unsigned seconds,
			struct fault *fault)
{
	const json_t *files = files_of(client, recording, fault);
	const json_t *last = main_file(files);

	for (size_t i = 0; files != NULL && i <= json_array_size(files); i++) {
		const json_t *file = i < json_array_size(files) ? json_array_get(files, i) : last;
		const char *link = NULL;

		if (file == last && i < json_array_size(files))
			continue;
		link = link_to(client, file, seconds, fault);
		if (link == NULL)
			return false;
		printf("%s\n", text_visible(client->arena, slice_of(link)).data);
	}
	return files != NULL;
}

int command_recording_link(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *recording = NULL;
	unsigned seconds = 0;
	const struct option_row rows[] = {
		{ "seconds", "N", "how long the links are valid (default: as the template says)",
		  TO_NUMBER(&seconds, LINK_SECONDS_LEAST, LINK_SECONDS_MOST) },
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &recording);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  print_links(&client, recording, seconds, &fault);
	return service_client_close(&client, is_done, &fault);
}

/* ---- download ---- */

/* Saves what the link leads to as a new file, which appears when it is complete. */
static bool save(struct service_client *client, const char *link, const char *name,
		 struct fault *fault)
{
	const char *unfinished = arena_text(client->arena, "%s.part", name);
	struct http_request request = { .method = "GET", .url = link };
	struct http_answer answer = { .status = 0 };
	int file;
	bool is_done;

	if (access(name, F_OK) == 0)
		return fault_cause(fault, FAULT_CONFLICT, 0, "%s already exists", name);
	file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return fault_cause(fault, FAULT_INTERNAL, errno, "cannot create %s", unfinished);
	request.file = fdopen(file, "w");
	if (request.file == NULL) {
		close(file);
		return fault_cause(fault, FAULT_INTERNAL, errno, "cannot open %s", unfinished);
	}
	is_done = http_client_send(client->http, client->arena, &request, &answer, fault);
	if (is_done && answer.status != 200)
		is_done = fault_set(fault, FAULT_INTERNAL, "%d instead of the file", answer.status);
	if (fclose(request.file) != 0 && is_done)
		is_done = fault_cause(fault, FAULT_INTERNAL, errno, "cannot write %s", unfinished);
	if (is_done && rename(unfinished, name) != 0)
		is_done = fault_cause(fault, FAULT_INTERNAL, errno, "cannot create %s", name);
	if (!is_done)
		(void)unlink(unfinished);
	return is_done;
}

int command_recording_download(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *recording = NULL, *name = NULL, *link = NULL;
	const struct option_row rows[] = {
		{ "output", "FILE", "the name of the new file", TO_TEXT(&name) },
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &recording);
	struct fault fault = FAULT_INITIAL;
	const json_t *files = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	if (name == NULL) {
		command_complain(command, "--output is missing");
		return EXIT_WRONG_USE;
	}
	is_done = service_client_open(&client, &fault) &&
		  (files = files_of(&client, recording, &fault)) != NULL &&
		  (link = link_to(&client, main_file(files), LINK_SECONDS_LEAST, &fault)) != NULL &&
		  save(&client, link, name, &fault);
	if (is_done && json_array_size(files) > 1)
		command_remark(command, "the recording has %zu files; this is the first",
			       json_array_size(files));
	return service_client_close(&client, is_done, &fault);
}

/* ---- delete ---- */

static bool delete_files(struct service_client *client, const json_t *files, struct fault *fault)
{
	struct service_reply answer;

	for (size_t i = 0; i < json_array_size(files); i++) {
		const char *id = member_of(json_array_get(files, i), "id");

		if (!service_client_call(client, METHOD_DELETE, path_of(client, ASSETS, id, ""),
					 NULL, &answer, fault))
			return false;
	}
	return true;
}

int command_recording_delete(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *recording = NULL;
	const struct option_row rows[] = { CLIENT_ROWS(&client) };
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &recording);
	struct fault fault = FAULT_INITIAL;
	const json_t *files = NULL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  (files = files_of(&client, recording, &fault)) != NULL &&
		  delete_files(&client, files, &fault);
	return service_client_close(&client, is_done, &fault);
}

/* ---- purge ---- */

/* Returns true if the user agrees. */
static bool user_agrees(const char *what)
{
	char answer[8] = "";

	fprintf(stderr, "Delete %s? [y/N] ", what);
	return fgets(answer, sizeof answer, stdin) != NULL &&
	       (strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0);
}

static bool purge_file(struct service_client *client, const char *path, bool is_sure,
		       struct fault *fault)
{
	json_t *body = arena_json(client->arena, json_pack("{s:s}", "path", path));
	struct service_reply answer;

	if (!is_sure && !user_agrees(path))
		return true;
	return service_client_call(client, METHOD_POST, ASSETS "purge", body, &answer, fault);
}

static bool purge_all(struct service_client *client, bool is_sure, struct fault *fault)
{
	struct service_reply answer;
	const json_t *files;

	if (!get(client, ASSETS "orphans", &answer, fault))
		return false;
	files = json_object_get(answer.json, "data");
	for (size_t i = 0; i < json_array_size(files); i++) {
		if (!purge_file(client, member_of(json_array_get(files, i), "path"), is_sure,
				fault))
			return false;
	}
	command_remark(client->command, "%zu files have no record", json_array_size(files));
	return true;
}

int command_recording_purge(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *path = NULL;
	bool is_all = false, is_sure = false;
	const struct option_row rows[] = {
		{ "all", NULL, "deletes all files of the account that no record knows",
		  TO_SWITCH(&is_all) },
		{ "yes", NULL, "does not ask before each file", TO_SWITCH(&is_sure) },
		CLIENT_ROWS(&client),
	};
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &path);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	if ((path == NULL) != is_all) {
		command_complain(command, "give either FILE or --all");
		return EXIT_WRONG_USE;
	}
	is_done = service_client_open(&client, &fault) &&
		  (is_all ? purge_all(&client, is_sure, &fault)
			  : purge_file(&client, path, is_sure, &fault));
	return service_client_close(&client, is_done, &fault);
}

/* ---- test ---- */

/* Waits until the recording has ended. *ended is the recording then. */
static bool wait_for_end(struct service_client *client, const char *recording, json_t **ended,
			 struct fault *fault)
{
	const char *path = path_of(client, RECORDINGS, recording, "");
	const char *shown = "";
	struct service_reply answer;

	for (int i = 0; i < TEST_LOOKS; i++) {
		const char *status;

		if (!get(client, path, &answer, fault))
			return false;
		status = member_of(answer.json, "status");
		if (strcmp(status, shown) != 0)
			command_remark(client->command, "%s", status);
		shown = status;
		*ended = answer.json;
		if (strcmp(status, "completed") == 0 || strcmp(status, "failed") == 0)
			return true;
		(void)poll(NULL, 0, 1000);
	}
	return fault_set(fault, FAULT_INTERNAL, "the recording is still %s after %d seconds", shown,
			 TEST_LOOKS);
}

static bool test_room(struct service_client *client, const char *room, struct fault *fault)
{
	const char *path = path_of(client, "/v2/recordings/room/", room, "/start");
	json_t *body = arena_json(client->arena, json_pack("{s:b}", "test", 1)), *ended = NULL;
	const json_t *files, *file;
	struct service_reply answer;

	if (!service_client_call(client, METHOD_POST, path, body, &answer, fault) ||
	    !wait_for_end(client, member_of(answer.json, "id"), &ended, fault))
		return false;
	if (strcmp(member_of(ended, "status"), "completed") != 0)
		return fault_set(fault, FAULT_INTERNAL, "%s: %s", member_of(ended, "reason"),
				 member_of(ended, "error"));
	files = json_object_get(ended, "recording_assets");
	file = main_file(files);
	printf("%lld s recorded, %lld bytes\n",
	       (long long)json_integer_value(json_object_get(ended, "recorded_seconds")),
	       (long long)json_integer_value(json_object_get(file, "size")));
	return delete_files(client, files, fault);
}

int command_recording_test(const struct command *command, int argc, char **argv)
{
	struct service_client client = { .command = command };
	const char *room = NULL;
	const struct option_row rows[] = { CLIENT_ROWS(&client) };
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &room);
	struct fault fault = FAULT_INITIAL;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	is_done = service_client_open(&client, &fault) &&
		  (room = service_client_id(&client, CLIENT_ROOM, room, &fault)) != NULL &&
		  test_room(&client, room, &fault);
	return service_client_close(&client, is_done, &fault);
}
