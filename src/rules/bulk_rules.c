/* See rules/bulk_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/bulk_rules.h"

/* clang-format off */

/* A name by which later operations refer to one. */
static const struct text_rule ref_text = {
	.characters = "a-z0-9_",
	.sentence = "must be 1 to 32 of a-z 0-9 _",
	.shortest = 1,
	.longest = 32,
};

/* Which methods each path takes is a rule of the route. */
#define PATH_PATTERN \
	"^/v2/(rooms(/[^/?]+)?|room-codes/(room/[^/?]+(/role/[^/?]+(/rotate)?)?|code/[^/?]+))/?$"

static schema_rule check_refs;

static const struct rule bulk_rules[] = {
	{ "refs", "Each ref is used once.", check_refs },
	{ NULL, NULL, NULL },
};

static const struct field operation_fields[] = {
	{ "method",        TEXT(any_text), FLAGS(FIELD_REQUIRED), WORDS("POST", "PATCH", "DELETE"),
	  DOC("Method of the call.") },
	{ "path",          TEXT(any_text), FLAGS(FIELD_REQUIRED), PATTERN(PATH_PATTERN), EXAMPLE("/v2/rooms"),
	  DOC("Of a call of rooms or room codes. {REF} as a whole segment stands for the id, or the "
	      "code, in the answer of the earlier operation with this ref.") },
	{ "body",          ANY(), FLAGS(FIELD_RAW), EXAMPLE({"name":"monday"}), DOC("As of the call.") },
	{ "ref",           TEXT(ref_text),
	  DOC("A name by which later operations refer to what this one answers.") },
	{ "if_match",      TEXT(any_text), DOC("If-Match of the call.") },
	{ "if_none_match", TEXT(any_text), DOC("If-None-Match of the call.") },
};
static const struct shape operation_shape = {
	"BulkOperation", FIELDS(operation_fields), .doc = "A call to be made with others.",
};
static const struct field operation_item = { .name = NULL, OBJECT(operation_shape) };

static const struct field bulk_fields[] = {
	{ "operations", LIST_OF(operation_item), MOST(BULK_OPERATIONS_MOST),
	  FLAGS(FIELD_REQUIRED | FIELD_NOT_EMPTY), DOC("In the order in which they are carried out.") },
};
const struct shape bulk_shape = {
	"BulkOperations", FIELDS(bulk_fields), .rules = bulk_rules,
	.doc = "Calls that are made in one step, all or none.",
};

static const struct field result_fields[] = {
	{ "status", INTEGER(200, 299), FLAGS(FIELD_REQUIRED), DOC("HTTP status of the call.") },
	{ "body",   ANY(), FLAGS(FIELD_RAW), DOC("The answer of the call; absent where it has none.") },
	{ "etag",   TEXT(any_text), DOC("ETag of the call, where it has one.") },
};
static const struct shape result_shape = {
	"BulkOutcome", FIELDS(result_fields), .doc = "The answer of one operation.",
};
static const struct field result_item = { .name = NULL, OBJECT(result_shape) };

static const struct field answer_fields[] = {
	{ "results", LIST_OF(result_item), FLAGS(FIELD_REQUIRED), DOC("In the order of the operations.") },
};
const struct shape bulk_answer_shape = {
	"BulkAnswer", FIELDS(answer_fields), .doc = "What the operations answer.",
};

/* clang-format on */

static void check_refs(struct rule_context *context, const json_t *object)
{
	const json_t *operations = json_object_get(object, "operations");
	json_t *used = arena_json(rule_arena(context), json_object());

	for (size_t i = 0; i < json_array_size(operations); i++) {
		const char *ref =
			json_string_value(json_object_get(json_array_get(operations, i), "ref"));

		if (ref == NULL)
			continue;
		if (json_object_get(used, ref) != NULL)
			schema_fault(context,
				     arena_text(rule_arena(context), "/operations/%zu/ref", i),
				     "used twice");
		object_put(used, ref, json_true());
	}
}
