/* See rules/room_code_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/room_code_rules.h"

#include <string.h>

#include "base/id.h"
#include "base/text.h"
#include "rules/import_rules.h"
#include "rules/media_rules.h"
#include "rules/recording_rules.h"
#include "rules/role_rules.h"

/* clang-format off */

#define WORDS_SENTENCE \
	"must be 6 to 40 characters out of a-z 0-9 -, start and end with a letter or digit, have no two " \
	"hyphens in a row, and not look like a generated code (abc-defg-hij or abc-def-ghi)"

static const struct text_rule words_text = {
	.characters = "a-z0-9-",
	.sentence = WORDS_SENTENCE,
	.shortest = 6,
	.longest = CODE_WORDS_MOST,
};
#define GENERATED_SENTENCE \
	"must be a code of lower-case letters such as abc-defg-hij or abc-def-ghi"

static const struct text_rule generated_code_text = {
	.characters = "a-z-",
	.sentence = GENERATED_SENTENCE,
	.shortest = CODE_OLD_TEXT_SIZE - 1,
	.longest = CODE_TEXT_SIZE - 1,
};
static const struct text_rule label_text = {
	.sentence = "must be at most 128 characters",
	.longest = 128,
};
static const struct text_rule metadata_key_text = {
	.characters = "a-zA-Z0-9_.-",
	.sentence = "must be 1 to 40 characters out of a-z A-Z 0-9 _ . -",
	.shortest = 1,
	.longest = 40,
};
static const struct field metadata_item = { .name = NULL, TEXT(any_256_text) };

/* Not those that enable, disable or import one. */
#define ALL_OF_A_CODE (IN_ANSWER | IN_NEW | IN_CHANGE)

#define GRACE_MOST 604800

static schema_rule check_words, check_code_expiry, check_expiry_of_new, check_generated, check_imported_code;

static const struct rule code_patch_rules[] = {
	{ "expiryOrder", "expires_at is later than not_before.", check_code_expiry },
	{ NULL, NULL, NULL },
};
static const struct rule new_code_rules[] = {
	{ "words", "code does not look like a generated code.", check_words },
	{ "expiry",
	  "The end is in the future, later than not_before, and given either as expires_at or as "
	  "expires_in.",
	  check_expiry_of_new },
	{ NULL, NULL, NULL },
};

static const struct rule imported_code_rules[] = {
	{ "codeForm", "code has one of the two forms of a generated code.", check_generated },
	{ "codeTimes", IMPORTED_TIMES("created_at", "updated_at"), check_imported_code },
	{ NULL, NULL, NULL },
};

/* A new code is enabled, whatever is sent. */
static const struct field room_code_fields[] = {
	{ "code",       TEXT(room_code_text), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER | IN_CHANGE | IN_PATH_SWITCH),
	  DOC("Three groups of letters joined by hyphens, or a custom code.") },
	{ "code",       TEXT(words_text), FLAGS(FIELD_SECRET), IN(IN_NEW),
	  DOC("A custom code, unique on this server; a random code is generated if it is not given. "
	      "Custom codes can be guessed, so set max_uses or expires_at.") },
	{ "code",       TEXT(any_text), FLAGS(FIELD_REQUIRED), IN(IN_SWITCH), EXAMPLE("abc-defg-hij"), DOC("A room code.") },
	{ "code",       TEXT(generated_code_text), FLAGS(FIELD_REQUIRED | FIELD_SECRET), IN(IN_IMPORT),
	  EXAMPLE("abc-defg-hij"), DOC("A generated code.") },
	{ "room_id",    TEXT(id_text), FLAGS(FIELD_READ_ONLY), IN(~IN_IMPORT), DOC("Identifier of the room.") },
	{ "room_id",    TEXT(any_text), FLAGS(FIELD_REQUIRED), IN(IN_IMPORT), EXAMPLE("6925c84100000000000000b1"),
	  DOC("ID of a room of the account or of the request.") },
	{ "role",       TEXT(role_name_text), FLAGS(FIELD_READ_ONLY), IN(~IN_IMPORT),
	  DOC("Name of the role the code is for.") },
	{ "role",       TEXT(role_name_text), FLAGS(FIELD_REQUIRED), IN(IN_IMPORT),
	  DOC("If the template has no such role, the code belongs to a deleted role.") },
	{ "enabled",    BOOLEAN(), FLAGS(FIELD_READ_ONLY), IN(IN_ANSWER | IN_NEW),
	  DOC("false if the code was disabled or its role was deleted.") },
	{ "enabled",    BOOLEAN(), FLAGS(FIELD_KEPT), IN(IN_CHANGE), DOC("Whether the code can be exchanged.") },
	{ "enabled",    BOOLEAN(), FLAGS(FIELD_REQUIRED), IN(IN_SWITCH | IN_PATH_SWITCH),
	  DOC("Whether the code can be exchanged.") },
	{ "enabled",    BOOLEAN(), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT), DEFAULT(true),
	  DOC("Default: true for a new code, unchanged for an existing one.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY), IN(~IN_IMPORT), DOC("Time of creation.") },
	{ "updated_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY), IN(~IN_IMPORT),
	  DOC("Time of the last change of enabled.") },
	{ "created_at", TEXT(any_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT), IMPORTED_CREATION },
	{ "updated_at", TEXT(any_text), FLAGS(FIELD_HIDDEN_DEFAULT), IN(IN_IMPORT), IMPORTED_UPDATE },
	{ "not_before", TIME(), IN(ALL_OF_A_CODE), DOC("The code is valid from this second on.") },
	{ "expires_at", TIME(), IN(ALL_OF_A_CODE), DOC("The code is expired from this second on.") },
	{ "expires_in", INTEGER(1, EXPIRES_IN_MOST), IN(IN_NEW), UNIT("s"),
	  DOC("Seconds from created_at; in place of expires_at.") },
	{ "max_uses",   INTEGER(1, USES_MOST), IN(ALL_OF_A_CODE), DOC("How many times the code can be used.") },
	{ "uses",       INTEGER(0, USES_MOST), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES), IN(ALL_OF_A_CODE),
	  DOC("How often the code has been used; present if max_uses is set. Removing max_uses resets it.") },
	{ "user_id",    TEXT(some_line_256_text), FLAGS(FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT), IN(ALL_OF_A_CODE),
	  DOC("User ID of the person the code is for.") },
	{ "name",       TEXT(some_line_128_text), FLAGS(FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT), IN(ALL_OF_A_CODE),
	  DOC("Display name of that person.") },
	{ "label",      TEXT(label_text), FLAGS(FIELD_BLANK_ABSENT), IN(ALL_OF_A_CODE), EXAMPLE("for the speakers"),
	  DOC("A note for administrators.") },
	{ "metadata",   MAP_OF(metadata_key_text, metadata_item), MOST(16), IN(ALL_OF_A_CODE),
	  DOC("Texts for your own programs, by name.") },
	{ "admission",  ADMISSION, IN(ALL_OF_A_CODE),
	  DOC("With ask, people wait until somebody lets them in. Default: as for the role.") },
	{ "state",      CODE_STATES, FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES), IN(ALL_OF_A_CODE),
	  DOC("The first state that applies; present if not_before, expires_at or max_uses is set.") },
	{ "join_url",   TEXT(any_text), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES), IN(ALL_OF_A_CODE), IN_FORMAT("uri"),
	  DOC("Join link of the code; only with view=link.") },
	{ "code_hash",  TEXT(any_text), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES), IN(ALL_OF_A_CODE),
	  DOC("Hash of the code in the event log; only with view=link.") },
};
const struct shape room_code_shape = {
	"RoomCode", FIELDS(room_code_fields), .views = IN_ANSWER, .doc = "A room code for one role of one room.",
};
const struct shape new_code_shape = {
	"RoomCode", FIELDS(room_code_fields), .views = IN_NEW, .rules = new_code_rules, .doc = "A room code to create.",
};
const struct shape imported_code_shape = {
	"ImportedRoomCode", FIELDS(room_code_fields), .views = IN_IMPORT, .rules = imported_code_rules,
	.doc = "A room code as 100ms returns it.",
};
const struct shape code_patch_shape = {
	"RoomCode", FIELDS(room_code_fields), .views = IN_CHANGE, .rules = code_patch_rules,
	.doc = "Changes to a room code. null removes a field.",
};
const struct shape code_switch_shape = {
	"RoomCodeSwitch", FIELDS(room_code_fields), .views = IN_SWITCH, .doc = "Enables or disables a room code.",
};
const struct shape code_enabled_shape = {
	"RoomCodeEnabled", FIELDS(room_code_fields), .views = IN_PATH_SWITCH, .doc = "Enables or disables the room code in the path.",
};

static const struct field rotation_fields[] = {
	{ "grace_seconds", INTEGER(0, GRACE_MOST), DEFAULT(0),
	  UNIT("s"), DOC("How long the current codes stay valid; 0 disables them immediately.") },
};
const struct shape rotation_shape = {
	"RoomCodeRotation", FIELDS(rotation_fields),
	.doc = "How the codes of a role are replaced with a new one.",
};

static void clean_name(const struct shape *shape, json_t *object);

static const struct text_rule failed_text = {
	.sentence = "must be the name of a backend, at most 64 characters",
	.longest = 64,
};
static const struct field join_fields[] = {
	{ "code",    TEXT(any_text), FLAGS(FIELD_REQUIRED), IN(IN_NEW), EXAMPLE("abc-defg-hij"),
	  DOC("A room code, as people type or paste it: also in capitals, with other dashes or blanks, in quotes, or "
	      "as a whole join link.") },
	{ "user_id", TEXT(line_256_text), FLAGS(FIELD_HIDDEN_DEFAULT | FIELD_BLANK_ABSENT), IN(IN_NEW),
	  DOC("User ID of the person. Default: a version 4 UUID, also if it is empty.") },
	{ "name",    TEXT(some_128_text), FLAGS(FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT),
	  DOC("Display name on the media server. A name in the code takes precedence. The name of somebody else inside gets "
	      "a number. Default: the role and a number.") },
	{ "wait",    BOOLEAN(), IN(IN_NEW), DEFAULT(false),
	  DOC("Whether the person waits if somebody has to let them in; then the response is a ticket.") },
	{ "browser", TEXT(any_text), FLAGS(FIELD_ZERO_ABSENT), IN(IN_NEW), EXAMPLE("n7Yt0sV4bQzK1rXwE5aPdg"),
	  DOC("22 random characters that a page keeps, so that a person who was denied is known again. Anything of "
	      "another length is ignored.") },
	AGREES,
	AGREES_TO,
	{ "failed",  TEXT(failed_text), EXAMPLE("media-1"),
	  DOC("The name of the media server to which the person cannot connect, as join.backend has it.") },
};
const struct shape join_shape = {
	"Join", FIELDS(join_fields), .views = IN_NEW, .prepare = clean_name, .doc = "A room code to exchange for a join token.",
};

const struct field not_enforced_item = {
	.name = NULL, ONE_OF(RESTRICTIONS_NOT_ENFORCED),
	COMPONENT("NotEnforced"), DOC("A restriction that a media server cannot enforce."),
};
static const struct field join_ticket_fields[] = {
	{ "backend",      TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the backend.") },
	{ "type",         ONE_OF(BACKEND_TYPES), FLAGS(FIELD_REQUIRED), DOC("The kind of media server.") },
	{ "url",          TEXT(any_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uri"),
	  EXAMPLE("wss://media.example.org"), DOC("Address of the media server.") },
	{ "room",         TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("The room on the media server.") },
	{ "token",        TEXT(any_text), DOC("Token for the media server.") },
	{ "room_token",   TEXT(any_text), DOC("Token for the room; only for janus.") },
	{ "link",         TEXT(any_text), IN_FORMAT("uri"), DOC("Where a browser joins; only for jitsi, galene and bigbluebutton.") },
	{ "start_link",   TEXT(any_text), IN_FORMAT("uri"), DOC("Starts the meeting; only for moderators on bigbluebutton.") },
	{ "expires_at",   TEXT(time_text), DOC("When the access expires, if it does.") },
	{ "not_enforced", LIST_OF(not_enforced_item), FLAGS(FIELD_REQUIRED),
	  DOC("Restrictions of the role that the media server cannot enforce.") },
};
static const struct shape join_ticket_shape = {
	"JoinTicket", FIELDS(join_ticket_fields), .doc = "A person's access to a room on a media server.",
};

const struct shape media_join_shape = {
	"MediaJoin", FIELDS(join_fields), .prepare = clean_name, .doc = "The person who joins with a join token.",
};
static const struct field media_join_answer_fields[] = {
	{ "join", OBJECT(join_ticket_shape), FLAGS(FIELD_REQUIRED), DOC("Access to the media server.") },
};
const struct shape media_join_answer_shape = {
	"MediaJoinAnswer", FIELDS(media_join_answer_fields), .doc = "Access to the media server for the holder of a join token.",
};

/* ---- LiveKit's token endpoint: the names are those of LiveKit ---- */

static void read_camel_case(const struct shape *shape, json_t *object);
static void prepare_livekit_join(const struct shape *shape, json_t *object);
static schema_rule check_attributes;

static const struct text_rule attribute_name_text = {
	.sentence = "must be 1 to 128 bytes",
	.shortest = 1,
	.longest = 128,
	.counts_bytes = true,
};
static const struct text_rule participant_metadata_text = {
	.sentence = "must be at most 4096 bytes",
	.longest = 4096,
	.counts_bytes = true,
};
static const struct field attribute_item = { .name = NULL, TEXT(any_text) };

static const struct field asked_agent_fields[] = {
	{ "agent_name", TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("helper"),
	  DOC("One of the agents in settings.agents of the template.") },
	{ "metadata",   TEXT(any_text), DOC("Text for the agent, in place of the template's.") },
	{ "deployment", TEXT(any_text), DOC("The deployment of the agent.") },
};
static const struct shape asked_agent_shape = {
	"LivekitAgent", FIELDS(asked_agent_fields), .prepare = read_camel_case, .is_closed = true,
	.doc = "An agent that is asked for. Other fields are faults.",
};
static const struct field asked_agent_item = { .name = NULL, OBJECT(asked_agent_shape) };
static const struct field room_config_fields[] = {
	{ "agents", LIST_OF(asked_agent_item), DOC("Agents of the template, with data of their own.") },
};
static const struct shape room_config_shape = {
	"LivekitRoomConfig", FIELDS(room_config_fields), .prepare = read_camel_case, .is_closed = true,
	.doc = "How LiveKit makes the room. Other fields are faults.",
};

#define ATTRIBUTES_SENTENCE \
	"must not contain role, user_id, entry, code, consent, or names that begin with lk. or anteroom"

static const struct rule livekit_join_rules[] = {
	{ "participantAttributes", "participant_attributes " ATTRIBUTES_SENTENCE ".", check_attributes },
	{ NULL, NULL, NULL },
};
static const struct field livekit_join_fields[] = {
	{ "room_name",              TEXT(any_text), DOC("The ID or the name of the code's room, if it is not empty.") },
	{ "participant_name",       TEXT(some_128_text), FLAGS(FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT),
	  DOC("Display name. A name in the code takes precedence. The name of somebody else inside gets a number. Default: "
	      "the role and a number.") },
	{ "participant_identity",   TEXT(line_256_text), FLAGS(FIELD_HIDDEN_DEFAULT | FIELD_BLANK_ABSENT),
	  DOC("User ID of the person. Default: a version 4 UUID, also if it is empty.") },
	{ "participant_metadata",   TEXT(participant_metadata_text),
	  DOC("Text for programs in the room. The metadata of the code takes precedence.") },
	{ "participant_attributes", MAP_OF(attribute_name_text, attribute_item), MOST(16),
	  DOC("Attributes of the person, besides those of Anteroom.") },
	{ "room_config",            OBJECT(room_config_shape), DOC("How LiveKit makes the room.") },
};
const struct shape livekit_join_shape = {
	"LivekitJoin", FIELDS(livekit_join_fields), .rules = livekit_join_rules, .prepare = prepare_livekit_join,
	.doc = "The person who joins, as LiveKit's client libraries send it. Names in camel case, such as "
	       "participantName, are read too.",
};
static const struct field livekit_query_fields[] = {
	AGREES,
};
const struct shape livekit_query = { "LivekitQuery", FIELDS(livekit_query_fields), .doc = "What the person agrees to." };
static const struct field livekit_join_answer_fields[] = {
	{ "server_url",        TEXT(any_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uri"),
	  EXAMPLE("wss://media.example.org"), DOC("Address of the LiveKit server.") },
	{ "participant_token", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Token for the LiveKit server.") },
	{ "room_name",         TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Identifier of the room, its name on the LiveKit server.") },
	{ "participant_name",  TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Display name of the person.") },
};
const struct shape livekit_join_answer_shape = {
	"LivekitToken", FIELDS(livekit_join_answer_fields), .doc = "Access to a LiveKit server.",
};

#define FIELDS_OF_A_TOKEN(flags_) \
	{ "token",      TEXT(any_text), FLAGS(flags_), DOC("A JWT, signed with the account's secret.") }, \
	{ "room_id",    TEXT(id_text), FLAGS(flags_), DOC("Identifier of the room.") }, \
	{ "role",       TEXT(role_name_text), FLAGS(flags_), DOC("Name of the role.") }, \
	{ "user_id",    TEXT(any_256_text), FLAGS(flags_), DOC("User ID of the person the token is for.") }, \
	{ "expires_at", TEXT(time_text), FLAGS(flags_), DOC("When the token expires.") }, \
	{ "join",       OBJECT(join_ticket_shape), DOC("Access to the media server; present if a backend is used for the room.") }
static const struct field token_answer_fields[] = { FIELDS_OF_A_TOKEN(FIELD_REQUIRED) };
const struct shape token_answer_shape = {
	"Token", FIELDS(token_answer_fields), .doc = "A join token.",
};

static const struct field ticket_given_fields[] = {
	{ "ticket",      TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("The ticket: 43 characters. Whoever has it is the person who waits.") },
	{ "retry_after", INTEGER(1, UNLIMITED), FLAGS(FIELD_REQUIRED), UNIT("s"), DOC("When to ask for the ticket.") },
	{ "expires_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the ticket lapses if nobody asks for it.") },
};
const struct shape ticket_given_shape = {
	"Knock", FIELDS(ticket_given_fields), .doc = "The ticket of a person who waits to be let in.",
};
static const struct field ticket_fields[] = {
	{ "state",       ONE_OF("waiting", "admitted", "denied"), FLAGS(FIELD_REQUIRED), DOC("What was decided.") },
	{ "retry_after", INTEGER(1, UNLIMITED), UNIT("s"), DOC("While waiting: when to ask again.") },
	{ "reason",      TEXT(any_text), DOC("Why the person was denied; may be empty.") },
	FIELDS_OF_A_TOKEN(0),
};
const struct shape ticket_shape = {
	"Ticket", FIELDS(ticket_fields), .doc = "What was decided about a person who waits, and if admitted, a join token.",
};

static const struct field opened_room_fields[] = {
	{ "name",        TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the room.") },
	{ "description", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Description of the room.") },
	{ "title",       TEXT(any_text), EXAMPLE("Mathematics, class 7b"), DOC("Title of the room, if it has one.") },
};
static const struct shape opened_room_shape = {
	"OpenedRoom", FIELDS(opened_room_fields), .doc = "The room of a code, for a guest.",
};
static const struct field opened_role_fields[] = {
	{ "name",          TEXT(role_name_text), FLAGS(FIELD_REQUIRED), DOC("Name of the role.") },
	{ "title",         TEXT(any_text), EXAMPLE("Teacher"), DOC("Title of the role, if it has one.") },
	{ "publishParams", OBJECT(publish_params_shape), FLAGS(FIELD_REQUIRED), DOC("What the role may publish.") },
};
static const struct shape opened_role_shape = {
	"OpenedRole", FIELDS(opened_role_fields), .doc = "The role of a code, for a guest.",
};
static const struct field opened_state_fields[] = {
	{ "messageInterval",     INTEGER(5, 3600), FLAGS(FIELD_REQUIRED), UNIT("s"),
	  DOC("How often to ask again. The join page asks at most every 10 seconds.") },
	{ "stopRoomStateOnJoin", BOOLEAN(), FLAGS(FIELD_REQUIRED),
	  DOC("Whether a page stops asking once the person has joined.") },
};
static const struct shape opened_state_shape = {
	"OpenedState", FIELDS(opened_state_fields), .doc = "How often a page asks who is inside.",
};
static const struct field opened_peer_fields[] = {
	{ "name", TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("Ada"),
	  DOC("Name of the person; empty if the account has sessions=off.") },
	{ "role", TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("guest"), DOC("Name of the person's role.") },
};
static const struct shape opened_peer_shape = {
	"OpenedPeer", FIELDS(opened_peer_fields), .doc = "Somebody inside, for a guest.",
};
static const struct field opened_peer_item = { .name = NULL, OBJECT(opened_peer_shape) };
static const struct field opened_inside_fields[] = {
	{ "peer_count", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("How many people are inside.") },
	{ "peers",      LIST_OF(opened_peer_item), MOST(5),
	  DOC("The first five of them, in the order in which they joined; missing without sendPeerList, and if more than "
	      "200 people are inside.") },
};
static const struct shape opened_inside_shape = {
	"OpenedInside", FIELDS(opened_inside_fields), .doc = "Who is inside, for a guest.",
};
static const struct field origin_item = {
	.name = NULL, TEXT(any_text), IN_FORMAT("uri"), EXAMPLE("https://www.example.org"),
};
static const struct field opened_fields[] = {
	{ "code",       TEXT(room_code_text), FLAGS(FIELD_REQUIRED), DOC("The room code.") },
	{ "room",       OBJECT(opened_room_shape), FLAGS(FIELD_REQUIRED), DOC("Room of the code.") },
	{ "role",       OBJECT(opened_role_shape), FLAGS(FIELD_REQUIRED), DOC("Role of the code.") },
	{ "client_url", TEXT(any_text), FLAGS(FIELD_NULLABLE), IN_FORMAT("uri"), EXAMPLE("https://example.org/"),
	  DOC("Where a page sends people who join.") },
	{ "call",       ONE_OF("livekit", "none"),
	  DOC("livekit if the join page itself shows the call: the media server is a LiveKit, and client_url is null. "
	      "none if calls are not set up for this room: there is no media server with a page, and no client_url that "
	      "leads to a call. Missing if client_url or the page of the media server shows the call.") },
	{ "not_before", TEXT(time_text), DOC("When the code becomes valid, if set.") },
	{ "expires_at", TEXT(time_text), DOC("When the code expires, if set.") },
	{ "opens_at",   TEXT(time_text), DOC("When the room opens, if set.") },
	{ "closes_at",  TEXT(time_text), DOC("When the room closes, if set.") },
	{ "name",       TEXT(any_text), DOC("Display name of the person the code is for, if set.") },
	{ "admission",  ADMISSION, DOC("ask if somebody has to let people in; else missing.") },
	{ "embed",      LIST_OF(origin_item), MOST(EMBED_ORIGINS_MOST),
	  DOC("Origins whose pages may show the join page in a frame; missing if there are none.") },
	{ "recordings", BOOLEAN(), DOC("true if the code lists what was recorded in the room; else missing.") },
	{ "room_state", OBJECT(opened_state_shape),
	  DOC("Present with inside: how a page follows it, as the template's settings have it.") },
	{ "inside",     OBJECT(opened_inside_shape),
	  DOC("Who is inside, as far as it is known; missing unless the template's roomState is enabled and the role has "
	      "sendRoomState. With it, the response has an ETag.") },
	{ "recording",  ONE_OF("running", "automatic"),
	  DOC("running if the room is recorded now, also if the recording is paused; automatic if it will be as soon as "
	      "people are inside; else missing.") },
	{ "consent",    ONE_OF("notice", "asked", "required"), COMPONENT("RecordingConsent"),
	  DOC("Present if people are asked whether they agree to be recorded: required if nobody joins without it.") },
};
const struct shape opened_shape = {
	"OpenedByCode", FIELDS(opened_fields), .doc = "What a room code opens.",
};

/* clang-format on */

/* Some of LiveKit's libraries send names in camel case. */
static void read_camel_case(const struct shape *shape, json_t *object)
{
	for (size_t i = 0; i < shape->field_count; i++) {
		const char *name = shape->fields[i].name;
		char camel[40];
		json_t *value;

		text_camel_case(name, camel, sizeof camel);
		value = json_object_get(object, camel);
		if (value == NULL || strcmp(camel, name) == 0 ||
		    (json_object_get(object, name) != NULL &&
		     !json_is_null(json_object_get(object, name))))
			continue;
		object_put(object, name, json_incref(value));
		json_object_del(object, camel);
	}
}

static void prepare_livekit_join(const struct shape *shape, json_t *object)
{
	read_camel_case(shape, object);
	text_clean_member(object, "participant_name");
}

static void clean_name(const struct shape *shape, json_t *object)
{
	(void)shape;
	text_clean_member(object, "name");
}

static void check_attributes(struct rule_context *context, const json_t *object)
{
	static const char *const own[] = { "role", "user_id", "entry", "code", "consent" };
	static const char *const beginnings[] = { "lk.", "anteroom" };
	json_t *attributes = json_object_get(object, "participant_attributes");
	bool is_own = false;
	const char *name;
	json_t *value;

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		is_own |= json_object_get(attributes, own[i]) != NULL;
	json_object_foreach(attributes, name, value) {
		for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
			is_own |= strncmp(name, beginnings[i], strlen(beginnings[i])) == 0;
	}
	if (is_own)
		schema_fault(context, "/participant_attributes", "%s", ATTRIBUTES_SENTENCE);
}

static void check_words(struct rule_context *context, const json_t *object)
{
	const struct slice words = text_of_json(json_object_get(object, "code"));

	if (words.data != NULL && !code_is_words(words))
		schema_fault(context, "/code", "%s", WORDS_SENTENCE);
}

static void check_generated(struct rule_context *context, const json_t *object)
{
	const struct slice code = text_of_json(json_object_get(object, "code"));

	if (code.data != NULL && !code_is_well_formed(code))
		schema_fault(context, "/code", "%s", GENERATED_SENTENCE);
}

static void check_imported_code(struct rule_context *context, const json_t *object)
{
	rule_check_import(context, object, "created_at", "updated_at");
}

/* Returns the time of a member, or 0 if it is not set. */
static int64_t seconds_in(const json_t *object, const char *name)
{
	const struct slice text = text_of_json(json_object_get(object, name));
	int64_t seconds;

	return text.data != NULL && text_time_parse_seconds(text, &seconds) ? seconds : 0;
}

static void check_end(struct rule_context *context, const char *pointer, const json_t *object,
		      int64_t end)
{
	if (json_object_get(object, "not_before") != NULL &&
	    end <= seconds_in(object, "not_before"))
		schema_fault(context, pointer, "must be later than not_before");
}

static void check_code_expiry(struct rule_context *context, const json_t *object)
{
	if (json_object_get(object, "expires_at") != NULL)
		check_end(context, "/expires_at", object, seconds_in(object, "expires_at"));
}

static void check_expiry_of_new(struct rule_context *context, const json_t *object)
{
	const json_t *expires_in = json_object_get(object, "expires_in");
	const int64_t now = rule_now(context);

	check_code_expiry(context, object);
	if (json_object_get(object, "expires_at") != NULL &&
	    seconds_in(object, "expires_at") <= now)
		schema_fault(context, "/expires_at", "must be in the future");
	if (expires_in == NULL)
		return;
	if (json_object_get(object, "expires_at") != NULL)
		schema_fault(context, "/expires_in", "not together with expires_at");
	else
		check_end(context, "/expires_in", object, now + json_integer_value(expires_in));
}
