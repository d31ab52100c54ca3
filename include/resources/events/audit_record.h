/* The log of an account, as it is stored.
 *
 * An entry is a record whose id is its number, `seq`: they have no gaps, so a page of them is read
 * by their ids. How far the numbers go is a record of its own, the log's state. A write that
 * changes something adds its entries, and changes the state, in its own transaction (audit_append).
 *
 * In a store that several machines write to, that would make all writes of an account wait for each
 * other. There a write leaves its entries in a queue instead, without a number, and the holder of
 * the lease (background/lease.h) numbers them after the commit (audit_number). The queue, and the
 * lease, are records of no account: of the account with the id zero.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_EVENTS_AUDIT_RECORD_H
#define RESOURCES_EVENTS_AUDIT_RECORD_H

#include "base/clock.h"
#include "records/record.h"
#include "store/store.h"

/* What is not in any account is in this one. */
extern const struct id audit_no_account;

/* Slices are borrowed: from the stored value, or from the writer. */
struct audit_entry {
	struct store_record stored; /* as it was read */
	struct id account; /* of one in the queue */
	uint64_t seq; /* from 1; 0: it has no number yet */
	int64_t time; /* milliseconds */
	struct slice id; /* UUID */
	struct slice type; /* "room.created" */
	struct slice actor; /* JSON text */
	struct slice request_id;
	struct slice data; /* JSON text */
};

/* How far the log of an account goes. */
struct audit_state {
	struct store_record stored; /* as it was read; value.data NULL: there is none yet */
	uint64_t first; /* the oldest entry that is kept; last + 1: there is none */
	uint64_t last; /* 0: there was none */
	int64_t first_time; /* of the oldest entry that is kept, in milliseconds; 0: none */
	bool is_watched; /* what is compared with the account is set: */
	bool is_enabled;
	uint64_t secrets; /* a digest of the account's secrets */
};

extern const struct record_table audit_entry_table, audit_state_table, audit_queued_table;

/* The id of an entry is its number. */
struct id audit_id_of(uint64_t seq);
uint64_t audit_seq_of(const struct id *id);

/* FAULT_DAMAGED when it cannot be read. */
bool audit_entry_read(const struct store_record *stored, struct audit_entry *entry,
		      struct fault *fault);
bool audit_state_read(const struct store_record *stored, struct audit_state *state,
		      struct fault *fault);

/* The state of the transaction's account. */
bool audit_state_load(struct transaction *transaction, enum store_reading reading,
		      struct audit_state *state, struct fault *fault);
/* The records of the states of `n` accounts, for audit_state_read. */
bool audit_states_get(struct transaction *transaction, const struct id *accounts, size_t n,
		      struct store_record *stored, struct fault *fault);
bool audit_state_put(struct transaction *transaction, const struct audit_state *state,
		     struct fault *fault);
/* Removes the oldest entry, also a damaged one, which the log then names. The caller puts the
 * state. */
bool audit_drop_first(struct transaction *transaction, struct audit_state *state,
		      struct fault *fault);

/* `n` entries from `seq` on, n at most AUDIT_READ_MOST. FAULT_DAMAGED when one of them is
 * missing. */
#define AUDIT_READ_MOST 256
bool audit_read(struct transaction *transaction, uint64_t seq, size_t n,
		struct audit_entry *entries, struct fault *fault);

/* The times by which entries are dropped, in milliseconds. */
struct audit_times {
	int64_t now;
	int64_t keep; /* how long an entry is kept at least; 0: for ever */
};

/* Gives the entries the next numbers of the transaction's account, stores them, and drops a few
 * that are old enough, also ones that cannot be read. entries: `seq` is set. */
bool audit_append(struct transaction *transaction, const struct audit_times *times,
		  struct audit_entry *entries, size_t n, struct fault *fault);

/* Stores an entry of a dump: the log's state says how far it goes, and has no entries before it. */
bool audit_restore(struct transaction *transaction, const struct audit_entry *entry,
		   struct fault *fault);

/* Leaves the entries in the queue. The account of the transaction stays as it was. */
bool audit_enqueue(struct transaction *transaction, const struct clock *clock,
		   const struct audit_entry *entries, size_t n, int64_t now, struct fault *fault);
/* An entry of the queue, with its account. */
bool audit_queued_read(const struct store_record *stored, struct audit_entry *entry,
		       struct fault *fault);

/* How far the numbering of the queue is. Entries of accounts whose logs are damaged stay in the
 * queue, so that those of other accounts do not wait for them. */
struct audit_numbering {
	struct id above; /* entries up to it were looked at; zero: from the oldest on */
	const struct id *left; /* accounts whose entries stay */
	size_t left_count;
	/* Results. */
	bool is_last; /* no entry follows */
	bool has_account; /* account: upon FAULT_DAMAGED, the one whose log is damaged */
	struct id account;
	/* FAULT_DAMAGED: an entry cannot be read, and stays in the queue. */
	struct fault damage;
};

/* Numbers the next entries of the queue, at most AUDIT_READ_MOST, and none from a damaged one on.
 * Sets `above` to the id of the last entry that it numbered, or of the damaged one. */
bool audit_number(struct transaction *transaction, const struct audit_times *times,
		  struct audit_numbering *numbering, struct fault *fault);
/* Below the ids of entries that are put into the queue from then on. */
struct id audit_queued_since(int64_t time);

#endif
