/* Whether the data directory of the service is still where it was opened. A directory that is
 * renamed, replaced or removed under a running service must not be answered from any longer, and
 * what the service writes by path would go into its successor.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_PLACE_H
#define COMMAND_PLACE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct place {
	char *lock; /* path of the store's lock, which this process holds; NULL: none */
	dev_t device;
	ino_t inode;
	int notifications; /* inotify(7); -1: none */
};

/* Of a database: it is always in place. */
#define PLACE_INITIAL ((struct place){ .notifications = -1 })

/* After the store was opened. */
bool place_open(const char *directory, struct place *place, struct fault *fault);
void place_close(struct place *place);

/* Waits for one of the signals, which are blocked; false: the directory is not in place any more.
 * That is noticed at once when the directory or its store is renamed, and within a second in other
 * cases (a renamed parent, another mount). */
bool place_wait(const struct place *place, const sigset_t *signals, int *signal_number);

#endif
