/* Process attributes and directories, with error messages.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* The leak checker of a sanitized build attaches to the process when it ends, which requires
 * this. */
#if defined(__SANITIZE_ADDRESS__)
#define MAY_BE_DUMPED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAY_BE_DUMPED 1
#endif
#endif
#ifndef MAY_BE_DUMPED
#define MAY_BE_DUMPED 0
#endif

bool process_find_user(const char *name, struct identity *identity, struct fault *fault)
{
	const struct passwd *found;

	errno = 0;
	found = getpwnam(name);
	if (found == NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "unknown user \"%s\"", name);
	*identity = (struct identity){ .user = found->pw_uid, .group = found->pw_gid };
	return true;
}

bool process_find_group(const char *name, gid_t *group, struct fault *fault)
{
	const struct group *found;

	errno = 0;
	found = getgrnam(name);
	if (found == NULL)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno, "unknown group \"%s\"", name);
	*group = found->gr_gid;
	return true;
}

const char *process_user_name(uid_t user, char name[PROCESS_NAME_SIZE])
{
	const int error = errno;
	const struct passwd *found = getpwuid(user);

	if (found == NULL)
		(void)snprintf(name, PROCESS_NAME_SIZE, "user %ld", (long)user);
	else
		(void)snprintf(name, PROCESS_NAME_SIZE, "%s", found->pw_name);
	errno = error;
	return name;
}

bool process_become(const struct identity *identity, struct fault *fault)
{
	if (setgroups(1, &identity->group) != 0 ||
	    setresgid(identity->group, identity->group, identity->group) != 0 ||
	    setresuid(identity->user, identity->user, identity->user) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot drop root privileges");
	if (identity->user != 0 && (setuid(0) == 0 || geteuid() == 0 || getuid() == 0))
		return fault_cause(fault, FAULT_UNAVAILABLE, 0,
				   "root privileges could be regained after dropping them");
	/* On some systems, changing the user enables core dumps again. */
	return process_forbid_core() ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot disable core dumps");
}

bool process_forbid_core(void)
{
	return prctl(PR_SET_DUMPABLE, MAY_BE_DUMPED, 0, 0, 0) == 0;
}

bool process_harden(struct fault *fault)
{
	struct rlimit limit;
	bool is_raised;

	umask(077);
	/* Each connection needs a descriptor; the soft limit is often 1,024, because of
	 * select(2). */
	is_raised = getrlimit(RLIMIT_NOFILE, &limit) == 0;
	if (is_raised) {
		limit.rlim_cur = limit.rlim_max;
		is_raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
	}
	if (!is_raised)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno,
				   "cannot raise the limit of open files");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !process_forbid_core())
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot harden the process");
	return true;
}

/* Bytes of freed memory that the heap of a thread keeps. */
#define KEPT_MOST (4 << 20)

#if defined(__GLIBC__)
void process_keep_memory(void)
{
	/* Setting one of them stops glibc from adapting the other, so both are set. */
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_MOST);
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_MOST / 2);
	/* glibc reads the number of processors from a file when it creates its second heap with
	 * this setting, and not its ninth: at the start, when it can still open all files. */
	(void)mallopt(M_ARENA_TEST, 1);
}
#else
void process_keep_memory(void)
{
}
#endif

/* More than a heap keeps, in pieces that come from the heap. */
#define PIECE ((size_t)64 << 10)
#define PIECES (2 * KEPT_MOST / PIECE)

/* Allocates from the thread's own heap, and frees enough to make it shrink. */
static void *take_and_give_back(void *argument)
{
	void *volatile pieces[PIECES];

	(void)argument;
	for (size_t i = 0; i < PIECES; i++)
		pieces[i] = malloc(PIECE);
	for (size_t i = PIECES; i > 0; i--)
		free(pieces[i - 1]);
	return NULL;
}

bool process_try_memory(struct fault *fault)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, take_and_give_back, NULL);

	if (error != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, error, "cannot start a thread");
	pthread_join(thread, NULL);
	return true;
}

bool process_make_directory(const char *path, const struct identity *owner, bool *was_made,
			    struct fault *fault)
{
	char parent[PATH_MAX];
	bool is_given = true;
	int directory, error;
	struct stat made;
	mode_t former;

	/* The mode does not depend on the umask. */
	former = umask(077);
	*was_made = mkdir(path, 0700) == 0;
	error = errno;
	umask(former);
	if (!*was_made && error == EEXIST)
		return true;
	if (!*was_made)
		return fault_cause(fault, FAULT_UNAVAILABLE, error,
				   "cannot create the directory %s", path);
	if (owner != NULL) {
		/* Only of the directory that we created, not of a replacement by another user. */
		directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		is_given = directory >= 0 && fstat(directory, &made) == 0 &&
			   made.st_uid == geteuid() &&
			   fchown(directory, owner->user, owner->group) == 0;
		error = errno;
		if (directory >= 0)
			close(directory);
	}
	if (!is_given)
		return fault_cause(fault, FAULT_UNAVAILABLE, error,
				   "cannot change the owner of the directory %s", path);
	/* The directory is durable only once its entry in the parent is. */
	directory_of(path, parent);
	return directory_sync(parent) ||
	       fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot sync %s", parent);
}

bool process_check_directory(const char *path, bool is_written, const char *remedy,
			     struct fault *fault)
{
	char user[PROCESS_NAME_SIZE], owner[PROCESS_NAME_SIZE];
	/* "use sudo: Permission denied" would read badly. */
	const int error = remedy[0] == '\0' ? EACCES : 0;
	struct stat there;

	process_user_name(geteuid(), user);
	if (stat(path, &there) != 0 && errno == EACCES)
		return fault_cause(fault, FAULT_BAD_REQUEST, error,
				   "%s cannot reach the data directory %s%s", user, path, remedy);
	if (stat(path, &there) != 0)
		return fault_cause(
			fault, FAULT_BAD_REQUEST, errno,
			"the data directory %s does not exist; account add and store create "
			"create it if its parent directory exists",
			path);
	if (!S_ISDIR(there.st_mode))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0, "%s is not a directory", path);
	if (access(path, is_written ? R_OK | W_OK | X_OK : R_OK | X_OK) == 0)
		return true;
	if (errno == EACCES || errno == EPERM)
		return fault_cause(fault, FAULT_UNAVAILABLE, error,
				   "%s cannot use the data directory %s: it belongs to %s%s", user,
				   path, process_user_name(there.st_uid, owner), remedy);
	return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot use the data directory %s",
			   path);
}
