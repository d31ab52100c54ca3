/* See schema/describe.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "schema/describe.h"

#include <stdarg.h>

#include "base/log.h"

static json_t *describe_row(const struct field *row, enum describe_form form, bool is_nullable);

/* After the name of a shape. */
static const char *const suffixes[] = {
	[DESCRIBE_ANSWER] = "",
	[DESCRIBE_REQUEST] = "Request",
	[DESCRIBE_PATCH] = "Patch",
};

json_t *describe_reference(const struct shape *shape, enum describe_form form)
{
	return json_pack("{s:o}", "$ref",
			 json_sprintf("#/components/schemas/%s%s", shape->name, suffixes[form]));
}

static void set_type(json_t *schema, const char *type, bool is_nullable)
{
	if (is_nullable)
		object_put(schema, "type", json_pack("[s,s]", type, "null"));
	else
		object_put(schema, "type", json_string(type));
}

static void describe_further(json_t *schema, const char *sentence, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a sentence to the description. */
static void describe_further(json_t *schema, const char *sentence, ...)
{
	const char *before = json_string_value(json_object_get(schema, "description"));
	json_t *further;
	va_list arguments;

	va_start(arguments, sentence);
	further = json_vsprintf(sentence, arguments);
	va_end(arguments);
	if (before != NULL) {
		object_put(schema, "description",
			   json_sprintf("%s %s", before, json_string_value(further)));
		json_decref(further);
	} else {
		object_put(schema, "description", further);
	}
}

static void describe_kept(json_t *schema, const struct field *row)
{
	describe_further(schema, "At most %zu bytes as compact JSON.", row->most);
}

/* ---- single values ---- */

static void describe_integer(json_t *schema, const struct field *row)
{
	object_put(schema, "format", json_string("int64"));
	if (row->minimum > INT64_MIN)
		object_put(schema, "minimum", json_integer(row->minimum));
	if (row->maximum != UNLIMITED)
		object_put(schema, "maximum", json_integer(row->maximum));
	if (row->step > 1)
		object_put(schema, "multipleOf", json_integer(row->step));
}

/* With no_outer_space, the first and last character come from the set without the space. */
static json_t *pattern_of(const struct text_rule *rule)
{
	char inner[64];
	size_t size = 0;

	if (!rule->no_outer_space)
		return json_sprintf("^[%s]*$", rule->characters);
	for (const char *at = rule->characters; *at != '\0' && size < sizeof inner - 1; at++) {
		if (*at != ' ')
			inner[size++] = *at;
	}
	inner[size] = '\0';
	return json_sprintf("^[%s]([%s]*[%s])?$", inner, rule->characters, inner);
}

static void describe_text(json_t *schema, const struct text_rule *rule)
{
	if (rule->characters != NULL)
		object_put(schema, "pattern", pattern_of(rule));
	if (rule->shortest > 0)
		object_put(schema, "minLength", json_integer((json_int_t)rule->shortest));
	if (rule->longest == SIZE_MAX)
		return;
	object_put(schema, "maxLength", json_integer((json_int_t)rule->longest));
	/* maxLength counts characters; the limit in bytes is lower for texts that are not ASCII. */
	if (rule->counts_bytes)
		object_put(schema, "x-maxBytes", json_integer((json_int_t)rule->longest));
}

static void describe_choice(json_t *schema, const struct field *row, bool is_nullable)
{
	json_t *choices = json_array();

	for (const char *const *choice = row->choices; *choice != NULL; choice++)
		array_put(choices, json_string(*choice));
	if (is_nullable)
		array_put(choices, json_null());
	object_put(schema, "enum", choices);
}

/* ---- objects, maps, lists ---- */

/* The form of the values below: lists and atomic objects inside a patch are whole. */
static enum describe_form form_below(const struct field *row, enum describe_form form)
{
	bool is_whole = row->kind == KIND_LIST || (row->flags & FIELD_ATOMIC) != 0;

	return form == DESCRIBE_PATCH && is_whole ? DESCRIBE_REQUEST : form;
}

static void describe_object(json_t *schema, const struct field *row, enum describe_form form,
			    bool is_nullable)
{
	json_t *whole = describe_reference(row->shape, form_below(row, form));

	if (is_nullable)
		object_put(schema, "anyOf", json_pack("[o,{s:s}]", whole, "type", "null"));
	else if (json_object_update_new(schema, whole) != 0)
		ABORT("a JSON value could not be changed");
}

static void describe_map(json_t *schema, const struct field *row, enum describe_form form)
{
	json_t *names = json_object();

	describe_text(names, row->text);
	object_put(schema, "propertyNames", names);
	/* A null entry is ignored, or removed by a patch. */
	object_put(schema, "additionalProperties",
		   describe_row(row->item, form, form != DESCRIBE_ANSWER));
	/* A patch may have more entries, since some of them remove or change existing ones. */
	if (row->most != 0 && form == DESCRIBE_PATCH)
		describe_further(schema, "At most %zu after the merge.", row->most);
	else if (row->most != 0)
		object_put(schema, "maxProperties", json_integer((json_int_t)row->most));
}

static void describe_list(json_t *schema, const struct field *row, enum describe_form form)
{
	object_put(schema, "items", describe_row(row->item, form_below(row, form), false));
	if ((row->flags & FIELD_NOT_EMPTY) != 0)
		object_put(schema, "minItems", json_integer(1));
	if (row->most != 0)
		object_put(schema, "maxItems", json_integer((json_int_t)row->most));
	if ((row->flags & FIELD_UNIQUE) != 0)
		object_put(schema, "uniqueItems", json_true());
}

static void describe_kind(json_t *schema, const struct field *row, enum describe_form form,
			  bool is_nullable)
{
	switch (row->kind) {
	case KIND_BOOLEAN:
		set_type(schema, "boolean", is_nullable);
		break;
	case KIND_INTEGER:
		set_type(schema, "integer", is_nullable);
		describe_integer(schema, row);
		break;
	case KIND_NUMBER:
		set_type(schema, "number", is_nullable);
		object_put(schema, "minimum", json_real(row->low));
		object_put(schema, "maximum", json_real(row->high));
		break;
	case KIND_TEXT:
		set_type(schema, "string", is_nullable);
		if (row->free_with == NULL)
			describe_text(schema, row->text);
		else
			describe_further(schema, "Without %s it %s.", row->free_with,
					 row->text->sentence);
		break;
	case KIND_TIME:
		set_type(schema, "string", is_nullable);
		object_put(schema, "format", json_string("date-time"));
		break;
	case KIND_CHOICE:
		set_type(schema, "string", is_nullable);
		describe_choice(schema, row, is_nullable);
		break;
	case KIND_OBJECT:
		describe_object(schema, row, form, is_nullable);
		break;
	case KIND_MAP:
		set_type(schema, "object", is_nullable);
		describe_map(schema, row, form);
		break;
	case KIND_LIST:
		set_type(schema, "array", is_nullable);
		describe_list(schema, row, form);
		break;
	case KIND_KEPT_OBJECT:
		set_type(schema, "object", is_nullable);
		describe_kept(schema, row);
		break;
	case KIND_KEPT_LIST:
		set_type(schema, "array", is_nullable);
		object_put(schema, "items", json_object());
		describe_kept(schema, row);
		break;
	case KIND_ANY:
		break;
	}
}

/* ---- rows ---- */

/* A default that depends on another member goes into the description; a default that the handler
 * fills is described by the row's own text. */
static void describe_default(json_t *schema, const struct field *row)
{
	if (row->standard == NULL || (row->flags & FIELD_HIDDEN_DEFAULT) != 0)
		return;
	if (row->when_member != NULL)
		describe_further(schema, "Default where %s is %s: %s.", row->when_member,
				 row->when_value, row->standard);
	else
		object_put(schema, "default", json_loads(row->standard, JSON_DECODE_ANY, NULL));
}

static void describe_absent(json_t *schema, const struct field *row)
{
	if ((row->flags & FIELD_ZERO_ABSENT) != 0)
		describe_further(schema, "%s counts as not supplied.",
				 row->kind == KIND_INTEGER  ? "0"
				 : row->kind == KIND_OBJECT ? "{}"
							    : "\"\"");
	if ((row->flags & FIELD_BLANK_ABSENT) != 0)
		describe_further(schema, "Nothing but blanks and invisible characters counts as "
					 "not supplied.");
}

static json_t *describe_row(const struct field *row, enum describe_form form, bool is_nullable)
{
	json_t *schema = json_object();
	bool is_sent = form != DESCRIBE_ANSWER;
	bool is_read_only = (row->flags & FIELD_READ_ONLY) != 0;

	if (row->doc != NULL)
		object_put(schema, "description", json_string(row->doc));
	if (is_read_only)
		object_put(schema, "readOnly", json_true());
	if (is_sent && (row->flags & FIELD_WRITE_ONLY) != 0)
		object_put(schema, "writeOnly", json_true());
	/* Any value is accepted. */
	if (is_sent && is_read_only)
		return schema;
	describe_kind(schema, row, form, is_nullable);
	if (row->unit != NULL)
		object_put(schema, "x-unit", json_string(row->unit));
	if (form == DESCRIBE_REQUEST)
		describe_default(schema, row);
	if (is_sent)
		describe_absent(schema, row);
	return schema;
}

static bool may_be_null(const struct field *row, enum describe_form form)
{
	const unsigned kept = form == DESCRIBE_PATCH ? FIELD_REQUIRED | FIELD_KEPT : FIELD_REQUIRED;

	if (form == DESCRIBE_ANSWER)
		return (row->flags & FIELD_NULLABLE) != 0;
	return (row->flags & kept) == 0;
}

static bool is_described(const struct field *row, enum describe_form form)
{
	bool is_hidden = (row->flags & FIELD_WRITE_ONLY) != 0 && (row->flags & FIELD_ECHO) == 0;

	return form != DESCRIBE_ANSWER || !is_hidden;
}

/* Whether an answer, or a request, always contains this member. */
static bool is_always_there(const struct shape *shape, const struct field *row,
			    enum describe_form form)
{
	const unsigned always = FIELD_REQUIRED | FIELD_READ_ONLY | FIELD_NULLABLE |
				FIELD_HIDDEN_DEFAULT;
	bool is_key = shape->key_member != NULL && strcmp(row->name, shape->key_member) == 0;

	if (form == DESCRIBE_REQUEST)
		return (row->flags & FIELD_REQUIRED) != 0;
	if (form == DESCRIBE_PATCH || (row->flags & FIELD_WRITE_ONLY) != 0)
		return false;
	return is_key || (row->flags & always) != 0 ||
	       (row->standard != NULL && row->when_member == NULL);
}

/* ---- shapes ---- */

void describe_rule(json_t *described, const char *name, const char *sentence)
{
	json_t *rules = json_object_get(described, "x-rules");

	describe_further(described, "%s", sentence);
	if (rules == NULL) {
		rules = json_array();
		object_put(described, "x-rules", rules);
	}
	array_put(rules, json_pack("{s:s,s:s}", "name", name, "description", sentence));
}

void describe_rules(json_t *described, const struct shape *shape)
{
	for (const struct rule *rule = shape->rules; rule != NULL && rule->check != NULL; rule++)
		describe_rule(described, rule->name, rule->doc);
	if (shape->key_member != NULL)
		describe_rule(described, "key", "In a map, the name is the same as its key.");
}

static json_t *describe_shape(const struct shape *shape, enum describe_form form)
{
	json_t *schema = json_pack("{s:s}", "type", "object");
	json_t *properties = json_object();
	json_t *required = json_array();

	if (shape->doc != NULL)
		describe_further(schema, "%s", shape->doc);
	describe_rules(schema, shape);
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct field *row = &shape->fields[i];

		if (!is_described(row, form))
			continue;
		object_put(properties, row->name, describe_row(row, form, may_be_null(row, form)));
		if (is_always_there(shape, row, form))
			array_put(required, json_string(row->name));
	}
	object_put(schema, "properties", properties);
	if (json_array_size(required) > 0)
		object_put(schema, "required", json_incref(required));
	json_decref(required);
	return schema;
}

/* Adds the shapes that a row refers to. */
static void describe_below(json_t *components, const struct field *row, enum describe_form form)
{
	bool is_ignored = (row->flags & FIELD_READ_ONLY) != 0 && form != DESCRIBE_ANSWER;

	if (is_ignored || !is_described(row, form))
		return;
	if (row->kind == KIND_OBJECT)
		describe_components(components, row->shape, form_below(row, form));
	else if (row->kind == KIND_MAP || row->kind == KIND_LIST)
		describe_below(components, row->item, form_below(row, form));
}

void describe_components(json_t *components, const struct shape *shape, enum describe_form form)
{
	json_t *name = json_sprintf("%s%s", shape->name, suffixes[form]);

	if (json_object_get(components, json_string_value(name)) == NULL) {
		object_put(components, json_string_value(name), describe_shape(shape, form));
		for (size_t i = 0; i < shape->field_count; i++)
			describe_below(components, &shape->fields[i], form);
	}
	json_decref(name);
}

json_t *describe_parameters(struct arena *arena, const struct shape *query)
{
	json_t *parameters = arena_json(arena, json_array());

	for (size_t i = 0; i < query->field_count; i++) {
		const struct field *row = &query->fields[i];
		json_t *parameter = json_pack("{s:s,s:s}", "name", row->name, "in", "query");
		json_t *schema = describe_row(row, DESCRIBE_REQUEST, false);

		if (json_object_get(schema, "description") != NULL) {
			object_put(parameter, "description",
				   json_incref(json_object_get(schema, "description")));
			json_object_del(schema, "description");
		}
		object_put(parameter, "schema", schema);
		array_put(parameters, parameter);
	}
	return parameters;
}
