/* Identifiers: ids, UUIDs and room codes. An id is 12 bytes, written as 24 lower-case hex digits: 4
 * bytes of time (seconds), a 5-byte number that counts up within its account and kind, 3 random
 * bytes. Time and number never decrease there, so ids sort by age.
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
/* The last millisecond (Unix time) whose second fits into an id, in the year 2106. */
#define ID_TIME_MAX (((int64_t)UINT32_MAX + 1) * 1000 - 1)

struct id {
	unsigned char bytes[ID_SIZE];
};

/* seconds: time of creation. number: at most ID_NUMBER_MAX. */
struct id id_make(const struct clock *clock, uint32_t seconds, uint64_t number);
/* The lowest of all ids of that time and number, of which the last 40 bits count. */
struct id id_lowest(uint32_t seconds, uint64_t number);
/* Twelve random bytes, for accounts and access keys. */
struct id id_random(const struct clock *clock);

/* False for anything but 24 lower-case hex digits. */
bool id_parse(struct slice text, struct id *id);
/* `text` is terminated. */
void id_print(const struct id *id, char text[ID_TEXT_SIZE + 1]);
/* The same in the arena. */
struct slice id_as_text(struct arena *arena, const struct id *id);

uint32_t id_seconds(const struct id *id);
uint64_t id_number(const struct id *id);
/* As memcmp; within an account the order of age. */
int id_compare(const struct id *a, const struct id *b);
struct slice id_slice(const struct id *id);
/* Where `id` is, or belongs, among `count` items of `size` bytes that begin with an id, sorted by
 * it: the first item that is not below. */
size_t id_place(const struct id *id, const void *items, size_t count, size_t size);

/* A version 4 UUID (RFC 4122), 36 characters and a terminator. */
#define UUID_TEXT_SIZE 37
#define UUID_SIZE 16
void uuid_make(const struct clock *clock, char text[UUID_TEXT_SIZE]);
/* The one with these bits, but for those that every one has. */
void uuid_print(const unsigned char bits[UUID_SIZE], char text[UUID_TEXT_SIZE]);
/* The same in the arena. */
struct slice uuid_as_text(struct arena *arena, const struct clock *clock);

/* A room code: lower-case letters in groups of 3, 4 and 3, uniformly random; terminated. */
#define CODE_TEXT_SIZE 13
/* The same of a code with the middle group of 3, which code_make does not make. */
#define CODE_OLD_TEXT_SIZE 12
void code_make(const struct clock *clock, char text[CODE_TEXT_SIZE]);
/* False for anything but the forms abc-defg-hij and abc-def-ghi. The other one is that of older
 * codes of the public service, which an import keeps. */
bool code_is_well_formed(struct slice text);

/* A code of words that a client chose: 6 to 40 of a-z 0-9 -, which begins and ends with a letter or
 * digit, has no two hyphens together, and has neither the form abc-defg-hij nor abc-def-ghi. */
#define CODE_WORDS_MOST 40
bool code_is_words(struct slice text);

#endif
