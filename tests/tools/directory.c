/* Temporary directories, and repeatable random numbers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
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

static char *path_in(const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		abort();
	return path;
}

static void copy_file(const char *from, const char *to, const struct stat *status)
{
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status->st_mode & 0777);
	off_t left = status->st_size;
	ssize_t sent = 1;

	while (left > 0 && (sent = sendfile(out, in, NULL, (size_t)left)) > 0)
		left -= sent;
	if (in < 0 || out < 0 || sent <= 0 || fchmod(out, status->st_mode & 0777) != 0) {
		perror(to);
		abort();
	}
	close(in);
	close(out);
}

static void copy_into(const char *from, const char *to)
{
	DIR *directory = opendir(from);
	const struct dirent *entry;

	if (directory == NULL) {
		perror(from);
		abort();
	}
	while ((entry = readdir(directory)) != NULL) {
		char *source = path_in(from, entry->d_name), *copy = path_in(to, entry->d_name);
		struct stat status;

		if (lstat(source, &status) != 0)
			abort();
		if (S_ISREG(status.st_mode)) {
			copy_file(source, copy, &status);
		} else if (S_ISDIR(status.st_mode) && strcmp(entry->d_name, ".") != 0 &&
			   strcmp(entry->d_name, "..") != 0) {
			if (mkdir(copy, status.st_mode & 0777) != 0)
				abort();
			copy_into(source, copy);
		}
		free(source);
		free(copy);
	}
	closedir(directory);
}

char *directory_copy(const char *from)
{
	char *path = directory_make();

	copy_into(from, path);
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
