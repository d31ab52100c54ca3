/* What the access to several types of media servers is made of (media/access.h). The files of the
 * types, media/TYPE.c, use it.
 *
 * Any thread. Texts are in the arena of the access, or borrowed from it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_ACCESS_PARTS_H
#define MEDIA_ACCESS_PARTS_H

#include "media/access.h"

/* Access that is being written. */
struct access {
	struct arena *arena;
	const struct access_server *server;
	const struct access_guest *guest;
	struct slice jti;
	/* The user_id; if anyone may choose it, with a part of the entry, so that it is unique. */
	struct slice person;
	struct json_writer *answer; /* NULL: only the token is wanted */
};

struct access access_begin(struct arena *arena, const struct clock *clock,
			   const struct access_server *server, const struct access_guest *guest,
			   struct json_writer *answer);

/* Returns a member of the config. data is NULL if it is missing. */
struct slice access_config(const struct access *access, const char *name);
struct slice access_hex(struct arena *arena, const unsigned char *bytes, size_t size);
/* Returns true if the guest may publish anything. */
bool access_publishes(const struct access_guest *guest);
/* Returns "true" or "false". */
struct slice access_said(bool is_so);
/* Returns the iss of tokens that are for any server. */
struct slice access_issuer(const struct access *access);

/* Returns the slices, one after the other, as a new one. */
struct slice access_joined(struct arena *arena, const struct slice *parts, size_t n);
#define JOINED(arena, ...) \
	access_joined(arena, (const struct slice[]){ __VA_ARGS__ }, \
		      sizeof((const struct slice[]){ __VA_ARGS__ }) / sizeof(struct slice))

/* Writes iat, nbf, exp and jti. */
void access_put_times(const struct access *access, struct json_writer *claims);
/* Signs claims with the signing key of the server. Returns false if the key cannot sign. */
bool access_sign(const struct access *access, struct slice kid, struct json_writer *claims,
		 struct slice *token);

#endif
