/* See relay.h. One thread serves all connections.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "relay.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS_MOST 4096
#define SOCKET_NAME ".s.PGSQL.5432"

struct link {
	int sides[2]; /* -1 if closed */
	size_t carried[2]; /* since relay_cut_after */
	unsigned flights;
	bool client_was_last;
};

/* The number of flights that means that connections are not held. */
#define NO_HOLD UINT_MAX

static struct {
	pthread_t thread;
	pthread_mutex_t lock; /* protects all following members */
	char *to;
	int listener, end, changed;
	struct link links[CONNECTIONS_MOST];
	unsigned count;
	bool cuts, has_cut;
	enum relay_side cut_side;
	size_t cut_after;
	unsigned held_after;
	bool refuses;
	unsigned refused;
} relay;

static struct sockaddr_un address_in(const char *directory)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory,
			       SOCKET_NAME);

	if (n < 0 || (size_t)n >= sizeof address.sun_path)
		abort();
	return address;
}

static int server_socket(void)
{
	const struct sockaddr_un address = address_in(relay.to);
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (server >= 0 &&
	    connect(server, (const struct sockaddr *)&address, sizeof address) != 0) {
		close(server);
		server = -1;
	}
	return server;
}

static void take_client(void)
{
	const int client = accept4(relay.listener, NULL, NULL, SOCK_CLOEXEC);
	const int server = client < 0 || relay.refuses ? -1 : server_socket();

	relay.refused += client >= 0 && relay.refuses;
	if (server < 0) {
		if (client >= 0)
			close(client);
		return;
	}
	if (relay.count == CONNECTIONS_MOST)
		abort();
	relay.links[relay.count++] = (struct link){ .sides = { client, server } };
}

static void cut(struct link *link)
{
	for (int side = 0; side < 2; side++) {
		close(link->sides[side]);
		link->sides[side] = -1;
	}
}

/* Returns how many bytes this side may still carry before the cut. */
static size_t allowed(const struct link *link, int side, size_t n)
{
	size_t left;

	if (!relay.cuts || (int)relay.cut_side != side)
		return n;
	left = relay.cut_after - link->carried[side];
	return left < n ? left : n;
}

/* Returns true if reading from this side would begin a flight that is held, or the response to
 * one. */
static bool is_held(const struct link *link, int side)
{
	const bool begins = side == RELAY_FROM_CLIENT && !link->client_was_last;

	return link->flights + begins > relay.held_after;
}

static void carry(struct link *link, int side)
{
	char bytes[4096];
	ssize_t n = read(link->sides[side], bytes, sizeof bytes);
	size_t count, done = 0;

	if (n <= 0) {
		cut(link);
		return;
	}
	if (side == RELAY_FROM_CLIENT && !link->client_was_last)
		link->flights++;
	link->client_was_last = side == RELAY_FROM_CLIENT;
	count = allowed(link, side, (size_t)n);
	while (done < count) {
		n = send(link->sides[1 - side], bytes + done, count - done, MSG_NOSIGNAL);
		if (n <= 0) {
			cut(link);
			return;
		}
		done += (size_t)n;
	}
	link->carried[side] += count;
	if (relay.cuts && (int)relay.cut_side == side && link->carried[side] == relay.cut_after) {
		relay.cuts = false;
		relay.has_cut = true;
		cut(link);
	}
}

static void *serve(void *context)
{
	static struct pollfd pollers[3 + 2 * CONNECTIONS_MOST];
	static struct {
		unsigned link;
		int side;
	} places[3 + 2 * CONNECTIONS_MOST];

	(void)context;
	for (;;) {
		nfds_t n = 3;
		eventfd_t ignored;

		pollers[0] = (struct pollfd){ .fd = relay.end, .events = POLLIN };
		pollers[1] = (struct pollfd){ .fd = relay.listener, .events = POLLIN };
		pollers[2] = (struct pollfd){ .fd = relay.changed, .events = POLLIN };
		pthread_mutex_lock(&relay.lock);
		for (unsigned i = 0; i < relay.count; i++) {
			for (int side = 0; side < 2 && relay.links[i].sides[0] >= 0; side++) {
				if (is_held(&relay.links[i], side))
					continue;
				places[n].link = i;
				places[n].side = side;
				pollers[n++] = (struct pollfd){ .fd = relay.links[i].sides[side],
								.events = POLLIN };
			}
		}
		pthread_mutex_unlock(&relay.lock);
		if (poll(pollers, n, -1) < 0)
			continue;
		if (pollers[0].revents != 0)
			return NULL;
		if (pollers[2].revents != 0)
			(void)eventfd_read(relay.changed, &ignored);
		pthread_mutex_lock(&relay.lock);
		if (pollers[1].revents != 0)
			take_client();
		for (nfds_t i = 3; i < n; i++) {
			struct link *link = &relay.links[places[i].link];

			if (pollers[i].revents != 0 && link->sides[0] >= 0 &&
			    !is_held(link, places[i].side))
				carry(link, places[i].side);
		}
		pthread_mutex_unlock(&relay.lock);
	}
}

void relay_open(const char *directory, const char *to)
{
	const struct sockaddr_un address = address_in(directory);

	relay.to = strdup(to);
	relay.count = 0;
	relay.cuts = relay.has_cut = false;
	relay.held_after = NO_HOLD;
	relay.refuses = false;
	relay.refused = 0;
	relay.changed = eventfd(0, EFD_CLOEXEC);
	relay.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	relay.end = eventfd(0, EFD_CLOEXEC);
	if (relay.to == NULL || relay.end < 0 || relay.changed < 0 || relay.listener < 0 ||
	    bind(relay.listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(relay.listener, 64) != 0 || pthread_mutex_init(&relay.lock, NULL) != 0 ||
	    pthread_create(&relay.thread, NULL, serve, NULL) != 0)
		abort();
}

void relay_close(void)
{
	if (eventfd_write(relay.end, 1) != 0)
		abort();
	pthread_join(relay.thread, NULL);
	for (unsigned i = 0; i < relay.count; i++) {
		if (relay.links[i].sides[0] >= 0)
			cut(&relay.links[i]);
	}
	close(relay.listener);
	close(relay.end);
	close(relay.changed);
	pthread_mutex_destroy(&relay.lock);
	free(relay.to);
}

unsigned relay_flights(unsigned connection)
{
	unsigned flights;

	pthread_mutex_lock(&relay.lock);
	flights = relay.links[connection].flights;
	pthread_mutex_unlock(&relay.lock);
	return flights;
}

bool relay_awaits(unsigned connection)
{
	bool awaits;

	pthread_mutex_lock(&relay.lock);
	awaits = relay.links[connection].client_was_last;
	pthread_mutex_unlock(&relay.lock);
	return awaits;
}

void relay_cut_after(enum relay_side side, size_t bytes)
{
	pthread_mutex_lock(&relay.lock);
	for (unsigned i = 0; i < relay.count; i++)
		relay.links[i].carried[0] = relay.links[i].carried[1] = 0;
	relay.cut_side = side;
	relay.cut_after = bytes;
	relay.has_cut = false;
	relay.cuts = true;
	pthread_mutex_unlock(&relay.lock);
}

bool relay_has_cut(void)
{
	bool has_cut;

	pthread_mutex_lock(&relay.lock);
	has_cut = relay.has_cut;
	relay.cuts = false;
	pthread_mutex_unlock(&relay.lock);
	return has_cut;
}

static void hold_after(unsigned flights)
{
	pthread_mutex_lock(&relay.lock);
	relay.held_after = flights;
	pthread_mutex_unlock(&relay.lock);
	if (eventfd_write(relay.changed, 1) != 0)
		abort();
}

void relay_hold(unsigned flights)
{
	hold_after(flights);
}

void relay_let_go(void)
{
	hold_after(NO_HOLD);
}

void relay_refuse(bool refuses)
{
	pthread_mutex_lock(&relay.lock);
	relay.refuses = refuses;
	pthread_mutex_unlock(&relay.lock);
}

unsigned relay_refused(void)
{
	unsigned refused;

	pthread_mutex_lock(&relay.lock);
	refused = relay.refused;
	pthread_mutex_unlock(&relay.lock);
	return refused;
}

void relay_cut_all(void)
{
	pthread_mutex_lock(&relay.lock);
	for (unsigned i = 0; i < relay.count; i++) {
		if (relay.links[i].sides[0] >= 0)
			cut(&relay.links[i]);
	}
	pthread_mutex_unlock(&relay.lock);
}
