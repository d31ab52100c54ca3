/* See edge/listener.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/text.h"

/* The kernel limits it to net.core.somaxconn. */
#define BACKLOG 4096

/* The first descriptor that systemd passes (sd_listen_fds(3)). */
#define FIRST_PASSED 3

/* ---- a socket at a path ---- */

/* what: the words between "cannot" and the path. */
static bool path_refused(const char *path, const char *what, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot %s %s", what, path);
}

static int local_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* The mode is set by the umask: a later chmod of the path could hit another file if another user
 * owns the directory. */
static bool bind_path(int descriptor, const char *path, mode_t mode)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t former = umask(~mode & 0777);
	bool is_bound;
	int error;

	memcpy(address.sun_path, path, strlen(path) + 1);
	is_bound = bind(descriptor, (const struct sockaddr *)&address, sizeof address) == 0;
	error = errno;
	umask(former);
	errno = error;
	return is_bound;
}

/* Returns true if the connection is refused, which means that no process listens. */
static bool is_stale(const char *path, struct fault *fault)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat there;
	int descriptor;
	int result;
	int error;

	if (lstat(path, &there) != 0)
		return path_refused(path, "examine", fault);
	if (!S_ISSOCK(there.st_mode))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s exists and is not a socket; choose another path", path);
	descriptor = local_socket();
	if (descriptor < 0)
		return path_refused(path, "connect to", fault);
	memcpy(address.sun_path, path, strlen(path) + 1);
	result = connect(descriptor, (const struct sockaddr *)&address, sizeof address);
	error = errno;
	close(descriptor);
	if (result == 0 || error == EAGAIN)
		return fault_cause(
			fault, FAULT_UNAVAILABLE, 0,
			"another process listens on %s; stop it first, or choose another "
			"path",
			path);
	errno = error;
	return error == ECONNREFUSED || path_refused(path, "connect to", fault);
}

/* Creates the socket at the listener's path, in place of one that nobody listens on. */
static bool set_up(struct listener *listener, const struct listener_options *options,
		   struct fault *fault)
{
	const char *path = listener->path;
	struct stat there;

	if (!bind_path(listener->descriptor, path, options->mode)) {
		if (errno != EADDRINUSE)
			return path_refused(path, "create the socket", fault);
		if (!is_stale(path, fault))
			return false;
		if ((unlink(path) != 0 && errno != ENOENT) ||
		    !bind_path(listener->descriptor, path, options->mode))
			return path_refused(path, "replace the old socket", fault);
	}
	if (lstat(path, &there) != 0)
		return path_refused(path, "examine", fault);
	listener->device = there.st_dev;
	listener->inode = there.st_ino;
	listener->is_ours = true;
	/* Nobody can connect before listen(), so the owner is set in time. Links are not
	 * followed. */
	if ((options->owner != (uid_t)-1 || options->group != (gid_t)-1) &&
	    lchown(path, options->owner, options->group) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno,
				   "cannot set the owner or group of %s (an ordinary user can only "
				   "choose a group that they belong to)",
				   path);
	if (listen(listener->descriptor, BACKLOG) != 0)
		return path_refused(path, "listen on", fault);
	return true;
}

/* ---- an inherited socket ---- */

static int socket_option(int descriptor, int option)
{
	int value = 0;
	socklen_t size = sizeof value;

	return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : 0;
}

static bool open_inherited(struct listener *listener, struct fault *fault)
{
	const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	int64_t passed = 0, number;
	int descriptor, flags;

	/* systemd may have passed sockets to another process. */
	if (process != NULL && count != NULL && text_integer(slice_of(process), &number) &&
	    number == getpid() && text_integer(slice_of(count), &number))
		passed = number;
	descriptor = passed > 0 ? FIRST_PASSED : STDIN_FILENO;
	if (passed > 1)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "systemd passed %lld sockets; expected one", (long long)passed);
	if (socket_option(descriptor, SO_ACCEPTCONN) == 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "no socket to listen on; use --listen PATH, or pass a "
				   "listening socket on descriptor 0 or from systemd");
	if (socket_option(descriptor, SO_DOMAIN) != AF_UNIX)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"the listening socket that was passed is not a Unix socket; it "
			"must be one, because anything that can connect is trusted like nginx");
	flags = fcntl(descriptor, F_GETFL);
	if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "the socket that was passed");
	listener->descriptor = descriptor;
	return true;
}

/* ---- public functions ---- */

bool listener_open(const struct listener_options *options, struct listener *listener,
		   struct fault *fault)
{
	size_t size;

	*listener = (struct listener){ .descriptor = -1 };
	if (options->path == NULL)
		return open_inherited(listener, fault);
	size = strlen(options->path);
	if (size == 0 || size >= sizeof listener->path)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "the socket path must be 1 to %zu bytes long, it is %zu",
				   sizeof listener->path - 1, size);
	memcpy(listener->path, options->path, size + 1);
	listener->descriptor = local_socket();
	if (listener->descriptor < 0)
		return path_refused(listener->path, "create the socket", fault);
	if (set_up(listener, options, fault))
		return true;
	listener_close(listener);
	return false;
}

/* Unlinking alone is not enough: a client may have looked up the path and not connected yet, and
 * the directory may not be writable after root privileges were dropped (the next start replaces the
 * socket). */
bool listener_withdraw(struct listener *listener)
{
	struct stat there;

	if (!listener->is_ours)
		return false;
	(void)shutdown(listener->descriptor, SHUT_RD);
	if (lstat(listener->path, &there) == 0 && there.st_dev == listener->device &&
	    there.st_ino == listener->inode)
		(void)unlink(listener->path);
	return true;
}

void listener_close(struct listener *listener)
{
	if (listener->descriptor < 0)
		return;
	(void)listener_withdraw(listener);
	close(listener->descriptor);
	listener->descriptor = -1;
}
