/* The keys of all records, for a dump of a store whose lists may be damaged: in the order in which
 * a walk visits the records (transfer/walk.h). Only so many keys of each kind are in memory at a
 * time; for those that follow, the store is gone through once more.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_SALVAGE_KEYS_H
#define TRANSFER_SALVAGE_KEYS_H

#include "accounts/roster.h"
#include "resources/record_kind.h"
#include "transfer/snapshot.h"

/* Keys of one kind that are in memory, unless a caller says otherwise. */
#define SALVAGE_KEYS_MOST ((size_t)1 << 16)

struct salvage_key {
	struct id id;
	char name[CODE_WORDS_MOST + 1]; /* of kinds found only by name, else empty */
};

/* Called when records cannot be found: what they are, and why. Returns true to continue without
 * them. */
typedef bool salvage_lost(void *context, const char *what, const struct fault *why,
			  struct fault *fault);

struct salvage_keys;

/* Begins with the keys of the accounts of the roster, or only of `only` if that is not NULL. most:
 * SALVAGE_KEYS_MOST, or fewer for a test. Borrows all arguments. */
struct salvage_keys *salvage_keys_open(struct snapshot *snapshot, const struct roster *roster,
				       const struct account *only, size_t most, salvage_lost *lost,
				       void *context);
void salvage_keys_close(struct salvage_keys *keys);

/* Takes the next key of an account, in the order of the roster, and of a parent, in the order in
 * which a walk visits parents; the id zero if the kind has none. Keys of accounts and parents
 * before these are skipped. *is_there is false if there is none. */
bool salvage_keys_next(struct salvage_keys *keys, const struct record_kind *kind,
		       const struct id *account, const struct id *parent, struct salvage_key *key,
		       bool *is_there, struct fault *fault);

#endif
