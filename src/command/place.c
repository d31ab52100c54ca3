/* See command/place.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/place.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/data_directory.h"

/* Milliseconds between two checks for changes that inotify does not report. */
#define PAUSE 1000

/* Returns the path of the lock. is_absolute: from the root, because a relative path follows the
 * working directory when that is renamed. If the working directory cannot be found, the relative
 * path is used. */
static char *lock_path(const char *directory, bool is_absolute)
{
	char here[PATH_MAX] = "";
	char *store = data_directory_store(directory);
	char *path = memory_check(malloc(PATH_MAX));

	if (!is_absolute || directory[0] == '/' || getcwd(here, sizeof here) == NULL)
		here[0] = '\0';
	if (snprintf(path, PATH_MAX, "%s%s%s/lock", here, here[0] == '\0' ? "" : "/", store) >=
	    PATH_MAX)
		(void)snprintf(path, PATH_MAX, "%s/lock", store);
	free(store);
	return path;
}

bool place_open(const char *directory, struct place *place, struct fault *fault)
{
	struct stat status;
	char *store;

	*place = PLACE_INITIAL;
	place->lock = lock_path(directory, true);
	/* A server that has dropped root privileges may be below a directory that it cannot
	 * enter. */
	if (stat(place->lock, &status) != 0 && errno == EACCES) {
		free(place->lock);
		place->lock = lock_path(directory, false);
	}
	if (stat(place->lock, &status) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot examine %s",
				   place->lock);
	place->device = status.st_dev;
	place->inode = status.st_ino;
	/* Without inotify (a limit of the system), the check once a second is enough. */
	store = data_directory_store(directory);
	place->notifications = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (place->notifications >= 0) {
		(void)inotify_add_watch(place->notifications, directory,
					IN_MOVE_SELF | IN_DELETE_SELF);
		(void)inotify_add_watch(place->notifications, store, IN_MOVE_SELF | IN_DELETE_SELF);
	}
	free(store);
	return true;
}

void place_close(struct place *place)
{
	if (place->notifications >= 0)
		close(place->notifications);
	free(place->lock);
}

/* An error that says nothing about the directory is no reason to exit. */
static bool is_in_place(const struct place *place)
{
	struct stat status;

	if (place->lock == NULL)
		return true;
	if (stat(place->lock, &status) != 0)
		return errno != ENOENT && errno != ENOTDIR;
	return status.st_dev == place->device && status.st_ino == place->inode;
}

bool place_wait(const struct place *place, const sigset_t *signals, int *signal_number,
		void (*tick)(void *context), void *context)
{
	/* The descriptor only ends the poll, which ignores -1. */
	int arrival = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	struct pollfd watched[] = {
		{ .fd = arrival, .events = POLLIN },
		{ .fd = place->notifications, .events = POLLIN },
	};
	const struct timespec at_once = { .tv_sec = 0 };
	char notifications[4096];

	while ((*signal_number = sigtimedwait(signals, NULL, &at_once)) <= 0 &&
	       is_in_place(place)) {
		tick(context);
		(void)poll(watched, 2, PAUSE);
		while (place->notifications >= 0 &&
		       read(place->notifications, notifications, sizeof notifications) > 0)
			continue;
	}
	if (arrival >= 0)
		close(arrival);
	return *signal_number > 0;
}
