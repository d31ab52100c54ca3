/* See receiver.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "receiver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define CONNECTIONS_MOST 256
#define REQUEST_MOST ((size_t)256 << 10)
#define WAIT_MOST 30000

struct connection {
	int descriptor; /* -1 if there is none */
	char *bytes;
	size_t size;
	struct received *held; /* request that waits for its response */
};

struct receiver {
	int listener, wake;
	unsigned port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	bool ends, releases;
	const char *head, *body; /* of the response to LiveKit's paths */
	receiver_service *serve; /* NULL: they are sent */
	void *context;
	struct received requests[RECEIVED_MOST];
	size_t count, at_once, most_at_once;
	struct connection connections[CONNECTIONS_MOST];
};

static bool is_of_livekit(const char *path)
{
	return strstr(path, "/twirp/") != NULL || strstr(path, "/rtc/") != NULL;
}

static void drop(struct connection *connection)
{
	close(connection->descriptor);
	free(connection->bytes);
	*connection = (struct connection){ .descriptor = -1 };
}

static void say(const struct connection *connection, const char *text)
{
	size_t size = strlen(text);

	while (size > 0) {
		ssize_t sent = send(connection->descriptor, text, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		text += sent;
		size -= (size_t)sent;
	}
}

static void say_status(const struct connection *connection, int status, const char *header)
{
	char text[200];

	(void)snprintf(text, sizeof text, "HTTP/1.1 %d Status\r\nContent-Length: 0\r\n%s\r\n",
		       status, header);
	say(connection, text);
}

/* Sends data until the peer closes the connection: as lines, which are headers where headers are
 * expected, or as one header. */
static void say_endless(const struct connection *connection, bool as_lines)
{
	char bytes[4096];

	memset(bytes, 'x', sizeof bytes);
	if (as_lines) {
		memcpy(bytes, "X:", 2);
		memcpy(bytes + sizeof bytes - 2, "\r\n", 2);
	}
	for (size_t i = 0; i < 4096; i++) {
		if (send(connection->descriptor, bytes, sizeof bytes, MSG_NOSIGNAL) < 0)
			return;
	}
}

static void say_long(const struct connection *connection, size_t size)
{
	char head[120], *body = malloc(size + 1);

	if (body == NULL)
		abort();
	memset(body, 'x', size);
	body[size] = '\0';
	(void)snprintf(head, sizeof head,
		       "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
		       "Date: Fri, 27 Nov 2026 10:00:00 GMT\r\n\r\n",
		       size);
	say(connection, head);
	say(connection, body);
	free(body);
}

static void say_set(const struct receiver *receiver, const struct connection *connection)
{
	char length[60];

	say(connection, receiver->head);
	(void)snprintf(length, sizeof length, "Content-Length: %zu\r\n\r\n",
		       strlen(receiver->body));
	say(connection, length);
	say(connection, receiver->body);
}

/* Returns false if there is no response yet. */
static bool say_served(const struct receiver *receiver, const struct connection *connection,
		       const struct received *received)
{
	char head[120];
	int status = 200;
	char *body = receiver->serve(receiver->context, received, &status);

	if (body == NULL)
		return false;
	if (status != 0 && strncmp(body, "HTTP/", 5) != 0) {
		(void)snprintf(head, sizeof head,
			       "HTTP/1.1 %d Status\r\nContent-Length: %zu\r\n\r\n", status,
			       strlen(body));
		say(connection, head);
	}
	say(connection, body);
	free(body);
	return true;
}

static size_t earlier(const struct receiver *receiver, const struct received *received)
{
	size_t n = 0;

	for (const struct received *one = receiver->requests; one < received; one++)
		n += strcmp(one->id, received->id) == 0;
	return n;
}

static void hold(struct receiver *receiver, struct connection *connection,
		 struct received *received)
{
	connection->held = received;
	receiver->at_once++;
	if (receiver->at_once > receiver->most_at_once)
		receiver->most_at_once = receiver->at_once;
}

/* Returns false if the connection must be closed. */
static bool answer(struct receiver *receiver, struct connection *connection,
		   struct received *received)
{
	const char *path = received->path;
	char header[96] = "", text[64] = "";
	unsigned status, n;
	int fields;

	if (strncmp(path, "/held", 5) == 0 && !receiver->releases) {
		hold(receiver, connection, received);
		return true;
	}
	if (strncmp(path, "/held", 5) == 0) {
		say_status(connection, path[5] == '/' ? atoi(path + 6) : 200, "");
	} else if (strcmp(path, "/middle") == 0) {
		say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
		return false;
	} else if (strncmp(path, "/close", 6) == 0) {
		return false;
	} else if (strcmp(path, "/endless") == 0) {
		say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
		say_endless(connection, true);
		return false;
	} else if (strcmp(path, "/trickle") == 0) {
		say(connection, "HTTP/1.1 200 OK\r\n");
		say_endless(connection, true);
		return false;
	} else if (strcmp(path, "/wide") == 0) {
		say(connection, "HTTP/1.1 200 OK\r\nX: ");
		say_endless(connection, false);
		return false;
	} else if (strncmp(path, "/other", 6) == 0) {
		say(connection, "220 mail.example.org ESMTP\r\n");
		return false;
	} else if (strncmp(path, "/length/", 8) == 0) {
		(void)snprintf(header, sizeof header,
			       "HTTP/1.1 200 OK\r\nContent-Length: %.40s\r\n\r\n", path + 8);
		say(connection, header);
		return false;
	} else if (sscanf(path, "/body/%u", &n) == 1) {
		say_long(connection, n);
	} else if (is_of_livekit(path) && receiver->serve != NULL) {
		if (!say_served(receiver, connection, received))
			hold(receiver, connection, received);
	} else if (is_of_livekit(path) && receiver->head != NULL) {
		say_set(receiver, connection);
	} else if (strcmp(path, "/redirect") == 0) {
		say_status(connection, 302, "Location: /204\r\n");
	} else if (sscanf(path, "/redirect/%u", &n) == 1) {
		(void)snprintf(header, sizeof header, "Location: http://127.0.0.1:%u/204\r\n", n);
		say_status(connection, 302, header);
	} else if (sscanf(path, "/flaky/%u", &n) == 1) {
		say_status(connection, earlier(receiver, received) < n ? 500 : 200, "");
	} else {
		fields = sscanf(path, "/%u/%63s", &status, text);
		for (char *at = text; *at != '\0'; at++)
			*at = *at == '_' ? ' ' : *at;
		if (fields == 2)
			(void)snprintf(header, sizeof header, "Retry-After: %s\r\n", text);
		say_status(connection, fields >= 1 ? (int)status : 404, header);
	}
	return true;
}

/* ---- requests ---- */

bool received_header(const struct received *received, const char *name, char *value, size_t size)
{
	const size_t length = strlen(name);
	const char *line = received->head;

	while ((line = strstr(line, "\r\n")) != NULL) {
		line += 2;
		if (strncasecmp(line, name, length) != 0 || line[length] != ':')
			continue;
		line += length + 1;
		line += strspn(line, " ");
		(void)snprintf(value, size, "%.*s", (int)strcspn(line, "\r"), line);
		return true;
	}
	return false;
}

static struct received *keep(struct receiver *receiver, char *bytes, const char *body, size_t size)
{
	struct received *received = &receiver->requests[receiver->count];
	char target[3000] = "";

	received->head = strndup(bytes, (size_t)(body - bytes));
	received->body = strndup(body, size);
	(void)sscanf(received->head, "%*s %2999s", target);
	received->path = strdup(target);
	if (!received_header(received, "webhook-id", received->id, sizeof received->id))
		received->id[0] = '\0';
	receiver->count++;
	pthread_cond_broadcast(&receiver->arrived);
	return received;
}

/* Returns false if the connection must be closed. */
static bool take_requests(struct receiver *receiver, struct connection *connection)
{
	char *end;

	while (connection->held == NULL && (end = strstr(connection->bytes, "\r\n\r\n")) != NULL) {
		const char *body = end + 4;
		const struct received head = { .head = connection->bytes };
		char length[20] = "0";
		struct received *received;
		size_t size, whole;

		(void)received_header(&head, "content-length", length, sizeof length);
		size = strtoul(length, NULL, 10);
		whole = (size_t)(body - connection->bytes) + size;
		if (connection->size < whole)
			return true;
		if (receiver->count == RECEIVED_MOST)
			return false;
		received = keep(receiver, connection->bytes, body, size);
		memmove(connection->bytes, connection->bytes + whole, connection->size - whole + 1);
		connection->size -= whole;
		if (!answer(receiver, connection, received))
			return false;
	}
	return true;
}

static bool read_some(struct receiver *receiver, struct connection *connection)
{
	ssize_t size = recv(connection->descriptor, connection->bytes + connection->size,
			    REQUEST_MOST - connection->size - 1, 0);

	if (size <= 0)
		return false;
	connection->size += (size_t)size;
	connection->bytes[connection->size] = '\0';
	return take_requests(receiver, connection);
}

static void accept_one(struct receiver *receiver)
{
	const int descriptor = accept4(receiver->listener, NULL, NULL, SOCK_CLOEXEC);
	struct connection *connection = receiver->connections;

	if (descriptor < 0)
		return;
	while (connection < receiver->connections + CONNECTIONS_MOST && connection->descriptor >= 0)
		connection++;
	if (connection == receiver->connections + CONNECTIONS_MOST)
		abort();
	*connection = (struct connection){
		.descriptor = descriptor,
		.bytes = calloc(1, REQUEST_MOST),
	};
	if (connection->bytes == NULL)
		abort();
}

static void release_held(struct receiver *receiver)
{
	for (size_t i = 0; i < CONNECTIONS_MOST; i++) {
		struct connection *connection = &receiver->connections[i];
		struct received *held = connection->held;

		if (held == NULL || !receiver->releases)
			continue;
		connection->held = NULL;
		receiver->at_once--;
		if (!answer(receiver, connection, held) || !take_requests(receiver, connection))
			drop(connection);
	}
}

static void forget(struct receiver *receiver, struct connection *connection)
{
	receiver->at_once -= connection->held != NULL;
	drop(connection);
}

static void *run(void *context)
{
	struct receiver *receiver = context;

	pthread_mutex_lock(&receiver->lock);
	while (!receiver->ends) {
		struct pollfd polled[CONNECTIONS_MOST + 2] = {
			{ .fd = receiver->listener, .events = POLLIN },
			{ .fd = receiver->wake, .events = POLLIN },
		};
		eventfd_t value;

		for (size_t i = 0; i < CONNECTIONS_MOST; i++)
			polled[i + 2] = (struct pollfd){
				.fd = receiver->connections[i].descriptor,
				.events = POLLIN,
			};
		pthread_mutex_unlock(&receiver->lock);
		(void)poll(polled, CONNECTIONS_MOST + 2, -1);
		pthread_mutex_lock(&receiver->lock);
		if (polled[1].revents != 0)
			(void)eventfd_read(receiver->wake, &value);
		release_held(receiver);
		for (size_t i = 0; i < CONNECTIONS_MOST; i++) {
			struct connection *connection = &receiver->connections[i];

			if (polled[i + 2].revents != 0 && connection->descriptor >= 0 &&
			    !read_some(receiver, connection))
				forget(receiver, connection);
		}
		if (polled[0].revents != 0)
			accept_one(receiver);
	}
	pthread_mutex_unlock(&receiver->lock);
	return NULL;
}

/* ---- the receiver ---- */

struct receiver *receiver_open(void)
{
	return receiver_open_at("127.0.0.1", 0);
}

struct receiver *receiver_open_at(const char *text, unsigned port)
{
	struct receiver *receiver = calloc(1, sizeof *receiver);
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
	};
	socklen_t size = sizeof address;

	if (receiver == NULL || inet_pton(AF_INET, text, &address.sin_addr) != 1)
		abort();
	for (size_t i = 0; i < CONNECTIONS_MOST; i++)
		receiver->connections[i].descriptor = -1;
	pthread_mutex_init(&receiver->lock, NULL);
	clock_condition_init(&receiver->arrived);
	receiver->wake = eventfd(0, EFD_CLOEXEC);
	receiver->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (receiver->wake < 0 || receiver->listener < 0 ||
	    bind(receiver->listener, (struct sockaddr *)&address, size) != 0 ||
	    listen(receiver->listener, 128) != 0 ||
	    getsockname(receiver->listener, (struct sockaddr *)&address, &size) != 0)
		abort();
	receiver->port = ntohs(address.sin_port);
	if (pthread_create(&receiver->thread, NULL, run, receiver) != 0)
		abort();
	return receiver;
}

static void wake(struct receiver *receiver)
{
	if (eventfd_write(receiver->wake, 1) != 0)
		abort();
}

void receiver_close(struct receiver *receiver)
{
	pthread_mutex_lock(&receiver->lock);
	receiver->ends = true;
	pthread_mutex_unlock(&receiver->lock);
	wake(receiver);
	pthread_join(receiver->thread, NULL);
	for (size_t i = 0; i < CONNECTIONS_MOST; i++) {
		if (receiver->connections[i].descriptor >= 0)
			drop(&receiver->connections[i]);
	}
	for (size_t i = 0; i < receiver->count; i++) {
		free(receiver->requests[i].path);
		free(receiver->requests[i].head);
		free(receiver->requests[i].body);
	}
	close(receiver->listener);
	close(receiver->wake);
	pthread_cond_destroy(&receiver->arrived);
	pthread_mutex_destroy(&receiver->lock);
	free(receiver);
}

unsigned receiver_port(const struct receiver *receiver)
{
	return receiver->port;
}

void receiver_release(struct receiver *receiver)
{
	pthread_mutex_lock(&receiver->lock);
	receiver->releases = true;
	pthread_mutex_unlock(&receiver->lock);
	wake(receiver);
}

void receiver_serve(struct receiver *receiver, receiver_service *serve, void *context)
{
	pthread_mutex_lock(&receiver->lock);
	receiver->serve = serve;
	receiver->context = context;
	pthread_mutex_unlock(&receiver->lock);
}

void receiver_respond(struct receiver *receiver, const char *head, const char *body)
{
	pthread_mutex_lock(&receiver->lock);
	receiver->head = head;
	receiver->body = body;
	pthread_mutex_unlock(&receiver->lock);
}

bool receiver_wait(struct receiver *receiver, size_t n)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;
	bool are_there;

	pthread_mutex_lock(&receiver->lock);
	while (receiver->count < n && clock_monotonic() < until)
		clock_wait(&receiver->arrived, &receiver->lock, 100);
	are_there = receiver->count >= n;
	pthread_mutex_unlock(&receiver->lock);
	return are_there;
}

size_t receiver_count(struct receiver *receiver)
{
	size_t count;

	pthread_mutex_lock(&receiver->lock);
	count = receiver->count;
	pthread_mutex_unlock(&receiver->lock);
	return count;
}

const struct received *receiver_request(struct receiver *receiver, size_t i)
{
	const struct received *request;

	pthread_mutex_lock(&receiver->lock);
	request = &receiver->requests[i];
	pthread_mutex_unlock(&receiver->lock);
	return request;
}

size_t receiver_most_at_once(struct receiver *receiver)
{
	size_t most;

	pthread_mutex_lock(&receiver->lock);
	most = receiver->most_at_once;
	pthread_mutex_unlock(&receiver->lock);
	return most;
}
