/* Galene: a link with a token. See media/type.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/type.h"

#include "base/jwt.h"
#include "base/text.h"
#include "media/access_parts.h"

/* Galene shows `sub` as the name and rejects names that could be a path. */
static struct slice name_of_galene(struct arena *arena, struct slice name)
{
	char *text = arena_alloc(arena, name.size + 1);

	if (slice_is(name, ".") || slice_is(name, ".."))
		return SLICE("-");
	for (size_t i = 0; i < name.size; i++)
		text[i] = name.data[i] == '/' || name.data[i] == '\\' ? '-' : name.data[i];
	return (struct slice){ text, name.size };
}

bool galene_write_access(struct access *access)
{
	const struct access_guest *guest = access->guest;
	const struct slice audience = JOINED(access->arena, access->server->url, SLICE("group/"),
					     access_config(access, "group"), SLICE("/"),
					     guest->room_id, SLICE("/"));
	struct json_writer claims = writer_begin(access->arena, true);
	struct slice key, token;

	writer_text(&claims, "iss", access_issuer(access));
	writer_text(&claims, "sub", name_of_galene(access->arena, guest->name));
	writer_text(&claims, "aud", audience);
	access_put_times(access, &claims);
	writer_open(&claims, "permissions", '[');
	if (guest->moderates)
		writer_text(&claims, NULL, SLICE("op"));
	if (access_publishes(guest))
		writer_text(&claims, NULL, SLICE("present"));
	writer_text(&claims, NULL, SLICE("message"));
	if (guest->moderates)
		writer_text(&claims, NULL, SLICE("caption"));
	if (guest->moderates && guest->records)
		writer_text(&claims, NULL, SLICE("record"));
	writer_close(&claims, ']');

	if (slice_is(access_config(access, "alg"), "HS256")) {
		if (!text_base64url_decode(access->arena, access_config(access, "key"), &key))
			return false;
		token = jwt_with_secret(access->arena, (struct slice){ NULL, 0 }, &claims, key);
	} else if (!access_sign(access, access->server->kid, &claims, &token)) {
		return false;
	}
	writer_plain(access->answer, "token", token);
	writer_text(access->answer, "link",
		    JOINED(access->arena, audience, SLICE("?token="), token));
	return true;
}
