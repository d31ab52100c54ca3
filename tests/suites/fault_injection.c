/* Full and broken disks: the n-th call of the file layer fails while a store works, for every n.
 * The store must not crash or lie: it refuses with FAULT_UNAVAILABLE, reads continue, and
 * acknowledged data is present, both then and at the next start. After a failed sync of the
 * journal, nothing is written until the next start; when a full disk has space again, writing
 * continues without a restart.
 *
 *     fault_injection [-a] [-t TROUBLE] [-n N]      -a: every n; otherwise at most 100 per trouble
 *
 * Each case runs in a process of its own, so that a crash or a hang affects only that case.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "directory.h"
#include "file_hooks.h"
#include "numbered.h"
#include "store/gdbm/store_gdbm.h"
#include "suite.h"

#define TRANSACTIONS 120
#define OVERLAY_BYTES (8 << 10)
#define SEGMENT_BYTES (32 << 10)
#define CASE_SECONDS 60
#define PENDING_MOST 50 /* milliseconds after which a pending write is left pending */
/* In milliseconds: after a disk has space again; and, after it was broken, for checking that
 * writing stays refused. */
#define GOES_ON_WITHIN 8000
#define STOPPED_AFTER 1000

#define BIT(operation) (1u << (operation))

/* Which calls fail, and how. */
struct trouble {
	const char *name;
	unsigned operations;
	int error; /* with 0, only half of the bytes are read or written */
	unsigned times; /* number of failing calls in a row; 0 until the trouble is lifted */
	bool only_new; /* of opens: those that create a file */
	bool goes_on; /* writing must continue without a restart when the trouble is lifted */
};

#define TAKES_ROOM \
	(BIT(FILE_OPEN) | BIT(FILE_PWRITE) | BIT(FILE_ALLOCATE) | BIT(FILE_MKDIR) | \
	 BIT(FILE_RENAME))
#define TAKES_DESCRIPTOR (BIT(FILE_OPEN) | BIT(FILE_SYNC_DIRECTORY) | BIT(FILE_LIST))
#define CHANGES \
	(BIT(FILE_OPEN) | BIT(FILE_PWRITE) | BIT(FILE_ALLOCATE) | BIT(FILE_FTRUNCATE) | \
	 BIT(FILE_RENAME) | BIT(FILE_UNLINK) | BIT(FILE_MKDIR) | BIT(FILE_LIST) | \
	 BIT(FILE_PREAD) | BIT(FILE_GET_SIZE) | BIT(FILE_MAP) | BIT(FILE_CLOSE))
#define SYNCS \
	(BIT(FILE_FDATASYNC) | BIT(FILE_FSYNC) | BIT(FILE_WRITE_OUT) | BIT(FILE_SYNC_DIRECTORY))

static const struct trouble troubles[] = {
	{ "full", TAKES_ROOM, ENOSPC, 1, true, true },
	{ "full-until-lifted", TAKES_ROOM, ENOSPC, 0, true, true },
	{ "no-descriptor", TAKES_DESCRIPTOR, EMFILE, 1, false, true },
	{ "no-descriptor-until-lifted", TAKES_DESCRIPTOR, EMFILE, 0, false, true },
	{ "broken", CHANGES, EIO, 1, false, false },
	{ "broken-sync", SYNCS, EIO, 1, false, false },
	{ "short", BIT(FILE_PWRITE) | BIT(FILE_PREAD), 0, 1, false, true },
};

/* Shared with the process of the case. */
struct shared {
	atomic_uint calls;
	atomic_int operation; /* the one that failed; -1 if none did */
	atomic_bool is_journal; /* it was on a segment of the journal */
	atomic_bool has_stopped;
	atomic_bool did_not_open;
	char wrong[400];
};

static struct shared *shared;
static const struct trouble *trouble;
static unsigned failing; /* n */
static atomic_bool is_lifted;
static struct file_hooks hooks;

static _Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static _Noreturn void wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(shared->wrong, sizeof shared->wrong, format, arguments);
	va_end(arguments);
	_exit(EXIT_FAILURE);
}

static bool is_concerned(const struct file_call *call)
{
	if ((trouble->operations & BIT(call->operation)) == 0)
		return false;
	if (call->operation == FILE_OPEN && trouble->only_new)
		return (call->flags & O_CREAT) != 0;
	return trouble->error != 0 || call->size > 1;
}

static int fail_some(struct file_hooks *unused, struct file_call *call)
{
	unsigned n;

	(void)unused;
	if (atomic_load(&is_lifted) || !is_concerned(call))
		return 0;
	n = atomic_fetch_add(&shared->calls, 1) + 1;
	if (failing == 0 || n < failing || (trouble->times > 0 && n >= failing + trouble->times))
		return 0;
	if (n == failing) {
		atomic_store(&shared->is_journal, strstr(call->path, "/journal-") != NULL);
		atomic_store(&shared->operation, (int)call->operation);
	}
	if (trouble->error == 0)
		call->size /= 2;
	return trouble->error;
}

static bool store_start(const char *directory, struct store **store, struct fault *fault)
{
	const struct store_options options = { .directory = directory,
					       .files = &hooks.files,
					       .readers = 2,
					       .creates = true,
					       .overlay_bytes = OVERLAY_BYTES,
					       .segment_bytes = SEGMENT_BYTES };

	return store_gdbm_open(&options, store, fault);
}

static void expect_unavailable(const struct fault *fault, const char *what)
{
	if (fault->kind != FAULT_UNAVAILABLE)
		wrong("%s: refused with %d: %s %s", what, (int)fault->kind, fault->message,
		      fault->cause);
}

/* What is known of a store's history: the certain number, and the highest possible one. */
struct known {
	uint64_t acknowledged;
	uint64_t committed;
};

/* Flushes until the outcome of a transaction is known, or for some time. */
static enum store_state state_soon(struct store *store, uint64_t number)
{
	const int64_t end = clock_monotonic() + PENDING_MOST;

	while (store_state(store, number) == STORE_PENDING && clock_monotonic() < end)
		store_flush(store);
	return store_state(store, number);
}

/* Returns false if the write is refused or its outcome is not known yet. */
static bool write_next(struct store *store, struct known *known)
{
	const struct history none = HISTORY_INITIAL;
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	uint64_t number = 0;
	bool is_done = numbered_begin(store, arena, &none, &transaction, &fault);

	if (is_done) {
		number = transaction->number;
		is_done = store_commit(transaction, &number, &fault);
		if (is_done)
			known->committed = number;
	}
	if (!is_done)
		expect_unavailable(&fault, "write");
	is_done = is_done && state_soon(store, number) == STORE_DURABLE;
	if (is_done)
		known->acknowledged = number;
	arena_close(arena);
	return is_done;
}

static void read_all(struct store *store, const struct known *known, const char *when)
{
	const struct history none = HISTORY_INITIAL;
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	const char *found;

	if (!store_begin(store, STORE_READ, arena, &transaction, &fault))
		wrong("%s: no read: %s %s", when, fault.message, fault.cause);
	if (transaction->number < known->acknowledged)
		wrong("%s: stands at %llu, acknowledged was %llu", when,
		      (unsigned long long)transaction->number,
		      (unsigned long long)known->acknowledged);
	if (transaction->number > known->committed)
		wrong("%s: stands at %llu, committed was %llu", when,
		      (unsigned long long)transaction->number,
		      (unsigned long long)known->committed);
	found = numbered_wrong(transaction, &none, &fault);
	if (found != NULL)
		wrong("%s: %s: %s %s", when, found, fault.message, fault.cause);
	store_abandon(transaction);
	arena_close(arena);
}

/* Returns true if writing continues within the time. */
static bool goes_on(struct store *store, struct known *known, int64_t milliseconds)
{
	const int64_t end = clock_monotonic() + milliseconds;

	while (!write_next(store, known) || !store_can_write(store)) {
		if (clock_monotonic() > end)
			return false;
		poll(NULL, 0, 20);
	}
	return true;
}

/* Checks the store after the trouble has been lifted. */
static void expect_recovery(struct store *store, struct known *known)
{
	const int operation = atomic_load(&shared->operation);

	read_all(store, known, "after the trouble");
	if (atomic_load(&shared->is_journal) && operation == FILE_FDATASYNC) {
		if (store_can_write(store) || write_next(store, known))
			wrong("it continues after a failed sync of the journal");
		atomic_store(&shared->has_stopped, true);
	} else if (!goes_on(store, known, trouble->goes_on ? GOES_ON_WITHIN : STOPPED_AFTER)) {
		if (trouble->goes_on)
			wrong("it does not go on");
		atomic_store(&shared->has_stopped, true);
	}
	read_all(store, known, "at the end");
}

/* Runs the case: opens, writes and reads during the trouble, closes; opens again without it. */
static _Noreturn void run_case(const char *parent)
{
	struct fault fault = FAULT_INITIAL;
	struct known known = { 0, 0 };
	struct store *store;
	char directory[512];

	alarm(CASE_SECONDS);
	snprintf(directory, sizeof directory, "%s/store", parent);
	file_hooks_start(&hooks);
	hooks.is_fast = true;
	hooks.before = fail_some;
	if (!store_start(directory, &store, &fault)) {
		expect_unavailable(&fault, "open");
		if (fault.cause[0] == '\0')
			wrong("open: refused without a cause");
		atomic_store(&shared->did_not_open, true);
		atomic_store(&is_lifted, true);
		fault = FAULT_INITIAL;
		if (!store_start(directory, &store, &fault))
			wrong("open, at the second time: %s %s", fault.message, fault.cause);
	}
	for (unsigned i = 0; i < TRANSACTIONS; i++) {
		(void)write_next(store, &known);
		if (i % 8 == 0)
			read_all(store, &known, "in between");
	}
	atomic_store(&is_lifted, true);
	expect_recovery(store, &known);
	store_close(store);

	fault = FAULT_INITIAL;
	if (!store_start(directory, &store, &fault))
		wrong("reopen: %s %s", fault.message, fault.cause);
	read_all(store, &known, "reopened");
	_exit(EXIT_SUCCESS);
}

static void copy_log(const char *path)
{
	char *bytes;
	size_t size;

	if (!file_read_whole(&file_system_posix, path, (size_t)1 << 30, &bytes, &size))
		return;
	fwrite(bytes + (size > 4000 ? size - 4000 : 0), 1, size > 4000 ? 4000 : size, stderr);
	free(bytes);
}

/* Runs one case in its process. Keeps its log, and shows it if the case fails. */
static bool case_is_fine(unsigned n)
{
	char *parent = directory_make();
	char path[512];
	bool is_fine;
	int status;
	pid_t child;

	memset(shared, 0, sizeof *shared);
	atomic_store(&shared->operation, -1);
	failing = n;
	snprintf(path, sizeof path, "%s/log", parent);
	fflush(NULL);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0) {
		const int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		if (log < 0 || dup2(log, STDERR_FILENO) < 0)
			_exit(EXIT_FAILURE);
		run_case(parent);
	}
	waitpid(child, &status, 0);
	is_fine = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
	if (!is_fine) {
		const int operation = atomic_load(&shared->operation);

		copy_log(path);
		fprintf(stderr, "fault_injection: %s, n %u (%s%s): %s%s\n", trouble->name, n,
			operation < 0 ? "none"
				      : file_operation_name((enum file_operation)operation),
			atomic_load(&shared->is_journal) ? " of the journal" : "",
			WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "", shared->wrong);
	}
	directory_remove(parent);
	return is_fine;
}

/* Runs every n of one trouble, or a sample of evenly spread ones. */
static unsigned run_trouble(bool is_everything, unsigned only)
{
	unsigned wrongs = 0;
	unsigned run = 0;
	unsigned stopped = 0;
	unsigned unopened = 0;
	unsigned calls;
	unsigned stride;

	/* First without any trouble, to count the calls. */
	if (!case_is_fine(0))
		return 1;
	calls = atomic_load(&shared->calls);
	stride = is_everything || calls <= 100 ? 1 : (calls + 99) / 100;
	for (unsigned n = only > 0 ? only : 1; n <= (only > 0 ? only : calls) && wrongs < 3;
	     n += stride) {
		wrongs += !case_is_fine(n);
		stopped += atomic_load(&shared->has_stopped);
		unopened += atomic_load(&shared->did_not_open);
		run++;
	}
	printf("%s: %u calls, %u of them failed, %u wrong (%u times not opened, %u times stopped "
	       "until restart)\n",
	       trouble->name, calls, run, wrongs, unopened, stopped);
	fflush(stdout);
	return wrongs + (calls == 0);
}

static bool number_of(const char *text, unsigned *number)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	*number = (unsigned)value;
	return end != text && *end == '\0';
}

int main(int argc, char **argv)
{
	const char *only_trouble = NULL;
	unsigned only = 0;
	unsigned wrongs = 0;
	bool is_everything = false;

	for (int option; (option = getopt(argc, argv, "at:n:")) != -1;) {
		if (option == 'a')
			is_everything = true;
		else if (option == 't')
			only_trouble = optarg;
		if (option == '?' || (option == 'n' && !number_of(optarg, &only))) {
			fprintf(stderr, "usage: fault_injection [-a] [-t TROUBLE] [-n N]\n");
			return EXIT_FAILURE;
		}
	}
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		abort();
	for (size_t i = 0; i < ROWS(troubles); i++) {
		trouble = &troubles[i];
		if (only_trouble != NULL && strcmp(only_trouble, trouble->name) != 0)
			continue;
		wrongs += run_trouble(is_everything, only);
	}
	return wrongs == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
