/* See accounts/token_memory.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/token_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"

#define PLACES 2048
/* Our tokens have about 350 characters. Tokens longer than this are not cached. */
#define KEPT_MOST 896

struct place {
	pthread_mutex_t lock;
	struct verified_token verified;
	size_t size; /* 0 if the place is empty */
	char token[KEPT_MOST];
};

struct token_memory {
	_Atomic uint64_t count; /* places in use */
	struct place places[PLACES];
};

struct token_memory *token_memory_open(void)
{
	struct token_memory *memory = memory_check(calloc(1, sizeof *memory));

	for (size_t i = 0; i < PLACES; i++)
		if (pthread_mutex_init(&memory->places[i].lock, NULL) != 0)
			ABORT("cannot create a lock");
	return memory;
}

void token_memory_close(struct token_memory *memory)
{
	if (memory == NULL)
		return;
	for (size_t i = 0; i < PLACES; i++)
		pthread_mutex_destroy(&memory->places[i].lock);
	explicit_bzero(memory, sizeof *memory);
	free(memory);
}

uint64_t token_memory_count(const struct token_memory *memory)
{
	return memory == NULL ? 0 : atomic_load(&memory->count);
}

/* Selects a place by a few characters of the signature, which suffices because verified signatures
 * are evenly distributed. A token that is not verified only selects the place to compare with. */
static struct place *token_place(struct token_memory *memory, struct slice token)
{
	size_t from = token.size < 16 ? 0 : token.size - 16;
	uint32_t sum = 2166136261u;

	for (size_t i = from; i < token.size; i++)
		sum = (sum ^ (unsigned char)token.data[i]) * 16777619u;
	return &memory->places[sum % PLACES];
}

static void acquire(struct place *place)
{
	if (pthread_mutex_lock(&place->lock) != 0)
		ABORT("a lock failed");
}

static void let_go(struct place *place)
{
	if (pthread_mutex_unlock(&place->lock) != 0)
		ABORT("a lock failed");
}

bool token_memory_find(struct token_memory *memory, struct slice token,
		       struct verified_token *verified)
{
	if (memory == NULL || token.size == 0 || token.size > KEPT_MOST)
		return false;

	struct place *place = token_place(memory, token);

	acquire(place);

	bool is_known = text_equal_secret((struct slice){ place->token, place->size }, token);

	if (is_known)
		*verified = place->verified;
	let_go(place);
	return is_known;
}

void token_memory_keep(struct token_memory *memory, struct slice token,
		       const struct verified_token *verified)
{
	if (memory == NULL || token.size > KEPT_MOST)
		return;

	struct place *place = token_place(memory, token);

	acquire(place);
	if (place->size == 0)
		atomic_fetch_add(&memory->count, 1);
	place->verified = *verified;
	place->size = token.size;
	memcpy(place->token, token.data, token.size);
	let_go(place);
}
