/* See resources/media/failures.h. A hash of the ids chooses the place of what was found; it
 * replaces what was there, which is then asked for again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media/failures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/log.h"
#include "base/memory.h"

#define FINDINGS 1024
/* Names that are counted apart; whoever renames media servers must not fill the memory. */
#define NAMES_MOST 1000

struct finding {
	struct id account, backend;
	int64_t asked; /* when this process asked; 0: free */
	int64_t time; /* when it found that; 0: not yet */
	enum presence presence;
};

struct failed_name {
	struct failed_name *next;
	char *name;
	size_t size;
	uint64_t count;
};

struct failures {
	pthread_mutex_t lock;
	struct finding findings[FINDINGS];
	struct failed_name *names;
	size_t name_count;
	uint64_t moved[MOVE_REASONS];
};

struct failures *failures_open(void)
{
	struct failures *failures = memory_check(calloc(1, sizeof *failures));

	if (pthread_mutex_init(&failures->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return failures;
}

void failures_close(struct failures *failures)
{
	if (failures == NULL)
		return;
	while (failures->names != NULL) {
		struct failed_name *next = failures->names->next;

		free(failures->names->name);
		free(failures->names);
		failures->names = next;
	}
	pthread_mutex_destroy(&failures->lock);
	free(failures);
}

/* ---- questions ---- */

static struct finding *finding_of(struct failures *failures, const struct id *backend)
{
	return &failures->findings[checksum(0, backend->bytes, sizeof backend->bytes) % FINDINGS];
}

void failures_note(const struct call *call, const struct id *backend, enum presence presence)
{
	struct failures *failures = call->environment->failures;
	struct finding *finding;

	if (failures == NULL)
		return;
	pthread_mutex_lock(&failures->lock);
	finding = finding_of(failures, backend);
	if (presence == PRESENCE_UNKNOWN)
		*finding = (struct finding){ call->account, *backend, .asked = call->now };
	else if (id_compare(&finding->backend, backend) == 0 &&
		 id_compare(&finding->account, &call->account) == 0) {
		finding->time = call->now;
		finding->presence = presence;
	}
	pthread_mutex_unlock(&failures->lock);
}

/* Returns what was noted of the backend last; its times are 0 if that is not known. */
static struct finding find_finding(const struct call *call, const struct id *backend)
{
	struct failures *failures = call->environment->failures;
	struct finding finding = { .asked = 0 };

	if (failures == NULL)
		return finding;
	pthread_mutex_lock(&failures->lock);
	finding = *finding_of(failures, backend);
	pthread_mutex_unlock(&failures->lock);
	if (id_compare(&finding.backend, backend) != 0 ||
	    id_compare(&finding.account, &call->account) != 0)
		finding.asked = finding.time = 0;
	return finding;
}

enum presence failures_presence(const struct call *call, const struct id *backend)
{
	const struct finding finding = find_finding(call, backend);

	/* A reader's time may be just before that of the writer that asked. */
	return finding.time != 0 && llabs(call->now - finding.time) < PRESENCE_LASTS
		       ? finding.presence
		       : PRESENCE_UNKNOWN;
}

enum own_question failures_question(const struct call *call, const struct id *backend, int64_t time)
{
	const struct finding finding = find_finding(call, backend);

	if (call->environment->failures == NULL)
		return QUESTION_ASKED;
	return finding.asked != time ? QUESTION_OF_OTHERS
	       : finding.time == 0   ? QUESTION_ASKED
				     : QUESTION_ANSWERED;
}

/* ---- numbers ---- */

static struct failed_name *failed_find(struct failures *failures, struct slice name)
{
	struct failed_name *failed = failures->names;

	while (failed != NULL && !slice_equal((struct slice){ failed->name, failed->size }, name))
		failed = failed->next;
	return failed;
}

/* Counts somebody who cannot reach the media server with this name. The caller holds the lock. */
static void count_failed(struct failures *failures, struct slice name)
{
	struct failed_name *failed = failed_find(failures, name);

	if (failed == NULL && failures->name_count >= NAMES_MOST) {
		name = SLICE("");
		failed = failed_find(failures, name);
	}
	if (failed == NULL) {
		failures->name_count++;
		failed = memory_check(malloc(sizeof *failed));
		*failed = (struct failed_name){
			.next = failures->names,
			.name = memory_check(malloc(name.size + 1)),
			.size = name.size,
		};
		memcpy(failed->name, name.data, name.size);
		failures->names = failed;
	}
	failed->count++;
}

void failures_after_commit(const struct call *call)
{
	struct failures *failures = call->environment->failures;
	const struct run *run = &call->run;

	if (failures == NULL ||
	    (run->failed.size == 0 && run->moved[MOVE_DOWN] == 0 && run->moved[MOVE_DRAINED] == 0))
		return;
	pthread_mutex_lock(&failures->lock);
	for (size_t i = 0; i < MOVE_REASONS; i++)
		failures->moved[i] += run->moved[i];
	if (run->failed.size > 0)
		count_failed(failures, run->failed);
	pthread_mutex_unlock(&failures->lock);
}

struct failed_backend *failures_read(struct failures *failures, struct arena *arena, size_t *n)
{
	struct failed_backend *read;
	size_t i = 0;

	*n = 0;
	if (failures == NULL)
		return NULL;
	pthread_mutex_lock(&failures->lock);
	for (const struct failed_name *each = failures->names; each != NULL; each = each->next)
		++*n;
	read = arena_alloc(arena, (*n + 1) * sizeof *read);
	for (const struct failed_name *each = failures->names; each != NULL; each = each->next)
		read[i++] = (struct failed_backend){
			arena_copy(arena, (struct slice){ each->name, each->size }),
			each->count,
		};
	pthread_mutex_unlock(&failures->lock);
	return read;
}

void failures_read_moved(struct failures *failures, uint64_t moved[MOVE_REASONS])
{
	memset(moved, 0, MOVE_REASONS * sizeof *moved);
	if (failures == NULL)
		return;
	pthread_mutex_lock(&failures->lock);
	memcpy(moved, failures->moved, sizeof failures->moved);
	pthread_mutex_unlock(&failures->lock);
}
