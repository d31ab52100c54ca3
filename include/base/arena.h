/* Memory and JSON that live as long as one call. What lives as long as the call comes from its arena
 * and is never freed by hand; every new JSON root is adopted in the expression that makes it
 * (arena_json(arena, json_pack(...))), and from then on all references are borrowed. An arena
 * belongs to one thread at a time; a call that is parked takes its arena along to the thread that
 * sends it. When the system's memory is gone, the process aborts.
 *
 * While an arena serves a thread (arena_serve), all memory that jansson takes on that thread comes
 * from it: what is made then ends with the next reset, whatever references are left, so that no tree
 * has to be walked to let it go. JSON that is to outlive the call is made while no arena serves. The
 * last reference to a value that came from an arena is given up while that arena serves, or never;
 * to one that came from malloc, at any time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <jansson.h>
#include <stddef.h>

#include "base/slice.h"

/* What one call may take; beyond, it is refused with 413. */
#define ARENA_LIMIT ((size_t)64 << 20)

struct arena;
struct block;
struct adopted;

struct arena *arena_open(void);
void arena_close(struct arena *arena);

/* Lets go of everything that was allocated or adopted; keeps a first block, so that the next call
 * costs no malloc. Other blocks are cleared before they are given back: they may have held secrets.
 * (What arena_adopt took is what is stored, and lies in the memory of the store as well.) */
void arena_reset(struct arena *arena);

/* A moment of an arena; valid until a reset, or a release to an earlier one. */
struct arena_mark {
	struct block *block;
	size_t taken, taken_before;
	struct adopted *adopted;
	size_t roots_n;
};

struct arena_mark arena_mark(const struct arena *arena);
/* Lets go of everything since the mark, as arena_reset does. What is older stays; it must not refer to
 * anything younger. */
void arena_release(struct arena *arena, const struct arena_mark *mark);

/* Never NULL; aligned for any type; not zeroed. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zero(struct arena *arena, size_t size);

/* Whether the newest piece of the arena, `data` of `size` bytes, could be made `wanted` bytes long
 * where it is. */
bool arena_extend(struct arena *arena, const void *data, size_t size, size_t wanted);

/* Whether `size` more bytes stay within ARENA_LIMIT. Whoever takes memory in proportion to what is
 * stored or sent asks first. */
bool arena_fits(const struct arena *arena, size_t size);
/* For a command, which has the whole memory of its process: a limit other than ARENA_LIMIT. */
void arena_set_limit(struct arena *arena, size_t limit);

/* Bytes handed out since the last reset. */
size_t arena_used(const struct arena *arena);

/* Takes over `size` bytes from malloc: they live as long as what the arena gives. */
void arena_adopt(struct arena *arena, void *memory, size_t size);

/* Copies; a terminating zero follows the bytes. */
struct slice arena_copy(struct arena *arena, struct slice bytes);
char *arena_text(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));

/* From now on jansson's memory on this thread comes from `arena` (NULL: from malloc). Gives back the
 * arena that served before, NULL if none did, for the caller to put it back. */
struct arena *arena_serve(struct arena *arena);

/* Takes over the reference to a root that was just made, and gives the same pointer back. NULL (out of
 * memory) aborts. */
json_t *arena_json(struct arena *arena, json_t *root);

/* A text that grows in an arena. `data` is NULL until something was appended. */
struct buffer {
	struct arena *arena;
	char *data;
	size_t size;
	size_t capacity;
};

#define BUFFER_INITIAL(from) ((struct buffer){ .arena = (from) })

/* More room than there is. */
void buffer_grow(struct buffer *buffer, size_t size);

/* Where `size` bytes may be written; they count only when buffer->size is raised. */
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

/* Compact JSON of any value: the same bytes as jansson's with JSON_COMPACT, JSON_ENCODE_ANY and
 * JSON_REAL_PRECISION(15), but integral reals are written as integers. */
void buffer_append_json(struct buffer *buffer, const json_t *value);
void buffer_append_integer(struct buffer *buffer, json_int_t value);
/* A JSON string with these characters, which are UTF-8. */
void buffer_append_string(struct buffer *buffer, struct slice string);
/* What stands in the buffer now; valid until the next append. */
struct slice buffer_slice(const struct buffer *buffer);

#endif
