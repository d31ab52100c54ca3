/* A page that records a test picture, without a call: each second, a flash and a beep at the same
 * time, of 80 ms each. It speaks with the recorder as the page of a call does
 * (recorder/chromium.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDER_TEST_PAGE_H
#define RECORDER_TEST_PAGE_H

#include "base/arena.h"

/* Returns its HTML. */
struct slice test_page(void);
/* Returns it as a data: URL, in the arena. */
const char *test_page_url(struct arena *arena);

#endif
