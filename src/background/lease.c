/* See background/lease.h. Times are those of the store's clock, if it has one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/lease.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "records/lease_record.h"
#include "resources/audit_record.h"

struct lease {
	struct store *store;
	const struct clock *clock;
	pthread_mutex_t lock; /* for one renewal at a time */
	unsigned char holder[LEASE_HOLDER_SIZE]; /* identifies this process */
	_Atomic int64_t held_until; /* clock_monotonic; 0 if not held */
	int64_t renewed; /* clock_monotonic */
};

struct lease *lease_open(struct store *store, const struct clock *clock)
{
	struct lease *lease = memory_check(calloc(1, sizeof *lease));

	lease->store = store;
	lease->clock = clock;
	clock_random(clock, lease->holder, sizeof lease->holder);
	atomic_init(&lease->held_until, 0);
	if (pthread_mutex_init(&lease->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return lease;
}

static bool read_lease(struct transaction *transaction, struct lease_record *record,
		       struct fault *fault)
{
	store_set_account(transaction, &audit_no_account);
	return record_get(&lease_table, transaction, &kind_only_id, STORE_TO_CHANGE, record, fault);
}

static bool lease_is_ours(const struct lease *lease, const struct lease_record *record)
{
	return record->stored.value.data != NULL &&
	       memcmp(record->holder, lease->holder, LEASE_HOLDER_SIZE) == 0;
}

/* lasts: milliseconds; 0 gives the lease up. *is_held is false if another process has it. */
static bool take_lease(struct lease *lease, struct transaction *transaction, int64_t lasts,
		       bool *is_held, struct fault *fault)
{
	int64_t now = clock_now(lease->clock);
	struct lease_record record;

	if (!store_fix_time(transaction, 0, &now, fault) ||
	    !read_lease(transaction, &record, fault))
		return false;
	*is_held = lease_is_ours(lease, &record) || (lasts > 0 && record.until <= now);
	if (!*is_held)
		return true;
	record.epoch += !lease_is_ours(lease, &record);
	record.until = lasts > 0 ? now + lasts : 0;
	memcpy(record.holder, lease->holder, LEASE_HOLDER_SIZE);
	return record_put(&lease_table, transaction, &record, fault);
}

static bool change_lease(struct lease *lease, int64_t lasts)
{
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	bool is_held = false;
	uint64_t number;

	if (store_begin(lease->store, STORE_WRITE, arena, &transaction, &fault)) {
		if (take_lease(lease, transaction, lasts, &is_held, &fault) && is_held)
			is_held = store_commit(transaction, &number, &fault);
		else
			store_abandon(transaction);
	}
	arena_close(arena);
	return is_held && fault.kind == FAULT_NONE;
}

/* Returns whether this process had the lease when it last asked, and the lease has not expired
 * since. */
static bool has_lease(const struct lease *lease)
{
	return !store_is_shared(lease->store) ||
	       clock_monotonic() < atomic_load(&lease->held_until);
}

void lease_close(struct lease *lease)
{
	if (lease == NULL)
		return;
	if (store_is_shared(lease->store) && has_lease(lease))
		(void)change_lease(lease, 0);
	pthread_mutex_destroy(&lease->lock);
	free(lease);
}

bool lease_hold(struct lease *lease)
{
	int64_t begun, pause;

	if (!store_is_shared(lease->store))
		return true;
	pthread_mutex_lock(&lease->lock);
	begun = clock_monotonic();
	pause = has_lease(lease) ? LEASE_RENEWED_AFTER : LEASE_ASKED_AFTER;
	if (begun - lease->renewed >= pause || lease->renewed == 0) {
		/* Counted from before the query, because the store's clock was read later. */
		atomic_store(&lease->held_until,
			     change_lease(lease, LEASE_LASTS) ? begun + LEASE_LASTS : 0);
		lease->renewed = begun;
	}
	pthread_mutex_unlock(&lease->lock);
	return has_lease(lease);
}

bool lease_confirm(struct lease *lease, struct transaction *transaction, struct fault *fault)
{
	const struct id account = transaction->account;
	struct lease_record record;
	bool is_read;

	if (!store_is_shared(lease->store))
		return true;
	is_read = read_lease(transaction, &record, fault);
	store_set_account(transaction, &account);
	if (!is_read)
		return false;
	if (!lease_is_ours(lease, &record) || record.until == 0)
		atomic_store(&lease->held_until, 0);
	return lease_is_ours(lease, &record) && record.until != 0;
}
