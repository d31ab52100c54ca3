/* See delivery/bucket.h. The signatures: Amazon S3 API Reference, "Authenticating Requests (AWS
 * Signature Version 4)".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/bucket.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/text.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
/* Stands for the body of a request whose body is not known when it is signed. */
#define UNSIGNED "UNSIGNED-PAYLOAD"
/* SHA-256 of nothing. */
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
/* 20130524T000000Z, of which the first eight are the day. */
#define TIME_SIZE 16
#define DAY_SIZE 8
/* Parameters of a link besides those of the signature. */
#define PARAMETERS_MOST 4
/* The name of an error in an answer. */
#define CODE_MOST 40
/* Seconds by which a clock may be wrong before that is the reason. */
#define CLOCK_LEEWAY 300

/* ---- the place ---- */

static bool is_made_of(struct slice text, const char *characters)
{
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] == '\0' || strchr(characters, text.data[i]) == NULL)
			return false;
	}
	return true;
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

const char *bucket_problem(const struct bucket *bucket)
{
	const struct slice name = bucket->name;

	if (name.size == 0 || name.size > BUCKET_NAME_MOST ||
	    !is_made_of(name, LOWER UPPER DIGITS ".-_") || name.data[0] == '.' ||
	    name.data[0] == '-')
		return "location is not the name of a bucket";
	if (bucket->key.size > BUCKET_KEY_MOST || bucket->secret.size > BUCKET_SECRET_MOST)
		return "credentials are too long";
	/* It becomes part of a header. */
	for (size_t i = 0; i < bucket->key.size; i++) {
		if (bucket->key.data[i] <= ' ' || bucket->key.data[i] > '~')
			return "credentials.key is not an access key";
	}
	if (bucket->region.size > BUCKET_REGION_MOST ||
	    !is_made_of(bucket->region, LOWER DIGITS "-"))
		return "options.region is not the name of a region";
	if (bucket->endpoint.size > 0)
		return bucket->endpoint.size <= BUCKET_ENDPOINT_MOST &&
				       text_url_is_origin(bucket->endpoint)
			       ? NULL
			       : "options.endpoint is not the address of a server";
	return bucket->vendor == BUCKET_OSS && bucket->region.size == 0
		       ? "oss needs options.region or options.endpoint"
		       : NULL;
}

/* The region as signatures have it. */
static struct slice bucket_region(const struct bucket *bucket)
{
	const struct slice oss = SLICE("oss-");

	if (bucket->region.size == 0)
		return bucket->vendor == BUCKET_GS ? SLICE("auto") : SLICE("us-east-1");
	if (bucket->vendor == BUCKET_OSS && slice_begins(bucket->region, oss))
		return (struct slice){ bucket->region.data + oss.size,
				       bucket->region.size - oss.size };
	return bucket->region;
}

/* Finds the address: the bucket is in its path at an endpoint and where a certificate for the name
 * of the bucket cannot be had; else in its host. */
static void find_address(struct arena *arena, const struct bucket *bucket, struct slice object,
			 const char **scheme, struct slice *host, struct slice *path)
{
	const struct slice region = bucket_region(bucket);
	const struct slice endpoint = bucket->endpoint.size > 0 || bucket->vendor != BUCKET_GS
					      ? bucket->endpoint
					      : SLICE("https://storage.googleapis.com");
	bool is_in_path = true;
	struct buffer at = BUFFER_INITIAL(arena), encoded = BUFFER_INITIAL(arena);

	*scheme = "https";
	if (endpoint.size > 0) {
		if (slice_begins(endpoint, SLICE("http://")))
			*scheme = "http";
		buffer_append(&at, text_lower(arena, text_url_authority(endpoint)));
	} else {
		is_in_path = bucket->vendor == BUCKET_S3 &&
			     !is_made_of(bucket->name, LOWER DIGITS "-");
		if (!is_in_path) {
			buffer_append(&at, bucket->name);
			buffer_append_byte(&at, '.');
		}
		buffer_append_text(&at, bucket->vendor == BUCKET_OSS ? "s3.oss-" : "s3.");
		buffer_append(&at, region);
		buffer_append_text(&at, bucket->vendor == BUCKET_OSS	     ? ".aliyuncs.com"
					: slice_begins(region, SLICE("cn-")) ? ".amazonaws.com.cn"
									     : ".amazonaws.com");
	}
	*host = buffer_slice(&at);
	if (is_in_path) {
		buffer_append_byte(&encoded, '/');
		text_encode(&encoded, bucket->name);
	}
	for (struct slice rest = object; rest.data != NULL;) {
		buffer_append_byte(&encoded, '/');
		text_encode(&encoded, text_split(rest, '/', &rest));
	}
	*path = buffer_slice(&encoded);
}

/* ---- signatures ---- */

static void write_time(int64_t now, char time[TIME_SIZE + 1])
{
	char text[TEXT_TIME_SIZE];
	size_t size = 0;

	text_time_seconds(now * 1000, text);
	for (const char *at = text; *at != '\0' && size < TIME_SIZE; at++) {
		if (*at != '-' && *at != ':')
			time[size++] = *at;
	}
	time[size] = '\0';
}

static void append_parameters(struct buffer *text, const struct bucket_pair *parameters, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buffer_append_byte(text, '&');
		text_encode(text, slice_of(parameters[i].name));
		buffer_append_byte(text, '=');
		text_encode(text, parameters[i].value);
	}
}

static struct slice names_of_headers(struct arena *arena, const struct bucket_pair *headers,
				     size_t n)
{
	struct buffer names = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buffer_append_byte(&names, ';');
		buffer_append_text(&names, headers[i].name);
	}
	return buffer_slice(&names);
}

static struct slice scope_of(struct arena *arena, struct slice region, const char *time)
{
	return slice_of(arena_text(arena, "%.*s/%.*s/s3/aws4_request", DAY_SIZE, time,
				   (int)region.size, region.data));
}

void bucket_sign(struct arena *arena, const struct bucket_signing *signing,
		 char signature[BUCKET_SIGNATURE_SIZE])
{
	struct buffer text = BUFFER_INITIAL(arena), key = BUFFER_INITIAL(arena);
	char time[TIME_SIZE + 1], hex[2 * DIGEST_SIZE];
	unsigned char digest[DIGEST_SIZE];
	struct slice scope, steps[4];

	write_time(signing->now, time);
	scope = scope_of(arena, signing->region, time);
	buffer_append_text(&text, signing->method);
	buffer_append_byte(&text, '\n');
	buffer_append(&text, signing->path);
	buffer_append_byte(&text, '\n');
	append_parameters(&text, signing->parameters, signing->parameter_count);
	buffer_append_byte(&text, '\n');
	for (size_t i = 0; i < signing->header_count; i++) {
		buffer_append_text(&text, signing->headers[i].name);
		buffer_append_byte(&text, ':');
		buffer_append(&text, signing->headers[i].value);
		buffer_append_byte(&text, '\n');
	}
	buffer_append_byte(&text, '\n');
	buffer_append(&text, names_of_headers(arena, signing->headers, signing->header_count));
	buffer_append_byte(&text, '\n');
	buffer_append(&text, signing->payload);
	digest_sha256(buffer_slice(&text), digest);
	text_hex(digest, sizeof digest, hex);

	text = BUFFER_INITIAL(arena);
	buffer_append_text(&text, ALGORITHM "\n");
	buffer_append_text(&text, time);
	buffer_append_byte(&text, '\n');
	buffer_append(&text, scope);
	buffer_append_byte(&text, '\n');
	buffer_append(&text, (struct slice){ hex, sizeof hex });

	buffer_append_text(&key, "AWS4");
	buffer_append(&key, signing->secret);
	steps[0] = (struct slice){ time, DAY_SIZE };
	steps[1] = signing->region;
	steps[2] = SLICE("s3");
	steps[3] = SLICE("aws4_request");
	digest_hmac_sha256(buffer_slice(&key), steps[0], digest);
	explicit_bzero(key.data, key.size);
	for (size_t i = 1; i < sizeof steps / sizeof steps[0]; i++) {
		unsigned char next[DIGEST_SIZE];

		digest_hmac_sha256((struct slice){ (const char *)digest, sizeof digest }, steps[i],
				   next);
		memcpy(digest, next, sizeof digest);
	}
	digest_hmac_sha256((struct slice){ (const char *)digest, sizeof digest },
			   buffer_slice(&text), digest);
	text_hex(digest, sizeof digest, signature);
	explicit_bzero(digest, sizeof digest);
}

struct slice bucket_link(struct arena *arena, const struct bucket *bucket, const char *method,
			 struct slice object, int64_t now, int64_t seconds,
			 const struct bucket_pair *parameters, size_t n)
{
	const struct slice region = bucket_region(bucket);
	char time[TIME_SIZE + 1], signature[BUCKET_SIGNATURE_SIZE];
	struct bucket_pair all[5 + PARAMETERS_MOST], host = { "host", { NULL, 0 } };
	struct buffer url = BUFFER_INITIAL(arena);
	struct slice scope, path;
	const char *scheme;
	size_t count = 0;

	find_address(arena, bucket, object, &scheme, &host.value, &path);
	write_time(now, time);
	scope = scope_of(arena, region, time);
	/* Sorted by their bytes, capitals come first. */
	all[count++] = (struct bucket_pair){ "X-Amz-Algorithm", SLICE(ALGORITHM) };
	all[count++] = (struct bucket_pair){
		"X-Amz-Credential",
		slice_of(arena_text(arena, "%.*s/%s", (int)bucket->key.size, bucket->key.data,
				    scope.data)),
	};
	all[count++] = (struct bucket_pair){ "X-Amz-Date", slice_of(time) };
	all[count++] = (struct bucket_pair){
		"X-Amz-Expires",
		slice_of(arena_text(arena, "%lld", (long long)seconds)),
	};
	all[count++] = (struct bucket_pair){ "X-Amz-SignedHeaders", SLICE("host") };
	for (size_t i = 0; i < n && i < PARAMETERS_MOST; i++)
		all[count++] = parameters[i];
	bucket_sign(arena,
		    &(const struct bucket_signing){ .method = method,
						    .path = path,
						    .parameters = all,
						    .parameter_count = count,
						    .headers = &host,
						    .header_count = 1,
						    .payload = SLICE(UNSIGNED),
						    .region = region,
						    .key = bucket->key,
						    .secret = bucket->secret,
						    .now = now },
		    signature);
	buffer_append_text(&url, scheme);
	buffer_append_text(&url, "://");
	buffer_append(&url, host.value);
	buffer_append(&url, path);
	buffer_append_byte(&url, '?');
	append_parameters(&url, all, count);
	buffer_append_text(&url, "&X-Amz-Signature=");
	buffer_append(&url, (struct slice){ signature, sizeof signature });
	return buffer_slice(&url);
}

void bucket_request(struct arena *arena, const struct bucket *bucket, const char *method,
		    struct slice object, int64_t now, struct slice *url, struct slice *headers)
{
	const struct slice region = bucket_region(bucket);
	char time[TIME_SIZE + 1], signature[BUCKET_SIGNATURE_SIZE];
	struct buffer lines = BUFFER_INITIAL(arena);
	struct slice host, path, scope;
	struct bucket_pair pairs[3];
	const char *scheme;

	find_address(arena, bucket, object, &scheme, &host, &path);
	write_time(now, time);
	scope = scope_of(arena, region, time);
	pairs[0] = (struct bucket_pair){ "host", host };
	pairs[1] = (struct bucket_pair){ "x-amz-content-sha256", SLICE(EMPTY) };
	pairs[2] = (struct bucket_pair){ "x-amz-date", slice_of(time) };
	bucket_sign(arena,
		    &(const struct bucket_signing){ .method = method,
						    .path = path,
						    .headers = pairs,
						    .header_count = 3,
						    .payload = SLICE(EMPTY),
						    .region = region,
						    .key = bucket->key,
						    .secret = bucket->secret,
						    .now = now },
		    signature);
	buffer_append_text(&lines, "x-amz-content-sha256: " EMPTY "\nx-amz-date: ");
	buffer_append_text(&lines, time);
	buffer_append_text(&lines, "\nAuthorization: " ALGORITHM " Credential=");
	buffer_append(&lines, bucket->key);
	buffer_append_byte(&lines, '/');
	buffer_append(&lines, scope);
	buffer_append_text(&lines, ",SignedHeaders=");
	buffer_append(&lines, names_of_headers(arena, pairs, 3));
	buffer_append_text(&lines, ",Signature=");
	buffer_append(&lines, (struct slice){ signature, sizeof signature });
	*headers = buffer_slice(&lines);
	*url = slice_of(arena_text(arena, "%s://%.*s%.*s", scheme, (int)host.size, host.data,
				   (int)path.size, path.data));
}

/* ---- answers ---- */

/* Finds <Code>NAME</Code>, whose name is of letters and digits. Returns false if there is none. */
static bool find_code(const struct outcome *outcome, char code[CODE_MOST + 1])
{
	const char *at = outcome->answer == NULL ? NULL : strstr(outcome->answer, "<Code>");
	size_t size = 0;

	if (at == NULL)
		return false;
	at += strlen("<Code>");
	size = strspn(at, LOWER UPPER DIGITS);
	if (size == 0 || size > CODE_MOST || at[size] != '<')
		return false;
	memcpy(code, at, size);
	code[size] = '\0';
	return true;
}

void bucket_read_outcome(const struct outcome *outcome, int64_t now,
			 char message[BUCKET_ERROR_SIZE])
{
	const int64_t ahead = outcome->date == 0 ? 0 : outcome->date - now;
	char code[CODE_MOST + 1];
	int size;

	message[0] = '\0';
	/* What a storage says besides is not read to its end. */
	if (outcome->status >= 200 && outcome->status < 300 &&
	    (outcome->failure == SENDER_NO_FAILURE || outcome->failure == SENDER_TOO_LONG))
		return;
	if (outcome->status < 300) {
		(void)snprintf(message, BUCKET_ERROR_SIZE, "The storage did not answer: %s.",
			       outcome->error);
		return;
	}
	size = snprintf(message, BUCKET_ERROR_SIZE, "The storage answered %d", outcome->status);
	if (outcome->status >= 300 && outcome->status < 400)
		size += snprintf(message + size, BUCKET_ERROR_SIZE - (size_t)size,
				 ": the region or the endpoint is wrong");
	else if (find_code(outcome, code))
		size += snprintf(message + size, BUCKET_ERROR_SIZE - (size_t)size, ": %s", code);
	if (ahead > CLOCK_LEEWAY || ahead < -CLOCK_LEEWAY)
		size += snprintf(message + size, BUCKET_ERROR_SIZE - (size_t)size,
				 "; its clock is %lld s %s",
				 (long long)(ahead < 0 ? -ahead : ahead),
				 ahead < 0 ? "behind" : "ahead");
	(void)snprintf(message + size, BUCKET_ERROR_SIZE - (size_t)size, ".");
}
