/* See rules/live_rules.h. The service writes these responses itself; the tables document them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/live_rules.h"

#include "rules/room_code_rules.h"

#include "base/text.h"
#include "base/time_zone.h"
#include "rules/list_rules.h"
#include "rules/recording_rules.h"
#include "rules/role_rules.h"

/* The size of a date. */
#define DATE_SIZE 10
/* Milliseconds. */
#define DAY ((int64_t)24 * 60 * 60 * 1000)

/* clang-format off */

#define EXAMPLE_PEER EXAMPLE("3b2f7c50-6d1e-8a4b-9c0d-2e7f1a5b8c63")

static const struct text_rule peer_id_text = {
	.characters = "0-9a-f-",
	.sentence = "must be a UUID",
	.shortest = 36,
	.longest = 36,
};

/* ---- live rooms ---- */

static const struct field peer_id_item = { .name = NULL, .kind = KIND_TEXT, .text = &any_text };
static const struct field number_item = { .name = NULL, INTEGER(0, UNLIMITED), DOC("Number of people.") };

static const struct field active_session_fields[] = {
	{ "id",         TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Session identifier.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the first peer joined.") },
	{ "peers",      LIST_OF(peer_id_item), FLAGS(FIELD_REQUIRED),
	  DOC("IDs of those inside, in the order in which they joined, the first 10,000.") },
};
static const struct shape active_session_shape = {
	"ActiveSession", FIELDS(active_session_fields), .doc = "The session of a live room.",
};
static const struct field active_room_fields[] = {
	{ "id",          TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Room identifier.") },
	{ "name",        TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the room.") },
	{ "title",       TEXT(any_text), EXAMPLE("Mathematics, class 7b"), DOC("Title of the room, if it has one.") },
	{ "customer_id", TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Account identifier.") },
	{ "session",     OBJECT(active_session_shape), FLAGS(FIELD_REQUIRED), DOC("The session.") },
	{ "peer_count",  INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("How many people are inside.") },
	{ "roles",       MAP_OF(any_text, number_item), FLAGS(FIELD_REQUIRED), DOC("How many of them have each role.") },
	{ "seen_at",     TEXT(time_text), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE),
	  DOC("When the media server last told something about the room, or was asked.") },
	{ "backend",     TEXT(any_text), DOC("The media server where a room of a pool is now.") },
};
const struct shape active_room_shape = {
	"ActiveRoom", FIELDS(active_room_fields), .doc = "A room in session.",
};

static const struct field track_fields[] = {
	{ "id",          TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Identifier on the media server.") },
	{ "stream_id",   TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("ID of the peer.") },
	{ "mute",        BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether the track is muted.") },
	{ "type",        ONE_OF("audio", "video"), FLAGS(FIELD_REQUIRED), DOC("What the track is.") },
	{ "source",      ONE_OF("regular", "screen"), FLAGS(FIELD_REQUIRED), DOC("Where it comes from.") },
	{ "started_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When it was published or last changed.") },
	{ "description", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Always empty.") },
};
static const struct shape track_shape = {
	"Track", FIELDS(track_fields), .doc = "What a peer publishes.",
};
static const struct field track_item = { .name = NULL, OBJECT(track_shape) };

#define CONSENT_OF_A_STAY \
	{ "consented_at",         TEXT(time_text), DOC("When the person agreed to be recorded, if so.") }, \
	{ "consent_text",         TEXT(any_text), EXAMPLE("en-1"), DOC("Which sentence the person was shown, if that is known.") }, \
	{ "consent_withdrawn_at", TEXT(time_text), DOC("When the person withdrew that, if so.") }

#define MEMBERS_OF_AN_ACTIVE_PEER \
	{ "id",        TEXT(any_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uuid"), EXAMPLE_PEER, DOC("Peer identifier.") }, \
	{ "name",      TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Display name.") }, \
	{ "user_id",   TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("User ID of the person.") }, \
	{ "metadata",  TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("What the media server keeps about the person.") }, \
	{ "role",      TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the role; empty if it has none.") }, \
	{ "joined_at", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the stay began.") }, \
	CONSENT_OF_A_STAY, \
	{ "tracks",    MAP_OF(any_text, track_item), DOC("What the peer publishes, by its ID; only where one peer is asked for.") }

static const struct field active_peer_fields[] = { MEMBERS_OF_AN_ACTIVE_PEER };
const struct shape active_peer_shape = {
	"ActivePeer", FIELDS(active_peer_fields), .doc = "Somebody who is in a room now.",
};
static const struct field active_peer_item = { .name = NULL, OBJECT(active_peer_shape) };
static const struct field active_peers_fields[] = {
	{ "peers", MAP_OF(any_text, active_peer_item), FLAGS(FIELD_REQUIRED),
	  DOC("Those inside by their ID, in the order in which they joined.") },
};
const struct shape active_peers_shape = {
	"ActivePeers", FIELDS(active_peers_fields), .doc = "The people in a room.",
};

static const struct field my_role_fields[] = {
	{ "name",            TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the role.") },
	{ "publishParams",   OBJECT(publish_params_shape), DOC("What the role may publish, less what is held.") },
	{ "subscribeParams", OBJECT(subscribe_params_shape), DOC("What the role may subscribe to.") },
	{ "permissions",     OBJECT(permissions_shape), DOC("What else the role may do.") },
};
static const struct shape my_role_shape = {
	"RoleInside", FIELDS(my_role_fields), .doc = "The role of somebody inside; of a deleted role the name alone.",
};
#define STATES_OF_A_DOOR ONE_OF("open", "ask", "locked")

static const struct field role_name_item = { .name = NULL, .kind = KIND_TEXT, .text = &any_text };
static const struct field other_role_fields[] = {
	{ "name",          TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the role.") },
	{ "title",         TEXT(any_text), EXAMPLE("Teacher"), DOC("Title of the role, if it has one.") },
	{ "priority",      INTEGER(1, 5), FLAGS(FIELD_REQUIRED), DOC("Its priority.") },
	{ "host",          BOOLEAN(), FLAGS(FIELD_REQUIRED),
	  DOC("Whether it may mute or remove others.") },
	{ "publishParams", OBJECT(publish_params_shape), FLAGS(FIELD_REQUIRED),
	  DOC("The most that people with the role should send.") },
};
static const struct shape other_role_shape = {
	"RoleOfOthers", FIELDS(other_role_fields), .doc = "A role that people inside can have.",
};
static const struct field other_role_item = { .name = NULL, OBJECT(other_role_shape) };
#define HELD_SOURCE ONE_OF("audio", "video")
static const struct field held_item = { .name = NULL, HELD_SOURCE };
static const struct field hold_fields[] = {
	{ "type", HELD_SOURCE, FLAGS(FIELD_REQUIRED), DOC("What people cannot publish.") },
	{ "role", TEXT(any_text), EXAMPLE("guest"), DOC("Whose holders are held; missing for all.") },
};
static const struct shape hold_shape = {
	"Hold", FIELDS(hold_fields), .doc = "What moderators hold in a room.",
};
static const struct field hold_item = { .name = NULL, OBJECT(hold_shape) };
static const struct field may_item = { .name = NULL, ONE_OF("record") };
static const struct field told_recording_fields[] = {
	{ "type",  ONE_OF("recording", "live", "external"), FLAGS(FIELD_REQUIRED), DOC("What it is.") },
	{ "state", ONE_OF("starting", "running", "paused", "interrupted"), FLAGS(FIELD_REQUIRED),
	  DOC("What it does: starting, running and paused only once that is true; interrupted if nothing is recorded "
	      "that should be.") },
	{ "since", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("Since when.") },
	{ "by",    TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("ID of the peer who started it, or empty.") },
	{ "name",  TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("That person's name at the start, or empty.") },
};
static const struct shape told_recording_shape = {
	"RecordingOfRoom", FIELDS(told_recording_fields), .doc = "What people in a room are told of a recording.",
};
static const struct field told_recording_item = { .name = NULL, OBJECT(told_recording_shape) };
static const struct field me_fields[] = {
	{ "peer",       OBJECT(active_peer_shape), FLAGS(FIELD_REQUIRED), DOC("The caller.") },
	{ "role",       OBJECT(my_role_shape), FLAGS(FIELD_REQUIRED), DOC("The caller's role.") },
	{ "gives",      LIST_OF(role_name_item), FLAGS(FIELD_REQUIRED),
	  DOC("Roles that the caller may give to others, in the order of the template.") },
	{ "name_fixed", BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether the caller's code has a name.") },
	{ "ends_at",    TEXT(time_text), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE),
	  DOC("When the room closes for the caller, or its longest time is over; null for never.") },
	{ "started_at", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the session began.") },
	{ "roles",      LIST_OF(other_role_item), FLAGS(FIELD_REQUIRED),
	  DOC("The roles of the room, in the order of the template.") },
	{ "held",       LIST_OF(held_item), FLAGS(FIELD_REQUIRED),
	  DOC("What the role may publish, and the caller cannot now because it is held.") },
	{ "holds",      LIST_OF(hold_item), DOC("What is held in the room; only if the caller may mute others.") },
	{ "door",       STATES_OF_A_DOOR, FLAGS(FIELD_REQUIRED | FIELD_NULLABLE),
	  DOC("What the door of the room does; null if it does what roles and codes say.") },
	{ "may",        LIST_OF(may_item), FLAGS(FIELD_REQUIRED), DOC("What the caller may start and stop.") },
	{ "recordings", LIST_OF(told_recording_item), FLAGS(FIELD_REQUIRED),
	  DOC("What is recorded in the room, oldest first.") },
	{ "consent",    ONE_OF("notice", "asked", "required"), COMPONENT("RecordingConsent"),
	  DOC("Present if people are asked whether they agree to be recorded.") },
	{ "agreed",     BOOLEAN(), DOC("With consent: whether the caller agrees.") },
};
const struct shape me_shape = {
	"Me", FIELDS(me_fields), .doc = "What somebody inside a room is and may do there.",
};

static const struct field active_peers_query_fields[] = {
	{ "user_id", TEXT(any_text), DOC("Only people with exactly this user ID.") },
	{ "role",    TEXT(any_text), EXAMPLE("host"), DOC("Only people with exactly this role.") },
};
const struct shape active_peers_query = { "ActivePeersQuery", FIELDS(active_peers_query_fields) };

/* ---- acting ---- */

static const struct text_rule message_text = {
	.sentence = "must be 1 to 4096 bytes",
	.shortest = 1,
	.longest = MESSAGE_MOST,
	.counts_bytes = true,
};
static const struct text_rule message_type_text = {
	.sentence = "must be 1 to 64 characters",
	.shortest = 1,
	.longest = 64,
};
#define ABSENT_IF_EMPTY FLAGS(FIELD_ZERO_ABSENT)

static const struct text_rule reason_text = {
	.sentence = "must be 0 to 256 characters",
	.longest = 256,
	.no_controls = true,
};

static schema_rule check_addressed, check_ban;

static const struct rule remove_rules[] = {
	{ "peerOrRole", "One of peer_id and role is required.", check_addressed },
	{ "banLength", "ban is a boolean, or the number of seconds, 1 to 315360000.", check_ban },
	{ NULL, NULL, NULL },
};
static const struct field remove_fields[] = {
	{ "peer_id", TEXT(any_text), ABSENT_IF_EMPTY, DOC("Whom to put out.") },
	{ "role",    TEXT(any_text), ABSENT_IF_EMPTY, EXAMPLE("guest"),
	  DOC("Whose holders to put out, unless peer_id is sent.") },
	{ "reason",  TEXT(reason_text), ABSENT_IF_EMPTY, EXAMPLE("The talk is over."), DOC("What they are told.") },
	{ "ban",     ANY(), FLAGS(FIELD_RAW), EXAMPLE(true),
	  DOC("Whether they are banned from the room, too: true, or for how many seconds.") },
	{ "door",    ONE_OF("ask"), ABSENT_IF_EMPTY,
	  DOC("Whether the code by which they came asks at the door until the session closes. With ban, only where nobody "
	      "could be banned.") },
};
const struct shape remove_shape = {
	"PeerRemoval", FIELDS(remove_fields), .rules = remove_rules, .doc = "People to be put out of a room.",
};

static void check_addressed(struct rule_context *context, const json_t *object)
{
	if (json_object_get(object, "peer_id") == NULL && json_object_get(object, "role") == NULL)
		schema_fault(context, "/peer_id", "is required unless role is sent");
}

static void check_ban(struct rule_context *context, const json_t *object)
{
	const json_t *ban = json_object_get(object, "ban");

	if (ban != NULL && !json_is_boolean(ban) &&
	    (!json_is_integer(ban) || json_integer_value(ban) < 1 ||
	     json_integer_value(ban) > EXPIRES_IN_MOST))
		schema_fault(context, "/ban", "must be a boolean or 1 to 315360000 seconds");
}

static const struct field end_fields[] = {
	{ "reason", TEXT(reason_text), ABSENT_IF_EMPTY, EXAMPLE("The talk is over."), DOC("What the people inside are told.") },
	{ "lock",   BOOLEAN(), DEFAULT(false), DOC("Whether the room is disabled, too.") },
};
const struct shape end_shape = { "RoomEnd", FIELDS(end_fields), .doc = "How to end a room." };

static const struct field message_fields[] = {
	{ "message", TEXT(message_text), FLAGS(FIELD_REQUIRED), EXAMPLE("The talk begins."), DOC("What to send.") },
	{ "peer_id", TEXT(any_text), ABSENT_IF_EMPTY, DOC("Only to this peer.") },
	/* As published clients send it. Generated clients would have one name for both. */
	{ "peerId",  TEXT(any_text), FLAGS(FIELD_ZERO_ABSENT | FIELD_UNLISTED) },
	{ "role",    TEXT(any_text), ABSENT_IF_EMPTY, EXAMPLE("host"), DOC("Only to people with this role, unless peer_id is sent.") },
	{ "type",    TEXT(message_type_text), ABSENT_IF_EMPTY, DEFAULT("chat"),
	  DOC("Tells programs what kind of message it is: the topic of LiveKit.") },
};
const struct shape message_shape = {
	"RoomMessage", FIELDS(message_fields), .doc = "A message to the people in a room.",
};
static schema_rule check_update;

static const struct text_rule metadata_text = {
	.sentence = "must be 0 to 4096 bytes",
	.longest = METADATA_MOST,
	.counts_bytes = true,
};
static const struct rule update_rules[] = {
	{ "peerUpdate", "At least one of name, role, metadata, hand and consent is required, role with door, and consent "
	  "with consent_text; metadata and hand exclude each other.", check_update },
	{ NULL, NULL, NULL },
};
static const struct field update_fields[] = {
	{ "name",     TEXT(some_line_128_text), FLAGS(FIELD_ZERO_ABSENT | FIELD_BLANK_ABSENT), EXAMPLE("Ada"),
	  DOC("The name that others see. From inside, the name of somebody else inside gets a number.") },
	{ "role",     TEXT(any_text), ABSENT_IF_EMPTY, EXAMPLE("guest"), DOC("A role of the room's template.") },
	{ "metadata", TEXT(metadata_text), EXAMPLE("{\"isHandRaised\":true}"), DOC("Text for programs in the room.") },
	{ "hand",     BOOLEAN(),
	  DOC("Whether the person's hand is up: isHandRaised in the metadata, of which the rest stays. From inside, others' "
	      "hands can only be lowered, which needs mute.") },
	{ "door",     ONE_OF("ask"), ABSENT_IF_EMPTY,
	  DOC("With role: whether the code by which the person came asks at the door until the session closes. Needs "
	      "removeOthers, too.") },
	AGREES,
	AGREES_TO,
};
const struct shape update_shape = {
	"PeerUpdate", FIELDS(update_fields), .rules = update_rules, .doc = "What to change about a peer.",
};
static void check_update(struct rule_context *context, const json_t *object)
{
	if (json_object_get(object, "hand") != NULL && rule_was_sent(context, "/metadata"))
		schema_fault(context, "/metadata", "must not be sent with hand");
	if (json_object_get(object, "door") != NULL) {
		if (json_object_get(object, "role") == NULL)
			schema_fault(context, "/role", "is required with door");
	} else if (json_object_get(object, "consent_text") != NULL &&
		   !rule_was_sent(context, "/consent")) {
		schema_fault(context, "/consent", "is required with consent_text");
	} else if (json_object_size(object) == 0 && !rule_was_sent(context, "/metadata") &&
		   !rule_was_sent(context, "/hand") && !rule_was_sent(context, "/consent") &&
		   !rule_was_sent(context, "/consent_text")) {
		schema_fault(context, "/role", "is required unless name, metadata, hand or consent is sent");
	}
}

static const struct field lower_fields[] = {
	{ "role", TEXT(any_text), ABSENT_IF_EMPTY, EXAMPLE("guest"), DOC("Only the hands of people with this role.") },
};
const struct shape lower_shape = { "HandsLowered", FIELDS(lower_fields), .doc = "Whose hands to lower." };

static const struct field mute_fields[] = {
	{ "type", ONE_OF("audio", "video", "screen"), FLAGS(FIELD_REQUIRED), DOC("Which tracks.") },
	{ "mute", BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether they are to be muted or unmuted.") },
};
const struct shape mute_shape = {
	"PeerMute", FIELDS(mute_fields), .doc = "What to mute or unmute of a peer.",
};
static const struct field mute_all_fields[] = {
	{ "type", HELD_SOURCE, FLAGS(FIELD_REQUIRED),
	  DOC("audio: all that is heard of a person, also of a shared screen. video: the camera alone.") },
	{ "role", TEXT(any_text), ABSENT_IF_EMPTY, EXAMPLE("guest"), DOC("Only people with this role.") },
	{ "hold", BOOLEAN(),
	  DOC("true: people whose role lacks `mute` also cannot switch it on again until the session closes. false: they "
	      "can, and nobody is muted. Default: what is held stays so.") },
};
const struct shape mute_all_shape = {
	"PeersMute", FIELDS(mute_all_fields), .doc = "What to mute of all people in a room, or of those with a role.",
};
static const struct field muted_fields[] = {
	{ "message", TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("mute request submitted"), DOC("What was done.") },
	{ "muted",   INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED),
	  DOC("How many people were muted; those who were muted already do not count.") },
	{ "missed",  INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED),
	  DOC("How many people the media server did not mute, or hold or free, in time. The service goes on with those "
	      "to be held or freed.") },
};
const struct shape muted_shape = { "PeersMuted", FIELDS(muted_fields), .doc = "How many people were muted." };
static const struct field done_fields[] = {
	{ "message", TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("message sent"), DOC("What was done.") },
};
static const struct field unbanned_item = { .name = NULL, ONE_OF("ban") };
static const struct field unkept_item = {
	.name = NULL, ONE_OF(RESTRICTIONS_NOT_ENFORCED, "role"),
	DOC("A restriction of a new role that cannot be enforced."),
};
static const struct field updated_peer_fields[] = {
	MEMBERS_OF_AN_ACTIVE_PEER,
	{ "not_enforced", LIST_OF(unkept_item),
	  DOC("What the media server cannot enforce of the role, if anything; `role` if the person lost a power over "
	      "others, and can have the former role again by the same code.") },
	{ "door",         ONE_OF("ask"), DOC("Set if a code asks at the door now.") },
};
const struct shape updated_peer_shape = {
	"UpdatedPeer", FIELDS(updated_peer_fields), .doc = "Somebody who is in a room now, after a change.",
};
static const struct field removed_fields[] = {
	{ "message", TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("peer remove request submitted"), DOC("What was done.") },
	{ "not_enforced", LIST_OF(unbanned_item), DOC("What could not be done for all of them.") },
	{ "door",         ONE_OF("ask"), DOC("Set if a code asks at the door now.") },
};
const struct shape removed_shape = {
	"PeersRemoved", FIELDS(removed_fields), .doc = "What was done with people in a room.",
};
const struct shape done_shape = { "Done", FIELDS(done_fields), .doc = "What was done in a room." };

/* ---- the door ---- */

#define STATES_OF_A_DECISION ONE_OF("admitted", "denied")
#define WHO_IS_AT_THE_DOOR \
	{ "id",      TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Identifier of the ticket, which is not the ticket itself.") }, \
	{ "name",    TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Display name; may be empty.") }, \
	{ "user_id", TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("User ID of the person.") }, \
	{ "role",    TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Role with which the person joins.") }
#define WHO_WAITS \
	WHO_IS_AT_THE_DOOR, \
	{ "since",   TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the person began to wait.") }

static const struct field waiting_fields[] = { WHO_WAITS };
static const struct shape waiting_shape = {
	"WaitingPerson", FIELDS(waiting_fields), .doc = "Somebody who waits to be let in.",
};
static const struct field waiting_item = { .name = NULL, OBJECT(waiting_shape) };
static const struct field denied_fields[] = {
	WHO_IS_AT_THE_DOOR,
	{ "until",   TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the denial ends.") },
};
static const struct shape denied_shape = {
	"DeniedPerson", FIELDS(denied_fields), .doc = "Somebody whose denial can be taken back.",
};
static const struct field denied_item = { .name = NULL, OBJECT(denied_shape) };
#define STATE_OF_A_DOOR \
	{ "state", STATES_OF_A_DOOR, FLAGS(FIELD_REQUIRED | FIELD_NULLABLE), \
	  DOC("What the door does; null if it does what roles and codes say.") }, \
	{ "was",   STATES_OF_A_DOOR, FLAGS(FIELD_TAKES_NULL), DOC("What it did before it was locked. Only while it is locked.") }

static const struct field tickets_fields[] = {
	{ "tickets", LIST_OF(waiting_item), FLAGS(FIELD_REQUIRED), DOC("Those who have waited longest, at most 100.") },
	{ "count",   INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("How many people wait.") },
	STATE_OF_A_DOOR,
	{ "denied",  LIST_OF(denied_item), FLAGS(FIELD_REQUIRED),
	  DOC("Those whom a moderator has denied less than ten minutes ago, which can be taken back; the newest 100.") },
};
const struct shape tickets_shape = { "Tickets", FIELDS(tickets_fields), .doc = "Who waits to be let in." };

static const struct field door_change_fields[] = {
	{ "state", STATES_OF_A_DOOR, FLAGS(FIELD_REQUIRED | FIELD_TAKES_NULL), EXAMPLE("ask"),
	  DOC("What the door is to do: let in everybody, ask for everybody whose role may not mute others, or let in nobody; "
	      "null: what roles and codes say.") },
};
const struct shape door_change_shape = { "DoorChange", FIELDS(door_change_fields), .doc = "What the door of a room is to do." };
static const struct field door_fields[] = { STATE_OF_A_DOOR };
const struct shape door_shape = { "Door", FIELDS(door_fields), .doc = "What the door of a room does." };

static const struct field decision_fields[] = {
	{ "state",  STATES_OF_A_DECISION, FLAGS(FIELD_REQUIRED), DOC("Whether the person may come in.") },
	{ "reason", TEXT(reason_text), ABSENT_IF_EMPTY, EXAMPLE("This is a private meeting."),
	  DOC("What a person who is denied is told.") },
};
const struct shape decision_shape = { "Decision", FIELDS(decision_fields), .doc = "What is decided about somebody who waits." };

static const struct field decided_fields[] = {
	WHO_WAITS,
	{ "state", STATES_OF_A_DECISION, FLAGS(FIELD_REQUIRED), DOC("What was decided.") },
};
const struct shape decided_shape = { "DecidedTicket", FIELDS(decided_fields), .doc = "Somebody who waited." };

static schema_rule check_admit;
static const struct rule admit_rules[] = {
	{ "admit", "admit is \"all\" or a list of at most 100 ticket IDs.", check_admit },
	{ NULL, NULL, NULL },
};
static const struct field admit_fields[] = {
	{ "admit", ANY(), FLAGS(FIELD_REQUIRED | FIELD_RAW), EXAMPLE("all"), DOC("\"all\", or the IDs of at most 100 tickets. Unknown IDs are ignored.") },
};
const struct shape admit_shape = {
	"Admission", FIELDS(admit_fields), .rules = admit_rules, .doc = "Who is let in.",
};
static const struct field admitted_fields[] = {
	{ "admitted", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("How many people were let in.") },
};
const struct shape admitted_shape = { "Admitted", FIELDS(admitted_fields), .doc = "How many people were let in." };

static void check_admit(struct rule_context *context, const json_t *object)
{
	const json_t *admit = json_object_get(object, "admit");
	bool is_right = json_is_array(admit) && json_array_size(admit) <= ADMITTED_MOST;

	for (size_t i = 0; is_right && i < json_array_size(admit); i++)
		is_right = json_is_string(json_array_get(admit, i));
	if (admit != NULL && !is_right && !slice_is(text_of_json(admit), "all"))
		schema_fault(context, "/admit", "must be \"all\" or a list of at most %d ticket IDs", ADMITTED_MOST);
}

/* ---- sessions ---- */

static const struct field session_peer_fields[] = {
	{ "id",         TEXT(any_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uuid"), EXAMPLE_PEER, DOC("Peer identifier.") },
	{ "session_id", TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("The session.") },
	{ "name",       TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Display name.") },
	{ "role",       TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("Name of the role; empty if it had none.") },
	{ "user_id",    TEXT(any_text), FLAGS(FIELD_REQUIRED), DOC("User ID of the person.") },
	{ "joined_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the stay began.") },
	{ "left_at",    TEXT(time_text), DOC("When it ended; missing while the peer is inside.") },
	CONSENT_OF_A_STAY,
};
const struct shape session_peer_shape = {
	"SessionPeer", FIELDS(session_peer_fields), .doc = "One stay of one person in a session.",
};
static const struct field session_peer_item = { .name = NULL, OBJECT(session_peer_shape) };

static const struct field session_fields[] = {
	{ "id",          TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Session identifier.") },
	{ "room_id",     TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("The room, which may have been deleted since.") },
	{ "title",       TEXT(any_text), EXAMPLE("Mathematics, class 7b"),
	  DOC("Title of the room when the session opened, if it had one.") },
	{ "customer_id", TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Account identifier.") },
	{ "active",      BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether the session is open.") },
	{ "peers",       MAP_OF(any_text, session_peer_item), FLAGS(FIELD_REQUIRED),
	  DOC("The stays by their ID, in the order in which they began.") },
	{ "peer_count",  INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Number of stays.") },
	{ "created_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("When the first peer joined.") },
	{ "updated_at",  TEXT(time_text), FLAGS(FIELD_REQUIRED),
	  DOC("When somebody last joined or left. Of a session that is not active: its end.") },
	{ "peers_truncated", BOOLEAN(), DOC("true in a list if some of its peers are left out.") },
};
const struct shape live_session_shape = {
	"LiveSession", FIELDS(session_fields), .doc = "A continuous meeting in a room.",
};

static schema_rule check_days;

static const struct rule session_list_rules[] = {
	{ "sessionTimes", "after and before are RFC 3339 times or dates (midnight UTC).", rule_check_times },
	{ NULL, NULL, NULL },
};
static const struct field session_list_fields[] = {
	{ "limit",   INTEGER(10, 100), DEFAULT(10), DOC("Items per response.") },
	{ "start",   TEXT(id_text), DOC("Where to continue: `last` of the previous response.") },
	{ "active",  BOOLEAN(), DOC("true: only active sessions; false: only the others.") },
	{ "room_id", TEXT(any_text), EXAMPLE("6925c84100000000000000b1"), DOC("Only sessions of this room.") },
	{ "after",   TEXT(any_text), FLAGS(FIELD_OFFSET), EXAMPLE("2026-11-23"),
	  DOC("Only sessions created then or later: an RFC 3339 time or a date (midnight UTC).") },
	{ "before",  TEXT(any_text), FLAGS(FIELD_OFFSET), EXAMPLE("2026-11-24T09:00:00Z"),
	  DOC("Only sessions created then or earlier: an RFC 3339 time or a date (midnight UTC).") },
};
const struct shape session_list_query = {
	"SessionListQuery", FIELDS(session_list_fields), .rules = session_list_rules,
};

static const struct field session_peers_fields[] = {
	{ "limit", INTEGER(10, 1000), DEFAULT(100), DOC("Items per response.") },
	{ "start", TEXT(peer_id_text), EXAMPLE_PEER, DOC("Where to continue: `last` of the previous response.") },
};
const struct shape session_peers_query = { "SessionPeersQuery", FIELDS(session_peers_fields) };

static const struct text_rule time_zone_text = {
	.characters = "A-Za-z0-9_+/-",
	.sentence = "must be 1 to 64 characters out of A-Z a-z 0-9 _ + / -",
	.shortest = 1,
	.longest = TIME_ZONE_NAME_MOST,
};
static const struct text_rule separator_text = {
	.characters = ",;\t",
	.sentence = "must be a comma, a semicolon or a tab",
	.shortest = 1,
	.longest = 1,
};
static const struct field attendance_fields[] = {
	{ "timezone",  TEXT(time_zone_text), FLAGS(FIELD_PLUS), EXAMPLE("Europe/Berlin"),
	  DOC("Time zone of the times, a name of the IANA database. Default: UTC.") },
	{ "separator", TEXT(separator_text), EXAMPLE(";"),
	  DOC("What separates the cells: a comma, a semicolon or a tab. Default: a comma.") },
};
const struct shape attendance_query = { "AttendanceQuery", FIELDS(attendance_fields) };

/* ---- usage ---- */

static const struct field usage_now_fields[] = {
	{ "sessions", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Rooms in session.") },
	{ "peers",    INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("People inside.") },
};
static const struct shape usage_now_shape = {
	"UsageNow", FIELDS(usage_now_fields), .doc = "What an account's rooms have now.",
};
static const struct field usage_day_fields[] = {
	{ "day",      TEXT(any_text), FLAGS(FIELD_REQUIRED), EXAMPLE("2026-11-23"), DOC("A day in UTC.") },
	{ "sessions", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Sessions that began on this day.") },
	{ "peers",    INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Stays that began on this day.") },
	{ "minutes",  NUMBER(0, 1e12), FLAGS(FIELD_REQUIRED),
	  DOC("Minutes of the stays that ended on this day, with one decimal.") },
	{ "peak",     INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Most people inside at once.") },
};
static const struct shape usage_day_shape = {
	"UsageDay", FIELDS(usage_day_fields), .doc = "What an account's rooms had on a day.",
};
static const struct field usage_day_item = { .name = NULL, OBJECT(usage_day_shape) };
static const struct field usage_fields[] = {
	{ "now",  OBJECT(usage_now_shape), FLAGS(FIELD_REQUIRED), DOC("Now.") },
	{ "data", LIST_OF(usage_day_item), FLAGS(FIELD_REQUIRED), DOC("Days with something in them, oldest first.") },
};
const struct shape usage_shape = {
	"Usage", FIELDS(usage_fields), .doc = "Who was in an account's rooms, in numbers.",
};

static const struct rule usage_rules[] = {
	{ "usageDays", "after and before are dates; after is not the later one, nor 400 days before it.", check_days },
	{ NULL, NULL, NULL },
};
static const struct field usage_query_fields[] = {
	{ "after",  TEXT(any_text), EXAMPLE("2026-11-01"), DOC("The first day, in UTC. Default: 29 days before the last.") },
	{ "before", TEXT(any_text), EXAMPLE("2026-11-30"), DOC("The last day, in UTC. Default: today.") },
};
const struct shape usage_query = {
	"UsageQuery", FIELDS(usage_query_fields), .rules = usage_rules,
};

/* clang-format on */

bool usage_days(const json_t *query, int64_t now, int64_t *first, int64_t *last)
{
	const struct slice after = text_of_json(json_object_get(query, "after"));
	const struct slice before = text_of_json(json_object_get(query, "before"));
	int64_t time = now;

	if (before.data != NULL && (before.size != DATE_SIZE || !text_time_parse(before, &time)))
		return false;
	*last = time / DAY;
	*first = *last - (USAGE_DAYS - 1);
	if (after.data != NULL && (after.size != DATE_SIZE || !text_time_parse(after, &time)))
		return false;
	if (after.data != NULL)
		*first = time / DAY;
	return true;
}

static void check_days(struct rule_context *context, const json_t *object)
{
	static const char *const names[] = { "after", "before" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const json_t *value = json_object_get(object, names[i]);
		const struct slice text = text_of_json(value);
		struct slice shown;
		int64_t time;

		if (value == NULL || (text.size == DATE_SIZE && text_time_parse(text, &time)))
			continue;
		shown = text_shown(rule_arena(context), value);
		schema_fault(context, arena_text(rule_arena(context), "/%s", names[i]),
			     "must be a date such as 2026-11-23, got %.*s", (int)shown.size,
			     shown.data);
		return;
	}
}
