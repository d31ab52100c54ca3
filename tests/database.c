/* See database.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "database.h"

#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "directory.h"
#include "store/postgres/store_postgres.h"

static char *programs; /* the directory of PostgreSQL's programs */
static char *directory;
static pid_t server = -1;

static char *joined(const char *first, const char *second)
{
	char *path;

	if (asprintf(&path, "%s/%s", first, second) < 0)
		abort();
	return path;
}

/* The newest version's. */
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

/* The server refuses to be root's. */
static void become_ordinary(void)
{
	const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;

	if (nobody != NULL &&
	    (setgroups(0, NULL) != 0 || setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0))
		_exit(126);
}

static pid_t start(const char *name, char *const arguments[])
{
	char *program = joined(programs, name), *log = joined(directory, "log");
	const pid_t parent = getpid();
	pid_t child = fork();
	int file;

	if (child == 0) {
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

static bool run(const char *name, char *const arguments[])
{
	const pid_t child = start(name, arguments);
	int status = -1;

	return waitpid(child, &status, 0) == child && status == 0;
}

static char *base_url(void)
{
	char *url;

	if (asprintf(&url, "postgresql:///postgres?host=%s&user=postgres", directory) < 0)
		abort();
	return url;
}

/* Comes back when the server answers. */
static bool serve(void)
{
	char *data = joined(directory, "data");
	char *arguments[] = {
		"postgres",
		"-D",
		data,
		"-k",
		directory,
		"-c",
		"listen_addresses=",
		"-c",
		"fsync=off",
		"-c",
		"max_connections=200",
		"-c",
		"max_prepared_transactions=0",
		NULL,
	};
	char *ready[] = { "pg_isready", "-q", "-h", directory, NULL };
	int status;

	server = start("postgres", arguments);
	free(data);
	while (!run("pg_isready", ready)) {
		if (waitpid(server, &status, WNOHANG) != 0)
			return false;
	}
	return true;
}

const char *database_start(void)
{
	const struct passwd *nobody = getpwnam("nobody");
	struct fault fault = FAULT_INITIAL;
	int version;

	/* Of a test program whose test starts a server of its own. */
	free(programs);
	free(directory);
	programs = directory = NULL;
	/* A build without the driver says so before it looks at the URL. */
	if (!store_postgres_upgrade("postgresql:///?bad=", &version, &fault) &&
	    strstr(fault.cause, "this build") != NULL)
		return "this build has no PostgreSQL";
	if (!find_programs())
		return "PostgreSQL is missing";
	directory = directory_make();
	if (geteuid() == 0 &&
	    (nobody == NULL || chown(directory, nobody->pw_uid, nobody->pw_gid) != 0))
		abort();

	char *data = joined(directory, "data");
	char *arguments[] = { "initdb", "-D", data,   "-U",	   "postgres",	 "-A",
			      "trust",	"-E", "UTF8", "--no-sync", "--locale=C", NULL };
	bool is_made = run("initdb", arguments);

	free(data);
	if (!is_made || !serve()) {
		database_stop();
		return "the server does not start";
	}
	return NULL;
}

static void end(int number)
{
	if (server < 0)
		return;
	kill(server, number);
	(void)waitpid(server, NULL, 0);
	server = -1;
}

void database_stop(void)
{
	end(SIGINT);
	directory_remove(directory);
	free(programs);
	programs = directory = NULL;
}

void database_kill(void)
{
	/* The processes of the server end when they notice that their parent is gone; with SIGQUIT
	 * it tells them to end at once, as after a crash. */
	end(SIGQUIT);
}

void database_restart(void)
{
	if (!serve())
		abort();
}

bool database_execute(const char *url, const char *sql)
{
	char *arguments[] = { "psql", "-qX",
			      "-v",   "ON_ERROR_STOP=1",
			      "-d",   (char *)(size_t)url,
			      "-c",   (char *)(size_t)sql,
			      NULL };

	return run("psql", arguments);
}

const char *database_host(void)
{
	return directory;
}

char *database_url_over(const char *url, const char *host)
{
	const char *place = strstr(url, directory);
	char *over;

	if (place == NULL || asprintf(&over, "%.*s%s%s", (int)(place - url), url, host,
				      place + strlen(directory)) < 0)
		abort();
	return over;
}

char *database_empty(void)
{
	static unsigned count;
	char *base = base_url(), *url, sql[64];

	/* A test is a process of its own, and counts from the same number on. */
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

	if (!store_postgres_create(url, &was_made, &fault) || !was_made) {
		(void)fprintf(stderr, "%s\n", fault.cause);
		abort();
	}
	return url;
}
