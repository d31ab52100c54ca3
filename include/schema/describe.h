/* The tables as schemas of an OpenAPI 3.1 document, so that the document says what the program
 * does. What a request may hold differs from what an answer holds: a request may leave out what has
 * a default, send null for what it does not supply, and send read-only members as they please; an
 * answer has all defaults and no write-only member. So each shape becomes one component a form:
 * "Role" in answers, "RoleRequest", and "RolePatch" for merge patches.
 *
 * What JSON Schema cannot say (the named rules) is in the description and as x-rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_DESCRIBE_H
#define SCHEMA_DESCRIBE_H

#include "schema/schema.h"

enum describe_form { DESCRIBE_ANSWER, DESCRIBE_REQUEST, DESCRIBE_PATCH };

/* {"$ref":"#/components/schemas/RoleRequest"}. The arena's. */
json_t *describe_reference(struct arena *arena, const struct shape *shape, enum describe_form form);

/* Adds the component of this shape, and those of all shapes below it, to `components` (name ->
 * schema), where they are not there yet. */
void describe_components(json_t *components, const struct shape *shape, enum describe_form form);

/* Adds a named rule to a schema or an operation: a sentence more of its description, and an entry of
 * its x-rules ({"name","description"}). */
void describe_rule(json_t *described, const char *name, const char *sentence);
/* All rules of a shape. */
void describe_rules(json_t *described, const struct shape *shape);

/* Query parameters as an array of OpenAPI parameter objects. The arena's. */
json_t *describe_parameters(struct arena *arena, const struct shape *query);

#endif
