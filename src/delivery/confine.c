/* See delivery/confine.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sockets for deliveries and for DNS lookups, and descriptors that libraries open. */
#define DESCRIPTORS_MOST 512

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* The part of READING that a rule for a single file may have. */
#define READING_FILE LANDLOCK_ACCESS_FS_READ_FILE
/* All rights in the first version of Landlock. */
#define EVERYTHING ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* Files for DNS lookups (resolv.conf may be a link to /run), certificates, and libraries. */
static const char *const readable[] = {
	"/etc",
	"/usr",
	"/lib",
	"/lib64",
	"/dev/null",
	"/dev/random",
	"/dev/urandom",
	"/run/systemd/resolve",
	"/run/resolvconf",
	"/run/NetworkManager",
};

static bool limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
		return false;
	if (most < limit.rlim_max)
		limit.rlim_max = most;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &limit) == 0;
}

bool confine(void)
{
	const struct landlock_ruleset_attr attributes = { .handled_access_fs = EVERYTHING };
	bool is_done;
	long rules;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || chdir("/") != 0 ||
	    !limit(RLIMIT_NOFILE, DESCRIPTORS_MOST) || !limit(RLIMIT_FSIZE, 0) ||
	    !limit(RLIMIT_CORE, 0))
		return false;

	/* A kernel that has no Landlock does not restrict the files. */
	rules = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
	if (rules < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM;
	for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
		struct landlock_path_beneath_attr beneath = {
			.allowed_access = READING,
			.parent_fd = open(readable[i], O_PATH | O_CLOEXEC),
		};
		struct stat status;

		/* It need not exist. */
		if (beneath.parent_fd < 0)
			continue;
		if (fstat(beneath.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode))
			beneath.allowed_access = READING_FILE;
		(void)syscall(SYS_landlock_add_rule, (int)rules, LANDLOCK_RULE_PATH_BENEATH,
			      &beneath, 0);
		close(beneath.parent_fd);
	}

	is_done = syscall(SYS_landlock_restrict_self, (int)rules, 0) == 0;
	close((int)rules);
	return is_done;
}
