/* Handlers of webhooks (resources/events/webhook_record.h). Secrets are answered only by the call
 * that set them, values of headers never.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_EVENTS_WEBHOOKS_H
#define RESOURCES_EVENTS_WEBHOOKS_H

#include "resources/call.h"
#include "resources/events/webhook_record.h"

bool webhooks_create(struct call *call, struct fault *fault);
bool webhooks_list(struct call *call, struct fault *fault);
bool webhooks_get(struct call *call, struct fault *fault);
bool webhooks_replace(struct call *call, struct fault *fault);
bool webhooks_patch(struct call *call, struct fault *fault);
bool webhooks_delete(struct call *call, struct fault *fault);
bool webhooks_rotate(struct call *call, struct fault *fault);
bool webhooks_send_test(struct call *call, struct fault *fault);
bool webhook_deliveries_list(struct call *call, struct fault *fault);

/* The check of their bodies: a URL of http is refused where the service does not allow it. */
bool webhooks_check(struct call *call, json_t *body, bool is_strict, struct fault *fault);

/* A webhook as it could be sent, with the values of its headers, without its secret. */
json_t *webhook_document(struct call *call, const struct webhook *webhook);
/* Sets what a document says; former: what is stored, or NULL. What is wrong is a finding. */
bool webhook_set(struct call *call, struct webhook *webhook, const struct webhook *former,
		 const json_t *document, struct fault *fault);
/* A secret as it is answered. */
const char *webhook_secret_text(struct arena *arena, struct slice secret);

/* A webhook.test, to be sent to the webhook (call->run.test). */
struct webhook_test {
	struct webhook webhook;
	char event_id[UUID_TEXT_SIZE];
	int64_t time; /* milliseconds */
	struct slice actor; /* JSON text */
};

/* What the service switches off by itself: notes it as a change of the service's. entry: without
 * number; in the arena. */
void webhook_end_entry(struct arena *arena, const struct clock *clock,
		       const struct webhook *webhook, int64_t now, struct audit_entry *entry);

#endif
