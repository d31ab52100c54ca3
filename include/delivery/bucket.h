/* Requests to object storage that speaks the protocol of Amazon S3, with its signatures of version
 * 4: links that anybody may use for a time, and requests with an Authorization header. Nothing here
 * connects anywhere; delivery/sender.h does. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_BUCKET_H
#define DELIVERY_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "delivery/sender.h"

enum bucket_vendor { BUCKET_S3, BUCKET_GS, BUCKET_OSS };

/* A bucket, and who uses it. Borrowed texts; empty if there is none. */
struct bucket {
	enum bucket_vendor vendor;
	struct slice name;
	struct slice endpoint; /* http://HOST or https://HOST; empty: that of the vendor */
	struct slice region;
	struct slice key, secret;
};

/* The largest texts of a bucket, in bytes. */
#define BUCKET_NAME_MOST 255
#define BUCKET_REGION_MOST 64
#define BUCKET_ENDPOINT_MOST 512
#define BUCKET_KEY_MOST 256
#define BUCKET_SECRET_MOST 1024
/* An object's name is shorter. */
#define BUCKET_OBJECT_MOST 1024

/* Returns NULL if requests for the bucket can be made, else what is wrong with it, as words for a
 * person. */
const char *bucket_problem(const struct bucket *bucket);

/* A parameter of a query, or a header: plain text. */
struct bucket_pair {
	const char *name;
	struct slice value;
};

/* Returns a link that is valid for `seconds` from `now` on (seconds since 1970). parameters: sorted
 * by name, all in lower case. */
struct slice bucket_link(struct arena *arena, const struct bucket *bucket, const char *method,
			 struct slice object, int64_t now, int64_t seconds,
			 const struct bucket_pair *parameters, size_t n);

/* Builds a request without a body, which is valid for a few minutes. *headers: lines as in struct
 * delivery. */
void bucket_request(struct arena *arena, const struct bucket *bucket, const char *method,
		    struct slice object, int64_t now, struct slice *url, struct slice *headers);

/* What a signature is made of. */
struct bucket_signing {
	const char *method;
	struct slice path; /* percent-encoded */
	const struct bucket_pair *parameters, *headers; /* sorted; names of headers in lower case */
	size_t parameter_count, header_count;
	struct slice payload; /* SHA-256 of the body in hex, or what stands for it */
	struct slice region, key, secret;
	int64_t now;
};
#define BUCKET_SIGNATURE_SIZE 64
/* Writes the signature in hex. */
void bucket_sign(struct arena *arena, const struct bucket_signing *signing,
		 char signature[BUCKET_SIGNATURE_SIZE]);

/* Bytes of an answer in which a storage says what is wrong. */
#define BUCKET_ANSWER_MOST 4096
#define BUCKET_ERROR_SIZE 200
/* Writes what came of a request as a sentence: empty if it was done. `now`: seconds since 1970. An
 * object that is to be deleted and is not there is as good as deleted. Contains no text of the
 * answer but the name of an error. */
void bucket_read_outcome(const struct outcome *outcome, int64_t now,
			 char message[BUCKET_ERROR_SIZE]);

#endif
