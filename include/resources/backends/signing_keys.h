/* Handlers of signing keys and of the public key sets (anteroom-api(7)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_BACKENDS_SIGNING_KEYS_H
#define RESOURCES_BACKENDS_SIGNING_KEYS_H

#include "resources/reads.h"

/* Default for the age, in seconds, that a key must have before it signs: as long as verifiers may
 * cache a key set, plus some minutes. */
#define SIGNING_KEY_AGE 600

/* Generates the key that signing_keys_create stores: before the transaction, and only once even if
 * that is run again. Sets FAULT_TOO_MANY if the account has created too many RSA keys. */
/* The signing key of the path with the record that it is in, as call->signing_key and
 * call->media. */
extern const struct loading load_signing_key;

handler signing_keys_prepare;
handler signing_keys_create;
handler signing_keys_list;
handler signing_keys_get;
handler signing_keys_activate;
handler signing_keys_delete;

/* GET /v2/jwks/{customer_id}.json, and the RSA key with a certain hash as PEM. */
handler key_set_get;
handler key_pem_get;

#endif
