/* See bucket_server.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "bucket_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/slice.h"

#define HEAD_MOST 16384
#define OBJECTS_MOST 64
#define NAME_MOST 1100
#define PAIRS_MOST 32
#define DAY 86400

struct object {
	char name[NAME_MOST]; /* empty: none */
	int64_t size;
	uint64_t sum;
};

struct bucket_server {
	int listener, wake;
	char endpoint[64];
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	bool has_begun; /* it takes no more of a body */
	enum bucket_mood mood;
	int64_t ahead;
	struct bucket_heard heard;
	struct object objects[OBJECTS_MOST];
};

/* A request whose head has come. */
struct request {
	char head[HEAD_MOST + 1];
	size_t head_size, size; /* of the head; of what was read */
	char method[16], path[NAME_MOST], query[4096];
	char body_hash[100];
};

/* ---- reading ---- */

/* Waits for bytes, or the end of the server. */
static bool wait_for(const struct bucket_server *server, int connection)
{
	struct pollfd polled[] = { { .fd = connection, .events = POLLIN },
				   { .fd = server->wake, .events = POLLIN } };

	return poll(polled, 2, -1) > 0 && polled[1].revents == 0;
}

static bool read_head(const struct bucket_server *server, int connection, struct request *request)
{
	const char *end = NULL;

	request->size = 0;
	while (end == NULL) {
		ssize_t size;

		if (!wait_for(server, connection))
			return false;
		size = recv(connection, request->head + request->size, HEAD_MOST - request->size,
			    0);
		if (size <= 0)
			return false;
		request->size += (size_t)size;
		request->head[request->size] = '\0';
		end = strstr(request->head, "\r\n\r\n");
	}
	request->head_size = (size_t)(end - request->head) + 4;
	request->query[0] = '\0';
	if (sscanf(request->head, "%15s %1099[^ ?]?%4095[^ ]", request->method, request->path,
		   request->query) < 2)
		return false;
	return true;
}

static bool header_of(const struct request *request, const char *name, char *value, size_t size)
{
	const size_t length = strlen(name);

	for (const char *line = strstr(request->head, "\r\n"); line != NULL && line[2] != '\r';
	     line = strstr(line + 2, "\r\n")) {
		const char *text = line + 2, *end = strstr(text, "\r\n");

		if (strncasecmp(text, name, length) != 0 || text[length] != ':')
			continue;
		text += length + 1;
		text += strspn(text, " ");
		(void)snprintf(value, size, "%.*s", (int)(end - text), text);
		return true;
	}
	value[0] = '\0';
	return false;
}

/* ---- the signature ---- */

static void hex_of(const unsigned char *bytes, size_t size, char *hex)
{
	for (size_t i = 0; i < size; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Copies the value of a parameter of the query, decoded. */
static bool parameter_of(const struct request *request, const char *name, char *value, size_t size)
{
	const size_t length = strlen(name);
	const char *at = request->query;
	size_t n = 0;

	while (at != NULL && (strncmp(at, name, length) != 0 || at[length] != '=')) {
		at = strchr(at, '&');
		at = at == NULL ? NULL : at + 1;
	}
	value[0] = '\0';
	if (at == NULL)
		return false;
	for (at += length + 1; *at != '\0' && *at != '&' && n + 1 < size; at++) {
		char digits[3] = { at[0], at[0] == '%' ? at[1] : '\0', '\0' };

		if (*at != '%') {
			value[n++] = *at;
			continue;
		}
		digits[0] = at[1];
		digits[1] = at[2];
		value[n++] = (char)strtol(digits, NULL, 16);
		at += 2;
	}
	value[n] = '\0';
	return true;
}

/* Computes what the signature must be, for the secret of the server. */
static void sign(const struct request *request, const char *signed_headers, const char *time,
		 const char *payload, char hex[65])
{
	static char canonical[32768], text[1024];
	char query[4096], *parameters[PAIRS_MOST], names[512], *rest, *part, key[128];
	unsigned char digest[DIGEST_SIZE], next[DIGEST_SIZE];
	const char *steps[] = { NULL, BUCKET_SERVER_REGION, "s3", "aws4_request" };
	char day[9];
	size_t n = 0, size;

	(void)snprintf(query, sizeof query, "%s", request->query);
	for (rest = query; (part = strsep(&rest, "&")) != NULL && n < PAIRS_MOST;) {
		if (*part != '\0' && strncmp(part, "X-Amz-Signature=", 16) != 0)
			parameters[n++] = part;
	}
	qsort(parameters, n, sizeof *parameters, by_text);
	size = (size_t)snprintf(canonical, sizeof canonical, "%s\n%s\n", request->method,
				request->path);
	for (size_t i = 0; i < n; i++)
		size += (size_t)snprintf(canonical + size, sizeof canonical - size, "%s%s",
					 i > 0 ? "&" : "", parameters[i]);
	size += (size_t)snprintf(canonical + size, sizeof canonical - size, "\n");
	(void)snprintf(names, sizeof names, "%s", signed_headers);
	for (rest = names; (part = strsep(&rest, ";")) != NULL;) {
		char value[1024];

		(void)header_of(request, part, value, sizeof value);
		size += (size_t)snprintf(canonical + size, sizeof canonical - size, "%s:%s\n", part,
					 value);
	}
	(void)snprintf(canonical + size, sizeof canonical - size, "\n%s\n%s", signed_headers,
		       payload);
	digest_sha256(slice_of(canonical), digest);
	hex_of(digest, sizeof digest, hex);
	(void)snprintf(day, sizeof day, "%.8s", time);
	(void)snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s/%s/s3/aws4_request\n%s", time,
		       day, BUCKET_SERVER_REGION, hex);
	(void)snprintf(key, sizeof key, "AWS4%s", BUCKET_SERVER_SECRET);
	steps[0] = day;
	digest_hmac_sha256(slice_of(key), slice_of(steps[0]), digest);
	for (size_t i = 1; i < 4; i++) {
		digest_hmac_sha256((struct slice){ (const char *)digest, sizeof digest },
				   slice_of(steps[i]), next);
		memcpy(digest, next, sizeof digest);
	}
	digest_hmac_sha256((struct slice){ (const char *)digest, sizeof digest }, slice_of(text),
			   next);
	hex_of(next, sizeof next, hex);
}

static time_t time_of(const char *text)
{
	struct tm tm = { .tm_isdst = 0 };

	return strptime(text, "%Y%m%dT%H%M%SZ", &tm) == NULL ? 0 : timegm(&tm);
}

/* Returns NULL if the request is signed well and in time, else the name of the error. */
static const char *signature_error(const struct request *request, time_t now)
{
	char authorization[1024], signature[100] = "", names[200] = "", date[40], expires[20];
	char credential[200] = "", expected[65];
	const bool is_link = parameter_of(request, "X-Amz-Signature", signature, sizeof signature);
	char payload[100] = "UNSIGNED-PAYLOAD";

	if (is_link) {
		if (!parameter_of(request, "X-Amz-Date", date, sizeof date) ||
		    !parameter_of(request, "X-Amz-Expires", expires, sizeof expires) ||
		    !parameter_of(request, "X-Amz-SignedHeaders", names, sizeof names) ||
		    !parameter_of(request, "X-Amz-Credential", credential, sizeof credential))
			return "AuthorizationQueryParametersError";
	} else {
		if (!header_of(request, "Authorization", authorization, sizeof authorization) ||
		    sscanf(authorization,
			   "AWS4-HMAC-SHA256 "
			   "Credential=%199[^,],SignedHeaders=%199[^,],Signature=%99s",
			   credential, names, signature) != 3 ||
		    !header_of(request, "x-amz-date", date, sizeof date) ||
		    !header_of(request, "x-amz-content-sha256", payload, sizeof payload))
			return "AccessDenied";
		(void)snprintf(expires, sizeof expires, "900");
	}
	if (strncmp(credential, BUCKET_SERVER_KEY "/", strlen(BUCKET_SERVER_KEY) + 1) != 0)
		return "InvalidAccessKeyId";
	if (strstr(names, "host") == NULL)
		return "SignatureDoesNotMatch";
	sign(request, names, date, payload, expected);
	if (strcmp(expected, signature) != 0)
		return "SignatureDoesNotMatch";
	if (now > time_of(date) + strtol(expires, NULL, 10))
		return is_link ? "AccessDenied" : "RequestTimeTooSkewed";
	return time_of(date) > now + 900 ? "RequestTimeTooSkewed" : NULL;
}

/* ---- answers ---- */

static void say(int connection, time_t now, int status, const char *code)
{
	char body[300] = "", date[60], head[500];
	struct tm tm;

	if (code != NULL)
		(void)snprintf(body, sizeof body,
			       "<?xml version=\"1.0\"?><Error><Code>%s</Code>"
			       "<Message>secret words</Message></Error>",
			       code);
	(void)strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &tm));
	(void)snprintf(head, sizeof head,
		       "HTTP/1.1 %d Status\r\nDate: %s\r\nContent-Length: %zu\r\n"
		       "Connection: close\r\n\r\n%s",
		       status, date, strlen(body), body);
	(void)send(connection, head, strlen(head), MSG_NOSIGNAL);
}

static struct object *object_named(struct bucket_server *server, const char *name)
{
	for (size_t i = 0; i < OBJECTS_MOST; i++) {
		if (strcmp(server->objects[i].name, name) == 0)
			return &server->objects[i];
	}
	return NULL;
}

/* Takes the body. Returns false if the connection ended before. */
static bool take_body(struct bucket_server *server, int connection, const struct request *request,
		      enum bucket_mood mood, struct object *object)
{
	char length[40], bytes[65536];
	size_t at = request->head_size;
	int64_t size;

	(void)header_of(request, "Content-Length", length, sizeof length);
	size = strtoll(length, NULL, 10);
	object->size = 0;
	object->sum = 0;
	for (; at < request->size && object->size < size; at++, object->size++)
		object->sum += (unsigned char)request->head[at];
	while (object->size < size) {
		ssize_t n;

		if (mood == BUCKET_HALF)
			return false;
		/* Whoever sends has a limit of its own. */
		if (mood == BUCKET_STOPS) {
			struct pollfd polled[] = { { .fd = connection, .events = POLLRDHUP },
						   { .fd = server->wake, .events = POLLIN } };

			pthread_mutex_lock(&server->lock);
			server->has_begun = true;
			pthread_cond_broadcast(&server->arrived);
			pthread_mutex_unlock(&server->lock);
			(void)poll(polled, 2, 20000);
			return false;
		}
		if (!wait_for(server, connection))
			return false;
		n = recv(connection, bytes, sizeof bytes, 0);
		if (n <= 0)
			return false;
		for (ssize_t i = 0; i < n; i++)
			object->sum += (unsigned char)bytes[i];
		object->size += n;
	}
	return true;
}

static void answer(struct bucket_server *server, int connection, struct request *request)
{
	const char *prefix = "/" BUCKET_SERVER_BUCKET "/", *error;
	const bool is_put = strcmp(request->method, "PUT") == 0;
	const bool is_delete = strcmp(request->method, "DELETE") == 0;
	struct object got = { .size = 0 }, *object;
	enum bucket_mood mood;
	time_t now;
	bool is_whole = true;
	char length[40];

	pthread_mutex_lock(&server->lock);
	mood = server->mood;
	now = time(NULL) + (mood == BUCKET_LATE ? DAY : 0) + server->ahead;
	pthread_mutex_unlock(&server->lock);
	error = signature_error(request, now);
	if (error == NULL && header_of(request, "Content-Length", length, sizeof length))
		is_whole = take_body(server, connection, request, mood, &got);

	pthread_mutex_lock(&server->lock);
	server->heard.requests++;
	server->heard.puts += is_put;
	server->heard.deletes += is_delete;
	server->heard.badly_signed += error != NULL;
	(void)snprintf(server->heard.last, sizeof server->heard.last, "%s %s", request->method,
		       request->path);
	if (is_put)
		(void)header_of(request, "Content-Type", server->heard.type,
				sizeof server->heard.type);
	object = object_named(server, request->path + strlen(prefix));
	if (mood == BUCKET_WELL && error == NULL && is_whole && is_put) {
		if (object == NULL)
			object = object_named(server, "");
		if (object != NULL) {
			*object = got;
			(void)snprintf(object->name, sizeof object->name, "%s",
				       request->path + strlen(prefix));
		}
	}
	if (mood == BUCKET_WELL && error == NULL && is_delete && object != NULL)
		object->name[0] = '\0';
	pthread_cond_broadcast(&server->arrived);
	pthread_mutex_unlock(&server->lock);

	if (error != NULL)
		say(connection, now, 403, error);
	else if (!is_whole)
		return;
	else if (strncmp(request->path, prefix, strlen(prefix)) != 0 || mood == BUCKET_MISSING)
		say(connection, now, 404, "NoSuchBucket");
	else if (mood == BUCKET_REFUSES)
		say(connection, now, 403, "AccessDenied");
	else if (mood == BUCKET_FAILS)
		say(connection, now, 500, NULL);
	else if (mood == BUCKET_MOVED)
		say(connection, now, 301, "PermanentRedirect");
	else if (mood == BUCKET_HANGS)
		(void)wait_for(server, connection);
	else
		say(connection, now, is_delete ? 204 : 200, NULL);
}

static void *serve(void *context)
{
	struct bucket_server *server = context;
	static struct request request;

	while (wait_for(server, server->listener)) {
		const int connection = accept(server->listener, NULL, NULL);

		if (connection < 0)
			continue;
		if (read_head(server, connection, &request))
			answer(server, connection, &request);
		close(connection);
	}
	return NULL;
}

/* ---- the server ---- */

struct bucket_server *bucket_server_open(void)
{
	struct bucket_server *server = calloc(1, sizeof *server);
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;

	if (server == NULL)
		abort();
	server->wake = eventfd(0, EFD_CLOEXEC);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server->wake < 0 || server->listener < 0 ||
	    bind(server->listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(server->listener, 16) != 0 ||
	    getsockname(server->listener, (struct sockaddr *)&address, &size) != 0)
		abort();
	(void)snprintf(server->endpoint, sizeof server->endpoint, "http://127.0.0.1:%u",
		       (unsigned)ntohs(address.sin_port));
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->arrived, NULL);
	if (pthread_create(&server->thread, NULL, serve, server) != 0)
		abort();
	return server;
}

void bucket_server_close(struct bucket_server *server)
{
	(void)eventfd_write(server->wake, 1);
	pthread_join(server->thread, NULL);
	close(server->wake);
	close(server->listener);
	pthread_cond_destroy(&server->arrived);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

const char *bucket_server_endpoint(const struct bucket_server *server)
{
	return server->endpoint;
}

void bucket_server_set(struct bucket_server *server, enum bucket_mood mood)
{
	pthread_mutex_lock(&server->lock);
	server->mood = mood;
	pthread_mutex_unlock(&server->lock);
}

void bucket_server_move(struct bucket_server *server, int64_t seconds)
{
	pthread_mutex_lock(&server->lock);
	server->ahead += seconds;
	pthread_mutex_unlock(&server->lock);
}

struct bucket_heard bucket_server_heard(struct bucket_server *server)
{
	struct bucket_heard heard;

	pthread_mutex_lock(&server->lock);
	heard = server->heard;
	pthread_mutex_unlock(&server->lock);
	return heard;
}

bool bucket_server_wait(struct bucket_server *server, size_t requests)
{
	struct timespec until;
	bool is_there = true;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 30;
	pthread_mutex_lock(&server->lock);
	while (server->heard.requests < requests && is_there)
		is_there = pthread_cond_timedwait(&server->arrived, &server->lock, &until) == 0;
	pthread_mutex_unlock(&server->lock);
	return is_there;
}

bool bucket_server_wait_begun(struct bucket_server *server)
{
	struct timespec until;
	bool is_there = true;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 30;
	pthread_mutex_lock(&server->lock);
	while (!server->has_begun && is_there)
		is_there = pthread_cond_timedwait(&server->arrived, &server->lock, &until) == 0;
	pthread_mutex_unlock(&server->lock);
	return is_there;
}

int64_t bucket_server_object(struct bucket_server *server, const char *name, uint64_t *sum)
{
	const struct object *object;
	int64_t size = -1;

	pthread_mutex_lock(&server->lock);
	object = object_named(server, name);
	if (object != NULL) {
		size = object->size;
		*sum = object->sum;
	}
	pthread_mutex_unlock(&server->lock);
	return size;
}

size_t bucket_server_objects(struct bucket_server *server)
{
	size_t n = 0;

	pthread_mutex_lock(&server->lock);
	for (size_t i = 0; i < OBJECTS_MOST; i++)
		n += server->objects[i].name[0] != '\0';
	pthread_mutex_unlock(&server->lock);
	return n;
}
