/* One world for tests: a service over a store, in this process and without sockets, and calls to
 * it.
 *
 * A world belongs to the caller, and stays where it is while it is open, because what is in it
 * refers to it. From the bottom up it has an arena, a directory, a clock that can be moved, a
 * receiver (receiver.h) if it has a sender, then a store, accounts, what the process has in memory,
 * the sender, the parts that the suite adds, and the service. world_close closes all of these in
 * the reverse order and removes the directory; the suite closes only what it has opened, in
 * parts_close. What the suite sets in the environment is the suite's.
 *
 * Everything in a world goes by its clock: the system's, plus what world_move adds, or one that
 * stands still until it is moved. Only the sender, which is a process, does not. Random bytes are
 * the system's.
 *
 * world_restart is what a restart of the program is: everything from the store up is closed and
 * opened anew, so that only the directory, or the database, keeps anything. world_serve opens only
 * the service anew, with the environment as it is then.
 *
 * What functions return is in the arena that they are given, else in that of the world. Those that
 * are given one may be called from any thread, all others from the one that opened the world. A
 * failure of the world itself, other than a response, ends the test with its reason.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <limits.h>

#include "accounts/accounts.h"
#include "delivery/sender.h"
#include "receiver.h"
#include "service/service.h"
#include "store/gdbm/store_gdbm.h"
#include "store/postgres/store_postgres.h"

struct world;

enum world_store {
	WORLD_MEMORY, /* store_memory.h: lost with the process */
	WORLD_GDBM, /* in the directory, which also has the accounts */
	WORLD_POSTGRES, /* a database, which also has the accounts, and which the world leaves */
	WORLD_GIVEN /* the suite's own, which the world does not close */
};

/* What is zero is the default. */
struct world_options {
	enum world_store store;
	struct store_options gdbm; /* without directory; creates, and has at least 4 readers */
	struct store_postgres_options postgres; /* with its URL, which outlives the world */
	struct store *given;
	bool may_fail; /* the store is one of store_failing.h, over the other */
	/* Taken by the world; NULL for a new one, or for none if a database has everything. */
	char *directory;
	bool is_empty; /* no account is made; else there is an account "a" */
	bool has_account_file; /* the accounts are in the directory, even with a database */
	int64_t begins; /* milliseconds since 1970 at which the clock begins; 0 for the system's */
	bool stands; /* the clock */
	/* The members that the suite sets. The clock, the store, the accounts, the memory of
	 * tokens, misses and door_polls are the world's; join_seconds is 3600 unless it is set. */
	struct environment environment;
	unsigned door_most; /* of door_polls; 0 for DOOR_ADDRESS_MOST */
	/* The sender, if it has a purpose; its program is $ANTEROOM, else ./anteroom. */
	struct sender_options sender;
	/* Called before the service is opened, and after it is closed; or NULL. */
	void (*parts_open)(struct world *world);
	void (*parts_close)(struct world *world);
};

struct world_clock {
	struct clock clock;
	_Atomic int64_t offset;
	bool stands;
	_Atomic int64_t held; /* the system's time at which it is held; 0: it is not */
};

struct world {
	struct world_options options; /* may be changed; read when something is opened */
	struct arena *arena;
	char *directory;
	char path[PATH_MAX]; /* of the GDBM store */
	struct world_clock clock;
	struct receiver *receiver; /* NULL without a sender */
	struct sender *sender;
	struct environment environment;
	struct account account; /* "a" when it was opened; world_expect makes its calls */
	struct service *service;
};

void world_open(struct world *world, const struct world_options *options);
void world_close(struct world *world);
/* Closes the world without removing its directory, and returns that; the caller frees it, or gives
 * it to another world. */
char *world_leave(struct world *world);
/* The two halves of world_restart. */
void world_stop(struct world *world);
void world_start(struct world *world);
void world_restart(struct world *world);
void world_serve(struct world *world);

int64_t world_now(const struct world *world);
void world_move(struct world *world, int64_t milliseconds);
/* Holds a clock that goes by the system's at the time that it has now, until the next call. Returns
 * the system's time. */
int64_t world_hold(struct world *world);

/* Copies the account with this name, as it is now; there must be one. */
void world_account(const struct world *world, const char *name, struct account *account);

/* ---- calls ---- */

/* Returns "Bearer " and a management token of the account, which is valid for an hour. */
struct slice world_bearer(const struct world *world, struct arena *arena,
			  const struct account *account);
/* Returns a request of the account (NULL: without credentials), whose members the caller may
 * change. body may be NULL. */
struct request world_request(const struct world *world, struct arena *arena,
			     const struct account *account, enum method method, const char *path,
			     const char *body);
/* Does with a call what the edge does, until the response is sent, or the call asks a media
 * server. */
void world_answer(const struct world *world, struct call *call);
/* Answers a new call, whose arena is that of the world. */
struct call world_call(struct world *world, const struct request *request);
/* Returns the body of the response. */
const char *world_body(struct arena *arena, const struct call *call);

struct reply {
	int status;
	struct slice etag, retry_after; /* empty if there is none */
	const char *text; /* the body */
};

/* Makes a call with an arena of its own, as the service does. */
struct reply world_send(const struct world *world, struct arena *arena,
			const struct request *request);
struct reply world_ask(const struct world *world, struct arena *arena,
		       const struct account *account, enum method method, const char *path,
		       const char *body);
/* Begins a call without a request, which writes, as threads of the service do. */
void world_begin(struct world *world, const struct id *account, struct call *call);
/* Stores the call with what it has noted, and ends it. Returns the number of its transaction. */
uint64_t world_commit(struct call *call);
void world_abandon(struct call *call);

/* The following functions and world_account are for tests of Check. */

/* Makes a call of the world's account, fails the test if the status is another one, and returns the
 * body of the response. */
const char *world_expect(const struct world *world, int status, enum method method,
			 const char *path, const char *body);

/* Returns the text as JSON, which it must be. */
json_t *world_json(const struct world *world, const char *text);
/* Returns a member that is a text; there must be one. */
const char *world_member(const struct world *world, const char *text, const char *name);

#endif
