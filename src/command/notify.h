/* Notifies the service manager of our state: the protocol of sd_notify(3). Main thread only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_NOTIFY_H
#define COMMAND_NOTIFY_H

/* Connects to the socket in NOTIFY_SOCKET. Returns -1 if it is not set or cannot be reached, which
 * does not prevent serving. */
int notify_open(void);

/* Sends "READY=1" when requests can be answered, "STOPPING=1" when the shutdown begins. Never
 * blocks. Does nothing if notify is -1. */
void notify_send(int notify, const char *state);

void notify_close(int notify);

#endif
