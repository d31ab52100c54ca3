/* See schema/describe.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "schema/describe.h"

#include <stdarg.h>

#include "base/log.h"

/* Times in all examples. */
#define EXAMPLE_TIME "2026-11-23T09:00:00Z"
#define EXAMPLE_END "2036-11-23T09:00:00Z"

static json_t *describe_row(const struct field *row, enum describe_form form, bool is_nullable);

/* Returns a name such as "RoleInput", as a new reference. */
static json_t *describe_name(const struct shape *shape, enum describe_form form)
{
	static const char *const suffixes[] = {
		[DESCRIBE_ANSWER] = "",
		[DESCRIBE_REQUEST] = "Input",
		[DESCRIBE_PATCH] = "Patch",
		[DESCRIBE_UPDATE] = "Patch",
	};
	const bool is_second = form == DESCRIBE_UPDATE && shape->is_merged_too;

	return json_sprintf("%s%s", shape->name, is_second ? "Update" : suffixes[form]);
}

json_t *describe_reference(const struct shape *shape, enum describe_form form)
{
	json_t *name = describe_name(shape, form);
	json_t *reference = json_pack(
		"{s:o}", "$ref", json_sprintf("#/components/schemas/%s", json_string_value(name)));

	json_decref(name);
	return reference;
}

json_t *describe_nullable(json_t *schema)
{
	return json_pack("{s:[o,{s:s}]}", "anyOf", schema, "type", "null");
}

static void set_type(json_t *schema, const char *type)
{
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

/* ---- single values ---- */

static void describe_text(json_t *schema, const struct text_rule *rule)
{
	const char *characters = rule->characters;
	char inner[64]; /* characters, without the space */
	size_t size = 0;

	if (rule->format != NULL) {
		object_put(schema, "format", json_string(rule->format));
		return;
	}
	if (characters != NULL && !rule->no_outer_space)
		object_put(schema, "pattern", json_sprintf("^[%s]*$", characters));
	if (characters != NULL && rule->no_outer_space) {
		for (const char *at = characters; *at != '\0' && size < sizeof inner - 1; at++) {
			if (*at != ' ')
				inner[size++] = *at;
		}
		inner[size] = '\0';
		object_put(schema, "pattern",
			   json_sprintf("^[%s]([%s]*[%s])?$", inner, characters, inner));
	}
	if (rule->no_controls)
		object_put(schema, "pattern",
			   json_string("^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$"));
	if (rule->shortest > 0)
		object_put(schema, "minLength", json_integer((json_int_t)rule->shortest));
	if (rule->longest == SIZE_MAX)
		return;
	object_put(schema, "maxLength", json_integer((json_int_t)rule->longest));
	/* maxLength counts characters; the limit in bytes is lower for texts that are not ASCII. */
	if (rule->counts_bytes)
		object_put(schema, "x-maxBytes", json_integer((json_int_t)rule->longest));
}

static json_t *texts_of(const char *const *text)
{
	json_t *texts = json_array();

	for (; *text != NULL; text++)
		array_put(texts, json_string(*text));
	return texts;
}

/* ---- objects, maps, lists ---- */

/* Returns the form of the values below a row. Lists and atomic objects inside a patch are whole,
 * and so is everything inside an update. */
static enum describe_form form_below(const struct field *row, enum describe_form form)
{
	bool is_whole = row->kind == KIND_LIST || (row->flags & FIELD_ATOMIC) != 0;

	if (form == DESCRIBE_UPDATE || (form == DESCRIBE_PATCH && is_whole))
		return DESCRIBE_REQUEST;
	return form;
}

static void describe_choice(json_t *schema, const struct field *row)
{
	set_type(schema, "string");
	object_put(schema, "enum", texts_of(row->choices));
}

static void describe_kind(json_t *schema, const struct field *row, enum describe_form form)
{
	const enum describe_form below = form_below(row, form);
	json_t *names;

	switch (row->kind) {
	case KIND_BOOLEAN:
		set_type(schema, "boolean");
		break;
	case KIND_INTEGER:
		set_type(schema, "integer");
		object_put(schema, "format", json_string("int64"));
		if (row->minimum > INT64_MIN)
			object_put(schema, "minimum", json_integer(row->minimum));
		if (row->maximum != UNLIMITED)
			object_put(schema, "maximum", json_integer(row->maximum));
		if (row->usual != 0)
			object_put(schema, "x-usualMaximum", json_integer(row->usual));
		if (row->step > 1)
			object_put(schema, "multipleOf", json_integer(row->step));
		break;
	case KIND_NUMBER:
		set_type(schema, "number");
		object_put(schema, "format", json_string("double"));
		object_put(schema, "minimum", json_real(row->low));
		object_put(schema, "maximum", json_real(row->high));
		break;
	case KIND_TEXT:
		set_type(schema, "string");
		if (row->free_with == NULL)
			describe_text(schema, row->text);
		if (row->words != NULL)
			object_put(schema, "enum", texts_of(row->words));
		if (row->pattern != NULL)
			object_put(schema, "pattern", json_string(row->pattern));
		if (row->format != NULL)
			object_put(schema, "format", json_string(row->format));
		break;
	case KIND_TIME:
		set_type(schema, "string");
		object_put(schema, "format", json_string("date-time"));
		break;
	case KIND_CHOICE:
		if (row->component == NULL)
			describe_choice(schema, row);
		else
			object_put(schema, "$ref",
				   json_sprintf("#/components/schemas/%s", row->component));
		break;
	case KIND_OBJECT:
		if (json_object_update_new(schema, describe_reference(row->shape, below)) != 0)
			ABORT("cannot change a JSON value");
		break;
	case KIND_MAP:
		set_type(schema, "object");
		names = json_pack("{s:s}", "type", "string");
		describe_text(names, row->text);
		object_put(schema, "propertyNames", names);
		object_put(schema, "additionalProperties",
			   describe_row(row->item, below, below == DESCRIBE_PATCH));
		/* A patch may have more entries, because some of them remove or change existing
		 * entries. */
		if (row->most != 0 && below != DESCRIBE_PATCH)
			object_put(schema, "maxProperties", json_integer((json_int_t)row->most));
		break;
	case KIND_LIST:
		set_type(schema, "array");
		object_put(schema, "items", describe_row(row->item, below, false));
		if ((row->flags & FIELD_NOT_EMPTY) != 0)
			object_put(schema, "minItems", json_integer(1));
		if (row->most != 0)
			object_put(schema, "maxItems", json_integer((json_int_t)row->most));
		if ((row->flags & FIELD_UNIQUE) != 0)
			object_put(schema, "uniqueItems", json_true());
		break;
	case KIND_KEPT_OBJECT:
		set_type(schema, "object");
		object_put(schema, "additionalProperties", json_true());
		break;
	case KIND_KEPT_LIST:
		set_type(schema, "array");
		object_put(schema, "items", json_object());
		break;
	case KIND_ANY:
		break;
	}
}

/* ---- rows ---- */

static void describe_words(json_t *schema, const struct field *row, enum describe_form form,
			   bool is_nullable)
{
	const bool has_default = row->standard != NULL && (row->flags & FIELD_HIDDEN_DEFAULT) == 0;

	if (row->doc != NULL)
		object_put(schema, "description", json_string(row->doc));
	if (row->kind == KIND_KEPT_OBJECT || row->kind == KIND_KEPT_LIST) {
		describe_further(schema, "At most %zu bytes of compact JSON.", row->most);
		if (row->deepest != 0)
			describe_further(schema, "Nested at most %zu deep.", row->deepest);
	}
	if (row->kind == KIND_MAP && row->most != 0 && form_below(row, form) == DESCRIBE_PATCH)
		describe_further(schema, "At most %zu after the merge.", row->most);
	if (row->kind == KIND_TEXT && row->free_with != NULL)
		describe_further(schema, "If %s is not given, it %s.", row->free_with,
				 row->text->sentence);
	if (form == DESCRIBE_ANSWER)
		return;

	/* As a sentence and, for programs, as x-default. */
	if (has_default && row->when_member != NULL)
		describe_further(schema, "Default if %s is %s: %s.", row->when_member,
				 row->when_value, row->standard);
	else if (has_default)
		object_put(schema, "x-default", json_loads(row->standard, JSON_DECODE_ANY, NULL));
	if (has_default && row->when_member == NULL && form == DESCRIBE_REQUEST)
		describe_further(schema, "Default: %s.",
				 row->kind == KIND_OBJECT ? "the defaults of its fields"
							  : row->standard);

	if ((row->flags & FIELD_ZERO_ABSENT) != 0)
		describe_further(schema, "%s counts as not sent.",
				 row->kind == KIND_INTEGER  ? "0"
				 : row->kind == KIND_OBJECT ? "{}"
							    : "\"\"");
	if ((row->flags & FIELD_BLANK_ABSENT) != 0)
		describe_further(schema, "A text of only blanks and invisible characters counts as "
					 "not sent.");
	if ((row->flags & FIELD_CLEARABLE) != 0 && row->kind == KIND_TEXT)
		describe_further(schema, "\"\" removes it, as does a text of only blanks and "
					 "invisible characters.");
	if (!is_nullable || row->name == NULL || (row->flags & FIELD_TAKES_NULL) != 0)
		return;
	if (row->standard != NULL && row->when_member == NULL && row->kind != KIND_OBJECT)
		describe_further(schema, "null restores the default: %s.", row->standard);
	else
		describe_further(schema, row->standard != NULL ? "null restores the defaults."
							       : "null removes it.");
}

/* Describes a row. The description and the extensions stand next to the anyOf with null, not in
 * it. */
static json_t *describe_row(const struct field *row, enum describe_form form, bool is_nullable)
{
	json_t *schema = json_object(), *kind = json_object();

	describe_words(schema, row, form, is_nullable);
	if (form != DESCRIBE_ANSWER && (row->flags & FIELD_WRITE_ONLY) != 0)
		object_put(schema, "writeOnly", json_true());
	if (row->unit != NULL)
		object_put(schema, "x-unit", json_string(row->unit));
	describe_kind(kind, row, form);
	if (json_object_update_new(schema, is_nullable ? describe_nullable(kind) : kind) != 0)
		ABORT("cannot change a JSON value");
	return schema;
}

static bool may_be_null(const struct field *row, enum describe_form form)
{
	switch (form) {
	case DESCRIBE_ANSWER:
		return (row->flags & (FIELD_NULLABLE | FIELD_TAKES_NULL)) != 0;
	case DESCRIBE_PATCH:
		return (row->flags & (FIELD_REQUIRED | FIELD_KEPT)) == 0;
	case DESCRIBE_UPDATE:
		return (row->flags & FIELD_CLEARABLE) != 0;
	case DESCRIBE_REQUEST:
		return (row->flags & FIELD_TAKES_NULL) != 0;
	}
	return false;
}

static bool is_described(const struct field *row, enum describe_form form)
{
	bool is_hidden = (row->flags & FIELD_WRITE_ONLY) != 0 && (row->flags & FIELD_ECHO) == 0;

	if ((row->flags & FIELD_UNLISTED) != 0)
		return false;
	return form == DESCRIBE_ANSWER ? !is_hidden : (row->flags & FIELD_READ_ONLY) == 0;
}

/* Returns true if a response, or a request, always contains this member. */
static bool is_always_there(const struct shape *shape, const struct field *row,
			    enum describe_form form)
{
	const unsigned always = FIELD_REQUIRED | FIELD_READ_ONLY | FIELD_NULLABLE |
				FIELD_HIDDEN_DEFAULT;
	bool is_key = shape->key_member != NULL && strcmp(row->name, shape->key_member) == 0;

	if (form == DESCRIBE_REQUEST)
		return (row->flags & FIELD_REQUIRED) != 0;
	if (form != DESCRIBE_ANSWER || (row->flags & (FIELD_WRITE_ONLY | FIELD_SOMETIMES)) != 0)
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
		describe_rule(described, "key", "In a map, name equals the key.");
}

/* Returns true for `_id`, which repeats `id`. Generators would give both the same name. */
static bool is_double(const struct field *row)
{
	return row->name[0] == '_';
}

static json_t *describe_shape(const struct shape *shape, enum describe_form form)
{
	json_t *schema, *properties, *required, *ignored;

	if (shape_is_bare(shape))
		return describe_row(&shape->fields[0], form, false);
	schema = json_pack("{s:s}", "type", "object");
	properties = json_object();
	required = json_array();
	ignored = json_array();
	if (shape->doc != NULL)
		describe_further(schema, "%s", shape->doc);
	describe_rules(schema, shape);
	for (const struct field *row = NULL; (row = shape_next(shape, row)) != NULL;) {
		const bool is_list = row->kind == KIND_LIST || row->kind == KIND_KEPT_LIST;
		const bool is_nullable = may_be_null(row, form);

		if (form == DESCRIBE_ANSWER && is_double(row)) {
			describe_further(schema, "It also has %s: %s", row->name, row->doc);
			object_put(schema, "x-doubles",
				   json_pack("{s:s}", row->name, row->name + 1));
		}
		if (form != DESCRIBE_ANSWER && (row->flags & FIELD_READ_ONLY) != 0)
			array_put(ignored, json_string(row->name));
		if (!is_described(row, form) || is_double(row))
			continue;
		object_put(properties, row->name, describe_row(row, form, is_nullable));
		/* Generated clients rely on required members. A list that may be null is always
		 * there too, but Java clients from openapi-generator 7.17 reject null for a
		 * required list. */
		if (is_always_there(shape, row, form) && !(is_list && is_nullable))
			array_put(required, json_string(row->name));
	}
	/* Clients send members that the service ignores when they send a response back. */
	if (json_array_size(ignored) > 0) {
		describe_further(schema,
				 "Read-only fields of a response may be sent back; they are "
				 "ignored (x-ignored).");
		object_put(schema, "x-ignored", json_incref(ignored));
	}
	json_decref(ignored);
	object_put(schema, "properties", properties);
	if (json_array_size(required) > 0)
		object_put(schema, "required", json_incref(required));
	json_decref(required);
	if (form == DESCRIBE_ANSWER)
		object_put(schema, "additionalProperties", json_true());
	return schema;
}

/* Adds the components that a row refers to. */
static void describe_below(json_t *components, const struct field *row, enum describe_form form)
{
	if (!is_described(row, form))
		return;
	if (row->component != NULL) {
		json_t *choice = json_pack("{s:s}", "description", row->doc);

		describe_choice(choice, row);
		object_put(components, row->component, choice);
	}
	if (row->kind == KIND_OBJECT)
		describe_components(components, row->shape, form_below(row, form));
	else if (row->kind == KIND_MAP || row->kind == KIND_LIST)
		describe_below(components, row->item, form_below(row, form));
}

void describe_components(json_t *components, const struct shape *shape, enum describe_form form)
{
	json_t *name = describe_name(shape, form);

	if (json_object_get(components, json_string_value(name)) == NULL) {
		object_put(components, json_string_value(name), describe_shape(shape, form));
		for (const struct field *row = NULL; (row = shape_next(shape, row)) != NULL;)
			describe_below(components, row, form);
	}
	json_decref(name);
}

/* ---- examples ---- */

static json_t *example_of_row(const struct field *row, enum describe_form form)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
	const bool has_standard = row->standard != NULL && row->when_member == NULL;
	const enum describe_form below = form_below(row, form);
	json_t *example, *old, *entry;
	const char *key;
	size_t size;
	void *next;

	/* The row's example of a map names its entries. */
	if (row->kind == KIND_MAP) {
		example = json_loads(row->example != NULL ? row->example : "{}", 0, NULL);
		json_object_foreach_safe(example, next, key, old) {
			entry = example_of_row(row->item, below);
			if (below == DESCRIBE_ANSWER && row->item->shape != NULL &&
			    row->item->shape->key_member != NULL)
				object_put(entry, row->item->shape->key_member, json_string(key));
			object_put(example, key, entry);
		}
		return example;
	}
	if (row->example != NULL)
		return json_loads(row->example, JSON_DECODE_ANY, NULL);
	if (row->kind == KIND_OBJECT)
		return describe_example(row->shape, below);
	if (has_standard)
		return json_loads(row->standard, JSON_DECODE_ANY, NULL);
	switch (row->kind) {
	case KIND_BOOLEAN:
		return json_true();
	case KIND_INTEGER:
		return json_integer(row->minimum > 0 ? row->minimum : 0);
	case KIND_NUMBER:
		return json_real(row->low);
	case KIND_TEXT:
		if (row->words != NULL || row->text->example != NULL)
			return json_string(row->words != NULL ? row->words[0] : row->text->example);
		size = row->text->shortest > 4 ? row->text->shortest : 4;
		return json_stringn(letters, size < sizeof letters ? size : sizeof letters - 1);
	case KIND_TIME:
		return json_string(form == DESCRIBE_ANSWER ? EXAMPLE_TIME : EXAMPLE_END);
	case KIND_CHOICE:
		return json_string(row->choices[0]);
	case KIND_LIST:
		return json_pack("[o]", example_of_row(row->item, below));
	case KIND_KEPT_LIST:
		return json_array();
	case KIND_OBJECT:
	case KIND_MAP:
	case KIND_KEPT_OBJECT:
	case KIND_ANY:
		break;
	}
	return json_object();
}

json_t *describe_example(const struct shape *shape, enum describe_form form)
{
	json_t *example;

	if (shape_is_bare(shape))
		return example_of_row(&shape->fields[0], form);
	example = json_object();
	for (const struct field *row = NULL; (row = shape_next(shape, row)) != NULL;) {
		const bool is_shown = row->example != NULL || is_always_there(shape, row, form);

		if (is_described(row, form) && is_shown && !is_double(row))
			object_put(example, row->name, example_of_row(row, form));
	}
	return example;
}

/* ---- parameters ---- */

json_t *describe_parameters(struct arena *arena, const struct shape *query)
{
	json_t *parameters = arena_json(arena, json_array());

	for (const struct field *row = NULL; (row = shape_next(query, row)) != NULL;) {
		json_t *parameter, *schema;

		if ((row->flags & FIELD_UNLISTED) != 0)
			continue;
		parameter = json_pack("{s:s,s:s}", "name", row->name, "in", "query");
		schema = describe_row(row, DESCRIBE_REQUEST, false);
		if (json_object_get(schema, "description") != NULL) {
			object_put(parameter, "description",
				   json_incref(json_object_get(schema, "description")));
			json_object_del(schema, "description");
		}
		object_put(parameter, "schema", schema);
		object_put(parameter, "example", example_of_row(row, DESCRIBE_REQUEST));
		array_put(parameters, parameter);
	}
	return parameters;
}
