/* Saying on stderr how far long work is. Nothing is said of work that takes less than a second; a
 * terminal gets one line that is written again and again, anything else a line now and then.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_PROGRESS_H
#define COMMAND_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "command/command.h"

struct progress {
	const struct command *command;
	const char *what; /* "records read" */
	int64_t began, next; /* clock_monotonic */
	bool is_terminal, is_shown;
};

void progress_begin(struct progress *progress, const struct command *command, const char *what);
/* all 0: nobody knows how many there will be. Cheap to call for each of many. */
void progress_show(struct progress *progress, uint64_t done, uint64_t all);
/* Before anything else is printed. */
void progress_end(struct progress *progress);

#endif
