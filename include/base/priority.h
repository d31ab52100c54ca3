/* Threads whose work is less urgent than that of others.
 *
 * A lower priority alone does not let other threads run immediately: the kernel may leave a thread
 * that becomes ready behind a running one until its next tick, up to 10 milliseconds. A thread of
 * lower priority therefore also yields, at places that it passes often. It does not yield more
 * often than necessary: each time, threads that are always busy run for a whole time slice each,
 * while the thread that yielded may hold a lock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PRIORITY_H
#define BASE_PRIORITY_H

/* Lowers the priority of the calling thread. nice: 1 to 19, as for setpriority(2). If the process
 * may not change it, the thread keeps its priority but still yields. */
void priority_lower(int nice);

/* Yields to waiting threads if the calling thread has a lower priority and has not yielded for 400
 * microseconds. Does nothing in all other threads. May be called with locks held. */
void priority_yield(void);

#endif
