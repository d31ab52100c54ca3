/* A durable store in a directory of its own, for the suites that test it. Keys are numbers, a value
 * begins with its key's number, and everything is in the table of templates. Any failure here fails
 * the test.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <limits.h>
#include <sys/types.h>

#include "store/gdbm/inspect.h"
#include "store/gdbm/store_gdbm.h"

/* Of the running test. */
extern struct scratch {
	char *directory;
	char path[PATH_MAX]; /* path of the store in it; a test may set another path */
	struct arena *arena;
} scratch;

/* The fixture, called before and after each test. */
void scratch_open(void);
void scratch_close(void);

/* Opens the store with these options, in the scratch directory and with readers; scratch_store uses
 * default options. */
bool scratch_try_store(struct store_options options, struct store **store, struct fault *fault);
struct store *scratch_store_with(struct store_options options);
struct store *scratch_store(void);
/* Expects opening to fail with a cause that contains this text. */
void scratch_refused(const char *what);

struct slice scratch_key(unsigned n);
/* Sets key n to a value of slightly more than `size` bytes. Returns false with the fault if
 * refused. */
bool scratch_try_put(struct store *store, unsigned n, size_t size, uint64_t *number,
		     struct fault *fault);
/* Returns the transaction's number. */
uint64_t scratch_put(struct store *store, unsigned n, size_t size);
void scratch_put_durable(struct store *store, unsigned n, size_t size);
bool scratch_try_get(struct store *store, unsigned n, struct slice *value, struct fault *fault);
bool scratch_has(struct store *store, unsigned n);
/* Closes the store and restores the mark of the journal's end, so that it looks as if killed. */
void scratch_kill(struct store *store);
/* Closes the store, opens it again, and expects the first n keys. */
void scratch_close_and_find(struct store *store, unsigned n);

/* Makes a store with n keys in one file of the stack, and closes it. */
void scratch_make_stack(unsigned n);
/* Returns what `anteroom check` finds; files: see store_gdbm_check. */
struct store_check scratch_check(const struct file_system *files);

/* Returns the first name, in alphabetical order, in the store's directory with this prefix and
 * suffix, or NULL. The name is in the arena. */
char *scratch_name(const char *prefix, const char *suffix);
/* Returns the path of the last name with this prefix, which must exist. */
char *scratch_newest(const char *prefix);
/* Returns the path of scratch_name, which must exist. */
char *scratch_file(const char *prefix, const char *suffix);

/* Returns the offset of these bytes and a NUL in a file: of a value. */
off_t scratch_place(const char *file, const char *text);

off_t file_size(const char *file);
void file_overwrite(const char *file, off_t at, const void *bytes, size_t size);
/* Flips one bit of the byte at the offset. */
void file_flip(const char *file, off_t at);

#endif
