/* See rules/transfer_rules.h. No row has a default, since a dump is complete. Faults show no codes
 * or secrets.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/transfer_rules.h"

#include "rules/key_rules.h"
#include "rules/media_rules.h"
#include "rules/room_code_rules.h"
#include "rules/room_rules.h"
#include "rules/template_rules.h"
#include "rules/webhook_rules.h"

/* clang-format off */

#define REQUIRED FLAGS(FIELD_REQUIRED)
/* Numbers of ids (base/id.h), and identities of roles (resources/templates/template_record.h). */
#define NUMBER_OF_ID() INTEGER(0, ((int64_t)1 << 40) - 1)
#define IDENTITY() INTEGER(1, UINT32_MAX)

/* ---- the first line and the last ---- */

static const struct field dump_fields[] = {
	{ "format",  INTEGER(1, 6), REQUIRED,
	  DOC("Of the lines that follow. 1 was written before version 0.1.0, 2 has no terms of codes, "
	      "no opening hours of rooms and no lines of words, 3 has no lines of media, 4 has no log and no "
	      "lines of keys and webhooks, 5 has no lines of codes.") },
	{ "program", TEXT(any_text), REQUIRED },
	{ "made_at", TEXT(time_text), REQUIRED },
};
static const struct shape dump_shape = {
	"DumpHead", FIELDS(dump_fields), .doc = "The first line.",
};

static const struct field end_fields[] = {
	{ "accounts",  INTEGER(0, UNLIMITED), REQUIRED },
	{ "media",     INTEGER(0, UNLIMITED), DOC("Absent before format 4.") },
	{ "keys",      INTEGER(0, UNLIMITED), DOC("Absent before format 5.") },
	{ "webhooks",  INTEGER(0, UNLIMITED), DOC("Absent before format 5.") },
	{ "templates", INTEGER(0, UNLIMITED), REQUIRED },
	{ "rooms",     INTEGER(0, UNLIMITED), REQUIRED },
	{ "codes",     INTEGER(1, UNLIMITED), DOC("Lines, not codes. Absent: none.") },
	{ "words",     INTEGER(0, UNLIMITED), DOC("Absent before format 3.") },
	{ "events",    INTEGER(0, UNLIMITED), DOC("Absent before format 5.") },
};
static const struct shape end_shape = {
	"DumpEnd", FIELDS(end_fields),
	.doc = "The last line, with how many lines of each kind came before it.",
};

/* ---- accounts ---- */

static const struct field secret_fields[] = {
	{ "secret",     TEXT(bytes_32_text), FLAGS(FIELD_REQUIRED | FIELD_SECRET) },
	{ "created_at", TEXT(time_text), REQUIRED },
};
static const struct shape secret_shape = {
	"DumpSecret", FIELDS(secret_fields), .doc = "An active secret of an account.",
};
static const struct field secret_item = { .name = NULL, OBJECT(secret_shape) };

static const struct field account_fields[] = {
	{ "id",               TEXT(id_text), REQUIRED },
	{ "name",             TEXT(name_text), REQUIRED },
	{ "access_key",       TEXT(id_text), REQUIRED },
	{ "enabled",          BOOLEAN(), REQUIRED },
	{ "created_at",       TEXT(time_text), REQUIRED },
	{ "secrets",          LIST_OF(secret_item), MOST(2), REQUIRED, DOC("The older first.") },
	{ "operator",         BOOLEAN(), DOC("Absent: false.") },
	{ "log_joins",        BOOLEAN(), DOC("Absent: false.") },
	{ "client_url",       TEXT(any_text), DOC("Absent: none.") },
	{ "times_disabled",   INTEGER(1, UNLIMITED), DOC("Absent: never.") },
	{ "last_template",    NUMBER_OF_ID(), DOC("In format 1; ignored.") },
	{ "last_room",        NUMBER_OF_ID(), DOC("In format 1; ignored.") },
	{ "last_time",        TEXT(time_text), DOC("In format 1; ignored.") },
	{ "default_template", TEXT(id_text) },
	{ "last_event",       INTEGER(1, UNLIMITED),
	  DOC("How far its log goes. Absent: nothing was logged.") },
};
static const struct shape account_shape = {
	"DumpAccount", FIELDS(account_fields),
	.doc = "An account; what follows up to the next one is its.",
};

/* ---- media ---- */

static const struct field signing_key_fields[] = {
	{ "alg",         SIGNING_ALG_NAMES, REQUIRED },
	{ "state",       SIGNING_KEY_STATES, REQUIRED },
	{ "created_at",  TEXT(time_text), REQUIRED },
	{ "retires_at",  TEXT(time_text), DOC("Of a retired key.") },
	{ "private_key", TEXT(any_text), FLAGS(FIELD_REQUIRED | FIELD_SECRET),
	  DOC("PKCS #8 in DER, as base64url.") },
};
static const struct shape signing_key_line_shape = {
	"DumpSigningKey", FIELDS(signing_key_fields), .doc = "A signing key.",
};
static const struct field signing_key_item = { .name = NULL, OBJECT(signing_key_line_shape) };

static const struct field backend_fields[] = {
	{ "id",         TEXT(id_text), REQUIRED },
	{ "created_at", TEXT(time_text), REQUIRED },
	{ "updated_at", TEXT(time_text), REQUIRED },
	{ "document",   OBJECT(new_backend_shape), REQUIRED,
	  DOC("The backend as it could be sent, with its secrets.") },
};
static const struct shape backend_line_shape = {
	"DumpBackend", FIELDS(backend_fields), .doc = "A backend.",
};
static const struct field backend_item = { .name = NULL, OBJECT(backend_line_shape) };

static const struct field media_fields[] = {
	{ "code_key",     TEXT(bytes_32_text), FLAGS(FIELD_REQUIRED | FIELD_SECRET),
	  DOC("Of the hashes of codes, as base64url.") },
	{ "signing_keys", LIST_OF(signing_key_item), REQUIRED, DOC("The oldest first.") },
	{ "last_backend", NUMBER_OF_ID(), REQUIRED, DOC("In the id of the last one that was made.") },
	{ "backends",     LIST_OF(backend_item), REQUIRED, DOC("The oldest first.") },
};
static const struct shape media_shape = {
	"DumpMedia", FIELDS(media_fields), .doc = "What an account has for media servers.",
};

/* ---- keys ---- */

static const struct field key_fields[] = {
	{ "id",         TEXT(id_text), REQUIRED },
	{ "created_at", TEXT(time_text), REQUIRED },
	{ "digest",     TEXT(bytes_32_text), REQUIRED, DOC("SHA-256 of its secret, as base64url.") },
	{ "document",   OBJECT(key_shape), REQUIRED, DOC("The key as it could be sent.") },
};
static const struct shape key_line_shape = {
	"DumpKey", FIELDS(key_fields), .doc = "A key; its secret stands nowhere.",
};
static const struct field key_item = { .name = NULL, OBJECT(key_line_shape) };
static const struct field keys_fields[] = {
	{ "keys", LIST_OF(key_item), REQUIRED, DOC("The oldest first.") },
};
static const struct shape keys_shape = { "DumpKeys", FIELDS(keys_fields), .doc = "The keys of an account." };

/* ---- webhooks ---- */

static const struct field former_fields[] = {
	{ "secret", TEXT(some_text), REQUIRED },
	{ "until",  TEXT(time_text), REQUIRED },
};
static const struct shape former_shape = {
	"DumpFormerSecret", FIELDS(former_fields), .doc = "A secret that signs until then.",
};
static const struct field former_item = { .name = NULL, OBJECT(former_shape) };
static const struct field webhook_fields[] = {
	{ "id",              TEXT(id_text), REQUIRED },
	{ "created_at",      TEXT(time_text), REQUIRED },
	{ "updated_at",      TEXT(time_text), REQUIRED },
	{ "position",        INTEGER(0, UNLIMITED), REQUIRED,
	  DOC("Entries of the log up to it were delivered, or not wanted.") },
	{ "disabled_reason", ONE_OF("gone", "failing") },
	{ "former_secrets",  LIST_OF(former_item), MOST(FORMER_SECRETS_MOST), REQUIRED },
	{ "document",        OBJECT(webhook_shape), REQUIRED,
	  DOC("The webhook as it could be sent, with its secret and the values of its headers.") },
};
static const struct shape webhook_line_shape = {
	"DumpWebhook", FIELDS(webhook_fields), .doc = "A webhook, with its secrets.",
};
static const struct field webhook_item = { .name = NULL, OBJECT(webhook_line_shape) };
static const struct field webhooks_fields[] = {
	{ "last_webhook", NUMBER_OF_ID(), REQUIRED },
	{ "webhooks",     LIST_OF(webhook_item), MOST(WEBHOOKS_MOST), REQUIRED, DOC("The oldest first.") },
};
static const struct shape webhooks_shape = {
	"DumpWebhooks", FIELDS(webhooks_fields), .doc = "The webhooks of an account.",
};

/* ---- templates ---- */

static const struct field identity_fields[] = {
	{ "identity", IDENTITY(), REQUIRED },
	{ "added_at", TEXT(time_text), REQUIRED },
};
static const struct shape identity_shape = {
	"DumpRole", FIELDS(identity_fields), .doc = "What a template's document does not show.",
};
static const struct field identity_item = { .name = NULL, OBJECT(identity_shape) };

static const struct field template_fields[] = {
	{ "id",            TEXT(id_text), REQUIRED },
	{ "created_at",    TEXT(time_text), REQUIRED },
	{ "updated_at",    TEXT(time_text), REQUIRED },
	{ "last_identity", INTEGER(0, UINT32_MAX), REQUIRED,
	  DOC("How far the template has counted its roles.") },
	{ "identities",    MAP_OF(role_name_text, identity_item), REQUIRED,
	  DOC("For each role of the document.") },
	{ "document",      OBJECT(template_shape), REQUIRED,
	  DOC("The template as it could be sent, with what is stored and never answered.") },
};
static const struct shape dumped_template_shape = {
	"DumpTemplate", FIELDS(template_fields), .doc = "A template; the youngest comes first.",
};

/* ---- rooms ---- */

static const struct field code_fields[] = {
	{ "code",       TEXT(any_text), FLAGS(FIELD_REQUIRED | FIELD_SECRET) },
	{ "enabled",    BOOLEAN(), REQUIRED },
	{ "identity",   IDENTITY(), DOC("Of its role.") },
	{ "lost_role",  TEXT(role_name_text),
	  DOC("Instead of the identity: the name of the role it had, which is gone.") },
	{ "created_at", TEXT(time_text), REQUIRED },
	{ "updated_at", TEXT(time_text), REQUIRED },
	{ "terms",      OBJECT(code_patch_shape), DOC("As a PATCH could send them. Absent: none.") },
	{ "uses",       INTEGER(0, UINT32_MAX), DOC("Counted exchanges, where max_uses is set.") },
	{ "last_use",   TEXT(time_text), DOC("The last of them. Absent: there was none.") },
	{ "last_user",  TEXT(any_text), DOC("Its user_id; absent: one that was made up.") },
	{ "last_repeats", INTEGER(0, UINT8_MAX), DOC("How often it was repeated. Absent: never.") },
	{ "place",      INTEGER(1, ((int64_t)1 << 40) - 1),
	  DOC("Its number in the room, to which tokens refer. Absent: the next one.") },
};
static const struct shape code_shape = {
	"DumpCode", FIELDS(code_fields), .doc = "A code of a room.",
};
static const struct field code_item = { .name = NULL, OBJECT(code_shape) };

static const struct field deleted_role_fields[] = {
	{ "identity",   IDENTITY(), REQUIRED },
	{ "name",       TEXT(role_name_text), REQUIRED },
	{ "added_at",   TEXT(time_text), REQUIRED },
	{ "deleted_at", TEXT(time_text), REQUIRED },
};
static const struct shape deleted_role_shape = {
	"DumpDeletedRole", FIELDS(deleted_role_fields),
	.doc = "A role that the template had, and a code refers to.",
};
static const struct field deleted_role_item = { .name = NULL, OBJECT(deleted_role_shape) };

static const struct field due_role_fields[] = {
	{ "identity", IDENTITY(), REQUIRED },
	{ "due_at",   TEXT(time_text), REQUIRED, DOC("The time that its code shows as its creation.") },
};
static const struct shape due_role_shape = {
	"DumpDueRole", FIELDS(due_role_fields),
	.doc = "A role that came with a move of the room, and has no code as long as nobody looks.",
};
static const struct field due_role_item = { .name = NULL, OBJECT(due_role_shape) };

static const struct field codes_fields[] = {
	{ "all_asked",     BOOLEAN(), REQUIRED,
	  DOC("Codes of all roles were asked for: roles that are added get one by themselves.") },
	{ "last_identity", INTEGER(0, UINT32_MAX), REQUIRED,
	  DOC("The last role of the template that the room's codes know of.") },
	{ "codes",         LIST_OF(code_item), REQUIRED,
	  DOC("The oldest first; those that are too many for a line follow in lines `codes`.") },
	{ "deleted_roles", LIST_OF(deleted_role_item), DOC("In format 1. Absent: none.") },
	{ "due_roles",     LIST_OF(due_role_item), DOC("The longest due first. Absent: none.") },
};
static const struct shape codes_shape = {
	"DumpCodes", FIELDS(codes_fields), .doc = "The codes of a room.",
};

static const struct field room_fields[] = {
	{ "id",         TEXT(id_text), REQUIRED },
	{ "created_at", TEXT(time_text), REQUIRED },
	{ "updated_at", TEXT(time_text), REQUIRED },
	{ "document",   OBJECT(room_shape), REQUIRED,
	  DOC("The room as it could be sent, with what is stored and never answered.") },
	{ "codes",      OBJECT(codes_shape), DOC("Absent: none was ever made or asked for.") },
};
static const struct shape dumped_room_shape = {
	"DumpRoom", FIELDS(room_fields), .doc = "A room; the youngest comes first.",
};

static const struct field more_codes_fields[] = {
	{ "room_id", TEXT(id_text), REQUIRED, DOC("Of the line `room` or `codes` just before.") },
	{ "codes",   LIST_OF(code_item), MOST(CODES_OF_LINE), FLAGS(FIELD_REQUIRED | FIELD_NOT_EMPTY),
	  DOC("The oldest first.") },
};
static const struct shape more_codes_shape = {
	"DumpMoreCodes", FIELDS(more_codes_fields),
	.doc = "More codes of a room, younger than those in the lines before.",
};

/* ---- the log ---- */

/* As it was written: what entries say may change with versions. */
#define KEPT_WHOLE() .kind = KIND_KEPT_OBJECT, MOST((size_t)1 << 20)

static const struct field event_fields[] = {
	{ "seq",        INTEGER(1, UNLIMITED), REQUIRED },
	{ "id",         TEXT(any_text), REQUIRED },
	{ "type",       TEXT(any_text), REQUIRED },
	{ "timestamp",  TEXT(time_text), REQUIRED },
	{ "actor",      KEPT_WHOLE(), REQUIRED },
	{ "request_id", TEXT(any_text), REQUIRED },
	{ "data",       KEPT_WHOLE(), REQUIRED },
};
static const struct shape event_shape = {
	"DumpEvent", FIELDS(event_fields),
	.doc = "An entry of the account's log; the oldest that is kept comes first.",
};

/* ---- words ---- */

static const struct field words_fields[] = {
	{ "account", TEXT(id_text), REQUIRED },
	{ "words",   TEXT(any_text), FLAGS(FIELD_REQUIRED | FIELD_SECRET) },
};
static const struct shape words_shape = {
	"DumpWords", FIELDS(words_fields),
	.doc = "Words that an account once chose for a code, or a code that is gone; they stay its own.",
};

/* ---- a line ---- */

static const struct field line_fields[] = {
	{ "dump",     OBJECT(dump_shape) },
	{ "account",  OBJECT(account_shape) },
	{ "media",    OBJECT(media_shape) },
	{ "keys",     OBJECT(keys_shape) },
	{ "webhooks", OBJECT(webhooks_shape) },
	{ "template", OBJECT(dumped_template_shape) },
	{ "room",     OBJECT(dumped_room_shape) },
	{ "codes",    OBJECT(more_codes_shape) },
	{ "event",    OBJECT(event_shape) },
	{ "words",    OBJECT(words_shape) },
	{ "end",      OBJECT(end_shape) },
};
const struct shape transfer_line_shape = {
	"DumpLine", FIELDS(line_fields), .doc = "A line of a dump, which has one of these members.",
};

/* clang-format on */
