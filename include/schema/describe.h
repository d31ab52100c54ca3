/* Generates the schemas of the OpenAPI 3.1 document from the tables. Requests and answers differ: a
 * request may omit members that have a default, send null for members it does not supply, and send
 * any value for read-only members; an answer has all defaults and no write-only members. Each shape
 * therefore becomes one component per form: "Role" in answers, "RoleRequest", and "RolePatch" for
 * merge patches.
 *
 * Named rules, which JSON Schema cannot express, are added to the description and listed as
 * x-rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SCHEMA_DESCRIBE_H
#define SCHEMA_DESCRIBE_H

#include "schema/schema.h"

enum describe_form { DESCRIBE_ANSWER, DESCRIBE_REQUEST, DESCRIBE_PATCH };

/* {"$ref":"#/components/schemas/RoleRequest"}; a new reference. */
json_t *describe_reference(const struct shape *shape, enum describe_form form);

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
