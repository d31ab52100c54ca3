/* See recorder/upload.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/memory.h"
#include "base/text.h"
#include "delivery/bucket.h"
#include "delivery/sender.h"

/* Milliseconds for which addresses are used; those of the service are valid for longer. */
#define PUT_LASTS ((int64_t)50 * 60000)

/* Milliseconds until a file that did not arrive is sent again. */
static const int64_t send_pauses[] = { 2000, 30000, 300000, 3600000 };
#define SEND_PAUSES (sizeof send_pauses / sizeof send_pauses[0])

struct uploads {
	struct sender_options options;
	struct sender *sender; /* NULL before the first file */
	uint64_t number; /* of the last file */
};

bool uploads_open(const struct recorder_options *options, struct uploads **uploads,
		  struct fault *fault)
{
	struct uploads *made = memory_check(calloc(1, sizeof *made));

	*uploads = made;
	made->options = (struct sender_options){
		.purpose = &sender_of_uploads,
		.storage_ranges = options->upload_ranges,
		.authorities = options->upload_authorities,
	};
	return options->upload_authorities == NULL ||
	       sender_open(&made->options, &made->sender, fault);
}

void uploads_close(struct uploads *uploads)
{
	if (uploads == NULL)
		return;
	sender_close(uploads->sender);
	free(uploads);
}

int uploads_descriptor(const struct uploads *uploads)
{
	return uploads->sender == NULL ? -1 : sender_descriptor(uploads->sender);
}

static void send_failed(struct work_stand *stand, struct work *work, const char *why)
{
	work_sends_later(work,
			 send_pauses[work->send_failures < SEND_PAUSES ? work->send_failures
								       : SEND_PAUSES - 1],
			 slice_of(why));
	stand->has_changed = true;
	log_event(LOG_LEVEL_ERROR, "recorder_send", "account", work->account, "job", work->job,
		  "error", work->error, "effect", "the files stay; sending again", NULL);
}

/* ---- one file ---- */

/* Returns the place of a file among the addresses; NULL if there is none. */
static const json_t *address_of(const struct work *work, const struct recorded_file *file)
{
	const json_t *address;
	size_t i;

	json_array_foreach(work->put, i, address) {
		if (slice_is(text_of_json(json_object_get(address, "name")), file->name))
			return address;
	}
	return NULL;
}

/* Returns the headers that the service wants, as lines. */
static struct slice header_lines(struct arena *arena, const json_t *address)
{
	struct buffer lines = BUFFER_INITIAL(arena);
	const char *name;
	json_t *value;

	json_object_foreach(json_object_get(address, "headers"), name, value) {
		if (lines.size > 0)
			buffer_append_byte(&lines, '\n');
		buffer_append_text(&lines, name);
		buffer_append_text(&lines, ": ");
		buffer_append(&lines, text_of_json(value));
	}
	return buffer_slice(&lines);
}

static bool start_sender(struct uploads *uploads)
{
	struct fault fault = FAULT_INITIAL;

	/* With authorities, it was started at the beginning. A failed start is tried again by
	 * sender_take. */
	return uploads->sender != NULL || sender_open(&uploads->options, &uploads->sender, &fault);
}

/* Sends the next file of a work. */
static void send_file(struct uploads *uploads, struct work_stand *stand, struct work *work)
{
	const struct recorded_file *file = &work->files[work->files_sent];
	const json_t *address = address_of(work, file);
	struct delivery delivery = { .method = SENDER_PUT,
				     .is_once = true,
				     .is_to_storage = true,
				     .has_file = true,
				     .answer_most = BUCKET_ANSWER_MOST };
	char path[FOLDER_PATH_SIZE];
	struct stat status;
	bool is_given;

	if (address == NULL) {
		send_failed(stand, work, "the service has no address for the file");
		return;
	}
	if (!joined_path(&stand->folder, work->account, work->job, file->name, path)) {
		send_failed(stand, work, "the place of the file is unknown");
		return;
	}
	delivery.file = regular_file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	if (delivery.file < 0 || fstat(delivery.file, &status) != 0 ||
	    (int64_t)status.st_size != file->bytes) {
		if (delivery.file >= 0)
			close(delivery.file);
		send_failed(stand, work, "the file is not in the folder with its size");
		return;
	}
	delivery.file_size = (uint64_t)status.st_size;
	delivery.number = ++uploads->number;
	delivery.url = text_of_json(json_object_get(address, "url"));
	delivery.headers = header_lines(stand->arena, address);
	is_given = start_sender(uploads) && sender_give(uploads->sender, &delivery);
	close(delivery.file);
	if (!is_given)
		send_failed(stand, work, "the file cannot be sent");
	else
		work->send_number = delivery.number;
}

/* ---- all ---- */

static void take_outcome(struct work_stand *stand, struct work *first,
			 const struct outcome *outcome)
{
	const int64_t now = clock_now(&clock_system) + stand->clock_offset;
	char message[BUCKET_ERROR_SIZE];
	struct work *work = first;

	while (work != NULL && work->send_number != outcome->number)
		work = work->next;
	/* It may have been dropped meanwhile. */
	if (work == NULL)
		return;
	work->send_number = 0;
	bucket_read_outcome(outcome, now / 1000, message);
	if (message[0] != '\0') {
		send_failed(stand, work, message);
		return;
	}
	log_event(LOG_LEVEL_NOTICE, "recorder_sent", "account", work->account, "job", work->job,
		  "file", work->files[work->files_sent].name, "bytes",
		  LOG_NUMBER(work->files[work->files_sent].bytes), NULL);
	work->files_sent++;
	work->send_failures = 0;
	work->error[0] = '\0';
	stand->has_changed = true;
	if (work->files_sent == work->files_count)
		work_set_state(stand, work, WORK_DONE);
}

static void take_outcomes(struct uploads *uploads, struct work_stand *stand, struct work *first)
{
	enum sender_result result = SENDER_NOTHING;
	struct outcome outcome;

	while (uploads->sender != NULL &&
	       (result = sender_take(uploads->sender, &outcome)) != SENDER_NOTHING) {
		if (result == SENDER_OUTCOME) {
			take_outcome(stand, first, &outcome);
			free(outcome.answer);
			continue;
		}
		for (struct work *work = first; work != NULL; work = work->next) {
			if (work->send_number == 0)
				continue;
			work->send_number = 0;
			send_failed(stand, work, "the process that sends has ended");
		}
	}
}

/* Returns true if another file may be sent: there is a place, and none of the account is on its
 * way. */
static bool may_send(const struct work *first, const struct work *work)
{
	size_t under_way = 0;

	for (const struct work *other = first; other != NULL; other = other->next) {
		if (other->send_number == 0)
			continue;
		if (strcmp(other->account, work->account) == 0)
			return false;
		under_way++;
	}
	return under_way < sender_of_uploads.most;
}

void uploads_step(struct uploads *uploads, struct work_stand *stand, struct work *first)
{
	const int64_t now = clock_monotonic();

	take_outcomes(uploads, stand, first);
	for (struct work *work = first; work != NULL; work = work->next) {
		if (work->state != WORK_SENDING || work->send_number != 0 || work->needs_put ||
		    stand->is_ending)
			continue;
		/* An address does not last for ever. */
		if (work->put == NULL || now - work->put_heard_at >= PUT_LASTS) {
			if (now >= work->send_at)
				work->needs_put = stand->has_changed = true;
		} else if (may_send(first, work)) {
			send_file(uploads, stand, work);
		}
	}
}
