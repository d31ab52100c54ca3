/* Answers that are kept with the Idempotency-Key of their request, so that a request that is sent
 * again gets the same answer and is not carried out twice (anteroom-api(7)). Each is a record,
 * found by its key within the account, and written in the transaction of the change that it
 * answers.
 *
 * A kept answer counts for KEPT_ANSWER_LASTS; later it is removed, with others, by some of the
 * writes that have a key.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RETRIES_KEPT_ANSWER_H
#define RESOURCES_RETRIES_KEPT_ANSWER_H

#include "base/digest.h"
#include "records/record.h"
#include "resources/call.h"
#include "resources/reads.h"

#define KEPT_ANSWER_LASTS INT64_C(86400000) /* milliseconds */
/* A longer body is not kept; the replay then says only that it is one. */
#define KEPT_BODY_MOST ((size_t)512 << 10)

struct kept_answer {
	struct store_record stored; /* as it was read; value.data NULL: there is none */
	unsigned char fingerprint[DIGEST_SIZE]; /* of the request */
	int64_t since; /* milliseconds since 1970 */
	int status;
	struct slice etag; /* the header; empty: none */
	struct slice body;
};

/* What kept_answer_find and kept_answer_put read. */
extern const struct read kept_answer_reads[];
/* *counts false: there is none, or its time has passed. */
bool kept_answer_find(struct call *call, struct slice key, struct kept_answer *kept, bool *counts,
		      struct fault *fault);
/* Keeps the answer of the call, which is complete. former: as kept_answer_find read it, when it
 * does not count. FAULT_TOO_MANY when the account has as many as it may. */
bool kept_answer_put(struct call *call, struct slice key, const unsigned char *fingerprint,
		     const struct kept_answer *former, struct fault *fault);
/* The kept answer becomes that of the call. */
void kept_answer_show(struct call *call, const struct kept_answer *kept);

extern const struct record_table kept_answer_table;

#endif
