/* The shared parts of the OpenAPI document: headers, errors, authentication, and conventions of all
 * calls. Operations are in service/openapi.c.
 *
 * Every function returns a new reference.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_OPENAPI_PARTS_H
#define SERVICE_OPENAPI_PARTS_H

#include "base/fault.h"
#include "resources/call.h"

/* {"$ref":"#/components/KIND/NAME"} */
json_t *openapi_reference(const char *kind, const char *name);

/* The info object, with the conventions of all calls. */
json_t *openapi_information(void);

/* components.parameters, .headers, .responses and .securitySchemes; components.schemas.Error. */
json_t *openapi_header_parameters(void);
json_t *openapi_headers(void);
json_t *openapi_errors(void);
json_t *openapi_security_schemes(void);
json_t *openapi_error_schema(void);

/* The headers of an answer: X-Request-Id, those in `names` (ends with NULL), and the CORS header of
 * a shared route. */
json_t *openapi_headers_of(const struct route *route, const char *const *names);

/* The error response of a route. doc NULL: the general description. */
json_t *openapi_error_of(const struct route *route, enum fault_kind kind, const char *doc);

/* The error kinds of the document by status; ends with FAULT_NONE. */
extern const enum fault_kind openapi_error_kinds[];

#endif
