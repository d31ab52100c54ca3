/* Threads whose work can wait for that of others.
 *
 * A lower priority alone does not let others run at once: the kernel may leave a thread that
 * becomes ready behind a running one until its next tick, up to 10 milliseconds. So a thread of
 * lower priority also yields by itself, at places that it passes often. It does not yield more
 * often than necessary: threads that are always busy then run for a whole time slice each, and the
 * thread that yielded may hold a lock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PRIORITY_H
#define BASE_PRIORITY_H

/* Lowers the priority of the calling thread. nice: 1 to 19, as for setpriority(2). Where that is
 * not allowed the thread keeps its priority, but yields. */
void priority_lower(int nice);

/* Lets threads run that wait for the processor, when the calling one is of lower priority and has
 * not yielded for 400 microseconds. For all other threads it does nothing. May be called with locks
 * held. */
void priority_yield(void);

#endif
