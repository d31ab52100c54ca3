/* See resources/recordings/recorders.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recorders.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/recordings/job_merge.h"

/* What a recorder has reported, as text of fixed size. */
struct reported {
	struct recorder recorder; /* without its texts */
	char name[JOB_RECORDER_MOST + 1], boot[JOB_RECORDER_MOST + 1];
	char folder[JOB_FOLDER_MOST + 1];
};

struct recorders {
	pthread_mutex_t lock;
	struct reported *reported; /* as many as may have a key */
	size_t count;
	struct recording_figures figures; /* but the histogram */
	struct histogram first_media;
};

struct recorders *recorders_open(void)
{
	struct recorders *recorders = memory_check(calloc(1, sizeof *recorders));

	recorders->reported =
		memory_check(calloc(ROSTER_RECORDERS_MOST, sizeof *recorders->reported));
	pthread_mutex_init(&recorders->lock, NULL);
	return recorders;
}

void recorders_close(struct recorders *recorders)
{
	if (recorders == NULL)
		return;
	pthread_mutex_destroy(&recorders->lock);
	free(recorders->reported);
	free(recorders);
}

static void text_keep(char *to, size_t size, struct slice text)
{
	const size_t n = text.size < size - 1 ? text.size : size - 1;

	if (n > 0)
		memcpy(to, text.data, n);
	to[n] = '\0';
}

/* The lock is held. Returns a place for the recorder; when all are taken, that of the recorder
 * that was silent for longest. */
static struct reported *reported_of(struct recorders *recorders, struct slice name, bool makes)
{
	size_t oldest = 0;

	for (size_t i = 0; i < recorders->count; i++) {
		if (slice_is(name, recorders->reported[i].name))
			return &recorders->reported[i];
		if (recorders->reported[i].recorder.seen <
		    recorders->reported[oldest].recorder.seen)
			oldest = i;
	}
	if (!makes)
		return NULL;
	if (recorders->count < ROSTER_RECORDERS_MOST)
		oldest = recorders->count++;
	return &recorders->reported[oldest];
}

void recorders_note(struct recorders *recorders, const struct recorder *reported)
{
	struct reported *place;

	if (recorders == NULL)
		return;
	pthread_mutex_lock(&recorders->lock);
	place = reported_of(recorders, reported->name, true);
	place->recorder = *reported;
	text_keep(place->name, sizeof place->name, reported->name);
	text_keep(place->boot, sizeof place->boot, reported->boot);
	text_keep(place->folder, sizeof place->folder, reported->folder);
	pthread_mutex_unlock(&recorders->lock);
}

void recorders_refresh(struct recorders *recorders, struct arena *arena, struct recorder *recorder)
{
	const struct store_record stored = recorder->stored;
	const struct slice name = recorder->name;
	const struct reported *place;

	if (recorders == NULL)
		return;
	pthread_mutex_lock(&recorders->lock);
	place = reported_of(recorders, name, false);
	if (place != NULL && place->recorder.seen >= recorder->seen) {
		*recorder = place->recorder;
		recorder->stored = stored;
		recorder->name = name;
		recorder->boot = arena_copy(arena, slice_of(place->boot));
		recorder->folder = arena_copy(arena, slice_of(place->folder));
	}
	pthread_mutex_unlock(&recorders->lock);
}

/* ---- figures ---- */

void recorders_figures(struct recorders *recorders, struct recording_figures *figures)
{
	pthread_mutex_lock(&recorders->lock);
	*figures = recorders->figures;
	pthread_mutex_unlock(&recorders->lock);
	histogram_read(&recorders->first_media, &figures->first_media);
}

void recorders_count_recorded(struct recorders *recorders, uint64_t milliseconds)
{
	if (recorders == NULL)
		return;
	pthread_mutex_lock(&recorders->lock);
	recorders->figures.recorded += milliseconds;
	pthread_mutex_unlock(&recorders->lock);
}

void recorders_count_failed(struct recorders *recorders, enum job_reason reason)
{
	if (recorders == NULL || reason < JOB_NO_RECORDER)
		return;
	pthread_mutex_lock(&recorders->lock);
	recorders->figures.failed[reason - JOB_NO_RECORDER]++;
	pthread_mutex_unlock(&recorders->lock);
}

void recorders_count_started(struct recorders *recorders, int64_t milliseconds)
{
	if (recorders != NULL && milliseconds >= 0)
		histogram_add(&recorders->first_media, (uint64_t)milliseconds * 1000);
}

void recorders_set_figures(struct recorders *recorders, const struct recording_figures *found)
{
	if (recorders == NULL)
		return;
	pthread_mutex_lock(&recorders->lock);
	memcpy(recorders->figures.jobs, found->jobs, sizeof found->jobs);
	recorders->figures.bytes = found->bytes;
	recorders->figures.missing = found->missing;
	recorders->figures.free_bytes = found->free_bytes;
	pthread_mutex_unlock(&recorders->lock);
}

/* ---- the key ---- */

bool recorder_read_key(struct call *call, struct slice name, unsigned char digest[DIGEST_SIZE],
		       struct fault *fault)
{
	const struct slice scheme = SLICE("bearer ");
	const struct slice header = call->request.authorization;
	struct slice token, secret = { NULL, 0 }, of;

	if (header.size > scheme.size &&
	    text_equal_ignoring_case((struct slice){ header.data, scheme.size }, scheme)) {
		token = (struct slice){ header.data + scheme.size, header.size - scheme.size };
		of = text_split(token, '.', &secret);
		if (!slice_equal(of, name))
			secret = (struct slice){ NULL, 0 };
	}
	if (secret.data == NULL || secret.size != SECRET_TEXT_SIZE)
		return fault_detail(fault, FAULT_UNAUTHORIZED,
				    "the report of a recorder needs its key, NAME.SECRET");
	digest_sha256(secret, digest);
	return true;
}

bool recorder_check_key(struct call *call, struct slice name,
			const unsigned char digest[DIGEST_SIZE], struct recorder_key *key,
			struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct recorder_key *found = roster_recorder(roster, name);
	const bool is_right = found != NULL && digest_equal(found->digest, digest);

	if (is_right)
		*key = *found;
	accounts_release(accounts, roster);
	return is_right || fault_detail(fault, FAULT_UNAUTHORIZED,
					"this key is of no recorder; see anteroom recorder list");
}

/* ---- states ---- */

const char *const recorder_state_names[RECORDER_STATES] = {
	[RECORDER_FREE] = "free",	  [RECORDER_BUSY] = "busy", [RECORDER_FULL] = "full",
	[RECORDER_DRAINING] = "draining", [RECORDER_LOST] = "lost",
};

bool recorder_has_space(uint64_t free_bytes, uint64_t total_bytes)
{
	return free_bytes >= RECORDER_FREE_LEAST &&
	       free_bytes / RECORDER_FREE_PERCENT >= total_bytes / 100;
}

enum recorder_state recorder_state_now(const struct recorder *recorder, int64_t lease, int64_t now)
{
	if (recorder->is_old || recorder->has_ended || now >= recorder->seen + lease)
		return RECORDER_LOST;
	if (recorder->slots == 0)
		return RECORDER_DRAINING;
	if (recorder->filled >= recorder->slots ||
	    !recorder_has_space(recorder->free_bytes, recorder->total_bytes) ||
	    recorder->busy >= RECORDER_BUSY_MOST)
		return RECORDER_FULL;
	return recorder->works > 0 ? RECORDER_BUSY : RECORDER_FREE;
}

bool recorders_of_account(struct call *call, struct recorder **recorders, size_t *n,
			  struct fault *fault)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster;
	size_t all, kept = 0;

	if (!recorders_read(call, recorders, &all, fault))
		return false;
	roster = accounts_current(accounts);
	for (size_t i = 0; i < all; i++) {
		struct recorder *recorder = &(*recorders)[i];
		const struct recorder_key *key = roster_recorder(roster, recorder->name);

		if (key == NULL || !recorder_key_serves(key, &call->account))
			continue;
		recorders_refresh(call->environment->recorders, call->arena, recorder);
		(*recorders)[kept++] = *recorder;
	}
	accounts_release(accounts, roster);
	*n = kept;
	return true;
}

/* ---- a start ---- */

bool recorders_exist(const struct call *call)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const bool exist = roster->recorder_count > 0;

	accounts_release(accounts, roster);
	return exist;
}

bool recorders_serve_account(const struct call *call)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	bool has = false;

	for (size_t i = 0; i < roster->recorder_count; i++)
		has = has || recorder_key_serves(&roster->recorders[i], &call->account);
	accounts_release(accounts, roster);
	return has;
}

static bool recorder_has_folder(const struct recorder *recorder, const struct job *job)
{
	return job->folder.size == 0 || slice_equal(recorder->folder, job->folder);
}

bool recorders_check_start(struct call *call, const struct job *job, struct fault *fault)
{
	const int64_t lease = recording_times_of(call)->lease;
	const struct recorder *newest = NULL;
	struct recorder *recorders;
	bool has_folder = false;
	size_t n;

	if (!recorders_of_account(call, &recorders, &n, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!recorder_has_folder(&recorders[i], job))
			continue;
		has_folder = true;
		if (call->now < recorders[i].seen + lease &&
		    (newest == NULL || recorders[i].seen > newest->seen))
			newest = &recorders[i];
	}
	if (!has_folder)
		return fault_explain(
			fault, FAULT_CONFLICT, "No recorder is installed", "%s",
			!recorders_serve_account(call)
				? "run anteroom recorder add, and anteroom record with its key"
			: n == 0 ? "no recorder has reported yet: run anteroom record"
				 : "no recorder has this folder: run anteroom record with the "
				   "folder of serve --recordings");
	if (newest != NULL && !recorder_has_space(newest->free_bytes, newest->total_bytes)) {
		fault_explain(fault, FAULT_SERVER_BUSY, "Not enough space for recordings",
			      "the folder of the recordings has less than 2 GiB or 5 %% free");
		fault->retry_after = 60;
		return false;
	}
	return true;
}

bool recorders_can_take(struct call *call, const struct job *job, bool *can, struct fault *fault)
{
	const int64_t lease = recording_times_of(call)->lease;
	struct recorder *recorders;
	size_t n;

	*can = false;
	if (!recorders_of_account(call, &recorders, &n, fault))
		return false;
	for (size_t i = 0; i < n; i++)
		*can = *can ||
		       (recorder_has_folder(&recorders[i], job) &&
			recorder_state_now(&recorders[i], lease, call->now) <= RECORDER_BUSY);
	return true;
}

/* ---- GET /v2/recorders ---- */

bool recorders_list(struct call *call, struct fault *fault)
{
	const int64_t lease = recording_times_of(call)->lease;
	struct json_writer body = writer_begin(call->arena, false);
	const int64_t now = clock_now(call->environment->clock);
	struct recorder *recorders;
	size_t n;

	if (!recorders_of_account(call, &recorders, &n, fault))
		return false;
	writer_open(&body, "data", '[');
	for (size_t i = 0; i < n; i++) {
		const struct recorder *recorder = &recorders[i];

		writer_open(&body, NULL, '{');
		writer_text(&body, "name", recorder->name);
		writer_plain(
			&body, "state",
			slice_of(recorder_state_names[recorder_state_now(recorder, lease, now)]));
		writer_time_milliseconds(&body, "seen_at", recorder->seen);
		if (call->actor.is_operator) {
			writer_integer(&body, "slots", recorder->slots);
			writer_integer(&body, "works", recorder->works);
			writer_integer(&body, "busy_percent", recorder->busy / 10);
			writer_integer(&body, "free_bytes", (int64_t)recorder->free_bytes);
			writer_integer(&body, "total_bytes", (int64_t)recorder->total_bytes);
			writer_text(&body, "folder", recorder->folder);
		}
		writer_close(&body, '}');
	}
	writer_close(&body, ']');
	return call_answer(call, writer_end(&body));
}
