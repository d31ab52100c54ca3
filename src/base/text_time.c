/* Times as text (base/text.h): RFC 3339 in the proleptic Gregorian calendar. For the computation of
 * days, years begin in March, so that the leap day is the last day of its year.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "base/calendar.h"
#include "base/text.h"

#define MILLISECONDS_A_DAY INT64_C(86400000)
#define MILLISECONDS_A_MINUTE INT64_C(60000)
#define DAYS_IN_400_YEARS INT64_C(146097)
/* From 1 March 0000 to 1 January 1970. */
#define DAYS_TO_1970 INT64_C(719468)

int64_t calendar_day(int64_t year, int64_t month, int64_t day)
{
	int64_t march_year = month <= 2 ? year - 1 : year;
	int64_t march_month = month <= 2 ? month + 9 : month - 3;
	int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;

	/* `march_year` is never negative, because times begin with the year 1. */
	return march_year * 365 + march_year / 4 - march_year / 100 + march_year / 400 +
	       day_of_year - DAYS_TO_1970;
}

void calendar_date(int64_t days, int *year, int *month, int *day)
{
	int64_t since_0 = days + DAYS_TO_1970;
	int64_t era = since_0 / DAYS_IN_400_YEARS;
	int64_t day_of_era = since_0 % DAYS_IN_400_YEARS;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
			       day_of_era / (DAYS_IN_400_YEARS - 1)) /
			      365;
	int64_t day_of_year = day_of_era -
			      (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t march_month = (5 * day_of_year + 2) / 153;

	*day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1);
	*month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
	*year = (int)(year_of_era + era * 400 + (*month <= 2));
}

static void put_digits(char *place, int value, int digits)
{
	while (digits > 0) {
		place[--digits] = (char)('0' + value % 10);
		value /= 10;
	}
}

/* Writes "YYYY-MM-DDTHH:MM:SS"; returns the milliseconds. */
static int put_second(int64_t time, char *out)
{
	int year, month, day;

	assert(time >= TEXT_TIME_FIRST && time <= TEXT_TIME_LAST);

	int64_t days = (time - TEXT_TIME_FIRST) / MILLISECONDS_A_DAY +
		       TEXT_TIME_FIRST / MILLISECONDS_A_DAY;
	int rest = (int)(time - days * MILLISECONDS_A_DAY);

	calendar_date(days, &year, &month, &day);
	memcpy(out, "0000-00-00T00:00:00", 19);
	put_digits(out, year, 4);
	put_digits(out + 5, month, 2);
	put_digits(out + 8, day, 2);
	put_digits(out + 11, rest / 3600000, 2);
	put_digits(out + 14, rest / 60000 % 60, 2);
	put_digits(out + 17, rest / 1000 % 60, 2);
	return rest % 1000;
}

void text_time_milliseconds(int64_t time, char out[TEXT_TIME_SIZE])
{
	int milliseconds = put_second(time, out);

	out[19] = '.';
	put_digits(out + 20, milliseconds, 3);
	out[23] = 'Z';
	out[24] = '\0';
}

void text_time_seconds(int64_t time, char out[TEXT_TIME_SIZE])
{
	(void)put_second(time, out);
	out[19] = 'Z';
	out[20] = '\0';
}

json_t *json_time_seconds(int64_t time)
{
	char text[TEXT_TIME_SIZE];

	text_time_seconds(time, text);
	return json_string(text);
}

void buffer_append_time_milliseconds(struct buffer *buffer, int64_t time)
{
	char text[TEXT_TIME_SIZE];

	text_time_milliseconds(time, text);
	buffer_append_string(buffer, slice_of(text));
}

void buffer_append_time_seconds(struct buffer *buffer, int64_t time)
{
	char text[TEXT_TIME_SIZE];

	text_time_seconds(time, text);
	buffer_append_string(buffer, slice_of(text));
}

/* A parsed time: the millisecond `floor`, or a moment between it and the next one. */
struct moment {
	int64_t floor;
	bool is_between;
};

/* The text that is left. The take functions advance only if they succeed. */
struct reader {
	const char *at;
	size_t left;
};

static bool take_digits(struct reader *reader, size_t digits, int most, int *value)
{
	int result = 0;

	if (reader->left < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (reader->at[i] < '0' || reader->at[i] > '9')
			return false;
		result = result * 10 + (reader->at[i] - '0');
	}
	if (result > most)
		return false;
	reader->at += digits;
	reader->left -= digits;
	*value = result;
	return true;
}

static bool take_byte(struct reader *reader, char byte)
{
	if (reader->left == 0 || *reader->at != byte)
		return false;
	reader->at++;
	reader->left--;
	return true;
}

int calendar_days_of_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return month == 2 && is_leap_year ? 29 : days[month - 1];
}

static bool take_fraction(struct reader *reader, int *milliseconds, bool *is_between)
{
	int scale = 100;
	int digit;

	*milliseconds = 0;
	*is_between = false;
	if (!take_byte(reader, '.'))
		return true;
	if (!take_digits(reader, 1, 9, &digit))
		return false;
	do {
		*milliseconds += scale * digit;
		*is_between = *is_between || (scale == 0 && digit > 0);
		scale /= 10;
	} while (take_digits(reader, 1, 9, &digit));
	return true;
}

/* Reads an offset, in minutes east of UTC. */
static bool take_offset(struct reader *reader, int *offset)
{
	int hours, minutes;

	*offset = 0;
	if (take_byte(reader, 'Z') || take_byte(reader, 'z'))
		return true;

	int sign = take_byte(reader, '-') ? -1 : take_byte(reader, '+') ? 1 : 0;

	if (sign == 0 || !take_digits(reader, 2, 23, &hours) || !take_byte(reader, ':') ||
	    !take_digits(reader, 2, 59, &minutes))
		return false;
	*offset = sign * (hours * 60 + minutes);
	return true;
}

static bool parse_moment(struct slice text, struct moment *moment)
{
	struct reader reader = { text.data, text.size };
	int year, month, day, hour, minute, second, milliseconds, offset;

	if (!take_digits(&reader, 4, 9999, &year) || !take_byte(&reader, '-') ||
	    !take_digits(&reader, 2, 12, &month) || !take_byte(&reader, '-') ||
	    !take_digits(&reader, 2, 31, &day))
		return false;
	if (year < 1 || month < 1 || day < 1 || day > calendar_days_of_month(year, month))
		return false;
	*moment = (struct moment){ .floor = calendar_day(year, month, day) * MILLISECONDS_A_DAY };

	if (reader.left > 0) {
		if ((!take_byte(&reader, 'T') && !take_byte(&reader, 't')) ||
		    !take_digits(&reader, 2, 23, &hour) || !take_byte(&reader, ':') ||
		    !take_digits(&reader, 2, 59, &minute) || !take_byte(&reader, ':') ||
		    !take_digits(&reader, 2, 60, &second) ||
		    !take_fraction(&reader, &milliseconds, &moment->is_between) ||
		    !take_offset(&reader, &offset) || reader.left > 0)
			return false;
		if (second == 60) {
			second = 59;
			milliseconds = 999;
			moment->is_between = true;
		}
		moment->floor += (hour * 60 + minute - offset) * MILLISECONDS_A_MINUTE +
				 second * 1000 + milliseconds;
	}
	return moment->floor >= TEXT_TIME_FIRST && moment->floor <= TEXT_TIME_LAST;
}

bool text_time_parse(struct slice text, int64_t *time)
{
	struct moment moment;

	if (!parse_moment(text, &moment))
		return false;
	*time = moment.floor;
	return true;
}

bool text_time_parse_seconds(struct slice text, int64_t *seconds)
{
	/* The text begins like "2026-11-23T09:00:00". A lower-case letter or a leap second is
	 * rejected. */
	const size_t letter = 10, second = 17, least = 20;
	struct moment moment;

	if (text.size < least || text.data[letter] != 'T' || text.data[second] == '6' ||
	    text.data[text.size - 1] == 'z' || !parse_moment(text, &moment) || moment.floor < 0)
		return false;
	*seconds = moment.floor / 1000;
	return true;
}

bool text_time_parse_up(struct slice text, int64_t *time)
{
	struct moment moment;

	if (!parse_moment(text, &moment))
		return false;
	*time = moment.floor + moment.is_between;
	return true;
}

void buffer_append_seconds(struct buffer *buffer, uint64_t microseconds)
{
	char digits[7] = ".000000";
	size_t size = sizeof digits;
	uint64_t rest = microseconds % 1000000;

	for (size_t i = sizeof digits - 1; i > 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	while (size > 1 && digits[size - 1] == '0')
		size--;
	buffer_append_integer(buffer, (json_int_t)(microseconds / 1000000));
	buffer_append(buffer, (struct slice){ digits, size > 1 ? size : 0 });
}
