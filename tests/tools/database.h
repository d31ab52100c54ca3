/* A PostgreSQL server for one test program, in a directory of its own, only on a Unix socket, run
 * by `nobody` if the user is root; and a standby if needed. Both stop with the program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_DATABASE_H
#define TESTS_DATABASE_H

#include <stdbool.h>

/* Starts the server. Returns NULL, or the reason if there can be none: PostgreSQL, or our driver
 * for it, is missing. Ends the program, with the server's log, if PostgreSQL is installed and does
 * not start. */
const char *database_start(void);
void database_stop(void);

/* Kills the server with all its processes, and starts it again on the same data. */
void database_kill(void);
void database_restart(void);

/* Makes a standby of the server. From its return on, each commit waits for the standby. */
void database_add_standby(void);
/* Kills all processes of the server at once with SIGKILL, as if its machine failed. The standby
 * becomes the server; commits wait for a new standby. */
void database_fail_over(void);

/* Returns the URL of a new schema, with an empty store in it or, with database_empty, without
 * tables. The caller frees the URL. */
char *database_store(void);
char *database_empty(void);

/* Returns the same URL with the hosts of the server and its standby, of which libpq uses the one
 * that accepts writes. The caller frees it. */
char *database_url_of_both(const char *url);
/* Returns the same URL with another host for libpq: a relay. The caller frees it. */
char *database_url_over(const char *url, const char *host);
/* Starts PgBouncer in front of the server, with this pool_mode. Returns the directory of its
 * socket, for database_url_over, or NULL if PgBouncer is not installed. The caller stops PgBouncer
 * and frees the directory. */
char *database_start_pooler(const char *mode);
void database_stop_pooler(void);
/* Returns the directory of the server's socket. */
const char *database_host(void);

/* Executes SQL in the schema of the URL. Returns false if it fails. */
bool database_execute(const char *url, const char *sql);

#endif
