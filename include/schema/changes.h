/* Finds the differences between two documents, as JSON Pointers, for the event log. Arrays and
 * secrets are compared as a whole, so that no pointer reveals how long they are. Values are never
 * kept.
 *
 * Nothing is shared between threads. All memory comes from the arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_CHANGES_H
#define SCHEMA_CHANGES_H

#include <jansson.h>

#include "base/arena.h"
#include "base/json_writer.h"
#include "base/slice.h"
#include "schema/schema.h"

/* Maximum number of pointers written. */
#define CHANGES_MOST 100

struct changes {
	struct arena *arena;
	struct slice *pointers;
	size_t count, capacity;
	bool is_damaged; /* a text was not a JSON object and counted as {} */
};

#define CHANGES_INITIAL(from) ((struct changes){ .arena = (from) })

/* Adds one pointer. */
void changes_add(struct changes *changes, struct slice pointer);

/* Compares two objects as they are returned, and adds a pointer, below `prefix`, for each member
 * that differs. A member that only one of them has is one pointer. Leaves out the names in
 * `ignored` at the top level (ends with NULL; NULL to ignore none). */
void changes_find(struct changes *changes, struct slice prefix, const json_t *former,
		  const json_t *latter, const char *const *ignored);

/* Does the same for two texts of the same writer. Members that have the same place and the same
 * text in both are not parsed. Sets is_damaged if a text is invalid. */
void changes_find_in_texts(struct changes *changes, struct slice prefix, struct slice former,
			   struct slice latter, const char *const *ignored);

/* Does the same for the write-only members of `shape`, which no response shows
 * (document_hidden). */
void changes_find_hidden(struct changes *changes, struct slice prefix, const struct shape *shape,
			 const json_t *former, const json_t *latter);

/* Writes the pointers as items of an array: sorted by their bytes, without duplicates, at most
 * CHANGES_MOST. Writes none if `changes` is NULL. */
void changes_write(struct changes *changes, struct json_writer *list);

#endif
