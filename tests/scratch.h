/* A durable store in a directory of its own, for the suites of it. Keys are numbers, a value begins
 * with its key's, and all is in the table of templates. What fails here fails the test.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <limits.h>
#include <sys/types.h>

#include "store/gdbm/inspect.h"
#include "store/gdbm/store_gdbm.h"

/* Of the test that runs. */
extern struct scratch {
	char *directory;
	char path[PATH_MAX]; /* of the store in it; a test may name another */
	struct arena *arena;
} scratch;

/* The fixture, before and after each test. */
void scratch_open(void);
void scratch_close(void);

/* The store, with the options' directory and readers set; the second one with all as usual. */
bool scratch_try_store(struct store_options options, struct store **store, struct fault *fault);
struct store *scratch_store_with(struct store_options options);
struct store *scratch_store(void);
/* Opening fails, and the cause says so. */
void scratch_refused(const char *what);

struct slice scratch_key(unsigned n);
/* Sets key n to a value of `size` bytes and a few; false with the fault when refused. */
bool scratch_try_put(struct store *store, unsigned n, size_t size, uint64_t *number,
		     struct fault *fault);
/* Returns the transaction's number. */
uint64_t scratch_put(struct store *store, unsigned n, size_t size);
void scratch_put_durable(struct store *store, unsigned n, size_t size);
bool scratch_try_get(struct store *store, unsigned n, struct slice *value, struct fault *fault);
bool scratch_has(struct store *store, unsigned n);
/* Closes it, and leaves what a kill would: the mark of the journal's end as it was before. */
void scratch_kill(struct store *store);
/* The first n keys are there when it is opened again. */
void scratch_close_and_find(struct store *store, unsigned n);

/* A store with n keys in one file of the stack, closed. */
void scratch_make_stack(unsigned n);
/* What `anteroom check` finds; files: as in store_gdbm_check. */
struct store_check scratch_check(const struct file_system *files);

/* The name in the store's directory that begins and ends so, the first in the order of names; NULL:
 * there is none. In the arena. */
char *scratch_name(const char *prefix, const char *suffix);
/* The path of the last in that order; there is one. */
char *scratch_newest(const char *prefix);
/* Its path; there is one. */
char *scratch_file(const char *prefix, const char *suffix);

/* Where a file has these bytes and a zero: a value. */
off_t scratch_place(const char *file, const char *text);

off_t file_size(const char *file);
void file_overwrite(const char *file, off_t at, const void *bytes, size_t size);
/* One bit of the byte there. */
void file_flip(const char *file, off_t at);

#endif
