/* The scrub verifies all stack files block by block, so that a failing medium is noticed early: a
 * block of 64 KB every 50 ms, and a pause of six hours after each round. A damaged block is logged
 * (stack_file_verify_block). Correctness does not depend on it: a request verifies the blocks that
 * it needs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_SCRUB_H
#define STORE_GDBM_SCRUB_H

#include "store/gdbm/view.h"

/* The position. Threads: one. */
struct scrub {
	uint64_t file; /* id of the file */
	uint64_t block;
	int64_t at; /* time of the next step, by clock_monotonic */
};

struct scrub scrub_start(void);
/* Verifies one block of a file in the current view, and sets the time of the next step. */
void scrub_step(struct scrub *scrub, struct views *views);

#endif
