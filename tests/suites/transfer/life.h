/*
 * Moves accounts from one store into another (transfer/transfer.h), and tests what `check` finds in
 * a store (transfer/record_findings.h). A world is a data directory with the service and its
 * durable store. A life is a sequence of requests that leaves one of everything: hidden members,
 * deleted and renamed roles, codes of all kinds and codes that are due, rooms that moved to another
 * template. It is lived once for all tests of a case; each test gets a copy of what it left.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_TRANSFER_LIFE_H
#define TESTS_TRANSFER_LIFE_H

#include <check.h>

#include "records/kinds.h"
#include "resources/live/live_merge.h"
#include "store/gdbm/entries.h"
#include "transfer/record_findings.h"
#include "transfer/transfer.h"
#include "world.h"

#define DAY ((int64_t)24 * 60 * 60)

/* ---- worlds ---- */

/* Of the running test. */
extern struct fault fault;

/* Opens a world without accounts. */
void open_new(struct world *world);

/* Opens the store of the world a second time, as commands do. */
void open_read_only(const struct world *world, struct store **store);

/* The worlds of each test: the life is in one of them, and what is moved goes into the other. */
extern struct world one, other;

/* The fixture: both worlds, new. */
void set_up(void);
void tear_down(void);

/* ---- requests ---- */

/* Returns the response's text, which the caller frees; the status comes first unless it is 200 or
 * 204. */
char *answer_of(struct world *world, const char *name, enum method method, const char *path,
		const char *body);

/* Makes a request that must succeed; copies `id` or `kid` of the response to *id, unless that is
 * NULL. */
void done(struct world *world, enum method method, const char *body, char *id, const char *format,
	  ...) __attribute__((format(printf, 5, 6)));

/* What requests of a life returned. */
struct life {
	char one[25], two[25]; /* templates */
	char followed[25], own[25], moved[25], off[25]; /* rooms */
	char livekit[25]; /* the media server of the sessions */
};

/* Adds the accounts: "a", which has everything, and "b", which is disabled. */
void add_accounts(struct world *world);

/* ---- live rooms ---- */

/* Returns the id, which the text must be. */
struct id parsed_id(const char *text);

/* Returns the id of the account with this name. */
struct id account_id(const struct world *world, const char *name);

/* Begins a call of the account a, without a request. */
void begin_call(struct world *world, struct call *call);

/* Stores what the call did, durably. */
void commit_call(struct call *call);

/* Reports of a media server. */
struct reported {
	enum report_type type;
	const char *stay, *role, *entry;
	bool is_by_phone;
};

/* Merges the reports one after the other, 7 s apart. */
void merge_reports(struct world *world, const char *room, const char *backend,
		   const struct reported *reported, size_t count);

/* Makes the first world one in which everything is that a dump can have: a life, with each member
 * somewhere other than empty. */
void live_everything(struct life *life);
/* Opens the world with data that another one has left, at the time of the life. */
void open_left(struct world *world, char *directory);

/* The fixture of a case: lives the life once. */
void set_up_life(void);
void tear_down_life(void);

/* Makes the world, which is new, one in which the life has just been lived. */
void live(struct world *world, struct life *life);

/* Expects both worlds to answer alike, for each of these ids. */
void compare_shown(const char *ids[], size_t n);

/* ---- after a life ---- */

/* Leaves events without a number in the queue, as responders do that share a database. */
void enqueue_events(struct world *world, const char *name, size_t n);

/* Makes a record of each kind of which a life leaves none, in the first world. */
void make_all(const struct life *life);

/* Makes an ID of this number and second. */
struct id made_id(uint32_t seconds, uint64_t number);

/* Gets the ID of the last, and so oldest, item of a list. */
void last_of(const char *path, char id[25]);

/* Makes one of the requests that read stored JSON, and returns the response (answer_of); NULL if
 * there are only so many. */
char *ask_reader(size_t i, const struct life *life, const char *backend, const char *webhook);

/* Makes all these requests and returns how many reported damage. */
unsigned ask_all(const struct life *life, const char *backend, const char *webhook);

/* ---- dumps ---- */

#define LINES_MOST 1200

/* A dump. */
struct lines {
	struct transfer_output output;
	struct world *busy; /* changes during the dump, or NULL */
	size_t changes;
	char *lines[LINES_MOST];
	size_t count;
	bool is_read_again; /* after each line, all lines of the transaction again */
	bool is_committed; /* each line is its own transaction */
	size_t lost; /* counted by keep_lost */
	char said[1000]; /* what was lost */
};

/* Keeps what a salvage could not save. */
void keep_lost(struct transfer_output *output, const char *what, const char *why);
void free_lines(struct lines *lines);

/* Dumps over a second opening of the store, while a service has it open, as the command does. */
bool try_dump(struct world *world, struct lines *lines, struct fault *why);

/* For qsort. */
int compare_lines(const void *a, const void *b);

/* Dumps the world. Lines of `words` have no particular order, so they are sorted. */
void dump(struct world *world, struct lines *lines);

/* What a load found wrong. */
struct saying {
	struct record_findings findings;
	char *said;
};

/* Commits the lines so far, as at the end of a batch. */
void commit_lines(struct transfer_input *input, struct transfer_input *mark);

/* Keeps what is found, in a struct saying. */
void say_finding(struct record_findings *findings, const char *kind, const char *key,
		 const char *problem);

/* Loads the lines in one transaction, unless `lines` says otherwise. On a fault, returns false with
 * the line in *at and the details in *said. */
bool load(struct world *world, const struct lines *lines, size_t *at, char said[2000]);

/* The upgrades of the program that loads; NULL for those of this one. */
extern const struct record_upgrades *load_upgrades;
extern const struct store_form *load_form;

/* The same, which must succeed. */
void load_whole(struct world *world, const struct lines *lines);

/* Compares all lines except the first, which contains the time. */
void compare_dumps(const struct lines *first, const struct lines *second);

/* Sorts all lines except the first. */
void sort_lines(struct lines *lines);

/* ---- check ---- */

/* What `check` found. */
struct counting {
	struct record_findings findings;
	unsigned count;
	char said[800]; /* text of the last finding */
	struct snapshot *snapshot;
};

/* Counts what is found, in a struct counting. */
void count_finding(struct record_findings *findings, const char *kind, const char *key,
		   const char *problem);

/* The same of the problems of a store. */
void count_problem(void *context, const char *problem);

/* Has the survey look at all records of a kind. */
bool look_at_all(struct counting *counting, const struct store_kind *kind, struct fault *why);

/* Returns what `check` finds in the world. */
struct counting checked(struct world *world);

/* Expects `check` to find nothing. */
void sound(struct world *world);

/* ---- records as they are stored ---- */

/* Returns the place of the first line with this text; there must be one. */
size_t line_with(const struct lines *lines, const char *text);

/* An entry of a store. */
struct stored {
	enum store_table table;
	struct slice key, value;
};

/* All entries of a store. */
struct collecting {
	struct arena *arena;
	struct stored *records;
	size_t count;
};

#define LISTS 6

/* Collects all entries of the store, in the arena that *collecting has. */
void collect_all(struct world *world, struct collecting *collecting);

/* Replaces the value of a record; removes the record if value.data is NULL. */
void change(struct world *world, const struct stored *record, struct slice value);

/* Returns the codes of this room. */
struct stored *stored_codes(struct collecting *collecting, const char *room);

/* Returns a copy of the value that ends `shorter` bytes earlier and has one byte changed. */
struct slice altered(struct arena *arena, struct slice value, size_t shorter, size_t place,
		     char byte);

/* ---- the files of the suite ---- */

/* Each adds its tests to these cases. */
void add_moves(TCase *whole, TCase *transfer, TCase *kept);
void add_refused(TCase *refused, TCase *transfer, TCase *older_texts);
void add_damaged(TCase *damaged, TCase *check, TCase *saved, TCase *texts);
void add_kinds(TCase *whole);
void add_rows(TCase *check, TCase *kept, TCase *behind);
void add_whole(TCase *every, TCase *large);
void add_upgrades(TCase *upgrades);
/* made: NULL unless data are to be kept. */
void add_kept(TCase *made, TCase *kept);

#endif
