/* See resources/code_typed.h.
 *
 * The text is folded to ASCII and then read word by word. If exactly one word has the form of a
 * generated code, that is the code. Otherwise, if there is a link, its last part is the code;
 * otherwise all words are, joined by hyphens. If a mail has broken the text at a hyphen, the lines
 * are joined first. If none of this finds a code, the only generated code anywhere in the text is
 * taken, even if it is percent-encoded, as in links within links.
 *
 * A soft hyphen is a dash between the groups of a generated code. In a custom code it is nothing:
 * word processors put it where a word may be divided.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_typed.h"

#include "base/id.h"
#include "base/text.h"

/* In a folded text, stands for any character that codes, links and sentences do not need. */
#define OTHER '\x7f'
#define LEFT_OUT '\0'
#define QUOTE '"'

/* The characters that are folded, in order. */
static const struct folding {
	uint32_t first, last;
	char to;
} foldings[] = {
	{ 0x0085, 0x0085, ' ' },      { 0x00a0, 0x00a0, ' ' },	    { 0x00ab, 0x00ab, QUOTE },
	{ 0x00ad, 0x00ad, '-' },      { 0x00b4, 0x00b4, QUOTE },    { 0x00bb, 0x00bb, QUOTE },
	{ 0x02b9, 0x02bc, QUOTE },    { 0x02d7, 0x02d7, '-' },	    { 0x034f, 0x034f, LEFT_OUT },
	{ 0x061c, 0x061c, LEFT_OUT }, { 0x1680, 0x1680, ' ' },	    { 0x180e, 0x180e, LEFT_OUT },
	{ 0x2000, 0x200a, ' ' },      { 0x200b, 0x200f, LEFT_OUT }, { 0x2010, 0x2015, '-' },
	{ 0x2018, 0x201f, QUOTE },    { 0x2026, 0x2026, '.' },	    { 0x2028, 0x2029, ' ' },
	{ 0x202a, 0x202e, LEFT_OUT }, { 0x202f, 0x202f, ' ' },	    { 0x2032, 0x2033, QUOTE },
	{ 0x2039, 0x203a, QUOTE },    { 0x2043, 0x2043, '-' },	    { 0x205f, 0x205f, ' ' },
	{ 0x2060, 0x206f, LEFT_OUT }, { 0x2212, 0x2212, '-' },	    { 0x3000, 0x3000, ' ' },
	{ 0x3001, 0x3002, '.' },      { 0x3008, 0x3011, QUOTE },    { 0x3014, 0x301f, QUOTE },
	{ 0x30fc, 0x30fc, '-' },      { 0xfe00, 0xfe0f, LEFT_OUT }, { 0xfe58, 0xfe58, '-' },
	{ 0xfe63, 0xfe63, '-' },      { 0xfeff, 0xfeff, LEFT_OUT }, { 0xff70, 0xff70, '-' },
};

/* The fullwidth forms of ASCII characters. */
#define WIDE_FIRST 0xff01
#define WIDE_LAST 0xff5e
#define WIDE_OFFSET 0xfee0

static char folded_character(uint32_t character)
{
	if (character >= WIDE_FIRST && character <= WIDE_LAST)
		character -= WIDE_OFFSET;
	if (character >= 'A' && character <= 'Z')
		return (char)(character - 'A' + 'a');
	if (character == ' ' || (character >= '\t' && character <= '\r'))
		return ' ';
	if (character < 0x80)
		return character < ' ' ? OTHER : (char)character;
	for (size_t i = 0; i < sizeof foldings / sizeof foldings[0]; i++) {
		if (character >= foldings[i].first && character <= foldings[i].last)
			return foldings[i].to;
	}
	return OTHER;
}

static struct slice fold(struct arena *arena, struct slice text)
{
	struct buffer folded = BUFFER_INITIAL(arena);

	while (text.size > 0) {
		const char character = folded_character(text_take_character(&text));

		if (character != LEFT_OUT)
			buffer_append_byte(&folded, character);
	}
	return buffer_slice(&folded);
}

/* Returns the text without the line breaks of a mail: after or before a hyphen, or after an equals
 * sign (quoted-printable). */
static struct slice unbroken(struct arena *arena, struct slice text)
{
	struct buffer whole = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < text.size; i++) {
		const char *at = text.data + i;
		const size_t left = text.size - i;
		const size_t sign = *at == '=' ? 1 : 0;
		const size_t end = sign + (left > sign && at[sign] == '\r' ? 1 : 0);
		const bool is_break = left > end && at[end] == '\n';
		const char before = i > 0 ? at[-1] : ' ';
		const char after = left > end + 1 ? at[end + 1] : ' ';

		if (is_break && (sign == 1 || before == '-' || after == '-'))
			i += end;
		else
			buffer_append_byte(&whole, *at);
	}
	return buffer_slice(&whole);
}

/* Characters around a word that are not part of it. */
#define ENDS "\"'`()[]{}<>.,;:!?*_#/-"

/* Takes the next word off the folded text, without its query, its fragment and the characters
 * around it. The word may be empty. */
static struct slice take_word(struct slice *folded)
{
	struct slice ignored;
	const struct slice word = text_trim(text_split(*folded, ' ', folded), ENDS);

	return text_trim(text_split(text_split(word, '?', &ignored), '#', &ignored), ENDS);
}

/* Returns all words, joined by single hyphens. */
static struct slice joined_words(struct arena *arena, struct slice folded)
{
	struct buffer joined = BUFFER_INITIAL(arena);

	while (folded.size > 0) {
		struct slice rest = take_word(&folded);

		while (rest.size > 0) {
			const struct slice part = text_split(rest, '-', &rest);

			if (part.size > 0 && joined.size > 0)
				buffer_append_byte(&joined, '-');
			buffer_append(&joined, part);
		}
	}
	return buffer_slice(&joined);
}

static bool is_code(struct slice text)
{
	return code_is_well_formed(text) || code_is_words(text);
}

/* Reads the last segment of a link's path. Returns false if there is none, or it is not a code. */
static bool read_link(struct arena *arena, struct slice word, struct slice *code)
{
	struct slice rest, segment;
	const struct slice scheme = text_split(word, '/', &rest);

	/* The scheme is followed by two slashes and the host. */
	if (scheme.size > 0 && scheme.data[scheme.size - 1] == ':' && rest.size > 0 &&
	    rest.data[0] == '/') {
		rest = (struct slice){ rest.data + 1, rest.size - 1 };
		(void)text_split(rest, '/', &rest);
	}
	segment = (struct slice){ NULL, 0 };
	while (rest.data != NULL)
		segment = text_split(rest, '/', &rest);
	if (segment.size == 0 || !text_decode(arena, segment, TEXT_PATH, &segment))
		return false;
	*code = joined_words(arena, fold(arena, segment));
	return is_code(*code);
}

/* The code found in places of one kind. It is doubtful if another such place has another code. */
struct found {
	struct slice code; /* data NULL if there is none */
	bool is_doubtful;
};

static void found_add(struct found *found, struct slice code)
{
	found->is_doubtful = found->is_doubtful ||
			     (found->code.data != NULL && !slice_equal(found->code, code));
	found->code = code;
}

/* Returns data NULL if there is no code, or several. */
static struct slice read_code(struct arena *arena, struct slice folded)
{
	struct found generated = { { NULL, 0 }, false }, linked = { { NULL, 0 }, false };
	struct slice rest = folded, none = { NULL, 0 }, code;
	bool has_link = false;

	while (rest.size > 0) {
		const struct slice word = take_word(&rest);
		const bool is_link = word.size > 0 && memchr(word.data, '/', word.size) != NULL;

		has_link = has_link || is_link;
		code = word;
		if (is_link ? !read_link(arena, word, &code) : !code_is_well_formed(word))
			continue;
		found_add(code_is_well_formed(code) ? &generated : &linked, code);
	}
	if (generated.code.data != NULL)
		return generated.is_doubtful ? none : generated.code;
	if (has_link)
		return linked.is_doubtful ? none : linked.code;
	code = joined_words(arena, folded);
	return is_code(code) ? code : none;
}

static bool can_be_in_code(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* Returns the only generated code that is delimited by characters other than those of codes, names
 * and other alphabets. data NULL if there is no such code, or several. */
static struct slice lone_code(struct slice folded)
{
	struct found found = { { NULL, 0 }, false };

	for (size_t i = 0, from = 0; i <= folded.size; i++) {
		struct slice run;

		if (i < folded.size && (can_be_in_code(folded.data[i]) || folded.data[i] == '_' ||
					folded.data[i] == OTHER))
			continue;
		run = text_trim((struct slice){ folded.data + from, i - from }, "-");
		if (code_is_well_formed(run))
			found_add(&found, run);
		from = i + 1;
	}
	return found.is_doubtful ? (struct slice){ NULL, 0 } : found.code;
}

/* Returns data NULL if the text contains no code. */
static struct slice find_in_text(struct arena *arena, struct slice text, struct slice folded)
{
	const struct slice code = read_code(arena, folded), whole = unbroken(arena, text);
	struct slice other;

	if (code_is_well_formed(code))
		return code;
	if (whole.size < text.size) {
		other = read_code(arena, fold(arena, whole));
		if (other.data != NULL)
			return other;
	}
	if (code.data != NULL)
		return code;
	if (!text_decode(arena, whole, TEXT_QUERY, &other))
		other = whole;
	return lone_code(fold(arena, other));
}

/* Returns the text without soft hyphens, also percent-encoded ones. */
static struct slice without_soft_hyphens(struct arena *arena, struct slice text)
{
	static const char *const forms[] = { "\xc2\xad", "%c2%ad" };
	struct buffer kept = BUFFER_INITIAL(arena);

	while (text.size > 0) {
		size_t size = 0;

		for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
			if (text_begins_ignoring_case(text, slice_of(forms[i])))
				size = strlen(forms[i]);
		}
		if (size == 0)
			buffer_append_byte(&kept, text.data[size++]);
		text = (struct slice){ text.data + size, text.size - size };
	}
	return buffer_slice(&kept);
}

/* Returns ten letters as abc-defg-hij, nine as abc-def-ghi; data NULL if the code has other
 * characters, or is grouped already. */
static struct slice grouped(struct arena *arena, struct slice code)
{
	struct buffer groups = BUFFER_INITIAL(arena);
	size_t letters = 0;

	for (size_t i = 0; i < code.size; i++)
		letters += code.data[i] >= 'a' && code.data[i] <= 'z';
	for (size_t i = 0, n = 0; i < code.size; i++) {
		if (code.data[i] == '-')
			continue;
		if (n == 3 || n + 3 == letters)
			buffer_append_byte(&groups, '-');
		buffer_append_byte(&groups, code.data[i]);
		n++;
	}
	return (letters == 9 || letters == 10) && !code_is_well_formed(code) &&
			       code_is_well_formed(buffer_slice(&groups))
		       ? buffer_slice(&groups)
		       : (struct slice){ NULL, 0 };
}

static bool looks_like_code(struct slice folded)
{
	for (size_t i = 0, run = 0; i <= folded.size; i++) {
		if (i < folded.size && can_be_in_code(folded.data[i])) {
			run++;
			continue;
		}
		if (run >= 6 && run <= CODE_WORDS_MOST)
			return true;
		run = 0;
	}
	return false;
}

struct typed_code code_typed(struct arena *arena, struct slice text)
{
	struct typed_code typed = { .is_guess = true };
	struct slice folded, whole, other;

	/* Most codes are typed correctly, and cost nothing more. */
	if (code_is_well_formed(text)) {
		typed.code = text;
		return typed;
	}
	folded = fold(arena, text);
	typed.code = find_in_text(arena, text, folded);
	if (!code_is_well_formed(typed.code)) {
		whole = without_soft_hyphens(arena, text);
		if (whole.size < text.size) {
			other = find_in_text(arena, whole, fold(arena, whole));
			if (other.data != NULL)
				typed.code = other;
		}
	}
	if (typed.code.data == NULL)
		typed.is_guess = looks_like_code(folded);
	else
		typed.grouped = grouped(arena, typed.code);
	return typed;
}

bool code_can_be(struct slice letters)
{
	return code_is_well_formed(letters) || code_is_words(letters);
}
