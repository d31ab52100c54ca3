/* See command/replacement.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "accounts/accounts_file.h"
#include "base/directory.h"
#include "command/data_directory.h"
#include "store/gdbm/store_gdbm.h"

/* How many names are tried for a new directory. */
#define NAMES 100

/* ---- surveys ---- */

/* Resolves links and removes trailing slashes. The directory itself may be missing. */
static bool resolve_path(const char *path, char resolved[PATH_MAX], struct fault *fault)
{
	char parent[PATH_MAX], real_parent[PATH_MAX];
	const char *end = path + strlen(path);
	const char *name;

	if (realpath(path, resolved) != NULL)
		return true;
	if (errno != ENOENT)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot use %s", path);
	directory_of(path, parent);
	while (end > path && end[-1] == '/')
		end--;
	name = end;
	while (name > path && name[-1] != '/')
		name--;
	if (realpath(parent, real_parent) == NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno,
				   "cannot use %s: its parent directory %s", path, parent);
	if (snprintf(resolved, PATH_MAX, "%s/%.*s",
		     strcmp(real_parent, "/") == 0 ? "" : real_parent, (int)(end - name),
		     name) >= PATH_MAX)
		return fault_cause(fault, FAULT_BAD_REQUEST, ENAMETOOLONG, "cannot use %s", path);
	return true;
}

static bool refuse_mounted(const char *path, struct fault *fault)
{
	return fault_cause(
		fault, FAULT_BAD_REQUEST, 0,
		"%s is a mount point and cannot be renamed; use a directory below it, and point "
		"the service to that",
		path);
}

static bool check_present(struct replacement *replacement, const struct stat *status, bool replaces,
			  struct fault *fault)
{
	const char *path = replacement->path;
	char name[PROCESS_NAME_SIZE], parent[PATH_MAX];
	struct stat above;

	if (!S_ISDIR(status->st_mode))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "%s is not a directory", path);
	if (geteuid() != 0 && geteuid() != status->st_uid)
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "%s belongs to %s, but its replacement would not; use sudo",
				   path, process_user_name(status->st_uid, name));
	directory_of(path, parent);
	if (stat(parent, &above) == 0 && above.st_dev != status->st_dev)
		return refuse_mounted(path, fault);
	if (!data_directory_is_empty(path, &replacement->is_empty, fault))
		return false;
	if (replacement->is_empty)
		return true;
	if (!data_directory_is_ours(path, fault))
		return false;
	if (!replaces)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, 0,
			"%s contains data; choose another directory, or use --replace, which "
			"keeps the old data next to it under another name",
			path);
	return true;
}

bool replacement_begin(struct replacement *replacement, const char *path, bool replaces,
		       struct fault *fault)
{
	bool is_there, is_locked;
	struct stat status;
	char *store;

	*replacement = (struct replacement){
		.is_empty = true,
		.owner = { .user = geteuid(), .group = getegid() },
		.mode = 0700,
		.store_lock = -1,
		.accounts_lock = -1,
	};
	if (!resolve_path(path, replacement->path, fault))
		return false;
	if (stat(replacement->path, &status) != 0)
		return errno == ENOENT || fault_cause(fault, FAULT_BAD_REQUEST, errno,
						      "cannot use %s", replacement->path);
	replacement->is_there = true;
	replacement->owner = (struct identity){ .user = status.st_uid, .group = status.st_gid };
	replacement->mode = status.st_mode & 07777;
	if (!check_present(replacement, &status, replaces, fault))
		return false;
	if (replacement->is_empty)
		return true;

	store = data_directory_store(replacement->path);
	is_there = access(store, F_OK) == 0;
	is_locked = !is_there || store_gdbm_lock(store, &replacement->store_lock, fault);
	free(store);
	if (is_locked && replacement->store_lock >= 0 && geteuid() == 0 &&
	    fchown(replacement->store_lock, replacement->owner.user, replacement->owner.group) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot lock %s",
				   replacement->path);
	return is_locked &&
	       accounts_file_lock(replacement->path, &replacement->accounts_lock, fault);
}

/* ---- the new contents ---- */

bool replacement_stage(struct replacement *replacement, const struct identity *owner,
		       struct fault *fault)
{
	bool was_made = false;
	size_t size = 0;

	for (unsigned i = 0; !was_made && i < NAMES; i++) {
		size = (size_t)snprintf(replacement->staged, sizeof replacement->staged,
					"%s.new-%ld-%u", replacement->path, (long)getpid(), i);
		if (size >= sizeof replacement->staged)
			break;
		if (!process_make_directory(replacement->staged, owner, &was_made, fault)) {
			replacement->staged[0] = '\0';
			return false;
		}
	}
	if (was_made)
		return true;
	replacement->staged[0] = '\0';
	return fault_cause(fault, FAULT_UNAVAILABLE,
			   size >= sizeof replacement->staged ? ENAMETOOLONG : EEXIST,
			   "cannot create a directory next to %s", replacement->path);
}

/* Global, because nftw passes no context. */
static struct identity new_owner;

static int give_to_owner(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	int file, result = 0;

	(void)kind;
	(void)place;
	if (status->st_uid == new_owner.user && status->st_gid == new_owner.group)
		return 0;
	file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return errno;
	if (fchown(file, new_owner.user, new_owner.group) != 0 || fsync(file) != 0)
		result = errno;
	close(file);
	return result;
}

/* ---- the swap ---- */

/* Chooses a name that is not used; the time in it is for people. */
static void name_former(struct replacement *replacement)
{
	char stamp[32];
	time_t now = time(NULL);
	struct tm parts;
	size_t size = 0;

	(void)strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &parts));
	for (unsigned i = 0; i < NAMES; i++) {
		char number[16] = "";

		if (i > 0)
			(void)snprintf(number, sizeof number, ".%u", i);
		size = (size_t)snprintf(replacement->former, sizeof replacement->former,
					"%s.before-%s%s", replacement->path, stamp, number);
		if (size < sizeof replacement->former && access(replacement->former, F_OK) != 0)
			return;
	}
}

/* If the file system cannot exchange two names, there is a moment without a directory. */
static bool exchange_directories(struct replacement *replacement)
{
	int error;

	if (syscall(SYS_renameat2, AT_FDCWD, replacement->staged, AT_FDCWD, replacement->path,
		    RENAME_EXCHANGE) == 0) {
		if (rename(replacement->staged, replacement->former) != 0)
			memcpy(replacement->former, replacement->staged,
			       sizeof replacement->former);
		return true;
	}
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return false;
	if (rename(replacement->path, replacement->former) != 0)
		return false;
	if (rename(replacement->staged, replacement->path) == 0)
		return true;
	error = errno;
	(void)rename(replacement->former, replacement->path);
	errno = error;
	return false;
}

bool replacement_finish(struct replacement *replacement, struct fault *fault)
{
	char parent[PATH_MAX];
	bool is_swapped;
	int error;

	/* Works from the leaves up: no other user can reach them until the directory itself is
	 * given. */
	new_owner = replacement->owner;
	error = nftw(replacement->staged, give_to_owner, 8, FTW_DEPTH | FTW_PHYS);
	if (error != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot change the owner of %s",
				   replacement->staged);
	if (chmod(replacement->staged, replacement->mode) != 0 ||
	    !directory_sync(replacement->staged))
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot set the mode of %s",
				   replacement->staged);

	if (!replacement->is_empty)
		name_former(replacement);
	is_swapped = replacement->is_empty ? rename(replacement->staged, replacement->path) == 0
					   : exchange_directories(replacement);
	if (!is_swapped && errno == EBUSY)
		return refuse_mounted(replacement->path, fault);
	if (!is_swapped)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot replace %s",
				   replacement->path);
	replacement->staged[0] = '\0';
	directory_of(replacement->path, parent);
	return directory_sync(parent) ||
	       fault_cause(
		       fault, FAULT_UNAVAILABLE, errno,
		       "%s was replaced, but a power failure could still undo it: cannot sync %s",
		       replacement->path, parent);
}

void replacement_report(const struct replacement *replacement)
{
	if (replacement->former[0] != '\0')
		fprintf(stderr,
			"The previous contents are in %s. Remove them when you no longer need "
			"them.\n",
			replacement->former);
}

void replacement_end(struct replacement *replacement)
{
	if (replacement->accounts_lock >= 0)
		close(replacement->accounts_lock);
	if (replacement->store_lock >= 0)
		close(replacement->store_lock);
}
