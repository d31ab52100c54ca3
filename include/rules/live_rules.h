/* Live rooms, sessions and usage.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_LIVE_RULES_H
#define RULES_LIVE_RULES_H

#include "rules/text_rules.h"

extern const struct shape active_room_shape, active_peers_shape, active_peer_shape, me_shape;
extern const struct shape mute_shape, mute_all_shape, muted_shape, update_shape, remove_shape;
extern const struct shape removed_shape, end_shape;
extern const struct shape updated_peer_shape, message_shape, done_shape;
extern const struct shape door_change_shape, door_shape, lower_shape;
extern const struct shape tickets_shape, decision_shape, decided_shape, admit_shape, admitted_shape;
extern const struct shape live_session_shape, session_peer_shape, usage_shape;
extern const struct shape active_peers_query, session_list_query, session_peers_query;
extern const struct shape attendance_query, usage_query;

/* The largest message, in bytes. */
#define MESSAGE_MOST 4096
/* Most bytes of a person's metadata. */
#define METADATA_MOST 4096

/* Most tickets that one request decides by their IDs. */
#define ADMITTED_MOST 100

/* The days that one request for usage may return, and the default. */
#define USAGE_DAYS_MOST 400
#define USAGE_DAYS 30

/* Reads the days of a query that obeys usage_query, counted from 1970. now: milliseconds since
 * 1970. Returns false if it does not obey it. */
bool usage_days(const json_t *query, int64_t now, int64_t *first, int64_t *last);

#endif
