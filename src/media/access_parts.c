/* See media/access_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/access_parts.h"

#include "base/digest.h"
#include "base/id.h"
#include "base/jwt.h"
#include "base/text.h"

/* Characters of the entry that are added to a user_id that anyone may choose, so that it is
 * unique. */
#define MARK_SIZE 8

struct access access_begin(struct arena *arena, const struct clock *clock,
			   const struct access_server *server, const struct access_guest *guest,
			   struct json_writer *answer)
{
	struct access access = { arena, server, guest, .person = guest->user_id, .answer = answer };
	struct buffer person = BUFFER_INITIAL(arena);

	access.jti = guest->jti.data != NULL ? guest->jti : uuid_as_text(arena, clock);
	if (!guest->is_known) {
		buffer_append(&person, guest->user_id);
		buffer_append_byte(&person, '#');
		buffer_append(&person, (struct slice){ guest->entry.data, MARK_SIZE });
		access.person = buffer_slice(&person);
	}
	return access;
}

struct slice access_config(const struct access *access, const char *name)
{
	return text_of_json(json_object_get(access->server->config, name));
}

struct slice access_hex(struct arena *arena, const unsigned char *bytes, size_t size)
{
	char *text = arena_alloc(arena, 2 * size + 1);

	text_hex(bytes, size, text);
	return (struct slice){ text, 2 * size };
}

bool access_publishes(const struct access_guest *guest)
{
	return guest->audio || guest->video || guest->screen;
}

struct slice access_joined(struct arena *arena, const struct slice *parts, size_t n)
{
	struct buffer text = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < n; i++)
		buffer_append(&text, parts[i]);
	return buffer_slice(&text);
}

struct slice access_said(bool is_so)
{
	return is_so ? SLICE("true") : SLICE("false");
}

struct slice access_issuer(const struct access *access)
{
	return JOINED(access->arena, SLICE("anteroom:"), access->guest->customer_id);
}

bool access_sign(const struct access *access, struct slice kid, struct json_writer *claims,
		 struct slice *token)
{
	const struct access_server *server = access->server;
	struct slice text, signature;

	if (server->alg == SIGNING_ALGS)
		return false;
	text = jwt_claims_text(access->arena, signing_alg_name(server->alg), kid, claims);
	if (!signing_sign(access->arena, server->alg, server->private_key, text, &signature))
		return false;
	*token = jwt_token(access->arena, text, signature);
	return true;
}

void access_put_times(const struct access *access, struct json_writer *claims)
{
	const struct access_guest *guest = access->guest;

	writer_integer(claims, "iat", guest->now - JWT_SECONDS_BACK);
	writer_integer(claims, "nbf", guest->now - JWT_SECONDS_BACK);
	writer_integer(claims, "exp", guest->expires);
	writer_text(claims, "jti", access->jti);
}
