/* The stored records of webhooks. One record contains all webhooks of an account and their secrets.
 * Each webhook also has a record with its position in the event log, and a record for each delivery
 * with a failed attempt. The dispatcher (background/dispatcher.h) finds the accounts that have
 * webhooks by records that belong to no account, one for each such account.
 *
 * Enabling a webhook begins a new series; positions and deliveries of an earlier series are
 * obsolete.
 *
 * All functions work on the transaction's account and allocate from its arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_WEBHOOK_RECORD_H
#define RESOURCES_STORED_WEBHOOK_RECORD_H

#include "records/record.h"
#include "resources/audit_record.h"
#include "rules/webhook_rules.h"
#include "store/store.h"

/* Milliseconds for which a previous secret signs in addition to the current one. */
#define FORMER_SECRET_LASTS ((int64_t)24 * 60 * 60 * 1000)

/* Stored in records: a number never gets another meaning. */
enum webhook_end { WEBHOOK_NOT_ENDED, WEBHOOK_GONE, WEBHOOK_FAILING };
/* The values of disabled_reason; "" for WEBHOOK_NOT_ENDED. */
extern const char *const webhook_ends[WEBHOOK_FAILING + 1];

/* Slices are borrowed: from the stored value, or from the writer. */
struct former_secret {
	int64_t until; /* milliseconds since 1970 */
	struct slice secret; /* bytes */
};

struct webhook {
	struct id id;
	bool is_enabled;
	enum webhook_end end; /* why it was disabled automatically */
	uint64_t series;
	int64_t created, updated; /* milliseconds since 1970 */
	struct slice url, description;
	struct slice events; /* lines */
	struct slice headers; /* JSON text */
	struct slice secret; /* bytes */
	struct former_secret former[FORMER_SECRETS_MOST]; /* the latest first */
	size_t former_count;
};

struct webhooks {
	struct store_record stored; /* as it was read; value.data NULL if it is new */
	uint64_t last; /* number in the id of the last created webhook */
	struct webhook *items; /* oldest first, with room for one more */
	size_t count;
};

extern const struct record_table webhooks_table;
bool webhooks_load(struct transaction *transaction, enum store_reading reading,
		   struct webhooks *webhooks, struct fault *fault);
/* Also notifies the dispatcher of the change. */
bool webhooks_put(struct transaction *transaction, const struct webhooks *webhooks,
		  struct fault *fault);
/* Returns NULL if there is no such webhook. */
struct webhook *webhook_find(const struct webhooks *webhooks, const struct id *id);
void webhook_remove(struct webhooks *webhooks, const struct webhook *webhook);

/* ---- accounts that have or had webhooks; these records belong to no account ---- */

/* An account, with a number that differs after each change of its webhooks. */
struct webhook_account {
	struct store_record stored; /* as it was read */
	struct id id;
	uint64_t change;
};
/* The `change` of an account whose record is damaged: later changes of its webhooks cannot be
 * noticed. */
#define WEBHOOK_CHANGE_UNKNOWN UINT64_MAX
/* Reads at most `most` accounts in the order of their ids, after `after` (NULL: from the first). */
bool webhook_accounts(struct transaction *transaction, const struct id *after, size_t most,
		      struct webhook_account *accounts, size_t *n, bool *is_last,
		      struct fault *fault);
extern const struct record_table webhook_account_table;
/* Removes the record of an account that is being removed. */
bool webhook_account_remove(struct transaction *transaction, struct fault *fault);

/* ---- the position ---- */

struct webhook_position {
	struct store_record stored; /* value.data NULL if there is none */
	uint64_t series;
	uint64_t seq; /* events up to it are delivered, not wanted, or failed deliveries */
	int64_t delivered; /* time of the last delivery, milliseconds since 1970; 0 if none */
};

extern const struct record_table webhook_position_table;
bool webhook_position_load(struct transaction *transaction, const struct id *webhook,
			   enum store_reading reading, struct webhook_position *position,
			   struct fault *fault);
bool webhook_position_put(struct transaction *transaction, const struct webhook_position *position,
			  struct fault *fault);
/* Sets the position to the end of the event log. */
bool webhook_position_begin(struct transaction *transaction, const struct webhook *webhook,
			    struct fault *fault);

/* ---- deliveries with a failed attempt ---- */

/* Stored in records: a number never gets another meaning. */
enum delivery_state {
	DELIVERY_PENDING,
	DELIVERY_DELIVERED,
	DELIVERY_FAILED,
	DELIVERY_ONCE /* pending for one attempt that a client asked for */
};

struct webhook_delivery {
	struct store_record stored; /* if it is new: only id and parent, the webhook */
	enum delivery_state state;
	bool is_pending; /* the switch; webhook_delivery_put sets it */
	uint64_t series;
	uint64_t seq; /* of the event */
	struct slice event_id, type; /* of the event */
	uint32_t attempts;
	int status; /* of the last response; 0 if none */
	struct slice error; /* empty if a complete response was received */
	int64_t first; /* time of the first attempt, milliseconds since 1970 */
	int64_t next; /* time of the next attempt, while it is pending */
};

extern const struct record_table webhook_delivery_table;
/* True if the delivery is to be sent. */
bool webhook_delivery_is_pending(const struct webhook_delivery *delivery);
bool webhook_delivery_read(const struct store_record *stored, struct webhook_delivery *delivery,
			   struct fault *fault);
/* Draws an id for a new delivery. */
bool webhook_delivery_new_id(struct transaction *transaction, const struct clock *clock,
			     struct id *id, struct fault *fault);
bool webhook_delivery_put(struct transaction *transaction, const struct webhook_delivery *delivery,
			  struct fault *fault);

#endif
