/* See command/http_client.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/http_client.h"

#include <curl/curl.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"

#define CONNECT_SECONDS 10L
/* A request whose Idempotency-Key is in use waits 10 s for it; web servers allow a response 30
 * s. */
#define ANSWER_SECONDS 60L
/* A file may take hours; it fails if nothing comes for so long. */
#define SILENCE_SECONDS 60L

struct http_client {
	CURL *curl;
	char reason[CURL_ERROR_SIZE]; /* why the last request failed */
};

/* What is received. */
struct received {
	CURL *curl;
	struct buffer body;
	FILE *file; /* which takes the body if the status is 200; or NULL */
};

static size_t append_received(char *bytes, size_t one, size_t size, void *context)
{
	struct received *received = context;
	struct buffer *body = &received->body;
	long status = 0;

	(void)one;
	(void)curl_easy_getinfo(received->curl, CURLINFO_RESPONSE_CODE, &status);
	if (received->file != NULL && status == 200)
		return fwrite(bytes, 1, size, received->file);
	if (size > HTTP_ANSWER_MOST - body->size)
		return 0;
	buffer_append(body, (struct slice){ bytes, size });
	return size;
}

bool http_client_open(struct http_client **client, struct fault *fault)
{
	*client = memory_check(calloc(1, sizeof **client));
	if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		(*client)->curl = curl_easy_init();
	if ((*client)->curl != NULL)
		return true;
	http_client_close(*client);
	*client = NULL;
	return fault_cause(fault, FAULT_INTERNAL, 0, "cannot initialise libcurl");
}

void http_client_close(struct http_client *client)
{
	if (client == NULL)
		return;
	curl_easy_cleanup(client->curl);
	curl_global_cleanup();
	free(client);
}

/* Sets the options of one request. Those of the request before are reset, but its connection is
 * kept. */
static bool set_options(struct http_client *client, const struct http_request *request,
			struct curl_slist *headers, struct received *received)
{
	CURL *curl = client->curl;

	curl_easy_reset(curl);
	client->reason[0] = '\0';
	return (request->body.data == NULL ||
		(curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.data) == CURLE_OK &&
		 curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
				  (curl_off_t)request->body.size) == CURLE_OK)) &&
	       curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_URL, request->url) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_USERAGENT, "anteroom/" PACKAGE_VERSION) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append_received) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_WRITEDATA, received) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENCE_SECONDS) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_TIMEOUT,
				request->file == NULL ? ANSWER_SECONDS : 0L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->reason) == CURLE_OK;
}

/* Returns whether a failure may be temporary: a service that restarts, a network that is down. */
static bool may_pass(CURLcode result)
{
	return result == CURLE_COULDNT_RESOLVE_PROXY || result == CURLE_COULDNT_RESOLVE_HOST ||
	       result == CURLE_COULDNT_CONNECT || result == CURLE_PARTIAL_FILE ||
	       result == CURLE_OPERATION_TIMEDOUT || result == CURLE_SSL_CONNECT_ERROR ||
	       result == CURLE_GOT_NOTHING || result == CURLE_SEND_ERROR ||
	       result == CURLE_RECV_ERROR || result == CURLE_HTTP2 || result == CURLE_HTTP2_STREAM;
}

bool http_client_send(struct http_client *client, struct arena *arena,
		      const struct http_request *request, struct http_answer *answer,
		      struct fault *fault)
{
	struct received received = {
		.curl = client->curl,
		.body = BUFFER_INITIAL(arena),
		.file = request->file,
	};
	struct curl_slist *headers = NULL;
	CURLcode result = CURLE_FAILED_INIT;
	curl_off_t seconds = 0;
	char *location = NULL;
	long status = 0;

	for (int i = 0; i < HTTP_HEADERS_MOST && request->headers[i] != NULL; i++)
		headers = memory_check(curl_slist_append(headers, request->headers[i]));
	if (set_options(client, request, headers, &received))
		result = curl_easy_perform(client->curl);
	curl_slist_free_all(headers);
	if (result != CURLE_OK) {
		/* The reason may quote text from a server, such as the names in its certificate. */
		const char *reason = client->reason[0] != '\0' ? client->reason
							       : curl_easy_strerror(result);
		const struct slice shown = text_visible(arena, slice_of(reason));

		return fault_cause(fault, may_pass(result) ? FAULT_UNAVAILABLE : FAULT_INTERNAL, 0,
				   "no response: %.*s", (int)shown.size, shown.data);
	}
	(void)curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &seconds);
	(void)curl_easy_getinfo(client->curl, CURLINFO_REDIRECT_URL, &location);
	*answer = (struct http_answer){
		.status = (int)status,
		.retry_after = seconds,
		.body = buffer_slice(&received.body),
		.location = location == NULL ? NULL : arena_text(arena, "%s", location),
	};
	return true;
}
