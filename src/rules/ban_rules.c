/* See rules/ban_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/ban_rules.h"

#include "base/text.h"
#include "rules/event_rules.h"

/* clang-format off */

static schema_rule check_banned, check_ban_expiry;

static const struct rule new_ban_rules[] = {
	{ "banSubject", "The body has either user_id or code.", check_banned },
	{ "banExpiry", "The end is in the future, and given either as expires_at or as expires_in.", check_ban_expiry },
	{ NULL, NULL, NULL },
};

#define USER_OF_A_BAN DOC("User ID of the person who is banned.")
#define REASON_OF_A_BAN EXAMPLE("Insulted the speaker."), DOC("Why, for administrators.")

static const struct field ban_fields[] = {
	{ "id",         TEXT(id_text), FLAGS(FIELD_READ_ONLY), DOC("Ban identifier.") },
	{ "user_id",    TEXT(some_256_text), IN(IN_ANSWER), USER_OF_A_BAN },
	{ "user_id",    TEXT(some_line_256_text), FLAGS(FIELD_BLANK_ABSENT), IN(IN_NEW), EXAMPLE("mallory"), USER_OF_A_BAN },
	{ "code",       TEXT(any_text), FLAGS(FIELD_SECRET | FIELD_ZERO_ABSENT), IN(IN_NEW), EXAMPLE("abc-defg-hij"),
	  DOC("A room code, which is also disabled; in place of user_id.") },
	{ "code_hash",  TEXT(any_text), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES),
	  DOC("Hash of the banned code, as in the event log; in place of user_id.") },
	{ "room_id",    TEXT(id_text), IN(IN_ANSWER), DOC("The room; missing if the ban is for every room of the account.") },
	{ "room_id",    TEXT(any_text), FLAGS(FIELD_ZERO_ABSENT), IN(IN_NEW), EXAMPLE("6925c84100000000000000b1"),
	  DOC("The room. Default: every room of the account.") },
	{ "reason",     TEXT(any_256_text), FLAGS(FIELD_REQUIRED), IN(IN_ANSWER), REASON_OF_A_BAN },
	{ "reason",     TEXT(line_256_text), IN(IN_NEW), REASON_OF_A_BAN },
	{ "expires_in", INTEGER(1, EXPIRES_IN_MOST), IN(IN_NEW), UNIT("s"), DOC("Seconds from now; in place of expires_at.") },
	{ "expires_at", TIME(), DOC("The ban ends at this second. Without it, the ban lasts until it is deleted.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY), DOC("Time of creation.") },
	{ "created_by", OBJECT(event_actor_shape), FLAGS(FIELD_READ_ONLY), DOC("Who created the ban.") },
};
const struct shape ban_shape = {
	"Ban", FIELDS(ban_fields), .views = IN_ANSWER,
	.doc = "A person or a code that is banned from a room, or from all rooms.",
};
const struct shape new_ban_shape = {
	"Ban", FIELDS(ban_fields), .views = IN_NEW, .rules = new_ban_rules, .doc = "Whom to ban, from where, and for how long.",
};

static const struct field ban_list_fields[] = {
	{ "limit",   INTEGER(10, 100), DEFAULT(10), DOC("Items per response.") },
	{ "start",   TEXT(id_text), DOC("Where to continue: `last` of the previous response.") },
	{ "user_id", TEXT(any_text), DOC("Only bans of exactly this person.") },
	{ "room_id", TEXT(any_text), EXAMPLE("6925c84100000000000000b1"),
	  DOC("Only bans from this room, without those from every room.") },
};
const struct shape ban_list_query = { "BanListQuery", FIELDS(ban_list_fields) };

/* clang-format on */

static void check_banned(struct rule_context *context, const json_t *object)
{
	if (!rule_was_sent(context, "/user_id") && !rule_was_sent(context, "/code"))
		schema_fault(context, "/user_id", "is required unless code is sent");
	else if (json_object_get(object, "user_id") != NULL &&
		 json_object_get(object, "code") != NULL)
		schema_fault(context, "/code", "not together with user_id");
}

static void check_ban_expiry(struct rule_context *context, const json_t *object)
{
	const json_t *expires_at = json_object_get(object, "expires_at");
	int64_t time;

	if (expires_at != NULL && text_time_parse_seconds(text_of_json(expires_at), &time) &&
	    time <= rule_now(context))
		schema_fault(context, "/expires_at", "must be in the future");
	if (expires_at != NULL && json_object_get(object, "expires_in") != NULL)
		schema_fault(context, "/expires_in", "not together with expires_at");
}
