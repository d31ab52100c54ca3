/* The request of a recorder and its response (POST /v2/recorders/NAME/report, anteroom-api(7)):
 * what a recorder has, and what the service wants of it. Pure functions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_CONTRACT_H
#define RECORDER_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/id.h"
#include "recorder/cuts.h"

/* A report is never longer. */
#define REPORT_MOST ((size_t)64 << 10)
#define REPORT_WORKS_MOST 16
#define REPORT_GAPS_MOST 100
#define REPORT_ERROR_MOST 300 /* characters */
#define REPORT_BOOT_SIZE 23 /* 22 characters and a terminator */
#define FILES_MOST 17
#define FILE_NAME_SIZE 24

enum work_state {
	WORK_OPENING,
	WORK_RUNNING,
	WORK_PAUSED,
	WORK_WAITING,
	WORK_STOPPING,
	WORK_JOINING,
	WORK_SENDING,
	WORK_DONE,
	WORK_BROKEN
};

/* A finished file. duration_ms is 0 for the chat. */
struct recorded_file {
	char name[FILE_NAME_SIZE];
	int64_t bytes, duration_ms;
	int64_t width, height;
};

#define OUTPUTS_MOST 5
#define OUTPUT_URL_SIZE 2049
#define OUTPUT_ERROR_SIZE 200

/* What a report says about an output of a stream. */
struct output_news {
	char url[OUTPUT_URL_SIZE]; /* without its key */
	enum output_state { OUTPUT_CONNECTING, OUTPUT_LIVE, OUTPUT_FAILED } state;
	int64_t since; /* time by the service's clock */
	char error[OUTPUT_ERROR_SIZE]; /* empty if there is none */
};

/* What a report says about a work. */
struct work_news {
	const char *account, *job;
	int64_t epoch, part, people;
	enum work_state state;
	int64_t media_at; /* 0 before the first media */
	int64_t recorded_ms;
	const struct gap *gaps; /* all of them; a report has the newest */
	size_t gaps_count;
	const struct recorded_file *files;
	size_t files_count;
	const struct output_news *outputs[OUTPUTS_MOST];
	size_t outputs_count;
	const char *error; /* empty if there is none */
	bool needs_order, needs_put;
};

struct report {
	const char *boot, *folder;
	int64_t n, slots;
	int64_t free_bytes, total_bytes;
	double busy;
	bool ends; /* no report of this process follows */
	const struct work_news *works;
	size_t works_count; /* at most REPORT_WORKS_MOST */
};

/* Returns the report as JSON, in the arena. If it would be longer than REPORT_MOST, it has no gaps,
 * and if that is not enough, no errors. */
struct slice report_write(struct arena *arena, const struct report *report);

const char *work_state_name(enum work_state state);

enum work_want { WANT_RUN, WANT_PAUSE, WANT_STOP, WANT_DROP };

/* What the service wants of a work. The texts and JSON values are in the arena of the response. */
struct wanted {
	char account[ID_TEXT_SIZE + 1], job[ID_TEXT_SIZE + 1];
	int64_t epoch, rev, inside;
	enum work_want want;
	const json_t *order; /* NULL if there is none */
	const json_t *put; /* where files are to be sent; NULL if it does not say */
	bool erases;
};

struct answer {
	int64_t now; /* milliseconds since 1970 */
	int64_t n, every_ms, lease_ms;
	struct wanted *works;
	size_t works_count;
};

/* Reads a response. Fails with FAULT_INTERNAL and a cause if it is none. */
bool answer_read(struct arena *arena, struct slice text, struct answer *answer,
		 struct fault *fault);

/* ---- the parts of an order ---- */

/* Returns whether the order has all that a work needs: a page for media, a folder for joining. */
bool order_has_page(const json_t *order);
bool order_has_folder(const json_t *order);

/* Returns the folder of the finished files, relative to that of all recordings; NULL if it has
 * none, or one that is not made of names of ids. */
const char *order_folder(const json_t *order);

/* Returns the end until which a work may record, in milliseconds since 1970; INT64_MAX if it has
 * none. */
int64_t order_until(const json_t *order);

/* Returns what does not belong into the recording: after `stopped_at`, and within `pauses`; in the
 * arena. */
size_t order_excluded(struct arena *arena, const json_t *order, struct span **spans);

/* Returns the host of the media server as it is written in the order, in the arena; NULL if there
 * is none. */
const char *order_media_host(struct arena *arena, const json_t *order);

/* Returns whether the order is one of a stream: it has a playlist, or addresses. */
bool order_streams(const json_t *order);
/* Returns whether a file is made of the parts. */
bool order_keeps_file(const json_t *order);

/* Returns the order as it is kept beside the parts: without tokens and keys, in the arena. */
struct slice order_kept(struct arena *arena, const json_t *order, const char *recorder,
			int64_t epoch);

#endif
