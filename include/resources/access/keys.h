/* Handlers of API keys (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ACCESS_KEYS_H
#define RESOURCES_ACCESS_KEYS_H

#include "resources/stored/key_record.h"
#include "resources/reads.h"

/* Checks a body, and that the caller has the scopes it gives; otherwise sets FAULT_FORBIDDEN. */
body_check keys_check;
handler keys_create;
handler keys_list;
extern const struct loading load_keys; /* the first page of keys_list */
extern const struct loading load_key; /* the API key of the path, as call->key */
handler keys_get;
handler keys_patch;
handler keys_delete;

/* Converts an API key to the members that a client sends, in the arena. */
json_t *key_document(struct call *call, const struct api_key *key);

#endif
