/* Describes stored records: each kind has one table with a row for each member of its C struct. The
 * rows determine the stored bytes, the JSON of a dump, how both are read, and how they are checked.
 *
 *     static const struct member position_members[] = {
 *             { "id",     AS_KEY,                     AT(struct webhook_position, stored.id) },
 *             { "series", AS_NUMBER(8, 1, UNLIMITED), AT(struct webhook_position, series) },
 *             { "seq",    AS_NUMBER(8, 0, UNLIMITED), AT(struct webhook_position, seq) },
 *             { "delivered_at", AS_TIME, MARKED(MEMBER_ABSENT),
 *               AT(struct webhook_position, delivered) },
 *     };
 *     const struct record_table webhook_position_table = {
 *             RECORD(struct webhook_position, position_members, 1, &kind_webhook_position),
 *     };
 *
 * A stored value consists of the version of its table, and the members in the order of the rows,
 * without those of the record's key. Numbers are little-endian; texts are preceded by their size.
 *
 * A new member is marked SINCE the table's next version, which the table then names (VERSION):
 * records that were stored before have zero for it. In a dump it is MEMBER_ABSENT, because dumps
 * that were made before do not have it either. Any other change is an upgrade (records/upgrade.h),
 * which says what becomes of the records that are stored; without it, the program refuses a store
 * and a dump, because its form (records/form.h), which follows from the rows, is another one.
 *
 * A row also says what its member refers to (struct relation): whom the record belongs to, and what
 * becomes of it when that is removed. What follows from it is done for all kinds alike: the check
 * (resources/record_kind.h), the removal (resources/garbage.h), and the order of a dump.
 *
 *     { "id", AS_KEY, AT(struct ban, stored.id) },
 *     { "room_id", AS_PARENT_OF(room, DIES, OR_NONE, COUNTED(media, ban_count)),
 *       AT(struct ban, stored.parent) },
 *
 * A member with MEMBER_DERIVED is not in a dump; loading a dump computes it from other members.
 * Loading also draws new ETags.
 *
 * A member of the key that never changes is in the struct store_record: AT(..., stored.id). One
 * that may change (a name, the switch) has a place of its own in the struct, because struct
 * store_record tells the store what the former record was.
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
#include "base/json_writer.h"
#include "base/text.h"
#include "schema/schema.h"
#include "store/store.h"

#define RECORD_VERSION 1 /* of tables that name no other; the oldest that can be read */

/* Each comment names the C type of the member. Kinds that are stored alike are grouped. */
enum member_kind {
	/* Members of the record's key, which are not in its value; their rows come first. */
	MEMBER_KEY, /* the id: struct id */
	MEMBER_PARENT, /* struct id */
	MEMBER_SWITCH, /* bool */
	MEMBER_NAME, /* struct slice */
	/* Numbers. */
	MEMBER_NUMBER, /* from least to most: an integer of any size */
	MEMBER_TIME, /* milliseconds since 1970, until 9999: int64_t */
	MEMBER_SECONDS, /* seconds since 1970, until 9999: int64_t */
	MEMBER_ETAG, /* uint64_t */
	MEMBER_BOOLEAN, /* bool */
	MEMBER_CHOICE, /* the index of its name in `names`: an enum, or an integer */
	/* Bytes of a fixed number, `bytes`. */
	MEMBER_ID, /* struct id */
	MEMBER_FIXED, /* base64url in a dump: an array */
	/* Bytes preceded by their number. */
	MEMBER_TEXT, /* UTF-8, from least to most bytes: struct slice */
	MEMBER_BYTES, /* base64url in a dump: struct slice */
	MEMBER_JSON, /* the text of a JSON object: struct slice */
	/* A part of the text of an earlier row, the row with MEMBER_WHOLE: struct slice. */
	MEMBER_PART,
	/* Items, each described by the table `items`. Lists are the last members. */
	MEMBER_LIST, /* a pointer to the first item, with room for one more */
	MEMBER_ARRAY /* an array of `most` items */
};

enum member_flag {
	MEMBER_WHOLE = 1 << 0,
	MEMBER_ABSENT = 1 << 1, /* left out of a dump if it is zero, false or empty */
	MEMBER_DERIVED = 1 << 2, /* never in a dump */
	MEMBER_OFF = 1 << 3 /* of a MEMBER_SWITCH: true while the switch is off */
};

/* What becomes of a record when the one is removed that it refers to. */
enum relation_fate {
	RELATION_DIES, /* it is removed too */
	RELATION_REFUSES, /* it must be removed first */
	RELATION_OUTLIVES /* it stays, and refers to what is gone */
};

/* What a member refers to. */
struct relation {
	const struct store_kind *of; /* the record with this id, or the account's only one */
	/* An item of this list in the account's only record: the one with the id or, if is_by_name,
	 * with the name. NULL: the record itself. */
	const char *list;
	const char *other_list; /* or of this one, by its name; NULL if there is no other */
	bool is_by_name;
	enum relation_fate fate;
	bool may_be_none; /* the id zero, or an empty name */
	/* A number that counts the records that refer to something: a member of this name in the
	 * item; in the record referred to, if that is of this kind; else in the account's only
	 * record of this kind. A removal asks for records only where the number is not zero. */
	const struct store_kind *counted_in;
	const char *counted;
	/* There is none without a record of this kind that has the id of the parent. */
	const struct store_kind *only_with;
};

struct member {
	const char *name; /* its name in a dump */
	enum member_kind kind;
	unsigned flags; /* of enum member_flag */
	unsigned bytes; /* in the store: of the member, or of the size or count in front of it */
	unsigned plain; /* `bytes` of a number with 4 or 8 bytes in store and memory, or of a bool;
			 * else 0 */
	int64_t least, most;
	const char *const *names; /* `most` + 1 names */
	const struct record_table *items;
	size_t offset, width; /* in the struct */
	size_t count; /* offset of the size_t with the number of items */
	unsigned when; /* 0: always stored. NOT_STORED: never stored. Else a bit of the table's
			* `set`: stored only if that is set; such rows come last */
	unsigned since; /* stored in records of this version and later ones */
	const struct relation *relation; /* NULL if it refers to nothing */
	bool is_end; /* the time at which the record ends; 0 if it has no end */
	bool holds_end; /* a number: while it is not 0, the record has no end */
};

struct record_table {
	const struct store_kind *kind; /* NULL for a table of items */
	const struct member *members;
	size_t member_count;
	size_t keys; /* number of leading rows that belong to the record's key */
	size_t size; /* of the struct */
	size_t stored; /* offset of the struct store_record; unused in a table of items */
	size_t set; /* offset of the unsigned `set`, whose row precedes those with `when` */
	unsigned version; /* 0: RECORD_VERSION */
	bool is_bare; /* the value has no version, because the store reads it (STORE_FIND_VALUE) */
};

/* clang-format off */
#define AS_KEY .kind = MEMBER_KEY
#define AS_PARENT .kind = MEMBER_PARENT
#define AS_SWITCH .kind = MEMBER_SWITCH
#define AS_NAME .kind = MEMBER_NAME, .most = STORE_NAME_MAX
#define AS_NUMBER(bytes_, least_, most_) \
	.kind = MEMBER_NUMBER, .bytes = (bytes_), .least = (least_), .most = (most_), \
	.plain = (bytes_) == 8 || (bytes_) == 4 ? (bytes_) : 0
#define AS_BOOLEAN .kind = MEMBER_BOOLEAN, .bytes = 1, .plain = 1, .most = 1
#define AS_TIME .kind = MEMBER_TIME, .bytes = 8, .plain = 8, .most = TEXT_TIME_LAST
#define AS_SECONDS .kind = MEMBER_SECONDS, .bytes = 8, .plain = 8, .most = TEXT_TIME_LAST / 1000
#define AS_ETAG .kind = MEMBER_ETAG, .bytes = 8, .plain = 8, .least = INT64_MIN, .most = INT64_MAX
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

/* What a member refers to: the kind, what becomes of the record (DIES, REFUSES or OUTLIVES), and
 * more words. */
#define REFERS_TO(of_, ...) \
	.relation = &(const struct relation) { .of = &kind_##of_, __VA_ARGS__ }
#define AS_PARENT_OF(of_, ...) AS_PARENT, REFERS_TO(of_, __VA_ARGS__)
#define AS_KEY_OF(of_, ...) AS_KEY, REFERS_TO(of_, __VA_ARGS__)
#define AS_REFERENCE(of_, ...) AS_ID, REFERS_TO(of_, __VA_ARGS__)
#define DIES .fate = RELATION_DIES
#define REFUSES .fate = RELATION_REFUSES
#define OUTLIVES .fate = RELATION_OUTLIVES
#define ITEM_OF(list_) .list = #list_
#define BY_NAME(list_) ITEM_OF(list_), .is_by_name = true
#define OR_OF(list_) .other_list = #list_
#define OR_NONE .may_be_none = true
#define COUNTED(of_, member_) .counted_in = &kind_##of_, .counted = #member_
#define ONLY_WITH(of_) .only_with = &kind_##of_
/* A time at which the record ends, or from which on it is kept for a while (struct record_kind).
 * The store finds records by it. */
#define AS_END .is_end = true
/* A number that keeps the record from its end as long as it is not 0. */
#define HOLDS_END .holds_end = true

#define AT(type_, member_) \
	.offset = offsetof(type_, member_), .width = sizeof(((type_ *)0)->member_)
#define WHEN(bit_) .when = (bit_)
#define NOT_STORED (1u << 31)
#define IN_A_DUMP_ALONE WHEN(NOT_STORED)
#define SINCE(version_) .since = (version_)
#define MARKED(flags_) .flags = (flags_)

#define ITEMS(type_, members_) .members = (members_), \
	.member_count = sizeof (members_) / sizeof (members_)[0], .size = sizeof(type_)
#define RECORD(type_, members_, keys_, kind_) ITEMS(type_, members_), .keys = (keys_), \
	.kind = (kind_), .stored = offsetof(type_, stored)
#define VERSION(version_) .version = (version_)
/* clang-format on */

/* Returns the version with which records of this table are stored. */
static inline unsigned record_version(const struct record_table *table)
{
	return table->version != 0 ? table->version : RECORD_VERSION;
}

/* Returns the row that says whom records of this table belong to: the parent, or a key that is the
 * id of another record. NULL if they belong to the account alone. */
const struct member *record_owner(const struct record_table *table);
/* Returns the time of the row AS_END in milliseconds since 1970; 0 if there is none, or as long as
 * a row HOLDS_END keeps the record. */
int64_t record_end(const struct record_table *table, const void *record);
/* Returns the row with this name. NULL if there is none. */
const struct member *record_member(const struct record_table *table, const char *name);
/* Return what a member of the record has: an id; a number. */
const struct id *record_id(const struct member *member, const void *record);
uint64_t record_number(const struct member *member, const void *record);
/* Sets a number. */
void record_set_number(const struct member *member, void *record, uint64_t number);
/* Returns the number of items of a list, and the first of them. */
size_t record_items(const struct member *list, const void *record, const char **items);

/* ---- in the store: records of the transaction's account ---- */

/* Reads a stored record. A missing record (value.data NULL) reads as zeros, with lists that have
 * room for one item. arena may be NULL if the table has no lists. Sets FAULT_DAMAGED if the value
 * is damaged, or if a number, time, choice or list is not in the range of its row; and, with a
 * message of its own, if a newer version of the program has stored it: such a record is left out as
 * a damaged one would be. Does not check texts and JSON, which may have any bytes
 * (record_verify). */
bool record_read(const struct record_table *table, struct arena *arena,
		 const struct store_record *stored, void *record, struct fault *fault);
/* Gets and reads the record with this id. value.data of its struct store_record is NULL if there is
 * no such record. */
bool record_get(const struct record_table *table, struct transaction *transaction,
		const struct id *id, enum store_reading reading, void *record, struct fault *fault);
/* Does the same for the record with this name. */
bool record_get_named(const struct record_table *table, struct transaction *transaction,
		      struct slice name, enum store_reading reading, void *record,
		      struct fault *fault);
/* Stores the record in place of the stored record that it was read from. */
bool record_put(const struct record_table *table, struct transaction *transaction,
		const void *record, struct fault *fault);

/* Reads only the first member that is stored, which must be a text that has been there since
 * RECORD_VERSION. Returns false if the value is damaged or of a newer version. */
bool record_first_text(const struct record_table *table, struct slice value, struct slice *text);
/* Returns the struct store_record of the record, without a value. */
struct store_record record_key(const struct record_table *table, const void *record);
/* Convert a value from and to bytes, without the key. record_unpack returns false if the bytes are
 * not a record of this table. */
bool record_unpack(const struct record_table *table, struct arena *arena, struct slice value,
		   void *record);
void record_pack(const struct record_table *table, const void *record, struct buffer *value);

/* The fault of a record that cannot be read: 503, with its kind and key in the log. */
bool record_damaged(const char *what, const struct id *key, struct fault *fault);
/* The same for a missing record that another one refers to. */
bool record_missing(const char *what, const struct id *key, struct fault *fault);

/* ---- in a dump, and checked ---- */

/* Writes the dumped members as an object. name: the member's name, NULL for an item. */
void record_print(const struct record_table *table, const void *record, const char *name,
		  struct json_writer *text);
/* Reads such an object, whose JSON Pointer is `pointer`, into a zeroed record. Sets ETags to
 * `etag`. Adds a finding for each member that is missing, unknown or malformed. */
void record_scan(const struct record_table *table, const json_t *object, const char *pointer,
		 uint64_t etag, void *record, struct findings *findings);
/* Adds a finding for each member that violates its row. is_whole is false for a scanned record,
 * whose derived members are not set yet. */
void record_verify(const struct record_table *table, const void *record, const char *pointer,
		   bool is_whole, struct findings *findings);

#endif
