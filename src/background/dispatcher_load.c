/* See background/dispatcher_parts.h. Reads accounts, webhooks and deliveries.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "records/kinds.h"
#include "background/dispatcher_parts.h"

#define PAGE 100
/* The log line for a delivery that is passed over. */
#define NOT_READ "webhook_deliveries_not_read"

/* ---- targets ---- */

void target_add_waiting(struct target *target, const struct waiting *waiting)
{
	target->waiting = memory_room(target->waiting, target->waiting_count + 1,
				      &target->waiting_capacity, sizeof *target->waiting);
	target->waiting[target->waiting_count++] = *waiting;
	if (waiting->seq > target->position && waiting->seq - target->position < WINDOW)
		target->done[waiting->seq % WINDOW] = true;
}

struct waiting *target_waiting(struct target *target, const struct id *record)
{
	for (size_t i = 0; i < target->waiting_count; i++) {
		if (id_compare(&target->waiting[i].record, record) == 0)
			return &target->waiting[i];
	}
	return NULL;
}

static struct target *find_target(const struct dispatcher *dispatcher, const struct id *account,
				  const struct webhook *webhook)
{
	struct target *target = dispatcher->targets;

	while (target != NULL && (target->is_stale || target->series != webhook->series ||
				  id_compare(&target->id, &webhook->id) != 0 ||
				  id_compare(&target->account, account) != 0))
		target = target->next;
	return target;
}

static void free_target(struct target *target)
{
	free(target->waiting);
	free(target);
}

/* Removes the stale webhooks without deliveries in progress. */
static void remove_stale(struct dispatcher *dispatcher)
{
	struct target **place = &dispatcher->targets;

	while (*place != NULL) {
		struct target *target = *place;

		if (!target->is_stale || target->under_way > 0) {
			place = &target->next;
			continue;
		}
		if (dispatcher->turn == target)
			dispatcher->turn = NULL;
		*place = target->next;
		free_target(target);
	}
}

void dispatcher_reset(struct dispatcher *dispatcher)
{
	for (size_t i = 0; i < SENDER_MOST; i++) {
		struct attempt *attempt = &dispatcher->attempts[i];

		if (attempt->target != NULL)
			*attempt = (struct attempt){ .state = ATTEMPT_NONE };
	}
	for (struct target *target = dispatcher->targets; target != NULL; target = target->next) {
		target->is_stale = true;
		target->under_way = 0;
	}
	remove_stale(dispatcher);
	dispatcher->source_count = 0;
}

/* ---- damage ---- */

bool dispatcher_pass_over(struct dispatcher *dispatcher, const char *event,
			  const struct id *account, struct fault *fault)
{
	if (fault->kind != FAULT_DAMAGED)
		return false;
	damage_log_add(&dispatcher->damage, event, account, fault);
	*fault = FAULT_INITIAL;
	return true;
}

static bool is_damaged(struct dispatcher *dispatcher, const struct id *account, struct fault *fault)
{
	return dispatcher_pass_over(dispatcher, "webhooks_not_read", account, fault);
}

/* ---- one account ---- */

/* Returns whether an attempt of the delivery still has to be stored; that updates the delivery. */
static bool is_attempted(const struct dispatcher *dispatcher, const struct target *target,
			 const struct id *record)
{
	for (size_t i = 0; i < SENDER_MOST; i++) {
		const struct attempt *attempt = &dispatcher->attempts[i];

		if (attempt->state != ATTEMPT_NONE && attempt->target == target &&
		    attempt->has_record && id_compare(&attempt->record, record) == 0)
			return true;
	}
	return false;
}

/* Reads the webhook's pending deliveries, oldest first, and passes over damaged ones. *is_whole is
 * set to false if there are more of them than are kept in memory. */
static bool load_waiting(struct dispatcher *dispatcher, struct transaction *transaction,
			 struct target *target, bool *is_whole, struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.side = STORE_ON,
		.parent = &target->id,
		.records = arena_alloc(transaction->arena, PAGE * sizeof *page.records),
		.most = PAGE,
	};
	struct id above = { { 0 } };
	bool goes_on = true;

	while (goes_on && target->waiting_count < 2 * WAITING_MOST) {
		const bool is_read = store_page(transaction, &kind_webhook_delivery, &page, fault);

		if (!is_read &&
		    !dispatcher_pass_over(dispatcher, NOT_READ, &target->account, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct id *id = &page.records[i].id;
			struct webhook_delivery delivery;
			const bool can_be_read = webhook_delivery_read(&page.records[i], &delivery,
								       fault);
			struct waiting waiting, *known;

			if (!can_be_read &&
			    !dispatcher_pass_over(dispatcher, NOT_READ, &target->account, fault))
				return false;
			if (!can_be_read || delivery.series != target->series ||
			    is_attempted(dispatcher, target, id))
				continue;
			waiting = (struct waiting){
				.record = *id,
				.seq = delivery.seq,
				.attempts = delivery.attempts,
				.first = delivery.first,
				.next = delivery.next,
			};
			known = target_waiting(target, id);
			if (known != NULL)
				*known = waiting;
			else
				target_add_waiting(target, &waiting);
		}
		/* If it is not known which record is damaged, the records after it cannot be
		 * found. */
		goes_on = is_read ? !page.is_last : id_compare(&page.damaged, &above) > 0;
		if (!is_read)
			above = page.damaged;
		else if (page.count > 0)
			above = page.records[page.count - 1].id;
		page.above = &above;
	}
	*is_whole = *is_whole && !goes_on;
	return true;
}

static bool add_target(struct dispatcher *dispatcher, struct transaction *transaction,
		       const struct id *account, const struct webhook *webhook, bool *is_whole,
		       struct fault *fault)
{
	struct target *target = memory_check(calloc(1, sizeof *target));
	struct webhook_position position;

	*target = (struct target){
		.account = *account,
		.id = webhook->id,
		.series = webhook->series,
	};
	if (!webhook_position_load(transaction, &webhook->id, STORE_TO_SHOW, &position, fault)) {
		free_target(target);
		return false;
	}
	if (position.series == webhook->series)
		target->position = position.seq;
	target->stored = target->position;
	target->read = target->position;
	target->delivered = position.delivered;
	target->stored_delivered = position.delivered;
	if (!load_waiting(dispatcher, transaction, target, is_whole, fault)) {
		free_target(target);
		return false;
	}
	target->next = dispatcher->targets;
	dispatcher->targets = target;
	return true;
}

/* Loads the webhooks of an account, and again the deliveries of those that it has, because a client
 * may have asked for one. A webhook whose position is damaged is left out, and tried again after a
 * while. */
static bool load_all_webhooks(struct dispatcher *dispatcher, struct transaction *transaction,
			      struct source *source, struct fault *fault)
{
	struct webhooks webhooks;
	bool is_whole = true;

	store_set_account(transaction, &source->id);
	if (!webhooks_load(transaction, STORE_TO_SHOW, &webhooks, fault))
		return false;
	for (struct target *target = dispatcher->targets; target != NULL; target = target->next) {
		const struct webhook *webhook = webhook_find(&webhooks, &target->id);

		if (id_compare(&target->account, &source->id) == 0 &&
		    (webhook == NULL || !webhook->is_enabled || webhook->series != target->series))
			target->is_stale = true;
	}
	memset(source->ended, 0, sizeof source->ended);
	for (size_t i = 0; i < webhooks.count; i++) {
		const struct webhook *webhook = &webhooks.items[i];
		struct target *target = find_target(dispatcher, &source->id, webhook);

		source->ended[webhook->end] += !webhook->is_enabled;
		if (!webhook->is_enabled ||
		    (target == NULL
			     ? add_target(dispatcher, transaction, &source->id, webhook, &is_whole,
					  fault)
			     : load_waiting(dispatcher, transaction, target, &is_whole, fault)))
			continue;
		if (!is_damaged(dispatcher, &source->id, fault))
			return false;
		is_whole = false;
	}
	source->again = is_whole ? 0 : clock_monotonic() + DAMAGE_LOGGED_AFTER;
	return true;
}

/* ---- all accounts ---- */

static int compare_sources(const void *a, const void *b)
{
	const struct source *one = a, *other = b;

	return id_compare(&one->id, &other->id);
}

struct source *dispatcher_source(const struct dispatcher *dispatcher, const struct id *account)
{
	const struct source wanted = { .id = *account };

	return dispatcher->source_count == 0
		       ? NULL
		       : bsearch(&wanted, dispatcher->sources, dispatcher->source_count,
				 sizeof wanted, compare_sources);
}

static bool refresh_source(struct dispatcher *dispatcher, struct transaction *transaction,
			   const struct webhook_account *account, const struct store_record *log,
			   struct fault *fault)
{
	struct source *source = dispatcher_source(dispatcher, &account->id);
	struct fault damage = FAULT_INITIAL;
	struct audit_state state;

	if (source == NULL) {
		dispatcher->sources = memory_room(dispatcher->sources, dispatcher->source_count + 1,
						  &dispatcher->source_capacity,
						  sizeof *dispatcher->sources);
		dispatcher->sources[dispatcher->source_count++] =
			(struct source){ .id = account->id };
		qsort(dispatcher->sources, dispatcher->source_count, sizeof *dispatcher->sources,
		      compare_sources);
		source = dispatcher_source(dispatcher, &account->id);
	}
	assert(source != NULL);
	if (account->change == WEBHOOK_CHANGE_UNKNOWN) {
		(void)fault_cause(&damage, FAULT_DAMAGED, 0,
				  "the record that says when the account's webhooks were changed");
		damage_log_add(&dispatcher->damage, "webhook_changes_not_seen", &account->id,
			       &damage);
	}
	if ((source->change != account->change ||
	     (source->again != 0 && clock_monotonic() >= source->again)) &&
	    !load_all_webhooks(dispatcher, transaction, source, fault))
		return false;
	source->change = account->change;
	source->is_there = true;
	if (!audit_state_read(log, &state, fault))
		return false;
	source->first = state.first;
	source->last = state.last;
	return true;
}

/* Asks how far all logs go in one query, or one by one if one of them cannot be read. */
static bool refresh_page(struct dispatcher *dispatcher, struct transaction *transaction,
			 const struct webhook_account *accounts, size_t n, struct fault *fault)
{
	struct store_record logs[PAGE];
	struct id ids[PAGE];

	for (size_t i = 0; i < n; i++)
		ids[i] = accounts[i].id;
	if (n > 0 && !audit_states_get(transaction, ids, n, logs, fault)) {
		if (n == 1 || fault->kind != FAULT_DAMAGED)
			return is_damaged(dispatcher, &accounts[0].id, fault);
		*fault = FAULT_INITIAL;
		for (size_t i = 0; i < n; i++) {
			if (!refresh_page(dispatcher, transaction, &accounts[i], 1, fault))
				return false;
		}
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (!refresh_source(dispatcher, transaction, &accounts[i], &logs[i], fault) &&
		    !is_damaged(dispatcher, &accounts[i].id, fault))
			return false;
	}
	return true;
}

static bool refresh_all(struct dispatcher *dispatcher, struct transaction *transaction,
			struct fault *fault)
{
	struct webhook_account accounts[PAGE];
	struct id after;
	bool is_first = true, is_last = false;
	size_t n;

	while (!is_last) {
		if (!webhook_accounts(transaction, is_first ? NULL : &after, PAGE, accounts, &n,
				      &is_last, fault) ||
		    !refresh_page(dispatcher, transaction, accounts, n, fault))
			return false;
		is_first = n == 0;
		if (n > 0)
			after = accounts[n - 1].id;
		is_last = is_last || n == 0;
	}
	return true;
}

void dispatcher_refresh(struct dispatcher *dispatcher)
{
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	bool is_done = false;
	size_t kept = 0;

	for (size_t i = 0; i < dispatcher->source_count; i++)
		dispatcher->sources[i].is_there = false;
	if (store_begin(dispatcher->environment->store, STORE_READ, dispatcher->arena, &transaction,
			&fault)) {
		is_done = refresh_all(dispatcher, transaction, &fault);
		store_abandon(transaction);
	}
	/* Accounts that no longer have webhooks are dropped. */
	for (size_t i = 0; is_done && i < dispatcher->source_count; i++) {
		if (dispatcher->sources[i].is_there)
			dispatcher->sources[kept++] = dispatcher->sources[i];
	}
	if (is_done)
		dispatcher->source_count = kept;
	for (struct target *target = dispatcher->targets; is_done && target != NULL;
	     target = target->next) {
		if (dispatcher_source(dispatcher, &target->account) == NULL)
			target->is_stale = true;
	}
	(void)is_damaged(dispatcher, &audit_no_account, &fault);
	remove_stale(dispatcher);
	arena_reset(dispatcher->arena);
}
