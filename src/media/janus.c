/* Janus: a token for the connection, and one for the room. See media/type.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/type.h"

#include "base/digest.h"
#include "base/text.h"
#include "media/access_parts.h"

static struct slice token_of_janus(const struct access *access, const char *realm,
				   struct slice descriptor)
{
	const struct slice head = slice_of(
		arena_text(access->arena, "%lld,%s,", (long long)access->guest->expires, realm));
	const struct slice text = JOINED(access->arena, head, descriptor);
	unsigned char mac[DIGEST_SHA1_SIZE];

	digest_hmac_sha1(access_config(access, "secret"), text, mac);
	return JOINED(access->arena, text, SLICE(":"),
		      text_base64(access->arena, (struct slice){ (const char *)mac, sizeof mac }));
}

#define VIDEO_ROOM "janus.plugin.videoroom"

bool janus_write_access(struct access *access)
{
	const struct slice room = JOINED(access->arena, SLICE("room="), access->guest->room_id);

	writer_text(access->answer, "token", token_of_janus(access, "janus", SLICE(VIDEO_ROOM)));
	writer_text(access->answer, "room_token", token_of_janus(access, VIDEO_ROOM, room));
	return true;
}
