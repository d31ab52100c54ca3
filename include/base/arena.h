/* An arena allocator for memory and JSON that live as long as one call; nothing is freed by hand.
 * The expression that creates a JSON root also hands it to the arena: arena_json(arena,
 * json_pack(...)). From then on all references are borrowed. An arena belongs to one thread at a
 * time; a parked call takes its arena along to the thread that sends the response. The process
 * aborts if it runs out of memory.
 *
 * While a thread uses an arena for JSON (arena_use_for_json), jansson allocates from it on that
 * thread. The next reset frees that JSON, whatever its reference counts, so no tree has to be
 * walked. Create JSON that outlives the call while the thread uses no arena. Drop the last
 * reference to a value from an arena while the thread uses that arena, or never; the last reference
 * to a value from malloc may be dropped at any time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <jansson.h>
#include <stddef.h>

#include "base/slice.h"

/* The limit for one call; a call that needs more is rejected with 413. */
#define ARENA_LIMIT ((size_t)64 << 20)

struct arena;
struct block;
struct adopted;

struct arena *arena_open(void);
void arena_close(struct arena *arena);

/* Releases everything that was allocated or adopted. Keeps the first block, so that the next call
 * needs no malloc. Clears the other blocks before freeing them, because they may hold secrets;
 * memory from arena_adopt is not cleared. */
void arena_reset(struct arena *arena);

/* A position in an arena. Valid until the arena is reset, or released to an earlier position. */
struct arena_mark {
	struct block *block;
	size_t taken, taken_before;
	struct adopted *adopted;
};

struct arena_mark arena_mark(const struct arena *arena);
/* Releases everything since the mark, as arena_reset does. Older memory must not refer to it. */
void arena_release(struct arena *arena, const struct arena_mark *mark);

/* Return memory that is aligned for any type, never NULL. arena_zero zeroes it. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zero(struct arena *arena, size_t size);

/* Extends the newest allocation, `data` of `size` bytes, in place to `wanted` bytes. Returns false
 * if the block has no room. */
bool arena_extend(struct arena *arena, const void *data, size_t size, size_t wanted);

/* Returns a larger array for at least `wanted` items: `items`, extended in place or copied. */
void *arena_larger(struct arena *arena, void *items, size_t wanted, size_t *capacity, size_t size);

/* Returns an array with room for `wanted` items: `items`, or a larger one that replaces it. Each
 * item has `size` bytes. An empty array is NULL with *capacity 0. For arrays from malloc(3):
 * memory_room. */
static inline void *arena_room(struct arena *arena, void *items, size_t wanted, size_t *capacity,
			       size_t size)
{
	return wanted <= *capacity ? items : arena_larger(arena, items, wanted, capacity, size);
}

/* Returns true if `size` more bytes stay within the limit. Call it before allocating memory in
 * proportion to stored or received data. */
bool arena_fits(const struct arena *arena, size_t size);
/* Replaces ARENA_LIMIT; for commands, which may use all memory of the machine. */
void arena_set_limit(struct arena *arena, size_t limit);

/* Returns the number of bytes allocated since the last reset. */
size_t arena_used(const struct arena *arena);

/* Takes ownership of `size` bytes from malloc and frees them at the next reset. */
void arena_adopt(struct arena *arena, void *memory, size_t size);

/* Return a copy, or a formatted text, with a terminating zero after it. */
struct slice arena_copy(struct arena *arena, struct slice bytes);
char *arena_text(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));

/* Makes jansson allocate from `arena` on this thread, or from malloc if it is NULL. Returns the
 * arena used before, or NULL; the caller restores it. */
struct arena *arena_use_for_json(struct arena *arena);

/* Takes the reference to a new root and returns the same pointer. Aborts if `root` is NULL (out of
 * memory). */
json_t *arena_json(struct arena *arena, json_t *root);

/* Set a member, or append an item. They take the reference to `value`, and abort if it is NULL (out
 * of memory). */
void object_put(json_t *object, const char *name, json_t *value);
void array_put(json_t *array, json_t *value);

/* A text that grows in an arena. `data` is NULL until something is appended. */
struct buffer {
	struct arena *arena;
	char *data;
	size_t size;
	size_t capacity;
};

#define BUFFER_INITIAL(from) ((struct buffer){ .arena = (from) })

/* Makes room for `size` more bytes. */
void buffer_grow(struct buffer *buffer, size_t size);

/* Returns room for `size` bytes. They become content only when the caller increases
 * buffer->size. */
static inline char *buffer_reserve(struct buffer *buffer, size_t size)
{
	if (size >= buffer->capacity - buffer->size)
		buffer_grow(buffer, size);
	return buffer->data + buffer->size;
}

static inline void buffer_append(struct buffer *buffer, struct slice bytes)
{
	char *place = buffer_reserve(buffer, bytes.size);

	if (bytes.size > 0)
		memcpy(place, bytes.data, bytes.size);
	buffer->size += bytes.size;
}

static inline void buffer_append_byte(struct buffer *buffer, char byte)
{
	*buffer_reserve(buffer, 1) = byte;
	buffer->size++;
}

static inline void buffer_append_text(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, slice_of(text));
}

/* Appends any value as compact JSON: the output of jansson with JSON_COMPACT, JSON_ENCODE_ANY and
 * JSON_REAL_PRECISION(15), except that integral reals are written as integers. */
void buffer_append_json(struct buffer *buffer, const json_t *value);
void buffer_append_integer(struct buffer *buffer, json_int_t value);
/* Appends a JSON string; `string` is UTF-8. */
void buffer_append_string(struct buffer *buffer, struct slice string);
/* Appends a member whose value is a string. label: the text before the value, such as
 * `,"name":`. */
static inline void buffer_append_member(struct buffer *buffer, const char *label,
					struct slice string)
{
	buffer_append_text(buffer, label);
	buffer_append_string(buffer, string);
}
/* Returns the content, which is valid until the next append. */
struct slice buffer_slice(const struct buffer *buffer);

#endif
