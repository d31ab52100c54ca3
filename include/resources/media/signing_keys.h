/* The calls of signing keys, and the public key sets (anteroom-api(7)). Handlers
 * (resources/call.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_SIGNING_KEYS_H
#define RESOURCES_MEDIA_SIGNING_KEYS_H

#include "resources/call.h"

/* How old a key must be before it signs, unless serve is told otherwise: as long as verifiers keep
 * a key set, and some minutes more. In seconds. */
#define SIGNING_KEY_AGE 600

/* Before the transaction, and once however often it is run: makes the key that signing_keys_create
 * stores. FAULT_TOO_MANY when the account made as many RSA keys as it may. */
handler signing_keys_prepare;
handler signing_keys_create;
handler signing_keys_list;
handler signing_keys_get;
handler signing_keys_activate;
handler signing_keys_delete;

/* GET /v2/jwks/{customer_id}.json, and the RSA key of a hash as PEM. */
handler key_set_get;
handler key_pem_get;

#endif
