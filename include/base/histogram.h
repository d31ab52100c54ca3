/* Histograms of durations as Prometheus defines them: counts below fixed bounds, and a sum. Adding
 * is two relaxed additions. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS 15

/* Microseconds, ascending; longer durations are counted in one more bucket. */
extern const uint32_t histogram_bounds[HISTOGRAM_BOUNDS];

/* All zero is empty. */
struct histogram {
	_Atomic uint64_t
		counts[HISTOGRAM_BOUNDS + 1]; /* above the bound before, at most this one */
	_Atomic uint64_t sum; /* microseconds */
};

/* A copy of the values; counts added meanwhile may be in one of them and not yet in another. */
struct histogram_state {
	uint64_t counts[HISTOGRAM_BOUNDS + 1];
	uint64_t sum;
};

void histogram_add(struct histogram *histogram, uint64_t microseconds);
/* Adds the values of the histogram to *state. */
void histogram_read(const struct histogram *histogram, struct histogram_state *state);

#endif
