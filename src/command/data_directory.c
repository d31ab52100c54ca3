/* See command/data_directory.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/data_directory.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accounts/accounts_file.h"
#include "base/directory.h"
#include "resources/record_kind.h"
#include "store/gdbm/store_gdbm.h"
#include "store/postgres/store_postgres.h"

/* Milliseconds to wait for another process that is creating the same store. */
#define WAIT_FOR_ANOTHER 10000

bool data_directory_check(const char *path, bool is_written, struct identity *owner,
			  struct fault *fault)
{
	struct stat there;

	if (store_postgres_is_url(path)) {
		*owner = (struct identity){ .user = 0 };
		return true;
	}
	if (!process_check_directory(path, is_written, geteuid() == 0 ? "" : "; use sudo", fault))
		return false;
	if (stat(path, &there) != 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno,
				   "cannot use the data directory %s", path);
	*owner = (struct identity){ .user = there.st_uid, .group = there.st_gid };
	return true;
}

bool data_directory_is_empty(const char *path, bool *is_empty, struct fault *fault)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int names = 0;

	if (directory == NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot use %s", path);
	while (names == 0 && (entry = readdir(directory)) != NULL)
		names += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			 strcmp(entry->d_name, "lost+found") != 0;
	closedir(directory);
	*is_empty = names == 0;
	return true;
}

bool data_directory_is_one(const char *path, struct fault *fault)
{
	return !store_postgres_is_url(path) ||
	       fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "%s is a database, and this command works on data directories; copy and "
			   "restore a database with its own tools, or use dump and load",
			   path);
}

bool data_directory_is_ours(const char *path, struct fault *fault)
{
	char *accounts = accounts_file_path(path, ACCOUNTS_FILE);
	char *store = data_directory_store(path);
	bool is_ours = access(accounts, F_OK) == 0 || access(store, F_OK) == 0;

	free(store);
	free(accounts);
	if (store_postgres_is_url(path))
		return true;
	if (!is_ours && !data_directory_is_empty(path, &is_ours, fault))
		return false;
	return is_ours ||
	       fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "%s contains files that are not Anteroom's; choose another directory",
			   path);
}

bool data_directory_is_apart(const char *directory, const char *path, struct fault *fault)
{
	char real[PATH_MAX], parent[PATH_MAX], real_path[PATH_MAX];
	size_t size;

	directory_of(path, parent);
	/* A path that cannot be resolved cannot be used either; the caller reports that. */
	if (realpath(directory, real) == NULL ||
	    (realpath(path, real_path) == NULL && realpath(parent, real_path) == NULL))
		return true;
	size = strlen(real);
	if (strncmp(real_path, real, size) != 0 ||
	    (real_path[size] != '\0' && real_path[size] != '/' && strcmp(real, "/") != 0))
		return true;
	return fault_cause(fault, FAULT_BAD_REQUEST, 0,
			   "%s is inside the data directory %s; choose a directory outside it",
			   path, directory);
}

bool data_directory_become(const struct identity *owner, struct fault *fault)
{
	if (geteuid() != 0 || owner->user == 0)
		return true;
	return process_become(owner, fault);
}

void data_directory_warn(const struct command *command, const char *path)
{
	char *accounts = accounts_file_path(path, ACCOUNTS_FILE);
	mode_t mode;

	if (!store_postgres_is_url(path) && accounts_file_is_for_others(accounts, &mode))
		command_remark(
			command,
			"%s has mode %04o, so other users can read the secrets in it; run: chmod "
			"600 %s",
			accounts, (unsigned)mode, accounts);
	if (!store_postgres_is_url(path) && accounts_directory_is_for_others(path, &mode))
		command_remark(
			command,
			"%s has mode %04o, so other users can replace the accounts in it; run: "
			"chmod go-w %s",
			path, (unsigned)mode, path);
	free(accounts);
}

char *data_directory_store(const char *path)
{
	return accounts_file_path(path, "store");
}

bool data_directory_check_form(const char *path, bool may_be_earlier, struct fault *fault)
{
	const bool is_database = store_postgres_is_url(path);
	char *store = data_directory_store(path);
	unsigned number;
	const bool is_right =
		is_database ? store_postgres_check_form(path, &record_form, &number, fault)
			    : store_gdbm_check_form(store, &record_form, &number, fault);

	free(store);
	return is_right &&
	       (may_be_earlier || number == record_form.number() ||
		fault_cause(fault, FAULT_UNAVAILABLE, 0,
			    "the data in %s was written by an earlier version of Anteroom; convert "
			    "it with: anteroom store upgrade",
			    is_database ? "the database" : path));
}

static bool no_store(const char *path, struct fault *fault)
{
	return fault_cause(
		fault, FAULT_BAD_REQUEST, 0,
		"the data directory %s has no store; if it had one, check that its volume is "
		"mounted or restore a backup; create an empty store with: anteroom store create "
		"DIR",
		path);
}

static bool find_store(const char *path, bool *is_there, struct fault *fault)
{
	char *store = data_directory_store(path);
	char name[PROCESS_NAME_SIZE];
	struct stat status;
	bool is_found;

	if (stat(store, &status) == 0)
		is_found = store_gdbm_find(store, is_there, fault);
	else
		is_found = errno == ENOENT ||
			   fault_cause(fault, FAULT_BAD_REQUEST, errno, "%s cannot reach %s",
				       process_user_name(geteuid(), name), store);
	free(store);
	return is_found;
}

bool data_directory_has_store(const char *path, struct fault *fault)
{
	bool is_there = false;

	if (store_postgres_is_url(path))
		return true;
	return find_store(path, &is_there, fault) && (is_there || no_store(path, fault));
}

static bool make_store(const char *path, struct fault *fault)
{
	struct store_options options = {
		.readers = 1,
		.wait = WAIT_FOR_ANOTHER,
		.creates = true,
		.form = &record_form,
	};
	char name[PROCESS_NAME_SIZE], *directory;
	struct store *store = NULL;
	struct identity owner;
	bool is_made;
	mode_t mask;

	if (!data_directory_check(path, false, &owner, fault) ||
	    !data_directory_become(&owner, fault))
		return false;
	if (geteuid() != owner.user)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "only %s, the owner of %s, can create its store; use sudo",
				   process_user_name(owner.user, name), path);
	options.directory = directory = data_directory_store(path);
	/* The mode must not depend on the umask. If two processes run this at the same time, the
	 * second waits and finds the store. */
	mask = umask(077);
	is_made = store_gdbm_open(&options, &store, fault);
	store_close(store);
	umask(mask);
	free(directory);
	return is_made;
}

bool data_directory_create_store(const char *path, struct fault *fault)
{
	bool is_there = false;

	if (!find_store(path, &is_there, fault))
		return false;
	if (is_there)
		return fault_cause(fault, FAULT_CONFLICT, 0,
				   "the data directory %s already has a store", path);
	return make_store(path, fault);
}

bool data_directory_prepare(const char *path, bool *was_made, struct fault *fault)
{
	/* Looked at before the store, because a process that creates both creates the accounts
	 * last. */
	char *accounts = accounts_file_path(path, ACCOUNTS_FILE);
	const bool is_new = accounts_file_mark(accounts).error == ENOENT;
	bool is_there = false;

	free(accounts);
	*was_made = false;
	if (store_postgres_is_url(path))
		return true;
	if (!find_store(path, &is_there, fault))
		return false;
	if (is_there)
		return true;
	if (!is_new)
		return no_store(path, fault);
	*was_made = make_store(path, fault);
	return *was_made;
}

bool data_directory_open_store(const char *path, struct store_options options, struct store **store,
			       struct fault *fault)
{
	const struct store_postgres_options database = {
		.url = path,
		.connections = 2,
		.is_patient = true,
		.is_read_only = options.is_read_only,
		.form = &record_form,
	};
	char *directory;
	bool is_open;

	if (store_postgres_is_url(path))
		return store_postgres_open(&database, store, fault);
	directory = data_directory_store(path);
	options.directory = directory;
	options.readers = 1;
	options.form = &record_form;
	is_open = data_directory_has_store(path, fault) && store_gdbm_open(&options, store, fault);
	free(directory);
	return is_open;
}
