/* See background/job_watch.h. Times are clock_monotonic unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/job_watch.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "accounts/accounts.h"
#include "background/request_list.h"
#include "background/transact.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/audit_record.h"
#include "resources/live/live_queue.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recorders.h"
#include "resources/recordings/recording_automatic.h"
#include "rules/template_rules.h"
#include "schema/schema.h"

/* Milliseconds between two rounds; and works that one round looks at. */
#define ROUND 200
#define DUE_AT_ONCE 128
/* Requests to media servers that are under way at most, of all accounts and of one. */
#define REQUESTS_MOST 64
#define REQUESTS_OF_ACCOUNT 8

/* A request to a media server about the participant of a recorder. */
struct job_request {
	struct listed_request listed; /* first, so that it is the same object */
	struct id job;
	uint32_t epoch;
	enum job_question question;
};

/* A session that is to be recorded or streamed, and could not be. */
struct unrecorded {
	struct id session;
	enum job_type type;
	int64_t again; /* when it is tried again */
};
#define UNRECORDED_MOST 1000
/* Accounts, and rooms in session, that a round looks at for recordings that start by themselves. */
#define ACCOUNTS_AT_ONCE 100
#define ROOMS_AT_ONCE 32
/* Milliseconds between the beginnings of two passes over all accounts. */
#define PASS_EVERY 1000
/* Milliseconds between two counts of all accounts. */
#define COUNTED_EVERY 10000

struct job_watch {
	const struct environment *environment;
	struct lease *lease;
	struct transactor work;
	struct arena *arena;
	int64_t since; /* milliseconds since 1970: this process follows jobs from then on; 0: not */
	struct request_list requests;
	/* Recordings that start by themselves: the account, and the room after which it goes on. */
	size_t account_place;
	int64_t pass_at; /* when the next pass may begin */
	struct id room_after;
	struct unrecorded unrecorded[UNRECORDED_MOST];
	size_t unrecorded_next; /* the oldest of them is forgotten first */
	/* Figures of all accounts: those that were gone through, and what was found so far. */
	size_t counted;
	int64_t count_at;
	struct recording_figures found;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ending;
	bool ends; /* protected by the lock */
};

/* ---- requests to media servers ---- */

static bool request_may_begin(const struct job_watch *watch, const struct job_turn *turn,
			      uint32_t epoch)
{
	size_t own;

	for (const struct listed_request *listed = watch->requests.first; listed != NULL;
	     listed = listed->next) {
		const struct job_request *other = (const struct job_request *)listed;

		if (id_compare(&listed->asking.account, &turn->account) == 0 &&
		    id_compare(&other->job, &turn->job) == 0 && other->epoch == epoch)
			return false;
	}
	return request_list_count(&watch->requests, &turn->account, &own) < REQUESTS_MOST &&
	       own < REQUESTS_OF_ACCOUNT && watch->environment->media_client != NULL &&
	       watch->environment->live == LIVE_ON;
}

static void request_begin(struct job_watch *watch, const struct job_turn *turn, uint32_t epoch,
			  enum job_question question)
{
	struct fault fault = FAULT_INITIAL;
	struct job_request *request;
	bool is_there = false;

	if (!request_may_begin(watch, turn, epoch))
		return;
	request = (struct job_request *)listed_request_open(&turn->account, sizeof *request);
	request->job = turn->job;
	request->epoch = epoch;
	request->question = question;
	{
		TRANSACT run = transact_begin(&watch->work, STORE_READ, request->listed.arena,
					      &turn->account, &fault);

		while (transact_again(&run))
			run.is_done = job_ask_server(&run.call, &turn->job, epoch, question,
						     &request->listed.asking, &is_there, &fault);
		is_there = is_there && run.is_done;
	}
	if (is_there)
		request_list_ask(&watch->requests, watch->environment->media_client,
				 &request->listed);
	else
		arena_close(request->listed.arena);
}

/* ---- one job ---- */

/* Looks at a job, and begins what follows from it at its media server. */
static void watch_job(struct job_watch *watch, struct job_turn *turn)
{
	const struct environment *environment = watch->environment;
	struct fault fault = FAULT_INITIAL;

	turn->since = watch->since;
	{
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena,
					      &turn->account, &fault);

		while (transact_again(&run))
			run.is_done = job_take_turn(&run.call, turn, &fault);
		if (!run.is_done)
			turn->acts = turn->removes_epoch = turn->asks_epoch = turn->makes_room = 0;
	}
	arena_reset(watch->arena);
	if ((turn->acts & ACT_SEEN) != 0 && environment->live_queue != NULL)
		live_queue_want(environment->live_queue, &turn->account, &turn->room,
				ROOM_NOTIFY_JOBS);
	if (turn->removes_epoch != 0)
		request_begin(watch, turn, turn->removes_epoch, JOB_REMOVES);
	if (turn->asks_epoch != 0)
		request_begin(watch, turn, turn->asks_epoch, JOB_ASKS);
	if (turn->makes_room)
		request_begin(watch, turn, 0, JOB_MAKES_ROOM);
}

/* A participant that is not there is as good as removed. */
static void take_answer(struct job_watch *watch, struct job_request *request)
{
	const struct asked *asked = &request->listed.asked;
	const int status = asked->end == ASKED_ANSWERED ? asked->outcome.status : 0;
	struct job_turn turn = { .account = request->listed.asking.account, .job = request->job };

	switch (request->question) {
	case JOB_REMOVES:
		turn.removed_epoch = status == 200 || status == 404 ? request->epoch : 0;
		break;
	case JOB_ASKS:
		turn.listed = status == 404   ? LISTED_GONE
			      : status == 200 ? LISTED_THERE
					      : LISTED_UNKNOWN;
		break;
	case JOB_MAKES_ROOM:
		turn.has_room = status == 200;
		break;
	}
	/* Without an answer, the next look asks again. */
	if (turn.removed_epoch != 0 || turn.listed != LISTED_UNKNOWN || turn.has_room)
		watch_job(watch, &turn);
}

/* ---- the thread ---- */

/* Looks at the jobs that are due, the earliest first. Returns true if there may be more. */
static bool watch_due(struct job_watch *watch)
{
	struct fault fault = FAULT_INITIAL;
	struct arena *arena = arena_open();
	struct work *works = NULL;
	bool is_last = true;
	size_t n = 0;

	{
		TRANSACT run = transact_begin(&watch->work, STORE_READ, arena, &audit_no_account,
					      &fault);

		while (transact_again(&run))
			run.is_done = works_due(&run.call, clock_now(watch->environment->clock),
						DUE_AT_ONCE, &works, &n, &is_last, &fault);
		if (!run.is_done)
			n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct job_turn turn = { .account = works[i].account,
					 .job = works[i].job,
					 .created = works[i].created };

		watch_job(watch, &turn);
	}
	arena_close(arena);
	return n > 0 && !is_last;
}

/* ---- recordings and streams that start by themselves ---- */

static struct unrecorded *unrecorded_find(struct job_watch *watch, const struct id *session,
					  enum job_type type)
{
	for (size_t i = 0; i < UNRECORDED_MOST; i++) {
		if (watch->unrecorded[i].again != 0 && watch->unrecorded[i].type == type &&
		    id_compare(&watch->unrecorded[i].session, session) == 0)
			return &watch->unrecorded[i];
	}
	return NULL;
}

/* Starts a job. One that could not be started is tried again after a while, and its event is noted
 * once in a session. */
static void start_job(struct job_watch *watch, const struct id *account, const struct id *room,
		      const struct id *session, enum job_type type)
{
	const struct environment *environment = watch->environment;
	struct unrecorded *known = unrecorded_find(watch, session, type);
	enum automatic result = AUTOMATIC_NOT_WANTED;
	struct fault fault = FAULT_INITIAL;

	if (known != NULL && clock_monotonic() < known->again)
		return;
	{
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena, account,
					      &fault);

		while (transact_again(&run))
			run.is_done = automatic_start(&run.call, room, type, known == NULL, &result,
						      &fault);
		if (!run.is_done)
			return;
	}
	if (result == AUTOMATIC_STARTED && environment->live_queue != NULL)
		live_queue_want(environment->live_queue, account, room, ROOM_NOTIFY_JOBS);
	if (result != AUTOMATIC_FAILED)
		return;
	if (known == NULL) {
		known = &watch->unrecorded[watch->unrecorded_next++ % UNRECORDED_MOST];
		known->session = *session;
		known->type = type;
	}
	known->again = clock_monotonic() + environment->recordings->times.retry;
}

/* Most rooms are only read. */
static void start_in_room(struct job_watch *watch, const struct id *account, const struct id *room)
{
	struct fault fault = FAULT_INITIAL;
	struct wanted_jobs wanted;
	bool wants[JOB_TYPES] = { false };

	{
		TRANSACT run = transact_begin(&watch->work, STORE_READ, watch->arena, account,
					      &fault);

		while (transact_again(&run))
			run.is_done = automatic_find(&run.call, room, &wanted, &fault);
		for (size_t i = 0; run.is_done && i < JOB_TYPES; i++)
			wants[i] = wanted.bodies[i] != NULL;
	}
	for (size_t i = 0; i < JOB_TYPES; i++) {
		if (wants[i])
			start_job(watch, account, room, &wanted.session, (enum job_type)i);
	}
}

/* Looks at some rooms in session of the next accounts. */
static void start_in_rooms(struct job_watch *watch)
{
	const struct environment *environment = watch->environment;
	struct accounts *accounts = environment->accounts;
	const struct roster *roster;
	size_t rooms = 0;

	/* Without a folder there are external streams alone. */
	if (environment->live != LIVE_ON || environment->recordings == NULL)
		return;
	roster = accounts_current(accounts);
	for (size_t i = 0; roster->recorder_count > 0 && i < ACCOUNTS_AT_ONCE &&
			   i < roster->count && rooms < ROOMS_AT_ONCE;
	     i++) {
		const struct account *account;
		struct store_record records[ROOMS_AT_ONCE];
		struct id ids[ROOMS_AT_ONCE];
		struct fault fault = FAULT_INITIAL;
		size_t n = 0;
		bool is_last = true;

		if (watch->account_place >= roster->count) {
			if (clock_monotonic() < watch->pass_at)
				break;
			watch->pass_at = clock_monotonic() + PASS_EVERY;
			watch->account_place = 0;
		}
		account = &roster->accounts[watch->account_place];
		if (account->is_enabled) {
			TRANSACT run = transact_begin(&watch->work, STORE_READ, watch->arena,
						      &account->id, &fault);

			while (transact_again(&run)) {
				struct store_page page = { .order = STORE_OLDEST_FIRST,
							   .above = &watch->room_after,
							   .records = records,
							   .most = ROOMS_AT_ONCE - rooms };

				run.is_done = store_page(run.call.transaction, &kind_live, &page,
							 &fault);
				is_last = page.is_last || !run.is_done;
				n = run.is_done ? page.count : 0;
			}
		}
		for (size_t j = 0; j < n; j++)
			ids[j] = records[j].id;
		arena_reset(watch->arena);
		for (size_t j = 0; j < n; j++) {
			start_in_room(watch, &account->id, &ids[j]);
			arena_reset(watch->arena);
		}
		rooms += n;
		if (n > 0)
			watch->room_after = ids[n - 1];
		if (is_last) {
			watch->account_place++;
			watch->room_after = kind_only_id;
		}
	}
	accounts_release(accounts, roster);
}

/* ---- figures ---- */

/* The newest report of the service's folder says how much space it has. */
static uint64_t free_bytes_of(struct call *call, bool *is_read, struct fault *fault)
{
	const struct slice folder = recordings_folder_id(call);
	const struct recorder *newest = NULL;
	struct recorder *recorders;
	size_t n;

	*is_read = recorders_read(call, &recorders, &n, fault);
	for (size_t i = 0; *is_read && i < n; i++) {
		recorders_refresh(call->environment->recorders, call->arena, &recorders[i]);
		if (folder.size > 0 && slice_equal(recorders[i].folder, folder) &&
		    (newest == NULL || recorders[i].seen > newest->seen))
			newest = &recorders[i];
	}
	return newest == NULL ? 0 : newest->free_bytes;
}

/* Adds what some accounts have; all accounts take their turn within COUNTED_EVERY or longer. */
static void count_jobs(struct job_watch *watch)
{
	struct accounts *accounts = watch->environment->accounts;
	const int64_t now = clock_monotonic();
	struct fault fault = FAULT_INITIAL;
	const struct roster *roster;

	if (now < watch->count_at)
		return;
	roster = accounts_current(accounts);
	for (size_t i = 0; i < ACCOUNTS_AT_ONCE && watch->counted < roster->count;
	     i++, watch->counted++) {
		TRANSACT run = transact_begin(&watch->work, STORE_READ, watch->arena,
					      &roster->accounts[watch->counted].id, &fault);
		struct jobs jobs;

		while (transact_again(&run))
			run.is_done = jobs_load(&run.call, STORE_TO_SHOW, &jobs, &fault);
		if (!run.is_done)
			continue;
		for (int type = 0; type < JOB_TYPES; type++) {
			for (int status = 0; status < JOB_COMPLETED; status++)
				watch->found.jobs[type][status] += jobs.counts[type][status];
		}
		watch->found.bytes += jobs.bytes;
		watch->found.missing += jobs.missing;
	}
	if (watch->counted >= roster->count) {
		TRANSACT run = transact_begin(&watch->work, STORE_READ, watch->arena,
					      &audit_no_account, &fault);

		while (transact_again(&run))
			watch->found.free_bytes = free_bytes_of(&run.call, &run.is_done, &fault);
		recorders_set_figures(watch->environment->recorders, &watch->found);
		watch->found = (struct recording_figures){ .bytes = 0 };
		watch->counted = 0;
		watch->count_at = now + COUNTED_EVERY;
	}
	accounts_release(accounts, roster);
	arena_reset(watch->arena);
}

static bool watch_waits(struct job_watch *watch, int64_t milliseconds)
{
	bool ends;

	pthread_mutex_lock(&watch->lock);
	if (!watch->ends && milliseconds > 0)
		clock_wait(&watch->ending, &watch->lock, milliseconds);
	ends = watch->ends;
	pthread_mutex_unlock(&watch->lock);
	return !ends;
}

static void *run_job_watch(void *context)
{
	struct job_watch *watch = context;
	struct listed_request *request;
	bool is_behind = false;

	do {
		is_behind = false;
		if (!lease_hold(watch->lease)) {
			watch->since = 0;
			continue;
		}
		if (watch->since == 0)
			watch->since = clock_now(watch->environment->clock);
		while ((request = request_list_take(&watch->requests)) != NULL) {
			take_answer(watch, (struct job_request *)request);
			listed_request_close(request);
		}
		is_behind = watch_due(watch);
		start_in_rooms(watch);
		count_jobs(watch);
		if (watch->work.has_committed)
			store_flush(watch->environment->store);
		watch->work.has_committed = false;
	} while (watch_waits(watch, is_behind ? 0 : ROUND));
	return NULL;
}

struct job_watch *job_watch_open(const struct environment *environment, struct lease *lease)
{
	struct job_watch *watch = memory_check(calloc(1, sizeof *watch));

	assert(schema_is_verified(&template_shape));
	watch->environment = environment;
	watch->lease = lease;
	watch->work = (struct transactor){ .environment = environment, .event = "job_not_merged" };
	watch->arena = arena_open();
	request_list_open(&watch->requests);
	clock_condition_init(&watch->ending);
	if (pthread_mutex_init(&watch->lock, NULL) != 0 ||
	    pthread_create(&watch->thread, NULL, run_job_watch, watch) != 0)
		ABORT("cannot create a lock or thread");
	return watch;
}

void job_watch_end(struct job_watch *watch)
{
	if (watch == NULL)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->ends = true;
	pthread_cond_signal(&watch->ending);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
}

void job_watch_close(struct job_watch *watch)
{
	if (watch == NULL)
		return;
	request_list_close(&watch->requests);
	arena_close(watch->arena);
	pthread_cond_destroy(&watch->ending);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}
