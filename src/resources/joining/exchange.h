/* Somebody who comes by a code or a join token: what is known of the person, and the steps that the
 * handlers of resources/joining/join.h share. Whether the person may come in is asked of the rules
 * (resources/entry_rules/entry_rules.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_EXCHANGE_H
#define RESOURCES_JOINING_EXCHANGE_H

#include "resources/stored/door_record.h"
#include "resources/entry_rules/entry_rules.h"
#include "resources/joining/livekit_join.h"

struct exchange {
	struct entrant entrant;
	struct slice sent_user, sent_name; /* of the request or the ticket; may be empty */
	const struct livekit_request *livekit; /* at LiveKit's token endpoint; else NULL */
	struct room_subject subject;
	struct code code; /* set if entrant.code is */
	struct door_ticket *ticket; /* admitted, which is exchanged; or NULL */
	bool is_at_once; /* the code was sent, not the ticket */
	int64_t time; /* of the exchange, or of the one it repeats, in milliseconds */
	bool is_retry;
	struct slice jti; /* of its tokens; data NULL if each gets its own */
	struct slice entry; /* of its tokens; data NULL until it is known */
	struct slice answered_user; /* user_id in the response */
	struct slice shown_name; /* the display name; unset until it is known */
	enum name_origin name_origin;
	unsigned held; /* from the role (media_read_role) */
	int64_t expires_at; /* seconds since 1970 */
	/* When the person agreed to be recorded, in milliseconds; 0 if the person did not, or is
	 * not asked. And which sentence was shown; may be empty. */
	int64_t consented;
	struct slice consent_text;
	const json_t *config; /* of the backend; NULL until it is decoded */
	bool is_waiting; /* the media server is asked to make the room; the handler ends here */
	bool is_at_door; /* the answer is a ticket */
	bool is_unasked; /* the person waits, although neither the code nor its role asks */
	struct media media; /* set if entrant.media is */
};

/* ---- of a code (exchange.c) ---- */

/* Loads the room of the code, which must be set. Sets *is_there to false if it is deleted. */
bool exchange_find_room(struct call *call, struct exchange *exchange, bool *is_there,
			struct fault *fault);
/* Checks that the code can be exchanged, as far as others inside do not matter. account: NULL if it
 * does not exist. */
bool exchange_check(struct call *call, struct exchange *exchange, const struct account *account,
		    struct fault *fault);
/* Finds out whether people who come by the code wait until somebody lets them in: sets
 * entrant.asks, and is_unasked. */
bool exchange_asks_at_door(struct call *call, struct exchange *exchange, struct fault *fault);
/* Exchanges the code, and answers. */
bool exchange_code(struct call *call, struct exchange *exchange, const struct account *account,
		   struct fault *fault);
/* Notes the exchange for the event log, if the account logs joins. */
void exchange_note(struct call *call, const struct account *account,
		   const struct exchange *exchange, bool is_granted);
/* Returns true if the code counts its uses. */
bool exchange_is_counted(const struct exchange *exchange);
/* Returns true if the ticket was exchanged before. */
bool exchange_is_taken(const struct exchange *exchange);

/* ---- at the media server (exchange_media.c) ---- */

/* Bytes of an entry (accounts/token.h). */
#define ENTRY_SIZE 16

/* Return 32 hex digits: of these bytes, or of random ones. */
struct slice entry_as_text(struct call *call, const unsigned char bytes[ENTRY_SIZE]);
struct slice new_entry(struct call *call);
/* Finds where a room of a pool is to be that is nowhere, or on a media server that may be down:
 * then that may be asked first, and exchange->is_waiting is set, as by exchange_make_room. The call
 * may have to be run again as a write (call->run.wants_write). */
bool exchange_find_place(struct call *call, struct exchange *exchange, struct fault *fault);
/* Stores where the room is, for as long as the token for its media server is valid. The call may
 * then have to be run again as a write. */
bool exchange_keep_place(struct call *call, struct exchange *exchange, struct fault *fault);
/* Has the media server make the room, if it has to, and has not made it in the last `lasts`
 * milliseconds. Then exchange->is_waiting is set, and the call goes on when the room is there. */
bool exchange_make_room(struct call *call, struct exchange *exchange, int64_t lasts,
			struct fault *fault);
/* Returns the name of the code; data NULL if it has none. */
struct slice exchange_code_name(struct call *call, const struct exchange *exchange);
/* Finds the name that the media server shows, and what is held from the role in the room. A name
 * that a code or the account gives stays as it is. */
bool exchange_find_name_and_holds(struct call *call, struct exchange *exchange,
				  struct fault *fault);
/* Returns what a ticket for the media server is made of. */
struct admission exchange_admission(struct call *call, struct exchange *exchange);
/* Adds `join`, the access to the room on its media server. */
bool exchange_add_join(struct call *call, struct exchange *exchange, struct json_writer *body,
		       struct fault *fault);

#endif
