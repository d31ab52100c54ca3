/* Jitsi Meet: a link with a token. See media/type.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/type.h"

#include <string.h>

#include "base/jwt.h"
#include "base/text.h"
#include "media/access_parts.h"

/* Returns the host of a URL in lower case, without the port. */
static struct slice host_of(struct arena *arena, struct slice url)
{
	const char *start = strstr(arena_copy(arena, url).data, "://") + 3;

	return text_lower(arena,
			  (struct slice){
				  start,
				  *start == '[' ? strcspn(start, "]") + 1 : strcspn(start, ":/"),
			  });
}

bool jitsi_write_access(struct access *access)
{
	const struct access_guest *guest = access->guest;
	const struct slice audience = access_config(access, "audience");
	const struct slice tenant = access_config(access, "tenant");
	const struct slice app_id = access_config(access, "app_id");
	const struct slice key_id = access_config(access, "key_id");
	struct slice subject = access_config(access, "subject"), token;
	struct json_writer claims = writer_begin(access->arena, true);

	if (subject.data == NULL)
		subject = tenant.data != NULL ? tenant
					      : host_of(access->arena, access->server->url);
	writer_text(&claims, "aud", audience.data != NULL ? audience : app_id);
	writer_text(&claims, "iss", app_id);
	writer_text(&claims, "sub", subject);
	writer_text(&claims, "room", guest->room_id);
	access_put_times(access, &claims);

	writer_open(&claims, "context", '{');
	/* Jitsi's servers accept no other types. */
	writer_open(&claims, "user", '{');
	writer_text(&claims, "id", access->person);
	writer_text(&claims, "name", guest->name);
	writer_text(&claims, "affiliation", guest->moderates ? SLICE("owner") : SLICE("member"));
	writer_text(&claims, "moderator", access_said(guest->moderates));
	writer_close(&claims, '}');
	writer_open(&claims, "features", '{');
	writer_text(&claims, "livestreaming", access_said(guest->moderates && guest->streams));
	writer_text(&claims, "recording", access_said(guest->moderates && guest->records));
	writer_text(&claims, "screen-sharing", access_said(guest->screen));
	writer_close(&claims, '}');
	writer_close(&claims, '}');

	if (slice_is(access_config(access, "alg"), "HS256"))
		token = jwt_with_secret(access->arena, key_id, &claims,
					access_config(access, "app_secret"));
	else if (!access_sign(access, key_id.data != NULL ? key_id : access->server->kid, &claims,
			      &token))
		return false;
	writer_plain(access->answer, "token", token);
	writer_text(access->answer, "link",
		    JOINED(access->arena, access->server->url,
			   tenant.data != NULL ? tenant : SLICE(""),
			   tenant.data != NULL ? SLICE("/") : SLICE(""), guest->room_id,
			   SLICE("?jwt="), token));
	return true;
}
