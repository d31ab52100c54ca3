/* The access log: one line per request: request method=GET path=... status=200 ... The path is cut
 * at the '?', and before the first room code or token in it, percent-encoded or not, because a room
 * code is enough to join.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_ACCESS_LOG_H
#define EDGE_ACCESS_LOG_H

#include "resources/call.h"

/* Called just before the answer is sent; the duration is from arrival to now. */
void access_log(const struct call *call);

#endif
