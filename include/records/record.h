/* A stored record, described once: a table with a row for each member of a C struct. From the rows
 * follow the bytes in the store, the JSON of a dump, how that is read back, and the check of both.
 *
 *     static const struct member position_members[] = {
 *             { "id",        AS_KEY,                      AT(struct webhook_position, stored.id) },
 *             { "seq",       AS_NUMBER(8, 0, UNLIMITED),  AT(struct webhook_position, seq) },
 *             { "delivered", AS_TIME, MARKED(MEMBER_ABSENT),
 *               AT(struct webhook_position, delivered) },
 *     };
 *     const struct record_table webhook_position_table = {
 *             RECORD(struct webhook_position, position_members, 1, &kind_webhook_position),
 *     };
 *
 * The stored bytes are a version, RECORD_VERSION, and the members in the order of the rows, but for
 * those of the record's key. Numbers are little-endian; texts have their size in front. A change of
 * the rows of a kind changes its stored form: then RECORD_VERSION rises, and older stores have to
 * be dumped before and loaded after.
 *
 * A member with MEMBER_DERIVED is in no dump: it is made of the others when a dump is loaded. ETags
 * are drawn anew.
 *
 * A member of the key that may change (a name, the switch) has a place of its own in the struct:
 * struct store_record tells the store what the former record was.
 *
 * Tables are const and shared by all threads. Slices of a record that was read are borrowed from
 * the stored value; arrays are in the arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_RECORD_H
#define RECORDS_RECORD_H

#include <stddef.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/id.h"
#include "schema/schema.h"
#include "store/store.h"

#define RECORD_VERSION 1

/* The C type of the member stands behind it. Kinds that are stored alike stand together. */
enum member_kind {
	/* Of the record's key, and not in its value; their rows come first. */
	MEMBER_KEY, /* the id: struct id */
	MEMBER_PARENT, /* struct id */
	MEMBER_SWITCH, /* bool */
	MEMBER_NAME, /* struct slice */
	/* Numbers. */
	MEMBER_NUMBER, /* least to most: an integer of any size */
	MEMBER_TIME, /* milliseconds since 1970: int64_t */
	MEMBER_SECONDS, /* seconds since 1970: int64_t */
	MEMBER_ETAG, /* uint64_t */
	MEMBER_BOOLEAN, /* bool */
	MEMBER_CHOICE, /* the place of its name in `names`: an enum, or an integer */
	/* So many bytes as the row says. */
	MEMBER_ID, /* struct id */
	MEMBER_FIXED, /* in a dump base64url: an array */
	/* Bytes with their number in front. */
	MEMBER_TEXT, /* UTF-8, of least to most bytes: struct slice */
	MEMBER_BYTES, /* in a dump base64url: struct slice */
	MEMBER_JSON, /* the text of a JSON object: struct slice */
	/* A part of the text of the row with MEMBER_WHOLE, which stands before it: struct slice. */
	MEMBER_PART,
	/* Items, each of the table `items`. Lists are the last members. */
	MEMBER_LIST, /* a pointer to the first; there is room for one more */
	MEMBER_ARRAY /* an array of `most` */
};

enum member_flag {
	MEMBER_WHOLE = 1 << 0,
	MEMBER_ABSENT = 1 << 1, /* zero, false or empty: it is not in a dump */
	MEMBER_DERIVED = 1 << 2, /* it is never in a dump */
	MEMBER_OFF = 1 << 3 /* of the switch: true while it is off */
};

struct member {
	const char *name; /* in a dump */
	enum member_kind kind;
	unsigned flags; /* of enum member_flag */
	unsigned bytes; /* in the store; of a number 4 or 8 where it has as many in memory */
	unsigned plain; /* the same of such a number; 0: any other member */
	int64_t least, most;
	const char *const *names; /* `most` + 1 of them */
	const struct record_table *items;
	size_t offset, width; /* in the struct */
	size_t count; /* the offset of a size_t, the number of items */
	unsigned when; /* a bit of the table's `set`: only then it is stored; such rows come last.
			* 0: always. NOT_STORED: never */
};

struct record_table {
	const struct store_kind *kind; /* NULL: of items */
	const struct member *members;
	size_t member_count;
	size_t keys; /* the first members, which are of the record's key */
	size_t size; /* of the struct */
	size_t stored; /* the offset of its struct store_record; of no meaning for items */
	size_t set; /* the offset of an unsigned, whose row comes before those with `when` */
	bool is_bare; /* its value has no version: the store looks at it (STORE_FIND_VALUE) */
};

/* clang-format off */
#define AS_KEY .kind = MEMBER_KEY
#define AS_PARENT .kind = MEMBER_PARENT
#define AS_SWITCH .kind = MEMBER_SWITCH
#define AS_NAME .kind = MEMBER_NAME, .most = STORE_NAME_MAX
#define AS_NUMBER(bytes_, least_, most_) \
	.kind = MEMBER_NUMBER, .bytes = (bytes_), .least = (least_), .most = (most_), \
	.plain = (bytes_) == 8 || (bytes_) == 4 ? (bytes_) : 0
#define AS_BOOLEAN .kind = MEMBER_BOOLEAN, .bytes = 1, .most = 1
#define AS_TIME .kind = MEMBER_TIME, .bytes = 8, .plain = 8
#define AS_SECONDS .kind = MEMBER_SECONDS, .bytes = 8, .plain = 8
#define AS_ETAG .kind = MEMBER_ETAG, .bytes = 8, .plain = 8
#define AS_CHOICE(last_, names_) \
	.kind = MEMBER_CHOICE, .bytes = 1, .most = (last_), .names = (names_)
#define AS_ID .kind = MEMBER_ID, .bytes = ID_SIZE
#define AS_FIXED(size_) .kind = MEMBER_FIXED, .bytes = (size_)
#define AS_TEXT(least_, most_) .kind = MEMBER_TEXT, .bytes = 4, .least = (least_), .most = (most_)
#define AS_BYTES(most_) .kind = MEMBER_BYTES, .bytes = 4, .most = (most_)
#define AS_JSON(most_) .kind = MEMBER_JSON, .bytes = 4, .most = (most_)
#define AS_PART .kind = MEMBER_PART, .bytes = 8
#define AS_LIST(type_, count_, most_, items_) .kind = MEMBER_LIST, .bytes = 4, \
	.count = offsetof(type_, count_), .most = (most_), .items = &(items_)
#define AS_ARRAY(type_, count_, most_, items_) .kind = MEMBER_ARRAY, .bytes = 1, \
	.count = offsetof(type_, count_), .most = (most_), .items = &(items_)
#define AT(type_, member_) \
	.offset = offsetof(type_, member_), .width = sizeof(((type_ *)0)->member_)
#define WHEN(bit_) .when = (bit_)
#define NOT_STORED (1u << 31)
#define IN_A_DUMP_ALONE WHEN(NOT_STORED)
#define MARKED(flags_) .flags = (flags_)

#define ITEMS(type_, members_) .members = (members_), \
	.member_count = sizeof (members_) / sizeof (members_)[0], .size = sizeof(type_)
#define RECORD(type_, members_, keys_, kind_) ITEMS(type_, members_), .keys = (keys_), \
	.kind = (kind_), .stored = offsetof(type_, stored)
/* clang-format on */

/* ---- in the store: of the transaction's account ---- */

/* Reads a stored record; one that is not there (value.data NULL) gives a record of zeros, whose
 * lists have room for one. arena: NULL for tables without lists. Damage is FAULT_DAMAGED. */
bool record_read(const struct record_table *table, struct arena *arena,
		 const struct store_record *stored, void *record, struct fault *fault);
/* The same by id. Whether it is there says the value of its struct store_record. */
bool record_get(const struct record_table *table, struct transaction *transaction,
		const struct id *id, enum store_reading reading, void *record, struct fault *fault);
/* The same by name. */
bool record_get_named(const struct record_table *table, struct transaction *transaction,
		      struct slice name, enum store_reading reading, void *record,
		      struct fault *fault);
/* Stores the record in place of the one it was read as. */
bool record_put(const struct record_table *table, struct transaction *transaction,
		const void *record, struct fault *fault);

/* Reads the first member alone, a text. */
bool record_first_text(struct slice value, struct slice *text);
/* What the store has to know of a record; without a value. */
struct store_record record_key(const struct record_table *table, const void *record);
/* The same without a key. unpack: false if these are not the bytes of such a record. */
bool record_unpack(const struct record_table *table, struct arena *arena, struct slice value,
		   void *record);
void record_pack(const struct record_table *table, const void *record, struct buffer *value);

/* The fault of a record that cannot be read: 503, with its kind and key in the log. */
bool record_damaged(const char *what, const struct id *key, struct fault *fault);
/* The same for a missing record that another one refers to. */
bool record_missing(const char *what, const struct id *key, struct fault *fault);

/* ---- in a dump, and checked ---- */

/* Appends the members that a dump has, as a JSON object. */
void record_print(const struct record_table *table, const void *record, struct buffer *text);
/* Reads such an object, at `pointer`, into a record of zeros; ETags become `etag`. Adds a finding
 * for each member that is missing, unknown or of another form. */
void record_scan(const struct record_table *table, const json_t *object, const char *pointer,
		 uint64_t etag, void *record, struct findings *findings);
/* Adds a finding for each member that breaks its row. is_whole false: the record was scanned, and
 * what is derived is not there yet. */
void record_verify(const struct record_table *table, const void *record, const char *pointer,
		   bool is_whole, struct findings *findings);

#endif
