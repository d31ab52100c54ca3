/* What an account has for media servers: them (backends), its signing keys, and a secret of which
 * the codes' hashes are made. All of it is one record of the account, with the id zero: there are
 * few of each, they refer to each other, and one read gives what a token needs.
 *
 * A signing key is `active` (it signs; at most one of an alg), `next` or `retired`. A retired one
 * is published until its time, and does not count from then on; the next write of the record drops
 * it.
 *
 * A backend counts the templates that name it, which the writers of templates do
 * (resources/templates/template_record.h): so no search for them is needed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_MEDIA_RECORD_H
#define RESOURCES_MEDIA_MEDIA_RECORD_H

#include "base/digest.h"
#include "media/signing.h"
#include "media/ticket.h"
#include "records/record.h"
#include "resources/call.h"

#define SIGNING_KEYS_MOST 4 /* of an alg */
#define BACKENDS_MOST 20

/* In stored records: a number never gets another meaning. */
enum key_state { KEY_ACTIVE, KEY_NEXT, KEY_RETIRED };

/* "active" and so on. */
const char *key_state_name(enum key_state state);
/* Of one of these names. */
enum key_state key_state_named(struct slice name);

/* Slices are borrowed: from the stored value, or from the call's arena. */
struct signing_key {
	enum signing_alg alg;
	enum key_state state;
	int64_t created; /* milliseconds */
	int64_t retires; /* of a retired key: the second from which on it is gone */
	struct slice kid, jwk; /* JSON text */
	struct slice private_key; /* media/signing.h */
};

struct backend {
	struct id id;
	enum backend_type type;
	bool is_default;
	enum signing_alg alg; /* whose active key signs; SIGNING_ALGS: none */
	uint32_t uses; /* templates that name it */
	int64_t created, updated; /* milliseconds */
	int64_t ttl; /* seconds */
	struct slice name, url;
	struct slice config; /* JSON text, with secrets */
};

struct media {
	struct store_record stored; /* as it was read; value.data NULL: a new one */
	unsigned char code_key[DIGEST_SIZE]; /* of the hashes of codes; no call answers it */
	struct signing_key *keys; /* the oldest first, with room for one more */
	size_t key_count;
	uint64_t last_backend; /* the number in the id of the last one that was made */
	struct backend *backends; /* the oldest first, with room for one more */
	size_t backend_count;
};

extern const struct record_table media_table;

/* *is_there false: the account has none, and *media is not set. */
bool media_find(struct call *call, enum store_reading reading, struct media *media, bool *is_there,
		struct fault *fault);
/* The account's record; a new one, with nothing in it, where there is none. */
bool media_load(struct call *call, enum store_reading reading, struct media *media,
		struct fault *fault);
/* The account's record, to be shown; a new one is stored first: its code_key lasts. Of a WRITE
 * transaction. */
bool media_load_lasting(struct call *call, struct media *media, struct fault *fault);
bool media_put(struct call *call, const struct media *media, struct fault *fault);
/* Of a stored record, at `now` in milliseconds. */
bool media_read(struct arena *arena, const struct store_record *stored, int64_t now,
		struct media *media, struct fault *fault);
/* Without a record: a new secret. */
void media_begin(struct call *call, struct media *media);

/* NULL: there is none. */
struct signing_key *media_key(const struct media *media, struct slice kid);
struct signing_key *media_active_key(const struct media *media, enum signing_alg alg);
/* How many keys of the alg there are. */
size_t media_count_keys(const struct media *media, enum signing_alg alg);
void media_remove_key(struct media *media, const struct signing_key *key);

/* NULL: there is none. */
struct backend *media_backend(const struct media *media, const struct id *id);
struct backend *media_backend_named(const struct media *media, struct slice name);
const struct backend *media_default_backend(const struct media *media);
/* Whether a backend signs with the active key of this alg. */
bool media_signs(const struct media *media, enum signing_alg alg);
void media_remove_backend(struct media *media, const struct backend *backend);
/* A template names another backend than before; empty: none. The new one is there. */
bool media_use(struct call *call, struct slice former, struct slice name, struct fault *fault);

#endif
