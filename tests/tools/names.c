/* See names.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "names.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

/* The port of DNS. */
#define PORT 53
#define HEADER_SIZE 12
#define MESSAGE_MOST 512
#define TYPE_A 1
#define TYPE_AAAA 28

static struct {
	int socket;
	pthread_mutex_t lock;
	const char *const *first, *const *later;
	unsigned looked_up[2]; /* look-ups of IPv4 and of IPv6 addresses */
} server = { .socket = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the server ---- */

/* Returns the offset of the question's end, or 0 if the question is incomplete. */
static size_t question_end(const unsigned char *message, size_t size)
{
	size_t at = HEADER_SIZE;

	while (at < size && message[at] != 0)
		at += 1 + (size_t)message[at];
	return at + 5 <= size ? at + 5 : 0;
}

/* Appends the address if it belongs to the family. */
static size_t add_answer(unsigned char *message, size_t size, const char *text, bool is_six)
{
	unsigned char address[sizeof(struct in6_addr)];
	const unsigned char length = is_six ? sizeof(struct in6_addr) : sizeof(struct in_addr);
	/* The name in the question, type, class, time to live 0, length. */
	const unsigned char head[] = { 0xc0, HEADER_SIZE, 0, is_six ? TYPE_AAAA : TYPE_A,
				       0,    1,		  0, 0,
				       0,    0,		  0, length };

	if (inet_pton(is_six ? AF_INET6 : AF_INET, text, address) != 1)
		return size;
	memcpy(message + size, head, sizeof head);
	memcpy(message + size + sizeof head, address, length);
	message[7]++;
	return size + sizeof head + length;
}

static size_t answer(unsigned char *message, size_t size)
{
	const size_t end = question_end(message, size);
	const char *const *addresses;
	bool is_six;

	if (end == 0)
		return 0;
	is_six = message[end - 3] == TYPE_AAAA;
	/* A response without errors to one question. */
	message[2] = 0x81;
	message[3] = 0x80;
	memset(message + 6, 0, HEADER_SIZE - 6);
	if (!is_six && message[end - 3] != TYPE_A)
		return end;
	pthread_mutex_lock(&server.lock);
	addresses = server.looked_up[is_six]++ == 0 ? server.first : server.later;
	size = end;
	for (size_t i = 0; addresses[i] != NULL; i++)
		size = add_answer(message, size, addresses[i], is_six);
	pthread_mutex_unlock(&server.lock);
	return size;
}

static void *serve(void *context)
{
	unsigned char message[2 * MESSAGE_MOST];
	struct sockaddr_in from;

	for (;;) {
		socklen_t length = sizeof from;
		const ssize_t size = recvfrom(server.socket, message, MESSAGE_MOST, 0,
					      (struct sockaddr *)&from, &length);
		const size_t answered = size < HEADER_SIZE ? 0 : answer(message, (size_t)size);

		if (answered > 0)
			(void)sendto(server.socket, message, answered, 0, (struct sockaddr *)&from,
				     length);
	}
	return context;
}

static bool start_server(void)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	pthread_t thread;

	server.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return server.socket >= 0 &&
	       bind(server.socket, (const struct sockaddr *)&address, sizeof address) == 0 &&
	       pthread_create(&thread, NULL, serve, NULL) == 0 && pthread_detach(thread) == 0;
}

/* ---- the namespaces ---- */

static bool write_file(const char *path, const char *text)
{
	const int file = open(path, O_WRONLY | O_CLOEXEC);
	bool is_done;

	if (file < 0)
		return false;
	is_done = write(file, text, strlen(text)) == (ssize_t)strlen(text);
	close(file);
	return is_done;
}

static bool become_root_there(void)
{
	char users[64], groups[64];

	(void)snprintf(users, sizeof users, "0 %u 1", (unsigned)getuid());
	(void)snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getgid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) == 0 &&
	       write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", users) && write_file("/proc/self/gid_map", groups);
}

/* Replaces the contents of a file, only for this namespace. */
static bool replace_file(const char *path, const char *text)
{
	char name[] = "/tmp/anteroom-names-XXXXXX";
	const int file = mkstemp(name);
	bool is_done;

	if (file < 0)
		return false;
	is_done = write(file, text, strlen(text)) == (ssize_t)strlen(text) &&
		  mount(name, path, NULL, MS_BIND, NULL) == 0;
	close(file);
	unlink(name);
	return is_done;
}

static bool set_address(int socket, const char *name, const char *text)
{
	struct ifreq request = { .ifr_name = "" };
	struct sockaddr_in address = { .sin_family = AF_INET };

	(void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
	if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
		return false;
	memcpy(&request.ifr_addr, &address, sizeof address);
	return ioctl(socket, SIOCSIFADDR, &request) == 0;
}

static bool set_up_network(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	const int configuring = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_done;

	request.ifr_flags = IFF_UP | IFF_RUNNING;
	is_done = configuring >= 0 && ioctl(configuring, SIOCSIFFLAGS, &request) == 0 &&
		  set_address(configuring, "lo:1", NAMES_PUBLIC);
	if (configuring >= 0)
		close(configuring);
	return is_done;
}

bool names_open(void)
{
	static const char *const none[] = { NULL };

	names_set(none, none);
	return become_root_there() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       replace_file("/etc/resolv.conf", "nameserver 127.0.0.1\n") &&
	       replace_file("/etc/nsswitch.conf", "hosts: dns\n") && set_up_network() &&
	       start_server();
}

void names_set(const char *const *first, const char *const *later)
{
	pthread_mutex_lock(&server.lock);
	server.first = first;
	server.later = later;
	memset(server.looked_up, 0, sizeof server.looked_up);
	pthread_mutex_unlock(&server.lock);
}

unsigned names_looked_up(void)
{
	unsigned n;

	pthread_mutex_lock(&server.lock);
	n = server.looked_up[0];
	pthread_mutex_unlock(&server.lock);
	return n;
}
