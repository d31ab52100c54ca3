/* See background/claims.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/claims.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct claim {
	struct claim *next;
	struct id account;
	unsigned char fingerprint[DIGEST_SIZE];
	struct asking *waiting; /* linked by next_follower */
	size_t key_size;
	char key[];
};

struct claims {
	pthread_mutex_t lock;
	struct claim *first;
};

struct claims *claims_open(void)
{
	struct claims *claims = memory_check(calloc(1, sizeof *claims));

	if (pthread_mutex_init(&claims->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return claims;
}

void claims_close(struct claims *claims)
{
	if (claims == NULL)
		return;
	while (claims->first != NULL) {
		struct claim *next = claims->first->next;

		free(claims->first);
		claims->first = next;
	}
	pthread_mutex_destroy(&claims->lock);
	free(claims);
}

/* Returns the link to a claim; *link is NULL if there is none. The caller holds the lock. */
static struct claim **claim_find(struct claims *claims, const struct id *account, struct slice key)
{
	struct claim **link = &claims->first;

	while (*link != NULL &&
	       (id_compare(&(*link)->account, account) != 0 ||
		!slice_equal((struct slice){ (*link)->key, (*link)->key_size }, key)))
		link = &(*link)->next;
	return link;
}

enum claim_result claims_take(struct claims *claims, const struct id *account, struct slice key,
			      const unsigned char *fingerprint)
{
	enum claim_result result = CLAIM_IS_OURS;
	struct claim **link, *claim;

	pthread_mutex_lock(&claims->lock);
	link = claim_find(claims, account, key);
	if (*link != NULL) {
		result = digest_equal((*link)->fingerprint, fingerprint) ? CLAIM_IS_TAKEN
									 : CLAIM_DIFFERS;
	} else {
		claim = *link = memory_check(malloc(sizeof *claim + key.size));
		*claim = (struct claim){ .account = *account, .key_size = key.size };
		memcpy(claim->fingerprint, fingerprint, DIGEST_SIZE);
		memcpy(claim->key, key.data, key.size);
	}
	pthread_mutex_unlock(&claims->lock);
	return result;
}

/* Goes on with calls that waited. The caller does not hold the lock. */
static void waiting_end(struct asking *first, bool has_timed_out)
{
	while (first != NULL) {
		struct asking *next = first->next_follower;

		first->has_timed_out = has_timed_out;
		first->is_done = true;
		first->done(first->context, first);
		first = next;
	}
}

void claims_release(struct claims *claims, const struct id *account, struct slice key)
{
	struct claim **link, *claim;

	pthread_mutex_lock(&claims->lock);
	link = claim_find(claims, account, key);
	claim = *link;
	*link = claim->next;
	pthread_mutex_unlock(&claims->lock);
	waiting_end(claim->waiting, false);
	free(claim);
}

void claims_wait(struct claims *claims, struct asking *asking,
		 void (*done)(void *context, struct asking *asking), void *context)
{
	struct claim *claim;

	asking->done = done;
	asking->context = context;
	asking->next_follower = NULL;
	pthread_mutex_lock(&claims->lock);
	claim = *claim_find(claims, &asking->account, asking->person);
	if (claim != NULL) {
		asking->next_follower = claim->waiting;
		claim->waiting = asking;
	}
	pthread_mutex_unlock(&claims->lock);
	if (claim == NULL)
		waiting_end(asking, false);
}

int64_t claims_expire(struct claims *claims, int64_t now)
{
	struct asking *late = NULL;
	int64_t next = INT64_MAX;

	pthread_mutex_lock(&claims->lock);
	for (struct claim *claim = claims->first; claim != NULL; claim = claim->next) {
		struct asking **link = &claim->waiting, *asking;

		while ((asking = *link) != NULL) {
			if (asking->until > now) {
				next = asking->until < next ? asking->until : next;
				link = &asking->next_follower;
				continue;
			}
			*link = asking->next_follower;
			asking->next_follower = late;
			late = asking;
		}
	}
	pthread_mutex_unlock(&claims->lock);
	waiting_end(late, true);
	return next;
}

void claims_end_all(struct claims *claims)
{
	(void)claims_expire(claims, INT64_MAX);
}
