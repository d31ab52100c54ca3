/* Stores responses with the Idempotency-Key of their request, so that a repeated request gets the
 * same response and is not carried out twice (anteroom-api(7)). Each stored response is a record,
 * found by its key within the account, and written in the transaction of the change that the
 * request made.
 *
 * A stored response is valid for KEPT_ANSWER_LASTS. Later writes that have a key remove expired
 * responses.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RETRIES_KEPT_ANSWER_H
#define RESOURCES_RETRIES_KEPT_ANSWER_H

#include "base/digest.h"
#include "records/record.h"
#include "resources/call.h"
#include "resources/reads.h"

#define KEPT_ANSWER_LASTS INT64_C(86400000) /* milliseconds */
/* A longer body is not stored; a repeated request then only learns that it is a repetition. */
#define KEPT_BODY_MOST ((size_t)512 << 10)

struct kept_answer {
	struct store_record stored; /* as it was read; value.data NULL if there is none */
	unsigned char fingerprint[DIGEST_SIZE]; /* of the request */
	int64_t since; /* milliseconds since 1970 */
	int status;
	struct slice etag; /* the header; may be empty */
	struct slice body;
};

/* The records that kept_answer_find and kept_answer_put read. */
extern const struct read kept_answer_reads[];
/* Sets *counts to false if there is no stored response, or it has expired. */
bool kept_answer_find(struct call *call, struct slice key, struct kept_answer *kept, bool *counts,
		      struct fault *fault);
/* Stores the response of the call, which must be complete. former: the record read by
 * kept_answer_find, if it does not count. Sets FAULT_TOO_MANY if the account has too many. */
bool kept_answer_put(struct call *call, struct slice key, const unsigned char *fingerprint,
		     const struct kept_answer *former, struct fault *fault);
/* Makes the stored response the response of the call. */
void kept_answer_show(struct call *call, const struct kept_answer *kept);

extern const struct record_table kept_answer_table;

#endif
