/* The stored form of an account's event log.
 *
 * An event is a record whose id is its number, `seq`. The numbers have no gaps, so a page of events
 * is read by ids. The range of the numbers is stored in a record of its own, the log's state. A
 * write that changes something adds its events and updates the state in its own transaction
 * (audit_append).
 *
 * In a store that several machines write to, all writes of an account would then wait for each
 * other. There a write leaves its events in a queue without numbers, and the holder of the lease
 * (background/lease.h) numbers them after the commit (audit_number). The queue and the lease belong
 * to no account: their records are stored under the account with the id zero.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_AUDIT_RECORD_H
#define RESOURCES_AUDIT_RECORD_H

#include "base/clock.h"
#include "records/record.h"
#include "store/store.h"

/* The account with the id zero, for records that belong to no account. */
extern const struct id audit_no_account;

/* Slices are borrowed: from the stored value, or from the writer. */
struct audit_entry {
	struct store_record stored; /* as it was read */
	struct id account; /* only of an event in the queue */
	uint64_t seq; /* from 1; 0 if not numbered yet */
	int64_t time; /* milliseconds since 1970 */
	struct slice id; /* UUID */
	struct slice type; /* "room.created" */
	struct slice actor; /* JSON text */
	struct slice request_id;
	struct slice data; /* JSON text */
};

/* The state of an account's event log. */
struct audit_state {
	struct store_record stored; /* as it was read; value.data NULL if there is none yet */
	uint64_t first; /* the oldest kept event; last + 1 if there is none */
	uint64_t last; /* the newest event; 0 if there never was one */
	int64_t first_time; /* of the oldest kept event, in milliseconds since 1970; 0 if none */
	bool is_watched; /* the following members, compared with the account, are set */
	bool is_enabled;
	uint64_t secrets; /* a digest of the account's secrets */
};

extern const struct record_table audit_entry_table, audit_state_table, audit_queued_table;

/* Convert between the number of an event and the id of its record. */
struct id audit_id_of(uint64_t seq);
uint64_t audit_seq_of(const struct id *id);

/* Reads a stored record. Sets FAULT_DAMAGED if it is damaged. */
bool audit_state_read(const struct store_record *stored, struct audit_state *state,
		      struct fault *fault);

/* Loads the state of the transaction's account. */
bool audit_state_load(struct transaction *transaction, enum store_reading reading,
		      struct audit_state *state, struct fault *fault);
/* Gets the states of `n` accounts as stored records, for audit_state_read. */
bool audit_states_get(struct transaction *transaction, const struct id *accounts, size_t n,
		      struct store_record *stored, struct fault *fault);
bool audit_state_put(struct transaction *transaction, const struct audit_state *state,
		     struct fault *fault);
/* Removes the oldest event, even if it is damaged, which the service log then reports. The caller
 * stores the state. */
bool audit_drop_first(struct transaction *transaction, struct audit_state *state,
		      struct fault *fault);

/* Reads `n` events from `seq` on, at most AUDIT_READ_MOST. Sets FAULT_DAMAGED if one of them is
 * missing. */
#define AUDIT_READ_MOST 256
bool audit_read(struct transaction *transaction, uint64_t seq, size_t n,
		struct audit_entry *entries, struct fault *fault);

/* The times that decide which events are dropped, in milliseconds. */
struct audit_times {
	int64_t now;
	int64_t keep; /* minimum time that an event is kept; 0 for ever */
};

/* Gives the events the next numbers of the transaction's account, which it sets in `seq`; stores
 * them; and drops a few events that are old enough, even damaged ones. */
bool audit_append(struct transaction *transaction, const struct audit_times *times,
		  struct audit_entry *entries, size_t n, struct fault *fault);

/* Adds the events to the queue. Leaves the account of the transaction unchanged. */
bool audit_enqueue(struct transaction *transaction, const struct clock *clock,
		   const struct audit_entry *entries, size_t n, int64_t now, struct fault *fault);
/* Reads an event of the queue, with its account. */
bool audit_queued_read(const struct store_record *stored, struct audit_entry *entry,
		       struct fault *fault);

/* How far the queue is numbered. Events of accounts whose event logs are damaged stay in the queue,
 * so that events of other accounts do not wait for them. */
struct audit_numbering {
	struct id above; /* events up to this id have been visited; zero if none */
	const struct id *left; /* accounts whose events stay in the queue */
	size_t left_count;
	/* Results. */
	bool is_last; /* there are no further events */
	bool has_account; /* upon FAULT_DAMAGED: `account` has a damaged event log */
	struct id account;
	/* FAULT_DAMAGED if an event cannot be read; it stays in the queue. */
	struct fault damage;
};

/* Numbers the next events of the queue, at most AUDIT_READ_MOST, and stops before a damaged event.
 * Sets `above` to the id of the last event that it numbered, or of the damaged one. */
bool audit_number(struct transaction *transaction, const struct audit_times *times,
		  struct audit_numbering *numbering, struct fault *fault);
/* Returns an id below the ids of all events that are queued from `time` on. */
struct id audit_queued_since(int64_t time);

#endif
