/* See edge/data_directory.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/data_directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_gdbm.h"

bool data_directory_check(const char *path, struct identity *owner, struct fault *fault)
{
	struct stat there;

	if (stat(path, &there) != 0)
		return fault_cause(fault, FAULT_BAD_REQUEST, errno,
				   "cannot use the data directory %s", path);
	if (!S_ISDIR(there.st_mode))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s is no directory; say where the data lies", path);
	*owner = (struct identity){ .user = there.st_uid, .group = there.st_gid };
	if (access(path, R_OK | X_OK) != 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno,
				   "the data directory %s cannot be read by user %ld; it belongs "
				   "to user %ld",
				   path, (long)geteuid(), (long)there.st_uid);
	return true;
}

bool data_directory_become(const struct identity *owner, struct fault *fault)
{
	if (geteuid() != 0 || owner->user == 0)
		return true;
	return process_become(owner, fault);
}

char *data_directory_store(const char *path)
{
	static const char name[] = "/store";
	size_t size = strlen(path) + sizeof name;
	char *store = malloc(size);

	if (store == NULL)
		abort();
	(void)snprintf(store, size, "%s%s", path, name);
	return store;
}

static bool no_store(const char *path, const char *store, int error, struct fault *fault)
{
	if (error == ENOENT)
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "the data directory %s has no store: serve, which makes it, "
				   "never ran there, or it was removed",
				   path);
	return fault_cause(fault, FAULT_BAD_REQUEST, error, "user %ld cannot reach %s",
			   (long)geteuid(), store);
}

bool data_directory_has_store(const char *path, struct fault *fault)
{
	char *store = data_directory_store(path);
	struct stat status;
	bool has = stat(store, &status) == 0 || no_store(path, store, errno, fault);

	free(store);
	return has;
}

bool data_directory_open_store(const char *path, bool is_read_only, struct store **store,
			       struct fault *fault)
{
	char *directory = data_directory_store(path);
	const struct store_options options = {
		.directory = directory,
		.readers = 1,
		.is_read_only = is_read_only,
	};
	bool is_open = (!is_read_only || data_directory_has_store(path, fault)) &&
		       store_gdbm_open(&options, store, fault);

	free(directory);
	return is_open;
}
