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

struct slice public_url_of(struct call *call)
{
	static const char bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-_:[]";
	const struct slice host = call->request.host;
	struct buffer url = BUFFER_INITIAL(call->arena);
	size_t valid = 0;

	if (call->environment->public_url != NULL)
		return slice_of(call->environment->public_url);

	/* The web server does not set other characters than those of a host with a port. */
	while (valid < host.size && host.data[valid] != '\0' &&
	       strchr(bytes, host.data[valid]) != NULL)
		valid++;
	buffer_append_text(&url, public_url_is_secure(call) ? "https://" : "http://");
	if (valid > 0 && valid == host.size && host.size <= HOST_MOST)
		buffer_append(&url, host);
	else
		buffer_append_text(&url, "localhost");
	return buffer_slice(&url);
}

const char *public_url_client(const struct call *call, const struct account *account)
{
	return account->client_url[0] != '\0' ? account->client_url : call->environment->client_url;
}
