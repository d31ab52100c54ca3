/* The table language: one table of fields validates a body, fills its defaults, writes the
 * answer and becomes the OpenAPI document, so that they cannot drift apart and a number of the
 * interface is written once.
 *
 *     static const struct field video_fields[] = {
 *             { "bitRate", INTEGER(30, 2000), DEFAULT(256), DOC("Maximum bitrate, kbps.") },
 *             { "codec",   ONE_OF("vp8"),     DEFAULT("vp8") },
 *     };
 *     const struct shape publish_video = { "PublishVideo", FIELDS(video_fields) };
 *
 * The way of a body: schema_check walks it once along the table. Every member that is there has
 * to obey its row; what is unknown, read-only, `null` (but in a merge patch) or faulty is taken
 * out; all faults are collected, each with the JSON Pointer of the member in the body as it was
 * sent. Integers written as 32.0 become 32. Nothing is filled. Then the named rules of the
 * shapes run over what is left, so that a body shows all its faults at once. A handler makes a
 * whole document out of the stored one and the body and gives it to document_finish, which runs
 * the same rows' requirements and named rules over the whole, and document_write, which writes
 * the answer in the order of the table and fills defaults as it goes: a default is JSON text and
 * is copied as such.
 *
 * The walk goes down the table, so its depth is the table's whatever is sent. Tables are const
 * and shared by all threads, and so is what schema_verify works out of them at the start, before
 * anything else is done with a table; everything else made here lives in the call's arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/slice.h"

/* clang-format off */
enum field_kind {
	KIND_BOOLEAN,
	KIND_INTEGER,	/* minimum, maximum, step; kept exactly */
	KIND_NUMBER,	/* low, high; at most 15 digits, without a point when integral */
	KIND_TEXT,	/* text: its rule */
	KIND_CHOICE,	/* choices */
	KIND_OBJECT,	/* shape */
	KIND_MAP,	/* text: the rule of its keys; item; most; see key_member */
	KIND_LIST,	/* item; most; unique */
	KIND_KEPT_OBJECT, /* any object, stored as it was sent; most: bytes as compact JSON */
	KIND_KEPT_LIST,	/* any array, stored as it was sent */
	KIND_ANY	/* only for read-only members */
};

enum field_flag {
	FIELD_REQUIRED = 1 << 0,
	FIELD_NULLABLE = 1 << 1,	/* answered as null when not supplied */
	FIELD_READ_ONLY = 1 << 2,	/* accepted whatever it is, ignored */
	FIELD_WRITE_ONLY = 1 << 3,	/* stored, never answered */
	FIELD_ECHO = 1 << 4,		/* with WRITE_ONLY: answered to who supplied it */
	FIELD_SECRET = 1 << 5,		/* its value, and all below it, is never shown in a fault */
	FIELD_ATOMIC = 1 << 6,		/* a merge patch replaces it whole */
	FIELD_KEPT = 1 << 7,		/* a merge patch cannot remove it: null is a fault */
	FIELD_UNIQUE = 1 << 8,		/* a list whose items (texts, choices) differ */
	FIELD_HIDDEN_DEFAULT = 1 << 9	/* its default (if any is named) is the handler's to fill:
					 * a generated name, say */
};

struct shape;
struct rule_context;

/* What a text may be. Sizes count Unicode characters unless counts_bytes. */
struct text_rule {
	const char *characters;	/* the ones accepted, as the body of a bracket expression: single
				 * characters and ranges, '-' last ("a-zA-Z0-9 ._:-"); NULL: any */
	const char *sentence;	/* "must be 1 to 128 of a-z A-Z 0-9 space - . _ :" */
	size_t shortest, longest;
	bool counts_bytes;
	bool no_outer_space;	/* neither starts nor ends with a space */
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
	size_t most;				/* items of a map or list, bytes of what is kept as
						 * it was sent; 0: any number */
	/* The default as JSON text; NULL: left out when not supplied. "{}" for an object: written
	 * with its own defaults. */
	const char *standard;
	/* DEFAULT_WHEN: the default counts only where this member, a choice of the same object, has
	 * this value. Both NULL: always. */
	const char *when_member, *when_value;
	/* Of the fault, where a single value that breaks this row is the only one; NULL: the
	 * standard message. */
	const char *message;
	const char *doc;
};

/* What no row can say. Called with the object as it is (members that are missing, were faulty or
 * null are not there; faulty items of a list are JSON null): a rule looks only at what is there,
 * and takes a missing member at its default. It reports by schema_fault. */
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
	const struct rule *rules;	/* ends with a row whose check is NULL; NULL: none */
	const char *doc;
	/* In a map's item: the member that repeats the key ("name"); filled by document_write when
	 * missing; another value is a fault. */
	/* What is not looked at, because of another member: takes it out before the walk; NULL: nothing. */
	void (*leave_out)(json_t *object);
	const char *key_member;
	struct shape_plan *plan;	/* private to schema; worked out by schema_verify */
};

/* What the walks need of a row. */
struct row_plan {
	struct slice label;	/* ,"bitRate": */
	size_t before;		/* where in plan->missing its own text begins */
};

/* What the walks need of a shape and no table says, worked out once. Sets of rows are bits. */
struct shape_plan {
	bool is_made;
	struct row_plan *rows;	/* and one behind the last */
	/* What is written for the rows that have no value, one behind the other. */
	struct slice missing;
	uint64_t required, write_only, echoed;
	uint64_t hiding;	/* write-only, or something below is */
	uint64_t conditional;	/* the default depends on another member */
	size_t key;		/* the row of key_member; field_count: none */
};

/* ---- rows ---- */
#define FIELDS(table) .fields = (table), .field_count = sizeof (table) / sizeof (table)[0], \
	.plan = &(struct shape_plan){ .rows = \
		(struct row_plan[sizeof (table) / sizeof (table)[0] + 1]){ { .before = 0 } } }
#define NO_FIELDS() .fields = NULL, .field_count = 0, \
	.plan = &(struct shape_plan){ .rows = (struct row_plan[1]){ { .before = 0 } } }
#define BOOLEAN() .kind = KIND_BOOLEAN
#define INTEGER(least, most_) .kind = KIND_INTEGER, .minimum = (least), .maximum = (most_)
#define INTEGER_STEP(least, most_, by) INTEGER(least, most_), .step = (by)
#define NUMBER(least, most_) .kind = KIND_NUMBER, .low = (least), .high = (most_)
#define TEXT(rule_) .kind = KIND_TEXT, .text = &(rule_)
#define ONE_OF(...) .kind = KIND_CHOICE, .choices = (const char *const[]){ __VA_ARGS__, NULL }
#define OBJECT(shape_) .kind = KIND_OBJECT, .shape = &(shape_)
#define MAP_OF(keys_, item_) .kind = KIND_MAP, .text = &(keys_), .item = &(item_)
#define LIST_OF(item_) .kind = KIND_LIST, .item = &(item_)
/* Members that came later to the public service, of whose insides nothing is known. */
#define KEPT_BYTES_MOST ((size_t)16 << 10)
#define KEPT_OBJECT() .kind = KIND_KEPT_OBJECT, MOST(KEPT_BYTES_MOST)
#define KEPT_LIST() .kind = KIND_KEPT_LIST, MOST(KEPT_BYTES_MOST)
#define ANY() .kind = KIND_ANY
#define MOST(n) .most = (n)
#define FLAGS(bits) .flags = (bits)
/* A number, a text in quotes, true, {} or [...]: JSON as written in C. */
#define DEFAULT(...) .standard = #__VA_ARGS__
/* The same, filled only where a choice of the same object has one value. */
#define DEFAULT_WHEN(member_, value_, ...) \
	.when_member = (member_), .when_value = (value_), .standard = #__VA_ARGS__
#define MESSAGE(sentence_) .message = (sentence_)
#define DOC(sentence_) .doc = (sentence_)
#define UNLIMITED INT64_MAX
/* clang-format on */

/* The row of a member, or NULL. */
const struct field *shape_field(const struct shape *shape, const char *name);
/* For texts that come another way than in a body, such as a name in a path. */
bool schema_text_obeys(const struct text_rule *rule, struct slice text);

/* ---- checking what was sent ---- */

enum schema_mode {
	/* Required members must be there; named rules run. */
	SCHEMA_WHOLE,
	/* Top-level members that are there are checked as WHOLE; the top level's own required
	 * members and named rules wait for document_finish. */
	SCHEMA_PARTIAL,
	/* RFC 7396: null removes and stays in the body; required members and named rules wait for
	 * document_finish, but items of lists and FIELD_ATOMIC objects are WHOLE. */
	SCHEMA_PATCH
};

/* clang-format off */
/* What was found in one body, collected over schema_check and document_finish. */
struct findings {
	struct arena *arena;
	const json_t *sent;	/* the body as it was sent: for the order of faults */
	size_t fault_count;	/* all, also those above the 50 that are kept */
	struct finding *faults;	/* private to schema */
	const json_t *body;	/* private to schema: the body while it is being checked */
	size_t unknown_count;	/* all, also those above the FINDINGS_UNKNOWN_MOST that are kept */
	struct slice *unknown;	/* JSON Pointers of the outermost unknown members, in body order */
};
/* clang-format on */

#define FINDINGS_FAULT_MOST 50
#define FINDINGS_UNKNOWN_MOST 20

void findings_open(struct findings *findings, struct arena *arena);

/* Parses a body (decisions.md section 1, "JSON rules"): FAULT_MALFORMED with line and column in
 * detail. Empty, white space alone, null or [] gives {}. *body belongs to the arena. */
bool schema_parse(struct arena *arena, struct slice text, json_t **body, struct fault *fault);

/* Checks *body along the shape; cleans it in place as described above (body must not be shared).
 * strict: unknown members are faults. Sets FAULT_INVALID_BODY with all details when there was a
 * fault. */
bool schema_check(const struct shape *shape, json_t *body, enum schema_mode mode, bool strict,
		  struct findings *findings, struct fault *fault);

/* Query parameters are a shape too: texts of the query turned into the row's kind. A known name
 * given twice, a value that breaks its row: FAULT_INVALID_QUERY, one detail each
 * ("limit: must be from 10 to 100, got 5"). Empty values and unknown names are dropped. Nothing is
 * filled, but integers and booleans with a default get it. *query belongs to the arena. */
bool schema_query(struct arena *arena, const struct shape *shape, struct slice query_string,
		  json_t **query, struct fault *fault);

/* For rules and for handlers that find a fault of the body: one finding, at `pointer` below the
 * object at hand (rules) or from the root (findings_add). The sentence follows "<pointer>: ". */
void schema_fault(struct rule_context *context, const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 3, 4)));
void findings_add(struct findings *findings, const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 3, 4)));
/* Below an item of a list or a map: "/layers/2/rid" and the like are made by the caller. For a rule
 * that has to name keys of a map, text_pointer helps. */
struct arena *rule_arena(struct rule_context *context);
/* Whether the body that was sent has this member: where a rule holds between two members, the fault
 * belongs to the one that the client sent. */
bool rule_was_sent(const struct rule_context *context, const char *pointer);

/* Sets FAULT_INVALID_BODY with the details (at most 50, sorted by their place in the body) when
 * there are findings; true when there are none. */
bool findings_result(struct findings *findings, struct fault *fault);

/* ---- making documents ---- */

/* RFC 7396, in place: applies the checked patch to target (a document parsed from what is stored,
 * not shared). FIELD_ATOMIC objects are replaced whole. The order of members that stay is kept. */
void document_merge(const struct shape *shape, json_t *target, const json_t *patch);

/* The whole document: required members, counts of maps, named rules. */
bool document_finish(const struct shape *shape, const json_t *document, struct findings *findings,
		     struct fault *fault);

/* Writes the document as compact JSON in the order of the table, defaults filled, write-only
 * members left out, but for ECHO ones when `echo`. NULL document: all defaults. key: for the
 * item of a map, its key (fills key_member); else data NULL. Members that the document has
 * beyond the table are not written. */
void document_write(const struct shape *shape, const json_t *document, struct slice key, bool echo,
		    struct buffer *buffer);
/* One member of a shape alone: its value, or its default; nothing when it has neither (false). */
bool document_write_member(const struct field *field, const json_t *value, bool echo,
			   struct buffer *buffer);

/* The write-only members of a document as a sparse tree of the same form ({} when there are none).
 * A new root, adopted by the arena; leaves are shared with the document. */
json_t *document_hidden(struct arena *arena, const struct shape *shape, const json_t *document);
/* Puts such a tree back into a document that was parsed from an answer: where the object that holds
 * the member still exists, and does not have it. Leaves are shared with `hidden`. */
void document_unhide(const struct shape *shape, json_t *document, const json_t *hidden);

/* ---- at start ---- */

/* Aborts with a sentence when a table is wrong: a default that does not parse or breaks its row, a
 * text rule without a sentence, two fields of one name. Walks everything reachable, and works out
 * its plans, which stay as long as the process; a shape that was verified stays as it is. Called
 * before any thread. */
void schema_verify(const struct shape *shape);

#endif
