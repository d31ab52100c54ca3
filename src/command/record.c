/* The command `record`: runs a recorder.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "command/client_settings.h"
#include "command/options.h"
#include "command/process.h"
#include "recorder/recorder.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define HOST_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:,"
#define OPENING 40
#define SILENCE 10

struct record {
	const struct command *command;
	struct arena *arena;
	struct recorder_options options;
	const char *key_file;
	bool checks;
};

/* Takes NAME.SECRET apart. */
static bool take_key(struct record *record, const char *key, struct fault *fault)
{
	const size_t size = strspn(key, NAME_CHARACTERS);

	if (size == 0 || size > RECORDER_NAME_MOST || key[size] != '.' || key[size + 1] == '\0')
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"%s does not contain the key of a recorder, NAME.SECRET; get one "
			"with: anteroom recorder add NAME",
			record->key_file);
	record->options.key = key;
	record->options.name = arena_copy(record->arena, (struct slice){ key, size }).data;
	return true;
}

/* The page needs a secure context: https, or this machine. */
static bool is_secure(const char *url)
{
	struct slice host;
	unsigned port;

	if (text_begins_ignoring_case(slice_of(url), SLICE("https://")))
		return true;
	return text_begins_ignoring_case(slice_of(url), SLICE("http://")) &&
	       text_url_split_port(text_url_authority(slice_of(url)), &host, &port) &&
	       (slice_is(host, "127.0.0.1") || slice_is(host, "localhost") ||
		slice_is(host, "[::1]"));
}

/* ffprobe is beside ffmpeg. */
static const char *find_ffprobe(struct arena *arena, const char *ffmpeg)
{
	const char *slash = ffmpeg == NULL ? NULL : strrchr(ffmpeg, '/');

	return slash == NULL ? NULL
			     : arena_text(arena, "%.*s/ffprobe", (int)(slash - ffmpeg), ffmpeg);
}

static bool check_options(struct record *record, struct fault *fault)
{
	struct recorder_options *options = &record->options;
	struct client_settings settings;

	if (options->url == NULL || record->key_file == NULL || options->folder == NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "--url, --key-file and --folder are required");
	if (options->hosts != NULL &&
	    options->hosts[strspn(options->hosts, HOST_CHARACTERS)] != '\0')
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"--allow-host must be names with commas between them, got \"%s\"",
			options->hosts);
	if (!client_settings_find(record->arena, options->url, record->key_file, &settings, fault))
		return false;
	options->url = settings.url;
	options->ffprobe = find_ffprobe(record->arena, options->ffmpeg);
	return (is_secure(settings.url) ||
		fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"--url must begin with https://, or be on this machine "
			"(http://127.0.0.1), because the page needs a secure context; got \"%s\"",
			settings.url)) &&
	       take_key(record, settings.token, fault);
}

/* Root becomes the owner of the folder: Chromium's sandbox does not work for root. */
static bool drop_root(const struct record *record, struct fault *fault)
{
	const char *folder = record->options.folder;
	struct identity owner;
	struct stat status;

	if (geteuid() != 0)
		return true;
	if (stat(folder, &status) != 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s does not exist; create it, and give it to an ordinary user",
				   folder);
	if (status.st_uid == 0)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"%s belongs to root, for whom Chromium's sandbox does not work; "
			"give it to an ordinary user with chown, as whom the recorder then "
			"runs",
			folder);
	owner = (struct identity){ .user = status.st_uid, .group = status.st_gid };
	return process_become(&owner, fault);
}

static void print_finding(const struct recorder_finding *finding)
{
	printf("%s  %s\n", finding->is_well ? "ok    " : "FAILED", finding->sentence);
	if (finding->remedy[0] != '\0')
		printf("        %s\n", finding->remedy);
	(void)fflush(stdout);
}

static bool run_record(struct record *record, int *status, struct fault *fault)
{
	if (!check_options(record, fault) || !drop_root(record, fault) || !process_harden(fault))
		return false;
	/* The group of the folder may delete what is in it: it is the service's. */
	umask(007);
	if (!record->checks)
		return recorder_run(&record->options, fault);
	*status = recorder_check(&record->options, print_finding) ? command_printed(record->command)
								  : EXIT_FAILURE;
	return true;
}

int command_record(const struct command *command, int argc, char **argv)
{
	struct record record = {
		.command = command,
		.options = { .slots = recorder_slots(), .opening = OPENING, .silence = SILENCE },
	};
	struct recorder_options *options = &record.options;
	const struct option_row rows[] = {
		{ "url", "URL", "the URL of the service: https, or http on this machine",
		  TO_TEXT(&options->url) },
		{ "key-file", "FILE", "a file with the key that `anteroom recorder add` printed",
		  TO_TEXT(&record.key_file) },
		{ "folder", "DIR", "the folder of the recordings", TO_TEXT(&options->folder) },
		{ "slots", "N",
		  "carries out N recordings at a time (default: by the number of processors)",
		  TO_NUMBER(&options->slots, 0, RECORDER_SLOTS_MOST) },
		{ "check", NULL, "looks at all that it needs, records a test picture, and ends",
		  TO_SWITCH(&record.checks) },
		{ "allow-host", "NAMES",
		  "further names that the page may reach, with commas between them",
		  TO_TEXT(&options->hosts) },
		{ "media-allow", "RANGES",
		  "addresses of media servers besides public ones, such as 10.0.0.0/8",
		  TO_RANGES(&options->media_ranges) },
		{ "upload-allow", "RANGES",
		  "addresses of object storage besides public ones, also with http, such as "
		  "10.0.0.0/8",
		  TO_RANGES(&options->upload_ranges) },
		{ "upload-ca", "FILE",
		  "a PEM file with extra certificate authorities for object storage",
		  TO_TEXT(&options->upload_authorities) },
		{ "stream-allow", "RANGES",
		  "addresses to which streams are sent besides public ones, such as 10.0.0.0/8",
		  TO_RANGES(&options->stream_ranges) },
		{ "chromium", "FILE",
		  "the browser (default: chromium-headless-shell or chromium in PATH)",
		  TO_TEXT(&options->chromium) },
		{ "ffmpeg", "FILE", "ffmpeg, with ffprobe beside it (default: in PATH)",
		  TO_TEXT(&options->ffmpeg) },
		{ "opening", "DURATION",
		  "begins again if there is no media so long after the start (default: 40s)",
		  TO_DURATION(&options->opening) },
		{ "silence", "DURATION",
		  "begins again if media is missing for so long (default: 10s)",
		  TO_DURATION(&options->silence) },
	};
	struct fault fault = FAULT_INITIAL;
	int status = OPTIONS_PARSE(command, rows, argc, argv, NULL);

	if (status != OPTIONS_GO)
		return status;
	status = EXIT_SUCCESS;
	record.arena = arena_open();
	if (!run_record(&record, &status, &fault))
		status = command_failed(command, &fault);
	arena_close(record.arena);
	return status;
}
