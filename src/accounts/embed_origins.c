/* See accounts/embed_origins.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/embed_origins.h"

#include <string.h>

#include "base/text.h"

#define HOST_MOST 253

/* Returns true for a name or an IPv4 address in lower case. */
static bool host_is_plain(struct slice host)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";

	if (host.size == 0 || host.size > HOST_MOST)
		return false;
	for (size_t i = 0; i < host.size; i++) {
		const bool is_edge = i == 0 || i == host.size - 1;

		if (host.data[i] == '\0' || strchr(letters, host.data[i]) == NULL ||
		    (is_edge && strchr(".-", host.data[i]) != NULL))
			return false;
	}
	return true;
}

const char *embed_origins_flaw(struct slice list)
{
	struct slice origins[EMBED_ORIGINS_MOST], rest = list;
	size_t count = 0;

	if (list.size > EMBED_TEXT_MOST)
		return "must have at most 512 characters";
	while (rest.data != NULL) {
		struct slice origin, authority, host;
		bool is_secure;
		unsigned port;

		if (count == EMBED_ORIGINS_MOST)
			return "must have at most 8 origins";
		origins[count] = origin = text_split(rest, ',', &rest);
		is_secure = slice_begins(origin, SLICE("https://"));
		authority = text_url_authority(origin);
		if (!is_secure && !slice_begins(origin, SLICE("http://")))
			return "must have origins that begin with https://, such as "
			       "https://www.example.org";
		if (authority.data + authority.size != origin.data + origin.size)
			return "must have origins without a path, also without a / at the end";
		if (!text_url_split_port(authority, &host, &port))
			return TEXT_PORT_SENTENCE;
		if (!host_is_plain(host))
			return "must have hosts of a to z, 0 to 9, dots and hyphens, in lower case as "
			       "browsers write them";
		if (host.size < authority.size && port == (is_secure ? 443 : 80))
			return "must not have the default port, which browsers leave out";
		if (host.size < authority.size && port == 0)
			return "must have a port after each colon";
		if (!is_secure && !slice_is(host, "localhost") && !slice_is(host, "127.0.0.1"))
			return "may have http:// only for localhost and 127.0.0.1";
		for (size_t i = 0; i < count; i++) {
			if (slice_equal(origins[i], origins[count]))
				return "must not have an origin twice";
		}
		count++;
	}
	return NULL;
}
