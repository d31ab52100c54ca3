/* The stored records of webhooks. An account has one record with all its webhooks and their
 * secrets. A webhook has a record with its position, how far it is in the log, and one for each
 * delivery of which an attempt failed. The dispatcher (background/dispatcher.h) finds the accounts
 * that have webhooks by records that belong to no account, one for each.
 *
 * Each time a webhook is switched on it begins a new series: positions and deliveries of an earlier
 * one count no more.
 *
 * All functions are of the transaction's account and allocate from its arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_EVENTS_WEBHOOK_RECORD_H
#define RESOURCES_EVENTS_WEBHOOK_RECORD_H

#include "records/record.h"
#include "resources/events/audit_record.h"
#include "rules/webhook_rules.h"
#include "store/store.h"

/* Milliseconds for which a former secret signs besides the present one. */
#define FORMER_SECRET_LASTS ((int64_t)24 * 60 * 60 * 1000)

/* In stored records: a number never gets another meaning. */
enum webhook_end { WEBHOOK_NOT_ENDED, WEBHOOK_GONE, WEBHOOK_FAILING };
/* What disabled_reason says; "": not ended. */
extern const char *const webhook_ends[WEBHOOK_FAILING + 1];

/* Slices are borrowed: from the stored value, or from the writer. */
struct former_secret {
	int64_t until; /* milliseconds */
	struct slice secret; /* bytes */
};

struct webhook {
	struct id id;
	bool is_enabled;
	enum webhook_end end; /* why it was switched off by itself */
	uint64_t series;
	int64_t created, updated; /* milliseconds */
	struct slice url, description;
	struct slice events; /* lines */
	struct slice headers; /* JSON text */
	struct slice secret; /* bytes */
	struct former_secret former[FORMER_SECRETS_MOST]; /* the latest first */
	size_t former_count;
};

struct webhooks {
	struct store_record stored; /* as it was read; value.data NULL: a new one */
	uint64_t last; /* the number in the id of the last one that was made */
	struct webhook *items; /* the oldest first, with room for one more */
	size_t count;
};

extern const struct record_table webhooks_table;
bool webhooks_load(struct transaction *transaction, enum store_reading reading,
		   struct webhooks *webhooks, struct fault *fault);
/* Also tells the dispatcher that there is a change. */
bool webhooks_put(struct transaction *transaction, const struct webhooks *webhooks,
		  struct fault *fault);
/* NULL: there is none. */
struct webhook *webhook_find(const struct webhooks *webhooks, const struct id *id);
void webhook_remove(struct webhooks *webhooks, const struct webhook *webhook);

/* ---- accounts that have, or had, webhooks: records of no account ---- */

/* `n` accounts, in the order of their ids, after `after` (NULL: from the first one), each with a
 * number that differs after each change of its webhooks. */
struct webhook_account {
	struct store_record stored; /* as it was read */
	struct id id;
	uint64_t change;
};
/* The `change` of an account whose record is damaged: later changes of its webhooks are not
 * seen. */
#define WEBHOOK_CHANGE_UNKNOWN UINT64_MAX
bool webhook_accounts(struct transaction *transaction, const struct id *after, size_t most,
		      struct webhook_account *accounts, size_t *n, bool *is_last,
		      struct fault *fault);
extern const struct record_table webhook_account_table;
/* The account is removed. */
bool webhook_account_remove(struct transaction *transaction, struct fault *fault);

/* ---- the position ---- */

struct webhook_position {
	struct store_record stored; /* value.data NULL: there is none */
	uint64_t series;
	uint64_t seq; /* entries up to it are delivered, not wanted, or deliveries that failed */
	int64_t delivered; /* when the last one was delivered, in milliseconds; 0: never */
};

extern const struct record_table webhook_position_table;
bool webhook_position_load(struct transaction *transaction, const struct id *webhook,
			   enum store_reading reading, struct webhook_position *position,
			   struct fault *fault);
bool webhook_position_put(struct transaction *transaction, const struct webhook_position *position,
			  struct fault *fault);
/* Sets the position to the end of the log. */
bool webhook_position_begin(struct transaction *transaction, const struct webhook *webhook,
			    struct fault *fault);

/* ---- deliveries of which an attempt failed ---- */

/* In stored records: a number never gets another meaning. */
enum delivery_state { DELIVERY_PENDING, DELIVERY_DELIVERED, DELIVERY_FAILED };

struct webhook_delivery {
	struct store_record stored; /* of a new one id and parent, the webhook, alone */
	enum delivery_state state;
	bool is_pending; /* the switch; webhook_delivery_put sets it */
	uint64_t series;
	uint64_t seq; /* of the entry */
	struct slice event_id, type; /* of the entry */
	uint32_t attempts;
	int status; /* of the last answer; 0: there was none */
	struct slice error; /* empty: there was a whole answer */
	int64_t first; /* when the first attempt was made, in milliseconds */
	int64_t next; /* when the next one is to be made, while it is pending */
};

extern const struct record_table webhook_delivery_table;
bool webhook_delivery_read(const struct store_record *stored, struct webhook_delivery *delivery,
			   struct fault *fault);
/* An id for a new one. */
bool webhook_delivery_new_id(struct transaction *transaction, const struct clock *clock,
			     struct id *id, struct fault *fault);
bool webhook_delivery_put(struct transaction *transaction, const struct webhook_delivery *delivery,
			  struct fault *fault);

#endif
