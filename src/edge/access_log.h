/* One line a request, when that is asked for: request method=GET path=... status=200 ... The path
 * ends before a code or a token in it, also one with %XX, and everything after the '?' is left out:
 * whoever has a code can join.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_ACCESS_LOG_H
#define EDGE_ACCESS_LOG_H

#include "resources/call.h"

/* The answer is complete and about to be sent; the time is from the arrival until now. */
void access_log(const struct call *call);

#endif
