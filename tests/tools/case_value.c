/*
 * Values of the case language. A pool is a list of blocks. A scope is a list of variables, the
 * newest first: setting a variable again hides the older value, and no value is freed by hand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "case_value.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

struct pool_block {
	struct pool_block *next;
	json_t *root;
	max_align_t memory[];
};

static struct pool_block *pool_add(struct pool *pool, size_t size)
{
	struct pool_block *block = calloc(1, sizeof *block + size);

	if (block == NULL)
		abort();
	block->next = pool->blocks;
	pool->blocks = block;
	return block;
}

void *pool_take(struct pool *pool, size_t size)
{
	return pool_add(pool, size)->memory;
}

json_t *pool_json(struct pool *pool, json_t *root)
{
	if (root != NULL)
		pool_add(pool, 0)->root = root;
	return root;
}

void pool_clear(struct pool *pool)
{
	while (pool->blocks != NULL) {
		struct pool_block *block = pool->blocks;

		pool->blocks = block->next;
		json_decref(block->root);
		free(block);
	}
}

struct bytes bytes_copy(struct pool *pool, const char *start, size_t length)
{
	struct bytes copy = { pool_take(pool, length + 1), length };

	if (length > 0)
		memcpy(copy.bytes, start, length);
	return copy;
}

struct bytes bytes_join(struct pool *pool, struct bytes first, struct bytes second)
{
	struct bytes joined = { pool_take(pool, first.length + second.length + 1),
				first.length + second.length };

	if (first.length > 0)
		memcpy(joined.bytes, first.bytes, first.length);
	if (second.length > 0)
		memcpy(joined.bytes + first.length, second.bytes, second.length);
	return joined;
}

struct bytes bytes_text(struct pool *pool, const char *text)
{
	return bytes_copy(pool, text, strlen(text));
}

static int hex_digit(char letter)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = letter == '\0' ? NULL : strchr(digits, letter);

	return found == NULL ? -1 : (int)((found - digits) % 16);
}

bool bytes_from_hex(struct pool *pool, const char *hex, struct bytes *out)
{
	size_t length = strlen(hex) / 2;

	*out = (struct bytes){ pool_take(pool, length + 1), length };
	if (strlen(hex) % 2 != 0)
		return false;
	for (size_t n = 0; n < length; n++) {
		int high = hex_digit(hex[2 * n]);
		int low = hex_digit(hex[2 * n + 1]);

		if (high < 0 || low < 0)
			return false;
		out->bytes[n] = (char)(high * 16 + low);
	}
	return true;
}

void scope_set(struct scope *scope, const char *name, struct bytes value)
{
	struct variable *variable = pool_take(scope->pool, sizeof *variable);

	variable->name = bytes_text(scope->pool, name).bytes;
	variable->value = value;
	variable->next = scope->variables;
	scope->variables = variable;
}

void scope_set_text(struct scope *scope, const char *name, const char *text)
{
	scope_set(scope, name, bytes_text(scope->pool, text));
}

void scope_set_open(struct scope *scope, const char *name, const char *text)
{
	scope_set_text(scope, name, text);
	scope->variables->is_open = true;
}

static const struct variable *scope_find(const struct scope *scope, const char *name)
{
	const struct variable *at = scope->variables;

	/* The first letter is compared here, because strcmp takes long under a sanitizer. */
	while (at != NULL && (at->name[0] != name[0] || strcmp(at->name, name) != 0))
		at = at->next;
	return at;
}

const struct bytes *scope_get(const struct scope *scope, const char *name)
{
	const struct variable *variable = scope_find(scope, name);

	return variable == NULL ? NULL : &variable->value;
}

static bool is_name_letter(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
	       letter == '_';
}

/* Reads the name of the variable at the dollar sign and sets `end` to what follows. The name is
 * empty if there is none. */
static const char *variable_name(struct scope *scope, const char *dollar, const char **end)
{
	bool braced = dollar[1] == '{';
	const char *start = dollar + (braced ? 2 : 1);
	const char *at = start;

	while (is_name_letter(*at))
		at++;
	*end = at;
	if (braced && *at == '}')
		*end = at + 1;
	return bytes_copy(scope->pool, start, (size_t)(at - start)).bytes;
}

/* `$now` or `$when`, followed by an optional offset, of which all leading digits are read. */
static struct bytes expand_now(struct scope *scope, bool is_time, const char **end)
{
	char text[32];
	struct tm parts;
	time_t seconds;
	long long offset = 0;

	if ((**end == '+' || **end == '-') && (*end)[1] >= '0' && (*end)[1] <= '9') {
		char *stop = NULL;

		offset = strtoll(*end, &stop, 10);
		*end = stop;
	}
	/* The service's clock: time() lags behind it by up to some milliseconds and, at the start
	 * of a second, would still return the previous one. */
	seconds = (time_t)((scope->held != 0 ? scope->held : clock_now(&clock_system)) / 1000 +
			   scope->ahead + offset);
	if (is_time && gmtime_r(&seconds, &parts) != NULL)
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
	else
		snprintf(text, sizeof text, "%lld", (long long)seconds);
	return bytes_text(scope->pool, text);
}

bool scope_expand(struct scope *scope, const char *text, struct bytes *out, const char **missing)
{
	char *built = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&built, &length);
	bool complete = true;

	if (stream == NULL)
		abort();
	for (const char *at = text; *at != '\0' && complete;) {
		const char *end = at + 1;
		const char *name = *at == '$' ? variable_name(scope, at, &end) : "";
		const struct variable *variable;
		struct bytes value;

		if (*name == '\0') {
			fputc(*at, stream);
			at += at[0] == '$' && at[1] == '$' ? 2 : 1;
			continue;
		}
		variable = scope_find(scope, name);
		if (strcmp(name, "now") == 0 || strcmp(name, "when") == 0) {
			value = expand_now(scope, *name == 'w', &end);
		} else if (variable == NULL) {
			*missing = name;
			complete = false;
			continue;
		} else if (variable->is_open) {
			complete = scope_expand(scope, variable->value.bytes, &value, missing);
		} else {
			value = variable->value;
		}
		fwrite(value.bytes, 1, value.length, stream);
		at = end;
	}
	fclose(stream);
	*out = bytes_copy(scope->pool, built, length);
	free(built);
	return complete;
}

/* Returns the first step of a pointer, unescaped; `rest` is the remaining pointer. */
static const char *pointer_step(struct pool *pool, const char *pointer, const char **rest)
{
	const char *start = pointer + 1;
	size_t length = strcspn(start, "/");
	char *step = bytes_copy(pool, start, length).bytes;
	char *to = step;

	*rest = start + length;
	for (const char *from = step; *from != '\0'; from++) {
		if (from[0] == '~' && (from[1] == '0' || from[1] == '1')) {
			*to++ = from[1] == '0' ? '~' : '/';
			from++;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return step;
}

static json_t *value_of_each(struct pool *pool, json_t *document, const char *rest)
{
	json_t *found = pool_json(pool, json_array());
	const char *key;
	json_t *member;
	size_t n;

	if (json_is_array(document)) {
		json_array_foreach(document, n, member) {
			json_t *value = value_at(pool, member, rest);

			json_array_append(found, value != NULL ? value : json_null());
		}
	} else {
		json_object_foreach(document, key, member) {
			json_t *value = value_at(pool, member, rest);

			json_array_append(found, value != NULL ? value : json_null());
		}
	}
	return found;
}

json_t *value_at(struct pool *pool, json_t *document, const char *pointer)
{
	const char *rest = strcmp(pointer, ".") == 0 ? "" : pointer;
	json_t *at = document;

	while (at != NULL && *rest == '/') {
		const char *step = pointer_step(pool, rest, &rest);

		if (strcmp(step, "*") == 0)
			return value_of_each(pool, at, rest);
		if (json_is_array(at)) {
			char *end = NULL;
			unsigned long n = strtoul(step, &end, 10);

			at = *step == '\0' || *end != '\0' ? NULL : json_array_get(at, n);
		} else {
			at = json_object_get(at, step);
		}
	}
	return at;
}

bool value_includes(const json_t *whole, const json_t *part)
{
	const char *key;
	json_t *member;
	size_t n;

	if (json_is_object(whole) && json_is_object(part)) {
		json_object_foreach((json_t *)part, key, member) {
			if (!value_includes(json_object_get(whole, key), member))
				return false;
		}
		return true;
	}
	if (json_is_array(whole) && json_is_array(part)) {
		json_array_foreach((json_t *)part, n, member) {
			if (!value_includes(whole, member))
				return false;
		}
		return true;
	}
	if (json_is_array(whole)) {
		json_array_foreach((json_t *)whole, n, member) {
			if (value_includes(member, part))
				return true;
		}
		return false;
	}
	return whole != NULL && json_equal(whole, part);
}

struct bytes value_text(struct pool *pool, const json_t *value)
{
	struct bytes text;
	char *dumped;

	if (json_is_string(value))
		return bytes_copy(pool, json_string_value(value), json_string_length(value));
	dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	text = bytes_text(pool, dumped == NULL ? "" : dumped);
	free(dumped);
	return text;
}

enum base64_form {
	BASE64_URL,
	BASE64_PLAIN,
	BASE64_PADDED,
};

static struct bytes base64_encode(struct pool *pool, struct bytes from, enum base64_form form)
{
	struct bytes out = { pool_take(pool, from.length * 4 / 3 + 8), 0 };

	out.length = (size_t)EVP_EncodeBlock((unsigned char *)out.bytes,
					     (const unsigned char *)from.bytes, (int)from.length);
	for (size_t n = 0; n < out.length && form != BASE64_PLAIN; n++) {
		if (out.bytes[n] == '+') {
			out.bytes[n] = '-';
		} else if (out.bytes[n] == '/') {
			out.bytes[n] = '_';
		}
	}
	while (form != BASE64_PADDED && out.length > 0 && out.bytes[out.length - 1] == '=')
		out.bytes[--out.length] = '\0';
	return out;
}

static struct bytes base64_decode(struct pool *pool, const char *start, size_t length)
{
	size_t padded = (length + 3) / 4 * 4;
	struct bytes text = { pool_take(pool, padded + 1), padded };
	struct bytes out = { pool_take(pool, padded + 1), 0 };
	int decoded;

	memset(text.bytes, '=', padded);
	memcpy(text.bytes, start, length);
	for (size_t n = 0; n < length; n++) {
		if (text.bytes[n] == '-') {
			text.bytes[n] = '+';
		} else if (text.bytes[n] == '_') {
			text.bytes[n] = '/';
		}
	}
	decoded = EVP_DecodeBlock((unsigned char *)out.bytes, (unsigned char *)text.bytes,
				  (int)padded);
	if (decoded > 0) {
		out.length = (size_t)decoded - (padded - length);
		out.bytes[out.length] = '\0';
	}
	return out;
}

static struct bytes jwt_signature(struct pool *pool, const EVP_MD *digest, struct bytes secret,
				  struct bytes text)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int length = 0;

	HMAC(digest, secret.bytes, (int)secret.length, (const unsigned char *)text.bytes,
	     text.length, mac, &length);
	return bytes_copy(pool, (const char *)mac, length);
}

bool jwt_make(struct pool *pool, const char *method, struct bytes secret, struct bytes head,
	      struct bytes claims, struct jwt *out)
{
	const struct bytes dot = { (char[]){ "." }, 1 };
	const char *colon = strchr(method, ':');
	enum base64_form form = colon == NULL			? BASE64_URL
				: strcmp(colon, ":plain") == 0	? BASE64_PLAIN
				: strcmp(colon, ":padded") == 0 ? BASE64_PADDED
								: BASE64_URL;
	const EVP_MD *digest = strncmp(method, "HS256", 5) == 0	  ? EVP_sha256()
			       : strncmp(method, "HS384", 5) == 0 ? EVP_sha384()
			       : strncmp(method, "HS512", 5) == 0 ? EVP_sha512()
								  : NULL;

	if (digest == NULL && strcmp(method, "none") != 0)
		return false;
	out->head = base64_encode(pool, head, form);
	out->claims = base64_encode(pool, claims, form);
	out->whole = bytes_join(pool, bytes_join(pool, out->head, dot), out->claims);
	out->sign = digest == NULL
			    ? bytes_text(pool, "")
			    : base64_encode(pool, jwt_signature(pool, digest, secret, out->whole),
					    form);
	out->whole = bytes_join(pool, bytes_join(pool, out->whole, dot), out->sign);
	return true;
}

bool jwt_read(struct pool *pool, struct bytes token, struct bytes secret, struct bytes *claims)
{
	const char *first = strchr(token.bytes, '.');
	const char *second = first == NULL ? NULL : strchr(first + 1, '.');
	struct bytes head;
	struct bytes mac;
	json_t *parsed;

	*claims = bytes_text(pool, "");
	if (second == NULL)
		return false;
	head = base64_decode(pool, token.bytes, (size_t)(first - token.bytes));
	parsed = pool_json(pool, json_loadb(head.bytes, head.length, 0, NULL));
	mac = base64_encode(
		pool,
		jwt_signature(pool, EVP_sha256(), secret,
			      bytes_copy(pool, token.bytes, (size_t)(second - token.bytes))),
		BASE64_URL);
	if (!json_is_string(json_object_get(parsed, "alg")) ||
	    strcmp(json_string_value(json_object_get(parsed, "alg")), "HS256") != 0 ||
	    strcmp(mac.bytes, second + 1) != 0) {
		return false;
	}
	*claims = base64_decode(pool, first + 1, (size_t)(second - first - 1));
	return true;
}

struct bytes sha256_in_base64(struct pool *pool, struct bytes text)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	struct bytes out = { pool_take(pool, 64), 0 };

	if (EVP_Digest(text.bytes, text.length, digest, &length, EVP_sha256(), NULL) != 1)
		abort();
	out.length = (size_t)EVP_EncodeBlock((unsigned char *)out.bytes, digest, (int)length);
	return out;
}
