/* See delivery/stream_sender.h.
 *
 * librtmp reads and writes a socket that is connected already (RTMP_Connect1): of its own ways to
 * connect, one asks nobody about the address, and that for TLS verifies no certificate. For rtmps
 * the socket is one end of a pair; a thread passes on what comes there through OpenSSL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/stream_sender.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <librtmp/log.h>
#include <librtmp/rtmp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "delivery/confine.h"

#define CONNECT_MS 10000
/* Seconds that the server may take for a response, or to take what was sent. */
#define PATIENCE 15
/* What the system keeps for a server that is slow: more of it would be seen late. */
#define SEND_BUFFER (128 << 10)
#define RELAYED ((size_t)16 << 10)

/* ---- what the recorder gives and is told ---- */

/* Tells why the connection is over, and ends. */
_Noreturn static void end_stream(const char *why)
{
	dprintf(STDOUT_FILENO, "%s\n", why);
	_exit(EXIT_FAILURE);
}

static bool read_all(int descriptor, void *bytes, size_t size)
{
	char *at = bytes;

	while (size > 0) {
		const ssize_t got = read(descriptor, at, size);

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		if (got > 0) {
			at += got;
			size -= (size_t)got;
		}
	}
	return true;
}

/* ---- the address ---- */

/* The parts of an address. The last name of its path, with the query, is the key. */
struct destination {
	bool has_tls;
	char host[256], port[8];
	char *application, *key, *url_of_application;
};

/* The service has checked all of it; what is not as it should be ends here all the same. */
static bool read_url(const char *url, struct destination *destination)
{
	struct slice host, authority = text_url_authority(slice_of(url));
	const char *path = authority.data == NULL ? NULL : authority.data + authority.size;
	unsigned port = 0;
	size_t before_query;

	destination->has_tls = text_begins_ignoring_case(slice_of(url), SLICE("rtmps://"));
	if (path == NULL || *path != '/' ||
	    (!destination->has_tls &&
	     !text_begins_ignoring_case(slice_of(url), SLICE("rtmp://"))) ||
	    !text_url_split_port(authority, &host, &port) || host.size == 0)
		return false;
	if (port == 0)
		port = destination->has_tls ? 443 : 1935;
	if (host.size > 2 && host.data[0] == '[') {
		host.data++;
		host.size -= 2;
	}
	before_query = strcspn(path, "?#");
	while (before_query > 0 && path[before_query - 1] != '/')
		before_query--;
	destination->key = memory_check(strdup(path + before_query));
	destination->application =
		memory_check(strndup(path + 1, before_query > 1 ? before_query - 2 : 0));
	(void)snprintf(destination->port, sizeof destination->port, "%u", port);
	if (asprintf(&destination->url_of_application, "%s://%.*s:%u/%s",
		     destination->has_tls ? "rtmps" : "rtmp", (int)authority.size, authority.data,
		     port, destination->application) < 0)
		return false;
	return snprintf(destination->host, sizeof destination->host, "%.*s", (int)host.size,
			host.data) < (int)sizeof destination->host;
}

/* Connects to an address. Returns the socket, or -1. */
static int connect_to(const struct addrinfo *address)
{
	const int on = 1, kept = SEND_BUFFER,
		  one = socket(address->ai_family,
			       address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
			       address->ai_protocol);
	struct pollfd polled = { one, POLLOUT, 0 };
	socklen_t size = sizeof errno;
	int error = 0;

	if (one < 0)
		return -1;
	if (connect(one, address->ai_addr, address->ai_addrlen) != 0 &&
	    (errno != EINPROGRESS || (errno = ETIMEDOUT, poll(&polled, 1, CONNECT_MS) != 1) ||
	     getsockopt(one, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)) {
		error = error != 0 ? error : errno;
		close(one);
		errno = error;
		return -1;
	}
	(void)setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(one, SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
	return one;
}

/* Resolves the name, and connects to the first address that is allowed and answers. */
static int connect_allowed(const struct destination *destination,
			   const struct address_ranges *ranges)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *addresses;
	bool is_allowed = false;
	int one = -1;

	if (getaddrinfo(destination->host, destination->port, &hints, &addresses) != 0)
		end_stream("the name cannot be resolved");
	for (const struct addrinfo *at = addresses; at != NULL && one < 0; at = at->ai_next) {
		if (!address_is_global(at->ai_addr) && !address_is_within(at->ai_addr, ranges))
			continue;
		is_allowed = true;
		one = connect_to(at);
	}
	if (!is_allowed)
		end_stream(STREAM_NOT_ALLOWED);
	if (one < 0) {
		dprintf(STDOUT_FILENO, "cannot connect: %s\n", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	freeaddrinfo(addresses);
	return one;
}

/* Has a socket wait, but not for ever. */
static void set_patience(int one)
{
	const struct timeval patience = { .tv_sec = PATIENCE };

	(void)fcntl(one, F_SETFL, fcntl(one, F_GETFL) & ~O_NONBLOCK);
	(void)setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	(void)setsockopt(one, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

/* ---- TLS ---- */

struct relay {
	int plain, network;
	SSL *ssl;
};

/* Bytes on their way in one direction. */
struct relayed {
	char bytes[RELAYED];
	size_t begin, end;
};

/* Passes on what it can. Returns false when one of both ends. */
static bool relay_once(struct relay *relay, struct relayed *out, struct relayed *in,
		       bool *has_moved)
{
	size_t moved;
	ssize_t n;

	*has_moved = false;
	if (out->begin == out->end) {
		n = read(relay->plain, out->bytes, RELAYED);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		out->begin = 0;
		out->end = n < 0 ? 0 : (size_t)n;
		*has_moved = n > 0;
	}
	if (out->begin < out->end) {
		if (SSL_write_ex(relay->ssl, out->bytes + out->begin, out->end - out->begin,
				 &moved) == 1) {
			out->begin += moved;
			*has_moved = true;
		} else if (SSL_get_error(relay->ssl, 0) != SSL_ERROR_WANT_READ &&
			   SSL_get_error(relay->ssl, 0) != SSL_ERROR_WANT_WRITE) {
			return false;
		}
	}
	if (in->begin == in->end) {
		in->begin = in->end = 0;
		if (SSL_read_ex(relay->ssl, in->bytes, RELAYED, &in->end) == 1)
			*has_moved = true;
		else if (SSL_get_error(relay->ssl, 0) != SSL_ERROR_WANT_READ &&
			 SSL_get_error(relay->ssl, 0) != SSL_ERROR_WANT_WRITE)
			return false;
	}
	if (in->begin < in->end) {
		n = write(relay->plain, in->bytes + in->begin, in->end - in->begin);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		in->begin += n < 0 ? 0 : (size_t)n;
		*has_moved = *has_moved || n > 0;
	}
	return true;
}

/* Runs as a thread for as long as the process does. */
static void *run_relay(void *context)
{
	struct relay *relay = context;
	struct relayed *out = memory_check(calloc(1, sizeof *out));
	struct relayed *in = memory_check(calloc(1, sizeof *in));
	bool has_moved = true;

	while (relay_once(relay, out, in, &has_moved)) {
		struct pollfd polled[2] = {
			{ relay->plain,
			  (short)((out->begin == out->end ? POLLIN : 0) |
				  (in->begin < in->end ? POLLOUT : 0)),
			  0 },
			{ relay->network, (short)(POLLIN | (out->begin < out->end ? POLLOUT : 0)),
			  0 },
		};

		/* What the server has sent waits for librtmp. */
		if (in->begin < in->end)
			polled[1].events &= ~POLLIN;
		if (!has_moved)
			(void)poll(polled, 2, -1);
	}
	(void)shutdown(relay->plain, SHUT_RDWR);
	free(out);
	free(in);
	return NULL;
}

_Noreturn static void end_without_tls(const SSL *ssl)
{
	const long verified = SSL_get_verify_result(ssl);

	if (verified != X509_V_OK)
		dprintf(STDOUT_FILENO, "the certificate is not valid: %s\n",
			X509_verify_cert_error_string(verified));
	else
		dprintf(STDOUT_FILENO, "the server does not speak TLS\n");
	_exit(EXIT_FAILURE);
}

/* Returns a socket of which the other end is the server behind TLS. */
static int relay_tls(int network, const struct destination *destination, SSL_CTX *context)
{
	struct relay *relay = memory_check(calloc(1, sizeof *relay));
	SSL *ssl = memory_check(SSL_new(context));
	unsigned char bytes[sizeof(struct in6_addr)];
	const bool is_address = inet_pton(AF_INET, destination->host, bytes) == 1 ||
				inet_pton(AF_INET6, destination->host, bytes) == 1;
	pthread_t thread;
	int ends[2];

	/* A name is sent to the server, an address is not. */
	if ((is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), destination->host)
			: SSL_set1_host(ssl, destination->host) == 1 &&
				  SSL_set_tlsext_host_name(ssl, destination->host)) != 1 ||
	    SSL_set_fd(ssl, network) != 1)
		end_stream("cannot begin TLS");
	if (SSL_connect(ssl) != 1)
		end_without_tls(ssl);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
	    fcntl(network, F_SETFL, fcntl(network, F_GETFL) | O_NONBLOCK) != 0 ||
	    fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK) != 0)
		end_stream("cannot begin TLS");
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	*relay = (struct relay){ .plain = ends[1], .network = network, .ssl = ssl };
	if (pthread_create(&thread, NULL, run_relay, relay) != 0)
		end_stream("cannot begin TLS");
	set_patience(ends[0]);
	return ends[0];
}

/* Reads the certificates of authorities, before the process may read only some files. */
static SSL_CTX *read_authorities(void)
{
	SSL_CTX *context = memory_check(SSL_CTX_new(TLS_client_method()));

	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	(void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	(void)SSL_CTX_set_default_verify_paths(context);
	return context;
}

/* ---- RTMP ---- */

static AVal value_of(char *text)
{
	return (AVal){ .av_val = text, .av_len = (int)strlen(text) };
}

/* Begins to publish on a socket. */
static void publish(RTMP *rtmp, int one, struct destination *destination)
{
	RTMP_Init(rtmp);
	rtmp->m_sb.sb_socket = one;
	rtmp->Link.protocol = RTMP_PROTOCOL_RTMP;
	rtmp->Link.hostname = value_of(destination->host);
	rtmp->Link.app = value_of(destination->application);
	rtmp->Link.playpath = value_of(destination->key);
	rtmp->Link.tcUrl = value_of(destination->url_of_application);
	rtmp->Link.lFlags = RTMP_LF_LIVE;
	rtmp->Link.timeout = PATIENCE;
	RTMP_EnableWrite(rtmp);
	if (!RTMP_Connect1(rtmp, NULL))
		end_stream("the server does not speak RTMP");
	if (!RTMP_ConnectStream(rtmp, 0))
		end_stream("the server does not take the stream");
}

/* Answers what the server asks. Returns false when it has ended the connection. */
static bool hear_server(RTMP *rtmp)
{
	RTMPPacket packet = { .m_body = NULL };

	if (!RTMP_ReadPacket(rtmp, &packet))
		return false;
	if (RTMPPacket_IsReady(&packet) && packet.m_body != NULL) {
		(void)RTMP_ClientPacket(rtmp, &packet);
		RTMPPacket_Free(&packet);
	}
	return RTMP_IsConnected(rtmp);
}

/* Bytes of a tag. They grow with it. */
struct tag {
	char *bytes;
	size_t capacity;
};

/* Reads a tag. Returns its size, or 0 at the end. */
static size_t read_tag(struct tag *tag)
{
	const unsigned char *head;
	size_t size;

	tag->bytes = memory_room(tag->bytes, FLV_HEADER_SIZE, &tag->capacity, 1);
	if (!read_all(STDIN_FILENO, tag->bytes, FLV_HEADER_SIZE))
		return 0;
	head = (const unsigned char *)tag->bytes;
	size = FLV_HEADER_SIZE + ((size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3]) +
	       FLV_TRAILER_SIZE;
	tag->bytes = memory_room(tag->bytes, size, &tag->capacity, 1);
	return read_all(STDIN_FILENO, tag->bytes + FLV_HEADER_SIZE, size - FLV_HEADER_SIZE) ? size
											    : 0;
}

/* Sends what comes from the recorder, until that ends. */
static void send_stream(RTMP *rtmp)
{
	struct tag tag = { NULL, 0 };

	for (;;) {
		struct pollfd polled[2] = { { STDIN_FILENO, POLLIN, 0 },
					    { rtmp->m_sb.sb_socket, POLLIN, 0 } };
		size_t size;

		if (rtmp->m_sb.sb_size > 0)
			polled[1].revents = POLLIN;
		else if (poll(polled, 2, -1) < 0)
			continue;
		if (polled[1].revents != 0 && !hear_server(rtmp))
			end_stream("the server ended the connection");
		if (polled[0].revents == 0)
			continue;
		size = read_tag(&tag);
		if (size == 0)
			break;
		if (RTMP_Write(rtmp, tag.bytes, (int)size) <= 0 || !RTMP_IsConnected(rtmp))
			end_stream("the connection broke");
	}
	free(tag.bytes);
}

/* ---- the process ---- */

bool stream_sender_is_built(void)
{
	return true;
}

bool stream_sender_is_asked_for(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], STREAM_SENDER) == 0;
}

int stream_sender_run(void)
{
	struct stream_target *target = memory_check(calloc(1, sizeof *target));
	struct destination destination = { .has_tls = false };
	RTMP *rtmp = memory_check(calloc(1, sizeof *rtmp));
	SSL_CTX *context = read_authorities();
	int one;

	(void)signal(SIGPIPE, SIG_IGN);
	RTMP_LogSetLevel(RTMP_LOGCRIT);
	if (close_range(STDERR_FILENO + 1, ~0U, 0) != 0 || !confine() ||
	    !read_all(STDIN_FILENO, target, sizeof *target))
		end_stream("cannot begin");
	target->url[STREAM_URL_MOST] = '\0';
	if (!read_url(target->url, &destination))
		end_stream("the address is not one of RTMP");
	one = connect_allowed(&destination, &target->ranges);
	explicit_bzero(target, sizeof *target);
	set_patience(one);
	if (destination.has_tls)
		one = relay_tls(one, &destination, context);
	publish(rtmp, one, &destination);
	dprintf(STDOUT_FILENO, STREAM_LIVE "\n");
	send_stream(rtmp);
	RTMP_DeleteStream(rtmp);
	_exit(EXIT_SUCCESS);
}
