/* Power cuts: a trace records the writes of a store; then the directory is rebuilt as it might be
 * after a cut at any event (trace.h), and opened. Everything acknowledged before the cut must be
 * present, in the state after some whole transaction, and the store must accept new writes.
 *
 * Some of the directories continue under a trace of their own and are cut again, so that recovery
 * is cut too. Then upgrades of a store are cut in the same ways: the store must be as before or
 * upgraded, and the next attempt must leave the upgraded store and the former one.
 *
 *     power_cut [-a] [-u] [-n CUTS] [-s SEED]
 *
 * With -a, every event is cut in every way; otherwise about so many cuts are drawn of the first
 * trace, and one for every 30 of them that continues. With -u, only upgrades are cut.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "directory.h"
#include "numbered.h"
#include "store/gdbm/upgrade.h"
#include "trace.h"

#define WRITERS 3
#define OVERLAY_BYTES (8 << 10)
#define SEGMENT_BYTES (32 << 10)
#define CUTS 600
#define LAST_EVENTS 8 /* of an upgrade */
#define LAST_TIMES 6

static _Noreturn void give_up(const char *what, const struct fault *fault)
{
	fprintf(stderr, "power_cut: %s: %s: %s\n", what, fault->message, fault->cause);
	exit(EXIT_FAILURE);
}

/* Writes the next transaction, and notes it in the trace if there is one. Not every transaction
 * waits to become durable, so that several share a sync. */
static void write_one(struct store *store, struct arena *arena, struct trace *trace,
		      const struct history *history, bool waits)
{
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	uint64_t number;

	if (!numbered_begin(store, arena, history, &transaction, &fault))
		give_up("begin", &fault);
	number = transaction->number;
	if (trace != NULL)
		trace_number(trace, EVENT_SENT, number);
	if (!store_commit(transaction, &number, &fault) ||
	    (waits && !store_wait(store, number, &fault)))
		give_up("commit", &fault);
	if (trace != NULL && waits)
		trace_number(trace, EVENT_DURABLE, number);
}

/* form: NULL for any. */
static bool store_start(const char *directory, const struct file_system *files,
			const struct store_form *form, struct store **store, struct fault *fault)
{
	const struct store_options options = { .directory = directory,
					       .files = files,
					       .form = form,
					       .readers = WRITERS + 1,
					       .creates = true,
					       .overlay_bytes = OVERLAY_BYTES,
					       .segment_bytes = SEGMENT_BYTES };

	return store_gdbm_open(&options, store, fault);
}

/* The limits for the last transaction in a directory after a cut. */
struct limits {
	uint64_t durable;
	uint64_t sent;
};

/* Opens and checks the directory and, with `goes_on`, writes one more transaction. Returns NULL if
 * all is well. */
static const char *open_fault(const char *directory, const struct store_form *form,
			      const struct history *history, const struct limits *limits,
			      bool goes_on, uint64_t *number, struct fault *fault)
{
	static struct file_hooks fast;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct store *store = NULL;
	const char *found = NULL;

	file_hooks_start(&fast);
	fast.is_fast = true;
	if (!store_start(directory, &fast.files, form, &store, fault)) {
		found = "it does not open";
	} else if (!store_begin(store, STORE_READ, arena, &transaction, fault)) {
		found = "it cannot be read";
	} else {
		*number = transaction->number;
		if (*number < limits->durable)
			found = "an acknowledged transaction is missing";
		else if (*number > limits->sent)
			found = "a transaction is there that was never sent";
		else
			found = numbered_wrong(transaction, history, fault);
		store_abandon(transaction);
	}
	if (found == NULL && goes_on)
		write_one(store, arena, NULL, history, true);
	store_close(store);
	arena_close(arena);
	return found;
}

/* Returns the limits from what was sent and acknowledged before an event. */
static struct limits limits_at(const struct trace *trace, size_t end, uint64_t base)
{
	struct limits limits = { base, base };

	for (size_t i = 0; i < end; i++) {
		const struct event *event = &trace->events[i];

		if (event->kind == EVENT_SENT && event->number > limits.sent)
			limits.sent = event->number;
		if (event->kind == EVENT_DURABLE && event->number > limits.durable)
			limits.durable = event->number;
	}
	return limits;
}

struct writer {
	struct store *store;
	struct trace *trace;
	const struct history *history;
	unsigned transactions;
};

static void *write_some(void *context)
{
	const struct writer *writer = context;
	struct arena *arena = arena_open();

	for (unsigned i = 0; i < writer->transactions; i++) {
		write_one(writer->store, arena, writer->trace, writer->history, i % 4 == 3);
		arena_reset(arena);
	}
	arena_close(arena);
	return NULL;
}

static uint64_t number_now(struct store *store)
{
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	struct transaction *transaction;
	uint64_t number;

	if (!store_begin(store, STORE_READ, arena, &transaction, &fault))
		give_up("begin", &fault);
	number = transaction->number;
	store_abandon(transaction);
	arena_close(arena);
	return number;
}

/* Opens the directory under a trace, writes, and closes it. With a history, the trace first imports
 * the existing files, and the history gets the cut. */
static struct trace *record(const char *directory, unsigned transactions, struct history *history)
{
	const struct history none = HISTORY_INITIAL;
	struct trace *trace = trace_start();
	struct fault fault = FAULT_INITIAL;
	pthread_t threads[WRITERS];
	struct writer writer = { .trace = trace,
				 .history = history == NULL ? &none : history,
				 .transactions = transactions / WRITERS };

	if (history != NULL)
		trace_import(trace, directory);
	if (!store_start(directory, &trace->hooks.files, NULL, &writer.store, &fault))
		give_up(directory, &fault);
	if (history != NULL)
		history->cuts[0] = number_now(writer.store);
	for (unsigned i = 0; i < WRITERS; i++) {
		if (pthread_create(&threads[i], NULL, write_some, &writer) != 0)
			abort();
	}
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	store_close(writer.store);
	trace_finish(trace);
	return trace;
}

/* A trace to cut: its directory, its history, and the number at its beginning. */
struct course {
	const struct trace *trace;
	const char *directory;
	struct history history;
	uint64_t base;
};

static unsigned cuts;
static unsigned wrongs;

/* Makes one cut: opens and checks the directory, writes, and opens it again. */
static void cut_once(const struct course *course, size_t end, enum cut cut, uint64_t seed,
		     bool goes_on)
{
	char *directory = directory_make();
	const uint64_t first_seed = seed;
	struct limits limits = limits_at(course->trace, end, course->base);
	struct history history = course->history;
	struct fault fault = FAULT_INITIAL;
	uint64_t number = 0;
	const char *found;
	char to[512];

	snprintf(to, sizeof to, "%s/store", directory);
	trace_rebuild(course->trace, end, cut, &seed, course->directory, to);
	found = open_fault(to, NULL, &history, &limits, false, &number, &fault);
	if (found == NULL && goes_on) {
		limits = (struct limits){ number, number };
		history.cuts[1] = number;
		found = open_fault(to, NULL, &history, &limits, true, &number, &fault);
		limits = (struct limits){ number + 1, number + 1 };
		if (found == NULL)
			found = open_fault(to, NULL, &history, &limits, false, &number, &fault);
	}
	cuts++;
	if (found == NULL) {
		directory_remove(directory);
		return;
	}
	fprintf(stderr,
		"power_cut: before event %zu of %zu, way %d, seed %llu: %s (stands at %llu, must be "
		"%llu to %llu; %s %s); left as it is: %s\n",
		end, course->trace->n, (int)cut, (unsigned long long)first_seed, found,
		(unsigned long long)number, (unsigned long long)limits.durable,
		(unsigned long long)limits.sent, fault.message, fault.cause, directory);
	free(directory);
	wrongs++;
}

/* Cuts at every event in every way, or at every `stride`-th event in one way each. */
static void cut_course(const struct course *course, bool is_everything, size_t stride,
		       uint64_t *seed)
{
	for (size_t end = course->trace->imported; end <= course->trace->n; end++) {
		if (is_everything) {
			for (int cut = 0; cut < CUT_COUNT; cut++)
				cut_once(course, end, (enum cut)cut, chance(seed), end % 4 == 0);
		} else if (chance_below(seed, stride) == 0 || end == course->trace->n) {
			cut_once(course, end, (enum cut)chance_below(seed, CUT_COUNT), chance(seed),
				 chance_below(seed, 2) == 0);
		}
		if (wrongs > 10)
			return;
	}
}

/* Chooses any event, but often the first write after a rename, where something new begins. */
static size_t end_choose(const struct trace *trace, uint64_t *seed)
{
	size_t end = chance_below(seed, trace->n);

	if (chance_below(seed, 4) == 0)
		return end;
	while (end < trace->n && trace->events[end].kind != EVENT_RENAME)
		end++;
	while (end < trace->n && trace->events[end].kind != EVENT_WRITE)
		end++;
	return end < trace->n ? end + 1 : end;
}

/* Continues in a directory after a cut, and cuts again. */
static void cut_again(const struct course *first, bool is_everything, uint64_t *seed)
{
	char *parent = directory_make();
	const size_t end = end_choose(first->trace, seed);
	struct course course = { .history = HISTORY_INITIAL };
	char directory[512];
	struct trace *trace;

	snprintf(directory, sizeof directory, "%s/store", parent);
	trace_rebuild(first->trace, end, CUT_ANYTHING, seed, first->directory, directory);
	if (access(directory, F_OK) == 0) {
		trace = record(directory, 60, &course.history);
		course.trace = trace;
		course.directory = directory;
		course.base = course.history.cuts[0];
		cut_course(&course, is_everything, 16, seed);
		trace_free(trace);
	}
	directory_remove(parent);
}

static unsigned events_of(const struct trace *trace, enum event_kind kind)
{
	unsigned n = 0;

	for (size_t i = 0; i < trace->n; i++)
		n += trace->events[i].kind == kind;
	return n;
}

/* Returns the number of GDBM files that were finished. */
static unsigned gdbm_files_of(const struct trace *trace)
{
	unsigned n = 0;

	for (size_t i = 0; i < trace->n; i++)
		n += trace->events[i].kind == EVENT_RENAME &&
		     strstr(trace->events[i].to, ".gdbm") != NULL;
	return n;
}

static void cut_all(bool is_everything, size_t wanted, uint64_t seed)
{
	char *parent = directory_make();
	struct course course = { .history = HISTORY_INITIAL };
	char directory[512];
	struct trace *trace;

	snprintf(directory, sizeof directory, "%s/store", parent);
	trace = record(directory, 240, NULL);
	course.trace = trace;
	course.directory = directory;
	printf("%zu events: %u writes, %u syncs, %u renames, %u removals, %u GDBM files\n",
	       trace->n, events_of(trace, EVENT_WRITE),
	       events_of(trace, EVENT_SYNC_FILE) + events_of(trace, EVENT_SYNC_NAMES),
	       events_of(trace, EVENT_RENAME), events_of(trace, EVENT_UNLINK),
	       gdbm_files_of(trace));
	fflush(stdout);
	if (gdbm_files_of(trace) < 5 || events_of(trace, EVENT_UNLINK) < 5) {
		fprintf(stderr, "power_cut: too little happened to be worth a cut\n");
		wrongs++;
	}
	cut_course(&course, is_everything, 1 + trace->n / wanted, &seed);
	for (unsigned i = 0; i < (is_everything ? 30 : 1 + wanted / 30) && wrongs == 0; i++)
		cut_again(&course, is_everything, &seed);
	trace_free(trace);
	directory_remove(parent);
}

/* ---- upgrades ---- */

/* Forms with consecutive numbers; a letter is their text. */
static struct slice form_letter(unsigned number)
{
	return (struct slice){ &"abc"[number - STORE_FORM_FIRST], 1 };
}

static enum store_form_match form_compare(unsigned number, struct slice kept)
{
	return slice_equal(kept, form_letter(number)) ? STORE_FORM_SAME : STORE_FORM_OTHER;
}

#define FORM(number_) \
	static unsigned form_number_##number_(void) \
	{ \
		return STORE_FORM_FIRST + number_; \
	} \
	static struct slice form_text_##number_(struct arena *arena) \
	{ \
		(void)arena; \
		return form_letter(STORE_FORM_FIRST + number_); \
	}
FORM(0)
FORM(1)
FORM(2)

static const struct store_form forms[] = {
	{ form_number_0, form_text_0, form_compare },
	{ form_number_1, form_text_1, form_compare },
	{ form_number_2, form_text_2, form_compare },
};

/* What is upgraded: a store to the form 1, or one that was upgraded before, and has a former one,
 * to the form 2. */
static const struct {
	const char *name;
	size_t form;
	int exchange_error;
} upgrades[] = {
	{ "the first upgrade", 1, 0 },
	{ "the second upgrade", 2, 0 },
	{ "the first upgrade, where names cannot be exchanged", 1, EINVAL },
	{ "the second upgrade, where names cannot be exchanged", 2, EINVAL },
};

static void path_in(char path[512], const char *parent, const char *name)
{
	const int size = snprintf(path, 512, "%s/%s", parent, name);

	if (size < 0 || size >= 512)
		ABORT("a path is too long");
}

/* Upgrades PARENT/store to a form, as command/upgrade.c does. One more transaction converts it. */
static bool upgrade(const char *parent, const struct file_system *files,
		    const struct store_form *form, bool *is_converted, struct fault *fault)
{
	const struct history none = HISTORY_INITIAL;
	struct store_gdbm_upgrade *begun = NULL;
	struct arena *arena = arena_open();
	struct store *store = NULL;
	bool is_unfinished, is_done;
	char directory[512];
	unsigned number;

	path_in(directory, parent, "store");
	const struct store_options options = { .directory = directory,
					       .files = files,
					       .form = form,
					       .readers = 1,
					       .overlay_bytes = OVERLAY_BYTES,
					       .segment_bytes = SEGMENT_BYTES };
	is_done = store_gdbm_upgrade_recover(&options, &is_unfinished, fault) &&
		  store_gdbm_upgrade_begin(&options, &begun, &store, &number, fault);
	*is_converted = is_done && store != NULL;
	if (*is_converted) {
		write_one(store, arena, NULL, &none, true);
		is_done = store_gdbm_upgrade_finish(begun, fault);
	}
	store_gdbm_upgrade_end(begun);
	arena_close(arena);
	return is_done;
}

/* Makes PARENT/store, with files, which is to be upgraded to the form. Returns its last number. */
static uint64_t store_to_upgrade(const char *parent, size_t form)
{
	const struct history none = HISTORY_INITIAL;
	struct arena *arena = arena_open();
	struct fault fault = FAULT_INITIAL;
	char directory[512];
	bool is_converted;
	struct store *store;
	uint64_t number;

	path_in(directory, parent, "store");
	if (!store_start(directory, NULL, &forms[0], &store, &fault))
		give_up(directory, &fault);
	for (unsigned i = 0; i < 80; i++) {
		write_one(store, arena, NULL, &none, i % 20 == 19);
		arena_reset(arena);
	}
	if (!store_gdbm_settle(store, false))
		give_up("settle", &fault);
	write_one(store, arena, NULL, &none, true);
	number = number_now(store);
	store_close(store);
	arena_close(arena);
	for (size_t i = 1; i < form; i++, number++) {
		if (!upgrade(parent, NULL, &forms[i], &is_converted, &fault))
			give_up("upgrade", &fault);
	}
	return number;
}

/* Returns NULL if the store has this last number. */
static const char *store_wrong(const char *parent, const char *name, size_t form, uint64_t number,
			       struct fault *fault)
{
	const struct history none = HISTORY_INITIAL;
	const struct limits limits = { number, number };
	char directory[512];
	uint64_t found;

	path_in(directory, parent, name);
	if (access(directory, F_OK) != 0)
		return "a store is missing";
	return open_fault(directory, &forms[form], &none, &limits, false, &found, fault);
}

/* What is left by a cut is either as before, and then the earlier program starts, or upgraded; and
 * the next attempt leaves both. `number`: the last one before the upgrade. */
static const char *upgrade_wrong(const char *parent, size_t form, uint64_t number, bool goes_back,
				 struct fault *fault)
{
	static struct file_hooks fast;
	char staged[512], directory[512];
	const char *found = NULL;
	bool is_converted = false;
	unsigned now;

	file_hooks_start(&fast);
	fast.is_fast = true;
	path_in(directory, parent, "store");
	path_in(staged, parent, "store.upgrade");
	if (goes_back && access(directory, F_OK) == 0 &&
	    store_gdbm_check_form(directory, &forms[form], &now, fault) &&
	    now < forms[form].number()) {
		if (!upgrade(parent, &fast.files, &forms[form - 1], &is_converted, fault) ||
		    is_converted)
			return "the earlier program does not start";
		if (access(staged, F_OK) == 0)
			return "the earlier program leaves the upgrade";
		return store_wrong(parent, "store", form - 1, number, fault);
	}
	if (!upgrade(parent, &fast.files, &forms[form], &is_converted, fault))
		return "it cannot be upgraded";
	if (access(staged, F_OK) == 0)
		return "the next attempt leaves the upgrade";
	found = store_wrong(parent, "store", form, number + 1, fault);
	return found != NULL ? found : store_wrong(parent, "store.former", form - 1, number, fault);
}

/* Upgrades under a trace that has what is there. */
static struct trace *record_upgrade(const char *parent, size_t row)
{
	const char *const names[] = { "store", "store.upgrade", "store.former" };
	struct trace *trace = trace_start();
	struct fault fault = FAULT_INITIAL;
	char directory[512];
	bool is_converted;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		path_in(directory, parent, names[i]);
		if (access(directory, F_OK) == 0)
			trace_import(trace, directory);
	}
	trace->exchange_error = upgrades[row].exchange_error;
	if (!upgrade(parent, &trace->hooks.files, &forms[upgrades[row].form], &is_converted,
		     &fault))
		give_up(upgrades[row].name, &fault);
	trace_finish(trace);
	return trace;
}

static void cut_upgrade(const struct trace *trace, size_t end, enum cut cut, uint64_t seed,
			const char *parent, size_t row, uint64_t number)
{
	const uint64_t first_seed = seed;
	struct fault fault = FAULT_INITIAL;
	char *directory = directory_make();
	const char *found;
	char to[512];

	path_in(to, directory, "data");
	trace_rebuild(trace, end, cut, &seed, parent, to);
	found = upgrade_wrong(to, upgrades[row].form, number, chance_below(&seed, 4) == 0, &fault);
	cuts++;
	if (found == NULL) {
		directory_remove(directory);
		return;
	}
	fprintf(stderr,
		"power_cut: %s, before event %zu of %zu, way %d, seed %llu: %s (%s %s); left as it "
		"is: %s\n",
		upgrades[row].name, end, trace->n, (int)cut, (unsigned long long)first_seed, found,
		fault.message, fault.cause, directory);
	free(directory);
	wrongs++;
}

static void cut_upgrade_course(const struct trace *trace, bool is_everything, size_t stride,
			       uint64_t *seed, const char *parent, size_t row, uint64_t number)
{
	for (size_t end = trace->imported; end <= trace->n && wrongs <= 10; end++) {
		for (int cut = 0; is_everything && cut < CUT_COUNT; cut++)
			cut_upgrade(trace, end, (enum cut)cut, chance(seed), parent, row, number);
		if (!is_everything && (chance_below(seed, stride) == 0 || end == trace->n))
			cut_upgrade(trace, end, (enum cut)chance_below(seed, CUT_COUNT),
				    chance(seed), parent, row, number);
	}
	/* At the end, the names change: what is lost there is drawn more often. */
	for (size_t end = trace->imported; end <= trace->n && wrongs <= 10; end++) {
		if (trace->n - end >= LAST_EVENTS)
			continue;
		for (unsigned i = 0; i < LAST_TIMES; i++)
			cut_upgrade(trace, end, CUT_ANYTHING, chance(seed), parent, row, number);
	}
}

/* Cuts each upgrade; and then some of those that begin after a cut. */
static void cut_upgrades(bool is_everything, size_t wanted, uint64_t *seed)
{
	const size_t rows = sizeof upgrades / sizeof upgrades[0];

	for (size_t row = 0; row < rows; row++) {
		char *parent = directory_make(), *other = directory_make(), again[512];
		const uint64_t number = store_to_upgrade(parent, upgrades[row].form);
		struct trace *trace = record_upgrade(parent, row), *second;
		const size_t stride = 1 + (trace->n - trace->imported) * rows / wanted;
		const size_t left = trace->n - trace->imported;

		printf("%s: %zu events\n", upgrades[row].name, left);
		fflush(stdout);
		cut_upgrade_course(trace, is_everything, stride, seed, parent, row, number);
		/* In the second half, where the names change. */
		path_in(again, other, "data");
		trace_rebuild(trace, trace->n - chance_below(seed, left / 2), CUT_ANYTHING, seed,
			      parent, again);
		if (wrongs == 0) {
			second = record_upgrade(again, row);
			cut_upgrade_course(second, is_everything, 2 * stride, seed, again, row,
					   number);
			trace_free(second);
		}
		trace_free(trace);
		directory_remove(parent);
		directory_remove(other);
	}
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
	bool is_everything = false, is_right = true, only_upgrades = false;
	uint64_t seed = (uint64_t)time(NULL), wanted = CUTS;

	for (int option; (option = getopt(argc, argv, "aun:s:")) != -1;) {
		if (option == 'a')
			is_everything = true;
		else if (option == 'u')
			only_upgrades = true;
		else
			is_right = is_right && option != '?' &&
				   number_of(optarg, option == 'n' ? &wanted : &seed);
	}
	if (!is_right || wanted == 0) {
		fprintf(stderr, "usage: power_cut [-a] [-u] [-n CUTS] [-s SEED]\n");
		return EXIT_FAILURE;
	}
	printf("seed %llu\n", (unsigned long long)seed);
	if (!only_upgrades)
		cut_all(is_everything, (size_t)wanted, seed);
	cut_upgrades(is_everything, (size_t)wanted, &seed);
	printf("%u cuts, %u wrong\n", cuts, wrongs);
	return wrongs == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
