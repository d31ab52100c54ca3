/* See recorder/chat.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/chat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/id.h"
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/text.h"
#include "recorder/folder.h"
#include "recorder/part.h"

/* Bytes of a text, and of the other members. */
#define TEXT_MOST 8000
#define MEMBER_MOST 512
/* Stays that are counted; later ones share a number. */
#define SENDERS_MOST 2000
/* While one recorder takes over from another, both may hear a text: lines that are compared, and
 * milliseconds between the two. */
#define COMPARED 64
#define APART_MOST 15000

struct sender {
	char id[UUID_TEXT_SIZE];
	size_t bytes;
};

struct chat {
	struct sender *senders;
	size_t count, capacity;
};

struct chat *chat_open(void)
{
	return memory_check(calloc(1, sizeof(struct chat)));
}

void chat_close(struct chat *chat)
{
	if (chat == NULL)
		return;
	free(chat->senders);
	free(chat);
}

static struct sender *chat_sender(struct chat *chat, struct slice id)
{
	id = text_cut(id, UUID_TEXT_SIZE - 1);
	for (size_t i = 0; i < chat->count; i++) {
		if (slice_is(id, chat->senders[i].id))
			return &chat->senders[i];
	}
	if (chat->count == SENDERS_MOST)
		return &chat->senders[SENDERS_MOST - 1];
	chat->senders = memory_room(chat->senders, chat->count + 1, &chat->capacity,
				    sizeof *chat->senders);
	chat->senders[chat->count] = (struct sender){ .bytes = 0 };
	(void)snprintf(chat->senders[chat->count].id, UUID_TEXT_SIZE, "%.*s", (int)id.size,
		       id.data);
	return &chat->senders[chat->count++];
}

/* Returns our id of the sender; that of the media server if the order does not say more. A text of
 * the service has none. */
static struct slice peer_of(struct arena *arena, const json_t *order, struct slice stay)
{
	char text[UUID_TEXT_SIZE];
	struct id space;

	if (stay.size == 0 || !id_parse(text_of_json(json_object_get(order, "peers")), &space))
		return stay;
	uuid_of(&space, stay, 0, text);
	return arena_copy(arena, slice_of(text));
}

static void write_member(struct json_writer *line, const json_t *said, const char *name,
			 size_t most)
{
	const struct slice text = text_of_json(json_object_get(said, name));

	writer_text(line, name, text.data == NULL ? SLICE("") : text_cut(text, most));
}

static enum chat_kept append_line(const char *folder, struct slice line)
{
	enum chat_kept kept = CHAT_FAILED;
	char path[PART_PATH_SIZE];
	struct stat status;
	int file;

	(void)snprintf(path, sizeof path, "%s/" CHAT_LINES, folder);
	file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (file < 0 || fstat(file, &status) != 0)
		kept = CHAT_FAILED;
	else if ((size_t)status.st_size + line.size > CHAT_BYTES_MOST)
		kept = CHAT_FULL;
	else if (write(file, line.data, line.size) == (ssize_t)line.size)
		kept = CHAT_KEPT;
	if (file >= 0)
		close(file);
	return kept;
}

enum chat_kept chat_keep(struct chat *chat, const char *folder, const json_t *order, int64_t epoch,
			 const json_t *said, int64_t sent_at)
{
	const json_t *look = json_object_get(order, "look");
	struct arena *arena = arena_open();
	struct json_writer line = writer_begin(arena, false);
	const struct slice stay = text_of_json(json_object_get(said, "peer_id"));
	enum chat_kept kept = CHAT_NOT_WANTED;
	struct sender *sender;
	struct slice text, peer;

	text = text_of_json(json_object_get(said, "message"));
	if (json_is_true(json_object_get(look, "chat")) && text.size > 0 && sent_at > 0 &&
	    sent_at <= TEXT_TIME_LAST) {
		peer = peer_of(arena, order, stay.data == NULL ? SLICE("") : stay);
		writer_integer(&line, "epoch", epoch);
		writer_text(&line, "peer_id", text_cut(peer, MEMBER_MOST));
		write_member(&line, said, "name", MEMBER_MOST);
		write_member(&line, said, "user_id", MEMBER_MOST);
		write_member(&line, said, "roles", MEMBER_MOST);
		writer_integer(&line, "sent_at", sent_at);
		write_member(&line, said, "kind", MEMBER_MOST);
		write_member(&line, said, "message", TEXT_MOST);
		text = slice_of(
			arena_text(arena, "%.*s\n", (int)writer_end(&line).size, line.text.data));
		sender = chat_sender(chat, peer);
		kept = sender->bytes + text.size > CHAT_SENDER_MOST ? CHAT_SENDER_FULL
								    : append_line(folder, text);
		if (kept == CHAT_KEPT)
			sender->bytes += text.size;
	}
	arena_close(arena);
	return kept;
}

/* ---- the table ---- */

/* Returns all that has been written; a last line that was torn is in it. */
static struct slice read_lines(struct arena *arena, const char *folder)
{
	struct slice lines = { NULL, 0 };
	char path[PART_PATH_SIZE];
	struct stat status;
	ssize_t got = -1;
	int file;

	(void)snprintf(path, sizeof path, "%s/" CHAT_LINES, folder);
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return lines;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
	    (size_t)status.st_size <= CHAT_BYTES_MOST) {
		char *text = arena_alloc(arena, (size_t)status.st_size);
		size_t size = 0;

		do {
			got = read(file, text + size, (size_t)status.st_size - size);
			size += got > 0 ? (size_t)got : 0;
		} while ((got < 0 && errno == EINTR) || (got > 0 && size < (size_t)status.st_size));
		if (got >= 0)
			lines = (struct slice){ text, size };
	}
	close(file);
	return lines;
}

/* What of a line shows that another recorder wrote it too. */
struct compared {
	int64_t epoch, sent_at;
	struct slice peer, message;
};

static bool is_again(const struct compared *lines, size_t n, const struct compared *line)
{
	for (size_t i = n > COMPARED ? n - COMPARED : 0; i < n; i++) {
		const struct compared *other = &lines[i % COMPARED];
		const int64_t apart = line->sent_at - other->sent_at;

		if (other->epoch != line->epoch && apart <= APART_MOST && apart >= -APART_MOST &&
		    slice_equal(other->peer, line->peer) &&
		    slice_equal(other->message, line->message))
			return true;
	}
	return false;
}

struct slice chat_table(struct arena *arena, const char *folder, const struct span *excluded,
			size_t excluded_count)
{
	static const char *const members[] = { "peer_id", "name", "user_id", "roles",
					       "sent_at", "kind", "message" };
	const size_t n = sizeof members / sizeof members[0];
	struct buffer table = BUFFER_INITIAL(arena);
	struct compared lines[COMPARED];
	struct slice rest = read_lines(arena, folder);
	size_t count = 0;

	buffer_append_text(&table, CSV_MARK
			   "SenderPeerID,SenderName,SenderUserID,Roles,SentAt,Type,Message\r\n");
	while (rest.data != NULL) {
		const json_t *row = json_text_read_stored(arena, text_split(rest, '\n', &rest),
							  NULL);
		const struct compared line = {
			.epoch = json_integer_value(json_object_get(row, "epoch")),
			.sent_at = json_integer_value(json_object_get(row, "sent_at")),
			.peer = text_of_json(json_object_get(row, "peer_id")),
			.message = text_of_json(json_object_get(row, "message")),
		};
		char time[TEXT_TIME_SIZE];

		if (row == NULL || line.sent_at <= 0 || line.sent_at > TEXT_TIME_LAST ||
		    cuts_is_excluded(excluded, excluded_count, line.sent_at) ||
		    is_again(lines, count, &line))
			continue;
		lines[count++ % COMPARED] = line;
		text_time_milliseconds(line.sent_at, time);
		for (size_t i = 0; i < n; i++) {
			const json_t *cell = json_object_get(row, members[i]);

			csv_append_cell(&table, json_is_integer(cell) ? slice_of(time)
								      : text_of_json(cell));
			buffer_append_text(&table, i + 1 < n ? "," : "\r\n");
		}
	}
	return count > 0 ? buffer_slice(&table) : (struct slice){ NULL, 0 };
}
