/* The HTTP client of a build without libcurl: it cannot be opened.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/http_client.h"

bool http_client_open(struct http_client **client, struct fault *fault)
{
	*client = NULL;
	return fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "this command is not available: this program was built without libcurl");
}

void http_client_close(struct http_client *client)
{
	(void)client;
}

bool http_client_send(struct http_client *client, struct arena *arena,
		      const struct http_request *request, struct http_answer *answer,
		      struct fault *fault)
{
	(void)client;
	(void)arena;
	(void)request;
	(void)answer;
	return fault_set(fault, FAULT_INTERNAL, NULL);
}
