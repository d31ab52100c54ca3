/* The types of media servers. src/media/types.c has a row for each, with what it can do.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_BACKEND_TYPE_H
#define MEDIA_BACKEND_TYPE_H

#include <stdbool.h>

/* Stored in records, so a number never gets another meaning. */
enum backend_type {
	BACKEND_LIVEKIT,
	BACKEND_JITSI,
	BACKEND_GALENE,
	BACKEND_BIGBLUEBUTTON,
	BACKEND_JANUS,
	BACKEND_JWT,
	BACKEND_TYPES_COUNT
};
extern const char *const backend_type_names[BACKEND_TYPES_COUNT];
const char *backend_type_name(enum backend_type type);
/* Returns true if people can join without a client application of the account: the media server
 * has a page for them, or the join page shows the call. */
bool backend_has_page(enum backend_type type);

#endif
