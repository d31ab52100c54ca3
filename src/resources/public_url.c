/* See resources/public_url.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/public_url.h"

#include "accounts/accounts.h"
#include "base/text.h"

bool public_url_is_secure(const struct call *call)
{
	const char *url = call->environment->public_url;

	return url != NULL ? text_begins_ignoring_case(slice_of(url), SLICE("https:"))
			   : text_equal_ignoring_case(call->request.https, SLICE("on"));
}

/* The size of a name of 253 bytes with a port; a QR code could not hold much more. */
#define HOST_MOST 259

/* True if these are characters of a host with a port; otherwise the web server did not set them. */
static bool host_is_valid(struct slice host)
{
	static const char bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-_:[]";

	for (size_t i = 0; i < host.size; i++) {
		if (host.data[i] == '\0' || strchr(bytes, host.data[i]) == NULL)
			return false;
	}
	return host.size > 0 && host.size <= HOST_MOST;
}

struct slice public_url_of(struct call *call)
{
	const struct slice host = host_is_valid(call->request.host) ? call->request.host
								    : SLICE("localhost");
	struct buffer url = BUFFER_INITIAL(call->arena);

	if (call->environment->public_url != NULL)
		return slice_of(call->environment->public_url);
	buffer_append_text(&url, public_url_is_secure(call) ? "https://" : "http://");
	buffer_append(&url, host);
	return buffer_slice(&url);
}

const char *public_url_client(const struct call *call, const struct account *account)
{
	return account->client_url[0] != '\0' ? account->client_url : call->environment->client_url;
}
