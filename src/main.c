/* The program: finds the command in a table and runs it. What a command does and which options it
 * has stands with its function (src/command); a new one is declared in command/command.h and gets a
 * row.
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

/* clang-format off */
static const struct command commands[] = {
	{ "serve",           "[DIR]",        "answers what nginx passes on, until it is told to stop", command_serve },
	{ "account add",     "NAME [DIR]", "makes an account and prints its access key and secret", command_account_add },
	{ "account list",    "[DIR]",        "shows all accounts, never a secret", command_account_list },
	{ "account disable", "ACCOUNT [DIR]", "refuses an account's tokens from now on", command_account_switch },
	{ "account enable",  "ACCOUNT [DIR]", "accepts an account's tokens again", command_account_switch },
	{ "account rotate",  "ACCOUNT [DIR]", "gives an account a second secret, or retires the older one", command_account_rotate },
	{ "account set",     "ACCOUNT NAME=VALUE [DIR]", "sets operator, log_joins or client_url of an account", command_account_set },
	{ "account delete",  "ACCOUNT [DIR]", "removes a disabled account and everything that it owns", command_account_delete },
	{ "token",           "ACCOUNT [DIR]", "prints a management token of an account", command_token },
	{ "store create",    "[DIR]",      "makes an empty store, in a directory that has none", command_store_create },
	{ "store upgrade",   NULL,         "brings a store in a database to the version of this program", command_store_upgrade },
	{ "check",           "[DIR]",      "looks at everything that is stored, changing nothing", command_check },
	{ "stat",            "[DIR]",      "says how much is stored, and where", command_stat },
	{ "backup",          "[DIR] DEST", "copies a data directory, while it is in use or not", command_backup },
	{ "restore",         "BACKUP [DIR]", "puts a copy of a backup in the place of a data directory that is not in use", command_restore },
	{ "dump",            "[DIR]",      "writes all that accounts own as JSON lines, secrets included", command_dump },
	{ "load",            "[DIR] [FILE]", "reads a dump into a data directory that is not in use, all or nothing", command_load },
	{ "room add",        "[NAME]",     "makes a room on a live service", command_client },
	{ "room list",       NULL,         "shows the rooms of a live service", command_client },
	{ "room show",       "ROOM",       "shows all members of a room", command_client },
	{ "room enable",     "ROOM",       "lets people into a room again", command_client },
	{ "room disable",    "ROOM",       "lets nobody into a room from now on", command_client },
	{ "code add",        "ROOM ROLE",  "makes a code for a role of a room", command_client },
	{ "code list",       "ROOM",       "shows the codes of a room", command_client },
	{ "code show",       "CODE",       "shows all members of a code", command_client },
	{ "code link",       "CODE",       "prints the link with which people join, and with --qr its QR code", command_code_link },
	{ "code enable",     "CODE",       "accepts a code again", command_client },
	{ "code disable",    "CODE",       "refuses a code from now on", command_client },
	{ "code rotate",     "ROOM ROLE",  "replaces the codes of a role by a new one", command_client },
	{ "code delete",     "CODE",       "removes a code for good", command_client },
	{ "key add",         "NAME SCOPES", "makes a key with scopes such as rooms:write,codes:read", command_client },
	{ "key list",        NULL,         "shows the keys of an account", command_client },
	{ "key remove",      "KEY",        "refuses a key from now on; KEY is its id", command_client },
	{ "openapi",         NULL,         "prints the interface as an OpenAPI document", command_openapi },
};
/* clang-format on */

#define COMMANDS (sizeof commands / sizeof commands[0])

/* How many words of argv name this command: 0, 1 or 2. */
static int words_of(const struct command *command, int argc, char **argv)
{
	const char *space = strchr(command->name, ' ');
	size_t first = space == NULL ? strlen(command->name) : (size_t)(space - command->name);

	if (argc < 2 || strlen(argv[1]) != first || memcmp(argv[1], command->name, first) != 0)
		return 0;
	if (space == NULL)
		return 1;
	return argc > 2 && strcmp(argv[2], space + 1) == 0 ? 2 : 0;
}

/* word: only the commands that begin with it; empty: all. Returns how many there are. */
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
		fprintf(out, "\nanteroom help COMMAND says more about each.\n");
	return n;
}

/* group: the first word, or empty; rest: the second, or NULL. */
static int refuse_command(const char *group, const char *rest)
{
	if (group[0] == '\0')
		fprintf(stderr, "anteroom: say which command\n\n");
	else
		fprintf(stderr, "anteroom: there is no command \"%s%s%s\"\n\n", group,
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
	const char *last = argc < 2 ? "" : argv[argc > 2 ? 2 : 1];
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
 * what is meant for the log would go there. */
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
	/* A limit of the size of files is an error of the write that meets it, and no end of the
	 * process. */
	if (!standard_descriptors_are_open() || !process_forbid_core() ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		return EXIT_FAILURE;
	if (argc == 2 && strcmp(argv[1], SENDER_ARGUMENT) == 0)
		return sender_run();
	for (size_t i = 0; i < COMMANDS; i++) {
		int words = words_of(&commands[i], argc, argv);

		if (words > 0)
			return commands[i].run(&commands[i], argc - words, argv + words);
	}
	return explain_use(argc, argv);
}
