/* Handlers of the exchange of room codes for join tokens (anteroom-api(7), JOINING). Those that
 * lead into a room first have the media server make it, where rooms do not make themselves
 * (resources/live/server_rooms.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_JOIN_H
#define RESOURCES_JOINING_JOIN_H

#include "resources/reads.h"

handler join;
handler join_settle;
/* LiveKit's token endpoint (resources/joining/livekit_join.h). */
handler join_livekit;
handler join_livekit_settle;
/* Returns what was decided about the ticket of somebody who waits; if it is admitted, exchanges
 * it. */
handler tickets_get;
/* Returns what a code opens. Rejects codes like `join`, but counts only unknown codes. */
handler join_describe;
/* List the files of the recordings of the code's room, newest first, and sign links to them: for
 * people whose role may record, who need not come in. */
handler join_recordings;
handler join_recording_link;
/* Returns access to the media server for the holder of a join token. */
handler token_join;
handler token_join_settle;
read_page token_first_page; /* of the code that the join token was exchanged for */

#endif
