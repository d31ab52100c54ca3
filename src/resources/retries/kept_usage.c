/* See resources/retries/kept_usage.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/retries/kept_usage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "records/record.h"
#include "resources/record_kind.h"

/* A day in intervals of ten minutes, and the current interval. */
#define BUCKETS 145
#define BUCKET_MILLISECONDS 600000
/* When this many bytes have been counted, they are added to the record early. */
#define BYTES_ADDED ((uint64_t)4 << 20)

struct amount {
	uint64_t answers, bytes;
};

/* An account that has sent Idempotency-Keys to this process. */
struct entry {
	struct id account;
	struct amount stored; /* the sum of the day when the record was last read */
	struct amount counted; /* by this process, and not in the record yet */
	struct amount adding; /* taken from `counted` by the call that is adding it */
	int64_t added; /* clock_monotonic of the last addition */
	bool is_known; /* the record has been read */
	bool is_adding;
};

struct kept_usage {
	pthread_mutex_t lock;
	struct entry *entries; /* sorted by account */
	size_t count, capacity;
	_Atomic uint64_t replays;
};

/* The counts of one call. */
struct counting {
	struct amount own;
	bool adds;
	struct amount sum; /* of the record that it wrote */
};

struct kept_usage *kept_usage_open(void)
{
	struct kept_usage *usage = memory_check(calloc(1, sizeof *usage));

	if (pthread_mutex_init(&usage->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return usage;
}

void kept_usage_close(struct kept_usage *usage)
{
	if (usage == NULL)
		return;
	pthread_mutex_destroy(&usage->lock);
	free(usage->entries);
	free(usage);
}

/* Returns the account's entry, and adds it if necessary. Needs the lock. */
static struct entry *usage_entry(struct kept_usage *usage, const struct id *account)
{
	const size_t place = id_place(account, usage->entries, usage->count,
				      sizeof *usage->entries);

	if (place < usage->count && id_compare(&usage->entries[place].account, account) == 0)
		return &usage->entries[place];
	usage->entries = memory_room(usage->entries, usage->count + 1, &usage->capacity,
				     sizeof *usage->entries);
	memmove(&usage->entries[place + 1], &usage->entries[place],
		(usage->count - place) * sizeof *usage->entries);
	usage->entries[place] = (struct entry){ .account = *account };
	usage->count++;
	return &usage->entries[place];
}

static bool entry_is_due(const struct entry *entry, int64_t now)
{
	return !entry->is_adding && (!entry->is_known || now - entry->added >= KEPT_USAGE_PERIOD ||
				     entry->counted.bytes >= BYTES_ADDED);
}

/* ---- the record ---- */

struct day {
	struct store_record stored;
	int64_t last; /* number of the last bucket */
	struct amount buckets[BUCKETS]; /* the last element is the bucket `last` */
	size_t count; /* always BUCKETS */
};

static const struct member amount_members[] = {
	{ "answers", AS_NUMBER(8, 0, UNLIMITED), AT(struct amount, answers) },
	{ "bytes", AS_NUMBER(8, 0, UNLIMITED), AT(struct amount, bytes) },
};
static const struct record_table amount_table = { ITEMS(struct amount, amount_members) };

static const struct member day_members[] = {
	{ "last", AS_NUMBER(8, 0, UNLIMITED), AT(struct day, last) },
	{ "buckets", AS_ARRAY(struct day, count, BUCKETS, amount_table), AT(struct day, buckets) },
};
const struct record_table kept_usage_table = { RECORD(struct day, day_members, 0,
						      &kind_kept_usage) };
const struct record_kind kept_usage_kind = { &kept_usage_table, .order = RECORD_ONE };

/* ---- counting ---- */

bool kept_usage_is_due(const struct call *call)
{
	struct kept_usage *usage = call->environment->kept_usage;
	bool is_read;

	if (usage == NULL)
		return false;
	pthread_mutex_lock(&usage->lock);
	is_read = entry_is_due(usage_entry(usage, &call->account), clock_monotonic());
	pthread_mutex_unlock(&usage->lock);
	return is_read;
}

/* Adds the counts of this process and of the call to the record. */
static bool add_to_record(struct call *call, struct counting *counting, struct amount adding,
			  struct fault *fault)
{
	const int64_t last = call->now / BUCKET_MILLISECONDS;
	struct amount *present;
	struct day day;
	int64_t by;

	if (!record_get(&kept_usage_table, call->transaction, &kind_only_id, STORE_TO_CHANGE, &day,
			fault))
		return false;
	day.count = BUCKETS;

	/* The last bucket becomes the current interval; nothing moves if the clock was set back. */
	by = last - day.last;
	for (int64_t i = 0; i < BUCKETS && by > 0; i++)
		day.buckets[i] = i + by < BUCKETS ? day.buckets[i + by] : (struct amount){ 0, 0 };
	if (by > 0)
		day.last = last;

	present = &day.buckets[BUCKETS - 1];
	present->answers += adding.answers + counting->own.answers;
	present->bytes += adding.bytes + counting->own.bytes;
	for (size_t i = 0; i < BUCKETS; i++) {
		counting->sum.answers += day.buckets[i].answers;
		counting->sum.bytes += day.buckets[i].bytes;
	}
	return record_put(&kept_usage_table, call->transaction, &day, fault);
}

static bool refuse_usage(struct fault *fault)
{
	fault_detail(
		fault, FAULT_TOO_MANY,
		"Idempotency-Key: the account has used %llu keys or %llu MB of stored responses in the "
		"last 24 hours",
		(unsigned long long)KEPT_ANSWERS_MOST,
		(unsigned long long)(KEPT_ANSWER_BYTES_MOST >> 20));
	fault->retry_after = BUCKET_MILLISECONDS / 1000;
	return false;
}

bool kept_usage_add(struct call *call, size_t bytes, struct fault *fault)
{
	struct kept_usage *usage = call->environment->kept_usage;
	struct counting *counting = arena_zero(call->arena, sizeof *counting);
	struct amount adding;
	struct entry *entry;
	bool is_full;

	if (usage == NULL)
		return true;
	counting->own = (struct amount){ 1, bytes };
	call->counting = counting;
	pthread_mutex_lock(&usage->lock);
	entry = usage_entry(usage, &call->account);
	counting->adds = entry_is_due(entry, clock_monotonic());
	if (counting->adds) {
		entry->is_adding = true;
		entry->adding = entry->counted;
		entry->counted = (struct amount){ 0, 0 };
	}
	adding = entry->adding;
	is_full = entry->stored.answers + entry->counted.answers + adding.answers >=
			  KEPT_ANSWERS_MOST ||
		  entry->stored.bytes + entry->counted.bytes + adding.bytes + bytes >
			  KEPT_ANSWER_BYTES_MOST;
	pthread_mutex_unlock(&usage->lock);
	if (!counting->adds)
		return !is_full || refuse_usage(fault);
	if (!add_to_record(call, counting, adding, fault))
		return false;
	return (counting->sum.answers <= KEPT_ANSWERS_MOST &&
		counting->sum.bytes <= KEPT_ANSWER_BYTES_MOST) ||
	       refuse_usage(fault);
}

void kept_usage_end(struct call *call, bool is_committed)
{
	struct kept_usage *usage = call->environment->kept_usage;
	const struct counting *counting = call->counting;
	struct entry *entry;

	call->counting = NULL;
	if (counting == NULL)
		return;
	pthread_mutex_lock(&usage->lock);
	entry = usage_entry(usage, &call->account);
	if (counting->adds) {
		entry->is_adding = false;
		if (is_committed) {
			entry->stored = counting->sum;
			entry->is_known = true;
			entry->added = clock_monotonic();
		} else {
			entry->counted.answers += entry->adding.answers;
			entry->counted.bytes += entry->adding.bytes;
		}
		entry->adding = (struct amount){ 0, 0 };
	} else if (is_committed) {
		entry->counted.answers += counting->own.answers;
		entry->counted.bytes += counting->own.bytes;
	}
	pthread_mutex_unlock(&usage->lock);
}

void kept_usage_count_replay(struct kept_usage *usage)
{
	if (usage != NULL)
		atomic_fetch_add_explicit(&usage->replays, 1, memory_order_relaxed);
}

uint64_t kept_usage_replays(struct kept_usage *usage)
{
	return usage == NULL ? 0 : atomic_load_explicit(&usage->replays, memory_order_relaxed);
}
