/* See rules/room_rules.h. Handlers fill the members taken from the template: recording_info,
 * region, template.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/room_rules.h"

#include "rules/import_rules.h"
#include "rules/recording_rules.h"

/* clang-format off */

#define SIZE_MOST 2500
#define LARGE_SIZE_MOST 20000

static const struct text_rule description_text = {
	.sentence = "must be at most 1024 characters",
	.longest = 1024,
};

static const struct field recording_info_fields[] = {
	{ "enabled",     BOOLEAN(), DEFAULT(false), DOC("Whether the room is recorded.") },
	{ "upload_info", OBJECT(upload_info_shape), FLAGS(FIELD_SECRET | FIELD_ZERO_ABSENT),
	  DOC("Where recordings are stored.") },
};
const struct shape recording_info_shape = {
	"RecordingInfo", FIELDS(recording_info_fields), .doc = "The recording of a room.",
};

static schema_rule check_size, check_window;

static void leave_out_recording(const struct shape *shape, json_t *room);
static void leave_out_recordings(const struct shape *shape, json_t *room);

static const struct rule room_rules[] = {
	{ "roomSize", "size is at most 2500 unless large_room is true.", check_size },
	{ "roomWindow", "closes_at is later than opens_at.", check_window },
	{ NULL, NULL, NULL },
};

static const struct field room_fields[] = {
	{ "id",                        TEXT(id_text), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER),
	  DOC("Room identifier.") },
	{ "id",                        TEXT(id_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT),
	  IMPORTED_ID("room") },
	{ "name",                      TEXT(room_name_text),
	  FLAGS(FIELD_KEPT | FIELD_HIDDEN_DEFAULT | FIELD_ZERO_ABSENT),
	  EXAMPLE("monday"),
	  DOC("Unique, ignoring case. Default: a version 4 UUID.") },
	{ "enabled",                   BOOLEAN(), DEFAULT(true),
	  DOC("Whether codes of the room can be created and exchanged.") },
	{ "description",               TEXT(description_text), DEFAULT(""),
	  DOC("A description for people.") },
	{ "title",                     TEXT(some_line_128_text), FLAGS(FIELD_CLEARABLE),
	  EXAMPLE("Mathematics, class 7b"),
	  DOC("What people see in place of the name.") },
	{ "customer_id",               TEXT(id_text), FLAGS(FIELD_READ_ONLY),
	  DOC("Account identifier of the owner.") },
	{ "recording_source_template", BOOLEAN(), FLAGS(FIELD_HIDDEN_DEFAULT), DEFAULT(true),
	  DOC("true if the room uses the template's recording settings. Sending true makes the room "
	      "follow its template again; recording_info in the same body is ignored.") },
	{ "recording_info",            OBJECT(recording_info_shape), FLAGS(FIELD_ATOMIC),
	  DOC("How the room is recorded.") },
	{ "recording",                 OBJECT(recording_info_shape), FLAGS(FIELD_ATOMIC), IN(IN_IMPORT),
	  DOC("Used as recording_info if that is not sent.") },
	{ "template_id",               TEXT(any_text),
	  FLAGS(FIELD_HIDDEN_DEFAULT | FIELD_ZERO_ABSENT),
	  EXAMPLE("6925c84100000000000000a1"),
	  DOC("Template of the room. Default: the account's default template.") },
	{ "template",                  TEXT(any_text), FLAGS(FIELD_READ_ONLY),
	  DOC("The current name of the template.") },
	{ "region",                    ONE_OF("in", "us", "eu", "auto"),
	  FLAGS(FIELD_HIDDEN_DEFAULT | FIELD_ZERO_ABSENT),
	  MESSAGE("Error: region not supported"),
	  DOC("Hosting region. Default at creation: settings.region of the template.") },
	{ "large_room",                BOOLEAN(), DEFAULT(false),
	  DOC("Allows a size of more than 2500.") },
	{ "size",                      INTEGER(0, LARGE_SIZE_MOST), DOC("Maximum number of people in the room.") },
	{ "max_duration_seconds",      INTEGER(120, 43200), FLAGS(FIELD_ZERO_ABSENT), UNIT("s"),
	  DOC("Maximum duration of a session, in seconds.") },
	{ "created_at",                TEXT(time_text), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER),
	  DOC("Time of creation.") },
	{ "updated_at",                TEXT(time_text), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER),
	  DOC("Time of the last change.") },
	{ "created_at",                TEXT(any_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT),
	  IMPORTED_CREATION },
	{ "updated_at",                TEXT(any_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT),
	  IMPORTED_UPDATE },
	{ "customer",                  TEXT(id_text), FLAGS(FIELD_READ_ONLY),
	  DOC("Same value as customer_id.") },
	{ "webhook",                   KEPT_OBJECT(), DOC("Stored and returned unchanged, never called.") },
	{ "polls",                     KEPT_LIST(), DOC("Stored and returned unchanged.") },
	{ "opens_at",                  TIME(), FLAGS(FIELD_CLEARABLE),
	  DOC("People can join from this time. \"\" removes it, as does null in an update by ID.") },
	{ "closes_at",                 TIME(), FLAGS(FIELD_CLEARABLE),
	  DOC("People can join before this time. \"\" removes it, as does null in an update by ID.") },
	{ "backend",                   TEXT(any_text), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES), IN(IN_ANSWER),
	  DOC("The media server where a room of a pool is now. Only GET returns it. It has no part in the ETag.") },
};
const struct shape room_shape = {
	"Room", FIELDS(room_fields), .views = IN_ANSWER, .ignored = fields_of_100ms, .rules = room_rules,
	.doc = "A room.", .prepare = leave_out_recording,
};

static const struct field room_summary_fields[] = {
	{ "id",          TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Room identifier.") },
	{ "name",        TEXT(room_name_text), FLAGS(FIELD_REQUIRED), DOC("Unique, ignoring case.") },
	{ "title",       TEXT(some_line_128_text), DOC("What people see in place of the name, if set.") },
	{ "enabled",     BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether codes of the room can be created and exchanged.") },
	{ "template_id", TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Template identifier.") },
	{ "template",    TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the template.") },
	{ "updated_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("Time of the last change.") },
};
const struct shape room_summary_shape = {
	"RoomSummary", FIELDS(room_summary_fields), .doc = "A room with only the fields needed for a list.",
};

static schema_rule check_imported_room;

/* The rules of rooms check the whole room later, as it will be. */
static const struct rule imported_rules[] = {
	{ "roomTimes", IMPORTED_TIMES("created_at", "updated_at"), check_imported_room },
	{ NULL, NULL, NULL },
};

const struct shape imported_room_shape = {
	"ImportedRoom", FIELDS(room_fields), .views = IN_IMPORT, .ignored = fields_of_100ms, .rules = imported_rules,
	.doc = "A room as 100ms returns it.", .prepare = leave_out_recordings,
};

/* clang-format on */

static void check_size(struct rule_context *context, const json_t *object)
{
	json_int_t size = json_integer_value(json_object_get(object, "size"));

	if (size <= SIZE_MOST || json_is_true(json_object_get(object, "large_room")))
		return;
	if (!rule_was_sent(context, "/size") && rule_was_sent(context, "/large_room"))
		schema_fault(context, "/large_room",
			     "must be true while size, now %" JSON_INTEGER_FORMAT ", is over %d",
			     size, SIZE_MOST);
	else
		schema_fault(context, "/size",
			     "must be from 0 to %d unless large_room is true, "
			     "got %" JSON_INTEGER_FORMAT,
			     SIZE_MOST, size);
}

/* The texts of times are in the same order as the times. */
static void check_window(struct rule_context *context, const json_t *object)
{
	const char *opens_at = json_string_value(json_object_get(object, "opens_at"));
	const char *closes_at = json_string_value(json_object_get(object, "closes_at"));

	if (opens_at != NULL && closes_at != NULL && strcmp(closes_at, opens_at) <= 0)
		schema_fault(context, "/closes_at", "must be later than opens_at");
}

/* Removes recording_info if the room follows its template, which takes precedence. */
static void leave_out_recording(const struct shape *shape, json_t *room)
{
	(void)shape;
	if (json_is_true(json_object_get(room, "recording_source_template")))
		json_object_del(room, "recording_info");
}

/* Does the same for an imported room. Of the fields recording and recording_info, only one is
 * used. */
static void leave_out_recordings(const struct shape *shape, json_t *room)
{
	leave_out_recording(shape, room);
	if (json_is_true(json_object_get(room, "recording_source_template")) ||
	    json_is_object(json_object_get(room, "recording_info")))
		json_object_del(room, "recording");
}

static void check_imported_room(struct rule_context *context, const json_t *object)
{
	rule_check_import(context, object, "created_at", "updated_at");
}
