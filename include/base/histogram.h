/* Histograms of durations as Prometheus defines them: counts below fixed bounds, and a sum.
 * histogram_add costs two relaxed atomic additions. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 15

/* Upper bounds in microseconds, ascending. Longer durations are counted in one more bucket. */
extern const uint32_t histogram_bounds[HISTOGRAM_BOUNDS];

/* An empty histogram is all zeroes. */
struct histogram {
	/* Durations above the previous bound and at most this one. */
	_Atomic uint64_t counts[HISTOGRAM_BOUNDS + 1];
	_Atomic uint64_t sum; /* microseconds */
};

/* A copy of the values. A duration added while they are copied may be missing in one of them. */
struct histogram_state {
	uint64_t counts[HISTOGRAM_BOUNDS + 1];
	uint64_t sum;
};

void histogram_add(struct histogram *histogram, uint64_t microseconds);
/* Adds the histogram's values to *state. */
void histogram_read(const struct histogram *histogram, struct histogram_state *state);

#endif
