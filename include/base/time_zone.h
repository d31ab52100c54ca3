/* Time zones of the system (tzdata), for times as people of a place write them. The C library knows
 * only the zone of the process, which all threads share. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_TIME_ZONE_H
#define BASE_TIME_ZONE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

#define TIME_ZONE_DIRECTORY "/usr/share/zoneinfo"
#define TIME_ZONE_NAME_MOST 64
/* The most bytes of a zone's file; those of tzdata have fewer than 4,000. */
#define TIME_ZONE_FILE_MOST 65536

struct time_zone;

/* Reads the zone from its file in the directory (RFC 8536, version 2 or later). UTC needs no file.
 * The zone is in the arena. Returns NULL if the name is not 1 to TIME_ZONE_NAME_MOST characters out
 * of A-Z a-z 0-9 _ + - /, or begins or ends with a slash or has two in a row; if there is no such
 * file; or if the file is damaged, too large, or counts leap seconds. */
const struct time_zone *time_zone_read(struct arena *arena, const char *directory,
				       struct slice name);
/* The same from the bytes of a file, which have to live as long as the zone. */
const struct time_zone *time_zone_parse(struct arena *arena, struct slice bytes);

/* Returns how many seconds the zone is east of UTC at a time (base/text.h). */
int32_t time_zone_offset(const struct time_zone *zone, int64_t time);
/* Writes the time as a clock of the zone shows it, "2026-01-31 13:34:56", with a terminator. A time
 * outside of the years 1 to 9999 there becomes the first or the last second of them. */
#define TIME_ZONE_TEXT_SIZE 20
void time_zone_print(const struct time_zone *zone, int64_t time, char out[TIME_ZONE_TEXT_SIZE]);

#endif
