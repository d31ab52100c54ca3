/* What the one who started us is told of our life: sd_notify(3), spoken by hand. Main's side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_NOTIFY_H
#define COMMAND_NOTIFY_H

/* Connects to the socket that NOTIFY_SOCKET names; -1: nobody wants to know, or it cannot be reached,
 * which is no reason not to serve. */
int notify_open(void);

/* "READY=1": what comes is answered from now on. "STOPPING=1": the end has begun. Never waits. notify
 * -1: does nothing. */
void notify_tell(int notify, const char *state);

void notify_close(int notify);

#endif
