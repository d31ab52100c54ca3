/* The interface as an OpenAPI 3.1 document, made from the route table and the schema tables: it
 * says what the program does because it is what the program does.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_OPENAPI_H
#define SERVICE_OPENAPI_H

#include "resources/call.h"

/* The whole document; the arena's. `table` is that of service/routes.h. */
json_t *openapi_document(struct arena *arena, const struct route *table);

/* Handler: GET /v2/openapi.json. */
handler openapi_get;

#endif
