/* See background/account_watch.h. What was seen is also kept in memory, so that a change of one
 * account among many takes one transaction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/account_watch.h"

#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "resources/audit.h"
#include "resources/audit_record.h"

/* Accounts that one transaction compares. */
#define AT_ONCE 64
#define ENTRIES_MOST 2 /* for an account: its state, its secrets */

struct seen {
	struct id account;
	uint64_t secrets;
	bool is_enabled;
};

struct account_watch {
	const struct environment *environment;
	uint64_t generation; /* generation of the accounts that have all been seen; 0 before that */
	struct seen *seen; /* sorted by account */
	size_t count, capacity;
};

struct account_watch *account_watch_open(const struct environment *environment)
{
	struct account_watch *watch = memory_check(calloc(1, sizeof *watch));

	watch->environment = environment;
	return watch;
}

void account_watch_close(struct account_watch *watch)
{
	if (watch == NULL)
		return;
	free(watch->seen);
	free(watch);
}

/* ---- what is seen of an account ---- */

static struct seen see(struct arena *arena, const struct account *account)
{
	struct seen seen = { .account = account->id, .is_enabled = account->is_enabled };
	struct buffer text = BUFFER_INITIAL(arena);
	unsigned char digest[DIGEST_SIZE];

	for (size_t i = 0; i < account->secret_count; i++)
		buffer_append_text(&text, account->secrets[i].text);
	digest_sha256(buffer_slice(&text), digest);
	memcpy(&seen.secrets, digest, sizeof seen.secrets);
	return seen;
}

static size_t index_of_account(const struct account_watch *watch, const struct id *account)
{
	return id_place(account, watch->seen, watch->count, sizeof *watch->seen);
}

static bool is_seen(const struct account_watch *watch, const struct seen *seen)
{
	const size_t place = index_of_account(watch, &seen->account);

	return place < watch->count &&
	       id_compare(&watch->seen[place].account, &seen->account) == 0 &&
	       watch->seen[place].secrets == seen->secrets &&
	       watch->seen[place].is_enabled == seen->is_enabled;
}

/* ---- entries ---- */

static struct audit_entry account_entry(const struct account_watch *watch, struct arena *arena,
					const struct account *account, const char *type,
					const char *pointer)
{
	const struct clock *clock = watch->environment->clock;
	struct changes changes = CHANGES_INITIAL(arena);
	const struct audit_data data = {
		.kind = "account",
		.id = slice_of(account->id_text),
		.name = slice_of(account->name),
		.changes = &changes,
	};

	changes_add(&changes, slice_of(pointer));
	return (struct audit_entry){
		.time = clock_now(clock),
		.id = uuid_as_text(arena, clock),
		.type = slice_of(type),
		.actor = audit_actor_text(arena, ACTOR_CLI, SLICE("")),
		.request_id = SLICE(""),
		.data = audit_data_text(arena, &data),
	};
}

/* Compares an account with what its log says was last seen of it. If its log says nothing, the
 * account was created since the last comparison, and is compared with a new account; at the first
 * comparison of this process, its state is only recorded. */
static bool compare_account(const struct account_watch *watch, struct transaction *transaction,
			    const struct account *account, const struct seen *seen,
			    bool *is_changed, struct fault *fault)
{
	const struct audit_times times = { clock_now(watch->environment->clock),
					   watch->environment->log_keep };
	struct audit_entry entries[ENTRIES_MOST];
	struct audit_state state;
	bool is_stored;
	size_t n = 0;

	store_set_account(transaction, &account->id);
	if (!audit_state_load(transaction, STORE_TO_CHANGE, &state, fault))
		return false;
	is_stored = state.is_watched;
	if (!is_stored && watch->generation != 0) {
		struct account made = *account;

		/* A new account is enabled, with one secret. */
		if (made.secret_count > 1)
			made.secret_count = 1;
		state.is_watched = true;
		state.is_enabled = true;
		state.secrets = see(transaction->arena, &made).secrets;
	}
	if (state.is_watched && state.is_enabled != seen->is_enabled)
		entries[n++] = account_entry(
			watch, transaction->arena, account,
			seen->is_enabled ? "account.enabled" : "account.disabled", "/enabled");
	if (state.is_watched && state.secrets != seen->secrets)
		entries[n++] = account_entry(watch, transaction->arena, account,
					     "account.secret_rotated", "/secrets");
	if (n > 0 && !audit_append(transaction, &times, entries, n, fault))
		return false;
	if (is_stored && n == 0)
		return true;
	*is_changed = true;
	if (!audit_state_load(transaction, STORE_TO_CHANGE, &state, fault))
		return false;
	state.is_watched = true;
	state.is_enabled = seen->is_enabled;
	state.secrets = seen->secrets;
	return audit_state_put(transaction, &state, fault);
}

/* ---- surveys ---- */

struct batch {
	const struct account *accounts[AT_ONCE];
	struct seen seen[AT_ONCE];
	size_t count;
};

/* Returns false if the batch must be repeated. */
static bool finish(struct account_watch *watch, struct lease *lease, struct arena *arena,
		   struct batch *batch)
{
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	bool is_done, is_changed = false;
	uint64_t number;

	if (batch->count == 0)
		return true;
	if (!store_begin(watch->environment->store, STORE_WRITE, arena, &transaction, &fault))
		return false;
	is_done = lease_confirm(lease, transaction, &fault);
	for (size_t i = 0; is_done && i < batch->count; i++) {
		if (compare_account(watch, transaction, batch->accounts[i], &batch->seen[i],
				    &is_changed, &fault))
			continue;
		/* A damaged log gets no event; the other accounts still get theirs. */
		is_done = fault.kind == FAULT_DAMAGED;
		if (!is_done)
			break;
		log_event(LOG_LEVEL_ERROR, "accounts_not_compared", "account",
			  batch->accounts[i]->id_text, "cause", fault_reason(&fault), NULL);
		fault = FAULT_INITIAL;
	}
	if (is_done && is_changed)
		is_done = store_commit(transaction, &number, &fault) &&
			  store_wait(watch->environment->store, number, &fault);
	else
		store_abandon(transaction);
	for (size_t i = 0; is_done && i < batch->count; i++) {
		const struct seen *seen = &batch->seen[i];
		const size_t place = index_of_account(watch, &seen->account);

		if (place == watch->count ||
		    id_compare(&watch->seen[place].account, &seen->account) != 0) {
			watch->seen = memory_room(watch->seen, watch->count + 1, &watch->capacity,
						  sizeof *watch->seen);
			memmove(&watch->seen[place + 1], &watch->seen[place],
				(watch->count++ - place) * sizeof *watch->seen);
		}
		watch->seen[place] = *seen;
	}
	batch->count = 0;
	arena_reset(arena);
	return is_done;
}

void account_watch_compare(struct account_watch *watch, struct lease *lease)
{
	struct accounts *accounts = watch->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	struct arena *arena;
	struct batch batch = { .count = 0 };
	struct fault ignored = FAULT_INITIAL;
	bool is_done = true, has_changed;

	/* If the accounts are in the store, other machines may have changed them. */
	(void)accounts_refresh(accounts, &roster, &has_changed, &ignored);
	if (roster->generation != watch->generation) {
		arena = arena_open();
		for (size_t i = 0; is_done && i < roster->count; i++) {
			const struct seen seen = see(arena, &roster->accounts[i]);

			if (is_seen(watch, &seen))
				continue;
			batch.accounts[batch.count] = &roster->accounts[i];
			batch.seen[batch.count++] = seen;
			if (batch.count == AT_ONCE)
				is_done = finish(watch, lease, arena, &batch);
		}
		if (is_done && finish(watch, lease, arena, &batch))
			watch->generation = roster->generation;
		arena_close(arena);
	}
	accounts_release(accounts, roster);
}
