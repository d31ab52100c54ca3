/* See resources/misses.h. A table has groups of WAYS entries. A hash with a random key
 * selects the group of an address, so that clients cannot choose addresses with the same group. An
 * entry is free after its time has passed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/misses.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/token.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"

#define WAYS 8
#define PREFIX_SIZE 8 /* of an IPv6 address: its /64 */

/* The groups of a table, and the milliseconds for which it counts: for unknown codes; for sessions;
 * for RSA keys, whose address is an account; for tests, whose address is a hash of an account and a
 * webhook; for views of a room, whose address is a hash of the caller's entry; for all calls from
 * inside, and for those who were given access to a media server, whose address is a hash of the
 * account and the entry: others in the room see the entry, and could have an account. */
struct table {
	size_t first, count;
	int64_t lasts;
};
static const struct table codes = { 0, 16384, MISSES_MINUTE },
			  sessions = { 16384, 2048, MISSES_MINUTE },
			  keys = { 16384 + 2048, 512, MISSES_MINUTE },
			  tests = { 16384 + 2048 + 512, 512, MISSES_MINUTE },
			  views = { 16384 + 2048 + 512 + 512, 2048, 1000 },
			  inside = { 16384 + 2048 + 512 + 512 + 2048, 4096, 1000 },
			  joined = { 16384 + 2048 + 512 + 512 + 2048 + 4096, 4096,
				     MISSES_JOINED_FOR };
#define GROUPS (16384 + 2048 + 512 + 512 + 2048 + 4096 + 4096)

struct entry {
	unsigned char address[MISSES_ADDRESS_SIZE];
	int64_t began; /* start of the counted minute; 0 if never used */
	int64_t refused_until; /* 0 if not refused */
	unsigned count;
};

struct misses {
	pthread_mutex_t lock;
	uint64_t key[2];
	int64_t minute_began;
	unsigned minute_count, last_minute_count;
	uint64_t total;
	struct entry groups[GROUPS][WAYS]; /* the groups of all tables */
};

struct misses *misses_open(const struct clock *clock)
{
	struct misses *misses = memory_check(calloc(1, sizeof *misses));

	if (pthread_mutex_init(&misses->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	clock_random(clock, misses->key, sizeof misses->key);
	return misses;
}

void misses_close(struct misses *misses)
{
	if (misses == NULL)
		return;
	pthread_mutex_destroy(&misses->lock);
	free(misses);
}

void misses_address(struct slice text, unsigned char address[MISSES_ADDRESS_SIZE])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	char terminated[INET6_ADDRSTRLEN] = "";

	memset(address, 0, MISSES_ADDRESS_SIZE);
	if (text.size >= sizeof terminated)
		return;
	if (text.size > 0)
		memcpy(terminated, text.data, text.size);
	if (inet_pton(AF_INET, terminated, address + sizeof mapped) == 1) {
		memcpy(address, mapped, sizeof mapped);
		return;
	}
	if (inet_pton(AF_INET6, terminated, address) == 1 &&
	    memcmp(address, mapped, sizeof mapped) != 0)
		memset(address + PREFIX_SIZE, 0, MISSES_ADDRESS_SIZE - PREFIX_SIZE);
}

static uint64_t mix(uint64_t value)
{
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93u;
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93u;
	return value ^ value >> 32;
}

static struct entry *group_of(struct misses *misses, struct table table,
			      const unsigned char address[MISSES_ADDRESS_SIZE])
{
	const uint64_t *key = misses->key;
	uint64_t halves[2], hash;

	memcpy(halves, address, sizeof halves);
	hash = mix(mix(halves[0] ^ key[0]) ^ halves[1] ^ key[1]);
	return misses->groups[table.first + hash % table.count];
}

static struct entry *misses_find(struct misses *misses, struct table table,
				 const unsigned char address[MISSES_ADDRESS_SIZE])
{
	struct entry *group = group_of(misses, table, address);

	for (size_t i = 0; i < WAYS; i++) {
		if (group[i].began != 0 &&
		    memcmp(group[i].address, address, MISSES_ADDRESS_SIZE) == 0)
			return &group[i];
	}
	return NULL;
}

/* Returns the entry of the address, emptied if its time has passed. If it has none, empties the
 * oldest entry of its group. */
static struct entry *misses_entry(struct misses *misses, struct table table,
				  const unsigned char address[MISSES_ADDRESS_SIZE], int64_t now)
{
	struct entry *group = group_of(misses, table, address);
	struct entry *entry = misses_find(misses, table, address);

	if (entry == NULL) {
		entry = &group[0];
		for (size_t i = 1; i < WAYS; i++) {
			if (group[i].began < entry->began)
				entry = &group[i];
		}
	}
	if (memcmp(entry->address, address, MISSES_ADDRESS_SIZE) != 0 ||
	    (now - entry->began >= table.lasts && entry->refused_until <= now)) {
		memset(entry, 0, sizeof *entry);
		memcpy(entry->address, address, MISSES_ADDRESS_SIZE);
		entry->began = now;
	}
	return entry;
}

static void turn_minute(struct misses *misses, int64_t now)
{
	if (now - misses->minute_began < MISSES_MINUTE)
		return;
	misses->last_minute_count = now - misses->minute_began < 2 * MISSES_MINUTE
					    ? misses->minute_count
					    : 0;
	misses->minute_count = 0;
	misses->minute_began = now;
}

static bool is_under_attack(struct misses *misses, int64_t now)
{
	turn_minute(misses, now);
	return misses->minute_count > MISSES_SERVICE_MOST ||
	       misses->last_minute_count > MISSES_SERVICE_MOST;
}

/* entry: NULL if there are no misses. */
static unsigned seconds_left(const struct entry *entry, int64_t now)
{
	if (entry == NULL || entry->refused_until <= now)
		return 0;
	return (unsigned)((entry->refused_until - now + 999) / 1000);
}

unsigned misses_wait(struct misses *misses, struct slice address, int64_t now)
{
	unsigned char normal[MISSES_ADDRESS_SIZE];
	struct entry *entry;
	unsigned seconds;

	misses_address(address, normal);
	pthread_mutex_lock(&misses->lock);
	entry = misses_find(misses, codes, normal);
	if (entry != NULL && entry->refused_until == 0 && now - entry->began < MISSES_MINUTE &&
	    entry->count >= MISSES_ADDRESS_MOST_UNDER_ATTACK && is_under_attack(misses, now))
		entry->refused_until = now + MISSES_MINUTE;
	seconds = seconds_left(entry, now);
	pthread_mutex_unlock(&misses->lock);
	return seconds;
}

unsigned misses_count(struct misses *misses, struct slice address, int64_t now)
{
	unsigned char normal[MISSES_ADDRESS_SIZE];
	struct entry *entry;
	unsigned most, seconds;

	misses_address(address, normal);
	pthread_mutex_lock(&misses->lock);
	turn_minute(misses, now);
	misses->minute_count++;
	misses->total++;
	most = is_under_attack(misses, now) ? MISSES_ADDRESS_MOST_UNDER_ATTACK
					    : MISSES_ADDRESS_MOST;
	entry = misses_entry(misses, codes, normal, now);
	seconds = seconds_left(entry, now);
	entry->count++;
	if (entry->count >= most && entry->refused_until == 0)
		entry->refused_until = now + MISSES_MINUTE;
	pthread_mutex_unlock(&misses->lock);
	return seconds;
}

unsigned misses_session_wait(struct misses *misses, struct slice address, int64_t now)
{
	unsigned char normal[MISSES_ADDRESS_SIZE];
	unsigned seconds;

	misses_address(address, normal);
	pthread_mutex_lock(&misses->lock);
	seconds = seconds_left(misses_find(misses, sessions, normal), now);
	pthread_mutex_unlock(&misses->lock);
	return seconds;
}

void misses_session_count(struct misses *misses, struct slice address, int64_t now)
{
	unsigned char normal[MISSES_ADDRESS_SIZE];
	struct entry *entry;

	misses_address(address, normal);
	pthread_mutex_lock(&misses->lock);
	entry = misses_entry(misses, sessions, normal, now);
	if (++entry->count >= MISSES_ADDRESS_MOST && entry->refused_until == 0)
		entry->refused_until = now + MISSES_MINUTE;
	pthread_mutex_unlock(&misses->lock);
}

/* Counts n allowed actions, up to `most` in the time of the table. */
static unsigned count_allowed(struct misses *misses, struct table table,
			      const unsigned char address[MISSES_ADDRESS_SIZE], unsigned most,
			      int64_t now, unsigned n)
{
	struct entry *entry;
	unsigned seconds;

	pthread_mutex_lock(&misses->lock);
	entry = misses_entry(misses, table, address, now);
	seconds = seconds_left(entry, now);
	if (seconds == 0) {
		entry->count += n;
		if (entry->count >= most)
			entry->refused_until = entry->began + table.lasts;
	}
	pthread_mutex_unlock(&misses->lock);
	return seconds;
}

unsigned misses_keys_count(struct misses *misses, const struct id *account, int64_t now, unsigned n)
{
	unsigned char address[MISSES_ADDRESS_SIZE] = { 0 };

	memcpy(address, account->bytes, ID_SIZE);
	return count_allowed(misses, keys, address, MISSES_KEYS_MOST, now, n);
}

static bool refuse_codes(unsigned seconds, struct fault *fault)
{
	if (seconds == 0)
		return true;
	fault_detail(fault, FAULT_TOO_MANY, "too many unknown codes from this address");
	fault->retry_after = seconds;
	return false;
}

bool misses_check_codes(const struct call *call, struct fault *fault)
{
	return refuse_codes(
		misses_wait(call->environment->misses, call->request.address, clock_monotonic()),
		fault);
}

bool misses_count_code(const struct call *call, struct fault *fault)
{
	return refuse_codes(
		misses_count(call->environment->misses, call->request.address, clock_monotonic()),
		fault);
}

bool misses_count_test(struct call *call, const struct id *of, const char *what,
		       struct fault *fault)
{
	unsigned char digest[DIGEST_SIZE];
	char both[2 * ID_SIZE];
	unsigned seconds = 0;

	memcpy(both, call->account.bytes, ID_SIZE);
	memcpy(both + ID_SIZE, of->bytes, ID_SIZE);
	digest_sha256((struct slice){ both, sizeof both }, digest);
	if (!call->is_counted)
		seconds = count_allowed(call->environment->misses, tests, digest, MISSES_TESTS_MOST,
					clock_monotonic(), call->validates_only ? 0 : 1);
	if (seconds > 0) {
		fault_detail(fault, FAULT_TOO_MANY, "%s %d tests in a minute", what,
			     MISSES_TESTS_MOST);
		fault->retry_after = seconds;
		return false;
	}
	call->is_counted = true;
	return true;
}

bool misses_count_view(struct call *call, struct slice entry, struct fault *fault)
{
	unsigned char digest[DIGEST_SIZE];
	unsigned seconds = 0;

	digest_sha256(entry, digest);
	if (!call->is_counted)
		seconds = count_allowed(call->environment->misses, views, digest, MISSES_VIEWS_MOST,
					clock_monotonic(), 1);
	call->is_counted = true;
	if (seconds == 0)
		return true;
	fault_detail(fault, FAULT_TOO_MANY, "a person may ask %d times in a second",
		     MISSES_VIEWS_MOST);
	fault->retry_after = seconds;
	return false;
}

/* Writes a keyed hash of the account and the entry of the call's join token, whatever the size of
 * the entry. */
static void hash_of_bearer(const struct call *call, unsigned char hash[MISSES_ADDRESS_SIZE])
{
	const struct misses *misses = call->environment->misses;
	const struct slice parts[] = {
		{ (const char *)call->account.bytes, ID_SIZE },
		call->app_token->subject.entry,
	};
	uint64_t halves[2] = { misses->key[0], misses->key[1] };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		for (size_t at = 0; at < parts[i].size; at += sizeof(uint64_t)) {
			const size_t left = parts[i].size - at;
			uint64_t chunk = 0;

			memcpy(&chunk, parts[i].data + at,
			       left < sizeof chunk ? left : sizeof chunk);
			halves[0] = mix(halves[0] ^ chunk);
			halves[1] = mix(halves[1] + halves[0] + chunk);
		}
		halves[0] ^= parts[i].size;
	}
	memcpy(hash, halves, sizeof halves);
}

bool misses_count_inside(struct call *call, struct fault *fault)
{
	unsigned char hash[MISSES_ADDRESS_SIZE];
	unsigned seconds;

	if (call->is_counted_inside)
		return true;
	call->is_counted_inside = true;
	hash_of_bearer(call, hash);
	seconds = count_allowed(call->environment->misses, inside, hash, MISSES_INSIDE_MOST,
				clock_monotonic(), 1);
	if (seconds == 0)
		return true;
	fault_detail(fault, FAULT_TOO_MANY, "a person may call %d times in a second",
		     MISSES_INSIDE_MOST);
	fault->retry_after = seconds;
	return false;
}

void misses_note_joined(struct call *call)
{
	struct misses *misses = call->environment->misses;
	const int64_t now = clock_monotonic();
	unsigned char hash[MISSES_ADDRESS_SIZE];

	hash_of_bearer(call, hash);
	pthread_mutex_lock(&misses->lock);
	misses_entry(misses, joined, hash, now)->began = now;
	pthread_mutex_unlock(&misses->lock);
}

bool misses_has_joined(struct call *call)
{
	struct misses *misses = call->environment->misses;
	unsigned char hash[MISSES_ADDRESS_SIZE];
	const struct entry *entry;
	bool has;

	hash_of_bearer(call, hash);
	pthread_mutex_lock(&misses->lock);
	entry = misses_find(misses, joined, hash);
	has = entry != NULL && clock_monotonic() - entry->began < joined.lasts;
	pthread_mutex_unlock(&misses->lock);
	return has;
}

unsigned misses_rate(struct misses *misses, int64_t now)
{
	unsigned rate;

	pthread_mutex_lock(&misses->lock);
	turn_minute(misses, now);
	rate = misses->minute_count > misses->last_minute_count ? misses->minute_count
								: misses->last_minute_count;
	pthread_mutex_unlock(&misses->lock);
	return rate;
}

uint64_t misses_total(struct misses *misses)
{
	uint64_t total;

	pthread_mutex_lock(&misses->lock);
	total = misses->total;
	pthread_mutex_unlock(&misses->lock);
	return total;
}
