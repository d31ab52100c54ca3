/* See database.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#ifdef HAVE_POSTGRESQL
#include <libpq-fe.h>
#endif
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "directory.h"
#include "resources/record_kind.h"
#include "store/postgres/store_postgres.h"

static char *programs; /* directory of PostgreSQL's programs */
static char *directory; /* parent of all directories made here */

/* The server and its standby, or the directory in which the next standby is made. */
static struct server {
	char *directory; /* contains the socket, and below it the data */
	pid_t process; /* -1 if it does not run */
} servers[2] = { { NULL, -1 }, { NULL, -1 } }, *server = &servers[0];

static char *joined(const char *first, const char *second)
{
	char *path;

	if (asprintf(&path, "%s/%s", first, second) < 0)
		abort();
	return path;
}

/* Finds the programs of the newest version. */
static bool find_programs(void)
{
	glob_t found;
	bool is_found = glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found) == 0;

	if (is_found) {
		programs = strdup(found.gl_pathv[found.gl_pathc - 1]);
		if (programs == NULL)
			abort();
		*strrchr(programs, '/') = '\0';
	}
	globfree(&found);
	return is_found;
}

static struct server *other(void)
{
	return server == &servers[0] ? &servers[1] : &servers[0];
}

static void forget(void)
{
	free(programs);
	free(directory);
	programs = directory = NULL;
	for (int i = 0; i < 2; i++) {
		free(servers[i].directory);
		servers[i] = (struct server){ NULL, -1 };
	}
}

/* The server refuses to run as root. */
static void become_ordinary(void)
{
	const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;

	if (nobody != NULL &&
	    (setgroups(0, NULL) != 0 || setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0))
		_exit(126);
}

/* Starts a program. The first of the arguments is set to the program's path, with which PostgreSQL
 * finds its other programs. */
static pid_t start(const char *name, char *arguments[])
{
	char *program = name[0] == '/' ? joined("", name + 1) : joined(programs, name);
	char *log = joined(directory, "log");
	const pid_t parent = getpid();
	pid_t child = fork();
	int file;

	if (child == 0) {
		arguments[0] = program;
		become_ordinary();
		prctl(PR_SET_PDEATHSIG, SIGQUIT);
		file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		if (getppid() != parent || chdir(directory) != 0 || file < 0 ||
		    dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
			_exit(125);
		execv(program, arguments);
		_exit(127);
	}
	free(log);
	free(program);
	if (child < 0)
		abort();
	return child;
}

static bool run(const char *name, char *arguments[])
{
	const pid_t child = start(name, arguments);
	int status = -1;

	return waitpid(child, &status, 0) == child && status == 0;
}

static char *base_url(void)
{
	char *url;

	if (asprintf(&url, "postgresql:///postgres?host=%s&user=postgres", server->directory) < 0)
		abort();
	return url;
}

/* Starts the server and returns when it accepts connections. */
static bool serve(struct server *started)
{
	char *data = joined(started->directory, "data");
	char *arguments[] = {
		"postgres",
		"-D",
		data,
		"-k",
		started->directory,
		"-c",
		"listen_addresses=",
		"-c",
		"fsync=off",
		"-c",
		"max_connections=200",
		"-c",
		"max_prepared_transactions=0",
		/* In the data directory, because a killed server would leave it in another place
		 * for ever. */
		"-c",
		"dynamic_shared_memory_type=mmap",
		NULL,
	};
	char *ready[] = { "pg_isready", "-q", "-h", started->directory, NULL };
	int status;

	started->process = start("postgres", arguments);
	free(data);
	while (!run("pg_isready", ready)) {
		if (waitpid(started->process, &status, WNOHANG) != 0) {
			started->process = -1;
			return false;
		}
		/* Polling without a pause would take processor time from the starting server. */
		(void)poll(NULL, 0, 10);
	}
	return true;
}

/* Makes the server's user the owner of a directory. */
static void give_away(const char *path)
{
	const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;

	if (geteuid() == 0 && (nobody == NULL || chown(path, nobody->pw_uid, nobody->pw_gid) != 0))
		abort();
}

static void make_place(const struct server *made)
{
	if (mkdir(made->directory, 0700) != 0)
		abort();
	give_away(made->directory);
}

/* Tests are not skipped if an installed server does not start. */
static void give_up(void)
{
	char *log = joined(directory, "log"), line[512];
	FILE *file = fopen(log, "re");

	fprintf(stderr, "PostgreSQL does not start:\n");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		fputs(line, stderr);
	if (file != NULL)
		(void)fclose(file);
	free(log);
	database_stop();
	exit(EXIT_FAILURE);
}

const char *database_start(void)
{
	struct fault fault = FAULT_INITIAL;
	struct store_postgres_version version;

	/* Belongs to a test program whose test starts another server. */
	forget();
	/* A build without the driver reports this before it reads the URL. */
	if (!store_postgres_renew("postgresql:///?bad=", NULL, &version, &fault) &&
	    strstr(fault.cause, "this build") != NULL)
		return "this build has no PostgreSQL";
	if (!find_programs())
		return "PostgreSQL is missing";
	directory = directory_make();
	server = &servers[0];
	give_away(directory);
	servers[0].directory = joined(directory, "1");
	servers[1].directory = joined(directory, "2");
	make_place(server);

	char *data = joined(server->directory, "data");
	char *arguments[] = { "initdb", "-D", data,   "-U",	   "postgres",	 "-A",
			      "trust",	"-E", "UTF8", "--no-sync", "--locale=C", NULL };
	bool is_made = run("initdb", arguments);

	free(data);
	if (!is_made || !serve(server))
		give_up();
	return NULL;
}

static void end(struct server *ended, int number)
{
	if (ended->process < 0)
		return;
	kill(ended->process, number);
	(void)waitpid(ended->process, NULL, 0);
	ended->process = -1;
}

void database_stop(void)
{
	/* The server first: it waits until its standby has everything. */
	end(server, SIGINT);
	end(other(), SIGINT);
	if (directory != NULL)
		directory_remove(directory);
	directory = NULL;
	forget();
}

void database_kill(void)
{
	/* The processes of the server exit when they notice that their parent has exited; on
	 * SIGQUIT the server tells them to exit immediately, as after a crash. */
	end(server, SIGQUIT);
}

void database_restart(void)
{
	if (!serve(server))
		abort();
}

#ifdef HAVE_POSTGRESQL
static void log_nothing(void *nothing, const char *message)
{
	(void)nothing;
	(void)message;
}

/* Not by psql: some tests have so many memory mappings that a fork costs more than what is
 * executed. */
bool database_execute(const char *url, const char *sql)
{
	PGconn *connection = PQconnectdb(url);
	PGresult *result;
	ExecStatusType status;

	(void)PQsetNoticeProcessor(connection, log_nothing, NULL);
	result = PQexec(connection, sql);
	status = PQresultStatus(result);
	PQclear(result);
	PQfinish(connection);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}
#else
bool database_execute(const char *url, const char *sql)
{
	(void)url;
	(void)sql;
	return false;
}
#endif

/* ---- a pooler ---- */

#define POOLER "/usr/sbin/pgbouncer"

static pid_t pooler = -1;

/* Returns when the pooler responds. */
static void await_pooler(char *place)
{
	char *ready[] = { "pg_isready", "-q", "-h", place, NULL };

	while (!run("pg_isready", ready)) {
		if (waitpid(pooler, NULL, WNOHANG) != 0)
			give_up();
		(void)poll(NULL, 0, 10);
	}
}

char *database_start_pooler(const char *mode)
{
	char *place = joined(directory, "pooler"), *settings = joined(place, "settings");
	char *arguments[] = { "pgbouncer", settings, NULL };
	FILE *file;

	if (access(POOLER, X_OK) != 0) {
		free(settings);
		free(place);
		return NULL;
	}
	if (mkdir(place, 0700) != 0 && errno != EEXIST)
		abort();
	file = fopen(settings, "we");
	if (file == NULL ||
	    fprintf(file,
		    "[databases]\npostgres = host=%s user=postgres\n[pgbouncer]\n"
		    "listen_addr =\nlisten_port = 5432\nunix_socket_dir = %s\nauth_type = any\n"
		    "ignore_startup_parameters = options\npool_mode = %s\n",
		    server->directory, place, mode) < 0 ||
	    fclose(file) != 0)
		abort();
	give_away(place);
	give_away(settings);
	pooler = start(POOLER, arguments);
	await_pooler(place);
	free(settings);
	return place;
}

void database_stop_pooler(void)
{
	if (pooler < 0)
		return;
	kill(pooler, SIGTERM);
	(void)waitpid(pooler, NULL, 0);
	pooler = -1;
}

/* ---- a standby ---- */

static void must_run(const char *name, char *arguments[])
{
	if (run(name, arguments))
		return;
	(void)fprintf(stderr, "%s failed; see %s/log\n", name, directory);
	abort();
}

/* Returns when the standby confirms commits. */
static void await_standby(void)
{
	char *url = base_url();

	while (!database_execute(url, "SELECT 1 / count(*) FROM pg_stat_replication"
				      " WHERE sync_state = 'sync'")) {
		if (waitpid(other()->process, NULL, WNOHANG) != 0)
			abort();
		(void)poll(NULL, 0, 10);
	}
	free(url);
}

void database_add_standby(void)
{
	struct server *standby = other();
	char *url = base_url(), *data;

	make_place(standby);
	data = joined(standby->directory, "data");

	char *arguments[] = {
		"pg_basebackup",
		"-h",
		server->directory,
		"-U",
		"postgres",
		"-D",
		data,
		"-R",
		"-X",
		"stream",
		"-c",
		"fast",
		"--no-sync",
		NULL,
	};

	must_run("pg_basebackup", arguments);
	if (!serve(standby) ||
	    !database_execute(url, "ALTER SYSTEM SET synchronous_standby_names = '*'") ||
	    !database_execute(url, "SELECT pg_reload_conf()"))
		abort();
	await_standby();
	free(data);
	free(url);
}

/* Removes the shared memory of a server that was killed and could not remove it: the seventh line
 * of its file has the key and the ID. */
static void remove_shared_memory(const struct server *killed)
{
	char *path = joined(killed->directory, "data/postmaster.pid"), line[256] = "", *id;
	FILE *file = fopen(path, "r");

	for (int i = 0; i < 7 && file != NULL; i++)
		if (fgets(line, sizeof line, file) == NULL)
			abort();
	(void)strtoul(line, &id, 10);
	if (file == NULL || shmctl((int)strtol(id, NULL, 10), IPC_RMID, NULL) != 0)
		abort();
	(void)fclose(file);
	free(path);
}

/* Kills the children of a stopped process. */
static void kill_children(pid_t parent)
{
	char path[64], word[16];
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
	file = fopen(path, "r");
	if (file == NULL)
		abort();
	while (fscanf(file, "%15s", word) == 1)
		kill((pid_t)strtol(word, NULL, 10), SIGKILL);
	(void)fclose(file);
}

void database_fail_over(void)
{
	struct server *killed = server;
	char *data;

	server = other();
	data = joined(server->directory, "data");

	char *arguments[] = { "pg_ctl", "promote", "-w", "-s", "-D", data, NULL };

	kill(killed->process, SIGSTOP);
	kill_children(killed->process);
	end(killed, SIGKILL);
	remove_shared_memory(killed);
	directory_remove(joined(killed->directory, ""));
	must_run("pg_ctl", arguments);
	free(data);
}

const char *database_host(void)
{
	return server->directory;
}

char *database_url_of_both(const char *url)
{
	char *hosts, *over;

	if (asprintf(&hosts, "%s,%s", server->directory, other()->directory) < 0)
		abort();
	over = database_url_over(url, hosts);
	free(hosts);
	return over;
}

char *database_url_over(const char *url, const char *host)
{
	const char *place = strstr(url, server->directory);
	char *over;

	if (place == NULL || asprintf(&over, "%.*s%s%s", (int)(place - url), url, host,
				      place + strlen(server->directory)) < 0)
		abort();
	return over;
}

char *database_empty(void)
{
	static unsigned count;
	char *base = base_url(), *url, sql[64];

	/* Each test runs in its own process and starts counting at the same number. */
	(void)snprintf(sql, sizeof sql, "CREATE SCHEMA t%ld_%u", (long)getpid(), ++count);
	if (!database_execute(base, sql) ||
	    asprintf(&url, "%s&options=-csearch_path%%3Dt%ld_%u", base, (long)getpid(), count) < 0)
		abort();
	free(base);
	return url;
}

char *database_store(void)
{
	char *url = database_empty();
	struct fault fault = FAULT_INITIAL;
	bool was_made = false;

	if (!store_postgres_create(url, &record_form, &was_made, &fault) || !was_made) {
		(void)fprintf(stderr, "%s\n", fault.cause);
		abort();
	}
	return url;
}
