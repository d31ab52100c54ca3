/* Generates the schemas of the OpenAPI 3.1 document from the tables. Requests and responses differ,
 * so each shape becomes one component for each form:
 *
 *   Role        a response: has all defaults and no write-only members, and may get more members
 *   RoleInput   a whole body: may omit members, and has no read-only members
 *   RolePatch   a merge patch: null removes a member
 *   RoomPatch   a body that changes only its own members; null removes a member if the row says so;
 *               TemplateUpdate if the shape has a merge patch too
 *
 * Clients are generated from the document, so it avoids keywords that make them send unwanted
 * values or that generators interpret differently. It has no `default` (the description and
 * x-default have it), no lists of types (anyOf with null instead), and no readOnly: bodies lack
 * read-only members (x-ignored names them), and in responses generators would treat them as
 * optional.
 *
 * JSON Schema cannot express named rules, so they are added to the description and listed as
 * x-rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_DESCRIBE_H
#define SCHEMA_DESCRIBE_H

#include "schema/schema.h"

enum describe_form { DESCRIBE_ANSWER, DESCRIBE_REQUEST, DESCRIBE_PATCH, DESCRIBE_UPDATE };

/* Returns {"$ref":"#/components/schemas/RoleInput"}, as a new reference. */
json_t *describe_reference(const struct shape *shape, enum describe_form form);
/* Returns a schema that also allows null. Takes ownership of `schema`. */
json_t *describe_nullable(json_t *schema);
/* Returns an example that obeys the schema of this form, as a new reference: the members that are
 * always present, and the examples of rows. */
json_t *describe_example(const struct shape *shape, enum describe_form form);

/* Adds the component of this shape and of all shapes below it to `components` (name -> schema),
 * unless they exist. */
void describe_components(json_t *components, const struct shape *shape, enum describe_form form);

/* Adds a named rule to a schema or an operation: a sentence of its description and an entry of
 * x-rules ({"name","description"}). */
void describe_rule(json_t *described, const char *name, const char *sentence);
/* Adds all rules of a shape. */
void describe_rules(json_t *described, const struct shape *shape);

/* Returns query parameters as an array of OpenAPI parameter objects, in the arena. */
json_t *describe_parameters(struct arena *arena, const struct shape *query);

#endif
