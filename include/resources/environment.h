/* Everything that calls share. It is const after the start, except for objects whose own modules
 * synchronise access.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ENVIRONMENT_H
#define RESOURCES_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/slice.h"
#include "store/store.h"

/* What the service does with rooms in session at media servers. */
enum live_mode {
	LIVE_OFF, /* nothing */
	LIVE_WATCH, /* records who is in them, and changes nothing there */
	LIVE_ON
};

struct environment {
	const struct clock *clock;
	struct store *store;
	struct accounts *accounts;
	struct token_memory *tokens; /* verified tokens (accounts/token.h), or NULL */
	struct misses *misses; /* the budget for unknown codes (resources/misses.h) */
	struct door_polls *door_polls; /* who waits (resources/door/door_polls.h) */
	struct metrics *metrics; /* of requests (service/metrics.h), or NULL */
	struct history *history; /* the last 24 hours (service/history.h), or NULL */
	/* The use of Idempotency-Keys (resources/retries/kept_usage.h), or NULL. */
	struct kept_usage *kept_usage;
	struct join_log *joins; /* events of joins (background/join_log.h), or NULL */
	int64_t join_seconds; /* how long a join token is valid */
	int64_t signing_key_age; /* seconds after which a signing key may sign */
	int64_t log_keep; /* milliseconds that events are kept; 0 for ever */
	int64_t session_seconds; /* lifetime of a browser session */
	enum live_mode live;
	int64_t session_grace; /* milliseconds that the session of an empty room stays open */
	int64_t session_keep; /* milliseconds that the session of a room is kept once it is closed */
	const char *public_url; /* URL of the service; NULL to take it from each request */
	const char *client_url; /* default for accounts (accounts/client_url.h), or NULL */
	bool allows_http; /* webhooks may have http URLs */
	bool uploads_in_clear; /* there are addresses to which recordings may go by http */
	struct dispatcher *dispatcher; /* of webhooks (background/dispatcher.h), or NULL */
	struct media_client *media_client; /* background/media_client.h; NULL: cannot ask */
	struct live_queue
		*live_queue; /* resources/live/live_queue.h; NULL if nobody takes from it */
	/* Rooms that were made at media servers (resources/live/server_rooms.h), or NULL. */
	struct server_rooms *server_rooms;
	struct placements *placements; /* resources/media/placing.h; NULL: none are remembered */
	/* Media servers that people cannot reach (resources/media/failures.h), or NULL. */
	struct failures *failures;
	struct stay_limits *stay_limits; /* resources/live/stay_limits.h; NULL: no limit */
	struct live_watch *live_watch; /* background/live_watch.h; NULL with LIVE_OFF */
	/* The folder of recordings (resources/recordings/job_merge.h); NULL: none, and the times
	 * are the usual ones. */
	const struct recordings *recordings;
	uint32_t recordings_keep; /* days for which their files are kept; 0: for ever */
	struct recorders *recorders; /* resources/recordings/recorders.h; NULL: as stored */
	int64_t started; /* milliseconds since 1970; set by service_open, like the next members */
	const struct router *router;
	struct openapi *openapi; /* service/openapi.h */
	/* run_account_mark (service/run.h) of the account for which a call of an is_alone route is
	 * running; 0 if no such call is running. */
	const _Atomic uint64_t *alone;
};

#endif
