/* What all calls share. Const after the start, except the objects that their modules guard.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ENVIRONMENT_H
#define RESOURCES_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/slice.h"
#include "store/store.h"

struct environment {
	const struct clock *clock;
	struct store *store;
	struct accounts *accounts;
	struct token_memory *tokens; /* verified ones (accounts/token.h), or NULL */
	struct misses *misses; /* the budget of unknown codes (resources/joining/misses.h) */
	struct metrics *metrics; /* of requests (service/metrics.h), or NULL */
	/* Of Idempotency-Keys (resources/retries/kept_usage.h), or NULL. */
	struct kept_usage *kept_usage;
	struct join_log *joins; /* entries of joins (background/join_log.h), or NULL */
	int64_t join_seconds; /* how long a token for joining is valid */
	int64_t signing_key_age; /* seconds after which a signing key may sign */
	int64_t log_keep; /* milliseconds for which log entries are kept; 0: for ever */
	int64_t session_seconds; /* how long a session is valid */
	const char *public_url; /* where the service is reached; NULL: as each request says */
	const char *client_url; /* of accounts that have none (accounts/client_url.h); NULL: none */
	bool allows_http; /* webhooks may have a URL of http */
	struct dispatcher *dispatcher; /* of webhooks (background/dispatcher.h), or NULL */
	const struct router *router; /* made by service_open, as the document */
	struct slice document; /* OpenAPI */
	uint64_t document_etag;
	/* run_account_mark (service/run.h) of the account whose call of a route that is_alone is
	 * under way; 0: none is. */
	const _Atomic uint64_t *alone;
};

#endif
