/* Webhooks and their deliveries.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_WEBHOOK_RULES_H
#define RULES_WEBHOOK_RULES_H

#include "rules/text_rules.h"

extern const struct shape webhook_shape;
/* As it is answered. */
extern const struct shape shown_webhook_shape;
extern const struct shape webhook_test_shape;
extern const struct shape webhook_delivery_shape;
extern const struct shape delivery_list_query;

/* Of an account. */
#define WEBHOOKS_MOST 20
/* Secrets of a webhook that sign besides the present one. */
#define FORMER_SECRETS_MOST 8

#define DELIVERY_STATES "pending", "delivered", "failed"

/* What an answer shows in place of the value of a header; in a body: the value stays. */
#define WEBHOOK_KEPT_VALUE "***"
/* Where a secret begins, before its base64. */
#define WEBHOOK_SECRET_PREFIX "whsec_"
/* Its size in bytes, when it is made. */
#define WEBHOOK_SECRET_SIZE 32

/* The bytes of a secret as it is sent; false: it is none. */
bool webhook_secret_bytes(struct arena *arena, struct slice text, struct slice *bytes);

/* False: it is no URL for a webhook. */
bool webhook_url_parse(struct slice text, bool *is_https);

#endif
