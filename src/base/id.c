/* See base/id.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/id.h"

#include <assert.h>
#include <endian.h>

#include "base/digest.h"
#include "base/text.h"

/* The place of the version among the characters of a UUID. */
#define UUID_VERSION_AT 14

struct id id_lowest(uint32_t seconds, uint64_t number)
{
	struct id id = { { 0 } };

	for (int i = 0; i < 4; i++)
		id.bytes[i] = (unsigned char)(seconds >> (24 - 8 * i));
	for (int i = 0; i < 5; i++)
		id.bytes[4 + i] = (unsigned char)(number >> (32 - 8 * i));
	return id;
}

struct id id_make(const struct clock *clock, uint32_t seconds, uint64_t number)
{
	struct id id = id_lowest(seconds, number);

	assert(number <= ID_NUMBER_MAX);
	clock_random(clock, id.bytes + 9, 3);
	return id;
}

struct id id_random(const struct clock *clock)
{
	struct id id;

	clock_random(clock, id.bytes, sizeof id.bytes);
	return id;
}

void id_begin(struct id *id, int64_t number)
{
	for (size_t byte = 0; byte < 6; byte++)
		id->bytes[byte] = (unsigned char)((uint64_t)number >> (40 - 8 * byte));
}

/* Returns -1 if it is not a lower-case hexadecimal digit. */
static int lower_hex_value(char digit)
{
	return digit >= 'A' && digit <= 'F' ? -1 : text_hex_value(digit);
}

bool id_parse(struct slice text, struct id *id)
{
	struct id parsed;

	if (text.size != ID_TEXT_SIZE)
		return false;
	for (size_t i = 0; i < ID_SIZE; i++) {
		int high = lower_hex_value(text.data[2 * i]);
		int low = lower_hex_value(text.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		parsed.bytes[i] = (unsigned char)(high << 4 | low);
	}
	*id = parsed;
	return true;
}

void id_print(const struct id *id, char text[ID_TEXT_SIZE + 1])
{
	text_hex(id->bytes, ID_SIZE, text);
	text[ID_TEXT_SIZE] = '\0';
}

struct slice id_as_text(struct arena *arena, const struct id *id)
{
	char *text = arena_alloc(arena, ID_TEXT_SIZE + 1);

	id_print(id, text);
	return (struct slice){ text, ID_TEXT_SIZE };
}

uint32_t id_seconds(const struct id *id)
{
	uint32_t seconds;

	memcpy(&seconds, id->bytes, sizeof seconds);
	return be32toh(seconds);
}

uint64_t id_number(const struct id *id)
{
	uint64_t number;

	/* The five bytes of the number, then three random ones. */
	memcpy(&number, id->bytes + 4, sizeof number);
	return be64toh(number) >> 24;
}

int id_compare(const struct id *a, const struct id *b)
{
	return memcmp(a->bytes, b->bytes, ID_SIZE);
}

struct slice id_slice(const struct id *id)
{
	return (struct slice){ (const char *)id->bytes, ID_SIZE };
}

size_t id_place(const struct id *id, const void *items, size_t count, size_t size)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (memcmp((const char *)items + middle * size, id->bytes, ID_SIZE) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void uuid_print(const unsigned char bits[UUID_SIZE], char text[UUID_TEXT_SIZE])
{
	static const unsigned char group_sizes[] = { 4, 2, 2, 2, 6 };
	unsigned char bytes[UUID_SIZE];
	const unsigned char *group = bytes;

	memcpy(bytes, bits, sizeof bytes);
	bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof group_sizes; i++) {
		if (i > 0)
			*text++ = '-';
		text_hex(group, group_sizes[i], text);
		text += 2 * group_sizes[i];
		group += group_sizes[i];
	}
	*text = '\0';
}

void uuid_of(const struct id *space, struct slice name, unsigned again, char text[UUID_TEXT_SIZE])
{
	char bytes[ID_SIZE + UUID_NAME_MOST + 4];
	unsigned char digest[DIGEST_SIZE];
	const size_t size = name.size < UUID_NAME_MOST ? name.size : UUID_NAME_MOST;

	memcpy(bytes, space->bytes, ID_SIZE);
	memcpy(bytes + ID_SIZE, name.data, size);
	for (size_t i = 0; i < 4; i++)
		bytes[ID_SIZE + size + i] = (char)(unsigned char)(again >> (24 - 8 * i));
	digest_sha256((struct slice){ bytes, ID_SIZE + size + 4 }, digest);
	uuid_print(digest, text);
	text[UUID_VERSION_AT] = '8';
}

void uuid_make(const struct clock *clock, char text[UUID_TEXT_SIZE])
{
	unsigned char bits[UUID_SIZE];

	clock_random(clock, bits, sizeof bits);
	uuid_print(bits, text);
}

struct slice uuid_as_text(struct arena *arena, const struct clock *clock)
{
	char *text = arena_alloc(arena, UUID_TEXT_SIZE);

	uuid_make(clock, text);
	return (struct slice){ text, UUID_TEXT_SIZE - 1 };
}

/* Skips bytes from 234 (9 times 26) on, so that all letters are equally likely. */
static char draw_letter(const struct clock *clock, unsigned char pool[16], size_t *left)
{
	for (;;) {
		if (*left == 0) {
			clock_random(clock, pool, 16);
			*left = 16;
		}

		unsigned char byte = pool[--*left];

		if (byte < 234)
			return (char)('a' + byte % 26);
	}
}

void code_make(const struct clock *clock, char text[CODE_TEXT_SIZE])
{
	unsigned char pool[16];
	size_t left = 0;

	for (size_t i = 0; i < CODE_TEXT_SIZE - 1; i++)
		text[i] = i == 3 || i == 8 ? '-' : draw_letter(clock, pool, &left);
	text[CODE_TEXT_SIZE - 1] = '\0';
}

/* Returns true if the text is letters, with hyphens where the form has them. */
static bool has_form(struct slice text, const char *form)
{
	if (text.size != strlen(form))
		return false;
	for (size_t i = 0; i < text.size; i++) {
		char byte = text.data[i];

		if (form[i] == '-' ? byte != '-' : byte < 'a' || byte > 'z')
			return false;
	}
	return true;
}

bool code_is_well_formed(struct slice text)
{
	return has_form(text, "abc-defg-hij") || has_form(text, "abc-def-ghi");
}

bool code_is_words(struct slice text)
{
	char before = '-';

	if (text.size < 6 || text.size > CODE_WORDS_MOST)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		char byte = text.data[i];
		bool is_hyphen = byte == '-';

		if (!is_hyphen && (byte < 'a' || byte > 'z') && (byte < '0' || byte > '9'))
			return false;
		if (is_hyphen && before == '-')
			return false;
		before = byte;
	}
	return before != '-' && !code_is_well_formed(text);
}
