/* Parsing of numbers; see base/text.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"

bool text_integer(struct slice text, int64_t *value)
{
	bool is_negative = text.size > 0 && text.data[0] == '-';
	int64_t result = 0;

	if (text.size == (is_negative ? 1 : 0))
		return false;

	/* Counts downwards, because INT64_MIN has no positive counterpart. */
	for (size_t i = is_negative ? 1 : 0; i < text.size; i++) {
		int digit = text.data[i] - '0';

		if (digit < 0 || digit > 9 || __builtin_mul_overflow(result, 10, &result) ||
		    __builtin_sub_overflow(result, digit, &result))
			return false;
	}
	if (!is_negative && result == INT64_MIN)
		return false;
	*value = is_negative ? result : -result;
	return true;
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_exponent(char byte)
{
	return byte == 'e' || byte == 'E';
}

/* Returns the position after the digits that begin at `i`. */
static size_t skip_digits(struct slice text, size_t i)
{
	while (i < text.size && is_digit(text.data[i]))
		i++;
	return i;
}

struct slice text_number(struct slice text, bool *is_real)
{
	const struct slice none = { text.data, 0 };
	size_t start = text.size > 0 && text.data[0] == '-' ? 1 : 0;
	size_t end = skip_digits(text, start);

	*is_real = end == 2 && text.data[0] == '-' && text.data[1] == '0';
	if (end == start || (end > start + 1 && text.data[start] == '0'))
		return none;
	if (end < text.size && text.data[end] == '.') {
		*is_real = true;
		start = end + 1;
		end = skip_digits(text, start);
		if (end == start)
			return none;
	}
	if (end < text.size && is_exponent(text.data[end])) {
		*is_real = true;
		start = end + 1;
		if (start < text.size && (text.data[start] == '+' || text.data[start] == '-'))
			start++;
		end = skip_digits(text, start);
		if (end == start)
			return none;
	}
	return (struct slice){ text.data, end };
}

/* Returns the exponent, given the text after its e. Saturates. */
static int64_t exponent_of(struct slice text)
{
	int64_t exponent;

	if (text.size > 0 && text.data[0] == '+')
		text = (struct slice){ text.data + 1, text.size - 1 };
	if (text.size == 0)
		return 0;
	if (text_integer(text, &exponent))
		return exponent;
	return text.data[0] == '-' ? INT64_MIN : INT64_MAX;
}

/* Returns true if a literal is an integer, whatever its number of digits: after applying the
 * exponent, its last non-zero digit is before the decimal point. */
static bool is_integral(struct slice literal)
{
	int64_t digits = 0, before_point = -1, last = 0;
	size_t i = 0;

	for (; i < literal.size && !is_exponent(literal.data[i]); i++) {
		if (literal.data[i] == '.')
			before_point = digits;
		if (is_digit(literal.data[i]))
			digits++;
		if (literal.data[i] >= '1' && literal.data[i] <= '9')
			last = digits;
	}
	if (before_point < 0)
		before_point = digits;
	if (i < literal.size)
		i++;
	return last == 0 || last - before_point <= exponent_of((struct slice){ literal.data + i,
									       literal.size - i });
}

bool real_is_integer(double value)
{
	return fabs(value) < DOUBLE_EXACT_BELOW && value - trunc(value) == 0.0 &&
	       !(value == 0.0 && signbit(value));
}

bool text_real(struct arena *arena, struct slice literal, double *value, bool *is_integer)
{
	const double real = strtod(arena_copy(arena, literal).data, NULL);
	const bool is_whole = !isinf(real) && real - trunc(real) == 0.0 && is_integral(literal);

	*is_integer = is_whole && real_is_integer(real);
	/* A fraction too small for a double becomes 0, never -0, because -0 counts as an
	 * integer. */
	*value = is_whole ? real : real + 0.0;
	return !isinf(real);
}
