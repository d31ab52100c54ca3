/* Copying a data directory, for `backup` and `restore`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_COPY_H
#define COMMAND_COPY_H

#include "base/fault.h"
#include "command/command.h"

/* Copies accounts and store of `from`, in use or not, to the empty directory `to`, durably and
 * verified against all checksums, and shows progress. After a fault `to` may have contents. */
bool copy_data(const struct command *command, const char *from, const char *to,
	       struct fault *fault);

/* Tells how much is in `to`, which was copied from `from`: "Copied 7 files, 81920 bytes, from ...".
 * verb: its first word. */
void copy_tell(const char *verb, const char *from, const char *to);

#endif
