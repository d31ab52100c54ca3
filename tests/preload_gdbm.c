/* A library to be preloaded: lets the n-th of the calls fail that libgdbm makes to write, sync, map
 * or size its files. Calls that come from anywhere else go through untouched. A program finds
 * preload_gdbm_fail with dlsym.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

void preload_gdbm_fail(unsigned n, unsigned times, int error);
unsigned preload_gdbm_calls(void);

static atomic_uint calls;
static atomic_uint first_to_fail;
static atomic_uint last_to_fail;
static atomic_int failure;

/* Calls n to n + times - 1 from now on fail; n 0: none does. The count starts again. */
void preload_gdbm_fail(unsigned n, unsigned times, int error)
{
	atomic_store(&calls, 0);
	atomic_store(&first_to_fail, n);
	atomic_store(&last_to_fail, n == 0 ? 0 : n + times - 1);
	atomic_store(&failure, error);
}

unsigned preload_gdbm_calls(void)
{
	return atomic_load(&calls);
}

static bool is_to_fail(const void *caller)
{
	Dl_info info;
	unsigned n;

	if (dladdr(caller, &info) == 0 || strstr(info.dli_fname, "libgdbm.so") == NULL)
		return false;
	n = atomic_fetch_add(&calls, 1) + 1;
	if (n < atomic_load(&first_to_fail) || n > atomic_load(&last_to_fail))
		return false;
	errno = atomic_load(&failure);
	return true;
}

/* The function of this name that this library stands in front of, by way of a copy of the pointer:
 * ISO C knows no cast between the two kinds. */
#define REAL(function, name) \
	do { \
		void *found = dlsym(RTLD_NEXT, name); \
		memcpy(&(function), &found, sizeof found); \
	} while (0)

ssize_t write(int file, const void *bytes, size_t size)
{
	ssize_t (*real)(int, const void *, size_t);

	if (is_to_fail(__builtin_return_address(0)))
		return -1;
	REAL(real, "write");
	return real(file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
	ssize_t (*real)(int, const void *, size_t, off_t);

	if (is_to_fail(__builtin_return_address(0)))
		return -1;
	REAL(real, "pwrite");
	return real(file, bytes, size, offset);
}

int fsync(int file)
{
	int (*real)(int);

	if (is_to_fail(__builtin_return_address(0)))
		return -1;
	REAL(real, "fsync");
	return real(file);
}

int msync(void *start, size_t size, int flags)
{
	int (*real)(void *, size_t, int);

	if (is_to_fail(__builtin_return_address(0)))
		return -1;
	REAL(real, "msync");
	return real(start, size, flags);
}

int ftruncate(int file, off_t size)
{
	int (*real)(int, off_t);

	if (is_to_fail(__builtin_return_address(0)))
		return -1;
	REAL(real, "ftruncate");
	return real(file, size);
}

void *mmap(void *start, size_t size, int protection, int flags, int file, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t);

	if (is_to_fail(__builtin_return_address(0)))
		return MAP_FAILED;
	REAL(real, "mmap");
	return real(start, size, protection, flags, file, offset);
}
