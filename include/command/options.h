/* Options of a command: one table is parsed and printed as help. Values are parsed strictly; errors
 * are reported with the name of the option.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "command/command.h"

enum option_kind {
	OPTION_SWITCH,
	OPTION_TEXT, /* not empty */
	OPTION_DIRECTORY, /* the data directory; see options_parse */
	OPTION_URL, /* of a database, in the place of the data directory */
	OPTION_NUMBER, /* from `least` to `most` */
	OPTION_SCHEDULE, /* durations with commas between them, which may be 0s */
	OPTION_DURATION, /* 90s, 15m, 24h, 7d, from one second to ten years; stored in seconds */
	OPTION_MODE /* octal, 0 to 0777 */
};

/* A row of the table. Values that are not given stay unchanged. */
struct option_row {
	const char *name;
	const char *argument; /* its name in the help; NULL for a switch */
	const char *help;
	enum option_kind kind;
	union {
		bool *is_given;
		const char **text;
		unsigned *number;
		int64_t *seconds;
		struct schedule *schedule;
		mode_t *mode;
	} value;
	unsigned least;
	unsigned most;
};

/* clang-format off */
#define TO_SWITCH(to)              .kind = OPTION_SWITCH, .value.is_given = (to)
#define TO_TEXT(to)                .kind = OPTION_TEXT, .value.text = (to)
#define TO_URL(to)                 .kind = OPTION_URL, .value.text = (to)
#define TO_DIRECTORY(to)           .kind = OPTION_DIRECTORY, .value.text = (to)
#define TO_NUMBER(to, from, up_to) .kind = OPTION_NUMBER, .value.number = (to), \
				   .least = (from), .most = (up_to)
#define TO_DURATION(to)            .kind = OPTION_DURATION, .value.seconds = (to)
#define TO_SCHEDULE(to)            .kind = OPTION_SCHEDULE, .value.schedule = (to)
#define TO_MODE(to)                .kind = OPTION_MODE, .value.mode = (to)

/* Rows of several commands. */
#define DATA_ROW(to) \
	DIRECTORY_ROW(to), STORE_ROW(to)
/* Of commands that know no database. */
#define DIRECTORY_ROW(to) \
	{ "data", "DIR", "the data directory (default: $ANTEROOM_DATA, or /var/lib/anteroom)", \
	  TO_DIRECTORY(to) }
/* Takes the place of a directory: the URL of a database. */
#define STORE_ROW(to) \
	{ "store", "URL", "a database instead of a directory: postgresql://HOST/NAME", TO_URL(to) }
#define JSON_ROW(to) \
	{ "json", NULL, "prints JSON instead of a table", TO_SWITCH(to) }
/* clang-format on */

/* The largest number of rows, not counting --help and --version, which all commands have. */
#define OPTIONS_MOST 32

/* No exit status: the command goes on. */
#define OPTIONS_GO (-1)

/* Returns OPTIONS_GO when the command goes on. Otherwise returns the command's exit status: the
 * help or the version was printed, or a complaint about a wrong word.
 *
 * operands: receives the command's operands but [DIR]; NULL for an omitted one. May be NULL when
 * the command has none.
 *
 * A command with an OPTION_DIRECTORY has an operand [DIR] as well. The directory is that of the
 * option, or the URL of an OPTION_URL with the same value; else the operand, if there are more
 * words than those that are required; else ANTEROOM_DATA in the environment; else
 * /var/lib/anteroom, if it exists; else it is missing. */
int options_parse(const struct command *command, const struct option_row *rows, size_t n, int argc,
		  char **argv, const char **operands);

/* The same with an array, which knows how many rows it has. */
#define OPTIONS_PARSE(command, rows, argc, argv, operands) \
	options_parse(command, rows, sizeof(rows) / sizeof((rows)[0]), argc, argv, operands)

/* Prints "anteroom 1.2.3" and the licence. */
void options_print_version(void);

#endif
