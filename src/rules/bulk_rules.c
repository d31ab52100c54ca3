/* See rules/bulk_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/bulk_rules.h"

/* clang-format off */

/* The name by which later operations refer to an operation. */
static const struct text_rule ref_text = {
	.characters = "a-z0-9_",
	.sentence = "must be 1 to 32 characters out of a-z 0-9 _",
	.shortest = 1,
	.longest = 32,
};

/* The handler checks which methods a path allows. */
#define PATH_PATTERN \
	"^/v2/(rooms(/[^/?]+)?|room-codes/(room/[^/?]+(/role/[^/?]+(/rotate)?)?|code/[^/?]+))/?$"

static schema_rule check_refs;

static const struct rule bulk_rules[] = {
	{ "refs", "Each ref is used once.", check_refs },
	{ NULL, NULL, NULL },
};

static const struct field operation_fields[] = {
	{ "method",        TEXT(any_text), FLAGS(FIELD_REQUIRED), WORDS("POST", "PATCH", "DELETE"),
	  DOC("Method of the operation.") },
	{ "path",          TEXT(any_text), FLAGS(FIELD_REQUIRED), PATTERN(PATH_PATTERN), EXAMPLE("/v2/rooms"),
	  DOC("Path of an endpoint for rooms or room codes. A segment {REF} stands for the id, or the "
	      "code, in the response to the earlier operation with this ref.") },
	{ "body",          ANY(), FLAGS(FIELD_RAW), EXAMPLE({"name":"monday"}), DOC("Body of the operation.") },
	{ "ref",           TEXT(ref_text),
	  DOC("A name by which later operations refer to the response to this one.") },
	{ "if_match",      TEXT(any_text), DOC("If-Match of the operation.") },
	{ "if_none_match", TEXT(any_text), DOC("If-None-Match of the operation.") },
};
static const struct shape operation_shape = {
	"BulkOperation", FIELDS(operation_fields), .doc = "An operation of a bulk request.",
};
static const struct field operation_item = { .name = NULL, OBJECT(operation_shape) };

static const struct field bulk_fields[] = {
	{ "operations", LIST_OF(operation_item), MOST(BULK_OPERATIONS_MOST),
	  FLAGS(FIELD_REQUIRED | FIELD_NOT_EMPTY), DOC("Operations, in the order in which they are carried out.") },
};
const struct shape bulk_shape = {
	"BulkOperations", FIELDS(bulk_fields), .rules = bulk_rules,
	.doc = "Operations that are carried out in one step, all or none.",
};

static const struct field result_fields[] = {
	{ "status", INTEGER(200, 299), FLAGS(FIELD_REQUIRED), DOC("HTTP status of the operation.") },
	{ "body",   ANY(), FLAGS(FIELD_RAW), DOC("Body of the response; absent if there is none.") },
	{ "etag",   TEXT(any_text), DOC("ETag of the response, if it has one.") },
};
static const struct shape result_shape = {
	"BulkOutcome", FIELDS(result_fields), .doc = "The response to one operation.",
};
static const struct field result_item = { .name = NULL, OBJECT(result_shape) };

static const struct field answer_fields[] = {
	{ "results", LIST_OF(result_item), FLAGS(FIELD_REQUIRED), DOC("Responses in the order of the operations.") },
};
const struct shape bulk_answer_shape = {
	"BulkAnswer", FIELDS(answer_fields), .doc = "The responses to the operations.",
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
