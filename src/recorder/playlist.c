/* See recorder/playlist.h. The playlist is one of RFC 8216.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/playlist.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"

#define LIVE "live"
#define LIST "live.m3u8"
#define ABOUT "info.json"
/* Milliseconds that a segment stays besides the time of two playlists. */
#define KEPT_MS 10000

bool playlist_key_is_right(const char *key)
{
	return key != NULL && strlen(key) == PLAYLIST_KEY_SIZE &&
	       strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
		       PLAYLIST_KEY_SIZE;
}

/* Reads a name such as 2-15.ts. */
static bool read_name(struct slice name, int64_t *epoch, int64_t *number)
{
	struct slice rest;

	if (!slice_ends(name, SLICE(".ts")) || name.size >= SEGMENT_NAME_SIZE)
		return false;
	name.size -= 3;
	return text_integer(text_split(name, '-', &rest), epoch) && rest.data != NULL &&
	       text_integer(rest, number) && *epoch >= 0 && *number >= 0;
}

/* ---- the text ---- */

static int64_t target_of(const struct playlist *playlist)
{
	int64_t longest = playlist->segment_ms;

	for (size_t i = 0; i < playlist->count; i++) {
		if (playlist->segments[i].duration_ms > longest)
			longest = playlist->segments[i].duration_ms;
	}
	return (longest + 500) / 1000;
}

struct slice playlist_write(const struct playlist *playlist, struct arena *arena)
{
	struct buffer text = BUFFER_INITIAL(arena);

	buffer_append_text(
		&text, arena_text(arena,
				  "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:%lld\n"
				  "#EXT-X-MEDIA-SEQUENCE:%lld\n#EXT-X-DISCONTINUITY-SEQUENCE:%lld\n"
				  "#EXT-X-INDEPENDENT-SEGMENTS\n",
				  (long long)target_of(playlist), (long long)playlist->sequence,
				  (long long)playlist->discontinuities));
	for (size_t i = 0; i < playlist->count; i++) {
		const struct segment *segment = &playlist->segments[i];
		char time[TEXT_TIME_SIZE];

		text_time_milliseconds(segment->began_at, time);
		buffer_append_text(
			&text,
			arena_text(arena,
				   "%s#EXT-X-PROGRAM-DATE-TIME:%s\n#EXTINF:%lld.%03lld,\n%s\n",
				   segment->is_discontinuous ? "#EXT-X-DISCONTINUITY\n" : "", time,
				   (long long)(segment->duration_ms / 1000),
				   (long long)(segment->duration_ms % 1000), segment->name));
	}
	if (playlist->is_ended)
		buffer_append_text(&text, "#EXT-X-ENDLIST\n");
	return buffer_slice(&text);
}

/* Reads seconds with up to three decimals as milliseconds. */
static int64_t read_duration(struct slice text)
{
	struct slice decimals;
	int64_t seconds = 0, milliseconds = 0;
	const struct slice whole = text_split(text, '.', &decimals);

	(void)text_integer(whole, &seconds);
	if (decimals.data != NULL && decimals.size == 3 && decimals.data[0] >= '0')
		(void)text_integer((struct slice){ decimals.data, 3 }, &milliseconds);
	return seconds * 1000 + milliseconds;
}

/* Returns what follows the prefix of a line; data is NULL if it has another one. */
static struct slice value_of_line(struct slice line, struct slice prefix)
{
	if (!slice_begins(line, prefix))
		return (struct slice){ NULL, 0 };
	return (struct slice){ line.data + prefix.size, line.size - prefix.size };
}

void playlist_read(struct playlist *playlist, struct slice text)
{
	struct segment segment = { .duration_ms = 0 };
	int64_t epoch, number;

	while (text.data != NULL && text.size > 0) {
		const struct slice line = text_split(text, '\n', &text);
		struct slice value;

		if ((value = value_of_line(line, SLICE("#EXT-X-MEDIA-SEQUENCE:"))).data != NULL)
			(void)text_integer(value, &playlist->sequence);
		else if ((value = value_of_line(line, SLICE("#EXT-X-DISCONTINUITY-SEQUENCE:")))
				 .data != NULL)
			(void)text_integer(value, &playlist->discontinuities);
		else if ((value = value_of_line(line, SLICE("#EXT-X-PROGRAM-DATE-TIME:"))).data !=
			 NULL)
			(void)text_time_parse(value, &segment.began_at);
		else if ((value = value_of_line(line, SLICE("#EXTINF:"))).data != NULL)
			segment.duration_ms = read_duration(text_split(value, ',', &value));
		else if (slice_is(line, "#EXT-X-DISCONTINUITY"))
			segment.is_discontinuous = true;
		else if (slice_is(line, "#EXT-X-ENDLIST"))
			playlist->is_ended = true;
		else if (read_name(line, &epoch, &number) &&
			 playlist->count < PLAYLIST_WINDOW_MOST) {
			memcpy(segment.name, line.data, line.size);
			segment.name[line.size] = '\0';
			playlist->segments[playlist->count++] = segment;
			segment = (struct segment){ .duration_ms = 0 };
		}
	}
}

/* ---- the folder ---- */

static const char *path_in(const struct playlist *playlist, struct arena *arena, const char *name)
{
	return arena_text(arena, "%s/%s", playlist->folder, name);
}

static bool names_segment(const struct playlist *playlist, const char *name)
{
	for (size_t i = 0; i < playlist->count; i++) {
		if (strcmp(playlist->segments[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Removes segments that the playlist has not named for a while. With *next: finds the first number
 * that no file of the epoch has. */
static void sweep(const struct playlist *playlist, struct arena *arena, int64_t *next)
{
	const int64_t kept = KEPT_MS + 2 * (int64_t)playlist->window * playlist->segment_ms;
	const int64_t before = (clock_now(&clock_system) - kept) / 1000;
	DIR *directory = opendir(playlist->folder);
	struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		int64_t epoch, number;
		struct stat status;

		if (!read_name(slice_of(entry->d_name), &epoch, &number))
			continue;
		if (next != NULL && epoch == playlist->epoch && number >= *next)
			*next = number + 1;
		if (!names_segment(playlist, entry->d_name) &&
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (int64_t)status.st_mtime < before)
			(void)unlink(path_in(playlist, arena, entry->d_name));
	}
	if (directory != NULL)
		closedir(directory);
}

bool playlist_open(struct playlist *playlist, const struct folder *folder, const char *key,
		   int64_t epoch, struct arena *arena, struct fault *fault)
{
	const char *relative = arena_text(arena, LIVE "/%s", key);
	const json_t *about;

	playlist->epoch = epoch;
	playlist->sequence = playlist->discontinuities = 0;
	playlist->count = 0;
	playlist->is_ended = false;
	playlist->started_at = 0;
	(void)snprintf(playlist->folder, sizeof playlist->folder, "%s/%s", folder->path, relative);
	if (!folder_make(folder, relative, fault))
		return false;
	playlist_read(playlist, small_file_read(arena, path_in(playlist, arena, LIST)));
	about = json_text_read_stored(
		arena, small_file_read(arena, path_in(playlist, arena, ABOUT)), NULL);
	(void)text_time_parse(text_of_json(json_object_get(about, "started_at")),
			      &playlist->started_at);
	playlist->next = 0;
	(void)playlist_next(playlist);
	return true;
}

int64_t playlist_next(struct playlist *playlist)
{
	struct arena *arena = arena_open();

	for (size_t i = 0; i < playlist->count; i++) {
		int64_t epoch, number;

		if (read_name(slice_of(playlist->segments[i].name), &epoch, &number) &&
		    epoch == playlist->epoch && number >= playlist->next)
			playlist->next = number + 1;
	}
	sweep(playlist, arena, &playlist->next);
	arena_close(arena);
	return playlist->next;
}

/* Returns whether a recorder with a later epoch writes the playlist now. */
static bool is_taken_over(const struct playlist *playlist, struct arena *arena)
{
	struct playlist *there = arena_zero(arena, sizeof *there);
	int64_t epoch, number;

	playlist_read(there, small_file_read(arena, path_in(playlist, arena, LIST)));
	return there->count > 0 &&
	       read_name(slice_of(there->segments[there->count - 1].name), &epoch, &number) &&
	       epoch > playlist->epoch;
}

static bool write_about(const struct playlist *playlist, int64_t ended_at, struct arena *arena,
			struct fault *fault)
{
	struct json_writer writer = writer_begin(arena, false);

	writer_text(&writer, "title", slice_of(playlist->title));
	if (playlist->started_at != 0)
		writer_time_milliseconds(&writer, "started_at", playlist->started_at);
	else
		writer_value(&writer, "started_at", json_null());
	if (ended_at != 0)
		writer_time_milliseconds(&writer, "ended_at", ended_at);
	else
		writer_value(&writer, "ended_at", json_null());
	return small_file_write(path_in(playlist, arena, ABOUT), writer_end(&writer), fault);
}

bool playlist_add(struct playlist *playlist, const struct segment *segment, struct arena *arena,
		  struct fault *fault)
{
	/* Without the first one, there is as much as the window has, but for half a segment. */
	const int64_t least = ((int64_t)playlist->window * 2 - 1) * playlist->segment_ms / 2;
	int64_t rest = segment->duration_ms;

	if (is_taken_over(playlist, arena))
		return fault_cause(fault, FAULT_CONFLICT, 0, "another recorder has taken over");
	for (size_t i = 0; i < playlist->count; i++)
		rest += playlist->segments[i].duration_ms;
	/* Short segments count by their time. */
	while (playlist->count == PLAYLIST_WINDOW_MOST ||
	       (playlist->count >= playlist->window &&
		rest - playlist->segments[0].duration_ms >= least)) {
		rest -= playlist->segments[0].duration_ms;
		playlist->sequence++;
		playlist->discontinuities += playlist->segments[0].is_discontinuous;
		playlist->count--;
		memmove(playlist->segments, playlist->segments + 1,
			playlist->count * sizeof playlist->segments[0]);
	}
	playlist->segments[playlist->count++] = *segment;
	playlist->is_ended = false;
	if (playlist->started_at == 0)
		playlist->started_at = segment->began_at;
	if (!small_file_write(path_in(playlist, arena, LIST), playlist_write(playlist, arena),
			      fault))
		return false;
	sweep(playlist, arena, NULL);
	return access(path_in(playlist, arena, ABOUT), F_OK) == 0 ||
	       write_about(playlist, 0, arena, fault);
}

bool playlist_end(struct playlist *playlist, int64_t ended_at, struct arena *arena,
		  struct fault *fault)
{
	if (playlist->is_ended)
		return true;
	playlist->is_ended = true;
	return (playlist->count == 0 || small_file_write(path_in(playlist, arena, LIST),
							 playlist_write(playlist, arena), fault)) &&
	       write_about(playlist, ended_at, arena, fault);
}
