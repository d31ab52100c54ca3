/* An overlay is a hash table of fixed width; each bucket is a list of keys, and each key has a list
 * of versions, newest first. New elements are published by a release store of the pointer to them
 * and read by acquire loads; apart from these pointers, reachable memory does not change. The table
 * never grows: its width follows from the size at which the overlay is frozen. Memory is mapped in
 * whole chunks and unmapped again, so that old overlays do not fragment the heap. Chunks can be
 * kept for the next overlay, because the system has to clear new ones page by page.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/gdbm/overlay.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/memory.h"

/* Bytes for each bucket: the size of a room code, the smallest frequent record. */
#define BYTES_A_BUCKET 128
#define BUCKETS_LEAST 64
#define CHUNK_SIZE ((size_t)256 << 10)
#define ALIGNMENT sizeof(uint64_t)

struct version {
	const struct version *older;
	uint64_t number;
	uint32_t size;
	bool is_removed;
	char bytes[];
};

struct node {
	struct node *next;
	_Atomic(const struct version *) newest;
	uint64_t hash;
	uint32_t key_size;
	char key[];
};

struct chunk {
	struct chunk *next;
	size_t size;
};

struct overlay_memory {
	pthread_mutex_t lock;
	struct chunk *kept; /* chunks of CHUNK_SIZE */
	size_t kept_bytes;
	size_t most; /* maximum of kept_bytes */
};

struct overlay {
	struct overlay_memory *memory;
	atomic_uint holders;
	struct chunk *chunks;
	char *free_space;
	size_t free_size;
	_Atomic size_t used; /* changed by the writer only */
	uint64_t last;
	size_t mask;
	_Atomic(struct node *) *buckets;
};

static struct chunk *take_kept(struct overlay_memory *memory)
{
	struct chunk *chunk;

	pthread_mutex_lock(&memory->lock);
	chunk = memory->kept;
	if (chunk != NULL) {
		memory->kept = chunk->next;
		memory->kept_bytes -= chunk->size;
	}
	pthread_mutex_unlock(&memory->lock);
	return chunk;
}

struct overlay_memory *overlay_memory_open(void)
{
	struct overlay_memory *memory = memory_check(calloc(1, sizeof *memory));

	pthread_mutex_init(&memory->lock, NULL);
	return memory;
}

void overlay_memory_keep(struct overlay_memory *memory, size_t most)
{
	struct chunk *chunk;

	pthread_mutex_lock(&memory->lock);
	memory->most = most;
	pthread_mutex_unlock(&memory->lock);
	while (most == 0 && (chunk = take_kept(memory)) != NULL)
		munmap(chunk, chunk->size);
}

void overlay_memory_close(struct overlay_memory *memory)
{
	if (memory == NULL)
		return;
	overlay_memory_keep(memory, 0);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

size_t overlay_size(const struct overlay *overlay)
{
	return atomic_load_explicit(&overlay->used, memory_order_relaxed);
}

static void *overlay_alloc(struct overlay *overlay, size_t size)
{
	char *result;

	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (size > overlay->free_size) {
		size_t whole = size + sizeof(struct chunk) > CHUNK_SIZE
				       ? size + sizeof(struct chunk)
				       : CHUNK_SIZE;
		struct chunk *chunk = whole == CHUNK_SIZE ? take_kept(overlay->memory) : NULL;

		/* Populated immediately, which costs less than page faults, because all of it will
		 * be written soon. */
		if (chunk == NULL)
			chunk = mmap(NULL, whole, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (chunk == MAP_FAILED)
			ABORT("no memory");
		chunk->size = whole;
		chunk->next = overlay->chunks;
		overlay->chunks = chunk;
		overlay->free_space = (char *)(chunk + 1);
		overlay->free_size = whole - sizeof *chunk;
	}
	result = overlay->free_space;
	overlay->free_space += size;
	overlay->free_size -= size;
	atomic_store_explicit(&overlay->used, overlay_size(overlay) + size, memory_order_relaxed);
	return result;
}

struct overlay *overlay_open(struct overlay_memory *memory, size_t bytes)
{
	struct overlay *overlay = memory_check(calloc(1, sizeof *overlay));
	size_t n = BUCKETS_LEAST;

	overlay->memory = memory;
	atomic_init(&overlay->holders, 1);
	while (n < bytes / BYTES_A_BUCKET)
		n *= 2;
	overlay->mask = n - 1;
	/* calloc maps this memory, so pages are cleared only when they are touched. This matters
	 * because a writer waits for this function. */
	overlay->buckets = memory_check(calloc(n, sizeof *overlay->buckets));
	return overlay;
}

void overlay_hold(struct overlay *overlay)
{
	atomic_fetch_add(&overlay->holders, 1);
}

void overlay_release(struct overlay *overlay)
{
	struct overlay_memory *memory = overlay->memory;

	if (atomic_fetch_sub(&overlay->holders, 1) > 1)
		return;
	while (overlay->chunks != NULL) {
		struct chunk *chunk = overlay->chunks;
		bool is_kept;

		overlay->chunks = chunk->next;
		pthread_mutex_lock(&memory->lock);
		is_kept = chunk->size == CHUNK_SIZE &&
			  memory->kept_bytes + chunk->size <= memory->most;
		if (is_kept) {
			chunk->next = memory->kept;
			memory->kept = chunk;
			memory->kept_bytes += chunk->size;
		}
		pthread_mutex_unlock(&memory->lock);
		if (!is_kept)
			munmap(chunk, chunk->size);
	}
	free(overlay->buckets);
	free(overlay);
}

static struct node *node_find(const struct overlay *overlay, const struct entry_key *key)
{
	struct node *node = atomic_load_explicit(&overlay->buckets[key->hash & overlay->mask],
						 memory_order_acquire);

	while (node != NULL && (node->hash != key->hash || node->key_size != key->size ||
				memcmp(node->key, key->bytes, key->size) != 0))
		node = node->next;
	return node;
}

void overlay_put(struct overlay *overlay, const struct entry_key *key, uint64_t number,
		 struct slice value)
{
	struct node *node = node_find(overlay, key);
	struct version *version = overlay_alloc(overlay, sizeof *version + value.size);

	assert(number >= overlay->last);
	*version = (struct version){ .number = number, .size = (uint32_t)value.size };
	version->is_removed = value.data == NULL;
	if (value.size > 0)
		memcpy(version->bytes, value.data, value.size);
	overlay->last = number;
	if (node != NULL) {
		version->older = atomic_load_explicit(&node->newest, memory_order_relaxed);
		atomic_store_explicit(&node->newest, version, memory_order_release);
		return;
	}
	node = overlay_alloc(overlay, sizeof *node + key->size);
	atomic_init(&node->newest, version);
	node->hash = key->hash;
	node->key_size = (uint32_t)key->size;
	memcpy(node->key, key->bytes, key->size);
	node->next = atomic_load_explicit(&overlay->buckets[key->hash & overlay->mask],
					  memory_order_relaxed);
	atomic_store_explicit(&overlay->buckets[key->hash & overlay->mask], node,
			      memory_order_release);
}

static const struct version *version_find(const struct node *node, uint64_t number)
{
	const struct version *version = atomic_load_explicit(&node->newest, memory_order_acquire);

	while (version != NULL && version->number > number)
		version = version->older;
	return version;
}

static struct slice version_value(const struct version *version)
{
	if (version->is_removed)
		return (struct slice){ NULL, 0 };
	return (struct slice){ version->bytes, version->size };
}

bool overlay_get(const struct overlay *overlay, const struct entry_key *key, uint64_t number,
		 struct slice *value)
{
	const struct node *node = node_find(overlay, key);
	const struct version *version = node == NULL ? NULL : version_find(node, number);

	if (version == NULL)
		return false;
	*value = version_value(version);
	return true;
}

uint64_t overlay_last(const struct overlay *overlay)
{
	return overlay->last;
}

static int entry_compare(const void *a, const void *b)
{
	const struct overlay_entry *left = a, *right = b;

	return entry_key_compare(left->order, left->key, right->order, right->key);
}

struct overlay_entry *overlay_sorted(const struct overlay *overlay, uint64_t number, size_t *n)
{
	struct overlay_entry *entries = NULL;
	size_t capacity = 0;

	*n = 0;
	for (size_t i = 0; i <= overlay->mask; i++) {
		const struct node *node = atomic_load_explicit(&overlay->buckets[i],
							       memory_order_acquire);

		for (; node != NULL; node = node->next) {
			const struct version *version = version_find(node, number);
			struct slice key = { node->key, node->key_size };

			if (version == NULL)
				continue;
			entries = memory_room(entries, *n + 1, &capacity, sizeof *entries);
			entries[(*n)++] = (struct overlay_entry){ key, entry_key_order(key),
								  version_value(version) };
		}
	}
	if (*n > 0)
		qsort(entries, *n, sizeof *entries, entry_compare);
	return entries;
}
