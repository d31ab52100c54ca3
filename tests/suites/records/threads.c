/* Threads: transactions that wait for each other and give way.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "kit.h"

/* ---- threads ---- */

static void *raise_500(void *context)
{
	struct arena *own = arena_open();

	(void)context;
	for (int i = 0; i < 500; i++) {
		struct store_record record = record_of(1, "number"), former;
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;
		uint64_t number;
		char text[16];

		if (!store_begin(store, STORE_WRITE, own, &transaction, &fault))
			abort();
		store_set_account(transaction, &account);
		if (!store_get(transaction, &named, &record.id, STORE_TO_CHANGE, &former, &fault))
			abort();
		(void)snprintf(
			text, sizeof text, "%lu",
			strtoul(arena_text(own, "%.*s", (int)former.value.size, former.value.data),
				NULL, 10) +
				1);
		record.value = slice_of(text);
		if (!store_put(transaction, &named, &record, &former, &fault) ||
		    !store_commit(transaction, &number, &fault))
			abort();
		if (i % 50 == 0 && !store_wait(store, number, &fault))
			abort();
		arena_reset(own);
	}
	arena_close(own);
	return NULL;
}

START_TEST(writers_exclude_each_other)
{
	struct store_record record = record_of(1, "number");
	struct transaction *transaction;
	pthread_t threads[2];

	store = drivers[_i].open(directory);
	record.value = SLICE("0");
	transaction = begin(STORE_WRITE);
	put_right(transaction, &named, &record);
	commit(transaction);
	for (int i = 0; i < ROWS(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, raise_500, NULL), 0);
	for (int i = 0; i < ROWS(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	transaction = begin(STORE_WRITE);
	ck_assert(slice_is(get(transaction, &named, &record).value, "1000"));
	commit(transaction);
}
END_TEST

/* ---- giving way ---- */

/* A transaction in another thread: what it does, and its progress. */
struct beside {
	struct id account;
	const struct store_kind *kind;
	struct store_record record; /* put, unless its value is empty */
	bool looks_first; /* reads the record before setting the account */
	pthread_t thread;
	atomic_bool has_begun, has_entered, has_ended;
	enum fault_kind fault;
	bool has_found; /* found the record before putting it */
};

static bool look_for(struct beside *beside, struct transaction *transaction, struct fault *fault)
{
	struct store_record found;
	const bool is_read = beside->kind->naming == STORE_NO_NAME
				     ? store_get(transaction, beside->kind, &beside->record.id,
						 STORE_TO_CHANGE, &found, fault)
				     : store_get_named(transaction, beside->kind,
						       beside->record.name, STORE_TO_CHANGE, &found,
						       fault);

	beside->has_found = is_read && found.value.data != NULL;
	return is_read;
}

static bool write_beside(struct beside *beside, struct arena *own, struct fault *fault)
{
	struct transaction *transaction;
	uint64_t number;

	if (!store_begin(store, STORE_WRITE, own, &transaction, fault))
		return false;
	atomic_store(&beside->has_begun, true);
	if (beside->looks_first && !look_for(beside, transaction, fault))
		abort();
	store_set_account(transaction, &beside->account);
	atomic_store(&beside->has_entered, true);
	if (look_for(beside, transaction, fault) &&
	    (beside->record.value.size == 0 ||
	     store_put(transaction, beside->kind, &beside->record, NULL, fault)))
		return store_commit(transaction, &number, fault) &&
		       store_wait(store, number, fault);
	store_abandon(transaction);
	return false;
}

static void *run_beside(void *context)
{
	struct beside *beside = context;
	struct arena *own = arena_open();
	struct fault fault = FAULT_INITIAL;

	(void)write_beside(beside, own, &fault);
	beside->fault = fault.kind;
	arena_close(own);
	atomic_store(&beside->has_ended, true);
	return NULL;
}

static void start(struct beside *beside)
{
	ck_assert_int_eq(pthread_create(&beside->thread, NULL, run_beside, beside), 0);
}

/* Gives way until the other transaction has got that far; returns false on a fault. */
static bool give_way_until(struct transaction *transaction, const atomic_bool *is_so_far,
			   struct fault *fault)
{
	bool is_right = true;

	while (is_right && !atomic_load(is_so_far))
		is_right = store_give_way(transaction, fault);
	return is_right;
}

static struct id other_account(void)
{
	return (struct id){ "account two" };
}

static bool has(const struct store_kind *kind, const struct id *of,
		const struct store_record *record)
{
	const struct id former = account;
	struct transaction *transaction;
	bool is_there;

	account = *of;
	transaction = begin(STORE_READ);
	is_there = get(transaction, kind, record).value.data != NULL;
	store_abandon(transaction);
	account = former;
	return is_there;
}

/* The transaction is then committed or abandoned. Until then readers see nothing of it, and a kill
 * would leave nothing of it. */
START_TEST(others_write_while_one_gives_way)
{
	const int driver = _i / 2;
	const bool commits = _i % 2 == 0;
	const struct store_record own = record_of(1, "own"), later = record_of(2, "later");
	struct beside other = { .account = other_account(),
				.kind = &whole,
				.record = record_of(3, "other") };
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	if (!drivers[driver].gives_way)
		return;
	store = drivers[driver].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &whole, &own);
	start(&other);
	ck_assert(give_way_until(transaction, &other.has_ended, &fault));
	pthread_join(other.thread, NULL);
	ck_assert_int_eq(other.fault, FAULT_NONE);
	ck_assert(has(&whole, &other.account, &other.record));
	ck_assert(!has(&whole, &account, &own));
	ck_assert_ptr_nonnull(get(transaction, &whole, &own).value.data);
	put_right(transaction, &whole, &later);
	if (commits)
		commit(transaction);
	else
		store_abandon(transaction);
	if (!drivers[driver].is_shared) {
		store_close(store);
		store = drivers[driver].open(directory);
	}
	ck_assert(has(&whole, &other.account, &other.record));
	ck_assert(has(&whole, &account, &own) == commits);
	ck_assert(has(&whole, &account, &later) == commits);
}
END_TEST

/* A writer of the same account waits, and then sees the whole transaction. A writer that read
 * something before it knew its account must be run again. A writer of another account waits for
 * neither. */
START_TEST(writers_of_its_account_wait_while_it_gives_way)
{
	const int driver = _i / 2;
	struct beside same = { .account = account,
			       .kind = &global,
			       .record = record_of(1, "code"),
			       .looks_first = _i % 2 == 1 };
	struct beside other = { .account = other_account(),
				.kind = &whole,
				.record = record_of(3, "other") };
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	if (!drivers[driver].gives_way || drivers[driver].is_shared)
		return;
	store = drivers[driver].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &global, &same.record);
	same.record.value.size = 0;
	start(&same);
	ck_assert(give_way_until(transaction, &same.has_begun, &fault));
	start(&other);
	ck_assert(give_way_until(transaction, &other.has_ended, &fault));
	ck_assert(!atomic_load(&same.has_entered));
	commit(transaction);
	pthread_join(other.thread, NULL);
	pthread_join(same.thread, NULL);
	ck_assert_int_eq(other.fault, FAULT_NONE);
	ck_assert_int_eq(same.fault, same.looks_first ? FAULT_AGAIN : FAULT_NONE);
	ck_assert(same.has_found == !same.looks_first);
}
END_TEST

/* Both put a name that is unique in the installation: the one that gave way must be run again, and
 * then finds the name taken. */
START_TEST(a_name_may_be_taken_while_giving_way)
{
	struct beside other = { .account = other_account(),
				.kind = &global,
				.record = record_of(1, "code") };
	const struct store_record own = record_of(2, "code");
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct store_record found;

	if (!drivers[_i].gives_way || drivers[_i].is_shared)
		return;
	store = drivers[_i].open(directory);
	transaction = begin(STORE_WRITE);
	put_right(transaction, &global, &own);
	start(&other);
	ck_assert(!give_way_until(transaction, &other.has_ended, &fault));
	ck_assert_int_eq(fault.kind, FAULT_AGAIN);
	store_abandon(transaction);
	pthread_join(other.thread, NULL);
	ck_assert_int_eq(other.fault, FAULT_NONE);
	transaction = begin(STORE_WRITE);
	fault = FAULT_INITIAL;
	ck_assert(store_get_named(transaction, &global, own.name, STORE_TO_CHANGE, &found, &fault));
	ck_assert_int_eq(id_compare(&found.account, &other.account), 0);
	store_abandon(transaction);
}
END_TEST

/* Each of many writers gets its turn, and so does the one that gives way. */
START_TEST(all_writers_get_their_turn)
{
	enum { OTHERS = 8, EACH = 20 };
	struct beside others[OTHERS];
	const struct store_record own = record_of(1, "own");
	struct fault fault = FAULT_INITIAL;

	if (!drivers[_i].gives_way)
		return;
	store = drivers[_i].open(directory);
	for (unsigned round = 0; round < EACH; round++) {
		struct transaction *transaction = begin(STORE_WRITE);

		(void)get(transaction, &whole, &own);
		for (unsigned i = 0; i < OTHERS; i++) {
			others[i] = (struct beside){ .account = other_account(), .kind = &child };
			others[i].record = record_of(2 + round * OTHERS + i, "");
			start(&others[i]);
		}
		for (unsigned i = 0; i < OTHERS; i++)
			ck_assert(give_way_until(transaction, &others[i].has_ended, &fault));
		store_abandon(transaction);
		for (unsigned i = 0; i < OTHERS; i++) {
			pthread_join(others[i].thread, NULL);
			ck_assert_int_eq(others[i].fault, FAULT_NONE);
			ck_assert(has(&child, &others[i].account, &others[i].record));
		}
	}
}
END_TEST

void add_threads(TCase *drivers_case, int count)
{
	tcase_add_loop_test(drivers_case, writers_exclude_each_other, 0, count);
	tcase_add_loop_test(drivers_case, others_write_while_one_gives_way, 0, 2 * count);
	tcase_add_loop_test(drivers_case, writers_of_its_account_wait_while_it_gives_way, 0,
			    2 * count);
	tcase_add_loop_test(drivers_case, a_name_may_be_taken_while_giving_way, 0, count);
	tcase_add_loop_test(drivers_case, all_writers_get_their_turn, 0, count);
}
