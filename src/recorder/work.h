/* A work of a recorder: a recording that the service gave it, part by part.
 *
 * A part is a run of Chromium and the file that its chunks are written to; after a pause its page
 * begins another file, so that the picture goes on with a key frame. If Chromium or its page
 * ends, or sends nothing for too long, the next part begins: after 0, 1, 3, 10 and 30 s. After six
 * failures, none of which came later than a minute after the one before, the work is broken. Its
 * parts stay.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_WORK_H
#define RECORDER_WORK_H

#include "recorder/cast.h"
#include "recorder/chat.h"
#include "recorder/chromium.h"
#include "recorder/contract.h"
#include "recorder/folder.h"
#include "recorder/joiner.h"
#include "recorder/part.h"
#include "recorder/recorder.h"

/* What all works of a recorder share. */
struct work_stand {
	const struct recorder_options *options;
	struct folder folder;
	struct children children;
	struct cast_stand casts;
	struct arena *arena; /* for a round of the loop */
	int64_t clock_offset; /* from the clock of this machine to that of the service */
	char profiles[FOLDER_PATH_SIZE]; /* folder of the profiles of Chromium */
	unsigned profiles_made;
	const char *page; /* URL of the page instead of that of the order, or NULL */
	int64_t answered_at,
		lease_ms; /* the last answer (clock_monotonic), and for how long it holds */
	bool is_ending; /* parts end, and no others begin */
	bool has_changed; /* a report is due at once */
};

enum part_phase {
	PHASE_NONE, /* there is no Chromium */
	PHASE_LOADING, /* the page has not loaded */
	PHASE_RECORDING,
	PHASE_ENDING, /* the page was asked to stop */
	PHASE_LEAVING /* Chromium was asked to end */
};

struct work {
	char account[ID_TEXT_SIZE + 1], job[ID_TEXT_SIZE + 1];
	char folder[FOLDER_PATH_SIZE];
	int64_t epoch;
	enum work_state state;
	bool has_media; /* in this epoch */
	char error[4 * REPORT_ERROR_MOST + 1];

	/* What the service wants. */
	bool is_listed, was_listed;
	enum work_want want;
	int64_t inside, rev;
	json_t *order; /* owned; NULL before the first */
	bool needs_order, needs_put;
	int64_t put_asked; /* number of the report that asked for `put`; 0 if none did */
	int64_t order_asked_at, order_heard_at; /* monotonic; 0 if not */
	bool needs_fresh_order; /* no part begins with an older one */

	/* The part. */
	enum part_phase phase;
	struct chromium *chromium;
	struct part file;
	int64_t part, part_began, phase_began, chunk_heard;
	int64_t file_number; /* of the last file: a part has another one after each pause */
	int64_t part_offset; /* clock_offset at its beginning */
	bool is_inside, pause_asked, pause_holds, has_resumed;
	bool is_lost; /* nothing comes from the media server */
	char *media_url; /* the media server that the page was sent to; owned */
	unsigned pause_call; /* 0 if none is under way */
	int64_t pause_asked_at;
	int64_t people;
	unsigned failures;
	int64_t next_at;

	/* What is streamed. */
	struct cast *cast; /* NULL if nothing is */
	bool drops_media; /* a stream of which no file is kept */

	/* What was recorded. */
	int64_t recorded_ms, media_at, bytes; /* bytes of parts that are not joined */
	int64_t former_ms; /* what was recorded in former epochs, which the service counts itself */
	struct gap *gaps;
	size_t gaps_count, gaps_capacity;
	bool has_no_space;
	struct chat *chat;
	enum chat_kept chat_kept; /* what was logged last */

	/* Joining. */
	int64_t join_at;
	unsigned join_failures;
	struct recorded_file files[FILES_MOST];
	size_t files_count;

	/* Sending (recorder/upload.h). */
	json_t *put; /* where the files go; owned; NULL if that must be asked for */
	int64_t put_heard_at, send_at; /* monotonic; the next try */
	uint64_t send_number; /* of the file that is on its way; 0 if none is */
	size_t files_sent;
	unsigned send_failures;

	struct work *next;
};

/* Makes a work. If its folder is there already, it has what was recorded before. */
struct work *work_open(struct work_stand *stand, const char *account, const char *job,
		       int64_t epoch);
/* Ends Chromium at once, and forgets the work; its parts stay. */
void work_close(struct work_stand *stand, struct work *work);

/* Takes what the service wants; not for WANT_DROP. */
void work_obey(struct work_stand *stand, struct work *work, const struct wanted *wanted);
/* The service does not know the work (any more). */
void work_unlisted(struct work *work);
/* The files are sent again after so many milliseconds, with fresh addresses. why: as the error. */
void work_sends_later(struct work *work, int64_t pause, struct slice why);
/* Removes the folder of a work that the service has dropped, if its parts are joined or older than
 * seven days. erases: at any rate, and the finished files too. */
void work_forget_parts(const struct work_stand *stand, const struct work *work, bool erases);

/* Does what can be done without waiting. */
void work_step(struct work_stand *stand, struct work *work);
/* Ends the part without an end of the work. */
void work_end_part(struct work *work);

/* Sets the state and logs it. */
void work_set_state(struct work_stand *stand, struct work *work, enum work_state state);
/* Sets the error that reports tell. */
void work_set_error(struct work *work, struct slice text);

/* Returns whether a slot is filled. */
bool work_fills_slot(const struct work *work);
struct work_news work_tell(const struct work *work);

#endif
