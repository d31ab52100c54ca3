/* The program: finds the command in a table and runs it. What a command does and which options it
 * has is described with its function (src/command). A new command is declared in command/command.h
 * and gets a row here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/options.h"
#include "command/process.h"
#include "delivery/sender.h"
#include "delivery/stream_sender.h"

/* clang-format off */
static const struct command commands[] = {
	{ "serve",           "[DIR]",        "runs the server behind nginx", command_serve },
	{ "account add",     "NAME [DIR]", "creates an account and prints its access key and secret", command_account_add },
	{ "account list",    "[DIR]",        "lists the accounts, without secrets", command_account_list },
	{ "account disable", "ACCOUNT [DIR]", "rejects an account's tokens from now on", command_account_switch },
	{ "account enable",  "ACCOUNT [DIR]", "accepts an account's tokens again", command_account_switch },
	{ "account rotate",  "ACCOUNT [DIR]", "adds a second secret to an account, or retires the older one", command_account_rotate },
	{ "account set",     "ACCOUNT NAME=VALUE [DIR]", "sets an account's operator, log_joins, sessions, live_log, client_url, embed, recordings or recordings_gb", command_account_set },
	{ "account delete",  "ACCOUNT [DIR]", "deletes a disabled account and everything it owns", command_account_delete },
	{ "recorder add",    "NAME [DIR]", "makes the key of a program that records (anteroom record)", command_recorder_add },
	{ "recorder list",   "[DIR]",      "lists the recorders that have a key", command_recorder_list },
	{ "recorder remove", "NAME [DIR]", "removes the key of a recorder", command_recorder_remove },
	{ "token",           "ACCOUNT [DIR]", "prints a management token for an account", command_token },
	{ "store create",    "[DIR]",      "creates an empty store", command_store_create },
	{ "store upgrade",   "[DIR]",      "converts the data of an earlier version", command_store_upgrade },
	{ "check",           "[DIR]",      "verifies all stored data without changing it", command_check },
	{ "stat",            "[DIR]",      "shows how much is stored", command_stat },
	{ "backup",          "[DIR] DEST", "copies a data directory, also while it is in use", command_backup },
	{ "restore",         "BACKUP [DIR]", "replaces a data directory that is not in use with a copy of a backup", command_restore },
	{ "dump",            "[DIR]",      "writes everything as JSON lines, secrets included", command_dump },
	{ "load",            "[DIR] [FILE]", "loads a dump into a data directory that is not in use, all or nothing", command_load },
	{ "room add",        "[NAME]",     "creates a room", command_client },
	{ "room list",       NULL,         "lists the rooms", command_client },
	{ "room show",       "ROOM",       "shows a room", command_client },
	{ "room enable",     "ROOM",       "enables a room", command_client },
	{ "room disable",    "ROOM",       "disables a room: nobody can join it", command_client },
	{ "room end",        "ROOM",       "ends the session of a room for everyone inside", command_client },
	{ "room mute",       "ROOM audio|video", "mutes all people inside a room", command_client },
	{ "peer list",       "ROOM",       "lists the people inside a room", command_client },
	{ "peer role",       "ROOM PEER ROLE", "gives a person inside another role; PEER is the ID from the list", command_client },
	{ "peer mute",       "ROOM PEER audio|video|screen", "mutes what a person inside publishes", command_client },
	{ "peer unmute",     "ROOM PEER audio|video|screen", "unmutes it, if the media server allows that", command_client },
	{ "peer hand",       "ROOM PEER up|down", "raises or lowers the hand of a person inside", command_client },
	{ "peer lower",      "ROOM",       "lowers the hands of all people inside a room", command_client },
	{ "peer remove",     "ROOM PEER",  "puts a person out of a room", command_client },
	{ "door list",       "ROOM",       "lists who waits to be let into a room", command_client },
	{ "door admit",      "ROOM all|TICKETS", "lets in everyone who waits, or those with these IDs, separated by commas", command_client },
	{ "door deny",       "ROOM TICKET", "denies a person who waits; TICKET is the ID from the list", command_client },
	{ "door denied",     "ROOM",       "lists who was denied less than ten minutes ago", command_client },
	{ "door allow",      "ROOM TICKET", "takes back a denial; TICKET is the ID from that list", command_client },
	{ "door set",        "ROOM open|ask|locked|roles", "opens or locks the door of a room, or has everyone wait", command_client },
	{ "code add",        "ROOM ROLE",  "creates a code for a role of a room", command_client },
	{ "code list",       "ROOM",       "lists the codes of a room", command_client },
	{ "code show",       "CODE",       "shows a code", command_client },
	{ "code link",       "CODE",       "prints the join link of a code; with --qr also as a QR code", command_code_link },
	{ "code enable",     "CODE",       "enables a code", command_client },
	{ "code disable",    "CODE",       "disables a code", command_client },
	{ "code rotate",     "ROOM ROLE",  "replaces the codes of a role with a new one", command_client },
	{ "code delete",     "CODE",       "deletes a code", command_client },
	{ "key add",         "NAME SCOPES", "creates an API key with scopes such as rooms:write,codes:read", command_client },
	{ "key list",        NULL,         "lists the API keys", command_client },
	{ "key remove",      "KEY",        "deletes an API key; KEY is its ID", command_client },
	{ "ban add",         NULL,         "bans a person or a code from a room, or from all rooms", command_client },
	{ "ban list",        NULL,         "lists the bans, newest first", command_client },
	{ "ban remove",      "BAN",        "lifts a ban; BAN is its ID", command_client },
	{ "backend list",    NULL,         "lists the media servers, newest first", command_client },
	{ "backend add",     "NAME TYPE URL [MEMBER=VALUE]...", "adds a media server", command_backend_write },
	{ "backend set",     "NAME [MEMBER=VALUE]...", "changes a media server", command_backend_write },
	{ "backend test",    "NAME",       "asks a media server whether it answers", command_client },
	{ "backend drain",   "NAME",       "gives a media server no new rooms", command_backend_drain },
	{ "backend undrain", "NAME",       "gives a media server new rooms again", command_client },
	{ "backend move",    "NAME",       "moves the rooms of a media server that drains to others of its pool", command_client },
	{ "backend remove",  "NAME",       "removes a media server", command_client },
	{ "session list",    NULL,         "lists sessions, the meetings in rooms, newest first", command_client },
	{ "session show",    "SESSION",    "shows a session and who was in it", command_client },
	{ "session attendance", "SESSION", "prints a session's attendance as CSV, a line for each person", command_client },
	{ "recording list",  NULL,         "lists recordings, newest first", command_client },
	{ "recording show",  "RECORDING",  "shows a recording and its files", command_client },
	{ "recording start", "ROOM",       "starts a recording of a room", command_client },
	{ "recording stop",  "ROOM",       "stops the recording of a room", command_client },
	{ "recording pause", "ROOM",       "pauses the recording of a room", command_client },
	{ "recording resume", "ROOM",      "resumes the recording of a room", command_client },
	{ "recording link",  "RECORDING",  "prints links to the files of a recording, the main one last", command_recording_link },
	{ "recording download", "RECORDING", "saves the file of a recording", command_recording_download },
	{ "recording delete", "RECORDING", "deletes all files of a recording", command_recording_delete },
	{ "recording join",  "RECORDING",  "has what is left of a failed recording joined", command_client },
	{ "recording adopt", "FILE",       "makes the record of a finished file that no record knows", command_client },
	{ "recording purge", "[FILE]",     "deletes a finished file that no record knows, or all with --all", command_recording_purge },
	{ "recording test",  "ROOM",       "records a test picture for ten seconds, and says what came of it", command_recording_test },
	{ "stream live start", "ROOM",     "starts a live stream of a room", command_client },
	{ "stream live stop", "ROOM",      "stops the live stream of a room", command_client },
	{ "stream live list", NULL,        "lists live streams, newest first", command_client },
	{ "stream live show", "STREAM",    "shows a live stream and its files", command_client },
	{ "stream external start", "ROOM", "streams a room to RTMP servers", command_client },
	{ "stream external stop", "ROOM",  "stops the external streams of a room", command_client },
	{ "stream external list", NULL,    "lists external streams, newest first", command_client },
	{ "stream external show", "STREAM", "shows an external stream and its outputs", command_client },
	{ "usage",           NULL,         "shows sessions, people and minutes by day", command_client },
	{ "record",          NULL,         "runs a recorder, which records calls for a service", command_record },
	{ "setup-livekit",   "URL",        "adds a LiveKit server on this machine, and writes its configuration", command_setup_livekit },
	{ "openapi",         NULL,         "prints the API as an OpenAPI document", command_openapi },
};
/* clang-format on */

#define COMMANDS (sizeof commands / sizeof commands[0])

/* Returns how many words of argv name this command, or 0 if they do not. */
static int words_of(const struct command *command, int argc, char **argv)
{
	const char *name = command->name;
	int words = 0;

	for (;;) {
		const size_t size = strcspn(name, " ");

		if (++words >= argc || strlen(argv[words]) != size ||
		    memcmp(argv[words], name, size) != 0)
			return 0;
		if (name[size] == '\0')
			return words;
		name += size + 1;
	}
}

/* word: prints only the commands that begin with it; all if it is empty. Returns their number. */
static size_t print_commands(FILE *out, const char *word)
{
	const size_t size = strlen(word);
	size_t n = 0;

	for (size_t i = 0; i < COMMANDS; i++) {
		const struct command *command = &commands[i];
		const char *operand = command->operand == NULL ? "" : command->operand;

		if (strncmp(command->name, word, size) != 0 ||
		    (size > 0 && command->name[size] != ' '))
			continue;
		if (n++ == 0)
			fprintf(out, "Usage: anteroom COMMAND [OPTION]...\n\n");
		fprintf(out, "  anteroom %s %-*s %s\n", command->name,
			(int)(30 - strlen(command->name)), operand, command->help);
	}
	if (n > 0)
		fprintf(out, "\nRun \"anteroom help COMMAND\" for details.\n");
	return n;
}

/* group: the first word, or empty; rest: the second, or NULL. */
static int refuse_command(const char *group, const char *rest)
{
	if (group[0] == '\0')
		fprintf(stderr, "anteroom: which command?\n\n");
	else
		fprintf(stderr, "anteroom: unknown command \"%s%s%s\"\n\n", group,
			rest == NULL ? "" : " ", rest == NULL ? "" : rest);
	if (print_commands(stderr, group) == 0)
		(void)print_commands(stderr, "");
	return EXIT_WRONG_USE;
}

static bool is_one_of(const char *word, const char *brief, const char *whole)
{
	return strcmp(word, brief) == 0 || strcmp(word, whole) == 0;
}

/* argv: the words that follow `help`. */
static int run_help(int argc, char **argv)
{
	char option[] = "--help";

	for (size_t i = 0; i < COMMANDS; i++) {
		/* words_of passes over the first word. */
		int words = words_of(&commands[i], argc + 1, argv - 1);

		if (words > 0 && words == argc)
			return commands[i].run(&commands[i], 2,
					       (char *[]){ argv[words - 1], option, NULL });
	}
	if (argc < 2 && print_commands(stdout, argc == 0 ? "" : argv[0]) > 0)
		return command_printed(NULL);
	return refuse_command(argv[0], argc > 1 ? argv[1] : NULL);
}

/* No command was found: asked for help, or wrong use. */
static int explain_use(int argc, char **argv)
{
	const char *last = argc < 2 ? "" : argv[argc > 3 ? 3 : argc - 1];
	const char *group = argc < 2 || argv[1][0] == '-' ? "" : argv[1];

	if (argc > 1 && strcmp(argv[1], "help") == 0)
		return run_help(argc - 2, argv + 2);
	if (is_one_of(last, "-V", "--version")) {
		options_print_version();
		return command_printed(NULL);
	}
	if (is_one_of(last, "-h", "--help") && print_commands(stdout, group) > 0)
		return command_printed(NULL);
	return refuse_command(group, argc > 2 ? argv[2] : NULL);
}

/* A file or a socket must never get the number of a standard descriptor that happens to be closed:
 * log lines would be written into it. */
static bool standard_descriptors_are_open(void)
{
	int descriptor;

	do {
		descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (descriptor >= 0 && descriptor <= STDERR_FILENO);
	if (descriptor < 0)
		return false;
	close(descriptor);
	return true;
}

int main(int argc, char **argv)
{
	/* Exceeding the file size limit is an error of the write, and must not end the process. */
	if (!standard_descriptors_are_open() || !process_forbid_core() ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		return EXIT_FAILURE;
	if (sender_is_asked_for(argc, argv))
		return sender_run(argv[1]);
	if (stream_sender_is_asked_for(argc, argv))
		return stream_sender_run();
	for (size_t i = 0; i < COMMANDS; i++) {
		int words = words_of(&commands[i], argc, argv);

		if (words > 0)
			return commands[i].run(&commands[i], argc - words, argv + words);
	}
	return explain_use(argc, argv);
}
