/* libfcgi, one request at a time on a lent connection. It relies on fields of FCGX_Request (ipcFd,
 * keepConnection, listen_sock) that have been there since libfcgi 2.0:
 *
 * - FCGX_Accept_r reads from ipcFd when that is open; with listen_sock -1 it cannot accept another
 *   connection when this one ends, and fails.
 * - FCGX_Finish_r closes ipcFd and sets it to -1, unless keepConnection is set and there was no
 *   error.
 * - A reading FCGX_Stream has its next byte at rdNext in its buffer, and reads up to stop (and
 *   wrNext, which is equal for a reader) before it looks for the next record.
 * - FCGX_FClose, called by FCGX_Finish_r, writes nothing once wasFCloseCalled is set: we write the
 *   records ourselves (edge/fastcgi_records.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/fastcgi.h"

#include <assert.h>
#include <fcgiapp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/http_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "edge/fastcgi_records.h"

/* An answer up to this size fits into the send buffer of a writable connection: a quarter of the
 * kernel's default (net.core.wmem_default). */
#define TAKEN_AT_ONCE ((size_t)48 << 10)

/* Constants of the protocol that fcgiapp.h lacks. */
#define ROLE_RESPONDER 1
#define VERSION 1
#define PARAMS 4
#define STDIN 5
#define HEADER_SIZE 8

struct fastcgi {
	struct exchange exchange;
	FCGX_Request request;
};

/* ---- start ---- */

static const int handled_signals[] = { SIGPIPE, SIGUSR1, SIGTERM };
#define HANDLED_SIGNALS (sizeof handled_signals / sizeof handled_signals[0])

/* FCGX_Init installs signal handlers; the program has its own. */
bool fastcgi_start(void)
{
	struct sigaction before[HANDLED_SIGNALS];
	bool has_started;

	/* Otherwise closing a connection waits up to two seconds for the peer. */
	if (setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1) != 0)
		return false;
	for (size_t i = 0; i < HANDLED_SIGNALS; i++)
		if (sigaction(handled_signals[i], NULL, &before[i]) != 0)
			return false;
	has_started = FCGX_Init() == 0;
	for (size_t i = 0; i < HANDLED_SIGNALS; i++)
		if (sigaction(handled_signals[i], &before[i], NULL) != 0)
			return false;
	return has_started;
}

struct exchange *fastcgi_open(void)
{
	struct fastcgi *fastcgi = memory_check(calloc(1, sizeof *fastcgi));

	if (FCGX_InitRequest(&fastcgi->request, -1, 0) != 0)
		ABORT("libfcgi failed");
	fastcgi->request.ipcFd = -1;
	fastcgi->exchange.connection = -1;
	fastcgi->exchange.call.arena = arena_open();
	return &fastcgi->exchange;
}

static struct fastcgi *fastcgi_of(struct exchange *exchange)
{
	return (struct fastcgi *)(void *)exchange;
}

void fastcgi_close(struct exchange *exchange)
{
	if (exchange == NULL)
		return;
	assert(exchange->connection == -1);
	arena_close(exchange->call.arena);
	free(fastcgi_of(exchange));
}

/* ---- receiving ---- */

/* Reads all parameters in one pass. If a name is repeated, the first value counts, except for lists
 * and for the Idempotency-Key, which is rejected if it is repeated. */
static void read_parameters(struct arena *arena, char **parameters, struct request *request,
			    struct slice *length)
{
	struct slice method = { NULL, 0 };
	const struct {
		struct slice name, *value;
	} wanted[] = {
		{ SLICE("REQUEST_METHOD"), &method },
		{ SLICE("REQUEST_URI"), &request->uri },
		{ SLICE("CONTENT_LENGTH"), length },
		{ SLICE("REMOTE_ADDR"), &request->address },
		{ SLICE("HTTP_AUTHORIZATION"), &request->authorization },
		{ SLICE("HTTP_IF_MATCH"), &request->if_match },
		{ SLICE("HTTP_IF_NONE_MATCH"), &request->if_none_match },
		{ SLICE("HTTP_PREFER"), &request->prefer },
		{ SLICE("HTTP_IDEMPOTENCY_KEY"), &request->idempotency_key },
		{ SLICE("HTTP_X_REQUEST_ID"), &request->request_id },
		{ SLICE("HTTP_COOKIE"), &request->cookie },
		{ SLICE("HTTP_HOST"), &request->host },
		{ SLICE("HTTPS"), &request->https },
		{ SLICE("SERVER_SOFTWARE"), &request->software },
		{ SLICE("HTTP_ANTEROOM_CONSOLE"), &request->console },
		{ SLICE("HTTP_ACCESS_CONTROL_REQUEST_HEADERS"), &request->asked_headers },
	};

	for (; *parameters != NULL; parameters++) {
		struct slice value;
		struct slice name = text_split(slice_of(*parameters), '=', &value);
		struct slice *found = NULL;

		for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && found == NULL; i++)
			if (slice_equal(wanted[i].name, name))
				found = wanted[i].value;
		if (value.data == NULL || found == NULL)
			continue;
		/* nginx passes each header line separately; several lines form one list (RFC 9110
		 * section 5.3). */
		if (found->data == NULL)
			*found = value;
		else if (found == &request->prefer || found == &request->idempotency_key)
			*found = slice_of(arena_text(arena, "%s, %s", found->data, value.data));
	}
	if (request->uri.data == NULL)
		request->uri = SLICE("");
	request->method = method_named(method);
}

/* Reads at most `most` bytes, and fewer only at the end of the input. */
static size_t read_some(FCGX_Stream *in, char *bytes, size_t most)
{
	int n = FCGX_GetStr(bytes, (int)most, in);

	return n > 0 ? (size_t)n : 0;
}

/* libfcgi takes the padding of the empty record that ends the parameters for the next header. So
 * this changes the header of that record into that of a body record whose content is the padding,
 * and reads it again. Returns false if there is no more data. */
static bool pass_padding(FCGX_Stream *in)
{
	unsigned char *header;
	char padding[UINT8_MAX];
	size_t size;

	/* libfcgi fills its buffer from an address that is a multiple of 8, and stopUnget lies in
	 * that buffer, so by either condition the whole header precedes rdNext. A header that was
	 * read in two parts is not found: libfcgi then fails at the padding, and the connection is
	 * closed. */
	if ((uintptr_t)in->rdNext % HEADER_SIZE != 0 && in->rdNext - in->stopUnget < HEADER_SIZE)
		return true;
	header = in->rdNext - HEADER_SIZE;
	if (header[0] != VERSION || header[1] != PARAMS || header[4] != 0 || header[5] != 0 ||
	    header[6] == 0)
		return true;
	size = header[6];
	header[1] = STDIN;
	header[5] = header[6];
	header[6] = 0;
	in->rdNext = in->stop = in->wrNext = header;
	return read_some(in, padding, size) == size;
}

/* Reads all input and keeps at most CALL_LARGE_BODY_MOST bytes. Returns false if the body is
 * incomplete: it must not be processed, because its beginning may be a valid body too. */
static bool read_body(FCGX_Stream *in, struct slice length_text, struct call *call)
{
	struct buffer body = BUFFER_INITIAL(call->arena);
	int64_t length = -1;
	char piece[4096];
	size_t total = 0;
	size_t n;

	if (length_text.size > 0 && (!text_integer(length_text, &length) || length < 0))
		return false;
	do {
		n = read_some(in, piece, sizeof piece);
		total += n;
		if (total <= CALL_LARGE_BODY_MOST)
			buffer_append(&body, (struct slice){ piece, n });
	} while (n == sizeof piece);
	call->request.body = buffer_slice(&body);
	call->request.body_is_too_large = total > CALL_LARGE_BODY_MOST;
	return FCGX_GetError(in) == 0 && (length < 0 || (uint64_t)length == total);
}

bool fastcgi_receive(struct exchange *exchange, int connection)
{
	FCGX_Request *request = &fastcgi_of(exchange)->request;
	struct arena *arena = exchange->call.arena;
	struct slice length = { NULL, 0 };

	assert(exchange->connection == -1);
	request->ipcFd = connection;
	request->keepConnection = 1;
	if (FCGX_Accept_r(request) != 0) {
		request->ipcFd = -1;
		return false;
	}
	exchange->call = (struct call){ .arena = arena, .started = clock_microseconds() };
	read_parameters(arena, request->envp, &exchange->call.request, &length);
	/* FCGX_Accept_r also succeeds when the connection ends between two parameters. */
	if (FCGX_GetError(request->in) != 0 || request->role != ROLE_RESPONDER ||
	    !pass_padding(request->in) || !read_body(request->in, length, &exchange->call)) {
		request->keepConnection = 0;
		FCGX_Finish_r(request);
		arena_reset(arena);
		return false;
	}
	exchange->connection = connection;
	return true;
}

/* ---- sending ---- */

static const char *reason_of(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
#define HTTP_STATUS(status, reason) { status, reason },
		HTTP_STATUSES(HTTP_STATUS)
#undef HTTP_STATUS
	};

	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Unknown";
}

bool fastcgi_may_wait(const struct exchange *exchange)
{
	struct pollfd peer = { .fd = exchange->connection, .events = POLLOUT };

	return exchange->call.answer.size > TAKEN_AT_ONCE || poll(&peer, 1, 0) != 1;
}

bool fastcgi_send(struct exchange *exchange, bool keep)
{
	FCGX_Request *request = &fastcgi_of(exchange)->request;
	struct arena *arena = exchange->call.arena;
	const struct answer *answer = &exchange->call.answer;
	const bool has_body = answer->status != 204 && answer->status != 304;
	const bool sends_body = has_body && !answer->is_head;
	struct fastcgi_records records = {
		.arena = arena,
		.connection = request->ipcFd,
		.request_id = (uint16_t)request->requestId,
		.is_last = !keep && request->keepConnection,
		.parts = answer->parts,
		.part_count = sends_body ? answer->part_count : 0,
		.size = sends_body ? answer->size : 0,
	};
	struct buffer head = BUFFER_INITIAL(arena);
	bool is_open;

	assert(exchange->connection >= 0);
	buffer_append(&head, SLICE("Status: "));
	buffer_append_integer(&head, answer->status);
	buffer_append_byte(&head, ' ');
	buffer_append_text(&head, reason_of(answer->status));
	buffer_append(&head, SLICE("\r\n"));
	for (size_t i = 0; i < answer->header_count; i++) {
		const struct slice value = answer->headers[i].value;

		assert(value.size == 0 || (memchr(value.data, '\r', value.size) == NULL &&
					   memchr(value.data, '\n', value.size) == NULL));
		buffer_append_text(&head, answer->headers[i].name);
		buffer_append(&head, SLICE(": "));
		buffer_append(&head, value);
		buffer_append(&head, SLICE("\r\n"));
	}
	if (has_body) {
		buffer_append(&head, SLICE("Content-Length: "));
		buffer_append_integer(&head, (json_int_t)answer->size);
		buffer_append(&head, SLICE("\r\n"));
	}
	buffer_append(&head, SLICE("\r\n"));
	records.head = buffer_slice(&head);

	if (!fastcgi_records_send(&records) || !keep)
		request->keepConnection = 0;
	request->out->wasFCloseCalled = 1;
	FCGX_Finish_r(request);
	is_open = request->ipcFd >= 0;
	request->ipcFd = -1;
	exchange->connection = -1;
	arena_reset(arena);
	return is_open;
}
