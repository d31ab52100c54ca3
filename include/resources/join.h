/* Joining: a code for a token (decisions.md section 8). Handler (resources/call.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOIN_H
#define RESOURCES_JOIN_H

#include "resources/call.h"

handler join;

/* FAULT_TOO_MANY, with the seconds, while this address has had too many misses: for every call of its,
 * whatever the body, so it is asked before the body is read. */
bool join_check_budget(const struct call *call, struct fault *fault);

#endif
