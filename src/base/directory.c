/* See base/directory.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
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

void directory_of(const char *path, char directory[PATH_MAX])
{
	char changed[PATH_MAX];

	(void)snprintf(changed, sizeof changed, "%s", path);
	(void)snprintf(directory, PATH_MAX, "%s", dirname(changed));
}

int regular_file_open(const char *path, int flags, mode_t mode)
{
	struct stat status;
	int file, error;

	do
		file = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
	while (file < 0 && errno == EINTR);
	if (file < 0)
		return file;
	if (fstat(file, &status) != 0)
		error = errno;
	else if (S_ISREG(status.st_mode))
		return file;
	else
		error = S_ISDIR(status.st_mode) ? EISDIR : ENXIO;
	close(file);
	errno = error;
	return -1;
}

bool regular_file_is_missing(int error)
{
	return error == ENXIO || error == EISDIR || error == ELOOP;
}
