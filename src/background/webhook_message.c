/* See background/webhook_message.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/webhook_message.h"

#include "base/digest.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "resources/events/events.h"
#include "records/record.h"

/* ---- choosing ---- */

bool webhook_wants(struct arena *arena, const struct webhook *webhook,
		   const struct audit_entry *entry)
{
	struct slice events = webhook->events;
	char id[ID_TEXT_SIZE + 1];
	bool wants = false;

	while (!wants && events.data != NULL)
		wants = event_type_matches(text_split(events, '\n', &events), entry->type);
	if (!wants || !slice_begins(entry->type, SLICE("webhook.")))
		return wants;
	/* No webhook gets the events about itself. If the data cannot be read, webhook_message
	 * reports it. */
	id_print(&webhook->id, id);
	return !slice_is(text_of_json(json_object_get(
				 json_text_read_stored(arena, entry->data, NULL), "id")),
			 id);
}

/* ---- the message ---- */

/* The types of events in rooms. Their bodies have members that the bodies of 100ms have. */
static bool is_live(struct slice type)
{
	static const char *const beginnings[] = { "session.", "peer.", "role.change.",
						  "room.end." };

	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
		if (slice_begins(type, slice_of(beginnings[i])))
			return true;
	}
	return false;
}

static struct slice message_body(struct arena *arena, const struct id *account,
				 const struct audit_entry *entry)
{
	const struct slice id = id_as_text(arena, account);
	struct json_writer text = writer_begin(arena, false);

	writer_plain(&text, "version", SLICE("2.0"));
	writer_text(&text, "id", entry->id);
	writer_plain(&text, "account_id", id);
	if (is_live(entry->type)) {
		/* If the data cannot be read, webhook_message reports it. */
		const json_t *data = json_text_read_stored(arena, entry->data, NULL);
		const struct slice template = text_of_json(json_object_get(data, "template_id"));

		writer_plain(&text, "app_id", id);
		if (template.data != NULL)
			writer_text(&text, "template_id", template);
	}
	writer_time_milliseconds(&text, "timestamp", entry->time);
	writer_text(&text, "type", entry->type);
	writer_json(&text, "data", entry->data);
	writer_integer(&text, "seq", (int64_t)entry->seq);
	writer_json(&text, "actor", entry->actor);
	return writer_end(&text);
}

static void append_signature(struct buffer *headers, struct slice secret, struct slice text)
{
	unsigned char mac[DIGEST_SIZE];

	digest_hmac_sha256(secret, text, mac);
	buffer_append_text(headers, " v1,");
	buffer_append(headers,
		      text_base64(headers->arena, (struct slice){ (const char *)mac, sizeof mac }));
}

bool webhook_message(struct arena *arena, const struct webhook *webhook, const struct id *account,
		     const struct audit_entry *entry, int64_t now, struct delivery *delivery,
		     struct fault *fault)
{
	const struct id number = audit_id_of(entry->seq);
	struct buffer headers = BUFFER_INITIAL(arena), text = BUFFER_INITIAL(arena);
	json_t *own = json_text_read_stored(arena, webhook->headers, NULL), *value;
	const char *name;

	*delivery = (struct delivery){
		.url = webhook->url,
		.body = message_body(arena, account, entry),
	};
	if (own == NULL)
		return record_damaged("webhook", &webhook->id, fault);
	if (json_text_read_stored(arena, delivery->body, NULL) == NULL)
		return record_damaged("event", &number, fault);
	buffer_append(&text, entry->id);
	buffer_append_byte(&text, '.');
	buffer_append_integer(&text, now / 1000);
	buffer_append_byte(&text, '.');
	buffer_append(&text, delivery->body);
	buffer_append_text(&headers, "content-type: application/json\nwebhook-id: ");
	buffer_append(&headers, entry->id);
	buffer_append_text(&headers, "\nwebhook-timestamp: ");
	buffer_append_integer(&headers, now / 1000);
	/* A signature for each valid secret. The signature of the current secret comes first. */
	buffer_append_text(&headers, "\nwebhook-signature:");
	append_signature(&headers, webhook->secret, buffer_slice(&text));
	for (size_t i = 0; i < webhook->former_count; i++) {
		if (webhook->former[i].until > now)
			append_signature(&headers, webhook->former[i].secret, buffer_slice(&text));
	}
	json_object_foreach(own, name, value) {
		buffer_append_byte(&headers, '\n');
		buffer_append_text(&headers, name);
		buffer_append_text(&headers, ": ");
		buffer_append(&headers, text_of_json(value));
	}
	delivery->headers = buffer_slice(&headers);
	return true;
}
