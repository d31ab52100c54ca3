/* anteroom setup-livekit: makes a key, writes the configuration of a LiveKit on this machine,
 * and adds it to the account of the token.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/text.h"
#include "command/command.h"
#include "command/service_client.h"

#define KEY "anteroom"
#define SECRET_BYTES 24
#define PORT 7880
#define MEDIA_TCP 7881
#define MEDIA_UDP 7882

struct setup {
	struct service_client client;
	const char *url; /* of the server, for browsers */
	const char *api_url, *name, *node_ip; /* the options; api_url and node_ip may be NULL */
	const char *file;
	const char *new_file; /* which then takes the name of the file */
	const char *new_directory; /* that was made for it, or NULL */
	char secret[2 * SECRET_BYTES + 1];
};

/* ---- the configuration ---- */

/* Creates the new file, and the directory that it is in, before anything is changed elsewhere. */
static int open_configuration(struct setup *setup, struct fault *fault)
{
	char directory[PATH_MAX];
	int file;

	if (access(setup->file, F_OK) == 0) {
		fault_cause(
			fault, FAULT_CONFLICT, 0,
			"%s already exists; delete it for a new key, or choose another with --config",
			setup->file);
		return -1;
	}
	directory_of(setup->file, directory);
	if (mkdir(directory, 0755) == 0) {
		setup->new_directory = arena_text(setup->client.arena, "%s", directory);
	} else if (errno != EEXIST) {
		fault_cause(fault, FAULT_INTERNAL, errno, "cannot create %s", directory);
		return -1;
	}
	setup->new_file = arena_text(setup->client.arena, "%s.new", setup->file);
	(void)unlink(setup->new_file);
	file = open(setup->new_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		fault_cause(fault, FAULT_INTERNAL, errno, "cannot create %s", setup->new_file);
	return file;
}

static bool write_configuration(struct setup *setup, int file, const char *events_url,
				struct fault *fault)
{
	struct slice text = slice_of(arena_text(
		setup->client.arena,
		"# Written by anteroom setup-livekit.\n"
		"port: %d\n"
		"bind_addresses: [127.0.0.1]\n"
		"rtc:\n"
		"    tcp_port: %d\n"
		"    udp_port: %d\n"
		"    %s: %s\n"
		"keys:\n"
		"    " KEY ": %s\n"
		"# Anteroom creates the rooms, so nobody gets into one that has ended: see anteroom-livekit(7).\n"
		"room:\n"
		"    auto_create: false\n"
		"    enable_remote_unmute: true\n"
		"# Tells Anteroom who is inside: see anteroom-live(7).\n"
		"webhook:\n"
		"    api_key: " KEY "\n"
		"    urls:\n"
		"        - %s\n"
		"    filter_params:\n"
		"        exclude_events: [track_published, track_unpublished]\n"
		"    resource_url_notifier:\n"
		"        max_age: 10m\n"
		"        max_depth: 5000\n",
		PORT, MEDIA_TCP, MEDIA_UDP, setup->node_ip == NULL ? "use_external_ip" : "node_ip",
		setup->node_ip == NULL ? "true" : setup->node_ip, setup->secret, events_url));

	while (text.size > 0) {
		const ssize_t n = write(file, text.data, text.size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_cause(fault, FAULT_INTERNAL, errno, "cannot write %s",
					   setup->new_file);
		text = (struct slice){ text.data + n, text.size - (size_t)n };
	}
	return (fsync(file) == 0 && rename(setup->new_file, setup->file) == 0) ||
	       fault_cause(fault, FAULT_INTERNAL, errno, "cannot write %s", setup->file);
}

/* ---- the media server ---- */

/* Adds the server to the account as its default, or changes the one of this name, which remains in
 * its pool. */
static bool add_server(struct setup *setup, const char **events_url, struct fault *fault)
{
	const struct service_member by_name = { "name", setup->name, 0 };
	struct service_reply reply;
	json_t *body = arena_json(setup->client.arena, json_object()), *config = json_object();
	const char *id;
	const char *path = service_client_query(&setup->client, "/v2/backends", &by_name, 1);

	object_put(body, "name", json_string(setup->name));
	object_put(body, "type", json_string("livekit"));
	object_put(body, "url", json_string(setup->url));
	object_put(body, "api_url",
		   setup->api_url != NULL ? json_string(setup->api_url) : json_null());
	object_put(body, "default", json_true());
	object_put(body, "config", config);
	object_put(config, "api_key", json_string(KEY));
	object_put(config, "api_secret", json_string(setup->secret));
	object_put(config, "create_rooms", json_true());
	if (!service_client_call(&setup->client, METHOD_GET, path, NULL, &reply, fault))
		return false;
	id = json_string_value(
		json_object_get(json_array_get(json_object_get(reply.json, "data"), 0), "id"));
	path = id == NULL ? "/v2/backends" : arena_text(setup->client.arena, "/v2/backends/%s", id);
	if (!service_client_call(&setup->client, id == NULL ? METHOD_POST : METHOD_PATCH, path,
				 body, &reply, fault))
		return false;
	*events_url = json_string_value(json_object_get(reply.json, "events_url"));
	return *events_url != NULL ||
	       fault_cause(fault, FAULT_INTERNAL, 0, "the response has no events_url");
}

/* Checks what becomes a line of the configuration. */
static bool check_setup(const struct setup *setup, struct fault *fault)
{
	const char *const texts[] = { setup->url, setup->api_url, setup->name, setup->node_ip };

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (texts[i] != NULL && !text_is_utf8(slice_of(texts[i])))
			return fault_cause(fault, FAULT_BAD_REQUEST, 0, "\"%s\" is not UTF-8",
					   texts[i]);
	if (setup->node_ip != NULL &&
	    setup->node_ip[strspn(setup->node_ip, "0123456789abcdefABCDEF.:")] != '\0')
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "--node-ip must be an address, got \"%s\"", setup->node_ip);
	return true;
}

int command_setup_livekit(const struct command *command, int argc, char **argv)
{
	struct setup setup = {
		.client = { .command = command },
		.name = "livekit",
		.file = "/etc/anteroom/livekit.yaml",
	};
	const struct option_row rows[] = {
		{ "config", "FILE",
		  "the configuration to write (default: /etc/anteroom/livekit.yaml)",
		  TO_TEXT(&setup.file) },
		{ "name", "NAME", "the name of the media server (default: livekit)",
		  TO_TEXT(&setup.name) },
		{ "api-url", "URL",
		  "where Anteroom reaches it, such as http://127.0.0.1:7880 (default: as browsers)",
		  TO_TEXT(&setup.api_url) },
		{ "node-ip", "ADDRESS",
		  "the address for media (default: LiveKit asks a STUN server)",
		  TO_TEXT(&setup.node_ip) },
		CLIENT_ROWS(&setup.client),
	};
	unsigned char bytes[SECRET_BYTES];
	struct fault fault = FAULT_INITIAL;
	const char *events_url = NULL;
	const int status = OPTIONS_PARSE(command, rows, argc, argv, &setup.url);
	int file = -1;
	bool is_done;

	if (status != OPTIONS_GO)
		return status;
	clock_random(&clock_system, bytes, sizeof bytes);
	text_hex(bytes, sizeof bytes, setup.secret);
	setup.secret[2 * SECRET_BYTES] = '\0';
	is_done = check_setup(&setup, &fault) && service_client_open(&setup.client, &fault) &&
		  (file = open_configuration(&setup, &fault)) >= 0 &&
		  add_server(&setup, &events_url, &fault) &&
		  write_configuration(&setup, file, events_url, &fault);
	if (file >= 0)
		close(file);
	if (is_done)
		printf("LiveKit's configuration is %s, with a new key. LiveKit is the media server \"%s\", the\n"
		       "default of the account, at %s.\n"
		       "\n"
		       "1. Start it: systemctl enable --now anteroom-livekit\n"
		       "   (or livekit-server --config %s)\n"
		       "2. Open in the firewall: TCP 443 for the web server, and for media TCP %d and UDP %d.\n"
		       "3. Let the web server pass %s to http://127.0.0.1:%d: THE CALL in\n"
		       "   anteroom-console(7) has the lines for nginx.\n"
		       "4. Get livekit-client for the call, if it is not there: get-livekit-client.\n",
		       setup.file, setup.name, setup.url, setup.file, MEDIA_TCP, MEDIA_UDP,
		       setup.url, PORT);
	else if (setup.new_file != NULL)
		(void)unlink(setup.new_file);
	if (!is_done && setup.new_directory != NULL)
		(void)rmdir(setup.new_directory);
	return service_client_close(&setup.client, is_done, &fault);
}
