/* See rules/list_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/list_rules.h"

#include "base/text.h"
#include "rules/media_rules.h"
#include "rules/room_code_rules.h"

/* clang-format off */

#define LIMIT INTEGER(10, 100), DOC("Items in an answer.")
#define SUMMARY ONE_OF("summary"), DOC("summary: the members alone that a list shows to people.")
#define START DOC("Where to go on: the `last` of the answer before.")

static const struct field template_list_fields[] = {
	{ "limit",   LIMIT, DEFAULT(10) },
	{ "start",   TEXT(id_text), FREE_WITH("name_prefix"), START },
	{ "name",    TEXT(any_text), DOC("The template of exactly this name.") },
	{ "default", BOOLEAN(), DOC("true: the account's default template, false: the others.") },
	{ "name_prefix", TEXT(any_text),
	  DOC("Templates whose names begin so, in the order of their names' bytes; `start` and `last` are "
	      "names then.") },
	{ "view",    SUMMARY },
};
const struct shape template_list_query = { "TemplateListQuery", FIELDS(template_list_fields) };

static schema_rule check_times;

static const struct rule room_list_rules[] = {
	{ "times", "after and before are RFC 3339 times, or dates alone (midnight UTC).",
	  check_times },
	{ NULL, NULL, NULL },
};

static const struct field room_list_fields[] = {
	{ "limit",       LIMIT, DEFAULT(10) },
	{ "start",       TEXT(id_text), FREE_WITH("name_prefix"), START },
	{ "name",        TEXT(any_text), DOC("The room of this name, without regard to case.") },
	{ "enabled",     BOOLEAN(), DOC("true: enabled rooms, false: the others.") },
	{ "template_id", TEXT(any_text), DOC("Rooms of this template.") },
	{ "after",       TEXT(any_text), FLAGS(FIELD_OFFSET),
	  DOC("Rooms made then or later: an RFC 3339 time, or a date (midnight UTC).") },
	{ "before",      TEXT(any_text), FLAGS(FIELD_OFFSET),
	  DOC("Rooms made then or earlier: an RFC 3339 time, or a date (midnight UTC).") },
	{ "name_prefix", TEXT(any_text),
	  DOC("Rooms whose names begin so, without regard to case, in the order of their names' bytes in lower "
	      "case; `start` and `last` are names then.") },
	{ "view",        SUMMARY },
};
const struct shape room_list_query = {
	"RoomListQuery", FIELDS(room_list_fields), .rules = room_list_rules,
};

#define LINK ONE_OF("link"), DOC("link: codes with `join_url` and `code_hash`.")
#define VALIDATE_ONLY \
	{ "validate_only", BOOLEAN(), \
	  DOC("true: all checks are made, and nothing else; the answer is {\"valid\":true}.") }
static const struct field code_view_fields[] = { { "view", LINK } };
const struct shape code_view_query = { "RoomCodeQuery", FIELDS(code_view_fields) };
static const struct field code_write_fields[] = {
	VALIDATE_ONLY,
	{ "view", LINK },
};
const struct shape code_write_query = { "RoomCodeWriteQuery", FIELDS(code_write_fields) };

static const struct field code_list_fields[] = {
	{ "limit",   LIMIT, DEFAULT(20) },
	{ "start",   TEXT(room_code_text), START },
	{ "role",    TEXT(any_text), DOC("Codes of this role.") },
	{ "enabled", BOOLEAN(), DOC("true: enabled codes, false: the others.") },
	{ "state",   CODE_STATES,
	  DOC("Codes in this state; one that shows no state counts as active, disabled or "
	      "role_deleted.") },
	{ "user_id", TEXT(any_text), DOC("Codes for exactly this person.") },
	{ "label",   TEXT(any_text), DOC("Codes of exactly this label.") },
	{ "view",    LINK },
};
const struct shape code_list_query = { "RoomCodeListQuery", FIELDS(code_list_fields) };

static const struct field signing_key_list_fields[] = {
	{ "limit", LIMIT, DEFAULT(10) },
	{ "start", TEXT(bytes_32_text), START },
};
const struct shape signing_key_list_query = {
	"SigningKeyListQuery", FIELDS(signing_key_list_fields),
};

static const struct field plain_list_fields[] = {
	{ "limit", LIMIT, DEFAULT(10) },
	{ "start", TEXT(id_text), START },
};
const struct shape plain_list_query = { "ListQuery", FIELDS(plain_list_fields) };

static schema_rule check_type;

static const struct rule event_list_rules[] = {
	{ "type", "type is that of an entry, such as room.created, or the beginning of types, such as room.*.",
	  check_type },
	{ NULL, NULL, NULL },
};

static const struct field event_list_fields[] = {
	{ "after", INTEGER(0, INT64_MAX), DOC("Entries after the one with this seq: the `last` of the answer "
		"before. Without it: from the oldest entry that is kept.") },
	{ "limit", LIMIT, DEFAULT(10) },
	{ "type",  TEXT(any_text), DOC("Entries of this type; `room.*`: of all types that begin so.") },
};
const struct shape event_list_query = {
	"EventListQuery", FIELDS(event_list_fields), .rules = event_list_rules,
};

static const struct field write_fields[] = { VALIDATE_ONLY };
const struct shape write_query = { "WriteQuery", FIELDS(write_fields) };

/* clang-format on */

static void check_times(struct rule_context *context, const json_t *object)
{
	static const char *const names[] = { "after", "before" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const json_t *value = json_object_get(object, names[i]);
		struct slice shown;
		int64_t time;

		if (value == NULL || text_time_parse(text_of_json(value), &time))
			continue;
		shown = text_shown(rule_arena(context), value);
		schema_fault(context, arena_text(rule_arena(context), "/%s", names[i]),
			     "must be a time (RFC 3339) or a date, got %.*s", (int)shown.size,
			     shown.data);
	}
}

static size_t count_of_word(struct slice text)
{
	size_t n = 0;

	while (n < text.size &&
	       ((text.data[n] >= 'a' && text.data[n] <= 'z') || text.data[n] == '_'))
		n++;
	return n;
}

bool event_type_is_right(struct slice type)
{
	const size_t first = count_of_word(type);
	struct slice rest;

	if (first == 0 || first == type.size || type.data[first] != '.')
		return false;
	rest = (struct slice){ type.data + first + 1, type.size - first - 1 };
	return slice_is(rest, "*") || (rest.size > 0 && count_of_word(rest) == rest.size);
}

static void check_type(struct rule_context *context, const json_t *object)
{
	const json_t *type = json_object_get(object, "type");
	struct slice shown;

	if (type == NULL || event_type_is_right(text_of_json(type)))
		return;
	shown = text_shown(rule_arena(context), type);
	schema_fault(context, "/type",
		     "must be a type such as room.created, or a beginning such as room.*, got %.*s",
		     (int)shown.size, shown.data);
}
