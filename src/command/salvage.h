/* What `dump --salvage` and `load` do, for `backup --salvage`, which is the one after the other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_SALVAGE_H
#define COMMAND_SALVAGE_H

#include <stdint.h>
#include <stdio.h>

#include "command/command.h"

/* Writes what can be read of a data directory; tells of each thing that cannot on standard error, and
 * counts them. */
bool salvage_dump(const struct command *command, const char *directory, FILE *file, uint64_t *lost,
		  struct fault *fault);

/* Loads it into a directory. Complains; returns the exit status. */
int salvage_load(const struct command *command, const char *directory, FILE *file);

#endif
