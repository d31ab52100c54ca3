/* The slow reader: it verifies all files of the stack block by block, so that a failing medium is
 * noticed early. One block of 64 KB every 50 ms, and a pause of six hours after each round. A
 * damaged block is logged, and reads that need it are refused (stack_file_verify_block). Nothing
 * relies on it: a request verifies the blocks that its answer rests on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STORE_GDBM_SCRUB_H
#define STORE_GDBM_SCRUB_H

#include "store/gdbm/view.h"

/* Its position; for one thread. */
struct scrub {
	uint64_t file; /* its id */
	uint64_t block;
	int64_t at; /* when it continues, by clock_monotonic */
};

struct scrub scrub_start(void);
/* Verifies one block of the current view, and sets the time of the next one. */
void scrub_step(struct scrub *scrub, struct views *views);

#endif
