/* Notifies the service manager of our state: the protocol of sd_notify(3). Main thread only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_NOTIFY_H
#define COMMAND_NOTIFY_H

/* Connects to the socket in NOTIFY_SOCKET. -1 when there is none or it cannot be reached, which
 * does not prevent serving. */
int notify_open(void);

/* Sends "READY=1" when requests are answered, "STOPPING=1" when the shutdown begins. Never blocks.
 * notify -1: does nothing. */
void notify_tell(int notify, const char *state);

void notify_close(int notify);

#endif
