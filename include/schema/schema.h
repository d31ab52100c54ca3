/* The table language: one table of fields validates a body, fills defaults, writes the response and
 * generates the OpenAPI schema. Each number of the API is written only once.
 *
 *     static const struct field video_fields[] = {
 *             { "bitRate", INTEGER(30, 2000), DEFAULT(256), DOC("Maximum bitrate, kbps.") },
 *             { "codec",   ONE_OF("vp8"),     DEFAULT("vp8") },
 *     };
 *     const struct shape publish_video = { "PublishVideo", FIELDS(video_fields) };
 *
 * The bodies that create and change an object and the response are shapes of one table. Flags such
 * as FIELD_READ_ONLY say what a row is in each of them; IN names the views of a row that only some
 * of them have.
 *
 * schema_check walks the body once along the table. It checks every member against its row and
 * removes unknown, read-only, null (except in a merge patch) and faulty members. It collects all
 * faults, each with the JSON Pointer of the member in the body as sent, and turns integers written
 * as 32.0 into 32. It does not fill in defaults. Then the named rules of the shapes check the
 * members that remain, so that a response reports all faults of a body. A handler builds the whole
 * document from the stored one and the body. document_finish checks the required members and named
 * rules of the whole; document_write writes the response in table order and fills in defaults,
 * which are copied as JSON text.
 *
 * The recursion is as deep as the table, whatever is sent. Tables, and the plans that schema_verify
 * computes from them at start, are const and shared by all threads; everything else lives in the
 * call's arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/slice.h"

/* clang-format off */
enum field_kind {
	KIND_BOOLEAN,
	KIND_INTEGER,	/* minimum, maximum, step; kept exactly */
	KIND_NUMBER,	/* low, high; written with at most 15 digits, without a point when integral */
	KIND_TEXT,	/* text */
	KIND_TIME,	/* a time of RFC 3339; kept as YYYY-MM-DDTHH:MM:SSZ */
	KIND_CHOICE,	/* choices */
	KIND_OBJECT,	/* shape */
	KIND_MAP,	/* text (rule of the keys), item, most; see key_member */
	KIND_LIST,	/* item, most; FIELD_UNIQUE */
	KIND_KEPT_OBJECT, /* any object, stored as sent; most: bytes as compact JSON */
	KIND_KEPT_LIST,	/* any array, stored as sent; most: bytes as compact JSON */
	KIND_ANY	/* only for members that are read-only or raw */
};

enum field_flag {
	FIELD_REQUIRED = 1 << 0,
	FIELD_NULLABLE = 1 << 1,	/* returned as null if it is not set */
	FIELD_READ_ONLY = 1 << 2,	/* any value is accepted and ignored */
	FIELD_WRITE_ONLY = 1 << 3,	/* stored, never returned */
	FIELD_ECHO = 1 << 4,		/* with WRITE_ONLY: returned to the request that sent it */
	FIELD_SECRET = 1 << 5,		/* faults never show the value or anything below it */
	FIELD_ATOMIC = 1 << 6,		/* a merge patch replaces it as a whole */
	FIELD_KEPT = 1 << 7,		/* a merge patch cannot remove it: null is a fault */
	FIELD_UNIQUE = 1 << 8,		/* the items of the list (texts, choices) are distinct */
	FIELD_HIDDEN_DEFAULT = 1 << 9,	/* the handler fills in the default, such as a generated name */
	/* KIND_TIME: "", and in SCHEMA_PARTIAL null, are kept for the handler, which unsets the
	 * member. KIND_TEXT: a text of only blanks and invisible characters counts as ""; that is
	 * null in a merge patch, kept in SCHEMA_PARTIAL, and counts as not sent elsewhere. */
	FIELD_CLEARABLE = 1 << 10,
	FIELD_RAW = 1 << 11,		/* KIND_ANY: the handler checks the value */
	FIELD_NOT_EMPTY = 1 << 12,	/* the list has at least one item */
	FIELD_OFFSET = 1 << 13,		/* a time in a query: the + of its offset may arrive as a blank */
	/* "", 0, {} or [] counts as not sent, because some clients send it for members that they do
	 * not set. */
	FIELD_ZERO_ABSENT = 1 << 14,
	/* A text of only blanks and invisible characters counts as not sent. */
	FIELD_BLANK_ABSENT = 1 << 15,
	/* Accepted but not in the document: an older spelling of a member, or a parameter in place
	 * of which the document has an operation. */
	FIELD_UNLISTED = 1 << 16,
	/* The list is the only member of its shape: the body and the response are the list itself
	 * (schema_parse_list, shape_is_bare). */
	FIELD_BARE = 1 << 17,
	FIELD_PLUS = 1 << 18,		/* a text without blanks in a query: its + may arrive as one */
	FIELD_SOMETIMES = 1 << 19,	/* with READ_ONLY: not all responses have it */
	FIELD_TAKES_NULL = 1 << 20	/* null is one of its values, not a member that was not sent */
};

/* The views of a table. A shape has the rows without views, and those with one of its views. */
enum field_view {
	IN_ANSWER = 1 << 0,	/* a response, or what is both sent and returned */
	IN_NEW = 1 << 1,	/* a body that creates the object */
	IN_CHANGE = 1 << 2,	/* a body that changes it, or the response after a change */
	IN_SWITCH = 1 << 3,	/* a body that enables or disables the object that it names */
	IN_PATH_SWITCH = 1 << 4, /* the same for the object in the path */
	IN_IMPORT = 1 << 5,	/* the object as 100ms returns it */
	IN_LIST = 1 << 6	/* the query of a list */
};

struct shape;
struct rule_context;

/* The rule of a text. Sizes count Unicode characters unless counts_bytes. */
struct text_rule {
	const char *characters;	/* accepted characters, like the inside of a bracket expression: single ones and ranges, '-' last ("a-zA-Z0-9 ._:-"); NULL for any */
	const char *sentence;	/* "must be 1 to 128 characters out of a-z A-Z 0-9 - . _ :" */
	size_t shortest, longest;
	bool counts_bytes;
	bool no_outer_space;	/* neither starts nor ends with a space */
	bool no_controls;	/* has no control characters and no line breaks (text_has_controls) */
	const char *format, *example;	/* only for the OpenAPI document; may be NULL */
};

struct field {
	const char *name;	/* NULL in the item row of a map or list */
	enum field_kind kind;
	unsigned flags;
	unsigned views;		/* 0: all shapes of the table have the row */
	int64_t minimum, maximum, step;		/* KIND_INTEGER; step is 0 for any integer */
	/* KIND_INTEGER: the maximum in messages, if a handler accepts more only in some cases; 0
	 * for `maximum`. */
	int64_t usual;
	double low, high;			/* KIND_NUMBER */
	const struct text_rule *text;		/* KIND_TEXT; keys of KIND_MAP */
	const char *const *choices;		/* NULL-terminated */
	const struct shape *shape;		/* KIND_OBJECT */
	const struct field *item;		/* KIND_MAP, KIND_LIST */
	size_t most;				/* maximum items of a map or list, or bytes of a kept value; 0 for no limit */
	size_t deepest;				/* maximum levels of a kept value; 0 for as many as the body may have */
	/* The default as JSON text, or NULL. "{}" means an object with its own defaults. */
	const char *standard;
	/* DEFAULT_WHEN: the default applies only if this choice in the same object has this value.
	 * NULL if it always applies. */
	const char *when_member, *when_value;
	/* Message of the fault if this is the only finding; NULL for the standard message. */
	const char *message;
	const char *doc;
	/* In a query, KIND_TEXT: if this parameter was sent, any text is accepted. May be NULL. */
	const char *free_with;
	const char *unit;	/* unit of a number: "kbps", "s", "ms", "px" or "fps"; may be NULL */
	/* Only for the OpenAPI document: an example as JSON text, and what a handler, or a rule of
	 * the shape, requires of a text. May be NULL. */
	const char *example, *pattern, *format;
	const char *const *words;	/* the accepted texts, NULL-terminated */
	const char *component;		/* name of the schema of a choice; NULL if it has none of its own */
};

/* A rule that no row can express. `object` lacks members that are missing, null or faulty, and
 * faulty items of a list are JSON null. A rule checks only the members that are present, and
 * assumes the default of a missing member. It reports with schema_fault. */
typedef void schema_rule(struct rule_context *context, const json_t *object);

struct rule {
	const char *name;	/* for the OpenAPI document */
	const char *doc;	/* the rule as a sentence */
	schema_rule *check;
};

struct shape {
	const char *name;	/* name of the OpenAPI component */
	const struct field *fields;	/* the table; see shape_next */
	size_t field_count;
	unsigned views;
	const struct rule *rules;	/* ends with a row whose check is NULL; NULL if there are no rules */
	const char *doc;
	/* Names of members that are accepted and ignored; ends with NULL. NULL for none. */
	const char *const *ignored;
	/* Changes the object before the walk: removes members that another member makes irrelevant,
	 * or gives members that are spelt differently the name of their row. May be NULL. */
	void (*prepare)(const struct shape *shape, json_t *object);
	bool is_closed; /* unknown members are faults, unless they are null */
	/* For entries of a map: the member that repeats the key ("name"). A different value is a
	 * fault; document_write always writes the key. */
	const char *key_member;
	/* For the OpenAPI document: in addition to a merge patch, there is an endpoint that updates
	 * some members, and it has its own schema (DESCRIBE_UPDATE). */
	bool is_merged_too;
	struct shape_plan *plan;	/* private to schema; computed by schema_verify */
};

/* Precomputed data of a row. */
struct row_plan {
	struct slice label;	/* ,"bitRate": */
	size_t before;		/* offset of the row's text in plan->missing */
	size_t next;		/* the next row of the shape */
};

/* Precomputed data of a shape. Sets of rows are bit masks. */
struct shape_plan {
	bool is_made;
	struct row_plan *rows;	/* one for each row, and one more at the end */
	/* The texts that are written for rows without a value, concatenated. */
	struct slice missing;
	uint64_t all;		/* the rows of the shape */
	uint64_t required, write_only, echoed;
	uint64_t hiding;	/* rows that are write-only or have a write-only member below */
	uint64_t conditional;	/* rows whose default depends on another member */
	size_t key;		/* row of key_member, or field_count if there is none */
};

/* ---- rows ---- */
#define FIELDS(table) .fields = (table), .field_count = sizeof (table) / sizeof (table)[0], \
	.plan = &(struct shape_plan){ .rows = \
		(struct row_plan[sizeof (table) / sizeof (table)[0] + 1]){ { .before = 0 } } }
#define BOOLEAN() .kind = KIND_BOOLEAN
#define INTEGER(least, most_) .kind = KIND_INTEGER, .minimum = (least), .maximum = (most_)
#define INTEGER_STEP(least, most_, by) INTEGER(least, most_), .step = (by)
#define USUALLY_MOST(most_) .usual = (most_)
#define NUMBER(least, most_) .kind = KIND_NUMBER, .low = (least), .high = (most_)
#define TEXT(rule_) .kind = KIND_TEXT, .text = &(rule_)
#define TIME() .kind = KIND_TIME
#define ONE_OF(...) .kind = KIND_CHOICE, .choices = (const char *const[]){ __VA_ARGS__, NULL }
#define OBJECT(shape_) .kind = KIND_OBJECT, .shape = &(shape_)
#define MAP_OF(keys_, item_) .kind = KIND_MAP, .text = &(keys_), .item = &(item_)
#define LIST_OF(item_) .kind = KIND_LIST, .item = &(item_)
/* For members that 100ms added to its API later, and whose content is not documented. */
#define KEPT_BYTES_MOST ((size_t)16 << 10)
#define KEPT_OBJECT() .kind = KIND_KEPT_OBJECT, MOST(KEPT_BYTES_MOST)
#define KEPT_LIST() .kind = KIND_KEPT_LIST, MOST(KEPT_BYTES_MOST)
#define DEEPEST(levels) .deepest = (levels)
#define ANY() .kind = KIND_ANY
#define MOST(n) .most = (n)
#define FLAGS(bits) .flags = (bits)
#define IN(views_) .views = (unsigned)(views_)
/* JSON as written in C: a number, a quoted text, true, {} or [...]. */
#define DEFAULT(...) .standard = #__VA_ARGS__
/* A default that applies only if a choice in the same object has this value. */
#define DEFAULT_WHEN(member_, value_, ...) \
	.when_member = (member_), .when_value = (value_), .standard = #__VA_ARGS__
#define MESSAGE(sentence_) .message = (sentence_)
#define DOC(sentence_) .doc = (sentence_)
#define UNIT(unit_) .unit = (unit_)
#define EXAMPLE(...) .example = #__VA_ARGS__
#define COMPONENT(name_) .component = (name_)
#define PATTERN(pattern_) .pattern = (pattern_)
#define IN_FORMAT(format_) .format = (format_)
#define WORDS(...) .words = (const char *const[]){ __VA_ARGS__, NULL }
#define FREE_WITH(parameter_) .free_with = (parameter_)
#define UNLIMITED INT64_MAX
/* clang-format on */

/* Returns true if the body and the response are the list that is the only member. */
bool shape_is_bare(const struct shape *shape);
/* Returns the row of the shape after this one, the first one after NULL, and NULL at the end. */
static inline const struct field *shape_next(const struct shape *shape, const struct field *row)
{
	for (row = row == NULL ? shape->fields : row + 1; row < shape->fields + shape->field_count;
	     row++) {
		if (row->views == 0 || (row->views & shape->views) != 0)
			return row;
	}
	return NULL;
}

/* Returns the row of a member, or NULL. */
const struct field *shape_field(const struct shape *shape, const char *name);
/* Returns true if the text obeys the rule. For texts outside a body, such as a name in a path. */
bool schema_text_obeys(const struct text_rule *rule, struct slice text);

/* Returns "an object", "a number" and so on. */
const char *schema_kind_of(const json_t *value);

/* ---- checking ---- */

enum schema_mode {
	/* Required members must be present; named rules run. */
	SCHEMA_WHOLE,
	/* Like WHOLE below the top level. At the top level, document_finish checks required
	 * members, named rules and the size of maps. */
	SCHEMA_PARTIAL,
	/* RFC 7396: null removes a member and stays in the body. document_finish checks required
	 * members and named rules, except in items of lists, and in FIELD_ATOMIC objects and maps,
	 * which are WHOLE. */
	SCHEMA_PATCH
};

/* clang-format off */
/* The findings of one body, collected by schema_check and document_finish. */
struct findings {
	struct arena *arena;
	const struct clock *clock;	/* for rules about the current time; may be NULL if there are none */
	bool is_stored;	/* it is a stored document: older releases did not have no_controls */
	const json_t *sent;	/* the body as sent, or its outline: determines the order of faults */
	size_t fault_most;	/* FINDINGS_FAULT_MOST, or fewer if fewer are reported */
	size_t fault_count;	/* including faults above fault_most, which are not kept */
	struct finding *faults;	/* private to schema */
	size_t fault_capacity;	/* private to schema */
	const json_t *body;	/* private to schema: the body during the check */
	size_t unknown_count;	/* including members above FINDINGS_UNKNOWN_MOST, which are not kept */
	struct slice *unknown;	/* JSON Pointers of the outermost unknown members, in body order */
};
/* clang-format on */

#define FINDINGS_FAULT_MOST 50
#define FINDINGS_UNKNOWN_MOST 20

void findings_open(struct findings *findings, struct arena *arena);

/* Parses a body. Fails with FAULT_MALFORMED and line and column in the detail. An empty text, white
 * space, null and [] become {}. *body belongs to the arena. */
bool schema_parse(struct arena *arena, struct slice text, json_t **body, struct fault *fault);
/* Parses a body that is a list itself (FIELD_BARE). *body has it as its only member. An empty text,
 * white space and null become an empty list. */
bool schema_parse_list(struct arena *arena, const struct shape *shape, struct slice text,
		       json_t **body, struct fault *fault);

/* Checks a body and cleans it in place, as described above. The body must not be shared. strict:
 * unknown members are faults. Fails with FAULT_INVALID_BODY and all details. */
bool schema_check(const struct shape *shape, json_t *body, enum schema_mode mode, bool strict,
		  struct findings *findings, struct fault *fault);

/* Converts query parameters to the types of the shape's rows. Drops empty values and unknown names,
 * and fills in defaults. Fails with FAULT_INVALID_QUERY if a known name is repeated or a value
 * breaks its row, with one detail for each ("limit: must be from 10 to 100, got 5"). *query belongs
 * to the arena. */
bool schema_query(struct arena *arena, const struct shape *shape, struct slice query_string,
		  json_t **query, struct fault *fault);

/* Add a finding, "<pointer>: <sentence>". The pointer begins at the object of the rule
 * (schema_fault) or at the root (findings_add). */
void schema_fault(struct rule_context *context, const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 3, 4)));
void findings_add(struct findings *findings, const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 3, 4)));
/* Remembers the order of the members of a body that will be checked piece by piece. */
void findings_keep_order(struct findings *findings, const json_t *body);
/* Returns true if the limit of faults is reached, so that the rest need not be checked. */
bool findings_are_full(const struct findings *findings);
/* Adds the faults and unknown members of a piece, which is at `pointer`. */
void findings_take(struct findings *findings, const char *pointer, const struct findings *piece);
/* Returns an arena for pointers that a rule builds ("/layers/2/rid"; see text_pointer). */
struct arena *rule_arena(struct rule_context *context);
/* Returns the current time in seconds since 1970. Needs findings->clock. */
int64_t rule_now(const struct rule_context *context);
/* Returns true if the body as sent has this member with a value other than null. A rule about two
 * members reports the one that was sent. */
bool rule_was_sent(const struct rule_context *context, const char *pointer);

/* Returns true if there are no findings. Otherwise sets FAULT_INVALID_BODY with at most
 * FINDINGS_FAULT_MOST details in the order of the body; the detail of a finding without a pointer
 * is its sentence alone. */
bool findings_result(struct findings *findings, struct fault *fault);

/* ---- documents ---- */

/* Applies a checked merge patch (RFC 7396) to `target` in place; `target` must not be shared.
 * FIELD_ATOMIC objects and maps are replaced as a whole. Members that remain keep their order. */
void document_merge(const struct shape *shape, json_t *target, const json_t *patch);

/* Checks the required members, sizes of maps and named rules of a whole document. */
bool document_finish(const struct shape *shape, const json_t *document, struct findings *findings,
		     struct fault *fault);

/* Writes a document as compact JSON in table order, with defaults. Omits members that are not in
 * the table and write-only members, except FIELD_ECHO members if `echo` is true. document: NULL to
 * write only defaults. key: the key of a map's entry (see key_member), else data is NULL. */
void document_write(const struct shape *shape, const json_t *document, struct slice key, bool echo,
		    struct buffer *buffer);
/* Returns the same text in the arena, without a key. */
struct slice document_as_text(struct arena *arena, const struct shape *shape,
			      const json_t *document, bool echo);
/* Writes the value of a member, or its default. Returns false if it has neither or is
 * write-only. */
bool document_write_member(const struct field *field, const json_t *value, struct buffer *buffer);

/* Returns the write-only members of a document as a sparse tree of the same structure, {} if there
 * are none. The tree belongs to the arena; its leaves are shared with the document. */
json_t *document_hidden(struct arena *arena, const struct shape *shape, const json_t *document);
/* Puts such a tree back into a document that was parsed from a response, wherever the enclosing
 * object still exists and lacks the member. Leaves are shared with `hidden`. */
void document_unhide(const struct shape *shape, json_t *document, const json_t *hidden);

/* ---- at start ---- */

/* Verifies a table and everything reachable from it, and computes the plans, which live as long as
 * the process. Aborts with a log line if a table is wrong, for example if a default breaks its row.
 * Must be called before the first thread starts that reads the table. */
void schema_verify(const struct shape *shape);
/* Returns whether that was done. */
bool schema_is_verified(const struct shape *shape);

#endif
