/* The slow reader: goes through all files of the stack, block by block, and compares each with its
 * checksum, so that a medium that fails is noticed before somebody asks for what was there. One
 * block of 64 KB every 50 ms, and six hours of pause after each round. What fails is named in the
 * log, and what needs it is refused from then on (stack_file_verify_block). It notices early;
 * nothing relies on it: a request verifies the blocks that its answer rests on if they are unknown.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_SCRUB_H
#define STORE_GDBM_SCRUB_H

#include "store/gdbm/view.h"

/* Where it is; one thread's. */
struct scrub {
	uint64_t file; /* its id */
	uint64_t block;
	int64_t at; /* the time of clock_monotonic at which it goes on */
};

struct scrub scrub_start(void);
/* Reads one block of what is in the current view, and sets the time of the next. */
void scrub_step(struct scrub *scrub, struct views *views);

#endif
