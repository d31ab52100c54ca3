/* Generates the OpenAPI 3.1 document of the API from the route table and the schema tables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_OPENAPI_H
#define SERVICE_OPENAPI_H

#include "resources/call.h"

/* Returns the whole document, which is in the arena. `table`: see service/routes.h. */
json_t *openapi_document(struct arena *arena, const struct route *table);

/* Handles GET /v2/openapi.json. */
handler openapi_get;

#endif
