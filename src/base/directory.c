/* See base/directory.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool directory_sync(const char *path)
{
	int directory, error;
	bool is_synced;

	do
		directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (directory < 0 && errno == EINTR);
	if (directory < 0)
		return false;
	is_synced = fsync(directory) == 0;
	error = errno;
	close(directory);
	errno = error;
	return is_synced;
}

/* Keeps the slash of the root. */
static size_t without_slashes(const char *path, size_t size)
{
	while (size > 1 && path[size - 1] == '/')
		size--;
	return size;
}

void directory_of(const char *path, char directory[PATH_MAX])
{
	size_t size = without_slashes(path, strlen(path));

	while (size > 0 && path[size - 1] != '/')
		size--;
	if (size == 0)
		(void)snprintf(directory, PATH_MAX, ".");
	else
		(void)snprintf(directory, PATH_MAX, "%.*s", (int)without_slashes(path, size), path);
}
