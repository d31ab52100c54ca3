/* See command/notify.h. Sends one datagram for each state; the socket is opened at start.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t size = path == NULL ? 0 : strlen(path);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int notify;

	if (size < 2 || size >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
		return -1;
	memcpy(address.sun_path, path, size);
	/* Linux: abstract names begin with a zero byte and end by their size. */
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (notify >= 0 && connect(notify, (const struct sockaddr *)&address,
				   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)) == 0)
		return notify;
	notify_close(notify);
	return -1;
}

void notify_send(int notify, const char *state)
{
	if (notify >= 0)
		(void)send(notify, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void notify_close(int notify)
{
	if (notify >= 0)
		close(notify);
}
