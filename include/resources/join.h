/* Joining: a code for a token (decisions.md section 8). Handler (call/call.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOIN_H
#define RESOURCES_JOIN_H

#include "call/call.h"

handler join;

#endif
