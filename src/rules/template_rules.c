/* See rules/template_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/template_rules.h"

#include "rules/destination_rules.h"
#include "rules/import_rules.h"
#include "rules/recording_rules.h"
#include "rules/role_rules.h"

/* clang-format off */

/* ---- settings ---- */

static const struct field recording_fields[] = {
	{ "enabled", BOOLEAN(), DEFAULT(false), DOC("Enables SFU recording for rooms.") },
	{ "upload",  OBJECT(upload_shape), FLAGS(FIELD_SECRET | FIELD_ZERO_ABSENT),
	  DOC("Omit it to store recordings with the service.") },
};
static const struct shape recording_shape = {
	"Recording", FIELDS(recording_fields), .doc = "The recording of rooms.",
};

static const struct field room_state_fields[] = {
	{ "messageInterval",     INTEGER_STEP(5, 3600, 5), DEFAULT(5),
	  UNIT("s"), DOC("How often a page asks who is inside; the join page at most every 10 seconds.") },
	{ "sendPeerList",        BOOLEAN(), DEFAULT(false),
	  DOC("Whether the first people inside are named; otherwise only their number is told.") },
	{ "stopRoomStateOnJoin", BOOLEAN(), DEFAULT(true),
	  DOC("Whether a page stops asking once the person has joined.") },
	{ "enabled",             BOOLEAN(), DEFAULT(false),
	  DOC("Whether people whose role has sendRoomState are told who is inside before they join.") },
};
static const struct shape room_state_shape = {
	"RoomState", FIELDS(room_state_fields), .doc = "What people are told of those inside before they join.",
};

static const struct text_rule agent_name_text = {
	.sentence = "must be 1 to 64 characters",
	.shortest = 1,
	.longest = 64,
};
static const struct text_rule agent_metadata_text = {
	.sentence = "must be at most 1024 characters",
	.longest = 1024,
};
static const struct field agent_fields[] = {
	{ "agentName", TEXT(agent_name_text), FLAGS(FIELD_REQUIRED), EXAMPLE("helper"),
	  DOC("The name under which the agent has registered with LiveKit.") },
	{ "metadata",  TEXT(agent_metadata_text), DOC("Text for the agent.") },
};
static const struct shape agent_shape = {
	"Agent", FIELDS(agent_fields), .doc = "A program that LiveKit calls into a room.",
};
static const struct field agent_item = { .name = NULL, OBJECT(agent_shape) };

static const struct field settings_fields[] = {
	{ "region",    ONE_OF("in", "us", "eu", "auto"), FLAGS(FIELD_ZERO_ABSENT), DEFAULT("auto"),
	  DOC("Default hosting region of rooms.") },
	{ "recording", OBJECT(recording_shape), FLAGS(FIELD_NULLABLE), DOC("How rooms are recorded.") },
	{ "roomState", OBJECT(room_state_shape), DEFAULT({}), DOC("Whether people are told who is inside before they join.") },
	{ "retry",     ANY(), FLAGS(FIELD_READ_ONLY), DEFAULT({}), DOC("Always an empty object.") },
	{ "backend",   TEXT(any_text),
	  DOC("Name of the backend for rooms. Default: the account's default backend.") },
	{ "recordingRules", OBJECT(recording_rules_shape),
	  DOC("What recordings and streams of the rooms obey.") },
	{ "agents",    LIST_OF(agent_item), MOST(8), DOC("Agents that LiveKit calls into its rooms.") },
};
const struct shape settings_shape = {
	"Settings", FIELDS(settings_fields), .doc = "The settings of a template.",
};

/* ---- the template ---- */

static const struct field role_item = { .name = NULL, OBJECT(role_shape) };

static const struct field warning_item = {
	.name = NULL, TEXT(any_text), EXAMPLE("Every role has admission ask, so nobody inside can let people in"),
};

static const struct field unkept_item = { .name = NULL, ONE_OF("evidence"), DOC("What is not kept.") };

static const struct field template_fields[] = {
	{ "id",           TEXT(id_text), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER), DOC("Template identifier.") },
	{ "id",           TEXT(id_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT), IMPORTED_ID("template") },
	{ "name",         TEXT(name_text),
	  FLAGS(FIELD_KEPT | FIELD_HIDDEN_DEFAULT | FIELD_ZERO_ABSENT),
	  EXAMPLE("lesson"), DOC("Unique template name. Default: a version 4 UUID.") },
	{ "customerId",   TEXT(id_text), FLAGS(FIELD_READ_ONLY),
	  DOC("Account identifier of the owner.") },
	{ "roles",        MAP_OF(role_name_text, role_item), MOST(ROLES_MOST), DEFAULT({}),
	  EXAMPLE({"host":{},"guest":{}}),
	  DOC("Roles by name.") },
	{ "settings",     OBJECT(settings_shape), DEFAULT({}), DOC("Settings for its rooms.") },
	{ "destinations", OBJECT(destinations_shape), DEFAULT({}), DOC("Where its rooms are recorded or streamed to.") },
	{ "createdAt",    TEXT(time_text), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER), DOC("Time of creation.") },
	{ "updatedAt",    TEXT(time_text), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER), DOC("Time of the last change.") },
	{ "createdAt",    TEXT(any_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT), IMPORTED_CREATION },
	{ "updatedAt",    TEXT(any_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT), IMPORTED_UPDATE },
	{ "_id",          TEXT(id_text), FLAGS(FIELD_READ_ONLY), DOC("Same value as id.") },
	{ "customer",     TEXT(id_text), FLAGS(FIELD_READ_ONLY), DOC("Same value as customerId.") },
	{ "plugins",      KEPT_OBJECT(), DOC("Stored and returned unchanged.") },
	{ "default",      BOOLEAN(), FLAGS(FIELD_WRITE_ONLY),
	  DOC("Marks the template as the account default. If it is not sent, nothing changes.") },
	{ "warnings",     LIST_OF(warning_item), MOST(1), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES | FIELD_NOT_EMPTY),
	  DOC("What the parts of the template prevent together, a sentence each; missing if there is nothing.") },
	{ "not_enforced", LIST_OF(unkept_item), MOST(1), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES | FIELD_NOT_EMPTY),
	  DOC("evidence if the template asks for consent to recordings, and nobody can prove later who gave it, because the "
	      "account has sessions=off; else missing.") },
};
static const struct field role_name_item = { .name = NULL, TEXT(role_name_text) };
static const struct field template_summary_fields[] = {
	{ "id",        TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Template identifier.") },
	{ "name",      TEXT(name_text), FLAGS(FIELD_REQUIRED), DOC("Unique template name.") },
	{ "default",   BOOLEAN(), FLAGS(FIELD_REQUIRED),
	  DOC("Whether this is the account's default template.") },
	{ "roles",     LIST_OF(role_name_item), FLAGS(FIELD_REQUIRED), DOC("Names of its roles.") },
	{ "region",    ONE_OF("in", "us", "eu", "auto"), FLAGS(FIELD_REQUIRED),
	  DOC("Default hosting region of rooms.") },
	{ "updatedAt", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("Time of the last change.") },
};
const struct shape template_summary_shape = {
	"TemplateSummary", FIELDS(template_summary_fields), .doc = "A template with only the fields needed for a list.",
};
const struct shape template_shape = {
	"Template", FIELDS(template_fields), .views = IN_ANSWER, .ignored = fields_of_100ms, .is_merged_too = true,
	.doc = "Roles, settings and destinations for rooms.",
};

static schema_rule check_imported_template;

static const struct rule imported_rules[] = {
	{ "templateTimes", IMPORTED_TIMES("createdAt", "updatedAt"), check_imported_template },
	{ NULL, NULL, NULL },
};

const struct shape imported_template_shape = {
	"ImportedTemplate", FIELDS(template_fields), .views = IN_IMPORT, .ignored = fields_of_100ms, .rules = imported_rules,
	.doc = "A template as 100ms returns it.",
};

/* clang-format on */

static void check_imported_template(struct rule_context *context, const json_t *object)
{
	rule_check_import(context, object, "createdAt", "updatedAt");
}
