/* The calls of room codes (anteroom-api(7)). Handlers (resources/call.h).
 * resources/codes/code_life.h says what a code shows, and when codes are made.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_ROOM_CODES_H
#define RESOURCES_CODES_ROOM_CODES_H

#include "resources/reads.h"

/* Codes that are read at once where it is not known how many are needed. */
#define CODES_AT_ONCE 16

handler room_codes_create_all; /* each role's oldest enabled code, made where there is none */
handler room_codes_create; /* a new code for one role */
handler room_codes_rotate; /* a new code instead of those that a role has */
handler room_codes_list;
read_page room_codes_first_page;
handler room_codes_get;
handler room_codes_qr; /* the link of a code, as SVG */
#define QR_TYPE "image/svg+xml"
handler room_codes_switch; /* the code in the path, or else in the body */
handler room_codes_patch;
handler room_codes_delete;
/* The log of a change, and a link, have hashes of codes, made with a key of the account's media. */
read_when room_codes_are_hashed;

#endif
