/* Torture: a child process writes and reads a durable store from many threads and is killed with
 * SIGKILL at a random moment, again and again. Each time, the next child first checks that
 * acknowledged data is present, that only whole transactions are, and that the store contains
 * nothing that was never sent.
 *
 * Everything written is a function of (writer, number of its earlier transactions, life), so that
 * the whole state of a writer follows from the count that it keeps in the store. In memory shared
 * with the parent, each writer notes the count it is about to commit and the last one acknowledged.
 * A life is the time between two kills.
 *
 * After every second kill, the parent overwrites sectors that no sync had reported as durable with
 * noise or zeros, and also those after the end of the journal if the journal was synced last.
 *
 *     torture [-n KILLS] [-s SEED]
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "directory.h"
#include "file_hooks.h"
#include "store/gdbm/store_gdbm.h"
#include "store/gdbm/entries.h"

#define WRITERS 8
#define READERS 2
#define SLOTS 60
#define TOUCHED 3 /* slots that a transaction puts or removes, in addition to the count */
#define VALUE_MAX 1500
#define TAILS 4096 /* more than the files written in one life */
#define SECTOR 512

/* Bytes of a file, from the lowest to the highest; empty if `to` is 0. */
struct range {
	atomic_uint_least64_t from;
	atomic_uint_least64_t to;
};

/* The bytes of a file that a power failure may destroy. The child writes this, the parent reads it
 * after the child's death. A range is widened before the write and emptied after the sync, so that
 * a kill between the two only destroys more of what was not acknowledged. */
struct tail {
	char path[256];
	struct range written; /* since the newest sync began */
	struct range syncing;
	atomic_uint_least64_t durable; /* end of what was synced in this life */
};

struct shared {
	atomic_uint_least64_t sent[WRITERS];
	atomic_uint_least64_t acknowledged[WRITERS];
	atomic_uint_least64_t commits;
	atomic_uint_least64_t reads;
	atomic_uint_least64_t built; /* finished GDBM files */
	atomic_uint_least64_t removed; /* removed files */
	atomic_bool is_ending;
	atomic_uint tails_used;
	atomic_uint last_synced; /* index of a tail, plus one */
	struct tail tails[TAILS];
	size_t lives;
	uint64_t starts[][WRITERS]; /* by life: the counts it started with */
};

static struct shared *shared;
static struct store *store;
static struct file_hooks hooks;
static pthread_mutex_t tails_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned tail_of_file[FILE_HOOKS_FILES]; /* index plus one; 0 if none */

static _Noreturn void wrong(const char *what, unsigned writer, uint64_t count, uint64_t expected)
{
	fprintf(stderr, "torture: %s: writer %u, count %llu, expected %llu\n", what, writer,
		(unsigned long long)count, (unsigned long long)expected);
	_exit(EXIT_FAILURE);
}

static _Noreturn void refused(const char *what, const struct fault *fault)
{
	fprintf(stderr, "torture: %s: %s: %s\n", what, fault->message, fault->cause);
	_exit(EXIT_FAILURE);
}

/* What a transaction does to one slot. */
struct touch {
	unsigned slot;
	bool is_removal;
};

static struct touch touch_of(unsigned writer, uint64_t count, unsigned i)
{
	uint64_t seed = count * WRITERS * TOUCHED + writer * TOUCHED + i;
	const uint64_t drawn = chance(&seed);

	return (struct touch){ (unsigned)(drawn % SLOTS), drawn / SLOTS % 5 == 0 };
}

/* Returns the life that made a transaction: the last life that started below its count. */
static size_t life_of(unsigned writer, uint64_t count)
{
	size_t life = shared->lives;

	while (shared->starts[life][writer] >= count)
		life--;
	return life;
}

static struct slice value_of(unsigned writer, uint64_t count, char bytes[VALUE_MAX + 8])
{
	const uint64_t life = life_of(writer, count);
	uint64_t seed = life << 40 ^ (uint64_t)writer << 32 ^ count;
	const size_t size = 24 + chance_below(&seed, VALUE_MAX - 24);
	const uint64_t head[] = { writer, count, life };

	memcpy(bytes, head, sizeof head);
	for (size_t i = sizeof head; i < size; i += 8) {
		const uint64_t drawn = chance(&seed);

		memcpy(bytes + i, &drawn, 8);
	}
	return (struct slice){ bytes, size };
}

struct key {
	char text[32];
	enum store_table table;
};

static struct key key_of(unsigned writer, unsigned slot)
{
	struct key key = { .table = (enum store_table)(slot % STORE_TABLE_COUNT) };

	snprintf(key.text, sizeof key.text, "writer %u slot %u", writer, slot);
	return key;
}

static struct key count_key(unsigned writer)
{
	return key_of(writer, SLOTS);
}

static struct slice key_slice(const struct key *key)
{
	return slice_of(key->text);
}

static uint64_t count_read(struct transaction *transaction, unsigned writer)
{
	const struct key key = count_key(writer);
	struct fault fault = FAULT_INITIAL;
	struct slice value;
	uint64_t count = 0;

	if (!entry_get(transaction, key.table, key_slice(&key), &value, &fault))
		refused("count", &fault);
	if (value.data != NULL && value.size != sizeof count)
		wrong("size of the count", writer, value.size, sizeof count);
	if (value.data != NULL)
		memcpy(&count, value.data, sizeof count);
	return count;
}

static void slot_check(struct transaction *transaction, unsigned writer, unsigned slot,
		       uint64_t count)
{
	const struct key key = key_of(writer, slot);
	struct slice expected = { NULL, 0 };
	struct fault fault = FAULT_INITIAL;
	char bytes[VALUE_MAX + 8];
	struct slice value;
	bool is_found = false;

	if (!entry_get(transaction, key.table, key_slice(&key), &value, &fault))
		refused("slot", &fault);
	for (uint64_t n = count; n > 0 && !is_found; n--) {
		for (unsigned i = TOUCHED; i-- > 0 && !is_found;) {
			const struct touch touch = touch_of(writer, n, i);

			is_found = touch.slot == slot;
			if (is_found && !touch.is_removal)
				expected = value_of(writer, n, bytes);
		}
	}
	if ((value.data == NULL) != (expected.data == NULL))
		wrong(value.data == NULL ? "missing" : "there", writer, count, slot);
	if (!slice_equal(value, expected))
		wrong("torn or foreign", writer, count, slot);
}

/* Checks everything that a writer has written, in one state. */
static uint64_t writer_check(struct transaction *transaction, unsigned writer)
{
	const uint64_t count = count_read(transaction, writer);

	for (unsigned slot = 0; slot < SLOTS; slot++)
		slot_check(transaction, writer, slot, count);
	return count;
}

static void transaction_write(struct arena *arena, unsigned writer, uint64_t count)
{
	const struct key counter = count_key(writer);
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	char bytes[VALUE_MAX + 8];
	bool is_fine;
	uint64_t number;

	if (!store_begin(store, STORE_WRITE, arena, &transaction, &fault))
		refused("begin", &fault);
	if (count_read(transaction, writer) != count - 1)
		wrong("own count", writer, count_read(transaction, writer), count - 1);
	is_fine = entry_put(transaction, counter.table, key_slice(&counter),
			    (struct slice){ (const char *)&count, sizeof count }, &fault);
	for (unsigned i = 0; i < TOUCHED && is_fine; i++) {
		const struct touch touch = touch_of(writer, count, i);
		const struct key key = key_of(writer, touch.slot);

		is_fine = touch.is_removal
				  ? entry_remove(transaction, key.table, key_slice(&key), &fault)
				  : entry_put(transaction, key.table, key_slice(&key),
					      value_of(writer, count, bytes), &fault);
	}
	if (!is_fine)
		refused("put", &fault);
	atomic_store(&shared->sent[writer], count);
	if (!store_commit(transaction, &number, &fault) || !store_wait(store, number, &fault))
		refused("commit", &fault);
	atomic_store(&shared->acknowledged[writer], count);
	atomic_fetch_add(&shared->commits, 1);
}

static void *write_on(void *which)
{
	const unsigned writer = *(const unsigned *)which;
	struct arena *arena = arena_open();

	for (uint64_t count = atomic_load(&shared->acknowledged[writer]) + 1;
	     !atomic_load(&shared->is_ending); count++) {
		transaction_write(arena, writer, count);
		arena_reset(arena);
	}
	arena_close(arena);
	return NULL;
}

static void *read_on(void *which)
{
	uint64_t seed = *(const unsigned *)which;
	struct arena *arena = arena_open();

	while (!atomic_load(&shared->is_ending)) {
		const unsigned writer = (unsigned)chance_below(&seed, WRITERS);
		const uint64_t acknowledged = atomic_load(&shared->acknowledged[writer]);
		struct fault fault = FAULT_INITIAL;
		struct transaction *transaction;
		uint64_t count;

		if (!store_begin(store, STORE_READ, arena, &transaction, &fault))
			refused("read", &fault);
		count = writer_check(transaction, writer);
		store_abandon(transaction);
		if (count < acknowledged)
			wrong("stale", writer, count, acknowledged);
		if (count > atomic_load(&shared->sent[writer]))
			wrong("from the future", writer, count, atomic_load(&shared->sent[writer]));
		atomic_fetch_add(&shared->reads, 1);
		arena_reset(arena);
	}
	arena_close(arena);
	return NULL;
}

/* Checks what the last life left: at least what was acknowledged, at most what was sent. The result
 * becomes the starting point of the next life. */
static void check_all(void)
{
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;

	if (!store_begin(store, STORE_READ, arena, &transaction, &fault))
		refused("first read", &fault);
	for (unsigned writer = 0; writer < WRITERS; writer++) {
		const uint64_t count = writer_check(transaction, writer);

		if (count < atomic_load(&shared->acknowledged[writer]))
			wrong("lost", writer, count, atomic_load(&shared->acknowledged[writer]));
		if (count > atomic_load(&shared->sent[writer]))
			wrong("never sent", writer, count, atomic_load(&shared->sent[writer]));
		shared->starts[shared->lives + 1][writer] = count;
	}
	store_abandon(transaction);
	arena_close(arena);
	/* If killed here, the counts are as they were, or closer to the truth. */
	for (unsigned writer = 0; writer < WRITERS; writer++) {
		const uint64_t count = shared->starts[shared->lives + 1][writer];

		atomic_store(&shared->acknowledged[writer], count);
		atomic_store(&shared->sent[writer], count);
	}
	shared->lives++;
}

static bool is_zero(const char *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Returns the tail of an open file; it is created at the file's first write. */
static struct tail *tail_take(const struct file_call *call)
{
	unsigned *index = &tail_of_file[call->file];

	if (*index == 0) {
		if (atomic_load(&shared->tails_used) == TAILS)
			abort();
		*index = atomic_fetch_add(&shared->tails_used, 1) + 1;
		snprintf(shared->tails[*index - 1].path, sizeof shared->tails[0].path, "%s",
			 call->path);
	}
	return &shared->tails[*index - 1];
}

static void range_add(struct range *range, uint64_t from, uint64_t to)
{
	if (atomic_load(&range->to) == 0 || from < atomic_load(&range->from))
		atomic_store(&range->from, from);
	if (to > atomic_load(&range->to))
		atomic_store(&range->to, to);
}

static void sync_began(struct tail *tail)
{
	if (atomic_load(&tail->written.to) > 0)
		range_add(&tail->syncing, atomic_load(&tail->written.from),
			  atomic_load(&tail->written.to));
	atomic_store(&tail->written.to, 0);
}

static void sync_ended(struct tail *tail)
{
	const uint64_t to = atomic_load(&tail->syncing.to);

	if (to > atomic_load(&tail->durable))
		atomic_store(&tail->durable, to);
	atomic_store(&tail->syncing.to, 0);
}

/* Ignores zeros written ahead: only bytes after the last record matter. */
static int note_before(struct file_hooks *unused, struct file_call *call)
{
	(void)unused;
	pthread_mutex_lock(&tails_lock);
	if (call->operation == FILE_PWRITE && !is_zero(call->bytes, call->size))
		range_add(&tail_take(call)->written, (uint64_t)call->offset,
			  (uint64_t)call->offset + call->size);
	/* Before the close, because another thread may get the same descriptor immediately after
	 * it. */
	if (call->operation == FILE_CLOSE)
		tail_of_file[call->file] = 0;
	if ((call->operation == FILE_FDATASYNC || call->operation == FILE_FSYNC) &&
	    tail_of_file[call->file] != 0)
		sync_began(tail_take(call));
	pthread_mutex_unlock(&tails_lock);
	return 0;
}

/* Requires the lock. */
static void note(const struct file_call *call)
{
	switch (call->operation) {
	case FILE_OPEN:
		tail_of_file[call->file] = 0;
		break;
	case FILE_FDATASYNC:
	case FILE_FSYNC:
		if (tail_of_file[call->file] == 0)
			break;
		sync_ended(tail_take(call));
		if (call->operation == FILE_FDATASYNC)
			atomic_store(&shared->last_synced, tail_of_file[call->file]);
		break;
	case FILE_RENAME:
		if (strstr(call->to, ".gdbm") != NULL)
			atomic_fetch_add(&shared->built, 1);
		for (unsigned i = 0; i < atomic_load(&shared->tails_used); i++) {
			if (strcmp(shared->tails[i].path, call->path) == 0)
				snprintf(shared->tails[i].path, sizeof shared->tails[i].path, "%s",
					 call->to);
		}
		break;
	case FILE_UNLINK:
		atomic_fetch_add(&shared->removed, 1);
		break;
	case FILE_CLOSE:
	case FILE_PREAD:
	case FILE_PWRITE:
	case FILE_ALLOCATE:
	case FILE_FTRUNCATE:
	case FILE_GET_SIZE:
	case FILE_LOCK:
	case FILE_WRITE_OUT:
	case FILE_MAP:
	case FILE_WILL_NEED:
	case FILE_EXCHANGE:
	case FILE_LINK:
	case FILE_MKDIR:
	case FILE_RMDIR:
	case FILE_SYNC_DIRECTORY:
	case FILE_LIST:
	case FILE_OPERATION_COUNT:
		break;
	}
}

static void note_after(struct file_hooks *unused, const struct file_call *call)
{
	(void)unused;
	if (call->error != 0)
		return;
	pthread_mutex_lock(&tails_lock);
	note(call);
	pthread_mutex_unlock(&tails_lock);
}

/* Runs in the child. `ready` is closed when the child exits, for whatever reason. */
static _Noreturn void live(const char *directory, int ready)
{
	static unsigned numbers[WRITERS];
	const struct store_options options = { .directory = directory,
					       .files = &hooks.files,
					       .readers = WRITERS + READERS,
					       .creates = true,
					       .overlay_bytes = 64 << 10,
					       .segment_bytes = 256 << 10 };
	struct fault fault = FAULT_INITIAL;
	pthread_t threads[WRITERS + READERS];

	file_hooks_start(&hooks);
	hooks.before = note_before;
	hooks.after = note_after;
	if (!store_gdbm_open(&options, &store, &fault))
		refused("open", &fault);
	check_all();
	if (write(ready, "r", 1) != 1)
		_exit(EXIT_FAILURE);
	for (unsigned i = 0; i < WRITERS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, write_on, &numbers[i]) != 0)
			_exit(EXIT_FAILURE);
	}
	for (unsigned i = 0; i < READERS; i++) {
		if (pthread_create(&threads[WRITERS + i], NULL, read_on, &numbers[i]) != 0)
			_exit(EXIT_FAILURE);
	}
	for (unsigned i = 0; i < WRITERS + READERS; i++)
		pthread_join(threads[i], NULL);
	/* A merge may not end in one life on a busy machine, and files pile up otherwise. */
	if (!store_gdbm_settle(store, false))
		_exit(EXIT_FAILURE);
	store_close(store);
	_exit(EXIT_SUCCESS);
}

/* Overwrites each sector from `from` to `to` with noise or zeros, or leaves it as it is. */
static void spoil(const char *path, uint64_t from, uint64_t to, uint64_t *seed)
{
	const int file = open(path, O_RDWR | O_CLOEXEC);
	struct stat status;

	if (file < 0)
		return;
	if (fstat(file, &status) == 0 && to > (uint64_t)status.st_size)
		to = (uint64_t)status.st_size;
	while (from < to) {
		const uint64_t end = (from / SECTOR + 1) * SECTOR;
		const size_t size = (size_t)((end < to ? end : to) - from);
		const uint64_t what = chance_below(seed, 3);
		char bytes[SECTOR] = { 0 };

		for (size_t i = 0; i < size && what == 1; i++)
			bytes[i] = (char)chance(seed);
		if (what != 2 && pwrite(file, bytes, size, (off_t)from) != (ssize_t)size)
			perror(path);
		from += size;
	}
	close(file);
}

/* Spoils a range, but nothing before `least`, see spoil_tails. */
static void spoil_range(const char *path, const struct range *range, uint64_t least, uint64_t *seed)
{
	const uint64_t from = atomic_load(&range->from);

	if (atomic_load(&range->to) > 0)
		spoil(path, from > least ? from : least, atomic_load(&range->to), seed);
}

/* The journal rewrites a sector that is not full, with more data after the same bytes. Disks write
 * a sector completely or not at all, so what was durable in it stays. */
static void spoil_tails(uint64_t *seed)
{
	const unsigned last = atomic_load(&shared->last_synced);

	for (unsigned i = 0; i < atomic_load(&shared->tails_used); i++) {
		const struct tail *tail = &shared->tails[i];
		const bool is_journal = strstr(tail->path, "/journal-") != NULL;
		const uint64_t durable = is_journal ? atomic_load(&tail->durable) : 0;

		spoil_range(tail->path, &tail->written, durable, seed);
		spoil_range(tail->path, &tail->syncing, durable, seed);
		if (i + 1 == last && is_journal)
			spoil(tail->path, durable, durable + chance_below(seed, 64 << 10), seed);
	}
}

/* Starts a process with one life. */
static pid_t child_start(const char *directory, int *ready)
{
	int ends[2];
	pid_t child;

	memset(shared->tails, 0, sizeof shared->tails);
	atomic_store(&shared->tails_used, 0);
	atomic_store(&shared->last_synced, 0);
	atomic_store(&shared->is_ending, false);
	if (pipe(ends) < 0)
		abort();
	child = fork();
	if (child < 0)
		abort();
	if (child == 0) {
		close(ends[0]);
		live(directory, ends[1]);
	}
	close(ends[1]);
	*ready = ends[0];
	return child;
}

/* Returns true if data arrives in the pipe, or it is closed, within the time. */
static bool pipe_speaks(int ready, int milliseconds)
{
	struct pollfd pollfd = { .fd = ready, .events = POLLIN };

	return poll(&pollfd, 1, milliseconds) > 0;
}

/* Returns false, and says how the child ended, if that was not by our kill. */
static bool child_kill(pid_t child, int ready, int milliseconds)
{
	char byte;
	int status;

	/* Sometimes the child is killed while it opens the store. */
	if (milliseconds % 8 == 0)
		(void)pipe_speaks(ready, milliseconds / 8);
	else if (!pipe_speaks(ready, 60000) || read(ready, &byte, 1) == 1)
		(void)pipe_speaks(ready, milliseconds);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(ready);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	fprintf(stderr, "torture: the child ended by itself: %s %d\n",
		WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return false;
}

static bool child_end(pid_t child, int ready)
{
	char byte;
	int status;

	if (read(ready, &byte, 1) == 1)
		(void)pipe_speaks(ready, 100);
	atomic_store(&shared->is_ending, true);
	waitpid(child, &status, 0);
	close(ready);
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool torture(const char *directory, unsigned kills, uint64_t seed)
{
	unsigned spoiled = 0;
	int ready;
	pid_t child;

	for (unsigned n = 0; n < kills; n++) {
		child = child_start(directory, &ready);
		if (!child_kill(child, ready, 1 + (int)chance_below(&seed, 350))) {
			fprintf(stderr, "torture: the child exited unexpectedly after %u kills\n",
				n);
			return false;
		}
		if (n % 2 == 1) {
			spoil_tails(&seed);
			spoiled++;
		}
		/* Sometimes the child is stopped cleanly. */
		if (n % 20 == 19) {
			child = child_start(directory, &ready);
			if (!child_end(child, ready))
				return false;
		}
	}
	child = child_start(directory, &ready);
	if (!child_end(child, ready))
		return false;
	printf("%u kills, %u of them with spoiled tails: %llu transactions acknowledged, %llu reads "
	       "checked, %llu files built, %llu removed\n",
	       kills, spoiled, (unsigned long long)atomic_load(&shared->commits),
	       (unsigned long long)atomic_load(&shared->reads),
	       (unsigned long long)atomic_load(&shared->built),
	       (unsigned long long)atomic_load(&shared->removed));
	return true;
}

static bool number_of(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

int main(int argc, char **argv)
{
	uint64_t kills = 200;
	uint64_t seed = (uint64_t)time(NULL);
	size_t size;
	char *directory;
	bool is_fine;

	for (int option; (option = getopt(argc, argv, "n:s:")) != -1;) {
		if (option == '?' || !number_of(optarg, option == 'n' ? &kills : &seed)) {
			fprintf(stderr, "usage: torture [-n KILLS] [-s SEED]\n");
			return EXIT_FAILURE;
		}
	}
	/* Lives: two more than kills, one more for each clean stop, and the one before all. */
	size = sizeof *shared + (kills + kills / 20 + 4) * sizeof shared->starts[0];
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	directory = directory_make();
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	is_fine = torture(directory, (unsigned)kills, seed);
	if (is_fine)
		directory_remove(directory);
	else
		fprintf(stderr, "torture: kept: %s\n", directory);
	return is_fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
