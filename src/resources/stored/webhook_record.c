/* See resources/stored/webhook_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/webhook_record.h"

#include "records/kinds.h"
#include "records/record.h"

#define TEXT_MOST ((int64_t)64 << 10)

const char *const webhook_ends[] = {
	[WEBHOOK_NOT_ENDED] = "",
	[WEBHOOK_GONE] = "gone",
	[WEBHOOK_FAILING] = "failing",
};

/* ---- webhooks ---- */

/* Texts obey rules/webhook_rules.h, which the check of the records verifies again. */
static const struct member former_members[] = {
	{ "until", AS_TIME, AT(struct former_secret, until) },
	{ "secret", AS_BYTES(64), AT(struct former_secret, secret) },
};
static const struct record_table former_table = { ITEMS(struct former_secret, former_members) };

static const struct member webhook_members[] = {
	{ "id", AS_ID, AT(struct webhook, id) },
	{ "enabled", AS_BOOLEAN, AT(struct webhook, is_enabled) },
	{ "end", AS_CHOICE(WEBHOOK_FAILING, webhook_ends), AT(struct webhook, end) },
	{ "series", AS_NUMBER(8, 1, UNLIMITED), AT(struct webhook, series) },
	{ "created_at", AS_TIME, AT(struct webhook, created) },
	{ "updated_at", AS_TIME, AT(struct webhook, updated) },
	{ "url", AS_TEXT(1, TEXT_MOST), AT(struct webhook, url) },
	{ "description", AS_TEXT(0, TEXT_MOST), AT(struct webhook, description) },
	{ "events", AS_TEXT(0, TEXT_MOST), AT(struct webhook, events) },
	{ "headers", AS_JSON(TEXT_MOST), AT(struct webhook, headers) },
	{ "secret", AS_BYTES(64), AT(struct webhook, secret) },
	{ "former_secrets",
	  AS_ARRAY(struct webhook, former_count, FORMER_SECRETS_MOST, former_table),
	  AT(struct webhook, former) },
};
static const struct record_table webhook_table = { ITEMS(struct webhook, webhook_members) };

static const struct member webhooks_members[] = {
	{ "last", AS_NUMBER(8, 0, ID_NUMBER_MAX), AT(struct webhooks, last) },
	{ "webhooks", AS_LIST(struct webhooks, count, WEBHOOKS_MOST, webhook_table),
	  AT(struct webhooks, items) },
};
const struct record_table webhooks_table = {
	RECORD(struct webhooks, webhooks_members, 0, &kind_webhooks),
};

bool webhooks_load(struct transaction *transaction, enum store_reading reading,
		   struct webhooks *webhooks, struct fault *fault)
{
	return record_get(&webhooks_table, transaction, &kind_only_id, reading, webhooks, fault);
}

struct webhook *webhook_find(const struct webhooks *webhooks, const struct id *id)
{
	for (size_t i = 0; i < webhooks->count; i++) {
		if (id_compare(&webhooks->items[i].id, id) == 0)
			return &webhooks->items[i];
	}
	return NULL;
}

void webhook_remove(struct webhooks *webhooks, const struct webhook *webhook)
{
	const size_t i = (size_t)(webhook - webhooks->items);

	webhooks->count--;
	memmove(&webhooks->items[i], &webhooks->items[i + 1],
		(webhooks->count - i) * sizeof *webhooks->items);
}

/* ---- accounts with webhooks ---- */

static const struct member account_members[] = {
	{ "id", AS_KEY, AT(struct webhook_account, id) },
	{ "change", AS_NUMBER(8, 0, UNLIMITED), AT(struct webhook_account, change) },
};
const struct record_table webhook_account_table = {
	RECORD(struct webhook_account, account_members, 1, &kind_webhook_account),
};

bool webhook_accounts(struct transaction *transaction, const struct id *after, size_t most,
		      struct webhook_account *accounts, size_t *n, bool *is_last,
		      struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.above = after,
		.records = arena_alloc(transaction->arena, most * sizeof *page.records),
		.most = most,
	};

	struct fault damage = FAULT_INITIAL;

	store_set_account(transaction, &audit_no_account);
	if (!store_page(transaction, &kind_webhook_account, &page, &damage) &&
	    (damage.kind != FAULT_DAMAGED || id_compare(&page.damaged, &audit_no_account) == 0)) {
		*fault = damage;
		return false;
	}
	*is_last = page.is_last;
	*n = page.count;
	for (size_t i = 0; i < page.count; i++) {
		struct fault own = FAULT_INITIAL;

		if (!record_read(&webhook_account_table, NULL, &page.records[i], &accounts[i],
				 &own))
			accounts[i].change = WEBHOOK_CHANGE_UNKNOWN;
	}
	if (damage.kind == FAULT_DAMAGED)
		accounts[(*n)++] = (struct webhook_account){
			.id = page.damaged,
			.change = WEBHOOK_CHANGE_UNKNOWN,
		};
	return true;
}

/* Keeps the record when the last webhook is deleted, so that its number never repeats. */
static bool put_account(struct transaction *transaction, bool is_there, struct fault *fault)
{
	const struct id id = transaction->account;
	struct webhook_account account;
	bool is_done;

	store_set_account(transaction, &audit_no_account);
	is_done = record_get(&webhook_account_table, transaction, &id, STORE_TO_CHANGE, &account,
			     fault);
	account.change++;
	if (is_done && is_there)
		is_done = record_put(&webhook_account_table, transaction, &account, fault);
	else if (is_done && account.stored.value.data != NULL)
		is_done = store_remove(transaction, &kind_webhook_account, &account.stored, fault);
	store_set_account(transaction, &id);
	return is_done;
}

bool webhooks_put(struct transaction *transaction, const struct webhooks *webhooks,
		  struct fault *fault)
{
	return record_put(&webhooks_table, transaction, webhooks, fault) &&
	       put_account(transaction, true, fault);
}

bool webhook_account_remove(struct transaction *transaction, struct fault *fault)
{
	return put_account(transaction, false, fault);
}

/* ---- the position ---- */

static const struct member position_members[] = {
	{ "id", AS_KEY_OF(webhooks, DIES, ITEM_OF(webhooks)),
	  AT(struct webhook_position, stored.id) },
	{ "series", AS_NUMBER(8, 1, UNLIMITED), AT(struct webhook_position, series) },
	{ "seq", AS_NUMBER(8, 0, UNLIMITED), AT(struct webhook_position, seq) },
	{ "delivered_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct webhook_position, delivered) },
};
const struct record_table webhook_position_table = {
	RECORD(struct webhook_position, position_members, 1, &kind_webhook_position),
};

bool webhook_position_load(struct transaction *transaction, const struct id *webhook,
			   enum store_reading reading, struct webhook_position *position,
			   struct fault *fault)
{
	return record_get(&webhook_position_table, transaction, webhook, reading, position, fault);
}

bool webhook_position_put(struct transaction *transaction, const struct webhook_position *position,
			  struct fault *fault)
{
	return record_put(&webhook_position_table, transaction, position, fault);
}

bool webhook_position_begin(struct transaction *transaction, const struct webhook *webhook,
			    struct fault *fault)
{
	struct webhook_position position;
	struct audit_state state;

	if (!audit_state_load(transaction, STORE_TO_SHOW, &state, fault) ||
	    !webhook_position_load(transaction, &webhook->id, STORE_TO_CHANGE, &position, fault))
		return false;
	position.series = webhook->series;
	position.seq = state.last;
	return webhook_position_put(transaction, &position, fault);
}

/* ---- deliveries ---- */

static const char *const delivery_states[] = {
	[DELIVERY_PENDING] = "pending",
	[DELIVERY_DELIVERED] = "delivered",
	[DELIVERY_FAILED] = "failed",
	[DELIVERY_ONCE] = "once",
};

static const struct member delivery_members[] = {
	{ "id", AS_KEY, AT(struct webhook_delivery, stored.id) },
	{ "webhook", AS_PARENT_OF(webhooks, DIES, ITEM_OF(webhooks)),
	  AT(struct webhook_delivery, stored.parent) },
	{ "pending", AS_SWITCH, AT(struct webhook_delivery, is_pending) },
	{ "state", AS_CHOICE(DELIVERY_ONCE, delivery_states), AT(struct webhook_delivery, state) },
	{ "series", AS_NUMBER(8, 1, UNLIMITED), AT(struct webhook_delivery, series) },
	{ "seq", AS_NUMBER(8, 1, UNLIMITED), AT(struct webhook_delivery, seq) },
	{ "event_id", AS_TEXT(0, TEXT_MOST), AT(struct webhook_delivery, event_id) },
	{ "type", AS_TEXT(1, TEXT_MOST), AT(struct webhook_delivery, type) },
	{ "attempts", AS_NUMBER(4, 0, UINT32_MAX), AT(struct webhook_delivery, attempts) },
	{ "status", AS_NUMBER(2, 0, UINT16_MAX), AT(struct webhook_delivery, status) },
	{ "error", AS_TEXT(0, TEXT_MOST), AT(struct webhook_delivery, error) },
	{ "first_at", AS_TIME, AT(struct webhook_delivery, first) },
	{ "next_at", AS_TIME, AT(struct webhook_delivery, next) },
};
const struct record_table webhook_delivery_table = {
	RECORD(struct webhook_delivery, delivery_members, 3, &kind_webhook_delivery),
};

bool webhook_delivery_is_pending(const struct webhook_delivery *delivery)
{
	return delivery->state == DELIVERY_PENDING || delivery->state == DELIVERY_ONCE;
}

bool webhook_delivery_read(const struct store_record *stored, struct webhook_delivery *delivery,
			   struct fault *fault)
{
	return record_read(&webhook_delivery_table, NULL, stored, delivery, fault);
}

bool webhook_delivery_put(struct transaction *transaction, const struct webhook_delivery *delivery,
			  struct fault *fault)
{
	struct webhook_delivery put = *delivery;

	put.is_pending = webhook_delivery_is_pending(delivery);
	return record_put(&webhook_delivery_table, transaction, &put, fault);
}

bool webhook_delivery_new_id(struct transaction *transaction, const struct clock *clock,
			     struct id *id, struct fault *fault)
{
	int64_t now = clock_now(clock);

	return store_new_id(transaction, &kind_webhook_delivery, clock, &now, id, fault);
}
