/* The table language: one table of fields validates a body, fills defaults, writes the answer and
 * generates the OpenAPI schema. Each number of the API is written once.
 *
 *     static const struct field video_fields[] = {
 *             { "bitRate", INTEGER(30, 2000), DEFAULT(256), DOC("Maximum bitrate, kbps.") },
 *             { "codec",   ONE_OF("vp8"),     DEFAULT("vp8") },
 *     };
 *     const struct shape publish_video = { "PublishVideo", FIELDS(video_fields) };
 *
 * schema_check walks the body once along the table. It checks every member against its row and
 * removes unknown, read-only, null (except in a merge patch) and faulty members. It collects all
 * faults, each with the JSON Pointer of the member in the body as sent, and turns integers written
 * as 32.0 into 32. It fills no defaults. The named rules of the shapes then run over the rest, so
 * that a body shows all its faults at once. A handler builds the whole document from the stored one
 * and the body. document_finish checks required members and named rules of the whole;
 * document_write writes the answer in table order and fills defaults, which are JSON text and
 * copied as such.
 *
 * The depth of recursion is that of the table, whatever is sent. Tables, and the plans that
 * schema_verify computes from them at start, are const and shared by all threads; everything else
 * lives in the call's arena.
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
	KIND_KEPT_LIST,	/* any array, stored as sent; most: as above */
	KIND_ANY	/* only for members that are read-only or raw */
};

enum field_flag {
	FIELD_REQUIRED = 1 << 0,
	FIELD_NULLABLE = 1 << 1,	/* answered as null when not supplied */
	FIELD_READ_ONLY = 1 << 2,	/* any value is accepted and ignored */
	FIELD_WRITE_ONLY = 1 << 3,	/* stored, never answered */
	FIELD_ECHO = 1 << 4,		/* with WRITE_ONLY: answered to the request that supplied it */
	FIELD_SECRET = 1 << 5,		/* no fault shows the value or anything below it */
	FIELD_ATOMIC = 1 << 6,		/* a merge patch replaces it as a whole */
	FIELD_KEPT = 1 << 7,		/* a merge patch cannot remove it: null is a fault */
	FIELD_UNIQUE = 1 << 8,		/* the items of the list (texts, choices) are distinct */
	FIELD_HIDDEN_DEFAULT = 1 << 9,	/* the handler fills the default, e.g. a generated name */
	/* KIND_TIME: "", and in SCHEMA_PARTIAL null, stay; the handler unsets the member. */
	FIELD_CLEARABLE = 1 << 10,
	FIELD_RAW = 1 << 11,		/* KIND_ANY: the route's own check looks at it */
	FIELD_NOT_EMPTY = 1 << 12,	/* the list has at least one item */
	FIELD_OFFSET = 1 << 13,		/* a time in a query: the + of its offset may arrive as a blank */
	/* "", 0, {} or [] counts as not supplied: some clients send them for what they do not
	 * set. */
	FIELD_ZERO_ABSENT = 1 << 14,
	/* So does a text of nothing but blanks and characters that nobody sees. */
	FIELD_BLANK_ABSENT = 1 << 15,
	FIELD_UNLISTED = 1 << 16	/* of a query: the document has an operation instead */
};

struct shape;
struct rule_context;

/* The rule of a text. Sizes count Unicode characters unless counts_bytes. */
struct text_rule {
	const char *characters;	/* accepted characters, like the inside of a bracket expression: single ones and ranges, '-' last ("a-zA-Z0-9 ._:-"); NULL: any */
	const char *sentence;	/* "must be 1 to 128 of a-z A-Z 0-9 space - . _ :" */
	size_t shortest, longest;
	bool counts_bytes;
	bool no_outer_space;	/* neither starts nor ends with a space */
	const char *format, *example;	/* for the OpenAPI document alone; NULL: none */
};

struct field {
	const char *name;	/* NULL in the item row of a map or list */
	enum field_kind kind;
	unsigned flags;
	int64_t minimum, maximum, step;		/* KIND_INTEGER; step 0: any */
	double low, high;			/* KIND_NUMBER */
	const struct text_rule *text;		/* KIND_TEXT; keys of KIND_MAP */
	const char *const *choices;		/* NULL-terminated */
	const struct shape *shape;		/* KIND_OBJECT */
	const struct field *item;		/* KIND_MAP, KIND_LIST */
	size_t most;				/* limit of items of a map or list, or of bytes of a kept value; 0: none */
	size_t deepest;				/* levels of a kept value; 0: as many as the body may have */
	/* The default as JSON text; NULL: none. "{}" for an object: its own defaults. */
	const char *standard;
	/* DEFAULT_WHEN: the default applies only when this choice of the same object has this
	 * value. NULL: always. */
	const char *when_member, *when_value;
	/* Message of the fault when this is the only finding; NULL: the standard message. */
	const char *message;
	const char *doc;
	/* Of a query, KIND_TEXT: with this parameter any text is accepted. NULL: there is none. */
	const char *free_with;
	const char *unit;	/* of a number: "kbps", "s", "ms", "px" or "fps"; NULL: none */
	/* For the OpenAPI document alone: an example as JSON text, and what a handler, or a rule of
	 * the shape, requires of a text. NULL: none. */
	const char *example, *pattern, *format;
	const char *const *words;	/* NULL-terminated: one of these */
	const char *component;		/* of a choice: it has a schema of this name */
};

/* A rule that no row can express. `object` lacks members that are missing, null or faulty, and
 * faulty items of a list are JSON null: a rule checks only present members and assumes the default
 * of a missing one. It reports with schema_fault. */
typedef void schema_rule(struct rule_context *context, const json_t *object);

struct rule {
	const char *name;	/* for the OpenAPI document */
	const char *doc;	/* the rule as a sentence */
	schema_rule *check;
};

struct shape {
	const char *name;	/* of the OpenAPI component */
	const struct field *fields;
	size_t field_count;
	const struct rule *rules;	/* ends with a row whose check is NULL; NULL: no rules */
	const char *doc;
	/* Removes members that another member makes irrelevant, before the walk. */
	void (*leave_out)(json_t *object);
	/* For an entry of a map: the member that repeats the key ("name"). A different value is a
	 * fault; document_write always writes the key. */
	const char *key_member;
	/* For the OpenAPI document: it is merged by one call and changed in part by another, which
	 * has a schema of its own (DESCRIBE_UPDATE). */
	bool is_merged_too;
	struct shape_plan *plan;	/* private to schema; computed by schema_verify */
};

/* Precomputed data of a row. */
struct row_plan {
	struct slice label;	/* ,"bitRate": */
	size_t before;		/* offset of its text in plan->missing */
};

/* Precomputed data of a shape. Sets of rows are bit masks. */
struct shape_plan {
	bool is_made;
	struct row_plan *rows;	/* and one after the last */
	/* The text written for rows without a value, concatenated. */
	struct slice missing;
	uint64_t required, write_only, echoed;
	uint64_t hiding;	/* write-only, or with a write-only member below */
	uint64_t conditional;	/* the default depends on another member */
	size_t key;		/* row of key_member; field_count: none */
};

/* ---- rows ---- */
#define FIELDS(table) .fields = (table), .field_count = sizeof (table) / sizeof (table)[0], \
	.plan = &(struct shape_plan){ .rows = \
		(struct row_plan[sizeof (table) / sizeof (table)[0] + 1]){ { .before = 0 } } }
#define BOOLEAN() .kind = KIND_BOOLEAN
#define INTEGER(least, most_) .kind = KIND_INTEGER, .minimum = (least), .maximum = (most_)
#define INTEGER_STEP(least, most_, by) INTEGER(least, most_), .step = (by)
#define NUMBER(least, most_) .kind = KIND_NUMBER, .low = (least), .high = (most_)
#define TEXT(rule_) .kind = KIND_TEXT, .text = &(rule_)
#define TIME() .kind = KIND_TIME
#define ONE_OF(...) .kind = KIND_CHOICE, .choices = (const char *const[]){ __VA_ARGS__, NULL }
#define OBJECT(shape_) .kind = KIND_OBJECT, .shape = &(shape_)
#define MAP_OF(keys_, item_) .kind = KIND_MAP, .text = &(keys_), .item = &(item_)
#define LIST_OF(item_) .kind = KIND_LIST, .item = &(item_)
/* For members added later to the public API whose content is not documented. */
#define KEPT_BYTES_MOST ((size_t)16 << 10)
#define KEPT_OBJECT() .kind = KIND_KEPT_OBJECT, MOST(KEPT_BYTES_MOST)
#define KEPT_LIST() .kind = KIND_KEPT_LIST, MOST(KEPT_BYTES_MOST)
#define DEEPEST(levels) .deepest = (levels)
#define ANY() .kind = KIND_ANY
#define MOST(n) .most = (n)
#define FLAGS(bits) .flags = (bits)
/* JSON as written in C: a number, a quoted text, true, {} or [...]. */
#define DEFAULT(...) .standard = #__VA_ARGS__
/* A default that applies only when a choice of the same object has this value. */
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

/* The row of a member, or NULL. */
const struct field *shape_field(const struct shape *shape, const char *name);
/* For texts outside a body, such as a name in a path. */
bool schema_text_obeys(const struct text_rule *rule, struct slice text);

/* "an object", "a number" and so on. */
const char *schema_kind_of(const json_t *value);

/* ---- checking ---- */

enum schema_mode {
	/* Required members must be present; named rules run. */
	SCHEMA_WHOLE,
	/* As WHOLE below the top level. Required members and named rules of the top level, and the
	 * size of its maps, are left to document_finish. */
	SCHEMA_PARTIAL,
	/* RFC 7396: null removes a member and stays in the body. Required members and named rules
	 * are left to document_finish, but items of lists, and FIELD_ATOMIC objects and maps, are
	 * WHOLE. */
	SCHEMA_PATCH
};

/* clang-format off */
/* The findings of one body, collected by schema_check and document_finish. */
struct findings {
	struct arena *arena;
	const struct clock *clock;	/* for rules about the present time; NULL: there are none */
	const json_t *sent;	/* the body as sent (or its outline): gives the order of faults */
	size_t fault_most;	/* FINDINGS_FAULT_MOST, or fewer where fewer are told */
	size_t fault_count;	/* including faults above fault_most, which are not kept */
	struct finding *faults;	/* private to schema */
	const json_t *body;	/* private to schema: the body during the check */
	size_t unknown_count;	/* including members above FINDINGS_UNKNOWN_MOST, which are not kept */
	struct slice *unknown;	/* JSON Pointers of the outermost unknown members, in body order */
};
/* clang-format on */

#define FINDINGS_FAULT_MOST 50
#define FINDINGS_UNKNOWN_MOST 20

void findings_open(struct findings *findings, struct arena *arena);

/* Parses a body; FAULT_MALFORMED with line and column in the detail. An empty text, white space,
 * null and [] give {}. *body belongs to the arena. */
bool schema_parse(struct arena *arena, struct slice text, json_t **body, struct fault *fault);

/* Checks a body and cleans it in place, as described above; it must not be shared. strict: unknown
 * members are faults. FAULT_INVALID_BODY with all details. */
bool schema_check(const struct shape *shape, json_t *body, enum schema_mode mode, bool strict,
		  struct findings *findings, struct fault *fault);

/* Converts query parameters to the types of the shape's rows. Empty values and unknown names are
 * dropped; members with a default are filled. FAULT_INVALID_QUERY when a known name is repeated or
 * a value breaks its row, with one detail each ("limit: must be from 10 to 100, got 5"). *query
 * belongs to the arena. */
bool schema_query(struct arena *arena, const struct shape *shape, struct slice query_string,
		  json_t **query, struct fault *fault);

/* Add one finding, "<pointer>: <sentence>". The pointer begins at the object of the rule
 * (schema_fault), or at the root (findings_add). */
void schema_fault(struct rule_context *context, const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 3, 4)));
void findings_add(struct findings *findings, const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 3, 4)));
/* Keeps the order of the members of a body that will be checked piece by piece. */
void findings_keep_order(struct findings *findings, const json_t *body);
/* The limit of faults is reached: what remains need not be checked. */
bool findings_are_full(const struct findings *findings);
/* Adds what was found in a piece, which is at `pointer`: faults and unknown members. */
void findings_take(struct findings *findings, const char *pointer, const struct findings *piece);
/* For pointers that a rule has to build ("/layers/2/rid"; see text_pointer). */
struct arena *rule_arena(struct rule_context *context);
/* The present time in seconds since 1970; needs findings->clock. */
int64_t rule_now(const struct rule_context *context);
/* Whether the body as sent has this member, and not as null. A rule about two members reports the
 * one that was sent. */
bool rule_was_sent(const struct rule_context *context, const char *pointer);

/* True when there are no findings. Else sets FAULT_INVALID_BODY with at most FINDINGS_FAULT_MOST
 * details in the order of the body. */
bool findings_result(struct findings *findings, struct fault *fault);

/* ---- documents ---- */

/* Applies a checked merge patch (RFC 7396) to `target` in place; `target` must not be shared.
 * FIELD_ATOMIC objects and maps are replaced as a whole. Members that stay keep their order. */
void document_merge(const struct shape *shape, json_t *target, const json_t *patch);

/* Checks a whole document: required members, sizes of maps, named rules. */
bool document_finish(const struct shape *shape, const json_t *document, struct findings *findings,
		     struct fault *fault);

/* Writes a document as compact JSON in table order with defaults. Members that are not in the table
 * are omitted, and write-only ones except FIELD_ECHO with `echo`. document: NULL for all defaults.
 * key: the key of a map's entry (see key_member), else data NULL. */
void document_write(const struct shape *shape, const json_t *document, struct slice key, bool echo,
		    struct buffer *buffer);
/* The same as a text of the arena, without a key. */
struct slice document_as_text(struct arena *arena, const struct shape *shape,
			      const json_t *document, bool echo);
/* Writes the value of one member, or its default; false when it has neither, or is write-only. */
bool document_write_member(const struct field *field, const json_t *value, struct buffer *buffer);

/* The write-only members of a document as a sparse tree of the same structure ({} when there are
 * none). A new root, owned by the arena; leaves are shared with the document. */
json_t *document_hidden(struct arena *arena, const struct shape *shape, const json_t *document);
/* Puts such a tree back into a document parsed from an answer: wherever the enclosing object still
 * exists and lacks the member. Leaves are shared with `hidden`. */
void document_unhide(const struct shape *shape, json_t *document, const json_t *hidden);

/* ---- at start ---- */

/* Verifies a table and everything reachable from it, and computes the plans, which live as long as
 * the process. Aborts with a log line when a table is wrong, e.g. a default breaks its row. Called
 * before the first thread. */
void schema_verify(const struct shape *shape);

#endif
