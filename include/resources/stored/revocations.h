/* Decisions about people that last longer than their stay: media tokens remain valid, so whoever
 * was put out can come back with one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_REVOCATIONS_H
#define RESOURCES_STORED_REVOCATIONS_H

#include "resources/stored/live_record.h"

/* Notes that nobody is to be in the room with a token that has this entry; does nothing if the
 * entry is empty. reason: as written; may be empty. */
bool revocation_add(struct call *call, const struct id *room, struct slice entry,
		    enum leave_cause cause, struct slice reason, struct fault *fault);
/* What was set of a person until the session closes. */
struct given {
	struct slice role; /* that a call gave; data NULL if none did */
	bool has_consent; /* the person agreed to be recorded, or withdrew that */
	int64_t consented; /* when the person agreed; 0: withdrew */
	struct slice consent_text; /* which sentence was shown; may be empty */
};
/* Finds it: the role by the entry of the token, else by the user_id, unless that is empty; consent
 * by the entry alone. */
bool given_find(struct call *call, const struct live *live, struct slice entry,
		struct slice user_id, struct given *given, struct fault *fault);
/* Gives a person a role. live: as read to be changed; the caller stores it. */
bool given_role_set(struct call *call, struct live *live, struct slice entry, struct slice user_id,
		    struct slice role, struct fault *fault);
/* Notes that whoever has this entry agrees to be recorded, or (consented 0) does not. live: as
 * above. */
bool given_consent_set(struct call *call, struct live *live, struct slice entry, int64_t consented,
		       struct slice consent_text, struct fault *fault);

/* Notes that the room is deleted, if media servers are followed. */
bool revocation_add_room(struct call *call, const struct id *room, struct fault *fault);
/* Finds the revocation of an entry. */
bool revocation_find(struct call *call, struct slice entry, struct revocation *revocation,
		     bool *is_there, struct fault *fault);
/* Finds out whether the account had the room, and deleted it. */
bool revocation_has_room(struct call *call, const struct id *room, bool *is_there,
			 struct fault *fault);

#endif
