/* The failing driver.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store_failing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct store_failing {
	struct store store;
	struct store *inner;
	atomic_uint calls;
	atomic_uint fails_at;
	atomic_int fails_with;
	atomic_uint get; /* get that returns FAULT_AGAIN, in so many transactions as get_agains */
	atomic_uint get_agains, commit_agains;
	atomic_uint unknown; /* commits */
	atomic_uint give_way; /* the call at which `act` runs; counted down */
	void (*act)(void);
	atomic_bool has_acted;
};

struct failing_transaction {
	struct transaction base;
	struct transaction *inner;
	unsigned gets;
};

/* Returns the inner transaction, after setting its account and arena. */
static struct transaction *inner_of(struct transaction *transaction)
{
	struct transaction *inner = ((struct failing_transaction *)transaction)->inner;

	inner->account = transaction->account;
	inner->arena = transaction->arena;
	return inner;
}

static bool call_passes(struct store *store, struct fault *fault)
{
	struct store_failing *failing = (struct store_failing *)store;

	if (atomic_fetch_add(&failing->calls, 1) + 1 == atomic_load(&failing->fails_at))
		return fault_set(fault, (enum fault_kind)atomic_load(&failing->fails_with), NULL);
	return true;
}

/* Counts down to 0; returns false if it was 0. */
static bool is_left(atomic_uint *times)
{
	unsigned left = atomic_load(times);

	while (left > 0)
		if (atomic_compare_exchange_weak(times, &left, left - 1))
			return true;
	return false;
}

static bool get_passes(struct transaction *transaction, struct fault *fault)
{
	struct failing_transaction *own = (struct failing_transaction *)transaction;
	struct store_failing *failing = (struct store_failing *)transaction->store;

	if (++own->gets == atomic_load(&failing->get) && is_left(&failing->get_agains))
		return fault_set(fault, FAULT_AGAIN, NULL);
	return call_passes(transaction->store, fault);
}

static bool commit_passes(struct transaction *transaction, struct fault *fault)
{
	struct store_failing *failing = (struct store_failing *)transaction->store;

	if (is_left(&failing->commit_agains))
		return fault_set(fault, FAULT_AGAIN, NULL);
	return call_passes(transaction->store, fault);
}

static bool failing_begin(struct store *store, enum store_access access, struct arena *arena,
			  struct transaction **transaction, struct fault *fault)
{
	struct failing_transaction *own = arena_zero(arena, sizeof *own);

	if (!call_passes(store, fault) ||
	    !store_begin(((struct store_failing *)store)->inner, access, arena, &own->inner, fault))
		return false;
	own->base = *own->inner;
	own->base.store = store;
	*transaction = &own->base;
	return true;
}

static void failing_expect(struct transaction *transaction, enum store_statements how,
			   const struct store_expected *expected, size_t n)
{
	store_expect(inner_of(transaction), how, expected, n);
}

static bool failing_get(struct transaction *transaction, const struct store_kind *kind,
			const struct id *id, enum store_reading reading,
			struct store_record *record, struct fault *fault)
{
	return get_passes(transaction, fault) &&
	       store_get(inner_of(transaction), kind, id, reading, record, fault);
}

static bool failing_get_named(struct transaction *transaction, const struct store_kind *kind,
			      struct slice name, enum store_reading reading,
			      struct store_record *record, struct fault *fault)
{
	return get_passes(transaction, fault) &&
	       store_get_named(inner_of(transaction), kind, name, reading, record, fault);
}

static bool failing_page(struct transaction *transaction, const struct store_kind *kind,
			 struct store_page *page, struct fault *fault)
{
	return get_passes(transaction, fault) &&
	       store_page(inner_of(transaction), kind, page, fault);
}

struct failing_walk {
	struct store_cursor cursor;
	struct store_walk inner;
	struct fault fault; /* of the inner walk */
};

static struct store_cursor *failing_walk(struct transaction *transaction,
					 const struct store_kind *kind, bool has_values)
{
	struct failing_walk *walk = calloc(1, sizeof *walk);

	if (walk == NULL)
		abort();
	walk->inner = (has_values ? store_walk_all : store_walk_keys)(inner_of(transaction), kind,
								      &walk->fault);
	store_cursor_add(&walk->cursor, transaction);
	return &walk->cursor;
}

static bool failing_next(struct store_cursor *cursor, struct store_record *record,
			 struct fault *fault)
{
	struct failing_walk *walk = (struct failing_walk *)cursor;

	(void)inner_of(cursor->transaction);
	if (!get_passes(cursor->transaction, fault))
		return false;
	if (store_next(&walk->inner, record))
		return true;
	*fault = walk->fault;
	return false;
}

/* The inner walk ends with the inner transaction. */
static void failing_end_walk(struct store_cursor *cursor)
{
	free(cursor);
}

static bool failing_has_children(struct transaction *transaction, const struct store_kind *kind,
				 const struct id *parent, bool *has_children, struct fault *fault)
{
	return get_passes(transaction, fault) &&
	       store_has_children(inner_of(transaction), kind, parent, has_children, fault);
}

static bool failing_fix_time(struct transaction *transaction, int64_t least, int64_t *now,
			     struct fault *fault)
{
	return get_passes(transaction, fault) &&
	       store_fix_time(inner_of(transaction), least, now, fault);
}

static bool failing_new_id(struct transaction *transaction, const struct store_kind *kind,
			   const struct clock *clock, int64_t *now, struct id *id,
			   struct fault *fault)
{
	return call_passes(transaction->store, fault) &&
	       store_new_id(inner_of(transaction), kind, clock, now, id, fault);
}

static bool failing_put(struct transaction *transaction, const struct store_kind *kind,
			const struct store_record *record, const struct store_record *former,
			struct fault *fault)
{
	return call_passes(transaction->store, fault) &&
	       store_put(inner_of(transaction), kind, record, former, fault);
}

static bool failing_remove(struct transaction *transaction, const struct store_kind *kind,
			   const struct store_record *record, struct fault *fault)
{
	return call_passes(transaction->store, fault) &&
	       store_remove(inner_of(transaction), kind, record, fault);
}

static void *run_act(void *context)
{
	struct store_failing *failing = context;

	failing->act();
	atomic_store(&failing->has_acted, true);
	return NULL;
}

static bool failing_give_way(struct transaction *transaction, struct fault *fault)
{
	struct store_failing *failing = (struct store_failing *)transaction->store;
	bool is_done = call_passes(transaction->store, fault);
	pthread_t thread;

	if (is_done && is_left(&failing->give_way) && atomic_load(&failing->give_way) == 0) {
		atomic_store(&failing->has_acted, false);
		if (pthread_create(&thread, NULL, run_act, failing) != 0)
			abort();
		while (is_done && !atomic_load(&failing->has_acted))
			is_done = store_give_way(inner_of(transaction), fault);
		pthread_join(thread, NULL);
	}
	is_done = is_done && store_give_way(inner_of(transaction), fault);
	transaction->number = inner_of(transaction)->number;
	return is_done;
}

static void failing_enter(struct transaction *transaction, const struct id *account)
{
	store_set_account(((struct failing_transaction *)transaction)->inner, account);
	transaction->number = ((struct failing_transaction *)transaction)->inner->number;
}

static bool failing_commit(struct transaction *transaction, uint64_t *number, struct fault *fault)
{
	if (!commit_passes(transaction, fault)) {
		store_abandon(inner_of(transaction));
		return false;
	}
	return store_commit(inner_of(transaction), number, fault) &&
	       (!is_left(&((struct store_failing *)transaction->store)->unknown) ||
		fault_detail(fault, FAULT_UNAVAILABLE, "it is not known whether it happened"));
}

static void failing_abandon(struct transaction *transaction)
{
	store_abandon(inner_of(transaction));
}

static enum store_state failing_state(struct store *store, uint64_t number)
{
	return store_state(((struct store_failing *)store)->inner, number);
}

static void failing_flush(struct store *store)
{
	store_flush(((struct store_failing *)store)->inner);
}

static bool failing_can_write(struct store *store)
{
	return store_can_write(((struct store_failing *)store)->inner);
}

static void failing_close(struct store *store)
{
	store_close(((struct store_failing *)store)->inner);
	free(store);
}

static const struct store_driver failing_driver = {
	.name = "failing",
	.begin = failing_begin,
	.expect = failing_expect,
	.get = failing_get,
	.get_named = failing_get_named,
	.page = failing_page,
	.has_children = failing_has_children,
	.walk = failing_walk,
	.next = failing_next,
	.end_walk = failing_end_walk,
	.fix_time = failing_fix_time,
	.new_id = failing_new_id,
	.put = failing_put,
	.remove = failing_remove,
	.give_way = failing_give_way,
	.enter = failing_enter,
	.commit = failing_commit,
	.abandon = failing_abandon,
	.state = failing_state,
	.flush = failing_flush,
	.can_write = failing_can_write,
	.close = failing_close,
};

struct store *store_failing_open(struct store *inner)
{
	struct store_failing *failing = calloc(1, sizeof *failing);

	if (failing == NULL)
		abort();
	failing->store.driver = &failing_driver;
	failing->inner = inner;
	atomic_init(&failing->calls, 0);
	atomic_init(&failing->fails_at, 0);
	atomic_init(&failing->fails_with, FAULT_UNAVAILABLE);
	atomic_init(&failing->get, 0);
	atomic_init(&failing->get_agains, 0);
	atomic_init(&failing->commit_agains, 0);
	atomic_init(&failing->unknown, 0);
	atomic_init(&failing->give_way, 0);
	atomic_init(&failing->has_acted, false);
	return &failing->store;
}

void store_failing_renew(struct store *store, struct store *inner)
{
	struct store_failing *failing = (struct store_failing *)store;

	store_close(failing->inner);
	failing->inner = inner;
}

void store_failing_at(struct store *store, unsigned n)
{
	struct store_failing *failing = (struct store_failing *)store;

	atomic_store(&failing->calls, 0);
	atomic_store(&failing->fails_at, n);
}

void store_failing_with(struct store *store, enum fault_kind kind)
{
	atomic_store(&((struct store_failing *)store)->fails_with, (int)kind);
}

void store_failing_again(struct store *store, unsigned n, unsigned times)
{
	struct store_failing *failing = (struct store_failing *)store;

	if (n > 0)
		atomic_store(&failing->get, n);
	atomic_store(n > 0 ? &failing->get_agains : &failing->commit_agains, times);
}

void store_failing_meanwhile(struct store *store, unsigned n, void (*act)(void))
{
	struct store_failing *failing = (struct store_failing *)store;

	failing->act = act;
	atomic_store(&failing->give_way, n);
}

void store_failing_unknown(struct store *store, unsigned times)
{
	atomic_store(&((struct store_failing *)store)->unknown, times);
}

unsigned store_failing_unknown_left(const struct store *store)
{
	return atomic_load(&((const struct store_failing *)store)->unknown);
}

unsigned store_failing_calls(const struct store *store)
{
	return atomic_load(&((const struct store_failing *)store)->calls);
}
