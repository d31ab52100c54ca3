/* Damage: a store whose newer files update and remove records of older files is damaged in various
 * ways, and opened. The store may refuse to open, and may refuse a read because of damage; any
 * other result must be what was acknowledged before. Returning the value of an older file is a
 * failure, and so is a crash or a hang.
 *
 * Each trial has a process and a directory of its own. A trial can be repeated by its number and
 * the seed, but the layout of the files is random each time, because it depends on the
 * installation.
 *
 *     damage [-n TRIALS] [-s SEED] [-t TRIAL]      -t: only this trial
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "directory.h"
#include "base/encode.h"
#include "store/gdbm/file.h"
#include "store/gdbm/gdbm_format.h"
#include "store/gdbm/inspect.h"
#include "store/gdbm/stack_index.h"
#include "store/gdbm/store_gdbm.h"
#include "suite.h"
#include "store/gdbm/entries.h"

#define KEYS 3000
#define NEVER_STORED 200
#define VALUE_MOST 400
#define FILES_MOST 32
#define TRIALS 192
#define SEED 20
#define HANGS_AFTER 120 /* seconds */

/* The exit statuses of the child. */
enum verdict { ALL_RIGHT = 10, SOME_REFUSED, NOT_OPENED, WRONG };

/* Records of each file, the oldest first. The numbers fall so fast that no two files are merged. */
static const unsigned layers[] = { KEYS, 700, 170, 40, 9 };

/* Number of writes of each key; negative if the key was removed after them. */
static int versions[KEYS + NEVER_STORED];

static _Noreturn void give_up(const char *what, const struct fault *fault)
{
	fprintf(stderr, "damage: %s: %s\n", what, fault == NULL ? strerror(errno) : fault->cause);
	exit(EXIT_FAILURE);
}

/* ---- the store ---- */

static struct slice key_of(unsigned n, char key[32])
{
	const int size = snprintf(key, 32, "key %u", n);

	return (struct slice){ key, (size_t)size };
}

static struct slice value_of(unsigned n, int version, char value[VALUE_MOST])
{
	uint64_t seed = (uint64_t)n << 8 | (unsigned)version;

	memset(value, 'a' + (int)chance_below(&seed, 26), VALUE_MOST);
	snprintf(value, 40, "version %d of %u", version, n);
	return (struct slice){ value, 40 + (size_t)chance_below(&seed, VALUE_MOST - 40) };
}

enum start { START_NEW, START_AGAIN, START_READ_ONLY };

static struct store *store_start(const char *directory, enum start start, struct fault *fault)
{
	const struct store_options options = { .directory = directory,
					       .is_read_only = start == START_READ_ONLY,
					       .creates = start == START_NEW,
					       .readers = 2 };
	struct store *store;

	return store_gdbm_open(&options, &store, fault) ? store : NULL;
}

static bool change(struct transaction *transaction, unsigned n, bool is_removal,
		   struct fault *fault)
{
	char key[32], value[VALUE_MOST];

	if (is_removal && versions[n] > 0) {
		versions[n] = -versions[n];
		return entry_remove(transaction, STORE_RECORD, key_of(n, key), fault);
	}
	versions[n] = abs(versions[n]) + 1;
	return entry_put(transaction, STORE_RECORD, key_of(n, key), value_of(n, versions[n], value),
			 fault);
}

/* Writes records that become one file of the stack. */
static void layer_write(struct store *store, unsigned records, uint64_t *seed)
{
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	const bool is_first = records == KEYS;
	uint64_t number;

	if (!store_begin(store, STORE_WRITE, arena, &transaction, &fault))
		give_up("begin", &fault);
	for (unsigned i = 0; i < records; i++) {
		const unsigned n = is_first ? i : (unsigned)chance_below(seed, KEYS);

		if (!change(transaction, n, !is_first && chance_below(seed, 2) == 0, &fault))
			give_up("change", &fault);
	}
	if (!store_commit(transaction, &number, &fault) || !store_wait(store, number, &fault))
		give_up("commit", &fault);
	if (!store_gdbm_settle(store, false))
		give_up("settle", NULL);
	arena_close(arena);
}

static void store_make(const char *directory, uint64_t *seed)
{
	struct fault fault = FAULT_INITIAL;
	struct store *store = store_start(directory, START_NEW, &fault);

	if (store == NULL)
		give_up("open", &fault);
	for (int i = 0; i < ROWS(layers); i++)
		layer_write(store, layers[i], seed);
	store_close(store);
}

/* ---- its files ---- */

static struct file {
	char name[NAME_MAX + 1];
	char *bytes;
	size_t size;
} files[FILES_MOST];

static size_t n_files;

static bool name_ends(const char *name, const char *end)
{
	const size_t size = strlen(name), wanted = strlen(end);

	return size >= wanted && strcmp(name + size - wanted, end) == 0;
}

static void file_add(const char *directory, const char *name)
{
	struct file *file = &files[n_files];
	char path[PATH_MAX];

	if (strcmp(name, "lock") == 0)
		return;
	if (n_files++ == FILES_MOST)
		give_up("too many files", NULL);
	snprintf(file->name, sizeof file->name, "%s", name);
	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path ||
	    !file_read_whole(&file_system_posix, path, (size_t)1 << 30, &file->bytes, &file->size))
		give_up(path, NULL);
}

static int file_compare(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

/* Reads the files, sorted by name, so that an older file of the stack comes before a newer one. */
static void files_read(const char *directory)
{
	char *names = file_system_posix.list(&file_system_posix, directory);
	size_t stacked = 0;

	if (names == NULL)
		give_up(directory, NULL);
	for (const char *name = names; *name != '\0'; name = file_next_name(name))
		file_add(directory, name);
	free(names);
	qsort(files, n_files, sizeof *files, file_compare);
	for (size_t i = 0; i < n_files; i++)
		stacked += name_ends(files[i].name, ".gdbm");
	if (stacked != (size_t)ROWS(layers))
		give_up("the files do not match the layers", NULL);
}

static void file_write(const char *directory, const struct file *file)
{
	char path[PATH_MAX];
	int opened;

	snprintf(path, sizeof path, "%s/%s", directory, file->name);
	opened = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (opened < 0 || !file_write_all(&file_system_posix, opened, file->bytes, file->size, 0))
		give_up(path, NULL);
	close(opened);
}

/* ---- ways to damage a file ---- */

static void flip(struct file *file, size_t at, uint64_t *seed)
{
	if (at < file->size)
		file->bytes[at] = (char)(file->bytes[at] ^ 1 << chance_below(seed, 8));
}

static struct gdbm_header gdbm_head(const struct file *file)
{
	struct gdbm_header header;

	memcpy(&header, file->bytes, sizeof header);
	return header;
}

/* Picks a random bucket of a GDBM file. */
static size_t bucket_pick(const struct file *file, uint64_t *seed)
{
	const struct gdbm_header header = gdbm_head(file);
	const size_t entries = (size_t)header.directory_size / sizeof(off_t);
	off_t at;

	memcpy(&at, file->bytes + header.directory + chance_below(seed, entries) * sizeof(off_t),
	       sizeof at);
	return (size_t)at;
}

/* Picks a random record of a GDBM file and returns the offset of its place in a bucket. */
static size_t place_pick(const struct file *file, struct gdbm_place *place, uint64_t *seed)
{
	const struct gdbm_header header = gdbm_head(file);
	size_t at;

	do {
		at = bucket_pick(file, seed) + sizeof(struct gdbm_bucket_head) +
		     chance_below(seed, (uint64_t)header.bucket_places) * sizeof *place;
		memcpy(place, file->bytes + at, sizeof *place);
	} while (place->hash == -1);
	return at;
}

static void any_bit(struct file *file, uint64_t *seed)
{
	flip(file, chance_below(seed, file->size), seed);
}

static void any_bits(struct file *file, uint64_t *seed)
{
	for (int i = 0; i < 8; i++)
		any_bit(file, seed);
}

static void any_page(struct file *file, uint64_t *seed)
{
	const size_t at = chance_below(seed, (file->size + 4095) / 4096) * 4096;

	memset(file->bytes + at, 0, file->size - at < 4096 ? file->size - at : 4096);
}

static void cut(struct file *file, uint64_t *seed)
{
	file->size = chance_below(seed, file->size);
}

static void cut_little(struct file *file, uint64_t *seed)
{
	file->size -= 1 + chance_below(seed, file->size < 4096 ? file->size : 4096);
}

static void drop(struct file *file, uint64_t *seed)
{
	(void)seed;
	file->name[0] = '\0';
}

static void gdbm_header_bit(struct file *file, uint64_t *seed)
{
	flip(file, chance_below(seed, sizeof(struct gdbm_header)), seed);
}

static void directory_bit(struct file *file, uint64_t *seed)
{
	const struct gdbm_header header = gdbm_head(file);

	flip(file, (size_t)header.directory + chance_below(seed, (uint64_t)header.directory_size),
	     seed);
}

static void bucket_bit(struct file *file, uint64_t *seed)
{
	const struct gdbm_header header = gdbm_head(file);

	flip(file, bucket_pick(file, seed) + chance_below(seed, (uint64_t)header.bucket_size),
	     seed);
}

static void bucket_gone(struct file *file, uint64_t *seed)
{
	const struct gdbm_header header = gdbm_head(file);
	const size_t at = bucket_pick(file, seed);

	memset(file->bytes + at, 0xff, (size_t)header.bucket_size);
}

static void place_bit(struct file *file, uint64_t *seed)
{
	struct gdbm_place place;

	flip(file, place_pick(file, &place, seed) + chance_below(seed, sizeof place), seed);
}

static void key_bit(struct file *file, uint64_t *seed)
{
	struct gdbm_place place;

	(void)place_pick(file, &place, seed);
	flip(file, (size_t)place.at + chance_below(seed, (uint64_t)place.key_size), seed);
}

static void value_bit(struct file *file, uint64_t *seed)
{
	struct gdbm_place place;

	(void)place_pick(file, &place, seed);
	flip(file,
	     (size_t)(place.at + place.key_size) + chance_below(seed, (uint64_t)place.value_size),
	     seed);
}

static void index_head_bit(struct file *file, uint64_t *seed)
{
	flip(file, chance_below(seed, 256), seed);
}

static void index_key_bit(struct file *file, uint64_t *seed)
{
	flip(file, INDEX_HEAD + chance_below(seed, decode_64(file->bytes + 56)), seed);
}

/* Clears a bit that reports a key as possibly present. */
static void filter_bit_gone(struct file *file, uint64_t *seed)
{
	const size_t filter = decode_64(file->bytes + 64);
	const uint64_t bits = decode_64(file->bytes + 72) * FILTER_LINE * 8;
	uint64_t bit;

	do
		bit = chance_below(seed, bits);
	while ((file->bytes[filter + bit / 8] & 1 << bit % 8) == 0);
	file->bytes[filter + bit / 8] = (char)(file->bytes[filter + bit / 8] ^ 1 << bit % 8);
}

static void filter_line_gone(struct file *file, uint64_t *seed)
{
	const size_t filter = decode_64(file->bytes + 64);

	memset(file->bytes + filter + chance_below(seed, decode_64(file->bytes + 72)) * FILTER_LINE,
	       0, FILTER_LINE);
}

/* Flips a bit of a block's checksum, of either file. */
static void index_sum_bit(struct file *file, uint64_t *seed)
{
	const size_t sums = decode_64(file->bytes + 88);

	flip(file, sums + chance_below(seed, file->size - sums), seed);
}

static const struct way {
	const char *name;
	const char *suffix;
	void (*damage)(struct file *file, uint64_t *seed);
} ways[] = {
	{ "a bit", "", any_bit },
	{ "8 bits", "", any_bits },
	{ "a bit of a GDBM file", ".gdbm", any_bit },
	{ "a page zeroed", "", any_page },
	{ "a page of a GDBM file zeroed", ".gdbm", any_page },
	{ "a page of an index zeroed", ".index", any_page },
	{ "cut", "", cut },
	{ "cut by a little", "", cut_little },
	{ "removed", "", drop },
	{ "a bit of the GDBM header", ".gdbm", gdbm_header_bit },
	{ "a bit of the directory", ".gdbm", directory_bit },
	{ "a bit of a bucket", ".gdbm", bucket_bit },
	{ "a bucket without places", ".gdbm", bucket_gone },
	{ "a bit of a record's place", ".gdbm", place_bit },
	{ "a bit of a key", ".gdbm", key_bit },
	{ "a bit of a value", ".gdbm", value_bit },
	{ "a bit of the index's head", ".index", index_head_bit },
	{ "a bit of a key in the index", ".index", index_key_bit },
	{ "a bit of the filter gone", ".index", filter_bit_gone },
	{ "a line of the filter zeroed", ".index", filter_line_gone },
	{ "a bit of a checksum in the index", ".index", index_sum_bit },
};

/* Picks a file; in three of four cases not the oldest of its kind, because newer files override
 * older ones. */
static size_t victim_pick(const struct way *way, uint64_t *seed)
{
	size_t fitting[FILES_MOST], n = 0;

	for (size_t i = 0; i < n_files; i++)
		if (name_ends(files[i].name, way->suffix) && files[i].size > 0)
			fitting[n++] = i;
	if (way->suffix[0] != '\0' && chance_below(seed, 4) > 0)
		return fitting[1 + chance_below(seed, n - 1)];
	return fitting[chance_below(seed, n)];
}

/* ---- one trial ---- */

struct comparison {
	struct store *store;
	unsigned right;
	unsigned refused;
	unsigned wrong;
};

static void tell_wrong(struct comparison *comparison, unsigned n, const char *what)
{
	if (comparison->wrong++ == 0)
		printf("  wrong: key %u, version %d: %s\n", n, versions[n], what);
}

static void compare_key(struct comparison *comparison, struct transaction *transaction, unsigned n)
{
	char key[32], expected[VALUE_MOST];
	struct fault fault = FAULT_INITIAL;
	struct slice value;

	if (!entry_get(transaction, STORE_RECORD, key_of(n, key), &value, &fault)) {
		comparison->refused++;
		if (fault.kind != FAULT_DAMAGED)
			tell_wrong(comparison, n, "refused, but not as damaged");
		return;
	}
	comparison->right++;
	if (versions[n] <= 0 && value.data != NULL)
		tell_wrong(comparison, n, "exists");
	else if (versions[n] > 0 && value.data == NULL)
		tell_wrong(comparison, n, "is missing");
	else if (versions[n] > 0 && !slice_equal(value, value_of(n, versions[n], expected)))
		tell_wrong(comparison, n, "has another value");
}

static void compare_walked(struct comparison *comparison, const struct walked_entry *entry)
{
	const struct slice key = entry->key;
	char text[32] = "", expected[VALUE_MOST];
	unsigned n;

	memcpy(text, key.data, key.size < sizeof text ? key.size : sizeof text - 1);
	n = (unsigned)strtoul(text + (key.size > 4 ? 4 : 0), NULL, 10);
	if (n >= KEYS || versions[n] <= 0 ||
	    !slice_equal(entry->value, value_of(n, versions[n], expected)))
		tell_wrong(comparison, n < KEYS ? n : 0, "in the walk, with another value");
}

static void compare_all(struct comparison *comparison, uint64_t *seed)
{
	const unsigned all = KEYS + NEVER_STORED, from = (unsigned)chance_below(seed, all);
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	struct walked_entry entry;
	struct entry_walk *walk;
	unsigned there = 0, walked = 0;

	for (unsigned i = 0; i < all; i++) {
		if (i % 64 == 0) {
			if (i > 0)
				store_abandon(transaction);
			arena_reset(arena);
			if (!store_begin(comparison->store, STORE_READ, arena, &transaction,
					 &fault))
				give_up("begin", &fault);
		}
		compare_key(comparison, transaction, (from + i) % all);
		there += versions[i] > 0;
	}
	walk = entries_walk(transaction, true);
	while (entries_next(walk, &entry, &fault)) {
		if (entry.table != STORE_RECORD)
			continue;
		compare_walked(comparison, &entry);
		walked++;
	}
	if (fault.kind != FAULT_NONE) {
		comparison->refused++;
		if (fault.kind != FAULT_DAMAGED)
			tell_wrong(comparison, 0, "the walk ends with an unexpected fault");
	} else if (walked != there) {
		tell_wrong(comparison, 0, "the walk returns the wrong number of records");
	}
	store_abandon(transaction);
	arena_close(arena);
}

/* Judges the store: opened read-only or, in one of three trials, by a service that merges what it
 * can and is restarted. */
static enum verdict trial_judge(const char *directory, uint64_t *seed)
{
	const bool is_service = chance_below(seed, 3) == 0;
	struct comparison comparison = { .wrong = 0 };
	struct fault fault = FAULT_INITIAL;

	comparison.store = store_start(directory, is_service ? START_AGAIN : START_READ_ONLY,
				       &fault);
	if (comparison.store == NULL)
		return NOT_OPENED;
	compare_all(&comparison, seed);
	if (is_service) {
		(void)store_gdbm_settle(comparison.store, true);
		compare_all(&comparison, seed);
		store_close(comparison.store);
		comparison.store = store_start(directory, START_READ_ONLY, &fault);
		if (comparison.store == NULL)
			return comparison.wrong > 0 ? WRONG : NOT_OPENED;
		compare_all(&comparison, seed);
	}
	store_close(comparison.store);
	if (comparison.wrong > 0)
		return WRONG;
	return comparison.refused > 0 ? SOME_REFUSED : ALL_RIGHT;
}

static _Noreturn void trial_live(const char *directory, const struct file *damaged, size_t victim,
				 uint64_t *seed)
{
	char path[PATH_MAX], log[PATH_MAX];
	int opened;

	snprintf(path, sizeof path, "%s/trial", directory);
	snprintf(log, sizeof log, "%s/log", directory);
	opened = open(log, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	if (opened < 0 || dup2(opened, STDERR_FILENO) < 0 || mkdir(path, 0700) < 0)
		give_up(path, NULL);
	for (size_t i = 0; i < n_files; i++)
		if (i != victim)
			file_write(path, &files[i]);
	if (damaged->name[0] != '\0')
		file_write(path, damaged);
	alarm(HANGS_AFTER);
	exit((int)trial_judge(path, seed));
}

static void log_show(const char *directory)
{
	char path[PATH_MAX], *bytes;
	size_t size;

	snprintf(path, sizeof path, "%s/log", directory);
	if (file_read_whole(&file_system_posix, path, (size_t)1 << 24, &bytes, &size)) {
		fwrite(bytes, 1, size, stdout);
		free(bytes);
	}
}

/* Number of trials by verdict; a trial without a verdict is a crash. */
static unsigned ended[WRONG - ALL_RIGHT + 1];

static bool trial_run(const char *directory, uint64_t seed, uint64_t trial)
{
	uint64_t drawn = seed * 1000003 + trial;
	const struct way *way = &ways[trial % (uint64_t)ROWS(ways)];
	const size_t victim = victim_pick(way, &drawn);
	struct file damaged = files[victim];
	char path[PATH_MAX], *trial_path;
	int status, verdict = 0;
	pid_t child;

	damaged.bytes = malloc(damaged.size);
	if (damaged.bytes == NULL)
		abort();
	memcpy(damaged.bytes, files[victim].bytes, damaged.size);
	way->damage(&damaged, &drawn);
	fflush(stdout);
	child = fork();
	if (child < 0)
		give_up("fork", NULL);
	if (child == 0)
		trial_live(directory, &damaged, victim, &drawn);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			give_up("wait", NULL);
	free(damaged.bytes);
	if (WIFEXITED(status))
		verdict = WEXITSTATUS(status);
	if (verdict >= ALL_RIGHT && verdict <= WRONG)
		ended[verdict - ALL_RIGHT]++;
	if (verdict < ALL_RIGHT || verdict >= WRONG) {
		printf("  trial %llu: %s, of %s: status %d\n", (unsigned long long)trial, way->name,
		       files[victim].name, status);
		if (verdict != WRONG)
			log_show(directory);
	}
	snprintf(path, sizeof path, "%s/trial", directory);
	trial_path = strdup(path);
	if (trial_path == NULL)
		abort();
	directory_remove(trial_path);
	return verdict >= ALL_RIGHT && verdict < WRONG;
}

/* Runs many trials. If no read was refused, the campaign has hit nothing and has failed. */
static bool campaign(const char *directory, uint64_t seed, uint64_t first, uint64_t end)
{
	unsigned bad = 0;

	for (uint64_t trial = first; trial < end; trial++)
		bad += !trial_run(directory, seed, trial);
	printf("%llu trials: %u answered all, %u refused some, %u did not open, %u wrong, "
	       "%u crashed or hung\n",
	       (unsigned long long)(end - first), ended[0], ended[SOME_REFUSED - ALL_RIGHT],
	       ended[NOT_OPENED - ALL_RIGHT], ended[WRONG - ALL_RIGHT],
	       bad - ended[WRONG - ALL_RIGHT]);
	if (end - first >= TRIALS && ended[SOME_REFUSED - ALL_RIGHT] < (end - first) / 8) {
		printf("hardly any trial damaged bytes that a read needs\n");
		return false;
	}
	return bad == 0;
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
	uint64_t trials = TRIALS, seed = SEED, only = UINT64_MAX, drawn;
	char *directory, path[PATH_MAX];
	bool is_fine;

	for (int option; (option = getopt(argc, argv, "n:s:t:")) != -1;) {
		if (option == '?' || !number_of(optarg, option == 'n'	? &trials
							: option == 's' ? &seed
									: &only)) {
			fprintf(stderr, "usage: damage [-n TRIALS] [-s SEED] [-t TRIAL]\n");
			return EXIT_FAILURE;
		}
	}
	directory = directory_make();
	printf("seed %llu\n", (unsigned long long)seed);
	snprintf(path, sizeof path, "%s/store", directory);
	drawn = seed;
	store_make(path, &drawn);
	files_read(path);
	is_fine = only == UINT64_MAX ? campaign(directory, seed, 0, trials)
				     : campaign(directory, seed, only, only + 1);
	for (size_t i = 0; i < n_files; i++)
		free(files[i].bytes);
	directory_remove(directory);
	return is_fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
