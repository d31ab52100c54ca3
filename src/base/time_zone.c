/* See base/time_zone.h. A file has its data twice, with times of 4 bytes and of 8 bytes. The data
 * with 4 bytes are skipped. After the last transition, the last line of the file counts: a rule as
 * in the variable TZ of POSIX.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/time_zone.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/calendar.h"
#include "base/directory.h"
#include "base/text.h"

#define SECONDS_A_DAY 86400
#define HEADER_SIZE 44
#define TYPE_SIZE 6
#define TIME_SIZE 8
/* The bounds of RFC 8536 for an offset, rounded up. */
#define OFFSET_MOST (26 * 3600)

/* ---- the last line ---- */

enum day_form {
	DAY_OF_YEAR, /* from 0, with 29 February */
	DAY_WITHOUT_LEAP, /* from 1; 29 February is not counted */
	DAY_OF_MONTH /* a day of the week, in the nth week of a month; 5 is the last */
};

/* When summer time begins or ends: a time on the clock that holds until then. */
struct day_rule {
	enum day_form form;
	int day; /* of the year, or of the week from Sunday, 0 */
	int month, week;
	int32_t seconds; /* after midnight; may be negative or on a later day */
};

struct zone_rule {
	int32_t standard, summer; /* offsets */
	bool has_summer;
	struct day_rule begin, end;
};

struct time_zone {
	struct slice times; /* of the transitions, ascending */
	const unsigned char *types_of_times; /* the type that holds from a transition on */
	const unsigned char *types; /* each begins with its offset */
	size_t count; /* transitions */
	bool has_rule;
	struct zone_rule rule;
};

static bool take(struct slice *text, char byte)
{
	if (text->size == 0 || *text->data != byte)
		return false;
	*text = (struct slice){ text->data + 1, text->size - 1 };
	return true;
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool take_number(struct slice *text, int least, int most, int *number)
{
	*number = 0;
	if (text->size == 0 || !is_digit(*text->data))
		return false;
	while (text->size > 0 && is_digit(*text->data) && *number <= most) {
		*number = *number * 10 + (*text->data - '0');
		*text = (struct slice){ text->data + 1, text->size - 1 };
	}
	return *number >= least && *number <= most;
}

/* Takes the abbreviation of a zone: letters, or letters, digits and signs in angle brackets. */
static bool take_abbreviation(struct slice *text)
{
	const bool is_quoted = take(text, '<');
	size_t n = 0;

	while (n < text->size) {
		const char byte = text->data[n];
		const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

		if (!is_letter && (!is_quoted || (!is_digit(byte) && byte != '+' && byte != '-')))
			break;
		n++;
	}
	*text = (struct slice){ text->data + n, text->size - n };
	return n >= 3 && (!is_quoted || take(text, '>'));
}

/* Takes a time: hours, perhaps with minutes and seconds. */
static bool take_clock(struct slice *text, int hours_most, int32_t *seconds)
{
	const bool is_negative = take(text, '-');
	int hours, minutes = 0, rest = 0;

	if (!is_negative)
		(void)take(text, '+');
	if (!take_number(text, 0, hours_most, &hours))
		return false;
	if (take(text, ':') && (!take_number(text, 0, 59, &minutes) ||
				(take(text, ':') && !take_number(text, 0, 59, &rest))))
		return false;
	*seconds = hours * 3600 + minutes * 60 + rest;
	if (is_negative)
		*seconds = -*seconds;
	return true;
}

/* Takes an offset, which counts west of Greenwich. */
static bool take_west(struct slice *text, int32_t *offset)
{
	int32_t west;

	if (!take_clock(text, 24, &west))
		return false;
	*offset = -west;
	return true;
}

static bool take_day_rule(struct slice *text, struct day_rule *rule)
{
	rule->seconds = 2 * 3600;
	if (!take(text, ','))
		return false;
	if (take(text, 'M')) {
		rule->form = DAY_OF_MONTH;
		if (!take_number(text, 1, 12, &rule->month) || !take(text, '.') ||
		    !take_number(text, 1, 5, &rule->week) || !take(text, '.') ||
		    !take_number(text, 0, 6, &rule->day))
			return false;
	} else if (take(text, 'J')) {
		rule->form = DAY_WITHOUT_LEAP;
		if (!take_number(text, 1, 365, &rule->day))
			return false;
	} else {
		rule->form = DAY_OF_YEAR;
		if (!take_number(text, 0, 365, &rule->day))
			return false;
	}
	return !take(text, '/') || take_clock(text, 167, &rule->seconds);
}

static bool parse_rule(struct slice text, struct zone_rule *rule)
{
	*rule = (struct zone_rule){ .has_summer = false };
	if (!take_abbreviation(&text) || !take_west(&text, &rule->standard))
		return false;
	if (text.size == 0)
		return true;
	rule->has_summer = true;
	rule->summer = rule->standard + 3600;
	if (!take_abbreviation(&text))
		return false;
	if (text.size > 0 && *text.data != ',' && !take_west(&text, &rule->summer))
		return false;
	return take_day_rule(&text, &rule->begin) && take_day_rule(&text, &rule->end) &&
	       text.size == 0;
}

/* Returns when, in seconds since 1970, a change of the clock is, which was at this offset. */
static int64_t time_of_change(const struct day_rule *rule, int year, int32_t offset)
{
	int64_t first = calendar_day(year, 1, 1), day = rule->day;

	switch (rule->form) {
	case DAY_OF_YEAR:
		break;
	case DAY_WITHOUT_LEAP:
		day--;
		if (rule->day >= 60 && calendar_days_of_month(year, 2) == 29)
			day++;
		break;
	case DAY_OF_MONTH:
		first = calendar_day(year, rule->month, 1);
		/* 1 January 1970 was a Thursday. Years before 1970 have negative days. */
		day = (rule->day - (first + 4) % 7 + 14) % 7 + 7 * (rule->week - 1);
		if (day >= calendar_days_of_month(year, rule->month))
			day -= 7;
		break;
	}
	return (first + day) * SECONDS_A_DAY + rule->seconds - offset;
}

static int32_t offset_by_rule(const struct zone_rule *rule, int64_t seconds)
{
	int64_t days = seconds / SECONDS_A_DAY - (seconds % SECONDS_A_DAY < 0), latest = INT64_MIN;
	int32_t offset = rule->standard;
	int year, month, day;

	if (!rule->has_summer)
		return offset;
	calendar_date(days, &year, &month, &day);
	/* The latest change decides. It may be one of the year before, or, where the clock is in
	 * that already, of the next. If an end and a beginning are the same moment, it is summer
	 * all year. */
	for (int near = year > 1 ? year - 1 : year; near <= year + 1; near++) {
		const int64_t end = time_of_change(&rule->end, near, rule->summer);
		const int64_t begin = time_of_change(&rule->begin, near, rule->standard);

		if (end <= seconds && end > latest) {
			latest = end;
			offset = rule->standard;
		}
		if (begin <= seconds && begin >= latest) {
			latest = begin;
			offset = rule->summer;
		}
	}
	return offset;
}

/* ---- the file ---- */

static uint32_t number_at(const char *at)
{
	const unsigned char *bytes = (const unsigned char *)at;

	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static int64_t time_at(struct slice times, size_t i)
{
	const char *at = times.data + i * TIME_SIZE;

	return (int64_t)((uint64_t)number_at(at) << 32 | number_at(at + 4));
}

static int32_t offset_of_type(const struct time_zone *zone, size_t type)
{
	return (int32_t)number_at((const char *)zone->types + type * TYPE_SIZE);
}

/* The numbers of a header. */
struct counts {
	uint32_t utc, standard, leaps, times, types, abbreviations;
};

/* Takes a header. Returns false if the bytes do not begin with one of version 2 or later. */
static bool take_header(struct slice *bytes, struct counts *counts)
{
	if (bytes->size < HEADER_SIZE || !slice_begins(*bytes, SLICE("TZif")) ||
	    bytes->data[4] < '2')
		return false;
	counts->utc = number_at(bytes->data + 20);
	counts->standard = number_at(bytes->data + 24);
	counts->leaps = number_at(bytes->data + 28);
	counts->times = number_at(bytes->data + 32);
	counts->types = number_at(bytes->data + 36);
	counts->abbreviations = number_at(bytes->data + 40);
	*bytes = (struct slice){ bytes->data + HEADER_SIZE, bytes->size - HEADER_SIZE };
	return true;
}

/* Takes n items of this size. Returns NULL if there are not as many bytes. */
static const char *take_items(struct slice *bytes, uint32_t n, size_t size)
{
	const char *items = bytes->data;

	if (n > bytes->size / size)
		return NULL;
	*bytes = (struct slice){ bytes->data + n * size, bytes->size - n * size };
	return items;
}

/* Takes what follows a header. zone: NULL to skip it. */
static bool take_data(struct slice *bytes, const struct counts *counts, size_t time_size,
		      struct time_zone *zone)
{
	const char *times = take_items(bytes, counts->times, time_size);
	const char *indexes = times == NULL ? NULL : take_items(bytes, counts->times, 1);
	const char *types = indexes == NULL ? NULL : take_items(bytes, counts->types, TYPE_SIZE);

	if (types == NULL || take_items(bytes, counts->abbreviations, 1) == NULL ||
	    take_items(bytes, counts->leaps, time_size + 4) == NULL ||
	    take_items(bytes, counts->standard, 1) == NULL ||
	    take_items(bytes, counts->utc, 1) == NULL)
		return false;
	if (zone != NULL) {
		zone->times = (struct slice){ times, counts->times * time_size };
		zone->count = counts->times;
		zone->types_of_times = (const unsigned char *)indexes;
		zone->types = (const unsigned char *)types;
	}
	return true;
}

static bool is_in_order(const struct time_zone *zone, const struct counts *counts)
{
	for (size_t i = 0; i < zone->count; i++) {
		if (zone->types_of_times[i] >= counts->types ||
		    (i > 0 && time_at(zone->times, i) <= time_at(zone->times, i - 1)))
			return false;
	}
	for (size_t i = 0; i < counts->types; i++) {
		const int32_t offset = offset_of_type(zone, i);

		if (offset < -OFFSET_MOST || offset > OFFSET_MOST)
			return false;
	}
	return counts->types > 0;
}

const struct time_zone *time_zone_parse(struct arena *arena, struct slice bytes)
{
	struct time_zone *zone = arena_zero(arena, sizeof *zone);
	struct slice line, rest;
	struct counts counts;

	/* Zones that count leap seconds ("right/...") are for clocks that do, too. */
	if (!take_header(&bytes, &counts) || !take_data(&bytes, &counts, 4, NULL) ||
	    !take_header(&bytes, &counts) || !take_data(&bytes, &counts, TIME_SIZE, zone) ||
	    counts.leaps > 0 || !is_in_order(zone, &counts) || !take(&bytes, '\n'))
		return NULL;
	line = text_split(bytes, '\n', &rest);
	if (rest.data == NULL)
		return NULL;
	zone->has_rule = line.size > 0;
	return !zone->has_rule || parse_rule(line, &zone->rule) ? zone : NULL;
}

static bool is_name(struct slice name)
{
	bool is_after_slash = true;

	if (name.size > TIME_ZONE_NAME_MOST)
		return false;
	for (size_t i = 0; i < name.size; i++) {
		const char byte = name.data[i];
		const bool is_slash = byte == '/';
		const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

		if (is_slash ? is_after_slash
			     : !is_letter && !is_digit(byte) && byte != '_' && byte != '+' &&
				       byte != '-')
			return false;
		is_after_slash = is_slash;
	}
	return !is_after_slash;
}

const struct time_zone *time_zone_read(struct arena *arena, const char *directory,
				       struct slice name)
{
	static const struct time_zone utc = { .has_rule = true };
	const char *path;
	char *bytes;
	size_t size = 0;
	ssize_t n = 1;
	int file;

	if (slice_is(name, "UTC"))
		return &utc;
	if (!is_name(name))
		return NULL;
	path = arena_text(arena, "%s/%.*s", directory, (int)name.size, name.data);
	file = regular_file_open(path, O_RDONLY, 0);
	if (file < 0)
		return NULL;

	bytes = arena_alloc(arena, TIME_ZONE_FILE_MOST + 1);
	while (n > 0 && size <= TIME_ZONE_FILE_MOST) {
		n = read(file, bytes + size, TIME_ZONE_FILE_MOST + 1 - size);
		size += n > 0 ? (size_t)n : 0;
	}
	close(file);
	return n == 0 ? time_zone_parse(arena, (struct slice){ bytes, size }) : NULL;
}

/* ---- times ---- */

int32_t time_zone_offset(const struct time_zone *zone, int64_t time)
{
	const int64_t seconds = time / 1000 - (time % 1000 < 0);
	size_t low = 0, high = zone->count; /* the first later transition is within them */

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (time_at(zone->times, middle) <= seconds)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == zone->count && zone->has_rule)
		return offset_by_rule(&zone->rule, seconds);
	return offset_of_type(zone, low == 0 ? 0 : zone->types_of_times[low - 1]);
}

void time_zone_print(const struct time_zone *zone, int64_t time, char out[TIME_ZONE_TEXT_SIZE])
{
	int64_t local = time + time_zone_offset(zone, time) * INT64_C(1000);
	char text[TEXT_TIME_SIZE];

	if (local < TEXT_TIME_FIRST)
		local = TEXT_TIME_FIRST;
	if (local > TEXT_TIME_LAST)
		local = TEXT_TIME_LAST;
	text_time_seconds(local, text);
	text[10] = ' ';
	text[TIME_ZONE_TEXT_SIZE - 1] = '\0';
	memcpy(out, text, TIME_ZONE_TEXT_SIZE);
}
