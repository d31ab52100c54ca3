/* See rules/webhook_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/webhook_rules.h"

#include <string.h>

#include "base/text.h"
#include "rules/list_rules.h"

/* clang-format off */

static const struct text_rule header_name_text = {
	.characters = "a-zA-Z0-9!#$%&'*+.^_`|~-",
	.sentence = "must be 1 to 64 characters out of a-z A-Z 0-9 ! # $ % & ' * + . ^ _ ` | ~ -",
	.shortest = 1,
	.longest = 64,
};
static const struct text_rule header_value_text = {
	.characters = "!-~ ",
	.sentence = "must be 1 to 512 visible ASCII characters, with spaces only in between",
	.shortest = 1,
	.longest = 512,
	.no_outer_space = true,
};
static const struct text_rule secret_of_webhook_text = {
	.characters = "a-zA-Z0-9+/=_",
	.sentence = "must be whsec_ followed by base64 of 24 to 64 bytes",
	.shortest = 38,
	.longest = 94,
};

static schema_rule check_webhook_url, check_events, check_headers, check_secret;

static const struct rule webhook_rules[] = {
	{ "webhookUrl",
	  "url is an https URL without user info or fragment, or an http URL if the server allows it.",
	  check_webhook_url },
	{ "webhookEvents",
	  "events has event types such as room.created, prefixes such as room.*, or * for all.",
	  check_events },
	{ "webhookHeaders",
	  "Names in headers are unique, ignoring case, and are not headers that Anteroom or HTTP sets: "
	  "content-*, webhook-*, proxy-*, host, user-agent, te, trailer, upgrade, expect, keep-alive, "
	  "transfer-encoding, connection.",
	  check_headers },
	{ "webhookSecret", "secret is whsec_ followed by base64 of 24 to 64 bytes.", check_secret },
	{ NULL, NULL, NULL },
};

static const struct field event_item = { .name = NULL, .kind = KIND_TEXT, .text = &any_text };
static const struct field header_item = {
	.name = NULL, .kind = KIND_TEXT, .text = &header_value_text, .flags = FIELD_SECRET,
};

static const struct field webhook_fields[] = {
	{ "id",          TEXT(id_text), FLAGS(FIELD_READ_ONLY), DOC("Webhook identifier.") },
	{ "url",         TEXT(url_text), FLAGS(FIELD_REQUIRED | FIELD_KEPT), IN_FORMAT("uri"),
	  EXAMPLE("https://example.org/hook"),
	  DOC("Where events are posted to.") },
	{ "events",      LIST_OF(event_item), MOST(50), FLAGS(FIELD_UNIQUE | FIELD_NOT_EMPTY), DEFAULT(["*"]),
	  DOC("Event types, prefixes such as room.*, or * for all.") },
	{ "enabled",     BOOLEAN(), DEFAULT(true),
	  DOC("When enabled, it receives events from that moment on.") },
	{ "description", TEXT(any_256_text), DEFAULT(""), DOC("A description for people.") },
	{ "headers",     MAP_OF(header_name_text, header_item), MOST(5), FLAGS(FIELD_ATOMIC | FIELD_SECRET),
	  DEFAULT({}),
	  DOC("Extra headers for each delivery. Responses show *** in place of values; sending *** keeps "
	      "the stored value.") },
	{ "secret",      TEXT(secret_of_webhook_text),
	  FLAGS(FIELD_WRITE_ONLY | FIELD_ECHO | FIELD_SECRET | FIELD_KEPT),
	  DOC("whsec_ followed by base64 of 24 to 64 bytes. If it is not sent, it is generated at creation "
	      "and kept later. Only the response to the request that sets it contains it.") },
	{ "disabled_reason", ONE_OF("gone", "failing"), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES),
	  DOC("Why the webhook was disabled automatically: gone (the receiver answered 410) or failing "
	      "(nothing could be delivered).") },
	{ "created_at",  TEXT(time_text), FLAGS(FIELD_READ_ONLY), DOC("Time of creation.") },
	{ "updated_at",  TEXT(time_text), FLAGS(FIELD_READ_ONLY), DOC("Time of the last change.") },
};
const struct shape webhook_shape = {
	"Webhook", FIELDS(webhook_fields), .rules = webhook_rules,
	.doc = "Where events are posted to, signed according to Standard Webhooks 1.0.0.",
};
const struct shape shown_webhook_shape = {
	"Webhook", FIELDS(webhook_fields),
	.doc = "Where events are posted to, signed according to Standard Webhooks 1.0.0.",
};

static const struct field test_fields[] = {
	{ "event_id", TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("The webhook-id of the test event.") },
};
const struct shape webhook_test_shape = {
	"TestEvent", FIELDS(test_fields), .doc = "A webhook.test event that is being sent.",
};

static const struct field delivery_fields[] = {
	{ "event_id",    TEXT(some_text), FLAGS(FIELD_REQUIRED), DOC("ID of the event.") },
	{ "type",        TEXT(some_text), FLAGS(FIELD_REQUIRED), EXAMPLE("room.created"),
	  DOC("Type of the event.") },
	{ "seq",         INTEGER(1, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Number of the event.") },
	{ "state",       ONE_OF(DELIVERY_STATES), FLAGS(FIELD_REQUIRED), DOC("State of the delivery.") },
	{ "attempts",    INTEGER(1, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Attempts so far.") },
	{ "last_status", INTEGER(100, 999), FLAGS(FIELD_NULLABLE), DOC("HTTP status of the last attempt; null if there was no response.") },
	{ "last_error",  TEXT(some_text), FLAGS(FIELD_NULLABLE),
	  DOC("Why the last attempt got no complete response; null if it got one.") },
	{ "next_at",     TEXT(time_text), FLAGS(FIELD_NULLABLE), DOC("Time of the next attempt, while pending.") },
};
const struct shape webhook_delivery_shape = {
	"WebhookDelivery", FIELDS(delivery_fields), .doc = "A delivery with at least one failed attempt.",
};

static const struct field delivery_list_fields[] = {
	{ "limit", INTEGER(10, 100), DEFAULT(10), DOC("Items per response.") },
	{ "start", TEXT(id_text), DOC("Where to continue: `last` of the previous response.") },
	{ "state", ONE_OF(DELIVERY_STATES), DOC("Deliveries in this state.") },
};
const struct shape delivery_list_query = { "DeliveryListQuery", FIELDS(delivery_list_fields) };

/* clang-format on */

/* ---- url ---- */

bool webhook_url_parse(struct slice text, bool *is_https)
{
	struct url_place place;
	struct slice host;

	if (!text_may_be_url(text) || !url_place_parse(text, &place))
		return false;
	*is_https = text_equal_ignoring_case(place.scheme, SLICE("https"));
	host = place.host;
	if ((!*is_https && !text_equal_ignoring_case(place.scheme, SLICE("http"))) ||
	    host.size == 0)
		return false;
	/* libcurl would interpret other hosts in its own way. */
	if (host.data[0] == '[')
		return host.size > 2 && host.data[host.size - 1] == ']';
	for (size_t i = 0; i < host.size; i++) {
		if (strchr("[]!$&'()*+,;=", host.data[i]) != NULL)
			return false;
	}
	return true;
}

static void check_webhook_url(struct rule_context *context, const json_t *object)
{
	const struct slice text = text_of_json(json_object_get(object, "url"));
	bool is_https;

	if (text.data != NULL && !text_url_has_right_port(text))
		schema_fault(context, "/url", TEXT_PORT_SENTENCE);
	else if (text.data != NULL && !webhook_url_parse(text, &is_https))
		schema_fault(context, "/url", "must be an https URL without user info or fragment");
}

/* ---- the others ---- */

static void check_events(struct rule_context *context, const json_t *object)
{
	const json_t *events = json_object_get(object, "events"), *event;
	size_t i;

	json_array_foreach(events, i, event) {
		const struct slice type = text_of_json(event);

		if (type.data != NULL && !slice_is(type, "*") && !event_type_is_right(type))
			schema_fault(context, arena_text(rule_arena(context), "/events/%zu", i),
				     "must be an event type such as room.created, a prefix such as "
				     "room.*, or *");
	}
}

/* Returns true if Anteroom or HTTP sets this header. The name is in lower case. */
static bool is_own_header(struct slice name)
{
	static const char *const ours[] = {
		"host",	      "user-agent",	   "te",	 "trailer", "upgrade", "expect",
		"keep-alive", "transfer-encoding", "connection",
	};
	static const char *const beginnings[] = { "content-", "webhook-", "proxy-" };

	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
		if (slice_is(name, ours[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
		if (slice_begins(name, slice_of(beginnings[i])))
			return true;
	}
	return false;
}

static void check_headers(struct rule_context *context, const json_t *object)
{
	struct arena *arena = rule_arena(context);
	json_t *seen = arena_json(arena, json_object()), *value;
	const json_t *headers = json_object_get(object, "headers");
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)headers, key, value) {
		const struct slice name = text_lower(arena, slice_of(key));
		struct buffer pointer = BUFFER_INITIAL(arena);

		buffer_append_text(&pointer, "/headers");
		text_pointer(&pointer, slice_of(key));
		buffer_append_byte(&pointer, '\0');
		if (is_own_header(name))
			schema_fault(context, pointer.data,
				     "is a header that Anteroom sets itself");
		else if (json_object_getn(seen, name.data, name.size) != NULL)
			schema_fault(context, pointer.data, "repeats an earlier name");
		json_object_setn_new(seen, name.data, name.size, json_true());
	}
}

bool webhook_secret_bytes(struct arena *arena, struct slice text, struct slice *bytes)
{
	const struct slice prefix = SLICE(WEBHOOK_SECRET_PREFIX);

	if (!slice_begins(text, prefix))
		return false;
	text.data += prefix.size;
	text.size -= prefix.size;
	return text_base64_decode(arena, text, bytes) && bytes->size >= 24 && bytes->size <= 64;
}

static void check_secret(struct rule_context *context, const json_t *object)
{
	const struct slice text = text_of_json(json_object_get(object, "secret"));
	struct slice bytes;

	if (text.data != NULL && !webhook_secret_bytes(rule_arena(context), text, &bytes))
		schema_fault(context, "/secret", "%s", secret_of_webhook_text.sentence);
}
