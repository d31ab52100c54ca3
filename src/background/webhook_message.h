/* What is sent to a webhook: an entry of the log in the envelope of the public service, which is
 * that of Standard Webhooks 1.0.0 too, and signed by it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_WEBHOOK_MESSAGE_H
#define BACKGROUND_WEBHOOK_MESSAGE_H

#include "delivery/sender.h"
#include "resources/events/webhook_record.h"

/* Whether the webhook wants the entry: by its `events`, and not one about itself. */
bool webhook_wants(struct arena *arena, const struct webhook *webhook,
		   const struct audit_entry *entry);

/* now: milliseconds, of the attempt. *delivery is in the arena or borrowed. FAULT_DAMAGED when the
 * entry or the webhook's headers are not JSON; then there is no delivery. */
bool webhook_message(struct arena *arena, const struct webhook *webhook, const struct id *account,
		     const struct audit_entry *entry, int64_t now, struct delivery *delivery,
		     struct fault *fault);

#endif
