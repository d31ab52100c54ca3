/* Bump allocation in blocks. The first block survives every reset. The others double in size, up to
 * 1 MiB or an eighth of the memory used so far, and a reset frees them. JSON allocated while the
 * arena serves its thread lies in the blocks. Other JSON roots are in a list with adopted memory,
 * which is released newest first.
 *
 * Memory that jansson frees is recognised by its address: inside a block of the serving arena it
 * stays there, everything else goes to free(). Under AddressSanitizer, only the allocated part of a
 * block may be touched.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/arena.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"

#define FIRST_BLOCK ((size_t)64 << 10)
#define LARGEST_BLOCK ((size_t)1 << 20)
#define ALIGNMENT alignof(max_align_t)

#if defined(__SANITIZE_ADDRESS__)
#define IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_WATCHED 1
#endif
#endif

#ifdef IS_WATCHED
#include <sanitizer/asan_interface.h>
#define FORBID(place, size) ASAN_POISON_MEMORY_REGION((place), (size))
#define ALLOW(place, size) ASAN_UNPOISON_MEMORY_REGION((place), (size))
#else
#define FORBID(place, size) ((void)(place), (void)(size))
#define ALLOW(place, size) ((void)(place), (void)(size))
#endif

struct block {
	struct block *previous;
	size_t size; /* bytes in `bytes` */
	alignas(max_align_t) char bytes[];
};

/* Memory from arena_adopt, or a root from arena_json; the entries themselves lie in the blocks. */
struct adopted {
	struct adopted *previous;
	void *memory;
	json_t *root;
};

struct arena {
	struct block *block; /* the newest */
	size_t limit; /* see arena_fits */
	size_t taken; /* bytes of the newest block */
	size_t taken_before; /* bytes of the other blocks and of adopted memory */
	struct adopted *adopted; /* the newest */
};

/* The arena that serves this thread. */
static _Thread_local struct arena *serving;

static struct block *block_open(struct block *previous, size_t size)
{
	struct block *block = memory_check(malloc(sizeof *block + size));

	block->previous = previous;
	block->size = size;
	FORBID(block->bytes, size);
	return block;
}

/* ---- jansson's memory ---- */

static void *take(size_t size)
{
	return serving != NULL ? arena_alloc(serving, size) : malloc(size);
}

static void give_back(void *place)
{
	const struct block *block = serving == NULL ? NULL : serving->block;

	/* What is in the arena is freed with it. */
	for (; block != NULL; block = block->previous)
		if ((uintptr_t)place >= (uintptr_t)block->bytes &&
		    (uintptr_t)place - (uintptr_t)block->bytes < block->size)
			return;
	free(place);
}

static pthread_once_t serving_once = PTHREAD_ONCE_INIT;

static void begin_serving(void)
{
	json_set_alloc_funcs(take, give_back);
}

struct arena *arena_use_for_json(struct arena *arena)
{
	struct arena *before = serving;

	serving = arena;
	return before;
}

/* ---- arenas ---- */

struct arena *arena_open(void)
{
	struct arena *arena = memory_check(calloc(1, sizeof *arena));

	if (pthread_once(&serving_once, begin_serving) != 0)
		ABORT("cannot create a thread key");
	arena->block = block_open(NULL, FIRST_BLOCK);
	arena->limit = ARENA_LIMIT;
	return arena;
}

/* Clears the content before freeing it, because it may be a credential or the text of the accounts
 * file. Bytes after `taken` are unused. */
static void block_close(struct block *block, size_t taken)
{
	ALLOW(block->bytes, taken);
	explicit_bzero(block->bytes, taken);
	free(block);
}

void arena_close(struct arena *arena)
{
	if (arena == NULL)
		return;
	arena_reset(arena);
	block_close(arena->block, arena->block->size);
	free(arena);
}

struct arena_mark arena_mark(const struct arena *arena)
{
	return (struct arena_mark){
		.block = arena->block,
		.taken = arena->taken,
		.taken_before = arena->taken_before,
		.adopted = arena->adopted,
	};
}

void arena_release(struct arena *arena, const struct arena_mark *mark)
{
	for (; arena->adopted != mark->adopted; arena->adopted = arena->adopted->previous) {
		json_decref(arena->adopted->root);
		free(arena->adopted->memory);
	}
	while (arena->block != mark->block) {
		struct block *previous = arena->block->previous;

		block_close(arena->block, arena->taken);
		arena->block = previous;
		arena->taken = previous->size;
	}
	FORBID(arena->block->bytes + mark->taken, arena->block->size - mark->taken);
	arena->taken = mark->taken;
	arena->taken_before = mark->taken_before;
}

void arena_reset(struct arena *arena)
{
	struct arena_mark start = { .block = arena->block };

	while (start.block->previous != NULL)
		start.block = start.block->previous;
	arena_release(arena, &start);
}

/* Adds a block; the rest of the newest one stays unused. Not inlined, so that arena_alloc stays
 * short. */
static __attribute__((noinline)) void grow(struct arena *arena, size_t size)
{
	size_t next = 2 * arena->block->size;

	if (next > LARGEST_BLOCK)
		next = LARGEST_BLOCK;
	/* Keeps the number of blocks low, because give_back searches them one by one. */
	if (next < arena->taken_before / 8)
		next = arena->taken_before / 8;
	arena->block = block_open(arena->block, size > next ? size : next);
	arena->taken_before += arena->taken;
	arena->taken = 0;
}

/* Rounds a size up for alignment. An empty allocation gets an address of its own. */
static size_t rounded_up(size_t size)
{
	if (size > SIZE_MAX / 2)
		ABORT("size too large");
	return size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t rounded = rounded_up(size);

	if (rounded > arena->block->size - arena->taken)
		grow(arena, rounded);

	void *result = arena->block->bytes + arena->taken;

	ALLOW(result, size);
	arena->taken += rounded;
	return result;
}

bool arena_extend(struct arena *arena, const void *data, size_t size, size_t wanted)
{
	struct block *block = arena->block;
	size_t rounded = rounded_up(size);
	size_t more = rounded_up(wanted) - rounded;

	if ((const char *)data + rounded != block->bytes + arena->taken ||
	    more > block->size - arena->taken)
		return false;
	ALLOW(data, wanted);
	arena->taken += more;
	return true;
}

void *arena_larger(struct arena *arena, void *items, size_t wanted, size_t *capacity, size_t size)
{
	const size_t former = *capacity * size;
	void *larger;

	*capacity = memory_larger(*capacity, wanted);
	if (former > 0 && arena_extend(arena, items, former, *capacity * size))
		return items;
	larger = arena_alloc(arena, *capacity * size);
	if (former > 0)
		memcpy(larger, items, former);
	return larger;
}

void *arena_zero(struct arena *arena, size_t size)
{
	return memset(arena_alloc(arena, size), 0, size);
}

static void adopt(struct arena *arena, void *memory, json_t *root)
{
	struct adopted *adopted = arena_alloc(arena, sizeof *adopted);

	*adopted = (struct adopted){ arena->adopted, memory, root };
	arena->adopted = adopted;
}

void arena_adopt(struct arena *arena, void *memory, size_t size)
{
	adopt(arena, memory, NULL);
	arena->taken_before += size;
}

bool arena_fits(const struct arena *arena, size_t size)
{
	size_t used = arena_used(arena);

	return used <= arena->limit && size <= arena->limit - used;
}

void arena_set_limit(struct arena *arena, size_t limit)
{
	arena->limit = limit;
}

size_t arena_used(const struct arena *arena)
{
	return arena->taken_before + arena->taken;
}

struct slice arena_copy(struct arena *arena, struct slice bytes)
{
	char *copy = arena_alloc(arena, bytes.size + 1);

	if (bytes.size > 0)
		memcpy(copy, bytes.data, bytes.size);
	copy[bytes.size] = '\0';
	return (struct slice){ copy, bytes.size };
}

char *arena_text(struct arena *arena, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0)
		ABORT("invalid format");

	char *text = arena_alloc(arena, (size_t)size + 1);

	va_start(arguments, format);
	(void)vsnprintf(text, (size_t)size + 1, format, arguments);
	va_end(arguments);
	return text;
}

json_t *arena_json(struct arena *arena, json_t *root)
{
	if (root == NULL)
		ABORT("cannot create a JSON value");
	if (arena != serving)
		adopt(arena, NULL, root);
	return root;
}

void object_put(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) != 0)
		ABORT("cannot change a JSON value");
}

void array_put(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) != 0)
		ABORT("cannot change a JSON value");
}
