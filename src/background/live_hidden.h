/* Participants that nobody sees: the part of the watch (background/live_watch.h) that removes the
 * recorders that a survey lists though their job is over, does not exist, or goes on in a newer
 * epoch. Other hidden participants, such as those of other programs, are left alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_LIVE_HIDDEN_H
#define BACKGROUND_LIVE_HIDDEN_H

#include "background/live_watched.h"

/* Most hidden participants of a survey that are looked up; the next one has the others. */
#define HIDDEN_MOST 32

/* Looks up those whom a survey of the room lists, and has those removed that must not be there. */
void hidden_check(struct live_watch *watch, const struct watched_room *room,
		  const struct server_hidden *hidden);

#endif
