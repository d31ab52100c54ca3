/* See resources/retries/kept_answer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/retries/kept_answer.h"

#include "resources/retries/kept_usage.h"
#include "records/kinds.h"
#include "records/record.h"
#include "resources/record_kind.h"

/* One of REMOVES_ONE_OF writes with a key removes up to REMOVED_MOST expired responses, so writers
 * on several machines rarely conflict. */
#define REMOVES_ONE_OF 16
#define REMOVED_MOST 32
/* Counted for each response in addition to its header and body, in bytes. */
#define KEPT_OVERHEAD 51

/* ---- the record ---- */

static const struct member kept_members[] = {
	{ "id", AS_KEY, AT(struct kept_answer, stored.id) },
	{ "key", AS_NAME, AT(struct kept_answer, stored.name) },
	{ "fingerprint", AS_FIXED(DIGEST_SIZE), AT(struct kept_answer, fingerprint) },
	{ "since", AS_TIME, AT(struct kept_answer, since) },
	{ "status", AS_NUMBER(2, 100, 599), AT(struct kept_answer, status) },
	{ "etag", AS_TEXT(0, 64), AT(struct kept_answer, etag) },
	{ "body", AS_JSON(KEPT_BODY_MOST), MARKED(MEMBER_ABSENT), AT(struct kept_answer, body) },
};
const struct record_table kept_answer_table = {
	RECORD(struct kept_answer, kept_members, 2, &kind_kept_answer),
};
const struct record_kind kept_answer_kind = { &kept_answer_table, .order = RECORD_PAGES };

/* ---- expired responses ---- */

static bool removes(const struct call *call)
{
	return call->etag % REMOVES_ONE_OF == 0;
}

/* Returns an id that separates expired responses from valid ones: the same for the whole run, also
 * if the time of the database takes the place of call->now meanwhile, because the page is
 * announced. */
static const struct id *end_of_old(struct call *call)
{
	const int64_t seconds = (call->now - KEPT_ANSWER_LASTS) / 1000;
	struct id *end = arena_alloc(call->arena, sizeof *end);

	if (call->run.old_answers == NULL) {
		*end = id_lowest(seconds > 0 ? (uint32_t)seconds : 0, 0);
		call->run.old_answers = end;
	}
	return call->run.old_answers;
}

static struct store_page page_of_old(const struct id *end)
{
	return (struct store_page){
		.order = STORE_OLDEST_FIRST,
		.below = end,
		.most = REMOVED_MOST,
	};
}

/* ---- one response ---- */

static bool first_page_of_old(struct call *call, struct store_page *page)
{
	*page = page_of_old(end_of_old(call));
	return removes(call);
}

const struct read kept_answer_reads[] = {
	{ .kind = &kind_kept_answer, .finding = STORE_FIND_NAME, .from = READ_KEY },
	READ_LIST(kind_kept_answer, first_page_of_old),
	READ_NEW_ID(kind_kept_answer),
	{ .kind = &kind_kept_usage, .finding = STORE_FIND_ID, .when = kept_usage_is_due },
	{ .kind = NULL },
};

bool kept_answer_find(struct call *call, struct slice key, struct kept_answer *kept, bool *counts,
		      struct fault *fault)
{
	if (!record_get_named(&kept_answer_table, call->transaction, key, call_reading(call), kept,
			      fault))
		return false;
	*counts = kept->stored.value.data != NULL && call->now - kept->since < KEPT_ANSWER_LASTS;
	return true;
}

bool kept_answer_put(struct call *call, struct slice key, const unsigned char *fingerprint,
		     const struct kept_answer *former, struct fault *fault)
{
	const struct answer *answer = &call->answer;
	const size_t size = answer->kept.data != NULL ? answer->kept.size : answer->size;
	const struct slice etag = call_find_header(call, "ETag");
	struct store_page page = page_of_old(end_of_old(call));
	struct store_record old[REMOVED_MOST];
	struct kept_answer kept = {
		.stored.name = key,
		.since = call->now,
		.status = call->answer.status,
		.etag = etag.data == NULL ? SLICE("") : etag,
		.body = answer->kept,
	};
	struct buffer body = BUFFER_INITIAL(call->arena);
	int64_t now = call->now;

	memcpy(kept.fingerprint, fingerprint, DIGEST_SIZE);
	if (size > KEPT_BODY_MOST) {
		kept.body = SLICE("{\"replayed\":true}");
	} else if (answer->kept.data == NULL) {
		for (size_t i = 0; i < answer->part_count; i++)
			buffer_append(&body, answer->parts[i]);
		kept.body = buffer_slice(&body);
	}

	if (!kept_usage_add(call, KEPT_OVERHEAD + kept.etag.size + kept.body.size, fault) ||
	    (former->stored.value.data != NULL &&
	     !store_remove(call->transaction, &kind_kept_answer, &former->stored, fault)))
		return false;

	page.records = old;
	if (removes(call) && !store_page(call->transaction, &kind_kept_answer, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!store_remove(call->transaction, &kind_kept_answer, &old[i], fault))
			return false;
	}

	return store_new_id(call->transaction, &kind_kept_answer, call->environment->clock, &now,
			    &kept.stored.id, fault) &&
	       record_put(&kept_answer_table, call->transaction, &kept, fault);
}

void kept_answer_show(struct call *call, const struct kept_answer *kept)
{
	call->answer.status = kept->status;
	if (kept->etag.size > 0)
		call_header(call, "ETag", kept->etag);
	call_header(call, "Idempotency-Replayed", SLICE("true"));
	call_part(call, kept->body);
}
