/* The calls of room codes (anteroom-api(7)). Handlers (resources/call.h).
 * resources/codes/code_life.h says what a code shows, and when codes are made.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_ROOM_CODES_H
#define RESOURCES_CODES_ROOM_CODES_H

#include "resources/call.h"

handler room_codes_create_all; /* each role's oldest enabled code, made where there is none */
handler room_codes_create; /* a new code for one role */
handler room_codes_rotate; /* a new code instead of those that a role has */
handler room_codes_list;
handler room_codes_get;
handler room_codes_qr; /* the link of a code, as SVG */
#define QR_TYPE "image/svg+xml"
handler room_codes_switch; /* the code in the path, or else in the body */
handler room_codes_patch;
handler room_codes_delete;

#endif
