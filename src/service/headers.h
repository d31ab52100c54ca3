/* Response headers that all responses share, or all of a kind, and the Prefer header.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_HEADERS_H
#define SERVICE_HEADERS_H

#include "resources/call.h"

/* Adds X-Request-Id: the client's if it is well-formed, otherwise `number` in hexadecimal. Sets
 * call->id. */
void headers_identify(struct call *call, uint64_t number);
/* Adds Content-Type, if there is a body and the handler has not set it. */
void headers_content(struct call *call);
/* Adds X-Unknown-Fields, if the body had unknown members. */
void headers_unknown(struct call *call);
/* Adds Access-Control-*, for a path that browsers of any origin may call. */
void headers_share(struct call *call);

/* Returns whether the preferences contain handling=strict (RFC 7240). */
bool headers_prefer_strict(struct slice prefer);

#endif
