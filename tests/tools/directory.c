/* Temporary directories, and repeatable random numbers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "directory.h"

#include <ftw.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char *directory_make(void)
{
	const char *parent = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/anteroom-test-XXXXXX", parent == NULL ? "/tmp" : parent) < 0 ||
	    mkdtemp(path) == NULL) {
		perror("temporary directory");
		abort();
	}
	return path;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

void directory_remove(char *path)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		perror(path);
	free(path);
}

void directory_make_data(const char *path)
{
	const struct passwd *nobody = geteuid() == 0 ? getpwnam("nobody") : NULL;
	const char *program = getenv("ANTEROOM");
	int status = -1;
	pid_t child;

	if (mkdir(path, 0700) != 0 ||
	    (nobody != NULL && chown(path, nobody->pw_uid, nobody->pw_gid) != 0)) {
		perror(path);
		abort();
	}
	if (program == NULL)
		program = "./anteroom";
	child = fork();
	if (child == 0) {
		execl(program, program, "store", "create", path, (char *)NULL);
		perror(program);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		abort();
}

uint64_t chance(uint64_t *seed)
{
	uint64_t value = *seed += UINT64_C(0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

uint64_t chance_below(uint64_t *seed, uint64_t n)
{
	return chance(seed) % n;
}
