/* The driver for PostgreSQL, below the service: how many round trips calls take, and what happens
 * when a connection is cut at any byte, when the server is unavailable, and when two processes
 * share a store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_POSTGRES_RESPONDERS_H
#define TESTS_POSTGRES_RESPONDERS_H

#include <check.h>

#include "world.h"

/* The most connections of a responder to the database. */
#define CONNECTIONS 16

/* The directory of the relay, the URL of the database, and the URL over the relay. */
extern char *directory, *url, *relayed;

/* Two responders; the first one uses the relay. */
extern struct world one, two;

/* The responses of a test. */
extern struct arena *kept;

/* "a", whose calls are made. */
extern struct account account;

/* Opens a responder whose clock begins at this time; 0 for the system's clock. */
void open_responder(struct world *world, const char *store, int64_t begins);

/* The fixture: both responders, and the account "a". */
void set_up(void);
void tear_down(void);

/* ---- calls ---- */

/* Makes a call of the account. */
struct reply ask(const struct world *responder, enum method method, const char *path,
		 const char *body);

/* Returns a text of the response, in `kept`. */
const char *member_of(const struct reply *reply, const char *name);

/* Creates an object; returns its id. */
const char *make(const struct world *responder, const char *path, const char *body);

/* Milliseconds within which round trips are counted. */
#define FLIGHTS_WITHIN 5000

/* k is the ticket that was answered last; those that follow are set by `more_trips`. */
extern const char letters[19];

#define VALUES (sizeof letters - 1)

/* Returns the text with the values of the letters in it that follow a dollar sign. */
const char *filled_in(const char *text, const char *const values[VALUES]);

/* ---- connecting ---- */

/* Milliseconds without a response after which a connection counts as lost. */
#define LOST_AFTER 11000

/* ---- the server is unavailable ---- */

/* Starts a server only for this test, as a child of its process. */
void set_up_server(void);
void tear_down_server(void);

/* ---- the files of the suite ---- */

/* Each adds its tests to these cases. */
void add_trips(TCase *calls, TCase *routes_case);
void add_connections(TCase *calls, TCase *away);
void add_sharing(TCase *calls);
void add_log(TCase *calls);
void add_deaths(TCase *calls);

#endif
