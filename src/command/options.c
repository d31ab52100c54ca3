/* See command/options.h. Uses getopt_long.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/slice.h"
#include "base/text.h"
#include "background/dispatcher.h"
#include "delivery/address.h"
#include "store/postgres/store_postgres.h"

#define HELP_COLUMN 28
#define DAY ((int64_t)24 * 60 * 60)
#define LONGEST_DURATION (3650 * DAY)

/* Results of getopt_long that are not the index of a row. */
enum { ANSWER_HELP = OPTIONS_MOST, ANSWER_VERSION };

/* ---- values ---- */

static bool wrong_value(const struct command *command, const struct option_row *row,
			const char *text, const char *expected)
{
	command_complain(command, "--%s %s: got \"%s\"", row->name, expected, text);
	return false;
}

static bool parse_text(const struct command *command, const struct option_row *row,
		       const char *text)
{
	if (row->kind == OPTION_TEXT_OR_NONE) {
		*row->value.text = text[0] == '\0' ? NULL : text;
		return true;
	}
	if (row->kind != OPTION_TEXT && *row->value.text != NULL)
		return wrong_value(command, row, text, "specifies the data twice");
	if (row->kind == OPTION_URL && !store_postgres_is_url(text))
		return wrong_value(command, row, text, "must start with postgresql://");
	if (text[0] == '\0')
		return wrong_value(command, row, text, "must not be empty");
	*row->value.text = text;
	return true;
}

static bool parse_number(const struct command *command, const struct option_row *row,
			 const char *text)
{
	int64_t number;
	char expected[80];

	if (!text_integer(slice_of(text), &number) || number < row->least || number > row->most) {
		(void)snprintf(expected, sizeof expected, "must be a whole number from %u to %u",
			       row->least, row->most);
		return wrong_value(command, row, text, expected);
	}
	*row->value.number = (unsigned)number;
	return true;
}

bool options_read_duration(struct slice text, int64_t least, int64_t *seconds)
{
	const struct slice digits = { text.data, text.size > 0 ? text.size - 1 : 0 };
	int64_t number, unit = 0;

	switch (text.size > 0 ? text.data[text.size - 1] : '\0') {
	case 's':
		unit = 1;
		break;
	case 'm':
		unit = 60;
		break;
	case 'h':
		unit = 60 * 60;
		break;
	case 'd':
		unit = DAY;
		break;
	}
	if (unit == 0 || !text_integer(digits, &number) || number < least ||
	    number > LONGEST_DURATION / unit)
		return false;
	*seconds = number * unit;
	return true;
}

static bool parse_schedule(const struct command *command, const struct option_row *row,
			   const char *text)
{
	struct schedule *schedule = row->value.schedule;
	struct slice rest = slice_of(text);

	schedule->count = 0;
	while (rest.data != NULL) {
		if (schedule->count == SCHEDULE_MOST ||
		    !options_read_duration(text_split(rest, ',', &rest), 0,
					   &schedule->seconds[schedule->count++]))
			return wrong_value(command, row, text,
					   "must be 1 to 32 durations such as 5s, 5m or 24h, with "
					   "commas between them");
	}
	return true;
}

static bool parse_choice(const struct command *command, const struct option_row *row,
			 const char *text)
{
	char expected[80] = "must be ";
	size_t size = strlen(expected);

	for (unsigned i = 0; row->choices[i] != NULL; i++) {
		const char *before = i == 0 ? "" : row->choices[i + 1] != NULL ? ", " : " or ";

		if (strcmp(text, row->choices[i]) == 0) {
			*row->value.number = i;
			return true;
		}
		size += (size_t)snprintf(expected + size, sizeof expected - size, "%s%s", before,
					 row->choices[i]);
		assert(size < sizeof expected);
	}
	return wrong_value(command, row, text, expected);
}

static bool parse_mode(const struct command *command, const struct option_row *row,
		       const char *text)
{
	unsigned mode = 0;
	size_t size = strlen(text);
	bool is_octal = size > 0 && size <= 4 && strspn(text, "01234567") == size;

	for (size_t i = 0; is_octal && i < size; i++)
		mode = mode * 8 + (unsigned)(text[i] - '0');
	if (!is_octal || mode > 0777)
		return wrong_value(command, row, text, "must be an octal mode, such as 0660");
	*row->value.mode = (mode_t)mode;
	return true;
}

static bool parse_value(const struct command *command, const struct option_row *row,
			const char *text)
{
	switch (row->kind) {
	case OPTION_SWITCH:
		*row->value.is_given = true;
		return true;
	case OPTION_TEXT:
	case OPTION_TEXT_OR_NONE:
	case OPTION_DIRECTORY:
	case OPTION_URL:
		return parse_text(command, row, text);
	case OPTION_NUMBER:
		return parse_number(command, row, text);
	case OPTION_DURATION:
		return options_read_duration(slice_of(text), row->least, row->value.seconds) ||
		       wrong_value(command, row, text,
				   "must be a whole number followed by s, m, h or d, such as 24h, "
				   "and at most 3650d");
	case OPTION_CHOICE:
		return parse_choice(command, row, text);
	case OPTION_SCHEDULE:
		return parse_schedule(command, row, text);
	case OPTION_RANGES:
		return address_ranges_read(slice_of(text), row->value.ranges) ||
		       wrong_value(command, row, text,
				   "must be 1 to 32 ranges of addresses such as 10.0.0.0/8 or ::1, "
				   "with commas between them");
	case OPTION_MODE:
		return parse_mode(command, row, text);
	}
	return false;
}

/* ---- help ---- */

static void print_option(const char *name, const char *argument, const char *help)
{
	int width = printf("  --%s%s%s", name, argument == NULL ? "" : " ",
			   argument == NULL ? "" : argument);

	if (width >= HELP_COLUMN) {
		printf("\n");
		width = 0;
	}
	printf("%*s%s\n", HELP_COLUMN - width, "", help);
}

void options_print_version(void)
{
	printf("anteroom %s\n"
	       "Licence GPL-3.0-or-later. There is no warranty, as far as the law allows.\n",
	       PACKAGE_VERSION);
}

/* ---- parsing ---- */

#define OPERANDS_MOST 4
#define DIRECTORY_OPERAND "[DIR]"
#define DEFAULT_DIRECTORY "/var/lib/anteroom"

/* The operands of a command, in order. */
struct operands {
	struct slice names[OPERANDS_MOST];
	int n;
	int required; /* number of operands without brackets */
};

static struct operands list_operands(const struct command *command, bool with_directory)
{
	struct slice rest = slice_of(command->operand == NULL ? "" : command->operand);
	struct operands list = { .n = 0 };

	while (rest.size > 0) {
		struct slice name = text_split(rest, ' ', &rest);

		if (!with_directory && slice_is(name, DIRECTORY_OPERAND))
			continue;
		assert(list.n < OPERANDS_MOST);
		list.names[list.n++] = name;
		list.required += name.data[0] != '[';
	}
	return list;
}

/* Returns true if the last operand may be given several times. */
static bool is_repeated(const struct command *command)
{
	return command->operand != NULL && slice_ends(slice_of(command->operand), SLICE("..."));
}

static bool missing_operand(const struct command *command, const struct operands *list, int index)
{
	struct slice name = text_trim(list->names[index], "[]");

	if (slice_is(list->names[index], DIRECTORY_OPERAND))
		command_complain(command,
				 "the data directory is missing: give DIR or --data DIR, or set "
				 "ANTEROOM_DATA; see anteroom %s --help",
				 command->name);
	else
		command_complain(command, "%.*s is missing; see anteroom %s --help", (int)name.size,
				 name.data, command->name);
	return false;
}

/* Assigns the operands, or prints the first missing or unexpected one. */
static bool take_operands(const struct command *command, const struct option_row *directory,
			  int words, char **argv, const char **operands)
{
	bool is_given = directory == NULL || *directory->value.text != NULL;
	struct operands list = list_operands(command, !is_given);
	bool is_word = !is_given && words > list.required;
	int taken = 0;

	if (!is_given && !is_word) {
		const char *usual = getenv("ANTEROOM_DATA");
		struct stat status;

		if (usual == NULL || usual[0] == '\0')
			usual = stat(DEFAULT_DIRECTORY, &status) == 0 ? DEFAULT_DIRECTORY : NULL;
		if (usual == NULL)
			return missing_operand(command, &list, words < list.n ? words : 0);
		*directory->value.text = usual;
	}
	if (!is_word)
		list = list_operands(command, false);
	if (words > list.n && !is_repeated(command)) {
		command_complain(command, "unexpected operand \"%s\"%s; see anteroom %s --help",
				 argv[list.n],
				 directory != NULL && is_given
					 ? ": an option already specifies the data"
					 : "",
				 command->name);
		return false;
	}
	for (int i = 0; i < list.n; i++) {
		const char *word = i < words ? argv[i] : NULL;

		if (word == NULL ? i < list.required : word[0] == '\0')
			return missing_operand(command, &list, i);
		if (slice_is(list.names[i], DIRECTORY_OPERAND))
			*directory->value.text = word;
		else
			operands[taken++] = word;
	}
	if (words - list.n > OPERANDS_REPEATED_MOST) {
		command_complain(command, "there are more than %d operands",
				 list.n + OPERANDS_REPEATED_MOST);
		return false;
	}
	for (int i = list.n; i < words; i++)
		operands[taken++] = argv[i];
	return true;
}

/* Explains an option that getopt rejected. For a word with one dash, getopt has put the letter into
 * optopt and may not have moved past the word. For two dashes it has moved on, and optopt is 0 or
 * the value of a row. */
static int wrong_option(const struct command *command, const char *last, bool is_known)
{
	if (!is_known && (optopt < 0 || optopt > ANSWER_VERSION))
		command_complain(
			command,
			"unknown option -%c: except for -h and -V, options start with two dashes; "
			"see anteroom %s --help",
			optopt, command->name);
	else
		command_complain(
			command,
			is_known
				? "%s needs a value; see anteroom %s --help"
				: "unknown option %s, or it takes no value; see anteroom %s --help",
			last, command->name);
	return EXIT_WRONG_USE;
}

int options_parse(const struct command *command, const struct option_row *rows, size_t n, int argc,
		  char **argv, const char **operands)
{
	struct option table[OPTIONS_MOST + 3] = { { .name = NULL } };
	const struct option_row *directory = NULL;
	int answer;

	assert(n <= OPTIONS_MOST);
	for (size_t i = 0; i < n; i++) {
		table[i].name = rows[i].name;
		table[i].has_arg = rows[i].argument == NULL ? no_argument : required_argument;
		table[i].val = (int)i;
		if (rows[i].kind == OPTION_DIRECTORY)
			directory = &rows[i];
	}
	table[n] = (struct option){ .name = "help", .val = ANSWER_HELP };
	table[n + 1] = (struct option){ .name = "version", .val = ANSWER_VERSION };
	opterr = 0;
	while ((answer = getopt_long(argc, argv, ":hV", table, NULL)) != -1) {
		if (answer == '?' || answer == ':')
			return wrong_option(command, argv[optind - 1], answer == ':');
		if (answer == ANSWER_HELP || answer == 'h') {
			printf("Usage: anteroom %s", command->name);
			if (command->operand != NULL)
				printf(" %s", command->operand);
			printf(" [OPTION]...\n\nanteroom %s %s.\n\n", command->name, command->help);
			for (size_t i = 0; i < n; i++)
				print_option(rows[i].name, rows[i].argument, rows[i].help);
			print_option("help", NULL, "prints this help (-h)");
			print_option("version", NULL, "prints the version (-V)");
			return command_printed(command);
		}
		if (answer == ANSWER_VERSION || answer == 'V') {
			options_print_version();
			return command_printed(command);
		}
		if (!parse_value(command, &rows[answer], optarg))
			return EXIT_WRONG_USE;
	}
	if (!take_operands(command, directory, argc - optind, argv + optind, operands))
		return EXIT_WRONG_USE;
	return OPTIONS_GO;
}
