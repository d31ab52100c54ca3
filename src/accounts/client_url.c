/* See accounts/client_url.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/client_url.h"

#include <string.h>

#include "base/text.h"

#define LINK_PLACE SLICE("{join.link}")

static bool is_visible(struct slice url)
{
	for (size_t i = 0; i < url.size; i++) {
		if (url.data[i] <= ' ' || url.data[i] > '~')
			return false;
	}
	return true;
}

/* Something follows the scheme that is no path yet. */
static bool has_host(struct slice url)
{
	const size_t scheme = text_begins_ignoring_case(url, SLICE("https://"))	 ? 8
			      : text_begins_ignoring_case(url, SLICE("http://")) ? 7
										 : 0;

	return scheme > 0 && url.size > scheme && strchr("/?#:@", url.data[scheme]) == NULL;
}

static bool is_place(struct slice name)
{
	static const char *const places[] = {
		"token", "room_id", "role", "user_id", "name", "audio", "video", "join.link",
	};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		if (slice_is(name, places[i]))
			return true;
	}
	return false;
}

/* What a person or a media server chose is in no part of the URL that says who is reached. */
static const char *flaw_of_places(struct slice url)
{
	const char *fragment = memchr(url.data, '#', url.size);
	const struct slice authority = text_url_authority(url);
	const char *const end = url.data + url.size;

	for (const char *at = url.data; at < end; at++) {
		const char *close = memchr(at, '}', (size_t)(end - at));

		if (*at == '}')
			return "has a } without a {";
		if (*at != '{')
			continue;
		if (close == NULL)
			return "has a { without a }";

		const struct slice name = { at + 1, (size_t)(close - at - 1) };

		if (!is_place(name))
			return "may have {token} {room_id} {role} {user_id} {name} {audio} {video} "
			       "{join.link} in braces, and nothing else";
		if (at < authority.data + authority.size)
			return "may have nothing in braces in its scheme, host and port";
		if (slice_is(name, "join.link") && (fragment == NULL || at < fragment))
			return "may have {join.link} only after a #, or be nothing else: what "
			       "precedes it is sent to servers, and the link has a token";
		if (slice_is(name, "token") && (fragment == NULL || at < fragment))
			return "may have {token} only after a #: what precedes it is sent to "
			       "servers, which write it to their logs";
		at = close;
	}
	return NULL;
}

const char *client_url_flaw(struct slice url)
{
	if (url.size == 0 || url.size > CLIENT_URL_MOST)
		return "must have 1 to 512 characters";
	if (!is_visible(url))
		return "must be visible ASCII without spaces";
	if (slice_equal(url, LINK_PLACE))
		return NULL;
	if (!has_host(url))
		return "must begin with https:// or http:// and a host, or be {join.link}";
	if (!text_url_has_right_port(url))
		return TEXT_PORT_SENTENCE;
	return flaw_of_places(url);
}

const char *public_url_flaw(struct slice url)
{
	if (!is_visible(url) || !has_host(url))
		return "must begin with https:// or http:// and a host";
	if (!text_url_has_right_port(url))
		return TEXT_PORT_SENTENCE;
	if (memchr(url.data, '?', url.size) != NULL || memchr(url.data, '#', url.size) != NULL ||
	    memchr(url.data, '@', url.size) != NULL)
		return "must be without query, fragment and user info";
	return url.data[url.size - 1] == '/' ? "must not end with a /" : NULL;
}
