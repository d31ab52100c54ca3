/* The parts of `dump --salvage` and `load` that `backup --salvage` combines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_SALVAGE_H
#define COMMAND_SALVAGE_H

#include <stdint.h>
#include <stdio.h>

#include "command/command.h"

/* Dumps everything that can be read from a data directory; reports and counts the rest. */
bool salvage_dump(const struct command *command, const char *directory, FILE *file, uint64_t *lost,
		  struct fault *fault);

/* Loads a dump into a directory. Prints errors and returns the exit status. */
int salvage_load(const struct command *command, const char *directory, FILE *file);

#endif
