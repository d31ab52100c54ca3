/*
 * The values of the case language: the memory of one run, byte strings, variables, JSON Pointers
 * and tokens. See case.h for the language. These functions abort the test program if memory runs
 * out. They do not know how requests are sent.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_VALUE_H
#define TESTS_CASE_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Memory and JSON roots that live as long as the case runs. */
struct pool {
	struct pool_block *blocks;
};

/* A byte string; bytes[length] is always a NUL, which is not counted. */
struct bytes {
	char *bytes;
	size_t length;
};

struct variable {
	struct variable *next;
	const char *name;
	struct bytes value;
	bool is_open; /* its variables are replaced when it is used, not when it is set */
};

/* The variables of one run; the newest value of a name comes first. */
struct scope {
	struct pool *pool;
	struct variable *variables;
	long long ahead; /* seconds by which the program's clock is ahead, also in $now */
	int64_t held; /* the system's time in milliseconds at which that clock is held; 0: it is not */
};

/* Returns zeroed memory of the pool, never NULL. */
void *pool_take(struct pool *pool, size_t size);

/* Passes ownership of a JSON root to the pool and returns the root (NULL stays NULL). */
json_t *pool_json(struct pool *pool, json_t *root);

/* Frees everything in the pool. */
void pool_clear(struct pool *pool);

struct bytes bytes_copy(struct pool *pool, const char *start, size_t length);
struct bytes bytes_join(struct pool *pool, struct bytes first, struct bytes second);
struct bytes bytes_text(struct pool *pool, const char *text);

/* Converts "EFBBBF" to three bytes. Returns false if the text is not pairs of hex digits. */
bool bytes_from_hex(struct pool *pool, const char *hex, struct bytes *out);

void scope_set(struct scope *scope, const char *name, struct bytes value);
void scope_set_text(struct scope *scope, const char *name, const char *text);
void scope_set_open(struct scope *scope, const char *name, const char *text);

/* Returns the value of a variable, or NULL. */
const struct bytes *scope_get(const struct scope *scope, const char *name);

/*
 * Replaces the variables in a text: `$name`, `${name}`, `$$` for a dollar sign, `$now`, `$now+60`
 * and `$now-60` for seconds since 1970, `$when` likewise for RFC 3339. A dollar sign before
 * anything else stays. Returns false, with the unknown name in `missing`, if a variable is
 * undefined.
 */
bool scope_expand(struct scope *scope, const char *text, struct bytes *out, const char **missing);

/*
 * Returns the value at a JSON Pointer (RFC 6901; `.` is the whole document), or NULL. The step `*`
 * takes every element of an array or object; the result is then a new array of the values that the
 * rest of the pointer finds in the elements (null where it finds nothing).
 */
json_t *value_at(struct pool *pool, json_t *document, const char *pointer);

/* Returns true if `whole` contains every member of `part` with the same value, recursively; of
 * arrays, every element. */
bool value_includes(const json_t *whole, const json_t *part);

/* Returns the JSON text of a value; of a string, without its quotes. */
struct bytes value_text(struct pool *pool, const json_t *value);

/* The three parts of a token, and the whole token. */
struct jwt {
	struct bytes head;
	struct bytes claims;
	struct bytes sign;
	struct bytes whole;
};

/*
 * Makes a token of the two texts without changing them. The method is HS256, HS384, HS512 or none,
 * with an optional suffix `:plain` (the alphabet of plain base64) or `:padded`. Returns false for
 * any other.
 */
bool jwt_make(struct pool *pool, const char *method, struct bytes secret, struct bytes head,
	      struct bytes claims, struct jwt *out);

/* Returns the claims of a token as text. Returns false if the token is not signed with HS256 and
 * this secret. */
bool jwt_read(struct pool *pool, struct bytes token, struct bytes secret, struct bytes *claims);

/* Returns the SHA-256 of a text in base64. */
struct bytes sha256_in_base64(struct pool *pool, struct bytes text);

#endif
