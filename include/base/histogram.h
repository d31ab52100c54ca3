/* How long things took: how often within each of a row of bounds, and the sum, as Prometheus has
 * histograms. Adding is two relaxed additions. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 15

/* Microseconds, rising; what takes longer than the last is counted behind it. */
extern const uint32_t histogram_bounds[HISTOGRAM_BOUNDS];

/* Zeroed is empty. */
struct histogram {
	_Atomic uint64_t
		counts[HISTOGRAM_BOUNDS + 1]; /* not longer than the bound, but the one before */
	_Atomic uint64_t sum; /* microseconds */
};

/* What stood in it; counts that are added meanwhile may be in one number and not yet in another. */
struct histogram_state {
	uint64_t counts[HISTOGRAM_BOUNDS + 1];
	uint64_t sum;
};

void histogram_add(struct histogram *histogram, uint64_t microseconds);
/* Adds what stands in the histogram to *state. */
void histogram_read(const struct histogram *histogram, struct histogram_state *state);

#endif
