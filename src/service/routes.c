/* See service/routes.h. The order of rows does not matter.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/routes.h"

#include "accounts/scopes.h"
#include "service/health.h"
#include "resources/bans/bans.h"
#include "resources/door/door.h"
#include "resources/stored/live_record.h"
#include "resources/live/live_rooms.h"
#include "resources/live/sessions.h"
#include "resources/backends/backends.h"
#include "resources/events/events.h"
#include "resources/import/import.h"
#include "resources/lists.h"
#include "resources/live/live_caller.h"
#include "resources/joining/join.h"
#include "resources/access/keys.h"
#include "resources/templates/roles.h"
#include "resources/codes/room_codes.h"
#include "resources/recordings/analytics.h"
#include "resources/recordings/recorders.h"
#include "resources/rooms/rooms.h"
#include "resources/backends/signing_keys.h"
#include "resources/recordings/recording_storage.h"
#include "resources/recordings/recordings.h"
#include "resources/templates/templates.h"
#include "resources/events/webhooks.h"
#include "resources/garbage.h"
#include "records/kinds.h"
#include "resources/stored/deleted_role.h"
#include "rules/ban_rules.h"
#include "rules/bulk_rules.h"
#include "rules/destination_rules.h"
#include "rules/event_rules.h"
#include "rules/history_rules.h"
#include "rules/key_rules.h"
#include "rules/import_rules.h"
#include "rules/job_rules.h"
#include "rules/list_rules.h"
#include "rules/live_rules.h"
#include "rules/media_rules.h"
#include "rules/role_rules.h"
#include "rules/room_code_rules.h"
#include "rules/recorder_rules.h"
#include "rules/room_rules.h"
#include "rules/start_rules.h"
#include "rules/template_rules.h"
#include "rules/webhook_rules.h"
#include "service/bulk.h"
#include "service/history.h"
#include "service/openapi.h"
#include "service/session.h"
#include "service/welcome.h"

#define WHOLE(shape) .body_kind = BODY_WHOLE, .body = &(shape)
#define PARTIAL(shape) .body_kind = BODY_PARTIAL, .body = &(shape)
#define MERGE(shape) .body_kind = BODY_PATCH, .body = &(shape)
#define NO_BODY .body_kind = BODY_NONE
#define LARGE_BODY .body_most = CALL_LARGE_BODY_MOST
#define SMALL_BODY .body_most = CALL_OPEN_BODY_MOST
#define QUERY(shape) .query = &(shape)
#define LIVEKIT_BODY .body_most = CALL_LIVEKIT_BODY_MOST
#define CREATES .creates = true
#define ACCEPTS .accepts = true
#define ANSWER(shape) .answer = &(shape)
#define LIST(shape) .answer = &(shape), .is_list = true
#define ETAG .has_etag = true
#define IN_BULK .is_bulk = true
#define OPEN_TO_ALL .is_open = true, .is_for_all_origins = true
#define APP_TOKEN .takes_app_token = true, .is_for_all_origins = true
#define OF_TYPE(type) .job_type = (type)
#define FROM_INSIDE .is_from_inside = true, .is_for_all_origins = true
#define LIMITED .is_limited = true
#define CONTENT(type) .content_type = (type)
#define NEEDS(scope) .scopes = SCOPE_BIT(scope)
#define INTERNAL .is_open = true, .is_internal = true
#define FORBIDDEN(text) .forbidden = (text)
#define CONFLICT(text) .conflict = (text)
#define TOO_MANY(text) .too_many = (text)
#define TOO_LARGE(text) .too_large = (text)
#undef DOC
#define DOC(text) .doc = (text)

/* clang-format off */
/* What the service loads for the handler, and what some calls read besides (resources/reads.h). */
#define LOADS(...) .loads = (const struct load[]){ __VA_ARGS__, { .what = NULL } }
#define SHOWN(of) { .what = &load_##of, .reading = STORE_TO_SHOW }
#define CHANGED(of) { .what = &load_##of, .reading = STORE_TO_CHANGE }
#define PAGE(of) SHOWN(of)
#define VIEW(...) { .what = &load_view, .sight = __VA_ARGS__ }
#define SETTLES(handler, ...) .settle = (handler), \
	.settle_loads = (const struct load[]){ __VA_ARGS__, { .what = NULL } }
#define TRIPS(from, to) .trips_from = (from), .trips_to = (to)
#define MAY_READ(...) .reads = (const struct read[]){ __VA_ARGS__, READS_END }
#define RULES(...) .rules = (const struct route_rule[]){ __VA_ARGS__, { NULL, NULL } }

/* What routes may read, in addition to the macros of resources/reads.h. */
#define NEW_NAME(of, ...) { .kind = &(of), .finding = STORE_FIND_NAME, .from = READ_BODY, .member = "name", \
	.is_shown = true, __VA_ARGS__ }
#define ROOM_NAMED(place) { .kind = &kind_room, .finding = STORE_FIND_NAME, .from = (place), .member = "name", \
	.is_lower = true, .is_of_bulk = (place) == READ_BODY }
#define TEMPLATE_OF_ROOM { .kind = &kind_template, .finding = STORE_FIND_ID, .from = READ_BODY, \
	.member = "template_id", .is_shown = true }
#define DEFAULT_OF_NEW_ROOM \
	{ .kind = &kind_default, .finding = STORE_FIND_ID, .without = "template_id", .is_shown = true }, \
	{ .kind = &kind_template, .finding = STORE_FIND_VALUE }
#define DEFAULT_IF_SENT { .kind = &kind_default, .finding = STORE_FIND_ID, .member = "default" }
/* The record of data that still has to be removed. */
#define OLDEST_GARBAGE { .kind = &kind_garbage, .finding = STORE_FIND_PAGE, .most = 1 }
#define CHILDREN_OF(of, count) { .kind = &(of), .finding = STORE_FIND_PAGE, .from = READ_PATH, .most = (count) }
/* What event log and links need to know about the account's media servers. */
#define MEDIA_FOR_HASH { .kind = &kind_media, .finding = STORE_FIND_ID, .is_shown = true, \
	.when = room_codes_are_hashed }
#define MEDIA_OF_CODE(condition) { .kind = &kind_media, .finding = STORE_FIND_OWN, .when = (condition) }
#define JOBS_OF_CODE { .kind = &kind_job, .finding = STORE_FIND_SIBLINGS, .side = STORE_ON, \
	.most = JOBS_OF_ROOM_MOST, .when = recorders_exist }
#define THE_CODE(place, name) READ_CODE(place, .member = (name)), MEDIA_OF_CODE(room_codes_are_hashed)
#define WORDS_IF_SENT \
	{ .kind = &kind_words_asked, .finding = STORE_FIND_ID, .member = "code", .is_shown = true }, \
	{ .kind = &kind_words, .finding = STORE_FIND_NAME, .from = READ_BODY, .member = "code", .is_shown = true }, \
	{ .kind = &kind_code, .finding = STORE_FIND_NAME, .from = READ_BODY, .member = "code", .is_shown = true }
/* A code that the call disables if it was sent. */
#define CODE_IF_SENT(name) READ_CODE(READ_BODY, .member = (name))
#define ROOM_IF_SENT { .kind = &kind_room, .finding = STORE_FIND_ID, .from = READ_BODY, .member = "room_id", \
	.is_shown = true }
#define OF_TOKEN(of, how) { .kind = &(of), .finding = (how), .from = READ_TOKEN }

#define PEERS_OF_SESSION MAY_READ({ .kind = &kind_peer, .finding = STORE_FIND_PAGE, .from = READ_PATH, \
	.most = STORE_WALK_AT_ONCE })
#define NOT_INSIDE "From inside: the person is not in the room, or the role lacks sendRoomState."
#define MAY_NOT_ACT "From inside: the person is not in the room, or the role lacks the permission."
#define VIEWS "A person inside asked more than twice in a second, or called more than ten times."
#define CALLS "A person inside called more than ten times in a second."

#define MAY_NOT_RECORD \
	"From inside: the person is not in the room, or the role lacks browserRecording or the powers of a moderator."
#define MAY_NOT_READ_RECORDINGS \
	"With a join token: the role lacks browserRecording or the powers of a moderator, or the token is not valid now."

#define MAY_NOT_STREAM(permission) \
	"From inside: the person is not in the room, or the role lacks " permission " or the powers of a moderator."
#define MAY_NOT_READ_STREAMS(permission) \
	"With a join token: the role lacks " permission " or the powers of a moderator, or the token is not valid now."
#define STREAM_STARTS \
	"A person inside called more than ten times in a second, or started such a stream less than ten seconds ago."
#define NOT_HERE "Not possible here."

/* Rules that only the handler can check, because they depend on stored data. */
#define TEMPLATE_SIZE { "templateSize", \
	"A response that contains the template is at most 512 KiB, and so are the stored but not shown parts " \
	"of its settings, and of its destinations." }
#define ROLE_COUNT { "roleCount", "A template has at most 100 roles." }
#define ROLE_NAME { "roleName", \
	"If the request creates a role, the name in the path is a valid role name." }
#define TEMPLATE_EXISTS { "templateExists", "template_id is the ID of a template." }
#define DEFAULT_TEMPLATE { "defaultTemplate", \
	"A new room without template_id uses the account's default template, which must exist." }
#define BULK_PATHS { "bulkPaths", \
	"An operation is POST /v2/rooms; POST, PATCH or DELETE of a room; the creation of the codes of a " \
	"room; the creation or rotation of a code for a role; or POST, PATCH or DELETE of a code." }
#define BULK_REFS { "bulkRefs", \
	"{REF} in a path is the ref of an earlier operation that returns a single room or code." }
#define BULK_CODES { "bulkCodes", "All operations together create at most 10000 codes." }
#define START_OF_ROOM { "startOfRoom", "start is a code of this room." }
#define BACKEND_EXISTS { "backendExists", "settings.backend is the name of a backend." }
#define KEPT_HEADERS { "keptHeaders", \
	"*** as the value of a header stands for the stored value, which must exist." }
#define NEW_PLACE { "newPlace", \
	"If the scheme, host or port of url changes, the values of headers must be sent again." }
#define ACTIVE_KEY { "activeKey", "There is an active signing key for config.alg, unless it is HS256." }
#define NEW_SERVER { "newServer", \
	"If the scheme, host or port of url changes, the secrets of config must be sent again." }
#define TYPE_STAYS { "typeStays", "The type of a backend cannot be changed." }
#define POOL_TYPE { "poolType", "The backends of a pool have one type." }
#define BANNED_THINGS { "bannedThings", "code and room_id are a code and a room of the account." }
#define SEGMENTS { "segments", \
	"numPlaylistSegments is at most 12, unless the stored destination has the same value." }
#define RECORDED_ROLE { "recordedRole", "role is a role of the template." }
#define IMPORTED_ROOM { "importedRoom", \
	"A room, combined with its stored data, obeys the rules of rooms." }
#define ROOM_OF_CODE { "roomOfCode", \
	"room_id of a code is the ID of a room of the account or of the body." }
#define START_OF_KEYS { "startOfKeys", "start is the kid of a signing key." }
#define KEY_EXPIRY { "keyExpiry", "expires_at is in the future." }
#define KEY_GIFT \
	"A caller with an API key, or with a token that has anteroom_scope, cannot give a scope that it lacks or " \
	"an expires_at later than its own expiry, and cannot change or delete keys with a scope that it lacks."

const struct route routes[] = {
	{ METHOD_POST,   "/v2/templates", ROUTE_WRITE, templates_create, "createTemplate",
	  NEEDS(TEMPLATES_WRITE),
	  WHOLE(template_shape), ANSWER(template_shape), ETAG,
	  RULES(TEMPLATE_SIZE, BACKEND_EXISTS, SEGMENTS),
	  MAY_READ(READ_NAMED(kind_template, "name"), READ_NEW_ID(kind_template), DEFAULT_IF_SENT), TRIPS(2, 2),
	  DOC("Creates a template. A template with the same name is overwritten.") },
	{ METHOD_GET,    "/v2/templates", ROUTE_READ, templates_list, "listTemplates",
	  NEEDS(TEMPLATES_READ),
	  QUERY(template_list_query), LIST(template_shape),
	  LOADS(PAGE(templates)), TRIPS(1, 1),
	  DOC("Lists templates, newest first. With view=summary, the same as listTemplateSummaries.") },
	{ METHOD_GET,    "/v2/template-summaries", ROUTE_READ, templates_list, "listTemplateSummaries",
	  NEEDS(TEMPLATES_READ),
	  QUERY(template_summaries_query), LIST(template_summary_shape),
	  LOADS(PAGE(templates)), TRIPS(1, 1),
	  DOC("Lists templates, newest first, with only the fields needed for a list.") },
	{ METHOD_GET,    "/v2/templates/{template_id}", ROUTE_READ, templates_get, "getTemplate",
	  NEEDS(TEMPLATES_READ),
	  ANSWER(template_shape), ETAG,
	  LOADS(SHOWN(template)), TRIPS(1, 1),
	  DOC("Returns a template.") },
	{ METHOD_POST,   "/v2/templates/{template_id}", ROUTE_WRITE, templates_update,
	  "updateTemplate",
	  NEEDS(TEMPLATES_WRITE), PARTIAL(template_shape), ANSWER(template_shape), ETAG,
	  CONFLICT("Another template has this name."),
	  RULES(TEMPLATE_SIZE, BACKEND_EXISTS, SEGMENTS),
	  LOADS(CHANGED(template)),
	  MAY_READ(NEW_NAME(kind_template, .is_lower = false), DEFAULT_IF_SENT), TRIPS(2, 2),
	  DOC("Replaces the given fields and keeps the others.") },
	{ METHOD_PATCH,  "/v2/templates/{template_id}", ROUTE_WRITE, templates_patch,
	  "patchTemplate",
	  NEEDS(TEMPLATES_WRITE), MERGE(template_shape), ANSWER(template_shape), ETAG,
	  CONFLICT("Another template has this name."),
	  RULES(TEMPLATE_SIZE, BACKEND_EXISTS, SEGMENTS),
	  LOADS(CHANGED(template)),
	  MAY_READ(NEW_NAME(kind_template, .is_lower = false), DEFAULT_IF_SENT), TRIPS(2, 2),
	  DOC("Updates a template (JSON Merge Patch).") },
	{ METHOD_DELETE, "/v2/templates/{template_id}", ROUTE_WRITE, templates_delete,
	  "deleteTemplate", NEEDS(TEMPLATES_WRITE), ETAG,
	  CONFLICT("Rooms still use the template."),
	  LOADS(CHANGED(template)),
	  MAY_READ({ .kind = &kind_room, .finding = STORE_FIND_CHILDREN, .from = READ_PATH }, OLDEST_GARBAGE,
		CHILDREN_OF(kind_role, DELETED_ROLES_AT_ONCE), READ_ONLY(kind_default)), TRIPS(3, 3),
	  DOC("Deletes a template that no room uses.") },

	{ METHOD_GET,    "/v2/templates/{template_id}/settings", ROUTE_READ, settings_get,
	  "getSettings", NEEDS(TEMPLATES_READ), ANSWER(settings_shape), ETAG,
	  LOADS(SHOWN(template)), TRIPS(1, 1),
	  DOC("Returns a template's settings.") },
	{ METHOD_POST,   "/v2/templates/{template_id}/settings", ROUTE_WRITE, settings_replace,
	  "replaceSettings",
	  NEEDS(TEMPLATES_WRITE), WHOLE(settings_shape), ANSWER(settings_shape), ETAG,
	  RULES(TEMPLATE_SIZE, BACKEND_EXISTS),
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Replaces a template's settings.") },
	{ METHOD_PATCH,  "/v2/templates/{template_id}/settings", ROUTE_WRITE, settings_patch,
	  "patchSettings",
	  NEEDS(TEMPLATES_WRITE), MERGE(settings_shape), ANSWER(settings_shape), ETAG,
	  RULES(TEMPLATE_SIZE, BACKEND_EXISTS),
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Updates a template's settings (JSON Merge Patch).") },
	{ METHOD_POST,   "/v2/templates/{template_id}/settings/test", ROUTE_READ, storage_test, "testSettings",
	  NEEDS(TEMPLATES_WRITE), NO_BODY, ANSWER(upload_test_shape), SETTLES(storage_settle_test, SHOWN(template)),
	  .tests_server = true,
	  CONFLICT("The settings name no storage for recordings, or one that cannot be used."),
	  TOO_MANY("The storage of the template was tested ten times within a minute."),
	  LOADS(SHOWN(template)), TRIPS(1, 1),
	  DOC("Stores and deletes an empty object in the storage of recordings.") },
	{ METHOD_GET,    "/v2/templates/{template_id}/destinations", ROUTE_READ, destinations_get,
	  "getDestinations", NEEDS(TEMPLATES_READ), ANSWER(destinations_shape), ETAG,
	  LOADS(SHOWN(template)), TRIPS(1, 1),
	  DOC("Returns a template's destinations.") },
	{ METHOD_POST,   "/v2/templates/{template_id}/destinations", ROUTE_WRITE,
	  destinations_replace, "replaceDestinations",
	  NEEDS(TEMPLATES_WRITE), WHOLE(destinations_shape),
	  ANSWER(destinations_shape), ETAG,
	  RULES(TEMPLATE_SIZE, SEGMENTS),
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Replaces a template's destinations.") },
	{ METHOD_PATCH,  "/v2/templates/{template_id}/destinations", ROUTE_WRITE,
	  destinations_patch, "patchDestinations",
	  NEEDS(TEMPLATES_WRITE), MERGE(destinations_shape),
	  ANSWER(destinations_shape), ETAG,
	  RULES(TEMPLATE_SIZE, SEGMENTS),
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Updates a template's destinations (JSON Merge Patch).") },
	{ METHOD_GET,    "/v2/templates/{template_id}/recordings", ROUTE_READ, recordings_get,
	  "getRecordings", NEEDS(TEMPLATES_READ), ANSWER(recordings_shape), ETAG,
	  LOADS(SHOWN(template)), TRIPS(1, 1),
	  DOC("Returns a template's configuration of recordings: a list of at most one.") },
	{ METHOD_POST,   "/v2/templates/{template_id}/recordings", ROUTE_WRITE, recordings_replace,
	  "replaceRecordings",
	  NEEDS(TEMPLATES_WRITE), WHOLE(recordings_shape), ANSWER(recordings_shape), ETAG,
	  RULES(RECORDED_ROLE),
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Replaces a template's configuration of recordings. An empty list removes it.") },

	{ METHOD_GET,    "/v2/templates/{template_id}/roles", ROUTE_READ, roles_list, "listRoles",
	  NEEDS(TEMPLATES_READ),
	  LIST(role_shape),
	  LOADS(SHOWN(template)), TRIPS(1, 1),
	  DOC("Lists all roles of a template, in template order.") },
	{ METHOD_GET,    "/v2/templates/{template_id}/roles/{role_name}", ROUTE_READ, roles_get,
	  "getRole", NEEDS(TEMPLATES_READ), ANSWER(role_shape), ETAG,
	  LOADS(SHOWN(template)), TRIPS(1, 1),
	  DOC("Returns a role.") },
	{ METHOD_POST,   "/v2/templates/{template_id}/roles/{role_name}", ROUTE_WRITE, roles_put,
	  "putRole", NEEDS(TEMPLATES_WRITE), WHOLE(role_shape), ANSWER(role_shape), ETAG,
	  CONFLICT("Another role has this name."),
	  RULES(TEMPLATE_SIZE, ROLE_COUNT, ROLE_NAME),
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Creates or replaces a role. A name in the body renames it.") },
	{ METHOD_PATCH,  "/v2/templates/{template_id}/roles/{role_name}", ROUTE_WRITE, roles_patch,
	  "patchRole", NEEDS(TEMPLATES_WRITE), MERGE(role_shape), ANSWER(role_shape), ETAG,
	  CONFLICT("Another role has this name."),
	  RULES(TEMPLATE_SIZE),
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Updates a role (JSON Merge Patch). A name in the body renames it.") },
	{ METHOD_DELETE, "/v2/templates/{template_id}/roles/{role_name}", ROUTE_WRITE,
	  roles_delete, "deleteRole", NEEDS(TEMPLATES_WRITE), ETAG,
	  LOADS(CHANGED(template)), TRIPS(2, 2),
	  DOC("Deletes a role and disables its room codes permanently.") },

	{ METHOD_POST,   "/v2/rooms", ROUTE_WRITE, rooms_create, "createRoom",
	  NEEDS(ROOMS_WRITE), IN_BULK,
	  PARTIAL(room_shape), ANSWER(room_shape), ETAG,
	  RULES(TEMPLATE_EXISTS, DEFAULT_TEMPLATE),
	  MAY_READ(ROOM_NAMED(READ_BODY), READ_PARENT(kind_template), TEMPLATE_OF_ROOM, DEFAULT_OF_NEW_ROOM, OLDEST_GARBAGE,
		READ_NEW_ID(kind_room)), TRIPS(2, 2),
	  DOC("Creates a room. If a room with the same name exists, its given fields are updated.") },
	{ METHOD_GET,    "/v2/rooms", ROUTE_READ, rooms_list, "listRooms", NEEDS(ROOMS_READ),
	  QUERY(room_list_query), LIST(room_shape),
	  LOADS(PAGE(rooms)), TRIPS(1, 1),
	  DOC("Lists rooms, newest first. With view=summary, the same as listRoomSummaries.") },
	{ METHOD_GET,    "/v2/room-summaries", ROUTE_READ, rooms_list, "listRoomSummaries",
	  NEEDS(ROOMS_READ),
	  QUERY(room_summaries_query), LIST(room_summary_shape),
	  LOADS(PAGE(rooms)), TRIPS(1, 1),
	  DOC("Lists rooms, newest first, with only the fields needed for a list.") },
	{ METHOD_GET,    "/v2/rooms/{room_id}", ROUTE_READ, rooms_get, "getRoom", NEEDS(ROOMS_READ),
	  ANSWER(room_shape), ETAG,
	  LOADS(SHOWN(room)), TRIPS(1, 5),
	  DOC("Returns a room.") },
	{ METHOD_POST,   "/v2/rooms/{room_id}", ROUTE_WRITE, rooms_update, "updateRoom",
	  NEEDS(ROOMS_WRITE), IN_BULK,
	  PARTIAL(room_shape), ANSWER(room_shape), ETAG,
	  CONFLICT("Another room has this name."),
	  RULES(TEMPLATE_EXISTS),
	  LOADS(CHANGED(room)),
	  MAY_READ(TEMPLATE_OF_ROOM, NEW_NAME(kind_room, .is_lower = true)), TRIPS(2, 2),
	  DOC("Updates the given fields.") },
	{ METHOD_PATCH,  "/v2/rooms/{room_id}", ROUTE_WRITE, rooms_update, "patchRoom",
	  NEEDS(ROOMS_WRITE), IN_BULK,
	  PARTIAL(room_shape), ANSWER(room_shape), ETAG,
	  CONFLICT("Another room has this name."),
	  RULES(TEMPLATE_EXISTS),
	  LOADS(CHANGED(room)),
	  MAY_READ(TEMPLATE_OF_ROOM, NEW_NAME(kind_room, .is_lower = true)), TRIPS(2, 2),
	  DOC("Updates the given fields. Same as POST.") },
	{ METHOD_DELETE, "/v2/rooms/{room_id}", ROUTE_WRITE, rooms_delete, "deleteRoom",
	  NEEDS(ROOMS_WRITE), IN_BULK, ETAG,
	  LOADS(CHANGED(room)),
	  MAY_READ(READ_BY_ID(kind_codes), OLDEST_GARBAGE, CHILDREN_OF(kind_code, GARBAGE_AT_ONCE),
		{ .kind = &kind_media, .finding = STORE_FIND_ID, .is_shown = true }, READ_NEW_ID(kind_revocation),
		READ_BY_ID(kind_door)), TRIPS(3, 3),
	  DOC("Deletes a room with its codes.") },

	{ METHOD_POST,   "/v2/room-codes/room/{room_id}", ROUTE_READ_FIRST, room_codes_create_all,
	  "createRoomCodes", NEEDS(CODES_WRITE), IN_BULK, NO_BODY, QUERY(code_write_query), LIST(room_code_shape),
	  FORBIDDEN("Room is disabled."),
	  LOADS(CHANGED(codes_of_roles)),
	  MAY_READ({ .kind = &kind_code, .finding = STORE_FIND_PAGE, .from = READ_PATH,
		.most = CODES_AT_ONCE, .side = STORE_ON }, MEDIA_FOR_HASH), TRIPS(1, 3),
	  DOC("Returns the oldest enabled plain code of each role, and creates one for roles that have none.") },
	{ METHOD_GET,    "/v2/room-codes/room/{room_id}", ROUTE_READ_FIRST, room_codes_list,
	  "listRoomCodes", NEEDS(CODES_READ), QUERY(code_list_query), LIST(room_code_shape),
	  FORBIDDEN("Room is disabled."),
	  RULES(START_OF_ROOM),
	  LOADS(CHANGED(subject), PAGE(codes)),
	  MAY_READ(MEDIA_FOR_HASH), TRIPS(1, 1),
	  DOC("Lists the codes of a room, oldest first.") },
	{ METHOD_POST,   "/v2/room-codes/room/{room_id}/role/{role}", ROUTE_WRITE,
	  room_codes_create, "createRoomCode",
	  NEEDS(CODES_WRITE), IN_BULK, WHOLE(new_code_shape), QUERY(code_write_query), ANSWER(room_code_shape),
	  FORBIDDEN("Room is disabled."),
	  CONFLICT("The room has the maximum number of codes, or the custom code is already taken."),
	  LOADS(CHANGED(subject)),
	  MAY_READ(MEDIA_FOR_HASH, WORDS_IF_SENT), TRIPS(2, 2),
	  DOC("Creates a code for one role.") },
	{ METHOD_POST,   "/v2/room-codes/room/{room_id}/role/{role}/rotate", ROUTE_WRITE,
	  room_codes_rotate, "rotateRoomCode",
	  NEEDS(CODES_WRITE), IN_BULK, WHOLE(rotation_shape), QUERY(code_write_query), ANSWER(room_code_shape),
	  FORBIDDEN("Room is disabled."), CONFLICT("The room has the maximum number of codes."),
	  LOADS(CHANGED(subject)),
	  MAY_READ(MEDIA_FOR_HASH), TRIPS(3, 3),
	  DOC("Creates a new plain code for a role and disables its other plain codes, immediately or after a grace period.") },
	{ METHOD_POST,   "/v2/room-codes/code", ROUTE_WRITE, room_codes_switch, "switchRoomCode",
	  NEEDS(CODES_WRITE),
	  WHOLE(code_switch_shape), QUERY(code_write_query), ANSWER(room_code_shape),
	  FORBIDDEN("The role of the code was deleted."),
	  CONFLICT("The room has the maximum number of enabled codes."),
	  MAY_READ(THE_CODE(READ_BODY, "code")), TRIPS(2, 2),
	  DOC("Enables or disables the code in the body.") },
	{ METHOD_GET,    "/v2/room-codes/code/{code}", ROUTE_READ_FIRST, room_codes_get, "getRoomCode",
	  NEEDS(CODES_READ),
	  QUERY(code_view_query), ANSWER(room_code_shape),
	  MAY_READ(THE_CODE(READ_PATH, NULL)), TRIPS(1, 1),
	  DOC("Returns a code.") },
	{ METHOD_GET,    "/v2/room-codes/code/{code}/qr", ROUTE_READ, room_codes_qr, "getRoomCodeQr",
	  NEEDS(CODES_READ), CONTENT(QR_TYPE),
	  MAY_READ(THE_CODE(READ_PATH, NULL)), TRIPS(1, 1),
	  DOC("Returns the join link of a code as a QR code, or 404 if the server was built without QR codes.") },
	{ METHOD_POST,   "/v2/room-codes/code/{code}", ROUTE_WRITE, room_codes_switch, "switchRoomCodeNamed",
	  NEEDS(CODES_WRITE), IN_BULK, WHOLE(code_enabled_shape), QUERY(code_write_query), ANSWER(room_code_shape),
	  FORBIDDEN("The role of the code was deleted."),
	  CONFLICT("The room has the maximum number of enabled codes."),
	  MAY_READ(THE_CODE(READ_PATH, NULL)), TRIPS(2, 2),
	  DOC("Enables or disables a code.") },
	{ METHOD_PATCH,  "/v2/room-codes/code/{code}", ROUTE_WRITE, room_codes_patch,
	  "patchRoomCode",
	  NEEDS(CODES_WRITE), IN_BULK, MERGE(code_patch_shape), QUERY(code_write_query), ANSWER(room_code_shape),
	  FORBIDDEN("The role of the code was deleted."),
	  CONFLICT("The room has the maximum number of codes."),
	  MAY_READ(THE_CODE(READ_PATH, NULL)), TRIPS(2, 2),
	  DOC("Updates a code (JSON Merge Patch).") },
	{ METHOD_DELETE, "/v2/room-codes/code/{code}", ROUTE_WRITE, room_codes_delete,
	  "deleteRoomCode", NEEDS(CODES_WRITE), IN_BULK,
	  MAY_READ(THE_CODE(READ_PATH, NULL)), TRIPS(2, 2),
	  DOC("Deletes a code.") },

	{ METHOD_POST,   "/v2/bulk", ROUTE_WRITE, bulk_run, "bulk",
	  WHOLE(bulk_shape), .check = bulk_check, ANSWER(bulk_answer_shape),
	  LARGE_BODY, .is_alone = true, .has_conditions = true,
	  FORBIDDEN("The caller lacks a scope that an operation needs, or the first operation that failed "
		    "returned 403."),
	  CONFLICT("The first operation that failed returned 409."),
	  RULES(BULK_PATHS, BULK_REFS, BULK_CODES), TRIPS(7, 7),
	  DOC("Carries out many requests for rooms and room codes together: all of them or none.") },

	{ METHOD_POST,   "/v2/import", ROUTE_WRITE, import_run, "import",
	  .scopes = SCOPE_BIT(TEMPLATES_WRITE) | SCOPE_BIT(ROOMS_WRITE) | SCOPE_BIT(CODES_WRITE),
	  WHOLE(import_shape), .check = import_check, QUERY(import_query), ANSWER(import_answer_shape),
	  LARGE_BODY, .objects_most = IMPORT_OBJECTS_MOST, .is_alone = true,
	  CONFLICT("Another object has the name, a code is already taken, or a room has the maximum "
		   "number of codes."),
	  TOO_MANY("The account requested twenty codes that belong to other accounts within a day."),
	  RULES(TEMPLATE_EXISTS, DEFAULT_TEMPLATE, TEMPLATE_SIZE, BACKEND_EXISTS, IMPORTED_ROOM,
		ROOM_OF_CODE), TRIPS(5, 5),
	  DOC("Imports templates, rooms and codes from elsewhere with their IDs and times: all of them or none.") },

	{ METHOD_POST,   "/v2/token", ROUTE_READ_FIRST, join, "createToken",
	  WHOLE(join_shape), SMALL_BODY, ANSWER(token_answer_shape), .accepted = &ticket_given_shape, OPEN_TO_ALL, LIMITED,
	  .settle = join_settle,
	  FORBIDDEN("The code, its room or its account is disabled, its role was deleted, the code is "
		    "not valid at this time, the room is not open, the code has reached its use limit, "
		    "the person or the code is banned, it is for another user, consent to recording is needed, the room or "
		    "the role is full, "
		    "somebody has to let people in, or did not let this person in."),
	  MAY_READ(READ_CODE(READ_BODY, .member = "code", .is_typed = true, .is_shown = true), MEDIA_OF_CODE(NULL)), TRIPS(1, 9),
	  DOC("Exchanges a room code for a join token.") },
	{ METHOD_POST,   "/v2/livekit/{code}", ROUTE_READ_FIRST, join_livekit, "joinLivekit",
	  WHOLE(livekit_join_shape), QUERY(livekit_query), LIVEKIT_BODY, ANSWER(livekit_join_answer_shape), CREATES, OPEN_TO_ALL, LIMITED,
	  .settle = join_livekit_settle,
	  FORBIDDEN("The same reasons as for createToken; or the code is for another room, an agent is not one of "
		    "the template's, or nobody can join with the role."),
	  CONFLICT("The room's media server is not LiveKit."),
	  MAY_READ(READ_CODE(READ_PATH, .is_typed = true, .is_shown = true), MEDIA_OF_CODE(NULL)), TRIPS(1, 1),
	  DOC("Exchanges a room code for a LiveKit token, as LiveKit's client libraries ask for it.") },
	{ METHOD_GET,    "/v2/tickets/{ticket}", ROUTE_READ_FIRST, tickets_get, "getTicket",
	  ANSWER(ticket_shape), OPEN_TO_ALL, .settle = tickets_get,
	  .retry_after = "Present if state is waiting: seconds.", TRIPS(1, 4),
	  DOC("Returns whether the person with this ticket was let in, and if so, a join token. The ticket lapses a "
	      "minute after the last request, and a minute after the token was first returned.") },
	{ METHOD_DELETE, "/v2/tickets/{ticket}", ROUTE_WRITE, tickets_give_up, "deleteTicket",
	  OPEN_TO_ALL, TRIPS(2, 2),
	  DOC("Gives up waiting.") },
	{ METHOD_GET,    "/v2/join/{code}", ROUTE_READ, join_describe, "describeCode",
	  ANSWER(opened_shape), OPEN_TO_ALL, LIMITED, ETAG,
	  .etag_when = "Present if the response has inside.",
	  FORBIDDEN("The same reasons as for createToken, except that it is for another user, banned or full."),
	  MAY_READ(READ_CODE(READ_PATH, .is_typed = true), MEDIA_OF_CODE(NULL), JOBS_OF_CODE), TRIPS(1, 6),
	  DOC("Returns what a room code opens. Does not count as a use.") },
	{ METHOD_GET,    "/v2/join/{code}/recordings", ROUTE_READ, join_recordings, "listCodeRecordings",
	  LIST(recording_asset_shape), OPEN_TO_ALL, LIMITED,
	  FORBIDDEN("The code, its room or its account is disabled, its role was deleted, the code has expired or is "
		    "banned, or the role lacks browserRecording or the powers of a moderator."),
	  MAY_READ(READ_CODE(READ_PATH, .is_typed = true), MEDIA_OF_CODE(NULL)), TRIPS(1, 3),
	  DOC("Lists the files of the last recordings of a code's room, newest first. Does not count as a use.") },
	{ METHOD_GET,    "/v2/join/{code}/recordings/{asset_id}/presigned-url", ROUTE_READ, join_recording_link,
	  "signCodeRecording", QUERY(presigned_url_query), ANSWER(presigned_url_shape), OPEN_TO_ALL, LIMITED,
	  FORBIDDEN("The same reasons as for listCodeRecordings."),
	  CONFLICT("Nobody has the credentials of its storage any more."),
	  MAY_READ(READ_CODE(READ_PATH, .is_typed = true), MEDIA_OF_CODE(NULL)), TRIPS(1, 5),
	  DOC("Returns a link to a file of the code's room, which needs no token.") },
	{ METHOD_POST,   "/v2/token/join", ROUTE_READ_FIRST, token_join, "joinBackend",
	  WHOLE(media_join_shape), SMALL_BODY, ANSWER(media_join_answer_shape), APP_TOKEN,
	  .settle = token_join_settle,
	  FORBIDDEN("The room is disabled or not open; the code of the token is disabled, has expired or "
		    "no longer exists, or its role was deleted; the person is banned; nobody can join with the role; "
		    "or the role or the room is full."),
	  MAY_READ(OF_TOKEN(kind_room, STORE_FIND_ID), READ_PARENT(kind_template), OF_TOKEN(kind_codes, STORE_FIND_ID),
		OF_TOKEN(kind_live, STORE_FIND_ID), READ_ONLY(kind_media),
		{ .kind = &kind_revocation, .finding = STORE_FIND_NAME, .from = READ_ENTRY }, { .kind = &kind_code, .finding = STORE_FIND_PAGE, .from = READ_TOKEN, .most = 1,
		.page = token_first_page }), TRIPS(2, 6),
	  DOC("Returns access to the media server for the holder of a join token.") },

	{ METHOD_POST,   "/v2/backends", ROUTE_WRITE, backends_create, "createBackend",
	  NEEDS(BACKENDS_WRITE),
	  WHOLE(new_backend_shape), ANSWER(backend_shape),
	  CONFLICT("Another backend or pool has this name, or a backend the name of the pool; or the account already "
		   "has 100 backends."),
	  RULES(ACTIVE_KEY, POOL_TYPE),
	  LOADS(CHANGED(media)), TRIPS(3, 4),
	  DOC("Creates a backend (a media server).") },
	{ METHOD_GET,    "/v2/backends", ROUTE_READ, backends_list, "listBackends",
	  NEEDS(BACKENDS_WRITE),
	  QUERY(backend_list_query), LIST(backend_shape),
	  LOADS(SHOWN(media), PAGE(list)),
	  MAY_READ(READ_ONLY(kind_backend_healths)), TRIPS(1, 2),
	  DOC("Lists backends, newest first.") },
	{ METHOD_GET,    "/v2/backends/{backend_id}", ROUTE_READ, backends_get, "getBackend",
	  NEEDS(BACKENDS_WRITE),
	  ANSWER(backend_shape),
	  LOADS(SHOWN(backend)),
	  MAY_READ(READ_ONLY(kind_backend_healths)), TRIPS(1, 2),
	  DOC("Returns a backend, without its secrets.") },
	{ METHOD_POST,   "/v2/backends/{backend_id}", ROUTE_WRITE, backends_replace, "replaceBackend",
	  NEEDS(BACKENDS_WRITE),
	  WHOLE(backend_shape), ANSWER(backend_shape),
	  CONFLICT("Another backend or pool has this name, or a backend the name of the pool; or a template uses the "
		   "previous name, or the pool that would lose its last backend."),
	  RULES(ACTIVE_KEY, NEW_SERVER, TYPE_STAYS, POOL_TYPE),
	  LOADS(CHANGED(backend)),
	  MAY_READ(READ_ONLY(kind_backend_healths)), TRIPS(2, 3),
	  DOC("Replaces a backend. Secrets that are not given are kept.") },
	{ METHOD_PATCH,  "/v2/backends/{backend_id}", ROUTE_WRITE, backends_patch, "patchBackend",
	  NEEDS(BACKENDS_WRITE),
	  MERGE(backend_shape), ANSWER(backend_shape),
	  CONFLICT("Another backend or pool has this name, or a backend the name of the pool; or a template uses the "
		   "previous name, or the pool that would lose its last backend."),
	  RULES(ACTIVE_KEY, NEW_SERVER, TYPE_STAYS, POOL_TYPE),
	  LOADS(CHANGED(backend)),
	  MAY_READ(READ_ONLY(kind_backend_healths)), TRIPS(2, 3),
	  DOC("Updates a backend (JSON Merge Patch).") },
	{ METHOD_DELETE, "/v2/backends/{backend_id}", ROUTE_WRITE, backends_delete, "deleteBackend",
	  NEEDS(BACKENDS_WRITE),
	  CONFLICT("A template uses the backend, or the pool that would lose its last backend."),
	  LOADS(CHANGED(backend)),
	  MAY_READ(READ_ONLY(kind_backend_healths)), TRIPS(15, 15),
	  DOC("Deletes a backend that no template uses.") },
	{ METHOD_POST,   "/v2/backends/{backend_id}/test", ROUTE_READ, backends_test, "testBackend",
	  NEEDS(BACKENDS_WRITE), NO_BODY, ANSWER(backend_test_shape), SETTLES(backends_settle_test, SHOWN(backend)),
	  .tests_server = true,
	  TOO_MANY("The account tested backends ten times within a minute."),
	  LOADS(SHOWN(backend)),
	  MAY_READ(READ_ONLY(kind_backend_healths)), TRIPS(1, 1),
	  DOC("Asks the media server whether it answers and accepts the secrets of the backend.") },

	{ METHOD_POST,   "/v2/backends/{backend_id}/move", ROUTE_READ_FIRST, backends_move,
	  "moveBackendRooms",
	  NEEDS(BACKENDS_WRITE), NO_BODY, ACCEPTS, ANSWER(backend_move_shape),
	  CONFLICT("The backend is not draining, or no other server of its pool is up."),
	  LOADS(CHANGED(backend)), TRIPS(1, 13),
	  DOC("Moves the rooms of a backend that is draining to others of its pool.") },

	{ METHOD_POST,   "/v2/backends/{backend_id}/events", ROUTE_READ, live_receive, "hearBackend",
	  .is_open = true, .is_internal = true,
	  DOC("Takes an event that a media server has signed.") },

	{ METHOD_GET,    "/v2/recorders", ROUTE_READ, recorders_list, "listRecorders",
	  NEEDS(RECORDINGS_READ), LIST(recorder_shape), TRIPS(2, 2),
	  DOC("Lists the recorders that may record rooms of the account and have reported.") },
	{ METHOD_POST,   "/v2/recorders/{recorder_name}/report", ROUTE_READ_FIRST, job_report, "reportRecorder",
	  .is_open = true, .is_internal = true,
	  DOC("Takes what a recorder reports, and tells it what to do.") },

	{ METHOD_GET,    "/v2/active-rooms/{room_id}", ROUTE_READ, active_rooms_get, "getActiveRoom",
	  NEEDS(LIVE_READ), ANSWER(active_room_shape), FROM_INSIDE,
	  FORBIDDEN(NOT_INSIDE), TOO_MANY(VIEWS),
	  LOADS(VIEW(LIVE_SEES_ROOM)), TRIPS(1, 8),
	  DOC("Returns a room in session.") },
	{ METHOD_GET,    "/v2/active-rooms/{room_id}/me", ROUTE_READ, active_rooms_me, "getMe",
	  NEEDS(LIVE_READ), ANSWER(me_shape), FROM_INSIDE,
	  FORBIDDEN(NOT_INSIDE),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_SEES_ITSELF)),
	  DOC("Returns what the person with this join token is and may do in the room.") },
	{ METHOD_GET,    "/v2/active-rooms/{room_id}/peers", ROUTE_READ, active_peers_list, "listActivePeers",
	  NEEDS(LIVE_READ), QUERY(active_peers_query), ANSWER(active_peers_shape), FROM_INSIDE, FORBIDDEN(NOT_INSIDE), TOO_MANY(VIEWS),
	  TOO_LARGE("The response would be larger than 8 MB; ask for a role."),
	  LOADS(VIEW(LIVE_SEES_ROOM)), TRIPS(4, 4),
	  DOC("Returns the people in a room.") },
	{ METHOD_GET,    "/v2/active-rooms/{room_id}/peers/{peer_id}", ROUTE_READ, active_peers_get,
	  "getActivePeer",
	  NEEDS(LIVE_READ), ANSWER(active_peer_shape), FROM_INSIDE, SETTLES(active_peers_settle_get, VIEW(LIVE_SEES_PEER)),
	  FORBIDDEN(NOT_INSIDE), TOO_MANY(VIEWS),
	  LOADS(VIEW(LIVE_SEES_PEER)), TRIPS(4, 4),
	  DOC("Asks the media server for one of the people in a room, and what that person publishes.") },

	{ METHOD_POST,   "/v2/active-rooms/{room_id}/peers/{peer_id}", ROUTE_READ_FIRST, active_peers_update,
	  "updateActivePeer",
	  NEEDS(LIVE_WRITE), WHOLE(update_shape), .check = active_peers_check, ANSWER(updated_peer_shape), FROM_INSIDE,
	  SETTLES(active_peers_settle_update, VIEW(LIVE_ACTS)), .acts = true,
	  FORBIDDEN("The role is full or admits nobody. From inside: the person is not in the room, the role lacks "
		    "the permission, or the name, the metadata or the consent is not the caller's own."),
	  CONFLICT("With hand: the metadata is no JSON object."),
	  RULES({ "roleOfRoom", "role is a role of the room's template." }),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS)), TRIPS(6, 6),
	  DOC("Changes the name, the role or the metadata of one of the people in a room, raises or lowers the hand, or, of "
	      "oneself, agrees to be recorded or withdraws that.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/peers/{peer_id}/mute", ROUTE_READ, active_peers_mute, "mutePeer",
	  NEEDS(LIVE_WRITE), WHOLE(mute_shape), ANSWER(done_shape), FROM_INSIDE,
	  SETTLES(active_peers_settle_mute, VIEW(LIVE_ACTS)), .acts = true,
	  FORBIDDEN(MAY_NOT_ACT),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS)), TRIPS(5, 5),
	  DOC("Mutes or unmutes what one of the people in a room publishes.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/mute", ROUTE_WRITE, active_rooms_mute, "mutePeers",
	  NEEDS(LIVE_WRITE), WHOLE(mute_all_shape), ANSWER(muted_shape), FROM_INSIDE,
	  .settle = active_rooms_settle_mute, .acts = true,
	  FORBIDDEN(MAY_NOT_ACT),
	  RULES({ "roleOfRoom", "role is a role of the room's template." }),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS)), TRIPS(4, 4),
	  DOC("Mutes all people in a room, or those with a role, but the caller; and holds what they publish, or frees it.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/lower-hands", ROUTE_READ, active_rooms_lower_hands, "lowerHands",
	  NEEDS(LIVE_WRITE), WHOLE(lower_shape), ANSWER(done_shape), FROM_INSIDE,
	  SETTLES(active_rooms_settle_lower_hands, VIEW(LIVE_ACTS)), .acts = true,
	  FORBIDDEN(MAY_NOT_ACT),
	  RULES({ "roleOfRoom", "role is a role of the room's template." }),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS)), TRIPS(4, 4),
	  DOC("Lowers the hands of all people in a room, or of those with a role, but the caller's.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/remove-peers", ROUTE_WRITE, active_rooms_remove, "removePeers",
	  NEEDS(LIVE_WRITE), WHOLE(remove_shape), ANSWER(removed_shape), FROM_INSIDE,
	  .settle = active_rooms_settle_remove, .acts = true,
	  CONFLICT("With ban: the account already has 100,000 bans."),
	  FORBIDDEN(MAY_NOT_ACT),
	  RULES({ "roleOfRoom", "role is a role of the room's template." }),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS)),
	  MAY_READ({ .kind = &kind_media, .finding = STORE_FIND_ID, .member = "ban" }), TRIPS(4, 4),
	  DOC("Puts people out of a room; with the tokens that they have, they do not come back.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/end-room", ROUTE_WRITE, active_rooms_end, "endRoom",
	  NEEDS(LIVE_WRITE), WHOLE(end_shape), ANSWER(done_shape), FROM_INSIDE,
	  .settle = active_rooms_settle_end, .acts = true,
	  FORBIDDEN(MAY_NOT_ACT),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(3, 3),
	  DOC("Puts everybody out of a room, and disables it if lock is true.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/send-message", ROUTE_READ, active_rooms_send_message, "sendMessage",
	  NEEDS(LIVE_WRITE), WHOLE(message_shape), ANSWER(done_shape), FROM_INSIDE,
	  SETTLES(active_rooms_settle_message, VIEW(LIVE_OUTSIDE)), .acts = true,
	  FORBIDDEN("From inside: people in a room send messages by the media server."),
	  RULES({ "roleOfRoom", "role is a role of the room's template." }),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_OUTSIDE)), TRIPS(4, 4),
	  DOC("Sends a message to the people in a room.") },

	{ METHOD_GET,    "/v2/active-rooms/{room_id}/tickets", ROUTE_READ, tickets_list, "listTickets",
	  NEEDS(TICKETS_WRITE), ANSWER(tickets_shape), ETAG, FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_ACT),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS, .permission = "removeOthers"), SHOWN(door)), TRIPS(5, 5),
	  DOC("Returns who waits to be let into a room, which need not be in session, and who was denied.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/tickets", ROUTE_WRITE, tickets_admit, "admitTickets",
	  NEEDS(TICKETS_WRITE), WHOLE(admit_shape), ANSWER(admitted_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_ACT),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS, .permission = "removeOthers"), CHANGED(door)), TRIPS(2, 2),
	  DOC("Lets in some of those who wait, or all.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/tickets/{ticket_id}", ROUTE_WRITE, tickets_decide, "decideTicket",
	  NEEDS(TICKETS_WRITE), WHOLE(decision_shape), ANSWER(decided_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_ACT), CONFLICT("The ticket was decided the other way."),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS, .permission = "removeOthers"), CHANGED(marked_door), CHANGED(ticket)), TRIPS(3, 3),
	  DOC("Lets somebody in who waits, or denies it. A person who is denied cannot knock again for ten minutes.") },
	{ METHOD_POST,   "/v2/active-rooms/{room_id}/door", ROUTE_WRITE, door_set_state, "setDoor",
	  NEEDS(TICKETS_WRITE), WHOLE(door_change_shape), ANSWER(door_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_ACT),
	  TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS, .permission = "removeOthers"), CHANGED(marked_door)), TRIPS(2, 5),
	  DOC("Opens or locks the door of a room, or has it ask for everybody, until the session closes, or an hour without "
	      "one has passed.") },

	{ METHOD_GET,    "/v2/sessions", ROUTE_READ, sessions_list, "listLiveSessions",
	  NEEDS(SESSIONS_READ), QUERY(session_list_query), LIST(live_session_shape),
	  LOADS(PAGE(sessions)), TRIPS(1, 4),
	  DOC("Lists sessions, newest first, active ones and others.") },
	{ METHOD_GET,    "/v2/sessions/{session_id}", ROUTE_READ, sessions_get, "getLiveSession",
	  NEEDS(SESSIONS_READ), ANSWER(live_session_shape),
	  TOO_LARGE("The response would be larger than 8 MB; ask for its peers."),
	  LOADS(SHOWN(session)), PEERS_OF_SESSION, TRIPS(1, 1),
	  DOC("Returns a session with all its peers.") },
	{ METHOD_GET,    "/v2/sessions/{session_id}/peers", ROUTE_READ, session_peers_list, "listLiveSessionPeers",
	  NEEDS(SESSIONS_READ), QUERY(session_peers_query), LIST(session_peer_shape),
	  RULES({ "startOfPeers", "start is a peer of this session." }),
	  LOADS(SHOWN(session), PAGE(session_peers)), TRIPS(1, 1),
	  DOC("Lists the peers of a session, in the order in which they joined.") },
	{ METHOD_GET,    "/v2/sessions/{session_id}/attendance.csv", ROUTE_READ, sessions_attendance,
	  "getAttendance", NEEDS(SESSIONS_READ), QUERY(attendance_query), CONTENT(ATTENDANCE_TYPE),
	  CONFLICT("The account keeps no names (sessions=off)."),
	  RULES({ "knownTimezone", "timezone is a time zone that the server knows." }),
	  LOADS(SHOWN(session)), PEERS_OF_SESSION, TRIPS(1, 1),
	  DOC("Returns a table of the people in a session: a row for each user ID.") },
	{ METHOD_DELETE, "/v2/sessions/{session_id}", ROUTE_WRITE, sessions_delete, "deleteLiveSession",
	  NEEDS(SESSIONS_WRITE), CONFLICT("The session is active, or has files of recordings."),
	  LOADS(CHANGED(session)), TRIPS(2, 2),
	  DOC("Forgets a session with its peers.") },
	{ METHOD_GET,    "/v2/usage", ROUTE_READ, usage_get, "getUsage",
	  NEEDS(SESSIONS_READ), QUERY(usage_query), ANSWER(usage_shape),
	  LOADS(PAGE(usage)), MAY_READ(READ_ONLY(kind_usage_now)), TRIPS(1, 1),
	  DOC("Returns how many sessions, people and minutes there were, by day.") },

	{ METHOD_POST,   "/v2/recordings/room/{room_id}/start", ROUTE_WRITE, recording_start, "startRecording",
	  NEEDS(RECORDINGS_WRITE), WHOLE(recording_start_shape), ANSWER(recording_shape), FROM_INSIDE,
	  FORBIDDEN("The room is disabled. " MAY_NOT_RECORD),
	  CONFLICT("Nobody is in the room, a recording is running, too many are; the media server, the storage or the "
		   "recorders are not such that it can be recorded."),
	  TOO_MANY("A person inside called more than ten times in a second, or started a recording less than ten seconds "
		   "ago."),
	  RULES({ "destinationOfTemplate", "destination is one of the template's, and given if there are several." }),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(7, 7),
	  DOC("Starts a recording of a room.") },
	{ METHOD_POST,   "/v2/recordings/room/{room_id}/stop", ROUTE_WRITE, recordings_stop, "stopRecordings",
	  NEEDS(RECORDINGS_WRITE), NO_BODY, LIST(recording_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_RECORD), TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(3, 3),
	  DOC("Stops the recording of a room.") },
	{ METHOD_POST,   "/v2/recordings/room/{room_id}/pause", ROUTE_WRITE, recordings_pause, "pauseRecordings",
	  NEEDS(RECORDINGS_WRITE), NO_BODY, LIST(recording_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_RECORD), TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(3, 3),
	  DOC("Pauses the recording of a room.") },
	{ METHOD_POST,   "/v2/recordings/room/{room_id}/resume", ROUTE_WRITE, recordings_resume, "resumeRecordings",
	  NEEDS(RECORDINGS_WRITE), NO_BODY, LIST(recording_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_RECORD), TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(3, 3),
	  DOC("Resumes a paused recording of a room.") },
	{ METHOD_POST,   "/v2/recordings/{recording_id}/stop", ROUTE_WRITE, recording_stop, "stopRecording",
	  NEEDS(RECORDINGS_WRITE), NO_BODY, ANSWER(recording_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_RECORD), TOO_MANY(CALLS),
	  LOADS(CHANGED(recording)), TRIPS(2, 2),
	  DOC("Stops a recording. One that has stopped is returned as it is.") },
	{ METHOD_POST,   "/v2/recordings/{recording_id}/join", ROUTE_WRITE, recording_join, "joinRecording",
	  NEEDS(RECORDINGS_WRITE), NO_BODY, ANSWER(recording_shape),
	  CONFLICT("The recording has not failed, nothing is left of it, or there are too many."),
	  LOADS(CHANGED(recording)), TRIPS(2, 2),
	  DOC("Has a recorder join what is left of a recording that failed.") },
	{ METHOD_GET,    "/v2/recordings", ROUTE_READ, recordings_list, "listRoomRecordings",
	  NEEDS(RECORDINGS_READ), QUERY(recording_list_query), LIST(listed_recording_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_RECORDINGS), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), PAGE(recordings)), TRIPS(1, 1),
	  DOC("Lists recordings, newest first.") },
	{ METHOD_GET,    "/v2/recordings/{recording_id}", ROUTE_READ, recording_get, "getRecording",
	  NEEDS(RECORDINGS_READ), ANSWER(recording_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_RECORDINGS), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), SHOWN(recording)), TRIPS(1, 1),
	  DOC("Returns a recording with its files.") },
	{ METHOD_GET,    "/v2/recording-assets", ROUTE_READ, recording_assets_list, "listRecordingAssets",
	  NEEDS(RECORDINGS_READ), QUERY(recording_asset_list_query), LIST(recording_asset_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_RECORDINGS), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), PAGE(recording_assets)), TRIPS(1, 1),
	  DOC("Lists the files of recordings, newest first.") },
	{ METHOD_GET,    "/v2/recording-assets/{asset_id}", ROUTE_READ, recording_assets_get, "getRecordingAsset",
	  NEEDS(RECORDINGS_READ), ANSWER(recording_asset_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_RECORDINGS), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), SHOWN(recording_asset)), TRIPS(1, 1),
	  DOC("Returns a file of a recording.") },
	{ METHOD_GET,    "/v2/recording-assets/{asset_id}/presigned-url", ROUTE_READ, recording_assets_sign,
	  "signRecordingAsset",
	  NEEDS(RECORDINGS_READ), QUERY(presigned_url_query), ANSWER(presigned_url_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_RECORDINGS), TOO_MANY(CALLS),
	  CONFLICT("Nobody has the credentials of its storage any more."),
	  LOADS(SHOWN(recording_reader), SHOWN(recording_asset)), TRIPS(1, 6),
	  DOC("Returns a link to a file, which needs no token.") },
	{ METHOD_DELETE, "/v2/recording-assets/{asset_id}", ROUTE_WRITE, recording_assets_delete, "deleteRecordingAsset",
	  NEEDS(RECORDINGS_WRITE), CONFLICT("The recording has not ended."),
	  LOADS(SHOWN(recording_asset)), TRIPS(2, 2),
	  DOC("Deletes a file of a recording.") },
	{ METHOD_POST,   "/v2/recording-assets", ROUTE_WRITE, recording_assets_adopt, "adoptRecordingFile",
	  NEEDS(RECORDINGS_WRITE), WHOLE(finished_file_shape), ANSWER(recording_asset_shape),
	  CONFLICT("The file has a record, the recording has not ended, or the service has no folder."),
	  RULES({ "pathOfAccount", "path is that of a file of the account in the folder of recordings." }), TRIPS(0, 0),
	  DOC("Makes the record of a finished file that no record knows.") },
	{ METHOD_POST,   "/v2/recording-assets/purge", ROUTE_WRITE, recording_assets_purge, "purgeRecordingFile",
	  NEEDS(RECORDINGS_WRITE), WHOLE(finished_file_shape), ANSWER(done_shape),
	  CONFLICT("The file has a record, the recording has not ended, or the service has no folder."),
	  RULES({ "pathOfAccount", "path is that of a file of the account in the folder of recordings." }), TRIPS(0, 0),
	  DOC("Deletes a finished file that no record knows.") },
	{ METHOD_GET,    "/v2/recording-assets/orphans", ROUTE_READ, recording_orphans_list, "listOrphanedFiles",
	  NEEDS(RECORDINGS_READ), LIST(orphan_shape), TRIPS(0, 0),
	  DOC("Lists finished files of the account that no record knows, at most 1,000.") },
	{ METHOD_GET,    "/v2/recording-files/{customer_id}/{asset_id}", ROUTE_READ, recording_files_get, "getRecordingFile",
	  QUERY(recording_file_query), CONTENT("application/octet-stream"), .is_open = true,
	  FORBIDDEN("The link is not valid, or the account is disabled."), TRIPS(0, 0),
	  DOC("Returns the file of a link that was made for it.") },

	{ METHOD_POST,   "/v2/live-streams/room/{room_id}/start", ROUTE_WRITE, recording_start, "startLiveStream",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_WRITE), WHOLE(live_start_shape), ANSWER(live_stream_shape), FROM_INSIDE,
	  FORBIDDEN("The room is disabled. " MAY_NOT_STREAM("hlsStreaming")),
	  CONFLICT("Nobody is in the room, a live stream is running, too many jobs are; the media server, the folder or the "
		   "recorders are not such that it can be streamed."),
	  TOO_MANY(STREAM_STARTS),
	  RULES({ "destinationOfTemplate", "destination is one of the template's, and given if there are several." }),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(7, 7),
	  DOC("Starts a live stream of a room, for players of HLS.") },
	{ METHOD_POST,   "/v2/live-streams/room/{room_id}/stop", ROUTE_WRITE, recordings_stop, "stopLiveStreams",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_WRITE), NO_BODY, LIST(live_stream_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_STREAM("hlsStreaming")), TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(3, 3),
	  DOC("Stops the live stream of a room.") },
	{ METHOD_POST,   "/v2/live-streams/{stream_id}/stop", ROUTE_WRITE, recording_stop, "stopLiveStream",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_WRITE), NO_BODY, ANSWER(live_stream_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_STREAM("hlsStreaming")), TOO_MANY(CALLS),
	  LOADS(CHANGED(recording)), TRIPS(2, 2),
	  DOC("Stops a live stream. One that has stopped is returned as it is.") },
	{ METHOD_POST,   "/v2/live-streams/{stream_id}/timed-metadata", ROUTE_READ, stream_cannot, "sendTimedMetadata",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_WRITE), NO_BODY, ANSWER(live_stream_shape), CONFLICT(NOT_HERE),
	  LOADS(SHOWN(recording)), TRIPS(1, 1),
	  DOC("Not possible here: live streams have no timed metadata.") },
	{ METHOD_POST,   "/v2/live-streams/{stream_id}/pause-recording", ROUTE_READ, stream_cannot, "pauseLiveRecording",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_WRITE), NO_BODY, ANSWER(live_stream_shape), CONFLICT(NOT_HERE),
	  LOADS(SHOWN(recording)), TRIPS(1, 1),
	  DOC("Not possible here: what is streamed is recorded.") },
	{ METHOD_POST,   "/v2/live-streams/{stream_id}/resume-recording", ROUTE_READ, stream_cannot, "resumeLiveRecording",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_WRITE), NO_BODY, ANSWER(live_stream_shape), CONFLICT(NOT_HERE),
	  LOADS(SHOWN(recording)), TRIPS(1, 1),
	  DOC("Not possible here: what is streamed is recorded.") },
	{ METHOD_GET,    "/v2/live-streams", ROUTE_READ, recordings_list, "listLiveStreams",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_READ), QUERY(stream_list_query), LIST(listed_live_stream_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_STREAMS("hlsStreaming")), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), PAGE(recordings)), TRIPS(1, 1),
	  DOC("Lists live streams, newest first.") },
	{ METHOD_GET,    "/v2/live-streams/{stream_id}", ROUTE_READ, recording_get, "getLiveStream",
	  OF_TYPE(JOB_LIVE), NEEDS(RECORDINGS_READ), ANSWER(live_stream_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_STREAMS("hlsStreaming")), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), SHOWN(recording)), TRIPS(1, 1),
	  DOC("Returns a live stream with its files.") },
	{ METHOD_POST,   "/v2/external-streams/room/{room_id}/start", ROUTE_WRITE, recording_start, "startExternalStream",
	  OF_TYPE(JOB_EXTERNAL), NEEDS(RECORDINGS_WRITE), WHOLE(external_start_shape), ANSWER(external_stream_shape),
	  FROM_INSIDE,
	  FORBIDDEN("The room is disabled. " MAY_NOT_STREAM("rtmpStreaming") " With a recording, browserRecording, too."),
	  CONFLICT("Nobody is in the room, too many jobs are; the media server, the storage or the recorders are not such that "
		   "it can be streamed."),
	  TOO_MANY(STREAM_STARTS),
	  RULES({ "destinationOfTemplate",
		  "destination is one of the template's, and given if there are several and no rtmp_urls." }),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(7, 7),
	  DOC("Streams a room to RTMP servers. Only this response shows the addresses that were sent.") },
	{ METHOD_POST,   "/v2/external-streams/room/{room_id}/stop", ROUTE_WRITE, external_streams_stop,
	  "stopExternalStreams",
	  OF_TYPE(JOB_EXTERNAL), NEEDS(RECORDINGS_WRITE), NO_BODY, LIST(external_stream_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_STREAM("rtmpStreaming")), TOO_MANY(CALLS),
	  LOADS(VIEW(LIVE_ACTS_ALWAYS)), TRIPS(3, 3),
	  DOC("Stops all external streams of a room.") },
	{ METHOD_POST,   "/v2/external-streams/{stream_id}/stop", ROUTE_WRITE, recording_stop, "stopExternalStream",
	  OF_TYPE(JOB_EXTERNAL), NEEDS(RECORDINGS_WRITE), NO_BODY, ANSWER(external_stream_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_STREAM("rtmpStreaming")), TOO_MANY(CALLS),
	  LOADS(CHANGED(recording)), TRIPS(2, 2),
	  DOC("Stops an external stream. One that has stopped is returned as it is.") },
	{ METHOD_GET,    "/v2/external-streams", ROUTE_READ, recordings_list, "listExternalStreams",
	  OF_TYPE(JOB_EXTERNAL), NEEDS(RECORDINGS_READ), QUERY(stream_list_query), LIST(listed_external_stream_shape),
	  FROM_INSIDE, FORBIDDEN(MAY_NOT_READ_STREAMS("rtmpStreaming")), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), PAGE(recordings)), TRIPS(1, 1),
	  DOC("Lists external streams, newest first.") },
	{ METHOD_GET,    "/v2/external-streams/{stream_id}", ROUTE_READ, recording_get, "getExternalStream",
	  OF_TYPE(JOB_EXTERNAL), NEEDS(RECORDINGS_READ), ANSWER(external_stream_shape), FROM_INSIDE,
	  FORBIDDEN(MAY_NOT_READ_STREAMS("rtmpStreaming")), TOO_MANY(CALLS),
	  LOADS(SHOWN(recording_reader), SHOWN(recording)), TRIPS(1, 1),
	  DOC("Returns an external stream with its files.") },

	{ METHOD_POST,   "/v2/bans", ROUTE_WRITE, bans_create, "createBan",
	  NEEDS(BANS_WRITE), WHOLE(new_ban_shape), ANSWER(ban_shape),
	  CONFLICT("The account already has 100000 bans."),
	  RULES(BANNED_THINGS),
	  MAY_READ(CODE_IF_SENT("code"), ROOM_IF_SENT, READ_ONLY(kind_media), READ_NEW_ID(kind_ban)), TRIPS(3, 3),
	  DOC("Bans a person, or disables and bans a code. Whoever is banned from the room already keeps that ban, with "
	      "the reason and the end that are sent.") },
	{ METHOD_GET,    "/v2/bans", ROUTE_READ, bans_list, "listBans",
	  NEEDS(BANS_READ), QUERY(ban_list_query), LIST(ban_shape),
	  LOADS(PAGE(bans)), TRIPS(1, 1),
	  DOC("Lists bans, newest first.") },
	{ METHOD_GET,    "/v2/bans/{ban_id}", ROUTE_READ, bans_get, "getBan",
	  NEEDS(BANS_READ), ANSWER(ban_shape),
	  LOADS(SHOWN(ban)), TRIPS(1, 1),
	  DOC("Returns a ban.") },
	{ METHOD_DELETE, "/v2/bans/{ban_id}", ROUTE_WRITE, bans_delete, "deleteBan",
	  NEEDS(BANS_WRITE),
	  LOADS(CHANGED(media), CHANGED(ban)), TRIPS(2, 2),
	  DOC("Lifts a ban. A code that it disabled stays disabled.") },

	{ METHOD_POST,   "/v2/webhooks", ROUTE_WRITE, webhooks_create, "createWebhook",
	  NEEDS(WEBHOOKS_WRITE),
	  WHOLE(webhook_shape), .check = webhooks_check, ANSWER(shown_webhook_shape),
	  CONFLICT("The account already has twenty webhooks."),
	  RULES(KEPT_HEADERS),
	  LOADS(CHANGED(webhooks)), TRIPS(5, 5),
	  DOC("Creates a webhook. It receives events from that moment on.") },
	{ METHOD_GET,    "/v2/webhooks", ROUTE_READ, webhooks_list, "listWebhooks",
	  NEEDS(WEBHOOKS_WRITE),
	  QUERY(plain_list_query), LIST(shown_webhook_shape),
	  LOADS(SHOWN(webhooks), PAGE(list)), TRIPS(1, 1),
	  DOC("Lists webhooks, newest first.") },
	{ METHOD_GET,    "/v2/webhooks/{webhook_id}", ROUTE_READ, webhooks_get, "getWebhook",
	  NEEDS(WEBHOOKS_WRITE),
	  ANSWER(shown_webhook_shape),
	  LOADS(SHOWN(webhook)), TRIPS(1, 1),
	  DOC("Returns a webhook, without its secrets.") },
	{ METHOD_POST,   "/v2/webhooks/{webhook_id}", ROUTE_WRITE, webhooks_replace, "replaceWebhook",
	  NEEDS(WEBHOOKS_WRITE),
	  WHOLE(webhook_shape), .check = webhooks_check, ANSWER(shown_webhook_shape),
	  RULES(KEPT_HEADERS, NEW_PLACE),
	  LOADS(CHANGED(webhook)), TRIPS(3, 3),
	  DOC("Replaces a webhook. Its secret is kept if none is given.") },
	{ METHOD_PATCH,  "/v2/webhooks/{webhook_id}", ROUTE_WRITE, webhooks_patch, "patchWebhook",
	  NEEDS(WEBHOOKS_WRITE),
	  MERGE(webhook_shape), .check = webhooks_check, ANSWER(shown_webhook_shape),
	  RULES(KEPT_HEADERS, NEW_PLACE),
	  LOADS(CHANGED(webhook)), TRIPS(3, 3),
	  DOC("Updates a webhook (JSON Merge Patch). Headers are replaced as a whole.") },
	{ METHOD_DELETE, "/v2/webhooks/{webhook_id}", ROUTE_WRITE, webhooks_delete, "deleteWebhook",
	  NEEDS(WEBHOOKS_WRITE),
	  LOADS(CHANGED(webhook)), TRIPS(5, 5),
	  DOC("Deletes a webhook with its deliveries.") },
	{ METHOD_POST,   "/v2/webhooks/{webhook_id}/rotate", ROUTE_WRITE, webhooks_rotate,
	  "rotateWebhookSecret",
	  NEEDS(WEBHOOKS_WRITE), NO_BODY, ANSWER(shown_webhook_shape),
	  LOADS(CHANGED(webhook)), TRIPS(3, 3),
	  DOC("Rotates the secret of a webhook. The old secret also signs for 24 hours.") },
	{ METHOD_POST,   "/v2/webhooks/{webhook_id}/test", ROUTE_WRITE, webhooks_send_test,
	  "testWebhook",
	  NEEDS(WEBHOOKS_WRITE), NO_BODY, ANSWER(webhook_test_shape),
	  TOO_MANY("The webhook was sent ten tests within a minute."),
	  LOADS(SHOWN(webhook)), TRIPS(2, 2),
	  DOC("Sends a webhook.test event once, also to a disabled webhook.") },
	{ METHOD_GET,    "/v2/webhooks/{webhook_id}/deliveries", ROUTE_READ, webhook_deliveries_list,
	  "listWebhookDeliveries",
	  NEEDS(WEBHOOKS_WRITE), QUERY(delivery_list_query), LIST(webhook_delivery_shape),
	  LOADS(SHOWN(webhook), PAGE(deliveries)), TRIPS(1, 1),
	  DOC("Lists deliveries with at least one failed attempt, newest first.") },
	{ METHOD_POST,   "/v2/webhooks/{webhook_id}/deliveries/{event_id}/retry", ROUTE_WRITE,
	  webhook_deliveries_retry, "retryWebhookDelivery",
	  NEEDS(WEBHOOKS_WRITE), NO_BODY, ANSWER(webhook_delivery_shape),
	  CONFLICT("The webhook is disabled."),
	  LOADS(CHANGED(webhook)), TRIPS(3, 3),
	  DOC("Sends a delivery now. If it is pending, its schedule continues afterwards; otherwise this is its only "
	      "attempt.") },

	{ METHOD_POST,   "/v2/signing-keys", ROUTE_WRITE, signing_keys_create, "createSigningKey",
	  NEEDS(KEYS_WRITE),
	  .prepare = signing_keys_prepare, WHOLE(new_signing_key_shape), ANSWER(signing_key_shape),
	  CONFLICT("The account already has four signing keys for this alg."),
	  TOO_MANY("The account created ten RSA keys within a minute."),
	  LOADS(CHANGED(media)), TRIPS(2, 2),
	  DOC("Creates a signing key. The first key of an alg is active, later ones are next.") },
	{ METHOD_GET,    "/v2/signing-keys", ROUTE_READ, signing_keys_list, "listSigningKeys",
	  NEEDS(KEYS_WRITE),
	  QUERY(signing_key_list_query), LIST(signing_key_shape),
	  RULES(START_OF_KEYS),
	  LOADS(SHOWN(media), PAGE(list)), TRIPS(1, 1),
	  DOC("Lists signing keys, newest first.") },
	{ METHOD_GET,    "/v2/signing-keys/{kid}", ROUTE_READ, signing_keys_get, "getSigningKey",
	  NEEDS(KEYS_WRITE),
	  ANSWER(signing_key_shape),
	  LOADS(SHOWN(signing_key)), TRIPS(1, 1),
	  DOC("Returns a signing key.") },
	{ METHOD_DELETE, "/v2/signing-keys/{kid}", ROUTE_WRITE, signing_keys_delete,
	  "deleteSigningKey",
	  NEEDS(KEYS_WRITE), CONFLICT("The key is active, and a backend signs with its alg."),
	  LOADS(CHANGED(signing_key)), TRIPS(2, 2),
	  DOC("Deletes a signing key, which is then no longer published.") },
	{ METHOD_POST,   "/v2/signing-keys/{kid}/activate", ROUTE_WRITE, signing_keys_activate,
	  "activateSigningKey", NEEDS(KEYS_WRITE), NO_BODY, ANSWER(signing_key_shape),
	  CONFLICT("The key is retired, or too new for verifiers to have fetched it."),
	  LOADS(CHANGED(signing_key)), TRIPS(2, 2),
	  DOC("Activates a signing key and retires the previous one.") },
	{ METHOD_POST,   "/v2/keys", ROUTE_WRITE, keys_create, "createKey", NEEDS(KEYS_WRITE),
	  WHOLE(key_shape), .check = keys_check, ANSWER(made_key_shape),
	  CONFLICT("The account already has a hundred API keys."),
	  RULES(KEY_EXPIRY),
	  MAY_READ(READ_ONLY(kind_keys)), TRIPS(2, 2),
	  DOC("Creates an API key. Only this response contains the key. " KEY_GIFT) },
	{ METHOD_GET,    "/v2/keys", ROUTE_READ, keys_list, "listKeys", NEEDS(KEYS_WRITE),
	  QUERY(plain_list_query), LIST(key_shape),
	  LOADS(PAGE(keys)), TRIPS(1, 1),
	  DOC("Lists API keys, newest first.") },
	{ METHOD_GET,    "/v2/keys/{key_id}", ROUTE_READ, keys_get, "getKey", NEEDS(KEYS_WRITE),
	  ANSWER(key_shape),
	  LOADS(SHOWN(key)), TRIPS(1, 1),
	  DOC("Returns an API key without its secret.") },
	{ METHOD_PATCH,  "/v2/keys/{key_id}", ROUTE_WRITE, keys_patch, "patchKey",
	  NEEDS(KEYS_WRITE),
	  MERGE(key_shape), .check = keys_check, ANSWER(key_shape),
	  FORBIDDEN(KEY_GIFT), RULES(KEY_EXPIRY),
	  LOADS(CHANGED(key)), TRIPS(2, 2),
	  DOC("Updates an API key (JSON Merge Patch).") },
	{ METHOD_DELETE, "/v2/keys/{key_id}", ROUTE_WRITE, keys_delete, "deleteKey",
	  NEEDS(KEYS_WRITE), FORBIDDEN(KEY_GIFT),
	  LOADS(CHANGED(key)),
	  MAY_READ(READ_ONLY(kind_keys)), TRIPS(2, 2),
	  DOC("Deletes an API key, which is rejected from then on.") },

	{ METHOD_GET,    "/v2/jwks/{customer_id}.json", ROUTE_READ, key_set_get, "getKeySet",
	  ANSWER(key_set_shape), CONTENT("application/jwk-set+json"), OPEN_TO_ALL,
	  MAY_READ(READ_ONLY(kind_media)), TRIPS(1, 1),
	  DOC("Returns the public keys of an account. The set is empty if the account does not exist.") },
	{ METHOD_GET,    "/v2/jwks/{customer_id}/{kid_hash}.pem", ROUTE_READ, key_pem_get,
	  "getKeyPem", CONTENT("application/x-pem-file"), OPEN_TO_ALL,
	  MAY_READ(READ_ONLY(kind_media)), TRIPS(1, 1),
	  DOC("Returns a public RSA key by the SHA-256 of its kid.") },

	{ METHOD_GET,    "/v2/events", ROUTE_READ, events_list, "listEvents", NEEDS(EVENTS_READ),
	  QUERY(event_list_query), LIST(event_shape), .drops_old = true, LOADS(PAGE(list)), TRIPS(3, 3),
	  DOC("Lists events, oldest first. `last` is the seq of the last event that was looked at; continue while it "
	      "rises. With `before`, newest first; continue while it falls.") },

	{ METHOD_GET,    "/v2/analytics/events", ROUTE_READ, analytics_list, "listAnalyticsEvents",
	  NEEDS(EVENTS_READ), QUERY(analytics_query), ANSWER(analytics_shape), TRIPS(2, 2),
	  DOC("Lists events of a room from the event log, oldest first. A request looks at up to 10,000 events; if the log "
	      "has more, `total` counts those that it looked at. Continue while `next` is not empty.") },

	{ METHOD_POST,   "/v2/session", ROUTE_STATELESS, session_begin, "beginSession",
	  WHOLE(new_session_shape), SMALL_BODY, .check = session_check, .is_open = true, .begins_session = true,
	  FORBIDDEN("The header Anteroom-Console is missing."),
	  TOO_MANY("The address failed 20 times within a minute."),
	  DOC("Starts a browser session. The response sets a cookie.") },
	{ METHOD_GET,    "/v2/session", ROUTE_STATELESS, session_get, "getSession",
	  ANSWER(session_shape),
	  DOC("Returns the caller's account, scopes and expiry.") },
	{ METHOD_DELETE, "/v2/session", ROUTE_STATELESS, session_end, "endSession",
	  FORBIDDEN("The header Anteroom-Console is missing."),
	  DOC("Ends a browser session. The response clears the cookie.") },
	{ METHOD_GET,    "/v2/service/metrics", ROUTE_STATELESS, health_operator_metrics,
	  "getServiceMetrics", CONTENT("text/plain"), FORBIDDEN("The account is not an operator."),
	  DOC("Metrics of the whole service, in the Prometheus text format. Operators only.") },
	{ METHOD_GET,    "/v2/service/history", ROUTE_STATELESS, history_get, "getServiceHistory",
	  ANSWER(history_shape), FORBIDDEN("The account is not an operator."),
	  DOC("Returns the last 24 hours of the process that answers, one sample for each minute. Operators only.") },

	{ METHOD_GET,    "/v2/openapi.json", ROUTE_STATELESS, openapi_get, "getOpenApi",
	  .is_open = true, ETAG,
	  DOC("This document. Its ETag is weak (W/) when the web server compresses the response.") },

	{ METHOD_GET,    "/", ROUTE_STATELESS, welcome_get, "welcome", INTERNAL,
	  DOC("A page for people.") },
	{ METHOD_GET,    "/healthz", ROUTE_STATELESS, health_live, "live", INTERNAL,
	  DOC("The process is up.") },
	{ METHOD_GET,    "/readyz", ROUTE_STATELESS, health_ready, "ready", INTERNAL,
	  DOC("The store can write, and none of its files is damaged.") },
	{ METHOD_GET,    "/metrics", ROUTE_STATELESS, health_metrics, "metrics", INTERNAL,
	  DOC("Counters and gauges in the Prometheus text format.") },

	{ .path = NULL },
};
/* clang-format on */
