/* base64url without padding, and base64 with it; see base/text.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <endian.h>

static const char base64url_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct slice text_base64url(struct arena *arena, struct slice bytes)
{
	char *text = arena_alloc(arena, bytes.size / 3 * 4 + 5), *to = text;
	const char *from = bytes.data;
	size_t left = bytes.size;
	uint32_t bits;

	/* Reads four bytes and encodes three of them at a time. */
	for (; left >= sizeof bits; left -= 3, from += 3) {
		memcpy(&bits, from, sizeof bits);
		bits = be32toh(bits);
		*to++ = base64url_digits[bits >> 26];
		*to++ = base64url_digits[bits >> 20 & 63];
		*to++ = base64url_digits[bits >> 14 & 63];
		*to++ = base64url_digits[bits >> 8 & 63];
	}
	bits = 0;
	if (left > 0)
		memcpy(&bits, from, left);
	bits = be32toh(bits);
	for (size_t i = 0; left > 0 && i <= left; i++)
		*to++ = base64url_digits[bits >> (26 - 6 * i) & 63];
	*to = '\0';
	return (struct slice){ text, (size_t)(to - text) };
}

static int base64url_value(char digit)
{
	if (digit >= 'A' && digit <= 'Z')
		return digit - 'A';
	if (digit >= 'a' && digit <= 'z')
		return digit - 'a' + 26;
	if (digit >= '0' && digit <= '9')
		return digit - '0' + 52;
	return digit == '-' ? 62 : digit == '_' ? 63 : -1;
}

bool text_base64url_decode(struct arena *arena, struct slice text, struct slice *bytes)
{
	if (text.size % 4 == 1)
		return false;

	char *result = arena_alloc(arena, text.size / 4 * 3 + 3);
	size_t size = 0;
	uint32_t bits = 0;
	unsigned held = 0;

	for (size_t i = 0; i < text.size; i++) {
		int value = base64url_value(text.data[i]);

		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		held += 6;
		if (held >= 8) {
			held -= 8;
			result[size++] = (char)(bits >> held & 0xff);
		}
	}
	if ((bits & ((1u << held) - 1)) != 0)
		return false;
	result[size] = '\0';
	*bytes = (struct slice){ result, size };
	return true;
}

/* ---- base64 ---- */

struct slice text_base64(struct arena *arena, struct slice bytes)
{
	const struct slice url = text_base64url(arena, bytes);
	struct buffer text = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < url.size; i++)
		buffer_append_byte(&text, url.data[i] == '-'   ? '+'
					  : url.data[i] == '_' ? '/'
							       : url.data[i]);
	while (text.size % 4 != 0)
		buffer_append_byte(&text, '=');
	return buffer_slice(&text);
}

bool text_base64_decode(struct arena *arena, struct slice text, struct slice *bytes)
{
	struct buffer url = BUFFER_INITIAL(arena);
	size_t padding = 0;

	while (padding < 2 && padding < text.size && text.data[text.size - 1 - padding] == '=')
		padding++;
	if (text.size % 4 != 0)
		return false;
	for (size_t i = 0; i < text.size - padding; i++) {
		if (text.data[i] == '-' || text.data[i] == '_')
			return false;
		buffer_append_byte(&url, text.data[i] == '+'   ? '-'
					 : text.data[i] == '/' ? '_'
							       : text.data[i]);
	}
	return (4 - url.size % 4) % 4 == padding &&
	       text_base64url_decode(arena, buffer_slice(&url), bytes);
}
