/* See resources/events/webhook_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/events/webhook_record.h"

#include "resources/kinds.h"
#include "resources/packed.h"

#define VERSION 1

const char *const webhook_ends[] = {
	[WEBHOOK_NOT_ENDED] = "",
	[WEBHOOK_GONE] = "gone",
	[WEBHOOK_FAILING] = "failing",
};

/* ---- webhooks ---- */

static void put_webhook(struct buffer *value, const struct webhook *webhook)
{
	packed_put_id(value, &webhook->id);
	packed_put_number(value, webhook->is_enabled, 1);
	packed_put_number(value, webhook->end, 1);
	packed_put_number(value, webhook->series, 8);
	packed_put_number(value, (uint64_t)webhook->created, 8);
	packed_put_number(value, (uint64_t)webhook->updated, 8);
	packed_put_text(value, webhook->url);
	packed_put_text(value, webhook->description);
	packed_put_text(value, webhook->events);
	packed_put_text(value, webhook->headers);
	packed_put_text(value, webhook->secret);
	packed_put_number(value, webhook->former_count, 1);
	for (size_t i = 0; i < webhook->former_count; i++) {
		packed_put_number(value, (uint64_t)webhook->former[i].until, 8);
		packed_put_text(value, webhook->former[i].secret);
	}
}

static void take_webhook(struct packed *reader, struct webhook *webhook)
{
	uint64_t end, former;

	*webhook = (struct webhook){ .id = packed_id(reader) };
	webhook->is_enabled = packed_number(reader, 1) != 0;
	end = packed_number(reader, 1);
	webhook->end = (enum webhook_end)end;
	webhook->series = packed_number(reader, 8);
	webhook->created = (int64_t)packed_number(reader, 8);
	webhook->updated = (int64_t)packed_number(reader, 8);
	webhook->url = packed_text(reader);
	webhook->description = packed_text(reader);
	webhook->events = packed_text(reader);
	webhook->headers = packed_text(reader);
	webhook->secret = packed_text(reader);
	former = packed_number(reader, 1);
	if (end > WEBHOOK_FAILING || former > FORMER_SECRETS_MOST)
		reader->is_short = true;
	for (size_t i = 0; i < former && !reader->is_short; i++) {
		webhook->former[i].until = (int64_t)packed_number(reader, 8);
		webhook->former[i].secret = packed_text(reader);
	}
	webhook->former_count = former;
}

bool webhooks_read(struct arena *arena, const struct store_record *stored,
		   struct webhooks *webhooks, struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);

	*webhooks = (struct webhooks){ .stored = *stored };
	if (stored->value.data == NULL) {
		webhooks->items = arena_alloc(arena, sizeof *webhooks->items);
		return true;
	}
	webhooks->last = packed_number(&reader, 8);
	webhooks->count = packed_number(&reader, 1);
	webhooks->items = arena_alloc(arena, (webhooks->count + 1) * sizeof *webhooks->items);
	for (size_t i = 0; i < webhooks->count; i++)
		take_webhook(&reader, &webhooks->items[i]);
	return packed_close(&reader, "webhooks", &stored->account, fault);
}

bool webhooks_load(struct transaction *transaction, enum store_reading reading,
		   struct webhooks *webhooks, struct fault *fault)
{
	struct store_record stored;

	return store_get(transaction, &kind_webhooks, &kind_only_id, reading, &stored, fault) &&
	       webhooks_read(transaction->arena, &stored, webhooks, fault);
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

bool webhook_account_read(const struct store_record *stored, struct webhook_account *account,
			  struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);

	*account = (struct webhook_account){ stored->id, packed_number(&reader, 8) };
	return packed_close(&reader, "account with webhooks", &stored->id, fault);
}

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

		if (!webhook_account_read(&page.records[i], &accounts[i], &own))
			accounts[i].change = WEBHOOK_CHANGE_UNKNOWN;
	}
	if (damage.kind == FAULT_DAMAGED)
		accounts[(*n)++] = (struct webhook_account){ page.damaged, WEBHOOK_CHANGE_UNKNOWN };
	return true;
}

/* The record stays when the last webhook goes, so that its number never repeats. */
static bool put_account(struct transaction *transaction, bool is_there, struct fault *fault)
{
	const struct id account = transaction->account;
	struct buffer value = BUFFER_INITIAL(transaction->arena);
	struct webhook_account former = { .change = 0 };
	struct store_record stored, record = { .id = account };
	bool is_done;

	store_set_account(transaction, &audit_no_account);
	is_done = store_get(transaction, &kind_webhook_account, &account, STORE_TO_CHANGE, &stored,
			    fault) &&
		  (stored.value.data == NULL || webhook_account_read(&stored, &former, fault));
	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, former.change + 1, 8);
	if (is_done && is_there)
		is_done = packed_store(transaction, &kind_webhook_account, &record, &value, &stored,
				       fault);
	else if (is_done && stored.value.data != NULL)
		is_done = store_remove(transaction, &kind_webhook_account, &stored, fault);
	store_set_account(transaction, &account);
	return is_done;
}

bool webhooks_put(struct transaction *transaction, const struct webhooks *webhooks,
		  struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(transaction->arena);
	struct store_record record = { .id = kind_only_id };

	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, webhooks->last, 8);
	packed_put_number(&value, webhooks->count, 1);
	for (size_t i = 0; i < webhooks->count; i++)
		put_webhook(&value, &webhooks->items[i]);
	return packed_store(transaction, &kind_webhooks, &record, &value, &webhooks->stored,
			    fault) &&
	       put_account(transaction, true, fault);
}

bool webhook_account_remove(struct transaction *transaction, struct fault *fault)
{
	return put_account(transaction, false, fault);
}

/* ---- the position ---- */

bool webhook_position_read(const struct store_record *stored, struct webhook_position *position,
			   struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);

	*position = (struct webhook_position){ .stored = *stored };
	if (stored->value.data == NULL)
		return true;
	position->series = packed_number(&reader, 8);
	position->seq = packed_number(&reader, 8);
	position->delivered = (int64_t)packed_number(&reader, 8);
	return packed_close(&reader, "position of a webhook", &stored->id, fault);
}

bool webhook_position_load(struct transaction *transaction, const struct id *webhook,
			   enum store_reading reading, struct webhook_position *position,
			   struct fault *fault)
{
	struct store_record stored;

	return store_get(transaction, &kind_webhook_position, webhook, reading, &stored, fault) &&
	       webhook_position_read(&stored, position, fault);
}

bool webhook_position_put(struct transaction *transaction, const struct id *webhook,
			  const struct webhook_position *position, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(transaction->arena);
	struct store_record record = { .id = *webhook };

	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, position->series, 8);
	packed_put_number(&value, position->seq, 8);
	packed_put_number(&value, (uint64_t)position->delivered, 8);
	return packed_store(transaction, &kind_webhook_position, &record, &value, &position->stored,
			    fault);
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
	return webhook_position_put(transaction, &webhook->id, &position, fault);
}

/* ---- deliveries ---- */

bool webhook_delivery_read(const struct store_record *stored, struct webhook_delivery *delivery,
			   struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);
	const uint64_t state = packed_number(&reader, 1);

	*delivery = (struct webhook_delivery){
		.stored = *stored,
		.state = (enum delivery_state)state,
	};
	delivery->series = packed_number(&reader, 8);
	delivery->seq = packed_number(&reader, 8);
	delivery->event_id = packed_text(&reader);
	delivery->type = packed_text(&reader);
	delivery->attempts = (uint32_t)packed_number(&reader, 4);
	delivery->status = (int)packed_number(&reader, 2);
	delivery->error = packed_text(&reader);
	delivery->first = (int64_t)packed_number(&reader, 8);
	delivery->next = (int64_t)packed_number(&reader, 8);
	reader.is_short = reader.is_short || state > DELIVERY_FAILED;
	return packed_close(&reader, "delivery of a webhook", &stored->id, fault);
}

bool webhook_delivery_put(struct transaction *transaction, const struct webhook_delivery *delivery,
			  struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(transaction->arena);
	struct store_record record = {
		.id = delivery->stored.id,
		.parent = delivery->stored.parent,
		.is_on = delivery->state == DELIVERY_PENDING,
	};

	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, delivery->state, 1);
	packed_put_number(&value, delivery->series, 8);
	packed_put_number(&value, delivery->seq, 8);
	packed_put_text(&value, delivery->event_id);
	packed_put_text(&value, delivery->type);
	packed_put_number(&value, delivery->attempts, 4);
	packed_put_number(&value, (uint64_t)delivery->status, 2);
	packed_put_text(&value, delivery->error);
	packed_put_number(&value, (uint64_t)delivery->first, 8);
	packed_put_number(&value, (uint64_t)delivery->next, 8);
	return packed_store(transaction, &kind_webhook_delivery, &record, &value, &delivery->stored,
			    fault);
}

bool webhook_delivery_new_id(struct transaction *transaction, const struct clock *clock,
			     struct id *id, struct fault *fault)
{
	int64_t now = clock_now(clock);

	return store_new_id(transaction, &kind_webhook_delivery, clock, &now, id, fault);
}
