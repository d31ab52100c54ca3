/* See rules/list_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/list_rules.h"

#include "base/text.h"
#include "rules/media_rules.h"
#include "rules/room_code_rules.h"

/* clang-format off */

#define LIMIT INTEGER(10, 100), DOC("Items in an answer.")
#define START DOC("Where to go on: the `last` of the answer before.")

static const struct field template_list_fields[] = {
	{ "limit",   LIMIT, DEFAULT(10) },
	{ "start",   TEXT(id_text), START },
	{ "name",    TEXT(any_text), DOC("The template of exactly this name.") },
	{ "default", BOOLEAN(), DOC("true: the account's default template, false: the others.") },
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
	{ "start",       TEXT(id_text), START },
	{ "name",        TEXT(any_text), DOC("The room of this name, without regard to case.") },
	{ "enabled",     BOOLEAN(), DOC("true: enabled rooms, false: the others.") },
	{ "template_id", TEXT(any_text), DOC("Rooms of this template.") },
	{ "after",       TEXT(any_text),
	  DOC("Rooms made then or later: an RFC 3339 time, or a date (midnight UTC).") },
	{ "before",      TEXT(any_text),
	  DOC("Rooms made then or earlier: an RFC 3339 time, or a date (midnight UTC).") },
};
const struct shape room_list_query = {
	"RoomListQuery", FIELDS(room_list_fields), .rules = room_list_rules,
};

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
};
const struct shape code_list_query = { "RoomCodeListQuery", FIELDS(code_list_fields) };

static const struct field signing_key_list_fields[] = {
	{ "limit", LIMIT, DEFAULT(10) },
	{ "start", TEXT(kid_text), START },
};
const struct shape signing_key_list_query = {
	"SigningKeyListQuery", FIELDS(signing_key_list_fields),
};

static const struct field backend_list_fields[] = {
	{ "limit", LIMIT, DEFAULT(10) },
	{ "start", TEXT(id_text), START },
};
const struct shape backend_list_query = { "BackendListQuery", FIELDS(backend_list_fields) };

static const struct field write_fields[] = {
	{ "validate_only", BOOLEAN(),
	  DOC("true: all checks are made, and nothing else; the answer is {\"valid\":true}.") },
};
const struct shape write_query = { "WriteQuery", FIELDS(write_fields) };

const struct shape no_query = { "NoQuery", NO_FIELDS() };

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
