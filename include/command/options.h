/* The options of a command: one table is parsed and also printed as help. Values are parsed
 * strictly; errors name the option.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/slice.h"
#include "command/command.h"

enum option_kind {
	OPTION_SWITCH,
	OPTION_TEXT, /* not empty */
	OPTION_TEXT_OR_NONE, /* the same, but an empty one is as if it were left out */
	OPTION_DIRECTORY, /* the data directory; see options_parse */
	OPTION_URL, /* the URL of a database, in place of the data directory */
	OPTION_NUMBER, /* from `least` to `most` */
	OPTION_SCHEDULE, /* comma-separated durations, which may be 0s */
	OPTION_RANGES, /* ranges of addresses (delivery/address.h) */
	OPTION_DURATION, /* 0s, 90s, 15m, 24h, 7d, `least` seconds to ten years; stored in seconds */
	OPTION_CHOICE, /* one of `choices`; its index is stored */
	OPTION_MODE /* octal, 0 to 0777 */
};

/* A row of the table. The values of options that are not given stay unchanged. */
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
		struct address_ranges *ranges;
		mode_t *mode;
	} value;
	unsigned least;
	unsigned most;
	const char *const *choices; /* ends with NULL */
};

/* clang-format off */
#define TO_SWITCH(to)              .kind = OPTION_SWITCH, .value.is_given = (to)
#define TO_TEXT(to)                .kind = OPTION_TEXT, .value.text = (to)
#define TO_TEXT_OR_NONE(to)        .kind = OPTION_TEXT_OR_NONE, .value.text = (to)
#define TO_URL(to)                 .kind = OPTION_URL, .value.text = (to)
#define TO_DIRECTORY(to)           .kind = OPTION_DIRECTORY, .value.text = (to)
#define TO_NUMBER(to, from, up_to) .kind = OPTION_NUMBER, .value.number = (to), \
				   .least = (from), .most = (up_to)
#define TO_DURATION(to)            .kind = OPTION_DURATION, .value.seconds = (to), .least = 1
#define TO_DURATION_OR_0S(to)      .kind = OPTION_DURATION, .value.seconds = (to)
#define TO_CHOICE(to, of)          .kind = OPTION_CHOICE, .value.number = (to), .choices = (of)
#define TO_SCHEDULE(to)            .kind = OPTION_SCHEDULE, .value.schedule = (to)
#define TO_RANGES(to)              .kind = OPTION_RANGES, .value.ranges = (to)
#define TO_MODE(to)                .kind = OPTION_MODE, .value.mode = (to)

/* Rows that several commands share. */
#define DATA_ROW(to) \
	DIRECTORY_ROW(to), STORE_ROW(to)
/* For commands that do not work on databases. */
#define DIRECTORY_ROW(to) \
	{ "data", "DIR", "the data directory (default: $ANTEROOM_DATA, or /var/lib/anteroom)", \
	  TO_DIRECTORY(to) }
/* The URL of a database, in place of a directory. */
#define STORE_ROW(to) \
	{ "store", "URL", "a database instead of a directory: postgresql://HOST/NAME", TO_URL(to) }
#define JSON_ROW(to) \
	{ "json", NULL, "prints JSON instead of a table", TO_SWITCH(to) }
/* clang-format on */

/* The largest number of rows, not counting --help and --version, which all commands have. */
#define OPTIONS_MOST 32

/* How often the last operand may be repeated. */
#define OPERANDS_REPEATED_MOST 32

/* Not an exit status: the command continues. */
#define OPTIONS_GO (-1)

/* Parses the words of the command. Returns OPTIONS_GO if the command continues. Otherwise it has
 * printed the help, the version, or a complaint about a wrong word, and returns the exit status.
 *
 * operands: receives the command's operands except [DIR]; NULL for each that is omitted. May be
 * NULL if the command has none. If the last one ends in "...", at most OPERANDS_REPEATED_MOST more
 * follow.
 *
 * A command with an OPTION_DIRECTORY also accepts an operand [DIR]. The directory is the value of
 * the option, or of an OPTION_URL with the same target; otherwise the operand, if there are more
 * words than required; otherwise ANTEROOM_DATA from the environment; otherwise /var/lib/anteroom,
 * if it exists; otherwise it is missing. */
int options_parse(const struct command *command, const struct option_row *rows, size_t n, int argc,
		  char **argv, const char **operands);

/* Calls options_parse with an array of rows. */
#define OPTIONS_PARSE(command, rows, argc, argv, operands) \
	options_parse(command, rows, sizeof(rows) / sizeof((rows)[0]), argc, argv, operands)

/* Reads a duration such as 90s or 15m, in seconds, at least `least`. */
bool options_read_duration(struct slice text, int64_t least, int64_t *seconds);

/* Prints "anteroom 1.2.3" and the licence. */
void options_print_version(void);

#endif
