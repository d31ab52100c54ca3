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

/* Returns true if the URL has an http scheme followed by a host. */
static bool url_has_host(struct slice url)
{
	const size_t scheme = text_begins_ignoring_case(url, SLICE("https://"))	 ? 8
			      : text_begins_ignoring_case(url, SLICE("http://")) ? 7
										 : 0;

	return scheme > 0 && url.size > scheme && strchr("/?#:@", url.data[scheme]) == NULL;
}

struct place {
	const char *name;
	const char *flaw_before_fragment; /* NULL if it may be anywhere after the host */
};

static const struct place *find_placeholder(struct slice name)
{
	static const struct place places[] = {
		{ "token", "may contain {token} only after a #, because everything before it is "
			   "sent to servers and written to their logs" },
		{ "room_id", NULL },
		{ "role", NULL },
		{ "user_id", NULL },
		{ "name", NULL },
		{ "audio", NULL },
		{ "video", NULL },
		{ "join.link", "may contain {join.link} only after a #, or consist of it alone, "
			       "because the link has a token and everything before a # is sent "
			       "to servers" },
		{ "join.url", NULL },
		{ "join.token", "may contain {join.token} only after a #, because everything "
				"before it is sent to servers and written to their logs" },
	};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		if (slice_is(name, places[i].name))
			return &places[i];
	}
	return NULL;
}

const char *client_url_flaw(struct slice url)
{
	const char *fragment, *end;
	struct slice authority;

	if (url.size == 0 || url.size > CLIENT_URL_MOST)
		return "must have 1 to 512 characters";
	if (!is_visible(url))
		return "must be visible ASCII without spaces";
	if (slice_equal(url, LINK_PLACE))
		return NULL;
	if (!url_has_host(url))
		return "must begin with https:// or http:// and a host, or be {join.link}";
	if (!text_url_has_right_port(url))
		return TEXT_PORT_SENTENCE;

	/* The part of the URL that decides which server it leads to may not have placeholders,
	 * because people and media servers choose their values. */
	end = url.data + url.size;
	fragment = memchr(url.data, '#', url.size);
	authority = text_url_authority(url);
	for (const char *at = url.data; at < end; at++) {
		const char *close = memchr(at, '}', (size_t)(end - at));

		if (*at == '}')
			return "has a } without a matching {";
		if (*at != '{')
			continue;
		if (close == NULL)
			return "has a { without a matching }";

		const struct slice name = { at + 1, (size_t)(close - at - 1) };
		const struct place *place = find_placeholder(name);

		if (place == NULL)
			return "may contain only these placeholders: {token} {room_id} {role} {user_id} "
			       "{name} {audio} {video} {join.link} {join.url} {join.token}";
		if (at < authority.data + authority.size)
			return "must not have placeholders in its scheme, host or port";
		if (place->flaw_before_fragment != NULL && (fragment == NULL || at < fragment))
			return place->flaw_before_fragment;
		at = close;
	}
	return NULL;
}

const char *public_url_flaw(struct slice url)
{
	if (!is_visible(url) || !url_has_host(url))
		return "must begin with https:// or http:// and a host";
	if (!text_url_has_right_port(url))
		return TEXT_PORT_SENTENCE;
	if (memchr(url.data, '?', url.size) != NULL || memchr(url.data, '#', url.size) != NULL ||
	    memchr(url.data, '@', url.size) != NULL)
		return "must not have a query, a fragment or user info";
	return url.data[url.size - 1] == '/' ? "must not end with a /" : NULL;
}
