/* The parts of the OpenAPI document that stand once and are referred to: headers, errors, the way
 * to prove who one is, and what holds for every call. What is said of single calls is made in
 * service/openapi.c.
 *
 * Every function gives a new reference, to be put into the document.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_OPENAPI_PARTS_H
#define SERVICE_OPENAPI_PARTS_H

#include "base/fault.h"
#include "resources/call.h"

/* {"$ref":"#/components/KIND/NAME"} */
json_t *openapi_reference(const char *kind, const char *name);

/* What becomes info: the conventions of all calls in prose. */
json_t *openapi_information(void);

/* components.parameters, .headers, .responses and .securitySchemes; components.schemas.Error. */
json_t *openapi_header_parameters(void);
json_t *openapi_headers(void);
json_t *openapi_errors(void);
json_t *openapi_security_schemes(void);
json_t *openapi_error_schema(void);

/* The headers of an answer: X-Request-Id, those named (which end with NULL), and for a route that is
 * shared with browsers of any origin the one that says so. */
json_t *openapi_headers_of(const struct route *route, const char *const *names);

/* The error of a kind as this route answers it; doc NULL: as described once for all. NULL for a
 * kind that no document speaks of. */
json_t *openapi_error_of(const struct route *route, enum fault_kind kind, const char *doc);

/* The kinds that the document speaks of, in the order of their status; FAULT_NONE is behind the
 * last. */
extern const enum fault_kind openapi_error_kinds[];

#endif
