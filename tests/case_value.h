/*
 * The values of the case language: memory of one run, byte strings, variables, JSON Pointers and
 * tokens.  See case.h for the language.  Everything here aborts the test program when memory is
 * gone, and nothing here knows how a request is sent.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_VALUE_H
#define TESTS_CASE_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Memory and JSON roots that live as long as one case runs. */
struct pool {
	struct pool_block *blocks;
};

/* A byte string; bytes[length] is always a NUL that does not belong to it. */
struct bytes {
	char *bytes;
	size_t length;
};

struct variable {
	struct variable *next;
	const char *name;
	struct bytes value;
	bool is_open; /* its own variables are replaced when it is used, not when it was set */
};

/* The variables of one run, the newest value of a name first. */
struct scope {
	struct pool *pool;
	struct variable *variables;
	long long ahead; /* seconds that the program's clock is ahead: $now is its time */
};

/* Memory of the pool, zeroed; never NULL. */
void *pool_take(struct pool *pool, size_t size);

/* Hands a JSON root to the pool and returns it (NULL stays NULL). */
json_t *pool_json(struct pool *pool, json_t *root);

/* Frees all that was taken and handed over. */
void pool_clear(struct pool *pool);

struct bytes bytes_copy(struct pool *pool, const char *start, size_t length);
struct bytes bytes_join(struct pool *pool, struct bytes first, struct bytes second);
struct bytes bytes_text(struct pool *pool, const char *text);

/* "EFBBBF" -> three bytes; false when it is not hex digits in pairs. */
bool bytes_from_hex(struct pool *pool, const char *hex, struct bytes *out);

void scope_set(struct scope *scope, const char *name, struct bytes value);
void scope_set_text(struct scope *scope, const char *name, const char *text);
void scope_set_open(struct scope *scope, const char *name, const char *text);

/* The value of a name, or NULL. */
const struct bytes *scope_get(const struct scope *scope, const char *name);

/*
 * The text with its variables replaced: `$name`, `${name}`, `$$` for a dollar, `$now`, `$now+60`
 * and `$now-60` for seconds since 1970, `$when` likewise for RFC 3339. A dollar before anything
 * else stays. False, and the unknown name in `missing`, when a variable has no value.
 */
bool scope_expand(struct scope *scope, const char *text, struct bytes *out, const char **missing);

/*
 * The value at a JSON Pointer (RFC 6901; `.` is the whole document), or NULL.  A step that is
 * `*` takes every element of an array or object, and the answer is a new array of what the rest
 * of the pointer finds in each (null where it finds nothing).
 */
json_t *value_at(struct pool *pool, json_t *document, const char *pointer);

/* Whether every member of `part` is in `whole` with that value, deeply; arrays: every item. */
bool value_includes(const json_t *whole, const json_t *part);

/* JSON text of a value, a string without its quotes. */
struct bytes value_text(struct pool *pool, const json_t *value);

/* The three parts of a token, and the whole. */
struct jwt {
	struct bytes head;
	struct bytes claims;
	struct bytes sign;
	struct bytes whole;
};

/*
 * Makes a token out of the two texts as they stand.  The method is HS256, HS384, HS512 or none,
 * and after a colon `plain` (the alphabet of plain base64) or `padded`.  False for another.
 */
bool jwt_make(struct pool *pool, const char *method, struct bytes secret, struct bytes head,
	      struct bytes claims, struct jwt *out);

/* The claims of a token signed with HS256 and this secret, as text; false when it is not one. */
bool jwt_read(struct pool *pool, struct bytes token, struct bytes secret, struct bytes *claims);

#endif
