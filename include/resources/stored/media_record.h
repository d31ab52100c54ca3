/* An account's backends (media servers), signing keys, and the secret key for hashes of codes. All
 * of these are one record of the account, with the id zero: they are few, they refer to each other,
 * and one read returns what a token needs.
 *
 * A signing key is `active` (it signs; at most one for each alg), `next` or `retired`. A retired
 * key is published until a certain time and ignored from then on; the next write of the record
 * removes it.
 *
 * A backend counts the templates that name it, so that no search for them is needed. Writers of
 * templates keep the count (resources/stored/template_record.h). Likewise the record has the
 * number of the account's bans (resources/stored/ban_record.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_MEDIA_RECORD_H
#define RESOURCES_STORED_MEDIA_RECORD_H

#include "base/digest.h"
#include "media/server.h"
#include "media/signing.h"
#include "media/access.h"
#include "records/record.h"
#include "resources/reads.h"

#define SIGNING_KEYS_MOST 4 /* for each alg */
#define BACKENDS_MOST 100
#define BANS_MOST 100000

/* Stored in records: a number never gets another meaning. */
enum key_state { KEY_ACTIVE, KEY_NEXT, KEY_RETIRED };

/* Returns the name of a state, "active" and so on. */
const char *key_state_name(enum key_state state);

/* Slices are borrowed: from the stored value, or from the call's arena. */
struct signing_key {
	enum signing_alg alg;
	enum key_state state;
	int64_t created; /* milliseconds since 1970 */
	int64_t retires; /* of a retired key: end of its publication, seconds since 1970 */
	struct slice kid, jwk; /* jwk: JSON text */
	struct slice private_key; /* see media/signing.h */
};

/* Where a media server is. Stored in records: a number never gets another meaning. */
enum backend_region { REGION_NONE, REGION_IN, REGION_US, REGION_EU };
#define BACKEND_REGIONS (REGION_EU + 1)
extern const char *const backend_region_names[BACKEND_REGIONS];
/* The weight of a backend that was never given one. */
#define WEIGHT_STANDARD 100

struct backend {
	struct id id;
	enum backend_type type;
	bool is_default;
	enum signing_alg alg; /* its active key signs; SIGNING_ALGS if none does */
	uint32_t uses; /* number of templates that name it */
	int64_t created, updated; /* milliseconds since 1970 */
	int64_t ttl; /* seconds */
	struct slice name, url;
	struct slice config; /* JSON text, with secrets */
	struct slice api_url; /* empty: the one that belongs to url */
	struct slice pool; /* the pool that it is one of; empty if it is in none */
	uint32_t weight; /* 0: never given, so WEIGHT_STANDARD */
	enum backend_region region;
	bool is_draining; /* it gets no new rooms */
	/* Who had its rooms moved to others of its pool, some each second, as the event log names
	 * an actor; empty if they are not, or all have been. */
	struct slice moved_by;
};

/* A pool is there as long as a backend names it. It has its own count of the templates that name
 * it. */
struct pool {
	struct slice name;
	uint32_t uses;
};

struct media {
	struct store_record stored; /* as it was read; value.data NULL if it is new */
	unsigned char code_key[DIGEST_SIZE]; /* key for hashes of codes; never in a response */
	struct signing_key *keys; /* oldest first, with room for one more */
	size_t key_count;
	uint64_t last_backend; /* number in the id of the last created backend */
	uint32_t ban_count; /* with expired ones that are not dropped yet */
	struct backend *backends; /* oldest first, with room for one more */
	size_t backend_count;
	struct pool *pools; /* in the order in which they came */
	size_t pool_count;
};

extern const struct record_table media_table;

/* Finds the account's record. If it has none, sets *is_there to false and leaves *media unset. */
bool media_find(struct call *call, enum store_reading reading, struct media *media, bool *is_there,
		struct fault *fault);
/* Loads the account's record, or begins a new, empty one. */
bool media_load(struct call *call, enum store_reading reading, struct media *media,
		struct fault *fault);
/* The account's record, as call->media. */
extern const struct loading load_media;
/* Loads the account's record for a response, and stores a new one first, so that its code_key
 * lasts. The call must be in a WRITE transaction. */
bool media_load_lasting(struct call *call, struct media *media, struct fault *fault);
bool media_put(struct call *call, const struct media *media, struct fault *fault);

/* Return NULL if there is no such key. */
struct signing_key *media_key(const struct media *media, struct slice kid);
struct signing_key *media_active_key(const struct media *media, enum signing_alg alg);
/* Counts the keys of the alg. */
size_t media_count_keys(const struct media *media, enum signing_alg alg);
void media_remove_key(struct media *media, const struct signing_key *key);

/* Returns the weight that it was given, or else WEIGHT_STANDARD. */
unsigned backend_weight(const struct backend *backend);
/* Return NULL if there is no such backend. */
struct backend *media_backend(const struct media *media, const struct id *id);
struct backend *media_backend_named(const struct media *media, struct slice name);
const struct backend *media_default_backend(const struct media *media);
/* True if a backend signs with the active key of this alg. */
bool media_signs(const struct media *media, enum signing_alg alg);
void media_remove_backend(struct media *media, const struct backend *backend);
/* Returns NULL if there is no such pool. */
struct pool *media_pool_named(const struct media *media, struct slice name);
/* Adds the pool that a backend of the record now names, and removes one that none names. */
void media_settle_pools(struct call *call, struct media *media);
/* Counts that a template now names the backend or the pool `name`, which must exist, instead of
 * `former`. Either may be empty. */
bool media_use(struct call *call, struct slice former, struct slice name, struct fault *fault);

/* Digits of the hash of a code that a media server gets. */
#define MEDIA_CODE_SHOWN 16
/* Returns the hash that identifies a code where the code itself must not appear: HMAC-SHA-256 under
 * the account's secret, in hex. */
struct slice media_code_hash(struct arena *arena, const struct media *media, struct slice letters);

/* Returns the URL at which Anteroom reaches a media server whose members `url` and `api_url` are
 * these. */
struct slice backend_api_url(struct call *call, struct slice url, struct slice api_url);
/* Returns the media server as it is asked. */
struct server backend_server(struct call *call, const struct backend *backend);

#endif
