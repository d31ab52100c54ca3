/* Handlers of webhooks (resources/stored/webhook_record.h). A response contains a secret only if
 * its request set it, and never the values of headers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_EVENTS_WEBHOOKS_H
#define RESOURCES_EVENTS_WEBHOOKS_H

#include "resources/reads.h"
#include "resources/stored/webhook_record.h"

extern const struct loading load_webhooks; /* all of them, as call->webhooks */
extern const struct loading load_webhook; /* the webhook of the path, as call->webhook, too */

handler webhooks_create;
handler webhooks_list;
handler webhooks_get;
handler webhooks_replace;
handler webhooks_patch;
handler webhooks_delete;
handler webhooks_rotate;
handler webhooks_send_test;
handler webhook_deliveries_list;
extern const struct loading load_deliveries; /* its first page */
/* Has a delivery sent again: the dispatcher reads it anew, because the webhooks change. */
handler webhook_deliveries_retry;

/* Checks a body: rejects an http URL if the service does not allow http. */
bool webhooks_check(struct call *call, json_t *body, bool is_strict, struct fault *fault);

/* Returns a webhook as it could be sent, with the values of its headers but without its secret. */
json_t *webhook_document(struct call *call, const struct webhook *webhook);

/* A webhook.test event, to be sent to the webhook (call->run.test). */
struct webhook_test {
	struct webhook webhook;
	char event_id[UUID_TEXT_SIZE];
	int64_t time; /* milliseconds since 1970 */
	struct slice actor; /* JSON text */
};

/* Makes the event for a webhook that the service disables automatically; its actor is the service.
 * entry: in the arena, without a number. */
void webhook_end_entry(struct arena *arena, const struct clock *clock,
		       const struct webhook *webhook, int64_t now, struct audit_entry *entry);

#endif
