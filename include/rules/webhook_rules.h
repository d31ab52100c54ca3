/* Webhooks and their deliveries.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_WEBHOOK_RULES_H
#define RULES_WEBHOOK_RULES_H

#include "rules/text_rules.h"

extern const struct shape webhook_shape;
/* A webhook in a response. */
extern const struct shape shown_webhook_shape;
extern const struct shape webhook_test_shape;
extern const struct shape webhook_delivery_shape;
extern const struct shape delivery_list_query;

/* Maximum number of webhooks of an account. */
#define WEBHOOKS_MOST 20
/* Maximum number of old secrets that sign in addition to the current one. */
#define FORMER_SECRETS_MOST 8

#define DELIVERY_STATES "pending", "delivered", "failed"

/* Shown in place of the value of a header in a response. In a request, it keeps the stored
 * value. */
#define WEBHOOK_KEPT_VALUE "***"
/* The prefix of a secret, before its base64. */
#define WEBHOOK_SECRET_PREFIX "whsec_"
/* Bytes of a generated secret. */
#define WEBHOOK_SECRET_SIZE 32

/* Decodes a secret. Returns false if the text is not a secret of 24 to 64 bytes. */
bool webhook_secret_bytes(struct arena *arena, struct slice text, struct slice *bytes);

/* Returns false if the text is not a valid URL for a webhook. */
bool webhook_url_parse(struct slice text, bool *is_https);

#endif
