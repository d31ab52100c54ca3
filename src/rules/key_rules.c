/* See rules/key_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/key_rules.h"

/* clang-format off */

const char *const scope_names[SCOPES + 1] = {
	[SCOPE_TEMPLATES_READ] = "templates:read",
	[SCOPE_TEMPLATES_WRITE] = "templates:write",
	[SCOPE_ROOMS_READ] = "rooms:read",
	[SCOPE_ROOMS_WRITE] = "rooms:write",
	[SCOPE_CODES_READ] = "codes:read",
	[SCOPE_CODES_WRITE] = "codes:write",
	[SCOPE_EVENTS_READ] = "events:read",
	[SCOPE_WEBHOOKS_WRITE] = "webhooks:write",
	[SCOPE_BACKENDS_WRITE] = "backends:write",
	[SCOPE_KEYS_WRITE] = "keys:write",
	[SCOPE_LIVE_READ] = "live:read",
	[SCOPE_LIVE_WRITE] = "live:write",
	[SCOPE_SESSIONS_READ] = "sessions:read",
	[SCOPE_SESSIONS_WRITE] = "sessions:write",
	[SCOPE_BANS_READ] = "bans:read",
	[SCOPE_BANS_WRITE] = "bans:write",
	[SCOPE_TICKETS_WRITE] = "tickets:write",
	[SCOPE_RECORDINGS_READ] = "recordings:read",
	[SCOPE_RECORDINGS_WRITE] = "recordings:write",
};

static const struct field scope_item = { .name = NULL, .kind = KIND_CHOICE, .choices = scope_names,
	COMPONENT("Scope"), DOC("What a request may do.") };

static const struct field key_fields[] = {
	{ "id",         TEXT(id_text), FLAGS(FIELD_READ_ONLY), DOC("API key identifier.") },
	{ "name",       TEXT(some_line_128_text), FLAGS(FIELD_REQUIRED | FIELD_KEPT), EXAMPLE("calendar"),
	  DOC("What the API key is for.") },
	{ "scopes",     LIST_OF(scope_item),
	  FLAGS(FIELD_REQUIRED | FIELD_KEPT | FIELD_UNIQUE | FIELD_NOT_EMPTY), EXAMPLE(["rooms:write"]),
	  DOC("What the API key may do. A write scope includes the read scope, and webhooks:write "
	      "includes events:read.") },
	{ "expires_at", TIME(), DOC("The API key is rejected from this second on.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY), DOC("Time of creation.") },
	{ "key",        TEXT(some_text), IN(IN_NEW),
	  DOC("The bearer token. Only this response contains it, and not if it is repeated for the "
	      "same Idempotency-Key.") },
};
const struct shape key_shape = {
	"Key", FIELDS(key_fields), .doc = "An API key: a limited bearer token that can be revoked.",
};
const struct shape made_key_shape = {
	"CreatedKey", FIELDS(key_fields), .views = IN_NEW, .doc = "A new API key with its bearer token.",
};

/* ---- sessions ---- */

static schema_rule check_credentials;

static const struct rule new_session_rules[] = {
	{ "sessionCredentials", "The body has either token, or access_key and secret.", check_credentials },
	{ NULL, NULL, NULL },
};
static const struct field new_session_fields[] = {
	{ "access_key", TEXT(any_text), DOC("Access key of an account; needs secret.") },
	{ "secret",     TEXT(any_text), FLAGS(FIELD_SECRET), DOC("An active secret of the account.") },
	{ "token",      TEXT(any_text), FLAGS(FIELD_SECRET), EXAMPLE("ak_..."), DOC("A management token or an API key.") },
};
const struct shape new_session_shape = {
	"Session", FIELDS(new_session_fields), .rules = new_session_rules,
	.doc = "The credentials that begin a session.",
};

static const struct field caller_account_fields[] = {
	{ "id",   TEXT(id_text), FLAGS(FIELD_REQUIRED), DOC("Account identifier.") },
	{ "name", TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Name of the account.") },
};
static const struct shape caller_account_shape = {
	"CallerAccount", FIELDS(caller_account_fields), .doc = "The account of the caller.",
};
static const struct field session_fields[] = {
	{ "account",    OBJECT(caller_account_shape), FLAGS(FIELD_REQUIRED), DOC("The caller's account.") },
	{ "scopes",     LIST_OF(scope_item), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE),
	  DOC("Scopes of the caller; null means all.") },
	{ "expires_at", TEXT(time_text), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE),
	  DOC("When the session, token or API key expires; null means never.") },
	{ "operator",   BOOLEAN(), FLAGS(FIELD_REQUIRED),
	  DOC("Whether the account is an operator, who may read the metrics of the whole service.") },
	{ "version",    TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("Version of the server.") },
	{ "public_url", TEXT(some_text), FLAGS(FIELD_REQUIRED), IN_FORMAT("uri"), EXAMPLE("https://example.org"),
	  DOC("Public URL of the server.") },
	{ "client_url", TEXT(some_text), IN_FORMAT("uri"), DOC("Where the join page sends people, if set.") },
	{ "qr", BOOLEAN(), FLAGS(FIELD_REQUIRED), DOC("Whether the server can create QR codes.") },
};
const struct shape session_shape = {
	"Session", FIELDS(session_fields), .doc = "The caller, and what it may do.",
};

/* clang-format on */

static void check_credentials(struct rule_context *context, const json_t *object)
{
	static const char *const pair[] = { "access_key", "secret" };
	const bool has_token = rule_was_sent(context, "/token");

	for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
		const char *pointer = arena_text(rule_arena(context), "/%s", pair[i]);

		if (has_token && json_object_get(object, pair[i]) != NULL)
			schema_fault(context, pointer, "cannot be combined with token");
		else if (!has_token && !rule_was_sent(context, pointer))
			schema_fault(context, pointer, "is required");
	}
}
