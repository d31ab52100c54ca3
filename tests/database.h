/* A PostgreSQL server for one test program: in a directory of its own, on a unix socket alone, as
 * nobody for root, and a standby where it is wanted. They end with the program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_DATABASE_H
#define TESTS_DATABASE_H

#include <stdbool.h>

/* Starts the server. NULL, or why there can be none: PostgreSQL, or our driver for it, is missing.
 * Ends the program, with the server's log, when PostgreSQL is there and does not start. */
const char *database_start(void);
void database_stop(void);

/* Kills the server, with all its processes; starts it again on the same data. */
void database_kill(void);
void database_restart(void);

/* Makes a standby of the server; when it returns, each commit waits for the standby. */
void database_add_standby(void);
/* Kills the server, as when its machine is gone: all its processes at once, with SIGKILL. The
 * standby becomes the server; commits wait for a new standby. */
void database_fail_over(void);

/* The URL of a schema of its own, with an empty store in it, or without tables. The caller frees
 * it. */
char *database_store(void);
char *database_empty(void);

/* The same URL with the hosts of the server and of its standby, of which libpq is to take the one
 * that can be written. The caller frees it. */
char *database_url_of_both(const char *url);
/* The same URL over another host of libpq: a relay. The caller frees it. */
char *database_url_over(const char *url, const char *host);
/* Starts PgBouncer before the server, with this pool_mode; NULL: it is missing. The directory of
 * its socket, for database_url_over; the caller stops it, and frees that. */
char *database_start_pooler(const char *mode);
void database_stop_pooler(void);
/* The directory of the server's socket. */
const char *database_host(void);

/* Executes SQL in the schema of the URL; false: that failed. */
bool database_execute(const char *url, const char *sql);

#endif
