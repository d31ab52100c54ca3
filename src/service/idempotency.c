/* See service/idempotency.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/idempotency.h"

#include "background/claims.h"
#include "background/media_client.h"
#include "base/text.h"
#include "resources/asking.h"
#include "resources/retries/kept_answer.h"
#include "resources/retries/kept_usage.h"
#include "resources/route.h"

/* ---- the key ---- */

/* Visible ASCII characters other than " and \. */
static const struct text_rule key_text = {
	.characters = "!#-[]-~",
	.longest = STORE_NAME_MAX,
	.counts_bytes = true,
};

bool idempotency_read(struct call *call, struct fault *fault)
{
	struct slice key = call->request.idempotency_key;

	if (key.data == NULL || call->route->is_open || call->app_token != NULL ||
	    call->validates_only || !route_is_for_writing(call->route))
		return true;
	key = text_trim(key, TEXT_BLANKS);
	if (key.size >= 2 && key.data[0] == '"' && key.data[key.size - 1] == '"')
		key = (struct slice){ key.data + 1, key.size - 2 };
	if (!schema_text_obeys(&key_text, key))
		return fault_explain(
			fault, FAULT_BAD_REQUEST, "Invalid Idempotency-Key",
			"Idempotency-Key: must be a single string of 1 to %d visible "
			"ASCII characters other than \" and \\, with or without quotes",
			STORE_NAME_MAX);
	/* An empty key counts as absent. */
	if (key.size > 0)
		call->idempotency_key = key;
	return true;
}

/* ---- the fingerprint ---- */

static void append_part(struct buffer *text, struct slice part)
{
	buffer_append_integer(text, part.data == NULL ? -1 : (json_int_t)part.size);
	buffer_append_byte(text, ':');
	buffer_append(text, part);
}

static void fingerprint_of(const struct call *call, unsigned char fingerprint[DIGEST_SIZE])
{
	const struct request *request = &call->request;
	struct buffer text = BUFFER_INITIAL(call->arena);

	append_part(&text, slice_of(method_name(request->method)));
	append_part(&text, request->uri);
	append_part(&text, request->body);
	append_part(&text, request->if_match);
	append_part(&text, request->if_none_match);
	append_part(&text, request->prefer);
	digest_sha256(buffer_slice(&text), fingerprint);
}

/* ---- calls that are under way ---- */

bool idempotency_refuse(struct fault *fault)
{
	fault_set(fault, FAULT_CONFLICT, "A request with this Idempotency-Key is under way");
	fault->retry_after = 1;
	return false;
}

static struct claims *claims_of(const struct call *call)
{
	struct media_client *client = call->environment->media_client;

	return client == NULL ? NULL : media_client_claims(client);
}

bool idempotency_claim(struct call *call, bool *waits, struct fault *fault)
{
	struct claims *claims = claims_of(call);
	unsigned char fingerprint[DIGEST_SIZE];
	struct asking *asking;

	*waits = false;
	if (call->asking != NULL && call->asking->waits_for_key) {
		const bool is_late = call->asking->has_timed_out;

		call->asking = NULL;
		if (is_late)
			return idempotency_refuse(fault);
	}
	if (call->idempotency_key.data == NULL || !route_asks(call->route) || claims == NULL ||
	    call->asking != NULL || call->has_claim)
		return true;
	if (call->claims_until == 0)
		call->claims_until = clock_monotonic() + STORE_LOCK_MOST;
	fingerprint_of(call, fingerprint);
	switch (claims_take(claims, &call->account, call->idempotency_key, fingerprint)) {
	case CLAIM_IS_OURS:
		call->has_claim = true;
		break;
	case CLAIM_IS_TAKEN:
		asking = arena_zero(call->arena, sizeof *asking);
		asking->account = call->account;
		asking->person = call->idempotency_key;
		asking->until = call->claims_until;
		asking->waits_for_key = true;
		call->asking = asking;
		*waits = true;
		break;
	case CLAIM_DIFFERS:
		return fault_set(fault, FAULT_KEY_REUSED, NULL);
	}
	return true;
}

void idempotency_release(struct call *call)
{
	if (call->has_claim)
		claims_release(claims_of(call), &call->account, call->idempotency_key);
	call->has_claim = false;
}

/* ---- what was kept ---- */

/* Makes the stored response the answer, or fails with 422 if the request differs. */
static bool show_kept(struct call *call, const struct kept_answer *kept,
		      const unsigned char *fingerprint, struct fault *fault)
{
	*fault = FAULT_INITIAL;
	if (!digest_equal(kept->fingerprint, fingerprint))
		return fault_set(fault, FAULT_KEY_REUSED, NULL);
	call_reset_answer(call);
	kept_answer_show(call, kept);
	kept_usage_count_replay(call->environment->kept_usage);
	return true;
}

bool idempotency_end(struct call *call, bool is_done, bool *is_replay, struct fault *fault)
{
	unsigned char fingerprint[DIGEST_SIZE];
	struct fault own = FAULT_INITIAL;
	struct kept_answer kept;
	bool counts;

	*is_replay = false;
	if (fault_is_of_the_store(fault->kind))
		return is_done;
	if (!kept_answer_find(call, call->idempotency_key, &kept, &counts, &own)) {
		*fault = own;
		return false;
	}
	fingerprint_of(call, fingerprint);
	if (counts) {
		*is_replay = show_kept(call, &kept, fingerprint, fault);
		return *is_replay;
	}
	/* A call that is going to ask a media server, or to ask again, or that takes another
	 * transaction, has no answer yet. */
	if (is_done && (call_is_asking(call) || call->asks_next != NULL || call->run.goes_on))
		return true;
	return is_done && kept_answer_put(call, call->idempotency_key, fingerprint, &kept, fault);
}

bool idempotency_replay(struct call *call, struct fault *fault)
{
	unsigned char fingerprint[DIGEST_SIZE];
	struct fault own = FAULT_INITIAL;
	struct kept_answer kept;
	bool counts = false, is_shown = false;

	if (call->idempotency_key.data == NULL)
		return false;
	call->now = clock_now(call->environment->clock);
	if (!store_begin(call->environment->store, STORE_READ, call->arena, &call->transaction,
			 &own))
		return false;
	store_set_account(call->transaction, &call->account);
	if (kept_answer_find(call, call->idempotency_key, &kept, &counts, &own) && counts) {
		fingerprint_of(call, fingerprint);
		is_shown = show_kept(call, &kept, fingerprint, fault);
	}
	store_abandon(call->transaction);
	return is_shown;
}
