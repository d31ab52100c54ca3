/* What people write to everyone while they are recorded, if the order has `chat`: lines in the
 * folder of the parts, which become a table beside the recording.
 *
 * The page passes on what it read (recorder/chromium.h), five texts of a person in five seconds at
 * most (web/call/chat/texts.js). What is kept of a stay, and in all, is bounded here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_CHAT_H
#define RECORDER_CHAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "recorder/cuts.h"

/* The lines, in the folder of the parts; and the table, beside the recording. */
#define CHAT_LINES "chat.jsonl"
#define CHAT_FILE "chat.csv"
/* Bytes of all lines, and of those of one stay. */
#define CHAT_BYTES_MOST ((size_t)8 << 20)
#define CHAT_SENDER_MOST ((size_t)512 << 10)

/* How much each stay has written. */
struct chat;

struct chat *chat_open(void);
void chat_close(struct chat *chat);

/* What chat_keep did. */
enum chat_kept {
	CHAT_KEPT,
	CHAT_NOT_WANTED, /* by the order, or it says nothing */
	CHAT_SENDER_FULL,
	CHAT_FULL, /* no more fits in; each time */
	CHAT_FAILED /* sets errno */
};

/* Appends a message of the page to the lines in `folder`, with our id of the stay, which follows
 * from the id at the media server and `peers` of the order. sent_at: by the server's clock. */
enum chat_kept chat_keep(struct chat *chat, const char *folder, const json_t *order, int64_t epoch,
			 const json_t *said, int64_t sent_at);

/* Returns the table of the lines in `folder`, without those in excluded spans and those that two
 * recorders wrote; data is NULL if nothing remains. */
struct slice chat_table(struct arena *arena, const char *folder, const struct span *excluded,
			size_t excluded_count);

#endif
