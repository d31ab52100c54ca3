/* The process of a sender (delivery/sender.h): one loop for libcurl's transfers and the socket to
 * the service.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/sender.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/counter.h"
#include "base/directory.h"
#include "base/memory.h"
#include "delivery/address.h"
#include "delivery/confine.h"
#include "delivery/sender_wire.h"

/* Maximum bytes read of a response, including its headers, beyond those that are wanted. */
#define ANSWER_MOST ((size_t)64 << 10)
/* Maximum milliseconds to wait; libcurl's own timeouts are shorter. */
#define PAUSE 60000
/* Bytes of a file that are read at a time. */
#define UPLOAD_BUFFER 262144L
/* The result for a header above libcurl's limit of 100 KiB. */
#if LIBCURL_VERSION_NUM >= 0x080600
#define HEADER_TOO_LARGE CURLE_TOO_LARGE
#else
#define HEADER_TOO_LARGE CURLE_OUT_OF_MEMORY
#endif

struct transfer {
	CURL *curl;
	struct curl_slist *headers;
	char *url, *body;
	uint64_t number;
	bool is_once;
	size_t received; /* bytes of the response */
	char *answer; /* the body, up to answer_most bytes */
	size_t answer_size, answer_capacity, answer_most;
	unsigned patience;
	enum sender_method method;
	int file; /* that is sent; -1 if there is none */
	uint64_t file_size, file_at;
	bool is_to_storage;
	bool is_plain; /* not https */
	bool is_refused; /* an address was not allowed */
	bool has_socket; /* an address was allowed */
	bool has_body; /* the headers are complete */
	bool is_long; /* the response is longer than it may be */
	const struct process *process;
};

struct process {
	struct wire_options options;
	struct curl_blob authorities; /* PEM */
	CURLM *multi;
	size_t under_way;
	char message[WIRE_MOST];
};

/* ---- one transfer ---- */

static size_t pass_over_bytes(struct transfer *transfer, size_t size)
{
	transfer->received += size;
	transfer->is_long = transfer->received > ANSWER_MOST + transfer->answer_most;
	return transfer->is_long ? 0 : size;
}

static size_t take_header(char *bytes, size_t one, size_t size, void *context)
{
	(void)bytes;
	return pass_over_bytes(context, one * size);
}

static size_t take_body(char *bytes, size_t one, size_t size, void *context)
{
	struct transfer *transfer = context;
	const size_t added = one * size, end = transfer->answer_size + added;

	transfer->has_body = true;
	if (transfer->answer_most == 0)
		return pass_over_bytes(transfer, added);
	transfer->is_long = end > transfer->answer_most;
	if (transfer->is_long)
		return 0;
	transfer->answer = memory_room(transfer->answer, end, &transfer->answer_capacity, 1);
	memcpy(transfer->answer + transfer->answer_size, bytes, added);
	transfer->answer_size = end;
	return pass_over_bytes(transfer, added);
}

/* Called by libcurl with the address that it will connect to, after every DNS lookup. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *transfer = context;
	const struct wire_options *options = &transfer->process->options;
	const struct address_ranges *ranges = transfer->is_to_storage ? &options->storage_ranges
								      : &options->ranges;
	const bool is_allowed =
		transfer->is_to_storage
			? (address_is_global(&address->addr) && !transfer->is_plain) ||
				  address_is_within(&address->addr, ranges)
			: options->allows_private || address_is_global(&address->addr) ||
				  address_is_within(&address->addr, ranges);

	(void)purpose;
	if (!is_allowed) {
		transfer->is_refused = true;
		return CURL_SOCKET_BAD;
	}
	transfer->has_socket = true;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Gives libcurl the next bytes of the file; nothing if there is none. A file that has become
 * shorter is not sent. */
static size_t read_file(char *bytes, size_t one, size_t most, void *context)
{
	struct transfer *transfer = context;
	const uint64_t left = transfer->file_size - transfer->file_at;
	const size_t wanted = one * most < left ? one * most : (size_t)left;
	ssize_t size;

	if (wanted == 0)
		return 0;
	do {
		size = pread(transfer->file, bytes, wanted, (off_t)transfer->file_at);
	} while (size < 0 && errno == EINTR);
	if (size <= 0)
		return CURL_READFUNC_ABORT;
	transfer->file_at += (uint64_t)size;
	return (size_t)size;
}

/* Called by libcurl if it has to begin again. */
static int seek_file(void *context, curl_off_t offset, int origin)
{
	struct transfer *transfer = context;

	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_FAIL;
	transfer->file_at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* Sends a file, or nothing, and ends when it stands still. */
static bool set_upload(struct transfer *transfer)
{
	CURL *curl = transfer->curl;

	return curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)transfer->file_size) ==
		       CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_file) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_READDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_file) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_SEEKDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
				(long)transfer->process->options.stall_patience) == CURLE_OK;
}

static bool set_request(struct transfer *transfer, size_t body_size)
{
	CURL *curl = transfer->curl;

	if (transfer->method == SENDER_PUT && !set_upload(transfer))
		return false;
	if (transfer->method != SENDER_PUT && body_size == 0 &&
	    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L) != CURLE_OK)
		return false;
	if (transfer->method == SENDER_DELETE &&
	    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "DELETE") != CURLE_OK)
		return false;
	if (body_size > 0 &&
	    (curl_easy_setopt(curl, CURLOPT_POST, 1L) != CURLE_OK ||
	     curl_easy_setopt(curl, CURLOPT_POSTFIELDS, transfer->body) != CURLE_OK ||
	     curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_size) !=
		     CURLE_OK))
		return false;
	return curl_easy_setopt(curl, CURLOPT_URL, transfer->url) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_USERAGENT, "Anteroom/" PACKAGE_VERSION) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) ==
		       CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT,
				transfer->is_once || transfer->is_to_storage ? 1L : 0L) ==
		       CURLE_OK &&
	       /* An address is judged when its connection is made, so those of object storage are
		* not for others. */
	       curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, transfer->is_to_storage ? 1L : 0L) ==
		       CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK;
}

/* Sets the limits. Without CURLOPT_QUICK_EXIT, a transfer that timed out would wait for its DNS
 * lookup, and so would all other transfers. */
static bool set_limits(struct transfer *transfer)
{
	const struct process *process = transfer->process;
	CURL *curl = transfer->curl;

	return curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR,
				process->options.allows_http || transfer->is_to_storage
					? "http,https"
					: "https") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_NOPROXY, "*") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) ==
		       CURLE_OK &&
	       (process->authorities.len == 0 ||
		curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &process->authorities) == CURLE_OK) &&
	       /* A body that is too long by its header is not read at all; 0 is no limit. */
	       curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE,
				(curl_off_t)transfer->answer_most) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)transfer->patience) == CURLE_OK &&
	       (process->options.connect_patience == 0 ||
		curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
				 (long)process->options.connect_patience) == CURLE_OK) &&
	       curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PRIVATE, transfer) == CURLE_OK;
}

static char *copy_text(const char *data, size_t size)
{
	char *text = memory_check(malloc(size + 1));

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void end_transfer(struct process *process, struct transfer *transfer)
{
	curl_multi_remove_handle(process->multi, transfer->curl);
	curl_easy_cleanup(transfer->curl);
	curl_slist_free_all(transfer->headers);
	free(transfer->url);
	free(transfer->body);
	free(transfer->answer);
	if (transfer->file >= 0)
		close(transfer->file);
	free(transfer);
	COUNTER_LOWER(process->under_way, 1u);
}

/* ---- outcomes ---- */

/* What libcurl's results mean, with our own texts, because text from a server is never shown. */
/* clang-format off */
static const struct meaning {
	CURLcode result;
	enum sender_failure failure;
	const char *text;
} meanings[] = {
	{ CURLE_UNSUPPORTED_PROTOCOL, SENDER_NOT_ALLOWED, "protocol not allowed" },
	{ CURLE_URL_MALFORMAT, SENDER_OTHER, "not a valid URL" },
	{ CURLE_COULDNT_RESOLVE_HOST, SENDER_NO_NAME, "host not found" },
	{ CURLE_COULDNT_CONNECT, SENDER_REFUSED, "cannot connect" },
	{ CURLE_OPERATION_TIMEDOUT, SENDER_TIMED_OUT, "timed out" },
	{ CURLE_PEER_FAILED_VERIFICATION, SENDER_NO_TLS, "certificate not trusted" },
	{ CURLE_SSL_CACERT_BADFILE, SENDER_NO_TLS, "cannot read the certificate authorities" },
	{ CURLE_SSL_CONNECT_ERROR, SENDER_NO_TLS, "TLS connection failed" },
	{ CURLE_PARTIAL_FILE, SENDER_REFUSED, "connection closed" },
	{ CURLE_GOT_NOTHING, SENDER_REFUSED, "connection closed" },
	{ CURLE_SEND_ERROR, SENDER_REFUSED, "connection closed" },
	{ CURLE_RECV_ERROR, SENDER_REFUSED, "connection closed" },
	{ CURLE_WEIRD_SERVER_REPLY, SENDER_NO_HTTP, "no HTTP response" },
	{ CURLE_FILESIZE_EXCEEDED, SENDER_TOO_LONG, "response too long" },
	{ CURLE_ABORTED_BY_CALLBACK, SENDER_OTHER, "the file cannot be read" },
};
/* clang-format on */

/* Sets why a request failed, if it did. After a connection, some results have another meaning:
 * libcurl takes a response without a status line for HTTP 0.9, and reports that this protocol is
 * not allowed. The unwanted part of a response is not read, so it may be of any length. */
static void set_failure(const struct transfer *transfer, CURLcode result, struct outcome *outcome)
{
	struct meaning meaning = { result, SENDER_NO_FAILURE, "" };

	if (result == CURLE_COULDNT_CONNECT && transfer->is_refused) {
		meaning = (struct meaning){ result, SENDER_NOT_ALLOWED, "address not allowed" };
	} else if (!transfer->has_body && transfer->has_socket &&
		   (transfer->is_long || result == HEADER_TOO_LARGE)) {
		meaning = (struct meaning){ result, SENDER_NO_HTTP, "response headers too large" };
	} else if (result == CURLE_UNSUPPORTED_PROTOCOL && transfer->has_socket) {
		meaning = (struct meaning){ result, SENDER_NO_HTTP, "no HTTP response" };
	} else if (transfer->is_long && transfer->answer_most > 0) {
		meaning = (struct meaning){ result, SENDER_TOO_LONG, "response too long" };
	} else if (result != CURLE_OK && !transfer->is_long) {
		meaning = (struct meaning){ result, SENDER_OTHER, curl_easy_strerror(result) };
		for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
			if (meanings[i].result == result)
				meaning = meanings[i];
		}
	}
	outcome->failure = meaning.failure;
	(void)snprintf(outcome->error, sizeof outcome->error, "%s", meaning.text);
}

static void describe_outcome(const struct transfer *transfer, CURLcode result,
			     struct outcome *outcome)
{
	CURL *curl = transfer->curl;
	struct curl_header *header;
	long status = 0, sent = 0;
	long long seconds;
	char *end;

	(void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &sent);
	outcome->status = (int)status;
	outcome->was_sent = sent > 0;

	/* Seconds or a date, which may have passed. libcurl's own value is not used, because newer
	 * versions limit it to six hours. */
	outcome->retry_after = 0;
	if (curl_easy_header(curl, "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK) {
		seconds = strtoll(header->value, &end, 10);
		if (end == header->value || *end != '\0')
			seconds = (long long)curl_getdate(header->value, NULL) -
				  (long long)time(NULL);
		outcome->retry_after = seconds > 0 ? seconds : 0;
	}
	outcome->date = 0;
	if (curl_easy_header(curl, "Date", 0, CURLH_HEADER, -1, &header) == CURLHE_OK) {
		const time_t date = curl_getdate(header->value, NULL);

		outcome->date = date > 0 ? (int64_t)date : 0;
	}

	set_failure(transfer, result, outcome);
	if (outcome->failure == SENDER_NO_FAILURE)
		outcome->answer_size = transfer->answer_size;
}

static bool send_packet(const void *bytes, size_t size)
{
	return send(SENDER_SOCKET, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* Sends an outcome with its body. Returns false if the service has ended. */
static bool report(const struct outcome *outcome, const char *answer)
{
	if (!send_packet(outcome, sizeof *outcome))
		return false;
	for (size_t at = 0; at < outcome->answer_size; at += WIRE_CHUNK) {
		const size_t left = outcome->answer_size - at;

		if (!send_packet(answer + at, left < WIRE_CHUNK ? left : WIRE_CHUNK))
			return false;
	}
	return true;
}

static bool report_ended(struct process *process)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(process->multi, &left)) != NULL) {
		struct outcome outcome = { .number = 0 };
		const CURLcode result = message->data.result;
		char *context = NULL;
		struct transfer *transfer;
		bool is_reported;

		if (message->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
		transfer = (struct transfer *)(void *)context;
		outcome.number = transfer->number;
		describe_outcome(transfer, result, &outcome);
		is_reported = report(&outcome, transfer->answer);
		end_transfer(process, transfer);
		if (!is_reported)
			return false;
	}
	return true;
}

/* ---- requests ---- */

/* file: the descriptor that came with it, or -1. */
static bool begin_transfer(struct process *process, const struct wire_delivery *wire,
			   const char *bytes, int file)
{
	struct transfer *transfer = memory_check(malloc(sizeof *transfer));
	struct outcome outcome = { .number = wire->number };
	char *lines = copy_text(bytes + wire->url_size, wire->headers_size);
	char *rest = lines, *line;
	/* Otherwise libcurl would wait a second for permission to send a large body. */
	struct curl_slist *headers = memory_check(curl_slist_append(NULL, "Expect:"));

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line != '\0')
			headers = memory_check(curl_slist_append(headers, line));
	}
	free(lines);

	*transfer = (struct transfer){
		.curl = memory_check(curl_easy_init()),
		.headers = headers,
		.url = copy_text(bytes, wire->url_size),
		.body = copy_text(bytes + wire->url_size + wire->headers_size, wire->body_size),
		.number = wire->number,
		.is_once = wire->is_once,
		.method = wire->method,
		.is_to_storage = wire->is_to_storage,
		.is_plain = wire->url_size < 6 || strncasecmp(bytes, "https:", 6) != 0,
		.file = file,
		.file_size = wire->has_file ? wire->file_size : 0,
		.patience = wire->patience != 0 && wire->patience < process->options.patience
				    ? wire->patience
				    : process->options.patience,
		.answer_most = wire->answer_most,
		.process = process,
	};
	process->under_way++;
	if (set_request(transfer, wire->body_size) && set_limits(transfer) &&
	    curl_multi_add_handle(process->multi, transfer->curl) == CURLM_OK)
		return true;
	end_transfer(process, transfer);
	outcome.failure = SENDER_OTHER;
	(void)snprintf(outcome.error, sizeof outcome.error, "not a valid URL");
	return report(&outcome, NULL);
}

/* Receives a message, and the descriptor that came with it, or -1. Returns its size as recv. */
static ssize_t take_message(struct process *process, int *file)
{
	struct iovec vector = { process->message, sizeof process->message };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof control };
	const ssize_t size = recvmsg(SENDER_SOCKET, &message,
				     MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = size < 0 ? NULL : CMSG_FIRSTHDR(&message);

	*file = -1;
	if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof *file))
		memcpy(file, CMSG_DATA(header), sizeof *file);
	return size;
}

/* Reads messages. Returns false if the service has ended. */
static bool take_requests(struct process *process)
{
	struct wire_delivery wire;
	ssize_t size = 0;
	int file;

	while (process->under_way < process->options.most) {
		size = take_message(process, &file);
		if (size < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (size < (ssize_t)sizeof wire)
			return false;
		memcpy(&wire, process->message, sizeof wire);
		if ((size_t)size !=
		    sizeof wire + (size_t)wire.url_size + wire.headers_size + wire.body_size)
			return false;
		if ((size_t)size > sizeof process->message) {
			struct outcome outcome = { .number = wire.number, .failure = SENDER_OTHER };

			(void)snprintf(outcome.error, sizeof outcome.error, "request too large");
			if (!report(&outcome, NULL))
				return false;
		} else if (!begin_transfer(process, &wire, process->message + sizeof wire, file)) {
			return false;
		}
	}
	return true;
}

/* ---- the beginning ---- */

/* Returns 0 or an errno. */
static int read_authorities(struct process *process)
{
	struct curl_blob *blob = &process->authorities;
	struct stat status;
	ssize_t size = -1;
	int file, error;

	if (process->options.authorities[0] == '\0')
		return 0;
	file = regular_file_open(process->options.authorities, O_RDONLY, 0);
	if (file >= 0 && fstat(file, &status) == 0) {
		blob->data = memory_check(malloc((size_t)status.st_size + 1));
		size = read(file, blob->data, (size_t)status.st_size);
	}
	error = errno;
	if (file >= 0)
		close(file);
	if (size < 0)
		return error;
	blob->len = (size_t)size;
	blob->flags = CURL_BLOB_NOCOPY;
	return size > 0 ? 0 : EINVAL;
}

bool sender_is_built(void)
{
	return true;
}

static bool begin_work(struct process *process, const char *argument)
{
	struct wire_options *options = &process->options;
	struct wire_ready ready;

	if (recv(SENDER_SOCKET, options, sizeof *options, 0) != (ssize_t)sizeof *options) {
		fprintf(stderr, "anteroom %s: is started by the service\n", argument);
		return false;
	}
	ready.error = read_authorities(process);
	if (ready.error == 0 && !confine()) {
		fprintf(stderr, "anteroom %s: %s\n", argument, strerror(errno));
		return false;
	}
	return send(SENDER_SOCKET, &ready, sizeof ready, MSG_NOSIGNAL) == (ssize_t)sizeof ready &&
	       ready.error == 0 && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

int sender_run(const char *argument)
{
	static const int ignored[] = { SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct process *process = memory_check(calloc(1, sizeof *process));
	bool is_ready, goes_on;
	int running;

	/* The process ends when its socket to the service is closed, not by a signal that is sent
	 * to all processes of the service. */
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		(void)sigaction(ignored[i], &ignore, NULL);

	is_ready = goes_on = begin_work(process, argument);
	if (is_ready)
		process->multi = memory_check(curl_multi_init());
	while (goes_on) {
		struct curl_waitfd service = { .fd = SENDER_SOCKET, .events = CURL_WAIT_POLLIN };

		goes_on = curl_multi_poll(process->multi, &service,
					  process->under_way < process->options.most, PAUSE,
					  NULL) == CURLM_OK &&
			  take_requests(process) &&
			  curl_multi_perform(process->multi, &running) == CURLM_OK &&
			  report_ended(process);
	}
	/* _exit, because DNS lookups may still be running in threads and must keep their memory. */
	_exit(is_ready ? EXIT_SUCCESS : EXIT_FAILURE);
}
