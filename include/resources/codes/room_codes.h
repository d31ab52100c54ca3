/* Handlers of room codes (anteroom-api(7)). What a code shows, and when codes are created, is
 * described in resources/codes/code_life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_ROOM_CODES_H
#define RESOURCES_CODES_ROOM_CODES_H

#include "resources/reads.h"

/* Codes that are read at a time if it is not known how many are needed. */
#define CODES_AT_ONCE 16

handler room_codes_create_all; /* returns each role's oldest enabled code; creates missing codes */
handler room_codes_create; /* creates a code for one role */
handler room_codes_rotate; /* creates a code that replaces the codes of a role */
handler room_codes_list;
extern const struct loading load_codes; /* the first page of room_codes_list */
handler room_codes_get;
handler room_codes_qr; /* returns the join link of a code, as SVG */
#define QR_TYPE "image/svg+xml"
handler room_codes_switch; /* enables or disables the code in the path, or else in the body */
handler room_codes_patch;
handler room_codes_delete;
/* Disables a code of the account, as a request does; does nothing if it is disabled. Sets *is_there
 * to false if the account has no such code. The call must be in a WRITE transaction. */
bool room_code_disable(struct call *call, struct slice letters, bool *is_there,
		       struct fault *fault);
/* True if the call needs the account's key for hashes of codes: events and join links have them. */
read_when room_codes_are_hashed;

#endif
