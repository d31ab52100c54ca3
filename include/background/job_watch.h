/* Follows recordings by the clock: jobs whose recorder is lost, that nobody takes, whose room is
 * empty or has ended, that take too long; and removes participants of recorders that must not be in
 * a room any more (resources/recordings/job_merge.h). One thread of the process that holds the
 * lease. It looks only at jobs that are due, each in a transaction of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_JOB_WATCH_H
#define BACKGROUND_JOB_WATCH_H

#include "background/lease.h"
#include "resources/call.h"

struct job_watch;

/* Starts the thread. */
struct job_watch *job_watch_open(const struct environment *environment, struct lease *lease);
/* Ends the thread; requests that are under way still end, so the client of media servers is closed
 * before job_watch_close. NULL is allowed. */
void job_watch_end(struct job_watch *watch);
void job_watch_close(struct job_watch *watch);

#endif
