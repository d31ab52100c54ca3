/* See resources/stored/ban_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/ban_record.h"

#include "base/digest.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/stored/live_record.h"

/* The largest members in bytes. */
#define USER_ID_MOST 1024
#define REASON_MOST 1024
#define ACTOR_MOST 1024

static const struct member ban_members[] = {
	{ "id", AS_KEY, AT(struct ban, stored.id) },
	{ "room_id", AS_PARENT_OF(room, DIES, OR_NONE, COUNTED(media, ban_count)),
	  MARKED(MEMBER_ABSENT), AT(struct ban, stored.parent) },
	{ "name", AS_NAME, MARKED(MEMBER_DERIVED), AT(struct ban, name) },
	{ "created_at", AS_TIME, AT(struct ban, created) },
	{ "expires_at", AS_SECONDS, AS_END, MARKED(MEMBER_ABSENT), AT(struct ban, expires_at) },
	{ "user_id", AS_TEXT(0, USER_ID_MOST), MARKED(MEMBER_ABSENT), AT(struct ban, user_id) },
	{ "code_hash", AS_TEXT(0, 2 * DIGEST_SIZE), MARKED(MEMBER_ABSENT),
	  AT(struct ban, code_hash) },
	{ "reason", AS_TEXT(0, REASON_MOST), MARKED(MEMBER_ABSENT), AT(struct ban, reason) },
	{ "created_by", AS_JSON(ACTOR_MOST), AT(struct ban, created_by) },
};
const struct record_table ban_table = { RECORD(struct ban, ban_members, 3, &kind_ban) };

bool ban_is_of_every_room(const struct id *room)
{
	return id_compare(room, &kind_only_id) == 0;
}

struct slice ban_name(struct arena *arena, struct slice user_id, struct slice code_hash,
		      const struct id *room)
{
	const struct slice in = ban_is_of_every_room(room) ? SLICE("") : id_as_text(arena, room);
	unsigned char digest[DIGEST_SIZE];
	char hash[2 * DIGEST_SIZE];
	struct slice person = text_cut(code_hash, BAN_CODE_DIGITS);

	if (user_id.size > 0) {
		/* No more is known of people inside. */
		digest_sha256(text_cut(user_id, LIVE_NAME_MOST), digest);
		text_hex(digest, sizeof digest, hash);
		person = (struct slice){ hash, sizeof hash };
	}
	return slice_of(arena_text(arena, "%c%.*s%.*s", user_id.size > 0 ? 'u' : 'c',
				   (int)person.size, person.data, (int)in.size, in.data));
}

bool ban_holds(const struct call *call, const struct ban *ban)
{
	return ban->stored.value.data != NULL &&
	       (ban->expires_at == 0 || ban->expires_at > call->now / 1000);
}

/* ---- finding ---- */

/* By user_id and by code, each from the room and from every room. */
#define NAMES_MOST 4

bool ban_find_with(struct call *call, const struct media *media, const struct id *room,
		   struct slice user_id, struct slice code, struct ban *ban, bool *is_there,
		   struct fault *fault)
{
	const struct slice none = SLICE("");
	struct store_expected expected[NAMES_MOST];
	struct slice names[NAMES_MOST];
	size_t n = 0;

	*is_there = false;
	if (media == NULL || media->ban_count == 0)
		return true;
	if (user_id.size > 0) {
		names[n++] = ban_name(call->arena, user_id, none, room);
		names[n++] = ban_name(call->arena, user_id, none, &kind_only_id);
	}
	if (code.size >= BAN_CODE_DIGITS) {
		names[n++] = ban_name(call->arena, none, code, room);
		names[n++] = ban_name(call->arena, none, code, &kind_only_id);
	}
	for (size_t i = 0; i < n; i++)
		expected[i] = (struct store_expected){
			.kind = &kind_ban,
			.finding = STORE_FIND_NAME,
			.reading = STORE_TO_SHOW,
			.name = names[i],
		};
	/* A database reads all of them in one round trip. */
	if (n > 0)
		store_expect(call->transaction, STORE_EACH, expected, n);
	for (size_t i = 0; i < n && !*is_there; i++) {
		if (!record_get_named(&ban_table, call->transaction, names[i], STORE_TO_SHOW, ban,
				      fault))
			return false;
		*is_there = ban_holds(call, ban);
	}
	return true;
}

bool ban_find(struct call *call, const struct id *room, struct slice user_id, struct slice code,
	      struct ban *ban, bool *is_there, struct fault *fault)
{
	struct media media;
	bool has_media;

	return media_find(call, STORE_TO_SHOW, &media, &has_media, fault) &&
	       ban_find_with(call, has_media ? &media : NULL, room, user_id, code, ban, is_there,
			     fault);
}
