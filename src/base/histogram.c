/* See base/histogram.h. The bounds suit requests and disks: 0.1 ms to 5 s.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/histogram.h"

/* clang-format off */
const uint32_t histogram_bounds[HISTOGRAM_BOUNDS] = {
	100, 250, 500,
	1000, 2500, 5000,
	10000, 25000, 50000,
	100000, 250000, 500000,
	1000000, 2500000, 5000000,
};
/* clang-format on */

void histogram_add(struct histogram *histogram, uint64_t microseconds)
{
	size_t i = 0;

	while (i < HISTOGRAM_BOUNDS && microseconds > histogram_bounds[i])
		i++;
	atomic_fetch_add_explicit(&histogram->counts[i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&histogram->sum, microseconds, memory_order_relaxed);
}

void histogram_read(const struct histogram *histogram, struct histogram_state *state)
{
	for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
		state->counts[i] += atomic_load_explicit(&histogram->counts[i],
							 memory_order_relaxed);
	state->sum += atomic_load_explicit(&histogram->sum, memory_order_relaxed);
}
