/* See rules/text_rules.h. Tests compare each sentence with its row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/text_rules.h"

#include <string.h>

#include "base/id.h"

#define NAME_CHARACTERS "a-zA-Z0-9 ._:-"

const struct text_rule any_text = {
	.sentence = "must be a string",
	.longest = SIZE_MAX,
};

const struct text_rule some_text = {
	.sentence = "must not be empty",
	.shortest = 1,
	.longest = SIZE_MAX,
};

const struct text_rule any_256_text = {
	.sentence = "must be at most 256 characters",
	.longest = 256,
};

const struct text_rule some_128_text = {
	.sentence = "must be 1 to 128 characters",
	.shortest = 1,
	.longest = 128,
};

const struct text_rule some_256_text = {
	.sentence = "must be 1 to 256 characters",
	.shortest = 1,
	.longest = 256,
};

const struct text_rule url_text = {
	.sentence = "must be 1 to 2048 bytes",
	.shortest = 1,
	.longest = 2048,
	.counts_bytes = true,
};

bool text_may_be_url(struct slice text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] <= ' ' || text.data[i] > '~' ||
		    strchr("\"#<>\\^`{|}", text.data[i]) != NULL)
			return false;
	}
	return true;
}

const struct text_rule id_text = {
	.characters = "0-9a-f",
	.sentence = "must be an id (24 lower-case hex digits)",
	.shortest = 24,
	.longest = 24,
};

const struct text_rule time_text = {
	.characters = "0-9TZ:.-",
	.sentence = "must be a time",
	.shortest = 20,
	.longest = 24,
};

const struct text_rule bytes_32_text = {
	.characters = "a-zA-Z0-9_-",
	.sentence = "must be 43 of a-z A-Z 0-9 - _",
	.shortest = 43,
	.longest = 43,
};

const struct text_rule room_code_text = {
	.characters = "a-z0-9-",
	.sentence = "must be a room code",
	.shortest = 6,
	.longest = CODE_WORDS_MOST,
};

const struct text_rule name_text = {
	.characters = NAME_CHARACTERS,
	.sentence = "must be 1 to 128 of a-z A-Z 0-9 space - . _ : and neither start nor end with "
		    "a space",
	.shortest = 1,
	.longest = 128,
	.no_outer_space = true,
};

const struct text_rule role_name_text = {
	.characters = NAME_CHARACTERS,
	.sentence = "must be 1 to 64 of a-z A-Z 0-9 space - . _ : and neither start nor end with "
		    "a space",
	.shortest = 1,
	.longest = 64,
	.no_outer_space = true,
};

const struct text_rule destination_name_text = {
	.characters = "<>" NAME_CHARACTERS,
	.sentence = "must be 1 to 64 of a-z A-Z 0-9 space - . _ : < >",
	.shortest = 1,
	.longest = 64,
};

const struct text_rule room_name_text = {
	.characters = "a-zA-Z0-9._:-",
	.sentence = "must be 1 to 128 of a-z A-Z 0-9 - . _ :",
	.shortest = 1,
	.longest = 128,
};
