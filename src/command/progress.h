/* Shows the progress of long work on stderr. Nothing is printed during the first second. A terminal
 * gets one line that is updated, anything else a line from time to time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_PROGRESS_H
#define COMMAND_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "command/command.h"

struct progress {
	const struct command *command;
	const char *what; /* such as "records read" */
	int64_t began, next; /* clock_monotonic */
	bool is_terminal, is_shown;
};

void progress_begin(struct progress *progress, const struct command *command, const char *what);
/* all: the total, or 0 if it is unknown. Cheap enough to call for each of many items. */
void progress_show(struct progress *progress, uint64_t done, uint64_t all);
/* Must be called before anything else is printed. */
void progress_end(struct progress *progress);

#endif
