/* Messages of commands to the user.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

__attribute__((format(printf, 3, 0))) static void say(enum log_level level,
						      const struct command *command,
						      const char *format, va_list arguments)
{
	fprintf(stderr, "%santeroom%s%s: ", log_prefix(level), command == NULL ? "" : " ",
		command == NULL ? "" : command->name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void command_complain(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(LOG_LEVEL_ERROR, command, format, arguments);
	va_end(arguments);
}

void command_remark(const struct command *command, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(LOG_LEVEL_NOTICE, command, format, arguments);
	va_end(arguments);
}

void command_print_details(const struct fault *fault)
{
	for (size_t i = 0; i < json_array_size(fault->details); i++)
		fprintf(stderr, "  %s\n", json_string_value(json_array_get(fault->details, i)));
}

int command_failed(const struct command *command, const struct fault *fault)
{
	if (fault->cause[0] == '\0' && fault->detail[0] != '\0')
		command_complain(command, "%s: %s", fault->message, fault->detail);
	else
		command_complain(command, "%s", fault_reason(fault));
	command_print_details(fault);
	return fault->kind == FAULT_BAD_REQUEST ? EXIT_WRONG_USE : EXIT_FAILURE;
}

int command_printed(const struct command *command)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return EXIT_SUCCESS;
	command_complain(command, "cannot write to standard output: %s", strerror(errno));
	return EXIT_FAILURE;
}
