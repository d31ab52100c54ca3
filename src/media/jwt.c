/* Any server that accepts a JWT. See media/type.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/type.h"

#include "base/jwt.h"
#include "media/access_parts.h"

bool jwt_write_access(struct access *access)
{
	const struct access_guest *guest = access->guest;
	struct json_writer claims = writer_begin(access->arena, true);
	struct slice token;

	writer_text(&claims, "iss", access_issuer(access));
	writer_text(&claims, "aud", access_config(access, "audience"));
	writer_text(&claims, "sub", access->person);
	writer_text(&claims, "name", guest->name);
	writer_text(&claims, "room_id", guest->room_id);
	writer_text(&claims, "role", guest->role);
	access_put_times(access, &claims);
	if (!access_sign(access, access->server->kid, &claims, &token))
		return false;
	writer_plain(access->answer, "token", token);
	return true;
}
