/* See rules/import_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/import_rules.h"

#include "base/id.h"
#include "base/text.h"
#include "rules/room_code_rules.h"
#include "rules/room_rules.h"
#include "rules/template_rules.h"

/* clang-format off */

static const struct field template_item = { .name = NULL, OBJECT(imported_template_shape) };
static const struct field room_item = { .name = NULL, OBJECT(imported_room_shape) };
static const struct field code_item = { .name = NULL, OBJECT(imported_code_shape) };

static const struct field import_fields[] = {
	{ "templates",  LIST_OF(template_item), DOC("Each creates a template, or updates the template with its ID.") },
	{ "rooms",      LIST_OF(room_item), DOC("Rooms; imported after the templates.") },
	{ "room_codes", LIST_OF(code_item), DOC("Codes; imported after the rooms.") },
};
const struct shape import_shape = {
	"ImportedObjects", FIELDS(import_fields), .doc = "Objects as 100ms returns them.",
};

static const struct field query_fields[] = {
	{ "skip_invalid", BOOLEAN(),
	  DOC("true: objects with errors or conflicts are skipped and listed in the response.") },
};
const struct shape import_query = { "ImportQuery", FIELDS(query_fields) };

static const struct field count_fields[] = {
	{ "created", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Number of objects that did not exist.") },
	{ "updated", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED),
	  DOC("Number of objects that existed, including unchanged objects.") },
};
const struct shape import_count_shape = {
	"ImportCount", FIELDS(count_fields), .doc = "Numbers of imported objects.",
};

static const struct field detail_item = { .name = NULL, TEXT(any_text) };
static const struct field skipped_fields[] = {
	{ "pointer", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("JSON Pointer of the object in the body.") },
	{ "message", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Message, as in an error.") },
	{ "details", LIST_OF(detail_item), FLAGS(FIELD_REQUIRED), DOC("Details, as in an error.") },
};
static const struct shape skipped_shape = {
	"SkippedObject", FIELDS(skipped_fields), .doc = "An object that was skipped.",
};
static const struct field skipped_item = { .name = NULL, OBJECT(skipped_shape) };

static const struct field answer_fields[] = {
	{ "templates",  OBJECT(import_count_shape), FLAGS(FIELD_REQUIRED), DOC("Numbers of templates.") },
	{ "rooms",      OBJECT(import_count_shape), FLAGS(FIELD_REQUIRED), DOC("Numbers of rooms.") },
	{ "room_codes", OBJECT(import_count_shape), FLAGS(FIELD_REQUIRED), DOC("Numbers of codes.") },
	{ "skipped",    LIST_OF(skipped_item), MOST(IMPORT_SKIPPED_MOST), FLAGS(FIELD_REQUIRED),
	  DOC("The first 1000 skipped objects: templates, then rooms, then codes. Empty without skip_invalid.") },
};
const struct shape import_answer_shape = {
	"ImportAnswer", FIELDS(answer_fields), .doc = "What was imported.",
};

/* clang-format on */

/* Parses the value of a time. Returns false if it is not an accepted time. *is_set is false for a
 * time in the year 1, which 100ms writes if there is no time. */
static bool parse_imported_time(const json_t *value, bool *is_set, int64_t *time)
{
	const struct slice text = text_of_json(value);
	int64_t seconds;

	*is_set = !slice_begins(text, SLICE("0001-"));
	return text_time_parse(text, time) && (!*is_set || text_time_parse_seconds(text, &seconds));
}

bool import_time(const json_t *object, const char *member, int64_t *time)
{
	const json_t *value = json_object_get(object, member);
	bool is_set;

	return value != NULL && parse_imported_time(value, &is_set, time) && is_set;
}

static bool is_ahead(const struct rule_context *context, int64_t seconds)
{
	return seconds > rule_now(context) + IMPORT_AHEAD_MOST;
}

static void check_time(struct rule_context *context, const json_t *object, const char *member)
{
	const json_t *value = json_object_get(object, member);
	const char *pointer;
	int64_t time;
	bool is_set;

	if (value == NULL)
		return;
	pointer = arena_text(rule_arena(context), "/%s", member);
	if (!parse_imported_time(value, &is_set, &time))
		schema_fault(context, pointer, "must be a time such as 2026-11-23T09:00:00Z");
	else if (is_set && is_ahead(context, time / 1000))
		schema_fault(context, pointer, "lies in the future");
}

void rule_check_import(struct rule_context *context, const json_t *object, const char *created,
		       const char *updated)
{
	struct id id;

	if (id_parse(text_of_json(json_object_get(object, "id")), &id) &&
	    is_ahead(context, id_seconds(&id)))
		schema_fault(context, "/id", "lies in the future");
	check_time(context, object, created);
	check_time(context, object, updated);
}
