/* BigBlueButton: links with a checksum; moderators have one that creates the meeting. See
 * media/type.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/type.h"

#include "base/digest.h"
#include "base/text.h"
#include "media/access_parts.h"

/* Maximum length of a meeting's name in BigBlueButton, in characters. */
#define MEETING_NAME_MOST 64

/* Returns the URL of a request to BigBlueButton, with its query and the checksum of both. */
static struct slice address_of(const struct access *access, struct slice name, struct slice query)
{
	const struct slice checksum = access_config(access, "checksum");
	const enum digest algorithm = slice_is(checksum, "sha384")   ? DIGEST_SHA384
				      : slice_is(checksum, "sha512") ? DIGEST_SHA512
								     : DIGEST_SHA256;
	unsigned char digest[DIGEST_SIZE_MOST];
	const size_t size = digest_of(
		algorithm, JOINED(access->arena, name, query, access_config(access, "secret")),
		digest);

	return JOINED(access->arena, access->server->url, SLICE("api/"), name, SLICE("?"), query,
		      SLICE("&checksum="), access_hex(access->arena, digest, size));
}

static struct slice create_query(const struct access *access)
{
	const struct access_guest *guest = access->guest;
	const struct slice name = text_characters(guest->room_name) < 2 ? guest->room_id
									: guest->room_name;
	struct buffer query = BUFFER_INITIAL(access->arena);

	buffer_append_text(&query, "name=");
	text_encode(&query, text_first(name, MEETING_NAME_MOST));
	buffer_append_text(&query, "&meetingID=");
	buffer_append(&query, guest->room_id);
	if (guest->size > 0) {
		buffer_append_text(&query, "&maxParticipants=");
		buffer_append_integer(&query, guest->size);
	}
	if (guest->seconds_most > 0) {
		buffer_append_text(&query, "&duration=");
		buffer_append_integer(&query, (guest->seconds_most + 59) / 60);
	}
	buffer_append_text(&query, "&record=");
	buffer_append(&query, access_said(guest->is_recorded));
	return buffer_slice(&query);
}

bool bigbluebutton_write_access(struct access *access)
{
	const struct access_guest *guest = access->guest;
	struct buffer query = BUFFER_INITIAL(access->arena);

	buffer_append_text(&query, "fullName=");
	text_encode(&query, guest->name);
	buffer_append_text(&query, "&meetingID=");
	buffer_append(&query, guest->room_id);
	buffer_append_text(&query, guest->moderates ? "&role=MODERATOR" : "&role=VIEWER");
	buffer_append_text(&query, "&userID=");
	text_encode(&query, access->person);
	buffer_append_text(&query, "&redirect=true");
	writer_text(access->answer, "link",
		    address_of(access, SLICE("join"), buffer_slice(&query)));
	if (guest->moderates)
		writer_text(access->answer, "start_link",
			    address_of(access, SLICE("create"), create_query(access)));
	return true;
}
