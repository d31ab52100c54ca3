/* A Chromium with one page, on its debugging pipe: messages in JSON, each ends with a NUL byte
 * (--remote-debugging-pipe). There is no port. It runs with its sandbox, in a profile that is
 * thrown away, and reaches no names but those it is given.
 *
 * The page and the recorder talk to each other. Times are milliseconds since 1970 of the page's
 * clock. Both sides ignore members and types that they do not know.
 *
 * The page calls anteroom(TEXT); TEXT is one of these as JSON:
 *
 *     {"type":"loaded"}                   the functions below exist; the first of all
 *     {"type":"joined"}                   it is inside the room
 *     {"type":"chunk","n":0,"at":1764500000123,"media_ms":1000,"data":"GkXf..."}
 *                                         n counts from 0 without a gap; at: the end of the
 *                                         chunk; media_ms: the media of the part up to there,
 *                                         without pauses; data: base64 with padding
 *     {"type":"people","n":3}             how many are drawn or heard
 *     {"type":"chat","peer_id":"...","name":"...","user_id":"...","roles":"...",
 *      "sent_at":1764500000123,"kind":"chat","message":"..."}
 *     {"type":"fps","fps":24.9}
 *     {"type":"away","reason":"closed"}   it is no longer inside: closed, removed, ...
 *     {"type":"stopped","n":57}           all chunks have been sent, n of them
 *     {"type":"failed","text":"..."}      the part cannot begin or go on
 *
 * The recorder calls these functions of the page:
 *
 *     anteroom_start({"join":{},"look":{},"paused":false})    once, after loaded
 *     anteroom_look({})                   the new look
 *     anteroom_pause(true)                returns a promise, which is kept when it is so
 *     anteroom_stop()                     sends the rest, then stopped
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_CHROMIUM_H
#define RECORDER_CHROMIUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fault.h"
#include "delivery/address.h"
#include "recorder/children.h"

struct chromium_options {
	const char *program;
	const char *profile; /* a folder of its own, which is made, and removed at the end */
	const char *page; /* the URL */
	const char *page_host; /* NULL if the page has none */
	const char *media_host; /* as in a URL; NULL if there is none */
	const char *hosts; /* further names, with commas between them; NULL if there are none */
	const struct address_ranges
		*media_ranges; /* allowed for the media server beside public ones */
	int64_t width, height;
};

struct chromium;

/* Why it is gone, if no address of the media server is allowed. */
#define CHROMIUM_NOT_ALLOWED "address not allowed"

/* Starts it. The options need not outlive the call. */
bool chromium_open(struct children *children, const struct chromium_options *options,
		   struct chromium **chromium, struct fault *fault);
/* Ends it at once, and removes its profile. NULL is allowed. */
void chromium_close(struct children *children, struct chromium *chromium);

/* The descriptors that are readable when chromium_next has something. */
#define CHROMIUM_DESCRIPTORS 2
void chromium_descriptors(const struct chromium *chromium, int descriptors[CHROMIUM_DESCRIPTORS]);
/* Returns a descriptor that must be writable before the next step, or -1. */
int chromium_writes_to(const struct chromium *chromium);

enum chromium_event {
	CHROMIUM_NOTHING,
	CHROMIUM_SAYS, /* the page called anteroom(): `text` */
	CHROMIUM_RETURNED, /* the call with `number` has returned */
	CHROMIUM_GONE /* it has ended, or its page has: `text` says why */
};

struct chromium_news {
	enum chromium_event event;
	struct slice text; /* in the arena */
	unsigned number;
	bool is_error; /* the call has failed */
};

/* Returns the next event without waiting. */
struct chromium_news chromium_next(struct chromium *chromium, struct arena *arena);

/* Has the page evaluate an expression, and returns the number of the call. */
unsigned chromium_call(struct chromium *chromium, const char *expression);
/* Asks it to end by itself. */
void chromium_ask_end(struct chromium *chromium);

/* Starts it with a page of its own, and asks whether it encodes H.264. Waits for it, at most half a
 * minute. Returns true if it does; *error says why not, in the arena. */
bool chromium_encodes(struct children *children, const char *program, const char *profile,
		      struct arena *arena, const char **error);

/* Finds Chromium. Returns NULL if there is none. */
const char *chromium_find(void);

#endif
