/* See rules/text_rules.h. Tests compare the sentences with the rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/text_rules.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/memory.h"
#include "base/text.h"

#define NAME_CHARACTERS "a-zA-Z0-9 ._:-"

const char *const fields_of_100ms[] = {
	"app_id", "appId", "enabled_source_template", "key", "active", "user", NULL,
};

const struct text_rule any_text = {
	.sentence = "must be a string",
	.longest = SIZE_MAX,
};

const struct text_rule some_text = {
	.sentence = "must not be empty",
	.shortest = 1,
	.longest = SIZE_MAX,
};

const struct text_rule any_256_text = {
	.sentence = "must be at most 256 characters",
	.longest = 256,
};

const struct text_rule some_128_text = {
	.sentence = "must be 1 to 128 characters",
	.shortest = 1,
	.longest = 128,
};

const struct text_rule some_100_text = {
	.sentence = "must be 1 to 100 characters",
	.shortest = 1,
	.longest = 100,
};

const struct text_rule some_256_text = {
	.sentence = "must be 1 to 256 characters",
	.shortest = 1,
	.longest = 256,
};

const struct text_rule line_64_text = {
	.sentence = "must be at most 64 characters, without control characters",
	.longest = 64,
	.no_controls = true,
};

const struct text_rule line_256_text = {
	.sentence = "must be at most 256 characters",
	.longest = 256,
	.no_controls = true,
};

const struct text_rule some_line_64_text = {
	.sentence = "must be 1 to 64 characters",
	.shortest = 1,
	.longest = 64,
	.no_controls = true,
};

const struct text_rule some_line_128_text = {
	.sentence = "must be 1 to 128 characters",
	.shortest = 1,
	.longest = 128,
	.no_controls = true,
};

const struct text_rule some_line_256_text = {
	.sentence = "must be 1 to 256 characters",
	.shortest = 1,
	.longest = 256,
	.no_controls = true,
};

void text_clean_member(json_t *object, const char *name)
{
	const struct slice text = text_of_json(json_object_get(object, name));
	struct slice cleaned;
	char *clean;

	if (text.data == NULL || (!text_has_controls(text) && !text_has_bidi(text)))
		return;
	clean = memory_check(malloc(text.size));
	cleaned = (struct slice){ clean, text_without_controls(text, clean) };
	cleaned.size = text_remove_bidi(cleaned, clean);
	object_put(object, name, json_of_text(cleaned));
	free(clean);
}

void text_clean_bidi(json_t *object, const char *name)
{
	const struct slice text = text_of_json(json_object_get(object, name));
	char *clean;

	if (text.data == NULL || !text_has_bidi(text))
		return;
	clean = memory_check(malloc(text.size));
	object_put(object, name,
		   json_of_text((struct slice){ clean, text_remove_bidi(text, clean) }));
	free(clean);
}

struct slice text_shown_title(struct arena *arena, const json_t *document)
{
	const struct slice title = text_of_json(json_object_get(document, "title"));

	return title.data == NULL ? title : text_without_bidi(arena, title);
}

const struct text_rule url_text = {
	.sentence = "must be 1 to 2048 bytes",
	.shortest = 1,
	.longest = 2048,
	.counts_bytes = true,
};

bool text_may_be_url(struct slice text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] <= ' ' || text.data[i] > '~' ||
		    strchr("\"#<>\\^`{|}", text.data[i]) != NULL)
			return false;
	}
	return true;
}

/* ---- the server of a URL ---- */

bool url_place_parse(struct slice url, struct url_place *place)
{
	static const struct {
		const char *scheme;
		unsigned port;
	} defaults[] = { { "https", 443 }, { "wss", 443 }, { "http", 80 }, { "ws", 80 } };
	const struct slice authority = text_url_authority(url);
	const char *colon = authority.data == NULL ? NULL : memchr(url.data, ':', url.size);

	if (colon == NULL || colon == url.data || colon + 3 != authority.data ||
	    !text_url_split_port(authority, &place->host, &place->port))
		return false;
	place->scheme = (struct slice){ url.data, (size_t)(colon - url.data) };
	for (size_t i = 0; i < sizeof defaults / sizeof defaults[0] && place->port == 0; i++) {
		if (text_equal_ignoring_case(place->scheme, slice_of(defaults[i].scheme)))
			place->port = defaults[i].port;
	}
	return place->host.size > 0 && memchr(place->host.data, '@', place->host.size) == NULL &&
	       (place->host.data[0] == '[' ||
		memchr(place->host.data, ':', place->host.size) == NULL);
}

/* Parses an IPv6 address in brackets. */
static bool parse_ipv6(struct slice host, struct in6_addr *address)
{
	char text[INET6_ADDRSTRLEN];

	if (host.size < 2 || host.size - 2 >= sizeof text || host.data[0] != '[')
		return false;
	memcpy(text, host.data + 1, host.size - 2);
	text[host.size - 2] = '\0';
	return inet_pton(AF_INET6, text, address) == 1;
}

/* Compares two hosts. A name with a dot at its end is another host: without the dot, a resolver may
 * add a domain of its own (resolv.conf(5), search). */
static bool is_same_host(struct slice a, struct slice b)
{
	struct in6_addr one, other;

	if (parse_ipv6(a, &one) && parse_ipv6(b, &other))
		return memcmp(&one, &other, sizeof one) == 0;
	return text_equal_ignoring_case(a, b);
}

bool url_same_place(struct slice a, struct slice b)
{
	struct url_place one, other;

	return slice_equal(a, b) || (url_place_parse(a, &one) && url_place_parse(b, &other) &&
				     text_equal_ignoring_case(one.scheme, other.scheme) &&
				     one.port == other.port && is_same_host(one.host, other.host));
}

const struct text_rule id_text = {
	.characters = "0-9a-f",
	.sentence = "must be an ID (24 lower-case hex digits)",
	.shortest = 24,
	.longest = 24,
	.example = "6925c84100000000000000b1",
};

const struct text_rule time_text = {
	.characters = "0-9TZ:.-",
	.sentence = "must be a time",
	.shortest = 20,
	.longest = 24,
	.format = "date-time",
	.example = "2026-11-23T09:00:00Z",
};

const struct text_rule bytes_32_text = {
	.characters = "a-zA-Z0-9_-",
	.sentence = "must be 43 characters out of a-z A-Z 0-9 - _",
	.shortest = 43,
	.longest = 43,
	.example = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
};

const struct text_rule room_code_text = {
	.characters = "a-z0-9-",
	.sentence = "must be a room code",
	.shortest = 6,
	.longest = CODE_WORDS_MOST,
	.example = "abc-defg-hij",
};

const struct text_rule name_text = {
	.characters = NAME_CHARACTERS,
	.sentence =
		"must be 1 to 128 characters out of a-z A-Z 0-9 space - . _ : and neither start "
		"nor end with a space",
	.shortest = 1,
	.longest = 128,
	.no_outer_space = true,
	.example = "lesson",
};

const struct text_rule role_name_text = {
	.characters = NAME_CHARACTERS,
	.sentence = "must be 1 to 64 characters out of a-z A-Z 0-9 space - . _ : and neither start "
		    "nor end with a space",
	.shortest = 1,
	.longest = 64,
	.no_outer_space = true,
	.example = "host",
};

const struct text_rule destination_name_text = {
	.characters = "<>" NAME_CHARACTERS,
	.sentence = "must be 1 to 64 characters out of a-z A-Z 0-9 space - . _ : < >",
	.shortest = 1,
	.longest = 64,
};

const struct text_rule room_name_text = {
	.characters = "a-zA-Z0-9._:-",
	.sentence = "must be 1 to 128 characters out of a-z A-Z 0-9 - . _ :",
	.shortest = 1,
	.longest = 128,
	.example = "monday",
};
