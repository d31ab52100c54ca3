/* Generates the schemas of the OpenAPI 3.1 document from the tables. Requests and answers differ,
 * so each shape becomes one component per form:
 *
 *   Role        an answer: has all defaults and no write-only members, and may get more members
 *   RoleInput   a whole body: may omit members, and has no read-only ones
 *   RolePatch   a merge patch: null removes a member
 *   RoomPatch   a body that changes what it has: null removes where the row says so. Where there is
 *               a merge patch too, TemplateUpdate
 *
 * Clients are generated from the document, so it has no keyword that makes them send what nobody
 * asked for, or that generators read differently: no `default` (the description says it, and
 * x-default), no list of types (anyOf with null), no readOnly: bodies lack such members (x-ignored
 * names them), and of an answer generators would take them for optional.
 *
 * Named rules, which JSON Schema cannot express, are added to the description and listed as
 * x-rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_DESCRIBE_H
#define SCHEMA_DESCRIBE_H

#include "schema/schema.h"

enum describe_form { DESCRIBE_ANSWER, DESCRIBE_REQUEST, DESCRIBE_PATCH, DESCRIBE_UPDATE };

/* "RoleInput"; a new reference. */
json_t *describe_name(const struct shape *shape, enum describe_form form);
/* {"$ref":"#/components/schemas/RoleInput"}; a new reference. */
json_t *describe_reference(const struct shape *shape, enum describe_form form);
/* The schema, or null. `schema` is taken over. */
json_t *describe_nullable(json_t *schema);
/* An object that obeys the schema of this form: what is always there, and the examples of rows. A
 * new reference. */
json_t *describe_example(const struct shape *shape, enum describe_form form);

/* Adds the components of this shape and of all shapes below it to `components` (name -> schema),
 * unless they exist. */
void describe_components(json_t *components, const struct shape *shape, enum describe_form form);

/* Adds a named rule to a schema or an operation: a sentence of its description and an entry of
 * x-rules ({"name","description"}). */
void describe_rule(json_t *described, const char *name, const char *sentence);
/* Adds all rules of a shape. */
void describe_rules(json_t *described, const struct shape *shape);

/* Query parameters as an array of OpenAPI parameter objects, in the arena. */
json_t *describe_parameters(struct arena *arena, const struct shape *query);

#endif
