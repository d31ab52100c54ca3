/* Generates the OpenAPI 3.1 document of the API from the route table and the schema tables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_OPENAPI_H
#define SERVICE_OPENAPI_H

#include "resources/call.h"

/* Returns the whole document, which is in the arena. `table`: see service/routes.h. */
json_t *openapi_document(struct arena *arena, const struct route *table);

/* The document as text, which is the same for every request. The first request makes it: at the
 * start it would take half of the time. `table` stays the caller's. */
struct openapi *openapi_open(const struct route *table);
void openapi_close(struct openapi *openapi);

/* Handles GET /v2/openapi.json. Any thread. */
handler openapi_get;

#endif
