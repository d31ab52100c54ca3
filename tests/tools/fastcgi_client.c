/* Records of the FastCGI protocol, version 1.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fastcgi_client.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define CONTENT_MOST 65535

int client_connect(const char *path)
{
	const struct timeval patience = { .tv_sec = CLIENT_PATIENCE };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connection < 0 || strlen(path) >= sizeof address.sun_path)
		abort();
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
	    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0)
		abort();
	if (connect(connection, (const struct sockaddr *)&address, sizeof address) == 0)
		return connection;
	close(connection);
	return -1;
}

/* ---- sending ---- */

static bool send_all(int connection, const void *bytes, size_t size)
{
	const char *next = bytes;

	while (size > 0) {
		ssize_t sent = send(connection, next, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		next += sent;
		size -= (size_t)sent;
	}
	return true;
}

static bool send_record(int connection, enum record type, const void *content, size_t size,
			unsigned char padding)
{
	static const unsigned char zeros[UINT8_MAX];
	const unsigned char head[8] = {
		1,	 (unsigned char)type, 0, 1, (unsigned char)(size >> 8), (unsigned char)size,
		padding,
	};

	if (size > CONTENT_MOST)
		abort();
	return send_all(connection, head, sizeof head) && send_all(connection, content, size) &&
	       send_all(connection, zeros, padding);
}

bool client_record(int connection, enum record type, const void *content, size_t size)
{
	return send_record(connection, type, content, size, 0);
}

bool client_begin(int connection, bool keeps)
{
	const unsigned char body[8] = { 0, 1, keeps ? 1 : 0 };

	return client_record(connection, RECORD_BEGIN, body, sizeof body);
}

static size_t add_parameter(unsigned char *to, const char *name, const char *value)
{
	size_t name_size = strlen(name);
	size_t value_size = strlen(value);

	if (name_size > 127 || value_size > 127)
		abort();
	to[0] = (unsigned char)name_size;
	to[1] = (unsigned char)value_size;
	memcpy(to + 2, name, name_size);
	memcpy(to + 2 + name_size, value, value_size);
	return 2 + name_size + value_size;
}

static bool send_parameters(int connection, const struct client_request *request,
			    const struct client_padding *padding)
{
	unsigned char content[1024];
	size_t size = 0;
	char length[24];

	snprintf(length, sizeof length, "%zu", request->body_size);
	size += add_parameter(content + size, "REQUEST_METHOD", request->method);
	size += add_parameter(content + size, "REQUEST_URI", request->uri);
	size += add_parameter(content + size, "CONTENT_LENGTH",
			      request->length != NULL ? request->length : length);
	size += add_parameter(content + size, "REMOTE_ADDR", "192.0.2.7");
	size += add_parameter(content + size, "HTTP_AUTHORIZATION", "Bearer first");
	size += add_parameter(content + size, "HTTP_AUTHORIZATION", "Bearer second");
	size += add_parameter(content + size, "HTTP_X_REQUEST_ID", "an-id");
	return send_record(connection, RECORD_PARAMS, content, size, padding->contents) &&
	       send_record(connection, RECORD_PARAMS, NULL, 0, padding->parameters_end);
}

static bool send_body(int connection, const char *body, size_t size,
		      const struct client_padding *padding)
{
	while (size > 0) {
		size_t part = size < CONTENT_MOST ? size : CONTENT_MOST;

		if (!send_record(connection, RECORD_STDIN, body, part, padding->contents))
			return false;
		body += part;
		size -= part;
	}
	return send_record(connection, RECORD_STDIN, NULL, 0, 0);
}

static const struct client_padding no_padding;

bool client_parameters(int connection, const struct client_request *request)
{
	return send_parameters(connection, request, &no_padding);
}

bool client_body(int connection, const char *body, size_t size)
{
	return send_body(connection, body, size, &no_padding);
}

bool client_send_padded(int connection, const struct client_request *request,
			const struct client_padding *padding)
{
	return client_begin(connection, true) && send_parameters(connection, request, padding) &&
	       send_body(connection, request->body, request->body_size, padding);
}

bool client_send(int connection, const struct client_request *request)
{
	return client_send_padded(connection, request, &no_padding);
}

/* ---- receiving ---- */

static bool receive_all(int connection, void *bytes, size_t size)
{
	char *next = bytes;

	while (size > 0) {
		ssize_t received = recv(connection, next, size, 0);

		if (received <= 0)
			return false;
		next += received;
		size -= (size_t)received;
	}
	return true;
}

static void take_apart(struct client_answer *answer, char *text, size_t size)
{
	char *end = memmem(text, size, "\r\n\r\n", 4);
	size_t head = end == NULL ? 0 : (size_t)(end - text) + 4;

	if (head == 0 || head >= sizeof answer->head || memcmp(text, "Status: ", 8) != 0)
		abort();
	memcpy(answer->head, text, head);
	answer->head[head] = '\0';
	answer->status = (int)strtol(text + 8, NULL, 10);
	answer->size = size - head;
	memmove(text, text + head, answer->size);
	text[answer->size] = '\0';
	answer->body = text;
}

void client_receive(int connection, struct client_answer *answer)
{
	unsigned char head[8];
	char *text = malloc(1);
	size_t size = 0;

	memset(answer, 0, sizeof *answer);
	while (receive_all(connection, head, sizeof head)) {
		size_t part = (size_t)head[4] << 8 | head[5];
		size_t padded = part + head[6];

		text = realloc(text, size + padded + 1);
		if (text == NULL)
			abort();
		if (!receive_all(connection, text + size, padded))
			break;
		if (head[1] == RECORD_STDOUT)
			size += part;
		answer->is_whole = head[1] == RECORD_END;
		if (answer->is_whole)
			break;
	}
	if (answer->is_whole && size > 0)
		take_apart(answer, text, size);
	else
		free(text);
}

void client_forget(struct client_answer *answer)
{
	free(answer->body);
	answer->body = NULL;
}

bool client_ask(int connection, const struct client_request *request, int status)
{
	struct client_answer answer;
	bool is_good;

	if (!client_send(connection, request))
		return false;
	client_receive(connection, &answer);
	is_good = answer.is_whole && answer.status == status;
	client_forget(&answer);
	return is_good;
}

bool client_may_keep(int connection)
{
	struct pollfd wait = { .fd = connection, .events = POLLIN | POLLRDHUP };

	return poll(&wait, 1, 0) == 0;
}

bool client_is_closed(int connection, int milliseconds)
{
	struct pollfd wait = { .fd = connection, .events = POLLIN | POLLRDHUP };
	char rest[512];

	while (poll(&wait, 1, milliseconds) == 1) {
		if ((wait.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
			return true;
		if (recv(connection, rest, sizeof rest, MSG_DONTWAIT) <= 0)
			return true;
	}
	return false;
}
