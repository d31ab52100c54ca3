/* The events of live rooms in the event log (anteroom-api(7), EVENT LOG).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_EVENTS_H
#define RESOURCES_LIVE_LIVE_EVENTS_H

#include "resources/stored/live_record.h"

enum live_change { LIVE_JOINED, LIVE_LEFT, LIVE_ROLE_CHANGED, LIVE_OPENED, LIVE_CLOSED };
#define LIVE_CHANGES (LIVE_CLOSED + 1)
extern const char *const live_change_types[LIVE_CHANGES];

/* What the account wants to know about the people inside. */
struct live_settings {
	bool is_anonymous; /* not who they are */
	bool is_noted[LIVE_CHANGES]; /* whether the change makes an event */
};

/* Reads the settings of the call's account: sessions=off and live_log=off. An event that an enabled
 * webhook chooses is made in any case. */
bool live_settings_load(struct call *call, struct live_settings *settings, struct fault *fault);

/* Note a change of the records (resources/audit.h). Somebody who was put out has a reason, as
 * written, and an actor; else both are empty. */
void live_note_joined(struct call *call, const struct live_settings *settings,
		      const struct session *session, const struct peer *peer);
void live_note_left(struct call *call, const struct live_settings *settings,
		    const struct session *session, const struct peer *peer, struct slice reason,
		    struct slice actor);
void live_note_session(struct call *call, const struct session *session, enum live_change change);
/* Notes that a call gave the peer its role. former: the role before. by: the uuid of the peer who
 * did so; empty if it was a program. */
struct live_change_of_role {
	struct slice former, by;
};
void live_note_role(struct call *call, const struct live_settings *settings,
		    const struct session *session, const struct peer *peer,
		    const struct live_change_of_role *change);
/* Notes that a call has ended the room. by: the peer who did so; zeros if it was a program. */
void live_note_end(struct call *call, const struct session *session, const struct live *live,
		   const struct peer *by);
/* Returns the data of the event peer.join.failure, which is not in the log. */
struct slice live_failure_data(struct call *call, const struct session *session,
			       const struct peer *peer);

#endif
