/* The folder of a live stream, DIR/live/KEY, which a web server serves: a playlist, its segments,
 * and what the page that plays it shows of it.
 *
 *     live.m3u8       the newest segments; replaced as a whole
 *     EPOCH-N.ts      a segment; no name is given twice
 *     info.json       title, beginning and end
 *
 * The playlist itself has all that a recorder needs which takes over. Segments that it has not
 * named for a while, or never, are removed: those of a player that lags behind stay for as long as
 * the playlist is, twice.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_PLAYLIST_H
#define RECORDER_PLAYLIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "recorder/folder.h"

#define PLAYLIST_WINDOW_MOST 100
#define PLAYLIST_KEY_SIZE 22
#define SEGMENT_NAME_SIZE 48

struct segment {
	char name[SEGMENT_NAME_SIZE];
	int64_t duration_ms;
	int64_t began_at; /* time, by the service's clock */
	bool is_discontinuous; /* it does not go on where the one before ends */
};

struct playlist {
	char folder[FOLDER_PATH_SIZE];
	int64_t epoch, segment_ms;
	size_t window; /* segments that it names; more, if they are short */
	int64_t sequence, discontinuities; /* of the first segment */
	struct segment segments[PLAYLIST_WINDOW_MOST];
	size_t count;
	int64_t next; /* number of the next segment */
	int64_t started_at; /* 0 before the first segment */
	char title[256];
	bool is_ended;
};

/* Returns whether a key is one: 22 characters of base64url. */
bool playlist_key_is_right(const char *key);

/* Opens the folder, which is made, and reads what is there. */
bool playlist_open(struct playlist *playlist, const struct folder *folder, const char *key,
		   int64_t epoch, struct arena *arena, struct fault *fault);
/* Returns the number of the next segment of this epoch: no file has it. */
int64_t playlist_next(struct playlist *playlist);
/* Adds a segment that is complete, and publishes the playlist. FAULT_GONE if a later epoch has
 * taken over. */
bool playlist_add(struct playlist *playlist, const struct segment *segment, struct arena *arena,
		  struct fault *fault);
/* Says that nothing follows. */
bool playlist_end(struct playlist *playlist, int64_t ended_at, struct arena *arena,
		  struct fault *fault);

/* The text of a playlist, in the arena, and what a text says. */
struct slice playlist_write(const struct playlist *playlist, struct arena *arena);
void playlist_read(struct playlist *playlist, struct slice text);

#endif
