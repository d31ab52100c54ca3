/* The socket that nginx connects to: one that we make at a path, or one that we were started with,
 * on descriptor 0 (spawn-fcgi, mod_fcgid, lighttpd) or from systemd. Always a local one: whoever can
 * connect speaks for nginx.
 *
 * Main's side: one thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_LISTENER_H
#define EDGE_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/fault.h"

struct listener_options {
	const char *path; /* NULL: the socket we were started with */
	mode_t mode;
	uid_t owner; /* (uid_t)-1: as it comes */
	gid_t group; /* (gid_t)-1: as it comes */
};

struct listener {
	int descriptor; /* non-blocking, close-on-exec */
	bool is_ours; /* we bound it: nobody else can accept from it */
	dev_t device; /* of the path, when it is ours */
	ino_t inode;
	char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* A stale socket at the path is replaced, but only when nobody answers on it. The fault's cause says
 * what was wrong and what to do, FAULT_BAD_REQUEST when it is the user's mistake. */
bool listener_open(const struct listener_options *options, struct listener *listener,
		   struct fault *fault);

/* True: the socket is ours, nobody can connect to it from now on, and the path is gone, if it was
 * still ours; what is queued is accepted by us or lost. False: others may hold the socket (whoever
 * started us, or our successor), and what is queued is theirs. May be called again. */
bool listener_withdraw(struct listener *listener);

void listener_close(struct listener *listener);

#endif
