/* The encoding of stored values: numbers in little-endian order, texts with their size in front.
 * After a read beyond the end all results are zero and packed_ended is false, so a decoder checks
 * once, at its end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_PACKED_H
#define RECORDS_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/slice.h"
#include "store/store.h"

/* Writers. */
void packed_put_number(struct buffer *record, uint64_t value, size_t bytes); /* 1 to 8 */
void packed_put_text(struct buffer *record, struct slice text);
void packed_put_id(struct buffer *record, const struct id *id);
/* Stores the record, with the value that was written, in place of `former`; which is NULL, or has
 * no value, where there was none. */
bool packed_store(struct transaction *transaction, const struct store_kind *kind,
		  struct store_record *record, const struct buffer *value,
		  const struct store_record *former, struct fault *fault);

/* Readers. */
struct packed {
	struct slice rest;
	bool is_short; /* or a decoder found a value that cannot be: nothing more is read */
};

uint64_t packed_number(struct packed *record, size_t bytes);
/* Of a value that begins with its version, in one byte: another one counts as too short. */
static inline struct packed packed_open(struct slice value, uint64_t version)
{
	struct packed record = { .rest = value };

	record.is_short = packed_number(&record, 1) != version;
	return record;
}

struct slice packed_text(struct packed *record); /* borrowed from the record */
struct id packed_id(struct packed *record);
struct slice packed_bytes(struct packed *record, size_t size); /* borrowed from the record */
void packed_skip(struct packed *record, size_t bytes);
/* Everything was there, and nothing is left. */
bool packed_ended(const struct packed *record);
/* The same, or else the fault of packed_damaged. */
bool packed_close(const struct packed *record, const char *what, const struct id *key,
		  struct fault *fault);

/* The fault of a record that cannot be read: 503, with its kind and key in the log. */
bool packed_damaged(const char *what, const struct id *key, struct fault *fault);
/* The same for a missing record that another one refers to. */
bool packed_missing(const char *what, const struct id *key, struct fault *fault);

#endif
