/* See resources/retries/kept_answer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/retries/kept_answer.h"

#include "resources/retries/kept_usage.h"
#include "resources/kinds.h"
#include "resources/packed.h"

#define VERSION 1
/* Old answers are removed by one of so many writes with a key, so many at once: writers of several
 * machines seldom meet there. */
#define REMOVES_ONE_OF 16
#define REMOVED_MOST 32

/* ---- the record ---- */

bool kept_answer_read(const struct store_record *stored, struct kept_answer *kept,
		      struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);
	const struct slice fingerprint = packed_bytes(&reader, DIGEST_SIZE);

	*kept = (struct kept_answer){ .stored = *stored };
	kept->since = (int64_t)packed_number(&reader, 8);
	kept->status = (int)packed_number(&reader, 2);
	kept->etag = packed_text(&reader);
	kept->body = packed_text(&reader);
	if (!packed_close(&reader, "kept answer", &stored->id, fault))
		return false;
	memcpy(kept->fingerprint, fingerprint.data, DIGEST_SIZE);
	return true;
}

/* The answer in one piece. */
static struct slice whole_body(struct call *call)
{
	const struct answer *answer = &call->answer;
	struct buffer text = BUFFER_INITIAL(call->arena);

	if (answer->size > KEPT_BODY_MOST)
		return SLICE("{\"replayed\":true}");
	if (answer->kept.data != NULL)
		return answer->kept;
	for (size_t i = 0; i < answer->part_count; i++)
		buffer_append(&text, answer->parts[i]);
	return buffer_slice(&text);
}

static struct slice value_of(struct call *call, const unsigned char *fingerprint)
{
	struct buffer value = BUFFER_INITIAL(call->arena);

	packed_put_number(&value, VERSION, 1);
	buffer_append(&value, (struct slice){ (const char *)fingerprint, DIGEST_SIZE });
	packed_put_number(&value, (uint64_t)call->now, 8);
	packed_put_number(&value, (uint64_t)call->answer.status, 2);
	packed_put_text(&value, call_find_header(call, "ETag"));
	packed_put_text(&value, whole_body(call));
	return buffer_slice(&value);
}

/* ---- old ones ---- */

static bool removes(const struct call *call)
{
	return call->etag % REMOVES_ONE_OF == 0;
}

/* The first id of a time that counts. */
static struct id end_of_old(const struct call *call)
{
	const int64_t seconds = (call->now - KEPT_ANSWER_LASTS) / 1000;

	return id_lowest(seconds > 0 ? (uint32_t)seconds : 0, 0);
}

static struct store_page page_of_old(const struct id *end)
{
	return (struct store_page){
		.order = STORE_OLDEST_FIRST,
		.below = end,
		.most = REMOVED_MOST,
	};
}

static bool remove_old(struct call *call, struct fault *fault)
{
	const struct id end = end_of_old(call);
	struct store_record records[REMOVED_MOST];
	struct store_page page = page_of_old(&end);

	if (!removes(call))
		return true;
	page.records = records;
	if (!store_page(call->transaction, &kind_kept_answer, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!store_remove(call->transaction, &kind_kept_answer, &records[i], fault))
			return false;
	}
	return true;
}

/* ---- one answer ---- */

static bool first_page_of_old(struct call *call, struct store_page *page)
{
	struct id *end = arena_alloc(call->arena, sizeof *end);

	*end = end_of_old(call);
	*page = page_of_old(end);
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
	struct store_record stored;

	if (!store_get_named(call->transaction, &kind_kept_answer, key, call_reading(call), &stored,
			     fault))
		return false;
	*kept = (struct kept_answer){ .stored = stored };
	*counts = false;
	if (stored.value.data == NULL)
		return true;
	if (!kept_answer_read(&stored, kept, fault))
		return false;
	*counts = call->now - kept->since < KEPT_ANSWER_LASTS;
	return true;
}

bool kept_answer_put(struct call *call, struct slice key, const unsigned char *fingerprint,
		     const struct kept_answer *former, struct fault *fault)
{
	struct store_record record = { .name = key, .value = value_of(call, fingerprint) };
	int64_t now = call->now;

	return kept_usage_add(call, record.value.size, fault) &&
	       (former->stored.value.data == NULL ||
		store_remove(call->transaction, &kind_kept_answer, &former->stored, fault)) &&
	       remove_old(call, fault) &&
	       store_new_id(call->transaction, &kind_kept_answer, call->environment->clock, &now,
			    &record.id, fault) &&
	       store_put(call->transaction, &kind_kept_answer, &record, NULL, fault);
}

void kept_answer_show(struct call *call, const struct kept_answer *kept)
{
	call->answer.status = kept->status;
	if (kept->etag.size > 0)
		call_header(call, "ETag", kept->etag);
	call_header(call, "Idempotency-Replayed", SLICE("true"));
	call_part(call, kept->body);
}
