/* What is sent to a webhook: an event in the envelope of 100ms, which is also that of Standard
 * Webhooks 1.0.0, and signed as it says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_WEBHOOK_MESSAGE_H
#define BACKGROUND_WEBHOOK_MESSAGE_H

#include "delivery/sender.h"
#include "resources/stored/webhook_record.h"

/* Returns whether the webhook wants the event: its `events` match, and the event is not about the
 * webhook itself. */
bool webhook_wants(struct arena *arena, const struct webhook *webhook,
		   const struct audit_entry *entry);

/* Makes the delivery of an event. now: the time of the attempt, in milliseconds. *delivery is in
 * the arena or borrowed. FAULT_DAMAGED if the event or the webhook's headers are not JSON; then
 * there is no delivery. */
bool webhook_message(struct arena *arena, const struct webhook *webhook, const struct id *account,
		     const struct audit_entry *entry, int64_t now, struct delivery *delivery,
		     struct fault *fault);

#endif
