/* See background/dispatcher_parts.h. Turns outcomes and positions into records; those of an account
 * in one transaction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/counter.h"
#include "records/kinds.h"
#include "background/dispatcher_parts.h"

/* How often a transaction is run at most, if it conflicts with others. */
#define AGAIN_MOST 10
/* The largest delay that a Retry-After may ask for, in milliseconds. */
#define RETRY_AFTER_MOST ((int64_t)24 * 60 * 60 * 1000)
/* A position that has advanced is stored after this many milliseconds, or events. */
#define POSITION_AFTER 1000
#define POSITION_ENTRIES 256
/* Old deliveries that one transaction removes for each delivery that it adds. */
#define REMOVED_MOST 2

/* ---- outcomes ---- */

static bool is_success(const struct outcome *outcome)
{
	return outcome->error[0] == '\0' && outcome->status >= 200 && outcome->status < 300;
}

static bool is_gone(const struct outcome *outcome)
{
	return outcome->status == 410;
}

/* Returns the milliseconds until the next attempt, after `attempts` attempts. */
static int64_t delay_after(const struct dispatcher *dispatcher, const struct outcome *outcome,
			   uint32_t attempts)
{
	const int64_t usual = dispatcher->schedule->seconds[attempts] * 1000;
	const bool asks = outcome->status == 429 || outcome->status == 503;
	uint32_t chance;

	if (asks && outcome->retry_after > 0)
		return outcome->retry_after < RETRY_AFTER_MOST / 1000 ? outcome->retry_after * 1000
								      : RETRY_AFTER_MOST;
	clock_random(dispatcher->environment->clock, &chance, sizeof chance);
	return usual * 9 / 10 + (int64_t)(chance % (uint32_t)(usual / 5 + 1));
}

/* Updates a delivery, which had `attempts` before this one, by the outcome of the attempt. */
static void conclude(const struct dispatcher *dispatcher, const struct attempt *attempt,
		     int64_t now, struct webhook_delivery *delivery)
{
	const struct outcome *outcome = &attempt->outcome;

	delivery->attempts += !attempt->is_given_up;
	delivery->status = outcome->status;
	delivery->error = slice_of(outcome->error);
	delivery->next = 0;
	if (is_success(outcome)) {
		delivery->state = DELIVERY_DELIVERED;
	} else if (attempt->is_given_up || is_gone(outcome) || delivery->state == DELIVERY_ONCE ||
		   delivery->attempts >= dispatcher->schedule->count) {
		delivery->state = DELIVERY_FAILED;
	} else {
		delivery->state = DELIVERY_PENDING;
		delivery->next = now + delay_after(dispatcher, outcome, delivery->attempts);
	}
}

/* ---- one account's transaction ---- */

struct saving {
	struct dispatcher *dispatcher;
	struct transaction *transaction;
	const struct id *account;
	int64_t now;
	struct webhooks webhooks;
	bool ends_one; /* a webhook was disabled */
	struct webhook_delivery results[SENDER_MOST]; /* the result of each attempt */
};

static bool attempt_is_of(const struct attempt *attempt, const struct id *account)
{
	return attempt->state == ATTEMPT_ENDED && attempt->target != NULL &&
	       id_compare(&attempt->target->account, account) == 0;
}

/* Returns the webhook if it is still in the same series, or NULL if it was disabled or no longer
 * exists. */
static struct webhook *present(const struct saving *saving, const struct target *target)
{
	struct webhook *webhook = webhook_find(&saving->webhooks, &target->id);

	return webhook != NULL && webhook->series == target->series ? webhook : NULL;
}

static bool saving_pass_over(const struct saving *saving, const char *event, struct fault *fault)
{
	return dispatcher_pass_over(saving->dispatcher, event, saving->account, fault);
}

/* Removes the oldest finished deliveries (STORE_OFF), or the oldest pending deliveries of an
 * earlier series (STORE_ON). */
static bool remove_old_of(struct saving *saving, const struct target *target, enum store_side side,
			  struct fault *fault)
{
	const int64_t keep = saving->dispatcher->environment->log_keep;
	struct store_record records[REMOVED_MOST];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.side = side,
		.parent = &target->id,
		.records = records,
		.most = REMOVED_MOST,
	};
	struct webhook_delivery delivery;

	if (!store_page(saving->transaction, &kind_webhook_delivery, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!webhook_delivery_read(&records[i], &delivery, fault))
			return false;
		if ((int64_t)id_seconds(&records[i].id) * 1000 < saving->now - keep &&
		    (side == STORE_OFF || delivery.series != target->series) &&
		    !store_remove(saving->transaction, &kind_webhook_delivery, &records[i], fault))
			return false;
	}
	return true;
}

/* The delivery no longer exists or is damaged, so nothing is left to retry. */
static void give_up_attempt(const struct attempt *attempt, struct webhook_delivery *result)
{
	*result = (struct webhook_delivery){
		.state = is_success(&attempt->outcome) ? DELIVERY_DELIVERED : DELIVERY_FAILED,
	};
}

/* Reads the attempt's delivery. *is_there is false if it no longer exists. A damaged delivery is
 * given up, and counts as existing. */
static bool load_delivery(const struct saving *saving, const struct attempt *attempt,
			  struct webhook_delivery *result, bool *is_there, struct fault *fault)
{
	struct store_record stored;

	*is_there = true;
	if (!store_get(saving->transaction, &kind_webhook_delivery, &attempt->record,
		       STORE_TO_CHANGE, &stored, fault) ||
	    (stored.value.data != NULL && !webhook_delivery_read(&stored, result, fault))) {
		give_up_attempt(attempt, result);
		return saving_pass_over(saving, "webhook_delivery_given_up", fault);
	}
	*is_there = stored.value.data != NULL;
	return true;
}

static bool save_repeated(struct saving *saving, struct attempt *attempt,
			  struct webhook_delivery *result, struct fault *fault)
{
	const struct waiting *waiting = target_waiting(attempt->target, &attempt->record);
	bool is_there;

	if (!load_delivery(saving, attempt, result, &is_there, fault))
		return false;
	if (!is_there)
		give_up_attempt(attempt, result);
	/* It is given up, or already contains the attempt because of a commit with an unknown
	 * outcome. */
	if (!webhook_delivery_is_pending(result) ||
	    (waiting != NULL && result->attempts > waiting->attempts))
		return true;
	attempt->is_once = result->state == DELIVERY_ONCE;
	conclude(saving->dispatcher, attempt, saving->now, result);
	return webhook_delivery_put(saving->transaction, result, fault);
}

/* The attempt keeps the ID, so that a transaction that is run again stores the same delivery. */
static bool save_first(struct saving *saving, struct attempt *attempt,
		       struct webhook_delivery *result, struct fault *fault)
{
	const struct environment *environment = saving->dispatcher->environment;
	bool is_there = false;

	if (attempt->has_record && !load_delivery(saving, attempt, result, &is_there, fault))
		return false;
	if (is_there)
		return true;
	*result = (struct webhook_delivery){
		.series = attempt->target->series,
		.seq = attempt->seq,
		.event_id = slice_of(attempt->event_id),
		.type = slice_of(attempt->type),
		.first = attempt->begun,
	};
	conclude(saving->dispatcher, attempt, saving->now, result);
	if (result->state == DELIVERY_DELIVERED)
		return true;
	/* Old deliveries of the webhook go, but not damaged ones. */
	if (environment->log_keep > 0 &&
	    !(remove_old_of(saving, attempt->target, STORE_OFF, fault) &&
	      remove_old_of(saving, attempt->target, STORE_ON, fault)) &&
	    !saving_pass_over(saving, "webhook_deliveries_not_removed", fault))
		return false;
	if (!attempt->has_record &&
	    !webhook_delivery_new_id(saving->transaction, environment->clock, &attempt->record,
				     fault))
		return false;
	attempt->has_record = true;
	result->stored.id = attempt->record;
	result->stored.parent = attempt->target->id;
	return webhook_delivery_put(saving->transaction, result, fault);
}

/* A 410 disables the webhook; so does a delivery whose last attempt by the schedule failed while
 * nothing else was delivered. */
static bool end_webhook(struct saving *saving, const struct attempt *attempt,
			const struct webhook_delivery *result, struct fault *fault)
{
	const struct audit_times times = { saving->now, saving->dispatcher->environment->log_keep };
	const struct environment *environment = saving->dispatcher->environment;
	struct webhook *webhook = present(saving, attempt->target);
	struct audit_entry entry;

	if (webhook == NULL || !webhook->is_enabled || attempt->is_given_up ||
	    result->state != DELIVERY_FAILED ||
	    (!is_gone(&attempt->outcome) &&
	     (attempt->is_once || attempt->target->delivered >= result->first)))
		return true;
	webhook->is_enabled = false;
	webhook->end = is_gone(&attempt->outcome) ? WEBHOOK_GONE : WEBHOOK_FAILING;
	webhook->updated = saving->now;
	saving->ends_one = true;
	webhook_end_entry(saving->transaction->arena, environment->clock, webhook, saving->now,
			  &entry);
	return store_is_shared(environment->store)
		       ? audit_enqueue(saving->transaction, environment->clock, &entry, 1,
				       saving->now, fault)
		       : audit_append(saving->transaction, &times, &entry, 1, fault);
}

static bool save_attempts(struct saving *saving, struct fault *fault)
{
	for (size_t i = 0; i < SENDER_MOST; i++) {
		struct attempt *attempt = &saving->dispatcher->attempts[i];
		struct webhook_delivery *result = &saving->results[i];

		if (!attempt_is_of(attempt, saving->account) ||
		    present(saving, attempt->target) == NULL)
			continue;
		if (!(attempt->is_repeated ? save_repeated : save_first)(saving, attempt, result,
									 fault) ||
		    !end_webhook(saving, attempt, result, fault))
			return false;
	}
	return !saving->ends_one || webhooks_put(saving->transaction, &saving->webhooks, fault);
}

/* A damaged position is left as it is, and the webhook continues. */
static bool save_positions(struct saving *saving, struct fault *fault)
{
	for (const struct target *target = saving->dispatcher->targets; target != NULL;
	     target = target->next) {
		struct webhook_position position;

		if (id_compare(&target->account, saving->account) != 0 ||
		    (target->position == target->stored &&
		     target->delivered == target->stored_delivered) ||
		    present(saving, target) == NULL)
			continue;
		if (!webhook_position_load(saving->transaction, &target->id, STORE_TO_CHANGE,
					   &position, fault)) {
			if (!saving_pass_over(saving, "webhook_position_not_written", fault))
				return false;
			continue;
		}
		position.series = target->series;
		position.seq = target->position;
		position.delivered = target->delivered;
		if (!webhook_position_put(saving->transaction, &position, fault))
			return false;
	}
	return true;
}

static bool save_in(struct saving *saving, struct fault *fault)
{
	bool is_confirmed;

	if (!store_begin(saving->dispatcher->environment->store, STORE_WRITE,
			 saving->dispatcher->arena, &saving->transaction, fault))
		return false;
	is_confirmed = lease_confirm(saving->dispatcher->lease, saving->transaction, fault);
	store_set_account(saving->transaction, saving->account);
	if (is_confirmed &&
	    webhooks_load(saving->transaction, STORE_TO_CHANGE, &saving->webhooks, fault) &&
	    save_attempts(saving, fault) && save_positions(saving, fault)) {
		uint64_t number;

		return store_commit(saving->transaction, &number, fault) &&
		       store_wait(saving->dispatcher->environment->store, number, fault);
	}
	store_abandon(saving->transaction);
	return false;
}

/* ---- what the position is ---- */

static void move_on(struct target *target)
{
	while (target->position < target->read && target->done[(target->position + 1) % WINDOW]) {
		target->position++;
		target->done[target->position % WINDOW] = false;
	}
}

/* ---- afterwards ---- */

static void count_attempt(struct dispatcher *dispatcher, const struct attempt *attempt,
			  const struct webhook_delivery *result)
{
	pthread_mutex_lock(&dispatcher->lock);
	dispatcher->figures.attempts_failed += !attempt->is_given_up &&
					       !is_success(&attempt->outcome);
	dispatcher->figures.delivered += is_success(&attempt->outcome);
	dispatcher->figures.failed += result->state == DELIVERY_FAILED;
	pthread_mutex_unlock(&dispatcher->lock);
}

static void attempt_settle(struct attempt *attempt, const struct webhook_delivery *result)
{
	struct target *target = attempt->target;
	struct waiting *waiting = attempt->is_repeated ? target_waiting(target, &attempt->record)
						       : NULL;
	const struct waiting repeated = {
		.record = result->stored.id,
		.seq = attempt->seq,
		.attempts = result->attempts,
		.first = result->first,
		.next = result->next,
	};

	COUNTER_LOWER(target->under_way, 1u);
	if (waiting != NULL && webhook_delivery_is_pending(result))
		*waiting = repeated;
	else if (waiting != NULL)
		*waiting = target->waiting[--target->waiting_count];
	else if (!attempt->is_repeated && result->state == DELIVERY_PENDING && result->attempts > 0)
		target_add_waiting(target, &repeated);
	*attempt = (struct attempt){ .state = ATTEMPT_NONE };
}

static void settle_all(struct saving *saving)
{
	struct dispatcher *dispatcher = saving->dispatcher;

	for (size_t i = 0; i < SENDER_MOST; i++) {
		struct attempt *attempt = &dispatcher->attempts[i];

		if (!attempt_is_of(attempt, saving->account))
			continue;
		count_attempt(dispatcher, attempt, &saving->results[i]);
		attempt_settle(attempt, &saving->results[i]);
	}
	for (struct target *target = dispatcher->targets; target != NULL; target = target->next) {
		if (id_compare(&target->account, saving->account) != 0)
			continue;
		target->stored = target->position;
		target->stored_delivered = target->delivered;
		target->has_delivered = false;
		target->saved = clock_monotonic();
	}
	if (saving->ends_one && dispatcher_source(dispatcher, saving->account) != NULL)
		dispatcher_source(dispatcher, saving->account)->change = 0;
}

static bool save_account(struct dispatcher *dispatcher, const struct id *account)
{
	const int64_t now = clock_now(dispatcher->environment->clock);
	const struct id kept = *account;
	struct fault fault;
	bool is_saved = false;
	unsigned agains = 0;

	/* The positions move on as if all outcomes were stored, because both are stored in one
	 * transaction. */
	for (size_t i = 0; i < SENDER_MOST; i++) {
		const struct attempt *attempt = &dispatcher->attempts[i];
		struct target *target = attempt->target;

		if (!attempt_is_of(attempt, &kept))
			continue;
		if (is_success(&attempt->outcome))
			target->delivered = now;
		if (!attempt->is_repeated && attempt->seq > target->position)
			target->done[attempt->seq % WINDOW] = true;
	}
	for (struct target *target = dispatcher->targets; target != NULL; target = target->next) {
		if (id_compare(&target->account, &kept) == 0)
			move_on(target);
	}

	do {
		struct saving saving = {
			.dispatcher = dispatcher,
			.account = &kept,
			.now = now,
		};

		fault = FAULT_INITIAL;
		is_saved = save_in(&saving, &fault);
		if (is_saved)
			settle_all(&saving);
		arena_reset(dispatcher->arena);
	} while (!is_saved && fault.kind == FAULT_AGAIN && ++agains < AGAIN_MOST);
	damage_log_add(&dispatcher->damage, "webhooks_not_written", &kept, &fault);
	/* Damage in one account must not keep the results of others from being stored. */
	return is_saved || fault.kind == FAULT_DAMAGED;
}

void dispatcher_save(struct dispatcher *dispatcher, bool all)
{
	const int64_t now = clock_now(dispatcher->environment->clock);
	const struct webhook_delivery delivered = { .state = DELIVERY_DELIVERED };
	bool is_saved = true;

	/* Deliveries that succeeded at the first attempt need no record: only the position has to
	 * be stored, which can be done later. */
	for (size_t i = 0; i < SENDER_MOST; i++) {
		struct attempt *attempt = &dispatcher->attempts[i];
		struct target *target = attempt->target;

		if (attempt->state != ATTEMPT_ENDED || target == NULL || attempt->is_repeated ||
		    !is_success(&attempt->outcome))
			continue;
		target->delivered = now;
		target->has_delivered = true;
		if (attempt->seq > target->position)
			target->done[attempt->seq % WINDOW] = true;
		count_attempt(dispatcher, attempt, &delivered);
		attempt_settle(attempt, &delivered);
		move_on(target);
	}

	for (size_t i = 0; i < SENDER_MOST && is_saved; i++) {
		const struct attempt *attempt = &dispatcher->attempts[i];

		if (attempt->state == ATTEMPT_ENDED && attempt->target != NULL)
			is_saved = save_account(dispatcher, &attempt->target->account);
	}
	for (struct target *target = dispatcher->targets; target != NULL && is_saved;
	     target = target->next) {
		move_on(target);
		if (target->is_stale || target->position == target->stored)
			continue;
		if (all || target->position - target->stored >= POSITION_ENTRIES ||
		    (target->has_delivered && clock_monotonic() - target->saved >= POSITION_AFTER))
			is_saved = save_account(dispatcher, &target->account);
	}
}
