/* The origins of the pages that may show the join page of an account in a frame.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_EMBED_ORIGINS_H
#define ACCOUNTS_EMBED_ORIGINS_H

#include "base/slice.h"
#include "rules/room_code_rules.h"

/* Characters of all origins together. */
#define EMBED_TEXT_MOST 512

/* Returns NULL if the text is a list of 1 to EMBED_ORIGINS_MOST different origins, separated by
 * commas, else the problem, as a predicate that follows "embed ". An origin is written as browsers
 * write it, so that texts can be compared: https://HOST or https://HOST:PORT in lower case, without
 * the default port; http:// only for localhost and 127.0.0.1. */
const char *embed_origins_flaw(struct slice list);

#endif
