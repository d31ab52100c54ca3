/* Identifiers: IDs, UUIDs and room codes. An ID is 12 bytes, written as 24 lower-case hex digits: 4
 * bytes of time (seconds), a 5-byte number that counts up within its account and kind, and 3 random
 * bytes. Within an account and kind, time and number never decrease, so IDs sort by age.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_ID_H
#define BASE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/slice.h"

#define ID_SIZE 12
#define ID_TEXT_SIZE (2 * ID_SIZE)
#define ID_NUMBER_MAX (((uint64_t)1 << 40) - 1)
/* The last millisecond (Unix time) whose second fits into an ID, in the year 2106. */
#define ID_TIME_MAX (((int64_t)UINT32_MAX + 1) * 1000 - 1)

struct id {
	unsigned char bytes[ID_SIZE];
};

/* Returns a new ID. seconds: time of creation, since 1970. number: at most ID_NUMBER_MAX. */
struct id id_make(const struct clock *clock, uint32_t seconds, uint64_t number);
/* Returns the lowest ID with that time and number. Uses the last 40 bits of the number. */
struct id id_lowest(uint32_t seconds, uint64_t number);
/* Returns an ID of twelve random bytes, for accounts and access keys. */
struct id id_random(const struct clock *clock);
/* Writes a number that is not negative, such as a time, big-endian into the first six bytes. */
void id_begin(struct id *id, int64_t number);

/* Returns false unless the text is 24 lower-case hex digits. */
bool id_parse(struct slice text, struct id *id);
/* Writes the 24 digits and a terminator. */
void id_print(const struct id *id, char text[ID_TEXT_SIZE + 1]);
/* Returns the 24 digits, in the arena. */
struct slice id_as_text(struct arena *arena, const struct id *id);

uint32_t id_seconds(const struct id *id);
uint64_t id_number(const struct id *id);
/* Compares like memcmp. Within an account and kind, this is the order of creation. */
int id_compare(const struct id *a, const struct id *b);
struct slice id_slice(const struct id *id);
/* Returns the position of `id`, or the position to insert it at, among `count` items of `size`
 * bytes. Each item begins with an ID, and the items are sorted by it. */
size_t id_place(const struct id *id, const void *items, size_t count, size_t size);

/* A version 4 UUID (RFC 4122), 36 characters and a terminator. */
#define UUID_TEXT_SIZE 37
#define UUID_SIZE 16
void uuid_make(const struct clock *clock, char text[UUID_TEXT_SIZE]);
/* Writes the UUID with these bits; the bits for version and variant are set. */
void uuid_print(const unsigned char bits[UUID_SIZE], char text[UUID_TEXT_SIZE]);
/* Writes the UUID of version 8 that follows from a name in a space, of which the first
 * UUID_NAME_MOST bytes count. again: tells apart several of one name. */
#define UUID_NAME_MOST 256
void uuid_of(const struct id *space, struct slice name, unsigned again, char text[UUID_TEXT_SIZE]);
/* Returns a new UUID, in the arena. */
struct slice uuid_as_text(struct arena *arena, const struct clock *clock);

/* A room code: uniformly random lower-case letters in groups of 3, 4 and 3; with its terminator. */
#define CODE_TEXT_SIZE 13
/* The size of a code with groups of 3, 3 and 3, which code_make does not create. */
#define CODE_OLD_TEXT_SIZE 12
void code_make(const struct clock *clock, char text[CODE_TEXT_SIZE]);
/* Returns false unless the code has the form abc-defg-hij or abc-def-ghi. The second form is that
 * of older codes of 100ms, which an import keeps. */
bool code_is_well_formed(struct slice text);

/* A custom code, chosen by the client: 6 to 40 characters out of a-z 0-9 -. It begins and ends with
 * a letter or digit, has no two hyphens in a row, and has neither of the forms above. */
#define CODE_WORDS_MOST 40
bool code_is_words(struct slice text);

#endif
