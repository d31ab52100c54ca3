/* Takes the place of the C library's functions in the programs that call fast_disk.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fast_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOTED_MOST 4

static bool is_fast, is_noted;
static struct stat noted[NOTED_MOST];
static int noted_count;

void fast_disk(void)
{
	is_fast = true;
}

static int check_open(int file)
{
	return fcntl(file, F_GETFD) < 0 ? -1 : 0;
}

int fsync(int file)
{
	return is_fast ? check_open(file) : (int)syscall(SYS_fsync, file);
}

void fast_disk_note(void)
{
	is_noted = true;
	noted_count = 0;
}

bool fast_disk_has_synced(const char *path)
{
	struct stat status;
	bool has_synced = false;

	if (stat(path, &status) != 0)
		return false;
	for (int i = 0; i < noted_count; i++)
		has_synced = has_synced || (noted[i].st_ino == status.st_ino &&
					    noted[i].st_size == status.st_size);
	return has_synced;
}

int fdatasync(int file)
{
	if (is_noted && noted_count < NOTED_MOST && fstat(file, &noted[noted_count]) == 0)
		noted_count++;
	return is_fast ? check_open(file) : (int)syscall(SYS_fdatasync, file);
}

int sync_file_range(int file, off_t offset, off_t size, unsigned flags)
{
	return is_fast ? check_open(file)
		       : (int)syscall(SYS_sync_file_range, file, offset, size, flags);
}
