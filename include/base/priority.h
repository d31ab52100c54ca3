/* The priority of threads whose work can wait.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PRIORITY_H
#define BASE_PRIORITY_H

/* Lowers the calling thread's priority; nice: 1 to 19, as for setpriority(2). Also asks for long time
 * slices, so that a thread of the default ones which wakes up runs at once, and not at the end of a
 * slice. Linux before 6.12 has no such slices. Where neither is allowed the thread goes on as it
 * is. */
void priority_lower(int nice);

#endif
