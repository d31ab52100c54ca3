/* See recorder/cuts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/cuts.h"

static int compare_spans(const void *a, const void *b)
{
	const struct span *one = a, *other = b;

	return (one->from > other->from) - (one->from < other->from);
}

static int64_t part_length(const struct part_media *part)
{
	return part->count == 0 ? 0 : part->chunks[part->count - 1].media_ms;
}

static bool part_is_used(const struct part_media *part)
{
	return part_length(part) >= (part->has_pauses ? CUTS_PIECE_LEAST : CUTS_PART_LEAST);
}

static int64_t part_begin(const struct part_media *part)
{
	return part->chunks[0].at - part->chunks[0].media_ms;
}

/* Returns when the first of the later parts begins; INT64_MAX if there is none. */
static int64_t later_begin(const struct part_media *parts, size_t n, size_t part)
{
	int64_t begin = INT64_MAX;

	for (size_t i = part + 1; i < n; i++) {
		if (part_is_used(&parts[i]) && part_begin(&parts[i]) < begin)
			begin = part_begin(&parts[i]);
	}
	return begin;
}

struct piece_list {
	struct arena *arena;
	struct piece *pieces;
	size_t count, capacity;
};

/* Adds a piece, or extends the last one if the media goes on where it ends. */
static void add_piece(struct piece_list *list, const struct piece *piece)
{
	struct piece *last = list->count == 0 ? NULL : &list->pieces[list->count - 1];

	if (last != NULL && last->part == piece->part && last->to_ms == piece->from_ms) {
		last->to_ms = piece->to_ms;
		last->ended = piece->ended;
		return;
	}
	list->pieces = arena_room(list->arena, list->pieces, list->count + 1, &list->capacity,
				  sizeof *piece);
	list->pieces[list->count++] = *piece;
}

/* Adds what is left of the media from from_ms to to_ms, which ends at the time `end`. */
static void add_chunk(struct piece_list *list, size_t part, int64_t from_ms, int64_t to_ms,
		      int64_t end, const struct span *excluded, size_t n)
{
	const int64_t begin = end - (to_ms - from_ms);
	int64_t at = begin;

	for (size_t i = 0; i <= n && at < end; i++) {
		const int64_t next = i == n || excluded[i].from > end ? end : excluded[i].from;

		if (next > at)
			add_piece(list,
				  &(struct piece){ part, from_ms + (at - begin),
						   from_ms + (next - begin), at, next, false });
		if (i < n && excluded[i].to > at)
			at = excluded[i].to;
	}
}

size_t cuts_make(struct arena *arena, const struct part_media *parts, size_t n,
		 struct span *excluded, size_t excluded_count, struct piece **pieces)
{
	struct piece_list list = { .arena = arena };
	struct span *spans = arena_alloc(arena, (excluded_count + 1) * sizeof *spans);
	size_t kept = 0;

	if (excluded_count > 0)
		qsort(excluded, excluded_count, sizeof *excluded, compare_spans);
	for (size_t i = 0; i < n; i++) {
		const struct part_media *part = &parts[i];
		const int64_t later = later_begin(parts, n, i);
		const size_t first = list.count;
		size_t span_count = 0;
		int64_t before = 0;

		if (!part_is_used(part))
			continue;
		/* What begins after a later part is inside this last span. */
		while (span_count < excluded_count && excluded[span_count].from < later) {
			spans[span_count] = excluded[span_count];
			/* A part that was begun when a pause ended is whole: without its first
			 * picture, it would show nothing until the next key frame. */
			if (spans[span_count].to > part_begin(part) &&
			    spans[span_count].to < part_begin(part) + CUTS_GAP_LEAST)
				spans[span_count].to = part_begin(part);
			span_count++;
		}
		spans[span_count++] = (struct span){ later, INT64_MAX };
		for (size_t k = 0; k < part->count; k++) {
			if (part->chunks[k].media_ms > before)
				add_chunk(&list, i, before, part->chunks[k].media_ms,
					  part->chunks[k].at, spans, span_count);
			before = part->chunks[k].media_ms;
		}
		if (list.count == first + 1)
			list.pieces[first].is_whole = list.pieces[first].from_ms == 0 &&
						      list.pieces[first].to_ms == before;
	}
	for (size_t i = 0; i < list.count; i++) {
		if (list.pieces[i].to_ms - list.pieces[i].from_ms >= CUTS_PIECE_LEAST)
			list.pieces[kept++] = list.pieces[i];
	}
	*pieces = list.pieces;
	return kept;
}

size_t cuts_gaps(struct arena *arena, const struct piece *pieces, size_t n, struct gap **gaps)
{
	size_t count = 0, capacity = 0;
	int64_t at = 0;

	*gaps = NULL;
	for (size_t i = 1; i < n; i++) {
		const int64_t missing = pieces[i].began - pieces[i - 1].ended;

		at += pieces[i - 1].to_ms - pieces[i - 1].from_ms;
		if (missing < CUTS_GAP_LEAST)
			continue;
		*gaps = arena_room(arena, *gaps, count + 1, &capacity, sizeof **gaps);
		(*gaps)[count++] = (struct gap){ at, missing };
	}
	return count;
}

int64_t cuts_length(const struct piece *pieces, size_t n)
{
	int64_t length = 0;

	for (size_t i = 0; i < n; i++)
		length += pieces[i].to_ms - pieces[i].from_ms;
	return length;
}

bool cuts_is_excluded(const struct span *spans, size_t n, int64_t time)
{
	for (size_t i = 0; i < n; i++) {
		if (time >= spans[i].from && time < spans[i].to)
			return true;
	}
	return false;
}
