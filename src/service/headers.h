/* Response headers common to all answers, or to all of a kind, and the Prefer header.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_HEADERS_H
#define SERVICE_HEADERS_H

#include "resources/call.h"

/* X-Request-Id: the client's if it is well-formed, else `number` in hexadecimal; sets call->id. */
void headers_identify(struct call *call, uint64_t number);
/* Content-Type, if there is a body and the handler has not set it. */
void headers_content(struct call *call);
/* X-Unknown-Fields, if the body had unknown members. */
void headers_unknown(struct call *call);
/* Access-Control-*, for a path that browsers of any origin may call. */
void headers_share(struct call *call);

/* Whether the preferences contain handling=strict (RFC 7240). */
bool headers_prefer_strict(struct slice prefer);

#endif
