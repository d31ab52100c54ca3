/* What differs between two documents, as JSON Pointers: for the log of changes. Arrays and secrets
 * are compared as a whole, so that no pointer tells how long they are. Values are never kept.
 *
 * Threads: none shared. All memory is the arena's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_CHANGES_H
#define SCHEMA_CHANGES_H

#include <jansson.h>

#include "base/arena.h"
#include "base/slice.h"
#include "schema/schema.h"

/* The most pointers that are written. */
#define CHANGES_MOST 100

struct changes {
	struct arena *arena;
	struct slice *pointers;
	size_t count, capacity;
	bool is_damaged; /* a text was no JSON object; it counted as {} */
};

#define CHANGES_INITIAL(from) ((struct changes){ .arena = (from) })

/* Adds one pointer. */
void changes_add(struct changes *changes, struct slice pointer);

/* Adds the pointers, below `prefix`, of the members in which two objects as they are answered
 * differ. A member that only one of them has is one pointer. Names in `ignored` (NULL-terminated;
 * NULL: none) are left out at the top. */
void changes_find(struct changes *changes, struct slice prefix, const json_t *former,
		  const json_t *latter, const char *const *ignored);

/* The same for objects as texts of one writer. Members that stand in both in the same place and are
 * written alike are not parsed. Texts that are not valid set is_damaged. */
void changes_find_in_texts(struct changes *changes, struct slice prefix, struct slice former,
			   struct slice latter, const char *const *ignored);

/* The same for the members that no answer shows (document_hidden), which `shape` knows. */
void changes_find_hidden(struct changes *changes, struct slice prefix, const struct shape *shape,
			 const json_t *former, const json_t *latter);

/* Appends them as a JSON array: sorted by their bytes, each once, the first CHANGES_MOST. NULL:
 * []. */
void changes_write(struct changes *changes, struct buffer *text);

#endif
