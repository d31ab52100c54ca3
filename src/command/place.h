/* Watches whether the data directory of the service is still where it was opened. If a directory is
 * renamed, replaced or removed under a running service, the service must not answer from it any
 * longer, and files that it writes by path would go into the new directory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_PLACE_H
#define COMMAND_PLACE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct place {
	char *lock; /* path of the store's lock, which this process holds; NULL if there is none */
	dev_t device;
	ino_t inode;
	int notifications; /* inotify(7) descriptor; -1 if there is none */
};

/* For a database, which is always in place. */
#define PLACE_INITIAL ((struct place){ .notifications = -1 })

/* Called after the store was opened. */
bool place_open(const char *directory, struct place *place, struct fault *fault);
void place_close(struct place *place);

/* Waits for one of the signals, which are blocked. Returns false if the directory is no longer in
 * place. That is noticed immediately if the directory or its store is renamed, and within a second
 * in other cases (a renamed parent, another mount). Calls `tick` about once a second. */
bool place_wait(const struct place *place, const sigset_t *signals, int *signal_number,
		void (*tick)(void *context), void *context);

#endif
