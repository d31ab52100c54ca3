/* The listening socket: created at a path, or inherited on descriptor 0 (spawn-fcgi, mod_fcgid,
 * lighttpd) or from systemd. It is always a local socket, since any process that can connect is
 * trusted like nginx.
 *
 * Main thread only.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_LISTENER_H
#define EDGE_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/fault.h"

struct listener_options {
	const char *path; /* NULL for an inherited socket */
	mode_t mode;
	uid_t owner; /* (uid_t)-1 to leave it unchanged */
	gid_t group; /* (gid_t)-1 to leave it unchanged */
};

struct listener {
	int descriptor; /* non-blocking, close-on-exec */
	bool is_ours; /* created by us: no other process can accept from it */
	dev_t device; /* device and inode of the path, if is_ours */
	ino_t inode;
	char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* Opens the listening socket. Replaces a stale socket at the path, but only if no process listens
 * on it. The cause of a fault names the problem and the remedy; FAULT_BAD_REQUEST for a mistake of
 * the user. */
bool listener_open(const struct listener_options *options, struct listener *listener,
		   struct fault *fault);

/* Stops new connections. Returns true if the socket is ours: no process can connect to it any more,
 * and the path is removed if it was still ours; the caller accepts the queued connections or loses
 * them. Returns false if other processes may hold the socket (our parent or successor), which then
 * own its queue. May be called again. */
bool listener_withdraw(struct listener *listener);

void listener_close(struct listener *listener);

#endif
