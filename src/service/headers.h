/* Headers that every answer, or every answer of a kind, has (decisions.md section 1).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_HEADERS_H
#define SERVICE_HEADERS_H

#include "resources/call.h"

/* X-Request-Id: the client's own, when it is well-formed, else `number` in hexadecimal digits; also in
 * call->id. */
void headers_identify(struct call *call, uint64_t number);
/* Content-Type, where there is a body and the handler has not said what it is. */
void headers_content(struct call *call);
/* X-Unknown-Fields, where the body had some. */
void headers_unknown(struct call *call);
/* Access-Control-*, for a path that browsers of any origin call (section 8). */
void headers_share(struct call *call);

/* Prefer: handling=strict (RFC 7240) is among the preferences. */
bool headers_prefer_strict(struct slice prefer);

#endif
