/* An API key: a bearer token of an account that is limited to scopes, may expire, and can be
 * revoked at any time. Its text is ak_, the id, _ and a secret; only the SHA-256 of the secret is
 * stored. Each API key is a record, found by its id before its account is known. The data that an
 * account's API keys share is a second record, which every creation or deletion of an API key
 * changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_KEY_RECORD_H
#define RESOURCES_STORED_KEY_RECORD_H

#include "base/digest.h"
#include "records/record.h"
#include "resources/call.h"

#define API_KEYS_MOST 100 /* of an account */
/* ak_<24 hex digits>_<43 characters of base64url>, and a final NUL. */
#define API_KEY_SECRET_SIZE 43
#define API_KEY_TEXT_SIZE (3 + ID_TEXT_SIZE + 1 + API_KEY_SECRET_SIZE)

/* Slices are borrowed: from the stored value, or from the call's arena. */
struct api_key {
	struct store_record stored; /* as it was read; value.data NULL if it is new */
	struct id id;
	int64_t created; /* milliseconds since 1970 */
	int64_t expires_at; /* seconds since 1970; 0 for never */
	unsigned scopes; /* as given, without the scopes they include (accounts/scopes.h) */
	unsigned char digest[DIGEST_SIZE]; /* of the secret */
	struct slice name;
};

/* ---- the text ---- */

/* True if a bearer token can only be meant as an API key. */
bool api_key_is_meant(struct slice token);
/* Returns false if the token does not have the form of an API key. */
bool api_key_parse(struct slice token, struct slice *id, struct slice *secret);
/* Draws a secret, sets the digest of the key, and returns its text. */
const char *api_key_draw(struct call *call, struct api_key *key);

/* ---- the records ---- */

/* Finds the API key of any account. Sets *is_there to false if no API key has the id. */
bool api_key_find(struct transaction *transaction, struct slice id, enum store_reading reading,
		  struct api_key *key, bool *is_there, struct fault *fault);
extern const struct record_table api_key_table, api_keys_table;
bool api_key_put(struct call *call, const struct api_key *key, struct fault *fault);

/* Prepares a page of the account's API keys; the caller sets the rest of *page. */
void api_keys_set_page(struct store_page *page);

struct api_keys {
	struct store_record stored;
	size_t count;
	struct id newest; /* the last id that was assigned; zero if there was none */
};

bool api_keys_load(struct call *call, enum store_reading reading, struct api_keys *keys,
		   struct fault *fault);
bool api_keys_put(struct call *call, const struct api_keys *keys, struct fault *fault);
/* Counts an API key that is being added. */
void api_keys_count_added(struct api_keys *keys, const struct api_key *key);

#endif
