/* See rules/room_code_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/room_code_rules.h"

/* clang-format off */

/* Members of a room code that a client may send back. */
#define REST_OF_A_ROOM_CODE \
	{ "room_id",    TEXT(id_text), FLAGS(FIELD_READ_ONLY), DOC("Identifier of the room.") }, \
	{ "role",       TEXT(role_name_text), FLAGS(FIELD_READ_ONLY), \
	  DOC("Name of the role the code is for.") }
#define TIMES_OF_A_ROOM_CODE \
	{ "created_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY) }, \
	{ "updated_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY) }

static const struct text_rule user_id_text = {
	.sentence = "must be at most 256 characters",
	.longest = 256,
};

static const struct field room_code_fields[] = {
	{ "code",    TEXT(room_code_text), FLAGS(FIELD_READ_ONLY),
	  DOC("Three groups of letters joined by hyphens.") },
	REST_OF_A_ROOM_CODE,
	{ "enabled", BOOLEAN(), FLAGS(FIELD_READ_ONLY), DOC("True when the code is usable.") },
	TIMES_OF_A_ROOM_CODE,
};
const struct shape room_code_shape = {
	"RoomCode", FIELDS(room_code_fields),
	.doc = "An access code bound to one role of one room.",
};

static const struct field code_switch_fields[] = {
	{ "code",    TEXT(any_text), FLAGS(FIELD_REQUIRED) },
	{ "enabled", BOOLEAN(), FLAGS(FIELD_REQUIRED) },
	REST_OF_A_ROOM_CODE,
	TIMES_OF_A_ROOM_CODE,
};
const struct shape code_switch_shape = {
	"RoomCodeSwitch", FIELDS(code_switch_fields), .doc = "Enables or disables a room code.",
};

static const struct field code_enabled_fields[] = {
	{ "enabled", BOOLEAN(), FLAGS(FIELD_REQUIRED) },
	{ "code",    TEXT(any_text), FLAGS(FIELD_READ_ONLY) },
	REST_OF_A_ROOM_CODE,
	TIMES_OF_A_ROOM_CODE,
};
const struct shape code_enabled_shape = {
	"RoomCodeEnabled", FIELDS(code_enabled_fields),
	.doc = "Enables or disables the room code of the path.",
};

static const struct field join_fields[] = {
	{ "code",    TEXT(any_text), FLAGS(FIELD_REQUIRED) },
	{ "user_id", TEXT(user_id_text), FLAGS(FIELD_HIDDEN_DEFAULT),
	  DOC("A version 4 UUID when it is not supplied or empty.") },
};
const struct shape join_shape = {
	"Join", FIELDS(join_fields), .doc = "A room code to be exchanged for a token.",
};

static const struct field token_answer_fields[] = {
	{ "token",      TEXT(any_text), FLAGS(FIELD_REQUIRED),
	  DOC("A JWT, signed with the account's secret.") },
	{ "room_id",    TEXT(id_text), FLAGS(FIELD_REQUIRED) },
	{ "role",       TEXT(role_name_text), FLAGS(FIELD_REQUIRED) },
	{ "user_id",    TEXT(user_id_text), FLAGS(FIELD_REQUIRED) },
	{ "expires_at", TEXT(time_text), FLAGS(FIELD_REQUIRED) },
};
const struct shape token_answer_shape = {
	"Token", FIELDS(token_answer_fields), .doc = "A token to join a room with.",
};
